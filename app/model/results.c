#include "config.h"

#include "model/results.h"

#include <glib/gi18n.h>
#include <string.h>

#include "model/facts.h"
#include "model/units.h"

/* -- one -- */

struct _LamResult {
  GObject parent_instance;
  char *name, *problem;
  LamReconResult *recon;
  GVariant *parameters;
  double tilt_degrees;
  LamPrepareParams prepared;
  gboolean shown;
  LamVoxels where;
  char *path, *dataset;
  LamFileStamp stamp;
  gboolean has_crc;
  uint32_t crc;
  GWeakRef results; /* the list it is of, even while it is removed */
};

G_DEFINE_FINAL_TYPE (LamResult, lam_result, G_TYPE_OBJECT)

enum { PROP_0, PROP_NAME, PROP_DETAIL, PROP_SAFE, PROP_SHOWN, N_PROPS };
static GParamSpec *properties[N_PROPS];

static void changed (LamResult *self);

const char *
lam_result_get_name (LamResult *self)
{
  return self->name;
}

LamReconResult *
lam_result_get_recon (LamResult *self)
{
  return self->recon;
}

const char *
lam_result_get_problem (LamResult *self)
{
  return self->recon->volume == NULL ? self->problem : NULL;
}

GVariant *
lam_result_get_parameters (LamResult *self)
{
  return self->parameters;
}

const LamPrepareParams *
lam_result_get_prepared (LamResult *self)
{
  return &self->prepared;
}

double
lam_result_get_tilt_degrees (LamResult *self)
{
  return self->tilt_degrees;
}

gboolean
lam_result_get_safe (LamResult *self)
{
  return self->where == LAM_VOXELS_SAVED || self->where == LAM_VOXELS_INSIDE;
}

LamVoxels
lam_result_get_place (LamResult *self)
{
  return self->where;
}

const char *
lam_result_get_path (LamResult *self)
{
  return self->path;
}

gboolean
lam_result_get_shown (LamResult *self)
{
  return self->shown;
}

void
lam_result_set_shown (LamResult *self, gboolean shown)
{
  g_return_if_fail (LAM_IS_RESULT (self));
  if (self->shown == shown)
    return;
  self->shown = shown;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOWN]);
}

char *
lam_result_dup_detail (LamResult *self)
{
  const LamReconResult *r = self->recon;
  if (lam_result_get_problem (self) != NULL)
    return g_strdup (self->problem);
  g_autofree char *seconds = lam_units_format (r->seconds, r->seconds < 10 ? 1 : 0);
  if (r->iterations->len == 0)
    return g_strdup_printf (_ ("%s s"), seconds);
  double change = g_array_index (r->iterations, LamReconIteration, r->iterations->len - 1).change_percent;
  g_autofree char *percent = lam_units_format (change, change < 10 ? 2 : 1);
  g_autofree char *count = g_strdup_printf (
      g_dngettext (GETTEXT_PACKAGE, "%u iteration", "%u iterations", r->iterations->len), r->iterations->len);
  return g_strdup_printf (r->stopped ? _ ("%s, stopped · change %s %% · %s s") : _ ("%s · change %s %% · %s s"), count,
                          percent, seconds);
}

static void
apply_name (GObject *object, GVariant *state)
{
  LamResult *self = LAM_RESULT (object);
  g_free (self->name);
  self->name = g_variant_dup_string (state, NULL);
  g_object_notify_by_pspec (object, properties[PROP_NAME]);
  changed (self);
}

static void
add_fact (GListStore *facts, const char *label, char *value, const char *note)
{
  g_autofree char *held = value;
  g_autoptr (LamFact) fact = lam_fact_new (LAM_FACT_PLAIN, label, held, note);
  g_list_store_append (facts, fact);
}

