#include "config.h"

#include "model/shape.h"

#include <math.h>

#define MOST_SAMPLES 4096

double
lam_snapshot_aspect (const LamSnapshotInfo *info)
{
  return info->pitch_x > 0 && info->pitch_y > 0 ? info->pitch_y / info->pitch_x : 1;
}

gboolean
lam_shape_equal (const LamShape *a, const LamShape *b)
{
  return a->kind == b->kind && a->x0 == b->x0 && a->y0 == b->y0 && a->x1 == b->x1 && a->y1 == b->y1;
}

/* Middles and radii in steps of half a pixel: figures that can be said again. */
static double
half (double v)
{
  return rint (2 * v) / 2;
}

/* Corners in order, on pixel edges, at least one pixel apart. */
static LamShape
rectangle (double x0, double y0, double x1, double y1)
{
  LamShape s = {LAM_SHAPE_RECTANGLE, rint (fmin (x0, x1)), rint (fmin (y0, y1)), rint (fmax (x0, x1)),
                rint (fmax (y0, y1))};
  s.x1 = fmax (s.x1, s.x0 + 1);
  s.y1 = fmax (s.y1, s.y0 + 1);
  return s;
}

LamShape
lam_shape_drawn (LamShapeKind kind, double aspect, double x0, double y0, double x1, double y1)
{
  switch (kind) {
  case LAM_SHAPE_CIRCLE:
    return (LamShape){kind, half (x0), half (y0), fmax (half (hypot (x1 - half (x0), (y1 - half (y0)) * aspect)), 0.5),
                      0};
  case LAM_SHAPE_RECTANGLE:
    return rectangle (x0, y0, x1, y1);
  default:
    return (LamShape){kind, x0, y0, x1, y1};
  }
}

LamShape
lam_shape_moved (const LamShape *shape, double dx, double dy)
{
  LamShape s = *shape;
  if (s.kind == LAM_SHAPE_CIRCLE) {
    s.x0 = half (s.x0 + dx);
    s.y0 = half (s.y0 + dy);
    return s;
  }
  if (s.kind == LAM_SHAPE_RECTANGLE) {
    dx = rint (dx);
    dy = rint (dy);
  }
  s.x0 += dx;
  s.x1 += dx;
  s.y0 += dy;
  s.y1 += dy;
  return s;
}

LamShape
lam_shape_grown (const LamShape *shape, double dx, double dy)
{
  LamShape s = *shape;
  if (s.kind == LAM_SHAPE_CIRCLE)
    s.x1 = fmax (s.x1 + dx + dy, 0.5);
  else {
    s.x1 += dx;
    s.y1 += dy;
    if (s.kind == LAM_SHAPE_RECTANGLE) {
      s.x1 = fmax (s.x1, s.x0 + 1);
      s.y1 = fmax (s.y1, s.y0 + 1);
    }
  }
  return s;
}

int
lam_shape_n_handles (const LamShape *shape)
{
  static const int handles[] = {0, 4, 8, 2};
  return handles[shape->kind];
}

/* Of a box, clockwise from the upper left corner: where in its width and height a handle lies. */
static const double box_x[8] = {0, 0.5, 1, 1, 1, 0.5, 0, 0}, box_y[8] = {0, 0, 0, 0.5, 1, 1, 1, 0.5};

void
lam_shape_handle (const LamShape *s, double aspect, int handle, double *x, double *y)
{
  static const double circle_x[4] = {1, 0, -1, 0}, circle_y[4] = {0, 1, 0, -1};
  switch (s->kind) {
  case LAM_SHAPE_CIRCLE:
    *x = s->x0 + s->x1 * circle_x[handle];
    *y = s->y0 + s->x1 * circle_y[handle] / aspect;
    break;
  case LAM_SHAPE_RECTANGLE:
    *x = s->x0 + (s->x1 - s->x0) * box_x[handle];
    *y = s->y0 + (s->y1 - s->y0) * box_y[handle];
    break;
  default:
    *x = handle == 0 ? s->x0 : s->x1;
    *y = handle == 0 ? s->y0 : s->y1;
  }
}

