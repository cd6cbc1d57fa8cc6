/* curves-layer.h: many curves over one x, replaced together: what follows the hand. */
#pragma once

#include "chart-layer.h"

G_BEGIN_DECLS

typedef enum {
  LAM_CURVE_SOLID,
  LAM_CURVE_DASHED,
  LAM_CURVE_DASH_DOT,
  LAM_CURVE_DOTTED, /* faint: what was before */
} LamCurveStyle;

#define LAM_TYPE_CURVES_LAYER (lam_curves_layer_get_type ())
G_DECLARE_FINAL_TYPE (LamCurvesLayer, lam_curves_layer, LAM, CURVES_LAYER, LamChartLayer)

LamChartLayer *lam_curves_layer_new (LamAxis *axis);
/* Begins anew with @n values of x (copied). */
void lam_curves_layer_begin (LamCurvesLayer *self, const double *x, int n);
/* @y of as many values (copied), in the colour of series @colour; @label is said in the readout, NULL: not. */
void lam_curves_layer_add (LamCurvesLayer *self, const double *y, int colour, LamCurveStyle style, const char *label);
/* A band of +-@half about the curve added last. */
void lam_curves_layer_band (LamCurvesLayer *self, double half);
/* Shows it. */
void lam_curves_layer_end (LamCurvesLayer *self);
/* A vertical line there; NAN: none. */
void lam_curves_layer_set_mark (LamCurvesLayer *self, double x);

G_END_DECLS
