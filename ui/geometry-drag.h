/* geometry-drag.h: a geometry view that shows a session's geometry and whose handles edit it, a drag being one step of undo. */
#pragma once

#include "geometry-view.h"
#include "model/session.h"

G_BEGIN_DECLS

/* Once for a view; lives as long as the view. */
void lam_geometry_drag_connect (LamGeometryView *view, LamSession *session);

G_END_DECLS
