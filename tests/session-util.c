#include "session-util.h"

#include "cli-util.h"

static gboolean
slow_cb (gpointer data)
{
  g_error ("waited twenty seconds for nothing");
  return G_SOURCE_REMOVE;
}

void
session_wait_for (gboolean (*done) (LamSession *), LamSession *session)
{
  guint alarm = g_timeout_add_seconds (20, slow_cb, NULL);
  while (!done (session))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (alarm);
}

gboolean
session_has_data (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY && lam_session_has_data (session);
}

gboolean
session_asks (LamSession *session)
{
  LamQuestion kind;
  return lam_session_get_question (session, &kind) != NULL;
}

gboolean
session_is_ready (LamSession *session)
{
  return lam_session_get_state (session) == LAM_SESSION_READY;
}

gboolean
session_is_saved (LamSession *session)
{
  return !lam_session_has_unsaved (session);
}

void
session_failed_cb (LamSession *session, GError *error, gpointer data)
{
  g_error ("failed: %s", error->message);
}

LamSession *
session_open_scan (const char *name)
{
  LamSession *session = lam_session_new (NULL);
  g_autofree char *path = cli_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_signal_connect (session, "failed", G_CALLBACK (session_failed_cb), NULL);
  lam_session_open (session, file);
  return session;
}

void
session_assert_ends (LamSession *session)
{
  for (int i = 0; i < 400 && G_OBJECT (session)->ref_count > 1; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_assert_finalize_object (session);
}

LamParameter *
session_parameter (LamSession *session, const char *id)
{
  return lam_parameter_list_find (lam_session_get_parameters (session), id);
}

void
session_set (LamSession *session, const char *id, GVariant *value)
{
  g_autoptr (GError) error = NULL;
  lam_parameter_edit (session_parameter (session, id), value, &error);
  g_assert_no_error (error);
}

char *
session_run_and_save (LamSession *session, const char *name)
{
  g_autofree char *path = cli_path (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_session_run (session);
  session_wait_for (session_is_ready, session);
  g_assert_true (lam_session_can_save (session));
  lam_session_save (session, file);
  session_wait_for (session_is_saved, session);
  return cli_checksum (path);
}

char *
session_line_checksum (const char *options)
{
  cli_run_free (cli_ok ("reconstruct %s --iterations 2 -o line.h5", options));
  return cli_checksum ("line.h5");
}

static gboolean
never (gpointer data)
{
  return G_SOURCE_REMOVE;
}

void
session_let_settle (void)
{
  for (int i = 0; i < 60; i++) {
    guint source = g_timeout_add (5, never, NULL);
    g_main_context_iteration (NULL, TRUE);
    if (g_main_context_find_source_by_id (NULL, source) != NULL)
      g_source_remove (source);
  }
}

void
session_make_scan (const char *name)
{
  cli_run_free (cli_ok ("project --phantom tooth --shape 64x64x8 --views 80 --seed 1 -o %s", name));
}
