#include "io/map-file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5.h"
#include "io/volume.h"

static void
entry_free (void *data)
{
  LamMapEntry *e = data;
  g_free (e->name);
  g_free (e->units);
  g_free (e->long_name);
  g_clear_pointer (&e->nifti, lam_nifti_free);
  g_free (e);
}

void
lam_map_file_free (LamMapFile *f)
{
  g_free (f->path);
  g_free (f->length_unit);
  g_free (f->series);
  g_free (f->parameters);
  g_ptr_array_unref (f->entries);
  g_free (f);
}

const LamMapEntry *
lam_map_file_entry (const LamMapFile *f, int i)
{
  return g_ptr_array_index (f->entries, i);
}

int
lam_map_file_find (const LamMapFile *f, const char *name)
{
  for (guint i = 0; i < f->entries->len; i++)
    if (g_ascii_strcasecmp (lam_map_file_entry (f, (int) i)->name, name) == 0)
      return (int) i;
  return -1;
}

/* ---- what there is ---- */

static gboolean
has_nifti_name (const char *name)
{
  return g_str_has_suffix (name, ".nii") || g_str_has_suffix (name, ".nii.gz");
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Names of the NIfTI files in a folder, sorted. */
static GPtrArray *
nifti_names (const char *folder, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  if (!dir) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: the folder cannot be read", folder);
    return NULL;
  }
  for (const char *name; (name = g_dir_read_name (dir));)
    if (*name != '.' && has_nifti_name (name))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return g_steal_pointer (&names);
}

gboolean
lam_map_file_is (const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_autoptr (GPtrArray) names = nifti_names (path, NULL);
    return names && names->len > 0;
  }
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return FALSE;
  if (has_nifti_name (path) || lam_nifti_is_one (path))
    return TRUE;
  g_autoptr (LamH5File) h5 = lam_h5_open (path, NULL);
  return h5 && lam_h5_kind (h5, "/maps", NULL) == H5I_GROUP;
}

/* Parameters of tissue, then what the match says of itself, then the mask. */
static int
place_of (const LamMapEntry *e)
{
  static const char *const last[] = {"M0", "phase", "score", "residual", "mask"};
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (g_str_equal (e->name, last[i]))
      return (int) i + 1;
  return strchr (e->name, '_') && g_ascii_isdigit (e->name[strlen (e->name) - 1]) ? 10 : 0; /* the next best */
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const LamMapEntry *x = *(LamMapEntry *const *) a, *y = *(LamMapEntry *const *) b;
  int d = place_of (x) - place_of (y);
  return d ? d : strcmp (x->name, y->name);
}

/* The first gives the shape, the others have it too. */
static gboolean
add (LamMapFile *f, LamMapEntry *e_take, const int64_t shape[3], const double size[3], const char *unit, GError **error)
{
  if (f->entries->len == 0) {
    memcpy (f->shape, shape, sizeof f->shape);
    memcpy (f->voxel_size, size, sizeof f->voxel_size);
    f->length_unit = g_strdup (unit);
  }
  g_ptr_array_add (f->entries, e_take);
  if (memcmp (f->shape, shape, sizeof f->shape) == 0)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
               "%s: its maps differ in shape: %s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
               " and %s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
               " (rows, columns, slices); name one of them",
               f->path, lam_map_file_entry (f, 0)->name, f->shape[0], f->shape[1], f->shape[2], e_take->name, shape[0],
               shape[1], shape[2]);
  return FALSE;
}

static gboolean
add_nifti (LamMapFile *f, const char *path, GError **error)
{
  LamNifti *n = lam_nifti_open (path, error);
  if (!n)
    return FALSE;
  const int64_t shape[3] = {n->dims[1], n->dims[0], n->dims[2]};
  const double size[3] = {n->voxel_size[1], n->voxel_size[0], n->voxel_size[2]};
  LamMapEntry *e = g_new0 (LamMapEntry, 1);
  e->name = g_path_get_basename (path);
  char *end = strstr (e->name, ".nii");
  if (end && end > e->name)
    *end = 0;
  e->contrasts = n->contrasts;
  e->is_complex = n->is_complex;
  e->nifti = n;
  /* What our own maps say in their headers: "T1, ms (Lamina 0.1)". */
  g_autofree char *own = g_strconcat (e->name, ", ", NULL);
  const char *units = g_str_has_prefix (n->what, own) ? n->what + strlen (own) : NULL, *close = NULL;
  if (units && (close = strstr (units, " (Lamina ")))
    e->units = g_strndup (units, close - units);
  else if (*n->what)
    e->long_name = g_strdup (n->what);
  return add (f, e, shape, size, "mm", error);
}

static gboolean
add_folder (LamMapFile *f, GError **error)
{
  g_autoptr (GPtrArray) names = nifti_names (f->path, error);
  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *path = g_build_filename (f->path, names->pdata[i], NULL);
    if (!add_nifti (f, path, error))
      return FALSE;
  }
  if (names && names->len == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: no NIfTI file (.nii, .nii.gz) is in it", f->path);
  return names && names->len > 0;
}

