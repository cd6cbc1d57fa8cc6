#include "io/mr-series.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5.h"

#define PIECE (INT64_C (4) << 20)

void
lam_mr_series_free (LamMrSeries *s)
{
  lam_free (s->re);
  lam_free (s->im);
  g_clear_pointer (&s->nifti, lam_nifti_free);
  g_clear_pointer (&s->notes, g_ptr_array_unref);
  g_free (s->path);
  g_free (s->dataset);
  g_free (s);
}

static void note (LamMrSeries *s, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (LamMrSeries *s, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  g_ptr_array_add (s->notes, g_strdup_vprintf (format, list));
  va_end (list);
}

/* Which axis may have been meant: "; its first axis has 90: ...". g_free (). */
static char *
other_axis (const LamMrSeries *s, int64_t contrasts)
{
  static const char *const names[] = {"first", "second", "third", "fourth"};
  for (int i = 0; i < MIN (s->rank, (int) G_N_ELEMENTS (names)); i++)
    if (s->dims[i] == contrasts)
      return s->nifti
                 ? g_strdup_printf ("; its %s axis has %" G_GINT64_FORMAT ": make it the fourth", names[i], contrasts)
                 : g_strdup_printf ("; its %s axis has %" G_GINT64_FORMAT
                                    ": make it the last, in Python with numpy.moveaxis (x, %d, -1)",
                                    names[i], contrasts, i);
  return g_strdup ("; make a dictionary of the series' own protocol");
}

static gboolean
allocate (LamMrSeries *s, gboolean is_complex, int64_t contrasts, GError **error)
{
  if (contrasts > 0 && s->contrasts != contrasts) {
    g_autoptr (GString) shape = g_string_new (NULL);
    g_autofree char *advice = other_axis (s, contrasts);
    for (int i = 0; i < s->rank; i++)
      g_string_append_printf (shape, "%" G_GINT64_FORMAT " x ", s->dims[i]);
    g_string_append_printf (shape, "%" G_GINT64_FORMAT, s->contrasts);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s has %" G_GINT64_FORMAT " contrasts and the dictionary has %" G_GINT64_FORMAT
                 ". It is %s, of which the last axis is taken for the contrast%s",
                 s->path, s->contrasts, contrasts, shape->str, advice);
    return FALSE;
  }
  int64_t n = lam_mul_size (s->voxels, s->contrasts);
  s->re = lam_alloc_n (n, 4, "series", error);
  s->im = is_complex && s->re ? lam_alloc_n (n, 4, "series", error) : NULL;
  return s->re && (!is_complex || s->im);
}

/* ---- NIfTI ---- */

static gboolean
read_nifti (LamMrSeries *s, int64_t contrasts, const LamIoControl *control, GError **error)
{
  static const char *const places[] = {"voxel sizes alone (neither sform nor qform)", "qform", "sform"};
  LamNifti *n = s->nifti = lam_nifti_open (s->path, error);
  if (!n)
    return FALSE;
  s->rank = 3;
  memcpy (s->dims, n->dims, sizeof n->dims);
  s->voxels = n->voxels;
  s->contrasts = n->contrasts;
  note (s, "NIfTI-%d, %s%s", n->version, lam_nifti_type_name (n->datatype), n->swapped ? ", other byte order" : "");
  note (s, "placed by %s", places[n->place]);
  if (n->sform_code > 0 && n->qform_code > 0)
    note (s, "sform and qform are both there: sform (code %d) was taken, not qform (code %d)", n->sform_code,
          n->qform_code);
  if (n->scaled) {
    char slope[32], inter[32];
    note (s, "values scaled by %s, then %s added", g_ascii_formatd (slope, sizeof slope, "%.9g", n->slope),
          g_ascii_formatd (inter, sizeof inter, "%.9g", n->inter));
  }
  if ((n->units & 7) == 0)
    note (s, "no unit of length is stated: mm assumed");
  return allocate (s, n->is_complex, contrasts, error) && lam_nifti_read (n, s->re, s->im, control, error);
}

/* ---- HDF5 ---- */

typedef struct {
  char *path, *partner; /* partner: the imaginary part, or NULL */
  gboolean pairs;       /* of real and imaginary numbers */
} Found;

