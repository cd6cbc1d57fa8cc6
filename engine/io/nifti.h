/* nifti.h: NIfTI-1 and -2 images in one file (.nii, .nii.gz), over the library's headers, compressed files and quaternions.
 *
 * Its own reader allocates what a header asks for; here the header is checked against the file first, and the samples come in
 * pieces. Samples of a voxel lie beside each other in our arrays: [k][j][i][contrast], i fastest of the three axes, so that
 * voxel i + ni (j + nj k) is where it is in the file. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "io/control.h"

G_BEGIN_DECLS

typedef enum {
  LAM_NIFTI_PIXDIM, /* the file places the voxels nowhere: their sizes alone */
  LAM_NIFTI_QFORM,
  LAM_NIFTI_SFORM,
} LamNiftiPlace;

typedef struct {
  char *path;
  int version; /* 1 or 2 */
  gboolean compressed, swapped;
  int datatype; /* the header's code */
  gboolean is_complex;
  int64_t dims[3]; /* i, j, k */
  int64_t voxels;
  int64_t contrasts;   /* all further axes together */
  double slope, inter; /* as applied: 1, 0 where the header has none */
  gboolean scaled;
  double voxel_size[3]; /* mm */
  LamNiftiPlace place;  /* sform before qform */
  double affine[3][4];  /* voxel index to mm, as @place says */
  /* As in the header, so that a map is written with the same. */
  int sform_code, qform_code, units;
  char what[81]; /* what it says of itself, UTF-8 */
  double sform[3][4], quatern[3], qoffset[3], pixdim[4];
  int64_t offset; /* of the samples */
} LamNifti;

/* LAM_ERROR_FORMAT: not NIfTI, ANALYZE or a .hdr and .img pair, a kind of sample that is no number, sizes that the file cannot
 * hold; LAM_ERROR_IO: no such file. */
LamNifti *lam_nifti_open (const char *path, GError **error);
/* For a file of ours: axes along x, y, z, the middle at 0. @contrasts >= 1. */
LamNifti *lam_nifti_new (const int64_t dims[3], const double voxel_size[3], int64_t contrasts);
void lam_nifti_free (LamNifti *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamNifti, lam_nifti_free)
/* Whether @path begins as a NIfTI file does, compressed or not. */
gboolean lam_nifti_is_one (const char *path);
/* "int16" of the header's code. */
const char *lam_nifti_type_name (int datatype);

/* Scaled samples, [voxels][contrasts]. @im may be NULL; it gets 0 where the file is real. */
gboolean lam_nifti_read (const LamNifti *n, float *re, float *im, const LamIoControl *control, GError **error);
/* float32, or complex64 with @im, [voxels][contrasts], placed as @like, in its version (2 where an axis needs it);
 * compressed when @path ends in .gz. @what: at most 79 bytes for a person. The old file stays until the end. */
gboolean lam_nifti_write (const char *path, const LamNifti *like, const float *re, const float *im, int64_t contrasts,
                          const char *what, const LamIoControl *control, GError **error);

G_END_DECLS
