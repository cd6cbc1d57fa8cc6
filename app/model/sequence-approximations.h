/* sequence-approximations.h: what of the physics the Sequence workspace's model takes in, as rows of its list of parameters, and what
 * leaving it out or taking it in does to the signal, in words under each row. */
#pragma once

#include "model/parameter-list.h"
#include "model/sequence-result.h"
#include "model/tissue-item.h"

G_BEGIN_DECLS

typedef struct {
  int orders;            /* 0: the template's own */
  gboolean slice;        /* pulses select one */
  double bandwidth_time; /* of those pulses */
  gboolean pools, off_resonance;
  gboolean compare; /* with a sum of spins */
  int spins;
} LamApproximations;

/* Positions across the slice, where there is a profile. */
#define LAM_SLICE_POSITIONS 21

/* Orders, slice profile, second pool, off-resonance, comparison. */
void lam_approximations_add (LamParameterList *model);
LamApproximations lam_approximations_read (LamParameterList *model);
/* FALSE: the quantity (by name) is left out. */
gboolean lam_approximations_take (const LamApproximations *a, const char *quantity);

/* Any thread. Sets @m to them, and what a question must be asked with. */
void lam_approximations_apply (const LamApproximations *a, LamModel *m, LamSimulateOptions *options);
/* Any thread. Fills @result's effects: how far the signal is from one without each. @other: a model of the same protocol, at hand. */
void lam_approximations_measure (const LamApproximations *a, LamModel *m, LamModel *other, const LamTissues *tissues,
                                 LamDevices *devices, LamSequenceResult *result);

/* Notes under the rows, and which of them can be used: @tissues is of LamTissueItem. */
void lam_approximations_say (LamParameterList *model, const LamSequenceResult *result, GListModel *tissues);

G_END_DECLS
