/* test-match-cli.c: `lamina dictionary` and `lamina match` as they are typed: the phantom's tissues come back as NIfTI and HDF5 maps,
 * the same bits for any devices and threads, and what is wrong is said in words. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli-util.h"
#include "core/error.h"
#include "io/mr-series.h"
#include "io/volume.h"
#include "mr/model.h"

#define SIDE 24
#define PULSES 90

typedef struct {
  double t1, t2, m0, phase;
} Tissue;

static const Tissue tissues[] = {{0}, {1410, 61, 0.8, 0.3}, {850, 45, 0.7, -1.2}, {2400, 190, 1.3, 2.9}};

static int
tissue_at (int v)
{
  double x = 2.0 * (v % SIDE) / (SIDE - 1) - 1, y = 2.0 * (v / SIDE) / (SIDE - 1) - 1;
  if (hypot ((x - .3) / .3, (y + .2) / .25) < 1)
    return 3;
  return hypot ((x + .2) / .5, (y - .1) / .4) < 1 ? 2 : hypot (x / .9, y / .8) < 1 ? 1 : 0;
}

/* phantom.nii.gz: ellipses of tissues by the protocol of the command line below, one voxel of them NaN. */
static void
write_phantom (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamModel) m = lam_model_new (lam_template_find ("MRF"));
  g_autoptr (LamTissues) t = lam_tissues_new (3);
  g_autoptr (LamDevices) set = lam_devices_new ("1xcpu", &error);
  double flip[PULSES], tr = 11, t1[3], t2[3];
  const int64_t dims[3] = {SIDE, SIDE, 1};
  const double size[3] = {2, 3, 5};
  LamSignal s = {0};
  for (int i = 0; i < PULSES; i++)
    flip[i] = i < 60 ? 5 + 50.0 * i / 59 : 60 - 55.0 * (i - 60) / 29;
  for (int i = 0; i < 3; i++) {
    t1[i] = tissues[i + 1].t1;
    t2[i] = tissues[i + 1].t2;
  }
  lam_model_set (m, "flip", flip, PULSES, &error);
  lam_model_set (m, "TR", &tr, 1, &error);
  lam_tissues_set (t, "T1", t1, 3, &error);
  lam_tissues_set (t, "T2", t2, 3, &error);
  lam_model_simulate (m, t, NULL, set, NULL, &s, &error);
  g_assert_no_error (error);
  g_autofree float *re = g_new0 (float, SIDE *SIDE *PULSES), *im = g_new0 (float, SIDE *SIDE *PULSES);
  for (int v = 0; v < SIDE * SIDE; v++) {
    int which = tissue_at (v);
    double c = tissues[which].m0 * cos (tissues[which].phase), e = tissues[which].m0 * sin (tissues[which].phase);
    for (int k = 0; which && k < PULSES; k++) {
      double x = s.re ? s.re[(which - 1) * PULSES + k] : 0, y = s.im ? s.im[(which - 1) * PULSES + k] : 0;
      re[v * PULSES + k] = (float) (x * c - y * e);
      im[v * PULSES + k] = (float) (x * e + y * c);
    }
  }
  re[(SIDE * SIDE / 2 + SIDE / 2) * PULSES + 5] = NAN;
  lam_signal_clear (&s);
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, PULSES);
  g_autofree char *path = cli_path ("phantom.nii.gz");
  lam_nifti_write (path, like, re, im, PULSES, "phantom", NULL, &error);
  g_assert_no_error (error);
}

#define DICTIONARY                                                                                                     \
  "dictionary MRF --set flip=5:55:60,60:5:30 --set TR=11 --range T1=250:2800:40 --range T2=20:220:30 --log "

static float *
read_map (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = cli_path (name);
  g_autoptr (LamNifti) n = lam_nifti_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (n->voxels, ==, SIDE * SIDE);
  g_assert_cmpfloat (n->voxel_size[1], ==, 3);
  float *x = g_new (float, n->voxels);
  g_assert_true (lam_nifti_read (n, x, NULL, NULL, &error));
  return x;
}

static int64_t
number (const CliRun *run, const char *name)
{
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  return json_object_get_int_member (cli_json_last (lines), name);
}

