/* scan-read.c: the samples of an opened scan. */
#include "core/error.h"
#include "core/memory.h"
#include "io/scan-private.h"

/* How far a read has come: samples done of all. */
typedef struct {
  double done, all;
} Share;

static gboolean
read_frames (LamH5File *h5, const char *path, LamRange frames, LamRange rows, int64_t channels, float *out,
             Share *share, const char *what, const LamIoControl *control, GError **error)
{
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (h5, path, error);
  if (!d || !lam_h5_dataset_require (d, d->rank == 2 ? 2 : 3, error))
    return FALSE;
  int64_t start[3] = {frames.begin, rows.begin, 0},
          count[3] = {lam_range_size (frames), lam_range_size (rows), channels};
  int skip = d->rank == 2; /* one frame without an axis for it */
  double from = share->done / share->all;
  share->done += (double) lam_range_size (frames);
  return lam_h5_read_float (d, start + skip, count + skip, out, control, from, share->done / share->all, what, error);
}

static gboolean
read_part (LamScan *s, LamRange views, LamRange rows, float *projections, float *flats, float *darks, float *weights,
           const LamIoControl *control, GError **error)
{
  const LamGeometry *g = s->geometry;
  if (rows.begin == 0 && rows.end == 0)
    rows = s->rows;
  if (rows.begin < 0 || rows.end <= rows.begin || rows.end > s->file_rows) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: rows %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                 " asked for, but the scan has rows 0:%" G_GINT64_FORMAT,
                 s->path, rows.begin, rows.end, s->file_rows);
    return FALSE;
  }
  if (s->missing_angles) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "%s: the file has no angles; give them with --angles START:STOP (degrees, for example 0:180)",
                 s->path);
    return FALSE;
  }
  if (weights && !s->has_weights) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s: the file has no weights", s->path);
    return FALSE;
  }
  if (!lam_scan_unchanged (s, error))
    return FALSE;
  g_autoptr (LamH5File) h5 = lam_h5_open (s->path, error);
  if (!h5)
    return FALSE;
  const struct {
    float *out;
    const char *path, *what;
    LamRange frames;
  } parts[] = {
      {projections, s->data_path, "projections", views},
      {flats, s->flats_path, "flats", {0, s->flats}},
      {darks, s->darks_path, "darks", {0, s->darks}},
      {weights, s->weights_path, "weights", views},
  };
  Share share = {0, 0};
  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    share.all += parts[i].out ? (double) lam_range_size (parts[i].frames) : 0;
  for (size_t i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].out && lam_range_size (parts[i].frames) > 0
        && !read_frames (h5, parts[i].path, parts[i].frames, rows, g->channels, parts[i].out, &share, parts[i].what,
                         control, error))
      return FALSE;
  return lam_scan_unchanged (s, error);
}

gboolean
lam_scan_read (LamScan *s, LamRange rows, float *projections, float *flats, float *darks, float *weights,
               const LamIoControl *control, GError **error)
{
  return read_part (s, (LamRange){0, s->geometry->views}, rows, projections, flats, darks, weights, control, error);
}

gboolean
lam_scan_read_views (LamScan *s, LamRange views, LamRange rows, float *projections, const LamIoControl *control,
                     GError **error)
{
  if (views.begin >= 0 && views.end > views.begin && views.end <= s->geometry->views)
    return read_part (s, views, rows, projections, NULL, NULL, NULL, control, error);
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s: views %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
               " asked for, but the scan has views 0:%" G_GINT64_FORMAT,
               s->path, views.begin, views.end, s->geometry->views);
  return FALSE;
}
