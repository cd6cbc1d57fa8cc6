/* Parameters, undo, slice model and series: no GTK, no display. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/measure.h"
#include "io/volume.h"
#include "model/parameter-list.h"
#include "model/picture-file.h"
#include "model/series.h"
#include "model/slice-model.h"
#include "model/units.h"

static const LamParameterChoice beams[] = {{"parallel", "Parallel"}, {"cone", "Cone"}, {NULL, NULL}};

static LamParameter *
new_centre (void)
{
  LamParameter *p = lam_parameter_new_number ("center", "Centre of rotation", "px", 319.5, 0, 639, 2);
  lam_parameter_set_edit_name (p, "Set Centre of Rotation");
  return p;
}

static double
parse (const char *text, const char *unit, double pixel)
{
  g_autoptr (GError) error = NULL;
  double value = NAN;
  g_assert_true (lam_units_parse (text, unit, pixel, &value, &error));
  g_assert_no_error (error);
  return value;
}

static void
refuse (const char *text, const char *unit, double pixel, const char *part)
{
  g_autoptr (GError) error = NULL;
  double value = 7;
  g_assert_false (lam_units_parse (text, unit, pixel, &value, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_cmpfloat (value, ==, 7);
}

static void
test_units (void)
{
  g_assert_cmpfloat (parse ("0.3 px", "px", 0), ==, 0.3);
  g_assert_cmpfloat (parse ("0,3px", "px", 0), ==, 0.3);
  g_assert_cmpfloat (parse (" 12 ", "mm", 0), ==, 12);
  g_assert_cmpfloat (parse ("2 cm", "mm", 0), ==, 20);
  g_assert_cmpfloat_with_epsilon (parse ("1.2 rad", "°", 0), 1.2 * 180 / G_PI, 1e-12);
  g_assert_cmpfloat (parse ("−4.5", "px", 0), ==, -4.5);
  g_assert_cmpfloat (parse ("-4,5e-1", "px", 0), ==, -0.45);
  g_assert_cmpfloat (parse ("10 px", "mm", 0.05), ==, 0.5);
  g_assert_cmpfloat (parse ("5 mm", "px", 0.5), ==, 10);
  g_assert_cmpfloat (parse ("50 µm", "mm", 0), ==, 0.05);
  g_assert_cmpfloat (parse ("1 1/cm", "1/mm", 0), ==, 0.1);
  g_assert_true (isinf (parse ("inf", "mm", 0)));
  g_assert_true (isinf (parse ("∞ mm", "mm", 0)));
  refuse ("", "px", 0, "not a number");
  refuse ("abc", "px", 0, "not a number");
  refuse ("nan", "px", 0, "not a number");
  refuse ("0x10", "px", 0, "not a unit");
  refuse ("1,234.5", "px", 0, "more than one decimal sign");
  refuse ("1.2.3", "px", 0, "more than one decimal sign");
  refuse ("3 furlong", "px", 0, "not a unit");
  refuse ("3 mm", "px", 0, "pixel pitch is unknown");
  refuse ("3 mm", "°", 0, "is in °");
  refuse ("3 mm", "", 0, "has no unit");

  g_autofree char *zero = lam_units_format (-0.001, 2), *minus = lam_units_format (-23.9, 1);
  g_assert_cmpstr (zero, ==, "0.00");
  g_assert_cmpstr (minus, ==, "−23.9");
}

static void
count_cb (GObject *object, GParamSpec *pspec, gpointer count)
{
  ++*(int *) count;
}

static void
test_parameter (void)
{
  LamParameter *p = new_centre ();
  int values = 0, changes = 0;
  g_signal_connect (p, "notify::value", G_CALLBACK (count_cb), &values);
  g_signal_connect (p, "notify::changed", G_CALLBACK (count_cb), &changes);
  g_autoptr (GError) error = NULL;

  /* Refused with the reason, and not clamped. */
  g_assert_false (lam_parameter_edit (p, g_variant_new_double (700), &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "Centre of rotation must be between 0.00 and 639.00 px, not 700");
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 319.5);
  g_clear_error (&error);
  g_assert_false (lam_parameter_edit (p, g_variant_new_double (NAN), &error));
  g_clear_error (&error);
  g_assert_false (lam_parameter_edit (p, g_variant_new_string ("5"), &error));
  g_clear_error (&error);
  g_assert_cmpint (values, ==, 0);

  g_assert_true (lam_parameter_edit (p, g_variant_new_double (295.6), &error));
  g_assert_true (lam_parameter_get_changed (p));
  g_assert_true (lam_parameter_edit (p, g_variant_new_double (295.6), &error));
  g_assert_cmpint (values, ==, 1);
  g_assert_cmpint (changes, ==, 1);
  g_autofree char *full = lam_parameter_format_full (p);
  g_assert_cmpstr (full, ==, "295.60\u00a0px");
  lam_parameter_reset (p);
  g_assert_false (lam_parameter_get_changed (p));
  g_assert_cmpint (changes, ==, 2);

  /* An unchanged value follows its default, a changed one does not. */
  g_assert_true (lam_parameter_set_default (p, g_variant_new_double (100), NULL));
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 100);
  g_assert_true (lam_parameter_edit (p, g_variant_new_double (90), NULL));
  g_assert_true (lam_parameter_set_default (p, g_variant_new_double (200), NULL));
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 90);

  /* A range that shrinks under a value keeps the value and says so. */
  g_assert_null (lam_parameter_get_problem (p));
  lam_parameter_set_range (p, 0, 50);
  g_autofree char *problem = lam_parameter_get_problem (p);
  g_assert_nonnull (problem);
  g_assert_cmpfloat (lam_parameter_get_number (p), ==, 90);
  g_assert_finalize_object (p);

  LamParameter *pitch = lam_parameter_new_number ("pitch", "Pixel pitch", "mm", 0, 0, 1000, 4);
  lam_parameter_set_special (pitch, 0, "unknown");
  g_autofree char *unknown = lam_parameter_format (pitch);
  g_assert_cmpstr (unknown, ==, "unknown");
  g_autoptr (GVariant) none = lam_parameter_parse (pitch, "unknown", &error);
  g_assert_cmpfloat (g_variant_get_double (none), ==, 0);
  lam_parameter_edit (pitch, g_variant_new_double (0.05), NULL);
  g_autofree char *known = lam_parameter_format (pitch);
  g_assert_cmpstr (known, ==, "0.0500");
  g_assert_finalize_object (pitch);

  /* The same length in mm and in px: the value stays, to the last bit; a bare number is in what is shown. */
  g_autoptr (LamParameterList) list = lam_parameter_list_new (NULL);
  LamParameter *c = lam_parameter_list_add (list, new_centre ());
  g_assert_null (lam_parameter_get_other_unit (c));
  lam_parameter_set_shown_unit (c, "mm"); /* waits until a px is known */
  g_assert_cmpstr (lam_parameter_get_shown_unit (c), ==, "px");
  lam_parameter_edit (c, g_variant_new_double (301.23456789), NULL);
  lam_parameter_set_pixel (c, 0.0123);
  g_assert_cmpstr (lam_parameter_get_shown_unit (c), ==, "mm");
  g_assert_cmpstr (lam_parameter_get_other_unit (c), ==, "px");
  g_autofree char *mm = lam_parameter_format_full (c);
  g_assert_cmpstr (mm, ==, "3.7052\u00a0mm");
  for (int i = 0; i < 5; i++)
    lam_parameter_set_shown_unit (c, i % 2 ? "mm" : "px");
  g_assert_cmpfloat (lam_parameter_get_number (c), ==, 301.23456789);
  lam_parameter_set_shown_unit (c, "mm");
  g_autoptr (GVariant) bare = lam_parameter_parse (c, "1,23", &error), px = lam_parameter_parse (c, "100 px", &error);
  g_assert_cmpfloat_with_epsilon (g_variant_get_double (bare), 100, 1e-9);
  g_assert_cmpfloat (g_variant_get_double (px), ==, 100);
  g_assert_false (lam_parameter_edit (c, g_variant_new_double (700), &error));
  g_assert_cmpstr (error->message, ==, "Centre of rotation must be between 0.0000 and 7.8597 mm, not 8.61");
  g_clear_error (&error);
  g_autofree char *units = lam_parameter_list_dup_units (list);
  g_assert_cmpstr (units, ==, "center=mm");
  lam_parameter_list_use_units (list, "beam=px;center=px");
  g_assert_cmpstr (lam_parameter_get_shown_unit (c), ==, "px");
  lam_parameter_list_use_units (list, NULL);
  g_assert_null (lam_parameter_get_wanted_unit (c));

  LamParameter *n = lam_parameter_new_integer ("iterations", "Iterations", NULL, 15, 1, 1000);
  g_assert_null (lam_parameter_parse (n, "3.5", &error));
  g_assert_nonnull (strstr (error->message, "whole number"));
  g_clear_error (&error);
  g_autoptr (GVariant) twenty = lam_parameter_parse (n, "20", &error);
  g_assert_cmpint (g_variant_get_int64 (twenty), ==, 20);
  g_assert_finalize_object (n);

  LamParameter *beam = lam_parameter_new_choice ("beam", "Beam", beams, "parallel");
  g_assert_cmpint (lam_parameter_get_selected (beam), ==, 0);
  g_assert_false (lam_parameter_edit (beam, g_variant_new_string ("fan"), NULL));
  g_assert_true (lam_parameter_edit (beam, g_variant_new_string ("cone"), NULL));
  g_assert_cmpint (lam_parameter_get_selected (beam), ==, 1);
  g_assert_finalize_object (beam);
}

