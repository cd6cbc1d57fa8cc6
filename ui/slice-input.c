#include "config.h"

#include "slice-view-private.h"

#include <math.h>

#include "picture-export.h"

/* Widget pixels of a drag that double or halve the window, or move its centre by one width. */
#define LEVEL_REACH 250.0
#define ZOOM_STEP 1.25
#define KEY_PIXELS 10.0 /* of a drag, that an arrow stands for */

static void
center (LamSliceView *self, double *x, double *y)
{
  *x = gtk_widget_get_width (GTK_WIDGET (self)) / 2.0;
  *y = gtk_widget_get_height (GTK_WIDGET (self)) / 2.0;
}

static void
step (LamSliceView *self, int64_t steps)
{
  LamPlane plane = lam_slice_view_get_plane (self);
  lam_slice_model_set_plane_index (self->model, plane, lam_slice_model_get_plane_index (self->model, plane) + steps);
}

/* Of several planes the one that is touched is the one that keys, levels and numbers are about. */
static void
choose (LamSliceView *self)
{
  if (self->model != NULL && self->plane >= 0)
    lam_slice_model_set_plane (self->model, self->plane);
}

/* -- pointer -- */

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamSliceView *self)
{
  self->pointer_x = x;
  self->pointer_y = y;
  LamSnapshot *shot = lam_slice_view_get_shot (self);
  if (shot == NULL)
    return;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  double column, row;
  lam_slice_tools_motion (self, x, y);
  lam_slice_view_to_picture (self, x, y, &column, &row);
  if (column < 0 || row < 0 || column >= info->width || row >= info->height)
    lam_slice_model_unset_cursor (self->model);
  else
    lam_slice_model_set_cursor_in (self->model, info->plane, (int64_t) row, (int64_t) column);
}

static void
leave_cb (GtkEventControllerMotion *controller, LamSliceView *self)
{
  if (self->model != NULL)
    lam_slice_model_unset_cursor (self->model);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LamSliceView *self)
{
  if (self->model == NULL)
    return FALSE;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  if (state & GDK_CONTROL_MASK) {
    lam_slice_view_zoom_at (self, pow (ZOOM_STEP, -dy), self->pointer_x, self->pointer_y);
    return TRUE;
  }
  self->wheel += dy;
  int64_t steps = (int64_t) self->wheel;
  self->wheel -= steps;
  if (steps != 0)
    step (self, steps);
  return TRUE;
}

static void
mark_at (LamSliceView *self, double x, double y)
{
  LamSnapshot *shot = lam_slice_view_get_shot (self);
  if (shot == NULL)
    return;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  double column, row;
  lam_slice_view_to_picture (self, x, y, &column, &row);
  lam_slice_model_set_mark_in (self->model, info->plane, CLAMP ((int64_t) floor (row), 0, info->height - 1),
                               CLAMP ((int64_t) floor (column), 0, info->width - 1));
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamSliceView *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  choose (self);
  if (lam_slice_view_get_shot (self) == NULL)
    return;
  guint button = gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture));
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  /* Shift + drag sets the level too: touchpads have one button. */
  self->drag = button == GDK_BUTTON_MIDDLE                                                       ? LAM_DRAG_PAN
               : button == GDK_BUTTON_SECONDARY || self->window_tool || (state & GDK_SHIFT_MASK) ? LAM_DRAG_LEVEL
                                                                                                 : LAM_DRAG_MARK;
  lam_slice_model_get_level (self->model, &self->start_low, &self->start_high);
  double cx, cy;
  center (self, &cx, &cy);
  lam_slice_view_to_picture (self, cx, cy, &self->start_centre_x, &self->start_centre_y);
  if (self->drag == LAM_DRAG_MARK && lam_slice_tools_press (self, x, y))
    self->drag = LAM_DRAG_SHAPE;
  if (self->drag == LAM_DRAG_MARK)
    mark_at (self, x, y);
}

