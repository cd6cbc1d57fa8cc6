/* prepare-steps.c: the steps of prepare.h on samples. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/prepare-private.h"

static void G_GNUC_PRINTF (2, 3) say (GPtrArray *log, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  if (log)
    g_ptr_array_add (log, g_strdup_vprintf (format, args));
  va_end (args);
}

/* ---- bad pixels ---- */

LamBadPixels *
lam_prepare_bad_pixels (const LamPrepareParams *params, const LamScan *scan, const float *flat, const float *dark,
                        GPtrArray *log, GError **error)
{
  LamRange rows = lam_prepare_rows (params, scan), channels = {0, scan->geometry->channels};
  LamBadPixelCounts counts = {0};
  int64_t listed, all;
  if (!params->find_bad_pixels && !params->bad_pixels)
    return NULL;
  g_autoptr (GBytes) given = lam_bad_pixels_crop (params->bad_pixels, rows, channels, error), found = NULL;
  if (!given)
    return NULL;
  if (params->find_bad_pixels
      && !(found = lam_bad_pixels_find (flat, dark, lam_range_size (rows), channels.end, params->bad_pixel_sigmas,
                                        &counts, error))) {
    g_prefix_error (error, "%s: ", scan->path);
    return NULL;
  }
  LamBadPixels *list = lam_bad_pixels_union (given, found, error);
  if (!list)
    return NULL;
  lam_bad_pixels_data (given, &listed);
  lam_bad_pixels_data (list, &all);
  g_autofree char *search =
      params->find_bad_pixels
          ? g_strdup_printf ("%" G_GINT64_FORMAT " dead and %" G_GINT64_FORMAT " hot found at %g sigmas", counts.dead,
                             counts.hot, params->bad_pixel_sigmas)
          : NULL;
  g_autofree char *list_text = params->bad_pixels ? g_strdup_printf ("%" G_GINT64_FORMAT " listed", listed) : NULL;
  say (log, "bad pixels: %s%s%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " in all", search ? search : "",
       search && list_text ? ", " : "", list_text ? list_text : "", all, lam_range_size (rows) * channels.end);
  return list;
}

gboolean
lam_prepare_fill_listed (float *data, int64_t views, int64_t rows, int64_t channels, LamBadPixels *list, int passes,
                         int64_t *filled, GError **error)
{
  int64_t n, size = rows * channels, left;
  const int32_t *p = lam_bad_pixels_data (list, &n);
  float *scratch = lam_alloc_n (size, sizeof *scratch, "bad pixels: one view", error);
  if (!scratch)
    return FALSE;
  *filled = n * views;
  for (int64_t v = 0; v < views && n > 0; v++) {
    for (int64_t i = 0; i < n; i++)
      data[v * size + p[2 * i] * channels + p[2 * i + 1]] = NAN;
    lam_fill_defects (data + v * size, rows, channels, passes, scratch, &left);
  }
  lam_free (scratch);
  return TRUE;
}

/* ---- crop and bin ---- */

gboolean
lam_prepare_cut (float **data, int64_t views, int64_t *rows, int64_t *channels, LamRange keep, int64_t bin,
                 GError **error)
{
  float *x = *data;
  int64_t n = lam_range_size (keep), lines = views * *rows;
  if (n == *channels && bin == 1)
    return TRUE;
  if (n < *channels)
    for (int64_t l = 0; l < lines; l++)
      memmove (x + l * n, x + l * *channels + keep.begin, (size_t) n * sizeof *x);
  *channels = n;
  if (bin > 1) {
    if (!lam_bin (x, views, *rows, n, bin, bin, x, error))
      return FALSE;
    *rows /= bin;
    *channels /= bin;
  }
  float *small = lam_alloc_n (views * *rows * *channels, sizeof *x, "cropped or binned samples", error);
  if (!small)
    return FALSE;
  memcpy (small, x, (size_t) (views * *rows * *channels) * sizeof *x);
  lam_free (x);
  *data = small;
  return TRUE;
}

/* ---- tilt, cut by views over the pool ---- */

typedef struct {
  float *data;
  int64_t views, rows, channels, each;
  double tilt;
  LamControl *control;
  GError **errors; /* [pieces] */
} Turn;

static void
turn_piece (int64_t index, int worker, void *data)
{
  const Turn *t = data;
  int64_t first = index * t->each, n = LAM_MIN (t->each, t->views - first);
  lam_rotate_detector (t->data + first * t->rows * t->channels, n, t->rows, t->channels, t->tilt, t->control,
                       &t->errors[index]);
}

static gboolean
turn (float *data, const LamGeometry *g, double tilt, LamControl *control, GError **error)
{
  int64_t pieces = LAM_MIN (g->views, 4 * (int64_t) lam_pool_threads (lam_pool_shared ()));
  int64_t each = (g->views + pieces - 1) / pieces;
  pieces = (g->views + each - 1) / each;
  g_autofree GError **errors = g_new0 (GError *, pieces);
  Turn t = {data, g->views, g->rows, g->channels, each, tilt, control, errors};
  gboolean ok = TRUE;
  lam_pool_for (lam_pool_shared (), pieces, turn_piece, &t, NULL);
  for (int64_t i = 0; i < pieces; i++)
    if (errors[i] && ok) {
      ok = FALSE;
      g_propagate_error (error, errors[i]);
    } else
      g_clear_error (&errors[i]);
  return ok && lam_control_go_on (control, error);
}

