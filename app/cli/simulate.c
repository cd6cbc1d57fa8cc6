/* simulate.c: the signal of a template or a Pulseq file for tissues; its derivatives; and the bounds that they set. */
#include "config.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/file-options.h"
#include "cli/json.h"
#include "cli/mr-options.h"
#include "cli/progress.h"
#include "cli/spins.h"
#include "cli/table.h"
#include "core/error.h"
#include "io/file.h"
#include "io/pulseq-read.h"
#include "mr/bloch.h"
#include "mr/crlb.h"
#include "mr/presets.h"
#include "mr/pulseq-timing.h"

/* More voxels are not simulated twice. */
#define MOST_CUTS 4096

static char *output, *by_text, *noise_text, *model_text;
static gboolean list_templates, list_presets;

static const GOptionEntry simulate_entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Write a table of comma-separated values"), "OUT.csv"},
    {"model", 0, 0, G_OPTION_ARG_STRING, &model_text, N_ ("epg or bloch; a .seq file is always bloch"), "MODEL"},
    {"list", 0, 0, G_OPTION_ARG_NONE, &list_templates, N_ ("List the templates with their protocols"), NULL},
    {"list-presets", 0, 0, G_OPTION_ARG_NONE, &list_presets, N_ ("List the tissues with their sources"), NULL},
    {NULL},
};

static const GOptionEntry derivative_entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
     N_ ("Write the derivatives (crlb: the bounds) as comma-separated values"), "OUT.csv"},
    {"by", 'b', 0, G_OPTION_ARG_STRING, &by_text, N_ ("Tissue quantities and protocol values, such as flip[3] (T1,T2)"),
     "NAMES"},
    {"noise", 0, 0, G_OPTION_ARG_STRING, &noise_text, N_ ("crlb: standard deviation of each real channel (0.01)"), "X"},
    {NULL},
};

static const LamCliHelp simulate_help = {
    "TEMPLATE|FILE.seq [-o OUT.csv]",
    N_ ("Simulates the samples of a sequence for each tissue: of a template by extended phase graphs or its closed "
        "form, of a "
        "Pulseq file by Bloch's equations."),
    "  lamina simulate MRF --set flip=5:60:188,60:2:188,2*124 --set TR=10 --tissue \"T1=1000 T2=80\" -o signal.csv\n"
    "  lamina simulate gre.seq --preset \"white matter@3\" --json\n"
    "  lamina simulate gre.seq --preset \"white matter@3\" --spins 200 --voxel-size 1,1,5 -o gre.csv",
};

static const LamCliHelp jacobian_help = {
    "TEMPLATE|FILE.seq --by NAMES [-o OUT.csv]",
    N_ ("Derivatives of each sample by tissue quantities and protocol values, for one ms, degree or Hz; of a Pulseq "
        "file by T1, T2, M0, B1 and B0."),
    "  lamina jacobian FSE --set flip=120 --by T1,T2,B1 --tissue \"T1=1000 T2=80\"\n"
    "  lamina jacobian gre.seq --by T1,B1 --tissue \"T1=1000 T2=80\" --spins 64 --voxel-size 2",
};

static const LamCliHelp crlb_help = {
    "TEMPLATE|FILE.seq --by NAMES [--noise X]",
    N_ ("Cramér–Rao bounds: the least standard deviation of each named quantity, estimated together, for noise in each "
        "real channel."),
    "  lamina crlb MRF --set flip=5:60:200 --by T1,T2,M0 --noise 0.001 --tissue \"T1=1000 T2=80\"\n"
    "  lamina crlb tse.seq --by T2,M0 --noise 0.001 --tissue \"T1=1000 T2=80\"",
};

/* ---- tables ---- */

