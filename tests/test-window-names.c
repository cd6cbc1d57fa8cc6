/* What a screen reader is told: the window's tree of names and roles, over the bus that screen readers use. Everything that
 * can take the focus has a name that says something, and so has every picture. The trees go into the build folder. */
#include <string.h>

#include "compare-tab.h"
#include "job-row.h"
#include "widget-util.h"
#include "window-util.h"

#define ROOT "/org/a11y/atspi/accessible/root"
#define ACCESSIBLE "org.a11y.atspi.Accessible"
#define DEEPEST 64

/* AT-SPI's states, as bits. */
#define STATE_FOCUSABLE 11

typedef struct {
  GString *tree;
  int unnamed, nodes;
  GString *problems;
} Told;

static GDBusConnection *bus; /* of accessibility; the worker's */
static const char *only;     /* what lies in such a thing is judged; NULL: all is */

static GVariant *
call (const char *name, const char *path, const char *interface, const char *method, GVariant *arguments)
{
  g_autoptr (GError) error = NULL;
  GVariant *answer = g_dbus_connection_call_sync (bus, name, path, interface, method, arguments, NULL,
                                                  G_DBUS_CALL_FLAGS_NONE, 5000, NULL, &error);
  if (answer == NULL)
    g_test_message ("%s %s: %s", path, method, error->message);
  return answer;
}

static char *
get_text (const char *name, const char *path, const char *property)
{
  g_autoptr (GVariant) answer =
      call (name, path, "org.freedesktop.DBus.Properties", "Get", g_variant_new ("(ss)", ACCESSIBLE, property));
  g_autoptr (GVariant) inner = NULL;
  if (answer == NULL)
    return g_strdup ("");
  g_variant_get (answer, "(v)", &inner);
  return g_variant_dup_string (inner, NULL);
}

/* Has a meaning of its own, so that it needs a name. */
static gboolean
needs_name (const char *role, guint64 states)
{
  static const char *const roles[] = {"push button", "toggle button", "check box", "radio button",
                                      "combo box",   "entry",         "slider",    "spin button",
                                      "image",       "menu item",     "page tab",  "switch"};
  /* Containers take no focus while something within does; an item lies in the button that shows it. */
  gboolean needs =
      (states >> STATE_FOCUSABLE & 1) != 0 && !g_str_equal (role, "group") && !g_str_equal (role, "widget");
  for (size_t i = 0; i < G_N_ELEMENTS (roles); i++)
    needs |= g_str_equal (role, roles[i]);
  return needs;
}

/* Where GTK has nothing to say it says a type's name; and a name said twice is no better. */
static gboolean
says_nothing (const char *label)
{
  gsize half = strlen (label) / 2;
  gboolean twice = half > 1 && label[half] == ' ' && strncmp (label, label + half + 1, half) == 0;
  return *label == '\0' || *label == '_' || g_type_from_name (label) != G_TYPE_INVALID || twice;
}

/* Parts of GTK's and libadwaita's own widgets that programs cannot get at: what a chooser unfolds, whose items have labels;
 * what preferences of one page never show. */
static gboolean
is_spared (const char *role, const char *within)
{
  return strstr (within, "combo box") != NULL || strstr (within, "AdwViewSwitcher") != NULL
         || (strstr (within, "window \"Preferences\"") != NULL
             && (g_str_equal (role, "search box") || g_str_equal (role, "list")));
}

