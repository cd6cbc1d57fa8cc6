/* test-cli-pulseq.c: `lamina info', `lamina convert' and `lamina render' of Pulseq files. */
#include <math.h>
#include <png.h>
#include <string.h>

#include "cli-util.h"

static const char text[] =
    "[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\nBlockDurationRaster 1e-05\n"
    "GradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\nName tiny\n[BLOCKS]\n1 45 1 0 0 0 0 0\n2 412 0 0 0 0 1 "
    "0\n"
    "3 10 0 7 0 0 0 0\n[RF]\n1 833.333 1 2 3 150 100 0 0 0 0 e\n[ADC]\n1 40 100000 20 0 0 0 0 0\n"
    "[SHAPES]\nshape_id 1\nnum_samples 2\n1\n1\nshape_id 2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n300\n";

static void
test_info (void)
{
  g_autofree char *path = cli_path ("tiny.seq");
  g_file_set_contents (path, text, -1, NULL);
  g_autoptr (CliRun) plain = cli_ok ("info tiny.seq"), json = cli_ok ("info --json tiny.seq");
  cli_assert_says (plain->out, "Pulseq 1.5.0, text");
  cli_assert_says (plain->out, "signature: none");
  cli_assert_says (plain->out, "blocks: 3, duration: 0.00467 s");
  cli_assert_says (plain->out, "1 of 90.00 degrees, excitation");
  cli_assert_says (plain->out,
                   "error: line 14, column 8: block 3 means GX gradient 7, which is not there; assumed: none");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpstr (json_object_get_string_member (o, "type"), ==, "sequence");
  g_assert_cmpint (json_object_get_int_member (o, "blocks"), ==, 3);
  g_assert_cmpint (json_object_get_int_member (o, "samples"), ==, 40);
  g_assert_cmpstr (json_object_get_string_member (json_object_get_object_member (o, "definitions"), "Name"), ==,
                   "tiny");
  JsonObject *problem = json_array_get_object_element (json_object_get_array_member (o, "problems"), 0);
  g_assert_cmpstr (json_object_get_string_member (problem, "severity"), ==, "error");
  g_assert_cmpint (json_object_get_int_member (problem, "line"), ==, 14);
  g_assert_cmpint (json_object_get_int_member (problem, "column"), ==, 8);
}

static void
test_convert (void)
{
  g_autofree char *path = cli_path ("tiny.seq"), *broken = cli_path ("broken.seq"), *left = cli_path ("left.seq");
  g_file_set_contents (path, text, -1, NULL);
  g_file_set_contents (broken, "[VERSION]\nmajor 1\nminor 9\nrevision 0\n", -1, NULL);
  g_autoptr (CliRun) run = cli_ok ("convert tiny.seq old.seq --pulseq-version 1.4"), info = cli_ok ("info old.seq");
  cli_assert_says (run->out, "changed: what the pulses are for");
  cli_assert_says (info->out, "Pulseq 1.4.1, text");
  cli_assert_says (info->out, "signature: matches");
  g_autoptr (CliRun) wrong = cli_run ("convert tiny.seq left.seq --pulseq-version 1.3");
  cli_assert_status (wrong, 2);
  static const char *const lying[] = {"left.txt", "left.h5", "left", "left.bin"};
  for (guint i = 0; i < G_N_ELEMENTS (lying); i++) {
    g_autoptr (CliRun) other = cli_run ("convert tiny.seq %s", lying[i]);
    g_autofree char *there = cli_path (lying[i]);
    cli_assert_status (other, 2);
    cli_assert_says (other->err, "a name that ends in .seq was expected");
    g_assert_false (g_file_test (there, G_FILE_TEST_EXISTS));
  }
  g_autoptr (CliRun) capital = cli_ok ("convert tiny.seq CAPITAL.SEQ");
  g_assert_nonnull (capital);
  g_autoptr (CliRun) unknown = cli_run ("convert broken.seq left.seq");
  cli_assert_status (unknown, 1);
  cli_assert_says (unknown->err, "1.9.0");
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
}

