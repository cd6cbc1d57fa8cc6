/* session-private.h: the session's state, shared by the files session*.c; each section names the one that it belongs to. */
#pragma once

#include "ct/center.h"
#include "model/live-preview.h"
#include "model/session.h"
#include "run/dataset.h"
#include "run/live.h"
#include "run/prepare.h"
#include "run/queue.h"
#include "run/recon.h"

G_BEGIN_DECLS

/* What the slice views show. */
typedef enum {
  LAM_SHOW_LIVE,   /* one slice by back projection, remade with the geometry */
  LAM_SHOW_RUN,    /* the run that is going on */
  LAM_SHOW_RESULT, /* the finished volume */
} LamShow;

struct _LamSession {
  GObject parent_instance;
  LamUndo *undo;
  LamParameterList *parameters;
  LamSliceModel *slices;
  LamSeries *series;
  GArray *curve;       /* of LamReconIteration: what the series shows, whole */
  LamResult *curve_of; /* a reference; NULL: of the run that goes on, or there is none */
  GString *log;        /* all lines */
  LamResults *results;
  GListStore *facts[LAM_FACT_LISTS];
  LamSessionState state, before; /* before: to go back to when opening fails */
  char *title, *doing, *left, *problem, *question, *offer;
  LamQuestion asked;
  double fraction;
  LamGeometry *base;     /* as the data state it */
  LamGeometry *geometry; /* as the parameters say */
  gboolean loading;      /* parameters are being set from a file: one geometry-changed at the end */

  /* session-data.c */
  LamQueue *queue;
  uint64_t opened; /* counts openings: a late answer shows itself */
  LamJob *load;    /* reading a scan or a session, or making the example */
  gboolean example;
  LamDataset *dataset; /* NULL until it was read */
  char *unreadable;    /* why it could not be */
  char *warnings;      /* lines that the geometry's facts tell */
  char *scan_path;     /* of what is open; NULL = no file */
  LamScanOptions options;
  LamImport *import;
  LamFileStamp stamp;
  LamScan *scan;                            /* what is known of it; NULL = none */
  uint64_t data_serial;                     /* counts what was open */
  LamPrepareParams prepared, being_applied; /* what the data were read with, and are being read again with */
  gboolean unapplied;                       /* the parameters say something else */
  char *listed;                             /* the list of bad pixels that was last looked at */
  gboolean applying, run_after;
  LamLive *live;
  uint64_t live_serial, live_shown, live_exact; /* asked for; shown; shown as it is, not coarse */
  LamLivePreview *preview;                      /* of one slice; NULL = none yet, or not needed */
  LamLiveRequest live_request;                  /* the newest, of live_geometry */
  LamGeometry *live_geometry;
  gboolean held; /* by a hand, since it was at held_place, with held_values */
  LamPlace held_place;
  LamPlaceValues held_values;
  gboolean looking_ahead; /* a hand asks for the slices itself */
  gint64 live_time;       /* of it */
  int64_t live_slice;
  guint rest_source;
  gboolean finding; /* the centre is being looked for */
  LamCenter found;  /* in the data's channels, without its curve; method NULL: not looked for yet */
  gboolean forecasting, forecast_again;

  /* session-run.c */
  LamShow show;
  LamJob *run, *save;
  gboolean discarding;
  guint log_seen, iterations_seen;
  LamReconResult *result; /* in view, or just not: its axis is not the one that is set */
  LamResult *shown;       /* the same */
  LamResult *told_shown;  /* only while it is in view; a reference */
  double result_tilt;
  char *results_folder;   /* the person's; NULL = beside the scan */
  gboolean plane_working; /* one plane of the result is being copied out */
  guint planes_pending;   /* bits of those to come after it */

