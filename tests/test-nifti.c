/* test-nifti.c: series of images and maps: NIfTI written by others (scaling, byte order, versions, places), headers that lie, HDF5
 * series in all their forms, and round trips. */
#include "io/nifti.h"

#include <glib/gstdio.h>
#include <math.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/maps.h"
#include "io/volume.h"

static nifti_1_header
header (int ni, int nj, int nk, int nt, int datatype, int bits)
{
  nifti_1_header h = {.sizeof_hdr = 348, .magic = "n+1", .vox_offset = 352, .regular = 'r'};
  const short dim[8] = {4, (short) ni, (short) nj, (short) nk, (short) nt, 1, 1, 1};
  memcpy (h.dim, dim, sizeof dim);
  for (int i = 0; i < 8; i++)
    h.pixdim[i] = 1;
  h.datatype = (short) datatype;
  h.bitpix = (short) bits;
  h.xyzt_units = 2;
  return h;
}

static char *
write_raw (const char *name, const void *head, gsize head_size, const void *data, gsize bytes)
{
  char *path = test_path (name);
  gsize offset = head_size == 348 ? 352 : 544;
  g_autofree char *all = g_malloc0 (offset + bytes);
  memcpy (all, head, head_size);
  memcpy (all + offset, data, bytes);
  test_write_file (path, all, offset + bytes);
  return path;
}

/* The samples of @path: [voxels][contrasts]. */
static float *
read_all (const char *path, LamNifti **n, float **im)
{
  g_autoptr (GError) error = NULL;
  *n = lam_nifti_open (path, &error);
  g_assert_no_error (error);
  int64_t count = (*n)->voxels * (*n)->contrasts;
  float *re = g_new (float, count);
  if (im)
    *im = g_new (float, count);
  g_assert_true (lam_nifti_read (*n, re, im ? *im : NULL, NULL, &error));
  g_assert_no_error (error);
  return re;
}

/* Case F3. */
static void
test_scaling (void)
{
  const int16_t raw[3] = {0, 2048, 4095};
  static const float slopes[] = {1.3f / 4095, 0, NAN};
  static const double right[3][3] = {{0, 0.6501587, 1.3}, {0, 2048, 4095}, {0, 2048, 4095}};
  for (guint i = 0; i < G_N_ELEMENTS (slopes); i++) {
    nifti_1_header h = header (3, 1, 1, 1, 4, 16);
    g_autoptr (GError) error = NULL;
    g_autoptr (LamNifti) n = NULL, again = NULL;
    h.scl_slope = slopes[i];
    g_autofree char *path = write_raw ("scaled.nii", &h, 348, raw, sizeof raw), *map = test_path ("scaled-map.nii");
    g_autofree float *x = read_all (path, &n, NULL);
    for (int k = 0; k < 3; k++)
      g_assert_cmpfloat_with_epsilon (x[k], right[i][k], 1e-6);
    g_assert_cmpint (n->scaled, ==, i == 0);
    /* A map with this file as its pattern states its own scale. */
    lam_nifti_write (map, n, x, NULL, 1, "a map", NULL, &error);
    g_assert_no_error (error);
    g_autofree float *y = read_all (map, &again, NULL);
    g_assert_cmpmem (x, sizeof (float) * 3, y, sizeof (float) * 3);
    g_assert_false (again->scaled);
    gsize size;
    g_autofree char *bytes = test_read_file (map, &size);
    const nifti_1_header *own = (const nifti_1_header *) (const void *) bytes;
    g_assert_cmpfloat (own->scl_slope, ==, 1);
    g_assert_cmpfloat (own->scl_inter, ==, 0);
    g_assert_cmpint (own->datatype, ==, 16);
  }
  nifti_1_header h = header (3, 1, 1, 1, 4, 16);
  g_autoptr (LamNifti) n = NULL;
  h.scl_slope = 2;
  h.scl_inter = -5;
  g_autofree char *path = write_raw ("inter.nii", &h, 348, raw, sizeof raw);
  g_autofree float *x = read_all (path, &n, NULL);
  g_assert_cmpfloat (x[0], ==, -5);
  g_assert_cmpfloat (x[2], ==, 2 * 4095 - 5);
}