/* What is named .seq and holds something else, and numbers that no scanner has. */
static void
test_odd (void)
{
  g_autofree char *wild = cli_path ("wild.seq"), *noise = cli_path ("noise.seq"), *bare = cli_path ("bare.seq");
  g_auto (GStrv) parts = g_strsplit (text, "833.333", 2), adc = g_strsplit (parts[1], "40 100000 20", 2);
  g_autofree char *all = g_strconcat (parts[0], "1e300", adc[0], "40 0 20", adc[1], NULL);
  char bytes[3000];
  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = (char) (i * 2654435761u >> 13);
  g_file_set_contents (wild, all, -1, NULL);
  g_file_set_contents (noise, bytes, sizeof bytes, NULL);
  g_autoptr (CliRun) info = cli_ok ("info wild.seq"), signal = cli_run ("simulate wild.seq --preset blood");
  cli_assert_says (info->out, "error: line 16, column 1: RF event 1 has an amplitude of 1e+300 Hz (2.35e+292 T)");
  cli_assert_says (info->out, "warning: line 18, column 1: ADC event 1 reads for 0 s: its dwell is 0");
  cli_assert_says (info->out, "1 of 1.08e+299 degrees, excitation");
  cli_assert_status (signal, 1);
  cli_assert_says (signal->err, "is a unit wrong?");
  static const char *const commands[] = {"info noise.seq", "convert noise.seq left.seq", "render noise.seq -o left.png",
                                         "simulate noise.seq --preset blood"};
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autoptr (CliRun) run = cli_run ("%s", commands[i]);
    cli_assert_status (run, 1);
    cli_assert_says (run->err, "noise.seq: this is not a Pulseq file");
  }
  /* Rasters that the file lacks stand in what is written: that they are assumed is said. */
  const char *rest = strstr (text, "[BLOCKS]");
  g_autofree char *without = g_strconcat ("[VERSION]\nmajor 1\nminor 5\nrevision 0\n", rest, NULL);
  g_file_set_contents (bare, without, -1, NULL);
  g_autoptr (CliRun) convert = cli_ok ("convert bare.seq made.seq"), json = cli_ok ("convert bare.seq made.seq --json");
  cli_assert_says (convert->out, "bare.seq: [DEFINITIONS] has no BlockDurationRaster; assumed: 10000 ns");
  cli_assert_says (convert->out, "has no AdcRasterTime; assumed: 100 ns");
  cli_assert_says (convert->err, "bare.seq: line 8, column 8: block 3 means GX gradient 7");
  cli_assert_says (json->out, "\"assumed\":[");
}

/* Two excitations 10 ms apart, two echoes after each. */
static void
test_intervals (void)
{
  static const char echoes[] =
      "[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\nBlockDurationRaster 1e-05\n"
      "GradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n[BLOCKS]\n1 200 1 0 0 0 0 0\n2 300 0 0 0 0 1 0\n"
      "3 500 0 0 0 0 1 0\n4 200 1 0 0 0 0 0\n5 300 0 0 0 0 1 0\n6 400 0 0 0 0 1 0\n7 200 1 0 0 0 0 0\n[RF]\n1 833.333 "
      "1 "
      "2 3 150 100 0 0 0 0 e\n[ADC]\n1 1 100000 20 0 0 0 0 0\n[SHAPES]\nshape_id 1\nnum_samples 2\n1\n1\nshape_id "
      "2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n300\n";
  g_autofree char *path = cli_path ("echoes.seq");
  g_file_set_contents (path, echoes, -1, NULL);
  g_autoptr (CliRun) run = cli_ok ("info echoes.seq"), json = cli_ok ("info echoes.seq --json");
  cli_assert_says (run->out, "TR: 9 to 10 ms, most often 9 ms (1 of 2 times)");
  cli_assert_says (run->out, "TE (to the first echo): 1.82 ms, 2 times"); /* 2000 + 20 + 50 - 250 us */
  cli_assert_says (run->out, "echo spacing (ESP): 3 ms, 2 times");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  JsonObject *esp = json_object_get_object_member (cli_json_last (lines), "esp");
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (esp, "usual_s"), 0.003, 1e-12);
}

/* ---- spins and positions ---- */

#define SLOPE 100000.0 /* Hz/m of the gradient below, along x, during the readout */

static const char readout[] =
    "[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\nBlockDurationRaster 1e-05\n"
    "GradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n[BLOCKS]\n1 45 1 0 0 0 0 0\n2 412 0 1 0 0 1 0\n"
    "[RF]\n1 833.333 1 2 3 150 100 0 0 0 0 e\n[TRAP]\n1 100000 10 4100 10 0\n[ADC]\n1 40 100000 20 0 0 0 0 0\n"
    "[SHAPES]\nshape_id 1\nnum_samples 2\n1\n1\nshape_id 2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n300\n";

typedef struct {
  double re, im;
} Complex;

/* The samples of voxel @v, as JSON has them. */
static void
read_signal (const CliRun *run, guint v, Complex s[40])
{
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  JsonObject *o = json_array_get_object_element (json_object_get_array_member (cli_json_last (lines), "signals"), v);
  JsonArray *re = json_object_get_array_member (o, "real"), *im = json_object_get_array_member (o, "imaginary");
  g_assert_cmpuint (json_array_get_length (re), ==, 40);
  for (guint i = 0; i < 40; i++)
    s[i] = (Complex){json_array_get_double_element (re, i), json_array_get_double_element (im, i)};
}

