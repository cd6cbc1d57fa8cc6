#include "config.h"

#include "times-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

/* As the train above it, so that both stand on one line. */
#define LEFT 56
#define RIGHT 14
#define HEIGHT 36
#define WORDS 6  /* middle of the handles' words */
#define LINE 18  /* the ruler */
#define TICKS 30 /* middle of its numbers */
#define FIRST 34 /* from 0 to the first decade */
#define NEAR 9
#define RASTER 0.01 /* ms, of gradients and blocks: what a drag stops at */
#define MOST 16

struct _LamTimesView {
  GtkWidget parent_instance;
  LamSequenceSession *session;
  LamParameter *times[MOST]; /* of the protocol's rows, which it owns until the next */
  int n, chosen, hover;
  /* of a drag */
  gboolean dragging;
  double start;     /* value when it began */
  double low, high; /* ends of the ruler, in decades; held during a drag */
};

static guint describe_signal;

G_DEFINE_FINAL_TYPE (LamTimesView, lam_times_view, GTK_TYPE_WIDGET)

/* ---- where things are ---- */

/* Ratios matter for times that lie between an echo and a recovery: decades, from the shortest to beyond the longest. */
static void
find_scale (LamTimesView *self)
{
  double least = HUGE_VAL, most = 0;
  for (int i = 0; i < self->n; i++) {
    double v = lam_parameter_get_number (self->times[i]);
    if (v > 0) {
      least = fmin (least, v);
      most = fmax (most, v);
    }
  }
  self->low = least < HUGE_VAL ? fmin (floor (log10 (least / 1.5)), 0) : 0;
  self->low = fmax (self->low, -2);
  self->high = most > 0 ? fmax (ceil (log10 (most * 1.5)), self->low + 2) : 2;
}

static double
span (LamTimesView *self)
{
  return MAX (gtk_widget_get_width (GTK_WIDGET (self)) - LEFT - RIGHT, 10);
}

/* The first step from the left end is 0, or what a field calls automatic. */
static double
x_of (LamTimesView *self, double ms)
{
  if (!(ms > 0))
    return LEFT;
  double part = (log10 (ms) - self->low) / (self->high - self->low);
  return LEFT + CLAMP (FIRST + part * (span (self) - FIRST), FIRST / 2.0, span (self));
}

static double
ms_at (LamTimesView *self, double x)
{
  if (x < LEFT + FIRST / 2)
    return 0;
  double part = fmin ((x - LEFT - FIRST) / (span (self) - FIRST), 1);
  return pow (10, self->low + fmax (part, 0) * (self->high - self->low));
}

static int
time_at (LamTimesView *self, double x, double y)
{
  int best = -1;
  double least = NEAR;
  if (y < 0 || y > HEIGHT)
    return -1;
  for (int i = 0; i < self->n; i++) {
    double away = fabs (x_of (self, lam_parameter_get_number (self->times[i])) - x);
    /* Where several stand on one place, the chosen one. */
    if (away < least || (away == least && i == self->chosen)) {
      least = away;
      best = i;
    }
  }
  return best;
}

gboolean
lam_times_view_get_handle (LamTimesView *self, const char *id, double *x, double *y)
{
  for (int i = 0; i < self->n; i++)
    if (g_str_equal (lam_parameter_get_id (self->times[i]), id)) {
      *x = x_of (self, lam_parameter_get_number (self->times[i]));
      *y = LINE;
      return TRUE;
    }
  return FALSE;
}

const char *
lam_times_view_get_chosen (LamTimesView *self)
{
  return self->chosen >= 0 ? lam_parameter_get_id (self->times[self->chosen]) : NULL;
}

/* ---- words ---- */

static char *
value_text (LamParameter *p)
{
  double v = lam_parameter_get_number (p);
  const char *special = lam_parameter_get_special_text (p, v);
  return special != NULL ? g_strdup (special) : g_strdup_printf (_ ("%.6g ms"), v);
}

