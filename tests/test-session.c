/* The session without a window, against the command line: tilt, devices, a scan without angles, results of jobs, preparation,
 * sweeps, and undo of everything. Its file: test-session-file.c. */
#include <glib/gi18n.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "cli-util.h"
#include "core/memory.h"
#include "model/before-after.h"
#include "model/potential.h"
#include "model/run-job.h"
#include "model/sweep-model.h"
#include "run/job.h"
#include "session-util.h"

static gboolean
is_busy_opening (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_OPENING;
}

static gboolean
is_current (LamSession *session)
{
  LamSliceModel *slices = lam_session_get_slices (session);
  LamSnapshot *shot = lam_slice_model_get_snapshot (slices);
  return shot != NULL && lam_snapshot_info (shot)->generation == lam_slice_model_get_generation (slices);
}

/* The live slice follows a tilt, and a run has the data turned as the command line turns them, on any devices. */
static void
test_tilt (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  LamSliceModel *slices = lam_session_get_slices (session);
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (33));
  session_wait_for (is_current, session);
  LamSnapshot *before = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  session_set (session, "tilt", g_variant_new_double (1.5));
  for (gint64 end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
       lam_slice_model_get_snapshot (slices) == before && g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
  g_assert_true (lam_slice_model_get_snapshot (slices) != before);
  lam_snapshot_unref (before);

  g_autofree char *tilted = session_run_and_save (session, "tilted.h5");
  g_autofree char *line = session_line_checksum ("scan.h5 --center 33 --tilt 1.5");
  g_assert_cmpstr (tilted, ==, line);

  session_set (session, "devices", g_variant_new_string ("3xcpu"));
  g_autofree char *three = session_run_and_save (session, "three.h5");
  g_assert_cmpstr (three, ==, line);

  /* Upright again: the picture is live, and the next run is the plain one. */
  session_set (session, "tilt", g_variant_new_double (0));
  session_wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, LAM_ITERATION_LIVE);
  g_autofree char *upright = session_run_and_save (session, "upright.h5");
  g_autofree char *plain = session_line_checksum ("scan.h5 --center 33");
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
  /* What the test before has left to other threads goes first. */
  for (int64_t before = -1; before != lam_memory_bytes ();) {
    before = lam_memory_bytes ();
    session_let_settle ();
  }
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
    LamJob *job = lam_run_job_new (d, d->geometry, &options, NULL, 0.02, NULL, &params);
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
has_two_rows (LamSession *session)
{
  return lam_series_get_n_rows (lam_session_get_series (session)) >= 2;
}

