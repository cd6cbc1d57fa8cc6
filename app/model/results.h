/* results.h: what runs of the open scan have made, side by side: each with a name, what it was made with, its curve and log.
 *
 * Main thread only. A list model of LamResult, oldest first. Renaming and removing are edits that can be undone; what was
 * removed lives on in the undo step, and its memory goes with that. */
#pragma once

#include <gio/gio.h>

#include "model/session-file.h"
#include "model/undo.h"
#include "run/recon.h"

G_BEGIN_DECLS

#define LAM_TYPE_RESULT (lam_result_get_type ())
G_DECLARE_FINAL_TYPE (LamResult, lam_result, LAM, RESULT, GObject)

#define LAM_TYPE_RESULTS (lam_results_get_type ())
G_DECLARE_FINAL_TYPE (LamResults, lam_results, LAM, RESULTS, GObject)

/* Properties: name; detail ("15 iterations · 3.2 s"); safe (its voxels lie in a file of the person's); shown (it is what
 * the slice views show). @parameters ("a{sv}", may be NULL): the session's when the run began. */
LamResult *lam_result_new (const char *name, LamReconResult *recon, GVariant *parameters, double tilt_degrees,
                           const LamPrepareParams *prepared);
const LamPrepareParams *lam_result_get_prepared (LamResult *self); /* how its data were */
const char *lam_result_get_name (LamResult *self);
char *lam_result_dup_detail (LamResult *self);
LamReconResult *lam_result_get_recon (LamResult *self); /* its volume may be NULL: then get_problem () says why */
const char *lam_result_get_problem (LamResult *self);
GVariant *lam_result_get_parameters (LamResult *self); /* borrowed; may be NULL */
double lam_result_get_tilt_degrees (LamResult *self);
gboolean lam_result_get_safe (LamResult *self);
gboolean lam_result_get_shown (LamResult *self);
void lam_result_set_shown (LamResult *self, gboolean shown);
/* As an edit; an empty name is refused. */
gboolean lam_result_rename (LamResult *self, const char *name);
/* What it was made with, in words: a list of LamFact. */
GListModel *lam_result_list_parameters (LamResult *self);

/* Its voxels lie there now. */
void lam_result_set_place (LamResult *self, LamVoxels where, const char *path, const char *dataset);
LamVoxels lam_result_get_place (LamResult *self);
const char *lam_result_get_path (LamResult *self); /* of the file there; NULL = memory */
/* For the session file; lam_session_result_free (). And back, taking what the worker found out. */
LamSessionResult *lam_result_to_file (LamResult *self);
void lam_result_take_place (LamResult *self, const LamSessionResult *r);
LamResult *lam_result_from_file (const LamSessionResult *r);

/* Signal "changed": one was added, removed or renamed. */
LamResults *lam_results_new (LamUndo *undo);
/* "VCD sharpness 1", with a number when the name is taken; g_free (). */
char *lam_results_suggest_name (LamResults *self, const LamReconParams *params, const LamGeometry *geometry);
void lam_results_add (LamResults *self, LamResult *result);
/* A file was written at @path: what lay there of others is in memory only. */
void lam_results_overwritten (LamResults *self, const char *path);
/* As an edit. */
void lam_results_remove (LamResults *self, LamResult *result);
void lam_results_clear (LamResults *self);
LamResult *lam_results_get (LamResults *self, guint i);      /* borrowed */
int lam_results_index (LamResults *self, LamResult *result); /* -1 = not there */

G_END_DECLS
