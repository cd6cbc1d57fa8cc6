#include "model/linger.h"

gboolean
lam_linger_begin (void)
{
  GApplication *application = g_application_get_default ();
  if (application != NULL)
    g_application_hold (application);
  return application != NULL;
}

void
lam_linger_end (void)
{
  GApplication *application = g_application_get_default ();
  if (application != NULL)
    g_application_release (application);
}

static void
finished_cb (LamJob *job, gpointer data)
{
  g_signal_handlers_disconnect_by_func (job, finished_cb, data);
  lam_linger_end ();
}

void
lam_linger_for (LamJob *job)
{
  if (lam_job_is_active (job) && lam_linger_begin ())
    g_signal_connect (job, "finished", G_CALLBACK (finished_cb), NULL);
}
