#include "mr/design.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "mr/crlb.h"

/* ---- objectives ---- */

static LamProgram *
program_of (LamModel *model, GError **error)
{
  int n;
  LamProgram *const *p = lam_model_programs (model, &n, error);
  if (!p && (!error || !*error))
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "a closed form has no events to design");
  return p ? p[0] : NULL;
}

/* Reverse mode with cotangents [voxels][samples]; adds @scale times the derivatives. */
static gboolean
add_gradient (LamModel *model, const LamTissues *tissues, const float *re, const float *im, double scale,
              LamDevices *devices, double *gradient, GError **error)
{
  int n;
  LamProgram *p = program_of (model, error);
  if (!p)
    return FALSE;
  lam_program_values (p, &n);
  g_autofree double *g = g_new (double, MAX (n, 1));
  if (!lam_gradient (p, tissues, NULL, NULL, 0, re, im, devices, NULL, NULL, g, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    gradient[i] += scale * g[i];
  return TRUE;
}

/* Magnitudes: cotangent of |s| is s / |s|. */
static gboolean
magnitude (LamModel *model, const LamTissues *tissues, const LamDesign *d, LamDevices *devices, double *cost,
           double *gradient, GError **error)
{
  LamSignal s = {0};
  gboolean contrast = d->objective == LAM_OBJECTIVE_CONTRAST, ok;
  if (contrast && lam_tissues_voxels (tissues) < 2) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a contrast needs two tissues");
    return FALSE;
  }
  if (!lam_model_simulate (model, tissues, NULL, devices, NULL, &s, error))
    return FALSE;
  int64_t n = s.voxels * s.samples;
  double each = 1.0 / (double) (contrast ? s.samples : MAX (n, 1));
  g_autofree float *re = g_new0 (float, MAX (n, 1)), *im = g_new0 (float, MAX (n, 1));
  *cost = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t voxel = i / s.samples;
    double a = s.re ? s.re[i] : 0, b = s.im ? s.im[i] : 0, m = hypot (a, b);
    double sign = !contrast ? -1 : voxel == 0 ? 1 : voxel == 1 ? -1 : 0;
    *cost += sign * each * m;
    if (m > 0) {
      re[i] = (float) (sign * each * a / m);
      im[i] = (float) (sign * each * b / m);
    }
  }
  ok = !gradient || add_gradient (model, tissues, re, im, 1, devices, gradient, error);
  lam_signal_clear (&s);
  return ok;
}

/* d (sum of weights . diag F^-1)^... / d J: for one voxel, c = sum over counted p of sd_p / value_p. With V = F^-1 / variance
 * and d V = -V dF V, dF = dJ J^T + J dJ^T:  d sd_p = -(variance / sd_p) (V_p. J) . (V_p. dJ). */
static void
cotangents (int n, int64_t samples, const double *re, const double *im, const double *covariance, double variance,
            const double *weight, double *c_re, double *c_im)
{
  memset (c_re, 0, n * samples * sizeof *c_re);
  memset (c_im, 0, n * samples * sizeof *c_im);
  for (int p = 0; p < n; p++) {
    if (weight[p] == 0)
      continue;
    double sd = sqrt (covariance[p * n + p]);
    for (int64_t s = 0; s < samples; s++) {
      double a = 0, b = 0; /* (V J)_p at sample s, V = covariance / variance */
      for (int k = 0; k < n; k++) {
        a += covariance[p * n + k] / variance * re[k * samples + s];
        b += covariance[p * n + k] / variance * im[k * samples + s];
      }
      for (int q = 0; q < n; q++) {
        double f = -weight[p] * variance / sd * covariance[p * n + q] / variance;
        c_re[q * samples + s] += f * a;
        c_im[q * samples + s] += f * b;
      }
    }
  }
}

static gboolean
is_counted (const LamDesign *d, const char *name)
{
  for (int i = 0; d->counted && d->counted[i]; i++)
    if (strcmp (d->counted[i], name) == 0)
      return TRUE;
  return d->counted == NULL;
}

/* The derivative of a row of the Jacobian, contracted with its cotangent: of M0 it is the signal's own; of others a
 * central difference of the reverse gradient over the quantity. */