GListModel *
lam_result_list_parameters (LamResult *self)
{
  GListStore *facts = g_list_store_new (LAM_TYPE_FACT);
  const LamReconResult *r = self->recon;
  const LamReconParams *k = &r->params;
  const LamGeometry *g = r->geometry;
  gboolean vcd = k->method == LAM_METHOD_VCD, cone = g->kind == LAM_GEOMETRY_CONE;
  g_autofree char *bytes = g_format_size (4 * (guint64) (g->recon_rows * g->recon_columns * g->recon_slices));
  add_fact (facts, _ ("Method"), g_strdup (vcd ? _ ("VCD · qGGMRF") : cone ? _ ("FDK") : _ ("FBP")), NULL);
  if (vcd) {
    add_fact (facts, _ ("Sharpness"), lam_units_format (k->sharpness, 1), NULL);
    add_fact (facts, _ ("Assumed SNR"), g_strdup_printf (_ ("%.0f dB"), k->snr_db), NULL);
    add_fact (facts, _ ("Positivity"), g_strdup (k->positivity ? _ ("on") : _ ("off")), NULL);
    g_autofree char *p = lam_units_format (k->p, 2), *q = lam_units_format (k->q, 2), *t = lam_units_format (k->t, 3);
    add_fact (facts, _ ("p, q, T"), g_strdup_printf ("%s, %s, %s", p, q, t), NULL);
    g_autofree char *row = lam_units_format (k->neighbours[0], 2), *column = lam_units_format (k->neighbours[1], 2);
    g_autofree char *slice = lam_units_format (k->neighbours[2], 2);
    add_fact (facts, _ ("Neighbours"), g_strdup_printf ("%s, %s, %s", row, column, slice),
              _ ("weights of rows, columns and slices"));
    add_fact (facts, _ ("Iterations"),
              g_strdup_printf (_ ("%u of at most %ld"), r->iterations->len, (long) k->iterations), NULL);
    g_autofree char *stop = lam_units_format (k->stop_percent, 2);
    add_fact (facts, _ ("Stop below"), g_strdup_printf (_ ("%s %%"), stop), NULL);
  }
  add_fact (facts, _ ("Centre of rotation"),
            lam_units_format (lam_provenance_channel (&r->made, lam_geometry_center (g)), 2), _ ("detector channel"));
  if (self->tilt_degrees != 0) {
    g_autofree char *tilt = lam_units_format (self->tilt_degrees, 2);
    add_fact (facts, _ ("Tilt"), g_strdup_printf (_ ("%s°"), tilt), NULL);
  }
  add_fact (facts, _ ("Beam"), g_strdup (cone ? _ ("Cone") : _ ("Parallel")), NULL);
  add_fact (
      facts, _ ("Size"),
      g_strdup_printf (_ ("%ld × %ld × %ld"), (long) g->recon_rows, (long) g->recon_columns, (long) g->recon_slices),
      bytes);
  g_autofree char *seconds = lam_units_format (r->seconds, 1);
  add_fact (facts, _ ("Took"), g_strdup_printf (_ ("%s s"), seconds), NULL);
  if (self->path != NULL && lam_result_get_safe (self))
    add_fact (facts, _ ("Saved in"), g_path_get_basename (self->path), self->path);
  return G_LIST_MODEL (facts);
}

/* -- where its voxels lie -- */

static void
set_place (LamResult *self, LamVoxels where, const char *path, const char *dataset, const LamFileStamp *stamp)
{
  g_autofree char *old_path = g_steal_pointer (&self->path), *old_dataset = g_steal_pointer (&self->dataset);
  gboolean safe = lam_result_get_safe (self);
  self->where = where;
  self->path = g_strdup (path);
  self->dataset = g_strdup (dataset);
  self->stamp = *stamp;
  if (safe != lam_result_get_safe (self))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SAFE]);
}

void
lam_result_set_place (LamResult *self, LamVoxels where, const char *path, const char *dataset)
{
  g_return_if_fail (LAM_IS_RESULT (self));
  LamFileStamp stamp = {0};
  if (path != NULL)
    lam_file_stamp (path, &stamp, NULL);
  set_place (self, where, path, dataset, &stamp);
}

void
lam_result_take_place (LamResult *self, const LamSessionResult *r)
{
  g_return_if_fail (LAM_IS_RESULT (self));
  self->has_crc = r->has_crc;
  self->crc = r->crc;
  set_place (self, r->where, r->path, r->dataset, &r->stamp);
}

LamSessionResult *
lam_result_to_file (LamResult *self)
{
  g_return_val_if_fail (LAM_IS_RESULT (self), NULL);
  LamSessionResult *r = lam_session_result_new (self->name, self->recon);
  r->parameters = self->parameters != NULL ? g_variant_ref (self->parameters) : NULL;
  r->tilt_degrees = self->tilt_degrees;
  lam_prepare_params_copy (&self->prepared, &r->prepared);
  r->where = self->where;
  r->path = g_strdup (self->path);
  r->dataset = g_strdup (self->dataset);
  r->stamp = self->stamp;
  r->has_crc = self->has_crc;
  r->crc = self->crc;
  return r;
}

LamResult *
lam_result_from_file (const LamSessionResult *r)
{
  LamResult *self = lam_result_new (r->name, r->recon, r->parameters, r->tilt_degrees, &r->prepared);
  self->problem = g_strdup (r->problem);
  lam_result_take_place (self, r);
  return self;
}

