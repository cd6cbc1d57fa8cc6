#include "mr/isochromats.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "mr/constants.h"

/* Spins of one voxel on their way, and what they share. */
typedef struct {
  const LamSequence *s;
  const double *values; /* of the protocol */
  double r1, r2, b0, b1, b1_phase, efficiency;
  double m0[2], factor[2];
  int spins;
  double *x, *y, *z;       /* [spins] */
  double *turn_x, *turn_y; /* [spins]: one winding */
} Bundle;

/* ---- what cannot be played ---- */

static gboolean
any_above (const LamTissues *t, LamTissueQuantity q)
{
  for (int64_t v = 0; v < lam_tissues_voxels (t); v++)
    if (lam_tissues_at (t, q, v) != lam_tissue_info (q)->absent)
      return TRUE;
  return FALSE;
}

static const char *
tissue_obstacle (const LamTissues *t)
{
  for (int p = 0; p < LAM_POOLS; p++)
    if (any_above (t, LAM_POOL_FRACTION + 5 * p))
      return "it has no second pool";
  return any_above (t, LAM_BOUND_FRACTION) ? "it has no semisolid pool"
         : any_above (t, LAM_T2_PRIME)     ? "it has no T2′"
         : any_above (t, LAM_DIFFUSION)    ? "it has no diffusion"
         : any_above (t, LAM_VELOCITY)     ? "it has no flow"
         : lam_tissues_channels (t) > 0    ? "it has no transmit channels"
                                           : NULL;
}

static const char *
pulse_obstacle (const LamSequence *s)
{
  int64_t n;
  const LamEvent *e = lam_sequence_events (s, &n);
  for (int64_t i = 0; i < n; i++)
    if (e[i].kind == LAM_EVENT_RF
        && (e[i].shim >= 0 || lam_sequence_definition (s, e[i].definition)->mode != LAM_RF_INSTANT))
      return "its pulses are instant, without a slice profile";
  return NULL;
}

char *
lam_isochromats_obstacle (LamModel *m, const LamTissues *tissues)
{
  int n;
  g_autoptr (GError) error = NULL;
  const char *why = lam_model_is_closed (m) ? "a closed form has no events to play" : tissue_obstacle (tissues);
  LamProgram *const *p = why ? NULL : lam_model_programs (m, &n, &error);
  if (error)
    return g_strdup (error->message);
  for (int i = 0; p && !why && i < n; i++)
    why = pulse_obstacle (lam_program_sequence (p[i]));
  return g_strdup (why);
}

/* ---- what happens to spins ---- */

static void
wait (Bundle *b, double dt)
{
  const double e1 = exp (-dt * b->r1), e2 = exp (-dt * b->r2), angle = -2 * LAM_PI * b->b0 * dt;
  const double c = e2 * cos (angle), s = e2 * sin (angle), back = 1 - e1;
  if (dt == 0)
    return;
  for (int k = 0; k < b->spins; k++) {
    double x = b->x[k], y = b->y[k];
    b->x[k] = c * x - s * y;
    b->y[k] = c * y + s * x;
    b->z[k] = e1 * b->z[k] + back;
  }
}

static void
wind (Bundle *b)
{
  for (int k = 0; k < b->spins; k++) {
    double x = b->x[k], y = b->y[k], c = b->turn_x[k], s = b->turn_y[k];
    b->x[k] = c * x - s * y;
    b->y[k] = c * y + s * x;
  }
}

/* About (cos phase, sin phase, 0), right-handed. */
static void
turn (Bundle *b, double flip, double phase)
{
  const double c = cos (flip), s = sin (flip), cp = cos (phase), sp = sin (phase);
  for (int k = 0; k < b->spins; k++) {
    double along = cp * b->x[k] + sp * b->y[k], across = cp * b->y[k] - sp * b->x[k], z = b->z[k];
    double now = c * across - s * z;
    b->z[k] = s * across + c * z;
    b->x[k] = cp * along - sp * now;
    b->y[k] = sp * along + cp * now;
  }
}

