/* test-window-pulseq.c: Pulseq files in the window, driven by pointer and keys: opened, zoomed, measured, gone to where a limit
 * is broken, closed, and taken back. */
#include <adwaita.h>
#include <math.h>
#include <string.h>

#include "file-signal.h"
#include "kspace-tab.h"
#include "kspace-view.h"
#include "problems-view.h"
#include "timeline-view.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static LamSequencePage *
page_of (GtkWidget *window)
{
  return lam_window_get_sequence_page (LAM_WINDOW (window));
}

static LamSequenceSession *
session_of (GtkWidget *window)
{
  return lam_window_get_sequence_session (LAM_WINDOW (window));
}

static gboolean
is_settled (gpointer window)
{
  LamSequenceSession *s = session_of (window);
  return lam_pulseq_model_is_settled (lam_sequence_session_get_pulseq (s)) && lam_sequence_session_is_settled (s)
         && lam_pulseq_look_is_settled (lam_sequence_page_get_look (page_of (window)));
}

static void
settle (GtkWidget *window)
{
  test_wait_frames (window, 3);
  test_wait (is_settled, window);
  test_wait_frames (window, 3);
}

static LamPulseqModel *
open_file (GtkWidget *window, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  lam_window_open_file (LAM_WINDOW (window), file);
  settle (window);
  return lam_sequence_session_get_pulseq (session_of (window));
}

/* Ten repetitions of 20 ms: a pulse in the middle of 2 ms, a readout whose echo comes 7 ms after it; in the sixth a gradient
 * that rises too fast. g_free () its name. */
static char *
write_sequence (void)
{
  g_autoptr (GString) t = g_string_new ("[VERSION]\nmajor 1\nminor 5\nrevision 0\n[DEFINITIONS]\nAdcRasterTime 1e-07\n"
                                        "BlockDurationRaster 1e-05\nGradientRasterTime 1e-05\n"
                                        "RadiofrequencyRasterTime 1e-06\n[BLOCKS]\n");
  for (int i = 0; i < 10; i++)
    g_string_append_printf (t, "%d 250 1 0 0 0 0 0\n%d 150 0 2 0 0 0 0\n%d 700 0 1 0 0 1 0\n%d 900 0 %d 0 0 0 0\n",
                            4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4, i == 5 ? 4 : 3);
  g_string_append (t, "[RF]\n1 100 1 2 0 1000 200 0 0 0 0 e\n");
  /* The readout's first half is undone before it: its centre is at 3.5 ms of its block. */
  g_string_append (t,
                   "[TRAP]\n1 100000 100 6800 100 0\n2 -246428.571 100 1300 100 0\n3 300000 1000 2000 1000 0\n"
                   "4 900000 50 2000 50 0\n[ADC]\n1 64 100000 300 0 0 0 0 0\n[SHAPES]\n\nshape_id 1\nnum_samples 2000\n"
                   "1\n0\n0\n1997\n\nshape_id 2\nnum_samples 2000\n0\n0\n1998\n");
  g_autofree char *folder = g_dir_make_tmp ("lamina-window-XXXXXX", NULL);
  char *path = g_build_filename (folder, "train.seq", NULL);
  g_assert_true (g_file_set_contents (path, t->str, (gssize) t->len, NULL));
  return path;
}

static void
remove_sequence (char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  remove (path);
  remove (folder);
  g_free (path);
}

/* The pointer is put on a point of a widget. */
static void
point_at (GtkWidget *widget, double x, double y)
{
  int sx, sy;
  test_screen_point (widget, x, y, &sx, &sy);
  test_xdotool ("mousemove %d %d", sx, sy);
}

static GtkWidget *
find_row (GtkWidget *list, int index)
{
  GtkWidget *row = gtk_widget_get_first_child (list);
  while (index-- > 0 && row != NULL)
    row = gtk_widget_get_next_sibling (row);
  return row;
}

static void
describe_cb (LamSequencePage *page, const char *text, char **told)
{
  g_free (*told);
  *told = g_strdup (text);
}

