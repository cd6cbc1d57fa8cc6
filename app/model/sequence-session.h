/* sequence-session.h: the Sequence workspace's state: a template with its protocol, tissues, and the result that follows
 * them. Every edit can be undone; every change asks the worker thread, of whose answers the newest counts. Main thread. */
#pragma once

#include "model/parameter-list.h"
#include "model/pulseq-estimate.h"
#include "model/sequence-result.h"
#include "model/tissue-item.h"

G_BEGIN_DECLS

#define LAM_TYPE_SEQUENCE_SESSION (lam_sequence_session_get_type ())
G_DECLARE_FINAL_TYPE (LamSequenceSession, lam_sequence_session, LAM, SEQUENCE_SESSION, GObject)

/* Begins with a fingerprinting train and three tissues. Signals:
 * "protocol-changed": the template did, and with it the rows; "train-changed": a list did;
 * "changed": something of what lam_sequence_session_save () gives; "result": there is a new one; "failed" (text, or NULL when it is well again). */
LamSequenceSession *lam_sequence_session_new (void);

LamUndo *lam_sequence_session_get_undo (LamSequenceSession *self);
/* The choice of the template; orders, noise and the like; and the rows of the present protocol (numbers, counts, choices). */
LamParameter *lam_sequence_session_get_template (LamSequenceSession *self);
LamParameterList *lam_sequence_session_get_model (LamSequenceSession *self);
LamParameterList *lam_sequence_session_get_protocol (LamSequenceSession *self);
const char *lam_sequence_session_get_summary (LamSequenceSession *self);
/* Of LamTissueItem. */
GListModel *lam_sequence_session_get_tissues (LamSequenceSession *self);
/* NULL with a reason where there is no room for another. */
LamTissueItem *lam_sequence_session_add_tissue (LamSequenceSession *self, const char *name, double t1, double t2,
                                                const char *source, GError **error);
void lam_sequence_session_remove_tissue (LamSequenceSession *self, LamTissueItem *item);

/* The list that is drawn ("flip"), or NULL; and its values. */
const char *lam_sequence_session_get_train (LamSequenceSession *self);
const double *lam_sequence_session_get_list (LamSequenceSession *self, const char *field, int *n);
/* An edit, called @name; refused values change nothing. */
gboolean lam_sequence_session_edit_list (LamSequenceSession *self, const char *field, const double *values, int n,
                                         const char *name, GError **error);
/* Values from "5:60:188,60:2:188,2*124", or a formula of n (0 …) and N: "30 + 20*sin(2*pi*n/N)" with @count values. */
gboolean lam_sequence_session_edit_formula (LamSequenceSession *self, const char *field, const char *text, int count,
                                            GError **error);

/* Between them all edits are one step, and what was there before is kept to compare with. */
void lam_sequence_session_begin_drag (LamSequenceSession *self, const char *name);
void lam_sequence_session_end_drag (LamSequenceSession *self);

/* Sets the orders that are kept to the least that cost no tissue more than 0.1 % of its peak, as an edit, when the worker has
 * found them. */
void lam_sequence_session_find_orders (LamSequenceSession *self);

/* Copies for a worker; the tissues NULL with a reason. */
LamProtocol *lam_sequence_session_copy_protocol (LamSequenceSession *self);
LamTissues *lam_sequence_session_copy_tissues (LamSequenceSession *self, GError **error);

/* NULL before the first; a reference of the session's. */
LamSequenceResult *lam_sequence_session_get_result (LamSequenceSession *self);
/* Of before the drag that goes on, or the last one; NULL: none. */
LamSequenceResult *lam_sequence_session_get_before (LamSequenceSession *self);
/* The result is that of the present state (or an error was told). */
gboolean lam_sequence_session_is_settled (LamSequenceSession *self);

/* The values of @list are part of the state from now on, called @id; those of a state that was loaded before are taken. */
void lam_sequence_session_keep (LamSequenceSession *self, const char *id, LamParameterList *list);

/* The same with what is more than rows: @save gives a dictionary ("a{sv}", floating or a reference to take), NULL: there is nothing to keep;
 * @load is given that of each state that is loaded, NULL where it has none. @owner: gone, it keeps nothing. A change of it
 * is told by lam_sequence_session_touch (). */
typedef GVariant *(*LamSequencePartSave) (GObject *owner);
typedef void (*LamSequencePartLoad) (GObject *owner, GVariant *state);
void lam_sequence_session_keep_part (LamSequenceSession *self, const char *id, GObject *owner, LamSequencePartSave save,
                                     LamSequencePartLoad load);
void lam_sequence_session_touch (LamSequenceSession *self);

/* A Pulseq file instead of the template, its signal, and what it tells of tissues; while there is one, tissues are asked for
 * there and "result" is not told. */
LamPulseqModel *lam_sequence_session_get_pulseq (LamSequenceSession *self);
LamPulseqSignal *lam_sequence_session_get_pulseq_signal (LamSequenceSession *self);
LamPulseqEstimate *lam_sequence_session_get_pulseq_estimate (LamSequenceSession *self);

/* All of it as one variant, and back ("a{sv}"). */
GVariant *lam_sequence_session_save (LamSequenceSession *self);
gboolean lam_sequence_session_load (LamSequenceSession *self, GVariant *state, GError **error);

/* Ends the worker; before the last reference goes. */
void lam_sequence_session_close (LamSequenceSession *self);

G_END_DECLS
