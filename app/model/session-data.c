#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "ct/center.h"
#include "model/preparation.h"
#include "model/run-job.h"
#include "model/session-parameters.h"
#include "model/session-private.h"
#include "model/units.h"

/* Below this the search for the centre is told, not used. */
#define TRUSTED 0.5

static void
geometry_changed_cb (LamSession *self, gpointer data)
{
  /* A result stays in view until its geometry is no longer the one that is set; back there, it comes back. */
  if (self->result != NULL && self->show != LAM_SHOW_RUN && self->geometry != NULL) {
    gboolean same = lam_prepare_params_equal (lam_result_get_prepared (self->shown), &self->prepared)
                    && lam_geometry_equal (self->result->geometry, self->geometry)
                    && self->result_tilt == lam_session_tilt (self);
    LamShow show = same ? LAM_SHOW_RESULT : LAM_SHOW_LIVE;
    if (show != self->show) {
      self->show = show;
      lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
      lam_session_set_shown (self, same ? self->shown : NULL);
      if (same)
        lam_session_request_plane (self);
    }
  }
  lam_session_request_live (self);
  lam_session_update_forecast (self);
}

/* -- centre -- */

typedef struct {
  GWeakRef session;
  LamDataset *dataset;
  LamGeometry *geometry;
  gboolean automatic; /* after opening: a default, not an edit */
  LamCenter center;
} Finding;

static void
finding_free (gpointer data)
{
  Finding *f = data;
  g_weak_ref_clear (&f->session);
  lam_dataset_unref (f->dataset);
  lam_geometry_free (f->geometry);
  lam_center_clear (&f->center);
  g_free (f);
}

static void
find_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Finding *f = data;
  GError *error = NULL;
  if (lam_center_find (f->geometry, f->dataset->sinogram, &f->center, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
use_center (LamSession *self, const Finding *f)
{
  const LamCenter *c = &f->center;
  LamParameter *p = lam_parameter_list_find (self->parameters, "center");
  double channel = lam_provenance_channel (&f->dataset->made, c->channel),
         width = c->width * MAX (f->dataset->made.bin, 1);
  GVariant *value = g_variant_ref_sink (g_variant_new_double (channel));
  g_autoptr (GError) error = NULL;
  g_autofree char *note =
      c->confidence >= TRUSTED
          ? g_strdup_printf (_ ("found: %.2f ± %.2f px, confidence %.2f"), channel, fmax (width, 0.01), c->confidence)
          : g_strdup_printf (_ ("perhaps %.2f px: %s"), channel, c->note != NULL ? c->note : _ ("not clear"));
  lam_session_log (self, _ ("centre of rotation (COR): channel %.2f ± %.2f, confidence %.2f, found by %s"), channel,
                   width, c->confidence, c->method);
  gboolean modified = self->modified;
  if (!f->automatic)
    lam_parameter_edit (p, value, &error);
  else if (c->confidence >= TRUSTED)
    lam_parameter_set_default (p, value, &error);
  /* What was found by itself is nobody's change. */
  if (f->automatic && !modified)
    lam_session_rebase (self);
  lam_parameter_set_note (p, note);
  g_variant_unref (value);
  self->found = *c;
  self->found.curve_channel = self->found.curve_score = NULL;
  if (error != NULL)
    lam_session_fail (self, error);
}

static void
find_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Finding *f = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSession) self = g_weak_ref_get (&f->session);
  g_autoptr (GError) error = NULL;
  gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);
  if (self == NULL)
    return;
  if (self->dataset != f->dataset) /* held by both: the same pointer is the same data */
    return;
  self->finding = FALSE;
  if (ok)
    use_center (self, f);
  else
    lam_session_fail (self, error);
  lam_session_update_forecast (self);
}

