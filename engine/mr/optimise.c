#include "mr/optimise.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#include "core/error.h"

/* Constraint violation that still counts as kept to, relative to the scale of 1 that limits have. */
#define SLACK 1e-6

typedef struct {
  const LamOptimisation *o;
  LamControl *control;
  nlopt_opt search;
  double *best, cost;
  double limit; /* at the last point */
  int evaluations;
  gboolean failed;
} Search;

static double
evaluate (unsigned n, const double *x, double *gradient, void *data)
{
  Search *s = data;
  const LamOptimisation *o = s->o;
  double value = o->cost (x, gradient, o->data);
  s->evaluations++;
  if (!isfinite (value)) {
    s->failed = TRUE;
    nlopt_force_stop (s->search);
    return HUGE_VAL;
  }
  if (value < s->cost && (!o->limit || o->limit (x, NULL, o->data) <= SLACK)) {
    s->cost = value;
    memcpy (s->best, x, n * sizeof *x);
    if (o->better)
      o->better (x, value, s->evaluations, o->data);
  }
  lam_control_progress (s->control, "optimising", s->evaluations, o->most > 0 ? o->most : 300);
  if (s->control && (lam_control_cancelled (s->control) || atomic_load (&s->control->stop_keep)))
    nlopt_force_stop (s->search);
  return value;
}

static double
limit (unsigned n, const double *x, double *gradient, void *data)
{
  Search *s = data;
  return s->o->limit (x, gradient, s->o->data);
}

gboolean
lam_optimise (const LamOptimisation *o, double *x, double *cost, int *evaluations, LamControl *control, GError **error)
{
  for (int i = 0; i < o->n; i++)
    if (!(o->low[i] <= o->high[i]) || !isfinite (o->low[i]) || !isfinite (o->high[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "variable %d has the bounds %g and %g", i, o->low[i],
                   o->high[i]);
      return FALSE;
    }
  g_autofree double *best = g_memdup2 (x, o->n * sizeof *x);
  /* Sequential quadratic programming where its matrix is small, moving asymptotes (Svanberg, 2002) where it is not. */
  nlopt_opt search = nlopt_create (o->n <= 60 ? NLOPT_LD_SLSQP : NLOPT_LD_MMA, (unsigned) o->n);
  Search s = {.o = o, .control = control, .search = search, .best = best, .cost = INFINITY};
  if (!search) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "no memory for a search over %d variables", o->n);
    return FALSE;
  }
  for (int i = 0; i < o->n; i++)
    best[i] = CLAMP (x[i], o->low[i], o->high[i]);
  memcpy (x, best, o->n * sizeof *x);
  nlopt_set_lower_bounds (search, o->low);
  nlopt_set_upper_bounds (search, o->high);
  nlopt_set_min_objective (search, evaluate, &s);
  if (o->limit)
    nlopt_add_inequality_constraint (search, limit, &s, SLACK / 10);
  nlopt_set_ftol_rel (search, o->tolerance > 0 ? o->tolerance : 1e-7);
  nlopt_set_maxeval (search, o->most > 0 ? o->most : 300);
  double ignored;
  nlopt_result result = nlopt_optimize (search, x, &ignored);
  nlopt_destroy (search);
  memcpy (x, best, o->n * sizeof *x);
  if (cost)
    *cost = s.cost;
  if (evaluations)
    *evaluations = s.evaluations;
  if (isfinite (s.cost))
    return TRUE;
  g_set_error (error, LAM_ERROR, s.failed ? LAM_ERROR_INVALID : LAM_ERROR_FAILED,
               s.failed ? "the objective is not a number at the start"
                        : "no point that keeps to the limits was found (%s)",
               nlopt_result_to_string (result));
  return FALSE;
}
