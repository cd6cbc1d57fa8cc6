/* test-recon.c: the recipe: same bits on any device count and after a resume, memory as planned, stop and keep, faults. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/checkpoint.h"
#include "io/volume.h"
#include "run/live.h"
#include "run/recon.h"

static LamDataset *
example (LamGeometryKind kind)
{
  g_autoptr (GError) error = NULL;
  LamDataset *d = lam_dataset_example (kind, kind == LAM_GEOMETRY_CONE ? 32 : 48, NULL, &error);
  g_assert_no_error (error);
  return d;
}

static LamReconResult *
run (LamDataset *d, const LamReconParams *params, LamControl *control, const LamReconHooks *hooks)
{
  g_autoptr (GError) error = NULL;
  LamReconResult *r = lam_reconstruct (d, params, control, hooks, &error);
  g_assert_no_error (error);
  return r;
}

static int64_t
voxels (const LamReconResult *r)
{
  return r->geometry->recon_rows * r->geometry->recon_columns * r->geometry->recon_slices;
}

static void
assert_same (const LamReconResult *a, const LamReconResult *b)
{
  g_assert_cmpint (voxels (a), ==, voxels (b));
  g_assert_true (memcmp (a->volume, b->volume, voxels (a) * 4) == 0);
}

static void
test_devices (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  for (int method = 0; method < 2; method++) {
    LamReconParams params;
    lam_recon_params_init (&params);
    params.method = method ? LAM_METHOD_VCD : LAM_METHOD_DIRECT;
    params.iterations = 3;
    params.devices = (char *) "1xcpu";
    g_autoptr (LamReconResult) one = run (d, &params, NULL, NULL);
    static const char *const counts[] = {"2xcpu", "3xcpu", "5xcpu", "8xcpu"};
    for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
      params.devices = (char *) counts[i];
      g_autoptr (LamReconResult) other = run (d, &params, NULL, NULL);
      assert_same (one, other);
    }
    g_test_message ("%s: plan %" G_GINT64_FORMAT " bytes, measured %" G_GINT64_FORMAT, method ? "VCD" : "direct",
                    one->plan_bytes, one->peak_bytes);
  }
}

/* Engine bytes within 2 % of the plan, on every device. */
static void
test_memory (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  static const char *const counts[] = {"1xcpu", "3xcpu"};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    for (int method = 0; method < 2; method++) {
      LamReconParams params;
      lam_recon_params_init (&params);
      params.method = method ? LAM_METHOD_VCD : LAM_METHOD_DIRECT;
      params.iterations = 5;
      params.devices = (char *) counts[i];
      g_autoptr (LamReconResult) r = run (d, &params, NULL, NULL);
      for (int k = 0; k < r->n_devices; k++) {
        g_test_message ("%s, %s, device %d: planned %" G_GINT64_FORMAT ", held %" G_GINT64_FORMAT, counts[i],
                        method ? "VCD" : "direct", k, r->devices[k].planned_bytes, r->devices[k].bytes);
        g_assert_cmpint (r->devices[k].bytes, <=, r->devices[k].planned_bytes);
        g_assert_cmpint (r->devices[k].bytes * 100, >=, r->devices[k].planned_bytes * 98);
      }
      g_assert_cmpint (r->peak_bytes * 100, <=, r->plan_bytes * 102);
    }
}

/* Copies between devices are those of the plan, within a tenth: a list's pieces differ a little in how they are summed. */
static void
test_traffic (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  static const char *const counts[] = {"1xcpu", "2xcpu", "3xcpu", "5xcpu"};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_autoptr (GError) error = NULL;
    LamReconParams params;
    lam_recon_params_init (&params);
    params.iterations = 5;
    params.stop_percent = 0;
    params.devices = (char *) counts[i];
    g_autoptr (LamPlan) plan = lam_recon_plan (d->geometry, FALSE, TRUE, &params, &error);
    g_assert_no_error (error);
    g_autoptr (LamReconResult) r = run (d, &params, NULL, NULL);
    int64_t out = 0, in = 0, planned = lam_plan_copied (plan);
    for (int k = 0; k < r->n_devices; k++) {
      in += r->devices[k].copied_in;
      out += r->devices[k].copied_out;
    }
    g_test_message ("%s: planned %" G_GINT64_FORMAT " between devices, in %" G_GINT64_FORMAT ", out %" G_GINT64_FORMAT,
                    counts[i], planned, in, out);
    g_assert_cmpint (r->copied, >=, planned / 10 * 9);
    g_assert_cmpint (r->copied, <=, planned / 10 * 11);
  }
}

