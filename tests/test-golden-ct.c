/* test-golden-ct.c: every group of every ct*.h5 in $LAMINA_GOLDEN_DIR. Numbers come from the files alone. */
#include <math.h>
#include <string.h>

#include "ct-run.h"
#include "golden-tools.h"
#include "golden.h"

/* Bounds of the golden README: arrays by relative 2-norm against the double, an iteration's numbers by ratio. */
#define BOUND 1e-5
#define BOUND_SCALAR 1e-4

static int not_built;

static LamGeometry *
geometry_or_count (hid_t group, const char *name)
{
  LamGeometry *g = golden_geometry (group);
  if (!g) {
    g_test_message ("%s: this geometry is not built", name);
    not_built++;
  }
  return g;
}

static void
check_array (hid_t group, const char *name, const char *dataset, const char *kind, const float *ours,
             GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree char *where = g_strdup_printf ("%s/%s", name, dataset);
  g_autofree double *truth = golden_read_double (group, dataset, shape);
  golden_tally_add (tally, kind, where, golden_relative_float (ours, truth, golden_count (shape)), BOUND);
}

static void
projector_case (hid_t group, const char *name, gpointer data)
{
  GoldenTally *tally = data;
  g_autoptr (LamGeometry) g = geometry_or_count (group, name);
  if (!g)
    return;
  static const char *const devices[] = {"cpu", "3xcpu"};
  g_autofree float *volume = golden_read_float (group, "volume", NULL),
                   *sino = golden_read_float (group, "sinogram", NULL);
  g_autofree float *weights = golden_read_float (group, "weights", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (CtRun) run = ct_run_new (g, devices[i]);
    g_autofree float *forward = ct_run_forward (run, volume);
    check_array (group, name, "forward_double", "projector forward", forward, tally);
    g_autofree float *back = ct_run_back (run, sino, FALSE, FALSE);
    check_array (group, name, "back_double", "projector back", back, tally);
    g_autofree float *hessian = ct_run_back (run, weights, TRUE, TRUE);
    check_array (group, name, "hessian_double", "projector hessian", hessian, tally);
    if (golden_has (group, "filtered_double")) {
      g_autofree float *filtered = ct_run_filtered (run, sino);
      check_array (group, name, "filtered_double", "projector filtered", filtered, tally);
      g_autofree float *direct = ct_run_direct (run, sino);
      check_array (group, name, "direct_double", "projector direct", direct, tally);
    }
  }
}

static void
check_numbers (hid_t group, const char *name, const char *dataset, const double *ours, int64_t n, int64_t stride,
               int64_t offset, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree char *where = g_strdup_printf ("%s/%s", name, dataset);
  g_autofree double *truth = golden_read_double (group, dataset, shape);
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < n; i++)
    largest = fmax (largest, fabs (truth[offset + i]));
  for (int64_t i = 0; i < n; i++) {
    double scale = stride ? largest : fabs (truth[offset + i]); /* a row of slices by its largest; a scalar by itself */
    double ratio = fabs (ours[i] - truth[offset + i]) / fmax (scale, 1e-12);
    worst = ratio <= worst ? worst : ratio; /* a NaN is kept */
  }
  golden_tally_add (tally, "vcd per-iteration numbers", where, worst, BOUND_SCALAR);
}

