/* job.h: something long, on a thread of its own, that the main thread can watch, pause, stop and drop.
 *
 * The worker writes under the job's lock; the main thread is woken at most once for everything that is new, at default-idle
 * priority, and no more than ten times a second. Signals come on the context that was the default when the job was made. */
#pragma once

#include <gio/gio.h>

#include "core/control.h"
#include "run/recon.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum {
  LAM_JOB_WAITING,
  LAM_JOB_RUNNING,
  LAM_JOB_PAUSED,
  LAM_JOB_DONE,
  LAM_JOB_STOPPED,   /* by the person; what there was is kept */
  LAM_JOB_CANCELLED, /* by the person; nothing is kept */
  LAM_JOB_FAILED,
} LamJobState;

#define LAM_TYPE_JOB (lam_job_get_type ())
G_DECLARE_FINAL_TYPE (LamJob, lam_job, LAM, JOB, GObject)

/* Runs on the job's thread. The result goes in with lam_job_set_result (). */
typedef gboolean (*LamJobFunc) (LamJob *job, gpointer data, GError **error);

/* Signals: "changed" (progress, log lines, iterations; coalesced), "snapshot" (one or more planes wait in the mailbox),
 * "finished" (once). */
LamJob *lam_job_new (const char *title, LamJobFunc func, gpointer data, GDestroyNotify free_data);
/* Starts the thread; a queue (queue.h) does that in turn. */
void lam_job_start (LamJob *job);
/* What it writes is written to the end: a queue that is shut down waits for it and does not cancel it. Before it starts. */
void lam_job_set_lasting (LamJob *job, gboolean lasting);
gboolean lam_job_get_lasting (LamJob *job);
/* Waits for the thread to end; for tests and for quitting. */
void lam_job_join (LamJob *job);

/* Any thread. */
const char *lam_job_get_title (LamJob *job);
LamJobState lam_job_get_state (LamJob *job);
gboolean lam_job_is_active (LamJob *job); /* waiting, running or paused */
void lam_job_pause (LamJob *job, gboolean pause);
void lam_job_stop_keep (LamJob *job);
void lam_job_cancel (LamJob *job);
/* Copies: how far (0 … 1, or -1), what it does, and seconds left (-1: not known). */
double lam_job_get_fraction (LamJob *job);
char *lam_job_dup_doing (LamJob *job);
double lam_job_get_seconds_left (LamJob *job);
/* Lines and iterations from @from on; the caller frees. */
GPtrArray *lam_job_dup_log (LamJob *job, guint from);
GArray *lam_job_dup_iterations (LamJob *job, guint from); /* of LamReconIteration */
GError *lam_job_dup_error (LamJob *job);
gpointer lam_job_get_result (LamJob *job); /* owned by the job; NULL until finished */
/* Which picture is wanted from now on; -1 = none. The worker looks between two steps. */
void lam_job_want (LamJob *job, LamPlane plane, int64_t index, uint64_t generation);
/* Main thread: the newest snapshot of @plane or NULL. */
LamSnapshot *lam_job_take_snapshot (LamJob *job, LamPlane plane);

/* The job's own thread. */
LamControl *lam_job_get_control (LamJob *job);
void lam_job_log (LamJob *job, const char *line);
void lam_job_add_iteration (LamJob *job, const LamReconIteration *it);
/* How many iterations are planned: with it fraction and time left count them. */
void lam_job_set_target (LamJob *job, int64_t iterations);
/* @result is dropped with @free_result when the job goes. */
void lam_job_set_result (LamJob *job, gpointer result, GDestroyNotify free_result);
/* Hooks that send everything of a reconstruction through @job. */
LamReconHooks lam_job_recon_hooks (LamJob *job);

/* The recipe as a job: its result is a LamReconResult. */
LamJob *lam_job_new_recon (LamDataset *dataset, const LamReconParams *params);
/* Reads and prepares @scan (taken): its result is a LamDataset. */
LamJob *lam_job_new_load (LamScan *scan, const LamPrepareParams *params);
/* Writes @result to @path. */
LamJob *lam_job_new_save (LamReconResult *result, const char *path);

G_END_DECLS
