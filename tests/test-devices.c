/* test-devices.c: one answer for any number of devices (core/order.h), odd sizes and empty shards included.
 * meson runs it again under LAMINA_POISON=1, LAMINA_DEVICE_GUARD=1 and each instruction set. */
#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/memory.h"
#include "ct-run.h"

/* The guard opens and closes memory at every turn, which takes time: fewer counts then, and no bands. */
static const char *const all_counts[] = {"1xcpu", "2xcpu", "3xcpu", "5xcpu", "8xcpu", "19xcpu"};
static const char *const guard_counts[] = {"1xcpu", "3xcpu", "8xcpu"};
static const char *const *counts = all_counts;
static guint n_counts = G_N_ELEMENTS (all_counts);

typedef struct {
  const char *name;
  LamGeometryKind kind;
  int64_t views, rows, channels, recon_rows, columns, slices;
} Shape;

static const Shape shapes[] = {
    {"parallel", LAM_GEOMETRY_PARALLEL, 37, 19, 23, 23, 23, 19},
    {"parallel few slices", LAM_GEOMETRY_PARALLEL, 35, 5, 29, 29, 27, 5},
    {"parallel one slice", LAM_GEOMETRY_PARALLEL, 7, 1, 9, 9, 9, 1},
    {"parallel more devices than views", LAM_GEOMETRY_PARALLEL, 3, 33, 17, 17, 17, 33},
    {"cone", LAM_GEOMETRY_CONE, 37, 35, 21, 21, 21, 37},
    {"cone taller than its views", LAM_GEOMETRY_CONE, 33, 8, 15, 15, 15, 150},
    {"cone helical", LAM_GEOMETRY_CONE, 34, 8, 15, 13, 15, 90},
    {"cone few slices", LAM_GEOMETRY_CONE, 11, 3, 15, 15, 13, 3},
};

static LamGeometry *
make (const Shape *s)
{
  LamGeometry *g = lam_geometry_new (s->kind, s->views, s->rows, s->channels);
  gboolean cone = s->kind == LAM_GEOMETRY_CONE;
  lam_geometry_set_angles (g, 0.13, 0.13 + (cone ? 2 * G_PI : G_PI));
  if (cone) {
    g->source_detector = 4.0 * (double) s->channels;
    g->source_axis = 2.0 * (double) s->channels;
    g->row_offset = 0.3;
  }
  if (strstr (s->name, "helical")) {
    g->shifts = g_new (double, s->views);
    for (int64_t v = 0; v < s->views; v++)
      g->shifts[v] = 0.6 * (double) v - 10;
  }
  g->channel_offset = -0.4;
  g->recon_rows = s->recon_rows;
  g->recon_columns = s->columns;
  g->recon_slices = s->slices;
  g->voxel_pitch = cone ? 0.5 : 1;
  return g;
}

static void
assert_same (const float *a, const float *b, int64_t n, const char *shape, const char *devices, const char *what)
{
  for (int64_t i = 0; i < n; i++)
    if (memcmp (a + i, b + i, sizeof *a) != 0)
      g_error ("%s, %s, %s: element %" G_GINT64_FORMAT " is %.9g, with one device %.9g", shape, devices, what, i, b[i],
               a[i]);
}

/* Result k of a fresh projector on @devices. */
static float *
operation (const LamGeometry *g, const char *devices, int k, const float *volume, const float *sino, int64_t *n)
{
  g_autoptr (CtRun) run = ct_run_new (g, devices);
  *n = k == 0 ? ct_run_sino_size (run) : ct_run_volume_size (run);
  switch (k) {
  case 0:
    return ct_run_forward (run, volume);
  case 1:
    return ct_run_back (run, sino, FALSE, FALSE);
  case 2:
    return ct_run_back (run, sino, TRUE, TRUE);
  default:
    return ct_run_direct (run, sino);
  }
}

static const char *const operations[] = {"forward", "back", "hessian", "direct"};

static void
test_projector (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (LamGeometry) g = make (s);
  g_autofree float *volume = ct_random (s->recon_rows * s->columns * s->slices, 1);
  g_autofree float *sino = ct_random (s->views * s->rows * s->channels, 2);
  for (int k = 0; k < 4; k++) {
    int64_t n;
    g_autofree float *one = operation (g, "1xcpu", k, volume, sino, &n);
    for (int64_t i = 0; i < n; i++)
      g_assert_true (isfinite (one[i]));
    for (guint c = 1; c < n_counts; c++) {
      g_autofree float *other = operation (g, counts[c], k, volume, sino, &n);
      assert_same (one, other, n, s->name, counts[c], operations[k]);
    }
  }
}

