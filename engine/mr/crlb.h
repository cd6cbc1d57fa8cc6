/* crlb.h: Cramér–Rao bounds: the least variance that any unbiased estimate can have. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* @re, @im: [parameters][samples], derivatives of one voxel's samples; @im may be NULL. F = Re (J J^H) / @variance, with
 * @variance the noise variance of each real channel; @bound [parameters] gets diag (F^-1). FALSE with a LAM_ERROR_INVALID
 * where F is singular: some combination of the parameters changes no sample, and the error says which the others
 * explain, by @names (NULL: its number). */
gboolean lam_crlb (int parameters, int64_t samples, const float *re, const float *im, double variance,
                   const char *const *names, double *bound, GError **error);
gboolean lam_crlb_double (int parameters, int64_t samples, const double *re, const double *im, double variance,
                          double *bound, GError **error);
/* F^-1 itself, [parameters][parameters]; @names as of lam_crlb (). */
gboolean lam_crlb_covariance (int parameters, int64_t samples, const double *re, const double *im, double variance,
                              const char *const *names, double *covariance, GError **error);

G_END_DECLS
