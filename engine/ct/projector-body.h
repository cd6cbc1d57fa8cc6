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
#include "ct/projector-vec.h"

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

typedef struct {
  double px[G], py[G]; /* pixel positions relative to the axis */
  Taps taps;
  /* Two-tap form for back projection: all views of a run. */
  int32_t first2[MAX_VIEWS][G];
  float left2[MAX_VIEWS][G], right2[MAX_VIEWS][G];
  uint8_t run[G]; /* planar: whether a vector's pixels lie side by side in one row */
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
  return !g->cone && g->channels >= 2 && LAM_MAX (g->dx, g->dy) <= g->dc;
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
    for (int64_t i = 0; i < n; i++) {
      double tangent = (t->q[i] - g->c0) * g->dc * g->inv_sd, cosine = 1 / sqrt (1 + tangent * tangent);
      double u = g->inv_sd > 0 ? atan (tangent) / g->inv_sd : (t->q[i] - g->c0) * g->dc;
      t->q[i] = u * inv_dc + g->c0;
      t->width[i] *= cosine;
    }
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
    double lo = ceil (row0 + (double) k0 * w - half), hi = floor (row0 + (double) (k1 - 1) * w + half) + 1;
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

/* ---- parallel beam, slices contiguous ---- */

static void
BODY (parallel_back2) (const LamBackArgs *a, int64_t at, int64_t n, int views, Scratch *s, const float *sino, int add)
{
  const int64_t line = a->line_stride, vs = a->view_stride, nk = a->k1 - a->k0;
  sino += a->k0;
  for (int64_t k = 0; k < nk; k += 4 * VW) {
    if (nk - k >= 4 * VW) {
      for (int64_t i = 0; i < n; i++) {
        float *o = a->out + (at + i) * a->out_stride + k;
        vf s0 = vzero (), s1 = s0, s2 = s0, s3 = s0;
        if (add) {
          s0 = vload (o);
          s1 = vload (o + VW);
          s2 = vload (o + 2 * VW);
          s3 = vload (o + 3 * VW);
        }
        for (int v = 0; v < views; v++) {
          const float *y = sino + v * vs + s->first2[v][i] * line + k, *z = y + line;
          vf w0 = vset (s->left2[v][i]), w1 = vset (s->right2[v][i]);
          s0 = vfma (w1, vload (z), vfma (w0, vload (y), s0));
          s1 = vfma (w1, vload (z + VW), vfma (w0, vload (y + VW), s1));
          s2 = vfma (w1, vload (z + 2 * VW), vfma (w0, vload (y + 2 * VW), s2));
          s3 = vfma (w1, vload (z + 3 * VW), vfma (w0, vload (y + 3 * VW), s3));
        }
        vstore (o, s0);
        vstore (o + VW, s1);
        vstore (o + 2 * VW, s2);
        vstore (o + 3 * VW, s3);
      }
      continue;
    }
    for (int64_t i = 0; i < n; i++)
      for (int64_t kk = k; kk < nk; kk += VW) {
        int64_t m = nk - kk;
        float *o = a->out + (at + i) * a->out_stride + kk;
        vf sum = add ? (m >= VW ? vload (o) : vload_n (o, m)) : vzero ();
        for (int v = 0; v < views; v++) {
          const float *y = sino + v * vs + s->first2[v][i] * line + kk;
          vf w0 = vset (s->left2[v][i]), w1 = vset (s->right2[v][i]);
          if (m >= VW)
            sum = vfma (w1, vload (y + line), vfma (w0, vload (y), sum));
          else
            sum = vfma (w1, vload_n (y + line, m), vfma (w0, vload_n (y, m), sum));
        }
        if (m >= VW)
          vstore (o, sum);
        else
          vstore_n (o, sum, m);
      }
  }
}

/* y[0 … n) += w x[0 … n) */
static inline void
BODY (add_scaled) (int64_t n, float w, const float *x, float *y)
{
  vf vw = vset (w);
  int64_t k = 0;
  for (; k + VW <= n; k += VW)
    vstore (y + k, vfma (vw, vload (x + k), vload (y + k)));
  if (VW > 1 && k < n)
    vstore_n (y + k, vfma (vw, vload_n (x + k, n - k), vload_n (y + k, n - k)), n - k);
}

static void
BODY (parallel_back_any) (const LamBackArgs *a, int64_t at, int64_t n, int64_t view, Scratch *s, const float *sino,
                          int add)
{
  const int64_t nk = a->k1 - a->k0;
  BODY (horizontal) (a->geometry, view, n, s);
  BODY (bounds) (a->geometry, n, &s->taps);
  for (int64_t i = 0; i < n; i++) {
    float *o = a->out + (at + i) * a->out_stride;
    if (!add)
      memset (o, 0, nk * sizeof *o);
    for (int32_t j = 0; j < s->taps.count[i]; j++) {
      int64_t channel = s->taps.first[i] + j;
      BODY (add_scaled)
      (nk, BODY (weight) (&s->taps, i, channel, a->square), sino + channel * a->line_stride + a->k0, o);
    }
  }
}

static void
BODY (parallel_forward) (const LamForwardArgs *a, int64_t at, int64_t n, Scratch *s)
{
  const LamProjectorGeometry *g = a->geometry;
  const int64_t nk = a->k1 - a->k0, line = a->line_stride;
  float *view = a->view_data + a->k0;
  BODY (horizontal) (g, a->v0, n, s);
  BODY (scale_taps) (g, n, a->scale, &s->taps);
  if (!BODY (is_two_tap) (g)) {
    BODY (bounds) (g, n, &s->taps);
    for (int64_t i = 0; i < n; i++) {
      const float *x = a->x + (a->indexed ? a->pixel[at + i] : at + i) * a->x_stride;
      for (int32_t j = 0; j < s->taps.count[i]; j++) {
        int64_t channel = s->taps.first[i] + j;
        BODY (add_scaled) (nk, BODY (weight) (&s->taps, i, channel, 0), x, view + channel * line);
      }
    }
    return;
  }
  BODY (two_taps) (g, n, &s->taps, 0, s->first2[0], s->left2[0], s->right2[0]);
  for (int64_t i = 0; i < n; i++) {
    const float *x = a->x + (a->indexed ? a->pixel[at + i] : at + i) * a->x_stride;
    float *y = view + s->first2[0][i] * line, *z = y + line;
    vf w0 = vset (s->left2[0][i]), w1 = vset (s->right2[0][i]);
    int64_t k = 0;
    for (; k + 2 * VW <= nk; k += 2 * VW) {
      vf x0 = vload (x + k), x1 = vload (x + k + VW);
      vstore (y + k, vfma (w0, x0, vload (y + k)));
      vstore (y + k + VW, vfma (w0, x1, vload (y + k + VW)));
      vstore (z + k, vfma (w1, x0, vload (z + k)));
      vstore (z + k + VW, vfma (w1, x1, vload (z + k + VW)));
    }
    for (; k < nk; k += VW) {
      int64_t m = nk - k;
      if (m >= VW) {
        vf x0 = vload (x + k);
        vstore (y + k, vfma (w0, x0, vload (y + k)));
        vstore (z + k, vfma (w1, x0, vload (z + k)));
      } else {
        vf x0 = vload_n (x + k, m);
        vstore_n (y + k, vfma (w0, x0, vload_n (y + k, m)), m);
        vstore_n (z + k, vfma (w1, x0, vload_n (z + k, m)), m);
      }
    }
  }
}

/* ---- parallel beam, few slices: vectors over pixels ---- */

static void
BODY (planar_back2) (const LamBackArgs *a, int64_t at, int64_t n, int views, Scratch *s, const float *sino, int add)
{
  const int64_t nk = a->k1 - a->k0;
  for (int64_t i = 0; i < n; i += VW) {
    int64_t m = LAM_MIN (n - i, VW);
    for (int64_t k = 0; k < nk; k++) {
      float *o = a->out + k * a->out_stride + at + i;
#if VW > 1
      vf sum = add ? (m == VW ? vload (o) : vload_n (o, m)) : vzero ();
      for (int v = 0; v < views; v++) {
        const float *y = sino + v * a->view_stride + (a->k0 + k) * a->line_stride;
        const int32_t *f = s->first2[v] + i;
        vf w0 = vload (s->left2[v] + i), w1 = vload (s->right2[v] + i), y0, y1;
        vi idx = viload (f);
        /* Neighbours along a row lie within a window of the detector: two loads instead of a gather. */
        int32_t lo = LAM_MIN (f[0], f[m - 1]), hi = LAM_MAX (f[0], f[m - 1]);
        if (s->run[i / VW] && hi - lo + 2 <= VLOOKUP_SPAN && lo + VLOOKUP_SPAN <= a->geometry->channels) {
          idx = viadd (idx, viset (-lo));
          y0 = vlookup (y + lo, idx);
          y1 = vlookup (y + lo, viadd (idx, viset (1)));
        } else {
          y0 = vgather (y, idx);
          y1 = vgather (y, viadd (idx, viset (1)));
        }
        sum = vfma (w1, y1, vfma (w0, y0, sum));
      }
      if (m == VW)
        vstore (o, sum);
      else
        vstore_n (o, sum, m);
#else
      float sum = add ? *o : 0;
      (void) m;
      for (int v = 0; v < views; v++) {
        const float *y = sino + v * a->view_stride + (a->k0 + k) * a->line_stride + s->first2[v][i];
        sum = vfma (s->right2[v][i], y[1], vfma (s->left2[v][i], y[0], sum));
      }
      *o = sum;
#endif
    }
  }
}

static void
BODY (planar_back_any) (const LamBackArgs *a, int64_t at, int64_t n, int64_t view, Scratch *s, const float *sino,
                        int add)
{
  const int64_t nk = a->k1 - a->k0;
  BODY (horizontal) (a->geometry, view, n, s);
  BODY (bounds) (a->geometry, n, &s->taps);
  for (int64_t k = 0; k < nk; k++) {
    const float *y = sino + (a->k0 + k) * a->line_stride;
    float *o = a->out + k * a->out_stride + at;
    for (int64_t i = 0; i < n; i++) {
      float sum = add ? o[i] : 0;
      for (int32_t j = 0; j < s->taps.count[i]; j++) {
        int64_t channel = s->taps.first[i] + j;
        sum += BODY (weight) (&s->taps, i, channel, a->square) * y[channel];
      }
      o[i] = sum;
    }
  }
}

static void
BODY (planar_forward) (const LamForwardArgs *a, int64_t at, int64_t n, Scratch *s)
{
  const LamProjectorGeometry *g = a->geometry;
  const int64_t nk = a->k1 - a->k0;
  BODY (horizontal) (g, a->v0, n, s);
  BODY (scale_taps) (g, n, a->scale, &s->taps);
  int two = BODY (is_two_tap) (g);
  if (two)
    BODY (two_taps) (g, n, &s->taps, 0, s->first2[0], s->left2[0], s->right2[0]);
  else
    BODY (bounds) (g, n, &s->taps);
  for (int64_t k = 0; k < nk; k++) {
    float *y = a->view_data + (a->k0 + k) * a->line_stride;
    const float *x = a->x + k * a->x_stride;
    if (two && !a->indexed) { /* listed pixels lie apart: both channels in one access */
      const int32_t *first = s->first2[0];
      for (int64_t i = 0; i < n; i++)
        vpair_add (y + first[i], s->left2[0][i], s->right2[0][i], x[at + i]);
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      float value = x[a->indexed ? a->pixel[at + i] : at + i];
      if (two) {
        float *p = y + s->first2[0][i];
        p[0] = vfma1 (s->left2[0][i], value, p[0]); /* the same arithmetic as the pair */
        p[1] = vfma1 (s->right2[0][i], value, p[1]);
      } else
        for (int32_t j = 0; j < s->taps.count[i]; j++) {
          int64_t channel = s->taps.first[i] + j;
          y[channel] += BODY (weight) (&s->taps, i, channel, 0) * value;
        }
    }
  }
}

/* ---- cone beam: the vertical factor ---- */

/* 1/cos(phi) of slices at z: a polynomial in (M z / D)^2. */
static inline vf
BODY (path) (const LamProjectorGeometry *g, vf z, float scale2)
{
  vf u = vmul (vmul (z, z), vset (scale2));
  if (g->path_degree < 0)
    return vsqrt (vadd (u, vset (1)));
  vf r = vset (g->path[3]); /* unused coefficients are 0: most cones need no more than these */
  if (g->path_degree > 3) {
    r = vset (g->path[g->path_degree]);
    for (int d = g->path_degree - 1; d >= 3; d--)
      r = vfma (r, u, vset (g->path[d]));
  }
  r = vfma (r, u, vset (g->path[2]));
  r = vfma (r, u, vset (g->path[1]));
  return vfma (r, u, vset (g->path[0]));
}

/* What one pixel's column is in one view: row index of slice k = m0 + k * width, slice index of row m = k0 + m / width. */
typedef struct {
  double m0, width, k_at0, inv_width;
  float z, dz, scale2; /* z of slice 0 in this view, (M/D)^2 */
} Column;

static inline Column
BODY (column) (const LamProjectorGeometry *g, int64_t view, const Taps *t, int64_t i)
{
  Column c;
  c.width = t->row_width[i];
  c.inv_width = t->slice_width[i];
  c.m0 = t->row0[i];
  c.k_at0 = -c.m0 * c.inv_width;
  c.z = (float) (g->z0 - (g->shifts ? g->shifts[view] : 0));
  c.dz = (float) g->dz;
  c.scale2 = t->path2[i];
  return c;
}

/* A vector of outputs from a column of inputs: output o takes inputs within half = (L/2) of its fractional index
 * low + o * slope + L/2, weighted clip (cap_half - |distance|) where distance = (input - index) * stretch. */
typedef struct {
  double low, slope; /* index of the first input that can reach output 0, and how it moves with the output */
  float stretch;     /* distance on the detector for one input */
  float half, cap;   /* (W+1)/2, min (1, W) */
  int taps;          /* inputs that can reach one output */
  int lookup;        /* the run of inputs for one vector fits a lookup */
} Vertical;

static inline vf
BODY (vertical) (const Vertical *t, const float *input, double out, int square)
{
  double low = t->low + out * t->slope, base = floor (low);
  vf at = vfma (viota (), vset ((float) t->slope), vset ((float) (low - base)));
  vf first = vceil (at);
  vf d = vsub (vmul (vsub (first, at), vset (t->stretch)), vset (t->half));
  vi idx = vtoint (first);
  const float *in = input + (int64_t) base;
  vf sum = vzero ();
  for (int j = 0; j < t->taps; j++) {
    vf w = vmin (vmax (vsub (vset (t->half), vabs (d)), vzero ()), vset (t->cap));
    if (square)
      w = vmul (w, w);
    vf x = t->lookup ? vlookup (in, idx) : vgather (in, idx);
    sum = vfma (w, x, sum);
    d = vadd (d, vset (t->stretch));
    idx = viadd (idx, viset (1));
  }
  return sum;
}

static inline Vertical
BODY (vertical_forward) (const Column *c)
{
  Vertical t;
  t.slope = c->inv_width;
  t.low = c->k_at0 - (1 + c->inv_width) / 2;
  t.stretch = (float) c->width;
  t.half = (float) ((c->width + 1) / 2);
  t.cap = (float) (c->width < 1 ? c->width : 1);
  t.taps = (int) ceil (1 + c->inv_width);
  t.lookup = (VW - 1) * t.slope + t.taps + 2 < VLOOKUP_SPAN;
  return t;
}

static inline Vertical
BODY (vertical_back) (const Column *c)
{
  Vertical t;
  t.slope = c->width;
  t.low = c->m0 - (c->width + 1) / 2;
  t.stretch = 1;
  t.half = (float) ((c->width + 1) / 2);
  t.cap = (float) (c->width < 1 ? c->width : 1);
  t.taps = (int) ceil (1 + c->width);
  t.lookup = (VW - 1) * t.slope + t.taps + 2 < VLOOKUP_SPAN;
  return t;
}

/* How far beyond the ends of its run one vector may read. */
static inline int64_t
BODY (reach) (const Vertical *t)
{
  return (int64_t) ceil (VW * t->slope) + t->taps + VLOOKUP_SPAN + 2;
}

/* The usual cases of the vertical factor, as straight code. With f in [0, 1) the distance from where the support begins to
 * the first input (in inputs), (2.1) becomes, for outputs that are rows (forward, W the row width of a slice):
 *   W >= 1, two slices:        min (f W, 1), max (1 - f W, 0)
 *   1/2 <= W < 1, three:       f W, min (W, 1 - f W), max (1 - f W - W, 0)
 * and for outputs that are slices (back):
 *   W <= 1, two rows:          min (f, W), max (W - f, 0)
 *   1 < W <= 2, three:         f, min (1, W - f), max (W - f - 1, 0) */
typedef struct {
  int64_t at, step; /* where the support of the next vector's first output begins, in 2^-32 inputs, and its step */
  vf lanes, width;  /* offsets of the lanes in inputs; W */
} BODY (Run);

static inline __attribute__ ((always_inline)) BODY (Run) BODY (run) (const Vertical *t, double width, int64_t out)
{
  BODY (Run) r;
  r.step = (int64_t) rint (t->slope * VW * 4294967296.0);
  r.at = (int64_t) floor (t->low * 4294967296.0) + out / VW * r.step;
  if (out % VW) /* a first row somewhere; slices begin at whole vectors, whatever the band */
    r.at += (int64_t) rint ((double) (out % VW) * t->slope * 4294967296.0);
  r.lanes = vmul (viota (), vset ((float) t->slope));
  r.width = vset ((float) width);
  return r;
}

/* One vector of outputs; the run moves on. */
static inline __attribute__ ((always_inline)) vf
BODY (run_vector) (BODY (Run) * r, const float *input, const int back, const int taps, const int square)
{
  const float *in = input + (r->at >> 32);
  vf at = vadd (r->lanes, vset ((float) (uint32_t) r->at * 0x1p-32f));
  r->at += r->step;
  vf first = vceil (at), f = vsub (first, at), w0, w1, w2 = vzero ();
  vi idx = vtoint (first);
  if (back) {
    w0 = taps == 2 ? vmin (f, r->width) : f;
    vf rest = vsub (r->width, f);
    w1 = taps == 2 ? vmax (rest, vzero ()) : vmin (vset (1), rest);
    if (taps == 3)
      w2 = vmax (vsub (rest, vset (1)), vzero ());
  } else {
    vf p = vmul (f, r->width), rest = vsub (vset (1), p);
    w0 = taps == 2 ? vmin (p, vset (1)) : p;
    w1 = taps == 2 ? vmax (rest, vzero ()) : vmin (r->width, rest);
    if (taps == 3)
      w2 = vmax (vsub (rest, r->width), vzero ());
  }
  if (square) {
    w0 = vmul (w0, w0);
    w1 = vmul (w1, w1);
    w2 = vmul (w2, w2);
  }
  vf sum = vmul (w0, vlookup (in, idx));
  sum = vfma (w1, vlookup (in, viadd (idx, viset (1))), sum);
  if (taps == 3)
    sum = vfma (w2, vlookup (in, viadd (idx, viset (2))), sum);
  return sum;
}

/* y[j][m] += w[j] * (rows m0 … m1 of the column), j < count. */
static inline __attribute__ ((always_inline)) void
BODY (forward_rows) (const Vertical *t, double width, const float *column, int64_t m0, int64_t m1, float *y,
                     int64_t line, const float *w, const int taps, const int count)
{
  BODY (Run) r = BODY (run) (t, width, m0);
  vf w0 = vset (w[0]), w1 = vset (w[1]), w2 = vset (w[2]);
  int64_t m = m0;
  for (; m + VW <= m1; m += VW) {
    vf v = BODY (run_vector) (&r, column, 0, taps, 0);
    float *p = y + m;
    vstore (p, vfma (w0, v, vload (p)));
    if (count > 1)
      vstore (p + line, vfma (w1, v, vload (p + line)));
    if (count > 2)
      vstore (p + 2 * line, vfma (w2, v, vload (p + 2 * line)));
  }
  if (VW > 1 && m < m1) {
    vf v = BODY (run_vector) (&r, column, 0, taps, 0);
    float *p = y + m;
    int64_t n = m1 - m;
    vstore_n (p, vfma (w0, v, vload_n (p, n)), n);
    if (count > 1)
      vstore_n (p + line, vfma (w1, v, vload_n (p + line, n)), n);
    if (count > 2)
      vstore_n (p + 2 * line, vfma (w2, v, vload_n (p + 2 * line, n)), n);
  }
}

/* column[m] = sum of w[j] y[j][m], j < count. */
static inline __attribute__ ((always_inline)) void
BODY (gather_rows) (float *column, int64_t m0, int64_t m1, const float *y, int64_t line, const float *w,
                    const int count)
{
  vf w0 = vset (w[0]), w1 = vset (w[1]), w2 = vset (w[2]);
  int64_t m = m0;
  for (; m + VW <= m1; m += VW) {
    const float *p = y + m;
    vf sum = vmul (w0, vload (p));
    if (count > 1)
      sum = vfma (w1, vload (p + line), sum);
    if (count > 2)
      sum = vfma (w2, vload (p + 2 * line), sum);
    vstore (column + m, sum);
  }
  if (VW > 1 && m < m1) {
    const float *p = y + m;
    int64_t n = m1 - m;
    vf sum = vmul (w0, vload_n (p, n));
    if (count > 1)
      sum = vfma (w1, vload_n (p + line, n), sum);
    if (count > 2)
      sum = vfma (w2, vload_n (p + 2 * line, n), sum);
    vstore_n (column + m, sum, n);
  }
}

/* o[k] (+)= path * (slices k0 … k1 from the column of rows). */
static inline __attribute__ ((always_inline)) void
BODY (back_slices) (const LamProjectorGeometry *g, const Column *c, const Vertical *t, const float *column, int64_t k0,
                    int64_t k1, float *o, int add, const int taps, const int square)
{
  BODY (Run) r = BODY (run) (t, c->width, k0);
  vf z = vfma (viota (), vset (c->dz), vset (c->z));
  int64_t k = k0;
  for (; k + VW <= k1; k += VW) {
    vf v = BODY (run_vector) (&r, column, 1, taps, square),
       p = BODY (path) (g, vadd (z, vset ((float) k * c->dz)), c->scale2);
    if (square)
      p = vmul (p, p);
    float *q = o + k - k0;
    vstore (q, vfma (p, v, add ? vload (q) : vzero ()));
  }
  if (VW > 1 && k < k1) {
    vf v = BODY (run_vector) (&r, column, 1, taps, square),
       p = BODY (path) (g, vadd (z, vset ((float) k * c->dz)), c->scale2);
    if (square)
      p = vmul (p, p);
    float *q = o + k - k0;
    vstore_n (q, vfma (p, v, add ? vload_n (q, k1 - k) : vzero ()), k1 - k);
  }
}

static LamStatus
BODY (cone_forward) (const LamForwardArgs *a, int64_t at, int64_t n, Scratch *s)
{
  const LamProjectorGeometry *g = a->geometry;
  const int64_t nk = g->slices, line = a->line_stride;
  float *column = s->column + PAD;
  BODY (horizontal) (g, a->v0, n, s);
  BODY (scale_taps) (g, n, a->scale, &s->taps);
  BODY (bounds) (g, n, &s->taps);
  BODY (columns) (g, a->v0, n, 0, nk, 0, &s->taps);
  memset (s->column, 0, PAD * sizeof (float));
  memset (column + nk, 0, PAD * sizeof (float));
  for (int64_t i = 0; i < n; i++) {
    int32_t count = s->taps.count[i];
    int64_t m0 = s->taps.row_begin[i], m1 = s->taps.row_end[i];
    if (count == 0 || m0 >= m1)
      continue;
    const float *x = a->x + (a->indexed ? a->pixel[at + i] : at + i) * a->x_stride;
    Column c = BODY (column) (g, a->v0, &s->taps, i);
    Vertical t = BODY (vertical_forward) (&c);
    /* path length of each slice first */
    vf z = vfma (viota (), vset (c.dz), vset (c.z));
    for (int64_t k = 0; k < nk; k += VW) {
      vf zk = vadd (z, vset ((float) k * c.dz));
      if (nk - k >= VW)
        vstore (column + k, vmul (vload (x + k), BODY (path) (g, zk, c.scale2)));
      else
        vstore_n (column + k, vmul (vload_n (x + k, nk - k), BODY (path) (g, zk, c.scale2)), nk - k);
    }
    float w[3] = {s->taps.weight[0][i], s->taps.weight[1][i], s->taps.weight[2][i]};
    float *y = a->view_data + s->taps.first[i] * line;
    int careful = BODY (reach) (&t) > PAD;
    if (t.lookup && count <= 3 && c.width >= 0.5) {
      switch ((c.width >= 1 ? 0 : 3) + count) {
      case 1:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 2, 1);
        break;
      case 2:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 2, 2);
        break;
      case 3:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 2, 3);
        break;
      case 4:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 3, 1);
        break;
      case 5:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 3, 2);
        break;
      default:
        BODY (forward_rows) (&t, c.width, column, m0, m1, y, line, w, 3, 3);
      }
      continue;
    }
    for (int64_t m = m0; m < m1; m += VW) {
      vf v;
      if (careful) { /* coarse voxels or rows: lane by lane inside the column */
        float lanes[VW];
        for (int l = 0; l < VW; l++) {
          lanes[l] = 0;
          double low = t.low + (double) (m + l) * t.slope, first = ceil (low);
          for (int j = 0; j < t.taps; j++) {
            double k = first + j, d = (k - low) * c.width - t.half, ww = t.half - fabs (d);
            if (k >= 0 && k < (double) nk && ww > 0)
              lanes[l] += (float) LAM_MIN (ww, t.cap) * column[(int64_t) k];
          }
        }
        memcpy (&v, lanes, sizeof v);
      } else
        v = BODY (vertical) (&t, column, (double) m, 0);
      for (int32_t j = 0; j < count; j++) {
        vf ww = vset (BODY (weight) (&s->taps, i, s->taps.first[i] + j, 0));
        float *p = y + j * line + m;
        if (m1 - m >= VW)
          vstore (p, vfma (ww, v, vload (p)));
        else
          vstore_n (p, vfma (ww, v, vload_n (p, m1 - m)), m1 - m);
      }
    }
  }
  return LAM_OK;
}

