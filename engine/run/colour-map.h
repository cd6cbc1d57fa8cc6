/* colour-map.h: the colours that numbers are drawn in, of the window's slices and of picture files. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  LAM_COLOUR_MAP_GREY,
  LAM_COLOUR_MAP_VIRIDIS,
  LAM_COLOUR_MAP_DIVERGING, /* blue, white, red; for differences */
  LAM_COLOUR_MAP_LIPARI,    /* for T1 */
  LAM_COLOUR_MAP_NAVIA,     /* for T2 */
  LAM_COLOUR_MAP_CYCLIC,    /* its ends meet; for phases */
} LamColourMap;

#define LAM_COLOUR_MAPS 6

/* The 256 colours of @map as RGBA bytes. */
void lam_colour_map_fill (LamColourMap map, guint8 rgba[256 * 4]);
/* What suits a map of this quantity: "T1", "T2_3" (the third best), "phase". */
LamColourMap lam_colour_map_for (const char *quantity);

G_END_DECLS
