/* The session without a window, against the command line: tilt, devices, a scan without angles, results of jobs. */
#include <math.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <hdf5.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utime.h>

#include "cli-util.h"
#include "core/error.h"
#include "core/memory.h"
#include "model/before-after.h"
#include "model/run-job.h"
#include "model/session-file.h"
#include "model/session.h"
#include "model/sweep-model.h"
#include "run/job.h"

static gboolean
slow_cb (gpointer data)
{
  g_error ("waited twenty seconds for nothing");
  return G_SOURCE_REMOVE;
}

static void
wait_for (gboolean (*done) (LamSession *), LamSession *session)
{
  guint alarm = g_timeout_add_seconds (20, slow_cb, NULL);
  while (!done (session))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (alarm);
}

static gboolean
has_data (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY && lam_session_has_data (session);
}

static gboolean
asks (LamSession *session)
{
  LamQuestion kind;
  return lam_session_get_question (session, &kind) != NULL;
}

static gboolean
is_ready (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY;
}

static gboolean
is_busy_opening (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_OPENING;
}

static gboolean
is_saved (LamSession *session)
{
  return !lam_session_has_unsaved (session);
}

static gboolean
is_current (LamSession *session)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  LamSnapshot *shot = lam_slice_model_get_snapshot (slices);
  return shot != NULL && lam_snapshot_info (shot)->generation == lam_slice_model_get_generation (slices);
}

static void
failed_cb (LamSession *session, GError *error, gpointer data)
{
  g_error ("failed: %s", error->message);
}

static LamSession *
open_scan (const char *name)
{
  LamSession *session = lam_session_new (NULL);
  g_autofree char *path = cli_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_signal_connect (session, "failed", G_CALLBACK (failed_cb), NULL);
  lam_session_open (session, file);
  return session;
}

/* Nobody else has it, once a look into the state folder that is still under way has come back. */
static void
assert_ends (LamSession *session)
{
  for (int i = 0; i < 400 && G_OBJECT (session)->ref_count > 1; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_assert_finalize_object (session);
}

static LamParameter *
parameter (LamSession *session, const char *id)
{
  return lam_parameter_list_find (lam_session_get_parameters (session), id);
}

static void
set (LamSession *session, const char *id, GVariant *value)
{
  g_autoptr (GError) error = NULL;
  lam_parameter_edit (parameter (session, id), value, &error);
  g_assert_no_error (error);
}

/* Runs and saves; the file's checksum. */
static char *
run_and_save (LamSession *session, const char *name)
{
  g_autofree char *path = cli_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_run (session);
  wait_for (is_ready, session);
  g_assert_true (lam_session_can_save (session));
  lam_session_save (session, file);
  wait_for (is_saved, session);
  return cli_checksum (path);
}

static char *
line_checksum (const char *options)
{
  cli_run_free (cli_ok ("reconstruct %s --iterations 2 -o line.h5", options));
  return cli_checksum ("line.h5");
}

/* The live slice follows a tilt, and a run has the data turned as the command line turns them, on any devices. */
static void
test_tilt (void)
{
  LamSession *session = open_scan ("scan.h5");
  LamSliceModel *slices = lam_session_get_slices (session);
  wait_for (has_data, session);
  set (session, "iterations", g_variant_new_int64 (2));
  set (session, "center", g_variant_new_double (33));
  wait_for (is_current, session);
  LamSnapshot *before = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  set (session, "tilt", g_variant_new_double (1.5));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_get_snapshot (slices) == before && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_true (lam_slice_model_get_snapshot (slices) != before);
  lam_snapshot_unref (before);

  g_autofree char *tilted = run_and_save (session, "tilted.h5");
  g_autofree char *line = line_checksum ("scan.h5 --center 33 --tilt 1.5");
  g_assert_cmpstr (tilted, ==, line);

  set (session, "devices", g_variant_new_string ("3xcpu"));
  g_autofree char *three = run_and_save (session, "three.h5");
  g_assert_cmpstr (three, ==, line);

  /* Upright again: the picture is live, and the next run is the plain one. */
  set (session, "tilt", g_variant_new_double (0));
  wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, LAM_ITERATION_LIVE);
  g_autofree char *upright = run_and_save (session, "upright.h5");
  g_autofree char *plain = line_checksum ("scan.h5 --center 33");
  g_assert_cmpstr (upright, ==, plain);
  g_assert_cmpstr (upright, !=, tilted);
  g_object_unref (session);
}

/* The memory of a run with turned data is that of its plan: the upright data stay, the turned ones go to the devices. */
static void
test_tilt_memory (void)
{
  g_autoptr (GError) error = NULL;
  LamScanOptions options = LAM_SCAN_OPTIONS_INIT;
  LamPrepareParams prepare;
  lam_prepare_params_init (&prepare);
  for (int i = 0; i < 12; i++) {
    g_autofree char *path = cli_path ("scan.h5");
    g_autoptr (LamScan) scan = lam_scan_open (path, &options, &error);
    g_autoptr (LamDataset) d = i % 2 ? lam_dataset_example (LAM_GEOMETRY_PARALLEL, 64, NULL, &error)
                                     : lam_dataset_load (scan, &prepare, NULL, &error);
    g_assert_no_error (error);
    LamReconParams params;
    lam_recon_params_init (&params);
    params.method = i / 2 % 2 ? LAM_METHOD_DIRECT : LAM_METHOD_VCD;
    params.iterations = 2;
    params.devices = (char *) (i < 4 ? "1xcpu" : i < 8 ? "2xcpu" : "3xcpu");
    int64_t held = lam_memory_bytes ();
    LamJob *job = lam_run_job_new (d, d->geometry, &options, NULL, 0.02, &params);
    lam_job_start (job);
    lam_job_join (job);
    LamReconResult *r = lam_job_get_result (job);
    g_assert_nonnull (r);
    g_test_message ("%s, %s, %s: held %" G_GINT64_FORMAT ", planned %" G_GINT64_FORMAT, d->name,
                    params.method == LAM_METHOD_VCD ? "VCD" : "direct", params.devices, r->peak_bytes, r->plan_bytes);
    g_assert_cmpint (r->peak_bytes * 100, <=, r->plan_bytes * 102);
    g_assert_cmpint (r->peak_bytes * 100, >=, r->plan_bytes * 98);
    for (int k = 0; k < 400 && G_OBJECT (job)->ref_count > 1; k++) { /* word of its end is still on its way */
      g_main_context_iteration (NULL, FALSE);
      g_usleep (5000);
    }
    g_assert_finalize_object (job);
    g_assert_cmpint (lam_memory_bytes (), ==, held);
  }
}

static gboolean
never (gpointer data)
{
  return G_SOURCE_REMOVE;
}

/* Lets what is on its way arrive. */
static void
let_settle (void)
{
  for (int i = 0; i < 60; i++) {
    guint source = g_timeout_add (5, never, NULL);
    g_main_context_iteration (NULL, TRUE);
    if (g_main_context_find_source_by_id (NULL, source) != NULL)
      g_source_remove (source);
  }
}

