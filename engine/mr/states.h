/* states.h: the states of one tissue on their way through a train: |F+_k|, |F-_k| and |Z_k| of every order after each event. They are
 * read off the EPG kernel while it plays; nothing is simulated in another way. */
#pragma once

#include <glib.h>

#include "mr/model.h"

G_BEGIN_DECLS

/* What a column was looked at after: bits. */
enum {
  LAM_LOOK_PULSE = 1,
  LAM_LOOK_SAMPLE = 2,
  LAM_LOOK_WINDING = 4,
};

typedef struct {
  int64_t columns, looks; /* fewer columns than looks: each is the largest of several */
  int orders;
  double duration;         /* s, of one playing */
  double *time;            /* [columns] s from the start of the playing */
  int32_t *column;         /* [looks] where each is */
  guint8 *kind;            /* [columns] */
  float *plus, *minus, *z; /* [columns][orders], M0 included; waters summed */
  float *start;            /* [3][orders]: the same before the first event */
} LamStates;

/* Any thread. The states of voxel @voxel of @tissues in train @train of @m, in the centre of the slice, of the last playing (one more
 * where it is played until settled). @m is made stepwise and should be kept for this; at most @columns columns (0: as many as
 * there are looks, within bounds of memory). LAM_ERROR_NOT_SUPPORTED: a closed form has no states. */
gboolean lam_states_record (LamModel *m, const LamTissues *tissues, int64_t voxel, int train,
                            const LamSimulateOptions *options, int64_t columns, LamStates *states, GError **error);
void lam_states_clear (LamStates *states);

G_END_DECLS
