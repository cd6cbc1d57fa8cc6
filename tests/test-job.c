/* test-job.c: long work on its own thread: signals, pictures, pause, stop and keep, cancel (case K1), and the queue. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/job.h"
#include "run/newest.h"
#include "run/queue.h"

/* How soon a job has ended after Stop: a second (case K1); sanitizers make everything slower. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define AT_ONCE INT64_C (20000000000)
#else
#define AT_ONCE INT64_C (1000000000)
#endif

/* Runs the main loop until @condition holds; a minute is more than any of these needs. */
#define RUN_UNTIL(condition)                                                                                           \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    int64_t deadline = lam_clock_ns () + INT64_C (60000000000);                                                        \
    guint alarm = g_timeout_add (20, again, NULL);                                                                     \
    while (!(condition)) {                                                                                             \
      g_main_context_iteration (NULL, TRUE);                                                                           \
      g_assert_cmpint (lam_clock_ns (), <, deadline);                                                                  \
    }                                                                                                                  \
    g_source_remove (alarm);                                                                                           \
  }                                                                                                                    \
  G_STMT_END

static gboolean
again (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* What a job told the main thread. */
typedef struct {
  LamJob *job;
  int changed, snapshots, finished;
  int64_t stop_after;     /* iterations; 0 = never */
  gboolean cancel, taken; /* cancel instead of stop; a picture was taken */
  LamPlane plane;
  int64_t stopped_ns, ended_ns;
  uint64_t generation;
} Told;

static void
changed_cb (LamJob *job, Told *told)
{
  g_autoptr (GArray) iterations = lam_job_dup_iterations (job, 0);
  told->changed++;
  if (told->stop_after > 0 && iterations->len >= told->stop_after && told->stopped_ns == 0) {
    told->stopped_ns = lam_clock_ns ();
    if (told->cancel)
      lam_job_cancel (job);
    else
      lam_job_stop_keep (job);
  }
}

static void
snapshot_cb (LamJob *job, Told *told)
{
  told->snapshots++;
  for (int plane = 0; plane < LAM_PLANES; plane++) {
    g_autoptr (LamSnapshot) s = lam_job_take_snapshot (job, plane);
    if (!s)
      continue;
    g_assert_cmpint (lam_snapshot_info (s)->plane, ==, plane);
    g_assert_cmpuint (lam_snapshot_info (s)->generation, ==, told->generation);
    g_assert_cmpint (lam_snapshot_info (s)->bad, ==, 0);
    told->taken = TRUE;
  }
}

static void
finished_cb (LamJob *job, Told *told)
{
  told->finished++;
  told->ended_ns = lam_clock_ns ();
  g_assert_false (lam_job_is_active (job));
}

static void
listen (LamJob *job, Told *told)
{
  told->job = job;
  g_signal_connect (job, "changed", G_CALLBACK (changed_cb), told);
  g_signal_connect (job, "snapshot", G_CALLBACK (snapshot_cb), told);
  g_signal_connect (job, "finished", G_CALLBACK (finished_cb), told);
}

/* Case K1: ones inside radius 20 of 64 x 64 x 32, 64 views over half a turn. */
static LamDataset *
k1_dataset (void)
{
  static LamDataset *kept;
  g_autoptr (GError) error = NULL;
  if (kept)
    return lam_dataset_ref (kept);
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 64, 32, 64);
  lam_geometry_set_angles (g, 0, G_PI);
  g_assert_true (lam_geometry_auto_volume (g, &error));
  g_assert_cmpint (g->recon_rows, ==, 64);
  float *y = lam_alloc (64 * 32 * 64 * 4, "sinogram", &error);
  for (int v = 0; v < 64; v++)
    for (int m = 0; m < 32; m++)
      for (int n = 0; n < 64; n++)
        y[(v * 32 + m) * 64 + n] = (float) (2 * sqrt (fmax (0, 400 - (n - 31.5) * (n - 31.5))));
  kept = lam_dataset_new_take ("K1", g, y, NULL);
  return lam_dataset_ref (kept);
}

static void
k1_params (LamReconParams *params, int64_t iterations)
{
  lam_recon_params_init (params);
  params->iterations = iterations;
  params->stop_percent = 0;
  params->devices = (char *) "2xcpu";
}

#define K1_BYTES (64 * 64 * 32 * 4)

