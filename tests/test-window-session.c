/* test-window-session.c: what a session file holds of the Sequence workspace: which one was looked at, a sequence without any
 * scan, and maps; each opened again in a window of its own. */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <string.h>

#include "io/nifti.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

#define REST 60 /* frames: edits are gathered for half a second before the session is told of them */

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

static char *folder; /* of what is saved here */

static GFile *
file_of (const char *name)
{
  return g_file_new_build_filename (folder, name, NULL);
}

static void
save_as (GtkWidget *window, GFile *file)
{
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  test_wait_frames (window, REST);
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

/* ---- maps ---- */

static LamMapsModel *
maps_of (GtkWidget *window)
{
  return lam_maps_tab_get_model (lam_sequence_page_get_maps (lam_window_get_sequence_page (LAM_WINDOW (window))));
}

static gboolean
are_settled (gpointer maps)
{
  return lam_maps_model_is_settled (maps) && lam_map_pictures_is_settled (lam_maps_model_get_pictures (maps));
}

static LamMapsResult *
result_of (GtkWidget *window)
{
  return lam_map_pictures_get_result (lam_maps_model_get_pictures (maps_of (window)));
}

static void
assert_same (const LamMapsResult *a, const LamMapsResult *b)
{
  g_assert_cmpint (a->n, ==, b->n);
  for (int i = 0; i < a->n; i++) {
    g_assert_cmpstr (a->maps[i].name, ==, b->maps[i].name);
    g_assert_cmpstr (a->maps[i].unit, ==, b->maps[i].unit);
    g_assert_cmpstr (a->maps[i].title, ==, b->maps[i].title);
    g_assert_cmpmem (a->maps[i].values, a->match.voxels * 4, b->maps[i].values, b->match.voxels * 4);
  }
  g_assert_cmpmem (a->match.state, a->match.voxels, b->match.state, b->match.voxels);
  g_assert_cmpmem (a->match.count, sizeof a->match.count, b->match.count, sizeof b->match.count);
}

/* A short train and what is made of it, matched. @series: a file for it; NULL: the phantom itself. */
static GtkWidget *
new_matched (const char *series)
{
  GtkWidget *window = window_new ();
  g_autoptr (GError) error = NULL;
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  LamMapsModel *maps = maps_of (window);
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "10 + 50*abs(sin(2*pi*n/N))", 60, &error));
  g_assert_true (lam_parameter_edit (lam_parameter_list_find (lam_maps_model_get_parameters (maps), "T1"),
                                     g_variant_new_string ("300:2500:30"), &error));
  g_assert_true (lam_maps_model_make_dictionary (maps, &error));
  g_assert_true (lam_maps_model_make_phantom (maps, &error));
  test_wait (are_settled, maps);
  if (series != NULL) {
    const LamMrSeries *m = lam_maps_model_get_series (maps)->s;
    g_assert_true (lam_nifti_write (series, m->nifti, m->re, m->im, m->contrasts, "phantom", NULL, &error));
    g_assert_true (lam_maps_model_open_series (maps, series, &error));
    test_wait (are_settled, maps);
  }
  g_assert_true (lam_maps_model_match (maps, &error));
  g_assert_no_error (error);
  test_wait (are_settled, maps);
  lam_map_pictures_choose (lam_maps_model_get_pictures (maps), "T2");
  return window;
}

static GtkWidget *
open_again (GFile *file)
{
  GtkWidget *window = window_new ();
  lam_session_open (lam_window_get_session (LAM_WINDOW (window)), file);
  test_wait (is_stored, lam_window_get_session (LAM_WINDOW (window)));
  g_assert_true (lam_window_shows_sequence (LAM_WINDOW (window)));
  return window;
}

static LamMapsResult *
look_at_maps (GtkWidget *window)
{
  lam_sequence_page_show_tab (lam_window_get_sequence_page (LAM_WINDOW (window)), "maps");
  test_wait_frames (window, 3);
  test_wait (are_settled, maps_of (window));
  return result_of (window);
}

/* The maps are there as soon as the session is, and their voxels tell; looked at, series and dictionary are had again, and
 * with them the fit, which makes no other maps and is no change. */
