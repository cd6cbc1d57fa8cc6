/* test-window-cases.c: faults that other CT programs have had in public, as a person with the window alone would meet them. The
 * letter and number of each is that of the list of cases the project keeps; test-cases-ct.c and test-scan.c have the same cases
 * below the window. */
#include <glib/gstdio.h>
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/scan.h"
#include "widget-util.h"
#include "window-util.h"

/* ---- what is opened ---- */

/* -log transmission of @value (view, row, channel). */
static void
write_scan (const char *path, const LamGeometry *g, float (*value) (const LamGeometry *g, int64_t channel))
{
  g_autoptr (GError) error = NULL;
  g_autofree float *y = g_new (float, g->views * g->rows * g->channels);
  for (int64_t i = 0; i < g->views * g->rows * g->channels; i++)
    y[i] = value (g, i % g->channels);
  LamScanData data = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = y};
  lam_scan_write (path, &data, NULL, &error);
  g_assert_no_error (error);
}

/* A centred disc of radius 0.3 of the detector. */
static float
disc (const LamGeometry *g, int64_t channel)
{
  double r = 0.3 * (double) g->channels, s = (double) channel - lam_geometry_center (g);
  return (float) (2 * 0.01 * sqrt (fmax (0, r * r - s * s)));
}

static LamGeometry *
half_turn (int64_t n, double offset)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, n, 1, n);
  lam_geometry_set_angles (g, 0, G_PI);
  g->channel_offset = offset;
  return g;
}

static GError *refused;

static void
failed_cb (LamSession *session, GError *error, gpointer data)
{
  g_clear_error (&refused);
  refused = g_error_copy (error);
}

static gboolean
is_refused (gpointer data)
{
  return refused != NULL;
}

static LamSession *
session_of (GtkWidget *window)
{
  return lam_window_get_session (LAM_WINDOW (window));
}

static GtkWidget *
open_scan (const char *path)
{
  GtkWidget *window = window_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_set_autosave (session_of (window), 0);
  lam_window_open_file (LAM_WINDOW (window), file);
  test_wait (window_is_ready, session_of (window));
  test_wait (window_has_picture, session_of (window));
  test_wait (window_is_current, session_of (window));
  return window;
}

static double
number (GtkWidget *window, const char *id)
{
  return lam_parameter_get_number (lam_parameter_list_find (lam_session_get_parameters (session_of (window)), id));
}

static gboolean
edit (GtkWidget *window, const char *id, GVariant *value, GError **error)
{
  return lam_parameter_edit (lam_parameter_list_find (lam_session_get_parameters (session_of (window)), id), value,
                             error);
}

/* Whether one of the told lines holds @text. */
static gboolean
tells (GtkWidget *window, LamFacts list, const char *text)
{
  GListModel *facts = lam_session_get_facts (session_of (window), list);
  for (guint i = 0; i < g_list_model_get_n_items (facts); i++) {
    g_autoptr (LamFact) f = g_list_model_get_item (facts, i);
    if (lam_fact_get_note (f) != NULL && strstr (lam_fact_get_note (f), text) != NULL)
      return TRUE;
  }
  return FALSE;
}

static gboolean
shows_text (GtkWidget *widget, const char *text)
{
  if (!gtk_widget_get_mapped (widget))
    return FALSE;
  const char *own = GTK_IS_LABEL (widget)         ? gtk_label_get_text (GTK_LABEL (widget))
                    : GTK_IS_INSCRIPTION (widget) ? gtk_inscription_get_text (GTK_INSCRIPTION (widget))
                                                  : NULL;
  if (own != NULL && strstr (own, text) != NULL)
    return TRUE;
  for (GtkWidget *c = gtk_widget_get_first_child (widget); c != NULL; c = gtk_widget_get_next_sibling (c))
    if (shows_text (c, text))
      return TRUE;
  return FALSE;
}

static float *
picture_pixels (GtkWidget *window, int64_t *n)
{
  LamSnapshot *s = lam_slice_model_get_snapshot (lam_session_get_slices (session_of (window)));
  *n = lam_snapshot_info (s)->width * lam_snapshot_info (s)->height;
  return g_memdup2 (lam_snapshot_pixels (s), (gsize) *n * sizeof (float));
}

/* ---- geometry ---- */

static double asked_from;

static gboolean
is_found (gpointer window)
{
  return window_is_ready (session_of (window)) && number (window, "center") != asked_from;
}

/* G1, G3: the centre of rotation is found where it is, the middle (N - 1)/2 and a channel to either side, for an even and an odd
 * detector; the picture is the same each time, and its own mirror image. */
