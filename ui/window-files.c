/* window-files.c: what the window does with files: opening scans and sessions, recent ones, saving, and the questions about
 * what would be lost. */
#include "config.h"

#include <glib/gi18n.h>
#include <string.h>

#include "accessible-name.h"
#include "chosen-name.h"
#include "window-private.h"

/* Recent files that the menu lists, and the groups that mark them as ours. */
#define RECENT 10
#define GROUP_SCAN "lamina-scan"
#define GROUP_SESSION "lamina-session"
#define GROUP_SEQUENCE "lamina-sequence"

static const char *const hdf5_suffixes[] = {"h5", "hdf5", "hdf", "nxs", NULL};
static const char *const session_suffixes[] = {"lamina.h5", NULL};
static const char *const sequence_suffixes[] = {"seq", NULL};
static const char *const all_suffixes[] = {"h5", "hdf5", "hdf", "nxs", "seq", NULL};

static GtkFileChooserNative *
new_chooser (LamWindow *self, const char *title, GtkFileChooserAction action, const char *accept)
{
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (title, GTK_WINDOW (self), action, accept, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  return self->chooser;
}

/* The filter, owned by the chooser. */
static GtkFileFilter *
add_filter (GtkFileChooserNative *chooser, const char *name, const char *const *suffixes)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  gtk_file_filter_set_name (filter, name);
  for (; suffixes != NULL && *suffixes != NULL; suffixes++)
    gtk_file_filter_add_suffix (filter, *suffixes);
  if (suffixes == NULL)
    gtk_file_filter_add_pattern (filter, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  return filter;
}

static void
suggest (GtkFileChooserNative *chooser, GFile *file)
{
  g_autoptr (GFile) folder = g_file_get_parent (file);
  g_autofree char *base = g_file_get_basename (file);
  gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (chooser), folder, NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), base);
}

static GFile *
chosen (GtkNativeDialog *dialog, int response)
{
  return response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
}

/* -- saving -- */

static void
save_response_cb (GtkNativeDialog *dialog, int response, LamWindow *self)
{
  g_autoptr (GFile) file = chosen (dialog, response);
  LamResult *result = g_object_get_data (G_OBJECT (dialog), "lam-result");
  if (file != NULL)
    lam_session_save_result (self->session, result, file);
}

