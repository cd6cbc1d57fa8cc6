/* likeness-view.h: how much one voxel resembles each atom, as a picture over the two first quantities of the dictionary. Arrows
 * and the pointer choose a cell, which is said. */
#pragma once

#include <gtk/gtk.h>

#include "model/voxel-fit.h"

G_BEGIN_DECLS

#define LAM_TYPE_LIKENESS_VIEW (lam_likeness_view_get_type ())
G_DECLARE_FINAL_TYPE (LamLikenessView, lam_likeness_view, LAM, LIKENESS_VIEW, GtkWidget)

/* Signal "describe" (text, or NULL): what the chosen cell is. */
GtkWidget *lam_likeness_view_new (void);
/* Copies what it draws; NULL or a fit without a picture: nothing. */
void lam_likeness_view_set_fit (LamLikenessView *self, const LamVoxelFit *fit);
/* "T1 1012 ms, T2 70 ms: score 0.9987" of the chosen cell, else of the best; NULL: there is none. */
char *lam_likeness_view_describe (LamLikenessView *self);

G_END_DECLS