/* Every kind of number, in either byte order; contrasts are the last axis, voxels have i fastest. */
static void
test_types (void)
{
  static const struct {
    int code, bytes, swap;
  } types[] = {{2, 1, 1},   {4, 2, 2},   {8, 4, 4},   {16, 4, 4},   {32, 8, 4},   {64, 8, 8},
               {256, 1, 1}, {512, 2, 2}, {768, 4, 4}, {1024, 8, 8}, {1280, 8, 8}, {1792, 16, 8}};
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (int swapped = 0; swapped < 2; swapped++) {
      nifti_1_header h = header (3, 2, 1, 2, types[t].code, types[t].bytes * 8);
      gboolean complex_type = types[t].code == 32 || types[t].code == 1792;
      char raw[12 * 16] = {0};
      for (int i = 0; i < 12; i++)
        for (int part = 0; part <= complex_type; part++) {
          char *at = raw + i * types[t].bytes + part * types[t].swap;
          float f = (float) (i + 50 * part);
          double d = i + 50 * part;
          if (types[t].code == 16 || types[t].code == 32)
            memcpy (at, &f, 4);
          else if (types[t].code == 64 || types[t].code == 1792)
            memcpy (at, &d, 8);
          else
            *at = (char) i;
        }
      if (swapped) {
        for (int i = 0; i < 12 * types[t].bytes; i += types[t].swap)
          for (int k = 0; k < types[t].swap / 2; k++) {
            char c = raw[i + k];
            raw[i + k] = raw[i + types[t].swap - 1 - k];
            raw[i + types[t].swap - 1 - k] = c;
          }
        h.sizeof_hdr = GINT32_TO_BE (h.sizeof_hdr);
        for (int i = 0; i < 8; i++)
          h.dim[i] = GINT16_TO_BE (h.dim[i]);
        h.datatype = GINT16_TO_BE (h.datatype);
        h.bitpix = GINT16_TO_BE (h.bitpix);
        guint32 offset;
        memcpy (&offset, &h.vox_offset, 4);
        offset = GUINT32_TO_BE (offset);
        memcpy (&h.vox_offset, &offset, 4);
        memset (h.pixdim, 0, sizeof h.pixdim);
      }
      g_autoptr (LamNifti) n = NULL;
      g_autofree float *im = NULL;
      g_autofree char *path = write_raw ("type.nii", &h, 348, raw, (gsize) (12 * types[t].bytes));
      g_autofree float *re = read_all (path, &n, &im);
      g_assert_cmpint (n->swapped, ==, swapped);
      g_assert_cmpint (n->is_complex, ==, complex_type);
      g_assert_cmpint (n->voxels, ==, 6);
      for (int v = 0; v < 6; v++)
        for (int c = 0; c < 2; c++) {
          g_assert_cmpfloat (re[v * 2 + c], ==, c * 6 + v);
          g_assert_cmpfloat (im[v * 2 + c], ==, complex_type ? 50 + c * 6 + v : 0);
        }
    }
}

/* sform before qform before sizes; both kept in a map. */
static void
test_places (void)
{
  const float x[2] = {1, 2};
  for (int i = 0; i < 4; i++) {
    nifti_1_header h = header (2, 1, 1, 1, 16, 32);
    g_autoptr (GError) error = NULL;
    g_autoptr (LamNifti) n = NULL, again = NULL;
    h.sform_code = i == 0 || i == 3 ? 2 : 0;
    h.qform_code = i == 0 || i == 1 ? 1 : 0;
    h.xyzt_units = i == 3 ? 1 : 2; /* m */
    h.pixdim[1] = 3;
    h.quatern_d = 1; /* half a turn about z */
    h.qoffset_x = 7;
    h.srow_x[0] = -2;
    h.srow_x[3] = 11;
    h.srow_y[1] = h.srow_z[2] = 2;
    g_autofree char *path = write_raw ("place.nii", &h, 348, x, sizeof x), *map = test_path ("place-map.nii.gz");
    g_autofree float *values = read_all (path, &n, NULL);
    static const double right[4][2] = {{-2, 11}, {-3, 7}, {3, 0}, {-2000, 11000}};
    g_assert_cmpint (n->place, ==, i == 0 || i == 3 ? LAM_NIFTI_SFORM : i == 1 ? LAM_NIFTI_QFORM : LAM_NIFTI_PIXDIM);
    g_assert_cmpfloat_with_epsilon (n->affine[0][0], right[i][0], 1e-6);
    g_assert_cmpfloat_with_epsilon (n->affine[0][3], right[i][1], 1e-6);
    lam_nifti_write (map, n, values, NULL, 1, "a map", NULL, &error);
    g_assert_no_error (error);
    g_autofree float *back = read_all (map, &again, NULL);
    g_assert_cmpmem (values, 8, back, 8);
    g_assert_true (again->compressed);
    g_assert_cmpmem (n->affine, sizeof n->affine, again->affine, sizeof n->affine);
    g_assert_cmpmem (n->sform, sizeof n->sform, again->sform, sizeof n->sform);
    g_assert_cmpmem (n->quatern, sizeof n->quatern, again->quatern, sizeof n->quatern);
    g_assert_cmpint (n->qform_code, ==, again->qform_code);
  }
}

