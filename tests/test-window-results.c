/* Results in the window: three planes, copies and files of the picture, comparison, the list of results. */
#include <glib/gstdio.h>
#include <math.h>

#include "compare-tab.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "result-row.h"
#include "results-pane.h"
#include "slices-tab.h"
#include "widget-util.h"
#include "window-util.h"

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
  GtkWidget *window = window_new_example (3);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  test_wait (window_is_current, session);
  lam_slice_model_set_all_planes (slices, TRUE);
  test_wait_frames (window, 4);
  /* Live there is only the slice. */
  g_assert_nonnull (lam_slice_model_peek (slices, LAM_PLANE_SLICE));
  g_assert_null (lam_slice_model_peek (slices, LAM_PLANE_ROW));

  /* While a run goes all three come, through one point. */
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  test_wait (planes_current, session);
  test_wait (window_is_ready, session);
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
  window_save_picture (window, "window-planes.png");

  /* The axis moved: what was made with the old one goes. Back: all three are there again. */
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_peek (slices, LAM_PLANE_ROW) != NULL && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_null (lam_slice_model_peek (slices, LAM_PLANE_ROW));
  window_activate (window, "win.undo");
  test_wait (planes_current, session);

  /* One plane again; its crosshair stays. */
  int64_t row, column, row_again, column_again;
  lam_slice_model_get_mark (slices, &row, &column);
  lam_slice_model_set_all_planes (slices, FALSE);
  g_assert_true (lam_slice_model_get_mark (slices, &row_again, &column_again));
  g_assert_cmpint (row, ==, row_again);
  g_assert_cmpint (column, ==, column_again);
  test_wait (window_is_current, session);
  window_close (window);
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
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autoptr (GError) error = NULL;
  g_autofree char *told = NULL;
  window_fill (window);
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
  g_autofree float *read = g_new (float, WINDOW_SIDE *WINDOW_SIDE);
  g_assert_true (lam_tiff_read_plane (g_file_peek_path (tiff), read, WINDOW_SIDE, WINDOW_SIDE, &error));
  g_assert_cmpmem (read, WINDOW_SIDE * WINDOW_SIDE * sizeof *read, pixels, WINDOW_SIDE * WINDOW_SIDE * sizeof *read);
  g_autoptr (GFile) hdf5 = save_kind (tab, LAM_PICTURE_HDF5, folder, "slice.h5", &told);
  g_autoptr (LamVolume) volume = lam_volume_open (g_file_peek_path (hdf5), NULL, LAM_LAYOUT_FROM_FILE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (volume->rows, ==, WINDOW_SIDE);
  g_assert_cmpint (volume->slices, ==, 1);
  g_assert_cmpstr (volume->units, ==, "1/px");
  g_assert_cmpstr (volume->notes, ==, "slice 0 (counted from 0) of 2 of tooth.h5, iteration 7");
  g_assert_true (lam_volume_read_plane (volume, LAM_VOLUME_SLICE, 0, read, &error));
  g_assert_cmpmem (read, WINDOW_SIDE * WINDOW_SIDE * sizeof *read, pixels, WINDOW_SIDE * WINDOW_SIDE * sizeof *read);

  /* The picture as shown: every pixel of it, the surround left out, and the scale bar in its corner. */
  lam_slice_model_set_level (slices, 10, 20);
  g_autoptr (GFile) plain = NULL, barred = save_kind (tab, LAM_PICTURE_PNG, folder, "bar.png", &told);
  g_object_set (tab, "scale-bar", FALSE, NULL);
  plain = save_kind (tab, LAM_PICTURE_PNG, folder, "plain.png", &told);
  g_autoptr (GdkTexture) with = gdk_texture_new_from_file (barred, &error),
                         without = gdk_texture_new_from_file (plain, &error);
  g_assert_no_error (error);
  int width = gdk_texture_get_width (with), height = gdk_texture_get_height (with);
  g_assert_cmpint (width % WINDOW_SIDE, ==, 0);
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
  window_close (window);
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

static gboolean
has_label (GtkWidget *from, const char *text)
{
  if (GTK_IS_LABEL (from) && g_str_equal (gtk_label_get_text (GTK_LABEL (from)), text))
    return TRUE;
  for (GtkWidget *w = gtk_widget_get_first_child (from); w != NULL; w = gtk_widget_get_next_sibling (w))
    if (has_label (w, text))
      return TRUE;
  return FALSE;
}

static void
test_compare (void)
{
  GtkWidget *window = window_new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamParameterList *list = lam_session_get_parameters (session);
  LamCompareTab *tab = LAM_COMPARE_TAB (window_find (window, LAM_TYPE_COMPARE_TAB));
  LamCompare *compare = lam_compare_tab_get_compare (tab);
  GListModel *sources = lam_compare_get_sources (compare);
  GtkStack *tabs = GTK_STACK (gtk_widget_get_ancestor (GTK_WIDGET (tab), GTK_TYPE_STACK));
  test_wait (window_is_current, session);
  gtk_stack_set_visible_child_name (tabs, "compare");
  test_wait_frames (window, 4);
  g_assert_nonnull (strstr (lam_compare_get_problem (compare), "Run once"));

  /* One result against the live preview, which there is none of while the result is shown. */
  window_run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 2);
  LamSliceModel *a = lam_compare_get_slices (compare, LAM_COMPARE_A),
                *b = lam_compare_get_slices (compare, LAM_COMPARE_B),
                *d = lam_compare_get_slices (compare, LAM_COMPARE_DIFFERENCE);

  /* Two results: A is the older one. */
  lam_parameter_set_value (lam_parameter_list_find (list, "iterations"), g_variant_new_int64 (3), NULL);
  window_run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 3);
  g_assert_true (g_str_has_prefix (lam_compare_source_get_name (lam_compare_get_source (compare, LAM_COMPARE_A)),
                                   "VCD sharpness 1, 1 iteration, COR "));
  g_assert_true (g_str_has_prefix (lam_compare_source_get_name (lam_compare_get_source (compare, LAM_COMPARE_B)),
                                   "VCD sharpness 1 (2), 3 iterations, COR "));
  test_wait (compared, compare);
  check_difference (compare);
  test_wait_frames (window, 6);
  test_wait (compared, compare);
  window_save_picture (window, "window-compare.png");
  AdwStyleManager *style = adw_style_manager_get_default ();
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 30);
  window_save_picture (window, "window-compare-dark.png");
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
  /* Curve and log say whose they are, and the curve that it is not in view. */
  g_assert_true (has_label (window, "Convergence of VCD sharpness 1 (2)"));
  g_assert_true (has_label (window, "Log of VCD sharpness 1 (2)"));
  g_assert_true (lam_session_edit_offset (session, 5, NULL));
  g_assert_true (has_label (window, "Convergence of VCD sharpness 1 (2) · not in view"));
  g_assert_true (has_label (window, "Log of the session"));
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
  window_run_once (window);
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 4);
  g_autoptr (LamCompareSource) third = g_list_model_get_item (sources, 3);
  lam_compare_set_source (compare, LAM_COMPARE_A, third);
  test_wait (has_problem, compare);
  g_assert_nonnull (strstr (lam_compare_get_problem (compare), "voxels of 0.05 mm"));

  /* A result that is removed is no longer compared. */
  lam_session_remove_result (session, lam_results_get (lam_session_get_results (session), 2));
  g_assert_cmpuint (g_list_model_get_n_items (sources), ==, 3);
  test_wait (compared, compare);
  window_close (window);
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
  GtkWidget *window = window_new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamResults *results = lam_session_get_results (session);
  GtkWidget *pane = window_find (window, LAM_TYPE_RESULTS_PANE);
  g_autoptr (GError) error = NULL;
  g_assert_false (gtk_widget_get_visible (pane));
  window_run_once (window);
  lam_parameter_edit (lam_parameter_list_find (lam_session_get_parameters (session), "sharpness"),
                      g_variant_new_double (2), NULL);
  window_run_once (window);
  g_assert_true (gtk_widget_get_visible (pane));
  GtkWidget *row = window_find (pane, LAM_TYPE_RESULT_ROW);
  LamResult *first = lam_result_row_get_result (LAM_RESULT_ROW (row));
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, "VCD sharpness 1");
  g_assert_false (lam_result_get_shown (first));
  g_assert_true (gtk_widget_activate (row));
  test_wait_frames (window, 4);
  g_assert_true (lam_session_get_shown (session) == first);
  test_wait (window_is_current, session);
  lam_result_row_rename (LAM_RESULT_ROW (row));
  test_wait_frames (window, 20);
  window_save_picture (window, "window-results.png");
  GtkWidget *name = window_find (row, GTK_TYPE_ENTRY);
  gtk_editable_set_text (GTK_EDITABLE (name), "Smooth & quick");
  g_signal_emit_by_name (name, "activate");
  test_wait_frames (window, 20);
  g_assert_cmpstr (lam_result_get_name (first), ==, "Smooth & quick");
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, "Smooth &amp; quick");
  lam_session_remove_result (session, first);
  test_wait_frames (window, 4);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  window_activate (window, "win.undo");
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 2);

  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "example.lamina.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (window)), "• example"));
  lam_session_save_session (session, file);
  test_wait (is_stored, session);
  test_wait_frames (window, 4);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (window)), "example"));
  window_close (window);

  /* Opened again, the example is made anew, and the results come with it. */
  window = window_new ();
  session = lam_window_get_session (LAM_WINDOW (window));
  lam_window_open_file (LAM_WINDOW (window), file);
  test_wait (is_stored, session);
  test_wait (window_has_picture, session);
  test_wait (window_is_current, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (session))), ==, 2);
  window_save_picture (window, "window-session.png");
  window_close (window);
  g_assert_true (g_file_delete (file, NULL, NULL));
  g_rmdir (folder);
}

/* First looked at when there is something to compare. */
static void
test_compare_late (void)
{
  GtkWidget *window = window_new_example (1);
  LamCompareTab *tab = LAM_COMPARE_TAB (window_find (window, LAM_TYPE_COMPARE_TAB));
  LamCompare *compare = lam_compare_tab_get_compare (tab);
  GtkStack *tabs = GTK_STACK (gtk_widget_get_ancestor (GTK_WIDGET (tab), GTK_TYPE_STACK));
  test_wait (window_is_current, lam_window_get_session (LAM_WINDOW (window)));
  window_run_once (window);
  window_run_once (window);
  gtk_stack_set_visible_child_name (tabs, "compare");
  test_wait (compared, compare);
  test_wait_frames (window, 4);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (lam_compare_tab_get_view (tab, i))));
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window/three-planes", test_three_planes);
  g_test_add_func ("/window/export", test_export);
  g_test_add_func ("/window/compare", test_compare);
  g_test_add_func ("/window/compare-late", test_compare_late);
  g_test_add_func ("/window/results", test_results);
  return window_test_run ();
}