static gboolean
write_text (const char *path, GString *text, GError **error)
{
  /* Written beside and renamed; the old file stays until then. */
  return g_file_set_contents_full (path, text->str, (gssize) text->len, G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
}

static double
part (const float *x, int64_t i)
{
  return x ? x[i] : 0;
}

static GString *
signal_table (const LamSignal *s, GStrv labels, const double *times)
{
  GString *t = g_string_new ("sample,time_s");
  for (int64_t v = 0; v < s->voxels; v++)
    g_string_append_printf (t, ",\"%s: real\",\"%s: imaginary\"", labels[v], labels[v]);
  for (int64_t i = 0; i < s->samples; i++) {
    g_string_append_printf (t, "\n%" G_GINT64_FORMAT ",%s", i, times ? lam_cli_format ("%.9g", times[i]) : "");
    for (int64_t v = 0; v < s->voxels; v++) {
      g_string_append_printf (t, ",%s", lam_cli_format ("%.9g", part (s->re, v * s->samples + i)));
      g_string_append_printf (t, ",%s", lam_cli_format ("%.9g", part (s->im, v * s->samples + i)));
    }
  }
  g_string_append_c (t, '\n');
  return t;
}

static void
json_signal (JsonBuilder *b, const float *re, const float *im, int64_t first, int64_t n)
{
  for (int c = 0; c < 2; c++) {
    lam_json_open_array (b, c ? "imaginary" : "real");
    for (int64_t i = 0; i < n; i++)
      lam_json_number (b, NULL, part (c ? im : re, first + i));
    lam_json_close_array (b);
  }
}

/* The first and last samples of each voxel, for a person. */
static void
print_signal (const LamSignal *s, GStrv labels)
{
  for (int64_t v = 0; v < s->voxels; v++) {
    lam_cli_print ("%s", labels[v]);
    for (int64_t i = 0; i < s->samples; i++) {
      if (s->samples > 12 && i == 8)
        lam_cli_print (_ ("  … %" G_GINT64_FORMAT " more (-o OUT.csv has all)"), s->samples - 11);
      if (s->samples > 12 && i >= 8 && i < s->samples - 3)
        continue;
      double re = part (s->re, v * s->samples + i), im = part (s->im, v * s->samples + i);
      lam_cli_print ("  %4" G_GINT64_FORMAT "  %s %si   |%s|", i, lam_cli_format ("%+.6f", re),
                     lam_cli_format ("%+.6f", im), lam_cli_format ("%.6f", hypot (re, im)));
    }
  }
}

static void
print_lists (void)
{
  int n;
  const LamTemplate *const *all = lam_templates (&n);
  for (int i = 0; list_templates && i < n; i++) {
    lam_cli_print ("%s: %s. %s", all[i]->name, all[i]->title, all[i]->summary);
    for (const LamField *f = all[i]->fields; f->name; f++) {
      g_autofree char *value = f->list ? g_strdup_printf (_ ("%d values"), f->n)
                                       : g_strdup (isnan (f->value) ? _ ("automatic") : lam_cli_number (f->value));
      lam_cli_print ("    %-20s %s%s%s  %s", f->name, value, *f->unit ? " " : "", f->unit, f->title);
    }
  }
  for (const LamTissuePreset *p = lam_tissue_presets; list_presets && p->name; p++)
    lam_cli_print ("%-14s @%-4s T1 %s ms, T2 %s ms  (%s)", p->name, lam_cli_number (p->field), lam_cli_number (p->t1),
                   lam_cli_number (p->t2), p->source);
}

static gboolean
deliver_signal (const LamSignal *s, double cut, GStrv labels, const double *times, const char *model,
                const LamCliSpins *spins, GError **error)
{
  if (output) {
    g_autoptr (GString) table = signal_table (s, labels, times);
    if (!write_text (output, table, error))
      return FALSE;
  }
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_int (b, "voxels", s->voxels);
    lam_json_int (b, "samples", s->samples);
    lam_json_text (b, "model", model);
    lam_json_text (b, "route", s->route);
    lam_json_int (b, "orders", s->orders);
    lam_json_number (b, "truncation", cut);
    lam_mr_json_settled (b, s->played, s->residual);
    if (spins) {
      lam_json_int (b, "spins", MAX (spins->params.spins, 1));
      lam_json_numbers (b, "voxel_size_mm", spins->size_mm, 3);
    }
    lam_json_open_array (b, "signals");
    for (int64_t v = 0; !output && v < s->voxels; v++) {
      lam_json_open (b, NULL);
      lam_json_text (b, "tissue", labels[v]);
      json_signal (b, s->re, s->im, v * s->samples, s->samples);
      lam_json_close (b);
    }
    lam_json_close_array (b);
    lam_json_print (b);
    return TRUE;
  }
  if (!output)
    print_signal (s, labels);
  if (s->orders > 0)
    lam_cli_print (_ ("%s, %d orders%s"), model, s->orders, s->real_path ? _ (", one phase: real states") : "");
  lam_mr_say_cut (s->orders, cut);
  LamSimulateOptions asked;
  lam_mr_say_settled (s->played, s->residual, lam_mr_simulate_options (&asked, NULL) ? asked.settle : 0);
  if (spins)
    lam_cli_spins_say (spins);
  if (output)
    lam_cli_print (_ ("%s: %" G_GINT64_FORMAT " samples of %" G_GINT64_FORMAT " tissues"), output, s->samples,
                   s->voxels);
  return TRUE;
}

