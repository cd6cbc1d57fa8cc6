/* precision-tab.h: what an open Pulseq file tells of the tissues: sensitivities of its samples over time and Cramér–Rao bounds; and
 * in words which samples, what is going on, or why there is nothing. */
#pragma once

#include <gtk/gtk.h>

#include "chart.h"
#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_PRECISION_TAB (lam_precision_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamPrecisionTab, lam_precision_tab, LAM, PRECISION_TAB, GtkBox)

GtkWidget *lam_precision_tab_new (LamSequenceSession *session);
/* What of the complex signal the sensitivities are of, as Part of sequence-page-private.h; of a phase: the magnitude. */
void lam_precision_tab_set_part (LamPrecisionTab *self, int part);
LamChart *lam_precision_tab_get_chart (LamPrecisionTab *self);
GtkWidget *lam_precision_tab_get_bounds (LamPrecisionTab *self);
/* Begins or stops what takes long; in sight when there is something to. */
GtkWidget *lam_precision_tab_get_button (LamPrecisionTab *self);
/* The line that says which samples are meant, and the one that says why there is no bound. */
const char *lam_precision_tab_get_text (LamPrecisionTab *self);
const char *lam_precision_tab_get_why (LamPrecisionTab *self);

G_END_DECLS
