#include "run/queue.h"

struct _LamQueue {
  GObject parent;
  GListStore *jobs;
  LamJob *running;
};

static GType
get_item_type (GListModel *list)
{
  return LAM_TYPE_JOB;
}

static guint
get_n_items (GListModel *list)
{
  return g_list_model_get_n_items (G_LIST_MODEL (LAM_QUEUE (list)->jobs));
}

static gpointer
get_item (GListModel *list, guint position)
{
  return g_list_model_get_item (G_LIST_MODEL (LAM_QUEUE (list)->jobs), position);
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (LamQueue, lam_queue, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
items_changed_cb (GListModel *jobs, guint position, guint removed, guint added, LamQueue *self)
{
  g_list_model_items_changed (G_LIST_MODEL (self), position, removed, added);
}

static void
lam_queue_dispose (GObject *object)
{
  LamQueue *self = LAM_QUEUE (object);
  if (self->jobs)
    lam_queue_shut_down (self);
  g_clear_object (&self->jobs);
  G_OBJECT_CLASS (lam_queue_parent_class)->dispose (object);
}

static void
lam_queue_class_init (LamQueueClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lam_queue_dispose;
}

static void
lam_queue_init (LamQueue *self)
{
  self->jobs = g_list_store_new (LAM_TYPE_JOB);
  g_signal_connect (self->jobs, "items-changed", G_CALLBACK (items_changed_cb), self);
}

LamQueue *
lam_queue_new (void)
{
  return g_object_new (LAM_TYPE_QUEUE, NULL);
}

static void start_next (LamQueue *self);

static void
finished_cb (LamJob *job, LamQueue *self)
{
  g_signal_handlers_disconnect_by_func (job, finished_cb, self);
  if (self->running == job)
    g_clear_object (&self->running);
  start_next (self);
}

static void
start_next (LamQueue *self)
{
  if (!self->jobs)
    return;
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->jobs));
  for (guint i = 0; !self->running && i < n; i++) {
    g_autoptr (LamJob) job = g_list_model_get_item (G_LIST_MODEL (self->jobs), i);
    if (lam_job_get_state (job) != LAM_JOB_WAITING)
      continue;
    self->running = g_object_ref (job);
    /* A job may tell of its end after it left the list, even after the queue is gone. */
    g_signal_connect_object (job, "finished", G_CALLBACK (finished_cb), self, 0);
    lam_job_start (job);
  }
}

void
lam_queue_add (LamQueue *self, LamJob *job)
{
  g_list_store_append (self->jobs, job);
  start_next (self);
}

void
lam_queue_add_now (LamQueue *self, LamJob *job)
{
  lam_job_start (job);
  g_list_store_append (self->jobs, job);
}

static void
remove_ended_cb (LamJob *job, LamQueue *self)
{
  guint position;
  g_signal_handlers_disconnect_by_func (job, remove_ended_cb, self);
  if (self->jobs && g_list_store_find (self->jobs, job, &position))
    g_list_store_remove (self->jobs, position);
}

void
lam_queue_remove (LamQueue *self, LamJob *job)
{
  if (!lam_job_is_active (job))
    remove_ended_cb (job, self);
  else
    g_signal_connect_object (job, "finished", G_CALLBACK (remove_ended_cb), self, 0);
}

LamJob *
lam_queue_get_running (LamQueue *self)
{
  return self->running;
}

void
lam_queue_shut_down (LamQueue *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->jobs));
  for (guint i = 0; i < n; i++) {
    g_autoptr (LamJob) job = g_list_model_get_item (G_LIST_MODEL (self->jobs), i);
    g_signal_handlers_disconnect_by_func (job, finished_cb, self);
    if (!lam_job_get_lasting (job))
      lam_job_cancel (job);
    lam_job_join (job);
  }
  g_clear_object (&self->running);
}
