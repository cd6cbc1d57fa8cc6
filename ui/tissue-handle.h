/* tissue-handle.h: the handle of one tissue on the T1-T2 chart: a dot that takes the focus and is moved by arrows. Where it lies and
 * how it is dragged is the chart's. */
#pragma once

#include <gtk/gtk.h>

#include "model/tissue-item.h"

G_BEGIN_DECLS

#define LAM_TYPE_TISSUE_HANDLE (lam_tissue_handle_get_type ())
G_DECLARE_FINAL_TYPE (LamTissueHandle, lam_tissue_handle, LAM, TISSUE_HANDLE, GtkWidget)

#define LAM_TISSUE_HANDLE_SIZE 22

/* Signal "moved" (double, double): T1 and T2 are to be multiplied by these. */
GtkWidget *lam_tissue_handle_new (LamTissueItem *item);
LamTissueItem *lam_tissue_handle_get_item (LamTissueHandle *self);

G_END_DECLS
