/* test-window-states.c: the States tab, the T1-T2 chart and the model's rows, by pointer and keys: what is drawn is what is heard, follows
 * what is dragged, and can be undone. */
#include <adwaita.h>
#include <math.h>
#include <string.h>

#include "chart.h"
#include "model/sequence-approximations.h"
#include "parameter-row.h"
#include "states-tab.h"
#include "tissue-group.h"
#include "tissue-handle.h"
#include "train-view.h"
#include "widget-util.h"
#include "window-util.h"
#include "window.h"

static gboolean
is_settled (gpointer session)
{
  return lam_sequence_session_is_settled (session) && lam_sequence_session_get_result (session) != NULL;
}

static gboolean
has_picture (gpointer states)
{
  return lam_sequence_states_is_settled (states) && lam_sequence_states_get_picture (states)->pixels != NULL;
}

static gboolean
has_answer (gpointer states)
{
  return lam_sequence_states_is_settled (states);
}

static LamSequencePage *
open_workspace (GtkWidget *window, LamSequenceSession **s)
{
  test_focus_window (window);
  lam_window_show_workspace (LAM_WINDOW (window), "sequence");
  *s = lam_window_get_sequence_session (LAM_WINDOW (window));
  test_wait (is_settled, *s);
  test_wait_frames (window, 3);
  return lam_window_get_sequence_page (LAM_WINDOW (window));
}

