/* The HDF5 wrapper: every kind of text and number reads alike, links and sizes are checked, damage is an error. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"

static LamH5File *
open_ok (const char *path)
{
  g_autoptr (GError) error = NULL;
  LamH5File *f = lam_h5_open (path, &error);
  g_assert_no_error (error);
  return f;
}

static void
test_texts (void)
{
  g_autofree char *path = test_path ("texts.h5");
  g_autoptr (GError) error = NULL;
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  int n = 0;
  for (int kind = 0; kind < TEXT_KINDS; kind++)
    for (int array = 0; array < 2; array++) {
      char name[32];
      g_snprintf (name, sizeof name, "text%d-%d", kind, array);
      test_put_text (file, name, "degrees", kind, array);
    }
  hsize_t two = 2;
  hid_t type = H5Tcopy (H5T_C_S1), space = H5Screate_simple (1, &two, NULL);
  H5Tset_size (type, 4);
  hid_t a = H5Acreate2 (file, "two", type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite (a, type, "abc\0def");
  H5Aclose (a);
  H5Fclose (file);

  g_autoptr (LamH5File) f = open_ok (path);
  g_auto (LamHid) root = lam_h5_object (f, "/", NULL, &error);
  for (int kind = 0; kind < TEXT_KINDS; kind++)
    for (int array = 0; array < 2; array++, n++) {
      char name[32];
      g_snprintf (name, sizeof name, "text%d-%d", kind, array);
      g_autofree char *text = lam_h5_attribute_text (root, name, path, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, "degrees");
    }
  g_test_message ("%d kinds of text read alike", n);
  g_assert_null (lam_h5_attribute_text (root, "absent", path, &error));
  g_assert_no_error (error);
  g_assert_null (lam_h5_attribute_text (root, "two", path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "two", "2 texts", "one was expected", NULL);
  double value = 5;
  g_assert_false (lam_h5_attribute_double (root, "text0-0", &value, path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "text0-0", "one number was expected", NULL);
}

/* Texts are looked up in the file itself: old and new object headers, continued ones, a user block; dense storage is
 * the library's. All read alike. */
static void
test_headers (void)
{
  g_autofree char *path = test_path ("headers.h5");
  g_autofree char *large = g_strnfill (200000, 'x');
  g_autoptr (GError) error = NULL;
  for (int kind = 0; kind < 4; kind++)
    for (int n = 1; n < 30; n += 7) {
      hid_t access = H5Pcreate (H5P_FILE_ACCESS), create = H5Pcreate (H5P_FILE_CREATE);
      if (kind & 1)
        H5Pset_libver_bounds (access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
      if (kind & 2)
        H5Pset_userblock (create, 512);
      hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, create, access);
      hid_t group = H5Gcreate2 (file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      for (int i = 0; i < n; i++) {
        char name[16], text[32];
        g_snprintf (name, sizeof name, "name%d", i);
        g_snprintf (text, sizeof text, "value %d", i);
        test_put_text (group, name, text, TEXT_VARIABLE_UTF8, i % 2);
      }
      test_put_text (group, "empty", "", TEXT_VARIABLE_UTF8, FALSE);
      test_put_text (group, "large", large, TEXT_VARIABLE_ASCII, FALSE);
      H5Gclose (group);
      H5Fclose (file);
      H5Pclose (access);
      H5Pclose (create);
      g_autoptr (LamH5File) f = open_ok (path);
      g_auto (LamHid) id = lam_h5_object (f, "/g", NULL, &error);
      g_autoptr (GPtrArray) names = lam_h5_attribute_names (id, path, &error);
      g_assert_no_error (error);
      g_assert_cmpint (names->len, ==, n + 2);
      for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *text = lam_h5_attribute_text (id, name, path, &error);
        g_autofree char *want = g_str_has_prefix (name, "name") ? g_strdup_printf ("value %s", name + 4) : NULL;
        g_assert_no_error (error);
        g_assert_cmpstr (text, ==, want ? want : strcmp (name, "empty") == 0 ? "" : large);
      }
    }
}