static void
assert_not_resumed (LamDataset *d, const LamReconParams *params, const char *why)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_reconstruct (d, params, NULL, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, params->checkpoint));
  g_assert_nonnull (strstr (error->message, why));
  g_assert_nonnull (strstr (error->message, "--resume"));
}

/* What is minimised falls with every iteration; the run that is stopped and resumed tells the same numbers. */
static void
test_cost_falls (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  LamReconParams params;
  lam_recon_params_init (&params);
  params.iterations = 12;
  params.stop_percent = 0;
  for (int init = 0; init < 2; init++) {
    params.init = init ? LAM_INIT_ZERO : LAM_INIT_DIRECT;
    g_autoptr (LamReconResult) r = run (d, &params, NULL, NULL);
    const LamReconIteration *it = (const LamReconIteration *) r->iterations->data;
    for (guint i = 1; i < r->iterations->len; i++)
      g_assert_cmpfloat (it[i].cost, <, it[i - 1].cost * (1 + 1e-6));
    g_assert_cmpfloat (it[11].cost, <, it[0].cost);
  }
}

/* A state is not gone on with under another prior, noise level, seed or start. */
static void
test_resume_other_options (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_PARALLEL);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "lamina-test-options.ckpt", NULL);
  LamReconParams params;
  lam_recon_params_init (&params);
  params.iterations = 1;
  params.checkpoint = path;
  g_autoptr (LamReconResult) first = run (d, &params, NULL, NULL);
  params.resume = TRUE;
  params.iterations = 2;
  for (int i = 0; i < 13; i++) {
    LamReconParams other = params;
    g_autoptr (LamGeometry) g = lam_geometry_copy (d->geometry);
    other.sharpness += i == 0;
    other.snr_db += i == 1;
    other.sigma_x = i == 2 ? 0.01 : 0;
    other.seed += i == 3;
    other.init = i == 4 ? LAM_INIT_ZERO : other.init;
    other.damping = i == 5 ? !other.damping : other.damping;
    other.positivity = i == 6;
    other.max_step -= i == 7 ? 0.25 : 0;
    other.q += i == 8 ? 0.1 : 0;
    other.neighbours[2] += i == 9;
    g->row_offset += i == 10 ? 0.5 : 0;
    g->channel_offset += i == 11 ? 0.5 : 0;
    g->angles[3] += i == 12 ? 0.01 : 0;
    g_autoptr (LamDataset) seen = lam_dataset_with_geometry (d, g);
    g_autoptr (LamReconResult) r = lam_reconstruct (seen, &other, NULL, NULL, &error);
    g_assert_null (r);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "belongs to another run"));
    g_clear_error (&error);
  }
  g_autoptr (LamReconResult) on = run (d, &params, NULL, NULL);
  g_assert_cmpuint (on->iterations->len, ==, 2);
  g_assert_cmpfloat (g_array_index (on->iterations, LamReconIteration, 0).cost, ==,
                     g_array_index (first->iterations, LamReconIteration, 0).cost);

  /* Another start image is another run, even of another file with the same kind of name. */
  char *start[2] = {g_strconcat (path, ".a.h5", NULL), g_strconcat (path, ".b.h5", NULL)};
  g_assert_true (lam_recon_result_save (first, start[0], NULL, &error)
                 && lam_recon_result_save (on, start[1], NULL, &error));
  params.init = LAM_INIT_FILE;
  params.init_path = start[0];
  params.resume = FALSE;
  params.iterations = 1;
  g_autoptr (LamReconResult) from_file = run (d, &params, NULL, NULL);
  params.resume = TRUE;
  params.iterations = 2;
  params.init_path = start[1];
  g_assert_null (lam_reconstruct (d, &params, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, "belongs to another run"));
  g_clear_error (&error);
  params.init_path = start[0];
  g_autoptr (LamReconResult) gone_on = run (d, &params, NULL, NULL);
  g_assert_cmpuint (gone_on->iterations->len, ==, 2);
  for (int i = 0; i < 2; i++) {
    g_unlink (start[i]);
    g_free (start[i]);
  }
  g_unlink (path);
}

