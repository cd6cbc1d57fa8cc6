/* test-cases-ct.c: faults that other CT programs have had in public, each as a small test with its numbers. The letter and
 * number of each is that of the list of cases the project keeps. The circular mask is off unless a case says on.
 * meson runs this again under LAMINA_POISON=1. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct-run.h"
#include "ct/autoreg.h"
#include "io/volume.h"
#include "run/recon.h"

static LamGeometry *
parallel (int64_t views, int64_t rows, int64_t channels, int64_t recon_rows, int64_t columns, int64_t slices)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, views, rows, channels);
  g->recon_rows = recon_rows;
  g->recon_columns = columns;
  g->recon_slices = slices;
  g->voxel_pitch = 1;
  g->mask = LAM_MASK_NONE;
  return g;
}

static void
set_angles (LamGeometry *g, double first, double step)
{
  for (int64_t v = 0; v < g->views; v++)
    g->angles[v] = first + step * (double) v;
}

static int64_t
volume_size (const LamGeometry *g)
{
  return g->recon_rows * g->recon_columns * g->recon_slices;
}

static int64_t
sino_size (const LamGeometry *g)
{
  return g->views * g->rows * g->channels;
}

static float *
forward (const LamGeometry *g, const float *x)
{
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  return ct_run_forward (run, x);
}

static float *
back (const LamGeometry *g, const float *y)
{
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  return ct_run_back (run, y, FALSE, FALSE);
}

static float *
direct (const LamGeometry *g, const float *y)
{
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  return ct_run_direct (run, y);
}

static double
largest_difference (const float *a, const float *b, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    g_assert_true (isfinite (a[i]) && isfinite (b[i]));
    largest = MAX (largest, fabs ((double) a[i] - b[i]));
  }
  return largest;
}

/* |a - b| / |b| in the 2-norm. */
static double
relative (const float *a, const float *b, int64_t n)
{
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    difference += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
    norm += (double) b[i] * b[i];
  }
  return sqrt (difference / norm);
}

static double
dot (const float *a, const float *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += (double) a[i] * b[i];
  return sum;
}

static void
assert_finite (const float *a, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (!isfinite (a[i]))
      g_error ("element %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is %g", i, n, a[i]);
}

/* ---- geometry ---- */

/* G1: one channel of offset moves the picture by one channel, upwards; -0 is 0. */
static void
test_offset_sign (void)
{
  g_autoptr (LamGeometry) g = parallel (5, 1, 10, 10, 10, 1);
  float x[100] = {0};
  set_angles (g, 0.3, 0.9);
  x[3 * 10 + 4] = 1;
  x[5 * 10 + 2] = 2;
  g_autofree float *zero = forward (g, x);
  g->channel_offset = -0.0;
  g_autofree float *minus_zero = forward (g, x);
  g->channel_offset = 1;
  g_autofree float *up = forward (g, x);
  g->channel_offset = -1;
  g_autofree float *down = forward (g, x);
  g_assert_true (memcmp (zero, minus_zero, 50 * sizeof *zero) == 0);
  g_assert_cmpfloat (dot (zero, zero, 50), >, 1);
  for (int v = 0; v < 5; v++)
    for (int n = 0; n < 9; n++) {
      g_assert_cmpfloat_with_epsilon (up[v * 10 + n + 1], zero[v * 10 + n], 1e-6);
      g_assert_cmpfloat_with_epsilon (down[v * 10 + n], zero[v * 10 + n + 1], 1e-6);
    }
}

/* G2: mass, centre and direction of turning. */
static void
test_mass (void)
{
  static const double degrees[] = {0, 60, 120, 180, 360, 720};
  static const double centroid[] = {139.5, 119.5, 79.5, 59.5, 139.5, 139.5};
  g_autoptr (LamGeometry) g = parallel (6, 1, 200, 200, 200, 1);
  g_autofree float *x = g_new0 (float, 200 * 200);
  int voxels = 0;
  for (int v = 0; v < 6; v++)
    g->angles[v] = degrees[v] * G_PI / 180;
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 200; j++)
      if ((j - 99.5 - 40) * (j - 99.5 - 40) + (i - 99.5) * (i - 99.5) <= 100) {
        x[i * 200 + j] = 1;
        voxels++;
      }
  g_assert_cmpint (voxels, ==, 316);
  g_autofree float *y = forward (g, x);
  for (int v = 0; v < 6; v++) {
    double sum = 0, moment = 0;
    for (int n = 0; n < 200; n++) {
      sum += y[v * 200 + n];
      moment += (double) y[v * 200 + n] * n;
    }
    g_assert_cmpfloat_with_epsilon (sum, 316, 316e-5);
    g_assert_cmpfloat_with_epsilon (moment / sum, centroid[v], 1e-4);
  }
  g_assert_cmpfloat (largest_difference (y, y + 4 * 200, 200), <=, 1e-6);
  g_assert_cmpfloat (largest_difference (y, y + 5 * 200, 200), <=, 1e-6);

  g_autoptr (LamGeometry) quarter = parallel (1, 1, 200, 200, 200, 1);
  memset (x, 0, 200 * 200 * sizeof *x);
  x[130 * 200 + 99] = 1;
  quarter->angles[0] = G_PI / 2;
  g_autofree float *z = forward (quarter, x);
  double sum = 0, moment = 0;
  for (int n = 0; n < 200; n++) {
    sum += z[n];
    moment += (double) z[n] * n;
  }
  g_assert_cmpfloat_with_epsilon (moment / sum, 69.0, 1e-4);
}

