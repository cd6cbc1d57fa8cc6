#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/linger.h"
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
  params->neighbours[0] = number (self, "row_weight");
  params->neighbours[1] = number (self, "column_weight");
  params->neighbours[2] = number (self, "slice_weight");
  params->p = number (self, "prior_p");
  params->q = number (self, "prior_q");
  params->t = number (self, "prior_t");
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
    lam_session_add_iteration (self, it);
  }
  self->iterations_seen += iterations != NULL ? iterations->len : 0;
}

static void
take_result (LamSession *self, LamResult *result)
{
  LamReconResult *recon = lam_result_get_recon (result);
  lam_session_drop_result (self);
  self->result = lam_recon_result_ref (recon);
  self->shown = g_object_ref (result);
  self->result_tilt = lam_result_get_tilt_degrees (result) * G_PI / 180;
  self->show = LAM_SHOW_RESULT;
}

/* What came of a run goes into the list of results; the job is done with. */
static void
add_result (LamSession *self, LamJob *job)
{
  LamReconResult *recon = lam_job_get_result (job);
  const LamRunInfo *info = lam_run_info (job);
  g_autofree char *name = lam_results_suggest_name (self->results, &recon->params, recon->geometry);
  g_autoptr (LamResult) result = lam_result_new (name, recon, info->parameters, info->tilt_degrees, &info->prepared);
  lam_results_add (self->results, result);
  take_result (self, result);
  lam_session_set_curve_of (self, result);
  /* The geometry may have been edited meanwhile: then the slice is live again. */
  self->result_tilt = info->tilt;
  lam_queue_remove (self->queue, job);
}

static void
finish (LamSession *self, LamJob *job)
{
  LamReconResult *result = lam_job_get_result (job);
  g_autoptr (GError) error = lam_job_dup_error (job);
  if (result != NULL) {
    add_result (self, job);
    g_autofree char *text = result->stopped ? g_strdup_printf (_ ("Stopped and kept after %.1f s"), result->seconds)
                                            : g_strdup_printf (_ ("Reconstructed in %.1f s"), result->seconds);
    lam_session_say (self, text, TRUE);
  } else {
    self->show = self->result != NULL ? LAM_SHOW_RESULT : LAM_SHOW_LIVE;
    lam_session_show_curve (self, self->shown); /* that of the run is of nothing */
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
  lam_session_set_shown (self, self->show == LAM_SHOW_RESULT ? self->shown : NULL);
  if (self->show == LAM_SHOW_RESULT)
    lam_session_request_plane (self);
  else
    lam_session_request_live (self);
  lam_session_keep_now (self);
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

/* The search that the centre is from; NULL: a hand, a file or a session set it. */
static const LamCenter *
found_center (LamSession *self)
{
  const LamCenter *c = &self->found;
  double set = lam_parameter_get_number (lam_parameter_list_find (self->parameters, "center"));
  return c->method != NULL && set == lam_provenance_channel (&self->dataset->made, c->channel) ? c : NULL;
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
  if ((self->asked == LAM_QUESTION_RESUME || (self->asked == LAM_QUESTION_RESTORE && self->cut != NULL))
      && !self->resuming) {
    g_autoptr (GError) error =
        g_error_new (LAM_ERROR, LAM_ERROR_INVALID,
                     self->asked == LAM_QUESTION_RESUME ? _ ("%s Resume it or discard it first.")
                                                        : _ ("%s Restore it or discard it first."),
                     self->question);
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
  lam_session_set_shown (self, NULL);
  lam_slice_model_set_generation (self->slices, generation);
  lam_session_clear_curve (self);
  self->run = lam_run_job_new (self->dataset, self->geometry, &self->options, &self->prepared, lam_session_tilt (self),
                               found_center (self), &params);
  g_object_set_data (G_OBJECT (self->run), "lam-data", GUINT_TO_POINTER (self->data_serial));
  lam_run_info (self->run)->parameters = lam_parameter_list_save (self->parameters);
  lam_prepare_params_copy (&self->prepared, &lam_run_info (self->run)->prepared);
  g_signal_connect (self->run, "changed", G_CALLBACK (run_changed_cb), self);
  g_signal_connect (self->run, "snapshot", G_CALLBACK (run_snapshot_cb), self);
  g_signal_connect (self->run, "finished", G_CALLBACK (run_finished_cb), self);
  lam_session_want_planes (self);
  lam_session_set_progress (self, -1, _ ("preparing"), NULL);
  lam_session_set_state (self, LAM_SESSION_RUNNING);
  lam_queue_add (self->queue, self->run);
  lam_session_keep_now (self);
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

gboolean
lam_session_can_show (LamSession *self, LamResult *result)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result), FALSE);
  return self->run == NULL && lam_result_get_recon (result)->volume != NULL
         && lam_results_index (self->results, result) >= 0;
}

void
lam_session_put_in_view (LamSession *self, LamResult *result)
{
  take_result (self, result);
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  lam_session_show_curve (self, result);
  lam_session_set_shown (self, result);
  lam_session_request_plane (self);
}

/* To the last bit where the run's parameters are known. */
static double
center_of (LamResult *result)
{
  LamReconResult *recon = lam_result_get_recon (result);
  double channel = lam_provenance_channel (&recon->made, lam_geometry_center (recon->geometry));
  GVariant *values = lam_result_get_parameters (result);
  double center;
  if (values != NULL && g_variant_lookup (values, "center", "d", &center) && fabs (center - channel) < 1e-6)
    return center;
  return rint (channel * 100) / 100;
}

/* Its axis and tilt come with it: they are what the picture was made with. */
void
lam_session_show_result (LamSession *self, LamResult *result)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result));
  if (!lam_session_can_show (self, result))
    return;
  LamUndo *undo = self->undo;
  lam_session_drop_result (self);
  lam_undo_begin (undo, _ ("Show Result"));
  lam_parameter_edit (lam_parameter_list_find (self->parameters, "center"), g_variant_new_double (center_of (result)),
                      NULL);
  lam_parameter_edit (lam_parameter_list_find (self->parameters, "tilt"),
                      g_variant_new_double (lam_result_get_tilt_degrees (result)), NULL);
  lam_undo_end (undo);
  lam_session_put_in_view (self, result);
}

