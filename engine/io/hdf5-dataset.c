/* hdf5-dataset.c: checking what a dataset claims, and reading it in pieces. */
#include "io/hdf5.h"

#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/memory.h"

/* Read in pieces of about this many bytes, so that progress and cancel are frequent. */
#define PIECE (INT64_C (8) << 20)
/* Bytes of type conversion buffer. */
#define CONVERSION (INT64_C (2) << 20)
/* Most numbers and bytes taken by the whole-dataset readers of small things. */
#define MAX_SMALL (INT64_C (1) << 26)

#define fail(error, code, d, ...)                                                                                      \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    g_autofree char *fail_text = g_strdup_printf (__VA_ARGS__);                                                        \
    g_set_error (error, LAM_ERROR, code, "%s: dataset %s: %s", (d)->file, (d)->path, fail_text);                       \
  }                                                                                                                    \
  G_STMT_END

static void
fail_library (GError **error, const LamH5Dataset *d, const char *what)
{
  g_autofree char *text = g_strdup_printf ("dataset %s: %s", d->path, what);
  lam_h5_set_error (error, LAM_ERROR_FORMAT, d->file, text);
}

static gboolean
take_shape (LamH5Dataset *d, size_t element, GError **error)
{
  g_auto (LamHid) space = H5Dget_space (d->id);
  hsize_t dims[H5S_MAX_RANK];
  H5S_class_t kind = space >= 0 ? H5Sget_simple_extent_type (space) : H5S_NO_CLASS;
  if (kind == H5S_NULL) {
    d->klass = LAM_H5_OTHER;
    return TRUE;
  }
  d->count = 1;
  if (kind == H5S_SCALAR)
    return TRUE;
  d->rank = kind == H5S_SIMPLE ? H5Sget_simple_extent_dims (space, dims, NULL) : -1;
  if (d->rank < 0) {
    fail_library (error, d, "its shape cannot be read; the file is damaged");
    return FALSE;
  }
  gboolean fits = TRUE;
  for (int i = 0; i < d->rank; i++) {
    d->dims[i] = dims[i] <= INT64_MAX ? (int64_t) dims[i] : -1;
    d->count = lam_mul_size (d->count, d->dims[i]);
    fits = fits && d->count >= 0;
  }
  if (!fits || lam_mul_size (d->count, LAM_MAX ((int64_t) element, 8)) < 0) {
    g_autofree char *shape = lam_h5_dataset_shape (d);
    fail (error, LAM_ERROR_FORMAT, d, "its size %s does not fit into 64 bits; the file is damaged", shape);
    return FALSE;
  }
  return TRUE;
}

/* A virtual dataset reads as zeros where a source is missing, so each source is looked up first. */
static gboolean
check_sources (LamH5Dataset *d, hid_t plist, GError **error)
{
  size_t n = 0;
  if (H5Pget_virtual_count (plist, &n) < 0) {
    fail_library (error, d, "its list of sources cannot be read; the file is damaged");
    return FALSE;
  }
  g_autofree char *folder = g_path_get_dirname (d->file);
  g_autofree char *last = NULL;
  for (size_t i = 0; i < n; i++) {
    ssize_t nf = H5Pget_virtual_filename (plist, i, NULL, 0), nd = H5Pget_virtual_dsetname (plist, i, NULL, 0);
    g_autofree char *name = nf >= 0 && nf < 65536 ? g_malloc0 (nf + 1) : NULL;
    g_autofree char *set = nd >= 0 && nd < 65536 ? g_malloc0 (nd + 1) : NULL;
    if (!name || !set || H5Pget_virtual_filename (plist, i, name, nf + 1) < 0
        || H5Pget_virtual_dsetname (plist, i, set, nd + 1) < 0) {
      fail_library (error, d, "its list of sources cannot be read; the file is damaged");
      return FALSE;
    }
    if (strstr (name, "%") || strstr (set, "%")) {
      fail (error, LAM_ERROR_NOT_SUPPORTED, d, "it is virtual with numbered sources (%s), which is not read yet", name);
      return FALSE;
    }
    g_autofree char *key = g_strconcat (name, "\n", set, NULL);
    if (last && strcmp (last, key) == 0)
      continue;
    g_autofree char *path = strcmp (name, ".") == 0     ? g_strdup (d->file)
                            : g_path_is_absolute (name) ? g_strdup (name)
                                                        : g_build_filename (folder, name, NULL);
    g_autoptr (GError) why = NULL;
    g_autoptr (LamH5File) source = lam_h5_open (path, &why);
    g_auto (LamHid) object = source ? lam_h5_object (source, set, NULL, &why) : -1;
    if (object < 0) {
      g_set_error (error, LAM_ERROR, why->code, "%s: dataset %s: a source of it: %s; put that file there", d->file,
                   d->path, why->message);
      return FALSE;
    }
    g_free (last);
    last = g_steal_pointer (&key);
  }
  return TRUE;
}

