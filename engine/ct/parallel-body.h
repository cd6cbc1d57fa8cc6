/* parallel-body.h: parallel beam; part of projector-body.h, which includes it. */

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

/* The fractional channel q = x c + (y d + c0), all over the pitch, as a fixed-point number of 32 + 32 bits: added to 1.5 x 2^20
 * a double's last bit is worth 2^-32, so the sum's lower word is the fraction and its upper word counts channels. */
#define FIXED 0x1.8p20
#define FIXED_HIGH 0x41380000
#define FRACTION 0x1p24 /* of a fraction, this many bits are used: distances count 2^-24 channels */

/* Fills up the last vector's positions, and finds what each vector spans. */
static void
BODY (boxes) (int64_t n, Scratch *s)
{
  for (int64_t i = n; i % LAM_LANES; i++) {
    s->px[i] = s->px[n - 1];
    s->py[i] = s->py[n - 1];
  }
  for (int64_t i = 0; i < n; i += VW) {
    vspan (s->px + i, &s->box[i / VW].x[0], &s->box[i / VW].x[1]);
    vspan (s->py + i, &s->box[i / VW].y[0], &s->box[i / VW].y[1]);
  }
}

static inline int32_t
BODY (planar_channel) (double x, double y, const LamPlanarView *v, double e)
{
  double t = vfmad1 (x, v->c, vfmad1 (y, v->d, e));
  int64_t bits;
  memcpy (&bits, &t, sizeof bits);
  return (int32_t) (bits >> 32) - FIXED_HIGH;
}

/* The two taps of VW pixels: first in [0, channels - 2], less @base, and both weights. @inside: no pixel
 * lies beside the detector. */
static inline void
BODY (planar_taps) (const LamPlanarView *v, double e, const double *px, const double *py, int inside, int32_t last,
                    int32_t base, int square, vi *first, vf *w0, vf *w1)
{
  vi high, low;
  vhalves (px, py, v->c, v->d, e, &high, &low);
  vf o = vtop24 (low), half = vset (v->half), slope = vset (v->slope), most = vset (v->most), one = vset (FRACTION);
  if (inside) {
    *first = visub (high, viset (FIXED_HIGH + base));
  } else {
    vi at = visub (high, viset (FIXED_HIGH)), clipped = vimin (vimax (at, viset (0)), viset (last));
    o = vfma (vtofloat (visub (at, clipped)), one, o);
    *first = visub (clipped, viset (base));
  }
  vf p = vsub (o, one); /* inside, 0 <= o < 1 */
  vf a = vfma (slope, inside ? o : vabs (o), half), b = inside ? vfnma (slope, p, half) : vfma (slope, vabs (p), half);
  a = vmin (vmax (a, vzero ()), most);
  b = vmin (vmax (b, vzero ()), most);
  *w0 = square ? vmul (a, a) : a;
  *w1 = square ? vmul (b, b) : b;
}

enum { FEW = 8, LEVELS = 8 }; /* more slices than LAM_FEW_SLICES and more blocks than 2^7 there are not */

/* One more block's @n sums, the @done-th, on the tree's open nodes (core/order.h); returns how many are open. Complete pairs: the
 * count of finished blocks tells how many; at the end the rest folds from its end. */
static inline __attribute__ ((always_inline)) int
BODY (add_block) (vf folded[LEVELS][FEW], int depth, int64_t done, const vf *sum, int64_t n, int end)
{
  for (int64_t k = 0; k < n; k++)
    folded[depth][k] = sum[k];
  depth++;
  for (; depth > 1 && (!(done & 1) || end); done >>= 1, depth--)
    for (int64_t k = 0; k < n; k++)
      folded[depth - 2][k] = vadd (folded[depth - 2][k], folded[depth - 1][k]);
  return depth;
}

