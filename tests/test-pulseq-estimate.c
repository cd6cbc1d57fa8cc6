/* test-pulseq-estimate.c: what an open Pulseq file tells of tissues, and the dictionary that is made of it: the numbers of the
 * engine, asked again when something changes, and words where there is nothing. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "bloch-util.h"
#include "core/memory.h"
#include "model/maps-model.h"
#include "model/sequence-session.h"
#include "mr/crlb.h"

enum { PULSES = 40 };

static char *folder;

static gboolean
late_cb (gpointer late)
{
  *(gboolean *) late = TRUE;
  return G_SOURCE_REMOVE;
}

/* Runs the main loop until @done; a test that hangs is red. */
static void
wait_for (gboolean (*done) (gpointer), gpointer data)
{
  gboolean late = FALSE;
  guint source = g_timeout_add_seconds (30, late_cb, &late);
  while (!done (data) && !late)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (late);
  g_source_remove (source);
}

static gboolean
session_settled (gpointer session)
{
  return lam_pulseq_model_is_settled (lam_sequence_session_get_pulseq (session))
         && lam_sequence_session_is_settled (session);
}

static void
settle (LamSequenceSession *s)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  wait_for (session_settled, s);
}

static char *
write_file (const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static LamSequenceSession *
open_session (const char *name, const char *text)
{
  LamSequenceSession *s = lam_sequence_session_new ();
  g_autofree char *path = write_file (name, text);
  lam_pulseq_model_open (lam_sequence_session_get_pulseq (s), path);
  settle (s);
  return s;
}

static LamSequenceSession *
open_train (void)
{
  g_autofree char *text = bloch_train (PULSES, FALSE);
  return open_session ("train.seq", text);
}

static void
end_session (LamSequenceSession *s)
{
  lam_sequence_session_close (s);
  g_assert_finalize_object (s);
}

static LamPulseqEstimate *
estimate_of (LamSequenceSession *s)
{
  return lam_sequence_session_get_pulseq_estimate (s);
}

static void
edit (LamParameterList *list, const char *id, GVariant *value)
{
  lam_parameter_edit (lam_parameter_list_find (list, id), value, NULL);
}

/* The engine's own numbers. */
static void
test_numbers (void)
{
  static const char *const names[] = {"T1", "T2", "M0", "B1", NULL};
  g_autoptr (GError) error = NULL;
  LamSequenceSession *s = open_train ();
  LamSequenceResult *r = lam_pulseq_estimate_get_result (estimate_of (s));
  LamBlochModelOptions o;
  g_assert_cmpint (lam_pulseq_estimate_get_state (estimate_of (s)), ==, LAM_PULSEQ_SIGNAL_READY);
  g_assert_true (g_str_has_prefix (lam_pulseq_estimate_get_text (estimate_of (s)),
                                   "44 samples: of 40 readouts the one nearest the centre of k-space, of 1 all"));
  g_assert_nonnull (r);
  g_assert_true (lam_pulseq_estimate_get_options (estimate_of (s), &o));
  LamBlochModel *bloch =
      lam_bloch_model_new (lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (s))->timing, &o, &error);
  g_autoptr (LamModel) m = lam_model_new_of_pulseq (bloch);
  g_autoptr (LamTissues) t = lam_sequence_session_copy_tissues (s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("3xcpu", &error);
  LamJacobian j = {0};
  g_assert_true (lam_model_jacobian (m, t, NULL, names, set, NULL, &j, NULL, &error));
  g_assert_cmpint (r->samples, ==, 4 + PULSES);
  g_assert_cmpint (r->kinds, ==, 4);
  g_assert_cmpint (r->tissues, ==, 3);
  gsize bytes = (gsize) (r->tissues * r->kinds * r->samples) * sizeof (float);
  g_assert_cmpmem (r->d_re, bytes, j.re, bytes);
  g_assert_cmpmem (r->d_im, bytes, j.im, bytes);
  for (int i = 0; i < r->samples; i++)
    g_assert_cmpfloat (r->time[i], ==, lam_bloch_model_times (bloch)[i]);
  for (int v = 0; v < 3; v++) {
    double variance[3];
    int64_t at = v * 4 * r->samples;
    g_assert_true (lam_crlb (3, r->samples, j.re + at, j.im + at, 0.002 * 0.002, NULL, variance, &error));
    g_assert_cmpfloat (fabs (r->bound[v][LAM_BY_T1] / sqrt (variance[0]) - 1), <, 1e-9);
    g_assert_cmpfloat (fabs (r->bound[v][LAM_BY_M0] / sqrt (variance[2]) - 1), <, 1e-9);
    g_assert_true (isnan (r->bound[v][LAM_BY_B1])); /* taken as known */
    g_assert_null (r->why[v]);
  }
  lam_jacobian_clear (&j);
  end_session (s);
}

/* Many samples are drawn by their extremes, and nothing of them is lost but where. */
static void
test_curves (void)
{
  LamSequenceSession *s = open_train ();
  LamPulseqEstimate *e = estimate_of (s);
  const LamSensitivityCurves *c = lam_pulseq_estimate_get_curves (e);
  LamSequenceResult *r = lam_pulseq_estimate_get_result (e);
  g_assert_false (c->thinned);
  g_assert_cmpint (c->points, ==, r->samples);
  LamSensitivityCurves *few = lam_sensitivity_curves_new (r, 10);
  g_assert_true (few->thinned);
  g_assert_cmpint (few->points, ==, 10);
  static const LamSignalPart parts[] = {LAM_PART_MAGNITUDE, LAM_PART_PHASE, LAM_PART_REAL, LAM_PART_IMAGINARY};
  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    for (int v = 0; v < 3; v++)
      for (int k = 0; k < 4; k++) {
        const double *all = lam_sensitivity_curves_get (c, parts[p], v, k),
                     *y = lam_sensitivity_curves_get (few, parts[p], v, k);
        for (int b = 0; b < 5; b++) {
          double low = INFINITY, high = -INFINITY;
          for (int i = b * r->samples / 5; i < (b + 1) * r->samples / 5; i++) {
            int64_t own = v * r->samples + i, by = (v * 4 + k) * r->samples + i;
            double d = parts[p] == LAM_PART_REAL ? r->d_re[by]
                       : parts[p] == LAM_PART_IMAGINARY
                           ? r->d_im[by]
                           : (r->re[own] * r->d_re[by] + r->im[own] * r->d_im[by]) / hypot (r->re[own], r->im[own]);
            g_assert_cmpfloat_with_epsilon (all[i], d * r->value[v][r->kind[k]], 1e-6);
            low = fmin (low, all[i]);
            high = fmax (high, all[i]);
          }
          g_assert_cmpfloat (fmin (y[2 * b], y[2 * b + 1]), ==, low);
          g_assert_cmpfloat (fmax (y[2 * b], y[2 * b + 1]), ==, high);
          g_assert_cmpfloat (few->x[2 * b], <=, few->x[2 * b + 1]);
        }
      }
  lam_sensitivity_curves_free (few);
  end_session (s);
}

static void
count_cb (gpointer object, int *n)
{
  ++*n;
}

/* What is asked again, and what is not. */
static void
test_changes (void)
{
  LamSequenceSession *s = open_train ();
  LamPulseqEstimate *e = estimate_of (s);
  LamParameterList *bloch = lam_pulseq_signal_get_parameters (lam_sequence_session_get_pulseq_signal (s));
  int results = 0, curves = 0;
  double t1 = lam_pulseq_estimate_get_result (e)->bound[0][LAM_BY_T1];
  g_signal_connect (e, "result", G_CALLBACK (count_cb), &results);
  g_signal_connect (lam_sequence_session_get_pulseq_signal (s), "changed", G_CALLBACK (count_cb), &curves);
  edit (lam_sequence_session_get_model (s), "noise", g_variant_new_double (0.004));
  settle (s);
  g_assert_cmpfloat_with_epsilon (lam_pulseq_estimate_get_result (e)->bound[0][LAM_BY_T1] / t1, 2, 1e-9);
  g_assert_cmpint (results, ==, 1);
  g_assert_cmpint (curves, ==, 0); /* a signal has no noise */
  edit (bloch, "spins", g_variant_new_int64 (20));
  settle (s);
  g_assert_cmpfloat (fabs (lam_pulseq_estimate_get_result (e)->bound[0][LAM_BY_T1] / t1 - 2), >, 0.02);
  edit (lam_pulseq_estimate_get_parameters (e), "samples", g_variant_new_string ("all"));
  settle (s);
  g_assert_cmpint (lam_pulseq_estimate_get_result (e)->samples, ==, 4 + 9 * PULSES);
  g_assert_true (g_str_has_prefix (lam_pulseq_estimate_get_text (e), "364 samples: all that the file reads"));

  /* It is part of what is saved. */
  g_autoptr (GVariant) state = lam_sequence_session_save (s);
  edit (lam_pulseq_estimate_get_parameters (e), "samples", g_variant_new_string ("centre"));
  settle (s);
  g_assert_cmpint (lam_pulseq_estimate_get_result (e)->samples, ==, 4 + PULSES);
  g_assert_true (lam_sequence_session_load (s, state, NULL));
  settle (s);
  g_assert_cmpint (lam_pulseq_estimate_get_result (e)->samples, ==, 4 + 9 * PULSES);

  /* Without a tissue, and without a file, there is nothing, and it is said why. */
  for (int i = 0; i < 3; i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (lam_sequence_session_get_tissues (s), 0);
    lam_sequence_session_remove_tissue (s, item);
  }
  settle (s);
  g_assert_null (lam_pulseq_estimate_get_result (e));
  g_assert_nonnull (strstr (lam_pulseq_estimate_get_text (e), "no tissue"));
  lam_pulseq_model_close_file (lam_sequence_session_get_pulseq (s));
  settle (s);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), ==, LAM_PULSEQ_SIGNAL_NONE);
  g_assert_null (lam_pulseq_estimate_get_text (e));
  end_session (s);
}

