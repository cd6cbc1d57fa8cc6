#include "config.h"

#include "curves-layer.h"

#include <math.h>

#include "palette.h"

typedef struct {
  double *y;
  int colour;
  LamCurveStyle style;
  double band;
  char *label;
} Curve;

struct _LamCurvesLayer {
  LamChartLayer parent_instance;
  double *x;
  int n;
  GArray *curves;
  double mark;
};

G_DEFINE_FINAL_TYPE (LamCurvesLayer, lam_curves_layer, LAM_TYPE_CHART_LAYER)

static void
clear_curve (void *data)
{
  Curve *c = data;
  g_free (c->y);
  g_free (c->label);
}

static void
lam_curves_layer_range (LamChartLayer *layer, LamAxis *x, LamAxis *y)
{
  LamCurvesLayer *self = LAM_CURVES_LAYER (layer);
  if (x != NULL && self->n > 0) {
    lam_axis_include (x, self->x[0]);
    lam_axis_include (x, self->x[self->n - 1]);
  }
  for (guint c = 0; y != NULL && c < self->curves->len; c++) {
    const Curve *curve = &g_array_index (self->curves, Curve, c);
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < self->n; i++)
      if (isfinite (curve->y[i])) {
        low = fmin (low, curve->y[i]);
        high = fmax (high, curve->y[i]);
      }
    if (low <= high) {
      lam_axis_include (y, low);
      lam_axis_include (y, high);
    }
  }
}

static void
draw_mark (LamCurvesLayer *self, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot, LamAxis *x)
{
  double at = lam_axis_normalise (x, self->mark);
  if (!(at >= 0 && at <= 1))
    return;
  GdkRGBA colour = lam_palette (widget, LAM_COLOUR_RED);
  double left = floor (plot->origin.x + at * plot->size.width);
  for (double y = 0; y < plot->size.height; y += 6)
    gtk_snapshot_append_color (snapshot, &colour,
                               &GRAPHENE_RECT_INIT (left, plot->origin.y + y, 1, MIN (4, plot->size.height - y)));
}

static void
lam_curves_layer_snapshot (LamChartLayer *layer, GtkWidget *widget, GtkSnapshot *snapshot, const graphene_rect_t *plot,
                           LamAxis *x_axis, LamAxis *y_axis)
{
  static const double dash[] = {5, 3}, dot[] = {1.5, 3}, both[] = {6, 3, 1.5, 3};
  LamCurvesLayer *self = LAM_CURVES_LAYER (layer);
  draw_mark (self, widget, snapshot, plot, x_axis);
  if (self->n == 0)
    return;
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (plot->origin.x - 4, plot->origin.y - 4,
                                                                          plot->size.width + 8, plot->size.height + 8));
  /* No more points than there are half pixels. */
  int step = MAX (1, (int) (self->n / (2 * MAX (plot->size.width, 1))));
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  for (guint c = 0; c < self->curves->len; c++) {
    const Curve *curve = &g_array_index (self->curves, Curve, c);
    GdkRGBA colour = lam_palette_series (widget, curve->colour);
    gboolean down = FALSE;
    if (curve->style == LAM_CURVE_DOTTED)
      colour.alpha = 0.55f;
    gdk_cairo_set_source_rgba (cr, &colour);
    cairo_set_line_width (cr, curve->style == LAM_CURVE_SOLID ? 1.6 : 1.2);
    gboolean mixed = curve->style == LAM_CURVE_DASH_DOT;
    cairo_set_dash (cr,
                    curve->style == LAM_CURVE_DOTTED ? dot
                    : mixed                          ? both
                                                     : dash,
                    curve->style == LAM_CURVE_SOLID ? 0
                    : mixed                         ? 4
                                                    : 2,
                    0);
    for (int i = 0; i < self->n; i += step) {
      double x = plot->origin.x + lam_axis_normalise (x_axis, self->x[i]) * plot->size.width;
      double y = plot->origin.y + (1 - lam_axis_normalise (y_axis, curve->y[i])) * plot->size.height;
      if (!isfinite (x) || !isfinite (y))
        down = FALSE;
      else if (down)
        cairo_line_to (cr, x, y);
      else {
        cairo_move_to (cr, x, y);
        down = TRUE;
      }
    }
    if (self->n == 1) { /* one sample is a point */
      double x = plot->origin.x + lam_axis_normalise (x_axis, self->x[0]) * plot->size.width;
      double y = plot->origin.y + (1 - lam_axis_normalise (y_axis, curve->y[0])) * plot->size.height;
      cairo_arc (cr, x, y, 4, 0, 2 * G_PI);
      cairo_fill (cr);
    }
    cairo_stroke (cr);
    if (!(curve->band > 0))
      continue;
    colour.alpha = 0.18f;
    gdk_cairo_set_source_rgba (cr, &colour);
    cairo_set_dash (cr, NULL, 0, 0);
    for (int side = 0; side < 2; side++)
      for (int i = side ? self->n - 1 : 0; side ? i >= 0 : i < self->n; i += side ? -step : step) {
        double x = plot->origin.x + lam_axis_normalise (x_axis, self->x[i]) * plot->size.width;
        double v = curve->y[i] + (side ? -curve->band : curve->band);
        cairo_line_to (cr, x, plot->origin.y + (1 - lam_axis_normalise (y_axis, v)) * plot->size.height);
      }
    cairo_close_path (cr);
    cairo_fill (cr);
  }
  cairo_destroy (cr);
}

