/* Sweeps: the true value is found in noise (T11), the slices are live slices, distances and tilt, refusals, the job. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "ct-run.h"
#include "ct/phantom.h"
#include "run/live.h"
#include "run/sweep.h"

#define OFFSET 2.3

typedef struct {
  LamGeometryKind kind;
  double degrees;
  LamPhantomKind phantom;
  double photons;
  int64_t size, rows, views;
  double source_detector, source_axis;
} Scan;

static LamDataset *
make (const Scan *s, uint64_t seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = lam_geometry_new (s->kind, s->views, s->rows, s->size);
  lam_geometry_set_angles (g, 0, s->degrees * G_PI / 180);
  if (s->kind == LAM_GEOMETRY_CONE) {
    g->source_detector = s->source_detector;
    g->source_axis = s->source_axis;
  }
  g_assert_true (lam_geometry_auto_volume (g, &error));
  g->channel_offset = OFFSET;
  int64_t n = g->recon_rows * g->recon_columns * g->recon_slices;
  g_autofree float *x = g_new (float, n);
  g_assert_true (lam_phantom_fill (s->phantom, g->recon_rows, g->recon_columns, g->recon_slices,
                                   (LamRange){0, g->recon_slices}, x, &error));
  double scale = lam_phantom_scale (s->phantom, g->recon_rows, g->recon_columns, g->recon_slices, 2.5) / g->voxel_pitch;
  for (int64_t i = 0; i < n; i++)
    x[i] = (float) (x[i] * scale);
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  g_autofree float *y = ct_run_forward (run, x);
  int64_t samples = g->views * g->rows * g->channels;
  float *own = lam_alloc_n (samples, sizeof *own, "test", &error);
  memcpy (own, y, (size_t) samples * sizeof *own);
  if (s->photons > 0)
    lam_noise_transmission (own, 0, samples, s->photons, 0, seed);
  return lam_dataset_new_take ("test", g_steal_pointer (&g), own, NULL);
}

static LamSweepResult *
sweep (LamDataset *d, const LamSweepParams *k)
{
  g_autoptr (GError) error = NULL;
  LamSweepResult *r = lam_sweep (d, k, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return r;
}

/* T11: within a quarter of a pixel, for parallel and cone beam, half turn, short scan and full turn, objects of all kinds,
 * 20 000 and 1000 photons a pixel, several seeds, and ranges that lie and step differently. */
static void
test_center (gconstpointer data)
{
  static const struct {
    Scan scan;
    const char *name;
  } scans[] = {
      {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 20000, 128, 3, 150, 0, 0}, "half turn, tooth"},
      {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_SHEPP_LOGAN, 1000, 128, 3, 150, 0, 0}, "half turn, head, noisy"},
      {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 1000, 128, 3, 150, 0, 0}, "half turn, tooth, noisy"},
      {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_DISCS, 1000, 128, 3, 150, 0, 0}, "half turn, discs, noisy"},
      {{LAM_GEOMETRY_PARALLEL, 360, LAM_PHANTOM_TOOTH, 1000, 128, 3, 200, 0, 0}, "full turn, tooth, noisy"},
      {{LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_TOOTH, 20000, 128, 9, 180, 512, 256}, "cone, tooth"},
      {{LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_SHEPP_LOGAN, 1000, 128, 9, 180, 512, 256}, "cone, head, noisy"},
      {{LAM_GEOMETRY_CONE, 215, LAM_PHANTOM_DISCS, 1000, 128, 9, 150, 512, 256}, "cone, short scan, discs, noisy"},
  };
  static const double ranges[][3] = {{-5, 5, 9}, {-3.2, 4.1, 9}, {-12, 9, 15}}; /* about the truth; slices */
  double worst = 0;
  for (guint i = 0; i < G_N_ELEMENTS (scans); i++) {
    double most = 0, sure = 1, off = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
      g_autoptr (LamDataset) d = make (&scans[i].scan, seed);
      double truth = 63.5 + OFFSET;
      g_assert_cmpfloat_with_epsilon (truth, lam_geometry_center (d->geometry), 1e-9);
      { /* each seed has a range of its own */
        guint j = (i + seed) % G_N_ELEMENTS (ranges);
        LamSweepParams k;
        lam_sweep_params_init (&k, LAM_SWEEP_CENTER);
        k.from = truth + ranges[j][0];
        k.to = truth + ranges[j][1];
        k.count = (int) ranges[j][2];
        d->geometry->channel_offset = -20; /* where the data say it is plays no part */
        g_autoptr (LamSweepResult) r = sweep (d, &k);
        most = fmax (most, fabs (r->best - truth));
        sure = fmin (sure, r->confidence);
        off = fmax (off, fabs (r->best - truth) / fmax (r->width, 1e-3));
        for (int n = 0; n < k.count; n++)
          g_assert_cmpfloat (r->steps[n].score, <=, r->steps[r->sharpest].score);
        d->geometry->channel_offset = OFFSET;
      }
    }
    g_test_message ("%s: at most %.3f px off (%.1f of what was said), confidence at least %.2f", scans[i].name, most,
                    off, sure);
    worst = fmax (worst, most);
    g_assert_cmpfloat (sure, >, 0.3);
  }
  g_test_message ("worst: %.3f px", worst);
  g_assert_cmpfloat (worst, <, 0.25);
}

