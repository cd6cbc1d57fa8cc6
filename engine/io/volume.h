/* volume.h: result files. One root object, the dataset /recon: float32, (row, column, slice), contiguous, with text
 * attributes that MBIRJAX reads and ours beside them (spec/ct.md section 12).
 *
 * A result is written slab by slab to a temporary file in the same folder, then renamed: until lam_volume_writer_finish
 * () returns TRUE an older file of that name stays whole, and no temporary file is left by an error or a cancel. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "io/control.h"
#include "io/file.h"

G_BEGIN_DECLS

/* Axis order in the file. */
typedef enum {
  LAM_LAYOUT_FROM_FILE,        /* our layout mark; without one, row-column-slice */
  LAM_LAYOUT_ROW_COLUMN_SLICE, /* ours, and MBIRJAX's recon files */
  LAM_LAYOUT_SLICE_COLUMN_ROW, /* MBIRJAX's export form; no flip */
} LamVolumeLayout;

/* A plane of a volume, as pixels [height][width]. */
typedef enum {
  LAM_VOLUME_SLICE,  /* rows x columns at one slice */
  LAM_VOLUME_ROW,    /* slices x columns at one row */
  LAM_VOLUME_COLUMN, /* slices x rows at one column */
} LamVolumePlane;

/* What is written beside the voxels. Strings are borrowed; NULL = left out, but for the four MBIRJAX texts (""). */
typedef struct {
  const char *units;                       /* of a voxel, UDUNITS text: "1/mm", "mm-1", "1/px" */
  const char *long_name;                   /* NULL: "linear attenuation coefficient" */
  const char *length_unit;                 /* "mm" or "px" */
  double voxel_size[3];                    /* along rows, columns, slices, in length_unit */
  const char *parameters;                  /* JSON text: everything the run was given */
  const char *recon_params, *model_params; /* YAML (mbirjax.h) */
  const char *recon_log, *notes;
  const char *provenance; /* JSON text: the scan, its axis, how it was prepared, when and by whom */
} LamVolumeInfo;

typedef struct _LamVolumeWriter LamVolumeWriter;

/* Makes the temporary file at its full size, so that a full disk shows here. LAM_ERROR_IO names the space needed. */
LamVolumeWriter *lam_volume_writer_new (const char *path, int64_t rows, int64_t columns, int64_t slices,
                                        const LamVolumeInfo *info, GError **error);
/* @data [n rows][columns][slices]. Slabs in ascending order keep the checksum free; any order is accepted. */
gboolean lam_volume_writer_put_rows (LamVolumeWriter *w, LamRange rows, const float *data, GError **error);
/* @data [rows][columns][n slices]. Slower (scattered writes); the checksum then takes a second pass in finish. */
gboolean lam_volume_writer_put_slices (LamVolumeWriter *w, LamRange slices, const float *data, GError **error);
/* Refuses while voxels are missing; else checksum, fsync, rename. The writer must still be freed. @checksum (optional,
 * g_free) is the 64 hex digits of SHA-256 over little-endian float32 in (row, column, slice) order. */
gboolean lam_volume_writer_finish (LamVolumeWriter *w, const LamIoControl *control, char **checksum, GError **error);
/* Removes the temporary file unless finished. */
void lam_volume_writer_free (LamVolumeWriter *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamVolumeWriter, lam_volume_writer_free)

/* All of the above for a volume in memory, [rows][columns][slices]. */
gboolean lam_volume_write (const char *path, const float *volume, int64_t rows, int64_t columns, int64_t slices,
                           const LamVolumeInfo *info, const LamIoControl *control, char **checksum, GError **error);

typedef struct {
  char *path, *dataset;
  LamVolumeLayout layout;  /* resolved: never FROM_FILE */
  gboolean layout_assumed; /* neither the caller nor a mark said so */
  int64_t rows, columns, slices;
  char *units, *long_name, *length_unit; /* NULL when the file does not say */
  double voxel_size[3];                  /* NAN when the file does not say */
  char *checksum;                        /* as the file states it, 64 hex digits, or NULL */
  char *parameters, *recon_params, *model_params, *recon_log, *notes, *provenance, *program, *version;
  GHashTable *attributes; /* name -> text of every attribute of the dataset; numbers in the C locale */
  LamFileStamp stamp;
} LamVolume;

/* @dataset NULL: the only one in the root; several are an error that lists them and names --dataset. */
LamVolume *lam_volume_open (const char *path, const char *dataset, LamVolumeLayout layout, GError **error);
void lam_volume_free (LamVolume *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamVolume, lam_volume_free)

/* @out [n rows][columns][slices], whatever the layout in the file. */
gboolean lam_volume_read_rows (LamVolume *v, LamRange rows, float *out, const LamIoControl *control, GError **error);
/* @out [height][width]; sizes by lam_volume_plane_size (). */
gboolean lam_volume_read_plane (LamVolume *v, LamVolumePlane plane, int64_t index, float *out, GError **error);
void lam_volume_plane_size (const LamVolume *v, LamVolumePlane plane, int64_t *count, int64_t *width, int64_t *height);
/* Checksum of the voxels as stored now; compare with v->checksum. g_free. */
char *lam_volume_file_checksum (LamVolume *v, const LamIoControl *control, GError **error);

/* SHA-256 (64 hex digits) over @n floats, little-endian. g_free. */
char *lam_volume_checksum (const float *volume, int64_t n);

G_END_DECLS
