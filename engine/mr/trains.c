/* trains.c: the templates that the EPG engine plays (spec sections 1.6, 7.2). Times in the protocol are ms, angles degrees. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "mr/constants.h"
#include "mr/templates-private.h"

#define MOST_PULSES 1000000

static const char *const yes_no[] = {"no", "yes", NULL};
static const char *const inversions[] = {"none", "ideal", "adiabatic", NULL};

/* ---- pieces ---- */

typedef struct {
  const LamProtocol *p;
  LamSequence *s;
} Train;

static Train
start (const LamProtocol *p)
{
  Train t = {p, lam_sequence_new ()};
  for (const LamField *f = lam_protocol_template (p)->fields; f->name; f++)
    if (!f->structural)
      lam_protocol_enter (p, t.s, f->name);
  return t;
}

static LamNumber
number (const Train *t, const char *name, int i)
{
  return lam_protocol_number (t->p, t->s, name, i);
}

static double
value (const Train *t, const char *name)
{
  return lam_protocol_value (t->p, name);
}

static int
count (const Train *t, const char *name)
{
  int n;
  lam_protocol_get (t->p, name, &n);
  return n;
}

/* As many pulses as flip angles are given, or as @name says where there is one for all. */
static int
pulses_of (const Train *t, const char *name)
{
  int n = count (t, "flip");
  return n > 1 ? n : (int) value (t, name);
}

static LamNumber
zero (void)
{
  return lam_number (0);
}

/* a must not be below 0 now: what it would be is said. */
static gboolean
fits (LamNumber a, const char *what, GError **error)
{
  if (a.value >= -1e-12)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: %g ms too little", what, -a.value * 1e3);
  return FALSE;
}

/* A list that must have @n entries (or one). */
static gboolean
as_many (const Train *t, const char *name, int n, const char *of, GError **error)
{
  int have = count (t, name);
  if (have == 1 || have == n)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s has %d values for %d %s; one, or one for each is needed", name,
               have, n, of);
  return FALSE;
}

static LamSequence *
done (Train *t, gboolean ok)
{
  if (!ok)
    g_clear_pointer (&t->s, lam_sequence_unref);
  return t->s;
}

/* ---- echo trains ---- */

/* Excitation, then echoes: refocusing in the middle, crushed on both sides, demodulated by @demod. */
static gboolean
echo_train (Train *t, int echoes, LamNumber (*flip) (const Train *, int), LamNumber (*phase) (const Train *, int),
            gboolean demodulate, GError **error)
{
  LamNumber esp = number (t, "ESP", 0), half = lam_number_scale (0.5, esp);
  LamNumber rest = lam_number_add_scaled (number (t, "TR", 0), -echoes, esp);
  if (!fits (rest, "TR is shorter than the echo train", error))
    return FALSE;
  lam_sequence_rf (t->s, LAM_RF_EXCITATION, number (t, "exc_flip", 0), number (t, "exc_phase", 0), 0);
  for (int i = 0; i < echoes; i++) {
    lam_sequence_wait (t->s, half);
    lam_sequence_rf (t->s, LAM_RF_REFOCUSING, flip (t, i), phase (t, i), LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER);
    lam_sequence_wait (t->s, half);
    lam_sequence_adc (t->s, LAM_ADC_ECHO_CENTER, demodulate ? phase (t, i) : zero (), 0);
  }
  lam_sequence_wait (t->s, rest);
  lam_sequence_set_playings (t->s, (int) value (t, "playings"));
  return TRUE;
}

static LamNumber
plain_flip (const Train *t, int i)
{
  return number (t, "flip", i);
}

static LamNumber
plain_phase (const Train *t, int i)
{
  return number (t, "phases", i);
}

static LamSequence *
build_fse (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = pulses_of (&t, "echoes");
  return done (&t, as_many (&t, "flip", n, "echoes", error) && as_many (&t, "phases", n, "echoes", error)
                       && echo_train (&t, n, plain_flip, plain_phase, TRUE, error));
}

