/* hdf5-arrays.h: a file of float arrays, replaced whole or not at all. HDF5 lays it out; the numbers go to their place without
 * it, so that the library never meets a full disk half-way (as in volume-write.c). */
#pragma once

#include "io/hdf5.h"

G_BEGIN_DECLS

#define LAM_H5_ARRAY_RANK 4

typedef struct {
  const char *path; /* "/maps/T1" */
  int rank;
  int64_t dims[LAM_H5_ARRAY_RANK];
  const float *data;
  const char *units, *long_name, *axes;
} LamH5Array;

/* What stands beside the arrays: attributes, groups, small datasets. */
typedef gboolean (*LamH5Beside) (LamH5File *file, gpointer data, GError **error);

/* Each array gets units, long_name, axes, program, version and checksum ("sha256:" and the digits over its little-endian
 * floats). @beside may be NULL. */
gboolean lam_h5_write_arrays (const char *path, const LamH5Array *arrays, int n, LamH5Beside beside, gpointer data,
                              const LamIoControl *control, GError **error);
/* The array at @path, all of it, for lam_free (); @rank as lam_h5_dataset_require (). The stated checksum must be that of
 * the numbers; without one they are taken as they are. */
float *lam_h5_read_array (LamH5File *file, const char *path, int rank, int64_t *dims, const LamIoControl *control,
                          GError **error);

G_END_DECLS
