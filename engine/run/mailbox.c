#include "run/mailbox.h"

#include <pthread.h>
#include <stdbool.h>

struct _LamMailbox {
  pthread_mutex_t lock;
  LamSnapshot *slot[LAM_PLANES];
};

LamMailbox *
lam_mailbox_new (void)
{
  LamMailbox *m = g_new0 (LamMailbox, 1);
  pthread_mutex_init (&m->lock, NULL);
  return m;
}

void
lam_mailbox_free (LamMailbox *m)
{
  if (!m)
    return;
  for (int i = 0; i < LAM_PLANES; i++)
    g_clear_pointer (&m->slot[i], lam_snapshot_unref);
  pthread_mutex_destroy (&m->lock);
  g_free (m);
}

gboolean
lam_mailbox_put (LamMailbox *m, LamSnapshot *snapshot)
{
  LamPlane plane = lam_snapshot_info (snapshot)->plane;
  gboolean empty = TRUE;
  pthread_mutex_lock (&m->lock);
  for (int i = 0; i < LAM_PLANES; i++)
    empty &= m->slot[i] == NULL;
  LamSnapshot *old = m->slot[plane];
  m->slot[plane] = snapshot;
  pthread_mutex_unlock (&m->lock);
  if (old)
    lam_snapshot_unref (old);
  return empty;
}

LamSnapshot *
lam_mailbox_take (LamMailbox *m, LamPlane plane)
{
  pthread_mutex_lock (&m->lock);
  LamSnapshot *s = m->slot[plane];
  m->slot[plane] = NULL;
  pthread_mutex_unlock (&m->lock);
  return s;
}
