/* maps-tab.h: the Maps tab of the Sequence workspace: what maps are made of, the maps, and the voxel that is marked.
 * Actions: maps.make, maps.open-dictionary, maps.save-dictionary, maps.open-series, maps.phantom, maps.match, maps.try,
 * maps.save. */
#pragma once

#include <adwaita.h>

#include "maps-panel.h"
#include "slice-view.h"
#include "voxel-card.h"

G_BEGIN_DECLS

#define LAM_TYPE_MAPS_TAB (lam_maps_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamMapsTab, lam_maps_tab, LAM, MAPS_TAB, AdwBin)

/* Signal "status" (text, or NULL): what is under the pointer. */
GtkWidget *lam_maps_tab_new (LamMapsModel *model);
LamMapsModel *lam_maps_tab_get_model (LamMapsTab *self);
LamMapsPanel *lam_maps_tab_get_panel (LamMapsTab *self);
LamSliceView *lam_maps_tab_get_slice_view (LamMapsTab *self);
LamVoxelCard *lam_maps_tab_get_voxel_card (LamMapsTab *self);
/* The button that shows the map of this name; NULL: there is none. */
GtkWidget *lam_maps_tab_get_map_button (LamMapsTab *self, const char *name);

G_END_DECLS
