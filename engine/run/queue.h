/* queue.h: jobs one after the other, as the devices serve one run at a time. A GListModel of LamJob, oldest first. */
#pragma once

#include "run/job.h"

G_BEGIN_DECLS

#define LAM_TYPE_QUEUE (lam_queue_get_type ())
G_DECLARE_FINAL_TYPE (LamQueue, lam_queue, LAM, QUEUE, GObject)

LamQueue *lam_queue_new (void);
/* Takes a reference; started when all before it have ended. */
void lam_queue_add (LamQueue *q, LamJob *job);
/* Takes a reference; started at once, beside what runs: for files, which need no device. */
void lam_queue_add_now (LamQueue *q, LamJob *job);
/* Drops a job from the list: at once when it has ended, else (it was cancelled) when it ends. */
void lam_queue_remove (LamQueue *q, LamJob *job);
/* The one that runs, or NULL. */
LamJob *lam_queue_get_running (LamQueue *q);
/* Cancels all but what lasts (lam_job_set_lasting ()), and waits; for quitting. */
void lam_queue_shut_down (LamQueue *q);

G_END_DECLS
