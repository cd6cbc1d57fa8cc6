/* preferences.h: what is set once for all windows (model/settings.h). */
#pragma once

#include <adwaita.h>

#include "model/settings.h"

G_BEGIN_DECLS

#define LAM_TYPE_PREFERENCES (lam_preferences_get_type ())
G_DECLARE_FINAL_TYPE (LamPreferences, lam_preferences, LAM, PREFERENCES, AdwPreferencesWindow)

GtkWidget *lam_preferences_new (LamSettings *settings, GtkWindow *parent);

G_END_DECLS