/* The widget below @root of this type whose label is @label. */
static GtkWidget *
find_labelled (GtkWidget *root, const char *label)
{
  if (GTK_IS_BUTTON (root) && g_strcmp0 (gtk_button_get_label (GTK_BUTTON (root)), label) == 0
      && gtk_widget_get_mapped (root))
    return root;
  if (GTK_IS_MENU_BUTTON (root) && g_strcmp0 (gtk_menu_button_get_label (GTK_MENU_BUTTON (root)), label) == 0)
    return root;
  for (GtkWidget *w = gtk_widget_get_first_child (root); w != NULL; w = gtk_widget_get_next_sibling (w)) {
    GtkWidget *found = find_labelled (w, label);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static void
click (GtkWidget *widget, double x, double y, int times)
{
  int sx, sy;
  test_screen_point (widget, x, y, &sx, &sy);
  test_xdotool ("mousemove %d %d click --repeat %d --delay 30 1", sx, sy, times);
}

static void
click_middle (GtkWidget *widget)
{
  click (widget, gtk_widget_get_width (widget) / 2.0, gtk_widget_get_height (widget) / 2.0, 1);
}

static gboolean
skip (GtkWidget *window)
{
  if (test_have_xdotool ())
    return FALSE;
  g_test_skip ("no xdotool to press keys and move the pointer with");
  window_close (window);
  return TRUE;
}

/* ---- states ---- */

/* |F0| at sample @i of the picture. */
static double
echo (const LamStatesPicture *p, int i, int64_t *column)
{
  for (*column = 0; *column < p->states.columns; (*column)++)
    if ((p->states.kind[*column] & LAM_LOOK_SAMPLE) && i-- == 0)
      return lam_states_picture_value (p, *column, 0);
  g_assert_not_reached ();
}

static void
assert_heard (LamSequenceSession *s, const LamStatesPicture *p)
{
  const LamSequenceResult *r = lam_sequence_session_get_result (s);
  int64_t column;
  for (int i = 0; i < r->samples; i += 37) {
    int at = p->tissue * r->samples + i;
    double heard = hypot (r->re ? r->re[at] : 0, r->im ? r->im[at] : 0);
    g_assert_cmpfloat_with_epsilon (echo (p, i, &column), heard, 2e-6);
  }
}

static void
status_cb (LamSequencePage *page, const char *text, char **said)
{
  g_free (*said);
  *said = g_strdup (text);
}

static void
test_map (void)
{
  GtkWidget *window = window_new ();
  LamSequenceSession *s;
  if (skip (window))
    return;
  LamSequencePage *page = open_workspace (window, &s);
  LamStatesTab *tab = LAM_STATES_TAB (lam_sequence_page_get_states (page));
  LamSequenceStates *states = lam_states_tab_get_states (tab);
  LamStatesView *view = lam_states_tab_get_view (tab);
  GtkWidget *widget = GTK_WIDGET (view);
  g_autofree char *said = NULL;
  double x, y, time;
  int64_t column;
  int order, sx, sy;
  g_signal_connect (page, "status", G_CALLBACK (status_cb), &said);
  g_assert_null (lam_sequence_states_get_picture (states)); /* nothing is made that nobody looks at */
  lam_sequence_page_show_tab (page, "states");
  test_wait (has_picture, states);
  test_wait_frames (window, 3);
  const LamStatesPicture *p = lam_sequence_states_get_picture (states);
  g_assert_cmpint (p->states.columns, >, 1000);
  g_assert_cmpint (p->orders, ==, 32);
  assert_heard (s, p);
  window_save_picture (window, "states-light.png");

  /* A bright and a dark place are drawn so. */
  echo (p, 300, &column);
  lam_states_view_get_place (view, column, -30, &x, &y);
  guint32 dark = test_pixel (widget, x, y);
  lam_states_view_get_place (view, column, 1, &x, &y);
  guint32 bright = test_pixel (widget, x, y);
  g_assert_cmpuint (dark, ==, 0x440154);
  g_assert_cmpuint ((bright >> 8) & 255, >, 100);

  /* The pointer says what is there. */
  test_screen_point (widget, x, y, &sx, &sy);
  test_xdotool ("mousemove %d %d", sx, sy);
  test_wait_frames (window, 3);
  g_assert_nonnull (said);
  /* Several columns share a pixel of the screen. */
  gboolean true_there = FALSE;
  int share = (int) (p->states.columns / gtk_widget_get_width (widget)) + 1;
  for (int d = -share; d <= share; d++) {
    g_autofree char *value = g_strdup_printf ("|F+1| %.3g ", lam_states_picture_value (p, column + d, 1));
    true_there |= g_str_has_prefix (said, value);
  }
  g_test_message ("%s", said);
  g_assert_true (true_there);

  /* A click asks for the path; Escape takes it away; keys walk and choose as well. */
  test_xdotool ("click 1");
  test_wait_frames (window, 3);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_true (lam_sequence_states_get_target (states, &time, &order));
  g_assert_cmpint (order, ==, 1);
  column = lam_states_picture_column (p, time); /* that the pixel belongs to */
  g_assert_cmpint (p->path.n, >, 2);
  g_assert_cmpint (p->path.order[p->path.n - 1], ==, 1);
  g_assert_cmpfloat (p->path.amplitude, >, 0);
  window_save_picture (window, "states-path.png");
  test_xdotool ("key Escape");
  test_wait_frames (window, 3);
  test_wait (has_picture, states);
  g_assert_false (lam_sequence_states_get_target (states, &time, &order));
  test_xdotool ("key Up key Up key Right key Return");
  test_wait_frames (window, 3);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_true (lam_sequence_states_get_target (states, &time, &order));
  g_assert_cmpint (order, ==, 3);
  g_assert_cmpint (lam_states_picture_column (p, time), ==, column + 1);

  /* The wheel opens up time about the pointer, 0 takes it back. */
  lam_states_view_get_place (view, column, 2, &x, &y);
  test_screen_point (widget, x, y, &sx, &sy);
  test_xdotool ("mousemove %d %d click --repeat 6 --delay 30 4", sx, sy);
  test_wait_frames (window, 5);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_cmpfloat (p->end - p->begin, <, 0.4 * p->edge[p->states.columns]);
  double zoomed_x, zoomed_y;
  lam_states_view_get_place (view, column, 2, &zoomed_x, &zoomed_y);
  g_assert_cmpfloat_with_epsilon (zoomed_x, x, 6);
  test_xdotool ("key 0");
  test_wait_frames (window, 5);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_cmpfloat (p->begin, ==, 0);
  g_assert_cmpfloat (p->end, ==, p->edge[p->states.columns]);

  /* The train above is dragged, and the map follows while it is. */
  double before = echo (p, 200, &column), hx, hy;
  GtkWidget *train = lam_states_tab_get_train (tab);
  guint64 first = p->serial;
  lam_train_view_get_handle (LAM_TRAIN_VIEW (train), 190, &hx, &hy);
  test_screen_point (train, hx, hy, &sx, &sy);
  test_xdotool ("mousemove %d %d mousedown 1", sx, sy);
  for (int i = 1; i <= 8; i++)
    test_xdotool ("mousemove %d %d", sx, sy + 4 * i);
  test_wait (is_settled, s);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_cmpuint (p->serial, >, first);
  g_assert_cmpfloat (fabs (echo (p, 200, &column) - before), >, 1e-4);
  assert_heard (s, p);
  test_xdotool ("mouseup 1");

  /* Another train, tissue, plane and scale. */
  before = echo (p, 200, &column);
  g_assert_true (lam_sequence_session_edit_formula (s, "flip", "20 + 15*sin(4*pi*n/N)", 500, NULL));
  test_wait (is_settled, s);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_cmpfloat (fabs (echo (p, 200, &column) - before), >, 1e-3);
  assert_heard (s, p);
  lam_sequence_states_set_tissue (states, 2);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_cmpint (p->tissue, ==, 2);
  assert_heard (s, p);
  click_middle (find_labelled (GTK_WIDGET (tab), "Z"));
  test_wait_frames (window, 3);
  test_wait (has_picture, states);
  p = lam_sequence_states_get_picture (states);
  g_assert_true (p->longitudinal);
  g_assert_cmpfloat (p->peak, >, 0.5);
  g_assert_false (lam_sequence_states_get_target (states, &time, &order)); /* an order of F is none of Z */
  click_middle (find_labelled (GTK_WIDGET (tab), "Linear"));
  test_wait_frames (window, 3);
  test_wait (has_picture, states);
  g_assert_false (lam_sequence_states_get_picture (states)->logarithmic);

  /* Trains that are played again and again, and forms that have no states. */
  g_autoptr (GError) error = NULL;
  click_middle (find_labelled (GTK_WIDGET (tab), "F"));
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("FSE"), &error);
  test_wait (is_settled, s);
  test_wait (has_picture, states);
  test_wait_frames (window, 3);
  assert_heard (s, lam_sequence_states_get_picture (states));
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_DARK);
  test_wait_frames (window, 5);
  window_save_picture (window, "states-dark.png");
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_DEFAULT);
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("MultiEcho"), &error);
  g_assert_no_error (error);
  test_wait (is_settled, s);
  test_wait (has_answer, states);
  test_wait_frames (window, 3);
  g_assert_nonnull (lam_sequence_states_get_picture (states)->why);
  GtkWidget *empty = window_find (GTK_WIDGET (tab), ADW_TYPE_STATUS_PAGE);
  g_assert_nonnull (strstr (adw_status_page_get_description (ADW_STATUS_PAGE (empty)), "closed form"));
  window_save_picture (window, "states-empty.png");
  window_close (window);
}