/* Sideways = width, up = brighter (a lower centre). */
static void
drag_level (LamSliceView *self, double dx, double dy)
{
  double width = self->start_high - self->start_low, centre = (self->start_low + self->start_high) / 2;
  double new_width = width * exp2 (2 * dx / LEVEL_REACH), new_centre = centre + width * dy / LEVEL_REACH;
  lam_slice_model_set_level (self->model, new_centre - new_width / 2, new_centre + new_width / 2);
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamSliceView *self)
{
  double x, y, sx, sy;
  if (self->drag == LAM_DRAG_NONE || !gtk_gesture_drag_get_start_point (gesture, &x, &y))
    return;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  double fine = state & GDK_CONTROL_MASK ? 0.1 : 1;
  switch (self->drag) {
  case LAM_DRAG_PAN:
    lam_slice_view_get_scale (self, &sx, &sy);
    lam_slice_view_set_zoom (self, sx, self->start_centre_x - dx / sx, self->start_centre_y - dy / sy);
    break;
  case LAM_DRAG_LEVEL:
    /* A click without a drag (a double click, say) leaves the level alone. */
    if (fabs (dx) + fabs (dy) >= 2)
      drag_level (self, dx * fine, dy * fine);
    break;
  case LAM_DRAG_MARK:
    mark_at (self, x + dx, y + dy);
    break;
  case LAM_DRAG_SHAPE:
    lam_slice_tools_drag (self, x, y, dx, dy);
    break;
  case LAM_DRAG_NONE:
    break;
  }
}

static void
drag_end_cb (GtkGestureDrag *gesture, double dx, double dy, LamSliceView *self)
{
  self->drag = LAM_DRAG_NONE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
pressed_cb (GtkGestureClick *gesture, int n_press, double x, double y, LamSliceView *self)
{
  if (n_press == 2 && self->model != NULL)
    lam_slice_model_level_auto (self->model);
}

static void
pinch_begin_cb (GtkGesture *gesture, GdkEventSequence *sequence, LamSliceView *self)
{
  self->start_zoom = lam_slice_view_get_zoom (self);
}

static void
pinch_cb (GtkGestureZoom *gesture, double scale, LamSliceView *self)
{
  double x, y;
  if (!gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    center (self, &x, &y);
  lam_slice_view_zoom_at (self, self->start_zoom * scale / lam_slice_view_get_zoom (self), x, y);
}

static void
focus_cb (GtkEventControllerFocus *controller, LamSliceView *self)
{
  choose (self);
}

void
lam_slice_input_init (LamSliceView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect (motion, "enter", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (widget, motion);

  GtkEventController *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (widget, scroll);

  GtkEventController *focus = gtk_event_controller_focus_new ();
  g_signal_connect (focus, "enter", G_CALLBACK (focus_cb), self);
  gtk_widget_add_controller (widget, focus);

  GtkGesture *drag = gtk_gesture_drag_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), 0);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));

  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_gesture_group (drag, click);

  GtkGesture *pinch = gtk_gesture_zoom_new ();
  g_signal_connect (pinch, "begin", G_CALLBACK (pinch_begin_cb), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (pinch_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pinch));
}

/* -- keys and actions -- */

static gboolean
step_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  if (self->model != NULL)
    step (self, g_variant_get_int64 (args));
  return TRUE;
}

void
lam_slice_input_nudge_level (LamSliceView *self, double dx, double dy)
{
  lam_slice_model_get_level (self->model, &self->start_low, &self->start_high);
  drag_level (self, dx * KEY_PIXELS, dy * KEY_PIXELS);
}

/* An arrow: with the window tool what a drag that way would do, else the slice before or after. */
static gboolean
arrow_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  int dx, dy;
  g_variant_get (args, "(ii)", &dx, &dy);
  if (self->model == NULL)
    return FALSE;
  if (self->window_tool)
    lam_slice_input_nudge_level (self, dx, dy);
  else
    step (self, dx + dy);
  return TRUE;
}

/* Moves the picture's part that is seen, by an eighth of the view or, with Shift, by a pixel of the screen. */
static gboolean
pan_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  double cx, cy, column, row, sx, sy;
  int dx, dy;
  gboolean fine;
  g_variant_get (args, "(iib)", &dx, &dy, &fine);
  if (!lam_slice_view_get_scale (self, &sx, &sy))
    return FALSE;
  center (self, &cx, &cy);
  double by = fine ? 1 : fmin (cx, cy) / 4;
  lam_slice_view_to_picture (self, cx + dx * by, cy + dy * by, &column, &row);
  lam_slice_view_set_zoom (self, sx, column, row);
  return TRUE;
}

