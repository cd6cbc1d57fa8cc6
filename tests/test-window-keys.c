/* The whole window by the keyboard alone: real Tab presses come to every widget that can take the focus, and whatever a
 * pointer can drag can be moved by keys. */
#include <math.h>
#include <string.h>

#include "chart.h"
#include "compare-tab.h"
#include "geometry-view.h"
#include "histogram.h"
#include "result-row.h"
#include "results-pane.h"
#include "widget-util.h"
#include "window-util.h"

/* -- what Tab comes to -- */

/* Tab presses at one go; after a go that came to nothing new the round is complete. */
#define GO 40
#define GOES 12

/* What a person would call it, as far as that can be told from the tree. */
static char *
name_of (GtkWidget *widget)
{
  g_autoptr (GString) text = g_string_new (G_OBJECT_TYPE_NAME (widget));
  const char *tip = NULL;
  for (GtkWidget *w = widget; w != NULL && tip == NULL; w = gtk_widget_get_parent (w)) {
    tip = gtk_widget_get_tooltip_text (w);
    if (ADW_IS_PREFERENCES_ROW (w))
      tip = adw_preferences_row_get_title (ADW_PREFERENCES_ROW (w));
  }
  GtkWidget *label = window_find (widget, GTK_TYPE_LABEL);
  if (label != NULL)
    g_string_append_printf (text, " \"%s\"", gtk_label_get_text (GTK_LABEL (label)));
  if (tip != NULL)
    g_string_append_printf (text, " (%s)", tip);
  for (GtkWidget *w = gtk_widget_get_parent (widget); w != NULL; w = gtk_widget_get_parent (w))
    if (g_str_has_prefix (G_OBJECT_TYPE_NAME (w), "Lam")) {
      g_string_append_printf (text, " in %s", G_OBJECT_TYPE_NAME (w));
      break;
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Hands the focus on to what it holds and takes it only where that takes none. */
static gboolean
hands_on (GtkWidget *widget)
{
  return GTK_IS_SCROLLED_WINDOW (widget) || GTK_IS_LIST_BOX (widget) || GTK_IS_FLOW_BOX (widget)
         || GTK_IS_LIST_VIEW (widget) || GTK_IS_POPOVER (widget) || GTK_IS_PANED (widget);
}

/* A gesture that nothing which takes the keys has to do with: only a pointer could use it. */
static gboolean
only_by_pointer (GtkWidget *widget, GHashTable *reached)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  gboolean gesture = FALSE;
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);
    gesture |= (GTK_IS_GESTURE_CLICK (controller) || GTK_IS_GESTURE_DRAG (controller))
               && gtk_event_controller_get_propagation_phase (controller) != GTK_PHASE_NONE;
  }
  GHashTableIter iter;
  gpointer with_keys;
  g_hash_table_iter_init (&iter, reached);
  while (gesture && g_hash_table_iter_next (&iter, &with_keys, NULL))
    gesture = with_keys != (gpointer) widget && !gtk_widget_is_ancestor (with_keys, widget)
              && !gtk_widget_is_ancestor (widget, with_keys);
  return gesture;
}

/* Parts of GTK's own widgets with other keys: of a number its text has the arrows, a window closes by Ctrl+W, what scrolls has
 * Page Up and Down; a chosen item lies in its button. */
static gboolean
has_other_keys (GtkWidget *widget)
{
  return gtk_widget_get_ancestor (widget, GTK_TYPE_WINDOW_CONTROLS) != NULL
         || gtk_widget_get_ancestor (widget, GTK_TYPE_SCROLLBAR) != NULL || GTK_IS_INFO_BAR (widget)
         || GTK_IS_WINDOW_HANDLE (widget) || GTK_IS_LIST_BOX (widget)
         || GTK_IS_STACK (widget)
         /* A label's text is selected by a pointer only; the row's Copy has all of it. */
         || (GTK_IS_LABEL (widget) && gtk_widget_get_ancestor (widget, LAM_TYPE_RESULT_ROW) != NULL)
         || (GTK_IS_BUTTON (widget) && gtk_widget_get_ancestor (widget, GTK_TYPE_SPIN_BUTTON) != NULL)
         || (g_str_equal (G_OBJECT_TYPE_NAME (widget), "GtkListItemWidget")
             && (gtk_widget_get_ancestor (widget, GTK_TYPE_DROP_DOWN) != NULL
                 || gtk_widget_get_ancestor (widget, ADW_TYPE_COMBO_ROW) != NULL));
}

