/* The preview of preparation: a run's own samples, from the whole scan or from parts of it; the thread; refusals; how long. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/threadpool.h"
#include "run/dataset.h"
#include "run/prepare-preview.h"

enum { V = 63, R = 26, C = 90, N = V * R * C };

typedef struct {
  char *folder, *path;
} Fixture;

static Fixture
write_counts (int64_t views, int64_t rows, int64_t channels)
{
  Fixture f = {g_dir_make_tmp ("lamina-XXXXXX", NULL)};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, views, rows, channels);
  int64_t size = rows * channels;
  LamRandom random;
  float *y = lam_alloc_n (views * size, sizeof *y, "test", &error);
  g_assert_no_error (error);
  g_autofree float *flats = g_new (float, 2 * size), *darks = g_new (float, size);
  lam_random_init (&random, 1, 0);
  lam_geometry_set_angles (g, 0, G_PI);
  for (int64_t p = 0; p < size; p++) {
    darks[p] = (float) (100 + p % 7);
    flats[p] = (float) (30000 + p % 300);
    flats[p + size] = flats[p] + 4;
  }
  flats[size / 2 + 3] = darks[size / 2 + 3]; /* a dead pixel */
  flats[size + size / 2 + 3] = darks[size / 2 + 3];
  for (int64_t v = 0; v < views; v++)
    for (int64_t p = 0; p < size; p++) {
      double x = 2.4 * ((double) (p % channels) / (double) channels - 0.5),
             noise = (double) lam_random_u32 (&random) / 4294967296.0;
      double thick =
          x * x < 1 ? 2 * sqrt (1 - x * x) * (1 + 0.3 * sin (9 * x + 0.1 * (double) v + 0.2 * (double) (p / channels)))
                    : 0;
      y[v * size + p] = darks[p] + (float) (30000 * exp (-thick - 0.03) * (0.99 + 0.02 * noise));
      if (p % channels == 40 % channels)
        y[v * size + p] *= 0.93f; /* a stripe */
    }
  y[5 * size + 2 * channels + 3] = 3e6f; /* a zinger */
  LamScanData data = {.geometry = g,
                      .kind = LAM_SCAN_COUNTS,
                      .projections = y,
                      .flats = flats,
                      .darks = darks,
                      .n_flats = 2,
                      .n_darks = 1};
  f.path = g_build_filename (f.folder, "scan.h5", NULL);
  lam_scan_write (f.path, &data, NULL, &error);
  g_assert_no_error (error);
  lam_free (y);
  return f;
}