static const LamField fse_fields[] = {
    LIST ("flip", "deg", "Refocusing flip angles", 120, -ANGLE, ANGLE),
    LIST ("phases", "deg", "Refocusing phases", 0, -ANGLE, ANGLE),
    NUMBER ("ESP", "ms", "Echo spacing", 5, 0, TIME),
    NUMBER ("TR", "ms", "Repetition time", 3000, 0, TIME),
    NUMBER ("exc_flip", "deg", "Excitation flip angle", 90, -ANGLE, ANGLE),
    NUMBER ("exc_phase", "deg", "Excitation phase", 90, -ANGLE, ANGLE),
    COUNT ("echoes", "Echoes", 32, 1, MOST_PULSES),
    COUNT ("playings", "Playings (0: settled)", 0, 0, 100000),
    {NULL},
};

static int
half_of (const Train *t)
{
  return count (t, "flip");
}

static LamNumber
hyper_flip (const Train *t, int i)
{
  int n = half_of (t);
  return i < n ? number (t, "flip", i) : i == n ? number (t, "refocusing", 0) : number (t, "flip", 2 * n - i);
}

static LamNumber
hyper_phase (const Train *t, int i)
{
  int n = half_of (t);
  return i < n    ? number (t, "phases", i)
         : i == n ? zero ()
                  : lam_number_sub (lam_number (LAM_PI), number (t, "phases", 2 * n - i));
}

static LamSequence *
build_hyperecho (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = half_of (&t);
  return done (&t, as_many (&t, "phases", n, "pulses of the half train", error)
                       && echo_train (&t, 2 * n + 1, hyper_flip, hyper_phase, FALSE, error));
}

static const LamField hyperecho_fields[] = {
    LIST ("flip", "deg", "Flip angles of the half train", 60, -ANGLE, ANGLE),
    LIST ("phases", "deg", "Phases of the half train", 0, -ANGLE, ANGLE),
    NUMBER ("refocusing", "deg", "Central flip angle", 180, -ANGLE, ANGLE),
    NUMBER ("ESP", "ms", "Echo spacing", 5, 0, TIME),
    NUMBER ("TR", "ms", "Repetition time", 3000, 0, TIME),
    NUMBER ("exc_flip", "deg", "Excitation flip angle", 90, -ANGLE, ANGLE),
    NUMBER ("exc_phase", "deg", "Excitation phase", 90, -ANGLE, ANGLE),
    COUNT ("playings", "Playings (0: settled)", 0, 0, 100000),
    {NULL},
};

/* ---- inversion-prepared trains whose samples lie at the pulse ---- */

static LamSequence *
build_mrf (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = pulses_of (&t, "pulses");
  gboolean ok = as_many (&t, "flip", n, "pulses", error) && as_many (&t, "TR", n, "pulses", error)
                && as_many (&t, "TE", n, "pulses", error) && as_many (&t, "phases", n, "pulses", error);
  if (ok && value (&t, "inversion") > 0) {
    lam_sequence_rf (t.s, LAM_RF_INVERSION, lam_number (LAM_PI), zero (), 0);
    lam_sequence_wait (t.s, number (&t, "TI", 0));
  }
  for (int i = 0; ok && i < n; i++) {
    LamNumber te = number (&t, "TE", i), rest = lam_number_sub (number (&t, "TR", i), te);
    ok = fits (rest, "TE is longer than TR", error);
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", i), number (&t, "phases", i), 0);
    lam_sequence_wait (t.s, te);
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, number (&t, "phases", i), LAM_SHIFT_AFTER);
    lam_sequence_wait (t.s, rest);
  }
  lam_sequence_set_factor (t.s, 0, 1);
  lam_sequence_set_playings (t.s, (int) value (&t, "playings"));
  return done (&t, ok);
}

