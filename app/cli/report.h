/* report.h: what `reconstruct` says: lines for people, or one JSON object a line. */
#pragma once

#include "ct/center.h"
#include "io/scan.h"
#include "run/recon.h"

G_BEGIN_DECLS

void lam_report_scan (const LamScan *scan);
/* What was done to the data; lines that the import list of @scan already had are left out. */
void lam_report_dataset (const LamDataset *d, const LamScan *scan);
void lam_report_center (const LamCenter *center);
void lam_report_plan (const LamDataset *d, const LamReconParams *params);
void lam_report_warning (const char *text);
/* Log lines and iterations of a run; @params must outlive it. */
LamReconHooks lam_report_hooks (const LamReconParams *params);

typedef struct {
  const char *output, *tiff, *checkpoint; /* NULL: none */
  const char *go_on;                      /* the command that goes on from the checkpoint */
  int method;
  double center, confidence, width; /* channels of the file; NAN = not searched */
} LamReportResult;
/* A state was kept in @checkpoint; @go_on is the command that goes on from it. */
void lam_report_kept (const char *checkpoint, const char *go_on);
void lam_report_result (const LamReconResult *result, const LamReportResult *report);

G_END_DECLS
