/* tissue-presets.h: the engine's list of measured tissues, for menus. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

int lam_tissue_preset_count (void);
/* "White matter, 3 T"; g_free (). */
char *lam_tissue_preset_describe (int i, double *t1, double *t2, const char **source);

G_END_DECLS
