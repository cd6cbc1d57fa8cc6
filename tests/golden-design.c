#include "golden-design.h"

#include <math.h>
#include <string.h>

#include "mr-util.h"
#include "mr/crlb.h"
#include "mr/optimise.h"

static double
bound_of (hid_t group)
{
  return golden_attr_double (group, "tolerance_rel_float32");
}

/* max |a / b - 1| */
static double
ratio (const double *a, const double *b, int64_t n)
{
  double worst = 0;
  for (int64_t i = 0; i < n; i++)
    worst = fmax (worst, fabs (a[i] / b[i] - 1));
  return worst;
}

/* ---- bounds ---- */

static void
check_cpmg (hid_t group, const char *name, GoldenTally *tally)
{
  static const char *const by[] = {"T2", "M0", "M0_im", NULL};
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *re = golden_read_double (group, "jacobian_re", shape),
                    *im = golden_read_double (group, "jacobian_im", shape);
  int64_t atoms = shape[0], n = shape[1], samples = shape[2];
  g_autofree double *truth = golden_read_double (group, "variance", shape), *mine = g_new (double, atoms *n);
  double noise = golden_attr_double (group, "noise_std"), flip = golden_attr_double (group, "flip_deg");
  g_autoptr (GError) error = NULL;
  for (int64_t a = 0; a < atoms; a++) {
    lam_crlb_double ((int) n, samples, re + a * n * samples, im + a * n * samples, noise * noise, mine + a * n, &error);
    g_assert_no_error (error);
  }
  golden_tally_add (tally, "bounds of a Jacobian", name, ratio (mine, truth, atoms * n), bound_of (group));
  /* The same from the train itself, one playing. */
  LamProtocol *p = lam_protocol_new (lam_template_find ("FSE"));
  g_autoptr (LamModel) m = lam_model_new_for (p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  g_autofree double *flips = g_new (double, samples);
  for (int64_t i = 0; i < samples; i++)
    flips[i] = flip;
  lam_protocol_set (p, "flip", flips, (int) samples, &error);
  mr_set (p, "ESP", group, "ESP_ms");
  lam_protocol_set_value (p, "playings", 1, &error);
  LamJacobian j = {0};
  lam_model_jacobian (m, t, NULL, by, mr_devices (), NULL, &j, NULL, &error);
  g_assert_no_error (error);
  for (int64_t a = 0; a < atoms; a++)
    lam_crlb ((int) n, samples, j.re + a * n * samples, j.im ? j.im + a * n * samples : NULL, noise * noise, NULL,
              mine + a * n, &error);
  g_assert_no_error (error);
  golden_tally_add (tally, "bounds of a train", name, ratio (mine, truth, atoms * n), 10 * bound_of (group));
  lam_jacobian_clear (&j);
}

static void
check_mrf (hid_t group, const char *name, GoldenTally *tally)
{
  static const char *const by[] = {"T1", "T2", "M0", NULL};
  LamProtocol *p = lam_protocol_new (lam_template_find ("MRF"));
  g_autoptr (LamModel) m = lam_model_new_for (p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK], atoms = lam_tissues_voxels (t);
  g_autofree double *truth = golden_read_double (group, "variance", shape), *mine = g_new (double, 3 * atoms);
  double noise = golden_attr_double (group, "noise_std");
  LamJacobian j = {0};
  mr_set (p, "flip", group, "flip_deg");
  mr_set (p, "TR", group, "TR_ms");
  lam_model_set_orders (m, (int) golden_attr_int (group, "states"));
  lam_model_jacobian (m, t, NULL, by, mr_devices (), NULL, &j, NULL, &error);
  g_assert_no_error (error);
  for (int64_t a = 0; a < atoms; a++)
    lam_crlb (3, j.signal.samples, j.re + a * 3 * j.signal.samples, j.im ? j.im + a * 3 * j.signal.samples : NULL,
              noise * noise, NULL, mine + 3 * a, &error);
  g_assert_no_error (error);
  golden_tally_add (tally, "bounds of a train", name, ratio (mine, truth, 3 * atoms), bound_of (group));
  lam_jacobian_clear (&j);
}

/* ---- echo train: three controls shape the refocusing angles ---- */

typedef struct {
  LamModel *model;
  LamTissues *tissues;
  int n, centre;
  double budget;
} Echo;

static double
ramp (double i, double s0, double s1, double p, double q)
{
  double u = CLAMP ((i - s0) / fmax (s1 - s0, 1e-3), 0, 1);
  return p + (q - p) * u * u * (3 - 2 * u);
}

static void
shape_flips (const Echo *e, const double *c, double *flip)
{
  for (int i = 1; i <= e->n; i++)
    flip[i - 1] = i <= 5           ? ramp (i, 1, 5, c[2], c[0])
                  : i <= e->centre ? ramp (i, 5, e->centre, c[0], c[1])
                                   : ramp (i, e->centre, e->n, c[1], c[2]);
}

static double
power_of (const double *flip, int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += (flip[i] / 180) * (flip[i] / 180) / 1.8;
  return sum;
}

/* mean blur - 12 contrast, and its derivative by every flip (may be NULL). */
static double
echo_cost (const Echo *e, const double *flip, double *blur, double *contrast, double *by_flip)
{
  LamSignal s = {0};
  g_autoptr (GError) error = NULL;
  int n = e->n, programs, values;
  lam_model_set (e->model, "flip", flip, n, &error);
  g_assert_no_error (error);
  lam_model_simulate (e->model, e->tissues, NULL, mr_devices (), NULL, &s, &error);
  g_assert_no_error (error);
  int64_t voxels = s.voxels;
  g_autofree double *m = g_new (double, voxels *n), *d = g_new0 (double, voxels *n);
  *blur = 0;
  for (int64_t i = 0; i < voxels * n; i++)
    m[i] = hypot (s.re ? s.re[i] : 0, s.im ? s.im[i] : 0);
  for (int64_t v = 0; v < voxels; v++) {
    const double *x = m + v * n;
    double steps = 0, energy = 0;
    for (int i = 0; i < n; i++) {
      energy += x[i] * x[i];
      steps += i ? (x[i] - x[i - 1]) * (x[i] - x[i - 1]) : 0;
    }
    double b = n / (2 * G_PI) * sqrt (steps / energy);
    *blur += b / voxels;
    for (int i = 0; i < n; i++) {
      double ds = 2 * ((i ? x[i] - x[i - 1] : 0) - (i + 1 < n ? x[i + 1] - x[i] : 0)), de = 2 * x[i];
      d[v * n + i] = b / voxels / 2 * (ds / steps - de / energy);
    }
  }
  *contrast = m[2 * n + e->centre - 1] - m[e->centre - 1];
  d[2 * n + e->centre - 1] -= 12;
  d[e->centre - 1] += 12;
  if (by_flip) {
    LamProgram *const *p = lam_model_programs (e->model, &programs, &error);
    const LamProtocolEntry *entry = lam_sequence_entry (lam_program_sequence (p[0]), "flip");
    g_autofree float *re = g_new (float, voxels *n), *im = g_new (float, voxels *n);
    for (int64_t i = 0; i < voxels * n; i++) {
      re[i] = (float) (d[i] * (s.re ? s.re[i] : 0) / m[i]);
      im[i] = (float) (d[i] * (s.im ? s.im[i] : 0) / m[i]);
    }
    lam_program_values (p[0], &values);
    g_autofree double *g = g_new (double, values);
    lam_gradient (p[0], e->tissues, NULL, NULL, 0, re, im, mr_devices (), NULL, NULL, g, &error);
    g_assert_no_error (error);
    memcpy (by_flip, g + entry->first, n * sizeof *g);
  }
  lam_signal_clear (&s);
  return *blur - 12 * *contrast;
}

/* By the controls: of the shape, a difference (it is piecewise linear in them). */
static void
by_controls (const Echo *e, const double *c, const double *by_flip, double *gradient)
{
  g_autofree double *up = g_new (double, e->n), *down = g_new (double, e->n);
  for (int k = 0; k < 3; k++) {
    double a[3] = {c[0], c[1], c[2]}, b[3] = {c[0], c[1], c[2]};
    a[k] += 0.5;
    b[k] -= 0.5;
    shape_flips (e, a, up);
    shape_flips (e, b, down);
    gradient[k] = 0;
    for (int i = 0; i < e->n; i++)
      gradient[k] += by_flip[i] * (up[i] - down[i]);
  }
}

static double
control_cost (const double *c, double *gradient, void *data)
{
  Echo *e = data;
  g_autofree double *flip = g_new (double, e->n), *by = g_new (double, e->n);
  double blur, contrast;
  shape_flips (e, c, flip);
  double cost = echo_cost (e, flip, &blur, &contrast, gradient ? by : NULL);
  if (gradient)
    by_controls (e, c, by, gradient);
  return cost;
}

static double
control_limit (const double *c, double *gradient, void *data)
{
  Echo *e = data;
  g_autofree double *flip = g_new (double, e->n), *by = g_new (double, e->n);
  shape_flips (e, c, flip);
  for (int i = 0; i < e->n; i++)
    by[i] = 2 * flip[i] / (180 * 180 * 1.8) / e->budget;
  if (gradient)
    by_controls (e, c, by, gradient);
  return power_of (flip, e->n) / e->budget - 1;
}

static void
check_echo_train (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  LamProtocol *p = lam_protocol_new (lam_template_find ("FSE"));
  g_autoptr (LamModel) m = lam_model_new_for (p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  g_autoptr (GError) error = NULL;
  g_autofree double *flip = golden_read_double (group, "flip_deg", shape);
  int64_t points = shape[0];
  Echo e = {m, t, (int) shape[1], (int) golden_attr_int (group, "centre_echo"),
            golden_attr_double (group, "power_budget")};
  g_autofree double *point = golden_read_double (group, "point_deg", shape),
                    *cost = golden_read_double (group, "cost", shape),
                    *blur = golden_read_double (group, "blur_px", shape),
                    *contrast = golden_read_double (group, "contrast", shape),
                    *power = golden_read_double (group, "power_over_budget", shape),
                    *gradient = golden_read_double (group, "gradient_at_point1", shape),
                    *low = golden_read_double (group, "lower_deg", shape),
                    *high = golden_read_double (group, "upper_deg", shape),
                    *start = golden_read_double (group, "start_deg", shape);
  mr_set (p, "ESP", group, "ESP_ms");
  mr_set (p, "TR", group, "TR_ms");
  lam_protocol_set_value (p, "playings", 2, &error);
  lam_model_set_orders (m, (int) golden_attr_int (group, "states"));
  for (int64_t k = 0; k < points; k++) {
    g_autofree double *mine = g_new (double, e.n), *by = g_new (double, e.n);
    double b, c, g[3];
    shape_flips (&e, point + 3 * k, mine);
    golden_tally_add (tally, "echo train, shape", name, ratio (mine, flip + k * e.n, e.n), 1e-6);
    double value = echo_cost (&e, mine, &b, &c, by) + 20 * fmax (power_of (mine, e.n) / e.budget - 1, 0);
    golden_tally_add (tally, "echo train, cost", name, fabs (value / cost[k] - 1), bound_of (group));
    golden_tally_add (tally, "echo train, blur and contrast", name,
                      fmax (fabs (b / blur[k] - 1), fabs (c / contrast[k] - 1)), bound_of (group));
    golden_tally_add (tally, "echo train, power", name, fabs (power_of (mine, e.n) / e.budget / power[k] - 1), 1e-6);
    if (k == 1) {
      by_controls (&e, point + 3, by, g);
      golden_tally_add (tally, "echo train, gradient", name, golden_relative_double (g, gradient, 3),
                        10 * bound_of (group));
    }
  }
  double x[3] = {start[0], start[1], start[2]}, best;
  int evaluations;
  LamOptimisation o = {.n = 3, .low = low, .high = high, .cost = control_cost, .limit = control_limit, .data = &e};
  lam_optimise (&o, x, &best, &evaluations, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %.6f at %.2f %.2f %.2f after %d evaluations", name, best, x[0], x[1], x[2], evaluations);
  golden_tally_add (tally, "echo train, optimum (above the reference)", name,
                    fmax (best / golden_attr_double (group, "optimum_cost") - 1, 0), 1e-3);
}

/* ---- joint relaxometry: closed forms ---- */

typedef struct {
  LamProtocol *spgr, *bssfp;
  LamTissues *tissues;
  double noise;
} Joint;

/* T1, T2, M0, B0 of both kinds of sample together; SPGR knows no T2. */
static double
joint_cost (const double *x, double *gradient, void *data)
{
  static const char *const by[] = {"T1", "T2", "M0", "B0"};
  Joint *j = data;
  double cost = 0, *variance = gradient; /* the test reads the variances where NLopt would have a gradient */
  lam_protocol_set (j->spgr, "flip", x, 4, NULL);
  lam_protocol_set (j->bssfp, "flip", x + 4, 4, NULL);
  for (int v = 0; v < 2; v++) {
    double re[4 * 8], im[4 * 8], y[16], v4[4];
    for (int k = 0; k < 4; k++) {
      lam_template_closed (j->spgr, j->tissues, v, by[k], NULL, 0, y, y + 4, re + k * 8, im + k * 8);
      lam_template_closed (j->bssfp, j->tissues, v, by[k], NULL, 0, y, y + 4, re + k * 8 + 4, im + k * 8 + 4);
    }
    if (!lam_crlb_double (4, 8, re, im, j->noise * j->noise, v4, NULL))
      return NAN;
    double t1 = lam_tissues_named_at (j->tissues, "T1", v), t2 = lam_tissues_named_at (j->tissues, "T2", v);
    cost += (v4[0] / (t1 * t1) + v4[1] / (t2 * t2)) / 2;
    if (variance)
      memcpy (variance + 4 * v, v4, sizeof v4);
  }
  return log (cost);
}

static double
joint_with_gradient (const double *x, double *gradient, void *data)
{
  for (int i = 0; gradient && i < 8; i++) {
    double up[8], down[8], h = 1e-4;
    memcpy (up, x, sizeof up);
    memcpy (down, x, sizeof down);
    up[i] += h;
    down[i] -= h;
    gradient[i] = (joint_cost (up, NULL, data) - joint_cost (down, NULL, data)) / (2 * h);
  }
  return joint_cost (x, NULL, data);
}

static void
check_joint (hid_t group, const char *name, GoldenTally *tally)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autoptr (LamProtocol) spgr = lam_protocol_new (lam_template_find ("SPGR")),
                          bssfp = lam_protocol_new (lam_template_find ("bSSFP"));
  g_autoptr (LamTissues) t = mr_tissues (group);
  g_autoptr (GError) error = NULL;
  g_autofree double *start = golden_read_double (group, "start_deg", shape),
                    *optimum = golden_read_double (group, "optimum_deg", shape),
                    *at_start = golden_read_double (group, "variance_start", shape),
                    *at_optimum = golden_read_double (group, "variance_optimum", shape);
  /* The spoiled echoes decay as the others do, and are not told to. */
  int64_t voxels;
  const double *t2 = lam_tissues_get (t, "T2", &voxels);
  lam_tissues_set (t, "T2star", t2, voxels, &error);
  lam_protocol_set_value (spgr, "TR", 6, &error);
  lam_protocol_set_value (spgr, "TE", 2, &error);
  lam_protocol_set_value (bssfp, "TR", 5, &error);
  lam_protocol_set_value (bssfp, "TE", 2.5, &error);
  Joint j = {spgr, bssfp, t, golden_attr_double (group, "noise_std")};
  double variance[8], low[8], high[8], best;
  for (int i = 0; i < 8; i++) {
    low[i] = 1;
    high[i] = i < 4 ? 40 : 70;
  }
  double cost = joint_cost (start, variance, &j);
  golden_tally_add (tally, "joint relaxometry", name, fabs (cost - golden_attr_double (group, "start_cost")),
                    bound_of (group));
  golden_tally_add (tally, "joint relaxometry, bounds", name, ratio (variance, at_start, 8), bound_of (group));
  cost = joint_cost (optimum, variance, &j);
  golden_tally_add (tally, "joint relaxometry", name, fabs (cost - golden_attr_double (group, "optimum_cost")),
                    bound_of (group));
  golden_tally_add (tally, "joint relaxometry, bounds", name, ratio (variance, at_optimum, 8), bound_of (group));
  LamOptimisation o = {.n = 8, .low = low, .high = high, .cost = joint_with_gradient, .data = &j};
  g_autofree double *x = g_memdup2 (start, 8 * sizeof *start);
  lam_optimise (&o, x, &best, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %.6f", name, best);
  golden_tally_add (tally, "joint relaxometry, optimum (above the reference)", name,
                    fmax (best - golden_attr_double (group, "optimum_cost"), 0), 5 * bound_of (group));
}

static void
check_design (hid_t group, const char *name, gpointer tally)
{
  if (golden_has (group, "jacobian_re"))
    check_cpmg (group, name, tally);
  else if (golden_has (group, "point_deg"))
    check_echo_train (group, name, tally);
  else if (golden_has (group, "optimum_deg"))
    check_joint (group, name, tally);
  else
    check_mrf (group, name, tally);
}

void
golden_design_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "design", check_design, tally);
}
