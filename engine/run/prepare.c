/* prepare.c: the parameters: whether they can be, and what follows from sizes alone. */
#include "run/prepare.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/prepare-private.h"

static const char *const background_names[] = {"none", "global", "per-view"};

const char *
lam_prepare_background_name (LamPrepareBackground background)
{
  return (unsigned) background < LAM_PREPARE_BACKGROUND_COUNT ? background_names[background] : NULL;
}

gboolean
lam_prepare_background_from_name (const char *name, LamPrepareBackground *background, GError **error)
{
  for (int i = 0; i < LAM_PREPARE_BACKGROUND_COUNT; i++)
    if (g_strcmp0 (name, background_names[i]) == 0) {
      *background = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "background \"%s\": unknown; use none, global or per-view",
               name ? name : "");
  return FALSE;
}

gboolean
lam_prepare_weights_from_name (const char *name, LamPrepareParams *params, GError **error)
{
  gboolean automatic = g_strcmp0 (name, "auto") == 0;
  params->made_weights = LAM_WEIGHTS_UNWEIGHTED;
  if (automatic || g_strcmp0 (name, "given") == 0) {
    params->weights = automatic ? LAM_PREPARE_WEIGHTS_AUTO : LAM_PREPARE_WEIGHTS_GIVEN;
    return TRUE;
  }
  params->weights = LAM_PREPARE_WEIGHTS_MADE;
  if (lam_weights_from_name (name, &params->made_weights, NULL))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "weights \"%s\": unknown; use auto, given, unweighted, transmission, transmission_root or emission",
               name ? name : "");
  return FALSE;
}

void
lam_prepare_params_init (LamPrepareParams *params)
{
  memset (params, 0, sizeof *params);
  params->bin = 1;
  params->bad_pixel_sigmas = LAM_BAD_PIXEL_SIGMAS;
  params->edge_width = 9;
  lam_transmission_options_init (&params->transmission);
  lam_stripe_options_init (&params->stripes);
}

void
lam_prepare_params_copy (const LamPrepareParams *from, LamPrepareParams *to)
{
  *to = *from;
  if (to->bad_pixels)
    g_bytes_ref (to->bad_pixels);
  to->bad_pixels_from = g_strdup (from->bad_pixels_from);
}

void
lam_prepare_params_clear (LamPrepareParams *params)
{
  g_clear_pointer (&params->bad_pixels, g_bytes_unref);
  g_clear_pointer (&params->bad_pixels_from, g_free);
}

void
lam_prepare_params_set (LamPrepareParams *to, const LamPrepareParams *from)
{
  LamPrepareParams old = *to;
  lam_prepare_params_copy (from, to);
  lam_prepare_params_clear (&old);
}

/* ---- lists of bad pixels ---- */

/* Nobody wrote more by hand, and a scan taken for a list must not fill the memory. */
#define LIST_BYTES (INT64_C (64) << 20)

LamBadPixels *
lam_prepare_read_bad_pixels (const char *path, GError **error)
{
  LamFileStamp stamp;
  gsize length = 0;
  g_autofree char *text = NULL, *name = g_filename_display_name (path);
  g_autoptr (GError) reason = NULL;
  if (!lam_file_stamp (path, &stamp, error))
    return NULL;
  if (stamp.size <= LIST_BYTES && !g_file_get_contents (path, &text, &length, &reason)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s", reason->message);
    return NULL;
  }
  if (!text || strlen (text) != length || !g_utf8_validate (text, -1, NULL)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s is no list of bad pixels: a text was expected, with a detector row and a channel on each line, "
                 "counted from 0",
                 name);
    return NULL;
  }
  return lam_bad_pixels_parse (text, name, error);
}

gboolean
lam_prepare_params_resolve (LamPrepareParams *params, GError **error)
{
  if (!params->bad_pixels_from || params->bad_pixels)
    return TRUE;
  params->bad_pixels = lam_prepare_read_bad_pixels (params->bad_pixels_from, error);
  return params->bad_pixels != NULL;
}

static gboolean
same_range (LamRange a, LamRange b)
{
  return a.begin == b.begin && a.end == b.end;
}

