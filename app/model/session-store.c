/* session-store.c: the session to a file and back (session-file.h): opening, saving, and what the file does not have yet. */
#include "config.h"

#include <glib/gi18n.h>
#include <string.h>

#include "core/error.h"
#include "model/linger.h"
#include "model/session-private.h"

static void
take_variant (GVariant **to, GVariant *value)
{
  GVariant *old = *to;
  *to = value != NULL ? g_variant_ref_sink (value) : NULL;
  g_clear_pointer (&old, g_variant_unref);
}

static void
take_maps (LamMapsResult **to, LamMapsResult *maps)
{
  LamMapsResult *old = *to;
  *to = maps != NULL ? lam_maps_result_ref (maps) : NULL;
  g_clear_pointer (&old, lam_maps_result_unref);
}

/* A sequence, and nothing in the other workspace. */
gboolean
lam_session_is_bare (LamSession *self)
{
  return self->base == NULL && !self->example && self->scan_path == NULL && self->sequence != NULL;
}

/* -- what the file does not have yet -- */

void
lam_session_rebase (LamSession *self)
{
  g_clear_pointer (&self->stored, g_variant_unref);
  self->stored = lam_parameter_list_save (self->parameters);
  self->stored_serial = self->results_serial;
  lam_session_set_modified (self, FALSE);
}

void
lam_session_update_modified (LamSession *self)
{
  g_autoptr (GVariant) now = lam_parameter_list_save (self->parameters);
  gboolean same = self->stored != NULL && g_variant_equal (self->stored, now)
                  && (self->sequence == NULL || self->stored_sequence == NULL
                          ? self->sequence == self->stored_sequence
                          : g_variant_equal (self->sequence, self->stored_sequence))
                  && self->maps == self->stored_maps;
  lam_session_set_modified (self, (self->base != NULL || lam_session_is_bare (self))
                                      && (!same || self->results_serial != self->stored_serial));
}

void
lam_session_set_sequence (LamSession *self, GVariant *state, int64_t edits)
{
  g_return_if_fail (LAM_IS_SESSION (self) && state != NULL);
  gboolean first = self->sequence == NULL && edits == 0;
  if (self->sequence != NULL && edits == self->sequence_edits && g_variant_equal (state, self->sequence))
    return;
  take_variant (&self->sequence, state);
  self->sequence_edits = edits;
  if (first) {
    take_variant (&self->stored_sequence, state);
    if (lam_session_is_bare (self)) /* there is something to save now */
      g_object_notify (G_OBJECT (self), "state");
    return;
  }
  lam_session_update_modified (self);
  lam_session_touch (self, TRUE);
}

void
lam_session_set_maps (LamSession *self, LamMapsResult *maps)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->maps == maps)
    return;
  if (self->maps != NULL && maps != NULL && lam_maps_result_same (self->maps, maps)) { /* made again: no change */
    LamMapsResult **const all[] = {&self->stored_maps, &self->kept_maps};
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      if (*all[i] == self->maps)
        take_maps (all[i], maps);
    take_maps (&self->maps, maps);
    return;
  }
  take_maps (&self->maps, maps);
  lam_session_update_modified (self);
  lam_session_touch (self, TRUE);
}

LamMapsResult *
lam_session_get_maps (LamSession *self)
{
  return self->maps;
}

static void
results_changed_cb (LamResults *results, LamSession *self)
{
  self->results_serial++;
  lam_session_update_modified (self);
  lam_session_touch (self, TRUE);
}

/* Where one looks is kept, but is no change. */
static void
slices_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamSession *self)
{
  static const char *const kept[] = {"plane", "index", "low", "high", "inverted", "colour-map", NULL};
  if (!g_strv_contains (kept, pspec->name))
    return;
  self->index[lam_slice_model_get_plane (slices)] = lam_slice_model_get_index (slices);
  lam_session_touch (self, FALSE);
}

