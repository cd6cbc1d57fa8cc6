/* sweep.c: one slice over a range of a parameter: numbers, and a strip of pictures. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "cli/prepare-options.h"
#include "cli/progress.h"
#include "cli/recon-options.h"
#include "cli/report.h"
#include "cli/scan-options.h"
#include "cli/strip.h"
#include "core/error.h"
#include "run/sweep.h"

static char *output, *parameter, *range, *count_text, *slice_text, *center, *devices;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Picture of the slices to write, side by side"),
     "STRIP.png"},
    {"parameter", 0, 0, G_OPTION_ARG_STRING, &parameter,
     N_ ("What changes: center, tilt, or of cone beam source-axis, source-detector"), "NAME"},
    {"range", 0, 0, G_OPTION_ARG_STRING, &range, N_ ("Its first and last value: channels, degrees or lengths"), "A:B"},
    {"count", 0, 0, G_OPTION_ARG_STRING, &count_text, N_ ("How many slices (9)"), "N"},
    {"slice", 0, 0, G_OPTION_ARG_STRING, &slice_text,
     N_ ("Which slice of the volume, from 0 (the middle; for a tilt a quarter from the top)"), "K"},
    {"center", 0, 0, G_OPTION_ARG_STRING, &center,
     N_ ("Centre of rotation (COR) where another parameter changes: auto, or a detector channel"), "auto|CHANNEL"},
    {"devices", 0, 0, G_OPTION_ARG_STRING, &devices, N_ ("auto, cpu, or a count such as 4xcpu"), "SPEC"},
    {NULL},
};

static const LamCliHelp help = {
    "FILE --parameter NAME --range A:B [-o STRIP.png]",
    N_ ("Makes one slice for several values of a parameter and says for which it is sharpest, and how sure that is."),
    "  lamina sweep tooth.h5 --parameter center --range 290:302 -o strip.png\n"
    "  lamina sweep scan.h5 --parameter tilt --range -1:1 --count 11 --slice 20",
};

typedef struct {
  LamDataset *dataset;
  LamSweepParams k;
} Run;

/* A value as the person gives and reads it: channels of the file, degrees, lengths. */
static double
outside (const Run *r, double value)
{
  return r->k.parameter == LAM_SWEEP_CENTER ? lam_provenance_channel (&r->dataset->made, value)
         : r->k.parameter == LAM_SWEEP_TILT ? value * 180 / G_PI
                                            : value;
}

static double
inside (const Run *r, double value)
{
  double first = lam_provenance_channel (&r->dataset->made, 0),
         bin = lam_provenance_channel (&r->dataset->made, 1) - first;
  return r->k.parameter == LAM_SWEEP_CENTER ? (value - first) / bin
         : r->k.parameter == LAM_SWEEP_TILT ? value * G_PI / 180
                                            : value;
}

static const char *
unit (const Run *r)
{
  return r->k.parameter == LAM_SWEEP_CENTER ? _ ("channel")
         : r->k.parameter == LAM_SWEEP_TILT ? _ ("degrees")
                                            : r->dataset->geometry->length_unit;
}

static void
step_cb (const LamSweepStep *step, int index, gpointer data)
{
  const Run *r = data;
  lam_cli_progress_clear ();
  lam_cli_print (_ ("%s %s: score %s"), lam_sweep_parameter_name (r->k.parameter),
                 lam_cli_number (outside (r, step->value)), lam_cli_number (step->score));
  if (lam_cli_json) {
    JsonBuilder *b = lam_json_event ("slice");
    lam_json_int (b, "index", index);
    lam_json_number (b, "value", outside (r, step->value));
    lam_json_number (b, "score", step->score);
    lam_json_print (b);
  }
}

static gboolean
read_options (Run *r, GError **error)
{
  int64_t count = 9;
  if (!parameter || !range) {
    lam_cli_usage_error (error, _ ("%s is missing; expected: lamina sweep %s"), parameter ? "--range" : "--parameter",
                         help.arguments);
    return FALSE;
  }
  LamSweepParameter which;
  if (!lam_sweep_parameter_from_name (parameter, &which, error))
    return lam_cli_to_usage (error);
  lam_sweep_params_init (&r->k, which);
  if (!lam_cli_pair ("--range", "A:B", range, &r->k.from, &r->k.to, error)
      || !lam_cli_int ("--count", count_text, 3, 99, &count, error)
      || !lam_cli_int ("--slice", slice_text, 0, INT32_MAX, &r->k.slice, error)
      || !lam_cli_check_devices (devices, error))
    return FALSE;
  r->k.count = (int) count;
  r->k.devices = devices;
  if (center && which == LAM_SWEEP_CENTER) {
    lam_cli_usage_error (error, _ ("--center: is what changes; give --range"));
    return FALSE;
  }
  return !output || lam_cli_writable (output, error);
}

