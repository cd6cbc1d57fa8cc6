/* scan-write.c: Lamina's own scan file. As with results (volume-write.c), HDF5 lays it out and the samples go straight
 * to their place.
 *
 *   /                 format = "lamina-scan-1"
 *   /scan             attributes: format_version 1, geometry, detector, data, mask, length_unit, every length and offset
 *                     of LamGeometry by its name, recon_shape, parameters (JSON), program, version, convention
 *   /scan/projections float32 (view, row, channel); /scan/weights alike
 *   /scan/flats       float32 (frame, row, channel); /scan/darks alike
 *   /scan/angles      float64 (view), units rad; /scan/shifts float64 (view), units mm or px */
#include "io/scan.h"

#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5.h"
#include "io/volume-private.h"

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* samples are written as they lie in memory */

#define OVERHEAD (INT64_C (256) << 10)
#define PIECE (INT64_C (4) << 20)
#define MAX_PARTS 4

typedef struct {
  const char *path, *units, *long_name, *axes;
  const float *data;
  int64_t frames;
  int64_t bytes, offset;
  char *checksum;
} Part;

/* Of fixed length where it fits into an attribute: a damaged heap of variable texts can crash the library. */
static gboolean
put_text (hid_t id, const char *name, const char *text, const char *path, GError **error)
{
  return strlen (text) < 32768 ? lam_h5_put_fixed_text (id, name, text, path, error)
                               : lam_h5_put_text (id, name, text, path, error);
}

static gboolean
put_geometry (hid_t id, const LamScanData *data, const char *path, GError **error)
{
  const LamGeometry *g = data->geometry;
  const struct {
    const char *name, *text;
  } texts[] = {
      {"geometry", g->kind == LAM_GEOMETRY_CONE ? "cone" : "parallel"},
      {"detector", g->detector == LAM_DETECTOR_CURVED ? "curved" : "flat"},
      {"data", data->kind == LAM_SCAN_COUNTS ? "counts" : "sinogram"},
      {"mask", g->mask == LAM_MASK_NONE ? "none" : "ellipse"},
      {"length_unit", strcmp (g->length_unit, "mm") == 0 ? "mm" : "px"},
      {"program", "Lamina"},
      {"version", LAMINA_VERSION},
      {"convention", LAM_CONVENTION},
      {"parameters", data->parameters},
  };
  const struct {
    const char *name;
    double value;
  } numbers[] = {
      {"channel_pitch", g->channel_pitch},
      {"row_pitch", g->row_pitch},
      {"channel_offset", g->channel_offset},
      {"row_offset", g->row_offset},
      {"source_detector", g->source_detector},
      {"source_axis", g->source_axis},
      {"voxel_pitch", g->voxel_pitch},
      {"row_aspect", g->row_aspect},
      {"slice_aspect", g->slice_aspect},
      {"slice_offset", g->slice_offset},
      {"pad_top", g->pad_top},
      {"pad_bottom", g->pad_bottom},
  };
  const double shape[3] = {(double) g->recon_rows, (double) g->recon_columns, (double) g->recon_slices};
  for (size_t i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text && !put_text (id, texts[i].name, texts[i].text, path, error))
      return FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!lam_h5_put_double (id, numbers[i].name, numbers[i].value, path, error))
      return FALSE;
  return lam_h5_put_int (id, "format_version", 1, path, error)
         && (g->recon_rows <= 0 || lam_h5_put_doubles (id, "recon_shape", shape, 3, path, error));
}

static gboolean
put_part (LamH5File *h5, Part *part, const LamGeometry *g, GError **error)
{
  const int64_t dims[3] = {part->frames, g->rows, g->channels};
  g_auto (LamHid) id = lam_h5_make_float (h5, part->path, 3, dims, error);
  if (id < 0)
    return FALSE;
  part->offset = lam_h5_offset (id);
  if (part->offset < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: HDF5 gave %s no place", h5->path, part->path);
    return FALSE;
  }
  return put_text (id, "units", part->units, h5->path, error)
         && put_text (id, "long_name", part->long_name, h5->path, error)
         && put_text (id, "axes", part->axes, h5->path, error)
         && lam_h5_put_fixed_text (id, "checksum", LAM_CHECKSUM_EMPTY, h5->path, error);
}