static void
test_round_trip (void)
{
  static const char *const names[] = {"round.nii", "round.nii.gz", "round-two.nii", "round-two.nii.gz"};
  const int64_t dims[3] = {5, 4, 3};
  const double size[3] = {1.5, 2, 3};
  const int contrasts = 7;
  g_autofree float *re = g_new (float, 60 * 7), *im = g_new (float, 60 * 7);
  for (int i = 0; i < 60 * 7; i++) {
    re[i] = (float) sin (i);
    im[i] = (float) cos (i);
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (int part = 0; part < 2; part++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LamNifti) like = lam_nifti_new (dims, size, contrasts), n = NULL;
      g_autofree char *path = test_path (names[i]);
      g_autofree float *y = NULL;
      like->version = i < 2 ? 1 : 2;
      lam_nifti_write (path, like, re, part ? im : NULL, contrasts, "round trip", NULL, &error);
      g_assert_no_error (error);
      g_assert_true (lam_nifti_is_one (path));
      g_autofree float *x = read_all (path, &n, &y);
      g_assert_cmpint (n->version, ==, like->version);
      g_assert_cmpint (n->contrasts, ==, contrasts);
      g_assert_cmpmem (n->dims, sizeof n->dims, dims, sizeof dims);
      g_assert_cmpmem (n->affine, sizeof n->affine, like->affine, sizeof n->affine);
      g_assert_cmpmem (re, 60 * 7 * 4, x, 60 * 7 * 4);
      if (part)
        g_assert_cmpmem (im, 60 * 7 * 4, y, 60 * 7 * 4);
      g_assert_cmpint (test_leftovers (path), ==, 0);
    }
  /* Stopped: the old file stays. */
  g_autoptr (GError) error = NULL;
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, contrasts);
  g_autofree char *path = test_path ("round.nii.gz");
  gsize size_before, size_after;
  g_autofree char *before = test_read_file (path, &size_before);
  TestControl c;
  test_control (&c, 2);
  g_assert_false (lam_nifti_write (path, like, im, NULL, contrasts, "stopped", &c.control, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_autofree char *after = test_read_file (path, &size_after);
  g_assert_cmpmem (before, size_before, after, size_after);
  g_assert_cmpint (test_leftovers (path), ==, 0);
}

/* ---- headers that lie ---- */

static void
read_any (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamMrSeries) s = lam_mr_series_read (path, NULL, 0, NULL, &error);
  g_assert_true (s || error);
}