/* Why something cannot be told. */
static void
test_words (void)
{
  LamSequenceSession *s = open_session ("adc.seq", BLOCH_HEAD
                                        "[BLOCKS]\n1 1000 0 0 0 0 1 0\n[ADC]\n1 100 100000 0 0 0 0 0 0\n" BLOCH_SHAPES);
  LamSequenceResult *r = lam_pulseq_estimate_get_result (estimate_of (s));
  g_assert_nonnull (r);
  for (int v = 0; v < 3; v++)
    g_assert_cmpstr (r->why[v], ==, "T1 changes no sample, so no sample tells anything of it");
  end_session (s);
  s = open_session ("none.seq",
                    BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n[RF]\n1 25000 1 2 3 5 0 0 0 0 0 e\n" BLOCH_SHAPES);
  g_assert_null (lam_pulseq_estimate_get_result (estimate_of (s)));
  g_assert_nonnull (strstr (lam_pulseq_estimate_get_text (estimate_of (s)), "no readout"));
  end_session (s);
}

static gboolean
is_running (gpointer e)
{
  return lam_pulseq_estimate_get_state (e) == LAM_PULSEQ_SIGNAL_RUNNING && lam_pulseq_estimate_get_fraction (e) > 0;
}

static gboolean
is_settled (gpointer e)
{
  return lam_pulseq_estimate_is_settled (e);
}

/* What takes long waits for a word, can be stopped, and the session can be closed meanwhile. */
static void
test_large (void)
{
  g_autofree char *text = bloch_train (3000, FALSE);
  LamSequenceSession *s = open_session ("long.seq", text);
  LamPulseqEstimate *e = estimate_of (s);
  edit (lam_pulseq_signal_get_parameters (lam_sequence_session_get_pulseq_signal (s)), "spins",
        g_variant_new_int64 (10000));
  settle (s);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), ==, LAM_PULSEQ_SIGNAL_LARGE);
  g_assert_null (lam_pulseq_estimate_get_result (e));
  g_assert_nonnull (strstr (lam_pulseq_estimate_get_text (e), "Derivatives take about"));
  lam_pulseq_estimate_start (e);
  wait_for (is_running, e);
  lam_pulseq_estimate_stop (e);
  wait_for (is_settled, e);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), ==, LAM_PULSEQ_SIGNAL_STOPPED);
  lam_pulseq_estimate_start (e);
  wait_for (is_running, e);
  end_session (s);
}

