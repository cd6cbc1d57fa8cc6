#include "config.h"

#include "model/maps-file.h"

#include <glib/gi18n.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

#define GROUP "/maps"
#define STATE "state"
#define PER_MAP (INT64_C (4) << 10)
#define OVERHEAD (INT64_C (64) << 10)

int64_t
lam_maps_file_bytes (const LamMapsResult *r)
{
  return (r->n + 1) * r->match.voxels * (int64_t) sizeof (float);
}

int64_t
lam_maps_file_overhead (const LamMapsResult *r)
{
  return OVERHEAD + r->n * PER_MAP;
}

/* ---- the series, as attributes of the group ---- */

/* Numbers of a NIfTI header that are arrays. */
#define NIFTI_ARRAYS(n)                                                                                                \
  {                                                                                                                    \
    {"nifti_voxel_size", (n)->voxel_size, 3}, {"nifti_affine", &(n)->affine[0][0], 12},                                \
        {"nifti_sform", &(n)->sform[0][0], 12}, {"nifti_quatern", (n)->quatern, 3},                                    \
        {"nifti_qoffset", (n)->qoffset, 3}, {"nifti_pixdim", (n)->pixdim, 4},                                          \
  }
#define NIFTI_NUMBERS(n)                                                                                               \
  {                                                                                                                    \
    {"nifti_version", &(n)->version}, {"nifti_sform_code", &(n)->sform_code}, {"nifti_qform_code", &(n)->qform_code},  \
        {"nifti_units", &(n)->units},                                                                                  \
  }

static gboolean
put_nifti (hid_t id, LamNifti *n, const char *place, GError **error)
{
  const struct {
    const char *name;
    double *values;
    int count;
  } arrays[] = NIFTI_ARRAYS (n);
  const struct {
    const char *name;
    int *value;
  } numbers[] = NIFTI_NUMBERS (n);
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    if (!lam_h5_put_doubles (id, arrays[i].name, arrays[i].values, arrays[i].count, place, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!lam_h5_put_int (id, numbers[i].name, *numbers[i].value, place, error))
      return FALSE;
  return lam_h5_put_int (id, "nifti_place", n->place, place, error);
}

static LamNifti *
get_nifti (hid_t id, const LamMrSeries *s, const char *file, GError **error)
{
  static const double one[3] = {1, 1, 1};
  g_autoptr (LamNifti) n = lam_nifti_new (s->dims, one, s->contrasts);
  const struct {
    const char *name;
    double *values;
    int count;
  } arrays[] = NIFTI_ARRAYS (n);
  const struct {
    const char *name;
    int *value;
  } numbers[] = NIFTI_NUMBERS (n);
  int64_t place = n->place;
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++) {
    int64_t count;
    if (!lam_h5_attribute_doubles (id, arrays[i].name, arrays[i].values, arrays[i].count, &count, file, error))
      return NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    int64_t value = *numbers[i].value;
    if (!lam_h5_attribute_int (id, numbers[i].name, &value, file, error))
      return NULL;
    *numbers[i].value = (int) value;
  }
  if (!lam_h5_attribute_int (id, "nifti_place", &place, file, error))
    return NULL;
  n->place = CLAMP (place, LAM_NIFTI_PIXDIM, LAM_NIFTI_SFORM);
  return g_steal_pointer (&n);
}

static gboolean
put_series (hid_t id, const LamMapsResult *r, const char *place, GError **error)
{
  const LamMrSeries *s = r->series->s;
  double dims[LAM_MR_SERIES_RANK];
  for (int i = 0; i < s->rank; i++)
    dims[i] = (double) s->dims[i];
  return lam_h5_put_text (id, "series", s->path, place, error)
         && (!s->dataset || lam_h5_put_text (id, "series_dataset", s->dataset, place, error))
         && lam_h5_put_doubles (id, "series_dims", dims, s->rank, place, error)
         && lam_h5_put_int (id, "series_contrasts", s->contrasts, place, error)
         && lam_h5_put_int (id, "rank", r->rank, place, error)
         && lam_h5_put_text (
             id, "convention",
             "arrays as the series' file has its voxels; state: 0 matched, 1 outside of the mask, 2 all "
             "zero, 3 not finite, 4 like no atom",
             place, error)
         && (!s->nifti || put_nifti (id, s->nifti, place, error));
}

