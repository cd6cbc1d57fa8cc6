#include "config.h"

#include "model/maps-model-private.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "model/dictionary-rows.h"
#include "model/maps-jobs.h"
#include "model/maps-words.h"

#define FORECAST_MS 200 /* after the last change */

enum { CHANGED, PROGRESS, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamMapsModel, lam_maps_model, G_TYPE_OBJECT)

/* ---- what is said ---- */

static void
take_text (char **to, char *text)
{
  g_free (*to);
  *to = text;
}

static gboolean
find_stale (LamMapsModel *self)
{
  g_autoptr (LamMapsSource) now = lam_maps_source_of_session (self->session);
  return self->dictionary != NULL && !lam_maps_source_made (now, self->dictionary->d);
}

static gboolean
find_stale_phantom (LamMapsModel *self)
{
  g_autoptr (LamMapsSource) now = lam_maps_source_of_session (self->session);
  return self->series != NULL && self->series->source != NULL && !lam_maps_source_equal (now, self->series->source);
}

/* What stands between these things and a match. */
static char *
find_lacks (LamMapsModel *self)
{
  if (self->dictionary == NULL)
    return g_strdup (_ ("Make or open a dictionary first."));
  if (self->series == NULL)
    return g_strdup (_ ("Open a series, or make a phantom, first."));
  if (self->series->s->contrasts != self->dictionary->d->samples)
    return g_strdup_printf (_ ("The series has %ld contrasts and the dictionary has %ld: make a dictionary of the "
                               "series' own protocol."),
                            (long) self->series->s->contrasts, (long) self->dictionary->d->samples);
  return NULL;
}

void
lam_maps_model_say_error (LamMapsModel *self, LamMapsKind kind, const char *text)
{
  take_text (&self->errors[kind], g_strdup (text));
}

void
lam_maps_model_say_changed (LamMapsModel *self)
{
  LamMapsResult *result = lam_map_pictures_get_result (self->pictures);
  self->stale = find_stale (self);
  self->stale_phantom = find_stale_phantom (self);
  take_text (&self->texts[LAM_MAPS_DICTIONARY], self->dictionary ? lam_maps_words_dictionary (self->dictionary) : NULL);
  take_text (&self->texts[LAM_MAPS_SERIES],
             self->series ? lam_maps_words_series (self->series, self->stale_phantom) : NULL);
  take_text (&self->texts[LAM_MAPS_MATCH],
             result ? lam_maps_words_result (result, self->dictionary, self->series) : NULL);
  take_text (&self->lacks, find_lacks (self));
  g_signal_emit (self, signals[CHANGED], 0);
}

/* ---- the forecast ---- */

static LamDictionaryRecipe *
new_recipe (LamMapsModel *self, GError **error)
{
  return lam_dictionary_rows_recipe (self->parameters, lam_maps_source_of_session (self->session), error);
}

static void
show_rows (LamMapsModel *self)
{
  g_autoptr (LamMapsSource) source = lam_maps_source_of_session (self->session);
  lam_dictionary_rows_show (self->parameters, source);
}

static gpointer
work (gpointer owner, gpointer recipe, GError **error)
{
  return lam_dictionary_forecast (recipe, &((LamMapsModel *) owner)->control, error);
}

static void
say_forecast (LamMapsModel *self, char *text, gboolean refused)
{
  take_text (&self->forecast, text);
  self->refused = refused;
  lam_maps_model_say_changed (self);
}

static void
answered (gpointer owner)
{
  LamMapsModel *self = owner;
  g_autofree LamDictionaryForecast *f = lam_newest_take (self->newest);
  self->forecasting = FALSE;
  if (f != NULL)
    say_forecast (self, lam_maps_words_forecast (f), FALSE);
}

static void
failed (gpointer owner, const GError *error)
{
  LamMapsModel *self = owner;
  self->forecasting = FALSE;
  say_forecast (self, g_strdup (error->message), TRUE);
}

static void
free_recipe (gpointer recipe)
{
  lam_dictionary_recipe_free (recipe);
}