/* G3: the default centre is (N - 1) / 2, for even and odd N. */
static void
test_default_center (void)
{
  static const int64_t sizes[] = {64, 63, 1024};
  for (int k = 0; k < 3; k++) {
    int64_t n = sizes[k];
    g_autoptr (LamGeometry) g = parallel (n, 1, n, n, n, 1);
    g_assert_cmpfloat (lam_geometry_center (g), ==, 0.5 * (double) (n - 1));
    if (n == 1024)
      continue;
    lam_geometry_set_angles (g, 0, G_PI);
    g_autofree float *y = g_new (float, n *n), *mirrored = g_new (float, n *n);
    for (int64_t i = 0; i < n * n; i++) {
      double s = (double) (i % n) - 0.5 * (double) (n - 1), r = 0.3 * (double) n;
      y[i] = (float) (2 * sqrt (fmax (0, r * r - s * s)));
    }
    g_autofree float *x = direct (g, y);
    float peak = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        mirrored[i * n + j] = x[i * n + n - 1 - j];
        peak = MAX (peak, x[i * n + j]);
      }
    g_assert_cmpfloat (largest_difference (x, mirrored, n * n), <=, 1e-5 * peak);
  }
}

static void
check_disc (const LamGeometry *g, double mean_tolerance)
{
  g_autofree float *y = g_new (float, 100 * 100);
  for (int v = 0; v < 100; v++)
    for (int n = 0; n < 100; n++) {
      double u = (n - 49.5) * 0.46;
      double s = isfinite (g->source_axis) && g->kind == LAM_GEOMETRY_CONE
                     ? g->source_axis * sin (atan (u / g->source_detector))
                     : u;
      y[v * 100 + n] = (float) (2 * 0.02 * sqrt (fmax (0, 144 - s * s)));
    }
  g_autofree float *x = direct (g, y);
  double sum = 0;
  int64_t count = 0;
  assert_finite (x, 100 * 100);
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++)
      if (hypot ((i - 49.5) * 0.4, (j - 49.5) * 0.4) < 9) {
        sum += x[i * 100 + j];
        count++;
        g_assert_cmpfloat (x[i * 100 + j], >=, 0.0194);
        g_assert_cmpfloat (x[i * 100 + j], <=, 0.0206);
      }
  g_assert_cmpfloat_with_epsilon (sum / (double) count, 0.02, mean_tolerance);
}

static void
disc_scan (LamGeometry *g)
{
  g->channel_pitch = g->row_pitch = 0.46;
  g->recon_rows = g->recon_columns = 100;
  g->recon_slices = 1;
  g->voxel_pitch = 0.4;
  g->mask = LAM_MASK_NONE;
  lam_geometry_set_angles (g, 0, G_PI);
}

/* G5: a nearly parallel beam over half a turn, and a parallel one. */
static void
test_nearly_parallel (void)
{
  g_autoptr (LamGeometry) cone = lam_geometry_new (LAM_GEOMETRY_CONE, 100, 1, 100);
  cone->source_detector = 1701;
  cone->source_axis = 1625;
  disc_scan (cone);
  check_disc (cone, 0.0003);
  g_assert_cmpfloat_with_epsilon (lam_geometry_span_needed (cone), 181.55, 0.005);
  g_assert_cmpfloat_with_epsilon (lam_geometry_span (cone), 180, 1e-6);
  g_autofree char *warnings = lam_geometry_warnings (cone);
  g_assert_nonnull (strstr (warnings, "181.5"));
  g_assert_nonnull (strstr (warnings, "180"));

  g_autoptr (LamGeometry) flat = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 100, 1, 100);
  disc_scan (flat);
  check_disc (flat, 0.0001);

  g_autoptr (LamGeometry) far_away = lam_geometry_new (LAM_GEOMETRY_CONE, 100, 1, 100);
  far_away->source_detector = far_away->source_axis = INFINITY;
  disc_scan (far_away);
  check_disc (far_away, 0.0001);
}

/* ---- rays ---- */

static void
check_pair (LamGeometry *g, const char *name)
{
  int64_t nx = volume_size (g), ny = sino_size (g);
  g_autofree float *x = ct_random (nx, 31), *y = ct_random (ny, 32);
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  g_autofree float *ax = ct_run_forward (run, x), *aty = ct_run_back (run, y, FALSE, FALSE);
  double a = dot (ax, y, ny), b = dot (x, aty, nx);
  g_test_message ("%s: <Ax,y> = %.9g, <x,A'y> = %.9g", name, a, b);
  g_assert_cmpfloat (a, >, 0);
  g_assert_cmpfloat_with_epsilon (a, b, 1e-5 * a);
  g_autofree float *ata = ct_run_back (run, ax, FALSE, FALSE);
  double c = dot (ax, ax, ny), d = dot (x, ata, nx);
  g_assert_cmpfloat_with_epsilon (c, d, 1e-5 * c);
}