static void
find_center (LamSession *self, gboolean automatic)
{
  if (self->dataset == NULL || self->dataset->sinogram == NULL || self->finding)
    return;
  self->finding = TRUE;
  Finding *f = g_new0 (Finding, 1);
  g_weak_ref_init (&f->session, self);
  f->dataset = lam_dataset_ref (self->dataset);
  f->geometry = lam_geometry_copy (self->geometry != NULL ? self->geometry : self->dataset->geometry);
  f->automatic = automatic;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, find_done_cb, NULL);
  g_task_set_name (task, "lam_session_find_center");
  g_task_set_task_data (task, f, finding_free);
  g_task_run_in_thread (task, find_thread);
}

void
lam_session_find_center (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  find_center (self, FALSE);
}

/* -- opening -- */

static void
drop_load (LamSession *self)
{
  if (self->load == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->load, self);
  lam_job_cancel (self->load);
  lam_queue_remove (self->queue, self->load);
  g_clear_object (&self->load);
}

static void
let_go (LamSession *self)
{
  if (self->import != NULL)
    lam_import_take (self->import, NULL, NULL);
  drop_load (self);
  lam_session_drop_live (self);
  lam_session_autosave_reset (self);
  g_clear_pointer (&self->home, g_free);
  self->edits_before = 0;
  self->finding = self->applying = self->run_after = FALSE;
  if (self->asked != LAM_QUESTION_RESTORE) /* which is about another session, and waits for its answer */
    lam_session_ask (self, LAM_QUESTION_NONE, NULL);
  lam_session_forget_runs (self);
  g_clear_pointer (&self->dataset, lam_dataset_unref);
  g_clear_pointer (&self->unreadable, g_free);
  g_clear_pointer (&self->scan_path, g_free);
  g_clear_pointer (&self->scan, lam_scan_free);
  g_clear_pointer (&self->listed, g_free);
  self->example = FALSE;
  g_string_set_size (self->log, 0);
}

static void
drop_data (LamSession *self)
{
  let_go (self);
  lam_undo_clear (self->undo);
  lam_session_log_changed (self);
  self->show = LAM_SHOW_LIVE;
  self->data_serial++;
  lam_session_update_preparation (self);
  g_signal_emit_by_name (self, "data-changed");
}

static void
take_dataset (LamSession *self, LamDataset *dataset)
{
  self->dataset = lam_dataset_ref (dataset);
  self->found = (LamCenter){0};
  for (guint i = 0; i < dataset->log->len; i++)
    lam_session_log (self, "%s", (const char *) g_ptr_array_index (dataset->log, i));
  /* What was edited while it was read stays edited. */
  g_clear_pointer (&self->base, lam_geometry_free);
  self->base = lam_geometry_copy (dataset->geometry);
  if (!self->applying)
    /* They count in pixels of the file, whatever was cropped or binned. */
    lam_session_parameters_from (self->parameters, self->scan != NULL ? self->scan->geometry : self->base);
  lam_session_start_live (self, dataset);
  lam_session_set_progress (self, -1, NULL, NULL);
  lam_session_set_state (self, LAM_SESSION_READY);
  lam_session_update_geometry (self);
}

static void
use_dataset (LamSession *self, LamDataset *dataset)
{
  gboolean modified = self->modified;
  take_dataset (self, dataset);
  lam_session_update_preparation (self);
  g_signal_emit_by_name (self, "data-changed");
  if (!modified)
    lam_session_rebase (self);
  if (!lam_session_apply_pending (self) && !lam_session_go_on_resuming (self) && self->base->channel_offset == 0)
    find_center (self, TRUE);
}

/* The same scan, prepared in another way: what was found out about its geometry stays, and so do its results. */
static void
use_prepared (LamSession *self, LamDataset *dataset)
{
  gboolean run_after = self->run_after, finding = self->finding;
  lam_session_drop_live (self);
  self->finding = FALSE;
  g_clear_pointer (&self->dataset, lam_dataset_unref);
  self->show = LAM_SHOW_LIVE;
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  take_dataset (self, dataset);
  self->applying = self->run_after = FALSE;
  lam_prepare_params_set (&self->prepared, &self->being_applied);
  lam_session_update_preparation (self);
  g_signal_emit_by_name (self, "data-changed");
  if (lam_session_go_on_resuming (self))
    return;
  if (run_after)
    lam_session_run (self);
  else
    lam_session_say (self, _ ("Preparation applied"), FALSE);
  if (finding)
    find_center (self, TRUE);
}

