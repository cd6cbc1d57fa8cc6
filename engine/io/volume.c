/* volume.c: reading result files, ours and MBIRJAX's. The file is opened for each read and is not held in between. */
#include "io/volume.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5.h"
#include "io/volume-private.h"

/* Floats held at a time while axes are turned. */
#define PIECE (INT64_C (2) << 20)

/* The 3-D numeric datasets in the root; @all gets every name, for the message. */
static GPtrArray *
find_volumes (LamH5File *h5, GString *all, GError **error)
{
  g_autoptr (GPtrArray) names = lam_h5_names (h5, "/", error);
  if (!names)
    return NULL;
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_strconcat ("/", names->pdata[i], NULL);
    g_autoptr (LamH5Dataset) d = NULL;
    g_autofree char *shape = NULL;
    if (lam_h5_kind (h5, path, NULL) == H5I_DATASET) {
      d = lam_h5_dataset (h5, path, NULL);
      shape = d ? lam_h5_dataset_shape (d) : g_strdup ("unreadable");
    }
    g_string_append_printf (all, "%s%s (%s)", all->len ? ", " : "", path, shape ? shape : "not a dataset");
    /* An unreadable one is taken too: opening it then says why. */
    if (shape && (!d || (d->rank == 3 && d->klass <= LAM_H5_REAL)))
      g_ptr_array_add (found, g_steal_pointer (&path));
  }
  return g_steal_pointer (&found);
}

static char *
choose_dataset (LamH5File *h5, GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);
  g_autoptr (GPtrArray) found = find_volumes (h5, all, error);
  if (!found)
    return NULL;
  if (found->len == 1)
    return g_strdup (found->pdata[0]);
  if (found->len > 1)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: holds several volumes: %s; choose one with --dataset NAME",
                 h5->path, all->str);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: holds no volume (a dataset of 3 axes in the root was expected); it has: %s", h5->path,
                 all->len ? all->str : "nothing");
  return NULL;
}

static gboolean
resolve_layout (LamVolume *v, LamVolumeLayout layout, hid_t id, const char *place, GError **error)
{
  v->layout = layout;
  if (layout != LAM_LAYOUT_FROM_FILE)
    return TRUE;
  v->layout = LAM_LAYOUT_ROW_COLUMN_SLICE;
  v->layout_assumed = !lam_h5_has_attribute (id, "layout");
  if (v->layout_assumed)
    return TRUE;
  g_autofree char *mark = lam_h5_attribute_text (id, "layout", place, error);
  if (!mark)
    return FALSE;
  if (strcmp (mark, LAM_LAYOUT_MARK_SCR) == 0)
    v->layout = LAM_LAYOUT_SLICE_COLUMN_ROW;
  else if (strcmp (mark, LAM_LAYOUT_MARK_RCS) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: attribute layout is \"%s\"; \"" LAM_LAYOUT_MARK_RCS "\" or \"" LAM_LAYOUT_MARK_SCR
                 "\" was expected",
                 place, mark);
    return FALSE;
  }
  return TRUE;
}

/* All attributes as text; those that have a field of their own are put there too. */
static gboolean
take_attributes (LamVolume *v, hid_t id, const char *place, GError **error)
{
  const struct {
    const char *name;
    char **field;
  } texts[] = {
      {"units", &v->units},
      {"long_name", &v->long_name},
      {"length_unit", &v->length_unit},
      {"parameters", &v->parameters},
      {"recon_params", &v->recon_params},
      {"model_params", &v->model_params},
      {"recon_log", &v->recon_log},
      {"notes", &v->notes},
      {"provenance", &v->provenance},
      {"program", &v->program},
      {"version", &v->version},
  };
  v->attributes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GPtrArray) names = lam_h5_attribute_names (id, place, error);
  if (!names)
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    g_hash_table_insert (v->attributes, g_strdup (names->pdata[i]), lam_h5_attribute_any (id, names->pdata[i]));
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    *texts[i].field = g_strdup (g_hash_table_lookup (v->attributes, texts[i].name));
  const char *sum = g_hash_table_lookup (v->attributes, "checksum");
  if (sum && g_str_has_prefix (sum, LAM_CHECKSUM_PREFIX))
    v->checksum = g_strdup (sum + strlen (LAM_CHECKSUM_PREFIX));

  double size[3];
  int64_t n;
  v->voxel_size[0] = v->voxel_size[1] = v->voxel_size[2] = NAN;
  /* Someone else's voxel_size may be text ("0.3mm"): then it stays a text attribute. */
  if (lam_h5_attribute_doubles (id, "voxel_size", size, 3, &n, place, NULL) && n == 3)
    memcpy (v->voxel_size, size, sizeof size);
  return TRUE;
}