static void
save_result (LamWindow *self, LamResult *result)
{
  GtkFileChooserNative *chooser = new_chooser (self, _ ("Save the Result"), GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"));
  g_autoptr (GFile) file = lam_session_suggest_result_file (self->session, result);
  add_filter (chooser, _ ("Volumes (HDF5)"), hdf5_suffixes);
  suggest (chooser, file);
  g_object_set_data_full (G_OBJECT (chooser), "lam-result", g_object_ref (result), g_object_unref);
  g_signal_connect (chooser, "response", G_CALLBACK (save_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

/* The result in view, else the newest. */
static void
save_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  LamResults *results = lam_session_get_results (self->session);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (results));
  LamResult *result = lam_session_get_shown (self->session);
  if (parameter != NULL)
    result = g_variant_get_int32 (parameter) >= 0 ? lam_results_get (results, (guint) g_variant_get_int32 (parameter))
                                                  : NULL;
  else if (result == NULL && n > 0)
    result = lam_results_get (results, n - 1);
  if (result != NULL)
    save_result (self, result);
}

static void
store_response_cb (GtkNativeDialog *dialog, int response, LamWindow *self)
{
  g_autoptr (GFile) file = chosen (dialog, response);
  static const char *const suffixes[] = {LAM_SESSION_SUFFIX, ".h5", ".hdf5", NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) whole = file != NULL ? lam_chosen_name (file, suffixes, &error) : NULL;
  lam_window_sequence_flush (self);
  if (whole != NULL)
    lam_session_save_session (self->session, whole);
  else if (error != NULL)
    lam_window_toast (self, error->message);
}

/* Beside the scan, or the Pulseq file where that is all there is. */
static GFile *
suggest_session (LamWindow *self)
{
  LamSequenceFile *file = self->sequence_session != NULL
                              ? lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (self->sequence_session))
                              : NULL;
  if (file == NULL || !lam_session_is_bare (self->session) || lam_session_get_home (self->session) != NULL)
    return lam_session_suggest_session_file (self->session);
  const char *dot = strrchr (file->path, '.');
  g_autofree char *path = g_strdup_printf (
      "%.*s" LAM_SESSION_SUFFIX,
      (int) (dot != NULL && strchr (dot, '/') == NULL ? dot - file->path : (long) strlen (file->path)), file->path);
  return g_file_new_for_path (path);
}

static void
store_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  g_autoptr (GFile) file = suggest_session (self);
  lam_window_sequence_flush (self);
  if (lam_session_get_home (self->session) != NULL && g_str_equal (name, "win.save-session")) {
    lam_session_save_session (self->session, file);
    return;
  }
  GtkFileChooserNative *chooser = new_chooser (self, _ ("Save the Session"), GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"));
  add_filter (chooser, _ ("Sessions"), session_suffixes);
  suggest (chooser, file);
  g_signal_connect (chooser, "response", G_CALLBACK (store_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

/* -- what would be lost -- */

/* Steps that can be taken back, but for the opening of the file that is there: that is on the disk. */
static gboolean
has_sequence_edits (LamWindow *self)
{
  if (self->sequence_session == NULL)
    return FALSE;
  LamUndo *undo = lam_sequence_session_get_undo (self->sequence_session);
  LamSequenceFile *file = lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (self->sequence_session));
  g_autofree char *opening = file != NULL ? g_strdup_printf (_ ("Open %s"), file->name) : NULL;
  gboolean opened = opening != NULL && g_strcmp0 (lam_undo_get_undo_name (undo), opening) == 0;
  return lam_undo_get_n_steps (undo) > (opened ? 1 : 0);
}

gboolean
lam_window_has_edits (LamWindow *self)
{
  gboolean sequence = has_sequence_edits (self);
  return (lam_session_get_home (self->session) != NULL || sequence) && lam_session_get_modified (self->session);
}

/* What @self has that no file has, in words; NULL = nothing. */
static const char *
would_be_lost (LamWindow *self)
{
  gboolean results = lam_session_has_unsaved (self->session), edits = lam_window_has_edits (self);
  return results ? _ ("There are results that lie in no file yet. Saving the session saves all of them.")
         : edits ? _ ("There are changes that lie in no file yet.")
                 : NULL;
}

static GtkWidget *
new_save_question (LamWindow *self, const char *body, const char *go_on)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Save the Session?"), body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "go-on", go_on, "save",
                                    _ ("_Save…"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "go-on", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  lam_accessible_mend (dialog);
  return dialog;
}

static void
close_response_cb (AdwMessageDialog *dialog, const char *response, LamWindow *self)
{
  if (g_str_equal (response, "save"))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.save-session", NULL);
  if (!g_str_equal (response, "go-on"))
    return;
  lam_window_close_for (self, GTK_WINDOW (dialog));
}

gboolean
lam_window_ask_to_save (LamWindow *self)
{
  lam_window_sequence_flush (self);
  const char *body = would_be_lost (self);
  if (body == NULL)
    return FALSE;
  GtkWidget *dialog = new_save_question (self, body, _ ("Close _Without Saving"));
  g_signal_connect (dialog, "response", G_CALLBACK (close_response_cb), self);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

/* -- opening -- */

static void
open_now (LamWindow *self, GFile *file)
{
  gtk_info_bar_set_revealed (self->info_bar, FALSE);
  lam_session_open (self->session, file);
}

static void
open_anyway_cb (AdwMessageDialog *dialog, const char *response, LamWindow *self)
{
  GFile *file = g_object_get_data (G_OBJECT (dialog), "lam-file");
  if (g_str_equal (response, "save"))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.save-session", NULL);
  if (!g_str_equal (response, "go-on"))
    return;
  if (file != NULL)
    open_now (self, file);
  else
    lam_session_open_example (self->session);
}

/* @file NULL: the example. */
static void
ask_before_open (LamWindow *self, GFile *file)
{
  const char *body = would_be_lost (self);
  if (body == NULL) {
    if (file != NULL)
      open_now (self, file);
    else
      lam_session_open_example (self->session);
    return;
  }
  GtkWidget *dialog = new_save_question (self, body, _ ("Open _Without Saving"));
  if (file != NULL)
    g_object_set_data_full (G_OBJECT (dialog), "lam-file", g_object_ref (file), g_object_unref);
  g_signal_connect (dialog, "response", G_CALLBACK (open_anyway_cb), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
open_sequence (LamWindow *self, const char *path)
{
  gtk_info_bar_set_revealed (self->info_bar, FALSE);
  lam_window_show_workspace (self, "sequence");
  lam_pulseq_model_open (lam_sequence_session_get_pulseq (self->sequence_session), path);
}

static gboolean
has_suffix (const char *name, const char *const *suffixes)
{
  g_autofree char *lower = g_utf8_strdown (name, -1);
  const char *dot = strrchr (lower, '.');
  return dot != NULL && g_strv_contains (suffixes, dot + 1);
}

static void
look_thread (GTask *task, gpointer window, gpointer path, GCancellable *cancellable)
{
  g_task_return_boolean (task, lam_pulseq_model_knows (path));
}

static void
looked_cb (GObject *window, GAsyncResult *result, gpointer data)
{
  LamWindow *self = LAM_WINDOW (window);
  const char *path = g_task_get_task_data (G_TASK (result));
  gboolean sequence = g_task_propagate_boolean (G_TASK (result), NULL);
  if (self->session == NULL) /* closed meanwhile */
    return;
  g_autoptr (GFile) file = g_file_new_for_path (path);
  if (sequence)
    open_sequence (self, path);
  else
    ask_before_open (self, file);
}

gboolean
lam_window_is_sequence (GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  return name != NULL && has_suffix (name, sequence_suffixes);
}

/* The name says what it is, or a look at its beginning. */
void
lam_window_open_file (LamWindow *self, GFile *file)
{
  g_return_if_fail (LAM_IS_WINDOW (self) && G_IS_FILE (file));
  g_autofree char *path = g_file_get_path (file);
  if (path == NULL || has_suffix (path, hdf5_suffixes))
    ask_before_open (self, file);
  else if (has_suffix (path, sequence_suffixes))
    open_sequence (self, path);
  else {
    g_autoptr (GTask) task = g_task_new (self, NULL, looked_cb, NULL);
    g_task_set_task_data (task, g_steal_pointer (&path), g_free);
    g_task_run_in_thread (task, look_thread);
  }
}

static void
close_sequence_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  if (self->sequence_session != NULL)
    lam_pulseq_model_close_file (lam_sequence_session_get_pulseq (self->sequence_session));
}

static void
example_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  ask_before_open (LAM_WINDOW (widget), NULL);
}

static void
open_response_cb (GtkNativeDialog *dialog, int response, LamWindow *self)
{
  g_autoptr (GFile) file = chosen (dialog, response);
  if (file != NULL)
    lam_window_open_file (self, file);
}

static void
open_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  GtkFileChooserNative *chooser =
      new_chooser (self, _ ("Open a Scan, a Sequence or a Session"), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"));
  const char *const *const suffixes[] = {all_suffixes, hdf5_suffixes, sequence_suffixes, session_suffixes, NULL};
  const char *const names[] = {_ ("Scans, sequences and sessions"), _ ("Scans and sessions (HDF5)"),
                               _ ("Pulseq sequences"), _ ("Sessions"), _ ("All files")};
  GtkFileFilter *sequences = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GtkFileFilter *filter = add_filter (chooser, names[i], suffixes[i]);
    if (suffixes[i] == sequence_suffixes)
      sequences = filter;
  }
  if (lam_window_shows_sequence (self))
    gtk_file_chooser_set_filter (GTK_FILE_CHOOSER (chooser), sequences);
  g_signal_connect (chooser, "response", G_CALLBACK (open_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
locate_response_cb (GtkNativeDialog *dialog, int response, LamWindow *self)
{
  g_autoptr (GFile) file = chosen (dialog, response);
  if (file != NULL)
    lam_session_locate_scan (self->session, file);
}

void
lam_window_locate_scan (LamWindow *self)
{
  GtkFileChooserNative *chooser =
      new_chooser (self, _ ("Where Is the Scan?"), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"));
  add_filter (chooser, _ ("Scans (HDF5)"), hdf5_suffixes);
  add_filter (chooser, _ ("All files"), NULL);
  g_signal_connect (chooser, "response", G_CALLBACK (locate_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

/* Several files: the first here, each other in a window of its own. */
static gboolean
drop_cb (GtkDropTarget *target, const GValue *value, double x, double y, LamWindow *self)
{
  g_autoptr (GSList) files = gdk_file_list_get_files (g_value_get_boxed (value));
  GApplication *application = G_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)));
  if (files == NULL)
    return FALSE;
  lam_window_open_file (self, files->data);
  for (GSList *l = files->next; l != NULL && application != NULL; l = l->next)
    g_application_open (application, (GFile **) &l->data, 1, "");
  return TRUE;
}

/* -- recent files -- */

static int
by_time (gconstpointer a, gconstpointer b)
{
  return g_date_time_compare (gtk_recent_info_get_modified ((GtkRecentInfo *) b),
                              gtk_recent_info_get_modified ((GtkRecentInfo *) a));
}

static void
recent_changed_cb (GtkRecentManager *manager, LamWindow *self)
{
  GList *items = g_list_sort (gtk_recent_manager_get_items (manager), by_time);
  int n = 0;
  g_menu_remove_all (self->recent_scans);
  g_menu_remove_all (self->recent_sessions);
  g_menu_remove_all (self->recent_sequences);
  for (GList *l = items; l != NULL && n < RECENT; l = l->next) {
    gboolean session = gtk_recent_info_has_group (l->data, GROUP_SESSION),
             sequence = gtk_recent_info_has_group (l->data, GROUP_SEQUENCE);
    if (!session && !sequence && !gtk_recent_info_has_group (l->data, GROUP_SCAN))
      continue;
    g_autofree char *name = g_strdup (gtk_recent_info_get_display_name (l->data));
    g_auto (GStrv) parts = g_strsplit (name, "_", -1);
    g_autofree char *label = g_strjoinv ("__", parts);
    g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
    g_menu_item_set_action_and_target (item, "win.open-recent", "s", gtk_recent_info_get_uri (l->data));
    g_menu_append_item (session ? self->recent_sessions : sequence ? self->recent_sequences : self->recent_scans, item);
    n++;
  }
  g_list_free_full (items, (GDestroyNotify) gtk_recent_info_unref);
}

static void
open_recent_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));
  lam_window_open_file (LAM_WINDOW (widget), file);
}

static void
add_recent (LamWindow *self, const char *path, const char *group, const char *type)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL), *name = g_filename_display_basename (path);
  const char *groups[] = {group, NULL};
  GtkRecentData data = {.display_name = name,
                        .mime_type = (char *) type,
                        .app_name = (char *) "Lamina",
                        .app_exec = (char *) "lamina-gtk %f",
                        .groups = (char **) groups};
  if (uri != NULL && self->use_recent)
    gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &data);
}

void
lam_window_note_recent (LamWindow *self)
{
  const char *home = lam_session_get_home (self->session), *scan = lam_session_get_scan_path (self->session);
  const char *path = home != NULL ? home : scan;
  gboolean there = lam_session_get_state (self->session) == LAM_SESSION_READY
                   || (home != NULL && lam_session_is_bare (self->session));
  if (path == NULL || !there || g_strcmp0 (path, self->recent_path) == 0)
    return;
  g_free (self->recent_path);
  self->recent_path = g_strdup (path);
  add_recent (self, path, home != NULL ? GROUP_SESSION : GROUP_SCAN, "application/x-hdf5");
}

static void
sequence_file_cb (LamPulseqModel *model, LamWindow *self)
{
  LamSequenceFile *file = lam_pulseq_model_get_file (model);
  if (file != NULL)
    add_recent (self, file->path, GROUP_SEQUENCE, "text/plain");
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.close-sequence", file != NULL);
  lam_window_update_title (self);
}

void
lam_window_follow_sequence (LamWindow *self)
{
  LamPulseqModel *model = lam_sequence_session_get_pulseq (self->sequence_session);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (sequence_file_cb), self, 0);
  sequence_file_cb (model, self);
}

