#include "core/control.h"

#include "core/error.h"

gboolean
lam_control_go_on (LamControl *c, GError **error)
{
  if (!c)
    return TRUE;
  while (atomic_load (&c->pause) && !atomic_load (&c->cancel) && !atomic_load (&c->stop_keep))
    g_usleep (5000);
  if (!atomic_load (&c->cancel))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_CANCELLED, "cancelled");
  return FALSE;
}

void
lam_control_progress (LamControl *c, const char *what, double done, double total)
{
  if (c && c->progress)
    c->progress (what, done, total, c->data);
}
