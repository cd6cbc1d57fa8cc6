#include "run/newest.h"

#include <pthread.h>

#include "core/cpu-features.h"
#include "core/threadpool.h"
#include "run/numbers.h"

struct _LamNewest {
  gpointer owner;
  const LamNewestFuncs *funcs;
  GMainContext *context;
  pthread_mutex_t lock; /* all below */
  pthread_cond_t asked;
  pthread_t thread;
  gboolean started, quit;
  gpointer request, answer;
  GError *error;
  GSource *wake;
};

LamNewest *
lam_newest_new (gpointer owner, const LamNewestFuncs *funcs)
{
  LamNewest *self = g_new0 (LamNewest, 1);
  self->owner = owner;
  self->funcs = funcs;
  self->context = g_main_context_ref_thread_default ();
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->asked, NULL);
  return self;
}

static gboolean
wake_cb (gpointer data)
{
  LamNewest *self = data;
  g_autoptr (GObject) owner = g_object_ref (self->owner); /* who is told may drop it */
  pthread_mutex_lock (&self->lock);
  g_autoptr (GError) error = g_steal_pointer (&self->error);
  gboolean answer = self->answer != NULL;
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
  if (answer)
    self->funcs->answered (owner);
  if (error)
    self->funcs->failed (owner, error);
  return G_SOURCE_REMOVE;
}

/* With the lock held. */
static void
tell (LamNewest *self, gpointer answer, GError *error)
{
  if (answer) {
    g_clear_pointer (&self->answer, self->funcs->free_answer);
    self->answer = answer;
  }
  g_clear_error (&self->error);
  self->error = error;
  if (self->wake || self->quit)
    return;
  /* The owner outlives its thread (stop joins it) and destroys this source: no reference, or it would be kept. */
  self->wake = g_idle_source_new ();
  g_source_set_static_name (self->wake, self->funcs->name);
  g_source_set_priority (self->wake, G_PRIORITY_DEFAULT);
  g_source_set_callback (self->wake, wake_cb, self, NULL);
  g_source_attach (self->wake, self->context);
  g_source_unref (self->wake);
}

static void *
thread_main (void *data)
{
  LamNewest *self = data;
  lam_fp_setup ();
  lam_thread_give_way ();
  lam_thread_c_numbers ();
  pthread_mutex_lock (&self->lock);
  while (!self->quit) {
    if (!self->request) {
      pthread_cond_wait (&self->asked, &self->lock);
      continue;
    }
    gpointer request = g_steal_pointer (&self->request);
    pthread_mutex_unlock (&self->lock);
    GError *error = NULL;
    gpointer answer = self->funcs->work (self->owner, request, &error);
    self->funcs->free_request (request);
    pthread_mutex_lock (&self->lock);
    tell (self, answer, error);
  }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

void
lam_newest_ask (LamNewest *self, gpointer request)
{
  pthread_mutex_lock (&self->lock);
  gpointer replaced = self->request;
  self->request = request;
  if (!self->started && !self->quit)
    self->started = pthread_create (&self->thread, NULL, thread_main, self) == 0;
  pthread_cond_signal (&self->asked);
  pthread_mutex_unlock (&self->lock);
  if (replaced)
    self->funcs->free_request (replaced);
}

gpointer
lam_newest_take (LamNewest *self)
{
  pthread_mutex_lock (&self->lock);
  gpointer answer = g_steal_pointer (&self->answer);
  pthread_mutex_unlock (&self->lock);
  return answer;
}

void
lam_newest_quit (LamNewest *self)
{
  pthread_mutex_lock (&self->lock);
  self->quit = TRUE;
  pthread_cond_broadcast (&self->asked);
  if (self->wake)
    g_source_destroy (self->wake);
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
}

void
lam_newest_stop (LamNewest *self)
{
  lam_newest_quit (self);
  if (self->started)
    pthread_join (self->thread, NULL);
  self->started = FALSE;
}

void
lam_newest_free (LamNewest *self)
{
  g_clear_pointer (&self->request, self->funcs->free_request);
  g_clear_pointer (&self->answer, self->funcs->free_answer);
  g_clear_error (&self->error);
  g_main_context_unref (self->context);
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->asked);
  g_free (self);
}