static gboolean
add_row (LamModel *model, const LamTissues *tissues, const char *name, const float *re, const float *im,
         LamDevices *devices, double *gradient, GError **error)
{
  int64_t voxels = lam_tissues_voxels (tissues);
  for (int side = -1; side <= 1; side += 2) {
    g_autoptr (LamTissues) moved = lam_tissues_new (voxels);
    double h = 0;
    for (const char *const *q = lam_tissues_names (tissues); *q; q++) {
      int64_t n;
      const double *values = lam_tissues_get (tissues, *q, &n);
      if (!lam_tissues_set (moved, *q, values, n, error))
        return FALSE;
    }
    /* One step for all voxels, so that their sum is one difference. */
    for (int64_t v = 0; v < voxels; v++)
      h = v == 0 ? fabs (lam_tissues_named_at (tissues, name, v))
                 : fmin (h, fabs (lam_tissues_named_at (tissues, name, v)));
    h = fmax (h * 0.02, 1e-3);
    g_autofree double *values = g_new (double, voxels);
    for (int64_t v = 0; v < voxels; v++)
      values[v] = lam_tissues_named_at (tissues, name, v) + side * h;
    if (!lam_tissues_set (moved, name, values, voxels, error)
        || !add_gradient (model, moved, re, im, side / (2 * h), devices, gradient, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
bound (LamModel *model, const LamTissues *tissues, const LamDesign *d, LamDevices *devices, double *cost,
       double *gradient, GError **error)
{
  LamJacobian j = {0};
  double variance = d->noise * d->noise;
  if (!lam_model_jacobian (model, tissues, NULL, d->quantities, devices, NULL, &j, NULL, error))
    return FALSE;
  int n = j.n;
  int64_t samples = j.signal.samples, voxels = j.signal.voxels;
  g_autofree double *re = g_new (double, n *samples), *im = g_new (double, n *samples),
                    *covariance = g_new (double, n *n), *weight = g_new0 (double, n),
                    *c_re = g_new (double, n *samples), *c_im = g_new (double, n *samples);
  g_autofree float *rows_re = g_new0 (float, n *voxels *samples), *rows_im = g_new0 (float, n *voxels *samples);
  int counted = 0;
  gboolean ok = TRUE;
  for (int k = 0; k < n; k++)
    counted += is_counted (d, d->quantities[k]);
  *cost = 0;
  for (int64_t v = 0; ok && v < voxels; v++) {
    for (int64_t i = 0; i < n * samples; i++) {
      re[i] = j.re ? j.re[v * n * samples + i] : 0;
      im[i] = j.im ? j.im[v * n * samples + i] : 0;
    }
    ok = lam_crlb_covariance (n, samples, re, im, variance, d->quantities, covariance, error);
    for (int k = 0; ok && k < n; k++) {
      double value = fabs (lam_tissues_named_at (tissues, d->quantities[k], v));
      weight[k] = is_counted (d, d->quantities[k]) ? 1 / (fmax (value, 1e-12) * counted * (double) voxels) : 0;
      *cost += weight[k] * sqrt (covariance[k * n + k]);
    }
    if (!ok || !gradient)
      continue;
    cotangents (n, samples, re, im, covariance, variance, weight, c_re, c_im);
    for (int k = 0; k < n; k++)
      for (int64_t s = 0; s < samples; s++) {
        int64_t to = ((int64_t) k * voxels + v) * samples + s;
        rows_re[to] = (float) c_re[k * samples + s];
        rows_im[to] = (float) c_im[k * samples + s];
      }
  }
  for (int k = 0; ok && gradient && k < n; k++)
    ok = add_row (model, tissues, d->quantities[k], rows_re + k * voxels * samples, rows_im + k * voxels * samples,
                  devices, gradient, error);
  lam_jacobian_clear (&j);
  return ok;
}

gboolean
lam_design_objective (LamModel *model, const LamTissues *tissues, const LamDesign *d, LamDevices *devices, double *cost,
                      double *gradient, GError **error)
{
  int n;
  LamProgram *p = program_of (model, error);
  if (!p)
    return FALSE;
  lam_program_values (p, &n);
  if (gradient)
    memset (gradient, 0, n * sizeof *gradient);
  return d->objective == LAM_OBJECTIVE_BOUND ? bound (model, tissues, d, devices, cost, gradient, error)
                                             : magnitude (model, tissues, d, devices, cost, gradient, error);
}

/* ---- the search ---- */

typedef struct {
  LamModel *model;
  const LamTissues *tissues;
  const LamDesign *d;
  LamDevices *devices;
  LamDesignBetter better;
  void *data;
  int n;              /* variables in all */
  int *first, *count; /* of each variable, in x */
  double energy;      /* of the start */
  GError *error;
} Task;

static gboolean
put (Task *t, const double *x)
{
  for (int v = 0; v < t->d->n_variables; v++)
    if (!lam_model_set (t->model, t->d->variables[v].field, x + t->first[v], t->count[v], t->error ? NULL : &t->error))
      return FALSE;
  return TRUE;
}

static double
cost (const double *x, double *gradient, void *data)
{
  Task *t = data;
  double value;
  int values = 0;
  LamProgram *p = put (t, x) ? program_of (t->model, t->error ? NULL : &t->error) : NULL;
  if (!p)
    return NAN;
  lam_program_values (p, &values);
  g_autofree double *g = gradient ? g_new (double, MAX (values, 1)) : NULL;
  if (!lam_design_objective (t->model, t->tissues, t->d, t->devices, &value, g, t->error ? NULL : &t->error))
    return NAN;
  for (int v = 0; v < t->d->n_variables; v++) {
    const LamDesignVariable *variable = &t->d->variables[v];
    const LamProtocolEntry *e = lam_sequence_entry (lam_program_sequence (p), variable->field);
    double range = fmax (variable->high - variable->low, 1e-12), weight = t->d->smoothness / MAX (t->count[v] - 1, 1);
    for (int i = 0; i < t->count[v] && gradient; i++)
      gradient[t->first[v] + i] = e ? g[e->first + i] : 0;
    for (int i = 1; i < t->count[v] && t->d->smoothness > 0; i++) {
      double step = (x[t->first[v] + i] - x[t->first[v] + i - 1]) / range;
      value += weight * step * step;
      if (gradient) {
        gradient[t->first[v] + i] += 2 * weight * step / range;
        gradient[t->first[v] + i - 1] -= 2 * weight * step / range;
      }
    }
  }
  return value;
}

static double
energy_of (const Task *t, const double *x, double *gradient)
{
  double sum = 0;
  for (int v = 0; v < t->d->n_variables; v++)
    for (int i = t->first[v]; i < t->first[v] + t->count[v]; i++)
      if (strcmp (t->d->variables[v].field, "flip") == 0) {
        sum += x[i] * x[i];
        if (gradient)
          gradient[i] = 2 * x[i];
      } else if (gradient)
        gradient[i] = 0;
  return sum;
}

/* The larger of both limits, each relative to its own size. */
static double
limit (const double *x, double *gradient, void *data)
{
  Task *t = data;
  double over = -INFINITY;
  if (t->d->energy > 0 && t->energy > 0) {
    double e = energy_of (t, x, gradient), most = t->d->energy * t->energy;
    over = e / most - 1;
    for (int i = 0; gradient && i < t->n; i++)
      gradient[i] /= most;
  }
  if (t->d->longest > 0 && put (t, x)) {
    LamProgram *p = program_of (t->model, NULL);
    double time = p ? lam_program_duration (p) * 1e3 / t->d->longest - 1 : INFINITY;
    if (time > over) {
      over = time;
      for (int v = 0; gradient && p && v < t->d->n_variables; v++) {
        const LamProtocolEntry *e = lam_sequence_entry (lam_program_sequence (p), t->d->variables[v].field);
        for (int i = 0; i < t->count[v]; i++)
          gradient[t->first[v] + i] = e ? 1e3 / t->d->longest * lam_program_duration_slope (p, e->first + i) : 0;
      }
    }
  }
  return over;
}

static void
tell (const double *x, double value, int evaluations, void *data)
{
  Task *t = data;
  if (t->better && put (t, x))
    t->better (t->model, value, evaluations, t->data);
}

static gboolean
check_bound (const LamDesign *d, GError **error)
{
  int counted = 0;
  for (int k = 0; d->quantities[k]; k++) {
    if (!lam_tissue_find (d->quantities[k])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "\"%s\" is no tissue quantity such as T1, T2, M0, B1, so it has no bound to be made small",
                   d->quantities[k]);
      return FALSE;
    }
    for (int i = 0; i < k; i++)
      if (strcmp (d->quantities[i], d->quantities[k]) == 0) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is there twice", d->quantities[k]);
        return FALSE;
      }
    counted += is_counted (d, d->quantities[k]);
  }
  if (counted == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "none of the quantities that are estimated together counts: there is nothing to make small");
  return counted > 0;
}

gboolean
lam_design_check (const LamModel *model, const LamTissues *tissues, const LamDesign *d, GError **error)
{
  const LamProtocol *p = lam_model_protocol (model);
  if (lam_model_is_closed (model)) {
    g_autoptr (GString) trains = g_string_new (NULL);
    int n;
    const LamTemplate *const *all = lam_templates (&n);
    for (int i = 0; i < n; i++)
      if (all[i]->build)
        g_string_append_printf (trains, "%s%s", trains->len ? ", " : "", all[i]->name);
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s is a formula, without a train to design; trains are %s",
                 p ? lam_protocol_template (p)->name : "this", trains->str);
    return FALSE;
  }
  for (int v = 0; v < d->n_variables; v++) {
    const LamDesignVariable *a = &d->variables[v];
    const LamField *f = p ? lam_template_field (lam_protocol_template (p), a->field) : NULL;
    const char *unit = f && *f->unit ? f->unit : "";
    if (!f || f->structural) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is no value that can be varied", a->field);
      return FALSE;
    }
    if (!(a->low <= a->high) || !(a->low >= f->least) || !(a->high <= f->most) || !isfinite (a->low)
        || !isfinite (a->high)) {
      g_set_error (
          error, LAM_ERROR, LAM_ERROR_INVALID,
          "%s: between %g and %g %s it cannot be varied: the second must not be below the first, and it must lie "
          "between %g and %g",
          a->field, a->low, a->high, unit, f->least, f->most);
      return FALSE;
    }
  }
  if (d->n_variables == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "nothing is to be varied");
    return FALSE;
  }
  if (d->objective == LAM_OBJECTIVE_CONTRAST && lam_tissues_voxels (tissues) < 2) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a contrast needs two tissues");
    return FALSE;
  }
  return d->objective != LAM_OBJECTIVE_BOUND || check_bound (d, error);
}

