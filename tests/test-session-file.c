/* The session as a file, and what is kept of it: all comes back, moved scans are found, full disks and damage are told, and a
 * crash loses nothing. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utime.h>

#include "cli-util.h"
#include "core/error.h"
#include "core/memory.h"
#include "model/session-file.h"
#include "run/job.h"
#include "session-util.h"

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
    LamParameter *q = session_parameter (b, lam_parameter_get_id (p));
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

static GVariant *
sequence_state (void)
{
  static const char text[] = "{'template': <'fisp'>, 'lists': <[('flip', [0.1, 1e300, inf])]>}";
  return g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, NULL);
}

/* Two maps of 4 x 3 x 2 voxels, placed obliquely. */
static LamMapsResult *
make_maps (void)
{
  static const double size[3] = {2, 3, 4};
  LamMrSeries *s = g_new0 (LamMrSeries, 1);
  *s = (LamMrSeries){.path = g_strdup ("/nowhere/series.nii"),
                     .rank = 3,
                     .dims = {4, 3, 2},
                     .voxels = 24,
                     .contrasts = 7,
                     .notes = g_ptr_array_new_with_free_func (g_free)};
  s->nifti = lam_nifti_new (s->dims, size, 1);
  s->nifti->sform[1][2] = s->nifti->affine[1][2] = 1.0 / 3;
  s->nifti->qform_code = 3;
  g_autoptr (LamMapsSeries) series = lam_maps_series_new (s, NULL);
  float state[24] = {0, 0, 1, 2, 3, 4};
  LamMapsResult *r = lam_maps_result_new_kept (series, 5, state, NULL);
  for (int i = 0; i < 2; i++) {
    float *values = lam_alloc_n (24, sizeof *values, "maps", NULL);
    for (int v = 0; v < 24; v++)
      values[v] = v == 3 ? NAN : (float) (v / 7.0 + i);
    lam_maps_result_take (r, i ? "M0" : "T1", i ? "" : "ms", i ? "Proton density" : "Longitudinal", values);
  }
  lam_maps_result_seal (r);
  return r;
}

static void
check_maps (LamMapsResult *r)
{
  g_autoptr (LamMapsResult) truth = make_maps ();
  const LamNifti *a = truth->series->s->nifti, *b = r->series->s->nifti;
  g_assert_true (lam_maps_result_same (truth, r));
  g_assert_cmpmem (truth->match.state, 24, r->match.state, 24);
  g_assert_cmpint (r->rank, ==, 5);
  for (int i = 0; i < 2; i++) {
    g_assert_cmpmem (truth->maps[i].values, 96, r->maps[i].values, 96);
    g_assert_cmpstr (truth->maps[i].name, ==, r->maps[i].name);
    g_assert_cmpstr (truth->maps[i].unit, ==, r->maps[i].unit);
    g_assert_cmpstr (truth->maps[i].title, ==, r->maps[i].title);
  }
  g_assert_cmpstr (r->series->s->path, ==, "/nowhere/series.nii");
  g_assert_cmpint (r->series->s->contrasts, ==, 7);
  g_assert_cmpmem (a->affine, sizeof a->affine, b->affine, sizeof b->affine);
  g_assert_cmpmem (a->sform, sizeof a->sform, b->sform, sizeof b->sform);
  g_assert_cmpmem (a->voxel_size, sizeof a->voxel_size, b->voxel_size, sizeof b->voxel_size);
  g_assert_cmpint (a->qform_code, ==, b->qform_code);
  g_assert_cmpint (a->place, ==, b->place);
}

/* The other workspace's part. */
static void
give_maps (LamSession *session)
{
  g_autoptr (GVariant) sequence = sequence_state ();
  g_autoptr (LamMapsResult) maps = make_maps ();
  lam_session_set_sequence (session, sequence, 3);
  lam_session_set_maps (session, maps);
}