/* ---- the chart ---- */

static LamTissueItem *
tissue (LamSequenceSession *s, guint i)
{
  g_autoptr (LamTissueItem) item = g_list_model_get_item (lam_sequence_session_get_tissues (s), i);
  return item; /* the list's */
}

static double
time_of (LamTissueItem *item, const char *quantity)
{
  return lam_tissue_item_get (item, quantity, NULL);
}

static void
test_chart (void)
{
  GtkWidget *window = window_new ();
  LamSequenceSession *s;
  if (skip (window))
    return;
  LamSequencePage *page = open_workspace (window, &s);
  LamTissueGroup *group = LAM_TISSUE_GROUP (lam_sequence_page_get_tissues (page));
  LamTissueChart *chart = lam_tissue_group_get_chart (group);
  GtkWidget *widget = GTK_WIDGET (chart);
  LamUndo *undo = lam_sequence_session_get_undo (s);
  GListModel *tissues = lam_sequence_session_get_tissues (s);
  double x, y, t1 = time_of (tissue (s, 1), "T1"), t2 = time_of (tissue (s, 1), "T2");
  int sx, sy;
  click_middle (find_labelled (GTK_WIDGET (group), "Add on the T1–T2 chart"));
  test_wait_frames (window, 10);
  g_assert_true (gtk_widget_get_mapped (widget));

  /* A handle is taken and moved right and down: a longer T1, a shorter T2; the signal follows; one step. */
  lam_tissue_chart_get_place (chart, t1, t2, &x, &y);
  test_screen_point (widget, x, y, &sx, &sy);
  float was = lam_sequence_session_get_result (s)->re[500 + 50];
  test_xdotool ("mousemove %d %d mousedown 1", sx, sy);
  for (int i = 1; i <= 8; i++)
    test_xdotool ("mousemove %d %d", sx + 5 * i, sy + 4 * i);
  test_wait (is_settled, s);
  g_assert_cmpfloat (time_of (tissue (s, 1), "T1"), >, t1 * 1.1);
  g_assert_cmpfloat (time_of (tissue (s, 1), "T2"), <, t2 / 1.1);
  g_assert_cmpfloat (fabsf (lam_sequence_session_get_result (s)->re[500 + 50] - was), >, 1e-4);
  g_assert_nonnull (lam_sequence_session_get_before (s)); /* the ghost */
  test_xdotool ("mouseup 1");
  test_wait (is_settled, s);
  test_wait_frames (window, 3);
  g_assert_cmpuint (lam_undo_get_n_steps (undo), ==, 1);
  g_assert_cmpstr (lam_undo_get_undo_name (undo), ==, "Move Grey matter");
  g_assert_cmpfloat (time_of (tissue (s, 0), "T1"), ==, 1084);
  lam_undo_undo (undo);
  test_wait (is_settled, s);
  g_assert_cmpfloat (time_of (tissue (s, 1), "T1"), ==, t1);
  g_assert_cmpfloat (time_of (tissue (s, 1), "T2"), ==, t2);
  g_assert_cmpfloat (lam_sequence_session_get_result (s)->re[500 + 50], ==, was);

  /* From handle to handle by Tab, and moved by arrows. */
  GtkWidget *handle = window_find (widget, LAM_TYPE_TISSUE_HANDLE);
  gtk_widget_grab_focus (handle);
  test_xdotool ("key Tab key Up");
  test_wait_frames (window, 3);
  g_assert_cmpfloat (time_of (tissue (s, 0), "T2"), ==, 69);
  g_assert_cmpfloat_with_epsilon (time_of (tissue (s, 1), "T2"), 100, 0.1);
  g_assert_cmpfloat (time_of (tissue (s, 1), "T1"), ==, t1);

  /* A double click on an empty place adds a tissue there, one click on a dot what was measured. */
  lam_tissue_chart_get_place (chart, 3000, 1000, &x, &y);
  click (widget, x, y, 2);
  test_wait_frames (window, 5);
  test_wait (is_settled, s);
  g_assert_cmpuint (g_list_model_get_n_items (tissues), ==, 4);
  g_assert_cmpfloat_with_epsilon (time_of (tissue (s, 3), "T1"), 3000, 60);
  g_assert_cmpfloat_with_epsilon (time_of (tissue (s, 3), "T2"), 1000, 30);
  g_assert_cmpint (lam_sequence_session_get_result (s)->tissues, ==, 4);
  lam_tissue_chart_get_place (chart, 576, 46, &x, &y);
  click (widget, x, y, 1);
  test_wait_frames (window, 5);
  test_wait (is_settled, s);
  g_assert_cmpuint (g_list_model_get_n_items (tissues), ==, 5);
  g_assert_cmpstr (lam_tissue_item_get_name (tissue (s, 4)), ==, "Liver, 1.5 T");
  g_assert_nonnull (lam_tissue_item_get_source (tissue (s, 4)));
  g_assert_cmpfloat (time_of (tissue (s, 4), "T1"), ==, 576);
  window_save_picture (window, "tissue-chart.png");
  test_xdotool ("key Escape");
  test_wait_frames (window, 10);
  g_assert_false (gtk_widget_get_mapped (widget));
  window_close (window);
}

