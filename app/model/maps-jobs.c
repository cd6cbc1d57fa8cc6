#include "config.h"

#include "model/maps-jobs.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/dictionary-file.h"
#include "io/maps.h"
#include "run/mr-phantom.h"

/* ---- a job's control, as reading and writing ask it ---- */

static gboolean
io_cancelled (gpointer job)
{
  return lam_control_cancelled (lam_job_get_control (job));
}

static void
io_progress (double fraction, const char *what, gpointer job)
{
  lam_control_progress (lam_job_get_control (job), what, fraction, 1);
}

static LamIoControl
io_control (LamJob *job)
{
  return (LamIoControl){io_cancelled, io_progress, job};
}

/* ---- dictionaries ---- */

void
lam_dictionary_recipe_free (LamDictionaryRecipe *r)
{
  g_clear_pointer (&r->source, lam_maps_source_unref);
  g_clear_pointer (&r->ranges, lam_atom_ranges_free);
  g_free (r);
}

static void
free_recipe (gpointer recipe)
{
  lam_dictionary_recipe_free (recipe);
}

static void
unref_dictionary (gpointer d)
{
  lam_maps_dictionary_unref (d);
}

static void
unref_series (gpointer s)
{
  lam_maps_series_unref (s);
}

static void
unref_result (gpointer r)
{
  lam_maps_result_unref (r);
}

/* What a plan says of this is about scans. */
static gboolean
fits (const LamPlan *plan, GError **error)
{
  if (lam_plan_fits (plan, NULL))
    return TRUE;
  g_autofree char *bytes = g_format_size ((guint64) MAX (lam_plan_total (plan), 0));
  g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY,
               _ ("That takes %s of memory, and there is not as much: take fewer values."), bytes);
  return FALSE;
}

/* Whether there can be room for so many atoms, before even their parameters are listed. */
static gboolean
has_room (const LamDictionaryRecipe *r, LamModel *m, LamDevices *devices, GError **error)
{
  int64_t samples = lam_model_samples (m, error), atoms = lam_atom_ranges_count (r->ranges);
  if (samples < 0)
    return FALSE;
  if (atoms < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s",
                 _ ("more than 2 147 483 647 atoms are too many: take fewer values"));
    return FALSE;
  }
  g_autoptr (LamPlan) plan = lam_plan_new (devices);
  int phase = lam_plan_add_phase (plan, "dictionary");
  /* Signals, and each parameter as atom, as tissue, and once more while they are handed over. */
  lam_plan_add_buffer (plan, LAM_HOST, "dictionary", atoms * (samples * 4 + r->ranges->n * 24), phase, phase);
  return fits (plan, error);
}

static LamAtoms *
atoms_of (const LamDictionaryRecipe *r, LamModel *m, LamDevices *devices, GError **error)
{
  return has_room (r, m, devices, error) ? lam_atoms_new (LAM_ATOMS_GRID, r->ranges->axes, r->ranges->n, FALSE, error)
                                         : NULL;
}

LamDictionaryForecast *
lam_dictionary_forecast (const LamDictionaryRecipe *r, LamControl *control, GError **error)
{
  LamSimulateOptions options = {0};
  g_autoptr (LamModel) m = lam_maps_source_model (r->source, error);
  g_autoptr (LamDevices) devices = m ? lam_devices_new (NULL, error) : NULL;
  g_autoptr (LamAtoms) atoms = devices ? atoms_of (r, m, devices, error) : NULL;
  g_autoptr (LamPlan) plan = atoms ? lam_dictionary_plan (m, atoms, &options, devices, error) : NULL;
  double seconds = 0;
  if (!plan || !fits (plan, error) || !lam_dictionary_seconds (m, atoms, &options, devices, control, &seconds, error))
    return NULL;
  LamDictionaryForecast *f = g_new0 (LamDictionaryForecast, 1);
  *f = (LamDictionaryForecast){atoms->n, atoms->excluded, lam_model_samples (m, NULL), lam_plan_total (plan),
                               seconds,  r->rank > 0};
  return f;
}

