/* test-maps.c: dictionaries, series and maps as the window makes them: jobs that put a new thing in place of the old one when
 * they are done, and else leave it. No GTK. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5-arrays.h"
#include "io/hdf5.h"
#include "io/nifti.h"
#include "model/atom-ranges.h"
#include "model/maps-model.h"
#include "run/mr-phantom.h"

static char *
new_folder (void)
{
  return g_dir_make_tmp ("lamina-maps-XXXXXX", NULL);
}

/* A folder of files, and one of folders of files. */
static void
remove_tree (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_DIR))
      remove_tree (path);
    else
      g_unlink (path);
  }
  g_rmdir (folder);
}

#define TRAIN "10 + 50*abs(sin(2*pi*n/N))"

typedef struct {
  LamQueue *queue;
  LamSequenceSession *session;
  LamMapsModel *maps;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  f->queue = lam_queue_new ();
  f->session = lam_sequence_session_new ();
  f->maps = lam_maps_model_new (f->session, f->queue);
  /* Short: what is tested does not depend on it. */
  g_assert_true (lam_sequence_session_edit_formula (f->session, "flip", TRAIN, 120, NULL));
  LamParameterList *model = lam_sequence_session_get_model (f->session);
  g_assert_true (
      lam_parameter_set_value (lam_parameter_list_find (model, "noise"), g_variant_new_double (0.0005), NULL));
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  lam_maps_model_close (f->maps);
  g_assert_finalize_object (f->maps);
  lam_queue_shut_down (f->queue);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_finalize_object (f->queue);
  lam_sequence_session_close (f->session);
  g_assert_finalize_object (f->session);
}

static void
settle (Fixture *f)
{
  while (!lam_maps_model_is_settled (f->maps) || !lam_map_pictures_is_settled (lam_maps_model_get_pictures (f->maps)))
    g_main_context_iteration (NULL, TRUE);
}

static void
set (Fixture *f, const char *id, const char *text)
{
  lam_parameter_set_value (lam_parameter_list_find (lam_maps_model_get_parameters (f->maps), id),
                           g_variant_new_string (text), NULL);
}

static LamMapsResult *
result_of (Fixture *f)
{
  return lam_map_pictures_get_result (lam_maps_model_get_pictures (f->maps));
}

/* All three steps. */
static void
make_all (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lam_maps_model_make_dictionary (f->maps, &error));
  g_assert_true (lam_maps_model_make_phantom (f->maps, &error));
  settle (f);
  g_assert_null (lam_maps_model_get_lacks (f->maps));
  g_assert_true (lam_maps_model_match (f->maps, &error));
  g_assert_no_error (error);
  settle (f);
  g_assert_nonnull (result_of (f));
}

static const float *
map_of (LamMapsResult *r, const char *name)
{
  for (int i = 0; i < r->n; i++)
    if (g_str_equal (r->maps[i].name, name))
      return r->maps[i].values;
  g_assert_not_reached ();
}

/* ---- what comes out ---- */

static void
check_truth (LamMapsResult *r)
{
  const float *t1 = map_of (r, "T1"), *t2 = map_of (r, "T2"), *m0 = map_of (r, "M0"), *phase = map_of (r, "phase"),
              *residual = map_of (r, "residual");
  /* A step and a half of the grid: where T1 and T2 trade for each other the likest atom need not be the nearest one. */
  double step1 = pow (3000 / 200.0, 1.5 / 59), step2 = pow (300 / 10.0, 1.5 / 39);
  int64_t inside = 0;
  for (int64_t s = 0; s < LAM_MR_PHANTOM_SLICES; s++)
    for (int64_t y = 0; y < LAM_MR_PHANTOM_SIDE; y++)
      for (int64_t x = 0; x < LAM_MR_PHANTOM_SIDE; x++) {
        LamMrPhantomTruth truth = lam_mr_phantom_truth (s, y, x);
        int64_t v = lam_maps_series_voxel (r->series, s, y, x);
        if (isnan (truth.t1)) {
          g_assert_true (isnan (t1[v]) && isnan (m0[v]) && isnan (residual[v]));
          continue;
        }
        inside++;
        g_assert_cmpfloat (fabs (log (t1[v] / truth.t1)), <, log (step1));
        g_assert_cmpfloat (fabs (log (t2[v] / truth.t2)), <, log (step2));
        g_assert_cmpfloat (fabs (m0[v] / truth.m0 - 1), <, 0.05);
        g_assert_cmpfloat (fabs (remainder (phase[v] - truth.phase, 2 * G_PI)), <, 0.03);
        g_assert_cmpfloat (residual[v], <, 0.2);
      }
  g_assert_cmpint (inside, ==, r->match.count[LAM_VOXEL_MATCHED]);
  g_assert_cmpint (inside, >, 2000);
}

