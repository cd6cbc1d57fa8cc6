#include "config.h"

#include "train-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

#define LEFT 56
#define RIGHT 14
#define TOP 14
#define MOST_HOME 10000000
#define ADC 26 /* room for the row of samples and the time below */

struct _LamTrainView {
  GtkWidget parent_instance;
  LamSequenceSession *session;
  int pulse, hover, brush;
  /* of a drag */
  gboolean dragging;
  double *start; /* values when it began */
  int start_n;
  double grabbed; /* y in values where the hand took hold */
  double high;    /* top of the scale, held during a drag */
};

enum { PROP_PULSE = 1, N_PROPS };
static GParamSpec *props[N_PROPS];
static guint describe_signal;

G_DEFINE_FINAL_TYPE (LamTrainView, lam_train_view, GTK_TYPE_WIDGET)

static const double *
values (LamTrainView *self, int *n)
{
  const char *field = lam_sequence_session_get_train (self->session);
  *n = 0;
  return field != NULL ? lam_sequence_session_get_list (self->session, field, n) : NULL;
}

/* ---- where things are ---- */

static graphene_rect_t
plot (LamTrainView *self)
{
  return GRAPHENE_RECT_INIT (LEFT, TOP, MAX (gtk_widget_get_width (GTK_WIDGET (self)) - LEFT - RIGHT, 10),
                             MAX (gtk_widget_get_height (GTK_WIDGET (self)) - TOP - ADC - 12, 10));
}

static double
scale_top (LamTrainView *self, double *low)
{
  int n;
  const double *v = values (self, &n);
  double high = 0;
  *low = 0;
  for (int i = 0; i < n; i++) {
    high = fmax (high, v[i]);
    *low = fmin (*low, v[i]);
  }
  high = fmax (high, fmax (-*low * 0.2, 1));
  double unit = pow (10, floor (log10 (high))) / 2;
  high = ceil (high * 1.08 / unit) * unit;
  return self->dragging ? fmax (self->high, high) : high;
}

static double
x_of (LamTrainView *self, double i, int n)
{
  graphene_rect_t p = plot (self);
  return p.origin.x + (n > 1 ? i / (n - 1) : 0.5) * p.size.width;
}

static double
y_of (LamTrainView *self, double value)
{
  graphene_rect_t p = plot (self);
  double low, high = scale_top (self, &low);
  return p.origin.y + (high - value) / (high - low) * p.size.height;
}

static double
value_at (LamTrainView *self, double y)
{
  graphene_rect_t p = plot (self);
  double low, high = scale_top (self, &low);
  return high - (y - p.origin.y) / p.size.height * (high - low);
}

static int
pulse_at (LamTrainView *self, double x)
{
  int n;
  graphene_rect_t p = plot (self);
  if (values (self, &n) == NULL || n == 0 || x < p.origin.x - 12 || x > p.origin.x + p.size.width + 12)
    return -1;
  return CLAMP ((int) rint ((x - p.origin.x) / p.size.width * (n - 1)), 0, n - 1);
}

void
lam_train_view_get_handle (LamTrainView *self, int pulse, double *x, double *y)
{
  int n;
  const double *v = values (self, &n);
  *x = x_of (self, pulse, n);
  *y = v != NULL && pulse < n ? y_of (self, v[pulse]) : 0;
}

/* ---- words ---- */

static const char *
unit (LamTrainView *self)
{
  const char *field = lam_sequence_session_get_train (self->session);
  return field != NULL && g_str_equal (field, "flip") ? "°" : "";
}

static char *
describe (LamTrainView *self, int i)
{
  int n;
  const double *v = values (self, &n);
  const char *field = lam_sequence_session_get_train (self->session);
  if (v == NULL || i < 0 || i >= n)
    return NULL;
  /* TRANSLATORS: "pulse 126 · 60.0°" */
  return g_str_equal (field, "flip") ? g_strdup_printf (_ ("pulse %d · %.1f°"), i, v[i])
                                     : g_strdup_printf ("%s[%d] · %.4g", field, i, v[i]);
}

static void
say (LamTrainView *self, int i)
{
  g_autofree char *text = describe (self, i);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  g_signal_emit (self, describe_signal, 0, text);
}

static void
choose (LamTrainView *self, int i)
{
  self->pulse = i;
  say (self, i);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PULSE]);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- drawing ---- */

static void
draw_text (LamTrainView *self, GtkSnapshot *snapshot, const char *text, LamColour role, double x, double y,
           double align)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, 0.8, role, x, y, align);
}