/* Finished runs stay side by side: shown again with axis, curve and log; renamed; removed, and back by undo. */
static void
test_results (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  LamSliceModel *slices = lam_session_get_slices (session);
  LamSeries *series = lam_session_get_series (session);
  LamUndo *undo = lam_session_get_undo (session);
  LamResults *results = lam_session_get_results (session);
  GListModel *jobs = G_LIST_MODEL (lam_session_get_queue (session));
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (3));
  session_set (session, "stop_percent", g_variant_new_double (0));
  session_set (session, "center", g_variant_new_double (33));
  g_free (session_run_and_save (session, "first.h5"));
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "sharpness", g_variant_new_double (2.5));
  session_set (session, "center", g_variant_new_double (30));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
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
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 33);
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 3);
  g_assert_nonnull (strstr (lam_session_get_log (session), "iteration 3"));
  session_wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, 3);
  lam_session_show_result (session, second);
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 2);
  g_assert_null (strstr (lam_session_get_log (session), "iteration 3"));
  lam_session_show_result (session, first);

  /* The axis moved away and back: live, and the result again. */
  session_set (session, "center", g_variant_new_double (31));
  g_assert_null (lam_session_get_shown (session));
  g_assert_true (lam_session_get_curve_of (session) == first); /* whose curve it is stays known */
  session_set (session, "center", g_variant_new_double (33));
  g_assert_true (lam_session_get_shown (session) == first);
  /* A run that is discarded leaves the curve of what is in view. */
  session_set (session, "iterations", g_variant_new_int64 (1000));
  lam_session_run (session);
  g_assert_null (lam_session_get_curve_of (session));
  session_wait_for (has_two_rows, session);
  lam_session_discard (session);
  session_wait_for (session_is_ready, session);
  g_assert_true (lam_session_get_shown (session) == first && lam_session_get_curve_of (session) == first);
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 3);
  session_set (session, "iterations", g_variant_new_int64 (2));

  lam_session_use_parameters (session, second);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "sharpness")), ==, 2.5);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 30);
  g_assert_true (lam_undo_undo (undo));
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 33);

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
  g_assert_null (lam_session_get_curve_of (session));
  g_assert_cmpuint (lam_series_get_n_rows (series), ==, 0);
  g_assert_false (lam_session_can_show (session, first));
  session_wait_for (is_current, session);
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (slices))->iteration, ==, LAM_ITERATION_LIVE);
  lam_undo_undo (undo);
  g_assert_true (lam_results_get (results, 0) == first);
  lam_session_show_result (session, first);
  lam_session_remove_result (session, first);
  /* Nobody can want it back: its memory goes. */
  int64_t held = lam_memory_bytes ();
  lam_undo_clear (undo);
  session_wait_for (is_current, session);
  session_let_settle ();
  g_assert_finalize_object (first);
  g_assert_cmpint (lam_memory_bytes (), <=, held - 64 * 64 * 8 * 4);

  /* Another scan: the results of this one go with it. */
  g_autofree char *path = cli_path ("scan.h5"), *out = cli_path ("second.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path), saved = g_file_new_for_path (out);
  lam_session_save_result (session, second, saved);
  session_wait_for (session_is_saved, session);
  lam_session_open (session, file);
  session_wait_for (session_has_data, session);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 0);
  g_object_unref (session);
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
  case LAM_PARAMETER_FILE:
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
    LamSession *session = session_open_scan ("scan.h5");
    LamUndo *undo = lam_session_get_undo (session);
    LamSliceModel *slices = lam_session_get_slices (session);
    double low[2], high[2];
    int taken = 0;
    guint undone = 0, redone = 0;
    session_wait_for (session_has_data, session);
    session_let_settle (); /* the centre was found */
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
    session_assert_ends (session);
  }
}

/* A scan without angles: they are asked for, and confirmed ones are used. */
static void
test_angles (void)
{
  LamSession *session = session_open_scan ("bare.h5");
  LamQuestion kind;
  session_wait_for (session_asks, session);
  g_assert_nonnull (lam_session_get_question (session, &kind));
  g_assert_cmpint (kind, ==, LAM_QUESTION_ANGLES);
  g_assert_false (lam_session_has_data (session));
  g_assert_nonnull (lam_session_get_problem (session));
  g_assert_true (lam_parameter_get_visible (session_parameter (session, "angle_start")));
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "angle_stop")), ==, 180);
  session_set (session, "angle_start", g_variant_new_double (10));
  session_set (session, "angle_stop", g_variant_new_double (190));
  lam_session_answer (session, TRUE);
  session_wait_for (session_has_data, session);
  g_assert_false (session_asks (session));
  g_assert_null (lam_session_get_problem (session));
  g_assert_false (lam_parameter_get_visible (session_parameter (session, "angle_start")));
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (33));
  g_autofree char *sum = session_run_and_save (session, "angles.h5");
  g_autofree char *line = session_line_checksum ("bare.h5 --center 33 --angles 10:190");
  g_assert_cmpstr (sum, ==, line);
  g_object_unref (session);
}

static void
make_bare_scan (void)
{
  g_autofree char *bare = cli_path ("bare.h5");
  session_make_scan ("bare.h5");
  hid_t file = H5Fopen (bare, H5F_ACC_RDWR, H5P_DEFAULT);
  g_assert_cmpint (file, >=, 0);
  g_assert_cmpint (H5Ldelete (file, "/scan/angles", H5P_DEFAULT), >=, 0);
  H5Fclose (file);
}

