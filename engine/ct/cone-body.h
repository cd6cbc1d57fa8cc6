/* cone-body.h: cone beam: the vertical factor, rows from slices and slices from rows; part of projector-body.h, which
 * includes it. */

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
  return (int64_t) ceil ((VW + 3) * t->slope) + t->taps + VLOOKUP_SPAN + 4;
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
    /* Only the slices that meet these rows: further away there is nothing, and no zeros to read either. */
    double half = (c.width + 1) / 2, k_low = floor (((double) m0 - half - c.m0) * c.inv_width) - 1;
    double k_high = ceil (((double) (m1 - 1) + half - c.m0) * c.inv_width) + 2;
    int64_t kb = k_low > (double) a->k0 ? a->k0 + ((int64_t) k_low - a->k0) / VW * VW : a->k0;
    int64_t ke = k_high < (double) a->k1 ? (int64_t) k_high : a->k1;
    if (!add || kb >= ke) {
      if (!add) {
        memset (o, 0, LAM_MIN (LAM_MAX (kb - a->k0, 0), nk) * sizeof *o);
        if (ke < a->k1)
          memset (o + LAM_MAX (ke - a->k0, 0), 0, LAM_MIN (a->k1 - ke, nk) * sizeof *o);
      }
      if (kb >= ke)
        continue;
    }
    int64_t reach = BODY (reach) (&t), zeros = LAM_MIN (reach, PAD);
    int careful = reach > PAD;
    memset (column + m0 - zeros, 0, zeros * sizeof (float));
    memset (column + m1, 0, zeros * sizeof (float));
    if (t.lookup && c.width <= 2) {
      switch ((c.width > 1) + (a->square ? 2 : 0)) {
      case 0:
        BODY (back_slices) (g, &c, &t, column, kb, ke, o + kb - a->k0, add, 2, 0);
        break;
      case 1:
        BODY (back_slices) (g, &c, &t, column, kb, ke, o + kb - a->k0, add, 3, 0);
        break;
      case 2:
        BODY (back_slices) (g, &c, &t, column, kb, ke, o + kb - a->k0, add, 2, 1);
        break;
      default:
        BODY (back_slices) (g, &c, &t, column, kb, ke, o + kb - a->k0, add, 3, 1);
      }
      continue;
    }
    vf z = vfma (viota (), vset (c.dz), vset (c.z));
    for (int64_t k = kb; k < ke; k += VW) {
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
      if (ke - k >= VW)
        vstore (q, vfma (p, v, add ? vload (q) : vzero ()));
      else
        vstore_n (q, vfma (p, v, add ? vload_n (q, ke - k) : vzero ()), ke - k);
    }
  }
}
