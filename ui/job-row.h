/* job-row.h: one job in the jobs list: what it does, how far, and pause, stop and keep, discard; ended, show and
 * remove. */
#pragma once

#include <gtk/gtk.h>

#include "model/session.h"

G_BEGIN_DECLS

#define LAM_TYPE_JOB_ROW (lam_job_row_get_type ())
G_DECLARE_FINAL_TYPE (LamJobRow, lam_job_row, LAM, JOB_ROW, GtkListBoxRow)

GtkWidget *lam_job_row_new (LamJob *job, LamSession *session);

G_END_DECLS
