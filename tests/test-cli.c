/* The program `lamina`: what its commands make, on small phantoms that it makes itself. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "cli-util.h"
#include "core/memory.h"
#include "io/scan.h"
#include "io/volume.h"

/* A volume file's voxels; lam_free (). */
static float *
read_volume (const char *name, LamVolume **out)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = cli_path (name);
  LamVolume *v = lam_volume_open (path, NULL, LAM_LAYOUT_FROM_FILE, &error);
  g_assert_no_error (error);
  float *x = lam_alloc_n (v->rows * v->columns * v->slices, sizeof *x, "test", &error);
  g_assert_no_error (error);
  lam_volume_read_rows (v, (LamRange){0, v->rows}, x, NULL, &error);
  g_assert_no_error (error);
  *out = v;
  return x;
}

static void
test_help (void)
{
  static const char *const commands[] = {"info",    "reconstruct", "project", "phantom", "render",
                                         "convert", "plan",        "devices", "bench"};
  g_autoptr (CliRun) version = cli_ok ("--version"), help = cli_ok ("--help");
  g_assert_true (g_str_has_prefix (version->out, "lamina "));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autoptr (CliRun) one = cli_ok ("help %s", commands[i]), other = cli_ok ("%s --help", commands[i]);
    cli_assert_says (help->out, commands[i]);
    cli_assert_says (one->out, "Example:");
    cli_assert_says (one->out, commands[i]);
    g_assert_cmpstr (one->out, ==, other->out);
  }
}

static void
test_phantom (void)
{
  g_autoptr (CliRun) made = cli_ok ("phantom shepp-logan --shape 13x12x6 -o phantom.h5 --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (made->out);
  g_autofree char *sum = cli_checksum ("phantom.h5");
  g_autoptr (LamVolume) v = NULL;
  float *x = read_volume ("phantom.h5", &v);
  g_autofree char *own = lam_volume_checksum (x, 13 * 12 * 6);
  g_assert_cmpstr (json_object_get_string_member (cli_json_last (lines), "checksum"), ==, sum);
  g_assert_cmpstr (own, ==, sum);
  g_assert_cmpint (v->rows, ==, 13);
  g_assert_cmpint (v->columns, ==, 12);
  g_assert_cmpint (v->slices, ==, 6);
  lam_free (x);
  g_autoptr (CliRun) info = cli_ok ("info phantom.h5 --json");
  g_autoptr (GPtrArray) said = cli_json_lines (info->out);
  JsonObject *o = cli_json_last (said);
  g_assert_cmpstr (json_object_get_string_member (o, "type"), ==, "volume");
  g_assert_cmpstr (json_object_get_string_member (o, "checksum_stated"), ==, sum);
  JsonArray *shape = json_object_get_array_member (o, "shape");
  g_assert_cmpint (json_array_get_int_element (shape, 1), ==, 12);
}

/* Every view holds the volume's whole mass (parallel, pitch 1). */
static void
test_project (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CliRun) made = cli_ok ("phantom discs --shape 20x20x3 -o mass.h5"),
                     run = cli_ok ("project mass.h5 --views 7 --channels 40 --channel-offset 1.5 -o mass-scan.h5");
  g_autofree char *path = cli_path ("mass-scan.h5");
  g_autoptr (LamVolume) v = NULL;
  float *x = read_volume ("mass.h5", &v), y[7 * 3 * 40];
  g_autoptr (LamScan) scan = lam_scan_open (path, NULL, &error);
  g_assert_no_error (error);
  lam_scan_read (scan, (LamRange){0, 0}, y, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  double mass = 0;
  for (int i = 0; i < 20 * 20 * 3; i++)
    mass += x[i];
  for (int view = 0; view < 7; view++) {
    double sum = 0;
    for (int i = 0; i < 3 * 40; i++)
      sum += y[view * 120 + i];
    g_assert_cmpfloat_with_epsilon (sum, mass, 1e-5 * mass);
  }
  g_assert_cmpfloat (scan->geometry->channel_offset, ==, 1.5);
  lam_free (x);
}

static void
make_scans (void)
{
  g_autoptr (CliRun)
      a = cli_ok ("project --phantom shepp-logan --shape 24x24x7 --views 20 --photons 50000 -o parallel.h5"),
      b = cli_ok (
          "project --phantom tooth --shape 24x24x7 --views 20 --source-detector 96 --source-axis 48 -o cone.h5");
}

static void
test_devices_agree (void)
{
  static const char *const runs[] = {"parallel.h5 --method fbp", "cone.h5 --method fdk",
                                     "parallel.h5 --iterations 3 --weights transmission", "cone.h5 --iterations 3",
                                     "cone.h5 --iterations 2 --positivity --mask none --init zero"};
  make_scans ();
  for (gsize i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_autofree char *first = NULL;
    for (int devices = 1; devices <= 8; devices += devices == 1 ? 2 : 5) {
      g_autoptr (CliRun) run = cli_ok ("reconstruct %s --devices %dxcpu -o agree.h5", runs[i], devices);
      g_autofree char *sum = cli_checksum ("agree.h5");
      if (first)
        g_assert_cmpstr (sum, ==, first);
      else
        first = g_steal_pointer (&sum);
    }
  }
}

static void
test_json (void)
{
  make_scans ();
  g_autoptr (CliRun) run = cli_ok ("reconstruct parallel.h5 --iterations 4 --stop-threshold 0 --json "
                                   "--devices 2xcpu --center auto -o json.h5");
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  g_autofree char *sum = cli_checksum ("json.h5");
  int iterations = 0;
  for (guint i = 0; i < lines->len; i++) {
    JsonObject *o = json_node_get_object (lines->pdata[i]);
    if (g_str_equal (json_object_get_string_member (o, "event"), "iteration")) {
      g_assert_cmpint (json_object_get_int_member (o, "iteration"), ==, ++iterations);
      g_assert_cmpfloat (json_object_get_double_member (o, "data_cost"), >, 0);
    }
  }
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpint (iterations, ==, 4);
  g_assert_cmpstr (json_object_get_string_member (o, "event"), ==, "result");
  g_assert_cmpint (json_object_get_int_member (o, "iterations"), ==, 4);
  g_assert_cmpstr (json_object_get_string_member (o, "checksum"), ==, sum);
  g_assert_false (json_object_get_boolean_member (o, "stopped"));
  g_assert_true (json_object_has_member (o, "center_confidence"));
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "center_channel"), 11.5, 0.5);
  /* Forecast and measured agree within 2 %. */
  double peak = (double) json_object_get_int_member (o, "peak_bytes");
  g_assert_cmpfloat (peak, <=, 1.02 * (double) json_object_get_int_member (o, "plan_bytes"));
  JsonArray *devices = json_object_get_array_member (o, "devices");
  g_assert_cmpuint (json_array_get_length (devices), ==, 2);
  for (guint d = 0; d < 2; d++) {
    JsonObject *device = json_array_get_object_element (devices, d);
    g_assert_cmpint (json_object_get_int_member (device, "copied_in"), >, 0);
    g_assert_cmpint (json_object_get_int_member (device, "bytes"), <=,
                     json_object_get_int_member (device, "planned_bytes"));
  }
}

