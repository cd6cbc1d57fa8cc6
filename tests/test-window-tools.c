/* What stands round the reconstruction: views and sinograms with what the preparation does to them, help, preferences. */
#include <glib/gstdio.h>
#include <math.h>

#include "help-window.h"
#include "model/settings.h"
#include "parameter-row.h"
#include "preferences.h"
#include "projections-tab.h"
#include "widget-util.h"
#include "window-util.h"

static void
test_help (void)
{
  GtkWidget *help = lam_help_window_new ();
  LamHelpWindow *self = LAM_HELP_WINDOW (help);
  gtk_window_present (GTK_WINDOW (help));
  test_wait_frames (help, 10);
  g_assert_cmpstr (lam_help_window_get_page (self), ==, "open");
  g_assert_true (lam_help_window_show_page (self, "centre"));
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (help)), ==, "Finding the centre of rotation — Help");
  g_assert_false (lam_help_window_show_page (self, "nothing"));
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 11);
  lam_help_window_search (self, "SHA-256");
  g_assert_cmpstr (lam_help_window_get_page (self), ==, "numbers");
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 1);
  lam_help_window_search (self, "188 values");
  g_assert_cmpstr (lam_help_window_get_page (self), ==, "sequence");
  lam_help_window_search (self, "receiver's phase");
  g_assert_cmpstr (lam_help_window_get_page (self), ==, "templates");
  lam_help_window_search (self, "no page has such words");
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 0);
  lam_help_window_search (self, "");
  lam_help_window_show_page (self, "sharpness");
  window_save_picture (help, "window-help.png");
  g_object_ref (help);
  test_close (help);
  g_assert_finalize_object (self);
}

static gboolean
is_loaded (gpointer settings)
{
  return lam_settings_get_loaded (settings);
}

/* Read by a worker: what is set meanwhile is not overwritten by the file, nor the rest of the file by it. */
static void
test_settings_late (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "settings", NULL), *text = NULL;
  g_file_set_contents (path, "[Lamina]\ncolour-scheme=dark\nautosave=60\nof-a-later-version=1\n", -1, NULL);
  LamSettings *settings = lam_settings_new (path);
  g_assert_false (lam_settings_get_loaded (settings));
  g_object_set (settings, "autosave", 10, NULL);
  test_wait (is_loaded, settings);
  g_assert_cmpstr (lam_settings_get_colour_scheme (settings), ==, "dark");
  g_assert_cmpuint (lam_settings_get_autosave (settings), ==, 10);
  lam_settings_flush (settings);
  g_assert_finalize_object (settings);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "colour-scheme=dark"));
  g_assert_nonnull (strstr (text, "autosave=10"));
  g_assert_nonnull (strstr (text, "of-a-later-version=1"));
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_preferences (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "deep", "settings", NULL), *deep = g_path_get_dirname (path);
  LamSettings *settings = lam_settings_new (path);
  test_wait (is_loaded, settings);
  g_assert_cmpuint (lam_settings_get_autosave (settings), ==, 30);
  GtkWidget *window = lam_preferences_new (settings, NULL);
  gtk_window_present (GTK_WINDOW (window));
  test_wait_frames (window, 10);
  GtkWidget *combo = window_find (window, ADW_TYPE_COMBO_ROW);
  adw_combo_row_set_selected (ADW_COMBO_ROW (combo), 2);
  g_assert_cmpstr (lam_settings_get_colour_scheme (settings), ==, "dark");
  g_object_set (settings, "autosave", 60, "devices", "3xcpu", "results-folder", "/tmp", "length-units", "center=mm",
                NULL);
  test_wait_frames (window, 10);
  window_save_picture (window, "window-preferences.png");
  g_object_ref (window);
  test_close (window);
  g_assert_finalize_object (LAM_PREFERENCES (window));
  g_assert_finalize_object (settings); /* written with it */
  settings = lam_settings_new (path);
  test_wait (is_loaded, settings);
  g_assert_cmpstr (lam_settings_get_colour_scheme (settings), ==, "dark");
  g_assert_cmpuint (lam_settings_get_autosave (settings), ==, 60);
  g_assert_cmpstr (lam_settings_get_devices (settings), ==, "3xcpu");
  g_assert_cmpstr (lam_settings_get_results_folder (settings), ==, "/tmp");
  g_assert_cmpstr (lam_settings_get_length_units (settings), ==, "center=mm");
  g_assert_finalize_object (settings);
  g_unlink (path);
  g_rmdir (deep);
  g_rmdir (folder);
}

