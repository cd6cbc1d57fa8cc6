/* pulseq-kspace.h: where the samples of a Pulseq file lie in k-space, as a picture of one plane of it, made on another thread.
 * Main thread. */
#pragma once

#include "model/pulseq-model.h"

G_BEGIN_DECLS

typedef enum { LAM_KSPACE_XY, LAM_KSPACE_XZ, LAM_KSPACE_YZ, LAM_KSPACE_PLANES } LamKspacePlane;

/* What is looked at: 1/m at the middle of the picture, and 1/m for each of its pixels. */
typedef struct {
  LamKspacePlane plane;
  double x, y, scale;
  int width, height;
} LamKspaceFrame;

#define LAM_TYPE_PULSEQ_KSPACE (lam_pulseq_kspace_get_type ())
G_DECLARE_FINAL_TYPE (LamPulseqKspace, lam_pulseq_kspace, LAM, PULSEQ_KSPACE, GObject)

/* Signals: "ready": the samples of a file are known, or there are none; "changed": there is a picture. */
LamPulseqKspace *lam_pulseq_kspace_new (LamPulseqModel *model);
/* Nothing is computed until somebody looks. */
void lam_pulseq_kspace_set_shown (LamPulseqKspace *self, gboolean shown);
/* @colours: 256 x RGBA, from the first sample to the last. */
void lam_pulseq_kspace_set_view (LamPulseqKspace *self, const LamKspaceFrame *view, const guint8 *colours);
/* Width and height in pixels, and the view that it was made for, of the newest picture: premultiplied RGBA; NULL: none. */
GBytes *lam_pulseq_kspace_get_picture (LamPulseqKspace *self, LamKspaceFrame *view);
/* Largest |k| of each axis, 1/m; FALSE: not known yet, or no samples. */
gboolean lam_pulseq_kspace_get_extent (LamPulseqKspace *self, double extent[3]);
/* "4096 samples of 64 readouts", with what was left out. NULL: nothing. g_free (). */
char *lam_pulseq_kspace_dup_text (LamPulseqKspace *self);
/* Samples that lie in the newest picture. */
int64_t lam_pulseq_kspace_get_drawn (LamPulseqKspace *self);
gboolean lam_pulseq_kspace_is_settled (LamPulseqKspace *self);
void lam_pulseq_kspace_close (LamPulseqKspace *self);

G_END_DECLS