/* A state goes on only with the data it was made of: one other sample, one other weight, another tilt are refused. */
static void
test_resume_other_data (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_PARALLEL);
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "state", NULL);
  int64_t n = d->geometry->views * d->geometry->rows * d->geometry->channels;
  LamReconParams params;
  lam_recon_params_init (&params);
  params.stop_percent = 0;
  params.iterations = 1;
  params.checkpoint = path;
  for (int weighted = 0; weighted < 2; weighted++) {
    if (weighted) {
      d->weights = lam_alloc_n (n, sizeof *d->weights, "test", NULL);
      for (int64_t i = 0; i < n; i++)
        d->weights[i] = 1;
    }
    params.resume = FALSE;
    params.iterations = 1;
    g_autoptr (LamReconResult) first = run (d, &params, NULL, NULL);
    params.resume = TRUE;
    params.iterations = 2;
    d->tilt = 0.01;
    assert_not_resumed (d, &params, "turned by 0 degrees, this one's by 0.572958");
    d->tilt = 0;
    float was = d->sinogram[n - 1];
    d->sinogram[n - 1] += 0.01f;
    assert_not_resumed (d, &params, "other data of the same shape");
    d->sinogram[n - 1] = was;
    if (weighted) {
      d->weights[0] = 0.5f;
      assert_not_resumed (d, &params, "other data of the same shape");
      d->weights[0] = 1;
    }
    g_autoptr (LamReconResult) rest = run (d, &params, NULL, NULL);
    g_assert_cmpint (rest->iterations->len, ==, 2);
  }
  g_unlink (path);
  g_rmdir (folder);
}

/* A run in two halves, on another device count, has the bits of one that went through. */
static void
test_resume (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "state", NULL);
  LamReconParams params;
  lam_recon_params_init (&params);
  params.stop_percent = 0;
  params.iterations = 6;
  params.devices = (char *) "cpu";
  g_autoptr (LamReconResult) whole = run (d, &params, NULL, NULL);
  params.iterations = 3;
  params.checkpoint = path;
  g_autoptr (LamReconResult) half = run (d, &params, NULL, NULL);
  params.iterations = 6;
  params.resume = TRUE;
  params.devices = (char *) "3xcpu";
  g_autoptr (LamReconResult) rest = run (d, &params, NULL, NULL);
  assert_same (whole, rest);
  g_assert_cmpint (rest->iterations->len, ==, 6);

  /* Another problem's state is refused. */
  params.q = 1.1;
  assert_not_resumed (d, &params, "belongs to another run");
  params.q = 1.2;
  g_unlink (path);
  g_rmdir (folder);
}

typedef struct {
  LamControl control;
  int64_t stop_after;
  gboolean cancel;
} Stop;

static void
stop_cb (const LamReconIteration *it, void *data)
{
  Stop *s = data;
  if (it->iteration == s->stop_after)
    atomic_store (s->cancel ? &s->control.cancel : &s->control.stop_keep, 1);
}

static void
test_stop (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_PARALLEL);
  g_autoptr (GError) error = NULL;
  LamReconParams params;
  lam_recon_params_init (&params);
  params.stop_percent = 0;
  params.iterations = 1000;
  Stop s = {.stop_after = 3};
  LamReconHooks hooks = {.iteration = stop_cb, .data = &s};
  g_autoptr (LamReconResult) kept = run (d, &params, &s.control, &hooks);
  g_assert_true (kept->stopped);
  g_assert_cmpint (kept->iterations->len, ==, 3);
  params.iterations = 3;
  g_autoptr (LamReconResult) exact = run (d, &params, NULL, NULL);
  assert_same (kept, exact);

  Stop c = {.stop_after = 2, .cancel = TRUE};
  hooks.data = &c;
  params.iterations = 1000;
  g_assert_null (lam_reconstruct (d, &params, &c.control, &hooks, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
}

/* Every planned allocation and every lam_alloc () fails once: an error each time, nothing held afterwards. */
static void
test_no_memory (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  LamReconParams params;
  lam_recon_params_init (&params);
  params.iterations = 2;
  params.devices = (char *) "2xcpu";
  int64_t held = lam_memory_bytes (), failures = 0;
  for (int64_t n = 1;; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    g_autoptr (LamReconResult) r = lam_reconstruct (d, &params, NULL, NULL, &error);
    lam_memory_fail_at (0);
    if (r)
      break;
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_assert_cmpint (lam_memory_bytes (), ==, held);
    failures++;
  }
  g_test_message ("%" G_GINT64_FORMAT " allocations failed in turn", failures);
  g_assert_cmpint (failures, >, 20);
}

static void
test_save (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_PARALLEL);
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "out.h5", NULL);
  LamReconParams params;
  lam_recon_params_init (&params);
  params.iterations = 2;
  g_autoptr (LamReconResult) r = run (d, &params, NULL, NULL);
  g_assert_true (lam_recon_result_save (r, path, NULL, &error));
  g_assert_no_error (error);
  g_autoptr (LamVolume) v = lam_volume_open (path, NULL, LAM_LAYOUT_FROM_FILE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (v->checksum, ==, r->checksum);
  g_assert_cmpint (v->slices, ==, r->geometry->recon_slices);
  g_assert_nonnull (strstr (v->provenance, "\"scan\":\"example\""));
  g_assert_nonnull (strstr (v->provenance, "\"command\":\"window\""));
  /* Start from what was saved. */
  params.init = LAM_INIT_FILE;
  params.init_path = path;
  g_autoptr (LamReconResult) again = run (d, &params, NULL, NULL);
  params.init = LAM_INIT_CURRENT;
  params.init_volume = r->volume;
  g_autoptr (LamReconResult) same = run (d, &params, NULL, NULL);
  assert_same (again, same);
  g_unlink (path);
  g_rmdir (folder);
}

