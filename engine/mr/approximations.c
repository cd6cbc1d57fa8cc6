#include "mr/approximations.h"

#include <math.h>

#include "core/error.h"

#define MOST_ORDERS 8192

void
lam_signal_changes (const LamSignal *less, const LamSignal *more, double *change)
{
  g_assert (less->voxels == more->voxels && less->samples == more->samples);
  for (int64_t v = 0, at = 0; v < more->voxels; v++) {
    double worst = 0, peak = 0;
    for (int64_t i = 0; i < more->samples; i++, at++) {
      double re = more->re ? more->re[at] : 0, im = more->im ? more->im[at] : 0;
      worst = fmax (worst, hypot (re - (less->re ? less->re[at] : 0), im - (less->im ? less->im[at] : 0)));
      peak = fmax (peak, hypot (re, im));
    }
    change[v] = peak > 0 ? worst / peak : 0;
  }
}

typedef struct {
  LamModel *m, *finer;
  const LamTissues *tissues;
  const LamSimulateOptions *options;
  LamDevices *devices;
  LamControl *control;
  double *change; /* [voxels] */
} Search;

/* NAN of a voxel: all that matter are kept. */
static double
largest (const Search *s)
{
  double worst = 0;
  for (int64_t v = 0; v < lam_tissues_voxels (s->tissues); v++)
    worst = isfinite (s->change[v]) ? fmax (worst, s->change[v]) : worst;
  return worst;
}

static gboolean
simulate (const Search *s, int orders, LamSignal *signal, GError **error)
{
  lam_model_set_orders (s->m, orders);
  return lam_model_simulate (s->m, s->tissues, s->options, s->devices, s->control, signal, error);
}

/* Twice as many until twice as many again change nothing that counts: @enough, and the signal with all those. */
static gboolean
find_enough (const Search *s, double most, int *enough, LamSignal *signal, GError **error)
{
  int good = 0;
  for (*enough = 1; *enough < MOST_ORDERS; *enough *= 2) {
    if (!simulate (s, *enough, signal, error))
      return FALSE;
    lam_model_truncation (s->m, s->finer, s->tissues, s->options, s->devices, signal, s->change);
    /* Two orders may happen to change as little as four where eight do. */
    good = largest (s) <= most / 4 ? good + 1 : 0;
    if (good == 3)
      break;
  }
  return TRUE;
}

gboolean
lam_model_least_orders (LamModel *m, LamModel *finer, const LamTissues *tissues, const LamSimulateOptions *options,
                        double most, LamDevices *devices, LamControl *control, int *orders, GError **error)
{
  int n;
  g_autofree double *change = g_new (double, lam_tissues_voxels (tissues));
  Search s = {m, finer, tissues, options, devices, control, change};
  LamSignal all = {0}, some = {0};
  if (lam_model_is_closed (m) || (lam_model_programs (m, &n, NULL) && n != 1)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s",
                 lam_model_is_closed (m) ? "a closed form has no orders"
                                         : "several trains: each has orders of its own");
    return FALSE;
  }
  gboolean ok = find_enough (&s, most, orders, &all, error);
  for (int low = 0; ok && low + 1 < *orders;) { /* @orders are enough, @low are not */
    int middle = (low + *orders) / 2;
    ok = simulate (&s, middle, &some, error);
    if (!ok)
      break;
    lam_signal_changes (&some, &all, change);
    if (largest (&s) <= most)
      *orders = middle;
    else
      low = middle;
  }
  lam_signal_clear (&all);
  lam_signal_clear (&some);
  return ok;
}