static void
draw_bubble (LamTrainView *self, GtkSnapshot *snapshot, const char *text, double x, double y)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, 0.85);
  GdkRGBA back = lam_palette (GTK_WIDGET (self), LAM_COLOUR_TEXT),
          front = lam_palette (GTK_WIDGET (self), LAM_COLOUR_PAPER);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  double left = CLAMP (x + 10, 2, gtk_widget_get_width (GTK_WIDGET (self)) - w - 18), top = MAX (y - h - 12, 2);
  GskRoundedRect box;
  gsk_rounded_rect_init_from_rect (&box, &GRAPHENE_RECT_INIT (left, top, w + 14, h + 6), 5);
  gtk_snapshot_push_rounded_clip (snapshot, &box);
  gtk_snapshot_append_color (snapshot, &back, &box.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (left + 7, top + 3));
  front.alpha = 1;
  gtk_snapshot_append_layout (snapshot, layout, &front);
  gtk_snapshot_restore (snapshot);
}

static void
draw_handle (LamTrainView *self, cairo_t *cr, double x, double y, gboolean chosen)
{
  GdkRGBA red = lam_palette (GTK_WIDGET (self), LAM_COLOUR_RED),
          paper = lam_palette (GTK_WIDGET (self), LAM_COLOUR_PAPER);
  paper.alpha = 1;
  cairo_arc (cr, x, y, chosen ? 6 : 4, 0, 2 * G_PI);
  gdk_cairo_set_source_rgba (cr, chosen ? &red : &paper);
  cairo_fill_preserve (cr);
  gdk_cairo_set_source_rgba (cr, &red);
  cairo_set_line_width (cr, 1.5);
  cairo_stroke (cr);
}

/* Flip angles before the drag, as a faint line. */
static void
draw_before (LamTrainView *self, cairo_t *cr)
{
  if (!self->dragging)
    return;
  GdkRGBA dim = lam_palette (GTK_WIDGET (self), LAM_COLOUR_DIM);
  static const double dot[] = {1.5, 3};
  gdk_cairo_set_source_rgba (cr, &dim);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, dot, 2, 0);
  for (int i = 0; i < self->start_n; i++)
    cairo_line_to (cr, x_of (self, i, self->start_n), y_of (self, self->start[i]));
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

static void
draw_samples (LamTrainView *self, GtkSnapshot *snapshot, const graphene_rect_t *p)
{
  LamSequenceResult *r = lam_sequence_session_get_result (self->session);
  GdkRGBA green = lam_palette (GTK_WIDGET (self), LAM_COLOUR_GREEN);
  double top = p->origin.y + p->size.height + 8;
  draw_text (self, snapshot, "ADC", LAM_COLOUR_DIM, LEFT - 8, top + 5, 1);
  if (r == NULL || r->time == NULL || r->duration <= 0) {
    draw_text (self, snapshot, _ ("closed form: no events"), LAM_COLOUR_DIM, p->origin.x, top + 5, 0);
    return;
  }
  int last = -1;
  for (int i = 0; i < r->samples; i++) {
    int x = (int) (p->origin.x + r->time[i] / r->duration * p->size.width);
    if (x <= last + 1) /* as many as can be told apart */
      continue;
    gtk_snapshot_append_color (snapshot, &green, &GRAPHENE_RECT_INIT (x, top, 1, 10));
    last = x;
  }
  g_autofree char *end = r->duration >= 1 ? g_strdup_printf (_ ("%.3g s"), r->duration)
                                          : g_strdup_printf (_ ("%.4g ms"), r->duration * 1e3);
  draw_text (self, snapshot, "0", LAM_COLOUR_DIM, p->origin.x, top + 22, 0);
  draw_text (self, snapshot, end, LAM_COLOUR_DIM, p->origin.x + p->size.width, top + 22, 1);
}