static void
found_free (void *data)
{
  Found *f = data;
  g_free (f->path);
  g_free (f->partner);
  g_free (f);
}

static const char *const partners[][2] = {{"_re", "_im"},   {"_real", "_imag"},    {"re", "im"},
                                          {"real", "imag"}, {"real", "imaginary"}, {"_real", "_imaginary"},
                                          {"_r", "_i"}};

/* @path with its ending that says "real" replaced, where that dataset is there. */
static char *
partner_of (LamH5File *file, const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (partners); i++) {
    const char *end = partners[i][0];
    if (!g_str_has_suffix (path, end) || (*end != '_' && path[strlen (path) - strlen (end) - 1] != '/'))
      continue;
    g_autofree char *stem = g_strndup (path, strlen (path) - strlen (end));
    g_autofree char *other = g_strconcat (stem, partners[i][1], NULL);
    if (lam_h5_exists (file, other))
      return g_steal_pointer (&other);
  }
  return NULL;
}

static gboolean
is_imaginary (LamH5File *file, const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (partners); i++) {
    const char *end = partners[i][1];
    if (!g_str_has_suffix (path, end) || (*end != '_' && path[strlen (path) - strlen (end) - 1] != '/'))
      continue;
    g_autofree char *stem = g_strndup (path, strlen (path) - strlen (end));
    g_autofree char *other = g_strconcat (stem, partners[i][0], NULL);
    if (lam_h5_exists (file, other))
      return TRUE;
  }
  return FALSE;
}

/* Whether the elements are pairs of floats, and the names of their members. */
static gboolean
pair_members (hid_t dataset, char **re, char **im)
{
  static const char *const names[][2] = {{"r", "i"}, {"re", "im"}, {"real", "imag"}, {"real", "imaginary"}};
  g_auto (LamHid) type = H5Dget_type (dataset);
  if (type < 0 || H5Tget_class (type) != H5T_COMPOUND)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    int a = H5Tget_member_index (type, names[i][0]), b = H5Tget_member_index (type, names[i][1]);
    if (a < 0 || b < 0 || H5Tget_member_class (type, (unsigned) a) != H5T_FLOAT
        || H5Tget_member_class (type, (unsigned) b) != H5T_FLOAT)
      continue;
    *re = g_strdup (names[i][0]);
    *im = g_strdup (names[i][1]);
    return TRUE;
  }
  return FALSE;
}

static gboolean
usable (const LamH5Dataset *d, gboolean *pairs)
{
  g_autofree char *re = NULL, *im = NULL;
  *pairs = d->klass == LAM_H5_OTHER && pair_members (d->id, &re, &im);
  return d->rank >= 1 && d->rank <= LAM_MR_SERIES_RANK && d->count > 0
         && (*pairs || d->klass == LAM_H5_INTEGER || d->klass == LAM_H5_REAL);
}

/* Datasets with at least two axes in @folder and the groups in it. */
static gboolean
look_for (LamH5File *file, const char *folder, int depth, GPtrArray *found, GError **error)
{
  g_autoptr (GPtrArray) names = lam_h5_names (file, folder, error);
  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *path = g_strconcat (strcmp (folder, "/") ? folder : "", "/", names->pdata[i], NULL);
    H5I_type_t kind = lam_h5_kind (file, path, NULL);
    if (kind == H5I_GROUP && depth < 3 && !look_for (file, path, depth + 1, found, error))
      return FALSE;
    g_autoptr (LamH5Dataset) d = kind == H5I_DATASET ? lam_h5_dataset (file, path, NULL) : NULL;
    gboolean pairs;
    if (!d || d->rank < 2 || !usable (d, &pairs) || is_imaginary (file, path))
      continue;
    Found *f = g_new0 (Found, 1);
    f->path = g_strdup (path);
    f->partner = partner_of (file, path);
    f->pairs = pairs;
    g_ptr_array_add (found, f);
  }
  return names != NULL;
}

