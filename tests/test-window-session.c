/* test-window-session.c: what a session file holds of the Sequence workspace: which one was looked at, a sequence without any
 * scan, and maps; each opened again in a window of its own. */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <string.h>

#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static gboolean
is_settled (gpointer session)
{
  return lam_sequence_session_is_settled (session) && lam_sequence_session_get_result (session) != NULL;
}

static gboolean
is_stored (gpointer session)
{
  return lam_session_get_home (session) != NULL && !lam_session_get_modified (session);
}

static gboolean
is_bare (gpointer session)
{
  return lam_session_is_bare (session);
}

static gboolean
is_unsaved (gpointer window)
{
  return g_str_has_prefix (gtk_window_get_title (window), "• ");
}

static GFile *
file_of (const char *name)
{
  g_autofree char *path = g_build_filename (g_get_user_state_dir (), name, NULL);
  g_mkdir_with_parents (g_get_user_state_dir (), 0700);
  return g_file_new_for_path (path);
}

static void
save_as (GtkWidget *window, GFile *file)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  lam_session_save_session (session, file);
  test_wait (is_stored, session);
}

/* A sequence and nothing else is a session: saved by its key, said to be unsaved, and opened over an example as it was, in
 * the workspace where it was left; its undo goes on. */
static void
test_bare (void)
{
  GtkWidget *window = window_new ();
  g_autoptr (GFile) file = file_of ("bare.lamina.h5");
  g_autoptr (GError) error = NULL;
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  test_wait (is_settled, s);
  g_assert_true (lam_session_is_bare (session));
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "10 + 50*abs(sin(pi*n/7))", 33, &error));
  lam_sequence_page_show_tab (lam_window_get_sequence_page (LAM_WINDOW (window)), "states");
  test_wait (is_unsaved, window);
  save_as (window, file);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "bare.lamina.h5 — Lamina");
  g_assert_nonnull (lam_sequence_session_add_tissue (s, "Lesion", 1234.5678901234567, 1.0 / 3, NULL, &error));
  window_activate (window, "win.save-session"); /* to its home */
  test_wait (is_stored, session);
  g_autoptr (GVariant) saved = lam_sequence_session_save (s);
  window_close (window);

  window = window_new_example (1);
  session = lam_window_get_session (LAM_WINDOW (window));
  g_assert_false (lam_session_is_bare (session));
  lam_session_open (session, file);
  test_wait (is_bare, session);
  test_wait (is_stored, session);
  g_assert_true (lam_window_shows_sequence (LAM_WINDOW (window)));
  g_assert_cmpstr (lam_sequence_page_get_tab (lam_window_get_sequence_page (LAM_WINDOW (window))), ==, "states");
  g_assert_null (lam_session_get_title (session));
  g_assert_null (lam_session_get_geometry (session));
  s = lam_window_get_sequence_session (LAM_WINDOW (window));
  test_wait (is_settled, s);
  g_autoptr (GVariant) read = lam_sequence_session_save (s);
  g_assert_true (g_variant_equal (saved, read));
  test_wait_frames (window, 3);
  window_save_picture (window, "session-bare.png");
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "30", 12, &error));
  test_wait (is_unsaved, window);
  window_activate (window, "win.undo");
  g_autoptr (GVariant) undone = lam_sequence_session_save (s);
  g_assert_true (g_variant_equal (saved, undone));
  test_wait (is_stored, session);
  /* A scan that is opened beside it makes it a session as any other. */
  lam_session_open_example (session);
  test_wait (window_is_ready, session);
  g_assert_false (lam_session_is_bare (session));
  window_close (window);
}

/* Opened where it was left, with a scan beside it; left in the other workspace it is that one. */
static void
test_workspace (void)
{
  static const char *const names[] = {"sequence", "reconstruct"};
  for (int i = 0; i < 2; i++) {
    GtkWidget *window = window_new_example (1);
    g_autoptr (GFile) file = file_of ("place.lamina.h5");
    lam_window_show_workspace (LAM_WINDOW (window), "sequence");
    test_wait (is_settled, lam_window_get_sequence_session (LAM_WINDOW (window)));
    lam_window_show_workspace (LAM_WINDOW (window), names[i]);
    g_autofree char *log = g_strdup (lam_session_get_log (lam_window_get_session (LAM_WINDOW (window))));
    save_as (window, file);
    window_close (window);

    window = window_new ();
    LamSession *session = lam_window_get_session (LAM_WINDOW (window));
    lam_window_show_workspace (LAM_WINDOW (window), names[1 - i]);
    lam_session_open (session, file);
    test_wait (is_stored, session);
    g_assert_cmpint (lam_window_shows_sequence (LAM_WINDOW (window)), ==, i == 0);
    /* Its lines are there once. */
    const char *now = lam_session_get_log (session);
    g_auto (GStrv) before = g_strsplit (log, "\n", 2);
    g_assert_true (g_str_has_prefix (now, log));
    g_assert_null (strstr (strstr (now, before[0]) + 1, before[0]));
    window_close (window);
  }
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-session/bare", test_bare);
  g_test_add_func ("/window-session/workspace", test_workspace);
  return window_test_run ();
}
