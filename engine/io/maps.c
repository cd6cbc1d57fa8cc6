#include "io/maps.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5-arrays.h"
#include "io/volume-private.h"

gboolean
lam_maps_one_file (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".h5") || g_str_has_suffix (lower, ".hdf5");
}

/* Rows, columns and slices. */
static void
shape_of (const LamMrSeries *s, int64_t dims[3])
{
  dims[0] = s->rank > 0 ? s->dims[0] : 1;
  dims[1] = s->rank > 1 ? s->dims[1] : 1;
  dims[2] = s->voxels / (dims[0] * dims[1]);
  if (s->nifti) {
    dims[0] = s->dims[1];
    dims[1] = s->dims[0];
  }
}

/* ---- HDF5 ---- */

typedef struct {
  const LamMrSeries *like;
  const LamH5Array *arrays;
  int n;
  const char *parameters;
} Beside;

static gboolean
put_beside (LamH5File *file, gpointer data, GError **error)
{
  static const char convention[] =
      "voxel (row, column, slice) of a NIfTI series is its (j, i, k); affine takes (i, j, k) "
      "to mm; NaN: no match";
  Beside *b = data;
  const LamNifti *n = b->like->nifti;
  double size[3] = {1, 1, 1};
  for (int i = 0; n && i < 3; i++)
    size[i] = n->voxel_size[i < 2 ? 1 - i : 2];
  for (int i = 0; i < b->n; i++) {
    g_auto (LamHid) id = lam_h5_object (file, b->arrays[i].path, NULL, error);
    if (id < 0 || !lam_h5_put_text (id, "layout", LAM_LAYOUT_MARK_RCS, file->path, error)
        || !lam_h5_put_text (id, "convention", convention, file->path, error)
        || !lam_h5_put_text (id, "length_unit", n ? "mm" : "px", file->path, error)
        || !lam_h5_put_doubles (id, "voxel_size", size, 3, file->path, error)
        || (n && !lam_h5_put_doubles (id, "affine", &n->affine[0][0], 12, file->path, error)))
      return FALSE;
  }
  g_auto (LamHid) group = lam_h5_object (file, "/maps", NULL, error);
  return group >= 0 && lam_h5_put_text (group, "series", b->like->path, file->path, error)
         && (!b->parameters || lam_h5_put_text (group, "parameters", b->parameters, file->path, error));
}

/* i fastest, then j, k, to (j, i, k). */
static void
turn (const LamMrSeries *s, const float *from, float *to)
{
  if (!s->nifti) {
    memcpy (to, from, s->voxels * sizeof *to);
    return;
  }
  int64_t ni = s->dims[0], nj = s->dims[1], nk = s->dims[2];
  for (int64_t k = 0; k < nk; k++)
    for (int64_t j = 0; j < nj; j++)
      for (int64_t i = 0; i < ni; i++)
        to[(j * ni + i) * nk + k] = from[i + ni * (j + nj * k)];
}

static gboolean
write_file (const char *path, const LamMrSeries *s, const LamMap *maps, int n, const char *parameters,
            const LamIoControl *control, GError **error)
{
  g_autofree LamH5Array *arrays = g_new0 (LamH5Array, n);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  float *room = lam_alloc_n (lam_mul_size (s->voxels, n), 4, "maps", error);
  if (!room)
    return FALSE;
  for (int i = 0; i < n; i++) {
    g_ptr_array_add (paths, g_strconcat ("/maps/", maps[i].name, NULL));
    turn (s, maps[i].values, room + i * s->voxels);
    arrays[i] = (LamH5Array){.path = g_ptr_array_index (paths, i),
                             .rank = 3,
                             .data = room + i * s->voxels,
                             .units = maps[i].units,
                             .long_name = maps[i].long_name,
                             .axes = "row,column,slice"};
    shape_of (s, arrays[i].dims);
  }
  Beside b = {s, arrays, n, parameters};
  gboolean ok = lam_h5_write_arrays (path, arrays, n, put_beside, &b, control, error);
  lam_free (room);
  return ok;
}

/* ---- NIfTI ---- */

static gboolean
write_folder (const char *path, const LamMrSeries *s, const LamMap *maps, int n, const LamIoControl *control,
              GError **error)
{
  static const double one[3] = {1, 1, 1};
  g_autoptr (LamNifti) own = NULL;
  if (!s->nifti) { /* the last axis is the fastest there */
    int64_t dims[3], ours[3];
    shape_of (s, dims);
    for (int i = 0; i < 3; i++)
      ours[i] = dims[2 - i];
    own = lam_nifti_new (ours, one, 1);
  }
  if (g_mkdir_with_parents (path, 0777) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: the folder cannot be made: %s", path, g_strerror (errno));
    return FALSE;
  }
  for (int i = 0; i < n; i++) {
    g_autofree char *name = g_strconcat (maps[i].name, ".nii.gz", NULL), *to = g_build_filename (path, name, NULL);
    g_autofree char *what = g_strdup_printf ("%s, %s (Lamina %s)", maps[i].name, maps[i].units, LAMINA_VERSION);
    if (!lam_nifti_write (to, s->nifti ? s->nifti : own, maps[i].values, NULL, 1, what, control, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lam_maps_write (const char *path, const LamMrSeries *like, const LamMap *maps, int n, const char *parameters,
                const LamIoControl *control, GError **error)
{
  return lam_maps_one_file (path) ? write_file (path, like, maps, n, parameters, control, error)
                                  : write_folder (path, like, maps, n, control, error);
}