static void
BODY (cone_back) (const LamBackArgs *a, int64_t at, int64_t n, int64_t view, Scratch *s, const float *sino, int add)
{
  const LamProjectorGeometry *g = a->geometry;
  const int64_t nk = a->k1 - a->k0, line = a->line_stride;
  float *column = s->column + PAD;
  BODY (horizontal) (g, view, n, s);
  BODY (bounds) (g, n, &s->taps);
  BODY (columns) (g, view, n, a->k0, a->k1, a->square, &s->taps);
  for (int64_t i = 0; i < n; i++) {
    float *o = a->out + (at + i) * a->out_stride;
    int32_t count = s->taps.count[i];
    int64_t m0 = s->taps.row_begin[i], m1 = s->taps.row_end[i];
    Column c = BODY (column) (g, view, &s->taps, i);
    Vertical t = BODY (vertical_back) (&c);
    if (count == 0 || m0 >= m1) {
      if (!add)
        memset (o, 0, nk * sizeof *o);
      continue;
    }
    /* one row of the detector's columns, summed over the channels of the footprint */
    const float *y = sino + s->taps.first[i] * line;
    const float w[3] = {s->taps.weight[0][i], s->taps.weight[1][i], s->taps.weight[2][i]};
    if (count == 1)
      BODY (gather_rows) (column, m0, m1, y, line, w, 1);
    else if (count == 2)
      BODY (gather_rows) (column, m0, m1, y, line, w, 2);
    else if (count == 3)
      BODY (gather_rows) (column, m0, m1, y, line, w, 3);
    else
      for (int64_t m = m0; m < m1; m += VW) {
        int64_t left = m1 - m;
        vf sum = vzero ();
        for (int32_t j = 0; j < count; j++) {
          vf ww = vset (BODY (weight) (&s->taps, i, s->taps.first[i] + j, a->square));
          sum = vfma (ww, left >= VW ? vload (y + j * line + m) : vload_n (y + j * line + m, left), sum);
        }
        if (left >= VW)
          vstore (column + m, sum);
        else
          vstore_n (column + m, sum, left);
      }
    int64_t reach = BODY (reach) (&t), zeros = LAM_MIN (reach, PAD);
    int careful = reach > PAD;
    memset (column + m0 - zeros, 0, zeros * sizeof (float));
    memset (column + m1, 0, zeros * sizeof (float));
    if (t.lookup && c.width <= 2) {
      switch ((c.width > 1) + (a->square ? 2 : 0)) {
      case 0:
        BODY (back_slices) (g, &c, &t, column, a->k0, a->k1, o, add, 2, 0);
        break;
      case 1:
        BODY (back_slices) (g, &c, &t, column, a->k0, a->k1, o, add, 3, 0);
        break;
      case 2:
        BODY (back_slices) (g, &c, &t, column, a->k0, a->k1, o, add, 2, 1);
        break;
      default:
        BODY (back_slices) (g, &c, &t, column, a->k0, a->k1, o, add, 3, 1);
      }
      continue;
    }
    vf z = vfma (viota (), vset (c.dz), vset (c.z));
    for (int64_t k = a->k0; k < a->k1; k += VW) {
      vf v, p = BODY (path) (g, vadd (z, vset ((float) k * c.dz)), c.scale2);
      if (a->square)
        p = vmul (p, p);
      if (careful) {
        float lanes[VW];
        for (int l = 0; l < VW; l++) {
          lanes[l] = 0;
          double low = t.low + (double) (k + l) * t.slope, first = ceil (low);
          for (int j = 0; j < t.taps; j++) {
            double m = first + j, d = m - low - t.half, ww = t.half - fabs (d);
            ww = LAM_MIN (ww, t.cap);
            if (m >= (double) m0 && m < (double) m1 && ww > 0)
              lanes[l] += (float) (a->square ? ww * ww : ww) * column[(int64_t) m];
          }
        }
        memcpy (&v, lanes, sizeof v);
      } else
        v = BODY (vertical) (&t, column, (double) k, a->square);
      float *q = o + k - a->k0;
      if (a->k1 - k >= VW)
        vstore (q, vfma (p, v, add ? vload (q) : vzero ()));
      else
        vstore_n (q, vfma (p, v, add ? vload_n (q, a->k1 - k) : vzero ()), a->k1 - k);
    }
  }
}