/* ---- offsets and stripes ---- */

static gboolean
take_background (float *data, const LamGeometry *g, const LamPrepareParams *params, GPtrArray *log, GError **error)
{
  double removed;
  gboolean global = params->background == LAM_PREPARE_BACKGROUND_GLOBAL;
  if (!lam_remove_background (data, g->views, g->rows, g->channels, params->edge_width,
                              global ? LAM_BACKGROUND_GLOBAL : LAM_BACKGROUND_PER_VIEW, &removed, error))
    return FALSE;
  say (log, global ? "background: %.6g taken off all views" : "background: taken off each view, at most %.6g", removed);
  return TRUE;
}

static gboolean
take_zingers (float *data, const LamGeometry *g, const LamPrepareParams *params, GPtrArray *log, GError **error)
{
  int64_t count;
  if (!lam_remove_zingers (data, g, params->zingers, 3, &count, error))
    return FALSE;
  say (log,
       "zingers: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
       " samples below -%g times the object's rms, filled from their neighbours",
       count, g->views * g->rows * g->channels, params->zingers);
  return TRUE;
}

static gboolean
take_stripes (float *data, const LamGeometry *g, const LamPrepareParams *params, GPtrArray *log, LamControl *control,
              GError **error)
{
  LamStripeReport r;
  const LamStripeOptions *o = &params->stripes;
  if (!lam_remove_stripes (data, g->views, g->rows, g->channels, o, &r, control, error))
    return FALSE;
  if (o->kind == LAM_STRIPES_SORTING)
    say (log,
         "stripes (sorting, signal to noise %g, medians of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
         "): of %" G_GINT64_FORMAT " channels in %" G_GINT64_FORMAT " rows %" G_GINT64_FORMAT
         " were dead or fluctuating and %" G_GINT64_FORMAT " had a large stripe; rms change %.4g",
         o->snr, o->large, o->small, g->rows * g->channels, g->rows, r.dead, r.large, r.change);
  else
    say (log, "stripes (wavelet, sigma %g, %" G_GINT64_FORMAT " levels): rms change %.4g in %" G_GINT64_FORMAT " rows",
         o->sigma, o->levels ? o->levels : lam_stripe_levels (g->views, g->rows, g->channels), r.change, g->rows);
  return TRUE;
}

gboolean
lam_prepare_apply (float **data, float **weights, LamGeometry *g, const LamPrepareParams *params, const LamScan *scan,
                   GPtrArray *log, LamControl *control, GError **error)
{
  int64_t rows = g->rows, channels = g->channels, wr = rows, wc = channels;
  LamRange keep = params->crop_channels;
  gboolean cropped = keep.end > keep.begin || params->crop_rows.end > params->crop_rows.begin;
  if (keep.end <= keep.begin)
    keep = (LamRange){0, channels};
  lam_control_progress (control, "preparing", 0, 1);
  if (!lam_prepare_cut (data, g->views, &rows, &channels, keep, params->bin, error)
      || (*weights && !lam_prepare_cut (weights, g->views, &wr, &wc, keep, params->bin, error))
      || !lam_prepare_follow (g, params, scan, error))
    return FALSE;
  if (cropped) {
    LamRange r = lam_prepare_rows (params, scan);
    say (log,
         "cropped to rows %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " and channels %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
         " of the detector",
         r.begin, r.end, keep.begin, keep.end);
  }
  if (params->bin > 1)
    say (log, "binned by %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT " channels", params->bin,
         g->rows, g->channels);
  if (params->tilt != 0) {
    if (!turn (*data, g, params->tilt, control, error))
      return FALSE;
    say (log, "detector turned by %.6g degrees", params->tilt * 180 / G_PI);
  }
  gboolean more = params->background != LAM_PREPARE_BACKGROUND_NONE || params->zingers > 0
                  || params->stripes.kind != LAM_STRIPES_NONE;
  if (!more)
    return TRUE;
  /* These look at all samples: one that is no number would spread. */
  if (!lam_check_sinogram (*data, *weights, g->views, g->rows, g->channels, error)) {
    g_prefix_error (error, "%s: ", scan->path);
    return FALSE;
  }
  if (*weights)
    lam_clear_masked (*data, *weights, g->views * g->rows * g->channels);
  return (params->background == LAM_PREPARE_BACKGROUND_NONE || take_background (*data, g, params, log, error))
         && lam_control_go_on (control, error)
         && (!(params->zingers > 0) || take_zingers (*data, g, params, log, error))
         && lam_control_go_on (control, error)
         && (params->stripes.kind == LAM_STRIPES_NONE || take_stripes (*data, g, params, log, control, error));
}