static gboolean
forecast_cb (gpointer data)
{
  LamMapsModel *self = data;
  g_autoptr (GError) error = NULL;
  self->forecast_source = 0;
  self->forecast_due = FALSE;
  LamDictionaryRecipe *r = new_recipe (self, &error);
  if (r == NULL) {
    say_forecast (self, g_strdup (error->message), TRUE);
    return G_SOURCE_REMOVE;
  }
  self->forecasting = TRUE;
  lam_newest_ask (self->newest, r);
  return G_SOURCE_REMOVE;
}

/* Soon, and once for many changes; later where nobody looks. */
static void
ask_forecast (LamMapsModel *self)
{
  self->forecast_due = TRUE;
  if (!self->active)
    return;
  g_clear_handle_id (&self->forecast_source, g_source_remove);
  self->forecast_source = g_timeout_add (FORECAST_MS, forecast_cb, self);
}

void
lam_maps_model_set_active (LamMapsModel *self, gboolean active)
{
  self->active = active;
  if (active)
    lam_maps_keep_begin (self);
  if (active && self->forecast_due)
    ask_forecast (self);
  else if (!active)
    g_clear_handle_id (&self->forecast_source, g_source_remove);
}

static void
parameter_cb (LamParameterList *list, LamParameter *p, LamMapsModel *self)
{
  /* Ranges are checked at once, for the word in their row. */
  g_autoptr (LamDictionaryRecipe) r = new_recipe (self, NULL);
  ask_forecast (self);
}

/* Also of every frame of a drag: nothing is worked out here but whether the train is another one. */
static void
result_cb (LamSequenceSession *session, LamMapsModel *self)
{
  gboolean changes = find_stale (self) != self->stale || find_stale_phantom (self) != self->stale_phantom;
  ask_forecast (self);
  if (changes)
    lam_maps_model_say_changed (self);
}

static void
protocol_cb (LamSequenceSession *session, LamMapsModel *self)
{
  show_rows (self);
  result_cb (session, self);
}

/* Another file, or none; or it is played or heard in another way. */
static void
options_cb (LamPulseqEstimate *estimate, LamMapsModel *self)
{
  protocol_cb (self->session, self);
  if (self->active)
    lam_maps_keep_begin (self);
}

/* ---- jobs ---- */

/* What the job made is the caller's from here on. */
static gpointer
take_result (LamJob *job)
{
  gpointer result = lam_job_get_result (job);
  lam_job_set_result (job, NULL, NULL);
  return result;
}

static void
put (LamMapsModel *self, LamMapsKind kind, gpointer made)
{
  switch (kind) {
  case LAM_MAPS_DICTIONARY:
    g_clear_pointer (&self->dictionary, lam_maps_dictionary_unref);
    self->dictionary = made;
    if (self->dictionary->path == NULL)
      lam_maps_keep_made (self);
    break;
  case LAM_MAPS_SERIES:
    g_clear_pointer (&self->series, lam_maps_series_unref);
    self->series = made;
    break;
  default:
    if (!self->again || lam_maps_keep_accepts (self, made))
      lam_map_pictures_set_result (self->pictures, made);
    lam_maps_result_unref (made);
  }
  lam_sequence_session_touch (self->session);
}

static void
finished_cb (LamJob *job, LamMapsModel *self)
{
  gboolean failed = FALSE;
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++) {
    if (self->jobs[kind] != job)
      continue;
    g_autoptr (LamJob) held = g_steal_pointer (&self->jobs[kind]);
    g_autoptr (GError) error = lam_job_dup_error (job);
    gpointer made = lam_job_get_state (job) == LAM_JOB_DONE ? take_result (job) : NULL;
    failed |= made == NULL;
    if (made != NULL)
      put (self, kind, made);
    else
      self->then_match = FALSE;
    if (error != NULL && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
      take_text (&self->errors[kind], g_strdup (error->message));
    lam_maps_model_say_changed (self);
  }
  if (self->then_match && !lam_maps_model_is_busy (self)) {
    self->then_match = FALSE;
    lam_maps_model_match (self, NULL);
  }
  if (self->again && !self->then_match && (failed || !lam_maps_model_is_busy (self)))
    lam_maps_keep_end (self, failed);
}

