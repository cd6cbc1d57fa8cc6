/* shape.h: a circle, a rectangle or a line on a picture, and what the values beneath it are.
 *
 * In the picture's pixels: pixel (column, row) covers column .. column + 1. A circle is one in space: where pixels are not
 * square (@aspect: their height over their width) its radius counts pixels along x. */
#pragma once

#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum {
  LAM_SHAPE_NONE,
  LAM_SHAPE_CIRCLE,    /* middle (x0, y0), radius x1 */
  LAM_SHAPE_RECTANGLE, /* (x0, y0) .. (x1, y1), on pixel edges */
  LAM_SHAPE_LINE,      /* from (x0, y0) to (x1, y1) */
} LamShapeKind;

typedef struct {
  LamShapeKind kind;
  double x0, y0, x1, y1;
} LamShape;

#define LAM_SHAPE_BODY (-1) /* of its edge, or of the line: moves all */
#define LAM_SHAPE_INSIDE (-2)
#define LAM_SHAPE_OUTSIDE (-3)
#define LAM_SHAPE_HANDLES 8

double lam_snapshot_aspect (const LamSnapshotInfo *info);
gboolean lam_shape_equal (const LamShape *a, const LamShape *b);
/* From where the hand came down to where it is; circles grow from their middle. */
LamShape lam_shape_drawn (LamShapeKind kind, double aspect, double x0, double y0, double x1, double y1);
LamShape lam_shape_moved (const LamShape *shape, double dx, double dy);
/* Wider and higher by so many pixels; never below one. */
LamShape lam_shape_grown (const LamShape *shape, double dx, double dy);
/* Handles: a circle has four, a rectangle eight, a line its two ends. */
int lam_shape_n_handles (const LamShape *shape);
void lam_shape_handle (const LamShape *shape, double aspect, int handle, double *x, double *y);
LamShape lam_shape_with_handle (const LamShape *shape, double aspect, int handle, double x, double y);
/* The handle within @reach pixels of (x, y), or LAM_SHAPE_BODY, INSIDE, OUTSIDE. */
int lam_shape_hit (const LamShape *shape, double aspect, double x, double y, double reach);
/* Part of it lies on the picture. */
gboolean lam_shape_touches (const LamShape *shape, const LamSnapshotInfo *info);

/* Values of the pixels whose middle lies within; those that are not finite are counted and left out. */
typedef struct {
  int64_t n; /* finite */
  int64_t nans, infinities;
  double mean, sd, min, max; /* NaN while there are too few; sd with n - 1 */
} LamShapeStats;
void lam_shape_stats (const LamShape *shape, const LamSnapshot *shot, LamShapeStats *stats);

/* Samples along a line, about one a pixel, each interpolated between its four neighbours; NaN where one of them is not finite
 * and outside the picture. */
int lam_shape_n_samples (const LamShape *line, const LamSnapshotInfo *info);
void lam_shape_sample (const LamShape *line, const LamSnapshot *shot, int n, float *values);
double lam_shape_length (const LamShape *line, const LamSnapshotInfo *info); /* in the unit of the pitches */

G_END_DECLS
