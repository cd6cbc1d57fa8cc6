#include "config.h"

#include "tissue-chart.h"

#include <glib/gi18n.h>
#include <math.h>

#include "model/tissue-presets.h"
#include "palette.h"
#include "tissue-handle.h"

#define LEFT 48
#define RIGHT 14
#define TOP 10
#define BOTTOM 40
#define REACH 12 /* px: how far from a handle or dot the hand may be */

struct _LamTissueChart {
  GtkWidget parent_instance;
  LamSequenceSession *session;
  GPtrArray *handles;     /* of LamTissueHandle, in the order of the tissues; children */
  double low[2], high[2]; /* ms, of T1 and T2 */
  LamTissueHandle *dragged;
  double start[2]; /* of the dragged one */
  int preset;      /* under the pointer, -1: none */
};

G_DEFINE_FINAL_TYPE (LamTissueChart, lam_tissue_chart, GTK_TYPE_WIDGET)

enum { DESCRIBE, REFUSED, N_SIGNALS };
static guint signals[N_SIGNALS];

static const char *const quantity[2] = {"T1", "T2"};

/* ---- where things are ---- */

static graphene_rect_t
plot (LamTissueChart *self)
{
  return GRAPHENE_RECT_INIT (LEFT, TOP, MAX (gtk_widget_get_width (GTK_WIDGET (self)) - LEFT - RIGHT, 10),
                             MAX (gtk_widget_get_height (GTK_WIDGET (self)) - TOP - BOTTOM, 10));
}

void
lam_tissue_chart_get_place (LamTissueChart *self, double t1, double t2, double *x, double *y)
{
  graphene_rect_t r = plot (self);
  *x = r.origin.x + log (t1 / self->low[0]) / log (self->high[0] / self->low[0]) * r.size.width;
  *y = r.origin.y + (1 - log (t2 / self->low[1]) / log (self->high[1] / self->low[1])) * r.size.height;
}

static void
times_at (LamTissueChart *self, double x, double y, double *t1, double *t2)
{
  graphene_rect_t r = plot (self);
  double u = CLAMP ((x - r.origin.x) / r.size.width, 0, 1), v = CLAMP (1 - (y - r.origin.y) / r.size.height, 0, 1);
  *t1 = self->low[0] * pow (self->high[0] / self->low[0], u);
  *t2 = self->low[1] * pow (self->high[1] / self->low[1], v);
}

/* As many digits as such a time is known by. */
static double
rounded (double ms)
{
  double unit = ms >= 100 ? 1 : ms >= 10 ? 0.1 : 0.01;
  return rint (ms / unit) * unit;
}

/* Room for every tissue; grows only, so that nothing jumps. */
static void
fit (LamTissueChart *self)
{
  for (guint i = 0; i < self->handles->len; i++)
    for (int q = 0; q < 2; q++) {
      double t =
          lam_tissue_item_get (lam_tissue_handle_get_item (g_ptr_array_index (self->handles, i)), quantity[q], NULL);
      if (isfinite (t) && t > 0) {
        self->low[q] = fmin (self->low[q], t / 1.2);
        self->high[q] = fmax (self->high[q], t * 1.2);
      }
    }
}

static LamTissueHandle *
handle_at (LamTissueChart *self, double x, double y)
{
  LamTissueHandle *best = NULL;
  double nearest = REACH, hx, hy;
  for (guint i = 0; i < self->handles->len; i++) {
    LamTissueHandle *h = g_ptr_array_index (self->handles, i);
    LamTissueItem *item = lam_tissue_handle_get_item (h);
    lam_tissue_chart_get_place (self, lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL),
                                &hx, &hy);
    if (hypot (x - hx, y - hy) <= nearest) {
      nearest = hypot (x - hx, y - hy);
      best = h;
    }
  }
  return best;
}

static int
preset_at (LamTissueChart *self, double x, double y)
{
  int best = -1;
  double nearest = REACH * 0.6, px, py, t1, t2;
  for (int i = 0; i < lam_tissue_preset_count (); i++) {
    const char *source;
    g_autofree char *name = lam_tissue_preset_describe (i, &t1, &t2, &source);
    lam_tissue_chart_get_place (self, t1, t2, &px, &py);
    if (hypot (x - px, y - py) <= nearest) {
      nearest = hypot (x - px, y - py);
      best = i;
    }
  }
  return best;
}

/* ---- words ---- */

