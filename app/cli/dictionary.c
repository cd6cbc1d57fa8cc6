/* dictionary.c: signals of many tissues, kept for `lamina match'. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/dictionary.h"
#include "cli/file-options.h"
#include "cli/json.h"
#include "cli/mr-options.h"
#include "cli/progress.h"
#include "cli/spins.h"
#include "io/dictionary-file.h"

static char **ranges, *output, *rank_text, *energy_text;
static gboolean geometric, list, longer_t2, forecast;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("The dictionary to write"), "DICT.h5"},
    {"range", 'r', 0, G_OPTION_ARG_STRING_ARRAY, &ranges,
     N_ ("Values of a tissue quantity, ms and Hz: 10,20 or 200:3000:60 or @FILE; again for each quantity"),
     "NAME=VALUES"},
    {"log", 0, 0, G_OPTION_ARG_NONE, &geometric, N_ ("FROM:TO:COUNT in equal ratios, not equal steps"), NULL},
    {"list", 0, 0, G_OPTION_ARG_NONE, &list,
     N_ ("Lists of equal length side by side, not every value with every other"), NULL},
    {"longer-t2", 0, 0, G_OPTION_ARG_NONE, &longer_t2, N_ ("Keep atoms with T2 above T1 (else left out)"), NULL},
    {"rank", 0, 0, G_OPTION_ARG_STRING, &rank_text, N_ ("Also keep the R modes that the signals are best made of"),
     "R"},
    {"energy", 0, 0, G_OPTION_ARG_STRING, &energy_text,
     N_ ("... as many modes as keep this share of the energy (0.9999)"), "X"},
    {"forecast", 0, 0, G_OPTION_ARG_NONE, &forecast, N_ ("Say how many atoms, how much memory and time, and stop"),
     NULL},
    {NULL},
};

static const LamCliHelp help = {
    "TEMPLATE|FILE.seq --range NAME=VALUES ... -o DICT.h5",
    N_ ("Simulates a template or a Pulseq file for every combination of tissue quantities and keeps the signals, for "
        "`lamina match'."),
    "  lamina dictionary MRF --set flip=5:60:200 --set TR=10 --range T1=200:3000:60 --range T2=10:300:40 --log \\\n"
    "      --rank 5 -o dict.h5\n"
    "  lamina dictionary mrf.seq --range T1=200:3000:60 --range T2=10:300:40 --log --spins 64 --voxel-size 4 -o "
    "dict.h5",
};

/* ---- what is asked for ---- */

/* FROM:TO:COUNT with equal ratios; other words as they are. */
static GArray *
values_of (const char *name, const char *text, GError **error)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (int i = 0; words[i]; i++) {
    g_autoptr (GArray) some = lam_mr_list (name, words[i], 0, error);
    if (!some)
      return NULL;
    double *x = (double *) (void *) some->data, last = x[some->len - 1];
    const char *colon = strchr (words[i], ':');
    gboolean range = geometric && *words[i] != '@' && colon && strchr (colon + 1, ':') && some->len > 1;
    if (range && !(x[0] > 0 && last > 0 && isfinite (x[0]) && isfinite (last))) {
      lam_cli_usage_error (error, _ ("%s: equal ratios (--log) need ends above 0"), name);
      return NULL;
    }
    for (guint k = 1; range && k + 1 < some->len; k++)
      x[k] = x[0] * pow (last / x[0], (double) k / (some->len - 1));
    g_array_append_vals (all, x, some->len);
  }
  return g_steal_pointer (&all);
}