/* R1: forward and back projection are a matched pair, whatever the pitches. */
static void
test_matched_pair (void)
{
  static const char *const names[] = {"parallel", "cone flat", "cone curved", "helical"};
  for (int kind = 0; kind < 4; kind++)
    for (int tiny = 0; tiny < 2; tiny++)
      for (int pitches = 0; pitches < 2; pitches++) {
        g_autoptr (LamGeometry) g =
            lam_geometry_new (kind ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, 5, kind || !tiny ? 7 : 1, 11);
        g->recon_rows = tiny ? 1 : 9;
        g->recon_columns = tiny ? 1 : 8;
        g->recon_slices = tiny ? 1 : 7;
        g->voxel_pitch = 1;
        g->mask = LAM_MASK_NONE;
        set_angles (g, 0.2, 0.7);
        if (pitches) {
          g->row_pitch = kind ? 1.7 : 1; /* in parallel beam slices and rows are one */
          g->slice_aspect = kind ? 1.3 : 1;
          g->channel_pitch = 0.6;
          g->row_aspect = 0.9;
          g->channel_offset = 0.37;
        }
        if (kind) {
          g->source_detector = 40;
          g->source_axis = 25;
          g->row_offset = 0.2;
        }
        if (kind == 2)
          g->detector = LAM_DETECTOR_CURVED;
        if (kind == 3) {
          g->shifts = g_new (double, 5);
          for (int v = 0; v < 5; v++)
            g->shifts[v] = 0.4 * (v - 2);
        }
        check_pair (g, names[kind]);
      }
}

/* R1, parallel beam with a row pitch other than 1: voxels are as high as detector rows. */
static void
test_matched_pair_rows (void)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 5, 7, 11);
  g->row_pitch = 1.7;
  g->channel_pitch = 0.6;
  g->mask = LAM_MASK_NONE;
  set_angles (g, 0.2, 0.7);
  g_assert_true (lam_geometry_auto_volume (g, NULL));
  check_pair (g, "parallel, rows of 1.7");
}

/* ---- sizes ---- */

/* S1: the smallest volume. */
static void
test_smallest (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = parallel (1, 2, 2, 2, 2, 2);
  const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  g_autofree float *y = forward (g, ones), *x = back (g, ones);
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (y[i], 2, 1e-6);
  for (int i = 0; i < 8; i++)
    g_assert_cmpfloat_with_epsilon (x[i], 1, 1e-6);
  /* With the mask on no pixel of 2 x 2 is inside: said, not answered with zeros. */
  int64_t n = -1;
  g->mask = LAM_MASK_ELLIPSE;
  g_assert_null (lam_geometry_mask_pixels (g, &n, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
}

/* S2: odd and tiny. */
static void
test_odd (void)
{
  g_autoptr (LamGeometry) g = parallel (9, 5, 63, 63, 63, 5);
  g_autofree float *x = g_new0 (float, volume_size (g));
  set_angles (g, 0, 10 * G_PI / 180);
  for (int i = 21; i <= 41; i++)
    for (int j = 21; j <= 41; j++)
      for (int k = 0; k < 5; k++)
        x[(i * 63 + j) * 5 + k] = 1;
  g_autofree float *y = forward (g, x);
  for (int m = 0; m < 5; m++)
    for (int n = 0; n < 63; n++) {
      g_assert_cmpfloat_with_epsilon (y[m * 63 + n], y[m * 63 + 62 - n], 1e-6);
      g_assert_cmpfloat_with_epsilon (y[m * 63 + n], n >= 21 && n <= 41 ? 21 : 0, 1e-5);
    }
  g_autoptr (LamGeometry) one = parallel (1, 1, 1, 1, 1, 1);
  const float unit = 1;
  g_autofree float *z = forward (one, &unit);
  g_assert_cmpfloat_with_epsilon (z[0], 1, 1e-6);
}

/* The formula of case D2. */
static float *
formula (int64_t rows, int64_t columns, int64_t slices)
{
  float *x = g_new (float, rows *columns *slices), *at = x;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      for (int64_t k = 0; k < slices; k++)
        *at++ = (float) ((7 * i + 3 * j + 5 * k) % 11) / 11;
  return x;
}

static float *
solve (const LamGeometry *g, const float *y)
{
  LamVcdParams params;
  lam_vcd_params_default (&params);
  params.iterations = 3;
  params.sigma_y = 0.05;
  params.prior.sigma_x = 0.05;
  return ct_run_vcd (g, "cpu", y, NULL, &params, LAM_START_DIRECT, NULL);
}

/* S3: one row, one column, one slice, with the circular mask on; a missing neighbour is the voxel itself. */
static void
test_flat_volumes (void)
{
  static const int64_t shapes[][3] = {{1, 9, 5}, {9, 1, 5}, {9, 9, 1}};
  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++) {
    g_autoptr (LamGeometry) g = parallel (4, shapes[s][2], 9, shapes[s][0], shapes[s][1], shapes[s][2]);
    int64_t pixels;
    set_angles (g, 0.2, 0.7);
    g->mask = LAM_MASK_ELLIPSE;
    lam_free (lam_geometry_mask_pixels (g, &pixels, NULL));
    if (s < 2)
      g_assert_cmpint (pixels, ==, 9); /* a line is all inside: 0/0 is not outside */
    else
      g_assert_cmpint (pixels, <, 81);
    g_autofree float *x = formula (shapes[s][0], shapes[s][1], shapes[s][2]), *y = forward (g, x);
    g_autofree float *fbp = direct (g, y), *vcd = solve (g, y);
    assert_finite (fbp, volume_size (g));
    assert_finite (vcd, volume_size (g));
    g_assert_cmpfloat (dot (vcd, vcd, volume_size (g)), >, 0);
  }
  g_autoptr (LamGeometry) one = parallel (4, 1, 9, 9, 9, 1);
  g_autoptr (LamGeometry) three = parallel (4, 3, 9, 9, 9, 3);
  set_angles (one, 0.2, 0.7);
  set_angles (three, 0.2, 0.7);
  g_autofree float *x = formula (9, 9, 1), *x3 = g_new (float, 81 * 3);
  for (int i = 0; i < 81 * 3; i++)
    x3[i] = x[i / 3];
  g_autofree float *y = forward (one, x), *y3 = forward (three, x3);
  g_autofree float *single = solve (one, y), *triple = solve (three, y3), *slice = g_new (float, 81);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 81; i++)
      slice[i] = triple[i * 3 + k];
    g_assert_cmpfloat (relative (slice, single, 81), <=, 1e-5);
  }
}

