/* Result files: what is written reads back the same (F2), in MBIRJAX's layout, whole or not at all. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/mbirjax.h"
#include "io/volume.h"

#define R 3
#define C 4
#define K 5

static const LamVolumeInfo info = {.units = "1/mm",
                                   .length_unit = "mm",
                                   .voxel_size = {0.1, 0.2, 0.3},
                                   .parameters = "{\"sharpness\": 1}",
                                   .recon_params = "num_iterations: 2\n",
                                   .model_params = "geometry_type:\n  val: x\n",
                                   .recon_log = "line 1\nline 2 \xc2\xb5\n",
                                   .notes = "Reconstruction completed: now",
                                   .provenance = "{\"scan\":\"tooth.h5\"}"};

/* x[i,j,k] = 100 i + 10 j + k (F2). */
static void
fill (float *x)
{
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      for (int k = 0; k < K; k++)
        x[(i * C + j) * K + k] = (float) (100 * i + 10 * j + k);
}

static LamVolume *
open_ok (const char *path, const char *dataset, LamVolumeLayout layout)
{
  g_autoptr (GError) error = NULL;
  LamVolume *v = lam_volume_open (path, dataset, layout, &error);
  g_assert_no_error (error);
  return v;
}

/* Whole, by rows, and every plane of @v equal to @x. */
static void
assert_volume (LamVolume *v, const float *x)
{
  g_autoptr (GError) error = NULL;
  float y[R * C * K];
  g_assert_cmpint (v->rows, ==, R);
  g_assert_cmpint (v->columns, ==, C);
  g_assert_cmpint (v->slices, ==, K);
  g_assert_true (lam_volume_read_rows (v, (LamRange){0, R}, y, NULL, &error));
  g_assert_cmpmem (y, sizeof y, x, sizeof y);
  g_assert_true (lam_volume_read_rows (v, (LamRange){1, 3}, y, NULL, &error));
  g_assert_cmpmem (y, 2 * C * K * 4, x + C * K, 2 * C * K * 4);
  for (int plane = LAM_VOLUME_SLICE; plane <= LAM_VOLUME_COLUMN; plane++) {
    int64_t n, width, height;
    lam_volume_plane_size (v, plane, &n, &width, &height);
    for (int64_t p = 0; p < n; p++) {
      g_assert_true (lam_volume_read_plane (v, plane, p, y, &error));
      for (int64_t b = 0; b < height; b++)
        for (int64_t a = 0; a < width; a++) {
          int64_t i = plane == LAM_VOLUME_SLICE ? b : plane == LAM_VOLUME_ROW ? p : a;
          int64_t j = plane == LAM_VOLUME_COLUMN ? p : a, k = plane == LAM_VOLUME_SLICE ? p : b;
          g_assert_cmpfloat (y[b * width + a], ==, x[(i * C + j) * K + k]);
        }
    }
    g_assert_false (lam_volume_read_plane (v, plane, n, y, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    g_clear_error (&error);
  }
}

static void
test_round_trip (void)
{
  float x[R * C * K];
  g_autofree char *path = test_path ("result.h5"), *sum = NULL;
  g_autoptr (GError) error = NULL;
  fill (x);
  x[7] = NAN;
  x[8] = INFINITY;
  x[9] = -0.0f;
  g_assert_true (lam_volume_write (path, x, R, C, K, &info, NULL, &sum, &error));
  x[7] = 7; /* NaN is not equal to itself: compare bits below, planes without it */
  g_autofree char *direct = lam_volume_checksum (x, R * C * K);
  g_assert_cmpstr (direct, !=, sum);
  x[7] = NAN;
  g_autofree char *same = lam_volume_checksum (x, R * C * K);
  g_assert_cmpstr (same, ==, sum);
  g_autoptr (LamVolume) v = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  float y[R * C * K];
  g_assert_true (lam_volume_read_rows (v, (LamRange){0, R}, y, NULL, &error));
  g_assert_cmpmem (y, sizeof y, x, sizeof x);
  g_assert_cmpstr (v->dataset, ==, "/recon");
  g_assert_false (v->layout_assumed);
  g_assert_cmpstr (v->units, ==, "1/mm");
  g_assert_cmpstr (v->length_unit, ==, "mm");
  g_assert_cmpstr (v->parameters, ==, info.parameters);
  g_assert_cmpstr (v->recon_params, ==, info.recon_params);
  g_assert_cmpstr (v->model_params, ==, info.model_params);
  g_assert_cmpstr (v->recon_log, ==, info.recon_log);
  g_assert_cmpstr (v->notes, ==, info.notes);
  g_assert_cmpstr (v->provenance, ==, info.provenance);
  g_assert_cmpstr (v->program, ==, "Lamina");
  g_assert_cmpmem (v->voxel_size, sizeof v->voxel_size, info.voxel_size, sizeof info.voxel_size);
  g_assert_cmpstr (v->checksum, ==, sum);
  g_autofree char *stored = lam_volume_file_checksum (v, NULL, &error);
  g_assert_cmpstr (stored, ==, sum);
  g_assert_cmpstr (g_hash_table_lookup (v->attributes, "axes"), ==, "row,column,slice");
  fill (x);
  g_assert_true (lam_volume_write (path, x, R, C, K, NULL, NULL, NULL, &error));
  g_autoptr (LamVolume) w = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  assert_volume (w, x);
  /* FIPS 180-2: SHA-256 of "abc" pads to another value; a known one for one float 0: 00000000. */
  const float zero = 0;
  g_autofree char *known = lam_volume_checksum (&zero, 1);
  g_assert_cmpstr (known, ==, "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119");
}

/* Exactly one object in the root, contiguous, uncompressed float32; texts scalar, variable, UTF-8. */
static void
test_layout (void)
{
  float x[R * C * K];
  g_autofree char *path = test_path ("layout.h5");
  g_autoptr (GError) error = NULL;
  fill (x);
  g_assert_true (lam_volume_write (path, x, R, C, K, &info, NULL, NULL, &error));
  hid_t file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT), root = H5Gopen2 (file, "/", H5P_DEFAULT);
  H5G_info_t group;
  g_assert_cmpint (H5Gget_info (root, &group), >=, 0);
  g_assert_cmpuint (group.nlinks, ==, 1);
  hid_t d = H5Dopen2 (file, "/recon", H5P_DEFAULT), plist = H5Dget_create_plist (d), type = H5Dget_type (d);
  g_assert_cmpint (H5Pget_layout (plist), ==, H5D_CONTIGUOUS);
  g_assert_cmpint (H5Pget_nfilters (plist), ==, 0);
  g_assert_true (H5Tequal (type, H5T_IEEE_F32LE) > 0);
  const char *const texts[] = {"recon_params", "model_params", "recon_log", "notes"};
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++) {
    hid_t a = H5Aopen (d, texts[i], H5P_DEFAULT), t = H5Aget_type (a), s = H5Aget_space (a);
    g_assert_true (H5Tis_variable_str (t) > 0);
    g_assert_cmpint (H5Tget_cset (t), ==, H5T_CSET_UTF8);
    g_assert_cmpint (H5Sget_simple_extent_type (s), ==, H5S_SCALAR);
    H5Aclose (a);
    H5Tclose (t);
    H5Sclose (s);
  }
  H5Tclose (type);
  H5Pclose (plist);
  H5Dclose (d);
  H5Gclose (root);
  H5Fclose (file);
}