/* @nk slices: a constant where it is inlined, so that one slice's sum stays in a register. */
static inline __attribute__ ((always_inline)) void
BODY (planar_back_slices) (const LamBackArgs *a, int64_t at, int64_t begin, int64_t n, const Scratch *s, int64_t nk)
{
  const int32_t channels = (int32_t) a->geometry->channels;
  const double e = a->geometry->c0 + FIXED;
  const LamPlanarView *last = a->geometry->planar + a->v1, *p;
  for (int64_t i = begin; i < n; i += VW) {
    const double *x = s->box[i / VW].x, *z = s->box[i / VW].y;
    const float *y0 = a->sino + a->k0 * a->line_stride;
    vf folded[LEVELS][FEW];
    int depth = 0;
    int64_t done = 0;
    for (p = a->geometry->planar + a->v0; p < last;) {
      const LamPlanarView *end = a->block > 0 && a->block < last - p ? p + a->block : last;
      vf sum[FEW];
      for (int64_t k = 0; k < nk; k++)
        sum[k] = vzero ();
      for (; p < end; p++, y0 += a->view_stride) {
        const float *y = y0;
        int32_t lo = BODY (planar_channel) (x[p->left], z[p->near], p, e),
                hi = BODY (planar_channel) (x[!p->left], z[!p->near], p, e);
        vi first, one = viset (1);
        vf w0, w1;
        /* Neighbours lie within a window of the detector: two loads instead of a gather. */
        if (VW > 1 && lo >= 0 && hi <= lo + VLOOKUP_SPAN - 2 && lo <= channels - VLOOKUP_SPAN) {
          BODY (planar_taps) (p, e, s->px + i, s->py + i, 1, channels - 2, lo, a->square, &first, &w0, &w1);
          y += lo;
          for (int64_t k = 0; k < nk; k++, y += a->line_stride)
            sum[k] = vfma (w1, vlookup (y, viadd (first, one)), vfma (w0, vlookup (y, first), sum[k]));
          continue;
        }
        BODY (planar_taps) (p, e, s->px + i, s->py + i, 0, channels - 2, 0, a->square, &first, &w0, &w1);
        for (int64_t k = 0; k < nk; k++, y += a->line_stride)
          sum[k] = vfma (w1, vgather (y, viadd (first, one)), vfma (w0, vgather (y, first), sum[k]));
      }
      depth = BODY (add_block) (folded, depth, ++done, sum, nk, p == last);
    }
    int64_t m = LAM_MIN (n - i, VW);
    for (int64_t k = 0; k < nk; k++) {
      float *o = a->out + k * a->out_stride + at + i;
      if (m == VW)
        vstore (o, folded[0][k]);
      else
        vstore_n (o, folded[0][k], m);
    }
  }
}

/* Four doubles or four words. */
typedef double BODY (four) __attribute__ ((vector_size (32)));
typedef int64_t BODY (four_words) __attribute__ ((vector_size (32)));

/* One slice, which is what a live slice is: four vectors at a time, so that what belongs to the view is loaded once for them
 * and no sum waits for itself. The bits are those of planar_back_slices (). Returns how many of the @n pixels were done. */
