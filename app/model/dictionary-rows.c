#include "config.h"

#include "model/dictionary-rows.h"

#include <glib/gi18n.h>

#include "core/error.h"

/* Quantities that a dictionary may be of, and the range that is there at first. */
static const struct {
  const char *name, *label, *range;
} quantities[] = {{"T1", "T1", "200:3000:60"},
                  {"T2", "T2", "10:300:40"},
                  {"T2star", "T2*", "5:200:40"},
                  {"D", "D", "0.2:3:57"},
                  {"CBF", "CBF", "10:120:23"},
                  {"ATT", "ATT", "500:2000:16"},
                  {"B1", "B1", ""},
                  {"B0", N_ ("Off-resonance"), ""},
                  {"inv_efficiency", N_ ("Inversion"), ""}};

LamParameterList *
lam_dictionary_rows_new (LamUndo *undo)
{
  static LamParameterChoice spacings[] = {{"ratios", NULL}, {"steps", NULL}, {NULL, NULL}};
  LamParameterList *list = lam_parameter_list_new (undo);
  for (guint i = 0; i < G_N_ELEMENTS (quantities); i++) {
    LamParameter *p = lam_parameter_list_add (
        list, lam_parameter_new_text (quantities[i].name, _ (quantities[i].label), quantities[i].range));
    lam_parameter_set_unit (p, lam_tissue_find (quantities[i].name)->unit);
    lam_parameter_set_help (p,
                            _ ("From:to:count, as 200:3000:60, or values with commas between them; empty: not varied"));
  }
  spacings[0].label = _ ("Equal ratios");
  spacings[1].label = _ ("Equal steps");
  LamParameter *p =
      lam_parameter_list_add (list, lam_parameter_new_choice ("spacing", _ ("Spacing"), spacings, "ratios"));
  lam_parameter_set_help (p, _ ("How times lie between the ends of a range; all others go in equal steps"));
  p = lam_parameter_list_add (list, lam_parameter_new_integer ("rank", _ ("Modes kept"), "", 0, 0, 1000));
  lam_parameter_set_special (p, 0, _ ("all"));
  lam_parameter_set_help (p, _ ("Modes (SVD) that signals are projected on before they are matched: fewer are faster"));
  return list;
}

void
lam_dictionary_rows_show (LamParameterList *rows, const LamMapsSource *source)
{
  const char *const *known = lam_maps_source_quantities (source);
  for (guint i = 0; i < G_N_ELEMENTS (quantities); i++)
    lam_parameter_set_visible (lam_parameter_list_find (rows, quantities[i].name),
                               g_strv_contains (known, quantities[i].name));
}

LamDictionaryRecipe *
lam_dictionary_rows_recipe (LamParameterList *rows, LamMapsSource *source, GError **error)
{
  g_autoptr (LamDictionaryRecipe) r = g_new0 (LamDictionaryRecipe, 1);
  gboolean geometric = g_str_equal (lam_parameter_get_text (lam_parameter_list_find (rows, "spacing")), "ratios");
  GError *first = NULL;
  r->source = source;
  r->ranges = lam_atom_ranges_new ();
  r->rank = (int) lam_parameter_get_integer (lam_parameter_list_find (rows, "rank"));
  for (guint i = 0; i < G_N_ELEMENTS (quantities); i++) {
    LamParameter *p = lam_parameter_list_find (rows, quantities[i].name);
    g_autofree char *text = g_strstrip (g_strdup (lam_parameter_get_text (p)));
    g_autoptr (GError) fault = NULL;
    int64_t n;
    lam_parameter_set_fault (p, NULL);
    if (!lam_parameter_get_visible (p) || *text == '\0')
      continue;
    /* Offsets run through 0, where there are no ratios; and about 1 both are alike. */
    gboolean ratios = geometric && g_str_equal (lam_parameter_get_unit (p), "ms");
    double *values = lam_atom_range_parse (text, ratios, &n, &fault);
    if (values == NULL) {
      lam_parameter_set_fault (p, fault->message);
      if (first == NULL)
        g_set_error (&first, LAM_ERROR, LAM_ERROR_INVALID, "%s: %s", quantities[i].name, fault->message);
    } else
      lam_atom_ranges_add (r->ranges, quantities[i].name, values, n);
  }
  if (first == NULL && r->ranges->n == 0)
    g_set_error (&first, LAM_ERROR, LAM_ERROR_INVALID, "%s", _ ("Give a range for at least one quantity."));
  if (first != NULL) {
    g_propagate_error (error, first);
    return NULL;
  }
  return g_steal_pointer (&r);
}
