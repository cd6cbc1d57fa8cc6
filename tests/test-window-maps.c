/* test-window-maps.c: the Maps tab by pointer and keys: a dictionary is made, the phantom matched, a voxel clicked and its fit
 * seen, maps saved; and the window closed while such a job goes on. */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "io/hdf5.h"
#include "io/nifti.h"
#include "run/mr-phantom.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static gboolean
model_is_settled (gpointer maps)
{
  return lam_maps_model_is_settled (maps) && lam_map_pictures_is_settled (lam_maps_model_get_pictures (maps));
}

static gboolean
is_drawn (gpointer view)
{
  return lam_slice_view_is_settled (view);
}

static gboolean
is_mapped (gpointer widget)
{
  return gtk_widget_get_mapped (widget) && gtk_widget_get_width (widget) > 0;
}

static LamMapsTab *
open_tab (GtkWidget *window)
{
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequencePage *page = lam_window_get_sequence_page (LAM_WINDOW (window));
  lam_sequence_page_show_tab (page, "maps");
  LamMapsTab *maps = lam_sequence_page_get_maps (page);
  test_wait (is_mapped, maps);
  test_wait (model_is_settled, lam_maps_tab_get_model (maps));
  test_wait_frames (window, 3);
  test_focus_window (window);
  return maps;
}

static void
click (GtkWidget *widget)
{
  int x, y;
  test_wait (is_mapped, widget);
  test_screen_point (widget, gtk_widget_get_width (widget) / 2.0, gtk_widget_get_height (widget) / 2.0, &x, &y);
  test_xdotool ("mousemove %d %d click 1", x, y);
}

static void
press (GtkWidget *window, LamMapsTab *maps, const char *action)
{
  GtkWidget *button = lam_maps_panel_get_button (lam_maps_tab_get_panel (maps), action);
  g_assert_true (gtk_widget_is_sensitive (button));
  click (button);
  test_wait_frames (window, 3);
  test_wait (model_is_settled, lam_maps_tab_get_model (maps));
  test_wait_frames (window, 2);
}

/* The middle of voxel (row, column) of the picture. */
static void
click_voxel (LamSliceView *view, int row, int column)
{
  double wx, wy;
  int x, y;
  lam_slice_view_to_widget (view, column + 0.5, row + 0.5, &wx, &wy);
  test_screen_point (GTK_WIDGET (view), wx, wy, &x, &y);
  test_xdotool ("mousemove %d %d click 1", x, y);
}

static const float *
map_of (LamMapsResult *r, const char *name)
{
  for (int i = 0; i < r->n; i++)
    if (g_str_equal (r->maps[i].name, name))
      return r->maps[i].values;
  g_assert_not_reached ();
}

static gboolean
has_fit (gpointer pictures)
{
  return lam_map_pictures_get_fit (pictures) != NULL;
}

static GtkWindow *
find_window (GType type)
{
  GListModel *windows = gtk_window_get_toplevels ();
  for (guint i = 0; i < g_list_model_get_n_items (windows); i++) {
    g_autoptr (GtkWindow) w = g_list_model_get_item (windows, i);
    if (g_type_is_a (G_OBJECT_TYPE (w), type))
      return w;
  }
  return NULL;
}

#ifndef __SANITIZE_ADDRESS__
static gboolean
has_chooser (gpointer data)
{
  GtkWindow *chooser = find_window (GTK_TYPE_FILE_CHOOSER_DIALOG);
  return chooser != NULL && is_mapped (chooser);
}

static gboolean
file_is_there (gpointer path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* The button, a name typed, Enter. */
static void
save_by_hand (GtkWidget *window, LamMapsTab *maps)
{
  g_autofree char *folder = g_dir_make_tmp ("lamina-maps-XXXXXX", NULL),
                  *path = g_build_filename (folder, "by-hand.h5", NULL);
  click (lam_maps_panel_get_button (lam_maps_tab_get_panel (maps), "maps.save"));
  test_wait (has_chooser, NULL);
  GtkWidget *chooser = GTK_WIDGET (find_window (GTK_TYPE_FILE_CHOOSER_DIALOG));
  test_focus_window (chooser);
  test_wait_frames (chooser, 5);
  test_xdotool ("key ctrl+a");
  test_xdotool ("type --delay 20 %s", path);
  test_xdotool ("key Return");
  test_wait (file_is_there, path);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamH5File) h5 = lam_h5_open (path, &error);
  g_assert_no_error (error);
  g_assert_true (lam_h5_exists (h5, "/maps/T1"));
  g_unlink (path);
  g_rmdir (folder);
  test_focus_window (window);
}
#endif