static void
test_center (void)
{
  static const int64_t sizes[] = {64, 63};
  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
    for (int offset = -1; offset <= 1; offset++) {
      g_autoptr (LamGeometry) g = half_turn (sizes[k], offset);
      g_autofree char *path = test_path ("disc.h5");
      write_scan (path, g, disc);
      GtkWidget *window = open_scan (path);
      double worst = 0, most = 0, truth = (double) (sizes[k] - 1) / 2 + offset;
      int64_t n, width = sizes[k];
      asked_from = truth + 3;
      edit (window, "center", g_variant_new_double (asked_from), NULL);
      lam_session_find_center (session_of (window));
      test_wait (is_found, window);
      g_assert_cmpfloat (fabs (number (window, "center") - truth), <, 0.05);
      g_test_message ("%ld channels, axis at %+d: found %.3f", (long) width, offset, number (window, "center"));
      edit (window, "center", g_variant_new_double (truth), NULL);
      test_wait (window_is_current, session_of (window));
      g_autofree float *x = picture_pixels (window, &n);
      g_assert_cmpint (n, ==, width * width);
      for (int64_t i = 0; i < n; i++) {
        most = fmax (most, x[i]);
        worst = fmax (worst, fabs (x[i] - x[i / width * width + width - 1 - i % width]));
      }
      g_assert_cmpfloat (worst, <, 1e-2 * most);
      window_close (window);
      g_unlink (path);
    }
}

/* G4: a detector of 10 and of 9 channels of 1 mm, the axis 3.4 mm off, binned by two. */
static void
test_binning (void)
{
  static const struct {
    int64_t channels;
    double offset;
    int64_t binned;
  } cases[] = {{10, 3.4, 5}, {9, 3.9, 4}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 12, 2, cases[i].channels);
    lam_geometry_set_angles (g, 0, G_PI);
    g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
    g->channel_offset = 3.4;
    g_autofree char *path = test_path ("binned.h5");
    write_scan (path, g, disc);
    GtkWidget *window = open_scan (path);
    /* Found on so few channels it would be anywhere. */
    edit (window, "center", g_variant_new_double ((double) (cases[i].channels - 1) / 2 + 3.4), NULL);
    g_assert_cmpfloat_with_epsilon (lam_session_get_geometry (session_of (window))->channel_offset, 3.4, 1e-9);
    edit (window, "bin", g_variant_new_int64 (2), NULL);
    lam_session_apply_preparation (session_of (window));
    test_wait (window_is_ready, session_of (window));
    const LamGeometry *made = lam_session_get_geometry (session_of (window));
    g_assert_cmpint (made->channels, ==, cases[i].binned);
    g_assert_cmpfloat (made->channel_pitch, ==, 2);
    g_assert_cmpfloat_with_epsilon (made->channel_offset, cases[i].offset, 1e-9);
    window_close (window);
    g_unlink (path);
  }
}

/* G5: a cone nearly parallel over half a turn: what it needs is said where the geometry is. */
static float
nearly_parallel (const LamGeometry *g, int64_t channel)
{
  double u = ((double) channel - 49.5) * 0.46, s = g->source_axis * sin (atan (u / g->source_detector));
  return (float) (2 * 0.02 * sqrt (fmax (0, 144 - s * s)));
}

