#include "config.h"

#include "model/session.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/session-parameters.h"

struct _LamSession {
  GObject parent_instance;
  LamUndo *undo;
  LamParameterList *parameters;
  LamSliceModel *slices;
  LamSeries *series;
  GListStore *facts[LAM_FACT_LISTS];
  LamSessionState state, before; /* before: to go back to when opening fails */
  char *title, *doing, *left, *problem;
  double fraction;
  LamScan *scan;         /* NULL = nothing open, or an example without a file */
  LamGeometry *base;     /* as the file states it */
  LamGeometry *geometry; /* as the parameters say */
  uint64_t opened;       /* counts openings: a late answer shows itself */
  gboolean loading;      /* parameters are being set from a file: one geometry-changed at the end */
};

G_DEFINE_FINAL_TYPE (LamSession, lam_session, G_TYPE_OBJECT)

enum { PROP_0, PROP_STATE, PROP_TITLE, PROP_FRACTION, PROP_DOING, PROP_LEFT, PROP_PROBLEM, N_PROPS };
static GParamSpec *properties[N_PROPS];
enum { GEOMETRY_CHANGED, LOGGED, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
set_text (LamSession *self, char **field, const char *text, int property)
{
  if (g_strcmp0 (*field, text) == 0)
    return;
  g_free (*field);
  *field = g_strdup (text);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

void
lam_session_set_state (LamSession *self, LamSessionState state)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (self->state == state)
    return;
  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

void
lam_session_set_progress (LamSession *self, double fraction, const char *doing, const char *left)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  g_object_freeze_notify (G_OBJECT (self));
  if (self->fraction != fraction) {
    self->fraction = fraction;
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
  }
  set_text (self, &self->doing, doing, PROP_DOING);
  set_text (self, &self->left, left, PROP_LEFT);
  g_object_thaw_notify (G_OBJECT (self));
}

void
lam_session_log (LamSession *self, const char *format, ...)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  va_list args;
  va_start (args, format);
  g_autofree char *line = g_strdup_vprintf (format, args);
  va_end (args);
  g_signal_emit (self, signals[LOGGED], 0, line);
}

void
lam_session_fail (LamSession *self, const GError *error)
{
  g_return_if_fail (LAM_IS_SESSION (self) && error != NULL);
  g_signal_emit (self, signals[FAILED], 0, error);
}

/* -- geometry -- */

void
lam_session_set_facts (LamSession *self, LamFacts list, GPtrArray *facts)
{
  g_return_if_fail (LAM_IS_SESSION (self) && list < LAM_FACT_LISTS);
  g_list_store_splice (self->facts[list], 0, g_list_model_get_n_items (G_LIST_MODEL (self->facts[list])), facts->pdata,
                       facts->len);
}

static void
add_fact (GPtrArray *facts, LamFactKind kind, const char *label, char *value, const char *note)
{
  g_autofree char *owned = value;
  g_ptr_array_add (facts, lam_fact_new (kind, label, owned, note));
}

static void
update_volume_facts (LamSession *self)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  const LamGeometry *g = self->geometry;
  if (g != NULL) {
    g_autofree char *bytes = g_format_size (4 * (guint64) g->recon_rows * g->recon_columns * g->recon_slices);
    add_fact (
        facts, LAM_FACT_PLAIN, _ ("Size"),
        g_strdup_printf ("%ld × %ld × %ld", (long) g->recon_rows, (long) g->recon_columns, (long) g->recon_slices),
        bytes);
    add_fact (facts, LAM_FACT_PLAIN, _ ("Voxel"), g_strdup_printf ("%.4g %s", g->voxel_pitch, g->length_unit),
              _ ("automatic"));
  }
  lam_session_set_facts (self, LAM_FACTS_VOLUME, facts);
}

