#include "config.h"

#include "states-view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "draw/canvas.h"
#include "palette.h"

#define MOST_TICKS 64
#define LEFT 46
#define RIGHT 66 /* the scale of colours */
#define TOP 10
#define BOTTOM 38
#define SCALE_WIDTH 12

struct _LamStatesView {
  GtkWidget parent_instance;
  LamSequenceStates *states;
  GdkTexture *texture, *scale;
  LamStatesPicture *shown; /* whose texture it is */
  gboolean has_cursor;
  double time; /* of the cursor */
  int order;
  double pointer_x, pointer_y;
};

G_DEFINE_FINAL_TYPE (LamStatesView, lam_states_view, GTK_TYPE_WIDGET)

static guint describe_signal;

/* ---- where things are ---- */

static graphene_rect_t
plot (LamStatesView *self)
{
  return GRAPHENE_RECT_INIT (LEFT, TOP, MAX (gtk_widget_get_width (GTK_WIDGET (self)) - LEFT - RIGHT, 10),
                             MAX (gtk_widget_get_height (GTK_WIDGET (self)) - TOP - BOTTOM, 10));
}

static int
rows (const LamStatesPicture *p)
{
  return p->longitudinal ? p->orders : 2 * p->orders - 1;
}

static double
x_of (LamStatesView *self, double time)
{
  graphene_rect_t r = plot (self);
  return r.origin.x + (time - self->shown->begin) / (self->shown->end - self->shown->begin) * r.size.width;
}

/* The middle of a row. */
static double
y_of (LamStatesView *self, double order)
{
  graphene_rect_t r = plot (self);
  return r.origin.y + (self->shown->orders - order - 0.5) / rows (self->shown) * r.size.height;
}

static gboolean
is_drawn (LamStatesView *self)
{
  return self->shown != NULL && self->shown->states.columns > 0 && self->texture != NULL;
}

static double
middle_of (const LamStatesPicture *p, int64_t column)
{
  return (p->edge[column] + p->edge[column + 1]) / 2;
}

void
lam_states_view_get_place (LamStatesView *self, int64_t column, int order, double *x, double *y)
{
  g_return_if_fail (is_drawn (self));
  *x = x_of (self, middle_of (self->shown, column));
  *y = y_of (self, order);
}

/* FALSE outside the map. */
static gboolean
hit (LamStatesView *self, double x, double y, double *time, int *order)
{
  graphene_rect_t r = plot (self);
  if (!is_drawn (self) || !graphene_rect_contains_point (&r, &GRAPHENE_POINT_INIT (x, y)))
    return FALSE;
  *time = self->shown->begin + (x - r.origin.x) / r.size.width * (self->shown->end - self->shown->begin);
  int row = (int) ((y - r.origin.y) / r.size.height * rows (self->shown));
  *order = self->shown->orders - 1 - CLAMP (row, 0, rows (self->shown) - 1);
  return TRUE;
}

/* ---- words ---- */

static char *
format_time (double s)
{
  return s >= 1 ? g_strdup_printf (_ ("%.4g s"), s) : g_strdup_printf (_ ("%.4g ms"), s * 1e3);
}

/* "F+3", "F−2", "Z1" */
static char *
state_name (int order, gboolean longitudinal)
{
  return longitudinal ? g_strdup_printf ("Z%d", ABS (order))
         : order == 0 ? g_strdup ("F0")
                      : g_strdup_printf ("F%s%d", order < 0 ? "−" : "+", ABS (order));
}

static const char *
kind_name (int kind)
{
  return kind & LAM_LOOK_SAMPLE    ? _ ("at a sample")
         : kind & LAM_LOOK_PULSE   ? _ ("after a pulse")
         : kind & LAM_LOOK_WINDING ? _ ("after winding")
                                   : _ ("at the end");
}

static char *
describe (LamStatesView *self, double time, int order)
{
  const LamStatesPicture *p = self->shown;
  int64_t column = lam_states_picture_column (p, time);
  double value = lam_states_picture_value (p, column, order);
  if (!isfinite (value))
    return NULL;
  g_autofree char *state = state_name (order, p->longitudinal), *at = format_time (p->states.time[column]);
  /* TRANSLATORS: "|F+3| 0.0123 · 1.250 s, after a pulse" */
  return g_strdup_printf (_ ("|%s| %.3g · %s, %s"), state, value, at, kind_name (p->states.kind[column]));
}

