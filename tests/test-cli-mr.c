/* test-cli-mr.c: `lamina simulate', `jacobian' and `crlb': lists, tissues, tables, numbers of closed forms, refusals, Ctrl+C. */
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli-util.h"
#include "golden.h"

/* Long enough for a signal to come in the middle: minutes. */
#define LONG "--set flip=5:60:5000 --set TR=10 --orders 2000 --tissue \"T1=200:3000:20000 T2=80\""

static JsonObject *
only_object (GPtrArray *lines, const char *member)
{
  JsonArray *all = json_object_get_array_member (cli_json_last (lines), member);
  g_assert_cmpuint (json_array_get_length (all), ==, 1);
  return json_array_get_object_element (all, 0);
}

static double
element (JsonObject *o, const char *member, guint i)
{
  return json_array_get_double_element (json_object_get_array_member (o, member), i);
}

static char *
read_file (const char *name)
{
  g_autofree char *path = cli_path (name);
  char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    g_error ("%s is not there", name);
  return text;
}

/* ---- what is said ---- */

static void
test_lists (void)
{
  static const char *const commands[] = {"simulate", "jacobian", "crlb", "design"};
  g_autoptr (CliRun) all = cli_ok ("--help"), list = cli_ok ("simulate --list"),
                     presets = cli_ok ("simulate --list-presets");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autoptr (CliRun) help = cli_ok ("%s --help", commands[i]);
    cli_assert_says (all->out, commands[i]);
    cli_assert_says (help->out, "Example:");
    cli_assert_says (help->out, "--tissue");
  }
  g_auto (GStrv) lines = g_strsplit (list->out, "\n", -1);
  int templates = 0;
  for (int i = 0; lines[i]; i++)
    templates += *lines[i] && *lines[i] != ' ';
  g_assert_cmpint (templates, ==, 26);
  cli_assert_says (list->out, "MRF: ");
  cli_assert_says (list->out, "    TE                   20 ms");
  cli_assert_says (presets->out, "white matter   @3    T1 1084 ms, T2 69 ms  (Stanisz");
}

/* Ranges, repeats and single values in one list; a preset and lists of tissues are voxels side by side. */
static void
test_signal (void)
{
  g_autoptr (CliRun)
      one = cli_ok ("simulate MultiEcho --set TE=10:40:4,100,2*3 --tissue \"T1=1000 T2=80\" --json"),
      train =
          cli_ok ("simulate MRF --set flip=5:60:188,60:2:188,2*124 --set TR=10 --preset \"white matter@3\" --tissue "
                  "\"T1=900,1000 T2=50 M0=0.5\" --json"),
      plain = cli_ok ("simulate MRF --set flip=5:60:188,60:2:188,2*124 --set TR=10 --preset blood"),
      field = cli_ok ("simulate MultiEcho --preset \"Blood@1.5\" --set TE=290 --json");
  static const double te[] = {10, 20, 30, 40, 100, 2, 2, 2};
  g_autoptr (GPtrArray) lines = cli_json_lines (one->out), trains = cli_json_lines (train->out),
                        blood = cli_json_lines (field->out);
  JsonObject *o = only_object (lines, "signals");
  g_assert_cmpint (json_object_get_int_member (cli_json_last (lines), "samples"), ==, G_N_ELEMENTS (te));
  for (guint i = 0; i < G_N_ELEMENTS (te); i++)
    g_assert_cmpfloat_with_epsilon (element (o, "real", i), exp (-te[i] / 80), 1e-6);
  g_assert_cmpstr (json_object_get_string_member (o, "tissue"), ==, "T1=1000 T2=80");
  o = cli_json_last (trains);
  g_assert_cmpint (json_object_get_int_member (o, "voxels"), ==, 3);
  g_assert_cmpint (json_object_get_int_member (o, "samples"), ==, 500);
  g_assert_cmpstr (json_object_get_string_member (o, "model"), ==, "epg");
  JsonArray *signals = json_object_get_array_member (o, "signals");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (signals, 0), "tissue"), ==,
                   "white matter@3");
  /* The tables of presets are the values: the same signal as with the numbers written out. */
  g_autoptr (CliRun) spelled = cli_ok (
      "simulate MRF --set flip=5:60:188,60:2:188,2*124 --set TR=10 --tissue \"T1=1084 T2=69\" --devices 3xcpu --json");
  g_autoptr (GPtrArray) same = cli_json_lines (spelled->out);
  for (guint i = 0; i < 500; i++)
    g_assert_cmpfloat (element (json_array_get_object_element (signals, 0), "real", i), ==,
                       element (only_object (same, "signals"), "real", i));
  g_assert_cmpfloat_with_epsilon (element (only_object (blood, "signals"), "real", 0), exp (-1), 1e-6);
  cli_assert_says (plain->out, "489 more (-o OUT.csv has all)");
  cli_assert_says (plain->out, "orders");
}

