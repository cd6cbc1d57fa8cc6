#include "config.h"

#include "chart.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

#define TICK_SCALE 0.8

struct _LamChart {
  GtkWidget parent_instance;
  LamAxis *x, *left, *right;
  GPtrArray *layers;
  double x_min, x_max;      /* least span, or NaN */
  gboolean x_fixed;         /* the span is all that is seen */
  double left_px, right_px; /* margins, at least */
  GskRenderNode *cache;     /* all but the readout: hovering does not draw the curves again */
  graphene_rect_t plot;
  double hover; /* x value under the pointer or the keyboard's cursor; NaN = none */
};

G_DEFINE_FINAL_TYPE (LamChart, lam_chart, GTK_TYPE_WIDGET)

static void
drop_cache (LamChart *self)
{
  g_clear_pointer (&self->cache, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
fit_axes (LamChart *self)
{
  LamAxis *axes[] = {self->x, self->left, self->right};
  for (int a = 0; a < 3; a++)
    if (axes[a] != NULL)
      lam_axis_reset (axes[a]);
  lam_axis_include (self->x, self->x_min);
  lam_axis_include (self->x, self->x_max);
  for (guint i = 0; i < self->layers->len; i++) {
    LamChartLayer *layer = g_ptr_array_index (self->layers, i);
    lam_chart_layer_range (layer, self->x_fixed ? NULL : self->x, lam_chart_layer_get_axis (layer));
  }
  for (int a = 0; a < 3; a++)
    if (axes[a] != NULL && !(a == 0 && self->x_fixed && self->x_max > self->x_min))
      lam_axis_finish (axes[a]);
}

/* Draws @text with its middle, left or right (0.5, 0, 1) at @x, vertically centred on @y. */
static void
draw_text (LamChart *self, GtkSnapshot *snapshot, const char *text, LamColour role, double x, double y, double align)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, TICK_SCALE, role, x, y, align);
}

/* Width of the widest tick text. */
static int
tick_width (LamChart *self, LamAxis *axis, const double *ticks, int n)
{
  int widest = 0;
  for (int i = 0; i < n; i++) {
    g_autofree char *text = lam_axis_format_tick (axis, ticks[i]);
    g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, TICK_SCALE);
    int w;
    pango_layout_get_pixel_size (layout, &w, NULL);
    widest = MAX (widest, w);
  }
  return widest;
}

/* Whether @axis has anything to show: a scale without curves would only be noise. */
static gboolean
axis_used (LamChart *self, LamAxis *axis)
{
  double x = 0, y = 0;
  for (guint i = 0; i < self->layers->len; i++) {
    LamChartLayer *layer = g_ptr_array_index (self->layers, i);
    if (lam_chart_layer_get_axis (layer) != axis)
      continue;
    g_autofree char *text = lam_chart_layer_readout (layer, 0, &x, &y);
    if (text != NULL)
      return TRUE;
  }
  return FALSE;
}

