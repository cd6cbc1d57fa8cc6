/* prepare-preview.h: what preparation does to one view and to one sinogram, while its parameters change.
 *
 * Before is the transmission alone, cropped and binned as after is, so that the two can be compared pixel by pixel; after is
 * what a run would get. A small scan is prepared as a whole. Of a larger one only what the two pictures need is read, once,
 * and kept: mean flat and dark, the view, the detector rows about the sinogram's. Then the pictures may differ from a run's
 * in what depends on all samples, which the answer tells: the background is estimated from about 20 views (global) or 16
 * rows (per view), and the view shows no stripe removal.
 *
 * One worker thread; requests that come while it works replace each other, as with live.h. */
#pragma once

#include <gio/gio.h>

#include "run/prepare.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum { LAM_PREVIEW_BEFORE, LAM_PREVIEW_AFTER, LAM_PREVIEW_DIFFERENCE, LAM_PREVIEW_KINDS } LamPreviewKind;

/* Counted; immutable. */
typedef struct {
  gatomicrefcount refs;
  LamSnapshot *view[LAM_PREVIEW_KINDS];     /* plane LAM_PLANE_VIEW */
  LamSnapshot *sinogram[LAM_PREVIEW_KINDS]; /* plane LAM_PLANE_SINOGRAM */
  uint64_t serial;                          /* of the request */
  gboolean estimated;                       /* the background is: a run takes it from all samples */
  gboolean view_without_stripes;            /* stripe removal shows in the sinogram only */
  GPtrArray *log; /* char *: what was done, as a run would log it; only parts of it for a large scan */
  double seconds; /* that it took */
} LamPreparePictures;

void lam_prepare_pictures_unref (LamPreparePictures *pictures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPreparePictures, lam_prepare_pictures_unref)

typedef struct {
  const LamPrepareParams *params; /* copied */
  int64_t view, row;              /* of the prepared data */
  uint64_t generation;            /* of the snapshots */
  uint64_t serial;                /* any number of the caller's; comes back with the answer */
} LamPreviewRequest;

#define LAM_TYPE_PREPARE_PREVIEW (lam_prepare_preview_get_type ())
G_DECLARE_FINAL_TYPE (LamPreparePreview, lam_prepare_preview, LAM, PREPARE_PREVIEW, GObject)

/* Takes @scan. Signals, on the context that was the default when it was made: "pictures" (lam_prepare_preview_take ()),
 * "failed" (GError *). */
LamPreparePreview *lam_prepare_preview_new_take (LamScan *scan);
void lam_prepare_preview_request (LamPreparePreview *self, const LamPreviewRequest *request);
/* The newest answer, or NULL when none is new. */
LamPreparePictures *lam_prepare_preview_take (LamPreparePreview *self);

/* Without a thread or main loop, as the thread does it; not while requests are out. */
LamPreparePictures *lam_prepare_preview_compute (LamPreparePreview *self, const LamPreviewRequest *request,
                                                 GError **error);
/* Scans of up to so many samples are prepared as a whole (2^20); before the first request. */
void lam_prepare_preview_set_whole (LamPreparePreview *self, int64_t samples);

/* Main thread: no signal comes any more and what goes on is given up; the last reference may then go on any thread. */
void lam_prepare_preview_quit (LamPreparePreview *self);

G_END_DECLS