char *
lam_states_view_describe_path (LamStatesView *self)
{
  double time;
  int order;
  const LamStatesPicture *p = self->shown;
  if (!lam_sequence_states_get_target (self->states, &time, &order) || !is_drawn (self))
    return NULL;
  g_autofree char *state = state_name (order, p->longitudinal),
                  *at = format_time (p->states.time[MAX (lam_states_picture_column (p, time), 0)]);
  if (p->path_obstacle != NULL)
    return g_strdup_printf (_ ("No path is shown: %s."), p->path_obstacle);
  if (p->path.n == 0)
    return g_strdup_printf (_ ("No path leads to %s at %s."), state, at);
  /* TRANSLATORS: of all coherence pathways that add up to a state, the strongest one. */
  return g_strdup_printf (p->path.from_before
                              ? _ ("Strongest path to %s at %s: %.3g, where all paths add up to %.3g; it begins in the "
                                   "playing before.")
                              : _ ("Strongest path to %s at %s: %.3g, where all paths add up to %.3g."),
                          state, at, p->path.amplitude, p->path_state);
}

static void
say (LamStatesView *self)
{
  g_autofree char *text = self->has_cursor && is_drawn (self) ? describe (self, self->time, self->order) : NULL;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  g_signal_emit (self, describe_signal, 0, text);
}

/* ---- drawing ---- */

static void
draw_text (LamStatesView *self, GtkSnapshot *snapshot, const char *text, double x, double y, double align)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, 0.8, LAM_COLOUR_DIM, x, y, align);
}

static void
draw_axes (LamStatesView *self, GtkSnapshot *snapshot)
{
  const LamStatesPicture *p = self->shown;
  graphene_rect_t r = plot (self);
  GdkRGBA grid = lam_palette (GTK_WIDGET (self), LAM_COLOUR_GRID);
  double low = p->longitudinal ? 0 : -(p->orders - 1), bottom = r.origin.y + r.size.height, ticks[MOST_TICKS + 1], step;
  int n = lam_canvas_ticks (low - 0.5, p->orders - 0.5,
                            CLAMP ((int) (r.size.height / 26), 1, MIN (rows (p), MOST_TICKS)), ticks, &step);
  for (int i = 0; i < n; i++) {
    double k = ticks[i];
    g_autofree char *text = g_strdup_printf (k < 0 ? "−%g" : k > 0 && !p->longitudinal ? "+%g" : "%g", fabs (k));
    if (k == floor (k)) /* there is nothing between two orders */
      draw_text (self, snapshot, text, LEFT - 8, y_of (self, k), 1);
  }
  double unit = p->end >= 1 ? 1 : 1e-3;
  n = lam_canvas_ticks (p->begin / unit, p->end / unit, CLAMP ((int) (r.size.width / 70), 1, MOST_TICKS), ticks, &step);
  for (int i = 0; i < n; i++) {
    g_autofree char *text = g_strdup_printf ("%.10g", ticks[i]);
    double x = x_of (self, ticks[i] * unit);
    gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (floor (x), bottom, 1, 4));
    draw_text (self, snapshot, text, x, bottom + 11, 0.5);
  }
  draw_text (self, snapshot, unit == 1 ? _ ("time, s") : _ ("time, ms"), r.origin.x + r.size.width / 2, bottom + 27,
             0.5);
}

/* The colours, and what they stand for. */
static void
draw_scale (LamStatesView *self, GtkSnapshot *snapshot)
{
  const LamStatesPicture *p = self->shown;
  graphene_rect_t r = plot (self);
  double x = r.origin.x + r.size.width + 10;
  gtk_snapshot_append_texture (snapshot, self->scale, &GRAPHENE_RECT_INIT (x, r.origin.y, SCALE_WIDTH, r.size.height));
  for (int i = 0; i < 4; i++) {
    double at = i / 3.0, value = p->logarithmic ? p->peak * pow (p->floor / p->peak, at) : p->peak * (1 - at);
    g_autofree char *text = g_strdup_printf ("%.2g", p->peak > 0 ? value : 0);
    draw_text (self, snapshot, text, x + SCALE_WIDTH + 5, r.origin.y + at * r.size.height, 0);
  }
}

