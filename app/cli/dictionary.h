/* dictionary.h: what `info' says of a dictionary. */
#pragma once

#include "mr/dictionary.h"

G_BEGIN_DECLS

/* The exit status. */
int lam_cli_show_dictionary (const char *path, const LamDictionary *d);

G_END_DECLS
