/* Opening, reading and writing scans: what is found, assumed, missing; what is refused (cases F1, L1, U1); damage. */
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <utime.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/scan.h"

#define DEGREE (G_PI / 180)

/* What a DXchange file of the tests holds. */
typedef struct {
  hsize_t views, rows, channels, flats, darks, angles;
  const char *unit;  /* NULL: no units attribute */
  double step;       /* of the angles, in their unit */
  int64_t nan_at;    /* index of a NaN angle, or -1 */
  hsize_t flat_rows; /* 0: as rows */
  gboolean no_angles, no_flats, no_darks;
  TextKind kind;
} Spec;

static const Spec plain = {5, 3, 4, 2, 2, 5, "degrees", 36, -1, 0, FALSE, FALSE, FALSE, TEXT_VARIABLE_UTF8};

static void
put_block (hid_t file, const char *path, hsize_t n, hsize_t rows, hsize_t channels, double from)
{
  const hsize_t dims[3] = {n, rows, channels};
  g_autofree double *values = g_new (double, n *rows *channels + 1);
  for (hsize_t i = 0; i < n * rows * channels; i++)
    values[i] = from + (double) i;
  test_put_numbers (file, path, H5T_STD_U16LE, 3, dims, NULL, 0, values);
}

static char *
make_dxchange (const char *name, const Spec *s)
{
  char *path = test_path (name);
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_block (file, "/exchange/data", s->views, s->rows, s->channels, 1000);
  if (!s->no_flats)
    put_block (file, "/exchange/data_white", s->flats, s->flat_rows ? s->flat_rows : s->rows, s->channels, 5000);
  if (!s->no_darks)
    put_block (file, "/exchange/data_dark", s->darks, s->rows, s->channels, 10);
  if (!s->no_angles) {
    g_autofree double *theta = g_new (double, s->angles + 1);
    for (hsize_t v = 0; v < s->angles; v++)
      theta[v] = (int64_t) v == s->nan_at ? NAN : s->step * (double) v;
    test_put_numbers (file, "/exchange/theta", H5T_IEEE_F64LE, 1, &s->angles, NULL, 0, theta);
    if (s->unit) {
      hid_t d = H5Dopen2 (file, "/exchange/theta", H5P_DEFAULT);
      test_put_text (d, "units", s->unit, s->kind, TRUE);
      H5Dclose (d);
    }
  }
  H5Fclose (file);
  return path;
}

static LamScan *
open_ok (const char *path, const LamScanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LamScan *s = lam_scan_open (path, options, &error);
  g_assert_no_error (error);
  return s;
}

static const LamFinding *
finding (const LamScan *s, const char *field, LamFindingKind kind)
{
  for (guint i = 0; i < s->findings->len; i++) {
    const LamFinding *f = s->findings->pdata[i];
    if (strcmp (f->field, field) == 0 && f->kind == kind)
      return f;
  }
  return NULL;
}

static void
assert_finding (const LamScan *s, const char *field, LamFindingKind kind, const char *says)
{
  const LamFinding *f = finding (s, field, kind);
  if (!f)
    g_error ("no finding %s of kind %d", field, kind);
  if (!strstr (f->text, says) && !(f->value && strstr (f->value, says)))
    g_error ("\"%s\" (%s) does not say \"%s\"", f->text, f->value, says);
}