static LamParameterList *
new_list (LamUndo *undo)
{
  LamParameterList *list = lam_parameter_list_new (undo);
  lam_parameter_list_add (list, new_centre ());
  lam_parameter_list_add (list, lam_parameter_new_number ("tilt", "Tilt", "°", 0, -45, 45, 2));
  lam_parameter_list_add (list, lam_parameter_new_integer ("iterations", "Iterations", NULL, 15, 1, 1000));
  lam_parameter_list_add (list, lam_parameter_new_switch ("positivity", "Positivity", FALSE));
  lam_parameter_list_add (list, lam_parameter_new_choice ("beam", "Beam", beams, "parallel"));
  lam_parameter_list_add (list, lam_parameter_new_text ("name", "Name", ""));
  return list;
}

static void
test_list (void)
{
  g_autoptr (LamUndo) undo = lam_undo_new ();
  LamParameterList *list = new_list (undo);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (list)), ==, 6);
  g_assert_null (lam_parameter_list_find (list, "nothing"));
  g_assert_true (lam_parameter_edit (lam_parameter_list_find (list, "tilt"), g_variant_new_double (1.25), NULL));
  g_assert_true (lam_parameter_edit (lam_parameter_list_find (list, "beam"), g_variant_new_string ("cone"), NULL));
  g_autoptr (GVariant) saved = lam_parameter_list_save (list);
  lam_parameter_list_reset (list);
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (list, "tilt")), ==, 0);
  g_assert_cmpstr (lam_undo_get_undo_name (undo), ==, "Reset All");
  g_assert_true (lam_parameter_list_load (list, saved, NULL));
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (list, "tilt")), ==, 1.25);

  /* One bad value refuses the whole. */
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) bad = g_variant_ref_sink (g_variant_new_parsed ("{'tilt': <2.5>, 'iterations': <int64 0>}"));
  g_assert_false (lam_parameter_list_load (list, bad, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_assert_cmpfloat (lam_parameter_get_number (lam_parameter_list_find (list, "tilt")), ==, 1.25);
  lam_undo_clear (undo);
  g_assert_finalize_object (list);
}

static void
test_undo_steps (void)
{
  LamUndo *undo = lam_undo_new ();
  LamParameterList *list = new_list (undo);
  LamParameter *centre = lam_parameter_list_find (list, "center");
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();
  lam_undo_add_actions (undo, G_ACTION_MAP (group));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (group), "undo"));

  /* A drag is one step, whatever it passed through. */
  lam_undo_begin (undo, "Drag Axis");
  for (int i = 0; i < 50; i++)
    lam_parameter_edit (centre, g_variant_new_double (300 + i), NULL);
  g_assert_false (lam_undo_can_undo (undo));
  lam_undo_end (undo);
  g_assert_cmpstr (lam_undo_get_undo_name (undo), ==, "Drag Axis");
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (group), "undo"));
  g_action_group_activate_action (G_ACTION_GROUP (group), "undo", NULL);
  g_assert_cmpfloat (lam_parameter_get_number (centre), ==, 319.5);
  g_assert_false (lam_undo_can_undo (undo));
  g_assert_cmpstr (lam_undo_get_redo_name (undo), ==, "Drag Axis");
  g_action_group_activate_action (G_ACTION_GROUP (group), "redo", NULL);
  g_assert_cmpfloat (lam_parameter_get_number (centre), ==, 349);

  /* A drag that ends where it began is none. */
  lam_undo_clear (undo);
  lam_undo_begin (undo, "Drag Axis");
  lam_parameter_edit (centre, g_variant_new_double (10), NULL);
  lam_parameter_edit (centre, g_variant_new_double (349), NULL);
  lam_undo_end (undo);
  g_assert_false (lam_undo_can_undo (undo));

  /* Quick repeats join; another parameter does not; with no window nothing joins. */
  for (int i = 0; i < 5; i++)
    lam_parameter_edit (centre, g_variant_new_double (20 + i), NULL);
  lam_parameter_edit (lam_parameter_list_find (list, "tilt"), g_variant_new_double (3), NULL);
  g_assert_true (lam_undo_undo (undo));
  g_assert_true (lam_undo_undo (undo));
  g_assert_cmpfloat (lam_parameter_get_number (centre), ==, 349);
  g_assert_false (lam_undo_undo (undo));
  lam_undo_set_merge_window (undo, 0);
  for (int i = 0; i < 5; i++)
    lam_parameter_edit (centre, g_variant_new_double (20 + i), NULL);
  int steps = 0;
  while (lam_undo_undo (undo))
    steps++;
  g_assert_cmpint (steps, ==, 5);

  /* A new edit forgets what could be redone. */
  g_assert_true (lam_undo_can_redo (undo));
  lam_parameter_edit (centre, g_variant_new_double (1), NULL);
  g_assert_false (lam_undo_can_redo (undo));
  lam_undo_clear (undo);
  g_clear_object (&group);
  g_assert_finalize_object (list);
  g_assert_finalize_object (undo);
}

