/* session-recovery.c: a run that a crash cut off is not lost: its solver's state lies in the state folder (checkpoint.h),
 * and beside it a note of what it was, locked by the program that runs it. A note without a lock is a run cut off. So it is
 * with sessions (session-autosave.c). A session that was cut off names its run: one question is asked for both. */
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
#include "io/file.h"
#include "model/session-private.h"

#define NOTE_TYPE "a{sv}"

typedef struct LamKeptRun {
  char *note, *checkpoint, *scan;
  LamScanOptions options;
  GVariant *parameters;
  int64_t iteration;
  int lock;
} LamKeptRun;

static void
kept_run_free (LamKeptRun *kept)
{
  if (kept->lock >= 0)
    close (kept->lock);
  g_free (kept->note);
  g_free (kept->checkpoint);
  g_free (kept->scan);
  g_clear_pointer (&kept->parameters, g_variant_unref);
  g_free (kept);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamKeptRun, kept_run_free)

static char *
checkpoint_of (const char *note)
{
  return g_strdup_printf ("%.*s.ckpt", (int) (strlen (note) - strlen (".run")), note);
}

/* A session that was cut off: what its file says, and the run that went on in it. */
typedef struct LamKeptSession {
  char *prefix;
  LamSessionFile *file; /* title, scan, edits, run */
  gint64 time;          /* of the file */
  LamKeptRun *run;      /* NULL: none, or nothing of it was kept */
  int lock;
} LamKeptSession;

static void
kept_session_free (LamKeptSession *kept)
{
  if (kept->lock >= 0)
    close (kept->lock);
  g_clear_pointer (&kept->file, lam_session_file_free);
  g_clear_pointer (&kept->run, kept_run_free);
  g_free (kept->prefix);
  g_free (kept);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamKeptSession, kept_session_free)

/* Large files take long to delete. */
static void
delete_thread (GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
  g_unlink (path);
}

void
lam_session_drop_file (const char *path)
{
  char *away = g_strconcat (path, ".old", NULL);
  if (g_rename (path, away) != 0) {
    g_free (away);
    return;
  }
  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);
  g_task_set_name (task, "lam_session_drop_file");
  g_task_set_task_data (task, away, g_free);
  g_task_run_in_thread (task, delete_thread);
}

static void
drop_files (const char *note)
{
  g_autofree char *checkpoint = checkpoint_of (note);
  g_unlink (note);
  lam_session_drop_file (checkpoint);
  lam_atomic_sweep (checkpoint, 0); /* what a killed run was writing; its lock is ours */
}

/* -- noting -- */

static GVariant *
describe (LamSession *self)
{
  GVariantDict dict;
  g_autoptr (GVariant) parameters = lam_parameter_list_save (self->parameters);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "scan", "^ay", self->scan_path);
  g_variant_dict_insert (&dict, "stamp", "(xx)", self->stamp.size, self->stamp.mtime_ns);
  g_variant_dict_insert (&dict, "angles", "(bdd)", self->options.angles_set, self->options.angle_start,
                         self->options.angle_stop);
  g_variant_dict_insert_value (&dict, "parameters", parameters);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static gboolean
write_note (LamSession *self, int fd)
{
  g_autoptr (GVariant) value = describe (self);
  g_autofree char *text = g_variant_print (value, TRUE);
  gsize length = strlen (text);
  return ftruncate (fd, 0) == 0 && pwrite (fd, text, length, 0) == (gssize) length;
}

gboolean
lam_session_keep_run (LamSession *self, LamReconParams *params)
{
  gboolean resume = self->resuming;
  g_autoptr (LamKeptRun) cut = g_steal_pointer (&self->cut);
  g_autoptr (GError) error = NULL;
  self->resuming = FALSE;
  lam_session_ask (self, LAM_QUESTION_NONE, NULL);
  lam_session_forget_kept (self);
  if (params->method != LAM_METHOD_VCD || self->scan_path == NULL)
    return FALSE;
  g_autofree char *key = g_strdup_printf ("%s\n%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, self->scan_path,
                                          self->stamp.size, self->stamp.mtime_ns);
  g_autofree char *checkpoint = lam_state_file ("run", key, &error);
  g_autofree char *note = checkpoint != NULL
                              ? g_strdup_printf ("%.*s.run", (int) (strlen (checkpoint) - strlen (".ckpt")), checkpoint)
                              : NULL;
  int fd = note != NULL ? g_open (note, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  /* Another window's run of the same scan has it: this one is not kept. */
  if (cut != NULL && g_strcmp0 (cut->note, note) == 0) {
    close (cut->lock);
    cut->lock = -1;
  }
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) != 0 || !write_note (self, fd)) {
    lam_session_log (self, _ ("this run is not kept against a crash: %s"),
                     error != NULL ? error->message : g_strerror (errno));
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  if (!resume)
    lam_session_drop_file (checkpoint);
  self->kept = g_steal_pointer (&note);
  self->kept_lock = fd;
  params->checkpoint = g_steal_pointer (&checkpoint);
  return resume;
}

