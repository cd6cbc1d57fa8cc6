/* Preparation: every step, their order, what the log says of them, the axis that follows, and refusals. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/threadpool.h"
#include "run/dataset.h"

enum { V = 40, R = 12, C = 96, N = V * R * C, FLATS = 3 };

/* A scan of counts: an object that turns, a dead pixel, a hot one, a stripe, zingers, a lamp that drifts. */
typedef struct {
  float counts[N], flats[FLATS * R * C], darks[FLATS * R * C];
} Counts;

static double
thickness (double v, double m, double n)
{
  double x = n - 47.5 - 9 * cos (G_PI * v / V), y = m - 5.5, sum = 0;
  double r = 30 * 30 - 0.4 * y * y, u = x * x;
  sum += u < r ? 0.04 * sqrt (r - u) : 0;
  u = pow (n - 47.5 - 15 * cos (G_PI * v / V + 1), 2);
  return sum + (u < 25 ? 0.1 * sqrt (25 - u) : 0);
}

static Counts *
make_counts (void)
{
  Counts *c = g_new0 (Counts, 1);
  LamRandom random;
  lam_random_init (&random, 11, 0);
  for (int f = 0; f < FLATS; f++)
    for (int p = 0; p < R * C; p++) {
      c->darks[f * R * C + p] = (float) (50 + lam_random_normal (&random));
      c->flats[f * R * C + p] = (float) (20000 + 60 * lam_random_normal (&random));
    }
  for (int v = 0; v < V; v++)
    for (int m = 0; m < R; m++)
      for (int n = 0; n < C; n++) {
        double t = exp (-thickness (v, m, n) - 0.05 - 0.002 * v);
        c->counts[(v * R + m) * C + n] = (float) (50 + 19950 * t + 60 * sqrt (t) * lam_random_normal (&random));
      }
  for (int f = 0; f < FLATS; f++) {
    c->flats[(f * R + 3) * C + 40] = c->darks[(f * R + 3) * C + 40] + 200; /* dead */
    c->flats[(f * R + 8) * C + 20] += 3000;
    c->darks[(f * R + 8) * C + 20] += 3000; /* hot */
  }
  for (int v = 0; v < V; v++) {
    c->counts[(v * R + 3) * C + 40] = 4000;
    for (int m = 0; m < R; m++)
      c->counts[(v * R + m) * C + 60] *= 0.9f; /* a stripe */
  }
  c->counts[(7 * R + 5) * C + 10] = 9e5f; /* zingers */
  c->counts[(20 * R + 6) * C + 50] = 9e5f;
  return c;
}

typedef struct {
  char *folder, *path;
  LamScan *scan;
} Fixture;

static Fixture
open_counts (const Counts *c, gboolean cone)
{
  Fixture f = {g_dir_make_tmp ("lamina-XXXXXX", NULL)};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = lam_geometry_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, V, R, C);
  lam_geometry_set_angles (g, 0, cone ? 2 * G_PI : G_PI);
  g->channel_offset = 1.25;
  g->row_offset = cone ? -0.75 : 0;
  if (cone) {
    g->source_detector = 400;
    g->source_axis = 200;
  }
  LamScanData data = {.geometry = g,
                      .kind = LAM_SCAN_COUNTS,
                      .projections = c->counts,
                      .flats = c->flats,
                      .darks = c->darks,
                      .n_flats = FLATS,
                      .n_darks = FLATS};
  f.path = g_build_filename (f.folder, "scan.h5", NULL);
  lam_scan_write (f.path, &data, NULL, &error);
  g_assert_no_error (error);
  f.scan = lam_scan_open (f.path, NULL, &error);
  g_assert_no_error (error);
  return f;
}

