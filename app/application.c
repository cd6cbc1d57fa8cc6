#include "config.h"

#include "application.h"

#include <glib/gi18n.h>

#include "core/threadpool.h"
#include "window.h"

struct _LamApplication {
  AdwApplication parent_instance;
  LamQueue *queue; /* of all windows: the devices serve one run at a time */
};

G_DEFINE_FINAL_TYPE (LamApplication, lam_application, ADW_TYPE_APPLICATION)

static GtkWindow *
new_window (LamApplication *self)
{
  g_autoptr (LamSession) session = lam_session_new (self->queue);
  return GTK_WINDOW (lam_window_new (ADW_APPLICATION (self), session));
}

static void
lam_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
  if (window == NULL) {
    window = new_window (LAM_APPLICATION (application));
    lam_session_open_example (lam_window_get_session (LAM_WINDOW (window)));
    lam_session_look_for_crash (lam_window_get_session (LAM_WINDOW (window)));
  }
  gtk_window_present (window);
}

/* Each file in a window of its own, but for the first, which may use an empty one. */
static void
lam_application_open (GApplication *application, GFile **files, int n, const char *hint)
{
  for (int i = 0; i < n; i++) {
    GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
    if (!LAM_IS_WINDOW (window) || lam_session_get_title (lam_window_get_session (LAM_WINDOW (window))) != NULL)
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
  if (g_variant_dict_contains (options, "dark"))
    adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  else if (g_variant_dict_contains (options, "light"))
    adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_LIGHT);
  return -1;
}

static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  /* Windows may ask about runs that are going on; the application ends with the last of them. */
  GList *windows = g_list_copy (gtk_application_get_windows (application));
  for (GList *l = windows; l != NULL; l = l->next)
    gtk_window_close (l->data);
  g_list_free (windows);
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer application)
{
  adw_show_about_window (gtk_application_get_active_window (application), "application-name", _ ("Lamina"), "version",
                         LAMINA_VERSION, "comments", _ ("Tomographic reconstruction, seen while it happens"),
                         "license-type", GTK_LICENSE_GPL_3_0, NULL);
}

static void
lam_application_startup (GApplication *application)
{
  G_APPLICATION_CLASS (lam_application_parent_class)->startup (application);
  static const GActionEntry entries[] = {{.name = "quit", .activate = quit_cb},
                                         {.name = "about", .activate = about_cb}};
  g_action_map_add_action_entries (G_ACTION_MAP (application), entries, G_N_ELEMENTS (entries), application);
  static const struct {
    const char *action;
    const char *keys[3];
  } accels[] = {
      {"app.quit", {"<Control>q"}},
      {"win.open", {"<Control>o"}},
      {"win.save", {"<Control>s"}},
      {"window.close", {"<Control>w"}},
      {"win.undo", {"<Control>z"}},
      {"win.redo", {"<Control><Shift>z"}},
      {"win.sidebar", {"F9"}},
      {"win.fullscreen", {"F11"}},
      {"win.show-help-overlay", {"<Control>question", "F1"}},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (accels); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (application), accels[i].action, accels[i].keys);
}

static void
lam_application_shutdown (GApplication *application)
{
  LamApplication *self = LAM_APPLICATION (application);
  if (self->queue != NULL)
    lam_queue_shut_down (self->queue);
  G_APPLICATION_CLASS (lam_application_parent_class)->shutdown (application);
}

static void
lam_application_dispose (GObject *object)
{
  g_clear_object (&LAM_APPLICATION (object)->queue);
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
  static const GOptionEntry options[] = {
      {"dark", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Dark style"), NULL},
      {"light", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Light style"), NULL},
      {"version", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Version"), NULL},
      {NULL},
  };
  g_application_add_main_option_entries (G_APPLICATION (self), options);
  g_application_set_option_context_parameter_string (G_APPLICATION (self), _ ("[SCAN]"));
}

LamApplication *
lam_application_new (void)
{
  lam_pool_give_way ();
  return g_object_new (LAM_TYPE_APPLICATION, "application-id", "org.lamina.Lamina", "flags", G_APPLICATION_HANDLES_OPEN,
                       "resource-base-path", "/org/lamina/Lamina", NULL);
}
