#include "config.h"

#include "timeline-view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "draw/timeline.h"
#include "palette.h"

/* One notch of the wheel; one arrow. */
#define NOTCH 1.25
#define STEP 0.1
#define FONT_SCALE 0.8
/* px within which a measurement takes hold of pulses, echoes and edges */
#define REACH 7
/* px of movement from which on a press is a drag */
#define LEAST_DRAG 3

typedef enum { DRAG_NONE, DRAG_PAN, DRAG_MEASURE } Drag;

struct _LamTimelineView {
  GtkWidget parent_instance;
  LamPulseqLook *look;
  GskRenderNode *cache; /* everything but what follows the pointer */
  gint64 paint_us;
  double pointer; /* NAN: not here */
  Drag drag;
  int64_t start_t0, start_t1; /* of the range, when the drag began */
  int64_t mark, from, to;     /* ps; -1: none. What is measured */
};

static guint describe_signal;

G_DEFINE_FINAL_TYPE (LamTimelineView, lam_timeline_view, GTK_TYPE_WIDGET)

/* ---- where things are ---- */

static void
get_layout (LamTimelineView *self, LamTimelineLayout *layout)
{
  lam_timeline_layout (gtk_widget_get_width (GTK_WIDGET (self)), gtk_widget_get_height (GTK_WIDGET (self)), layout);
}

int64_t
lam_timeline_view_get_time (LamTimelineView *self, double x)
{
  LamTimelineLayout l;
  int64_t t0, t1;
  get_layout (self, &l);
  lam_pulseq_look_get_range (self->look, &t0, &t1);
  return t0 + (int64_t) rint ((x - l.left) / (l.right - l.left) * (double) (t1 - t0));
}

double
lam_timeline_view_get_x (LamTimelineView *self, int64_t ps)
{
  LamTimelineLayout l;
  LamTimelinePicture p = {0};
  get_layout (self, &l);
  lam_pulseq_look_get_range (self->look, &p.t0, &p.t1);
  return lam_timeline_x (&l, &p, ps);
}

/* ---- drawing ---- */

static void
write_text (const LamCanvas *canvas, cairo_t *cr, const char *text, double x, double y, double align, LamInk ink)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (canvas->data, text, FONT_SCALE);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  lam_canvas_ink (canvas, cr, ink);
  cairo_move_to (cr, floor (x - w * align), floor (y - h / 2.0));
  pango_cairo_show_layout (cr, layout);
  cairo_new_path (cr);
}

static LamCanvas
new_canvas (LamTimelineView *self)
{
  static const LamColour roles[LAM_INKS] = {
      [LAM_INK_PAPER] = LAM_COLOUR_PAPER, [LAM_INK_TEXT] = LAM_COLOUR_TEXT, [LAM_INK_DIM] = LAM_COLOUR_DIM,
      [LAM_INK_GRID] = LAM_COLOUR_GRID,   [LAM_INK_RF] = LAM_COLOUR_BLUE,   [LAM_INK_GRADIENT] = LAM_COLOUR_ORANGE,
      [LAM_INK_ADC] = LAM_COLOUR_GREEN,   [LAM_INK_RULER] = LAM_COLOUR_RED};
  LamCanvas canvas = {.font = 11, .write = write_text, .data = self};
  for (int i = 0; i < LAM_INKS; i++) {
    GdkRGBA c = lam_palette (GTK_WIDGET (self), roles[i]);
    double *to = canvas.ink[i];
    to[0] = c.red;
    to[1] = c.green;
    to[2] = c.blue;
    to[3] = c.alpha;
  }
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), "0", FONT_SCALE);
  int h;
  pango_layout_get_pixel_size (layout, NULL, &h);
  canvas.font = h * 0.72;
  return canvas;
}

static void
draw_static (LamTimelineView *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  LamSequenceFile *file = lam_pulseq_model_get_file (lam_pulseq_look_get_model (self->look));
  LamTimelineLayout l;
  LamTimelinePicture p = {.window = lam_pulseq_look_get_window (self->look),
                          .instants = lam_pulseq_look_get_instants (self->look)};
  if (file == NULL)
    return;
  gint64 from = g_get_monotonic_time ();
  LamCanvas canvas = new_canvas (self);
  get_layout (self, &l);
  p.rf = file->rf;
  p.gradient = file->gradient;
  lam_pulseq_look_get_range (self->look, &p.t0, &p.t1);
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget), gtk_widget_get_height (widget)));
  lam_timeline_draw (cr, &canvas, &l, &p);
  cairo_destroy (cr);
  self->paint_us = g_get_monotonic_time () - from;
}

