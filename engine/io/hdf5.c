/* hdf5.c: files, errors, and walking to an object. Datasets are in hdf5-dataset.c, attributes in hdf5-attribute.c. */
#include "io/hdf5.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"

/* Links followed for one object before it is called a circle; groups deep in a path. */
#define MAX_HOPS 32
#define MAX_DEPTH 256

void
lam_hid_close (LamHid id)
{
  if (id > 0)
    H5Idec_ref (id);
}

/* The library prints to stderr unless told not to, for each thread on its own. */
static void
quiet (void)
{
  static _Thread_local gboolean done;
  if (!done)
    H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
  done = TRUE;
}

static herr_t
take_reason (unsigned n, const H5E_error2_t *e, void *data)
{
  char **reason = data;
  if (!*reason && e->desc && *e->desc)
    *reason = g_utf8_make_valid (e->desc, -1);
  return 0;
}

void
lam_h5_set_error (GError **error, int code, const char *file, const char *what)
{
  g_autofree char *reason = NULL;
  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
  H5Eclear2 (H5E_DEFAULT);
  if (reason)
    g_set_error (error, LAM_ERROR, code, "%s: %s (HDF5: %s)", file, what, reason);
  else
    g_set_error (error, LAM_ERROR, code, "%s: %s", file, what);
}

static LamH5File *
wrap (hid_t id, const char *path)
{
  LamH5File *f = g_new0 (LamH5File, 1);
  f->id = id;
  f->path = g_strdup (path);
  return f;
}

static LamH5File *
open_file (const char *path, unsigned mode, GError **error)
{
  struct stat s;
  quiet ();
  if (stat (path, &s) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path, g_strerror (errno));
    return NULL;
  }
  if (!S_ISREG (s.st_mode)) { /* a pipe would block for ever */
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: is not a plain file; an HDF5 file was expected", path);
    return NULL;
  }
  g_auto (LamHid) access = H5Pcreate (H5P_FILE_ACCESS);
  H5Pset_file_locking (access, TRUE, TRUE); /* carry on where the file system has no locks */
  hid_t id = H5Fopen (path, mode, access);
  if (id >= 0)
    return wrap (id, path);

  FILE *probe = fopen (path, "rb");
  int code = errno;
  if (!probe) {
    H5Eclear2 (H5E_DEFAULT);
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path, g_strerror (code));
    return NULL;
  }
  fclose (probe);
  g_autofree char *reason = NULL;
  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
  H5Eclear2 (H5E_DEFAULT);
  if (s.st_size == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: is empty", path);
  else if (H5Fis_hdf5 (path) > 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: the HDF5 file is cut off or damaged, or open for writing elsewhere (HDF5: %s); copy it again",
                 path, reason ? reason : "no reason given");
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: is not an HDF5 file", path);
  H5Eclear2 (H5E_DEFAULT);
  return NULL;
}

LamH5File *
lam_h5_open (const char *path, GError **error)
{
  return open_file (path, H5F_ACC_RDONLY, error);
}

LamH5File *
lam_h5_open_rw (const char *path, GError **error)
{
  return open_file (path, H5F_ACC_RDWR, error);
}

LamH5File *
lam_h5_create (const char *path, GError **error)
{
  quiet ();
  hid_t id = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) {
    lam_h5_set_error (error, LAM_ERROR_IO, path, "cannot be written");
    return NULL;
  }
  return wrap (id, path);
}

gboolean
lam_h5_close (LamH5File *file, GError **error)
{
  gboolean ok = H5Fflush (file->id, H5F_SCOPE_LOCAL) >= 0;
  ok = H5Fclose (file->id) >= 0 && ok;
  if (!ok)
    lam_h5_set_error (error, LAM_ERROR_IO, file->path, "could not be written");
  file->id = -1;
  lam_h5_free (file);
  return ok;
}

void
lam_h5_free (LamH5File *file)
{
  if (!file)
    return;
  if (file->id > 0 && H5Fclose (file->id) < 0)
    H5Eclear2 (H5E_DEFAULT);
  g_free (file->path);
  g_free (file);
}

/* ---- walking ---- */

/* Where the walk stands: an object, the file it is in, and the names still to go. */
typedef struct {
  hid_t object;
  LamH5File *file;
  GQueue todo;
  char *via; /* the last link followed, in words */
  int hops;
} Walk;