/* <A x, y> = <x, A^T y>, sums in double. */
static void
test_adjoint (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (LamGeometry) g = make (s);
  int64_t volumes = s->recon_rows * s->columns * s->slices, sinos = s->views * s->rows * s->channels;
  g_autofree float *x = ct_random (volumes, 8), *y = ct_random (sinos, 9);
  g_autoptr (CtRun) run = ct_run_new (g, "2xcpu");
  g_autofree float *ax = ct_run_forward (run, x), *aty = ct_run_back (run, y, FALSE, FALSE);
  double left = 0, right = 0;
  for (int64_t i = 0; i < sinos; i++)
    left += (double) ax[i] * y[i];
  for (int64_t i = 0; i < volumes; i++)
    right += (double) aty[i] * x[i];
  g_test_message ("%s: %.9g and %.9g", s->name, left, right);
  g_assert_cmpfloat (fabs (left - right), <, 1e-6 * fabs (left));
}

/* Bands of slices and batches of pixels are transport sizes only. */
static void
test_bands (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (LamGeometry) g = make (s);
  g_autofree float *volume = ct_random (s->recon_rows * s->columns * s->slices, 3);
  g_autofree float *sino = ct_random (s->views * s->rows * s->channels, 4);
  for (int k = 0; k < 4; k++) {
    int64_t n;
    g_autofree float *one = operation (g, "1xcpu", k, volume, sino, &n);
    const int64_t sizes[] = {1, 7, s->slices - 1, s->slices, s->slices + 1};
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (int batch = 0; batch < 2; batch++)
        for (guint c = 0; c < 3; c++) {
          g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, LAM_MAX (sizes[i], 1));
          g_setenv (batch ? "LAMINA_BATCH" : "LAMINA_BAND", text, TRUE);
          g_autofree float *other = operation (g, counts[c], k, volume, sino, &n);
          g_unsetenv (batch ? "LAMINA_BATCH" : "LAMINA_BAND");
          assert_same (one, other, n, s->name, counts[c], text);
        }
  }
}

static void
run_vcd (const Shape *s, gboolean weighted, gboolean positive, LamVcdStart start, gint64 batch)
{
  g_autoptr (LamGeometry) g = make (s);
  int64_t volumes = s->recon_rows * s->columns * s->slices, sinos = s->views * s->rows * s->channels;
  g_autofree float *truth = ct_random (volumes, 5), *weights = ct_random (sinos, 6), *sino = NULL;
  LamVcdParams params;
  LamVcdStats first = {0};
  lam_vcd_params_default (&params);
  params.iterations = 5;
  params.sigma_y = 0.05;
  params.prior.sigma_x = 0.08;
  params.positivity = positive;
  {
    g_autoptr (CtRun) run = ct_run_new (g, "cpu");
    sino = ct_run_forward (run, truth);
  }
  weights[0] = 0;
  g_autofree float *one = ct_run_vcd (g, "1xcpu", sino, weighted ? weights : NULL, &params, start, &first);
  double cost = first.data_cost, prior = first.prior_cost, change = first.change;
  for (int64_t i = 0; i < volumes; i++)
    g_assert_true (isfinite (one[i]));
  for (guint c = 1; c < n_counts; c++) {
    LamVcdStats stats = {0};
    g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, batch);
    if (batch)
      g_setenv ("LAMINA_BATCH", text, TRUE);
    g_autofree float *other = ct_run_vcd (g, counts[c], sino, weighted ? weights : NULL, &params, start, &stats);
    g_unsetenv ("LAMINA_BATCH");
    assert_same (one, other, volumes, s->name, counts[c], "VCD");
    g_assert_true (cost == stats.data_cost && prior == stats.prior_cost && change == stats.change);
  }
}

static void
test_vcd (gconstpointer data)
{
  run_vcd (data, FALSE, FALSE, LAM_START_DIRECT, 0);
}

static void
test_vcd_weighted (gconstpointer data)
{
  run_vcd (data, TRUE, TRUE, LAM_START_DIRECT, 0);
  run_vcd (data, TRUE, FALSE, LAM_START_ZERO, 5);
}