/* On order 0, where samples are taken: dots, or a line where they would touch each other. */
static void
draw_samples (LamStatesView *self, cairo_t *cr)
{
  const LamStatesPicture *p = self->shown;
  GdkRGBA colour = {1, 1, 1, 0.9}, edge = {0, 0, 0, 0.7};
  double y = y_of (self, 0), last = -INFINITY, least = INFINITY;
  if (p->longitudinal)
    return;
  for (int64_t c = 0; c < p->states.columns; c++)
    if (p->states.kind[c] & LAM_LOOK_SAMPLE) {
      double x = x_of (self, middle_of (p, c));
      least = fmin (least, x - last);
      last = x;
    }
  gboolean dots = least >= 7;
  last = -INFINITY;
  for (int64_t c = 0; c < p->states.columns; c++) {
    double x = x_of (self, middle_of (p, c));
    if (!(p->states.kind[c] & LAM_LOOK_SAMPLE) || (!dots && x < last + 2))
      continue;
    last = x;
    if (!dots)
      cairo_rectangle (cr, floor (x), floor (y), 1, 1.5);
    else {
      cairo_new_sub_path (cr);
      cairo_arc (cr, x, y, 2.5, 0, 2 * G_PI);
    }
  }
  gdk_cairo_set_source_rgba (cr, &edge);
  cairo_set_line_width (cr, 2);
  if (dots)
    cairo_stroke_preserve (cr);
  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_fill (cr);
}

/* Solid where it is transverse, dashed where it is longitudinal; black under white, to be seen on every colour. */
static void
draw_path (LamStatesView *self, cairo_t *cr)
{
  static const double dash[] = {4, 3};
  const LamStatesPicture *p = self->shown;
  const LamPathway *path = &p->path;
  for (int under = 1; under >= 0; under--) {
    cairo_set_source_rgb (cr, under ? 0 : 1, under ? 0 : 0.95, under ? 0 : 0.9);
    cairo_set_line_width (cr, under ? 4 : 1.8);
    cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
    for (int64_t i = 0; i + 1 < path->n; i++) {
      int64_t from = p->states.column[path->first + i], to = p->states.column[path->first + i + 1];
      int a = path->order[i], b = path->order[i + 1];
      gboolean solid = path->transverse[i] && path->transverse[i + 1];
      cairo_set_dash (cr, dash, solid || under ? 0 : 2, 0);
      cairo_move_to (cr, x_of (self, middle_of (p, from)), y_of (self, p->longitudinal ? ABS (a) : a));
      cairo_line_to (cr, x_of (self, middle_of (p, to)), y_of (self, p->longitudinal ? ABS (b) : b));
      cairo_stroke (cr);
    }
    if (path->n == 0)
      continue;
    int64_t last = p->states.column[path->first + path->n - 1];
    int order = path->order[path->n - 1];
    cairo_set_dash (cr, NULL, 0, 0);
    cairo_arc (cr, x_of (self, middle_of (p, last)), y_of (self, p->longitudinal ? ABS (order) : order), 5, 0,
               2 * G_PI);
    cairo_stroke (cr);
  }
}

static void
draw_cursor (LamStatesView *self, GtkSnapshot *snapshot)
{
  static const GdkRGBA light = {1, 1, 1, 0.9}, dark = {0, 0, 0, 0.8};
  const LamStatesPicture *p = self->shown;
  int64_t column = lam_states_picture_column (p, self->time);
  if (!self->has_cursor || !isfinite (lam_states_picture_value (p, column, self->order)))
    return;
  graphene_rect_t r = plot (self);
  double height = r.size.height / rows (p), top = y_of (self, self->order) - height / 2,
         left = x_of (self, p->edge[column]), right = x_of (self, p->edge[column + 1]);
  for (int i = 1; i >= 0; i--) {
    GskRoundedRect box;
    float width[4] = {1, 1, 1, 1};
    GdkRGBA c[4] = {i ? dark : light, i ? dark : light, i ? dark : light, i ? dark : light};
    gsk_rounded_rect_init_from_rect (&box,
                                     &GRAPHENE_RECT_INIT (floor (left) - 1 - i, floor (top) - 1 - i,
                                                          fmax (right - left, 2) + 2 + 2 * i,
                                                          fmax (height, 2) + 2 + 2 * i),
                                     2);
    gtk_snapshot_append_border (snapshot, &box, width, c);
  }
}

static void
lam_states_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamStatesView *self = LAM_STATES_VIEW (widget);
  graphene_rect_t r = plot (self);
  if (!is_drawn (self))
    return;
  gtk_snapshot_append_texture (snapshot, self->texture, &r);
  draw_axes (self, snapshot);
  draw_scale (self, snapshot);
  gtk_snapshot_push_clip (snapshot, &r);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &r);
  draw_samples (self, cr);
  draw_path (self, cr);
  cairo_destroy (cr);
  draw_cursor (self, snapshot);
  gtk_snapshot_pop (snapshot);
}

static void
lam_states_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                         int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 260 : 140;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 700 : 420;
}

