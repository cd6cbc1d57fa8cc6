/* compare-tab.h: two results beside each other and their difference: A | B | A − B, linked. */
#pragma once

#include <adwaita.h>

#include "model/compare.h"
#include "slice-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_COMPARE_TAB (lam_compare_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamCompareTab, lam_compare_tab, LAM, COMPARE_TAB, AdwBin)

/* Property: only-difference (key D). Set once, before it is shown. */
void lam_compare_tab_set_session (LamCompareTab *self, LamSession *session);
LamCompare *lam_compare_tab_get_compare (LamCompareTab *self);
LamSliceView *lam_compare_tab_get_view (LamCompareTab *self, LamComparePart part);

G_END_DECLS
