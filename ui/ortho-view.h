/* ortho-view.h: slice, row and column planes of one model beside each other, at one scale and level, through one point. */
#pragma once

#include "slice-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_ORTHO_VIEW (lam_ortho_view_get_type ())
G_DECLARE_FINAL_TYPE (LamOrthoView, lam_ortho_view, LAM, ORTHO_VIEW, GtkWidget)

void lam_ortho_view_set_model (LamOrthoView *self, LamSliceModel *model, LamMeasure *measure);
LamSliceView *lam_ortho_view_get_view (LamOrthoView *self, LamPlane plane);

G_END_DECLS