/* What no tissue has is computed, and said. */
static void
test_long_t2 (void)
{
  g_autoptr (CliRun) odd = cli_ok ("simulate MRF --tissue \"T1=1000,100 T2=80,300\""),
                     fine = cli_ok ("simulate MRF --tissue \"T1=1000 T2=80\"");
  cli_assert_says (odd->err, "T2 is above T1 in 1 of 2 tissues, first in");
  g_assert_null (strstr (fine->err, "T2 is above"));
  g_autoptr (CliRun) left_out = cli_ok ("simulate SPGR --tissue \"T1=1000 B1=0.8\"");
  cli_assert_says (left_out->err, "no sample of SPGR depends on B1");
}

/* T9: Cramér–Rao bounds of echoes of M0 exp (-TE/T2), and derivatives that are known. */
static void
test_bounds (void)
{
  g_autoptr (CliRun)
      text = cli_ok ("crlb MultiEcho --set TE=10:80:8 --by T2,M0 --noise 0.01 --tissue \"T2=80 M0=1\""),
      json = cli_ok ("crlb MultiEcho --set TE=10:80:8 --by T2,M0 --tissue \"T2=80 M0=1\" --json"),
      singular = cli_ok ("crlb MultiEcho --set TE=10 --by T2,M0 --tissue \"T2=80 M0=1\""),
      none = cli_ok ("crlb MultiEcho --set TE=10 --by T2,M0 --tissue \"T2=80 M0=1\" --json"),
      jacobian = cli_ok ("jacobian MultiEcho --set TE=10:80:8 --by T2,M0,TE[2] --tissue \"T2=80 M0=1\" --json"),
      written = cli_ok ("crlb MultiEcho --set TE=10:80:8 --by T2,M0 --tissue \"T2=80 M0=1\" -o bounds.csv"),
      most = cli_ok ("jacobian MultiEcho --set TE=10:80:8 --by T2,M0 --tissue \"T2=80 M0=1\" -o derivatives.csv");
  cli_assert_says (text->out, "T2             1.762");
  cli_assert_says (text->out, "% of 80)");
  cli_assert_says (text->out, "M0             0.01067");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out), no_lines = cli_json_lines (none->out),
                        d_lines = cli_json_lines (jacobian->out);
  JsonObject *o = only_object (lines, "bounds");
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "T2"), 1.7624, 1.7624e-4);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (o, "M0"), 0.010671, 0.010671e-4);
  g_assert_true (json_object_get_null_member (o, "error"));
  cli_assert_says (singular->out, "M0 cannot be told apart");
  g_assert_null (strstr (singular->out, "% of"));
  o = only_object (no_lines, "bounds");
  g_assert_true (json_object_get_null_member (o, "T2"));
  cli_assert_says (json_object_get_string_member (o, "error"), "cannot be told apart");

  g_autofree char *csv = cli_path ("bounds.csv"), *sd = NULL;
  g_assert_nonnull (written);
  g_assert_true (g_file_get_contents (csv, &sd, NULL, NULL));
  g_assert_true (g_str_has_prefix (sd, "tissue,by,value,sd\n\"T2=80 M0=1\",T2,80,1.762"));
  g_assert_nonnull (strstr (sd, ",M0,1,0.01067"));

  JsonArray *d = json_object_get_array_member (cli_json_last (d_lines), "derivatives");
  g_assert_cmpuint (json_array_get_length (d), ==, 3);
  for (guint i = 0; i < 8; i++) {
    double te = 10 * (i + 1.0), s = exp (-te / 80);
    g_assert_cmpfloat_with_epsilon (element (json_array_get_object_element (d, 0), "real", i), s * te / 6400, 1e-8);
    g_assert_cmpfloat_with_epsilon (element (json_array_get_object_element (d, 1), "real", i), s, 1e-6);
    g_assert_cmpfloat_with_epsilon (element (json_array_get_object_element (d, 2), "real", i), i == 2 ? -s / 80 : 0,
                                    1e-8);
  }
  cli_assert_says (most->out, "by T2: at most ");
  g_autofree char *table = read_file ("derivatives.csv");
  g_auto (GStrv) rows = g_strsplit (table, "\n", -1);
  g_assert_cmpstr (rows[0], ==, "tissue,by,sample,real,imaginary");
  g_assert_true (g_str_has_prefix (rows[1], "\"T2=80 M0=1\",T2,0,0.00137"));
  g_assert_cmpuint (g_strv_length (rows), ==, 1 + 2 * 8 + 1);
}

