/* prepare-steps.c: the steps of prepare.h on samples. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "ct/weights.h"
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
  g_autofree char *file = params->bad_pixels_from ? g_path_get_basename (params->bad_pixels_from) : NULL;
  g_autofree char *list_text = params->bad_pixels ? g_strdup_printf ("%" G_GINT64_FORMAT " listed%s%s", listed,
                                                                     file ? " in " : "", file ? file : "")
                                                  : NULL;
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

/* ---- tilt ---- */

typedef struct {
  float *data, *weights, *scratch; /* scratch: [threads] views; with weights three times as many */
  const LamGeometry *g;
  double tilt;
  int64_t *outside; /* [views] */
  LamControl *control;
} Turn;

static void
turn_view (int64_t view, int worker, void *data)
{
  const Turn *t = data;
  const LamGeometry *g = t->g;
  LamRange all = {0, g->rows};
  int64_t size = g->rows * g->channels, room = lam_round_up (size, LAM_LANES);
  float *before = t->scratch + worker * room * (t->weights ? 3 : 1), *x = t->data + view * size;
  if (lam_control_cancelled (t->control))
    return;
  memcpy (before, x, (size_t) size * sizeof *x);
  if (t->weights)
    lam_clear_masked (before, t->weights + view * size, size);
  t->outside[view] = lam_rotate_rows (before, all, g->rows, g->channels, t->tilt, LAM_PREPARE_MARGIN, all, x);
  if (!t->weights)
    return;
  /* Samples of weight 0 have no part in the mean that a turned sample is; the weights turn along. */
  float *counts = before + room, *part = counts + room, *w = t->weights + view * size;
  for (int64_t i = 0; i < size; i++)
    counts[i] = w[i] > 0;
  lam_rotate_rows (counts, all, g->rows, g->channels, t->tilt, LAM_PREPARE_MARGIN, all, part);
  for (int64_t i = 0; i < size; i++)
    x[i] = part[i] > 0 ? x[i] / part[i] : 0;
  memcpy (before, w, (size_t) size * sizeof *w);
  lam_rotate_rows (before, all, g->rows, g->channels, t->tilt, LAM_PREPARE_MARGIN, all, w);
}

static gboolean
turn (float *data, float *weights, const LamGeometry *g, double tilt, GPtrArray *log, LamControl *control,
      GError **error)
{
  int64_t size = lam_round_up (g->rows * g->channels, LAM_LANES) * (weights ? 3 : 1),
          threads = lam_pool_threads (lam_pool_shared ());
  int64_t *outside = lam_alloc_n (g->views, sizeof *outside, "detector tilt", error);
  float *scratch =
      outside ? lam_alloc_n (threads, size * (int64_t) sizeof *scratch, "detector tilt: views", error) : NULL;
  Turn t = {data, weights, scratch, g, tilt, outside, control};
  gboolean ok = scratch != NULL;
  if (ok) {
    lam_pool_for (lam_pool_shared (), g->views, turn_view, &t, NULL);
    ok = lam_control_go_on (control, error);
  }
  if (ok && outside[0] > 0)
    say (log,
         "detector turned by %.6g degrees; %" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT
         " samples of each view came from outside it and are 0",
         tilt * 180 / G_PI, outside[0], g->rows * g->channels);
  else if (ok)
    say (log, "detector turned by %.6g degrees", tilt * 180 / G_PI);
  lam_free (outside);
  lam_free (scratch);
  return ok;
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
  /* While each sample is still where it is in the file. */
  g_autofree char *data_name = g_strdup_printf ("dataset %s", scan->data_path);
  g_autofree char *weights_name = g_strdup_printf ("dataset %s", scan->weights_path ? scan->weights_path : "weights");
  LamSampleNames names = {data_name, weights_name, lam_prepare_rows (params, scan).begin};
  if (!lam_check_sinogram (*data, *weights, &names, g->views, rows, channels, error)) {
    g_prefix_error (error, "%s: ", scan->path);
    return FALSE;
  }
  /* A mean leaves out what is no number. */
  for (int64_t i = 0; *weights && params->bin > 1 && i < g->views * rows * channels; i++)
    if ((*weights)[i] == 0)
      (*data)[i] = NAN;
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
  if (*weights)
    lam_clear_masked (*data, *weights, g->views * g->rows * g->channels);
  if (params->tilt != 0 && !turn (*data, *weights, g, params->tilt, log, control, error))
    return FALSE;
  gboolean more = params->background != LAM_PREPARE_BACKGROUND_NONE || params->zingers > 0
                  || params->stripes.kind != LAM_STRIPES_NONE;
  if (!more)
    return TRUE;
  return (params->background == LAM_PREPARE_BACKGROUND_NONE || take_background (*data, g, params, log, error))
         && lam_control_go_on (control, error)
         && (!(params->zingers > 0) || take_zingers (*data, g, params, log, error))
         && lam_control_go_on (control, error)
         && (params->stripes.kind == LAM_STRIPES_NONE || take_stripes (*data, g, params, log, control, error));
}