static void
say_handle (LamTissueChart *self, LamTissueHandle *h)
{
  LamTissueItem *item = lam_tissue_handle_get_item (h);
  g_autofree char *text =
      g_strdup_printf (_ ("%s: T1 %.4g ms, T2 %.4g ms"), lam_tissue_item_get_name (item),
                       lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL));
  g_signal_emit (self, signals[DESCRIBE], 0, text);
}

static void
say_place (LamTissueChart *self, double x, double y)
{
  double t1, t2;
  const char *source;
  if (self->preset >= 0) {
    g_autofree char *name = lam_tissue_preset_describe (self->preset, &t1, &t2, &source);
    g_autofree char *text = g_strdup_printf (_ ("%s: T1 %.4g ms, T2 %.4g ms · click adds it"), name, t1, t2);
    g_signal_emit (self, signals[DESCRIBE], 0, text);
    return;
  }
  times_at (self, x, y, &t1, &t2);
  g_autofree char *text =
      g_strdup_printf (_ ("T1 %.4g ms, T2 %.4g ms · double click adds a tissue"), rounded (t1), rounded (t2));
  g_signal_emit (self, signals[DESCRIBE], 0, text);
}

/* ---- drawing ---- */

static void
draw_text (LamTissueChart *self, GtkSnapshot *snapshot, const char *text, LamColour role, double x, double y,
           double align)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, 0.8, role, x, y, align);
}

static void
draw_ticks (LamTissueChart *self, GtkSnapshot *snapshot)
{
  graphene_rect_t r = plot (self);
  GdkRGBA grid = lam_palette (GTK_WIDGET (self), LAM_COLOUR_GRID);
  double bottom = r.origin.y + r.size.height, x, y;
  for (int q = 0; q < 2; q++) {
    double last = q ? INFINITY : -INFINITY;
    for (int e = (int) floor (log10 (self->low[q])); e <= (int) ceil (log10 (self->high[q])); e++)
      for (int k = 0; k < 3; k++) {
        double t = pow (10, e) * (int[]){1, 2, 5}[k];
        if (t < self->low[q] || t > self->high[q])
          continue;
        g_autofree char *text = g_strdup_printf ("%g", t);
        lam_tissue_chart_get_place (self, q ? self->low[0] : t, q ? t : self->low[1], &x, &y);
        if (q)
          gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (r.origin.x, floor (y), r.size.width, 1));
        else
          gtk_snapshot_append_color (snapshot, &grid, &GRAPHENE_RECT_INIT (floor (x), r.origin.y, 1, r.size.height));
        if (q ? y > last - 16 : x < last + 34)
          continue;
        last = q ? y : x;
        draw_text (self, snapshot, text, LAM_COLOUR_DIM, q ? LEFT - 6 : x, q ? y : bottom + 10, q ? 1 : 0.5);
      }
  }
  draw_text (self, snapshot, _ ("T1, ms"), LAM_COLOUR_DIM, r.origin.x + r.size.width / 2, bottom + 28, 0.5);
  draw_text (self, snapshot, _ ("T2, ms"), LAM_COLOUR_DIM, r.origin.x + 6, r.origin.y + 10, 0);
}

/* T2 above T1, where nothing is found. */
static void
draw_forbidden (LamTissueChart *self, GtkSnapshot *snapshot)
{
  graphene_rect_t r = plot (self);
  GdkRGBA colour = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_DIM, 0.35),
          line = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_DIM, 0.9);
  double low = fmin (self->low[0], self->low[1]), high = fmax (self->high[0], self->high[1]), x0, y0, x1, y1;
  lam_tissue_chart_get_place (self, low, low, &x0, &y0);
  lam_tissue_chart_get_place (self, high, high, &x1, &y1);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &r);
  cairo_rectangle (cr, r.origin.x, r.origin.y, r.size.width, r.size.height);
  cairo_clip (cr);
  gdk_cairo_set_source_rgba (cr, &line);
  cairo_set_line_width (cr, 1.2);
  cairo_move_to (cr, x0, y0);
  cairo_line_to (cr, x1, y1);
  cairo_stroke (cr);
  cairo_move_to (cr, x0, y0);
  cairo_line_to (cr, x1, y1);
  cairo_line_to (cr, x0, y1);
  cairo_close_path (cr);
  cairo_clip (cr);
  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_set_line_width (cr, 1);
  for (double d = -r.size.height; d < r.size.width; d += 8) {
    cairo_move_to (cr, r.origin.x + d, r.origin.y);
    cairo_line_to (cr, r.origin.x + d + r.size.height, r.origin.y + r.size.height);
  }
  cairo_stroke (cr);
  cairo_destroy (cr);
  lam_tissue_chart_get_place (self, self->low[0], self->low[0], &x0, &y0);
  if (y0 > r.origin.y + 30)
    draw_text (self, snapshot, _ ("T2 above T1"), LAM_COLOUR_TEXT, r.origin.x + 8, (r.origin.y + y0) / 2, 0);
}

