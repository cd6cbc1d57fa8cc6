/* maps.h: maps of tissue, one number a voxel, as NIfTI files in a folder or as one HDF5 file. */
#pragma once

#include "io/mr-series.h"

G_BEGIN_DECLS

typedef struct {
  const char *name, *units, *long_name; /* "T1", "ms", "longitudinal relaxation time" */
  const float *values;                  /* [voxels] of the series */
} LamMap;

/* Where @like came from decides how its voxels lie. @path ending in .h5 or .hdf5: one file, each map at /maps/NAME in (row,
 * column, slice) order (of a NIfTI series: j, i, k), with @parameters (JSON text, may be NULL) at /maps. Else a folder,
 * made if need be, of NAME.nii.gz; a series of no NIfTI file is placed at the origin with voxels of 1 mm. */
gboolean lam_maps_write (const char *path, const LamMrSeries *like, const LamMap *maps, int n, const char *parameters,
                         const LamIoControl *control, GError **error);
gboolean lam_maps_one_file (const char *path);

G_END_DECLS
