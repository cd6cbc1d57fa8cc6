/* Geometry: impossible ones refused by name, warnings, the automatic volume, the mask. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/geometry.h"
#include "golden-tools.h"

/* A plain scan that passes every check. */
static LamGeometry *
good (LamGeometryKind kind)
{
  LamGeometry *g = lam_geometry_new (kind, 10, 5, 13);
  if (kind == LAM_GEOMETRY_CONE) {
    g->source_detector = 100;
    g->source_axis = 50;
  }
  lam_geometry_set_angles (g, 0, 2 * G_PI);
  g_assert_true (lam_geometry_auto_volume (g, NULL));
  g_assert_true (lam_geometry_check (g, NULL));
  return g;
}

static void
assert_refused (LamGeometry *g, const char *field, const char *value)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_geometry_check (g, &error));
  g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_INVALID));
  g_autofree char *want = g_strdup_printf ("%s = %s:", field, value);
  if (!g_str_has_prefix (error->message, want))
    g_test_fail_printf ("wanted \"%s\", got \"%s\"", want, error->message);
  lam_geometry_free (g);
}

#define REFUSED(kind, change, field, value)                                                                            \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    LamGeometry *g = good (kind);                                                                                      \
    change;                                                                                                            \
    assert_refused (g, field, value);                                                                                  \
  }                                                                                                                    \
  G_STMT_END

#define PARALLEL LAM_GEOMETRY_PARALLEL
#define CONE LAM_GEOMETRY_CONE

/* Case G6: impossible geometry is refused with the field's name and its value. */
static void
test_impossible (void)
{
  lam_memory_fail_at (1); /* refused before any allocation: one would fail with another code */
  REFUSED (CONE, g->source_detector = 327; g->source_axis = 842, "source_detector", "327");
  REFUSED (CONE, g->source_detector = 50, "source_detector", "50");
  REFUSED (CONE, g->source_axis = 0, "source_axis", "0");
  REFUSED (CONE, g->source_axis = -3, "source_axis", "-3");
  REFUSED (CONE, g->source_axis = NAN, "source_axis", "nan");
  REFUSED (CONE, g->source_detector = NAN, "source_detector", "nan");
  REFUSED (CONE, g->source_axis = INFINITY, "source_detector", "100");
  REFUSED (CONE, g->detector = LAM_DETECTOR_CURVED; g->source_detector = INFINITY, "source_detector", "inf");
  REFUSED (PARALLEL, g->detector = LAM_DETECTOR_CURVED, "detector", "1");
  REFUSED (PARALLEL, g->channel_pitch = 0, "channel_pitch", "0");
  REFUSED (PARALLEL, g->row_pitch = -1, "row_pitch", "-1");
  REFUSED (PARALLEL, g->channel_pitch = INFINITY, "channel_pitch", "inf");
  REFUSED (PARALLEL, g->channel_offset = NAN, "channel_offset", "nan");
  REFUSED (PARALLEL, g->row_offset = INFINITY, "row_offset", "inf");
  REFUSED (PARALLEL, g->views = 0, "views", "0");
  REFUSED (PARALLEL, g->rows = 0, "rows", "0");
  REFUSED (PARALLEL, g->channels = -1, "channels", "-1");
  REFUSED (PARALLEL, g->angles[3] = NAN, "angles[3]", "nan");
  REFUSED (PARALLEL, g->voxel_pitch = 0, "voxel_pitch", "0");
  REFUSED (PARALLEL, g->row_aspect = 0, "row_aspect", "0");
  REFUSED (PARALLEL, g->slice_aspect = 1.5, "slice_aspect", "1.5");
  REFUSED (PARALLEL, g->recon_slices = 4, "recon_slices", "4");
  REFUSED (PARALLEL, g->recon_rows = 0, "recon_rows", "0");
  REFUSED (PARALLEL, g->recon_rows = g->recon_columns = 2, "mask", "ellipse");
  REFUSED (PARALLEL, g->shifts = g_new0 (double, 10); g->shifts[9] = 1, "shifts[9]", "1");
  REFUSED (CONE, g->shifts = g_new0 (double, 10); g->shifts[2] = NAN, "shifts[2]", "nan");
  REFUSED (CONE, g->pad_top = -1, "pad_top", "-1");
  REFUSED (CONE, g->slice_offset = NAN, "slice_offset", "nan");
  REFUSED (PARALLEL, g->angles[3] = 17454, "angles[3]", "17454"); /* above 1e6 degrees */
  REFUSED (CONE, g->angles[9] = -1e300, "angles[9]", "-1e+300");
  REFUSED (CONE, g->voxel_pitch = 9; g->source_axis = 58.5, "source_axis", "58.5"); /* 13 x 9 / 2: just inside */
  lam_memory_fail_at (0);
}