/* ---- devices ---- */

/* B13: the phantom, 6 views at 0.2 + 0.5 v, circular mask on (113 pixels). */
static LamGeometry *
b13_geometry (void)
{
  LamGeometry *g = parallel (6, 6, 13, 13, 13, 6);
  set_angles (g, 0.2, 0.5);
  g->mask = LAM_MASK_ELLIPSE;
  return g;
}

static float *
b13_volume (void)
{
  float *x = g_new0 (float, 13 * 13 * 6);
  double sum = 0;
  for (int i = 3; i <= 9; i++)
    for (int j = 3; j <= 9; j++)
      for (int k = 1; k <= 4; k++)
        x[(i * 13 + j) * 6 + k] = 0.1f;
  for (int k = 0; k < 6; k++)
    x[(4 * 13 + 8) * 6 + k] = 0.2f;
  for (int i = 0; i < 13 * 13 * 6; i++)
    sum += x[i];
  g_assert_cmpfloat_with_epsilon (sum, 20.4, 1e-5);
  return x;
}

static float *
b13_sinogram (void)
{
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *x = b13_volume ();
  int64_t n;
  lam_free (lam_geometry_mask_pixels (g, &n, NULL));
  g_assert_cmpint (n, ==, 113);
  return forward (g, x);
}

static LamDataset *
dataset (const LamGeometry *g, const float *y, const float *w)
{
  int64_t bytes = sino_size (g) * 4;
  float *sinogram = lam_alloc (bytes, "sinogram", NULL), *weights = w ? lam_alloc (bytes, "weights", NULL) : NULL;
  memcpy (sinogram, y, bytes);
  if (w)
    memcpy (weights, w, bytes);
  return lam_dataset_new_take ("case", lam_geometry_copy (g), sinogram, weights);
}

static void
init_params (LamReconParams *params, int64_t iterations, const char *devices)
{
  lam_recon_params_init (params);
  params->iterations = iterations;
  params->stop_percent = 0;
  params->devices = (char *) devices;
}

static LamReconResult *
reconstruct (const LamGeometry *g, const float *y, const float *w, const LamReconParams *params)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDataset) d = dataset (g, y, w);
  LamReconResult *r = lam_reconstruct (d, params, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_finite (r->volume, volume_size (g));
  return r;
}

/* SHA-256 over the voxels in (row, column, slice) order. */
static char *
checksum (const LamReconResult *r)
{
  const LamGeometry *g = r->geometry;
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) r->volume, volume_size (g) * 4);
}

static LamReconResult *
b13_reconstruct (void)
{
  LamReconParams params;
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *y = b13_sinogram ();
  init_params (&params, 3, "cpu");
  return reconstruct (g, y, NULL, &params);
}

/* D1: the same bits every time: 100 times here, and in two fresh processes. */
static void
test_same_bits (void)
{
  if (g_test_subprocess ()) {
    g_autoptr (LamReconResult) r = b13_reconstruct ();
    g_autofree char *sum = checksum (r);
    g_print ("checksum %s\n", sum);
    return;
  }
  g_autoptr (LamReconResult) first = b13_reconstruct ();
  for (int i = 1; i < 100; i++) {
    g_autoptr (LamReconResult) other = b13_reconstruct ();
    g_assert_true (memcmp (other->volume, first->volume, 13 * 13 * 6 * 4) == 0);
  }
  g_autofree char *sum = checksum (first), *pattern = g_strdup_printf ("*checksum %s*", sum);
  for (int i = 0; i < 2; i++) {
    g_test_trap_subprocess (NULL, 0, 0);
    g_test_trap_assert_passed ();
    g_test_trap_assert_stdout (pattern);
  }
}

static void
assert_same_run (const LamReconResult *a, const LamReconResult *b, int64_t voxels)
{
  g_assert_true (memcmp (a->volume, b->volume, voxels * 4) == 0);
  g_assert_true (a->sigma_y == b->sigma_y && a->sigma_x == b->sigma_x);
  g_assert_cmpint (a->iterations->len, ==, b->iterations->len);
  for (guint i = 0; i < a->iterations->len; i++) {
    const LamReconIteration *p = &g_array_index (a->iterations, LamReconIteration, i);
    const LamReconIteration *q = &g_array_index (b->iterations, LamReconIteration, i);
    g_assert_true (p->change_percent == q->change_percent && p->data_cost == q->data_cost
                   && p->prior_cost == q->prior_cost && p->mean_step == q->mean_step);
  }
}

