#include "golden-tools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ct/autoreg.h"
#include "ct/phantom.h"
#include "ct/preprocess.h"
#include "ct/stripes.h"
#include "ct/weights.h"

/* --- auto_geometry: a dataset a quantity, an entry a case --- */

static double *
column (hid_t group, const char *name, int64_t *n)
{
  int64_t shape[GOLDEN_MAX_RANK];
  double *values = golden_read_double (group, name, shape);
  if (*n >= 0)
    g_assert_cmpint (shape[0], ==, *n);
  *n = shape[0];
  return values;
}

static void
check_auto_geometry (hid_t group, const char *name, gpointer data)
{
  GoldenTally *tally = data;
  gboolean cone = g_str_equal (name, "cone");
  if (!cone && !g_str_equal (name, "parallel"))
    return;
  int64_t n = -1;
  enum { VIEWS, ROWS, CHANNELS, PITCH, ROW_PITCH, OFFSET, ROW_OFFSET, ASPECT, SLICE_ASPECT, VOXEL, R, C, K, COMMON };
  static const char *const common[] = {"views",        "detector_rows",  "detector_channels", "channel_pitch",
                                       "row_pitch",    "channel_offset", "row_offset",        "row_aspect",
                                       "slice_aspect", "voxel_pitch",    "recon_rows",        "recon_columns",
                                       "recon_slices"};
  enum { D, S, LO, HI, TOP, BOTTOM, OZ, CONE };
  static const char *const more[] = {"source_detector_distance", "source_iso_distance", "axial_shift_min",
                                     "axial_shift_max",          "axial_pad_top",       "axial_pad_bottom",
                                     "recon_slice_offset"};
  double *a[COMMON], *b[CONE] = {0};
  for (int i = 0; i < COMMON; i++)
    a[i] = column (group, common[i], &n);
  for (int i = 0; cone && i < CONE; i++)
    b[i] = column (group, more[i], &n);

  for (int64_t i = 0; i < n; i++) {
    g_autoptr (LamGeometry) g =
        lam_geometry_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, (int64_t) a[VIEWS][i], (int64_t) a[ROWS][i],
                          (int64_t) a[CHANNELS][i]);
    g_autoptr (GError) error = NULL;
    g_autofree char *where = g_strdup_printf ("%s case %d", name, (int) i);
    g->channel_pitch = a[PITCH][i];
    g->row_pitch = a[ROW_PITCH][i];
    g->channel_offset = a[OFFSET][i];
    g->row_offset = a[ROW_OFFSET][i];
    g->row_aspect = a[ASPECT][i];
    g->slice_aspect = a[SLICE_ASPECT][i];
    if (cone) {
      g->source_detector = b[D][i];
      g->source_axis = b[S][i];
      g->pad_top = b[TOP][i];
      g->pad_bottom = b[BOTTOM][i];
      if (b[LO][i] != 0 || b[HI][i] != 0) {
        g->shifts = g_new (double, g->views);
        for (int64_t v = 0; v < g->views; v++)
          g->shifts[v] = v == g->views / 2 ? b[HI][i] : b[LO][i];
      }
    }
    if (!lam_geometry_auto_volume (g, &error)) {
      g_test_fail_printf ("%s: %s", where, error->message);
      continue;
    }
    golden_tally_add (tally, "auto_geometry voxel pitch (relative)", where, fabs (g->voxel_pitch / a[VOXEL][i] - 1),
                      1e-12);
    golden_tally_add (tally, "auto_geometry rows and columns", where,
                      fabs ((double) g->recon_rows - a[R][i]) + fabs ((double) g->recon_columns - a[C][i]), 0);
    golden_tally_add (tally, cone ? "auto_geometry cone slices" : "auto_geometry parallel slices", where,
                      fabs ((double) g->recon_slices - a[K][i]), cone ? 1 : 0);
    if (cone && g->recon_slices == (int64_t) a[K][i])
      golden_tally_add (tally, "auto_geometry slice offset", where, fabs (g->slice_offset - b[OZ][i]),
                        1e-9 * (1 + fabs (b[OZ][i])));
  }
  for (int i = 0; i < COMMON; i++)
    g_free (a[i]);
  for (int i = 0; i < CONE; i++)
    g_free (b[i]);
}

void
golden_auto_geometry (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "auto_geometry", check_auto_geometry, tally);
}

/* --- phantom --- */

