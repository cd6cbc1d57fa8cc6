/* weights.h: how much a sample counts, and whether sinogram and weights are usable at all. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef enum {
  LAM_WEIGHTS_UNWEIGHTED,        /* 1 */
  LAM_WEIGHTS_TRANSMISSION,      /* exp (-y) */
  LAM_WEIGHTS_TRANSMISSION_ROOT, /* exp (-y / 2) */
  LAM_WEIGHTS_EMISSION,          /* 1 / (|y| + 0.1) */
  LAM_WEIGHTS_COUNT
} LamWeightKind;

/* "unweighted", "transmission", "transmission_root", "emission". */
const char *lam_weights_name (LamWeightKind kind);
gboolean lam_weights_from_name (const char *name, LamWeightKind *kind, GError **error);

/* @weights from @sinogram, @n samples; 0 where the sample is not finite. */
void lam_make_weights (LamWeightKind kind, const float *sinogram, int64_t n, float *weights);
/* Generalised Huber (Venkatakrishnan et al., IEEE TCI 1(1), 2015): a factor for the weights, 1 where the residual
 * @error is at most @threshold times the expected one, else delta * threshold / that ratio. @factor may be @weights. */
void lam_huber_factor (const float *error, const float *weights, int64_t n, double threshold, double delta,
                       float *factor);

/* Refuses what no solver may see, with the place and the count: a sample that is not finite and whose weight is not
 * 0; a weight that is negative or not finite; weights that are all 0. @weights may be NULL: all 1. Arrays are
 * [view][row][channel]. */
typedef struct {
  const char *sinogram, *weights; /* what they are called; NULL: so */
  int64_t first_row;              /* of the detector, where the arrays begin */
} LamSampleNames;
/* @names may be NULL. */
gboolean lam_check_sinogram (const float *sinogram, const float *weights, const LamSampleNames *names, int64_t views,
                             int64_t rows, int64_t channels, GError **error);
/* Writes 0 where the weight is 0, so that 0 times NaN never arises. */
void lam_clear_masked (float *sinogram, const float *weights, int64_t n);

G_END_DECLS
