/* The centre from parallel views: mirrored sinograms and mirrored pairs. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "ct/center-private.h"

/* Spectra of rows padded so that mirrored products do not wrap. */
typedef struct {
  LamFft *fft;
  int64_t length, bins;
  float *row, *spectrum, *other;
} Spectra;

static void
spectra_clear (Spectra *s)
{
  lam_fft_free (s->fft);
  lam_free (s->row);
  lam_free (s->spectrum);
  lam_free (s->other);
}

static gboolean
spectra_init (Spectra *s, int64_t channels, GError **error)
{
  *s = (Spectra){.length = lam_fft_good_size (2 * channels)};
  s->fft = lam_fft_new (s->length, error);
  if (!s->fft)
    return FALSE;
  s->bins = lam_fft_bins (s->fft);
  s->row = lam_alloc_n (s->length, sizeof (float), "centre search: a padded row", error);
  s->spectrum = s->row ? lam_alloc_n (2 * s->bins, sizeof (float), "centre search: a spectrum", error) : NULL;
  s->other = s->spectrum ? lam_alloc_n (2 * s->bins, sizeof (float), "centre search: a spectrum", error) : NULL;
  return s->other != NULL;
}

static void
transform (Spectra *s, const float *values, int64_t n, float *spectrum)
{
  memcpy (s->row, values, sizeof (float) * (size_t) n);
  memset (s->row + n, 0, sizeof (float) * (size_t) (s->length - n));
  lam_fft_forward (s->fft, s->row, spectrum);
}

/* --- Double wedge ---
 * With Z_v (k) the spectrum of view v, the view mirrored about channel c has the spectrum conj (Z_v) exp (-2 pi i k
 * 2c / L). Views and mirrored views together make one period of 2M in angle: F = A + B exp (..), A and B not
 * depending on c. So the energy where |angular frequency| > radius * |channel frequency|, which a true full turn
 * leaves empty, is E + 2 Re sum_k P (k) exp (-2 pi i k 2c / L): one inverse transform gives it at every half channel. */

static inline void
column_value (const float *re, const float *im, int64_t k, int64_t n, double out[2])
{
  /* Spectrum of a complex column from those of its real and imaginary part. */
  int64_t i = k >= 0 ? k : -k;
  double sign = k >= 0 ? 1 : -1;
  double a = re[2 * i], b = sign * re[2 * i + 1], c = im[2 * i], d = sign * im[2 * i + 1];
  out[0] = a - d;
  out[1] = b + c;
}

typedef struct {
  LamFft *fft;
  float *column, *spectrum[4]; /* A real, A imaginary, B real, B imaginary */
} Columns;

static void
columns_clear (Columns *c)
{
  lam_fft_free (c->fft);
  lam_free (c->column);
  for (int i = 0; i < 4; i++)
    lam_free (c->spectrum[i]);
}

static gboolean
columns_init (Columns *c, int64_t views, GError **error)
{
  *c = (Columns){.fft = lam_fft_new (2 * views, error)};
  if (!c->fft || !(c->column = lam_alloc_n (2 * views, sizeof (float), "centre search: a column", error)))
    return FALSE;
  for (int i = 0; i < 4; i++)
    if (!(c->spectrum[i] = lam_alloc_n (2 * lam_fft_bins (c->fft), sizeof (float), "centre search: a spectrum", error)))
      return FALSE;
  return TRUE;
}

/* P (k) and E for channel frequency @k of @kept spectra z [view][kept] (pairs). */
static void
wedge_bin (Columns *c, const float *z, int64_t views, int64_t kept, int64_t k, double limit, double p[2], double *e)
{
  for (int i = 0; i < 4; i++) {
    gboolean mirrored = i >= 2;
    memset (c->column, 0, sizeof (float) * (size_t) (2 * views));
    for (int64_t v = 0; v < views; v++) {
      float x = z[2 * (v * kept + k) + i % 2];
      c->column[mirrored ? views + v : v] = i == 3 ? -x : x;
    }
    lam_fft_forward (c->fft, c->column, c->spectrum[i]);
  }
  for (int64_t t = -views + 1; t <= views; t++) {
    double a[2], b[2];
    if (fabs ((double) t) <= limit)
      continue;
    column_value (c->spectrum[0], c->spectrum[1], t, views, a);
    column_value (c->spectrum[2], c->spectrum[3], t, views, b);
    p[0] += a[0] * b[0] + a[1] * b[1];
    p[1] += a[0] * b[1] - a[1] * b[0];
    *e += a[0] * a[0] + a[1] * a[1] + b[0] * b[0] + b[1] * b[1];
  }
}