static void
let_go (LamSession *self)
{
  if (self->kept != NULL)
    close (self->kept_lock);
  g_clear_pointer (&self->kept, g_free);
}

void
lam_session_forget_kept (LamSession *self)
{
  if (self->kept != NULL)
    drop_files (self->kept);
  let_go (self);
}

void
lam_session_forget_kept_now (LamSession *self)
{
  if (self->kept != NULL) {
    g_autofree char *checkpoint = checkpoint_of (self->kept);
    g_unlink (self->kept);
    g_unlink (checkpoint);
    lam_atomic_sweep (checkpoint, 0);
  }
  let_go (self);
}

void
lam_session_let_kept_go (LamSession *self)
{
  let_go (self);
}

/* -- looking -- */

static LamKeptRun *
read_note (const char *note)
{
  g_autofree char *text = NULL, *scan = NULL;
  g_autoptr (LamKeptRun) kept = g_new0 (LamKeptRun, 1);
  const LamScanOptions none = LAM_SCAN_OPTIONS_INIT;
  LamFileStamp stamp, noted = {0};
  kept->options = none;
  kept->note = g_strdup (note);
  kept->checkpoint = checkpoint_of (note);
  kept->lock = g_open (note, O_RDWR | O_CLOEXEC, 0);
  if (kept->lock < 0 || flock (kept->lock, LOCK_EX | LOCK_NB) != 0 || !g_file_get_contents (note, &text, NULL, NULL))
    return NULL;
  g_autoptr (GVariant) value = g_variant_parse (G_VARIANT_TYPE (NOTE_TYPE), text, NULL, NULL, NULL);
  g_autoptr (LamCheckpoint) state = value != NULL ? lam_checkpoint_open (kept->checkpoint, NULL) : NULL;
  gboolean good = value != NULL && state != NULL && g_variant_lookup (value, "scan", "^ay", &kept->scan)
                  && g_variant_lookup (value, "stamp", "(xx)", &noted.size, &noted.mtime_ns)
                  && g_variant_lookup (value, "angles", "(bdd)", &kept->options.angles_set, &kept->options.angle_start,
                                       &kept->options.angle_stop)
                  && (kept->parameters = g_variant_lookup_value (value, "parameters", G_VARIANT_TYPE_VARDICT)) != NULL
                  && lam_checkpoint_get_int (state, "iteration", &kept->iteration, NULL);
  /* A scan that is away now may come back; one that changed will not. */
  gboolean there = good && lam_file_stamp (kept->scan, &stamp, NULL);
  gboolean same = there && lam_file_is_as_stamped (kept->scan, &noted);
  if (!good || (there && !same))
    drop_files (note);
  return same ? g_steal_pointer (&kept) : NULL;
}

/* What a search found: one of the two, or nothing. */
typedef struct {
  LamKeptSession *session;
  LamKeptRun *run;
} Found;

static void
found_free (Found *found)
{
  g_clear_pointer (&found->session, kept_session_free);
  g_clear_pointer (&found->run, kept_run_free);
  g_free (found);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Found, found_free)

static LamKeptSession *
read_session (const char *lock)
{
  g_autoptr (LamKeptSession) kept = g_new0 (LamKeptSession, 1);
  LamFileStamp stamp;
  kept->prefix = g_strndup (lock, strlen (lock) - strlen (".lock"));
  kept->lock = g_open (lock, O_RDWR | O_CLOEXEC, 0);
  if (kept->lock < 0 || flock (kept->lock, LOCK_EX | LOCK_NB) != 0)
    return NULL;
  g_autofree char *path = g_strconcat (kept->prefix, LAM_SESSION_SUFFIX, NULL);
  kept->file = lam_session_file_peek (path, NULL);
  gboolean good = kept->file != NULL && lam_file_stamp (path, &stamp, NULL);
  if (good && kept->file->run != NULL)
    kept->run = read_note (kept->file->run);
  /* Nothing was done in it: nothing is lost. */
  if (!good || (kept->file->edits == 0 && kept->run == NULL && !kept->file->has_results)) {
    lam_session_delete_kept (kept->prefix);
    return NULL;
  }
  kept->time = stamp.mtime_ns;
  return g_steal_pointer (&kept);
}

