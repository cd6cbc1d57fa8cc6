#include "config.h"

#include "model/latest.h"

typedef struct {
  GWeakRef owner;
  LamLatest *latest; /* lives as long as the owner */
  const LamLatestFuncs *funcs;
  gpointer job;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  g_weak_ref_clear (&work->owner);
  work->funcs->free_job (work->job);
  g_free (work);
}

static void
work_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Work *work = data;
  work->funcs->work (work->job);
  g_task_return_boolean (task, TRUE);
}

static void
done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr (GObject) owner = g_weak_ref_get (&work->owner);
  if (owner == NULL)
    return;
  LamLatest *self = work->latest;
  gboolean again = self->again;
  self->working = self->again = FALSE;
  work->funcs->done (owner, work->job);
  if (again)
    lam_latest_ask (self, self->least_us);
}

static gboolean
later_cb (gpointer data)
{
  LamLatest *self = data;
  self->later = 0;
  lam_latest_ask (self, 0);
  return G_SOURCE_REMOVE;
}

void
lam_latest_init (LamLatest *self, gpointer owner, const LamLatestFuncs *funcs)
{
  *self = (LamLatest){.funcs = funcs, .owner = owner};
}

void
lam_latest_ask (LamLatest *self, gint64 least_us)
{
  if (self->working) {
    self->again = TRUE;
    self->least_us = least_us;
    return;
  }
  gint64 now = g_get_monotonic_time (), wait = self->began != 0 ? self->began + least_us - now : 0;
  if (wait > 0) {
    if (self->later == 0)
      self->later = g_timeout_add (wait / 1000 + 1, later_cb, self);
    return;
  }
  g_clear_handle_id (&self->later, g_source_remove);
  gpointer job = self->funcs->make (self->owner);
  if (job == NULL)
    return;
  self->began = now;
  self->working = TRUE;
  Work *work = g_new0 (Work, 1);
  g_weak_ref_init (&work->owner, self->owner);
  work->latest = self;
  work->funcs = self->funcs;
  work->job = job;
  /* No source object: a late worker must not keep the owner alive. */
  g_autoptr (GTask) task = g_task_new (NULL, NULL, done_cb, NULL);
  g_task_set_name (task, self->funcs->name);
  g_task_set_task_data (task, work, work_free);
  g_task_run_in_thread (task, work_thread);
}

void
lam_latest_clear (LamLatest *self)
{
  g_clear_handle_id (&self->later, g_source_remove);
  self->again = FALSE;
}

gboolean
lam_latest_is_idle (const LamLatest *self)
{
  return !self->working && !self->again && self->later == 0;
}