/* Moves the mark by one pixel; the first press puts it in the middle. */
static gboolean
mark_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  LamSnapshot *shot = lam_slice_view_get_shot (self);
  int dx, dy;
  int64_t row, column;
  g_variant_get (args, "(ii)", &dx, &dy);
  if (shot == NULL)
    return FALSE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  if (!lam_slice_model_get_mark_in (self->model, info->plane, &row, &column)) {
    row = info->height / 2;
    column = info->width / 2;
    dx = dy = 0;
  }
  lam_slice_model_set_mark_in (self->model, info->plane, CLAMP (row + dy, 0, info->height - 1),
                               CLAMP (column + dx, 0, info->width - 1));
  return TRUE;
}

static gboolean
unmark_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  if (LAM_SLICE_VIEW (widget)->model != NULL && !lam_slice_tools_remove (LAM_SLICE_VIEW (widget)))
    lam_slice_model_unset_mark (LAM_SLICE_VIEW (widget)->model);
  return TRUE;
}

static gboolean
plane_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceModel *model = LAM_SLICE_VIEW (widget)->model;
  int plane = g_variant_get_int32 (args);
  if (model == NULL || lam_slice_model_get_plane (model) >= LAM_PLANES
      || (plane == LAM_PLANES && !LAM_SLICE_VIEW (widget)->offers_planes))
    return TRUE;
  lam_slice_model_set_all_planes (model, plane == LAM_PLANES);
  if (plane < LAM_PLANES)
    lam_slice_model_set_plane (model, plane);
  return TRUE;
}

/* Puts a tool away; anything else is for the window (Esc stops a run). */
static gboolean
escape_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  if (!self->window_tool && self->tool == LAM_SLICE_TOOL_POINTER)
    return FALSE;
  g_object_set (widget, "window-tool", FALSE, NULL);
  lam_slice_view_set_tool (self, LAM_SLICE_TOOL_POINTER);
  return TRUE;
}

/* A crosshair out of sight is brought into the middle. */
static void
show_mark (LamSliceView *self)
{
  int64_t row, column;
  double x, y;
  if (!lam_slice_model_get_mark_in (self->model, lam_slice_view_get_plane (self), &row, &column))
    return;
  lam_slice_view_to_widget (self, column + 0.5, row + 0.5, &x, &y);
  if (x < 0 || y < 0 || x > gtk_widget_get_width (GTK_WIDGET (self)) || y > gtk_widget_get_height (GTK_WIDGET (self)))
    lam_slice_view_set_zoom (self, lam_slice_view_get_zoom (self), column + 0.5, row + 0.5);
}

static void
action_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  double x, y;
  center (self, &x, &y);
  if (g_str_equal (name, "slice.fit"))
    lam_slice_view_fit (self);
  else if (g_str_equal (name, "slice.zoom-in"))
    lam_slice_view_zoom_at (self, ZOOM_STEP, x, y);
  else if (g_str_equal (name, "slice.zoom-out"))
    lam_slice_view_zoom_at (self, 1 / ZOOM_STEP, x, y);
  else if (g_str_equal (name, "slice.zoom-one"))
    lam_slice_view_zoom_at (self, 1 / lam_slice_view_get_zoom (self), x, y);
  else if (g_str_equal (name, "slice.window-tool"))
    g_object_set (self, "window-tool", !self->window_tool, NULL);
  else if (self->model == NULL)
    return;
  else if (g_str_equal (name, "slice.copy"))
    lam_picture_export_copy (self, self->bar_in_copies);
  else if (g_str_equal (name, "slice.level-auto"))
    lam_slice_model_level_auto (self->model);
  else if (g_str_equal (name, "slice.level-full"))
    lam_slice_model_level_full (self->model);
  else if (g_str_equal (name, "slice.level-reset"))
    lam_slice_model_level_reset (self->model);
  else if (g_str_equal (name, "slice.invert"))
    lam_slice_model_set_inverted (self->model, !lam_slice_model_get_inverted (self->model));
  else if (g_str_equal (name, "slice.next-bad")) {
    if (lam_slice_model_mark_next_bad (self->model))
      show_mark (self);
    else
      gtk_widget_error_bell (widget);
  }
}