void
lam_session_show_live (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->run != NULL || self->result == NULL)
    return;
  lam_session_drop_result (self);
  lam_session_set_shown (self, NULL);
  self->show = LAM_SHOW_LIVE;
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  lam_session_request_live (self);
  g_object_notify (G_OBJECT (self), "state");
}

void
lam_session_remove_result (LamSession *self, LamResult *result)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result));
  g_autofree char *text = g_strdup_printf (_ ("Removed “%s”"), lam_result_get_name (result));
  lam_results_remove (self->results, result);
  lam_session_say_undo (self, text);
}

/* Removed, or the removal undone: what is not in the list is not in view. */
static void
results_changed_cb (GListModel *results, guint position, guint removed, guint added, LamSession *self)
{
  if (self->curve_of != NULL && lam_results_index (self->results, self->curve_of) < 0)
    lam_session_clear_curve (self);
  if (self->shown != NULL && lam_results_index (self->results, self->shown) < 0) {
    if (self->run == NULL)
      lam_session_show_live (self);
    else
      lam_session_drop_result (self);
  }
  g_object_notify (G_OBJECT (self), "state");
}

void
lam_session_run_init (LamSession *self)
{
  g_signal_connect_object (self->results, "items-changed", G_CALLBACK (results_changed_cb), self, 0);
}

void
lam_session_use_parameters (LamSession *self, LamResult *result)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result));
  GVariant *values = lam_result_get_parameters (result);
  gsize n = values != NULL ? g_variant_n_children (values) : 0;
  lam_undo_begin (self->undo, _ ("Use Parameters"));
  for (gsize i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) value = NULL;
    g_autofree char *id = NULL;
    g_variant_get_child (values, i, "{sv}", &id, &value);
    LamParameter *p = lam_parameter_list_find (self->parameters, id);
    if (p != NULL && !lam_parameter_edit (p, value, &error))
      lam_session_fail (self, error);
  }
  lam_undo_end (self->undo);
}

/* Another scan: the results of this one go. */
void
lam_session_forget_runs (LamSession *self)
{
  lam_session_let_kept_go (self);
  lam_session_drop_result (self);
  lam_session_set_shown (self, NULL);
  lam_results_clear (self->results);
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
  g_clear_object (&self->shown);
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
    if (!g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
      lam_session_fail (self, error);
    return;
  }
  const char *path = g_object_get_data (G_OBJECT (held), "lam-path");
  LamResult *result = g_object_get_data (G_OBJECT (held), "lam-saves");
  lam_results_overwritten (self->results, path);
  lam_result_set_place (result, LAM_VOXELS_SAVED, path, "/recon");
  /* What the last run kept goes when all is safe, but not that of one that goes on, nor that of another scan. */
  if (self->run == NULL && lam_results_index (self->results, result) >= 0 && !lam_session_has_unsaved (self))
    lam_session_forget_kept (self);
  lam_session_touch (self, TRUE);
  g_autofree char *name = g_path_get_basename (path), *folder = g_path_get_dirname (path);
  g_autofree char *text = g_strdup_printf (_ ("Saved as %s in %s"), name, folder);
  lam_session_log (self, _ ("saved as %s"), path);
  lam_session_say (self, text, FALSE);
}