static void
load_changed_cb (LamJob *job, LamSession *self)
{
  g_autofree char *doing = lam_job_dup_doing (job), *left = lam_units_format_left (lam_job_get_seconds_left (job));
  lam_session_set_progress (self, lam_job_get_fraction (job), doing, left);
}

static void
load_finished_cb (LamJob *job, LamSession *self)
{
  g_autoptr (LamJob) held = g_steal_pointer (&self->load);
  g_signal_handlers_disconnect_by_data (held, self);
  lam_queue_remove (self->queue, held);
  LamDataset *dataset = lam_job_get_result (held);
  if (dataset != NULL && self->applying) {
    use_prepared (self, dataset);
    return;
  }
  if (dataset != NULL) {
    if (self->title == NULL) {
      lam_session_take_base (self, dataset->name, dataset->geometry, NULL);
      lam_session_set_data_facts (self, dataset->name, dataset->geometry, NULL);
    }
    use_dataset (self, dataset);
    return;
  }
  g_autoptr (GError) error = lam_job_dup_error (held);
  lam_session_set_progress (self, -1, NULL, NULL);
  if (self->applying) {
    self->applying = self->run_after = FALSE;
    lam_session_set_state (self, LAM_SESSION_READY);
    lam_session_drop_resuming (self);
    if (error != NULL && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
      lam_session_fail (self, error);
    return;
  }
  lam_session_set_state (self, self->title != NULL ? LAM_SESSION_READY : LAM_SESSION_EMPTY);
  self->unreadable = g_strdup (error != NULL ? error->message : _ ("the data were not read"));
  lam_session_drop_resuming (self);
  lam_session_drop_pending (self);
  lam_session_update_geometry (self);
  if (error != NULL)
    lam_session_fail (self, error);
}

void
lam_session_start_reading (LamSession *self, LamJob *job, GCallback finished)
{
  drop_load (self);
  self->load = job;
  g_signal_connect (job, "changed", G_CALLBACK (load_changed_cb), self);
  g_signal_connect (job, "finished", finished, self);
  lam_session_set_state (self, LAM_SESSION_OPENING);
  lam_queue_add (self->queue, job);
}

void
lam_session_start_load (LamSession *self, LamJob *job)
{
  lam_session_start_reading (self, job, G_CALLBACK (load_finished_cb));
}

static void
show_angle_rows (LamSession *self, gboolean show)
{
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "angle_start"), show);
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "angle_stop"), show);
}

/* Takes @scan, opened with @options: shows what it says, then reads it. */
static void
use_scan (LamSession *self, LamScan *scan, const LamScanOptions *options)
{
  g_autofree char *name = g_path_get_basename (scan->path);
  g_autoptr (GError) error = NULL;
  lam_session_take_base (self, name, scan->geometry, scan);
  lam_session_set_data_facts (self, name, scan->geometry, scan);
  lam_session_log (self, _ ("opened %s: %s, %ld views, %ld rows, %ld channels"), name,
                   lam_scan_format_name (scan->format), (long) scan->geometry->views, (long) scan->geometry->rows,
                   (long) scan->geometry->channels);
  self->scan_path = g_strdup (scan->path);
  self->options = *options;
  lam_import_take (self->import, scan, options);
  self->stamp = scan->stamp;
  g_clear_pointer (&self->scan, lam_scan_free);
  self->scan = lam_scan_copy (scan);
  lam_session_update_preparation (self);
  if (self->pending != NULL)
    lam_prepare_params_set (&self->prepared, &self->pending->prepared);
  else {
    g_auto (LamPrepareParams) params = {0};
    lam_preparation_params (self->parameters, &params);
    lam_prepare_params_set (&self->prepared, &params);
  }
  show_angle_rows (self, scan->missing_angles);
  lam_session_rebase (self);
  if (!lam_scan_complete (scan, &error)) {
    self->unreadable = g_strdup (error->message);
    lam_session_set_state (self, LAM_SESSION_READY);
    lam_session_update_geometry (self);
    if (scan->missing_angles) {
      g_autofree char *text = g_strdup_printf (
          _ ("%s states no angles. Set first and last angle at the left; they are taken as evenly spaced."), name);
      lam_session_ask (self, LAM_QUESTION_ANGLES, text);
    } else
      lam_session_fail (self, error);
    lam_scan_free (scan);
    return;
  }
  if (!lam_session_is_resuming (self) && self->pending == NULL)
    lam_session_look_for_run (self, scan->path);
  lam_session_start_load (self, lam_job_new_load (scan, &self->prepared));
}

