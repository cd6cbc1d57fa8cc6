/* map-picture.h: a plane of a map in colours, with a bar that says what they mean. */
#pragma once

#include "draw/canvas.h"

G_BEGIN_DECLS

typedef struct {
  const float *values; /* [height][width]; what is not finite is hatched */
  int64_t width, height;
  double across, down;   /* pixels of the picture for one of these */
  double low, high;      /* of the bar */
  const guint8 *colours; /* [256] RGBA, from low to high */
  const char *title, *unit;
} LamMapPicture;

/* In pixels; values that cairo cannot draw are the caller's to refuse. */
void lam_map_picture_size (const LamMapPicture *p, int64_t *width, int64_t *height);
void lam_map_picture_draw (cairo_t *cr, const LamCanvas *canvas, const LamMapPicture *p);

G_END_DECLS
