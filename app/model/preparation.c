#include "config.h"

#include "model/preparation.h"

#include <glib/gi18n.h>

const char *const lam_preparation_ids[] = {
    "defects",           "clamp_above",   "bad_pixels", "bad_pixel_sigmas", "bad_pixel_list", "background",
    "edge_width",        "zingers",       "stripes",    "stripe_snr",       "stripe_large",   "stripe_small",
    "stripe_sigma",      "stripe_levels", "crop",       "crop_row_first",   "crop_row_last",  "crop_channel_first",
    "crop_channel_last", "bin",           NULL};

gboolean
lam_preparation_is_id (const char *id)
{
  return g_str_equal (id, "weights") || g_strv_contains (lam_preparation_ids, id);
}

static LamParameter *
find (LamParameterList *list, const char *id)
{
  return lam_parameter_list_find (list, id);
}

static gboolean
chosen (LamParameterList *list, const char *id, const char *choice)
{
  return g_str_equal (lam_parameter_get_text (find (list, id)), choice);
}

static LamParameter *
add (LamParameterList *list, LamParameter *parameter, const char *edit_name, const char *help)
{
  lam_parameter_set_edit_name (parameter, edit_name);
  lam_parameter_set_help (parameter, help);
  return lam_parameter_list_add (list, parameter);
}

static void
add_samples (LamParameterList *list)
{
  const LamParameterChoice defects[] = {{"interpolate", _ ("Fill")}, {"mask", _ ("Mask")}, {NULL}};
  const LamParameterChoice bad[] = {{"none", _ ("Keep")}, {"automatic", _ ("Automatic")}, {NULL}};
  const LamParameterChoice backgrounds[] = {
      {"none", _ ("None")}, {"global", _ ("Global")}, {"per-view", _ ("Per view")}, {NULL}};
  add (list, lam_parameter_new_choice ("defects", _ ("Without −log"), defects, "interpolate"),
       _ ("Set Samples Without −log"),
       _ ("Counts at or below the dark have no −log: filled from their neighbours, or given no weight"));
  add (list, lam_parameter_new_switch ("clamp_above", _ ("Clamp above 1"), FALSE), _ ("Clamp Transmission"),
       _ ("Transmission above 1 becomes 1; else it is kept, as a −log below 0"));
  add (list, lam_parameter_new_choice ("bad_pixels", _ ("Bad pixels"), bad, "none"), _ ("Set Bad Pixels"),
       _ ("Automatic: dead and hot pixels are found from flats and darks, and not used"));
  LamParameter *p =
      add (list, lam_parameter_new_number ("bad_pixel_sigmas", _ ("Bad beyond"), "σ", LAM_BAD_PIXEL_SIGMAS, 1, 1000, 1),
           _ ("Set Bad Pixel Limit"), _ ("How far a pixel stands out of the spread of all; smaller = more bad pixels"));
  lam_parameter_set_step (p, 0.5);
  add (
      list, lam_parameter_new_file ("bad_pixel_list", _ ("Bad pixel list")), _ ("Set Bad Pixel List"),
      _ ("A text file with a detector row and a channel on each line, counted from 0: pixels that are not used, beside "
         "those that are found"));
  add (list, lam_parameter_new_choice ("background", _ ("Background offset"), backgrounds, "none"),
       _ ("Set Background Offset"), _ ("What is read beside the object is taken off: one number, or each view's own"));
  add (list, lam_parameter_new_integer ("edge_width", _ ("Edge width"), "px", 9, 1, 100000), _ ("Set Edge Width"),
       _ ("Of the strips at the edges that are taken for background"));
  p = add (list, lam_parameter_new_number ("zingers", _ ("Zingers"), "", 0, 0, 1000, 2), _ ("Set Zingers"),
           _ ("Bright spots: samples further below 0 than this many times the object's rms are filled; 0 = off, 0.1 is "
              "usual"));
  lam_parameter_set_step (p, 0.05);
  lam_parameter_set_special (p, 0, _ ("off"));
}

