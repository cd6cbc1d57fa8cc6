#include "window-util.h"

#include <glib/gstdio.h>
#include <math.h>

#include "application.h"
#include "core/memory.h"
#include "ct/phantom-tooth.h"
#include "io/scan.h"
#include "run/dataset.h"
#include "widget-util.h"

static LamApplication *application; /* one a process */

gboolean
window_init (int *argc, char ***argv)
{
  if (!test_ui_init (argc, argv))
    return FALSE;
  application = lam_application_new ();
  g_application_set_flags (G_APPLICATION (application), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (application), NULL, NULL));
  return TRUE;
}

int
window_test_run (void)
{
  int failed = g_test_run ();
  g_object_unref (application);
  return failed;
}

static LamSnapshot *
tooth (uint64_t generation, int64_t index)
{
  LamSnapshotInfo info = {.generation = generation,
                          .iteration = 7,
                          .plane = LAM_PLANE_SLICE,
                          .index = index,
                          .count = 2,
                          .width = WINDOW_SIDE,
                          .height = WINDOW_SIDE,
                          .pitch_x = 1,
                          .pitch_y = 1,
                          .length_unit = "px",
                          .value_unit = "1/px"};
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  float *pixels = lam_alloc (WINDOW_SIDE * WINDOW_SIDE * sizeof *pixels, "test picture", NULL);
  for (int r = 0; r < WINDOW_SIDE; r++)
    for (int c = 0; c < WINDOW_SIDE; c++) {
      double x = (c - (WINDOW_SIDE - 1) / 2.0) / (WINDOW_SIDE / 2.0),
             y = (r - (WINDOW_SIDE - 1) / 2.0) / (WINDOW_SIDE / 2.0);
      double noise = 0.0004 * (g_rand_double (rand) + g_rand_double (rand) - 1);
      pixels[r * WINDOW_SIDE + c] =
          hypot (x, y) < 1 ? (float) (0.0086 * lam_phantom_tooth (x, y, 0.1, 0.01) + noise) : 0;
    }
  return lam_snapshot_new_take (&info, pixels);
}

static LamGeometry *
scan_geometry (void)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 181, 2, WINDOW_SIDE);
  lam_geometry_set_angles (g, 0, G_PI * 181 / 180);
  lam_geometry_set_center (g, 147.6);
  return g;
}

GtkWidget *
window_new (void)
{
  g_autoptr (LamSession) session = lam_session_new (NULL);
  GtkWidget *window = lam_window_new (ADW_APPLICATION (application), session);
  gtk_window_present (GTK_WINDOW (window));
  test_wait_frames (window, 4);
  return window;
}

void
window_close (GtkWidget *window)
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

void
window_fill (GtkWidget *window)
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

void
window_save_picture (GtkWidget *window, const char *name)
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

void
window_activate (GtkWidget *window, const char *action)
{
  g_assert_true (gtk_widget_activate_action (window, action, NULL));
  test_wait_frames (window, 2);
}

gboolean
window_is_ready (gpointer session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY;
}

gboolean
window_has_picture (gpointer session)
{
  return lam_slice_model_get_snapshot (lam_session_get_slices (session)) != NULL;
}

const LamSnapshotInfo *
window_picture (LamSession *session)
{
  return lam_snapshot_info (lam_slice_model_get_snapshot (lam_session_get_slices (session)));
}

gboolean
window_has_iteration (gpointer session)
{
  return lam_series_get_n_rows (lam_session_get_series (session)) > 0;
}

gboolean
window_is_current (gpointer session)
{
  return window_picture (session)->generation == lam_slice_model_get_generation (lam_session_get_slices (session))
         && window_picture (session)->index == lam_slice_model_get_index (lam_session_get_slices (session))
         && lam_slice_model_is_settled (lam_session_get_slices (session));
}

GtkWidget *
window_new_example (int iterations)
{
  GtkWidget *window = window_new ();
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_activate (window, "win.open-example");
  test_wait (window_is_ready, session);
  test_wait (window_has_picture, session);
  LamParameterList *list = lam_session_get_parameters (session);
  g_assert_true (
      lam_parameter_set_value (lam_parameter_list_find (list, "iterations"), g_variant_new_int64 (iterations), NULL));
  lam_parameter_set_value (lam_parameter_list_find (list, "stop_percent"), g_variant_new_double (0), NULL);
  return window;
}

void
window_run_once (GtkWidget *window)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  test_wait (window_is_ready, session);
}

GtkWidget *
window_find (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = window_find (child, type);
    if (found != NULL)
      return found;
  }
  return NULL;
}

char *
window_write_scan (void)
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

void
window_remove_scan (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_unlink (path);
  g_rmdir (folder);
}
