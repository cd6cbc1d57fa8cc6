#include "config.h"

#include "geometry-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "model/units.h"
#include "palette.h"

#define HIT 16   /* widget pixels round the axis that take hold of it */
#define DECIDE 3 /* after which it is seen where a drag goes */

/* Scene coordinates: along = with the rays, from the axis; across = with growing channels, from the detector's
 * centre. */
typedef struct {
  double scale, x0, y0;    /* widget = x0 + along * scale, y0 + across * scale */
  double source, detector; /* along */
  double width;            /* of the detector */
  double radius;           /* of the volume */
} Scene;

struct _LamGeometryView {
  GtkWidget parent_instance;
  gboolean shown;
  LamGeometry g;                        /* angles and shifts not kept */
  int turn;                             /* +1 = angles grow, clockwise here; -1; 0 = one angle only */
  LamHandle dragging, hovering, chosen; /* chosen: the one that keys move */
  enum { UNDECIDED, ACROSS, ALONG } way;
  LamGeometry start; /* where the drag began */
  Scene scene;       /* then: a scene that is scaled anew would run away from the hand */
};

G_DEFINE_FINAL_TYPE (LamGeometryView, lam_geometry_view, GTK_TYPE_WIDGET)

enum { DRAG_BEGIN, DRAGGED, DRAG_END, N_SIGNALS };
static guint signals[N_SIGNALS];

static gboolean
is_cone (LamGeometryView *self)
{
  return self->g.kind == LAM_GEOMETRY_CONE && isfinite (self->g.source_detector) && isfinite (self->g.source_axis)
         && self->g.source_axis > 0 && self->g.source_detector > self->g.source_axis;
}

static void
layout_scene (LamGeometryView *self, Scene *s)
{
  if (self->dragging != LAM_HANDLE_NONE) {
    *s = self->scene;
    s->source = is_cone (self) ? -self->g.source_axis : s->source;
    s->detector = is_cone (self) ? self->g.source_detector - self->g.source_axis : s->detector;
    /* The detector stays while the axis is moved between it and the source. */
    if (is_cone (self) && self->way == ALONG && self->dragging == LAM_HANDLE_AXIS)
      s->x0 += (self->g.source_axis - self->start.source_axis) * s->scale;
    return;
  }
  const LamGeometry *g = &self->g;
  double width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self));
  s->width = fmax (g->channels * g->channel_pitch, 1e-9);
  double columns = g->recon_columns * g->voxel_pitch, rows = g->recon_rows * g->voxel_pitch * g->row_aspect;
  s->radius = columns > 0 ? fmax (columns, rows) / 2 : s->width / 2;
  /* Parallel rays come from anywhere: a place that looks well. */
  s->source = is_cone (self) ? -g->source_axis : -1.05 * s->width;
  s->detector = is_cone (self) ? g->source_detector - g->source_axis : 1.05 * s->width;
  double top = 22, bottom = 24, side = 16;
  double across = fmax (s->width, 2 * (s->radius + fabs (g->channel_offset))) * 1.08;
  double along = s->detector - s->source;
  s->scale = fmin ((width - 2 * side) / along, (height - top - bottom) / across);
  s->x0 = width / 2 - (s->source + s->detector) / 2 * s->scale;
  s->y0 = top + (height - top - bottom) / 2;
}

gboolean
lam_geometry_view_get_axis_point (LamGeometryView *self, double *x, double *y)
{
  g_return_val_if_fail (LAM_IS_GEOMETRY_VIEW (self), FALSE);
  Scene s;
  if (!self->shown)
    return FALSE;
  layout_scene (self, &s);
  *x = s.x0;
  *y = s.y0 + self->g.channel_offset * s.scale;
  return TRUE;
}

gboolean
lam_geometry_view_get_point (LamGeometryView *self, LamHandle handle, double *x, double *y)
{
  Scene s;
  if (!lam_geometry_view_get_axis_point (self, x, y) || (handle == LAM_HANDLE_SOURCE && !is_cone (self)))
    return FALSE;
  layout_scene (self, &s);
  if (handle == LAM_HANDLE_SOURCE)
    *x = s.x0 + s.source * s.scale;
  if (handle == LAM_HANDLE_DETECTOR) {
    *x = s.x0 + s.detector * s.scale + 3;
    *y = s.y0 + s.width / 4 * s.scale;
  }
  return TRUE;
}

