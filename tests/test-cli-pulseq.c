/* test-cli-pulseq.c: `lamina info' and `lamina convert' of Pulseq files. */
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
  g_autoptr (CliRun) unknown = cli_run ("convert broken.seq left.seq");
  cli_assert_status (unknown, 1);
  cli_assert_says (unknown->err, "1.9.0");
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  g_test_add_func ("/cli/pulseq/info", test_info);
  g_test_add_func ("/cli/pulseq/convert", test_convert);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
