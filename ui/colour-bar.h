/* colour-bar.h: which colour is which value of a slice model's pictures, upright, with its unit. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_COLOUR_BAR (lam_colour_bar_get_type ())
G_DECLARE_FINAL_TYPE (LamColourBar, lam_colour_bar, LAM, COLOUR_BAR, GtkWidget)

GtkWidget *lam_colour_bar_new (LamSliceModel *model);

G_END_DECLS
