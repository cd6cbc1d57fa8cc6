#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/run-job.h"
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
  params->devices = g_strdup (lam_parameter_get_text (lam_parameter_list_find (list, "devices")));
}

double
lam_session_tilt (LamSession *self)
{
  return number (self, "tilt") * G_PI / 180;
}

/* -- a run -- */

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
    lam_series_append (self->series, it->iteration, (double[]){it->change_percent, it->cost});
  }
  self->iterations_seen += iterations != NULL ? iterations->len : 0;
}

static void
take_result (LamSession *self, LamJob *job)
{
  LamReconResult *result = lam_job_get_result (job);
  lam_session_drop_result (self);
  self->result = lam_recon_result_ref (result);
  self->result_job = g_object_ref (job);
  self->result_tilt = lam_run_info (job)->tilt;
  self->show = LAM_SHOW_RESULT;
}

static void
finish (LamSession *self, LamJob *job)
{
  LamReconResult *result = lam_job_get_result (job);
  g_autoptr (GError) error = lam_job_dup_error (job);
  if (result != NULL) {
    take_result (self, job);
    g_autofree char *text = result->stopped ? g_strdup_printf (_ ("Stopped and kept after %.1f s"), result->seconds)
                                            : g_strdup_printf (_ ("Reconstructed in %.1f s"), result->seconds);
    lam_session_say (self, text, TRUE);
  } else {
    self->show = self->result != NULL ? LAM_SHOW_RESULT : LAM_SHOW_LIVE;
    lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
    if (error != NULL && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED)) {
      lam_session_log (self, _ ("failed: %s"), error->message);
      lam_session_fail (self, error);
    } else {
      lam_session_log (self, _ ("discarded"));
      lam_session_say (self, _ ("Discarded"), FALSE);
      lam_session_forget_kept (self);
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
lam_session_want_planes (LamSession *self)
{
  for (int p = 0; p < LAM_PLANES && self->run != NULL; p++)
    lam_job_want (self->run, p,
                  lam_slice_model_is_wanted (self->slices, p) ? lam_slice_model_get_plane_index (self->slices, p) : -1,
                  lam_slice_model_get_generation (self->slices));
}

void
lam_session_run (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run != NULL)
    return;
  if (self->applying) {
    self->run_after = TRUE;
    return;
  }
  if (self->asked == LAM_QUESTION_RESUME && !self->resuming) {
    g_autoptr (GError) error =
        g_error_new (LAM_ERROR, LAM_ERROR_INVALID, _ ("%s Resume it or discard it first."), self->question);
    lam_session_fail (self, error);
    return;
  }
  if (self->dataset == NULL || self->geometry == NULL || self->problem != NULL) {
    g_autoptr (GError) error =
        g_error_new (LAM_ERROR, LAM_ERROR_INVALID, "%s",
                     self->problem != NULL ? self->problem : _ ("there are no data to reconstruct"));
    lam_session_fail (self, error);
    return;
  }
  if (lam_session_can_apply (self)) {
    lam_session_apply_preparation (self);
    self->run_after = TRUE;
    return;
  }
  g_auto (LamReconParams) params = {0};
  lam_session_recon_params (self, &params);
  params.resume = lam_session_keep_run (self, &params);
  uint64_t generation = lam_slice_model_get_generation (self->slices) + 1;
  self->show = LAM_SHOW_RUN;
  self->discarding = FALSE;
  self->log_seen = self->iterations_seen = 0;
  lam_slice_model_set_generation (self->slices, generation);
  lam_series_clear (self->series);
  self->run = lam_run_job_new (self->dataset, self->geometry, &self->options, &self->prepared, lam_session_tilt (self),
                               &params);
  g_object_set_data (G_OBJECT (self->run), "lam-data", GUINT_TO_POINTER (self->data_serial));
  g_signal_connect (self->run, "changed", G_CALLBACK (run_changed_cb), self);
  g_signal_connect (self->run, "snapshot", G_CALLBACK (run_snapshot_cb), self);
  g_signal_connect (self->run, "finished", G_CALLBACK (run_finished_cb), self);
  lam_session_want_planes (self);
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
  if (self->run == NULL)
    return;
  self->discarding = TRUE;
  lam_job_cancel (self->run);
}

/* -- finished runs -- */

/* Of what is open, however it was prepared. */
static gboolean
is_run_of_data (LamSession *self, LamJob *job)
{
  return lam_run_info (job) != NULL
         && GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (job), "lam-data")) == (guint) self->data_serial;
}

static gboolean
is_own (LamSession *self, LamJob *job)
{
  return is_run_of_data (self, job) && lam_job_get_result (job) != NULL;
}

gboolean
lam_session_can_show (LamSession *self, LamJob *job)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && LAM_IS_JOB (job), FALSE);
  return self->run == NULL && is_own (self, job);
}

/* Its axis and tilt come with it: they are what the picture was made with. */
void
lam_session_show_job (LamSession *self, LamJob *job)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_JOB (job));
  if (!lam_session_can_show (self, job))
    return;
  take_result (self, job);
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  LamUndo *undo = self->undo;
  lam_undo_begin (undo, _ ("Show Result"));
  double channel =
      lam_provenance_channel (&lam_run_info (job)->dataset->made, lam_geometry_center (self->result->geometry));
  lam_parameter_edit (lam_parameter_list_find (self->parameters, "center"),
                      g_variant_new_double (rint (channel * 100) / 100), NULL);
  lam_parameter_edit (lam_parameter_list_find (self->parameters, "tilt"),
                      g_variant_new_double (lam_run_info (job)->tilt_degrees), NULL);
  lam_undo_end (undo);
  lam_series_clear (self->series);
  for (guint i = 0; i < self->result->iterations->len; i++) {
    const LamReconIteration *it = &g_array_index (self->result->iterations, LamReconIteration, i);
    lam_series_append (self->series, it->iteration, (double[]){it->change_percent, it->cost});
  }
  self->show = LAM_SHOW_RESULT;
  lam_session_request_plane (self);
  g_object_notify (G_OBJECT (self), "state");
}