static const LamField mrf_fields[] = {
    LIST ("flip", "deg", "Flip angles", 30, -ANGLE, ANGLE),
    LIST ("TR", "ms", "Repetition times", 10, 0, TIME),
    LIST ("TE", "ms", "Echo times", 0, 0, TIME),
    LIST ("phases", "deg", "Phases", 0, -ANGLE, ANGLE),
    NUMBER ("TI", "ms", "Inversion time", 0, 0, TIME),
    CHOICE ("inversion", "Inversion", 1, yes_no),
    COUNT ("pulses", "Pulses", 1, 1, MOST_PULSES),
    COUNT ("playings", "Playings (0: settled)", 1, 0, 100000),
    {NULL},
};

static LamSequence *
build_mpnrage (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = pulses_of (&t, "nshots");
  gboolean ok = as_many (&t, "flip", n, "shots", error);
  lam_sequence_rf (t.s, LAM_RF_INVERSION, lam_number (LAM_PI), zero (), 0);
  lam_sequence_wait (t.s, number (&t, "TI", 0));
  for (int i = 0; ok && i < n; i++) {
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", i), zero (), 0);
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, zero (), LAM_SPOIL_AFTER);
    lam_sequence_wait (t.s, number (&t, "TR", 0));
  }
  lam_sequence_set_factor (t.s, 0, 1);
  return done (&t, ok);
}

static const LamField mpnrage_fields[] = {
    LIST ("flip", "deg", "Flip angles", 5, -ANGLE, ANGLE),
    NUMBER ("TR", "ms", "Time between shots", 10, 0, TIME),
    NUMBER ("TI", "ms", "Inversion time", 0, 0, TIME),
    COUNT ("nshots", "Shots", 128, 1, MOST_PULSES),
    {NULL},
};

static LamSequence *
build_mprage (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = (int) value (&t, "nshots"), before = n / 2;
  LamNumber tr = number (&t, "TRspgr", 0), wait = lam_number_add_scaled (number (&t, "TI", 0), -before, tr);
  gboolean ok = fits (wait, "TI is too short for the shots before it", error);
  lam_sequence_rf (t.s, LAM_RF_INVERSION, lam_number (LAM_PI), zero (), 0);
  lam_sequence_wait (t.s, wait);
  for (int i = 0; ok && i < n; i++) {
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", 0), number (&t, "phases", 0), 0);
    lam_sequence_adc (t.s, i == before ? LAM_ADC_SINGLE : LAM_ADC_NON_ACQUIRED, number (&t, "phases", 0),
                      LAM_SPOIL_AFTER);
    lam_sequence_wait (t.s, tr);
  }
  lam_sequence_set_factor (t.s, 0, 1);
  return done (&t, ok);
}

static const LamField mprage_fields[] = {
    NUMBER ("TI", "ms", "Inversion time, to the central shot", 900, 0, TIME),
    NUMBER ("flip", "deg", "Flip angle", 9, -ANGLE, ANGLE),
    NUMBER ("TRspgr", "ms", "Time between shots", 7, 0, TIME),
    NUMBER ("phases", "deg", "Phase", 0, -ANGLE, ANGLE),
    COUNT ("nshots", "Shots", 128, 1, MOST_PULSES),
    {NULL},
};

/* ---- gradient-echo trains ---- */

/* Shape of area 1: a flip for each sample is flip * shape * dwell. */
static gboolean
unit_shape (const Train *t, double **shape, int64_t *samples, double *dwell, GError **error)
{
  double length = value (t, "pulse_duration") * 1e-3, n;
  *dwell = value (t, "dwell") * 1e-3;
  n = rint (length / *dwell);
  if (fabs (n * *dwell - length) > 1e-9 || n > 1e6) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the pulse of %g ms is not a whole number of dwells of %g ms (at most a million)", length * 1e3,
                 *dwell * 1e3);
    return FALSE;
  }
  *samples = (int64_t) n;
  *shape = g_new0 (double, MAX (*samples, 1));
  if (*samples > 0)
    lam_rf_sinc (*samples, *dwell, 1, value (t, "bandwidth_time"), *shape);
  return TRUE;
}