static void
fixture_clear (Fixture *f)
{
  g_unlink (f->path);
  g_rmdir (f->folder);
  g_free (f->path);
  g_free (f->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static LamPreparePreview *
open_preview (const Fixture *f, gboolean parts)
{
  g_autoptr (GError) error = NULL;
  LamScan *scan = lam_scan_open (f->path, NULL, &error);
  g_assert_no_error (error);
  LamPreparePreview *p = lam_prepare_preview_new_take (scan);
  if (parts)
    lam_prepare_preview_set_whole (p, 0);
  return p;
}

static void
assert_like (const LamSnapshot *s, const float *wanted, double bound, const char *what)
{
  const LamSnapshotInfo *info = lam_snapshot_info (s);
  double most = 0;
  for (int64_t i = 0; i < info->width * info->height; i++)
    most = fmax (most, fabs ((double) lam_snapshot_pixels (s)[i] - wanted[i]));
  g_test_message ("%s: at most %.3g", what, most);
  g_assert_cmpfloat (most, <=, bound);
}

/* A request's pictures against the samples of loaded data. */
static void
compare (LamPreparePreview *preview, const Fixture *f, const LamPrepareParams *k, gboolean parts, double bound)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) scan = lam_scan_open (f->path, NULL, &error);
  g_autoptr (LamDataset) d = lam_dataset_load (scan, k, NULL, &error);
  g_assert_no_error (error);
  LamPrepareParams plain;
  lam_prepare_params_init (&plain);
  plain.crop_rows = k->crop_rows;
  plain.crop_channels = k->crop_channels;
  plain.bin = k->bin;
  plain.transmission = k->transmission;
  g_autoptr (LamDataset) b = lam_dataset_load (scan, &plain, NULL, &error);
  g_assert_no_error (error);
  const LamGeometry *g = d->geometry;
  LamPreviewRequest request = {k, 5, g->rows / 3, 7, 9};
  g_autoptr (LamPreparePictures) p = lam_prepare_preview_compute (preview, &request, &error);
  g_assert_no_error (error);
  g_assert_cmpint (p->serial, ==, 9);
  g_assert_true (p->view_without_stripes == (parts && k->stripes.kind != LAM_STRIPES_NONE));
  g_assert_true (p->estimated == (parts && k->background != LAM_PREPARE_BACKGROUND_NONE));
  const LamSnapshotInfo *v = lam_snapshot_info (p->view[LAM_PREVIEW_AFTER]),
                        *s = lam_snapshot_info (p->sinogram[LAM_PREVIEW_AFTER]);
  g_assert_true (v->plane == LAM_PLANE_VIEW && v->width == g->channels && v->height == g->rows && v->count == g->views
                 && v->index == 5 && v->generation == 7);
  g_assert_true (s->plane == LAM_PLANE_SINOGRAM && s->width == g->channels && s->height == g->views
                 && s->count == g->rows && s->index == g->rows / 3);
  int64_t size = g->rows * g->channels;
  g_autofree float *sino = g_new (float, g->views * g->channels);
  for (int after = 0; after < 2; after++) {
    const LamDataset *from = after ? d : b;
    if (!after || !p->view_without_stripes)
      assert_like (p->view[after], from->sinogram + 5 * size, after ? bound : 0, after ? "view after" : "view before");
    for (int64_t i = 0; i < g->views; i++)
      memcpy (sino + i * g->channels, from->sinogram + i * size + g->rows / 3 * g->channels,
              sizeof *sino * g->channels);
    assert_like (p->sinogram[after], sino, after ? bound : 0, after ? "sinogram after" : "sinogram before");
  }
  for (int64_t i = 0; i < g->views * g->channels; i++)
    g_assert_cmpfloat (lam_snapshot_pixels (p->sinogram[LAM_PREVIEW_DIFFERENCE])[i], ==,
                       lam_snapshot_pixels (p->sinogram[1])[i] - lam_snapshot_pixels (p->sinogram[0])[i]);
}

/* Each step, and all of them, give a run's own bits; but for a background that is estimated. */
static void
test_same (gconstpointer data)
{
  gboolean parts = GPOINTER_TO_INT (data);
  g_auto (Fixture) f = write_counts (V, R, C);
  g_autoptr (LamPreparePreview) preview = open_preview (&f, parts);
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  compare (preview, &f, &k, parts, 0);
  k.find_bad_pixels = TRUE;
  compare (preview, &f, &k, parts, 0);
  k.bad_pixels = lam_bad_pixels_parse ("8 20\n7 20\n9 20\n8 21", "list", NULL);
  compare (preview, &f, &k, parts, 0);
  k.crop_rows = (LamRange){3, 25};
  k.crop_channels = (LamRange){2, 88};
  compare (preview, &f, &k, parts, 0);
  k.bin = 2;
  compare (preview, &f, &k, parts, 0);
  k.tilt = 0.05;
  compare (preview, &f, &k, parts, 0);
  k.tilt = -0.9;
  compare (preview, &f, &k, parts, 0);
  k.tilt = 0.05;
  k.zingers = 0.05;
  compare (preview, &f, &k, parts, 0);
  k.stripes.kind = LAM_STRIPES_WAVELET;
  compare (preview, &f, &k, parts, 0);
  k.stripes.kind = LAM_STRIPES_SORTING;
  compare (preview, &f, &k, parts, 0);
  k.bin = 1;
  k.stripes.kind = LAM_STRIPES_NONE;
  k.background = LAM_PREPARE_BACKGROUND_GLOBAL;
  compare (preview, &f, &k, parts, parts ? 0.003 : 0);
  k.background = LAM_PREPARE_BACKGROUND_PER_VIEW;
  compare (preview, &f, &k, parts, parts ? 0.01 : 0);
  k.transmission.policy = LAM_DEFECT_MASK;
  k.background = LAM_PREPARE_BACKGROUND_NONE;
  k.tilt = k.zingers = 0;
  compare (preview, &f, &k, parts, 0.2); /* what a run gives weight 0 is of no account */
  lam_prepare_params_clear (&k);
}

