/* The slice view on a real (virtual) display: known snapshots in, pixels and values out. */
#include <math.h>

#include "core/memory.h"
#include "slice-raster.h"
#include "slice-view.h"
#include "widget-util.h"

#define SIDE 256 /* of the widget; the pictures are 32 x 32 */

static LamSnapshot *
new_picture (int64_t index, gboolean absent)
{
  LamSnapshotInfo info = {.iteration = -1,
                          .plane = LAM_PLANE_SLICE,
                          .index = index,
                          .count = 40,
                          .width = 32,
                          .height = 32,
                          .pitch_x = 1,
                          .pitch_y = 1,
                          .length_unit = "px",
                          .value_unit = "1/px"};
  float *pixels = lam_alloc (32 * 32 * sizeof *pixels, "test picture", NULL);
  for (int r = 0; r < 32; r++)
    for (int c = 0; c < 32; c++)
      pixels[r * 32 + c] = r < 16 ? (c < 16 ? 0 : 1) : c < 16 ? 0.5f : 0.25f;
  for (int r = 24; r < 28; r++)
    for (int c = 4; c < 8; c++) {
      pixels[r * 32 + c] = NAN;
      pixels[r * 32 + c + 20] = INFINITY;
      if (absent) {
        pixels[(r - 20) * 32 + c] = lam_absent (2, FALSE);
        pixels[(r - 20) * 32 + c + 20] = lam_absent (3, TRUE);
      }
    }
  return lam_snapshot_new_take (&info, pixels);
}

static LamSnapshot *
new_shot (int64_t index)
{
  return new_picture (index, FALSE);
}

static gboolean
settled (gpointer view)
{
  LamSliceModel *model = lam_slice_view_get_model (view);
  return lam_slice_model_is_settled (model) && lam_slice_view_is_settled (view);
}

static GtkWidget *
show (LamSliceModel **model, GtkWidget **window, gboolean use_gl)
{
  *model = lam_slice_model_new ();
  GtkWidget *view = lam_slice_view_new (*model);
  lam_slice_view_set_use_gl (LAM_SLICE_VIEW (view), use_gl);
  lam_slice_model_take (*model, new_shot (5));
  *window = test_present (view, SIDE, SIDE);
  test_wait (settled, view);
  lam_slice_model_set_level (*model, 0, 1);
  test_wait_frames (view, 2);
  test_wait (settled, view);
  test_wait_frames (view, 2);
  return view;
}

/* The colour in the middle of pixel (row, column): at 8 device pixels a pixel, away from the grid lines. */
static guint32
pixel_of (GtkWidget *view, int row, int column)
{
  double x, y;
  lam_slice_view_to_widget (LAM_SLICE_VIEW (view), column + 0.5, row + 0.5, &x, &y);
  return test_pixel (view, x, y);
}

static void
assert_grey (guint32 rgb, int value)
{
  for (int c = 0; c < 3; c++)
    g_assert_cmpint (ABS ((int) ((rgb >> (8 * c)) & 255) - value), <=, 1);
}

static int
count_hatch (GtkWidget *view, int row, int column, guint32 colour)
{
  double x, y;
  int n = 0;
  lam_slice_view_to_widget (LAM_SLICE_VIEW (view), column, row, &x, &y);
  for (int k = 1; k < 31; k++)
    n += test_pixel (view, x + k, y + 4) == colour;
  return n;
}

