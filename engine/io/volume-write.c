/* volume-write.c: the result file, written slab by slab.
 *
 * HDF5 lays out the file (dataset, attributes) and is closed again; the voxels, which lie in one contiguous run, then go
 * straight to their place with pwrite. So the library never meets a full disk half-way, its global lock is not held
 * while gigabytes are written, and a slab costs one system call. The checksum's attribute has a fixed size and is
 * filled in place at the end. */
#include "io/volume.h"

#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5.h"
#include "io/volume-private.h"

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* voxels are written as they lie in memory */

/* Room for the library's own structures, beside the voxels and the texts. */
#define OVERHEAD (INT64_C (256) << 10)
#define PIECE (INT64_C (4) << 20)

struct _LamVolumeWriter {
  LamAtomicFile *file;
  int64_t rows, columns, slices;
  int64_t offset; /* of voxel 0 in the file */
  uint8_t *done;  /* one flag for each row, or each slice once by_slices */
  int64_t n_done;
  gboolean by_slices;
  GChecksum *checksum; /* over rows [0, next_row); NULL once the order was broken */
  int64_t next_row;
  gboolean finished;
};

static int64_t
text_bytes (const char *text)
{
  return text ? (int64_t) strlen (text) : 0;
}

static gboolean
put_info (hid_t id, const LamVolumeInfo *info, const char *path, GError **error)
{
  const struct {
    const char *name, *text;
  } texts[] = {
      {"recon_params", info->recon_params ? info->recon_params : ""},
      {"model_params", info->model_params ? info->model_params : ""},
      {"recon_log", info->recon_log ? info->recon_log : ""},
      {"notes", info->notes ? info->notes : ""},
      {"units", info->units},
      {"long_name", info->long_name ? info->long_name : "linear attenuation coefficient"},
      {"length_unit", info->length_unit},
      {"parameters", info->parameters},
      {"provenance", info->provenance},
      {"axes", "row,column,slice"},
      {"layout", LAM_LAYOUT_MARK_RCS},
      {"convention", LAM_CONVENTION},
      {"program", "Lamina"},
      {"version", LAMINA_VERSION},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text && !lam_h5_put_text (id, texts[i].name, texts[i].text, path, error))
      return FALSE;
  return lam_h5_put_doubles (id, "voxel_size", info->voxel_size, 3, path, error)
         && lam_h5_put_fixed_text (id, "checksum", LAM_CHECKSUM_EMPTY, path, error);
}

/* The file with everything but voxels and checksum; sets w->offset. */
static gboolean
lay_out (LamVolumeWriter *w, const LamVolumeInfo *info, GError **error)
{
  const int64_t dims[3] = {w->rows, w->columns, w->slices};
  g_autoptr (LamH5File) h5 = lam_h5_create (w->file->temporary, error);
  if (!h5)
    return FALSE;
  g_free (h5->path);
  h5->path = g_strdup (w->file->path); /* what messages should name */
  {
    g_auto (LamHid) id = lam_h5_make_float (h5, "/recon", 3, dims, error);
    if (id < 0 || !put_info (id, info, h5->path, error))
      return FALSE;
    w->offset = lam_h5_offset (id);
  }
  if (!lam_h5_close (g_steal_pointer (&h5), error))
    return FALSE;
  if (w->offset < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: HDF5 gave the dataset no place", w->file->path);
    return FALSE;
  }
  return TRUE;
}