static gboolean
make_dictionary (LamJob *job, gpointer data, GError **error)
{
  const LamDictionaryRecipe *r = data;
  LamControl *control = lam_job_get_control (job);
  LamSimulateOptions options = {0};
  gint64 start = g_get_monotonic_time ();
  g_autoptr (LamModel) m = lam_maps_source_model (r->source, error);
  g_autoptr (LamDevices) devices = m ? lam_devices_new (NULL, error) : NULL;
  g_autoptr (LamAtoms) atoms = devices ? atoms_of (r, m, devices, error) : NULL;
  g_autoptr (LamDictionary) d = atoms ? lam_dictionary_new (m, atoms, &options, devices, control, error) : NULL;
  if (!d || (r->rank > 0 && !lam_dictionary_compress (d, r->rank, 0, devices, control, error)))
    return FALSE;
  double seconds = (double) (g_get_monotonic_time () - start) / 1e6;
  lam_job_set_result (job, lam_maps_dictionary_new (g_steal_pointer (&d), NULL, seconds), unref_dictionary);
  return TRUE;
}

LamJob *
lam_maps_job_dictionary (LamDictionaryRecipe *recipe)
{
  g_autofree char *title = g_strdup_printf (_ ("Dictionary of %s"), lam_maps_source_name (recipe->source));
  return lam_job_new (title, make_dictionary, recipe, free_recipe);
}

/* ---- files that are opened, for the first time or again ---- */

typedef struct {
  char *path, *dataset;
  int64_t contrasts;
  LamMapsPlace *place; /* NULL: as it is now */
} Open;

static void
free_open (gpointer data)
{
  Open *o = data;
  g_free (o->path);
  g_free (o->dataset);
  if (o->place)
    g_free (o->place->folder);
  g_free (o->place);
  g_free (o);
}

static LamJob *
new_open (LamJobFunc func, const char *path, const char *dataset, int64_t contrasts, const LamMapsPlace *place)
{
  g_autofree char *name = g_filename_display_basename (path), *title = g_strdup_printf (_ ("Open %s"), name);
  Open o = {g_strdup (path), g_strdup (dataset), contrasts, place ? g_memdup2 (place, sizeof *place) : NULL};
  if (o.place)
    o.place->folder = g_strdup (place->folder);
  return lam_job_new (title, func, g_memdup2 (&o, sizeof o), free_open);
}

/* Where the file is now, and what it is there: as it was, at its place or beside the session. g_free (). */
static char *
find_file (const Open *o, LamFileStamp *stamp, GError **error)
{
  if (!o->place)
    return lam_file_stamp (o->path, stamp, error) ? g_strdup (o->path) : NULL;
  g_autofree char *name = g_path_get_basename (o->path),
                  *beside = o->place->folder ? g_build_filename (o->place->folder, name, NULL) : NULL;
  const char *const places[] = {o->path, beside};
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    if (places[i] && lam_file_is_as_stamped (places[i], &o->place->stamp) && lam_file_stamp (places[i], stamp, NULL))
      return g_strdup (places[i]);
  const char *there = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (places) && !there; i++)
    there = places[i] && lam_file_stamp (places[i], stamp, NULL) ? places[i] : NULL;
  g_set_error (error, LAM_ERROR, there ? LAM_ERROR_CHANGED : LAM_ERROR_IO,
               there ? _ ("%s is not what it was when the session was saved; open it to use it as it is now.")
                     : _ ("%s is not there any more, nor beside the session."),
               there ? there : o->path);
  return NULL;
}

static gboolean
open_dictionary (LamJob *job, gpointer data, GError **error)
{
  LamIoControl control = io_control (job);
  LamFileStamp stamp;
  g_autofree char *path = find_file (data, &stamp, error);
  LamDictionary *d = path ? lam_dictionary_load (path, &control, error) : NULL;
  if (!d)
    return FALSE;
  LamMapsDictionary *made = lam_maps_dictionary_new (d, path, 0);
  made->stamp = stamp;
  lam_job_set_result (job, made, unref_dictionary);
  return TRUE;
}

