/* histogram.h: the finite values of the shown slice, with the two ends of the window as handles.
 *
 * Drag a handle, or between them to move the window; Tab to a handle and use the arrow keys (Shift = coarse). Double
 * click = automatic level. The counting is the model's, on another thread. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_HISTOGRAM (lam_histogram_get_type ())
G_DECLARE_FINAL_TYPE (LamHistogram, lam_histogram, LAM, HISTOGRAM, GtkWidget)

/* Property: model. */
GtkWidget *lam_histogram_new (LamSliceModel *model);
void lam_histogram_set_model (LamHistogram *self, LamSliceModel *model);

/* The values at the left and right end of the plot. */
void lam_histogram_get_range (LamHistogram *self, double *low, double *high);
/* The handle of the window's lower (0) or upper (1) end; a focusable widget. */
GtkWidget *lam_histogram_get_handle (LamHistogram *self, int which);

G_END_DECLS