static void
walk (Told *told, const char *name, const char *path, int depth, const char *within)
{
  /* GTK 4.8 does not tell what is in sight: all there is is asked for. */
  g_autoptr (GVariant) role = call (name, path, ACCESSIBLE, "GetRoleName", NULL);
  g_autoptr (GVariant) state = call (name, path, ACCESSIBLE, "GetState", NULL);
  g_autoptr (GVariant) children = call (name, path, ACCESSIBLE, "GetChildren", NULL);
  if (role == NULL || state == NULL || children == NULL || depth > DEEPEST)
    return;
  const char *role_name, *child_name, *child_path;
  g_variant_get (role, "(&s)", &role_name);
  g_autoptr (GVariantIter) bits = NULL, iter = NULL;
  guint32 low = 0, high = 0;
  g_variant_get (state, "(au)", &bits);
  g_variant_iter_next (bits, "u", &low);
  g_variant_iter_next (bits, "u", &high);
  guint64 states = low | (guint64) high << 32;
  g_autofree char *label = get_text (name, path, "Name"), *description = get_text (name, path, "Description");
  told->nodes++;
  g_string_append_printf (told->tree, "%*s%s \"%s\"%s%s%s\n", 2 * depth, "", role_name, label,
                          *description != '\0' ? " — " : "", description,
                          states >> STATE_FOCUSABLE & 1 ? " [focus]" : "");
  if (needs_name (role_name, states) && says_nothing (label) && !is_spared (role_name, within)
      && (only == NULL || strstr (within, only) != NULL)) {
    g_string_append_printf (told->problems, "%s \"%s\" within %s\n", role_name, label, within);
    told->unnamed++;
  }
  g_autofree char *here = g_strdup_printf ("%s \"%s\" / %s", role_name, label, within);
  g_variant_get (children, "(a(so))", &iter);
  while (g_variant_iter_next (iter, "(&s&o)", &child_name, &child_path))
    walk (told, child_name, child_path, depth + 1, here);
}

/* GTK tells the registry of the program in its own time. */
#define TRIES 200
#define BETWEEN 50000 /* us */

static void
walk_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Told *told = data;
  for (int i = 0; i < TRIES && told->nodes == 0; i++) {
    g_autoptr (GVariant) children = call ("org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren", NULL);
    g_autoptr (GVariantIter) iter = NULL;
    const char *name, *path;
    if (children == NULL)
      break;
    g_variant_get (children, "(a(so))", &iter);
    while (g_variant_iter_next (iter, "(&s&o)", &name, &path))
      walk (told, name, path, 0, "the program");
    if (told->nodes == 0)
      g_usleep (BETWEEN);
  }
  g_task_return_boolean (task, TRUE);
}

/* Everything that is told now; how many have no name. */
static int
ask (const char *what)
{
  Told told = {g_string_new (NULL), 0, 0, g_string_new (NULL)};
  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);
  g_task_set_task_data (task, &told, NULL);
  g_task_run_in_thread (task, walk_thread);
  while (!g_task_get_completed (task)) /* thousands of questions: as long as the machine needs */
    g_main_context_iteration (NULL, TRUE);
  const char *folder = g_getenv ("G_TEST_BUILDDIR");
  g_autofree char *path = g_strdup_printf ("%s/names-%s.txt", folder != NULL ? folder : ".", what);
  g_assert_true (g_file_set_contents (path, told.tree->str, -1, NULL));
  g_test_message ("%s: %d things, %d without a name: %s", what, told.nodes, told.unnamed, path);
  if (told.unnamed > 0)
    g_test_message ("%s", told.problems->str);
  g_assert_cmpint (told.nodes, >, 20);
  g_string_free (told.tree, TRUE);
  g_string_free (told.problems, TRUE);
  return told.unnamed;
}

/* -- */

static gboolean
connect_bus (void)
{
  g_autoptr (GDBusConnection) session = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  g_autoptr (GVariant) answer =
      session != NULL ? g_dbus_connection_call_sync (session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus",
                                                     "GetAddress", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, 5000, NULL, NULL)
                      : NULL;
  const char *address;
  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "(&s)", &address);
  bus = g_dbus_connection_new_for_address_sync (
      address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL,
      NULL, NULL);
  return bus != NULL;
}

static void
show_tab (GtkWidget *window, const char *name)
{
  GtkWidget *tab = window_find (window, LAM_TYPE_COMPARE_TAB);
  gtk_stack_set_visible_child_name (GTK_STACK (gtk_widget_get_ancestor (tab, GTK_TYPE_STACK)), name);
  test_wait_frames (window, 8);
}