void
lam_session_store_init (LamSession *self)
{
  for (int i = 0; i < LAM_PLANES; i++)
    self->index[i] = -1;
  lam_session_rebase (self);
  g_signal_connect_object (self->results, "changed", G_CALLBACK (results_changed_cb), self, 0);
  g_signal_connect_object (self->slices, "notify", G_CALLBACK (slices_notify_cb), self, 0);
}

/* -- to a file -- */

static void
describe_parameters (LamSession *self, LamSessionFile *f)
{
  GListModel *list = G_LIST_MODEL (self->parameters);
  g_auto (GVariantBuilder) defaults = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);
  g_auto (GVariantBuilder) notes = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{ss}"));
  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (list, i);
    g_autoptr (GVariant) value = lam_parameter_get_default (p);
    g_variant_builder_add (&defaults, "{sv}", lam_parameter_get_id (p), value);
    if (lam_parameter_get_note (p) != NULL)
      g_variant_builder_add (&notes, "{ss}", lam_parameter_get_id (p), lam_parameter_get_note (p));
  }
  f->parameters = lam_parameter_list_save (self->parameters);
  f->defaults = g_variant_ref_sink (g_variant_builder_end (&defaults));
  f->notes = g_variant_ref_sink (g_variant_builder_end (&notes));
}

static void
describe_view (LamSession *self, LamSessionView *view)
{
  LamSliceModel *slices = self->slices;
  view->plane = lam_slice_model_get_plane (slices);
  for (int i = 0; i < LAM_PLANES; i++)
    view->index[i] = self->index[i];
  view->index[view->plane] = lam_slice_model_get_index (slices);
  lam_slice_model_get_level (slices, &view->low, &view->high);
  view->automatic = lam_slice_model_get_auto_level (slices);
  view->inverted = lam_slice_model_get_inverted (slices);
  view->colour_map = lam_slice_model_get_colour_map (slices);
  lam_session_exchange_view (self, view, TRUE);
}

LamSessionFile *
lam_session_to_file (LamSession *self)
{
  LamSessionFile *f = lam_session_file_new ();
  f->title = g_strdup (self->title);
  f->scan = self->scan_path != NULL ? g_canonicalize_filename (self->scan_path, NULL) : NULL;
  f->bare = lam_session_is_bare (self);
  f->stamp = self->stamp;
  f->options = self->options;
  lam_prepare_params_set (&f->prepared, &self->prepared);
  describe_parameters (self, f);
  describe_view (self, &f->view);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->results)); i++)
    g_ptr_array_add (f->results, lam_result_to_file (lam_results_get (self->results, i)));
  f->shown = self->show == LAM_SHOW_RESULT && self->shown != NULL ? lam_results_index (self->results, self->shown) : -1;
  f->sequence = self->sequence != NULL ? g_variant_ref (self->sequence) : NULL;
  f->maps = self->maps != NULL ? lam_maps_result_ref (self->maps) : NULL;
  f->edits = self->edits_before + lam_undo_get_n_steps (self->undo) + self->sequence_edits;
  f->log = g_strdup (self->log->str);
  g_array_append_vals (f->curve, self->curve->data, self->curve->len);
  f->home = g_strdup (self->home);
  f->run = g_strdup (lam_session_get_kept_run (self));
  return f;
}

typedef struct {
  LamSessionFile *file;
  GPtrArray *results; /* of LamResult, as in the file */
  GVariant *stored;
  uint64_t serial, data; /* data: what was open */
  char *path;
} Storing;

static void
storing_free (gpointer data)
{
  Storing *s = data;
  lam_session_file_free (s->file);
  g_ptr_array_unref (s->results);
  g_variant_unref (s->stored);
  g_free (s->path);
  g_free (s);
}

static gboolean
store_func (LamJob *job, gpointer data, GError **error)
{
  Storing *s = data;
  return lam_session_file_write (s->file, s->path, TRUE, lam_job_get_control (job), error);
}

