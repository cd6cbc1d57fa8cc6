/* slice-shapes.h: the measured shapes drawn over a slice. */
#pragma once

#include "model/shape.h"
#include "slice-overlay.h"

G_BEGIN_DECLS

/* @handles: draws what it is taken hold of by. */
void lam_slice_shape_snapshot (GtkWidget *widget, GtkSnapshot *snapshot, const LamShape *shape,
                               const LamSliceOverlay *overlay, gboolean handles);

G_END_DECLS
