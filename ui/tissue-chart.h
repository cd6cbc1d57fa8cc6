/* tissue-chart.h: tissues by T1 and T2, both logarithmic: handles that are dragged (one step of undo; the signal follows), measured
 * tissues as faint dots that a click adds, and a double click on an empty place adds one there. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_TISSUE_CHART (lam_tissue_chart_get_type ())
G_DECLARE_FINAL_TYPE (LamTissueChart, lam_tissue_chart, LAM, TISSUE_CHART, GtkWidget)

/* Signals: "describe" (text): what is under the hand, NULL: nothing; "refused" (text): no room for another tissue. */
GtkWidget *lam_tissue_chart_new (LamSequenceSession *session);
/* Where T1 and T2 (ms) lie in the widget; for tests. */
void lam_tissue_chart_get_place (LamTissueChart *self, double t1, double t2, double *x, double *y);

G_END_DECLS