LamVolume *
lam_volume_open (const char *path, const char *dataset, LamVolumeLayout layout, GError **error)
{
  g_autoptr (LamVolume) v = g_new0 (LamVolume, 1);
  v->path = g_strdup (path);
  if (!lam_file_stamp (path, &v->stamp, error))
    return NULL;
  g_autoptr (LamH5File) h5 = lam_h5_open (path, error);
  if (!h5)
    return NULL;
  v->dataset = dataset ? g_strconcat (*dataset == '/' ? "" : "/", dataset, NULL) : choose_dataset (h5, error);
  if (!v->dataset)
    return NULL;
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (h5, v->dataset, error);
  if (!d || !lam_h5_dataset_require (d, 3, error))
    return NULL;
  if (d->never_written) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: dataset %s was made but never written", path, v->dataset);
    return NULL;
  }
  g_autofree char *place = g_strdup_printf ("%s: dataset %s", path, v->dataset);
  if (!resolve_layout (v, layout, d->id, place, error) || !take_attributes (v, d->id, place, error))
    return NULL;
  gboolean ours = v->layout == LAM_LAYOUT_ROW_COLUMN_SLICE;
  v->rows = d->dims[ours ? 0 : 2];
  v->columns = d->dims[1];
  v->slices = d->dims[ours ? 2 : 0];
  return g_steal_pointer (&v);
}

void
lam_volume_free (LamVolume *v)
{
  if (!v)
    return;
  char *texts[] = {v->path,     v->dataset,    v->units,        v->long_name,    v->length_unit,
                   v->checksum, v->parameters, v->recon_params, v->model_params, v->recon_log,
                   v->notes,    v->provenance, v->program,      v->version};
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_clear_pointer (&v->attributes, g_hash_table_unref);
  g_free (v);
}

static gboolean
check_stamp (const LamVolume *v, GError **error)
{
  LamFileStamp now;
  if (!lam_file_stamp (v->path, &now, error))
    return FALSE;
  if (!lam_file_stamp_equal (&now, &v->stamp)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_CHANGED, "%s: the file changed since it was opened; open it again",
                 v->path);
    return FALSE;
  }
  return TRUE;
}

/* The dataset, in an unchanged file. */
static LamH5Dataset *
reopen (LamVolume *v, GError **error)
{
  if (!check_stamp (v, error))
    return NULL;
  g_autoptr (LamH5File) h5 = lam_h5_open (v->path, error);
  return h5 ? lam_h5_dataset (h5, v->dataset, error) : NULL;
}

/* Rows of a (slice, column, row) dataset, some slices at a time, turned. */
static gboolean
read_turned (LamVolume *v, LamH5Dataset *d, LamRange rows, float *out, const LamIoControl *control, GError **error)
{
  int64_t n = lam_range_size (rows), pixels = v->columns * n;
  int64_t step = LAM_CLAMP (PIECE / LAM_MAX (pixels, 1), 1, v->slices);
  float *block = lam_alloc_n (lam_mul_size (step, pixels), sizeof *block, "turning the axes of a volume", error);
  gboolean ok = block != NULL;
  for (int64_t k0 = 0; ok && k0 < v->slices; k0 += step) {
    int64_t nk = LAM_MIN (step, v->slices - k0);
    const int64_t start[3] = {k0, 0, rows.begin}, count[3] = {nk, v->columns, n};
    ok = lam_h5_read_float (d, start, count, block, control, (double) k0 / (double) v->slices,
                            (double) (k0 + nk) / (double) v->slices, "volume", error);
    for (int64_t i = 0; ok && i < n; i++)
      for (int64_t j = 0; j < v->columns; j++)
        for (int64_t k = 0; k < nk; k++)
          out[(i * v->columns + j) * v->slices + k0 + k] = block[(k * v->columns + j) * n + i];
  }
  lam_free (block);
  return ok;
}