/* 500 random edits, groups among them; every state on the way back and forth is the same bits. */
static void
test_undo_walk (void)
{
  g_autoptr (LamUndo) undo = lam_undo_new ();
  lam_undo_set_merge_window (undo, 0);
  g_autoptr (LamParameterList) list = new_list (undo);
  g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20240607);
  g_ptr_array_add (states, lam_parameter_list_save (list));
  while (states->len <= 500) {
    int edits = g_rand_int_range (rand, 0, 10) == 0 ? g_rand_int_range (rand, 1, 8) : 0;
    if (edits > 0)
      lam_undo_begin (undo, "Drag");
    for (int i = 0; i < MAX (edits, 1); i++) {
      char name[16];
      g_snprintf (name, sizeof name, "n%u", g_rand_int (rand));
      switch (g_rand_int_range (rand, 0, 6)) {
      case 0:
        lam_parameter_edit (lam_parameter_list_find (list, "center"),
                            g_variant_new_double (g_rand_double_range (rand, 0, 639)), NULL);
        break;
      case 1:
        lam_parameter_edit (lam_parameter_list_find (list, "tilt"),
                            g_variant_new_double (g_rand_double_range (rand, -45, 45)), NULL);
        break;
      case 2:
        lam_parameter_edit (lam_parameter_list_find (list, "iterations"),
                            g_variant_new_int64 (g_rand_int_range (rand, 1, 1000)), NULL);
        break;
      case 3:
        lam_parameter_edit (lam_parameter_list_find (list, "positivity"), g_variant_new_boolean (g_rand_boolean (rand)),
                            NULL);
        break;
      case 4:
        lam_parameter_edit (lam_parameter_list_find (list, "beam"),
                            g_variant_new_string (beams[g_rand_int_range (rand, 0, 2)].id), NULL);
        break;
      default:
        lam_parameter_edit (lam_parameter_list_find (list, "name"), g_variant_new_string (name), NULL);
      }
    }
    if (edits > 0)
      lam_undo_end (undo);
    g_autoptr (GVariant) now = lam_parameter_list_save (list);
    /* An edit that changed nothing is no step. */
    if (!g_variant_equal (now, g_ptr_array_index (states, states->len - 1)))
      g_ptr_array_add (states, g_steal_pointer (&now));
  }
  for (int round = 0; round < 2; round++) {
    for (guint i = states->len - 1; i-- > 0;) {
      g_assert_true (lam_undo_undo (undo));
      g_autoptr (GVariant) now = lam_parameter_list_save (list);
      g_assert_true (g_variant_equal (now, g_ptr_array_index (states, i)));
    }
    g_assert_false (lam_undo_undo (undo));
    for (guint i = 1; i < states->len; i++) {
      g_assert_true (lam_undo_redo (undo));
      g_autoptr (GVariant) now = lam_parameter_list_save (list);
      g_assert_true (g_variant_equal (now, g_ptr_array_index (states, i)));
    }
    g_assert_false (lam_undo_redo (undo));
  }
}

