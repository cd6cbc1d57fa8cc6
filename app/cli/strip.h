/* strip.h: pictures side by side, each with a text under it. */
#pragma once

#include "run/snapshot.h"

G_BEGIN_DECLS

/* One 8-bit grey picture of all @n slices, nine a row, shrunk to 256 pixels at most, black at @low, white at @high. Under each
 * its text: digits, point and sign. The one at @marked has a frame. Written atomically. */
gboolean lam_cli_strip_write (const char *path, LamSnapshot *const *slices, const char *const *texts, int n, int marked,
                              double low, double high, GError **error);

G_END_DECLS