static LamAtoms *
read_atoms (const LamModel *m, GError **error)
{
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref),
                        names = g_ptr_array_new_with_free_func (g_free);
  int n = ranges ? (int) g_strv_length (ranges) : 0;
  g_autofree LamAtomAxis *axes = g_new0 (LamAtomAxis, n + 1);
  if (n == 0) {
    lam_cli_usage_error (error, _ ("no tissue: give --range T1=200:3000:60 and --range T2=10:300:40"));
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    const char *text;
    char *name = lam_mr_name ("--range", "NAME=VALUES", ranges, i, &text, error);
    if (!name)
      return NULL;
    if (lam_mr_quantity (name)) { /* as it is called, not as it is typed */
      char *called = g_strdup (lam_mr_quantity (name));
      g_free (name);
      name = called;
    }
    g_ptr_array_add (names, name);
    GArray *values = values_of (name, text, error);
    if (!values)
      return NULL;
    g_ptr_array_add (lists, values);
    if (!lam_mr_knows (m, g_ptr_array_index (names, i))) {
      const LamProtocol *p = lam_model_protocol (m);
      g_autofree char *known =
          g_strjoinv (", ", (char **) (p ? lam_protocol_template (p)->tissues : lam_bloch_model_quantities ()));
      lam_cli_usage_error (error, _ ("--range %s: no sample of %s depends on it; it knows %s"), ranges[i],
                           lam_mr_model_name (m), known);
      return NULL;
    }
    axes[i] = (LamAtomAxis){g_ptr_array_index (names, i), (const double *) (void *) values->data, values->len};
  }
  LamAtoms *a = lam_atoms_new (list ? LAM_ATOMS_LIST : LAM_ATOMS_GRID, axes, n, longer_t2, error);
  if (!a)
    lam_cli_to_usage (error);
  return a;
}

/* ---- what is said ---- */

static void
json_axes (JsonBuilder *b, const LamAtoms *a)
{
  lam_json_open_array (b, "parameters");
  for (int i = 0; i < a->columns; i++) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t k = 0; k < a->n; k++) {
      least = fmin (least, a->values[i * a->n + k]);
      most = fmax (most, a->values[i * a->n + k]);
    }
    lam_json_open (b, NULL);
    lam_json_text (b, "name", a->names[i]);
    lam_json_text (b, "unit", lam_tissue_find (a->names[i])->unit);
    lam_json_number (b, "least", least);
    lam_json_number (b, "most", most);
    lam_json_close (b);
  }
  lam_json_close_array (b);
}

/* How the file was played, and which samples of it are kept. */
static void
print_sequence (const LamDictionaryPulseq *p)
{
  const LamBlochModelOptions *o = &p->options;
  g_autoptr (GString) field = g_string_new (NULL);
  if (o->at_mm[0] != 0 || o->at_mm[1] != 0 || o->at_mm[2] != 0)
    g_string_append_printf (field, _ (" about %s, %s, %s mm"), lam_cli_number (o->at_mm[0]),
                            lam_cli_number (o->at_mm[1]), lam_cli_number (o->at_mm[2]));
  if (!isnan (o->f0_hz))
    g_string_append_printf (field, _ (", at %s T"), lam_cli_number (o->f0_hz / LAM_GAMMA_1H));
  lam_cli_print (_ ("  of %s, %s"), o->file ? o->file : _ ("a file without a name"),
                 o->checksum ? o->checksum : _ ("without a checksum"));
  lam_cli_print (o->sampling == LAM_BLOCH_SAMPLES_ALL
                     ? _ ("  all samples, from %s to %s s")
                     : _ ("  of each readout the sample nearest the centre of k-space (all where k stands still), from "
                          "%s to %s s"),
                 lam_cli_number (p->time[0]), lam_cli_number (p->time[p->samples - 1]));
  if (o->spins > 1)
    lam_cli_print (_ ("  by Bloch's equations, %" G_GINT64_FORMAT " spins through %s x %s x %s mm%s"), o->spins,
                   lam_cli_number (o->size_mm[0]), lam_cli_number (o->size_mm[1]), lam_cli_number (o->size_mm[2]),
                   field->str);
  else
    lam_cli_print (_ ("  by Bloch's equations, one spin in the middle of the voxel%s"), field->str);
}