/* ---- the model ---- */

static LamParameter *
row (LamSequenceSession *s, const char *id)
{
  return lam_parameter_list_find (lam_sequence_session_get_model (s), id);
}

/* Of a parameter below @root. */
static LamParameterRow *
find_row (GtkWidget *root, LamParameter *p)
{
  if (LAM_IS_PARAMETER_ROW (root) && lam_parameter_row_get_parameter (LAM_PARAMETER_ROW (root)) == p)
    return LAM_PARAMETER_ROW (root);
  for (GtkWidget *w = gtk_widget_get_first_child (root); w != NULL; w = gtk_widget_get_next_sibling (w)) {
    LamParameterRow *found = find_row (w, p);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static gboolean
is_compared (gpointer compare)
{
  return lam_sequence_compare_is_settled (compare) && lam_sequence_compare_get_sum (compare) != NULL;
}

/* The chart below @root that says @what. */
static LamChart *
find_chart (GtkWidget *root, const char *what)
{
  if (LAM_IS_CHART (root)) {
    g_autofree char *text = lam_chart_describe (LAM_CHART (root), 10);
    if (text != NULL && strstr (text, what) != NULL)
      return LAM_CHART (root);
  }
  for (GtkWidget *w = gtk_widget_get_first_child (root); w != NULL; w = gtk_widget_get_next_sibling (w)) {
    LamChart *found = find_chart (w, what);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static void
press_switch (GtkWidget *window, LamSequencePage *page, LamSequenceSession *s, const char *id)
{
  LamParameterRow *r = find_row (GTK_WIDGET (page), row (s, id));
  gtk_widget_grab_focus (lam_parameter_row_get_control (r));
  test_xdotool ("key space");
  test_wait_frames (window, 5);
  test_wait (is_settled, s);
}

static void
test_model (void)
{
  GtkWidget *window = window_new ();
  LamSequenceSession *s;
  g_autoptr (GError) error = NULL;
  if (skip (window))
    return;
  LamSequencePage *page = open_workspace (window, &s);
  LamSequenceCompare *compare = lam_sequence_page_get_compare (page);

  /* The least orders: fewer are not enough. */
  GtkWidget *command = find_labelled (GTK_WIDGET (page), "auto to 0.1 %");
  click_middle (command);
  test_wait_frames (window, 5);
  for (int i = 0; i < 200 && lam_parameter_get_integer (row (s, "orders")) == 0; i++)
    test_wait_frames (window, 1);
  test_wait (is_settled, s);
  int orders = (int) lam_parameter_get_integer (row (s, "orders"));
  double worst = 0;
  for (int v = 0; v < 3; v++)
    worst = fmax (worst, lam_sequence_session_get_result (s)->cut[v]);
  g_test_message ("%d orders cost %.2g", orders, worst);
  g_assert_cmpint (orders, >, 4);
  g_assert_cmpfloat (worst, <=, 1.1e-3);
  g_assert_cmpuint (lam_undo_get_n_steps (lam_sequence_session_get_undo (s)), ==, 1);
  lam_parameter_edit (row (s, "orders"), g_variant_new_int64 (orders - 1), &error);
  test_wait (is_settled, s);
  worst = 0;
  for (int v = 0; v < 3; v++)
    worst = fmax (worst, lam_sequence_session_get_result (s)->cut[v]);
  g_assert_cmpfloat (worst, >, 0.9e-3);

  /* Beside EPG the same by single spins, drawn and said. */
  g_assert_null (lam_sequence_compare_get_sum (compare));
  press_switch (window, page, s, "compare");
  test_wait (is_compared, compare);
  test_wait_frames (window, 3);
  const LamSpinSum *sum = lam_sequence_compare_get_sum (compare);
  g_test_message ("%s", lam_parameter_get_note (row (s, "compare")));
  for (int v = 0; v < 3; v++) {
    g_assert_cmpfloat (sum->difference[v], <, 2e-3);
    g_assert_cmpfloat (sum->difference[v], >, 0);
  }
  g_assert_nonnull (strstr (lam_parameter_get_note (row (s, "compare")), "differs by at most"));
  g_assert_nonnull (find_chart (GTK_WIDGET (page), "(Bloch)"));
  window_save_picture (window, "compare.png");
  lam_parameter_edit (row (s, "spins"), g_variant_new_int64 (8), &error);
  test_wait (is_settled, s);
  test_wait (is_compared, compare);
  g_assert_cmpfloat (lam_sequence_compare_get_sum (compare)->difference[2], >, 0.02); /* too few are another physics */
  press_switch (window, page, s, "compare");
  g_assert_null (lam_sequence_compare_get_sum (compare));

  /* What is taken in says what it does; what no tissue has cannot be switched. */
  g_assert_false (lam_parameter_get_sensitive (row (s, "pools")));
  press_switch (window, page, s, "slice");
  double effect = lam_sequence_session_get_result (s)->effect[LAM_EFFECT_SLICE];
  g_test_message ("slice profile: %.2g, %s", effect, lam_parameter_get_note (row (s, "slice")));
  g_assert_cmpfloat (effect, >, 0.01);
  g_assert_nonnull (lam_sequence_session_get_result (s)->compare_obstacle);
  g_assert_false (lam_parameter_get_sensitive (row (s, "compare")));
  press_switch (window, page, s, "slice");
  LamTissueItem *item = tissue (s, 0);
  lam_parameter_edit (lam_parameter_list_find (lam_tissue_item_get_parameters (item), "bound_fraction"),
                      g_variant_new_double (0.12), &error);
  lam_parameter_edit (lam_parameter_list_find (lam_tissue_item_get_parameters (item), "bound_exchange"),
                      g_variant_new_double (20), &error);
  g_assert_no_error (error);
  test_wait (is_settled, s);
  g_assert_true (lam_parameter_get_sensitive (row (s, "pools")));
  g_assert_cmpfloat (lam_sequence_session_get_result (s)->effect[LAM_EFFECT_POOLS], >, 0.01);
  float with = lam_sequence_session_get_result (s)->re[100];
  press_switch (window, page, s, "pools");
  g_assert_cmpfloat (fabsf (lam_sequence_session_get_result (s)->re[100] - with), >, 1e-4);

  /* Sensitivity to B1 is drawn when it is asked for. */
  g_assert_null (find_chart (GTK_WIDGET (page), "White matter B1"));
  GtkWidget *chip = find_labelled (GTK_WIDGET (page), "B1 ╌·");
  click_middle (chip);
  test_wait_frames (window, 3);
  g_assert_nonnull (find_chart (GTK_WIDGET (page), "White matter B1"));
  window_save_picture (window, "sensitivity-b1.png");

  /* A closed form has none of it, and says so. */
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("ASL"), &error);
  g_assert_no_error (error);
  test_wait (is_settled, s);
  LamSequenceResult *r = lam_sequence_session_get_result (s);
  g_assert_false (lam_parameter_get_sensitive (row (s, "orders")));
  g_assert_false (lam_parameter_get_sensitive (row (s, "slice")));
  g_assert_false (lam_parameter_get_sensitive (row (s, "compare")));
  g_assert_false (gtk_widget_get_sensitive (chip));

  /* Labelling has quantities of its own, seen with it alone. */
  LamParameter *flow = lam_parameter_list_find (lam_tissue_item_get_parameters (item), "CBF");
  g_assert_true (lam_parameter_get_visible (flow));
  g_assert_cmpfloat (r->re[60], >, 1e-4);
  float before = r->re[60];
  lam_parameter_edit (flow, g_variant_new_double (30), &error);
  g_assert_no_error (error);
  test_wait (is_settled, s);
  g_assert_cmpfloat_with_epsilon (lam_sequence_session_get_result (s)->re[60], before / 2, before * 0.02);
  lam_parameter_edit (lam_sequence_session_get_template (s), g_variant_new_string ("MRF"), &error);
  g_assert_false (lam_parameter_get_visible (flow));
  window_close (window);
}

int
main (int argc, char **argv)
{
  if (!window_init (&argc, &argv))
    return 0;
  g_test_add_func ("/window-states/map", test_map);
  g_test_add_func ("/window-states/chart", test_chart);
  g_test_add_func ("/window-states/model", test_model);
  return window_test_run ();
}
