/* The whole window with an example in it: laid out, driven by its actions, and pictured into the build folder. */
#include <glib/gstdio.h>
#include <math.h>

#include "application.h"
#include "chart.h"
#include "compare-tab.h"
#include "core/error.h"
#include "core/memory.h"
#include "ct/phantom-tooth.h"
#include "io/scan.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "help-window.h"
#include "model/settings.h"
#include "parameter-row.h"
#include "preferences.h"
#include "result-row.h"
#include "results-pane.h"
#include "projections-tab.h"
#include "run/dataset.h"
#include "slices-tab.h"
#include "widget-util.h"
#include "window.h"

#define SIDE 320

static LamSnapshot *
tooth (uint64_t generation, int64_t index)
{
  LamSnapshotInfo info = {.generation = generation,
                          .iteration = 7,
                          .plane = LAM_PLANE_SLICE,
                          .index = index,
                          .count = 2,
                          .width = SIDE,
                          .height = SIDE,
                          .pitch_x = 1,
                          .pitch_y = 1,
                          .length_unit = "px",
                          .value_unit = "1/px"};
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  float *pixels = lam_alloc (SIDE * SIDE * sizeof *pixels, "test picture", NULL);
  for (int r = 0; r < SIDE; r++)
    for (int c = 0; c < SIDE; c++) {
      double x = (c - (SIDE - 1) / 2.0) / (SIDE / 2.0), y = (r - (SIDE - 1) / 2.0) / (SIDE / 2.0);
      double noise = 0.0004 * (g_rand_double (rand) + g_rand_double (rand) - 1);
      pixels[r * SIDE + c] = hypot (x, y) < 1 ? (float) (0.0086 * lam_phantom_tooth (x, y, 0.1, 0.01) + noise) : 0;
    }
  return lam_snapshot_new_take (&info, pixels);
}

static LamGeometry *
scan_geometry (void)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 181, 2, SIDE);
  lam_geometry_set_angles (g, 0, G_PI * 181 / 180);
  lam_geometry_set_center (g, 147.6);
  return g;
}

static LamApplication *application; /* one a process */

static GtkWidget *
new_window (void)
{
  g_autoptr (LamSession) session = lam_session_new (NULL);
  GtkWidget *window = lam_window_new (ADW_APPLICATION (application), session);
  gtk_window_present (GTK_WINDOW (window));
  test_wait_frames (window, 4);
  return window;
}

static void
close_window (GtkWidget *window)
{
  g_autoptr (LamSession) session = g_object_ref (lam_window_get_session (LAM_WINDOW (window)));
  g_object_ref (window);
  test_close (window);
  g_assert_finalize_object (LAM_WINDOW (window));
  g_assert_finalize_object (g_steal_pointer (&session));
}

static gboolean
settled (gpointer window)
{
  LamSession *session = lam_window_get_session (window);
  return lam_slice_model_is_settled (lam_session_get_slices (session))
         && lam_slice_view_is_settled (lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (window)));
}

/* What a run would have put there. */
static void
fill (GtkWidget *window)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamParameterList *list = lam_session_get_parameters (session);
  LamSliceModel *slices = lam_session_get_slices (session);
  lam_session_set_geometry (session, "tooth.h5", scan_geometry ());
  lam_parameter_set_note (lam_parameter_list_find (list, "center"), "found: 147.6 ± 0.3");
  lam_parameter_edit (lam_parameter_list_find (list, "center"), g_variant_new_double (148.25), NULL);
  g_autoptr (GPtrArray) run = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (run, lam_fact_new (LAM_FACT_PLAIN, "Devices", "2 × CPU", "same result on any number"));
  g_ptr_array_add (run, lam_fact_new (LAM_FACT_PLAIN, "Will need", "58 MB · about 3 s", NULL));
  lam_session_set_facts (session, LAM_FACTS_RUN, run);
  g_assert_true (lam_slice_model_take (slices, tooth (lam_slice_model_get_generation (slices), 0)));
  lam_slice_model_set_mark (slices, 180, 166);
  static const double change[] = {4.2, 10.3, 10.5, 5.1, 2.75, 1.65, 1.06};
  static const double cost[] = {1.8, 1.42, 1.2, 1.08, 1.02, 0.995, 0.988};
  lam_session_log (session, "centre of rotation 147.6 ± 0.3 (sharpness)");
  for (int i = 0; i < 7; i++) {
    lam_series_append (lam_session_get_series (session), i + 1, (double[]){change[i], cost[i]});
    lam_session_log (session, "iteration %d  change %.2f %%  data %.3f  0.20 s", i + 1, change[i], cost[i]);
  }
  lam_session_set_state (session, LAM_SESSION_RUNNING);
  lam_session_set_progress (session, 0.43, "iteration 7 of 15 · subset 40 of 128", "about 2 s left");
  test_wait_frames (window, 4);
  test_wait (settled, window);
  test_wait_frames (window, 4);
}