static void
say (LamTimesView *self, int i)
{
  g_autofree char *value = i >= 0 ? value_text (self->times[i]) : NULL;
  /* TRANSLATORS: "Repetition times (TR) · 10 ms" */
  g_autofree char *text = i >= 0 ? g_strdup_printf (_ ("%s (%s) · %s"), lam_parameter_get_label (self->times[i]),
                                                    lam_parameter_get_id (self->times[i]), value)
                                 : NULL;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  g_signal_emit (self, describe_signal, 0, text);
}

static void
choose (LamTimesView *self, int i)
{
  self->chosen = i;
  say (self, i);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- drawing ---- */

static void
draw_ruler (LamTimesView *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GdkRGBA grid = lam_palette (widget, LAM_COLOUR_GRID), dim = lam_palette (widget, LAM_COLOUR_DIM);
  lam_small_text (widget, snapshot, _ ("times"), 0.8, LAM_COLOUR_DIM, LEFT - 8, LINE, 1);
  gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (LEFT, LINE, span (self), 1));
  lam_small_text (widget, snapshot, "0", 0.8, LAM_COLOUR_DIM, LEFT, TICKS, 0);
  for (int d = (int) self->low; d <= (int) self->high; d++) {
    double x = floor (x_of (self, pow (10, d)));
    g_autofree char *text =
        d >= 3 ? g_strdup_printf (_ ("%g s"), pow (10, d - 3)) : g_strdup_printf (_ ("%g ms"), pow (10, d));
    gtk_snapshot_append_color (snapshot, &dim, &GRAPHENE_RECT_INIT (x, LINE - 3, 1, 7));
    lam_small_text (widget, snapshot, text, 0.8, LAM_COLOUR_DIM, x, TICKS, d == (int) self->high ? 1 : 0.5);
    for (int k = 2; k < 10 && d < (int) self->high; k++)
      gtk_snapshot_append_color (snapshot, &grid,
                                 &GRAPHENE_RECT_INIT (floor (x_of (self, k * pow (10, d))), LINE - 2, 1, 5));
  }
}