void
lam_session_remove_job (LamSession *self, LamJob *job)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_JOB (job));
  if (lam_job_is_active (job))
    return;
  if (self->result_job == job) {
    lam_session_drop_result (self);
    lam_session_forget_kept (self);
    self->show = LAM_SHOW_LIVE;
    lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
    lam_session_request_live (self);
  }
  lam_queue_remove (self->queue, job);
  g_object_notify (G_OBJECT (self), "state");
}

/* Another scan: the results of this one go. */
void
lam_session_forget_runs (LamSession *self)
{
  lam_session_let_kept_go (self);
  lam_session_drop_result (self);
  for (guint i = g_list_model_get_n_items (G_LIST_MODEL (self->queue)); i-- > 0;) {
    g_autoptr (LamJob) job = g_list_model_get_item (G_LIST_MODEL (self->queue), i);
    if (!lam_job_is_active (job) && is_run_of_data (self, job))
      lam_queue_remove (self->queue, job);
  }
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
  lam_session_request_planes (self, 0);
}

void
lam_session_request_planes (LamSession *self, guint planes)
{
  self->planes_pending = self->result != NULL ? self->planes_pending | planes : 0;
  if (self->planes_pending == 0 || self->plane_working)
    return;
  /* The one that is looked at first. */
  LamPlane plane = lam_slice_model_get_plane (self->slices);
  for (int p = 0; p < LAM_PLANES && !(self->planes_pending & (1u << plane)); p++)
    plane = p;
  self->planes_pending &= ~(1u << plane);
  self->plane_working = TRUE;
  PlaneWork *work = g_new0 (PlaneWork, 1);
  g_weak_ref_init (&work->session, self);
  work->result = lam_recon_result_ref (self->result);
  work->plane = plane;
  work->index = lam_slice_model_get_plane_index (self->slices, plane);
  work->generation = lam_slice_model_get_generation (self->slices);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, plane_done_cb, NULL);
  g_task_set_name (task, "lam_session_plane");
  g_task_set_task_data (task, work, plane_free);
  g_task_run_in_thread (task, plane_thread);
}

void
lam_session_request_plane (LamSession *self)
{
  guint planes = 0;
  for (int p = 0; p < LAM_PLANES; p++)
    planes |= lam_slice_model_is_wanted (self->slices, p) ? 1u << p : 0;
  lam_session_request_planes (self, planes);
}

void
lam_session_drop_result (LamSession *self)
{
  g_clear_pointer (&self->result, lam_recon_result_unref);
  g_clear_object (&self->result_job);
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
  LamRunInfo *info = g_object_get_data (G_OBJECT (held), "lam-saves") != NULL
                         ? lam_run_info (g_object_get_data (G_OBJECT (held), "lam-saves"))
                         : NULL;
  if (info != NULL)
    info->saved = TRUE;
  lam_session_forget_kept (self);
  const char *path = g_object_get_data (G_OBJECT (held), "lam-path");
  g_autofree char *name = g_path_get_basename (path), *folder = g_path_get_dirname (path);
  g_autofree char *text = g_strdup_printf (_ ("Saved as %s in %s"), name, folder);
  lam_session_log (self, _ ("saved as %s"), path);
  lam_session_say (self, text, FALSE);
}

void
lam_session_save (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  if (self->result == NULL || self->save != NULL || path == NULL)
    return;
  self->save = lam_job_new_save (self->result, path);
  g_object_set_data_full (G_OBJECT (self->save), "lam-saves", g_object_ref (self->result_job), g_object_unref);
  g_object_set_data_full (G_OBJECT (self->save), "lam-path", g_strdup (path), g_free);
  g_signal_connect (self->save, "finished", G_CALLBACK (save_finished_cb), self);
  lam_queue_add (self->queue, self->save);
}

GFile *
lam_session_suggest_file (LamSession *self)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), NULL);
  g_autofree char *name = g_strdup (self->title != NULL ? self->title : "");
  g_autofree char *folder = self->scan_path != NULL ? g_path_get_dirname (self->scan_path) : NULL;
  char *dot = strrchr (name, '.');
  if (dot != NULL && dot > name)
    *dot = '\0';
  g_autofree char *file = g_strdup_printf ("%s-recon.h5", *name != '\0' ? name : "lamina");
  return g_file_new_build_filename (folder != NULL ? folder : g_get_home_dir (), file, NULL);
}

gboolean
lam_session_can_save (LamSession *self)
{
  return self->result != NULL;
}

gboolean
lam_session_has_unsaved (LamSession *self)
{
  return self->result != NULL && !lam_run_info (self->result_job)->saved;
}

void
lam_session_run_dispose (LamSession *self)
{
  /* A result that is dropped unsaved was asked about; a run that is cut off may be gone on with. */
  if (self->run == NULL || self->discarding)
    lam_session_forget_kept (self);
  lam_session_let_kept_go (self);
  LamJob **jobs[] = {&self->run, &self->save};
  for (int i = 0; i < 2; i++)
    if (*jobs[i] != NULL) {
      g_signal_handlers_disconnect_by_data (*jobs[i], self);
      /* A result that is being written is written to the end; what a run kept on the disk stays there. */
      if (i == 0)
        lam_job_cancel (*jobs[i]);
      g_clear_object (jobs[i]);
    }
  lam_session_drop_result (self);
}
