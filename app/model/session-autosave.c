/* session-autosave.c: the session is kept against a crash, in the state folder: a file as the person would save it, but
 * without voxels, so that it is written in milliseconds at any size. Those lie beside it, one file a result, written once
 * when the result comes; or in the file that the person saved. A lock, held while the program lives, tells a session that goes
 * on from one that was cut off (session-recovery.c).
 *
 * An edit is kept two seconds after the hand rests, at most the set time after it began; a run at its begin and end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "io/checkpoint.h"
#include "model/linger.h"
#include "model/maps-file.h"
#include "model/session-private.h"

#define REST_SECONDS 2

typedef struct {
  LamSessionFile *file;
  GPtrArray *results; /* of LamResult, as in the file */
  GPtrArray *sent;    /* where their voxels lay then; char * or NULL */
  char *prefix;
  uint64_t changes;
  GError *trouble; /* a volume that could not be kept; the rest was */
} Keeping;

static void
keeping_free (gpointer data)
{
  Keeping *k = data;
  lam_session_file_free (k->file);
  g_ptr_array_unref (k->results);
  g_ptr_array_unref (k->sent);
  g_clear_error (&k->trouble);
  g_free (k->prefix);
  g_free (k);
}

/* -- on the worker -- */

static gboolean
lies_there (const LamSessionResult *r)
{
  return r->where != LAM_VOXELS_MEMORY && r->path != NULL && lam_file_is_as_stamped (r->path, &r->stamp);
}

static gboolean
keep_func (LamJob *job, gpointer data, GError **error)
{
  Keeping *k = data;
  LamControl *control = lam_job_get_control (job);
  for (guint i = 0; i < k->file->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (k->file->results, i);
    if (r->recon->volume == NULL || lies_there (r))
      continue;
    g_autoptr (GError) e = NULL;
    g_autofree char *path = g_strdup_printf ("%s-%08x.h5", k->prefix, g_random_int ());
    r->where = LAM_VOXELS_MEMORY;
    if (lam_session_result_keep (r, path, control, &e))
      continue;
    if (lam_control_cancelled (control)) {
      g_propagate_error (error, g_steal_pointer (&e));
      return FALSE;
    }
    g_clear_error (&k->trouble);
    k->trouble = g_steal_pointer (&e);
  }
  if (k->file->maps != NULL && k->file->maps_path == NULL) { /* once, as volumes are */
    g_autoptr (GError) e = NULL;
    g_autofree char *maps = g_strdup_printf ("%s-%08x.h5", k->prefix, g_random_int ());
    if (lam_maps_file_keep (k->file->maps, maps, &e))
      k->file->maps_path = g_steal_pointer (&maps);
    else {
      g_clear_error (&k->trouble);
      k->trouble = g_steal_pointer (&e);
    }
  }
  g_autofree char *path = g_strconcat (k->prefix, LAM_SESSION_SUFFIX, NULL);
  return lam_session_file_write (k->file, path, FALSE, control, error);
}

/* -- on the main thread -- */

