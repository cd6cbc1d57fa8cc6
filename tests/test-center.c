/* The centre of rotation: exact ellipses seen by every kind of scan, a real tooth, and data that cannot tell. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/center.h"
#include "ct/phantom.h"
#include "golden.h"

/* Line integral of the test object at parallel view @angle, distance @s from the axis; radius 1. */
static double
line (double angle, double s)
{
  static const double ellipses[][5] = {{0, 0, .9, .7, 1},
                                       {.3, .2, .2, .2, .5},
                                       {-.4, -.1, .1, .15, -.6},
                                       {.1, -.5, .15, .08, .8},
                                       {-.1, .3, .05, .05, 1.5}};
  double sum = 0;
  for (gsize e = 0; e < G_N_ELEMENTS (ellipses); e++) {
    const double *q = ellipses[e];
    double width = hypot (q[2] * cos (angle), q[3] * sin (angle));
    double u = (s - q[0] * cos (angle) + q[1] * sin (angle)) / width;
    sum += q[4] * 2 * q[2] * q[3] / width * sqrt (fmax (0, 1 - u * u));
  }
  return sum;
}

/* The sinogram of that object, @radius channels large, with the axis at @center of @g; noise as a part of its peak. */
static float *
scan (const LamGeometry *g, double center, double radius, double noise)
{
  int64_t n = g->views * g->rows * g->channels;
  float *y = g_new (float, n);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = i / (g->rows * g->channels);
    double u = ((double) (i % g->channels) - center) * g->channel_pitch;
    double m0 = lam_geometry_magnification (g), gamma = 0, s = u;
    if (g->kind == LAM_GEOMETRY_CONE) {
      gamma = g->detector == LAM_DETECTOR_CURVED ? u / g->source_detector : atan2 (u, g->source_detector);
      s = g->source_axis * sin (gamma);
    }
    y[i] = (float) line (g->angles[v] - gamma, s * m0 / (radius * g->channel_pitch));
  }
  lam_noise_gaussian (y, 0, n, noise * 1.5, 3);
  return y;
}

static void
check (const char *what, LamGeometry *g, double center, double radius, double noise, double bound)
{
  g_autofree float *y = scan (g, center, radius, noise);
  g_auto (LamCenter) found = {0};
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  g_assert_true (lam_center_find (g, y, &found, &error));
  double seconds = (double) (g_get_monotonic_time () - start) / 1e6;
  g_test_message ("%s: %.3f +- %.3f where %.3f is right, confidence %.3f, %s, %.3f s", what, found.channel, found.width,
                  center, found.confidence, found.method, seconds);
  if (!(fabs (found.channel - center) <= bound))
    g_test_fail_printf ("%s: %.3f where %.3f is right", what, found.channel, center);
  if (!(found.confidence > 0.5))
    g_test_fail_printf ("%s: confidence %.3f", what, found.confidence);
  for (int64_t i = 0; i < found.n; i++)
    g_assert_true (isfinite (found.curve_score[i]) && (i == 0 || found.curve_channel[i] > found.curve_channel[i - 1]));
  lam_geometry_free (g);
}

static LamGeometry *
parallel (int64_t views, int64_t channels, double degrees)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, views, 1, channels);
  lam_geometry_set_angles (g, 0.3, 0.3 + degrees * G_PI / 180);
  return g;
}

static void
test_half_turn (void)
{
  check ("clean", parallel (180, 256, 180), 120.3, 100, 0, 0.1);
  check ("noisy", parallel (180, 256, 180), 120.3, 100, 0.05, 0.25);
  check ("noisier", parallel (180, 256, 180), 134.8, 100, 0.15, 0.25);
  check ("far left", parallel (180, 256, 180), 40.2, 35, 0.03, 0.25);
  check ("far right", parallel (180, 256, 180), 220.6, 30, 0.03, 0.25);
  check ("few views", parallel (20, 256, 180), 130.2, 100, 0.03, 0.25);
  check ("backwards", parallel (90, 200, -180), 90.4, 80, 0.03, 0.25);
  check ("odd channels", parallel (181, 255, 180), 127, 100, 0.05, 0.25);
  check ("half-way", parallel (181, 256, 180), 127.5, 100, 0.05, 0.25);
  check ("more views than needed", parallel (1500, 128, 180), 60.2, 50, 0.1, 0.25);
}

/* The last view may lie at 180 degrees exactly, before it, or a little beyond; the order of views is free. */
static void
test_ends (void)
{
  LamGeometry *g = parallel (181, 256, 180.0 * 181 / 180);
  check ("180 included", g, 120.3, 100, 0.03, 0.25);
  check ("a gap of two steps", parallel (179, 256, 179), 120.3, 100, 0.03, 0.25);
  check ("a little over", parallel (190, 256, 190), 120.3, 100, 0.03, 0.25);
  g = parallel (180, 256, 180);
  for (int64_t v = 0; v < 180; v++)
    g->angles[v] = (double) (v * 67 % 180) * G_PI / 180;
  check ("shuffled", g, 120.3, 100, 0.03, 0.25);
}