void
lam_session_save_result (LamSession *self, LamResult *result, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  g_autoptr (GError) error = NULL;
  if (path == NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_IO, _ ("only files of this machine can be written"));
  else if (self->save != NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID, _ ("another result is still being saved"));
  else if (lam_result_get_recon (result)->volume == NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_MISSING, _ ("“%s” has no voxels: %s"), lam_result_get_name (result),
                 lam_result_get_problem (result));
  if (error != NULL) {
    lam_session_fail (self, error);
    return;
  }
  self->save = lam_job_new_save (lam_result_get_recon (result), path);
  g_object_set_data_full (G_OBJECT (self->save), "lam-saves", g_object_ref (result), g_object_unref);
  g_object_set_data_full (G_OBJECT (self->save), "lam-path", g_strdup (path), g_free);
  g_signal_connect (self->save, "finished", G_CALLBACK (save_finished_cb), self);
  lam_queue_add_now (self->queue, self->save);
}

void
lam_session_save (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  if (self->shown != NULL)
    lam_session_save_result (self, self->shown, file);
}

/* Beside the scan, with @suffix in place of the scan's own. */
static GFile *
suggest (LamSession *self, const char *suffix, const char *wanted)
{
  g_autofree char *name = g_strdup (self->title != NULL ? self->title : lam_session_is_bare (self) ? "sequence" : "");
  g_autofree char *folder = wanted != NULL            ? g_strdup (wanted)
                            : self->scan_path != NULL ? g_path_get_dirname (self->scan_path)
                                                      : NULL;
  char *dot = strrchr (name, '.');
  if (dot != NULL && dot > name)
    *dot = '\0';
  g_autofree char *file = g_strconcat (*name != '\0' ? name : "lamina", suffix, NULL);
  return g_file_new_build_filename (folder != NULL ? folder : g_get_home_dir (), file, NULL);
}

GFile *
lam_session_suggest_file (LamSession *self)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), NULL);
  return suggest (self, "-recon.h5", self->results_folder);
}

/* The only one is tooth-recon.h5; one of several has its name in it. */
GFile *
lam_session_suggest_result_file (LamSession *self, LamResult *result)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && LAM_IS_RESULT (result), NULL);
  if (g_list_model_get_n_items (G_LIST_MODEL (self->results)) < 2)
    return suggest (self, "-recon.h5", self->results_folder);
  g_autofree char *plain = g_strdelimit (g_strdup (lam_result_get_name (result)), " /\\:*?\"<>|", '-');
  g_autofree char *suffix = g_strdup_printf ("-%s.h5", plain);
  return suggest (self, suffix, self->results_folder);
}

GFile *
lam_session_suggest_session_file (LamSession *self)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), NULL);
  return self->home != NULL ? g_file_new_for_path (self->home) : suggest (self, LAM_SESSION_SUFFIX, NULL);
}

void
lam_session_set_results_folder (LamSession *self, const char *folder)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  g_free (self->results_folder);
  self->results_folder = g_strdup (folder);
}

gboolean
lam_session_can_save (LamSession *self)
{
  return self->result != NULL;
}

gboolean
lam_session_has_unsaved (LamSession *self)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->results)); i++)
    if (!lam_result_get_safe (lam_results_get (self->results, i)))
      return TRUE;
  return FALSE;
}

gboolean
lam_session_has_loose (LamSession *self)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->results)); i++)
    if (lam_result_get_place (lam_results_get (self->results, i)) == LAM_VOXELS_MEMORY)
      return TRUE;
  return FALSE;
}

void
lam_session_run_dispose (LamSession *self)
{
  /* A result that is dropped unsaved was asked about; a run that is cut off may be gone on with. */
  if (self->run == NULL || self->discarding)
    lam_session_forget_kept_now (self);
  lam_session_let_kept_go (self);
  LamJob **jobs[] = {&self->run, &self->save};
  for (int i = 0; i < 2; i++)
    if (*jobs[i] != NULL) {
      g_signal_handlers_disconnect_by_data (*jobs[i], self);
      /* A result that is being written goes on by itself; what a run kept on the disk stays there. */
      if (i == 0)
        lam_job_cancel (*jobs[i]);
      else
        lam_linger_for (*jobs[i]);
      lam_queue_remove (self->queue, *jobs[i]);
      g_clear_object (jobs[i]);
    }
  lam_session_drop_result (self);
}
