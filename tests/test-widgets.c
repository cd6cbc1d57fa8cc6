/* Rows, histogram, chart and geometry scene on a display: what they show, what hands do to them, that they go away. */
#include <math.h>
#include <string.h>

#include <adwaita.h>
#include <glib/gstdio.h>

#include "chart.h"
#include "chosen-name.h"
#include "core/error.h"
#include "core/memory.h"
#include "geometry-view.h"
#include "histogram.h"
#include "level-controls.h"
#include "line-layer.h"
#include "model/parameter-list.h"
#include "parameter-row.h"
#include "picture-values.h"
#include "profile-card.h"
#include "region-card.h"
#include "widget-util.h"

static const LamParameterChoice beams[] = {{"parallel", "Parallel"}, {"cone", "Cone"}, {NULL, NULL}};

/* -- rows -- */

static const char *
shown_text (GtkWidget *row)
{
  return gtk_editable_get_text (GTK_EDITABLE (lam_parameter_row_get_control (LAM_PARAMETER_ROW (row))));
}

/* Types @text into a spin button and leaves it. */
static void
type (GtkWidget *row, const char *text)
{
  GtkWidget *spin = lam_parameter_row_get_control (LAM_PARAMETER_ROW (row));
  gtk_editable_set_text (GTK_EDITABLE (spin), text);
  gtk_spin_button_update (GTK_SPIN_BUTTON (spin));
}

/* A word in place of a number is seen to its end. */
static void
test_special_row (void)
{
  LamParameter *p = lam_parameter_new_number ("rf", "RF amplitude", "µT", 0, 0, 10000, 1);
  lam_parameter_set_special (p, 0, "not checked");
  GtkWidget *row = lam_parameter_row_new (p), *list = gtk_list_box_new ();
  gtk_list_box_append (GTK_LIST_BOX (list), row);
  GtkWidget *window = test_present (list, 400, 100);
  g_assert_cmpstr (shown_text (row), ==, "not checked");
  g_assert_cmpint (
      gtk_editable_get_width_chars (GTK_EDITABLE (lam_parameter_row_get_control (LAM_PARAMETER_ROW (row)))), >=,
      (int) strlen ("not checked"));
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (p);
}

static void
test_number_row (void)
{
  LamUndo *undo = lam_undo_new ();
  lam_undo_set_merge_window (undo, 0);
  LamParameter *p = lam_parameter_new_number ("center", "Centre of rotation", "px", 319.5, 0, 639, 2);
  lam_parameter_set_undo (p, undo);
  GtkWidget *row = lam_parameter_row_new (p);
  GtkWidget *list = gtk_list_box_new ();
  gtk_list_box_append (GTK_LIST_BOX (list), row);
  GtkWidget *window = test_present (list, 400, 100);
  GtkWidget *dot = lam_parameter_row_get_dot (LAM_PARAMETER_ROW (row));

  g_assert_cmpstr (shown_text (row), ==, "319.50");
  g_assert_false (gtk_widget_get_visible (dot));
  type (row, "295,6 px");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 295.6);
  g_assert_cmpstr (shown_text (row), ==, "295.60");
  g_assert_true (gtk_widget_get_visible (dot));

  /* Refused in place with the reason; the value and what is shown stay. */
  type (row, "700");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 295.6);
  g_assert_cmpstr (shown_text (row), ==, "295.60");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==,
                   "Centre of rotation must be between 0.00 and 639.00 px, not 700");
  g_assert_true (gtk_widget_has_css_class (row, "refused"));
  type (row, "3 mm");
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "pixel pitch is unknown"));
  type (row, "300");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==, "");
  g_assert_false (gtk_widget_has_css_class (row, "refused"));

  /* A value with more digits than are shown survives being looked at. */
  lam_parameter_set_value (p, g_variant_new_double (301.23456), NULL);
  g_assert_cmpstr (shown_text (row), ==, "301.23");
  gtk_spin_button_update (GTK_SPIN_BUTTON (lam_parameter_row_get_control (LAM_PARAMETER_ROW (row))));
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 301.23456);

  lam_parameter_set_note (p, "found: 295.6 ± 0.3");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==, "found: 295.6 ± 0.3");

  /* The dot puts the default back, and that can be undone. */
  g_signal_emit_by_name (dot, "clicked");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 319.5);
  g_assert_false (gtk_widget_get_visible (dot));
  g_assert_cmpstr (lam_undo_get_undo_name (undo), ==, "Reset Centre of rotation");
  lam_undo_undo (undo);
  g_assert_cmpstr (shown_text (row), ==, "301.23");
  lam_undo_undo (undo);
  g_assert_cmpstr (shown_text (row), ==, "295.60");

  /* With a px known, the unit is a button that shows the same length in the other one; steps and entries follow. */
  lam_parameter_set_value (p, g_variant_new_double (301.23456), NULL);
  lam_parameter_set_pixel (p, 0.05);
  g_assert_cmpstr (shown_text (row), ==, "301.23");
  g_assert_true (gtk_widget_activate_action (row, "row.exchange-unit", NULL));
  g_assert_cmpstr (shown_text (row), ==, "15.0617");
  type (row, shown_text (row));
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 301.23456);
  type (row, "10");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 200);
  type (row, "295.6 px");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 295.6);
  g_assert_cmpstr (shown_text (row), ==, "14.7800");
  type (row, "100");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==,
                   "Centre of rotation must be between 0.0000 and 31.9500 mm, not 100");
  g_assert_true (gtk_widget_activate_action (row, "row.exchange-unit", NULL));
  g_assert_cmpstr (shown_text (row), ==, "295.60");

  lam_parameter_set_visible (p, FALSE);
  g_assert_false (gtk_widget_get_visible (row));
  g_object_ref (row);
  test_close (window);
  g_assert_finalize_object (LAM_PARAMETER_ROW (row));
  lam_undo_clear (undo);
  g_assert_finalize_object (p);
  g_assert_finalize_object (undo);
}

