/* control.h: what a solver asks of the outside while it runs: go on? pause? is a picture wanted? how far am I?
 *
 * Flags are C11 atomics that every batch and slab loop may read; the callbacks are called on the solver's thread. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef struct {
  _Atomic int cancel;    /* discard: stop at once, the result is dropped */
  _Atomic int stop_keep; /* stop at the end of the running iteration, keep its result */
  _Atomic int pause;     /* hold between subsets while it is set */
  /* How far: @done of @total steps of the phase @what, e.g. ("iteration 7 of 15", 40, 128). May be NULL. */
  void (*progress) (const char *what, double done, double total, void *data);
  void *data;
} LamControl;

/* TRUE when the caller must end with LAM_ERROR_CANCELLED. @c may be NULL. */
static inline bool
lam_control_cancelled (LamControl *c)
{
  return c && atomic_load_explicit (&c->cancel, memory_order_relaxed);
}

/* Sets a LAM_ERROR_CANCELLED and returns FALSE when cancelled; waits while paused. For between two batches. */
gboolean lam_control_go_on (LamControl *c, GError **error);
void lam_control_progress (LamControl *c, const char *what, double done, double total);

G_END_DECLS