LamShape
lam_shape_with_handle (const LamShape *shape, double aspect, int handle, double x, double y)
{
  LamShape s = *shape;
  switch (s.kind) {
  case LAM_SHAPE_CIRCLE:
    return lam_shape_drawn (LAM_SHAPE_CIRCLE, aspect, s.x0, s.y0, x, y);
  case LAM_SHAPE_RECTANGLE:
    return rectangle (box_x[handle] == 0 ? x : s.x0, box_y[handle] == 0 ? y : s.y0, box_x[handle] == 1 ? x : s.x1,
                      box_y[handle] == 1 ? y : s.y1);
  default:
    if (handle == 0) {
      s.x0 = x;
      s.y0 = y;
    } else {
      s.x1 = x;
      s.y1 = y;
    }
    return s;
  }
}

static double
line_distance (const LamShape *s, double aspect, double x, double y)
{
  double ux = s->x1 - s->x0, uy = (s->y1 - s->y0) * aspect, vx = x - s->x0, vy = (y - s->y0) * aspect;
  double length = ux * ux + uy * uy, t = length > 0 ? CLAMP ((ux * vx + uy * vy) / length, 0, 1) : 0;
  return hypot (vx - t * ux, vy - t * uy);
}

int
lam_shape_hit (const LamShape *s, double aspect, double x, double y, double reach)
{
  if (s->kind == LAM_SHAPE_NONE)
    return LAM_SHAPE_OUTSIDE;
  int nearest = LAM_SHAPE_OUTSIDE;
  double least = reach;
  for (int i = 0; i < lam_shape_n_handles (s); i++) {
    double hx, hy;
    lam_shape_handle (s, aspect, i, &hx, &hy);
    double d = hypot (x - hx, (y - hy) * aspect);
    if (d <= least) {
      least = d;
      nearest = i;
    }
  }
  if (nearest >= 0)
    return nearest;
  if (s->kind == LAM_SHAPE_LINE)
    return line_distance (s, aspect, x, y) <= reach ? LAM_SHAPE_BODY : LAM_SHAPE_OUTSIDE;
  double outside; /* beyond the edge, in pixels along x; negative = within */
  if (s->kind == LAM_SHAPE_CIRCLE)
    outside = hypot (x - s->x0, (y - s->y0) * aspect) - s->x1;
  else
    outside = fmax (fmax (s->x0 - x, x - s->x1), fmax (s->y0 - y, y - s->y1) * aspect);
  return fabs (outside) <= reach ? LAM_SHAPE_BODY : outside < 0 ? LAM_SHAPE_INSIDE : LAM_SHAPE_OUTSIDE;
}

/* The pixels that its box may hold, cut at the picture; FALSE = none. */
static gboolean
bounds (const LamShape *s, const LamSnapshotInfo *info, int64_t *c0, int64_t *c1, int64_t *r0, int64_t *r1)
{
  double left = s->x0, right = s->x1, top = s->y0, bottom = s->y1;
  if (s->kind == LAM_SHAPE_CIRCLE) {
    double ry = s->x1 / lam_snapshot_aspect (info);
    left = s->x0 - s->x1;
    right = s->x0 + s->x1;
    top = s->y0 - ry;
    bottom = s->y0 + ry;
  } else if (s->kind == LAM_SHAPE_LINE) {
    left = fmin (s->x0, s->x1);
    right = fmax (s->x0, s->x1);
    top = fmin (s->y0, s->y1);
    bottom = fmax (s->y0, s->y1);
  }
  *c0 = (int64_t) fmax (floor (left), 0);
  *c1 = (int64_t) fmin (ceil (right), (double) info->width);
  *r0 = (int64_t) fmax (floor (top), 0);
  *r1 = (int64_t) fmin (ceil (bottom), (double) info->height);
  return s->kind != LAM_SHAPE_NONE && *c0 < *c1 && *r0 < *r1;
}

gboolean
lam_shape_touches (const LamShape *shape, const LamSnapshotInfo *info)
{
  int64_t c0, c1, r0, r1;
  return bounds (shape, info, &c0, &c1, &r0, &r1);
}