/* Without samples. */
static LamMrSeries *
get_series (hid_t id, const char *place, GError **error)
{
  g_autoptr (LamMrSeries) s = g_new0 (LamMrSeries, 1);
  double dims[LAM_MR_SERIES_RANK];
  int64_t rank = 0;
  s->notes = g_ptr_array_new_with_free_func (g_free);
  s->path = lam_h5_attribute_text (id, "series", place, NULL);
  s->dataset = lam_h5_attribute_text (id, "series_dataset", place, NULL);
  if (!lam_h5_attribute_doubles (id, "series_dims", dims, LAM_MR_SERIES_RANK, &rank, place, error)
      || !lam_h5_attribute_int (id, "series_contrasts", &s->contrasts, place, error))
    return NULL;
  s->rank = (int) rank;
  s->voxels = 1;
  for (int i = 0; i < s->rank; i++) {
    s->dims[i] = dims[i] >= 1 && dims[i] < 1e9 ? (int64_t) dims[i] : 0;
    s->voxels = lam_mul_size (s->voxels, s->dims[i]);
  }
  if (!s->path || s->rank < 1 || s->voxels < 1 || s->contrasts < 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: %s: it is not said what series the maps are of"), place,
                 GROUP);
    return NULL;
  }
  if (lam_h5_has_attribute (id, "nifti_version") && (s->rank != 3 || !(s->nifti = get_nifti (id, s, place, error)))) {
    if (error && !*error)
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: %s: a NIfTI series has three axes"), place, GROUP);
    return NULL;
  }
  return g_steal_pointer (&s);
}

/* ---- writing ---- */

/* As the voxels lie: the last axis is the fastest in HDF5, the first in NIfTI. */
static void
file_dims (const LamMrSeries *s, int64_t *dims)
{
  for (int i = 0; i < s->rank; i++)
    dims[i] = s->dims[s->nifti ? s->rank - 1 - i : i];
}

static gboolean
make_array (LamH5File *h5, const LamMrSeries *s, const char *name, const char *unit, const char *title, int64_t *place,
            GError **error)
{
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  int64_t dims[LAM_MR_SERIES_RANK];
  file_dims (s, dims);
  g_auto (LamHid) id = lam_h5_make_float (h5, path, s->rank, dims, error);
  if (id < 0 || !lam_h5_put_text (id, "units", *unit ? unit : "1", h5->path, error)
      || !lam_h5_put_text (id, "long_name", title, h5->path, error))
    return FALSE;
  *place = lam_h5_offset (id);
  if (*place < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, _ ("%s: HDF5 gave a map no place"), h5->path);
  return *place >= 0;
}

gboolean
lam_maps_file_lay_out (LamH5File *h5, const LamMapsResult *r, int64_t *places, GError **error)
{
  g_auto (LamHid) group = lam_h5_make_group (h5, GROUP, error);
  g_autoptr (GString) names = g_string_new (NULL);
  if (group < 0 || !put_series (group, r, h5->path, error))
    return FALSE;
  for (int i = 0; i < r->n; i++) {
    const LamMapsMap *m = &r->maps[i];
    g_string_append_printf (names, "%s%s", i > 0 ? "," : "", m->name);
    if (!make_array (h5, r->series->s, m->name, m->unit, m->title, &places[i], error))
      return FALSE;
  }
  return make_array (h5, r->series->s, STATE, "", "why a voxel has no values", &places[r->n], error)
         && lam_h5_put_text (group, "maps", names->str, h5->path, error);
}