/* The geometry again, from the parameters; a volume that cannot be says why, and the last good one stays. */
static void
update_geometry (LamSession *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = lam_parameter_list_get_problem (self->parameters);
  LamGeometry *g = NULL;
  if (self->base != NULL && problem == NULL) {
    g = lam_session_geometry_from (self->parameters, self->base, &error);
    if (g != NULL && !lam_geometry_check (g, &error))
      g_clear_pointer (&g, lam_geometry_free);
  }
  if (g != NULL || self->base == NULL) {
    g_clear_pointer (&self->geometry, lam_geometry_free);
    self->geometry = g;
    if (g != NULL)
      lam_slice_model_set_extent (self->slices, g->recon_slices, g->recon_rows, g->recon_columns);
    update_volume_facts (self);
  }
  set_text (self, &self->problem, problem != NULL ? problem : error != NULL ? error->message : NULL, PROP_PROBLEM);
  g_signal_emit (self, signals[GEOMETRY_CHANGED], 0);
}

static void
parameter_changed_cb (LamParameterList *list, LamParameter *parameter, LamSession *self)
{
  const char *id = lam_parameter_get_id (parameter);
  if (g_str_equal (id, "beam")) {
    gboolean cone = g_str_equal (lam_parameter_get_text (parameter), "cone");
    lam_parameter_set_visible (lam_parameter_list_find (list, "source_detector"), cone);
    lam_parameter_set_visible (lam_parameter_list_find (list, "source_axis"), cone);
  }
  if (g_str_equal (id, "method")) {
    gboolean vcd = g_str_equal (lam_parameter_get_text (parameter), "vcd");
    static const char *const iterative[] = {"sharpness", "snr_db", "positivity", "iterations", "stop_percent"};
    for (size_t i = 0; i < G_N_ELEMENTS (iterative); i++)
      lam_parameter_set_visible (lam_parameter_list_find (list, iterative[i]), vcd);
  }
  if (!self->loading)
    update_geometry (self);
}

gboolean
lam_session_edit_offset (LamSession *self, double offset, GError **error)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), FALSE);
  if (self->geometry == NULL)
    return TRUE;
  double channel = (self->geometry->channels - 1) / 2.0 + offset / self->geometry->channel_pitch;
  /* A hundredth of a channel is finer than any hand. */
  return lam_parameter_edit (lam_parameter_list_find (self->parameters, "center"),
                             g_variant_new_double (rint (channel * 100) / 100), error);
}

/* -- opening -- */

static const char *
field_name (const char *field)
{
  static const struct {
    const char *field, *name;
  } names[] = {{"angles", N_ ("angles")},       {"flats", N_ ("flats")},  {"darks", N_ ("darks")},
               {"distances", N_ ("distances")}, {"pitch", N_ ("pitch")},  {"geometry", N_ ("geometry")},
               {"weights", N_ ("weights")},     {"kind", N_ ("kind")},    {"direction", N_ ("direction")},
               {"offset", N_ ("offset")},       {"volume", N_ ("volume")}};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].field, field))
      return _ (names[i].name);
  return field;
}

static void
update_data_facts (LamSession *self)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  const LamGeometry *g = self->base;
  const LamScan *scan = self->scan;
  if (g != NULL) {
    g_autofree char *note = g_strdup_printf (_ ("%ld views over %.0f° · %ld × %ld"), (long) g->views,
                                             fabs (lam_geometry_span (g)), (long) g->rows, (long) g->channels);
    add_fact (facts, LAM_FACT_PLAIN, self->title,
              g_strdup (scan != NULL ? lam_scan_format_name (scan->format) : _ ("example")), note);
  }
  g_autoptr (GString) found = g_string_new (NULL);
  for (guint i = 0; scan != NULL && i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    if (f->kind == LAM_FINDING_FOUND)
      g_string_append_printf (found, "%s%s", found->len > 0 ? ", " : "", field_name (f->field));
  }
  if (found->len > 0)
    add_fact (facts, LAM_FACT_PLAIN, _ ("Found"), g_strdup (found->str), NULL);
  for (guint i = 0; scan != NULL && i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    if (f->kind == LAM_FINDING_FOUND)
      continue;
    const char *label = f->kind == LAM_FINDING_ASSUMED   ? _ ("Assumed")
                        : f->kind == LAM_FINDING_MISSING ? _ ("Missing")
                                                         : _ ("Odd");
    add_fact (facts, f->kind == LAM_FINDING_MISSING ? LAM_FACT_MISSING : LAM_FACT_ASSUMED, label,
              g_strdup (f->value != NULL ? f->value : field_name (f->field)), f->text);
  }
  lam_session_set_facts (self, LAM_FACTS_DATA, facts);
}

