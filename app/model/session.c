#include "config.h"

#include "model/session-private.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "model/preparation.h"
#include "model/session-parameters.h"

G_DEFINE_FINAL_TYPE (LamSession, lam_session, G_TYPE_OBJECT)

enum {
  PROP_0,
  PROP_STATE,
  PROP_TITLE,
  PROP_FRACTION,
  PROP_DOING,
  PROP_LEFT,
  PROP_PROBLEM,
  PROP_QUESTION,
  PROP_UNAPPLIED,
  PROP_MODIFIED,
  PROP_SHOWN,
  PROP_CURVE_OF,
  N_PROPS
};
static GParamSpec *properties[N_PROPS];
enum {
  GEOMETRY_CHANGED,
  DATA_CHANGED,
  LOGGED,
  MESSAGE,
  FAILED,
  UNDOABLE,
  LOG_CHANGED,
  SAVE_VIEW,
  SHOW_VIEW,
  SHOW_SEQUENCE,
  N_SIGNALS
};
/* Lines that the session keeps; when there are more, the oldest half goes. */
#define LOG_BYTES (1 << 20)
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
  g_debug ("%s", line);
  if (self->log->len > LOG_BYTES) { /* the oldest half goes */
    const char *cut = strchr (self->log->str + LOG_BYTES / 2, '\n');
    g_string_erase (self->log, 0, cut != NULL ? cut + 1 - self->log->str : -1);
  }
  g_string_append_printf (self->log, "%s\n", line);
  g_signal_emit (self, signals[LOGGED], 0, line);
}

void
lam_session_fail (LamSession *self, const GError *error)
{
  g_return_if_fail (LAM_IS_SESSION (self) && error != NULL);
  g_debug ("failed: %s", error->message);
  g_signal_emit (self, signals[FAILED], 0, error);
}

void
lam_session_say (LamSession *self, const char *text, gboolean result)
{
  g_debug ("%s", text);
  g_signal_emit (self, signals[MESSAGE], 0, text, result);
}

void
lam_session_say_undo (LamSession *self, const char *text)
{
  g_debug ("%s", text);
  g_signal_emit (self, signals[UNDOABLE], 0, text);
}

void
lam_session_ask (LamSession *self, LamQuestion kind, const char *text)
{
  self->asked = kind;
  set_text (self, &self->question, text, PROP_QUESTION);
}

void
lam_session_set_offer (LamSession *self, const char *text)
{
  g_free (self->offer);
  self->offer = g_strdup (text);
}

const char *
lam_session_get_question_offer (LamSession *self)
{
  return self->offer;
}

const char *
lam_session_get_question (LamSession *self, LamQuestion *kind)
{
  *kind = self->asked;
  return self->question;
}

void
lam_session_clear_curve (LamSession *self)
{
  g_array_set_size (self->curve, 0);
  lam_series_clear (self->series);
  lam_session_set_curve_of (self, NULL);
}

void
lam_session_set_curve_of (LamSession *self, LamResult *result)
{
  if (g_set_object (&self->curve_of, result))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CURVE_OF]);
}

LamResult *
lam_session_get_curve_of (LamSession *self)
{
  return self->curve_of;
}

void
lam_session_show_curve (LamSession *self, LamResult *result)
{
  const GArray *iterations = result != NULL ? lam_result_get_recon (result)->iterations : NULL;
  lam_session_clear_curve (self);
  for (guint i = 0; iterations != NULL && i < iterations->len; i++)
    lam_session_add_iteration (self, &g_array_index (iterations, LamReconIteration, i));
  lam_session_set_curve_of (self, result);
}

void
lam_session_add_iteration (LamSession *self, const LamReconIteration *it)
{
  g_array_append_val (self->curve, *it);
  lam_series_append (self->series, it->iteration, (double[]){it->change_percent, it->cost});
}

void
lam_session_set_modified (LamSession *self, gboolean modified)
{
  if (self->modified == modified)
    return;
  self->modified = modified;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODIFIED]);
}

