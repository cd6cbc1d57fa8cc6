/* mr-series.h: a series of MR images to be matched: voxels, each with its contrasts, from NIfTI or HDF5. */
#pragma once

#include "io/nifti.h"

G_BEGIN_DECLS

#define LAM_MR_SERIES_RANK 8

typedef struct {
  char *path;
  char *dataset;                    /* "/series_re, /series_im"; NULL: NIfTI */
  int rank;                         /* axes of the voxels */
  int64_t dims[LAM_MR_SERIES_RANK]; /* i, j, k of a NIfTI file (i fastest); else as in the file (the last fastest) */
  int64_t voxels, contrasts;
  float *re, *im;   /* [voxels][contrasts]; im NULL: real data; lam_free () */
  LamNifti *nifti;  /* NULL: HDF5 */
  GPtrArray *notes; /* what was found and assumed, in words */
} LamMrSeries;

/* @dataset: of an HDF5 file, NULL: the only one that can be meant. Real and imaginary part stand in two datasets (NAME_re and
 * NAME_im, real and imaginary) or in one of pairs; the last axis is the contrast. Several that can be meant: an error that
 * lists them.
 * @contrasts: how many there must be, 0: any number; LAM_ERROR_INVALID with both numbers, before anything is read. */
LamMrSeries *lam_mr_series_read (const char *path, const char *dataset, int64_t contrasts, const LamIoControl *control,
                                 GError **error);
void lam_mr_series_free (LamMrSeries *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMrSeries, lam_mr_series_free)

/* A mask for @s: NIfTI or HDF5, as many voxels, anything but 0 (and NaN) is inside. For lam_free (). */
uint8_t *lam_mr_mask_read (const char *path, const char *dataset, const LamMrSeries *s, const LamIoControl *control,
                           GError **error);

G_END_DECLS
