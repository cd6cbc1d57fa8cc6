/* settings.h: what a person set once for all windows: a key file in the configuration folder, so that nothing needs to be
 * installed for it. Main thread only; read and written by workers: the defaults hold until the file was read, and it is written a moment after the
 * last change. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define LAM_TYPE_SETTINGS (lam_settings_get_type ())
G_DECLARE_FINAL_TYPE (LamSettings, lam_settings, LAM, SETTINGS, GObject)

/* Properties: colour-scheme ("system", "light", "dark"); autosave (seconds, 0 = off); results-folder (NULL = beside the scan);
 * devices (id of the parameter "devices"); length-units (parameter-list.h; NULL = each its own); loaded (the file was read). */
LamSettings *lam_settings_new (const char *path); /* NULL = the person's own file */
/* Waits until all is written; for the end of the program. */
void lam_settings_flush (LamSettings *self);

gboolean lam_settings_get_loaded (LamSettings *self);
guint lam_settings_get_autosave (LamSettings *self);
const char *lam_settings_get_results_folder (LamSettings *self);
const char *lam_settings_get_devices (LamSettings *self);
const char *lam_settings_get_length_units (LamSettings *self);
const char *lam_settings_get_colour_scheme (LamSettings *self);

G_END_DECLS