static void
save_picture (GtkWidget *window, const char *name)
{
  test_wait_frames (window, 4);
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (window);
  int width = gtk_widget_get_width (window), height = gtk_widget_get_height (window);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  g_autoptr (GskRenderNode) node = gtk_snapshot_free_to_node (snapshot);
  GskRenderer *renderer = gtk_native_get_renderer (GTK_NATIVE (window));
  g_autoptr (GdkTexture) texture =
      gsk_renderer_render_texture (renderer, node, &GRAPHENE_RECT_INIT (0, 0, width, height));
  const char *folder = g_getenv ("G_TEST_BUILDDIR");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : ".", name, NULL);
  g_assert_true (gdk_texture_save_to_png (texture, path));
  g_test_message ("picture: %s", path);
}

static gboolean
enabled (GtkWidget *window, const char *action)
{
  gboolean is = FALSE;
  g_assert_true (g_action_group_query_action (G_ACTION_GROUP (window), action, &is, NULL, NULL, NULL, NULL)
                 || (is = TRUE));
  return is;
}

/* Actions of the class are seen through the widget only. */
static void
activate (GtkWidget *window, const char *action)
{
  g_assert_true (gtk_widget_activate_action (window, action, NULL));
  test_wait_frames (window, 2);
}

static void
test_empty (void)
{
  GtkWidget *window = new_window ();
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "Lamina");
  save_picture (window, "window-start.png");
  close_window (window);
}

static void
test_example (void)
{
  GtkWidget *window = new_window ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  fill (window);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "• tooth.h5 — Lamina");
  save_picture (window, "window-light.png");

  AdwStyleManager *style = adw_style_manager_get_default ();
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 30);
  save_picture (window, "window-dark.png");
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_DEFAULT);

  /* Edits are undone by the window's action, named on the button. */
  LamParameter *center = lam_parameter_list_find (lam_session_get_parameters (session), "center");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 148.25);
  g_assert_true (enabled (window, "undo"));
  g_assert_cmpstr (lam_undo_get_undo_name (lam_session_get_undo (session)), ==, "Set Centre of Rotation");
  activate (window, "win.undo");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 147.6);
  g_assert_cmpfloat_with_epsilon (lam_session_get_geometry (session)->channel_offset, 147.6 - 159.5, 1e-9);
  g_assert_false (enabled (window, "undo"));
  activate (window, "win.redo");
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 148.25);

  /* The axis moved by hand is the same edit. */
  g_assert_true (lam_session_edit_offset (session, -10, NULL));
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, 149.5);

  /* Levels. */
  activate (window, "win.level-full");
  g_assert_false (lam_slice_model_get_auto_level (slices));
  activate (window, "win.level-auto");
  g_assert_true (lam_slice_model_get_auto_level (slices));
  g_assert_true (gtk_widget_activate_action (window, "win.colour-map", "i", LAM_COLOUR_MAP_VIRIDIS));
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_VIRIDIS);
  activate (window, "win.level-reset");
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_GREY);

  /* Every pane can be reached. */
  for (int i = 0; i < 6; i++) {
    activate (window, "win.next-pane");
    g_assert_nonnull (gtk_window_get_focus (GTK_WINDOW (window)));
  }
  lam_session_set_state (session, LAM_SESSION_READY);
  close_window (window);
}

/* At 960 x 600 nothing is cut off, and under 900 the sidebar gives way. */
static void
test_small (void)
{
  GtkWidget *window = new_window ();
  fill (window);
  gtk_window_set_default_size (GTK_WINDOW (window), 960, 600);
  test_wait_frames (window, 30);
  /* Without a window manager the frame's margin counts. */
  g_assert_cmpint (gtk_widget_get_width (window), <=, 960);
  g_assert_cmpint (gtk_widget_get_height (window), <=, 600);
  save_picture (window, "window-small.png");
  gtk_window_set_default_size (GTK_WINDOW (window), 800, 560);
  test_wait_frames (window, 120);
  g_assert_cmpint (gtk_widget_get_width (window), <=, 800);
  save_picture (window, "window-narrow.png");
  lam_session_set_state (lam_window_get_session (LAM_WINDOW (window)), LAM_SESSION_READY);
  close_window (window);
}

/* -- real runs, on the bundled example -- */

static gboolean
is_ready (gpointer session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY;
}

static gboolean
has_picture (gpointer session)
{
  return lam_slice_model_get_snapshot (lam_session_get_slices (session)) != NULL;
}

static const LamSnapshotInfo *
picture (LamSession *session)
{
  return lam_snapshot_info (lam_slice_model_get_snapshot (lam_session_get_slices (session)));
}

static gboolean
has_iteration (gpointer session)
{
  return lam_series_get_n_rows (lam_session_get_series (session)) > 0;
}

static gboolean
is_current (gpointer session)
{
  return picture (session)->generation == lam_slice_model_get_generation (lam_session_get_slices (session))
         && picture (session)->index == lam_slice_model_get_index (lam_session_get_slices (session))
         && lam_slice_model_is_settled (lam_session_get_slices (session));
}

static gboolean
is_saved (gpointer session)
{
  return !lam_session_has_unsaved (session);
}

static GtkWidget *
new_example (int iterations)
{
  GtkWidget *window = new_window ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  activate (window, "win.open-example");
  test_wait (is_ready, session);
  test_wait (has_picture, session);
  LamParameterList *list = lam_session_get_parameters (session);
  g_assert_true (
      lam_parameter_set_value (lam_parameter_list_find (list, "iterations"), g_variant_new_int64 (iterations), NULL));
  lam_parameter_set_value (lam_parameter_list_find (list, "stop_percent"), g_variant_new_double (0), NULL);
  return window;
}

