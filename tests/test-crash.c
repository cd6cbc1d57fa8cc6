/* The program is killed in the middle of a run, with edits since; started again, it offers the session: with every edit, and
 * the run goes on, to the bits of one that was never interrupted. Then the same with Discard. By pointer and keys alone. */
#include <string.h>

#include "cli-util.h"
#include "desk.h"

static char *scan;

/* Edits the axis by keys, runs, edits once more, and is killed once iteration @n is kept. */
static void
run_and_crash (int n)
{
  g_autofree char *arguments = g_strdup_printf ("--light %s", scan);
  Desk *desk = desk_start (arguments);
  g_free (desk_wait_said (desk, "centre of rotation"));
  g_autofree char *line = g_strdup_printf ("iteration %d:", n);
  desk_focus (desk);
  desk_do ("key F6 F6 F6 Down"); /* the drawing has the focus */
  g_usleep (1000000);            /* another step of undo */
  desk_do ("key Down");
  g_usleep (1000000); /* the next one too: quick repeats are one step */
  desk_do ("key space");
  g_free (desk_wait_said (desk, "iteration 1:"));
  desk_do ("key Down");
  g_free (desk_wait_said (desk, "kept with 3 edits"));
  if (!desk_said (desk, line))
    g_free (desk_wait_said (desk, line));
  desk_kill (desk);
  desk_free (desk);
}

/* How many files of runs and sessions there are. */
static int
kept (gboolean say)
{
  int n = 0;
  g_autofree char *folder = cli_path ("lamina");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name = dir ? g_dir_read_name (dir) : NULL; name; name = g_dir_read_name (dir))
    if (g_str_has_prefix (name, "run-") || g_str_has_prefix (name, "session-")) {
      if (say)
        g_test_message ("kept: %s", name);
      n++;
    }
  return n;
}

static void
test_resume (void)
{
  g_autofree char *out = cli_path ("resumed.h5");
  run_and_crash (4);
  g_assert_cmpint (kept (FALSE), >=, 4);
  Desk *desk = desk_start ("--dark");
  g_autofree char *offer = desk_wait_said (desk, "Lamina ended unexpectedly. Its run goes on after iteration");
  /* The state is kept every iteration, or less often where the disk is slow. */
  g_assert_cmpint ((int) g_ascii_strtoll (strstr (offer, "iteration ") + strlen ("iteration "), NULL, 10), >=, 1);
  g_assert_nonnull (strstr (offer, "Re_store scan.h5 with 3 edits"));
  desk_wait_calm ((DeskRect){0, 0, 1440, 120});
  desk_picture ("crash-offer");
  desk_do ("key alt+s");
  g_free (desk_wait_said (desk, "restored after an unexpected end, with 3 edits"));
  g_free (desk_wait_said (desk, "resumed after iteration"));
  g_free (desk_wait_said (desk, "Reconstructed in"));
  desk_dialog (desk, "ctrl+s", out);
  g_free (desk_wait_said (desk, "Saved"));
  desk_picture ("crash-resumed");
  desk_do ("key ctrl+q");
  desk_wait_end (desk);
  desk_free (desk);
  g_assert_cmpint (kept (TRUE), ==, 0);

  /* Where the axis was found is what the command line is told. */
  g_autoptr (CliRun) info = cli_ok ("info %s --json", out);
  g_autoptr (GPtrArray) lines = cli_json_lines (info->out);
  const char *text = json_object_get_string_member (cli_json_last (lines), "model_params");
  const char *offset = strstr (text, "det_channel_offset:\n  val: ");
  g_assert_nonnull (offset);
  CliRun *run = cli_ok ("reconstruct %s -o line.h5 --channel-offset %.17g", scan,
                        g_ascii_strtod (offset + strlen ("det_channel_offset:\n  val: "), NULL));
  cli_run_free (run);
  g_autofree char *window = cli_checksum (out), *line = cli_checksum ("line.h5");
  g_assert_cmpstr (window, ==, line);
}

static void
test_discard (void)
{
  g_autofree char *arguments = g_strdup_printf ("--light %s", scan);
  run_and_crash (2);
  /* Whatever the program is started with; and there is one question, not two. */
  Desk *desk = desk_start (arguments);
  g_free (desk_wait_said (desk, "Lamina ended unexpectedly"));
  desk_wait_calm ((DeskRect){0, 0, 1440, 120});
  desk_do ("key alt+d");
  for (int i = 0; i < 200 && kept (FALSE) > 0; i++)
    g_usleep (20000);
  g_usleep (2500000); /* what was only opened is not kept */
  g_assert_cmpint (kept (TRUE), ==, 0);
  desk_do ("key ctrl+q");
  desk_wait_end (desk);
  desk_free (desk);
}

int
main (int argc, char **argv)
{
  const char *why;
  g_test_init (&argc, &argv, NULL);
  if (!desk_can (&why)) {
    g_print ("1..0 # SKIP %s\n", why);
    return 0;
  }
  cli_init ();
  scan = cli_path ("scan.h5");
  /* So large that its run is still going on when the program is killed. */
  CliRun *run =
      cli_ok ("project --phantom tooth --shape 256x256x64 --attenuation 3 --photons 20000 --seed 1 -o scan.h5");
  cli_run_free (run);
  /* What a person may set: an edit is kept within a second. */
  g_autofree char *settings = cli_path ("lamina/settings"), *settings_folder = cli_path ("lamina");
  g_mkdir_with_parents (settings_folder, 0700);
  g_assert_true (g_file_set_contents (settings, "[Lamina]\nautosave=1\n", -1, NULL));
  g_test_add_func ("/crash/resume", test_resume);
  g_test_add_func ("/crash/discard", test_discard);
  int failed = g_test_run ();
  g_free (scan);
  cli_finish ();
  return failed;
}