int
lam_cli_show_dictionary (const char *path, const LamDictionary *d)
{
  const LamAtoms *a = d->atoms;
  lam_cli_print (_ ("%s: dictionary of %s, %" G_GINT64_FORMAT " atoms of %" G_GINT64_FORMAT " contrasts, %s"), path,
                 lam_dictionary_origin (d), a->n, d->samples, d->re && d->im ? _ ("complex") : _ ("of one phase"));
  for (int i = 0; i < a->columns; i++) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t k = 0; k < a->n; k++) {
      least = fmin (least, a->values[i * a->n + k]);
      most = fmax (most, a->values[i * a->n + k]);
    }
    lam_cli_print (_ ("  %s: %s to %s %s"), a->names[i], lam_cli_number (least), lam_cli_number (most),
                   lam_tissue_find (a->names[i])->unit);
  }
  if (d->pulseq)
    print_sequence (d->pulseq);
  if (a->excluded)
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " atoms with T2 above T1"), a->excluded);
  if (d->dropped)
    lam_cli_print (_ ("left out: %" G_GINT64_FORMAT " atoms whose signal is zero or not finite"), d->dropped);
  LamSimulateOptions asked; /* nothing, where the dictionary is from a file */
  lam_mr_say_settled (d->played, d->residual, lam_mr_simulate_options (&asked, NULL) ? asked.settle : 0);
  if (d->subspace)
    lam_cli_print (_ ("basis: %d modes keep %s %% of the energy"), d->subspace->rank,
                   lam_cli_format ("%.6f", 100 * d->subspace->retained));
  if (!lam_cli_json)
    return LAM_EXIT_DONE;
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "file", path);
  lam_json_text (b, "type", "dictionary");
  lam_json_text (b, "template", d->template);
  lam_json_int (b, "atoms", a->n);
  lam_json_int (b, "contrasts", d->samples);
  lam_json_bool (b, "complex", d->re && d->im);
  json_axes (b, a);
  lam_json_int (b, "excluded", a->excluded);
  lam_json_int (b, "dropped", d->dropped);
  lam_json_int (b, "orders", d->orders);
  lam_mr_json_settled (b, d->played, d->residual);
  lam_json_int (b, "rank", d->subspace ? d->subspace->rank : 0);
  lam_json_number (b, "retained_energy", d->subspace ? d->subspace->retained : NAN);
  if (d->pulseq)
    lam_file_json (b, &d->pulseq->options, d->pulseq->samples, d->pulseq->number, d->pulseq->time);
  lam_json_open (b, "protocol");
  for (const LamField *f = d->protocol ? lam_protocol_template (d->protocol)->fields : NULL; f && f->name; f++) {
    int n;
    const double *v = lam_protocol_get (d->protocol, f->name, &n);
    if (n == 1)
      lam_json_number (b, f->name, v[0]);
    else
      lam_json_numbers (b, f->name, v, n);
  }
  lam_json_close (b);
  lam_json_print (b);
  return LAM_EXIT_DONE;
}

static gboolean
say_forecast (LamModel *m, const LamAtoms *a, LamDevices *set, GError **error)
{
  LamSimulateOptions o;
  if (!lam_mr_simulate_options (&o, error))
    return FALSE;
  g_autoptr (LamPlan) plan = lam_dictionary_plan (m, a, &o, set, error);
  double seconds = NAN;
  if (!plan || !lam_plan_fits (plan, error)
      || !lam_dictionary_seconds (m, a, &o, set, lam_cli_control (), &seconds, error))
    return lam_mr_missing (error);
  lam_cli_print (_ ("forecast: %" G_GINT64_FORMAT " atoms, %s of memory, about %s s"), a->n,
                 lam_cli_bytes (lam_plan_total (plan)), lam_cli_format ("%.2g", seconds));
  if (forecast && lam_cli_json) {
    JsonBuilder *b = lam_json_begin ();
    lam_json_int (b, "atoms", a->n);
    lam_json_int (b, "excluded", a->excluded);
    lam_json_int (b, "contrasts", lam_model_samples (m, NULL));
    lam_json_bytes (b, "bytes", lam_plan_total (plan));
    lam_json_number (b, "seconds", seconds);
    lam_json_print (b);
  }
  return TRUE;
}