static void
tell_size (LamStatesView *self)
{
  graphene_rect_t r = plot (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  lam_sequence_states_set_size (self->states, (int) r.size.width * scale, (int) r.size.height * scale);
}

static void
lam_states_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  tell_size (LAM_STATES_VIEW (widget));
}

static void
lam_states_view_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_states_view_parent_class)->map (widget);
  lam_sequence_states_set_active (LAM_STATES_VIEW (widget)->states, TRUE);
}

static void
lam_states_view_unmap (GtkWidget *widget)
{
  lam_sequence_states_set_active (LAM_STATES_VIEW (widget)->states, FALSE);
  GTK_WIDGET_CLASS (lam_states_view_parent_class)->unmap (widget);
}

/* ---- what changes ---- */

static void
release_picture (gpointer data)
{
  lam_states_picture_unref (data);
}

static void
changed_cb (LamSequenceStates *states, LamStatesView *self)
{
  LamStatesPicture *p = lam_sequence_states_get_picture (states);
  g_clear_object (&self->texture);
  g_clear_pointer (&self->shown, lam_states_picture_unref);
  self->shown = lam_states_picture_ref (p);
  if (p->pixels != NULL) {
    /* The pixels stay the picture's. */
    g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (p->pixels, (gsize) p->width * p->height * 4, release_picture,
                                                           lam_states_picture_ref (p));
    self->texture = gdk_memory_texture_new (p->width, p->height, GDK_MEMORY_DEFAULT, bytes, (gsize) p->width * 4);
  }
  if (self->has_cursor)
    say (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_cursor (LamStatesView *self, gboolean has, double time, int order)
{
  if (!has && !self->has_cursor)
    return;
  self->has_cursor = has;
  self->time = time;
  self->order = order;
  say (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamStatesView *self)
{
  double time = 0;
  int order = 0;
  /* GTK tells of it again when things were drawn: a cursor that was moved by keys stays. */
  if (x == self->pointer_x && y == self->pointer_y)
    return;
  self->pointer_x = x;
  self->pointer_y = y;
  gboolean has = hit (self, x, y, &time, &order);
  set_cursor (self, has, time, order);
}

/* By @factor about @time. */
static void
zoom (LamStatesView *self, double time, double factor)
{
  double from, to, whole = self->shown->edge[self->shown->states.columns], at = time / whole;
  lam_sequence_states_get_range (self->states, &from, &to);
  double span = CLAMP ((to - from) * factor, 1e-4, 1), part = (at - from) / (to - from);
  lam_sequence_states_set_range (self->states, at - part * span, at - part * span + span);
}

/* The wheel zooms time at the pointer, with Shift it moves along. */
static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LamStatesView *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  double time, from, to;
  int order;
  if (!hit (self, self->pointer_x, self->pointer_y, &time, &order))
    return FALSE;
  lam_sequence_states_get_range (self->states, &from, &to);
  if (dx != 0 || (state & GDK_SHIFT_MASK)) {
    double step = (dx != 0 ? dx : dy) * 0.1 * (to - from);
    lam_sequence_states_set_range (self->states, from + step, to + step);
  } else
    zoom (self, time, pow (1.25, dy));
  return TRUE;
}

static gboolean
zoom_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamStatesView *self = LAM_STATES_VIEW (widget);
  double factor = g_variant_get_double (args);
  if (!is_drawn (self))
    return FALSE;
  if (factor == 0)
    lam_sequence_states_set_range (self->states, 0, 1);
  else
    zoom (self, self->has_cursor ? self->time : (self->shown->begin + self->shown->end) / 2, factor);
  return TRUE;
}

static void
leave_cb (GtkEventControllerMotion *controller, LamStatesView *self)
{
  set_cursor (self, FALSE, 0, 0);
}

static void
click_cb (GtkGestureClick *gesture, int n, double x, double y, LamStatesView *self)
{
  double time;
  int order;
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (hit (self, x, y, &time, &order))
    lam_sequence_states_set_target (self->states, time, order);
  else
    lam_sequence_states_clear_target (self->states);
}

/* The cursor by keys: to the next column that is a pixel on, or the next order. */
static gboolean
walk_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamStatesView *self = LAM_STATES_VIEW (widget);
  int across, up;
  g_variant_get (args, "(ii)", &across, &up);
  if (!is_drawn (self))
    return FALSE;
  const LamStatesPicture *p = self->shown;
  if (!self->has_cursor) {
    set_cursor (self, TRUE, p->states.time[0], 0);
    return TRUE;
  }
  int64_t last = p->states.columns - 1, column = CLAMP (lam_states_picture_column (p, self->time) + across, 0, last);
  double from, to, at = middle_of (p, column) / p->edge[p->states.columns];
  lam_sequence_states_get_range (self->states, &from, &to);
  if (at < from || at > to) /* what is walked to is seen */
    lam_sequence_states_set_range (self->states, at - (to - from) / 2, at + (to - from) / 2);
  set_cursor (self, TRUE, middle_of (p, column),
              CLAMP (self->order + up, p->longitudinal ? 0 : -(p->orders - 1), p->orders - 1));
  return TRUE;
}