/* A session with two results, one of them saved in a file of its own, and edits since. */
static LamSession *
rich_session (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  session_wait_for (session_has_data, session);
  session_set (session, "stop_percent", g_variant_new_double (0));
  session_set (session, "iterations", g_variant_new_int64 (3));
  session_set (session, "center", g_variant_new_double (33.37));
  session_set (session, "tilt", g_variant_new_double (0.1 + 0.2));
  session_set (session, "crop", g_variant_new_string ("part"));
  session_set (session, "crop_channel_first", g_variant_new_int64 (2));
  session_set (session, "stripes", g_variant_new_string ("sorting"));
  g_free (session_run_and_save (session, "linked.h5"));
  session_set (session, "method", g_variant_new_string ("fbp"));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  g_assert_true (lam_result_rename (lam_results_get (lam_session_get_results (session), 1), "Straight ½ \"back\""));
  session_set (session, "sharpness", g_variant_new_double (-1.5));
  session_set (session, "positivity", g_variant_new_boolean (TRUE));
  session_set (session, "source_axis", g_variant_new_double (1 / 3.0));
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
  give_maps (session);
  g_assert_true (lam_session_get_modified (session) && lam_session_has_unsaved (session));
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
  g_assert_false (lam_session_has_unsaved (session));

  LamSession *other = open_session (path);
  g_signal_connect (other, "failed", G_CALLBACK (session_failed_cb), NULL);
  session_wait_for (session_has_data, other);
  assert_same_session (session, other);
  check_maps (lam_session_get_maps (other));
  g_assert_cmpstr (lam_session_get_home (other), ==, path);
  g_assert_false (lam_session_get_modified (other));
  g_assert_false (lam_undo_can_undo (lam_session_get_undo (other)));
  /* No search for the centre moves what was saved; and the first result is a link. */
  session_let_settle ();
  assert_same_session (session, other);
  g_assert_cmpint (lam_result_get_place (lam_results_get (lam_session_get_results (other), 0)), ==, LAM_VOXELS_SAVED);
  g_assert_cmpint (lam_result_get_place (lam_results_get (lam_session_get_results (other), 1)), ==, LAM_VOXELS_INSIDE);
  /* The other plane is where it was, too. */
  lam_slice_model_set_plane (lam_session_get_slices (other), LAM_PLANE_SLICE);
  g_assert_cmpint (lam_slice_model_get_index (lam_session_get_slices (other)), ==, 5);
  session_set (other, "sharpness", g_variant_new_double (0.5));
  g_assert_true (lam_session_get_modified (other));
  lam_undo_undo (lam_session_get_undo (other));
  g_assert_false (lam_session_get_modified (other));
  g_object_unref (other);

  /* The file with the link is gone: all but its voxels is there, and why is said. */
  g_autofree char *linked = cli_path ("linked.h5"), *away = cli_path ("away.h5");
  g_assert_cmpint (rename (linked, away), ==, 0);
  other = open_session (path);
  session_wait_for (session_has_data, other);
  LamResult *gone = lam_results_get (lam_session_get_results (other), 0);
  g_assert_nonnull (strstr (lam_result_get_problem (gone), "linked.h5"));
  g_assert_cmpuint (lam_result_get_recon (gone)->iterations->len, ==, 3);
  g_assert_false (lam_session_can_show (other, gone));
  g_object_unref (other);
  g_assert_cmpint (rename (away, linked), ==, 0);
  g_object_unref (session);
}

static gboolean
list_is_seen (LamSession *session)
{
  LamParameter *p = session_parameter (session, "bad_pixel_list");
  g_autofree char *problem = lam_parameter_get_problem (p);
  return session_has_data (session) && (problem != NULL || lam_parameter_get_note (p) != NULL);
}

/* A list of bad pixels is looked at when it is named, makes what the command line makes of it, and stays with the session
 * when its file is gone. Crop and axis count in channels of the file, here and in the session's file. */