/* Makes the lock, once. */
static gboolean
have_prefix (LamSession *self, GError **error)
{
  if (self->prefix != NULL)
    return TRUE;
  g_autofree char *key =
      g_strdup_printf ("%ld %" G_GINT64_FORMAT " %u", (long) getpid (), g_get_real_time (), g_random_int ());
  g_autofree char *state = lam_state_file ("session", key, error);
  if (state == NULL)
    return FALSE;
  g_autofree char *prefix = g_strndup (state, strlen (state) - strlen (".ckpt"));
  g_autofree char *lock = g_strconcat (prefix, ".lock", NULL);
  int fd = g_open (lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: %s", lock, g_strerror (errno));
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  self->prefix = g_steal_pointer (&prefix);
  self->prefix_lock = fd;
  return TRUE;
}

static void
tell (LamSession *self, const GError *error)
{
  if (self->keep_told)
    return;
  self->keep_told = TRUE;
  g_autoptr (GError) e = g_error_new (
      LAM_ERROR, LAM_ERROR_IO, _ ("This session is not kept against a crash: %s. Work goes on; save it to keep it."),
      error->message);
  lam_session_fail (self, e);
}

static void
keep_finished_cb (LamJob *job, LamSession *self)
{
  g_autoptr (LamJob) held = g_steal_pointer (&self->keeping);
  g_autoptr (GError) error = lam_job_dup_error (held);
  Keeping *k = g_object_get_data (G_OBJECT (held), "lam-keeping");
  g_signal_handlers_disconnect_by_data (held, self);
  for (guint i = 0; i < k->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (k->file->results, i);
    LamResult *result = g_ptr_array_index (k->results, i);
    /* Saved by the person meanwhile: that is where it is. Not so where it was said to lie, but did not any more. */
    if (r->where == LAM_VOXELS_KEPT
        && (!lam_result_get_safe (result)
            || g_strcmp0 (lam_result_get_path (result), g_ptr_array_index (k->sent, i)) == 0))
      lam_result_take_place (result, r);
  }
  if (k->file->maps_path != NULL && k->file->maps != self->kept_maps) {
    if (self->kept_maps_path != NULL)
      lam_session_drop_file (self->kept_maps_path);
    g_free (self->kept_maps_path);
    self->kept_maps_path = g_strdup (k->file->maps_path);
    g_clear_pointer (&self->kept_maps, lam_maps_result_unref);
    self->kept_maps = lam_maps_result_ref (k->file->maps);
  }
  if (error == NULL)
    self->kept_changes = k->changes;
  if (error != NULL || k->trouble != NULL)
    tell (self, error != NULL ? error : k->trouble);
  else {
    self->keep_told = FALSE;
    /* The result is kept with the session: what its run kept is not needed any more. */
    if (self->run == NULL && k->file->run != NULL)
      lam_session_touch (self, TRUE);
    else if (self->run == NULL)
      lam_session_forget_kept (self);
    g_debug ("kept with %ld edits, %u results", (long) k->file->edits, k->results->len);
  }
  if (self->keep_again)
    lam_session_keep_now (self);
}

static gboolean
can_keep (LamSession *self)
{
  gboolean scan = self->dataset != NULL && (self->scan_path != NULL || self->example);
  return self->autosave > 0 && (scan || lam_session_is_bare (self)) && self->pending == NULL && !self->restoring;
}

/* Opening the scan again gives all there is: what recovery would not offer is not written either. */
static gboolean
has_nothing_to_lose (LamSession *self)
{
  return self->prefix == NULL && self->run == NULL && self->edits_before == 0 && self->sequence_edits == 0
         && self->maps == NULL && lam_undo_get_n_steps (self->undo) == 0
         && g_list_model_get_n_items (G_LIST_MODEL (self->results)) == 0;
}

void
lam_session_keep_now (LamSession *self)
{
  g_autoptr (GError) error = NULL;
  g_clear_handle_id (&self->rest_timer, g_source_remove);
  g_clear_handle_id (&self->limit_timer, g_source_remove);
  self->keep_again = self->keeping != NULL;
  if (!can_keep (self) || self->keeping != NULL)
    return;
  if (has_nothing_to_lose (self)) {
    self->kept_changes = self->changes;
    return;
  }
  if (!have_prefix (self, &error)) {
    tell (self, error);
    return;
  }
  Keeping *k = g_new0 (Keeping, 1);
  k->file = lam_session_to_file (self);
  if (k->file->maps != NULL && k->file->maps == self->kept_maps)
    k->file->maps_path = g_strdup (self->kept_maps_path);
  if (self->run == NULL && !lam_session_has_loose (self))
    g_clear_pointer (&k->file->run, g_free);
  k->results = g_ptr_array_new_with_free_func (g_object_unref);
  k->sent = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < k->file->results->len; i++) {
    LamResult *result = lam_results_get (self->results, i);
    g_ptr_array_add (k->results, g_object_ref (result));
    g_ptr_array_add (k->sent, g_strdup (lam_result_get_path (result)));
  }
  k->prefix = g_strdup (self->prefix);
  k->changes = self->changes;
  self->keeping = lam_job_new (_ ("Keep the session"), keep_func, k, keeping_free);
  g_object_set_data (G_OBJECT (self->keeping), "lam-keeping", k);
  g_signal_connect (self->keeping, "finished", G_CALLBACK (keep_finished_cb), self);
  lam_job_start (self->keeping);
}

static gboolean
rest_cb (gpointer data)
{
  LamSession *self = data;
  self->rest_timer = 0;
  lam_session_keep_now (self);
  return G_SOURCE_REMOVE;
}

static gboolean
limit_cb (gpointer data)
{
  LamSession *self = data;
  self->limit_timer = 0;
  lam_session_keep_now (self);
  return G_SOURCE_REMOVE;
}

