#include "config.h"

#include "cli/mr-options.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/table.h"
#include "core/error.h"
#include "mr/number-list.h"
#include "mr/presets.h"

static char **settings, **tissue_texts, **presets;
static char *orders_text, *devices, *positions_text, *settle_text, *chunk_text;

#define TISSUE_ENTRIES                                                                                                 \
  {"tissue",                                                                                                           \
   't',                                                                                                                \
   0,                                                                                                                  \
   G_OPTION_ARG_STRING_ARRAY,                                                                                          \
   &tissue_texts,                                                                                                      \
   N_ ("One voxel for each time, or lists of equal length"),                                                           \
   "\"T1=1000 T2=80\""},                                                                                               \
  {                                                                                                                    \
    "preset", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &presets,                                                             \
        N_ ("A tissue by name and field, such as \"white matter@3\""), "NAME"                                          \
  }

const GOptionEntry lam_mr_tissue_entries[] = {TISSUE_ENTRIES, {NULL}};

const GOptionEntry lam_mr_entries[] = {
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &settings,
     N_ ("A value of the protocol, ms and degrees; lists: 10,20 or 5:60:188 or 2*124, a formula of n as "
         "10+50*sin(pi*n/N):200, or @FILE, a column of a table"),
     "NAME=VALUES"},
    TISSUE_ENTRIES,
    {"orders", 0, 0, G_OPTION_ARG_STRING, &orders_text, N_ ("EPG orders kept (default: the template's own)"), "N"},
    {"across-slice", 0, 0, G_OPTION_ARG_STRING, &positions_text,
     N_ ("Positions across the slice for selective pulses (1)"), "N"},
    {"settle", 0, 0, G_OPTION_ARG_STRING, &settle_text, N_ ("Residual of trains played until settled (1e-6)"), "X"},
    {"chunk", 0, 0, G_OPTION_ARG_STRING, &chunk_text, N_ ("Voxels at a time on a device (chosen from its memory)"),
     "N"},
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {NULL},
};

/* ---- numbers ---- */

GArray *
lam_mr_list (const char *name, const char *text, int count, GError **error)
{
  int n;
  if (*text == '@')
    return lam_cli_table_column (text + 1, name, error);
  double *values = lam_number_list_parse (text, count, &n, error);
  if (!values) {
    g_prefix_error (error, "%s: ", name);
    lam_cli_to_usage (error);
    return NULL;
  }
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof *values, (guint) n);
  g_array_append_vals (list, values, (guint) n);
  g_free (values);
  return list;
}

const char *
lam_mr_quantity (const char *name)
{
  if (lam_tissue_find (name))
    return name;
  for (int i = 0; i < LAM_TISSUE_QUANTITIES; i++)
    if (g_ascii_strcasecmp (lam_tissue_info (i)->name, name) == 0)
      return lam_tissue_info (i)->name;
  return NULL;
}

/* NAME of "NAME=VALUES", g_free (); @values gets what follows. One that was there among the first @before of @all is refused. */
char *
lam_mr_name (const char *option, const char *form, GStrv all, int before, const char **values, GError **error)
{
  char *equals = strchr (all[before], '=');
  if (!equals || equals == all[before]) {
    lam_cli_usage_error (error, _ ("%s %s: %s is expected"), option, all[before], form);
    return NULL;
  }
  *values = equals + 1;
  for (int i = 0; i < before; i++)
    if (g_ascii_strncasecmp (all[i], all[before], equals + 1 - all[before]) == 0) {
      lam_cli_usage_error (error, _ ("%s: %.*s is there twice, as \"%s\" and as \"%s\": give it once"), option,
                           (int) (equals - all[before]), all[before], all[i], all[before]);
      return NULL;
    }
  return g_strndup (all[before], equals - all[before]);
}

/* ---- the template ---- */

static void
no_such_template (const char *name, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);
  int n;
  const LamTemplate *const *all = lam_templates (&n);
  if (g_str_has_suffix (name, ".seq")) {
    lam_cli_usage_error (error,
                         _ ("%s: a Pulseq file is played as it is, and designs are of templates only; `lamina "
                            "simulate', `jacobian', `crlb', `dictionary', `render' and `info' take Pulseq files"),
                         name);
    return;
  }
  for (int i = 0; i < n; i++)
    g_string_append_printf (known, "%s%s", i ? ", " : "", all[i]->name);
  lam_cli_usage_error (error, _ ("there is no template \"%s\"; there are %s"), name, known->str);
}