static void
check_phantom (hid_t group, const char *name, LamPhantomKind kind, double attenuation, gboolean transposed,
               GoldenTally *tally)
{
  g_autofree char *truth_name = g_strconcat (name, "_double", NULL);
  if (!golden_has (group, truth_name))
    return;
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *stored = golden_read_double (group, truth_name, shape);
  int64_t rows = shape[transposed ? 1 : 0], columns = shape[transposed ? 0 : 1], slices = shape[2];
  int64_t n = rows * columns * slices;
  g_autofree double *truth = g_new (double, n);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      memcpy (truth + (i * columns + j) * slices, stored + (transposed ? j * rows + i : i * columns + j) * slices,
              sizeof (double) * (size_t) slices);
  g_autofree float *volume = g_new (float, n);
  g_autoptr (GError) error = NULL;
  g_assert_true (lam_phantom_fill (kind, rows, columns, slices, (LamRange){0, slices}, volume, &error));
  double scale = attenuation > 0 ? lam_phantom_scale (kind, rows, columns, slices, attenuation) : 1;
  for (int64_t i = 0; i < n; i++)
    volume[i] = (float) (scale * volume[i]);
  golden_tally_add (tally, "phantom", name, golden_relative_float (volume, truth, n), 1e-6);
}

static void
check_scaled_phantom (hid_t group, const char *name, GoldenTally *tally)
{
  static const char prefix[] = "shepp_logan_attenuation_";
  if (!g_str_has_prefix (name, prefix) || g_str_has_suffix (name, "_double"))
    return;
  /* The attenuation is stated in the dataset's name only. */
  check_phantom (group, name, LAM_PHANTOM_SHEPP_LOGAN, g_ascii_strtod (name + strlen (prefix), NULL), FALSE, tally);
}

void
golden_phantom (hid_t file, GoldenTally *tally)
{
  if (!golden_has (file, "phantom"))
    return;
  hid_t group = golden_open_group (file, "phantom");
  check_phantom (group, "cube", LAM_PHANTOM_CUBE, 0, FALSE, tally);
  check_phantom (group, "shepp_logan_low_dynamic_range", LAM_PHANTOM_SHEPP_LOGAN, 0, FALSE, tally);
  check_phantom (group, "shepp_logan_reference", LAM_PHANTOM_SHEPP_LOGAN_REFERENCE, 0, TRUE, tally);
  H5G_info_t info;
  H5Gget_info (group, &info);
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[256];
    H5Lget_name_by_idx (group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    check_scaled_phantom (group, name, tally);
  }
  H5Gclose (group);
}

/* --- auto_regularization --- */

static void
check_auto_regularization (hid_t group, const char *name, gpointer data)
{
  GoldenTally *tally = data;
  g_autoptr (LamGeometry) g = golden_geometry (group);
  if (!g)
    return;
  g_autoptr (GError) error = NULL;
  g_autofree float *sinogram = golden_read_float (group, "sinogram", NULL);
  g_autofree float *weights = golden_has (group, "weights") ? golden_read_float (group, "weights", NULL) : NULL;
  LamRegularization r;
  if (!lam_auto_regularization (g, sinogram, weights, golden_attr_double (group, "snr_db"),
                                golden_attr_double (group, "sharpness"), &r, &error)) {
    g_test_fail_printf ("auto_regularization/%s: %s", name, error->message);
    return;
  }
  const struct {
    const char *attribute;
    double ours;
    gboolean relative;
  } numbers[] = {
      {"sigma_y_double", r.sigma_y, TRUE},
      {"sigma_x_double", r.sigma_x, TRUE},
      {"background_left_double", r.background_left, FALSE},
      {"background_right_double", r.background_right, FALSE},
      {"support_rms_double", r.support_rms, TRUE},
      {"typical_value_double", r.typical_value, TRUE},
      {"path_length_double", r.path_length, TRUE},
  };
  double worst = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++) {
    double truth = golden_attr_double (group, numbers[i].attribute);
    double off = fabs (numbers[i].ours - truth) / (numbers[i].relative ? fabs (truth) : 1);
    worst = off <= worst ? worst : off;
  }
  golden_tally_add (tally, "auto_regularization", name, worst, 1e-6);
  golden_tally_add (tally, "auto_regularization support count", name,
                    fabs ((double) (r.support_count - golden_attr_int (group, "support_count_double"))), 0);
  golden_tally_add (tally, "auto_regularization sigma_prox", name,
                    fabs (r.sigma_prox / golden_attr_double (group, "sigma_prox") - 1), 1e-5);
}

void
golden_auto_regularization (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "auto_regularization", check_auto_regularization, tally);
}

/* --- tools: what is stored is float32, so 1e-4 --- */

#define TOOL_BOUND 1e-4

/* Compares @ours with the dataset @name; nothing happens when the file lacks it. */
static void
compare_tool (hid_t group, const char *kind, const char *name, const float *ours, int64_t n, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  if (!golden_has (group, name))
    return;
  g_autofree double *truth = golden_read_double (group, name, shape);
  g_assert_cmpint (golden_count (shape), ==, n);
  golden_tally_add (tally, kind, name, golden_relative_float (ours, truth, n), TOOL_BOUND);
}

