#include "config.h"

#include "model/potential.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ct/prior.h"

enum { POINTS = 161 };

static gboolean
shapes_it (const char *id)
{
  static const char *const ids[] = {"prior_p", "prior_q", "prior_t", NULL};
  return g_strv_contains (ids, id);
}

static double
number (LamParameterList *list, const char *id)
{
  return lam_parameter_get_number (lam_parameter_list_find (list, id));
}

static void
draw (LamSeries *series, LamParameterList *list)
{
  double p = number (list, "prior_p"), t = number (list, "prior_t"), reach = 4 * fmax (t, 1);
  LamPriorParams params = lam_prior_params (p, number (list, "prior_q"), t, 1, 1, 1, 1);
  double top = 1.1 * lam_prior_potential (&params, reach);
  lam_series_clear (series);
  for (int i = 0; i < POINTS; i++) {
    double d = reach * (2.0 * i / (POINTS - 1) - 1), start = pow (fabs (d), p) / p;
    lam_series_append (series, d, (double[]){lam_prior_potential (&params, d), start <= top ? start : NAN});
  }
  lam_series_flush (series);
}

static void
changed_cb (LamParameterList *list, LamParameter *parameter, LamSeries *series)
{
  if (shapes_it (lam_parameter_get_id (parameter)))
    draw (series, list);
}

LamSeries *
lam_potential_new (LamParameterList *list)
{
  LamSeries *series = lam_series_new (_ ("difference / σx"));
  lam_series_add_column (series, "rho", _ ("ρ"), NULL);
  lam_series_add_column (series, "start", _ ("|d|ᵖ / p"), NULL);
  g_signal_connect_object (list, "changed", G_CALLBACK (changed_cb), series, 0);
  draw (series, list);
  return series;
}
