#include "config.h"

#include "model/picture-file.h"

#include <string.h>

#include "core/memory.h"
#include "io/png.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "model/slice-model.h"

static const char *const plane_names[LAM_ALL_PLANES] = {"slice", "row", "column", "view", "sinogram"};

char *
lam_picture_file_name (LamPictureKind kind, const char *title, const LamSnapshotInfo *info)
{
  static const char *const suffixes[] = {"png", "tif", "h5"};
  g_autofree char *base = g_strdup (title != NULL && *title != '\0' ? title : "lamina");
  char *dot = strrchr (base, '.');
  if (dot != NULL && dot > base)
    *dot = '\0';
  /* Counted from 0, as files and command lines do. */
  return g_strdup_printf ("%s-%s-%03ld.%s", base, plane_names[info->plane], (long) info->index, suffixes[kind]);
}

char *
lam_picture_file_describe (const char *title, const LamSnapshotInfo *info)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, "%s %ld (counted from 0) of %ld of %s", plane_names[info->plane], (long) info->index,
                   (long) info->count, title != NULL ? title : "a scan without a name");
  if (info->iteration == LAM_ITERATION_LIVE)
    g_string_append (text, ", preview by back projection");
  else if (info->iteration >= 0)
    g_string_append_printf (text, ", iteration %ld", (long) info->iteration);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Along rows, columns and slices of the volume that the plane is of. */
static void
voxel_size (const LamSnapshotInfo *s, double thickness, double size[3])
{
  double px = s->pitch_x > 0 ? s->pitch_x : 1, py = s->pitch_y > 0 ? s->pitch_y : 1;
  double sizes[LAM_ALL_PLANES][3] = {
      [LAM_PLANE_SLICE] = {py, px, thickness},    [LAM_PLANE_ROW] = {thickness, px, py},
      [LAM_PLANE_COLUMN] = {px, thickness, py},   [LAM_PLANE_VIEW] = {py, px, thickness},
      [LAM_PLANE_SINOGRAM] = {py, px, thickness},
  };
  memcpy (size, sizes[s->plane], sizeof sizes[0]);
}

/* As the planes lie in a volume [row][column][slice]. */
static gboolean
write_hdf5 (const char *path, const LamSnapshot *shot, const LamVolumeInfo *info, GError **error)
{
  const LamSnapshotInfo *s = lam_snapshot_info (shot);
  const float *pixels = lam_snapshot_pixels (shot);
  if (s->plane == LAM_PLANE_SLICE || s->plane >= LAM_PLANES)
    return lam_volume_write (path, pixels, s->height, s->width, 1, info, NULL, NULL, error);
  float *turned = lam_alloc_n (s->width * s->height, sizeof *turned, "picture", error);
  if (turned == NULL)
    return FALSE;
  for (int64_t r = 0; r < s->height; r++)
    for (int64_t c = 0; c < s->width; c++)
      turned[c * s->height + r] = pixels[r * s->width + c];
  gboolean row = s->plane == LAM_PLANE_ROW;
  gboolean ok =
      lam_volume_write (path, turned, row ? 1 : s->width, row ? s->width : 1, s->height, info, NULL, NULL, error);
  lam_free (turned);
  return ok;
}

/* The lines that stacks have, too. */
static char *
describe_tiff (const LamVolumeInfo *info)
{
  char number[3][G_ASCII_DTOSTR_BUF_SIZE];
  for (int i = 0; i < 3; i++)
    g_ascii_dtostr (number[i], sizeof number[i], info->voxel_size[i]);
  return g_strdup_printf ("Lamina volume\nvoxel_size=%s %s %s\nlength_unit=%s\nunits=%s\nabout=%s", number[0],
                          number[1], number[2], info->length_unit, info->units, info->notes);
}

gboolean
lam_picture_file_write_values (LamPictureKind kind, const char *path, const LamSnapshot *shot, double thickness,
                               const char *about, GError **error)
{
  g_return_val_if_fail (path != NULL && shot != NULL && about != NULL && kind != LAM_PICTURE_PNG, FALSE);
  const LamSnapshotInfo *s = lam_snapshot_info (shot);
  LamVolumeInfo info = {
      .units = s->value_unit, .length_unit = *s->length_unit != '\0' ? s->length_unit : "px", .notes = about};
  voxel_size (s, thickness, info.voxel_size);
  if (kind == LAM_PICTURE_HDF5)
    return write_hdf5 (path, shot, &info, error);
  g_autofree char *description = describe_tiff (&info);
  double mm = g_str_equal (s->length_unit, "mm") ? s->pitch_x : 0;
  return lam_tiff_write_plane (path, lam_snapshot_pixels (shot), s->width, s->height, mm, description, error);
}

gboolean
lam_picture_file_write_png (const char *path, const guint8 *rgb, int width, int height, GError **error)
{
  g_return_val_if_fail (path != NULL && rgb != NULL, FALSE);
  return lam_png_write_pixels (path, rgb, width, height, 3, error);
}