static LamSnapshot *
new_shot (uint64_t generation, int64_t iteration, LamPlane plane, int64_t index)
{
  LamSnapshotInfo info = {.generation = generation,
                          .iteration = iteration,
                          .plane = plane,
                          .index = index,
                          .count = 9,
                          .width = 100,
                          .height = 40,
                          .pitch_x = 1,
                          .pitch_y = 1,
                          .length_unit = "px",
                          .value_unit = "1/px"};
  float *pixels = lam_alloc (info.width * info.height * sizeof *pixels, "test picture", NULL);
  for (int64_t i = 0; i < info.width * info.height; i++)
    pixels[i] = (float) i + generation;
  pixels[5 * 100 + 7] = NAN;
  pixels[6 * 100 + 8] = -INFINITY;
  return lam_snapshot_new_take (&info, pixels);
}

static void
settle (LamSliceModel *model)
{
  while (!lam_slice_model_is_settled (model))
    g_main_context_iteration (NULL, TRUE);
}

static void
wanted_cb (LamSliceModel *model, int plane, gint64 index, gint64 *asked)
{
  asked[0] = plane;
  asked[1] = index;
  asked[2]++;
}

static void
test_slice_model (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  gint64 asked[3] = {-1, -1, 0};
  g_signal_connect (model, "wanted", G_CALLBACK (wanted_cb), asked);
  lam_slice_model_set_generation (model, 7);

  /* Stale generations and older iterations are dropped. */
  g_assert_false (lam_slice_model_take (model, new_shot (6, 0, LAM_PLANE_SLICE, 4)));
  g_assert_null (lam_slice_model_get_snapshot (model));
  g_assert_true (lam_slice_model_take (model, new_shot (7, 3, LAM_PLANE_SLICE, 4)));
  g_assert_false (lam_slice_model_take (model, new_shot (7, 2, LAM_PLANE_SLICE, 4)));
  g_assert_true (lam_slice_model_take (model, new_shot (7, 4, LAM_PLANE_SLICE, 4)));
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_get_snapshot (model))->iteration, ==, 4);
  g_assert_true (lam_slice_model_take (model, new_shot (7, 4, LAM_PLANE_ROW, 2)));
  g_assert_cmpint (lam_snapshot_info (lam_slice_model_peek (model, LAM_PLANE_ROW))->index, ==, 2);

  /* A new generation keeps the picture until its first snapshot comes, and refuses the old ones. */
  lam_slice_model_set_generation (model, 8);
  g_assert_nonnull (lam_slice_model_get_snapshot (model));
  g_assert_false (lam_slice_model_take (model, new_shot (7, 5, LAM_PLANE_SLICE, 4)));
  g_assert_true (lam_slice_model_take (model, new_shot (8, 0, LAM_PLANE_SLICE, 4)));

  /* Wanted plane and index. */
  g_assert_cmpint (lam_slice_model_get_count (model), ==, 9);
  lam_slice_model_set_index (model, 6);
  g_assert_cmpint (asked[0], ==, LAM_PLANE_SLICE);
  g_assert_cmpint (asked[1], ==, 6);
  lam_slice_model_set_index (model, 600);
  g_assert_cmpint (asked[1], ==, 8);
  gint64 before = asked[2];
  lam_slice_model_set_index (model, 8);
  g_assert_cmpint (asked[2], ==, before);
  lam_slice_model_set_plane (model, LAM_PLANE_ROW);
  g_assert_cmpint (asked[0], ==, LAM_PLANE_ROW);
  g_assert_cmpint (asked[1], ==, 2);
  lam_slice_model_set_plane (model, LAM_PLANE_SLICE);

  /* Automatic level: percentiles of the finite values. */
  settle (model);
  double low, high;
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat_with_epsilon (low, 8 + 20, 3);
  g_assert_cmpfloat_with_epsilon (high, 8 + 3980, 3);
  const LamSliceStats *stats = lam_slice_model_get_stats (model);
  int64_t sum = 0;
  for (int b = 0; b < LAM_HISTOGRAM_BINS; b++)
    sum += stats->full[b];
  g_assert_cmpint (sum, ==, 3998);

  /* A level set by hand stays through new snapshots; full; reset. */
  lam_slice_model_set_level (model, 10, 20);
  g_assert_false (lam_slice_model_get_auto_level (model));
  lam_slice_model_take (model, new_shot (8, 1, LAM_PLANE_SLICE, 4));
  settle (model);
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat (low, ==, 10);
  g_assert_cmpfloat (high, ==, 20);
  lam_slice_model_set_level (model, 10, 10);
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat (high, >, low);
  lam_slice_model_level_full (model);
  lam_slice_model_get_level (model, &low, &high);
  g_assert_cmpfloat (low, ==, 8);
  g_assert_cmpfloat (high, ==, 8 + 3999);
  lam_slice_model_set_inverted (model, TRUE);
  lam_slice_model_level_reset (model);
  g_assert_true (lam_slice_model_get_auto_level (model));
  g_assert_false (lam_slice_model_get_inverted (model));

  /* The cursor shows the stored value, nan and inf as such. */
  lam_slice_model_set_cursor (model, 5, 7);
  g_autofree char *nan_text = lam_slice_model_describe_cursor (model);
  g_assert_cmpstr (nan_text, ==, "row 5 col 7 · nan 1/px");
  lam_slice_model_set_cursor (model, 6, 8);
  g_autofree char *inf_text = lam_slice_model_describe_cursor (model);
  g_assert_cmpstr (inf_text, ==, "row 6 col 8 · −inf 1/px");
  lam_slice_model_set_cursor (model, 1, 2);
  g_autofree char *text = lam_slice_model_describe_cursor (model);
  g_assert_cmpstr (text, ==, "row 1 col 2 · 110 1/px");
  lam_slice_model_set_cursor (model, 40, 0);
  g_assert_null (lam_slice_model_describe_cursor (model));
  int64_t row, column;
  g_assert_true (lam_slice_model_mark_next_bad (model));
  lam_slice_model_get_mark (model, &row, &column);
  g_assert_cmpint (row * 100 + column, ==, 507);
  g_assert_true (lam_slice_model_mark_next_bad (model));
  lam_slice_model_get_mark (model, &row, &column);
  g_assert_cmpint (row * 100 + column, ==, 608);
  lam_slice_model_clear (model);
  g_assert_null (lam_slice_model_get_snapshot (model));
  g_assert_finalize_object (model);
}