gboolean
lam_volume_read_rows (LamVolume *v, LamRange rows, float *out, const LamIoControl *control, GError **error)
{
  if (rows.begin < 0 || rows.end > v->rows || rows.begin > rows.end) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " are outside its %" G_GINT64_FORMAT, v->path,
                 rows.begin, rows.end, v->rows);
    return FALSE;
  }
  g_autoptr (LamH5Dataset) d = reopen (v, error);
  if (!d)
    return FALSE;
  const int64_t start[3] = {rows.begin, 0, 0}, count[3] = {lam_range_size (rows), v->columns, v->slices};
  gboolean ok = v->layout == LAM_LAYOUT_ROW_COLUMN_SLICE
                    ? lam_h5_read_float (d, start, count, out, control, 0, 1, "volume", error)
                    : read_turned (v, d, rows, out, control, error);
  return ok && check_stamp (v, error);
}

void
lam_volume_plane_size (const LamVolume *v, LamVolumePlane plane, int64_t *count, int64_t *width, int64_t *height)
{
  *count = plane == LAM_VOLUME_SLICE ? v->slices : plane == LAM_VOLUME_ROW ? v->rows : v->columns;
  *width = plane == LAM_VOLUME_COLUMN ? v->rows : v->columns;
  *height = plane == LAM_VOLUME_SLICE ? v->rows : v->slices;
}

gboolean
lam_volume_read_plane (LamVolume *v, LamVolumePlane plane, int64_t index, float *out, GError **error)
{
  int64_t n, width, height;
  lam_volume_plane_size (v, plane, &n, &width, &height);
  if (index < 0 || index >= n) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: plane %" G_GINT64_FORMAT " is outside the volume's %" G_GINT64_FORMAT, v->path, index, n);
    return FALSE;
  }
  g_autoptr (LamH5Dataset) d = reopen (v, error);
  if (!d)
    return FALSE;
  gboolean ours = v->layout == LAM_LAYOUT_ROW_COLUMN_SLICE;
  int axis = plane == LAM_VOLUME_COLUMN ? 1 : (plane == LAM_VOLUME_ROW) == ours ? 0 : 2;
  int64_t start[3] = {0, 0, 0}, count[3] = {d->dims[0], d->dims[1], d->dims[2]};
  start[axis] = index;
  count[axis] = 1;
  if ((plane == LAM_VOLUME_SLICE) == ours) /* comes as [height][width] */
    return lam_h5_read_float (d, start, count, out, NULL, 0, 1, "plane", error) && check_stamp (v, error);

  float *turned = lam_alloc_n (lam_mul_size (width, height), sizeof *turned, "turning a plane", error);
  if (!turned)
    return FALSE;
  gboolean ok = lam_h5_read_float (d, start, count, turned, NULL, 0, 1, "plane", error) && check_stamp (v, error);
  for (int64_t y = 0; ok && y < height; y++)
    for (int64_t x = 0; x < width; x++)
      out[y * width + x] = turned[x * height + y];
  lam_free (turned);
  return ok;
}

char *
lam_volume_file_checksum (LamVolume *v, const LamIoControl *control, GError **error)
{
  int64_t row = v->columns * v->slices, step = LAM_CLAMP (PIECE / row, 1, v->rows);
  float *block = lam_alloc_n (lam_mul_size (step, row), sizeof *block, "checksum", error);
  if (!block)
    return NULL;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gboolean ok = TRUE;
  for (int64_t i = 0; ok && i < v->rows; i += step) {
    LamRange rows = {i, LAM_MIN (v->rows, i + step)};
    ok = lam_io_control_step (control, (double) i / (double) v->rows, "checksum", error)
         && lam_volume_read_rows (v, rows, block, NULL, error);
    if (ok)
      g_checksum_update (sum, (const guchar *) block, lam_range_size (rows) * row * (int64_t) sizeof (float));
  }
  lam_free (block);
  return ok ? g_strdup (g_checksum_get_string (sum)) : NULL;
}
