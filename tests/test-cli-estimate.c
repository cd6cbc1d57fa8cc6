/* test-cli-estimate.c: derivatives, bounds, dictionaries and maps of a Pulseq file, as they are typed. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bloch-util.h"
#include "cli-util.h"
#include "core/error.h"
#include "io/dictionary-file.h"
#include "io/file.h"
#include "io/nifti.h"
#include "io/pulseq-read.h"
#include "mr/model.h"

enum { PULSES = 60 };

static void
write_train (const char *name, gboolean ppm)
{
  g_autofree char *path = cli_path (name), *text = bloch_train (PULSES, ppm);
  g_file_set_contents (path, text, -1, NULL);
}

static JsonObject *
last_object (const CliRun *run, GPtrArray **lines)
{
  *lines = cli_json_lines (run->out);
  return cli_json_last (*lines);
}

/* Which samples are heard, and that a line of -o is a derivative that the JSON has too. */
static void
test_jacobian (void)
{
  g_autoptr (CliRun) run = cli_ok ("jacobian train.seq --by T1,T2,B1,B0,M0 -t \"T1=900 T2=60 B1=0.9\" --json");
  g_autoptr (CliRun) plain = cli_ok ("jacobian train.seq -t \"T1=900 T2=60\"");
  g_autoptr (CliRun) table = cli_ok ("jacobian train.seq --by T2 -t \"T1=900 T2=60 B1=0.9\" -o d.csv --devices 3xcpu");
  g_autoptr (CliRun) all = cli_ok ("jacobian train.seq --by T2 -t \"T1=900 T2=60\" --samples all --json");
  g_autoptr (GPtrArray) lines = NULL, lines_all = NULL;
  JsonObject *o = last_object (run, &lines), *every = last_object (all, &lines_all);
  JsonObject *file = json_object_get_object_member (o, "sequence");
  JsonArray *numbers = json_object_get_array_member (file, "sample_numbers"),
            *derivatives = json_object_get_array_member (o, "derivatives");
  cli_assert_says (plain->out, "64 samples: of 60 readouts the one nearest the centre of k-space, of 1 all");
  g_assert_cmpint (json_object_get_int_member (o, "samples"), ==, 4 + PULSES);
  g_assert_cmpint (json_object_get_int_member (every, "samples"), ==, 4 + 9 * PULSES);
  g_assert_cmpstr (json_object_get_string_member (file, "file"), ==, "train.seq");
  g_assert_cmpint (json_array_get_int_element (numbers, 3), ==, 3);
  for (int i = 0; i < PULSES; i++)
    g_assert_cmpint (json_array_get_int_element (numbers, 4 + i), ==, 4 + 9 * i + 4);
  g_assert_cmpint (json_array_get_length (derivatives), ==, 5);
  g_autofree char *path = cli_path ("d.csv"), *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) rows = g_strsplit (text, "\n", -1);
  g_assert_cmpint (g_strv_length (rows), ==, 1 + 4 + PULSES + 1);
  JsonObject *by_t2 = json_array_get_object_element (derivatives, 1);
  g_assert_cmpstr (json_object_get_string_member (by_t2, "by"), ==, "T2");
  g_auto (GStrv) cells = g_strsplit (rows[1 + 50], ",", -1);
  g_assert_cmpint (g_ascii_strtoll (cells[2], NULL, 10), ==, 4 + 9 * 46 + 4);
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[4], NULL),
                                  json_array_get_double_element (json_object_get_array_member (by_t2, "imaginary"), 50),
                                  1e-9);
  g_assert_cmpfloat (fabs (g_ascii_strtod (cells[4], NULL)), >, 1e-5);
}