static void
test_hostile (void)
{
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  static const struct {
    int field, value;
    const char *says;
  } lies[] = {{0, 0, "axes"},      {0, 9, "axes"},
              {1, -4, "axis 1"},   {4, 0, "axis 4"},
              {2, 30000, "short"}, {20, 128, "no numbers"},
              {20, 4711, "type"},  {21, 100000, "short"},
              {22, 1, "nowhere"},  {23, 1, "half of a .hdr"},
              {23, 2, "ANALYZE"},  {24, 1, "not finite"}};
  for (guint i = 0; i < G_N_ELEMENTS (lies); i++) {
    nifti_1_header h = header (2, 2, 1, 2, 16, 32);
    GError *error = NULL;
    switch (lies[i].field) {
    case 20:
      h.datatype = (short) lies[i].value;
      break;
    case 21:
      h.vox_offset = (float) lies[i].value;
      break;
    case 22:
      h.vox_offset = NAN;
      break;
    case 23:
      strcpy (h.magic, lies[i].value == 1 ? "ni1" : "xyz");
      break;
    case 24:
      h.sform_code = 1;
      h.srow_y[1] = INFINITY;
      break;
    default:
      h.dim[lies[i].field] = (short) lies[i].value;
    }
    g_autofree char *path = write_raw ("lie.nii", &h, 348, x, sizeof x);
    g_assert_null (lam_nifti_open (path, &error));
    test_error (error, LAM_ERROR_FORMAT, lies[i].says, NULL);
  }
  /* More than 64 bits can count, and more than the file could ever hold, compressed too. */
  nifti_2_header two = {.sizeof_hdr = 540, .magic = "n+2\0\r\n\032\n", .vox_offset = 544, .datatype = 16, .bitpix = 32};
  GError *error = NULL;
  two.dim[0] = 4;
  for (int i = 1; i < 8; i++)
    two.dim[i] = INT64_C (1) << 39;
  g_autofree char *path = write_raw ("huge.nii", &two, 540, x, sizeof x);
  g_assert_null (lam_nifti_open (path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "too short", NULL);
  const int64_t dims[3] = {6, 5, 4};
  const double size[3] = {1, 1, 1};
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, 3);
  g_autofree float *values = g_new0 (float, 360);
  for (int zip = 0; zip < 2; zip++) {
    g_autofree char *whole = test_path (zip ? "whole.nii.gz" : "whole.nii");
    for (int i = 0; i < 360; i++)
      values[i] = (float) (i * i);
    g_assert_true (lam_nifti_write (whole, like, values, NULL, 3, "whole", NULL, &error));
    test_cut (whole, 60, read_any);
    test_damage (whole, 200, 3, read_any);
  }
  g_autofree char *nothing = test_path ("absent.nii");
  g_assert_null (lam_nifti_open (nothing, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "absent.nii", NULL);
}

/* ---- HDF5 series ---- */

static char *
h5_file (const char *name, hid_t *file)
{
  char *path = test_path (name);
  *file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  return path;
}

static void
test_hdf5 (void)
{
  static const char *const pairs[][2] = {
      {"/series_re", "/series_im"}, {"/data/real", "/data/imag"}, {"/a_real", "/a_imag"}};
  const hsize_t dims[3] = {4, 3, 5};
  double re[60], im[60];
  for (int i = 0; i < 60; i++) {
    re[i] = i;
    im[i] = 100 - i;
  }
  for (guint i = 0; i < G_N_ELEMENTS (pairs) + 2; i++) {
    g_autoptr (GError) error = NULL;
    hid_t f;
    g_autofree char *path = h5_file ("series.h5", &f);
    if (i < G_N_ELEMENTS (pairs)) {
      if (i == 1)
        H5Gclose (H5Gcreate2 (f, "/data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      test_put_numbers (f, pairs[i][0], H5T_IEEE_F32LE, 3, dims, NULL, 0, re);
      test_put_numbers (f, pairs[i][1], H5T_IEEE_F64LE, 3, dims, NULL, 0, im);
    } else if (i == G_N_ELEMENTS (pairs))
      test_put_numbers (f, "/only", H5T_STD_I16LE, 3, dims, NULL, 0, re);
    else { /* pairs, as h5py writes complex numbers */
      double both[120];
      for (int k = 0; k < 60; k++) {
        both[2 * k] = re[k];
        both[2 * k + 1] = im[k];
      }
      hid_t type = H5Tcreate (H5T_COMPOUND, 16), space = H5Screate_simple (3, dims, NULL);
      H5Tinsert (type, "r", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert (type, "i", 8, H5T_NATIVE_DOUBLE);
      hid_t d = H5Dcreate2 (f, "/pairs", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite (d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, both);
      H5Dclose (d);
      H5Sclose (space);
      H5Tclose (type);
    }
    H5Fclose (f);
    g_autoptr (LamMrSeries) s = lam_mr_series_read (path, NULL, 0, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (s->voxels, ==, 12);
    g_assert_cmpint (s->contrasts, ==, 5);
    g_assert_cmpint (s->rank, ==, 2);
    g_assert_true ((s->im == NULL) == (i == G_N_ELEMENTS (pairs)));
    for (int k = 0; k < 60; k++) {
      g_assert_cmpfloat (s->re[k], ==, re[k]);
      g_assert_true (!s->im || s->im[k] == (float) im[k]);
    }
  }
  /* Two that can be meant, and two parts that do not fit. */
  GError *error = NULL;
  hid_t f;
  g_autofree char *path = h5_file ("two.h5", &f);
  const hsize_t other[3] = {4, 3, 4};
  test_put_numbers (f, "/one", H5T_IEEE_F32LE, 3, dims, NULL, 0, re);
  test_put_numbers (f, "/two_re", H5T_IEEE_F32LE, 3, dims, NULL, 0, re);
  test_put_numbers (f, "/two_im", H5T_IEEE_F32LE, 3, other, NULL, 0, re);
  H5Fclose (f);
  g_assert_null (lam_mr_series_read (path, NULL, 0, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "/one", "/two_re", "--dataset", NULL);
  g_assert_null (lam_mr_series_read (path, "two_re", 0, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "4 x 3 x 5", "4 x 3 x 4", NULL);
  g_autoptr (LamMrSeries) s = lam_mr_series_read (path, "/one", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (s->im);
}

/* Maps come back as they were, where they were, from both kinds of file. */
static void
test_maps (void)
{
  g_autoptr (GError) error = NULL;
  const int64_t dims[3] = {3, 4, 2};
  const double size[3] = {1.5, 2, 3};
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, 1), n = NULL;
  float series[24], t1[24];
  for (int i = 0; i < 24; i++) {
    series[i] = 1;
    t1[i] = i == 7 ? NAN : (float) (100 * i);
  }
  g_autofree char *source = test_path ("maps-series.nii"), *folder = test_path ("maps"), *file = test_path ("maps.h5");
  g_assert_true (lam_nifti_write (source, like, series, NULL, 1, "", NULL, &error));
  g_autoptr (LamMrSeries) s = lam_mr_series_read (source, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  LamMap map = {"T1", "ms", "longitudinal relaxation time", t1};
  lam_maps_write (folder, s, &map, 1, NULL, NULL, &error);
  g_assert_no_error (error);
  lam_maps_write (file, s, &map, 1, "{\"rank\":0}", NULL, &error);
  g_assert_no_error (error);
  g_autofree char *t1_path = g_build_filename (folder, "T1.nii.gz", NULL);
  g_autofree float *back = read_all (t1_path, &n, NULL);
  g_assert_cmpmem (back, sizeof t1, t1, sizeof t1);
  g_assert_cmpmem (n->affine, sizeof n->affine, like->affine, sizeof n->affine);
  /* The volume reader sees row = j, column = i, slice = k. */
  g_autoptr (LamVolume) v = lam_volume_open (file, "/maps/T1", LAM_LAYOUT_FROM_FILE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (v->rows, ==, 4);
  g_assert_cmpint (v->columns, ==, 3);
  g_assert_cmpint (v->slices, ==, 2);
  g_assert_cmpstr (v->units, ==, "ms");
  g_assert_cmpfloat (v->voxel_size[0], ==, 2);
  g_assert_cmpfloat (v->voxel_size[1], ==, 1.5);
  float rows[24];
  lam_volume_read_rows (v, (LamRange){0, 4}, rows, NULL, &error);
  g_assert_no_error (error);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 3; i++)
        g_assert_cmpmem (&rows[(j * 3 + i) * 2 + k], 4, &t1[i + 3 * (j + 4 * k)], 4);
  g_autofree char *sum = lam_volume_file_checksum (v, NULL, &error);
  g_assert_cmpstr (sum, ==, v->checksum);
  g_unlink (t1_path);
  g_rmdir (folder);
}

static void
test_locale (void)
{
  if (!test_german ())
    return;
  test_scaling ();
  test_maps ();
  test_plain_locale ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nifti/scaling", test_scaling);
  g_test_add_func ("/nifti/types", test_types);
  g_test_add_func ("/nifti/places", test_places);
  g_test_add_func ("/nifti/round-trip", test_round_trip);
  g_test_add_func ("/nifti/hostile", test_hostile);
  g_test_add_func ("/nifti/hdf5", test_hdf5);
  g_test_add_func ("/nifti/maps", test_maps);
  g_test_add_func ("/nifti/locale", test_locale);
  int status = g_test_run ();
  test_clean ();
  return status;
}