/* The slices are those of live.h with the same centre. */
static void
test_slices (void)
{
  static const Scan scans[] = {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 5000, 64, 5, 90, 0, 0},
                               {LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_TOOTH, 5000, 64, 33, 90, 256, 128}};
  for (int i = 0; i < 2; i++) {
    g_autoptr (LamDataset) d = make (&scans[i], 1);
    g_autoptr (LamLive) live = lam_live_new (d, "cpu");
    LamSweepParams k;
    lam_sweep_params_init (&k, LAM_SWEEP_CENTER);
    k.from = 30;
    k.to = 36;
    k.count = 4;
    k.slice = d->geometry->recon_slices / 3;
    g_autoptr (LamSweepResult) r = sweep (d, &k);
    for (int n = 0; n < k.count; n++) {
      g_autoptr (LamGeometry) g = lam_geometry_copy (d->geometry);
      lam_geometry_set_center (g, r->steps[n].value);
      LamLiveRequest request = {.slice = k.slice, .channel_offset = g->channel_offset};
      g_autoptr (LamSnapshot) s = lam_live_compute (live, &request, NULL);
      const LamSnapshotInfo *a = lam_snapshot_info (s), *b = lam_snapshot_info (r->steps[n].slice);
      g_assert_true (a->width == b->width && a->height == b->height && a->index == b->index && a->count == b->count);
      double most = 0, size = 0;
      for (int64_t p = 0; p < a->width * a->height; p++) {
        most = fmax (most, fabs ((double) lam_snapshot_pixels (s)[p] - lam_snapshot_pixels (r->steps[n].slice)[p]));
        size = fmax (size, fabs (lam_snapshot_pixels (s)[p]));
      }
      g_assert_cmpfloat (most, <=, 1e-5 * size);
    }
  }
}

/* A detector that was turned: the tilt that turns it back is found. */
static void
test_tilt (void)
{
  static const Scan scans[] = {{LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 5000, 96, 64, 120, 0, 0},
                               {LAM_GEOMETRY_PARALLEL, 360, LAM_PHANTOM_TOOTH, 5000, 96, 64, 160, 0, 0},
                               {LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_TOOTH, 5000, 96, 64, 120, 512, 256}};
  const double turned[] = {0.02, 0, -0.013};
  for (guint i = 0; i < G_N_ELEMENTS (scans); i++)
    for (guint j = 0; j < G_N_ELEMENTS (turned); j++) {
      g_autoptr (LamDataset) d = make (&scans[i], 7);
      LamGeometry *g = d->geometry;
      g_assert_true (lam_rotate_detector (d->sinogram, g->views, g->rows, g->channels, turned[j], NULL, NULL));
      LamSweepParams k;
      lam_sweep_params_init (&k, LAM_SWEEP_TILT);
      k.from = -0.06;
      k.to = 0.05;
      g_autoptr (LamSweepResult) r = sweep (d, &k);
      double channels = (r->best + turned[j]) * 16; /* at the slice, a quarter of the rows from the middle */
      g_test_message ("scan %u, turned by %.3f: %.4f found, %.3f px off at the slice, confidence %.2f", i, turned[j],
                      -r->best, channels, r->confidence);
      g_assert_cmpfloat (fabs (channels), <, 0.25);
    }
}