static void
add_stripes (LamParameterList *list)
{
  const LamParameterChoice kinds[] = {
      {"none", _ ("None")}, {"sorting", _ ("Sorting")}, {"wavelet", _ ("Wavelet–Fourier")}, {NULL}};
  LamStripeOptions o;
  lam_stripe_options_init (&o);
  add (list, lam_parameter_new_choice ("stripes", _ ("Stripe removal"), kinds, "none"), _ ("Set Stripe Removal"),
       _ ("Stripes of the sinogram are rings of the slice"));
  LamParameter *p =
      add (list, lam_parameter_new_number ("stripe_snr", _ ("Stands out by"), "", o.snr, 0.1, 1000, 1),
           _ ("Set Stripe Limit"), _ ("How far a channel stands out of the noise; smaller = more stripes"));
  lam_parameter_set_step (p, 0.5);
  add (list, lam_parameter_new_integer ("stripe_large", _ ("Large window"), "px", o.large, 1, 1000),
       _ ("Set Large Stripe Window"), _ ("Median across so many channels, for wide stripes"));
  add (list, lam_parameter_new_integer ("stripe_small", _ ("Small window"), "px", o.small, 1, 1000),
       _ ("Set Small Stripe Window"), _ ("Median across so many channels, for narrow stripes"));
  p = add (list, lam_parameter_new_number ("stripe_sigma", _ ("Damping width"), "", o.sigma, 0.001, 1e6, 2),
           _ ("Set Stripe Damping"), _ ("In frequencies along the views; larger = stripes that waver go too"));
  lam_parameter_set_step (p, 0.5);
  p = add (list, lam_parameter_new_integer ("stripe_levels", _ ("Wavelet levels"), "", o.levels, 0, 48),
           _ ("Set Wavelet Levels"), _ ("More = wider stripes go too; 0 = as many as the data have"));
  lam_parameter_set_special (p, 0, _ ("auto"));
}

/* The file's own are a choice where it has some, and then the default. */
static void
set_weights (LamParameterList *list, gboolean given)
{
  const LamParameterChoice choices[] = {
      {"given", _ ("Of the file")},         {"unweighted", _ ("Unweighted")},
      {"transmission", _ ("Transmission")}, {"transmission_root", _ ("Transmission root")},
      {"emission", _ ("Emission")},         {NULL}};
  const char *usual = given ? "given" : "unweighted";
  LamParameter *p = lam_parameter_list_find (list, "weights");
  if (p == NULL)
    p = add (list, lam_parameter_new_choice ("weights", _ ("Weights"), choices, usual), _ ("Set Weights"),
             _ ("How much a sample counts: alike, or by its −log y as e⁻ʸ, e^(−y/2), 1/(|y| + 0.1)"));
  lam_parameter_set_choices (p, given ? choices : choices + 1, usual);
  lam_parameter_set_default (p, g_variant_new_string (usual), NULL);
}

void
lam_preparation_add_parameters (LamParameterList *list)
{
  const LamParameterChoice parts[] = {{"all", _ ("All")}, {"part", _ ("A part")}, {NULL}};
  add_samples (list);
  add_stripes (list);
  add (list, lam_parameter_new_choice ("crop", _ ("Detector"), parts, "all"), _ ("Set Crop"),
       _ ("Crop: rows and channels of the detector that are used"));
  add (list, lam_parameter_new_integer ("crop_row_first", _ ("First row"), "", 0, 0, 1), _ ("Set First Row"),
       _ ("Counted from 0; rows before it are not read"));
  add (list, lam_parameter_new_integer ("crop_row_last", _ ("Last row"), "", 1, 0, 1), _ ("Set Last Row"),
       _ ("Counted from 0; rows after it are not read"));
  add (list, lam_parameter_new_integer ("crop_channel_first", _ ("First channel"), "", 0, 0, 1),
       _ ("Set First Channel"), _ ("Counted from 0; channels before it are dropped"));
  add (list, lam_parameter_new_integer ("crop_channel_last", _ ("Last channel"), "", 1, 0, 1), _ ("Set Last Channel"),
       _ ("Counted from 0; channels after it are dropped"));
  add (list, lam_parameter_new_integer ("bin", _ ("Binning"), "px", 1, 1, 16), _ ("Set Binning"),
       _ ("So many pixels each way become their mean: faster, less memory, coarser"));
  set_weights (list, FALSE);
  lam_preparation_from_scan (list, NULL);
  for (const char *const *id = lam_preparation_ids; *id != NULL; id++)
    lam_preparation_follow (list, *id);
}