/* -- views and sinograms -- */

static GtkWidget *
seek_widget (GtkWidget *from, gboolean (*is) (GtkWidget *, gconstpointer), gconstpointer data)
{
  if (is (from, data))
    return from;
  for (GtkWidget *w = gtk_widget_get_first_child (from); w != NULL; w = gtk_widget_get_next_sibling (w)) {
    GtkWidget *found = seek_widget (w, is, data);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static gboolean
is_row_of (GtkWidget *widget, gconstpointer id)
{
  return LAM_IS_PARAMETER_ROW (widget)
         && g_str_equal (lam_parameter_get_id (lam_parameter_row_get_parameter (LAM_PARAMETER_ROW (widget))), id);
}

static gboolean
is_shown_projections (GtkWidget *widget, gconstpointer data)
{
  return LAM_IS_PROJECTIONS_TAB (widget) && gtk_widget_get_mapped (widget);
}

static gboolean
is_button_named (GtkWidget *widget, gconstpointer name)
{
  return GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), name)
         && gtk_widget_get_mapped (widget) && gtk_widget_get_ancestor (widget, GTK_TYPE_TOGGLE_BUTTON) != NULL;
}

static void
click_widget (GtkWidget *widget)
{
  int x, y;
  g_assert_nonnull (widget);
  test_screen_point (widget, gtk_widget_get_width (widget) / 2.0, gtk_widget_get_height (widget) / 2.0, &x, &y);
  test_xdotool ("mousemove %d %d click 1", x, y);
  test_wait_frames (widget, 4);
}

typedef struct {
  LamSliceModel *slices;
  LamSnapshot *old;
} Change;

static gboolean
is_another (gpointer data)
{
  Change *c = data;
  LamSnapshot *now = lam_slice_model_get_snapshot (c->slices);
  return now != NULL && now != c->old;
}

static gboolean
is_unapplied (gpointer session)
{
  return lam_session_get_unapplied (session);
}

static gboolean
is_applied (gpointer session)
{
  return window_is_ready (session) && !lam_session_get_unapplied (session);
}

static float
at (LamSliceModel *slices, int64_t row, int64_t column)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (slices);
  return lam_snapshot_pixels (shot)[row * lam_snapshot_info (shot)->width + column];
}

static gboolean
has_session_data (gpointer session)
{
  return window_is_ready (session) && lam_session_has_data (session);
}