static void
draw_line (LamTimelineView *self, GtkSnapshot *snapshot, double x, LamColour role, double alpha)
{
  LamTimelineLayout l;
  GdkRGBA colour = lam_palette_alpha (GTK_WIDGET (self), role, alpha);
  get_layout (self, &l);
  if (x >= l.left - 1 && x <= l.right + 1)
    gtk_snapshot_append_color (
        snapshot, &colour, &GRAPHENE_RECT_INIT (floor (x), l.top[LAM_ROW_RULERS], 1, l.bottom - l.top[LAM_ROW_RULERS]));
}

static void
draw_measured (LamTimelineView *self, GtkSnapshot *snapshot)
{
  LamTimelineLayout l;
  double a = lam_timeline_view_get_x (self, MIN (self->from, self->to)),
         b = lam_timeline_view_get_x (self, MAX (self->from, self->to)),
         seconds = fabs ((double) (self->to - self->from)) * 1e-12;
  get_layout (self, &l);
  GdkRGBA tint = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_YELLOW, 0.15),
          paper = lam_palette_alpha (GTK_WIDGET (self), LAM_COLOUR_PAPER, 0.9),
          ink = lam_palette (GTK_WIDGET (self), LAM_COLOUR_TEXT);
  double left = CLAMP (a, l.left, l.right), right = CLAMP (b, l.left, l.right);
  gtk_snapshot_append_color (snapshot, &tint,
                             &GRAPHENE_RECT_INIT (left, l.top[LAM_ROW_RF], right - left, l.bottom - l.top[LAM_ROW_RF]));
  draw_line (self, snapshot, a, LAM_COLOUR_YELLOW, 1);
  draw_line (self, snapshot, b, LAM_COLOUR_YELLOW, 1);
  g_autofree char *length = lam_canvas_time (seconds, seconds, seconds * 1e-4);
  g_autofree char *text = g_strdup_printf ("Δ %s", length);
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, 0.85);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  double x = floor (CLAMP ((left + right) / 2 - w / 2.0, l.left, MAX (l.right - w, l.left))), y = l.top[LAM_ROW_RF] + 4;
  gtk_snapshot_append_color (snapshot, &paper, &GRAPHENE_RECT_INIT (x - 4, y, w + 8, h + 2));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y + 1));
  gtk_snapshot_append_layout (snapshot, layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static void
lam_timeline_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamTimelineView *self = LAM_TIMELINE_VIEW (widget);
  if (self->cache == NULL) {
    GtkSnapshot *still = gtk_snapshot_new ();
    draw_static (self, still);
    self->cache = gtk_snapshot_free_to_node (still);
  }
  if (self->cache != NULL)
    gtk_snapshot_append_node (snapshot, self->cache);
  if (self->mark >= 0)
    draw_line (self, snapshot, lam_timeline_view_get_x (self, self->mark), LAM_COLOUR_RED, 0.9);
  if (self->from >= 0)
    draw_measured (self, snapshot);
  if (isfinite (self->pointer) && self->drag != DRAG_PAN)
    draw_line (self, snapshot, self->pointer, LAM_COLOUR_TEXT, 0.35);
}

static void
drop_cache (LamTimelineView *self)
{
  g_clear_pointer (&self->cache, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_timeline_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamTimelineView *self = LAM_TIMELINE_VIEW (widget);
  LamTimelineLayout l;
  lam_timeline_layout (width, height, &l);
  lam_pulseq_look_set_columns (self->look, (int) (l.right - l.left) * gtk_widget_get_scale_factor (widget));
  drop_cache (self);
}

static void
lam_timeline_view_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lam_timeline_view_parent_class)->css_changed (widget, change);
  g_clear_pointer (&LAM_TIMELINE_VIEW (widget)->cache, gsk_render_node_unref);
}

