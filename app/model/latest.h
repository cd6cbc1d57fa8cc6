/* latest.h: work on another thread, one at a time: what is asked for meanwhile is done once more, with what is newest then.
 *
 * Part of the object whose work it is; an answer that comes after the object is gone is dropped. Main thread. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  const char *name;
  gpointer (*make) (gpointer owner);           /* what to work on; NULL = nothing now */
  void (*work) (gpointer job);                 /* on the other thread */
  void (*done) (gpointer owner, gpointer job); /* back on the main thread */
  GDestroyNotify free_job;
} LamLatestFuncs;

typedef struct {
  const LamLatestFuncs *funcs;
  gpointer owner; /* a GObject */
  gboolean working, again;
  gint64 began, least_us; /* of the ask that is to be done again */
  guint later;
} LamLatest;

void lam_latest_init (LamLatest *self, gpointer owner, const LamLatestFuncs *funcs);
/* Not sooner than @least_us after it last began. */
void lam_latest_ask (LamLatest *self, gint64 least_us);
void lam_latest_clear (LamLatest *self); /* from the owner's dispose */
gboolean lam_latest_is_idle (const LamLatest *self);

G_END_DECLS