static void
test_run (void)
{
  GtkWidget *window = new_example (2);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autoptr (GError) error = NULL;

  /* The slice follows the axis. */
  test_wait (is_current, session);
  LamSnapshot *before = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_get_snapshot (slices) == before && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_true (lam_slice_model_get_snapshot (slices) != before);
  lam_snapshot_unref (before);
  activate (window, "win.undo");

  activate (window, "win.run");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  test_wait (has_iteration, session);
  test_wait (is_ready, session);
  g_assert_cmpint (lam_series_get_n_rows (lam_session_get_series (session)), ==, 2);
  g_assert_true (lam_session_can_save (session));
  g_assert_true (lam_session_has_unsaved (session));
  test_wait (is_current, session);
  g_assert_cmpint (picture (session)->bad, ==, 0);

  /* Any plane of the result. */
  lam_slice_model_set_index (slices, 3);
  test_wait (is_current, session);
  g_assert_cmpint (picture (session)->index, ==, 3);
  lam_slice_model_set_plane (slices, LAM_PLANE_ROW);
  test_wait (has_picture, session);
  test_wait (is_current, session);
  g_assert_cmpint (picture (session)->width, ==, lam_session_get_geometry (session)->recon_columns);
  lam_slice_model_set_plane (slices, LAM_PLANE_SLICE);
  save_picture (window, "window-result.png");

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
  int64_t iteration = picture (session)->iteration;
  g_assert_cmpint (iteration, ==, 2);
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  test_wait (is_current, session);
  g_assert_cmpint (picture (session)->iteration, ==, LAM_ITERATION_LIVE);
  activate (window, "win.undo");
  test_wait (is_current, session);
  g_assert_cmpint (picture (session)->iteration, ==, 2);
  close_window (window);
}

/* -- three planes -- */

static gboolean
planes_current (gpointer session)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  for (int p = 0; p < LAM_PLANES; p++) {
    LamSnapshot *shot = lam_slice_model_peek (slices, p);
    if (shot == NULL || lam_snapshot_info (shot)->generation != lam_slice_model_get_generation (slices)
        || lam_snapshot_info (shot)->index != lam_slice_model_get_plane_index (slices, p))
      return FALSE;
  }
  return lam_slice_model_is_settled (slices);
}

/* The end of the run is shown: the pictures on the way may have been current before. */
static gboolean
planes_ended (gpointer session)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  for (int p = 0; p < LAM_PLANES; p++)
    if (!planes_current (session) || lam_snapshot_info (lam_slice_model_peek (slices, p))->iteration != 3)
      return FALSE;
  return TRUE;
}

static void
test_three_planes (void)
{
  GtkWidget *window = new_example (3);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  test_wait (is_current, session);
  lam_slice_model_set_all_planes (slices, TRUE);
  test_wait_frames (window, 4);
  /* Live there is only the slice. */
  g_assert_nonnull (lam_slice_model_peek (slices, LAM_PLANE_SLICE));
  g_assert_null (lam_slice_model_peek (slices, LAM_PLANE_ROW));

  /* While a run goes all three come, through one point. */
  activate (window, "win.run");
  test_wait (has_iteration, session);
  test_wait (planes_current, session);
  test_wait (is_ready, session);
  test_wait (planes_ended, session);
  test_wait_frames (window, 4);

  LamSliceView *view = lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window)));
  g_assert_cmpint (lam_slice_view_get_plane (view), ==, LAM_PLANE_SLICE);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (view)));
  double zoom = lam_slice_view_get_zoom (view);
  if (test_have_xdotool ()) {
    /* A click in the slice moves the row and the column; the voxel is the same in all three. */
    double wx, wy;
    int x, y;
    lam_slice_view_to_widget (view, 100.5, 140.5, &wx, &wy);
    test_screen_point (GTK_WIDGET (view), wx, wy, &x, &y);
    test_xdotool ("mousemove %d %d click 1", x, y);
    test_wait_frames (window, 3);
    g_assert_cmpint (lam_slice_model_get_plane_index (slices, LAM_PLANE_ROW), ==, 140);
    g_assert_cmpint (lam_slice_model_get_plane_index (slices, LAM_PLANE_COLUMN), ==, 100);
    test_wait (planes_current, session);
    float values[LAM_PLANES];
    for (int p = 0; p < LAM_PLANES; p++) {
      LamSnapshot *shot = lam_slice_model_peek (slices, p);
      int64_t row, column;
      g_assert_true (lam_slice_model_get_mark_in (slices, p, &row, &column));
      values[p] = lam_snapshot_pixels (shot)[row * lam_snapshot_info (shot)->width + column];
    }
    g_assert_cmpfloat (values[0], ==, values[1]);
    g_assert_cmpfloat (values[0], ==, values[2]);
    /* The wheel over the row's view moves that row, at the same zoom. */
    GtkWidget *ortho = gtk_widget_get_parent (GTK_WIDGET (view));
    LamSliceView *row_view = LAM_SLICE_VIEW (gtk_widget_get_next_sibling (gtk_widget_get_first_child (ortho)));
    g_assert_cmpfloat_with_epsilon (lam_slice_view_get_zoom (row_view), zoom, 1e-9);
    test_screen_point (GTK_WIDGET (row_view), 100, 20, &x, &y);
    test_xdotool ("mousemove %d %d click 5", x, y);
    test_wait_frames (window, 3);
    g_assert_cmpint (lam_slice_model_get_plane_index (slices, LAM_PLANE_ROW), ==, 141);
    test_xdotool ("keydown ctrl click 4 keyup ctrl");
    test_wait_frames (window, 3);
    g_assert_cmpfloat_with_epsilon (lam_slice_view_get_zoom (row_view), zoom * 1.25, 1e-9);
    g_assert_cmpfloat_with_epsilon (lam_slice_view_get_zoom (view), zoom * 1.25, 1e-9);
  }
  save_picture (window, "window-planes.png");

  /* The axis moved: what was made with the old one goes. Back: all three are there again. */
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_peek (slices, LAM_PLANE_ROW) != NULL && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_null (lam_slice_model_peek (slices, LAM_PLANE_ROW));
  activate (window, "win.undo");
  test_wait (planes_current, session);

  /* One plane again; its crosshair stays. */
  int64_t row, column, row_again, column_again;
  lam_slice_model_get_mark (slices, &row, &column);
  lam_slice_model_set_all_planes (slices, FALSE);
  g_assert_true (lam_slice_model_get_mark (slices, &row_again, &column_again));
  g_assert_cmpint (row, ==, row_again);
  g_assert_cmpint (column, ==, column_again);
  test_wait (is_current, session);
  close_window (window);
}