/* D2: any device count, more of them than slices and views too: volume, sigmas, statistics and file are the same. */
static void
test_any_count (void)
{
  static const char *const counts[] = {"2xcpu", "3xcpu", "5xcpu", "8xcpu"};
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "out.h5", NULL);
  for (int cone = 0; cone < 2; cone++) {
    g_autoptr (LamGeometry) g = lam_geometry_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, 7, 5, 9);
    g->recon_rows = g->recon_columns = 9;
    g->recon_slices = 5;
    g->voxel_pitch = 1;
    g->mask = LAM_MASK_NONE;
    set_angles (g, 0.2, 0.7);
    if (cone) {
      g->source_detector = 40;
      g->source_axis = 25;
    }
    g_autofree float *x = formula (9, 9, 5), *y = forward (g, x);
    LamReconParams params;
    init_params (&params, 3, "1xcpu");
    g_autoptr (LamReconResult) one = reconstruct (g, y, NULL, &params);
    for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
      g_autoptr (GError) error = NULL;
      params.devices = (char *) counts[c];
      g_autoptr (LamReconResult) other = reconstruct (g, y, NULL, &params);
      assert_same_run (one, other, volume_size (g));
      g_assert_true (lam_recon_result_save (other, path, NULL, &error));
      g_autoptr (LamVolume) v = lam_volume_open (path, NULL, LAM_LAYOUT_FROM_FILE, &error);
      g_assert_no_error (error);
      g_assert_cmpint (v->rows, ==, 9);
      g_assert_cmpint (v->columns, ==, 9);
      g_assert_cmpint (v->slices, ==, 5);
      g_autofree char *sum = checksum (one);
      g_assert_cmpstr (v->checksum, ==, sum);
    }
  }
  g_unlink (path);
  g_rmdir (folder);
}

/* What devices copy of each other is what the plan said, to the byte; one device copies nothing. */
static void
test_planned_copies (void)
{
  static const char *const counts[] = {"1xcpu", "2xcpu", "3xcpu", "8xcpu"};
  for (int cone = 0; cone < 2; cone++)
    for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LamGeometry) g = lam_geometry_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, 40, 24, 32);
      lam_geometry_set_angles (g, 0, 2 * G_PI);
      if (cone) {
        g->source_detector = 120;
        g->source_axis = 60;
      }
      g_assert_true (lam_geometry_auto_volume (g, NULL));
      g_autofree float *y = ct_random (sino_size (g), 41);
      g_autoptr (LamDevices) set = lam_devices_new (counts[c], &error);
      g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
      g_autoptr (LamPlan) plan = lam_plan_new (set);
      LamVcdParams params;
      lam_vcd_params_default (&params);
      params.iterations = 4;
      g_autoptr (LamVcd) vcd = lam_vcd_new (p, &params, FALSE, LAM_START_DIRECT, plan, &error);
      g_assert_no_error (error);
      g_assert_true (lam_vcd_open (vcd, &error));
      g_assert_true (lam_projector_put_sino (p, y, &vcd->error, &error));
      lam_devices_reset_counters (set);
      g_assert_true (lam_vcd_start (vcd, LAM_START_DIRECT, &error));
      for (int i = 0; i < params.iterations; i++) {
        LamVcdStats stats;
        g_assert_true (lam_vcd_iterate (vcd, &stats, &error));
      }
      g_test_message ("%s, %s: forecast %" G_GINT64_FORMAT ", copied %" G_GINT64_FORMAT, cone ? "cone" : "parallel",
                      counts[c], lam_plan_copied (plan), lam_devices_copied (set));
      g_assert_cmpint (lam_plan_copied (plan), ==, lam_devices_copied (set));
      g_assert_true ((lam_devices_copied (set) > 0) == (c > 0));
    }
}

/* ---- weights and odd data ---- */

/* The plan serves the subsets that the solver draws itself, of a quarter of the region at most; this one serves all of it. */
static void
plan_for_whole_region (LamVcd *vcd)
{
  static const char *const names[] = {"subset back", "subset gradient", "subset curvature", "subset step"};
  int64_t n = vcd->p->list_n, packed = lam_projector_packed_floats (vcd->p, 0, n) * 4;
  int iterate = lam_plan_phases (vcd->plan) - 1;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    lam_plan_add_buffer (vcd->plan, 0, names[i], packed, iterate, iterate);
  lam_plan_add_buffer (vcd->plan, 0, "subset sums", (n / LAM_CHUNK + 1) * 4 * vcd->p->g.slices * 8, iterate, iterate);
  vcd->longest = n;
}

/* One pass over each of the levels S = 1, 4, 16, … up to @finest from zero; subsets are the rank in the region mod S. @steps
 * (or NULL) gets the mean step of each. */