static int
count_missed (GtkWidget *widget, GHashTable *reached, const char *what)
{
  int missed = 0;
  if (!gtk_widget_get_mapped (widget) || !gtk_widget_get_sensitive (widget))
    return 0;
  gboolean can = gtk_widget_get_focusable (widget) && gtk_widget_get_can_focus (widget) && !hands_on (widget)
                 && !GTK_IS_WINDOW (widget);
  if (((can && !g_hash_table_contains (reached, widget)) || only_by_pointer (widget, reached))
      && !has_other_keys (widget)) {
    g_autofree char *name = name_of (widget);
    g_test_message ("%s: the keys never come to %s", what, name);
    missed++;
  }
  for (GtkWidget *w = gtk_widget_get_first_child (widget); w != NULL; w = gtk_widget_get_next_sibling (w))
    missed += count_missed (w, reached, what);
  return missed;
}

static void
focus_cb (GtkWindow *window, GParamSpec *pspec, GHashTable *reached)
{
  if (gtk_window_get_focus (window) != NULL)
    g_hash_table_add (reached, gtk_window_get_focus (window));
}

/* Presses Tab until nothing new comes; how many of the widgets below @part it never came to, each one named. */
static int
walk_part (GtkWidget *part, const char *what, const char *key)
{
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (part));
  g_autoptr (GHashTable) reached = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) keys = g_string_new ("key --delay 2");
  for (int i = 0; i < GO; i++)
    g_string_append_printf (keys, " %s", key);
  gulong id = g_signal_connect (window, "notify::focus-widget", G_CALLBACK (focus_cb), reached);
  focus_cb (GTK_WINDOW (window), NULL, reached);
  for (guint go = 0, before = 0; go < GOES && g_hash_table_size (reached) != before; go++) {
    before = go > 0 ? g_hash_table_size (reached) : 0;
    test_xdotool ("%s", keys->str);
    test_wait_frames (window, 2);
  }
  g_signal_handler_disconnect (window, id);
  int missed = count_missed (part, reached, what);
  g_test_message ("%s: the keys came to %u widgets", what, g_hash_table_size (reached));
  g_assert_cmpuint (g_hash_table_size (reached), >, 0);
  return missed;
}

static int
walk (GtkWidget *window, const char *what)
{
  return walk_part (window, what, "Tab");
}

static void
show_tab (GtkWidget *window, int tab, const char *name)
{
  GtkWidget *stack = gtk_widget_get_ancestor (window_find (window, LAM_TYPE_COMPARE_TAB), GTK_TYPE_STACK);
  test_xdotool ("key alt+%d", tab + 1);
  test_wait_frames (window, 6);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (stack)), ==, name);
}

static gboolean
can_press (void)
{
  if (test_have_xdotool ())
    return TRUE;
  g_test_skip ("xdotool is not installed");
  return FALSE;
}

static void
test_tab (void)
{
  if (!can_press ())
    return;
  static const char *const tabs[] = {"slices", "views", "sinogram", "geometry", "compare"};
  int missed = 0;
  GtkWidget *window = window_new ();
  test_focus_window (window);
  missed += walk (window, "start");
  window_close (window);

  window = window_new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_run_once (window);
  window_run_once (window);
  test_wait (window_is_current, session);
  test_focus_window (window);
  /* A region and a line, so that their cards are there; and a run's refusal above all. */
  gtk_widget_grab_focus (
      GTK_WIDGET (lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window)))));
  test_xdotool ("key o Return m Return v");
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "a test");
  g_signal_emit_by_name (session, "failed", error);
  test_wait_frames (window, 6);
  for (size_t i = 0; i < G_N_ELEMENTS (tabs); i++) {
    show_tab (window, (int) i, tabs[i]);
    missed += walk (window, tabs[i]);
  }
  window_close (window);
  g_assert_cmpint (missed, ==, 0);
}

