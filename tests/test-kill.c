/* test-kill.c: a reconstruction is killed at 20 moments, some of them while it writes its state, and goes on each time with
 * the bits of the run that nobody disturbed. At most the running iteration is lost: that in work, or the one whose state
 * was just being written. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "cli-util.h"
#include "core/random.h"
#include "core/threadpool.h"

#define KILLS 20
#define ITERATIONS 9

/* The slowest kernels on one thread: an iteration then takes long beside the writing of a state, which is due after each. */
static const char *const slow[] = {"LAMINA_ISA=scalar", "LAMINA_THREADS=1", NULL};

static char *state_folder; /* in memory where there is such a place: no disk's bad day shows here */

/* Files of the state folder whose name ends as that of a file being written. */
static int
unfinished (void)
{
  int n = 0;
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (state_folder, 0, NULL);
  while ((name = g_dir_read_name (dir)))
    n += g_str_has_suffix (name, ".part");
  return n;
}

/* What a killed run left there counts as old: the next writer sweeps it, as it does after a while. */
static void
make_old (void)
{
  struct utimbuf old = {.actime = 1, .modtime = 1};
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (state_folder, 0, NULL);
  while ((name = g_dir_read_name (dir))) {
    g_autofree char *path = g_build_filename (state_folder, name, NULL);
    if (g_str_has_suffix (name, ".part"))
      g_assert_cmpint (g_utime (path, &old), ==, 0);
  }
}

static GPid
start (const char *command, const char *out_path)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) argv = NULL;
  g_autofree char *line = g_strdup_printf ("%s %s", g_getenv ("LAMINA_BIN"), command);
  g_assert_true (g_shell_parse_argv (line, NULL, &argv, NULL));
  int out = g_open (out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err = g_open ("/dev/null", O_WRONLY, 0);
  GPid pid;
  g_auto (GStrv) env = g_get_environ ();
  for (int i = 0; slow[i]; i++) {
    g_auto (GStrv) pair = g_strsplit (slow[i], "=", 2);
    env = g_environ_setenv (env, pair[0], pair[1], TRUE);
  }
  g_assert_true (g_spawn_async_with_fds (cli_folder (), argv, env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, -1, out,
                                         err, &error));
  g_assert_no_error (error);
  g_close (out, NULL);
  g_close (err, NULL);
  return pid;
}

/* Last iteration that the JSON lines in @path report as finished; the last line may be cut off. */
static int64_t
last_reported (const char *path)
{
  g_autofree char *text = NULL;
  int64_t last = 0;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  static const char key[] = "\"event\":\"iteration\",\"iteration\":";
  for (const char *at = text; (at = strstr (at, key)) && strchr (at, '\n');) {
    at += strlen (key);
    last = g_ascii_strtoll (at, NULL, 10);
  }
  return last;
}

/* Iterations that the state's run had finished, by what the resumed run says. */
static int64_t
resumed_after (const char *out)
{
  const char *at = strstr (out, "resumed after iteration ");
  g_assert_nonnull (at);
  return g_ascii_strtoll (at + strlen ("resumed after iteration "), NULL, 10);
}

static char *
result_checksum (const char *out)
{
  g_autoptr (GPtrArray) lines = cli_json_lines (out);
  return g_strdup (json_object_get_string_member (cli_json_last (lines), "checksum"));
}