gboolean
lam_session_get_modified (LamSession *self)
{
  return self->modified;
}

void
lam_session_log_changed (LamSession *self)
{
  g_signal_emit (self, signals[LOG_CHANGED], 0);
}

void
lam_session_exchange_view (LamSession *self, LamSessionView *view, gboolean save)
{
  g_signal_emit (self, signals[save ? SAVE_VIEW : SHOW_VIEW], 0, view);
}

void
lam_session_show_sequence (LamSession *self)
{
  g_signal_emit (self, signals[SHOW_SEQUENCE], 0, self->sequence);
}

/* Tells the rows which one it is; their logs differ. */
void
lam_session_set_shown (LamSession *self, LamResult *result)
{
  if (self->told_shown == result)
    return;
  if (self->told_shown != NULL)
    lam_result_set_shown (self->told_shown, FALSE);
  g_set_object (&self->told_shown, result);
  if (result != NULL)
    lam_result_set_shown (result, TRUE);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOWN]);
  lam_session_log_changed (self);
}

LamResult *
lam_session_get_shown (LamSession *self)
{
  return self->told_shown;
}

const char *
lam_session_get_log (LamSession *self)
{
  return self->told_shown != NULL ? lam_result_get_recon (self->told_shown)->log->str : self->log->str;
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

void
lam_session_update_volume (LamSession *self)
{
  gboolean weighted;
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (LamGeometry) g = lam_session_next_geometry (self, &weighted, NULL);
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

/* What is odd about the geometry, and about the direct method on it, a line each. */
static void
tell_warnings (LamSession *self)
{
  gboolean direct = g_str_equal (lam_parameter_get_text (lam_parameter_list_find (self->parameters, "method")), "fbp");
  g_autofree char *text = self->geometry != NULL ? lam_geometry_warnings (self->geometry) : NULL,
                  *more = self->geometry != NULL && direct ? lam_geometry_direct_warning (self->geometry) : NULL;
  g_autofree char *all = g_strdup_printf ("%s%s%s", text != NULL ? text : "", text != NULL && more != NULL ? "\n" : "",
                                          more != NULL ? more : "");
  if (g_strcmp0 (all, self->warnings) == 0)
    return;
  g_free (self->warnings);
  self->warnings = g_steal_pointer (&all);
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  g_auto (GStrv) lines = g_strsplit (self->warnings, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0')
      g_ptr_array_add (facts, lam_fact_new (LAM_FACT_ASSUMED, _ ("Note"), "", *line));
  lam_session_set_facts (self, LAM_FACTS_GEOMETRY, facts);
}

/* The geometry again, from the parameters; a volume that cannot be says why, and the last good one stays. */
void
lam_session_update_geometry (LamSession *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = lam_parameter_list_get_problem (self->parameters);
  LamGeometry *g = NULL;
  if (self->base != NULL && problem == NULL) {
    LamPlaceValues place = lam_session_place_values (self->parameters);
    g = lam_session_geometry_from (self->parameters, &place, self->base, lam_session_made (self), &error);
    if (g != NULL && !lam_geometry_check (g, &error))
      g_clear_pointer (&g, lam_geometry_free);
  }
  if (g != NULL || self->base == NULL) {
    g_clear_pointer (&self->geometry, lam_geometry_free);
    self->geometry = g;
    if (g != NULL)
      lam_slice_model_set_extent (self->slices, g->recon_slices, g->recon_rows, g->recon_columns);
    lam_session_update_volume (self);
    tell_warnings (self);
  }
  set_text (self, &self->problem,
            problem != NULL                               ? problem
            : error != NULL                               ? error->message
            : self->dataset == NULL && self->base != NULL ? self->unreadable
                                                          : NULL,
            PROP_PROBLEM);
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
    static const char *const iterative[] = {"sharpness",  "snr_db",        "weights",      "positivity",
                                            "row_weight", "column_weight", "slice_weight", "prior_p",
                                            "prior_q",    "prior_t",       "iterations",   "stop_percent"};
    for (size_t i = 0; i < G_N_ELEMENTS (iterative); i++)
      lam_parameter_set_visible (lam_parameter_list_find (list, iterative[i]), vcd);
    tell_warnings (self);
  }
  if (g_str_equal (id, "pitch"))
    lam_session_parameters_follow_pitch (list);
  gboolean preparation = lam_preparation_is_id (id);
  if (preparation)
    lam_preparation_follow (list, id);
  if (self->loading)
    return;
  lam_session_update_modified (self);
  lam_session_touch (self, TRUE);
  if (preparation) {
    lam_session_update_preparation (self);
    return;
  }
  /* Only these make another geometry; the rest changes what a run will need. */
  static const char *const geometric[] = {"beam",        "center", "tilt", "reversed", "pitch", "source_detector",
                                          "source_axis", "region", NULL};
  if (g_strv_contains (geometric, id))
    lam_session_update_geometry (self);
  else
    lam_session_update_forecast (self);
}

/* Five digits are finer than any hand. */
static double
round_distance (double to)
{
  double step = pow (10, floor (log10 (to)) - 4);
  return rint (to / step) * step;
}

/* A hundredth of a channel is finer than any hand. */
static double
round_offset (LamSession *self, double offset)
{
  const LamGeometry *g = self->geometry;
  double channel = lam_session_file_channel (self, (g->channels - 1) / 2.0 + offset / g->channel_pitch);
  return rint (channel * 100) / 100;
}

/* What the parameters become by it; what is not moved keeps its value. */
static LamPlaceValues
values_at (LamSession *self, const LamPlace *place)
{
  const LamGeometry *g = self->geometry;
  LamPlaceValues values = lam_session_place_values (self->parameters);
  const LamPlace *home = self->held ? &self->held_place : NULL;
  if (home != NULL && place->channel_offset == home->channel_offset)
    values.center = self->held_values.center;
  else if (place->channel_offset != g->channel_offset)
    values.center = round_offset (self, place->channel_offset);
  if (g->kind == LAM_GEOMETRY_CONE) {
    double scale = lam_session_distance_scale (self->parameters);
    if (home != NULL && place->source_detector == home->source_detector)
      values.source_detector = self->held_values.source_detector;
    else if (place->source_detector != g->source_detector)
      values.source_detector = round_distance (place->source_detector / scale);
    if (home != NULL && place->source_axis == home->source_axis)
      values.source_axis = self->held_values.source_axis;
    else if (place->source_axis != g->source_axis)
      values.source_axis = round_distance (place->source_axis / scale);
  }
  return values;
}

void
lam_session_hold_place (LamSession *self, gboolean hold)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  const LamGeometry *g = self->geometry;
  self->held = hold && g != NULL;
  if (!self->held)
    return;
  self->held_place = (LamPlace){g->channel_offset, g->source_detector, g->source_axis};
  self->held_values = lam_session_place_values (self->parameters);
}

LamGeometry *
lam_session_geometry_at (LamSession *self, const LamPlace *place)
{
  if (self->base == NULL || self->geometry == NULL)
    return NULL;
  LamPlaceValues values = values_at (self, place);
  LamGeometry *g = lam_session_geometry_from (self->parameters, &values, self->base, lam_session_made (self), NULL);
  if (g != NULL && !lam_geometry_check (g, NULL))
    g_clear_pointer (&g, lam_geometry_free);
  return g;
}

static gboolean
edit_number (LamSession *self, const char *id, double value, GError **error)
{
  LamParameter *p = lam_parameter_list_find (self->parameters, id);
  return value == lam_parameter_get_number (p) || lam_parameter_edit (p, g_variant_new_double (value), error);
}

gboolean
lam_session_edit_offset (LamSession *self, double offset, GError **error)
{
  g_return_val_if_fail (LAM_IS_SESSION (self), FALSE);
  return self->geometry == NULL || edit_number (self, "center", round_offset (self, offset), error);
}

gboolean
lam_session_edit_place (LamSession *self, const LamPlace *place, GError **error)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && place != NULL, FALSE);
  if (self->geometry == NULL)
    return TRUE;
  gboolean loading = self->loading;
  LamPlaceValues values = values_at (self, place);
  self->loading = TRUE;
  gboolean ok = edit_number (self, "center", values.center, error)
                && edit_number (self, "source_detector", values.source_detector, error)
                && edit_number (self, "source_axis", values.source_axis, error);
  self->loading = loading;
  if (!loading) {
    lam_session_update_modified (self);
    lam_session_touch (self, TRUE);
    lam_session_update_geometry (self);
  }
  return ok;
}