/* Finished runs stay side by side: shown again with axis, curve and log; renamed; removed, and back by undo. */
static void
test_results (void)
{
  LamSession *session = open_scan ("scan.h5");
  LamSliceModel *slices = lam_session_get_slices (session);
  LamSeries *series = lam_session_get_series (session);
  LamUndo *undo = lam_session_get_undo (session);
  LamResults *results = lam_session_get_results (session);
  GListModel *jobs = G_LIST_MODEL (lam_session_get_queue (session));
  wait_for (has_data, session);
  set (session, "iterations", g_variant_new_int64 (3));
  set (session, "stop_percent", g_variant_new_double (0));
  set (session, "center", g_variant_new_double (33));
  g_free (run_and_save (session, "first.h5"));
  set (session, "iterations", g_variant_new_int64 (2));
  set (session, "sharpness", g_variant_new_double (2.5));
  set (session, "center", g_variant_new_double (30));
  lam_session_run (session);
  wait_for (is_ready, session);
  g_assert_cmpuint (g_list_model_get_n_items (jobs), ==, 0);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 2);
  LamResult *first = g_object_ref (lam_results_get (results, 0)), *second = lam_results_get (results, 1);
  g_assert_cmpstr (lam_result_get_name (first), ==, "VCD sharpness 1");
  g_assert_cmpstr (lam_result_get_name (second), ==, "VCD sharpness 2.5");
  g_assert_true (lam_result_get_safe (first));
  g_assert_false (lam_result_get_safe (second));
  g_assert_true (lam_session_has_unsaved (session));
  g_assert_true (lam_session_get_shown (session) == second);
  double sharpness = 0;
  g_assert_true (g_variant_lookup (lam_result_get_parameters (second), "sharpness", "d", &sharpness));
  g_assert_cmpfloat (sharpness, ==, 2.5);

  lam_session_show_result (session, first);
  g_assert_true (lam_session_get_shown (session) == first && lam_result_get_shown (first)
                 && !lam_result_get_shown (second));
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 33);
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 3);
  g_assert_nonnull (strstr (lam_session_get_log (session), "iteration 3"));
  wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, 3);
  lam_session_show_result (session, second);
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 2);
  g_assert_null (strstr (lam_session_get_log (session), "iteration 3"));
  lam_session_show_result (session, first);

  /* The axis moved away and back: live, and the result again. */
  set (session, "center", g_variant_new_double (31));
  g_assert_null (lam_session_get_shown (session));
  set (session, "center", g_variant_new_double (33));
  g_assert_true (lam_session_get_shown (session) == first);

  lam_session_use_parameters (session, second);
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "sharpness")), ==, 2.5);
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 30);
  g_assert_true (lam_undo_undo (undo));
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 33);

  g_assert_true (lam_result_rename (first, " with a name "));
  g_assert_cmpstr (lam_result_get_name (first), ==, "with a name");
  g_assert_false (lam_result_rename (first, "  "));
  lam_undo_undo (undo);
  g_assert_cmpstr (lam_result_get_name (first), ==, "VCD sharpness 1");
  lam_undo_redo (undo);
  g_assert_cmpstr (lam_result_get_name (first), ==, "with a name");

  lam_session_remove_result (session, first);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  g_assert_null (lam_session_get_shown (session));
  g_assert_false (lam_session_can_show (session, first));
  wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, LAM_ITERATION_LIVE);
  lam_undo_undo (undo);
  g_assert_true (lam_results_get (results, 0) == first);
  lam_session_show_result (session, first);
  lam_session_remove_result (session, first);
  /* Nobody can want it back: its memory goes. */
  int64_t held = lam_memory_bytes ();
  lam_undo_clear (undo);
  wait_for (is_current, session);
  let_settle ();
  g_assert_finalize_object (first);
  g_assert_cmpint (lam_memory_bytes (), <=, held - 64 * 64 * 8 * 4);

  /* Another scan: the results of this one go with it. */
  g_autofree char *path = cli_path ("scan.h5"), *out = cli_path ("second.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path), saved = g_file_new_for_path (out);
  lam_session_save_result (session, second, saved);
  wait_for (is_saved, session);
  lam_session_open (session, file);
  wait_for (has_data, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 0);
  g_object_unref (session);
}

/* -- the session as a file -- */

static gboolean
is_stored (LamSession *session)
{
  return lam_session_get_home (session) != NULL && !lam_session_get_modified (session);
}

static void
assert_same_recon (const LamReconResult *a, const LamReconResult *b)
{
  const LamGeometry *g = a->geometry, *h = b->geometry;
  LamGeometry plain[2] = {*g, *h};
  for (int i = 0; i < 2; i++)
    plain[i].angles = plain[i].shifts = NULL;
  g_assert_cmpmem (&plain[0], sizeof *g, &plain[1], sizeof *h);
  g_assert_cmpmem (g->angles, g->views * sizeof *g->angles, h->angles, h->views * sizeof *h->angles);
  g_assert_cmpmem (a->volume, g->recon_rows * g->recon_columns * g->recon_slices * 4, b->volume,
                   h->recon_rows * h->recon_columns * h->recon_slices * 4);
  g_assert_cmpuint (a->iterations->len, ==, b->iterations->len);
  g_assert_cmpmem (a->iterations->data, a->iterations->len * sizeof (LamReconIteration), b->iterations->data,
                   b->iterations->len * sizeof (LamReconIteration));
  g_assert_cmpstr (a->log->str, ==, b->log->str);
  g_assert_cmpmem (&a->regularization, sizeof a->regularization, &b->regularization, sizeof b->regularization);
  g_autofree char *mine = lam_recon_params_json (&a->params), *its = lam_recon_params_json (&b->params);
  g_assert_cmpstr (mine, ==, its);
  g_assert_cmpmem (&a->sigma_x, sizeof (double), &b->sigma_x, sizeof (double));
  g_assert_cmpint (a->made.stamp.mtime_ns, ==, b->made.stamp.mtime_ns);
  g_assert_cmpint (a->made.counted.samples, ==, b->made.counted.samples);
  g_assert_cmpstr (a->made.center_from, ==, b->made.center_from);
  g_assert_cmpint (a->n_devices, ==, b->n_devices);
  for (int d = 0; d < a->n_devices; d++)
    g_assert_cmpmem (&a->devices[d], sizeof *a->devices, &b->devices[d], sizeof *b->devices);
}