static void
asked_cb (LamSliceModel *model, int plane, gint64 index, gint64 *asked)
{
  asked[plane] = index;
  asked[LAM_PLANES]++;
}

/* All planes at once: each is asked for, and the crosshair of each is where the others are. */
static void
test_slice_model_planes (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  gint64 asked[LAM_PLANES + 1] = {-1, -1, -1, 0};
  int64_t row, column;
  g_signal_connect (model, "wanted", G_CALLBACK (asked_cb), asked);
  lam_slice_model_set_extent (model, 9, 40, 100);
  g_assert_cmpint (asked[LAM_PLANES], ==, 1);
  lam_slice_model_set_mark (model, 30, 70);
  lam_slice_model_set_all_planes (model, TRUE);
  g_assert_cmpint (asked[LAM_PLANE_SLICE], ==, 4);
  g_assert_cmpint (asked[LAM_PLANE_ROW], ==, 30);
  g_assert_cmpint (asked[LAM_PLANE_COLUMN], ==, 70);
  g_assert_true (lam_slice_model_get_mark_in (model, LAM_PLANE_ROW, &row, &column));
  g_assert_cmpint (row, ==, 4);
  g_assert_cmpint (column, ==, 70);
  lam_slice_model_set_mark_in (model, LAM_PLANE_COLUMN, 6, 12);
  g_assert_cmpint (asked[LAM_PLANE_SLICE], ==, 6);
  g_assert_cmpint (asked[LAM_PLANE_ROW], ==, 12);
  gint64 before = asked[LAM_PLANES];
  lam_slice_model_set_plane (model, LAM_PLANE_COLUMN);
  g_assert_cmpint (asked[LAM_PLANES], ==, before);
  lam_slice_model_set_index (model, 33);
  g_assert_cmpint (asked[LAM_PLANE_COLUMN], ==, 33);
  g_assert_true (lam_slice_model_get_mark_in (model, LAM_PLANE_SLICE, &row, &column));
  g_assert_cmpint (row, ==, 12);
  g_assert_cmpint (column, ==, 33);

  /* A live slice ends what was made of another geometry, in the other planes. */
  g_assert_true (lam_slice_model_take (model, new_shot (0, 3, LAM_PLANE_ROW, 4)));
  g_assert_nonnull (lam_slice_model_peek (model, LAM_PLANE_ROW));
  lam_slice_model_set_generation (model, 1);
  g_assert_true (lam_slice_model_take (model, new_shot (1, LAM_ITERATION_LIVE, LAM_PLANE_SLICE, 4)));
  g_assert_null (lam_slice_model_peek (model, LAM_PLANE_ROW));
  lam_slice_model_set_all_planes (model, FALSE);
  g_assert_false (lam_slice_model_is_wanted (model, LAM_PLANE_SLICE));
  settle (model);
  g_assert_finalize_object (model);
}

/* A worker that outlives its model touches nothing. */
static void
test_slice_model_gone (void)
{
  for (int i = 0; i < 20; i++) {
    LamSliceModel *model = lam_slice_model_new ();
    lam_slice_model_take (model, new_shot (0, i, LAM_PLANE_SLICE, 0));
    g_assert_finalize_object (model);
  }
  for (int i = 0; i < 100; i++) {
    g_usleep (500);
    while (g_main_context_iteration (NULL, FALSE))
      ;
  }
}

/* Everything bad: no level, no histogram, no crash. */
static void
test_slice_model_all_bad (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  LamSnapshotInfo info = {.plane = LAM_PLANE_SLICE, .count = 1, .width = 4, .height = 4};
  float *pixels = lam_alloc (16 * sizeof *pixels, "test picture", NULL);
  for (int i = 0; i < 16; i++)
    pixels[i] = i % 2 ? NAN : INFINITY;
  g_assert_true (lam_slice_model_take (model, lam_snapshot_new_take (&info, pixels)));
  settle (model);
  g_assert_null (lam_slice_model_get_stats (model));
  lam_slice_model_level_full (model);
  lam_slice_model_level_auto (model);
  g_assert_finalize_object (model);
}

/* -- measured shapes -- */

/* value = 2 column + 3 row, at the middles of pixels; pixels of @pitch_y over 1. */
static LamSnapshot *
new_ramp (double pitch_y)
{
  LamSnapshotInfo info = {.plane = LAM_PLANE_SLICE, .count = 1, .width = 64, .height = 48, .pitch_x = 1};
  info.pitch_y = pitch_y;
  g_strlcpy (info.length_unit, "px", sizeof info.length_unit);
  g_strlcpy (info.value_unit, "1/px", sizeof info.value_unit);
  float *pixels = lam_alloc (64 * 48 * sizeof *pixels, "test picture", NULL);
  for (int r = 0; r < 48; r++)
    for (int c = 0; c < 64; c++)
      pixels[r * 64 + c] = 2 * c + 3 * r;
  pixels[3 * 64 + 4] = NAN;
  pixels[3 * 64 + 5] = INFINITY;
  pixels[3 * 64 + 6] = -INFINITY;
  return lam_snapshot_new_take (&info, pixels);
}