/* The pulse, from its start to its end; a hard one where it has no length. */
static void
play_shape (Train *t, const double *shape, int64_t samples, double dwell, LamNumber flip, LamNumber phase)
{
  if (samples == 0)
    lam_sequence_rf (t->s, LAM_RF_EXCITATION, flip, phase, 0);
  for (int64_t i = 0; i < samples; i++) {
    lam_sequence_wait (t->s, lam_number (i == 0 ? dwell / 2 : dwell));
    lam_sequence_rf (t->s, LAM_RF_EXCITATION, lam_number_scale (shape[i] * dwell, flip), phase, 0);
  }
  if (samples > 0)
    lam_sequence_wait (t->s, lam_number (dwell / 2));
}

static gboolean
play_inversion (Train *t, GError **error)
{
  int kind = (int) value (t, "inversion");
  if (kind == 1)
    lam_sequence_rf (t->s, LAM_RF_INVERSION, lam_number (LAM_PI), zero (), 0);
  if (kind == 2) {
    double dwell = value (t, "dwell") * 1e-3, length = value (t, "inversion_duration") * 1e-3,
           n = rint (length / dwell);
    if (n < 1 || n > 1e6 || fabs (n * dwell - length) > 1e-9) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "the inversion of %g ms is not a whole number of dwells of %g ms (1 to a million)", length * 1e3,
                   dwell * 1e3);
      return FALSE;
    }
    g_autofree double *re = g_new (double, (gsize) n), *im = g_new (double, (gsize) n);
    lam_rf_sech ((int64_t) n, dwell, re, im);
    lam_sequence_sampled_pulse (t->s, (int64_t) n, re, im, dwell, number (t, "inversion_phase", 0), 0);
  }
  if (kind > 0) {
    lam_sequence_wait (t->s, number (t, "spoiler", 0));
    lam_sequence_action (t->s, LAM_SPOIL_AFTER);
  }
  return TRUE;
}

static LamSequence *
build_flash (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = pulses_of (&t, "nshots");
  g_autofree double *shape = NULL;
  int64_t samples;
  double dwell;
  gboolean winds = value (&t, "spoiling") > 0;
  LamNumber te = number (&t, "TE", 0), tr = number (&t, "TR", 0);
  gboolean ok = as_many (&t, "flip", n, "shots", error) && unit_shape (&t, &shape, &samples, &dwell, error)
                && play_inversion (&t, error);
  LamNumber half = lam_number (ok ? samples * dwell / 2 : 0), after = lam_number_sub (te, half),
            rest = lam_number_sub (lam_number_sub (tr, half), te);
  ok = ok && fits (after, "TE, from the pulse's centre, lies inside the pulse", error)
       && fits (rest, "TR is shorter than half a pulse and TE", error);
  for (int i = 0; ok && i < n; i++) {
    double times = fmod (i * (i + 1.0) / 2, 360 * 1e6);
    LamNumber phase = winds ? lam_number_scale (times, number (&t, "rf_increment", 0)) : zero ();
    play_shape (&t, shape, samples, dwell, number (&t, "flip", i), phase);
    lam_sequence_wait (t.s, after);
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, phase, winds ? LAM_SHIFT_AFTER : LAM_SPOIL_AFTER);
    lam_sequence_wait (t.s, rest);
  }
  lam_sequence_set_playings (t.s, (int) value (&t, "playings"));
  return done (&t, ok);
}

static const char *const spoilings[] = {"ideal", "RF and gradient", NULL};