/* Turned data take no more memory than upright ones, and no more than is planned. */
static void
test_tilt_memory (void)
{
  int64_t planned[2];
  make_scans ();
  for (int i = 0; i < 2; i++) {
    g_autoptr (CliRun) run = cli_ok ("reconstruct cone.h5 --iterations 2 --tilt %d -o tilt.h5 --json", i);
    g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
    planned[i] = json_object_get_int_member (cli_json_last (lines), "plan_bytes");
    int64_t peak = json_object_get_int_member (cli_json_last (lines), "peak_bytes");
    g_assert_cmpint (peak * 100, <=, planned[i] * 102);
  }
  g_assert_cmpint (planned[1], ==, planned[0]);
}

/* G7 and N4, as a person meets them: one command and nothing else. */
static void
test_tooth (void)
{
  const char *folder = g_getenv ("LAMINA_DATA_DIR");
  g_autofree char *source = g_test_build_filename (G_TEST_DIST, "..", "..", "shared", "data", NULL);
  g_autofree char *tooth = g_build_filename (folder ? folder : source, "ct", "tooth.h5", NULL);
  if (!g_file_test (tooth, G_FILE_TEST_EXISTS)) {
    g_test_skip ("tooth.h5 is not there; LAMINA_DATA_DIR names its folder");
    return;
  }
  g_autoptr (CliRun) run = cli_ok ("reconstruct %s -o tooth.h5 --json --iterations 2", tooth);
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (cli_json_last (lines), "center_channel"), 295.5, 0.75);
  cli_assert_says (run->out, "0 at or below 0");
  cli_assert_says (run->out, "above 1");
  g_autoptr (CliRun) fixed =
      cli_ok ("reconstruct %s -o tooth.h5 --method fbp --center 295.5 --slices 0:1 --json", tooth);
  g_autoptr (GPtrArray) said = cli_json_lines (fixed->out);
  g_assert_cmpfloat (json_object_get_double_member (cli_json_last (said), "center_channel"), ==, 295.5);
  g_assert_true (json_object_get_null_member (cli_json_last (said), "center_confidence"));
  g_autoptr (CliRun) text = cli_ok ("reconstruct %s --method fbp --bin 2 --tiff tooth-slices", tooth);
  cli_assert_says (text->out, "centre of rotation (COR): channel 29");
}

