/* sensitivity-curves.h: sensitivities of a result, few enough points to be drawn at once: of many samples the extremes of each of
 * many short times. Made on any thread, immutable. */
#pragma once

#include <math.h>

#include "model/sequence-result.h"
#include "mr/signal-window.h"

G_BEGIN_DECLS

/* How much of the part changes for one unit, from a sample and its derivative; of a phase there is little to say: the
 * magnitude's then. */
static inline double
lam_sensitivity_of (LamSignalPart part, double re, double im, double dr, double di)
{
  double m = hypot (re, im);
  return part == LAM_PART_REAL ? dr : part == LAM_PART_IMAGINARY ? di : m > 1e-9 ? (re * dr + im * di) / m : 0;
}

typedef struct {
  int points, tissues, kinds;
  gboolean thinned; /* extremes of several samples each */
  int kind[LAM_BY_KINDS];
  double *x; /* [points] s */
  double *y; /* [3: magnitude, real, imaginary][tissues][kinds][points], for 100 % more */
} LamSensitivityCurves;

/* @r must have times. At most @most points, an even number. */
LamSensitivityCurves *lam_sensitivity_curves_new (const LamSequenceResult *r, int most);
void lam_sensitivity_curves_free (LamSensitivityCurves *c);
/* [points]. */
const double *lam_sensitivity_curves_get (const LamSensitivityCurves *c, LamSignalPart part, int tissue, int row);

G_END_DECLS
