#include "config.h"

#include "histogram.h"

#include <glib/gi18n.h>
#include <math.h>

#include "histogram-handle.h"
#include "palette.h"

#define HANDLE_WIDTH 12
#define LABEL_HEIGHT 16

struct _LamHistogram {
  GtkWidget parent_instance;
  LamSliceModel *model;
  GtkWidget *handles[2];
  double range_low, range_high; /* what the plot spans */
  const int64_t *counts;        /* the model's, over that range; NULL = none */
  gboolean held;                /* a drag is under way: the range stays put beneath the hand */
  int which;                    /* the handle being dragged; 2 = both */
  double start[2];
};

G_DEFINE_FINAL_TYPE (LamHistogram, lam_histogram, GTK_TYPE_WIDGET)

enum { PROP_0, PROP_MODEL, N_PROPS };
static GParamSpec *properties[N_PROPS];

/* The plot's part of the widget. */
static double
plot_width (LamHistogram *self)
{
  return MAX (gtk_widget_get_width (GTK_WIDGET (self)) - HANDLE_WIDTH, 1);
}

static double
plot_height (LamHistogram *self)
{
  return MAX (gtk_widget_get_height (GTK_WIDGET (self)) - LABEL_HEIGHT, 1);
}

static double
to_x (LamHistogram *self, double value)
{
  return HANDLE_WIDTH / 2.0 + (value - self->range_low) / (self->range_high - self->range_low) * plot_width (self);
}

/* Spans the robust range while the window lies within, else all values. */
static void
update_range (LamHistogram *self)
{
  const LamSliceStats *stats = self->model != NULL ? lam_slice_model_get_stats (self->model) : NULL;
  double low, high;
  self->counts = NULL;
  if (stats == NULL)
    return;
  lam_slice_model_get_level (self->model, &low, &high);
  gboolean robust = low >= stats->robust_low && high <= stats->robust_high;
  if (self->held)
    robust = self->range_low == stats->robust_low && self->range_high == stats->robust_high;
  self->counts = robust ? stats->robust : stats->full;
  self->range_low = robust ? stats->robust_low : stats->low;
  self->range_high = robust ? stats->robust_high : stats->high;
  if (!(self->range_high > self->range_low)) {
    self->range_low -= 0.5;
    self->range_high += 0.5;
  }
}

static void
update_handles (LamHistogram *self)
{
  double level[2];
  if (self->model == NULL)
    return;
  lam_slice_model_get_level (self->model, &level[0], &level[1]);
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = lam_slice_model_format_value (level[i], level[1] - level[0]);
    lam_histogram_handle_set_value (LAM_HISTOGRAM_HANDLE (self->handles[i]), level[i], self->range_low,
                                    self->range_high, text);
  }
}