static void
assert_same_session (LamSession *a, LamSession *b)
{
  g_autoptr (GVariant) mine = lam_parameter_list_save (lam_session_get_parameters (a)),
                       its = lam_parameter_list_save (lam_session_get_parameters (b));
  g_assert_cmpmem (g_variant_get_data (mine), g_variant_get_size (mine), g_variant_get_data (its),
                   g_variant_get_size (its));
  GListModel *list = G_LIST_MODEL (lam_session_get_parameters (a));
  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (list, i);
    LamParameter *q = parameter (b, lam_parameter_get_id (p));
    g_assert_cmpint (lam_parameter_get_changed (p), ==, lam_parameter_get_changed (q));
    if (!g_str_equal (lam_parameter_get_id (p), "devices"))
      g_assert_cmpstr (lam_parameter_get_note (p), ==, lam_parameter_get_note (q));
  }
  LamResults *r = lam_session_get_results (a), *s = lam_session_get_results (b);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (r)), ==, g_list_model_get_n_items (G_LIST_MODEL (s)));
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (r)); i++) {
    LamResult *x = lam_results_get (r, i), *y = lam_results_get (s, i);
    g_assert_cmpstr (lam_result_get_name (x), ==, lam_result_get_name (y));
    g_assert_true (g_variant_equal (lam_result_get_parameters (x), lam_result_get_parameters (y)));
    g_assert_cmpfloat (lam_result_get_tilt_degrees (x), ==, lam_result_get_tilt_degrees (y));
    g_assert_cmpint (lam_result_get_shown (x), ==, lam_result_get_shown (y));
    assert_same_recon (lam_result_get_recon (x), lam_result_get_recon (y));
  }
  g_assert_cmpint (lam_session_get_unapplied (a), ==, lam_session_get_unapplied (b));
  LamSliceModel *v = lam_session_get_slices (a), *w = lam_session_get_slices (b);
  double level[2][2];
  lam_slice_model_get_level (v, &level[0][0], &level[0][1]);
  lam_slice_model_get_level (w, &level[1][0], &level[1][1]);
  g_assert_cmpint (lam_slice_model_get_plane (v), ==, lam_slice_model_get_plane (w));
  g_assert_cmpint (lam_slice_model_get_index (v), ==, lam_slice_model_get_index (w));
  g_assert_cmpint (lam_slice_model_get_colour_map (v), ==, lam_slice_model_get_colour_map (w));
  g_assert_cmpint (lam_slice_model_get_inverted (v), ==, lam_slice_model_get_inverted (w));
  if (!lam_slice_model_get_auto_level (v))
    g_assert_cmpmem (level[0], sizeof level[0], level[1], sizeof level[1]);
}

/* A session with two results, one of them saved in a file of its own, and edits since. */
static LamSession *
rich_session (void)
{
  LamSession *session = open_scan ("scan.h5");
  wait_for (has_data, session);
  set (session, "stop_percent", g_variant_new_double (0));
  set (session, "iterations", g_variant_new_int64 (3));
  set (session, "center", g_variant_new_double (33.37));
  set (session, "tilt", g_variant_new_double (0.1 + 0.2));
  set (session, "crop", g_variant_new_string ("part"));
  set (session, "crop_channel_first", g_variant_new_int64 (2));
  set (session, "stripes", g_variant_new_string ("sorting"));
  g_free (run_and_save (session, "linked.h5"));
  set (session, "method", g_variant_new_string ("fbp"));
  lam_session_run (session);
  wait_for (is_ready, session);
  g_assert_true (lam_result_rename (lam_results_get (lam_session_get_results (session), 1), "Straight ½ \"back\""));
  set (session, "sharpness", g_variant_new_double (-1.5));
  set (session, "positivity", g_variant_new_boolean (TRUE));
  set (session, "source_axis", g_variant_new_double (1 / 3.0));
  LamSliceModel *slices = lam_session_get_slices (session);
  lam_slice_model_set_index (slices, 5);
  lam_slice_model_set_plane (slices, LAM_PLANE_ROW);
  lam_slice_model_set_index (slices, 17);
  lam_slice_model_set_level (slices, -0.0031, 0.0177);
  lam_slice_model_set_colour_map (slices, LAM_COLOUR_MAP_VIRIDIS);
  return session;
}

static LamSession *
open_session (const char *path)
{
  LamSession *session = lam_session_new (NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_open (session, file);
  return session;
}

static void
test_file (void)
{
  LamSession *session = rich_session ();
  g_autofree char *path = cli_path ("tooth.lamina.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_assert_true (lam_session_get_modified (session) && lam_session_has_unsaved (session));
  lam_session_save_session (session, file);
  wait_for (is_stored, session);
  g_assert_false (lam_session_has_unsaved (session));

  LamSession *other = open_session (path);
  g_signal_connect (other, "failed", G_CALLBACK (failed_cb), NULL);
  wait_for (has_data, other);
  assert_same_session (session, other);
  g_assert_cmpstr (lam_session_get_home (other), ==, path);
  g_assert_false (lam_session_get_modified (other));
  g_assert_false (lam_undo_can_undo (lam_session_get_undo (other)));
  /* No search for the centre moves what was saved; and the first result is a link. */
  let_settle ();
  assert_same_session (session, other);
  g_assert_cmpint (lam_result_get_place (lam_results_get (lam_session_get_results (other), 0)), ==, LAM_VOXELS_SAVED);
  g_assert_cmpint (lam_result_get_place (lam_results_get (lam_session_get_results (other), 1)), ==, LAM_VOXELS_INSIDE);
  /* The other plane is where it was, too. */
  lam_slice_model_set_plane (lam_session_get_slices (other), LAM_PLANE_SLICE);
  g_assert_cmpint (lam_slice_model_get_index (lam_session_get_slices (other)), ==, 5);
  set (other, "sharpness", g_variant_new_double (0.5));
  g_assert_true (lam_session_get_modified (other));
  lam_undo_undo (lam_session_get_undo (other));
  g_assert_false (lam_session_get_modified (other));
  g_object_unref (other);

  /* The file with the link is gone: all but its voxels is there, and why is said. */
  g_autofree char *linked = cli_path ("linked.h5"), *away = cli_path ("away.h5");
  g_assert_cmpint (rename (linked, away), ==, 0);
  other = open_session (path);
  wait_for (has_data, other);
  LamResult *gone = lam_results_get (lam_session_get_results (other), 0);
  g_assert_nonnull (strstr (lam_result_get_problem (gone), "linked.h5"));
  g_assert_cmpuint (lam_result_get_recon (gone)->iterations->len, ==, 3);
  g_assert_false (lam_session_can_show (other, gone));
  g_object_unref (other);
  g_assert_cmpint (rename (away, linked), ==, 0);
  g_object_unref (session);
}

/* A scan that moved is found beside the session, or asked for; one that changed is told. */
static void
test_moved (void)
{
  LamQuestion kind;
  LamSession *session = open_scan ("scan.h5");
  g_autofree char *path = cli_path ("moved.lamina.h5"), *scan = cli_path ("scan.h5"), *folder = cli_path ("elsewhere");
  g_autofree char *away = g_build_filename (folder, "other-name.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path), there = g_file_new_for_path (away);
  wait_for (has_data, session);
  set (session, "center", g_variant_new_double (31.25));
  lam_session_save_session (session, file);
  wait_for (is_stored, session);
  g_object_unref (session);

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_cmpint (rename (scan, away), ==, 0);
  session = open_session (path);
  wait_for (asks, session);
  g_assert_nonnull (strstr (lam_session_get_question (session, &kind), "scan.h5"));
  g_assert_cmpint (kind, ==, LAM_QUESTION_LOCATE);
  lam_session_locate_scan (session, there);
  wait_for (has_data, session);
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 31.25);
  g_object_unref (session);
  g_assert_cmpint (rename (away, scan), ==, 0);

  /* Both moved together: the relative path holds. */
  g_autofree char *moved = g_build_filename (folder, "moved.lamina.h5", NULL);
  g_autofree char *scan_too = g_build_filename (folder, "scan.h5", NULL);
  g_assert_cmpint (rename (path, moved), ==, 0);
  g_assert_cmpint (rename (scan, scan_too), ==, 0);
  session = open_session (moved);
  wait_for (has_data, session);
  g_assert_cmpstr (lam_session_get_scan_path (session), ==, scan_too);
  g_object_unref (session);
  g_assert_cmpint (rename (moved, path), ==, 0);
  g_assert_cmpint (rename (scan_too, scan), ==, 0);

  g_utime (scan, NULL);
  session = open_session (path);
  wait_for (asks, session);
  lam_session_get_question (session, &kind);
  g_assert_cmpint (kind, ==, LAM_QUESTION_CHANGED);
  lam_session_answer (session, TRUE);
  wait_for (has_data, session);
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 31.25);
  g_object_unref (session);
}

static void
remember_cb (LamSession *session, GError *error, GError **seen)
{
  g_clear_error (seen);
  *seen = g_error_copy (error);
}

static gboolean
no_store (LamSession *session)
{
  return g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_queue (session))) == 0;
}