static void
test_slices (void)
{
  make_scans ();
  static const char *const methods[][2] = {{"parallel.h5", "fbp"}, {"cone.h5", "fdk"}};
  for (int m = 0; m < 2; m++) {
    g_autoptr (CliRun) all = cli_ok ("reconstruct %s --method %s -o all.h5", methods[m][0], methods[m][1]),
                       some =
                           cli_ok ("reconstruct %s --method %s --slices 2:5 -o some.h5", methods[m][0], methods[m][1]);
    g_autoptr (LamVolume) v = NULL, w = NULL;
    float *x = read_volume ("all.h5", &v), *y = read_volume ("some.h5", &w), peak = 0;
    g_assert_cmpint (w->slices, ==, 3);
    for (int64_t i = 0; i < v->rows * v->columns * v->slices; i++)
      peak = fmaxf (peak, fabsf (x[i]));
    for (int64_t p = 0; p < v->rows * v->columns; p++)
      for (int64_t k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon (x[p * v->slices + 2 + k], y[p * 3 + k], 1e-5 * peak);
    lam_free (x);
    lam_free (y);
  }
}

static void
test_resume (void)
{
  make_scans ();
  g_autoptr (CliRun) whole = cli_ok ("reconstruct cone.h5 --iterations 5 --stop-threshold 0 -o whole.h5"),
                     part = cli_run_interrupted ("reconstruct cone.h5 --iterations 100000 --stop-threshold 0 "
                                                 "--checkpoint=state.ckpt -o part.h5",
                                                 "iteration 2 ", 1);
  cli_assert_status (part, 130);
  /* The state may be some iterations older than the result: the file says which. */
  g_autoptr (CliRun) info = cli_ok ("info state.ckpt --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (info->out);
  int64_t at = json_object_get_int_member (cli_json_last (lines), "iteration"), end = at + 3;
  g_autoptr (CliRun) resumed = cli_ok ("reconstruct cone.h5 --iterations %d --stop-threshold 0 --checkpoint=state.ckpt "
                                       "--resume --devices 3xcpu -o part.h5",
                                       (int) end),
                     straight =
                         cli_ok ("reconstruct cone.h5 --iterations %d --stop-threshold 0 -o straight.h5", (int) end);
  g_autofree char *a = cli_checksum ("part.h5"), *b = cli_checksum ("straight.h5"), *state = cli_path ("state.ckpt");
  g_assert_cmpstr (a, ==, b);
  g_assert_false (g_file_test (state, G_FILE_TEST_EXISTS)); /* its use is over once the result is saved */
}

/* A state of another run is not lost to a new one; the same run's own may be. */
static void
test_other_state (void)
{
  make_scans ();
  static const char stop[] =
      "reconstruct cone.h5 --iterations 100000 --stop-threshold 0 --checkpoint=other.ckpt -o o.h5";
  g_autoptr (CliRun) first = cli_run_interrupted (stop, "iteration 2 ", 1);
  cli_assert_status (first, 130);
  g_autofree char *path = cli_path ("other.ckpt"), *before = NULL, *after = NULL;
  gsize n = 0, m = 0;
  g_assert_true (g_file_get_contents (path, &before, &n, NULL));
  static const char *const others[] = {"cone.h5 --sharpness 2", "cone.h5 --init zero", "parallel.h5",
                                       "cone.h5 --tilt 1"};
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (CliRun) refused =
        cli_run ("reconstruct %s --iterations 2 --checkpoint=other.ckpt -o refused.h5", others[i]);
    g_autofree char *mine = g_strdup_printf ("lamina reconstruct %s ", others[i]);
    cli_assert_status (refused, 1);
    cli_assert_says (refused->err, "other.ckpt holds the state of another run");
    cli_assert_says (refused->err, "lamina reconstruct cone.h5 --iterations 100000");
    cli_assert_says (refused->err, mine);
    g_clear_pointer (&after, g_free);
    g_assert_true (g_file_get_contents (path, &after, &m, NULL));
    g_assert_cmpmem (before, n, after, m);
  }
  /* The same run anew, and another one in the state folder. */
  g_autoptr (CliRun) again = cli_run_interrupted (stop, "iteration 2 ", 1);
  cli_assert_status (again, 130);
  cli_assert_says (again->out, "the state of this same run is replaced");
  g_autoptr (CliRun) bare = cli_run_interrupted (
      "reconstruct cone.h5 --iterations 100000 --stop-threshold 0 --checkpoint -o bare.h5", "iteration 2 ", 1);
  cli_assert_status (bare, 130);
  g_autoptr (CliRun) told = cli_ok ("reconstruct cone.h5 --iterations 2 --sharpness 2 --checkpoint -o bare.h5");
  cli_assert_says (told->out, "the state of another run is replaced");
}

/* A scan file of @g; samples of 0 where there are none given. */
static void
write_scan (const char *name, const LamGeometry *g, const float *y, const float *flats)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = cli_path (name);
  g_autofree float *zeros = g_new0 (float, g->views * g->rows * g->channels);
  LamScanData data = {.geometry = g,
                      .kind = flats ? LAM_SCAN_COUNTS : LAM_SCAN_SINOGRAM,
                      .projections = y ? y : zeros,
                      .flats = flats,
                      .n_flats = flats ? 1 : 0};
  lam_scan_write (path, &data, NULL, &error);
  g_assert_no_error (error);
}

/* The indented line after "continue with:". */
static char *
go_on_command (const char *text)
{
  cli_assert_says (text, "continue with:\n  lamina ");
  const char *at = strstr (text, "continue with:\n  lamina ") + strlen ("continue with:\n  lamina ");
  return g_strndup (at, strcspn (at, "\n"));
}

/* A stopped run says how to go on, in words that work as they are; without a state, how to have one. */
static void
test_go_on (void)
{
  g_autoptr (CliRun) made = cli_ok ("project --phantom discs --shape 64x64x32 -o on.h5");
  static const char *const outputs[] = {"", " -o 'on kept.h5'"};
  for (int i = 0; i < 2; i++) {
    g_autofree char *command =
        g_strdup_printf ("reconstruct on.h5 --iterations 30 --stop-threshold 0 --checkpoint%s", outputs[i]);
    g_autoptr (CliRun) kept = cli_run_interrupted (command, "iteration 2 ", 1);
    cli_assert_status (kept, 130);
    g_autofree char *next = go_on_command (kept->out);
    g_autoptr (CliRun) on = cli_ok ("%s", next);
    cli_assert_says (on->out, "resumed after iteration");
    cli_assert_says (on->out, "iteration 30 of 30");
  }
  g_autoptr (CliRun) plain =
      cli_run_interrupted ("reconstruct on.h5 --iterations 1000 --stop-threshold 0 -o plain.h5", "iteration 2 ", 1);
  cli_assert_status (plain, 130);
  cli_assert_says (plain->out, "use --checkpoint next time");
  g_assert_null (strstr (plain->out, "--resume"));
  /* Cancelled: the state of the last whole iteration is there, and announced. */
  g_autoptr (CliRun) large = cli_ok ("project --phantom discs --shape 160x160x64 --views 120 -o on-large.h5");
  g_autoptr (CliRun) gone = cli_run_interrupted ("reconstruct on-large.h5 --iterations 4 --stop-threshold 0 "
                                                 "--checkpoint=on.ckpt -o on-large-out.h5",
                                                 "iteration 2 ", 2);
  cli_assert_status (gone, 130);
  cli_assert_says (gone->err, "cancelled");
  cli_assert_says (gone->out, "kept in on.ckpt");
  g_autofree char *next = go_on_command (gone->out);
  g_autoptr (CliRun) on = cli_ok ("%s", next);
  cli_assert_says (on->out, "resumed after iteration ");
}