/* -- copies and files of the picture -- */

static void
told_cb (LamSession *session, const char *text, gboolean result, char **told)
{
  g_free (*told);
  *told = g_strdup (text);
}

static void
refused_cb (LamSession *session, GError *error, char **told)
{
  told_cb (session, error->message, FALSE, told);
}

static gboolean
is_told (gpointer told)
{
  return *(char **) told != NULL;
}

static GFile *
save_kind (LamSlicesTab *tab, LamPictureKind kind, const char *folder, const char *name, char **told)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  GFile *file = g_file_new_for_path (path);
  g_clear_pointer (told, g_free);
  lam_slices_tab_save_picture (tab, kind, file);
  test_wait (is_told, told);
  return file;
}

static void
text_cb (GObject *clipboard, GAsyncResult *result, gpointer data)
{
  *(char **) data = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (clipboard), result, NULL);
}

static void
texture_cb (GObject *clipboard, GAsyncResult *result, gpointer data)
{
  *(GdkTexture **) data = gdk_clipboard_read_texture_finish (GDK_CLIPBOARD (clipboard), result, NULL);
}

static gboolean
is_set (gpointer pointer)
{
  return *(gpointer *) pointer != NULL;
}

static void
test_export (void)
{
  GtkWidget *window = new_window ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autoptr (GError) error = NULL;
  g_autofree char *told = NULL;
  fill (window);
  lam_session_set_state (session, LAM_SESSION_READY);
  g_signal_connect (session, "message", G_CALLBACK (told_cb), &told);
  g_signal_connect (session, "failed", G_CALLBACK (refused_cb), &told);
  GtkWidget *view =
      GTK_WIDGET (lam_reconstruct_page_get_slice_view (lam_window_get_reconstruct_page (LAM_WINDOW (window))));
  LamSlicesTab *tab = LAM_SLICES_TAB (gtk_widget_get_ancestor (view, LAM_TYPE_SLICES_TAB));
  const float *pixels = lam_snapshot_pixels (lam_slice_model_get_snapshot (slices));
  g_autofree char *folder = g_dir_make_tmp ("lamina-export-XXXXXX", &error);

  /* The values, to the bit. */
  g_autoptr (GFile) tiff = save_kind (tab, LAM_PICTURE_TIFF, folder, "slice.tif", &told);
  g_assert_true (g_str_has_prefix (told, "Saved as slice.tif in "));
  g_autofree float *read = g_new (float, SIDE *SIDE);
  g_assert_true (lam_tiff_read_plane (g_file_peek_path (tiff), read, SIDE, SIDE, &error));
  g_assert_cmpmem (read, SIDE * SIDE * sizeof *read, pixels, SIDE * SIDE * sizeof *read);
  g_autoptr (GFile) hdf5 = save_kind (tab, LAM_PICTURE_HDF5, folder, "slice.h5", &told);
  g_autoptr (LamVolume) volume = lam_volume_open (g_file_peek_path (hdf5), NULL, LAM_LAYOUT_FROM_FILE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (volume->rows, ==, SIDE);
  g_assert_cmpint (volume->slices, ==, 1);
  g_assert_cmpstr (volume->units, ==, "1/px");
  g_assert_cmpstr (volume->notes, ==, "slice 0 (counted from 0) of 2 of tooth.h5, iteration 7");
  g_assert_true (lam_volume_read_plane (volume, LAM_VOLUME_SLICE, 0, read, &error));
  g_assert_cmpmem (read, SIDE * SIDE * sizeof *read, pixels, SIDE * SIDE * sizeof *read);

  /* The picture as shown: every pixel of it, the surround left out, and the scale bar in its corner. */
  lam_slice_model_set_level (slices, 10, 20);
  g_autoptr (GFile) plain = NULL, barred = save_kind (tab, LAM_PICTURE_PNG, folder, "bar.png", &told);
  g_object_set (tab, "scale-bar", FALSE, NULL);
  plain = save_kind (tab, LAM_PICTURE_PNG, folder, "plain.png", &told);
  g_autoptr (GdkTexture) with = gdk_texture_new_from_file (barred, &error),
                         without = gdk_texture_new_from_file (plain, &error);
  g_assert_no_error (error);
  int width = gdk_texture_get_width (with), height = gdk_texture_get_height (with);
  g_assert_cmpint (width % SIDE, ==, 0);
  g_assert_cmpint (height, ==, width);
  g_autofree guint32 *a = g_new (guint32, width * height), *b = g_new (guint32, width * height);
  gdk_texture_download (with, (guchar *) a, width * 4);
  gdk_texture_download (without, (guchar *) b, width * 4);
  int64_t white = 0;
  for (int i = 0; i < width * height; i++) {
    g_assert_cmphex (b[i] & 0xffffff, ==, 0); /* all lies below the window */
    white += (a[i] & 0xffffff) == 0xffffff;
  }
  g_assert_cmpint (white, >, 50);
  lam_slice_model_level_auto (slices);

  /* What cannot be written is told. */
  g_autofree char *nowhere = g_build_filename (folder, "no", NULL);
  g_autoptr (GFile) none = save_kind (tab, LAM_PICTURE_PNG, nowhere, "a.png", &told);
  g_assert_nonnull (strstr (told, "a.png"));

  /* Ctrl+C: image and value. */
  lam_slice_model_set_cursor (slices, 160, 150);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (tab), "picture.copy", NULL));
  GdkClipboard *clipboard = gtk_widget_get_clipboard (view);
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       gdk_clipboard_get_content (clipboard) == NULL && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_autofree char *text = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  gdk_clipboard_read_text_async (clipboard, NULL, text_cb, &text);
  test_wait (is_set, &text);
  g_assert_true (g_str_has_prefix (text, "row 160 col 150 · "));
  gdk_clipboard_read_texture_async (clipboard, NULL, texture_cb, &texture);
  test_wait (is_set, &texture);
  g_assert_cmpint (gdk_texture_get_width (texture), ==, width);
  GFile *files[] = {tiff, hdf5, plain, barred};
  for (int i = 0; i < 4; i++)
    g_assert_true (g_file_delete (files[i], NULL, NULL));
  g_rmdir (folder);
  close_window (window);
}

