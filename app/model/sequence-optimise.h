/* sequence-optimise.h: the search for a better train, as a thread of its own: each better train is shown as it is found, and
 * the whole is one step of undo. Main thread. */
#pragma once

#include "model/sequence-session.h"

G_BEGIN_DECLS

#define LAM_TYPE_SEQUENCE_OPTIMISE (lam_sequence_optimise_get_type ())
G_DECLARE_FINAL_TYPE (LamSequenceOptimise, lam_sequence_optimise, LAM, SEQUENCE_OPTIMISE, GObject)

/* Signal "changed": running or not, and what is said. The session outlives it. */
LamSequenceOptimise *lam_sequence_optimise_new (LamSequenceSession *session);
/* Objective, bounds, smoothness, energy, evaluations. */
LamParameterList *lam_sequence_optimise_get_parameters (LamSequenceOptimise *self);
gboolean lam_sequence_optimise_start (LamSequenceOptimise *self, GError **error);
/* Ends it soon; @keep FALSE takes the train of before. */
void lam_sequence_optimise_stop (LamSequenceOptimise *self, gboolean keep);
gboolean lam_sequence_optimise_get_running (LamSequenceOptimise *self);
const char *lam_sequence_optimise_get_text (LamSequenceOptimise *self); /* "0.43 % to 0.31 % after 40 evaluations" */
/* Ends it and waits; nothing is told any more. */
void lam_sequence_optimise_close (LamSequenceOptimise *self);

G_END_DECLS