/* A helical scan's result, and its saving, likewise. */
static void
test_no_memory_helical (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_CONE);
  g_autofree char *folder = g_dir_make_tmp ("lamina-XXXXXX", NULL), *path = g_build_filename (folder, "out.h5", NULL);
  g_autoptr (LamReconResult) r = NULL;
  LamReconParams params;
  lam_recon_params_init (&params);
  params.method = LAM_METHOD_DIRECT;
  params.devices = (char *) "2xcpu";
  d->geometry->shifts = g_new (double, d->geometry->views);
  for (int64_t v = 0; v < d->geometry->views; v++)
    d->geometry->shifts[v] = 0.01 * (double) v;
  int64_t held = lam_memory_bytes (), failures = 0;
  gboolean coverage = FALSE;
  for (int64_t n = 1; !r; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    r = lam_reconstruct (d, &params, NULL, NULL, &error);
    lam_memory_fail_at (0);
    if (!r) {
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      g_assert_cmpint (lam_memory_bytes (), ==, held);
      coverage |= strstr (error->message, "coverage") != NULL;
      failures++;
    }
  }
  int64_t with_result = lam_memory_bytes (), unsaved = 0;
  gboolean saved = FALSE, text = FALSE;
  for (int64_t n = 1; !saved; n++) {
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (n);
    saved = lam_recon_result_save (r, path, NULL, &error);
    lam_memory_fail_at (0);
    if (!saved)
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    text |= !saved && strstr (error->message, "YAML") != NULL;
    unsaved += !saved;
    g_assert_cmpint (lam_memory_bytes (), ==, with_result);
  }
  g_test_message ("%" G_GINT64_FORMAT " allocations failed in turn, %" G_GINT64_FORMAT " of saving", failures, unsaved);
  g_assert_true (coverage && text);
  g_unlink (path);
  g_rmdir (folder);
}