/* The import sheet lists what the file states, and imports it again with what is said instead. */
static void
test_import (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  session_wait_for (session_has_data, session);
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
  session_wait_for (is_busy_opening, session);
  session_wait_for (session_has_data, session);
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
  session_wait_for (is_busy_opening, session);
  session_wait_for (session_has_data, session);
  g = lam_session_get_geometry (session);
  g_assert_cmpint (g->kind, ==, LAM_GEOMETRY_CONE);
  g_assert_cmpfloat (g->source_axis, ==, 150);
  g_assert_cmpfloat_with_epsilon (fabs (g->angles[g->views - 1]), G_PI / 2 * (1 - 1.0 / g->views), 1e-9);
  session_assert_ends (session);
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
  LamSession *session = session_open_scan ("moved.h5");
  session_wait_for (session_has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  session_set (session, "center", g_variant_new_double (60));
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
  session_wait_for (is_swept, session);
  g_assert_cmpuint (lam_sweep_model_get_n_steps (sweep), ==, 9);
  g_assert_cmpuint (lam_series_get_n_rows (lam_sweep_model_get_series (sweep)), ==, 9);
  lam_sweep_model_get_step (sweep, 4, &value, &score, &slice);
  g_assert_cmpfloat_with_epsilon (value, 66, 1e-9);
  g_assert_nonnull (slice);
  g_assert_true (lam_sweep_model_get_best (sweep, &best, &width, &confidence, &note));
  g_test_message ("best %.3f +- %.3f, confidence %.2f", best, width, confidence);
  g_assert_cmpfloat_with_epsilon (best, 63.5 + 2.4, 0.25);
  lam_sweep_model_take (sweep, best);
  g_assert_cmpfloat_with_epsilon (lam_parameter_get_number (session_parameter (session, "center")), best, 0.006);
  lam_undo_undo (lam_session_get_undo (session));
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 60);
  /* Dropped while it works: nothing is left behind. */
  g_assert_true (lam_sweep_model_start (sweep, LAM_SWEEP_TILT, -2, 2, 9, &error));
  g_assert_finalize_object (sweep);
  session_assert_ends (session);
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
  session_wait_for (has_need, session);
  for (int i = 0; i < 100; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_autoptr (LamFact) fact = g_list_model_get_item (lam_session_get_facts (session, LAM_FACTS_RUN), 0);
  return g_strdup (lam_fact_get_value (fact));
}

static char *
dup_size (LamSession *session)
{
  g_autoptr (LamFact) fact = g_list_model_get_item (lam_session_get_facts (session, LAM_FACTS_VOLUME), 0);
  return g_strdup (lam_fact_get_value (fact));
}

/* Edits of the preparation are held until they are applied, undone like others, and a run does it first: then it is what
 * the command line makes of the same numbers. */
static void
test_preparation (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  LamUndo *undo = lam_session_get_undo (session);
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (33));
  g_assert_true (lam_session_get_modified (session));
  const LamGeometry *g = lam_session_get_geometry (session);
  int64_t channels = g->channels, columns = g->recon_columns;
  g_autofree char *first = session_run_and_save (session, "unprepared.h5");
  g_autofree char *need = dup_need (session);

  session_set (session, "crop", g_variant_new_string ("part"));
  session_set (session, "crop_channel_first", g_variant_new_int64 (4));
  session_set (session, "bin", g_variant_new_int64 (2));
  g_assert_true (lam_session_get_unapplied (session));
  g_assert_true (lam_session_can_apply (session));
  g_assert_cmpint (lam_session_get_geometry (session)->channels, ==, channels);
  /* What the next run will need and make is told before they are applied. */
  g_autofree char *ahead = dup_need (session), *size = dup_size (session);
  g_assert_cmpstr (ahead, !=, need);
  g_assert_cmpstr (size, ==, "30 × 30 × 4");
  /* The last channel is never before the first. */
  g_autoptr (GError) error = NULL;
  g_assert_false (
      lam_parameter_edit (session_parameter (session, "crop_channel_last"), g_variant_new_int64 (3), &error));
  g_assert_nonnull (error);

  lam_session_apply_preparation (session);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_OPENING);
  session_wait_for (is_applied, session);
  g = lam_session_get_geometry (session);
  g_assert_cmpint (g->channels, ==, (channels - 4) / 2);
  g_assert_cmpint (g->recon_columns, <, columns);
  /* The axis counts in channels of the file and stays; that of the data follows. */
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 33);
  g_assert_cmpfloat_with_epsilon (lam_geometry_center (g), (33 - 4 - 0.5) / 2, 1e-9);
  g_autofree char *less = dup_need (session);
  g_assert_cmpstr (less, ==, ahead);
  g_autofree char *made = dup_size (session);
  g_assert_cmpstr (made, ==, size);
  session_set (session, "region", g_variant_new_string ("none"));
  g_autofree char *all = dup_need (session);
  g_assert_cmpstr (all, !=, less);
  lam_undo_undo (undo);
  /* The result made before is still there. */
  LamResults *results = lam_session_get_results (session);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (results)), ==, 1);
  g_assert_true (lam_session_can_show (session, lam_results_get (results, 0)));

  g_autofree char *cropped = session_run_and_save (session, "cropped.h5");
  g_autofree char *line = session_line_checksum ("scan.h5 --center 33 --crop ,4:64 --bin 2");
  g_assert_cmpstr (cropped, ==, line);

  /* Undone, they are edits again; a run reads first. */
  while (lam_parameter_get_changed (session_parameter (session, "crop")))
    lam_undo_undo (undo);
  g_assert_false (lam_parameter_get_changed (session_parameter (session, "bin")));
  g_assert_true (lam_session_get_unapplied (session));
  session_set (session, "stripes", g_variant_new_string ("sorting"));
  g_autofree char *striped = session_run_and_save (session, "striped.h5");
  g_assert_true (is_applied (session));
  g_autofree char *striped_line = session_line_checksum ("scan.h5 --center 33 --stripes sorting");
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
  LamSession *session = session_open_scan ("scan.h5");
  double x0, y0, x1, y1;
  session_wait_for (session_has_data, session);
  session_set (session, "center", g_variant_new_double (33));
  pictures = lam_before_after_new (session);
  lam_before_after_set_active (pictures, LAM_PLANE_SINOGRAM, TRUE);
  session_wait_for (is_drawn, session);
  g_assert_true (lam_before_after_has_before (pictures));
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 64);
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->height, ==, 80);
  g_assert_cmpint (picture_info (LAM_PLANE_VIEW)->height, ==, 8);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_VIEW, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, 33.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (x1, 33.5, 1e-9);
  g_autofree char *none = lam_before_after_describe (pictures, LAM_PLANE_SINOGRAM);
  g_assert_cmpstr (none, ==, _ ("No difference"));

  session_set (session, "crop", g_variant_new_string ("part"));
  session_set (session, "crop_channel_first", g_variant_new_int64 (4));
  session_set (session, "bin", g_variant_new_int64 (2));
  session_wait_for (is_drawn, session);
  g_assert_cmpint (lam_session_get_geometry (session)->channels, ==, 64);
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 30);
  g_assert_cmpint (picture_info (LAM_PLANE_VIEW)->height, ==, 4);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_SINOGRAM, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, (33.5 - 4) / 2, 1e-9);

  /* Applied, it is the same picture; the file is not opened again for it. */
  LamSnapshot *after = lam_snapshot_ref (picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER));
  lam_session_apply_preparation (session);
  session_wait_for (is_applied, session);
  session_wait_for (is_drawn, session);
  g_assert_true (picture (LAM_PLANE_SINOGRAM, LAM_PREVIEW_AFTER) == after);
  g_assert_true (lam_before_after_get_axis (pictures, LAM_PLANE_SINOGRAM, &x0, &y0, &x1, &y1));
  g_assert_cmpfloat_with_epsilon (x0, (33.5 - 4) / 2, 1e-9);

  /* By angle, reversed: the last view is at the top, and it is told which it is. */
  session_set (session, "reversed", g_variant_new_boolean (TRUE));
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
  session_wait_for (session_has_data, session);
  session_wait_for (is_drawn, session);
  g_assert_false (lam_before_after_has_before (pictures));
  g_assert_null (picture (LAM_PLANE_VIEW, LAM_PREVIEW_BEFORE));
  g_assert_cmpint (picture_info (LAM_PLANE_SINOGRAM)->width, ==, 256);
  g_object_unref (pictures);
  g_object_unref (session);
}