/* What never settles is said to be so, and is no number. */
static void
test_settled (void)
{
  g_autoptr (CliRun) never = cli_ok ("simulate FSE --set TR=100 --set flip=120*4 --tissue \"T1=inf T2=inf\" --json"),
                     words = cli_ok ("simulate FSE --set TR=100 --set flip=120*4 --tissue \"T1=inf T2=inf\""),
                     done = cli_ok ("simulate FSE --set TR=100 --set flip=120*4 --tissue \"T1=500 T2=80\" --json"),
                     said = cli_ok ("simulate FSE --set TR=100 --set flip=120*4 --tissue \"T1=500 T2=80\"");
  g_autoptr (GPtrArray) lines = cli_json_lines (never->out), settled = cli_json_lines (done->out);
  JsonObject *o = cli_json_last (lines);
  g_assert_false (json_object_has_member (o, "residual"));
  cli_assert_says (json_object_get_string_member (o, "residual_unknown"), "not settled");
  cli_assert_says (words->err, "not settled after 20000 playings");
  g_assert_null (strstr (words->out, "settled"));
  double residual = json_object_get_double_member (cli_json_last (settled), "residual");
  g_assert_cmpfloat (residual, <=, 1e-6);
  g_assert_cmpfloat (residual, >, 0);
  cli_assert_says (said->out, "settled after ");
}

/* ---- lists as they are typed ---- */

/* The same samples, in all digits. */
static void
assert_same (const char *protocol, const char *plain)
{
  g_autoptr (CliRun) a = cli_ok ("simulate MRF %s --tissue \"T1=1000 T2=80\" --json", protocol),
                     b = cli_ok ("simulate MRF %s --tissue \"T1=1000 T2=80\" --json", plain);
  g_test_message ("%s", protocol);
  g_assert_cmpstr (a->out, ==, b->out);
}