/* -- compare -- */

static GtkWidget *
find_widget (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *w = gtk_widget_get_first_child (widget); w != NULL && found == NULL;
       w = gtk_widget_get_next_sibling (w))
    found = find_widget (w, type);
  return found;
}

static gboolean
compared (gpointer compare)
{
  return lam_compare_get_stats (compare) != NULL && lam_compare_is_settled (compare);
}

static gboolean
has_problem (gpointer compare)
{
  return lam_compare_get_problem (compare) != NULL;
}

static void
run_once (GtkWidget *window)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  activate (window, "win.run");
  test_wait (has_iteration, session);
  test_wait (is_ready, session);
}

static void
check_difference (LamCompare *compare)
{
  const LamSnapshot *shots[LAM_COMPARE_PARTS];
  const LamCompareStats *stats = lam_compare_get_stats (compare);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    shots[i] = lam_slice_model_get_snapshot (lam_compare_get_slices (compare, i));
  const LamSnapshotInfo *info = lam_snapshot_info (shots[0]);
  double squares = 0, largest = 0;
  int64_t n = info->width * info->height;
  for (int64_t i = 0; i < n; i++) {
    double d = (double) lam_snapshot_pixels (shots[0])[i] - lam_snapshot_pixels (shots[1])[i];
    g_assert_cmpfloat (lam_snapshot_pixels (shots[2])[i], ==, (float) d);
    squares += d * d;
    largest = fabs (d) > fabs (largest) ? d : largest;
  }
  g_assert_cmpint (stats->n, ==, n);
  g_assert_cmpfloat_with_epsilon (stats->rms, sqrt (squares / n), 1e-12);
  g_assert_cmpfloat (stats->largest, ==, largest);
}

