/* reconstruct-page.h: the workspace of the CT scientist: parameters at the left, the slice in the middle, geometry and
 * levels at its right, convergence and log below. */
#pragma once

#include <adwaita.h>

#include "model/session.h"
#include "slice-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_RECONSTRUCT_PAGE (lam_reconstruct_page_get_type ())
G_DECLARE_FINAL_TYPE (LamReconstructPage, lam_reconstruct_page, LAM, RECONSTRUCT_PAGE, AdwBin)

/* Set once, before the page is shown. */
void lam_reconstruct_page_set_session (LamReconstructPage *self, LamSession *session);
LamSliceView *lam_reconstruct_page_get_slice_view (LamReconstructPage *self);
AdwToastOverlay *lam_reconstruct_page_get_toasts (LamReconstructPage *self);

/* F9, and F6 with or without Shift. */
void lam_reconstruct_page_set_show_sidebar (LamReconstructPage *self, gboolean show);
void lam_reconstruct_page_next_pane (LamReconstructPage *self, int step);
/* From 0: Slices, Views, Sinogram, Geometry, Compare. */
void lam_reconstruct_page_show_tab (LamReconstructPage *self, int tab);
#define LAM_RECONSTRUCT_TABS 5
/* The focus goes to the next border between panes, or with -1 to the one before; arrows move it, Enter leaves it. */
void lam_reconstruct_page_next_border (LamReconstructPage *self, int step);

G_END_DECLS
