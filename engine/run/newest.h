/* newest.h: a thread of its own that answers requests, of which the newest always wins: one that comes while it works replaces the
 * one that waits, and none waits in line. Answers are told on the context that was the default when this was made.
 *
 * Part of a GObject, its owner: lam_newest_stop () from dispose, lam_newest_free () from finalize. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef struct {
  const char *name;                                                    /* of the source that wakes the main thread */
  gpointer (*work) (gpointer owner, gpointer request, GError **error); /* on the thread: an answer, or NULL */
  void (*answered) (gpointer owner);                                   /* lam_newest_take () has one */
  void (*failed) (gpointer owner, const GError *error);                /* of the newest request */
  GDestroyNotify free_request, free_answer;
} LamNewestFuncs;

typedef struct _LamNewest LamNewest;

LamNewest *lam_newest_new (gpointer owner, const LamNewestFuncs *funcs);
/* Any thread; takes @request. The thread starts with the first. */
void lam_newest_ask (LamNewest *self, gpointer request);
/* The newest answer, the caller's now; NULL when none is new. */
gpointer lam_newest_take (LamNewest *self);
/* Main thread: nothing is told from now on, and no more begun. The owner cancels what goes on, if it can. */
void lam_newest_quit (LamNewest *self);
/* The same, and waits for what goes on. */
void lam_newest_stop (LamNewest *self);
void lam_newest_free (LamNewest *self);

G_END_DECLS