static void
test_compare (void)
{
  GtkWidget *window = new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamParameterList *list = lam_session_get_parameters (session);
  LamCompareTab *tab = LAM_COMPARE_TAB (find_widget (window, LAM_TYPE_COMPARE_TAB));
  LamCompare *compare = lam_compare_tab_get_compare (tab);
  GListModel *sources = lam_compare_get_sources (compare);
  GtkStack *tabs = GTK_STACK (gtk_widget_get_ancestor (GTK_WIDGET (tab), GTK_TYPE_STACK));
  test_wait (is_current, session);
  gtk_stack_set_visible_child_name (tabs, "compare");
  test_wait_frames (window, 4);
  g_assert_nonnull (strstr (lam_compare_get_problem (compare), "Run once"));

  /* One result against the live preview, which there is none of while the result is shown. */
  run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 2);
  LamSliceModel *a = lam_compare_get_slices (compare, LAM_COMPARE_A),
                *b = lam_compare_get_slices (compare, LAM_COMPARE_B),
                *d = lam_compare_get_slices (compare, LAM_COMPARE_DIFFERENCE);

  /* Two results: A is the older one. */
  lam_parameter_set_value (lam_parameter_list_find (list, "iterations"), g_variant_new_int64 (3), NULL);
  run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 3);
  g_assert_true (g_str_has_prefix (lam_compare_source_get_name (lam_compare_get_source (compare, LAM_COMPARE_A)),
                                   "VCD sharpness 1, 1 iteration, COR "));
  g_assert_true (g_str_has_prefix (lam_compare_source_get_name (lam_compare_get_source (compare, LAM_COMPARE_B)),
                                   "VCD sharpness 1 (2), 3 iterations, COR "));
  test_wait (compared, compare);
  check_difference (compare);
  test_wait_frames (window, 6);
  test_wait (compared, compare);
  save_picture (window, "window-compare.png");
  AdwStyleManager *style = adw_style_manager_get_default ();
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 30);
  save_picture (window, "window-compare-dark.png");
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_DEFAULT);

  /* One level for A and B; the difference has its own, about 0. */
  double low, high, low_b, high_b;
  lam_slice_model_get_level (a, &low, &high);
  lam_slice_model_get_level (b, &low_b, &high_b);
  g_assert_cmpfloat (low, ==, low_b);
  g_assert_cmpfloat (high, ==, high_b);
  lam_slice_model_set_level (b, 0.001, 0.007);
  lam_slice_model_get_level (a, &low, &high);
  g_assert_cmpfloat (low, ==, 0.001);
  g_assert_cmpfloat (high, ==, 0.007);
  lam_slice_model_get_level (d, &low, &high);
  g_assert_cmpfloat (low, ==, -high);
  g_assert_cmpint (lam_slice_model_get_colour_map (d), ==, LAM_COLOUR_MAP_DIVERGING);
  lam_slice_model_set_level (d, -0.002, high);
  lam_slice_model_get_level (d, &low, &high);
  g_assert_cmpfloat (low, ==, -0.002);
  g_assert_cmpfloat (high, ==, 0.002);

  /* Linked by hand: wheel and zoom over B. */
  LamSliceView *view_a = lam_compare_tab_get_view (tab, LAM_COMPARE_A),
               *view_b = lam_compare_tab_get_view (tab, LAM_COMPARE_B);
  if (test_have_xdotool ()) {
    int x, y;
    int64_t index = lam_slice_model_get_index (a);
    double zoom = lam_slice_view_get_zoom (view_a);
    test_screen_point (GTK_WIDGET (view_b), 100, 150, &x, &y);
    test_xdotool ("mousemove %d %d click 5 keydown ctrl click 4 keyup ctrl", x, y);
    test_wait_frames (window, 3);
    g_assert_cmpint (lam_slice_model_get_index (a), ==, index + 1);
    g_assert_cmpint (lam_slice_model_get_index (d), ==, index + 1);
    g_assert_cmpfloat_with_epsilon (lam_slice_view_get_zoom (view_a), zoom * 1.25, 1e-9);
    test_xdotool ("click 1 key d");
    test_wait_frames (window, 3);
    g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (view_a)));
    test_xdotool ("key d key f");
    test_wait_frames (window, 3);
    g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (view_a)));
    int64_t row, column, row_d, column_d;
    g_assert_true (lam_slice_model_get_mark (b, &row, &column));
    g_assert_true (lam_slice_model_get_mark (d, &row_d, &column_d));
    g_assert_cmpint (row, ==, row_d);
    g_assert_cmpint (column, ==, column_d);
  }
  lam_slice_model_set_plane (a, LAM_PLANE_ROW);
  test_wait_frames (window, 3);
  test_wait (compared, compare);
  g_assert_cmpint (lam_slice_model_get_plane (d), ==, LAM_PLANE_ROW);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (d))->plane, ==, LAM_PLANE_ROW);
  check_difference (compare);
  lam_slice_model_set_plane (a, LAM_PLANE_SLICE);

  /* The same twice: no difference. */
  lam_compare_set_source (compare, LAM_COMPARE_A, lam_compare_get_source (compare, LAM_COMPARE_B));
  test_wait (compared, compare);
  g_autofree char *same = lam_compare_describe (compare);
  g_assert_true (g_str_has_prefix (same, "the same in all "));

  /* Live against a result: it comes with a change of the geometry, of the slice that is compared. */
  g_autoptr (LamCompareSource) live = g_list_model_get_item (sources, 0);
  lam_compare_set_source (compare, LAM_COMPARE_A, live);
  test_wait (has_problem, compare);
  g_assert_nonnull (strstr (lam_compare_get_problem (compare), "no live preview now"));
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  test_wait (compared, compare);
  g_assert_null (lam_compare_get_problem (compare));
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (a))->iteration, ==, LAM_ITERATION_LIVE);
  lam_slice_model_set_index (a, 3);
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_snapshot_info (lam_slice_model_get_snapshot (a))->index != 3 && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (a))->index, ==, 3);
  test_wait (compared, compare);
  check_difference (compare);

  /* Sizes that do not agree are told. */
  g_autoptr (GError) error = NULL;
  lam_parameter_set_value (lam_parameter_list_find (list, "iterations"), g_variant_new_int64 (1), NULL);
  lam_parameter_edit (lam_parameter_list_find (list, "pitch"), g_variant_new_double (0.05), &error);
  g_assert_no_error (error);
  run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 4);
  g_autoptr (LamCompareSource) third = g_list_model_get_item (sources, 3);
  lam_compare_set_source (compare, LAM_COMPARE_A, third);
  test_wait (has_problem, compare);
  g_assert_nonnull (strstr (lam_compare_get_problem (compare), "voxels of 0.05 mm"));

  /* A result that is removed is no longer compared. */
  lam_session_remove_result (session, lam_results_get (lam_session_get_results (session), 2));
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 3);
  test_wait (compared, compare);
  close_window (window);
}