static int
nearest (LamCurvesLayer *self, double x)
{
  int low = 0, high = self->n - 1;
  if (self->n == 0)
    return -1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (self->x[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return fabs (self->x[low] - x) <= fabs (self->x[high] - x) ? low : high;
}

static char *
lam_curves_layer_readout (LamChartLayer *layer, double x, double *at_x, double *at_y)
{
  LamCurvesLayer *self = LAM_CURVES_LAYER (layer);
  int i = nearest (self, x);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint c = 0; i >= 0 && c < self->curves->len; c++) {
    const Curve *curve = &g_array_index (self->curves, Curve, c);
    if (curve->label == NULL)
      continue;
    *at_x = self->x[i];
    *at_y = curve->y[i];
    g_string_append_printf (text, "%s%s %.4g", text->len ? " · " : "", curve->label, curve->y[i]);
  }
  return text->len ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

void
lam_curves_layer_begin (LamCurvesLayer *self, const double *x, int n)
{
  g_array_set_size (self->curves, 0);
  g_free (self->x);
  self->x = g_memdup2 (x, (gsize) n * sizeof *x);
  self->n = n;
}

void
lam_curves_layer_add (LamCurvesLayer *self, const double *y, int colour, LamCurveStyle style, const char *label)
{
  Curve c = {g_memdup2 (y, (gsize) self->n * sizeof *y), colour, style, 0, g_strdup (label)};
  g_array_append_val (self->curves, c);
}

void
lam_curves_layer_band (LamCurvesLayer *self, double half)
{
  if (self->curves->len > 0)
    g_array_index (self->curves, Curve, self->curves->len - 1).band = half;
}

void
lam_curves_layer_end (LamCurvesLayer *self)
{
  lam_chart_layer_changed (LAM_CHART_LAYER (self));
}

void
lam_curves_layer_set_mark (LamCurvesLayer *self, double x)
{
  if (x == self->mark || (isnan (x) && isnan (self->mark)))
    return;
  self->mark = x;
  lam_chart_layer_changed (LAM_CHART_LAYER (self));
}

static void
lam_curves_layer_finalize (GObject *object)
{
  LamCurvesLayer *self = LAM_CURVES_LAYER (object);
  g_free (self->x);
  g_array_unref (self->curves);
  G_OBJECT_CLASS (lam_curves_layer_parent_class)->finalize (object);
}

static void
lam_curves_layer_class_init (LamCurvesLayerClass *klass)
{
  LamChartLayerClass *layer_class = LAM_CHART_LAYER_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = lam_curves_layer_finalize;
  layer_class->range = lam_curves_layer_range;
  layer_class->snapshot = lam_curves_layer_snapshot;
  layer_class->readout = lam_curves_layer_readout;
}

static void
lam_curves_layer_init (LamCurvesLayer *self)
{
  self->curves = g_array_new (FALSE, FALSE, sizeof (Curve));
  g_array_set_clear_func (self->curves, clear_curve);
  self->mark = NAN;
}

LamChartLayer *
lam_curves_layer_new (LamAxis *axis)
{
  LamCurvesLayer *self = g_object_new (LAM_TYPE_CURVES_LAYER, NULL);
  lam_chart_layer_set_axis (LAM_CHART_LAYER (self), axis);
  return LAM_CHART_LAYER (self);
}