LamJob *
lam_maps_job_open_dictionary (const char *path, const LamMapsPlace *place)
{
  return new_open (open_dictionary, path, NULL, 0, place);
}

/* ---- writing ---- */

typedef struct {
  LamMapsDictionary *dictionary;
  LamMapsResult *result;
  char *path;
} Save;

static void
free_save (gpointer data)
{
  Save *s = data;
  g_clear_pointer (&s->dictionary, lam_maps_dictionary_unref);
  g_clear_pointer (&s->result, lam_maps_result_unref);
  g_free (s->path);
  g_free (s);
}

static gboolean
save_dictionary (LamJob *job, gpointer data, GError **error)
{
  Save *s = data;
  LamIoControl control = io_control (job);
  return lam_dictionary_save (s->dictionary->d, s->path, &control, error);
}

static LamJob *
new_save (LamJobFunc func, Save save)
{
  g_autofree char *name = g_filename_display_basename (save.path), *title = g_strdup_printf (_ ("Save %s"), name);
  LamJob *job = lam_job_new (title, func, g_memdup2 (&save, sizeof save), free_save);
  lam_job_set_lasting (job, TRUE);
  return job;
}

LamJob *
lam_maps_job_save_dictionary (LamMapsDictionary *d, const char *path)
{
  return new_save (save_dictionary, (Save){lam_maps_dictionary_ref (d), NULL, g_strdup (path)});
}

/* The Pulseq file that it is of, as members of a JSON object; empty: of none. g_free (). */
static char *
describe_sequence (const LamDictionary *d)
{
  const char *file = d->pulseq ? d->pulseq->options.file : NULL, *sum = d->pulseq ? d->pulseq->options.checksum : NULL;
  g_autofree char *name = g_strescape (file ? file : "", NULL);
  return d->pulseq
             ? g_strdup_printf ("\"sequence_file\": \"%s\", \"sequence_checksum\": \"%s\", ", name, sum ? sum : "")
             : g_strdup ("");
}

/* What goes with the maps, as JSON text. */
static char *
describe (const LamMapsResult *r)
{
  const LamMapsDictionary *d = r->dictionary;
  g_autofree char *path = d ? g_strescape (d->path ? d->path : "made in the window", NULL) : NULL,
                  *series = g_strescape (r->series->s->path, NULL), *sequence = d ? describe_sequence (d->d) : NULL;
  g_autofree char *dictionary =
      d ? g_strdup_printf ("\"dictionary\": \"%s\", \"template\": \"%s\", %s\"atoms\": %" G_GINT64_FORMAT ", ", path,
                           d->d->template, sequence, d->d->atoms->n)
        : g_strdup (""); /* of a session: not known any more */
  return g_strdup_printf ("{%s\"series\": \"%s\", \"rank\": %d, \"matched\": %" G_GINT64_FORMAT "}", dictionary, series,
                          r->rank, r->match.count[LAM_VOXEL_MATCHED]);
}

static gboolean
save_maps (LamJob *job, gpointer data, GError **error)
{
  Save *s = data;
  LamIoControl control = io_control (job);
  const LamMatch *match = &s->result->match;
  g_autofree LamMap *maps = g_new0 (LamMap, s->result->n + 1);
  g_autofree char *parameters = describe (s->result);
  float *mask = lam_alloc_n (match->voxels, 4, "maps", error);
  if (!mask)
    return FALSE;
  for (int64_t v = 0; v < match->voxels; v++)
    mask[v] = match->state[v] == LAM_VOXEL_MATCHED;
  for (int i = 0; i < s->result->n; i++) {
    const LamMapsMap *m = &s->result->maps[i];
    maps[i] = (LamMap){m->name, *m->unit ? m->unit : "1", m->title, m->values};
  }
  maps[s->result->n] = (LamMap){"mask", "1", "1 where a voxel was matched", mask};
  gboolean ok = lam_maps_write (s->path, s->result->series->s, maps, s->result->n + 1, parameters, &control, error);
  lam_free (mask);
  return ok;
}

