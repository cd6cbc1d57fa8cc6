#include "io/hdf5-arrays.h"

#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/volume-private.h"
#include "io/volume.h"

#define OVERHEAD (INT64_C (256) << 10)
#define PIECE (INT64_C (4) << 20)

static int64_t
bytes_of (const LamH5Array *a)
{
  int64_t n = 4;
  for (int i = 0; i < a->rank; i++)
    n = lam_mul_size (n, a->dims[i]);
  return n;
}

static gboolean
make_array (LamH5File *file, const LamH5Array *a, int64_t *offset, GError **error)
{
  g_auto (LamHid) id = lam_h5_make_float (file, a->path, a->rank, a->dims, error);
  g_autofree char *digits = lam_volume_checksum (a->data, bytes_of (a) / 4);
  g_autofree char *sum = g_strconcat (LAM_CHECKSUM_PREFIX, digits, NULL);
  const struct {
    const char *name, *text;
  } texts[] = {{"units", a->units},   {"long_name", a->long_name}, {"axes", a->axes},
               {"program", "Lamina"}, {"version", LAMINA_VERSION}, {"checksum", sum}};
  for (guint i = 0; id >= 0 && i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text && !lam_h5_put_text (id, texts[i].name, texts[i].text, file->path, error))
      return FALSE;
  if (id < 0)
    return FALSE;
  *offset = lam_h5_offset (id);
  if (*offset < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: HDF5 gave %s no place", file->path, a->path);
  return *offset >= 0;
}

/* All but the numbers; where these go stands in @offsets. */
static gboolean
lay_out (LamAtomicFile *f, const LamH5Array *arrays, int n, LamH5Beside beside, gpointer data, int64_t *offsets,
         GError **error)
{
  g_autoptr (LamH5File) file = lam_h5_create (f->temporary, error);
  if (!file)
    return FALSE;
  g_free (file->path);
  file->path = g_strdup (f->path); /* what messages should name */
  for (int i = 0; i < n; i++)
    if (!make_array (file, &arrays[i], &offsets[i], error))
      return FALSE;
  return (!beside || beside (file, data, error)) && lam_h5_close (g_steal_pointer (&file), error);
}

gboolean
lam_h5_write_arrays (const char *path, const LamH5Array *arrays, int n, LamH5Beside beside, gpointer data,
                     const LamIoControl *control, GError **error)
{
  int64_t all = 0, end = 0, done = 0;
  g_autofree int64_t *offsets = g_new0 (int64_t, MAX (n, 1));
  for (int i = 0; i < n; i++)
    all += bytes_of (&arrays[i]);
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  g_autoptr (LamAtomicFile) f = lam_atomic_new (path, error);
  if (!f || !lam_atomic_reserve (f, all + OVERHEAD, error) || !lay_out (f, arrays, n, beside, data, offsets, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    end = MAX (end, offsets[i] + bytes_of (&arrays[i]));
  if (!lam_atomic_reserve (f, end, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    for (int64_t at = 0, bytes = bytes_of (&arrays[i]); at < bytes; at += PIECE) {
      int64_t size = MIN (PIECE, bytes - at);
      if (!lam_io_control_step (control, (double) (done += size) / (double) all, "saving", error)
          || !lam_atomic_pwrite (f, (const char *) arrays[i].data + at, size, offsets[i] + at, error))
        return FALSE;
    }
  return lam_io_control_step (control, 1, "saving", error) && lam_atomic_commit (f, error);
}

float *
lam_h5_read_array (LamH5File *file, const char *path, int rank, int64_t *dims, const LamIoControl *control,
                   GError **error)
{
  static const int64_t start[H5S_MAX_RANK];
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (file, path, error);
  if (!d || !lam_h5_dataset_require (d, rank, error))
    return NULL;
  g_autofree char *place = g_strdup_printf ("%s: %s", file->path, path);
  g_autofree char *stated = lam_h5_attribute_text (d->id, "checksum", place, NULL);
  float *x = lam_alloc_n (d->count, 4, path, error);
  if (!x || !lam_h5_read_float (d, start, d->dims, x, control, 0, 1, "reading", error)) {
    lam_free (x);
    return NULL;
  }
  g_autofree char *digits = lam_volume_checksum (x, d->count);
  if (stated && (!g_str_has_prefix (stated, LAM_CHECKSUM_PREFIX) || strcmp (stated + 7, digits) != 0)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: the numbers are not those that were written (checksum); the file is damaged", place);
    lam_free (x);
    return NULL;
  }
  memcpy (dims, d->dims, d->rank * sizeof *dims);
  return x;
}