static void
test_recovers (Fixture *f, gconstpointer data)
{
  gboolean refused;
  lam_maps_model_set_active (f->maps, TRUE);
  settle (f);
  g_test_message ("%s", lam_maps_model_get_forecast (f->maps, &refused));
  g_assert_false (refused);
  make_all (f);
  check_truth (result_of (f));
  g_test_message ("%s", lam_maps_model_get_text (f->maps, LAM_MAPS_DICTIONARY));
  g_test_message ("%s", lam_maps_model_get_text (f->maps, LAM_MAPS_SERIES));
  g_test_message ("%s", lam_maps_model_get_text (f->maps, LAM_MAPS_MATCH));
  g_assert_false (lam_maps_model_is_stale (f->maps));
  /* The same in a few modes. */
  lam_parameter_set_value (lam_parameter_list_find (lam_maps_model_get_parameters (f->maps), "rank"),
                           g_variant_new_int64 (8), NULL);
  make_all (f);
  g_assert_cmpint (result_of (f)->rank, ==, 8);
  check_truth (result_of (f));
}

/* A marked voxel: its data, the best atom over it, and the picture of its likeness. */
static void
test_voxel (Fixture *f, gconstpointer data)
{
  make_all (f);
  LamMapPictures *pictures = lam_maps_model_get_pictures (f->maps);
  LamSliceModel *slices = lam_map_pictures_get_slices (pictures);
  LamMapsResult *r = result_of (f);
  g_assert_cmpint (lam_slice_model_get_plane_count (slices, LAM_PLANE_SLICE), ==, LAM_MR_PHANTOM_SLICES);
  lam_slice_model_set_index (slices, 2);
  lam_slice_model_set_mark (slices, 11, 32); /* a disc whose phase is not 0 */
  settle (f);
  const LamVoxelFit *fit = lam_map_pictures_get_fit (pictures);
  g_assert_nonnull (fit);
  int64_t v = lam_maps_series_voxel (r->series, 2, 11, 32);
  g_assert_cmpint (fit->voxel, ==, v);
  g_assert_cmpfloat ((float) r->dictionary->d->atoms->values[fit->atom[0]], ==, map_of (r, "T1")[v]);
  g_assert_cmpfloat_with_epsilon (fit->m0, map_of (r, "M0")[v], 1e-6);
  double left = 0, whole = 0;
  for (int64_t k = 0; k < fit->samples; k++) {
    left += pow (fit->data[k] - fit->fit[0][k], 2) + (fit->rest ? pow (fit->rest[k], 2) : 0);
    whole += pow (fit->data[k], 2) + (fit->rest ? pow (fit->rest[k], 2) : 0);
  }
  g_assert_cmpfloat_with_epsilon (sqrt (left / whole), map_of (r, "residual")[v], 1e-4);
  /* The picture is brightest where the best atom is. */
  float most = 0;
  for (int i = 0; i < fit->nx * fit->ny; i++)
    if (isfinite (fit->likeness[i]))
      most = fmaxf (most, fit->likeness[i]);
  g_assert_cmpint (fit->nx, ==, 60);
  g_assert_cmpint (fit->ny, ==, 40);
  g_assert_cmpfloat (fit->likeness[fit->best_y * fit->nx + fit->best_x], ==, most);
  g_assert_cmpfloat_with_epsilon (most, fit->score[0], 1e-5);
  g_assert_cmpfloat (fit->score[1], <=, fit->score[0]);
  g_autofree char *words = lam_voxel_fit_describe (fit);
  g_test_message ("%s", words);
  g_assert_nonnull (strstr (words, "T1"));
  /* The picture of the slice shows that number; and another map another one. */
  float shown;
  g_assert_true (lam_slice_model_get_value (slices, 11, 32, &shown));
  g_assert_cmpfloat (shown, ==, map_of (r, "T1")[v]);
  lam_map_pictures_choose (pictures, "phase");
  settle (f);
  g_assert_true (lam_slice_model_get_value (slices, 11, 32, &shown));
  g_assert_cmpfloat (shown, ==, map_of (r, "phase")[v]);
  g_assert_cmpint (lam_slice_model_get_colour_map (slices), ==, LAM_COLOUR_MAP_CYCLIC);
  /* Outside of the discs it says why there is nothing. */
  lam_slice_model_set_mark (slices, 0, 0);
  settle (f);
  fit = lam_map_pictures_get_fit (pictures);
  g_assert_cmpint (fit->state, ==, LAM_VOXEL_ZERO);
  g_assert_cmpint (fit->atoms, ==, 0);
}