static const LamField flash_fields[] = {
    LIST ("flip", "deg", "Flip angles", 20, -ANGLE, ANGLE),
    NUMBER ("TR", "ms", "Repetition time", 6, 0, TIME),
    NUMBER ("TE", "ms", "Echo time, from the pulse's centre", 2, 0, TIME),
    COUNT ("nshots", "Shots", 60, 1, MOST_PULSES),
    {"pulse_duration", "ms", "Pulse length (0: hard)", LAM_FIELD_NUMBER, 0, 0, 1000, NULL, TRUE},
    {"bandwidth_time", "", "Bandwidth × time of the sinc", LAM_FIELD_NUMBER, 4, 0.1, 1000, NULL, TRUE},
    {"dwell", "ms", "Dwell of sampled pulses", LAM_FIELD_NUMBER, 0.01, 1e-6, 1000, NULL, TRUE},
    CHOICE ("spoiling", "Spoiling", 0, spoilings),
    NUMBER ("rf_increment", "deg", "RF spoiling increment", 117, -ANGLE, ANGLE),
    CHOICE ("inversion", "Inversion", 0, inversions),
    {"inversion_duration", "ms", "Length of the adiabatic inversion", LAM_FIELD_NUMBER, 10, 0, 1000, NULL, TRUE},
    NUMBER ("inversion_phase", "deg", "Phase of the inversion", 0, -ANGLE, ANGLE),
    NUMBER ("spoiler", "ms", "Spoiler after the inversion", 5, 0, TIME),
    COUNT ("playings", "Playings (0: settled)", 1, 0, 100000),
    {NULL},
};

static LamSequence *
build_truefisp (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = pulses_of (&t, "nshots");
  g_autofree double *shape = NULL;
  int64_t samples;
  double dwell;
  gboolean automatic = isnan (value (&t, "TE"));
  LamNumber tr = number (&t, "TR", 0), te = automatic ? lam_number_scale (0.5, tr) : number (&t, "TE", 0);
  LamNumber preparation =
      isnan (value (&t, "preparation")) ? lam_number_scale (0.5, tr) : number (&t, "preparation", 0);
  gboolean ok = as_many (&t, "flip", n, "shots", error) && unit_shape (&t, &shape, &samples, &dwell, error)
                && play_inversion (&t, error);
  LamNumber length = lam_number (ok ? samples * dwell : 0), half = lam_number_scale (0.5, length);
  LamNumber after = lam_number_sub (te, half), rest = lam_number_sub (lam_number_sub (tr, half), te),
            ahead = lam_number_sub (preparation, length);
  ok = ok && fits (after, "TE, from the pulse's centre, lies inside the pulse", error)
       && fits (rest, "TR is shorter than half a pulse and TE", error)
       && fits (ahead, "the preparation is shorter than its pulse", error);
  if (ok && value (&t, "half_alpha") > 0) {
    play_shape (&t, shape, samples, dwell, lam_number_scale (0.5, number (&t, "flip", 0)), lam_number (LAM_PI));
    lam_sequence_wait (t.s, ahead);
  }
  for (int i = 0; ok && i < n; i++) {
    LamNumber phase = lam_number_scale (i, number (&t, "phase_increment", 0));
    play_shape (&t, shape, samples, dwell, number (&t, "flip", i), phase);
    lam_sequence_wait (t.s, after);
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, phase, 0);
    lam_sequence_wait (t.s, rest);
  }
  lam_sequence_set_playings (t.s, (int) value (&t, "playings"));
  return done (&t, ok);
}