static void
test_bad_pixels (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  session_wait_for (session_has_data, session);
  LamParameter *p = session_parameter (session, "bad_pixel_list");
  static const struct {
    const char *name, *text, *says;
  } wrong[] = {{"words.txt", "2 3\nrow 4\n", "line 2"},
               {"outside.txt", "2 3\n8 0\n", "outside.txt"},
               {"scan.h5", NULL, "is no list of bad pixels"},
               {"missing.txt", NULL, "missing.txt"}};
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *path = cli_path (wrong[i].name);
    if (wrong[i].text != NULL)
      g_file_set_contents (path, wrong[i].text, -1, NULL);
    session_set (session, "bad_pixel_list", g_variant_new_string (path));
    session_wait_for (list_is_seen, session);
    g_autofree char *problem = lam_parameter_get_problem (p);
    g_assert_nonnull (problem);
    g_test_message ("%s", problem);
    g_assert_nonnull (strstr (problem, wrong[i].says));
    g_assert_cmpstr (lam_session_get_problem (session), ==, problem); /* so it does not run */
    lam_undo_undo (lam_session_get_undo (session));
    g_assert_null (lam_session_get_problem (session));
    g_assert_false (lam_session_get_unapplied (session));
  }
  g_autofree char *list = cli_path ("bad.txt"), *path = cli_path ("listed.lamina.h5");
  g_file_set_contents (list, "# row channel\n2 30\n5 31\n5 32\n", -1, NULL);
  session_set (session, "iterations", g_variant_new_int64 (2));
  session_set (session, "center", g_variant_new_double (50));
  session_set (session, "crop", g_variant_new_string ("part"));
  session_set (session, "crop_channel_first", g_variant_new_int64 (20));
  session_set (session, "bad_pixel_list", g_variant_new_string (list));
  session_wait_for (list_is_seen, session);
  g_assert_cmpstr (lam_parameter_get_note (p), ==, "3 pixels");
  g_autofree char *made = session_run_and_save (session, "listed.h5");
  g_autofree char *line = session_line_checksum ("scan.h5 --center 50 --crop ,20:64 --bad-pixels bad.txt");
  g_autofree char *without = session_line_checksum ("scan.h5 --center 50 --crop ,20:64");
  g_assert_cmpstr (made, ==, line);
  g_assert_cmpstr (made, !=, without);
  g_autoptr (CliRun) info = cli_ok ("info listed.h5");
  cli_assert_says (info->out, "bad pixels: listed in bad.txt");

  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
  g_assert_cmpint (g_unlink (list), ==, 0);
  LamSession *other = open_session (path);
  g_signal_connect (other, "failed", G_CALLBACK (session_failed_cb), NULL);
  session_wait_for (list_is_seen, other);
  assert_same_session (session, other);
  g_assert_cmpfloat (lam_parameter_get_max (session_parameter (other, "center")), ==, 63);
  session_set (other, "bin", g_variant_new_int64 (2));
  g_autofree char *binned = session_run_and_save (other, "binned.h5");
  g_file_set_contents (list, "2 30\n5 31\n5 32\n", -1, NULL);
  g_autofree char *binned_line =
      session_line_checksum ("scan.h5 --center 50 --crop ,20:64 --bin 2 --bad-pixels bad.txt");
  g_assert_cmpstr (binned, ==, binned_line);
  g_object_unref (other);
  g_object_unref (session);
}

static gboolean
is_empty (LamSession *queue)
{
  return g_list_model_get_n_items (G_LIST_MODEL ((gpointer) queue)) == 0;
}

/* Closed while its file is being written, the session does not wait for that; the file becomes whole all the same. */
static void
test_closed_while_saving (void)
{
  g_autoptr (GApplication) application = g_application_new (NULL, G_APPLICATION_NON_UNIQUE);
  g_autoptr (LamQueue) queue = lam_queue_new ();
  g_autofree char *scan = cli_path ("scan.h5"), *path = cli_path ("closed.lamina.h5");
  g_autoptr (GFile) file = g_file_new_for_path (scan), to = g_file_new_for_path (path);
  g_application_set_default (application);
  LamSession *session = lam_session_new (queue);
  lam_session_open (session, file);
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (1));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  lam_session_save_session (session, to);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (queue));
  g_autoptr (LamJob) job = g_list_model_get_item (G_LIST_MODEL (queue), n - 1);
  lam_job_pause (job, TRUE); /* who waits for it now waits for ever */
  g_test_message ("the file is %s", lam_job_get_state (job) == LAM_JOB_PAUSED ? "being written" : "written already");
  g_assert_finalize_object (session);
  lam_job_pause (job, FALSE);
  session_wait_for (is_empty, (gpointer) queue);
  g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_DONE);
  g_application_set_default (NULL);
  LamSession *other = open_session (path);
  g_signal_connect (other, "failed", G_CALLBACK (session_failed_cb), NULL);
  session_wait_for (session_has_data, other);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (other))), ==, 1);
  g_object_unref (other);
}