static void
vcd_case (hid_t group, const char *name, gpointer data)
{
  GoldenTally *tally = data;
  g_autoptr (LamGeometry) g = geometry_or_count (group, name);
  g_autoptr (GError) error = NULL;
  if (!g)
    return;
  LamVcdParams params;
  double b[3];
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree char *damped = golden_attr_string (group, "slice_damping");
  g_assert_cmpint (golden_attr_doubles (group, "neighbour_weights_row_column_slice", b, 3), ==, 3);
  lam_vcd_params_default (&params);
  params.sigma_y = golden_attr_double (group, "sigma_y");
  params.prior =
      lam_prior_params (golden_attr_double (group, "p"), golden_attr_double (group, "q"),
                        golden_attr_double (group, "T"), golden_attr_double (group, "sigma_x"), b[0], b[1], b[2]);
  params.iterations = golden_attr_int (group, "iterations");
  params.max_step = golden_attr_double (group, "largest_step");
  params.positivity = golden_attr_int (group, "positivity") != 0;
  params.damping = g_str_equal (damped, "yes");
  gboolean scaled = golden_attr_int (group, "scale_initial_image") != 0;
  g_autofree float *sino = golden_read_float (group, "sinogram", NULL),
                   *start = golden_read_float (group, "initial_image", NULL);
  g_autofree float *weights = golden_has (group, "weights") ? golden_read_float (group, "weights", NULL) : NULL;

  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
  g_assert_no_error (error);
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  g_autoptr (LamVcd) vcd = lam_vcd_new (p, &params, weights != NULL, LAM_START_SCALED, plan, &error);
  g_assert_no_error (error);
  lam_vcd_open (vcd, &error);
  g_assert_no_error (error);
  lam_projector_put_sino (p, sino, &vcd->error, &error);
  if (weights)
    lam_projector_put_sino (p, weights, &vcd->weights, &error);
  lam_projector_put_volume (p, start, &vcd->volume, &error);
  lam_vcd_start (vcd, scaled ? LAM_START_SCALED : LAM_START_VOLUME, &error);
  g_assert_no_error (error);
  if (scaled)
    golden_tally_add (tally, "vcd initial scale", name,
                      fabs (vcd->initial_scale / golden_attr_double (group, "initial_scale_double") - 1), BOUND);
  g_autofree double *forward = g_new0 (double, params.iterations), *change = g_new0 (double, params.iterations);
  g_autofree double *step = g_new0 (double, params.iterations), *prior = g_new0 (double, params.iterations);
  g_autofree float *image = g_new (float, p->pixels * p->g.slices);
  for (int64_t i = 0; i < params.iterations; i++) {
    g_autofree char *dataset = g_strdup_printf ("subsets/iteration_%02d", (int) i);
    g_autofree int32_t *pixel = golden_read_int32 (group, dataset, shape);
    g_autofree int64_t *begin = g_new (int64_t, shape[0] + 1);
    LamVcdStats stats;
    for (int64_t s = 0; s <= shape[0]; s++)
      begin[s] = s * shape[1];
    lam_vcd_iterate_given (vcd, pixel, begin, shape[0], &stats, &error);
    g_assert_no_error (error);
    forward[i] = stats.data_cost;
    change[i] = stats.change;
    step[i] = stats.mean_step;
    prior[i] = stats.prior_cost;
    check_numbers (group, name, "update_norm_per_slice_double", stats.update_norms, p->g.slices, 1, i * p->g.slices,
                   tally);
    if (i == 0) {
      lam_projector_get_volume (p, &vcd->volume, image, &error);
      check_array (group, name, "recon_double_after_first_iteration", "vcd recon, first iteration", image, tally);
    }
  }
  lam_projector_get_volume (p, &vcd->volume, image, &error);
  g_assert_no_error (error);
  check_array (group, name, "recon_double", "vcd recon", image, tally);
  check_numbers (group, name, "forward_cost_double", forward, params.iterations, 0, 0, tally);
  check_numbers (group, name, "nmae_change_double", change, params.iterations, 0, 0, tally);
  check_numbers (group, name, "mean_step_double", step, params.iterations, 0, 0, tally);
  check_numbers (group, name, "prior_cost_per_voxel_double", prior, params.iterations, 0, 0, tally);
}

