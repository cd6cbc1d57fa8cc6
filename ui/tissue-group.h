/* tissue-group.h: the tissues in the sidebar: a row each, the list of measured ones, and the T1-T2 chart in a popover. */
#pragma once

#include "tissue-chart.h"

G_BEGIN_DECLS

#define LAM_TYPE_TISSUE_GROUP (lam_tissue_group_get_type ())
G_DECLARE_FINAL_TYPE (LamTissueGroup, lam_tissue_group, LAM, TISSUE_GROUP, GtkBox)

/* Signals: "describe" (text): what is under the hand, NULL: nothing; "refused" (text): a tissue could not be added. */
GtkWidget *lam_tissue_group_new (LamSequenceSession *session);
LamTissueChart *lam_tissue_group_get_chart (LamTissueGroup *self);
void lam_tissue_group_open_chart (LamTissueGroup *self);

G_END_DECLS