typedef struct {
  char *path;
  LamScanOptions options;
  uint64_t opened;
  gboolean session; /* it is no scan */
} Opening;

static void
opening_free (gpointer data)
{
  g_free (((Opening *) data)->path);
  g_free (data);
}

static void
open_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  Opening *opening = data;
  if (lam_session_file_is_one (opening->path)) { /* whatever it is called */
    opening->session = TRUE;
    g_task_return_pointer (task, NULL, NULL);
    return;
  }
  LamScan *scan = lam_scan_open (((Opening *) data)->path, &((Opening *) data)->options, &error);
  if (scan != NULL)
    g_task_return_pointer (task, scan, (GDestroyNotify) lam_scan_free);
  else
    g_task_return_error (task, error);
}

typedef struct {
  LamSession *session; /* held */
  LamScan *scan;
  LamScanOptions options;
  uint64_t opened;
} Opened;

static gboolean
use_scan_cb (gpointer data)
{
  Opened *o = data;
  LamScan *scan = g_steal_pointer (&o->scan);
  if (o->opened == o->session->opened)
    use_scan (o->session, scan, &o->options);
  else
    lam_scan_free (scan);
  return G_SOURCE_REMOVE;
}

static void
opened_free (gpointer data)
{
  Opened *o = data;
  g_object_unref (o->session);
  g_clear_pointer (&o->scan, lam_scan_free);
  g_free (o);
}

static void
open_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LamSession *self = LAM_SESSION (source);
  Opening *opening = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) scan = g_task_propagate_pointer (G_TASK (result), &error);
  if (opening->opened != self->opened)
    return;
  if (opening->session) {
    lam_session_open_session (self, opening->path);
    return;
  }
  if (scan != NULL) {
    /* Every row of the window is told of the new scan. What was open goes first, in a turn of its own: together they would
     * take the main thread longer than a hand may wait. */
    drop_data (self);
    Opened *o = g_new (Opened, 1);
    *o = (Opened){g_object_ref (self), g_steal_pointer (&scan), opening->options, opening->opened};
    g_idle_add_full (G_PRIORITY_DEFAULT, use_scan_cb, o, opened_free);
    return;
  }
  lam_session_drop_pending (self);
  lam_session_set_state (self, self->before);
  lam_session_fail (self, error);
}

static gboolean
is_busy (LamSession *self)
{
  return self->state == LAM_SESSION_RUNNING || self->state == LAM_SESSION_PAUSED;
}

void
lam_session_open_path (LamSession *self, const char *path, const LamScanOptions *options)
{
  if (self->state != LAM_SESSION_OPENING)
    self->before = self->state;
  lam_session_set_state (self, LAM_SESSION_OPENING);
  Opening *opening = g_new (Opening, 1);
  *opening = (Opening){g_strdup (path), *options, ++self->opened, FALSE};
  g_autoptr (GTask) task = g_task_new (self, NULL, open_done_cb, NULL);
  g_task_set_name (task, "lam_session_open");
  g_task_set_task_data (task, opening, opening_free);
  g_task_run_in_thread (task, open_thread);
}

