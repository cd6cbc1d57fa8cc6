#include "ct/preprocess.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

static const char *const policy_names[LAM_DEFECT_COUNT] = {"interpolate", "mask"};

const char *
lam_defect_policy_name (LamDefectPolicy policy)
{
  return (unsigned) policy < LAM_DEFECT_COUNT ? policy_names[policy] : NULL;
}

gboolean
lam_defect_policy_from_name (const char *name, LamDefectPolicy *policy, GError **error)
{
  for (int i = 0; i < LAM_DEFECT_COUNT; i++)
    if (g_strcmp0 (name, policy_names[i]) == 0) {
      *policy = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "defect policy \"%s\": unknown; use interpolate or mask",
               name ? name : "");
  return FALSE;
}

void
lam_transmission_options_init (LamTransmissionOptions *options)
{
  *options = (LamTransmissionOptions){.policy = LAM_DEFECT_INTERPOLATE, .passes = 3};
}

void
lam_transmission_report_add (LamTransmissionReport *sum, const LamTransmissionReport *part)
{
  sum->samples += part->samples;
  sum->listed += part->listed;
  sum->non_finite += part->non_finite;
  sum->flat_dark += part->flat_dark;
  sum->below += part->below;
  sum->above += part->above;
  sum->filled += part->filled;
  sum->left += part->left;
  sum->masked += part->masked;
}

static void
append_count (GString *text, const char *separator, int64_t n, const char *what)
{
  g_string_append_printf (text, "%s%" G_GINT64_FORMAT " %s", text->len ? separator : "", n, what);
}

char *
lam_transmission_report_text (const LamTransmissionReport *r, const LamTransmissionOptions *options)
{
  GString *text = g_string_new (NULL);
  append_count (text, ", ", r->below, "at or below 0");
  append_count (text, ", ", r->above, options->clamp_above ? "above 1 (set to 1)" : "above 1");
  if (r->flat_dark)
    append_count (text, ", ", r->flat_dark, "with flat = dark");
  if (r->non_finite)
    append_count (text, ", ", r->non_finite, "not finite");
  if (r->listed)
    append_count (text, ", ", r->listed, "listed as defective");
  const char *separator = ": ";
  if (r->filled) {
    append_count (text, separator, r->filled, "filled from their neighbours");
    separator = ", ";
  }
  if (r->masked) {
    append_count (text, separator, r->masked, "given weight 0");
    separator = ", ";
  }
  if (r->left)
    append_count (text, separator, r->left, "set to 0, having no good neighbour");
  return g_string_free (text, FALSE);
}

gboolean
lam_mean_frames (const float *frames, int64_t n, int64_t rows, int64_t channels, float *mean, GError **error)
{
  int64_t size = lam_mul_size (rows, channels);
  if (n < 1 || size < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "mean of %" G_GINT64_FORMAT " frames: at least one is needed", n);
    return FALSE;
  }
  for (int64_t p = 0; p < size; p++) {
    double sum = 0;
    for (int64_t f = 0; f < n; f++)
      sum += frames[f * size + p];
    mean[p] = (float) (sum / (double) n);
  }
  return TRUE;
}

/* One pass: every NaN with a finite neighbour becomes the mean of those, all read from @before. */
static int64_t
fill_pass (float *view, const float *before, int64_t rows, int64_t channels)
{
  int64_t filled = 0;
  for (int64_t m = 0; m < rows; m++)
    for (int64_t n = 0; n < channels; n++) {
      if (isfinite (before[m * channels + n]))
        continue;
      double sum = 0;
      int found = 0;
      for (int64_t i = LAM_MAX (m - 1, 0); i <= LAM_MIN (m + 1, rows - 1); i++)
        for (int64_t j = LAM_MAX (n - 1, 0); j <= LAM_MIN (n + 1, channels - 1); j++)
          if (isfinite (before[i * channels + j])) {
            sum += before[i * channels + j];
            found++;
          }
      if (found) {
        view[m * channels + n] = (float) (sum / found);
        filled++;
      }
    }
  return filled;
}

/* Passes until nothing changes; what stays NaN is counted in @left. Returns how many were filled. */
static int64_t
fill_passes (float *view, int64_t rows, int64_t channels, int passes, float *scratch, int64_t *left)
{
  int64_t size = rows * channels, bad = 0, filled = 0;
  for (int64_t p = 0; p < size; p++)
    bad += !isfinite (view[p]);
  for (int pass = 0; pass < passes && filled < bad; pass++) {
    memcpy (scratch, view, sizeof (float) * (size_t) size);
    int64_t now = fill_pass (view, scratch, rows, channels);
    if (now == 0)
      break;
    filled += now;
  }
  *left = bad - filled;
  return filled;
}

