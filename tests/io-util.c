#include "io-util.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

static char *folder;

static void
remove_tree (const char *path)
{
  GDir *dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *full = g_build_filename (path, name, NULL);
    remove_tree (full);
  }
  if (dir)
    g_dir_close (dir);
  g_remove (path);
}

char *
test_path (const char *name)
{
  if (!folder)
    folder = g_dir_make_tmp ("lamina-test-XXXXXX", NULL);
  g_assert_nonnull (folder);
  return g_build_filename (folder, name, NULL);
}

void
test_clean (void)
{
  if (folder)
    remove_tree (folder);
  g_clear_pointer (&folder, g_free);
}

char *
test_data_file (const char *name)
{
  const char *dir = g_getenv ("LAMINA_DATA_DIR"), *source = g_getenv ("G_TEST_SRCDIR");
  g_autofree char *beside = g_build_filename (source ? source : ".", "..", "..", "shared", "data", NULL);
  char *path = g_build_filename (dir ? dir : beside, name, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_autofree char *why = g_strdup_printf ("%s is not there (LAMINA_DATA_DIR)", path);
  g_test_skip (why);
  g_free (path);
  return NULL;
}

char *
test_read_file (const char *path, gsize *size)
{
  char *data;
  g_autoptr (GError) error = NULL;
  g_file_get_contents (path, &data, size, &error);
  g_assert_no_error (error);
  return data;
}

void
test_write_file (const char *path, const void *data, gsize size)
{
  FILE *f = fopen (path, "wb");
  g_assert_nonnull (f);
  g_assert_cmpuint (fwrite (data, 1, size, f), ==, size);
  g_assert_cmpint (fclose (f), ==, 0);
}

int
test_leftovers (const char *path)
{
  g_autofree char *where = g_path_get_dirname (path);
  g_autoptr (GDir) dir = g_dir_open (where, 0, NULL);
  int n = 0;
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    n += strstr (name, ".part") != NULL;
  return n;
}

void
test_error (GError *error, int code, ...)
{
  g_assert_error (error, LAM_ERROR, code);
  va_list args;
  va_start (args, code);
  for (const char *text; (text = va_arg (args, const char *));)
    if (!strstr (error->message, text))
      g_error ("\"%s\" does not say \"%s\"", error->message, text);
  va_end (args);
  g_test_message ("says: %s", error->message);
  g_error_free (error);
}

/* ---- children ---- */

static void
classify (int signal)
{
  void *frames[64];
  int n = backtrace (frames, G_N_ELEMENTS (frames)), code = 102;
  for (int i = 0; i < n; i++) {
    Dl_info info;
    if (dladdr (frames[i], &info) && info.dli_fname
        && (strstr (info.dli_fname, "libhdf5") || strstr (info.dli_fname, "libtiff")))
      code = 101;
  }
  _exit (code);
}

TestChild
test_child (void (*f) (gpointer data), gpointer data)
{
  static void *warm[4];
  backtrace (warm, G_N_ELEMENTS (warm)); /* loads what it needs before anything is broken */
  fflush (NULL);
  pid_t pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0) {
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM};
    for (size_t i = 0; i < G_N_ELEMENTS (signals); i++)
      signal (signals[i], classify);
    int null = open ("/dev/null", O_WRONLY);
    dup2 (null, STDOUT_FILENO);
    dup2 (null, STDERR_FILENO);
#ifndef __SANITIZE_ADDRESS__ /* which needs the whole address space */
    const struct rlimit memory = {INT64_C (3) << 30, INT64_C (3) << 30};
    setrlimit (RLIMIT_AS, &memory);
#endif
    alarm (4);
    f (data);
    _exit (0);
  }
  int status;
  while (waitpid (pid, &status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TEST_CHILD_FINE;
  return WIFEXITED (status) && WEXITSTATUS (status) == 101 ? TEST_CHILD_LIBRARY : TEST_CHILD_OURS;
}

typedef struct {
  void (*f) (const char *path);
  const char *path;
} OneFile;

#ifdef __SANITIZE_ADDRESS__
/* Its reports must come as a signal, so that the stack tells whose fault it was. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "abort_on_error=1:allocator_may_return_null=1";
}
#endif

static void
run_one (gpointer data)
{
  OneFile *one = data;
  one->f (one->path);
}

void
test_damage (const char *path, int n, guint32 seed, void (*f) (const char *path))
{
  gsize size;
  g_autofree char *whole = test_read_file (path, &size);
  g_autofree char *damaged = g_strconcat (path, ".damaged", NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  int count[3] = {0};
  for (int i = 0; i < n; i++) {
    g_autofree char *copy = g_memdup2 (whole, size);
    int bytes = g_rand_int_range (random, 1, 9);
    /* Half of them near the start or the end, where the structures are. */
    for (int b = 0; b < bytes; b++) {
      gsize reach = i % 2 ? size : MIN (size, 4096), at = (gsize) (g_rand_double (random) * (double) reach);
      if (i % 4 == 2)
        at = size - 1 - at;
      copy[at] = i % 3 ? (char) g_rand_int (random) : (char) (copy[at] ^ (1 << g_rand_int_range (random, 0, 8)));
    }
    test_write_file (damaged, copy, size);
    OneFile one = {f, damaged};
    TestChild how = test_child (run_one, &one);
    count[how]++;
    if (how == TEST_CHILD_OURS || (how != TEST_CHILD_FINE && g_getenv ("LAMINA_KEEP_DAMAGED"))) {
      g_autofree char *keep = g_strdup_printf ("/tmp/lamina-damaged-%u-%d", seed, i);
      test_write_file (keep, copy, size);
      g_test_message ("kept %s", keep);
    }
  }
  g_test_message ("%d damaged copies: %d answered, %d crashes or hangs inside the library, %d in our code", n,
                  count[TEST_CHILD_FINE], count[TEST_CHILD_LIBRARY], count[TEST_CHILD_OURS]);
  g_assert_cmpint (count[TEST_CHILD_OURS], ==, 0);
  g_remove (damaged);
}

