#include "config.h"

#include "model/session-file-private.h"

#include <glib/gi18n.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/volume.h"

#define PIECE (INT64_C (4) << 20)

int64_t
lam_voxels_line (const LamGeometry *g)
{
  return g->recon_columns * g->recon_slices;
}

int64_t
lam_voxels_bytes (const LamReconResult *r)
{
  return r->geometry->recon_rows * lam_voxels_line (r->geometry) * (int64_t) sizeof (float);
}

/* So many rows at a time. */
static int64_t
step_of (const LamGeometry *g)
{
  return CLAMP (PIECE / MAX (lam_voxels_line (g) * (int64_t) sizeof (float), 1), 1, g->recon_rows);
}

gboolean
lam_voxels_are_safe (const LamSessionResult *r)
{
  return r->where == LAM_VOXELS_SAVED && r->path != NULL && lam_file_is_as_stamped (r->path, &r->stamp);
}

gboolean
lam_voxels_walk (LamSessionResult *r, const char *doing, LamTakeRows take, gpointer to, LamControl *control,
                 GError **error)
{
  const LamGeometry *g = r->recon->geometry;
  int64_t line = lam_voxels_line (g), step = step_of (g);
  g_autoptr (LamVolume) v = NULL;
  float *slab = NULL;
  if (r->recon->volume == NULL) {
    v = lam_volume_open (r->path, r->dataset, LAM_LAYOUT_ROW_COLUMN_SLICE, error);
    slab = v != NULL ? lam_alloc_n (step * line, sizeof *slab, "slab", error) : NULL;
    if (slab == NULL)
      return FALSE;
  }
  gboolean ok = TRUE;
  uint32_t crc = 0;
  for (int64_t i = 0; ok && i < g->recon_rows; i += step) {
    LamRange rows = {i, MIN (i + step, g->recon_rows)};
    ok = lam_control_go_on (control, error) && (v == NULL || lam_volume_read_rows (v, rows, slab, NULL, error));
    if (!ok)
      break;
    const float *data = v != NULL ? slab : r->recon->volume + i * line;
    crc = lam_crc32c (crc, data, (size_t) (lam_range_size (rows) * line) * sizeof *data);
    ok = take == NULL || take (rows, data, to, error);
    lam_control_progress (control, doing, (double) rows.end, (double) g->recon_rows);
  }
  lam_free (slab);
  if (ok && r->has_crc && r->crc != crc) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("the voxels of \"%s\" are not those that were saved"), r->name);
    ok = FALSE;
  }
  if (ok) {
    r->has_crc = TRUE;
    r->crc = crc;
  }
  return ok;
}

/* -- a volume of its own -- */

static gboolean
put_rows (LamRange rows, const float *data, gpointer writer, GError **error)
{
  return lam_volume_writer_put_rows (writer, rows, data, error);
}

gboolean
lam_session_result_keep (LamSessionResult *r, const char *path, LamControl *control, GError **error)
{
  const LamGeometry *g = r->recon->geometry;
  const LamVolumeInfo info = {
      .length_unit = g->length_unit,
      .voxel_size = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect}};
  g_autoptr (LamVolumeWriter) w =
      lam_volume_writer_new (path, g->recon_rows, g->recon_columns, g->recon_slices, &info, error);
  if (w == NULL || !lam_voxels_walk (r, _ ("keeping the result"), put_rows, w, control, error)
      || !lam_volume_writer_finish (w, NULL, NULL, error) || !lam_file_stamp (path, &r->stamp, error))
    return FALSE;
  g_free (r->path);
  g_free (r->dataset);
  r->where = LAM_VOXELS_KEPT;
  r->path = g_strdup (path);
  r->dataset = g_strdup ("/recon");
  return TRUE;
}