/* ---- simulate ---- */

/* When each sample is taken, s. */
static double *
file_times (LamPulseq *seq, int64_t samples, GError **error)
{
  g_autoptr (LamPulseqTiming) timing = lam_pulseq_timing_new (seq, error);
  g_autofree int64_t *ps = g_new (int64_t, samples + 1);
  g_autofree double *times = g_new (double, samples + 1); /* not NULL where there are none */
  if (!timing || !lam_pulseq_kspace (timing, 0, samples, NULL, ps, error))
    return NULL;
  for (int64_t i = 0; i < samples; i++)
    times[i] = 1e-12 * (double) ps[i];
  return g_steal_pointer (&times);
}

static gboolean
simulate_file (const char *path, const LamTissues *t, LamDevices *set, GStrv labels, GError **error)
{
  LamCliSpins spins = {0};
  LamSimulateOptions o;
  gboolean ok = lam_mr_simulate_options (&o, error) && lam_cli_spins_read (&spins, t, labels, error);
  g_autoptr (LamPulseq) seq = ok ? lam_pulseq_open (path, NULL, error) : NULL;
  LamSignal s = {.voxels = spins.params.voxels};
  g_autofree double *times = NULL;
  spins.params.chunk = o.chunk;
  ok = seq && lam_bloch_simulate (seq, &spins.params, set, lam_cli_control (), &s.re, &s.im, &s.samples, error)
       && (times = file_times (seq, s.samples, error))
       && deliver_signal (&s, NAN, spins.labels, times, "bloch", &spins, error);
  lam_signal_clear (&s);
  lam_cli_spins_clear (&spins);
  return ok;
}

/* What the orders left out cost, at most; NAN when nothing is left out, and for maps, where it would double the time. */
static double
worst_cut (const char *name, LamModel *m, const LamTissues *t, const LamSimulateOptions *o, LamDevices *set,
           const LamSignal *s)
{
  g_autoptr (LamModel) finer = s->voxels <= MOST_CUTS ? lam_mr_model (name, NULL) : NULL;
  g_autofree double *cut = g_new (double, s->voxels);
  double worst = NAN;
  if (!finer)
    return NAN;
  lam_model_truncation (m, finer, t, o, set, s, cut);
  for (int64_t v = 0; v < s->voxels; v++)
    worst = fmax (worst, cut[v]);
  return worst;
}

static gboolean
simulate_template (const char *name, const LamTissues *t, LamDevices *set, GStrv labels, GError **error)
{
  g_autoptr (LamModel) m = lam_mr_model (name, error);
  LamSimulateOptions o;
  LamSignal s = {0};
  if (m)
    lam_mr_warn_unknown (m, t);
  if (!m || (output && !lam_cli_spares_tables (output, error)) || !lam_mr_simulate_options (&o, error))
    return FALSE;
  if (!lam_model_simulate (m, t, &o, set, lam_cli_control (), &s, error))
    return lam_mr_missing (error);
  g_autofree double *times = lam_model_is_closed (m) ? NULL : lam_model_sample_times (m, NULL);
  gboolean ok = deliver_signal (&s, worst_cut (name, m, t, &o, set, &s), labels, times,
                                lam_model_is_closed (m) ? "closed form" : "epg", NULL, error);
  lam_signal_clear (&s);
  return ok;
}