/* Everything that is not finite becomes 0, with weight 0. */
static void
clear_defects (float *view, int64_t size, float *weights)
{
  for (int64_t p = 0; p < size; p++)
    if (!isfinite (view[p])) {
      view[p] = 0;
      if (weights)
        weights[p] = 0;
    }
}

int64_t
lam_fill_defects (float *view, int64_t rows, int64_t channels, int passes, float *scratch, int64_t *left)
{
  int64_t filled = fill_passes (view, rows, channels, passes, scratch, left);
  if (*left > 0)
    clear_defects (view, rows * channels, NULL);
  return filled;
}

/* -log of one sample, or NaN for a defect; counts what it was. */
static inline float
minus_log (double counts, double flat, double dark, const LamTransmissionOptions *o, LamTransmissionReport *r)
{
  double numerator = counts - dark, denominator = flat - dark;
  if (!isfinite (numerator) || !isfinite (denominator)) {
    r->non_finite++;
    return NAN;
  }
  if (denominator == 0) {
    r->flat_dark++;
    return NAN;
  }
  double t = numerator / denominator;
  if (o->magnitude)
    t = fabs (t);
  if (!(t > 0)) {
    r->below++;
    return NAN;
  }
  r->above += t > 1;
  return t > 1 && o->clamp_above ? 0 : (float) -log (t);
}

static void
view_defects (float *view, int64_t rows, int64_t channels, const LamTransmissionOptions *o, float *scratch,
              float *weights, LamTransmissionReport *r)
{
  if (o->policy == LAM_DEFECT_MASK)
    r->masked += r->listed + r->non_finite + r->flat_dark + r->below;
  else {
    int64_t left;
    r->filled += fill_passes (view, rows, channels, o->passes, scratch, &left);
    r->left += left;
  }
  clear_defects (view, rows * channels, weights);
}

gboolean
lam_transmission (float *data, int64_t views, int64_t rows, int64_t channels, const float *flat, const float *dark,
                  const LamTransmissionOptions *options, float *weights, LamTransmissionReport *report,
                  LamControl *control, GError **error)
{
  g_return_val_if_fail (data != NULL && options != NULL && report != NULL, FALSE);
  int64_t size = lam_mul_size (rows, channels);
  if (!flat) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "counts without flat fields: give flats, or open the data as a -log sinogram");
    return FALSE;
  }
  if (options->policy == LAM_DEFECT_MASK && !weights) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "defect policy \"mask\" needs weights to put its zeros in");
    return FALSE;
  }
  for (int64_t d = 0; d < options->n_defects; d++)
    if (options->defects[2 * d] < 0 || options->defects[2 * d] >= rows || options->defects[2 * d + 1] < 0
        || options->defects[2 * d + 1] >= channels) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "defect %" G_GINT64_FORMAT " (row %d, channel %d): outside a detector of %" G_GINT64_FORMAT
                   " rows and %" G_GINT64_FORMAT " channels",
                   d, options->defects[2 * d], options->defects[2 * d + 1], rows, channels);
      return FALSE;
    }
  float *scratch = lam_alloc_n (size, sizeof (float), "transmission: one view", error);
  if (!scratch)
    return FALSE;
  gboolean ok = TRUE;
  for (int64_t v = 0; ok && v < views; v++) {
    float *view = data + v * size;
    LamTransmissionReport r = {.samples = size};
    if (lam_control_cancelled (control)) {
      ok = lam_error_from_status (LAM_STATUS_CANCELLED, "transmission", error);
      break;
    }
    memset (scratch, 0, sizeof (float) * (size_t) size);
    for (int64_t d = 0; d < options->n_defects; d++)
      scratch[options->defects[2 * d] * channels + options->defects[2 * d + 1]] = 1;
    for (int64_t p = 0; p < size; p++) {
      if (scratch[p] != 0) {
        r.listed++;
        view[p] = NAN;
      } else
        view[p] = minus_log (view[p], flat[p], dark ? dark[p] : 0, options, &r);
    }
    if (r.listed + r.non_finite + r.flat_dark + r.below > 0)
      view_defects (view, rows, channels, options, scratch, weights ? weights + v * size : NULL, &r);
    lam_transmission_report_add (report, &r);
  }
  lam_free (scratch);
  return ok;
}