static void
lam_timeline_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                           int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 260 : 140;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 700 : 300;
}

/* ---- words ---- */

static void
say (LamTimelineView *self)
{
  LamTimelineLayout l;
  get_layout (self, &l);
  gboolean here = isfinite (self->pointer) && self->pointer >= l.left && self->pointer <= l.right;
  g_autofree char *text =
      here ? lam_pulseq_look_describe (self->look, lam_timeline_view_get_time (self, self->pointer)) : NULL;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  g_signal_emit (self, describe_signal, 0, text);
}

static void
changed_cb (LamPulseqLook *look, LamTimelineView *self)
{
  drop_cache (self);
}

static void
range_changed_cb (LamPulseqLook *look, LamTimelineView *self)
{
  if (isfinite (self->pointer))
    say (self);
}

static void
file_changed_cb (LamPulseqModel *model, LamTimelineView *self)
{
  self->mark = self->from = self->to = -1;
  drop_cache (self);
}

/* ---- the hand ---- */

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamTimelineView *self)
{
  if (x == self->pointer)
    return;
  self->pointer = x;
  say (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
leave_cb (GtkEventControllerMotion *controller, LamTimelineView *self)
{
  self->pointer = NAN;
  say (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LamTimelineView *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  if (state & GDK_SHIFT_MASK && dx == 0) {
    dx = dy;
    dy = 0;
  }
  if (dx != 0)
    lam_pulseq_look_pan (self->look, dx * STEP);
  if (dy != 0) {
    LamTimelineLayout l;
    get_layout (self, &l);
    double x = isfinite (self->pointer) ? CLAMP (self->pointer, l.left, l.right) : (l.left + l.right) / 2;
    lam_pulseq_look_zoom (self->look, pow (NOTCH, -dy), lam_timeline_view_get_time (self, x));
  }
  return TRUE;
}

static int64_t
snapped (LamTimelineView *self, double x)
{
  int64_t t = lam_timeline_view_get_time (self, x), reach = lam_timeline_view_get_time (self, x + REACH) - t;
  return MAX (lam_pulseq_look_snap (self->look, t, reach), 0);
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamTimelineView *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  gtk_widget_grab_focus (GTK_WIDGET (self));
  lam_pulseq_look_get_range (self->look, &self->start_t0, &self->start_t1);
  self->drag = state & GDK_SHIFT_MASK ? DRAG_MEASURE : DRAG_PAN;
  if (self->drag == DRAG_MEASURE)
    self->from = self->to = snapped (self, x);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamTimelineView *self)
{
  double x, y;
  LamTimelineLayout l;
  if (self->drag == DRAG_NONE || !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  if (self->drag == DRAG_MEASURE) {
    self->to = snapped (self, x + dx);
    gtk_widget_queue_draw (GTK_WIDGET (self));
    return;
  }
  get_layout (self, &l);
  int64_t by = (int64_t) rint (dx / (l.right - l.left) * (double) (self->start_t1 - self->start_t0));
  lam_pulseq_look_set_range (self->look, self->start_t0 - by, self->start_t1 - by);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamTimelineView *self)
{
  /* A click takes the measure away. */
  if ((self->drag == DRAG_PAN && fabs (dx) < LEAST_DRAG) || (self->drag == DRAG_MEASURE && self->from == self->to))
    self->from = self->to = -1;
  self->drag = DRAG_NONE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
pressed_cb (GtkGestureClick *gesture, int n, double x, double y, LamTimelineView *self)
{
  if (n == 2)
    lam_pulseq_look_whole (self->look);
}

/* ---- keys ---- */

static gboolean
pan_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  lam_pulseq_look_pan (LAM_TIMELINE_VIEW (widget)->look, g_variant_get_double (args));
  return TRUE;
}

static gboolean
zoom_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTimelineView *self = LAM_TIMELINE_VIEW (widget);
  double factor = g_variant_get_double (args);
  int64_t t0, t1;
  lam_pulseq_look_get_range (self->look, &t0, &t1);
  if (factor == 0)
    lam_pulseq_look_whole (self->look);
  else
    lam_pulseq_look_zoom (self->look, factor, t0 + (t1 - t0) / 2);
  return TRUE;
}

static gboolean
escape_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamTimelineView *self = LAM_TIMELINE_VIEW (widget);
  if (self->from < 0 && self->mark < 0)
    return FALSE;
  self->mark = self->from = self->to = -1;
  gtk_widget_queue_draw (widget);
  return TRUE;
}

/* ---- the rest ---- */

void
lam_timeline_view_set_mark (LamTimelineView *self, int64_t ps)
{
  g_return_if_fail (LAM_IS_TIMELINE_VIEW (self));
  self->mark = ps;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

int64_t
lam_timeline_view_get_mark (LamTimelineView *self)
{
  return self->mark;
}

gboolean
lam_timeline_view_get_measured (LamTimelineView *self, int64_t *from, int64_t *to)
{
  *from = self->from;
  *to = self->to;
  return self->from >= 0;
}

gint64
lam_timeline_view_get_paint_us (LamTimelineView *self)
{
  return self->paint_us;
}

static void
dark_notify_cb (AdwStyleManager *manager, GParamSpec *pspec, LamTimelineView *self)
{
  drop_cache (self);
}

static void
lam_timeline_view_dispose (GObject *object)
{
  LamTimelineView *self = LAM_TIMELINE_VIEW (object);
  g_clear_pointer (&self->cache, gsk_render_node_unref);
  g_clear_object (&self->look);
  G_OBJECT_CLASS (lam_timeline_view_parent_class)->dispose (object);
}

static void
lam_timeline_view_class_init (LamTimelineViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    GtkShortcutFunc func;
    double value;
  } keys[] = {{GDK_KEY_Left, pan_key, -STEP},
              {GDK_KEY_Right, pan_key, STEP},
              {GDK_KEY_Page_Up, pan_key, -1},
              {GDK_KEY_Page_Down, pan_key, 1},
              {GDK_KEY_Home, pan_key, -1e9},
              {GDK_KEY_End, pan_key, 1e9},
              {GDK_KEY_plus, zoom_key, NOTCH},
              {GDK_KEY_equal, zoom_key, NOTCH},
              {GDK_KEY_KP_Add, zoom_key, NOTCH},
              {GDK_KEY_Up, zoom_key, NOTCH},
              {GDK_KEY_minus, zoom_key, 1 / NOTCH},
              {GDK_KEY_KP_Subtract, zoom_key, 1 / NOTCH},
              {GDK_KEY_Down, zoom_key, 1 / NOTCH},
              {GDK_KEY_0, zoom_key, 0},
              {GDK_KEY_f, zoom_key, 0},
              {GDK_KEY_Escape, escape_key, 0}};
  G_OBJECT_CLASS (klass)->dispose = lam_timeline_view_dispose;
  widget_class->snapshot = lam_timeline_view_snapshot;
  widget_class->size_allocate = lam_timeline_view_size_allocate;
  widget_class->measure = lam_timeline_view_measure;
  widget_class->css_changed = lam_timeline_view_css_changed;
  gtk_widget_class_set_css_name (widget_class, "timelineview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (widget_class, keys[i].key, 0, keys[i].func, "d", keys[i].value);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_plus, GDK_SHIFT_MASK, zoom_key, "d", NOTCH);
  describe_signal = g_signal_new ("describe", LAM_TYPE_TIMELINE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
lam_timeline_view_init (LamTimelineView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  self->pointer = NAN;
  self->mark = self->from = self->to = -1;
  gtk_widget_set_focusable (widget, TRUE);
  GtkGesture *drag = gtk_gesture_drag_new (), *click = gtk_gesture_click_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  GtkEventController *motion = gtk_event_controller_motion_new (),
                     *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, scroll);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (dark_notify_cb), self, 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Events over time: arrows move, plus and minus zoom, 0 shows all"), -1);
}

GtkWidget *
lam_timeline_view_new (LamPulseqLook *look)
{
  LamTimelineView *self = g_object_new (LAM_TYPE_TIMELINE_VIEW, NULL);
  self->look = g_object_ref (look);
  g_signal_connect_object (look, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (look, "range-changed", G_CALLBACK (range_changed_cb), self, 0);
  g_signal_connect_object (lam_pulseq_look_get_model (look), "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  return GTK_WIDGET (self);
}
