/* session.h: what is open in one window: the scan, the parameters of its reconstruction, and what came of them.
 *
 * Main thread only. Files are looked at by a worker; an answer that comes after something else was opened is dropped. */
#pragma once

#include <gio/gio.h>

#include "ct/geometry.h"
#include "model/facts.h"
#include "model/import.h"
#include "model/parameter-list.h"
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
  LAM_QUESTION_ANGLES, /* the file states none: are those of the parameters right? */
  LAM_QUESTION_RESUME, /* a run was cut off: go on with it? */
} LamQuestion;

/* The lists of told lines. */
typedef enum {
  LAM_FACTS_DATA,
  LAM_FACTS_VOLUME,
  LAM_FACTS_RUN,
  LAM_FACTS_PREPARATION,
} LamFacts;
#define LAM_FACT_LISTS 4

#define LAM_TYPE_SESSION (lam_session_get_type ())
G_DECLARE_FINAL_TYPE (LamSession, lam_session, LAM, SESSION, GObject)

/* Properties: state, title (the data's name; NULL = nothing open), fraction (of the run, 0 .. 1; negative = not known),
 * doing ("iteration 7 of 15 · subset 40 of 128"), left ("about 2 s left"), problem (why it cannot run; NULL = it can), question,
 * unapplied (preparation was edited since the data were read).
 * Signals: geometry-changed; data-changed (other samples, or none); logged (const char *line); message (const char *text, gboolean
 * result): a thing was done, and whether a result came of it; failed (GError *):
 * to be shown, nothing is lost. */
LamSession *lam_session_new (LamQueue *queue); /* the queue that its jobs wait in; NULL = one of its own */

LamParameterList *lam_session_get_parameters (LamSession *self);
LamUndo *lam_session_get_undo (LamSession *self);
LamSliceModel *lam_session_get_slices (LamSession *self);
/* x = iteration; columns "change" (%), "cost" (what is minimised). */
LamSeries *lam_session_get_series (LamSession *self);
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
gboolean lam_session_edit_place (LamSession *self, double offset, double source_detector, double source_axis,
                                 GError **error);

/* Commands (session-run.c). What cannot be done now is told by "failed". */
void lam_session_run (LamSession *self);
void lam_session_pause (LamSession *self, gboolean pause);
void lam_session_stop_keep (LamSession *self); /* ends with the current iterate as the result */
void lam_session_discard (LamSession *self);
/* The open question, NULL = none; and the answer to it. */
const char *lam_session_get_question (LamSession *self, LamQuestion *kind);
void lam_session_answer (LamSession *self, gboolean yes);
/* Looks for a run that was cut off by a crash, of any scan; asks if there is one. */
void lam_session_look_for_crash (LamSession *self);
/* A finished run of what is open: shown again; and dropped with its memory. */
gboolean lam_session_can_show (LamSession *self, LamJob *job);
void lam_session_show_job (LamSession *self, LamJob *job);
void lam_session_remove_job (LamSession *self, LamJob *job);
/* Reads the scan again as the preparation's parameters say; its runs so far stay. A run does it first. */
void lam_session_apply_preparation (LamSession *self);
gboolean lam_session_get_unapplied (LamSession *self);
gboolean lam_session_can_apply (LamSession *self);
/* The file of the samples, and how it is opened; NULL = none. */
const char *lam_session_get_scan (LamSession *self, LamScanOptions *options);
void lam_session_find_center (LamSession *self);
void lam_session_save (LamSession *self, GFile *file);
/* Beside the scan: tooth.h5 becomes tooth-recon.h5. */
GFile *lam_session_suggest_file (LamSession *self);
gboolean lam_session_can_save (LamSession *self);
gboolean lam_session_has_unsaved (LamSession *self);
gboolean lam_session_has_data (LamSession *self);
LamQueue *lam_session_get_queue (LamSession *self);

/* The live slices are numbered: the newest asked for, the one in the model, and the newest there that was not a coarse
 * one for a hand that moves; for measuring. */
uint64_t lam_session_get_live_asked (LamSession *self);
uint64_t lam_session_get_live_shown (LamSession *self);
uint64_t lam_session_get_live_exact (LamSession *self);

/* Emits "failed". */
void lam_session_fail (LamSession *self, const GError *error);

/* For whoever runs: what the window shows meanwhile. */
void lam_session_set_state (LamSession *self, LamSessionState state);
void lam_session_set_progress (LamSession *self, double fraction, const char *doing, const char *left);
void lam_session_log (LamSession *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