static void
test_numbers (void)
{
  const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_I8BE,  H5T_STD_U16BE,  H5T_STD_I16LE,  H5T_STD_U32LE, H5T_STD_I32BE,
                         H5T_STD_U64LE, H5T_STD_I64BE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
  const double values[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 100};
  const hsize_t dims[3] = {2, 3, 4}, chunk[3] = {1, 2, 3};
  g_autofree char *path = test_path ("numbers.h5");
  g_autoptr (GError) error = NULL;
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (size_t i = 0; i < G_N_ELEMENTS (types); i++)
    for (int k = 0; k < 3; k++) {
      char name[16];
      g_snprintf (name, sizeof name, "/g/n%d-%d", (int) i, k);
      test_put_numbers (file, name, types[i], 3, dims, k ? chunk : NULL, k > 1, values);
    }
  H5Fclose (file);
  g_autoptr (LamH5File) f = open_ok (path);
  for (size_t i = 0; i < G_N_ELEMENTS (types); i++)
    for (int k = 0; k < 3; k++) {
      char name[16];
      g_snprintf (name, sizeof name, "/g/n%d-%d", (int) i, k);
      g_autoptr (LamH5Dataset) d = lam_h5_dataset (f, name, &error);
      g_assert_no_error (error);
      g_assert_true (lam_h5_dataset_require (d, 3, &error));
      g_assert_false (d->part_missing);
      float block[2 * 2 * 3];
      const int64_t start[3] = {0, 1, 1}, count[3] = {2, 2, 3};
      g_assert_true (lam_h5_read_float (d, start, count, block, NULL, 0, 1, "numbers", &error));
      for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
          for (int c = 0; c < 3; c++)
            g_assert_cmpfloat (block[(a * 2 + b) * 3 + c], ==, (float) values[(a * 3 + b + 1) * 4 + c + 1]);
      const int64_t outside[3] = {1, 0, 0}, all[3] = {2, 3, 4};
      g_assert_false (lam_h5_read_float (d, outside, all, block, NULL, 0, 1, "numbers", &error));
      test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, name, "1 to 3", "axis 0", NULL);
      int64_t n;
      double *flat = lam_h5_read_doubles (f, name, &n, &error);
      g_assert_cmpmem (flat, n * sizeof *flat, values, sizeof values);
      lam_free (flat);
    }
}

