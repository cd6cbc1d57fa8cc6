/* subspace.h: the few shapes in time that the signals of a dictionary are made of.
 *
 * Signals are rows. The basis U [rank][length] spans them: s = c U, with U U^H = 1; c = s U^H, with the conjugate, which
 * matters as soon as signals are complex (spec section 14, row 2). */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "core/device.h"

G_BEGIN_DECLS

typedef struct {
  int rank;
  int64_t length;
  float *re, *im;   /* U; im NULL where the signals have one plane */
  double *singular; /* all of them, largest first: [values] */
  int values;
  double retained; /* energy kept: sum of the kept squares over the sum of all */
} LamSubspace;

/* Of @rows signals [rows][length]; @im may be NULL. @rank 0: as many as keep @energy (0 … 1) of it. The squares are summed
 * in double and in one order; singular values below about 1e-7 of the largest are noise, as are the floats they come from.
 * LAM_ERROR_INVALID: a rank above what there is, or nothing but zeros. */
LamSubspace *lam_subspace_new (const float *re, const float *im, int64_t rows, int64_t length, int rank, double energy,
                               LamDevices *devices, LamControl *control, GError **error);
void lam_subspace_free (LamSubspace *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSubspace, lam_subspace_free)

/* sum a b in double, over four lanes that are added at the end: an order that @n alone decides. */
static inline double
lam_dot (const float *a, const float *b, int64_t n)
{
  double sum[4] = {0};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int l = 0; l < 4; l++)
      sum[l] += (double) a[k + l] * b[k + l];
  for (; k < n; k++)
    sum[0] += (double) a[k] * b[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* One signal: c = s U^H over the first @rank modes. @im may be NULL, @c_im then too where the basis is real. */
void lam_subspace_project (const LamSubspace *s, int rank, const float *re, const float *im, double *c_re,
                           double *c_im);
/* ... and back: s = c U. @c_im, @im may be NULL where all is real. */
void lam_subspace_expand (const LamSubspace *s, int rank, const double *c_re, const double *c_im, float *re, float *im);
/* Energy that the first @rank modes keep. */
double lam_subspace_energy (const LamSubspace *s, int rank);

G_END_DECLS
