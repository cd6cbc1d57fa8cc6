/* design.c: a protocol that is best for something, within bounds and limits. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/mr-options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "core/error.h"
#include "mr/design.h"

static char **vary, *objective_text, *by_text, *count_text, *noise_text, *smooth_text, *energy_text, *longest_text,
    *evaluations_text, *output;

static const GOptionEntry entries[] = {
    {"vary", 'v', 0, G_OPTION_ARG_STRING_ARRAY, &vary, N_ ("A field whose values are varied, and between what"),
     "NAME=LOW:HIGH"},
    {"objective", 0, 0, G_OPTION_ARG_STRING, &objective_text,
     N_ ("bound (Cramér–Rao, the default), signal, or contrast (second tissue over the first)"), "NAME"},
    {"by", 'b', 0, G_OPTION_ARG_STRING, &by_text, N_ ("bound: quantities that are estimated together (T1,T2,M0)"),
     "NAMES"},
    {"count", 0, 0, G_OPTION_ARG_STRING, &count_text, N_ ("bound: those of them that count (T1,T2)"), "NAMES"},
    {"noise", 0, 0, G_OPTION_ARG_STRING, &noise_text, N_ ("bound: standard deviation of each real channel (0.01)"),
     "X"},
    {"smooth", 0, 0, G_OPTION_ARG_STRING, &smooth_text, N_ ("Weight of steps between neighbours (0)"), "X"},
    {"energy", 0, 0, G_OPTION_ARG_STRING, &energy_text,
     N_ ("Most of the sum of squared flips, relative to the start (no limit)"), "X"},
    {"longest", 0, 0, G_OPTION_ARG_STRING, &longest_text, N_ ("Longest total time, ms (no limit)"), "MS"},
    {"evaluations", 0, 0, G_OPTION_ARG_STRING, &evaluations_text, N_ ("At most so many (300)"), "N"},
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
     N_ ("Write the values found, one column for each field, for --set NAME=@OUT.csv"), "OUT.csv"},
    {NULL},
};

static const LamCliHelp help = {
    "TEMPLATE --vary NAME=LOW:HIGH [-o OUT.csv]",
    N_ ("Varies values of a protocol until an objective over the tissues is as small as it gets, within bounds. Ctrl+C "
        "keeps the best "
        "so far."),
    "  lamina design MRF --set flip=30*200 --vary flip=5:70 --smooth 0.5 --energy 1 -t \"T1=1000 T2=80\" -o train.csv",
};

static gboolean
read_variables (LamDesign *d, LamDesignVariable *variables, GPtrArray *names, GError **error)
{
  for (int i = 0; vary && vary[i] && i < 16; i++) {
    LamDesignVariable *v = &variables[d->n_variables];
    const char *bounds;
    char *name = lam_mr_name ("--vary", "NAME=LOW:HIGH", vary, i, &bounds, error);
    if (!name)
      return FALSE;
    g_ptr_array_add (names, name);
    v->field = name;
    if (!lam_cli_pair ("--vary", "NAME=LOW:HIGH", bounds, &v->low, &v->high, error))
      return FALSE;
    d->n_variables++;
  }
  if (d->n_variables == 0)
    lam_cli_usage_error (error, _ ("nothing is to be varied: give --vary flip=5:70"));
  return d->n_variables > 0;
}

static GString *
table (const LamModel *m, const LamDesign *d)
{
  GString *t = g_string_new ("index");
  int most = 0, n;
  for (int v = 0; v < d->n_variables; v++) {
    g_string_append_printf (t, ",%s", d->variables[v].field);
    lam_protocol_get (lam_model_protocol (m), d->variables[v].field, &n);
    most = MAX (most, n);
  }
  for (int i = 0; i < most; i++) {
    g_string_append_printf (t, "\n%d", i);
    for (int v = 0; v < d->n_variables; v++) {
      const double *x = lam_protocol_get (lam_model_protocol (m), d->variables[v].field, &n);
      g_string_append_printf (t, ",%s",
                              i < n ? lam_cli_format ("%.17g", x[i]) : ""); /* --set NAME=@FILE gives it back */
    }
  }
  g_string_append_c (t, '\n');
  return t;
}

