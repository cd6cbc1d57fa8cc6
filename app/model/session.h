/* session.h: what is open in one window: the scan, the parameters of its reconstruction, and what came of them.
 *
 * Main thread only. Files are looked at by a worker; an answer that comes after something else was opened is dropped. */
#pragma once

#include <gio/gio.h>

#include "ct/geometry.h"
#include "model/facts.h"
#include "model/import.h"
#include "model/maps-data.h"
#include "model/parameter-list.h"
#include "model/results.h"
#include "model/session-parameters.h"
#include "model/series.h"
#include "model/slice-model.h"
#include "model/undo.h"
#include "io/scan.h"
#include "run/queue.h"

G_BEGIN_DECLS

typedef enum {
  LAM_SESSION_EMPTY,
  LAM_SESSION_OPENING, /* a file is being looked at; what was open before is still there */
  LAM_SESSION_READY,
  LAM_SESSION_RUNNING,
  LAM_SESSION_PAUSED,
} LamSessionState;

/* What the session asks without being in the way. */
typedef enum {
  LAM_QUESTION_NONE,
  LAM_QUESTION_ANGLES,  /* the file states none: are those of the parameters right? */
  LAM_QUESTION_RESUME,  /* a run was cut off: go on with it? */
  LAM_QUESTION_RESTORE, /* the program ended unexpectedly: take up its session, and the run that was cut off with it? */
  LAM_QUESTION_LOCATE,  /* a session's scan is nowhere: where is it? (lam_session_locate_scan ()) */
  LAM_QUESTION_CHANGED, /* a session's scan is not as it was: use it all the same? */
} LamQuestion;

/* The lists of told lines. */
typedef enum {
  LAM_FACTS_DATA,
  LAM_FACTS_VOLUME,
  LAM_FACTS_RUN,
  LAM_FACTS_PREPARATION,
  LAM_FACTS_GEOMETRY, /* what is odd about it: a short scan, angles that look like degrees */
} LamFacts;
#define LAM_FACT_LISTS 5

#define LAM_TYPE_SESSION (lam_session_get_type ())
G_DECLARE_FINAL_TYPE (LamSession, lam_session, LAM, SESSION, GObject)

/* Properties: state, title (the data's name; NULL = nothing open), fraction (of the run, 0 .. 1; negative = not known),
 * doing ("iteration 7 of 15 · subset 40 of 128"), left ("about 2 s left"), problem (why it cannot run; NULL = it can), question,
 * unapplied (preparation was edited since the data were read), modified (there is something that the session's file does not
 * have), shown (the result in view), curve-of (the result that the series tells of; NULL = the run that goes on, or none).
 * Signals: geometry-changed; data-changed (other samples, or none); logged (const char *line); message (const char *text, gboolean
 * result): a thing was done, and whether a result came of it; undoable (const char *text): one that can be undone; failed
 * (GError *): to be shown, nothing is lost; log-changed: another log is to be shown (lam_session_get_log ()); save-view and
 * show-view (LamSessionView *): whoever knows the zoom fills it in, or takes it; show-sequence (GVariant *): what
 * lam_session_set_sequence () had in the session that was opened. */
LamSession *lam_session_new (LamQueue *queue); /* the queue that its jobs wait in; NULL = one of its own */

LamParameterList *lam_session_get_parameters (LamSession *self);
LamUndo *lam_session_get_undo (LamSession *self);
LamSliceModel *lam_session_get_slices (LamSession *self);
/* x = iteration; columns "change" (%), "cost" (what is minimised). */
LamSeries *lam_session_get_series (LamSession *self);
LamResult *lam_session_get_curve_of (LamSession *self); /* may be another than the one in view, or none in view */
GListModel *lam_session_get_facts (LamSession *self, LamFacts list);
void lam_session_set_facts (LamSession *self, LamFacts list, GPtrArray *facts); /* of LamFact */

LamSessionState lam_session_get_state (LamSession *self);
const char *lam_session_get_title (LamSession *self);
double lam_session_get_fraction (LamSession *self);
const char *lam_session_get_doing (LamSession *self);
const char *lam_session_get_left (LamSession *self);
const char *lam_session_get_problem (LamSession *self);
/* The geometry as the parameters say, and its volume; NULL = nothing open. Valid until the next geometry-changed. */
const LamGeometry *lam_session_get_geometry (LamSession *self);
/* Opens a scan; "failed" tells when it cannot be. Refused while a run goes. */
void lam_session_open (LamSession *self, GFile *file);
/* What the file states, and what is to hold instead; opens it again with that. */
LamImport *lam_session_get_import (LamSession *self);
void lam_session_import (LamSession *self);
/* The bundled example, made in memory. */
void lam_session_open_example (LamSession *self);
/* A geometry without data (taken): to look at; there is nothing to run. */
void lam_session_set_geometry (LamSession *self, const char *title, LamGeometry *geometry);

/* The axis dragged by hand or key: an edit of the centre parameter, by offset in the geometry's unit. */
gboolean lam_session_edit_offset (LamSession *self, double offset, GError **error);
/* The same with the distances of a cone beam: edits of up to three parameters, and one new geometry. */
gboolean lam_session_edit_place (LamSession *self, const LamPlace *place, GError **error);
/* A hand takes hold of it, or lets go: brought back to where it was taken, it has the numbers that it had there, not those
 * rounded to what a hand can do. */