/* Members of the provenance of a result; the parser holds them. */
static JsonObject *
provenance (const char *name, JsonParser *parser)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CliRun) info = cli_ok ("info %s --json", name);
  json_parser_load_from_data (parser, info->out, -1, &error);
  g_assert_no_error (error);
  return json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "provenance");
}

static int64_t
slice_at (JsonObject *o, guint i)
{
  return json_array_get_int_element (json_object_get_array_member (o, "slices"), i);
}

/* A result says what it came from and how it was made; only what had a part. */
static void
test_provenance (void)
{
  make_scans ();
  g_autoptr (CliRun) made = cli_ok ("reconstruct parallel.h5 --slices 2:6 --bin 2 --tilt 0.5 --center auto --weights "
                                    "emission --iterations 1 -o 'from parallel.h5'"),
                     text = cli_ok ("info 'from parallel.h5'"),
                     copied = cli_ok ("convert 'from parallel.h5' copied.h5"),
                     exported = cli_ok ("convert 'from parallel.h5' exported.h5 --layout slice-column-row"),
                     cone = cli_ok ("reconstruct cone.h5 --method fdk --center 11.25 --slices 1:4 -o from-cone.h5");
  static const char *const files[] = {"'from parallel.h5'", "copied.h5", "exported.h5"};
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (JsonParser) parser = json_parser_new ();
    JsonObject *o = provenance (files[i], parser);
    g_assert_cmpstr (json_object_get_string_member (o, "scan"), ==, "parallel.h5");
    g_assert_cmpint (json_object_get_int_member (o, "scan_bytes"), >, 1000);
    g_assert_cmpint (json_object_get_int_member (o, "scan_modified_ns"), >, 0);
    g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "center_channel"), 11.5, 0.5);
    g_assert_true (g_str_has_prefix (json_object_get_string_member (o, "center_from"), "search: "));
    g_assert_cmpfloat (json_object_get_double_member (o, "center_confidence"), >=, 0);
    g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "tilt_degrees"), 0.5, 1e-9);
    g_assert_cmpint (slice_at (o, 0), ==, 2);
    g_assert_cmpint (slice_at (o, 1), ==, 6);
    g_assert_cmpint (json_object_get_int_member (o, "slices_of"), ==, 7);
    g_assert_cmpint (json_object_get_int_member (o, "bin"), ==, 2);
    g_assert_cmpstr (json_object_get_string_member (o, "weights"), ==, "emission");
    g_assert_true (json_object_get_null_member (o, "transmission"));
    g_assert_cmpstr (json_object_get_string_member (o, "method"), ==, "vcd");
    g_assert_true (g_str_has_prefix (json_object_get_string_member (o, "program"), "Lamina "));
    g_assert_cmpuint (strlen (json_object_get_string_member (o, "date")), >, 10);
    cli_assert_says (json_object_get_string_member (o, "command"),
                     "lamina reconstruct parallel.h5 --slices 2:6 --bin 2");
    cli_assert_says (json_object_get_string_member (o, "command"), "-o 'from parallel.h5'");
  }
  cli_assert_says (text->out, "scan: parallel.h5");
  cli_assert_says (text->out, "from search: ");
  cli_assert_says (text->out, "slices: 2:6 of 7 (counted from 0), bin 2, detector tilt 0.5 degrees");
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *o = provenance ("from-cone.h5", parser);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "center_channel"), 11.25, 1e-9);
  g_assert_cmpstr (json_object_get_string_member (o, "center_from"), ==, "--center");
  g_assert_true (json_object_get_null_member (o, "center_confidence"));
  g_assert_true (json_object_get_null_member (o, "weights"));
  g_assert_cmpint (slice_at (o, 0), ==, 1);
  g_assert_cmpint (slice_at (o, 1), ==, 4);
  g_assert_cmpstr (json_object_get_string_member (o, "method"), ==, "fdk");
  o = json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "parameters");
  g_assert_false (json_object_has_member (o, "positivity"));
  g_assert_false (json_object_has_member (o, "iterations"));
  g_assert_null (
      strstr (json_object_get_string_member (json_node_get_object (json_parser_get_root (parser)), "model_params"),
              "positivity"));
}

/* Where the axis is assumed to be is told as assumed, with the option; where the file says it, as found. */
static void
test_info_center (void)
{
  make_scans ();
  g_autofree float *y = g_new0 (float, 10 * 8 * 20), *flats = g_new0 (float, 8 * 20);
  for (int i = 0; i < 8 * 20; i++)
    flats[i] = 100;
  for (int i = 0; i < 10 * 8 * 20; i++)
    y[i] = i % 20 > 5 && i % 20 < 15 ? 50 : 100;
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 10, 8, 20);
  lam_geometry_set_angles (g, 0, G_PI);
  write_scan ("counts.h5", g, y, flats);
  g->channel_offset = 1.25;
  write_scan ("counts-offset.h5", g, y, flats);
  g_autoptr (CliRun) assumed = cli_ok ("info counts.h5"), found = cli_ok ("info counts-offset.h5"),
                     given = cli_ok ("info counts.h5 --channel-offset 2"), line = cli_ok ("info parallel.h5");
  cli_assert_says (assumed->out, "channel 9.5, assumed\n");
  cli_assert_says (assumed->out, "middle of the detector; reconstruct searches for it unless --center CHANNEL");
  cli_assert_says (assumed->out, "[--center CHANNEL]");
  cli_assert_says (found->out, "channel 10.75\n");
  cli_assert_says (found->out, "found    centre of rotation (COR), from the file: channel 10.75");
  cli_assert_says (given->out, "found    centre of rotation (COR), as given (--channel-offset): channel 11.5");
  cli_assert_says (line->out, "found    centre of rotation (COR), from the file");
  /* Lengths in px of which a detector pixel is not one. */
  g_autoptr (CliRun) magnified = cli_ok ("info cone.h5");
  cli_assert_says (magnified->out, "px is the unit of the file's own lengths");
  cli_assert_says (magnified->out, "a detector pixel is: 2 x 2 px");
}