static void
test_hand (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to move the pointer with");
    return;
  }
  GtkWidget *window = window_new ();
  char *path = write_sequence ();
  LamPulseqModel *model = open_file (window, path);
  LamPulseqLook *look = lam_sequence_page_get_look (page_of (window));
  LamTimelineView *view = LAM_TIMELINE_VIEW (lam_sequence_page_get_timeline (page_of (window)));
  GtkWidget *widget = GTK_WIDGET (view);
  g_autofree char *told = NULL;
  int64_t t0, t1, u0, u1;
  g_assert_nonnull (lam_pulseq_model_get_file (model));
  g_assert_cmpstr (lam_pulseq_model_get_file (model)->name, ==, "train.seq");
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "train.seq — Lamina");
  g_signal_connect (page_of (window), "status", G_CALLBACK (describe_cb), &told);
  test_focus_window (window);
  lam_pulseq_look_get_range (look, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, 200 * (LAM_PS_PER_S / 1000));

  /* The wheel zooms, and what is under the pointer stays there. */
  double x = lam_timeline_view_get_x (view, 50 * (LAM_PS_PER_S / 1000)), y = gtk_widget_get_height (widget) / 2.0;
  point_at (widget, x, y);
  test_wait_frames (window, 3);
  g_assert_nonnull (told);
  int64_t here = lam_timeline_view_get_time (view, floor (x));
  for (int i = 0; i < 8; i++)
    test_xdotool ("click 4");
  settle (window);
  lam_pulseq_look_get_range (look, &u0, &u1);
  g_assert_cmpint (u1 - u0, <, (t1 - t0) / 4);
  g_assert_cmpint (ABS (lam_timeline_view_get_time (view, floor (x)) - here), <, (u1 - u0) / 100);
  g_test_message ("%s", told);
  g_assert_nonnull (strstr (told, "block 1"));

  /* Two pulses and an echo are there to be measured: TR and TE as they were written. */
  const GArray *instants = lam_pulseq_look_get_instants (look);
  g_assert_nonnull (instants);
  g_autoptr (GArray) rulers = lam_pulseq_rulers (instants);
  int tr = 0, te = 0;
  for (guint i = 0; i < rulers->len; i++) {
    const LamPulseqRuler *r = &g_array_index (rulers, LamPulseqRuler, i);
    if (r->kind == LAM_PULSEQ_TR)
      g_assert_cmpint (r->to - r->from, ==, 20 * (LAM_PS_PER_S / 1000));
    /* The sample nearest to the centre: within half a dwell of 6.3 ms after the pulse. */
    if (r->kind == LAM_PULSEQ_TE)
      g_assert_cmpfloat_with_epsilon ((double) (r->to - r->from) * 1e-9, 6.3, 0.051);
    tr += r->kind == LAM_PULSEQ_TR;
    te += r->kind == LAM_PULSEQ_TE;
  }
  g_assert_cmpint (tr, >=, 1);
  g_assert_cmpint (te, >=, 1);

  /* A drag moves it with the hand. */
  double from = (u1 - u0) / 2 + u0;
  test_xdotool ("mousedown 1");
  for (int i = 1; i <= 6; i++)
    point_at (widget, x - 20 * i, y);
  test_xdotool ("mouseup 1");
  settle (window);
  lam_pulseq_look_get_range (look, &t0, &t1);
  g_assert_cmpint (t1 - t0, ==, u1 - u0);
  g_assert_cmpfloat ((double) (t0 + t1) / 2, >, from + 0.05 * (double) (u1 - u0));

  /* Shift and a drag measure, from one pulse to the next, though the hand is not quite there. */
  lam_pulseq_look_set_range (look, 35 * (LAM_PS_PER_S / 1000), 75 * (LAM_PS_PER_S / 1000));
  settle (window);
  /* Centres: 1.2 ms after the start of each repetition. */
  int64_t first = (int64_t) 412 * (LAM_PS_PER_S / 10000), measured0, measured1;
  point_at (widget, lam_timeline_view_get_x (view, first) + 3, y);
  test_xdotool ("keydown shift mousedown 1");
  for (int i = 1; i <= 10; i++)
    point_at (widget, lam_timeline_view_get_x (view, first + i * 2 * (LAM_PS_PER_S / 1000)) - 3, y);
  test_xdotool ("mouseup 1 keyup shift");
  settle (window);
  g_assert_true (lam_timeline_view_get_measured (view, &measured0, &measured1));
  g_assert_cmpint (measured0, ==, first);
  g_assert_cmpint (measured1, ==, first + 20 * (LAM_PS_PER_S / 1000));
  window_save_picture (window, "pulseq-measured.png");

  /* Keys, and a double click for all. */
  gtk_widget_grab_focus (widget);
  lam_pulseq_look_get_range (look, &t0, &t1);
  test_xdotool ("key Right key plus");
  settle (window);
  lam_pulseq_look_get_range (look, &u0, &u1);
  g_assert_cmpint (u0, >, t0);
  g_assert_cmpint (u1 - u0, <, t1 - t0);
  test_xdotool ("key End");
  settle (window);
  lam_pulseq_look_get_range (look, &u0, &u1);
  g_assert_cmpint (u1, ==, 200 * (LAM_PS_PER_S / 1000));
  point_at (widget, x, y);
  test_xdotool ("click --repeat 2 --delay 60 1");
  settle (window);
  lam_pulseq_look_get_range (look, &u0, &u1);
  g_assert_cmpint (u0, ==, 0);
  g_assert_cmpint (u1, ==, 200 * (LAM_PS_PER_S / 1000));
  g_signal_handlers_disconnect_by_func (page_of (window), describe_cb, &told);
  window_close (window);
  remove_sequence (path);
}

