/* maps-keep.c: what a session keeps of the Maps tab beside its rows and the maps themselves: where series and dictionary came
 * from. Opened again, the maps are there at once. Once somebody looks at the tab, the series is read again if it is as it
 * was, and so is the dictionary, or made again where that is a matter of seconds; then matched, which gives the same maps
 * to the last bit, and with them each voxel's signal and fit. */
#include "config.h"

#include "model/maps-model-private.h"

#include <glib/gi18n.h>

#define SHORT_SECONDS 10 /* that a dictionary may take to be made again without being asked for */

/* The dictionary that there is would come out of the rows and the train as they are now. */
static gboolean
is_of_rows (LamMapsModel *self)
{
  g_autoptr (GVariant) now = lam_parameter_list_save (self->parameters);
  LamParameter *orders = lam_parameter_list_find (lam_sequence_session_get_model (self->session), "orders");
  return self->dictionary->path == NULL && !lam_maps_model_is_stale (self) && self->made_rows != NULL
         && g_variant_equal (now, self->made_rows) && lam_parameter_get_integer (orders) == self->made_orders;
}

static void
add (GVariantBuilder *b, const char *id, GVariant *value)
{
  g_variant_builder_add (b, "{sv}", id, value);
}

static GVariant *
file_state (const char *path, const LamFileStamp *stamp)
{
  return g_variant_new ("(^ayxx)", path, stamp->size, stamp->mtime_ns);
}

static GVariant *
save_part (GObject *owner)
{
  LamMapsModel *self = LAM_MAPS_MODEL (owner);
  LamMapsResult *result = lam_map_pictures_get_result (self->pictures);
  g_auto (GVariantBuilder) b = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);
  if (self->kept != NULL)
    return g_variant_ref (self->kept);
  if (self->dictionary == NULL && self->series == NULL && result == NULL)
    return NULL;
  if (self->dictionary != NULL && self->dictionary->path != NULL)
    add (&b, "dictionary", file_state (self->dictionary->path, &self->dictionary->stamp));
  else if (self->dictionary != NULL && is_of_rows (self))
    add (&b, "made-seconds", g_variant_new_double (self->made_seconds));
  if (result != NULL)
    add (&b, "mask", g_variant_new_string (result->mask != NULL ? result->mask : ""));
  if (self->series != NULL && self->series->source == NULL)
    add (&b, "series", file_state (self->series->s->path, &self->series->stamp));
  else if (self->series != NULL && !self->stale_phantom)
    add (&b, "phantom", g_variant_new ("(xd)", (gint64) self->series->source->orders, self->series->noise));
  return g_variant_builder_end (&b);
}

/* What there was belongs to another session. */
static void
load_part (GObject *owner, GVariant *state)
{
  LamMapsModel *self = LAM_MAPS_MODEL (owner);
  lam_maps_model_drop_jobs (self);
  lam_maps_keep_clear (self);
  g_clear_pointer (&self->dictionary, lam_maps_dictionary_unref);
  g_clear_pointer (&self->series, lam_maps_series_unref);
  for (int kind = 0; kind < LAM_MAPS_KINDS; kind++)
    lam_maps_model_say_error (self, kind, NULL);
  if (lam_map_pictures_get_result (self->pictures) != NULL)
    lam_map_pictures_set_result (self->pictures, NULL);
  self->kept = state != NULL ? g_variant_ref (state) : NULL;
  lam_maps_model_say_changed (self);
}

/* ---- having it again ---- */

static gboolean
reopen (LamMapsModel *self, LamMapsKind kind, const char *id)
{
  g_autofree char *path = NULL;
  LamMapsPlace place = {.folder = self->folder};
  if (!g_variant_lookup (self->kept, id, "(^ayxx)", &path, &place.stamp.size, &place.stamp.mtime_ns))
    return FALSE;
  const char *dataset = lam_parameter_get_text (lam_parameter_list_find (self->inputs, "dataset"));
  return lam_maps_model_start (self, kind,
                               kind == LAM_MAPS_DICTIONARY
                                   ? lam_maps_job_open_dictionary (path, &place)
                                   : lam_maps_job_open_series (path, *dataset ? dataset : NULL, 0, &place),
                               TRUE);
}