LamVolumeWriter *
lam_volume_writer_new (const char *path, int64_t rows, int64_t columns, int64_t slices, const LamVolumeInfo *info,
                       GError **error)
{
  static const LamVolumeInfo nothing = {.voxel_size = {1, 1, 1}};
  int64_t bytes = lam_mul_size (lam_mul_size (lam_mul_size (rows, columns), slices), sizeof (float));
  if (rows < 1 || columns < 1 || slices < 1 || bytes < 0 || bytes > INT64_MAX / 2) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: a volume of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " cannot be written",
                 path, rows, columns, slices);
    return NULL;
  }
  if (!info)
    info = &nothing;
  g_autoptr (LamVolumeWriter) w = g_new0 (LamVolumeWriter, 1);
  w->rows = rows;
  w->columns = columns;
  w->slices = slices;
  w->done = lam_alloc (LAM_MAX (rows, slices), "the list of written rows", error);
  if (!w->done)
    return NULL;
  memset (w->done, 0, LAM_MAX (rows, slices));
  w->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  w->file = lam_atomic_new (path, error);
  int64_t texts = text_bytes (info->recon_params) + text_bytes (info->model_params) + text_bytes (info->recon_log)
                  + text_bytes (info->notes) + text_bytes (info->parameters) + text_bytes (info->provenance);
  if (!w->file || !lam_atomic_reserve (w->file, bytes + 2 * texts + OVERHEAD, error) || !lay_out (w, info, error)
      || !lam_atomic_reserve (w->file, w->offset + bytes, error))
    return NULL;
  return g_steal_pointer (&w);
}

static gboolean
claim (LamVolumeWriter *w, LamRange range, int64_t size, gboolean by_slices, GError **error)
{
  if (range.begin < 0 || range.end > size || range.begin > range.end) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: %s %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " are outside the volume's %" G_GINT64_FORMAT,
                 w->file->path, by_slices ? "slices" : "rows", range.begin, range.end, size);
    return FALSE;
  }
  if (w->finished || (w->n_done > 0 && w->by_slices != by_slices)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: %s", w->file->path,
                 w->finished ? "it is finished" : "one file is written by rows or by slices, not both");
    return FALSE;
  }
  w->by_slices = by_slices;
  return TRUE;
}

static void
mark (LamVolumeWriter *w, LamRange range)
{
  for (int64_t i = range.begin; i < range.end; i++) {
    w->n_done += !w->done[i];
    w->done[i] = 1;
  }
}

static void
drop_checksum (LamVolumeWriter *w)
{
  g_clear_pointer (&w->checksum, g_checksum_free);
}

gboolean
lam_volume_writer_put_rows (LamVolumeWriter *w, LamRange rows, const float *data, GError **error)
{
  if (!claim (w, rows, w->rows, FALSE, error))
    return FALSE;
  int64_t row = w->columns * w->slices * (int64_t) sizeof (float), bytes = lam_range_size (rows) * row;
  if (rows.begin != w->next_row)
    drop_checksum (w);
  /* In pieces, so that what is summed is still in the cache. */
  for (int64_t at = 0; at < bytes; at += PIECE) {
    int64_t n = LAM_MIN (PIECE, bytes - at);
    if (!lam_atomic_pwrite (w->file, (const char *) data + at, n, w->offset + rows.begin * row + at, error))
      return FALSE;
    if (w->checksum)
      g_checksum_update (w->checksum, (const guchar *) data + at, n);
  }
  w->next_row = rows.end;
  mark (w, rows);
  return TRUE;
}

gboolean
lam_volume_writer_put_slices (LamVolumeWriter *w, LamRange slices, const float *data, GError **error)
{
  if (!claim (w, slices, w->slices, TRUE, error))
    return FALSE;
  drop_checksum (w);
  int64_t n = lam_range_size (slices), pixels = w->rows * w->columns;
  if (n == w->slices) {
    if (!lam_atomic_pwrite (w->file, data, pixels * n * (int64_t) sizeof (float), w->offset, error))
      return FALSE;
  } else
    for (int64_t p = 0; p < pixels; p++)
      if (!lam_atomic_pwrite (w->file, data + p * n, n * (int64_t) sizeof (float),
                              w->offset + (p * w->slices + slices.begin) * (int64_t) sizeof (float), error))
        return FALSE;
  mark (w, slices);
  return TRUE;
}

