/* Checkpoints: round trip, kill at any moment, any damage noticed. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <utime.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/checkpoint.h"

#define N 1000

static void
must (gboolean ok, GError *error)
{
  g_assert_no_error (error);
  g_assert_true (ok);
}

/* A state whose every number depends on @generation. */
static gboolean
save (const char *path, int64_t generation, int64_t n, GError **error)
{
  g_autoptr (LamCheckpointWriter) w = lam_checkpoint_writer_new (path, error);
  if (!w)
    return FALSE;
  const int64_t shape[2] = {2, n / 2}, five[1] = {5}, none[2] = {0, 7};
  float *x = lam_alloc_n (n, sizeof *x, "test", error);
  if (!x)
    return FALSE;
  const double metrics[5] = {1, -0.0, INFINITY, 4, (double) generation};
  const uint64_t keys[5] = {1, 2, 3, 4, UINT64_MAX};
  const int32_t order[5] = {-1, 2, 3, 4, 5};
  for (int64_t i = 0; i < n; i++)
    x[i] = (float) (generation + i);
  gboolean ok = lam_checkpoint_put_int (w, "iteration", generation, error)
                && lam_checkpoint_put_double (w, "alpha", 0.1 * (double) generation, error)
                && lam_checkpoint_put_text (w, "isa", "avx2 \xc2\xb5", error)
                && lam_checkpoint_put_text (w, "empty", "", error)
                && lam_checkpoint_writer_begin (w, "volume", LAM_CHECKPOINT_FLOAT, 2, shape, error);
  for (int64_t i = 0; ok && i < n; i += 300) /* shards */
    ok = lam_checkpoint_writer_append (w, x + i, MIN (300, n - i) * 4, error);
  ok = ok && lam_checkpoint_writer_end (w, error)
       && lam_checkpoint_put (w, "metrics", LAM_CHECKPOINT_DOUBLE, 1, five, metrics, error)
       && lam_checkpoint_put (w, "keys", LAM_CHECKPOINT_UINT64, 1, five, keys, error)
       && lam_checkpoint_put (w, "order", LAM_CHECKPOINT_INT32, 1, five, order, error)
       && lam_checkpoint_put (w, "nothing", LAM_CHECKPOINT_FLOAT, 2, none, x, error)
       && lam_checkpoint_writer_finish (w, error);
  lam_free (x);
  return ok;
}

/* The generation of a file that is right throughout, or -1 with an error. */
static int64_t
load (const char *path, int64_t n, GError **error)
{
  g_autoptr (LamCheckpoint) c = lam_checkpoint_open (path, error);
  int64_t generation = -1;
  double alpha;
  if (!c || !lam_checkpoint_get_int (c, "iteration", &generation, error)
      || !lam_checkpoint_get_double (c, "alpha", &alpha, error))
    return -1;
  g_assert_cmpfloat (alpha, ==, 0.1 * (double) generation);
  float *x = lam_alloc_n (n, sizeof *x, "test", error);
  if (!x)
    return -1;
  gboolean ok = lam_checkpoint_read (c, "volume", LAM_CHECKPOINT_FLOAT, 0, n, x, error);
  for (int64_t i = 0; ok && i < n; i++)
    g_assert_cmpfloat (x[i], ==, (float) (generation + i));
  lam_free (x);
  return ok ? generation : -1;
}