static void
test_other_rows (void)
{
  LamParameter *beam = lam_parameter_new_choice ("beam", "Beam", beams, "parallel");
  LamParameter *positivity = lam_parameter_new_switch ("positivity", "Positivity", FALSE);
  LamParameter *distance = lam_parameter_new_number ("sdd", "Source to detector", "mm", INFINITY, 0, INFINITY, 1);
  LamParameter *iterations = lam_parameter_new_integer ("iterations", "Iterations", NULL, 15, 1, 1000);
  LamParameter *file = lam_parameter_new_file ("list", "List");
  LamParameter *all[] = {beam, positivity, distance, iterations, file};
  GtkWidget *rows[5], *list = gtk_list_box_new ();
  for (int i = 0; i < 5; i++) {
    rows[i] = lam_parameter_row_new (all[i]);
    gtk_list_box_append (GTK_LIST_BOX (list), rows[i]);
  }
  GtkWidget *window = test_present (list, 400, 300);

  gtk_drop_down_set_selected (GTK_DROP_DOWN (lam_parameter_row_get_control (LAM_PARAMETER_ROW (rows[0]))), 1);
  g_assert_cmpstr (lam_parameter_get_text (beam), ==, "cone");
  lam_parameter_reset (beam);
  g_assert_cmpint (
      gtk_drop_down_get_selected (GTK_DROP_DOWN (lam_parameter_row_get_control (LAM_PARAMETER_ROW (rows[0])))), ==, 0);
  /* Other choices come into the list; a choice that stays is no edit, one that goes gives way. */
  GtkDropDown *drop = GTK_DROP_DOWN (lam_parameter_row_get_control (LAM_PARAMETER_ROW (rows[0])));
  const LamParameterChoice more[] = {{"fan", "Fan"}, {"cone", "Cone"}, {"parallel", "Parallel"}, {NULL}};
  lam_parameter_set_choices (beam, more, "fan");
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (drop)), ==, 3);
  g_assert_cmpstr (lam_parameter_get_text (beam), ==, "parallel");
  g_assert_cmpuint (gtk_drop_down_get_selected (drop), ==, 2);
  lam_parameter_set_choices (beam, (const LamParameterChoice[]){more[0], more[1], {NULL}}, "cone");
  g_assert_cmpstr (lam_parameter_get_text (beam), ==, "cone");
  g_assert_false (lam_parameter_get_changed (beam));
  g_assert_cmpuint (gtk_drop_down_get_selected (drop), ==, 1);
  gtk_widget_activate (lam_parameter_row_get_control (LAM_PARAMETER_ROW (rows[1])));
  test_wait_frames (window, 20);
  g_assert_true (lam_parameter_get_boolean (positivity));

  g_assert_cmpstr (shown_text (rows[2]), ==, "∞");
  g_assert_true (isinf (lam_parameter_get_number (distance)));
  type (rows[2], "50 cm");
  g_assert_cmpfloat (lam_parameter_get_number (distance), ==, 500);
  type (rows[2], "inf");
  g_assert_true (isinf (lam_parameter_get_number (distance)));
  g_assert_cmpstr (shown_text (rows[2]), ==, "∞");

  g_assert_cmpstr (shown_text (rows[3]), ==, "15");
  type (rows[3], "0");
  g_assert_cmpint (lam_parameter_get_integer (iterations), ==, 15);
  type (rows[3], "2.5");
  g_assert_cmpint (lam_parameter_get_integer (iterations), ==, 15);
  type (rows[3], "40");
  g_assert_cmpint (lam_parameter_get_integer (iterations), ==, 40);

  /* A file by its name; what is wrong with it stands in the row until it is another. */
  GtkWidget *name = gtk_button_get_child (GTK_BUTTON (lam_parameter_row_get_control (LAM_PARAMETER_ROW (rows[4]))));
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (name)), ==, "Choose…");
  lam_parameter_edit (file, g_variant_new_string ("/nowhere/bad.txt"), NULL);
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (name)), ==, "bad.txt");
  lam_parameter_set_fault (file, "bad.txt, line 2: no numbers");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (rows[4])), ==, "bad.txt, line 2: no numbers");
  g_assert_true (gtk_widget_has_css_class (rows[4], "refused"));