static void
draw_presets (LamTissueChart *self, GtkSnapshot *snapshot)
{
  GdkRGBA dim = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_DIM, 0.6),
          full = lam_palette (GTK_WIDGET (self), LAM_COLOUR_TEXT);
  double t1, t2, x, y;
  const char *source;
  for (int i = 0; i < lam_tissue_preset_count (); i++) {
    g_autofree char *name = lam_tissue_preset_describe (i, &t1, &t2, &source);
    lam_tissue_chart_get_place (self, t1, t2, &x, &y);
    double radius = i == self->preset ? 4 : 2.5;
    GskRoundedRect dot;
    gsk_rounded_rect_init_from_rect (&dot, &GRAPHENE_RECT_INIT (x - radius, y - radius, 2 * radius, 2 * radius),
                                     radius);
    gtk_snapshot_push_rounded_clip (snapshot, &dot);
    gtk_snapshot_append_color (snapshot, i == self->preset ? &full : &dim, &dot.bounds);
    gtk_snapshot_pop (snapshot);
  }
}

/* Text on paper, beside (@x, @y). */
static void
draw_name (LamTissueChart *self, GtkSnapshot *snapshot, const char *text, double x, double y)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, 0.82);
  graphene_rect_t r = plot (self);
  GdkRGBA paper = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_PAPER, 0.85),
          ink = lam_palette (GTK_WIDGET (self), LAM_COLOUR_TEXT);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  double left = x + 11 + w < r.origin.x + r.size.width ? x + 11 : x - 11 - w, top = y - h / 2.0;
  gtk_snapshot_append_color (snapshot, &paper, &GRAPHENE_RECT_INIT (left - 2, top, w + 4, h));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (floor (left), floor (top)));
  gtk_snapshot_append_layout (snapshot, layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static void
lam_tissue_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamTissueChart *self = LAM_TISSUE_CHART (widget);
  double x, y, t1, t2;
  const char *source;
  draw_ticks (self, snapshot);
  draw_forbidden (self, snapshot);
  draw_presets (self, snapshot);
  for (guint i = 0; i < self->handles->len; i++) {
    LamTissueItem *item = lam_tissue_handle_get_item (g_ptr_array_index (self->handles, i));
    lam_tissue_chart_get_place (self, lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL),
                                &x, &y);
    draw_name (self, snapshot, lam_tissue_item_get_name (item), x, y);
  }
  for (guint i = 0; i < self->handles->len; i++)
    gtk_widget_snapshot_child (widget, g_ptr_array_index (self->handles, i), snapshot);
  if (self->preset >= 0) {
    g_autofree char *name = lam_tissue_preset_describe (self->preset, &t1, &t2, &source);
    lam_tissue_chart_get_place (self, t1, t2, &x, &y);
    draw_name (self, snapshot, name, x, y);
  }
}

static void
lam_tissue_chart_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                          int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 300 : 240;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 460 : 360;
}

static void
lam_tissue_chart_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamTissueChart *self = LAM_TISSUE_CHART (widget);
  for (guint i = 0; i < self->handles->len; i++) {
    LamTissueHandle *h = g_ptr_array_index (self->handles, i);
    LamTissueItem *item = lam_tissue_handle_get_item (h);
    double x, y;
    int least;
    lam_tissue_chart_get_place (self, lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL),
                                &x, &y);
    gtk_widget_measure (GTK_WIDGET (h), GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    gtk_widget_size_allocate (GTK_WIDGET (h),
                              &(GtkAllocation){(int) rint (x - LAM_TISSUE_HANDLE_SIZE / 2.0),
                                               (int) rint (y - LAM_TISSUE_HANDLE_SIZE / 2.0), LAM_TISSUE_HANDLE_SIZE,
                                               LAM_TISSUE_HANDLE_SIZE},
                              -1);
  }
}

/* ---- editing ---- */