/* -- object -- */

static void
lam_result_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamResult *self = LAM_RESULT (object);
  switch (id) {
  case PROP_NAME:
    g_value_set_string (value, self->name);
    break;
  case PROP_DETAIL:
    g_value_take_string (value, lam_result_dup_detail (self));
    break;
  case PROP_SAFE:
    g_value_set_boolean (value, lam_result_get_safe (self));
    break;
  case PROP_SHOWN:
    g_value_set_boolean (value, self->shown);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_result_finalize (GObject *object)
{
  LamResult *self = LAM_RESULT (object);
  g_free (self->name);
  g_free (self->problem);
  g_free (self->path);
  g_free (self->dataset);
  lam_prepare_params_clear (&self->prepared);
  g_clear_pointer (&self->parameters, g_variant_unref);
  lam_recon_result_unref (self->recon);
  g_weak_ref_clear (&self->results);
  G_OBJECT_CLASS (lam_result_parent_class)->finalize (object);
}

static void
lam_result_class_init (LamResultClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_result_get_property;
  object_class->finalize = lam_result_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);
  properties[PROP_DETAIL] = g_param_spec_string ("detail", NULL, NULL, NULL, flags);
  properties[PROP_SAFE] = g_param_spec_boolean ("safe", NULL, NULL, FALSE, flags);
  properties[PROP_SHOWN] = g_param_spec_boolean ("shown", NULL, NULL, FALSE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_result_init (LamResult *self)
{
  g_weak_ref_init (&self->results, NULL);
}

LamResult *
lam_result_new (const char *name, LamReconResult *recon, GVariant *parameters, double tilt_degrees,
                const LamPrepareParams *prepared)
{
  g_return_val_if_fail (name != NULL && recon != NULL, NULL);
  LamResult *self = g_object_new (LAM_TYPE_RESULT, NULL);
  self->name = g_strdup (name);
  self->recon = lam_recon_result_ref (recon);
  self->parameters = parameters != NULL ? g_variant_ref (parameters) : NULL;
  self->tilt_degrees = tilt_degrees;
  lam_prepare_params_copy (prepared, &self->prepared);
  return self;
}

/* -- all -- */

struct _LamResults {
  GObject parent_instance;
  GListStore *list;
  LamUndo *undo;
};

static void list_model_init (GListModelInterface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE (LamResults, lam_results, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
changed (LamResult *self)
{
  g_autoptr (LamResults) results = g_weak_ref_get (&self->results);
  if (results != NULL)
    g_signal_emit (results, signals[CHANGED], 0);
}

gboolean
lam_result_rename (LamResult *self, const char *name)
{
  g_return_val_if_fail (LAM_IS_RESULT (self) && name != NULL, FALSE);
  g_autoptr (LamResults) results = g_weak_ref_get (&self->results);
  g_autofree char *given = g_strstrip (g_strdup (name));
  if (*given == '\0')
    return FALSE;
  if (g_str_equal (given, self->name))
    return TRUE;
  GVariant *before = g_variant_new_string (self->name), *after = g_variant_ref_sink (g_variant_new_string (given));
  apply_name (G_OBJECT (self), after);
  if (results != NULL && results->undo != NULL)
    lam_undo_push (results->undo, _ ("Rename Result"), G_OBJECT (self), apply_name, before, after);
  else
    g_variant_unref (g_variant_ref_sink (before));
  g_variant_unref (after);
  return TRUE;
}

/* The state: where in the list, -1 = not in it. */
static void
apply_position (GObject *object, GVariant *state)
{
  LamResult *self = LAM_RESULT (object);
  g_autoptr (LamResults) results = g_weak_ref_get (&self->results);
  int at = results != NULL ? lam_results_index (results, self) : -1, to = g_variant_get_int32 (state);
  if (results == NULL || (at >= 0) == (to >= 0))
    return;
  /* The session's file may have been written without it. */
  if (to >= 0 && self->where == LAM_VOXELS_INSIDE && self->recon->volume != NULL)
    lam_result_set_place (self, LAM_VOXELS_MEMORY, NULL, NULL);
  if (to < 0)
    g_list_store_remove (results->list, at);
  else
    g_list_store_insert (results->list, MIN ((guint) to, g_list_model_get_n_items (G_LIST_MODEL (results->list))),
                         self);
  g_signal_emit (results, signals[CHANGED], 0);
}

void
lam_results_overwritten (LamResults *self, const char *path)
{
  g_return_if_fail (LAM_IS_RESULTS (self) && path != NULL);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self)); i++) {
    LamResult *result = lam_results_get (self, i);
    if (result->recon->volume != NULL && g_strcmp0 (result->path, path) == 0)
      lam_result_set_place (result, LAM_VOXELS_MEMORY, NULL, NULL);
  }
}

void
lam_results_add (LamResults *self, LamResult *result)
{
  g_return_if_fail (LAM_IS_RESULTS (self) && LAM_IS_RESULT (result));
  g_weak_ref_set (&result->results, self);
  g_list_store_append (self->list, result);
  g_signal_emit (self, signals[CHANGED], 0);
}

void
lam_results_remove (LamResults *self, LamResult *result)
{
  g_return_if_fail (LAM_IS_RESULTS (self) && LAM_IS_RESULT (result));
  int at = lam_results_index (self, result);
  if (at < 0)
    return;
  g_autoptr (LamResult) held = g_object_ref (result);
  g_autoptr (GVariant) gone = g_variant_ref_sink (g_variant_new_int32 (-1));
  apply_position (G_OBJECT (result), gone);
  if (self->undo != NULL)
    lam_undo_push (self->undo, _ ("Remove Result"), G_OBJECT (result), apply_position, g_variant_new_int32 (at), gone);
}

void
lam_results_clear (LamResults *self)
{
  g_return_if_fail (LAM_IS_RESULTS (self));
  if (g_list_model_get_n_items (G_LIST_MODEL (self->list)) == 0)
    return;
  g_list_store_remove_all (self->list);
  g_signal_emit (self, signals[CHANGED], 0);
}

LamResult *
lam_results_get (LamResults *self, guint i)
{
  g_autoptr (LamResult) result = g_list_model_get_item (G_LIST_MODEL (self->list), i);
  return result; /* the list holds it */
}

int
lam_results_index (LamResults *self, LamResult *result)
{
  guint at;
  return g_list_store_find (self->list, result, &at) ? (int) at : -1;
}

static gboolean
is_taken (LamResults *self, const char *name)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->list)); i++)
    if (g_str_equal (lam_results_get (self, i)->name, name))
      return TRUE;
  return FALSE;
}

