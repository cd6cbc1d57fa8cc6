/* picture-file.h: one plane of values, or a picture of it, as a file. Any thread. */
#pragma once

#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PICTURE_PNG,  /* as shown: 8 bits, level and colours applied */
  LAM_PICTURE_TIFF, /* the values, 32-bit float */
  LAM_PICTURE_HDF5, /* the values as a volume of one slice, row or column, lying as in the whole */
} LamPictureKind;

/* "tooth.h5" and row 12 become "tooth-row-012.tif". */
char *lam_picture_file_name (LamPictureKind kind, const char *title, const LamSnapshotInfo *info);
/* What the values are, in words: "slice 12 of 24 of tooth.h5, iteration 7". */
char *lam_picture_file_describe (const char *title, const LamSnapshotInfo *info);
/* TIFF and HDF5; @about goes with it. @thickness: of the plane, in the unit of the pitches. */
gboolean lam_picture_file_write_values (LamPictureKind kind, const char *path, const LamSnapshot *shot,
                                        double thickness, const char *about, GError **error);
/* PNG: @rgb [height][width][3]. */
gboolean lam_picture_file_write_png (const char *path, const guint8 *rgb, int width, int height, GError **error);

G_END_DECLS