static void
draw_static (LamChart *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  GdkRGBA grid = lam_palette (widget, LAM_COLOUR_GRID);
  double ticks[16];
  fit_axes (self);

  int n_left = lam_axis_ticks (self->left, ticks, CLAMP (height / 36, 2, 8));
  double margin_left = fmax (tick_width (self, self->left, ticks, n_left) + 10, self->left_px),
         margin_right = fmax (8, self->right_px);
  gboolean right = self->right != NULL && axis_used (self, self->right);
  if (right) {
    double right_ticks[16];
    int n = lam_axis_ticks (self->right, right_ticks, CLAMP (height / 36, 2, 8));
    margin_right = tick_width (self, self->right, right_ticks, n) + 10;
  }
  self->plot =
      GRAPHENE_RECT_INIT (margin_left, 8, MAX (width - margin_left - margin_right, 10), MAX (height - 8 - 30, 10));
  const graphene_rect_t *p = &self->plot;

  for (int i = 0; i < n_left; i++) {
    double y = floor (p->origin.y + (1 - lam_axis_normalise (self->left, ticks[i])) * p->size.height);
    g_autofree char *text = lam_axis_format_tick (self->left, ticks[i]);
    gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (p->origin.x, y, p->size.width, 1));
    draw_text (self, snapshot, text, LAM_COLOUR_DIM, p->origin.x - 5, y, 1);
  }
  if (right) {
    int n = lam_axis_ticks (self->right, ticks, CLAMP (height / 36, 2, 8));
    for (int i = 0; i < n; i++) {
      double y = floor (p->origin.y + (1 - lam_axis_normalise (self->right, ticks[i])) * p->size.height);
      g_autofree char *text = lam_axis_format_tick (self->right, ticks[i]);
      draw_text (self, snapshot, text, LAM_COLOUR_DIM, p->origin.x + p->size.width + 5, y, 0);
    }
  }
  double bottom = p->origin.y + p->size.height;
  gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (p->origin.x, floor (bottom), p->size.width, 1));
  int n_x = lam_axis_ticks (self->x, ticks, CLAMP (p->size.width / 60, 2, 15));
  for (int i = 0; i < n_x; i++) {
    g_autofree char *text = lam_axis_format_tick (self->x, ticks[i]);
    draw_text (self, snapshot, text, LAM_COLOUR_DIM,
               p->origin.x + lam_axis_normalise (self->x, ticks[i]) * p->size.width, bottom + 8, 0.5);
  }
  if (lam_axis_get_label (self->x) != NULL)
    draw_text (self, snapshot, lam_axis_get_label (self->x), LAM_COLOUR_DIM, p->origin.x + p->size.width / 2,
               bottom + 22, 0.5);

  /* A little beyond the plot, so that points at its edge are whole. */
  gtk_snapshot_push_clip (
      snapshot, &GRAPHENE_RECT_INIT (p->origin.x - 4, p->origin.y - 4, p->size.width + 8, p->size.height + 8));
  for (guint i = 0; i < self->layers->len; i++) {
    LamChartLayer *layer = g_ptr_array_index (self->layers, i);
    lam_chart_layer_snapshot (layer, widget, snapshot, p, self->x, lam_chart_layer_get_axis (layer));
  }
  gtk_snapshot_pop (snapshot);
}

char *
lam_chart_describe (LamChart *self, double x)
{
  g_return_val_if_fail (LAM_IS_CHART (self), NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  double at_x, at_y;
  for (guint i = 0; i < self->layers->len; i++) {
    g_autofree char *part = lam_chart_layer_readout (g_ptr_array_index (self->layers, i), x, &at_x, &at_y);
    if (part == NULL)
      continue;
    if (text->len == 0)
      g_string_printf (text, "%s %g", lam_axis_get_label (self->x), at_x);
    g_string_append_printf (text, " · %s", part);
  }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
draw_hover (LamChart *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  g_autofree char *text = isfinite (self->hover) ? lam_chart_describe (self, self->hover) : NULL;
  const graphene_rect_t *p = &self->plot;
  if (text == NULL)
    return;
  double at_x = 0, at_y = 0, x = 0;
  GdkRGBA ink = lam_palette (widget, LAM_COLOUR_TEXT);
  for (guint i = 0; i < self->layers->len; i++) {
    LamChartLayer *layer = g_ptr_array_index (self->layers, i);
    g_autofree char *part = lam_chart_layer_readout (layer, self->hover, &at_x, &at_y);
    if (part == NULL)
      continue;
    x = p->origin.x + lam_axis_normalise (self->x, at_x) * p->size.width;
    double y = p->origin.y + (1 - lam_axis_normalise (lam_chart_layer_get_axis (layer), at_y)) * p->size.height;
    if (!isfinite (y))
      continue;
    gtk_snapshot_append_color (snapshot, &ink, &GRAPHENE_RECT_INIT (rint (x) - 3, rint (y), 7, 1));
    gtk_snapshot_append_color (snapshot, &ink, &GRAPHENE_RECT_INIT (rint (x), rint (y) - 3, 1, 7));
  }
  ink.alpha = 0.3;
  gtk_snapshot_append_color (snapshot, &ink, &GRAPHENE_RECT_INIT (rint (x), p->origin.y, 1, p->size.height));
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, 0.85);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  /* Where the axis is named, which the words begin with: data stay seen, and so do the numbers of the axis. */
  int width = gtk_widget_get_width (widget), most = MAX (width - 16, 20);
  if (w > most) {
    pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_width (layout, most * PANGO_SCALE);
    w = most;
  }
  double left = CLAMP (x - w / 2.0, 8, MAX (width - w - 8, 8)), top = gtk_widget_get_height (widget) - h - 1;
  static const GdkRGBA plate = {0, 0, 0, 0.8}, white = {1, 1, 1, 1};
  GskRoundedRect rect;
  gsk_rounded_rect_init_from_rect (&rect, &GRAPHENE_RECT_INIT (left - 6, top - 1, w + 12, h + 2), 5);
  gtk_snapshot_push_rounded_clip (snapshot, &rect);
  gtk_snapshot_append_color (snapshot, &plate, &rect.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (left, top));
  gtk_snapshot_append_layout (snapshot, layout, &white);
  gtk_snapshot_restore (snapshot);
}

static void
lam_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamChart *self = LAM_CHART (widget);
  if (self->cache == NULL) {
    GtkSnapshot *still = gtk_snapshot_new ();
    draw_static (self, still);
    self->cache = gtk_snapshot_free_to_node (still);
  }
  if (self->cache != NULL)
    gtk_snapshot_append_node (snapshot, self->cache);
  draw_hover (self, snapshot);
}

