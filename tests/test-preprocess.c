/* Preprocessing: counts to -log, defects counted and repaired, detector geometry, weights and data that is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/preprocess.h"
#include "ct/weights.h"
#include "golden-tools.h"

/* Case N4. */
static const float flat_n4[] = {1100, 1100, 1100, 1100, 1100, 100}, dark_n4[] = {100, 100, 100, 100, 100, 100};
static const float object_n4[] = {90, 100, 1120, 600, 1100, 500};

static void
test_transmission (void)
{
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  float y[6], w[6] = {1, 1, 1, 1, 1, 1};
  lam_transmission_options_init (&options);

  memcpy (y, object_n4, sizeof y);
  g_assert_true (lam_transmission (y, 1, 1, 6, flat_n4, dark_n4, &options, NULL, &report, NULL, NULL));
  g_autofree char *text = lam_transmission_report_text (&report, &options);
  g_assert_cmpstr (text, ==, "2 at or below 0, 1 above 1, 1 with flat = dark: 3 filled from their neighbours");
  g_assert_cmpfloat_with_epsilon (y[2], -0.0198026, 1e-6);
  g_assert_cmpfloat_with_epsilon (y[3], 0.6931472, 1e-6);
  g_assert_cmpfloat_with_epsilon (y[4], 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (y[1], y[2], 1e-7); /* one finite neighbour; the other is reached by the second pass */
  g_assert_cmpfloat_with_epsilon (y[0], y[2], 1e-7);
  g_assert_cmpfloat_with_epsilon (y[5], 0, 1e-7);
  g_assert_cmpint (report.samples, ==, 6);

  options.policy = LAM_DEFECT_MASK;
  options.clamp_above = TRUE;
  report = (LamTransmissionReport){0};
  memcpy (y, object_n4, sizeof y);
  g_assert_true (lam_transmission (y, 1, 1, 6, flat_n4, dark_n4, &options, w, &report, NULL, NULL));
  static const float masked[] = {0, 0, 1, 1, 1, 0};
  g_assert_true (memcmp (w, masked, sizeof w) == 0);
  g_assert_cmpfloat (y[2], ==, 0);
  g_assert_cmpint (report.masked, ==, 3);
  for (int i = 0; i < 6; i++)
    g_assert_true (isfinite (y[i]));

  g_autoptr (GError) error = NULL;
  g_assert_false (lam_transmission (y, 1, 1, 6, flat_n4, dark_n4, &options, NULL, &report, NULL, &error));
  g_assert_nonnull (strstr (error->message, "weights"));
  g_clear_error (&error);
  g_assert_false (lam_transmission (y, 1, 1, 6, NULL, dark_n4, &options, w, &report, NULL, &error));
  g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_MISSING));
}