/* The prior's form by rows is that of the command line, bit for bit; the curve moves with it. */
static void
test_prior (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  g_autoptr (LamSeries) curve = lam_potential_new (lam_session_get_parameters (session));
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (31));
  guint last = lam_series_get_n_rows (curve) - 1;
  /* rho (4) with p = 2, q = 1.2, T = 1: 8 s / (1 + s), s = 4^-0.8 */
  g_assert_cmpfloat_with_epsilon (lam_series_get_x (curve, last), 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (lam_series_get (curve, 0, last), 8 / (1 + pow (4, 0.8)), 1e-9);
  session_set (session, "prior_p", g_variant_new_double (1.9));
  session_set (session, "prior_q", g_variant_new_double (1.4));
  session_set (session, "prior_t", g_variant_new_double (0.5));
  session_set (session, "row_weight", g_variant_new_double (2));
  session_set (session, "slice_weight", g_variant_new_double (0.5));
  double s = pow (8, -0.5);
  g_assert_cmpfloat_with_epsilon (lam_series_get (curve, 0, last), pow (4, 1.9) / 1.9 * s / (1 + s), 1e-9);
  g_autofree char *sum = session_run_and_save (session, "prior.h5");
  g_autofree char *line = session_line_checksum ("scan.h5 --center 31 --p 1.9 --q 1.4 -T 0.5 --neighbours 2,1,0.5");
  g_autofree char *plain = session_line_checksum ("scan.h5 --center 31");
  g_assert_cmpstr (sum, ==, line);
  g_assert_cmpstr (sum, !=, plain);
  g_object_unref (session);
}

