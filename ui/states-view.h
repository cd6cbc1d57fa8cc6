/* states-view.h: the map of states: orders upwards, time to the right, magnitude as colour; where samples are taken, and the path to
 * the state that was chosen. Pointer or arrows say what is there; a click or Enter asks for the path. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-states.h"

G_BEGIN_DECLS

#define LAM_TYPE_STATES_VIEW (lam_states_view_get_type ())
G_DECLARE_FINAL_TYPE (LamStatesView, lam_states_view, LAM, STATES_VIEW, GtkWidget)

/* Signal "describe" (text): what is under the hand, NULL: nothing. */
GtkWidget *lam_states_view_new (LamSequenceStates *states);
/* Where order @order after column @column is drawn, in the widget; for tests. */
void lam_states_view_get_place (LamStatesView *self, int64_t column, int order, double *x, double *y);
/* "path to order 3 ...", g_free (); NULL: none asked. */
char *lam_states_view_describe_path (LamStatesView *self);

G_END_DECLS