static void
test_crlb (void)
{
  g_autoptr (CliRun) run = cli_ok ("crlb train.seq --by T1,T2,M0 --noise 0.001 -t \"T1=900 T2=60\" --json");
  g_autoptr (CliRun) twice = cli_ok ("crlb train.seq --by T1,T2,M0 --noise 0.002 -t \"T1=900 T2=60\" --json");
  g_autoptr (CliRun) spins =
      cli_ok ("crlb train.seq --by T1,T2,M0 --noise 0.001 -t \"T1=900 T2=60\" --spins 40 --voxel-size 4 --json");
  const CliRun *const runs[] = {run, twice, spins};
  double t1[3];
  for (int i = 0; i < 3; i++) {
    g_autoptr (GPtrArray) lines = NULL;
    JsonObject *o = last_object (runs[i], &lines),
               *bound = json_array_get_object_element (json_object_get_array_member (o, "bounds"), 0);
    t1[i] = json_object_get_double_member (bound, "T1");
    g_assert_cmpfloat (t1[i], >, 0);
    g_assert_true (json_object_has_member (o, "sequence"));
  }
  g_assert_cmpfloat_with_epsilon (t1[1] / t1[0], 2, 1e-6);
  g_assert_cmpfloat (fabs (t1[2] / t1[0] - 1), >, 0.05); /* gradients dephase several spins */
}

static LamModel *
new_model (LamBlochModelOptions *o)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = cli_path ("train.seq");
  g_autoptr (LamPulseq) seq = lam_pulseq_open (path, NULL, &error);
  g_autoptr (LamPulseqTiming) timing = lam_pulseq_timing_new (seq, &error);
  LamBlochModel *m = lam_bloch_model_new (timing, o, &error);
  g_assert_no_error (error);
  return lam_model_new_of_pulseq (m);
}

/* series.nii.gz: a row of voxels of known tissue, played by this file as the dictionary below is. */
static const double t1_of[] = {300, 800, 1200, 2000}, t2_of[] = {30, 50, 90, 200};

static void
write_series (void)
{
  enum { N = 4, K = 4 + PULSES };
  static const int64_t dims[3] = {N, 1, 1};
  static const double size[3] = {1, 1, 1};
  g_autoptr (GError) error = NULL;
  LamBlochModelOptions o = {.spins = 24, .size_mm = {3, 3, 3}, .f0_hz = NAN};
  g_autoptr (LamModel) m = new_model (&o);
  g_autoptr (LamTissues) t = lam_tissues_new (N);
  g_autoptr (LamDevices) set = lam_devices_new ("1xcpu", &error);
  LamSignal s = {0};
  lam_tissues_set (t, "T1", t1_of, N, &error);
  lam_tissues_set (t, "T2", t2_of, N, &error);
  g_assert_true (lam_model_simulate (m, t, NULL, set, NULL, &s, &error));
  for (int i = 0; i < N * K; i++) { /* M0 2 and a receiver's phase of a quarter turn */
    float re = s.re[i];
    s.re[i] = -2 * s.im[i];
    s.im[i] = 2 * re;
  }
  g_autoptr (LamNifti) like = lam_nifti_new (dims, size, K);
  g_autofree char *path = cli_path ("series.nii.gz");
  lam_nifti_write (path, like, s.re, s.im, K, "series", NULL, &error);
  g_assert_no_error (error);
  lam_signal_clear (&s);
}

#define DICTIONARY                                                                                                     \
  "dictionary train.seq --range T1=200:2600:49 --range T2=20:220:41 --spins 24 --voxel-size 3 --field 3 -o dict.h5 "