/* No NaN or infinity leaves the step, whatever went in; views do not see each other; chunks change nothing. */
static void
test_transmission_chunks (void)
{
  enum { V = 5, R = 4, C = 7, N = V * R * C };
  float flat[R * C], dark[R * C], whole[N], parts[N], weights[N];
  static const int32_t defects[][2] = {{0, 0}, {2, 3}};
  for (int p = 0; p < R * C; p++) {
    flat[p] = 1000 + (float) p;
    dark[p] = 10;
  }
  flat[5] = NAN;
  for (int i = 0; i < N; i++) {
    whole[i] = 100 + (float) (i * 37 % 900);
    weights[i] = 1;
  }
  for (int p = R * C; p < 2 * R * C; p++)
    whole[p] = 0; /* a whole view without beam */
  whole[3 * R * C + 1] = INFINITY;
  whole[3 * R * C + 2] = NAN;
  memcpy (parts, whole, sizeof whole);
  LamTransmissionOptions options;
  LamTransmissionReport a = {0}, b = {0};
  lam_transmission_options_init (&options);
  options.defects = defects[0];
  options.n_defects = 2;
  g_assert_true (lam_transmission (whole, V, R, C, flat, dark, &options, weights, &a, NULL, NULL));
  for (int v = 0; v < V; v++)
    g_assert_true (lam_transmission (parts + v * R * C, 1, R, C, flat, dark, &options, NULL, &b, NULL, NULL));
  g_assert_true (memcmp (whole, parts, sizeof whole) == 0);
  g_assert_true (memcmp (&a, &b, sizeof a) == 0);
  g_assert_cmpint (a.listed, ==, 2 * V);
  g_assert_cmpint (a.non_finite, ==, V + 2);
  g_assert_cmpint (a.below, ==, R * C - 3);
  g_assert_cmpint (a.left, ==, R * C);
  g_assert_cmpint (a.filled, ==, 2 * (V - 1) + (V - 1) + 2);
  for (int i = 0; i < N; i++) {
    g_assert_true (isfinite (whole[i]));
    g_assert_cmpfloat (weights[i], ==, i / (R * C) == 1 ? 0 : 1);
  }

  LamControl control = {0};
  g_autoptr (GError) error = NULL;
  control.cancel = 1;
  g_assert_false (lam_transmission (parts, V, R, C, flat, dark, &options, NULL, &b, &control, &error));
  g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED));
  g_clear_error (&error);
  g_assert_false (lam_rotate_detector (parts, V, R, C, 0.1, &control, &error));
  g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED));
  g_clear_error (&error);
  static const int32_t outside[] = {4, 0};
  options.defects = outside;
  options.n_defects = 1;
  g_assert_false (lam_transmission (parts, V, R, C, flat, dark, &options, NULL, &b, NULL, &error));
  g_assert_nonnull (strstr (error->message, "row 4, channel 0"));
}

/* Case N4, the real file: nothing at or below 0, and about an eighth above 1, which are kept. */
static void
test_tooth (void)
{
  g_autofree char *path = g_build_filename (golden_data_dir (), "ct", "tooth.h5", NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_test_skip ("no ct/tooth.h5 in $LAMINA_DATA_DIR");
    return;
  }
  hid_t file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  int64_t s[GOLDEN_MAX_RANK], f[GOLDEN_MAX_RANK], d[GOLDEN_MAX_RANK];
  g_autofree float *y = golden_read_float (file, "exchange/data", s);
  g_autofree float *flats = golden_read_float (file, "exchange/data_white", f);
  g_autofree float *darks = golden_read_float (file, "exchange/data_dark", d);
  H5Fclose (file);
  g_autofree float *flat = g_new (float, s[1] * s[2]), *dark = g_new (float, s[1] * s[2]);
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  lam_transmission_options_init (&options);
  g_assert_true (lam_mean_frames (flats, f[0], s[1], s[2], flat, NULL));
  g_assert_true (lam_mean_frames (darks, d[0], s[1], s[2], dark, NULL));
  g_assert_true (lam_transmission (y, s[0], s[1], s[2], flat, dark, &options, NULL, &report, NULL, NULL));
  g_autofree char *text = lam_transmission_report_text (&report, &options);
  double air;
  g_assert_true (lam_air_level (y, s[0], s[1], s[2], &air, NULL));
  g_test_message ("tooth: %s, of %" G_GINT64_FORMAT "; air reads %.4f", text, report.samples, air);
  g_assert_cmpint (report.samples, ==, 231680);
  g_assert_cmpint (report.below + report.flat_dark + report.non_finite + report.filled, ==, 0);
  g_assert_cmpint (ABS (report.above - 28374), <=, 10);
  g_assert_null (lam_air_warning (air));
  float least = 0;
  for (int64_t i = 0; i < report.samples; i++)
    least = fminf (least, y[i]);
  g_assert_cmpfloat (least, <, -0.01);
}