/* A new thing is open: everything that belonged to the old one goes. */
static void
take_base (LamSession *self, const char *title, const LamGeometry *geometry)
{
  g_clear_pointer (&self->base, lam_geometry_free);
  self->base = lam_geometry_copy (geometry);
  set_text (self, &self->title, title, PROP_TITLE);
  lam_slice_model_clear (self->slices);
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  lam_series_clear (self->series);
  self->loading = TRUE;
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->parameters)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (self->parameters), i);
    lam_parameter_set_note (p, NULL);
    lam_parameter_reset (p);
  }
  lam_session_parameters_from (self->parameters, self->base);
  self->loading = FALSE;
  lam_undo_clear (self->undo);
  update_data_facts (self);
  update_geometry (self);
  lam_session_set_progress (self, -1, NULL, NULL);
  self->before = LAM_SESSION_READY;
  lam_session_set_state (self, LAM_SESSION_READY);
}

void
lam_session_set_scan (LamSession *self, LamScan *scan)
{
  g_return_if_fail (LAM_IS_SESSION (self) && scan != NULL);
  g_clear_pointer (&self->scan, lam_scan_free);
  self->scan = scan;
  g_autofree char *name = g_path_get_basename (scan->path);
  take_base (self, name, scan->geometry);
  lam_session_log (self, _ ("opened %s: %s, %ld views, %ld rows, %ld channels"), name,
                   lam_scan_format_name (scan->format), (long) scan->geometry->views, (long) scan->geometry->rows,
                   (long) scan->geometry->channels);
}

void
lam_session_set_geometry (LamSession *self, const char *title, LamGeometry *geometry)
{
  g_return_if_fail (LAM_IS_SESSION (self) && geometry != NULL);
  g_clear_pointer (&self->scan, lam_scan_free);
  take_base (self, title, geometry);
  lam_geometry_free (geometry);
}

typedef struct {
  char *path;
  uint64_t opened;
} Opening;

static void
opening_free (gpointer data)
{
  g_free (((Opening *) data)->path);
  g_free (data);
}

static void
open_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  LamScan *scan = lam_scan_open (((Opening *) data)->path, NULL, &error);
  if (scan != NULL)
    g_task_return_pointer (task, scan, (GDestroyNotify) lam_scan_free);
  else
    g_task_return_error (task, error);
}

static void
open_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LamSession *self = LAM_SESSION (source);
  Opening *opening = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) scan = g_task_propagate_pointer (G_TASK (result), &error);
  if (opening->opened != self->opened)
    return;
  if (scan != NULL) {
    lam_session_set_scan (self, g_steal_pointer (&scan));
    return;
  }
  lam_session_set_state (self, self->before);
  lam_session_fail (self, error);
}

void
lam_session_open (LamSession *self, GFile *file)
{
  g_return_if_fail (LAM_IS_SESSION (self) && G_IS_FILE (file));
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_file_get_path (file);
  if (self->state == LAM_SESSION_RUNNING || self->state == LAM_SESSION_PAUSED)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_INVALID, _ ("a run is going on: stop it before opening another scan"));
  else if (path == NULL)
    g_set_error (&error, LAM_ERROR, LAM_ERROR_IO, _ ("only files of this machine can be opened"));
  if (error != NULL) {
    lam_session_fail (self, error);
    return;
  }
  if (self->state != LAM_SESSION_OPENING)
    self->before = self->state;
  lam_session_set_state (self, LAM_SESSION_OPENING);
  Opening *opening = g_new (Opening, 1);
  *opening = (Opening){g_steal_pointer (&path), ++self->opened};
  g_autoptr (GTask) task = g_task_new (self, NULL, open_done_cb, NULL);
  g_task_set_name (task, "lam_session_open");
  g_task_set_task_data (task, opening, opening_free);
  g_task_run_in_thread (task, open_thread);
}

/* -- getters -- */

LamParameterList *
lam_session_get_parameters (LamSession *self)
{
  return self->parameters;
}

LamUndo *
lam_session_get_undo (LamSession *self)
{
  return self->undo;
}