static void
draw_handle (LamTimesView *self, GtkSnapshot *snapshot, double x, gboolean filled)
{
  GdkRGBA red = lam_palette (GTK_WIDGET (self), LAM_COLOUR_RED),
          paper = lam_palette (GTK_WIDGET (self), LAM_COLOUR_PAPER);
  GskRoundedRect box;
  static const float line[4] = {1.5f, 1.5f, 1.5f, 1.5f};
  const GdkRGBA edges[4] = {red, red, red, red};
  double half = filled ? 4.5 : 3.5;
  paper.alpha = 1;
  gsk_rounded_rect_init_from_rect (&box, &GRAPHENE_RECT_INIT (x - half, LINE - 6, 2 * half, 13), 3);
  gtk_snapshot_push_rounded_clip (snapshot, &box);
  gtk_snapshot_append_color (snapshot, filled ? &red : &paper, &box.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_border (snapshot, &box, line, edges);
}

/* From left to right, none over the one before; those that come to stand beyond the end move back. */
static void
draw_words (LamTimesView *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  double left[MOST], wide[MOST], end = LEFT + span (self) + RIGHT - 2;
  int order[MOST];
  PangoLayout *layouts[MOST];
  for (int i = 0; i < self->n; i++) {
    g_autofree char *value = value_text (self->times[i]),
                    *text = g_strdup_printf ("%s %s", lam_parameter_get_id (self->times[i]), value);
    int w, h, at = i;
    layouts[i] = lam_small_layout (widget, text, 0.8);
    pango_layout_get_pixel_size (layouts[i], &w, &h);
    wide[i] = w;
    left[i] = x_of (self, lam_parameter_get_number (self->times[i])) - w / 2.0;
    for (; at > 0 && left[order[at - 1]] > left[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  double from = LEFT - 20;
  for (int k = 0; k < self->n; k++) {
    left[order[k]] = fmax (left[order[k]], from);
    from = left[order[k]] + wide[order[k]] + 10;
  }
  for (int k = self->n - 1; k >= 0; k--) {
    left[order[k]] = fmin (left[order[k]], end - wide[order[k]]);
    end = left[order[k]] - 10;
  }
  for (int i = 0; i < self->n; i++) {
    GdkRGBA ink = lam_palette (widget, i == self->chosen || i == self->hover ? LAM_COLOUR_TEXT : LAM_COLOUR_DIM);
    int w, h;
    pango_layout_get_pixel_size (layouts[i], &w, &h);
    gtk_snapshot_save (snapshot);
    gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (rint (left[i]), rint (WORDS - h / 2.0)));
    gtk_snapshot_append_layout (snapshot, layouts[i], &ink);
    gtk_snapshot_restore (snapshot);
    g_object_unref (layouts[i]);
  }
}

static void
lam_times_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamTimesView *self = LAM_TIMES_VIEW (widget);
  draw_ruler (self, snapshot);
  if (self->dragging) { /* where it was */
    GdkRGBA dim = lam_palette (widget, LAM_COLOUR_DIM);
    gtk_snapshot_append_color (snapshot, &dim, &GRAPHENE_RECT_INIT (x_of (self, self->start) - 1, LINE - 6, 2, 13));
  }
  for (int i = 0; i < self->n; i++)
    if (i != self->chosen)
      draw_handle (self, snapshot, x_of (self, lam_parameter_get_number (self->times[i])), i == self->hover);
  if (self->chosen >= 0)
    draw_handle (self, snapshot, x_of (self, lam_parameter_get_number (self->times[self->chosen])), TRUE);
  draw_words (self, snapshot);
}

static void
lam_times_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                        int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : HEIGHT;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : HEIGHT;
}

/* ---- editing ---- */

/* On the raster, and in steps that the eye can follow: a hundredth of the value's decade. @fine: the raster alone. */
static double
snap (double ms, gboolean fine)
{
  double step = fine || !(ms > 0) ? RASTER : fmax (RASTER, pow (10, floor (log10 (ms)) - 2));
  return rint (ms / step) * step;
}

static void
set_time (LamTimesView *self, double ms, gboolean fine)
{
  LamParameter *p = self->times[self->chosen];
  double v = snap (ms, fine), least = lam_parameter_get_min (p);
  if (!(v > 0))
    v = least;
  else /* the ends are on a raster of their own */
    v = CLAMP (v, fmax (least, 0), lam_parameter_get_max (p));
  if (v != lam_parameter_get_number (p))
    lam_parameter_edit (p, g_variant_new_double (v), NULL);
  say (self, self->chosen);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamTimesView *self)
{
  int i = time_at (self, x, y);
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (i < 0) {
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  g_autofree char *name = g_strdup_printf (_ ("Set %s"), lam_parameter_get_label (self->times[i]));
  self->start = lam_parameter_get_number (self->times[i]);
  self->dragging = TRUE;
  lam_sequence_session_begin_drag (self->session, name);
  choose (self, i);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamTimesView *self)
{
  if (!self->dragging || dx == 0)
    return;
  gboolean fine =
      (gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture)) & GDK_CONTROL_MASK) != 0;
  set_time (self, ms_at (self, x_of (self, self->start) + (fine ? dx / 10 : dx)), fine);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamTimesView *self)
{
  if (!self->dragging)
    return;
  self->dragging = FALSE;
  lam_sequence_session_end_drag (self->session);
  find_scale (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamTimesView *self)
{
  int i = time_at (self, x, y);
  if (i == self->hover || self->dragging)
    return;
  self->hover = i;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), i >= 0 ? "ew-resize" : NULL);
  say (self, i >= 0 ? i : self->chosen);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