/* -- menus and lists that come up -- */

/* Some are made when they are first asked for. */
static GtkWidget *
get_popover (GtkWidget *button)
{
  if (ADW_IS_SPLIT_BUTTON (button))
    return GTK_WIDGET (adw_split_button_get_popover (ADW_SPLIT_BUTTON (button)));
  return GTK_IS_MENU_BUTTON (button) ? GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (button))) : NULL;
}

/* Opens every menu below @widget with the keys and walks it. */
static int
walk_menus (GtkWidget *widget)
{
  int missed = 0;
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (widget)), *popover;
  if (!gtk_widget_get_mapped (widget) || !gtk_widget_is_sensitive (widget))
    return 0;
  if (ADW_IS_SPLIT_BUTTON (widget) && !gtk_widget_get_sensitive (gtk_widget_get_first_child (widget)))
    return 0;
  if (ADW_IS_SPLIT_BUTTON (widget) || GTK_IS_MENU_BUTTON (widget)) {
    g_autofree char *name = name_of (widget);
    gtk_widget_grab_focus (widget);
    if (ADW_IS_SPLIT_BUTTON (widget))
      test_xdotool ("key Tab"); /* its second part */
    test_xdotool ("key Return");
    test_wait_frames (window, 12);
    g_test_message ("%s", name);
    popover = get_popover (widget);
    g_assert_true (popover != NULL && gtk_widget_get_mapped (popover));
    missed += walk_part (popover, name, GTK_IS_POPOVER_MENU (popover) ? "Down" : "Tab");
    test_xdotool ("key Escape");
    test_wait_frames (window, 12);
    g_assert_false (gtk_widget_get_mapped (popover));
    return missed;
  }
  for (GtkWidget *w = gtk_widget_get_first_child (widget); w != NULL; w = gtk_widget_get_next_sibling (w))
    missed += walk_menus (w);
  return missed;
}

static void
test_menus (void)
{
  if (!can_press ())
    return;
  GtkWidget *window = window_new_example (1);
  window_run_once (window);
  test_focus_window (window);
  g_assert_cmpint (walk_menus (window), ==, 0);
  window_close (window);
}

/* -- other windows -- */

/* The window that came up last, with the keys. */
static GtkWidget *
newest_window (GtkWidget *other)
{
  test_wait_frames (other, 8);
  GListModel *all = gtk_window_get_toplevels ();
  GtkWidget *found = NULL;
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (GtkWidget) window = g_list_model_get_item (all, i);
    if (window != other && gtk_widget_get_mapped (window))
      found = window;
  }
  g_assert_nonnull (found);
  test_focus_window (found);
  return found;
}

static int
walk_other (GtkWidget *window, const char *what, gboolean escape)
{
  GtkWidget *other = newest_window (window);
  int missed = walk (other, what);
  if (escape)
    test_xdotool ("key Escape");
  else
    gtk_window_destroy (GTK_WINDOW (other));
  test_wait_frames (window, 20);
  GListModel *all = gtk_window_get_toplevels ();
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (GtkWidget) still = g_list_model_get_item (all, i);
    g_assert_true (still == window || !gtk_widget_get_mapped (still));
  }
  test_focus_window (window);
  return missed;
}

static gboolean
has_scan (gpointer session)
{
  return window_is_ready (session) && lam_session_has_data (session)
         && lam_import_get_path (lam_session_get_import (session)) != NULL;
}

