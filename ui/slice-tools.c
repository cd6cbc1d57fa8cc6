/* slice-tools.c: the hands on measured shapes: drawing, moving, sizing, by pointer and keys. */
#include "config.h"

#include "slice-view-private.h"

#include <glib/gi18n.h>
#include <math.h>

#define REACH 7.0 /* widget pixels from a handle or an edge that still take hold of it */
#define LEAST 4.0 /* a shorter drag draws nothing */

static const LamShapeKind drawn_kind[] = {
    [LAM_SLICE_TOOL_POINTER] = LAM_SHAPE_NONE,
    [LAM_SLICE_TOOL_CIRCLE] = LAM_SHAPE_CIRCLE,
    [LAM_SLICE_TOOL_RECTANGLE] = LAM_SHAPE_RECTANGLE,
    [LAM_SLICE_TOOL_PROFILE] = LAM_SHAPE_LINE,
};

static LamMeasureSlot
slot_of (LamShapeKind kind)
{
  return kind == LAM_SHAPE_LINE ? LAM_MEASURE_LINE : LAM_MEASURE_REGION;
}

static double
get_aspect (LamSliceView *self)
{
  double sx, sy;
  return lam_slice_view_get_scale (self, &sx, &sy) ? sy / sx : 1;
}

/* What of which shape lies under (x, y); the one touched last is on top. */
static int
hit (LamSliceView *self, double x, double y, LamMeasureSlot *slot)
{
  double column, row, reach = REACH / fmax (lam_slice_view_get_zoom (self), 1e-6), aspect = get_aspect (self);
  LamPlane plane = lam_slice_view_get_plane (self);
  LamMeasureSlot first;
  if (self->measure == NULL || !lam_measure_get_chosen (self->measure, plane, &first))
    return LAM_SHAPE_OUTSIDE;
  lam_slice_view_to_picture (self, x, y, &column, &row);
  int inside = LAM_SHAPE_OUTSIDE;
  for (int i = 0; i < LAM_MEASURE_SLOTS; i++) {
    LamMeasureSlot s = (first + i) % LAM_MEASURE_SLOTS;
    int found = lam_shape_hit (lam_measure_get_shape (self->measure, plane, s), aspect, column, row, reach);
    if (found >= LAM_SHAPE_BODY) {
      *slot = s;
      return found;
    }
    if (found == LAM_SHAPE_INSIDE && inside == LAM_SHAPE_OUTSIDE) {
      *slot = s;
      inside = found;
    }
  }
  return inside;
}

gboolean
lam_slice_tools_press (LamSliceView *self, double x, double y)
{
  LamMeasureSlot slot = LAM_MEASURE_REGION;
  if (self->measure == NULL)
    return FALSE;
  int found = hit (self, x, y, &slot);
  LamShapeKind kind = drawn_kind[self->tool];
  /* With the pointer a click within a region puts the crosshair there; with a tool in hand it takes hold of the region. */
  gboolean holds = found >= LAM_SHAPE_BODY || (found == LAM_SHAPE_INSIDE && kind != LAM_SHAPE_NONE);
  if (!holds && kind == LAM_SHAPE_NONE)
    return FALSE;
  if (!holds)
    slot = slot_of (kind);
  self->grip = holds ? found : LAM_SHAPE_OUTSIDE;
  self->grip_slot = slot;
  self->start_shape = *lam_measure_get_shape (self->measure, lam_slice_view_get_plane (self), slot);
  if (holds) /* on top, and the one that keys move */
    lam_measure_set_shape (self->measure, lam_slice_view_get_plane (self), slot, &self->start_shape);
  return TRUE;
}

void
lam_slice_tools_drag (LamSliceView *self, double x, double y, double dx, double dy)
{
  double c0, r0, c1, r1, aspect = get_aspect (self);
  lam_slice_view_to_picture (self, x, y, &c0, &r0);
  lam_slice_view_to_picture (self, x + dx, y + dy, &c1, &r1);
  LamShape shape = self->start_shape;
  if (self->grip == LAM_SHAPE_OUTSIDE) {
    if (hypot (dx, dy) >= LEAST)
      shape = lam_shape_drawn (drawn_kind[self->tool], aspect, c0, r0, c1, r1);
  } else if (self->grip >= 0)
    shape = lam_shape_with_handle (&self->start_shape, aspect, self->grip, c1, r1);
  else
    shape = lam_shape_moved (&self->start_shape, c1 - c0, r1 - r0);
  lam_measure_set_shape (self->measure, lam_slice_view_get_plane (self), self->grip_slot, &shape);
}

void
lam_slice_tools_motion (LamSliceView *self, double x, double y)
{
  static const char *const box[] = {"nw-resize", "n-resize", "ne-resize", "e-resize",
                                    "se-resize", "s-resize", "sw-resize", "w-resize"};
  static const char *const circle[] = {"e-resize", "s-resize", "w-resize", "n-resize"};
  LamMeasureSlot slot = LAM_MEASURE_REGION;
  const char *name = drawn_kind[self->tool] != LAM_SHAPE_NONE ? "crosshair" : NULL;
  if (self->drag != LAM_DRAG_NONE)
    return;
  int found = hit (self, x, y, &slot);
  LamShapeKind kind = self->measure != NULL
                          ? lam_measure_get_shape (self->measure, lam_slice_view_get_plane (self), slot)->kind
                          : LAM_SHAPE_NONE;
  if (found >= 0)
    name = kind == LAM_SHAPE_RECTANGLE ? box[found] : kind == LAM_SHAPE_CIRCLE ? circle[found] : "move";
  else if (found == LAM_SHAPE_BODY || (found == LAM_SHAPE_INSIDE && drawn_kind[self->tool] != LAM_SHAPE_NONE))
    name = "move";
  if (name == self->cursor_name)
    return;
  self->cursor_name = name;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), name);
}