/* The newest session that was cut off; what a killed program was just deleting goes. */
static LamKeptSession *
look_for_session (const char *folder)
{
  g_autoptr (LamKeptSession) newest = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (g_str_has_suffix (name, ".old"))
      g_unlink (path);
    if (!g_str_has_prefix (name, "session-") || !g_str_has_suffix (name, ".lock"))
      continue;
    LamKeptSession *kept = read_session (path);
    if (kept == NULL)
      continue;
    if (newest == NULL || kept->time > newest->time) {
      g_clear_pointer (&newest, kept_session_free);
      newest = kept;
    } else
      kept_session_free (kept);
  }
  return g_steal_pointer (&newest);
}

static LamKeptRun *
look_for_run (const char *folder, const char *wanted)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (LamKeptRun) found = NULL;
  for (const char *name = NULL; found == NULL && dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *note = g_build_filename (folder, name, NULL);
    if (!g_str_has_prefix (name, "run-") || !g_str_has_suffix (name, ".run"))
      continue;
    found = read_note (note);
    if (found != NULL && wanted != NULL && !g_str_equal (found->scan, wanted))
      g_clear_pointer (&found, kept_run_free);
  }
  return g_steal_pointer (&found);
}

typedef struct {
  char *wanted; /* the scan; NULL = any */
  gboolean sessions;
} Look;

static void
look_free (gpointer data)
{
  g_free (((Look *) data)->wanted);
  g_free (data);
}

static void
look_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Look *look = data;
  g_autofree char *folder = g_build_filename (g_get_user_state_dir (), "lamina", NULL);
  g_autoptr (Found) found = g_new0 (Found, 1);
  if (look->sessions)
    found->session = look_for_session (folder);
  if (found->session == NULL)
    found->run = look_for_run (folder, look->wanted);
  g_task_return_pointer (task, g_steal_pointer (&found), (GDestroyNotify) found_free);
}

/* "Restore tooth.h5 with 12 edits", as a button says it. */
static char *
offer_of (const LamKeptSession *kept)
{
  g_autofree char *title = g_strdup (kept->file->title != NULL ? kept->file->title : _ ("the session"));
  g_auto (GStrv) parts = g_strsplit (title, "_", -1);
  g_autofree char *plain = g_strjoinv ("__", parts); /* not a key */
  int edits = (int) MIN (kept->file->edits, G_MAXINT);
  if (edits == 0)
    return g_strdup_printf (_ ("Re_store %s"), plain);
  return g_strdup_printf (
      g_dngettext (GETTEXT_PACKAGE, "Re_store %s with %d edit", "Re_store %s with %d edits", (gulong) edits), plain,
      edits);
}

static void
ask_for_session (LamSession *self, LamKeptSession *kept)
{
  g_autofree char *offer = offer_of (kept);
  g_autofree char *run =
      kept->run != NULL ? g_strdup_printf (_ (" Its run goes on after iteration %ld."), (long) kept->run->iteration)
                        : g_strdup ("");
  g_autofree char *text = g_strconcat (_ ("Lamina ended unexpectedly."), run, NULL);
  self->orphan = kept;
  self->cut = g_steal_pointer (&kept->run);
  g_debug ("%s %s", text, offer);
  lam_session_set_offer (self, offer);
  lam_session_ask (self, LAM_QUESTION_RESTORE, text);
}

static void
look_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LamSession *self = LAM_SESSION (source);
  const Look *look = g_task_get_task_data (G_TASK (result));
  g_autoptr (Found) found = g_task_propagate_pointer (G_TASK (result), NULL);
  if (look->sessions)
    self->looking = FALSE;
  if (found == NULL || self->cut != NULL || self->orphan != NULL || self->run != NULL
      || self->asked != LAM_QUESTION_NONE)
    return;
  if (found->session != NULL) {
    ask_for_session (self, g_steal_pointer (&found->session));
    return;
  }
  if (found->run == NULL || (self->scan_path != NULL && !g_str_equal (self->scan_path, found->run->scan)))
    return;
  g_autofree char *name = g_path_get_basename (found->run->scan);
  g_autofree char *text =
      g_strdup_printf (_ ("A run of %s stopped after iteration %ld."), name, (long) found->run->iteration);
  self->cut = g_steal_pointer (&found->run);
  g_debug ("%s", text);
  lam_session_ask (self, LAM_QUESTION_RESUME, text);
}

static void
look_for (LamSession *self, const char *path, gboolean sessions)
{
  Look *look = g_new0 (Look, 1);
  look->wanted = g_strdup (path);
  look->sessions = sessions;
  g_autoptr (GTask) task = g_task_new (self, NULL, look_done_cb, NULL);
  g_task_set_name (task, "lam_session_look_for_run");
  g_task_set_task_data (task, look, look_free);
  g_task_run_in_thread (task, look_thread);
}

