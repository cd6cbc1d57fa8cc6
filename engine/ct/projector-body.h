/* projector-body.h: the projector kernels, one body for every instruction set (kernels.h has the contract).
 *
 * Each call goes over its pixels in groups of LAM_KERNEL_PIXELS. For a group and a view the horizontal factor is made
 * first, in double: where the footprint begins and a weight for each channel that it meets ("taps"). Then the vectors
 * run over slices. Parallel beam: a pixel's slices meet the channel's rows one to one. Cone beam: the vertical factor
 * stretches the slices over the rows; since fractional row and slice index are linear in each other, a vector of rows
 * needs a short run of slices, which two loads and a permutation deliver.
 *
 * Order: forward adds pixels in list order to each sample; back adds views in view order to each voxel, from zero. */
#include "ct/kernels.h"
#include "core/vector.h"

#define G LAM_KERNEL_PIXELS
#define MAX_VIEWS 16 /* views in one back call are taken in runs of at most this many: the block size of core/order.h */
#define PAD 128      /* room for zeros on both sides of a column in scratch: what a vector may read beyond it */

/* Taps of up to G pixels in one view. The footprint meets channels first[i] … first[i] + count[i] - 1 of the detector. */
typedef struct {
  int32_t first[G];
  int32_t count[G]; /* 0: beside the detector */
  double q[G];      /* fractional channel of the footprint's middle */
  double width[G];  /* W, in channels */
  double scale[G];  /* dx dy / f: path length times footprint */
  double mag[G];    /* cone: M */
  /* Cone: the vertical factor of each pixel's column, and the first three horizontal weights. */
  double row_width[G], slice_width[G]; /* W in rows, and 1 / W */
  double row0[G];                      /* row index of slice 0 */
  float weight[3][G], path2[G];        /* ..., (M / D)^2 */
  int32_t row_begin[G], row_end[G];    /* rows that the slices wanted meet; empty: begin = end */
} Taps;

/* Cone beam with one slice: where each pixel's footprint begins, and the distance from there to its first channel and row. */
typedef struct {
  int32_t channel[G], row[G];
  float f[G], w[G], row_f[G], row_w[G]; /* w: widths in channels and rows */
  float scale[G];                       /* path length times footprint */
  float slant[G], inverse[G];           /* that scale is made of */
} ConePlanar;

typedef struct {
  double px[G], py[G]; /* pixel positions relative to the axis */
  Taps taps;
  ConePlanar planar;
  /* Two-tap form for back projection: all views of a run. */
  int32_t first2[MAX_VIEWS][G];
  float left2[MAX_VIEWS][G], right2[MAX_VIEWS][G];
  struct {
    double x[2], y[2];
  } box[G];       /* planar: what each vector of pixels spans */
  float column[]; /* cone: PAD + max (slices, rows) + PAD floats, twice */
} Scratch;

static inline int64_t
BODY (column_floats) (const LamProjectorGeometry *g)
{
  return lam_round_up (PAD + LAM_MAX (g->slices, g->rows) + PAD, LAM_LANES);
}

/* Row and column by a multiplication in double, put right where it rounded over: a division each time would cost more than
 * the taps. Exact for all 31-bit indices. */
static void
BODY (positions) (const LamProjectorGeometry *g, const int32_t *restrict pixel, int64_t n, Scratch *restrict s)
{
  const double columns = (double) g->columns, inverse = 1 / columns;
  for (int64_t i = 0; i < n; i++) {
    double p = pixel[i], row = floor (p * inverse), column = p - row * columns;
    double low = column < 0 ? 1 : 0, high = column >= columns ? 1 : 0;
    row += high - low;
    column += (low - high) * columns;
    s->px[i] = g->dx * (column - g->cx);
    s->py[i] = g->dy * (row - g->cy);
  }
}

static inline int
BODY (is_two_tap) (const LamProjectorGeometry *g)
{
  return !g->cone && g->layout == LAM_LAYOUT_SLICES && g->channels >= 2 && LAM_MAX (g->dx, g->dy) <= g->dc;
}

/* From where the rays meet a flat detector to where they meet the curved one. */
static void
BODY (curve) (const LamProjectorGeometry *g, int64_t n, Taps *t)
{
  const double inv_dc = 1 / g->dc;
  for (int64_t i = 0; i < n; i++) {
    double tangent = (t->q[i] - g->c0) * g->dc * g->inv_sd, cosine = 1 / sqrt (1 + tangent * tangent);
    double u = g->inv_sd > 0 ? atan (tangent) / g->inv_sd : (t->q[i] - g->c0) * g->dc;
    t->q[i] = u * inv_dc + g->c0;
    t->width[i] *= cosine;
  }
}