#ifndef __SANITIZE_ADDRESS__ /* GTK forgets what its chooser listed, by way of threads that no suppression names */
  g_assert_true (gtk_widget_activate_action (rows[4], "row.choose-file", NULL));
  test_wait_frames (window, 10);
  g_autoptr (GListModel) open = gtk_window_get_toplevels ();
  g_object_ref (open);
  g_assert_cmpuint (g_list_model_get_n_items (open), ==, 2);
#endif
  lam_parameter_reset (file);
  g_assert_false (gtk_widget_has_css_class (rows[4], "refused"));
  test_close (window);
  for (int i = 0; i < 5; i++)
    g_assert_finalize_object (all[i]);
}

/* -- histogram -- */

static gboolean
model_settled (gpointer model)
{
  return lam_slice_model_is_settled (model);
}

static LamSliceModel *
new_model (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  LamSnapshotInfo info = {.plane = LAM_PLANE_SLICE, .count = 1, .width = 100, .height = 100};
  float *pixels = lam_alloc (10000 * sizeof *pixels, "test picture", NULL);
  for (int i = 0; i < 10000; i++)
    pixels[i] = i % 100;
  pixels[0] = NAN;
  lam_slice_model_take (model, lam_snapshot_new_take (&info, pixels));
  return model;
}

static void
test_histogram (void)
{
  LamSliceModel *model = new_model ();
  GtkWidget *histogram = lam_histogram_new (model);
  test_wait (model_settled, model);
  GtkWidget *window = test_present (histogram, 400, 100);
  double low, high, range_low, range_high;
  lam_slice_model_get_level (model, &low, &high);
  lam_histogram_get_range (LAM_HISTOGRAM (histogram), &range_low, &range_high);
  g_assert_cmpfloat (range_low, <, low);
  g_assert_cmpfloat (range_high, >, high);

  if (test_have_xdotool ()) {
    /* Take the lower end and move it to the right by a quarter of the plot. */
    GtkWidget *handle = lam_histogram_get_handle (LAM_HISTOGRAM (histogram), 0);
    int x, y;
    test_screen_point (handle, gtk_widget_get_width (handle) / 2.0, 20, &x, &y);
    test_xdotool ("mousemove %d %d mousedown 1", x, y);
    test_xdotool ("mousemove %d %d", x + 40, y);
    test_xdotool ("mousemove %d %d", x + 97, y);
    test_xdotool ("mouseup 1");
    test_wait_frames (window, 2);
    double moved, same;
    lam_slice_model_get_level (model, &moved, &same);
    g_assert_cmpfloat_with_epsilon (moved - low, (range_high - range_low) / 4, 1);
    g_assert_cmpfloat (same, ==, high);

    /* Keys, by Tab from one end to the other. */
    test_focus_window (window);
    gtk_widget_grab_focus (handle);
    test_xdotool ("key Right");
    test_wait_frames (window, 2);
    double stepped;
    lam_slice_model_get_level (model, &stepped, &same);
    g_assert_cmpfloat_with_epsilon (stepped - moved, (range_high - range_low) / 100, 1e-9);
    test_xdotool ("key Tab Left");
    test_wait_frames (window, 2);
    double kept;
    lam_slice_model_get_level (model, &kept, &same);
    g_assert_cmpfloat (kept, ==, stepped);
    g_assert_cmpfloat (same, <, high);
    /* The ends do not pass each other. */
    test_xdotool ("key --repeat 20 shift+Left");
    test_wait_frames (window, 2);
    lam_slice_model_get_level (model, &low, &high);
    g_assert_cmpfloat (high, >, low);
  } else
    g_test_skip ("xdotool is not installed");
  g_object_ref (histogram);
  test_close (window);
  g_assert_finalize_object (LAM_HISTOGRAM (histogram));
  g_assert_finalize_object (model);
}

