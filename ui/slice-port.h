/* slice-port.h: which part of a volume its views look at, and how large: shared by those that are linked.
 *
 * The scale is that of the slices' pixels along x, so that what lies in space alike is seen alike in all planes. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_SLICE_PORT (lam_slice_port_get_type ())
G_DECLARE_FINAL_TYPE (LamSlicePort, lam_slice_port, LAM, SLICE_PORT, GObject)

/* Signal: "changed". */
LamSlicePort *lam_slice_port_new (void);

/* Fitted: every view shows its whole picture, at the scale of the one with the least room. */
gboolean lam_slice_port_get_fitted (LamSlicePort *self);
void lam_slice_port_fit (LamSlicePort *self);
double lam_slice_port_get_scale (LamSlicePort *self);
/* The point in the middle of a view of @plane, in its pixels; NaN where nothing was set. */
void lam_slice_port_get_centre (LamSlicePort *self, LamPlane plane, double *column, double *row);
void lam_slice_port_set (LamSlicePort *self, double scale, LamPlane plane, double column, double row);

/* The views that look through it, not held; each says by which scale it would be fitted. */
void lam_slice_port_add_view (LamSlicePort *self, gpointer view);
void lam_slice_port_remove_view (LamSlicePort *self, gpointer view);
const GPtrArray *lam_slice_port_get_views (LamSlicePort *self);

G_END_DECLS