/* scan.h5 with weights of its own, of which one is 0. */
static void
make_weighted_scan (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *from = cli_path ("scan.h5"), *to = cli_path (name);
  g_autoptr (LamScan) scan = lam_scan_open (from, NULL, &error);
  int64_t n = scan->geometry->views * scan->geometry->rows * scan->geometry->channels;
  g_autofree float *samples = g_new (float, n), *weights = g_new (float, n);
  lam_scan_read (scan, (LamRange){0, 0}, samples, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  for (int64_t i = 0; i < n; i++)
    weights[i] = i == 100 ? 0 : 1 + (float) (i % 7);
  LamScanData data = {
      .geometry = scan->geometry, .kind = LAM_SCAN_SINOGRAM, .projections = samples, .weights = weights};
  lam_scan_write (to, &data, NULL, &error);
  g_assert_no_error (error);
}

/* The row offers the file's own weights where there are some; a run has what the command line makes of the same word. */
static void
test_weights (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  LamParameter *p = session_parameter (session, "weights");
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (31));
  g_assert_cmpuint (lam_parameter_get_n_choices (p), ==, 4);
  g_assert_cmpstr (lam_parameter_get_text (p), ==, "unweighted");
  g_autofree char *need = dup_need (session);
  session_set (session, "weights", g_variant_new_string ("transmission_root"));
  g_assert_true (lam_session_get_unapplied (session));
  g_autofree char *more = dup_need (session);
  g_assert_cmpstr (more, !=, need);
  g_autofree char *made = session_run_and_save (session, "root.h5");
  g_autofree char *line = session_line_checksum ("scan.h5 --center 31 --weights transmission_root");
  g_assert_cmpstr (made, ==, line);
  g_object_unref (session);

  make_weighted_scan ("weighted.h5");
  session = session_open_scan ("weighted.h5");
  p = session_parameter (session, "weights");
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (31));
  g_assert_cmpuint (lam_parameter_get_n_choices (p), ==, 5);
  g_assert_cmpstr (lam_parameter_get_text (p), ==, "given");
  g_assert_false (lam_session_get_unapplied (session));
  g_autofree char *given = session_run_and_save (session, "given.h5");
  g_autofree char *given_line = session_line_checksum ("weighted.h5 --center 31");
  g_assert_cmpstr (given, ==, given_line);
  session_set (session, "weights", g_variant_new_string ("unweighted"));
  g_autofree char *plain = session_run_and_save (session, "unweighted.h5");
  g_autofree char *plain_line = session_line_checksum ("weighted.h5 --center 31 --weights unweighted");
  g_assert_cmpstr (plain, ==, plain_line);
  g_assert_cmpstr (plain, !=, given);
  g_assert_nonnull (strstr (lam_session_get_log (session), "in place of those of the file"));
  /* Back to what the file says. */
  lam_parameter_reset (p);
  g_autofree char *again = session_run_and_save (session, "again.h5");
  g_assert_cmpstr (again, ==, given);
  g_object_unref (session);
  g_autoptr (CliRun) refused = cli_run ("reconstruct scan.h5 --weights given -o refused.h5");
  cli_assert_status (refused, 1);
  cli_assert_says (refused->err, "scan.h5 has none of its own");
}

