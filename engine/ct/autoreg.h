/* autoreg.h: noise level and prior strength from the data (spec/ct.md section 8).
 *
 * About 20 views are looked at, evenly. Samples of weight 0 are left out of everything: what they hold never matters,
 * NaN included. Nothing data-sized is allocated. */
#pragma once

#include <glib.h>

#include "ct/geometry.h"

G_BEGIN_DECLS

typedef struct {
  double sigma_y, sigma_x, sigma_prox; /* rounded to float, as every engine uses them */

  /* On the way there. */
  int64_t views_sampled;
  double background_left, background_right; /* borders of the background's peak in the histogram */
  gboolean whole_support;                   /* no background was found: every sample counts as object */
  double support_threshold;                 /* samples from here on count as object */
  int64_t support_count;
  double support_rms, typical_value; /* weighted rms, mean magnitude */
  double path_length;                /* in lengths of the geometry */
  double edge_fraction;              /* of the (view, row) pairs, those with object in an end channel */
} LamRegularization;

/* Formula defaults of the spec. */
#define LAM_SNR_DB_DEFAULT 30.0
#define LAM_SHARPNESS_DEFAULT 1.0

/* @sinogram and @weights (or NULL: all 1): [view][row][channel] of @g, which has its volume. Samples of positive
 * weight must be finite (lam_check_sinogram ()); a sinogram that is zero or masked throughout is refused. */
gboolean lam_auto_regularization (const LamGeometry *g, const float *sinogram, const float *weights, double snr_db,
                                  double sharpness, LamRegularization *out, GError **error);

/* What is worth saying: no background found, object at the detector's edge. One line each, or NULL; g_free (). */
char *lam_regularization_warnings (const LamRegularization *r);

/* The support itself, for other tools that need it (zingers, automatic crop): the threshold for the given views. */
gboolean lam_support_threshold (const LamGeometry *g, const float *sinogram, const float *weights,
                                LamRegularization *out, GError **error);

G_END_DECLS