static void
test_source_outside (void)
{
  g_autoptr (LamGeometry) g = good (CONE);
  g->voxel_pitch = 9;
  g->source_axis = 58.6;
  g_assert_true (lam_geometry_check (g, NULL));
  g->mask = LAM_MASK_NONE; /* now the corners count, and they reach further */
  g_assert_false (lam_geometry_check (g, NULL));
}

/* An offset by which no view sees a voxel is refused; one that leaves a little is taken. */
static void
test_unseen (void)
{
  REFUSED (PARALLEL, g->channel_offset = 1e9, "channel_offset", "1000000000");
  REFUSED (PARALLEL, g->channel_offset = -14.1, "channel_offset",
           "-14.1"); /* 6.5 of detector, 6.5 of volume, 1 to spare */
  REFUSED (CONE, g->channel_offset = -1e9, "channel_offset", "-1000000000");
  REFUSED (CONE, g->channel_offset = 15, "channel_offset", "15");
  REFUSED (CONE, g->detector = LAM_DETECTOR_CURVED; g->channel_offset = 15, "channel_offset", "15");
  REFUSED (CONE, g->row_offset = 1e9, "row_offset", "1000000000, slice_offset = 0");
  REFUSED (CONE, g->slice_offset = -1e9, "row_offset", "0, slice_offset = -1000000000");
  REFUSED (CONE, g->slice_offset = 4.6, "row_offset", "0, slice_offset = 4.6");
  g_autoptr (LamGeometry) p = good (PARALLEL);
  p->channel_offset = 13.9;
  g_assert_true (lam_geometry_check (p, NULL));
  p->row_offset = 1e9; /* has no meaning in parallel beam */
  g_assert_true (lam_geometry_check (p, NULL));
  g_autoptr (LamGeometry) c = good (CONE);
  c->channel_offset = 14;
  g_assert_true (lam_geometry_check (c, NULL));
  c->slice_offset = 2.5;
  g_assert_true (lam_geometry_check (c, NULL));
  c->slice_offset = 1000; /* one view of a helix goes there */
  g_assert_false (lam_geometry_check (c, NULL));
  c->shifts = g_new0 (double, 10);
  c->shifts[7] = 1001;
  g_assert_true (lam_geometry_check (c, NULL));
}

/* More views than memory are an error, not the end of the program. */
static void
test_no_memory (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_geometry_try_new (PARALLEL, INT64_C (1) << 58, 1, 1, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "angles of 288230376151711744 views"));
  g_clear_error (&error);
  g_autoptr (LamGeometry) g = good (CONE);
  g->shifts = g_new0 (double, 10);
  for (int n = 1; n <= 3; n++) {
    lam_memory_fail_at (n);
    g_autoptr (LamGeometry) copy = lam_geometry_try_copy (g, &error);
    lam_memory_fail_at (0);
    g_assert_true ((copy != NULL) == (n == 3));
    if (n < 3)
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_clear_error (&error);
  }
}

/* Case S4, the sizes: products that do not fit are refused, large ones that do are taken. */
static void
test_overflow (void)
{
  LamGeometry *g = good (CONE);
  g->recon_rows = g->recon_columns = g->recon_slices = 1 << 21;
  g->source_axis = 1e9;
  g->source_detector = 2e9;
  assert_refused (g, "recon_rows x recon_columns x recon_slices", "2097152 x 2097152 x 2097152");
  g = good (CONE);
  g->recon_rows = g->recon_columns = 1 << 16;
  assert_refused (g, "recon_rows x recon_columns", "65536 x 65536");
  g = good (PARALLEL);
  g->rows = g->recon_slices = INT64_C (1) << 40;
  g->channels = INT64_C (1) << 40;
  assert_refused (g, "views x rows x channels", "10 x 1099511627776 x 1099511627776");

  g_autoptr (LamGeometry) fits = good (CONE);
  fits->recon_rows = fits->recon_columns = fits->recon_slices = 4096;
  fits->source_axis = 1e6;
  fits->source_detector = 2e6;
  g_assert_true (lam_geometry_check (fits, NULL));
}

static void
test_infinite_distance (void)
{
  g_autoptr (LamGeometry) g = good (CONE);
  g->source_detector = INFINITY;
  g_assert_true (lam_geometry_auto_volume (g, NULL));
  g_assert_true (lam_geometry_check (g, NULL));
  g_assert_cmpfloat (lam_geometry_magnification (g), ==, 1);
  g_assert_cmpint (g->recon_columns, ==, 13);
  g_assert_cmpint (g->recon_slices, ==, 5);
  g_assert_cmpfloat (lam_geometry_fan (g), ==, 0);
  g->source_axis = INFINITY;
  g_assert_true (lam_geometry_check (g, NULL));
}