/* K1: stop and keep gives the volume of so many iterations; twice gives nothing. */
static void
test_stop (void)
{
  g_autoptr (CliRun) made = cli_ok ("project --phantom discs --shape 64x64x32 -o k1.h5");
  g_autoptr (CliRun) kept = cli_run_interrupted ("reconstruct k1.h5 --iterations 100000 --stop-threshold 0 -o kept.h5 "
                                                 "--json",
                                                 "\"event\":\"iteration\"", 1);
  cli_assert_status (kept, 130);
  g_autoptr (GPtrArray) lines = cli_json_lines (kept->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_true (json_object_get_boolean_member (o, "stopped"));
  int n = (int) json_object_get_int_member (o, "iterations");
  g_autoptr (CliRun) same = cli_ok ("reconstruct k1.h5 --iterations %d --stop-threshold 0 -o same.h5", n);
  g_autofree char *a = cli_checksum ("kept.h5"), *b = cli_checksum ("same.h5"), *none = cli_path ("none.h5");
  g_assert_cmpstr (a, ==, b);
  /* Large enough that the second signal falls into the iteration that the first lets end. */
  g_autoptr (CliRun) large = cli_ok ("project --phantom discs --shape 160x160x64 --views 120 -o large.h5");
  g_autoptr (CliRun) gone =
      cli_run_interrupted ("reconstruct large.h5 --iterations 1000 --stop-threshold 0 -o none.h5", "iteration 1 ", 2);
  cli_assert_status (gone, 130);
  g_assert_false (g_file_test (none, G_FILE_TEST_EXISTS));
  cli_assert_says (gone->err, "cancelled");
}

/* What `reconstruct' refuses `info' says beforehand, in the same words and with status 0; of a good scan it says nothing. */
static void
test_info_problems (void)
{
  static const struct {
    const char *scan, *word;
    gboolean geometry; /* no volume is shown then */
  } cases[] = {
      {"dark.h5", "none of the 160 pixels of the mean flat", FALSE},
      {"nan.h5", "1 sample is not finite", FALSE},
      {"empty.h5", "is the sinogram empty?", FALSE},
      {"parallel.h5 --channel-offset 1e9", "no voxel is seen", TRUE},
      {"large-volume.h5", "the plan needs", FALSE},
      {"no-slices.h5", "recon_slices = 3: must equal rows = 8", TRUE},
      {"parallel.h5 --geometry cone", "without its distances", TRUE},
  };
  g_autofree float *y = g_new0 (float, 10 * 8 * 20), *flats = g_new0 (float, 8 * 20);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 10, 8, 20);
  lam_geometry_set_angles (g, 0, G_PI);
  make_scans ();
  write_scan ("empty.h5", g, NULL, NULL);
  write_scan ("dark.h5", g, NULL, flats);
  for (int i = 0; i < 10 * 8 * 20; i++)
    y[i] = i % 20 > 5 && i % 20 < 15;
  y[17] = NAN;
  write_scan ("nan.h5", g, y, NULL);
  y[17] = 0;
  write_scan ("good.h5", g, y, NULL);
  g->voxel_pitch = 1;
  g->recon_rows = g->recon_columns = 20;
  g->recon_slices = 3;
  write_scan ("no-slices.h5", g, y, NULL);
  g->recon_rows = g->recon_columns = 40000;
  g->recon_slices = 8;
  g->voxel_pitch = 1e-3;
  write_scan ("large-volume.h5", g, y, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].scan);
    g_autoptr (CliRun) text = cli_ok ("info %s", cases[i].scan), json = cli_ok ("info --json %s", cases[i].scan),
                       refused = cli_run ("reconstruct %s -o refused.h5", cases[i].scan);
    cli_assert_status (refused, 1);
    cli_assert_says (refused->err, cases[i].word);
    cli_assert_says (text->out, "cannot be reconstructed: ");
    cli_assert_says (strstr (text->out, "cannot be reconstructed: "), cases[i].word);
    g_assert_true (!cases[i].geometry || !strstr (text->out, "volume: "));
    g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
    JsonArray *problems = json_object_get_array_member (cli_json_last (lines), "problems");
    g_assert_cmpuint (json_array_get_length (problems), ==, 1);
    cli_assert_says (json_array_get_string_element (problems, 0), cases[i].word);
  }
  g_autoptr (CliRun) text = cli_ok ("info good.h5"), json = cli_ok ("info good.h5 --json"),
                     run = cli_ok ("reconstruct good.h5 -o good-out.h5");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  g_assert_null (strstr (text->out, "cannot be reconstructed"));
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (cli_json_last (lines), "problems")), ==, 0);
  g_assert_true (json_object_get_boolean_member (cli_json_last (lines), "samples_checked"));
}