static void
check_pixels (gconstpointer data)
{
  gboolean use_gl = GPOINTER_TO_INT (data);
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, use_gl);
  if (use_gl && !lam_slice_view_get_use_gl (LAM_SLICE_VIEW (view))) {
    g_test_skip ("this display has no GL");
  } else {
    g_assert_cmpfloat (lam_slice_view_get_zoom (LAM_SLICE_VIEW (view)), ==, SIDE / 32.0);
    assert_grey (pixel_of (view, 10, 8), 0);
    assert_grey (pixel_of (view, 10, 20), 255);
    assert_grey (pixel_of (view, 20, 8), 128);
    assert_grey (pixel_of (view, 20, 20), 64);
    /* Hatch: both colours in a row of device pixels over the bad block, none beside it. */
    guint32 light = 0xff7800, dark = 0x3d3846;
    g_assert_cmpint (count_hatch (view, 25, 4, light), >=, 8);
    g_assert_cmpint (count_hatch (view, 25, 4, dark), >=, 8);
    g_assert_cmpint (count_hatch (view, 25, 24, light), >=, 8);
    g_assert_cmpint (count_hatch (view, 22, 4, light), ==, 0);
    /* Without a value, and nothing wrong: no alarm; else one. */
    lam_slice_model_take (model, new_picture (5, TRUE));
    test_wait_frames (view, 2);
    test_wait (settled, view);
    test_wait_frames (view, 2);
    g_assert_cmpint (count_hatch (view, 5, 4, 0x424248), >=, 8);
    g_assert_cmpint (count_hatch (view, 5, 4, 0x2a2a2e), >=, 8);
    g_assert_cmpint (count_hatch (view, 5, 4, light), ==, 0);
    g_assert_cmpint (count_hatch (view, 5, 24, light), >=, 8);

    /* Level, inversion and colours change what is drawn, not what is stored. */
    lam_slice_model_set_level (model, 0.25, 0.75);
    test_wait_frames (view, 2);
    test_wait (settled, view);
    test_wait_frames (view, 2);
    assert_grey (pixel_of (view, 20, 20), 0);
    assert_grey (pixel_of (view, 20, 8), 128);
    lam_slice_model_set_inverted (model, TRUE);
    test_wait_frames (view, 2);
    test_wait (settled, view);
    test_wait_frames (view, 2);
    assert_grey (pixel_of (view, 20, 20), 255);
    lam_slice_model_set_inverted (model, FALSE);
    lam_slice_model_set_colour_map (model, LAM_COLOUR_MAP_VIRIDIS);
    test_wait_frames (view, 2);
    test_wait (settled, view);
    test_wait_frames (view, 2);
    g_assert_cmphex (pixel_of (view, 20, 20), ==, 0x440154);
    float value;
    g_assert_true (lam_slice_model_get_value (model, 20, 20, &value));
    g_assert_cmpfloat (value, ==, 0.25f);
  }
  test_close (window);
  g_assert_finalize_object (model);
}

/* The two painters agree at every device pixel, hatch and grid included. */
static void
test_painters (void)
{
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, TRUE);
  if (!lam_slice_view_get_use_gl (LAM_SLICE_VIEW (view)))
    g_test_skip ("this display has no GL");
  else {
    lam_slice_view_zoom_at (LAM_SLICE_VIEW (view), 1.7, 100, 180);
    test_wait_frames (view, 3);
    guint32 gl[32], cpu[32];
    for (int i = 0; i < 32; i++)
      gl[i] = test_pixel (view, 4 + i * 7.5, 40 + i * 5.5);
    lam_slice_view_set_use_gl (LAM_SLICE_VIEW (view), FALSE);
    test_wait_frames (view, 2);
    test_wait (settled, view);
    test_wait_frames (view, 2);
    for (int i = 0; i < 32; i++) {
      cpu[i] = test_pixel (view, 4 + i * 7.5, 40 + i * 5.5);
      for (int c = 0; c < 3; c++)
        g_assert_cmpint (ABS ((int) ((cpu[i] >> 8 * c) & 255) - (int) ((gl[i] >> 8 * c) & 255)), <=, 1);
    }
  }
  test_close (window);
  g_assert_finalize_object (model);
}

static void
test_raster (void)
{
  LamSnapshot *shot = new_shot (0);
  LamSliceLook look = {.origin_x = 2, .origin_y = 3, .scale_x = 1, .scale_y = 2, .low = 0, .high = 1};
  guint8 map[256 * 4];
  guint32 argb[40 * 80];
  for (int i = 0; i < 256; i++)
    map[4 * i] = map[4 * i + 1] = map[4 * i + 2] = i;
  lam_slice_raster (shot, &look, map, 40, 80, argb);
  g_assert_cmphex (argb[0], ==, 0xff0a0a0c);                              /* surround */
  g_assert_cmphex (argb[3 * 40 + 2], ==, 0xff000000);                     /* (0, 0) */
  g_assert_cmphex (argb[3 * 40 + 2 + 16], ==, 0xffffffff);                /* (0, 16) */
  g_assert_cmphex (argb[(3 + 2 * 31 + 1) * 40 + 2 + 31], ==, 0xff404040); /* (31, 31) */
  g_assert_cmphex (argb[(3 + 64) * 40 + 2], ==, 0xff0a0a0c);              /* below */
  lam_slice_raster (NULL, &look, map, 40, 80, argb);
  g_assert_cmphex (argb[3 * 40 + 20], ==, 0xff0a0a0c);
  lam_snapshot_unref (shot);
}

/* -- hands, with real events -- */