void
lam_window_files_class_init (GtkWidgetClass *klass)
{
  gtk_widget_class_install_action (klass, "win.open", NULL, open_cb);
  gtk_widget_class_install_action (klass, "win.open-recent", "s", open_recent_cb);
  gtk_widget_class_install_action (klass, "win.close-sequence", NULL, close_sequence_cb);
  gtk_widget_class_install_action (klass, "win.open-example", NULL, example_cb);
  gtk_widget_class_install_action (klass, "win.save", NULL, save_cb);
  gtk_widget_class_install_action (klass, "win.save-result", "i", save_cb);
  gtk_widget_class_install_action (klass, "win.save-session", NULL, store_cb);
  gtk_widget_class_install_action (klass, "win.save-session-as", NULL, store_cb);
}

void
lam_window_files_init (LamWindow *self)
{
  GtkRecentManager *manager = gtk_recent_manager_get_default ();
  GMenu *menu = g_menu_new (), *more = g_menu_new ();
  self->recent_scans = g_menu_new ();
  self->recent_sessions = g_menu_new ();
  self->recent_sequences = g_menu_new ();
  self->use_recent = g_getenv ("G_TEST_SRCDIR") == NULL; /* what tests open is nobody's */
  g_menu_append_section (menu, _ ("Recent Scans"), G_MENU_MODEL (self->recent_scans));
  g_menu_append_section (menu, _ ("Recent Sessions"), G_MENU_MODEL (self->recent_sessions));
  g_menu_append_section (menu, _ ("Recent Sequences"), G_MENU_MODEL (self->recent_sequences));
  g_menu_append (more, _ ("The _Example"), "win.open-example");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (more));
  adw_split_button_set_menu_model (self->open_button, G_MENU_MODEL (menu));
  g_object_unref (more);
  g_object_unref (menu);
  g_signal_connect_object (manager, "changed", G_CALLBACK (recent_changed_cb), self, 0);
  recent_changed_cb (manager, self);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.close-sequence", FALSE);
  GtkDropTarget *drop = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
  g_signal_connect (drop, "drop", G_CALLBACK (drop_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop));
}

void
lam_window_files_dispose (LamWindow *self)
{
  g_clear_object (&self->recent_scans);
  g_clear_object (&self->recent_sessions);
  g_clear_object (&self->recent_sequences);
  g_clear_pointer (&self->recent_path, g_free);
  g_clear_object (&self->chooser);
}