static gboolean
wedge_into (const CenterViews *d, Spectra *s, Columns *columns, float *z, int64_t kept, CenterCurve *curve,
            GError **error)
{
  double *e = center_alloc0 (3 * kept, error), (*p)[2] = (double (*)[2]) (e + kept);
  if (!e)
    return FALSE;
  /* Half the detector's width is the radius of anything the detector sees whole. */
  double slope = 0.5 * (double) d->channels * 2 * G_PI / (double) s->length;
  for (int64_t m = 0; m < d->rows; m++) {
    for (int64_t v = 0; v < d->views; v++) {
      transform (s, center_view (d, m, v), d->channels, s->spectrum);
      memcpy (z + 2 * v * kept, s->spectrum, sizeof (float) * 2 * (size_t) kept);
    }
    for (int64_t k = 1; k < kept; k++)
      wedge_bin (columns, z, d->views, kept, k, slope * (double) k + 1, p[k], &e[k]);
  }
  for (int group = 0; group < CENTER_GROUPS; group++) {
    double total = 0, scale = 0;
    memset (s->spectrum, 0, sizeof (float) * 2 * (size_t) s->bins);
    for (int64_t k = 1 + group; k < kept; k += CENTER_GROUPS) {
      total += e[k];
      scale = fmax (scale, fmax (fabs (p[k][0]), fabs (p[k][1])));
    }
    for (int64_t k = 1 + group; k < kept && scale > 0; k += CENTER_GROUPS) {
      s->spectrum[2 * k] = (float) (p[k][0] / scale);
      s->spectrum[2 * k + 1] = (float) (-p[k][1] / scale);
    }
    lam_fft_inverse (s->fft, s->spectrum, s->row);
    for (int64_t i = 0; i < curve->n; i++) {
      curve->top[group * curve->n + i] = total + scale * s->row[i];
      curve->bottom[group * curve->n + i] = total;
    }
  }
  lam_free (e);
  return TRUE;
}

gboolean
center_wedge (const CenterViews *d, CenterCurve *curve, GError **error)
{
  Spectra s = {0};
  Columns columns = {0};
  float *z = NULL;
  gboolean ok = FALSE;
  if (!center_curve_init (curve, 0, 0.5, 2 * d->channels - 1, error))
    return FALSE;
  if (spectra_init (&s, d->channels, error) && columns_init (&columns, d->views, error)) {
    /* Channel frequencies above this have no room left outside the wedge. */
    int64_t kept =
        LAM_MIN (s.bins, 2 + (int64_t) ((double) d->views * (double) s.length / (G_PI * (double) d->channels)));
    z = lam_alloc_n (lam_mul_size (2 * d->views, kept), sizeof (float), "centre search: the spectra", error);
    ok = z && wedge_into (d, &s, &columns, z, kept, curve, error);
  }
  lam_free (z);
  spectra_clear (&s);
  columns_clear (&columns);
  return ok;
}

/* --- Mirrored pairs ---
 * sum over the overlap of (a (n) - b (2c - n))^2 with both means taken off, for every half channel c: the products by
 * a transform, the rest by running sums. */

typedef struct {
  Spectra s;
  double (*product)[2];                        /* [CENTER_GROUPS][bins] */
  double *sum_a, *sum_b, *square_a, *square_b; /* running, n + 1 each */
  double energy;
  int64_t pairs[CENTER_GROUPS];
} Pairs;

static void
pairs_clear (Pairs *p)
{
  spectra_clear (&p->s);
  lam_free (p->product);
  lam_free (p->sum_a);
}

static gboolean
pairs_init (Pairs *p, int64_t channels, GError **error)
{
  *p = (Pairs){0};
  if (!spectra_init (&p->s, channels, error))
    return FALSE;
  p->product = (double (*)[2]) center_alloc0 (2 * CENTER_GROUPS * p->s.bins, error);
  p->sum_a = p->product ? center_alloc0 (4 * (channels + 1), error) : NULL;
  if (!p->sum_a)
    return FALSE;
  p->sum_b = p->sum_a + channels + 1;
  p->square_a = p->sum_b + channels + 1;
  p->square_b = p->square_a + channels + 1;
  return TRUE;
}

static void
running_sums (const float *x, int64_t n, double *sum, double *square)
{
  sum[0] = square[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    sum[i + 1] = sum[i] + x[i];
    square[i + 1] = square[i] + (double) x[i] * x[i];
  }
}

static void
pairs_add (Pairs *p, const float *a, const float *b, int64_t channels, int64_t index, CenterCurve *curve)
{
  int group = (int) (index % CENTER_GROUPS);
  double *top = curve->top + group * curve->n, *bottom = curve->bottom + group * curve->n;
  running_sums (a, channels, p->sum_a, p->square_a);
  running_sums (b, channels, p->sum_b, p->square_b);
  p->energy += p->square_a[channels] - p->sum_a[channels] * p->sum_a[channels] / (double) channels
               + p->square_b[channels] - p->sum_b[channels] * p->sum_b[channels] / (double) channels;
  p->pairs[group]++;
  transform (&p->s, a, channels, p->s.spectrum);
  transform (&p->s, b, channels, p->s.other);
  double (*product)[2] = p->product + group * p->s.bins;
  const float *x = p->s.spectrum, *y = p->s.other;
  for (int64_t k = 0; k < p->s.bins; k++) {
    product[k][0] += (double) x[2 * k] * y[2 * k] - (double) x[2 * k + 1] * y[2 * k + 1];
    product[k][1] += (double) x[2 * k] * y[2 * k + 1] + (double) x[2 * k + 1] * y[2 * k];
  }
  for (int64_t i = 0; i < curve->n; i++) {
    int64_t lo = LAM_MAX (0, i - channels + 1), hi = LAM_MIN (channels - 1, i) + 1; /* n, and 2c - n with 2c = i */
    double n = (double) (hi - lo);
    double sa = p->sum_a[hi] - p->sum_a[lo], sb = p->sum_b[i - lo + 1] - p->sum_b[i - hi + 1];
    double squares = p->square_a[hi] - p->square_a[lo] + p->square_b[i - lo + 1] - p->square_b[i - hi + 1];
    top[i] += squares - (sa - sb) * (sa - sb) / n;
    bottom[i] += squares - (sa * sa + sb * sb) / n;
  }
}

