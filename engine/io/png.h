/* png.h: a float plane as an 8-bit picture. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* @plane [height][width]: black at @low, white at @high (swapped for an inverted picture); pixels that are not finite
 * are hatched. @rgb 256 x 3 colours, or NULL for grey; with NULL a picture that has bad pixels becomes RGB so that the
 * hatch is red. @zoom >= 1 repeats pixels. Atomic. */
gboolean lam_png_write (const char *path, const float *plane, int64_t width, int64_t height, double low, double high,
                        const unsigned char *rgb, int zoom, GError **error);
/* The same for ready pixels, [height][width][channels], channels 1 or 3. */
gboolean lam_png_write_pixels (const char *path, const unsigned char *pixels, int64_t width, int64_t height,
                               int channels, GError **error);

G_END_DECLS