void lam_session_hold_place (LamSession *self, gboolean hold);
/* Asks for the live slice of a place that is not set yet: a hand does not wait for one slice before it asks for the next.
 * The number of the answer (lam_session_get_live_shown ()); 0 = no live slice is in view, or there is none of that place.
 * Edits ask for none until the hand is back where the parameters are. */
uint64_t lam_session_look_ahead (LamSession *self, const LamPlace *place);
void lam_session_look_here (LamSession *self);

/* Commands (session-run.c). What cannot be done now is told by "failed". */
void lam_session_run (LamSession *self);
void lam_session_pause (LamSession *self, gboolean pause);
void lam_session_stop_keep (LamSession *self); /* ends with the current iterate as the result */
void lam_session_discard (LamSession *self);
/* The open question, NULL = none; and the answer to it. */
const char *lam_session_get_question (LamSession *self, LamQuestion *kind);
void lam_session_answer (LamSession *self, gboolean yes);
/* The Sequence workspace's part, "a{sv}", which this one does not look into: saved and kept against a crash with the rest.
 * @edits: how many of its steps could be undone; the state of before the first is no change. */
void lam_session_set_sequence (LamSession *self, GVariant *state, int64_t edits);
/* Its maps, NULL: none; told with the state that they belong to, and there when "show-sequence" tells of it. */
void lam_session_set_maps (LamSession *self, LamMapsResult *maps);
LamMapsResult *lam_session_get_maps (LamSession *self);
/* Looks for a session, then for a run, that was cut off by a crash, of any scan; asks if there is one. */
void lam_session_look_for_crash (LamSession *self);
/* Reads the scan again as the preparation's parameters say; its runs so far stay. A run does it first. */
void lam_session_apply_preparation (LamSession *self);
gboolean lam_session_get_unapplied (LamSession *self);
gboolean lam_session_can_apply (LamSession *self);
/* The file of the samples, and how it is opened; NULL = none. */
const char *lam_session_get_scan (LamSession *self, LamScanOptions *options);
/* What that answer would do ("Restore tooth.h5 with 12 edits"); NULL where the kind says it. */
const char *lam_session_get_question_offer (LamSession *self);
/* The scan of the session that is being opened lies there. */
void lam_session_locate_scan (LamSession *self, GFile *file);

/* What runs of the open scan have made. The one in view: NULL = the live slice, or a run that goes on. */
LamResults *lam_session_get_results (LamSession *self);
LamResult *lam_session_get_shown (LamSession *self);
/* Shown again, with its axis and tilt, curve and log; nothing while a run goes. */
gboolean lam_session_can_show (LamSession *self, LamResult *result);
void lam_session_show_result (LamSession *self, LamResult *result);
/* The live slice in its place. */
void lam_session_show_live (LamSession *self);
void lam_session_remove_result (LamSession *self, LamResult *result);
/* The parameters that it was made with become those of the next run: one edit. */
void lam_session_use_parameters (LamSession *self, LamResult *result);
void lam_session_save_result (LamSession *self, LamResult *result, GFile *file);
GFile *lam_session_suggest_result_file (LamSession *self, LamResult *result);
/* The lines of the result in view, else all of the session. */
const char *lam_session_get_log (LamSession *self);

/* The session as a file (session-file.h). lam_session_open () opens them too. */
void lam_session_save_session (LamSession *self, GFile *file);
/* Where saving a result begins to look; NULL = beside the scan. */
void lam_session_set_results_folder (LamSession *self, const char *folder);
GFile *lam_session_suggest_session_file (LamSession *self);
const char *lam_session_get_home (LamSession *self);      /* the file it was opened from or saved as; NULL = none */
const char *lam_session_get_scan_path (LamSession *self); /* NULL = none, or the example */
gboolean lam_session_get_modified (LamSession *self);
/* There is a sequence and no scan, nor the example: a session all the same. */
gboolean lam_session_is_bare (LamSession *self);
/* Keeps the session against a crash, at most @seconds after an edit and at each run's begin and end; 0 = never. */
void lam_session_set_autosave (LamSession *self, guint seconds);
/* Nothing is to be kept, and nothing on its way; for tests. */
gboolean lam_session_is_kept (LamSession *self);

void lam_session_find_center (LamSession *self);
/* The result in view. */
void lam_session_save (LamSession *self, GFile *file);
/* Beside the scan: tooth.h5 becomes tooth-recon.h5. */
GFile *lam_session_suggest_file (LamSession *self);
gboolean lam_session_can_save (LamSession *self);
gboolean lam_session_has_unsaved (LamSession *self); /* a result that lies in no file of the person's */
gboolean lam_session_has_data (LamSession *self);
LamQueue *lam_session_get_queue (LamSession *self);

/* The live slices are numbered: the newest asked for, the one in the model, and the newest there that was not a coarse
 * one for a hand that moves; for measuring. */
uint64_t lam_session_get_live_asked (LamSession *self);
uint64_t lam_session_get_live_shown (LamSession *self);
/* What makes the coarse slices; NULL = the exact one is fast. Its own signals; for tests. */
gpointer lam_session_get_live_preview (LamSession *self);
uint64_t lam_session_get_live_exact (LamSession *self);

/* Emits "failed". */
void lam_session_fail (LamSession *self, const GError *error);

/* For whoever runs: what the window shows meanwhile. */
void lam_session_set_state (LamSession *self, LamSessionState state);
void lam_session_set_progress (LamSession *self, double fraction, const char *doing, const char *left);
void lam_session_log (LamSession *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