static void
set_times (LamTissueItem *item, double t1, double t2)
{
  const double times[2] = {t1, t2};
  for (int q = 0; q < 2; q++) {
    LamParameter *p = lam_parameter_list_find (lam_tissue_item_get_parameters (item), quantity[q]);
    double ms = rounded (times[q]);
    if (ms != lam_parameter_get_number (p))
      lam_parameter_edit (p, g_variant_new_double (CLAMP (ms, lam_parameter_get_min (p), lam_parameter_get_max (p))),
                          NULL);
  }
}

static void
moved_cb (LamTissueHandle *h, double t1, double t2, LamTissueChart *self)
{
  LamTissueItem *item = lam_tissue_handle_get_item (h);
  double now[2] = {lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL)}, by[2] = {t1, t2};
  for (int q = 0; q < 2; q++) { /* at least the last digit that is shown */
    double next = rounded (now[q] * by[q]), unit = now[q] >= 100 ? 1 : now[q] >= 10 ? 0.1 : 0.01;
    now[q] = by[q] == 1 ? now[q] : next != now[q] ? next : now[q] + (by[q] > 1 ? unit : -unit);
  }
  set_times (item, now[0], now[1]);
  fit (self);
  say_handle (self, h);
}

static void
add (LamTissueChart *self, const char *name, double t1, double t2, const char *source)
{
  g_autoptr (GError) error = NULL;
  if (lam_sequence_session_add_tissue (self->session, name, t1, t2, source, &error) == NULL) {
    g_signal_emit (self, signals[REFUSED], 0, error->message);
    return;
  }
  /* What was added is at the hand. */
  if (self->handles->len > 0)
    gtk_widget_grab_focus (g_ptr_array_index (self->handles, self->handles->len - 1));
}

static void
add_at (LamTissueChart *self, double t1, double t2)
{
  g_autofree char *name = NULL;
  GListModel *tissues = lam_sequence_session_get_tissues (self->session);
  gboolean taken = TRUE;
  for (guint k = g_list_model_get_n_items (tissues) + 1; taken; k++) { /* a name that is free */
    g_free (name);
    name = g_strdup_printf (_ ("Tissue %u"), k);
    taken = FALSE;
    for (guint i = 0; i < g_list_model_get_n_items (tissues); i++) {
      g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, i);
      taken |= g_str_equal (name, lam_tissue_item_get_name (item));
    }
  }
  add (self, name, rounded (t1), rounded (t2), NULL);
}