static gboolean
add_hdf5 (LamMapFile *f, GError **error)
{
  g_autoptr (LamH5File) h5 = lam_h5_open (f->path, error);
  g_autoptr (GPtrArray) names = h5 ? lam_h5_names (h5, "/maps", error) : NULL;
  if (!names)
    return FALSE;
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_strconcat ("/maps/", names->pdata[i], NULL);
    g_autoptr (LamVolume) v = lam_volume_open (f->path, path, LAM_LAYOUT_FROM_FILE, error);
    if (!v)
      return FALSE;
    const int64_t shape[3] = {v->rows, v->columns, v->slices};
    LamMapEntry *e = g_new0 (LamMapEntry, 1);
    e->name = g_strdup (names->pdata[i]);
    e->units = g_strdup (v->units);
    e->long_name = g_strdup (v->long_name);
    e->contrasts = 1;
    if (!add (f, e, shape, v->voxel_size, v->length_unit, error))
      return FALSE;
  }
  if (names->len == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: its group /maps is empty", f->path);
    return FALSE;
  }
  g_auto (LamHid) group = lam_h5_object (h5, "/maps", NULL, error);
  g_autofree char *place = g_strconcat (f->path, ": /maps", NULL);
  if (group < 0)
    return FALSE;
  f->series = lam_h5_attribute_text (group, "series", place, NULL);
  f->parameters = lam_h5_attribute_text (group, "parameters", place, NULL);
  return TRUE;
}

LamMapFile *
lam_map_file_open (const char *path, GError **error)
{
  g_autoptr (LamMapFile) f = g_new0 (LamMapFile, 1);
  f->path = g_strdup (path);
  f->entries = g_ptr_array_new_with_free_func (entry_free);
  f->kind = g_file_test (path, G_FILE_TEST_IS_DIR)             ? LAM_MAP_FOLDER
            : has_nifti_name (path) || lam_nifti_is_one (path) ? LAM_MAP_NIFTI
                                                               : LAM_MAP_HDF5;
  if (!(f->kind == LAM_MAP_FOLDER  ? add_folder (f, error)
        : f->kind == LAM_MAP_NIFTI ? add_nifti (f, path, error)
                                   : add_hdf5 (f, error)))
    return NULL;
  g_ptr_array_sort (f->entries, compare_entries);
  f->mask = f->entries->len > 1 ? lam_map_file_find (f, "mask") : -1;
  return g_steal_pointer (&f);
}

/* ---- values ---- */

/* i fastest, then j, k, contrasts together, to (j, i, k). */
static void
turn (const LamNifti *n, const float *from, int64_t contrast, float *to)
{
  for (int64_t k = 0; k < n->dims[2]; k++)
    for (int64_t j = 0; j < n->dims[1]; j++)
      for (int64_t i = 0; i < n->dims[0]; i++)
        to[(j * n->dims[0] + i) * n->dims[2] + k] =
            from[(i + n->dims[0] * (j + n->dims[1] * k)) * n->contrasts + contrast];
}

int64_t
lam_map_file_values (const LamMapFile *f, int i)
{
  return lam_mul_size (lam_mul_size (lam_mul_size (f->shape[0], f->shape[1]), f->shape[2]),
                       lam_map_file_entry (f, i)->contrasts);
}

float *
lam_map_file_read (const LamMapFile *f, int i, int64_t contrast, const LamIoControl *control, GError **error)
{
  const LamMapEntry *e = lam_map_file_entry (f, i);
  int64_t all = lam_map_file_values (f, i);
  float *re = lam_alloc_n (all, sizeof *re, "images", error), *im = NULL, *out = NULL;
  gboolean ok = re != NULL;
  if (ok && !e->nifti) {
    g_autofree char *path = g_strconcat ("/maps/", e->name, NULL);
    g_autoptr (LamVolume) v = lam_volume_open (f->path, path, LAM_LAYOUT_FROM_FILE, error);
    if (v && lam_volume_read_rows (v, (LamRange){0, v->rows}, re, control, error))
      return re;
    ok = FALSE;
  }
  ok = ok && (!e->is_complex || (im = lam_alloc_n (all, sizeof *im, "images", error)))
       && lam_nifti_read (e->nifti, re, im, control, error);
  for (int64_t v = 0; ok && im && v < all; v++)
    re[v] = hypotf (re[v], im[v]);
  lam_free (im);
  if (ok && contrast < 0)
    return re;
  if (ok && (out = lam_alloc_n (all / e->contrasts, sizeof *out, "map", error)))
    turn (e->nifti, re, contrast, out);
  lam_free (re);
  return out;
}

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

gboolean
lam_map_range (const float *values, const float *mask, int64_t n, LamMapRange *range, GError **error)
{
  float *sorted = lam_alloc_n (n, sizeof *sorted, "values of a map", error);
  double sum = 0;
  *range = (LamMapRange){.least = NAN, .most = NAN, .mean = NAN, .low = NAN, .middle = NAN, .high = NAN};
  if (!sorted)
    return FALSE;
  for (int64_t v = 0; v < n; v++) {
    if (mask && !(mask[v] != 0 && !isnan (mask[v])))
      continue;
    range->counted++;
    if (!isfinite (values[v]))
      continue;
    sorted[range->finite++] = values[v];
    sum += (double) values[v];
  }
  int64_t most = range->finite - 1;
  if (most >= 0) {
    qsort (sorted, (size_t) range->finite, sizeof *sorted, compare_floats);
    range->least = (double) sorted[0];
    range->most = (double) sorted[most];
    range->mean = sum / (double) range->finite;
    range->low = (double) sorted[(int64_t) rint (0.005 * (double) most)];
    range->middle = (double) sorted[most / 2];
    range->high = (double) sorted[(int64_t) rint (0.995 * (double) most)];
  }
  lam_free (sorted);
  return TRUE;
}