/* Stems; where they would touch each other, the area that they fill. */
static void
draw_values (LamTrainView *self, cairo_t *cr, const double *v, int n, double zero, GdkRGBA *colour)
{
  graphene_rect_t p = plot (self);
  double apart = p.size.width / MAX (n - 1, 1);
  gdk_cairo_set_source_rgba (cr, colour);
  if (apart >= 3) {
    cairo_set_line_width (cr, CLAMP (apart * 0.4, 1, 4));
    for (int i = 0; i < n; i++) {
      cairo_move_to (cr, x_of (self, i, n), zero);
      cairo_line_to (cr, x_of (self, i, n), y_of (self, v[i]));
    }
    cairo_stroke (cr);
    return;
  }
  int step = MAX (1, (int) (0.5 / apart));
  for (int i = 0; i < n; i += step)
    cairo_line_to (cr, x_of (self, i, n), y_of (self, v[i]));
  cairo_set_line_width (cr, 1.5);
  cairo_stroke_preserve (cr);
  cairo_line_to (cr, x_of (self, n - 1, n), zero);
  cairo_line_to (cr, x_of (self, 0, n), zero);
  cairo_close_path (cr);
  colour->alpha = 0.25f;
  gdk_cairo_set_source_rgba (cr, colour);
  cairo_fill (cr);
}

static void
lam_train_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamTrainView *self = LAM_TRAIN_VIEW (widget);
  int n;
  const double *v = values (self, &n);
  graphene_rect_t p = plot (self);
  double low, high = scale_top (self, &low), zero = y_of (self, 0);
  GdkRGBA grid = lam_palette (widget, LAM_COLOUR_GRID), blue = lam_palette (widget, LAM_COLOUR_BLUE);
  for (int k = 0; k <= 2; k++) {
    double at = high * k / 2, y = floor (y_of (self, at));
    g_autofree char *text = g_strdup_printf ("%.4g%s", at, unit (self));
    gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (p.origin.x, y, p.size.width, 1));
    draw_text (self, snapshot, text, LAM_COLOUR_DIM, LEFT - 8, y, 1);
  }
  draw_samples (self, snapshot, &p);
  if (v == NULL || n == 0)
    return;
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget), gtk_widget_get_height (widget)));
  draw_values (self, cr, v, n, zero, &blue);
  draw_before (self, cr);
  int handles = MIN (n, 9);
  for (int k = 0; k < handles; k++) {
    int i = handles > 1 ? (int) rint ((double) k * (n - 1) / (handles - 1)) : 0;
    draw_handle (self, cr, x_of (self, i, n), y_of (self, v[i]), FALSE);
  }
  int shown = self->hover >= 0 && !self->dragging ? self->hover : self->pulse;
  if (shown >= 0 && shown < n)
    draw_handle (self, cr, x_of (self, shown, n), y_of (self, v[shown]), TRUE);
  cairo_destroy (cr);
  g_autofree char *text = describe (self, shown);
  if (text != NULL)
    draw_bubble (self, snapshot, text, x_of (self, shown, n), y_of (self, v[shown]));
}

static void
lam_train_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                        int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 88;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : 170;
}

/* ---- editing ---- */