/* A full disk at any point: told, and the old file is whole. The limit on a file's size stands for the disk. */
static void
test_full (void)
{
  LamSession *session = rich_session ();
  g_autofree char *path = cli_path ("full.lamina.h5"), *old = NULL, *now = NULL;
  g_autoptr (GFile) file = g_file_new_for_path (path);
  gsize n = 0, m = 0;
  struct rlimit whole, small;
  lam_session_save_session (session, file);
  wait_for (is_stored, session);
  g_assert_true (g_file_get_contents (path, &old, &n, NULL));
  set (session, "sharpness", g_variant_new_double (4));
  g_autoptr (GError) seen = NULL;
  g_signal_handlers_disconnect_by_func (session, failed_cb, NULL);
  g_signal_connect (session, "failed", G_CALLBACK (remember_cb), &seen);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &whole);
  for (gsize limit = 0; limit < n; limit += n / 7) {
    for (int reserve = 0; reserve < 2; reserve++) {
      lam_atomic_set_reserve (reserve);
      small = (struct rlimit){limit, whole.rlim_max};
      setrlimit (RLIMIT_FSIZE, &small);
      lam_session_save_session (session, file);
      wait_for (no_store, session);
      setrlimit (RLIMIT_FSIZE, &whole);
      lam_atomic_set_reserve (TRUE);
      g_assert_error (seen, LAM_ERROR, LAM_ERROR_IO);
      if (limit == 0 && reserve)
        g_test_message ("says: %s", seen->message);
      g_clear_error (&seen);
      g_free (g_steal_pointer (&now));
      g_assert_true (g_file_get_contents (path, &now, &m, NULL));
      g_assert_cmpmem (old, n, now, m);
      g_assert_true (lam_session_get_modified (session));
    }
  }
  /* Cancelled: the same. */
  lam_session_save_session (session, file);
  g_autoptr (LamJob) job = g_list_model_get_item (G_LIST_MODEL (lam_session_get_queue (session)), 0);
  lam_job_cancel (job);
  wait_for (no_store, session);
  g_assert_no_error (seen);
  LamSession *other = open_session (path);
  wait_for (has_data, other);
  g_object_unref (other);
  lam_session_save_session (session, file);
  wait_for (is_stored, session);
  g_object_unref (session);
}

/* Cut off at any byte, or with a byte turned over: an error before the library sees it, or the voxels say so. */
static void
test_damage (void)
{
  LamSession *session = rich_session ();
  g_autofree char *path = cli_path ("whole.lamina.h5"), *torn = cli_path ("torn.lamina.h5"), *bytes = NULL;
  g_autoptr (GFile) file = g_file_new_for_path (path);
  gsize n = 0;
  int voxels = 0;
  lam_session_save_session (session, file);
  wait_for (is_stored, session);
  g_object_unref (session);
  g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
  for (int i = 0; i < 200; i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *copy = g_memdup2 (bytes, n);
    gsize size = i % 2 ? n : n * i / 200;
    if (i % 2)
      copy[i < 120 ? (gsize) i * 97 % 20000 : i < 140 ? n - 1 - (gsize) (i - 120) * 3 : n * i / 200] ^= 0x41;
    g_assert_true (g_file_set_contents (torn, copy, size, NULL));
    g_autoptr (LamSessionFile) f = lam_session_file_read (torn, NULL, &error);
    if (f != NULL) {
      g_assert_nonnull (((LamSessionResult *) g_ptr_array_index (f->results, 1))->problem);
      voxels++;
    } else
      g_assert_error (error, LAM_ERROR, LAM_ERROR_FORMAT);
  }
  g_assert_cmpint (voxels, >, 5);
  g_assert_cmpint (voxels, <, 80);
  /* A voxel that turned over is found. */
  g_autoptr (LamSessionFile) f = lam_session_file_read (path, NULL, NULL);
  LamSessionResult *r = g_ptr_array_index (f->results, 1);
  const float *volume = r->recon->volume;
  char *at = memmem (bytes, n, volume + (32 * 64 + 32) * 8, 64);
  g_assert_nonnull (at);
  at[3] ^= 1;
  g_assert_true (g_file_set_contents (torn, bytes, n, NULL));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamSessionFile) g = lam_session_file_read (torn, NULL, &error);
  g_assert_no_error (error);
  r = g_ptr_array_index (g->results, 1);
  g_assert_null (r->recon->volume);
  g_assert_nonnull (r->problem);
}

/* -- autosave and recovery -- */

static gboolean
is_kept (LamSession *session)
{
  return lam_session_is_kept (session);
}

static gboolean
has_three (LamSession *session)
{
  return lam_series_get_n_rows (lam_session_get_series (session)) >= 3;
}