static void
test_full_turn (void)
{
  check ("full turn", parallel (360, 256, 360), 120.3, 100, 0.1, 0.25);
  check ("full turn, odd", parallel (361, 256, 360), 120.3, 100, 0.05, 0.25);
  check ("full turn, far off", parallel (360, 256, 360), 32.4, 210, 0.02, 0.25);
  check ("full turn, truncated", parallel (360, 256, 360), 128.7, 400, 0.02, 0.25);
  check ("220 degrees", parallel (220, 256, 220), 120.3, 100, 0.05, 0.25);
  check ("two turns", parallel (720, 256, 720), 120.3, 100, 0.05, 0.25);
}

/* Air that drifts from view to view does not pull the axis. */
static void
test_drift (void)
{
  g_autoptr (LamGeometry) g = parallel (360, 256, 360);
  g_autofree float *y = scan (g, 40.3, 36, 0.02);
  g_auto (LamCenter) found = {0};
  for (int64_t i = 0; i < 360 * 256; i++)
    y[i] += 3.0f * (float) (i / 256) / 360;
  g_assert_true (lam_center_find (g, y, &found, NULL));
  g_test_message ("drift: %.3f +- %.3f, confidence %.3f", found.channel, found.width, found.confidence);
  g_assert_cmpfloat (fabs (found.channel - 40.3), <, 0.25);
  g_assert_cmpfloat (found.confidence, >, 0.5);
}

static void
test_truncated (void)
{
  check ("half turn, truncated", parallel (180, 256, 180), 110.3, 170, 0.005, 0.75);
}

static LamGeometry *
cone (int64_t views, double degrees, LamDetectorShape shape)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_CONE, views, 1, 256);
  g->detector = shape;
  g->channel_pitch = 0.5;
  g->source_detector = 400;
  g->source_axis = 200;
  lam_geometry_set_angles (g, 0.3, 0.3 + degrees * G_PI / 180);
  return g;
}

static void
test_cone (void)
{
  check ("cone, flat", cone (360, 360, LAM_DETECTOR_FLAT), 120.3, 100, 0.05, 0.25);
  check ("cone, curved", cone (360, 360, LAM_DETECTOR_CURVED), 120.3, 100, 0.05, 0.25);
  check ("cone, backwards", cone (360, -360, LAM_DETECTOR_FLAT), 132.3, 90, 0.05, 0.25);
  check ("cone, far off", cone (360, 360, LAM_DETECTOR_FLAT), 50.3, 40, 0.03, 0.3);
  check ("cone, short scan", cone (240, 220, LAM_DETECTOR_FLAT), 120.3, 100, 0.02, 0.25);
}

static void
test_rows (void)
{
  LamGeometry *many = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 180, 7, 200);
  lam_geometry_set_angles (many, 0, G_PI);
  check ("seven rows", many, 95.6, 80, 0.1, 0.25);
}

/* Case G7. */
static void
test_tooth (void)
{
  g_autofree char *path = g_build_filename (golden_data_dir (), "ct", "tooth.h5", NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_test_skip ("no ct/tooth.h5 in $LAMINA_DATA_DIR");
    return;
  }
  hid_t file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  int64_t shape[GOLDEN_MAX_RANK], flats[GOLDEN_MAX_RANK];
  g_autofree float *y = golden_read_float (file, "exchange/data", shape);
  g_autofree float *flat = golden_read_float (file, "exchange/data_white", flats);
  g_autofree float *dark = golden_read_float (file, "exchange/data_dark", NULL);
  g_autofree double *theta = golden_read_double (file, "exchange/theta", NULL);
  H5Fclose (file);
  int64_t size = shape[1] * shape[2];
  for (int64_t p = 0; p < size; p++) {
    double f = 0, d = 0;
    for (int64_t k = 0; k < flats[0]; k++) {
      f += flat[k * size + p];
      d += dark[k * size + p];
    }
    for (int64_t v = 0; v < shape[0]; v++)
      y[v * size + p] = (float) -log ((y[v * size + p] - d / flats[0]) / ((f - d) / flats[0]));
  }
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, shape[0], shape[1], shape[2]);
  for (int64_t v = 0; v < shape[0]; v++)
    g->angles[v] = theta[v] * G_PI / 180;
  g_auto (LamCenter) found = {0};
  gint64 start = g_get_monotonic_time ();
  g_assert_true (lam_center_find (g, y, &found, NULL));
  g_test_message ("tooth: %.3f +- %.3f, confidence %.4f, %s, %.3f s", found.channel, found.width, found.confidence,
                  found.method, (double) (g_get_monotonic_time () - start) / 1e6);
  g_assert_cmpfloat (fabs (found.channel - 295.5), <=, 0.75);
  g_assert_cmpfloat (found.confidence, >, 0.8);
  g_assert_cmpfloat (found.width, <, 0.5);
  g_assert_cmpint (found.n, >, 600);
  g_assert_null (found.note);
}