static void
prior_case (hid_t group, const char *name, gpointer data)
{
  GoldenTally *tally = data;
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK];
  double b[3];
  g_assert_cmpint (golden_attr_doubles (group, "neighbour_weights_row_column_slice", b, 3), ==, 3);
  LamPriorParams params =
      lam_prior_params (golden_attr_double (group, "p"), golden_attr_double (group, "q"),
                        golden_attr_double (group, "T"), golden_attr_double (group, "sigma_x"), b[0], b[1], b[2]);
  g_autofree float *image = golden_read_float (group, "image", shape);
  g_autoptr (LamGeometry) g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, 1, shape[2], shape[1]);
  g->recon_rows = shape[0];
  g->recon_columns = shape[1];
  g->recon_slices = shape[2];
  g->voxel_pitch = 1;
  g->mask = LAM_MASK_NONE;
  for (int devices = 1; devices <= 3; devices += 2) {
    g_autofree char *spec = g_strdup_printf ("%dxcpu", devices);
    g_autoptr (LamDevices) set = lam_devices_new (spec, &error);
    g_autoptr (LamProjector) p = lam_projector_new (g, set, &error);
    g_assert_no_error (error);
    g_autoptr (LamPlan) plan = lam_plan_new (set);
    LamHalos halos;
    LamShards volume, out, hp;
    LamVolumeSums sums;
    lam_plan_add_phase (plan, "all");
    for (int d = 0; d < devices; d++) {
      int64_t bytes = lam_projector_volume_floats (p, d) * 4;
      lam_plan_add_buffer (plan, d, "volume", bytes, 0, 0);
      lam_plan_add_buffer (plan, d, "gradient", bytes, 0, 0);
      lam_plan_add_buffer (plan, d, "hessian", bytes, 0, 0);
    }
    lam_halos_plan (p, plan, 0, 0);
    lam_volume_sums_plan (p, plan, 0, 0);
    p->plan = plan;
    lam_halos_open (p, plan, &halos, &error);
    for (int d = 0; d < devices; d++) {
      volume.at[d] = lam_plan_take (plan, d, "volume", &error);
      out.at[d] = lam_plan_take (plan, d, "gradient", &error);
      hp.at[d] = lam_plan_take (plan, d, "hessian", &error);
    }
    g_assert_no_error (error);
    lam_projector_put_volume (p, image, &volume, &error);
    lam_halos_exchange (p, &volume, &halos, NULL, 0, NULL, NULL, &error);
    g_assert_no_error (error);
    g_autofree int32_t *all = g_new (int32_t, p->pixels);
    for (int64_t i = 0; i < p->pixels; i++)
      all[i] = (int32_t) i;
    for (int d = 0; d < devices; d++)
      lam_prior_list (p, &params, d, &volume, &halos, all, p->pixels, 0, p->pixels, out.at[d], hp.at[d]);
    g_autofree float *host = g_new (float, golden_count (shape));
    lam_projector_get_volume (p, &out, host, &error);
    check_array (group, name, "gradient_double", "prior gradient", host, tally);
    lam_projector_get_volume (p, &hp, host, &error);
    check_array (group, name, "hessian_double", "prior hessian", host, tally);
    lam_volume_sums (p, &params, &volume, &halos, &sums, &error);
    g_assert_no_error (error);
    golden_tally_add (tally, "prior cost", name, fabs (sums.prior_cost / golden_attr_double (group, "cost_double") - 1),
                      BOUND);
  }
}

static void
ramp_case (hid_t file, GoldenTally *tally)
{
  if (!golden_has (file, "tools/ramp/taps"))
    return;
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *truth = golden_read_double (file, "tools/ramp/taps", shape);
  int64_t channels = (shape[0] + 1) / 2;
  g_autofree double *taps = g_new (double, channels), *all = g_new (double, shape[0]);
  lam_ramp_taps (channels, taps);
  for (int64_t i = 0; i < shape[0]; i++)
    all[i] = taps[ABS (i - (channels - 1))];
  golden_tally_add (tally, "tools ramp", "ramp", golden_relative_double (all, truth, shape[0]), 1e-4);
}

typedef void (*Check) (hid_t file, GoldenTally *tally);

static void
check_projector (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "projector", projector_case, tally);
}

static void
check_vcd (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "vcd", vcd_case, tally);
}

static void
check_prior (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "prior", prior_case, tally);
}

typedef struct {
  Check check;
  GoldenTally *tally;
} Subject;

static void
run_file (hid_t file, gpointer data)
{
  Subject *s = data;
  s->check (file, s->tally);
}

static void
test_subject (gconstpointer data)
{
  g_autoptr (GoldenTally) tally = golden_tally_new ();
  Subject s = {(Check) data, tally};
  not_built = 0;
  if (!golden_each_file ("ct", run_file, &s))
    return;
  golden_tally_print (tally);
  if (not_built)
    g_test_message ("%d cases of geometries that are not built", not_built);
}

static void
count_kind (hid_t group, const char *name, gpointer data)
{
  ++*(int *) data;
}

static void
report_kinds (hid_t file, gpointer data)
{
  static const char *const kinds[] = {"prox", "denoiser"};
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    int n = 0;
    golden_each_group (file, kinds[i], count_kind, &n);
    g_test_message ("%s: %d cases, not built", kinds[i], n);
  }
}

static void
test_not_built (void)
{
  golden_each_file ("ct", report_kinds, NULL);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    Check check;
  } subjects[] = {
      {"/golden/ct/projector", check_projector},
      {"/golden/ct/prior", check_prior},
      {"/golden/ct/vcd", check_vcd},
      {"/golden/ct/auto-geometry", golden_auto_geometry},
      {"/golden/ct/auto-regularization", golden_auto_regularization},
      {"/golden/ct/phantom", golden_phantom},
      {"/golden/ct/tools", golden_tools},
      {"/golden/ct/ramp", ramp_case},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    g_test_add_data_func (subjects[i].path, subjects[i].check, test_subject);
  g_test_add_func ("/golden/ct/not-built", test_not_built);
  return g_test_run ();
}