static void
invert (Bundle *b)
{
  for (int k = 0; k < b->spins; k++)
    b->z[k] *= -b->efficiency;
}

static void
spoil (Bundle *b)
{
  memset (b->x, 0, b->spins * sizeof *b->x);
  memset (b->y, 0, b->spins * sizeof *b->y);
}

static void
sample (const Bundle *b, double phase, double *re, double *im)
{
  double x = 0, y = 0;
  for (int k = 0; k < b->spins; k++) {
    x += b->x[k];
    y += b->y[k];
  }
  const double by[3][2] = {
      {cos (phase) / b->spins, -sin (phase) / b->spins}, {b->factor[0], b->factor[1]}, {b->m0[0], b->m0[1]}};
  for (int i = 0; i < 3; i++) {
    double was = x;
    x = x * by[i][0] - y * by[i][1];
    y = was * by[i][1] + y * by[i][0];
  }
  *re = x;
  *im = y;
}

/* One playing; samples into @re, @im. */
static gboolean
play (Bundle *b, double *re, double *im, LamControl *control, GError **error)
{
  int64_t n, at = 0;
  const LamEvent *events = lam_sequence_events (b->s, &n);
  for (int64_t i = 0; i < n; i++) {
    const LamEvent *e = &events[i];
    if (i % 256 == 0 && !lam_control_go_on (control, error))
      return FALSE;
    wait (b, fmax (lam_number_at (&e->delay, b->values), 0));
    if (e->action & LAM_CRUSH_BEFORE)
      wind (b);
    if (e->kind == LAM_EVENT_RF && e->use == LAM_RF_INVERSION)
      invert (b);
    else if (e->kind == LAM_EVENT_RF) {
      gboolean own = e->shim == LAM_SHIM_PERFECT; /* the transmit field does not change it */
      double phase = lam_number_at (&e->phase, b->values) + lam_rf_phase (lam_sequence_definition (b->s, e->definition))
                     + (own ? 0 : b->b1_phase);
      turn (b, lam_number_at (&e->flip, b->values) * (own ? 1 : b->b1), phase);
    }
    if (e->kind == LAM_EVENT_ADC && e->role != LAM_ADC_NON_ACQUIRED) {
      sample (b, lam_number_at (&e->phase, b->values), &re[at], &im[at]);
      at++;
    }
    if (e->action & LAM_CRUSH_AFTER)
      wind (b);
    if (e->action & LAM_SPOIL_AFTER)
      spoil (b);
    else if (e->action & LAM_SHIFT_AFTER)
      wind (b);
  }
  wait (b, fmax (lam_number_at (lam_sequence_tail (b->s), b->values), 0));
  return TRUE;
}

/* As often as the train says; the last playing's samples stay. */
static gboolean
play_train (Bundle *b, int64_t samples, const LamIsochromatOptions *o, double *re, double *im, LamControl *control,
            LamSignal *signal, GError **error)
{
  int playings = lam_sequence_playings (b->s), most = playings ? playings : o->most_playings;
  g_autofree double *old = g_new0 (double, MAX (2 * samples, 1));
  for (int p = 1; p <= most; p++) {
    double change = 0, peak = 0;
    if (!play (b, re, im, control, error))
      return FALSE;
    signal->played = MAX (signal->played, p);
    for (int64_t i = 0; i < samples; i++) {
      change = fmax (change, hypot (re[i] - old[i], im[i] - old[samples + i]));
      peak = fmax (peak, hypot (re[i], im[i]));
      old[i] = re[i];
      old[samples + i] = im[i];
    }
    if (playings == 0 && p > 1 && change <= o->settle * peak)
      break;
  }
  return TRUE;
}

/* ---- the call ---- */

static gboolean
winds (const LamSequence *s)
{
  int64_t n;
  const LamEvent *e = lam_sequence_events (s, &n);
  for (int64_t i = 0; i < n; i++)
    if (e[i].action & (LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER | LAM_SHIFT_AFTER))
      return TRUE;
  return FALSE;
}

