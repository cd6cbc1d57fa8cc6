/* test-footprint: the projectors against the formula itself (spec (2.1), 3.1 to 3.3), written out in double: narrow detectors,
 * axes far to the side, few slices and many, wide and narrow voxels, on every instruction set of this machine. */
#include <math.h>

#include "core/cpu-features.h"
#include "ct-run.h"

static double
footprint (const LamGeometry *g, double c, double s, int64_t row, int64_t column, int64_t channel)
{
  double dx = g->voxel_pitch, dy = dx * g->row_aspect;
  double x = dx * ((double) column - (double) (g->recon_columns - 1) / 2),
         y = dy * ((double) row - (double) (g->recon_rows - 1) / 2);
  double q = (x * c - y * s + g->channel_offset) / g->channel_pitch + (double) (g->channels - 1) / 2;
  double f = fmax (dx * fabs (c), dy * fabs (s)), w = f / g->channel_pitch;
  return dx * dy / f * fmin (fmax ((w + 1) / 2 - fabs (q - (double) channel), 0), fmin (1, w));
}

/* The largest difference over the largest value. */
static double
worst (LamGeometry *g, double offset, const LamKernels *kernels, gboolean square)
{
  g->channel_offset = 0;
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  run->p->kernels = kernels;
  g->channel_offset = offset; /* as the hand moves it: further than any file may say */
  lam_projector_set_offset (run->p, offset);
  int64_t n = ct_run_sino_size (run), pixels = g->recon_rows * g->recon_columns, slices = g->recon_slices;
  g_autofree float *sino = ct_random (n, 7), *volume = ct_random (pixels * slices, 8);
  g_autofree float *back = ct_run_back (run, sino, TRUE, square),
                   *forward = square ? NULL : ct_run_forward (run, volume);
  g_autofree double *made = g_new0 (double, n);
  double off = 0, most = 0, forward_off = 0, forward_most = 0;
  g_autofree double *h = g_new (double, g->views * g->channels);
  for (int64_t p = 0; p < pixels; p++) {
    for (int64_t v = 0; v < g->views; v++)
      for (int64_t c = 0; c < g->channels; c++)
        h[v * g->channels + c] =
            footprint (g, cos (g->angles[v]), sin (g->angles[v]), p / g->recon_columns, p % g->recon_columns, c);
    for (int64_t k = 0; k < slices; k++) {
      double sum = 0;
      for (int64_t v = 0; v < g->views; v++)
        for (int64_t c = 0; c < g->channels; c++) {
          double a = h[v * g->channels + c];
          int64_t at = (v * g->rows + k) * g->channels + c;
          sum += (square ? a * a : a) * sino[at];
          made[at] += a * volume[p * slices + k];
        }
      off = fmax (off, fabs (sum - back[p * slices + k]));
      most = fmax (most, fabs (sum));
    }
  }
  for (int64_t i = 0; forward && i < n; i++) {
    forward_off = fmax (forward_off, fabs (made[i] - forward[i]));
    forward_most = fmax (forward_most, fabs (made[i]));
  }
  g_assert_cmpfloat (most == 0 ? off : 0, ==, 0); /* beside the detector: nothing at all */
  return fmax (most > 0 ? off / most : 0, forward_most > 0 ? forward_off / forward_most : 0);
}

static void
formula (gconstpointer data)
{
  const LamKernels *kernels = data;
  const int channels[] = {2, 3, 15, 17, 33, 40}, slices[] = {1, 3, 8, 9, 19};
  const double offsets[] = {0, 0.37, 0.7, -1.1, 20, -1e5, 4e5}; /* the first four of the detector's width */
  double most = 0;
  for (int c = 0; c < (int) G_N_ELEMENTS (channels); c++)
    for (int k = 0; k < (int) G_N_ELEMENTS (slices); k++)
      for (int o = 0; o < (int) G_N_ELEMENTS (offsets); o++) {
        g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 9, slices[k], channels[c]);
        lam_geometry_set_angles (g, 0.1, 2.9);
        g->channel_pitch = 0.8;
        g->row_pitch = 0.8;
        double offset = offsets[o] * (fabs (offsets[o]) < 2 ? g->channel_pitch * channels[c] : 1);
        g->voxel_pitch = 0.7;
        g->row_aspect = 1.1;
        g->recon_rows = 13 + k;
        g->recon_columns = 21;
        g->recon_slices = slices[k];
        g->mask = LAM_MASK_NONE;
        for (int square = 0; square < 2; square++)
          most = fmax (most, worst (g, offset, kernels, square));
      }
  g_test_message ("worst error %.3g", most);
  g_assert_cmpfloat (most, <, 2e-6);
}

/* -- cone beam -- */

static double
clip (double q, double w, int64_t n)
{
  return fmin (fmax ((w + 1) / 2 - fabs (q - (double) n), 0), fmin (1, w));
}

/* What one voxel is in one view: its coefficient at (row, channel) is scale x clip (row) x clip (channel). */
typedef struct {
  double q, w, row, row_w, scale;
} Shadow;