static gboolean
simulate (int argc, char **argv, GError **error)
{
  const GOptionEntry *groups[] = {simulate_entries, lam_cli_spins_entries, lam_mr_entries, NULL};
  if (!lam_cli_parse (&simulate_help, groups, 0, 1, &argc, &argv, error))
    return FALSE;
  if (list_templates || list_presets) {
    print_lists ();
    return TRUE;
  }
  if (argc < 2) {
    lam_cli_usage_error (error,
                         _ ("a template or a .seq file is needed; `lamina simulate --list' shows the templates"));
    return FALSE;
  }
  g_auto (GStrv) labels = NULL;
  g_autoptr (LamDevices) set = lam_mr_device_set (lam_mr_devices (), error);
  g_autoptr (LamTissues) t = set ? lam_mr_tissues (&labels, error) : NULL;
  if (!t)
    return FALSE;
  gboolean file = lam_file_is_sequence (argv[1]);
  if (output && !lam_cli_suffix (output, _ ("a table is written"), lam_cli_table_suffixes, error))
    return FALSE;
  if (output && ((file && !lam_cli_not_same (argv[1], output, error)) || !lam_cli_writable (output, error)))
    return FALSE;
  if (model_text && !g_str_equal (model_text, file ? "bloch" : "epg")) {
    lam_cli_usage_error (
        error,
        file ? _ ("--model %s: a Pulseq file is simulated by Bloch's equations (bloch)")
             : _ ("--model %s: a template is played by extended phase graphs (epg); write it as a .seq file first"),
        model_text);
    return FALSE;
  }
  if (file && !lam_mr_no_template_options (error))
    return FALSE;
  if (!file && lam_cli_spins_given ()) {
    lam_cli_usage_error (
        error,
        _ ("%s is for Pulseq files: what gradients do in a template is in its orders (--orders) and its "
           "slice profile (--across-slice)"),
        lam_cli_spins_given ());
    return FALSE;
  }
  return file ? simulate_file (argv[1], t, set, labels, error) : simulate_template (argv[1], t, set, labels, error);
}

/* ---- jacobian, crlb ---- */

/* @numbers: of the samples in the file; NULL: of a template, 0, 1, 2 … */
static GString *
jacobian_table (const LamJacobian *j, GStrv by, GStrv labels, const int64_t *numbers)
{
  GString *t = g_string_new ("tissue,by,sample,real,imaginary\n");
  for (int64_t v = 0; v < j->signal.voxels; v++)
    for (int k = 0; k < j->n; k++)
      for (int64_t i = 0; i < j->signal.samples; i++) {
        int64_t at = (v * j->n + k) * j->signal.samples + i;
        g_string_append_printf (t, "\"%s\",%s,%" G_GINT64_FORMAT ",%s", labels[v], by[k], numbers ? numbers[i] : i,
                                lam_cli_format ("%.9g", part (j->re, at)));
        g_string_append_printf (t, ",%s\n", lam_cli_format ("%.9g", part (j->im, at)));
      }
  return t;
}

static void
json_file (JsonBuilder *b, const LamModel *m)
{
  const LamBlochModel *file = lam_model_bloch (m);
  if (file)
    lam_file_json (b, lam_bloch_model_options (file), lam_bloch_model_samples (file), lam_bloch_model_numbers (file),
                   lam_bloch_model_times (file));
}

static void
json_orders (JsonBuilder *b, const LamJacobian *j, double cut)
{
  if (j->signal.orders <= 0)
    return;
  lam_json_int (b, "orders", j->signal.orders);
  lam_json_number (b, "truncation", cut);
}