gboolean
lam_maps_file_fill (LamAtomicFile *file, const LamMapsResult *r, const int64_t *places, GError **error)
{
  int64_t voxels = r->match.voxels;
  for (int i = 0; i < r->n; i++)
    if (!lam_atomic_pwrite (file, r->maps[i].values, voxels * (int64_t) sizeof (float), places[i], error))
      return FALSE;
  float *state = lam_alloc_n (voxels, sizeof *state, "maps", error);
  for (int64_t v = 0; state && v < voxels; v++)
    state[v] = r->match.state[v];
  gboolean ok = state && lam_atomic_pwrite (file, state, voxels * (int64_t) sizeof *state, places[r->n], error);
  lam_free (state);
  return ok;
}

gboolean
lam_maps_file_keep (const LamMapsResult *r, const char *path, GError **error)
{
  g_autofree int64_t *places = g_new0 (int64_t, r->n + 1);
  int64_t all = lam_maps_file_bytes (r) + lam_maps_file_overhead (r), end = 0;
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (!file || !lam_atomic_reserve (file, all, error))
    return FALSE;
  g_autoptr (LamH5File) h5 = lam_h5_create (file->temporary, error);
  if (!h5 || !lam_maps_file_lay_out (h5, r, places, error) || !lam_h5_close (g_steal_pointer (&h5), error))
    return FALSE;
  for (int i = 0; i <= r->n; i++)
    end = MAX (end, places[i]);
  return lam_atomic_reserve (file, end + r->match.voxels * (int64_t) sizeof (float), error)
         && lam_maps_file_fill (file, r, places, error) && lam_atomic_commit (file, error);
}

/* ---- reading ---- */

/* [voxels], for lam_free (). */
static float *
read_array (LamH5File *h5, const char *name, int64_t voxels, char **unit, char **title, GError **error)
{
  static const int64_t start[H5S_MAX_RANK];
  g_autofree char *path = g_strconcat (GROUP "/", name, NULL);
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (h5, path, error);
  if (!d || !lam_h5_dataset_require (d, -1, error))
    return NULL;
  if (d->count != voxels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: %s has not as many voxels as the series"), h5->path, path);
    return NULL;
  }
  float *values = lam_alloc_n (voxels, sizeof *values, "maps", error);
  if (values && !lam_h5_read_float (d, start, d->dims, values, NULL, 0, 1, "maps", error))
    g_clear_pointer (&values, lam_free);
  if (values && unit) {
    *unit = lam_h5_attribute_text (d->id, "units", h5->path, NULL);
    *title = lam_h5_attribute_text (d->id, "long_name", h5->path, NULL);
  }
  return values;
}

LamMapsResult *
lam_maps_file_read (LamH5File *h5, GError **error)
{
  g_auto (LamHid) group = lam_h5_object (h5, GROUP, NULL, error);
  LamMrSeries *s = group < 0 ? NULL : get_series (group, h5->path, error);
  if (!s)
    return NULL;
  int64_t rank = 0;
  g_autoptr (LamMapsSeries) series = lam_maps_series_new (s, NULL);
  g_autofree char *list = lam_h5_attribute_text (group, "maps", h5->path, error);
  float *state = list && lam_h5_attribute_int (group, "rank", &rank, h5->path, error)
                     ? read_array (h5, STATE, s->voxels, NULL, NULL, error)
                     : NULL;
  g_autoptr (LamMapsResult) r = state ? lam_maps_result_new_kept (series, (int) rank, state, error) : NULL;
  lam_free (state);
  g_auto (GStrv) names = g_strsplit (list ? list : "", ",", -1);
  for (int i = 0; r && names[i]; i++) {
    g_autofree char *unit = NULL, *title = NULL;
    float *values = read_array (h5, names[i], s->voxels, &unit, &title, error);
    if (!values)
      return NULL;
    lam_maps_result_take (r, names[i], unit && strcmp (unit, "1") != 0 ? unit : "", title ? title : names[i], values);
  }
  if (r && r->n == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: %s: there is no map in it"), h5->path, GROUP);
    return NULL;
  }
  if (r)
    lam_maps_result_seal (r);
  return g_steal_pointer (&r);
}
