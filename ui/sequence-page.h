/* sequence-page.h: the workspace of the MR physicist: sequence, tissues and model at the left; train, signal, sensitivity and
 * precision, all of which move while a handle is dragged. */
#pragma once

#include <adwaita.h>

#include "maps-tab.h"
#include "model/pulseq-look.h"
#include "model/sequence-compare.h"
#include "model/sequence-optimise.h"

G_BEGIN_DECLS

#define LAM_TYPE_SEQUENCE_PAGE (lam_sequence_page_get_type ())
G_DECLARE_FINAL_TYPE (LamSequencePage, lam_sequence_page, LAM, SEQUENCE_PAGE, AdwBin)

/* Signals: "status" (text): what is under the hand; "meaning": what the numbers mean, or are wrong with, changed. Set once,
 * before the page is shown. */
void lam_sequence_page_set_session (LamSequencePage *self, LamSequenceSession *session);
/* The tab of dictionaries and maps, whose jobs go through @queue; once, after the session. */
void lam_sequence_page_add_maps (LamSequencePage *self, LamQueue *queue);
LamMapsTab *lam_sequence_page_get_maps (LamSequencePage *self); /* NULL: there is none */
GtkWidget *lam_sequence_page_get_train (LamSequencePage *self);
GtkWidget *lam_sequence_page_get_times (LamSequencePage *self); /* a LamTimesView */
LamSequenceCompare *lam_sequence_page_get_compare (LamSequencePage *self);
LamSequenceOptimise *lam_sequence_page_get_optimise (LamSequencePage *self);
GtkWidget *lam_sequence_page_get_states (LamSequencePage *self);  /* a LamStatesTab */
GtkWidget *lam_sequence_page_get_tissues (LamSequencePage *self); /* a LamTissueGroup */
/* Of a Pulseq file: what of it is seen, and its drawing. */
LamPulseqLook *lam_sequence_page_get_look (LamSequencePage *self);
GtkWidget *lam_sequence_page_get_timeline (LamSequencePage *self);
GtkWidget *lam_sequence_page_get_problems (LamSequencePage *self);
GtkWidget *lam_sequence_page_get_precision (LamSequencePage *self); /* a LamPrecisionTab; seen with a file */
GtkWidget *lam_sequence_page_get_kspace (LamSequencePage *self);
/* "timeline", "states", "kspace", "precision", "maps" */
void lam_sequence_page_show_tab (LamSequencePage *self, const char *name);
const char *lam_sequence_page_get_tab (LamSequencePage *self);
/* What the numbers mean, and the first problem, as markup for the status bar. g_free (). */
char *lam_sequence_page_dup_meaning (LamSequencePage *self);
void lam_sequence_page_set_show_sidebar (LamSequencePage *self, gboolean show);
void lam_sequence_page_next_pane (LamSequencePage *self, int step);

G_END_DECLS
