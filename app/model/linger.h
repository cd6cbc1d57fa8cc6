/* linger.h: what must end before the program does, though no window waits for it any more. Main thread only. */
#pragma once

#include "run/job.h"

G_BEGIN_DECLS

/* The program stays until @job has ended: at most until its queue is shut down, which waits for it. Without an application
 * (tests; one that is ending) nothing stays. */
void lam_linger_for (LamJob *job);
/* The same between two calls. FALSE = there is no application to hold. */
gboolean lam_linger_begin (void);
void lam_linger_end (void);

G_END_DECLS