static void
test_air (void)
{
  enum { V = 6, R = 6, C = 13 };
  float y[V * R * C];
  double air;
  for (int i = 0; i < V * R * C; i++)
    y[i] = (abs (i % C - 6) <= 3 ? 2.f : 0.f) + 0.05f;
  g_assert_true (lam_air_level (y, V, R, C, &air, NULL));
  g_autofree char *text = lam_air_warning (air);
  g_assert_nonnull (text);
  g_assert_true (g_str_has_prefix (text, "air reads 0.050"));
  double removed;
  g_assert_true (lam_remove_background (y, V, R, C, 2, LAM_BACKGROUND_GLOBAL, &removed, NULL));
  g_assert_cmpfloat_with_epsilon (removed, 0.05, 1e-6);
  g_assert_true (lam_air_level (y, V, R, C, &air, NULL));
  g_assert_null (lam_air_warning (air));
  /* An object that reaches beyond the detector on one side, now left, now right: there is air on the other. */
  for (int i = 0; i < V * R * C; i++)
    y[i] = (i / (R * C) % 2 ? C - 1 - i % C : i % C) < 5 ? 2 : 0.01f;
  g_assert_true (lam_air_level (y, V, R, C, &air, NULL));
  g_assert_cmpfloat_with_epsilon (air, 0.01, 1e-6);
}

/* Case G4: binning keeps lengths, and the axis where it is. */
static void
test_bin_geometry (void)
{
  static const int64_t channels[] = {10, 9};
  static const double offsets[] = {3.4, 3.9};
  for (int i = 0; i < 2; i++) {
    g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 4, 6, channels[i]);
    g->channel_offset = 3.4;
    double before = lam_geometry_center (g);
    g_assert_true (lam_geometry_bin (g, 1, 2, NULL));
    g_assert_cmpint (g->channels, ==, channels[i] / 2);
    g_assert_cmpint (g->rows, ==, 6);
    g_assert_cmpfloat (g->channel_pitch, ==, 2);
    g_assert_cmpfloat_with_epsilon (g->channel_offset, offsets[i], 1e-9);
    g_assert_cmpfloat_with_epsilon (lam_geometry_center (g), (before - 0.5) / 2, 1e-9);
    g_autoptr (GError) error = NULL;
    g_assert_false (lam_geometry_bin (g, 7, 1, &error));
    g_assert_nonnull (strstr (error->message, "7 rows"));
  }
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_CONE, 4, 20, 30);
  g->row_pitch = 0.5;
  g->row_offset = 1;
  double axis = 0.5 * 19 + g->row_offset / g->row_pitch, center = lam_geometry_center (g);
  g_assert_true (lam_geometry_crop (g, (LamRange){3, 10}, (LamRange){5, 30}, NULL));
  g_assert_cmpfloat_with_epsilon (0.5 * 6 + g->row_offset / g->row_pitch, axis - 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (lam_geometry_center (g), center - 5, 1e-12);
  g_assert_false (lam_geometry_crop (g, (LamRange){3, 3}, (LamRange){0, 1}, NULL));
}

static void
test_bin (void)
{
  float y[2][3][5], out[2][1][2];
  for (int i = 0; i < 30; i++)
    (&y[0][0][0])[i] = (float) i;
  y[0][0][1] = NAN;
  y[1][0][2] = y[1][0][3] = y[1][1][2] = y[1][1][3] = NAN;
  g_assert_true (lam_bin (&y[0][0][0], 2, 3, 5, 2, 2, &out[0][0][0], NULL));
  g_assert_cmpfloat_with_epsilon (out[0][0][0], (0 + 5 + 6) / 3.f, 1e-6);
  g_assert_cmpfloat (out[0][0][1], ==, (2 + 3 + 7 + 8) / 4.f);
  g_assert_cmpfloat (out[1][0][0], ==, (15 + 16 + 20 + 21) / 4.f);
  g_assert_true (isnan (out[1][0][1]));
  g_assert_true (lam_bin (&y[0][0][0], 2, 3, 5, 2, 2, &y[0][0][0], NULL)); /* in place */
  g_assert_cmpfloat ((&y[0][0][0])[2], ==, out[1][0][0]);
  g_assert_cmpfloat ((&y[0][0][0])[1], ==, out[0][0][1]);
}

