/* states-tab.h: the States tab of the Sequence workspace: the train, which can be dragged, over the map of one tissue's states. */
#pragma once

#include <gtk/gtk.h>

#include "states-view.h"

G_BEGIN_DECLS

#define LAM_TYPE_STATES_TAB (lam_states_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamStatesTab, lam_states_tab, LAM, STATES_TAB, GtkBox)

/* Signal "describe" (text): what is under the hand, NULL: nothing. */
GtkWidget *lam_states_tab_new (LamSequenceSession *session);
GtkWidget *lam_states_tab_get_train (LamStatesTab *self); /* a LamTrainView */
LamSequenceStates *lam_states_tab_get_states (LamStatesTab *self);
LamStatesView *lam_states_tab_get_view (LamStatesTab *self);

G_END_DECLS
