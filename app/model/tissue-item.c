#include "config.h"

#include "model/tissue-item.h"

#include <glib/gi18n.h>
#include <math.h>

#include "mr/tissue.h"

struct _LamTissueItem {
  GObject parent_instance;
  char *name, *source;
  int colour;
  LamParameterList *parameters;
};

enum { PROP_NAME = 1, PROP_SUMMARY, PROP_WARNING, N_PROPS };
static GParamSpec *props[N_PROPS];
static guint changed_signal;

static const char *const quantities[] = {"T1",
                                         "T2",
                                         "M0",
                                         "B1",
                                         "B0",
                                         "inv_efficiency",
                                         "bound_fraction",
                                         "bound_exchange",
                                         "poolB_fraction",
                                         "poolB_exchange",
                                         "poolB_T1",
                                         "poolB_T2",
                                         "poolB_shift",
                                         "D",
                                         "CBF",
                                         "ATT",
                                         "T1_blood",
                                         "partition",
                                         NULL};

/* What a new tissue begins with where that is not what absence means: grey matter's, to have something to see. */
static const struct {
  const char *quantity;
  double value;
} first[] = {{"D", 0.8}, {"CBF", 60}, {"ATT", 900}};

G_DEFINE_FINAL_TYPE (LamTissueItem, lam_tissue_item, G_TYPE_OBJECT)

const char *const *
lam_tissue_item_quantities (void)
{
  return quantities;
}

gboolean
lam_tissue_item_uses (const LamTemplate *t, const char *quantity)
{
  for (int i = 0; t->tissues[i]; i++)
    if (g_str_equal (t->tissues[i], quantity))
      return TRUE;
  /* Closed forms of gradient echoes know T2* instead; diffusion needs crushers, which no other template declares. */
  return g_str_equal (quantity, "T1") || g_str_equal (quantity, "T2")
         || (t->build && lam_tissue_quantity (quantity) >= 0 && !g_str_equal (quantity, "D"));
}

void
lam_tissue_item_show_for (LamTissueItem *self, const LamTemplate *t)
{
  for (int i = 0; quantities[i]; i++)
    lam_parameter_set_visible (lam_parameter_list_find (self->parameters, quantities[i]),
                               lam_tissue_item_uses (t, quantities[i]));
}

static void
changed_cb (LamParameterList *list, LamParameter *p, LamTissueItem *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_SUMMARY]);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_WARNING]);
  g_signal_emit (self, changed_signal, 0);
}

static double
first_value (const LamTissueInfo *info)
{
  for (guint k = 0; k < G_N_ELEMENTS (first); k++)
    if (g_str_equal (first[k].quantity, info->name))
      return first[k].value;
  return info->absent;
}

/* Relaxation times of 0 mean nothing. */
static double
least_value (const LamTissueInfo *info)
{
  gboolean time = g_str_equal (info->name, "T1") || g_str_equal (info->name, "T2")
                  || g_str_has_suffix (info->name, "_T1") || g_str_has_suffix (info->name, "_T2")
                  || g_str_equal (info->name, "T1_blood");
  return time || g_str_equal (info->name, "partition") ? 0.01 : info->least;
}

static double
step_of (const LamTissueInfo *info)
{
  if (g_str_equal (info->name, "ATT") || g_str_equal (info->name, "T1_blood"))
    return 10;
  gboolean small = *info->unit == '\0' || g_str_equal (info->name, "D") || g_str_equal (info->name, "partition");
  return small ? 0.01 : 1;
}

LamTissueItem *
lam_tissue_item_new (LamUndo *undo, const char *name, int colour, double t1, double t2)
{
  LamTissueItem *self = g_object_new (LAM_TYPE_TISSUE_ITEM, NULL);
  self->name = g_strdup (name);
  self->colour = colour;
  self->parameters = lam_parameter_list_new (undo);
  for (int i = 0; quantities[i]; i++) {
    const LamTissueInfo *info = lam_tissue_find (quantities[i]);
    double value = i == 0 ? t1 : i == 1 ? t2 : first_value (info);
    LamParameter *p = lam_parameter_new_number (quantities[i], _ (info->title), info->unit, value, least_value (info),
                                                fmin (info->most, 1e6), 3);
    g_autofree char *edit = g_strdup_printf (_ ("Set %s of %s"), quantities[i], name);
    lam_parameter_set_edit_name (p, edit);
    lam_parameter_set_step (p, step_of (info));
    lam_parameter_list_add (self->parameters, p);
  }
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (changed_cb), self, 0);
  return self;
}

