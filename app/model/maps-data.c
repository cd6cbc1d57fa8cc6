#include "config.h"

#include "model/maps-data.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/checkpoint.h"

#define MOST_SORTED 65536 /* values that levels are worked out from */

LamMapsDictionary *
lam_maps_dictionary_new (LamDictionary *d, const char *path, double seconds)
{
  LamMapsDictionary *self = g_new0 (LamMapsDictionary, 1);
  g_atomic_ref_count_init (&self->refs);
  self->d = d;
  self->path = g_strdup (path);
  self->seconds = seconds;
  return self;
}

LamMapsDictionary *
lam_maps_dictionary_ref (LamMapsDictionary *d)
{
  g_atomic_ref_count_inc (&d->refs);
  return d;
}

void
lam_maps_dictionary_unref (LamMapsDictionary *d)
{
  if (!g_atomic_ref_count_dec (&d->refs))
    return;
  lam_dictionary_free (d->d);
  g_free (d->path);
  g_free (d);
}

LamMapsSeries *
lam_maps_series_new (LamMrSeries *s, LamMapsSource *source)
{
  LamMapsSeries *self = g_new0 (LamMapsSeries, 1);
  g_atomic_ref_count_init (&self->refs);
  self->s = s;
  self->source = source;
  return self;
}

LamMapsSeries *
lam_maps_series_ref (LamMapsSeries *s)
{
  g_atomic_ref_count_inc (&s->refs);
  return s;
}

void
lam_maps_series_unref (LamMapsSeries *s)
{
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  lam_mr_series_free (s->s);
  g_clear_pointer (&s->source, lam_maps_source_unref);
  g_free (s);
}

void
lam_maps_series_shape (const LamMapsSeries *s, int64_t shape[3])
{
  const LamMrSeries *m = s->s;
  if (m->nifti) {
    shape[0] = m->dims[1];
    shape[1] = m->dims[0];
  } else if (m->rank > 1) {
    shape[0] = m->dims[0];
    shape[1] = m->dims[1];
  } else { /* a list of voxels is a line */
    shape[0] = 1;
    shape[1] = m->voxels;
  }
  shape[2] = m->voxels / (shape[0] * shape[1]);
}

int64_t
lam_maps_series_voxel (const LamMapsSeries *s, int64_t slice, int64_t row, int64_t column)
{
  int64_t shape[3];
  lam_maps_series_shape (s, shape);
  return s->s->nifti ? column + shape[1] * (row + shape[0] * slice) : (row * shape[1] + column) * shape[2] + slice;
}

void
lam_maps_series_pitch (const LamMapsSeries *s, double pitch[3])
{
  for (int i = 0; i < 3; i++)
    pitch[i] = s->s->nifti && s->s->nifti->voxel_size[i] > 0 ? s->s->nifti->voxel_size[i < 2 ? 1 - i : 2] : 1;
}

/* ---- maps ---- */

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

static void
find_levels (LamMapsMap *map, int64_t voxels)
{
  int64_t step = voxels / MOST_SORTED + 1, n = 0;
  g_autofree float *some = g_new (float, voxels / step + 1);
  for (int64_t v = 0; v < voxels; v++)
    map->finite += isfinite (map->values[v]);
  for (int64_t v = 0; v < voxels; v += step)
    if (isfinite (map->values[v]))
      some[n++] = map->values[v];
  qsort (some, n, sizeof *some, compare_floats);
  map->low = n ? some[(int64_t) (0.005 * (n - 1))] : 0;
  map->high = n ? some[(int64_t) (0.995 * (n - 1))] : 1;
}

void
lam_maps_result_take (LamMapsResult *r, const char *name, const char *unit, const char *title, float *values)
{
  r->maps = g_renew (LamMapsMap, r->maps, r->n + 1);
  LamMapsMap *map = &r->maps[r->n++];
  *map = (LamMapsMap){.name = g_intern_string (name),
                      .unit = g_intern_string (unit),
                      .title = g_intern_string (title),
                      .values = values};
  find_levels (map, r->match.voxels);
}

static gboolean
add_map (LamMapsResult *r, const char *name, const char *unit, const char *title, GError **error)
{
  float *values = lam_alloc_n (r->match.voxels, 4, "maps", error);
  if (!values)
    return FALSE;
  lam_match_map (&r->match, r->dictionary->d, name, values);
  lam_maps_result_take (r, name, unit, title, values);
  return TRUE;
}