/* MBIRJAX's files: other names, and the export form (slice, column, row) without a flip (F2). */
static void
test_foreign (void)
{
  float x[R * C * K];
  double turned[R * C * K], straight[R * C * K];
  g_autofree char *path = test_path ("export.h5"), *plain_path = test_path ("array.h5"), *many = test_path ("many.h5");
  g_autoptr (GError) error = NULL;
  const hsize_t dims[3] = {K, C, R}, ours[3] = {R, C, K}, flat[1] = {3};
  fill (x);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      for (int k = 0; k < K; k++) {
        turned[(k * C + j) * R + i] = x[(i * C + j) * K + k];
        straight[(i * C + j) * K + k] = x[(i * C + j) * K + k];
      }
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/recon", H5T_IEEE_F32LE, 3, dims, NULL, 0, turned);
  hid_t d = H5Dopen2 (file, "/recon", H5P_DEFAULT);
  test_put_text (d, "voxel_size", "1.0mm", TEXT_VARIABLE_UTF8, FALSE); /* as MBIRJAX's own example has it */
  H5Dclose (d);
  H5Fclose (file);
  g_autoptr (LamVolume) v = open_ok (path, NULL, LAM_LAYOUT_SLICE_COLUMN_ROW);
  assert_volume (v, x);
  g_assert_true (isnan (v->voxel_size[0]));
  g_assert_cmpstr (g_hash_table_lookup (v->attributes, "voxel_size"), ==, "1.0mm");
  g_autofree char *sum = lam_volume_file_checksum (v, NULL, &error), *own = lam_volume_checksum (x, R * C * K);
  g_assert_cmpstr (sum, ==, own);
  g_autoptr (LamVolume) guess = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  g_assert_true (guess->layout_assumed);
  g_assert_cmpint (guess->rows, ==, K);

  /* A layout mark makes the choice. */
  file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  d = H5Dopen2 (file, "/recon", H5P_DEFAULT);
  test_put_text (d, "layout", "slice-column-row", TEXT_FIXED_NULLTERM, FALSE);
  H5Dclose (d);
  H5Fclose (file);
  g_autoptr (LamVolume) marked = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  g_assert_false (marked->layout_assumed);
  assert_volume (marked, x);

  const char *const names[] = {"/recon", "/array", "/volume"};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    file = H5Fcreate (plain_path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    test_put_numbers (file, names[i], H5T_IEEE_F64LE, 3, ours, NULL, 0, straight);
    H5Fclose (file);
    g_autoptr (LamVolume) p = open_ok (plain_path, NULL, LAM_LAYOUT_FROM_FILE);
    g_assert_cmpstr (p->dataset, ==, names[i]);
    assert_volume (p, x);
  }

  file = H5Fcreate (many, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/first", H5T_IEEE_F32LE, 3, ours, NULL, 0, straight);
  test_put_numbers (file, "/second", H5T_IEEE_F32LE, 3, ours, NULL, 0, straight);
  H5Fclose (file);
  g_assert_null (lam_volume_open (many, NULL, LAM_LAYOUT_FROM_FILE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "/first (3 x 4 x 5)", "/second", "--dataset", NULL);
  g_autoptr (LamVolume) chosen = open_ok (many, "second", LAM_LAYOUT_FROM_FILE);
  assert_volume (chosen, x);
  g_assert_null (lam_volume_open (many, "third", LAM_LAYOUT_FROM_FILE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, "/third", NULL);
  file = H5Fcreate (many, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/line", H5T_IEEE_F32LE, 1, flat, NULL, 0, straight);
  H5Fclose (file);
  g_assert_null (lam_volume_open (many, NULL, LAM_LAYOUT_FROM_FILE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "no volume", "/line", NULL);
}

/* Slabs in any order, or by slices: the same bytes as in one go. */
static void
test_slabs (void)
{
  float x[R * C * K];
  g_autofree char *path = test_path ("slabs.h5"), *whole = test_path ("whole.h5"), *want = NULL;
  g_autoptr (GError) error = NULL;
  fill (x);
  g_assert_true (lam_volume_write (whole, x, R, C, K, &info, NULL, &want, &error));
  gsize size, n;
  g_autofree char *bytes = test_read_file (whole, &size);
  const int orders[][R] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
  for (size_t o = 0; o < G_N_ELEMENTS (orders) + 1; o++) {
    g_autoptr (LamVolumeWriter) w = lam_volume_writer_new (path, R, C, K, &info, &error);
    g_assert_no_error (error);
    g_assert_false (lam_volume_writer_finish (w, NULL, NULL, &error));
    test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "only 0 of 3 rows", NULL);
    if (o < G_N_ELEMENTS (orders)) {
      for (int r = 0; r < R; r++)
        g_assert_true (lam_volume_writer_put_rows (w, (LamRange){orders[o][r], orders[o][r] + 1},
                                                   x + orders[o][r] * C * K, &error));
      g_assert_false (lam_volume_writer_put_rows (w, (LamRange){2, 4}, x, &error));
      test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "2 to 4", NULL);
    } else
      for (int k = 0; k < K; k += 2) { /* 0..2, 2..4, 4..5 */
        int nk = MIN (2, K - k);
        float slab[R * C * 2];
        for (int p = 0; p < R * C; p++)
          for (int q = 0; q < nk; q++)
            slab[p * nk + q] = x[p * K + k + q];
        g_assert_true (lam_volume_writer_put_slices (w, (LamRange){k, k + nk}, slab, &error));
      }
    g_autofree char *sum = NULL;
    g_assert_true (lam_volume_writer_finish (w, NULL, &sum, &error));
    g_assert_cmpstr (sum, ==, want);
    g_autofree char *got = test_read_file (path, &n);
    g_assert_cmpmem (got, n, bytes, size);
  }
  g_assert_cmpint (test_leftovers (path), ==, 0);
}

static void
assert_old (const char *path)
{
  gsize size;
  g_autofree char *old = test_read_file (path, &size);
  g_assert_cmpmem (old, size, "old", 3);
  g_assert_cmpint (test_leftovers (path), ==, 0);
}

static void
test_stopped (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = test_path ("stopped.h5");
  int64_t rows = 32, n = rows * 256 * 512; /* 16 MiB: four pieces */
  float *x = lam_alloc_n (n, sizeof *x, "test", &error);
  for (int64_t i = 0; i < n; i++)
    x[i] = (float) i;
  test_write_file (path, "old", 3);
  TestControl c;
  int stops = 0;
  for (int i = 1; i < 50; i++) {
    test_control (&c, i);
    if (lam_volume_write (path, x, rows, 256, 512, NULL, &c.control, NULL, &error))
      break;
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_clear_error (&error);
    assert_old (path);
    stops++;
  }
  g_assert_cmpint (stops, >=, 5);
  g_autoptr (LamVolume) v = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  g_assert_cmpint (v->slices, ==, 512);
  /* A link stays a link; its target is replaced. */
  g_autofree char *link = test_path ("link.h5");
  g_assert_cmpint (symlink (path, link), ==, 0);
  float small[R * C * K];
  fill (small);
  g_assert_true (lam_volume_write (link, small, R, C, K, NULL, NULL, NULL, &error));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_autoptr (LamVolume) t = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  g_assert_cmpint (t->slices, ==, K);
  g_assert_false (lam_volume_write ("/dev/null", small, R, C, K, NULL, NULL, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "not a plain file", NULL);
  g_assert_null (lam_volume_writer_new (path, INT64_C (1) << 40, INT64_C (1) << 40, 2, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "1099511627776", NULL);
  lam_free (x);
}

/* Every size of disk from nothing to enough: an error that says so and the old file whole, or a good file. */
static void
test_full_disk (void)
{
  g_autoptr (GError) error = NULL;
  int full = 0, good = 0;
  float *x = lam_alloc_n (64 * 64 * 16, sizeof *x, "test", &error); /* 256 KiB */
  memset (x, 0, 64 * 64 * 16 * sizeof *x);
  for (int kib = 4; kib <= 1024; kib += kib < 64 ? 4 : 60) {
    char *disk = test_small_disk (kib);
    if (!disk) {
      g_test_skip ("a small file system cannot be mounted here");
      lam_free (x);
      return;
    }
    g_autofree char *path = g_build_filename (disk, "out.h5", NULL);
    g_autofree char *old = g_build_filename (disk, "keep.h5", NULL);
    test_write_file (path, "old", 3);
    if (lam_volume_write (path, x, 64, 64, 16, &info, NULL, NULL, &error)) {
      g_autoptr (LamVolume) v = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
      g_assert_nonnull (v);
      good++;
    } else {
      if (!full)
        g_test_message ("says: %s", error->message);
      g_assert_error (error, LAM_ERROR, LAM_ERROR_IO);
      g_clear_error (&error);
      assert_old (path);
      full++;
    }
    test_small_disk_free (disk);
  }
  g_test_message ("%d full disks, %d large enough", full, good);
  g_assert_cmpint (full, >, 5);
  g_assert_cmpint (good, >, 3);
  lam_free (x);
}

/* The limit on a file's size, which hits where a full disk would. */
static void
limited (gpointer data)
{
  const char *path = data;
  static float x[64 * 64 * 16];
  g_autoptr (GError) error = NULL;
  signal (SIGXFSZ, SIG_IGN);
  int good = 0;
  for (int i = 0; i < 130; i++) { /* with and without space claimed ahead */
    rlim_t limit = (rlim_t) (i / 2) * 9973;
    lam_atomic_set_reserve (i % 2);
    struct rlimit r = {limit, RLIM_INFINITY};
    setrlimit (RLIMIT_FSIZE, &r);
    gboolean ok = lam_volume_write (path, x, 64, 64, 16, &info, NULL, NULL, &error);
    if (!ok && !g_error_matches (error, LAM_ERROR, LAM_ERROR_IO))
      _exit (1);
    if (!ok && test_leftovers (path))
      _exit (2);
    g_clear_error (&error);
    good += ok;
  }
  _exit (good > 5 ? 0 : 3);
}

static void
test_file_limit (void)
{
  g_autofree char *path = test_path ("limited.h5");
  g_assert_cmpint (test_child (limited, path), ==, TEST_CHILD_FINE);
}

static void
test_memory (void)
{
  float x[R * C * K], y[R * C * K];
  g_autofree char *path = test_path ("memory.h5");
  fill (x);
  int64_t before = lam_memory_bytes ();
  gboolean done = FALSE;
  int failed = 0;
  for (int64_t n = 1; !done && n < 100; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    g_autoptr (LamVolumeWriter) w = lam_volume_writer_new (path, R, C, K, &info, &error);
    gboolean ok = w && lam_volume_writer_put_slices (w, (LamRange){0, K}, x, &error)
                  && lam_volume_writer_finish (w, NULL, NULL, &error);
    g_autoptr (LamVolume) v = ok ? lam_volume_open (path, NULL, LAM_LAYOUT_SLICE_COLUMN_ROW, &error) : NULL;
    g_autofree char *sum = v ? lam_volume_file_checksum (v, NULL, &error) : NULL;
    done = sum && lam_volume_read_plane (v, LAM_VOLUME_SLICE, 1, y, &error)
           && lam_volume_read_rows (v, (LamRange){0, 2}, y, NULL, &error);
    if (!done)
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    failed += !done;
    lam_memory_fail_at (0);
    g_clear_pointer (&w, lam_volume_writer_free);
    g_assert_cmpint (lam_memory_bytes (), ==, before);
    g_assert_cmpint (test_leftovers (path), ==, 0);
  }
  g_assert_true (done);
  g_test_message ("%d refused allocations", failed);
  g_assert_cmpint (failed, >=, 4);
}

/* The YAML texts, letter for letter as MBIRJAX 0.7.3 writes them; the same under a decimal comma (L1). */
static void
test_yaml (void)
{
  static const char want[] =
      "geometry_type:\n  val: <class 'mbirjax.parallel_beam.ParallelBeamModel'>\n  recompile_flag: false\n"
      "file_format:\n  val: 1.0\n  recompile_flag: false\n"
      "sinogram_shape:\n  val:\n  - 3\n  - 2\n  - 8\n  recompile_flag: true\n"
      "delta_det_channel:\n  val: 0.25\n  recompile_flag: true\n"
      "delta_det_row:\n  val: 1.0\n  recompile_flag: true\n"
      "det_row_offset:\n  val: 0.0\n  recompile_flag: true\n"
      "det_channel_offset:\n  val: 0.0\n  recompile_flag: true\n"
      "alu_unit:\n  val:\n  recompile_flag: false\n"
      "alu_value:\n  val: 1.0\n  recompile_flag: false\n"
      "recon_shape:\n  val:\n  - 0\n  - 0\n  - 0\n  recompile_flag: true\n"
      "delta_voxel:\n  val: 0.1\n  recompile_flag: true\n"
      "voxel_row_aspect:\n  val: 1.0\n  recompile_flag: true\n"
      "voxel_slice_aspect:\n  val: 1.0\n  recompile_flag: true\n"
      "use_ror_mask:\n  val: true\n  recompile_flag: false\n"
      "angles:\n  val: :ARRAY:0.0000000 0.5235988 1.0471976\n  shape:\n  - 3\n  recompile_flag: true\n"
      "view_params_name:\n  val: angles\n  recompile_flag: true\n"
      "sharpness:\n  val: 1.0e-05\n  recompile_flag: false\n"
      "note:\n  val: 'true'\n  recompile_flag: false\n";
  static const char plain_want[] =
      "num_iterations: 2\ngranularity:\n- 1\n- 2\nfm_rmse:\n- 14.5\n- 1.0\nprior_loss: []\n"
      "regularization_params:\n  sigma_y: 0.5\n  sigma_x: .inf\n";
  for (int german = 0; german < 2; german++) {
    if (german && !test_german ())
      return;
    g_autoptr (GError) error = NULL;
    g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 3, 2, 8);
    for (int v = 0; v < 3; v++)
      g->angles[v] = v * G_PI / 6;
    g->channel_pitch = 0.25;
    g->voxel_pitch = 0.1;
    g_autoptr (LamYaml) y = lam_yaml_new (TRUE);
    lam_yaml_add_geometry (y, g);
    lam_yaml_add_double (y, "sharpness", 1e-5, FALSE);
    lam_yaml_add_text (y, "note", "true", FALSE);
    g_autofree char *text = lam_yaml_text (y, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (text, ==, want);

    const int64_t sizes[2] = {1, 2};
    const double rmse[2] = {14.5, 1}, sigma[2] = {0.5, INFINITY};
    const char *const names[2] = {"sigma_y", "sigma_x"};
    g_autoptr (LamYaml) p = lam_yaml_new (FALSE);
    lam_yaml_add_int (p, "num_iterations", 2, FALSE);
    lam_yaml_add_ints (p, "granularity", sizes, 2, FALSE);
    lam_yaml_add_doubles (p, "fm_rmse", rmse, 2, FALSE);
    lam_yaml_add_doubles (p, "prior_loss", rmse, 0, FALSE);
    lam_yaml_add_map (p, "regularization_params", names, sigma, 2);
    g_autofree char *plain_text = lam_yaml_text (p, &error);
    g_assert_cmpstr (plain_text, ==, plain_want);
  }
  test_plain_locale ();
}

/* A model with many angles: a text far above the 64 KiB of a plain HDF5 attribute. */
static void
test_long_text (void)
{
  float x[R * C * K];
  g_autofree char *path = test_path ("long.h5");
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_CONE, 20000, 2, 8);
  lam_geometry_set_angles (g, 0, 2 * G_PI);
  g_autoptr (LamYaml) y = lam_yaml_new (TRUE);
  lam_yaml_add_geometry (y, g);
  g_autofree char *text = lam_yaml_text (y, &error);
  g_assert_cmpuint (strlen (text), >, 300000);
  fill (x);
  LamVolumeInfo with = info;
  with.model_params = text;
  g_assert_true (lam_volume_write (path, x, R, C, K, &with, NULL, NULL, &error));
  g_autoptr (LamVolume) v = open_ok (path, NULL, LAM_LAYOUT_FROM_FILE);
  g_assert_cmpstr (v->model_params, ==, text);
}

static gboolean
try_volume (const char *path)
{
  g_autoptr (LamVolume) v = lam_volume_open (path, NULL, LAM_LAYOUT_FROM_FILE, NULL);
  int64_t n = v ? lam_mul_size (lam_mul_size (v->rows, v->columns), v->slices) : -1;
  if (n < 0 || n > (1 << 24))
    return v != NULL;
  float *x = lam_alloc_n (n, sizeof *x, "", NULL);
  gboolean ok = x && lam_volume_read_rows (v, (LamRange){0, v->rows}, x, NULL, NULL);
  lam_free (x);
  return ok;
}

static void
try_damaged (const char *path)
{
  try_volume (path);
}

static void
try_cut (const char *path)
{
  if (try_volume (path))
    abort ();
}

static void
test_damaged (void)
{
  float x[R * C * K];
  g_autofree char *path = test_path ("damage.h5");
  fill (x);
  g_assert_true (lam_volume_write (path, x, R, C, K, &info, NULL, NULL, NULL));
  test_damage (path, g_test_thorough () ? 5000 : 200, 4, try_damaged);
  test_cut (path, 200, try_cut);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/volume/round-trip", test_round_trip);
  g_test_add_func ("/volume/layout", test_layout);
  g_test_add_func ("/volume/foreign", test_foreign);
  g_test_add_func ("/volume/slabs", test_slabs);
  g_test_add_func ("/volume/stopped", test_stopped);
  g_test_add_func ("/volume/full-disk", test_full_disk);
  g_test_add_func ("/volume/file-limit", test_file_limit);
  g_test_add_func ("/volume/memory", test_memory);
  g_test_add_func ("/volume/yaml", test_yaml);
  g_test_add_func ("/volume/long-text", test_long_text);
  g_test_add_func ("/volume/damaged", test_damaged);
  int result = g_test_run ();
  test_clean ();
  return result;
}