/* -- drawing -- */

static void
set_colour (cairo_t *cr, LamGeometryView *self, LamColour role, double alpha)
{
  GdkRGBA rgba = lam_palette_alpha (GTK_WIDGET (self), role, alpha);
  gdk_cairo_set_source_rgba (cr, &rgba);
}

static void
draw_text (LamGeometryView *self, GtkSnapshot *snapshot, const char *text, LamColour role, double x, double y,
           double align)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, 0.8);
  GdkRGBA colour = lam_palette (GTK_WIDGET (self), role);
  int w, h, width = gtk_widget_get_width (GTK_WIDGET (self));
  pango_layout_get_pixel_size (layout, &w, &h);
  if (w > width - 4) {
    pango_layout_set_width (layout, MAX (width - 4, 1) * PANGO_SCALE);
    pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    pango_layout_get_pixel_size (layout, &w, &h);
  }
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT (CLAMP (floor (x - w * align), 2, MAX (width - w - 2, 2)), floor (y - h / 2.0)));
  gtk_snapshot_append_layout (snapshot, layout, &colour);
  gtk_snapshot_restore (snapshot);
}

/* The detector's point at distance @u (with the channels) from its centre. */
static void
detector_point (LamGeometryView *self, const Scene *s, double u, double *x, double *y)
{
  double along = s->detector, across = u;
  if (is_cone (self) && self->g.detector == LAM_DETECTOR_CURVED) {
    double angle = (u - self->g.channel_offset) / self->g.source_detector;
    along = s->source + self->g.source_detector * cos (angle);
    across = self->g.channel_offset + self->g.source_detector * sin (angle);
  }
  *x = s->x0 + along * s->scale;
  *y = s->y0 + across * s->scale;
}

/* Shown larger: it is in the hand, under the pointer, or the one that keys move. */
static gboolean
held (LamGeometryView *self, LamHandle handle)
{
  LamHandle by_keys = gtk_widget_has_visible_focus (GTK_WIDGET (self)) ? self->chosen : LAM_HANDLE_NONE;
  return self->dragging != LAM_HANDLE_NONE   ? self->dragging == handle
         : self->hovering != LAM_HANDLE_NONE ? self->hovering == handle
                                             : by_keys == handle;
}