static void
store_finished_cb (LamJob *job, LamSession *self)
{
  g_autoptr (LamJob) held = g_steal_pointer (&self->store);
  g_autoptr (GError) error = lam_job_dup_error (held);
  Storing *s = g_object_get_data (G_OBJECT (held), "lam-storing");
  g_signal_handlers_disconnect_by_data (held, self);
  lam_queue_remove (self->queue, held);
  if (error != NULL) {
    if (!g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
      lam_session_fail (self, error);
    return;
  }
  lam_results_overwritten (self->results, s->path);
  for (guint i = 0; i < s->results->len; i++)
    lam_result_take_place (g_ptr_array_index (s->results, i), g_ptr_array_index (s->file->results, i));
  if (s->data == self->data_serial) { /* else another scan was opened meanwhile: this is not its session */
    g_free (self->home);
    self->home = g_strdup (s->path);
    g_clear_pointer (&self->stored, g_variant_unref);
    self->stored = g_variant_ref (s->stored);
    take_variant (&self->stored_sequence, s->file->sequence);
    take_maps (&self->stored_maps, s->file->maps);
    self->stored_serial = s->serial;
    lam_session_update_modified (self);
    if (self->run == NULL && !lam_session_has_unsaved (self))
      lam_session_forget_kept (self);
    lam_session_touch (self, TRUE);
  }
  g_autofree char *name = g_path_get_basename (s->path), *folder = g_path_get_dirname (s->path);
  g_autofree char *text = g_strdup_printf (_ ("Saved the session as %s in %s"), name, folder);
  lam_session_log (self, _ ("session saved as %s"), s->path);
  lam_session_say (self, text, FALSE);
  g_object_notify (G_OBJECT (self), "state");
}

void
lam_session_save_session (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  g_autoptr (GError) error = NULL;
  if (path == NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_IO, _ ("only files of this machine can be written"));
  else if (!lam_session_is_bare (self) && (self->base == NULL || (self->scan_path == NULL && !self->example)))
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID,
                 _ ("there is neither a scan nor a sequence whose session could be saved"));
  else if (self->scan_path != NULL && g_strcmp0 (self->scan_path, path) == 0)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s is the scan itself: give the session another name"),
                 path);
  else if (self->store != NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID, _ ("the session is still being saved"));
  if (error != NULL) {
    lam_session_fail (self, error);
    return;
  }
  Storing *s = g_new0 (Storing, 1);
  s->file = lam_session_to_file (self);
  g_clear_pointer (&s->file->home, g_free);
  g_clear_pointer (&s->file->run, g_free);
  s->results = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < s->file->results->len; i++)
    g_ptr_array_add (s->results, g_object_ref (lam_results_get (self->results, i)));
  s->stored = lam_parameter_list_save (self->parameters);
  s->serial = self->results_serial;
  s->data = self->data_serial;
  s->path = g_steal_pointer (&path);
  g_autofree char *title = self->title != NULL ? g_strdup_printf (_ ("Save the session of %s"), self->title)
                                               : g_strdup (_ ("Save the session"));
  self->store = lam_job_new (title, store_func, s, storing_free);
  lam_job_set_lasting (self->store, TRUE);
  g_object_set_data (G_OBJECT (self->store), "lam-storing", s);
  g_signal_connect (self->store, "finished", G_CALLBACK (store_finished_cb), self);
  lam_queue_add_now (self->queue, self->store);
}

void
lam_session_store_dispose (LamSession *self)
{
  lam_session_drop_pending (self);
  g_clear_pointer (&self->located, g_free);
  g_clear_pointer (&self->edited, lam_session_file_free);
  if (self->store == NULL)
    return;
  /* What is being written is written to the end, without this session. */
  g_signal_handlers_disconnect_by_data (self->store, self);
  lam_queue_remove (self->queue, self->store);
  lam_linger_for (self->store);
  g_clear_object (&self->store);
}