static const LamField truefisp_fields[] = {
    LIST ("flip", "deg", "Flip angles", 40, -ANGLE, ANGLE),
    NUMBER ("TR", "ms", "Repetition time", 5, 0, TIME),
    NUMBER ("TE", "ms", "Echo time, from the pulse's centre (empty: TR/2)", NAN, 0, TIME),
    NUMBER ("phase_increment", "deg", "RF phase from pulse to pulse", 180, -ANGLE, ANGLE),
    COUNT ("nshots", "Shots", 50, 1, MOST_PULSES),
    CHOICE ("half_alpha", "α/2 preparation", 1, yes_no),
    NUMBER ("preparation", "ms", "From the α/2 pulse to the train (empty: TR/2)", NAN, 0, TIME),
    {"pulse_duration", "ms", "Pulse length (0: hard)", LAM_FIELD_NUMBER, 0, 0, 1000, NULL, TRUE},
    {"bandwidth_time", "", "Bandwidth × time of the sinc", LAM_FIELD_NUMBER, 4, 0.1, 1000, NULL, TRUE},
    {"dwell", "ms", "Dwell of sampled pulses", LAM_FIELD_NUMBER, 0.01, 1e-6, 1000, NULL, TRUE},
    CHOICE ("inversion", "Inversion", 0, inversions),
    {"inversion_duration", "ms", "Length of the adiabatic inversion", LAM_FIELD_NUMBER, 10, 0, 1000, NULL, TRUE},
    NUMBER ("inversion_phase", "deg", "Phase of the inversion", 0, -ANGLE, ANGLE),
    NUMBER ("spoiler", "ms", "Spoiler after the inversion", 5, 0, TIME),
    COUNT ("playings", "Playings (0: settled)", 1, 0, 100000),
    {NULL},
};

static LamSequence *
build_fmssfp (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n = (int) value (&t, "nshots"), sweeps = (int) value (&t, "sweeps");
  LamNumber tr = number (&t, "TR", 0),
            te = isnan (value (&t, "TE")) ? lam_number_scale (0.5, tr) : number (&t, "TE", 0);
  LamNumber rest = lam_number_sub (tr, te);
  gboolean ok = fits (rest, "TE is longer than TR", error);
  double phase = 0;
  for (int i = 0; ok && i < n * (sweeps + 1); i++) {
    phase = fmod (phase + LAM_PI + 2 * LAM_PI * (i % n) / n, 2 * LAM_PI);
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", 0), lam_number (phase), 0);
    lam_sequence_wait (t.s, te);
    lam_sequence_adc (t.s, i < n * sweeps ? LAM_ADC_NON_ACQUIRED : LAM_ADC_SINGLE, lam_number (phase), 0);
    lam_sequence_wait (t.s, rest);
  }
  return done (&t, ok);
}

static const LamField fmssfp_fields[] = {
    NUMBER ("flip", "deg", "Flip angle", 30, -ANGLE, ANGLE),
    NUMBER ("TR", "ms", "Repetition time", 5, 0, TIME),
    NUMBER ("TE", "ms", "Echo time (empty: TR/2)", NAN, 0, TIME),
    COUNT ("nshots", "Pulses in a sweep of the phase increment", 48, 1, 100000),
    COUNT ("sweeps", "Sweeps before the recorded one", 1, 0, 100),
    {NULL},
};

static LamSequence *
build_stimulated (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  gboolean ok = as_many (&t, "flip", 3, "pulses", error);
  LamNumber te = number (&t, "TE", 0), tm = number (&t, "TM", 0), half = lam_number_scale (0.5, te);
  LamNumber wait = lam_number_sub (tm, half);
  ok = ok && fits (wait, "TM is shorter than TE/2", error);
  if (ok) {
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", 0), zero (), 0);
    lam_sequence_wait (t.s, half);
    lam_sequence_rf (t.s, LAM_RF_REFOCUSING, number (&t, "flip", 1), zero (), LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER);
    lam_sequence_wait (t.s, half);
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, zero (), LAM_SPOIL_AFTER);
    lam_sequence_wait (t.s, wait);
    lam_sequence_rf (t.s, LAM_RF_EXCITATION, number (&t, "flip", 2), zero (), 0);
    lam_sequence_wait (t.s, lam_number_scale (0.25, te));
    lam_sequence_action (t.s, LAM_CRUSH_AFTER);
    lam_sequence_wait (t.s, lam_number_scale (0.25, te));
    lam_sequence_adc (t.s, LAM_ADC_SINGLE, zero (), 0);
  }
  return done (&t, ok);
}