static void
test_typed (void)
{
  static const char *const files[][2] = {
      {"flip,TR\n10,12\n20,\n30,\n", "--set flip=10,20,30 --set TR=12"},
      {"\357\273\277# found\r\n\"Flip\";\"TR\"\r\n10;12\r\n\r\n20;13\r\n30;14\r\n",
       "--set flip=10,20,30 --set TR=12,13,14"},
      {"TR  flip\n12  10\n12  20\n", "--set flip=10,20 --set TR=12,12"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = cli_path ("list.csv");
    g_assert_true (g_file_set_contents (path, files[i][0], -1, NULL));
    assert_same ("--set flip=@list.csv --set TR=@list.csv", files[i][1]);
  }
  g_autofree char *path = cli_path ("plain.txt");
  g_assert_true (g_file_set_contents (path, "10\n20\n30\n", -1, NULL));
  assert_same ("--set flip=@plain.txt", "--set flip=10,20,30");
  assert_same ("--set \"flip=10+5*n:4\"", "--set flip=10,15,20,25");
  assert_same ("--set \"flip=7,60*(N-n)/N:3,2*2\"", "--set flip=7,60,40,20,2,2");
  assert_same ("--set \"flip=10+5*n\" --set TR=10:13:4", "--set TR=10:13:4 --set flip=10,15,20,25");
  assert_same ("--set \"TR=2*(3+n)\" --set flip=30*3", "--set flip=30*3 --set TR=6,8,10");
  assert_same ("--set TR=2*(3+3) --set flip=30*3", "--set flip=30*3 --set TR=12");
  assert_same ("--set FLIP=30*3 --set tr=12", "--set flip=30*3 --set TR=12");
  g_autoptr (CliRun) small = cli_ok ("simulate MRF --set flip=30*3 --tissue \"t1=1000 t2=80\" -o small.csv"),
                     large = cli_ok ("simulate MRF --set flip=30*3 --tissue \"T1=1000 T2=80\" -o large.csv");
  g_autofree char *small_table = read_file ("small.csv"), *large_table = read_file ("large.csv");
  g_auto (GStrv) small_rows = g_strsplit (small_table, "\n", 2), large_rows = g_strsplit (large_table, "\n", 2);
  g_assert_cmpstr (small_rows[1], ==, large_rows[1]);
  g_assert_true (small != NULL && large != NULL);
  g_autoptr (CliRun) voxels = cli_ok ("simulate MultiEcho --set TE=10 --tissue \"T1=1000 T2=40*2^n:3\" --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (voxels->out);
  g_assert_cmpint (json_object_get_int_member (cli_json_last (lines), "voxels"), ==, 3);
}

/* What design writes is what --set reads, to the last bit. */
static void
test_round_trip (void)
{
  g_autoptr (CliRun) run =
      cli_ok ("design MRF --set flip=30*40 --set TR=12 --vary flip=5:70 --vary TR=10:14 --evaluations "
              "20 --tissue \"T1=1000 T2=80\" -o train.csv --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (run->out);
  JsonObject *values = json_object_get_object_member (cli_json_last (lines), "values");
  JsonArray *flips = json_object_get_array_member (values, "flip");
  g_autoptr (GString) typed = g_string_new ("--set flip=");
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *csv = read_file ("train.csv");
  g_auto (GStrv) rows = g_strsplit (csv, "\n", -1);
  g_assert_cmpuint (json_array_get_length (flips), ==, 40);
  for (guint i = 0; i < 40; i++) {
    double x = json_array_get_double_element (flips, i);
    g_auto (GStrv) cells = g_strsplit (rows[i + 1], ",", -1);
    g_assert_cmpfloat (g_ascii_strtod (cells[1], NULL), ==, x);
    g_string_append_printf (typed, "%s%s", i ? "," : "", g_ascii_dtostr (text, sizeof text, x));
  }
  double tr = json_array_get_double_element (json_object_get_array_member (values, "TR"), 0);
  g_string_append_printf (typed, " --set TR=%s", g_ascii_dtostr (text, sizeof text, tr));
  assert_same ("--set flip=@train.csv --set TR=@train.csv", typed->str);
  g_autoptr (CliRun) bounds =
      cli_ok ("crlb MRF --set flip=@train.csv --set TR=@train.csv --tissue \"T1=1000 T2=80\" --json");
  g_assert_nonnull (bounds);
}

/* ---- tables ---- */

/* The old table stays whole until the new one takes its name: another name of it keeps what it had. */
static void
test_table (void)
{
  g_autofree char *path = cli_path ("signal.csv"), *other = cli_path ("other.csv");
  g_file_set_contents (path, "old\n", -1, NULL);
  g_assert_cmpint (link (path, other), ==, 0);
  g_autoptr (CliRun) bad = cli_run ("simulate MultiEcho --set TE=10,20 --tissue T1=1000 -o signal.csv");
  cli_assert_status (bad, 2);
  g_autofree char *kept = read_file ("signal.csv");
  g_assert_cmpstr (kept, ==, "old\n");
  g_autoptr (CliRun) run = cli_ok ("simulate MRF --set flip=30*3 --set TR=10 --tissue \"T1=1000 T2=80\" --tissue "
                                   "\"T1=500 T2=40\" -o signal.csv");
  cli_assert_says (run->out, "signal.csv: 3 samples of 2 tissues");
  g_autofree char *table = read_file ("signal.csv"), *before = read_file ("other.csv");
  g_assert_cmpstr (before, ==, "old\n");
  g_auto (GStrv) rows = g_strsplit (table, "\n", -1);
  g_assert_cmpuint (g_strv_length (rows), ==, 5);
  g_assert_cmpstr (rows[4], ==, "");
  g_assert_cmpstr (rows[0], ==,
                   "sample,time_s,\"T1=1000 T2=80: real\",\"T1=1000 T2=80: imaginary\",\"T1=500 T2=40: "
                   "real\",\"T1=500 T2=40: imaginary\"");
  for (int i = 1; i <= 3; i++) {
    g_auto (GStrv) cells = g_strsplit (rows[i], ",", -1);
    g_assert_cmpuint (g_strv_length (cells), ==, 6);
    g_assert_cmpint (atoi (cells[0]), ==, i - 1);
    g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[1], NULL), (i - 1) * 0.01, 1e-9);
    g_assert_cmpfloat (fabs (g_ascii_strtod (cells[2], NULL)), >, 0.01);
  }
}

static void
test_comma_locale (void)
{
  g_auto (GStrv) comma = cli_comma_locale ();
  if (!comma)
    return;
  static const char *const commands[] = {
      "simulate MultiEcho --set TE=10.5:40:4 --tissue \"T1=1000 T2=80.25\" -o table.csv",
      "simulate MultiEcho --set TE=10.5:40:4 --tissue \"T1=1000 T2=80.25\" --json",
      "simulate MRF --set flip=12.5*4 --set TR=10 --tissue \"T1=1000 T2=80.25\"",
      "jacobian MultiEcho --set TE=10.5:40:4 --tissue \"T1=1000 T2=80.25\" --by T2 -o table.csv",
      "crlb MultiEcho --set TE=10.5:40:4 --tissue \"T1=1000 T2=80.25\" --by T2,M0 --noise 0.02",
      "simulate --list-presets",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_test_message ("%s", commands[i]);
    gboolean table = strstr (commands[i], "table.csv") != NULL;
    g_autoptr (CliRun) english = cli_ok ("%s", commands[i]);
    g_autofree char *one = table ? read_file ("table.csv") : NULL;
    g_autoptr (CliRun) other = cli_run_env ((const char *const *) comma, commands[i]);
    g_autofree char *two = table ? read_file ("table.csv") : NULL;
    cli_assert_status (other, 0);
    g_assert_cmpstr (english->out, ==, other->out);
    g_assert_cmpstr (one, ==, two);
  }
}

/* ---- Pulseq files ---- */

static void
test_file (void)
{
  g_autofree char *path = g_build_filename (golden_data_dir (), "mr", "write_gre.seq", NULL),
                  *copy = cli_path ("a.seq");
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents (path, &text, &length, NULL)) {
    g_test_skip ("no mr/write_gre.seq among the data (set LAMINA_DATA_DIR)");
    return;
  }
  g_assert_true (g_file_set_contents (copy, text, (gssize) length, NULL));
  g_autoptr (CliRun) run = cli_ok ("simulate a.seq --preset \"white matter@3\" -o gre.csv"),
                     json = cli_ok ("simulate a.seq --tissue \"T1=1084 T2=69\" --model bloch --devices 2xcpu --json"),
                     other_name = cli_run ("simulate a.seq --preset blood -o a.seq");
  cli_assert_says (run->out, "gre.csv: 4096 samples of 1 tissues");
  /* What is not said of a tissue is not taken for infinite. */
  static const char *const less[] = {"simulate a.seq --tissue T1=500", "jacobian a.seq --tissue T1=500 --by T1",
                                     "dictionary a.seq --range T1=200,400 -o less.h5"};
  for (guint i = 0; i < G_N_ELEMENTS (less); i++) {
    g_autoptr (CliRun) refused = cli_run ("%s", less[i]);
    cli_assert_status (refused, 2);
    cli_assert_says (refused->err, "the tissues have no T2");
  }
  g_autofree char *table = read_file ("gre.csv"), *after = read_file ("a.seq");
  g_auto (GStrv) rows = g_strsplit (table, "\n", -1);
  g_assert_cmpuint (g_strv_length (rows), ==, 4096 + 2);
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  g_assert_cmpstr (json_object_get_string_member (cli_json_last (lines), "model"), ==, "bloch");
  JsonObject *o = only_object (lines, "signals");
  double last = 0;
  for (guint i = 0; i < 4096; i++) {
    g_auto (GStrv) cells = g_strsplit (rows[i + 1], ",", -1);
    double time = g_ascii_strtod (cells[1], NULL);
    g_assert_cmpfloat (time, >, last);
    last = time;
    g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[2], NULL), element (o, "real", i), 1e-7);
    g_assert_cmpfloat_with_epsilon (g_ascii_strtod (cells[3], NULL), element (o, "imaginary", i), 1e-7);
  }
  g_assert_cmpfloat (last, <, 0.768); /* the whole file's duration */
  cli_assert_status (other_name, 2);
  g_autofree char *link_path = cli_path ("same.csv");
  g_assert_cmpint (link (copy, link_path), ==, 0);
  g_autoptr (CliRun) own = cli_run ("simulate a.seq --preset blood -o same.csv");
  cli_assert_status (own, 1);
  cli_assert_says (own->err, "same.csv is the input file itself");
  g_assert_cmpstr (after, ==, text);
}