static void
test_refused (void)
{
  g_autofree char *path = test_path ("odd.h5");
  g_autoptr (GError) error = NULL;
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t cube[3] = {2, 2, 2}, flat[2] = {2, 2}, empty[3] = {0, 2, 2};
  hid_t compound = H5Tcreate (H5T_COMPOUND, 8), text = H5Tcopy (H5T_C_S1);
  H5Tinsert (compound, "re", 0, H5T_NATIVE_FLOAT);
  H5Tinsert (compound, "im", 4, H5T_NATIVE_FLOAT);
  H5Tset_size (text, 4);
  test_put_numbers (file, "/compound", compound, 3, cube, NULL, 0, NULL);
  test_put_numbers (file, "/text", text, 3, cube, NULL, 0, NULL);
  test_put_numbers (file, "/flat", H5T_IEEE_F32LE, 2, flat, NULL, 0, NULL);
  test_put_numbers (file, "/empty", H5T_IEEE_F32LE, 3, empty, NULL, 0, NULL);
  test_put_numbers (file, "/unwritten", H5T_IEEE_F32LE, 3, cube, cube, 0, NULL);
  hid_t none = H5Screate (H5S_NULL);
  H5Dclose (H5Dcreate2 (file, "/null", H5T_IEEE_F32LE, none, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Gclose (H5Gcreate2 (file, "/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  /* 2^40 x 2^40 x 2: more than 64 bits of bytes, and no storage behind it. */
  const hsize_t huge[3] = {INT64_C (1) << 40, INT64_C (1) << 40, 2}, chunk[3] = {1, 1, 2};
  test_put_numbers (file, "/huge", H5T_IEEE_F32LE, 3, huge, chunk, 0, NULL);
  H5Fclose (file);

  const struct {
    const char *path, *says;
  } cases[] = {
      {"/compound", "neither integer nor real; numbers were expected"},
      {"/text", "holds text; numbers were expected"},
      {"/flat", "its shape is 2 x 2; 3 axes were expected"},
      {"/empty", "0 x 2 x 2: it holds nothing"},
      {"/null", "numbers were expected"},
      {"/group", "it is a group; a dataset was expected"},
      {"/huge", "does not fit into 64 bits"},
  };
  g_autoptr (LamH5File) f = open_ok (path);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LamH5Dataset) d = lam_h5_dataset (f, cases[i].path, &error);
    g_assert_false (d && lam_h5_dataset_require (d, 3, &error));
    test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, path, cases[i].path, cases[i].says, NULL);
  }
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f, "/unwritten", &error);
  g_assert_true (d && d->never_written && d->part_missing);
  g_assert_null (lam_h5_dataset (f, "/absent", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, path, "/absent", NULL);

  const char *bad[] = {"nothing.h5", "empty.h5", "text.h5"};
  g_autofree char *empty_path = test_path (bad[1]), *text_path = test_path (bad[2]), *no_path = test_path (bad[0]);
  test_write_file (empty_path, "", 0);
  test_write_file (text_path, "hello", 5);
  g_assert_null (lam_h5_open (no_path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, no_path, "No such file", NULL);
  g_assert_null (lam_h5_open (empty_path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, empty_path, "is empty", NULL);
  g_assert_null (lam_h5_open (text_path, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, text_path, "not an HDF5 file", NULL);
  g_assert_null (lam_h5_open ("/dev/null", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "not a plain file", NULL);
}

/* Links: relative external ones follow the file's folder even when the current one holds a decoy. */
static void
test_links (void)
{
  g_autofree char *dir = test_path ("links"), *other = test_path ("elsewhere");
  g_autoptr (GError) error = NULL;
  g_mkdir (dir, 0700);
  g_mkdir (other, 0700);
  g_autofree char *main_path = g_build_filename (dir, "main.h5", NULL);
  g_autofree char *part = g_build_filename (dir, "part.h5", NULL), *decoy = g_build_filename (other, "part.h5", NULL);
  const double good = 7, wrong = -1;
  hid_t file = H5Fcreate (part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/a/value", H5T_IEEE_F64LE, 0, NULL, NULL, 0, &good);
  H5Lcreate_external ("main.h5", "/back", file, "/round", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);
  file = H5Fcreate (decoy, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/a/value", H5T_IEEE_F64LE, 0, NULL, NULL, 0, &wrong);
  H5Fclose (file);
  file = H5Fcreate (main_path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("part.h5", "/a", file, "/outside", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("/moved/away/part.h5", "/a/value", file, "/absolute", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("gone.h5", "/a", file, "/gone", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("part.h5", "/b", file, "/no-object", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("part.h5", "/round", file, "/back", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("/outside/value", file, "/soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("soft", file, "/soft2", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("/circle", file, "/circle", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("/nowhere", file, "/dangling", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);

  g_autofree char *home = g_get_current_dir ();
  g_assert_cmpint (g_chdir (other), ==, 0);
  g_autoptr (LamH5File) f = open_ok (main_path);
  const char *const ways[] = {"/outside/value", "/absolute", "/soft", "/soft2", "outside//./value"};
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
    int64_t n;
    double *value = lam_h5_read_doubles (f, ways[i], &n, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (*value, ==, good);
    lam_free (value);
  }
  const struct {
    const char *path, *says;
    int code;
  } cases[] = {
      {"/gone/value", "gone.h5", LAM_ERROR_IO},
      {"/no-object", "what it points to is not there", LAM_ERROR_MISSING},
      {"/circle", "round in a circle", LAM_ERROR_FORMAT},
      {"/back", "round in a circle", LAM_ERROR_FORMAT},
      {"/dangling", "/nowhere", LAM_ERROR_MISSING},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_null (lam_h5_dataset (f, cases[i].path, &error));
    test_error (g_steal_pointer (&error), cases[i].code, cases[i].path, cases[i].says, NULL);
    g_assert_cmpint (lam_h5_kind (f, cases[i].path, &error), ==, H5I_BADID);
    g_assert_nonnull (error);
    g_clear_error (&error);
  }
  g_chdir (home);
}

/* A virtual dataset whose source is missing would read as zeros. */
static void
test_virtual (void)
{
  g_autofree char *path = test_path ("virtual.h5"), *source = test_path ("source.h5");
  g_autoptr (GError) error = NULL;
  const hsize_t dims[3] = {2, 1, 2};
  const double values[4] = {1, 2, 3, 4};
  hid_t file = H5Fcreate (source, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  test_put_numbers (file, "/d", H5T_IEEE_F32LE, 3, dims, NULL, 0, values);
  H5Fclose (file);
  file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple (3, dims, NULL), plist = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_virtual (plist, space, "source.h5", "/d", space);
  H5Dclose (H5Dcreate2 (file, "/v", H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  H5Fclose (file);
  {
    g_autoptr (LamH5File) f = open_ok (path);
    g_autoptr (LamH5Dataset) d = lam_h5_dataset (f, "/v", &error);
    g_assert_no_error (error);
    float out[4];
    const int64_t start[3] = {0}, count[3] = {2, 1, 2};
    g_assert_true (lam_h5_read_float (d, start, count, out, NULL, 0, 1, "virtual", &error));
    for (int i = 0; i < 4; i++)
      g_assert_cmpfloat (out[i], ==, (float) values[i]);
  }
  g_remove (source);
  g_autoptr (LamH5File) f = open_ok (path);
  g_assert_null (lam_h5_dataset (f, "/v", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "/v", "source.h5", NULL);
}

static void
test_cancel (void)
{
  g_autofree char *path = test_path ("large.h5");
  g_autoptr (GError) error = NULL;
  const int64_t dims[3] = {64, 512, 512}; /* 64 MiB: eight pieces */
  {
    g_autoptr (LamH5File) f = lam_h5_create (path, &error);
    H5Dclose (lam_h5_make_float (f, "/d", 3, dims, &error));
    g_assert_true (lam_h5_close (g_steal_pointer (&f), &error));
  }
  float *out = lam_alloc_n (64 * 512 * 512, sizeof *out, "test", &error);
  g_autoptr (LamH5File) f = open_ok (path);
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f, "/d", &error);
  g_assert_no_error (error);
  const int64_t start[3] = {0};
  TestControl c;
  test_control (&c, 0);
  g_assert_true (lam_h5_read_float (d, start, dims, out, &c.control, 0, 1, "large", &error));
  int steps = c.asked;
  g_assert_cmpint (steps, >=, 8);
  for (int i = 1; i <= steps; i++) {
    test_control (&c, i);
    g_assert_false (lam_h5_read_float (d, start, dims, out, &c.control, 0, 1, "large", &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_clear_error (&error);
  }
  g_test_message ("cancelled at each of %d steps", steps);
  lam_free (out);
}

/* Nothing of the library's own error stack reaches stderr. */
static void
test_quiet (void)
{
  g_autofree char *log = test_path ("stderr"), *missing = test_path ("nothing.h5"), *text = test_path ("plain.h5");
  test_write_file (text, "no HDF5", 7);
  fflush (stderr);
  int saved = dup (STDERR_FILENO), fd = open (log, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2 (fd, STDERR_FILENO);
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_h5_open (missing, NULL));
  g_assert_null (lam_h5_open (text, NULL));
  dup2 (saved, STDERR_FILENO);
  close (saved);
  close (fd);
  gsize size;
  g_autofree char *said = test_read_file (log, &size);
  g_assert_cmpuint (size, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hdf5/texts", test_texts);
  g_test_add_func ("/hdf5/headers", test_headers);
  g_test_add_func ("/hdf5/numbers", test_numbers);
  g_test_add_func ("/hdf5/refused", test_refused);
  g_test_add_func ("/hdf5/links", test_links);
  g_test_add_func ("/hdf5/virtual", test_virtual);
  g_test_add_func ("/hdf5/cancel", test_cancel);
  g_test_add_func ("/hdf5/quiet", test_quiet);
  int result = g_test_run ();
  test_clean ();
  return result;
}