static void
test_shape_stats (void)
{
  g_autoptr (LamSnapshot) shot = new_ramp (1), flat = new_ramp (2);
  LamShapeStats s;
  /* Columns 10 .. 19, rows 20 .. 24: the mean is that of the middle; variances of even steps add. */
  LamShape box = lam_shape_drawn (LAM_SHAPE_RECTANGLE, 1, 20.2, 24.8, 9.8, 20.1);
  lam_shape_stats (&box, shot, &s);
  g_assert_cmpint (s.n, ==, 50);
  g_assert_cmpfloat_with_epsilon (s.mean, 2 * 14.5 + 3 * 22, 1e-12);
  g_assert_cmpfloat_with_epsilon (s.sd, sqrt ((4 * 99 / 12.0 + 9 * 24 / 12.0) * 50 / 49), 1e-12);
  g_assert_cmpfloat (s.min, ==, 2 * 10 + 3 * 20);
  g_assert_cmpfloat (s.max, ==, 2 * 19 + 3 * 24);
  g_assert_cmpint (s.nans + s.infinities, ==, 0);

  /* What is not finite is counted and left out; what lies beside the picture does not count. */
  box = lam_shape_drawn (LAM_SHAPE_RECTANGLE, 1, -7, 2, 7, 4);
  lam_shape_stats (&box, shot, &s);
  g_assert_cmpint (s.n, ==, 11);
  g_assert_cmpint (s.nans, ==, 1);
  g_assert_cmpint (s.infinities, ==, 2);
  g_assert_cmpfloat (s.max, ==, 2 * 6 + 3 * 2);

  /* A circle: pixels whose middle lies within; symmetric, so that the mean is that of its middle. */
  LamShape circle = lam_shape_drawn (LAM_SHAPE_CIRCLE, 1, 30.1, 23.9, 50.1, 23.9);
  g_assert_cmpfloat (circle.x0, ==, 30);
  g_assert_cmpfloat (circle.x1, ==, 20);
  int64_t n = 0;
  for (int r = 0; r < 48; r++)
    for (int c = 0; c < 64; c++)
      n += hypot (c + 0.5 - 30, r + 0.5 - 24) <= 20;
  lam_shape_stats (&circle, shot, &s);
  g_assert_cmpint (s.n, ==, n);
  g_assert_cmpfloat_with_epsilon (s.mean, 2 * 29.5 + 3 * 23.5, 1e-9);
  /* Where pixels are twice as high as wide, half as many rows. */
  lam_shape_stats (&circle, flat, &s);
  for (int r = 0; r < 48; r++)
    for (int c = 0; c < 64; c++)
      n -= hypot (c + 0.5 - 30, 2 * (r + 0.5 - 24)) <= 20;
  g_assert_cmpint (n, >, 0);
  g_assert_cmpint (s.n, >, 0);
  g_assert_cmpint (s.n, <, 2 * n + 2);

  /* Large values with a small spread keep their digits. */
  LamSnapshotInfo info = {.plane = LAM_PLANE_SLICE, .count = 1, .width = 100, .height = 100};
  float *pixels = lam_alloc (10000 * sizeof *pixels, "test picture", NULL);
  for (int i = 0; i < 10000; i++)
    pixels[i] = 1e6f + (i % 2 ? 0.5f : -0.5f);
  g_autoptr (LamSnapshot) level = lam_snapshot_new_take (&info, pixels);
  box = lam_shape_drawn (LAM_SHAPE_RECTANGLE, 1, 0, 0, 100, 100);
  lam_shape_stats (&box, level, &s);
  g_assert_cmpfloat_with_epsilon (s.mean, 1e6, 1e-9);
  g_assert_cmpfloat_with_epsilon (s.sd, 0.5 * sqrt (10000 / 9999.0), 1e-9);

  box = lam_shape_drawn (LAM_SHAPE_RECTANGLE, 1, 200, 200, 220, 220);
  lam_shape_stats (&box, shot, &s);
  g_assert_cmpint (s.n, ==, 0);
  g_assert_true (isnan (s.mean));
  g_assert_false (lam_shape_touches (&box, lam_snapshot_info (shot)));
}

static void
test_shape_hands (void)
{
  LamShape box = {LAM_SHAPE_RECTANGLE, 10, 10, 30, 20}, circle = {LAM_SHAPE_CIRCLE, 20, 20, 8, 0};
  LamShape line = {LAM_SHAPE_LINE, 5, 5, 25, 5};
  g_assert_cmpint (lam_shape_hit (&box, 1, 30.5, 20.5, 2), ==, 4);
  g_assert_cmpint (lam_shape_hit (&box, 1, 16, 10.5, 2), ==, LAM_SHAPE_BODY);
  g_assert_cmpint (lam_shape_hit (&box, 1, 16, 14, 2), ==, LAM_SHAPE_INSIDE);
  g_assert_cmpint (lam_shape_hit (&box, 1, 16, 4, 2), ==, LAM_SHAPE_OUTSIDE);
  g_assert_cmpint (lam_shape_hit (&circle, 1, 28, 20, 2), ==, 0);
  g_assert_cmpint (lam_shape_hit (&circle, 1, 20 + 8 * 0.7, 20 + 8 * 0.7, 1), ==, LAM_SHAPE_BODY);
  g_assert_cmpint (lam_shape_hit (&line, 1, 15, 6, 2), ==, LAM_SHAPE_BODY);
  g_assert_cmpint (lam_shape_hit (&line, 1, 24.5, 6, 2), ==, 1);
  /* A corner pulled through the opposite one turns the box over. */
  LamShape turned = lam_shape_with_handle (&box, 1, 4, 4, 5);
  g_assert_true (lam_shape_equal (&turned, &(LamShape){LAM_SHAPE_RECTANGLE, 4, 5, 10, 10}));
  LamShape wide = lam_shape_with_handle (&box, 1, 3, 40, 90);
  g_assert_true (lam_shape_equal (&wide, &(LamShape){LAM_SHAPE_RECTANGLE, 10, 10, 40, 20}));
  LamShape big = lam_shape_with_handle (&circle, 1, 1, 20, 32.2);
  g_assert_true (lam_shape_equal (&big, &(LamShape){LAM_SHAPE_CIRCLE, 20, 20, 12, 0}));
  LamShape small = lam_shape_grown (&circle, -100, 0);
  g_assert_cmpfloat (small.x1, ==, 0.5);
}

