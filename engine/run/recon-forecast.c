/* recon-forecast.c: about how long a run will take: counts of voxel-views over a speed measured on this machine. */
#include <math.h>
#include <pthread.h>

#include "ct/projector.h"
#include "run/recon.h"

/* Voxel-views a second of a small forward and back projection: parallel, parallel with few slices, cone; 0 = could not. */
enum { PARALLEL, FEW, CONE, KINDS };

static double
measure (int kind)
{
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", NULL);
  int64_t n = kind == CONE ? 48 : 96, rows = kind == FEW ? 1 : n, views = 24;
  g_autoptr (LamGeometry) g =
      lam_geometry_new (kind == CONE ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, views, rows, n);
  lam_geometry_set_angles (g, 0.01, G_PI);
  if (kind == CONE) {
    g->source_detector = 4.0 * (double) n;
    g->source_axis = 2.0 * (double) n;
  }
  g_autoptr (LamProjector) p = set && lam_geometry_auto_volume (g, NULL) ? lam_projector_new (g, set, NULL) : NULL;
  if (!p)
    return 0;
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  LamShards x, y;
  lam_plan_add_phase (plan, "measure");
  lam_plan_add_buffer (plan, 0, "recon", lam_projector_volume_floats (p, 0) * 4, 0, 0);
  lam_plan_add_buffer (plan, 0, "sinogram", lam_projector_sino_floats (p, 0) * 4, 0, 0);
  lam_projector_plan (p, plan, p->pixels, 0, 0);
  x.at[0] = lam_plan_take (plan, 0, "recon", NULL);
  y.at[0] = lam_plan_take (plan, 0, "sinogram", NULL);
  if (!lam_projector_open (p, plan, NULL) || !x.at[0] || !y.at[0] || !lam_projector_zero (p, &x, TRUE, NULL)
      || !lam_projector_forward (p, &x, &y, NULL)) /* once, so that memory is there */
    return 0;
  int64_t start = lam_clock_ns ();
  if (!lam_projector_forward (p, &x, &y, NULL) || !lam_projector_back (p, &y, &x, FALSE, FALSE, NULL))
    return 0;
  double seconds = (double) (lam_clock_ns () - start) / 1e9;
  return 2.0 * (double) (p->list_n * p->g.slices * views) / LAM_MAX (seconds, 1e-6);
}

static double
speed (int kind)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static double known[KINDS];
  pthread_mutex_lock (&lock);
  if (known[kind] == 0)
    known[kind] = measure (kind);
  double s = known[kind];
  pthread_mutex_unlock (&lock);
  return s;
}

double
lam_recon_forecast (const LamGeometry *g, const LamReconParams *params)
{
  gboolean cone = g->kind == LAM_GEOMETRY_CONE;
  double s = speed (cone ? CONE : g->recon_slices <= LAM_FEW_SLICES ? FEW : PARALLEL);
  double vv = (double) g->recon_rows * (double) g->recon_columns * (double) g->recon_slices * (double) g->views;
  if (g->mask == LAM_MASK_ELLIPSE)
    vv *= G_PI / 4;
  if (!(s > 0))
    return -1;
  if (params->method == LAM_METHOD_DIRECT)
    return 1.5 * vv / s;
  /* Start: filter, two back and one forward projection. An iteration: one back, one or two forward, and the passes over
   * sinogram and image that go with many subsets. */
  double start = params->init == LAM_INIT_ZERO ? 1.5 : 3.5,
         iteration = (cone ? 3.2 : 4.5) + (params->positivity ? 1 : 0);
  return vv / s * (start + iteration * (double) params->iterations);
}