static void
test_recover (void)
{
  static const char *const folders[] = {"maps", "maps5"};
  g_autoptr (CliRun) made = cli_ok (DICTIONARY "--rank 6 -o dict.h5 --json"), info = cli_ok ("info dict.h5 --json");
  g_assert_cmpint (number (made, "contrasts"), ==, PULSES);
  g_assert_cmpint (number (info, "atoms"), ==, number (made, "atoms"));
  g_assert_cmpint (number (info, "rank"), ==, 6);
  cli_assert_says (info->out, "\"template\":\"MRF\"");
  for (int f = 0; f < 2; f++) {
    g_autoptr (CliRun) run =
        cli_ok ("match dict.h5 phantom.nii.gz -o %s %s --json", folders[f], f ? "--rank 6 --top 2" : "");
    g_assert_cmpint (number (run, "voxels"), ==, SIDE * SIDE);
    g_assert_cmpint (number (run, "not_finite"), ==, 1);
    g_assert_cmpint (number (run, "matched") + number (run, "zero"), ==, SIDE * SIDE - 1);
    float *map[5];
    static const char *const names[] = {"T1", "T2", "M0", "phase", "mask"};
    for (int i = 0; i < 5; i++) {
      g_autofree char *name = g_strdup_printf ("%s/%s.nii.gz", folders[f], names[i]);
      map[i] = read_map (name);
    }
    for (int v = 0; v < SIDE * SIDE; v++) {
      const Tissue *t = &tissues[tissue_at (v)];
      gboolean lost = t->t1 == 0 || v == SIDE * SIDE / 2 + SIDE / 2;
      g_assert_cmpfloat (map[4][v], ==, lost ? 0 : 1);
      g_assert_true (isnan (map[0][v]) == lost);
      if (lost)
        continue;
      g_assert_cmpfloat (fabs (log (map[0][v] / t->t1)), <=, 1.01 * log (2800.0 / 250) / 39);
      g_assert_cmpfloat (fabs (log (map[1][v] / t->t2)), <=, 1.01 * log (220.0 / 20) / 29);
      g_assert_cmpfloat (fabs (map[2][v] / t->m0 - 1), <, 0.05);
      g_assert_cmpfloat (fabs (map[3][v] - t->phase), <, 1e-3);
    }
    for (int i = 0; i < 5; i++)
      g_free (map[i]);
  }
  g_autofree float *second = read_map ("maps5/T1_2.nii.gz");
  g_assert_cmpfloat (second[SIDE * SIDE / 2 + SIDE / 2 + 1], >, 0);
}

/* One file, and the same bits for any devices and threads. */
static void
test_bits (void)
{
  static const char *const ways[][3] = {{"LAMINA_THREADS=1", "1xcpu", "577"},
                                        {"LAMINA_THREADS=5", "3xcpu", "7"},
                                        {"LAMINA_THREADS=2", "8xcpu", "1"},
                                        {"LAMINA_THREADS=3", "2xcpu", "576"},
                                        {NULL, "5xcpu", "100"}}; /* with a comma in numbers */
  static const char *const names[] = {"T1", "T2", "M0", "phase", "score", "residual", "mask"};
  g_autofree char *first[G_N_ELEMENTS (names)] = {0};
  g_auto (GStrv) comma = cli_comma_locale ();
  for (guint w = 0; w < G_N_ELEMENTS (ways); w++) {
    const char *own[] = {ways[w][0], NULL};
    const char *const *env = ways[w][0] ? own : (const char *const *) comma;
    if (!env)
      continue;
    g_autofree char *make = g_strdup_printf (DICTIONARY "-o bits.h5 --devices %s --chunk %s", ways[w][1], ways[w][2]);
    g_autofree char *use = g_strdup_printf ("match bits.h5 phantom.nii.gz -o bits-maps.h5 --devices %s --chunk %s",
                                            ways[w][1], ways[w][2]);
    g_autoptr (CliRun) made = cli_run_env (env, make), run = cli_run_env (env, use);
    cli_assert_status (made, 0);
    cli_assert_status (run, 0);
    for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = cli_path ("bits-maps.h5"), *dataset = g_strconcat ("/maps/", names[i], NULL);
      g_autoptr (LamVolume) v = lam_volume_open (path, dataset, LAM_LAYOUT_FROM_FILE, &error);
      g_assert_no_error (error);
      char *sum = lam_volume_file_checksum (v, NULL, &error);
      g_assert_cmpstr (sum, ==, v->checksum);
      if (w == 0)
        first[i] = sum;
      else {
        g_assert_cmpstr (sum, ==, first[i]);
        g_free (sum);
      }
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_clear_pointer (&first[i], g_free);
}

static void
test_mask (void)
{
  g_autoptr (GError) error = NULL;
  const int64_t dims[3] = {SIDE, SIDE, 1}, small[3] = {SIDE, 2, 1};
  const double size[3] = {2, 3, 5};
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, 1), other = lam_nifti_new (small, size, 1);
  g_autofree float *inside = g_new0 (float, SIDE *SIDE);
  for (int v = 0; v < SIDE * SIDE; v++)
    inside[v] = tissue_at (v) == 2;
  g_autofree char *path = cli_path ("mask.nii"), *wrong = cli_path ("wrong-mask.nii");
  g_assert_true (lam_nifti_write (path, like, inside, NULL, 1, "mask", NULL, &error));
  g_assert_true (lam_nifti_write (wrong, other, inside, NULL, 1, "mask", NULL, &error));
  g_autoptr (CliRun) run = cli_ok ("match dict.h5 phantom.nii.gz -o masked --mask mask.nii --json");
  g_autofree float *t2 = read_map ("masked/T2.nii.gz");
  for (int v = 0; v < SIDE * SIDE; v++)
    g_assert_true (isnan (t2[v]) == (tissue_at (v) != 2 || v == SIDE * SIDE / 2 + SIDE / 2));
  g_assert_cmpint (number (run, "outside_mask"), >, 300);
  g_autoptr (CliRun) bad = cli_run ("match dict.h5 phantom.nii.gz -o masked --mask wrong-mask.nii");
  cli_assert_status (bad, 1);
  cli_assert_says (bad->err, "48 voxels");
  cli_assert_says (bad->err, "576");
}