  /* session-recovery.c */
  char *kept; /* the file that notes the run of this session; beside it lies its checkpoint */
  int kept_lock;
  struct LamKeptRun *cut; /* a run that was cut off: asked about, or being resumed */
  gboolean resuming;
  struct LamKeptSession *orphan; /* a session that was cut off: asked about, or being restored */
  gboolean looking;              /* for either */

  /* session-store.c */
  LamSessionFile *pending;      /* read; applied when its scan is there */
  char *pending_path, *located; /* of the session; of its scan, where that is now */
  gboolean restoring;           /* it is what a crash left */
  LamSessionFile *edited;       /* restored; its parameters are set again once its run goes on */
  char *home;                   /* the file it was opened from, or saved as */
  LamJob *store;                /* writing it */
  gboolean modified;
  GVariant *stored;                     /* parameters as they are in the file */
  GVariant *sequence, *stored_sequence; /* the other workspace's state, and as it is in the file; or NULL */
  int64_t sequence_edits;
  LamMapsResult *maps, *stored_maps; /* the same of its maps */
  LamMapsResult *kept_maps;          /* that lie at kept_maps_path */
  char *kept_maps_path;
  uint64_t results_serial, stored_serial; /* changes of the list of results */
  int64_t index[LAM_PLANES];              /* last seen; -1 = never */
  int64_t edits_before;                   /* of the session that was restored */

  /* session-autosave.c */
  guint autosave; /* seconds; 0 = off */
  guint rest_timer, limit_timer;
  uint64_t changes, kept_changes;
  LamJob *keeping;
  gboolean keep_again, keep_told;
  char *prefix; /* of its files in the state folder; NULL = none yet */
  int prefix_lock;
};

/* session.c */
void lam_session_update_volume (LamSession *self); /* what is told of it */
void lam_session_take_base (LamSession *self, const char *title, const LamGeometry *geometry, const LamScan *scan);
void lam_session_update_geometry (LamSession *self);
void lam_session_say (LamSession *self, const char *text, gboolean result); /* emits "message" */
void lam_session_say_undo (LamSession *self, const char *text);             /* emits "undoable" */

void lam_session_ask (LamSession *self, LamQuestion kind, const char *text);
void lam_session_set_offer (LamSession *self, const char *text);
void lam_session_clear_curve (LamSession *self);
/* That of @result, or none. */
void lam_session_show_curve (LamSession *self, LamResult *result);
/* What the series shows came of this run. */
void lam_session_set_curve_of (LamSession *self, LamResult *result);
void lam_session_add_iteration (LamSession *self, const LamReconIteration *it);
void lam_session_set_modified (LamSession *self, gboolean modified);
/* Emits "log-changed". */
void lam_session_log_changed (LamSession *self);
void lam_session_exchange_view (LamSession *self, LamSessionView *view, gboolean save);
void lam_session_set_shown (LamSession *self, LamResult *result);

/* session-facts.c; @scan is NULL for an example */
void lam_session_set_data_facts (LamSession *self, const char *title, const LamGeometry *g, const LamScan *scan);
void lam_session_update_forecast (LamSession *self);

/* session-recovery.c */
/* Notes the run about to start, so that a crash does not lose it; sets @params->checkpoint. TRUE = it is to go on from
 * there. */
gboolean lam_session_keep_run (LamSession *self, LamReconParams *params);
void lam_session_forget_kept (LamSession *self);
void lam_session_forget_kept_now (LamSession *self); /* the program may be about to end */
void lam_session_let_kept_go (LamSession *self);     /* stays on the disk, to be asked about */
void lam_session_look_for_run (LamSession *self, const char *path);
gboolean lam_session_is_resuming (LamSession *self);
/* The data of the run to resume are there: starts it. FALSE = there is none. */
gboolean lam_session_go_on_resuming (LamSession *self);
void lam_session_drop_resuming (LamSession *self);