static int
longest_list (const LamModel *m)
{
  const LamProtocol *p = lam_model_protocol (m);
  int longest = 1, n;
  for (const LamField *f = lam_protocol_template (p)->fields; f->name; f++) {
    lam_protocol_get (p, f->name, &n);
    longest = MAX (longest, n);
  }
  return longest;
}

/* --set number @i, if it is of this turn. */
static gboolean
set (LamModel *m, int i, gboolean formulas, GError **error)
{
  const char *values;
  g_autofree char *name = lam_mr_name ("--set", "NAME=VALUES", settings, i, &values, error);
  if (!name)
    return FALSE;
  if (formulas != (*values != '@' && lam_number_list_wants_count (values)))
    return TRUE;
  const LamTemplate *t = lam_protocol_template (lam_model_protocol (m));
  const LamField *f = lam_template_field (t, name);
  for (const LamField *other = t->fields; !f && other->name; other++)
    if (g_ascii_strcasecmp (other->name, name) == 0)
      f = other;
  int longest = longest_list (m);
  gboolean one = f && f->kind != LAM_FIELD_LIST;
  g_autoptr (GArray) list = lam_mr_list (name, values, one ? 1 : formulas && longest > 1 ? longest : 0, error);
  if (!list)
    return FALSE;
  return lam_model_set (m, f ? f->name : name, (const double *) (void *) list->data, (int) list->len, error)
         || lam_cli_to_usage (error);
}

/* A count of pulses that is given beside lists goes with them. */
static gboolean
counts_agree (const LamModel *m, GError **error)
{
  static const char *const counts[] = {"pulses", "echoes"};
  int longest = longest_list (m);
  for (int i = 0; settings && settings[i] && longest > 1; i++)
    for (guint k = 0; k < G_N_ELEMENTS (counts); k++) {
      const LamProtocol *p = lam_model_protocol (m);
      gsize n = strlen (counts[k]);
      if (g_ascii_strncasecmp (settings[i], counts[k], n) == 0 && settings[i][n] == '='
          && lam_protocol_value (p, counts[k]) != longest) {
        lam_cli_usage_error (error,
                             _ ("--set %s: there are lists of %d values; leave it out, or give lists of as many"),
                             settings[i], longest);
        return FALSE;
      }
    }
  return TRUE;
}

LamModel *
lam_mr_model (const char *name, GError **error)
{
  const LamTemplate *t = lam_template_find (name);
  int64_t orders = 0;
  if (!t) {
    no_such_template (name, error);
    return NULL;
  }
  g_autoptr (LamModel) m = lam_model_new (t);
  if (!lam_cli_int ("--orders", orders_text, 1, 100000, &orders, error))
    return NULL;
  lam_model_set_orders (m, (int) orders);
  /* Formulas that do not say how many last: they make as many values as the longest list has. */
  for (int formulas = 0; formulas < 2; formulas++)
    for (int i = 0; settings && settings[i]; i++)
      if (!set (m, i, formulas, error))
        return NULL;
  return counts_agree (m, error) ? g_steal_pointer (&m) : NULL;
}

/* ---- tissues ---- */

typedef struct {
  char *name;
  GArray *values; /* one for each voxel so far */
} Column;

static void
clear_column (void *data)
{
  Column *c = data;
  g_free (c->name);
  g_array_unref (c->values);
}

static Column *
column (GArray *columns, const char *name, int64_t before)
{
  for (guint i = 0; i < columns->len; i++)
    if (g_str_equal (g_array_index (columns, Column, i).name, name))
      return &g_array_index (columns, Column, i);
  Column c = {g_strdup (name), g_array_new (FALSE, FALSE, sizeof (double))};
  const LamTissueInfo *info = lam_tissue_find (name);
  for (int64_t i = 0; i < before; i++)
    g_array_append_val (c.values, info->absent);
  g_array_append_val (columns, c);
  return &g_array_index (columns, Column, columns->len - 1);
}

