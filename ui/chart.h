/* chart.h: layers over axes, with grid, ticks and a readout under the pointer or the keyboard's cursor. */
#pragma once

#include "chart-layer.h"

G_BEGIN_DECLS

#define LAM_TYPE_CHART (lam_chart_get_type ())
G_DECLARE_FINAL_TYPE (LamChart, lam_chart, LAM, CHART, GtkWidget)

/* @left has ticks and grid lines; @right may be NULL and has ticks only. */
GtkWidget *lam_chart_new (LamAxis *x, LamAxis *left, LamAxis *right);
/* Takes @layer. Its axis is one of the chart's. */
void lam_chart_add_layer (LamChart *self, LamChartLayer *layer);
/* The x range is at least this wide: a run of 15 iterations does not start as one point in the middle. NaN = free. */
void lam_chart_set_x_span (LamChart *self, double min, double max);
/* The span is all that is seen, whatever the layers have; margins at least so wide, so that charts over one time stand in
 * line. */
void lam_chart_fix_x (LamChart *self, double left_px, double right_px);
void lam_chart_set_label (LamChart *self, const char *label); /* accessible name */
/* What the readout says at @x; NULL = nothing. */
char *lam_chart_describe (LamChart *self, double x);

G_END_DECLS