/* @table gets the same numbers as lines: tissue, by, value, sd; inf where there is no bound. */
static void
bounds (const LamJacobian *j, GStrv by, GStrv labels, const LamTissues *tissues, double noise, const LamModel *m,
        double cut, GString *table)
{
  g_string_append (table, "tissue,by,value,sd\n");
  g_autofree double *variance = g_new (double, j->n);
  JsonBuilder *b = lam_cli_json ? lam_json_begin () : NULL;
  if (b) {
    json_file (b, m);
    json_orders (b, j, cut);
    lam_json_number (b, "noise", noise);
    lam_json_open_array (b, "bounds");
  }
  for (int64_t v = 0; v < j->signal.voxels; v++) {
    int64_t at = v * j->n * j->signal.samples;
    g_autoptr (GError) singular = NULL;
    gboolean ok = lam_crlb (j->n, j->signal.samples, j->re ? j->re + at : NULL, j->im ? j->im + at : NULL,
                            noise * noise, (const char *const *) by, variance, &singular);
    lam_cli_print ("%s", labels[v]);
    if (!ok)
      lam_cli_print ("  %s", singular->message);
    if (b)
      lam_json_open (b, NULL);
    if (b)
      lam_json_text (b, "tissue", labels[v]);
    for (int k = 0; k < j->n; k++) {
      double sd = ok ? sqrt (variance[k]) : INFINITY, value = lam_tissues_named_at (tissues, by[k], v);
      if (ok)
        lam_cli_print (isfinite (value) && value != 0 ? "  %-14s %s  (%s %% of %s)" : "  %-14s %s", by[k],
                       lam_cli_format ("%.6g", sd), lam_cli_format ("%.3g", 100 * sd / fabs (value)),
                       lam_cli_number (value));
      if (b)
        lam_json_number (b, by[k], sd);
      g_string_append_printf (table, "\"%s\",%s,%s", labels[v], by[k], lam_cli_format ("%.9g", value));
      g_string_append_printf (table, ",%s\n", lam_cli_format ("%.9g", sd));
    }
    if (b)
      lam_json_text (b, "error", ok ? NULL : singular->message);
    if (b)
      lam_json_close (b);
  }
  if (b) {
    lam_json_close_array (b);
    lam_json_print (b);
  }
}

static void
print_jacobian (const LamJacobian *j, GStrv by, GStrv labels, const LamModel *m, double cut)
{
  const int64_t *numbers = lam_model_bloch (m) ? lam_bloch_model_numbers (lam_model_bloch (m)) : NULL;
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    json_file (b, m);
    json_orders (b, j, cut);
    lam_json_int (b, "samples", j->signal.samples);
    lam_json_open_array (b, "derivatives");
    for (int64_t v = 0; v < j->signal.voxels; v++)
      for (int k = 0; k < j->n; k++) {
        lam_json_open (b, NULL);
        lam_json_text (b, "tissue", labels[v]);
        lam_json_text (b, "by", by[k]);
        json_signal (b, j->re, j->im, (v * j->n + k) * j->signal.samples, j->signal.samples);
        lam_json_close (b);
      }
    lam_json_close_array (b);
    lam_json_print (b);
    return;
  }
  for (int64_t v = 0; v < j->signal.voxels; v++)
    for (int k = 0; k < j->n; k++) {
      double largest = 0;
      int64_t where = 0;
      for (int64_t i = 0; i < j->signal.samples; i++) {
        int64_t at = (v * j->n + k) * j->signal.samples + i;
        double m = hypot (part (j->re, at), part (j->im, at));
        if (m > largest) {
          largest = m;
          where = i;
        }
      }
      lam_cli_print (_ ("%s, by %s: at most %s, at sample %" G_GINT64_FORMAT), labels[v], by[k],
                     lam_cli_number (largest), numbers ? numbers[where] : where);
    }
}

/* What is known beforehand fits, or the error says what it takes. */
static gboolean
jacobian_fits (LamModel *m, const LamTissues *t, const LamSimulateOptions *o, GStrv names, LamDevices *set,
               GError **error)
{
  GError *local = NULL;
  g_autoptr (LamPlan) plan = lam_model_jacobian_plan (m, t, o, (const char *const *) names, set, &local);
  if (local)
    g_propagate_error (error, local);
  return !local && (!plan || lam_plan_fits (plan, error));
}

