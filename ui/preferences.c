#include "config.h"

#include "preferences.h"

#include <glib/gi18n.h>

#include "accessible-name.h"

struct _LamPreferences {
  AdwPreferencesWindow parent_instance;
  LamSettings *settings;
  AdwComboRow *scheme, *autosave, *devices;
  AdwActionRow *folder;
  GtkWidget *folder_reset;
  GtkFileChooserNative *chooser;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LamPreferences, lam_preferences, ADW_TYPE_PREFERENCES_WINDOW)

static const char *const schemes[] = {"system", "light", "dark"};
static const guint seconds[] = {10, 30, 60, 300, 0};

static guint
index_of (const char *text, const char *const *list, guint n)
{
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (text, list[i]) == 0)
      return i;
  return 0;
}

static char *
device_id (guint i)
{
  return i == 0 ? g_strdup ("auto") : i == 1 ? g_strdup ("cpu") : g_strdup_printf ("%uxcpu", i);
}

#define MOST_DEVICES 8

static void
settings_notify_cb (LamSettings *settings, GParamSpec *pspec, LamPreferences *self)
{
  const char *folder = lam_settings_get_results_folder (settings);
  self->updating = TRUE;
  adw_combo_row_set_selected (self->scheme,
                              index_of (lam_settings_get_colour_scheme (settings), schemes, G_N_ELEMENTS (schemes)));
  guint at = 1;
  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++)
    if (seconds[i] == lam_settings_get_autosave (settings))
      at = i;
  adw_combo_row_set_selected (self->autosave, at);
  guint device = 0;
  for (guint i = 0; i <= MOST_DEVICES; i++) {
    g_autofree char *id = device_id (i);
    if (g_str_equal (id, lam_settings_get_devices (settings)))
      device = i;
  }
  adw_combo_row_set_selected (self->devices, device);
  g_autofree char *name = folder != NULL ? g_filename_display_name (folder) : NULL;
  g_autofree char *escaped = g_markup_escape_text (name != NULL ? name : _ ("Beside the scan"), -1);
  adw_action_row_set_subtitle (self->folder, escaped);
  gtk_widget_set_visible (self->folder_reset, folder != NULL);
  self->updating = FALSE;
}

static void
selected_cb (AdwComboRow *row, GParamSpec *pspec, LamPreferences *self)
{
  guint at = adw_combo_row_get_selected (row);
  if (self->updating || at == GTK_INVALID_LIST_POSITION)
    return;
  if (row == self->scheme)
    g_object_set (self->settings, "colour-scheme", schemes[at], NULL);
  else if (row == self->autosave)
    g_object_set (self->settings, "autosave", seconds[at], NULL);
  else {
    g_autofree char *id = device_id (at);
    g_object_set (self->settings, "devices", id, NULL);
  }
}

static void
folder_response_cb (GtkNativeDialog *dialog, int response, LamPreferences *self)
{
  g_autoptr (GFile) file =
      response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;
  if (path != NULL)
    g_object_set (self->settings, "results-folder", path, NULL);
}

static void
choose_cb (GtkButton *button, LamPreferences *self)
{
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (_ ("Folder for Results"), GTK_WINDOW (self),
                                               GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _ ("_Select"), NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_signal_connect (self->chooser, "response", G_CALLBACK (folder_response_cb), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

static void
reset_cb (GtkButton *button, LamPreferences *self)
{
  g_object_set (self->settings, "results-folder", NULL, NULL);
}

static AdwComboRow *
add_combo (LamPreferences *self, AdwPreferencesGroup *group, const char *title, const char *subtitle,
           const char *const *labels)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) list = gtk_string_list_new (labels);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_preferences_row_set_use_underline (ADW_PREFERENCES_ROW (row), TRUE);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (list));
  g_signal_connect (row, "notify::selected", G_CALLBACK (selected_cb), self);
  adw_preferences_group_add (group, row);
  return ADW_COMBO_ROW (row);
}