/* Every command ends in order by any of the three signals, from its first moment on; a run that is kept is kept. */
static void
test_signals (void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  static const char *const commands[] = {
      "reconstruct early.h5 --iterations 1000 --stop-threshold 0 -o early-out.h5",
      "project --phantom tooth --shape 160x160x64 --views 100 -o early-out.h5",
      "plan --shape 300x300x300 --views 300 --devices 2xcpu",
      "devices --devices 3xcpu",
      "bench parallel-forward 96 --repeats 20",
  };
  g_autoptr (CliRun) made = cli_ok ("project --phantom discs --shape 128x128x48 -o early.h5");
  g_autofree char *result = cli_path ("early-out.h5"), *kept_path = cli_path ("early-kept.h5");
  for (gsize n = 0; n < G_N_ELEMENTS (numbers); n++) {
    for (gsize c = 0; c < G_N_ELEMENTS (commands); c++) {
      g_test_message ("signal %d: %s", numbers[n], commands[c]);
      g_autoptr (CliRun) run = cli_run_signalled_early (commands[c], numbers[n]);
      for (int again = 0; run->status == 0 && again < 5; again++) { /* it was done before the signal came */
        g_clear_pointer (&run, cli_run_free);
        run = cli_run_signalled_early (commands[c], numbers[n]);
      }
      cli_assert_status (run, 130);
      cli_assert_says (run->err, "cancelled");
      g_assert_false (g_file_test (result, G_FILE_TEST_EXISTS));
    }
    g_autoptr (CliRun) kept =
        cli_run_signalled ("reconstruct early.h5 --iterations 100000 --stop-threshold 0 -o early-kept.h5 --json",
                           "\"event\":\"iteration\"", numbers[n], 1);
    cli_assert_status (kept, 130);
    g_autoptr (GPtrArray) lines = cli_json_lines (kept->out);
    g_assert_true (json_object_get_boolean_member (cli_json_last (lines), "stopped"));
    g_assert_true (g_file_test (kept_path, G_FILE_TEST_EXISTS));
    g_unlink (kept_path);
  }
}

static void
test_convert (void)
{
  g_autoptr (CliRun) made = cli_ok ("phantom cube --shape 9x8x7 --voxel 0.25 -o cube.h5"),
                     stack = cli_ok ("convert cube.h5 cube"), back = cli_ok ("convert cube cube-back.h5"),
                     foreign = cli_ok ("convert cube.h5 cube-export.h5 --layout slice-column-row"),
                     again = cli_ok ("convert cube-export.h5 cube-again.h5"), info = cli_ok ("info cube-export.h5");
  g_autofree char *a = cli_checksum ("cube.h5"), *b = cli_checksum ("cube-back.h5"),
                  *c = cli_checksum ("cube-export.h5"), *d = cli_checksum ("cube-again.h5");
  g_assert_cmpstr (a, ==, b);
  g_assert_cmpstr (a, ==, c);
  g_assert_cmpstr (a, ==, d);
  cli_assert_says (info->out, "slice, column, row");
  /* Images keep what the numbers mean; they are numbered as slices are. */
  g_autofree char *first = g_build_filename (cli_folder (), "cube", "slice_0000.tif", NULL);
  g_autoptr (CliRun) there = cli_ok ("info cube-back.h5"), other = cli_ok ("convert cube cube-other.h5 --voxel 0.5"),
                     changed = cli_ok ("info cube-other.h5"), images = cli_ok ("info cube");
  g_assert_true (g_file_test (first, G_FILE_TEST_EXISTS));
  cli_assert_says (there->out, "in 1/mm");
  cli_assert_says (there->out, "voxel: 0.25 x 0.25 x 0.25 mm");
  cli_assert_says (changed->out, "voxel: 0.5 x 0.5 x 0.5 mm");
  cli_assert_says (images->out, "voxel: 0.25 x 0.25 x 0.25 mm");
  g_autoptr (CliRun) sized = cli_ok ("convert cube.h5 cube-sized.h5 --voxel 0.5"), its = cli_ok ("info cube-sized.h5");
  cli_assert_says (its->out, "voxel: 0.5 x 0.5 x 0.5 mm"); /* what is given goes before what the file says */
  g_assert_null (strstr (stack->err, "lamina: "));
  /* A smaller stack over a larger one is no stack of either. */
  g_autoptr (CliRun) small = cli_ok ("phantom cube --shape 9x8x5 -o cube-small.h5"),
                     over = cli_ok ("convert cube-small.h5 cube");
  cli_assert_says (over->err, "5 images were written, but the folder holds 7");
  make_scans ();
  g_autoptr (CliRun) scan = cli_ok ("convert parallel.h5 parallel-copy.h5"),
                     x = cli_ok ("reconstruct parallel.h5 --method fbp -o x.h5"),
                     y = cli_ok ("reconstruct parallel-copy.h5 --method fbp -o y.h5");
  g_autofree char *sx = cli_checksum ("x.h5"), *sy = cli_checksum ("y.h5");
  g_assert_cmpstr (sx, ==, sy);
}

static void
assert_png (const char *name, guint width, guint height)
{
  g_autofree char *path = cli_path (name), *data = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  g_assert_cmpuint (n, >, 33);
  g_assert_cmpmem (data, 8, "\x89PNG\r\n\x1a\n", 8);
  const guchar *b = (const guchar *) data + 16;
  g_assert_cmpuint (b[2] << 8 | b[3], ==, width);
  g_assert_cmpuint (b[6] << 8 | b[7], ==, height);
}

/* `./run FILE' with no display: named after the scan, and no result is ever replaced by another. */
static void
test_run_headless (void)
{
  static const char script[] =
      "set -euo pipefail; say() { printf '%s\\n' \"$*\" >&2; }; eval \"$(sed -n '/^headless() {/,/^}/p' \"$1\")\"; "
      "build=$2/tree; mkdir -p \"$build/app\" \"$2/other\"; ln -sf \"$LAMINA_BIN\" \"$build/app/lamina\"; "
      "cp \"$2/parallel.h5\" \"$2/other/parallel.h5\"; "
      "headless \"$2/parallel.h5\"; headless \"$2/cone.h5\"; headless \"$2/other/parallel.h5\"";
  g_autofree char *run = g_test_build_filename (G_TEST_DIST, "..", "run", NULL), *err = NULL;
  const char *argv[] = {"bash", "-c", script, "bash", run, cli_folder (), NULL};
  g_autoptr (GError) error = NULL;
  int wait = 0;
  make_scans ();
  g_spawn_sync (cli_folder (), (char **) argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                &err, &wait, &error);
  g_assert_no_error (error);
  if (wait != 0)
    g_error ("%s", err);
  static const char *const made[] = {"parallel-recon.h5", "parallel-recon-slice.png", "cone-recon.h5",
                                     "parallel-recon-2.h5", "parallel-recon-2-row.png"};
  for (gsize i = 0; i < G_N_ELEMENTS (made); i++) {
    g_autofree char *path = g_build_filename (cli_folder (), "tree", "results", made[i], NULL);
    g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
  }
  cli_assert_says (err, "parallel-recon.h5 is there already and stays; this result is parallel-recon-2.h5");
}

