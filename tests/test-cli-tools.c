/* The program's preparation options and its sweep. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "cli-util.h"
#include "io/scan.h"

/* A scan of counts, with a dead pixel, a stripe and a zinger, projected by the program itself. */
static void
make_counts (void)
{
  g_autofree char *from = cli_path ("log.h5"), *to = cli_path ("counts.h5");
  g_autoptr (GError) error = NULL;
  if (g_file_test (to, G_FILE_TEST_EXISTS))
    return;
  g_autoptr (CliRun) made =
      cli_ok ("project --phantom tooth --shape 64x64x12 --views 90 --channels 72 --channel-offset "
              "1.6 --photons 5000 --seed 4 -o log.h5");
  g_autoptr (LamScan) scan = lam_scan_open (from, NULL, &error);
  g_assert_no_error (error);
  const LamGeometry *g = scan->geometry;
  int64_t size = g->rows * g->channels, n = g->views * size;
  g_autofree float *y = g_new (float, n), *flat = g_new (float, size), *dark = g_new (float, size);
  g_assert_true (lam_scan_read (scan, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error));
  for (int64_t p = 0; p < size; p++) {
    dark[p] = 20;
    flat[p] = p == 5 * g->channels + 30 ? 20 : 4000;
  }
  for (int64_t i = 0; i < n; i++)
    y[i] = 20 + 3980 * expf (-y[i] - 0.04f) * (i % g->channels == 41 ? 0.9f : 1);
  y[7 * size + 3 * g->channels + 10] = 1e5f;
  LamScanData data = {.geometry = g,
                      .kind = LAM_SCAN_COUNTS,
                      .projections = y,
                      .flats = flat,
                      .darks = dark,
                      .n_flats = 1,
                      .n_darks = 1};
  g_assert_true (lam_scan_write (to, &data, NULL, &error));
}

static void
test_prepare (void)
{
  make_counts ();
  g_autofree char *list = cli_path ("bad.txt"), *wrong = cli_path ("wrong.txt");
  g_file_set_contents (list, "# row channel\n2 3\n5 30\n", -1, NULL);
  g_file_set_contents (wrong, "2 3\nrow 4\n", -1, NULL);
  static const char all[] =
      "--crop 1:11,4:68 --bin 2 --tilt 0.3 --bad-pixels auto --bad-pixels bad.txt --background per-view "
      "--zingers 0.1 --stripes sorting --stripe-snr 2.5 --stripe-size 15:5";
  g_autoptr (CliRun)
      run = cli_ok ("reconstruct counts.h5 --method fbp --center auto %s -o all.h5", all),
      info = cli_ok ("info all.h5"), plan = cli_ok ("plan counts.h5 %s --json", all),
      look = cli_ok ("info counts.h5 --crop 1:11,4:68 --bad-pixels auto --stripes wavelet --stripe-sigma 3"),
      plain = cli_ok ("reconstruct counts.h5 --method fbp --center auto -o plain.h5 --json");
  static const char *const lines[] = {
      "bad pixels: 1 dead and 0 hot found at 6 sigmas, 2 listed in bad.txt: 2 of 720 in all",
      "cropped to rows 1:11 and channels 4:68",
      "binned by 2: 5 rows, 32 channels",
      "detector turned by 0.3 degrees",
      "background: taken off each view",
      "zingers: ",
      "stripes (sorting, signal to noise 2.5, medians of 15 and 5)"};
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++) {
    cli_assert_says (run->out, lines[i]);
    cli_assert_says (info->out, lines[i]);
  }
  cli_assert_says (info->out, "bad pixels: listed in bad.txt");
  cli_assert_says (look->out, "90 views, 10 rows, 64 channels");
  cli_assert_says (look->out, "prepared: stripes (wavelet, sigma 3, ");
  g_autoptr (GPtrArray) planned = cli_json_lines (plan->out), result = cli_json_lines (plain->out);
  g_assert_cmpint (json_object_get_int_member (cli_json_last (planned), "prepare_bytes"), >, 1000);
  JsonObject *g = json_object_get_object_member (cli_json_last (planned), "geometry");
  g_assert_cmpint (json_object_get_int_member (g, "channels"), ==, 32);
  /* The axis is told in channels of the file, whatever was cut off. */
  g_autoptr (CliRun) cut = cli_ok ("reconstruct counts.h5 --method fbp --center auto --crop ,9:72 -o cut.h5 --json");
  g_autoptr (GPtrArray) cropped = cli_json_lines (cut->out);
  double a = json_object_get_double_member (cli_json_last (result), "center_channel");
  double b = json_object_get_double_member (cli_json_last (cropped), "center_channel");
  g_assert_cmpfloat_with_epsilon (a, 35.5 + 1.6, 0.3);
  g_assert_cmpfloat_with_epsilon (a, b, 0.1);

  static const struct {
    const char *options;
    int status;
    const char *says;
  } cases[] = {
      {"--crop 5", 2, "--crop"},
      {"--crop 1:2,3:4,5:6", 2, "expected ROW0:ROW1,CH0:CH1"},
      {"--crop 1:40", 1, "detector rows 1:40"},
      {"--bad-pixels wrong.txt", 1, "wrong.txt, line 2"},
      {"--bad-pixels none.txt", 1, "none.txt"},
      {"--bad-pixels none --bad-pixels auto", 2, "opposite"},
      {"--background local", 2, "--background"},
      {"--stripes rings", 2, "--stripes"},
      {"--stripe-snr 3", 2, "is for --stripes sorting"},
      {"--stripes sorting --stripe-sigma 3", 2, "is for --stripes wavelet"},
      {"--stripes sorting --stripe-size 5:x", 2, "--stripe-size"},
      {"--zingers -1", 2, "--zingers"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) bad = cli_run ("reconstruct counts.h5 --method fbp %s -o bad.h5", cases[i].options);
    cli_assert_status (bad, cases[i].status);
    cli_assert_says (bad->err, cases[i].says);
  }
  g_autoptr (CliRun) none = cli_run ("reconstruct log.h5 --method fbp --bad-pixels auto -o bad.h5");
  cli_assert_status (none, 1);
  cli_assert_says (none->err, "found from flats and darks");
}