static void
progress_cb (LamJob *job, LamMapsModel *self)
{
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++)
    if (self->jobs[kind] == job)
      g_signal_emit (self, signals[PROGRESS], 0, kind);
}

gboolean
lam_maps_model_start (LamMapsModel *self, LamMapsKind kind, LamJob *job, gboolean now)
{
  lam_maps_keep_drop (self);
  self->jobs[kind] = job;
  take_text (&self->errors[kind], NULL);
  g_signal_connect_object (job, "changed", G_CALLBACK (progress_cb), self, 0);
  /* After the queue, which no longer has it then. */
  g_signal_connect_object (job, "finished", G_CALLBACK (finished_cb), self, G_CONNECT_AFTER);
  if (now)
    lam_queue_add_now (self->queue, job);
  else
    lam_queue_add (self->queue, job);
  lam_maps_model_say_changed (self);
  return TRUE;
}

gboolean
lam_maps_model_make_dictionary (LamMapsModel *self, GError **error)
{
  if (self->jobs[LAM_MAPS_DICTIONARY] != NULL)
    return FALSE;
  LamDictionaryRecipe *r = new_recipe (self, error);
  if (r == NULL)
    return FALSE;
  g_clear_pointer (&self->asked_rows, g_variant_unref);
  self->asked_rows = lam_parameter_list_save (self->parameters);
  self->asked_orders =
      lam_parameter_get_integer (lam_parameter_list_find (lam_sequence_session_get_model (self->session), "orders"));
  return lam_maps_model_start (self, LAM_MAPS_DICTIONARY, lam_maps_job_dictionary (r), FALSE);
}

gboolean
lam_maps_model_open_dictionary (LamMapsModel *self, const char *path, GError **error)
{
  return self->jobs[LAM_MAPS_DICTIONARY] == NULL
         && lam_maps_model_start (self, LAM_MAPS_DICTIONARY, lam_maps_job_open_dictionary (path, NULL), TRUE);
}

gboolean
lam_maps_model_open_series (LamMapsModel *self, const char *path, GError **error)
{
  int64_t contrasts = self->dictionary ? self->dictionary->d->samples : 0;
  const char *dataset = lam_parameter_get_text (lam_parameter_list_find (self->inputs, "dataset"));
  return self->jobs[LAM_MAPS_SERIES] == NULL
         && lam_maps_model_start (self, LAM_MAPS_SERIES,
                                  lam_maps_job_open_series (path, *dataset ? dataset : NULL, contrasts, NULL), TRUE);
}

gboolean
lam_maps_model_make_phantom (LamMapsModel *self, GError **error)
{
  LamParameterList *model = lam_sequence_session_get_model (self->session);
  if (self->jobs[LAM_MAPS_SERIES] != NULL)
    return FALSE;
  LamJob *job = lam_maps_job_phantom (lam_maps_source_of_session (self->session),
                                      lam_parameter_get_number (lam_parameter_list_find (model, "noise")));
  return lam_maps_model_start (self, LAM_MAPS_SERIES, job, FALSE);
}

gboolean
lam_maps_model_match (LamMapsModel *self, GError **error)
{
  g_autofree char *lacks = find_lacks (self);
  if (self->jobs[LAM_MAPS_MATCH] != NULL)
    return FALSE;
  if (lacks != NULL) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s", lacks);
    return FALSE;
  }
  const LamSubspace *basis = self->dictionary->d->subspace;
  const char *mask = lam_parameter_get_text (lam_parameter_list_find (self->inputs, "mask"));
  LamJob *job = lam_maps_job_match (self->dictionary, self->series, basis ? basis->rank : 0, *mask ? mask : NULL);
  return lam_maps_model_start (self, LAM_MAPS_MATCH, job, FALSE);
}