/* -- from a file -- */

typedef struct {
  char *path, *scan; /* where the scan is now; NULL: nowhere */
  uint64_t opened;
  gboolean changed;
  LamSessionFile *file;
} Reading;

static void
reading_free (gpointer data)
{
  Reading *r = data;
  g_clear_pointer (&r->file, lam_session_file_free);
  g_free (r->path);
  g_free (r->scan);
  g_free (r);
}

static gboolean
read_func (LamJob *job, gpointer data, GError **error)
{
  Reading *r = data;
  r->file = lam_session_file_read (r->path, lam_job_get_control (job), error);
  if (r->file == NULL)
    return FALSE;
  if (r->file->scan != NULL)
    r->scan = lam_session_file_find_scan (r->file, r->path, &r->changed);
  return TRUE;
}

void
lam_session_drop_pending (LamSession *self)
{
  g_clear_pointer (&self->pending, lam_session_file_free);
  g_clear_pointer (&self->pending_path, g_free);
  if (self->restoring) { /* given up: its run is not to be gone on with by the next one either */
    lam_session_drop_orphan (self, FALSE);
    self->restoring = FALSE;
    lam_session_drop_resuming (self);
  }
  if (self->asked == LAM_QUESTION_LOCATE || self->asked == LAM_QUESTION_CHANGED)
    lam_session_ask (self, LAM_QUESTION_NONE, NULL);
}

static void
open_scan (LamSession *self, const char *path)
{
  lam_session_ask (self, LAM_QUESTION_NONE, NULL);
  lam_session_open_path (self, path, &self->pending->options);
}

static void apply_bare (LamSession *self);

static void
read_finished_cb (LamJob *job, LamSession *self)
{
  g_autoptr (LamJob) held = g_steal_pointer (&self->load);
  g_autoptr (GError) error = lam_job_dup_error (held);
  Reading *r = g_object_get_data (G_OBJECT (held), "lam-reading");
  g_signal_handlers_disconnect_by_data (held, self);
  lam_queue_remove (self->queue, held);
  if (r->opened != self->opened) /* something else is being opened since */
    return;
  lam_session_set_progress (self, -1, NULL, NULL);
  lam_session_set_state (self, self->before);
  if (error != NULL) {
    lam_session_drop_pending (self);
    if (!g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
      lam_session_fail (self, error);
    return;
  }
  self->pending = g_steal_pointer (&r->file);
  self->pending_path = g_strdup (r->path);
  g_free (self->located);
  self->located = g_strdup (r->scan);
  g_autofree char *name = self->pending->scan != NULL ? g_path_get_basename (self->pending->scan) : NULL;
  if (self->pending->bare)
    apply_bare (self);
  else if (self->pending->scan == NULL)
    lam_session_open_pending_example (self);
  else if (r->scan == NULL) {
    g_autofree char *text =
        g_strdup_printf (_ ("The scan of this session, %s, is not at %s."), name, self->pending->scan);
    lam_session_ask (self, LAM_QUESTION_LOCATE, text);
  } else if (r->changed) {
    g_autofree char *text = g_strdup_printf (_ ("%s has changed since the session was saved (%s)."), name, r->scan);
    lam_session_ask (self, LAM_QUESTION_CHANGED, text);
  } else
    open_scan (self, r->scan);
}

void
lam_session_open_session (LamSession *self, const char *path)
{
  Reading *r = g_new0 (Reading, 1);
  gboolean restoring = self->restoring;
  r->path = g_canonicalize_filename (path, NULL);
  self->restoring = FALSE; /* so that what is dropped is not what a crash left */
  lam_session_drop_pending (self);
  self->restoring = restoring;
  if (self->state != LAM_SESSION_OPENING)
    self->before = self->state;
  r->opened = ++self->opened;
  g_autofree char *name = g_path_get_basename (path), *title = g_strdup_printf (_ ("Open %s"), name);
  LamJob *job = lam_job_new (title, read_func, r, reading_free);
  g_object_set_data (G_OBJECT (job), "lam-reading", r);
  lam_session_start_reading (self, job, G_CALLBACK (read_finished_cb));
}

void
lam_session_locate_scan (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  if (self->pending != NULL && path != NULL)
    open_scan (self, path);
}

void
lam_session_use_changed (LamSession *self)
{
  g_autofree char *path = g_strdup (self->located);
  if (self->pending != NULL && path != NULL)
    open_scan (self, path);
}

/* -- putting it in place -- */

/* A switch or a whole number may come as another kind of number. */
static GVariant *
fitting (LamParameter *p, GVariant *value)
{
  LamParameterKind kind = lam_parameter_get_kind (p);
  if (kind == LAM_PARAMETER_NUMBER && g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    return g_variant_ref_sink (g_variant_new_double ((double) g_variant_get_int64 (value)));
  return g_variant_ref (value);
}

static void
apply_parameters (LamSession *self, const LamSessionFile *f)
{
  GListModel *list = G_LIST_MODEL (self->parameters);
  self->loading = TRUE;
  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (list, i);
    const char *id = lam_parameter_get_id (p), *note = NULL;
    GVariant *const dicts[] = {f->defaults, f->parameters};
    for (int k = 0; k < 2; k++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) found = g_variant_lookup_value (dicts[k], id, NULL);
      g_autoptr (GVariant) value = found != NULL ? fitting (p, found) : NULL;
      if (value != NULL
          && !(k == 0 ? lam_parameter_set_default (p, value, &error) : lam_parameter_set_value (p, value, &error)))
        lam_session_fail (self, error);
    }
    if (g_variant_lookup (f->notes, id, "&s", &note))
      lam_parameter_set_note (p, note);
  }
  self->loading = FALSE;
}

