/* slice-raster.h: one look at a snapshot, and its picture made by the CPU.
 *
 * The same rules as the shader of slice-gl.c: nearest neighbour, NaN hatched one way and infinity the other, a pixel
 * grid from 8 device pixels per pixel. Used where there is no GL, and to check the shader. No GTK. */
#pragma once

#include <glib.h>

#include "run/snapshot.h"

G_BEGIN_DECLS

typedef struct {
  double origin_x, origin_y; /* where the picture's upper left corner lies, in device pixels */
  double scale_x, scale_y;   /* device pixels per pixel */
  float low, high;           /* window */
  gboolean inverted;
} LamSliceLook;

#define LAM_HATCH_PERIOD 8
#define LAM_GRID_SCALE 8
/* RGB of the hatch and the surround, 0..255; the shader has the same. */
#define LAM_HATCH_LIGHT 255, 120, 0
#define LAM_HATCH_DARK 61, 56, 70
#define LAM_SURROUND 10, 10, 12
/* Of a pixel that has no value and is none the worse for it (lam_absent ()): marked, and no alarm. */
#define LAM_QUIET_LIGHT 66, 66, 72
#define LAM_QUIET_DARK 42, 42, 46

/* Fills @argb, @width x @height device pixels, as cairo (RGB24, ARGB32) and GTK (GDK_MEMORY_DEFAULT) have them, so that nothing
 * is converted when it is drawn; @shot may be NULL. @map: 256 colours, of bytes R G B A. */
void lam_slice_raster (const LamSnapshot *shot, const LamSliceLook *look, const guint8 *map, int width, int height,
                       guint32 *argb);

G_END_DECLS