static LamReconResult *
k1_exact (int64_t iterations)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDataset) d = k1_dataset ();
  LamReconParams params;
  k1_params (&params, iterations);
  LamReconResult *r = lam_reconstruct (d, &params, NULL, NULL, &error);
  g_assert_no_error (error);
  return r;
}

/* K1 (a): stopped after the third iteration and kept: a whole number of iterations, the bits of a run of just so many, the
 * job ended within a second. */
static void
test_stop_keep (void)
{
  g_autoptr (LamDataset) d = k1_dataset ();
  LamReconParams params;
  Told told = {.stop_after = 3};
  k1_params (&params, 1000);
  g_autoptr (LamJob) job = lam_job_new_recon (d, &params);
  listen (job, &told);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_WAITING);
  g_assert_null (lam_job_get_result (job));
  lam_job_start (job);
  RUN_UNTIL (told.finished);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_STOPPED);
  g_assert_cmpint (told.ended_ns - told.stopped_ns, <, AT_ONCE);
  LamReconResult *kept = lam_job_get_result (job);
  g_assert_true (kept->stopped);
  g_assert_cmpint (kept->iterations->len, >=, 3);
  g_assert_cmpint (kept->iterations->len, <, 1000);
  g_autoptr (GArray) seen = lam_job_dup_iterations (job, 0);
  g_assert_cmpint (seen->len, ==, kept->iterations->len);
  g_autoptr (LamReconResult) exact = k1_exact (kept->iterations->len);
  g_assert_false (exact->stopped);
  g_assert_true (memcmp (kept->volume, exact->volume, K1_BYTES) == 0);
  g_test_message ("kept %u iterations, ended %.1f ms after Stop", kept->iterations->len,
                  (double) (told.ended_ns - told.stopped_ns) / 1e6);
}

/* K1 (b): cancelled: no result, nothing held, within a second. */
static void
test_cancel (void)
{
  g_autoptr (LamDataset) d = k1_dataset ();
  int64_t held = lam_memory_bytes ();
  {
    LamReconParams params;
    Told told = {.stop_after = 3, .cancel = TRUE};
    k1_params (&params, 1000);
    g_autoptr (LamJob) job = lam_job_new_recon (d, &params);
    listen (job, &told);
    lam_job_start (job);
    RUN_UNTIL (told.finished);
    g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_CANCELLED);
    g_assert_cmpint (told.ended_ns - told.stopped_ns, <, AT_ONCE);
    g_assert_null (lam_job_get_result (job));
    g_autoptr (GError) error = lam_job_dup_error (job);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_assert_cmpint (told.finished, ==, 1);
  }
  g_assert_cmpint (lam_memory_bytes (), ==, held);
}

/* Pause holds between subsets, and the result is that of a run that was not held. */
static void
test_pause (void)
{
  g_autoptr (LamDataset) d = k1_dataset ();
  LamReconParams params;
  Told told = {0};
  k1_params (&params, 4);
  g_autoptr (LamJob) job = lam_job_new_recon (d, &params);
  listen (job, &told);
  lam_job_start (job);
  lam_job_pause (job, TRUE);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_PAUSED);
  g_assert_true (lam_job_is_active (job));
  int64_t start = lam_clock_ns ();
  RUN_UNTIL (lam_clock_ns () - start > INT64_C (300000000));
  g_assert_cmpint (told.finished, ==, 0);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_PAUSED);
  lam_job_pause (job, FALSE);
  RUN_UNTIL (told.finished);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_DONE);
  LamReconResult *r = lam_job_get_result (job);
  g_autoptr (LamReconResult) exact = k1_exact (4);
  g_assert_true (memcmp (r->volume, exact->volume, K1_BYTES) == 0);
  g_assert_cmpfloat (lam_job_get_fraction (job), ==, 1);

  /* A paused job can be cancelled. */
  Told other = {0};
  k1_params (&params, 1000);
  g_autoptr (LamJob) held = lam_job_new_recon (d, &params);
  listen (held, &other);
  lam_job_start (held);
  lam_job_pause (held, TRUE);
  lam_job_cancel (held);
  RUN_UNTIL (other.finished);
  g_assert_cmpint (lam_job_get_state (held), ==, LAM_JOB_CANCELLED);
}

