/* reconstruct.c: a scan to a volume. Options, preparation, run, saving; what is said on the way is in report.c. */
#include "config.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/export.h"
#include "cli/prepare-options.h"
#include "cli/progress.h"
#include "cli/recon-options.h"
#include "cli/report.h"
#include "cli/scan-options.h"
#include "core/error.h"
#include "ct/center.h"
#include "io/checkpoint.h"
#include "io/volume.h"

static char *output, *tiff;

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_ ("Volume file to write (default: INPUT-recon.h5, here)"),
     "OUT.h5"},
    {"tiff", 0, 0, G_OPTION_ARG_FILENAME, &tiff, N_ ("Write the slices as TIFF images, slice_0000.tif and on"),
     "FOLDER"},
    {NULL},
};

static const LamCliHelp help = {
    "INPUT [-o OUT.h5]",
    N_ ("Makes a volume of a scan. Ctrl+C once stops after the running iteration and saves what there is, twice "
        "cancels; with --checkpoint the run can go on later (--resume). Channels, rows, slices and views count from "
        "0."),
    "  lamina reconstruct tooth.h5 -o tooth-recon.h5\n"
    "  lamina reconstruct scan.h5 --method fbp --center 295.5 --slices 0:16 -o fbp.h5\n"
    "  lamina reconstruct cone.h5 --method fdk --devices 4xcpu --tiff slices",
};

typedef struct {
  const char *input;
  char *output;     /* NULL: only TIFF images */
  gboolean derived; /* its name is ours */
  LamCliScan scan_options;
  LamCliRecon options;
  LamCenter center; /* of the search, in channels of the file; n = 0 when there was none */
  gboolean searched;
  char *command; /* as it was typed */
} Run;

/* ---- before the work ---- */

/* What would only be noticed after minutes of work. */
static gboolean
check_inputs (const Run *r, GError **error)
{
  const LamReconParams *k = &r->options.recon;
  LamFileStamp stamp;
  if (g_file_test (r->input, G_FILE_TEST_IS_DIR)) { /* it says what is read */
    g_autoptr (LamScan) scan = lam_scan_open (r->input, NULL, error);
    return scan != NULL;
  }
  if (!lam_file_stamp (r->input, &stamp, error))
    return FALSE;
  if (k->init != LAM_INIT_FILE || k->resume)
    return TRUE;
  g_autoptr (LamVolume) v = lam_volume_open (k->init_path, NULL, LAM_LAYOUT_FROM_FILE, error);
  if (!v)
    g_prefix_error (error, "--init ");
  return v != NULL;
}

/* The command that goes on from the checkpoint: as typed, and what it takes to be the same run again. */
static char *
go_on_command (const Run *r)
{
  g_autofree char *output_name = r->derived ? g_shell_quote (r->output) : NULL;
  return g_strconcat (r->command, output_name ? " -o " : "", output_name ? output_name : "",
                      r->options.recon.resume ? "" : " --resume", NULL);
}

static gboolean
has_state (const Run *r)
{
  return r->options.recon.checkpoint && g_file_test (r->options.recon.checkpoint, G_FILE_TEST_EXISTS);
}

static gboolean
choose_output (Run *r, GError **error)
{
  if (output && !*output) {
    lam_cli_usage_error (error, _ ("-o: the name of the result is empty"));
    return FALSE;
  }
  if (output)
    r->output = g_strdup (output);
  else if (!tiff) {
    g_autofree char *base = g_path_get_basename (r->input);
    char *dot = strrchr (base, '.');
    if (dot && dot != base)
      *dot = '\0';
    r->output = g_strconcat (base, "-recon.h5", NULL);
    r->derived = TRUE;
    if (g_file_test (r->output, G_FILE_TEST_EXISTS)) {
      lam_cli_usage_error (error, _ ("%s is there already; name the result with -o (which replaces it)"), r->output);
      return FALSE;
    }
    lam_cli_print (_ ("no -o given: the result goes to %s"), r->output);
  }
  return !r->output || (lam_cli_not_same (r->input, r->output, error) && lam_cli_writable (r->output, error));
}

