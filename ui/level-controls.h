/* level-controls.h: the window's ends as typed values, the colour map, and whether it is inverted. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_LEVEL_CONTROLS (lam_level_controls_get_type ())
G_DECLARE_FINAL_TYPE (LamLevelControls, lam_level_controls, LAM, LEVEL_CONTROLS, GtkBox)

void lam_level_controls_set_model (LamLevelControls *self, LamSliceModel *model);
/* The entry of the lower (0) or upper (1) end. */
GtkWidget *lam_level_controls_get_entry (LamLevelControls *self, int which);

G_END_DECLS