/* A scan that moved is found beside the session, or asked for; one that changed is told. */
static void
test_moved (void)
{
  LamQuestion kind;
  LamSession *session = session_open_scan ("scan.h5");
  g_autofree char *path = cli_path ("moved.lamina.h5"), *scan = cli_path ("scan.h5"), *folder = cli_path ("elsewhere");
  g_autofree char *away = g_build_filename (folder, "other-name.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path), there = g_file_new_for_path (away);
  session_wait_for (session_has_data, session);
  session_set (session, "center", g_variant_new_double (31.25));
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
  g_object_unref (session);

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_cmpint (rename (scan, away), ==, 0);
  session = open_session (path);
  session_wait_for (session_asks, session);
  g_assert_nonnull (strstr (lam_session_get_question (session, &kind), "scan.h5"));
  g_assert_cmpint (kind, ==, LAM_QUESTION_LOCATE);
  lam_session_locate_scan (session, there);
  session_wait_for (session_has_data, session);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 31.25);
  g_object_unref (session);
  g_assert_cmpint (rename (away, scan), ==, 0);

  /* Both moved together: the relative path holds. */
  g_autofree char *moved = g_build_filename (folder, "moved.lamina.h5", NULL);
  g_autofree char *scan_too = g_build_filename (folder, "scan.h5", NULL);
  g_assert_cmpint (rename (path, moved), ==, 0);
  g_assert_cmpint (rename (scan, scan_too), ==, 0);
  session = open_session (moved);
  session_wait_for (session_has_data, session);
  g_assert_cmpstr (lam_session_get_scan_path (session), ==, scan_too);
  g_object_unref (session);
  g_assert_cmpint (rename (moved, path), ==, 0);
  g_assert_cmpint (rename (scan_too, scan), ==, 0);

  g_utime (scan, NULL);
  session = open_session (path);
  session_wait_for (session_asks, session);
  lam_session_get_question (session, &kind);
  g_assert_cmpint (kind, ==, LAM_QUESTION_CHANGED);
  lam_session_answer (session, TRUE);
  session_wait_for (session_has_data, session);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 31.25);
  g_object_unref (session);
}

static gboolean
store_has_ended (LamSession *session)
{
  return g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_queue (session))) == 0 && session_has_data (session);
}

/* A session being saved belongs to its scan, even if another is open when the file is there. */
static void
test_other_meanwhile (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  g_autofree char *path = cli_path ("meanwhile.lamina.h5"), *other = cli_path ("other.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path), next = g_file_new_for_path (other);
  session_make_scan ("other.h5");
  session_wait_for (session_has_data, session);
  session_set (session, "center", g_variant_new_double (30.5));
  lam_session_save_session (session, file);
  lam_session_open (session, next);
  session_wait_for (store_has_ended, session);
  g_assert_cmpstr (lam_session_get_scan_path (session), ==, other);
  g_assert_null (lam_session_get_home (session)); /* saving again would else put this scan over the other's session */
  g_object_unref (session);

  session = open_session (path);
  session_wait_for (session_has_data, session);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 30.5);
  g_assert_true (g_str_has_suffix (lam_session_get_scan_path (session), "scan.h5"));
  g_object_unref (session);
}

static gboolean
second_is_saved (LamSession *session)
{
  return lam_result_get_place (lam_results_get (lam_session_get_results (session), 1)) == LAM_VOXELS_SAVED;
}

