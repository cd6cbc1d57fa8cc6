/* hdf5-attribute.c: texts and small numbers, of attributes and of scalar datasets. */
#include "io/hdf5.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5-private.h"

/* Longest text taken. */
#define MAX_TEXT ((size_t) 64 << 20)
/* Texts up to this need no memory of their own. */
#define SMALL_TEXT ((size_t) 4096)
/* Numbers of an array attribute that a listing shows. */
#define SHOWN 16

static herr_t
read_raw (hid_t id, gboolean attribute, hid_t memory_type, void *out)
{
  return attribute ? H5Aread (id, memory_type, out) : H5Dread (id, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

/* The text in the attribute @id, named @name, of @object (or in the dataset @id, @name NULL) of one string, whatever its
 * kind. @place goes before the error. */
static char *
read_text (hid_t id, hid_t object, const char *name, const char *place, GError **error)
{
  gboolean attribute = name != NULL;
  g_auto (LamHid) type = attribute ? H5Aget_type (id) : H5Dget_type (id);
  g_auto (LamHid) space = attribute ? H5Aget_space (id) : H5Dget_space (id);
  if (type < 0 || space < 0 || H5Tget_class (type) != H5T_STRING) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, place, "text was expected");
    return NULL;
  }
  hssize_t n = H5Sget_simple_extent_npoints (space);
  if (n == 0)
    return g_strdup ("");
  if (n != 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: it holds %" G_GINT64_FORMAT " texts; one was expected", place,
                 (int64_t) n);
    return NULL;
  }
  if (H5Tis_variable_str (type) > 0) {
    char *checked = NULL;
    LamRawText how = attribute ? lam_h5_raw_attribute (object, name, &checked) : lam_h5_raw_dataset (id, &checked);
    if (how == LAM_RAW_READ)
      return checked;
    if (how == LAM_RAW_DAMAGED) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: the text cannot be read; the file is damaged", place);
      return NULL;
    }
    g_auto (LamHid) memory = H5Tcopy (H5T_C_S1);
    H5Tset_size (memory, H5T_VARIABLE);
    H5Tset_cset (memory, H5Tget_cset (type));
    char *value = NULL;
    if (read_raw (id, attribute, memory, &value) < 0) {
      lam_h5_set_error (error, LAM_ERROR_FORMAT, place, "the text cannot be read; the file is damaged");
      return NULL;
    }
    char *text = g_utf8_make_valid (value ? value : "", -1);
    H5free_memory (value);
    return text;
  }
  size_t size = H5Tget_size (type);
  if (size > MAX_TEXT) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: a text of %zu bytes is too long", place, size);
    return NULL;
  }
  char small[SMALL_TEXT + 1], *large = size > SMALL_TEXT ? lam_alloc ((int64_t) size + 1, place, error) : NULL;
  char *buffer = large ? large : small;
  if (size > SMALL_TEXT && !large)
    return NULL;
  char *text = NULL;
  if (read_raw (id, attribute, type, buffer) < 0)
    lam_h5_set_error (error, LAM_ERROR_FORMAT, place, "the text cannot be read; the file is damaged");
  else {
    buffer[size] = 0;
    if (H5Tget_strpad (type) == H5T_STR_SPACEPAD)
      g_strchomp (buffer);
    text = g_utf8_make_valid (buffer, -1);
  }
  lam_free (large);
  return text;
}

char *
lam_h5_read_text (LamH5File *file, const char *path, GError **error)
{
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (file, path, error);
  if (!d)
    return NULL;
  g_autofree char *place = g_strdup_printf ("%s: dataset %s", d->file, path);
  return read_text (d->id, -1, NULL, place, error);
}

gboolean
lam_h5_has_attribute (hid_t id, const char *name)
{
  return H5Aexists (id, name) > 0;
}

/* Opens it, or says it is absent (-1 and no error). */
static hid_t
open_attribute (hid_t id, const char *name, const char *place, char **full, GError **error)
{
  htri_t there = H5Aexists (id, name);
  hid_t a = there > 0 ? H5Aopen (id, name, H5P_DEFAULT) : -1;
  *full = g_strdup_printf ("%s: attribute %s", place, name);
  if (there != 0 && a < 0)
    lam_h5_set_error (error, LAM_ERROR_FORMAT, *full, "it cannot be read; the file is damaged");
  return a;
}

