/* hdf5.h: a thin wrapper over the HDF5 library that speaks GError.
 *
 * The library's own error stack is silenced and its innermost reason becomes the end of our message, after the file and
 * the dataset. Strings are read alike whether fixed or variable, ASCII or UTF-8, scalar or of length 1; numbers whatever
 * their type. Sizes from a file are checked before they are used. External links follow the folder of the file that
 * holds them and nothing else; virtual datasets must have all their sources, since the library reads absent ones as
 * zeros. HDF5 handles (hid_t) are for one thread at a time; the library has one global lock. */
#pragma once

#include <glib.h>
#include <hdf5.h>

#include "core/types.h"
#include "io/control.h"

G_BEGIN_DECLS

/* Any HDF5 handle but a library constant; closed when it leaves its scope. */
typedef hid_t LamHid;
void lam_hid_close (LamHid id);
G_DEFINE_AUTO_CLEANUP_FREE_FUNC (LamHid, lam_hid_close, -1)

typedef struct {
  hid_t id;
  char *path; /* for messages */
} LamH5File;

/* LAM_ERROR_IO: no such file or not readable; LAM_ERROR_FORMAT: not HDF5, or cut off. */
LamH5File *lam_h5_open (const char *path, GError **error);
/* For changing values in place. */
LamH5File *lam_h5_open_rw (const char *path, GError **error);
/* Replaces what is there; use on a temporary file. */
LamH5File *lam_h5_create (const char *path, GError **error);
/* Writes out and closes; the only way to know that the disk took it. @file is gone afterwards. */
gboolean lam_h5_close (LamH5File *file, GError **error);
void lam_h5_free (LamH5File *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamH5File, lam_h5_free)

/* LAM_ERROR_FORMAT (or @code) saying "@file: @what" and why, from the library's stack, which is cleared. */
void lam_h5_set_error (GError **error, int code, const char *file, const char *what);

/* ---- objects ---- */
/* What the object at @path (absolute) is; H5I_BADID without an error when it is not there. A link whose target is
 * missing is an error that names the target. */
H5I_type_t lam_h5_kind (LamH5File *file, const char *path, GError **error);
gboolean lam_h5_exists (LamH5File *file, const char *path);
/* Opens the object at @path, walking soft and external links. @where gets the path of the file that holds it (g_free). */
hid_t lam_h5_object (LamH5File *file, const char *path, char **where, GError **error);
/* Names in the group at @path, sorted; LAM_ERROR_FORMAT when it is no group. */
GPtrArray *lam_h5_names (LamH5File *file, const char *path, GError **error);

/* ---- datasets ---- */
typedef enum {
  LAM_H5_INTEGER,
  LAM_H5_REAL,
  LAM_H5_STRING,
  LAM_H5_OTHER, /* compound, reference, opaque, ... */
} LamH5Class;

typedef struct {
  hid_t id;
  char *file; /* the file that holds it */
  char *path; /* as asked for */
  LamH5Class klass;
  int rank;
  int64_t dims[H5S_MAX_RANK];
  int64_t count;          /* product of dims */
  int64_t chunk;          /* extent of a chunk along the first axis, or 0 */
  gboolean part_missing;  /* some of it was never written: it reads as the fill value */
  gboolean never_written; /* nothing was ever written */
} LamH5Dataset;

/* LAM_ERROR_MISSING: nothing there; LAM_ERROR_FORMAT: not a dataset, sizes that do not fit, data cut off. */
LamH5Dataset *lam_h5_dataset (LamH5File *file, const char *path, GError **error);
void lam_h5_dataset_free (LamH5Dataset *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamH5Dataset, lam_h5_dataset_free)
/* "3 x 4 x 5"; g_free. */
char *lam_h5_dataset_shape (const LamH5Dataset *d);
/* Refuses anything but numbers of this rank with no empty axis. @rank < 0: any rank, and scalars. */
gboolean lam_h5_dataset_require (const LamH5Dataset *d, int rank, GError **error);

/* The block [@start, @start + @count) as float into @out, C order, a few MB at a time. Progress runs from @from to @to. */
gboolean lam_h5_read_float (LamH5Dataset *d, const int64_t *start, const int64_t *count, float *out,
                            const LamIoControl *control, double from, double to, const char *what, GError **error);
/* All of a small numeric dataset, any rank; @n gets the count. Freed with lam_free (). */
double *lam_h5_read_doubles (LamH5File *file, const char *path, int64_t *n, GError **error);
/* One text; g_free. */
char *lam_h5_read_text (LamH5File *file, const char *path, GError **error);

/* ---- attributes of the object @id; @place ("FILE: /dataset") is for messages ---- */
gboolean lam_h5_has_attribute (hid_t id, const char *name);
/* One text; NULL without an error when there is no such attribute; g_free. */
char *lam_h5_attribute_text (hid_t id, const char *name, const char *place, GError **error);
/* One number of any numeric type. FALSE with an error set only when the attribute is there and is not that;
 * *@value is untouched when it is absent (and TRUE returned). */
gboolean lam_h5_attribute_double (hid_t id, const char *name, double *value, const char *place, GError **error);
/* One whole number, exact over all of int64; as above when it is absent. */
gboolean lam_h5_attribute_int (hid_t id, const char *name, int64_t *value, const char *place, GError **error);
/* Up to @max numbers; *@n gets how many, 0 when absent. */
gboolean lam_h5_attribute_doubles (hid_t id, const char *name, double *values, int64_t max, int64_t *n,
                                   const char *place, GError **error);
/* Any attribute as text (numbers in the C locale, arrays in brackets), for listings; never fails. g_free. */
char *lam_h5_attribute_any (hid_t id, const char *name);
GPtrArray *lam_h5_attribute_names (hid_t id, const char *place, GError **error);

/* Scalar variable-length UTF-8 text, as h5py writes str. */
gboolean lam_h5_put_text (hid_t id, const char *name, const char *text, const char *place, GError **error);
/* Scalar fixed-length text: can be overwritten in place. Overwrites when it is there. */
gboolean lam_h5_put_fixed_text (hid_t id, const char *name, const char *text, const char *place, GError **error);
gboolean lam_h5_put_double (hid_t id, const char *name, double value, const char *place, GError **error);
gboolean lam_h5_put_doubles (hid_t id, const char *name, const double *values, int64_t n, const char *place,
                             GError **error);
gboolean lam_h5_put_int (hid_t id, const char *name, int64_t value, const char *place, GError **error);
hid_t lam_h5_make_group (LamH5File *file, const char *path, GError **error);
/* Contiguous little-endian float32 whose space is laid out now and not filled. */
hid_t lam_h5_make_float (LamH5File *file, const char *path, int rank, const int64_t *dims, GError **error);
/* Byte offset of a contiguous dataset in its file, or -1. */
int64_t lam_h5_offset (hid_t dataset);
gboolean lam_h5_write_doubles (LamH5File *file, const char *path, const double *values, int64_t n, const char *units,
                               const char *long_name, GError **error);

G_END_DECLS
