/* maps-model.h: the Maps tab: a dictionary of the present sequence, a series to match with it, and what came out. Everything
 * long is a job of the queue; what a job replaces stays until the job is done. Main thread. */
#pragma once

#include "model/map-pictures.h"
#include "model/sequence-session.h"
#include "run/queue.h"

G_BEGIN_DECLS

/* What can be going on at the same time. */
typedef enum {
  LAM_MAPS_DICTIONARY, /* made or opened */
  LAM_MAPS_SERIES,     /* made or opened */
  LAM_MAPS_MATCH,
  LAM_MAPS_KINDS,
} LamMapsKind;

#define LAM_TYPE_MAPS_MODEL (lam_maps_model_get_type ())
G_DECLARE_FINAL_TYPE (LamMapsModel, lam_maps_model, LAM, MAPS_MODEL, GObject)

/* Signals: "changed" (what there is, what is said, what goes on), "progress" (of the job of a kind; int). */
LamMapsModel *lam_maps_model_new (LamSequenceSession *session, LamQueue *queue);
/* Ranges, spacing, rank; undone with the session's edits. */
LamParameterList *lam_maps_model_get_parameters (LamMapsModel *self);
/* The dataset of an HDF5 series, and a mask. */
LamParameterList *lam_maps_model_get_inputs (LamMapsModel *self);
/* Whether it is looked at: only then forecasts are made. */
void lam_maps_model_set_active (LamMapsModel *self, gboolean active);

/* Each starts a job; FALSE with the reason. Without a word where one of the kind goes on. */
gboolean lam_maps_model_make_dictionary (LamMapsModel *self, GError **error);
gboolean lam_maps_model_open_dictionary (LamMapsModel *self, const char *path, GError **error);
gboolean lam_maps_model_save_dictionary (LamMapsModel *self, const char *path, GError **error);
gboolean lam_maps_model_open_series (LamMapsModel *self, const char *path, GError **error);
gboolean lam_maps_model_make_phantom (LamMapsModel *self, GError **error);
gboolean lam_maps_model_match (LamMapsModel *self, GError **error);
/* Makes what there is not, with the phantom for a series, and matches. */
gboolean lam_maps_model_try (LamMapsModel *self, GError **error);
gboolean lam_maps_model_save_maps (LamMapsModel *self, const char *path, GError **error);

/* NULL: none goes on. */
LamJob *lam_maps_model_get_job (LamMapsModel *self, LamMapsKind kind);
void lam_maps_model_cancel (LamMapsModel *self, LamMapsKind kind);
/* Something is made, opened or matched. */
gboolean lam_maps_model_is_busy (LamMapsModel *self);
void lam_maps_model_cancel_all (LamMapsModel *self);

LamMapsDictionary *lam_maps_model_get_dictionary (LamMapsModel *self); /* NULL: none */
LamMapsSeries *lam_maps_model_get_series (LamMapsModel *self);
LamMapPictures *lam_maps_model_get_pictures (LamMapsModel *self);
/* The dictionary is of another train than the session's. */
gboolean lam_maps_model_is_stale (LamMapsModel *self);

/* In words, each until the next "changed": what a dictionary of these ranges takes, or why there can be none (@refused); what
 * each thing is that there is; what went wrong last with it (NULL: nothing); what matching waits for (NULL: nothing). */
const char *lam_maps_model_get_forecast (LamMapsModel *self, gboolean *refused);
const char *lam_maps_model_get_text (LamMapsModel *self, LamMapsKind kind);
const char *lam_maps_model_get_error (LamMapsModel *self, LamMapsKind kind);
const char *lam_maps_model_get_lacks (LamMapsModel *self);
/* What was written last, or could not be; NULL: nothing. */
const char *lam_maps_model_get_saved (LamMapsModel *self, gboolean *failed);
/* Neither a job nor a forecast is on its way; for tests. */
gboolean lam_maps_model_is_settled (LamMapsModel *self);

/* Maps that the session kept, after its state was loaded; @folder: where its file lies, NULL: not known. */
void lam_maps_model_show_kept (LamMapsModel *self, LamMapsResult *kept, const char *folder);

/* Cancels what goes on and ends the threads; before the last reference goes. */
void lam_maps_model_close (LamMapsModel *self);

G_END_DECLS
