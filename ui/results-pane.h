/* results-pane.h: the list of results, which stands left of the curve and the log of the one that is in view. Not there while
 * there are none. */
#pragma once

#include <gtk/gtk.h>

#include "model/session.h"

G_BEGIN_DECLS

#define LAM_TYPE_RESULTS_PANE (lam_results_pane_get_type ())
G_DECLARE_FINAL_TYPE (LamResultsPane, lam_results_pane, LAM, RESULTS_PANE, GtkBox)

void lam_results_pane_set_session (LamResultsPane *self, LamSession *session);

G_END_DECLS
