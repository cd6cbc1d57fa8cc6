#include "config.h"

#include "cli/prepare-options.h"

#include <glib/gi18n.h>
#include <string.h>

#include "cli/common.h"
#include "core/error.h"

static char *crop, *background, *zingers, *stripes, *stripe_snr, *stripe_size, *stripe_sigma;
static char **bad_pixels;

const GOptionEntry lam_cli_correct_entries[] = {
    {"crop", 0, 0, G_OPTION_ARG_STRING, &crop, N_ ("Keep these detector rows and channels; an empty part keeps all"),
     "ROW0:ROW1,CH0:CH1"},
    {"bad-pixels", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &bad_pixels,
     N_ ("Detector pixels to leave out: found from flats and darks, or listed in FILE, \"row channel\" on each line; "
         "may "
         "be given twice"),
     "auto|none|FILE"},
    {"background", 0, 0, G_OPTION_ARG_STRING, &background,
     N_ ("Take off what is read beside the object: none, global or per-view"), "KIND"},
    {"zingers", 0, 0, G_OPTION_ARG_STRING, &zingers,
     N_ ("Fill samples further below 0 than RATIO times the object's rms (0.1; 0: none)"), "RATIO"},
    {"stripes", 0, 0, G_OPTION_ARG_STRING, &stripes, N_ ("Remove stripes, which make rings: none, sorting or wavelet"),
     "KIND"},
    {"stripe-snr", 0, 0, G_OPTION_ARG_STRING, &stripe_snr, N_ ("Sorting: stripes stand out of the noise so far (3)"),
     "X"},
    {"stripe-size", 0, 0, G_OPTION_ARG_STRING, &stripe_size,
     N_ ("Sorting: channels of the medians for large and small stripes (61:21)"), "LARGE[:SMALL]"},
    {"stripe-sigma", 0, 0, G_OPTION_ARG_STRING, &stripe_sigma, N_ ("Wavelet: width of the damping (2)"), "X"},
    {NULL},
};

gboolean
lam_cli_correct_given (void)
{
  return crop || background || zingers || stripes || stripe_snr || stripe_size || stripe_sigma || bad_pixels;
}

static gboolean
read_crop (LamPrepareParams *k, GError **error)
{
  if (!crop)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (crop, ",", -1);
  guint n = g_strv_length (parts);
  if (n < 1 || n > 2) {
    lam_cli_usage_error (error, _ ("--crop %s: expected ROW0:ROW1,CH0:CH1, of which one part may be empty"), crop);
    return FALSE;
  }
  return (*parts[0] == '\0' || lam_cli_range ("--crop", parts[0], &k->crop_rows, error))
         && (n < 2 || *parts[1] == '\0' || lam_cli_range ("--crop", parts[1], &k->crop_channels, error));
}

static gboolean
read_list (LamPrepareParams *k, const char *path, GError **error)
{
  g_autoptr (GBytes) list = lam_prepare_read_bad_pixels (path, error);
  LamBadPixels *all = list ? lam_bad_pixels_union (k->bad_pixels, list, error) : NULL;
  if (!all) {
    g_prefix_error (error, "--bad-pixels: ");
    return FALSE;
  }
  char *before = k->bad_pixels_from;
  k->bad_pixels_from = before ? g_strconcat (before, ", ", path, NULL) : g_strdup (path);
  g_free (before);
  g_clear_pointer (&k->bad_pixels, g_bytes_unref);
  k->bad_pixels = all;
  return TRUE;
}

static gboolean
read_bad_pixels (LamPrepareParams *k, GError **error)
{
  gboolean none = FALSE;
  guint n = bad_pixels ? g_strv_length (bad_pixels) : 0;
  for (guint i = 0; i < n; i++) {
    if (g_str_equal (bad_pixels[i], "none"))
      none = TRUE;
    else if (g_str_equal (bad_pixels[i], "auto"))
      k->find_bad_pixels = TRUE;
    else if (!read_list (k, bad_pixels[i], error))
      return FALSE;
  }
  if (!none || n == 1)
    return TRUE;
  lam_cli_usage_error (error, _ ("--bad-pixels none: says the opposite of the other --bad-pixels"));
  return FALSE;
}

static gboolean
read_stripes (LamStripeOptions *o, GError **error)
{
  static const char *const kinds[] = {"none", "sorting", "wavelet", NULL};
  int kind = LAM_STRIPES_NONE;
  if (!lam_cli_choice ("--stripes", stripes, kinds, &kind, error)
      || !lam_cli_double ("--stripe-snr", stripe_snr, 0.1, 1000, &o->snr, error)
      || !lam_cli_double ("--stripe-sigma", stripe_sigma, 1e-3, 1e6, &o->sigma, error))
    return FALSE;
  o->kind = kind;
  if (stripe_size) {
    g_auto (GStrv) parts = g_strsplit (stripe_size, ":", -1);
    guint n = g_strv_length (parts);
    if (n < 1 || n > 2) {
      lam_cli_usage_error (error, _ ("--stripe-size %s: expected LARGE or LARGE:SMALL"), stripe_size);
      return FALSE;
    }
    if (!lam_cli_int ("--stripe-size", parts[0], 1, 100001, &o->large, error)
        || (n == 2 && !lam_cli_int ("--stripe-size", parts[1], 1, 100001, &o->small, error)))
      return FALSE;
  }
  const char *needs = (stripe_snr || stripe_size) && o->kind != LAM_STRIPES_SORTING ? "sorting"
                      : stripe_sigma && o->kind != LAM_STRIPES_WAVELET              ? "wavelet"
                                                                                    : NULL;
  if (!needs)
    return TRUE;
  lam_cli_usage_error (error, _ ("%s: is for --stripes %s"),
                       stripe_sigma && *needs == 'w' ? "--stripe-sigma"
                       : stripe_snr                  ? "--stripe-snr"
                                                     : "--stripe-size",
                       needs);
  return FALSE;
}

gboolean
lam_cli_correct_options (LamPrepareParams *k, GError **error)
{
  static const char *const kinds[] = {"none", "global", "per-view", NULL};
  int kind = LAM_PREPARE_BACKGROUND_NONE;
  if (!read_crop (k, error) || !lam_cli_choice ("--background", background, kinds, &kind, error)
      || !lam_cli_double ("--zingers", zingers, 0, 1000, &k->zingers, error) || !read_stripes (&k->stripes, error)
      || !read_bad_pixels (k, error))
    return FALSE;
  k->background = kind;
  return TRUE;
}