leave_cb (GtkEventControllerMotion *controller, LamTimesView *self)
{
  self->hover = -1;
  g_signal_emit (self, describe_signal, 0, NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Left and right choose, up and down change, as in the train. */
static gboolean
walk_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTimesView *self = LAM_TIMES_VIEW (widget);
  int step = g_variant_get_int32 (args);
  if (self->n == 0)
    return FALSE;
  choose (self, self->chosen < 0 ? (step > 0 ? 0 : self->n - 1) : CLAMP (self->chosen + step, 0, self->n - 1));
  return TRUE;
}

static gboolean
change_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTimesView *self = LAM_TIMES_VIEW (widget);
  if (self->chosen < 0)
    return FALSE;
  LamParameter *p = self->times[self->chosen];
  /* A tenth of the value's decade: of 10 ms one, of 8 s a hundred. */
  double now = fmax (lam_parameter_get_number (p), 0), by = g_variant_get_double (args),
         step = now > 0 ? pow (10, floor (log10 (now)) - 1) : 0.1;
  set_time (self, now + copysign (fmax (step * fabs (by), RASTER), by), TRUE);
  find_scale (self);
  return TRUE;
}

static void
focus_cb (GtkWidget *widget, GParamSpec *pspec, gpointer data)
{
  LamTimesView *self = LAM_TIMES_VIEW (widget);
  if (gtk_widget_has_focus (widget) && self->chosen < 0 && self->n > 0)
    choose (self, 0);
}

/* ---- following the session ---- */

static void
find_times (LamSequenceSession *session, LamTimesView *self)
{
  GListModel *rows = G_LIST_MODEL (lam_sequence_session_get_protocol (session));
  const char *chosen = self->chosen >= 0 ? g_intern_string (lam_parameter_get_id (self->times[self->chosen])) : NULL;
  for (int i = 0; i < self->n; i++)
    g_object_unref (self->times[i]);
  self->n = 0;
  self->chosen = self->hover = -1;
  for (guint i = 0; i < g_list_model_get_n_items (rows) && self->n < MOST; i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (rows, i);
    int n = 0;
    /* A list of several is the train's. */
    lam_sequence_session_get_list (session, lam_parameter_get_id (p), &n);
    if (lam_parameter_get_kind (p) != LAM_PARAMETER_NUMBER || g_strcmp0 (lam_parameter_get_unit (p), "ms") != 0
        || n != 1)
      continue;
    if (g_strcmp0 (chosen, lam_parameter_get_id (p)) == 0)
      self->chosen = self->n;
    self->times[self->n++] = g_steal_pointer (&p);
  }
  gtk_widget_set_visible (GTK_WIDGET (self), self->n > 0);
  if (!self->dragging)
    find_scale (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* A row was edited, or undone. */
static void
result_cb (LamSequenceSession *session, LamTimesView *self)
{
  if (!self->dragging)
    find_scale (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_times_view_dispose (GObject *object)
{
  LamTimesView *self = LAM_TIMES_VIEW (object);
  for (int i = 0; i < self->n; i++)
    g_object_unref (self->times[i]);
  self->n = 0;
  self->chosen = self->hover = -1;
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_times_view_parent_class)->dispose (object);
}

static void
lam_times_view_class_init (LamTimesViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_times_view_dispose;
  widget_class->snapshot = lam_times_view_snapshot;
  widget_class->measure = lam_times_view_measure;
  gtk_widget_class_set_css_name (widget_class, "timesview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  describe_signal = g_signal_new ("describe", LAM_TYPE_TIMES_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_STRING);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, walk_key, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, walk_key, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Up, 0, change_key, "d", 1.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Down, 0, change_key, "d", -1.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Page_Up, 0, change_key, "d", 10.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Page_Down, 0, change_key, "d", -10.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Up, GDK_CONTROL_MASK, change_key, "d", 0.1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Down, GDK_CONTROL_MASK, change_key, "d", -0.1);
}

static void
lam_times_view_init (LamTimesView *self)
{
  self->chosen = self->hover = -1;
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
  g_signal_connect (self, "notify::has-focus", G_CALLBACK (focus_cb), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Times: left and right choose one, up and down change it"), -1);
}

GtkWidget *
lam_times_view_new (LamSequenceSession *session)
{
  LamTimesView *self = g_object_new (LAM_TYPE_TIMES_VIEW, NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (session, "protocol-changed", G_CALLBACK (find_times), self, 0);
  g_signal_connect_object (session, "train-changed", G_CALLBACK (find_times), self, 0);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  find_times (session, self);
  return GTK_WIDGET (self);
}