gboolean
lam_maps_model_try (LamMapsModel *self, GError **error)
{
  if (lam_maps_model_is_busy (self)
      || ((self->dictionary == NULL || self->stale) && !lam_maps_model_make_dictionary (self, error)))
    return FALSE;
  self->then_match = lam_maps_model_make_phantom (self, error);
  return self->then_match;
}

static void
saved_cb (LamJob *job, LamMapsModel *self)
{
  g_autoptr (GError) error = lam_job_dup_error (job);
  self->save_failed = error != NULL;
  take_text (&self->saved,
             error ? g_strdup (error->message) : g_strdup_printf (_ ("%s: done"), lam_job_get_title (job)));
  lam_maps_model_say_changed (self);
}

/* Takes @job. */
static gboolean
save (LamMapsModel *self, LamJob *job)
{
  g_autoptr (LamJob) held = job;
  g_signal_connect_object (job, "finished", G_CALLBACK (saved_cb), self, 0);
  take_text (&self->saved, g_strdup_printf (_ ("%s…"), lam_job_get_title (job)));
  self->save_failed = FALSE;
  lam_queue_add_now (self->queue, job);
  lam_maps_model_say_changed (self);
  return TRUE;
}

gboolean
lam_maps_model_save_dictionary (LamMapsModel *self, const char *path, GError **error)
{
  if (self->dictionary == NULL) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s", _ ("There is no dictionary to save."));
    return FALSE;
  }
  return save (self, lam_maps_job_save_dictionary (self->dictionary, path));
}

gboolean
lam_maps_model_save_maps (LamMapsModel *self, const char *path, GError **error)
{
  LamMapsResult *result = lam_map_pictures_get_result (self->pictures);
  if (result == NULL) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s", _ ("There are no maps to save."));
    return FALSE;
  }
  return save (self, lam_maps_job_save (result, path));
}

LamJob *
lam_maps_model_get_job (LamMapsModel *self, LamMapsKind kind)
{
  return self->jobs[kind];
}

void
lam_maps_model_cancel (LamMapsModel *self, LamMapsKind kind)
{
  if (self->jobs[kind] != NULL)
    lam_job_cancel (self->jobs[kind]);
}

gboolean
lam_maps_model_is_busy (LamMapsModel *self)
{
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++)
    if (self->jobs[kind] != NULL)
      return TRUE;
  return FALSE;
}

void
lam_maps_model_drop_jobs (LamMapsModel *self)
{
  self->then_match = FALSE;
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++)
    if (self->jobs[kind] != NULL) {
      g_signal_handlers_disconnect_by_data (self->jobs[kind], self);
      lam_job_cancel (self->jobs[kind]);
      g_clear_object (&self->jobs[kind]);
    }
}

void
lam_maps_model_cancel_all (LamMapsModel *self)
{
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++)
    lam_maps_model_cancel (self, kind);
}

/* ---- reading ---- */

LamParameterList *
lam_maps_model_get_parameters (LamMapsModel *self)
{
  return self->parameters;
}

LamParameterList *
lam_maps_model_get_inputs (LamMapsModel *self)
{
  return self->inputs;
}

LamMapsDictionary *
lam_maps_model_get_dictionary (LamMapsModel *self)
{
  return self->dictionary;
}

LamMapsSeries *
lam_maps_model_get_series (LamMapsModel *self)
{
  return self->series;
}

LamMapPictures *
lam_maps_model_get_pictures (LamMapsModel *self)
{
  return self->pictures;
}

gboolean
lam_maps_model_is_stale (LamMapsModel *self)
{
  return self->stale;
}

const char *
lam_maps_model_get_forecast (LamMapsModel *self, gboolean *refused)
{
  *refused = self->refused;
  return self->forecast;
}

const char *
lam_maps_model_get_text (LamMapsModel *self, LamMapsKind kind)
{
  return self->texts[kind];
}

const char *
lam_maps_model_get_error (LamMapsModel *self, LamMapsKind kind)
{
  return self->errors[kind];
}

const char *
lam_maps_model_get_lacks (LamMapsModel *self)
{
  return self->lacks;
}