static void
fixture_clear (Fixture *f)
{
  lam_scan_free (f->scan);
  g_unlink (f->path);
  g_rmdir (f->folder);
  g_free (f->path);
  g_free (f->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static LamDataset *
load (Fixture *f, const LamPrepareParams *params)
{
  g_autoptr (GError) error = NULL;
  LamDataset *d = lam_dataset_load (f->scan, params, NULL, &error);
  g_assert_no_error (error);
  return d;
}

/* The line of the log that begins so, or NULL. */
static const char *
line (const LamDataset *d, const char *start)
{
  for (guint i = 0; i < d->log->len; i++)
    if (g_str_has_prefix (d->log->pdata[i], start))
      return d->log->pdata[i];
  return NULL;
}

static void
assert_line (const LamDataset *d, const char *start, const char *says)
{
  const char *text = line (d, start);
  if (!text || !strstr (text, says))
    g_error ("\"%s\": no line \"%s ... %s\"", text ? text : "none", start, says);
  g_test_message ("%s", text);
}

static double
rms (const float *a, const float *b, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
  return sqrt (sum / (double) n);
}

/* All of it, against the functions one after the other. */
static void
test_order (void)
{
  g_autofree Counts *c = make_counts ();
  g_auto (Fixture) f = open_counts (c, FALSE);
  g_autoptr (GError) error = NULL;
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  k.crop_rows = (LamRange){2, 11}; /* 9 rows */
  k.crop_channels = (LamRange){4, 92};
  k.bin = 2;
  k.tilt = 0.01;
  k.find_bad_pixels = TRUE;
  k.bad_pixels = lam_bad_pixels_parse ("3 41\n0 0\n3 40\n", "list", &error);
  k.background = LAM_PREPARE_BACKGROUND_PER_VIEW;
  k.edge_width = 3;
  k.zingers = 0.1;
  k.stripes.kind = LAM_STRIPES_SORTING;
  k.stripes.large = 15;
  k.stripes.small = 5;
  k.stripes.levels = 0;
  g_autoptr (LamDataset) d = load (&f, &k);

  enum { R1 = 9, R2 = 4, C1 = 88, C2 = 44 };
  g_autofree float *y = g_new (float, V *R1 *C), *flat = g_new (float, R1 *C), *dark = g_new (float, R1 *C);
  const int32_t bad[][2] = {{1, 40}, {1, 41}, {6, 20}};
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  lam_transmission_options_init (&options);
  options.defects = bad[0];
  options.n_defects = 3;
  for (int v = 0; v < V; v++)
    memcpy (y + v * R1 * C, c->counts + (v * R + 2) * C, sizeof (float) * R1 * C);
  g_autofree float *flats = g_new (float, FLATS *R *C), *darks = g_new (float, FLATS *R *C);
  lam_mean_frames (c->flats, FLATS, R, C, flats, NULL);
  lam_mean_frames (c->darks, FLATS, R, C, darks, NULL);
  g_assert_true (lam_transmission (y, V, R1, C, flats + 2 * C, darks + 2 * C, &options, NULL, &report, NULL, NULL));
  for (int l = 0; l < V * R1; l++)
    memmove (y + l * C1, y + l * C + 4, sizeof (float) * C1);
  lam_bin (y, V, R1, C1, 2, 2, y, NULL);
  g_autofree float *z = g_memdup2 (y, sizeof (float) * V * R2 * C2);
  for (int v = 0; v < V; v++)
    lam_rotate_rows (y + v * R2 * C2, (LamRange){0, R2}, R2, C2, 0.01, 0.5, (LamRange){0, R2}, z + v * R2 * C2);
  lam_remove_background (z, V, R2, C2, 3, LAM_BACKGROUND_PER_VIEW, NULL, NULL);
  g_autoptr (LamGeometry) small = lam_geometry_new (LAM_GEOMETRY_PARALLEL, V, R2, C2);
  lam_remove_zingers (z, small, 0.1, 3, NULL, NULL);
  lam_remove_stripes (z, V, R2, C2, &k.stripes, NULL, NULL, NULL);

  g_assert_cmpint (d->geometry->rows, ==, R2);
  g_assert_cmpint (d->geometry->channels, ==, C2);
  g_assert_cmpint (d->geometry->recon_slices, ==, R2);
  g_assert_true (memcmp (d->sinogram, z, sizeof (float) * V * R2 * C2) == 0);
  assert_line (d, "bad pixels: ", "1 dead and 1 hot found at 6 sigmas, 2 listed: 3 of 864 in all");
  assert_line (d, "transmission of ", "120 listed as defective");
  assert_line (d, "cropped to ", "rows 2:11 and channels 4:92");
  assert_line (d, "binned by 2", "4 rows, 44 channels");
  assert_line (d, "detector turned by 0.572958 degrees", "");
  assert_line (d, "background: ", "taken off each view, at most ");
  assert_line (d, "zingers: 2 of ", "");
  assert_line (d, "stripes (sorting, signal to noise 3, medians of 15 and 5)", "rms change");
  g_assert_cmpfloat_with_epsilon (lam_provenance_channel (&d->made, 0), 4.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (lam_prepare_file_channel (&k, 10), 24.5, 1e-12);

  /* Each step alone leaves its line, and no other. */
  static const char *const lines[] = {"bad pixels", "cropped", "binned", "detector turned",
                                      "background", "zingers", "stripes"};
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    LamPrepareParams one;
    lam_prepare_params_init (&one);
    switch (i) {
    case 0:
      one.find_bad_pixels = TRUE;
      break;
    case 1:
      one.crop_channels = k.crop_channels;
      break;
    case 2:
      one.bin = 3;
      break;
    case 3:
      one.tilt = 0.02;
      break;
    case 4:
      one.background = LAM_PREPARE_BACKGROUND_GLOBAL;
      break;
    case 5:
      one.zingers = 0.1;
      break;
    default:
      one.stripes.kind = LAM_STRIPES_WAVELET;
    }
    g_assert_false (lam_prepare_params_equal (&one, &k));
    g_autoptr (LamDataset) e = load (&f, &one);
    for (guint j = 0; j < G_N_ELEMENTS (lines); j++)
      g_assert_true ((line (e, lines[j]) != NULL) == (i == j));
  }
  LamPrepareParams copy;
  lam_prepare_params_copy (&k, &copy);
  g_assert_true (lam_prepare_params_equal (&k, &copy));
  lam_prepare_params_clear (&k);
  lam_prepare_params_clear (&copy);
}

/* What each step is for. */
static void
test_effect (void)
{
  g_autofree Counts *c = make_counts ();
  g_auto (Fixture) f = open_counts (c, FALSE);
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  g_autoptr (LamDataset) plain = load (&f, &k);
  float *truth = g_new (float, N);
  for (int i = 0; i < N; i++)
    truth[i] = (float) thickness (i / (R * C), i / C % R, i % C);
  double before = rms (plain->sinogram, truth, N);
  k.find_bad_pixels = TRUE;
  k.background = LAM_PREPARE_BACKGROUND_PER_VIEW;
  k.zingers = 0.1;
  g_autoptr (LamDataset) d = load (&f, &k);
  double after = rms (d->sinogram, truth, N);
  g_assert_cmpfloat (fabsf (d->sinogram[(7 * R + 5) * C + 10]), <, 0.05f); /* the zinger in air */
  g_assert_cmpfloat (fabsf (d->sinogram[(5 * R + 3) * C + 40] - truth[(5 * R + 3) * C + 40]), <, 0.1f);
  k.stripes.kind = LAM_STRIPES_SORTING;
  k.stripes.large = 11;
  k.stripes.small = 5;
  g_autoptr (LamDataset) e = load (&f, &k);
  double stripe = 0, stripe_left = 0;
  for (int v = 0; v < V; v++)
    for (int m = 0; m < R; m++) {
      int i = (v * R + m) * C + 60;
      stripe += (d->sinogram[i] - truth[i]) / (V * R);
      stripe_left += (e->sinogram[i] - truth[i]) / (V * R);
    }
  g_test_message ("rms error %.4f becomes %.4f; the stripe %.4f becomes %.4f", before, after, stripe, stripe_left);
  g_assert_cmpfloat (after, <, 0.35 * before);
  g_assert_cmpfloat (stripe, >, 0.09);
  g_assert_cmpfloat (fabs (stripe_left), <, 0.03);
  g_free (truth);
}

/* A smooth detector image at a place that need not be a pixel. */
static double
smooth (double row, double channel)
{
  return 2 + sin (0.1 * row) + cos (0.04 * channel) + 0.06 * row + 0.03 * channel;
}

static double
sample (const LamDataset *d, double row, double channel)
{
  int64_t m = (int64_t) row, n = (int64_t) channel;
  double a = row - (double) m, b = channel - (double) n;
  const float *x = d->sinogram + m * d->geometry->channels + n;
  return (1 - a) * ((1 - b) * x[0] + b * x[1])
         + a * ((1 - b) * x[d->geometry->channels] + b * x[d->geometry->channels + 1]);
}

/* The point where the axis meets the mid-plane is the same point of the detector, whatever was cropped before the turn. */
static void
test_axis (void)
{
  g_autofree Counts *c = make_counts ();
  for (int i = 0; i < N; i++)
    c->counts[i] = (float) (50 + 19950 * exp (-0.2 * smooth (i / C % R, i % C)));
  for (int p = 0; p < FLATS * R * C; p++) {
    c->flats[p] = 20000;
    c->darks[p] = 50;
  }
  g_auto (Fixture) f = open_counts (c, TRUE);
  for (int bin = 1; bin <= 2; bin++) {
    LamPrepareParams k;
    lam_prepare_params_init (&k);
    k.tilt = 0.2;
    k.bin = bin;
    g_autoptr (LamDataset) whole = load (&f, &k);
    k.crop_rows = (LamRange){3, 12};
    k.crop_channels = (LamRange){30, 90};
    g_autoptr (LamDataset) part = load (&f, &k);
    double at[2];
    for (int i = 0; i < 2; i++) {
      const LamGeometry *g = i ? part->geometry : whole->geometry;
      at[i] = sample (i ? part : whole, 0.5 * (double) (g->rows - 1) + g->row_offset / g->row_pitch,
                      lam_geometry_center (g));
    }
    g_test_message ("bin %d: %.5f and %.5f at the axis, which moved to channels %.3f and %.3f of the file", bin, at[0],
                    at[1], lam_provenance_channel (&whole->made, lam_geometry_center (whole->geometry)),
                    lam_provenance_channel (&part->made, lam_geometry_center (part->geometry)));
    g_assert_cmpfloat_with_epsilon (at[0], at[1], bin == 1 ? 4e-4 : 2e-3);
    g_autoptr (LamGeometry) planned = lam_prepare_geometry (&k, f.scan, NULL);
    g_assert_cmpfloat (planned->channel_offset, ==, part->geometry->channel_offset);
    g_assert_cmpint (planned->channels, ==, part->geometry->channels);
    g_assert_cmpint (planned->rows, ==, part->geometry->rows);
    g_assert_cmpint (planned->recon_rows, ==, 0);
  }
}

static void
test_refused (void)
{
  g_autofree Counts *c = make_counts ();
  g_auto (Fixture) f = open_counts (c, FALSE);
  static const struct {
    const char *says;
    LamRange rows, crop_rows, crop_channels;
    int bin;
    double tilt, zingers, sigmas, snr;
    int edge;
    const char *list;
  } cases[] = {
      {"detector rows 5:13", {5, 13}, {0, 0}, {0, 0}, 1, 0, 0, 6, 3, 9, NULL},
      {"crop: detector rows 4:4", {0, 0}, {4, 4}, {0, 0}, 1, 0, 0, 6, 3, 9, NULL},
      {"crop: detector channels -1:5", {0, 0}, {0, 0}, {-1, 5}, 1, 0, 0, 6, 3, 9, NULL},
      {"lie outside rows 0:4", {0, 4}, {6, 9}, {0, 0}, 1, 0, 0, 6, 3, 9, NULL},
      {"bin 0", {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, 6, 3, 9, NULL},
      {"bin 5: expected 1 to 4", {0, 0}, {2, 6}, {0, 0}, 5, 0, 0, 6, 3, 9, NULL},
      {"detector tilt nan", {0, 0}, {0, 0}, {0, 0}, 1, NAN, 0, 6, 3, 9, NULL},
      {"zingers: ratio -1", {0, 0}, {0, 0}, {0, 0}, 1, 0, -1, 6, 3, 9, NULL},
      {"bad pixels: sigmas 0", {0, 0}, {0, 0}, {0, 0}, 1, 0, 0, 0, 3, 9, NULL},
      {"signal to noise ratio 0", {0, 0}, {0, 0}, {0, 0}, 1, 0, 0, 6, 0, 9, NULL},
      {"7 channels are too few", {0, 0}, {0, 0}, {0, 7}, 1, 0, 0, 6, 3, 9, NULL},
      {"width of the edges 0", {0, 0}, {0, 0}, {0, 0}, 1, 0, 0, 6, 3, 0, NULL},
      {"row 12, channel 3", {0, 0}, {0, 0}, {0, 0}, 1, 0, 0, 6, 3, 9, "12 3"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LamPrepareParams k;
    lam_prepare_params_init (&k);
    k.rows = cases[i].rows;
    k.crop_rows = cases[i].crop_rows;
    k.crop_channels = cases[i].crop_channels;
    k.bin = cases[i].bin;
    k.tilt = cases[i].tilt;
    k.zingers = cases[i].zingers;
    k.find_bad_pixels = TRUE;
    k.bad_pixel_sigmas = cases[i].sigmas;
    k.background = LAM_PREPARE_BACKGROUND_GLOBAL;
    k.edge_width = cases[i].edge;
    k.stripes.kind = LAM_STRIPES_SORTING;
    k.stripes.snr = cases[i].snr;
    k.bad_pixels = cases[i].list ? lam_bad_pixels_parse (cases[i].list, "list", NULL) : NULL;
    g_assert_false (lam_prepare_params_check (&k, f.scan, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    if (!strstr (error->message, cases[i].says))
      g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].says);
    g_clear_error (&error);
    g_assert_null (lam_dataset_load (f.scan, &k, NULL, &error));
    g_assert_null (lam_prepare_geometry (&k, f.scan, NULL));
    lam_prepare_params_clear (&k);
  }
  g_autoptr (GError) error = NULL;
  LamPrepareBackground background;
  g_assert_false (lam_prepare_background_from_name ("local", &background, NULL));
  for (int i = 0; i < LAM_PREPARE_BACKGROUND_COUNT; i++)
    g_assert_true (lam_prepare_background_from_name (lam_prepare_background_name (i), &background, NULL)
                   && background == (LamPrepareBackground) i);
  f.scan->kind = LAM_SCAN_SINOGRAM;
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  k.find_bad_pixels = TRUE;
  g_assert_null (lam_dataset_load (f.scan, &k, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_MISSING);
}

/* -log data: listed pixels are filled, no others. */
static void
test_listed_log (void)
{
  g_autofree Counts *c = make_counts ();
  for (int i = 0; i < N; i++)
    c->counts[i] /= 20000;
  g_auto (Fixture) f = open_counts (c, FALSE);
  f.scan->kind = LAM_SCAN_SINOGRAM;
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  k.bad_pixels = lam_bad_pixels_parse ("0 0\n3 40", "list", NULL);
  g_autoptr (LamDataset) d = load (&f, &k);
  for (int i = 0; i < N; i++) {
    gboolean bad = i % (R * C) == 0 || i % (R * C) == 3 * C + 40;
    g_assert_true (bad ? d->sinogram[i] != c->counts[i] : d->sinogram[i] == c->counts[i]);
  }
  g_assert_cmpfloat_with_epsilon (d->sinogram[0], (c->counts[1] + c->counts[C] + c->counts[C + 1]) / 3, 1e-6);
  lam_prepare_params_clear (&k);
}

/* All allocations failing in turn; nothing is left; what is held beside the data is what was said. */
static void
test_memory (void)
{
  g_autofree Counts *c = make_counts ();
  g_auto (Fixture) f = open_counts (c, FALSE);
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  k.crop_channels = (LamRange){4, 92};
  k.bin = 2;
  k.tilt = 0.01;
  k.find_bad_pixels = TRUE;
  k.background = LAM_PREPARE_BACKGROUND_GLOBAL;
  k.zingers = 0.1;
  int64_t before = lam_memory_bytes ();
  for (int kind = 0; kind < LAM_STRIPES_COUNT; kind++) {
    int failed = 0;
    k.stripes.kind = kind;
    for (int64_t n = 1;; n++) {
      g_autoptr (GError) error = NULL;
      lam_memory_fail_at (n);
      LamDataset *d = lam_dataset_load (f.scan, &k, NULL, &error);
      lam_memory_fail_at (0);
      if (!d) {
        g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
        failed++;
      }
      gboolean done = d != NULL && lam_memory_bytes () > before;
      lam_dataset_unref (d);
      g_assert_cmpint (lam_memory_bytes (), ==, before);
      if (done && n > failed + 3) /* an air level that cannot be told is no error */
        break;
    }
    g_assert_cmpint (failed, >=, 12);
    int threads = lam_pool_threads (lam_pool_shared ());
    lam_memory_reset_peak ();
    g_autoptr (LamDataset) d = load (&f, &k);
    int64_t read = (int64_t) sizeof (float) * (N + 2 * R * C * (FLATS + 1)),
            said = lam_prepare_bytes (&k, f.scan, threads);
    g_test_message ("%s: %d failures; at most %d bytes held, %d read and %d said", lam_stripe_kind_name (kind), failed,
                    (int) (lam_memory_peak () - before), (int) read, (int) said);
    g_assert_cmpint (lam_memory_peak () - before, <=, read + said + 4096);
  }
}

/* A -log scan with weights: what a sample of weight 0 holds is seen by no step that makes one sample of several. */
static void
test_weight_zero (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "w.h5", NULL);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 6, 7, 16);
  lam_geometry_set_angles (g, 0, G_PI);
  g_autofree float *data = g_new (float, 6 * 7 * 16), *weights = g_new (float, 6 * 7 * 16);
  const double tilts[] = {0, 0.05, 0, 0.05};
  const float bad[] = {1e6f, 1e6f, NAN, INFINITY};
  for (int i = 0; i < 4; i++)
    for (int bin = 1; bin <= 2; bin++) {
      LamDataset *made[2];
      for (int k = 0; k < 2; k++) {
        for (int j = 0; j < 6 * 7 * 16; j++) {
          data[j] = 0.5f; /* the same everywhere: a mean of good samples is that */
          weights[j] = 2;
        }
        data[(2 * 7 + 3) * 16 + 4] = k ? bad[i] : 0.5f;
        weights[(2 * 7 + 3) * 16 + 4] = k ? 0 : 2;
        LamScanData scan = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = data, .weights = weights};
        lam_scan_write (path, &scan, NULL, &error);
        g_assert_no_error (error);
        g_autoptr (LamScan) s = lam_scan_open (path, NULL, &error);
        g_assert_no_error (error);
        LamPrepareParams params;
        lam_prepare_params_init (&params);
        params.bin = bin;
        params.tilt = tilts[i];
        made[k] = lam_dataset_load (s, &params, NULL, &error);
        g_assert_no_error (error);
      }
      const LamGeometry *b = made[0]->geometry;
      int64_t lighter = 0;
      for (int64_t j = 0; j < b->views * b->rows * b->channels; j++) {
        g_assert_cmpfloat (made[1]->weights[j], <=, made[0]->weights[j]);
        lighter += made[1]->weights[j] < made[0]->weights[j];
        if (made[1]->weights[j] > 0)
          g_assert_cmpfloat_with_epsilon (made[1]->sinogram[j], made[0]->sinogram[j], 1e-6);
      }
      g_assert_cmpint (lighter, >=, 1);
      g_assert_cmpint (lighter, <=, 4);
      lam_dataset_unref (made[0]);
      lam_dataset_unref (made[1]);
    }
  /* What is wrong is told where it lies in the file, before anything is cut. */
  data[(2 * 7 + 3) * 16 + 4] = NAN;
  weights[(2 * 7 + 3) * 16 + 4] = 1;
  for (int k = 0; k < 2; k++) {
    LamScanData scan = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = data, .weights = weights};
    lam_scan_write (path, &scan, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (LamScan) s = lam_scan_open (path, NULL, &error);
    LamPrepareParams params;
    lam_prepare_params_init (&params);
    params.bin = 2;
    params.crop_rows = (LamRange){2, 6};
    params.crop_channels = (LamRange){3, 13};
    g_assert_null (lam_dataset_load (s, &params, NULL, &error));
    g_assert_nonnull (strstr (error->message, k ? "/scan/weights" : "/scan/projections"));
    g_assert_nonnull (strstr (error->message, "view 2, row 3, channel 4"));
    g_clear_error (&error);
    data[(2 * 7 + 3) * 16 + 4] = 0.5f;
    weights[(2 * 7 + 3) * 16 + 4] = -3.5f;
  }
  g_unlink (path);
  g_rmdir (folder);
}

/* Zingers are filled from their edge inwards, three times: the middle of 5 x 5 is reached, that of 7 x 7 is not. */
static void
test_zinger_passes (void)
{
  enum { VIEWS = 6, ROWS = 9, CHANNELS = 32 };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "z.h5", NULL);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, VIEWS, ROWS, CHANNELS);
  lam_geometry_set_angles (g, 0, G_PI);
  g_autofree float *data = g_new (float, VIEWS *ROWS *CHANNELS);
  for (int i = 0; i < VIEWS * ROWS * CHANNELS; i++)
    data[i] = abs (i % CHANNELS - 16) < 8 ? 1 : 0;
  for (int view = 2; view <= 4; view += 2)
    for (int r = -3; r <= 3; r++)
      for (int n = -3; n <= 3; n++)
        if (view == 4 || (abs (r) < 3 && abs (n) < 3))
          data[(view * ROWS + 4 + r) * CHANNELS + 16 + n] = -10;
  LamScanData scan = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = data};
  lam_scan_write (path, &scan, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LamScan) s = lam_scan_open (path, NULL, &error);
  LamPrepareParams params;
  lam_prepare_params_init (&params);
  params.zingers = 0.1;
  g_autoptr (LamDataset) d = lam_dataset_load (s, &params, NULL, &error);
  g_assert_no_error (error);
  assert_line (d, "zingers: 74 of ", "filled from their neighbours");
  g_assert_cmpfloat_with_epsilon (d->sinogram[(2 * ROWS + 4) * CHANNELS + 16], 1, 1e-6);
  g_assert_cmpfloat (d->sinogram[(4 * ROWS + 4) * CHANNELS + 16], ==, 0);
  g_assert_cmpfloat_with_epsilon (d->sinogram[(4 * ROWS + 3) * CHANNELS + 16 + 1], 1, 1e-6);
  g_unlink (path);
  g_rmdir (folder);
}

