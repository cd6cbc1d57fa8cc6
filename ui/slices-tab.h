/* slices-tab.h: the volume's slices as they come, with the geometry, the levels and the values beside them. */
#pragma once

#include <adwaita.h>

#include "model/session.h"
#include "model/picture-file.h"
#include "slice-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_SLICES_TAB (lam_slices_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamSlicesTab, lam_slices_tab, LAM, SLICES_TAB, AdwBin)

/* Set once, before the tab is shown. */
void lam_slices_tab_set_session (LamSlicesTab *self, LamSession *session);
LamSliceView *lam_slices_tab_get_slice_view (LamSlicesTab *self);
/* Actions: picture.copy, picture.save (a LamPictureKind), picture.scale-bar. Saves what is shown, as the second asks for a file
 * first. */
void lam_slices_tab_save_picture (LamSlicesTab *self, LamPictureKind kind, GFile *file);
/* Where F6 stops, in order; returns how many, at most 4. */
int lam_slices_tab_get_panes (LamSlicesTab *self, GtkWidget **panes);

G_END_DECLS
