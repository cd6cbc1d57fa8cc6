/* bench-latency.c: how long a live slice takes while its axis is dragged, without a window. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>

#include "cli/bench.h"
#include "cli/phantom-volume.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "run/live.h"

enum { ANSWERS = 100 };

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Largest difference to FBP with this offset, in parts of its peak. */
static gboolean
compare (LamBench *b, const LamDataset *d, double offset, LamSnapshot *slice, GError **error)
{
  const LamGeometry *g = d->geometry;
  int64_t samples = g->views * g->rows * g->channels;
  float *sinogram = lam_alloc_n (samples, sizeof *sinogram, "sinogram", error);
  if (!sinogram)
    return FALSE;
  for (int64_t i = 0; i < samples; i++)
    sinogram[i] = d->sinogram[i];
  LamGeometry *moved = lam_geometry_copy (g);
  moved->channel_offset = offset;
  g_autoptr (LamDataset) other = lam_dataset_new_take ("bench", moved, sinogram, NULL);
  LamReconParams params;
  lam_recon_params_init (&params);
  params.method = LAM_METHOD_DIRECT;
  params.devices = g_strdup (b->devices);
  g_autoptr (LamReconResult) r = lam_reconstruct (other, &params, lam_cli_control (), NULL, error);
  lam_recon_params_clear (&params);
  if (!r)
    return FALSE;
  const float *pixels = lam_snapshot_pixels (slice);
  double largest = 0, peak = 0;
  for (int64_t i = 0; i < g->recon_rows * g->recon_columns; i++) {
    double whole = r->volume[i * g->recon_slices + g->recon_slices / 2];
    largest = fmax (largest, fabs ((double) pixels[i] - whole));
    peak = fmax (peak, fabs (whole));
  }
  b->difference = largest / peak;
  return TRUE;
}

static gboolean
measure (LamBench *b, LamDataset *d, GError **error)
{
  g_autoptr (LamLive) live = lam_live_new (d, b->devices);
  g_autoptr (LamSnapshot) slice = NULL;
  LamRandom random;
  LamLiveRequest request = {.slice = d->geometry->recon_slices / 2};
  lam_random_init (&random, 1, 0);
  for (int call = 0; call <= ANSWERS; call++) {
    request.channel_offset = (lam_random_double (&random) - 0.5) * 0.1 * (double) b->size;
    request.serial = (uint64_t) call;
    g_clear_pointer (&slice, lam_snapshot_unref);
    int64_t start = lam_clock_ns ();
    slice = lam_live_compute (live, &request, error);
    double seconds = (double) (lam_clock_ns () - start) / 1e9;
    if (!slice || !lam_cli_go_on (error))
      return FALSE;
    if (call == 0)
      b->first = seconds; /* memory and filter */
    else
      g_array_append_val (b->times, seconds);
  }
  g_autofree double *sorted = g_memdup2 (b->times->data, ANSWERS * sizeof *sorted);
  qsort (sorted, ANSWERS, sizeof *sorted, by_value);
  b->p95 = sorted[(ANSWERS * 95 + 99) / 100 - 1];
  return compare (b, d, request.channel_offset, slice, error);
}

gboolean
lam_bench_latency (LamBench *b, GError **error)
{
  g_autoptr (LamGeometry) g = lam_geometry_new (b->cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, b->views,
                                                b->cone ? LAM_MAX (b->size / 8, 1) : 1, b->size);
  for (int64_t v = 0; v < b->views; v++)
    g->angles[v] = (b->cone ? 2 : 1) * G_PI * (double) v / (double) b->views + 1e-3;
  if (b->cone) {
    g->source_detector = 2.4 * (double) b->size;
    g->source_axis = 1.6 * (double) b->size;
  }
  if (!lam_geometry_auto_volume (g, error))
    return FALSE;
  const int64_t shape[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
  float *volume = lam_cli_phantom_volume (LAM_PHANTOM_SHEPP_LOGAN, shape, 0, 1, error);
  g_autoptr (LamDataset) d = volume ? lam_bench_dataset (b, g, volume, error) : NULL;
  lam_free (volume);
  if (!d || !measure (b, d, error))
    return FALSE;
  b->direct = TRUE;
  b->work = (double) shape[0] * (double) shape[1] * (double) b->views;
  g_autoptr (LamDevices) set = lam_devices_new (b->devices, NULL);
  lam_bench_describe (b, set, g);
  if (b->difference <= 1e-5)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED,
               _ ("the last slice differs from FBP by %.3g of its peak; at most 1e-5 was expected"), b->difference);
  return FALSE;
}
