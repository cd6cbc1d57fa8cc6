#include "config.h"

#include "line-layer.h"

#include <math.h>

struct _LamLineLayer {
  LamChartLayer parent_instance;
  LamSeries *series; /* NULL = a threshold */
  guint column;
  LamColour colour;
  gboolean points;
  double threshold;
  char *label;
};

G_DEFINE_FINAL_TYPE (LamLineLayer, lam_line_layer, LAM_TYPE_CHART_LAYER)

static void
lam_line_layer_range (LamChartLayer *layer, LamAxis *x, LamAxis *y)
{
  LamLineLayer *self = LAM_LINE_LAYER (layer);
  if (self->series == NULL) {
    if (y != NULL)
      lam_axis_include (y, self->threshold);
    return;
  }
  guint n = lam_series_get_n_rows (self->series);
  for (guint row = 0; y != NULL && row < n; row++)
    lam_axis_include (y, lam_series_get (self->series, self->column, row));
  if (x != NULL && n > 0) {
    lam_axis_include (x, lam_series_get_x (self->series, 0));
    lam_axis_include (x, lam_series_get_x (self->series, n - 1));
  }
}

static void
draw_threshold (LamLineLayer *self, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot, LamAxis *y)
{
  double at = lam_axis_normalise (y, self->threshold);
  if (!(at >= 0 && at <= 1))
    return;
  GdkRGBA colour = lam_palette (widget, self->colour);
  double line = floor (plot->origin.y + (1 - at) * plot->size.height);
  for (double x = 0; x < plot->size.width; x += 8)
    gtk_snapshot_append_color (snapshot, &colour,
                               &GRAPHENE_RECT_INIT (plot->origin.x + x, line, MIN (5, plot->size.width - x), 1));
  if (self->label == NULL)
    return;
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, self->label, 0.8);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  gtk_snapshot_save (snapshot);
  /* Above the line, or below where there is no room. */
  double top = line - h - 1 >= plot->origin.y ? line - h - 1 : line + 2;
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (plot->origin.x + plot->size.width - w - 2, top));
  gtk_snapshot_append_layout (snapshot, layout, &colour);
  gtk_snapshot_restore (snapshot);
}

static void
lam_line_layer_snapshot (LamChartLayer *layer, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot,
                         LamAxis *x_axis, LamAxis *y_axis)
{
  LamLineLayer *self = LAM_LINE_LAYER (layer);
  if (self->series == NULL) {
    draw_threshold (self, widget, snapshot, plot, y_axis);
    return;
  }
  guint n = lam_series_get_n_rows (self->series);
  if (n == 0)
    return;
  GdkRGBA colour = lam_palette (widget, self->colour);
  /* With room for points at the edge. */
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (plot->origin.x - 4, plot->origin.y - 4,
                                                                          plot->size.width + 8, plot->size.height + 8));
  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_set_line_width (cr, self->points ? 2 : 1.5);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  /* A value that is not known leaves a gap. */
  gboolean down = FALSE;
  for (int pass = 0; pass < (self->points && n <= 200 ? 2 : 1); pass++) {
    for (guint row = 0; row < n; row++) {
      double x = plot->origin.x + lam_axis_normalise (x_axis, lam_series_get_x (self->series, row)) * plot->size.width;
      double at = lam_axis_normalise (y_axis, lam_series_get (self->series, self->column, row));
      double y = plot->origin.y + (1 - at) * plot->size.height;
      if (!isfinite (x) || !isfinite (y)) {
        down = FALSE;
        continue;
      }
      if (pass == 1) {
        cairo_new_sub_path (cr);
        cairo_arc (cr, x, y, 3, 0, 2 * G_PI);
      } else if (down)
        cairo_line_to (cr, x, y);
      else
        cairo_move_to (cr, x, y);
      down = TRUE;
    }
    if (pass == 0)
      cairo_stroke (cr);
    else
      cairo_fill (cr);
  }
  cairo_destroy (cr);
}

static char *
lam_line_layer_readout (LamChartLayer *layer, double x, double *at_x, double *at_y)
{
  LamLineLayer *self = LAM_LINE_LAYER (layer);
  int row = self->series != NULL ? lam_series_nearest (self->series, x) : -1;
  if (row < 0)
    return NULL;
  *at_x = lam_series_get_x (self->series, row);
  *at_y = lam_series_get (self->series, self->column, row);
  if (!isfinite (*at_y))
    return NULL;
  const char *unit = lam_series_get_unit (self->series, self->column);
  return g_strdup_printf ("%s %.4g%s%s", lam_series_get_label (self->series, self->column), *at_y,
                          unit != NULL ? " " : "", unit != NULL ? unit : "");
}

static void
series_changed_cb (LamSeries *series, guint first, guint removed, guint added, LamChartLayer *layer)
{
  lam_chart_layer_changed (layer);
}

void
lam_line_layer_set_threshold (LamLineLayer *self, double value, const char *label)
{
  g_return_if_fail (LAM_IS_LINE_LAYER (self));
  self->threshold = value;
  g_free (self->label);
  self->label = g_strdup (label);
  lam_chart_layer_changed (LAM_CHART_LAYER (self));
}

static void
lam_line_layer_finalize (GObject *object)
{
  LamLineLayer *self = LAM_LINE_LAYER (object);
  g_clear_object (&self->series);
  g_free (self->label);
  G_OBJECT_CLASS (lam_line_layer_parent_class)->finalize (object);
}

static void
lam_line_layer_class_init (LamLineLayerClass *klass)
{
  LamChartLayerClass *layer_class = LAM_CHART_LAYER_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = lam_line_layer_finalize;
  layer_class->range = lam_line_layer_range;
  layer_class->snapshot = lam_line_layer_snapshot;
  layer_class->readout = lam_line_layer_readout;
}

static void
lam_line_layer_init (LamLineLayer *self)
{
  self->threshold = NAN;
}

LamChartLayer *
lam_line_layer_new (LamSeries *series, guint column, LamAxis *axis, LamColour colour, gboolean points)
{
  g_return_val_if_fail (LAM_IS_SERIES (series), NULL);
  LamLineLayer *self = g_object_new (LAM_TYPE_LINE_LAYER, NULL);
  self->series = g_object_ref (series);
  self->column = column;
  self->colour = colour;
  self->points = points;
  lam_chart_layer_set_axis (LAM_CHART_LAYER (self), axis);
  g_signal_connect_object (series, "changed", G_CALLBACK (series_changed_cb), self, 0);
  return LAM_CHART_LAYER (self);
}

LamChartLayer *
lam_line_layer_new_threshold (LamAxis *axis, LamColour colour)
{
  LamLineLayer *self = g_object_new (LAM_TYPE_LINE_LAYER, NULL);
  self->colour = colour;
  lam_chart_layer_set_axis (LAM_CHART_LAYER (self), axis);
  return LAM_CHART_LAYER (self);
}