static void
test_level_drag (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("xdotool is not installed");
    return;
  }
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, TRUE);
  int x, y;
  double low, high;
  test_screen_point (view, 100, 100, &x, &y);

  /* Right drag sideways by 125: twice the width, same centre. */
  test_xdotool ("mousemove %d %d mousedown 3", x, y);
  test_xdotool ("mousemove %d %d", x + 60, y);
  test_xdotool ("mousemove %d %d", x + 125, y);
  test_xdotool ("mouseup 3");
  test_wait_frames (view, 3);
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat_with_epsilon (high - low, 2, 0.02);
  g_assert_cmpfloat_with_epsilon ((high + low) / 2, 0.5, 0.01);
  g_assert_false (lam_slice_model_get_auto_level (model));

  /* Up by 50: brighter, the centre sinks by a fifth of the width. */
  lam_slice_model_set_level (model, 0, 1);
  test_xdotool ("mousemove %d %d mousedown 3", x, y);
  test_xdotool ("mousemove %d %d", x, y - 20);
  test_xdotool ("mousemove %d %d", x, y - 50);
  test_xdotool ("mouseup 3");
  test_wait_frames (view, 3);
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat_with_epsilon (high - low, 1, 0.01);
  g_assert_cmpfloat_with_epsilon ((high + low) / 2, 0.3, 0.01);

  /* Double click: automatic again. */
  test_xdotool ("mousemove %d %d click --repeat 2 --delay 60 1", x, y);
  test_wait_frames (view, 3);
  g_assert_true (lam_slice_model_get_auto_level (model));
  test_close (window);
  g_assert_finalize_object (model);
}

static void
test_wheel_keys (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("xdotool is not installed");
    return;
  }
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, TRUE);
  LamSliceView *slice = LAM_SLICE_VIEW (view);
  int x, y;
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 5);
  test_screen_point (view, 64, 200, &x, &y);
  test_xdotool ("mousemove %d %d", x, y);
  test_wait_frames (view, 2);

  /* The value under the cursor is the stored one: 64 / 8 = 8, 200 / 8 = 25: just right of the NaN block. */
  g_autofree char *text = lam_slice_model_describe_cursor (model);
  g_assert_cmpstr (text, ==, "row 25 col 8 · 0.500 1/px");
  test_xdotool ("mousemove %d %d", x - 8, y);
  test_wait_frames (view, 2);
  g_autofree char *bad = lam_slice_model_describe_cursor (model);
  g_assert_cmpstr (bad, ==, "row 25 col 7 · nan 1/px");

  test_xdotool ("click 5");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 6);
  test_xdotool ("click 4");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 5);

  /* Ctrl and wheel: zoom, and what is under the pointer stays there. */
  double before_column, before_row, column, row;
  lam_slice_view_to_picture (slice, 56, 200, &before_column, &before_row);
  test_xdotool ("keydown ctrl click 4 keyup ctrl");
  test_wait_frames (view, 2);
  g_assert_cmpfloat_with_epsilon (lam_slice_view_get_zoom (slice), 10, 1e-6);
  lam_slice_view_to_picture (slice, 56, 200, &column, &row);
  g_assert_cmpfloat_with_epsilon (column, before_column, 0.05);
  g_assert_cmpfloat_with_epsilon (row, before_row, 0.05);

  /* Middle drag: pan. */
  lam_slice_view_to_picture (slice, 0, 0, &before_column, &before_row);
  test_xdotool ("mousemove %d %d mousedown 2", x, y);
  test_xdotool ("mousemove %d %d", x + 10, y - 20);
  test_xdotool ("mousemove %d %d", x + 20, y - 40);
  test_xdotool ("mouseup 2");
  test_wait_frames (view, 2);
  lam_slice_view_to_picture (slice, 0, 0, &column, &row);
  g_assert_cmpfloat_with_epsilon (column, before_column - 2, 0.01);
  g_assert_cmpfloat_with_epsilon (row, before_row + 4, 0.01);

  /* Keys, once the picture has the focus. */
  test_focus_window (window);
  gtk_widget_grab_focus (view);
  test_xdotool ("key f");
  test_wait_frames (view, 2);
  g_assert_cmpfloat (lam_slice_view_get_zoom (slice), ==, SIDE / 32.0);
  test_xdotool ("key Down Down Page_Down");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 17);
  test_xdotool ("key End");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 39);
  test_xdotool ("key Home Up");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 0);
  test_xdotool ("key i");
  test_wait_frames (view, 2);
  g_assert_true (lam_slice_model_get_inverted (model));
  test_xdotool ("key r");
  test_wait_frames (view, 2);
  g_assert_false (lam_slice_model_get_inverted (model));
  g_assert_true (lam_slice_model_get_auto_level (model));
  int64_t mark_row, mark_column;
  test_xdotool ("key n");
  test_wait_frames (view, 2);
  g_assert_true (lam_slice_model_get_mark (model, &mark_row, &mark_column));
  g_assert_cmpint (mark_row, ==, 24);
  g_assert_cmpint (mark_column, ==, 4);
  test_xdotool ("key shift+Right");
  test_wait_frames (view, 2);
  lam_slice_model_get_mark (model, &mark_row, &mark_column);
  g_assert_cmpint (mark_column, ==, 5);
  gboolean tool;
  test_xdotool ("key w");
  test_wait_frames (view, 2);
  g_object_get (view, "window-tool", &tool, NULL);
  g_assert_true (tool);
  test_close (window);
  g_assert_finalize_object (model);
}