/* A turned detector turned back is itself, inside. */
static void
test_rotation (void)
{
  enum { R = 40, C = 60 };
  g_autofree float *y = g_new (float, R *C), *z = g_new (float, R *C);
  for (int i = 0; i < R * C; i++)
    z[i] = y[i] = (float) (sin (0.1 * (i / C)) + cos (0.07 * (i % C)));
  g_assert_true (lam_rotate_detector (y, 1, R, C, 0.05, NULL, NULL));
  g_assert_cmpfloat (fabsf (y[20 * C + 50] - z[20 * C + 50]), >, 0.01);
  g_assert_true (lam_rotate_detector (y, 1, R, C, -0.05, NULL, NULL));
  for (int m = 5; m < R - 5; m++)
    for (int n = 5; n < C - 5; n++)
      g_assert_cmpfloat (fabsf (y[m * C + n] - z[m * C + n]), <, 0.01);
  g_assert_false (lam_rotate_detector (y, 1, R, C, NAN, NULL, NULL));
}

/* Some rows of a turned view are those rows of it. */
static void
test_rotation_rows (void)
{
  enum { R = 17, C = 60 };
  float y[R * C], z[R * C], out[R * C];
  for (int i = 0; i < R * C; i++)
    y[i] = z[i] = (float) (i * 37 % 101);
  static const double angles[] = {0.03, -0.2, 1.4};
  for (int k = 0; k < 3; k++) {
    memcpy (z, y, sizeof z);
    g_assert_true (lam_rotate_detector (z, 1, R, C, angles[k], NULL, NULL));
    for (int m = 0; m < R; m++) {
      LamRange rows = {m, LAM_MIN (m + 2, R)}, from = lam_rotate_needs (R, C, angles[k], rows);
      lam_rotate_rows (y + from.begin * C, from, R, C, angles[k], 0, rows, out);
      g_assert_true (memcmp (out, z + m * C, (size_t) lam_range_size (rows) * C * sizeof *out) == 0);
    }
  }
  /* Turned by next to nothing, nothing is lost at the edges if they may be taken. */
  g_assert_cmpint (lam_rotate_rows (y, (LamRange){0, R}, R, C, 1e-3, 0, (LamRange){0, R}, out), >=, C);
  g_assert_cmpfloat (out[0], ==, 0);
  g_assert_cmpint (lam_rotate_rows (y, (LamRange){0, R}, R, C, 1e-3, 0.5, (LamRange){0, R}, out), ==, 0);
  g_assert_cmpfloat_with_epsilon (out[C - 1], y[C - 1], 4);
  g_assert_cmpfloat_with_epsilon (out[R * C - C], y[R * C - C], 4);
  LamRange few = lam_rotate_needs (1000, 100, 0.01, (LamRange){500, 501});
  g_assert_true (few.begin == 499 && few.end == 502);
}

/* Cases N2 and N3: the words, the place, the count. */
static void
assert_check (const float *y, const float *w, const char *text)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = lam_check_sinogram (y, w, NULL, 6, 6, 13, &error);
  if (text ? ok || !strstr (error->message, text) : !ok)
    g_test_fail_printf ("wanted \"%s\", got \"%s\"", text ? text : "accepted", error ? error->message : "accepted");
}

static void
test_check (void)
{
  enum { N = 6 * 6 * 13 };
  float y[N], w[N];
  const int bad = (2 * 6 + 3) * 13 + 4;
  for (int i = 0; i < N; i++) {
    y[i] = 1;
    w[i] = 0.5;
  }
  assert_check (y, NULL, NULL);
  assert_check (y, w, NULL);
  y[bad] = NAN;
  assert_check (y, NULL, "sinogram: 1 sample is not finite, the first (nan) at view 2, row 3, channel 4");
  y[bad] = INFINITY;
  assert_check (y, w, "1 sample is not finite, the first (inf) at view 2, row 3, channel 4");
  w[bad] = 0;
  assert_check (y, w, NULL);
  lam_clear_masked (y, w, N);
  g_assert_cmpfloat (y[bad], ==, 0);
  for (int v = 0; v < 6; v++)
    for (int n = 0; n < 13; n++)
      y[(v * 6 + 5) * 13 + n] = NAN;
  assert_check (y, NULL, "sinogram: 78 samples are not finite, the first (nan) at view 0, row 5, channel 0");

  w[bad] = -1;
  assert_check (y, w, "weights: 1 sample is below 0, the first (-1) at view 2, row 3, channel 4");
  w[bad] = NAN;
  assert_check (y, w, "weights: 1 sample is not finite, the first (nan) at view 2, row 3, channel 4");
  memset (w, 0, sizeof w);
  assert_check (y, w, "weights: all 468 are 0");
}