static Found *
choose (LamMrSeries *s, LamH5File *file, const char *dataset, GPtrArray *found, GError **error)
{
  if (dataset) {
    Found *f = g_new0 (Found, 1);
    gboolean pairs = FALSE;
    f->path = g_strconcat (*dataset == '/' ? "" : "/", dataset, NULL);
    g_ptr_array_add (found, f);
    g_autoptr (LamH5Dataset) d = lam_h5_dataset (file, f->path, error);
    if (!d)
      return NULL;
    if (!usable (d, &pairs)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                   "%s: %s holds no numbers along 1 to 8 axes, nor pairs of real and imaginary ones", s->path, f->path);
      return NULL;
    }
    f->pairs = pairs;
    f->partner = partner_of (file, f->path);
    return f;
  }
  if (!look_for (file, "/", 0, found, error))
    return NULL;
  if (found->len == 1)
    return g_ptr_array_index (found, 0);
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; i < MIN (found->len, 12); i++)
    g_string_append_printf (list, "%s%s", i ? ", " : "", ((Found *) g_ptr_array_index (found, i))->path);
  g_set_error (error, LAM_ERROR, found->len ? LAM_ERROR_INVALID : LAM_ERROR_MISSING,
               found->len ? "%s: several datasets can be meant: %s; say which one (--dataset on the command line)"
                          : "%s: no dataset of voxels and contrasts is in it%s",
               s->path, list->str);
  return NULL;
}

static gboolean
read_pairs (LamMrSeries *s, LamH5Dataset *d, const LamIoControl *control, GError **error)
{
  g_autofree char *re = NULL, *im = NULL;
  hsize_t first[H5S_MAX_RANK] = {0}, size[H5S_MAX_RANK];
  int64_t row = 1;
  pair_members (d->id, &re, &im);
  for (int i = 0; i < d->rank; i++) {
    size[i] = (hsize_t) d->dims[i];
    row *= i > 0 ? d->dims[i] : 1;
  }
  int64_t rows = MAX (1, PIECE / (row * 8));
  g_auto (LamHid) space = H5Dget_space (d->id);
  float *planes[2] = {s->re, s->im};
  for (int64_t at = 0; at < d->dims[0]; at += rows) {
    first[0] = (hsize_t) at;
    size[0] = (hsize_t) MIN (rows, d->dims[0] - at);
    g_auto (LamHid) memory = H5Screate_simple (d->rank, size, NULL);
    if (!lam_io_control_step (control, (double) at / (double) d->dims[0], "reading the series", error))
      return FALSE;
    for (int k = 0; k < 2; k++) {
      g_auto (LamHid) type = H5Tcreate (H5T_COMPOUND, 4);
      if (type < 0 || H5Tinsert (type, k ? im : re, 0, H5T_NATIVE_FLOAT) < 0
          || H5Sselect_hyperslab (space, H5S_SELECT_SET, first, NULL, size, NULL) < 0
          || H5Dread (d->id, type, memory, space, H5P_DEFAULT, planes[k] + at * row) < 0) {
        g_autofree char *what = g_strdup_printf ("dataset %s cannot be read; the file is cut off or damaged", d->path);
        lam_h5_set_error (error, LAM_ERROR_FORMAT, s->path, what);
        return FALSE;
      }
    }
  }
  return TRUE;
}

/* @axes: how many there must be at least. */
static gboolean
read_hdf5 (LamMrSeries *s, const char *dataset, int axes, int64_t contrasts, const LamIoControl *control,
           GError **error)
{
  static const int64_t start[H5S_MAX_RANK];
  g_autoptr (LamH5File) file = lam_h5_open (s->path, error);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (found_free);
  Found *f = file ? choose (s, file, dataset, found, error) : NULL;
  g_autoptr (LamH5Dataset) d = f ? lam_h5_dataset (file, f->path, error) : NULL;
  g_autoptr (LamH5Dataset) other = d && f->partner ? lam_h5_dataset (file, f->partner, error) : NULL;
  if (!d || (f->partner && !other))
    return FALSE;
  if (d->rank < axes) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s has one axis; voxels and, last, contrasts are expected",
                 s->path, f->path);
    return FALSE;
  }
  if (other && (other->rank != d->rank || memcmp (other->dims, d->dims, d->rank * sizeof *d->dims) != 0)) {
    g_autofree char *a = lam_h5_dataset_shape (d), *b = lam_h5_dataset_shape (other);
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: the real part %s is %s and the imaginary part %s is %s",
                 s->path, f->path, a, f->partner, b);
    return FALSE;
  }
  s->rank = d->rank - 1;
  memcpy (s->dims, d->dims, s->rank * sizeof *s->dims);
  s->contrasts = d->dims[s->rank];
  s->voxels = d->count / s->contrasts;
  s->dataset = g_strdup_printf ("%s%s%s", f->path, f->partner ? ", " : "", f->partner ? f->partner : "");
  note (s, "HDF5: %s; the last axis is the contrast", s->dataset);
  if (!f->pairs && !f->partner)
    note (s, "no imaginary part was found: real data");
  if (!allocate (s, f->pairs || f->partner, contrasts, error))
    return FALSE;
  if (f->pairs)
    return read_pairs (s, d, control, error);
  return lam_h5_read_float (d, start, d->dims, s->re, control, 0, other ? 0.5 : 1, "reading the series", error)
         && (!other || lam_h5_read_float (other, start, d->dims, s->im, control, 0.5, 1, "reading the series", error));
}

