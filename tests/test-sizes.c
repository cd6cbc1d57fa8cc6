/* test-sizes.c: case S4: more than 2^31 voxels. Skipped, with the reason, where memory is short. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "ct-run.h"

static int64_t
memory_available (void)
{
  g_autofree char *text = NULL;
  const char *line;
  if (!g_file_get_contents ("/proc/meminfo", &text, NULL, NULL) || !(line = strstr (text, "MemAvailable:")))
    return 0;
  return g_ascii_strtoll (line + strlen ("MemAvailable:"), NULL, 10) * 1024;
}

/* x = 1 in the middle of every slice, and one voxel beyond 2^31 that is 7. */
static void
fill_rows (LamRange rows, int64_t columns, int64_t slices, float *slab)
{
  for (int64_t i = rows.begin; i < rows.end; i++)
    for (int64_t j = 0; j < columns; j++)
      for (int64_t k = 0; k < slices; k++)
        slab[((i - rows.begin) * columns + j) * slices + k] = i >= 256 && i <= 767 && j >= 256 && j <= 767;
}

static void
test_large (void)
{
  const int64_t n = 1024, slices = 2049;
  g_autoptr (GError) error = NULL;
  if (memory_available () < INT64_C (16) << 30) {
    g_test_skip ("needs 16 GB of free memory");
    return;
  }
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 2, slices, n);
  lam_geometry_set_angles (g, 0, G_PI); /* 0 and 90 degrees */
  g->recon_rows = g->recon_columns = n;
  g->recon_slices = slices;
  g->voxel_pitch = 1;
  g->mask = LAM_MASK_NONE;
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
  g_assert_no_error (error);
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  LamShards x, y;
  lam_plan_add_phase (plan, "all");
  lam_plan_add_buffer (plan, 0, "recon", lam_projector_volume_floats (p, 0) * 4, 0, 0);
  lam_plan_add_buffer (plan, 0, "sinogram", lam_projector_sino_floats (p, 0) * 4, 0, 0);
  lam_projector_plan (p, plan, 4096, 0, 0);
  lam_projector_open (p, plan, &error);
  g_assert_no_error (error);
  x.at[0] = lam_plan_take (plan, 0, "recon", &error);
  y.at[0] = lam_plan_take (plan, 0, "sinogram", &error);
  g_assert_no_error (error);
  g_assert_cmpint (n * n * slices, ==, INT64_C (2148532224));

  const int64_t step = 8;
  g_autofree float *slab = g_new (float, step *n *slices), *sino = g_new (float, 2 * slices * n);
  for (int64_t i = 0; i < n; i += step) {
    LamRange rows = {i, i + step};
    fill_rows (rows, n, slices, slab);
    if (rows.end == n)
      slab[step * n * slices - 1] = 7;
    lam_projector_put_rows (p, rows, slab, &x, &error);
    g_assert_no_error (error);
  }
  lam_projector_forward (p, &x, &y, &error);
  g_assert_no_error (error);
  lam_projector_get_sino (p, &y, sino, &error);
  g_assert_no_error (error);
  for (int64_t v = 0; v < 2; v++)
    for (int64_t m = 0; m < slices; m++)
      for (int64_t c = 0; c < n; c++) {
        double expected = c >= 256 && c <= 767 ? 512 : 0;
        if (m == slices - 1 && ((v == 0 && c == 1023) || (v == 1 && c == 0)))
          expected = 7;
        if (fabs (sino[(v * slices + m) * n + c] - expected) > 1e-4)
          g_error ("view %d, row %d, channel %d: %g, expected %g", (int) v, (int) m, (int) c,
                   sino[(v * slices + m) * n + c], expected);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sizes/S4-large", test_large);
  return g_test_run ();
}
