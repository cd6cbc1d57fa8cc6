/* geometry-view.h: the scan seen from above, to scale, with the axis of rotation to drag.
 *
 * Rays run from left to right, the detector's channels from top to bottom. That is the slice's own picture (row 0 at
 * the top, source below) turned by a quarter, so that a growing angle turns clockwise in both. */
#pragma once

#include <gtk/gtk.h>

#include "ct/geometry.h"

G_BEGIN_DECLS

#define LAM_TYPE_GEOMETRY_VIEW (lam_geometry_view_get_type ())
G_DECLARE_FINAL_TYPE (LamGeometryView, lam_geometry_view, LAM, GEOMETRY_VIEW, GtkWidget)

/* Signals: axis-drag-begin, axis-dragged (double offset, in the geometry's length unit), axis-drag-end.
 * Keys: arrows move the axis by 0.1 channel, with Shift or Page Up and Down by 1; these come without begin and end.
 * The view shows the new place only when it is given the new geometry. */
GtkWidget *lam_geometry_view_new (void);
/* Copies what it needs; NULL = nothing to show. */
void lam_geometry_view_set_geometry (LamGeometryView *self, const LamGeometry *geometry);
/* Where the axis is, in widget pixels; FALSE = nothing shown. */
gboolean lam_geometry_view_get_axis_point (LamGeometryView *self, double *x, double *y);

G_END_DECLS
