/* application.h: lamina-gtk: one process, windows, options and the keys of commands. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define LAM_TYPE_APPLICATION (lam_application_get_type ())
G_DECLARE_FINAL_TYPE (LamApplication, lam_application, LAM, APPLICATION, AdwApplication)

LamApplication *lam_application_new (void);

G_END_DECLS