static int64_t
BODY (planar_back_one) (const LamBackArgs *a, int64_t at, int64_t n, const Scratch *s)
{
  enum { U = 4 };
  const int32_t channels = (int32_t) a->geometry->channels;
  const double e = a->geometry->c0 + FIXED;
  const LamPlanarView *last = a->geometry->planar + a->v1, *p;
  const vi one = viset (1);
  int64_t i = 0;
  for (; i + U * VW <= n; i += U * VW) {
    BODY (four) xm, ym, xr, yr; /* middles and half widths of what the vectors span */
    const double *px = s->px + i, *py = s->py + i;
    for (int u = 0; u < U; u++) {
      const double *x = s->box[i / VW + u].x, *y = s->box[i / VW + u].y;
      xm[u] = 0.5 * (x[0] + x[1]);
      ym[u] = 0.5 * (y[0] + y[1]);
      xr[u] = 0.5 * (x[1] - x[0]);
      yr[u] = 0.5 * (y[1] - y[0]);
    }
    const float *y = a->sino + a->k0 * a->line_stride;
    vf folded[LEVELS][FEW];
    int depth = 0;
    int64_t done = 0;
    for (p = a->geometry->planar + a->v0; p < last;) {
      const LamPlanarView *end = a->block > 0 && a->block < last - p ? p + a->block : last;
      vf sum[U];
      for (int u = 0; u < U; u++)
        sum[u] = vzero ();
      for (; p < end; p++, y += a->view_stride) {
        /* A window of the detector for each vector, wide enough by more than t can be rounded. */
        BODY (four) t = xm * p->c + (ym * p->d + e), r = xr * fabs (p->c) + yr * fabs (p->d) + 0x1p-20;
        BODY (four_words) lo = ((BODY (four_words)) (t - r) >> 32) - FIXED_HIGH;
        BODY (four_words) hi = ((BODY (four_words)) (t + r) >> 32) - FIXED_HIGH;
        BODY (four_words) most = lo - lo + (channels - VLOOKUP_SPAN), low = lo < most;
        BODY (four_words) base = (lo & low) | (most & ~low);
        BODY (four_words) out = (base < 0) | (hi > base + (VLOOKUP_SPAN - 2));
        vi first;
        vf w0, w1;
        if (!(out[0] | out[1] | out[2] | out[3]))
          for (int u = 0; u < U; u++) {
            const float *w = y + base[u];
            BODY (planar_taps)
            (p, e, px + u * VW, py + u * VW, 1, channels - 2, (int32_t) base[u], a->square, &first, &w0, &w1);
            sum[u] = vfma (w1, vlookup (w, viadd (first, one)), vfma (w0, vlookup (w, first), sum[u]));
          }
        else
          for (int u = 0; u < U; u++) {
            BODY (planar_taps) (p, e, px + u * VW, py + u * VW, 0, channels - 2, 0, a->square, &first, &w0, &w1);
            sum[u] = vfma (w1, vgather (y, viadd (first, one)), vfma (w0, vgather (y, first), sum[u]));
          }
      }
      depth = BODY (add_block) (folded, depth, ++done, sum, U, p == last);
    }
    for (int u = 0; u < U; u++)
      vstore (a->out + at + i + u * VW, folded[0][u]);
  }
  return i;
}

static void
BODY (planar_back2) (const LamBackArgs *a, int64_t at, int64_t n, const Scratch *s)
{
  if (a->k1 - a->k0 != 1) {
    BODY (planar_back_slices) (a, at, 0, n, s, a->k1 - a->k0);
    return;
  }
  int64_t done = BODY (planar_back_one) (a, at, n, s);
  BODY (planar_back_slices) (a, at, done, n, s, 1);
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
  const float scale = a->scale;
  const LamPlanarView *two = g->planar ? g->planar + a->v0 : NULL;
  const double e = g->c0 + FIXED;
  if (two) {
    BODY (boxes) (n, s);
    for (int64_t i = 0; i < n; i += VW) {
      vi first;
      vf w0, w1;
      BODY (planar_taps)
      (two, e, s->px + i, s->py + i, 0, (int32_t) g->channels - 2, 0, 0, &first, &w0, &w1);
      vistore (s->first2[0] + i, first);
      vstore (s->left2[0] + i, w0);
      vstore (s->right2[0] + i, w1);
    }
  } else {
    BODY (horizontal) (g, a->v0, n, s);
    BODY (scale_taps) (g, n, a->scale, &s->taps);
    BODY (bounds) (g, n, &s->taps);
  }
  for (int64_t k = 0; k < nk; k++) {
    float *y = a->view_data + (a->k0 + k) * a->line_stride;
    const float *x = a->x + k * a->x_stride;
    if (two && !a->indexed) { /* listed pixels lie apart: both channels in one access */
      const int32_t *first = s->first2[0];
      for (int64_t i = 0; i < n; i++)
        vpair_add (y + first[i], s->left2[0][i], s->right2[0][i], scale * x[at + i]);
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      float value = x[a->indexed ? a->pixel[at + i] : at + i];
      if (two) {
        float *p = y + s->first2[0][i];
        p[0] = vfma1 (s->left2[0][i], scale * value, p[0]); /* the same arithmetic as the pair */
        p[1] = vfma1 (s->right2[0][i], scale * value, p[1]);
      } else
        for (int32_t j = 0; j < s->taps.count[i]; j++) {
          int64_t channel = s->taps.first[i] + j;
          y[channel] += BODY (weight) (&s->taps, i, channel, 0) * value;
        }
    }
  }
}
