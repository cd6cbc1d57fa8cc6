#include "config.h"

#include "cli/export.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "io/tiff.h"

#define PIECE (INT64_C (16) << 20) /* floats of the volume read at a time */

void
lam_cli_check_stack (const char *folder, int64_t slices)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamTiffStack) s = lam_tiff_stack_open (folder, &error);
  if (!s)
    lam_cli_warn (_ ("the folder holds other images too, and is no stack any more: %s"), error->message);
  else if (s->files->len != slices)
    lam_cli_warn (
        _ ("%s: %" G_GINT64_FORMAT " images were written, but the folder holds %u: some are of something else"), folder,
        slices, s->files->len);
}

static gboolean
put_texts (hid_t id, const LamVolume *v, const char *path, GError **error)
{
  const char *const texts[][2] = {
      {"recon_params", v->recon_params ? v->recon_params : ""},
      {"model_params", v->model_params ? v->model_params : ""},
      {"recon_log", v->recon_log ? v->recon_log : ""},
      {"notes", v->notes ? v->notes : ""},
      {"units", v->units},
      {"long_name", v->long_name},
      {"length_unit", v->length_unit},
      {"parameters", v->parameters},
      {"provenance", v->provenance},
      {"axes", "slice,column,row"},
      {"layout", "slice-column-row"},
      {"program", "Lamina"},
      {"version", LAMINA_VERSION},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i][1] && !lam_h5_put_text (id, texts[i][0], texts[i][1], path, error))
      return FALSE;
  return isnan (v->voxel_size[0]) || lam_h5_put_doubles (id, "voxel_size", v->voxel_size, 3, path, error);
}

/* The file without its voxels; their place in it, or -1. */
static int64_t
lay_out (const LamVolume *v, const LamAtomicFile *file, GError **error)
{
  const int64_t dims[3] = {v->slices, v->columns, v->rows};
  int64_t offset = -1;
  g_autoptr (LamH5File) h5 = lam_h5_create (file->temporary, error);
  if (!h5)
    return -1;
  g_free (h5->path);
  h5->path = g_strdup (file->path); /* what messages should name */
  {
    g_auto (LamHid) id = lam_h5_make_float (h5, "/recon", 3, dims, error);
    if (id < 0 || !put_texts (id, v, file->path, error))
      return -1;
    offset = lam_h5_offset (id);
  }
  if (!lam_h5_close (g_steal_pointer (&h5), error))
    return -1;
  if (offset < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: HDF5 gave the dataset no place", file->path);
  return offset;
}

/* Rows [rows) of the volume to their places: each line of rows of a (slice, column) is a short run in the file. */
static gboolean
put_rows (const LamVolume *v, LamAtomicFile *file, int64_t offset, LamRange rows, const float *from, float *line,
          GError **error)
{
  int64_t n = lam_range_size (rows), pixels = v->columns * v->slices;
  for (int64_t k = 0; k < v->slices; k++)
    for (int64_t j = 0; j < v->columns; j++) {
      int64_t at = (k * v->columns + j) * v->rows + rows.begin;
      for (int64_t i = 0; i < n; i++)
        line[i] = from[i * pixels + j * v->slices + k];
      if (!lam_atomic_pwrite (file, line, n * (int64_t) sizeof *line, offset + at * (int64_t) sizeof *line, error))
        return FALSE;
    }
  return TRUE;
}

/* All at once: one write a slice. */
static gboolean
put_slices (const LamVolume *v, LamAtomicFile *file, int64_t offset, const float *from, float *slice, GError **error)
{
  int64_t plane = v->columns * v->rows;
  for (int64_t k = 0; k < v->slices; k++) {
    for (int64_t i = 0; i < v->rows; i++)
      for (int64_t j = 0; j < v->columns; j++)
        slice[j * v->rows + i] = from[(i * v->columns + j) * v->slices + k];
    if (!lam_atomic_pwrite (file, slice, plane * (int64_t) sizeof *slice, offset + k * plane * (int64_t) sizeof *slice,
                            error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lam_cli_export_scr (LamVolume *v, const char *path, const LamIoControl *control, GError **error)
{
  int64_t row = lam_mul_size (v->columns, v->slices), bytes = lam_mul_size (lam_mul_size (v->rows, row), 4);
  int64_t step = LAM_CLAMP (PIECE / LAM_MAX (row, 1), 1, v->rows);
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (!file || !lam_atomic_reserve (file, bytes, error))
    return FALSE;
  int64_t offset = lay_out (v, file, error);
  float *slab = offset < 0 ? NULL : lam_alloc_n (lam_mul_size (step, row), sizeof *slab, "slab of the volume", error);
  float *line = slab ? lam_alloc_n (lam_mul_size (v->rows, v->columns), sizeof *line, "slice", error) : NULL;
  gboolean ok = line != NULL;
  for (int64_t i = 0; ok && i < v->rows; i += step) {
    LamRange rows = {i, LAM_MIN (i + step, v->rows)};
    ok = lam_io_control_step (control, (double) i / (double) v->rows, "saving", error)
         && lam_volume_read_rows (v, rows, slab, NULL, error)
         && (step == v->rows ? put_slices (v, file, offset, slab, line, error)
                             : put_rows (v, file, offset, rows, slab, line, error));
  }
  lam_free (slab);
  lam_free (line);
  return ok && lam_atomic_commit (file, error);
}