static void
test_short_scan (void)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_CONE, 100, 1, 100);
  lam_geometry_set_angles (g, 0, G_PI);
  g->channel_pitch = g->row_pitch = 0.46;
  g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
  g->source_detector = 1701;
  g->source_axis = 1625;
  g_autofree char *path = test_path ("short.h5");
  write_scan (path, g, nearly_parallel);
  GtkWidget *window = open_scan (path);
  edit (window, "center", g_variant_new_double (49.5), NULL);
  test_wait_frames (window, 5);
  g_assert_true (tells (window, LAM_FACTS_GEOMETRY, "needs 181.55 degrees (180 + fan 1.55), has 180"));
  g_assert_true (shows_text (window, "needs 181.55 degrees"));
  test_wait (window_is_current, session_of (window));
  /* G6: what cannot be is said at its place, by its name; the geometry and the picture before stay. */
  static const struct {
    const char *id;
    double value;
    const char *word;
  } cases[] = {{"source_detector", 1000, "source_axis"}, /* nearer than the axis */
               {"source_axis", 0, "source_axis"},
               {"source_axis", 2000, "source_axis"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LamSession *session = session_of (window);
    g_autofree float *before = NULL, *after = NULL;
    int64_t n, m;
    before = picture_pixels (window, &n);
    edit (window, cases[i].id, g_variant_new_double (cases[i].value), NULL);
    test_wait_frames (window, 10);
    g_assert_nonnull (lam_session_get_problem (session));
    g_test_message ("%s = %g: %s", cases[i].id, cases[i].value, lam_session_get_problem (session));
    g_assert_nonnull (strstr (lam_session_get_problem (session), cases[i].word));
    g_assert_cmpfloat (lam_session_get_geometry (session)->source_detector, ==, 1701);
    g_assert_cmpfloat (lam_session_get_geometry (session)->source_axis, ==, 1625);
    after = picture_pixels (window, &m);
    g_assert_cmpmem (after, m * sizeof (float), before, n * sizeof (float));
    window_activate (window, "win.undo");
    test_wait_frames (window, 5);
    g_assert_null (lam_session_get_problem (session));
    test_wait (window_is_current, session);
  }
  /* No distance is none: not even typed in. */
  g_autoptr (GError) error = NULL;
  g_assert_true (!edit (window, "source_axis", g_variant_new_double (NAN), &error)
                 || lam_session_get_problem (session_of (window)) != NULL);
  window_close (window);
  g_unlink (path);
}

/* ---- files ---- */

static void
put_frames (hid_t file, const char *path, hsize_t views)
{
  const hsize_t dims[3] = {views, 2, 16};
  g_autofree double *v = g_new (double, views * 32);
  for (hsize_t i = 0; i < views * 32; i++)
    v[i] = 1000 + (double) (i % 7);
  test_put_numbers (file, path, H5T_STD_U16LE, 3, dims, NULL, 0, v);
}

/* @nan_at: -1 for none; @angles: 0 for no data set of them. */
static char *
write_exchange (const char *name, hsize_t views, hsize_t angles, int nan_at)
{
  char *path = test_path (name);
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_frames (file, "/exchange/data", views);
  put_frames (file, "/exchange/data_white", 2);
  if (angles > 0) {
    g_autofree double *theta = g_new (double, angles);
    for (hsize_t i = 0; i < angles; i++)
      theta[i] = (int) i == nan_at ? NAN : 0.35 * (double) i;
    test_put_numbers (file, "/exchange/theta", H5T_IEEE_F64LE, 1, &angles, NULL, 0, theta);
  }
  H5Fclose (file);
  return path;
}

/* F1: counts that disagree and an angle that is none are refused in words, and what was open stays; angles that are absent are
 * put forward on the sheet, and nothing runs before they are confirmed. */
static void
test_counts (void)
{
  static const struct {
    hsize_t angles;
    int nan_at;
    const char *words;
  } cases[] = {{514, -1, "515 projections, 514 angles"}, {515, 321, "321"}};
  GtkWidget *window = window_new_example (1);
  LamSession *session = session_of (window);
  lam_session_set_autosave (session, 0);
  g_autofree char *title = g_strdup (lam_session_get_title (session));
  g_signal_connect (session, "failed", G_CALLBACK (failed_cb), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = write_exchange ("counts.h5", 515, cases[i].angles, cases[i].nan_at);
    g_autoptr (GFile) file = g_file_new_for_path (path);
    g_clear_error (&refused);
    lam_window_open_file (LAM_WINDOW (window), file);
    test_wait (is_refused, NULL);
    g_test_message ("%s", refused->message);
    g_assert_nonnull (strstr (refused->message, cases[i].words));
    test_wait_frames (window, 20);
    g_assert_true (shows_text (window, cases[i].words));
    g_assert_cmpstr (lam_session_get_title (session), ==, title);
    test_wait (window_is_ready, session);
    g_unlink (path);
  }
  window_close (window);

  window = window_new ();
  session = session_of (window);
  g_autofree char *path = write_exchange ("none.h5", 40, 0, -1);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_set_autosave (session, 0);
  lam_window_open_file (LAM_WINDOW (window), file);
  test_wait (window_is_ready, session);
  test_wait_frames (window, 20);
  LamParameterList *sheet = lam_import_get_parameters (lam_session_get_import (session));
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (sheet, "angle_start")), ==, 0);
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (sheet, "angle_stop")), ==, 180);
  gboolean can = TRUE;
  g_action_group_query_action (G_ACTION_GROUP (window), "run", &can, NULL, NULL, NULL, NULL);
  g_assert_false (can && lam_session_has_data (session));
  lam_parameter_set_value (lam_parameter_list_find (sheet, "angles"), g_variant_new_string ("given"), NULL);
  lam_session_import (session);
  test_wait (window_has_picture, session);
  g_assert_cmpfloat_with_epsilon (lam_session_get_geometry (session)->angles[39], G_PI * 39 / 40, 1e-12);
  window_close (window);
  g_unlink (path);
}