static void
draw_rays (LamGeometryView *self, cairo_t *cr, const Scene *s)
{
  double x, y, source_x = s->x0 + s->source * s->scale, source_y = s->y0 + self->g.channel_offset * s->scale;
  set_colour (cr, self, LAM_COLOUR_YELLOW, 0.5);
  cairo_set_line_width (cr, 1);
  for (int i = 0; i <= 8; i++) {
    detector_point (self, s, (i / 8.0 - 0.5) * s->width * 0.94, &x, &y);
    cairo_move_to (cr, source_x, is_cone (self) ? source_y : y);
    cairo_line_to (cr, x, y);
  }
  cairo_stroke (cr);
  if (is_cone (self)) {
    set_colour (cr, self, LAM_COLOUR_YELLOW, 1);
    cairo_arc (cr, source_x, source_y, held (self, LAM_HANDLE_SOURCE) ? 8 : 5, 0, 2 * G_PI);
    cairo_fill (cr);
    return;
  }
  set_colour (cr, self, LAM_COLOUR_DIM, 1);
  cairo_set_dash (cr, (double[]){3, 3}, 2, 0);
  cairo_move_to (cr, source_x, s->y0 - s->width / 2 * s->scale);
  cairo_line_to (cr, source_x, s->y0 + s->width / 2 * s->scale);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

static void
draw_detector (LamGeometryView *self, cairo_t *cr, const Scene *s)
{
  double x, y;
  set_colour (cr, self, LAM_COLOUR_GREEN, 1);
  cairo_set_line_width (cr, held (self, LAM_HANDLE_DETECTOR) ? 10 : 6);
  for (int i = 0; i <= 32; i++) {
    detector_point (self, s, (i / 32.0 - 0.5) * s->width, &x, &y);
    cairo_line_to (cr, x + 3, y);
  }
  cairo_stroke (cr);
  /* Its centre. */
  detector_point (self, s, 0, &x, &y);
  cairo_set_line_width (cr, 1.5);
  cairo_move_to (cr, x - 7, y);
  cairo_line_to (cr, x + 13, y);
  cairo_stroke (cr);
}

static void
draw_volume (LamGeometryView *self, cairo_t *cr, const Scene *s)
{
  double x = s->x0, y = s->y0 + self->g.channel_offset * s->scale, r = s->radius * s->scale;
  cairo_arc (cr, x, y, r, 0, 2 * G_PI);
  set_colour (cr, self, LAM_COLOUR_BLUE, 0.12);
  cairo_fill_preserve (cr);
  set_colour (cr, self, LAM_COLOUR_BLUE, 0.9);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  if (self->turn == 0 || r < 12)
    return;
  /* The way the object turns: an arc from twelve o'clock with a head. */
  double a = -G_PI / 2, b = a + self->turn * 0.9;
  cairo_set_line_width (cr, 3);
  if (self->turn > 0)
    cairo_arc (cr, x, y, r, a, b);
  else
    cairo_arc_negative (cr, x, y, r, a, b);
  cairo_stroke (cr);
  double tip_x = x + r * cos (b), tip_y = y + r * sin (b), along = b + self->turn * G_PI / 2;
  cairo_move_to (cr, tip_x + 9 * cos (along), tip_y + 9 * sin (along));
  cairo_line_to (cr, tip_x + 6 * cos (along + 2), tip_y + 6 * sin (along + 2));
  cairo_line_to (cr, tip_x + 6 * cos (along - 2), tip_y + 6 * sin (along - 2));
  cairo_close_path (cr);
  cairo_fill (cr);
}

static void
draw_axis (LamGeometryView *self, cairo_t *cr, const Scene *s)
{
  double x = s->x0, y = s->y0 + self->g.channel_offset * s->scale;
  set_colour (cr, self, LAM_COLOUR_RED, 1);
  cairo_set_line_width (cr, 1.5);
  cairo_set_dash (cr, (double[]){4, 3}, 2, 0);
  cairo_move_to (cr, x, y);
  cairo_line_to (cr, s->x0 + s->detector * s->scale, y);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
  if (held (self, LAM_HANDLE_AXIS)) {
    set_colour (cr, self, LAM_COLOUR_RED, 0.25);
    cairo_arc (cr, x, y, 10, 0, 2 * G_PI);
    cairo_fill (cr);
    set_colour (cr, self, LAM_COLOUR_RED, 1);
  }
  cairo_arc (cr, x, y, 5, 0, 2 * G_PI);
  cairo_fill (cr);
}

static void
draw_labels (LamGeometryView *self, GtkSnapshot *snapshot, const Scene *s)
{
  const LamGeometry *g = &self->g;
  int width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self));
  double detector_x, top, bottom, source_x = s->x0 + s->source * s->scale;
  double axis_y = s->y0 + g->channel_offset * s->scale;
  detector_point (self, s, -s->width / 2, &detector_x, &top);
  detector_point (self, s, s->width / 2, &detector_x, &bottom);
  draw_text (self, snapshot, is_cone (self) ? _ ("source") : _ ("rays"), LAM_COLOUR_YELLOW, source_x,
             is_cone (self) ? axis_y - 14 : top - 9, is_cone (self) ? 0.5 : 0.2);
  draw_text (self, snapshot, _ ("detector"), LAM_COLOUR_GREEN, detector_x + 8, top - 9, 1);
  /* Which end is channel 0: the sign of the offset can be read off. */
  g_autofree char *last = g_strdup_printf ("%ld", (long) g->channels - 1);
  draw_text (self, snapshot, "0", LAM_COLOUR_DIM, detector_x - 5, top + 6, 1);
  draw_text (self, snapshot, last, LAM_COLOUR_DIM, detector_x - 5, bottom - 6, 1);

  g_autofree char *offset = lam_units_format (g->channel_offset, g_str_equal (g->length_unit, "px") ? 1 : 3);
  g_autofree char *axis = g_strdup_printf (_ ("axis %s %s"), offset, g->length_unit);
  /* On the side of the dashed line that is away from the detector's centre mark. */
  draw_text (self, snapshot, axis, LAM_COLOUR_RED, s->x0 + s->detector * s->scale - 12,
             axis_y + (g->channel_offset < 0 ? -10 : 10), 1);
  const char *words = self->turn > 0   ? _ ("seen from above · object turns clockwise")
                      : self->turn < 0 ? _ ("seen from above · object turns anticlockwise")
                                       : _ ("seen from above");
  draw_text (self, snapshot, words, LAM_COLOUR_DIM, width / 2.0, height - 10, 0.5);
}