static float *
mean_of (hid_t group, const char *name)
{
  int64_t s[GOLDEN_MAX_RANK];
  g_autofree float *frames = golden_read_float (group, name, s);
  float *mean = g_new (float, s[1] * s[2]);
  g_assert_true (lam_mean_frames (frames, s[0], s[1], s[2], mean, NULL));
  return mean;
}

/* The seed works with magnitudes, so a count below the dark is no defect there. */
static void
transmit (float *data, const int64_t s[], const float *flat, const float *dark, const int32_t *defects,
          int64_t n_defects)
{
  LamTransmissionOptions options;
  LamTransmissionReport report = {0};
  lam_transmission_options_init (&options);
  options.magnitude = TRUE;
  options.defects = defects;
  options.n_defects = n_defects;
  g_assert_true (lam_transmission (data, s[0], s[1], s[2], flat, dark, &options, NULL, &report, NULL, NULL));
}

static void
check_downsampled (hid_t group, const char *name, GoldenTally *tally)
{
  int row_factor, channel_factor;
  int64_t s[GOLDEN_MAX_RANK], d[GOLDEN_MAX_RANK];
  if (sscanf (name, "sinogram_downsampled_%d_%d", &row_factor, &channel_factor) != 2)
    return;
  g_autofree float *data = golden_read_float (group, "object", s);
  g_autofree float *flat = mean_of (group, "blank"), *dark = mean_of (group, "dark");
  g_autofree int32_t *defects = golden_read_int32 (group, "defective_pixels", d);
  for (int64_t i = 0; i < d[0]; i++)
    for (int64_t v = 0; v < s[0]; v++)
      data[(v * s[1] + defects[2 * i]) * s[2] + defects[2 * i + 1]] = NAN;
  for (int64_t i = 0; i < d[0]; i++) {
    int64_t p = defects[2 * i] * s[2] + defects[2 * i + 1];
    flat[p] = dark[p] = NAN;
  }
  int64_t small[3] = {s[0], s[1] / row_factor, s[2] / channel_factor};
  g_assert_true (lam_bin (data, s[0], s[1], s[2], row_factor, channel_factor, data, NULL));
  g_assert_true (lam_bin (flat, 1, s[1], s[2], row_factor, channel_factor, flat, NULL));
  g_assert_true (lam_bin (dark, 1, s[1], s[2], row_factor, channel_factor, dark, NULL));
  transmit (data, small, flat, dark, NULL, 0);
  compare_tool (group, "tools/transmission", name, data, small[0] * small[1] * small[2], tally);
}

static void
check_transmission (hid_t group, GoldenTally *tally)
{
  int64_t s[GOLDEN_MAX_RANK], d[GOLDEN_MAX_RANK];
  g_autofree float *data = golden_read_float (group, "object", s);
  g_autofree float *flat = mean_of (group, "blank"), *dark = mean_of (group, "dark");
  g_autofree int32_t *defects = golden_read_int32 (group, "defective_pixels", d);
  int64_t n = s[0] * s[1] * s[2];
  transmit (data, s, flat, dark, defects, d[0]);
  compare_tool (group, "tools/transmission", "sinogram", data, n, tally);
  if (golden_has (group, "sinogram_rotated")) {
    double angle = golden_dataset_attr_double (group, "sinogram_rotated", "rotation_rad");
    g_assert_true (lam_rotate_detector (data, s[0], s[1], s[2], angle, NULL, NULL));
    compare_tool (group, "tools/transmission", "sinogram_rotated", data, n, tally);
  }
  H5G_info_t info;
  H5Gget_info (group, &info);
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[256];
    H5Lget_name_by_idx (group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    check_downsampled (group, name, tally);
  }
}

static void
check_weights (hid_t group, GoldenTally *tally)
{
  int64_t s[GOLDEN_MAX_RANK];
  g_autofree float *y = golden_read_float (group, "sinogram", s);
  int64_t n = golden_count (s);
  g_autofree float *w = g_new (float, n);
  for (int kind = 0; kind < LAM_WEIGHTS_COUNT; kind++) {
    lam_make_weights (kind, y, n, w);
    compare_tool (group, "tools/weights", lam_weights_name (kind), w, n, tally);
  }
  static const char huber[] = "generalized_huber";
  if (!golden_has (group, huber))
    return;
  LamWeightKind kind;
  hid_t set = H5Dopen2 (group, huber, H5P_DEFAULT);
  g_autofree char *start = golden_attr_string (set, "initial_weights");
  double threshold = golden_attr_double (set, "threshold"), delta = golden_attr_double (set, "delta");
  H5Dclose (set);
  g_autofree float *error = golden_read_float (group, "error", NULL);
  g_assert_true (lam_weights_from_name (start, &kind, NULL));
  lam_make_weights (kind, y, n, w);
  lam_huber_factor (error, w, n, threshold, delta, w);
  compare_tool (group, "tools/weights", huber, w, n, tally);
}