static void
assert_unsure (const char *what, LamGeometry *g, float *y)
{
  g_auto (LamCenter) found = {0};
  g_autoptr (GError) error = NULL;
  g_assert_true (lam_center_find (g, y, &found, &error));
  g_test_message ("%s: %.2f, confidence %.3f (%s)", what, found.channel, found.confidence,
                  found.note ? found.note : "no note");
  if (found.confidence > 0.2 || !found.note)
    g_test_fail_printf ("%s: confidence %.3f, note %s", what, found.confidence, found.note ? found.note : "none");
  g_assert_true (isfinite (found.channel) && isfinite (found.width));
  g_free (y);
  lam_geometry_free (g);
}

static void
test_unsure (void)
{
  static const double ranges[] = {180, 360};
  for (int r = 0; r < 2; r++) {
    LamGeometry *g = parallel (90, 128, ranges[r]);
    assert_unsure ("zeros", g, g_new0 (float, 90 * 128));
    float *y = g_new (float, 90 * 128);
    for (int i = 0; i < 90 * 128; i++)
      y[i] = 0.7f;
    assert_unsure ("constant", parallel (90, 128, ranges[r]), y);
    y = g_new0 (float, 90 * 128);
    lam_noise_gaussian (y, 0, 90 * 128, 0.1, 8);
    assert_unsure ("noise alone", parallel (90, 128, ranges[r]), y);
    y = g_new (float, 90 * 128);
    for (int i = 0; i < 90 * 128; i++)
      y[i] = NAN;
    assert_unsure ("NaN", parallel (90, 128, ranges[r]), y);
  }
  assert_unsure ("cone, zeros", cone (90, 360, LAM_DETECTOR_FLAT), g_new0 (float, 90 * 256));
  LamGeometry *g = parallel (2, 128, 180);
  assert_unsure ("two views", g, scan (g, 60, 40, 0));
  g = parallel (9, 128, 0);
  assert_unsure ("one angle", g, scan (g, 60, 40, 0));
  g = parallel (9, 3, 180);
  assert_unsure ("three channels", g, scan (g, 1, 1, 0));
}

/* A quarter turn is answered from the centre of mass, with less trust. */
static void
test_quarter_turn (void)
{
  g_autoptr (LamGeometry) g = parallel (90, 256, 90);
  g_autofree float *y = scan (g, 120.3, 100, 0);
  g_auto (LamCenter) found = {0};
  g_assert_true (lam_center_find (g, y, &found, NULL));
  g_test_message ("quarter turn: %.3f +- %.3f, confidence %.3f", found.channel, found.width, found.confidence);
  g_assert_cmpfloat (fabs (found.channel - 120.3), <, 1);
  g_assert_cmpfloat (found.confidence, <=, 0.5);
  g_assert_nonnull (found.note);
}

static void
test_refused (void)
{
  g_autoptr (LamGeometry) g = parallel (90, 128, 180);
  g_autofree float *y = scan (g, 60, 40, 0);
  LamCenter found;
  g_autoptr (GError) error = NULL;
  g->angles[4] = NAN;
  g_assert_false (lam_center_find (g, y, &found, &error));
  g_assert_nonnull (strstr (error->message, "angles[4]"));
}

/* Each allocation failing in turn is an error, and leaks nothing. */
static void
test_memory (void)
{
  LamGeometry *scans[] = {parallel (60, 64, 180), parallel (60, 64, 360), parallel (60, 64, 90),
                          cone (60, 360, LAM_DETECTOR_FLAT), parallel (60, 64, 180)};
  for (gsize i = 0; i < G_N_ELEMENTS (scans); i++) {
    g_autofree float *y = scan (scans[i], 30, i == 4 ? 60 : 25, 0);
    int failed = 0;
    for (int64_t n = 1;; n++) {
      g_autoptr (GError) error = NULL;
      g_auto (LamCenter) found = {0};
      int64_t before = lam_memory_bytes ();
      lam_memory_fail_at (n);
      gboolean ok = lam_center_find (scans[i], y, &found, &error);
      int64_t counted = lam_memory_fail_at (0);
      if (ok) {
        g_assert_cmpint (counted, <, n);
        break;
      }
      g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_NO_MEMORY));
      g_assert_cmpint (lam_memory_bytes (), ==, before);
      failed++;
    }
    g_assert_cmpint (failed, >, 4);
    lam_geometry_free (scans[i]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/center/tooth", test_tooth);
  g_test_add_func ("/center/half-turn", test_half_turn);
  g_test_add_func ("/center/ends", test_ends);
  g_test_add_func ("/center/full-turn", test_full_turn);
  g_test_add_func ("/center/drift", test_drift);
  g_test_add_func ("/center/truncated", test_truncated);
  g_test_add_func ("/center/cone", test_cone);
  g_test_add_func ("/center/rows", test_rows);
  g_test_add_func ("/center/unsure", test_unsure);
  g_test_add_func ("/center/quarter-turn", test_quarter_turn);
  g_test_add_func ("/center/refused", test_refused);
  g_test_add_func ("/center/memory", test_memory);
  return g_test_run ();
}
