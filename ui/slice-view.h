/* slice-view.h: one plane of a LamSliceModel: the picture, its level, zoom and position, and the hands on it.
 *
 * Keys and mouse as in the manual's table: wheel = slice, Ctrl+wheel = zoom, middle drag = pan, right drag (or left
 * with the window tool) = level, double click = automatic level; F, R, I, W, N, arrows, Page keys, Home, End, + - 0.
 * With the window tool arrows change the level as a drag does, with Ctrl finely; Alt and arrows pan.
 * Measured shapes: O circle, B rectangle, M line, V none of them; drawn by a drag or put there by Enter; moved and sized by
 * handles, or by Ctrl and arrows, with Shift; Delete removes. */
#pragma once

#include <gtk/gtk.h>

#include "model/measure.h"
#include "model/slice-model.h"
#include "slice-overlay.h"
#include "slice-port.h"

G_BEGIN_DECLS

/* What the left button does on the picture. */
typedef enum {
  LAM_SLICE_TOOL_POINTER, /* the crosshair; shapes by their handles and edges */
  LAM_SLICE_TOOL_CIRCLE,
  LAM_SLICE_TOOL_RECTANGLE,
  LAM_SLICE_TOOL_PROFILE,
} LamSliceTool;
#define LAM_SLICE_TOOLS 4

#define LAM_TYPE_SLICE_VIEW (lam_slice_view_get_type ())
G_DECLARE_FINAL_TYPE (LamSliceView, lam_slice_view, LAM, SLICE_VIEW, GtkWidget)

/* Properties: model, crosshair (draw the mark's lines), window-tool (left drag sets the level), tool (int).
 * Actions: slice.fit, slice.zoom-in, slice.zoom-out, slice.level-auto, slice.level-full, slice.level-reset,
 * slice.invert, slice.window-tool, slice.next-bad, slice.copy (Ctrl+C). */
GtkWidget *lam_slice_view_new (LamSliceModel *model);
void lam_slice_view_set_model (LamSliceView *self, LamSliceModel *model);
LamSliceModel *lam_slice_view_get_model (LamSliceView *self);
/* A view of always the same plane, one of several of a model that shows all planes; -1 = of the model's, as it is at first.
 * @placeholder is said where there is no picture of it. */
void lam_slice_view_set_plane (LamSliceView *self, int plane, const char *placeholder);
LamPlane lam_slice_view_get_plane (LamSliceView *self);
/* A line over the picture, of the axis; NULL = none. */
void lam_slice_view_set_line (LamSliceView *self, const LamSliceLine *line);
/* Pixels are drawn so many times as high as they are: a picture of few rows would be a thread. */
void lam_slice_view_set_stretch (LamSliceView *self, double stretch);
/* Told before what is shown, where there are several views. */
void lam_slice_view_set_title (LamSliceView *self, const char *title);
/* Key 4 shows all planes of the model: there is a place for them beside the view. */
void lam_slice_view_set_offers_planes (LamSliceView *self, gboolean offers);
/* Copied pictures have a scale bar. */
void lam_slice_view_set_bar_in_copies (LamSliceView *self, gboolean bar);
/* Links zoom and position with the other views of @port. */
void lam_slice_view_set_port (LamSliceView *self, LamSlicePort *port);
LamSlicePort *lam_slice_view_get_port (LamSliceView *self);
/* Shapes to measure, of the view's model; NULL = the tools do nothing. */
void lam_slice_view_set_measure (LamSliceView *self, LamMeasure *measure);
void lam_slice_view_set_tool (LamSliceView *self, LamSliceTool tool);
LamSliceTool lam_slice_view_get_tool (LamSliceView *self);

/* FALSE = the CPU draws from now on; for machines whose GL misbehaves. It is also what is done when GL fails, and, unless this
 * was called, where the CPU draws the window. */
void lam_slice_view_set_use_gl (LamSliceView *self, gboolean use_gl);
gboolean lam_slice_view_get_use_gl (LamSliceView *self);

void lam_slice_view_fit (LamSliceView *self);
/* Multiplies the zoom, keeping the picture's point under (x, y) of the widget in place. */
void lam_slice_view_zoom_at (LamSliceView *self, double factor, double x, double y);
double lam_slice_view_get_zoom (LamSliceView *self); /* widget pixels per pixel along x */
/* Between widget and picture; pixel (column, row) covers column .. column + 1. */
void lam_slice_view_to_picture (LamSliceView *self, double x, double y, double *column, double *row);
void lam_slice_view_to_widget (LamSliceView *self, double column, double row, double *x, double *y);

/* What the newest frame shows; for measuring. Owned by the view. */
LamSnapshot *lam_slice_view_get_drawn (LamSliceView *self);
/* The CPU's picture is up to date (always TRUE with GL); for tests. */
gboolean lam_slice_view_is_settled (LamSliceView *self);

G_END_DECLS