/* The second pass over what was written, when slabs did not come in order. */
static gboolean
sum_again (LamVolumeWriter *w, const LamIoControl *control, GError **error)
{
  int64_t bytes = w->rows * w->columns * w->slices * (int64_t) sizeof (float);
  char *buffer = lam_alloc (PIECE, "checksum", error);
  if (!buffer)
    return FALSE;
  gboolean ok = TRUE;
  w->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  for (int64_t at = 0; ok && at < bytes; at += PIECE) {
    int64_t n = LAM_MIN (PIECE, bytes - at);
    ok = lam_io_control_step (control, (double) at / (double) bytes, "checksum", error)
         && lam_atomic_pread (w->file, buffer, n, w->offset + at, error);
    if (ok)
      g_checksum_update (w->checksum, (const guchar *) buffer, n);
  }
  lam_free (buffer);
  return ok;
}

static gboolean
put_checksum (LamVolumeWriter *w, const char *sum, GError **error)
{
  g_autofree char *text = g_strconcat (LAM_CHECKSUM_PREFIX, sum, NULL);
  g_autoptr (LamH5File) h5 = lam_h5_open_rw (w->file->temporary, error);
  if (!h5)
    return FALSE;
  {
    g_auto (LamHid) id = lam_h5_object (h5, "/recon", NULL, error);
    if (id < 0 || !lam_h5_put_fixed_text (id, "checksum", text, w->file->path, error))
      return FALSE;
  }
  return lam_h5_close (g_steal_pointer (&h5), error);
}

gboolean
lam_volume_writer_finish (LamVolumeWriter *w, const LamIoControl *control, char **checksum, GError **error)
{
  int64_t want = w->by_slices ? w->slices : w->rows;
  if (w->finished || w->n_done < want) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: only %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " %s were written", w->file->path, w->n_done,
                 want, w->by_slices ? "slices" : "rows");
    return FALSE;
  }
  if (w->next_row != w->rows)
    drop_checksum (w);
  if (!lam_io_control_step (control, 0, "saving", error) || (!w->checksum && !sum_again (w, control, error)))
    return FALSE;
  const char *sum = g_checksum_get_string (w->checksum);
  if (!put_checksum (w, sum, error) || !lam_atomic_commit (w->file, error))
    return FALSE;
  w->finished = TRUE;
  if (checksum)
    *checksum = g_strdup (sum);
  if (control && control->progress)
    control->progress (1, "saving", control->data);
  return TRUE;
}

void
lam_volume_writer_free (LamVolumeWriter *w)
{
  if (!w)
    return;
  lam_atomic_free (w->file);
  drop_checksum (w);
  lam_free (w->done);
  g_free (w);
}

gboolean
lam_volume_write (const char *path, const float *volume, int64_t rows, int64_t columns, int64_t slices,
                  const LamVolumeInfo *info, const LamIoControl *control, char **checksum, GError **error)
{
  g_autoptr (LamVolumeWriter) w = lam_volume_writer_new (path, rows, columns, slices, info, error);
  if (!w)
    return FALSE;
  int64_t row = columns * slices, step = LAM_MAX (1, PIECE / (row * (int64_t) sizeof (float)));
  for (int64_t i = 0; i < rows; i += step) {
    LamRange range = {i, LAM_MIN (rows, i + step)};
    if (!lam_io_control_step (control, (double) i / (double) rows, "saving", error)
        || !lam_volume_writer_put_rows (w, range, volume + i * row, error))
      return FALSE;
  }
  LamIoControl quiet = control ? *control : (LamIoControl){0}; /* the checksum is ready: no progress of its own */
  quiet.progress = NULL;
  if (!lam_volume_writer_finish (w, &quiet, checksum, error))
    return FALSE;
  if (control && control->progress)
    control->progress (1, "saving", control->data);
  return TRUE;
}

char *
lam_volume_checksum (const float *volume, int64_t n)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  int64_t bytes = n * (int64_t) sizeof (float);
  for (int64_t at = 0; at < bytes; at += PIECE)
    g_checksum_update (sum, (const guchar *) volume + at, LAM_MIN (PIECE, bytes - at));
  return g_strdup (g_checksum_get_string (sum));
}