/* Wanted planes come while the job runs, with the generation they were asked with; no more than asked for. */
static void
test_pictures (void)
{
  g_autoptr (LamDataset) d = k1_dataset ();
  LamReconParams params;
  Told told = {.generation = 42};
  k1_params (&params, 1000);
  g_autoptr (LamJob) job = lam_job_new_recon (d, &params);
  listen (job, &told);
  lam_job_want (job, LAM_PLANE_SLICE, 16, 42);
  lam_job_start (job);
  RUN_UNTIL (told.snapshots >= 3);
  g_assert_true (told.taken);
  g_assert_cmpint (told.finished, ==, 0);
  lam_job_cancel (job);
  RUN_UNTIL (told.finished);
}

static gboolean
note_func (LamJob *job, gpointer data, GError **error)
{
  for (int i = 0; i < 2000; i++) {
    g_autofree char *line = g_strdup_printf ("line %d", i);
    lam_job_log (job, line);
    lam_control_progress (lam_job_get_control (job), "notes", i + 1, 2000);
  }
  g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "the disk is full");
  return FALSE;
}

/* Thousands of events are a few wake-ups; the log is whole; an error ends the job as failed, with its words. */
static void
test_coalesced (void)
{
  Told told = {0};
  g_autoptr (LamJob) job = lam_job_new ("notes", note_func, NULL, NULL);
  listen (job, &told);
  lam_job_start (job);
  RUN_UNTIL (told.finished);
  g_assert_cmpint (told.changed, >=, 1);
  g_assert_cmpint (told.changed, <, 100);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_FAILED);
  g_autoptr (GPtrArray) log = lam_job_dup_log (job, 1990);
  g_assert_cmpint (log->len, ==, 10);
  g_assert_cmpstr (g_ptr_array_index (log, 9), ==, "line 1999");
  g_autoptr (GError) error = lam_job_dup_error (job);
  g_assert_error (error, LAM_ERROR, LAM_ERROR_IO);
  g_autofree char *doing = lam_job_dup_doing (job);
  g_assert_cmpstr (doing, ==, "notes");
}

typedef struct {
  _Atomic int *running, *most, *order;
  int place;
} Turn;

static gboolean
turn_func (LamJob *job, gpointer data, GError **error)
{
  Turn *t = data;
  int now = atomic_fetch_add (t->running, 1) + 1;
  if (now > atomic_load (t->most))
    atomic_store (t->most, now);
  t->place = atomic_fetch_add (t->order, 1);
  g_usleep (2000);
  atomic_fetch_sub (t->running, 1);
  return lam_control_go_on (lam_job_get_control (job), error);
}

/* Some steps, between which it could be cancelled. */
static gboolean
steps_func (LamJob *job, gpointer data, GError **error)
{
  for (int i = 0; i < 20; i++) {
    g_usleep (1000);
    if (!lam_control_go_on (lam_job_get_control (job), error))
      return FALSE;
  }
  return TRUE;
}

/* One at a time, in order; one that is cancelled while it waits never begins; the end of the queue waits for its jobs. */
static void
test_queue (void)
{
  _Atomic int running = 0, most = 0, order = 0;
  Turn turns[6];
  Told told[6] = {0};
  LamJob *jobs[6];
  LamQueue *queue = lam_queue_new ();
  for (int i = 0; i < 6; i++) {
    turns[i] = (Turn){&running, &most, &order, -1};
    jobs[i] = lam_job_new ("turn", turn_func, &turns[i], NULL);
    listen (jobs[i], &told[i]);
    lam_queue_add (queue, jobs[i]);
  }
  g_assert_true (lam_queue_get_running (queue) == jobs[0]);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (queue)), ==, 6);
  lam_job_cancel (jobs[3]);
  RUN_UNTIL (told[5].finished);
  g_assert_cmpint (most, ==, 1);
  for (int i = 0; i < 6; i++) {
    g_assert_cmpint (told[i].finished, ==, 1);
    g_assert_cmpint (turns[i].place, ==, i < 3 ? i : i == 3 ? -1 : i - 1);
    g_assert_cmpint (lam_job_get_state (jobs[i]), ==, i == 3 ? LAM_JOB_CANCELLED : LAM_JOB_DONE);
  }
  lam_queue_remove (queue, jobs[1]);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (queue)), ==, 5);
  for (int i = 0; i < 6; i++)
    g_object_unref (jobs[i]);

  /* Shut down in the middle: everything has ended when it returns. */
  g_autoptr (LamDataset) d = k1_dataset ();
  LamReconParams params;
  k1_params (&params, 1000);
  LamJob *late[3];
  for (int i = 0; i < 3; i++) {
    late[i] = lam_job_new_recon (d, &params);
    lam_queue_add (queue, late[i]);
  }
  lam_queue_remove (queue, late[0]); /* it runs: it stays */
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (queue)), ==, 8);
  /* What is to last is waited for, not cancelled. */
  LamJob *lasting = lam_job_new ("lasting", steps_func, NULL, NULL);
  lam_job_set_lasting (lasting, TRUE);
  lam_queue_add_now (queue, lasting);
  lam_queue_shut_down (queue);
  g_assert_cmpint (lam_job_get_state (lasting), ==, LAM_JOB_DONE);
  g_object_unref (lasting);
  g_assert_finalize_object (queue);
  for (int i = 0; i < 3; i++) {
    while (g_main_context_iteration (NULL, FALSE))
      ;
    g_assert_false (i == 0 && lam_job_is_active (late[i]));
    g_object_unref (late[i]);
  }
}

