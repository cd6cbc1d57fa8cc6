/* sequence-states.h: the states of one tissue on their way through the session's train, as a picture of orders over time. It follows
 * the session while it is looked at, on a thread of its own, of whose answers the newest counts. Main thread. */
#pragma once

#include "model/sequence-session.h"
#include "mr/pathway.h"
#include "mr/states.h"

G_BEGIN_DECLS

/* Immutable once published; counted. */
typedef struct {
  gatomicrefcount refs;
  guint64 number;   /* of the request */
  guint64 serial;   /* of the session's result that it belongs to */
  LamStates states; /* columns 0: there are none, see @why */
  char *why;        /* no states, in words; NULL */
  int tissue, train, trains;
  gboolean longitudinal, logarithmic;
  int orders; /* that something is in; the picture's rows: 2 orders - 1 of F, from the highest down, or orders of Z */
  double peak, floor;        /* of what is shown: the ends of the scale */
  double *edge;              /* [columns + 1] s: where each column begins; those of one time share what follows it */
  double begin, end;         /* s, of the part of the time axis that the pixels show */
  int width, height;         /* pixels */
  guint32 *pixels;           /* 0xAARRGGBB */
  LamPathway path;           /* n 0: none asked or found */
  const char *path_obstacle; /* why none can be told, or NULL */
  double path_state;         /* magnitude of the state that it leads to */
  double seconds;            /* that it took */
} LamStatesPicture;

LamStatesPicture *lam_states_picture_ref (LamStatesPicture *p);
void lam_states_picture_unref (LamStatesPicture *p);

#define LAM_TYPE_SEQUENCE_STATES (lam_sequence_states_get_type ())
G_DECLARE_FINAL_TYPE (LamSequenceStates, lam_sequence_states, LAM, SEQUENCE_STATES, GObject)

/* Signal "changed": there is another picture. The session outlives it; lam_sequence_states_close () before the last reference goes. */
LamSequenceStates *lam_sequence_states_new (LamSequenceSession *session);
void lam_sequence_states_close (LamSequenceStates *self);

/* Asks only while it is looked at. */
void lam_sequence_states_set_active (LamSequenceStates *self, gboolean active);
/* Device pixels, and the 256 colours of the scale (R G B A). */
void lam_sequence_states_set_size (LamSequenceStates *self, int width, int height);
void lam_sequence_states_set_colours (LamSequenceStates *self, const guint8 rgba[256 * 4]);
void lam_sequence_states_set_tissue (LamSequenceStates *self, int tissue);
int lam_sequence_states_get_tissue (LamSequenceStates *self);
void lam_sequence_states_set_longitudinal (LamSequenceStates *self, gboolean longitudinal);
void lam_sequence_states_set_logarithmic (LamSequenceStates *self, gboolean logarithmic);
/* The part of the time axis that is shown, of 1: from 0 to 1 at first. */
void lam_sequence_states_set_range (LamSequenceStates *self, double from, double to);
void lam_sequence_states_get_range (LamSequenceStates *self, double *from, double *to);
/* The strongest path to this order (signed) of what is shown at this time is found with each picture. */
void lam_sequence_states_set_target (LamSequenceStates *self, double time, int order);
void lam_sequence_states_clear_target (LamSequenceStates *self);
gboolean lam_sequence_states_get_target (LamSequenceStates *self, double *time, int *order);

/* NULL before the first; the object's. */
LamStatesPicture *lam_sequence_states_get_picture (LamSequenceStates *self);
/* The picture is of the session's present result and of what is set here. */
gboolean lam_sequence_states_is_settled (LamSequenceStates *self);

/* Column at @time (s), or -1; the value of signed order @order there, NAN: none. */
int64_t lam_states_picture_column (const LamStatesPicture *p, double time);
double lam_states_picture_value (const LamStatesPicture *p, int64_t column, int order);

G_END_DECLS
