/* test-window-sequence.c: the Sequence workspace, driven by pointer and keys: what is dragged is heard in every curve, can be
 * undone to the last bit, and typed as well. */
#include <adwaita.h>
#include <math.h>
#include <string.h>

#include "times-view.h"
#include "train-view.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static gboolean
is_settled (gpointer session)
{
  return lam_sequence_session_is_settled (session) && lam_sequence_session_get_result (session) != NULL;
}

static LamSequenceSession *
open_workspace (GtkWidget *window)
{
  test_focus_window (window);
  test_xdotool ("key ctrl+2");
  test_wait_frames (window, 3);
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  g_assert_nonnull (s);
  test_wait (is_settled, s);
  test_wait_frames (window, 3);
  return s;
}

/* The signal of the result as it is now; g_free (). */
static float *
signal_now (LamSequenceSession *s, gsize *n)
{
  LamSequenceResult *r = lam_sequence_session_get_result (s);
  *n = (gsize) r->tissues * r->samples;
  g_assert_nonnull (r->re);
  return g_memdup2 (r->re, *n * sizeof (float));
}

static void
test_drag (void)
{
  GtkWidget *window = window_new ();
  gsize n, n_after, n_undone;
  int x, y, values;
  double hx, hy;
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to press keys and move the pointer with");
    window_close (window);
    return;
  }
  LamSequenceSession *s = open_workspace (window);
  GtkWidget *train = lam_sequence_page_get_train (lam_window_get_sequence_page (LAM_WINDOW (window)));
  g_autofree float *before = signal_now (s, &n);
  const double *flip = lam_sequence_session_get_list (s, "flip", &values);
  double was = flip[160], was_far = flip[300];
  g_assert_cmpint (values, ==, 500);
  window_save_picture (window, "sequence-light.png");

  /* The pointer takes pulse 160 and pulls it down. */
  lam_train_view_get_handle (LAM_TRAIN_VIEW (train), 160, &hx, &hy);
  test_screen_point (train, hx, hy, &x, &y);
  test_xdotool ("mousemove %d %d mousedown 1", x, y);
  guint64 first = lam_sequence_session_get_result (s)->serial;
  for (int i = 1; i <= 12; i++)
    test_xdotool ("mousemove %d %d", x, y + 4 * i);
  test_wait (is_settled, s);
  g_assert_cmpuint (lam_sequence_session_get_result (s)->serial, >, first);
  g_assert_nonnull (lam_sequence_session_get_before (s)); /* what was there before is drawn beside */
  test_xdotool ("mouseup 1");
  test_wait (is_settled, s);
  g_autofree float *after = signal_now (s, &n_after);
  flip = lam_sequence_session_get_list (s, "flip", &values);
  g_assert_cmpint (lam_train_view_get_pulse (LAM_TRAIN_VIEW (train)), ==, 160);
  g_assert_cmpfloat (flip[160], <, was - 10);
  g_assert_cmpfloat (flip[170], <, was);      /* the brush takes neighbours along ... */
  g_assert_cmpfloat (flip[300], ==, was_far); /* ... and leaves others alone */
  g_assert_cmpuint (n, ==, n_after);
  g_assert_cmpmem (before, 100 * sizeof (float), after,
                   100 * sizeof (float)); /* nothing is heard before it is played */
  g_assert_true (memcmp (before + 160, after + 160, 50 * sizeof (float)) != 0);
  window_save_picture (window, "sequence-drag.png");

  /* A drag is one step. */
  g_assert_cmpuint (lam_undo_get_n_steps (lam_sequence_session_get_undo (s)), ==, 1);
  test_xdotool ("key ctrl+z");
  test_wait_frames (window, 3);
  test_wait (is_settled, s);
  g_autofree float *undone = signal_now (s, &n_undone);
  flip = lam_sequence_session_get_list (s, "flip", &values);
  g_assert_cmpfloat (flip[160], ==, was);
  g_assert_cmpmem (before, n * sizeof (float), undone, n_undone * sizeof (float));

  /* The same by keys: the pulse is chosen and changed by a degree. */
  gtk_widget_grab_focus (train);
  test_xdotool ("key Right key Right key Left key Up");
  test_wait_frames (window, 3);
  test_wait (is_settled, s);
  flip = lam_sequence_session_get_list (s, "flip", &values);
  g_assert_cmpint (lam_train_view_get_pulse (LAM_TRAIN_VIEW (train)), ==, 161);
  g_assert_cmpuint (lam_undo_get_n_steps (lam_sequence_session_get_undo (s)), ==, 1);
  window_close (window);
}

static guint64 heard; /* serial of the result that was heard last */

static gboolean
is_heard (gpointer session)
{
  return is_settled (session) && lam_sequence_session_get_result (session)->serial > heard;
}

