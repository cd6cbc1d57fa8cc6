#include "cli/resident.h"

#include "cli/progress.h"
#include "core/memory.h"

LamResident *
lam_resident_new (const LamGeometry *g, const char *devices, gboolean direct, GError **error)
{
  g_autoptr (LamResident) r = g_new0 (LamResident, 1);
  r->set = lam_devices_new (devices, error);
  r->projector = r->set ? lam_projector_new (g, r->set, error) : NULL;
  if (!r->projector)
    return NULL;
  r->projector->control = lam_cli_control ();
  r->plan = lam_plan_new (r->set);
  lam_plan_add_phase (r->plan, "all");
  for (int d = 0; d < lam_devices_count (r->set); d++) {
    lam_plan_add_buffer (r->plan, d, "recon", lam_projector_volume_floats (r->projector, d) * 4, 0, 0);
    lam_plan_add_buffer (r->plan, d, "sinogram", lam_projector_sino_floats (r->projector, d) * 4, 0, 0);
  }
  lam_projector_plan (r->projector, r->plan, LAM_MIN (4096, r->projector->pixels), 0, 0);
  if (direct)
    lam_direct_plan (r->projector, r->plan, 0, 0);
  if (!lam_plan_fits (r->plan, error) || !lam_projector_open (r->projector, r->plan, error))
    return NULL;
  for (int d = 0; d < lam_devices_count (r->set); d++)
    if (!(r->volume.at[d] = lam_plan_take (r->plan, d, "recon", error))
        || !(r->sino.at[d] = lam_plan_take (r->plan, d, "sinogram", error)))
      return NULL;
  return g_steal_pointer (&r);
}

void
lam_resident_free (LamResident *r)
{
  if (!r)
    return;
  g_clear_pointer (&r->projector, lam_projector_free);
  g_clear_pointer (&r->plan, lam_plan_unref);
  g_clear_pointer (&r->set, lam_devices_unref);
  g_free (r);
}

float *
lam_resident_project (LamResident *r, const float *volume, GError **error)
{
  const LamGeometry *g = r->projector->geometry;
  int64_t n = lam_mul_size (lam_mul_size (g->views, g->rows), g->channels);
  float *sinogram = lam_alloc_n (n, sizeof *sinogram, "sinogram", error);
  if (!sinogram)
    return NULL;
  if (lam_projector_put_volume (r->projector, volume, &r->volume, error)
      && lam_projector_forward (r->projector, &r->volume, &r->sino, error)
      && lam_projector_get_sino (r->projector, &r->sino, sinogram, error))
    return sinogram;
  lam_free (sinogram);
  return NULL;
}