/* ---- cancel ---- */

/* K1: stopped after some iterations and kept, the volume is that of a run of so many, bit for bit; discarded, the one before is
 * untouched. */
static void
test_stop (void)
{
  GtkWidget *window = window_new_example (400);
  LamSession *session = session_of (window);
  lam_session_set_autosave (session, 0);
  window_activate (window, "win.run");
  test_wait (window_has_iteration, session);
  window_activate (window, "win.stop-keep");
  test_wait (window_is_ready, session);
  LamResults *results = lam_session_get_results (session);
  const LamReconResult *kept = lam_result_get_recon (lam_results_get (results, 0));
  int done = lam_series_get_n_rows (lam_session_get_series (session));
  gsize bytes = sizeof (float)
                * (gsize) (kept->geometry->recon_rows * kept->geometry->recon_columns * kept->geometry->recon_slices);
  g_autofree float *volume = g_memdup2 (kept->volume, bytes);
  g_test_message ("stopped after %d iterations", done);
  window_activate (window, "win.run");
  test_wait_frames (window, 3);
  window_activate (window, "win.discard");
  test_wait (window_is_ready, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  g_assert_cmpmem (lam_result_get_recon (lam_results_get (results, 0))->volume, bytes, volume, bytes);
  edit (window, "iterations", g_variant_new_int64 (done), NULL);
  window_activate (window, "win.run");
  test_wait_frames (window, 3);
  test_wait (window_is_ready, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpmem (lam_result_get_recon (lam_results_get (results, i))->volume, bytes, volume, bytes);
  window_close (window);
}

/* ---- levels ---- */

static void
show_row (GtkWidget *window, const float *values, int n)
{
  LamSliceModel *slices = lam_session_get_slices (session_of (window));
  LamSnapshotInfo info = *window_picture (session_of (window));
  info.generation = lam_slice_model_get_generation (slices);
  info.width = n;
  info.height = 1;
  float *pixels = lam_alloc ((gsize) n * sizeof *pixels, "test picture", NULL);
  for (int i = 0; i < n; i++)
    pixels[i] = values[i];
  g_assert_true (lam_slice_model_take (slices, lam_snapshot_new_take (&info, pixels)));
  window_activate (window, "win.level-auto");
  test_wait_frames (window, 10);
}

/* V1: levels and values come from what is finite, what is not is counted, and nothing falls over. */
static void
test_levels (void)
{
  GtkWidget *window = window_new ();
  window_fill (window);
  LamSession *session = session_of (window);
  LamSliceModel *slices = lam_session_get_slices (session);
  double low, high;
  show_row (window, (const float[]){0, NAN, 1, INFINITY, -INFINITY}, 5);
  lam_slice_model_get_level (slices, &low, &high);
  g_assert_cmpfloat_with_epsilon (low, 0, 0.01);
  g_assert_cmpfloat_with_epsilon (high, 1, 0.01);
  g_assert_cmpint (window_picture (session)->bad, ==, 3);
  g_assert_cmpfloat (window_picture (session)->low, ==, 0);
  g_assert_cmpfloat (window_picture (session)->high, ==, 1);
  show_row (window, (const float[]){NAN, NAN, NAN}, 3);
  g_assert_cmpint (window_picture (session)->bad, ==, 3);
  g_assert_true (shows_text (window, "no finite value"));
  show_row (window, (const float[]){7, 7, 7, 7}, 4);
  lam_slice_model_get_level (slices, &low, &high);
  g_assert_cmpfloat (low, <, 7);
  g_assert_cmpfloat (high, >, 7);
  lam_session_set_state (session, LAM_SESSION_READY);
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-cases/G1-G3-center", test_center);
  g_test_add_func ("/window-cases/G4-binning", test_binning);
  g_test_add_func ("/window-cases/G5-G6-short-scan", test_short_scan);
  g_test_add_func ("/window-cases/F1-counts", test_counts);
  g_test_add_func ("/window-cases/K1-stop", test_stop);
  g_test_add_func ("/window-cases/V1-levels", test_levels);
  int failed = window_test_run ();
  g_clear_error (&refused);
  test_clean ();
  return failed;
}