/* Another process: a result, edits, a run, edits during it, and the end. */
static void
crash (void)
{
  LamSession *session = lam_session_new (NULL);
  g_autoptr (GFile) file = g_file_new_for_path (g_getenv ("LAMINA_TEST_SCAN"));
  g_signal_connect (session, "failed", G_CALLBACK (failed_cb), NULL);
  lam_session_set_autosave (session, 1);
  lam_session_open (session, file);
  wait_for (has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  set (session, "center", g_variant_new_double (33));
  set (session, "iterations", g_variant_new_int64 (2));
  lam_session_run (session);
  wait_for (is_ready, session);
  lam_result_rename (lam_results_get (lam_session_get_results (session), 0), "Two iterations");
  set (session, "crop", g_variant_new_string ("part"));
  set (session, "crop_channel_first", g_variant_new_int64 (3));
  set (session, "iterations", g_variant_new_int64 (1000));
  set (session, "stop_percent", g_variant_new_double (0));
  lam_session_run (session);
  wait_for (has_three, session);
  set (session, "sharpness", g_variant_new_double (3.5));
  set (session, "center", g_variant_new_double (32.25));
  set (session, "bin", g_variant_new_int64 (2));
  wait_for (has_three, session);
  wait_for (is_kept, session);
  kill (getpid (), SIGKILL);
}

static int
state_files (const char *prefix)
{
  int n = 0;
  g_autofree char *folder = cli_path ("lamina");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    n += g_str_has_prefix (name, prefix);
  return n;
}

static void
test_recovery (void)
{
  if (g_test_subprocess ()) {
    crash ();
    return;
  }
  LamQuestion kind;
  g_autofree char *scan = cli_path ("scan.h5");
  g_setenv ("LAMINA_TEST_SCAN", scan, TRUE);
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_assert_cmpint (state_files ("session-"), >=, 3); /* lock, session, voxels */
  g_assert_cmpint (state_files ("run-"), >=, 2);

  LamSession *session = lam_session_new (NULL);
  g_signal_connect (session, "failed", G_CALLBACK (failed_cb), NULL);
  lam_session_set_autosave (session, 1);
  lam_session_look_for_crash (session);
  wait_for (asks, session);
  g_test_message ("%s [%s]", lam_session_get_question (session, &kind), lam_session_get_question_offer (session));
  g_assert_cmpint (kind, ==, LAM_QUESTION_RESTORE);
  g_assert_nonnull (strstr (lam_session_get_question (session, &kind), "iteration"));
  g_assert_nonnull (strstr (lam_session_get_question_offer (session), "scan.h5 with 10 edits"));
  lam_session_answer (session, TRUE);
  wait_for (has_three, session);
  g_assert_nonnull (strstr (lam_session_get_log (session), "resumed after iteration"));
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  /* The run goes on with what it began with; the parameters are those edited since. */
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "sharpness")), ==, 3.5);
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 32.25);
  g_assert_cmpint (lam_parameter_get_integer (parameter (session, "bin")), ==, 2);
  g_assert_cmpint (lam_parameter_get_integer (parameter (session, "iterations")), ==, 1000);
  g_assert_true (lam_session_get_modified (session));
  lam_session_stop_keep (session);
  wait_for (is_ready, session);
  g_assert_false (asks (session));
  LamResults *results = lam_session_get_results (session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 2);
  LamReconResult *resumed = lam_result_get_recon (lam_results_get (results, 1));
  g_assert_cmpint (resumed->geometry->channels, ==, 61);
  g_assert_cmpfloat (resumed->params.sharpness, ==, 1);
  LamResult *first = lam_results_get (results, 0);
  g_assert_cmpstr (lam_result_get_name (first), ==, "Two iterations");
  const LamGeometry *g = lam_result_get_recon (first)->geometry;
  g_autofree char *out = cli_path ("first.h5");
  g_autoptr (GFile) file = g_file_new_for_path (out);
  lam_session_save_result (session, first, file);
  while (!lam_result_get_safe (first))
    g_main_context_iteration (NULL, TRUE);
  g_autofree char *kept = cli_checksum (out), *line = line_checksum ("scan.h5 --center 33");
  g_assert_cmpstr (kept, ==, line);
  g_assert_cmpint (g->channels, ==, 64);
  wait_for (is_kept, session);
  assert_ends (session);
  for (int i = 0; i < 100 && state_files ("") > 0; i++)
    g_usleep (20000);
  g_assert_cmpint (state_files (""), ==, 0);

  /* And now nothing is asked. */
  session = lam_session_new (NULL);
  lam_session_look_for_crash (session);
  let_settle ();
  g_assert_false (asks (session));
  assert_ends (session);
}

static void
count_cb (LamSession *session, GError *error, int *n)
{
  g_test_message ("says: %s", error->message);
  ++*n;
}

/* A full disk while it is kept: told once, and the work goes on. */
static void
test_keep_full (void)
{
  LamSession *session = open_scan ("scan.h5");
  int told = 0;
  struct rlimit whole, none;
  wait_for (has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  g_signal_handlers_disconnect_by_func (session, failed_cb, NULL);
  g_signal_connect (session, "failed", G_CALLBACK (count_cb), &told);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &whole);
  none = (struct rlimit){100, whole.rlim_max};
  setrlimit (RLIMIT_FSIZE, &none);
  lam_session_set_autosave (session, 1);
  for (int i = 0; i < 3; i++) {
    set (session, "center", g_variant_new_double (30 + i));
    for (gint64 end = g_get_monotonic_time () + 1300000; g_get_monotonic_time () < end;) {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (2000);
    }
  }
  g_assert_cmpint (told, ==, 1);
  g_assert_false (lam_session_is_kept (session));
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 32);
  setrlimit (RLIMIT_FSIZE, &whole);
  set (session, "center", g_variant_new_double (29));
  wait_for (is_kept, session);
  g_assert_cmpint (told, ==, 1);
  assert_ends (session);
  g_assert_cmpint (state_files ("session-"), ==, 0);
}

/* -- undo -- */

static GVariant *
random_value (LamParameter *p)
{
  double low = lam_parameter_get_kind (p) <= LAM_PARAMETER_INTEGER ? lam_parameter_get_min (p) : 0,
         high = lam_parameter_get_kind (p) <= LAM_PARAMETER_INTEGER ? lam_parameter_get_max (p) : 0;
  switch (lam_parameter_get_kind (p)) {
  case LAM_PARAMETER_NUMBER:
    return g_variant_new_double (g_test_rand_double_range (CLAMP (low, -1e4, 1e4), CLAMP (high, -1e4, 1e4) + 1e-9));
  case LAM_PARAMETER_INTEGER:
    return g_variant_new_int64 (g_test_rand_int_range ((int) MAX (low, -1000), (int) MIN (high, 1000) + 1));
  case LAM_PARAMETER_SWITCH:
    return g_variant_new_boolean (g_test_rand_bit ());
  case LAM_PARAMETER_CHOICE:
    return g_variant_new_string (
        lam_parameter_get_choice (p, g_test_rand_int_range (0, (int) lam_parameter_get_n_choices (p)))->id);
  case LAM_PARAMETER_TEXT:
    break;
  }
  return g_variant_new_string (g_test_rand_bit () ? "a text" : "");
}