/* -- chart -- */

static void
test_axis (void)
{
  LamAxis *axis = lam_axis_new ("change", TRUE);
  double ticks[8], min, max;
  lam_axis_reset (axis);
  lam_axis_include (axis, NAN);
  lam_axis_include (axis, -3);
  lam_axis_include (axis, 0.2);
  lam_axis_include (axis, 20);
  lam_axis_finish (axis);
  lam_axis_get_range (axis, &min, &max);
  g_assert_cmpfloat (min, <, 0.2);
  g_assert_cmpfloat (max, >, 20);
  g_assert_cmpint (lam_axis_ticks (axis, ticks, 8), ==, 2);
  g_assert_cmpfloat_with_epsilon (ticks[0], 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (ticks[1], 10, 1e-12);
  g_assert_true (isnan (lam_axis_normalise (axis, 0)));
  g_assert_cmpfloat_with_epsilon (lam_axis_value (axis, lam_axis_normalise (axis, 3)), 3, 1e-12);
  /* Within one decade. */
  lam_axis_reset (axis);
  lam_axis_include (axis, 2);
  lam_axis_include (axis, 6);
  lam_axis_finish (axis);
  g_assert_cmpint (lam_axis_ticks (axis, ticks, 8), >=, 2);
  /* Nothing at all. */
  lam_axis_reset (axis);
  lam_axis_finish (axis);
  g_assert_cmpint (lam_axis_ticks (axis, ticks, 8), >=, 2);
  g_assert_finalize_object (axis);

  axis = lam_axis_new ("iteration", FALSE);
  lam_axis_set_integer (axis, TRUE);
  lam_axis_reset (axis);
  lam_axis_include (axis, 1);
  lam_axis_include (axis, 3);
  lam_axis_finish (axis);
  int n = lam_axis_ticks (axis, ticks, 8);
  g_assert_cmpint (n, ==, 3);
  for (int i = 0; i < n; i++)
    g_assert_cmpfloat (ticks[i], ==, rint (ticks[i]));
  g_assert_finalize_object (axis);
}

static void
test_chart (void)
{
  LamSeries *series = lam_series_new ("iteration");
  lam_series_add_column (series, "change", "change", "%");
  lam_series_add_column (series, "cost", "cost", NULL);
  g_autoptr (LamAxis) x = lam_axis_new ("iteration", FALSE), left = lam_axis_new ("change %", TRUE),
                      right = lam_axis_new ("cost", FALSE);
  lam_axis_set_integer (x, TRUE);
  GtkWidget *chart = lam_chart_new (x, left, right);
  LamChartLayer *threshold = lam_line_layer_new_threshold (left, LAM_COLOUR_RED);
  lam_line_layer_set_threshold (LAM_LINE_LAYER (threshold), 0.2, "stop below 0.2 %");
  lam_chart_add_layer (LAM_CHART (chart), lam_line_layer_new (series, 0, left, LAM_COLOUR_BLUE, TRUE));
  lam_chart_add_layer (LAM_CHART (chart), lam_line_layer_new (series, 1, right, LAM_COLOUR_ORANGE, FALSE));
  lam_chart_add_layer (LAM_CHART (chart), threshold);
  lam_chart_set_x_span (LAM_CHART (chart), 1, 15);
  GtkWidget *window = test_present (chart, 500, 200);
  g_assert_null (lam_chart_describe (LAM_CHART (chart), 1));
  for (int i = 1; i <= 7; i++)
    lam_series_append (series, i, (double[]){10.0 / i, 0.9 + 0.01 * i});
  lam_series_append (series, 8, (double[]){0, NAN});
  lam_series_flush (series);
  test_wait_frames (window, 2);
  g_autofree char *text = lam_chart_describe (LAM_CHART (chart), 5.2);
  g_assert_cmpstr (text, ==, "iteration 5 · change 2 % · cost 0.95");
  double min, max;
  lam_axis_get_range (left, &min, &max);
  g_assert_cmpfloat (min, <, 0.2);
  g_assert_cmpfloat (max, >, 10);
  lam_axis_get_range (x, &min, &max);
  g_assert_cmpfloat (min, ==, 1);
  g_assert_cmpfloat (max, ==, 15);
  /* What is read under the pointer stands below the plot, and covers none of it. */
  if (test_have_xdotool ()) {
    int at_x, at_y, over = 0, below = 0;
    guint32 before[160], axis[60];
    for (int y = 0; y < 160; y++)
      before[y] = test_pixel (chart, 262, y + 5);
    for (int k = 0; k < 60; k++)
      axis[k] = test_pixel (chart, 220 + k, 192);
    test_screen_point (chart, 250, 100, &at_x, &at_y);
    test_xdotool ("mousemove %d %d", at_x, at_y);
    test_wait_frames (window, 3);
    for (int y = 0; y < 160; y++)
      over += before[y] != test_pixel (chart, 262, y + 5);
    for (int k = 0; k < 60; k++)
      below += axis[k] != test_pixel (chart, 220 + k, 192);
    g_assert_cmpint (over, ==, 0);
    g_assert_cmpint (below, >, 10);
  }
  g_object_ref (chart);
  test_close (window);
  g_assert_finalize_object (LAM_CHART (chart));
  g_assert_finalize_object (series);
}

/* -- geometry scene -- */

typedef struct {
  LamGeometry *g;
  int begun, moved, ended;
  double offset;
  int handle;
} Dragged;

static void
begin_cb (LamGeometryView *view, int handle, Dragged *seen)
{
  seen->begun++;
  seen->handle = handle;
}

static void
dragged_cb (LamGeometryView *view, const LamPlace *move, Dragged *seen)
{
  seen->moved++;
  seen->offset = seen->g->channel_offset = move->channel_offset;
  seen->g->source_detector = move->source_detector;
  seen->g->source_axis = move->source_axis;
  lam_geometry_view_set_geometry (view, seen->g);
}

static void
end_cb (LamGeometryView *view, Dragged *seen)
{
  seen->ended++;
}

static void
test_geometry_view (void)
{
  GtkWidget *view = lam_geometry_view_new ();
  double x0, y0, x1, y1;
  LamGeometry g = {.kind = LAM_GEOMETRY_PARALLEL,
                   .length_unit = "px",
                   .views = 2,
                   .rows = 1,
                   .channels = 640,
                   .channel_pitch = 1,
                   .channel_offset = -23.9,
                   .angles = (double[]){0, 1},
                   .row_aspect = 1};
  Dragged seen = {&g};
  g_signal_connect (view, "drag-begin", G_CALLBACK (begin_cb), &seen);
  g_signal_connect (view, "dragged", G_CALLBACK (dragged_cb), &seen);
  g_signal_connect (view, "drag-end", G_CALLBACK (end_cb), &seen);
  GtkWidget *window = test_present (view, 320, 220);
  g_assert_false (lam_geometry_view_get_axis_point (LAM_GEOMETRY_VIEW (view), &x0, &y0));
  lam_geometry_view_set_geometry (LAM_GEOMETRY_VIEW (view), &g);
  test_wait_frames (window, 2);
  g_assert_true (lam_geometry_view_get_axis_point (LAM_GEOMETRY_VIEW (view), &x0, &y0));
  /* The axis dot is red, and lies above the middle: lower channels are at the top. */
  g_assert_cmphex (test_pixel (view, x0, y0), ==, 0xc01c28);

  if (test_have_xdotool ()) {
    int x, y;
    double from = g.channel_offset;
    test_screen_point (view, x0, y0, &x, &y);
    test_xdotool ("mousemove %d %d mousedown 1", x, y);
    test_xdotool ("mousemove %d %d", x, y + 5);
    test_xdotool ("mousemove %d %d", x, y + 20);
    test_xdotool ("mouseup 1");
    test_wait_frames (window, 2);
    g_assert_cmpint (seen.begun, ==, 1);
    g_assert_cmpint (seen.moved, >=, 1);
    g_assert_cmpint (seen.ended, ==, 1);
    /* One channel for each pixel, whatever the drawing's scale; with Shift the axis stays under the pointer. */
    g_assert_cmpfloat_with_epsilon (seen.offset - from, 20 * g.channel_pitch, 1e-9);
    lam_geometry_view_get_axis_point (LAM_GEOMETRY_VIEW (view), &x0, &y0);
    test_screen_point (view, x0, y0, &x, &y);
    test_xdotool ("mousemove %d %d mousedown 1 keydown shift mousemove %d %d", x, y, x, y + 6);
    test_xdotool ("mousemove %d %d mouseup 1 keyup shift", x, y + 12);
    test_wait_frames (window, 2);
    g_assert_cmpfloat (seen.offset - from, >, 33 * g.channel_pitch);
    lam_geometry_view_get_axis_point (LAM_GEOMETRY_VIEW (view), &x1, &y1);
    g_assert_cmpfloat_with_epsilon (y1 - y0, 12, 1);

    /* Elsewhere nothing happens. */
    test_xdotool ("mousemove %d %d mousedown 1 mousemove %d %d mouseup 1", x - 80, y + 60, x - 80, y + 70);
    test_wait_frames (window, 2);
    g_assert_cmpint (seen.begun, ==, 2);

    test_focus_window (window);
    gtk_widget_grab_focus (view);
    double before = seen.offset;
    test_xdotool ("key Right");
    test_wait_frames (window, 2);
    g_assert_cmpfloat_with_epsilon (seen.offset, before + 0.1, 1e-9);
    test_xdotool ("key shift+Left");
    test_wait_frames (window, 2);
    g_assert_cmpfloat_with_epsilon (seen.offset, before - 0.9, 1e-9);
    g_assert_cmpint (seen.begun, ==, 2);
  } else
    g_test_skip ("xdotool is not installed");

  /* Cone, flat and curved, drawn to scale. */
  g.kind = LAM_GEOMETRY_CONE;
  g.source_detector = 1200;
  g.source_axis = 900;
  g.channel_offset = 40;
  g_strlcpy (g.length_unit, "mm", sizeof g.length_unit);
  lam_geometry_view_set_geometry (LAM_GEOMETRY_VIEW (view), &g);
  test_wait_frames (window, 2);
  if (test_have_xdotool ()) {
    /* Along the rays: source, detector and axis each change their distances; across, the detector moves the offset. */
    static const struct {
      LamHandle handle;
      int dx, dy;
      double source_detector, source_axis, offset; /* -1, 0, 1: how they change */
    } drags[] = {{LAM_HANDLE_SOURCE, -20, 0, 1, 1, 0},
                 {LAM_HANDLE_DETECTOR, 20, 1, 1, 0, 0},
                 {LAM_HANDLE_AXIS, -20, 2, 0, -1, 0},
                 {LAM_HANDLE_DETECTOR, 1, 20, 0, 0, -1},
                 {LAM_HANDLE_AXIS, 0, 20, 0, 0, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS (drags); i++) {
      LamGeometry was = g;
      int x, y;
      g_assert_true (lam_geometry_view_get_point (LAM_GEOMETRY_VIEW (view), drags[i].handle, &x0, &y0));
      test_screen_point (view, x0, y0, &x, &y);
      test_xdotool ("mousemove %d %d mousedown 1", x, y);
      for (int k = 1; k <= 4; k++)
        test_xdotool ("mousemove %d %d", x + drags[i].dx * k / 4, y + drags[i].dy * k / 4);
      test_xdotool ("mouseup 1");
      test_wait_frames (window, 2);
      g_assert_cmpint (seen.handle, ==, drags[i].handle);
#define SIGN(a) (((a) > 1e-9) - ((a) < -1e-9))
      g_assert_cmpint (SIGN (g.source_detector - was.source_detector), ==, (int) drags[i].source_detector);
      g_assert_cmpint (SIGN (g.source_axis - was.source_axis), ==, (int) drags[i].source_axis);
      g_assert_cmpint (SIGN (g.channel_offset - was.channel_offset), ==, (int) drags[i].offset);
#undef SIGN
    }
  }
  g.detector = LAM_DETECTOR_CURVED;
  lam_geometry_view_set_geometry (LAM_GEOMETRY_VIEW (view), &g);
  test_wait_frames (window, 2);
  lam_geometry_view_set_geometry (LAM_GEOMETRY_VIEW (view), NULL);
  test_wait_frames (window, 2);
  g_object_ref (view);
  test_close (window);
  g_assert_finalize_object (LAM_GEOMETRY_VIEW (view));
}

/* -- cards of measured shapes -- */

static LamSnapshot *
new_picture (uint64_t generation, const char *unit)
{
  LamSnapshotInfo info = {.generation = generation, .plane = LAM_PLANE_SLICE, .count = 1, .width = 64, .height = 48};
  info.pitch_x = info.pitch_y = g_str_equal (unit, "mm") ? 0.05 : 1;
  g_strlcpy (info.length_unit, unit, sizeof info.length_unit);
  g_snprintf (info.value_unit, sizeof info.value_unit, "1/%s", unit);
  float *pixels = lam_alloc (64 * 48 * sizeof *pixels, "test picture", NULL);
  for (int i = 0; i < 64 * 48; i++)
    pixels[i] = (float) (0.001 * (i % 64) + 0.01 * generation);
  pixels[20 * 64 + 20] = NAN;
  return lam_snapshot_new_take (&info, pixels);
}

static gboolean
measured (gpointer measure)
{
  return lam_measure_is_settled (measure) && lam_slice_model_is_settled (lam_measure_get_model (measure));
}

static void
test_measure_cards (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  LamMeasure *measure = lam_measure_new (model);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  LamRegionCard *region = g_object_new (LAM_TYPE_REGION_CARD, NULL);
  LamProfileCard *profile = g_object_new (LAM_TYPE_PROFILE_CARD, NULL);
  lam_region_card_set_measure (region, measure);
  lam_profile_card_set_measure (profile, measure);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (region));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (profile));
  GtkWidget *window = test_present (box, 300, 400);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (region)));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (profile)));

  lam_slice_model_take (model, new_picture (0, "px"));
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_REGION,
                         &(LamShape){LAM_SHAPE_RECTANGLE, 10, 10, 30, 30});
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_LINE, &(LamShape){LAM_SHAPE_LINE, 0.5, 5.5, 40.5, 5.5});
  test_wait (measured, measure);
  test_wait_frames (window, 3);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (region)));
  g_assert_cmpstr (lam_region_card_get_text (region, "n"), ==, "399");
  g_assert_cmpstr (lam_region_card_get_text (region, "NaN"), ==, "1");
  g_assert_cmpstr (lam_region_card_get_text (region, "mean"), ==, "0.0195");
  g_assert_cmpstr (lam_region_card_get_text (region, "min"), ==, "0.0100");
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (profile)));
  g_autofree char *at = lam_chart_describe (lam_profile_card_get_chart (profile), 12.2);
  g_assert_cmpstr (at, ==, "length (px) 12 · value 0.012 1/px");

  /* A picture that follows: new numbers; in another unit: a chart of that unit. */
  lam_slice_model_set_generation (model, 1);
  lam_slice_model_take (model, new_picture (1, "mm"));
  test_wait (measured, measure);
  test_wait_frames (window, 3);
  g_assert_cmpstr (lam_region_card_get_text (region, "mean"), ==, "0.0295");
  g_autofree char *mm = lam_chart_describe (lam_profile_card_get_chart (profile), 1);
  g_assert_cmpstr (mm, ==, "length (mm) 1 · value 0.03 1/mm");
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_REGION, NULL);
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_LINE, NULL);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (region)));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (profile)));
  test_close (window);
  g_assert_finalize_object (measure);
  g_assert_finalize_object (model);
}