static void
set_ends (LamParameterList *list, const char *first, const char *last, int64_t n)
{
  lam_parameter_set_range (find (list, first), 0, n - 1);
  lam_parameter_set_range (find (list, last), 0, n - 1);
  lam_parameter_set_default (find (list, first), g_variant_new_int64 (0), NULL);
  lam_parameter_set_default (find (list, last), g_variant_new_int64 (n - 1), NULL);
}

void
lam_preparation_from_scan (LamParameterList *list, const LamScan *scan)
{
  gboolean counts = scan != NULL && scan->kind == LAM_SCAN_COUNTS;
  static const char *const of_counts[] = {"defects", "clamp_above", "bad_pixels", "bad_pixel_sigmas", NULL};
  /* Each set once: rows are slow to grey out. */
  for (const char *const *id = lam_preparation_ids; *id != NULL; id++)
    if (!g_strv_contains (of_counts, *id))
      lam_parameter_set_sensitive (find (list, *id), scan != NULL);
  gboolean no_flats = counts && scan->flats == 0;
  for (int i = 0; of_counts[i] != NULL; i++)
    lam_parameter_set_sensitive (find (list, of_counts[i]),
                                 counts && !(no_flats && g_str_equal (of_counts[i], "bad_pixels")));
  lam_parameter_set_sensitive (find (list, "weights"), scan != NULL);
  set_weights (list, scan != NULL && scan->has_weights);
  lam_parameter_set_note (find (list, "defects"), scan != NULL && !counts ? _ ("the file has −log samples") : NULL);
  if (no_flats)
    lam_parameter_set_note (find (list, "bad_pixels"), _ ("the file has no flats"));
  if (scan == NULL)
    return;
  set_ends (list, "crop_row_first", "crop_row_last", scan->file_rows);
  set_ends (list, "crop_channel_first", "crop_channel_last", scan->geometry->channels);
  lam_parameter_set_range (find (list, "bin"), 1, MIN (scan->file_rows, scan->geometry->channels));
  lam_preparation_follow (list, "stripes");
}

/* The first never passes the last. */
static void
follow_ends (LamParameterList *list, const char *first, const char *last)
{
  LamParameter *a = find (list, first), *b = find (list, last);
  lam_parameter_set_range (a, 0, (double) lam_parameter_get_integer (b));
  lam_parameter_set_range (b, (double) lam_parameter_get_integer (a), lam_parameter_get_max (b));
}

/* Binning leaves at least one pixel of what is kept. */
static void
follow_bin (LamParameterList *list)
{
  g_auto (LamPrepareParams) p = {0};
  lam_preparation_params (list, &p);
  LamParameter *last_row = find (list, "crop_row_last"), *last_channel = find (list, "crop_channel_last");
  int64_t rows =
      p.crop_rows.end > 0 ? p.crop_rows.end - p.crop_rows.begin : (int64_t) lam_parameter_get_max (last_row) + 1;
  int64_t channels = p.crop_channels.end > 0 ? p.crop_channels.end - p.crop_channels.begin
                                             : (int64_t) lam_parameter_get_max (last_channel) + 1;
  lam_parameter_set_range (find (list, "bin"), 1, (double) MAX (MIN (rows, channels), 1));
}

static void
show (LamParameterList *list, gboolean visible, const char *const *ids)
{
  for (; *ids != NULL; ids++)
    lam_parameter_set_visible (find (list, *ids), visible);
}

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

