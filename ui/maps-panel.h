/* maps-panel.h: what maps are made of, in the order of the work: a dictionary, a series, the match; and the levels of what is
 * shown. Its buttons are the actions of maps-tab.h. */
#pragma once

#include <adwaita.h>

#include "model/maps-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_MAPS_PANEL (lam_maps_panel_get_type ())
G_DECLARE_FINAL_TYPE (LamMapsPanel, lam_maps_panel, LAM, MAPS_PANEL, AdwBin)

GtkWidget *lam_maps_panel_new (LamMapsModel *model);
/* The button that does @action ("maps.match"); NULL: none. */
GtkWidget *lam_maps_panel_get_button (LamMapsPanel *self, const char *action);

G_END_DECLS