static void
print_report (const LamModel *m, const LamDesign *d, const LamDesignReport *r)
{
  if (!lam_cli_json) {
    lam_cli_print (_ ("objective %s, from %s, after %d evaluations; energy %s of the start's"), lam_cli_number (r->end),
                   lam_cli_number (r->start), r->evaluations, lam_cli_number (r->energy));
    return;
  }
  JsonBuilder *b = lam_json_begin ();
  lam_json_number (b, "start", r->start);
  lam_json_number (b, "end", r->end);
  lam_json_int (b, "evaluations", r->evaluations);
  lam_json_number (b, "energy", r->energy);
  lam_json_open (b, "values");
  for (int v = 0; v < d->n_variables; v++) {
    int n;
    const double *x = lam_protocol_get (lam_model_protocol (m), d->variables[v].field, &n);
    lam_json_numbers (b, d->variables[v].field, x, n);
  }
  lam_json_close (b);
  lam_json_print (b);
}

static gboolean
design (int argc, char **argv, GError **error)
{
  static const char *const objectives[] = {"bound", "signal", "contrast", NULL};
  const GOptionEntry *groups[] = {entries, lam_mr_entries, NULL};
  if (!lam_cli_parse (&help, groups, 1, 1, &argc, &argv, error)
      || (output && !lam_cli_suffix (output, _ ("a table is written"), lam_cli_table_suffixes, error)))
    return FALSE;
  g_auto (GStrv) by = NULL, counted = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  LamDesignVariable variables[16];
  LamDesign d = {.noise = 0.01, .variables = variables};
  int objective = 0;
  int64_t most = 300;
  g_autoptr (LamModel) m = lam_mr_model (argv[1], error);
  if (!m || !lam_cli_choice ("--objective", objective_text, objectives, &objective, error)
      || !lam_cli_double ("--noise", noise_text, 1e-30, 1e30, &d.noise, error)
      || !lam_cli_double ("--smooth", smooth_text, 0, 1e9, &d.smoothness, error)
      || !lam_cli_double ("--energy", energy_text, 1e-6, 1e6, &d.energy, error)
      || !lam_cli_double ("--longest", longest_text, 1e-6, 1e9, &d.longest, error)
      || !lam_cli_int ("--evaluations", evaluations_text, 1, 1000000, &most, error)
      || !read_variables (&d, variables, names, error)
      || (output && (!lam_cli_spares_tables (output, error) || !lam_cli_writable (output, error))))
    return FALSE;
  by = g_strsplit (by_text ? by_text : "T1,T2,M0", ",", -1);
  counted = g_strsplit (count_text ? count_text : "T1,T2", ",", -1);
  d.objective = objective;
  d.most = (int) most;
  d.quantities = (const char *const *) by;
  d.counted = (const char *const *) counted;
  g_autoptr (LamTissues) t = lam_mr_tissues (NULL, error);
  g_autoptr (LamDevices) set = t ? lam_mr_device_set (lam_mr_devices (), error) : NULL;
  LamDesignReport report;
  for (int i = 0; count_text && counted[i]; i++)
    if (!g_strv_contains (d.quantities, counted[i])) {
      lam_cli_usage_error (error, _ ("--count: \"%s\" is not among those that are estimated: %s"), counted[i],
                           by_text ? by_text : "T1,T2,M0");
      return FALSE;
    }
  if (t && !lam_design_check (m, t, &d, error))
    return lam_cli_to_usage (error);
  lam_cli_keep (TRUE);
  if (!set)
    return FALSE;
  if (!lam_design (m, t, &d, set, NULL, NULL, lam_cli_control (), &report, error))
    return lam_mr_missing (error);
  lam_cli_progress_clear ();
  print_report (m, &d, &report);
  if (!output)
    return TRUE;
  g_autoptr (GString) text = table (m, &d);
  return g_file_set_contents_full (output, text->str, (gssize) text->len, G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
}

int
lam_cli_design (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  return design (argc, argv, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}