void
lam_preparation_follow (LamParameterList *list, const char *id)
{
  if (g_str_equal (id, "bad_pixels"))
    show (list, chosen (list, id, "automatic"), IDS ("bad_pixel_sigmas"));
  else if (g_str_equal (id, "background"))
    show (list, !chosen (list, id, "none"), IDS ("edge_width"));
  else if (g_str_equal (id, "stripes")) {
    gboolean sorting = chosen (list, id, "sorting"), wavelet = chosen (list, id, "wavelet");
    show (list, sorting, IDS ("stripe_snr", "stripe_large", "stripe_small"));
    show (list, wavelet, IDS ("stripe_sigma", "stripe_levels"));
    lam_parameter_set_note (find (list, id), sorting   ? _ ("for sharp rings of dead, faint or stuck channels")
                                             : wavelet ? _ ("for many faint rings; may flatten wide structure")
                                                       : NULL);
  } else if (g_str_equal (id, "crop")) {
    show (list, chosen (list, id, "part"),
          IDS ("crop_row_first", "crop_row_last", "crop_channel_first", "crop_channel_last"));
    follow_bin (list);
  } else if (g_str_has_prefix (id, "crop_")) {
    if (g_str_has_prefix (id, "crop_row"))
      follow_ends (list, "crop_row_first", "crop_row_last");
    else
      follow_ends (list, "crop_channel_first", "crop_channel_last");
    follow_bin (list);
  }
}

static LamRange
range_of (LamParameterList *list, const char *first, const char *last)
{
  LamParameter *b = find (list, last);
  LamRange r = {lam_parameter_get_integer (find (list, first)), lam_parameter_get_integer (b) + 1};
  return r.begin == 0 && r.end == (int64_t) lam_parameter_get_max (b) + 1 ? (LamRange){0, 0} : r;
}

void
lam_preparation_params (LamParameterList *list, LamPrepareParams *p)
{
  lam_prepare_params_init (p);
  lam_defect_policy_from_name (lam_parameter_get_text (find (list, "defects")), &p->transmission.policy, NULL);
  p->transmission.clamp_above = lam_parameter_get_boolean (find (list, "clamp_above"));
  p->find_bad_pixels = chosen (list, "bad_pixels", "automatic");
  if (p->find_bad_pixels)
    p->bad_pixel_sigmas = lam_parameter_get_number (find (list, "bad_pixel_sigmas"));
  const char *file = lam_parameter_get_text (find (list, "bad_pixel_list"));
  p->bad_pixels_from = *file != '\0' ? g_strdup (file) : NULL;
  lam_prepare_background_from_name (lam_parameter_get_text (find (list, "background")), &p->background, NULL);
  if (p->background != LAM_PREPARE_BACKGROUND_NONE)
    p->edge_width = lam_parameter_get_integer (find (list, "edge_width"));
  p->zingers = lam_parameter_get_number (find (list, "zingers"));
  lam_stripe_kind_from_name (lam_parameter_get_text (find (list, "stripes")), &p->stripes.kind, NULL);
  if (p->stripes.kind == LAM_STRIPES_SORTING) {
    p->stripes.snr = lam_parameter_get_number (find (list, "stripe_snr"));
    p->stripes.large = lam_parameter_get_integer (find (list, "stripe_large"));
    p->stripes.small = lam_parameter_get_integer (find (list, "stripe_small"));
  } else if (p->stripes.kind == LAM_STRIPES_WAVELET) {
    p->stripes.sigma = lam_parameter_get_number (find (list, "stripe_sigma"));
    p->stripes.levels = lam_parameter_get_integer (find (list, "stripe_levels"));
  }
  if (chosen (list, "crop", "part")) {
    p->crop_rows = range_of (list, "crop_row_first", "crop_row_last");
    p->crop_channels = range_of (list, "crop_channel_first", "crop_channel_last");
  }
  p->bin = lam_parameter_get_integer (find (list, "bin"));
  /* What nobody chose is the file's business. */
  LamParameter *weights = find (list, "weights");
  if (lam_parameter_get_changed (weights))
    lam_prepare_weights_from_name (lam_parameter_get_text (weights), p, NULL);
}