void
lam_session_look_for_run (LamSession *self, const char *path)
{
  /* The search that goes on finds it too. */
  if (!self->looking && self->asked == LAM_QUESTION_NONE)
    look_for (self, path, FALSE);
}

void
lam_session_look_for_crash (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  self->looking = TRUE;
  look_for (self, NULL, TRUE);
}

/* -- a session that was cut off -- */

gboolean
lam_session_adopt_orphan (LamSession *self)
{
  if (self->orphan == NULL)
    return FALSE;
  lam_session_autosave_reset (self);
  self->prefix = g_steal_pointer (&self->orphan->prefix);
  self->prefix_lock = self->orphan->lock;
  self->orphan->lock = -1;
  g_clear_pointer (&self->orphan, kept_session_free);
  return TRUE;
}

void
lam_session_drop_orphan (LamSession *self, gboolean discard)
{
  if (self->orphan != NULL && discard)
    lam_session_delete_kept_later (self->orphan->prefix, g_steal_fd (&self->orphan->lock));
  g_clear_pointer (&self->orphan, kept_session_free);
  if (self->asked == LAM_QUESTION_RESTORE)
    lam_session_ask (self, LAM_QUESTION_NONE, NULL);
}

const char *
lam_session_get_kept_run (LamSession *self)
{
  return self->kept;
}

/* -- answering -- */

gboolean
lam_session_is_resuming (LamSession *self)
{
  return self->resuming;
}

void
lam_session_drop_resuming (LamSession *self)
{
  self->resuming = FALSE;
  g_clear_pointer (&self->cut, kept_run_free);
  if (self->asked == LAM_QUESTION_RESUME)
    lam_session_ask (self, LAM_QUESTION_NONE, NULL);
  if (self->dataset != NULL)
    lam_session_apply_edited (self);
}

gboolean
lam_session_go_on_resuming (LamSession *self)
{
  g_autoptr (GError) error = NULL;
  if (!self->resuming || self->cut == NULL || self->dataset == NULL
      || g_strcmp0 (self->scan_path, self->cut->scan) != 0)
    return FALSE;
  if (!lam_parameter_list_load (self->parameters, self->cut->parameters, &error)) {
    lam_session_drop_resuming (self);
    lam_session_fail (self, error);
    return FALSE;
  }
  lam_session_run (self); /* or it reads the data again first, as they were prepared, and comes back here */
  if (self->run != NULL)
    lam_session_apply_edited (self);
  else if (!self->applying)
    lam_session_drop_resuming (self);
  return TRUE;
}

static void
answer_restore (LamSession *self, gboolean yes)
{
  if (self->orphan == NULL)
    return;
  if (!yes) {
    if (self->cut != NULL)
      drop_files (self->cut->note);
    lam_session_drop_resuming (self);
    lam_session_drop_orphan (self, TRUE);
    return;
  }
  g_autofree char *path = g_strconcat (self->orphan->prefix, LAM_SESSION_SUFFIX, NULL);
  self->resuming = self->cut != NULL;
  self->restoring = TRUE;
  lam_session_open_session (self, path);
}

void
lam_session_answer (LamSession *self, gboolean yes)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  LamQuestion asked = self->asked;
  lam_session_ask (self, LAM_QUESTION_NONE, NULL);
  switch (asked) {
  case LAM_QUESTION_NONE:
    return;
  case LAM_QUESTION_ANGLES:
    if (yes)
      lam_session_use_angles (self);
    return;
  case LAM_QUESTION_RESTORE:
    answer_restore (self, yes);
    return;
  case LAM_QUESTION_CHANGED:
    if (yes)
      lam_session_use_changed (self);
    else
      lam_session_drop_pending (self);
    return;
  case LAM_QUESTION_LOCATE: /* yes = lam_session_locate_scan () */
    if (!yes)
      lam_session_drop_pending (self);
    return;
  case LAM_QUESTION_RESUME:
    break;
  }
  if (self->cut == NULL)
    return;
  if (!yes) {
    drop_files (self->cut->note);
    lam_session_drop_resuming (self);
    return;
  }
  self->resuming = TRUE;
  /* Being read already, it goes on when it is there. */
  gboolean opened = g_strcmp0 (self->scan_path, self->cut->scan) == 0;
  if (opened && self->dataset != NULL)
    lam_session_go_on_resuming (self);
  else if (!opened || self->load == NULL)
    lam_session_open_path (self, self->cut->scan, &self->cut->options);
}
