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
/* Whether a Pulseq file is open, of which no dictionary is made: it is said. */
void lam_maps_panel_set_beside_file (LamMapsPanel *self, gboolean beside);

G_END_DECLS