char *
lam_h5_attribute_text (hid_t id, const char *name, const char *place, GError **error)
{
  g_autofree char *full = NULL;
  g_auto (LamHid) a = open_attribute (id, name, place, &full, error);
  return a < 0 ? NULL : read_text (a, id, name, full, error);
}

gboolean
lam_h5_attribute_doubles (hid_t id, const char *name, double *values, int64_t max, int64_t *n, const char *place,
                          GError **error)
{
  g_autofree char *full = NULL;
  g_autoptr (GError) e = NULL;
  *n = 0;
  g_auto (LamHid) a = open_attribute (id, name, place, &full, &e);
  if (a < 0) {
    gboolean absent = e == NULL;
    if (e)
      g_propagate_error (error, g_steal_pointer (&e));
    return absent;
  }
  g_auto (LamHid) type = H5Aget_type (a);
  g_auto (LamHid) space = H5Aget_space (a);
  H5T_class_t klass = type < 0 ? H5T_NO_CLASS : H5Tget_class (type);
  hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints (space);
  if ((klass != H5T_INTEGER && klass != H5T_FLOAT) || count < 1 || count > max) {
    H5Eclear2 (H5E_DEFAULT);
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s expected", full,
                 max == 1 ? "one number was" : "numbers were");
    return FALSE;
  }
  if (H5Aread (a, H5T_NATIVE_DOUBLE, values) < 0) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, full, "it cannot be read; the file is damaged");
    return FALSE;
  }
  *n = count;
  return TRUE;
}

gboolean
lam_h5_attribute_double (hid_t id, const char *name, double *value, const char *place, GError **error)
{
  int64_t n;
  return lam_h5_attribute_doubles (id, name, value, 1, &n, place, error);
}

gboolean
lam_h5_attribute_int (hid_t id, const char *name, int64_t *value, const char *place, GError **error)
{
  g_autofree char *full = NULL;
  g_autoptr (GError) e = NULL;
  g_auto (LamHid) a = open_attribute (id, name, place, &full, &e);
  if (a < 0) {
    gboolean absent = e == NULL;
    if (e)
      g_propagate_error (error, g_steal_pointer (&e));
    return absent;
  }
  g_auto (LamHid) type = H5Aget_type (a);
  g_auto (LamHid) space = H5Aget_space (a);
  if (type < 0 || space < 0 || H5Tget_class (type) != H5T_INTEGER || H5Sget_simple_extent_npoints (space) != 1) {
    H5Eclear2 (H5E_DEFAULT);
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: one whole number was expected", full);
    return FALSE;
  }
  if (H5Aread (a, H5T_NATIVE_INT64, value) < 0) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, full, "it cannot be read; the file is damaged");
    return FALSE;
  }
  return TRUE;
}

char *
lam_h5_attribute_any (hid_t id, const char *name)
{
  g_auto (LamHid) a = H5Aopen (id, name, H5P_DEFAULT);
  g_auto (LamHid) type = a < 0 ? -1 : H5Aget_type (a);
  g_auto (LamHid) space = a < 0 ? -1 : H5Aget_space (a);
  H5T_class_t klass = type < 0 ? H5T_NO_CLASS : H5Tget_class (type);
  hssize_t n = space < 0 ? 0 : H5Sget_simple_extent_npoints (space);
  char *text = NULL;
  if (klass == H5T_STRING && n == 1)
    text = read_text (a, id, name, name, NULL);
  if ((klass == H5T_INTEGER || klass == H5T_FLOAT) && n > 0 && n <= SHOWN) {
    double values[SHOWN];
    if (H5Aread (a, H5T_NATIVE_DOUBLE, values) >= 0) {
      GString *s = g_string_new (n > 1 ? "[" : NULL);
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      for (hssize_t i = 0; i < n; i++)
        g_string_append_printf (s, "%s%s", i ? ", " : "", g_ascii_formatd (number, sizeof number, "%.15g", values[i]));
      text = g_string_free (g_string_append (s, n > 1 ? "]" : ""), FALSE);
    }
  }
  H5Eclear2 (H5E_DEFAULT);
  return text ? text : g_strdup_printf ("(%" G_GINT64_FORMAT " values)", (int64_t) n);
}