static gboolean
remake_phantom (LamMapsModel *self)
{
  gint64 orders;
  double noise;
  if (!g_variant_lookup (self->kept, "phantom", "(xd)", &orders, &noise))
    return FALSE;
  LamMapsSource *source = lam_maps_source_of_session (self->session);
  source->orders = (int) orders;
  return lam_maps_model_start (self, LAM_MAPS_SERIES, lam_maps_job_phantom (source, noise), FALSE);
}

static gboolean
remake_dictionary (LamMapsModel *self)
{
  double seconds;
  if (!g_variant_lookup (self->kept, "made-seconds", "d", &seconds))
    return FALSE;
  self->made_seconds = seconds;
  return seconds < SHORT_SECONDS && lam_maps_model_make_dictionary (self, NULL);
}

void
lam_maps_keep_begin (LamMapsModel *self)
{
  const char *mask = NULL;
  /* A Pulseq file of the session is still being read: its things are of it. */
  gboolean opening = lam_pulseq_model_get_opening (lam_sequence_session_get_pulseq (self->session), NULL) != NULL;
  if (self->kept == NULL || self->asked_again || opening || lam_maps_model_is_busy (self))
    return;
  self->asked_again = self->again = TRUE;
  gboolean series = reopen (self, LAM_MAPS_SERIES, "series") || remake_phantom (self),
           dictionary = reopen (self, LAM_MAPS_DICTIONARY, "dictionary") || remake_dictionary (self);
  self->then_match = series && dictionary && g_variant_lookup (self->kept, "mask", "&s", &mask)
                     && g_str_equal (mask, lam_parameter_get_text (lam_parameter_list_find (self->inputs, "mask")));
  self->again = series || dictionary;
}

gboolean
lam_maps_keep_accepts (LamMapsModel *self, LamMapsResult *again)
{
  LamMapsResult *kept = lam_map_pictures_get_result (self->pictures);
  if (kept == NULL || kept->dictionary != NULL || lam_maps_result_same (kept, again))
    return TRUE;
  lam_maps_model_say_error (
      self, LAM_MAPS_MATCH,
      _ ("Matched again, the maps are not those that the session has. These stay; Match shows the "
         "new ones."));
  return FALSE;
}

void
lam_maps_keep_end (LamMapsModel *self, gboolean failed)
{
  LamMapsResult *result = lam_map_pictures_get_result (self->pictures);
  self->again = FALSE;
  /* Else the session still tells more than there is here. */
  if (!failed && self->dictionary != NULL && self->series != NULL && (result == NULL || result->dictionary != NULL))
    g_clear_pointer (&self->kept, g_variant_unref);
}

void
lam_maps_keep_made (LamMapsModel *self)
{
  g_clear_pointer (&self->made_rows, g_variant_unref);
  self->made_rows = g_steal_pointer (&self->asked_rows);
  self->made_orders = self->asked_orders;
  if (!self->again) /* else the session says it, and is not changed by this machine's haste */
    self->made_seconds = self->dictionary->seconds;
}

void
lam_maps_keep_drop (LamMapsModel *self)
{
  if (!self->again)
    g_clear_pointer (&self->kept, g_variant_unref);
}

void
lam_maps_keep_clear (LamMapsModel *self)
{
  self->asked_again = self->again = FALSE;
  g_clear_pointer (&self->kept, g_variant_unref);
  g_clear_pointer (&self->asked_rows, g_variant_unref);
  g_clear_pointer (&self->made_rows, g_variant_unref);
  g_clear_pointer (&self->folder, g_free);
}

void
lam_maps_keep_init (LamMapsModel *self)
{
  lam_sequence_session_keep_part (self->session, "maps", G_OBJECT (self), save_part, load_part);
}

void
lam_maps_model_show_kept (LamMapsModel *self, LamMapsResult *kept, const char *folder)
{
  g_free (self->folder);
  self->folder = g_strdup (folder);
  if (kept != NULL)
    lam_map_pictures_set_result (self->pictures, kept);
  lam_maps_model_say_changed (self);
  if (self->active)
    lam_maps_keep_begin (self);
}