static void
test_maps (void)
{
  g_autofree char *series = g_build_filename (folder, "series.nii", NULL);
  for (int from_file = 0; from_file < 2; from_file++) {
    g_autoptr (GFile) file = file_of ("maps.lamina.h5");
    GtkWidget *window = new_matched (from_file ? series : NULL);
    g_autoptr (LamMapsResult) truth = lam_maps_result_ref (result_of (window));
    g_autofree float *t1 = g_memdup2 (truth->maps[0].values, truth->match.voxels * 4);
    save_as (window, file);
    window_close (window);

    window = open_again (file);
    LamSession *session = lam_window_get_session (LAM_WINDOW (window));
    LamMapPictures *pictures = lam_maps_model_get_pictures (maps_of (window));
    LamMapsResult *kept = result_of (window);
    g_assert_nonnull (kept);
    g_assert_null (kept->dictionary);
    assert_same (truth, kept);
    g_assert_cmpstr (lam_map_pictures_get_chosen (pictures)->name, ==, "T2");
    g_autofree char *first = g_strdup (lam_maps_model_get_text (maps_of (window), LAM_MAPS_MATCH));
    g_test_message ("%s", first);
    g_assert_nonnull (strstr (first, "as the session has them"));
    lam_slice_model_set_index (lam_map_pictures_get_slices (pictures), 1);
    lam_slice_model_set_mark (lam_map_pictures_get_slices (pictures), 32, 30);
    test_wait (are_settled, maps_of (window));
    g_autofree char *said = g_strdup_printf ("T1 %.4g ms", t1[lam_maps_series_voxel (kept->series, 1, 32, 30)]);
    g_autofree char *words = lam_voxel_fit_describe (lam_map_pictures_get_fit (pictures));
    g_test_message ("%s", words);
    g_assert_nonnull (strstr (words, said));

    LamMapsResult *again = look_at_maps (window);
    g_test_message ("%s", lam_maps_model_get_text (maps_of (window), LAM_MAPS_MATCH));
    g_assert_true (again != kept);
    g_assert_nonnull (again->dictionary);
    assert_same (truth, again);
    g_assert_cmpint (lam_map_pictures_get_fit (pictures)->atoms, >, 0);
    g_assert_cmpint (lam_map_pictures_get_fit (pictures)->row, ==, 32);
    test_wait_frames (window, REST);
    g_assert_false (lam_session_get_modified (session));
    test_wait_frames (window, 3);
    window_save_picture (window, "session-maps.png");
    window_close (window);
  }
  g_unlink (series);
}

/* A series that is not as it was: the maps stay, and it is said. Moved with the session it is found. */
static void
test_series (void)
{
  g_autofree char *other = g_build_filename (folder, "elsewhere", NULL),
                  *series = g_build_filename (folder, "series.nii", NULL),
                  *moved = g_build_filename (other, "series.nii", NULL),
                  *path = g_build_filename (folder, "maps.lamina.h5", NULL),
                  *moved_path = g_build_filename (other, "maps.lamina.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path), moved_file = g_file_new_for_path (moved_path);
  GtkWidget *window = new_matched (series);
  g_autoptr (LamMapsResult) truth = lam_maps_result_ref (result_of (window));
  save_as (window, file);
  window_close (window);
  g_mkdir (other, 0700);
  g_assert_cmpint (g_rename (series, moved), ==, 0);
  g_assert_cmpint (g_rename (path, moved_path), ==, 0);

  window = open_again (moved_file);
  LamMapsResult *again = look_at_maps (window);
  g_assert_nonnull (again->dictionary);
  g_assert_cmpstr (again->series->s->path, ==, moved);
  assert_same (truth, again);
  window_close (window);

  g_autofree char *bytes = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (moved, &bytes, &n, NULL));
  g_assert_true (g_file_set_contents (moved, bytes, n - 100, NULL));
  for (int gone = 0; gone < 2; gone++) {
    if (gone)
      g_unlink (moved);
    window = open_again (moved_file);
    LamMapsResult *kept = look_at_maps (window);
    assert_same (truth, kept);
    const char *why = lam_maps_model_get_error (maps_of (window), LAM_MAPS_SERIES);
    g_test_message ("%s", why);
    g_assert_nonnull (strstr (why, gone ? "not there any more" : "not what it was"));
    g_assert_false (lam_session_get_modified (lam_window_get_session (LAM_WINDOW (window))));
    window_save_picture (window, "session-maps-kept.png");
    /* Saved again it has all that it had. */
    save_as (window, moved_file);
    window_close (window);
  }
  g_unlink (moved_path);
  g_rmdir (other);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-session/bare", test_bare);
  g_test_add_func ("/window-session/workspace", test_workspace);
  g_test_add_func ("/window-session/maps", test_maps);
  g_test_add_func ("/window-session/series", test_series);
  folder = g_dir_make_tmp ("lamina-session-XXXXXX", NULL);
  int status = window_test_run ();
  static const char *const saved[] = {"bare.lamina.h5", "place.lamina.h5", "maps.lamina.h5"};
  for (guint i = 0; i < G_N_ELEMENTS (saved); i++) {
    g_autofree char *path = g_build_filename (folder, saved[i], NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