/* A new thing is open, or with @geometry NULL none: everything that belonged to the old one goes. */
void
lam_session_take_base (LamSession *self, const char *title, const LamGeometry *geometry, const LamScan *scan)
{
  g_clear_pointer (&self->base, lam_geometry_free);
  self->base = geometry != NULL ? lam_geometry_copy (geometry) : NULL;
  set_text (self, &self->title, title, PROP_TITLE);
  lam_slice_model_clear (self->slices);
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  lam_session_clear_curve (self);
  self->loading = TRUE;
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->parameters)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (self->parameters), i);
    lam_parameter_set_note (p, NULL);
    lam_parameter_reset (p);
  }
  if (geometry != NULL)
    lam_session_parameters_from (self->parameters, self->base);
  lam_preparation_from_scan (self->parameters, scan);
  self->loading = FALSE;
  lam_undo_clear (self->undo);
  lam_session_rebase (self);
  lam_session_update_geometry (self);
  lam_session_set_progress (self, -1, NULL, NULL);
  self->before = geometry != NULL ? LAM_SESSION_READY : LAM_SESSION_EMPTY;
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

LamResults *
lam_session_get_results (LamSession *self)
{
  return self->results;
}

const char *
lam_session_get_home (LamSession *self)
{
  return self->home;
}