void
lam_slice_input_class_init (GtkWidgetClass *klass)
{
  static const struct {
    const char *action;
    guint keys[3];
  } actions[] = {
      {"slice.fit", {GDK_KEY_f}},
      {"slice.zoom-in", {GDK_KEY_plus, GDK_KEY_KP_Add, GDK_KEY_equal}},
      {"slice.zoom-out", {GDK_KEY_minus, GDK_KEY_KP_Subtract}},
      {"slice.zoom-one", {GDK_KEY_0, GDK_KEY_KP_0}},
      {"slice.level-auto", {0}},
      {"slice.level-full", {0}},
      {"slice.level-reset", {GDK_KEY_r}},
      {"slice.invert", {GDK_KEY_i}},
      {"slice.window-tool", {GDK_KEY_w}},
      {"slice.next-bad", {GDK_KEY_n}},
      {"slice.copy", {0}},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (actions); i++) {
    gtk_widget_class_install_action (klass, actions[i].action, NULL, action_cb);
    for (int k = 0; k < 3 && actions[i].keys[k] != 0; k++) {
      gtk_widget_class_add_binding_action (klass, actions[i].keys[k], 0, actions[i].action, NULL);
      if (g_str_has_prefix (actions[i].action, "slice.zoom"))
        gtk_widget_class_add_binding_action (klass, actions[i].keys[k], GDK_CONTROL_MASK, actions[i].action, NULL);
    }
  }

  gtk_widget_class_add_binding_action (klass, GDK_KEY_c, GDK_CONTROL_MASK, "slice.copy", NULL);
  gtk_widget_class_add_binding_action (klass, GDK_KEY_Insert, GDK_CONTROL_MASK, "slice.copy", NULL);

  static const struct {
    guint key;
    gint64 step;
  } steps[] = {{GDK_KEY_Page_Up, -10}, {GDK_KEY_Page_Down, 10}, {GDK_KEY_Home, -G_MAXINT32}, {GDK_KEY_End, G_MAXINT32}};
  for (size_t i = 0; i < G_N_ELEMENTS (steps); i++)
    gtk_widget_class_add_binding (klass, steps[i].key, 0, step_key, "x", steps[i].step);

  static const struct {
    guint key;
    int dx, dy;
  } moves[] = {{GDK_KEY_Up, 0, -1}, {GDK_KEY_Down, 0, 1}, {GDK_KEY_Left, -1, 0}, {GDK_KEY_Right, 1, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS (moves); i++) {
    gtk_widget_class_add_binding (klass, moves[i].key, 0, arrow_key, "(ii)", moves[i].dx, moves[i].dy);
    gtk_widget_class_add_binding (klass, moves[i].key, GDK_SHIFT_MASK, mark_key, "(ii)", moves[i].dx, moves[i].dy);
    gtk_widget_class_add_binding (klass, moves[i].key, GDK_ALT_MASK, pan_key, "(iib)", moves[i].dx, moves[i].dy, FALSE);
    gtk_widget_class_add_binding (klass, moves[i].key, GDK_ALT_MASK | GDK_SHIFT_MASK, pan_key, "(iib)", moves[i].dx,
                                  moves[i].dy, TRUE);
  }

  static const struct {
    guint key;
    int plane;
  } planes[] = {{GDK_KEY_1, LAM_PLANE_SLICE}, {GDK_KEY_2, LAM_PLANE_ROW}, {GDK_KEY_3, LAM_PLANE_COLUMN},
                {GDK_KEY_a, LAM_PLANE_SLICE}, {GDK_KEY_c, LAM_PLANE_ROW}, {GDK_KEY_s, LAM_PLANE_COLUMN},
                {GDK_KEY_4, LAM_PLANES}};
  for (size_t i = 0; i < G_N_ELEMENTS (planes); i++)
    gtk_widget_class_add_binding (klass, planes[i].key, 0, plane_key, "i", planes[i].plane);

  gtk_widget_class_add_binding (klass, GDK_KEY_Delete, 0, unmark_key, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_Escape, 0, escape_key, NULL);
}