static gboolean
choose_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamStatesView *self = LAM_STATES_VIEW (widget);
  if (!self->has_cursor)
    return FALSE;
  lam_sequence_states_set_target (self->states, self->time, self->order);
  return TRUE;
}

static gboolean
drop_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamStatesView *self = LAM_STATES_VIEW (widget);
  double time;
  int order;
  if (!lam_sequence_states_get_target (self->states, &time, &order))
    return FALSE;
  lam_sequence_states_clear_target (self->states);
  return TRUE;
}

static void
make_colours (LamStatesView *self)
{
  guint8 rgba[256 * 4];
  guint32 scale[256];
  lam_colour_map_fill (LAM_COLOUR_MAP_VIRIDIS, rgba);
  lam_sequence_states_set_colours (self->states, rgba);
  for (int i = 0; i < 256; i++)
    scale[255 - i] = 0xff000000u | (guint32) rgba[4 * i] << 16 | (guint32) rgba[4 * i + 1] << 8 | rgba[4 * i + 2];
  g_autoptr (GBytes) bytes = g_bytes_new (scale, sizeof scale);
  self->scale = gdk_memory_texture_new (1, 256, GDK_MEMORY_DEFAULT, bytes, 4);
}

static void
lam_states_view_dispose (GObject *object)
{
  LamStatesView *self = LAM_STATES_VIEW (object);
  g_clear_object (&self->texture);
  g_clear_object (&self->scale);
  g_clear_pointer (&self->shown, lam_states_picture_unref);
  if (self->states != NULL)
    lam_sequence_states_close (self->states);
  g_clear_object (&self->states);
  G_OBJECT_CLASS (lam_states_view_parent_class)->dispose (object);
}

static void
lam_states_view_class_init (LamStatesViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    int across, up;
  } keys[] = {{GDK_KEY_Left, -1, 0},       {GDK_KEY_Right, 1, 0},     {GDK_KEY_Up, 0, 1},
              {GDK_KEY_Down, 0, -1},       {GDK_KEY_Page_Up, -20, 0}, {GDK_KEY_Page_Down, 20, 0},
              {GDK_KEY_Home, -1000000, 0}, {GDK_KEY_End, 1000000, 0}};
  G_OBJECT_CLASS (klass)->dispose = lam_states_view_dispose;
  widget_class->snapshot = lam_states_view_snapshot;
  widget_class->measure = lam_states_view_measure;
  widget_class->size_allocate = lam_states_view_size_allocate;
  widget_class->map = lam_states_view_map;
  widget_class->unmap = lam_states_view_unmap;
  gtk_widget_class_set_css_name (widget_class, "statesview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  describe_signal = g_signal_new ("describe", LAM_TYPE_STATES_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_STRING);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (widget_class, keys[i].key, 0, walk_key, "(ii)", keys[i].across, keys[i].up);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, choose_key, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_space, 0, choose_key, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, drop_key, NULL);
  static const struct {
    guint key;
    double factor;
  } zooms[] = {
      {GDK_KEY_plus, 0.5}, {GDK_KEY_KP_Add, 0.5}, {GDK_KEY_minus, 2}, {GDK_KEY_KP_Subtract, 2}, {GDK_KEY_0, 0}};
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    gtk_widget_class_add_binding (widget_class, zooms[i].key, 0, zoom_key, "d", zooms[i].factor);
}

static void
lam_states_view_init (LamStatesView *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  GtkEventController *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), scroll);
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "pressed", G_CALLBACK (click_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  g_signal_connect (self, "notify::scale-factor", G_CALLBACK (tell_size), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Map of states: arrows move over time and order, Enter shows the path there"), -1);
}

GtkWidget *
lam_states_view_new (LamSequenceStates *states)
{
  LamStatesView *self = g_object_new (LAM_TYPE_STATES_VIEW, NULL);
  self->states = g_object_ref (states);
  make_colours (self);
  g_signal_connect_object (states, "changed", G_CALLBACK (changed_cb), self, 0);
  return GTK_WIDGET (self);
}