static void
test_stop (void)
{
  GtkWidget *window = new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  activate (window, "win.run-or-pause");
  test_wait (has_iteration, session);
  activate (window, "win.run-or-pause");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_PAUSED);
  test_wait_frames (window, 10);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_PAUSED);
  activate (window, "win.run-or-pause");
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  activate (window, "win.stop-keep");
  test_wait (is_ready, session);
  g_assert_true (lam_session_can_save (session));
  g_assert_cmpint (lam_series_get_n_rows (lam_session_get_series (session)), <, 500);

  /* Discarded at once; the kept result of before is still there. */
  activate (window, "win.run");
  test_wait_frames (window, 5);
  gint64 start = g_get_monotonic_time ();
  activate (window, "win.discard");
  test_wait (is_ready, session);
  g_test_message ("discarded after %.0f ms", (g_get_monotonic_time () - start) / 1000.0);
  g_assert_true (lam_session_can_save (session));
  close_window (window);
}

/* A window that closes in the middle of a run takes the run with it. */
static void
test_close_running (void)
{
  GtkWidget *window = new_example (500);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  activate (window, "win.run");
  test_wait (has_iteration, session);
  close_window (window);
}

/* The first of this type below @widget. */
static GtkWidget *
find_type (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find_type (child, type);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static gboolean
is_stored (gpointer session)
{
  return lam_session_get_home (session) != NULL && !lam_session_get_modified (session);
}

/* Results stand below the picture; one is shown by its row, renamed and removed in its popover; the session is saved by its
 * action, and the title's dot goes. */
static void
test_results (void)
{
  GtkWidget *window = new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamResults *results = lam_session_get_results (session);
  GtkWidget *pane = find_type (window, LAM_TYPE_RESULTS_PANE);
  g_autoptr (GError) error = NULL;
  g_assert_false (gtk_widget_get_visible (pane));
  run_once (window);
  lam_parameter_edit (lam_parameter_list_find (lam_session_get_parameters (session), "sharpness"),
                      g_variant_new_double (2), NULL);
  run_once (window);
  g_assert_true (gtk_widget_get_visible (pane));
  GtkWidget *row = find_type (pane, LAM_TYPE_RESULT_ROW);
  LamResult *first = lam_result_row_get_result (LAM_RESULT_ROW (row));
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, "VCD sharpness 1");
  g_assert_false (lam_result_get_shown (first));
  g_assert_true (gtk_widget_activate (row));
  test_wait_frames (window, 4);
  g_assert_true (lam_session_get_shown (session) == first);
  test_wait (is_current, session);
  lam_result_row_rename (LAM_RESULT_ROW (row));
  test_wait_frames (window, 20);
  save_picture (window, "window-results.png");
  GtkWidget *name = find_type (row, GTK_TYPE_ENTRY);
  gtk_editable_set_text (GTK_EDITABLE (name), "Smooth & quick");
  g_signal_emit_by_name (name, "activate");
  test_wait_frames (window, 20);
  g_assert_cmpstr (lam_result_get_name (first), ==, "Smooth & quick");
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, "Smooth &amp; quick");
  lam_session_remove_result (session, first);
  test_wait_frames (window, 4);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  activate (window, "win.undo");
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 2);

  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "example.lamina.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (window)), "• example"));
  lam_session_save_session (session, file);
  test_wait (is_stored, session);
  test_wait_frames (window, 4);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (window)), "example"));
  close_window (window);

  /* Opened again, the example is made anew, and the results come with it. */
  window = new_window ();
  session = lam_window_get_session (LAM_WINDOW (window));
  lam_window_open_file (LAM_WINDOW (window), file);
  test_wait (is_stored, session);
  test_wait (has_picture, session);
  test_wait (is_current, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (session))), ==, 2);
  save_picture (window, "window-session.png");
  close_window (window);
  g_assert_true (g_file_delete (file, NULL, NULL));
  g_rmdir (folder);
}

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
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 8);
  lam_help_window_search (self, "SHA-256");
  g_assert_cmpstr (lam_help_window_get_page (self), ==, "numbers");
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 1);
  lam_help_window_search (self, "no page has such words");
  g_assert_cmpuint (lam_help_window_get_n_listed (self), ==, 0);
  lam_help_window_search (self, "");
  lam_help_window_show_page (self, "sharpness");
  save_picture (help, "window-help.png");
  g_object_ref (help);
  test_close (help);
  g_assert_finalize_object (self);
}