static void
lam_geometry_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamGeometryView *self = LAM_GEOMETRY_VIEW (widget);
  Scene s;
  if (!self->shown)
    return;
  layout_scene (self, &s);
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget), gtk_widget_get_height (widget)));
  draw_rays (self, cr, &s);
  draw_volume (self, cr, &s);
  draw_detector (self, cr, &s);
  draw_axis (self, cr, &s);
  cairo_destroy (cr);
  draw_labels (self, snapshot, &s);
}

/* -- hands -- */

static double
limit (LamGeometryView *self, double offset)
{
  double most = (self->g.channels - 1) / 2.0 * self->g.channel_pitch;
  return CLAMP (offset, -most, most);
}

/* What lies under a point of the widget; the axis before the others. */
static LamHandle
handle_at (LamGeometryView *self, double x, double y)
{
  Scene s;
  double axis_x, axis_y;
  if (!lam_geometry_view_get_axis_point (self, &axis_x, &axis_y))
    return LAM_HANDLE_NONE;
  layout_scene (self, &s);
  double detector = s.x0 + s.detector * s.scale + 3, source = s.x0 + s.source * s.scale;
  gboolean on_line = x > axis_x && x < detector - 12 && fabs (y - axis_y) < 5;
  if (hypot (x - axis_x, y - axis_y) <= HIT || on_line)
    return LAM_HANDLE_AXIS;
  if (is_cone (self) && hypot (x - source, y - axis_y) <= HIT)
    return LAM_HANDLE_SOURCE;
  if (fabs (x - detector) <= 9 && fabs (y - s.y0) <= s.width / 2 * s.scale + 4)
    return LAM_HANDLE_DETECTOR;
  return LAM_HANDLE_NONE;
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamGeometryView *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  LamHandle handle = handle_at (self, x, y);
  if (handle == LAM_HANDLE_NONE) {
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  layout_scene (self, &self->scene);
  self->dragging = handle;
  self->way = is_cone (self) ? handle == LAM_HANDLE_SOURCE ? ALONG : UNDECIDED : ACROSS;
  self->start = self->g;
  g_signal_emit (self, signals[DRAG_BEGIN], 0, (int) handle);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamGeometryView *self)
{
  if (self->dragging == LAM_HANDLE_NONE)
    return;
  if (self->way == UNDECIDED && fmax (fabs (dx), fabs (dy)) >= DECIDE)
    self->way = fabs (dx) > fabs (dy) ? ALONG : ACROSS;
  if (self->way == UNDECIDED)
    return;
  const LamGeometry *g = &self->start;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  double fine = state & GDK_CONTROL_MASK ? 0.1 : 1, scale = fine / self->scene.scale;
  /* The drawing is small: under the pointer the axis would jump over channels. It moves by one channel for each pixel. */
  double across = state & GDK_SHIFT_MASK ? scale : fmin (scale, fine * g->channel_pitch);
  LamPlace move = {g->channel_offset, g->source_detector, g->source_axis};
  if (self->way == ACROSS)
    move.channel_offset = limit (self, g->channel_offset + (self->dragging == LAM_HANDLE_AXIS ? dy : -dy) * across);
  else {
    double least = g->source_axis * 0.02, most = g->source_detector * 0.999;
    if (self->dragging == LAM_HANDLE_AXIS)
      move.source_axis = CLAMP (g->source_axis + dx * scale, least, most);
    else if (self->dragging == LAM_HANDLE_DETECTOR)
      move.source_detector = fmax (g->source_detector + dx * scale, g->source_axis * 1.001);
    else {
      double by = fmax (-dx * scale, least - g->source_axis);
      move.source_axis += by;
      move.source_detector += by;
    }
  }
  g_signal_emit (self, signals[DRAGGED], 0, &move);
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamGeometryView *self)
{
  if (self->dragging == LAM_HANDLE_NONE)
    return;
  self->dragging = LAM_HANDLE_NONE;
  g_signal_emit (self, signals[DRAG_END], 0);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamGeometryView *self)
{
  LamHandle over = self->dragging != LAM_HANDLE_NONE ? self->dragging : handle_at (self, x, y);
  if (over == self->hovering)
    return;
  self->hovering = over;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), over == LAM_HANDLE_NONE     ? NULL
                                                      : over == LAM_HANDLE_SOURCE ? "ew-resize"
                                                      : is_cone (self)            ? "move"
                                                                                  : "ns-resize");
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
leave_cb (GtkEventControllerMotion *controller, LamGeometryView *self)
{
  self->hovering = LAM_HANDLE_NONE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* What a screen reader says of it: which part the keys move, and where that is. */
static void
update_accessible (LamGeometryView *self)
{
  const LamGeometry *g = &self->g;
  const char *const labels[] = {[LAM_HANDLE_AXIS] = _ ("Axis of rotation, in the scan seen from above"),
                                [LAM_HANDLE_DETECTOR] = _ ("Detector, in the scan seen from above"),
                                [LAM_HANDLE_SOURCE] = _ ("Source, in the scan seen from above")};
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, labels[self->chosen], -1);
  if (!self->shown)
    return;
  double most = limit (self, INFINITY);
  g_autofree char *offset = lam_units_format (g->channel_offset, 3);
  g_autofree char *axis = lam_units_format (g->source_axis, 2), *detector = lam_units_format (g->source_detector, 2);
  g_autofree char *text = is_cone (self)
                              ? g_strdup_printf (_ ("axis %s %s, source to axis %s %s, source to detector %s %s"),
                                                 offset, g->length_unit, axis, g->length_unit, detector, g->length_unit)
                              : g_strdup_printf (_ ("axis %s %s"), offset, g->length_unit);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, g->channel_offset,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, -most, GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, most,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}