static gboolean
add_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTissueChart *self = LAM_TISSUE_CHART (widget);
  add_at (self, 1000, 80);
  return TRUE;
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamTissueChart *self)
{
  LamTissueHandle *h = handle_at (self, x, y);
  if (h == NULL) {
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  LamTissueItem *item = lam_tissue_handle_get_item (h);
  g_autofree char *name = g_strdup_printf (_ ("Move %s"), lam_tissue_item_get_name (item));
  gtk_widget_grab_focus (GTK_WIDGET (h));
  self->dragged = h;
  for (int q = 0; q < 2; q++)
    self->start[q] = lam_tissue_item_get (item, quantity[q], NULL);
  lam_sequence_session_begin_drag (self->session, name);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamTissueChart *self)
{
  double x, y, t1, t2;
  if (self->dragged == NULL)
    return;
  lam_tissue_chart_get_place (self, self->start[0], self->start[1], &x, &y);
  times_at (self, x + dx, y + dy, &t1, &t2);
  /* What the hand does not move stays what it was, to the last digit. */
  set_times (lam_tissue_handle_get_item (self->dragged), dx == 0 ? self->start[0] : t1, dy == 0 ? self->start[1] : t2);
  say_handle (self, self->dragged);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamTissueChart *self)
{
  if (self->dragged == NULL)
    return;
  self->dragged = NULL;
  lam_sequence_session_end_drag (self->session);
}

static void
click_cb (GtkGestureClick *gesture, int n, double x, double y, LamTissueChart *self)
{
  double t1, t2;
  const char *source;
  graphene_rect_t r = plot (self);
  if (handle_at (self, x, y) != NULL || !graphene_rect_contains_point (&r, &GRAPHENE_POINT_INIT (x, y)))
    return;
  int preset = preset_at (self, x, y);
  if (preset >= 0 && n == 1) {
    g_autofree char *name = lam_tissue_preset_describe (preset, &t1, &t2, &source);
    add (self, name, t1, t2, source);
  } else if (n == 2) {
    times_at (self, x, y, &t1, &t2);
    add_at (self, t1, t2);
  }
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamTissueChart *self)
{
  if (self->dragged != NULL)
    return;
  LamTissueHandle *h = handle_at (self, x, y);
  int preset = h == NULL ? preset_at (self, x, y) : -1;
  if (preset != self->preset)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  self->preset = preset;
  if (h != NULL)
    say_handle (self, h);
  else
    say_place (self, x, y);
}

static void
leave_cb (GtkEventControllerMotion *controller, LamTissueChart *self)
{
  self->preset = -1;
  g_signal_emit (self, signals[DESCRIBE], 0, NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- following the list ---- */

static void
summary_cb (LamTissueItem *item, GParamSpec *pspec, LamTissueChart *self)
{
  if (self->dragged == NULL)
    fit (self);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
drop_handle (gpointer handle)
{
  gtk_widget_unparent (handle);
}

static void
tissues_cb (GListModel *tissues, guint position, guint removed, guint added, LamTissueChart *self)
{
  self->dragged = NULL;
  g_ptr_array_set_size (self->handles, 0);
  for (guint i = 0; i < g_list_model_get_n_items (tissues); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, i);
    GtkWidget *h = lam_tissue_handle_new (item);
    gtk_widget_set_parent (h, GTK_WIDGET (self));
    g_signal_connect_object (h, "moved", G_CALLBACK (moved_cb), self, 0);
    g_signal_handlers_disconnect_by_func (item, summary_cb, self);
    g_signal_connect_object (item, "notify::summary", G_CALLBACK (summary_cb), self, 0);
    g_ptr_array_add (self->handles, h);
  }
  fit (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

/* In the order of the list, wherever they lie. */
static gboolean
lam_tissue_chart_focus (GtkWidget *widget, GtkDirectionType direction)
{
  LamTissueChart *self = LAM_TISSUE_CHART (widget);
  GtkWidget *now = gtk_widget_get_focus_child (widget);
  int n = (int) self->handles->len, at = -1;
  if (direction != GTK_DIR_TAB_FORWARD && direction != GTK_DIR_TAB_BACKWARD)
    return FALSE;
  for (int i = 0; i < n; i++)
    if (g_ptr_array_index (self->handles, i) == (gpointer) now)
      at = i;
  int next = direction == GTK_DIR_TAB_FORWARD ? at + 1 : at < 0 ? n - 1 : at - 1;
  return next >= 0 && next < n && gtk_widget_grab_focus (g_ptr_array_index (self->handles, next));
}

static void
lam_tissue_chart_dispose (GObject *object)
{
  LamTissueChart *self = LAM_TISSUE_CHART (object);
  g_clear_pointer (&self->handles, g_ptr_array_unref);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_tissue_chart_parent_class)->dispose (object);
}

static void
lam_tissue_chart_class_init (LamTissueChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_tissue_chart_dispose;
  widget_class->snapshot = lam_tissue_chart_snapshot;
  widget_class->measure = lam_tissue_chart_measure;
  widget_class->size_allocate = lam_tissue_chart_size_allocate;
  widget_class->focus = lam_tissue_chart_focus;
  gtk_widget_class_set_css_name (widget_class, "tissuechart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  signals[DESCRIBE] = g_signal_new ("describe", LAM_TYPE_TISSUE_CHART, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[REFUSED] = g_signal_new ("refused", LAM_TYPE_TISSUE_CHART, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Insert, 0, add_key, NULL);
}

static void
lam_tissue_chart_init (LamTissueChart *self)
{
  self->preset = -1;
  self->low[0] = 100;
  self->high[0] = 6000;
  self->low[1] = 8;
  self->high[1] = 4000;
  self->handles = g_ptr_array_new_with_free_func (drop_handle);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("T1–T2 chart: Tab goes from tissue to tissue, arrows move it, Insert adds one"),
                                  -1);
  GtkGesture *drag = gtk_gesture_drag_new (), *click = gtk_gesture_click_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  g_signal_connect (click, "pressed", G_CALLBACK (click_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
}

GtkWidget *
lam_tissue_chart_new (LamSequenceSession *session)
{
  LamTissueChart *self = g_object_new (LAM_TYPE_TISSUE_CHART, NULL);
  GListModel *tissues = lam_sequence_session_get_tissues (session);
  self->session = g_object_ref (session);
  g_signal_connect_object (tissues, "items-changed", G_CALLBACK (tissues_cb), self, 0);
  tissues_cb (tissues, 0, 0, 0, self);
  return GTK_WIDGET (self);
}
