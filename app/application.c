#include "config.h"

#include "application.h"

#include <glib/gi18n.h>

#include "core/threadpool.h"
#include "help-window.h"
#include "model/settings.h"
#include "preferences.h"
#include "window.h"

struct _LamApplication {
  AdwApplication parent_instance;
  LamQueue *queue; /* of all windows: the devices serve one run at a time */
  LamSettings *settings;
  GtkWidget *help, *preferences; /* while they are open */
  gboolean forced;               /* the style was given on the command line */
  gboolean looked;               /* for what a crash left: once */
};

G_DEFINE_FINAL_TYPE (LamApplication, lam_application, ADW_TYPE_APPLICATION)

/* -- settings -- */

static void
apply_devices (LamApplication *self, LamSession *session)
{
  LamParameter *devices = lam_parameter_list_find (lam_session_get_parameters (session), "devices");
  g_autoptr (GError) error = NULL;
  if (!lam_parameter_set_default (devices, g_variant_new_string (lam_settings_get_devices (self->settings)), &error))
    g_debug ("%s", error->message);
}

static void
apply_settings (LamApplication *self, LamSession *session)
{
  lam_session_set_autosave (session, lam_settings_get_autosave (self->settings));
  lam_session_set_results_folder (session, lam_settings_get_results_folder (self->settings));
  lam_parameter_list_use_units (lam_session_get_parameters (session), lam_settings_get_length_units (self->settings));
}

/* A row was told to show its length in another unit: so do those of all windows, from now on. */
static void
unit_notify_cb (LamParameter *parameter, GParamSpec *pspec, LamApplication *self)
{
  for (GList *l = gtk_application_get_windows (GTK_APPLICATION (self)); l != NULL; l = l->next) {
    LamParameterList *list =
        LAM_IS_WINDOW (l->data) ? lam_session_get_parameters (lam_window_get_session (l->data)) : NULL;
    const char *id = lam_parameter_get_id (parameter);
    if (list == NULL || lam_parameter_list_find (list, id) != parameter)
      continue;
    g_autofree char *units = lam_parameter_list_dup_units (list);
    if (g_strcmp0 (units, lam_settings_get_length_units (self->settings)) != 0)
      g_object_set (self->settings, "length-units", units, NULL);
    return;
  }
}

static void
watch_units (LamApplication *self, LamSession *session)
{
  GListModel *list = G_LIST_MODEL (lam_session_get_parameters (session));
  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (list, i);
    g_signal_connect_object (p, "notify::shown-unit", G_CALLBACK (unit_notify_cb), self, 0);
  }
}

static void
settings_notify_cb (LamSettings *settings, GParamSpec *pspec, LamApplication *self)
{
  const char *scheme = lam_settings_get_colour_scheme (settings);
  if (!self->forced)
    adw_style_manager_set_color_scheme (adw_style_manager_get_default (),
                                        g_str_equal (scheme, "dark")    ? ADW_COLOR_SCHEME_FORCE_DARK
                                        : g_str_equal (scheme, "light") ? ADW_COLOR_SCHEME_FORCE_LIGHT
                                                                        : ADW_COLOR_SCHEME_DEFAULT);
  for (GList *l = gtk_application_get_windows (GTK_APPLICATION (self)); l != NULL; l = l->next)
    if (LAM_IS_WINDOW (l->data)) {
      apply_settings (self, lam_window_get_session (l->data));
      if (pspec != NULL && g_str_equal (pspec->name, "devices"))
        apply_devices (self, lam_window_get_session (l->data));
    }
}

/* -- windows -- */

static GtkWindow *
new_window (LamApplication *self)
{
  g_autoptr (LamSession) session = lam_session_new (self->queue);
  GtkWindow *window = GTK_WINDOW (lam_window_new (ADW_APPLICATION (self), session));
  apply_devices (self, session);
  apply_settings (self, session);
  watch_units (self, session);
  if (!self->looked)
    lam_session_look_for_crash (session);
  self->looked = TRUE;
  return window;
}

/* The newest one: help and preferences are none. */
static GtkWindow *
main_window (LamApplication *self)
{
  for (GList *l = gtk_application_get_windows (GTK_APPLICATION (self)); l != NULL; l = l->next)
    if (LAM_IS_WINDOW (l->data))
      return l->data;
  return NULL;
}

static void
lam_application_activate (GApplication *application)
{
  GtkWindow *window = main_window (LAM_APPLICATION (application));
  if (window == NULL) {
    window = new_window (LAM_APPLICATION (application));
    lam_session_open_example (lam_window_get_session (LAM_WINDOW (window)));
  }
  gtk_window_present (window);
}