static void
test_problems (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("no xdotool to move the pointer with");
    return;
  }
  GtkWidget *window = window_new ();
  char *path = write_sequence ();
  LamPulseqModel *model = open_file (window, path);
  LamPulseqLook *look = lam_sequence_page_get_look (page_of (window));
  LamTimelineView *view = LAM_TIMELINE_VIEW (lam_sequence_page_get_timeline (page_of (window)));
  GtkWidget *list = lam_problems_view_get_list (LAM_PROBLEMS_VIEW (lam_sequence_page_get_problems (page_of (window))));
  LamUndo *undo = lam_sequence_session_get_undo (session_of (window));
  int64_t t0, t1;
  test_focus_window (window);
  /* Up in 50 us to 21.1 mT/m, twice: 423 T/m/s. */
  g_autofree char *summary = lam_pulseq_model_dup_summary (model);
  g_test_message ("%s", summary);
  g_assert_nonnull (strstr (summary, "1 problem: slew rate 422.8 T/m/s at 111 ms (block 24)"));
  g_autofree char *meaning = lam_sequence_page_dup_meaning (page_of (window));
  g_assert_nonnull (strstr (meaning, "1 problem"));
  g_assert_cmpint (lam_pulseq_model_count_problems (model, NULL), ==, 1);

  /* A click goes there. */
  int64_t ps = (int64_t) 111 * (LAM_PS_PER_S / 1000);
  GtkWidget *row = find_row (list, 0);
  g_assert_nonnull (row);
  lam_sequence_page_show_tab (page_of (window), "kspace");
  lam_sequence_page_show_tab (page_of (window), "timeline");
  settle (window);
  point_at (row, 30, gtk_widget_get_height (row) / 2.0);
  test_xdotool ("click 1");
  settle (window);
  lam_pulseq_look_get_range (look, &t0, &t1);
  g_assert_cmpint (t1 - t0, <=, 40 * (LAM_PS_PER_S / 1000));
  g_assert_cmpint (ABS ((t0 + t1) / 2 - ps), <, (t1 - t0) / 100);
  g_assert_cmpint (lam_timeline_view_get_mark (view), ==, ps);
  window_save_picture (window, "pulseq-problem.png");
  /* So does Enter. */
  lam_pulseq_look_whole (look);
  gtk_widget_grab_focus (row);
  test_xdotool ("key Return");
  settle (window);
  lam_pulseq_look_get_range (look, &t0, &t1);
  g_assert_cmpint (ABS ((t0 + t1) / 2 - ps), <, (t1 - t0) / 100);

  /* Another scanner: the list follows, and undo brings it back. */
  LamParameter *slew = lam_parameter_list_find (lam_pulseq_model_get_limits (model), "slew");
  g_assert_true (lam_parameter_edit (slew, g_variant_new_double (500), NULL));
  settle (window);
  g_assert_cmpint (lam_pulseq_model_count_problems (model, NULL), ==, 0);
  g_assert_cmpuint (g_list_model_get_n_items (lam_pulseq_model_get_problems (model)), ==, 0);
  test_xdotool ("key ctrl+z");
  settle (window);
  g_assert_cmpint (lam_pulseq_model_count_problems (model, NULL), ==, 1);
  g_assert_true (lam_undo_can_undo (undo));
  window_close (window);
  remove_sequence (path);
}

static gboolean
has_samples (gpointer tab)
{
  return lam_pulseq_kspace_get_drawn (lam_kspace_tab_get_kspace (tab)) > 0
         && lam_pulseq_kspace_is_settled (lam_kspace_tab_get_kspace (tab));
}

