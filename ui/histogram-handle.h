/* histogram-handle.h: one end of the window: a slider for hands, keys and screen readers. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LAM_TYPE_HISTOGRAM_HANDLE (lam_histogram_handle_get_type ())
G_DECLARE_FINAL_TYPE (LamHistogramHandle, lam_histogram_handle, LAM, HISTOGRAM_HANDLE, GtkWidget)

/* Signal "moved" (double steps): a key asks to move by that many hundredths of the plot's width. */
GtkWidget *lam_histogram_handle_new (const char *label);
void lam_histogram_handle_set_value (LamHistogramHandle *self, double value, double min, double max, const char *text);

G_END_DECLS