void
lam_session_touch (LamSession *self, gboolean soon)
{
  self->changes++;
  if (self->autosave == 0)
    return;
  if (self->limit_timer == 0)
    self->limit_timer = g_timeout_add_seconds (self->autosave, limit_cb, self);
  if (!soon || self->autosave <= REST_SECONDS)
    return;
  g_clear_handle_id (&self->rest_timer, g_source_remove);
  self->rest_timer = g_timeout_add (REST_SECONDS * 1000, rest_cb, self);
}

void
lam_session_set_autosave (LamSession *self, guint seconds)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  self->autosave = seconds;
  g_clear_handle_id (&self->rest_timer, g_source_remove);
  g_clear_handle_id (&self->limit_timer, g_source_remove);
  if (seconds > 0 && self->changes != self->kept_changes)
    lam_session_touch (self, TRUE);
}

gboolean
lam_session_is_kept (LamSession *self)
{
  return self->keeping == NULL && !self->keep_again && self->changes == self->kept_changes;
}

/* All files of @prefix; the lock goes last. */
static void
delete_files (const char *prefix)
{
  g_autofree char *folder = g_path_get_dirname (prefix), *base = g_path_get_basename (prefix);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    const char *whole = *name == '.' ? name + 1 : name; /* what a killed program was writing goes too */
    if (g_str_has_prefix (whole, base) && !g_str_has_suffix (name, ".lock"))
      g_unlink (path);
  }
  g_autofree char *lock = g_strconcat (prefix, ".lock", NULL);
  g_unlink (lock);
}

void
lam_session_delete_kept (const char *prefix)
{
  delete_files (prefix);
}

static void
drop_timers (LamSession *self)
{
  g_clear_handle_id (&self->rest_timer, g_source_remove);
  g_clear_handle_id (&self->limit_timer, g_source_remove);
  self->keep_again = FALSE;
  if (self->keeping == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->keeping, self);
  lam_job_cancel (self->keeping);
}

typedef struct {
  LamJob *job;
  char *prefix;
  int lock;
} Ending;

static void
ending_free (gpointer data)
{
  Ending *e = data;
  g_clear_object (&e->job);
  g_free (e->prefix);
  g_free (e);
}

/* What is being written is given up within a few MB. */
static void
end_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Ending *e = data;
  while (e->job != NULL && lam_job_is_active (e->job))
    g_usleep (5000);
  delete_files (e->prefix);
  close (e->lock);
  g_task_return_boolean (task, TRUE);
}

/* Takes @job, @prefix and the lock, which goes last: of a program that ends before, the rest is found again. */
static void
end_later (LamJob *job, char *prefix, int lock, GAsyncReadyCallback ended)
{
  Ending *e = g_new0 (Ending, 1);
  *e = (Ending){job, prefix, lock};
  g_autoptr (GTask) task = g_task_new (NULL, NULL, ended, NULL);
  g_task_set_name (task, "lam_session_autosave_end");
  g_task_set_task_data (task, e, ending_free);
  g_task_run_in_thread (task, end_thread);
}

void
lam_session_delete_kept_later (const char *prefix, int lock)
{
  end_later (NULL, g_strdup (prefix), lock, NULL);
}

/* Another thing is opened: there is nothing of this one to restore. */
void
lam_session_autosave_reset (LamSession *self)
{
  drop_timers (self);
  self->changes = self->kept_changes = 0;
  g_clear_pointer (&self->kept_maps, lam_maps_result_unref); /* it goes with the rest */
  g_clear_pointer (&self->kept_maps_path, g_free);
  if (self->prefix == NULL) {
    g_clear_object (&self->keeping);
    return;
  }
  end_later (g_steal_pointer (&self->keeping), g_steal_pointer (&self->prefix), self->prefix_lock, NULL);
}

static void
ended_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  lam_linger_end ();
}

/* The session ends as the person wanted it: nothing may be left behind, so the program waits for it, but no window. */
void
lam_session_autosave_dispose (LamSession *self)
{
  drop_timers (self);
  self->autosave = 0;
  if (self->prefix == NULL) {
    g_clear_object (&self->keeping);
    return;
  }
  if (lam_linger_begin ()) {
    end_later (g_steal_pointer (&self->keeping), g_steal_pointer (&self->prefix), self->prefix_lock, ended_cb);
    return;
  }
  if (self->keeping != NULL)
    lam_job_join (self->keeping);
  g_clear_object (&self->keeping);
  delete_files (self->prefix);
  close (self->prefix_lock);
  g_clear_pointer (&self->prefix, g_free);
}