/* Series and mask that lie in the folder of the maps, under a map's name, are not written over. */
static void
test_spared (void)
{
  g_autofree char *folder = cli_path ("own"), *series = cli_path ("phantom.nii.gz"), *t1 = cli_path ("own/T1.nii.gz"),
                  *second = cli_path ("own/T1_2.nii.gz"), *mask = cli_path ("own/mask.nii.gz"), *before = NULL;
  gsize n;
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_true (g_file_get_contents (series, &before, &n, NULL));
  g_assert_true (g_file_set_contents (t1, before, (gssize) n, NULL));
  g_assert_true (g_file_set_contents (second, before, (gssize) n, NULL));
  g_assert_cmpint (g_rename (t1, mask), ==, 0);
  g_assert_cmpint (link (mask, t1), ==, 0);
  static const char *const commands[] = {"match dict.h5 own/T1.nii.gz -o own",
                                         "match dict.h5 own/T1_2.nii.gz -o own --top 2",
                                         "match dict.h5 phantom.nii.gz --mask own/mask.nii.gz -o own"};
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autoptr (CliRun) run = cli_run ("%s", commands[i]);
    g_autofree char *after = NULL;
    gsize m;
    cli_assert_status (run, 1);
    cli_assert_says (run->err, "is the input file itself");
    g_assert_true (g_file_get_contents (i == 1 ? second : mask, &after, &m, NULL));
    g_assert_cmpmem (after, m, before, n);
  }
  g_unlink (t1);
  g_unlink (second);
  g_unlink (mask);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_forecast (void)
{
  g_autoptr (CliRun) run = cli_ok (DICTIONARY "--forecast --json");
  g_assert_cmpint (number (run, "contrasts"), ==, PULSES);
  g_assert_cmpint (number (run, "bytes"), >=, number (run, "atoms") * PULSES * 4);
  g_autoptr (CliRun) closed = cli_ok ("dictionary SPGR --range T1=300:2000:20 -o closed.h5 --json");
  g_assert_cmpint (number (closed, "atoms"), ==, 20);
}