/* Gaps by hand: TR and TI are pulled along the ruler, the signal follows, and a drag is one step; on the raster. */
static void
test_times (void)
{
  static const char *const ids[] = {"TR", "TI"};
  GtkWidget *window = window_new ();
  int x, y;
  double hx, hy;
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to press keys and move the pointer with");
    window_close (window);
    return;
  }
  LamSequenceSession *s = open_workspace (window);
  LamTimesView *times =
      LAM_TIMES_VIEW (lam_sequence_page_get_times (lam_window_get_sequence_page (LAM_WINDOW (window))));
  LamUndo *undo = lam_sequence_session_get_undo (s);
  lam_undo_set_merge_window (undo, 0);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++) {
    LamParameter *p = lam_parameter_list_find (lam_sequence_session_get_protocol (s), ids[i]);
    double was = lam_parameter_get_number (p), duration = lam_sequence_session_get_result (s)->duration;
    gsize n, m;
    g_autofree float *before = signal_now (s, &n);
    g_assert_true (lam_times_view_get_handle (times, ids[i], &hx, &hy));
    test_screen_point (GTK_WIDGET (times), hx, hy, &x, &y);
    test_xdotool ("mousemove %d %d mousedown 1", x, y);
    for (int k = 1; k <= 10; k++) {
      heard = lam_sequence_session_get_result (s)->serial;
      test_xdotool ("mousemove %d %d", x + 8 * k, y);
      test_wait (is_heard, s);
    }
    if (i == 0)
      window_save_picture (window, "sequence-times.png");
    test_xdotool ("mouseup 1");
    test_wait (is_settled, s);
    g_assert_cmpstr (lam_times_view_get_chosen (times), ==, ids[i]);
    double now = lam_parameter_get_number (p);
    g_test_message ("%s: %g to %g ms", ids[i], was, now);
    g_assert_cmpfloat (now, >, 1.2 * was);
    g_assert_cmpfloat_with_epsilon (now * 100, rint (now * 100), 1e-6);
    g_assert_cmpfloat (lam_sequence_session_get_result (s)->duration, >, duration);
    g_autofree float *after = signal_now (s, &m);
    g_assert_true (memcmp (before, after, n * sizeof *before) != 0);
    g_assert_cmpuint (lam_undo_get_n_steps (undo), ==, 1);
    test_xdotool ("key ctrl+z");
    test_wait_frames (window, 3);
    test_wait (is_settled, s);
    g_autofree float *undone = signal_now (s, &m);
    g_assert_cmpfloat (lam_parameter_get_number (p), ==, was);
    g_assert_cmpmem (before, n * sizeof *before, undone, m * sizeof *undone);
  }
  /* By keys; the times of another template are other ones. */
  LamParameter *tr = lam_parameter_list_find (lam_sequence_session_get_protocol (s), "TR");
  gtk_widget_grab_focus (GTK_WIDGET (times));
  test_xdotool ("key Left key Left key Left key Up key ctrl+Down");
  test_wait_frames (window, 3);
  g_assert_cmpstr (lam_times_view_get_chosen (times), ==, "TR");
  g_assert_cmpfloat_with_epsilon (lam_parameter_get_number (tr), 10.9, 1e-9);
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("MPRAGE"), NULL);
  g_assert_null (lam_times_view_get_chosen (times));
  test_wait (is_settled, s);
  test_wait_frames (window, 3);
  window_save_picture (window, "sequence-times-mprage.png");
  window_close (window);
}

static gboolean
is_idle (gpointer optimise)
{
  return !lam_sequence_optimise_get_running (optimise);
}

static double
mean_bound (LamSequenceSession *s)
{
  LamSequenceResult *r = lam_sequence_session_get_result (s);
  double sum = 0;
  for (int v = 0; v < r->tissues; v++)
    sum += r->bound[v][LAM_BY_T1] / r->value[v][LAM_BY_T1] + r->bound[v][LAM_BY_T2] / r->value[v][LAM_BY_T2];
  return sum;
}

