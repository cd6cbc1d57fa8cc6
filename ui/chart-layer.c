#include "config.h"

#include "chart-layer.h"

typedef struct {
  LamAxis *axis;
} LamChartLayerPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (LamChartLayer, lam_chart_layer, G_TYPE_OBJECT)

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

LamAxis *
lam_chart_layer_get_axis (LamChartLayer *self)
{
  g_return_val_if_fail (LAM_IS_CHART_LAYER (self), NULL);
  return ((LamChartLayerPrivate *) lam_chart_layer_get_instance_private (self))->axis;
}

void
lam_chart_layer_set_axis (LamChartLayer *self, LamAxis *axis)
{
  g_return_if_fail (LAM_IS_CHART_LAYER (self));
  LamChartLayerPrivate *private = lam_chart_layer_get_instance_private (self);
  if (g_set_object (&private->axis, axis))
    lam_chart_layer_changed (self);
}

void
lam_chart_layer_changed (LamChartLayer *self)
{
  g_return_if_fail (LAM_IS_CHART_LAYER (self));
  g_signal_emit (self, signals[CHANGED], 0);
}

void
lam_chart_layer_range (LamChartLayer *self, LamAxis *x, LamAxis *y)
{
  g_return_if_fail (LAM_IS_CHART_LAYER (self));
  LAM_CHART_LAYER_GET_CLASS (self)->range (self, x, y);
}

void
lam_chart_layer_snapshot (LamChartLayer *self, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot,
                          LamAxis *x, LamAxis *y)
{
  g_return_if_fail (LAM_IS_CHART_LAYER (self));
  LAM_CHART_LAYER_GET_CLASS (self)->snapshot (self, widget, snapshot, plot, x, y);
}

char *
lam_chart_layer_readout (LamChartLayer *self, double x, double *at_x, double *at_y)
{
  g_return_val_if_fail (LAM_IS_CHART_LAYER (self), NULL);
  LamChartLayerClass *klass = LAM_CHART_LAYER_GET_CLASS (self);
  return klass->readout != NULL ? klass->readout (self, x, at_x, at_y) : NULL;
}

static void
lam_chart_layer_dispose (GObject *object)
{
  LamChartLayerPrivate *private = lam_chart_layer_get_instance_private (LAM_CHART_LAYER (object));
  g_clear_object (&private->axis);
  G_OBJECT_CLASS (lam_chart_layer_parent_class)->dispose (object);
}

static void
lam_chart_layer_class_init (LamChartLayerClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_chart_layer_dispose;
  signals[CHANGED] =
      g_signal_new ("changed", LAM_TYPE_CHART_LAYER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_chart_layer_init (LamChartLayer *self)
{
}