static gboolean
choose_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamGeometryView *self = LAM_GEOMETRY_VIEW (widget);
  LamHandle handle = (LamHandle) g_variant_get_int32 (args);
  if (!self->shown || (handle == LAM_HANDLE_SOURCE && !is_cone (self))) {
    gtk_widget_error_bell (widget);
    return TRUE;
  }
  self->chosen = handle;
  update_accessible (self);
  gtk_widget_queue_draw (widget);
  return TRUE;
}

/* Moves the chosen part; @args: channels across, downwards, and parts of its distance along, to the right. */
static gboolean
move_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamGeometryView *self = LAM_GEOMETRY_VIEW (widget);
  double channels, part;
  g_variant_get (args, "(dd)", &channels, &part);
  if (!self->shown)
    return FALSE;
  const LamGeometry *g = &self->g;
  LamPlace move = {g->channel_offset, g->source_detector, g->source_axis};
  if (!is_cone (self) && channels == 0) /* there is nothing along the rays: across, as up and down */
    channels = part * 100;
  if (channels != 0 && self->chosen == LAM_HANDLE_SOURCE) { /* it has no place across the rays */
    gtk_widget_error_bell (widget);
    return TRUE;
  }
  double across = (self->chosen == LAM_HANDLE_DETECTOR ? -channels : channels) * g->channel_pitch;
  move.channel_offset = limit (self, g->channel_offset + across);
  if (is_cone (self) && part != 0) {
    if (self->chosen == LAM_HANDLE_DETECTOR)
      move.source_detector = fmax (g->source_detector * (1 + part), g->source_axis * 1.001);
    else if (self->chosen == LAM_HANDLE_SOURCE) {
      move.source_axis -= part * g->source_axis;
      move.source_detector -= part * g->source_axis;
    } else
      move.source_axis = fmin (g->source_axis * (1 + part), g->source_detector * 0.999);
  }
  g_signal_emit (self, signals[DRAGGED], 0, &move);
  return TRUE;
}

