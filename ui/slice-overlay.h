/* slice-overlay.h: what is drawn over a slice: corner texts, scale bar, crosshair. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

/* From (x0, y0) to (x1, y1) in pixels of the picture; x0 NaN = none. */
typedef struct {
  double x0, y0, x1, y1;
} LamSliceLine;

typedef struct {
  LamPlane plane;
  gboolean brief;            /* level and scale bar stand in another view of the same model */
  double origin_x, origin_y; /* of the picture, in widget pixels */
  double scale_x, scale_y;   /* widget pixels per pixel */
  gboolean crosshair;
  LamSliceLine line; /* of the axis */
  const char *hint;  /* one more line under the window's figures, or NULL */
} LamSliceOverlay;

void lam_slice_overlay_snapshot (GtkWidget *widget, GtkSnapshot *snapshot, LamSliceModel *model,
                                 const LamSliceOverlay *overlay);

/* In the middle of an empty picture. */
void lam_slice_overlay_words (GtkWidget *widget, GtkSnapshot *snapshot, const char *text);

/* The longest of 1, 2, 5 times a power of ten that is at most @widest widget pixels at @scale pixels per unit. */
double lam_scale_bar_length (double scale, double widest);

G_END_DECLS