/* The file's own weights, or others in their place; what has none in the file never gets any. */
static void
test_weights (void)
{
  enum { N = 6 * 2 * 8 };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "w.h5", NULL);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 6, 2, 8);
  lam_geometry_set_angles (g, 0, G_PI);
  float data[N], weights[N];
  for (int j = 0; j < N; j++) {
    data[j] = 0.25f * (float) (j % 5);
    weights[j] = 2 + (float) (j % 3);
  }
  weights[17] = 0;
  for (int own = 0; own < 2; own++) {
    LamScanData scan = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = data, .weights = own ? weights : NULL};
    lam_scan_write (path, &scan, NULL, &error);
    g_assert_no_error (error);
    static const char *const names[] = {"auto", "given", "unweighted", "transmission", "transmission_root", "emission"};
    for (gsize k = 0; k < G_N_ELEMENTS (names); k++) {
      g_autoptr (LamScan) s = lam_scan_open (path, NULL, &error);
      LamPrepareParams params;
      lam_prepare_params_init (&params);
      g_assert_true (lam_prepare_weights_from_name (names[k], &params, &error));
      g_autoptr (LamDataset) d = lam_dataset_load (s, &params, NULL, &error);
      if (k == 1 && !own) {
        g_assert_error (error, LAM_ERROR, LAM_ERROR_MISSING);
        g_assert_nonnull (strstr (error->message, "has none of its own"));
        g_clear_error (&error);
        continue;
      }
      g_assert_no_error (error);
      g_assert_cmpint (d->weights != NULL, ==, lam_prepare_weighted (&params, s));
      g_assert_cmpint (d->weights != NULL, ==, own || k > 2);
      g_assert_cmpstr (d->made.weights, ==, k < 2 && own ? "of the file" : k < 2 ? "unweighted" : names[k]);
      for (int j = 0; d->weights != NULL && j < N; j++) {
        double y = data[j], w[] = {weights[j], weights[j], 1, exp (-y), exp (-0.5 * y), 1 / (y + 0.1)};
        g_assert_cmpfloat_with_epsilon (d->weights[j], own && j == 17 ? 0 : w[k], 1e-5);
      }
      if (own && k >= 2)
        assert_line (
            d, "weights: ", "in place of those of the file (dataset /scan/weights); 1 of 96 samples have weight 0");
    }
  }
  LamPrepareParams params;
  g_assert_false (lam_prepare_weights_from_name ("heavy", &params, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/prepare/order", test_order);
  g_test_add_func ("/prepare/effect", test_effect);
  g_test_add_func ("/prepare/axis", test_axis);
  g_test_add_func ("/prepare/refused", test_refused);
  g_test_add_func ("/prepare/listed-log", test_listed_log);
  g_test_add_func ("/prepare/memory", test_memory);
  g_test_add_func ("/prepare/weight-zero", test_weight_zero);
  g_test_add_func ("/prepare/weights", test_weights);
  g_test_add_func ("/prepare/zinger-passes", test_zinger_passes);
  return g_test_run ();
}