/* The horizontal factor of n pixels in one view (spec 3.1, 3.2): q, width, scale, mag. */
static void
BODY (horizontal) (const LamProjectorGeometry *g, int64_t view, int64_t n, Scratch *s)
{
  double c = g->cosines[view], d = g->sines[view], area = g->dx * g->dy, inv_dc = 1 / g->dc;
  Taps *t = &s->taps;
  if (!g->cone) {
    double a = g->dx * fabs (c), b = g->dy * fabs (d), f = a > b ? a : b;
    double width = f / g->dc, scale = area / f;
    for (int64_t i = 0; i < n; i++)
      t->q[i] = (s->px[i] * c - s->py[i] * d) * inv_dc + g->c0;
    /* One width for the whole view: a footprint of two taps reads the first only. */
    for (int64_t i = 0; i < (BODY (is_two_tap) (g) ? 1 : n); i++) {
      t->width[i] = width;
      t->scale[i] = scale;
    }
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    double x = s->px[i] * c - s->py[i] * d, y = s->px[i] * d + s->py[i] * c;
    double mag = 1 / (g->inv_m0 - y * g->inv_sd);
    /* tan(gamma) = u/D of the flat detector = x / (S - y); 0 for an infinite distance */
    double tangent = mag * x * g->inv_sd, cosine = 1 / sqrt (1 + tangent * tangent), sine = tangent * cosine;
    double a = g->dx * fabs (c * cosine + d * sine), b = g->dy * fabs (d * cosine - c * sine), f = a > b ? a : b;
    t->mag[i] = mag;
    t->q[i] = mag * x * inv_dc + g->c0;
    t->width[i] = mag * f * inv_dc / cosine;
    t->scale[i] = area / f;
  }
  if (g->curved)
    BODY (curve) (g, n, t);
}

/* Which channels of the detector each footprint meets. */
static void
BODY (bounds) (const LamProjectorGeometry *g, int64_t n, Taps *t)
{
  for (int64_t i = 0; i < n; i++) {
    double reach = (t->width[i] + 1) / 2;
    double lo = ceil (t->q[i] - reach), hi = floor (t->q[i] + reach);
    lo = lo > 0 ? lo : 0;
    hi = hi < (double) g->channels - 1 ? hi : (double) g->channels - 1;
    t->first[i] = hi >= lo ? (int32_t) lo : 0;
    t->count[i] = hi >= lo ? (int32_t) (hi - lo) + 1 : 0;
  }
}

/* Cone: what the loops over rows and slices need of each pixel's column, for the slices [k0, k1). */
static void
BODY (columns) (const LamProjectorGeometry *g, int64_t view, int64_t n, int64_t k0, int64_t k1, int square,
                Taps *restrict t)
{
  const double z = (g->z0 - (g->shifts ? g->shifts[view] : 0)) / g->dr, dz = g->dz / g->dr, rows = (double) g->rows;
  for (int64_t i = 0; i < n; i++) {
    double w = t->mag[i] * dz, row0 = t->mag[i] * z + g->r0, half = (w + 1) / 2, d = t->mag[i] * g->inv_sd;
    /* Two rows more at both ends: where a weight is 0 but for rounding, every band of slices reads the same value. */
    double lo = ceil (row0 + (double) k0 * w - half) - 2, hi = floor (row0 + (double) (k1 - 1) * w + half) + 3;
    lo = lo < 0 ? 0 : lo > rows ? rows : lo;
    hi = hi > rows ? rows : hi;
    hi = hi < lo ? lo : hi;
    t->row_width[i] = w;
    t->slice_width[i] = 1 / w;
    t->row0[i] = row0;
    t->path2[i] = (float) (d * d);
    t->row_begin[i] = (int32_t) lo;
    t->row_end[i] = (int32_t) hi;
  }
  for (int j = 0; j < 3; j++)
    for (int64_t i = 0; i < n; i++) {
      double w = (t->width[i] + 1) / 2 - fabs (t->q[i] - (double) (t->first[i] + j)),
             cap = t->width[i] < 1 ? t->width[i] : 1;
      w = w < 0 ? 0 : w;
      w = (w > cap ? cap : w) * t->scale[i];
      t->weight[j][i] = (float) (square ? w * w : w);
    }
}

static void
BODY (scale_taps) (const LamProjectorGeometry *g, int64_t n, float scale, Taps *t)
{
  if (scale != 1)
    for (int64_t i = 0; i < (BODY (is_two_tap) (g) ? 1 : n); i++)
      t->scale[i] *= scale;
}