static void
test_wrong (void)
{
  static const struct {
    const char *command;
    int status;
    const char *says[2];
  } cases[] = {
      {"dictionary MRF -o x.h5", 2, {"--range", "T1=200:3000:60"}},
      {"dictionary MRF --range T1=1000 --range T2=80", 2, {"-o DICT.h5", "needed"}},
      {"dictionary Nothing --range T1=1000 -o x.h5", 2, {"no template", "MRF"}},
      {"dictionary MRF --range T9=1000 -o x.h5", 2, {"T9", "no tissue quantity"}},
      {"dictionary MRF --range M0=1,2 --range T1=9 -o x.h5", 2, {"M0", "comes out"}},
      {"dictionary MRF --range T1=10:0:5 --log --range T2=5 -o x.h5", 2, {"--log", "above 0"}},
      {"dictionary MRF --range T1=100 --range T2=300 -o x.h5", 2, {"T2 above T1", "ranges"}},
      {"dictionary SPGR --range T1=200:3000:5 --range T2=10:300:5 -o x.h5", 2, {"no sample of SPGR", "T2star"}},
      {"dictionary MRF --tissue \"T1=100 T2=30\" -o x.h5", 2, {"--tissue", "--range"}},
      {"dictionary MRF --set flip=5:60:100000 --range T1=100:4000:1000 --range T2=1:90:1000 --forecast",
       1,
       {" atoms instead of ", "shorter ranges"}},
      {"plan MRF", 2, {"dictionary MRF ... --forecast", "plans are of scans"}},
      {"plan dict.h5", 2, {"dictionary TEMPLATE", "plans are of scans"}},
      {"dictionary MRF --range T1=900 --range T2=80 --rank 400 -o x.h5", 1, {"400", "at most 1"}},
      {"match dict.h5 phantom.nii.gz", 2, {"-o MAPS", ".h5"}},
      {"match dict.h5 phantom.nii.gz -o x.csv", 2, {"-o x.csv", "folder of NIfTI files"}},
      {"match dict.h5 phantom.nii.gz -o x.nii.gz", 2, {"-o x.nii.gz", "ends in .h5"}},
      {"match dict.h5 absent.nii -o x", 1, {"absent.nii", "No such file"}},
      {"match phantom.nii.gz phantom.nii.gz -o x", 1, {"phantom.nii.gz", "HDF5"}},
      {"match other.h5 phantom.nii.gz -o x", 1, {"90 contrasts", "has 20"}},
      {"match dict.h5 phantom.nii.gz -o x --devices 5xfoo", 2, {"5xfoo", "4xcpu"}},
      {"match dict.h5 phantom.nii.gz -o x --mask-dataset a", 2, {"--mask-dataset a", "--mask"}},
      {"match dict.h5 phantom.nii.gz -o x --dataset a", 2, {"phantom.nii.gz is a NIfTI file", "--dataset"}},
      {"match dict.h5 phantom.nii.gz -o x --rank 91", 1, {"91", "90"}},
      {"match dict.h5 phantom.nii.gz -o dict.h5", 1, {"dict.h5", "input file itself"}},
      {"match dict.h5 phantom.nii.gz -o x --top 29", 2, {"--top", "28"}},
  };
  g_autoptr (CliRun) other = cli_ok ("dictionary MRF --set flip=5:50:20 --range T1=900 --range T2=80 -o other.h5");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    g_test_message ("%s: %s", cases[i].command, g_strstrip (run->err));
    cli_assert_status (run, cases[i].status);
    for (int k = 0; k < 2; k++)
      cli_assert_says (run->err, cases[i].says[k]);
  }
  /* Contrasts on another axis: what was found, what is expected, and what to do. */
  g_autoptr (GError) error = NULL;
  g_autofree char *turned = cli_path ("turned.nii"), *x = cli_path ("x.h5");
  const int64_t dims[3] = {PULSES, SIDE, 1};
  const double size[3] = {1, 1, 1};
  g_autofree float *zero = g_new0 (float, PULSES *SIDE * 7);
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, 7);
  g_assert_true (lam_nifti_write (turned, like, zero, NULL, 7, "turned", NULL, &error));
  g_autoptr (CliRun) wrong_axis = cli_run ("match dict.h5 turned.nii -o x.h5");
  cli_assert_status (wrong_axis, 1);
  cli_assert_says (wrong_axis->err, "has 7 contrasts and the dictionary has 90. It is 90 x 24 x 1 x 7");
  cli_assert_says (wrong_axis->err, "its first axis has 90: make it the fourth");
  g_assert_false (g_file_test (x, G_FILE_TEST_EXISTS));
}

/* Ctrl+C ends with 130, leaving nothing behind. */
static void
test_stopped (void)
{
  g_autoptr (CliRun) run = cli_run_signalled_early (
      "dictionary MRF --set flip=5:60:1000 --range T1=200:3000:300 --range T2=10:190:300 -o stopped.h5", SIGINT);
  cli_assert_status (run, 130);
  g_autofree char *path = cli_path ("stopped.h5");
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  write_phantom ();
  g_test_add_func ("/match-cli/recover", test_recover);
  g_test_add_func ("/match-cli/bits", test_bits);
  g_test_add_func ("/match-cli/mask", test_mask);
  g_test_add_func ("/match-cli/spared", test_spared);
  g_test_add_func ("/match-cli/forecast", test_forecast);
  g_test_add_func ("/match-cli/wrong", test_wrong);
  g_test_add_func ("/match-cli/stopped", test_stopped);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
