/* plan.c: what a run would need, from sizes alone. No sample is read. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "cli/geometry-options.h"
#include "cli/prepare-options.h"
#include "cli/recon-options.h"
#include "core/error.h"
#include "core/threadpool.h"
#include "ct/preprocess.h"
#include "io/dictionary-file.h"
#include "io/pulseq-read.h"
#include "mr/template.h"

static char *shape_text;

static const GOptionEntry entries[] = {
    {"shape", 0, 0, G_OPTION_ARG_STRING, &shape_text, N_ ("The volume's rows, columns, slices, in place of a scan"),
     "RxCxK"},
    {NULL},
};

static const LamCliHelp help = {
    "INPUT|--shape RxCxK [--views N --channels N]",
    N_ ("Tells what a run would need before it starts: every buffer and copy, by device and phase, and whether it "
        "fits. The exit status is 0 when it does and 3 when it does not."),
    "  lamina plan tooth.h5 --devices 4xcpu --checkpoint\n"
    "  lamina plan --shape 2048x2048x2048 --views 2048 --method fbp",
};

/* What is printed. */
typedef struct {
  LamPlan *plan; /* NULL: the sizes cannot be counted */
  const LamGeometry *geometry;
  int64_t shape[3];
  int64_t volume_bytes;  /* -1: too large */
  char *problem;         /* why it does not fit, or NULL */
  int64_t prepare_bytes; /* held while the samples are prepared, beside them; 0: none, or no scan */
  double seconds;        /* of the run, roughly; NAN = not known */
} Answer;

static const char *
device_name (const LamPlan *plan, int device)
{
  return device == LAM_HOST ? "host" : lam_devices_get (lam_plan_devices (plan), device)->name;
}

static void
print_device (const LamPlan *plan, int device)
{
  int n;
  const LamPlanBuffer *buffers = lam_plan_buffers (plan, &n);
  int64_t budget = device == LAM_HOST ? -1 : lam_devices_get (lam_plan_devices (plan), device)->budget;
  lam_cli_print (_ ("%s: peak %s%s%s"), device_name (plan, device), lam_cli_bytes (lam_plan_peak (plan, device)),
                 budget >= 0 ? _ (", may hold ") : "", budget >= 0 ? lam_cli_bytes (budget) : "");
  for (int phase = 0; phase < lam_plan_phases (plan); phase++) {
    lam_cli_print ("  %-10s %s", lam_plan_phase_name (plan, phase),
                   lam_cli_bytes (lam_plan_phase_bytes (plan, device, phase)));
    for (int i = 0; i < n; i++)
      if (buffers[i].device == device && buffers[i].first == phase)
        lam_cli_print (_ ("    %-22s %s, until %s"), buffers[i].name, lam_cli_bytes (buffers[i].bytes),
                       lam_plan_phase_name (plan, buffers[i].last));
  }
}