static herr_t
take_name (hid_t id, const char *name, const H5A_info_t *info, void *data)
{
  GPtrArray *names = data;
  if (names->len < 10000)
    g_ptr_array_add (names, g_strdup (name));
  return 0;
}

GPtrArray *
lam_h5_attribute_names (hid_t id, const char *place, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  LamRawText how = lam_h5_raw_names (id, names);
  if (how == LAM_RAW_DAMAGED
      || (how == LAM_RAW_UNKNOWN && H5Aiterate2 (id, H5_INDEX_NAME, H5_ITER_INC, NULL, take_name, names) < 0)) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, place, "its attributes cannot be listed; the file is damaged");
    return NULL;
  }
  return g_steal_pointer (&names);
}

/* ---- writing ---- */

static gboolean
put (hid_t id, const char *name, hid_t type, hid_t space, hid_t memory_type, const void *data, const char *place,
     GError **error)
{
  if (H5Aexists (id, name) > 0)
    H5Adelete (id, name);
  g_auto (LamHid) a = type < 0 || space < 0 ? -1 : H5Acreate2 (id, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (a < 0 || H5Awrite (a, memory_type, data) < 0) {
    g_autofree char *what = g_strdup_printf ("attribute %s could not be written", name);
    lam_h5_set_error (error, LAM_ERROR_IO, place, what);
    return FALSE;
  }
  return TRUE;
}

gboolean
lam_h5_put_text (hid_t id, const char *name, const char *text, const char *place, GError **error)
{
  g_auto (LamHid) type = H5Tcopy (H5T_C_S1);
  g_auto (LamHid) space = H5Screate (H5S_SCALAR);
  H5Tset_size (type, H5T_VARIABLE);
  H5Tset_cset (type, H5T_CSET_UTF8);
  g_autofree char *valid = g_utf8_make_valid (text ? text : "", -1);
  return put (id, name, type, space, type, &valid, place, error);
}

gboolean
lam_h5_put_fixed_text (hid_t id, const char *name, const char *text, const char *place, GError **error)
{
  g_auto (LamHid) type = H5Tcopy (H5T_C_S1);
  g_auto (LamHid) space = H5Screate (H5S_SCALAR);
  H5Tset_size (type, LAM_MAX (strlen (text), 1)); /* an empty text is one NUL */
  H5Tset_strpad (type, H5T_STR_NULLPAD);
  H5Tset_cset (type, H5T_CSET_UTF8);
  if (H5Aexists (id, name) > 0) { /* in place when it has the same size: needs no new space on the disk */
    g_auto (LamHid) a = H5Aopen (id, name, H5P_DEFAULT);
    g_auto (LamHid) old = a < 0 ? -1 : H5Aget_type (a);
    if (old >= 0 && H5Tequal (old, type) > 0 && H5Awrite (a, type, text) >= 0)
      return TRUE;
  }
  return put (id, name, type, space, type, text, place, error);
}

gboolean
lam_h5_put_double (hid_t id, const char *name, double value, const char *place, GError **error)
{
  g_auto (LamHid) space = H5Screate (H5S_SCALAR);
  return put (id, name, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE, &value, place, error);
}

gboolean
lam_h5_put_doubles (hid_t id, const char *name, const double *values, int64_t n, const char *place, GError **error)
{
  hsize_t size = (hsize_t) n;
  g_auto (LamHid) space = H5Screate_simple (1, &size, NULL);
  return put (id, name, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE, values, place, error);
}

gboolean
lam_h5_put_int (hid_t id, const char *name, int64_t value, const char *place, GError **error)
{
  g_auto (LamHid) space = H5Screate (H5S_SCALAR);
  return put (id, name, H5T_STD_I64LE, space, H5T_NATIVE_INT64, &value, place, error);
}

hid_t
lam_h5_make_group (LamH5File *file, const char *path, GError **error)
{
  hid_t id = H5Gcreate2 (file->id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) {
    g_autofree char *what = g_strdup_printf ("group %s cannot be made", path);
    lam_h5_set_error (error, LAM_ERROR_IO, file->path, what);
  }
  return id;
}
