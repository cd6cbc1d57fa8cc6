/* projections-tab.h: one view, or one sinogram, of the scan: before preparation, after it, and the difference. */
#pragma once

#include <adwaita.h>

#include "model/before-after.h"
#include "slice-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_PROJECTIONS_TAB (lam_projections_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamProjectionsTab, lam_projections_tab, LAM, PROJECTIONS_TAB, AdwBin)

/* Once; @plane: LAM_PLANE_VIEW or LAM_PLANE_SINOGRAM. */
void lam_projections_tab_set_pictures (LamProjectionsTab *self, LamBeforeAfter *pictures, LamPlane plane);
LamSliceView *lam_projections_tab_get_view (LamProjectionsTab *self, LamPreviewKind kind);
/* Where F6 goes, in order. */
int lam_projections_tab_get_panes (LamProjectionsTab *self, GtkWidget **panes);

G_END_DECLS
