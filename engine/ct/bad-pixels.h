/* bad-pixels.h: pixels of the detector that cannot be believed: found from flats and darks, or listed by hand.
 *
 * A pixel is compared with the median of the 7 x 7 about it, so that an uneven beam does not matter, and with the spread of
 * all pixels (1.4826 times the median absolute deviation), so that the bad ones do not hide themselves. Dead: flat - dark
 * lies too far below its neighbours. Hot: the dark lies too far above. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

#define LAM_BAD_PIXEL_SIGMAS 6.0

typedef struct {
  int64_t dead, hot; /* a pixel counts under the first that holds */
} LamBadPixelCounts;

/* A list is int32_t [n][2] (row, channel), ascending, each once. NULL with an error; an empty list has size 0. */
typedef GBytes LamBadPixels;

/* @flat, @dark (or NULL: 0): mean frames [rows][channels]. Refuses when more than a fifth of the pixels are bad: then the
 * frames are not what they should be. @counts may be NULL. */
LamBadPixels *lam_bad_pixels_find (const float *flat, const float *dark, int64_t rows, int64_t channels, double sigmas,
                                   LamBadPixelCounts *counts, GError **error);
/* "row channel" on each line of @text, from 0; empty lines, and what follows a #, are left out. Errors name @name and
 * the line. */
LamBadPixels *lam_bad_pixels_parse (const char *text, const char *name, GError **error);
/* All of both; either may be NULL. */
LamBadPixels *lam_bad_pixels_union (LamBadPixels *a, LamBadPixels *b, GError **error);
/* Those in the given part of the detector, counted from its first row and channel. */
LamBadPixels *lam_bad_pixels_crop (LamBadPixels *list, LamRange rows, LamRange channels, GError **error);
/* Pairs and their number; @list may be NULL. */
const int32_t *lam_bad_pixels_data (LamBadPixels *list, int64_t *n);
/* FALSE naming the first that lies outside a detector of this size. */
gboolean lam_bad_pixels_check (LamBadPixels *list, int64_t rows, int64_t channels, GError **error);

G_END_DECLS