/* A window has one scan and one sequence. */
static gboolean
has_room (LamWindow *window, GFile *file)
{
  LamSequenceSession *sequence = lam_window_get_sequence_session (window);
  if (!lam_window_is_sequence (file))
    return lam_session_get_title (lam_window_get_session (window)) == NULL;
  LamPulseqModel *model = sequence != NULL ? lam_sequence_session_get_pulseq (sequence) : NULL;
  return model == NULL
         || (lam_pulseq_model_get_file (model) == NULL && lam_pulseq_model_get_opening (model, NULL) == NULL);
}

/* Each file in a window of its own, but for the first, which may use an empty one. */
static void
lam_application_open (GApplication *application, GFile **files, int n, const char *hint)
{
  for (int i = 0; i < n; i++) {
    GtkWindow *window = main_window (LAM_APPLICATION (application));
    if (window == NULL || !has_room (LAM_WINDOW (window), files[i]))
      window = new_window (LAM_APPLICATION (application));
    lam_window_open_file (LAM_WINDOW (window), files[i]);
    gtk_window_present (window);
  }
}

static int
lam_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  if (g_variant_dict_contains (options, "version")) {
    g_print ("lamina-gtk %s\n", LAMINA_VERSION);
    return 0;
  }
  /* To look at both styles whatever the desktop says. */
  g_autoptr (GError) error = NULL;
  if (!g_application_register (application, NULL, &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  AdwStyleManager *style = adw_style_manager_get_default ();
  LAM_APPLICATION (application)->forced =
      g_variant_dict_contains (options, "dark") || g_variant_dict_contains (options, "light");
  if (g_variant_dict_contains (options, "dark"))
    adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  else if (g_variant_dict_contains (options, "light"))
    adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_LIGHT);
  return -1;
}

static gpointer
hold (gconstpointer object, gpointer data)
{
  return g_object_ref ((gpointer) object);
}

static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  /* Windows may ask about runs that are going on; the application ends with the last of them. */
  GList *windows = g_list_copy_deep (gtk_application_get_windows (application), hold, NULL);
  for (GList *l = windows; l != NULL; l = l->next)
    if (LAM_IS_WINDOW (l->data)) /* the others go with theirs */
      gtk_window_close (l->data);
  g_list_free_full (windows, g_object_unref);
}

static void
help_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  LamApplication *self = LAM_APPLICATION (application);
  if (self->help == NULL) {
    self->help = lam_help_window_new ();
    g_object_add_weak_pointer (G_OBJECT (self->help), (gpointer *) &self->help);
    gtk_window_set_transient_for (GTK_WINDOW (self->help), main_window (self));
    gtk_window_set_destroy_with_parent (GTK_WINDOW (self->help), TRUE);
  }
  if (lam_window_shows_sequence (LAM_WINDOW (main_window (self))))
    lam_help_window_show_page (LAM_HELP_WINDOW (self->help), "sequence");
  gtk_window_present (GTK_WINDOW (self->help));
}

static void
preferences_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  LamApplication *self = LAM_APPLICATION (application);
  if (self->preferences == NULL) {
    self->preferences = lam_preferences_new (self->settings, main_window (self));
    gtk_window_set_destroy_with_parent (GTK_WINDOW (self->preferences), TRUE);
    g_object_add_weak_pointer (G_OBJECT (self->preferences), (gpointer *) &self->preferences);
  }
  gtk_window_present (GTK_WINDOW (self->preferences));
}

/* What a report of a fault needs; owned here. */
static const char *
lam_application_get_debug_info (void)
{
  static char *text;
  g_free (text);
  text = g_strdup_printf ("Lamina %s\nGTK %u.%u.%u, libadwaita %u.%u.%u, GLib %u.%u.%u\nprocessors: %u\n",
                          LAMINA_VERSION, gtk_get_major_version (), gtk_get_minor_version (), gtk_get_micro_version (),
                          adw_get_major_version (), adw_get_minor_version (), adw_get_micro_version (),
                          glib_major_version, glib_minor_version, glib_micro_version, g_get_num_processors ());
  return text;
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  adw_show_about_window (main_window (LAM_APPLICATION (application)), "application-name", _ ("Lamina"),
                         "application-icon", "org.lamina.Lamina", "version", LAMINA_VERSION, "comments",
                         _ ("Tomographic reconstruction, seen while it happens: the geometry by hand, slices that "
                            "sharpen, the same bits on any "
                            "number of devices."),
                         "license-type", GTK_LICENSE_GPL_3_0, "developer-name", _ ("The Lamina developers"),
                         "debug-info", lam_application_get_debug_info (), "debug-info-filename", "lamina.txt", NULL);
}