/* The search shows better trains while it goes on, is one step of undo, and can be taken back. */
static void
test_optimise (void)
{
  GtkWidget *window = window_new ();
  g_autoptr (GError) error = NULL;
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  LamSequenceOptimise *o = lam_sequence_page_get_optimise (lam_window_get_sequence_page (LAM_WINDOW (window)));
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "20 + 15*sin(4*pi*n/N)", 80, &error));
  test_wait (is_settled, s);
  double before = mean_bound (s);
  int n;
  double first = lam_sequence_session_get_list (s, "flip", &n)[5];
  lam_parameter_set_value (lam_parameter_list_find (lam_sequence_optimise_get_parameters (o), "evaluations"),
                           g_variant_new_int64 (15), NULL);
  guint steps = lam_undo_get_n_steps (lam_sequence_session_get_undo (s));
  g_assert_true (lam_sequence_optimise_start (o, &error));
  g_assert_no_error (error);
  test_wait (is_idle, o);
  test_wait (is_settled, s);
  test_wait_frames (window, 3);
  g_test_message ("%s", lam_sequence_optimise_get_text (o));
  window_save_picture (window, "sequence-optimised.png");
  g_assert_cmpfloat (mean_bound (s), <, 0.98 * before);
  g_assert_cmpuint (lam_undo_get_n_steps (lam_sequence_session_get_undo (s)), ==, steps + 1);
  g_assert_nonnull (strstr (lam_sequence_optimise_get_text (o), "evaluations"));
  lam_undo_undo (lam_sequence_session_get_undo (s));
  g_assert_cmpfloat (lam_sequence_session_get_list (s, "flip", &n)[5], ==, first);
  test_wait (is_settled, s);
  g_assert_null (lam_sequence_optimise_get_text (o)); /* what it said is not of this train */
  /* Taken back while it goes on. */
  lam_parameter_set_value (lam_parameter_list_find (lam_sequence_optimise_get_parameters (o), "evaluations"),
                           g_variant_new_int64 (100000), NULL);
  g_assert_true (lam_sequence_optimise_start (o, &error));
  test_wait_frames (window, 20);
  lam_sequence_optimise_stop (o, FALSE);
  test_wait (is_idle, o);
  g_assert_cmpfloat (lam_sequence_session_get_list (s, "flip", &n)[5], ==, first);
  test_wait (is_settled, s);
  g_assert_nonnull (lam_sequence_optimise_get_text (o));
  /* A template without a train says so. */
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("MultiEcho"), &error);
  g_assert_false (lam_sequence_optimise_start (o, &error));
  g_assert_nonnull (error);
  window_close (window);
}

/* A list and a formula, right and wrong; tissues; templates; dark. */
static void
test_edit (void)
{
  GtkWidget *window = window_new ();
  g_autoptr (GError) error = NULL;
  int n;
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "5:60:10,2*5", 500, &error));
  g_assert_no_error (error);
  const double *flip = lam_sequence_session_get_list (s, "flip", &n);
  g_assert_cmpint (n, ==, 15);
  g_assert_cmpfloat (flip[9], ==, 60);
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "30 + 20*sin(2*pi*n/N)", 40, &error));
  flip = lam_sequence_session_get_list (s, "flip", &n);
  g_assert_cmpint (n, ==, 40);
  g_assert_cmpfloat_with_epsilon (flip[10], 50, 1e-9);
  g_assert_false (lam_sequence_session_edit_formula (s, "flip", "30 + 20*sine(n)", 40, &error));
  g_test_message ("%s", error->message);
  g_clear_error (&error);
  g_assert_false (lam_sequence_session_edit_formula (s, "flip", "1/n", 40, &error));
  g_clear_error (&error);
  test_wait (is_settled, s);
  g_assert_cmpint (lam_sequence_session_get_result (s)->samples, ==, 40);

  /* A tissue goes and comes back. */
  GListModel *tissues = lam_sequence_session_get_tissues (s);
  g_autoptr (LamTissueItem) item = g_list_model_get_item (tissues, 1);
  lam_sequence_session_remove_tissue (s, item);
  test_wait (is_settled, s);
  g_assert_cmpint (lam_sequence_session_get_result (s)->tissues, ==, 2);
  lam_undo_undo (lam_sequence_session_get_undo (s));
  test_wait (is_settled, s);
  g_assert_cmpint (lam_sequence_session_get_result (s)->tissues, ==, 3);

  /* What no tissue is, is said in its row, and computed. */
  GtkWidget *row = window_find (lam_sequence_page_get_tissues (lam_window_get_sequence_page (LAM_WINDOW (window))),
                                ADW_TYPE_EXPANDER_ROW);
  g_autoptr (LamTissueItem) white = g_list_model_get_item (tissues, 0);
  LamParameter *t2 = lam_parameter_list_find (lam_tissue_item_get_parameters (white), "T2");
  g_assert_cmpstr (adw_expander_row_get_subtitle (ADW_EXPANDER_ROW (row)), ==, "");
  g_assert_true (lam_parameter_edit (t2, g_variant_new_double (1500), NULL));
  g_assert_nonnull (strstr (adw_expander_row_get_subtitle (ADW_EXPANDER_ROW (row)), "T2 is above T1"));
  test_wait (is_settled, s);
  g_assert_cmpfloat (lam_sequence_session_get_result (s)->value[0][LAM_BY_T2], ==, 1500);
  test_wait_frames (window, 3);
  window_save_picture (window, "sequence-warned.png");
  lam_undo_undo (lam_sequence_session_get_undo (s));
  g_assert_cmpstr (adw_expander_row_get_subtitle (ADW_EXPANDER_ROW (row)), ==, "");

  /* Saved and loaded it is the same state. */
  g_autoptr (GVariant) state = lam_sequence_session_save (s);
  LamSequenceSession *again = lam_sequence_session_new ();
  g_assert_true (lam_sequence_session_load (again, state, &error));
  g_assert_no_error (error);
  g_autoptr (GVariant) same = lam_sequence_session_save (again);
  g_assert_true (g_variant_equal (state, same));
  lam_sequence_session_close (again);
  g_assert_finalize_object (again);

  /* Every template has something to show. */
  LamParameter *template = lam_sequence_session_get_template (s);
  for (guint i = 0; i < lam_parameter_get_n_choices (template); i++) {
    const char *id = lam_parameter_get_choice (template, i)->id;
    lam_parameter_edit (template, g_variant_new_string (id), &error);
    g_assert_no_error (error);
    test_wait (is_settled, s);
    test_wait_frames (window, 2);
    LamSequenceResult *r = lam_sequence_session_get_result (s);
    g_test_message ("%s: %d samples, %d quantities", id, r->samples, r->kinds);
    g_assert_cmpint (r->samples, >, 0);
  }
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 5);
  window_save_picture (window, "sequence-dark.png");
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_DEFAULT);
  window_close (window);
}