/* The part of row @r that lies within: middles of pixels count. */
static void
row_part (const LamShape *s, double aspect, int64_t r, int64_t *c0, int64_t *c1)
{
  double y = r + 0.5, left = s->x0, right = s->x1;
  if (s->kind == LAM_SHAPE_CIRCLE) {
    double h = (y - s->y0) * aspect, w = sqrt (fmax (s->x1 * s->x1 - h * h, 0));
    if (fabs (h) > s->x1) {
      *c1 = *c0;
      return;
    }
    left = s->x0 - w;
    right = s->x0 + w;
  } else if (y < s->y0 || y > s->y1) {
    *c1 = *c0;
    return;
  }
  *c0 = MAX (*c0, (int64_t) ceil (left - 0.5));
  *c1 = MIN (*c1, (int64_t) floor (right - 0.5) + 1);
}

void
lam_shape_stats (const LamShape *shape, const LamSnapshot *shot, LamShapeStats *stats)
{
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  const float *pixels = lam_snapshot_pixels (shot);
  double aspect = lam_snapshot_aspect (info), sum = 0, squares = 0;
  int64_t left, right, top, bottom;
  *stats = (LamShapeStats){.mean = NAN, .sd = NAN, .min = NAN, .max = NAN};
  if (!bounds (shape, info, &left, &right, &top, &bottom))
    return;
  /* Twice through: the spread about a mean that is known loses no digits. */
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t r = top; r < bottom; r++) {
      int64_t c0 = left, c1 = right;
      row_part (shape, aspect, r, &c0, &c1);
      for (int64_t c = c0; c < c1; c++) {
        double v = pixels[r * info->width + c];
        if (pass == 1) {
          if (isfinite (v))
            squares += (v - stats->mean) * (v - stats->mean);
        } else if (isnan (v))
          stats->nans++;
        else if (isinf (v))
          stats->infinities++;
        else {
          stats->min = fmin (stats->min, v); /* of a NaN and a number fmin () takes the number */
          stats->max = fmax (stats->max, v);
          sum += v;
          stats->n++;
        }
      }
    }
    if (stats->n == 0)
      return;
    if (pass == 0)
      stats->mean = sum / (double) stats->n;
    else if (stats->n > 1)
      stats->sd = sqrt (squares / (double) (stats->n - 1));
  }
}

/* -- profile -- */

double
lam_shape_length (const LamShape *s, const LamSnapshotInfo *info)
{
  double px = info->pitch_x > 0 ? info->pitch_x : 1, py = info->pitch_y > 0 ? info->pitch_y : 1;
  return hypot ((s->x1 - s->x0) * px, (s->y1 - s->y0) * py);
}

int
lam_shape_n_samples (const LamShape *s, const LamSnapshotInfo *info)
{
  double pixels = hypot (s->x1 - s->x0, s->y1 - s->y0);
  return (int) CLAMP (ceil (pixels) + 1, 2, MOST_SAMPLES);
}

void
lam_shape_sample (const LamShape *s, const LamSnapshot *shot, int n, float *values)
{
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  const float *pixels = lam_snapshot_pixels (shot);
  double last_x = (double) info->width - 1, last_y = (double) info->height - 1;
  for (int i = 0; i < n; i++) {
    /* From 0 at the middle of the first pixel; the outer half of the edge pixels has their value. */
    double t = n > 1 ? i / (double) (n - 1) : 0;
    double x = s->x0 + t * (s->x1 - s->x0) - 0.5, y = s->y0 + t * (s->y1 - s->y0) - 0.5;
    values[i] = NAN;
    if (!(x >= -0.5 && y >= -0.5 && x <= last_x + 0.5 && y <= last_y + 0.5))
      continue;
    x = CLAMP (x, 0, last_x);
    y = CLAMP (y, 0, last_y);
    int64_t c = (int64_t) x, r = (int64_t) y;
    double right = x - (double) c, below = y - (double) r, sum = 0;
    for (int k = 0; k < 4; k++) {
      double part = (k & 1 ? right : 1 - right) * (k & 2 ? below : 1 - below);
      /* A neighbour without a part has no say, not even as NaN. */
      if (part > 0)
        sum += part * pixels[(r + (k >> 1)) * info->width + c + (k & 1)];
    }
    values[i] = (float) sum;
  }
}