/* One --tissue: its voxels are as many as its longest list. */
static gboolean
add_voxels (GArray *columns, GPtrArray *labels, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (text, " ;", -1);
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref),
                        names = g_ptr_array_new_with_free_func (g_free);
  guint most = 1;
  int64_t before = labels->len;
  for (int i = 0; words[i]; i++) {
    char *equals = strchr (words[i], '=');
    if (!*words[i])
      continue;
    g_autofree char *typed = equals ? g_strndup (words[i], equals - words[i]) : g_strdup (words[i]);
    g_autofree char *name = g_strdup (lam_mr_quantity (typed));
    if (!equals || !name) {
      lam_cli_usage_error (
          error, _ ("--tissue: \"%s\" is no NAME=VALUE of a tissue quantity such as T1, T2, M0, B1, B0, D"), words[i]);
      return FALSE;
    }
    for (guint k = 0; k < names->len; k++)
      if (g_str_equal (names->pdata[k], name)) {
        lam_cli_usage_error (error, _ ("--tissue \"%s\": %s is there twice"), text, name);
        return FALSE;
      }
    GArray *list = lam_mr_list (name, equals + 1, 0, error);
    if (!list)
      return FALSE;
    most = MAX (most, list->len);
    g_ptr_array_add (lists, list);
    g_ptr_array_add (names, g_steal_pointer (&name));
  }
  if (lists->len == 0) {
    lam_cli_usage_error (error, _ ("--tissue \"%s\" names no quantity: give --tissue \"T1=1000 T2=80\""), text);
    return FALSE;
  }
  for (guint i = 0; i < lists->len; i++) {
    GArray *list = g_ptr_array_index (lists, i);
    Column *c = column (columns, g_ptr_array_index (names, i), before);
    if (list->len != 1 && list->len != most) {
      lam_cli_usage_error (error, _ ("--tissue: %s has %u values where another list has %u"), c->name, list->len, most);
      return FALSE;
    }
    for (guint v = 0; v < most; v++)
      g_array_append_val (c->values, g_array_index (list, double, list->len == 1 ? 0 : v));
  }
  for (guint v = 0; v < most; v++)
    g_ptr_array_add (labels, most == 1 ? g_strdup (text) : g_strdup_printf ("%s [%u]", text, v));
  for (guint i = 0; i < columns->len; i++) { /* what this voxel did not name */
    Column *c = &g_array_index (columns, Column, i);
    while (c->values->len < labels->len)
      g_array_append_val (c->values, lam_tissue_find (c->name)->absent);
  }
  return TRUE;
}

/* No tissue has it, but the equations do: it is played, and said. */
static void
warn_of_long_t2 (const LamTissues *t, const GPtrArray *labels)
{
  int64_t n, many = 0, first = -1;
  if (!lam_tissues_get (t, "T1", &n) || !lam_tissues_get (t, "T2", &n))
    return;
  for (int64_t v = 0; v < lam_tissues_voxels (t); v++) {
    double t2 = lam_tissues_named_at (t, "T2", v);
    if (isfinite (t2) && t2 > lam_tissues_named_at (t, "T1", v)) {
      first = many == 0 ? v : first;
      many++;
    }
  }
  if (many > 0)
    lam_cli_warn (_ ("T2 is above T1 in %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                     " tissues, first in \"%s\": no tissue "
                     "is so; computed as given"),
                  many, lam_tissues_voxels (t), (const char *) g_ptr_array_index (labels, first));
}

LamTissues *
lam_mr_tissues (GStrv *out_labels, GError **error)
{
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (Column));
  g_autoptr (GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);
  g_array_set_clear_func (columns, clear_column);
  for (int i = 0; presets && presets[i]; i++) {
    const LamTissuePreset *p = lam_tissue_preset (presets[i]);
    if (!p) {
      lam_cli_usage_error (
          error, _ ("--preset: there is no \"%s\"; `lamina simulate --list-presets' shows what there is"), presets[i]);
      return NULL;
    }
    g_autofree char *text = g_strdup_printf ("T1=%g T2=%g", p->t1, p->t2);
    if (!add_voxels (columns, labels, text, error))
      return NULL;
    g_free (g_ptr_array_index (labels, labels->len - 1));
    g_ptr_array_index (labels, labels->len - 1) = g_strdup (presets[i]);
  }
  for (int i = 0; tissue_texts && tissue_texts[i]; i++)
    if (!add_voxels (columns, labels, tissue_texts[i], error))
      return NULL;
  if (labels->len == 0) {
    lam_cli_usage_error (error, _ ("no tissue: give --tissue \"T1=1000 T2=80\" or --preset \"white matter@3\""));
    return NULL;
  }
  g_autoptr (LamTissues) t = lam_tissues_new (labels->len);
  for (guint i = 0; i < columns->len; i++) {
    Column *c = &g_array_index (columns, Column, i);
    if (!lam_tissues_set (t, c->name, (const double *) (void *) c->values->data, c->values->len, error)) {
      lam_cli_to_usage (error);
      return NULL;
    }
  }
  warn_of_long_t2 (t, labels);
  if (out_labels) {
    g_ptr_array_add (labels, NULL);
    *out_labels = (GStrv) g_ptr_array_free (g_steal_pointer (&labels), FALSE);
  }
  return g_steal_pointer (&t);
}