static gboolean
check_filters (LamH5Dataset *d, hid_t plist, GError **error)
{
  int n = H5Pget_nfilters (plist);
  for (int i = 0; i < n; i++) {
    unsigned flags, config;
    char name[64] = "";
    size_t values = 0;
    H5Z_filter_t id = H5Pget_filter2 (plist, i, &flags, &values, NULL, sizeof name - 1, name, &config);
    if (id < 0 || H5Zfilter_avail (id) <= 0) {
      H5Eclear2 (H5E_DEFAULT);
      fail (error, LAM_ERROR_NOT_SUPPORTED, d,
            "it is compressed with filter %d (%s), which this HDF5 library lacks; install its plugin or convert the "
            "file with h5repack -f GZIP=1",
            (int) id, *name ? name : "unnamed");
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
chunks_valid (const LamH5Dataset *d, const hsize_t *chunk)
{
  for (int i = 0; i < d->rank; i++)
    if (chunk[i] < 1 || chunk[i] > INT64_MAX)
      return FALSE;
  return d->rank > 0;
}

static double
all_chunks (const LamH5Dataset *d, const hsize_t *chunk)
{
  double n = 1;
  for (int i = 0; i < d->rank; i++)
    n *= (double) (d->dims[i] / (int64_t) chunk[i] + (d->dims[i] % (int64_t) chunk[i] != 0));
  return n;
}

/* Layout and storage against shape: the library trusts some of these numbers. */
static gboolean
check_storage (LamH5Dataset *d, size_t element, GError **error)
{
  g_auto (LamHid) plist = H5Dget_create_plist (d->id);
  H5D_layout_t layout = plist >= 0 ? H5Pget_layout (plist) : H5D_LAYOUT_ERROR;
  int64_t want = d->count * (int64_t) element;
  if (layout == H5D_LAYOUT_ERROR) {
    fail_library (error, d, "its layout cannot be read; the file is damaged");
    return FALSE;
  }
  if (layout == H5D_VIRTUAL)
    return check_sources (d, plist, error);
  if (H5Pget_external_count (plist) > 0) {
    fail (error, LAM_ERROR_NOT_SUPPORTED, d,
          "its samples are in a raw file outside HDF5, which is not read yet; copy it with h5repack");
    return FALSE;
  }
  if (!check_filters (d, plist, error))
    return FALSE;
  H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
  if (d->count > 0 && H5Dget_space_status (d->id, &status) >= 0)
    d->never_written = status == H5D_SPACE_STATUS_NOT_ALLOCATED;
  d->part_missing = d->never_written;
  if (layout == H5D_CHUNKED) {
    hsize_t chunk[H5S_MAX_RANK], there = 0;
    if (H5Pget_chunk (plist, H5S_MAX_RANK, chunk) != d->rank || !chunks_valid (d, chunk)) {
      fail_library (error, d, "the size of its chunks cannot be read; the file is damaged");
      return FALSE;
    }
    d->chunk = (int64_t) chunk[0];
    /* The status of a compressed one is "part" even when it is whole: count. */
    if (status == H5D_SPACE_STATUS_PART_ALLOCATED && H5Dget_num_chunks (d->id, H5S_ALL, &there) >= 0)
      d->part_missing = (double) there < all_chunks (d, chunk);
    return TRUE;
  }
  if (d->never_written || d->count == 0)
    return TRUE;
  int64_t stored = (int64_t) H5Dget_storage_size (d->id);
  if (stored < want) {
    fail (error, LAM_ERROR_FORMAT, d,
          "it holds %" G_GINT64_FORMAT " bytes where its shape needs %" G_GINT64_FORMAT "; the file is damaged", stored,
          want);
    return FALSE;
  }
  struct stat s;
  int64_t offset = layout == H5D_CONTIGUOUS ? lam_h5_offset (d->id) : -1, end;
  if (offset >= 0 && stat (d->file, &s) == 0 && (__builtin_add_overflow (offset, want, &end) || end > s.st_size)) {
    fail (error, LAM_ERROR_FORMAT, d,
          "it ends at byte %" G_GINT64_FORMAT " of a file of %" G_GINT64_FORMAT " bytes; the file is cut off", end,
          (int64_t) s.st_size);
    return FALSE;
  }
  return TRUE;
}

LamH5Dataset *
lam_h5_dataset (LamH5File *file, const char *path, GError **error)
{
  g_autoptr (LamH5Dataset) d = g_new0 (LamH5Dataset, 1);
  d->path = g_strdup (path);
  d->id = lam_h5_object (file, path, &d->file, error);
  if (d->id < 0)
    return NULL;
  if (H5Iget_type (d->id) != H5I_DATASET) {
    fail (error, LAM_ERROR_FORMAT, d, "it is a group; a dataset was expected");
    return NULL;
  }
  g_auto (LamHid) type = H5Dget_type (d->id);
  size_t element = type >= 0 ? H5Tget_size (type) : 0;
  if (element == 0) {
    fail_library (error, d, "its type cannot be read; the file is damaged");
    return NULL;
  }
  H5T_class_t klass = H5Tget_class (type);
  d->klass = klass == H5T_INTEGER  ? LAM_H5_INTEGER
             : klass == H5T_FLOAT  ? LAM_H5_REAL
             : klass == H5T_STRING ? LAM_H5_STRING
                                   : LAM_H5_OTHER;
  if (!take_shape (d, element, error) || !check_storage (d, element, error))
    return NULL;
  return g_steal_pointer (&d);
}

void
lam_h5_dataset_free (LamH5Dataset *d)
{
  if (!d)
    return;
  lam_hid_close (d->id);
  g_free (d->file);
  g_free (d->path);
  g_free (d);
}

char *
lam_h5_dataset_shape (const LamH5Dataset *d)
{
  GString *s = g_string_new (d->rank == 0 ? "one value" : NULL);
  for (int i = 0; i < d->rank; i++)
    g_string_append_printf (s, "%s%" G_GINT64_FORMAT, i ? " x " : "", d->dims[i]);
  return g_string_free (s, FALSE);
}

gboolean
lam_h5_dataset_require (const LamH5Dataset *d, int rank, GError **error)
{
  g_autofree char *shape = lam_h5_dataset_shape (d);
  if (d->klass != LAM_H5_INTEGER && d->klass != LAM_H5_REAL) {
    fail (error, LAM_ERROR_FORMAT, d, "it holds %s; numbers were expected",
          d->klass == LAM_H5_STRING ? "text" : "values that are neither integer nor real");
    return FALSE;
  }
  if (rank >= 0 && d->rank != rank) {
    fail (error, LAM_ERROR_FORMAT, d, "its shape is %s; %d axes were expected", shape, rank);
    return FALSE;
  }
  if (d->count == 0) {
    fail (error, LAM_ERROR_FORMAT, d, "its shape is %s: it holds nothing", shape);
    return FALSE;
  }
  return TRUE;
}

/* Where a piece that starts at @at ends: about PIECE bytes, on a chunk border where there are chunks. */
static int64_t
piece_end (const LamH5Dataset *d, int64_t at, int64_t stop, int64_t row_bytes)
{
  int64_t end = at + LAM_MAX (1, PIECE / LAM_MAX (row_bytes, 1));
  if (d->chunk > 1) {
    end = end / d->chunk * d->chunk;
    if (end <= at)
      end = (at / d->chunk + 1) * d->chunk;
  }
  return LAM_MIN (end, stop);
}

gboolean
lam_h5_read_float (LamH5Dataset *d, const int64_t *start, const int64_t *count, float *out, const LamIoControl *control,
                   double from, double to, const char *what, GError **error)
{
  hsize_t first[H5S_MAX_RANK], size[H5S_MAX_RANK];
  int64_t row = 1;
  for (int i = 0; i < d->rank; i++) {
    if (start[i] < 0 || count[i] < 0 || start[i] > d->dims[i] - count[i]) {
      fail (error, LAM_ERROR_INVALID, d,
            "indices %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of axis %d are outside its %" G_GINT64_FORMAT,
            start[i], start[i] + count[i], i, d->dims[i]);
      return FALSE;
    }
    first[i] = (hsize_t) start[i];
    size[i] = (hsize_t) count[i];
    if (i > 0)
      row *= count[i];
    if (count[i] == 0)
      return TRUE;
  }
  g_return_val_if_fail (d->rank > 0, FALSE);

  g_auto (LamHid) space = H5Dget_space (d->id);
  g_auto (LamHid) transfer = H5Pcreate (H5P_DATASET_XFER);
  H5Pset_buffer (transfer, CONVERSION, NULL, NULL);
  for (int64_t at = start[0], stop = start[0] + count[0], end; at < stop; at = end) {
    if (!lam_io_control_step (control, from + (to - from) * (double) (at - start[0]) / (double) count[0], what, error))
      return FALSE;
    end = piece_end (d, at, stop, row * (int64_t) sizeof (float));
    first[0] = (hsize_t) at;
    size[0] = (hsize_t) (end - at);
    g_auto (LamHid) memory = H5Screate_simple (d->rank, size, NULL);
    if (space < 0 || memory < 0 || H5Sselect_hyperslab (space, H5S_SELECT_SET, first, NULL, size, NULL) < 0
        || H5Dread (d->id, H5T_NATIVE_FLOAT, memory, space, transfer, out + (at - start[0]) * row) < 0) {
      g_autofree char *text = g_strdup_printf ("index %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                                               " of its first axis cannot be read; the file is cut off or damaged",
                                               at, end);
      fail_library (error, d, text);
      return FALSE;
    }
  }
  return lam_io_control_step (control, to, what, error);
}

double *
lam_h5_read_doubles (LamH5File *file, const char *path, int64_t *n, GError **error)
{
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (file, path, error);
  if (!d || !lam_h5_dataset_require (d, -1, error))
    return NULL;
  if (d->count > MAX_SMALL) {
    fail (error, LAM_ERROR_FORMAT, d,
          "it holds %" G_GINT64_FORMAT " numbers; at most %" G_GINT64_FORMAT " were expected", d->count, MAX_SMALL);
    return NULL;
  }
  double *values = lam_alloc_n (d->count, sizeof *values, path, error);
  if (!values)
    return NULL;
  if (H5Dread (d->id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    fail_library (error, d, "it cannot be read; the file is cut off or damaged");
    lam_free (values);
    return NULL;
  }
  *n = d->count;
  return values;
}

int64_t
lam_h5_offset (hid_t dataset)
{
  haddr_t offset = H5Dget_offset (dataset);
  if (offset == HADDR_UNDEF || offset > INT64_MAX) {
    H5Eclear2 (H5E_DEFAULT);
    return -1;
  }
  return (int64_t) offset;
}

hid_t
lam_h5_make_float (LamH5File *file, const char *path, int rank, const int64_t *dims, GError **error)
{
  hsize_t size[H5S_MAX_RANK];
  for (int i = 0; i < rank; i++)
    size[i] = (hsize_t) dims[i];
  g_auto (LamHid) space = H5Screate_simple (rank, size, NULL);
  g_auto (LamHid) plist = H5Pcreate (H5P_DATASET_CREATE);
  g_auto (LamHid) links = H5Pcreate (H5P_LINK_CREATE);
  H5Pset_create_intermediate_group (links, 1);
  H5Pset_layout (plist, H5D_CONTIGUOUS);
  H5Pset_alloc_time (plist, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time (plist, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times (plist, FALSE); /* the same input gives the same file */
  hid_t id = space < 0 ? -1 : H5Dcreate2 (file->id, path, H5T_IEEE_F32LE, space, links, plist, H5P_DEFAULT);
  if (id < 0) {
    g_autofree char *what = g_strdup_printf ("dataset %s cannot be made", path);
    lam_h5_set_error (error, LAM_ERROR_IO, file->path, what);
  }
  return id;
}

gboolean
lam_h5_write_doubles (LamH5File *file, const char *path, const double *values, int64_t n, const char *units,
                      const char *long_name, GError **error)
{
  hsize_t size = (hsize_t) n;
  g_auto (LamHid) space = H5Screate_simple (1, &size, NULL);
  g_auto (LamHid) links = H5Pcreate (H5P_LINK_CREATE);
  H5Pset_create_intermediate_group (links, 1);
  g_auto (LamHid) id = H5Dcreate2 (file->id, path, H5T_IEEE_F64LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0 || H5Dwrite (id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    g_autofree char *what = g_strdup_printf ("dataset %s could not be written", path);
    lam_h5_set_error (error, LAM_ERROR_IO, file->path, what);
    return FALSE;
  }
  return lam_h5_put_fixed_text (id, "units", units, file->path, error)
         && lam_h5_put_fixed_text (id, "long_name", long_name, file->path, error);
}
