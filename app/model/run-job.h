/* run-job.h: a reconstruction as the window starts it: the scan as it is now seen, its detector turned if need be. */
#pragma once

#include "run/job.h"

G_BEGIN_DECLS

/* What belongs to a run, kept with its job. */
typedef struct {
  LamDataset *dataset; /* that it was started on */
  double tilt, tilt_degrees;
  LamPrepareParams prepared; /* how they were read */
  GVariant *parameters;      /* the session's, when it began; or NULL */
} LamRunInfo;

/* NULL for other jobs. */
LamRunInfo *lam_run_info (LamJob *job);

gboolean lam_run_job_is (LamJob *job);

/* What a run with this tilt needs beside @params of an upright one: the turned data are a second copy, which goes to the
 * devices and then away, while the upright ones stay. For the plan and the run alike. */
void lam_run_params_turn (LamReconParams *params, const LamGeometry *geometry, gboolean weighted, double tilt);

/* @dataset was prepared with @prepare (NULL = nothing but transmission), without a tilt; one that is not 0 has the job prepare it again, from the file (opened with
 * @options) or from the arrays of an example. @found: the search that @geometry's centre is from; NULL: it is not from one.
 * Its result is a LamReconResult. */
LamJob *lam_run_job_new (LamDataset *dataset, const LamGeometry *geometry, const LamScanOptions *options,
                         const LamPrepareParams *prepare, double tilt, const LamCenter *found,
                         const LamReconParams *params);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LamReconParams, lam_recon_params_clear)

G_END_DECLS
