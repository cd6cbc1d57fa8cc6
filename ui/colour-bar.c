#include "config.h"

#include "colour-bar.h"

#include <glib/gi18n.h>
#include <math.h>

#include "axis.h"
#include "palette.h"

#define BAR 12
#define EDGE 9 /* room for half a number above and below */
#define MOST_TICKS 6

struct _LamColourBar {
  GtkWidget parent_instance;
  LamSliceModel *model;
  LamAxis *axis;
};

G_DEFINE_FINAL_TYPE (LamColourBar, lam_colour_bar, GTK_TYPE_WIDGET)

static void
draw_text (LamColourBar *self, GtkSnapshot *snapshot, const char *text, double x, double y)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, 0.82, LAM_COLOUR_DIM, x, y, 0);
}

static void
draw_colours (LamColourBar *self, GtkSnapshot *snapshot, const graphene_rect_t *bar)
{
  guint8 map[256 * 4];
  gboolean inverted = lam_slice_model_get_inverted (self->model);
  enum { STOPS = 33 };
  GskColorStop stops[STOPS];
  lam_colour_map_fill (lam_slice_model_get_colour_map (self->model), map);
  for (int i = 0; i < STOPS; i++) {
    int k = 255 * i / (STOPS - 1);
    const guint8 *c = map + 4 * (inverted ? 255 - k : k);
    stops[i] = (GskColorStop){i / (STOPS - 1.0f), {c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f, 1}};
  }
  gtk_snapshot_append_linear_gradient (snapshot, bar,
                                       &GRAPHENE_POINT_INIT (bar->origin.x, bar->origin.y + bar->size.height),
                                       &bar->origin, stops, STOPS);
}

static void
lam_colour_bar_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamColourBar *self = LAM_COLOUR_BAR (widget);
  LamSnapshot *shot = self->model != NULL ? lam_slice_model_get_snapshot (self->model) : NULL;
  const char *unit = shot != NULL ? lam_snapshot_info (shot)->value_unit : "";
  double top = *unit ? EDGE + 16 : EDGE, height = gtk_widget_get_height (widget) - top - EDGE, low, high;
  double ticks[MOST_TICKS];
  if (shot == NULL || height < 20)
    return;
  graphene_rect_t bar = GRAPHENE_RECT_INIT (0, top, BAR, height);
  draw_colours (self, snapshot, &bar);
  draw_text (self, snapshot, unit, 0, 8);
  lam_slice_model_get_level (self->model, &low, &high);
  lam_axis_reset (self->axis);
  lam_axis_include (self->axis, low);
  lam_axis_include (self->axis, high);
  int n = lam_axis_ticks (self->axis, ticks, MOST_TICKS);
  GdkRGBA colour = lam_palette (widget, LAM_COLOUR_DIM);
  for (int i = 0; i < n; i++) {
    double y = top + height * (1 - (ticks[i] - low) / (high - low));
    if (!(y >= top - 0.5 && y <= top + height + 0.5))
      continue;
    g_autofree char *text = lam_axis_format_tick (self->axis, ticks[i]);
    gtk_snapshot_append_color (snapshot, &colour, &GRAPHENE_RECT_INIT (BAR, floor (y), 4, 1));
    draw_text (self, snapshot, text, BAR + 7, y);
  }
}

static void
lam_colour_bar_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                        int *minimum_baseline, int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 54 : 60;
}

static void
notify_cb (LamSliceModel *model, GParamSpec *pspec, LamColourBar *self)
{
  static const char *const wanted[] = {"low", "high", "colour-map", "inverted", "snapshot", NULL};
  double low, high;
  if (pspec != NULL && !g_strv_contains (wanted, pspec->name))
    return;
  LamSnapshot *shot = lam_slice_model_get_snapshot (model);
  lam_slice_model_get_level (model, &low, &high);
  g_autofree char *from = lam_slice_model_format_value (low, high - low),
                  *to = lam_slice_model_format_value (high, high - low),
                  *text = g_strdup_printf (_ ("%s from %s to %s %s"),
                                           lam_colour_map_name (lam_slice_model_get_colour_map (model)), from, to,
                                           shot != NULL ? lam_snapshot_info (shot)->value_unit : "");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, g_strchomp (text), -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_colour_bar_dispose (GObject *object)
{
  LamColourBar *self = LAM_COLOUR_BAR (object);
  g_clear_object (&self->model);
  g_clear_object (&self->axis);
  G_OBJECT_CLASS (lam_colour_bar_parent_class)->dispose (object);
}

static void
lam_colour_bar_class_init (LamColourBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_colour_bar_dispose;
  widget_class->snapshot = lam_colour_bar_snapshot;
  widget_class->measure = lam_colour_bar_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
lam_colour_bar_init (LamColourBar *self)
{
  self->axis = lam_axis_new ("", FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Colours of the values"),
                                  -1);
}

GtkWidget *
lam_colour_bar_new (LamSliceModel *model)
{
  LamColourBar *self = g_object_new (LAM_TYPE_COLOUR_BAR, NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "notify", G_CALLBACK (notify_cb), self, 0);
  notify_cb (model, NULL, self);
  return GTK_WIDGET (self);
}