/* One edit of any kind; TRUE = it was taken. */
static gboolean
edit_something (LamSession *session)
{
  GListModel *list = G_LIST_MODEL (lam_session_get_parameters (session));
  LamSliceModel *slices = lam_session_get_slices (session);
  int n = (int) g_list_model_get_n_items (list), what = g_test_rand_int_range (0, n + 8);
  if (what < n) {
    g_autoptr (LamParameter) p = g_list_model_get_item (list, (guint) what);
    return lam_parameter_edit (p, random_value (p), NULL);
  }
  if (what < n + 3) { /* a drag of the axis: many edits, one step */
    lam_undo_begin (lam_session_get_undo (session), "Drag");
    for (int i = g_test_rand_int_range (1, 12); i > 0; i--)
      lam_session_edit_offset (session, g_test_rand_double_range (-30, 30), NULL);
    lam_undo_end (lam_session_get_undo (session));
  } else if (what < n + 4)
    lam_parameter_reset (lam_parameter_list_find (lam_session_get_parameters (session), "center"));
  else if (what < n + 6)
    lam_slice_model_set_level (slices, g_test_rand_double_range (-1, 0), g_test_rand_double_range (0.1, 1));
  else if (what < n + 7)
    lam_slice_model_set_plane (slices, g_test_rand_int_range (0, LAM_PLANES));
  else
    lam_slice_model_set_index (slices, g_test_rand_int_range (0, 64));
  return TRUE;
}

static void
assert_parameters (LamSession *session, GVariant *wanted)
{
  g_autoptr (GVariant) now = lam_parameter_list_save (lam_session_get_parameters (session));
  g_assert_cmpmem (g_variant_get_data (now), g_variant_get_size (now), g_variant_get_data (wanted),
                   g_variant_get_size (wanted));
}

/* 500 edits over everything; all undone, all is as at first; all redone, all is as at last: bit for bit. How one looks at it
 * (levels, plane) is left alone by both. */
static void
test_undo_walk (void)
{
  for (int merge = 0; merge < 2; merge++) {
    LamSession *session = open_scan ("scan.h5");
    LamUndo *undo = lam_session_get_undo (session);
    LamSliceModel *slices = lam_session_get_slices (session);
    double low[2], high[2];
    int taken = 0;
    guint undone = 0, redone = 0;
    wait_for (has_data, session);
    let_settle (); /* the centre was found */
    g_assert_false (lam_session_get_modified (session));
    lam_undo_set_merge_window (undo, merge ? 800 : 0);
    g_autoptr (GVariant) first = lam_parameter_list_save (lam_session_get_parameters (session));
    for (int i = 0; i < 500; i++) {
      taken += edit_something (session);
      if (i % 50 == 49) { /* back and forth on the way */
        for (int k = g_test_rand_int_range (1, 6); k > 0; k--)
          lam_undo_undo (undo);
        for (int k = g_test_rand_int_range (0, 6); k > 0; k--)
          lam_undo_redo (undo);
      }
    }
    g_autoptr (GVariant) last = lam_parameter_list_save (lam_session_get_parameters (session));
    LamPlane plane = lam_slice_model_get_plane (slices);
    int64_t index = lam_slice_model_get_index (slices);
    gboolean automatic = lam_slice_model_get_auto_level (slices);
    lam_slice_model_get_level (slices, &low[0], &high[0]);
    guint ahead = 0;
    while (lam_undo_redo (undo)) /* what was undone on the way and not redone */
      ahead++;
    for (guint i = 0; i < ahead; i++)
      lam_undo_undo (undo);
    assert_parameters (session, last);
    while (lam_undo_undo (undo))
      undone++;
    assert_parameters (session, first);
    g_assert_false (lam_session_get_modified (session));
    for (; redone < undone; redone++)
      g_assert_true (lam_undo_redo (undo));
    assert_parameters (session, last);
    lam_slice_model_get_level (slices, &low[1], &high[1]);
    g_assert_cmpint (lam_slice_model_get_plane (slices), ==, plane);
    g_assert_cmpint (lam_slice_model_get_index (slices), ==, MIN (index, lam_slice_model_get_count (slices) - 1));
    if (!automatic)
      g_assert_true (low[0] == low[1] && high[0] == high[1]);
    g_test_message ("%d edits taken, %u steps", taken, undone);
    g_assert_cmpint (taken, >, 300);
    assert_ends (session);
  }
}

/* A scan without angles: they are asked for, and confirmed ones are used. */
static void
test_angles (void)
{
  LamSession *session = open_scan ("bare.h5");
  LamQuestion kind;
  wait_for (asks, session);
  g_assert_nonnull (lam_session_get_question (session, &kind));
  g_assert_cmpint (kind, ==, LAM_QUESTION_ANGLES);
  g_assert_false (lam_session_has_data (session));
  g_assert_nonnull (lam_session_get_problem (session));
  g_assert_true (lam_parameter_get_visible (parameter (session, "angle_start")));
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "angle_stop")), ==, 180);
  set (session, "angle_start", g_variant_new_double (10));
  set (session, "angle_stop", g_variant_new_double (190));
  lam_session_answer (session, TRUE);
  wait_for (has_data, session);
  g_assert_false (asks (session));
  g_assert_null (lam_session_get_problem (session));
  g_assert_false (lam_parameter_get_visible (parameter (session, "angle_start")));
  set (session, "iterations", g_variant_new_int64 (2));
  set (session, "center", g_variant_new_double (33));
  g_autofree char *sum = run_and_save (session, "angles.h5");
  g_autofree char *line = line_checksum ("bare.h5 --center 33 --angles 10:190");
  g_assert_cmpstr (sum, ==, line);
  g_object_unref (session);
}

static void
make_scans (void)
{
  g_autofree char *bare = cli_path ("bare.h5");
  const char *command = "project --phantom tooth --shape 64x64x8 --views 80 --seed 1 -o";
  cli_run_free (cli_ok ("%s scan.h5", command));
  cli_run_free (cli_ok ("%s bare.h5", command));
  hid_t file = H5Fopen (bare, H5F_ACC_RDWR, H5P_DEFAULT);
  g_assert_cmpint (file, >=, 0);
  g_assert_cmpint (H5Ldelete (file, "/scan/angles", H5P_DEFAULT), >=, 0);
  H5Fclose (file);
}

