/* line-layer.h: a column of a series as a line, with or without points; or a dashed line at one value. */
#pragma once

#include "chart-layer.h"
#include "model/series.h"
#include "palette.h"

G_BEGIN_DECLS

#define LAM_TYPE_LINE_LAYER (lam_line_layer_get_type ())
G_DECLARE_FINAL_TYPE (LamLineLayer, lam_line_layer, LAM, LINE_LAYER, LamChartLayer)

LamChartLayer *lam_line_layer_new (LamSeries *series, guint column, LamAxis *axis, LamColour colour, gboolean points);
LamChartLayer *lam_line_layer_new_threshold (LamAxis *axis, LamColour colour);

/* The threshold's value and words ("stop below 0.2 %"); NaN = not shown. */
void lam_line_layer_set_threshold (LamLineLayer *self, double value, const char *label);

G_END_DECLS