static void
lam_application_startup (GApplication *application)
{
  G_APPLICATION_CLASS (lam_application_parent_class)->startup (application);
  static const GActionEntry entries[] = {{.name = "quit", .activate = quit_cb},
                                         {.name = "help", .activate = help_cb},
                                         {.name = "preferences", .activate = preferences_cb},
                                         {.name = "about", .activate = about_cb}};
  LamApplication *self = LAM_APPLICATION (application);
  g_signal_connect_object (self->settings, "notify", G_CALLBACK (settings_notify_cb), self, 0);
  settings_notify_cb (self->settings, NULL, self);
  g_action_map_add_action_entries (G_ACTION_MAP (application), entries, G_N_ELEMENTS (entries), application);
  static const struct {
    const char *action;
    const char *keys[3];
  } accels[] = {
      {"app.quit", {"<Control>q"}},
      {"win.open", {"<Control>o"}},
      {"win.save", {"<Control>s"}},
      {"win.save-session", {"<Control><Shift>s"}},
      {"app.preferences", {"<Control>comma"}},
      {"app.help", {"F1"}},
      {"window.close", {"<Control>w"}},
      {"win.undo", {"<Control>z"}},
      {"win.redo", {"<Control><Shift>z"}},
      {"win.workspace::reconstruct", {"<Control>1"}},
      {"win.workspace::sequence", {"<Control>2"}},
      {"win.sidebar", {"F9"}},
      {"win.fullscreen", {"F11"}},
      {"win.show-help-overlay", {"<Control>question"}},
  };
  for (int i = 0; i < LAM_RECONSTRUCT_TABS; i++) {
    g_autofree char *action = g_strdup_printf ("win.tab(%d)", i), *key = g_strdup_printf ("<Alt>%d", i + 1);
    gtk_application_set_accels_for_action (GTK_APPLICATION (application), action, (const char *[]){key, NULL});
  }
  for (size_t i = 0; i < G_N_ELEMENTS (accels); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (application), accels[i].action, accels[i].keys);
}

static void
lam_application_shutdown (GApplication *application)
{
  LamApplication *self = LAM_APPLICATION (application);
  g_application_set_default (NULL); /* from here on nothing can be waited for but at once (model/linger.h) */
  GtkWidget *others[] = {self->help, self->preferences};
  for (int i = 0; i < 2; i++)
    if (others[i] != NULL)
      gtk_window_destroy (GTK_WINDOW (others[i]));
  if (self->queue != NULL)
    lam_queue_shut_down (self->queue);
  lam_settings_flush (self->settings);
  G_APPLICATION_CLASS (lam_application_parent_class)->shutdown (application);
}

static void
lam_application_dispose (GObject *object)
{
  g_clear_object (&LAM_APPLICATION (object)->queue);
  g_clear_object (&LAM_APPLICATION (object)->settings);
  G_OBJECT_CLASS (lam_application_parent_class)->dispose (object);
}

static void
lam_application_class_init (LamApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);
  application_class->activate = lam_application_activate;
  application_class->open = lam_application_open;
  application_class->startup = lam_application_startup;
  application_class->shutdown = lam_application_shutdown;
  G_OBJECT_CLASS (klass)->dispose = lam_application_dispose;
  application_class->handle_local_options = lam_application_handle_local_options;
}

static void
lam_application_init (LamApplication *self)
{
  self->queue = lam_queue_new ();
  self->settings = lam_settings_new (NULL);
  static const GOptionEntry options[] = {
      {"dark", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Dark style"), NULL},
      {"light", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Light style"), NULL},
      {"version", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Version"), NULL},
      {NULL},
  };
  g_application_add_main_option_entries (G_APPLICATION (self), options);
  g_application_set_option_context_parameter_string (G_APPLICATION (self), _ ("[SCAN, SEQUENCE OR SESSION]"));
}

LamApplication *
lam_application_new (void)
{
  lam_pool_give_way ();
  return g_object_new (LAM_TYPE_APPLICATION, "application-id", "org.lamina.Lamina", "flags", G_APPLICATION_HANDLES_OPEN,
                       "resource-base-path", "/org/lamina/Lamina", NULL);
}
