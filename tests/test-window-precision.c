/* test-window-precision.c: what an open Pulseq file tells of tissues, in the window, by pointer: the tab, its curves and bars, and
 * that it goes with the file. */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <string.h>

#include "bloch-util.h"
#include "precision-tab.h"
#include "widget-util.h"
#include "window-util.h"

static LamSequencePage *
page_of (GtkWidget *window)
{
  return lam_window_get_sequence_page (LAM_WINDOW (window));
}

static gboolean
is_settled (gpointer window)
{
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  return lam_pulseq_model_is_settled (lam_sequence_session_get_pulseq (s)) && lam_sequence_session_is_settled (s);
}

static void
settle (GtkWidget *window)
{
  test_wait_frames (window, 3);
  test_wait (is_settled, window);
  test_wait_frames (window, 3);
}

static gboolean
is_mapped (gpointer widget)
{
  return gtk_widget_get_mapped (widget) && gtk_widget_get_width (widget) > 0;
}

static void
click (GtkWidget *widget)
{
  int x, y;
  test_wait (is_mapped, widget);
  test_screen_point (widget, gtk_widget_get_width (widget) / 2.0, gtk_widget_get_height (widget) / 2.0, &x, &y);
  test_xdotool ("mousemove %d %d click 1", x, y);
}

/* The button in sight below @widget that says @label. */
static GtkWidget *
find_button (GtkWidget *widget, const char *label)
{
  if (GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), label)) {
    GtkWidget *button = gtk_widget_get_ancestor (widget, GTK_TYPE_TOGGLE_BUTTON);
    if (button != NULL && gtk_widget_get_mapped (button))
      return button;
  }
  for (GtkWidget *c = gtk_widget_get_first_child (widget); c != NULL; c = gtk_widget_get_next_sibling (c)) {
    GtkWidget *found = find_button (c, label);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static void
test_file (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to move the pointer with");
    return;
  }
  GtkWidget *window = window_new ();
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", NULL),
                  *path = g_build_filename (folder, "train.seq", NULL), *text = bloch_train (200, FALSE);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_file_set_contents (path, text, -1, NULL);
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  settle (window);
  LamSequenceSession *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  GtkWidget *tab = lam_sequence_page_get_precision (page_of (window));
  LamPrecisionTab *precision = LAM_PRECISION_TAB (tab);
  g_assert_null (find_button (window, "Precision")); /* of a template it is beside the train */
  lam_window_open_file (LAM_WINDOW (window), file);
  settle (window);
  test_focus_window (window);
  click (find_button (window, "Precision"));
  test_wait (is_mapped, tab);
  test_wait_frames (window, 3);
  g_assert_true (g_str_has_prefix (lam_precision_tab_get_text (precision),
                                   "204 samples: of 200 readouts the one nearest the centre of k-space"));
  g_assert_cmpstr (lam_precision_tab_get_why (precision), ==, "");
  g_assert_false (gtk_widget_get_mapped (lam_precision_tab_get_button (precision)));

  /* T1 and T2 are drawn at first, B1 with a click. */
  LamChart *chart = lam_precision_tab_get_chart (precision);
  g_autofree char *before = lam_chart_describe (chart, 0.5);
  g_assert_nonnull (strstr (before, "White matter T1"));
  g_assert_nonnull (strstr (before, "Blood T2"));
  g_assert_null (strstr (before, "White matter B1"));
  click (find_button (tab, "B1 ╌·"));
  test_wait_frames (window, 4);
  g_autofree char *after = lam_chart_describe (chart, 0.5);
  g_assert_nonnull (strstr (after, "White matter B1"));
  window_save_picture (window, "precision.png");

  /* The bars follow the noise. */
  LamPulseqEstimate *e = lam_sequence_session_get_pulseq_estimate (s);
  GtkWidget *bounds = lam_precision_tab_get_bounds (precision);
  double was = lam_pulseq_estimate_get_result (e)->bound[0][LAM_BY_T1];
  int width = gtk_widget_get_width (bounds), height = gtk_widget_get_height (bounds);
  g_assert_cmpint (width, >, 200);
  g_assert_cmpint (height, >, 100);
  lam_parameter_edit (lam_parameter_list_find (lam_sequence_session_get_model (s), "noise"),
                      g_variant_new_double (0.02), NULL);
  settle (window);
  g_assert_cmpfloat_with_epsilon (lam_pulseq_estimate_get_result (e)->bound[0][LAM_BY_T1] / was, 10, 1e-6);

  /* What is long waits for the button, and the button stops it. */
  LamParameterList *bloch = lam_pulseq_signal_get_parameters (lam_sequence_session_get_pulseq_signal (s));
  lam_parameter_edit (lam_parameter_list_find (bloch, "spins"), g_variant_new_int64 (10000), NULL);
  settle (window);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), ==, LAM_PULSEQ_SIGNAL_LARGE);
  g_assert_cmpstr (lam_precision_tab_get_text (precision), ==, "");
  click (lam_precision_tab_get_button (precision));
  test_wait_frames (window, 2);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), !=, LAM_PULSEQ_SIGNAL_LARGE);
  lam_pulseq_estimate_stop (e);
  lam_parameter_edit (lam_parameter_list_find (bloch, "spins"), g_variant_new_int64 (1), NULL);
  settle (window);
  g_assert_cmpint (lam_pulseq_estimate_get_state (e), ==, LAM_PULSEQ_SIGNAL_READY);

  /* Without the file there is no such tab. */
  window_activate (window, "win.close-sequence");
  settle (window);
  g_assert_false (gtk_widget_get_mapped (tab));
  g_assert_true (gtk_widget_get_mapped (lam_sequence_page_get_train (page_of (window))));
  window_close (window);
  g_remove (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-precision/file", test_file);
  return window_test_run ();
}