gboolean
lam_prepare_params_equal (const LamPrepareParams *a, const LamPrepareParams *b)
{
  int64_t na, nb;
  const int32_t *x = lam_bad_pixels_data (a->bad_pixels, &na), *y = lam_bad_pixels_data (b->bad_pixels, &nb);
  gboolean same_list =
      g_strcmp0 (a->bad_pixels_from, b->bad_pixels_from) == 0
      && (a->bad_pixels_from || (na == nb && (na == 0 || memcmp (x, y, (size_t) na * 2 * sizeof *x) == 0)));
  const LamTransmissionOptions *s = &a->transmission, *t = &b->transmission;
  return same_range (a->rows, b->rows) && same_range (a->crop_rows, b->crop_rows)
         && same_range (a->crop_channels, b->crop_channels) && a->bin == b->bin && s->policy == t->policy
         && s->passes == t->passes && !s->clamp_above == !t->clamp_above && !s->magnitude == !t->magnitude
         && !a->find_bad_pixels == !b->find_bad_pixels && a->bad_pixel_sigmas == b->bad_pixel_sigmas && same_list
         && a->tilt == b->tilt && a->background == b->background && a->edge_width == b->edge_width
         && a->zingers == b->zingers && a->stripes.kind == b->stripes.kind && a->stripes.snr == b->stripes.snr
         && a->stripes.large == b->stripes.large && a->stripes.small == b->stripes.small
         && a->stripes.sigma == b->stripes.sigma && a->stripes.levels == b->stripes.levels && a->weights == b->weights
         && a->made_weights == b->made_weights;
}

/* ---- what is read, and what is kept of it ---- */

static LamRange
all_or (LamRange range, int64_t n)
{
  return range.begin == 0 && range.end == 0 ? (LamRange){0, n} : range;
}

LamRange
lam_prepare_rows (const LamPrepareParams *params, const LamScan *scan)
{
  LamRange rows = params->rows.begin == 0 && params->rows.end == 0 ? scan->rows : params->rows;
  LamRange crop = all_or (params->crop_rows, scan->file_rows);
  return (LamRange){LAM_MAX (rows.begin, crop.begin), LAM_MIN (rows.end, crop.end)};
}

static LamRange
kept_channels (const LamPrepareParams *params, const LamScan *scan)
{
  return all_or (params->crop_channels, scan->geometry->channels);
}

double
lam_prepare_file_channel (const LamPrepareParams *params, double channel)
{
  double bin = (double) LAM_MAX (params->bin, 1);
  return (double) params->crop_channels.begin + channel * bin + 0.5 * (bin - 1);
}

static gboolean
inside (const char *what, LamRange r, int64_t n, const LamScan *scan, GError **error)
{
  if (r.begin >= 0 && r.end <= n && r.begin < r.end)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " of %s: it has %" G_GINT64_FORMAT ", so 0:%" G_GINT64_FORMAT
               " is the whole",
               what, r.begin, r.end, scan->path, n, n);
  return FALSE;
}

static gboolean
check_number (const char *what, double x, double low, double high, GError **error)
{
  if (x >= low && x <= high)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s %g: expected %g to %g", what, x, low, high);
  return FALSE;
}

gboolean
lam_prepare_params_check (const LamPrepareParams *params, const LamScan *scan, GError **error)
{
  LamRange asked = params->rows.begin == 0 && params->rows.end == 0 ? scan->rows : params->rows;
  LamRange rows = lam_prepare_rows (params, scan), channels = kept_channels (params, scan);
  if (!inside ("detector rows", asked, scan->file_rows, scan, error)
      || !inside ("crop: detector rows", all_or (params->crop_rows, scan->file_rows), scan->file_rows, scan, error)
      || !inside ("crop: detector channels", channels, scan->geometry->channels, scan, error))
    return FALSE;
  if (lam_range_size (rows) == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "crop: rows %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT " lie outside rows %" G_GINT64_FORMAT
                 ":%" G_GINT64_FORMAT ", which were asked for",
                 params->crop_rows.begin, params->crop_rows.end, asked.begin, asked.end);
    return FALSE;
  }
  if (params->bin < 1 || params->bin > lam_range_size (rows) || params->bin > lam_range_size (channels)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "bin %" G_GINT64_FORMAT ": expected 1 to %" G_GINT64_FORMAT ": there are %" G_GINT64_FORMAT
                 " rows and %" G_GINT64_FORMAT " channels",
                 params->bin, LAM_MIN (lam_range_size (rows), lam_range_size (channels)), lam_range_size (rows),
                 lam_range_size (channels));
    return FALSE;
  }
  if (!check_number ("detector tilt", params->tilt, -G_PI, G_PI, error)
      || (params->background != LAM_PREPARE_BACKGROUND_NONE
          && !check_number ("background: width of the edges", (double) params->edge_width, 1, 1e9, error))
      || !check_number ("zingers: ratio", params->zingers, 0, 1000, error)
      || !lam_bad_pixels_check (params->bad_pixels, scan->file_rows, scan->geometry->channels, error)
      || (params->find_bad_pixels && !check_number ("bad pixels: sigmas", params->bad_pixel_sigmas, 1, 1000, error)))
    return FALSE;
  if (params->find_bad_pixels && (scan->kind != LAM_SCAN_COUNTS || scan->flats == 0)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "bad pixels are found from flats and darks, and %s has none: give a list of them, or none",
                 scan->path);
    return FALSE;
  }
  if (params->weights == LAM_PREPARE_WEIGHTS_GIVEN && !scan->has_weights) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "weights \"given\": %s has none of its own; use auto, unweighted, transmission, transmission_root or "
                 "emission",
                 scan->path);
    return FALSE;
  }
  return lam_stripe_options_check (&params->stripes, scan->geometry->views, lam_range_size (channels) / params->bin,
                                   error);
}