const char *
lam_tissue_item_get_name (LamTissueItem *self)
{
  return self->name;
}

int
lam_tissue_item_get_colour (LamTissueItem *self)
{
  return self->colour;
}

const char *
lam_tissue_item_get_source (LamTissueItem *self)
{
  return self->source;
}

void
lam_tissue_item_set_source (LamTissueItem *self, const char *source)
{
  g_free (self->source);
  self->source = g_strdup (source);
}

LamParameterList *
lam_tissue_item_get_parameters (LamTissueItem *self)
{
  return self->parameters;
}

double
lam_tissue_item_get (LamTissueItem *self, const char *quantity, gboolean *given)
{
  LamParameter *p = lam_parameter_list_find (self->parameters, quantity);
  const LamTissueInfo *info = lam_tissue_find (quantity);
  double v = p ? lam_parameter_get_number (p) : info->absent;
  if (given)
    *given = p && v != info->absent;
  return v;
}

GVariant *
lam_tissue_item_save (LamTissueItem *self)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", self->name);
  g_variant_dict_insert (&dict, "colour", "i", self->colour);
  if (self->source)
    g_variant_dict_insert (&dict, "source", "s", self->source);
  g_autoptr (GVariant) values = lam_parameter_list_save (self->parameters);
  g_variant_dict_insert_value (&dict, "values", values);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

LamTissueItem *
lam_tissue_item_load (LamUndo *undo, GVariant *state)
{
  const char *name = "", *source = NULL;
  int colour = 0;
  g_variant_lookup (state, "name", "&s", &name);
  g_variant_lookup (state, "colour", "i", &colour);
  LamTissueItem *self = lam_tissue_item_new (undo, name, colour, 1000, 100);
  if (g_variant_lookup (state, "source", "&s", &source))
    lam_tissue_item_set_source (self, source);
  g_autoptr (GVariant) values = g_variant_lookup_value (state, "values", G_VARIANT_TYPE_VARDICT);
  if (values)
    lam_parameter_list_load (self->parameters, values, NULL);
  return self;
}

const char *
lam_tissue_item_get_warning (LamTissueItem *self)
{
  double t1 = lam_tissue_item_get (self, "T1", NULL), t2 = lam_tissue_item_get (self, "T2", NULL);
  return t2 > t1 ? _ ("T2 is above T1") : NULL;
}

static void
lam_tissue_item_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamTissueItem *self = LAM_TISSUE_ITEM (object);
  if (id == PROP_NAME)
    g_value_set_string (value, self->name);
  else if (id == PROP_WARNING)
    g_value_set_string (value, lam_tissue_item_get_warning (self));
  else
    g_value_take_string (value, g_strdup_printf ("%.4g / %.4g ms", lam_tissue_item_get (self, "T1", NULL),
                                                 lam_tissue_item_get (self, "T2", NULL)));
}

static void
lam_tissue_item_finalize (GObject *object)
{
  LamTissueItem *self = LAM_TISSUE_ITEM (object);
  g_free (self->name);
  g_free (self->source);
  g_clear_object (&self->parameters);
  G_OBJECT_CLASS (lam_tissue_item_parent_class)->finalize (object);
}

static void
lam_tissue_item_class_init (LamTissueItemClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_tissue_item_get_property;
  object_class->finalize = lam_tissue_item_finalize;
  props[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  props[PROP_SUMMARY] = g_param_spec_string ("summary", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  props[PROP_WARNING] = g_param_spec_string ("warning", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
  changed_signal =
      g_signal_new ("changed", LAM_TYPE_TISSUE_ITEM, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_tissue_item_init (LamTissueItem *self)
{
}