static float *
solve_levels (const LamGeometry *g, const float *y, const float *w, const LamVcdParams *params, int64_t finest,
              double *steps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  g_autoptr (LamVcd) vcd = lam_vcd_new (p, params, w != NULL, LAM_START_ZERO, plan, &error);
  g_assert_no_error (error);
  plan_for_whole_region (vcd);
  g_assert_true (lam_vcd_open (vcd, &error));
  g_assert_true (lam_projector_put_sino (p, y, &vcd->error, &error));
  if (w)
    g_assert_true (lam_projector_put_sino (p, w, &vcd->weights, &error));
  g_assert_true (lam_vcd_start (vcd, LAM_START_ZERO, &error));
  int64_t n;
  int32_t *region = lam_geometry_mask_pixels (g, &n, &error), *pixel = g_new (int32_t, n);
  for (int64_t s = 1; s <= finest; s *= 4) {
    int64_t begin[17] = {0}, at = 0;
    LamVcdStats stats;
    for (int64_t k = 0; k < s; k++) {
      for (int64_t i = k; i < n; i += s)
        pixel[at++] = region[i];
      begin[k + 1] = at;
    }
    g_assert_true (lam_vcd_iterate_given (vcd, pixel, begin, s, &stats, &error));
    if (steps)
      *steps++ = stats.mean_step;
  }
  float *x = g_new (float, volume_size (g));
  g_assert_true (lam_projector_get_volume (p, &vcd->volume, x, &error));
  lam_free (region);
  g_free (pixel);
  return x;
}

static void
vcd_params (LamVcdParams *params)
{
  lam_vcd_params_default (params);
  params->iterations = 3;
  params->sigma_y = 0.05;
  params->prior.sigma_x = 0.05;
}

/* The subsets and sigmas of case N1. */
static float *
solve_ranked (const LamGeometry *g, const float *y, const float *w)
{
  LamVcdParams params;
  vcd_params (&params);
  return solve_levels (g, y, w, &params, 16, NULL);
}

static double
sum_of (const float *x, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

/* N1: a sample of weight 0 is absent, whatever it holds; on the automatic sigmas too. */
static void
test_weight_zero (void)
{
  const int64_t voxels = 13 * 13 * 6, view = 6 * 13, middle = (6 * 13 + 6) * 6 + 3;
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autoptr (LamGeometry) five = parallel (5, 6, 13, 13, 13, 6);
  g_autofree float *y = b13_sinogram (), *y5 = g_new (float, 5 * view), *w = g_new (float, 6 * view);
  five->mask = LAM_MASK_ELLIPSE;
  for (int v = 0, to = 0; v < 6; v++)
    if (v != 2) {
      five->angles[to] = g->angles[v];
      memcpy (y5 + to++ * view, y + v * view, view * sizeof *y);
    }
  g_autofree float *good = solve_ranked (g, y, NULL);
  g_assert_cmpfloat_with_epsilon (sum_of (good, voxels), 20.323235, 2e-4);
  g_assert_cmpfloat_with_epsilon (good[middle], 0.099814, 2e-6);

  for (int64_t i = 0; i < 6 * view; i++) {
    gboolean masked = i / view == 2;
    w[i] = masked ? 0 : 1;
    if (masked)
      y[i] = 1e6f;
  }
  g_autofree float *masked = solve_ranked (g, y, w), *alone = solve_ranked (five, y5, NULL);
  g_test_message ("weight 0 against absent: %.2g", relative (masked, alone, voxels));
  g_assert_cmpfloat (relative (masked, alone, voxels), <=, 1e-5);
  g_assert_cmpfloat_with_epsilon (sum_of (masked, voxels), 20.348200, 2e-4);
  g_assert_cmpfloat_with_epsilon (masked[middle], 0.109051, 2e-6);

  LamRegularization a, b;
  g_assert_true (lam_auto_regularization (g, y, w, 30, 1, &a, NULL));
  g_assert_true (lam_auto_regularization (five, y5, NULL, 30, 1, &b, NULL));
  g_assert_cmpfloat_with_epsilon (a.sigma_y, b.sigma_y, 1e-6 * b.sigma_y);
  g_assert_cmpfloat_with_epsilon (a.sigma_x, b.sigma_x, 1e-6 * b.sigma_x);
}

/* Written as a scan file and loaded as the programs do. */
static LamDataset *
load (const LamGeometry *g, const float *y, const float *w, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "scan.h5", NULL);
  LamScanData data = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = y, .weights = w};
  LamPrepareParams params;
  lam_prepare_params_init (&params);
  g_assert_true (lam_scan_write (path, &data, NULL, error));
  g_autoptr (LamScan) scan = lam_scan_open (path, NULL, error);
  g_assert_no_error (*error);
  LamDataset *d = lam_dataset_load (scan, &params, NULL, error);
  g_unlink (path);
  g_rmdir (folder);
  return d;
}

static LamReconResult *
load_and_reconstruct (const LamGeometry *g, const float *y, const float *w)
{
  g_autoptr (GError) error = NULL;
  LamReconParams params;
  g_autoptr (LamDataset) d = load (g, y, w, &error);
  g_assert_no_error (error);
  init_params (&params, 3, "cpu");
  LamReconResult *r = lam_reconstruct (d, &params, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_finite (r->volume, volume_size (g));
  return r;
}

static void
assert_refused (const LamGeometry *g, const float *y, const float *w, const char *place, const char *count)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load (g, y, w, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, place));
  g_assert_nonnull (strstr (error->message, count));
}

