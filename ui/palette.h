/* palette.h: colours of drawn things, one set for light and one for dark. Told apart by colour-blind eyes, and never
 * the only sign. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

typedef enum {
  LAM_COLOUR_TEXT,
  LAM_COLOUR_DIM,    /* secondary text */
  LAM_COLOUR_GRID,   /* lines behind data */
  LAM_COLOUR_BLUE,   /* first series, selected things */
  LAM_COLOUR_ORANGE, /* second series */
  LAM_COLOUR_RED,    /* limits; the axis of rotation */
  LAM_COLOUR_GREEN,  /* the detector */
  LAM_COLOUR_YELLOW, /* rays */
  LAM_COLOUR_PAPER,  /* under text that crosses lines */
  LAM_COLOURS
} LamColour;

/* For @widget's present style (light, dark). */
GdkRGBA lam_palette (GtkWidget *widget, LamColour colour);
GdkRGBA lam_palette_alpha (GtkWidget *widget, LamColour colour, double alpha);

/* Of one of several things side by side (tissues, devices): eight that colour-blind eyes can tell apart, then from the start. */
GdkRGBA lam_palette_series (GtkWidget *widget, int index);

const char *lam_colour_map_name (LamColourMap map);

/* A one-line layout in @widget's font scaled by @scale; no colour set. */
PangoLayout *lam_small_layout (GtkWidget *widget, const char *text, double scale);
/* Writes such a line with its middle at height @y; @align 0: it begins at @x, 1: it ends there. On whole pixels. */
void lam_small_text (GtkWidget *widget, GtkSnapshot *snapshot, const char *text, double scale, LamColour role, double x,
                     double y, double align);

G_END_DECLS
