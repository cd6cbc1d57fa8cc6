#include "config.h"

#include "cli/report.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/progress.h"
#include "cli/recon-options.h"
#include "cli/scan-options.h"
#include "io/volume.h"

void
lam_report_warning (const char *text)
{
  lam_cli_print (_ ("warning: %s"), text);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("warning");
  lam_json_text (b, "text", text);
  lam_json_print (b);
}

void
lam_report_scan (const LamScan *scan)
{
  lam_cli_print ("%s: %s", scan->path, lam_scan_format_name (scan->format));
  lam_cli_print_findings (scan);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("scan");
  lam_json_text (b, "file", scan->path);
  lam_json_text (b, "format", lam_scan_format_name (scan->format));
  lam_json_text (b, "data", scan->kind == LAM_SCAN_COUNTS ? "counts" : "sinogram");
  lam_json_geometry (b, "geometry", scan->geometry);
  lam_json_findings (b, "findings", scan);
  lam_json_print (b);
}

static void
log_line (const char *line)
{
  lam_cli_print ("%s", line);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("log");
  lam_json_text (b, "text", line);
  lam_json_print (b);
}

void
lam_report_dataset (const LamDataset *d, const LamScan *scan)
{
  for (guint i = 0; i < d->log->len; i++) {
    const char *line = d->log->pdata[i];
    gboolean said = FALSE;
    for (guint f = 0; f < scan->findings->len; f++)
      said |= g_str_equal (line, ((const LamFinding *) scan->findings->pdata[f])->text);
    if (!said)
      log_line (line);
  }
}

void
lam_report_center (const LamCenter *c)
{
  lam_cli_print (_ ("centre of rotation (COR): channel %s ± %s, confidence %s, found by %s%s%s%s"),
                 lam_cli_format ("%.2f", c->channel), lam_cli_format ("%.2f", c->width),
                 lam_cli_format ("%.2f", c->confidence), c->method ? c->method : "-", c->note ? " (" : "",
                 c->note ? c->note : "", c->note ? ")" : "");
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("center");
  lam_json_number (b, "channel", c->channel);
  lam_json_number (b, "width", c->width);
  lam_json_number (b, "confidence", c->confidence);
  lam_json_text (b, "method", c->method);
  lam_json_text (b, "note", c->note);
  lam_json_print (b);
}

void
lam_report_plan (const LamDataset *d, const LamReconParams *params)
{
  const LamGeometry *g = d->geometry;
  g_autoptr (GError) error = NULL;
  g_autoptr (LamPlan) plan = lam_recon_plan (g, d->weights != NULL, TRUE, params, &error);
  lam_cli_print_geometry (g, FALSE);
  if (!plan)
    return; /* the run says why */
  LamDevices *set = lam_plan_devices (plan);
  lam_cli_print (_ ("plan: %s in all, host %s"), lam_cli_bytes (lam_plan_total (plan)),
                 lam_cli_bytes (lam_plan_peak (plan, LAM_HOST)));
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("plan");
  lam_json_geometry (b, "geometry", g);
  lam_json_bytes (b, "total_bytes", lam_plan_total (plan));
  lam_json_bytes (b, "host_bytes", lam_plan_peak (plan, LAM_HOST));
  lam_json_bytes (b, "copied_bytes", lam_plan_copied (plan));
  lam_json_open_array (b, "devices");
  for (int i = 0; i < lam_devices_count (set); i++) {
    lam_json_open (b, NULL);
    lam_json_text (b, "name", lam_devices_get (set, i)->name);
    lam_json_bytes (b, "bytes", lam_plan_peak (plan, i));
    lam_json_close (b);
  }
  lam_json_close_array (b);
  lam_json_print (b);
}

/* ---- hooks ---- */

static void
on_log (const char *line, void *data)
{
  if (!g_str_has_prefix (line, "iteration ")) /* these come as numbers */
    log_line (line);
}