void
lam_session_open (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_file_get_path (file);
  if (is_busy (self))
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID, _ ("a run is going on: stop it before opening another scan"));
  else if (path == NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_IO, _ ("only files of this machine can be opened"));
  if (error != NULL) {
    lam_session_fail (self, error);
    return;
  }
  const LamScanOptions none = LAM_SCAN_OPTIONS_INIT;
  lam_session_drop_resuming (self);
  lam_session_drop_pending (self);
  lam_session_open_path (self, path, &none);
}

LamImport *
lam_session_get_import (LamSession *self)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), NULL);
  return self->import;
}

void
lam_session_import (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  g_autofree char *path = g_strdup (lam_import_get_path (self->import));
  LamScanOptions options;
  if (path == NULL || self->run != NULL)
    return;
  lam_import_get_options (self->import, &options);
  options.slices = self->options.slices;
  lam_session_open_path (self, path, &options);
}

void
lam_session_use_angles (LamSession *self)
{
  LamScanOptions options = self->options;
  g_autofree char *path = g_strdup (self->scan_path);
  options.angles_set = TRUE;
  options.angle_start = lam_parameter_get_number (lam_parameter_list_find (self->parameters, "angle_start"));
  options.angle_stop = lam_parameter_get_number (lam_parameter_list_find (self->parameters, "angle_stop"));
  lam_session_open_path (self, path, &options);
}

static gboolean
example_func (LamJob *job, gpointer data, GError **error)
{
  LamDataset *dataset = lam_dataset_example (LAM_GEOMETRY_PARALLEL, 0, lam_job_get_control (job), error);
  if (dataset == NULL)
    return FALSE;
  lam_job_set_result (job, dataset, (GDestroyNotify) lam_dataset_unref);
  return TRUE;
}

static void
open_example (LamSession *self)
{
  self->opened++;
  drop_data (self);
  self->example = TRUE;
  g_clear_pointer (&self->title, g_free);
  show_angle_rows (self, FALSE);
  lam_session_start_load (self, lam_job_new (_ ("Make the example"), example_func, NULL, NULL));
}

void
lam_session_open_example (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (is_busy (self))
    return;
  lam_session_drop_resuming (self);
  lam_session_drop_pending (self);
  open_example (self);
}

void
lam_session_open_pending_example (LamSession *self)
{
  open_example (self);
}

void
lam_session_open_nothing (LamSession *self)
{
  self->opened++;
  drop_data (self);
  show_angle_rows (self, FALSE);
  lam_session_take_base (self, NULL, NULL, NULL);
  lam_session_set_state (self, LAM_SESSION_EMPTY);
}

void
lam_session_set_geometry (LamSession *self, const char *title, LamGeometry *geometry)
{
  g_return_if_fail (LAM_IS_SESSION (self) && geometry != NULL);
  self->opened++;
  lam_session_drop_pending (self);
  drop_data (self);
  lam_session_take_base (self, title, geometry, NULL);
  lam_session_set_data_facts (self, title, geometry, NULL);
  lam_session_set_state (self, LAM_SESSION_READY);
  lam_geometry_free (geometry);
}

gboolean
lam_session_has_data (LamSession *self)
{
  return self->dataset != NULL;
}

static void
wanted_cb (LamSliceModel *slices, int plane, gint64 index, LamSession *self)
{
  if (self->show == LAM_SHOW_LIVE && plane == LAM_PLANE_SLICE)
    lam_session_request_live (self);
  else if (self->show == LAM_SHOW_RESULT)
    lam_session_request_planes (self, 1u << plane);
  else if (self->show == LAM_SHOW_RUN)
    lam_session_want_planes (self);
}

void
lam_session_data_init (LamSession *self)
{
  self->import = lam_import_new ();
  g_signal_connect_object (self->slices, "wanted", G_CALLBACK (wanted_cb), self, 0);
  g_signal_connect (self, "geometry-changed", G_CALLBACK (geometry_changed_cb), NULL);
}

void
lam_session_data_dispose (LamSession *self)
{
  let_go (self);
  g_clear_object (&self->queue);
  g_clear_object (&self->import);
}