/* A file that a result lies in is written over by another result: the first lies in no file any more. */
static void
test_written_over (void)
{
  LamSession *session = session_open_scan ("scan.h5");
  session_wait_for (session_has_data, session);
  session_set (session, "iterations", g_variant_new_int64 (1));
  g_free (session_run_and_save (session, "over.h5"));
  LamResult *first = lam_results_get (lam_session_get_results (session), 0);
  g_assert_cmpint (lam_result_get_place (first), ==, LAM_VOXELS_SAVED);
  session_set (session, "iterations", g_variant_new_int64 (2));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  g_autofree char *path = cli_path ("over.h5");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_save (session, file);
  session_wait_for (second_is_saved, session);
  g_assert_cmpint (lam_result_get_place (first), ==, LAM_VOXELS_MEMORY);
  g_assert_true (lam_session_has_unsaved (session));
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
  give_maps (session);
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
  g_assert_true (g_file_get_contents (path, &old, &n, NULL));
  session_set (session, "sharpness", g_variant_new_double (4));
  g_autoptr (GError) seen = NULL;
  g_signal_handlers_disconnect_by_func (session, session_failed_cb, NULL);
  g_signal_connect (session, "failed", G_CALLBACK (remember_cb), &seen);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &whole);
  for (gsize limit = 0; limit < n; limit += n / 7) {
    for (int reserve = 0; reserve < 2; reserve++) {
      lam_atomic_set_reserve (reserve);
      small = (struct rlimit){limit, whole.rlim_max};
      setrlimit (RLIMIT_FSIZE, &small);
      lam_session_save_session (session, file);
      session_wait_for (no_store, session);
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
  session_wait_for (no_store, session);
  g_assert_no_error (seen);
  LamSession *other = open_session (path);
  session_wait_for (session_has_data, other);
  g_object_unref (other);
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
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
  give_maps (session);
  lam_session_save_session (session, file);
  session_wait_for (is_stored, session);
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

static gboolean
has_resumed (LamSession *session)
{
  return has_three (session) && strstr (lam_session_get_log (session), "resumed after iteration") != NULL;
}

static void
show_sequence_cb (LamSession *session, GVariant *state, int *n)
{
  g_autoptr (GVariant) truth = sequence_state ();
  g_assert_true (g_variant_equal (state, truth));
  ++*n;
}

/* Another process: a result, edits, a run, edits during it, and the end. */
static void
crash (void)
{
  LamSession *session = lam_session_new (NULL);
  g_autoptr (GFile) file = g_file_new_for_path (g_getenv ("LAMINA_TEST_SCAN"));
  g_signal_connect (session, "failed", G_CALLBACK (session_failed_cb), NULL);
  lam_session_set_autosave (session, 1);
  lam_session_open (session, file);
  session_wait_for (session_has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  session_set (session, "center", g_variant_new_double (33));
  session_set (session, "iterations", g_variant_new_int64 (2));
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  lam_result_rename (lam_results_get (lam_session_get_results (session), 0), "Two iterations");
  session_set (session, "crop", g_variant_new_string ("part"));
  session_set (session, "crop_channel_first", g_variant_new_int64 (3));
  session_set (session, "iterations", g_variant_new_int64 (1000));
  session_set (session, "stop_percent", g_variant_new_double (0));
  lam_session_run (session);
  session_wait_for (has_three, session);
  session_set (session, "sharpness", g_variant_new_double (3.5));
  session_set (session, "center", g_variant_new_double (32.25));
  session_set (session, "bin", g_variant_new_int64 (2));
  g_autoptr (GVariant) sequence = sequence_state ();
  lam_session_set_sequence (session, sequence, 3);
  session_wait_for (has_three, session);
  session_wait_for (is_kept, session);
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

/* As a writer leaves it that is killed in the middle. */
static void
leave_part (const char *prefix, const char *suffix)
{
  g_autofree char *folder = cli_path ("lamina");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, suffix)) {
      g_autofree char *path = g_strdup_printf ("%s/.%s.0123abcd.part", folder, name);
      g_assert_true (g_file_set_contents (path, "half", -1, NULL));
    }
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
  leave_part ("run-", ".ckpt");
  leave_part ("session-", ".lamina.h5");

  LamSession *session = lam_session_new (NULL);
  g_signal_connect (session, "failed", G_CALLBACK (session_failed_cb), NULL);
  lam_session_set_autosave (session, 1);
  lam_session_look_for_crash (session);
  session_wait_for (session_asks, session);
  g_test_message ("%s [%s]", lam_session_get_question (session, &kind), lam_session_get_question_offer (session));
  g_assert_cmpint (kind, ==, LAM_QUESTION_RESTORE);
  g_assert_nonnull (strstr (lam_session_get_question (session, &kind), "iteration"));
  g_assert_nonnull (strstr (lam_session_get_question_offer (session), "scan.h5 with 13 edits"));
  int sequences = 0;
  g_signal_connect (session, "show-sequence", G_CALLBACK (show_sequence_cb), &sequences);
  lam_session_answer (session, TRUE);
  session_wait_for (has_resumed, session);
  g_assert_cmpint (sequences, ==, 1);
  g_assert_cmpint (lam_session_get_state (session), ==, LAM_SESSION_RUNNING);
  /* The run goes on with what it began with; the parameters are those edited since. */
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "sharpness")), ==, 3.5);
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 32.25);
  g_assert_cmpint (lam_parameter_get_integer (session_parameter (session, "bin")), ==, 2);
  g_assert_cmpint (lam_parameter_get_integer (session_parameter (session, "iterations")), ==, 1000);
  g_assert_true (lam_session_get_modified (session));
  lam_session_stop_keep (session);
  session_wait_for (session_is_ready, session);
  g_assert_false (session_asks (session));
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
  g_autofree char *kept = cli_checksum (out), *line = session_line_checksum ("scan.h5 --center 33");
  g_assert_cmpstr (kept, ==, line);
  g_assert_cmpint (g->channels, ==, 64);
  session_wait_for (is_kept, session);
  session_assert_ends (session);
  for (int i = 0; i < 100 && state_files ("") > 0; i++)
    g_usleep (20000);
  g_assert_cmpint (state_files (""), ==, 0);

  /* And now nothing is asked. */
  session = lam_session_new (NULL);
  lam_session_look_for_crash (session);
  session_let_settle ();
  g_assert_false (session_asks (session));
  session_assert_ends (session);
}