static void
walk_clear (Walk *w)
{
  lam_hid_close (w->object);
  lam_h5_free (w->file);
  g_queue_clear_full (&w->todo, g_free);
  g_free (w->via);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static void
push_names (Walk *w, const char *path)
{
  g_auto (GStrv) names = g_strsplit (path, "/", MAX_DEPTH);
  for (int i = (int) g_strv_length (names) - 1; i >= 0; i--)
    if (*names[i] && strcmp (names[i], ".") != 0)
      g_queue_push_head (&w->todo, g_strdup (names[i]));
}

static gboolean
to_root (Walk *w, const char *asked, GError **error)
{
  lam_hid_close (w->object);
  w->object = H5Gopen2 (w->file->id, "/", H5P_DEFAULT);
  if (w->object >= 0)
    return TRUE;
  lam_h5_set_error (error, LAM_ERROR_FORMAT, w->file->path, "the root group cannot be read; the file is damaged");
  return FALSE;
}

/* The file that an external link in @from names: by its own path, else by its last part, in the folder of @from. */
static LamH5File *
open_external (const LamH5File *from, const char *target, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (from->path), *base = g_path_get_basename (target);
  g_autofree char *first = g_path_is_absolute (target) ? g_strdup (target) : g_build_filename (folder, target, NULL);
  g_autofree char *second = g_build_filename (folder, base, NULL);
  if (!g_file_test (first, G_FILE_TEST_EXISTS) && g_path_is_absolute (target)
      && g_file_test (second, G_FILE_TEST_EXISTS))
    return lam_h5_open (second, error);
  return lam_h5_open (first, error);
}

static gboolean
follow_link (Walk *w, const char *name, const H5L_info_t *info, const char *asked, GError **error)
{
  if (++w->hops > MAX_HOPS) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s: its links go round in a circle", w->file->path, asked);
    return FALSE;
  }
  size_t size = info->u.val_size;
  g_autofree char *value = size < (1 << 20) ? g_try_malloc0 (size + 1) : NULL;
  if (!value || H5Lget_val (w->object, name, value, size, H5P_DEFAULT) < 0) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, w->file->path, "a link cannot be read; the file is damaged");
    return FALSE;
  }
  g_free (w->via);
  if (info->type == H5L_TYPE_SOFT) {
    w->via = g_strdup_printf ("%s: link \"%s\" to %s", w->file->path, name, value);
    push_names (w, value);
    return *value != '/' || to_root (w, asked, error);
  }
  const char *target = NULL, *object = NULL;
  if (H5Lunpack_elink_val (value, size, NULL, &target, &object) < 0 || !target || !object) {
    w->via = NULL;
    lam_h5_set_error (error, LAM_ERROR_FORMAT, w->file->path, "an external link cannot be read; the file is damaged");
    return FALSE;
  }
  w->via = g_strdup_printf ("%s: link \"%s\" to %s in %s", w->file->path, name, object, target);
  g_autoptr (GError) why = NULL;
  LamH5File *next = open_external (w->file, target, &why);
  if (!next) {
    g_set_error (error, LAM_ERROR, why->code, "%s: %s is an external link to another file: %s; put that file there",
                 w->file->path, asked, why->message);
    return FALSE;
  }
  lam_h5_free (w->file);
  w->file = next;
  push_names (w, object);
  return to_root (w, asked, error);
}

/* -1 with no error: not there, and no link was followed. */
static hid_t
walk_to (LamH5File *file, const char *path, char **where, GError **error)
{
  quiet ();
  g_auto (Walk) w = {.object = -1};
  if (H5Iinc_ref (file->id) < 0) {
    lam_h5_set_error (error, LAM_ERROR_FORMAT, file->path, "is not open");
    return -1;
  }
  w.file = wrap (file->id, file->path);
  push_names (&w, path);
  if (!to_root (&w, path, error))
    return -1;
  while (!g_queue_is_empty (&w.todo)) {
    g_autofree char *name = g_queue_pop_head (&w.todo);
    H5L_info_t info;
    gboolean group = H5Iget_type (w.object) == H5I_GROUP;
    htri_t there = group ? H5Lexists (w.object, name, H5P_DEFAULT) : 0;
    if (there < 0) {
      g_autofree char *what = g_strdup_printf ("%s cannot be looked up; the file is damaged", path);
      lam_h5_set_error (error, LAM_ERROR_FORMAT, w.file->path, what);
      return -1;
    }
    if (there == 0) {
      H5Eclear2 (H5E_DEFAULT);
      if (w.via)
        g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s: %s: what it points to is not there", w.via, path);
      return -1;
    }
    gboolean ok = H5Lget_info (w.object, name, &info, H5P_DEFAULT) >= 0;
    if (ok && (info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL)) {
      if (!follow_link (&w, name, &info, path, error))
        return -1;
      continue;
    }
    hid_t next = ok && info.type == H5L_TYPE_HARD ? H5Oopen (w.object, name, H5P_DEFAULT) : -1;
    if (next < 0) {
      g_autofree char *what =
          g_strdup_printf ("%s cannot be opened; the file is damaged or newer than this program", path);
      lam_h5_set_error (error, LAM_ERROR_FORMAT, w.file->path, what);
      return -1;
    }
    lam_hid_close (w.object);
    w.object = next;
  }
  if (where)
    *where = g_strdup (w.file->path);
  hid_t result = w.object;
  w.object = -1;
  return result;
}

hid_t
lam_h5_object (LamH5File *file, const char *path, char **where, GError **error)
{
  g_autoptr (GError) e = NULL;
  hid_t id = walk_to (file, path, where, &e);
  if (e)
    g_propagate_error (error, g_steal_pointer (&e));
  else if (id < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s: %s is not in the file", file->path, path);
  return id;
}

H5I_type_t
lam_h5_kind (LamH5File *file, const char *path, GError **error)
{
  g_auto (LamHid) id = walk_to (file, path, NULL, error);
  return id < 0 ? H5I_BADID : H5Iget_type (id);
}

gboolean
lam_h5_exists (LamH5File *file, const char *path)
{
  return lam_h5_kind (file, path, NULL) != H5I_BADID;
}

static herr_t
take_name (hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  GPtrArray *names = data;
  if (names->len < 100000)
    g_ptr_array_add (names, g_strdup (name));
  return 0;
}

GPtrArray *
lam_h5_names (LamH5File *file, const char *path, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (file, path, NULL, error);
  if (id < 0)
    return NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  if (H5Iget_type (id) != H5I_GROUP || H5Literate (id, H5_INDEX_NAME, H5_ITER_INC, NULL, take_name, names) < 0) {
    g_autofree char *what = g_strdup_printf ("%s cannot be listed; a group was expected", path);
    lam_h5_set_error (error, LAM_ERROR_FORMAT, file->path, what);
    return NULL;
  }
  return g_steal_pointer (&names);
}
