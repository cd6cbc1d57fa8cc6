/* train-view.h: the train of a sequence over time: flip angles (or what else is listed) as stems that can be dragged, and
 * when samples are taken. A drag moves the pulse under the hand and, by the brush, its neighbours. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_TRAIN_VIEW (lam_train_view_get_type ())
G_DECLARE_FINAL_TYPE (LamTrainView, lam_train_view, LAM, TRAIN_VIEW, GtkWidget)

/* Property: pulse (the chosen one, -1: none). Signal "describe" (text): what is under the hand, NULL: nothing. */
GtkWidget *lam_train_view_new (LamSequenceSession *session);
int lam_train_view_get_pulse (LamTrainView *self);
/* Pulses to either side that a drag takes along; 0: only the one. */
void lam_train_view_set_brush (LamTrainView *self, int pulses);
int lam_train_view_get_brush (LamTrainView *self);
/* Where the stem of @pulse ends, in the widget; for tests. */
void lam_train_view_get_handle (LamTrainView *self, int pulse, double *x, double *y);

G_END_DECLS
