#include "config.h"

#include "model/parameter-list.h"

#include <glib/gi18n.h>
#include <string.h>

#include "core/error.h"

struct _LamParameterList {
  GObject parent_instance;
  GPtrArray *items;
  GHashTable *by_id; /* id -> item; both belong to items */
  LamUndo *undo;
};

static void list_model_init (GListModelInterface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE (LamParameterList, lam_parameter_list, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
value_notify_cb (LamParameter *parameter, GParamSpec *pspec, LamParameterList *self)
{
  g_signal_emit (self, signals[CHANGED], 0, parameter);
}

LamParameter *
lam_parameter_list_add (LamParameterList *self, LamParameter *parameter)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self) && LAM_IS_PARAMETER (parameter), NULL);
  const char *id = lam_parameter_get_id (parameter);
  g_return_val_if_fail (!g_hash_table_contains (self->by_id, id), NULL);
  lam_parameter_set_undo (parameter, self->undo);
  g_signal_connect_object (parameter, "notify::value", G_CALLBACK (value_notify_cb), self, 0);
  g_ptr_array_add (self->items, parameter);
  g_hash_table_insert (self->by_id, (gpointer) id, parameter);
  g_list_model_items_changed (G_LIST_MODEL (self), self->items->len - 1, 0, 1);
  return parameter;
}

LamParameter *
lam_parameter_list_find (LamParameterList *self, const char *id)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self), NULL);
  return g_hash_table_lookup (self->by_id, id);
}

void
lam_parameter_list_reset (LamParameterList *self)
{
  g_return_if_fail (LAM_IS_PARAMETER_LIST (self));
  if (self->undo != NULL)
    lam_undo_begin (self->undo, _ ("Reset All"));
  for (guint i = 0; i < self->items->len; i++)
    lam_parameter_reset (g_ptr_array_index (self->items, i));
  if (self->undo != NULL)
    lam_undo_end (self->undo);
}

char *
lam_parameter_list_get_problem (LamParameterList *self)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self), NULL);
  for (guint i = 0; i < self->items->len; i++) {
    LamParameter *p = g_ptr_array_index (self->items, i);
    char *problem = lam_parameter_get_visible (p) ? lam_parameter_get_problem (p) : NULL;
    if (problem != NULL)
      return problem;
  }
  return NULL;
}

GVariant *
lam_parameter_list_save (LamParameterList *self)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self), NULL);
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < self->items->len; i++) {
    LamParameter *p = g_ptr_array_index (self->items, i);
    g_autoptr (GVariant) value = lam_parameter_get_value (p);
    g_variant_dict_insert_value (&dict, lam_parameter_get_id (p), value);
  }
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

gboolean
lam_parameter_list_load (LamParameterList *self, GVariant *values, GError **error)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self) && values != NULL, FALSE);
  if (!g_variant_is_of_type (values, G_VARIANT_TYPE_VARDICT)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("the saved parameters are not a dictionary"));
    return FALSE;
  }
  /* All are checked before the first is set. */
  for (int pass = 0; pass < 2; pass++) {
    GVariantIter iter;
    const char *id;
    GVariant *value;
    g_variant_iter_init (&iter, values);
    while (g_variant_iter_next (&iter, "{&sv}", &id, &value)) {
      g_autoptr (GVariant) held = value;
      LamParameter *p = g_hash_table_lookup (self->by_id, id);
      if (p == NULL)
        continue;
      if (pass == 0 ? !lam_parameter_check (p, held, error) : !lam_parameter_set_value (p, held, error))
        return FALSE;
    }
  }
  return TRUE;
}

char *
lam_parameter_list_dup_units (LamParameterList *self)
{
  g_return_val_if_fail (LAM_IS_PARAMETER_LIST (self), NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < self->items->len; i++) {
    LamParameter *p = g_ptr_array_index (self->items, i);
    if (lam_parameter_get_wanted_unit (p) != NULL)
      g_string_append_printf (text, "%s%s=%s", text->len > 0 ? ";" : "", lam_parameter_get_id (p),
                              lam_parameter_get_wanted_unit (p));
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
lam_parameter_list_use_units (LamParameterList *self, const char *text)
{
  g_return_if_fail (LAM_IS_PARAMETER_LIST (self));
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "", ";", -1);
  for (guint i = 0; i < self->items->len; i++) {
    LamParameter *p = g_ptr_array_index (self->items, i);
    const char *unit = NULL;
    for (char **word = words; *word != NULL; word++) {
      gsize n = strlen (lam_parameter_get_id (p));
      if (strncmp (*word, lam_parameter_get_id (p), n) == 0 && (*word)[n] == '=')
        unit = *word + n + 1;
    }
    lam_parameter_set_shown_unit (p, unit);
  }
}

static GType
get_item_type (GListModel *model)
{
  return LAM_TYPE_PARAMETER;
}

static guint
get_n_items (GListModel *model)
{
  return LAM_PARAMETER_LIST (model)->items->len;
}

static gpointer
get_item (GListModel *model, guint position)
{
  LamParameterList *self = LAM_PARAMETER_LIST (model);
  return position < self->items->len ? g_object_ref (g_ptr_array_index (self->items, position)) : NULL;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

static void
lam_parameter_list_finalize (GObject *object)
{
  LamParameterList *self = LAM_PARAMETER_LIST (object);
  g_hash_table_unref (self->by_id);
  g_ptr_array_unref (self->items);
  g_clear_object (&self->undo);
  G_OBJECT_CLASS (lam_parameter_list_parent_class)->finalize (object);
}

static void
lam_parameter_list_class_init (LamParameterListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_parameter_list_finalize;
  signals[CHANGED] = g_signal_new ("changed", LAM_TYPE_PARAMETER_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, LAM_TYPE_PARAMETER);
}

static void
lam_parameter_list_init (LamParameterList *self)
{
  self->items = g_ptr_array_new_with_free_func (g_object_unref);
  self->by_id = g_hash_table_new (g_str_hash, g_str_equal);
}

LamParameterList *
lam_parameter_list_new (LamUndo *undo)
{
  LamParameterList *self = g_object_new (LAM_TYPE_PARAMETER_LIST, NULL);
  g_set_object (&self->undo, undo);
  return self;
}
