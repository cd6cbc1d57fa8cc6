/* chart-layer.h: one thing drawn in a chart. Layers say what range they need and draw normalised numbers; axes, grid
 * and hover belong to the chart. */
#pragma once

#include <gtk/gtk.h>

#include "axis.h"

G_BEGIN_DECLS

#define LAM_TYPE_CHART_LAYER (lam_chart_layer_get_type ())
G_DECLARE_DERIVABLE_TYPE (LamChartLayer, lam_chart_layer, LAM, CHART_LAYER, GObject)

struct _LamChartLayerClass {
  GObjectClass parent_class;
  /* Includes what it needs in the axes; either may be NULL for "not asked". */
  void (*range) (LamChartLayer *self, LamAxis *x, LamAxis *y);
  /* Draws into @plot, in @widget's coordinates and style. */
  void (*snapshot) (LamChartLayer *self, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot,
                    LamAxis *x, LamAxis *y);
  /* The data nearest to @x: "change 1.06 %" and where it is; NULL = nothing there. Optional. */
  char *(*readout) (LamChartLayer *self, double x, double *at_x, double *at_y);
};

/* Signal "changed": draw again. Property: axis (a LamAxis): its y scale. */
LamAxis *lam_chart_layer_get_axis (LamChartLayer *self);
void lam_chart_layer_set_axis (LamChartLayer *self, LamAxis *axis);
void lam_chart_layer_changed (LamChartLayer *self);

void lam_chart_layer_range (LamChartLayer *self, LamAxis *x, LamAxis *y);
void lam_chart_layer_snapshot (LamChartLayer *self, GtkWidget *widget, GtkSnapshot *snapshot,
                               const graphene_rect_t *plot, LamAxis *x, LamAxis *y);
char *lam_chart_layer_readout (LamChartLayer *self, double x, double *at_x, double *at_y);

G_END_DECLS