/* The live slice is the slice of the whole reconstruction. */
static void
test_live (gconstpointer data)
{
  g_autoptr (LamDataset) d = example (GPOINTER_TO_INT (data));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamLive) live = lam_live_new (d, "cpu");
  LamReconParams params;
  lam_recon_params_init (&params);
  params.method = LAM_METHOD_DIRECT;
  int64_t slices = d->geometry->recon_slices, last = slices - 1;
  const int64_t which[] = {slices / 2, slices / 2 + 1, slices / 2, 0, last, last / 4, slices / 2};
  for (int i = 0; i < 7; i++) {
    g_autoptr (LamGeometry) g = lam_geometry_copy (d->geometry);
    g->channel_offset = -3 + 1.3 * i;
    if (i >= 3) { /* more than the axis: distances, the turn, the pitch */
      g->source_axis *= 1 + 0.05 * i;
      g->source_detector *= 1 + 0.03 * i;
      g->row_offset = 0.4 * i;
      for (int64_t v = 0; v < g->views; v++)
        g->angles[v] *= i % 2 ? -1 : 1;
      g_assert_true (lam_geometry_auto_volume (g, &error));
    }
    LamLiveRequest request = {.slice = LAM_MIN (which[i], g->recon_slices - 1),
                              .geometry = i >= 3 ? g : NULL,
                              .channel_offset = g->channel_offset};
    g_autoptr (LamSnapshot) s = lam_live_compute (live, &request, &error);
    g_assert_no_error (error);
    g_autoptr (LamDataset) moved = lam_dataset_with_geometry (d, g);
    g_autoptr (LamReconResult) r = run (moved, &params, NULL, NULL);
    g_autoptr (LamSnapshot) t = lam_recon_result_plane (r, LAM_PLANE_SLICE, request.slice, 0, &error);
    double difference = 0, norm = 0;
    const float *a = lam_snapshot_pixels (s), *b = lam_snapshot_pixels (t);
    for (int64_t j = 0; j < lam_snapshot_info (s)->width * lam_snapshot_info (s)->height; j++) {
      difference += pow ((double) a[j] - b[j], 2);
      norm += pow (b[j], 2);
    }
    g_test_message ("live slice against the whole: %.2g", sqrt (difference / norm));
    g_assert_cmpfloat (sqrt (difference / norm), <, 1e-5);
  }
}

/* Plans of sizes that no machine holds are answered from numbers alone. */
static void
test_plan_sizes (void)
{
  g_autoptr (GError) error = NULL;
  LamReconParams params;
  lam_recon_params_init (&params);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 2, 4096, 4096);
  lam_geometry_set_angles (g, 0, G_PI);
  g->recon_rows = g->recon_columns = g->recon_slices = 4096;
  g->voxel_pitch = 1;
  g_autoptr (LamPlan) plan = lam_recon_plan (g, FALSE, TRUE, &params, &error);
  g_assert_no_error (error);
  int n;
  const LamPlanBuffer *b = lam_plan_buffers (plan, &n);
  int64_t recon = 0;
  for (int i = 0; i < n; i++)
    if (g_str_equal (b[i].name, "recon"))
      recon += b[i].bytes;
  g_assert_cmpint (recon, ==, INT64_C (274877906944));
  g_assert_false (lam_plan_fits (plan, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
}

/* A volume that is not finite is an error with the place, never a result. */
static void
test_not_finite (void)
{
  g_autoptr (LamDataset) d = example (LAM_GEOMETRY_PARALLEL);
  g_autoptr (GError) error = NULL;
  const LamGeometry *g = d->geometry;
  LamReconParams params;
  lam_recon_params_init (&params);
  params.method = LAM_METHOD_DIRECT;
  for (int64_t i = 0; i < g->views * g->rows * g->channels; i++)
    d->sinogram[i] = i % g->channels == g->channels / 2 ? 3e38f : 0; /* finite; their sum is not */
  g_assert_null (lam_reconstruct (d, &params, NULL, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_FAILED);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "voxels are not finite, the first at row "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const char *const names[] = {"parallel", "cone"};
  for (int kind = 0; kind < 2; kind++) {
    const struct {
      const char *name;
      GTestDataFunc func;
    } tests[] = {{"devices", test_devices}, {"memory", test_memory},       {"traffic", test_traffic},
                 {"resume", test_resume},   {"no-memory", test_no_memory}, {"live", test_live}};
    for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
      g_autofree char *path = g_strdup_printf ("/recon/%s/%s", tests[i].name, names[kind]);
      g_test_add_data_func (path, GINT_TO_POINTER (kind ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL), tests[i].func);
    }
  }
  g_test_add_data_func ("/recon/cost-falls/parallel", GINT_TO_POINTER (LAM_GEOMETRY_PARALLEL), test_cost_falls);
  g_test_add_data_func ("/recon/cost-falls/cone", GINT_TO_POINTER (LAM_GEOMETRY_CONE), test_cost_falls);
  g_test_add_func ("/recon/resume/other-options", test_resume_other_options);
  g_test_add_func ("/recon/resume/other-data", test_resume_other_data);
  g_test_add_func ("/recon/stop", test_stop);
  g_test_add_func ("/recon/save", test_save);
  g_test_add_func ("/recon/no-memory/helical", test_no_memory_helical);
  g_test_add_func ("/recon/plan-sizes", test_plan_sizes);
  g_test_add_func ("/recon/not-finite", test_not_finite);
  return g_test_run ();
}