/* ---- what is refused ---- */

static void
test_refused (void)
{
  static const struct {
    const char *command;
    int status;
    const char *says;
  } cases[] = {
      {"simulate", 2, "--list"},
      {"simulate NOPE --preset blood", 2, "there is no template \"NOPE\"; there are MRF, FSE, "},
      {"simulate MRF FSE --preset blood", 2, "one argument too many"},
      {"simulate MRF --preset blood --frob", 2, "--frob"},
      {"simulate MRF --preset blood --set foo=1", 2, "MRF has no \"foo\"; it has flip, TR, TE"},
      {"simulate MRF --preset blood --set TR", 2, "--set TR: NAME=VALUES"},
      {"simulate MRF --preset blood --set TR=10,x", 2, "TR: \"x\" is no list of numbers"},
      {"simulate MRF --preset blood --set TR=", 2, "TR"},
      {"simulate MRF --preset blood --set flip=1:2:0", 2, "\"1:2:0\" is no list of numbers"},
      {"simulate MRF --preset blood --set flip=1:2:2.5", 2, "\"1:2:2.5\" is no list of numbers"},
      {"simulate MRF --preset blood --set flip=2*-1", 2, "\"2*-1\" is no list of numbers"},
      {"simulate MRF --preset blood --set flip=nan", 2, "flip = nan"},
      {"simulate MRF --preset blood --set flip=10 --set flip=20", 2,
       "flip is there twice, as \"flip=10\" and as \"flip=20\""},
      {"dictionary MRF --range T1=10 --range T1=20 -o x.h5", 2, "--range: T1 is there twice"},
      {"design MRF --vary flip=10:20 --vary flip=20:30 --preset blood", 2, "--vary: flip is there twice"},
      {"simulate MRF --tissue \"T1=1000 T2=80 T1=900\"", 2, "T1 is there twice"},
      {"simulate MRF --preset blood --set \"flip=10+n\"", 2,
       "how many values \"10+n\" makes is not said: write 10+n:200"},
      {"simulate MRF --preset blood --set \"flip=10+x:20\"", 2, "\"10+x\" is not understood at character 5"},
      {"simulate MRF --preset blood --set \"flip=1/n:20\"", 2, "\"1/n\" is not a number at n = 0"},
      {"simulate MRF --preset blood --set flip=@none.csv", 1, "none.csv: cannot be opened"},
      {"simulate MRF --preset blood --set TE=@two.csv", 1, "two.csv: it has no column \"TE\"; it has flip, TR"},
      {"simulate MRF --preset blood --set flip=@two.csv", 1, "two.csv: line 4: \"x\" is no number"},
      {"simulate MRF --preset blood --set TR=@two.csv", 1, "two.csv: line 3: TR ends here, and goes on in line 4"},
      {"simulate MRF --preset blood --set TR=-1", 2, "TR"},
      {"simulate MRF --preset blood --set TR=10 --set TE=20", 1, "TE is longer than TR"},
      {"simulate MRF", 2, "no tissue: give --tissue"},
      {"simulate MRF --tissue T1=1000", 2, "no T2"},
      {"crlb MRF --tissue T2=80", 2, "no T1"},
      {"dictionary MRF --range T1=200,400 -o x.h5", 2, "no T2"},
      {"simulate MRF --preset blood --set flip=1,2 --set pulses=5", 2, "lists of 2 values"},
      {"simulate FSE --preset blood --set echoes=5 --set flip=120,120", 2, "lists of 2 values"},
      {"simulate MRF --preset blood --set flip=@own.csv -o own.csv", 1, "own.csv is the input file itself"},
      {"crlb MRF --preset blood --set flip=@own.csv -o own.csv", 1, "own.csv is the input file itself"},
      {"design MRF --preset blood --set flip=@own.csv --vary flip=5:60 -o own.csv", 1, "own.csv is the input file"},
      {"simulate MRF --tissue \"\"", 2, "--tissue \"\" names no quantity"},
      {"simulate MRF --preset blood --devices 5xfoo", 2, "devices \"5xfoo\""},
      {"simulate MRF --preset blood --devices 0xcpu", 2, "a count from 1 to 64"},
      {"simulate MRF --preset blood --devices cuda", 1, "no GPU module"},
      {"design MRF --preset blood --vary flip=5:60 --devices 5xfoo", 2, "devices \"5xfoo\""},
      {"devices --devices 5xfoo", 2, "devices \"5xfoo\""},
      {"crlb MRF --preset blood --by \"\"", 2, "--by: no name is there"},
      {"design MRF --preset blood --vary foo=1:2", 2, "\"foo\" is no value that can be varied"},
      {"design MRF --preset blood --vary flip=20:10", 2, "flip: between 20 and 10 deg"},
      {"design SPGR --preset blood --vary flip=5:60", 2,
       "SPGR is a formula, without a train to design; trains are MRF, FSE"},
      {"design MRF --preset blood --vary TR=-5:10", 2, "TR: between -5 and 10 ms"},
      {"design MRF --preset blood --vary flip=5:60 --by T9,T1", 2, "\"T9\" is no tissue quantity"},
      {"design MRF --preset blood --vary flip=5:60 --by T1,flip", 2, "\"flip\" is no tissue quantity"},
      {"design MRF --preset blood --vary flip=5:60 --by T1,T1", 2, "\"T1\" is there twice"},
      {"design MRF --preset blood --vary flip=5:60 --count B1", 2, "--count: \"B1\" is not among"},
      {"design MRF --preset blood --vary flip=5:60 --objective contrast", 2, "a contrast needs two tissues"},
      {"design MRF --tissue \"T1=900 T2=80\" --set flip=0*30 --vary flip=0:60", 1, "T1 changes no sample"},
      {"dictionary MRF --range T1=-1 --range T2=1 -o x.h5", 2, "T1 = -1 ms"},
      {"simulate MRF --tissue \"T1=1000 T9=80\"", 2, "\"T9=80\" is no NAME=VALUE of a tissue quantity"},
      {"simulate MRF --tissue \"T1=1000 T2\"", 2, "\"T2\" is no NAME=VALUE"},
      {"simulate MRF --tissue \"T1=1000 T2=-5\"", 2, "T2 = -5 ms at voxel 0"},
      {"simulate MRF --tissue \"T1=1,2,3 T2=80,90\"", 2, "T2 has 2 values where another list has 3"},
      {"simulate MRF --tissue \"T1=1000 T2=80 bound_fraction=1.2 bound_exchange=30 bound_T1=1000\"", 2,
       "bound_fraction = 1.2"},
      {"simulate MRF --tissue \"T1=1000 T2=80 poolB_fraction=0.6 poolC_fraction=0.6 poolB_exchange=8 poolB_T1=500 "
       "poolB_T2=20 poolC_exchange=6 poolC_T1=600 poolC_T2=30\"",
       1, "fractions of the pools sum to 1.2"},
      {"simulate MRF --preset brain", 2, "there is no \"brain\"; `lamina simulate --list-presets'"},
      {"simulate MRF --preset blood@9.4", 2, "there is no \"blood@9.4\""},
      {"simulate MRF --preset blood --orders 0", 2, "--orders 0"},
      {"simulate MRF --preset blood --across-slice x", 2, "--across-slice x"},
      {"simulate MRF --preset blood --settle 2", 2, "--settle 2"},
      {"simulate MRF --preset blood --chunk 0", 2, "--chunk 0"},
      {"simulate MRF --preset blood --devices 4xgpu", 2, "devices \"4xgpu\""},
      {"simulate MRF --preset blood --model bloch", 2, "a template is played by extended phase graphs"},
      {"simulate none.seq --preset blood", 1, "none.seq: cannot be opened"},
      {"simulate none.seq --preset blood --model epg", 2, "a Pulseq file is simulated by Bloch's equations"},
      {"simulate MRF --preset blood -o none/x.csv", 1, "none/x.csv"},
      {"jacobian", 2, "an argument is missing"},
      {"jacobian MRF --preset blood --by T7", 2, "\"T7\" is neither a tissue quantity nor a value of the protocol"},
      {"jacobian MRF --preset blood --by flip[7]", 2, "flip has the indices 0 to 0"},
      {"jacobian MRF --preset blood --chunk x", 2, "--chunk x"},
      {"jacobian MRF --preset blood -o none/x.csv", 1, "none/x.csv"},
      {"crlb MRF --preset blood --noise 0", 2, "--noise 0"},
      {"design gre.seq --vary flip=1:2 --preset blood", 2, "of templates only"},
      {"simulate SpinEcho --preset blood --set TE=600 --set TR=500", 1, "TE is longer than TR: 100 ms too little"},
      {"simulate SpinEcho --preset blood --set TI=600 --set TR=500", 1, "TI is longer than TR"},
      {"simulate InversionRecovery --preset blood --set TI=500 --set TR=400", 1, "TI is longer than TR"},
      {"simulate SPGR --preset blood --set TE=20 --set TR=6", 1, "TE is longer than TR"},
      {"simulate bSSFP --preset blood --set TE=20 --set TR=5", 1, "TE is longer than TR"},
      {"crlb MRF --preset blood --by T1,T2,T1", 2, "\"T1\" is there twice"},
      {"crlb MultiEcho --preset blood --by TE[0],TE[0]", 2, "is there twice"},
      {"jacobian MRF --preset blood --by T1,flop", 2, "\"flop\" is neither"},
      {"crlb MRF --preset blood --noise 0,01", 2, "numbers are written with a point"},
      {"crlb MRF --preset blood --model epg", 2, "--model"},
      {"simulate MRF --preset blood -o x.h5", 2, "x.h5: a table is written: a name that ends in .csv or .txt"},
      {"simulate MRF --preset blood -o x", 2, "x: a table is written"},
      {"crlb MRF --preset blood -o x.png", 2, "x.png: a table is written"},
      {"jacobian MRF --preset blood -o x.seq", 2, "x.seq: a table is written"},
      {"design MRF --preset blood --vary flip=5:60 -o x.h5", 2, "x.h5: a table is written"},
      {"dictionary MRF --range T1=900 --range T2=80 -o x.csv", 2, "x.csv: a dictionary is written as HDF5"},
  };
  g_autofree char *two = cli_path ("two.csv");
  g_autofree char *own = cli_path ("own.csv"), *kept = NULL;
  g_assert_true (g_file_set_contents (two, "flip,TR\n10,10\n20,\nx,12\n", -1, NULL));
  g_assert_true (g_file_set_contents (own, "flip,TR\n10,10\n20,12\n", -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].command);
    g_autoptr (CliRun) run = cli_run ("%s", cases[i].command), json = cli_run ("%s --json", cases[i].command);
    cli_assert_status (run, cases[i].status);
    cli_assert_says (run->err, cases[i].says);
    g_assert_cmpstr (run->out, ==, "");
    cli_assert_status (json, cases[i].status);
    g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
    g_assert_cmpuint (lines->len, ==, 1);
    JsonObject *error = json_object_get_object_member (cli_json_last (lines), "error");
    cli_assert_says (json_object_get_string_member (error, "message"), cases[i].says);
  }
  g_assert_true (g_file_get_contents (own, &kept, NULL, NULL));
  g_assert_cmpstr (kept, ==, "flip,TR\n10,10\n20,12\n");
}