static gboolean
is_bare (LamSession *session)
{
  return lam_session_is_bare (session) && lam_session_get_state (session) == LAM_SESSION_EMPTY;
}

/* A sequence alone, without a scan, outlives a crash too; it takes the place of what is open. */
static void
test_recovery_bare (void)
{
  g_autoptr (GVariant) sequence = sequence_state ();
  if (g_test_subprocess ()) {
    LamSession *session = lam_session_new (NULL);
    g_signal_connect (session, "failed", G_CALLBACK (session_failed_cb), NULL);
    lam_session_set_autosave (session, 1);
    give_maps (session);
    session_wait_for (is_kept, session);
    lam_session_set_sequence (session, sequence, 4); /* once more, without the maps being written again */
    session_wait_for (is_kept, session);
    kill (getpid (), SIGKILL);
  }
  LamQuestion kind;
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_assert_cmpint (state_files ("session-"), ==, 3); /* lock, session, maps */
  LamSession *session = session_open_scan ("scan.h5");
  session_wait_for (session_has_data, session);
  lam_session_set_autosave (session, 1);
  lam_session_look_for_crash (session);
  session_wait_for (session_asks, session);
  lam_session_get_question (session, &kind);
  g_assert_cmpint (kind, ==, LAM_QUESTION_RESTORE);
  g_assert_nonnull (strstr (lam_session_get_question_offer (session), "with 4 edits"));
  int sequences = 0;
  g_signal_connect (session, "show-sequence", G_CALLBACK (show_sequence_cb), &sequences);
  lam_session_answer (session, TRUE);
  session_wait_for (is_bare, session);
  g_assert_cmpint (sequences, ==, 1);
  g_assert_null (lam_session_get_title (session));
  g_assert_true (lam_session_get_modified (session));
  check_maps (lam_session_get_maps (session));
  session_wait_for (is_kept, session);
  session_assert_ends (session);
  for (int i = 0; i < 100 && state_files ("") > 0; i++)
    g_usleep (20000);
  g_assert_cmpint (state_files (""), ==, 0);
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
  LamSession *session = session_open_scan ("scan.h5");
  int told = 0;
  struct rlimit whole, none;
  session_wait_for (session_has_data, session);
  lam_undo_set_merge_window (lam_session_get_undo (session), 0);
  g_signal_handlers_disconnect_by_func (session, session_failed_cb, NULL);
  g_signal_connect (session, "failed", G_CALLBACK (count_cb), &told);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &whole);
  none = (struct rlimit){100, whole.rlim_max};
  setrlimit (RLIMIT_FSIZE, &none);
  lam_session_set_autosave (session, 1);
  for (int i = 0; i < 3; i++) {
    session_set (session, "center", g_variant_new_double (30 + i));
    for (gint64 end = g_get_monotonic_time () + 1300000; g_get_monotonic_time () < end;) {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (2000);
    }
  }
  g_assert_cmpint (told, ==, 1);
  g_assert_false (lam_session_is_kept (session));
  g_assert_cmpfloat (lam_parameter_get_number (session_parameter (session, "center")), ==, 32);
  setrlimit (RLIMIT_FSIZE, &whole);
  session_set (session, "center", g_variant_new_double (29));
  session_wait_for (is_kept, session);
  g_assert_cmpint (told, ==, 1);
  session_assert_ends (session);
  g_assert_cmpint (state_files ("session-"), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_test_subprocess ()) { /* which ends before it could clear up */
    cli_init ();
    session_make_scan ("scan.h5");
  }
  g_test_add_func ("/session/file", test_file);
  g_test_add_func ("/session/bad-pixels", test_bad_pixels);
  g_test_add_func ("/session/closed-while-saving", test_closed_while_saving);
  g_test_add_func ("/session/moved", test_moved);
  g_test_add_func ("/session/other-meanwhile", test_other_meanwhile);
  g_test_add_func ("/session/written-over", test_written_over);
  g_test_add_func ("/session/full-disk", test_full);
  g_test_add_func ("/session/damage", test_damage);
  g_test_add_func ("/session/recovery", test_recovery);
  g_test_add_func ("/session/recovery-bare", test_recovery_bare);
  g_test_add_func ("/session/keep-full-disk", test_keep_full);
  int failed = g_test_run ();
  if (!g_test_subprocess ())
    cli_finish ();
  return failed;
}
