/* prepare-private.h: the steps, for dataset.c and the preview. */
#pragma once

#include "run/prepare.h"

G_BEGIN_DECLS

/* Of lam_rotate_rows (), as the spec has it for shifted views. */
#define LAM_PREPARE_MARGIN 0.5

/* All bad pixels of the rows that are read, counted from their first; NULL when there is none and without an error. @flat, @dark:
 * mean frames of those rows, NULL where the scan has none. What was found goes to @log (or NULL). */
LamBadPixels *lam_prepare_bad_pixels (const LamPrepareParams *params, const LamScan *scan, const float *flat,
                                      const float *dark, GPtrArray *log, GError **error);
/* Listed pixels of -log data: interpolated in place; how many samples. */
gboolean lam_prepare_fill_listed (float *data, int64_t views, int64_t rows, int64_t channels, LamBadPixels *list,
                                  int passes, int64_t *filled, GError **error);

/* @g describes the rows that are read, and then the prepared data. */
gboolean lam_prepare_follow (LamGeometry *g, const LamPrepareParams *params, const LamScan *scan, GError **error);
/* Crops channels and bins in place; @rows begin at a multiple of the bin in the crop. Gives the rest of the memory back: *data
 * moves. */
gboolean lam_prepare_cut (float **data, int64_t views, int64_t *rows, int64_t *channels, LamRange keep, int64_t bin,
                          GError **error);
/* From crop to stripes: *data and *weights (or NULL) [view][row][channel] of @g, the geometry of what was read, which
 * becomes that of the prepared data. */
gboolean lam_prepare_apply (float **data, float **weights, LamGeometry *g, const LamPrepareParams *params,
                            const LamScan *scan, GPtrArray *log, LamControl *control, GError **error);

G_END_DECLS