const char *
lam_maps_model_get_saved (LamMapsModel *self, gboolean *failed)
{
  *failed = self->save_failed;
  return self->saved;
}

gboolean
lam_maps_model_is_settled (LamMapsModel *self)
{
  return !lam_maps_model_is_busy (self) && !self->forecasting && self->forecast_source == 0
         && !(self->active && self->forecast_due);
}

/* ---- object ---- */

static void
build_inputs (LamMapsModel *self)
{
  self->inputs = lam_parameter_list_new (lam_sequence_session_get_undo (self->session));
  LamParameter *p = lam_parameter_list_add (self->inputs, lam_parameter_new_file ("mask", _ ("Mask")));
  lam_parameter_set_help (p, _ ("An image that is 0 where nothing is to be matched: NIfTI or HDF5, as many voxels"));
  p = lam_parameter_list_add (self->inputs, lam_parameter_new_text ("dataset", _ ("Dataset"), ""));
  lam_parameter_set_help (p, _ ("Which one of an HDF5 series, where several can be meant; empty: the only one"));
}

LamMapsModel *
lam_maps_model_new (LamSequenceSession *session, LamQueue *queue)
{
  static const LamNewestFuncs funcs = {"dictionary forecast", work, answered, failed, free_recipe, g_free};
  LamMapsModel *self = g_object_new (LAM_TYPE_MAPS_MODEL, NULL);
  self->session = g_object_ref (session);
  self->queue = g_object_ref (queue);
  self->newest = lam_newest_new (self, &funcs);
  self->parameters = lam_dictionary_rows_new (lam_sequence_session_get_undo (session));
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (parameter_cb), self, 0);
  build_inputs (self);
  lam_sequence_session_keep (session, "dictionary", self->parameters);
  lam_sequence_session_keep (session, "series", self->inputs);
  lam_maps_keep_init (self);
  show_rows (self);
  g_signal_connect_object (session, "protocol-changed", G_CALLBACK (protocol_cb), self, 0);
  g_signal_connect_object (session, "train-changed", G_CALLBACK (result_cb), self, 0);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  g_signal_connect_object (lam_sequence_session_get_pulseq_estimate (session), "options-changed",
                           G_CALLBACK (options_cb), self, 0);
  self->forecast_due = TRUE;
  lam_maps_model_say_changed (self);
  return self;
}

void
lam_maps_model_close (LamMapsModel *self)
{
  self->active = FALSE;
  g_clear_handle_id (&self->forecast_source, g_source_remove);
  atomic_store (&self->control.cancel, 1);
  if (self->newest != NULL)
    lam_newest_stop (self->newest);
  lam_map_pictures_close (self->pictures);
  lam_maps_model_drop_jobs (self);
}

static void
lam_maps_model_dispose (GObject *object)
{
  LamMapsModel *self = LAM_MAPS_MODEL (object);
  lam_maps_model_close (self);
  g_clear_object (&self->parameters);
  g_clear_object (&self->inputs);
  g_clear_object (&self->queue);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_maps_model_parent_class)->dispose (object);
}

static void
lam_maps_model_finalize (GObject *object)
{
  LamMapsModel *self = LAM_MAPS_MODEL (object);
  lam_maps_keep_clear (self);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_object (&self->pictures);
  g_clear_pointer (&self->dictionary, lam_maps_dictionary_unref);
  g_clear_pointer (&self->series, lam_maps_series_unref);
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++) {
    g_free (self->errors[kind]);
    g_free (self->texts[kind]);
  }
  g_free (self->forecast);
  g_free (self->lacks);
  g_free (self->saved);
  G_OBJECT_CLASS (lam_maps_model_parent_class)->finalize (object);
}

static void
lam_maps_model_class_init (LamMapsModelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_maps_model_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_maps_model_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", LAM_TYPE_MAPS_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PROGRESS] = g_signal_new ("progress", LAM_TYPE_MAPS_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_INT);
}

static void
lam_maps_model_init (LamMapsModel *self)
{
  self->pictures = lam_map_pictures_new ();
}
