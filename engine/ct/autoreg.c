#include "ct/autoreg.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

#define BINS 400
#define VIEWS_WANTED 20
#define EDGE_LIMIT 0.02

/* The sampled views, seen without a copy. */
typedef struct {
  const float *y, *w; /* w may be NULL */
  int64_t views, step, view_size;
} Sample;

static inline gboolean
counts (const Sample *s, int64_t i)
{
  return !s->w || s->w[i] != 0;
}

/* Runs the statement after it with i over every sample of positive weight, in view order. */
#define EACH_SAMPLE(s, i)                                                                                              \
  for (int64_t v_ = 0; v_ < (s)->views; v_ += (s)->step)                                                               \
    for (int64_t i = v_ * (s)->view_size; i < (v_ + 1) * (s)->view_size; i++)                                          \
      if (counts (s, i))

static gboolean
value_range (const Sample *s, float *min, float *max, int64_t *n, GError **error)
{
  *min = INFINITY;
  *max = -INFINITY;
  *n = 0;
  EACH_SAMPLE (s, i)
  {
    if (!isfinite (s->y[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "automatic regularisation: view %" G_GINT64_FORMAT
                   " holds a sample that is not finite; give it weight 0 or repair it",
                   i / s->view_size);
      return FALSE;
    }
    *min = fminf (*min, s->y[i]);
    *max = fmaxf (*max, s->y[i]);
    (*n)++;
  }
  if (*n > 0)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "automatic regularisation: every sample of the views looked at has weight 0; check the weights, or set "
               "sigma_y and sigma_x by hand");
  return FALSE;
}

typedef struct {
  double edges[BINS + 1];
  int64_t count[BINS];
} Histogram;

static double
bin_center (const Histogram *h, int b)
{
  return 0.5 * (h->edges[b] + h->edges[b + 1]);
}

static void
make_histogram (const Sample *s, double min, double max, Histogram *h)
{
  if (min == max) {
    min -= 0.5;
    max += 0.5;
  }
  memset (h, 0, sizeof *h);
  for (int b = 0; b <= BINS; b++)
    h->edges[b] = b == BINS ? max : min + b * ((max - min) / BINS);
  double scale = BINS / (max - min);
  EACH_SAMPLE (s, i)
  {
    double y = s->y[i];
    int b = LAM_CLAMP ((int) ((y - min) * scale), 0, BINS - 1);
    /* The edges decide, not the rounding of the quotient. */
    if (y < h->edges[b])
      b--;
    else if (b < BINS - 1 && y >= h->edges[b + 1])
      b++;
    h->count[b]++;
  }
}

/* The peak nearest 0 and how far it reaches, down to a tenth of its height. */
static void
find_background (const Histogram *h, double *left, double *right)
{
  int peak = -1, nearest = 0;
  for (int b = 0; b < BINS; b++) {
    if (fabs (bin_center (h, b)) < fabs (bin_center (h, nearest)))
      nearest = b;
    gboolean is_peak = b < BINS - 1 && (b == 0 || h->count[b] >= h->count[b - 1]) && h->count[b] > h->count[b + 1];
    if (is_peak && (peak < 0 || fabs (bin_center (h, b)) < fabs (bin_center (h, peak))))
      peak = b;
  }
  if (peak < 0)
    peak = nearest;
  double cut = 0.1 * (double) h->count[peak];
  int l = peak, r = peak;
  while (l > 0 && (double) h->count[l] > cut)
    l--;
  while (r < BINS - 1 && (double) h->count[r] > cut)
    r++;
  *left = bin_center (h, l);
  *right = bin_center (h, r);
}

