/* sequence-compare.h: the session's train once more, as a sum of spins, beside what EPG says: only where the model's row asks for it, on
 * a thread of its own. Main thread. */
#pragma once

#include "model/sequence-session.h"

G_BEGIN_DECLS

/* Immutable once published; counted. */
typedef struct {
  gatomicrefcount refs;
  guint64 serial; /* of the result that it belongs to */
  int tissues, samples, spins;
  float *re, *im;                               /* [tissues][samples] */
  double difference[LAM_SEQUENCE_MOST_TISSUES]; /* largest, from EPG, relative to the peak */
  double seconds;
} LamSpinSum;

#define LAM_TYPE_SEQUENCE_COMPARE (lam_sequence_compare_get_type ())
G_DECLARE_FINAL_TYPE (LamSequenceCompare, lam_sequence_compare, LAM, SEQUENCE_COMPARE, GObject)

/* Signal "changed": there is another sum, or none any more. The session outlives it; closed before the last reference goes. */
LamSequenceCompare *lam_sequence_compare_new (LamSequenceSession *session);
void lam_sequence_compare_close (LamSequenceCompare *self);
/* Of the present train and tissues, or the newest there is while another is made; NULL: not asked for, or not possible. */
const LamSpinSum *lam_sequence_compare_get_sum (LamSequenceCompare *self);
/* The sum belongs to the session's present result, or none is asked for. */
gboolean lam_sequence_compare_is_settled (LamSequenceCompare *self);

G_END_DECLS
