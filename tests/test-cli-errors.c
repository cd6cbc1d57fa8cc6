/* The program `lamina`: what it refuses, in which words and with which exit status; damaged files; a comma locale. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli-util.h"
#include "core/types.h"

static void
make_scan (void)
{
  g_autoptr (CliRun) run = cli_ok ("project --phantom shepp-logan --shape 20x20x5 --views 12 -o scan.h5");
}

/* Wrong usage: status 2, and the option and its range in the words. */
static void
test_usage (void)
{
  static const struct {
    const char *command, *words[3];
  } cases[] = {
      {"", {"Usage"}},
      {"frobnicate", {"frobnicate", "not a command"}},
      {"--frobnicate", {"unknown option"}},
      {"info", {"argument is missing", "lamina info"}},
      {"info a b", {"too many"}},
      {"info --frobnicate x", {"--frobnicate"}},
      {"phantom egg --shape 4x4x4 -o egg.h5", {"egg", "shepp-logan"}},
      {"phantom cube --shape 4x4 -o cube.h5", {"--shape", "ROWSxCOLUMNSxSLICES"}},
      {"phantom cube --shape 4x0x4 -o cube.h5", {"--shape"}},
      {"phantom cube --shape 4x4x4", {"-o is missing"}},
      {"project --phantom cube -o x.h5", {"--shape"}},
      {"project --phantom cube --shape 4x4x4 --geometry cone -o x.h5", {"--source-detector"}},
      {"project --phantom cube --shape 4x4x4 --rows 3 -o x.h5", {"--rows 3", "slices"}},
      {"reconstruct scan.h5 -o x.h5 --iterations 0", {"--iterations", "1 to 100000"}},
      {"reconstruct scan.h5 -o x.h5 --iterations 1.5", {"--iterations"}},
      {"reconstruct scan.h5 -o x.h5 --iterations 99999999999999999999", {"--iterations"}},
      {"reconstruct scan.h5 -o x.h5 --sharpness nan", {"--sharpness", "-20 to 20"}},
      {"reconstruct scan.h5 -o x.h5 --snr-db 1e9", {"--snr-db", "120"}},
      {"reconstruct scan.h5 -o x.h5 --stop-threshold -1", {"--stop-threshold", "0 to 100"}},
      {"reconstruct scan.h5 -o x.h5 --sharpness 0,5", {"--sharpness 0,5", "point"}},
      {"reconstruct scan.h5 -o x.h5 --p 1.1 --q 1.5", {"--q 1.5", "at most --p, which is 1.1"}},
      {"reconstruct scan.h5 -o x.h5 --p 1 --q 2", {"--q 2", "at most --p, which is 1"}},
      {"reconstruct scan.h5 -o x.h5 --p 1.1", {"--p 1.1", "at least --q, which is 1.2"}},
      {"reconstruct scan.h5 -o x.h5 --q 2.5", {"--q 2.5", "1 to 2"}},
      {"reconstruct scan.h5 -o x.h5 --T 0", {"--T"}},
      {"reconstruct scan.h5 -o x.h5 --sigma-y 0", {"--sigma-y", "above 0"}},
      {"reconstruct scan.h5 -o x.h5 --method art", {"--method", "fbp, fdk, vcd"}},
      {"reconstruct scan.h5 -o x.h5 --method fdk", {"fdk", "parallel"}},
      {"reconstruct scan.h5 -o x.h5 --mask square", {"--mask", "ellipse, none"}},
      {"reconstruct scan.h5 -o x.h5 --weights heavy", {"heavy", "transmission_root"}},
      {"reconstruct scan.h5 -o x.h5 --defects ignore", {"ignore", "interpolate"}},
      {"reconstruct scan.h5 -o x.h5 --devices 0xcpu", {"0xcpu", "1 to 64"}},
      {"reconstruct scan.h5 -o x.h5 --devices abacus", {"abacus"}},
      {"reconstruct scan.h5 -o x.h5 --slices 3:3", {"--slices 3:3", "A:B"}},
      {"reconstruct scan.h5 -o x.h5 --bin 0", {"--bin", "1 to 64"}},
      {"reconstruct scan.h5 -o x.h5 --tilt 90", {"--tilt", "-45 to 45"}},
      {"reconstruct scan.h5 -o x.h5 --center 20", {"--center 20", "0 to 19"}},
      {"reconstruct scan.h5 -o x.h5 --center middle", {"--center middle"}},
      {"reconstruct scan.h5 -o x.h5 --center 9 --channel-offset 1", {"--center", "--channel-offset"}},
      {"reconstruct scan.h5 -o x.h5 --angles 0", {"--angles 0", "START:STOP"}},
      {"reconstruct scan.h5 -o x.h5 --angles 0:nan", {"--angles"}},
      {"reconstruct scan.h5 -o x.h5 --angles 0:1e300", {"--angles 0:1e300", "-1e+06 to 1e+06"}},
      {"project --phantom cube --shape 4x4x4 --angles -1.1e6:0 -o x.h5", {"--angles -1.1e6:0", "degrees"}},
      {"reconstruct scan.h5 -o x.h5 --angle-unit turns", {"--angle-unit", "deg, rad"}},
      {"reconstruct scan.h5 -o x.h5 --direction 2", {"--direction"}},
      {"reconstruct scan.h5 -o x.h5 --pitch -1", {"--pitch", "above 0"}},
      {"reconstruct scan.h5 -o x.h5 --source-detector 327 --source-axis 842", {"327", "842", "exchanged"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --checkpoint", {"--checkpoint", "vcd"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --iterations 3", {"--iterations: FBP has no iterations", "vcd"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --stop-threshold 1", {"--stop-threshold", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --sharpness 2", {"--sharpness", "FBP has no prior"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --snr-db 20", {"--snr-db", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --sigma-y 1", {"--sigma-y", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --sigma-x 1", {"--sigma-x", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --p 2", {"--p: FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --q 1", {"--q: FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp -T 1", {"--T: FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --positivity", {"--positivity", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fdk --no-damping", {"--no-damping", "FDK"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --seed 1", {"--seed", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --init zero", {"--init", "FBP"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --weights transmission", {"--weights", "FBP"}},
      {"plan scan.h5 --method fbp --iterations 3", {"--iterations", "FBP"}},
      {"reconstruct scan.h5 --checkpoint my.ckpt -o x.h5", {"--checkpoint=my.ckpt"}},
      {"reconstruct --checkpoint my.ckpt scan.h5 -o x.h5", {"--checkpoint=my.ckpt"}},
      {"render scan.h5", {"-o is missing"}},
      {"render scan.h5 -o x.png --view 12", {"--view 12", "0 to 11"}},
      {"render scan.h5 -o a.jpg", {"-o a.jpg", ".png"}},
      {"render scan.h5 -o a", {"-o a", ".png"}},
      {"render scan.h5 -o x.png --level 1", {"--level", "LOW:HIGH"}},
      {"convert scan.h5", {"argument is missing"}},
      {"plan", {"--shape"}},
      {"plan scan.h5 --views 4", {"--shape"}},
      {"bench egg 16", {"egg", "parallel-fbp"}},
      {"bench parallel-fbp 0", {"SIZE", "2 to"}},
  };
  make_scan ();
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].command);
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    cli_assert_status (run, 2);
    for (int w = 0; w < 3 && cases[i].words[w]; w++)
      cli_assert_says (run->err, cases[i].words[w]);
  }
  g_autofree char *result = cli_path ("x.h5");
  g_assert_false (g_file_test (result, G_FILE_TEST_EXISTS));
}

/* Things that fail: status 1, and what, where, and what to do. */
static void
test_failures (void)
{
  static const struct {
    const char *command, *words[3];
  } cases[] = {
      {"info nothing.h5", {"nothing.h5", "No such file"}},
      {"info --checksum nothing.h5", {"nothing.h5"}},
      {"info text.h5", {"text.h5"}},
      {"info --checksum scan.h5", {"scan.h5", "no volume"}},
      {"reconstruct nothing.h5 -o x.h5", {"nothing.h5"}},
      {"reconstruct volume.h5 -o x.h5", {"volume.h5", "this is a volume"}},
      {"reconstruct scan.h5 -o scan.h5", {"scan.h5", "input file itself"}},
      {"reconstruct scan.h5 -o link.h5", {"link.h5", "input file itself"}},
      {"reconstruct scan.h5 -o nowhere/x.h5", {"nowhere"}},
      {"reconstruct scan.h5 -o x.h5 --init volume.h5", {"volume.h5", "4 x 4 x 4", "20 x 20 x 5"}},
      {"reconstruct scan.h5 -o x.h5 --init nope.h5", {"--init nope.h5", "No such file"}},
      {"reconstruct scan.h5 -o x.h5 --init text.h5", {"--init text.h5"}},
      {"reconstruct .", {"this is a folder"}},
      {"reconstruct scan.h5 -o x.h5 --slices 3:9", {"3:9", "0:5"}},
      {"reconstruct scan.h5 -o x.h5 --resume", {"state to resume"}},
      {"reconstruct scan.h5 -o x.h5 --checkpoint=text.h5 --resume", {"text.h5"}},
      {"reconstruct scan.h5 -o x.h5 --geometry cone", {"distances", "--source-detector"}},
      {"reconstruct scan.h5 -o x.h5 --data counts", {"flat"}},
      {"reconstruct scan.h5 -o x.h5 --devices cuda", {"GPU"}},
      {"reconstruct scan.h5 -o x.h5 --method fbp --channel-offset 1e9", {"scan.h5", "no voxel is seen", "offset"}},
      {"project volume.h5 -o volume.h5", {"input file itself"}},
      {"convert volume.h5 volume.h5", {"input file itself"}},
      {"render text.h5 -o x.png", {"text.h5"}},
  };
  make_scan ();
  g_autofree char *text = cli_path ("text.h5"), *scan = cli_path ("scan.h5"), *link = cli_path ("link.h5");
  g_autoptr (CliRun) volume = cli_ok ("phantom cube --shape 4x4x4 -o volume.h5");
  g_autofree char *before = NULL, *after = NULL;
  gsize n_before, n_after;
  g_assert_true (g_file_set_contents (text, "not a file of any kind\n", -1, NULL));
  g_assert_cmpint (symlink ("scan.h5", link), ==, 0);
  g_assert_true (g_file_get_contents (scan, &before, &n_before, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].command);
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    cli_assert_status (run, 1);
    g_assert_true (g_str_has_prefix (strstr (run->err, "lamina: "), "lamina: "));
    for (int w = 0; w < 3 && cases[i].words[w]; w++)
      cli_assert_says (run->err, cases[i].words[w]);
  }
  g_assert_true (g_file_get_contents (scan, &after, &n_after, NULL));
  g_assert_cmpmem (before, n_before, after, n_after);
}

static int
count (const char *text, const char *word)
{
  int n = 0;
  for (const char *at = text; (at = strstr (at, word)); at += strlen (word))
    n++;
  return n;
}

/* Said once: an error, and an environment variable that is not followed. */
static void
test_once (void)
{
  g_autoptr (CliRun) bench = cli_run ("bench foo 64");
  cli_assert_status (bench, 2);
  g_assert_cmpstr (bench->out, ==, "");
  g_assert_cmpint (count (bench->err, "expected one of"), ==, 1);
  static const struct {
    const char *value, *word;
  } cases[] = {{"LAMINA_THREADS=0", "LAMINA_THREADS=0: a whole number from 1"},
               {"LAMINA_THREADS=abc", "LAMINA_THREADS=abc: a whole number from 1"},
               {"LAMINA_THREADS=2x", "LAMINA_THREADS=2x: a whole number from 1"},
               {"LAMINA_THREADS=1000", "at most 64 threads"},
               {"LAMINA_THREADS=2", NULL},
               {"LAMINA_THREADS=", NULL}};
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    const char *env[] = {cases[i].value, NULL};
    g_autoptr (CliRun) run = cli_run_env (env, "plan --shape 8x8x8 --devices 2xcpu");
    cli_assert_status (run, 0);
    g_assert_cmpint (count (run->err, "LAMINA_THREADS"), ==, cases[i].word != NULL);
    if (cases[i].word)
      cli_assert_says (run->err, cases[i].word);
  }
}

/* The window's program where there is no display: one line that says what to do, and the options that need none. */
static void
test_no_display (void)
{
  const char *binary = g_getenv ("LAMINA_GTK_BIN");
  if (!binary || !g_file_test (binary, G_FILE_TEST_EXISTS)) {
    g_test_skip ("the window is not built");
    return;
  }
  static const char *const arguments[] = {NULL, "x.h5", "--version"};
  for (gsize i = 0; i < G_N_ELEMENTS (arguments); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *out = NULL, *err = NULL;
    const char *argv[] = {"env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", binary, arguments[i], NULL};
    int wait = 0;
    g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &wait, &error);
    g_assert_no_error (error);
    g_assert_true (WIFEXITED (wait));
    g_assert_cmpint (WEXITSTATUS (wait), ==, i == 2 ? 0 : 1);
    if (i == 2)
      continue;
    cli_assert_says (err, "lamina-gtk: there is no display");
    g_assert_null (strstr (err, "WARNING"));
    g_assert_cmpint (count (err, "\n"), ==, 1);
  }
}

/* What can be seen before any work is said before any work. */
static void
test_early (void)
{
  make_scan ();
  g_autoptr (CliRun) init = cli_run ("reconstruct scan.h5 -o x.h5 --init nope.h5"), folder = cli_run ("reconstruct ."),
                     none = cli_run ("reconstruct nothing.h5");
  cli_assert_status (init, 1);
  cli_assert_status (folder, 1);
  cli_assert_status (none, 1);
  g_assert_cmpstr (init->out, ==, ""); /* no import list, no preparation */
  g_assert_cmpstr (folder->out, ==, "");
  g_assert_cmpstr (none->out, ==, "");
}

/* With --json an error is an object on stdout too. */
static void
test_json_errors (void)
{
  static const struct {
    const char *command, *code;
    int status;
  } cases[] = {
      {"info nothing.h5 --json", "io", 1},
      {"info text.h5 --json", "format", 1},
      {"reconstruct scan.h5 --json --iterations 0 -o x.h5", "usage", 2},
      {"reconstruct scan.h5 --json -o scan.h5", "invalid", 1},
      {"frobnicate --json", "usage", 2},
      {"reconstruct scan.h5 --json --devices cuda -o x.h5", "not-supported", 1},
  };
  make_scan ();
  g_autofree char *text = cli_path ("text.h5");
  g_assert_true (g_file_set_contents (text, "not a file of any kind\n", -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].command);
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    cli_assert_status (run, cases[i].status);
    g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
    JsonObject *error = json_object_get_object_member (cli_json_last (lines), "error");
    g_assert_cmpstr (json_object_get_string_member (error, "code"), ==, cases[i].code);
    g_assert_cmpuint (strlen (json_object_get_string_member (error, "message")), >, 0);
  }
}

/* A result's name that is ours is said, and never replaces a file. */
static void
test_derived_name (void)
{
  make_scan ();
  g_autoptr (CliRun) first = cli_ok ("reconstruct scan.h5 --method fbp"), second = cli_run ("reconstruct scan.h5");
  cli_assert_says (first->out, "scan-recon.h5");
  cli_assert_status (second, 2);
  cli_assert_says (second->err, "scan-recon.h5");
}

/* Cut off anywhere, bits turned, zeros: an answer or an error, never a crash. */
static void
test_damage (void)
{
  make_scan ();
  g_autofree char *path = cli_path ("scan.h5"), *bad = cli_path ("bad.h5"), *data = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  for (int i = 0; i < 40; i++) {
    g_autofree char *copy = g_memdup2 (data, n);
    gsize length = n;
    if (i < 20)
      length = n * (gsize) i / 20;
    else
      for (int b = 0; b < 8; b++)
        copy[((gsize) i * 7919 + (gsize) b * 104729) % LAM_MIN (n, 6000)] ^= (char) (1 << b);
    g_assert_true (g_file_set_contents (bad, copy, (gssize) length, NULL));
    for (int c = 0; c < 2; c++) {
      g_autoptr (CliRun) run = cli_run (c ? "reconstruct bad.h5 --method fbp -o x.h5" : "info bad.h5");
      if (run->status > 2)
        g_error ("damage %d: status %d: %s", i, run->status, run->err);
    }
  }
}

/* "iteration 1 of 1: change …, cost … (data …, prior …), 0.01 s, about 0 s left": without its times. */
static void
drop_times (char *line)
{
  char *end = g_str_has_prefix (line, "iteration ") ? strstr (line, "), ") : NULL;
  if (end)
    *end = '\0';
}

/* All but what tells how long something took or will take. */
static void
assert_same_lines (const char *a, const char *b)
{
  g_auto (GStrv) x = g_strsplit (a, "\n", -1), y = g_strsplit (b, "\n", -1);
  g_assert_cmpuint (g_strv_length (x), ==, g_strv_length (y));
  for (int i = 0; x[i]; i++)
    if (!g_str_has_prefix (x[i], "time: ") && !strstr (x[i], " voxels, ")) {
      drop_times (x[i]);
      drop_times (y[i]);
      g_assert_cmpstr (x[i], ==, y[i]);
    }
}

/* L1: numbers are the same under a comma locale, read and written. */
static void
test_locale (void)
{
  g_auto (GStrv) comma = cli_comma_locale ();
  if (!comma)
    return;
  static const char *const commands[] = {
      "phantom tooth --shape 16x16x4 --attenuation 1.75 --voxel 0.25 -o l1.h5 --json",
      "project l1.h5 --views 9 --channel-offset 0.125 --photons 1e4 -o l1-scan.h5 --json",
      "info l1-scan.h5 --json",
      "info l1-scan.h5",
      "reconstruct l1-scan.h5 --tilt 0.25 --center 7.25 --method fbp -o l1-fbp.h5 --data sinogram",
      "reconstruct l1-scan.h5 --sharpness 0.5 --sigma-y 0.25 --center 7.25 --iterations 1 -o l1-one.h5",
      "plan l1-scan.h5 --snr-db 32.5",
      "render l1.h5 --level 0.125:0.75 -o l1.png",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_test_message ("%s", commands[i]);
    g_autoptr (CliRun) english = cli_run ("%s", commands[i]),
                       other = cli_run_env ((const char *const *) comma, commands[i]);
    cli_assert_status (english, 0);
    cli_assert_status (other, 0);
    assert_same_lines (english->out, other->out);
  }
  g_autoptr (CliRun) lines =
      cli_run_env ((const char *const *) comma, "reconstruct l1-scan.h5 --iterations 2 --json -o l1-vcd.h5");
  g_autoptr (GPtrArray) objects = cli_json_lines (lines->out);
  g_assert_cmpuint (objects->len, >, 2);
  g_autoptr (CliRun) english = cli_run ("info l1-scan.h5 --json");
  cli_assert_says (english->out, "\"channel_offset\":0.125");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_getenv ("LAMINA_BIN"))
    g_error ("LAMINA_BIN names the program to test");
  cli_init ();
  g_test_add_func ("/cli/usage", test_usage);
  g_test_add_func ("/cli/failures", test_failures);
  g_test_add_func ("/cli/once", test_once);
  g_test_add_func ("/cli/no-display", test_no_display);
  g_test_add_func ("/cli/early", test_early);
  g_test_add_func ("/cli/json-errors", test_json_errors);
  g_test_add_func ("/cli/derived-name", test_derived_name);
  g_test_add_func ("/cli/damage", test_damage);
  g_test_add_func ("/cli/locale", test_locale);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
