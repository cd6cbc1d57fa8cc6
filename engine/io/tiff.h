/* tiff.h: image stacks, one file for each slice, 32-bit float. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "io/control.h"
#include "io/volume.h"

G_BEGIN_DECLS

/* One plane [height][width]. @pitch_mm > 0 sets the resolution tags; @description may be NULL. Atomic. */
gboolean lam_tiff_write_plane (const char *path, const float *plane, int64_t width, int64_t height, double pitch_mm,
                               const char *description, GError **error);
/* Size of the first image of @path. LAM_ERROR_FORMAT for more than one sample a pixel, tiles, or a sample type that is
 * not 8/16/32-bit integer or 32/64-bit float. */
gboolean lam_tiff_size (const char *path, int64_t *width, int64_t *height, GError **error);
/* Reads @path into @plane [height][width]; refuses another size, with both. */
gboolean lam_tiff_read_plane (const char *path, float *plane, int64_t width, int64_t height, GError **error);

/* @volume [rows][columns][slices] as FOLDER/NAME_0000.tif ..., numbered as slices are, from 0; the folder is made. Each
 * file is atomic; a cancel or an error leaves the files finished so far and says how many. Voxel size, units, names and
 * provenance of @info (may be NULL) go into each ImageDescription, mm into the resolution tags too. */
gboolean lam_tiff_write_stack (const char *folder, const char *name, const float *volume, int64_t rows, int64_t columns,
                               int64_t slices, const LamVolumeInfo *info, const LamIoControl *control, GError **error);

typedef struct {
  GPtrArray *files; /* full paths, in numeric order */
  int64_t width, height;
  /* What the first image's description says, where a stack of ours it is; NAN and NULL: nothing. */
  double voxel_size[3]; /* row, column, slice */
  char *length_unit, *units, *long_name, *provenance;
} LamTiffStack;

/* The .tif/.tiff files of @folder in numeric order. A gap in the numbers is LAM_ERROR_FORMAT naming the missing file. */
LamTiffStack *lam_tiff_stack_open (const char *folder, GError **error);
void lam_tiff_stack_free (LamTiffStack *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamTiffStack, lam_tiff_stack_free)
/* @volume [height][width][files]. */
gboolean lam_tiff_stack_read (LamTiffStack *s, float *volume, const LamIoControl *control, GError **error);

G_END_DECLS