const char *
lam_slice_tools_hint (LamSliceView *self)
{
  switch (self->tool) {
  case LAM_SLICE_TOOL_CIRCLE:
    return _ ("drag from the middle · Enter: one here");
  case LAM_SLICE_TOOL_RECTANGLE:
    return _ ("drag from corner to corner · Enter: one here");
  case LAM_SLICE_TOOL_PROFILE:
    return _ ("drag a line · Enter: one here");
  case LAM_SLICE_TOOL_POINTER:
    break;
  }
  return NULL;
}

/* -- keys -- */

/* Ctrl and arrows move what was chosen last, with Shift they size it. With the window tool they change the level finely. */
static gboolean
shape_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  LamMeasureSlot slot;
  int dx, dy;
  gboolean size;
  g_variant_get (args, "(iib)", &dx, &dy, &size);
  LamPlane plane = lam_slice_view_get_plane (self);
  if (self->window_tool && self->model != NULL && !size) {
    lam_slice_input_nudge_level (self, dx / 10.0, dy / 10.0);
    return TRUE;
  }
  if (self->measure == NULL || !lam_measure_get_chosen (self->measure, plane, &slot))
    return FALSE;
  const LamShape *held = lam_measure_get_shape (self->measure, plane, slot);
  /* A circle grows to the right and downwards, as boxes do. */
  LamShape shape = size ? lam_shape_grown (held, dx, dy) : lam_shape_moved (held, dx, dy);
  lam_measure_set_shape (self->measure, plane, slot, &shape);
  return TRUE;
}

/* Puts a shape of the tool's kind into the middle of what is seen, a quarter of it wide. */
static gboolean
place_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  LamShapeKind kind = drawn_kind[self->tool];
  if (kind == LAM_SHAPE_NONE || self->measure == NULL || lam_slice_view_get_shot (self) == NULL)
    return FALSE;
  double column, row, size = fmin (gtk_widget_get_width (widget), gtk_widget_get_height (widget)) / 8.0, c1, r1;
  double x = gtk_widget_get_width (widget) / 2.0, y = gtk_widget_get_height (widget) / 2.0;
  gboolean circle = kind == LAM_SHAPE_CIRCLE, line = kind == LAM_SHAPE_LINE;
  lam_slice_view_to_picture (self, circle ? x : x - size, circle || line ? y : y - size, &column, &row);
  lam_slice_view_to_picture (self, x + size, circle || line ? y : y + size, &c1, &r1);
  LamShape shape = lam_shape_drawn (kind, get_aspect (self), column, row, c1, r1);
  lam_measure_set_shape (self->measure, lam_slice_view_get_plane (self), slot_of (kind), &shape);
  return TRUE;
}

gboolean
lam_slice_tools_remove (LamSliceView *self)
{
  LamMeasureSlot slot;
  LamPlane plane = lam_slice_view_get_plane (self);
  if (self->measure == NULL || !lam_measure_get_chosen (self->measure, plane, &slot))
    return FALSE;
  lam_measure_set_shape (self->measure, plane, slot, NULL);
  return TRUE;
}

static gboolean
tool_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  int tool = g_variant_get_int32 (args);
  if (self->measure == NULL)
    return FALSE;
  lam_slice_view_set_tool (self, (int) self->tool == tool ? LAM_SLICE_TOOL_POINTER : (LamSliceTool) tool);
  return TRUE;
}

void
lam_slice_tools_class_init (GtkWidgetClass *klass)
{
  static const struct {
    guint key;
    int dx, dy;
  } moves[] = {{GDK_KEY_Up, 0, -1}, {GDK_KEY_Down, 0, 1}, {GDK_KEY_Left, -1, 0}, {GDK_KEY_Right, 1, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS (moves); i++) {
    gtk_widget_class_add_binding (klass, moves[i].key, GDK_CONTROL_MASK, shape_key, "(iib)", moves[i].dx, moves[i].dy,
                                  FALSE);
    gtk_widget_class_add_binding (klass, moves[i].key, GDK_CONTROL_MASK | GDK_SHIFT_MASK, shape_key, "(iib)",
                                  moves[i].dx, moves[i].dy, TRUE);
  }
  static const struct {
    guint key;
    LamSliceTool tool;
  } tools[] = {{GDK_KEY_v, LAM_SLICE_TOOL_POINTER},
               {GDK_KEY_o, LAM_SLICE_TOOL_CIRCLE},
               {GDK_KEY_b, LAM_SLICE_TOOL_RECTANGLE},
               {GDK_KEY_m, LAM_SLICE_TOOL_PROFILE}};
  for (size_t i = 0; i < G_N_ELEMENTS (tools); i++)
    gtk_widget_class_add_binding (klass, tools[i].key, 0, tool_key, "i", (int) tools[i].tool);
  gtk_widget_class_add_binding (klass, GDK_KEY_Return, 0, place_key, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_KP_Enter, 0, place_key, NULL);
}
