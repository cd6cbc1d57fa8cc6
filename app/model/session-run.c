#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/session-private.h"
#include "model/units.h"

static double
number (LamSession *self, const char *id)
{
  return lam_parameter_get_number (lam_parameter_list_find (self->parameters, id));
}

void
lam_session_recon_params (LamSession *self, LamReconParams *params)
{
  LamParameterList *list = self->parameters;
  lam_recon_params_init (params);
  gboolean direct = g_str_equal (lam_parameter_get_text (lam_parameter_list_find (list, "method")), "fbp");
  params->method = direct ? LAM_METHOD_DIRECT : LAM_METHOD_VCD;
  params->iterations = lam_parameter_get_integer (lam_parameter_list_find (list, "iterations"));
  params->stop_percent = number (self, "stop_percent");
  params->snr_db = number (self, "snr_db");
  params->sharpness = number (self, "sharpness");
  params->positivity = lam_parameter_get_boolean (lam_parameter_list_find (list, "positivity"));
}

/* -- a run -- */

/* What the job's thread works on. The dataset is immutable and shared; a run wants it with the geometry as it is now,
 * so it sees a copy of the struct whose arrays are still the dataset's (held for as long). */
typedef struct {
  LamDataset *dataset;
  LamDataset view;
  LamReconParams params;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  lam_geometry_free (work->view.geometry);
  lam_dataset_unref (work->dataset);
  lam_recon_params_clear (&work->params);
  g_free (work);
}

static gboolean
run_func (LamJob *job, gpointer data, GError **error)
{
  Work *work = data;
  LamReconHooks hooks = lam_job_recon_hooks (job);
  if (work->params.method == LAM_METHOD_VCD)
    lam_job_set_target (job, work->params.iterations);
  LamReconResult *result = lam_reconstruct (&work->view, &work->params, lam_job_get_control (job), &hooks, error);
  if (result == NULL)
    return FALSE;
  lam_job_set_result (job, result, (GDestroyNotify) lam_recon_result_unref);
  return TRUE;
}

static void
take_snapshots (LamSession *self)
{
  for (int plane = 0; plane < LAM_PLANES; plane++) {
    LamSnapshot *shot = lam_job_take_snapshot (self->run, plane);
    if (shot != NULL)
      lam_slice_model_take (self->slices, shot);
  }
}

static void
run_snapshot_cb (LamJob *job, LamSession *self)
{
  take_snapshots (self);
}

static void
run_changed_cb (LamJob *job, LamSession *self)
{
  LamJobState state = lam_job_get_state (job);
  if (state == LAM_JOB_PAUSED)
    lam_session_set_state (self, LAM_SESSION_PAUSED);
  else if (state == LAM_JOB_RUNNING || state == LAM_JOB_WAITING)
    lam_session_set_state (self, LAM_SESSION_RUNNING);
  g_autofree char *doing = lam_job_dup_doing (job), *left = lam_units_format_left (lam_job_get_seconds_left (job));
  lam_session_set_progress (self, lam_job_get_fraction (job),
                            state == LAM_JOB_WAITING ? _ ("waiting for another run to end") : doing, left);
  g_autoptr (GPtrArray) log = lam_job_dup_log (job, self->log_seen);
  for (guint i = 0; log != NULL && i < log->len; i++)
    lam_session_log (self, "%s", (const char *) g_ptr_array_index (log, i));
  self->log_seen += log != NULL ? log->len : 0;
  g_autoptr (GArray) iterations = lam_job_dup_iterations (job, self->iterations_seen);
  for (guint i = 0; iterations != NULL && i < iterations->len; i++) {
    const LamReconIteration *it = &g_array_index (iterations, LamReconIteration, i);
    lam_series_append (self->series, it->iteration, (double[]){it->change_percent, it->data_cost + it->prior_cost});
  }
  self->iterations_seen += iterations != NULL ? iterations->len : 0;
}

static void
finish (LamSession *self, LamJob *job)
{
  LamReconResult *result = lam_job_get_result (job);
  g_autoptr (GError) error = lam_job_dup_error (job);
  if (result != NULL) {
    lam_session_drop_result (self);
    self->result = lam_recon_result_ref (result);
    self->result_saved = FALSE;
    self->show = LAM_SHOW_RESULT;
    g_autofree char *text = result->stopped ? g_strdup_printf (_ ("Stopped and kept after %.1f s"), result->seconds)
                                            : g_strdup_printf (_ ("Reconstructed in %.1f s"), result->seconds);
    lam_session_say (self, text);
  } else {
    self->show = self->result != NULL ? LAM_SHOW_RESULT : LAM_SHOW_LIVE;
    lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
    if (error != NULL && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED)) {
      lam_session_log (self, _ ("failed: %s"), error->message);
      lam_session_fail (self, error);
    } else {
      lam_session_log (self, _ ("discarded"));
      lam_session_say (self, _ ("Discarded"));
    }
  }
  lam_session_set_progress (self, -1, NULL, NULL);
  lam_session_set_state (self, LAM_SESSION_READY);
  if (self->show == LAM_SHOW_RESULT)
    lam_session_request_plane (self);
  else
    lam_session_request_live (self);
}

static void
run_finished_cb (LamJob *job, LamSession *self)
{
  run_changed_cb (job, self);
  take_snapshots (self);
  lam_series_flush (self->series);
  g_autoptr (LamJob) held = g_steal_pointer (&self->run);
  g_signal_handlers_disconnect_by_data (held, self);
  finish (self, held);
}