static void
test_windows (void)
{
  if (!can_press ())
    return;
  /* GTK's own warning: a text that is still being measured as Tab comes to it makes its scroll bar late. */
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  GtkWidget *window = window_new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  int missed = 0;
  test_focus_window (window);
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  missed += walk_menus (GTK_WIDGET (window)); /* of the jobs too */
  window_activate (window, "win.stop");
  missed += walk_other (window, "question of a run", TRUE);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  window_activate (window, "win.stop-keep");
  test_wait (window_is_ready, session);
  gtk_window_close (GTK_WINDOW (window));
  missed += walk_other (window, "question before closing", TRUE);
  test_xdotool ("key F1");
  missed += walk_other (window, "help", TRUE);
  test_xdotool ("key F1"); /* the search has the keys: it is emptied, then the window goes */
  newest_window (window);
  test_xdotool ("key x Escape");
  test_wait_frames (window, 10);
  newest_window (window);
  test_xdotool ("key Escape");
  test_wait_frames (window, 10);
  test_focus_window (window);
  test_xdotool ("key ctrl+comma");
  missed += walk_other (window, "preferences", TRUE);
  test_xdotool ("key ctrl+question");
  missed += walk_other (window, "shortcuts", TRUE);
  gtk_widget_activate_action (window, "app.about", NULL);
  missed += walk_other (window, "about", TRUE);
  window_close (window);

  window = window_new ();
  session = lam_window_get_session (LAM_WINDOW (window));
  g_autofree char *path = window_write_scan ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_open (session, file);
  test_wait (has_scan, session);
  test_focus_window (window);
  window_activate (window, "win.import-sheet");
  missed += walk_other (window, "import sheet", TRUE);
  window_close (window);
  window_remove_scan (path);
  g_log_set_always_fatal (fatal);
  g_assert_cmpint (missed, ==, 0);
}

/* -- closing while a run goes -- */

static guint
n_windows (void)
{
  GListModel *all = gtk_window_get_toplevels ();
  guint n = 0;
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (GtkWidget) window = g_list_model_get_item (all, i);
    n += gtk_widget_get_mapped (window);
  }
  return n;
}

static gboolean
has_question (gpointer data)
{
  return n_windows () == 2;
}

static gboolean
is_alone (gpointer data)
{
  return n_windows () == 1;
}

static gboolean
is_gone (gpointer data)
{
  return n_windows () == 0;
}

/* Asks to close and gives @answer, an access key. */
static void
close_with (GtkWidget *window, const char *answer)
{
  test_focus_window (window);
  test_xdotool ("key ctrl+w");
  test_wait (has_question, NULL);
  newest_window (window);
  test_xdotool ("key %s", answer);
}

static void
start_run (GtkWidget *window)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
}

/* Keep running; stop and keep, which is asked about before it would be lost; discard, and close. */
static void
test_close_running (void)
{
  if (!can_press ())
    return;
  GtkWidget *window = window_new_example (500);
  g_autoptr (LamSession) session = g_object_ref (lam_window_get_session (LAM_WINDOW (window)));
  GListModel *results = G_LIST_MODEL (lam_session_get_results (session));
  start_run (window);
  close_with (window, "alt+r");
  test_wait (is_alone, NULL);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);

  close_with (window, "alt+s");
  test_wait (window_is_ready, session);
  test_wait (has_question, NULL); /* about the result */
  g_assert_cmpuint (g_list_model_get_n_items (results), ==, 1);
  newest_window (window);
  test_xdotool ("key Escape");
  test_wait (is_alone, NULL);
  g_assert_true (lam_session_can_save (session));

  start_run (window);
  close_with (window, "alt+d");
  test_wait (window_is_ready, session);
  test_wait (has_question, NULL); /* about the one of before */
  g_assert_cmpuint (g_list_model_get_n_items (results), ==, 1);
  newest_window (window);
  test_xdotool ("key alt+w");
  test_wait (is_gone, NULL);
}

/* -- what a pointer drags -- */

static void
press (GtkWidget *window, const char *keys)
{
  test_xdotool ("key %s", keys);
  test_wait_frames (window, 3);
}

static double
geometry_number (LamSession *session, const char *which)
{
  const LamGeometry *g = lam_session_get_geometry (session);
  return g_str_equal (which, "offset") ? g->channel_offset
         : g_str_equal (which, "axis") ? g->source_axis
                                       : g->source_detector;
}

