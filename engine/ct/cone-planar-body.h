/* cone-planar-body.h: cone beam with one slice, such as a live slice: vectors over pixels; part of projector-body.h, which
 * includes it.
 *
 * Both factors of the footprint are (2.1), written by f in [0, 1), the distance from where the support begins to its first
 * element: element j gets clip (min (f + j, W + 1 - f - j), 0, min (1, W)). First element and f are found in double for each
 * pixel by itself, and rows and channels are added in their order, so that no result knows which pixels share a vector. */

/* ---- one view's footprints ---- */

static void
BODY (cone_planar_taps) (const LamProjectorGeometry *g, int64_t view, int64_t n, Scratch *restrict s)
{
  const double c = g->cosines[view], d = g->sines[view], inv_dc = 1 / g->dc, limit = 1 << 30;
  const double z = g->z0 - (g->shifts ? g->shifts[view] : 0), row_z = z / g->dr, row_dz = g->dz / g->dr;
  const float area = (float) (g->dx * g->dy);
  Taps *restrict t = &s->taps;
  ConePlanar *restrict p = &s->planar;
  /* With e = 1 / M, u = x / D and h = z / D: tan (gamma) = u / e, and dx |cos| and dy |sin| of the ray, over cos (gamma), are
   * length / e. A division costs as much as all else: there is one for both, in float, and M is made exact by a step of
   * Newton's, which leaves 2^-46. */
  const double height = z * g->inv_sd, height2 = height * height;
  for (int64_t i = 0; i < n; i++) {
    double x = s->px[i] * c - s->py[i] * d, e = g->inv_m0 - (s->px[i] * d + s->py[i] * c) * g->inv_sd,
           u = x * g->inv_sd;
    double a = g->dx * fabs (c * e + d * u), b = g->dy * fabs (d * e - c * u), length = a > b ? a : b;
    float both = 1 / (float) (e * length);
    double mag = both * length;
    mag += mag * (1 - e * mag);
    t->mag[i] = mag;
    t->q[i] = mag * x * inv_dc + g->c0;
    t->width[i] = mag * mag * length * inv_dc;
    p->slant[i] = (float) ((e * e + u * u) * (e * e + height2));
    p->inverse[i] = both;
  }
  if (g->curved)
    BODY (curve) (g, n, t);
  for (int64_t i = 0; i < n; i++) {
    double low = t->q[i] - (t->width[i] + 1) / 2, first = ceil (low);
    double begin = first < limit ? first : limit;
    p->channel[i] = (int32_t) (begin > -limit ? begin : -limit);
    p->f[i] = (float) (first - low);
    p->w[i] = (float) t->width[i];
  }
  for (int64_t i = 0; i < n; i++) {
    double width = t->mag[i] * row_dz, low = t->mag[i] * row_z + g->r0 - (width + 1) / 2, first = ceil (low);
    double begin = first < limit ? first : limit;
    p->row[i] = (int32_t) (begin > -limit ? begin : -limit);
    p->row_f[i] = (float) (first - low);
    p->row_w[i] = (float) width;
  }
  /* dx dy / (f cos (phi)), where f = length cos (gamma) / e */
  for (int64_t i = 0; i < n; i++)
    p->scale[i] = area * sqrtf (p->slant[i]) * p->inverse[i];
  for (int64_t i = n; i % LAM_LANES; i++) { /* what a last, partial vector reads: the last pixel again */
    p->channel[i] = p->channel[n - 1];
    p->row[i] = p->row[n - 1];
    p->f[i] = p->f[n - 1];
    p->w[i] = p->w[n - 1];
    p->row_f[i] = p->row_f[n - 1];
    p->row_w[i] = p->row_w[n - 1];
    p->scale[i] = p->scale[n - 1];
  }
}

/* (2.1) of an element that lies @at after the beginning of the support. */
static inline float
BODY (footprint1) (float at, float w)
{
  float rest = w + 1 - at, least = at < rest ? at : rest, most = w < 1 ? w : 1;
  least = least > 0 ? least : 0;
  return least < most ? least : most;
}

static inline vf
BODY (footprint) (vf at, vf w)
{
  return vmin (vmax (vmin (at, vsub (vadd (w, vset (1)), at)), vzero ()), vmin (w, vset (1)));
}

/* Which of @n elements a support meets that begins at @first. */
static inline LamRange
BODY (met) (int32_t first, float width, int64_t n)
{
  int64_t end = first + (int64_t) ceilf (width) + 1;
  LamRange r = {LAM_MAX (first, 0), LAM_MIN (end, n)};
  return r;
}

/* ---- back projection ---- */