void
lam_session_run (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run != NULL)
    return;
  if (self->dataset == NULL || self->geometry == NULL || self->problem != NULL) {
    g_autoptr (GError) error =
        g_error_new (LAM_ERROR, LAM_ERROR_INVALID, "%s",
                     self->problem != NULL ? self->problem : _ ("there are no data to reconstruct"));
    lam_session_fail (self, error);
    return;
  }
  Work *work = g_new0 (Work, 1);
  work->dataset = lam_dataset_ref (self->dataset);
  work->view = *self->dataset;
  g_atomic_ref_count_init (&work->view.refs);
  work->view.geometry = lam_geometry_copy (self->geometry);
  lam_session_recon_params (self, &work->params);

  uint64_t generation = lam_slice_model_get_generation (self->slices) + 1;
  self->show = LAM_SHOW_RUN;
  self->log_seen = self->iterations_seen = 0;
  lam_slice_model_set_generation (self->slices, generation);
  lam_series_clear (self->series);
  g_autofree char *title = g_strdup_printf (_ ("Reconstruct %s"), self->title);
  self->run = lam_job_new (title, run_func, work, work_free);
  g_signal_connect (self->run, "changed", G_CALLBACK (run_changed_cb), self);
  g_signal_connect (self->run, "snapshot", G_CALLBACK (run_snapshot_cb), self);
  g_signal_connect (self->run, "finished", G_CALLBACK (run_finished_cb), self);
  lam_job_want (self->run, lam_slice_model_get_plane (self->slices), lam_slice_model_get_index (self->slices),
                generation);
  lam_session_set_progress (self, -1, _ ("preparing"), NULL);
  lam_session_set_state (self, LAM_SESSION_RUNNING);
  lam_queue_add (self->queue, self->run);
}

void
lam_session_pause (LamSession *self, gboolean pause)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run == NULL)
    return;
  lam_job_pause (self->run, pause);
  lam_session_set_state (self, pause ? LAM_SESSION_PAUSED : LAM_SESSION_RUNNING);
}

void
lam_session_stop_keep (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run != NULL)
    lam_job_stop_keep (self->run);
}

void
lam_session_discard (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run != NULL)
    lam_job_cancel (self->run);
}

/* -- planes of the result -- */

typedef struct {
  GWeakRef session;
  LamReconResult *result;
  LamPlane plane;
  int64_t index;
  uint64_t generation;
} PlaneWork;

static void
plane_free (gpointer data)
{
  PlaneWork *work = data;
  g_weak_ref_clear (&work->session);
  lam_recon_result_unref (work->result);
  g_free (work);
}

/* Slices lie scattered in the volume: gathering one of 2048 x 2048 takes longer than a frame. */
static void
plane_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  PlaneWork *work = data;
  GError *error = NULL;
  LamSnapshot *shot = lam_recon_result_plane (work->result, work->plane, work->index, work->generation, &error);
  if (shot != NULL)
    g_task_return_pointer (task, shot, (GDestroyNotify) lam_snapshot_unref);
  else
    g_task_return_error (task, error);
}

static void
plane_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  PlaneWork *work = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSession) self = g_weak_ref_get (&work->session);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamSnapshot) shot = g_task_propagate_pointer (G_TASK (result), &error);
  if (self == NULL)
    return;
  self->plane_working = FALSE;
  if (shot != NULL && self->show == LAM_SHOW_RESULT)
    lam_slice_model_take (self->slices, g_steal_pointer (&shot));
  else if (error != NULL)
    lam_session_fail (self, error);
  if (self->plane_again)
    lam_session_request_plane (self);
}

void
lam_session_request_plane (LamSession *self)
{
  self->plane_again = self->plane_working && self->result != NULL;
  if (self->result == NULL || self->plane_working)
    return;
  self->plane_working = TRUE;
  PlaneWork *work = g_new0 (PlaneWork, 1);
  g_weak_ref_init (&work->session, self);
  work->result = lam_recon_result_ref (self->result);
  work->plane = lam_slice_model_get_plane (self->slices);
  work->index = lam_slice_model_get_index (self->slices);
  work->generation = lam_slice_model_get_generation (self->slices);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, plane_done_cb, NULL);
  g_task_set_name (task, "lam_session_plane");
  g_task_set_task_data (task, work, plane_free);
  g_task_run_in_thread (task, plane_thread);
}

void
lam_session_drop_result (LamSession *self)
{
  g_clear_pointer (&self->result, lam_recon_result_unref);
}

/* -- saving -- */

static void
save_finished_cb (LamJob *job, LamSession *self)
{
  g_autoptr (LamJob) held = g_steal_pointer (&self->save);
  g_autoptr (GError) error = lam_job_dup_error (held);
  g_signal_handlers_disconnect_by_data (held, self);
  lam_queue_remove (self->queue, held);
  if (error != NULL) {
    lam_session_fail (self, error);
    return;
  }
  self->result_saved = TRUE;
  lam_session_log (self, _ ("saved"));
  lam_session_say (self, _ ("Saved"));
}

void
lam_session_save (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  if (self->result == NULL || self->save != NULL || path == NULL)
    return;
  self->save = lam_job_new_save (self->result, path);
  g_signal_connect (self->save, "finished", G_CALLBACK (save_finished_cb), self);
  lam_queue_add (self->queue, self->save);
}

gboolean
lam_session_can_save (LamSession *self)
{
  return self->result != NULL;
}

gboolean
lam_session_has_unsaved (LamSession *self)
{
  return self->result != NULL && !self->result_saved;
}

void
lam_session_run_dispose (LamSession *self)
{
  LamJob **jobs[] = {&self->run, &self->save};
  for (int i = 0; i < 2; i++)
    if (*jobs[i] != NULL) {
      g_signal_handlers_disconnect_by_data (*jobs[i], self);
      /* A result that is being written is written to the end. */
      if (i == 0)
        lam_job_cancel (*jobs[i]);
      g_clear_object (jobs[i]);
    }
  lam_session_drop_result (self);
}