static void
test_render (void)
{
  make_scans ();
  g_autoptr (CliRun) made = cli_ok ("phantom tooth --shape 20x30x10 -o draw.h5"),
                     slice = cli_ok ("render draw.h5 -o slice.png --zoom 2"),
                     row = cli_ok ("render draw.h5 --plane row --index 3 --level -0.1:0.5 -o row.png"),
                     column = cli_ok ("render draw.h5 --plane column -o column.png"),
                     view = cli_ok ("render cone.h5 --view 19 -o view.png"),
                     sinogram = cli_ok ("render cone.h5 --sinogram 6 -o sinogram.png");
  assert_png ("slice.png", 60, 40);
  assert_png ("row.png", 30, 10);
  assert_png ("column.png", 20, 10);
  assert_png ("view.png", 24, 7);
  assert_png ("sinogram.png", 24, 20);
  cli_assert_says (row->out, "black -0.1, white 0.5");
  /* A folder of images is the same volume. */
  static const char *const planes[][2] = {{"slice.png", "--zoom 2"},
                                          {"row.png", "--plane row --index 3 --level -0.1:0.5"},
                                          {"column.png", "--plane column"}};
  g_autoptr (CliRun) stack = cli_ok ("convert draw.h5 draw-stack");
  for (gsize i = 0; i < G_N_ELEMENTS (planes); i++) {
    g_autoptr (CliRun) drawn = cli_ok ("render draw-stack -o from-stack.png %s", planes[i][1]);
    g_autofree char *a = cli_path (planes[i][0]), *b = cli_path ("from-stack.png"), *x = NULL, *y = NULL;
    gsize nx, ny;
    g_assert_true (g_file_get_contents (a, &x, &nx, NULL) && g_file_get_contents (b, &y, &ny, NULL));
    g_assert_cmpmem (x, nx, y, ny);
  }
}

/* Views that repeat are told where they do harm. */
static void
test_repeated_views (void)
{
  make_scans ();
  static const char word[] = "half a turn: FBP counts the directions that come again double";
  g_autoptr (CliRun) fbp = cli_ok ("reconstruct parallel.h5 --angles 0:190 --method fbp -o repeated.h5"),
                     vcd = cli_ok ("reconstruct parallel.h5 --angles 0:190 --iterations 1 -o repeated.h5"),
                     even = cli_ok ("reconstruct parallel.h5 --angles 0:180 --method fbp -o repeated.h5"),
                     info = cli_ok ("info parallel.h5 --angles 0:190");
  cli_assert_says (fbp->out, word);
  g_assert_null (strstr (vcd->out, word));
  g_assert_null (strstr (even->out, word));
  g_assert_true (strstr (info->out, word) != NULL || strstr (info->err, word) != NULL);
}

/* Without --level: from the 0.5 to the 99.5 percentile of what is finite. */
static void
test_render_level (void)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 2, 20, 20);
  lam_geometry_set_angles (g, 0, G_PI);
  g_autofree float *y = g_new0 (float, 2 * 400);
  for (int i = 0; i < 400; i++)
    y[i] = (float) (i * 147 % 400); /* 0 to 399, each once */
  write_scan ("levels.h5", g, y, NULL);
  g_autoptr (CliRun) run = cli_ok ("render levels.h5 --view 0 -o levels.png --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "low"), 0.005 * 399, 1e-4);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "high"), 0.995 * 399, 1e-4);
}