static void
test_names (void)
{
  LamWeightKind kind;
  LamDefectPolicy policy;
  for (int k = 0; k < LAM_WEIGHTS_COUNT; k++) {
    g_assert_true (lam_weights_from_name (lam_weights_name (k), &kind, NULL));
    g_assert_cmpint (kind, ==, k);
  }
  for (int k = 0; k < LAM_DEFECT_COUNT; k++) {
    g_assert_true (lam_defect_policy_from_name (lam_defect_policy_name (k), &policy, NULL));
    g_assert_cmpint (policy, ==, k);
  }
  g_assert_false (lam_weights_from_name ("heavy", &kind, NULL));
  g_assert_false (lam_defect_policy_from_name (NULL, &policy, NULL));
  float y[] = {NAN, 0}, w[2];
  lam_make_weights (LAM_WEIGHTS_TRANSMISSION, y, 2, w);
  g_assert_cmpfloat (w[0], ==, 0);
  g_assert_cmpfloat (w[1], ==, 1);
}

/* Each allocation failing in turn is an error. */
static void
test_memory (void)
{
  float y[6 * 13] = {0};
  double air;
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 1, 6, 13);
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  lam_transmission_options_init (&options);
  for (int call = 0; call < 6; call++)
    for (int64_t n = 1; n <= 2; n++) {
      g_autoptr (GError) error = NULL;
      int64_t before = lam_memory_bytes ();
      lam_memory_fail_at (n);
      gboolean ok = call == 0   ? lam_transmission (y, 1, 6, 13, y, NULL, &options, NULL, &report, NULL, &error)
                    : call == 1 ? lam_rotate_detector (y, 1, 6, 13, 0.1, NULL, &error)
                    : call == 2 ? lam_air_level (y, 1, 6, 13, &air, &error)
                    : call == 3 ? lam_remove_background (y, 1, 6, 13, 3, LAM_BACKGROUND_PER_VIEW, NULL, &error)
                    : call == 4 ? lam_equalize_means (y, 1, 6, 13, &error)
                                : lam_remove_zingers (y, g, 0.1, 3, NULL, &error);
      lam_memory_fail_at (0);
      if (n == 1)
        g_assert_true (!ok && g_error_matches (error, LAM_ERROR, LAM_ERROR_NO_MEMORY));
      g_assert_cmpint (lam_memory_bytes (), ==, before);
    }
}

static void
check_golden (hid_t file, gpointer tally)
{
  golden_tools (file, tally);
}

static void
test_golden (void)
{
  g_autoptr (GoldenTally) tally = golden_tally_new ();
  if (golden_each_file ("ct", check_golden, tally))
    golden_tally_print (tally);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/preprocess/transmission", test_transmission);
  g_test_add_func ("/preprocess/transmission-chunks", test_transmission_chunks);
  g_test_add_func ("/preprocess/tooth", test_tooth);
  g_test_add_func ("/preprocess/air", test_air);
  g_test_add_func ("/preprocess/bin-geometry", test_bin_geometry);
  g_test_add_func ("/preprocess/bin", test_bin);
  g_test_add_func ("/preprocess/rotation", test_rotation);
  g_test_add_func ("/preprocess/rotation-rows", test_rotation_rows);
  g_test_add_func ("/preprocess/check", test_check);
  g_test_add_func ("/preprocess/names", test_names);
  g_test_add_func ("/preprocess/memory", test_memory);
  g_test_add_func ("/preprocess/golden", test_golden);
  return g_test_run ();
}
