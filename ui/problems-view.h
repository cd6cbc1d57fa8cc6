/* problems-view.h: the list of what is wrong with a sequence; a click or Enter goes to where it is. */
#pragma once

#include <gtk/gtk.h>

#include "model/pulseq-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_PROBLEMS_VIEW (lam_problems_view_get_type ())
G_DECLARE_FINAL_TYPE (LamProblemsView, lam_problems_view, LAM, PROBLEMS_VIEW, GtkBox)

/* Signal "go-to" (LamSequenceProblem): one was chosen that has a time. */
GtkWidget *lam_problems_view_new (LamPulseqModel *model);
/* "Problems (3)" */
char *lam_problems_view_dup_title (LamProblemsView *self);
GtkWidget *lam_problems_view_get_list (LamProblemsView *self);

G_END_DECLS