/* ---- entry points ---- */

static LamStatus
BODY (back) (const LamBackArgs *a)
{
  const LamProjectorGeometry *g = a->geometry;
  Scratch *s = a->scratch;
  int two = BODY (is_two_tap) (g), planar = g->layout == LAM_LAYOUT_PLANAR;
  for (int64_t at = 0; at < a->n; at += G) {
    int64_t n = LAM_MIN (a->n - at, G);
    BODY (positions) (g, a->pixel + at, n, s);
    if (two && planar)
      for (int64_t i = 0; i < n; i += VW) {
        int64_t last = LAM_MIN (i + VW, n) - 1;
        s->run[i / VW] = a->pixel[at + last] - a->pixel[at + i] == last - i
                         && a->pixel[at + last] / g->columns == a->pixel[at + i] / g->columns;
      }
    for (int64_t v = a->v0; v < a->v1;) {
      const float *sino = a->sino + (v - a->v0) * a->view_stride;
      int add = v > a->v0;
      if (!two) {
        if (g->cone)
          BODY (cone_back) (a, at, n, v, s, sino, add);
        else if (planar)
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
      if (planar)
        BODY (planar_back2) (a, at, n, views, s, sino, add);
      else
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
      if (a->geometry->cone)
        BODY (cone_forward) (a, at, n, s);
      else if (a->geometry->layout == LAM_LAYOUT_PLANAR)
        BODY (planar_forward) (a, at, n, s);
      else
        BODY (parallel_forward) (a, at, n, s);
    }
  }
  return LAM_OK;
}