static void
print_answer (const Answer *a)
{
  lam_cli_print (_ ("volume %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ": %s"), a->shape[0],
                 a->shape[1], a->shape[2], lam_cli_bytes (a->volume_bytes));
  if (a->plan) {
    int n;
    const LamPlanCopy *copies = lam_plan_copies (a->plan, &n);
    LamDevices *set = lam_plan_devices (a->plan);
    lam_cli_print (_ ("devices: %s (%s)"), lam_devices_spec (set), lam_devices_reason (set));
    for (int d = LAM_HOST; d < lam_devices_count (set); d++)
      print_device (a->plan, d);
    lam_cli_print (_ ("copies between devices: %s"), lam_cli_bytes (lam_plan_copied (a->plan)));
    for (int i = 0; i < n; i++)
      lam_cli_print (_ ("  %-22s %s -> %s  %s, in %s"), copies[i].name, device_name (a->plan, copies[i].from),
                     device_name (a->plan, copies[i].to), lam_cli_bytes (copies[i].bytes),
                     lam_plan_phase_name (a->plan, copies[i].phase));
    lam_cli_print (_ ("in all: %s"), lam_cli_bytes (lam_plan_total (a->plan)));
  }
  if (a->prepare_bytes > 0)
    lam_cli_print (_ ("before the run, to prepare the samples: %s beside them"), lam_cli_bytes (a->prepare_bytes));
  if (a->seconds > 0)
    lam_cli_print (_ ("time: about %s s on this machine (rough)"), lam_cli_format ("%.2g", a->seconds));
  lam_cli_print ("%s%s", a->problem ? _ ("does not fit: ") : _ ("it fits"), a->problem ? a->problem : "");
}

static void
json_device (JsonBuilder *b, const LamPlan *plan, int device)
{
  int n;
  const LamPlanBuffer *buffers = lam_plan_buffers (plan, &n);
  lam_json_open (b, NULL);
  lam_json_text (b, "name", device_name (plan, device));
  lam_json_int (b, "index", device);
  lam_json_bytes (b, "peak_bytes", lam_plan_peak (plan, device));
  if (device != LAM_HOST)
    lam_json_bytes (b, "budget", lam_devices_get (lam_plan_devices (plan), device)->budget);
  lam_json_open_array (b, "phases");
  for (int phase = 0; phase < lam_plan_phases (plan); phase++) {
    lam_json_open (b, NULL);
    lam_json_text (b, "name", lam_plan_phase_name (plan, phase));
    lam_json_bytes (b, "bytes", lam_plan_phase_bytes (plan, device, phase));
    lam_json_close (b);
  }
  lam_json_close_array (b);
  lam_json_open_array (b, "buffers");
  for (int i = 0; i < n; i++)
    if (buffers[i].device == device) {
      lam_json_open (b, NULL);
      lam_json_text (b, "name", buffers[i].name);
      lam_json_bytes (b, "bytes", buffers[i].bytes);
      lam_json_text (b, "first", lam_plan_phase_name (plan, buffers[i].first));
      lam_json_text (b, "last", lam_plan_phase_name (plan, buffers[i].last));
      lam_json_close (b);
    }
  lam_json_close_array (b);
  lam_json_close (b);
}

static void
json_answer (const Answer *a)
{
  JsonBuilder *b = lam_json_begin ();
  lam_json_ints (b, "shape", a->shape, 3);
  lam_json_bytes (b, "volume_bytes", a->volume_bytes);
  lam_json_bool (b, "too_large", a->volume_bytes < 0 || (a->plan && lam_plan_total (a->plan) < 0));
  lam_json_bool (b, "fits", !a->problem);
  lam_json_text (b, "problem", a->problem);
  lam_json_number (b, "forecast_seconds", a->seconds);
  lam_json_bytes (b, "prepare_bytes", a->prepare_bytes);
  if (a->geometry)
    lam_json_geometry (b, "geometry", a->geometry);
  if (a->plan) {
    int n;
    const LamPlanCopy *copies = lam_plan_copies (a->plan, &n);
    LamDevices *set = lam_plan_devices (a->plan);
    lam_json_text (b, "devices_spec", lam_devices_spec (set));
    lam_json_text (b, "devices_reason", lam_devices_reason (set));
    lam_json_bytes (b, "total_bytes", lam_plan_total (a->plan));
    lam_json_bytes (b, "copied_bytes", lam_plan_copied (a->plan));
    lam_json_open_array (b, "devices"); /* the host first, index -1 */
    for (int d = LAM_HOST; d < lam_devices_count (set); d++)
      json_device (b, a->plan, d);
    lam_json_close_array (b);
    lam_json_open_array (b, "copies");
    for (int i = 0; i < n; i++) {
      lam_json_open (b, NULL);
      lam_json_text (b, "name", copies[i].name);
      lam_json_text (b, "from", device_name (a->plan, copies[i].from));
      lam_json_text (b, "to", device_name (a->plan, copies[i].to));
      lam_json_bytes (b, "bytes", copies[i].bytes);
      lam_json_text (b, "phase", lam_plan_phase_name (a->plan, copies[i].phase));
      lam_json_close (b);
    }
    lam_json_close_array (b);
  }
  lam_json_print (b);
}

/* The geometry that the run would have after its preparation. */
static LamGeometry *
scan_geometry (const char *path, LamCliScan *scan_options, const LamCliRecon *o, gboolean *weighted, int64_t *bytes,
               GError **error)
{
  scan_options->scan.slices = o->slices;
  g_autoptr (LamScan) scan = lam_cli_open_scan (path, scan_options, error);
  if (!scan || !lam_cli_check_method (o, scan->geometry->kind, error) || !lam_scan_complete (scan, error)
      || !lam_cli_use_center (o, scan, error))
    return NULL;
  g_autoptr (LamGeometry) g = lam_prepare_geometry (&o->prepare, scan, error);
  if (!g)
    return NULL;
  *bytes = lam_prepare_bytes (&o->prepare, scan, lam_pool_threads (lam_pool_shared ()));
  *weighted = lam_prepare_weighted (&o->prepare, scan);
  if (o->mask_set)
    g->mask = o->mask;
  if ((g->recon_rows == 0 && !lam_geometry_auto_volume (g, error)) || !lam_cli_cut_slices (g, o->slices, error)
      || !lam_geometry_check (g, error)) {
    if (error && (*error)->domain == LAM_ERROR)
      g_prefix_error (error, "%s: ", path);
    return NULL;
  }
  return g_steal_pointer (&g);
}

/* A template, a Pulseq file or a dictionary. */
static gboolean
is_sequence (const char *name)
{
  if (g_file_test (name, G_FILE_TEST_IS_REGULAR))
    return lam_pulseq_file_is (name) || lam_dictionary_is_file (name);
  return !g_file_test (name, G_FILE_TEST_EXISTS) && lam_template_find (name);
}

static gboolean
answer (int argc, char **argv, LamCliScan *scan_options, LamCliRecon *o, gboolean *fits, GError **error)
{
  g_autoptr (LamGeometry) g = NULL;
  g_autoptr (GError) problem = NULL;
  Answer a = {.seconds = NAN};
  gboolean weighted = o->prepare.made_weights != LAM_WEIGHTS_UNWEIGHTED;
  if (!lam_cli_shape ("--shape", shape_text, a.shape, error))
    return FALSE;
  if ((argc > 1) == (shape_text != NULL) || (argc > 1 && lam_cli_detector_given ())) {
    lam_cli_usage_error (error,
                         _ ("give either a scan, or --shape with --views, --rows, --channels; expected: lamina "
                            "plan %s"),
                         help.arguments);
    return FALSE;
  }
  if (argc > 1 && is_sequence (argv[1])) {
    lam_cli_usage_error (
        error,
        _ ("%s: plans are of scans; `lamina dictionary %s ... --forecast' says how many atoms, how much "
           "memory and time a dictionary takes, and signals and matches take what memory there is"),
        argv[1], g_file_test (argv[1], G_FILE_TEST_EXISTS) ? "TEMPLATE" : argv[1]);
    return FALSE;
  }
  if (shape_text)
    a.volume_bytes = lam_mul_size (lam_mul_size (lam_mul_size (a.shape[0], a.shape[1]), a.shape[2]), sizeof (float));
  if (a.volume_bytes >= 0) {
    g = shape_text ? lam_cli_make_geometry (scan_options, a.shape, NULL, "px", error)
                   : scan_geometry (argv[1], scan_options, o, &weighted, &a.prepare_bytes, error);
    if (!g || !lam_cli_check_method (o, g->kind, error))
      return FALSE;
    if (shape_text)
      g->mask = o->mask_set ? o->mask : LAM_MASK_ELLIPSE;
    a.shape[0] = g->recon_rows;
    a.shape[1] = g->recon_columns;
    a.shape[2] = g->recon_slices;
    a.volume_bytes = lam_mul_size (lam_mul_size (lam_mul_size (a.shape[0], a.shape[1]), a.shape[2]), sizeof (float));
    a.geometry = g;
    o->recon.consume = TRUE; /* as `reconstruct' does */
    if (o->checkpoint && !o->recon.checkpoint)
      o->recon.checkpoint = g_strdup ("in the state folder");
    a.plan = lam_recon_plan (g, weighted, TRUE, &o->recon, error);
    if (!a.plan)
      return FALSE;
    if (lam_plan_fits (a.plan, &problem))
      a.seconds = lam_recon_forecast (g, &o->recon);
  }
  a.problem = a.volume_bytes < 0
                  ? g_strdup (_ ("too large: its bytes do not fit in 64 bits; use fewer or larger voxels"))
              : problem ? g_strdup (problem->message)
                        : NULL;
  if (lam_cli_json)
    json_answer (&a);
  print_answer (&a);
  *fits = !a.problem;
  g_clear_pointer (&a.plan, lam_plan_unref);
  g_free (a.problem);
  return TRUE;
}

int
lam_cli_plan (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries,
                                  lam_cli_recon_entries,
                                  lam_cli_start_entries,
                                  lam_cli_detector_entries,
                                  lam_cli_prepare_entries,
                                  lam_cli_correct_entries,
                                  lam_cli_geometry_entries,
                                  lam_cli_scan_entries,
                                  NULL};
  g_autoptr (GError) error = NULL;
  LamCliScan scan_options;
  LamCliRecon o = {0};
  gboolean fits = TRUE;
  const char *after_checkpoint = lam_cli_bare_checkpoint (argc, argv);
  gboolean ok = lam_cli_parse (&help, groups, 0, 1, &argc, &argv, &error)
                && lam_cli_scan_options (&scan_options, &error) && lam_cli_recon_options (&o, &error)
                && answer (argc, argv, &scan_options, &o, &fits, &error);
  if (after_checkpoint && g_error_matches (error, LAM_CLI_USAGE, LAM_CLI_TOO_MANY))
    lam_cli_checkpoint_error (after_checkpoint, &error);
  lam_recon_params_clear (&o.recon);
  lam_prepare_params_clear (&o.prepare);
  return !ok ? lam_cli_fail (error) : fits ? LAM_EXIT_DONE : LAM_EXIT_NO_FIT;
}