static void
test_round_trip (void)
{
  g_autofree char *path = test_path ("state.ckpt");
  g_autoptr (GError) error = NULL;
  g_assert_cmphex (lam_crc32c (0, "123456789", 9), ==, 0xe3069283);
  g_assert_cmphex (lam_crc32c (lam_crc32c (0, "1234567", 7), "89", 2), ==, 0xe3069283);
  must (save (path, 42, N, &error), error);
  g_assert_cmpint (load (path, N, &error), ==, 42);
  g_assert_cmpint (test_leftovers (path), ==, 0);
  g_autoptr (LamCheckpoint) c = lam_checkpoint_open (path, &error);
  g_assert_cmpint (lam_checkpoint_n_sections (c), ==, 9);
  const LamCheckpointSection *v = lam_checkpoint_find (c, "volume");
  g_assert_cmpint (v->rank, ==, 2);
  g_assert_cmpint (v->shape[1], ==, N / 2);
  g_assert_cmpint (v->count, ==, N);
  float part[10];
  must (lam_checkpoint_read (c, "volume", LAM_CHECKPOINT_FLOAT, 500, 10, part, &error), error);
  g_assert_cmpfloat (part[9], ==, 42 + 509);
  double metrics[5];
  must (lam_checkpoint_read (c, "metrics", LAM_CHECKPOINT_DOUBLE, 0, 5, metrics, &error), error);
  g_assert_true (isinf (metrics[2]) && signbit (metrics[1]) && metrics[4] == 42);
  uint64_t keys[5];
  int32_t order[5];
  must (lam_checkpoint_read (c, "keys", LAM_CHECKPOINT_UINT64, 0, 5, keys, &error), error);
  must (lam_checkpoint_read (c, "order", LAM_CHECKPOINT_INT32, 0, 5, order, &error), error);
  g_assert_true (keys[4] == UINT64_MAX && order[0] == -1);
  g_autofree char *isa = lam_checkpoint_get_text (c, "isa", &error),
                  *empty = lam_checkpoint_get_text (c, "empty", &error);
  g_assert_cmpstr (isa, ==, "avx2 \xc2\xb5");
  g_assert_cmpstr (empty, ==, "");
  g_assert_cmpint (lam_checkpoint_find (c, "nothing")->count, ==, 0);
  g_assert_false (lam_checkpoint_read (c, "volume", LAM_CHECKPOINT_FLOAT, 995, 10, part, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "volume", "995 to 1005", "1000", NULL);
  g_assert_false (lam_checkpoint_read (c, "volume", LAM_CHECKPOINT_DOUBLE, 0, 1, part, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "volume", NULL);
  g_assert_null (lam_checkpoint_get_text (c, "absent", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_MISSING, "absent", NULL);
}

static void
test_misuse (void)
{
  g_autofree char *path = test_path ("misuse.ckpt");
  g_autoptr (GError) error = NULL;
  test_write_file (path, "old", 3);
  const int64_t four[1] = {4}, huge[2] = {INT64_C (1) << 40, INT64_C (1) << 40}, negative[1] = {-1};
  const float x[8] = {0};
  for (int i = 0; i < 7; i++) {
    g_autoptr (LamCheckpointWriter) w = lam_checkpoint_writer_new (path, &error);
    gboolean ok = TRUE;
    switch (i) {
    case 0: /* too much */
      ok = lam_checkpoint_writer_begin (w, "a", LAM_CHECKPOINT_FLOAT, 1, four, &error)
           && lam_checkpoint_writer_append (w, x, 20, &error);
      break;
    case 1: /* too little */
      ok = lam_checkpoint_writer_begin (w, "a", LAM_CHECKPOINT_FLOAT, 1, four, &error)
           && lam_checkpoint_writer_append (w, x, 12, &error) && lam_checkpoint_writer_end (w, &error);
      break;
    case 2: /* the name twice */
      ok = lam_checkpoint_put_int (w, "a", 1, &error) && lam_checkpoint_put_int (w, "a", 1, &error);
      break;
    case 3: /* still open */
      ok = lam_checkpoint_writer_begin (w, "a", LAM_CHECKPOINT_FLOAT, 1, four, &error)
           && lam_checkpoint_writer_finish (w, &error);
      break;
    case 4:
      ok = lam_checkpoint_writer_begin (w, "a", LAM_CHECKPOINT_FLOAT, 2, huge, &error);
      break;
    case 5:
      ok = lam_checkpoint_writer_begin (w, "a", LAM_CHECKPOINT_FLOAT, 1, negative, &error);
      break;
    case 6: /* nothing after an error, not even the end */
      ok = lam_checkpoint_writer_begin (w, "", LAM_CHECKPOINT_FLOAT, 1, four, NULL)
           || lam_checkpoint_writer_finish (w, &error);
      break;
    }
    g_assert_false (ok);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    g_clear_error (&error);
    g_clear_pointer (&w, lam_checkpoint_writer_free);
    g_assert_cmpint (test_leftovers (path), ==, 0);
    gsize size;
    g_autofree char *old = test_read_file (path, &size);
    g_assert_cmpmem (old, size, "old", 3);
  }
}

/* Cut off at every length, and every byte flipped: always refused. */
static void
test_torn (void)
{
  g_autofree char *path = test_path ("whole.ckpt"), *torn = test_path ("torn.ckpt");
  g_autoptr (GError) error = NULL;
  must (save (path, 3, 20, &error), error);
  gsize size;
  g_autofree char *whole = test_read_file (path, &size);
  for (gsize n = 0; n < size; n++) {
    test_write_file (torn, whole, n);
    g_assert_null (lam_checkpoint_open (torn, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_FORMAT);
    g_clear_error (&error);
  }
  for (gsize n = 0; n < size; n++) {
    whole[n] ^= (char) (1 << n % 8);
    test_write_file (torn, whole, size);
    whole[n] ^= (char) (1 << n % 8);
    g_assert_null (lam_checkpoint_open (torn, &error));
    g_assert_nonnull (error);
    g_clear_error (&error);
  }
  g_autofree char *longer = g_malloc0 (size + 1);
  memcpy (longer, whole, size);
  test_write_file (torn, longer, size + 1);
  g_assert_null (lam_checkpoint_open (torn, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "after its end", NULL);
  g_test_message ("%d lengths and %d single flips refused", (int) size, (int) size);
  g_assert_null (lam_checkpoint_open ("/nowhere.ckpt", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "/nowhere.ckpt", NULL);
}

/* Killed at any moment, the file is a whole older state. */
static void
test_killed (void)
{
  g_autofree char *path = test_path ("killed.ckpt");
  g_autoptr (GError) error = NULL;
  const int64_t n = 200000;
  int64_t last = 1, kills = 40;
  must (save (path, 1, n, &error), error);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (int k = 0; k < kills; k++) {
    pid_t pid = fork ();
    if (pid == 0)
      for (int64_t generation = last + 1;; generation++)
        if (!save (path, generation, n, NULL))
          _exit (1);
    g_usleep (g_rand_int_range (random, 0, 15000));
    kill (pid, SIGKILL);
    int status;
    waitpid (pid, &status, 0);
    g_assert_true (WIFSIGNALED (status));
    int64_t got = load (path, n, &error);
    g_assert_no_error (error);
    g_assert_cmpint (got, >=, last);
    last = got;
  }
  g_test_message ("%d kills, generation %d reached, %d temporary files left by them", (int) kills, (int) last,
                  test_leftovers (path));
  g_assert_cmpint (last, >, 1);

  /* What the killed ones left goes with the next save once it is old; what another program still writes stays. */
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (LamCheckpointWriter) other = lam_checkpoint_writer_new (path, &error);
  for (const char *name; (name = g_dir_read_name (dir));) {
    g_autofree char *full = g_build_filename (folder, name, NULL);
    const struct utimbuf old = {1000, 1000};
    if (g_str_has_suffix (name, ".part"))
      g_utime (full, (struct utimbuf *) &old);
  }
  must (save (path, last, n, &error), error);
  g_assert_cmpint (test_leftovers (path), ==, 1);
}

static void
test_full_disk (void)
{
  int full = 0, good = 0;
  for (int kib = 8; kib <= 96; kib += 8) {
    g_autoptr (GError) error = NULL;
    char *disk = test_small_disk (kib);
    if (!disk) {
      g_test_skip ("a small file system cannot be mounted here");
      return;
    }
    g_autofree char *path = g_build_filename (disk, "s.ckpt", NULL);
    must (save (path, 1, 20, &error), error);
    if (save (path, 2, 10000, &error)) { /* 40 kB */
      g_assert_cmpint (load (path, 10000, &error), ==, 2);
      good++;
    } else {
      g_assert_error (error, LAM_ERROR, LAM_ERROR_IO);
      g_clear_error (&error);
      g_assert_cmpint (load (path, 20, &error), ==, 1);
      g_assert_cmpint (test_leftovers (path), ==, 0);
      full++;
    }
    test_small_disk_free (disk);
  }
  g_test_message ("%d full disks, %d large enough", full, good);
  g_assert_true (full > 2 && good > 2);
}

static void
test_memory (void)
{
  g_autofree char *path = test_path ("memory.ckpt");
  int failed = 0;
  gboolean done = FALSE;
  for (int64_t n = 1; !done && n < 50; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    done = save (path, n, N, &error) && load (path, N, &error) == n;
    lam_memory_fail_at (0);
    if (!done)
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    failed += !done;
    g_assert_cmpint (test_leftovers (path), ==, 0);
  }
  g_assert_true (done && failed >= 3);
}

static void
test_place (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *a = lam_state_file ("vcd", "key 1", &error), *b = lam_state_file ("vcd", "key 2", &error);
  g_autofree char *again = lam_state_file ("vcd", "key 1", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (a, ==, again);
  g_assert_cmpstr (a, !=, b);
  g_autofree char *folder = g_path_get_dirname (a), *want = g_build_filename (g_get_user_state_dir (), "lamina", NULL);
  g_assert_cmpstr (folder, ==, want);
  g_assert_true (g_file_test (folder, G_FILE_TEST_IS_DIR));
}

int
main (int argc, char **argv)
{
  g_autofree char *state = test_path ("state");
  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/checkpoint/round-trip", test_round_trip);
  g_test_add_func ("/checkpoint/misuse", test_misuse);
  g_test_add_func ("/checkpoint/torn", test_torn);
  g_test_add_func ("/checkpoint/killed", test_killed);
  g_test_add_func ("/checkpoint/full-disk", test_full_disk);
  g_test_add_func ("/checkpoint/memory", test_memory);
  g_test_add_func ("/checkpoint/place", test_place);
  int result = g_test_run ();
  test_clean ();
  return result;
}