/* With pointer and keys: stripe removal is chosen, and the sinogram shows at once what it does. */
static void
test_projections (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("xdotool is not installed");
    return;
  }
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autofree char *path = window_write_scan ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_open (session, file);
  test_wait (has_session_data, session);
  test_focus_window (window);
  click_widget (seek_widget (window, is_button_named, "Sinogram"));
  GtkWidget *tab = seek_widget (window, is_shown_projections, NULL);
  g_assert_nonnull (tab);
  LamSliceModel *slices[LAM_PREVIEW_KINDS];
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
    slices[k] = lam_slice_view_get_model (lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), k));
  Change change = {slices[LAM_PREVIEW_AFTER], NULL};
  test_wait (is_another, &change);
  int64_t view = 30;
  g_assert_cmpfloat (at (slices[LAM_PREVIEW_AFTER], view, 50), >, at (slices[LAM_PREVIEW_AFTER], view, 49) + 0.2);
  g_assert_cmpfloat (at (slices[LAM_PREVIEW_DIFFERENCE], view, 50), ==, 0);

  /* The second choice of the drop-down. */
  GtkWidget *row = seek_widget (window, is_row_of, "stripes");
  GtkWidget *control = lam_parameter_row_get_control (LAM_PARAMETER_ROW (row));
  gtk_widget_grab_focus (control);
  test_wait_frames (window, 30);
  change.old = lam_snapshot_ref (lam_slice_model_get_snapshot (slices[LAM_PREVIEW_AFTER]));
  click_widget (control);
  test_wait_frames (window, 10);
  test_xdotool ("key Down key Return");
  test_wait (is_unapplied, session);
  test_wait (is_another, &change);
  lam_snapshot_unref (change.old);
  g_assert_cmpfloat (at (slices[LAM_PREVIEW_AFTER], view, 50), <, at (slices[LAM_PREVIEW_AFTER], view, 49) + 0.15);
  g_assert_cmpfloat (at (slices[LAM_PREVIEW_BEFORE], view, 50), >, at (slices[LAM_PREVIEW_BEFORE], view, 49) + 0.2);
  g_assert_cmpfloat (fabsf (at (slices[LAM_PREVIEW_DIFFERENCE], view, 50)), >, 0.15);
  window_save_picture (window, "window-sinogram.png");

  /* One level for before and after, one place for all; the pointer over one is told in all. */
  double low, high, low2, high2;
  int64_t r, c;
  LamSliceView *after = lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), LAM_PREVIEW_AFTER);
  lam_slice_model_set_level (slices[LAM_PREVIEW_BEFORE], 0.1, 0.7);
  lam_slice_model_get_level (slices[LAM_PREVIEW_AFTER], &low, &high);
  g_assert_cmpfloat (low, ==, 0.1);
  g_assert_cmpfloat (high, ==, 0.7);
  lam_slice_model_get_level (slices[LAM_PREVIEW_DIFFERENCE], &low2, &high2);
  g_assert_cmpfloat (low2, ==, -high2);
  int x, y;
  double px, py;
  lam_slice_view_to_widget (after, 60.5, 20.5, &px, &py);
  test_screen_point (GTK_WIDGET (after), px, py, &x, &y);
  test_xdotool ("mousemove %d %d", x, y);
  test_wait_frames (window, 4);
  g_assert_true (lam_slice_model_get_cursor (slices[LAM_PREVIEW_DIFFERENCE], &r, &c));
  g_assert_cmpint (r, ==, 20);
  g_assert_cmpint (c, ==, 60);
  g_autofree char *words = lam_slice_model_describe_cursor (slices[LAM_PREVIEW_DIFFERENCE]);
  g_assert_true (g_str_has_prefix (words, "view 20 channel 60"));
  /* The wheel goes to the next detector row, in all three. */
  int64_t index = lam_slice_model_get_index (slices[LAM_PREVIEW_AFTER]);
  change.old = lam_slice_model_get_snapshot (slices[LAM_PREVIEW_BEFORE]);
  change.slices = slices[LAM_PREVIEW_BEFORE];
  test_xdotool ("click 5");
  test_wait (is_another, &change);
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
    g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices[k]))->index, ==, index + 1);

  /* Applied by its button, undone by Ctrl+Z. */
  window_activate (window, "win.apply-preparation");
  test_wait (is_applied, session);
  window_activate (window, "win.undo");
  test_wait (is_unapplied, session);

  click_widget (seek_widget (window, is_button_named, "Views"));
  tab = seek_widget (window, is_shown_projections, NULL);
  change = (Change){
      lam_slice_view_get_model (lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), LAM_PREVIEW_AFTER)), NULL};
  test_wait (is_another, &change);
  window_save_picture (window, "window-views.png");
  for (int i = 0; i < 6; i++) {
    window_activate (window, "win.next-pane");
    g_assert_nonnull (gtk_window_get_focus (GTK_WINDOW (window)));
  }

  /* An example has an after only. */
  window_activate (window, "win.open-example");
  test_wait (has_session_data, session);
  change.old = NULL;
  test_wait (is_another, &change);
  test_wait_frames (window, 4);
  g_assert_false (gtk_widget_get_mapped (
      GTK_WIDGET (lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), LAM_PREVIEW_BEFORE))));
  window_close (window);
  window_remove_scan (path);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window/projections", test_projections);
  g_test_add_func ("/window/help", test_help);
  g_test_add_func ("/window/preferences", test_preferences);
  g_test_add_func ("/window/settings-late", test_settings_late);
  return window_test_run ();
}