/* Takes the products off, and adds a little to both so that a few dark channels of overlap do not look like a match. */
static void
pairs_finish (Pairs *p, CenterCurve *curve)
{
  int64_t count = 0;
  for (int g = 0; g < CENTER_GROUPS; g++)
    count += p->pairs[g];
  for (int g = 0; g < CENTER_GROUPS; g++) {
    double scale = 0, floor = count ? 0.0003 * p->energy * (double) p->pairs[g] / (double) count : 0;
    double (*product)[2] = p->product + g * p->s.bins;
    for (int64_t k = 0; k < p->s.bins; k++)
      scale = fmax (scale, fmax (fabs (product[k][0]), fabs (product[k][1])));
    for (int64_t k = 0; k < p->s.bins; k++)
      for (int c = 0; c < 2; c++)
        p->s.spectrum[2 * k + c] = scale > 0 ? (float) (product[k][c] / scale) : 0;
    lam_fft_inverse (p->s.fft, p->s.spectrum, p->s.row);
    for (int64_t i = 0; i < curve->n; i++) {
      double *top = &curve->top[g * curve->n + i];
      *top = fmax (0, *top - 2 * scale * p->s.row[i] / (double) p->s.length) + floor;
      curve->bottom[g * curve->n + i] += floor;
    }
  }
}

gboolean
center_pairs (const CenterViews *d, CenterCurve *curve, GError **error)
{
  Pairs p = {0};
  float *opposite = lam_alloc_n (d->channels, sizeof (float), "centre search: an opposite view", error);
  gboolean ok = opposite && center_curve_init (curve, 0, 0.5, 2 * d->channels - 1, error);
  ok = ok && pairs_init (&p, d->channels, error);
  double turn = G_PI / d->step;
  int64_t last = d->full_turn ? (d->views + 1) / 2 : d->views;
  for (int64_t m = 0; ok && m < d->rows; m++)
    for (int64_t v = 0; v < last; v++) {
      int64_t i = (int64_t) floor ((double) v + turn + 1e-6);
      double t = LAM_MAX (0, (double) v + turn - (double) i);
      if (!d->full_turn && (i >= d->views || (i == d->views - 1 && t > 1e-6)))
        break;
      const float *b0 = center_view (d, m, i % d->views), *b1 = center_view (d, m, (i + 1) % d->views);
      for (int64_t n = 0; n < d->channels; n++)
        opposite[n] = (float) ((1 - t) * b0[n] + (t > 1e-6 ? t * b1[n] : 0));
      pairs_add (&p, center_view (d, m, v), opposite, d->channels, m + v, curve);
    }
  if (ok)
    pairs_finish (&p, curve);
  lam_free (opposite);
  pairs_clear (&p);
  return ok;
}

/* a = x u + y w, smoothed over @half channels each side. */
static void
blend (const float *u, double x, const float *w, double y, int64_t n, int64_t half, float *out)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t lo = LAM_MAX (0, i - half), hi = LAM_MIN (n - 1, i + half);
    double sum = 0;
    for (int64_t j = lo; j <= hi; j++)
      sum += x * u[j] + y * w[j];
    out[i] = (float) (sum / (double) (hi - lo + 1));
  }
}

/* Views at the seam carried on by a line through two, then compared: one step before the first, one after the last,
 * and half way between. */
gboolean
center_seam (const CenterViews *d, CenterCurve *curve, GError **error)
{
  static const double ahead[3] = {0.5, 1, 0};
  Pairs p = {0};
  float *a = lam_alloc_n (lam_mul_size (2, d->channels), sizeof (float), "centre search: two views", error), *b;
  gboolean ok = a && center_curve_init (curve, 0, 0.5, 2 * d->channels - 1, error);
  ok = ok && pairs_init (&p, d->channels, error);
  int64_t half = d->channels / 100, z = d->views - 1, index = 0;
  for (int64_t m = 0; ok && d->views >= 2 && m < d->rows; m++)
    for (int i = 0; i < 3; i++) {
      double f = ahead[i], l = 1 - f;
      b = a + d->channels;
      blend (center_view (d, m, 0), 1 + f, center_view (d, m, 1), -f, d->channels, half, a);
      blend (center_view (d, m, z), 1 + l, center_view (d, m, z - 1), -l, d->channels, half, b);
      pairs_add (&p, a, b, d->channels, index++, curve);
    }
  if (ok)
    pairs_finish (&p, curve);
  lam_free (a);
  pairs_clear (&p);
  return ok;
}