/* One device copies nothing; several copy what the plan says for a whole back projection. */
static void
test_copies (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = make (&shapes[0]);
  g_autofree float *sino = ct_random (shapes[0].views * shapes[0].rows * shapes[0].channels, 7);
  for (guint c = 0; c < n_counts; c++) {
    g_autoptr (CtRun) run = ct_run_new (g, counts[c]);
    lam_projector_put_sino (run->p, sino, &run->sino, &error);
    lam_devices_reset_counters (run->set);
    lam_projector_back (run->p, &run->sino, &run->volume, FALSE, FALSE, &error);
    g_assert_no_error (error);
    if (c == 0)
      g_assert_cmpint (lam_devices_copied (run->set), ==, 0);
    else
      g_assert_cmpint (lam_devices_copied (run->set), >, 0);
  }
}

/* No thread is idle while any device has work left: one device has nearly all of it, and the rest of the pool helps. The
 * work is sleep, so that the time tells who was idle; the best of some tries, as a busy machine wakes threads late. */
static void
sleep_task (int64_t index, int worker, void *data)
{
  g_usleep (5000);
}

static gboolean
uneven_work (LamDevice *device, void *data, GError **error)
{
  lam_device_for (device, device->index == 0 ? 60 : 1, sleep_task, NULL);
  return TRUE;
}

static void
test_none_idle (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new ("4xcpu", &error);
  int threads = lam_pool_threads (lam_devices_pool (set));
  double alone = 60 * 0.005, shared = 63 * 0.005 / threads, limit = shared + 0.6 * (alone - shared), best = INFINITY;
  for (int i = 0; i < 8 && best >= limit; i++) {
    int64_t start = lam_clock_ns ();
    lam_devices_run (set, uneven_work, NULL, &error);
    best = fmin (best, (double) (lam_clock_ns () - start) / 1e9);
  }
  g_test_message ("%d threads: %.3f s; shared evenly %.3f s, one device alone %.3f s", threads, best, shared, alone);
  if (threads > 1)
    g_assert_cmpfloat (best, <, limit);
  /* Blocks themselves are dealt evenly: counts differ by one at most. */
  for (int devices = 1; devices <= 8; devices++)
    for (int64_t views = 1; views < 200; views += 7) {
      LamBlocks blocks = lam_blocks_new (views);
      LamPlacement p = lam_placement_split (views, blocks.size, 0, devices);
      int64_t least = INT64_MAX, most = 0;
      for (int d = 0; d < devices; d++) {
        int64_t count = (lam_placement_count (&p, d) + blocks.size - 1) / blocks.size;
        least = LAM_MIN (least, count);
        most = LAM_MAX (most, count);
      }
      g_assert_cmpint (most - least, <=, 1);
    }
}

static void
test_self_test (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new ("3xcpu", &error);
  g_autoptr (GString) report = g_string_new (NULL);
  g_assert_true (lam_devices_self_test (set, report, &error));
  g_assert_nonnull (strstr (report->str, "CPU 2 -> CPU 0: right"));
}

static void
test_specs (void)
{
  static const char *const bad[] = {"0xcpu", "65xcpu", "cuda", "3xcuda-host", "x", "2ycpu", "cpu2"};
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lam_devices_new (bad[i], &error));
    g_assert_nonnull (strstr (error->message, bad[i]));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (g_getenv ("LAMINA_DEVICE_GUARD")) {
    counts = guard_counts;
    n_counts = G_N_ELEMENTS (guard_counts);
  }
  g_test_message ("instruction set %s, poison %d", lam_isa_name (lam_isa ()), lam_poison_enabled ());
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree char *a = g_strdup_printf ("/devices/projector/%s", shapes[i].name);
    g_autofree char *b = g_strdup_printf ("/devices/bands/%s", shapes[i].name);
    g_autofree char *c = g_strdup_printf ("/devices/vcd/%s", shapes[i].name);
    g_autofree char *d = g_strdup_printf ("/devices/vcd-weighted/%s", shapes[i].name);
    g_test_add_data_func (a, &shapes[i], test_projector);
    g_autofree char *e = g_strdup_printf ("/devices/adjoint/%s", shapes[i].name);
    g_test_add_data_func (e, &shapes[i], test_adjoint);
    if (counts == all_counts)
      g_test_add_data_func (b, &shapes[i], test_bands);
    g_test_add_data_func (c, &shapes[i], test_vcd);
    g_test_add_data_func (d, &shapes[i], test_vcd_weighted);
  }
  g_test_add_func ("/devices/copies", test_copies);
  g_test_add_func ("/devices/none-idle", test_none_idle);
  g_test_add_func ("/devices/self-test", test_self_test);
  g_test_add_func ("/devices/specs", test_specs);
  return g_test_run ();
}
