#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/preprocess.h"

/* FALSE for a place outside; one within @margin of an edge moves onto it. */
static inline gboolean
place_inside (double *x, int64_t n, double margin)
{
  double last = (double) (n - 1);
  if (!(*x >= -margin && *x <= last + margin))
    return FALSE;
  *x = fmin (fmax (*x, 0), last);
  return TRUE;
}

int64_t
lam_rotate_rows (const float *in, LamRange in_rows, int64_t rows, int64_t channels, double angle, double margin,
                 LamRange out_rows, float *out)
{
  double c = cos (angle), s = sin (angle), cm = 0.5 * (double) (rows - 1), cn = 0.5 * (double) (channels - 1);
  int64_t outside = 0;
  in -= in_rows.begin * channels;
  for (int64_t m = out_rows.begin; m < out_rows.end; m++)
    for (int64_t n = 0; n < channels; n++, out++) {
      double row = c * ((double) m - cm) + s * ((double) n - cn) + cm;
      double channel = -s * ((double) m - cm) + c * ((double) n - cn) + cn;
      if (!place_inside (&row, rows, margin) || !place_inside (&channel, channels, margin)) {
        *out = 0;
        outside++;
        continue;
      }
      int64_t i = (int64_t) row, j = (int64_t) channel;
      int64_t i1 = LAM_MIN (i + 1, rows - 1), j1 = LAM_MIN (j + 1, channels - 1);
      double a = row - (double) i, b = channel - (double) j;
      *out = (float) ((1 - a) * ((1 - b) * in[i * channels + j] + b * in[i * channels + j1])
                      + a * ((1 - b) * in[i1 * channels + j] + b * in[i1 * channels + j1]));
    }
  return outside;
}

LamRange
lam_rotate_needs (int64_t rows, int64_t channels, double angle, LamRange out_rows)
{
  double c = cos (angle), cm = 0.5 * (double) (rows - 1), reach = fabs (sin (angle)) * 0.5 * (double) (channels - 1);
  double first = c * ((double) out_rows.begin - cm) + cm - reach,
         last = c * ((double) (out_rows.end - 1) - cm) + cm + reach;
  LamRange range = {LAM_MAX ((int64_t) floor (first), 0), LAM_MIN ((int64_t) floor (last) + 2, rows)};
  /* At least the edge, for places outside that move onto it. */
  return (LamRange){LAM_MIN (range.begin, rows - 1), LAM_MAX (range.end, 1)};
}

gboolean
lam_rotate_detector (float *data, int64_t views, int64_t rows, int64_t channels, double angle, LamControl *control,
                     GError **error)
{
  g_return_val_if_fail (data != NULL, FALSE);
  if (!isfinite (angle)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "detector tilt = %g: must be a finite angle", angle);
    return FALSE;
  }
  if (angle == 0)
    return TRUE;
  int64_t size = rows * channels;
  float *view = lam_alloc_n (size, sizeof (float), "detector tilt: one view", error);
  if (!view)
    return FALSE;
  gboolean ok = TRUE;
  for (int64_t v = 0; ok && v < views; v++) {
    if (lam_control_cancelled (control)) {
      ok = lam_error_from_status (LAM_STATUS_CANCELLED, "detector tilt", error);
      break;
    }
    memcpy (view, data + v * size, sizeof (float) * (size_t) size);
    lam_rotate_rows (view, (LamRange){0, rows}, rows, channels, angle, 0, (LamRange){0, rows}, data + v * size);
  }
  lam_free (view);
  return ok;
}

static gboolean
check_factors (int64_t rows, int64_t channels, int64_t row_factor, int64_t channel_factor, GError **error)
{
  if (row_factor >= 1 && row_factor <= rows && channel_factor >= 1 && channel_factor <= channels)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "binning by %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT
               " channels: must be between 1 and the %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT
               " channels there are",
               row_factor, channel_factor, rows, channels);
  return FALSE;
}

gboolean
lam_bin (const float *in, int64_t views, int64_t rows, int64_t channels, int64_t row_factor, int64_t channel_factor,
         float *out, GError **error)
{
  g_return_val_if_fail (in != NULL && out != NULL, FALSE);
  if (!check_factors (rows, channels, row_factor, channel_factor, error))
    return FALSE;
  int64_t out_rows = rows / row_factor, out_channels = channels / channel_factor;
  for (int64_t v = 0; v < views; v++)
    for (int64_t m = 0; m < out_rows; m++)
      for (int64_t n = 0; n < out_channels; n++) {
        double sum = 0;
        int64_t found = 0;
        for (int64_t i = m * row_factor; i < (m + 1) * row_factor; i++)
          for (int64_t j = n * channel_factor; j < (n + 1) * channel_factor; j++) {
            float x = in[(v * rows + i) * channels + j];
            if (isfinite (x)) {
              sum += x;
              found++;
            }
          }
        out[(v * out_rows + m) * out_channels + n] = found ? (float) (sum / (double) found) : NAN;
      }
  return TRUE;
}

/* The axis, @offset from the middle of @n samples of @pitch, seen from the middle of @range. */
static double
offset_in_range (double offset, double pitch, int64_t n, LamRange range)
{
  double middle = 0.5 * (double) (range.begin + range.end - 1);
  return offset + (0.5 * (double) (n - 1) - middle) * pitch;
}

gboolean
lam_geometry_crop (LamGeometry *g, LamRange rows, LamRange channels, GError **error)
{
  g_return_val_if_fail (g != NULL, FALSE);
  if (rows.begin < 0 || rows.end > g->rows || rows.begin >= rows.end || channels.begin < 0 || channels.end > g->channels
      || channels.begin >= channels.end) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "crop to rows %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " and channels %" G_GINT64_FORMAT
                 ":%" G_GINT64_FORMAT ": the detector has rows 0:%" G_GINT64_FORMAT " and channels 0:%" G_GINT64_FORMAT,
                 rows.begin, rows.end, channels.begin, channels.end, g->rows, g->channels);
    return FALSE;
  }
  g->row_offset = offset_in_range (g->row_offset, g->row_pitch, g->rows, rows);
  g->channel_offset = offset_in_range (g->channel_offset, g->channel_pitch, g->channels, channels);
  g->rows = lam_range_size (rows);
  g->channels = lam_range_size (channels);
  return TRUE;
}

gboolean
lam_geometry_bin (LamGeometry *g, int64_t row_factor, int64_t channel_factor, GError **error)
{
  g_return_val_if_fail (g != NULL, FALSE);
  if (!check_factors (g->rows, g->channels, row_factor, channel_factor, error))
    return FALSE;
  int64_t rows = g->rows / row_factor, channels = g->channels / channel_factor;
  if (!lam_geometry_crop (g, (LamRange){0, rows * row_factor}, (LamRange){0, channels * channel_factor}, error))
    return FALSE;
  g->rows = rows;
  g->channels = channels;
  g->row_pitch *= (double) row_factor;
  g->channel_pitch *= (double) channel_factor;
  return TRUE;
}
