/* picture.h: what was drawn with cairo, as a PNG file. */
#pragma once

#include "draw/canvas.h"

G_BEGIN_DECLS

/* White paper of this size; NULL: no memory for it, or cairo has none so large. cairo_surface_destroy (). */
cairo_surface_t *lam_cli_picture_new (int64_t width, int64_t height, GError **error);
gboolean lam_cli_picture_write (cairo_surface_t *surface, const char *output, GError **error);

G_END_DECLS
