#include "run/job.h"

#include <pthread.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/threadpool.h"
#include "run/mailbox.h"
#include "run/numbers.h"

/* Nanoseconds between two wake-ups of the main thread. */
#define WAKE_EVERY (100 * INT64_C (1000000))

typedef struct {
  gboolean wanted;
  int64_t index;
  uint64_t generation;
} Want;

struct _LamJob {
  GObject parent;
  char *title;
  LamJobFunc func;
  gpointer data;
  GDestroyNotify free_data;
  GMainContext *context;
  LamMailbox *mailbox;
  LamControl control;
  pthread_t thread;
  gboolean started, joined, lasting;

  pthread_mutex_t lock; /* all below */
  LamJobState state;
  char *doing;
  double done, total;
  int64_t phase_start;
  GPtrArray *log;     /* of char * */
  GArray *iterations; /* of LamReconIteration */
  int64_t target;     /* iterations planned: for the time left; 0 = not known */
  GError *error;
  gpointer result;
  GDestroyNotify free_result;
  Want want[LAM_PLANES];
  LamPlane next_plane;
  GSource *wake; /* the one pending wake-up, or NULL */
  int64_t last_wake;
  gboolean has_snapshot, has_change, ended, told;
};

G_DEFINE_FINAL_TYPE (LamJob, lam_job, G_TYPE_OBJECT)