/* -- level controls -- */

static void
next_cb (LamPictureValues *values, int *pressed)
{
  ++*pressed;
}

static GtkWidget *
find_button (GtkWidget *widget)
{
  if (GTK_IS_BUTTON (widget))
    return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *w = gtk_widget_get_first_child (widget); w != NULL && found == NULL;
       w = gtk_widget_get_next_sibling (w))
    found = find_button (w);
  return found;
}

static void
type_level (GtkWidget *entry, const char *text)
{
  gtk_widget_grab_focus (entry);
  gtk_editable_set_text (GTK_EDITABLE (entry), text);
  g_signal_emit_by_name (entry, "activate");
}

static void
test_level_controls (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  LamLevelControls *controls = g_object_new (LAM_TYPE_LEVEL_CONTROLS, NULL);
  LamPictureValues *values = g_object_new (LAM_TYPE_PICTURE_VALUES, NULL);
  int pressed = 0;
  lam_level_controls_set_model (controls, model);
  lam_picture_values_set_model (values, model);
  g_signal_connect (values, "next", G_CALLBACK (next_cb), &pressed);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (controls));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (values));
  GtkWidget *window = test_present (box, 300, 200), *low_entry = lam_level_controls_get_entry (controls, 0),
            *high_entry = lam_level_controls_get_entry (controls, 1);
  lam_slice_model_take (model, new_picture (0, "mm"));
  test_wait (model_settled, model);
  double low, high;

  /* Typed, with a comma or a unit; the other end stays. */
  lam_slice_model_set_level (model, 0, 0.06);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (high_entry)), ==, "0.0600");
  type_level (low_entry, "0,0125");
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat (low, ==, 0.0125);
  g_assert_cmpfloat (high, ==, 0.06);
  g_assert_false (lam_slice_model_get_auto_level (model));
  type_level (high_entry, "0.5 1/cm");
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat_with_epsilon (high, 0.05, 1e-12);

  /* Refused in place, with the reason; the level stays. */
  type_level (low_entry, "0.07");
  g_assert_true (gtk_widget_has_css_class (low_entry, "error"));
  g_assert_nonnull (strstr (gtk_widget_get_tooltip_text (low_entry), "below the upper"));
  type_level (low_entry, "wide");
  g_assert_nonnull (strstr (gtk_widget_get_tooltip_text (low_entry), "not a number"));
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat (low, ==, 0.0125);
  /* Left so, it shows what is again. */
  gtk_widget_grab_focus (high_entry);
  test_wait_frames (window, 2);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (low_entry)), ==, "0.0125");
  g_assert_false (gtk_widget_has_css_class (low_entry, "error"));

  /* The next bad value. */
  GtkWidget *next = find_button (GTK_WIDGET (values));
  g_assert_true (gtk_widget_get_mapped (next));
  g_signal_emit_by_name (next, "clicked");
  g_assert_cmpint (pressed, ==, 1);
  test_close (window);
  g_assert_finalize_object (model);
}