void
test_cut (const char *path, int n, void (*f) (const char *path))
{
  gsize size;
  g_autofree char *whole = test_read_file (path, &size);
  g_autofree char *cut = g_strconcat (path, ".cut", NULL);
  int count[3] = {0}, tried = 0;
  for (gsize length = 0; length < size; length += MAX (1, size / n), tried++) {
    test_write_file (cut, whole, length);
    OneFile one = {f, cut};
    count[test_child (run_one, &one)]++;
  }
  g_test_message ("%d lengths: %d refused, %d crashes inside the library, %d in our code or not refused", tried,
                  count[TEST_CHILD_FINE], count[TEST_CHILD_LIBRARY], count[TEST_CHILD_OURS]);
  g_assert_cmpint (count[TEST_CHILD_OURS], ==, 0);
  g_remove (cut);
}

/* ---- disk, locale, control ---- */

char *
test_small_disk (int kib)
{
  g_autofree char *options = g_strdup_printf ("size=%dk", kib);
  static int n;
  g_autofree char *name = g_strdup_printf ("disk-%d", n++);
  g_autofree char *where = test_path (name);
  g_assert_cmpint (g_mkdir (where, 0700), ==, 0);
  return mount ("tmpfs", where, "tmpfs", 0, options) == 0 ? g_steal_pointer (&where) : NULL;
}

void
test_small_disk_free (char *where)
{
  if (umount2 (where, MNT_DETACH) != 0)
    g_test_message ("%s: umount: %s", where, g_strerror (errno));
  g_free (where);
}