/* Questions, sheets and menus; none of them is modal to this thread. */
static void
test_others (void)
{
  static const struct {
    const char *name, *action;
  } others[] = {{"stop", "win.stop"}, {"preferences", "app.preferences"}, {"help", "app.help"}};
  int unnamed = 0;
  GtkWidget *window = window_new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "This is a test");
  g_signal_emit_by_name (session, "failed", error);
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  window_activate (window, "win.jobs");
  for (size_t i = 0; i < G_N_ELEMENTS (others); i++) {
    gtk_widget_activate_action (window, others[i].action, NULL);
    test_wait_frames (window, 10);
    unnamed += ask (others[i].name);
    GListModel *all = gtk_window_get_toplevels ();
    for (guint k = g_list_model_get_n_items (all); k-- > 0;) {
      g_autoptr (GtkWindow) other = g_list_model_get_item (all, k);
      if (GTK_WIDGET (other) != window)
        gtk_window_close (other);
    }
  }
  gtk_menu_button_popdown (
      GTK_MENU_BUTTON (gtk_widget_get_ancestor (window_find (window, LAM_TYPE_JOB_ROW), GTK_TYPE_MENU_BUTTON)));
  window_activate (window, "win.discard");
  test_wait (window_is_ready, session);
  test_wait_frames (window, 10);
  window_close (window);
  window = window_new ();
  session = lam_window_get_session (LAM_WINDOW (window));
  g_signal_emit_by_name (session, "failed", error);
  g_autofree char *path = window_write_scan ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_open (session, file);
  test_wait (window_has_picture, session);
  window_activate (window, "win.import-sheet");
  test_wait_frames (window, 10);
  unnamed += ask ("import");
  window_close (window);
  window_remove_scan (path);
  g_assert_cmpint (unnamed, ==, 0);
}

static void
test_window (void)
{
  static const char *const tabs[] = {"slices", "views", "sinogram", "geometry", "compare"};
  int unnamed = 0;
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "This is a test");
  GtkWidget *window = window_new ();
  g_signal_emit_by_name (lam_window_get_session (LAM_WINDOW (window)), "failed", error);
  unnamed += ask ("start");
  window_close (window);
  window = window_new_example (1);
  window_run_once (window);
  window_run_once (window);
  g_signal_emit_by_name (lam_window_get_session (LAM_WINDOW (window)), "failed", error);
  for (size_t i = 0; i < G_N_ELEMENTS (tabs); i++) {
    show_tab (window, tabs[i]);
    unnamed += ask (tabs[i]);
  }
  window_close (window);
  g_assert_cmpint (unnamed, ==, 0);
}

static gboolean
has_result (gpointer maps)
{
  return lam_map_pictures_get_result (lam_maps_model_get_pictures (maps)) != NULL
         && lam_map_pictures_is_settled (lam_maps_model_get_pictures (maps));
}

static gboolean
has_fit (gpointer maps)
{
  return lam_map_pictures_get_fit (lam_maps_model_get_pictures (maps)) != NULL;
}

/* The Maps tab, empty, and with a voxel marked. */
static void
test_maps (void)
{
  GtkWidget *window = window_new ();
  int unnamed = 0;
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequencePage *page = lam_window_get_sequence_page (LAM_WINDOW (window));
  LamMapsModel *maps = lam_maps_tab_get_model (lam_sequence_page_get_maps (page));
  lam_sequence_page_show_tab (page, "maps");
  test_wait_frames (window, 8);
  only = "LamMapsTab";
  unnamed += ask ("maps-empty");
  g_assert_true (lam_maps_model_try (maps, NULL));
  test_wait (has_result, maps);
  lam_slice_model_set_mark (lam_map_pictures_get_slices (lam_maps_model_get_pictures (maps)), 32, 32);
  test_wait (has_fit, maps);
  test_wait_frames (window, 8);
  unnamed += ask ("maps");
  only = NULL;
  window_close (window);
  g_assert_cmpint (unnamed, ==, 0);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  if (!connect_bus ()) {
    g_print ("1..0 # SKIP no accessibility bus\n");
    return 0;
  }
  g_test_add_func ("/window-names/window", test_window);
  g_test_add_func ("/window-names/others", test_others);
  g_test_add_func ("/window-names/maps", test_maps);
  int failed = window_test_run ();
  g_object_unref (bus);
  return failed;
}
