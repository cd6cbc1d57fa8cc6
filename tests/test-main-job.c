/* The main job in the real window, by pointer and keys alone: open a scan, drag the axis and see the slice follow, run,
 * watch it, stop and keep, save; the file is the one that the command line makes. */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli-util.h"
#include "desk.h"

/* At 1440 x 900. */
static const DeskRect header = {0, 0, 700, 50}, picture = {500, 150, 500, 450}, scene = {1130, 60, 290, 230},
                      lower = {340, 700, 460, 170}, whole = {0, 0, 1440, 900};

static const struct {
  const char *option;
  guint32 axis, run;
} styles[] = {{"light", 0xc01c28, 0x3584e4}, {"dark", 0xff7b63, 0x3584e4}};

static void
snap (const char *style, const char *step)
{
  g_autofree char *name = g_strdup_printf ("job-%s-%s", step, style);
  desk_picture (name);
}

/* Drags the axis by @pixels and sees the slice follow while the button is down. */
static void
drag_axis (Desk *desk, guint32 colour, int pixels)
{
  int x, y;
  desk_wait_colour (scene, colour, 5, &x, &y);
  desk_wait_calm (picture);
  guint64 before = desk_look (picture);
  desk_do ("mousemove %d %d mousedown 1", x, y);
  for (int i = 1; i <= abs (pixels); i++) {
    desk_do ("mousemove %d %d", x, y + (pixels > 0 ? i : -i));
    if (i == abs (pixels) / 2)
      desk_wait_change (picture, before);
  }
  desk_wait_calm (picture);
  g_assert_cmpuint (desk_look (picture), !=, before);
  desk_do ("mouseup 1");
}

/* What stands after @before in the text @member of the file. */
static double
number (const char *file, const char *member, const char *before)
{
  g_autoptr (CliRun) run = cli_ok ("info %s --json", file);
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  const char *text = json_object_get_string_member (cli_json_last (lines), member), *at = strstr (text, before);
  g_assert_nonnull (at);
  return g_ascii_strtod (at + strlen (before), NULL);
}

static void
test_job (gconstpointer data)
{
  int style = GPOINTER_TO_INT (data), x, y;
  const char *name = styles[style].option;
  g_autofree char *scan = cli_path ("scan.h5"), *out = g_strdup_printf ("%s/window-%s.h5", cli_folder (), name);
  g_autofree char *arguments = g_strdup_printf ("--%s%s%s", name, style == 0 ? " " : "", style == 0 ? scan : "");
  Desk *desk = desk_start (arguments);
  if (style == 1) {
    /* The example is there at once; the scan comes through the file chooser. */
    g_free (desk_wait_said (desk, "bundled example"));
    desk_wait_colour (scene, styles[style].axis, 5, &x, &y);
    desk_dialog (desk, "ctrl+o", scan);
  }
  g_free (desk_wait_said (desk, "opened scan.h5"));
  g_free (desk_wait_said (desk, "centre of rotation"));
  desk_wait_colour (header, styles[style].run, 7, &x, &y);
  desk_wait_calm (whole);
  snap (name, "1-open");

  drag_axis (desk, styles[style].axis, style == 0 ? 6 : -6);
  snap (name, "2-dragged");

  desk_wait_colour (header, styles[style].run, 7, &x, &y);
  desk_do ("mousemove %d %d click 1", x, y);
  guint64 curve = desk_look (lower);
  g_free (desk_wait_said (desk, "iteration 2:"));
  desk_wait_change (lower, curve);
  snap (name, "3-running");
  desk_do ("key alt+t");
  g_free (desk_wait_said (desk, "Stopped and kept"));
  desk_wait_calm (whole);
  snap (name, "4-stopped");

  desk_dialog (desk, "ctrl+s", out);
  g_free (desk_wait_said (desk, "Saved"));
  desk_wait_calm (whole);
  snap (name, "5-saved");
  desk_do ("key ctrl+q");
  desk_wait_end (desk);
  desk_free (desk);

  /* The same by the command line. */
  double offset = number (out, "model_params", "det_channel_offset:\n  val: ");
  double iterations = number (out, "recon_params", "num_iterations: ");
  g_assert_cmpfloat (ABS (offset), >, 1);
  g_assert_cmpfloat (iterations, >=, 2);
  g_autofree char *sum = cli_checksum (out);
  CliRun *run = cli_ok ("reconstruct %s -o line.h5 --iterations %.0f --channel-offset %.17g", scan, iterations, offset);
  cli_run_free (run);
  g_autofree char *line = cli_checksum ("line.h5");
  g_assert_cmpstr (sum, ==, line);
}

/* Closed with a result that is in no file, after asking: nothing that is gone already is spoken to. */
static void
test_unsaved (void)
{
  int x, y;
  g_autofree char *scan = cli_path ("scan.h5"), *arguments = g_strdup_printf ("--light %s", scan);
  Desk *desk = desk_start (arguments);
  g_free (desk_wait_said (desk, "centre of rotation"));
  desk_wait_colour (header, styles[0].run, 7, &x, &y);
  desk_do ("mousemove %d %d click 1", x, y);
  g_free (desk_wait_said (desk, "iteration 2:"));
  desk_do ("key alt+t");
  g_free (desk_wait_said (desk, "Stopped and kept"));
  desk_answer (desk, "ctrl+q", "alt+w");
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
  CliRun *run =
      cli_ok ("project --phantom tooth --shape 256x256x24 --attenuation 3 --photons 20000 --seed 1 -o scan.h5");
  cli_run_free (run);
  g_test_add_data_func ("/main-job/light", GINT_TO_POINTER (0), test_job);
  g_test_add_data_func ("/main-job/dark", GINT_TO_POINTER (1), test_job);
  g_test_add_func ("/main-job/unsaved", test_unsaved);
  int failed = g_test_run ();
  cli_finish ();
  return failed;
}