/* -- measured shapes, with real events -- */

/* Presses at (x0, y0) of the view and lets go at (x1, y1), with a stop on the way. */
static void
drag (GtkWidget *view, double x0, double y0, double x1, double y1)
{
  int x, y, u, v;
  test_screen_point (view, x0, y0, &x, &y);
  test_screen_point (view, x1, y1, &u, &v);
  test_xdotool ("mousemove %d %d mousedown 1", x, y);
  test_xdotool ("mousemove %d %d", (x + u) / 2, (y + v) / 2);
  test_xdotool ("mousemove %d %d", u, v);
  test_xdotool ("mouseup 1");
  test_wait_frames (view, 2);
}

static gboolean
measured (gpointer measure)
{
  return lam_measure_is_settled (measure);
}

static void
assert_shape (LamMeasure *measure, LamMeasureSlot slot, LamShape expected)
{
  const LamShape *s = lam_measure_get_shape (measure, LAM_PLANE_SLICE, slot);
  g_test_message ("%d: %g %g %g %g", s->kind, s->x0, s->y0, s->x1, s->y1);
  g_assert_true (lam_shape_equal (s, &expected));
}

static void
test_regions (void)
{
  if (!test_have_xdotool ()) {
    g_test_skip ("xdotool is not installed");
    return;
  }
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, TRUE);
  LamSliceView *slice = LAM_SLICE_VIEW (view);
  LamMeasure *measure = lam_measure_new (model);
  lam_slice_view_set_measure (slice, measure);
  test_focus_window (window);
  gtk_widget_grab_focus (view);

  /* O, and a drag from the middle outwards: 8 device pixels are one. */
  test_xdotool ("key o");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_view_get_tool (slice), ==, LAM_SLICE_TOOL_CIRCLE);
  drag (view, 64, 64, 96, 64);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_CIRCLE, 8, 8, 4, 0});
  test_wait (measured, measure);
  g_assert_cmpint (lam_measure_get_stats (measure)->n, ==, 52);
  g_assert_cmpfloat (lam_measure_get_stats (measure)->max, ==, 0);
  g_assert_cmphex (test_pixel (view, 64 - 32, 64) & 0xff0000, <,
                   0x900000); /* the line's blue, not the picture's black */
  g_assert_cmphex (test_pixel (view, 64 - 32, 64) & 0xff, >, 0x80);

  /* By its handle it grows, within it moves; by keys too. */
  drag (view, 96, 64, 112, 64);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_CIRCLE, 8, 8, 6, 0});
  drag (view, 64, 60, 128, 60);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_CIRCLE, 16, 8, 6, 0});
  test_xdotool ("key ctrl+Down ctrl+Right ctrl+Right ctrl+shift+Left");
  test_wait_frames (view, 2);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_CIRCLE, 18, 9, 5, 0});
  g_assert_cmpint (lam_slice_model_get_index (model), ==, 5);

  /* Esc puts the tool away; a click within then is the crosshair's; Delete removes the circle, then the crosshair. */
  test_xdotool ("key Escape");
  test_wait_frames (view, 2);
  g_assert_cmpint (lam_slice_view_get_tool (slice), ==, LAM_SLICE_TOOL_POINTER);
  int64_t row, column;
  drag (view, 150, 75, 150, 75);
  g_assert_true (lam_slice_model_get_mark (model, &row, &column));
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_CIRCLE, 18, 9, 5, 0});
  test_xdotool ("key Delete");
  test_wait_frames (view, 2);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_NONE, 0, 0, 0, 0});
  g_assert_null (lam_measure_get_stats (measure));
  g_assert_true (lam_slice_model_get_mark (model, &row, &column));
  test_xdotool ("key Delete");
  test_wait_frames (view, 2);
  g_assert_false (lam_slice_model_get_mark (model, &row, &column));

  /* A rectangle over the NaN block; it stays through the next slice. */
  test_xdotool ("key b");
  drag (view, 16, 176, 80, 240);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_RECTANGLE, 2, 22, 10, 30});
  lam_slice_model_take (model, new_shot (6));
  test_wait (measured, measure);
  g_assert_cmpint (lam_measure_get_stats (measure)->n, ==, 64 - 16);
  g_assert_cmpint (lam_measure_get_stats (measure)->nans, ==, 16);
  g_assert_cmpfloat (lam_measure_get_stats (measure)->mean, ==, 0.5);

  /* A click draws nothing. Enter puts one into the middle. */
  drag (view, 200, 40, 201, 40);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_RECTANGLE, 2, 22, 10, 30});
  test_xdotool ("key Return");
  test_wait_frames (view, 2);
  assert_shape (measure, LAM_MEASURE_REGION, (LamShape){LAM_SHAPE_RECTANGLE, 12, 12, 20, 20});

  /* A line beside it: its own numbers, and both stay. */
  test_xdotool ("key m");
  drag (view, 20, 44, 240, 44);
  const LamShape *line = lam_measure_get_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_LINE);
  g_assert_cmpint (line->kind, ==, LAM_SHAPE_LINE);
  g_assert_cmpfloat (line->x0, ==, 2.5);
  g_assert_cmpfloat (line->x1, ==, 30);
  test_wait (measured, measure);
  const LamProfile *profile = lam_measure_get_profile (measure);
  g_assert_cmpfloat (profile->values[0], ==, 0);
  g_assert_cmpfloat (profile->values[profile->n - 1], ==, 1);
  g_assert_nonnull (lam_measure_get_stats (measure));
  g_object_unref (measure);
  test_close (window);
  g_assert_finalize_object (model);
}