/* The numbers that are varied, one after the other. */
static void
gather (Task *t, double **x, double **low, double **high)
{
  const LamProtocol *p = lam_model_protocol (t->model);
  const LamDesign *d = t->d;
  t->first = g_new0 (int, MAX (d->n_variables, 1));
  t->count = g_new0 (int, MAX (d->n_variables, 1));
  for (int v = 0; v < d->n_variables; v++) {
    t->first[v] = t->n;
    lam_protocol_get (p, d->variables[v].field, &t->count[v]);
    t->n += t->count[v];
  }
  *x = g_new (double, t->n);
  *low = g_new (double, t->n);
  *high = g_new (double, t->n);
  for (int v = 0; v < d->n_variables; v++) {
    memcpy (*x + t->first[v], lam_protocol_get (p, d->variables[v].field, NULL), t->count[v] * sizeof **x);
    for (int i = 0; i < t->count[v]; i++) {
      (*low)[t->first[v] + i] = d->variables[v].low;
      (*high)[t->first[v] + i] = d->variables[v].high;
    }
  }
}

gboolean
lam_design (LamModel *model, const LamTissues *tissues, const LamDesign *d, LamDevices *devices, LamDesignBetter better,
            void *data, LamControl *control, LamDesignReport *report, GError **error)
{
  Task t = {.model = model, .tissues = tissues, .d = d, .devices = devices, .better = better, .data = data};
  g_autofree double *x = NULL, *low = NULL, *high = NULL;
  LamDesignReport r = {0};
  gboolean ok = lam_design_check (model, tissues, d, error);
  if (ok) {
    gather (&t, &x, &low, &high);
    t.energy = energy_of (&t, x, NULL);
    r.start = cost (x, NULL, &t);
    LamOptimisation o = {.n = t.n,
                         .low = low,
                         .high = high,
                         .cost = cost,
                         .limit = d->energy > 0 || d->longest > 0 ? limit : NULL,
                         .better = tell,
                         .data = &t,
                         .most = d->most};
    ok = lam_optimise (&o, x, &r.end, &r.evaluations, control, t.error ? NULL : error);
    if (!ok && t.error && error)
      g_clear_error (error);
    if (!ok && t.error)
      g_propagate_error (error, g_steal_pointer (&t.error));
    if (ok) {
      put (&t, x);
      r.energy = t.energy > 0 ? energy_of (&t, x, NULL) / t.energy : 1;
    }
  }
  g_clear_error (&t.error);
  g_free (t.first);
  g_free (t.count);
  if (report)
    *report = r;
  return ok;
}