static gboolean
live_is_exact (LamSession *session)
{
  return session_has_data (session) && lam_session_get_live_asked (session) > 0
         && lam_session_get_live_exact (session) == lam_session_get_live_asked (session);
}

static gboolean
live_is_shown (LamSession *session)
{
  return lam_session_get_live_shown (session) == lam_session_get_live_asked (session);
}

/* Root mean square of a picture, or of the difference of two. */
static double
rms (LamSnapshot *a, LamSnapshot *b)
{
  const LamSnapshotInfo *info = lam_snapshot_info (a);
  double sum = 0;
  for (int64_t i = 0; i < info->width * info->height; i++) {
    double d = (double) lam_snapshot_pixels (a)[i] - (b != NULL ? lam_snapshot_pixels (b)[i] : 0);
    sum += d * d;
  }
  return sqrt (sum / (double) (info->width * info->height));
}

/* The newest coarse slice that came. */
typedef struct {
  LamSession *session;
  LamSnapshot *shot;
  uint64_t serial;
} Coarse;

static void
note_coarse_cb (LamSliceModel *slices, GParamSpec *pspec, Coarse *coarse)
{
  uint64_t shown = lam_session_get_live_shown (coarse->session);
  if (shown <= lam_session_get_live_exact (coarse->session))
    return;
  g_clear_pointer (&coarse->shot, lam_snapshot_unref);
  coarse->shot = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  coarse->serial = shown;
}