static void
apply_view (LamSession *self, LamSessionView *view)
{
  LamSliceModel *slices = self->slices;
  for (int i = 0; i < LAM_PLANES; i++)
    if (view->index[i] >= 0) {
      lam_slice_model_set_plane (slices, i);
      lam_slice_model_set_index (slices, view->index[i]);
    }
  if (view->plane >= 0 && view->plane < LAM_PLANES)
    lam_slice_model_set_plane (slices, view->plane);
  if (view->colour_map >= 0 && view->colour_map < LAM_COLOUR_MAPS)
    lam_slice_model_set_colour_map (slices, view->colour_map);
  lam_slice_model_set_inverted (slices, view->inverted);
  if (view->automatic)
    lam_slice_model_level_auto (slices);
  else if (view->low < view->high)
    lam_slice_model_set_level (slices, view->low, view->high);
  lam_session_exchange_view (self, view, FALSE);
}

/* The file's lines, then those of this opening that it does not have: a scan says the same each time. */
static void
join_logs (LamSession *self, const char *before)
{
  g_auto (GStrv) now = g_strsplit (self->log->str, "\n", -1), old = g_strsplit (before != NULL ? before : "", "\n", -1);
  g_string_assign (self->log, before != NULL ? before : "");
  for (guint i = 0; now[i] != NULL; i++)
    if (*now[i] != '\0' && !g_strv_contains ((const char *const *) old, now[i]))
      g_string_append_printf (self->log, "%s\n", now[i]);
  lam_session_log_changed (self);
}

/* What hangs on no scan. @path: of the session. */
static void
apply_whole (LamSession *self, const LamSessionFile *f, const char *path, gboolean restoring)
{
  g_free (self->home);
  self->home = g_strdup (restoring ? f->home : path);
  self->edits_before = restoring ? f->edits : 0;
  join_logs (self, f->log);
  if (f->sequence == NULL)
    return;
  take_variant (&self->sequence, f->sequence);
  take_variant (&self->stored_sequence, f->sequence);
  take_maps (&self->maps, f->maps);
  take_maps (&self->stored_maps, f->maps);
  self->sequence_edits = 0;
  lam_session_show_sequence (self);
}