static void
test_shape_profile (void)
{
  g_autoptr (LamSnapshot) shot = new_ramp (1), flat = new_ramp (2);
  /* On a plane interpolation is exact: from (10, 20) to (40, 36) in picture coordinates. */
  LamShape line = {LAM_SHAPE_LINE, 10, 20, 40, 36};
  int n = lam_shape_n_samples (&line, lam_snapshot_info (shot));
  g_assert_cmpint (n, ==, 35);
  g_assert_cmpfloat (lam_shape_length (&line, lam_snapshot_info (shot)), ==, 34);
  g_assert_cmpfloat_with_epsilon (lam_shape_length (&line, lam_snapshot_info (flat)), hypot (30, 32), 1e-12);
  float values[35];
  lam_shape_sample (&line, shot, n, values);
  for (int i = 0; i < n; i++) {
    double t = i / (double) (n - 1), x = 10 + 30 * t - 0.5, y = 20 + 16 * t - 0.5;
    g_assert_cmpfloat_with_epsilon (values[i], 2 * x + 3 * y, 1e-4);
  }
  /* NaN where a neighbour that counts is bad, and outside; along the middles of a row its neighbours do not count. */
  LamShape bad = {LAM_SHAPE_LINE, 0.5, 3.5, 8.5, 3.5}, beside = {LAM_SHAPE_LINE, 0.5, 4.5, 8.5, 4.5};
  LamShape out = {LAM_SHAPE_LINE, -4.5, 10.5, 3.5, 10.5};
  lam_shape_sample (&bad, shot, 9, values);
  for (int i = 0; i < 9; i++)
    g_assert_true (isfinite (values[i]) == (i < 4 || i > 6));
  lam_shape_sample (&beside, shot, 9, values);
  for (int i = 0; i < 9; i++)
    g_assert_cmpfloat (values[i], ==, 2 * i + 3 * 4);
  lam_shape_sample (&out, shot, 9, values);
  for (int i = 0; i < 9; i++)
    g_assert_true (isfinite (values[i]) == (i >= 5));
}

static void
settle_measure (LamMeasure *measure)
{
  while (!lam_measure_is_settled (measure))
    g_main_context_iteration (NULL, TRUE);
}

static void
test_measure (void)
{
  LamSliceModel *model = lam_slice_model_new ();
  LamMeasure *measure = lam_measure_new (model);
  LamShape box = {LAM_SHAPE_RECTANGLE, 20, 10, 30, 20}, line = {LAM_SHAPE_LINE, 0.5, 0.5, 50.5, 0.5};
  LamMeasureSlot slot;
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_REGION, &box);
  g_assert_null (lam_measure_get_stats (measure));
  g_assert_true (lam_slice_model_take (model, new_shot (0, 1, LAM_PLANE_SLICE, 4)));
  settle_measure (measure);
  g_assert_nonnull (lam_measure_get_stats (measure));
  g_assert_cmpfloat (lam_measure_get_stats (measure)->mean, ==, 24.5 + 1450);
  g_autofree char *size = lam_measure_region_size (measure);
  g_assert_cmpstr (size, ==, "10 × 10 px");
  g_autofree char *words = lam_measure_describe (measure);
  g_assert_cmpstr (
      words, ==,
      "Rectangle, 10 × 10 px: mean 1474, standard deviation 289, from 1020 to 1929 1/px; 100 pixels, 0 not "
      "finite");

  /* It stays through new pictures, and its numbers follow. */
  lam_slice_model_set_generation (model, 3);
  g_assert_true (lam_slice_model_take (model, new_shot (3, 0, LAM_PLANE_SLICE, 4)));
  settle_measure (measure);
  g_assert_cmpfloat (lam_measure_get_stats (measure)->mean, ==, 3 + 24.5 + 1450);

  /* Each plane has its own; back in the first one it is there again. */
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_LINE, &line);
  lam_slice_model_set_plane (model, LAM_PLANE_ROW);
  g_assert_null (lam_measure_get_stats (measure));
  g_assert_null (lam_measure_get_profile (measure));
  g_assert_false (lam_measure_get_chosen (measure, LAM_PLANE_ROW, &slot));
  lam_slice_model_set_plane (model, LAM_PLANE_SLICE);
  settle_measure (measure);
  g_assert_cmpfloat (lam_measure_get_stats (measure)->mean, ==, 3 + 24.5 + 1450);
  g_assert_cmpint (lam_measure_get_profile (measure)->n, ==, 51);
  g_assert_cmpfloat (lam_measure_get_profile (measure)->values[7], ==, 10);
  g_assert_true (lam_measure_get_chosen (measure, LAM_PLANE_SLICE, &slot));
  g_assert_cmpint (slot, ==, LAM_MEASURE_LINE);
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_LINE, NULL);
  g_assert_null (lam_measure_get_profile (measure));
  g_assert_true (lam_measure_get_chosen (measure, LAM_PLANE_SLICE, &slot));
  g_assert_cmpint (slot, ==, LAM_MEASURE_REGION);
  /* Gone while a worker is at it. */
  lam_measure_set_shape (measure, LAM_PLANE_SLICE, LAM_MEASURE_REGION, &(LamShape){LAM_SHAPE_CIRCLE, 20, 20, 9, 0});
  g_assert_finalize_object (measure);
  settle (model);
  for (int i = 0; i < 50; i++) {
    g_usleep (500);
    while (g_main_context_iteration (NULL, FALSE))
      ;
  }
  g_assert_finalize_object (model);
}