/* -- widget -- */

static void
lam_geometry_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                           int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 180 : 140;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 280 : 200;
}

void
lam_geometry_view_set_geometry (LamGeometryView *self, const LamGeometry *geometry)
{
  g_return_if_fail (LAM_IS_GEOMETRY_VIEW (self));
  self->shown = geometry != NULL && geometry->channels > 0;
  if (self->shown) {
    const LamGeometry *g = geometry;
    self->turn = 0;
    if (g->angles != NULL && g->views > 1)
      self->turn = (g->angles[g->views - 1] > g->angles[0]) - (g->angles[g->views - 1] < g->angles[0]);
    self->g = *g;
    self->g.angles = self->g.shifts = NULL;
    if (!is_cone (self) && self->chosen == LAM_HANDLE_SOURCE)
      self->chosen = LAM_HANDLE_AXIS;
  }
  update_accessible (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
lam_geometry_view_class_init (LamGeometryViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  GType type = LAM_TYPE_GEOMETRY_VIEW;
  widget_class->snapshot = lam_geometry_view_snapshot;
  widget_class->measure = lam_geometry_view_measure;
  signals[DRAG_BEGIN] =
      g_signal_new ("drag-begin", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
  signals[DRAGGED] =
      g_signal_new ("dragged", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  signals[DRAG_END] = g_signal_new ("drag-end", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_css_name (widget_class, "geometryview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
  static const struct {
    guint key;
    GdkModifierType state;
    double channels, part;
  } keys[] = {
      {GDK_KEY_Up, 0, -0.1, 0},
      {GDK_KEY_Up, GDK_CONTROL_MASK, -0.01, 0},
      {GDK_KEY_Up, GDK_SHIFT_MASK, -1, 0},
      {GDK_KEY_Page_Up, 0, -1, 0},
      {GDK_KEY_Down, 0, 0.1, 0},
      {GDK_KEY_Down, GDK_CONTROL_MASK, 0.01, 0},
      {GDK_KEY_Down, GDK_SHIFT_MASK, 1, 0},
      {GDK_KEY_Page_Down, 0, 1, 0},
      {GDK_KEY_Left, 0, 0, -0.001},
      {GDK_KEY_Left, GDK_CONTROL_MASK, 0, -0.0001},
      {GDK_KEY_Left, GDK_SHIFT_MASK, 0, -0.01},
      {GDK_KEY_Right, 0, 0, 0.001},
      {GDK_KEY_Right, GDK_CONTROL_MASK, 0, 0.0001},
      {GDK_KEY_Right, GDK_SHIFT_MASK, 0, 0.01},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (widget_class, keys[i].key, keys[i].state, move_key, "(dd)", keys[i].channels,
                                  keys[i].part);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_a, 0, choose_key, "i", (int) LAM_HANDLE_AXIS);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_d, 0, choose_key, "i", (int) LAM_HANDLE_DETECTOR);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_s, 0, choose_key, "i", (int) LAM_HANDLE_SOURCE);
}

static void
lam_geometry_view_init (LamGeometryView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gtk_widget_set_focusable (widget, TRUE);
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (widget, motion);
  self->chosen = LAM_HANDLE_AXIS;
  /* No tooltip: it would come up under the hand, and GTK 4.8 keeps a pointer to what the hand was on when it goes. */
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
      _ ("A, D and S choose axis, detector and source; arrows move it, with Shift ten times "
         "as far, with Ctrl a tenth"),
      -1);
  update_accessible (self);
}

GtkWidget *
lam_geometry_view_new (void)
{
  return g_object_new (LAM_TYPE_GEOMETRY_VIEW, NULL);
}