/* ---- maps ---- */

static gboolean
maps_settled (gpointer maps)
{
  return lam_maps_model_is_settled (maps);
}

/* A dictionary and a phantom are of what is open, and know when that is another thing. */
static void
test_maps (void)
{
  LamSequenceSession *s = open_train ();
  g_autoptr (LamQueue) queue = lam_queue_new ();
  LamMapsModel *maps = lam_maps_model_new (s, queue);
  LamParameterList *rows = lam_maps_model_get_parameters (maps);
  gboolean refused;
  g_assert_true (lam_parameter_get_visible (lam_parameter_list_find (rows, "B1")));
  g_assert_true (lam_parameter_get_visible (lam_parameter_list_find (rows, "B0")));
  g_assert_false (lam_parameter_get_visible (lam_parameter_list_find (rows, "D")));
  edit (rows, "T1", g_variant_new_string ("300:2500:30"));
  edit (rows, "T2", g_variant_new_string ("20:250:20"));
  lam_maps_model_set_active (maps, TRUE);
  wait_for (maps_settled, maps);
  g_assert_nonnull (strstr (lam_maps_model_get_forecast (maps, &refused), "44 contrasts"));
  g_assert_false (refused);
  g_assert_true (lam_maps_model_try (maps, NULL));
  wait_for (maps_settled, maps);
  LamMapsDictionary *d = lam_maps_model_get_dictionary (maps);
  LamMapsResult *r = lam_map_pictures_get_result (lam_maps_model_get_pictures (maps));
  LamSequenceFile *file = lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (s));
  g_assert_nonnull (d);
  g_assert_nonnull (r);
  g_assert_cmpstr (d->d->pulseq->options.file, ==, "train.seq");
  g_assert_cmpstr (d->d->pulseq->options.checksum, ==, file->checksum);
  g_assert_true (g_str_has_prefix (file->checksum, "sha256:"));
  g_assert_nonnull (strstr (lam_maps_model_get_text (maps, LAM_MAPS_DICTIONARY), "train.seq"));
  g_assert_false (lam_maps_model_is_stale (maps));
  /* The discs' T1, to a step of the ranges. */
  int64_t n = 0;
  for (int64_t v = 0; v < r->match.voxels; v++)
    n += r->match.state[v] == LAM_VOXEL_MATCHED;
  g_assert_cmpint (n, >, 2000);
  g_assert_cmpstr (r->maps[0].name, ==, "T1");
  g_assert_cmpfloat (r->maps[0].high, >, 1500);

  LamParameterList *bloch = lam_pulseq_signal_get_parameters (lam_sequence_session_get_pulseq_signal (s));
  edit (bloch, "spins", g_variant_new_int64 (4));
  settle (s);
  g_assert_true (lam_maps_model_is_stale (maps));
  edit (bloch, "spins", g_variant_new_int64 (1));
  settle (s);
  g_assert_false (lam_maps_model_is_stale (maps));
  edit (bloch, "field", g_variant_new_double (7)); /* nothing is in ppm */
  settle (s);
  g_assert_false (lam_maps_model_is_stale (maps));
  lam_pulseq_model_close_file (lam_sequence_session_get_pulseq (s));
  settle (s);
  g_assert_true (lam_maps_model_is_stale (maps)); /* the template is another train */
  lam_maps_model_close (maps);
  g_assert_finalize_object (maps);
  end_session (s);
}