static void
test_dxchange (void)
{
  g_autofree char *path = make_dxchange ("plain.h5", &plain);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) s = open_ok (path, NULL);
  const LamGeometry *g = s->geometry;
  g_assert_cmpint (s->format, ==, LAM_SCAN_DXCHANGE);
  g_assert_cmpint (s->kind, ==, LAM_SCAN_COUNTS);
  g_assert_cmpint (g->kind, ==, LAM_GEOMETRY_PARALLEL);
  g_assert_cmpint (g->views, ==, 5);
  g_assert_cmpint (g->rows, ==, 3);
  g_assert_cmpint (g->channels, ==, 4);
  g_assert_cmpint (s->flats, ==, 2);
  g_assert_cmpint (s->darks, ==, 2);
  g_assert_false (s->missing || s->has_weights);
  g_assert_cmpstr (g->length_unit, ==, "px");
  g_assert_cmpfloat_with_epsilon (g->angles[4], 144 * DEGREE, 1e-15);
  assert_finding (s, "geometry", LAM_FINDING_ASSUMED, "no distances in the file: parallel beam assumed");
  assert_finding (s, "pitch", LAM_FINDING_ASSUMED, "no pixel pitch: lengths are px");
  assert_finding (s, "angles", LAM_FINDING_FOUND, "angles in degrees (units attribute)");
  assert_finding (s, "angles", LAM_FINDING_FOUND, "0 to 144 degrees, 5 views");
  float y[5 * 3 * 4], white[2 * 3 * 4], dark[2 * 3 * 4];
  TestControl c;
  test_control (&c, 0);
  g_assert_true (lam_scan_read (s, (LamRange){0, 0}, y, white, dark, NULL, &c.control, &error));
  g_assert_cmpfloat_with_epsilon (c.last, 1, 1e-12);
  for (int i = 0; i < 60; i++)
    g_assert_cmpfloat (y[i], ==, 1000 + i);
  for (int i = 0; i < 24; i++) {
    g_assert_cmpfloat (white[i], ==, 5000 + i);
    g_assert_cmpfloat (dark[i], ==, 10 + i);
  }
  for (int i = 1; i <= c.asked; i++) {
    TestControl stop;
    test_control (&stop, i);
    g_assert_false (lam_scan_read (s, (LamRange){0, 0}, y, white, dark, NULL, &stop.control, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_clear_error (&error);
  }
  float row[5 * 4];
  g_assert_true (lam_scan_read (s, (LamRange){2, 3}, row, NULL, NULL, NULL, NULL, &error));
  for (int v = 0; v < 5; v++)
    for (int n = 0; n < 4; n++)
      g_assert_cmpfloat (row[v * 4 + n], ==, 1000 + (v * 3 + 2) * 4 + n);
  g_assert_false (lam_scan_read (s, (LamRange){2, 4}, row, NULL, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "2:4", "0:3", NULL);
  g_assert_false (lam_scan_read (s, (LamRange){0, 1}, NULL, NULL, NULL, row, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, "no weights", NULL);
}

/* U1: every spelling of a unit; none at all is listed, and values that look like radians are said to. */
static void
test_units (void)
{
  const struct {
    const char *unit;
    double step, radians;
    LamFindingKind kind;
    const char *says;
  } cases[] = {
      {"degrees", 36, 36 * DEGREE, LAM_FINDING_FOUND, "degrees"},
      {"deg", 36, 36 * DEGREE, LAM_FINDING_FOUND, "degrees"},
      {"[deg]", 36, 36 * DEGREE, LAM_FINDING_FOUND, "degrees"},
      {"rad", 0.5, 0.5, LAM_FINDING_FOUND, "radians"},
      {"Radians ", 0.5, 0.5, LAM_FINDING_FOUND, "radians"},
      {NULL, 36, 36 * DEGREE, LAM_FINDING_ASSUMED, "no unit"},
      {NULL, 0.5, 0.5 * DEGREE, LAM_FINDING_ASSUMED, "look like radians"},
  };
  g_autoptr (GError) error = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    Spec spec = plain;
    spec.unit = cases[i].unit;
    spec.step = cases[i].step;
    spec.kind = (TextKind) (i % TEXT_KINDS);
    g_autofree char *path = make_dxchange ("units.h5", &spec);
    g_autoptr (LamScan) s = open_ok (path, NULL);
    g_assert_cmpfloat_with_epsilon (s->geometry->angles[1], cases[i].radians, 1e-15);
    assert_finding (s, "angles", cases[i].kind, cases[i].says);
  }
  Spec spec = plain;
  spec.unit = "turns";
  g_autofree char *path = make_dxchange ("units.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "turns", "--angle-unit", NULL);
  LamScanOptions options = LAM_SCAN_OPTIONS_INIT;
  options.angle_unit = LAM_ANGLE_UNIT_RADIANS;
  g_autoptr (LamScan) s = open_ok (path, &options);
  g_assert_cmpfloat_with_epsilon (s->geometry->angles[1], 36, 1e-15);
  assert_finding (s, "angles", LAM_FINDING_FOUND, "as given");
}

/* F1: counts that disagree are refused with both numbers. */
static void
test_counts (void)
{
  g_autoptr (GError) error = NULL;
  Spec spec = {515, 1, 2, 1, 1, 514, "degrees", 0.35, -1, 0, FALSE, FALSE, FALSE, TEXT_FIXED_NULLTERM};
  g_autofree char *path = make_dxchange ("counts.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, path, "515 projections, 514 angles", "--angles START:STOP",
              NULL);

  LamScanOptions options = LAM_SCAN_OPTIONS_INIT;
  options.angles_set = TRUE;
  options.angle_stop = 180;
  g_autoptr (LamScan) given = open_ok (path, &options);
  g_assert_cmpfloat_with_epsilon (given->geometry->angles[514], 180 * DEGREE * 514 / 515, 1e-12);
  g_free (path);

  spec = plain;
  spec.nan_at = 3;
  path = make_dxchange ("nan.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "angle 3 is NaN", "/exchange/theta", NULL);
  g_free (path);

  spec = plain;
  spec.step = 300000;
  path = make_dxchange ("far-angles.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, path, "/exchange/theta", "angle 4 is 1200000 degrees", NULL);
  options.angle_stop = 1e300;
  g_assert_null (lam_scan_open (path, &options, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "--angles", "1000000", NULL);
  options.angle_stop = 180;
  g_free (path);

  spec = plain;
  spec.no_angles = TRUE;
  path = make_dxchange ("no-angles.h5", &spec);
  g_autoptr (LamScan) s = open_ok (path, NULL);
  float y[60];
  g_assert_true (s->missing && s->missing_angles);
  assert_finding (s, "angles", LAM_FINDING_MISSING, "no angles");
  g_assert_cmpstr (finding (s, "angles", LAM_FINDING_MISSING)->option, ==, "--angles START:STOP");
  g_assert_false (lam_scan_read (s, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, "--angles START:STOP", NULL);
  g_assert_false (lam_scan_complete (s, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, "--angles START:STOP", NULL);
  g_autoptr (LamScan) whole = open_ok (path, &options);
  g_assert_true (lam_scan_complete (whole, NULL) && !whole->missing);
  g_assert_true (lam_scan_read (whole, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  g_free (path);

  spec = plain;
  spec.flat_rows = 2;
  path = make_dxchange ("flats.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "flats are 2 x 4", "projections 3 x 4", NULL);
  g_free (path);

  spec = plain;
  spec.views = 0;
  path = make_dxchange ("no-views.h5", &spec);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "0 projections (3 x 4 pixels)", NULL);
  g_free (path);

  spec = plain;
  spec.no_flats = spec.no_darks = TRUE;
  path = make_dxchange ("no-flats.h5", &spec);
  g_autoptr (LamScan) bare = open_ok (path, NULL);
  assert_finding (bare, "flats", LAM_FINDING_MISSING, "no flat fields");
  assert_finding (bare, "darks", LAM_FINDING_ASSUMED, "dark level of 0");
  options = (LamScanOptions) LAM_SCAN_OPTIONS_INIT;
  options.kind_set = TRUE;
  options.kind = LAM_SCAN_SINOGRAM;
  g_autoptr (LamScan) ready = open_ok (path, &options);
  g_assert_true (ready->kind == LAM_SCAN_SINOGRAM && !ready->missing);
}

static void
test_options (void)
{
  g_autofree char *path = make_dxchange ("options.h5", &plain);
  g_autoptr (GError) error = NULL;
  LamScanOptions o = LAM_SCAN_OPTIONS_INIT;
  o.geometry_set = TRUE;
  o.geometry = LAM_GEOMETRY_CONE;
  g_autoptr (LamScan) no_distance = open_ok (path, &o);
  assert_finding (no_distance, "distances", LAM_FINDING_MISSING, "without its distances");
  g_assert_true (no_distance->missing && !no_distance->missing_angles);
  o.source_detector = 200;
  g_autoptr (LamScan) half = open_ok (path, &o);
  assert_finding (half, "distances", LAM_FINDING_MISSING, "source to axis");
  o.source_axis = 100;
  o.channel_pitch = 0.05;
  o.row_pitch = 0.1;
  o.direction = -1;
  o.slices = (LamRange){1, 2}; /* slices of the volume: the detector is whole */
  g_autoptr (LamScan) cone = open_ok (path, &o);
  const LamGeometry *g = cone->geometry;
  g_assert_cmpint (g->kind, ==, LAM_GEOMETRY_CONE);
  g_assert_false (cone->missing);
  g_assert_cmpfloat (g->source_detector, ==, 200);
  g_assert_cmpfloat (g->source_axis, ==, 100);
  g_assert_cmpfloat (g->channel_pitch, ==, 0.05);
  g_assert_cmpfloat (g->row_pitch, ==, 0.1);
  g_assert_cmpstr (g->length_unit, ==, "mm");
  g_assert_cmpint (g->rows, ==, 3);
  g_assert_cmpfloat_with_epsilon (g->angles[1], -36 * DEGREE, 1e-15);
  assert_finding (cone, "direction", LAM_FINDING_FOUND, "reversed");
  assert_finding (cone, "pitch", LAM_FINDING_FOUND, "0.05 x 0.1 mm");

  LamScanOptions p = LAM_SCAN_OPTIONS_INIT;
  p.slices = (LamRange){1, 3};
  g_autoptr (LamScan) rows = open_ok (path, &p);
  g_assert_cmpint (rows->geometry->rows, ==, 2);
  g_assert_cmpint (rows->file_rows, ==, 3);
  float y[5 * 2 * 4];
  g_assert_true (lam_scan_read (rows, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  g_assert_cmpfloat (y[0], ==, 1004);
  g_assert_cmpfloat (y[8], ==, 1016);
  p.slices = (LamRange){2, 4};
  g_assert_null (lam_scan_open (path, &p, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "2:4", "0:3", NULL);
  p = (LamScanOptions) LAM_SCAN_OPTIONS_INIT;
  p.channel_pitch = -1;
  g_assert_null (lam_scan_open (path, &p, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "pitch", "-1", NULL);
  p.channel_pitch = NAN;
  p.source_axis = 0;
  g_assert_null (lam_scan_open (path, &p, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "source to axis", "is 0", NULL);
}

/* A geometry with a value of its own in every field. */
static LamGeometry *
full_geometry (void)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_CONE, 7, 3, 5);
  g->detector = LAM_DETECTOR_CURVED;
  g->mask = LAM_MASK_NONE;
  g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
  double *numbers[] = {&g->channel_pitch,   &g->row_pitch,    &g->channel_offset, &g->row_offset,
                       &g->source_detector, &g->source_axis,  &g->voxel_pitch,    &g->row_aspect,
                       &g->slice_aspect,    &g->slice_offset, &g->pad_top,        &g->pad_bottom};
  for (size_t i = 0; i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] = 1 / (3.0 + (double) i);
  g->recon_rows = 11;
  g->recon_columns = 12;
  g->recon_slices = 13;
  g->shifts = g_new (double, g->views);
  for (int64_t v = 0; v < g->views; v++) {
    g->angles[v] = 0.1 + 0.7 * (double) v / 3;
    g->shifts[v] = -1 + (double) v / 7;
  }
  return g;
}

static void
assert_same_geometry (const LamGeometry *a, const LamGeometry *b)
{
  LamGeometry x = *a, y = *b;
  g_assert_cmpmem (a->angles, a->views * sizeof (double), b->angles, b->views * sizeof (double));
  g_assert_true (!a->shifts == !b->shifts);
  if (a->shifts)
    g_assert_cmpmem (a->shifts, a->views * sizeof (double), b->shifts, b->views * sizeof (double));
  x.angles = y.angles = x.shifts = y.shifts = NULL;
  g_assert_cmpstr (x.length_unit, ==, y.length_unit);
  memset (x.length_unit, 0, sizeof x.length_unit);
  memset (y.length_unit, 0, sizeof y.length_unit);
  g_assert_cmpmem (&x, sizeof x, &y, sizeof y);
}

static char *
make_lamina (const char *name, const LamGeometry *g, gboolean counts, gboolean weights, const float *samples)
{
  char *path = test_path (name);
  g_autoptr (GError) error = NULL;
  LamScanData data = {.geometry = g,
                      .kind = counts ? LAM_SCAN_COUNTS : LAM_SCAN_SINOGRAM,
                      .projections = samples,
                      .flats = counts ? samples + 1 : NULL,
                      .darks = counts ? samples + 2 : NULL,
                      .n_flats = 2,
                      .n_darks = 1,
                      .weights = weights ? samples + 3 : NULL,
                      .parameters = "{\"made\": \"test\"}"};
  g_assert_true (lam_scan_write (path, &data, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (test_leftovers (path), ==, 0);
  return path;
}

static void
test_own (void)
{
  g_autoptr (LamGeometry) g = full_geometry ();
  g_autoptr (GError) error = NULL;
  float samples[200], y[105], w[105], white[30], dark[15];
  for (int i = 0; i < 200; i++)
    samples[i] = sinf ((float) i) / 3;
  samples[4] = NAN; /* kept as it is: judging samples is not the reader's part */
  for (int k = 0; k < 4; k++) {
    gboolean counts = k & 1, weights = k >> 1;
    g_autofree char *path = make_lamina ("own.h5", g, counts, weights, samples);
    g_autoptr (LamScan) s = open_ok (path, NULL);
    g_assert_cmpint (s->format, ==, LAM_SCAN_LAMINA);
    g_assert_cmpint (s->kind, ==, counts ? LAM_SCAN_COUNTS : LAM_SCAN_SINOGRAM);
    g_assert_cmpint (s->has_weights, ==, weights);
    g_assert_false (s->missing);
    assert_same_geometry (g, s->geometry);
    g_assert_true (lam_scan_read (s, (LamRange){0, 0}, y, counts ? white : NULL, counts ? dark : NULL,
                                  weights ? w : NULL, NULL, &error));
    g_assert_cmpmem (y, sizeof y, samples, sizeof y);
    if (weights)
      g_assert_cmpmem (w, sizeof w, samples + 3, sizeof w);
    if (counts) {
      g_assert_cmpint (s->flats, ==, 2);
      g_assert_cmpint (s->darks, ==, 1);
      g_assert_cmpmem (white, sizeof white, samples + 1, sizeof white);
      g_assert_cmpmem (dark, sizeof dark, samples + 2, sizeof dark);
    }
  }
  /* Parallel beam, px, infinite distances, no shifts, no volume. */
  g_autoptr (LamGeometry) p = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 7, 3, 5);
  lam_geometry_set_angles (p, 0, G_PI);
  p->channel_offset = -0.3;
  g_autofree char *path = make_lamina ("own-parallel.h5", p, FALSE, FALSE, samples);
  g_autoptr (LamScan) s = open_ok (path, NULL);
  assert_same_geometry (p, s->geometry);
  assert_finding (s, "geometry", LAM_FINDING_FOUND, "as the file says");

  /* The same input gives the same bytes. */
  gsize na, nb;
  g_autofree char *again = make_lamina ("own-again.h5", p, FALSE, FALSE, samples);
  g_autofree char *a = test_read_file (path, &na), *b = test_read_file (again, &nb);
  g_assert_cmpmem (a, na, b, nb);

  /* A px file and a pitch given: every length grows with the pixel. */
  LamScanOptions o = LAM_SCAN_OPTIONS_INIT;
  o.channel_pitch = 0.5;
  g_autoptr (LamScan) scaled = open_ok (path, &o);
  g_assert_cmpfloat_with_epsilon (scaled->geometry->channel_offset, -0.15, 1e-15);
  g_assert_cmpfloat_with_epsilon (scaled->geometry->row_pitch, 0.5, 1e-15);
}

/* Saving that is stopped or runs out of memory leaves the old file. */
static void
test_write_faults (void)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 16, 64, 2048); /* 8 MiB: two pieces */
  g_autoptr (GError) error = NULL;
  int64_t n = 16 * 64 * 2048;
  float *samples = lam_alloc_n (n, sizeof *samples, "test", &error);
  for (int64_t i = 0; i < n; i++)
    samples[i] = (float) i;
  LamScanData data = {.geometry = g, .kind = LAM_SCAN_SINOGRAM, .projections = samples};
  g_autofree char *path = test_path ("faults.h5");
  test_write_file (path, "old", 3);
  TestControl c;
  test_control (&c, 0);
  for (int i = 1; i < 50; i++) {
    test_control (&c, i);
    if (lam_scan_write (path, &data, &c.control, &error))
      break;
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_clear_error (&error);
    gsize size;
    g_autofree char *old = test_read_file (path, &size);
    g_assert_cmpmem (old, size, "old", 3);
    g_assert_cmpint (test_leftovers (path), ==, 0);
  }
  g_assert_cmpint (c.asked, >=, 3);
  g_autoptr (LamScan) s = open_ok (path, NULL);
  g_assert_cmpint (s->geometry->channels, ==, 2048);
  g_autofree char *nowhere = g_build_filename (path, "below-a-file.h5", NULL);
  g_assert_false (lam_scan_write (nowhere, &data, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, nowhere, NULL);
  lam_free (samples);
}

static char *
make_mbirjax (const char *name, const char *json, hsize_t views, hsize_t angles)
{
  char *path = test_path (name);
  const hsize_t dims[3] = {views, 2, 3};
  double values[64], theta[16];
  for (int i = 0; i < 64; i++)
    values[i] = i / 8.0;
  for (int i = 0; i < 16; i++)
    theta[i] = 0.25 * i;
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/sinogram", H5T_IEEE_F32LE, 3, dims, NULL, 0, values);
  test_put_numbers (file, "/weights", H5T_IEEE_F32LE, 3, dims, NULL, 0, values);
  test_put_numbers (file, "/cone_beam_params__angles", H5T_IEEE_F32LE, 1, &angles, NULL, 0, theta);
  test_put_text (file, "format", "mbirjax_preprocessing_v1", TEXT_VARIABLE_UTF8, FALSE);
  test_put_text (file, "params", json, TEXT_VARIABLE_UTF8, FALSE);
  H5Fclose (file);
  return path;
}

/* Pixels that are not square: x is along the channels, y along the rows; one that is stated alone holds for both. */
static void
test_pixel_sizes (void)
{
  const hsize_t one = 1;
  const double x = 0.02, y = 0.03;
  for (int stated = 1; stated <= 3; stated++) {
    g_autofree char *path = make_dxchange ("pixels.h5", &plain);
    hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
      const char *name =
          k == 0 ? "/measurement/instrument/detector/pixel_size_x" : "/measurement/instrument/detector/pixel_size_y";
      if (!(stated & 1 << k))
        continue;
      test_put_numbers (file, name, H5T_IEEE_F64LE, 1, &one, NULL, 0, k == 0 ? &x : &y);
      hid_t d = H5Dopen2 (file, name, H5P_DEFAULT);
      test_put_text (d, "units", "mm", TEXT_VARIABLE_UTF8, FALSE);
      H5Dclose (d);
    }
    H5Fclose (file);
    g_autoptr (LamScan) s = open_ok (path, NULL);
    g_assert_cmpfloat (s->geometry->channel_pitch, ==, stated & 1 ? x : y);
    g_assert_cmpfloat (s->geometry->row_pitch, ==, stated & 2 ? y : x);
  }
}

static void
test_mbirjax (void)
{
  static const char json[] =
      "{\"cone_beam_params\": {\"sinogram_shape\": [4, 2, 3], \"source_detector_dist\": 40, \"source_iso_dist\": 20.5, "
      "\"use_curved_detector\": true, \"helical_z_shifts\": [0, 0.5, 1, 1.5], "
      "\"geometry_type\": \"<class 'mbirjax.cone_beam.ConeBeamModel'>\"}, \"optional_params\": {\"delta_det_channel\": "
      "0.25, "
      "\"delta_det_row\": 0.5, \"det_channel_offset\": 0.125, \"det_row_offset\": -0.25, \"alu_unit\": \"cm\", "
      "\"alu_value\": 0.5, \"recon_shape\": [6, 7, 8], \"delta_voxel\": 0.75, \"voxel_slice_aspect\": 1.5, "
      "\"recon_slice_offset\": 0.25, \"axial_pad_fraction\": [0.25, 0.5], \"use_ror_mask\": false, \"sharpness\": "
      "1.0}}";
  g_autoptr (GError) error = NULL;
  g_autofree char *path = make_mbirjax ("mbirjax.h5", json, 4, 4);
  g_autoptr (LamScan) s = open_ok (path, NULL);
  const LamGeometry *g = s->geometry;
  g_assert_cmpint (s->format, ==, LAM_SCAN_MBIRJAX);
  g_assert_cmpint (s->kind, ==, LAM_SCAN_SINOGRAM);
  g_assert_true (s->has_weights && !s->missing);
  g_assert_cmpint (g->kind, ==, LAM_GEOMETRY_CONE);
  g_assert_cmpint (g->detector, ==, LAM_DETECTOR_CURVED);
  g_assert_cmpint (g->mask, ==, LAM_MASK_NONE);
  g_assert_cmpstr (g->length_unit, ==, "mm"); /* 1 ALU = 0.5 cm = 5 mm */
  g_assert_cmpfloat (g->source_detector, ==, 200);
  g_assert_cmpfloat (g->source_axis, ==, 102.5);
  g_assert_cmpfloat (g->channel_pitch, ==, 1.25);
  g_assert_cmpfloat (g->row_pitch, ==, 2.5);
  g_assert_cmpfloat (g->channel_offset, ==, 0.625);
  g_assert_cmpfloat (g->row_offset, ==, -1.25);
  g_assert_cmpfloat (g->voxel_pitch, ==, 3.75);
  g_assert_cmpfloat (g->slice_aspect, ==, 1.5);
  g_assert_cmpfloat (g->slice_offset, ==, 1.25);
  g_assert_cmpfloat (g->shifts[3], ==, 7.5);
  g_assert_cmpfloat (g->angles[3], ==, 0.75);
  g_assert_cmpfloat (g->pad_top, ==, 0.25);
  g_assert_cmpfloat (g->pad_bottom, ==, 0.5);
  g_assert_cmpint (g->recon_slices, ==, 8);
  assert_finding (s, "unused", LAM_FINDING_FOUND, "sharpness");
  assert_finding (s, "angles", LAM_FINDING_FOUND, "MBIRJAX's unit");
  float y[24], w[24];
  g_assert_true (lam_scan_read (s, (LamRange){0, 0}, y, NULL, NULL, w, NULL, &error));
  g_assert_cmpfloat (y[23], ==, 23 / 8.0f);
  g_assert_cmpfloat (w[23], ==, 23 / 8.0f);

  /* No unit: ALU of 0.25 a channel become px. Infinity is Python's word. */
  g_autofree char *bare = make_mbirjax (
      "bare.h5",
      "{\"cone_beam_params\": {\"source_detector_dist\": Infinity, \"source_iso_dist\": 20}, \"optional_params\": "
      "{\"delta_det_channel\": 0.25, \"delta_det_row\": 0.5, \"alu_unit\": null}}",
      4, 4);
  g_autoptr (LamScan) b = open_ok (bare, NULL);
  g_assert_cmpstr (b->geometry->length_unit, ==, "px");
  g_assert_cmpfloat (b->geometry->source_axis, ==, 80);
  g_assert_true (isinf (b->geometry->source_detector));
  g_assert_cmpfloat (b->geometry->row_pitch, ==, 2);
  assert_finding (b, "unit", LAM_FINDING_ASSUMED, "0.25 ALU");

  const struct {
    const char *json, *says;
    int code;
    hsize_t views, angles;
  } cases[] = {
      {"{}", "3 angles", LAM_ERROR_FORMAT, 4, 3},
      {"[1, 2]", "not a JSON object", LAM_ERROR_FORMAT, 4, 4},
      {"{\"cone_beam_params\": {\"geometry_type\": \"TranslationModel\"}}", "TranslationModel", LAM_ERROR_NOT_SUPPORTED,
       4, 4},
      {"{\"optional_params\": {\"delta_det_row\": \"wide\"}}", "delta_det_row", LAM_ERROR_FORMAT, 4, 4},
      {"{\"optional_params\": {\"delta_det_row\": -1}}", "row pitch in the file is -1", LAM_ERROR_INVALID, 4, 4},
      {"{\"optional_params\": {\"recon_shape\": [1, 2]}}", "three sizes", LAM_ERROR_FORMAT, 4, 4},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *bad = make_mbirjax ("bad.h5", cases[i].json, cases[i].views, cases[i].angles);
    g_assert_null (lam_scan_open (bad, NULL, &error));
    test_error (g_steal_pointer (&error), cases[i].code, bad, cases[i].says, NULL);
  }
  g_autofree char *shape = make_mbirjax ("shape.h5", json, 5, 4);
  g_assert_null (lam_scan_open (shape, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "5 x 2 x 3", "4 x 2 x 3", NULL);
  GString *deep = g_string_new ("{\"a\": ");
  for (int i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  g_autofree char *nested = make_mbirjax ("deep.h5", deep->str, 4, 4);
  g_string_free (deep, TRUE);
  g_assert_null (lam_scan_open (nested, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "not a JSON object", NULL);
}

/* What an MBIRJAX file states of the volume is used or refused by name; what it leaves out is said. */
static void
test_mbirjax_volume (void)
{
#define CONE "{\"cone_beam_params\": {\"source_detector_dist\": 40, \"source_iso_dist\": 20}, \"optional_params\": {"
  static const struct {
    const char *json, *says[3];
    int code;
  } cases[] = {
      {CONE "\"delta_voxel\": 0}}", {"delta_voxel is 0", "above 0"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": -1, \"recon_shape\": [3, 3, 2]}}", {"delta_voxel is -1", "above 0"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": NaN}}", {"delta_voxel is nan"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": 1e300}}", {"delta_voxel is 1e+300", "delta_det_channel (1)"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": 1, \"recon_shape\": [0, 3, 2]}}", {"recon_shape", "size 0", "is 0"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": 1, \"recon_shape\": [3, -3, 2]}}", {"recon_shape", "size 1", "is -3"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": 1, \"recon_shape\": [3, 3, 1e12]}}", {"size 2", "is 1e+12"}, LAM_ERROR_INVALID},
      {CONE "\"delta_voxel\": 1, \"recon_shape\": [3, 3, 2.5]}}", {"size 2", "is 2.5"}, LAM_ERROR_INVALID},
      {CONE "\"recon_slice_offset\": Infinity}}", {"recon_slice_offset is inf"}, LAM_ERROR_INVALID},
      {CONE "\"alu_value\": 0, \"alu_unit\": \"mm\"}}", {"alu_value is 0"}, LAM_ERROR_INVALID},
  };
  g_autoptr (GError) error = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *bad = make_mbirjax ("volume.h5", cases[i].json, 4, 4);
    g_test_message ("%s", cases[i].json);
    g_assert_null (lam_scan_open (bad, NULL, &error));
    test_error (g_steal_pointer (&error), cases[i].code, bad, cases[i].says[0], cases[i].says[1], cases[i].says[2],
                NULL);
  }
  g_autofree char *shape = make_mbirjax ("shape.h5", CONE "\"recon_shape\": [3, 4, 2]}}", 4, 4);
  g_autoptr (LamScan) s = open_ok (shape, NULL);
  g_assert_cmpint (s->geometry->recon_columns, ==, 4);
  g_assert_cmpfloat (s->geometry->voxel_pitch, ==, 0.5); /* of the channels at the axis */
  assert_finding (s, "volume", LAM_FINDING_ASSUMED, "no voxel pitch");
  g_autofree char *pitch = make_mbirjax ("pitch.h5", CONE "\"delta_voxel\": 0.25}}", 4, 4);
  g_autoptr (LamScan) t = open_ok (pitch, NULL);
  g_assert_cmpint (t->geometry->recon_rows, ==, 0);
  assert_finding (t, "volume", LAM_FINDING_ASSUMED, "voxel pitch (0.25 px)");
  g_autofree char *both = make_mbirjax ("both.h5", CONE "\"delta_voxel\": 0.25, \"recon_shape\": [3, 4, 2]}}", 4, 4);
  LamScanOptions o = LAM_SCAN_OPTIONS_INIT;
  o.geometry_set = TRUE;
  g_autoptr (LamScan) whole = open_ok (both, NULL), other = open_ok (both, &o);
  g_assert_null (finding (whole, "volume", LAM_FINDING_ASSUMED));
  assert_finding (other, "volume", LAM_FINDING_ASSUMED, "another beam");
#undef CONE

  /* Lamina's own file likewise. */
  float samples[200] = {0};
  static const char *const says[] = {"recon_shape[1] is 0", "voxel_pitch is 0", "slice_offset is inf"};
  for (int i = 0; i < 3; i++) {
    g_autoptr (LamGeometry) g = full_geometry ();
    if (i == 0)
      g->recon_columns = 0;
    else if (i == 1)
      g->voxel_pitch = 0;
    else
      g->slice_offset = INFINITY;
    g_autofree char *own = make_lamina ("own-volume.h5", g, FALSE, FALSE, samples);
    g_assert_null (lam_scan_open (own, NULL, &error));
    test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, own, says[i], NULL);
  }
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = test_path ("nxtomo.h5"), *folder = test_path ("tiffs"), *other = test_path ("other.h5");
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t dims[3] = {2, 2, 2};
  test_put_numbers (file, "/entry/instrument/detector/data", H5T_STD_U16LE, 3, dims, NULL, 0, NULL);
  hid_t type = H5Tcopy (H5T_C_S1), space = H5Screate (H5S_SCALAR);
  H5Tset_size (type, 6);
  hid_t d = H5Dcreate2 (file, "/entry/definition", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite (d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "NXtomo");
  H5Dclose (d);
  H5Fclose (file);
  g_assert_null (lam_scan_open (path, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_NOT_SUPPORTED, "NXtomo", "not read yet", "DXchange", NULL);
  g_mkdir (folder, 0700);
  g_assert_null (lam_scan_open (folder, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_NOT_SUPPORTED, "folder of TIFF", "DXchange", NULL);
  file = H5Fcreate (other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/recon", H5T_IEEE_F32LE, 3, dims, NULL, 0, NULL);
  H5Fclose (file);
  g_assert_null (lam_scan_open (other, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "this is a volume", NULL);
  file = H5Fcreate (other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/something/else", H5T_IEEE_F32LE, 3, dims, NULL, 0, NULL);
  H5Fclose (file);
  g_assert_null (lam_scan_open (other, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "/exchange/data", "/something", NULL);
  file = H5Fcreate (other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose (H5Gcreate2 (file, "/exchange", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Lcreate_external ("raw.h5", "/data", file, "/exchange/data", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);
  g_assert_null (lam_scan_open (other, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "/exchange/data", "raw.h5", NULL);
}

/* Someone writes to the file while it is read. */
static void
touch_cb (double fraction, const char *what, gpointer path)
{
  struct utimbuf before = {1000000000, 1000000000};
  g_utime (path, &before);
}

static void
test_changed (void)
{
  g_autofree char *path = make_dxchange ("changed.h5", &plain);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) s = open_ok (path, NULL);
  g_assert_true (lam_scan_unchanged (s, &error));
  {
    float y[60];
    const LamIoControl control = {NULL, touch_cb, path};
    g_autoptr (LamScan) read = open_ok (path, NULL);
    g_assert_false (lam_scan_read (read, (LamRange){0, 0}, y, NULL, NULL, NULL, &control, &error));
    test_error (g_steal_pointer (&error), LAM_ERROR_CHANGED, path, NULL);
  }
  Spec spec = plain;
  spec.views = spec.angles = 6;
  g_autofree char *again = make_dxchange ("changed.h5", &spec);
  float y[60];
  g_assert_false (lam_scan_read (s, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_CHANGED, path, NULL);
  g_remove (path);
  g_assert_false (lam_scan_unchanged (s, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, path, NULL);
}

/* L1: numbers in texts are read with a point whatever the language. */
static void
test_locale (void)
{
  if (!test_german ())
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = make_mbirjax ("german.h5",
                                        "{\"cone_beam_params\": {\"source_detector_dist\": 40.25, \"source_iso_dist\": "
                                        "\"20.25\"}, \"optional_params\": {\"alu_unit\": \"mm\", \"alu_value\": 1}}",
                                        4, 4);
  g_autoptr (LamScan) s = open_ok (path, NULL);
  g_assert_cmpfloat (s->geometry->source_detector, ==, 40.25);
  g_assert_cmpfloat (s->geometry->source_axis, ==, 20.25);
  assert_finding (s, "distances", LAM_FINDING_FOUND, "40.25 and 20.25 mm");
  test_plain_locale ();
}

static void
test_tooth (void)
{
  g_autofree char *path = test_data_file ("ct/tooth.h5");
  if (!path)
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) s = open_ok (path, NULL);
  g_assert_cmpint (s->geometry->views, ==, 181);
  g_assert_cmpint (s->geometry->rows, ==, 2);
  g_assert_cmpint (s->geometry->channels, ==, 640);
  g_assert_cmpint (s->flats, ==, 10);
  g_assert_cmpint (s->darks, ==, 10);
  g_assert_cmpfloat_with_epsilon (s->geometry->angles[180], G_PI * 180 / 181, 1e-5);
  assert_finding (s, "angles", LAM_FINDING_FOUND, "0 to 179.0");
  float *y = lam_alloc_n (181 * 2 * 640, sizeof *y, "test", &error);
  g_assert_true (lam_scan_read (s, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  for (int64_t i = 0; i < 181 * 2 * 640; i++)
    g_assert_true (isfinite (y[i]) && y[i] > 0);
  lam_free (y);
  for (guint i = 0; i < s->findings->len; i++) {
    const LamFinding *f = s->findings->pdata[i];
    g_test_message ("%d %s: %s [%s]", f->kind, f->field, f->text, f->value ? f->value : "");
  }
}

/* Every allocation of data-sized memory refused in turn: an error, nothing leaked, the next try works. */
static void
test_memory (void)
{
  float samples[200] = {0};
  g_autoptr (LamGeometry) g = full_geometry ();
  g_autofree char *dx = make_dxchange ("memory.h5", &plain), *own = make_lamina ("memory2.h5", g, TRUE, TRUE, samples);
  g_autofree char *mb =
      make_mbirjax ("memory3.h5", "{\"cone_beam_params\": {\"helical_z_shifts\": [0, 1, 2, 3]}}", 4, 4);
  const char *paths[] = {dx, own, mb};
  int failed = 0;
  int64_t before = lam_memory_bytes ();
  for (size_t i = 0; i < G_N_ELEMENTS (paths); i++) {
    gboolean done = FALSE;
    for (int64_t n = 1; !done && n < 100; n++) {
      g_autoptr (GError) error = NULL;
      float y[200], w[200], f[200];
      lam_memory_fail_at (n);
      g_autoptr (LamScan) s = lam_scan_open (paths[i], NULL, &error);
      done = s && lam_scan_read (s, (LamRange){0, 0}, y, f, f, s->has_weights ? w : NULL, NULL, &error);
      if (!done)
        g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      failed += !done;
      lam_memory_fail_at (0);
      g_assert_cmpint (lam_memory_bytes (), ==, before);
    }
    g_assert_true (done);
  }
  g_test_message ("%d refused allocations", failed);
  g_assert_cmpint (failed, >=, 3);
}

/* Opens and reads whatever comes; any error will do, a wrong answer of a cut file will not. */
static gboolean
try_scan (const char *path)
{
  g_autoptr (LamScan) s = lam_scan_open (path, NULL, NULL);
  if (!s)
    return FALSE;
  int64_t frame = s->geometry->rows * s->geometry->channels;
  if (lam_mul_size (frame, s->geometry->views + s->flats + s->darks) > (1 << 24))
    return TRUE;
  float *y = lam_alloc_n (frame * s->geometry->views, 4, "", NULL), *f = lam_alloc_n (frame * s->flats, 4, "", NULL);
  float *d = lam_alloc_n (frame * s->darks, 4, "", NULL);
  gboolean ok = y && f && d && lam_scan_read (s, (LamRange){0, 0}, y, f, d, NULL, NULL, NULL);
  lam_free (y);
  lam_free (f);
  lam_free (d);
  return ok;
}

static void
try_damaged (const char *path)
{
  try_scan (path);
}

static void
try_cut (const char *path)
{
  if (try_scan (path))
    abort (); /* a cut file was taken for a whole one */
}

static void
test_damaged (void)
{
  float samples[200] = {0};
  g_autoptr (LamGeometry) g = full_geometry ();
  g_autofree char *dx = make_dxchange ("damage.h5", &plain), *own = make_lamina ("damage2.h5", g, TRUE, TRUE, samples);
  g_autofree char *mb = make_mbirjax ("damage3.h5", "{\"cone_beam_params\": {\"source_iso_dist\": 3}}", 4, 4);
  int n = g_test_thorough () ? 5000 : 200;
  test_damage (dx, n, 1, try_damaged);
  test_damage (own, n, 2, try_damaged);
  test_damage (mb, n, 3, try_damaged);
}

static void
test_cut_off (void)
{
  float samples[200] = {0};
  g_autoptr (LamGeometry) g = full_geometry ();
  g_autofree char *dx = make_dxchange ("cut.h5", &plain), *own = make_lamina ("cut2.h5", g, TRUE, TRUE, samples);
  test_cut (dx, 150, try_cut);
  test_cut (own, 150, try_cut);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scan/dxchange", test_dxchange);
  g_test_add_func ("/scan/units", test_units);
  g_test_add_func ("/scan/counts", test_counts);
  g_test_add_func ("/scan/options", test_options);
  g_test_add_func ("/scan/own", test_own);
  g_test_add_func ("/scan/write-faults", test_write_faults);
  g_test_add_func ("/scan/mbirjax", test_mbirjax);
  g_test_add_func ("/scan/pixel-sizes", test_pixel_sizes);
  g_test_add_func ("/scan/mbirjax-volume", test_mbirjax_volume);
  g_test_add_func ("/scan/refused", test_refused);
  g_test_add_func ("/scan/changed", test_changed);
  g_test_add_func ("/scan/locale", test_locale);
  g_test_add_func ("/scan/tooth", test_tooth);
  g_test_add_func ("/scan/memory", test_memory);
  g_test_add_func ("/scan/damaged", test_damaged);
  g_test_add_func ("/scan/cut-off", test_cut_off);
  int result = g_test_run ();
  test_clean ();
  return result;
}