/* Source to detector by what it does to a wide fan; source to axis does nothing that could be told. */
static void
test_distances (void)
{
  static const LamPhantomKind phantoms[] = {LAM_PHANTOM_SHEPP_LOGAN, LAM_PHANTOM_TOOTH, LAM_PHANTOM_DISCS};
  for (guint i = 0; i < G_N_ELEMENTS (phantoms); i++) {
    Scan scan = {LAM_GEOMETRY_CONE, 360, phantoms[i], 20000, 128, 3, 180, 240, 120};
    g_autoptr (LamDataset) d = make (&scan, 3);
    LamSweepParams k;
    lam_sweep_params_init (&k, LAM_SWEEP_SOURCE_DETECTOR);
    k.from = 190;
    k.to = 310;
    g_autoptr (LamSweepResult) r = sweep (d, &k);
    g_test_message ("%s: %.2f found where it is 240, +- %.2f, confidence %.2f%s%s", lam_phantom_name (phantoms[i]),
                    r->best, r->width, r->confidence, r->note ? ", " : "", r->note ? r->note : "");
    /* Found, or said that it could not be. */
    g_assert_true (fabs (r->best / 240 - 1) < 0.05 || (i > 0 && r->confidence <= 0.1));
    lam_sweep_params_init (&k, LAM_SWEEP_SOURCE_AXIS);
    k.from = 100;
    k.to = 150;
    g_autoptr (LamSweepResult) none = sweep (d, &k);
    g_assert_cmpfloat (none->confidence, ==, 0);
    g_assert_cmpfloat (none->best, ==, 120);
    g_assert_nonnull (strstr (none->note, "only scales"));
    double low = INFINITY, high = -INFINITY; /* and indeed it does not */
    for (int n = 0; n < k.count; n++) {
      low = fmin (low, none->steps[n].score);
      high = fmax (high, none->steps[n].score);
    }
    g_assert_cmpfloat (high / low - 1, <, 1e-3);
  }
}

static void
test_refused (void)
{
  static const Scan scan = {LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_DISCS, 0, 32, 3, 30, 0, 0},
                    cone = {LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_DISCS, 0, 32, 3, 30, 128, 64};
  g_autoptr (LamDataset) d = make (&scan, 1), c = make (&cone, 1);
  const struct {
    LamDataset *d;
    LamSweepParams k;
    const char *says;
  } cases[] = {
      {d, {LAM_SWEEP_CENTER, 5, 5, 9, -1, NULL}, "must be the larger"},
      {d, {LAM_SWEEP_CENTER, NAN, 5, 9, -1, NULL}, "must be the larger"},
      {d, {LAM_SWEEP_CENTER, 5, 40, 9, -1, NULL}, "channels 0 to 31"},
      {d, {LAM_SWEEP_CENTER, 5, 9, 2, -1, NULL}, "2 slices: expected 3 to 99"},
      {d, {LAM_SWEEP_CENTER, 5, 9, 9, 3, NULL}, "slices 0 to 2"},
      {d, {LAM_SWEEP_TILT, -2, 1, 9, -1, NULL}, "-45 to 45"},
      {d, {LAM_SWEEP_SOURCE_AXIS, 10, 20, 9, -1, NULL}, "parallel beam"},
      {c, {LAM_SWEEP_SOURCE_AXIS, 60, 130, 9, -1, NULL}, "value 130"},
      {c, {LAM_SWEEP_SOURCE_DETECTOR, 50, 130, 9, -1, NULL}, "value 50"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lam_sweep (cases[i].d, &cases[i].k, NULL, NULL, NULL, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    if (!strstr (error->message, cases[i].says))
      g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].says);
  }
  LamSweepParameter p;
  g_assert_false (lam_sweep_parameter_from_name ("middle", &p, NULL));
  for (int i = 0; i < LAM_SWEEP_COUNT; i++)
    g_assert_true (lam_sweep_parameter_from_name (lam_sweep_parameter_name (i), &p, NULL)
                   && p == (LamSweepParameter) i);
}

/* What cannot be told is not: nothing there, and a top at the end of the range. */
static void
test_unsure (void)
{
  static const Scan scan = {LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 5000, 64, 1, 90, 0, 0};
  g_autoptr (LamDataset) d = make (&scan, 1);
  LamSweepParams k;
  lam_sweep_params_init (&k, LAM_SWEEP_CENTER);
  k.from = 36;
  k.to = 44;
  g_autoptr (LamSweepResult) end = sweep (d, &k);
  g_assert_cmpfloat (end->confidence, <=, 0.1);
  g_assert_nonnull (strstr (end->note, "end of the range"));
  memset (d->sinogram, 0, sizeof (float) * 90 * 64);
  g_autoptr (LamSweepResult) empty = sweep (d, &k);
  g_assert_cmpfloat (empty->confidence, ==, 0);
  g_assert_nonnull (strstr (empty->note, "empty"));
}

typedef struct {
  LamJob *job;
  int changed, finished, seen;
} Told;

static void
changed_cb (LamJob *job, Told *told)
{
  g_autoptr (GArray) steps = lam_job_sweep_dup_steps (job, (guint) told->seen);
  told->changed++;
  told->seen += (int) steps->len;
}