static void
test_plan (void)
{
  g_autoptr (CliRun) large = cli_run ("plan --shape 4096x4096x4096 --json"),
                     huge = cli_run ("plan --shape 2097152x2097152x2097152 --json"),
                     words = cli_run ("plan --shape 2097152x2097152x2097152"),
                     beyond = cli_run ("plan --shape 46000x46000x100000000 --views 10");
  cli_assert_status (huge, 3); /* it does not fit, and a script sees that */
  cli_assert_status (words, 3);
  cli_assert_status (beyond, 3);
  cli_assert_says (beyond->out, "neither fewer slices nor binning");
  g_assert_null (strstr (beyond->out, " 0 %"));
  g_autoptr (GPtrArray) a = cli_json_lines (large->out), b = cli_json_lines (huge->out);
  g_assert_cmpint (json_object_get_int_member (cli_json_last (a), "volume_bytes"), ==, 274877906944);
  g_assert_true (json_object_get_boolean_member (cli_json_last (b), "too_large"));
  g_assert_true (json_object_get_null_member (cli_json_last (b), "volume_bytes"));
  cli_assert_says (words->out, "too large");
  /* Forecast and run agree. */
  make_scans ();
  g_autoptr (CliRun) plan = cli_ok ("plan cone.h5 --devices 3xcpu --json"),
                     run = cli_ok ("reconstruct cone.h5 --devices 3xcpu --iterations 2 -o planned.h5 --json");
  g_autoptr (GPtrArray) c = cli_json_lines (plan->out), d = cli_json_lines (run->out);
  JsonArray *devices = json_object_get_array_member (cli_json_last (d), "devices");
  JsonArray *planned = json_object_get_array_member (cli_json_last (c), "devices");
  g_assert_cmpuint (json_array_get_length (planned), ==, 4); /* the host first */
  /* One forecast, before, at the start and at the end; and it is kept to. */
  static const char *const runs[] = {"cone.h5 --devices 3xcpu",
                                     "cone.h5 --method fdk",
                                     "parallel.h5 --method fbp",
                                     "parallel.h5 --weights transmission",
                                     "parallel.h5 --bin 2 --devices 2xcpu",
                                     "cone.h5 --init zero",
                                     "parallel.h5 --init planned.h5 --iterations 1",
                                     "parallel.h5 --checkpoint --iterations 2",
                                     "cone.h5 --checkpoint=planned.ckpt",
                                     "cone.h5 --center 11 --mask none"};
  for (gsize i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_test_message ("%s", runs[i]);
    g_autoptr (CliRun) before = cli_ok ("plan %s --json", runs[i]),
                       whole = cli_ok ("reconstruct %s -o planned.h5 --json", runs[i]);
    g_autoptr (GPtrArray) said = cli_json_lines (before->out), went = cli_json_lines (whole->out);
    int64_t total = json_object_get_int_member (cli_json_last (said), "total_bytes");
    int64_t end = json_object_get_int_member (cli_json_last (went), "plan_bytes");
    g_autofree char *start = g_strdup_printf ("\"total_bytes\":%" G_GINT64_FORMAT, total);
    cli_assert_says (whole->out, start);
    g_assert_cmpint (end, ==, total);
    g_assert_cmpint (json_object_get_int_member (cli_json_last (went), "peak_bytes"), <=, end);
  }
  for (guint i = 0; i < 3; i++) {
    double measured = (double) json_object_get_int_member (json_array_get_object_element (devices, i), "bytes");
    double peak = (double) json_object_get_int_member (json_array_get_object_element (planned, i + 1), "peak_bytes");
    g_assert_cmpfloat (fabs (measured - peak), <=, 0.02 * peak);
  }
}

static void
test_devices (void)
{
  g_autoptr (CliRun) run = cli_ok ("devices --devices 3xcpu --json"), text = cli_ok ("devices");
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_true (json_object_get_boolean_member (o, "self_test_passed"));
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (o, "devices")), ==, 3);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (o, "self_test")), ==, 6);
  cli_assert_says (text->out, "GPU: none (this version has no GPU module");
  g_assert_null (strstr (text->out, "\"cuda\""));
}

static void
test_bench (void)
{
  static const char *const tasks[] = {"parallel-forward", "parallel-back", "parallel-fbp", "cone-forward", "cone-back",
                                      "cone-fdk",         "parallel-vcd",  "cone-vcd",     "slice-latency"};
  static const char *const keys[] = {"task",         "size",    "peer",         "version",           "threads",
                                     "median_s",     "min_s",   "views",        "devices",           "detail",
                                     "first_call_s", "times_s", "load_average", "voxel_views_per_s", "peak_rss_mb"};
  for (gsize i = 0; i < G_N_ELEMENTS (tasks); i++) {
    g_autoptr (CliRun) run = cli_ok ("bench %s 16 --repeats 2 --iterations 2 --devices 2", tasks[i]);
    g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
    JsonObject *o = cli_json_last (lines);
    g_assert_cmpuint (lines->len, ==, 1);
    for (gsize k = 0; k < G_N_ELEMENTS (keys); k++)
      g_assert_true (json_object_has_member (o, keys[k]));
    g_assert_cmpstr (json_object_get_string_member (o, "task"), ==, tasks[i]);
    g_assert_cmpint (json_object_get_int_member (o, "devices"), ==, 2);
    g_assert_cmpfloat (json_object_get_double_member (o, "voxel_views_per_s"), >, 0);
    if (g_str_has_suffix (tasks[i], "vcd")) {
      g_assert_cmpuint (json_array_get_length (json_object_get_array_member (o, "iteration_times_s")), ==, 2);
      g_assert_cmpfloat (json_object_get_double_member (o, "nrmse_to_phantom"), <, 1);
    }
    if (g_str_equal (tasks[i], "slice-latency"))
      g_assert_true (json_object_get_boolean_member (o, "equals_fbp"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_getenv ("LAMINA_BIN"))
    g_error ("LAMINA_BIN names the program to test");
  cli_init ();
  g_test_add_func ("/cli/help", test_help);
  g_test_add_func ("/cli/phantom", test_phantom);
  g_test_add_func ("/cli/project", test_project);
  g_test_add_func ("/cli/devices-agree", test_devices_agree);
  g_test_add_func ("/cli/json", test_json);
  g_test_add_func ("/cli/tilt-memory", test_tilt_memory);
  g_test_add_func ("/cli/tooth", test_tooth);
  g_test_add_func ("/cli/slices", test_slices);
  g_test_add_func ("/cli/resume", test_resume);
  g_test_add_func ("/cli/other-state", test_other_state);
  g_test_add_func ("/cli/go-on", test_go_on);
  g_test_add_func ("/cli/provenance", test_provenance);
  g_test_add_func ("/cli/info-center", test_info_center);
  g_test_add_func ("/cli/stop", test_stop);
  g_test_add_func ("/cli/info-problems", test_info_problems);
  g_test_add_func ("/cli/signals", test_signals);
  g_test_add_func ("/cli/convert", test_convert);
  g_test_add_func ("/cli/run-headless", test_run_headless);
  g_test_add_func ("/cli/render", test_render);
  g_test_add_func ("/cli/render-level", test_render_level);
  g_test_add_func ("/cli/repeated-views", test_repeated_views);
  g_test_add_func ("/cli/plan", test_plan);
  g_test_add_func ("/cli/devices", test_devices);
  g_test_add_func ("/cli/bench", test_bench);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