static void
test_sweep (void)
{
  make_counts ();
  g_autoptr (CliRun)
      plain = cli_ok ("sweep counts.h5 --parameter center --range 33:41 -o strip.png"),
      json =
          cli_ok ("sweep counts.h5 --parameter center --range 33:41 --bin 2 --crop ,4:72 --count 5 --slice 2 --json"),
      tilt = cli_ok ("sweep log.h5 --parameter tilt --range=-2:2 --count 5 --center auto"),
      help = cli_ok ("sweep --help"), all = cli_ok ("--help");
  cli_assert_says (plain->out, "center 33: score ");
  cli_assert_says (plain->out, "sharpest (entropy of the grey values): center 3");
  cli_assert_says (plain->out, "strip.png: slice 6, 9 pictures");
  cli_assert_says (tilt->out, "centre of rotation (COR): channel 37");
  cli_assert_says (tilt->out, "tilt -2: score ");
  cli_assert_says (help->out, "Example:");
  cli_assert_says (all->out, "sweep");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpint (lines->len, >=, 6);
  g_assert_cmpstr (json_object_get_string_member (o, "parameter"), ==, "center");
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "best"), 37.1, 0.3);
  g_assert_cmpfloat (json_object_get_double_member (o, "confidence"), >, 0.2);
  g_assert_cmpint (json_object_get_int_member (o, "slice"), ==, 2);
  g_autofree char *path = cli_path ("strip.png"), *png = NULL;
  gsize size;
  g_assert_true (g_file_get_contents (path, &png, &size, NULL));
  g_assert_true (size > 1000 && memcmp (png + 1, "PNG", 3) == 0);

  static const struct {
    const char *options;
    int status;
    const char *says;
  } cases[] = {
      {"--range 1:2", 2, "--parameter is missing"},
      {"--parameter center", 2, "--range is missing"},
      {"--parameter middle --range 1:2", 2, "use center, tilt"},
      {"--parameter center --range 5:1", 1, "must be the larger"},
      {"--parameter center --range 5:99", 1, "channels 0 to 71"},
      {"--parameter center --range 1:2 --count 2", 2, "--count"},
      {"--parameter center --range 1:2 --center 5", 2, "is what changes"},
      {"--parameter tilt --range 1:2 --tilt 1", 2, "is what changes"},
      {"--parameter source-axis --range 1:2", 1, "parallel beam"},
      {"--parameter center --range 1:2 --slice 12", 1, "slices 0 to 11"},
      {"--parameter center --range 1:2 -o counts.h5", 1, "counts.h5 is the input"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) bad = cli_run ("sweep counts.h5 %s", cases[i].options);
    cli_assert_status (bad, cases[i].status);
    cli_assert_says (bad->err, cases[i].says);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  g_test_add_func ("/cli-tools/prepare", test_prepare);
  g_test_add_func ("/cli-tools/sweep", test_sweep);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