/* All of it is in place. */
static void
end_applying (LamSession *self, const LamSessionFile *f, const char *path, gboolean restoring)
{
  lam_session_rebase (self);
  if (restoring) { /* what no file has */
    self->stored_serial--;
    lam_session_update_modified (self);
    lam_session_adopt_orphan (self);
  }
  g_autofree char *name = restoring ? NULL : g_path_get_basename (path);
  if (restoring)
    lam_session_log (self, _ ("restored after an unexpected end, with %ld edits"), (long) f->edits);
  else
    lam_session_log (self, _ ("opened the session %s"), name);
}

/* The session has no scan: nothing is left to wait for. */
static void
apply_bare (LamSession *self)
{
  g_autoptr (LamSessionFile) f = g_steal_pointer (&self->pending);
  g_autofree char *path = g_steal_pointer (&self->pending_path);
  gboolean restoring = self->restoring;
  self->restoring = FALSE;
  lam_session_open_nothing (self);
  apply_whole (self, f, path, restoring);
  lam_session_exchange_view (self, &f->view, FALSE);
  end_applying (self, f, path, restoring);
  lam_session_touch (self, restoring);
  lam_session_drop_resuming (self);
  g_object_notify (G_OBJECT (self), "state"); /* there is something to save now */
}

gboolean
lam_session_apply_pending (LamSession *self)
{
  if (self->pending == NULL || self->dataset == NULL)
    return FALSE;
  g_autoptr (LamSessionFile) f = g_steal_pointer (&self->pending);
  g_autofree char *path = g_steal_pointer (&self->pending_path);
  gboolean restoring = self->restoring;
  self->restoring = FALSE;
  apply_parameters (self, f);
  lam_undo_clear (self->undo);
  for (guint i = 0; i < f->results->len; i++) {
    g_autoptr (LamResult) result = lam_result_from_file (g_ptr_array_index (f->results, i));
    lam_results_add (self->results, result);
  }
  apply_whole (self, f, path, restoring);
  lam_session_update_geometry (self);
  lam_session_clear_curve (self);
  for (guint i = 0; i < f->curve->len; i++)
    lam_session_add_iteration (self, &g_array_index (f->curve, LamReconIteration, i));
  for (guint i = 0; i < f->results->len; i++) {
    LamResult *result = lam_results_get (self->results, i);
    const GArray *its = lam_result_get_recon (result)->iterations;
    if (its->len > 0 && its->len == f->curve->len
        && memcmp (its->data, f->curve->data, its->len * sizeof (LamReconIteration)) == 0)
      lam_session_set_curve_of (self, result);
  }
  apply_view (self, &f->view);
  if (f->shown >= 0) {
    LamResult *shown = lam_results_get (self->results, (guint) f->shown);
    if (lam_session_can_show (self, shown))
      lam_session_put_in_view (self, shown);
  }
  end_applying (self, f, path, restoring);
  lam_session_update_preparation (self);
  lam_session_update_forecast (self);
  lam_session_touch (self, restoring);
  /* The run goes on with what it began with; the edits since are for the next one. */
  if (lam_session_is_resuming (self)) {
    self->edited = g_steal_pointer (&f);
    if (!lam_session_go_on_resuming (self))
      lam_session_drop_resuming (self);
  }
  return TRUE;
}

void
lam_session_apply_edited (LamSession *self)
{
  g_autoptr (LamSessionFile) f = g_steal_pointer (&self->edited);
  if (f == NULL)
    return;
  apply_parameters (self, f);
  lam_session_update_geometry (self);
  lam_session_update_preparation (self);
  lam_session_update_modified (self);
}
