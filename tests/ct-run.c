#include "ct-run.h"

#include "core/random.h"

CtRun *
ct_run_new (const LamGeometry *g, const char *devices)
{
  g_autoptr (GError) error = NULL;
  CtRun *run = g_new0 (CtRun, 1);
  run->set = lam_devices_new (devices, &error);
  g_assert_no_error (error);
  run->p = lam_projector_new (g, run->set, &error);
  g_assert_no_error (error);
  run->plan = lam_plan_new (run->set);
  int phase = lam_plan_add_phase (run->plan, "all");
  for (int d = 0; d < lam_devices_count (run->set); d++) {
    lam_plan_add_buffer (run->plan, d, "volume", lam_projector_volume_floats (run->p, d) * 4, phase, phase);
    lam_plan_add_buffer (run->plan, d, "sino", lam_projector_sino_floats (run->p, d) * 4, phase, phase);
    lam_plan_add_buffer (run->plan, d, "other", lam_projector_sino_floats (run->p, d) * 4, phase, phase);
  }
  lam_projector_plan (run->p, run->plan, LAM_MIN (LAM_MAX (run->p->list_n, 1), 4096), phase, phase);
  lam_direct_plan (run->p, run->plan, phase, phase);
  lam_projector_open (run->p, run->plan, &error);
  g_assert_no_error (error);
  for (int d = 0; d < lam_devices_count (run->set); d++) {
    run->volume.at[d] = lam_plan_take (run->plan, d, "volume", &error);
    run->sino.at[d] = lam_plan_take (run->plan, d, "sino", &error);
    run->other.at[d] = lam_plan_take (run->plan, d, "other", &error);
    g_assert_no_error (error);
  }
  return run;
}

void
ct_run_free (CtRun *run)
{
  lam_projector_free (run->p);
  lam_plan_unref (run->plan);
  lam_devices_unref (run->set);
  g_free (run);
}

int64_t
ct_run_volume_size (const CtRun *run)
{
  return run->p->pixels * run->p->g.slices;
}

int64_t
ct_run_sino_size (const CtRun *run)
{
  return run->p->g.views * run->p->g.rows * run->p->g.channels;
}

static float *
get_volume (CtRun *run)
{
  g_autoptr (GError) error = NULL;
  float *out = g_new (float, ct_run_volume_size (run));
  lam_projector_get_volume (run->p, &run->volume, out, &error);
  g_assert_no_error (error);
  return out;
}

static float *
get_sino (CtRun *run, const LamShards *sino)
{
  g_autoptr (GError) error = NULL;
  float *out = g_new (float, ct_run_sino_size (run));
  lam_projector_get_sino (run->p, sino, out, &error);
  g_assert_no_error (error);
  return out;
}

float *
ct_run_forward (CtRun *run, const float *volume)
{
  g_autoptr (GError) error = NULL;
  lam_projector_put_volume (run->p, volume, &run->volume, &error);
  g_assert_no_error (error);
  lam_projector_forward (run->p, &run->volume, &run->sino, &error);
  g_assert_no_error (error);
  return get_sino (run, &run->sino);
}

float *
ct_run_back (CtRun *run, const float *sino, gboolean everywhere, gboolean square)
{
  g_autoptr (GError) error = NULL;
  lam_projector_put_sino (run->p, sino, &run->sino, &error);
  g_assert_no_error (error);
  lam_projector_back (run->p, &run->sino, &run->volume, everywhere, square, &error);
  g_assert_no_error (error);
  return get_volume (run);
}

float *
ct_run_filtered (CtRun *run, const float *sino)
{
  g_autoptr (GError) error = NULL;
  lam_projector_put_sino (run->p, sino, &run->sino, &error);
  g_assert_no_error (error);
  lam_direct_filter (run->p, &run->sino, &run->other, &error);
  g_assert_no_error (error);
  return get_sino (run, &run->other);
}

float *
ct_run_direct (CtRun *run, const float *sino)
{
  g_autoptr (GError) error = NULL;
  g_autofree float *filtered = ct_run_filtered (run, sino);
  lam_direct_back (run->p, &run->other, &run->volume, &error);
  g_assert_no_error (error);
  return get_volume (run);
}

float *
ct_run_vcd (const LamGeometry *g, const char *devices, const float *sino, const float *weights,
            const LamVcdParams *params, LamVcdStart start, LamVcdStats *last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new (devices, &error);
  g_assert_no_error (error);
  g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
  g_assert_no_error (error);
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  g_autoptr (LamVcd) vcd = lam_vcd_new (p, params, weights != NULL, start, plan, &error);
  g_assert_no_error (error);
  lam_vcd_open (vcd, &error);
  g_assert_no_error (error);
  lam_projector_put_sino (p, sino, &vcd->error, &error);
  if (weights)
    lam_projector_put_sino (p, weights, &vcd->weights, &error);
  g_assert_no_error (error);
  lam_vcd_start (vcd, start, &error);
  g_assert_no_error (error);
  while (vcd->iteration < params->iterations) {
    LamVcdStats stats;
    lam_vcd_iterate (vcd, &stats, &error);
    g_assert_no_error (error);
    if (last)
      *last = stats;
  }
  float *out = g_new (float, p->pixels * p->g.slices);
  lam_projector_get_volume (p, &vcd->volume, out, &error);
  g_assert_no_error (error);
  return out;
}

float *
ct_random (int64_t n, uint64_t key)
{
  LamRandom r;
  float *x = g_new (float, n);
  lam_random_init (&r, key, 0);
  for (int64_t i = 0; i < n; i++)
    x[i] = (float) lam_random_double (&r);
  return x;
}
