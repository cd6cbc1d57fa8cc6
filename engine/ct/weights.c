#include "ct/weights.h"

#include <math.h>

#include "core/error.h"

static const char *const names[LAM_WEIGHTS_COUNT] = {"unweighted", "transmission", "transmission_root", "emission"};

const char *
lam_weights_name (LamWeightKind kind)
{
  return (unsigned) kind < LAM_WEIGHTS_COUNT ? names[kind] : NULL;
}

gboolean
lam_weights_from_name (const char *name, LamWeightKind *kind, GError **error)
{
  for (int i = 0; i < LAM_WEIGHTS_COUNT; i++)
    if (g_strcmp0 (name, names[i]) == 0) {
      *kind = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "weights \"%s\": unknown; use unweighted, transmission, transmission_root or emission",
               name ? name : "");
  return FALSE;
}

void
lam_make_weights (LamWeightKind kind, const float *sinogram, int64_t n, float *weights)
{
  for (int64_t i = 0; i < n; i++) {
    double y = sinogram[i], w = 1;
    switch (kind) {
    case LAM_WEIGHTS_TRANSMISSION:
      w = exp (-y);
      break;
    case LAM_WEIGHTS_TRANSMISSION_ROOT:
      w = exp (-0.5 * y);
      break;
    case LAM_WEIGHTS_EMISSION:
      w = 1 / (fabs (y) + 0.1);
      break;
    case LAM_WEIGHTS_UNWEIGHTED:
    case LAM_WEIGHTS_COUNT:
      break;
    }
    weights[i] = isfinite (y) ? (float) w : 0;
  }
}

void
lam_huber_factor (const float *error, const float *weights, int64_t n, double threshold, double delta, float *factor)
{
  const double tiny = 1e-6;
  double errors = 0, deviations = 0;
  for (int64_t i = 0; i < n; i++) {
    double deviation = 1 / fmax (sqrt (weights[i]), tiny);
    errors += (double) error[i] * error[i];
    deviations += deviation * deviation;
  }
  double kappa = sqrt (errors) / (sqrt (deviations) + tiny);
  for (int64_t i = 0; i < n; i++) {
    double deviation = 1 / fmax (sqrt (weights[i]), tiny), z = fabs (error[i]) / (kappa * deviation);
    factor[i] = z > threshold ? (float) (delta * threshold / (z + tiny)) : 1;
  }
}

/* Counts the samples that @is_bad holds for, and where the first is. */
typedef struct {
  int64_t count, first;
} Bad;

static void
note_bad (Bad *bad, int64_t i)
{
  if (bad->count++ == 0)
    bad->first = i;
}

static gboolean
refuse (GError **error, const char *what, const char *fault, const char *advice, const Bad *bad,
        const LamSampleNames *names, int64_t rows, int64_t channels, float value)
{
  int64_t v = bad->first / (rows * channels), m = bad->first / channels % rows + names->first_row,
          n = bad->first % channels;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s: %" G_GINT64_FORMAT " %s %s, the first (%g) at view %" G_GINT64_FORMAT ", row %" G_GINT64_FORMAT
               ", channel %" G_GINT64_FORMAT "; %s",
               what, bad->count, bad->count == 1 ? "sample is" : "samples are", fault, value, v, m, n, advice);
  return FALSE;
}

gboolean
lam_check_sinogram (const float *sinogram, const float *weights, const LamSampleNames *names, int64_t views,
                    int64_t rows, int64_t channels, GError **error)
{
  static const LamSampleNames unnamed = {0};
  names = names ? names : &unnamed;
  const char *data_name = names->sinogram ? names->sinogram : "sinogram";
  const char *weights_name = names->weights ? names->weights : "weights";
  g_return_val_if_fail (sinogram != NULL && rows > 0 && channels > 0, FALSE);
  int64_t n = lam_mul_size (lam_mul_size (views, rows), channels), used = 0;
  Bad sample = {0}, negative = {0}, strange = {0};
  g_return_val_if_fail (n >= 0, FALSE);
  for (int64_t i = 0; i < n; i++) {
    float w = weights ? weights[i] : 1;
    if (!isfinite (w))
      note_bad (&strange, i);
    else if (w < 0)
      note_bad (&negative, i);
    used += w > 0;
    if (w != 0 && !isfinite (sinogram[i]))
      note_bad (&sample, i);
  }
  if (strange.count)
    return refuse (error, weights_name, "not finite", "weights must be finite numbers from 0 up", &strange, names, rows,
                   channels, weights[strange.first]);
  if (negative.count)
    return refuse (error, weights_name, "below 0", "weights must be finite numbers from 0 up", &negative, names, rows,
                   channels, weights[negative.first]);
  if (weights && used == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: all %" G_GINT64_FORMAT " are 0, so no sample counts; at least one must be above 0", weights_name,
                 n);
    return FALSE;
  }
  if (sample.count)
    return refuse (error, data_name, "not finite", "give them weight 0, or repair them", &sample, names, rows, channels,
                   sinogram[sample.first]);
  return TRUE;
}

void
lam_clear_masked (float *sinogram, const float *weights, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (weights[i] == 0)
      sinogram[i] = 0;
}