/* The usual place of the state of this input and output. */
static gboolean
choose_checkpoint (Run *r, GError **error)
{
  LamReconParams *k = &r->options.recon;
  if (!r->options.checkpoint)
    return TRUE;
  if (!k->checkpoint) {
    g_autofree char *in = g_canonicalize_filename (r->input, NULL);
    g_autofree char *out = g_canonicalize_filename (r->output ? r->output : tiff, NULL);
    g_autofree char *key = g_strconcat (in, "\n", out, NULL);
    k->checkpoint = lam_state_file ("recon", key, error);
    if (!k->checkpoint)
      return FALSE;
  }
  if (k->resume && !g_file_test (k->checkpoint, G_FILE_TEST_EXISTS)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 _ ("%s: there is no state to resume from; it is kept by --checkpoint, for the same input and -o"),
                 k->checkpoint);
    return FALSE;
  }
  /* It is replaced by the state and removed at the end: never something that is not a state of ours. */
  if (g_file_test (k->checkpoint, G_FILE_TEST_EXISTS)) {
    g_autoptr (GError) reason = NULL;
    g_autoptr (LamCheckpoint) old = lam_checkpoint_open (k->checkpoint, &reason);
    if (!old && !lam_checkpoint_is_one (k->checkpoint)) {
      g_set_error (
          error, LAM_ERROR, LAM_ERROR_INVALID,
          _ ("--checkpoint %s: this file is there and is not a state of lamina; it would be lost: give another name"),
          k->checkpoint);
      return FALSE;
    }
  }
  g_autofree char *state = g_canonicalize_filename (k->checkpoint, NULL);
  g_autofree char *result = r->output ? g_canonicalize_filename (r->output, NULL) : NULL;
  if (result && g_str_equal (state, result)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("--checkpoint and -o are both %s: give two names"), state);
    return FALSE;
  }
  return lam_cli_not_same (r->input, k->checkpoint, error)
         && (!r->output || lam_cli_not_same (k->checkpoint, r->output, error));
}

/* ---- centre of rotation ---- */

static gboolean
wants_search (const Run *r, const LamScan *scan)
{
  if (!isnan (r->options.center) || !isnan (r->scan_options.channel_offset))
    return FALSE;
  return r->options.center_auto
         || (scan->geometry->kind == LAM_GEOMETRY_PARALLEL && scan->kind == LAM_SCAN_COUNTS
             && scan->geometry->channel_offset == 0);
}

/* Looks on the prepared data, which may be cropped and binned; what is said is in channels of the file. */
static gboolean
search_center (Run *r, LamDataset *d, GError **error)
{
  lam_control_progress (lam_cli_control (), "centre of rotation", 0, 1);
  if (!lam_center_find (d->geometry, d->sinogram, &r->center, error))
    return FALSE;
  lam_dataset_use_center (d, &r->center);
  r->searched = TRUE;
  r->center.channel = lam_provenance_channel (&d->made, r->center.channel);
  r->center.width *= (double) d->made.bin;
  lam_report_center (&r->center);
  return lam_geometry_check (d->geometry, error);
}

/* ---- the steps ---- */

static LamDataset *
load (Run *r, GError **error)
{
  LamCliRecon *o = &r->options;
  g_autoptr (LamScan) scan = lam_cli_open_scan (r->input, &r->scan_options, error);
  if (!scan)
    return NULL;
  LamGeometry *g = scan->geometry;
  g_autoptr (GError) outside = NULL;
  gboolean inside = lam_cli_use_center (o, scan, &outside);
  lam_report_scan (scan);
  if (!lam_cli_check_method (o, g->kind, error) || !lam_scan_complete (scan, error))
    return NULL;
  if (!inside) {
    g_propagate_error (error, g_steal_pointer (&outside));
    return NULL;
  }
  gboolean search = wants_search (r, scan);
  if (o->mask_set)
    g->mask = o->mask;
  if (!lam_geometry_check_scan (g, error)) {
    g_prefix_error (error, "%s: ", r->input);
    return NULL;
  }
  g_autoptr (LamDataset) d = lam_dataset_load (scan, &o->prepare, lam_cli_control (), error);
  if (!d || !lam_cli_go_on (error))
    return NULL;
  lam_report_dataset (d, scan);
  if (search && !search_center (r, d, error))
    return NULL;
  if (d->geometry->kind == LAM_GEOMETRY_CONE) { /* there slices are the volume's */
    int64_t all = d->made.slices_of = d->geometry->recon_slices;
    d->made.slices = lam_range_size (o->slices) > 0 ? o->slices : (LamRange){0, all};
  }
  if (!lam_cli_cut_slices (d->geometry, o->slices, error) || !lam_geometry_check (d->geometry, error))
    return NULL;
  if (d->geometry->kind == LAM_GEOMETRY_CONE && lam_range_size (o->slices) > 0 && o->method == LAM_CLI_VCD)
    lam_report_warning (_ ("--slices in cone beam: what lies in the other slices is seen by the same rays and will be "
                           "put into these"));
  return g_steal_pointer (&d);
}