/* The import sheet lists what the file states, and imports it again with what is said instead. */
static void
test_import (void)
{
  LamSession *session = open_scan ("scan.h5");
  wait_for (has_data, session);
  LamImport *import = lam_session_get_import (session);
  LamParameterList *list = lam_import_get_parameters (import);
  g_assert_nonnull (lam_import_get_path (import));
  g_assert_cmpuint (g_list_model_get_n_items (lam_import_get_facts (import, LAM_IMPORT_FOUND)), >, 0);
  guint assumed = g_list_model_get_n_items (lam_import_get_facts (import, LAM_IMPORT_ASSUMED));
  double pitch = lam_session_get_geometry (session)->channel_pitch,
         angle = lam_session_get_geometry (session)->angles[5];
  g_assert_cmpuint (assumed, >, 0);
  g_assert_cmpfloat (pitch, !=, 0.25);
  g_assert_false (lam_parameter_get_visible (lam_parameter_list_find (list, "source_axis")));
  lam_parameter_set_value (lam_parameter_list_find (list, "pitch"), g_variant_new_double (0.25), NULL);
  lam_parameter_set_value (lam_parameter_list_find (list, "direction"), g_variant_new_string ("reversed"), NULL);
  g_assert_cmpfloat (lam_session_get_geometry (session)->channel_pitch, ==, pitch);
  lam_session_import (session);
  wait_for (is_busy_opening, session);
  wait_for (has_data, session);
  const LamGeometry *g = lam_session_get_geometry (session);
  g_assert_cmpfloat (g->channel_pitch, ==, 0.25);
  g_assert_cmpstr (g->length_unit, ==, "mm");
  g_assert_cmpfloat_with_epsilon (g->angles[5], -angle, 1e-12);
  g_assert_cmpuint (g_list_model_get_n_items (lam_import_get_facts (import, LAM_IMPORT_ASSUMED)), <, assumed);
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (list, "pitch")), ==, 0.25);
  /* Even angles given here, and a cone; what an impossible one says comes as an error, and the scan stays. */
  lam_parameter_set_value (lam_parameter_list_find (list, "angles"), g_variant_new_string ("given"), NULL);
  lam_parameter_set_value (lam_parameter_list_find (list, "angle_stop"), g_variant_new_double (90), NULL);
  lam_parameter_set_value (lam_parameter_list_find (list, "beam"), g_variant_new_string ("cone"), NULL);
  g_assert_true (lam_parameter_get_visible (lam_parameter_list_find (list, "source_axis")));
  lam_parameter_set_value (lam_parameter_list_find (list, "source_detector"), g_variant_new_double (200), NULL);
  lam_parameter_set_value (lam_parameter_list_find (list, "source_axis"), g_variant_new_double (150), NULL);
  lam_session_import (session);
  wait_for (is_busy_opening, session);
  wait_for (has_data, session);
  g = lam_session_get_geometry (session);
  g_assert_cmpint (g->kind, ==, LAM_GEOMETRY_CONE);
  g_assert_cmpfloat (g->source_axis, ==, 150);
  g_assert_cmpfloat_with_epsilon (fabs (g->angles[g->views - 1]), G_PI / 2 * (1 - 1.0 / g->views), 1e-9);
  assert_ends (session);
}

static gboolean swept;

static void
sweep_changed_cb (LamSweepModel *sweep, gpointer data)
{
  swept = !lam_sweep_model_get_running (sweep);
}

static gboolean
is_swept (LamSession *session)
{
  return swept;
}

/* A sweep of the centre finds the true one; taken, it is an edit that can be undone. What cannot be swept is refused. */
static void
test_sweep (void)
{
  cli_run_free (
      cli_ok ("project --phantom tooth --shape 128x128x3 --views 120 --attenuation 3 --photons 20000 --seed 4 "
              "--channel-offset 2.4 -o moved.h5"));
  LamSession *session = open_scan ("moved.h5");
  wait_for (has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  set (session, "center", g_variant_new_double (60));
  LamSweepModel *sweep = lam_sweep_model_new (session);
  g_autoptr (GError) error = NULL;
  double best, width, confidence, from, to, value, score;
  const char *note;
  LamSnapshot *slice;
  g_signal_connect (sweep, "changed", G_CALLBACK (sweep_changed_cb), NULL);
  g_assert_false (lam_sweep_model_can (sweep, LAM_SWEEP_SOURCE_AXIS));
  g_assert_false (lam_sweep_model_start (sweep, LAM_SWEEP_SOURCE_AXIS, 1, 2, 9, &error));
  g_clear_error (&error);
  g_assert_false (lam_sweep_model_start (sweep, LAM_SWEEP_CENTER, 70, 60, 9, &error));
  g_clear_error (&error);
  lam_sweep_model_suggest (sweep, LAM_SWEEP_CENTER, &from, &to);
  g_assert_cmpfloat (from, ==, 56);
  g_assert_cmpfloat (to, ==, 64);
  g_assert_true (lam_sweep_model_start (sweep, LAM_SWEEP_CENTER, 60, 72, 9, &error));
  wait_for (is_swept, session);
  g_assert_cmpuint (lam_sweep_model_get_n_steps (sweep), ==, 9);
  g_assert_cmpuint (lam_series_get_n_rows (lam_sweep_model_get_series (sweep)), ==, 9);
  lam_sweep_model_get_step (sweep, 4, &value, &score, &slice);
  g_assert_cmpfloat_with_epsilon (value, 66, 1e-9);
  g_assert_nonnull (slice);
  g_assert_true (lam_sweep_model_get_best (sweep, &best, &width, &confidence, &note));
  g_test_message ("best %.3f +- %.3f, confidence %.2f", best, width, confidence);
  g_assert_cmpfloat_with_epsilon (best, 63.5 + 2.4, 0.25);
  lam_sweep_model_take (sweep, best);
  g_assert_cmpfloat_with_epsilon (lam_parameter_get_number (parameter (session, "center")), best, 0.006);
  lam_undo_undo (lam_session_get_undo (session));
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 60);
  /* Dropped while it works: nothing is left behind. */
  g_assert_true (lam_sweep_model_start (sweep, LAM_SWEEP_TILT, -2, 2, 9, &error));
  g_assert_finalize_object (sweep);
  assert_ends (session);
}

static gboolean
is_applied (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY && !lam_session_get_unapplied (session);
}

static gboolean
has_need (LamSession *session)
{
  return g_list_model_get_n_items (lam_session_get_facts (session, LAM_FACTS_RUN)) > 0;
}