/* Floats as integers of the same order. */
static inline uint32_t
ordered (float x)
{
  uint32_t bits;
  memcpy (&bits, &x, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static inline float
from_ordered (uint32_t key)
{
  uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float x;
  memcpy (&x, &bits, sizeof x);
  return x;
}

/* The half of a key that holds rank @rank, which becomes the rank within it. */
static uint32_t
find_rank (const int64_t *count, int64_t *rank)
{
  uint32_t half = 0;
  while (half < 0xffff && *rank >= count[half])
    *rank -= count[half++];
  return half;
}

/* The value of rank @rank (0 = smallest) among the samples >= @threshold: two counting passes, exact, no copy. */
static float
value_of_rank (const Sample *s, double threshold, int64_t rank, int64_t *count)
{
  memset (count, 0, sizeof *count << 16);
  EACH_SAMPLE (s, i)
  if (s->y[i] >= threshold)
    count[ordered (s->y[i]) >> 16]++;
  uint32_t high = find_rank (count, &rank);
  memset (count, 0, sizeof *count << 16);
  EACH_SAMPLE (s, i)
  if (s->y[i] >= threshold && ordered (s->y[i]) >> 16 == high)
    count[ordered (s->y[i]) & 0xffff]++;
  return from_ordered (high << 16 | find_rank (count, &rank));
}

static double
median_above (const Sample *s, double threshold)
{
  int64_t n = 0;
  EACH_SAMPLE (s, i)
  n += s->y[i] >= threshold;
  g_autofree int64_t *count = g_new (int64_t, 1 << 16);
  double middle = value_of_rank (s, threshold, n / 2, count);
  return n % 2 ? middle : 0.5 * (middle + (double) value_of_rank (s, threshold, n / 2 - 1, count));
}

static gboolean
find_support (const LamGeometry *g, const Sample *s, LamRegularization *out, GError **error)
{
  float min, max;
  int64_t n;
  if (!value_range (s, &min, &max, &n, error))
    return FALSE;
  g_autofree Histogram *h = g_new (Histogram, 1);
  make_histogram (s, min, max, h);
  memset (out, 0, sizeof *out);
  out->views_sampled = (s->views + s->step - 1) / s->step;
  find_background (h, &out->background_left, &out->background_right);
  double clear = out->background_right + (out->background_right - out->background_left);
  out->whole_support = max <= 0 || max < clear;
  out->support_threshold = out->whole_support ? -INFINITY : 0.25 * median_above (s, clear);
  return TRUE;
}

/* How many (view, row) pairs have object in their first or last channel. */
static int64_t
count_edges (const LamGeometry *g, const Sample *s, double threshold)
{
  int64_t hit = 0;
  for (int64_t v = 0; v < s->views; v += s->step)
    for (int64_t m = 0; m < g->rows; m++) {
      int64_t first = v * s->view_size + m * g->channels, last = first + g->channels - 1;
      hit += (counts (s, first) && s->y[first] >= threshold) || (counts (s, last) && s->y[last] >= threshold);
    }
  return hit;
}

static Sample
sample_of (const LamGeometry *g, const float *sinogram, const float *weights)
{
  return (Sample){.y = sinogram,
                  .w = weights,
                  .views = g->views,
                  .step = g->views / LAM_MIN (VIEWS_WANTED, g->views),
                  .view_size = g->rows * g->channels};
}

gboolean
lam_support_threshold (const LamGeometry *g, const float *sinogram, const float *weights, LamRegularization *out,
                       GError **error)
{
  g_return_val_if_fail (g != NULL && sinogram != NULL && out != NULL, FALSE);
  Sample s = sample_of (g, sinogram, weights);
  return find_support (g, &s, out, error);
}

gboolean
lam_auto_regularization (const LamGeometry *g, const float *sinogram, const float *weights, double snr_db,
                         double sharpness, LamRegularization *out, GError **error)
{
  g_return_val_if_fail (g != NULL && sinogram != NULL && out != NULL, FALSE);
  if (!isfinite (snr_db) || !isfinite (sharpness)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s = %g: must be a finite number",
                 isfinite (snr_db) ? "sharpness" : "snr_db", isfinite (snr_db) ? sharpness : snr_db);
    return FALSE;
  }
  if (!lam_geometry_check (g, error))
    return FALSE;
  Sample s = sample_of (g, sinogram, weights);
  if (!find_support (g, &s, out, error))
    return FALSE;

  double squares = 0, magnitude = 0;
  int64_t n = 0;
  for (int64_t v = 0; v < s.views; v += s.step) {
    double view_squares = 0, view_magnitude = 0;
    for (int64_t i = v * s.view_size; i < (v + 1) * s.view_size; i++) {
      double y = s.y[i];
      if (!counts (&s, i) || y < out->support_threshold)
        continue;
      view_squares += (s.w ? s.w[i] : 1.0) * y * y;
      view_magnitude += fabs (y);
      n++;
    }
    squares += view_squares;
    magnitude += view_magnitude;
  }
  out->support_count = n;
  out->support_rms = sqrt (squares / (double) n);
  out->typical_value = magnitude / (double) n;
  if (!out->whole_support)
    out->edge_fraction =
        (double) count_edges (g, &s, out->support_threshold) / ((double) out->views_sampled * (double) g->rows);

  double m0 = lam_geometry_magnification (g), r = (double) g->recon_rows, c = (double) g->recon_columns;
  out->path_length = fmin (2 * r * c / (r + c) * g->voxel_pitch, (double) g->channels * g->channel_pitch / m0);
  double sigma_y = pow (10, -snr_db / 20) * out->support_rms * sqrt (g->voxel_pitch * m0 / g->channel_pitch);
  double sigma_x = 0.2 * pow (2, sharpness) * out->typical_value / out->path_length;
  out->sigma_y = (float) sigma_y;
  out->sigma_x = out->sigma_prox = (float) sigma_x;
  if (out->sigma_y > 0 && out->sigma_x > 0 && isfinite (out->sigma_y) && isfinite (out->sigma_x))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "automatic regularisation: sigma_y = %g and sigma_x = %g from data of rms %g; is the sinogram empty? "
               "Set both by hand to go on",
               out->sigma_y, out->sigma_x, out->support_rms);
  return FALSE;
}

char *
lam_regularization_warnings (const LamRegularization *r)
{
  g_return_val_if_fail (r != NULL, NULL);
  if (r->whole_support)
    return g_strdup ("no background was found in the sinogram: every sample counts as object for the automatic "
                     "strength of noise and prior");
  if (r->edge_fraction > EDGE_LIMIT)
    return g_strdup_printf ("the object reaches the edge of the detector in %.0f %% of the rows looked at: enlarge the "
                            "volume in its plane by 1.1 or more",
                            100 * r->edge_fraction);
  return NULL;
}