static const LamField stimulated_fields[] = {
    LIST ("flip", "deg", "Flip angles (one, or three)", 90, -ANGLE, ANGLE),
    NUMBER ("TE", "ms", "Echo time", 20, 0, TIME),
    NUMBER ("TM", "ms", "Mixing time", 60, 0, TIME),
    {NULL},
};

/* ---- CEST: one train for each offset ---- */

static int
cest_trains (const LamProtocol *p)
{
  int n;
  lam_protocol_get (p, "offsets", &n);
  return n;
}

static LamSequence *
build_cest (const LamProtocol *p, int train, GError **error)
{
  Train t = start (p);
  int n, pulses = (int) value (&t, "npulses");
  double ppm = lam_protocol_get (p, "offsets", &n)[train];
  double hz = LAM_GAMMA_BAR * 1e-6 * value (&t, "field") * ppm, length = value (&t, "pulse_duration") * 1e-3,
         dwell = value (&t, "dwell") * 1e-3, samples = rint (length / dwell);
  /* rad/s for each uT */
  double per_ut = 2 * LAM_PI * LAM_GAMMA_BAR * 1e-6;
  LamNumber b1 = number (&t, "B1sat", 0);
  gboolean ok = samples >= 1 && samples <= 1e6 && fabs (samples * dwell - length) <= 1e-9;
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the saturation of %g ms is not a whole number of dwells of %g ms (1 to a million)", length * 1e3,
                 dwell * 1e3);
  for (int i = 0; ok && i < pulses; i++) {
    if (i > 0)
      lam_sequence_wait (t.s, number (&t, "interpulse_delay", 0));
    for (int64_t k = 0; k < (int64_t) samples; k++) {
      lam_sequence_wait (t.s, lam_number (k == 0 ? dwell / 2 : dwell));
      double phase = -2 * LAM_PI * hz * (i * length + (k + 0.5) * dwell);
      LamEvent *e = lam_sequence_rf (t.s, LAM_RF_EXCITATION, lam_number_scale (per_ut * dwell, b1),
                                     lam_number (fmod (phase, 2 * LAM_PI)), 0);
      e->frequency_hz = hz;
    }
    lam_sequence_wait (t.s, lam_number (dwell / 2));
  }
  lam_sequence_action (t.s, LAM_SPOIL_AFTER);
  lam_sequence_wait (t.s, number (&t, "recovery", 0));
  /* The longitudinal magnetisation itself: a readout pulse that the transmit field does not change. */
  lam_sequence_rf (t.s, LAM_RF_EXCITATION, lam_number (LAM_PI / 2), zero (), 0)->shim = LAM_SHIM_PERFECT;
  lam_sequence_adc (t.s, LAM_ADC_SINGLE, zero (), 0);
  lam_sequence_set_factor (t.s, 0, 1);
  return done (&t, ok);
}

static const LamField cest_fields[] = {
    {"offsets", "ppm", "Offsets of the saturation", LAM_FIELD_LIST, 3.5, -1e4, 1e4, NULL, TRUE},
    {"field", "T", "Field strength", LAM_FIELD_NUMBER, 3, 0.01, 30, NULL, TRUE},
    NUMBER ("B1sat", "uT", "Saturation amplitude", 1, 0, 1000),
    COUNT ("npulses", "Saturation pulses", 1, 1, 10000),
    {"pulse_duration", "ms", "Length of a saturation pulse", LAM_FIELD_NUMBER, 100, 0, TIME, NULL, TRUE},
    NUMBER ("interpulse_delay", "ms", "Between saturation pulses", 0, 0, TIME),
    NUMBER ("recovery", "ms", "From the saturation to the readout", 6.5, 0, TIME),
    {"dwell", "ms", "Dwell of the saturation pulses", LAM_FIELD_NUMBER, 0.1, 1e-6, 1000, NULL, TRUE},
    {NULL},
};