static void
on_iteration (const LamReconIteration *it, void *data)
{
  const LamReconParams *k = data;
  double left = it->seconds * (double) (k->iterations - it->iteration);
  lam_cli_print (_ ("iteration %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                    ": change %s %%, cost %s (data %s, prior %s), %s s, about %s s left"),
                 it->iteration, k->iterations, lam_cli_format ("%.3f", it->change_percent),
                 lam_cli_format ("%.6g", it->cost), lam_cli_format ("%.5g", it->data_cost),
                 lam_cli_format ("%.5g", it->prior_cost), lam_cli_format ("%.2f", it->seconds),
                 lam_cli_format ("%.0f", ceil (left)));
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("iteration");
  lam_json_int (b, "iteration", it->iteration);
  lam_json_int (b, "of", k->iterations);
  lam_json_int (b, "subsets", it->subsets);
  lam_json_number (b, "change_percent", it->change_percent);
  lam_json_number (b, "cost", it->cost);
  lam_json_number (b, "data_cost", it->data_cost);
  lam_json_number (b, "prior_cost", it->prior_cost);
  lam_json_number (b, "mean_step", it->mean_step);
  lam_json_number (b, "seconds", it->seconds);
  lam_json_print (b);
}

LamReconHooks
lam_report_hooks (const LamReconParams *params)
{
  return (LamReconHooks){.log = on_log, .iteration = on_iteration, .data = (void *) params};
}

/* ---- the result ---- */

static const char *
method_name (int method)
{
  return method == LAM_CLI_FBP ? "fbp" : method == LAM_CLI_FDK ? "fdk" : "vcd";
}

/* Iterations finished, those before a resume included. */
static int64_t
iterations (const LamReconResult *r)
{
  return r->iterations->len > 0 ? g_array_index (r->iterations, LamReconIteration, r->iterations->len - 1).iteration
                                : 0;
}

static void
print_json (const LamReconResult *r, const LamReportResult *report, const char *checksum)
{
  const LamGeometry *g = r->geometry;
  const int64_t shape[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
  const double size[3] = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect};
  JsonBuilder *b = lam_json_event ("result");
  lam_json_text (b, "output", report->output);
  lam_json_text (b, "tiff", report->tiff);
  lam_json_text (b, "method", method_name (report->method));
  lam_json_bool (b, "stopped", r->stopped);
  lam_json_text (b, "checkpoint", report->checkpoint);
  lam_json_int (b, "iterations", iterations (r));
  lam_json_number (b, "seconds", r->seconds);
  lam_json_bytes (b, "peak_bytes", r->peak_bytes);
  lam_json_bytes (b, "plan_bytes", r->plan_bytes);
  lam_json_number (b, "center_channel", report->center);
  lam_json_number (b, "center_confidence", report->confidence);
  lam_json_number (b, "center_width", report->width);
  lam_json_number (b, "sigma_y", report->method == LAM_CLI_VCD ? r->sigma_y : NAN);
  lam_json_number (b, "sigma_x", report->method == LAM_CLI_VCD ? r->sigma_x : NAN);
  lam_json_text (b, "checksum", checksum);
  lam_json_ints (b, "shape", shape, 3);
  lam_json_numbers (b, "voxel_size", size, 3);
  lam_json_text (b, "length_unit", g->length_unit);
  lam_json_open_array (b, "devices");
  for (int d = 0; d < r->n_devices; d++) {
    const LamReconDevice *device = &r->devices[d];
    lam_json_open (b, NULL);
    lam_json_text (b, "name", device->name);
    lam_json_bytes (b, "bytes", device->bytes);
    lam_json_bytes (b, "planned_bytes", device->planned_bytes);
    lam_json_number (b, "busy_seconds", device->busy_seconds);
    lam_json_bytes (b, "copied_in", device->copied_in);
    lam_json_bytes (b, "copied_out", device->copied_out);
    lam_json_close (b);
  }
  lam_json_close_array (b);
  lam_json_print (b);
}

void
lam_report_kept (const char *checkpoint, const char *go_on)
{
  lam_cli_print (_ ("the state of the run is kept in %s; continue with:\n  %s"), checkpoint, go_on);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("kept");
  lam_json_text (b, "checkpoint", checkpoint);
  lam_json_text (b, "command", go_on);
  lam_json_print (b);
}

void
lam_report_result (const LamReconResult *r, const LamReportResult *report)
{
  const LamGeometry *g = r->geometry;
  int64_t voxels = g->recon_rows * g->recon_columns * g->recon_slices;
  g_autofree char *checksum = r->checksum ? g_strdup (r->checksum) : lam_volume_checksum (r->volume, voxels);
  if (r->stopped)
    lam_cli_print (_ ("stopped after iteration %" G_GINT64_FORMAT "; its result is kept"), iterations (r));
  if (r->stopped && report->checkpoint)
    lam_report_kept (report->checkpoint, report->go_on);
  else if (r->stopped)
    lam_cli_print (_ ("use --checkpoint next time to be able to go on from there"));
  if (report->output)
    lam_cli_print (_ ("%s: %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " voxels, %s, %s s"),
                   report->output, g->recon_rows, g->recon_columns, g->recon_slices, method_name (report->method),
                   lam_cli_format ("%.2f", r->seconds));
  if (report->tiff)
    lam_cli_print (_ ("%s: %" G_GINT64_FORMAT " TIFF images"), report->tiff, g->recon_slices);
  lam_cli_print (_ ("memory: %s held, %s planned"), lam_cli_bytes (r->peak_bytes), lam_cli_bytes (r->plan_bytes));
  lam_cli_print (_ ("checksum: %s"), checksum);
  if (lam_cli_json)
    print_json (r, report, checksum);
}