gboolean
test_german (void)
{
  if (!setlocale (LC_ALL, "de_DE.UTF-8")) {
    g_autofree char *made = test_path ("de_DE.UTF-8"), *where = g_path_get_dirname (made);
    const char *argv[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", made, NULL};
    g_spawn_sync (NULL, (char **) argv, NULL,
                  G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                  NULL, NULL);
    g_setenv ("LOCPATH", where, TRUE);
    if (!setlocale (LC_ALL, "de_DE.UTF-8")) {
      g_test_skip ("the locale de_DE.UTF-8 is not installed and cannot be made");
      return FALSE;
    }
  }
  char comma[32];
  g_snprintf (comma, sizeof comma, "%g", 0.25);
  g_assert_cmpstr (comma, ==, "0,25"); /* the locale is really on */
  return TRUE;
}

void
test_plain_locale (void)
{
  setlocale (LC_ALL, "C");
  g_unsetenv ("LOCPATH");
}

static gboolean
ask (gpointer data)
{
  TestControl *c = data;
  return ++c->asked == c->after;
}

static void
grow (double fraction, const char *what, gpointer data)
{
  TestControl *c = data;
  g_assert_cmpfloat (fraction, >=, c->last);
  g_assert_cmpfloat (fraction, <=, 1 + 1e-9);
  g_assert_nonnull (what);
  c->last = fraction;
}

void
test_control (TestControl *c, int after)
{
  *c = (TestControl){.control = {ask, grow, c}, .after = after};
}

/* ---- HDF5 as others write it ---- */

void
test_put_text (hid_t id, const char *name, const char *text, TextKind kind, gboolean as_array)
{
  hsize_t one = 1;
  hid_t type = H5Tcopy (H5T_C_S1), space = as_array ? H5Screate_simple (1, &one, NULL) : H5Screate (H5S_SCALAR);
  char fixed[64];
  memset (fixed, kind == TEXT_FIXED_SPACEPAD ? ' ' : 0, sizeof fixed);
  memcpy (fixed, text, MIN (strlen (text), sizeof fixed)); /* only the fixed kinds use it */
  gboolean variable = kind <= TEXT_VARIABLE_ASCII;
  H5Tset_size (type, variable ? H5T_VARIABLE : kind == TEXT_FIXED_NULLPAD ? strlen (text) : sizeof fixed);
  if (kind == TEXT_VARIABLE_UTF8 || kind == TEXT_FIXED_UTF8)
    H5Tset_cset (type, H5T_CSET_UTF8);
  if (!variable)
    H5Tset_strpad (type, kind == TEXT_FIXED_NULLPAD    ? H5T_STR_NULLPAD
                         : kind == TEXT_FIXED_SPACEPAD ? H5T_STR_SPACEPAD
                                                       : H5T_STR_NULLTERM);
  hid_t a = H5Acreate2 (id, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  g_assert_cmpint (a, >=, 0);
  g_assert_cmpint (H5Awrite (a, type, variable ? (const void *) &text : fixed), >=, 0);
  H5Aclose (a);
  H5Tclose (type);
  H5Sclose (space);
}

void
test_put_numbers (hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims, const hsize_t *chunk,
                  int deflate, const double *values)
{
  hid_t space = rank ? H5Screate_simple (rank, dims, NULL) : H5Screate (H5S_SCALAR);
  hid_t plist = H5Pcreate (H5P_DATASET_CREATE), links = H5Pcreate (H5P_LINK_CREATE);
  H5Pset_create_intermediate_group (links, 1);
  if (chunk)
    H5Pset_chunk (plist, rank, chunk);
  if (deflate)
    H5Pset_deflate (plist, 1);
  hid_t d = H5Dcreate2 (file, path, type, space, links, plist, H5P_DEFAULT);
  g_assert_cmpint (d, >=, 0);
  if (values)
    g_assert_cmpint (H5Dwrite (d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), >=, 0);
  H5Dclose (d);
  H5Pclose (plist);
  H5Pclose (links);
  H5Sclose (space);
}