static Shadow
shadow (const LamGeometry *g, int64_t view, int64_t pixel, int64_t slice)
{
  double c = cos (g->angles[view]), s = sin (g->angles[view]), d = g->source_detector;
  double dx = g->voxel_pitch, dy = dx * g->row_aspect, dz = dx * g->slice_aspect;
  double px = dx * ((double) (pixel % g->recon_columns) - (double) (g->recon_columns - 1) / 2),
         py = dy * ((double) (pixel / g->recon_columns) - (double) (g->recon_rows - 1) / 2);
  double x = px * c - py * s, y = px * s + py * c, m = d / (g->source_axis - y), gamma = atan (m * x / d);
  double z =
      dz * ((double) slice - (double) (g->recon_slices - 1) / 2) + g->slice_offset - (g->shifts ? g->shifts[view] : 0);
  double f = fmax (dx * fabs (cos (gamma - g->angles[view])), dy * fabs (sin (gamma - g->angles[view])));
  gboolean curved = g->detector == LAM_DETECTOR_CURVED;
  double u = curved ? d * gamma : m * x, flat = m * f / cos (gamma);
  Shadow h = {.q = (u + g->channel_offset) / g->channel_pitch + (double) (g->channels - 1) / 2,
              .w = (curved ? flat * cos (gamma) : flat) / g->channel_pitch,
              .row = (m * z + g->row_offset) / g->row_pitch + (double) (g->rows - 1) / 2,
              .row_w = m * dz / g->row_pitch,
              .scale = dx * dy / f * hypot (1, m * z / d)};
  return h;
}

static double
worst_cone (const LamGeometry *g, const LamKernels *kernels, gboolean square)
{
  g_autoptr (CtRun) run = ct_run_new (g, "cpu");
  run->p->kernels = kernels;
  int64_t n = ct_run_sino_size (run), pixels = g->recon_rows * g->recon_columns, slices = g->recon_slices;
  g_autofree float *sino = ct_random (n, 7), *volume = ct_random (pixels * slices, 8);
  g_autofree float *back = ct_run_back (run, sino, TRUE, square),
                   *forward = square ? NULL : ct_run_forward (run, volume);
  g_autofree double *made = g_new0 (double, n);
  double off = 0, most = 0, forward_off = 0, forward_most = 0;
  for (int64_t i = 0; i < pixels * slices; i++) {
    double sum = 0;
    for (int64_t v = 0; v < g->views; v++) {
      Shadow h = shadow (g, v, i / slices, i % slices);
      for (int64_t r = 0; r < g->rows; r++)
        for (int64_t c = 0; clip (h.row, h.row_w, r) > 0 && c < g->channels; c++) {
          double a = h.scale * clip (h.row, h.row_w, r) * clip (h.q, h.w, c);
          int64_t at = (v * g->rows + r) * g->channels + c;
          sum += (square ? a * a : a) * sino[at];
          made[at] += a * volume[i];
        }
    }
    off = fmax (off, fabs (sum - back[i]));
    most = fmax (most, fabs (sum));
  }
  for (int64_t i = 0; forward && i < n; i++) {
    forward_off = fmax (forward_off, fabs (made[i] - forward[i]));
    forward_most = fmax (forward_most, fabs (made[i]));
  }
  return fmax (most > 0 ? off / most : off, forward_most > 0 ? forward_off / forward_most : forward_off);
}

static void
cone_formula (gconstpointer data)
{
  const LamKernels *kernels = data;
  const int channels[] = {1, 15, 64, 90}, rows[] = {1, 5, 21}, slices[] = {1, 2, 19};
  const double pitches[] = {0.3, 0.75, 1.6, 4.5}; /* voxels: footprints of less than one channel to eight */
  double most = 0;
  for (int c = 0; c < (int) G_N_ELEMENTS (channels); c++)
    for (int r = 0; r < (int) G_N_ELEMENTS (rows); r++)
      for (int k = 0; k < (int) G_N_ELEMENTS (slices); k++)
        for (int w = 0; w < (int) G_N_ELEMENTS (pitches); w++) {
          g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_CONE, 5, rows[r], channels[c]);
          lam_geometry_set_angles (g, 0.1, 5.9);
          g->source_axis = 160;
          g->source_detector = 250;
          g->row_pitch = 1.1;
          g->channel_offset = w == 1 ? 0.4 * channels[c] : 1.3;
          g->row_offset = -0.4;
          g->slice_offset = 0.7;
          g->voxel_pitch = pitches[w];
          g->row_aspect = 1.1;
          g->slice_aspect = w == 2 ? 2.5 : 0.9;
          g->recon_rows = 13 + k;
          g->recon_columns = 21;
          g->recon_slices = slices[k];
          g->mask = LAM_MASK_NONE;
          if (c == 2)
            g->detector = LAM_DETECTOR_CURVED;
          if (r == 1) {
            g->shifts = g_new (double, g->views);
            for (int64_t v = 0; v < g->views; v++)
              g->shifts[v] = 0.6 * (double) (v - 2);
          }
          for (int square = 0; square < 2; square++)
            most = fmax (most, worst_cone (g, kernels, square));
        }
  g_test_message ("worst error %.3g", most);
  g_assert_cmpfloat (most, <, 2e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/footprint/scalar", &lam_kernels_scalar, formula);
  g_test_add_data_func ("/footprint/cone/scalar", &lam_kernels_scalar, cone_formula);
  if (lam_isa_available (LAM_ISA_AVX2)) {
    g_test_add_data_func ("/footprint/avx2", &lam_kernels_avx2, formula);
    g_test_add_data_func ("/footprint/cone/avx2", &lam_kernels_avx2, cone_formula);
  }
  if (lam_isa_available (LAM_ISA_AVX512)) {
    g_test_add_data_func ("/footprint/avx512", &lam_kernels_avx512, formula);
    g_test_add_data_func ("/footprint/cone/avx512", &lam_kernels_avx512, cone_formula);
  }
  return g_test_run ();
}