/* A picture that is taken down and put up again is uploaded again; the GL names go with the widget. */
static void
test_realize_again (void)
{
  LamSliceModel *model;
  GtkWidget *window, *view = show (&model, &window, TRUE);
  g_object_ref (view);
  gtk_window_set_child (GTK_WINDOW (window), NULL);
  gtk_window_set_child (GTK_WINDOW (window), view);
  test_wait_frames (window, 4);
  assert_grey (pixel_of (view, 10, 20), 255);
  test_close (window);
  g_assert_finalize_object (LAM_SLICE_VIEW (view));
  g_assert_finalize_object (model);
}

/* The same tests in a process whose GL is switched off: the view must say so and draw all the same. */
static void
test_no_gl (void)
{
  if (g_test_subprocess ()) {
    LamSliceModel *model;
    GtkWidget *window, *view = show (&model, &window, TRUE);
    g_assert_false (lam_slice_view_get_use_gl (LAM_SLICE_VIEW (view)));
    assert_grey (pixel_of (view, 10, 20), 255);
    assert_grey (pixel_of (view, 20, 8), 128);
    test_close (window);
    g_assert_finalize_object (model);
    return;
  }
  g_setenv ("GDK_DEBUG", "gl-disable", TRUE);
  g_test_trap_subprocess (NULL, 0, 0);
  g_unsetenv ("GDK_DEBUG");
  g_test_trap_assert_passed ();
}

int
main (int argc, char **argv)
{
  if (!test_ui_init (&argc, &argv))
    return 0;
  g_test_add_func ("/slice-view/raster", test_raster);
  g_test_add_data_func ("/slice-view/pixels-gl", GINT_TO_POINTER (TRUE), check_pixels);
  g_test_add_data_func ("/slice-view/pixels-cpu", GINT_TO_POINTER (FALSE), check_pixels);
  g_test_add_func ("/slice-view/painters-agree", test_painters);
  g_test_add_func ("/slice-view/level-drag", test_level_drag);
  g_test_add_func ("/slice-view/wheel-and-keys", test_wheel_keys);
  g_test_add_func ("/slice-view/regions", test_regions);
  g_test_add_func ("/slice-view/realize-again", test_realize_again);
  g_test_add_func ("/slice-view/no-gl", test_no_gl);
  return g_test_run ();
}
