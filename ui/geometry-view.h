/* geometry-view.h: the scan seen from above, to scale, with axis, detector and source to drag.
 *
 * Rays run from left to right, the detector's channels from top to bottom. That is the slice's own picture (row 0 at
 * the top, source below) turned by a quarter, so that a growing angle turns clockwise in both. */
#pragma once

#include <gtk/gtk.h>

#include "ct/geometry.h"
#include "model/session-parameters.h"

G_BEGIN_DECLS

#define LAM_TYPE_GEOMETRY_VIEW (lam_geometry_view_get_type ())
G_DECLARE_FINAL_TYPE (LamGeometryView, lam_geometry_view, LAM, GEOMETRY_VIEW, GtkWidget)

/* What a hand can take. Across the rays, axis and detector move the offset between them; along the rays (cone beam) the axis
 * moves the distance source to axis, the detector that of source to detector, and the source both. */
typedef enum {
  LAM_HANDLE_NONE,
  LAM_HANDLE_AXIS,
  LAM_HANDLE_DETECTOR,
  LAM_HANDLE_SOURCE,
} LamHandle;

/* Signals: drag-begin (LamHandle), dragged (const LamPlace *), drag-end. A drag begins across or along the rays, whichever
 * the hand does first, and keeps to that. Across it moves at most one channel for each pixel, unless Shift is held; with Ctrl
 * ten times finer.
 * Keys: A, D and S choose axis, detector or source, and arrows move that one: up and down by 0.1 channel, with Shift or Page Up
 * and Down by 1, with Ctrl by 0.01; in cone beam left and right by 0.1 % of its distance, with Shift 1 %, with Ctrl 0.01 %.
 * These come without begin and end.
 * The view shows the new place only when it is given the new geometry. */
GtkWidget *lam_geometry_view_new (void);
/* Copies what it needs; NULL = nothing to show. */
void lam_geometry_view_set_geometry (LamGeometryView *self, const LamGeometry *geometry);
/* Where the axis is, in widget pixels; FALSE = nothing shown. */
gboolean lam_geometry_view_get_axis_point (LamGeometryView *self, double *x, double *y);
/* The same of any handle. */
gboolean lam_geometry_view_get_point (LamGeometryView *self, LamHandle handle, double *x, double *y);

G_END_DECLS