static gboolean
save (Run *r, LamReconResult *result, GError **error)
{
  if (r->output && !lam_recon_result_save (result, r->output, lam_cli_control (), error))
    return FALSE;
  if (tiff && !lam_recon_result_save_tiff (result, tiff, lam_cli_control (), error))
    return FALSE;
  if (tiff)
    lam_cli_check_stack (tiff, result->geometry->recon_slices);
  return TRUE;
}

static int
run (Run *r, GError **error)
{
  LamCliRecon *o = &r->options;
  g_autoptr (LamDataset) d = load (r, error);
  if (!d)
    return LAM_EXIT_FAILED;
  o->recon.consume = TRUE; /* the samples are on the devices then */
  lam_report_plan (d, &o->recon);
  lam_cli_keep (o->method == LAM_CLI_VCD);
  LamReconHooks hooks = lam_report_hooks (&o->recon);
  g_autoptr (LamReconResult) result = lam_reconstruct (d, &o->recon, lam_cli_control (), &hooks, error);
  if (!result || !save (r, result, error)) {
    if ((result || g_error_matches (*error, LAM_ERROR, LAM_ERROR_CANCELLED)) && has_state (r)) {
      g_autofree char *go_on = go_on_command (r);
      lam_report_kept (o->recon.checkpoint, go_on);
    }
    return LAM_EXIT_FAILED;
  }
  g_autofree char *go_on = result->stopped && has_state (r) ? go_on_command (r) : NULL;
  LamReportResult report = {.output = r->output,
                            .tiff = tiff,
                            .checkpoint = go_on ? o->recon.checkpoint : NULL,
                            .go_on = go_on,
                            .method = o->method,
                            .center = lam_prepare_file_channel (&o->prepare, lam_geometry_center (result->geometry)),
                            .confidence = r->searched ? r->center.confidence : NAN,
                            .width = r->searched ? r->center.width : NAN};
  if (o->recon.checkpoint && !result->stopped)
    g_unlink (o->recon.checkpoint);
  lam_report_result (result, &report);
  return result->stopped ? LAM_EXIT_CANCELLED : LAM_EXIT_DONE;
}

int
lam_cli_reconstruct (int argc, char **argv)
{
  const GOptionEntry *groups[] = {entries,
                                  lam_cli_recon_entries,
                                  lam_cli_start_entries,
                                  lam_cli_prepare_entries,
                                  lam_cli_correct_entries,
                                  lam_cli_geometry_entries,
                                  lam_cli_scan_entries,
                                  NULL};
  g_autoptr (GError) error = NULL;
  Run r = {0};
  int status = LAM_EXIT_FAILED;
  lam_cli_control ();
  r.command = lam_cli_command_line (argc, argv);
  const char *after_checkpoint = lam_cli_bare_checkpoint (argc, argv);
  if (lam_cli_parse (&help, groups, 1, 1, &argc, &argv, &error) && lam_cli_scan_options (&r.scan_options, &error)
      && lam_cli_recon_options (&r.options, &error)) {
    r.input = argv[1];
    r.scan_options.scan.slices = r.options.slices;
    r.options.recon.command = g_strdup (r.command);
    if ((!isnan (r.options.center) || r.options.center_auto) && !isnan (r.scan_options.channel_offset))
      lam_cli_usage_error (&error, _ ("--center and --channel-offset say the same thing: give one of them"));
    else if (check_inputs (&r, &error) && choose_output (&r, &error) && choose_checkpoint (&r, &error))
      status = run (&r, &error);
  }
  if (after_checkpoint && g_error_matches (error, LAM_CLI_USAGE, LAM_CLI_TOO_MANY))
    lam_cli_checkpoint_error (after_checkpoint, &error);
  lam_recon_params_clear (&r.options.recon);
  lam_prepare_params_clear (&r.options.prepare);
  lam_center_clear (&r.center);
  g_free (r.command);
  g_free (r.output);
  return error ? lam_cli_fail (error) : status;
}
