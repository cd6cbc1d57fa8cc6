/* times-view.h: the single times of a protocol (TR, TE, an inversion time) as handles on one ruler, so that a gap is dragged as
 * a flip angle is, with the signal under the hand. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_TIMES_VIEW (lam_times_view_get_type ())
G_DECLARE_FINAL_TYPE (LamTimesView, lam_times_view, LAM, TIMES_VIEW, GtkWidget)

/* Signal "describe" (text): what is under the hand, NULL: nothing. */
GtkWidget *lam_times_view_new (LamSequenceSession *session);
/* Where the handle of the time @id is, in the widget; FALSE: there is none. */
gboolean lam_times_view_get_handle (LamTimesView *self, const char *id, double *x, double *y);
const char *lam_times_view_get_chosen (LamTimesView *self); /* its id, NULL: none */

G_END_DECLS