static gboolean
make_maps (LamMapsResult *r, GError **error)
{
  static const char *const others[][3] = {{"M0", "", N_ ("Proton density, in units of the series")},
                                          {"phase", "rad", N_ ("Phase of the signal against the dictionary's")},
                                          {"residual", "", N_ ("What is left, relative to the voxel's signal")},
                                          {"score", "", N_ ("Normalised product with the best atom, 0 to 1")}};
  const LamAtoms *a = r->dictionary->d->atoms;
  for (int c = 0; c < a->columns; c++) {
    const LamTissueInfo *info = lam_tissue_find (a->names[c]);
    if (!add_map (r, a->names[c], info->unit, _ (info->title), error))
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (!add_map (r, others[i][0], others[i][1], _ (others[i][2]), error))
      return FALSE;
  return TRUE;
}

LamMapsResult *
lam_maps_result_new (LamMapsDictionary *dictionary, LamMapsSeries *series, int rank, const uint8_t *mask,
                     LamControl *control, GError **error)
{
  const LamMrSeries *s = series->s;
  g_autoptr (LamDevices) devices = lam_devices_new (NULL, error);
  if (!devices)
    return NULL;
  g_autoptr (LamMapsResult) r = g_new0 (LamMapsResult, 1);
  g_atomic_ref_count_init (&r->refs);
  r->dictionary = lam_maps_dictionary_ref (dictionary);
  r->series = lam_maps_series_ref (series);
  r->rank = rank;
  LamMatchOptions options = {.rank = rank, .mask = mask};
  if (!lam_match (dictionary->d, s->re, s->im, s->voxels, s->contrasts, &options, devices, control, &r->match, error)
      || !make_maps (r, error))
    return NULL;
  lam_maps_result_seal (r);
  return g_steal_pointer (&r);
}

LamMapsResult *
lam_maps_result_new_kept (LamMapsSeries *series, int rank, const float *state, GError **error)
{
  g_autoptr (LamMapsResult) r = g_new0 (LamMapsResult, 1);
  g_atomic_ref_count_init (&r->refs);
  r->series = lam_maps_series_ref (series);
  r->rank = rank;
  r->match.voxels = series->s->voxels;
  if (!(r->match.state = lam_alloc_n (r->match.voxels, 1, "maps", error)))
    return NULL;
  for (int64_t v = 0; v < r->match.voxels; v++) {
    r->match.state[v] = state[v] >= 0 && state[v] < LAM_VOXEL_STATES ? (uint8_t) state[v] : LAM_VOXEL_NO_ATOM;
    r->match.count[r->match.state[v]]++;
  }
  return g_steal_pointer (&r);
}

const LamMapsMap *
lam_maps_result_find (const LamMapsResult *r, const char *name)
{
  for (int i = 0; i < r->n; i++)
    if (strcmp (r->maps[i].name, name) == 0)
      return &r->maps[i];
  return NULL;
}

void
lam_maps_result_seal (LamMapsResult *r)
{
  gsize bytes = (gsize) r->match.voxels * sizeof (float);
  r->crc = lam_crc32c (0, r->match.state, (gsize) r->match.voxels);
  for (int i = 0; i < r->n; i++)
    r->crc = lam_crc32c (r->crc, r->maps[i].values, bytes);
}

gboolean
lam_maps_result_same (const LamMapsResult *a, const LamMapsResult *b)
{
  return a->n == b->n && a->match.voxels == b->match.voxels && a->crc == b->crc;
}

LamMapsResult *
lam_maps_result_ref (LamMapsResult *r)
{
  g_atomic_ref_count_inc (&r->refs);
  return r;
}

void
lam_maps_result_unref (LamMapsResult *r)
{
  if (!g_atomic_ref_count_dec (&r->refs))
    return;
  for (int i = 0; i < r->n; i++)
    lam_free (r->maps[i].values);
  g_free (r->maps);
  lam_match_clear (&r->match);
  g_clear_pointer (&r->dictionary, lam_maps_dictionary_unref);
  lam_maps_series_unref (r->series);
  g_free (r->mask);
  g_free (r);
}