/* A name gets its ending; one that would then replace a file nobody asked about is refused. */
static void
test_chosen_name (void)
{
  static const char *const suffixes[] = {".h5", ".hdf5", NULL};
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", &error);
  g_autofree char *there = g_build_filename (folder, "there.h5", NULL),
                  *bare = g_build_filename (folder, "there", NULL);
  g_autofree char *fresh = g_build_filename (folder, "fresh", NULL), *large = g_build_filename (folder, "X.HDF5", NULL);
  g_assert_true (g_file_set_contents (there, "x", 1, &error));
  g_autoptr (GFile) whole = g_file_new_for_path (there), without = g_file_new_for_path (bare);
  g_autoptr (GFile) other = g_file_new_for_path (fresh), capitals = g_file_new_for_path (large);
  g_autoptr (GFile) a = lam_chosen_name (whole, suffixes, &error), b = lam_chosen_name (other, suffixes, &error);
  g_autoptr (GFile) c = lam_chosen_name (capitals, suffixes, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_equal (a, whole) && g_file_equal (c, capitals));
  g_assert_true (g_str_has_suffix (g_file_peek_path (b), "/fresh.h5"));
  g_assert_null (lam_chosen_name (without, suffixes, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "there.h5"));
  g_remove (there);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  if (!test_ui_init (&argc, &argv))
    return 0;
  g_test_add_func ("/widgets/number-row", test_number_row);
  g_test_add_func ("/widgets/special-row", test_special_row);
  g_test_add_func ("/widgets/chosen-name", test_chosen_name);
  g_test_add_func ("/widgets/other-rows", test_other_rows);
  g_test_add_func ("/widgets/histogram", test_histogram);
  g_test_add_func ("/widgets/axis", test_axis);
  g_test_add_func ("/widgets/chart", test_chart);
  g_test_add_func ("/widgets/measure-cards", test_measure_cards);
  g_test_add_func ("/widgets/level-controls", test_level_controls);
  g_test_add_func ("/widgets/geometry-view", test_geometry_view);
  return g_test_run ();
}