static void
assert_warning (LamGeometry *g, const char *text)
{
  g_autofree char *warnings = lam_geometry_warnings (g);
  if (text ? !warnings || !strstr (warnings, text) : warnings != NULL)
    g_test_fail_printf ("wanted \"%s\", got \"%s\"", text ? text : "nothing", warnings ? warnings : "nothing");
}

/* FBP and FDK weigh views alike: right for half turns and whole ones, and nothing over. */
static void
test_direct_warning (void)
{
  static const struct {
    LamGeometryKind kind;
    int views;
    double stop;
    const char *says; /* NULL: nothing */
  } cases[] = {
      {LAM_GEOMETRY_PARALLEL, 181, 181, "181 degrees, 1 more than half a turn: FBP"},
      {LAM_GEOMETRY_PARALLEL, 181, -181, "181 degrees, 1 more than half a turn"},
      {LAM_GEOMETRY_PARALLEL, 181, 180, NULL},
      {LAM_GEOMETRY_PARALLEL, 181, 179.006, NULL},
      {LAM_GEOMETRY_PARALLEL, 100, 120, NULL}, /* too few is told elsewhere */
      {LAM_GEOMETRY_PARALLEL, 360, 360, NULL},
      {LAM_GEOMETRY_PARALLEL, 270, 270, "270 degrees, 90 more than half a turn"},
      {LAM_GEOMETRY_PARALLEL, 400, 400, "400 degrees, 40 more than whole turns"},
      {LAM_GEOMETRY_CONE, 360, 360, NULL},
      {LAM_GEOMETRY_CONE, 361, 361, "361 degrees, 1 more than a turn: FDK"},
      {LAM_GEOMETRY_CONE, 220, 220, "220 of 360 degrees: FDK"},
      {LAM_GEOMETRY_CONE, 182, 182, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LamGeometry) g = lam_geometry_new (cases[i].kind, cases[i].views, 1, 100);
    if (cases[i].kind == LAM_GEOMETRY_CONE) {
      g->source_detector = 1701;
      g->source_axis = 1625;
    }
    lam_geometry_set_angles (g, 0.3, 0.3 + cases[i].stop * G_PI / 180);
    g_autofree char *text = lam_geometry_direct_warning (g);
    g_test_message ("%s", text ? text : "nothing");
    g_assert_cmpint (text != NULL, ==, cases[i].says != NULL);
    if (text)
      g_assert_nonnull (strstr (text, cases[i].says));
  }
  /* Golden steps and views in another order are even in their own way. */
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 200, 1, 100);
  for (int v = 0; v < 200; v++)
    g->angles[v] = v * 111.246 * G_PI / 180;
  g_assert_null (lam_geometry_direct_warning (g));
}

/* Case G5: the words for a nearly parallel half turn. */
static void
test_warnings (void)
{
  g_autoptr (LamGeometry) cone = lam_geometry_new (CONE, 100, 1, 100);
  cone->channel_pitch = 0.46;
  cone->source_detector = 1701;
  cone->source_axis = 1625;
  lam_geometry_set_angles (cone, 0, G_PI);
  assert_warning (cone, "needs 181.55 degrees (180 + fan 1.55), has 180");
  lam_geometry_set_angles (cone, 0, -2 * G_PI);
  assert_warning (cone, NULL);
  lam_geometry_set_angles (cone, 1, 1 + 182 * G_PI / 180);
  assert_warning (cone, NULL);
  cone->channel_offset = 20; /* 3 on one side, 43 on the other */
  assert_warning (cone, "needs 360.00 degrees, has 182");
  cone->channel_offset = 30;
  assert_warning (cone, "the axis falls on channel 114.717, outside");
  cone->channel_offset = 0;
  cone->rows = 1 << 13;
  assert_warning (cone, "above 45");

  g_autoptr (LamGeometry) parallel = lam_geometry_new (PARALLEL, 181, 1, 64);
  lam_geometry_set_angles (parallel, 0, G_PI);
  assert_warning (parallel, NULL);
  lam_geometry_set_angles (parallel, 0, 0.5 * G_PI);
  assert_warning (parallel, "needs 180.00 degrees, has 90");
  lam_geometry_set_angles (parallel, 0, 180);
  assert_warning (parallel, "look like degrees");
  lam_geometry_set_angles (parallel, 2, 2);
  assert_warning (parallel, "the same angle");
}

static void
test_center (void)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (PARALLEL, 1, 1, 640);
  g_assert_cmpfloat (lam_geometry_center (g), ==, 319.5);
  g->channel_pitch = 0.25;
  lam_geometry_set_center (g, 295.5);
  g_assert_cmpfloat (g->channel_offset, ==, -6);
  g_assert_cmpfloat (lam_geometry_center (g), ==, 295.5);
}