/* Axis, detector and source of a cone beam, each way a hand can move it, coarse and fine. */
static void
test_geometry (void)
{
  if (!can_press ())
    return;
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamGeometry *cone = lam_geometry_new (LAM_GEOMETRY_CONE, 90, 16, 128);
  cone->source_detector = 1200;
  cone->source_axis = 800;
  lam_geometry_set_angles (cone, 0, 2 * G_PI);
  lam_session_set_geometry (session, "cone.h5", cone);
  test_wait_frames (window, 4);
  GtkWidget *scene = window_find (window, LAM_TYPE_GEOMETRY_VIEW);
  test_focus_window (window);
  gtk_widget_grab_focus (scene);
  static const struct {
    const char *keys, *which;
    double by; /* a part of the distance where that is meant */
    gboolean part;
  } moves[] = {{"a Down", "offset", 0.1, FALSE},          {"a ctrl+Down", "offset", 0.01, FALSE},
               {"a shift+Up", "offset", -1, FALSE},       {"d Up", "offset", 0.1, FALSE},
               {"a shift+Right", "axis", 0.01, TRUE},     {"a ctrl+Left", "axis", -0.0001, TRUE},
               {"d shift+Right", "detector", 0.01, TRUE}, {"d ctrl+Left", "detector", -0.0001, TRUE},
               {"s Left", "axis", 0.001, TRUE},           {"s Down", "offset", 0, FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS (moves); i++) {
    double before = geometry_number (session, moves[i].which), beyond = geometry_number (session, "detector");
    double axis = geometry_number (session, "axis");
    press (window, moves[i].keys);
    double now = geometry_number (session, moves[i].which);
    g_test_message ("%s: %s from %g to %g", moves[i].keys, moves[i].which, before, now);
    g_assert_cmpfloat_with_epsilon (now, moves[i].part ? before * (1 + moves[i].by) : before + moves[i].by, 0.06);
    /* The source takes its distance to the detector with it. */
    if (g_str_equal (moves[i].keys, "s Left"))
      g_assert_cmpfloat_with_epsilon (geometry_number (session, "detector") - beyond, now - axis, 0.06);
  }
  g_assert_true (lam_undo_get_undo_name (lam_session_get_undo (session)) != NULL);
  window_close (window);
}

/* Level, position, regions and lines of a picture; the ends of the window; the crosshair; the curve's readout. */
static void
test_picture (void)
{
  if (!can_press ())
    return;
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  window_fill (window);
  LamSliceView *view = lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window)));
  double low, high, low_now, high_now, x, y, x_now, y_now;
  test_focus_window (window);
  gtk_widget_grab_focus (GTK_WIDGET (view));

  /* The window: right makes it wider, up brighter; Ctrl finely; Esc puts the tool away, and arrows step again. */
  lam_slice_model_get_level (slices, &low, &high);
  press (window, "w Right");
  lam_slice_model_get_level (slices, &low_now, &high_now);
  g_assert_cmpfloat (high_now - low_now, >, (high - low) * 1.02);
  g_assert_cmpfloat_with_epsilon (high_now + low_now, high + low, 1e-6);
  low = low_now;
  high = high_now;
  press (window, "Up");
  lam_slice_model_get_level (slices, &low_now, &high_now);
  double coarse = high - high_now;
  g_assert_cmpfloat (coarse, >, 0);
  press (window, "ctrl+Up");
  lam_slice_model_get_level (slices, &low, &high);
  g_assert_cmpfloat (high_now - high, >, 0);
  g_assert_cmpfloat (high_now - high, <, coarse / 5);
  int64_t index = lam_slice_model_get_index (slices);
  press (window, "Escape Down");
  g_assert_cmpint (lam_slice_model_get_index (slices), ==, index + 1);
  lam_slice_model_set_index (slices, index);

  /* Zoom, and the part that is seen. */
  press (window, "plus plus");
  lam_slice_view_to_picture (view, 100, 100, &x, &y);
  press (window, "alt+Right alt+Down");
  lam_slice_view_to_picture (view, 100, 100, &x_now, &y_now);
  g_assert_cmpfloat (x_now, >, x + 10);
  g_assert_cmpfloat (y_now, >, y + 10);
  press (window, "alt+shift+Left");
  lam_slice_view_to_picture (view, 100, 100, &x, &y);
  g_assert_cmpfloat (x, <, x_now);
  g_assert_cmpfloat (x_now - x, <, 2);
  press (window, "f");

  /* The crosshair. */
  int64_t row, column, row_now, column_now;
  g_assert_true (lam_slice_model_get_mark (slices, &row, &column));
  press (window, "shift+Right shift+Down");
  g_assert_true (lam_slice_model_get_mark (slices, &row_now, &column_now));
  g_assert_cmpint (column_now - column, ==, 1);
  g_assert_cmpint (row_now - row, ==, 1);

  /* The ends of the window, one by one. */
  LamHistogram *histogram = LAM_HISTOGRAM (window_find (window, LAM_TYPE_HISTOGRAM));
  for (int i = 0; i < 2; i++) {
    double before[2], now[2];
    gtk_widget_grab_focus (lam_histogram_get_handle (histogram, i));
    lam_slice_model_get_level (slices, &before[0], &before[1]);
    press (window, "Left");
    lam_slice_model_get_level (slices, &now[0], &now[1]);
    g_assert_cmpfloat (now[i], <, before[i]);
    g_assert_cmpfloat (now[1 - i], ==, before[1 - i]);
    double step = before[i] - now[i];
    press (window, "ctrl+Right");
    lam_slice_model_get_level (slices, &before[0], &before[1]);
    g_assert_cmpfloat_with_epsilon (before[i] - now[i], step / 10, step * 0.01);
  }
  lam_session_set_state (session, LAM_SESSION_READY);
  window_close (window);
}