/* session-prepare.c */
const LamProvenance *lam_session_made (LamSession *self); /* of the data; NULL = none */
/* The centre's parameter counts channels of the file's detector, the geometry those that are left of them. */
double lam_session_file_channel (LamSession *self, double channel);
void lam_session_update_preparation (LamSession *self);
/* The geometry of the next run, which prepares the data as the rows say, applied or not, and whether they will have weights; NULL where it cannot be. lam_geometry_free () */
LamGeometry *lam_session_next_geometry (LamSession *self, gboolean *weighted, GError **error);

/* session-recovery.c: deletes on another thread: large files take long. */
void lam_session_drop_file (const char *path);
/* What lies behind the name of a session that a crash left: taken over, lock and all. */
gboolean lam_session_adopt_orphan (LamSession *self);
void lam_session_drop_orphan (LamSession *self, gboolean discard);
const char *lam_session_get_kept_run (LamSession *self); /* its note, or NULL */

/* session-store.c */
LamSessionFile *lam_session_to_file (LamSession *self);
void lam_session_open_session (LamSession *self, const char *path);
/* Its scan is there: the rest of it. FALSE = nothing is pending. */
gboolean lam_session_apply_pending (LamSession *self);
void lam_session_drop_pending (LamSession *self);
void lam_session_apply_edited (LamSession *self); /* the run to resume has begun, or cannot */
void lam_session_store_init (LamSession *self);
void lam_session_store_dispose (LamSession *self);
void lam_session_use_changed (LamSession *self); /* the answer to LAM_QUESTION_CHANGED */
/* What is there now is what the file has. */
void lam_session_rebase (LamSession *self);
void lam_session_update_modified (LamSession *self);
void lam_session_show_sequence (LamSession *self);

/* session-autosave.c: something changed; @soon: an edit, which is not to be lost */
void lam_session_touch (LamSession *self, gboolean soon);
void lam_session_keep_now (LamSession *self);
gboolean lam_session_has_loose (LamSession *self);                 /* a result that lies in no file at all */
void lam_session_delete_kept (const char *prefix);                 /* may take long */
void lam_session_delete_kept_later (const char *prefix, int lock); /* takes the lock */
void lam_session_autosave_dispose (LamSession *self);
/* Forgets what is kept: another thing is open. */
void lam_session_autosave_reset (LamSession *self);

/* session-live.c */
void lam_session_start_live (LamSession *self, LamDataset *dataset);
void lam_session_drop_live (LamSession *self);
/* The slice of what is set now, if it is in view. */
void lam_session_request_live (LamSession *self);
/* session.c: the geometry with its axis and distances there; NULL where it cannot be. Freed by the caller. */
LamGeometry *lam_session_geometry_at (LamSession *self, const LamPlace *place);

/* session-data.c */
void lam_session_start_load (LamSession *self, LamJob *job);
void lam_session_start_reading (LamSession *self, LamJob *job, GCallback finished);
void lam_session_open_path (LamSession *self, const char *path, const LamScanOptions *options);
void lam_session_open_pending_example (LamSession *self);
/* What is open goes, and nothing comes in its place. */
void lam_session_open_nothing (LamSession *self);
void lam_session_use_angles (LamSession *self);
void lam_session_data_init (LamSession *self);
void lam_session_data_dispose (LamSession *self);
/* The recipe's parameters from the list. lam_recon_params_clear () when done. */
void lam_session_recon_params (LamSession *self, LamReconParams *params);

/* session-run.c */
void lam_session_run_init (LamSession *self);
void lam_session_run_dispose (LamSession *self);
void lam_session_request_plane (LamSession *self);                /* those of the result that are wanted */
void lam_session_request_planes (LamSession *self, guint planes); /* by their bits */
void lam_session_want_planes (LamSession *self);                  /* tells the run which ones are */
void lam_session_drop_result (LamSession *self);
/* In view, without an edit. */
void lam_session_put_in_view (LamSession *self, LamResult *result);
void lam_session_forget_runs (LamSession *self);
double lam_session_tilt (LamSession *self); /* radians */

G_END_DECLS
