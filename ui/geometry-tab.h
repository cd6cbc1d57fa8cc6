/* geometry-tab.h: the scene in large, and the sweep: slices over a range of one parameter, of which one is taken. */
#pragma once

#include <adwaita.h>

#include "model/session.h"

G_BEGIN_DECLS

#define LAM_TYPE_GEOMETRY_TAB (lam_geometry_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamGeometryTab, lam_geometry_tab, LAM, GEOMETRY_TAB, AdwBin)

/* Set once, before the tab is shown. */
void lam_geometry_tab_set_session (LamGeometryTab *self, LamSession *session);

G_END_DECLS
