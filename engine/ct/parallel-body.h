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