char *
lam_results_suggest_name (LamResults *self, const LamReconParams *params, const LamGeometry *geometry)
{
  g_return_val_if_fail (LAM_IS_RESULTS (self), NULL);
  g_autofree char *sharpness =
      lam_units_format (params->sharpness, params->sharpness == (int) params->sharpness ? 0 : 1);
  g_autofree char *plain = params->method == LAM_METHOD_VCD
                               ? g_strdup_printf (_ ("VCD sharpness %s"), sharpness)
                               : g_strdup (geometry->kind == LAM_GEOMETRY_CONE ? _ ("FDK") : _ ("FBP"));
  if (!is_taken (self, plain))
    return g_steal_pointer (&plain);
  for (int n = 2;; n++) {
    g_autofree char *name = g_strdup_printf ("%s (%d)", plain, n);
    if (!is_taken (self, name))
      return g_steal_pointer (&name);
  }
}

static GType
get_item_type (GListModel *model)
{
  return LAM_TYPE_RESULT;
}

static guint
get_n_items (GListModel *model)
{
  return g_list_model_get_n_items (G_LIST_MODEL (LAM_RESULTS (model)->list));
}

static gpointer
get_item (GListModel *model, guint position)
{
  return g_list_model_get_item (G_LIST_MODEL (LAM_RESULTS (model)->list), position);
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

static void
items_changed_cb (GListModel *list, guint position, guint removed, guint added, LamResults *self)
{
  g_list_model_items_changed (G_LIST_MODEL (self), position, removed, added);
}

static void
lam_results_finalize (GObject *object)
{
  LamResults *self = LAM_RESULTS (object);
  g_signal_handlers_disconnect_by_data (self->list, self);
  g_object_unref (self->list);
  g_clear_object (&self->undo);
  G_OBJECT_CLASS (lam_results_parent_class)->finalize (object);
}

static void
lam_results_class_init (LamResultsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_results_finalize;
  signals[CHANGED] = g_signal_new ("changed", LAM_TYPE_RESULTS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_results_init (LamResults *self)
{
  self->list = g_list_store_new (LAM_TYPE_RESULT);
  g_signal_connect (self->list, "items-changed", G_CALLBACK (items_changed_cb), self);
}

LamResults *
lam_results_new (LamUndo *undo)
{
  LamResults *self = g_object_new (LAM_TYPE_RESULTS, NULL);
  g_set_object (&self->undo, undo);
  return self;
}