/* ---- what is refused ---- */

static void
test_refused (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  gboolean refused;
  g_assert_false (lam_maps_model_match (f->maps, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_clear_error (&error);
  make_all (f);
  LamMapsResult *kept = result_of (f);
  LamMapsDictionary *dictionary = lam_maps_model_get_dictionary (f->maps);
  /* Another train: the dictionary is of the old one, in words; one of the new one does not fit the series. */
  g_assert_true (lam_sequence_session_edit_formula (f->session, "flip", "40", 100, NULL));
  g_assert_true (lam_maps_model_is_stale (f->maps));
  g_assert_true (lam_sequence_session_edit_formula (f->session, "flip", TRAIN, 120, NULL));
  g_assert_false (lam_maps_model_is_stale (f->maps));
  g_assert_true (lam_sequence_session_edit_formula (f->session, "flip", "40 + n", 100, NULL));
  g_assert_true (lam_maps_model_make_dictionary (f->maps, &error));
  settle (f);
  g_assert_true (lam_maps_model_get_dictionary (f->maps) != dictionary);
  g_assert_nonnull (strstr (lam_maps_model_get_lacks (f->maps), "120"));
  g_assert_nonnull (strstr (lam_maps_model_get_lacks (f->maps), "100"));
  g_assert_false (lam_maps_model_match (f->maps, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_true (result_of (f) == kept);
  /* Ranges that are none, in the row; and more than there is room for, before anything is made. */
  lam_maps_model_set_active (f->maps, TRUE);
  set (f, "T1", "200:3000");
  settle (f);
  g_assert_false (lam_maps_model_make_dictionary (f->maps, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_clear_error (&error);
  lam_maps_model_get_forecast (f->maps, &refused);
  g_assert_true (refused);
  g_autofree char *problem =
      lam_parameter_get_problem (lam_parameter_list_find (lam_maps_model_get_parameters (f->maps), "T1"));
  g_assert_nonnull (problem);
  set (f, "T1", "200:3000:10000");
  set (f, "T2", "10:300:10000");
  set (f, "B1", "0.9:1.1:20");
  settle (f);
  g_test_message ("%s", lam_maps_model_get_forecast (f->maps, &refused));
  g_assert_true (refused);
}

/* Cancelled, damaged, without memory: what there was is there. */
static void
test_keeps (Fixture *f, gconstpointer data)
{
  g_autofree char *folder = new_folder (), *path = g_build_filename (folder, "bad.h5", NULL);
  make_all (f);
  LamMapsDictionary *dictionary = lam_maps_model_get_dictionary (f->maps);
  LamMapsSeries *series = lam_maps_model_get_series (f->maps);
  LamMapsResult *result = result_of (f);
  g_assert_true (g_file_set_contents (path, "no dictionary at all", -1, NULL));
  g_assert_true (lam_maps_model_open_dictionary (f->maps, path, NULL));
  g_assert_true (lam_maps_model_open_series (f->maps, path, NULL));
  settle (f);
  g_test_message ("%s", lam_maps_model_get_error (f->maps, LAM_MAPS_DICTIONARY));
  g_assert_nonnull (lam_maps_model_get_error (f->maps, LAM_MAPS_DICTIONARY));
  g_assert_nonnull (lam_maps_model_get_error (f->maps, LAM_MAPS_SERIES));
  g_assert_true (lam_maps_model_get_dictionary (f->maps) == dictionary);
  g_assert_true (lam_maps_model_get_series (f->maps) == series);
  /* Cancelled before it can begin, or while it goes on. */
  set (f, "T1", "200:3000:400");
  g_assert_true (lam_maps_model_make_dictionary (f->maps, NULL));
  lam_maps_model_cancel (f->maps, LAM_MAPS_DICTIONARY);
  g_assert_true (lam_maps_model_match (f->maps, NULL));
  lam_maps_model_cancel (f->maps, LAM_MAPS_MATCH);
  settle (f);
  g_assert_null (lam_maps_model_get_error (f->maps, LAM_MAPS_DICTIONARY));
  g_assert_true (lam_maps_model_get_dictionary (f->maps) == dictionary);
  g_assert_true (result_of (f) == result);
  /* Every allocation of a dictionary and of a match fails once. */
  int failures = 0;
  set (f, "T1", "200:3000:60");
  for (int n = 1; lam_maps_model_get_dictionary (f->maps) == dictionary; n++) {
    g_assert_cmpint (n, <, 200);
    lam_memory_fail_at (n);
    g_assert_true (lam_maps_model_make_dictionary (f->maps, NULL));
    while (lam_maps_model_is_busy (f->maps))
      g_main_context_iteration (NULL, TRUE);
    lam_memory_fail_at (0);
    failures += lam_maps_model_get_dictionary (f->maps) == dictionary;
  }
  g_test_message ("%d failed allocations of a dictionary survived", failures);
  g_assert_cmpint (failures, >=, 3);
  failures = 0;
  for (int n = 1; result_of (f) == result; n++) {
    g_assert_cmpint (n, <, 200);
    lam_memory_fail_at (n);
    g_assert_true (lam_maps_model_match (f->maps, NULL));
    while (lam_maps_model_is_busy (f->maps))
      g_main_context_iteration (NULL, TRUE);
    lam_memory_fail_at (0);
    if (result_of (f) == result) {
      failures++;
      g_assert_nonnull (lam_maps_model_get_error (f->maps, LAM_MAPS_MATCH));
    }
  }
  g_test_message ("%d failed allocations survived", failures);
  g_assert_cmpint (failures, >, 3);
  settle (f);
  check_truth (result_of (f));
  g_unlink (path);
  g_rmdir (folder);
}

/* ---- files ---- */

static void
check_saved (Fixture *f)
{
  gboolean failed;
  settle (f);
  while (g_str_has_suffix (lam_maps_model_get_saved (f->maps, &failed), "…"))
    g_main_context_iteration (NULL, TRUE);
  g_test_message ("%s", lam_maps_model_get_saved (f->maps, &failed));
  g_assert_false (failed);
}

static void
test_files (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = new_folder (), *dict = g_build_filename (folder, "dict.h5", NULL),
                  *images = g_build_filename (folder, "series.nii", NULL),
                  *maps = g_build_filename (folder, "maps", NULL), *file = g_build_filename (folder, "maps.h5", NULL),
                  *one = g_build_filename (maps, "T1.nii.gz", NULL);
  make_all (f);
  LamMapsResult *first = lam_maps_result_ref (result_of (f));
  LamMrSeries *s = first->series->s;
  g_assert_true (lam_maps_model_save_dictionary (f->maps, dict, &error));
  check_saved (f);
  g_assert_true (lam_nifti_write (images, s->nifti, s->re, s->im, s->contrasts, "phantom", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (lam_maps_model_open_dictionary (f->maps, dict, &error));
  g_assert_true (lam_maps_model_open_series (f->maps, images, &error));
  settle (f);
  g_assert_true (lam_maps_model_get_dictionary (f->maps) != first->dictionary);
  g_assert_true (lam_maps_model_get_series (f->maps) != first->series);
  g_assert_false (lam_maps_model_is_stale (f->maps));
  g_assert_true (lam_maps_model_match (f->maps, &error));
  settle (f);
  /* The same maps to the last bit. */
  LamMapsResult *again = result_of (f);
  g_assert_true (again != first);
  for (int i = 0; i < first->n; i++)
    g_assert_cmpmem (first->maps[i].values, s->voxels * sizeof (float), again->maps[i].values,
                     s->voxels * sizeof (float));
  g_assert_true (lam_maps_model_save_maps (f->maps, maps, &error));
  check_saved (f);
  g_assert_true (lam_maps_model_save_maps (f->maps, file, &error));
  check_saved (f);
  g_autoptr (LamNifti) nifti = lam_nifti_open (one, &error);
  g_assert_no_error (error);
  g_autofree float *read = g_new (float, s->voxels);
  g_assert_true (lam_nifti_read (nifti, read, NULL, NULL, &error));
  g_assert_cmpmem (read, s->voxels * sizeof *read, map_of (again, "T1"), s->voxels * sizeof *read);
  g_autoptr (LamH5File) h5 = lam_h5_open (file, &error);
  g_assert_no_error (error);
  g_assert_true (lam_h5_exists (h5, "/maps/residual"));
  /* What cannot be written says so. */
  gboolean failed;
  g_autofree char *nowhere = g_build_filename (one, "no.h5", NULL);
  g_assert_true (lam_maps_model_save_maps (f->maps, nowhere, &error));
  while (g_str_has_suffix (lam_maps_model_get_saved (f->maps, &failed), "…"))
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (failed);
  lam_maps_result_unref (first);
  remove_tree (folder);
}

/* A mask leaves voxels out; of several datasets one is to be named. */
static void
test_inputs (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = new_folder (), *mask = g_build_filename (folder, "mask.nii.gz", NULL),
                  *two = g_build_filename (folder, "two.h5", NULL);
  LamParameterList *inputs = lam_maps_model_get_inputs (f->maps);
  make_all (f);
  LamMrSeries *s = lam_maps_model_get_series (f->maps)->s;
  int64_t matched = result_of (f)->match.count[LAM_VOXEL_MATCHED], slice = s->voxels / LAM_MR_PHANTOM_SLICES;
  g_autofree float *inside = g_new0 (float, s->voxels);
  for (int64_t v = 0; v < slice; v++)
    inside[v] = 1;
  g_assert_true (lam_nifti_write (mask, s->nifti, inside, NULL, 1, "mask", NULL, &error));
  lam_parameter_set_value (lam_parameter_list_find (inputs, "mask"), g_variant_new_string (mask), NULL);
  g_assert_true (lam_maps_model_match (f->maps, &error));
  settle (f);
  LamMapsResult *r = result_of (f);
  g_test_message ("%s", lam_maps_model_get_text (f->maps, LAM_MAPS_MATCH));
  g_assert_cmpint (r->match.count[LAM_VOXEL_OUTSIDE], ==, s->voxels - slice);
  g_assert_cmpint (r->match.count[LAM_VOXEL_MATCHED] * LAM_MR_PHANTOM_SLICES, ==, matched);
  g_unlink (mask);
  g_assert_true (lam_maps_model_match (f->maps, &error));
  settle (f);
  g_assert_nonnull (lam_maps_model_get_error (f->maps, LAM_MAPS_MATCH));
  g_assert_true (result_of (f) == r);

  static float values[2 * 3 * 120];
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = (float) (i % 7);
  LamH5Array arrays[2] = {{.path = "/first", .rank = 3, .dims = {2, 3, 120}, .data = values},
                          {.path = "/second", .rank = 3, .dims = {2, 3, 120}, .data = values}};
  g_assert_true (lam_h5_write_arrays (two, arrays, 2, NULL, NULL, NULL, &error));
  g_assert_true (lam_maps_model_open_series (f->maps, two, &error));
  settle (f);
  g_test_message ("%s", lam_maps_model_get_error (f->maps, LAM_MAPS_SERIES));
  g_assert_nonnull (strstr (lam_maps_model_get_error (f->maps, LAM_MAPS_SERIES), "/second"));
  lam_parameter_set_value (lam_parameter_list_find (inputs, "dataset"), g_variant_new_string ("second"), NULL);
  lam_parameter_set_value (lam_parameter_list_find (inputs, "mask"), g_variant_new_string (""), NULL);
  g_assert_true (lam_maps_model_open_series (f->maps, two, &error));
  settle (f);
  g_assert_null (lam_maps_model_get_error (f->maps, LAM_MAPS_SERIES));
  g_assert_true (lam_maps_model_match (f->maps, &error));
  settle (f);
  int64_t shape[3];
  lam_maps_series_shape (result_of (f)->series, shape);
  g_assert_cmpint (shape[0], ==, 2);
  g_assert_cmpint (shape[1], ==, 3);
  g_assert_cmpint (lam_slice_model_get_plane_count (lam_map_pictures_get_slices (lam_maps_model_get_pictures (f->maps)),
                                                    LAM_PLANE_SLICE),
                   ==, 1);
  remove_tree (folder);
}

/* Ranges are part of the sequence's state, which tells when they change. */
static void
told_cb (LamSequenceSession *session, int *times)
{
  (*times)++;
}

static void
test_kept (Fixture *f, gconstpointer data)
{
  int times = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (LamQueue) queue = lam_queue_new ();
  LamSequenceSession *other = lam_sequence_session_new ();
  LamMapsModel *maps = lam_maps_model_new (other, queue);
  g_signal_connect (f->session, "changed", G_CALLBACK (told_cb), &times);
  set (f, "T2", "20:200:11");
  g_assert_cmpint (times, ==, 1);
  g_signal_handlers_disconnect_by_func (f->session, told_cb, &times);
  g_autoptr (GVariant) state = lam_sequence_session_save (f->session);
  g_assert_true (lam_sequence_session_load (other, state, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (lam_parameter_get_text (lam_parameter_list_find (lam_maps_model_get_parameters (maps), "T2")), ==,
                   "20:200:11");
  lam_maps_model_close (maps);
  g_assert_finalize_object (maps);
  lam_sequence_session_close (other);
  g_assert_finalize_object (other);
}

/* Whatever the template: maps, or a reason. */
static void
test_templates (Fixture *f, gconstpointer data)
{
  LamParameter *template = lam_sequence_session_get_template (f->session);
  int done = 0;
  set (f, "T1", "200:3000:8");
  set (f, "T2", "20:200:6");
  set (f, "T2star", "20:200:6");
  for (guint i = 0; i < lam_parameter_get_n_choices (template); i++) {
    const char *id = lam_parameter_get_choice (template, i)->id;
    g_autoptr (GError) error = NULL;
    lam_parameter_set_value (template, g_variant_new_string (id), NULL);
    if (lam_maps_model_make_dictionary (f->maps, &error) && lam_maps_model_make_phantom (f->maps, &error))
      settle (f);
    const char *reason = error ? error->message
                         : lam_maps_model_get_error (f->maps, LAM_MAPS_DICTIONARY)
                             ? lam_maps_model_get_error (f->maps, LAM_MAPS_DICTIONARY)
                             : lam_maps_model_get_error (f->maps, LAM_MAPS_SERIES);
    if (reason != NULL) {
      g_test_message ("%s: %s", id, reason);
      continue;
    }
    LamMapsResult *before = result_of (f);
    g_assert_true (lam_maps_model_match (f->maps, &error));
    settle (f);
    g_test_message ("%s: %s", id, lam_maps_model_get_text (f->maps, LAM_MAPS_MATCH));
    done += result_of (f) != before;
  }
  g_test_message ("%d templates have maps", done);
  g_assert_cmpint (done, >=, 22);
}

/* Closed while everything goes on. */
static void
test_close (Fixture *f, gconstpointer data)
{
  make_all (f);
  lam_maps_model_set_active (f->maps, TRUE);
  set (f, "T1", "200:3000:300");
  g_assert_true (lam_maps_model_make_dictionary (f->maps, NULL));
  g_assert_true (lam_maps_model_make_phantom (f->maps, NULL));
  g_assert_true (lam_maps_model_match (f->maps, NULL));
  lam_slice_model_set_mark (lam_map_pictures_get_slices (lam_maps_model_get_pictures (f->maps)), 32, 31);
  g_assert_true (lam_maps_model_is_busy (f->maps));
}

static void
test_ranges (void)
{
  static const struct {
    const char *text;
    gboolean geometric;
    int n; /* 0: refused */
    double at_1;
  } cases[] = {{"200:3000:60", TRUE, 60, 200 * 1.04697},
               {"0:10:11", FALSE, 11, 1},
               {"5", TRUE, 1, 0},
               {"10, 20,40:100:4", FALSE, 6, 20},
               {"0:10:11", TRUE, 0, 0},
               {"1:2", FALSE, 0, 0},
               {"", FALSE, 0, 0},
               {"1:2:0", FALSE, 0, 0},
               {"1:2:1.5", FALSE, 0, 0},
               {"1:2:1e9", FALSE, 0, 0},
               {"nan", FALSE, 0, 0},
               {"1:2:3:4", FALSE, 0, 0},
               {"1:2:-3", FALSE, 0, 0},
               {"12x", FALSE, 0, 0},
               {"1,,2", FALSE, 0, 0}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    int64_t n = 0;
    g_autofree double *v = lam_atom_range_parse (cases[i].text, cases[i].geometric, &n, &error);
    g_test_message ("%s: %s", cases[i].text, v ? "taken" : error->message);
    g_assert_true ((v != NULL) == (cases[i].n > 0));
    g_assert_cmpint (n, ==, cases[i].n);
    if (n > 1)
      g_assert_cmpfloat_with_epsilon (v[1], cases[i].at_1, 1e-3);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/maps/ranges", test_ranges);
#define ADD(name, func) g_test_add ("/maps/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("recovers", test_recovers);
  ADD ("voxel", test_voxel);
  ADD ("refused", test_refused);
  ADD ("keeps", test_keeps);
  ADD ("files", test_files);
  ADD ("inputs", test_inputs);
  ADD ("templates", test_templates);
  ADD ("kept", test_kept);
  ADD ("close", test_close);
  return g_test_run ();
}
