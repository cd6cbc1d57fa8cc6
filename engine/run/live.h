/* live.h: one slice remade while its geometry is dragged.
 *
 * The filtered data of the slice is kept while only the axis of a parallel beam moves: a request then only back-projects.
 * Of a cone beam's detector just the rows that the slice meets are filtered. One worker thread; requests that come while it
 * works replace each other, so the newest always wins and none waits in line. */
#pragma once

#include <gio/gio.h>

#include "run/dataset.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

typedef struct {
  int64_t slice;               /* of the volume */
  const LamGeometry *geometry; /* scan and volume as they are now; NULL: the dataset's, with channel_offset */
  double channel_offset;       /* axis relative to the detector's middle, where there is no geometry */
  double tilt;                 /* radians, beyond what the dataset was prepared with */
  uint64_t generation;
  uint64_t serial; /* any number of the caller's; comes back with the answer */
} LamLiveRequest;

#define LAM_TYPE_LIVE (lam_live_get_type ())
G_DECLARE_FINAL_TYPE (LamLive, lam_live, LAM, LIVE, GObject)

/* Signals: "snapshot" (main thread: lam_live_take ()), "failed" (GError *). */
LamLive *lam_live_new (LamDataset *dataset, const char *devices);
/* Copies the geometry. */
void lam_live_request (LamLive *live, const LamLiveRequest *request);
/* The newest answer, its request's serial in @serial; NULL when none is new. */
LamSnapshot *lam_live_take (LamLive *live, uint64_t *serial);

/* Without a thread or main loop: the answer to one request, as the thread makes it. For the command line and tests. */
LamSnapshot *lam_live_compute (LamLive *live, const LamLiveRequest *request, GError **error);

G_END_DECLS
