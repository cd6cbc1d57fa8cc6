/* The whole window with an example in it: laid out, driven by its actions, run, closed, and pictured into the build folder. */
#include <glib/gstdio.h>

#include "core/error.h"
#include "widget-util.h"
#include "window-util.h"

static gboolean
enabled (GtkWidget *window, const char *action)
{
  gboolean is = FALSE;
  g_assert_true (g_action_group_query_action (G_ACTION_GROUP (window), action, &is, NULL, NULL, NULL, NULL)
                 || (is = TRUE));
  return is;
}

static void
test_empty (void)
{
  GtkWidget *window = window_new ();
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "Lamina");
  window_save_picture (window, "window-start.png");
  window_close (window);
}

static void
test_example (void)
{
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  window_fill (window);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "• tooth.h5 — Lamina");
  window_save_picture (window, "window-light.png");

  AdwStyleManager *style = adw_style_manager_get_default ();
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 30);
  window_save_picture (window, "window-dark.png");
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_DEFAULT);

  /* Edits are undone by the window's action, named on the button. */
  LamParameter *center = lam_parameter_list_find (lam_session_get_parameters (session), "center");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 148.25);
  g_assert_true (enabled (window, "undo"));
  g_assert_cmpstr (lam_undo_get_undo_name (lam_session_get_undo (session)), ==, "Set Centre of Rotation");
  window_activate (window, "win.undo");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 147.6);
  g_assert_cmpfloat_with_epsilon (lam_session_get_geometry (session)->channel_offset, 147.6 - 159.5, 1e-9);
  g_assert_false (enabled (window, "undo"));
  window_activate (window, "win.redo");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 148.25);

  /* The axis moved by hand is the same edit. */
  g_assert_true (lam_session_edit_offset (session, -10, NULL));
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 149.5);

  /* Levels. */
  window_activate (window, "win.level-full");
  g_assert_false (lam_slice_model_get_auto_level (slices));
  window_activate (window, "win.level-auto");
  g_assert_true (lam_slice_model_get_auto_level (slices));
  g_assert_true (gtk_widget_activate_action (window, "win.colour-map", "i", LAM_COLOUR_MAP_VIRIDIS));
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_VIRIDIS);
  window_activate (window, "win.level-reset");
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_GREY);

  /* Every pane can be reached. */
  for (int i = 0; i < 6; i++) {
    window_activate (window, "win.next-pane");
    g_assert_nonnull (gtk_window_get_focus (GTK_WINDOW (window)));
  }
  lam_session_set_state (session, LAM_SESSION_READY);
  window_close (window);
}

/* At 960 x 600 nothing is cut off, and under 900 the sidebar gives way. */
static void
test_small (void)
{
  GtkWidget *window = window_new ();
  window_fill (window);
  gtk_window_set_default_size (GTK_WINDOW (window), 960, 600);
  test_wait_frames (window, 30);
  /* Without a window manager the frame's margin counts. */
  g_assert_cmpint (gtk_widget_get_width (window), <=, 960);
  g_assert_cmpint (gtk_widget_get_height (window), <=, 600);
  window_save_picture (window, "window-small.png");
  gtk_window_set_default_size (GTK_WINDOW (window), 800, 560);
  test_wait_frames (window, 120);
  g_assert_cmpint (gtk_widget_get_width (window), <=, 800);
  window_save_picture (window, "window-narrow.png");
  lam_session_set_state (lam_window_get_session (LAM_WINDOW (window)), LAM_SESSION_READY);
  window_close (window);
}

static gboolean
is_saved (gpointer session)
{
  return !lam_session_has_unsaved (session);
}