/* ---- the list ---- */

static const char *const t1_t2_b1[] = {"T1", "T2", "M0", "B1", NULL};
static const char *const with_efficiency[] = {"T1", "T2", "M0", "B1", "inv_efficiency", NULL};
static const char *const t1_efficiency[] = {"T1", "M0", "B1", "inv_efficiency", NULL};
static const char *const with_b0[] = {"T1", "T2", "M0", "B1", "B0", NULL};
static const char *const cest_tissues[] = {
    "T1", "T2", "M0", "B1", "B0", "poolB_fraction", "poolB_exchange", "poolB_T1", "poolB_T2", "poolB_shift", NULL};

static const LamTemplate trains[] = {
    {.name = "MRF",
     .title = "Fingerprinting (FISP)",
     .summary = "Inversion, then pulses of varying flip angle with one order of winding in each repetition",
     .fields = mrf_fields,
     .tissues = with_efficiency,
     .orders = 32,
     .build = build_mrf},
    {.name = "FSE",
     .title = "Fast spin echo (CPMG)",
     .summary = "Excitation and a train of crushed refocusing pulses, played until it has settled",
     .fields = fse_fields,
     .tissues = t1_t2_b1,
     .build = build_fse},
    {.name = "Hyperecho",
     .title = "Hyperecho",
     .summary = "A half train, a 180° pulse and the mirrored half train: all magnetisation comes back",
     .fields = hyperecho_fields,
     .tissues = t1_t2_b1,
     .build = build_hyperecho},
    {.name = "FLASH",
     .title = "Spoiled gradient echo (FLASH)",
     .summary = "Pulses of one kind with ideal or RF spoiling, from equilibrium or after an inversion",
     .fields = flash_fields,
     .tissues = with_b0,
     .build = build_flash},
    {.name = "TrueFISP",
     .title = "Balanced SSFP train (TrueFISP)",
     .summary = "Balanced repetitions with alternating phase and an α/2 preparation",
     .fields = truefisp_fields,
     .tissues = with_b0,
     .orders = 1,
     .build = build_truefisp},
    {.name = "fmSSFP",
     .title = "Frequency-modulated SSFP",
     .summary = "Balanced repetitions whose phase increment sweeps through a turn",
     .fields = fmssfp_fields,
     .tissues = with_b0,
     .orders = 1,
     .build = build_fmssfp},
    {.name = "StimulatedEcho",
     .title = "Spin echo and stimulated echo",
     .summary = "Three pulses: the spin echo of two and the stimulated echo of all",
     .fields = stimulated_fields,
     .tissues = with_b0,
     .orders = 4,
     .build = build_stimulated},
    {.name = "MPRAGE",
     .title = "MPRAGE",
     .summary = "Inversion and spoiled shots; the sample of the central one",
     .fields = mprage_fields,
     .tissues = t1_efficiency,
     .orders = 1,
     .t2_absent = 100,
     .build = build_mprage},
    {.name = "MPnRAGE",
     .title = "MPnRAGE",
     .summary = "Inversion and spoiled shots, all recorded",
     .fields = mpnrage_fields,
     .tissues = t1_efficiency,
     .orders = 1,
     .t2_absent = 100,
     .build = build_mpnrage},
    {.name = "CEST",
     .title = "CEST Z-spectrum",
     .summary = "Saturation at each offset, then the longitudinal magnetisation that is left",
     .fields = cest_fields,
     .tissues = cest_tissues,
     .orders = 1,
     .real_signal = TRUE,
     .trains = cest_trains,
     .build = build_cest},
};

int
lam_train_templates (const LamTemplate **to)
{
  for (guint i = 0; i < G_N_ELEMENTS (trains); i++)
    to[i] = &trains[i];
  return G_N_ELEMENTS (trains);
}