#define LOOKED_AT 16

/* What the orders left out cost, at most, of some of the atoms; NAN where none are. */
static double
worst_cut (const char *name, LamModel *m, const LamAtoms *a, const LamSimulateOptions *o, LamDevices *set)
{
  int64_t n = MIN (a->n, LOOKED_AT);
  g_autoptr (LamModel) finer = lam_model_bloch (m) || lam_model_is_closed (m) ? NULL : lam_mr_model (name, NULL);
  g_autoptr (LamTissues) t = lam_tissues_new (n);
  double values[LOOKED_AT], cut[LOOKED_AT], worst = NAN;
  LamSignal s = {0};
  for (int c = 0; finer && c < a->columns; c++) {
    for (int64_t k = 0; k < n; k++)
      values[k] = a->values[c * a->n + (n > 1 ? k * (a->n - 1) / (n - 1) : 0)];
    if (!lam_tissues_set (t, a->names[c], values, n, NULL))
      return NAN;
  }
  if (finer && lam_model_simulate (m, t, o, set, lam_cli_control (), &s, NULL)) {
    lam_model_truncation (m, finer, t, o, set, &s, cut);
    for (int64_t k = 0; k < n; k++)
      worst = fmax (worst, cut[k]);
  }
  lam_signal_clear (&s);
  return worst;
}

static gboolean
run (int argc, char **argv, GError **error)
{
  const GOptionEntry *groups[] = {entries, lam_mr_entries, lam_file_entries, lam_cli_spins_entries, NULL};
  int64_t rank = 0;
  double energy = NAN;
  if (!lam_cli_parse (&help, groups, 1, 1, &argc, &argv, error) || !lam_mr_no_tissues (error)
      || !lam_cli_int ("--rank", rank_text, 1, 100000, &rank, error)
      || !lam_cli_double ("--energy", energy_text, 0, 1, &energy, error))
    return FALSE;
  if (!output && !forecast) {
    lam_cli_usage_error (error, _ ("-o DICT.h5 is needed: where the dictionary goes"));
    return FALSE;
  }
  if (output && !lam_cli_suffix (output, _ ("a dictionary is written as HDF5"), lam_cli_h5_suffixes, error))
    return FALSE;
  gboolean file = lam_file_is_sequence (argv[1]);
  if ((!file && !lam_file_no_options (error)) || (file && output && !lam_cli_not_same (argv[1], output, error)))
    return FALSE;
  g_autoptr (LamModel) m =
      file ? lam_file_model (argv[1], LAM_BLOCH_SAMPLES_CENTRE, TRUE, error) : lam_mr_model (argv[1], error);
  g_autoptr (LamAtoms) a = m ? read_atoms (m, error) : NULL;
  g_autoptr (LamDevices) set = a ? lam_mr_device_set (lam_mr_devices (), error) : NULL;
  if (!set || (output && !lam_cli_writable (output, error)) || !say_forecast (m, a, set, error))
    return FALSE;
  if (forecast)
    return TRUE;
  LamSimulateOptions o;
  if (!lam_mr_simulate_options (&o, error))
    return FALSE;
  g_autoptr (LamDictionary) d = lam_dictionary_new (m, a, &o, set, lam_cli_control (), error);
  if (!d)
    return lam_mr_missing (error);
  if ((rank > 0 || !isnan (energy)) && !lam_dictionary_compress (d, (int) rank, energy, set, lam_cli_control (), error))
    return FALSE;
  if (!lam_dictionary_save (d, output, lam_cli_io (), error))
    return FALSE;
  lam_cli_progress_clear ();
  lam_mr_say_cut (d->orders, worst_cut (argv[1], m, a, &o, set));
  return lam_cli_show_dictionary (output, d) == LAM_EXIT_DONE;
}

int
lam_cli_dictionary (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  return run (argc, argv, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}