/* While the hand moves, a cone beam's slice is coarse, and of the place that was asked for; when it rests, it is exact. */
static void
test_cone_live (void)
{
  cli_run_free (cli_ok ("project --phantom tooth --shape 256x256x8 --geometry cone --source-detector 700 "
                        "--source-axis 500 --views 180 --seed 1 -o cone.h5"));
  LamSession *session = session_open_scan ("cone.h5");
  session_wait_for (live_is_exact, session);
  session_set (session, "center", g_variant_new_double (127.5)); /* a search that is still going moves it no more */
  session_let_settle ();
  session_wait_for (live_is_exact, session);
  const LamGeometry *g = lam_session_get_geometry (session);
  LamPlace place = {g->channel_offset, g->source_detector, g->source_axis};
  LamSliceModel *slices = lam_session_get_slices (session);
  g_autoptr (LamSnapshot) before = lam_snapshot_ref (lam_slice_model_get_snapshot (slices));
  Coarse seen = {session};
  gulong handler = g_signal_connect (slices, "notify::snapshot", G_CALLBACK (note_coarse_cb), &seen);
  uint64_t serial = 0;
  for (int i = 0; i < 4 || (i < 100 && seen.serial != serial); i++) { /* a busy machine may make an exact one first */
    place.channel_offset += i < 4 ? g->channel_pitch : 0;
    place.source_axis += i < 4 ? 2 : 0;
    lam_session_look_ahead (session, &place); /* two at once are a hand that moves */
    serial = lam_session_look_ahead (session, &place);
    g_assert_cmpuint (serial, >, 0);
    session_wait_for (live_is_shown, session);
    g_assert_cmpfloat (g->channel_offset, <, place.channel_offset); /* the numbers are as they were */
  }
  g_signal_handler_disconnect (slices, handler);
  g_assert_cmpuint (seen.serial, ==, serial);
  g_autoptr (LamSnapshot) coarse = seen.shot;
  g_assert_true (lam_session_edit_place (session, &place, NULL));
  lam_session_look_here (session);
  session_wait_for (live_is_exact, session);
  LamSnapshot *exact = lam_slice_model_get_snapshot (slices);
  g_assert_cmpint (lam_snapshot_info (coarse)->width, ==, lam_snapshot_info (exact)->width);
  g_assert_cmpint (lam_snapshot_info (coarse)->height, ==, lam_snapshot_info (exact)->height);
  double off = rms (exact, coarse) / rms (exact, NULL), old = rms (exact, before) / rms (exact, NULL);
  g_test_message ("coarse differs by %.3f, the slice before the drag by %.3f", off, old);
  g_assert_cmpfloat (off, >, 0);
  g_assert_cmpfloat (off, <, old / 2);
  /* A coarse slice of the same place that comes late does not take the place of the exact one. */
  g_assert_nonnull (lam_session_get_live_preview (session));
  g_signal_emit_by_name (lam_session_get_live_preview (session), "snapshot", coarse,
                         lam_session_get_live_exact (session));
  g_assert_true (lam_slice_model_get_snapshot (slices) == exact);
  g_object_unref (session);
}

static gboolean
is_found (LamSession *session)
{
  const char *note = lam_parameter_get_note (session_parameter (session, "center"));
  return session_has_data (session) && note != NULL;
}

/* A drag that ends where it began leaves the centre that was found, and what was made with it, to the last bit. */
static void
test_drag_back (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  LamUndo *undo = lam_session_get_undo (session);
  session_wait_for (is_found, session);
  LamParameter *center = session_parameter (session, "center");
  /* What a search finds has more digits than a hand. */
  double found = 31.496371;
  lam_parameter_set_default (center, g_variant_new_double (found), NULL);
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, found);
  session_set (session, "iterations", g_variant_new_int64 (1));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  LamResult *made = lam_results_get (lam_session_get_results (session), 0);
  g_assert_true (lam_session_get_shown (session) == made);
  guint steps = lam_undo_get_n_steps (undo);
  double offset = lam_session_get_geometry (session)->channel_offset;
  lam_undo_begin (undo, "Move Axis");
  lam_session_hold_place (session, TRUE);
  for (int i = 1; i >= -1; i--) {
    LamPlace place = {offset + 3.3 * i, 0, 0};
    g_assert_true (lam_session_edit_place (session, &place, NULL));
    g_assert_cmpint (lam_parameter_get_number (center) == found, ==, i == 0);
    g_assert_true ((lam_session_get_shown (session) == made) == (i == 0));
  }
  g_assert_true (lam_session_edit_place (session, &(LamPlace){offset, 0, 0}, NULL));
  lam_session_hold_place (session, FALSE);
  lam_undo_end (undo);
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, found);
  g_assert_cmpuint (lam_undo_get_n_steps (undo), ==, steps);
  /* Nor does showing the result round it. */
  session_set (session, "center", g_variant_new_double (30));
  lam_session_show_result (session, made);
  g_assert_cmpfloat (lam_parameter_get_number (center), ==, found);
  session_set (session, "region", g_variant_new_string ("none"));
  g_assert_null (lam_session_get_shown (session));
  session_set (session, "region", g_variant_new_string ("ellipse"));
  g_assert_true (lam_session_get_shown (session) == made);
  g_object_unref (session);
}