static void
test_match (void)
{
  GtkWidget *window = window_new ();
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to press keys and move the pointer with");
    window_close (window);
    return;
  }
  LamMapsTab *maps = open_tab (window);
  LamMapsModel *model = lam_maps_tab_get_model (maps);
  LamMapPictures *pictures = lam_maps_model_get_pictures (model);
  LamSliceModel *slices = lam_map_pictures_get_slices (pictures);
  gboolean refused;
  g_assert_nonnull (lam_maps_model_get_forecast (model, &refused));
  g_assert_false (refused);
  window_save_picture (window, "maps-empty.png");

  press (window, maps, "maps.make");
  g_assert_nonnull (lam_maps_model_get_dictionary (model));
  press (window, maps, "maps.phantom");
  g_assert_nonnull (lam_maps_model_get_series (model));
  press (window, maps, "maps.match");
  LamMapsResult *r = lam_map_pictures_get_result (pictures);
  g_assert_nonnull (r);

  /* A click on the middle disc shows what is there: near what the phantom was made of. */
  LamSliceView *view = lam_maps_tab_get_slice_view (maps);
  test_wait (is_drawn, view);
  click_voxel (view, 32, 30);
  test_wait (has_fit, pictures);
  test_wait (model_is_settled, model);
  const LamVoxelFit *fit = lam_map_pictures_get_fit (pictures);
  LamMrPhantomTruth truth = lam_mr_phantom_truth (1, 32, 30);
  g_assert_cmpint (fit->row, ==, 32);
  g_assert_cmpint (fit->column, ==, 30);
  g_assert_cmpint (fit->slice, ==, 1);
  double t1 = map_of (r, "T1")[fit->voxel];
  g_assert_cmpfloat (fabs (t1 / truth.t1 - 1), <, 0.07);
  g_autofree char *said = g_strdup_printf ("T1 %.4g ms", t1);
  const char *text = lam_voxel_card_get_text (lam_maps_tab_get_voxel_card (maps));
  g_test_message ("%s", text);
  g_assert_nonnull (strstr (text, said));
  test_wait_frames (window, 3);
  window_save_picture (window, "maps-voxel.png");

  /* Outside of the discs it is said why there is nothing, without a unit; that is no bad value. */
  lam_slice_model_set_cursor (slices, 0, 0);
  g_autofree char *absent = lam_slice_model_describe_cursor (slices);
  g_assert_cmpstr (absent, ==, "row 0 col 0 · not matched: all its samples are zero");
  lam_slice_model_unset_cursor (slices);
  g_assert_false (lam_slice_model_mark_next_bad (slices));

  /* Keys move the crosshair, and the wheel the slice; the fit follows. */
  gtk_widget_grab_focus (GTK_WIDGET (view));
  test_xdotool ("key shift+Down");
  test_wait_frames (window, 3);
  test_wait (model_is_settled, model);
  g_assert_cmpint (lam_map_pictures_get_fit (pictures)->row, ==, 33);
  test_xdotool ("click 5");
  test_wait_frames (window, 3);
  test_wait (model_is_settled, model);
  g_assert_cmpint (lam_slice_model_get_index (slices), ==, 2);
  g_assert_cmpint (lam_map_pictures_get_fit (pictures)->slice, ==, 2);

  /* Another map, with a look of its own; the one left keeps the level that it was given. */
  lam_slice_model_set_level (slices, 500, 1500);
  click (lam_maps_tab_get_map_button (maps, "T2"));
  test_wait_frames (window, 3);
  test_wait (model_is_settled, model);
  g_assert_cmpstr (lam_map_pictures_get_chosen (pictures)->name, ==, "T2");
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_NAVIA);
  float shown;
  g_assert_true (lam_slice_model_get_value (slices, 33, 30, &shown));
  g_assert_cmpfloat (shown, ==, map_of (r, "T2")[lam_maps_series_voxel (r->series, 2, 33, 30)]);
  click (lam_maps_tab_get_map_button (maps, "T1"));
  test_wait_frames (window, 3);
  double low, high;
  lam_slice_model_get_level (slices, &low, &high);
  g_assert_cmpfloat (low, ==, 500);
  g_assert_cmpfloat (high, ==, 1500);
  click (lam_maps_tab_get_map_button (maps, "phase"));
  test_wait_frames (window, 3);
  test_wait (model_is_settled, model);
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 5);
  window_save_picture (window, "maps-dark.png");
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_DEFAULT);

  /* Another train: in words. */
  g_assert_false (lam_maps_model_is_stale (model));
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "20 + n/50", 500, NULL));
  test_wait_frames (window, 3);
  g_assert_true (lam_maps_model_is_stale (model));