static void
test_copy (void)
{
  g_autoptr (LamGeometry) g = good (CONE);
  g->shifts = g_new0 (double, g->views);
  g->shifts[4] = 7;
  g_autoptr (LamGeometry) copy = lam_geometry_copy (g);
  g->shifts[4] = g->angles[1] = -1;
  g_assert_cmpfloat (copy->shifts[4], ==, 7);
  g_assert_cmpfloat (copy->angles[1], !=, -1);
  g_assert_cmpint (copy->recon_columns, ==, g->recon_columns);
}

/* A refused scan keeps its volume. */
static void
test_auto_refused (void)
{
  g_autoptr (LamGeometry) g = good (CONE);
  int64_t columns = g->recon_columns;
  g->channels = 99;
  g->row_pitch = 0;
  g_assert_false (lam_geometry_auto_volume (g, NULL));
  g_assert_cmpint (g->recon_columns, ==, columns);
  g->row_pitch = 1;
  g->row_aspect = 1e300;
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_geometry_auto_volume (g, &error));
  g_assert_nonnull (strstr (error->message, "recon_rows"));
}

/* As many slices as rows at equal pitches, for every height; pitches that differ in the sixth digit add none, and a
 * real difference does (spec section 4, quirk). */
static void
test_auto_heights (void)
{
  for (int64_t rows = 1; rows <= 2048; rows++) {
    g_autoptr (LamGeometry) g = lam_geometry_new (CONE, 1, rows, 8);
    g->source_axis = 1000;
    g->source_detector = 9700;
    g->row_pitch = 1 + 8e-6;
    g_assert_true (lam_geometry_auto_volume (g, NULL));
    g_assert_cmpint (g->recon_slices, ==, rows);
    g->row_pitch = 1 + 0.5 / (double) rows;
    g_assert_true (lam_geometry_auto_volume (g, NULL));
    g_assert_cmpint (g->recon_slices, ==, rows + 1);
  }
}

static void
test_mask (void)
{
  g_autoptr (LamGeometry) g = good (PARALLEL);
  g_autoptr (GError) error = NULL;
  int64_t n;
  int32_t *pixels = lam_geometry_mask_pixels (g, &n, NULL);
  g_assert_cmpint (n, ==, 113); /* 13 x 13, cases.md B13 */
  for (int64_t i = 1; i < n; i++)
    g_assert_cmpint (pixels[i - 1], <, pixels[i]);
  lam_free (pixels);

  struct {
    int64_t rows, columns, n;
    LamMaskKind mask;
  } sizes[] = {{1, 9, 9, LAM_MASK_ELLIPSE}, {9, 1, 9, LAM_MASK_ELLIPSE}, {1, 1, 1, LAM_MASK_ELLIPSE},
               {3, 3, 5, LAM_MASK_ELLIPSE}, {2, 2, 4, LAM_MASK_NONE},    {2, 3, 2, LAM_MASK_ELLIPSE}};
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g->recon_rows = sizes[i].rows;
    g->recon_columns = sizes[i].columns;
    g->mask = sizes[i].mask;
    g_assert_true (lam_geometry_check (g, NULL));
    pixels = lam_geometry_mask_pixels (g, &n, NULL);
    g_assert_cmpint (n, ==, sizes[i].n);
    lam_free (pixels);
  }
  g->mask = LAM_MASK_ELLIPSE;
  g->recon_rows = g->recon_columns = 2;
  g_assert_null (lam_geometry_mask_pixels (g, &n, &error));
  g_assert_nonnull (strstr (error->message, "no pixel inside"));
  g_clear_error (&error);

  g->recon_rows = g->recon_columns = 9;
  lam_memory_fail_at (1);
  g_assert_null (lam_geometry_mask_pixels (g, &n, &error));
  g_assert_true (g_error_matches (error, LAM_ERROR, LAM_ERROR_NO_MEMORY));
  lam_memory_fail_at (0);
}

static void
check_golden (hid_t file, gpointer tally)
{
  golden_auto_geometry (file, tally);
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
  g_test_add_func ("/geometry/impossible", test_impossible);
  g_test_add_func ("/geometry/source-outside", test_source_outside);
  g_test_add_func ("/geometry/unseen", test_unseen);
  g_test_add_func ("/geometry/no-memory", test_no_memory);
  g_test_add_func ("/geometry/overflow", test_overflow);
  g_test_add_func ("/geometry/infinite-distance", test_infinite_distance);
  g_test_add_func ("/geometry/warnings", test_warnings);
  g_test_add_func ("/geometry/direct-warning", test_direct_warning);
  g_test_add_func ("/geometry/center", test_center);
  g_test_add_func ("/geometry/copy", test_copy);
  g_test_add_func ("/geometry/auto-refused", test_auto_refused);
  g_test_add_func ("/geometry/auto-heights", test_auto_heights);
  g_test_add_func ("/geometry/mask", test_mask);
  g_test_add_func ("/geometry/golden", test_golden);
  return g_test_run ();
}
