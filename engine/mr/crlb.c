#include "mr/crlb.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

static char *
name_of (const char *const *names, int i)
{
  return names ? g_strdup (names[i]) : g_strdup_printf ("parameter %d", i);
}

static gboolean
invert (int n, int64_t samples, const double *re, const double *im, double variance, const char *const *names,
        double *covariance, GError **error)
{
  g_autofree double *scale = g_new (double, MAX (n, 1));
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double f = 0;
      for (int64_t s = 0; s < samples; s++) {
        f += re[i * samples + s] * re[j * samples + s];
        if (im)
          f += im[i * samples + s] * im[j * samples + s];
      }
      covariance[i * n + j] = covariance[j * n + i] = f;
    }
  for (int i = 0; i < n; i++) {
    scale[i] = covariance[i * n + i] > 0 ? 1 / sqrt (covariance[i * n + i]) : 0;
    if (scale[i] == 0 || !isfinite (scale[i])) {
      g_autofree char *name = name_of (names, i);
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s changes no sample, so no sample tells anything of it",
                   name);
      return FALSE;
    }
  }
  /* With ones on the diagonal the factor's pivots say how much of a parameter the ones before it do not explain. */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      covariance[i * n + j] *= scale[i] * scale[j];
  lapack_int info = n > 0 ? LAPACKE_dpotrf (LAPACK_ROW_MAJOR, 'L', n, covariance, n) : 0;
  for (int i = 0; info == 0 && i < n; i++)
    if (covariance[i * n + i] < 1e-6)
      info = i + 1;
  if (info != 0 || (n > 0 && LAPACKE_dpotri (LAPACK_ROW_MAJOR, 'L', n, covariance, n) != 0)) {
    g_autofree char *name = name_of (names, CLAMP ((int) info - 1, 0, n - 1));
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s cannot be told apart from those before it: the bound is infinite (%d quantities, "
                 "%" G_GINT64_FORMAT " samples)",
                 name, n, samples);
    return FALSE;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      covariance[i * n + j] = covariance[j * n + i] = covariance[i * n + j] * scale[i] * scale[j] * variance;
  return TRUE;
}

gboolean
lam_crlb_covariance (int n, int64_t samples, const double *re, const double *im, double variance,
                     const char *const *names, double *covariance, GError **error)
{
  return invert (n, samples, re, im, variance, names, covariance, error);
}

gboolean
lam_crlb_double (int n, int64_t samples, const double *re, const double *im, double variance, double *bound,
                 GError **error)
{
  g_autofree double *covariance = g_new (double, MAX (n * n, 1));
  if (!lam_crlb_covariance (n, samples, re, im, variance, NULL, covariance, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    bound[i] = covariance[i * n + i];
  return TRUE;
}

gboolean
lam_crlb (int n, int64_t samples, const float *re, const float *im, double variance, const char *const *names,
          double *bound, GError **error)
{
  g_autofree double *covariance = g_new (double, MAX (n * n, 1));
  g_autofree double *r = g_new (double, MAX (n * samples, 1)), *m = im ? g_new (double, MAX (n * samples, 1)) : NULL;
  for (int64_t i = 0; i < n * samples; i++) {
    r[i] = re ? re[i] : 0;
    if (m)
      m[i] = im[i];
  }
  if (!invert (n, samples, r, m, variance, names, covariance, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    bound[i] = covariance[i * n + i];
  return TRUE;
}
