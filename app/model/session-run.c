#include "config.h"

#include <glib/gi18n.h>

#include "core/error.h"
#include "model/session.h"

/* Everything that computes goes through the job queue; until it is there, a command says so. */
static void
not_yet (LamSession *self)
{
  g_autoptr (GError) error = g_error_new (LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, _ ("this build has no solver"));
  lam_session_fail (self, error);
}

void
lam_session_run (LamSession *self)
{
  not_yet (self);
}

void
lam_session_pause (LamSession *self, gboolean pause)
{
  not_yet (self);
}

void
lam_session_stop_keep (LamSession *self)
{
  not_yet (self);
}

void
lam_session_discard (LamSession *self)
{
  not_yet (self);
}

void
lam_session_find_center (LamSession *self)
{
  not_yet (self);
}

void
lam_session_save (LamSession *self, GFile *file)
{
  not_yet (self);
}

gboolean
lam_session_can_save (LamSession *self)
{
  return FALSE;
}