/* The train of @from with pulse @i at @value, neighbours following by a raised cosine. */
static void
set_bump (LamTrainView *self, const double *from, int n, int i, double value)
{
  const char *field = lam_sequence_session_get_train (self->session);
  g_autofree double *v = g_memdup2 (from, n * sizeof *v);
  double change = value - from[i];
  int reach = self->brush;
  for (int k = MAX (0, i - reach); k <= MIN (n - 1, i + reach); k++)
    v[k] += change * (0.5 + 0.5 * cos (G_PI * (k - i) / (reach + 1.0)));
  g_autofree char *name =
      g_str_equal (field, "flip") ? g_strdup (_ ("Set Flip Angles")) : g_strdup_printf (_ ("Set %s"), field);
  for (int k = 0; k < n; k++) /* a flip of the other sign is the same with another phase: not by accident */
    if (from[k] >= 0)
      v[k] = fmax (v[k], 0);
  lam_sequence_session_edit_list (self->session, field, v, n, name, NULL);
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamTrainView *self)
{
  int n, i = pulse_at (self, x);
  const double *v = values (self, &n);
  double low;
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (i < 0 || v == NULL) {
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  self->high = scale_top (self, &low);
  self->start = g_memdup2 (v, n * sizeof *v);
  self->start_n = n;
  self->grabbed = value_at (self, y);
  self->dragging = TRUE;
  lam_sequence_session_begin_drag (self->session, _ ("Set Flip Angles"));
  choose (self, i);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamTrainView *self)
{
  double x, y;
  if (!self->dragging || !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  double change = value_at (self, y + dy) - value_at (self, y);
  if (state & GDK_CONTROL_MASK)
    change /= 10;
  set_bump (self, self->start, self->start_n, self->pulse, self->start[self->pulse] + change);
  say (self, self->pulse);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamTrainView *self)
{
  if (!self->dragging)
    return;
  self->dragging = FALSE;
  g_clear_pointer (&self->start, g_free);
  lam_sequence_session_end_drag (self->session);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamTrainView *self)
{
  int i = pulse_at (self, x);
  if (i == self->hover || self->dragging)
    return;
  self->hover = i;
  say (self, i >= 0 ? i : self->pulse);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
leave_cb (GtkEventControllerMotion *controller, LamTrainView *self)
{
  self->hover = -1;
  say (self, self->pulse);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Left and right choose, up and down change. */
static gboolean
walk_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTrainView *self = LAM_TRAIN_VIEW (widget);
  int n, step = g_variant_get_int32 (args);
  if (values (self, &n) == NULL || n == 0)
    return FALSE;
  choose (self, self->pulse < 0 ? (step > 0 ? 0 : n - 1) : CLAMP (self->pulse + step, 0, n - 1));
  return TRUE;
}

static gboolean
change_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTrainView *self = LAM_TRAIN_VIEW (widget);
  int n;
  const double *v = values (self, &n);
  if (v == NULL || self->pulse < 0 || self->pulse >= n)
    return FALSE;
  set_bump (self, v, n, self->pulse, v[self->pulse] + g_variant_get_double (args));
  say (self, self->pulse);
  return TRUE;
}

static gboolean
brush_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTrainView *self = LAM_TRAIN_VIEW (widget);
  int step = g_variant_get_int32 (args);
  lam_train_view_set_brush (self, step > 0 ? MAX (self->brush * 2, 1) : self->brush / 2);
  return TRUE;
}

int
lam_train_view_get_pulse (LamTrainView *self)
{
  return self->pulse;
}

void
lam_train_view_set_brush (LamTrainView *self, int pulses)
{
  self->brush = CLAMP (pulses, 0, 10000);
}

int
lam_train_view_get_brush (LamTrainView *self)
{
  return self->brush;
}

static void
train_changed_cb (LamSequenceSession *session, LamTrainView *self)
{
  int n;
  values (self, &n);
  if (self->pulse >= n)
    choose (self, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
result_cb (LamSequenceSession *session, LamTrainView *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_train_view_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_int (value, LAM_TRAIN_VIEW (object)->pulse);
}

static void
lam_train_view_dispose (GObject *object)
{
  LamTrainView *self = LAM_TRAIN_VIEW (object);
  g_clear_pointer (&self->start, g_free);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_train_view_parent_class)->dispose (object);
}

static void
lam_train_view_class_init (LamTrainViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    GdkModifierType state;
    int step;
  } walks[] = {{GDK_KEY_Left, 0, -1},      {GDK_KEY_Right, 0, 1},         {GDK_KEY_Page_Up, 0, -10},
               {GDK_KEY_Page_Down, 0, 10}, {GDK_KEY_Home, 0, -MOST_HOME}, {GDK_KEY_End, 0, MOST_HOME}};
  G_OBJECT_CLASS (klass)->dispose = lam_train_view_dispose;
  G_OBJECT_CLASS (klass)->get_property = lam_train_view_get_property;
  widget_class->snapshot = lam_train_view_snapshot;
  widget_class->measure = lam_train_view_measure;
  gtk_widget_class_set_css_name (widget_class, "trainview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  props[PROP_PULSE] =
      g_param_spec_int ("pulse", NULL, NULL, -1, G_MAXINT, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (klass), N_PROPS, props);
  describe_signal = g_signal_new ("describe", LAM_TYPE_TRAIN_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_STRING);
  for (guint i = 0; i < G_N_ELEMENTS (walks); i++)
    gtk_widget_class_add_binding (widget_class, walks[i].key, walks[i].state, walk_key, "i", walks[i].step);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Up, 0, change_key, "d", 1.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Down, 0, change_key, "d", -1.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Up, GDK_CONTROL_MASK, change_key, "d", 0.1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Down, GDK_CONTROL_MASK, change_key, "d", -0.1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_bracketright, 0, brush_key, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_bracketleft, 0, brush_key, "i", -1);
}

static void
lam_train_view_init (LamTrainView *self)
{
  self->pulse = self->hover = -1;
  self->brush = 24;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Train: arrows choose and change a pulse, brackets the brush"), -1);
}

GtkWidget *
lam_train_view_new (LamSequenceSession *session)
{
  LamTrainView *self = g_object_new (LAM_TYPE_TRAIN_VIEW, NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (session, "train-changed", G_CALLBACK (train_changed_cb), self, 0);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  return GTK_WIDGET (self);
}