static char *
dup_need (LamSession *session)
{
  wait_for (has_need, session);
  for (int i = 0; i < 100; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_autoptr (LamFact) fact = g_list_model_get_item (lam_session_get_facts (session, LAM_FACTS_RUN), 0);
  return g_strdup (lam_fact_get_value (fact));
}

/* Edits of the preparation are held until they are applied, undone like others, and a run does it first: then it is what
 * the command line makes of the same numbers. */
static void
test_preparation (void)
{
  LamSession *session = open_scan ("scan.h5");
  LamUndo *undo = lam_session_get_undo (session);
  wait_for (has_data, session);
  set (session, "iterations", g_variant_new_int64 (2));
  set (session, "center", g_variant_new_double (33));
  g_assert_true (lam_session_get_modified (session));
  const LamGeometry *g = lam_session_get_geometry (session);
  int64_t channels = g->channels, columns = g->recon_columns;
  g_autofree char *first = run_and_save (session, "unprepared.h5");
  g_autofree char *need = dup_need (session);

  set (session, "crop", g_variant_new_string ("part"));
  set (session, "crop_channel_first", g_variant_new_int64 (4));
  set (session, "bin", g_variant_new_int64 (2));
  g_assert_true (lam_session_get_unapplied (session));
  g_assert_true (lam_session_can_apply (session));
  g_assert_cmpint (lam_session_get_geometry (session)->channels, ==, channels);
  /* The last channel is never before the first. */
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_parameter_edit (parameter (session, "crop_channel_last"), g_variant_new_int64 (3), &error));
  g_assert_nonnull (error);

  lam_session_apply_preparation (session);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_OPENING);
  wait_for (is_applied, session);
  g = lam_session_get_geometry (session);
  g_assert_cmpint (g->channels, ==, (channels - 4) / 2);
  g_assert_cmpint (g->recon_columns, <, columns);
  /* The axis counts in channels of the file and stays; that of the data follows. */
  g_assert_cmpfloat (lam_parameter_get_number (parameter (session, "center")), ==, 33);
  g_assert_cmpfloat_with_epsilon (lam_geometry_center (g), (33 - 4 - 0.5) / 2, 1e-9);
  g_autofree char *less = dup_need (session);
  g_assert_cmpstr (less, !=, need);
  /* The result made before is still there. */
  LamResults *results = lam_session_get_results (session);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  g_assert_true (lam_session_can_show (session, lam_results_get (results, 0)));

  g_autofree char *cropped = run_and_save (session, "cropped.h5");
  g_autofree char *line = line_checksum ("scan.h5 --center 33 --crop ,4:64 --bin 2");
  g_assert_cmpstr (cropped, ==, line);

  /* Undone, they are edits again; a run reads first. */
  while (lam_parameter_get_changed (parameter (session, "crop")))
    lam_undo_undo (undo);
  g_assert_false (lam_parameter_get_changed (parameter (session, "bin")));
  g_assert_true (lam_session_get_unapplied (session));
  set (session, "stripes", g_variant_new_string ("sorting"));
  g_autofree char *striped = run_and_save (session, "striped.h5");
  g_assert_true (is_applied (session));
  g_autofree char *striped_line = line_checksum ("scan.h5 --center 33 --stripes sorting");
  g_assert_cmpstr (striped, ==, striped_line);
  g_assert_cmpstr (striped, !=, first);
  g_object_unref (session);
}

static LamBeforeAfter *pictures;

static LamSnapshot *
picture (LamPlane plane, LamPreviewKind kind)
{
  return lam_slice_model_get_snapshot (lam_before_after_get_slices (pictures, plane, kind));
}

static gboolean
is_drawn (LamSession *session)
{
  return !lam_before_after_is_working (pictures) && picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER) != NULL;
}

static const LamSnapshotInfo *
picture_info (LamPlane plane)
{
  return lam_snapshot_info (picture (plane, LAM_PREVIEW_AFTER));
}

/* Pictures follow the preparation before it is applied; the axis stays on the same channel of the detector. */
static void
test_before_after (void)
{
  LamSession *session = open_scan ("scan.h5");
  double x0, y0, x1, y1;
  wait_for (has_data, session);
  set (session, "center", g_variant_new_double (33));
  pictures = lam_before_after_new (session);
  lam_before_after_set_active (pictures, LAM_PLANE_SINOGRAM, TRUE);
  wait_for (is_drawn, session);
  g_assert_true (lam_before_after_has_before (pictures));
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 64);
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->height, ==, 80);
  g_assert_cmpint (picture_info (LAM_PLANE_VIEW)->height, ==, 8);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_VIEW, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, 33.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (x1, 33.5, 1e-9);
  g_autofree char *none = lam_before_after_describe (pictures, LAM_PLANE_SINOGRAM);
  g_assert_cmpstr (none, ==, _ ("No difference"));

  set (session, "crop", g_variant_new_string ("part"));
  set (session, "crop_channel_first", g_variant_new_int64 (4));
  set (session, "bin", g_variant_new_int64 (2));
  wait_for (is_drawn, session);
  g_assert_cmpint (lam_session_get_geometry (session)->channels, ==, 64);
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 30);
  g_assert_cmpint (picture_info (LAM_PLANE_VIEW)->height, ==, 4);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_SINOGRAM, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, (33.5 - 4) / 2, 1e-9);

  /* Applied, it is the same picture; the file is not opened again for it. */
  LamSnapshot *after = lam_snapshot_ref (picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER));
  lam_session_apply_preparation (session);
  wait_for (is_applied, session);
  wait_for (is_drawn, session);
  g_assert_true (picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER) == after);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_SINOGRAM, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, (33.5 - 4) / 2, 1e-9);

  /* By angle, reversed: the last view is at the top, and it is told which it is. */
  set (session, "reversed", g_variant_new_boolean (TRUE));
  lam_before_after_set_by_angle (pictures, TRUE);
  LamSliceModel *slices = lam_before_after_get_slices (pictures, LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER);
  for (int i = 0; i < 200 && picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER) == after; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  const float *sorted = lam_snapshot_pixels (picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER));
  g_assert_cmpmem (sorted, 30 * sizeof *sorted, lam_snapshot_pixels (after) + 79 * 30, 30 * sizeof *sorted);
  g_assert_cmpint (lam_slice_model_get_ordered (slices, 0), ==, 79);
  lam_slice_model_set_cursor (slices, 0, 7);
  g_autofree char *words = lam_slice_model_describe_cursor (slices);
  g_assert_true (g_str_has_prefix (words, "view 79 channel 7"));
  lam_snapshot_unref (after);

  /* An example has no before. */
  lam_session_open_example (session);
  wait_for (has_data, session);
  wait_for (is_drawn, session);
  g_assert_false (lam_before_after_has_before (pictures));
  g_assert_null (picture (LAM_PLANE_VIEW, LAM_PREVIEW_BEFORE));
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 256);
  g_object_unref (pictures);
  g_object_unref (session);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_test_subprocess ()) { /* which ends before it could clear up */
    cli_init ();
    make_scans ();
  }
  g_test_add_func ("/session/tilt", test_tilt);
  g_test_add_func ("/session/tilt-memory", test_tilt_memory);
  g_test_add_func ("/session/results", test_results);
  g_test_add_func ("/session/file", test_file);
  g_test_add_func ("/session/moved", test_moved);
  g_test_add_func ("/session/full-disk", test_full);
  g_test_add_func ("/session/damage", test_damage);
  g_test_add_func ("/session/recovery", test_recovery);
  g_test_add_func ("/session/keep-full-disk", test_keep_full);
  g_test_add_func ("/session/undo-walk", test_undo_walk);
  g_test_add_func ("/session/angles", test_angles);
  g_test_add_func ("/session/import", test_import);
  g_test_add_func ("/session/sweep", test_sweep);
  g_test_add_func ("/session/preparation", test_preparation);
  g_test_add_func ("/session/before-after", test_before_after);
  int failed = g_test_run ();
  if (!g_test_subprocess ())
    cli_finish ();
  return failed;
}
