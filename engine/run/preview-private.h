/* preview-private.h: the pictures' samples, from parts of a scan that are read once and kept. */
#pragma once

#include "run/prepare-private.h"

G_BEGIN_DECLS

typedef struct _LamPreviewPart LamPreviewPart;

/* The scan is borrowed. */
LamPreviewPart *lam_preview_part_new (LamScan *scan);
void lam_preview_part_free (LamPreviewPart *part);

/* Before and after of a view [row][channel] and a sinogram [view][channel] of @g, the prepared geometry; lam_free () each. */
typedef struct {
  float *view[2], *sinogram[2];
  gboolean estimated;
} LamPreviewSamples;

void lam_preview_samples_clear (LamPreviewSamples *samples);
gboolean lam_preview_part_make (LamPreviewPart *part, const LamPrepareParams *params, const LamGeometry *g,
                                int64_t view, int64_t row, LamPreviewSamples *out, GPtrArray *log, LamControl *control,
                                GError **error);

G_END_DECLS