static gboolean
lay_out (LamAtomicFile *file, const LamScanData *data, Part *parts, int n, GError **error)
{
  const LamGeometry *g = data->geometry;
  g_autoptr (LamH5File) h5 = lam_h5_create (file->temporary, error);
  if (!h5)
    return FALSE;
  g_free (h5->path);
  h5->path = g_strdup (file->path); /* what messages should name */
  {
    g_auto (LamHid) root = lam_h5_object (h5, "/", NULL, error);
    g_auto (LamHid) group = root < 0 ? -1 : lam_h5_make_group (h5, "/scan", error);
    if (group < 0 || !put_text (root, "format", "lamina-scan-1", h5->path, error)
        || !put_geometry (group, data, h5->path, error))
      return FALSE;
    if (!lam_h5_write_doubles (h5, "/scan/angles", g->angles, g->views, "rad", "rotation angle", error))
      return FALSE;
    if (g->shifts
        && !lam_h5_write_doubles (h5, "/scan/shifts", g->shifts, g->views, g->length_unit,
                                  "shift of source and detector along the axis", error))
      return FALSE;
  }
  for (int i = 0; i < n; i++)
    if (!put_part (h5, &parts[i], g, error))
      return FALSE;
  return lam_h5_close (g_steal_pointer (&h5), error);
}

static gboolean
write_samples (LamAtomicFile *file, Part *part, double from, double to, const LamIoControl *control, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (int64_t at = 0; at < part->bytes; at += PIECE) {
    int64_t n = LAM_MIN (PIECE, part->bytes - at);
    if (!lam_io_control_step (control, from + (to - from) * (double) at / (double) part->bytes, "saving", error)
        || !lam_atomic_pwrite (file, (const char *) part->data + at, n, part->offset + at, error))
      return FALSE;
    g_checksum_update (sum, (const guchar *) part->data + at, n);
  }
  part->checksum = g_strconcat (LAM_CHECKSUM_PREFIX, g_checksum_get_string (sum), NULL);
  return TRUE;
}

static gboolean
put_checksums (LamAtomicFile *file, const Part *parts, int n, GError **error)
{
  g_autoptr (LamH5File) h5 = lam_h5_open_rw (file->temporary, error);
  if (!h5)
    return FALSE;
  for (int i = 0; i < n; i++) {
    g_auto (LamHid) id = lam_h5_object (h5, parts[i].path, NULL, error);
    if (id < 0 || !lam_h5_put_fixed_text (id, "checksum", parts[i].checksum, file->path, error))
      return FALSE;
  }
  return lam_h5_close (g_steal_pointer (&h5), error);
}

static gboolean
write_all (const char *path, const LamScanData *data, Part *parts, int n, int64_t bytes, const LamIoControl *control,
           GError **error)
{
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  int64_t extra =
      OVERHEAD + 16 * data->geometry->views + (data->parameters ? 2 * (int64_t) strlen (data->parameters) : 0);
  if (!file || !lam_atomic_reserve (file, bytes + extra, error) || !lay_out (file, data, parts, n, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    if (!lam_atomic_reserve (file, parts[i].offset + parts[i].bytes, error))
      return FALSE;
  double done = 0;
  for (int i = 0; i < n; i++) {
    double next = done + (double) parts[i].bytes / (double) bytes;
    if (!write_samples (file, &parts[i], done, next, control, error))
      return FALSE;
    done = next;
  }
  return put_checksums (file, parts, n, error) && lam_io_control_step (control, 1, "saving", error)
         && lam_atomic_commit (file, error);
}

gboolean
lam_scan_write (const char *path, const LamScanData *data, const LamIoControl *control, GError **error)
{
  const LamGeometry *g = data->geometry;
  const char *units = data->kind == LAM_SCAN_COUNTS ? "counts" : "1";
  const Part all[MAX_PARTS] = {
      {"/scan/projections", units, data->kind == LAM_SCAN_COUNTS ? "detector counts" : "-log transmission",
       "view,row,channel", data->projections, g->views, 0, 0, NULL},
      {"/scan/flats", "counts", "flat field (no object)", "frame,row,channel", data->flats, data->n_flats, 0, 0, NULL},
      {"/scan/darks", "counts", "dark field (no beam)", "frame,row,channel", data->darks, data->n_darks, 0, 0, NULL},
      {"/scan/weights", "1", "weight of a sample", "view,row,channel", data->weights, g->views, 0, 0, NULL},
  };
  Part parts[MAX_PARTS];
  int n = 0;
  int64_t total = 0, frame = lam_mul_size (lam_mul_size (g->rows, g->channels), sizeof (float));
  for (int i = 0; i < MAX_PARTS; i++)
    if (all[i].data && all[i].frames > 0) {
      parts[n] = all[i];
      parts[n].bytes = lam_mul_size (frame, all[i].frames);
      if (parts[n].bytes <= 0 || __builtin_add_overflow (total, parts[n].bytes, &total)) {
        n = -1;
        break;
      }
      n++;
    }
  if (n < 1 || !data->projections || g->views < 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: a scan of %" G_GINT64_FORMAT " views, %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT
                 " channels cannot be written",
                 path, g->views, g->rows, g->channels);
    return FALSE;
  }
  gboolean ok = write_all (path, data, parts, n, total, control, error);
  for (int i = 0; i < n; i++)
    g_free (parts[i].checksum);
  return ok;
}