#ifndef __SANITIZE_ADDRESS__ /* GTK forgets what its chooser listed, by way of threads that no suppression names */
  save_by_hand (window, maps);
#endif

  /* Saved maps are the maps. */
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-maps-XXXXXX", NULL),
                  *path = g_build_filename (folder, "maps", NULL);
  g_assert_true (lam_maps_model_save_maps (model, path, &error));
  for (gboolean failed; g_str_has_suffix (lam_maps_model_get_saved (model, &failed), "…");)
    test_wait_frames (window, 1);
  for (int i = 0; i < r->n; i++) {
    g_autofree char *name = g_strconcat (r->maps[i].name, ".nii.gz", NULL), *at = g_build_filename (path, name, NULL);
    g_autoptr (LamNifti) nifti = lam_nifti_open (at, &error);
    g_assert_no_error (error);
    g_assert_cmpint (nifti->voxels, ==, r->match.voxels);
    g_autofree float *read = g_new (float, nifti->voxels);
    g_assert_true (lam_nifti_read (nifti, read, NULL, NULL, &error));
    g_assert_cmpmem (read, nifti->voxels * sizeof *read, r->maps[i].values, nifti->voxels * sizeof *read);
    g_unlink (at);
  }
  g_rmdir (path);
  g_rmdir (folder);
  window_close (window);
}

/* One button does all three; a typed range is undone. */
static void
test_try (void)
{
  GtkWidget *window = window_new ();
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to press keys and move the pointer with");
    window_close (window);
    return;
  }
  LamMapsTab *maps = open_tab (window);
  LamMapsModel *model = lam_maps_tab_get_model (maps);
  LamParameter *p = lam_parameter_list_find (lam_maps_model_get_parameters (model), "T1");
  g_assert_true (lam_parameter_edit (p, g_variant_new_string ("300:2500:20"), NULL));
  test_xdotool ("key ctrl+z");
  test_wait_frames (window, 3);
  g_assert_cmpstr (lam_parameter_get_text (p), ==, "200:3000:60");
  GtkWidget *page = window_find (GTK_WIDGET (maps), ADW_TYPE_STATUS_PAGE);
  click (adw_status_page_get_child (ADW_STATUS_PAGE (page)));
  for (int i = 0; i < 600 && lam_map_pictures_get_result (lam_maps_model_get_pictures (model)) == NULL; i++)
    test_wait_frames (window, 1);
  g_assert_nonnull (lam_map_pictures_get_result (lam_maps_model_get_pictures (model)));
  window_close (window);
}

static void
gone_cb (gpointer gone, GObject *window)
{
  *(gboolean *) gone = TRUE;
}

static gboolean
is_true (gpointer value)
{
  return *(gboolean *) value;
}

/* While a dictionary is made the window asks; dropped, it ends with nothing left behind. */
static void
test_close_busy (void)
{
  GtkWidget *window = window_new ();
  LamMapsTab *maps = open_tab (window);
  LamMapsModel *model = lam_maps_tab_get_model (maps);
  gboolean gone = FALSE;
  g_autoptr (LamSession) session = g_object_ref (lam_window_get_session (LAM_WINDOW (window)));
  lam_parameter_set_value (lam_parameter_list_find (lam_maps_model_get_parameters (model), "T1"),
                           g_variant_new_string ("200:3000:2000"), NULL);
  lam_parameter_set_value (lam_parameter_list_find (lam_maps_model_get_parameters (model), "T2"),
                           g_variant_new_string ("10:300:400"), NULL);
  g_assert_true (lam_maps_model_make_dictionary (model, NULL));
  gtk_window_close (GTK_WINDOW (window));
  test_wait_frames (window, 3);
  GtkWindow *dialog = find_window (ADW_TYPE_MESSAGE_DIALOG);
  g_assert_nonnull (dialog);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  gtk_window_destroy (dialog);
  test_wait_frames (window, 3);
  g_assert_true (lam_maps_model_is_busy (model));
  gtk_window_close (GTK_WINDOW (window));
  test_wait_frames (window, 3);
  dialog = find_window (ADW_TYPE_MESSAGE_DIALOG);
  g_assert_nonnull (dialog);
  g_object_weak_ref (G_OBJECT (window), gone_cb, &gone);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "discard");
  gtk_window_destroy (dialog);
  test_wait (is_true, &gone);
  g_assert_finalize_object (g_steal_pointer (&session));
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-maps/match", test_match);
  g_test_add_func ("/window-maps/try", test_try);
  g_test_add_func ("/window-maps/close-busy", test_close_busy);
  return window_test_run ();
}
