#include "golden-tools.h"

#include <math.h>
#include <string.h>

#include "ct/autoreg.h"
#include "ct/phantom.h"

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