/* A session that is opened again makes its dictionary and phantom of its file, also where the tab is looked at before that is read. */
static void
test_again (void)
{
  LamSequenceSession *s = open_train ();
  g_autoptr (LamQueue) queue = lam_queue_new ();
  LamMapsModel *maps = lam_maps_model_new (s, queue);
  edit (lam_maps_model_get_parameters (maps), "T1", g_variant_new_string ("300:2500:20"));
  edit (lam_maps_model_get_parameters (maps), "T2", g_variant_new_string ("20:250:15"));
  g_assert_true (lam_maps_model_try (maps, NULL));
  wait_for (maps_settled, maps);
  g_autoptr (GVariant) state = lam_sequence_session_save (s);
  lam_maps_model_close (maps);
  g_assert_finalize_object (maps);
  end_session (s);

  s = lam_sequence_session_new ();
  maps = lam_maps_model_new (s, queue);
  g_assert_true (lam_sequence_session_load (s, state, NULL));
  lam_maps_model_set_active (maps, TRUE);
  settle (s);
  wait_for (maps_settled, maps);
  LamMapsDictionary *d = lam_maps_model_get_dictionary (maps);
  g_assert_nonnull (d);
  g_assert_nonnull (d->d->pulseq);
  g_assert_cmpstr (d->d->pulseq->options.file, ==, "train.seq");
  g_assert_cmpint (lam_maps_model_get_series (maps)->s->contrasts, ==, 4 + PULSES);
  g_assert_nonnull (lam_map_pictures_get_result (lam_maps_model_get_pictures (maps)));
  lam_maps_model_close (maps);
  g_assert_finalize_object (maps);
  end_session (s);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc test;
  } tests[] = {
      {"/pulseq-estimate/numbers", test_numbers}, {"/pulseq-estimate/curves", test_curves},
      {"/pulseq-estimate/changes", test_changes}, {"/pulseq-estimate/words", test_words},
      {"/pulseq-estimate/large", test_large},     {"/pulseq-estimate/maps", test_maps},
      {"/pulseq-estimate/again", test_again},
  };
  static const char *const files[] = {"train.seq", "adc.seq", "none.seq", "long.seq"};
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("lamina-estimate-XXXXXX", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);
  int status = g_test_run ();
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (folder, files[i], NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