/* At 960 x 600 nothing is cut off. */
static void
test_small (void)
{
  GtkWidget *window = window_new ();
  gtk_window_set_default_size (GTK_WINDOW (window), 960, 600);
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  test_wait (is_settled, lam_window_get_sequence_session (LAM_WINDOW (window)));
  test_wait_frames (window, 5);
  int least;
  gtk_widget_measure (window, GTK_ORIENTATION_VERTICAL, -1, &least, NULL, NULL, NULL);
  g_test_message ("at least %d high", least);
  window_save_picture (window, "sequence-small.png");
  g_assert_cmpint (gtk_widget_get_width (window), <=, 960);
  g_assert_cmpint (gtk_widget_get_height (window), <=, 600);
  window_close (window);
}

static gboolean
is_stored (gpointer session)
{
  return lam_session_get_home (session) != NULL && !lam_session_get_modified (session);
}

static gboolean
is_modified (gpointer session)
{
  return lam_session_get_modified (session);
}

/* Saved with the session, and shown by another window that opens it: before or after it first shows this workspace. */
static void
test_keep (void)
{
  GtkWidget *window = window_new_example (1);
  g_autofree char *path = g_build_filename (g_get_user_state_dir (), "kept.lamina.h5", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  LamSession *session = lam_window_get_session (LAM_WINDOW (window));
  lam_session_save_session (session, file);
  test_wait (is_stored, session);
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  test_wait (is_settled, s);
  test_wait_frames (window, 3);
  g_assert_false (lam_session_get_modified (session)); /* looked at, not changed */
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "10 + 50*abs(sin(pi*n/7))", 33, &error));
  g_assert_nonnull (lam_sequence_session_add_tissue (s, "Lesion", 1234.5678901234567, 1.0 / 3, NULL, &error));
  g_assert_no_error (error);
  test_wait (is_modified, session);
  lam_session_save_session (session, file);
  test_wait (is_stored, session);
  g_autoptr (GVariant) saved = lam_sequence_session_save (s);
  window_close (window);

  for (int early = 0; early < 2; early++) {
    window = window_new ();
    session = lam_window_get_session (LAM_WINDOW (window));
    if (early)
      lam_window_show_workspace (LAM_WINDOW (window), "sequence");
    lam_session_open (session, file);
    test_wait (is_stored, session);
    lam_window_show_workspace (LAM_WINDOW (window), "sequence");
    s = lam_window_get_sequence_session (LAM_WINDOW (window));
    test_wait (is_settled, s);
    g_autoptr (GVariant) read = lam_sequence_session_save (s);
    g_assert_true (g_variant_equal (saved, read));
    g_assert_cmpint (lam_sequence_session_get_result (s)->tissues, ==, 4);
    test_wait_frames (window, 3);
    g_assert_false (lam_session_get_modified (session));
    window_close (window);
  }
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-sequence/drag", test_drag);
  g_test_add_func ("/window-sequence/times", test_times);
  g_test_add_func ("/window-sequence/optimise", test_optimise);
  g_test_add_func ("/window-sequence/edit", test_edit);
  g_test_add_func ("/window-sequence/small", test_small);
  g_test_add_func ("/window-sequence/keep", test_keep);
  return window_test_run ();
}
