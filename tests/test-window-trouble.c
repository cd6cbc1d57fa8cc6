/* test-window-trouble.c: what goes wrong on the disk is said in the window, and nothing is lost; five hundred edits are taken
 * back and made again by keys. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "widget-util.h"
#include "window-util.h"

/* The text of an information bar that is shown; NULL: there is none. */
static const char *
bar_text (GtkWidget *widget)
{
  if (GTK_IS_INFO_BAR (widget)) {
    GtkWidget *label = window_find (widget, GTK_TYPE_LABEL);
    return gtk_info_bar_get_revealed (GTK_INFO_BAR (widget)) && label != NULL ? gtk_label_get_text (GTK_LABEL (label))
                                                                              : NULL;
  }
  const char *found = NULL;
  for (GtkWidget *c = gtk_widget_get_first_child (widget); c != NULL && found == NULL;
       c = gtk_widget_get_next_sibling (c))
    found = bar_text (c);
  return found;
}

static gboolean
has_bar (gpointer window)
{
  return bar_text (window) != NULL;
}

static LamResult *
only_result (LamSession *session)
{
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (session))), ==, 1);
  return lam_results_get (lam_session_get_results (session), 0);
}

static gboolean
is_safe (gpointer session)
{
  return lam_result_get_safe (only_result (session));
}

static gboolean
is_stored (gpointer session)
{
  return lam_session_get_home (session) != NULL && !lam_session_get_modified (session);
}

static void
test_full_disk (void)
{
  GtkWidget *window = window_new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", NULL),
                  *path = g_build_filename (folder, "result.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  struct rlimit whole, small;
  lam_session_set_autosave (session, 0); /* which would complain too */
  window_run_once (window);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &whole);
  small = (struct rlimit){10000, whole.rlim_max};
  setrlimit (RLIMIT_FSIZE, &small);
  lam_session_save_result (session, only_result (session), file);
  test_wait (has_bar, window);
  setrlimit (RLIMIT_FSIZE, &whole);
  g_test_message ("%s", bar_text (window));
  g_assert_nonnull (strstr (bar_text (window), "result.h5"));
  g_assert_false (is_safe (session));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS)); /* nor half of it */
  lam_session_save_result (session, only_result (session), file);
  test_wait (is_safe, session);
  window_close (window);
  g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* A saved result's file goes away: it is still in view, and a session that is saved then holds it itself. */
static void
test_deleted (void)
{
  GtkWidget *window = window_new_example (1);
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", NULL),
                  *path = g_build_filename (folder, "result.h5", NULL),
                  *kept = g_build_filename (folder, "kept.lamina.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path), whole = g_file_new_for_path (kept);
  window_run_once (window);
  lam_session_save_result (session, only_result (session), file);
  test_wait (is_safe, session);
  const LamReconResult *recon = lam_result_get_recon (only_result (session));
  const LamGeometry *g = recon->geometry;
  gsize n = (gsize) (g->recon_rows * g->recon_columns * g->recon_slices);
  g_autofree float *volume = g_memdup2 (recon->volume, n * sizeof (float));
  g_assert_cmpint (g_unlink (path), ==, 0);
  window_activate (window, "win.undo");
  window_activate (window, "win.redo");
  test_wait_frames (window, 5);
  test_wait (window_has_picture, session);
  lam_session_save_session (session, whole);
  test_wait (is_stored, session);
  window_close (window);

  window = window_new ();
  session = lam_window_get_session (LAM_WINDOW (window));
  lam_window_open_file (LAM_WINDOW (window), whole);
  test_wait (is_stored, session);
  test_wait (window_has_picture, session);
  recon = lam_result_get_recon (only_result (session));
  g_assert_nonnull (recon->volume);
  g_assert_cmpmem (recon->volume, n * sizeof (float), volume, n * sizeof (float));
  window_close (window);
  g_unlink (kept);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* ---- five hundred edits ---- */

static GVariant *
random_value (LamParameter *p, GRand *rand)
{
  switch (lam_parameter_get_kind (p)) {
  case LAM_PARAMETER_NUMBER:
    return g_variant_new_double (lam_parameter_get_number (p) * g_rand_double_range (rand, 0.8, 1.25)
                                 + g_rand_double_range (rand, -0.5, 0.5));
  case LAM_PARAMETER_INTEGER:
    return g_variant_new_int64 (lam_parameter_get_integer (p) + g_rand_int_range (rand, -3, 4));
  case LAM_PARAMETER_SWITCH:
    return g_variant_new_boolean (!lam_parameter_get_boolean (p));
  case LAM_PARAMETER_CHOICE: {
    guint n = lam_parameter_get_n_choices (p);
    return g_variant_new_string (lam_parameter_get_choice (p, (guint) g_rand_int_range (rand, 0, (gint32) n))->id);
  }
  default:
    return NULL;
  }
}

static void
assert_same_state (LamSession *session, GVariant *truth)
{
  g_autoptr (GVariant) now = lam_parameter_list_save (lam_session_get_parameters (session));
  g_assert_cmpmem (g_variant_get_data (now), g_variant_get_size (now), g_variant_get_data (truth),
                   g_variant_get_size (truth));
}

static void
test_random_walk (void)
{
  GtkWidget *window = window_new_example (1);
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to press keys with");
    window_close (window);
    return;
  }
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  LamUndo *undo = lam_session_get_undo (session);
  LamParameterList *list = lam_session_get_parameters (session);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261130);
  guint edits = 0, refused = 0;
  lam_undo_clear (undo);
  lam_undo_set_merge_window (undo, 0);
  g_autoptr (GVariant) first = lam_parameter_list_save (list);
  while (edits < 500) {
    g_autoptr (LamParameter) p = g_list_model_get_item (
        G_LIST_MODEL (list),
        (guint) g_rand_int_range (rand, 0, (gint32) g_list_model_get_n_items (G_LIST_MODEL (list))));
    GVariant *value = lam_parameter_get_visible (p) ? random_value (p, rand) : NULL;
    g_autoptr (GError) error = NULL;
    if (value == NULL)
      continue;
    lam_parameter_edit (p, value, &error);
    refused += error != NULL;
    if (g_rand_int_range (rand, 0, 10) == 0)
      lam_undo_undo (undo);
    if (g_rand_int_range (rand, 0, 20) == 0)
      lam_undo_redo (undo);
    edits++;
    if (edits % 50 == 0)
      test_wait_frames (window, 2);
  }
  guint steps = lam_undo_get_n_steps (undo);
  g_test_message ("500 edits, %u refused, %u steps", refused, steps);
  g_assert_cmpuint (steps, >, 200);
  g_autoptr (GVariant) last = lam_parameter_list_save (list);
  test_focus_window (window);
  test_xdotool ("key --delay 2 --repeat %u ctrl+z", steps);
  test_wait_frames (window, 10);
  g_assert_cmpuint (lam_undo_get_n_steps (undo), ==, 0);
  assert_same_state (session, first);
  test_xdotool ("key --delay 2 --repeat %u ctrl+shift+z", steps);
  test_wait_frames (window, 10);
  assert_same_state (session, last);
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-trouble/full-disk", test_full_disk);
  g_test_add_func ("/window-trouble/deleted", test_deleted);
  g_test_add_func ("/window-trouble/random-walk", test_random_walk);
  return window_test_run ();
}
