/* map-file.h: maps of tissue and other images, to be looked at: what lam_maps_write () made, one file or a folder, and any NIfTI
 * file. Rows and columns are as the window shows them: j and i of a NIfTI file. */
#pragma once

#include "io/nifti.h"

G_BEGIN_DECLS

typedef struct {
  char *name;              /* "T1"; of a NIfTI file its own without the ending */
  char *units, *long_name; /* NULL: not said */
  int64_t contrasts;       /* images of it */
  gboolean is_complex;     /* its magnitude is looked at */
  LamNifti *nifti;         /* NULL: a dataset of the HDF5 file */
} LamMapEntry;

typedef struct {
  char *path;
  enum { LAM_MAP_HDF5, LAM_MAP_NIFTI, LAM_MAP_FOLDER } kind;
  int64_t shape[3];     /* rows, columns, slices */
  double voxel_size[3]; /* along them */
  char *length_unit;    /* "mm", "px" */
  char *series;         /* what they are of; NULL: not said */
  char *parameters;     /* JSON text; NULL: none */
  GPtrArray *entries;   /* of LamMapEntry: parameters of tissue first, the mask last */
  int mask;             /* which of them says where there is something; -1: none */
} LamMapFile;

/* Whether @path is of these; looks no further than is needed to tell. */
gboolean lam_map_file_is (const char *path);
/* LAM_ERROR_FORMAT: none of these, maps of different shapes. */
LamMapFile *lam_map_file_open (const char *path, GError **error);
void lam_map_file_free (LamMapFile *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMapFile, lam_map_file_free)
const LamMapEntry *lam_map_file_entry (const LamMapFile *f, int i);
/* -1: no such map. */
int lam_map_file_find (const LamMapFile *f, const char *name);

/* Numbers in map @i, all its contrasts together. */
int64_t lam_map_file_values (const LamMapFile *f, int i);
/* Image @contrast of map @i, [rows][columns][slices], for lam_free (); below 0: all numbers, in no order that counts. */
float *lam_map_file_read (const LamMapFile *f, int i, int64_t contrast, const LamIoControl *control, GError **error);

/* What is in a map, where @mask (NULL: everywhere) is neither 0 nor NaN. */
typedef struct {
  int64_t counted;          /* voxels there */
  int64_t finite;           /* of these */
  double least, most, mean; /* of the finite; NAN where there are none */
  double low, middle, high; /* 0.5, 50 and 99.5 percentile */
} LamMapRange;

gboolean lam_map_range (const float *values, const float *mask, int64_t n, LamMapRange *range, GError **error);

G_END_DECLS