/* A job that has ended, and whose end the main loop does not know yet, leaves the queue, and the queue goes: its end tells a
 * queue that is no more nothing. */
static void
test_queue_gone (void)
{
  LamQueue *queue = lam_queue_new ();
  Told told = {0};
  g_autoptr (LamJob) job = lam_job_new ("notes", note_func, NULL, NULL);
  listen (job, &told);
  lam_queue_add (queue, job);
  while (lam_job_is_active (job))
    g_usleep (1000);
  lam_queue_remove (queue, job);
  g_object_add_weak_pointer (G_OBJECT (queue), (gpointer *) &queue);
  gpointer was = queue;
  g_object_unref (queue);
  g_assert_null (queue);
  g_assert_cmpuint (g_signal_handler_find (job, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, was), ==, 0);
  RUN_UNTIL (told.finished);
}

/* The last reference may go while the job runs: it ends by itself. */
static void
test_dropped (void)
{
  LamJob *job = lam_job_new ("notes", note_func, NULL, NULL);
  gpointer weak = job;
  g_object_add_weak_pointer (G_OBJECT (job), &weak);
  lam_job_start (job);
  lam_job_join (job);
  g_object_unref (job);
  RUN_UNTIL (weak == NULL);
}

/* -- the newest request wins -- */

static _Atomic int worked, freed;
static int told, told_wrong;
static LamNewest *newest;

static gpointer
newest_work (gpointer owner, gpointer request, GError **error)
{
  int n = *(int *) request;
  atomic_fetch_add (&worked, 1);
  g_usleep (2000);
  if (n < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "below 0");
    return NULL;
  }
  int *answer = g_new (int, 1);
  *answer = n;
  return answer;
}

static void
newest_answered (gpointer owner)
{
  g_autofree int *answer = lam_newest_take (newest);
  told = *answer;
}

/* Whoever is told may drop the owner. */
static void
newest_failed (gpointer owner, const GError *error)
{
  told_wrong++;
  lam_newest_stop (newest);
  g_object_unref (owner);
}

static void
newest_free (gpointer data)
{
  atomic_fetch_add (&freed, 1);
  g_free (data);
}

static void
ask_newest (int n)
{
  int *request = g_new (int, 1);
  *request = n;
  lam_newest_ask (newest, request);
}

static void
test_newest (void)
{
  static const LamNewestFuncs funcs = {"newest", newest_work, newest_answered, newest_failed, newest_free, g_free};
  GObject *owner = g_object_new (G_TYPE_OBJECT, NULL);
  newest = lam_newest_new (owner, &funcs);
  for (int i = 1; i <= 200; i++)
    ask_newest (i);
  while (told != 200)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (atomic_load (&worked), <, 200);
  g_assert_null (lam_newest_take (newest));
  g_object_add_weak_pointer (owner, (gpointer *) &owner);
  ask_newest (-1);
  while (owner != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (told_wrong, ==, 1);
  ask_newest (1); /* after the end: not worked on, and not lost */
  lam_newest_free (newest);
  g_assert_cmpint (atomic_load (&freed), ==, 202);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/K1-stop-keep", test_stop_keep);
  g_test_add_func ("/job/K1-cancel", test_cancel);
  g_test_add_func ("/job/pause", test_pause);
  g_test_add_func ("/job/pictures", test_pictures);
  g_test_add_func ("/job/coalesced", test_coalesced);
  g_test_add_func ("/job/dropped", test_dropped);
  g_test_add_func ("/queue/turns", test_queue);
  g_test_add_func ("/queue/gone", test_queue_gone);
  g_test_add_func ("/newest", test_newest);
  return g_test_run ();
}