/* k-space, the signal, a template again, and back by undo. */
static void
test_tabs (void)
{
  GtkWidget *window = window_new ();
  char *path = write_sequence ();
  LamPulseqModel *model = open_file (window, path);
  LamSequenceSession *s = session_of (window);
  LamPulseqSignal *signal = lam_sequence_session_get_pulseq_signal (s);
  LamKspaceTab *tab = LAM_KSPACE_TAB (lam_sequence_page_get_kspace (page_of (window)));
  LamKspaceView *view = LAM_KSPACE_VIEW (lam_kspace_tab_get_view (tab));
  LamPulseqCurves curves;
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_READY);
  g_assert_cmpint (lam_pulseq_signal_get_samples (signal, NULL), ==, 640);
  g_assert_true (lam_pulseq_signal_get_curves (signal, &curves));
  g_assert_cmpint (curves.tissues, ==, 3);
  g_assert_cmpint (curves.n, >, 20);
  window_save_picture (window, "pulseq-light.png");

  lam_sequence_page_show_tab (page_of (window), "kspace");
  test_wait (has_samples, tab);
  test_wait_frames (window, 3);
  g_assert_cmpint (lam_pulseq_kspace_get_drawn (lam_kspace_tab_get_kspace (tab)), ==, 640);
  double scale = lam_kspace_view_get_scale (view);
  g_assert_cmpfloat (scale, >, 0);
  window_save_picture (window, "pulseq-kspace.png");
  if (test_have_xdotool ()) {
    test_focus_window (window);
    /* Into a corner where there is nothing: less is drawn. */
    point_at (GTK_WIDGET (view), 30, gtk_widget_get_height (GTK_WIDGET (view)) / 2.0);
    for (int i = 0; i < 12; i++)
      test_xdotool ("click 4");
    test_wait_frames (window, 3);
    test_wait (has_samples, tab);
    g_assert_cmpfloat (lam_kspace_view_get_scale (view), <, scale / 8);
    g_assert_cmpint (lam_pulseq_kspace_get_drawn (lam_kspace_tab_get_kspace (tab)), <, 640);
  }

  /* A voxel of many spins dephases: another signal. */
  lam_sequence_page_show_tab (page_of (window), "timeline");
  g_assert_true (lam_parameter_edit (lam_parameter_list_find (lam_pulseq_signal_get_parameters (signal), "spins"),
                                     g_variant_new_int64 (200), NULL));
  settle (window);
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_READY);

  /* A tissue less. */
  g_autoptr (LamTissueItem) item = g_list_model_get_item (lam_sequence_session_get_tissues (s), 2);
  lam_sequence_session_remove_tissue (s, item);
  settle (window);
  g_assert_true (lam_pulseq_signal_get_curves (signal, &curves));
  g_assert_cmpint (curves.tissues, ==, 2);
  lam_undo_undo (lam_sequence_session_get_undo (s));
  lam_undo_undo (lam_sequence_session_get_undo (s));

  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_DARK);
  settle (window);
  window_save_picture (window, "pulseq-dark.png");
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_DEFAULT);

  /* Saved and loaded, it is opened again. */
  g_autoptr (GVariant) state = lam_sequence_session_save (s);
  window_activate (window, "win.close-sequence");
  settle (window);
  g_assert_null (lam_pulseq_model_get_file (model));
  g_assert_cmpint (lam_pulseq_signal_get_state (signal), ==, LAM_PULSEQ_SIGNAL_NONE);
  g_assert_cmpint (lam_sequence_session_get_result (s)->samples, ==, 500); /* the template's again */
  window_save_picture (window, "pulseq-closed.png");
  lam_undo_undo (lam_sequence_session_get_undo (s));
  settle (window);
  g_assert_nonnull (lam_pulseq_model_get_file (model));
  lam_undo_undo (lam_sequence_session_get_undo (s)); /* it was never opened */
  settle (window);
  g_assert_null (lam_pulseq_model_get_file (model));
  g_assert_true (lam_sequence_session_load (s, state, NULL));
  settle (window);
  g_assert_nonnull (lam_pulseq_model_get_file (model));
  window_close (window);
  remove_sequence (path);
}

/* What is none is said, and what there was stays; another file that is asked for meanwhile wins. */
static void
test_refused (void)
{
  GtkWidget *window = window_new ();
  char *path = write_sequence (), *broken = write_sequence ();
  LamPulseqModel *model = open_file (window, path);
  GtkWidget *bar = window_find (window, GTK_TYPE_INFO_BAR);
  g_assert_true (
      g_file_set_contents (broken, "[VERSION]\nmajor 1\nminor 4\nrevision 0\n[BLOCKS]\n1 100 1 x 0 0 0 0\n", -1, NULL));
  open_file (window, broken);
  g_assert_cmpstr (lam_pulseq_model_get_file (model)->path, ==, path);
  g_assert_true (gtk_info_bar_get_revealed (GTK_INFO_BAR (bar)));
  g_assert_cmpuint (lam_undo_get_n_steps (lam_sequence_session_get_undo (session_of (window))), ==, 1);
  lam_pulseq_model_open (model, broken);
  lam_pulseq_model_open (model, path);
  settle (window);
  g_assert_cmpstr (lam_pulseq_model_get_file (model)->path, ==, path);
  lam_pulseq_model_open (model, broken);
  lam_pulseq_model_cancel (model);
  g_assert_null (lam_pulseq_model_get_opening (model, NULL));
  settle (window);
  /* Closed while it is read. */
  lam_pulseq_model_open (model, path);
  window_close (window);
  remove_sequence (path);
  remove_sequence (broken);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-pulseq/hand", test_hand);
  g_test_add_func ("/window-pulseq/problems", test_problems);
  g_test_add_func ("/window-pulseq/tabs", test_tabs);
  g_test_add_func ("/window-pulseq/refused", test_refused);
  return window_test_run ();
}