static void
test_refused (void)
{
  g_auto (Fixture) f = write_counts (V, R, C);
  for (int parts = 0; parts < 2; parts++) {
    g_autoptr (LamPreparePreview) preview = open_preview (&f, parts);
    LamPrepareParams k;
    lam_prepare_params_init (&k);
    for (int i = 0; i < 4; i++) {
      g_autoptr (GError) error = NULL;
      k.crop_channels = i == 0 ? (LamRange){5, 500} : (LamRange){0, 0};
      k.stripes.kind = i == 1 ? LAM_STRIPES_SORTING : LAM_STRIPES_NONE;
      k.stripes.snr = -1;
      LamPreviewRequest request = {&k, i == 2 ? V : 0, i == 3 ? -1 : 0, 0, 0};
      g_assert_null (lam_prepare_preview_compute (preview, &request, &error));
      g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, i == 0 ? "channels 5:500" : i == 1 ? "ratio -1" : "preview of view"));
    }
  }
}

typedef struct {
  int pictures, failed;
  uint64_t last;
} Told;

static void
pictures_cb (LamPreparePreview *preview, Told *told)
{
  g_autoptr (LamPreparePictures) p = lam_prepare_preview_take (preview);
  if (!p)
    return;
  g_assert_cmpuint (p->serial, >, told->last);
  told->last = p->serial;
  told->pictures++;
}

static void
failed_cb (LamPreparePreview *preview, GError *error, Told *told)
{
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  told->failed++;
}