/* Planes that do not lie as slices do: in the file they lie as in the volume. */
static void
test_picture_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-picture-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "plane.h5", NULL);
  static const LamVolumePlane planes[] = {LAM_VOLUME_SLICE, LAM_VOLUME_ROW, LAM_VOLUME_COLUMN};
  for (int p = 0; p < LAM_PLANES; p++) {
    g_autoptr (LamSnapshot) shot = new_shot (0, 3, p, 4);
    const LamSnapshotInfo *info = lam_snapshot_info (shot);
    g_assert_true (lam_picture_file_write_values (LAM_PICTURE_HDF5, path, shot, 2.5, "about it", &error));
    g_assert_no_error (error);
    g_autoptr (LamVolume) v = lam_volume_open (path, NULL, LAM_LAYOUT_FROM_FILE, &error);
    g_assert_no_error (error);
    int64_t count, width, height;
    lam_volume_plane_size (v, planes[p], &count, &width, &height);
    g_assert_cmpint (count, ==, 1);
    g_assert_cmpint (width, ==, info->width);
    g_assert_cmpint (height, ==, info->height);
    static const int across[LAM_PLANES] = {2, 0, 1};
    g_assert_cmpfloat (v->voxel_size[across[p]], ==, 2.5);
    g_autofree float *read = g_new (float, width *height);
    g_assert_true (lam_volume_read_plane (v, planes[p], 0, read, &error));
    g_assert_cmpmem (read, width * height * 4, lam_snapshot_pixels (shot), width * height * 4);
  }
  g_autoptr (LamSnapshot) shot = new_shot (0, LAM_ITERATION_LIVE, LAM_PLANE_ROW, 4);
  g_autofree char *name = lam_picture_file_name (LAM_PICTURE_TIFF, "tooth.h5", lam_snapshot_info (shot));
  g_assert_cmpstr (name, ==, "tooth-row-004.tif");
  g_autofree char *about = lam_picture_file_describe ("tooth.h5", lam_snapshot_info (shot));
  g_assert_cmpstr (about, ==, "row 4 (counted from 0) of 9 of tooth.h5, preview by back projection");
  g_unlink (path);
  g_rmdir (folder);
}

static void
changed_cb (LamSeries *series, guint first, guint removed, guint added, guint *seen)
{
  seen[0]++;
  seen[1] = first;
  seen[2] = removed;
  seen[3] = added;
}

static void
test_series (void)
{
  LamSeries *series = lam_series_new ("iteration");
  guint seen[4] = {0};
  g_assert_cmpint (lam_series_add_column (series, "change", "change", "%"), ==, 0);
  g_assert_cmpint (lam_series_add_column (series, "cost", "cost", NULL), ==, 1);
  g_signal_connect (series, "changed", G_CALLBACK (changed_cb), seen);
  for (int i = 1; i <= 1000; i++)
    lam_series_append (series, i, (double[]){10.0 / i, i == 1 ? NAN : i});
  g_assert_cmpint (seen[0], ==, 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpint (seen[0], ==, 1);
  g_assert_cmpint (seen[3], ==, 1000);
  lam_series_append (series, 1001, (double[]){0, 0});
  lam_series_flush (series);
  g_assert_cmpint (seen[1], ==, 1000);
  g_assert_cmpint (seen[3], ==, 1);
  g_assert_true (isnan (lam_series_get (series, 1, 0)));
  g_assert_cmpint (lam_series_nearest (series, 500.4), ==, 499);
  g_assert_cmpint (lam_series_nearest (series, 500.6), ==, 500);
  g_assert_cmpint (lam_series_nearest (series, -5), ==, 0);
  g_assert_cmpint (lam_series_nearest (series, 5000), ==, 1000);
  lam_series_clear (series);
  lam_series_append (series, 1, (double[]){1, 1});
  lam_series_flush (series);
  g_assert_cmpint (seen[1], ==, 0);
  g_assert_cmpint (seen[2], ==, 1001);
  g_assert_cmpint (seen[3], ==, 1);
  g_assert_finalize_object (series);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/units", test_units);
  g_test_add_func ("/model/parameter", test_parameter);
  g_test_add_func ("/model/parameter-list", test_list);
  g_test_add_func ("/model/undo/steps", test_undo_steps);
  g_test_add_func ("/model/undo/random-walk", test_undo_walk);
  g_test_add_func ("/model/slice-model", test_slice_model);
  g_test_add_func ("/model/slice-model/planes", test_slice_model_planes);
  g_test_add_func ("/model/slice-model/gone", test_slice_model_gone);
  g_test_add_func ("/model/slice-model/all-bad", test_slice_model_all_bad);
  g_test_add_func ("/model/shape/statistics", test_shape_stats);
  g_test_add_func ("/model/shape/hands", test_shape_hands);
  g_test_add_func ("/model/shape/profile", test_shape_profile);
  g_test_add_func ("/model/measure", test_measure);
  g_test_add_func ("/model/picture-file", test_picture_file);
  g_test_add_func ("/model/series", test_series);
  return g_test_run ();
}