/* F8 goes to the borders between panes, arrows move them, Enter leaves them. */
static void
test_borders (void)
{
  if (!can_press ())
    return;
  GtkWidget *window = window_new ();
  window_fill (window);
  GtkWidget *chart = window_find (window_find (window, LAM_TYPE_RECONSTRUCT_PAGE), LAM_TYPE_RESULTS_PANE);
  g_autoptr (GHashTable) moved = g_hash_table_new (NULL, NULL);
  chart = window_find (gtk_widget_get_parent (chart), LAM_TYPE_CHART);
  test_focus_window (window);
  show_tab (window, 3, "geometry");
  gtk_widget_grab_focus (chart);
  for (int i = 0; i < 3; i++) {
    press (window, "F8");
    GtkWidget *border = gtk_window_get_focus (GTK_WINDOW (window));
    g_assert_true (GTK_IS_PANED (border));
    gboolean vertical = gtk_orientable_get_orientation (GTK_ORIENTABLE (border)) == GTK_ORIENTATION_VERTICAL;
    int before = gtk_paned_get_position (GTK_PANED (border));
    press (window, vertical ? "Up Up" : "Right Right");
    if (gtk_paned_get_position (GTK_PANED (border)) != before)
      g_hash_table_add (moved, border);
  }
  g_assert_cmpuint (g_hash_table_size (moved), ==, 3);
  press (window, "Return");
  g_assert_false (GTK_IS_PANED (gtk_window_get_focus (GTK_WINDOW (window))));
  lam_session_set_state (lam_window_get_session (LAM_WINDOW (window)), LAM_SESSION_READY);
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-keys/tab", test_tab);
  g_test_add_func ("/window-keys/menus", test_menus);
  g_test_add_func ("/window-keys/windows", test_windows);
  g_test_add_func ("/window-keys/close", test_close_running);
  g_test_add_func ("/window-keys/geometry", test_geometry);
  g_test_add_func ("/window-keys/picture", test_picture);
  g_test_add_func ("/window-keys/borders", test_borders);
  return window_test_run ();
}