static gboolean
again (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* The newest request is answered, in order; a wrong one is told; a preview that goes while it works leaves nothing. */
static void
test_thread (void)
{
  g_auto (Fixture) f = write_counts (V, R, C);
  int64_t before = lam_memory_bytes ();
  for (int parts = 0; parts < 2; parts++) {
    LamPreparePreview *preview = open_preview (&f, parts);
    Told told = {0};
    LamPrepareParams k;
    guint alarm = g_timeout_add (5, again, NULL);
    lam_prepare_params_init (&k);
    k.stripes.kind = LAM_STRIPES_SORTING;
    g_signal_connect (preview, "pictures", G_CALLBACK (pictures_cb), &told);
    g_signal_connect (preview, "failed", G_CALLBACK (failed_cb), &told);
    for (uint64_t i = 1; i <= 40; i++) {
      LamPreviewRequest request = {&k, (int64_t) i, 3, 1, i};
      k.bad_pixels = lam_bad_pixels_parse ("1 1", "list", NULL);
      lam_prepare_preview_request (preview, &request);
      lam_prepare_params_clear (&k);
    }
    while (told.last < 40)
      g_main_context_iteration (NULL, TRUE);
    g_test_message ("%d answers to 40 requests", told.pictures);
    g_assert_cmpint (told.pictures, <, 40);
    LamPreviewRequest wrong = {&k, -1, 0, 1, 41};
    lam_prepare_preview_request (preview, &wrong);
    while (told.failed == 0)
      g_main_context_iteration (NULL, TRUE);
    for (uint64_t i = 42; i < 50; i++) {
      LamPreviewRequest request = {&k, 1, 3, 1, i};
      lam_prepare_preview_request (preview, &request);
    }
    g_assert_finalize_object (preview);
    g_source_remove (alarm);
  }
  g_assert_cmpint (lam_memory_bytes (), ==, before);
}

/* All allocations failing in turn. */
static void
test_memory (void)
{
  g_auto (Fixture) f = write_counts (V, R, C);
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  k.find_bad_pixels = TRUE;
  k.bin = 2;
  k.tilt = 0.02;
  k.zingers = 0.1;
  k.background = LAM_PREPARE_BACKGROUND_PER_VIEW;
  k.stripes.kind = LAM_STRIPES_SORTING;
  LamPreviewRequest request = {&k, 2, 3, 1, 1};
  int64_t before = lam_memory_bytes ();
  for (int parts = 0; parts < 2; parts++) {
    int failed = 0, in_row = 0;
    for (int64_t n = 1; in_row < 4; n++) {
      g_autoptr (LamPreparePreview) preview = open_preview (&f, parts);
      g_autoptr (GError) error = NULL;
      lam_memory_fail_at (n);
      g_autoptr (LamPreparePictures) p = lam_prepare_preview_compute (preview, &request, &error);
      lam_memory_fail_at (0);
      if (!p)
        g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      failed += !p;
      in_row = p ? in_row + 1 : 0;
      /* And it goes on afterwards. */
      g_autoptr (LamPreparePictures) again = p ? NULL : lam_prepare_preview_compute (preview, &request, NULL);
      g_assert_true (p || again);
    }
    g_test_message ("%d allocations failed in turn", failed);
    g_assert_cmpint (failed, >=, 15);
    g_assert_cmpint (lam_memory_bytes (), ==, before);
  }
}

/* How long the answers take; told, not judged. LAMINA_PREVIEW_SIZE=VxRxC for other sizes. */
static void
test_time (void)
{
  const char *text = g_getenv ("LAMINA_PREVIEW_SIZE");
  int v = 181, r = 2, c = 640;
  if (text && sscanf (text, "%dx%dx%d", &v, &r, &c) != 3)
    g_error ("LAMINA_PREVIEW_SIZE=%s", text);
  g_auto (Fixture) f = write_counts (v, r, c);
  g_autoptr (LamPreparePreview) preview = open_preview (&f, FALSE);
  static const char *const names[] = {"nothing", "bad pixels", "tilt",        "background", "background per view",
                                      "zingers", "sorting",    "all, wavelet"};
  LamPrepareParams k;
  lam_prepare_params_init (&k);
  for (int i = 0; i < 8; i++) {
    if (i == 1)
      k.find_bad_pixels = TRUE;
    if (i == 2)
      k.tilt = 0.01;
    if (i == 3 || i == 4)
      k.background = i == 3 ? LAM_PREPARE_BACKGROUND_GLOBAL : LAM_PREPARE_BACKGROUND_PER_VIEW;
    if (i == 5)
      k.zingers = 0.1;
    if (i >= 6)
      k.stripes.kind = i == 6 ? LAM_STRIPES_SORTING : LAM_STRIPES_WAVELET;
    for (int turn = 0; turn < 2; turn++) {
      g_autoptr (GError) error = NULL;
      LamPreviewRequest request = {&k, v / 2, r / 2, 1, 1};
      g_autoptr (LamPreparePictures) p = lam_prepare_preview_compute (preview, &request, &error);
      g_assert_no_error (error);
      g_test_message ("%d x %d x %d, %s, %s: %.1f ms", v, r, c, names[i], turn ? "again" : "first", 1e3 * p->seconds);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/prepare-preview/same/whole", GINT_TO_POINTER (FALSE), test_same);
  g_test_add_data_func ("/prepare-preview/same/parts", GINT_TO_POINTER (TRUE), test_same);
  g_test_add_func ("/prepare-preview/refused", test_refused);
  g_test_add_func ("/prepare-preview/thread", test_thread);
  g_test_add_func ("/prepare-preview/memory", test_memory);
  g_test_add_func ("/prepare-preview/time", test_time);
  return g_test_run ();
}