/* Rings: the input is one, the answers two. */
static void
check_stripes (hid_t group, const char *name, LamStripeOptions *options, const int64_t s[], GoldenTally *tally)
{
  g_autoptr (GError) error = NULL;
  g_autofree float *y = golden_read_float (group, "ring_input", NULL);
  g_assert_true (lam_remove_stripes (y, s[0], s[1], s[2], options, NULL, NULL, &error));
  compare_tool (group, "tools/stripes", name, y, s[0] * s[1] * s[2], tally);
}

static void
check_rings (hid_t group, GoldenTally *tally)
{
  static const char sorting[] = "ring_all_stripe", wavelet[] = "ring_wavelet_fourier";
  int64_t s[GOLDEN_MAX_RANK];
  LamStripeOptions options;
  if (!golden_has (group, "ring_input"))
    return;
  g_free (golden_read_float (group, "ring_input", s));
  lam_stripe_options_init (&options);
  if (golden_has (group, sorting)) {
    options.kind = LAM_STRIPES_SORTING;
    options.snr = golden_dataset_attr_double (group, sorting, "snr");
    options.large = (int64_t) golden_dataset_attr_double (group, sorting, "large_window");
    options.small = (int64_t) golden_dataset_attr_double (group, sorting, "small_window");
    check_stripes (group, sorting, &options, s, tally);
  }
  if (golden_has (group, wavelet)) {
    hid_t set = H5Dopen2 (group, wavelet, H5P_DEFAULT);
    g_autofree char *name = golden_attr_string (set, "wavelet");
    H5Dclose (set);
    g_assert_cmpstr (name, ==, "db5"); /* the only one that is built */
    options.kind = LAM_STRIPES_WAVELET;
    options.sigma = golden_dataset_attr_double (group, wavelet, "sigma");
    check_stripes (group, wavelet, &options, s, tally);
  }
}

static void
check_corrections (hid_t group, GoldenTally *tally)
{
  static const char kind[] = "tools/corrections";
  int64_t s[GOLDEN_MAX_RANK];
  g_autofree float *input = golden_read_float (group, "sinogram", s);
  int64_t n = golden_count (s);
  size_t bytes = sizeof (float) * (size_t) n;
  g_autofree float *y = g_memdup2 (input, bytes);

  static const char *const background[] = {"background_global", "background_per_view"};
  for (int mode = 0; mode < 2; mode++)
    if (golden_has (group, background[mode])) {
      int64_t width = (int64_t) golden_dataset_attr_double (group, background[mode], "edge_width");
      memcpy (y, input, bytes);
      g_assert_true (lam_remove_background (y, s[0], s[1], s[2], width, mode, NULL, NULL));
      compare_tool (group, kind, background[mode], y, n, tally);
    }
  memcpy (y, input, bytes);
  g_assert_true (lam_equalize_means (y, s[0], s[1], s[2], NULL));
  compare_tool (group, kind, "sinogram_offset_removed", y, n, tally);
  if (golden_has (group, "detector_rotated")) {
    memcpy (y, input, bytes);
    double angle = golden_dataset_attr_double (group, "detector_rotated", "rotation_rad");
    g_assert_true (lam_rotate_detector (y, s[0], s[1], s[2], angle, NULL, NULL));
    compare_tool (group, kind, "detector_rotated", y, n, tally);
  }
  if (golden_has (group, "polynomial")) {
    double c[16];
    int64_t count = golden_dataset_attr_doubles (group, "polynomial", "coefficients", c, G_N_ELEMENTS (c));
    g_assert_cmpint (count, <=, G_N_ELEMENTS (c));
    memcpy (y, input, bytes);
    lam_apply_polynomial (y, n, c, (int) count);
    compare_tool (group, kind, "polynomial", y, n, tally);
  }
  if (golden_has (group, "zinger_removed") && golden_has (group, "zinger_input")) {
    g_autofree float *z = golden_read_float (group, "zinger_input", NULL);
    g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, s[0], s[1], s[2]);
    g_assert_true (
        lam_remove_zingers (z, g, golden_dataset_attr_double (group, "zinger_removed", "ratio"), 3, NULL, NULL));
    compare_tool (group, kind, "zinger_removed", z, n, tally);
  }
}

void
golden_tools (hid_t file, GoldenTally *tally)
{
  static const struct {
    const char *path;
    void (*check) (hid_t group, GoldenTally *tally);
  } tools[] = {
      {"tools/transmission", check_transmission},
      {"tools/weights", check_weights},
      {"tools/corrections", check_corrections},
      {"tools/corrections", check_rings},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (tools); i++)
    if (golden_has (file, tools[i].path)) {
      hid_t group = golden_open_group (file, tools[i].path);
      tools[i].check (group, tally);
      H5Gclose (group);
    }
}