static void
model_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamHistogram *self)
{
  if (g_str_equal (pspec->name, "cursor") || g_str_equal (pspec->name, "mark"))
    return;
  update_range (self);
  update_handles (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* -- hands -- */

static void
move_level (LamHistogram *self, int which, double by)
{
  double level[2] = {self->start[0], self->start[1]};
  for (int i = 0; i < 2; i++)
    if (which == i || which == 2)
      level[i] += by;
  /* One end stops at the other. */
  double least = (self->range_high - self->range_low) * 1e-4;
  if (which == 0)
    level[0] = fmin (level[0], level[1] - least);
  if (which == 1)
    level[1] = fmax (level[1], level[0] + least);
  lam_slice_model_set_level (self->model, level[0], level[1]);
}

static void
moved_cb (LamHistogramHandle *handle, double steps, LamHistogram *self)
{
  if (self->model == NULL || self->counts == NULL)
    return;
  lam_slice_model_get_level (self->model, &self->start[0], &self->start[1]);
  move_level (self, GTK_WIDGET (handle) == self->handles[1], steps * (self->range_high - self->range_low) / 100);
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamHistogram *self)
{
  if (self->model == NULL || self->counts == NULL) {
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  lam_slice_model_get_level (self->model, &self->start[0], &self->start[1]);
  double to_low = fabs (x - to_x (self, self->start[0])), to_high = fabs (x - to_x (self, self->start[1]));
  gboolean between = x > to_x (self, self->start[0]) && x < to_x (self, self->start[1]);
  self->which = between && fmin (to_low, to_high) > HANDLE_WIDTH ? 2 : to_high < to_low ? 1 : 0;
  gtk_widget_grab_focus (self->handles[self->which == 1]);
  self->held = TRUE;
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamHistogram *self)
{
  if (self->held && fabs (dx) >= 1)
    move_level (self, self->which, dx / plot_width (self) * (self->range_high - self->range_low));
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamHistogram *self)
{
  self->held = FALSE;
  if (self->model != NULL) {
    update_range (self);
    gtk_widget_queue_allocate (GTK_WIDGET (self));
  }
}

static void
pressed_cb (GtkGestureClick *gesture, int n_press, double x, double y, LamHistogram *self)
{
  if (n_press == 2 && self->model != NULL)
    lam_slice_model_level_auto (self->model);
}

/* -- widget -- */

static void
end_label (LamHistogram *self, GtkSnapshot *snapshot, double value, gboolean right)
{
  GtkWidget *widget = GTK_WIDGET (self);
  g_autofree char *text = lam_slice_model_format_value (value, self->range_high - self->range_low);
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, 0.8);
  GdkRGBA dim = lam_palette (widget, LAM_COLOUR_DIM);
  int w;
  pango_layout_get_pixel_size (layout, &w, NULL);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT (right ? gtk_widget_get_width (widget) - w : 0, plot_height (self) + 1));
  gtk_snapshot_append_layout (snapshot, layout, &dim);
  gtk_snapshot_restore (snapshot);
}

static void
lam_histogram_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamHistogram *self = LAM_HISTOGRAM (widget);
  double height = plot_height (self), bar = plot_width (self) / LAM_HISTOGRAM_BINS, low, high;
  GdkRGBA line = lam_palette (widget, LAM_COLOUR_GRID), bars = lam_palette_alpha (widget, LAM_COLOUR_DIM, 0.8);
  GdkRGBA inside = lam_palette_alpha (widget, LAM_COLOUR_BLUE, 0.12);
  gtk_snapshot_append_color (snapshot, &line,
                             &GRAPHENE_RECT_INIT (HANDLE_WIDTH / 2.0, height - 1, plot_width (self), 1));
  if (self->model == NULL || self->counts == NULL)
    return;
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget), height + LABEL_HEIGHT));
  lam_slice_model_get_level (self->model, &low, &high);
  gtk_snapshot_append_color (snapshot, &inside,
                             &GRAPHENE_RECT_INIT (to_x (self, low), 0, to_x (self, high) - to_x (self, low), height));
  /* Square roots: the air's peak would flatten everything else. One bin far above all others (the pixels outside the
   * circle, all the same) is cut off at the top. */
  int64_t most = 1, second = 1;
  for (int b = 0; b < LAM_HISTOGRAM_BINS; b++)
    if (self->counts[b] > most) {
      second = most;
      most = self->counts[b];
    } else
      second = MAX (second, self->counts[b]);
  most = MIN (most, second + second / 4);
  for (int b = 0; b < LAM_HISTOGRAM_BINS; b++) {
    double h = sqrt (MIN (self->counts[b], most) / (double) most) * (height - 4);
    if (self->counts[b] > 0)
      gtk_snapshot_append_color (snapshot, &bars,
                                 &GRAPHENE_RECT_INIT (HANDLE_WIDTH / 2.0 + b * bar, height - 1 - h, bar, h));
  }
  end_label (self, snapshot, self->range_low, FALSE);
  end_label (self, snapshot, self->range_high, TRUE);
  for (int i = 0; i < 2; i++)
    gtk_widget_snapshot_child (widget, self->handles[i], snapshot);
  gtk_snapshot_pop (snapshot);
}