/* N2: NaN and infinity are refused with their place where they count, and absent where they do not. */
static void
test_not_finite (void)
{
  const int64_t at = (2 * 6 + 3) * 13 + 4, samples = 6 * 6 * 13;
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *clean = b13_sinogram (), *y = g_memdup2 (clean, samples * 4), *w = g_new (float, samples);
  for (int k = 0; k < 3; k++) { /* NaN; infinity; row 5 of all views */
    memcpy (y, clean, samples * 4);
    for (int64_t i = 0; i < samples; i++)
      w[i] = 1;
    g_autofree float *zero = g_memdup2 (clean, samples * 4);
    for (int64_t i = 0; i < samples; i++)
      if (k < 2 ? i == at : i / 13 % 6 == 5) {
        y[i] = k == 1 ? INFINITY : NAN;
        zero[i] = 0;
        w[i] = 0;
      }
    assert_refused (g, y, NULL, k < 2 ? "view 2, row 3, channel 4" : "view 0, row 5, channel 0",
                    k < 2 ? "1 sample" : "78 samples");
    g_autoptr (LamReconResult) absent = load_and_reconstruct (g, y, w);
    g_autoptr (LamReconResult) zeros = load_and_reconstruct (g, zero, w);
    g_assert_cmpfloat (largest_difference (absent->volume, zeros->volume, volume_size (g)), <=, 1e-6);
  }
}

/* N3: weights that are all 0, negative or not a number, each refused in its own words. */
static void
test_bad_weights (void)
{
  const int64_t samples = 6 * 6 * 13, at = (4 * 6 + 1) * 13 + 12;
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *y = b13_sinogram (), *w = g_new0 (float, samples);
  assert_refused (g, y, w, "weights: all", "are 0");
  for (int64_t i = 0; i < samples; i++)
    w[i] = 1;
  w[at] = -1;
  assert_refused (g, y, w, "view 4, row 1, channel 12", "below 0");
  w[at] = NAN;
  assert_refused (g, y, w, "view 4, row 1, channel 12", "not finite");
}

/* Counts, 2 views of 2 x 3 with one flat and one dark each, written and loaded as the programs do. */
static LamDataset *
load_counts (const float *y, const float *flat, const float *dark, char **path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 2, 2, 3);
  LamScanData data = {.geometry = g,
                      .kind = LAM_SCAN_COUNTS,
                      .projections = y,
                      .flats = flat,
                      .darks = dark,
                      .n_flats = 1,
                      .n_darks = 1};
  LamPrepareParams params;
  set_angles (g, 0, 1);
  lam_prepare_params_init (&params);
  *path = g_build_filename (folder, "counts.h5", NULL);
  g_assert_true (lam_scan_write (*path, &data, NULL, error));
  g_autoptr (LamScan) scan = lam_scan_open (*path, NULL, error);
  g_assert_no_error (*error);
  LamDataset *d = lam_dataset_load (scan, &params, NULL, error);
  g_unlink (*path);
  g_rmdir (folder);
  return d;
}

static void
assert_says (const char *text, const char *const *words)
{
  g_test_message ("%s", text);
  for (int i = 0; i < 4 && words[i]; i++)
    if (!strstr (text, words[i]))
      g_error ("\"%s\" does not say \"%s\"", text, words[i]);
}