static void
finished_cb (LamJob *job, Told *told)
{
  told->finished++;
}

static gboolean
again (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

static void
count_cb (const LamSweepStep *step, int index, gpointer data)
{
  int *n = data;
  g_assert_cmpint (index, ==, *n);
  g_assert_nonnull (step->slice);
  (*n)++;
}

static void
test_job (void)
{
  static const Scan scan = {LAM_GEOMETRY_PARALLEL, 180, LAM_PHANTOM_TOOTH, 5000, 96, 3, 90, 0, 0};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDataset) d = make (&scan, 1);
  LamSweepParams k;
  lam_sweep_params_init (&k, LAM_SWEEP_CENTER);
  k.from = 45;
  k.to = 54;
  int n = 0;
  g_autoptr (LamSweepResult) plain = lam_sweep (d, &k, NULL, count_cb, &n, &error);
  g_assert_cmpint (n, ==, k.count);
  k.small = 30;
  for (int cancel = 0; cancel < 2; cancel++) {
    LamJob *job = lam_job_new_sweep (d, &k);
    Told told = {.job = job};
    guint alarm = g_timeout_add (5, again, NULL);
    g_signal_connect (job, "changed", G_CALLBACK (changed_cb), &told);
    g_signal_connect (job, "finished", G_CALLBACK (finished_cb), &told);
    if (cancel)
      lam_job_cancel (job);
    lam_job_start (job);
    while (!told.finished)
      g_main_context_iteration (NULL, TRUE);
    if (cancel)
      g_assert_cmpint (lam_job_get_state (job), ==, LAM_JOB_CANCELLED);
    else {
      LamSweepResult *r = lam_job_get_result (job);
      g_autoptr (GArray) all = lam_job_sweep_dup_steps (job, 0);
      g_assert_cmpint (all->len, ==, k.count);
      g_assert_cmpfloat (r->best, ==, plain->best);
      /* Its own thread made the small pictures; the result has the large ones. */
      LamSnapshot *small = g_array_index (all, LamSweepStep, 4).slice;
      g_assert_cmpint (lam_snapshot_info (r->steps[4].slice)->width, ==, 96);
      g_assert_cmpint (lam_snapshot_info (small)->width, ==, 32);
      g_assert_cmpfloat (r->width, ==, plain->width);
      g_assert_cmpint (told.changed, >=, 1);
    }
    lam_job_join (job);
    g_assert_finalize_object (job);
    g_source_remove (alarm);
  }
}

/* All allocations failing in turn; nothing is left. */
static void
test_memory (void)
{
  static const Scan scan = {LAM_GEOMETRY_CONE, 360, LAM_PHANTOM_TOOTH, 0, 24, 6, 20, 96, 48};
  g_autoptr (LamDataset) d = make (&scan, 1);
  int64_t before = lam_memory_bytes ();
  for (int p = 0; p < LAM_SWEEP_COUNT; p++) {
    int failed = 0;
    LamSweepParams k;
    lam_sweep_params_init (&k, p);
    k.from = p == LAM_SWEEP_CENTER ? 8 : p == LAM_SWEEP_TILT ? -0.1 : p == LAM_SWEEP_SOURCE_AXIS ? 40 : 80;
    k.to = p == LAM_SWEEP_CENTER ? 16 : p == LAM_SWEEP_TILT ? 0.1 : p == LAM_SWEEP_SOURCE_AXIS ? 56 : 110;
    k.count = 3;
    for (int64_t n = 1;; n++) {
      g_autoptr (GError) error = NULL;
      lam_memory_fail_at (n);
      LamSweepResult *r = lam_sweep (d, &k, NULL, NULL, NULL, &error);
      lam_memory_fail_at (0);
      gboolean ok = r != NULL;
      lam_sweep_result_unref (r);
      g_assert_cmpint (lam_memory_bytes (), ==, before);
      if (ok)
        break;
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      failed++;
    }
    g_test_message ("%s: %d allocations failed in turn", lam_sweep_parameter_name (p), failed);
    g_assert_cmpint (failed, >=, 20);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/sweep/center", NULL, test_center);
  g_test_add_func ("/sweep/slices", test_slices);
  g_test_add_func ("/sweep/tilt", test_tilt);
  g_test_add_func ("/sweep/distances", test_distances);
  g_test_add_func ("/sweep/refused", test_refused);
  g_test_add_func ("/sweep/unsure", test_unsure);
  g_test_add_func ("/sweep/job", test_job);
  g_test_add_func ("/sweep/memory", test_memory);
  return g_test_run ();
}