static void
lam_chart_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  drop_cache (LAM_CHART (widget));
}

static void
lam_chart_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                   int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 160 : 90;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 420 : 150;
}

static void
lam_chart_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lam_chart_parent_class)->css_changed (widget, change);
  g_clear_pointer (&LAM_CHART (widget)->cache, gsk_render_node_unref);
}

static void
set_hover (LamChart *self, double x)
{
  self->hover = x;
  g_autofree char *text = isfinite (x) ? lam_chart_describe (self, x) : NULL;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamChart *self)
{
  double at = (x - self->plot.origin.x) / self->plot.size.width;
  set_hover (self, at >= -0.02 && at <= 1.02 ? lam_axis_value (self->x, at) : NAN);
}

static void
leave_cb (GtkEventControllerMotion *controller, LamChart *self)
{
  set_hover (self, NAN);
}

/* Left and right walk along the x ticks' finest step: one fiftieth of the axis, or one where it counts. */
static gboolean
walk_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamChart *self = LAM_CHART (widget);
  double min, max;
  lam_axis_get_range (self->x, &min, &max);
  double from = isfinite (self->hover) ? self->hover : g_variant_get_int32 (args) > 0 ? min - 1 : max + 1;
  set_hover (self, CLAMP (from + g_variant_get_int32 (args) * fmax ((max - min) / 50, 1), min, max));
  return TRUE;
}

static void
layer_changed_cb (LamChartLayer *layer, LamChart *self)
{
  drop_cache (self);
}

void
lam_chart_add_layer (LamChart *self, LamChartLayer *layer)
{
  g_return_if_fail (LAM_IS_CHART (self) && LAM_IS_CHART_LAYER (layer));
  g_signal_connect_object (layer, "changed", G_CALLBACK (layer_changed_cb), self, 0);
  g_ptr_array_add (self->layers, layer);
  drop_cache (self);
}

void
lam_chart_set_x_span (LamChart *self, double min, double max)
{
  g_return_if_fail (LAM_IS_CHART (self));
  self->x_min = min;
  self->x_max = max;
  drop_cache (self);
}

void
lam_chart_fix_x (LamChart *self, double left_px, double right_px)
{
  g_return_if_fail (LAM_IS_CHART (self));
  self->x_fixed = TRUE;
  self->left_px = left_px;
  self->right_px = right_px;
  drop_cache (self);
}

void
lam_chart_set_label (LamChart *self, const char *label)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static void
lam_chart_dispose (GObject *object)
{
  LamChart *self = LAM_CHART (object);
  g_clear_pointer (&self->cache, gsk_render_node_unref);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  g_clear_object (&self->x);
  g_clear_object (&self->left);
  g_clear_object (&self->right);
  G_OBJECT_CLASS (lam_chart_parent_class)->dispose (object);
}

static void
lam_chart_class_init (LamChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_chart_dispose;
  widget_class->snapshot = lam_chart_snapshot;
  widget_class->size_allocate = lam_chart_size_allocate;
  widget_class->measure = lam_chart_measure;
  widget_class->css_changed = lam_chart_css_changed;
  gtk_widget_class_set_css_name (widget_class, "chart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, walk_key, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, walk_key, "i", 1);
}

static void
lam_chart_init (LamChart *self)
{
  self->layers = g_ptr_array_new_with_free_func (g_object_unref);
  self->x_min = self->x_max = self->hover = NAN;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
}

GtkWidget *
lam_chart_new (LamAxis *x, LamAxis *left, LamAxis *right)
{
  LamChart *self = g_object_new (LAM_TYPE_CHART, NULL);
  self->x = g_object_ref (x);
  self->left = g_object_ref (left);
  self->right = right != NULL ? g_object_ref (right) : NULL;
  return GTK_WIDGET (self);
}