static void
test_match (void)
{
  static const char *const maps[] = {"T1", "T2", "M0"};
  g_autoptr (GError) error = NULL;
  g_autoptr (CliRun) made = cli_ok (DICTIONARY "--json"), info = cli_ok ("info dict.h5");
  g_autofree char *path = cli_path ("train.seq"), *sum = lam_file_checksum (path, &error), *h5 = cli_path ("dict.h5");
  cli_assert_says (info->out, "dictionary of train.seq");
  cli_assert_says (info->out, "24 spins through 3 x 3 x 3 mm");
  g_assert_null (strstr (info->out, "at 3 T")); /* nothing of it is in ppm */
  cli_assert_says (info->out, sum);
  cli_assert_says (made->out, sum);
  /* All that it takes to make it again is in the file. */
  g_autoptr (LamDictionary) d = lam_dictionary_load (h5, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (d->pulseq);
  LamBlochModelOptions o = d->pulseq->options;
  g_assert_cmpstr (o.file, ==, "train.seq");
  g_assert_cmpstr (o.checksum, ==, sum);
  g_assert_true (isnan (o.f0_hz));
  g_autoptr (LamModel) m = new_model (&o);
  g_assert_cmpint (lam_bloch_model_samples (lam_model_bloch (m)), ==, d->pulseq->samples);
  g_assert_cmpmem (lam_bloch_model_numbers (lam_model_bloch (m)), d->pulseq->samples * sizeof (int64_t),
                   d->pulseq->number, d->pulseq->samples * sizeof (int64_t));
  g_autoptr (LamDevices) set = lam_devices_new ("2xcpu", &error);
  g_autoptr (LamDictionary) again = lam_dictionary_new (m, d->atoms, NULL, set, NULL, &error);
  g_assert_no_error (error);
  gsize bytes = (gsize) (d->atoms->n * d->samples) * sizeof (float);
  g_assert_cmpmem (again->re, bytes, d->re, bytes);
  g_assert_cmpmem (again->im, bytes, d->im, bytes);

  write_series ();
  g_autoptr (CliRun) run = cli_ok ("match dict.h5 series.nii.gz -o maps --json");
  cli_assert_says (run->out, "\"matched\":4");
  g_autoptr (CliRun) file =
      cli_ok ("match dict.h5 series.nii.gz -o maps.h5"); /* the maps say of which sequence they are */
  g_autofree char *maps_h5 = cli_path ("maps.h5"), *bytes_of = NULL;
  gsize size;
  g_assert_true (g_file_get_contents (maps_h5, &bytes_of, &size, NULL));
  g_assert_nonnull (memmem (bytes_of, size, "\"sequence_file\":\"train.seq\"", 27));
  for (int i = 0; i < 3; i++) {
    g_autofree char *name = g_strdup_printf ("maps/%s.nii.gz", maps[i]), *file = cli_path (name);
    g_autoptr (LamNifti) n = lam_nifti_open (file, &error);
    float x[4];
    g_assert_no_error (error);
    g_assert_true (lam_nifti_read (n, x, NULL, NULL, &error));
    for (int v = 0; v < 4; v++)
      g_assert_cmpfloat_with_epsilon (x[v], i == 0 ? t1_of[v] : i == 1 ? t2_of[v] : 2, i == 2 ? 1e-4 : 1e-3);
  }
}

/* What is in ppm needs the field, which is kept. */
static void
test_field (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CliRun) lacks = cli_run ("dictionary ppm.seq --range T1=500,900 --range T2=80 -o ppm.h5"),
                     made = cli_ok ("dictionary ppm.seq --range T1=500,900 --range T2=80 --field 3 -o ppm.h5"),
                     info = cli_ok ("info ppm.h5");
  g_autofree char *h5 = cli_path ("ppm.h5");
  cli_assert_status (lacks, 2);
  cli_assert_says (lacks->err, "give the field");
  cli_assert_says (info->out, "one spin in the middle of the voxel, at 3 T");
  g_autoptr (LamDictionary) d = lam_dictionary_load (h5, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (d->pulseq->options.f0_hz, 3 * LAM_GAMMA_1H, 1e-3);
}

/* A file that says another sequence than it was written of is refused. */
static void
test_changed (void)
{
  g_autoptr (CliRun) made = cli_ok (DICTIONARY);
  g_autofree char *h5 = cli_path ("dict.h5"), *bytes = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (h5, &bytes, &n, NULL));
  char *at = memmem (bytes, n, "train.seq", 9);
  g_assert_nonnull (at);
  at[0] = 'b';
  g_file_set_contents (h5, bytes, (gssize) n, NULL);
  g_autoptr (CliRun) run = cli_run ("info dict.h5");
  cli_assert_status (run, 1);
  cli_assert_says (run->err, "damaged");
}