/* The sum of pixel @i before its scale: near the detector's ends, and where a footprint is wide. */
static float
BODY (cone_planar_pixel) (const LamBackArgs *a, const ConePlanar *p, int64_t i, const float *sino)
{
  LamRange rows = BODY (met) (p->row[i], p->row_w[i], a->geometry->rows);
  LamRange channels = BODY (met) (p->channel[i], p->w[i], a->geometry->channels);
  float sum = 0;
  for (int64_t r = rows.begin; r < rows.end; r++) {
    const float *y = sino + r * a->line_stride;
    float line = 0, h = BODY (footprint1) (p->row_f[i] + (float) (r - p->row[i]), p->row_w[i]);
    for (int64_t c = channels.begin; c < channels.end; c++) {
      float w = BODY (footprint1) (p->f[i] + (float) (c - p->channel[i]), p->w[i]);
      line = vfma1 (a->square ? w * w : w, y[c], line);
    }
    sum = vfma1 (a->square ? h * h : h, line, sum);
  }
  return sum;
}

enum { CONE_PLANAR_TAPS = 6 }; /* channels of a footprint whose weights are kept as vectors */

/* The sums of VW pixels before their scale, of which one window of the detector holds the channels; FALSE = it does not. */
static inline __attribute__ ((always_inline)) int
BODY (cone_planar_vector) (const LamBackArgs *a, const ConePlanar *p, int64_t i, const float *sino, const int square,
                           vf *sum)
{
  const int32_t channels = (int32_t) a->geometry->channels, rows = (int32_t) a->geometry->rows;
  int32_t low, high, top, bottom;
  vf w = vload (p->w + i), f = vload (p->f + i), row_w = vload (p->row_w + i), row_f = vload (p->row_f + i);
  vispan (viload (p->channel + i), &low, &high);
  vispan (viload (p->row + i), &top, &bottom);
  const int taps = (int) ceilf (vlargest (w)) + 1;
  int32_t base = LAM_MIN (low, channels - VLOOKUP_SPAN);
  if (base < 0 || taps > CONE_PLANAR_TAPS || high + taps > base + VLOOKUP_SPAN)
    return 0;
  vf weight[CONE_PLANAR_TAPS];
  for (int j = 0; j < taps; j++) {
    weight[j] = BODY (footprint) (vadd (f, vset ((float) j)), w);
    if (square)
      weight[j] = vmul (weight[j], weight[j]);
  }
  vi first = visub (viload (p->channel + i), viset (base)), row = viload (p->row + i);
  int32_t end = LAM_MIN (bottom + (int32_t) ceilf (vlargest (row_w)) + 1, rows);
  vf total = vzero ();
  for (int32_t r = LAM_MAX (top, 0); r < end; r++) {
    const float *y = sino + r * a->line_stride + base;
    vf h = BODY (footprint) (vadd (row_f, vtofloat (visub (viset (r), row))), row_w);
    vf line = vmul (weight[0], vlookup (y, first));
    for (int j = 1; j < taps; j++)
      line = vfma (weight[j], vlookup (y, viadd (first, viset (j))), line);
    total = vfma (square ? vmul (h, h) : h, line, total);
  }
  *sum = total;
  return 1;
}

static void
BODY (cone_planar_back) (const LamBackArgs *a, int64_t at, int64_t n, int64_t view, Scratch *s, const float *sino,
                         int add)
{
  ConePlanar *p = &s->planar;
  float *out = a->out + at;
  BODY (cone_planar_taps) (a->geometry, view, n, s);
  for (int64_t i = 0; i < n; i += VW) {
    int64_t m = LAM_MIN (n - i, VW);
    vf sum, scale = vload (p->scale + i);
    if (!(a->square ? BODY (cone_planar_vector) (a, p, i, sino, 1, &sum)
                    : BODY (cone_planar_vector) (a, p, i, sino, 0, &sum))) {
      float lanes[VW] = {0};
      for (int64_t l = 0; l < m; l++)
        lanes[l] = BODY (cone_planar_pixel) (a, p, i + l, sino);
      memcpy (&sum, lanes, sizeof sum);
    }
    if (a->square)
      scale = vmul (scale, scale);
    if (m == VW)
      vstore (out + i, vfma (scale, sum, add ? vload (out + i) : vzero ()));
    else
      vstore_n (out + i, vfma (scale, sum, add ? vload_n (out + i, m) : vzero ()), m);
  }
}

/* ---- forward projection ---- */

static void
BODY (cone_planar_forward) (const LamForwardArgs *a, int64_t at, int64_t n, Scratch *s)
{
  const LamProjectorGeometry *g = a->geometry;
  const ConePlanar *p = &s->planar;
  BODY (cone_planar_taps) (g, a->v0, n, s);
  for (int64_t i = 0; i < n; i++) {
    LamRange rows = BODY (met) (p->row[i], p->row_w[i], g->rows);
    LamRange channels = BODY (met) (p->channel[i], p->w[i], g->channels);
    float value = a->scale * p->scale[i] * a->x[a->indexed ? a->pixel[at + i] : at + i];
    for (int64_t r = rows.begin; r < rows.end; r++) {
      float *y = a->view_data + r * a->line_stride;
      float part = BODY (footprint1) (p->row_f[i] + (float) (r - p->row[i]), p->row_w[i]) * value;
      for (int64_t c = channels.begin; c < channels.end; c++)
        y[c] = vfma1 (BODY (footprint1) (p->f[i] + (float) (c - p->channel[i]), p->w[i]), part, y[c]);
    }
  }
}