/* Flats without light and counts that are no numbers are told when they are normalised: which dataset, how many, where. */
static void
test_dead_counts (void)
{
  static const struct {
    float y[12], flat[6], dark[6];
    gboolean refused;
    const char *words[4];
  } cases[] = {
      {{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
       {0, 0, 0, 0, 0, 0},
       {1, 1, 1, 1, 1, 1},
       TRUE,
       {"/scan/flats", "none of the 6 pixels", "6 are 0", "--data sinogram"}},
      {{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
       {7, 7, 7, 7, 7, 7},
       {7, 7, 7, 7, 7, 7},
       TRUE,
       {"/scan/flats", "6 equal the darks of /scan/darks", "beam on"}},
      {{NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
       {9, 9, 9, 9, 9, 9},
       {1, 1, 1, 1, 1, 1},
       TRUE,
       {"/scan/projections", "none of the 12 counts is finite"}},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0},
       {9, 9, 9, 9, 9, 9},
       {1, 1, 1, 1, 1, 1},
       TRUE,
       {"/scan/projections", "none of the 12 counts", "12 at or below 0", "/scan/darks"}},
      {{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
       {9, 9, 9, 9, 0, 1},
       {1, 1, 1, 1, 1, 1},
       FALSE,
       {"/scan/flats", "2 of 6 pixels", "1 are 0, 1 equal the darks", "row 1, channel 1"}},
      {{5, 5, 5, 5, 5, 5, 5, INFINITY, 5, 5, 5, NAN},
       {9, 9, 9, 9, 9, 9},
       {1, 1, 1, 1, 1, 1},
       FALSE,
       {"/scan/projections", "2 of 12 counts are not finite", "view 1, row 0, channel 1", "filled"}},
      {{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
       {1, 1, 1, 1, 1, 1},
       {9, 9, 9, 9, 9, 9},
       FALSE,
       {"/scan/flats", "below the mean dark", "6 of 6", "exchanged"}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = NULL;
    g_autoptr (LamDataset) d = load_counts (cases[i].y, cases[i].flat, cases[i].dark, &path, &error);
    if (cases[i].refused) {
      g_assert_null (d);
      g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, path));
      assert_says (error->message, cases[i].words);
      continue;
    }
    g_assert_no_error (error);
    g_ptr_array_add (d->log, NULL);
    g_autofree char *lines = g_strjoinv ("\n", (char **) d->log->pdata);
    assert_says (lines, cases[i].words);
    assert_finite (d->sinogram, 12);
  }
}

/* ---- the solver's own promises ---- */

/* With positivity no voxel is below 0 on data that would put many there. */
static void
test_positivity (void)
{
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *y = b13_sinogram (), *noise = ct_random (6 * 6 * 13, 51);
  LamVcdParams params;
  int64_t below = 0;
  vcd_params (&params);
  for (int i = 0; i < 6 * 6 * 13; i++)
    y[i] += noise[i] - 0.8f;
  g_autofree float *free_run = solve_levels (g, y, NULL, &params, 16, NULL);
  params.positivity = TRUE;
  g_autofree float *positive = solve_levels (g, y, NULL, &params, 16, NULL);
  for (int64_t i = 0; i < volume_size (g); i++) {
    below += free_run[i] < 0;
    g_assert_cmpfloat (positive[i], >=, -1e-6); /* alpha (-x / (alpha + eps)) may leave a rounding */
  }
  g_assert_cmpint (below, >, 100);
  g_assert_cmpfloat (sum_of (positive, volume_size (g)), >, 0);
}

/* The line search keeps inside its limit. */
static void
test_step_limit (void)
{
  g_autoptr (LamGeometry) g = b13_geometry ();
  g_autofree float *y = b13_sinogram ();
  LamVcdParams params;
  double steps[3], limited[3];
  vcd_params (&params);
  g_autofree float *x = solve_levels (g, y, NULL, &params, 16, steps);
  params.max_step = 0.05;
  g_autofree float *short_steps = solve_levels (g, y, NULL, &params, 16, limited);
  for (int i = 0; i < 3; i++) {
    g_assert_cmpfloat (steps[i], >, 0.05);
    g_assert_cmpfloat (steps[i], <=, 1.5);
    g_assert_cmpfloat (limited[i], >, 0);
    g_assert_cmpfloat (limited[i], <=, 0.05 * (1 + 1e-6));
  }
  g_assert_cmpfloat (relative (short_steps, x, volume_size (g)), >, 0.1);
}

/* Cone beam: a slice's mean moves s_k times as far as it would undamped; s by its formula, 1/4 at the middle plane. */
static void
test_damping (void)
{
  g_autoptr (LamGeometry) tall = lam_geometry_new (LAM_GEOMETRY_CONE, 4, 8, 8);
  double s[251];
  tall->source_axis = 50;
  tall->source_detector = 100;
  tall->recon_rows = tall->recon_columns = 40;
  tall->recon_slices = 251;
  tall->voxel_pitch = 1;
  lam_vcd_damping (tall, s);
  g_assert_cmpfloat_with_epsilon (s[125], 0.25, 1e-12); /* t = 0 */
  g_assert_cmpfloat_with_epsilon (s[0], 0.375, 1e-12);  /* t = b = 100: half-way from a to c */
  g_assert_cmpfloat_with_epsilon (s[250], 0.375, 1e-12);

  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_CONE, 12, 9, 16);
  g->source_axis = 40;
  g->source_detector = 80;
  g->recon_rows = g->recon_columns = 12;
  g->recon_slices = 9;
  g->voxel_pitch = 0.6;
  lam_geometry_set_angles (g, 0, 2 * G_PI);
  g_autofree float *truth = formula (12, 12, 9), *y = forward (g, truth);
  LamVcdParams params;
  double step[2];
  vcd_params (&params);
  g_autofree float *damped = solve_levels (g, y, NULL, &params, 1, &step[0]);
  params.damping = FALSE;
  g_autofree float *free_run = solve_levels (g, y, NULL, &params, 1, &step[1]);
  lam_vcd_damping (g, s);
  for (int64_t k = 0; k < 9; k++) {
    double a = 0, b = 0;
    for (int64_t i = 0; i < 144; i++) {
      a += damped[i * 9 + k];
      b += free_run[i * 9 + k];
    }
    g_assert_cmpfloat_with_epsilon (a / b, s[k] * step[0] / step[1], 1e-4);
  }
}

int
main (int argc, char **argv)
{
  g_setenv ("LAMINA_THREADS", "4", FALSE); /* D1 */
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cases/G1-offset-sign", test_offset_sign);
  g_test_add_func ("/cases/G2-mass", test_mass);
  g_test_add_func ("/cases/G3-default-center", test_default_center);
  g_test_add_func ("/cases/G5-nearly-parallel", test_nearly_parallel);
  g_test_add_func ("/cases/R1-matched-pair", test_matched_pair);
  g_test_add_func ("/cases/R1-matched-pair-rows", test_matched_pair_rows);
  g_test_add_func ("/cases/S1-smallest", test_smallest);
  g_test_add_func ("/cases/S2-odd", test_odd);
  g_test_add_func ("/cases/S3-flat-volumes", test_flat_volumes);
  g_test_add_func ("/cases/D1-same-bits", test_same_bits);
  g_test_add_func ("/cases/D2-any-count", test_any_count);
  g_test_add_func ("/cases/planned-copies", test_planned_copies);
  g_test_add_func ("/cases/N1-weight-zero", test_weight_zero);
  g_test_add_func ("/cases/N2-not-finite", test_not_finite);
  g_test_add_func ("/cases/N3-bad-weights", test_bad_weights);
  g_test_add_func ("/cases/dead-counts", test_dead_counts);
  g_test_add_func ("/solver/positivity", test_positivity);
  g_test_add_func ("/solver/step-limit", test_step_limit);
  g_test_add_func ("/solver/damping", test_damping);
  return g_test_run ();
}