/* ---- geometry ---- */

gboolean
lam_prepare_follow (LamGeometry *g, const LamPrepareParams *params, const LamScan *scan, GError **error)
{
  LamRange rows = lam_prepare_rows (params, scan), channels = kept_channels (params, scan);
  double row_pitch = g->row_pitch, channel_pitch = g->channel_pitch;
  gboolean whole = lam_range_size (channels) == g->channels && params->bin == 1
                   && lam_range_size (rows) == lam_range_size (scan->rows);
  if (!lam_geometry_crop (g, (LamRange){0, g->rows}, channels, error)
      || (params->bin > 1 && !lam_geometry_bin (g, params->bin, params->bin, error)))
    return FALSE;
  if (!whole)
    g->recon_rows = g->recon_columns = g->recon_slices = 0;
  if (params->tilt == 0)
    return TRUE;
  /* Turned about another point than the whole detector's middle, the axis comes to lie elsewhere: see prepare.h. With d from
   * that middle to this one, it moves by d - R^-1 d. */
  double dm = (double) rows.begin + 0.5 * (double) (g->rows * params->bin - 1) - 0.5 * (double) (scan->file_rows - 1);
  double dn = (double) channels.begin + 0.5 * (double) (g->channels * params->bin - 1)
              - 0.5 * (double) (scan->geometry->channels - 1);
  double c = cos (params->tilt), s = sin (params->tilt);
  g->row_offset += (dm - (c * dm - s * dn)) * row_pitch;
  g->channel_offset += (dn - (s * dm + c * dn)) * channel_pitch;
  return TRUE;
}

static gboolean
crop_rows (LamGeometry *g, const LamPrepareParams *params, const LamScan *scan, GError **error)
{
  LamRange rows = lam_prepare_rows (params, scan);
  if (lam_range_size (rows) == g->rows)
    return TRUE;
  return lam_geometry_crop (g, (LamRange){rows.begin - scan->rows.begin, rows.end - scan->rows.begin},
                            (LamRange){0, g->channels}, error);
}

LamGeometry *
lam_prepare_geometry (const LamPrepareParams *params, const LamScan *scan, GError **error)
{
  if (!lam_prepare_params_check (params, scan, error))
    return NULL;
  g_autoptr (LamGeometry) g = lam_geometry_try_copy (scan->geometry, error);
  if (!g || !crop_rows (g, params, scan, error) || !lam_prepare_follow (g, params, scan, error))
    return NULL;
  return g_steal_pointer (&g);
}

gboolean
lam_prepare_weighted (const LamPrepareParams *params, const LamScan *scan)
{
  return scan->has_weights || params->made_weights != LAM_WEIGHTS_UNWEIGHTED
         || (scan->kind == LAM_SCAN_COUNTS && params->transmission.policy == LAM_DEFECT_MASK);
}

/* ---- memory ---- */

int64_t
lam_prepare_bytes (const LamPrepareParams *params, const LamScan *scan, int threads)
{
  int64_t views = scan->geometry->views, rows = lam_range_size (lam_prepare_rows (params, scan));
  int64_t channels = lam_range_size (kept_channels (params, scan)), bin = LAM_MAX (params->bin, 1);
  gboolean cut = bin > 1 || channels < scan->geometry->channels;
  int64_t r = rows / bin, c = channels / bin, view = lam_mul_size (r, c);
  /* The smaller copy; a view for each thread that turns; offsets and one view in double; the stripes' own. */
  int64_t small = cut ? lam_mul_size (lam_mul_size (views, view), 4) : 0;
  int64_t turning = params->tilt != 0 ? lam_mul_size (lam_mul_size (view, 4), threads) : 0;
  int64_t offsets = params->background != LAM_PREPARE_BACKGROUND_NONE ? lam_mul_size (view + views, 8) : 0;
  int64_t zingers = params->zingers > 0 ? lam_mul_size (view, 4) : 0;
  int64_t stripes = lam_stripe_bytes (&params->stripes, views, r, c, threads);
  if (view < 0 || small < 0 || turning < 0 || offsets < 0 || stripes < 0)
    return -1;
  return LAM_MAX (LAM_MAX (small, turning), LAM_MAX (LAM_MAX (offsets, zingers), stripes));
}