static void
test_kill (void)
{
  LamRandom random;
  lam_random_init (&random, 2026, 9);
  cli_run_free (
      cli_ok ("project --phantom tooth --shape 96x96x24 --attenuation 3 --photons 20000 --seed 3 -o scan.h5"));
  g_autofree char *state = g_build_filename (state_folder, "state", NULL), *log = cli_path ("log.json");
  g_autofree char *command = g_strdup_printf (
      "reconstruct scan.h5 --iterations %d --stop-threshold 0 --checkpoint=%s -o out.h5 --json", ITERATIONS, state);
  g_autofree char *resume = g_strconcat (command, " --resume", NULL);

  int64_t began = lam_clock_ns ();
  g_autoptr (CliRun) whole = cli_run_env (slow, command);
  cli_assert_status (whole, 0);
  int64_t takes = lam_clock_ns () - began;
  g_autofree char *wanted = result_checksum (whole->out);
  g_assert_false (g_file_test (state, G_FILE_TEST_EXISTS)); /* a finished run needs none */
  g_test_message ("undisturbed: %.2f s, %s", (double) takes / 1e9, wanted);

  int in_write = 0, fresh = 0;
  int64_t lost_most = 0, lost_sum = 0;
  for (int k = 0; k < KILLS; k++) {
    /* After some iteration that the run itself tells, and a part of one more: on a busy machine too. */
    int64_t after = (int64_t) (lam_random_double (&random) * (ITERATIONS - 2));
    int64_t more = (int64_t) (lam_random_double (&random) * (double) takes / ITERATIONS);
    GPid pid = start (command, log);
    began = lam_clock_ns ();
    while (last_reported (log) < after && lam_clock_ns () - began < 30 * takes)
      g_usleep (1000);
    began = lam_clock_ns ();
    while (lam_clock_ns () - began < more)
      g_usleep (200);
    if (k % 3 == 0) /* wait for the next state to be begun */
      while (unfinished () == 0 && lam_clock_ns () - began < takes)
        ;
    kill (pid, SIGKILL); /* a child that has ended already is still there to be waited for */
    waitpid (pid, NULL, 0);
    in_write += unfinished () > 0;
    g_spawn_close_pid (pid);
    make_old ();
    int64_t reported = last_reported (log);
    g_autoptr (CliRun) rest = NULL;
    if (!g_file_test (state, G_FILE_TEST_EXISTS)) { /* before the first state, or after the end */
      g_assert_true (reported <= 1 || reported == ITERATIONS);
      fresh++;
      rest = cli_run_env (slow, command);
    } else {
      rest = cli_run_env (slow, resume);
      cli_assert_status (rest, 0);
      g_autofree char *said = g_strconcat (rest->out, rest->err, NULL);
      int64_t lost = reported - resumed_after (said);
      lost_most = MAX (lost_most, lost);
      lost_sum += MAX (lost, 0);
      g_assert_cmpint (lost, >=, -1); /* killed between the state and the line that reports it */
    }
    cli_assert_status (rest, 0);
    g_autofree char *sum = result_checksum (rest->out);
    g_assert_cmpstr (sum, ==, wanted);
    g_assert_false (g_file_test (state, G_FILE_TEST_EXISTS));
    g_assert_cmpint (unfinished (), ==, 0); /* what the kill left was swept */
  }
  g_test_message ("%d kills, %d of them while a state was written, %d before the first or after the last; finished "
                  "iterations lost: %" G_GINT64_FORMAT " in all, %" G_GINT64_FORMAT " at most",
                  KILLS, in_write, fresh, lost_sum, lost_most);
  g_assert_cmpint (in_write, >, 0);
  g_assert_cmpint (KILLS - fresh, >=, KILLS / 2);
  /* A moment in which the machine was busy elsewhere may have made the next state wait for an iteration or two. */
  g_assert_cmpint (lost_sum, <=, KILLS);
  g_assert_cmpint (lost_most, <=, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  state_folder =
      g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? g_strdup ("/dev/shm/lamina-XXXXXX") : cli_path ("state");
  g_assert_true (g_str_has_suffix (state_folder, "XXXXXX") ? g_mkdtemp (state_folder) != NULL
                                                           : g_mkdir (state_folder, 0777) == 0);
  g_test_add_func ("/kill/resume", test_kill);
  int status = g_test_run ();
  g_rmdir (state_folder);
  g_free (state_folder);
  cli_finish ();
  return status;
}