/* A point turns with its place; a box of spins adds up to a sinc. */
static void
test_spins (void)
{
  g_autofree char *path = cli_path ("readout.seq");
  Complex middle[40], aside[40], box[40], thin[40];
  g_file_set_contents (path, readout, -1, NULL);
#define PLAY "simulate readout.seq --json --tissue \"T1=inf T2=inf\" "
  g_autoptr (CliRun) one = cli_ok (PLAY), two = cli_ok (PLAY "--position 0,0,0 --position 2,5,-7"),
                     many = cli_ok (PLAY "--spins 2000 --voxel-size 10,1,1"),
                     across = cli_ok (PLAY "--spins 50 --voxel-size 0,30,3"),
                     said = cli_ok ("simulate readout.seq --preset blood --spins 50 --voxel-size 2"),
                     plain = cli_ok ("simulate readout.seq --preset blood --position 1,2,3"),
                     picture =
                         cli_ok ("render readout.seq --preset blood --spins 60 --voxel-size 1,1,5 -o spins.png --json");
  read_signal (one, 0, middle);
  read_signal (two, 1, aside);
  read_signal (many, 0, box);
  read_signal (across, 0, thin);
  for (int i = 0; i < 40; i++) {
    double t = 20e-6 + (i + 0.5) * 100e-6, k = SLOPE * (t - 5e-6), turn = 2 * G_PI * k * 0.002, x = G_PI * k * 0.010;
    g_assert_cmpfloat_with_epsilon (aside[i].re, middle[i].re * cos (turn) - middle[i].im * sin (turn), 1e-5);
    g_assert_cmpfloat_with_epsilon (aside[i].im, middle[i].re * sin (turn) + middle[i].im * cos (turn), 1e-5);
    g_assert_cmpfloat_with_epsilon (box[i].re, middle[i].re * sin (x) / x, 1e-5);
    g_assert_cmpfloat_with_epsilon (box[i].im, middle[i].im * sin (x) / x, 1e-5);
    g_assert_cmpfloat_with_epsilon (thin[i].im, middle[i].im, 1e-5); /* no gradient along its sides */
  }
  cli_assert_says (two->out, "T1=inf T2=inf at 2,5,-7 mm");
  cli_assert_says (said->out, "each voxel: 50 spins through 2 x 2 x 2 mm");
  cli_assert_says (plain->out, "one spin in its middle");
  cli_assert_says (picture->out, "\"spins\":60");

  static const struct {
    const char *command, *says;
  } wrong[] = {{"simulate readout.seq --preset blood --spins 0", "--spins 0"},
               {"simulate readout.seq --preset blood --voxel-size 1,1,5", "give --spins too"},
               {"simulate readout.seq --preset blood --spins 5 --voxel-size 1,2", "along x, y and z"},
               {"simulate readout.seq --preset blood --spins 5 --voxel-size -1", "--voxel-size -1"},
               {"simulate readout.seq --preset blood --position 1,x,2", "--position x"},
               {"simulate readout.seq --preset blood --settle 0.1", "--settle is for templates"},
               {"simulate MRF --preset blood --spins 5", "--spins is for Pulseq files"},
               {"render readout.seq --no-signal --spins 5 -o x.png", "--no-signal goes without"}};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (CliRun) refused = cli_run ("%s", wrong[i].command);
    cli_assert_status (refused, 2);
    cli_assert_says (refused->err, wrong[i].says);
  }
  g_autoptr (CliRun) left_out = cli_ok ("simulate readout.seq --tissue \"T1=900 T2=80 D=1\"");
  cli_assert_says (left_out->err, "depends on D, which is left out");

  /* Offsets in ppm need a field. */
  g_autofree char *ppm = cli_path ("ppm.seq");
  g_auto (GStrv) parts = g_strsplit (readout, "100 0 0 0 0 e", 2);
  g_autofree char *other = g_strjoin ("100 -3.4 0 0 0 e", parts[0], parts[1], NULL);
  g_file_set_contents (ppm, other, -1, NULL);
  g_autoptr (CliRun) unknown = cli_run ("simulate ppm.seq --preset blood"),
                     known = cli_ok ("simulate ppm.seq --preset blood --field 3");
  cli_assert_status (unknown, 1);
  cli_assert_says (unknown->err, "--field");
  g_assert_nonnull (known);
}