/* Atoms, samples and at least the bytes of the signals, before the work. */
static void
test_forecast (void)
{
  g_autoptr (CliRun) run = cli_ok (DICTIONARY "--forecast --json");
  g_autoptr (GPtrArray) lines = NULL;
  JsonObject *o = last_object (run, &lines);
  int64_t atoms = json_object_get_int_member (o, "atoms"), contrasts = json_object_get_int_member (o, "contrasts");
  g_assert_cmpint (atoms, ==, 49 * 41 - json_object_get_int_member (o, "excluded"));
  g_assert_cmpint (contrasts, ==, 4 + PULSES);
  g_assert_cmpint (json_object_get_int_member (o, "bytes"), >=, 2 * atoms * contrasts * 8); /* host and device */
  g_assert_cmpfloat (json_object_get_double_member (o, "seconds"), >, 0);
}

static void
test_refused (void)
{
  static const struct {
    const char *command, *word;
    int status;
  } cases[] = {
      {"jacobian train.seq --by flip -t \"T1=900 T2=60\"", "\"flip\" is nothing that a Pulseq file", 2},
      {"jacobian train.seq --by T1,T1 -t \"T1=900 T2=60\"", "\"T1\" is there twice", 2},
      {"crlb train.seq --by T1,T2 -t T1=900", "the tissues have no T2", 2},
      {"crlb train.seq --samples middle -t \"T1=900 T2=60\"", "--samples middle", 2},
      {"crlb train.seq --voxel-size 3 -t \"T1=900 T2=60\"", "give --spins too", 2},
      {"crlb train.seq --position 1,0,0 --position 2,0,0 -t \"T1=900 T2=60\"", "at one position", 2},
      {"crlb train.seq --set TR=3 -t \"T1=900 T2=60\"", "--set is for templates", 2},
      {"crlb MRF --spins 3 -t \"T1=900 T2=60\"", "--spins is for Pulseq files", 2},
      {"jacobian train.seq -t \"T1=900 T2=60\" -o link.csv", "link.csv is the input file itself", 1},
      {"dictionary train.seq --range D=1:2:3 -o d.h5", "no sample of train.seq depends on it; it knows T1, T2, M0", 2},
      {"dictionary train.seq --range T1=100 -o link.h5", "link.h5 is the input file itself", 1},
      {"dictionary none.seq --range T1=100 -o d.h5", "none.seq", 1},
      {"dictionary MRF --range T1=100 --samples all -o d.h5", "--samples is for Pulseq files", 2},
  };
  static const char *const links[] = {"link.csv", "link.h5"}; /* other names of the file, of the right kind */
  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autofree char *path = cli_path (links[i]);
    g_assert_cmpint (symlink ("train.seq", path), ==, 0);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command);
    cli_assert_status (run, cases[i].status);
    cli_assert_says (run->err, cases[i].word);
  }
  g_autoptr (CliRun) warned = cli_ok ("crlb train.seq --by T2 -t \"T1=900 T2=60 D=1\"");
  cli_assert_says (warned->err, "no sample of train.seq depends on D");
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc test;
  } tests[] = {
      {"/cli-estimate/jacobian", test_jacobian}, {"/cli-estimate/crlb", test_crlb},
      {"/cli-estimate/match", test_match},       {"/cli-estimate/changed", test_changed},
      {"/cli-estimate/field", test_field},       {"/cli-estimate/forecast", test_forecast},
      {"/cli-estimate/refused", test_refused},
  };
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  write_train ("train.seq", FALSE);
  write_train ("ppm.seq", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