LamJob *
lam_maps_job_save (LamMapsResult *r, const char *path)
{
  return new_save (save_maps, (Save){NULL, lam_maps_result_ref (r), g_strdup (path)});
}

/* ---- series ---- */

static gboolean
open_series (LamJob *job, gpointer data, GError **error)
{
  const Open *o = data;
  LamIoControl control = io_control (job);
  LamFileStamp stamp;
  g_autofree char *path = find_file (o, &stamp, error);
  LamMrSeries *s = path ? lam_mr_series_read (path, o->dataset, o->contrasts, &control, error) : NULL;
  if (!s)
    return FALSE;
  LamMapsSeries *made = lam_maps_series_new (s, NULL);
  made->stamp = stamp;
  lam_job_set_result (job, made, unref_series);
  return TRUE;
}

LamJob *
lam_maps_job_open_series (const char *path, const char *dataset, int64_t contrasts, const LamMapsPlace *place)
{
  return new_open (open_series, path, dataset, contrasts, place);
}

typedef struct {
  LamMapsSource *source;
  double noise;
} Phantom;

static void
free_phantom (gpointer data)
{
  lam_maps_source_unref (((Phantom *) data)->source);
  g_free (data);
}

static gboolean
make_phantom (LamJob *job, gpointer data, GError **error)
{
  const Phantom *p = data;
  g_autoptr (LamModel) m = lam_maps_source_model (p->source, error);
  g_autoptr (LamDevices) devices = m ? lam_devices_new (NULL, error) : NULL;
  LamMrSeries *s = devices ? lam_mr_phantom_new (m, p->noise, devices, lam_job_get_control (job), error) : NULL;
  if (!s)
    return FALSE;
  LamMapsSeries *made = lam_maps_series_new (s, lam_maps_source_ref (p->source));
  made->noise = p->noise;
  lam_job_set_result (job, made, unref_series);
  return TRUE;
}

LamJob *
lam_maps_job_phantom (LamMapsSource *source, double noise)
{
  Phantom p = {source, noise};
  return lam_job_new (_ ("Phantom series"), make_phantom, g_memdup2 (&p, sizeof p), free_phantom);
}

/* ---- matching ---- */

typedef struct {
  LamMapsDictionary *dictionary;
  LamMapsSeries *series;
  int rank;
  char *mask; /* a file */
} Match;

static void
free_match (gpointer data)
{
  Match *m = data;
  lam_maps_dictionary_unref (m->dictionary);
  lam_maps_series_unref (m->series);
  g_free (m->mask);
  g_free (m);
}

static gboolean
match (LamJob *job, gpointer data, GError **error)
{
  const Match *m = data;
  LamIoControl control = io_control (job);
  uint8_t *mask = m->mask ? lam_mr_mask_read (m->mask, NULL, m->series->s, &control, error) : NULL;
  if (m->mask && !mask)
    return FALSE;
  LamMapsResult *r = lam_maps_result_new (m->dictionary, m->series, m->rank, mask, lam_job_get_control (job), error);
  lam_free (mask);
  if (!r)
    return FALSE;
  r->mask = g_strdup (m->mask);
  lam_job_set_result (job, r, unref_result);
  return TRUE;
}

LamJob *
lam_maps_job_match (LamMapsDictionary *d, LamMapsSeries *s, int rank, const char *mask)
{
  g_autofree char *name = g_filename_display_basename (s->s->path), *title = g_strdup_printf (_ ("Match %s"), name);
  Match m = {lam_maps_dictionary_ref (d), lam_maps_series_ref (s), rank, g_strdup (mask)};
  return lam_job_new (title, match, g_memdup2 (&m, sizeof m), free_match);
}