static void
test_run (void)
{
  GtkWidget *window = window_new_example (2);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autoptr (GError) error = NULL;

  /* The slice follows the axis. */
  test_wait (window_is_current, session);
  LamSnapshot *before = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_get_snapshot (slices) == before && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_true (lam_slice_model_get_snapshot (slices) != before);
  lam_snapshot_unref (before);
  window_activate (window, "win.undo");

  window_activate (window, "win.run");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  test_wait (window_has_iteration, session);
  test_wait (window_is_ready, session);
  g_assert_cmpint (lam_series_get_n_rows (lam_session_get_series (session)), ==, 2);
  g_assert_true (lam_session_can_save (session));
  g_assert_true (lam_session_has_unsaved (session));
  test_wait (window_is_current, session);
  g_assert_cmpint (window_picture (session)->bad, ==, 0);

  /* Any plane of the result. */
  lam_slice_model_set_index (slices, 3);
  test_wait (window_is_current, session);
  g_assert_cmpint (window_picture (session)->index, ==, 3);
  lam_slice_model_set_plane (slices, LAM_PLANE_ROW);
  test_wait (window_has_picture, session);
  test_wait (window_is_current, session);
  g_assert_cmpint (window_picture (session)->width, ==, lam_session_get_geometry (session)->recon_columns);
  lam_slice_model_set_plane (slices, LAM_PLANE_SLICE);
  window_save_picture (window, "window-result.png");

  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *path = g_build_filename (folder, "recon.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_save (session, file);
  test_wait (is_saved, session);
  g_assert_true (g_file_query_exists (file, NULL));
  g_assert_true (g_file_delete (file, NULL, NULL));
  g_rmdir (folder);

  /* The axis moved: the live slice again; back: the result again. */
  int64_t iteration = window_picture (session)->iteration;
  g_assert_cmpint (iteration, ==, 2);
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  test_wait (window_is_current, session);
  g_assert_cmpint (window_picture (session)->iteration, ==, LAM_ITERATION_LIVE);
  window_activate (window, "win.undo");
  test_wait (window_is_current, session);
  g_assert_cmpint (window_picture (session)->iteration, ==, 2);
  window_close (window);
}

static void
test_stop (void)
{
  GtkWidget *window = window_new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_activate (window, "win.run-or-pause");
  test_wait (window_has_iteration, session);
  window_activate (window, "win.run-or-pause");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_PAUSED);
  test_wait_frames (window, 10);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_PAUSED);
  window_activate (window, "win.run-or-pause");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  window_activate (window, "win.stop-keep");
  test_wait (window_is_ready, session);
  g_assert_true (lam_session_can_save (session));
  g_assert_cmpint (lam_series_get_n_rows (lam_session_get_series (session)), <, 500);

  /* Discarded at once; the kept result of before is still there. */
  window_activate (window, "win.run");
  test_wait_frames (window, 5);
  gint64 start = g_get_monotonic_time ();
  window_activate (window, "win.discard");
  test_wait (window_is_ready, session);
  g_test_message ("discarded after %.0f ms", (g_get_monotonic_time () - start) / 1000.0);
  g_assert_true (lam_session_can_save (session));
  window_close (window);
}

/* A window that closes in the middle of a run takes the run with it. */
static void
test_close_running (void)
{
  GtkWidget *window = window_new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  window_close (window);
}

static gboolean
has_failed (gpointer data)
{
  return *(GError **) data != NULL;
}

static void
failed_cb (LamSession *session, GError *error, GError **seen)
{
  g_clear_error (seen);
  *seen = g_error_copy (error);
}

/* A file that is none is told, and what was open stays. */
static void
test_open_nothing (void)
{
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autoptr (GError) seen = NULL;
  window_fill (window);
  lam_session_set_state (session, LAM_SESSION_READY);
  g_signal_connect (session, "failed", G_CALLBACK (failed_cb), &seen);
  g_autoptr (GFile) file = g_file_new_for_path ("/nowhere/at-all.h5");
  lam_window_open_file (LAM_WINDOW (window), file);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_OPENING);
  test_wait (has_failed, &seen);
  g_assert_error (seen, LAM_ERROR, LAM_ERROR_IO);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_READY);
  g_assert_cmpstr (lam_session_get_title (session), ==, "tooth.h5");
  test_wait_frames (window, 20);
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window/empty", test_empty);
  g_test_add_func ("/window/example", test_example);
  g_test_add_func ("/window/small", test_small);
  g_test_add_func ("/window/run", test_run);
  g_test_add_func ("/window/stop", test_stop);
  g_test_add_func ("/window/close-running", test_close_running);
  g_test_add_func ("/window/open-nothing", test_open_nothing);
  return window_test_run ();
}