enum { CHANGED, SNAPSHOT, FINISHED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
lam_job_finalize (GObject *object)
{
  LamJob *self = LAM_JOB (object);
  if (self->started && !self->joined)
    pthread_detach (self->thread); /* the last reference is dropped by the ending thread's own source */
  if (self->free_data)
    self->free_data (self->data);
  if (self->result && self->free_result)
    self->free_result (self->result);
  g_free (self->title);
  g_free (self->doing);
  lam_mailbox_free (self->mailbox);
  g_ptr_array_unref (self->log);
  g_array_unref (self->iterations);
  g_clear_error (&self->error);
  g_main_context_unref (self->context);
  pthread_mutex_destroy (&self->lock);
  G_OBJECT_CLASS (lam_job_parent_class)->finalize (object);
}

static void
lam_job_class_init (LamJobClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lam_job_finalize;
  signals[CHANGED] = g_signal_new ("changed", LAM_TYPE_JOB, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SNAPSHOT] = g_signal_new ("snapshot", LAM_TYPE_JOB, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FINISHED] = g_signal_new ("finished", LAM_TYPE_JOB, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_job_init (LamJob *self)
{
  pthread_mutex_init (&self->lock, NULL);
  self->mailbox = lam_mailbox_new ();
  self->log = g_ptr_array_new_with_free_func (g_free);
  self->iterations = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  self->context = g_main_context_ref_thread_default ();
  self->total = -1;
}

/* ---- waking the main thread ---- */

static gboolean
wake_cb (gpointer data)
{
  LamJob *self = data;
  pthread_mutex_lock (&self->lock);
  gboolean snapshot = self->has_snapshot, change = self->has_change, finished = self->ended && !self->told;
  self->has_snapshot = self->has_change = FALSE;
  self->told |= finished;
  self->wake = NULL;
  self->last_wake = lam_clock_ns ();
  pthread_mutex_unlock (&self->lock);
  if (finished)
    lam_job_join (self);
  if (snapshot)
    g_signal_emit (self, signals[SNAPSHOT], 0);
  if (change || finished)
    g_signal_emit (self, signals[CHANGED], 0);
  if (finished)
    g_signal_emit (self, signals[FINISHED], 0);
  return G_SOURCE_REMOVE;
}

/* With the lock held: one source, a reference to the job in it, not before the last one was long enough ago. */
static void
wake (LamJob *self, gboolean now)
{
  int64_t wait = self->last_wake + WAKE_EVERY - lam_clock_ns ();
  if (self->wake && !now)
    return;
  if (self->wake) {
    g_source_destroy (self->wake);
    self->wake = NULL;
  }
  GSource *source = wait > 0 && !now ? g_timeout_source_new ((guint) (wait / 1000000) + 1) : g_idle_source_new ();
  g_source_set_static_name (source, "[lamina] job wake-up");
  g_source_set_priority (source, G_PRIORITY_DEFAULT_IDLE);
  g_source_set_callback (source, wake_cb, g_object_ref (self), g_object_unref);
  g_source_attach (source, self->context);
  self->wake = source;
  g_source_unref (source);
}

/* ---- the thread ---- */

static void
progress_cb (const char *what, double done, double total, void *data)
{
  LamJob *self = data;
  pthread_mutex_lock (&self->lock);
  if (g_strcmp0 (self->doing, what) != 0) {
    g_free (self->doing);
    self->doing = g_strdup (what);
    self->phase_start = lam_clock_ns ();
  }
  self->done = done;
  self->total = total;
  self->has_change = TRUE;
  wake (self, FALSE);
  pthread_mutex_unlock (&self->lock);
}

static void *
thread_main (void *data)
{
  LamJob *self = data;
  GError *error = NULL;
  lam_fp_setup ();
  lam_thread_give_way ();
  lam_thread_c_numbers ();
  gboolean ok = self->func (self, self->data, &error);
  pthread_mutex_lock (&self->lock);
  if (ok)
    self->state = atomic_load (&self->control.stop_keep) ? LAM_JOB_STOPPED : LAM_JOB_DONE;
  else
    self->state = g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED) ? LAM_JOB_CANCELLED : LAM_JOB_FAILED;
  self->error = error;
  self->ended = TRUE;
  wake (self, TRUE);
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

LamJob *
lam_job_new (const char *title, LamJobFunc func, gpointer data, GDestroyNotify free_data)
{
  LamJob *self = g_object_new (LAM_TYPE_JOB, NULL);
  self->title = g_strdup (title);
  self->func = func;
  self->data = data;
  self->free_data = free_data;
  self->control.progress = progress_cb;
  self->control.data = self;
  return self;
}

void
lam_job_start (LamJob *self)
{
  g_return_if_fail (!self->started);
  if (atomic_load (&self->control.cancel)) { /* dropped while it waited */
    pthread_mutex_lock (&self->lock);
    self->state = LAM_JOB_CANCELLED;
    self->joined = self->ended = TRUE;
    g_set_error (&self->error, LAM_ERROR, LAM_ERROR_CANCELLED, "cancelled before it began");
    wake (self, TRUE);
    pthread_mutex_unlock (&self->lock);
    return;
  }
  self->state = LAM_JOB_RUNNING;
  int code = pthread_create (&self->thread, NULL, thread_main, self);
  if (code == 0) {
    self->started = TRUE;
    return;
  }
  pthread_mutex_lock (&self->lock);
  self->state = LAM_JOB_FAILED;
  self->joined = self->ended = TRUE;
  g_set_error (&self->error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "%s: no thread could be started: %s", self->title,
               g_strerror (code));
  wake (self, TRUE);
  pthread_mutex_unlock (&self->lock);
}

void
lam_job_join (LamJob *self)
{
  if (!self->started || self->joined)
    return;
  pthread_join (self->thread, NULL);
  self->joined = TRUE;
}

void
lam_job_set_lasting (LamJob *self, gboolean lasting)
{
  self->lasting = lasting;
}

gboolean
lam_job_get_lasting (LamJob *self)
{
  return self->lasting;
}

/* ---- commands ---- */

const char *
lam_job_get_title (LamJob *self)
{
  return self->title;
}

LamJobState
lam_job_get_state (LamJob *self)
{
  pthread_mutex_lock (&self->lock);
  LamJobState state = self->state;
  pthread_mutex_unlock (&self->lock);
  return state;
}

gboolean
lam_job_is_active (LamJob *self)
{
  return lam_job_get_state (self) <= LAM_JOB_PAUSED;
}

void
lam_job_pause (LamJob *self, gboolean pause)
{
  pthread_mutex_lock (&self->lock);
  if (self->state == (pause ? LAM_JOB_RUNNING : LAM_JOB_PAUSED)) {
    atomic_store (&self->control.pause, pause);
    self->state = pause ? LAM_JOB_PAUSED : LAM_JOB_RUNNING;
    self->has_change = TRUE;
    wake (self, FALSE);
  }
  pthread_mutex_unlock (&self->lock);
}

void
lam_job_stop_keep (LamJob *self)
{
  atomic_store (&self->control.stop_keep, 1);
  lam_job_pause (self, FALSE);
}

void
lam_job_cancel (LamJob *self)
{
  atomic_store (&self->control.cancel, 1);
  lam_job_pause (self, FALSE);
}

void
lam_job_want (LamJob *self, LamPlane plane, int64_t index, uint64_t generation)
{
  pthread_mutex_lock (&self->lock);
  self->want[plane] = (Want){index >= 0, index, generation};
  pthread_mutex_unlock (&self->lock);
}

/* ---- reading ---- */

double
lam_job_get_fraction (LamJob *self)
{
  pthread_mutex_lock (&self->lock);
  double fraction = self->total > 0 ? self->done / self->total : -1;
  if (self->target > 0) /* an iterative run: whole iterations count */
    fraction = LAM_MIN (1.0, ((double) self->iterations->len + (fraction > 0 && fraction < 1 ? fraction : 0))
                                 / (double) self->target);
  pthread_mutex_unlock (&self->lock);
  return fraction;
}

char *
lam_job_dup_doing (LamJob *self)
{
  pthread_mutex_lock (&self->lock);
  char *doing = self->doing && self->target > 0 && self->total > 1 && g_str_has_prefix (self->doing, "iteration")
                    ? g_strdup_printf ("%s \302\267 subset %.0f of %.0f", self->doing, self->done, self->total)
                    : g_strdup (self->doing);
  pthread_mutex_unlock (&self->lock);
  return doing;
}

double
lam_job_get_seconds_left (LamJob *self)
{
  double left = -1;
  pthread_mutex_lock (&self->lock);
  guint n = self->iterations->len;
  if (self->target > 0 && n > 0) {
    /* Iterations differ in cost: the last one says most. */
    double last = g_array_index (self->iterations, LamReconIteration, n - 1).seconds;
    double part = self->total > 0 ? LAM_CLAMP (self->done / self->total, 0.0, 1.0) : 0;
    left = last * LAM_MAX (0.0, (double) self->target - (double) n - (part < 1 ? part : 0));
  } else if (self->target == 0 && self->total > 0 && self->done > 0) {
    double spent = (double) (lam_clock_ns () - self->phase_start) / 1e9;
    left = spent * (self->total / self->done - 1);
  }
  pthread_mutex_unlock (&self->lock);
  return left;
}

GPtrArray *
lam_job_dup_log (LamJob *self, guint from)
{
  GPtrArray *out = g_ptr_array_new_with_free_func (g_free);
  pthread_mutex_lock (&self->lock);
  for (guint i = from; i < self->log->len; i++)
    g_ptr_array_add (out, g_strdup (g_ptr_array_index (self->log, i)));
  pthread_mutex_unlock (&self->lock);
  return out;
}

GArray *
lam_job_dup_iterations (LamJob *self, guint from)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  pthread_mutex_lock (&self->lock);
  if (from < self->iterations->len)
    g_array_append_vals (out, &g_array_index (self->iterations, LamReconIteration, from), self->iterations->len - from);
  pthread_mutex_unlock (&self->lock);
  return out;
}

GError *
lam_job_dup_error (LamJob *self)
{
  pthread_mutex_lock (&self->lock);
  GError *error = self->error ? g_error_copy (self->error) : NULL;
  pthread_mutex_unlock (&self->lock);
  return error;
}

gpointer
lam_job_get_result (LamJob *self)
{
  pthread_mutex_lock (&self->lock);
  gpointer result = self->ended ? self->result : NULL;
  pthread_mutex_unlock (&self->lock);
  return result;
}

LamSnapshot *
lam_job_take_snapshot (LamJob *self, LamPlane plane)
{
  return lam_mailbox_take (self->mailbox, plane);
}

/* ---- the job's own thread ---- */

LamControl *
lam_job_get_control (LamJob *self)
{
  return &self->control;
}

void
lam_job_log (LamJob *self, const char *line)
{
  pthread_mutex_lock (&self->lock);
  g_ptr_array_add (self->log, g_strdup (line));
  self->has_change = TRUE;
  wake (self, FALSE);
  pthread_mutex_unlock (&self->lock);
}

void
lam_job_add_iteration (LamJob *self, const LamReconIteration *it)
{
  pthread_mutex_lock (&self->lock);
  g_array_append_val (self->iterations, *it);
  self->has_change = TRUE;
  wake (self, FALSE);
  pthread_mutex_unlock (&self->lock);
}

void
lam_job_set_target (LamJob *self, int64_t iterations)
{
  pthread_mutex_lock (&self->lock);
  self->target = iterations;
  pthread_mutex_unlock (&self->lock);
}

void
lam_job_set_result (LamJob *self, gpointer result, GDestroyNotify free_result)
{
  pthread_mutex_lock (&self->lock);
  self->result = result;
  self->free_result = free_result;
  pthread_mutex_unlock (&self->lock);
}

/* ---- hooks ---- */

static void
hook_log (const char *line, void *data)
{
  lam_job_log (data, line);
}

static void
hook_iteration (const LamReconIteration *it, void *data)
{
  lam_job_add_iteration (data, it);
}

/* The wanted planes in turn, so that each is served. */
static gboolean
hook_wanted (LamPlane *plane, int64_t *index, uint64_t *generation, void *data)
{
  LamJob *self = data;
  gboolean found = FALSE;
  pthread_mutex_lock (&self->lock);
  for (int i = 0; i < LAM_PLANES && !found; i++) {
    LamPlane p = (LamPlane) ((self->next_plane + i) % LAM_PLANES);
    if (self->want[p].wanted) {
      *plane = p;
      *index = self->want[p].index;
      *generation = self->want[p].generation;
      self->next_plane = (LamPlane) ((p + 1) % LAM_PLANES);
      found = TRUE;
    }
  }
  pthread_mutex_unlock (&self->lock);
  return found;
}

static void
hook_snapshot (LamSnapshot *snapshot, void *data)
{
  LamJob *self = data;
  if (!lam_mailbox_put (self->mailbox, snapshot))
    return; /* the wake-up for what lay there is still to come */
  pthread_mutex_lock (&self->lock);
  self->has_snapshot = TRUE;
  wake (self, FALSE);
  pthread_mutex_unlock (&self->lock);
}

LamReconHooks
lam_job_recon_hooks (LamJob *job)
{
  return (LamReconHooks){hook_log, hook_iteration, hook_wanted, hook_snapshot, job};
}