static gboolean
is_nifti (const char *path)
{
  return lam_nifti_is_one (path) || g_str_has_suffix (path, ".nii") || g_str_has_suffix (path, ".nii.gz");
}

static LamMrSeries *
read_any (const char *path, const char *dataset, int axes, int64_t contrasts, const LamIoControl *control,
          GError **error)
{
  g_autoptr (LamMrSeries) s = g_new0 (LamMrSeries, 1);
  s->path = g_strdup (path);
  s->notes = g_ptr_array_new_with_free_func (g_free);
  return (is_nifti (path) ? read_nifti (s, contrasts, control, error)
                          : read_hdf5 (s, dataset, axes, contrasts, control, error))
             ? g_steal_pointer (&s)
             : NULL;
}

LamMrSeries *
lam_mr_series_read (const char *path, const char *dataset, int64_t contrasts, const LamIoControl *control,
                    GError **error)
{
  return read_any (path, dataset, 2, contrasts, control, error);
}

static char *
shape_text (const int64_t *dims, int rank)
{
  GString *t = g_string_new (NULL);
  for (int i = 0; i < rank; i++)
    g_string_append_printf (t, "%s%" G_GINT64_FORMAT, i ? " x " : "", dims[i]);
  return g_string_free (t, FALSE);
}

/* Axes of length 1 at the end say nothing. Files of two kinds order their axes differently: only their count is compared. */
static gboolean
same_shape (const LamMrSeries *m, const LamMrSeries *s, GError **error)
{
  int64_t mask[LAM_MR_SERIES_RANK + 1], whole[LAM_MR_SERIES_RANK + 1];
  int rank = m->rank, other = s->rank;
  memcpy (mask, m->dims, (size_t) rank * sizeof *mask);
  memcpy (whole, s->dims, (size_t) other * sizeof *whole);
  if (m->contrasts > 1)
    mask[rank++] = m->contrasts;
  while (rank > 1 && mask[rank - 1] == 1)
    rank--;
  while (other > 1 && whole[other - 1] == 1)
    other--;
  if (is_nifti (m->path) != is_nifti (s->path)
      || (rank == other && memcmp (mask, whole, (size_t) rank * sizeof *mask) == 0))
    return TRUE;
  g_autofree char *a = shape_text (mask, rank), *b = shape_text (whole, other);
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "the mask %s is %s voxels and the series %s is %s", m->path, a,
               s->path, b);
  return FALSE;
}

uint8_t *
lam_mr_mask_read (const char *path, const char *dataset, const LamMrSeries *s, const LamIoControl *control,
                  GError **error)
{
  g_autoptr (LamMrSeries) m = read_any (path, dataset, 1, 0, control, error);
  if (!m)
    return NULL;
  int64_t n = lam_mul_size (m->voxels, m->contrasts); /* an HDF5 mask has no axis of contrasts */
  if (n != s->voxels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the mask %s has %" G_GINT64_FORMAT " voxels and the series %s has %" G_GINT64_FORMAT, path, n,
                 s->path, s->voxels);
    return NULL;
  }
  if (!same_shape (m, s, error))
    return NULL;
  uint8_t *mask = lam_alloc (n, "mask", error);
  for (int64_t i = 0; mask && i < n; i++)
    mask[i] = !isnan (m->re[i]) && m->re[i] != 0;
  return mask;
}