static gboolean
derive (const LamCliHelp *help, gboolean want_bounds, int argc, char **argv, GError **error)
{
  const GOptionEntry *groups[] = {derivative_entries, lam_mr_entries, lam_file_entries, lam_cli_spins_entries, NULL};
  g_auto (GStrv) labels = NULL, by = NULL;
  if (!lam_cli_parse (help, groups, 1, 1, &argc, &argv, error)
      || (output && !lam_cli_suffix (output, _ ("a table is written"), lam_cli_table_suffixes, error)))
    return FALSE;
  gboolean file = lam_file_is_sequence (argv[1]);
  if (!file && !lam_file_no_options (error))
    return FALSE;
  g_autoptr (LamModel) m =
      file ? lam_file_model (argv[1], LAM_BLOCH_SAMPLES_CENTRE, FALSE, error) : lam_mr_model (argv[1], error);
  g_autoptr (LamTissues) t = m ? lam_mr_tissues (&labels, error) : NULL;
  g_autoptr (LamDevices) set = t ? lam_mr_device_set (lam_mr_devices (), error) : NULL;
  if (!set)
    return FALSE;
  g_auto (GStrv) names = g_strsplit (by_text ? by_text : "T1,T2", ",", -1);
  LamSimulateOptions o;
  LamJacobian j = {0};
  double noise = 0.01;
  if (!lam_mr_simulate_options (&o, error) || !lam_cli_double ("--noise", noise_text, 1e-30, 1e30, &noise, error)
      || (output
          && ((file && !lam_cli_not_same (argv[1], output, error)) || !lam_cli_spares_tables (output, error)
              || !lam_cli_writable (output, error))))
    return FALSE;
  if (!*names) {
    lam_cli_usage_error (error, _ ("--by: no name is there; give --by T1,T2"));
    return FALSE;
  }
  if (!lam_model_check_by (m, (const char *const *) names, error))
    return lam_cli_to_usage (error);
  if (file) {
    g_autofree char *heard = lam_file_describe (lam_model_bloch (m));
    lam_mr_warn_unknown (m, t);
    lam_cli_print ("%s", heard);
  }
  if (!jacobian_fits (m, t, &o, names, set, error)
      || !lam_model_jacobian (m, t, &o, (const char *const *) names, set, lam_cli_control (), &j, &by, error))
    return lam_mr_missing (error);
  const double cut = file || lam_model_is_closed (m) ? NAN : worst_cut (argv[1], m, t, &o, set, &j.signal);
  const int64_t *numbers = file ? lam_bloch_model_numbers (lam_model_bloch (m)) : NULL;
  g_autoptr (GString) table = want_bounds ? g_string_new (NULL)
                              : output    ? jacobian_table (&j, by, labels, numbers)
                                          : NULL;
  if (want_bounds)
    bounds (&j, by, labels, t, noise, m, cut, table);
  else
    print_jacobian (&j, by, labels, m, cut);
  lam_mr_say_cut (j.signal.orders, cut);
  gboolean ok = !output || write_text (output, table, error);
  lam_jacobian_clear (&j);
  return ok;
}

static int
status_of (gboolean ok, GError *error)
{
  int status = ok ? LAM_EXIT_DONE : lam_cli_fail (error);
  g_clear_error (&error);
  return status;
}

int
lam_cli_simulate (int argc, char **argv)
{
  GError *error = NULL;
  gboolean ok = simulate (argc, argv, &error);
  return status_of (ok, error);
}

int
lam_cli_jacobian (int argc, char **argv)
{
  GError *error = NULL;
  gboolean ok = derive (&jacobian_help, FALSE, argc, argv, &error);
  return status_of (ok, error);
}

int
lam_cli_crlb (int argc, char **argv)
{
  GError *error = NULL;
  gboolean ok = derive (&crlb_help, TRUE, argc, argv, &error);
  return status_of (ok, error);
}