static void
test_preferences (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "deep", "settings", NULL), *deep = g_path_get_dirname (path);
  LamSettings *settings = lam_settings_new (path);
  g_assert_cmpuint (lam_settings_get_autosave (settings), ==, 30);
  GtkWidget *window = lam_preferences_new (settings, NULL);
  gtk_window_present (GTK_WINDOW (window));
  test_wait_frames (window, 10);
  GtkWidget *combo = find_type (window, ADW_TYPE_COMBO_ROW);
  adw_combo_row_set_selected (ADW_COMBO_ROW (combo), 2);
  g_assert_cmpstr (lam_settings_get_colour_scheme (settings), ==, "dark");
  g_object_set (settings, "autosave", 60, "devices", "3xcpu", "results-folder", "/tmp", NULL);
  test_wait_frames (window, 10);
  save_picture (window, "window-preferences.png");
  g_object_ref (window);
  test_close (window);
  g_assert_finalize_object (LAM_PREFERENCES (window));
  g_assert_finalize_object (settings); /* written with it */
  settings = lam_settings_new (path);
  g_assert_cmpstr (lam_settings_get_colour_scheme (settings), ==, "dark");
  g_assert_cmpuint (lam_settings_get_autosave (settings), ==, 60);
  g_assert_cmpstr (lam_settings_get_devices (settings), ==, "3xcpu");
  g_assert_cmpstr (lam_settings_get_results_folder (settings), ==, "/tmp");
  g_assert_finalize_object (settings);
  g_unlink (path);
  g_rmdir (deep);
  g_rmdir (folder);
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
  GtkWidget *window = new_window ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autoptr (GError) seen = NULL;
  fill (window);
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
  close_window (window);
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

/* A scan of the example with one channel that reads too much: a ring. */
static char *
write_striped (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDataset) d = lam_dataset_example (LAM_GEOMETRY_PARALLEL, 128, NULL, &error);
  g_assert_no_error (error);
  const LamGeometry *g = d->geometry;
  for (int64_t i = 0; i < g->views * g->rows; i++)
    d->sinogram[i * g->channels + 50] += 0.3f;
  g_autofree char *folder = g_dir_make_tmp ("lamina-stripes-XXXXXX", &error);
  char *path = g_build_filename (folder, "striped.h5", NULL);
  LamScanData data = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = d->sinogram};
  g_assert_true (lam_scan_write (path, &data, NULL, &error));
  g_assert_no_error (error);
  return path;
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
  return is_ready (session) && !lam_session_get_unapplied (session);
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
  return is_ready (session) && lam_session_has_data (session);
}

/* With pointer and keys: stripe removal is chosen, and the sinogram shows at once what it does. */
static void
test_projections (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool");
    return;
  }
  GtkWidget *window = new_window ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autofree char *path = write_striped ();
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
  save_picture (window, "window-sinogram.png");

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
  activate (window, "win.apply-preparation");
  test_wait (is_applied, session);
  activate (window, "win.undo");
  test_wait (is_unapplied, session);

  click_widget (seek_widget (window, is_button_named, "Views"));
  tab = seek_widget (window, is_shown_projections, NULL);
  change = (Change){
      lam_slice_view_get_model (lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), LAM_PREVIEW_AFTER)), NULL};
  test_wait (is_another, &change);
  save_picture (window, "window-views.png");
  for (int i = 0; i < 6; i++) {
    activate (window, "win.next-pane");
    g_assert_nonnull (gtk_window_get_focus (GTK_WINDOW (window)));
  }

  /* An example has an after only. */
  activate (window, "win.open-example");
  test_wait (has_session_data, session);
  change.old = NULL;
  test_wait (is_another, &change);
  test_wait_frames (window, 4);
  g_assert_false (gtk_widget_get_mapped (
      GTK_WIDGET (lam_projections_tab_get_view (LAM_PROJECTIONS_TAB (tab), LAM_PREVIEW_BEFORE))));
  close_window (window);
  g_autofree char *folder = g_path_get_dirname (path);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  if (!test_ui_init (&argc, &argv))
    return 0;
  application = lam_application_new ();
  g_application_set_flags (G_APPLICATION (application), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, NULL));
  g_test_add_func ("/window/empty", test_empty);
  g_test_add_func ("/window/example", test_example);
  g_test_add_func ("/window/small", test_small);
  g_test_add_func ("/window/run", test_run);
  g_test_add_func ("/window/three-planes", test_three_planes);
  g_test_add_func ("/window/export", test_export);
  g_test_add_func ("/window/compare", test_compare);
  g_test_add_func ("/window/projections", test_projections);
  g_test_add_func ("/window/stop", test_stop);
  g_test_add_func ("/window/close-running", test_close_running);
  g_test_add_func ("/window/open-nothing", test_open_nothing);
  g_test_add_func ("/window/results", test_results);
  g_test_add_func ("/window/help", test_help);
  g_test_add_func ("/window/preferences", test_preferences);
  int failed = g_test_run ();
  g_object_unref (application);
  return failed;
}