const char *
lam_session_get_scan_path (LamSession *self)
{
  return self->scan_path;
}

LamQueue *
lam_session_get_queue (LamSession *self)
{
  return self->queue;
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
  case PROP_QUESTION:
    g_value_set_string (value, self->question);
    break;
  case PROP_UNAPPLIED:
    g_value_set_boolean (value, self->unapplied);
    break;
  case PROP_MODIFIED:
    g_value_set_boolean (value, self->modified);
    break;
  case PROP_CURVE_OF:
    g_value_set_object (value, self->curve_of);
    break;
  case PROP_SHOWN:
    g_value_set_object (value, self->told_shown);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_session_dispose (GObject *object)
{
  LamSession *self = LAM_SESSION (object);
  /* Who listened may be half gone already. */
  g_signal_handlers_destroy (self);
  lam_session_autosave_dispose (self);
  lam_session_store_dispose (self);
  lam_session_run_dispose (self);
  lam_session_data_dispose (self);
  lam_session_drop_resuming (self);
  lam_session_drop_orphan (self, FALSE);
  g_clear_object (&self->told_shown);
  g_clear_object (&self->curve_of);
  G_OBJECT_CLASS (lam_session_parent_class)->dispose (object);
}

static void
lam_session_finalize (GObject *object)
{
  LamSession *self = LAM_SESSION (object);
  g_object_unref (self->undo);
  g_object_unref (self->parameters);
  g_object_unref (self->slices);
  g_object_unref (self->series);
  g_object_unref (self->results);
  g_array_unref (self->curve);
  g_string_free (self->log, TRUE);
  g_clear_pointer (&self->stored, g_variant_unref);
  g_clear_pointer (&self->sequence, g_variant_unref);
  g_clear_pointer (&self->stored_sequence, g_variant_unref);
  g_clear_pointer (&self->maps, lam_maps_result_unref);
  g_clear_pointer (&self->stored_maps, lam_maps_result_unref);
  g_clear_pointer (&self->kept_maps, lam_maps_result_unref);
  g_free (self->kept_maps_path);
  g_free (self->home);
  g_free (self->results_folder);
  g_free (self->offer);
  for (int i = 0; i < LAM_FACT_LISTS; i++)
    g_object_unref (self->facts[i]);
  g_clear_pointer (&self->base, lam_geometry_free);
  g_clear_pointer (&self->geometry, lam_geometry_free);
  g_free (self->title);
  g_free (self->doing);
  g_free (self->left);
  g_free (self->problem);
  g_free (self->warnings);
  g_free (self->question);
  lam_prepare_params_clear (&self->prepared);
  lam_prepare_params_clear (&self->being_applied);
  G_OBJECT_CLASS (lam_session_parent_class)->finalize (object);
}

static void
lam_session_class_init (LamSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_session_get_property;
  object_class->dispose = lam_session_dispose;
  object_class->finalize = lam_session_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_STATE] = g_param_spec_int ("state", NULL, NULL, 0, LAM_SESSION_PAUSED, 0, flags);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  properties[PROP_FRACTION] = g_param_spec_double ("fraction", NULL, NULL, -1, 1, -1, flags);
  properties[PROP_DOING] = g_param_spec_string ("doing", NULL, NULL, NULL, flags);
  properties[PROP_LEFT] = g_param_spec_string ("left", NULL, NULL, NULL, flags);
  properties[PROP_PROBLEM] = g_param_spec_string ("problem", NULL, NULL, NULL, flags);
  properties[PROP_QUESTION] = g_param_spec_string ("question", NULL, NULL, NULL, flags);
  properties[PROP_UNAPPLIED] = g_param_spec_boolean ("unapplied", NULL, NULL, FALSE, flags);
  properties[PROP_MODIFIED] = g_param_spec_boolean ("modified", NULL, NULL, FALSE, flags);
  properties[PROP_SHOWN] = g_param_spec_object ("shown", NULL, NULL, LAM_TYPE_RESULT, flags);
  properties[PROP_CURVE_OF] = g_param_spec_object ("curve-of", NULL, NULL, LAM_TYPE_RESULT, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[UNDOABLE] = g_signal_new ("undoable", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                    1, G_TYPE_STRING);
  signals[LOG_CHANGED] =
      g_signal_new ("log-changed", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SAVE_VIEW] = g_signal_new ("save-view", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                     1, G_TYPE_POINTER);
  signals[SHOW_VIEW] = g_signal_new ("show-view", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                     1, G_TYPE_POINTER);
  signals[SHOW_SEQUENCE] = g_signal_new ("show-sequence", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                         G_TYPE_NONE, 1, G_TYPE_VARIANT);
  signals[GEOMETRY_CHANGED] =
      g_signal_new ("geometry-changed", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DATA_CHANGED] =
      g_signal_new ("data-changed", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[LOGGED] =
      g_signal_new ("logged", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[MESSAGE] = g_signal_new ("message", LAM_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                                   G_TYPE_STRING, G_TYPE_BOOLEAN);
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
  self->results = lam_results_new (self->undo);
  self->curve = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  self->log = g_string_new (NULL);
  lam_series_add_column (self->series, "change", _ ("change"), "%");
  lam_series_add_column (self->series, "cost", _ ("cost (what is minimised)"), NULL);
  for (int i = 0; i < LAM_FACT_LISTS; i++)
    self->facts[i] = g_list_store_new (LAM_TYPE_FACT);
  self->fraction = -1;
  lam_prepare_params_init (&self->prepared);
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (parameter_changed_cb), self, 0);
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "source_detector"), FALSE);
  lam_parameter_set_visible (lam_parameter_list_find (self->parameters, "source_axis"), FALSE);
}

LamSession *
lam_session_new (LamQueue *queue)
{
  LamSession *self = g_object_new (LAM_TYPE_SESSION, NULL);
  self->queue = queue != NULL ? g_object_ref (queue) : lam_queue_new ();
  lam_session_data_init (self);
  lam_session_run_init (self);
  lam_session_store_init (self);
  return self;
}