static inline float
BODY (weight) (const Taps *t, int64_t i, int64_t channel, int square)
{
  double w = (t->width[i] + 1) / 2 - fabs (t->q[i] - (double) channel), cap = t->width[i] < 1 ? t->width[i] : 1;
  w = w < 0 ? 0 : w > cap ? cap : w;
  w *= t->scale[i];
  return (float) (square ? w * w : w);
}

/* Footprints no wider than a channel meet at most two: first and first + 1, the last pair moved inside the detector.
 * Needs at least two channels. Where a footprint lies is found in double; from there distances are below 2 and float. */
static void
BODY (two_taps) (const LamProjectorGeometry *g, int64_t n, const Taps *t, int square, int32_t *restrict first,
                 float *restrict w0, float *restrict w1)
{
  const double last = (double) g->channels - 2;
  const float w = (float) t->width[0], half = (float) ((t->width[0] + 1) / 2), scale = (float) t->scale[0];
  float offset[G];
  for (int64_t i = 0; i < n; i++) {
    double lo = floor (t->q[i]);
    lo = lo < 0 ? 0 : lo;
    lo = lo > last ? last : lo;
    first[i] = (int32_t) lo;
    offset[i] = (float) (t->q[i] - lo);
  }
  for (int64_t i = 0; i < n; i++) {
    float a = half - fabsf (offset[i]), b = half - fabsf (offset[i] - 1);
    a = a < 0 ? 0 : a;
    b = b < 0 ? 0 : b;
    a = (a > w ? w : a) * scale;
    b = (b > w ? w : b) * scale;
    w0[i] = square ? a * a : a;
    w1[i] = square ? b * b : b;
  }
  for (int64_t i = n; i % LAM_LANES; i++) { /* what a last, partial vector of pixels reads */
    first[i] = 0;
    w0[i] = w1[i] = 0;
  }
}

#include "ct/parallel-body.h"
#include "ct/cone-body.h"
#include "ct/cone-planar-body.h"

/* ---- entry points ---- */

static LamStatus
BODY (back) (const LamBackArgs *a)
{
  const LamProjectorGeometry *g = a->geometry;
  Scratch *s = a->scratch;
  int two = BODY (is_two_tap) (g);
  for (int64_t at = 0; at < a->n; at += G) {
    int64_t n = LAM_MIN (a->n - at, G);
    BODY (positions) (g, a->pixel + at, n, s);
    if (g->planar) {
      BODY (boxes) (n, s);
      BODY (planar_back2) (a, at, n, s);
      continue;
    }
    for (int64_t v = a->v0; v < a->v1;) {
      const float *sino = a->sino + (v - a->v0) * a->view_stride;
      int add = v > a->v0;
      if (!two) {
        if (g->cone && g->layout == LAM_LAYOUT_PLANAR)
          BODY (cone_planar_back) (a, at, n, v, s, sino, add);
        else if (g->cone)
          BODY (cone_back) (a, at, n, v, s, sino, add);
        else if (g->layout == LAM_LAYOUT_PLANAR)
          BODY (planar_back_any) (a, at, n, v, s, sino, add);
        else
          BODY (parallel_back_any) (a, at, n, v, s, sino, add);
        v++;
        continue;
      }
      int views = (int) LAM_MIN (a->v1 - v, MAX_VIEWS);
      for (int j = 0; j < views; j++) {
        BODY (horizontal) (g, v + j, n, s);
        BODY (two_taps) (g, n, &s->taps, a->square, s->first2[j], s->left2[j], s->right2[j]);
      }
      BODY (parallel_back2) (a, at, n, views, s, sino, add);
      v += views;
    }
  }
  return LAM_OK;
}

static LamStatus
BODY (forward) (const LamForwardArgs *args)
{
  LamForwardArgs view = *args, *a = &view;
  Scratch *s = a->scratch;
  for (int64_t at = 0; at < a->n; at += G) {
    int64_t n = LAM_MIN (a->n - at, G);
    BODY (positions) (a->geometry, a->pixel + at, n, s);
    for (int64_t v = args->v0; v < args->v1; v++) {
      view.v0 = v;
      view.view_data = args->view_data + (v - args->v0) * args->view_stride;
      if (a->geometry->cone && a->geometry->layout == LAM_LAYOUT_PLANAR)
        BODY (cone_planar_forward) (a, at, n, s);
      else if (a->geometry->cone)
        BODY (cone_forward) (a, at, n, s);
      else if (a->geometry->layout == LAM_LAYOUT_PLANAR)
        BODY (planar_forward) (a, at, n, s);
      else
        BODY (parallel_forward) (a, at, n, s);
    }
  }
  return LAM_OK;
}