/* The axis, where it is not what changes: given, or searched where nobody said. */
static gboolean
find_axis (Run *r, const LamScan *scan, GError **error)
{
  LamDataset *d = r->dataset;
  gboolean given = center && !g_str_equal (center, "auto");
  if (r->k.parameter == LAM_SWEEP_CENTER || given || (!center && !scan->center_assumed))
    return TRUE;
  g_auto (LamCenter) found = {0};
  if (!lam_center_find (d->geometry, d->sinogram, &found, error))
    return FALSE;
  lam_dataset_use_center (d, &found);
  found.channel = lam_provenance_channel (&d->made, found.channel);
  found.width *= (double) d->made.bin;
  lam_report_center (&found);
  return TRUE;
}

static gboolean
load (Run *r, const char *path, LamCliScan *options, LamCliRecon *o, GError **error)
{
  double channel = NAN;
  options->scan.slices = o->slices;
  g_autoptr (LamScan) scan = lam_cli_open_scan (path, options, error);
  if (!scan)
    return FALSE;
  if (center && !g_str_equal (center, "auto")) {
    if (!lam_cli_double ("--center", center, 0, (double) (scan->geometry->channels - 1), &channel, error))
      return FALSE;
    lam_geometry_set_center (scan->geometry, channel);
    lam_scan_center_given (scan, "--center");
  }
  if (r->k.parameter == LAM_SWEEP_TILT && o->prepare.tilt != 0) {
    lam_cli_usage_error (error, _ ("--tilt: is what changes; give --range"));
    return FALSE;
  }
  r->dataset = lam_dataset_load (scan, &o->prepare, lam_cli_control (), error);
  if (!r->dataset || !lam_cli_go_on (error))
    return FALSE;
  lam_report_dataset (r->dataset, scan);
  r->k.from = inside (r, r->k.from);
  r->k.to = inside (r, r->k.to);
  return find_axis (r, scan, error);
}

static gboolean
write_strip (const Run *r, const LamSweepResult *result, GError **error)
{
  int n = result->params.count;
  g_autofree LamSnapshot **slices = g_new (LamSnapshot *, n);
  g_auto (GStrv) texts = g_new0 (char *, n + 1);
  float low = 0, high = 1;
  for (int i = 0; i < n; i++) {
    slices[i] = result->steps[i].slice;
    texts[i] = g_strdup (lam_cli_number (outside (r, result->steps[i].value)));
  }
  lam_snapshot_quantiles (slices[result->sharpest], 0.005, 0.995, &low, &high);
  return lam_cli_strip_write (output, slices, (const char *const *) texts, n, result->sharpest, low, high, error);
}

static void
report (const Run *r, const LamSweepResult *result)
{
  double best = outside (r, result->best);
  double width = fabs (outside (r, result->best + result->width) - best);
  lam_cli_print (_ ("sharpest (%s): %s %s ± %s %s, confidence %s%s%s"), result->method,
                 lam_sweep_parameter_name (r->k.parameter), lam_cli_format ("%.4f", best),
                 lam_cli_format ("%.2g", width), unit (r), lam_cli_format ("%.2f", result->confidence),
                 result->note ? "; " : "", result->note ? result->note : "");
  if (output)
    lam_cli_print (_ ("%s: slice %" G_GINT64_FORMAT ", %d pictures, the sharpest has a frame"), output,
                   result->params.slice, result->params.count);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("result");
  lam_json_text (b, "parameter", lam_sweep_parameter_name (r->k.parameter));
  lam_json_int (b, "slice", result->params.slice);
  lam_json_number (b, "best", best);
  lam_json_number (b, "width", width);
  lam_json_number (b, "confidence", result->confidence);
  lam_json_text (b, "unit",
                 r->k.parameter == LAM_SWEEP_CENTER ? "channel"
                 : r->k.parameter == LAM_SWEEP_TILT ? "deg"
                                                    : unit (r));
  lam_json_text (b, "method", result->method);
  lam_json_text (b, "note", result->note);
  lam_json_int (b, "sharpest", result->sharpest);
  lam_json_text (b, "output", output);
  lam_json_print (b);
}

int
lam_cli_sweep (int argc, char **argv)
{
  const GOptionEntry *groups[] = {
      entries, lam_cli_prepare_entries, lam_cli_correct_entries, lam_cli_geometry_entries, lam_cli_scan_entries, NULL};
  g_autoptr (GError) error = NULL;
  LamCliScan scan_options;
  LamCliRecon o = {0};
  Run r = {0};
  lam_cli_control ();
  gboolean ok = lam_cli_parse (&help, groups, 1, 1, &argc, &argv, &error)
                && lam_cli_scan_options (&scan_options, &error) && lam_cli_recon_options (&o, &error)
                && read_options (&r, &error) && (!output || lam_cli_not_same (argv[1], output, &error))
                && load (&r, argv[1], &scan_options, &o, &error);
  g_autoptr (LamSweepResult) result = ok ? lam_sweep (r.dataset, &r.k, lam_cli_control (), step_cb, &r, &error) : NULL;
  ok = result && (!output || write_strip (&r, result, &error));
  if (ok) {
    lam_cli_progress_clear ();
    report (&r, result);
  }
  lam_dataset_unref (r.dataset);
  lam_recon_params_clear (&o.recon);
  lam_prepare_params_clear (&o.prepare);
  return ok ? LAM_EXIT_DONE : lam_cli_fail (error);
}
