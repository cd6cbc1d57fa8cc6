#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/autoreg.h"
#include "ct/preprocess.h"

#define AIR_LIMIT 0.02
#define AIR_VIEWS 64
#define AIR_ROWS 64

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static double
median (double *x, int64_t n)
{
  qsort (x, (size_t) n, sizeof *x, compare_doubles);
  return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* Median of a block of one view; @scratch holds all its samples. */
static double
block_median (const float *view, int64_t channels, LamRange rows, int64_t row_step, LamRange columns, double *scratch)
{
  int64_t n = 0;
  for (int64_t m = rows.begin; m < rows.end; m += row_step)
    for (int64_t c = columns.begin; c < columns.end; c++)
      if (isfinite (view[m * channels + c]))
        scratch[n++] = view[m * channels + c];
  return n ? median (scratch, n) : 0;
}

gboolean
lam_air_level (const float *data, int64_t views, int64_t rows, int64_t channels, double *air, GError **error)
{
  g_return_val_if_fail (data != NULL && air != NULL && views > 0 && rows > 0 && channels > 0, FALSE);
  int64_t strip = LAM_CLAMP (channels / 50, 1, 9), view_step = (views + AIR_VIEWS - 1) / AIR_VIEWS;
  int64_t row_step = (rows + AIR_ROWS - 1) / AIR_ROWS, n = 0;
  double *scratch = lam_alloc_n (AIR_ROWS * strip + AIR_VIEWS, sizeof *scratch, "level of air", error);
  if (!scratch)
    return FALSE;
  double *levels = scratch + AIR_ROWS * strip;
  for (int64_t v = 0; v < views; v += view_step) {
    const float *view = data + v * rows * channels;
    double left = block_median (view, channels, (LamRange){0, rows}, row_step, (LamRange){0, strip}, scratch);
    double right =
        block_median (view, channels, (LamRange){0, rows}, row_step, (LamRange){channels - strip, channels}, scratch);
    levels[n++] = fmin (left, right);
  }
  *air = median (levels, n);
  lam_free (scratch);
  return TRUE;
}

char *
lam_air_warning (double air)
{
  if (fabs (air) <= AIR_LIMIT)
    return NULL;
  return g_strdup_printf ("air reads %.3f where 0 is expected: the flats do not fit the views, or the object reaches "
                          "beyond the detector; taking the background off may help",
                          air);
}

double
lam_view_background (const float *view, int64_t rows, int64_t channels, int64_t edge_width, double *scratch)
{
  int64_t wide = LAM_CLAMP (edge_width, 1, channels), high = LAM_CLAMP (edge_width, 1, rows);
  double three[3] = {
      block_median (view, channels, (LamRange){0, rows}, 1, (LamRange){0, wide}, scratch),
      block_median (view, channels, (LamRange){0, rows}, 1, (LamRange){channels - wide, channels}, scratch),
      block_median (view, channels, (LamRange){0, high}, 1, (LamRange){0, channels}, scratch),
  };
  return median (three, 3);
}

double
lam_background_level (double *offsets, int64_t views)
{
  double at = 0.1 * (double) (views - 1);
  int64_t i = (int64_t) at;
  qsort (offsets, (size_t) views, sizeof *offsets, compare_doubles);
  return offsets[i] + (at - (double) i) * (offsets[LAM_MIN (i + 1, views - 1)] - offsets[i]);
}

gboolean
lam_remove_background (float *data, int64_t views, int64_t rows, int64_t channels, int64_t edge_width,
                       LamBackgroundMode mode, double *removed, GError **error)
{
  g_return_val_if_fail (data != NULL && views > 0 && rows > 0 && channels > 0, FALSE);
  int64_t size = rows * channels;
  double *offsets = lam_alloc_n (views, sizeof *offsets, "background", error);
  double *scratch = offsets ? lam_alloc_n (size, sizeof *scratch, "background: one view", error) : NULL;
  if (!scratch) {
    lam_free (offsets);
    return FALSE;
  }
  double most = 0;
  for (int64_t v = 0; v < views; v++)
    offsets[v] = lam_view_background (data + v * size, rows, channels, edge_width, scratch);
  if (mode == LAM_BACKGROUND_GLOBAL) {
    double level = lam_background_level (offsets, views);
    for (int64_t v = 0; v < views; v++)
      offsets[v] = level;
  }
  for (int64_t v = 0; v < views; v++) {
    for (int64_t p = 0; p < size; p++)
      data[v * size + p] = (float) (data[v * size + p] - offsets[v]);
    if (fabs (offsets[v]) > fabs (most))
      most = offsets[v];
  }
  if (removed)
    *removed = most;
  lam_free (offsets);
  lam_free (scratch);
  return TRUE;
}

gboolean
lam_equalize_means (float *data, int64_t views, int64_t rows, int64_t channels, GError **error)
{
  g_return_val_if_fail (data != NULL, FALSE);
  double *means = lam_alloc_n (lam_mul_size (views, rows), sizeof *means, "means of the lines", error);
  if (!means)
    return FALSE;
  for (int64_t l = 0; l < views * rows; l++) {
    double sum = 0;
    for (int64_t n = 0; n < channels; n++)
      sum += data[l * channels + n];
    means[l] = sum / (double) channels;
  }
  for (int64_t m = 0; m < rows; m++) {
    double least = INFINITY;
    for (int64_t v = 0; v < views; v++)
      least = fmin (least, means[v * rows + m]);
    for (int64_t v = 0; v < views; v++)
      for (int64_t n = 0; n < channels; n++) {
        float *x = &data[(v * rows + m) * channels + n];
        *x = (float) (*x - means[v * rows + m] + least);
      }
  }
  lam_free (means);
  return TRUE;
}

void
lam_apply_polynomial (float *samples, int64_t n, const double *coefficients, int count)
{
  for (int64_t i = 0; i < n; i++) {
    double y = samples[i], sum = 0;
    for (int k = count - 1; k >= 0; k--)
      sum = (sum + coefficients[k]) * y;
    samples[i] = (float) sum;
  }
}

gboolean
lam_zinger_limit (const float *data, const LamGeometry *g, double ratio, double *limit, GError **error)
{
  int64_t size = g->rows * g->channels, n = 0;
  LamRegularization support;
  if (!(ratio > 0 && ratio <= 1000)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "zingers: ratio %g: expected above 0, up to 1000", ratio);
    return FALSE;
  }
  if (!lam_support_threshold (g, data, NULL, &support, error))
    return FALSE;
  double squares = 0;
  int64_t step = g->views / LAM_MIN (20, g->views);
  for (int64_t v = 0; v < g->views; v += step)
    for (int64_t i = v * size; i < (v + 1) * size; i++)
      if (data[i] >= support.support_threshold) {
        squares += (double) data[i] * data[i];
        n++;
      }
  *limit = n ? -ratio * sqrt (squares / (double) n) : 0;
  return TRUE;
}

int64_t
lam_fill_zingers (float *view, int64_t rows, int64_t channels, double limit, int passes, float *scratch)
{
  int64_t found = 0, left;
  for (int64_t i = 0; i < rows * channels; i++)
    if (!(view[i] >= limit) || !isfinite (view[i])) {
      view[i] = NAN;
      found++;
    }
  if (found)
    lam_fill_defects (view, rows, channels, passes, scratch, &left);
  return found;
}

gboolean
lam_remove_zingers (float *data, const LamGeometry *g, double ratio, int passes, int64_t *count, GError **error)
{
  g_return_val_if_fail (data != NULL && g != NULL, FALSE);
  int64_t size = g->rows * g->channels, found = 0;
  double limit;
  if (!lam_zinger_limit (data, g, ratio, &limit, error))
    return FALSE;
  float *scratch = lam_alloc_n (size, sizeof *scratch, "zingers: one view", error);
  if (!scratch)
    return FALSE;
  for (int64_t v = 0; v < g->views; v++)
    found += lam_fill_zingers (data + v * size, g->rows, g->channels, limit, passes, scratch);
  lam_free (scratch);
  if (count)
    *count = found;
  return TRUE;
}