/* Derivatives, bounds and dictionaries say what the orders left out cost, as the signal does. */
static void
test_orders (void)
{
#define SHORT "MRF --set flip=30,40,50,20 --set playings=6 --orders 4 "
  static const char *const commands[] = {"simulate " SHORT "--tissue \"T1=1000 T2=80\"",
                                         "crlb " SHORT "--tissue \"T1=1000 T2=80\" --by T2",
                                         "jacobian " SHORT "--tissue \"T1=1000 T2=80\" --by T2",
                                         "dictionary " SHORT "--range T1=500,1000 --range T2=50,80 -o orders.h5"};
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autoptr (CliRun) run = cli_ok (commands[i]);
    cli_assert_says (run->out, "only 4 orders are kept");
  }
  g_autoptr (CliRun) json = cli_ok ("crlb " SHORT "--tissue \"T1=1000 T2=80\" --by T2 --json");
  g_autoptr (GPtrArray) lines = cli_json_lines (json->out);
  g_assert_cmpfloat (json_object_get_double_member (cli_json_last (lines), "truncation"), >, 1e-3);
}

/* ---- Ctrl+C ---- */

/* In the middle of the work: at once, with 130, without a table or a part of one. */
static void
test_interrupted (void)
{
  g_autofree char *script = cli_path ("both"), *program = g_shell_quote (g_getenv ("LAMINA_BIN")),
                  *real = g_strdup (g_getenv ("LAMINA_BIN")), *table = cli_path ("long.csv"),
                  *text = g_strdup_printf ("#!/bin/sh\nexec %s \"$@\" 2>&1\n", program);
  static const struct {
    const char *command, *after;
  } cases[] = {
      {"simulate MRF " LONG " -o long.csv", "simulating"},
      {"crlb MRF " LONG " -o long.csv", "derivatives"},
      {"jacobian MRF --set flip=5:60:5000 --orders 1000 --tissue \"T1=200:3000:1000 T2=80\" --by T1,T2,M0,B1 -o "
       "long.csv",
       "derivatives"},
  };
  g_file_set_contents (script, text, -1, NULL);
  g_chmod (script, 0700);
  g_setenv ("LAMINA_BIN", script, TRUE); /* progress is on stderr, and stdout is what is waited for */
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CliRun) run = cli_run_interrupted (cases[i].command, cases[i].after, 1);
    cli_assert_status (run, 130);
    cli_assert_says (run->out, "lamina: cancelled");
  }
  g_setenv ("LAMINA_BIN", real, TRUE);
  g_autoptr (GDir) dir = g_dir_open (cli_folder (), 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir));)
    if (g_str_has_prefix (name, "long.csv"))
      g_error ("%s was left", name);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cli_init ();
  g_test_add_func ("/cli/mr/long-t2", test_long_t2);
  g_test_add_func ("/cli/mr/lists", test_lists);
  g_test_add_func ("/cli/mr/signal", test_signal);
  g_test_add_func ("/cli/mr/settled", test_settled);
  g_test_add_func ("/cli/mr/typed", test_typed);
  g_test_add_func ("/cli/mr/round-trip", test_round_trip);
  g_test_add_func ("/cli/mr/bounds", test_bounds);
  g_test_add_func ("/cli/mr/table", test_table);
  g_test_add_func ("/cli/mr/comma-locale", test_comma_locale);
  g_test_add_func ("/cli/mr/file", test_file);
  g_test_add_func ("/cli/mr/refused", test_refused);
  g_test_add_func ("/cli/mr/orders", test_orders);
  g_test_add_func ("/cli/mr/interrupted", test_interrupted);
  int status = g_test_run ();
  cli_finish ();
  return status;
}