static void
lam_histogram_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamHistogram *self = LAM_HISTOGRAM (widget);
  double level[2] = {0, 0};
  if (self->model != NULL)
    lam_slice_model_get_level (self->model, &level[0], &level[1]);
  for (int i = 0; i < 2; i++) {
    gtk_widget_set_child_visible (self->handles[i], self->counts != NULL);
    /* An end outside the plot waits at its edge, where it can be taken hold of. */
    double x = self->counts != NULL ? CLAMP (to_x (self, level[i]), HANDLE_WIDTH / 2.0, width - HANDLE_WIDTH / 2.0) : 6;
    gtk_widget_size_allocate (
        self->handles[i],
        &(GtkAllocation){(int) rint (x) - HANDLE_WIDTH / 2, 0, HANDLE_WIDTH, MAX (height - LABEL_HEIGHT, 1)}, -1);
  }
}

static void
lam_histogram_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                       int *minimum_baseline, int *natural_baseline)
{
  for (int i = 0; i < 2; i++)
    gtk_widget_measure (LAM_HISTOGRAM (widget)->handles[i], orientation, for_size, minimum, natural, NULL, NULL);
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 120 : 76;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 100;
}

void
lam_histogram_set_model (LamHistogram *self, LamSliceModel *model)
{
  g_return_if_fail (LAM_IS_HISTOGRAM (self));
  if (self->model == model)
    return;
  if (self->model != NULL)
    g_signal_handlers_disconnect_by_func (self->model, model_notify_cb, self);
  g_set_object (&self->model, model);
  if (model != NULL)
    g_signal_connect_object (model, "notify", G_CALLBACK (model_notify_cb), self, 0);
  update_range (self);
  update_handles (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODEL]);
}

void
lam_histogram_get_range (LamHistogram *self, double *low, double *high)
{
  *low = self->range_low;
  *high = self->range_high;
}

GtkWidget *
lam_histogram_get_handle (LamHistogram *self, int which)
{
  g_return_val_if_fail (LAM_IS_HISTOGRAM (self) && which >= 0 && which < 2, NULL);
  return self->handles[which];
}

static void
lam_histogram_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_object (value, LAM_HISTOGRAM (object)->model);
}

static void
lam_histogram_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  lam_histogram_set_model (LAM_HISTOGRAM (object), g_value_get_object (value));
}

static void
lam_histogram_dispose (GObject *object)
{
  LamHistogram *self = LAM_HISTOGRAM (object);
  if (self->model != NULL)
    g_signal_handlers_disconnect_by_func (self->model, model_notify_cb, self);
  g_clear_object (&self->model);
  for (int i = 0; i < 2; i++)
    g_clear_pointer (&self->handles[i], gtk_widget_unparent);
  G_OBJECT_CLASS (lam_histogram_parent_class)->dispose (object);
}

static void
lam_histogram_class_init (LamHistogramClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->get_property = lam_histogram_get_property;
  object_class->set_property = lam_histogram_set_property;
  object_class->dispose = lam_histogram_dispose;
  widget_class->snapshot = lam_histogram_snapshot;
  widget_class->size_allocate = lam_histogram_size_allocate;
  widget_class->measure = lam_histogram_measure;
  properties[PROP_MODEL] =
      g_param_spec_object ("model", NULL, NULL, LAM_TYPE_SLICE_MODEL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_css_name (widget_class, "histogram");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lam_histogram_init (LamHistogram *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  self->range_high = 1;
  self->handles[0] = lam_histogram_handle_new (_ ("Lower end of the window"));
  self->handles[1] = lam_histogram_handle_new (_ ("Upper end of the window"));
  for (int i = 0; i < 2; i++) {
    g_signal_connect (self->handles[i], "moved", G_CALLBACK (moved_cb), self);
    gtk_widget_set_parent (self->handles[i], widget);
  }
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_gesture_group (drag, click);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Histogram and window"), -1);
}

GtkWidget *
lam_histogram_new (LamSliceModel *model)
{
  return g_object_new (LAM_TYPE_HISTOGRAM, "model", model, NULL);
}