static AdwPreferencesGroup *
add_group (AdwPreferencesPage *page, const char *title)
{
  GtkWidget *group = adw_preferences_group_new ();
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), title);
  adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (group));
  return ADW_PREFERENCES_GROUP (group);
}

static void
add_folder (LamPreferences *self, AdwPreferencesGroup *group)
{
  GtkWidget *row = adw_action_row_new (), *choose = gtk_button_new_with_mnemonic (_ ("_Choose…"));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Folder for results"));
  self->folder = ADW_ACTION_ROW (row);
  self->folder_reset = gtk_button_new_from_icon_name ("edit-clear-symbolic");
  gtk_widget_set_tooltip_text (self->folder_reset, _ ("Beside the scan again"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->folder_reset), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Beside the scan again"), -1);
  gtk_widget_add_css_class (self->folder_reset, "flat");
  gtk_widget_set_valign (self->folder_reset, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (choose, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (choose, _ ("Where saving a result begins to look"));
  g_signal_connect (choose, "clicked", G_CALLBACK (choose_cb), self);
  g_signal_connect (self->folder_reset, "clicked", G_CALLBACK (reset_cb), self);
  adw_action_row_add_suffix (self->folder, self->folder_reset);
  adw_action_row_add_suffix (self->folder, choose);
  adw_preferences_group_add (group, row);
}

static void
build (LamPreferences *self)
{
  AdwPreferencesPage *page = ADW_PREFERENCES_PAGE (adw_preferences_page_new ());
  adw_preferences_page_set_title (page, _ ("General"));
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (devices, g_strdup (_ ("Automatic")));
  for (int i = 1; i <= MOST_DEVICES; i++)
    g_ptr_array_add (devices, g_strdup_printf (_ ("%d × CPU"), i));
  g_ptr_array_add (devices, NULL);
  AdwPreferencesGroup *looks = add_group (page, _ ("Appearance")), *files = add_group (page, _ ("Files")),
                      *runs = add_group (page, _ ("Runs"));
  self->scheme = add_combo (self, looks, _ ("_Style"), NULL,
                            (const char *[]){_ ("As the desktop"), _ ("Light"), _ ("Dark"), NULL});
  self->autosave = add_combo (
      self, files, _ ("_Keep the session"), _ ("Against a crash, so long after an edit at most"),
      (const char *[]){_ ("10 seconds"), _ ("30 seconds"), _ ("1 minute"), _ ("5 minutes"), _ ("Never"), NULL});
  add_folder (self, files);
  self->devices = add_combo (self, runs, _ ("_Devices"), _ ("Parts that a run is cut into; the result is the same"),
                             (const char *const *) devices->pdata);
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (self), page);
}

static void
lam_preferences_dispose (GObject *object)
{
  LamPreferences *self = LAM_PREFERENCES (object);
  g_clear_object (&self->chooser);
  g_clear_object (&self->settings);
  G_OBJECT_CLASS (lam_preferences_parent_class)->dispose (object);
}

static void
lam_preferences_class_init (LamPreferencesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_preferences_dispose;
}

static void
lam_preferences_init (LamPreferences *self)
{
  self->updating = TRUE; /* until the settings are known */
  gtk_window_set_modal (GTK_WINDOW (self), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (self), 560, 480);
  adw_preferences_window_set_search_enabled (ADW_PREFERENCES_WINDOW (self), FALSE);
  build (self);
  lam_accessible_mend (GTK_WIDGET (self));
}

GtkWidget *
lam_preferences_new (LamSettings *settings, GtkWindow *parent)
{
  g_return_val_if_fail (LAM_IS_SETTINGS (settings), NULL);
  LamPreferences *self = g_object_new (LAM_TYPE_PREFERENCES, "transient-for", parent, NULL);
  self->settings = g_object_ref (settings);
  g_signal_connect_object (settings, "notify", G_CALLBACK (settings_notify_cb), self, 0);
  settings_notify_cb (settings, NULL, self);
  return GTK_WIDGET (self);
}