gboolean
lam_mr_knows (const LamModel *m, const char *quantity)
{
  if (lam_model_bloch (m))
    return lam_bloch_model_knows (quantity);
  const LamTemplate *t = lam_protocol_template (lam_model_protocol (m));
  gboolean known = t->build != NULL;
  for (int i = 0; !known && t->tissues[i]; i++)
    known = g_ascii_strcasecmp (t->tissues[i], quantity) == 0;
  return known;
}

const char *
lam_mr_model_name (const LamModel *m)
{
  const LamBlochModel *file = lam_model_bloch (m);
  return file ? lam_bloch_model_options (file)->file : lam_protocol_template (lam_model_protocol (m))->name;
}

void
lam_mr_warn_unknown (const LamModel *m, const LamTissues *t)
{
  const char *const *names = lam_tissues_names (t);
  for (int i = 0; names[i]; i++)
    if (!lam_mr_knows (m, names[i]) && !g_str_equal (names[i], "T1") && !g_str_equal (names[i], "T2"))
      lam_cli_warn (_ ("no sample of %s depends on %s, which is left out"), lam_mr_model_name (m), names[i]);
}

gboolean
lam_mr_no_template_options (GError **error)
{
  const char *given = settings         ? "--set"
                      : orders_text    ? "--orders"
                      : positions_text ? "--across-slice"
                      : settle_text    ? "--settle"
                                       : NULL;
  if (given)
    lam_cli_usage_error (error, _ ("%s is for templates: a Pulseq file is played as it is"), given);
  return given == NULL;
}

gboolean
lam_mr_no_tissues (GError **error)
{
  if (!tissue_texts && !presets)
    return TRUE;
  lam_cli_usage_error (error, _ ("%s is not for this command: give --range NAME=VALUES"),
                       tissue_texts ? "--tissue" : "--preset");
  return FALSE;
}

gboolean
lam_mr_tissues_given (void)
{
  return tissue_texts || presets;
}

const char *
lam_mr_devices (void)
{
  return devices;
}

/* simulate.h */
#define USUAL_RESIDUAL 1e-6

void
lam_mr_say_settled (int played, double residual, double asked)
{
  if (!(residual > 0))
    return;
  if (!isfinite (residual))
    lam_cli_warn (
        _ ("not settled after %d playings, and not known how far from it: a tissue without relaxation (T1 or T2 "
           "infinite) never does"),
        played);
  else if (residual > 1.001 * (asked > 0 ? asked : USUAL_RESIDUAL))
    lam_cli_warn (_ ("not settled after %d playings: still %s of the peak from it"), played, lam_cli_number (residual));
  else
    lam_cli_print (_ ("settled after %d playings to %s of the peak"), played, lam_cli_number (residual));
}

void
lam_mr_json_settled (JsonBuilder *b, int played, double residual)
{
  lam_json_int (b, "playings", played);
  if (isfinite (residual))
    lam_json_number (b, "residual", residual);
  else
    lam_json_text (b, "residual_unknown", "not settled; a tissue without relaxation never does");
}

#define LEAST_CUT 1e-4

void
lam_mr_say_cut (int orders, double cut)
{
  if (cut > LEAST_CUT)
    lam_cli_print (
        _ ("only %d orders are kept: twice as many change the signal by up to %.2g %% of its peak; --orders N keeps "
           "more"),
        orders, 100 * cut);
}

gboolean
lam_mr_missing (GError **error)
{
  return error && g_error_matches (*error, LAM_ERROR, LAM_ERROR_MISSING) && lam_cli_to_usage (error);
}

LamDevices *
lam_mr_device_set (const char *spec, GError **error)
{
  LamDevices *set = lam_devices_new (spec, error);
  if (!set && error && g_error_matches (*error, LAM_ERROR, LAM_ERROR_INVALID))
    lam_cli_to_usage (error);
  return set;
}

gboolean
lam_mr_simulate_options (LamSimulateOptions *o, GError **error)
{
  int64_t positions = 0;
  *o = (LamSimulateOptions){0};
  if (!lam_cli_int ("--across-slice", positions_text, 1, 10000, &positions, error)
      || !lam_cli_int ("--chunk", chunk_text, 1, G_MAXINT32, &o->chunk, error)
      || !lam_cli_double ("--settle", settle_text, 1e-12, 1, &o->settle, error))
    return FALSE;
  o->positions = (int) positions;
  return TRUE;
}
