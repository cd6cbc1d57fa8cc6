/* recon-jobs.c: the recipes as jobs. */
#include "core/error.h"
#include "io/file.h"
#include "run/job.h"

typedef struct {
  LamDataset *dataset;
  LamReconParams params;
} Recon;

static void
recon_free (gpointer data)
{
  Recon *r = data;
  lam_dataset_unref (r->dataset);
  lam_recon_params_clear (&r->params);
  g_free (r);
}

static gboolean
recon_run (LamJob *job, gpointer data, GError **error)
{
  Recon *r = data;
  LamReconHooks hooks = lam_job_recon_hooks (job);
  if (r->params.method == LAM_METHOD_VCD)
    lam_job_set_target (job, r->params.iterations);
  LamReconResult *result = lam_reconstruct (r->dataset, &r->params, lam_job_get_control (job), &hooks, error);
  if (!result)
    return FALSE;
  lam_job_set_result (job, result, (GDestroyNotify) lam_recon_result_unref);
  return TRUE;
}

LamJob *
lam_job_new_recon (LamDataset *dataset, const LamReconParams *params)
{
  Recon *r = g_new0 (Recon, 1);
  r->dataset = lam_dataset_ref (dataset);
  lam_recon_params_copy (params, &r->params);
  return lam_job_new (dataset->name, recon_run, r, recon_free);
}

typedef struct {
  LamScan *scan; /* NULL: the example */
  LamPrepareParams params;
} Load;

static void
load_free (gpointer data)
{
  Load *l = data;
  lam_scan_free (l->scan);
  lam_prepare_params_clear (&l->params);
  g_free (l);
}

static gboolean
load_run (LamJob *job, gpointer data, GError **error)
{
  Load *l = data;
  LamControl *control = lam_job_get_control (job);
  LamDataset *d = l->scan ? lam_dataset_load (l->scan, &l->params, control, error)
                          : lam_dataset_example (LAM_GEOMETRY_PARALLEL, 0, control, error);
  if (!d)
    return FALSE;
  lam_job_set_result (job, d, (GDestroyNotify) lam_dataset_unref);
  for (guint i = 0; i < d->log->len; i++)
    lam_job_log (job, g_ptr_array_index (d->log, i));
  return TRUE;
}

LamJob *
lam_job_new_load (LamScan *scan, const LamPrepareParams *params)
{
  Load *l = g_new0 (Load, 1);
  l->scan = scan;
  if (params)
    lam_prepare_params_copy (params, &l->params);
  else
    lam_prepare_params_init (&l->params);
  return lam_job_new (scan ? scan->path : "example", load_run, l, load_free);
}

typedef struct {
  LamReconResult *result;
  char *path;
} Save;

static void
save_free (gpointer data)
{
  Save *s = data;
  lam_recon_result_unref (s->result);
  g_free (s->path);
  g_free (s);
}

static gboolean
save_run (LamJob *job, gpointer data, GError **error)
{
  Save *s = data;
  return lam_recon_result_save (s->result, s->path, lam_job_get_control (job), error);
}

LamJob *
lam_job_new_save (LamReconResult *result, const char *path)
{
  Save *s = g_new0 (Save, 1);
  s->result = lam_recon_result_ref (result);
  s->path = g_strdup (path);
  LamJob *job = lam_job_new (path, save_run, s, save_free);
  lam_job_set_lasting (job, TRUE);
  return job;
}