/* A pitch given by hand is what a px is: the rows can be shown in mm, and distances stated in px become mm by it. */
static void
test_pitch (void)
{
  cli_run_free (cli_ok ("project --phantom tooth --shape 32x32x4 --geometry cone --source-detector 700 "
                        "--source-axis 500 --views 40 --seed 1 -o small-cone.h5"));
  LamSession *session = session_open_scan ("small-cone.h5");
  session_wait_for (session_has_data, session);
  LamParameter *axis = session_parameter (session, "source_axis"), *center = session_parameter (session, "center");
  const LamGeometry *g = lam_session_get_geometry (session);
  g_assert_cmpstr (g->length_unit, ==, "px");
  g_assert_null (lam_parameter_get_other_unit (axis));
  double magnification = g->source_detector / g->source_axis;
  session_set (session, "pitch", g_variant_new_double (0.25));
  g = lam_session_get_geometry (session);
  g_assert_cmpstr (g->length_unit, ==, "mm");
  g_assert_cmpfloat (g->channel_pitch, ==, 0.25);
  g_assert_cmpfloat (g->source_axis, ==, 125);
  g_assert_cmpfloat_with_epsilon (g->source_detector / g->source_axis, magnification, 1e-12);
  g_assert_cmpfloat (lam_parameter_get_number (axis), ==, 500);
  g_assert_cmpstr (lam_parameter_get_other_unit (axis), ==, "mm");
  g_assert_cmpstr (lam_parameter_get_other_unit (center), ==, "mm");
  /* A hand moves the source by 1 mm: 4 px; the detector keeps its number. */
  LamPlace place = {g->channel_offset, g->source_detector, g->source_axis + 1};
  g_assert_true (lam_session_edit_place (session, &place, NULL));
  g_assert_cmpfloat_with_epsilon (lam_parameter_get_number (axis), 504, 1e-9);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "source_detector")), ==, 700);
  g_assert_cmpfloat_with_epsilon (lam_session_get_geometry (session)->source_axis, 126, 1e-9);
  lam_undo_undo (lam_session_get_undo (session));
  lam_undo_undo (lam_session_get_undo (session));
  g_assert_cmpstr (lam_session_get_geometry (session)->length_unit, ==, "px");
  g_assert_null (lam_parameter_get_other_unit (center));
  g_object_unref (session);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  session_make_scan ("scan.h5");
  make_bare_scan ();
  g_test_add_func ("/session/tilt", test_tilt);
  g_test_add_func ("/session/tilt-memory", test_tilt_memory);
  g_test_add_func ("/session/results", test_results);
  g_test_add_func ("/session/undo-walk", test_undo_walk);
  g_test_add_func ("/session/angles", test_angles);
  g_test_add_func ("/session/import", test_import);
  g_test_add_func ("/session/sweep", test_sweep);
  g_test_add_func ("/session/preparation", test_preparation);
  g_test_add_func ("/session/before-after", test_before_after);
  g_test_add_func ("/session/prior", test_prior);
  g_test_add_func ("/session/weights", test_weights);
  g_test_add_func ("/session/cone-live", test_cone_live);
  g_test_add_func ("/session/drag-back", test_drag_back);
  g_test_add_func ("/session/pitch", test_pitch);
  int failed = g_test_run ();
  cli_finish ();
  return failed;
}