static void
begin (Bundle *b, const LamTissues *t, int64_t voxel, int spins)
{
  b->spins = winds (b->s) ? spins : 1;
  b->r1 = 1000 / fmax (lam_tissues_at (t, LAM_T1, voxel), 1e-6);
  b->r2 = 1000 / fmax (lam_tissues_at (t, LAM_T2, voxel), 1e-6);
  b->b0 = lam_tissues_at (t, LAM_B0, voxel);
  b->b1 = lam_tissues_at (t, LAM_B1, voxel);
  b->b1_phase = lam_tissues_at (t, LAM_B1_PHASE, voxel);
  b->efficiency = lam_tissues_at (t, LAM_INV_EFFICIENCY, voxel);
  b->m0[0] = lam_tissues_at (t, LAM_M0, voxel);
  b->m0[1] = lam_tissues_at (t, LAM_M0_IMAG, voxel);
  lam_sequence_factor (b->s, &b->factor[0], &b->factor[1]);
  for (int k = 0; k < b->spins; k++) {
    double angle = 2 * LAM_PI * (k + 0.5) / b->spins;
    b->x[k] = b->y[k] = 0;
    b->z[k] = 1;
    b->turn_x[k] = cos (angle);
    b->turn_y[k] = sin (angle);
  }
}

static gboolean
simulate (LamModel *m, const LamTissues *tissues, const LamIsochromatOptions *o, LamControl *control, LamSignal *signal,
          GError **error)
{
  int n;
  LamProgram *const *programs = lam_model_programs (m, &n, error);
  int64_t voxels = signal->voxels = lam_tissues_voxels (tissues);
  if (!programs)
    return FALSE;
  for (int i = 0; i < n; i++)
    signal->samples += lam_program_bound (programs[i])->samples;
  int64_t samples = MAX (signal->samples, 1), floats = lam_mul_size (voxels, samples);
  signal->re = lam_alloc_n (floats, 4, "signal", error);
  signal->im = signal->re ? lam_alloc_n (floats, 4, "signal", error) : NULL;
  double *memory = signal->im ? lam_alloc_n (5 * (int64_t) o->spins + 2 * samples, 8, "spins", error) : NULL;
  if (!memory)
    return FALSE;
  double *re = memory + 5 * (int64_t) o->spins, *im = re + samples;
  Bundle b = {.x = memory,
              .y = memory + o->spins,
              .z = memory + 2 * (int64_t) o->spins,
              .turn_x = memory + 3 * (int64_t) o->spins,
              .turn_y = memory + 4 * (int64_t) o->spins};
  gboolean ok = TRUE;
  lam_fp_setup ();
  for (int64_t v = 0; ok && v < voxels; v++)
    for (int64_t i = 0, at = v * samples; ok && i < n; i++) {
      int64_t own = lam_program_bound (programs[i])->samples;
      b.s = lam_program_sequence (programs[i]);
      b.values = lam_program_values (programs[i], NULL);
      begin (&b, tissues, v, o->spins);
      ok = play_train (&b, own, o, re, im, control, signal, error);
      for (int64_t k = 0; ok && k < own; k++, at++) {
        signal->re[at] = (float) re[k];
        signal->im[at] = (float) im[k];
      }
    }
  lam_free (memory);
  return ok;
}

gboolean
lam_isochromats_simulate (LamModel *m, const LamTissues *tissues, const LamIsochromatOptions *options,
                          LamControl *control, LamSignal *signal, GError **error)
{
  LamIsochromatOptions o = options ? *options : (LamIsochromatOptions){0};
  g_autofree char *why = lam_isochromats_obstacle (m, tissues);
  lam_signal_clear (signal);
  if (why) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "a sum of spins cannot play this: %s", why);
    return FALSE;
  }
  o.spins = o.spins > 0 ? o.spins : 256;
  o.settle = o.settle > 0 ? o.settle : 1e-6;
  o.most_playings = o.most_playings > 0 ? o.most_playings : 20000;
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  signal->route = NULL;
  if (simulate (m, whole, &o, control, signal, error)) {
    signal->route = g_strdup_printf ("%d spins", o.spins);
    return TRUE;
  }
  lam_signal_clear (signal);
  return FALSE;
}