/* The colours in a column of the picture at @x, as how many of its pixels lean to blue, red and green. */
static void
count_inks (const unsigned char *rgb, int width, int height, int from, int to, int inks[3])
{
  memset (inks, 0, 3 * sizeof *inks);
  for (int y = 0; y < height; y++)
    for (int x = from; x < to; x++) {
      const unsigned char *p = rgb + 3 * (y * width + x);
      inks[0] += p[2] > p[0] + 60;
      inks[1] += p[0] > p[2] + 60;
      inks[2] += p[1] > p[0] + 40 && p[1] > p[2] + 20;
    }
}

static unsigned char *
read_png (const char *path, int *width, int *height)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  g_assert_true (png_image_begin_read_from_file (&image, path));
  image.format = PNG_FORMAT_RGB;
  unsigned char *rgb = g_malloc (PNG_IMAGE_SIZE (image));
  g_assert_true (png_image_finish_read (&image, NULL, rgb, 0, NULL));
  *width = (int) image.width;
  *height = (int) image.height;
  return rgb;
}

/* Events and signal where they belong: the pulse is 0.45 ms, the readout from 0.47 to 4.47 ms of 4.57. */
static void
test_render (void)
{
  g_autofree char *path = cli_path ("tiny.seq"), *png = cli_path ("tiny.png"), *zoom = cli_path ("zoom.png"),
                  *left = cli_path ("left.png");
  int width, height, pulse[3], readout[3], zoomed[3];
  g_file_set_contents (path, text, -1, NULL);
  g_autoptr (CliRun) run = cli_ok ("render tiny.seq -o tiny.png --size 600x400 --tissue \"T1=1000 T2=80\""),
                     json = cli_ok ("render --json tiny.seq -o zoom.png --size 600x400 --from 0.001 --to 0.004 "
                                    "--no-signal");
  cli_assert_says (run->out, "signal of 1 tissues by Bloch's equations, 40 samples");
  g_autofree unsigned char *all = read_png (png, &width, &height);
  g_assert_cmpint (width, ==, 600);
  g_assert_cmpint (height, ==, 400);
  /* 494 px for 4.67 ms from 92 on: the pulse up to 140, the readout from there on. */
  count_inks (all, width, height / 2, 92, 139, pulse);
  count_inks (all, width, height / 2, 150, 560, readout);
  g_assert_cmpint (pulse[0], >, 200);
  g_assert_cmpint (readout[2], >, 400 * 10);
  g_assert_cmpint (pulse[2], ==, 0);
  /* The signal is below, one curve of one colour. */
  count_inks (all + 3 * width * 240, width, 160, 150, 560, readout);
  g_assert_cmpint (readout[0], >, 350);
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpfloat (json_object_get_double_member (o, "from_s"), ==, 0.001);
  g_assert_cmpint (json_object_get_int_member (o, "samples"), ==, 0);
  g_assert_true (json_object_get_null_member (o, "model"));
  /* Inside the readout there is no pulse, and the readout is all there is. */
  g_autofree unsigned char *part = read_png (zoom, &width, &height);
  count_inks (part, width, height, 92, 586, zoomed);
  g_assert_cmpint (zoomed[2], >, 490 * 10);
  g_assert_cmpint (zoomed[0], <, 4 * 494); /* the line at zero and that of the phase */

  /* What does not fit is refused before anything is written. */
  static const struct {
    const char *options;
    int status;
  } wrong[] = {{"--size 600", 2},       {"--size 1x1", 2}, {"--from 0.004 --to 0.001", 2}, {"--from 1", 2},
               {"--plane row", 2},      {"--part sum", 2}, {"--no-signal --part real", 2}, {"--from x", 2},
               {"--tissue \"T3=1\"", 2}};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (CliRun) refused = cli_run ("render tiny.seq -o left.png %s", wrong[i].options);
    cli_assert_status (refused, wrong[i].status);
    g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
  }
  g_autofree char *broken = cli_path ("broken.seq");
  g_file_set_contents (broken, "[VERSION]\nmajor 1\nminor 9\nrevision 0\n", -1, NULL);
  g_autoptr (CliRun) unknown = cli_run ("render broken.seq -o left.png"),
                     same = cli_run ("render tiny.seq -o tiny.seq"), none = cli_run ("render none.seq -o left.png");
  cli_assert_status (unknown, 1);
  cli_assert_says (unknown->err, "1.9.0");
  cli_assert_status (same, 2);
  cli_assert_status (none, 1);
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  g_test_add_func ("/cli/pulseq/info", test_info);
  g_test_add_func ("/cli/pulseq/convert", test_convert);
  g_test_add_func ("/cli/pulseq/odd", test_odd);
  g_test_add_func ("/cli/pulseq/intervals", test_intervals);
  g_test_add_func ("/cli/pulseq/spins", test_spins);
  g_test_add_func ("/cli/pulseq/render", test_render);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