LamSliceModel *
lam_session_get_slices (LamSession *self)
{
  return self->slices;
}

LamSeries *
lam_session_get_series (LamSession *self)
{
  return self->series;
}

GListModel *
lam_session_get_facts (LamSession *self, LamFacts list)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && list < LAM_FACT_LISTS, NULL);
  return G_LIST_MODEL (self->facts[list]);
}

LamSessionState
lam_session_get_state (LamSession *self)
{
  return self->state;
}

const char *
lam_session_get_title (LamSession *self)
{
  return self->title;
}

double
lam_session_get_fraction (LamSession *self)
{
  return self->fraction;
}

const char *
lam_session_get_doing (LamSession *self)
{
  return self->doing;
}

const char *
lam_session_get_left (LamSession *self)
{
  return self->left;
}

const char *
lam_session_get_problem (LamSession *self)
{
  return self->problem;
}

const LamGeometry *
lam_session_get_geometry (LamSession *self)
{
  return self->geometry;
}

const LamScan *
lam_session_get_scan (LamSession *self)
{
  return self->scan;
}

/* -- GObject -- */

static void
lam_session_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamSession *self = LAM_SESSION (object);
  switch (id) {
  case PROP_STATE:
    g_value_set_int (value, self->state);
    break;
  case PROP_TITLE:
    g_value_set_string (value, self->title);
    break;
  case PROP_FRACTION:
    g_value_set_double (value, self->fraction);
    break;
  case PROP_DOING:
    g_value_set_string (value, self->doing);
    break;
  case PROP_LEFT:
    g_value_set_string (value, self->left);
    break;
  case PROP_PROBLEM:
    g_value_set_string (value, self->problem);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_session_finalize (GObject *object)
{
  LamSession *self = LAM_SESSION (object);
  g_object_unref (self->undo);
  g_object_unref (self->parameters);
  g_object_unref (self->slices);
  g_object_unref (self->series);
  for (int i = 0; i < LAM_FACT_LISTS; i++)
    g_object_unref (self->facts[i]);
  g_clear_pointer (&self->scan, lam_scan_free);
  g_clear_pointer (&self->base, lam_geometry_free);
  g_clear_pointer (&self->geometry, lam_geometry_free);
  g_free (self->title);
  g_free (self->doing);
  g_free (self->left);
  g_free (self->problem);
  G_OBJECT_CLASS (lam_session_parent_class)->finalize (object);
}

static void
lam_session_class_init (LamSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_session_get_property;
  object_class->finalize = lam_session_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_STATE] = g_param_spec_int ("state", NULL, NULL, 0, LAM_SESSION_PAUSED, 0, flags);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  properties[PROP_FRACTION] = g_param_spec_double ("fraction", NULL, NULL, -1, 1, -1, flags);
  properties[PROP_DOING] = g_param_spec_string ("doing", NULL, NULL, NULL, flags);
  properties[PROP_LEFT] = g_param_spec_string ("left", NULL, NULL, NULL, flags);
  properties[PROP_PROBLEM] = g_param_spec_string ("problem", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[GEOMETRY_CHANGED] =
      g_signal_new ("geometry-changed", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[LOGGED] =
      g_signal_new ("logged", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[FAILED] =
      g_signal_new ("failed", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
lam_session_init (LamSession *self)
{
  self->undo = lam_undo_new ();
  self->parameters = lam_parameter_list_new (self->undo);
  lam_session_add_parameters (self->parameters);
  self->slices = lam_slice_model_new ();
  self->series = lam_series_new (_ ("iteration"));
  lam_series_add_column (self->series, "change", _ ("change"), "%");
  lam_series_add_column (self->series, "cost", _ ("data + prior cost"), NULL);
  for (int i = 0; i < LAM_FACT_LISTS; i++)
    self->facts[i] = g_list_store_new (LAM_TYPE_FACT);
  self->fraction = -1;
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (parameter_changed_cb), self, 0);
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "source_detector"), FALSE);
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "source_axis"), FALSE);
}

LamSession *
lam_session_new (void)
{
  return g_object_new (LAM_TYPE_SESSION, NULL);
}
