#include "config.h"

#include "model/run-job.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/preprocess.h"

typedef struct {
  LamDataset *dataset;
  LamGeometry *geometry;
  LamScanOptions options;
  LamPrepareParams prepare;
  double tilt;
  LamCenter found; /* method NULL: none */
  LamReconParams params;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  lam_dataset_unref (work->dataset);
  lam_geometry_free (work->geometry);
  lam_recon_params_clear (&work->params);
  lam_prepare_params_clear (&work->prepare);
  g_free (work);
}

static LamDataset *
turned_copy (const Work *work, LamControl *control, GError **error)
{
  const LamGeometry *g = work->dataset->geometry;
  int64_t samples = g->views * g->rows * g->channels;
  float *sinogram = lam_alloc_n (samples, sizeof *sinogram, "sinogram", error);
  if (sinogram == NULL)
    return NULL;
  memcpy (sinogram, work->dataset->sinogram, samples * sizeof *sinogram);
  if (!lam_rotate_detector (sinogram, g->views, g->rows, g->channels, work->tilt, control, error)) {
    lam_free (sinogram);
    return NULL;
  }
  LamDataset *d = lam_dataset_new_take (work->dataset->name, lam_geometry_copy (g), sinogram, NULL);
  d->tilt = work->tilt;
  return d;
}

/* From the file, so that weights and defects are those of the turned data. */
static LamDataset *
turned_scan (const Work *work, LamControl *control, GError **error)
{
  const LamGeometry *g = work->geometry;
  LamPrepareParams prepare = work->prepare; /* borrowed */
  prepare.tilt = work->tilt;
  g_autoptr (LamScan) scan = lam_scan_open (work->dataset->path, &work->options, error);
  g_autoptr (LamDataset) d = scan != NULL ? lam_dataset_load (scan, &prepare, control, error) : NULL;
  if (d == NULL)
    return NULL;
  if (d->geometry->views != g->views || d->geometry->rows != g->rows || d->geometry->channels != g->channels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_CHANGED, _ ("%s has changed since it was opened: open it again"),
                 work->dataset->path);
    return NULL;
  }
  return g_steal_pointer (&d);
}

/* Where the centre is from; the geometry has it already, to the last bit. */
static void
tell_center (LamDataset *d, const LamCenter *found)
{
  double offset = d->geometry->channel_offset;
  lam_dataset_use_center (d, found);
  d->geometry->channel_offset = d->made.center_offset = offset;
}

static gboolean
turned_run (LamJob *job, gpointer data, GError **error)
{
  Work *work = data;
  LamControl *control = lam_job_get_control (job);
  LamReconHooks hooks = lam_job_recon_hooks (job);
  lam_control_progress (control, "turning the detector", -1, 1);
  g_autoptr (LamDataset) turned =
      work->dataset->path != NULL ? turned_scan (work, control, error) : turned_copy (work, control, error);
  if (turned == NULL)
    return FALSE;
  if (work->params.method == LAM_METHOD_VCD)
    lam_job_set_target (job, work->params.iterations);
  /* Nobody else has it: it takes the run's geometry and gives its arrays away. */
  lam_geometry_free (turned->geometry);
  turned->geometry = g_steal_pointer (&work->geometry);
  if (work->found.method != NULL)
    tell_center (turned, &work->found);
  g_autofree char *line = g_strdup_printf (_ ("detector turned by %.3f degrees"), work->tilt * 180 / G_PI);
  lam_job_log (job, line);
  LamReconResult *result = lam_reconstruct (turned, &work->params, control, &hooks, error);
  if (result == NULL)
    return FALSE;
  lam_job_set_result (job, result, (GDestroyNotify) lam_recon_result_unref);
  return TRUE;
}

static void
info_free (gpointer data)
{
  LamRunInfo *info = data;
  lam_dataset_unref (info->dataset);
  g_clear_pointer (&info->parameters, g_variant_unref);
  lam_prepare_params_clear (&info->prepared);
  g_free (data);
}

LamRunInfo *
lam_run_info (LamJob *job)
{
  return g_object_get_data (G_OBJECT (job), "lam-run");
}

gboolean
lam_run_job_is (LamJob *job)
{
  return lam_run_info (job) != NULL;
}

void
lam_run_params_turn (LamReconParams *params, const LamGeometry *g, gboolean weighted, double tilt)
{
  params->consume = tilt != 0;
  params->held = tilt == 0 ? 0 : g->views * g->rows * g->channels * (weighted ? 8 : 4);
}

LamJob *
lam_run_job_new (LamDataset *dataset, const LamGeometry *geometry, const LamScanOptions *options,
                 const LamPrepareParams *prepare, double tilt, const LamCenter *found, const LamReconParams *params)
{
  LamJob *job;
  if (tilt == 0) {
    g_autoptr (LamDataset) seen = lam_dataset_with_geometry (dataset, geometry);
    if (found != NULL)
      tell_center (seen, found);
    job = lam_job_new_recon (seen, params);
  } else {
    Work *work = g_new0 (Work, 1);
    work->dataset = lam_dataset_ref (dataset);
    work->geometry = lam_geometry_copy (geometry);
    work->options = *options;
    if (prepare != NULL)
      lam_prepare_params_copy (prepare, &work->prepare);
    else
      lam_prepare_params_init (&work->prepare);
    work->tilt = tilt;
    if (found != NULL)
      work->found = *found;
    lam_recon_params_copy (params, &work->params);
    lam_run_params_turn (&work->params, dataset->geometry, dataset->weights != NULL, tilt);
    job = lam_job_new (dataset->name, turned_run, work, work_free);
  }
  LamRunInfo *info = g_new0 (LamRunInfo, 1);
  info->dataset = lam_dataset_ref (dataset);
  info->tilt = tilt;
  info->tilt_degrees = tilt * 180 / G_PI;
  g_object_set_data_full (G_OBJECT (job), "lam-run", info, info_free);
  return job;
}
