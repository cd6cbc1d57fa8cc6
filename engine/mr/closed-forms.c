/* closed-forms.c: the templates whose signal is a formula (spec section 7.1; sources named there). Times are ms, angles degrees. Every
 * form is written over duals, so that its derivative by any quantity comes with it. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "mr/constants.h"
#include "mr/templates-private.h"

#define F(name, i) lam_closed_field (c, name, i)
#define T(name) lam_closed_tissue (c, name)
#define HAS(name) lam_closed_has (c, name)

static const char *const yes_no[] = {"no", "yes", NULL};
static const LamDual one = {1, 0}, none = {0, 0};

static LamDual
radians (LamDual degrees)
{
  return dual_scale (LAM_DEGREE, degrees);
}

static LamDual
complement (LamDual a)
{
  return dual_sub (one, a);
}

/* As many samples as the longest of the lists. */
static int
longest (const LamProtocol *p, const char *const *names)
{
  int most = 1, n;
  for (int i = 0; names[i]; i++) {
    lam_protocol_get (p, names[i], &n);
    most = MAX (most, n);
  }
  return most;
}

static gboolean
same_length (const LamProtocol *p, const char *const *names, GError **error)
{
  int most = longest (p, names), n;
  for (int i = 0; names[i]; i++) {
    lam_protocol_get (p, names[i], &n);
    if (n == 1 || n == most)
      continue;
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s has %d values where another list has %d; one, or as many are needed", names[i], n, most);
    return FALSE;
  }
  return TRUE;
}

/* x exp (i phase), phase in radians */
static void
put_turned (LamClosed *c, int i, LamDual x, LamDual phase)
{
  lam_closed_put (c, i, dual_mul (x, dual_cos (phase)), dual_mul (x, dual_sin (phase)));
}

/* ---- spoiled and balanced gradient echo ---- */

static const char *const echo_lists[] = {"flip", "TR", "TE", NULL};

static int
echo_samples (const LamProtocol *p)
{
  return longest (p, echo_lists);
}

/* Whether @inner fits into @outer (ms), by the values of each that belong together; an @outer of 0 has no end. */
static gboolean
fits (const LamProtocol *p, const char *inner, const char *outer, GError **error)
{
  int n, m;
  const double *x = lam_protocol_get (p, inner, &n), *y = lam_protocol_get (p, outer, &m);
  for (int i = 0; i < LAM_MAX (n, m); i++) {
    double a = x[LAM_MIN (i, n - 1)], b = y[LAM_MIN (i, m - 1)];
    if (b > 0 && a > b) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s is longer than %s: %g ms too little", inner, outer, a - b);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
echo_check (const LamProtocol *p, GError **error)
{
  return same_length (p, echo_lists, error) && fits (p, "TE", "TR", error);
}

static gboolean
inversion_check (const LamProtocol *p, GError **error)
{
  return fits (p, "TI", "TR", error);
}

static gboolean
spin_echo_check (const LamProtocol *p, GError **error)
{
  return fits (p, "TE", "TR", error) && fits (p, "TI", "TR", error);
}

/* 2 pi (chemshift - B0) t, t in ms */
static LamDual
off_resonance (LamClosed *c, LamDual t)
{
  return dual_scale (2e-3 * LAM_PI, dual_mul (dual_sub (T ("chemshift"), T ("B0")), t));
}

static void
spgr (LamClosed *c)
{
  static const char *const lists[] = {"flip", "TR", "TE", NULL};
  int n = 1;
  for (int i = 0; lists[i]; i++)
    n = MAX (n, lam_closed_count (c, lists[i]));
  for (int i = 0; i < n; i++) {
    LamDual a = radians (F ("flip", i)), e1 = dual_decay (F ("TR", i), T ("T1")), te = F ("TE", i);
    LamDual sine = dual_sin (a), below = complement (dual_mul (e1, dual_cos (a)));
    /* flip 0 or TR 0: nothing, not 0 / 0 */
    LamDual s = below.v == 0 ? none : dual_div (dual_mul (complement (e1), sine), below);
    s = dual_mul (dual_mul (T ("M0"), s), HAS ("T2star") ? dual_decay (te, T ("T2star")) : one);
    put_turned (c, i, s, off_resonance (c, te));
  }
}

/* The steady state has exp (-TR/T2); what a well-known program writes there, exp (-TE/T2), is the "parity" switch. */
static void
bssfp (LamClosed *c)
{
  int n = 1;
  for (int i = 0; echo_lists[i]; i++)
    n = MAX (n, lam_closed_count (c, echo_lists[i]));
  gboolean parity = F ("formula", 0).v > 0;
  for (int i = 0; i < n; i++) {
    LamDual a = radians (F ("flip", i)), tr = F ("TR", i),
            te = isnan (F ("TE", i).v) ? dual_scale (0.5, tr) : F ("TE", i);
    LamDual e1 = dual_decay (tr, T ("T1")), e2 = dual_decay (parity ? te : tr, T ("T2")), ca = dual_cos (a),
            sa = dual_sin (a);
    LamDual th = dual_add (off_resonance (c, tr), radians (F ("phase_inc", 0))), ct = dual_cos (th), st = dual_sin (th);
    LamDual below = dual_sub (dual_mul (complement (dual_mul (e1, ca)), complement (dual_mul (e2, ct))),
                              dual_mul (dual_mul (e2, dual_sub (e1, ca)), dual_sub (e2, ct)));
    LamDual scale = below.v == 0 ? none : dual_div (dual_mul (dual_mul (T ("M0"), complement (e1)), sa), below);
    scale = dual_mul (scale, dual_decay (te, T ("T2")));
    LamDual x = dual_neg (dual_mul (scale, dual_mul (e2, st))), y = dual_mul (scale, complement (dual_mul (e2, ct)));
    LamDual p = off_resonance (c, te), cp = dual_cos (p), sp = dual_sin (p);
    lam_closed_put (c, i, dual_sub (dual_mul (x, cp), dual_mul (y, sp)), dual_add (dual_mul (x, sp), dual_mul (y, cp)));
  }
}

static const LamField spgr_fields[] = {
    LIST ("flip", "deg", "Flip angles", 15, -ANGLE, ANGLE),
    LIST ("TR", "ms", "Repetition times", 6, 0, TIME),
    LIST ("TE", "ms", "Echo times", 2, 0, TIME),
    {NULL},
};

static const char *const bssfp_formulas[] = {"exp(-TR/T2)", "exp(-TE/T2), for comparison", NULL};

static const LamField bssfp_fields[] = {
    LIST ("flip", "deg", "Flip angles", 40, -ANGLE, ANGLE),
    LIST ("TR", "ms", "Repetition times", 5, 0, TIME),
    LIST ("TE", "ms", "Echo times (empty: TR/2)", NAN, 0, TIME),
    NUMBER ("phase_inc", "deg", "RF phase from pulse to pulse", 180, -ANGLE, ANGLE),
    CHOICE ("formula", "Transverse factor of the steady state", 0, bssfp_formulas),
    {NULL},
};

/* ---- recovery and decay ---- */

static const char *const ti_lists[] = {"TI", NULL}, *const te_lists[] = {"TE", NULL},
                         *const flip_lists[] = {"flip", NULL};

static int
ti_samples (const LamProtocol *p)
{
  return longest (p, ti_lists);
}

static int
te_samples (const LamProtocol *p)
{
  return longest (p, te_lists);
}

static int
flip_samples (const LamProtocol *p)
{
  return longest (p, flip_lists);
}

static void
inversion_recovery (LamClosed *c)
{
  for (int i = 0; i < lam_closed_count (c, "TI"); i++) {
    LamDual ti = F ("TI", i), tr = F ("TR", 0), start = one;
    if (tr.v > 0)
      start = complement (dual_decay (dual_sub (tr, ti), T ("T1")));
    LamDual lost = dual_add (one, dual_mul (T ("inv_efficiency"), start));
    LamDual s = complement (dual_mul (lost, dual_decay (ti, T ("T1"))));
    lam_closed_put (c, i, dual_add (dual_mul (T ("M0"), s), T ("offset")), none);
  }
}

static void
multi_echo (LamClosed *c)
{
  for (int i = 0; i < lam_closed_count (c, "TE"); i++)
    lam_closed_put (c, i, dual_add (dual_mul (T ("M0"), dual_decay (F ("TE", i), T ("T2"))), T ("offset")), none);
}

static void
double_angle (LamClosed *c)
{
  for (int i = 0; i < lam_closed_count (c, "flip"); i++)
    lam_closed_put (c, i, dual_mul (T ("M0"), dual_sin (dual_mul (T ("B1"), radians (F ("flip", i))))), none);
}

static void
spin_echo (LamClosed *c)
{
  for (int i = 0; i < lam_closed_count (c, "TE"); i++) {
    LamDual te = F ("TE", i), tr = F ("TR", 0), ti = F ("TI", 0), t1 = T ("T1");
    LamDual s = dual_sub (dual_add (one, dual_decay (tr, t1)),
                          dual_scale (2, dual_decay (dual_sub (tr, dual_scale (0.5, te)), t1)));
    if (ti.v > 0)
      s = dual_mul (s, complement (dual_mul (dual_add (one, T ("inv_efficiency")), dual_decay (ti, t1))));
    lam_closed_put (c, i, dual_mul (dual_mul (T ("M0"), s), dual_decay (te, T ("T2"))), none);
  }
}

static const LamField ir_fields[] = {
    LIST ("TI", "ms", "Inversion times", 500, 0, TIME),
    NUMBER ("TR", "ms", "Repetition time (0: full recovery)", 0, 0, TIME),
    {NULL},
};
static const LamField multi_echo_fields[] = {LIST ("TE", "ms", "Echo times", 20, 0, TIME), {NULL}};
static const LamField double_angle_fields[] = {LIST ("flip", "deg", "Flip angles", 60, -ANGLE, ANGLE), {NULL}};
static const LamField spin_echo_fields[] = {
    LIST ("TE", "ms", "Echo times", 20, 0, TIME),
    NUMBER ("TR", "ms", "Repetition time", 3000, 0, TIME),
    NUMBER ("TI", "ms", "Inversion time (0: no inversion)", 0, 0, TIME),
    {NULL},
};

/* ---- Look-Locker and its kin ---- */

/* 1 / T1* (1/ms) and the magnetisation that is driven to. */
static void
driven (LamClosed *c, LamDual a, LamDual *rate, LamDual *level)
{
  LamDual tr = F ("TR", 0), r1 = dual_div (one, T ("T1"));
  *rate = dual_sub (r1, dual_div (dual_log (dual_cos (a)), tr));
  *level = F ("short_TR", 0).v > 0 ? dual_div (r1, *rate)
                                   : dual_div (complement (dual_decay (tr, T ("T1"))),
                                               complement (dual_exp (dual_neg (dual_mul (*rate, tr)))));
  *level = dual_mul (T ("M0"), *level);
}

static void
look_locker (LamClosed *c)
{
  LamDual a = dual_mul (T ("B1"), radians (F ("flip", 0))), rate, level;
  driven (c, a, &rate, &level);
  LamDual start = dual_neg (dual_mul (T ("inv_efficiency"), F ("from_steady_state", 0).v > 0 ? level : T ("M0")));
  for (int i = 0; i < lam_closed_count (c, "TI"); i++) {
    LamDual left = dual_mul (dual_sub (level, start), dual_exp (dual_neg (dual_mul (rate, F ("TI", i)))));
    lam_closed_put (c, i, dual_mul (dual_sin (a), dual_sub (level, left)), none);
  }
}

static int
molli_samples (const LamProtocol *p)
{
  int n, sum = 0;
  const double *readouts = lam_protocol_get (p, "readouts", &n);
  for (int i = 0; i < n; i++)
    sum += (int) readouts[i];
  return sum;
}

static gboolean
molli_check (const LamProtocol *p, GError **error)
{
  int n;
  const double *readouts = lam_protocol_get (p, "readouts", &n);
  for (int i = 0; i < n; i++)
    if (readouts[i] != floor (readouts[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "readouts[%d] = %g: a whole number is needed", i, readouts[i]);
      return FALSE;
    }
  return TRUE;
}

static void
molli (LamClosed *c)
{
  LamDual a = dual_mul (T ("B1"), radians (F ("flip", 0))), rate, level, m0 = T ("M0");
  LamDual start = dual_neg (dual_mul (T ("inv_efficiency"), m0)), last = start;
  driven (c, a, &rate, &level);
  for (int b = 0, at = 0; b < lam_closed_count (c, "readouts"); b++) {
    for (int k = 0; k < (int) F ("readouts", b).v; k++) {
      LamDual t = dual_scale (k, F ("TR", 0));
      last = dual_sub (level, dual_mul (dual_sub (level, start), dual_exp (dual_neg (dual_mul (rate, t)))));
      lam_closed_put (c, at++, dual_mul (dual_sin (a), last), none);
    }
    start = dual_add (m0, dual_mul (dual_sub (last, m0), dual_decay (F ("recovery", 0), T ("T1"))));
  }
}

static void
ir_bssfp (LamClosed *c)
{
  LamDual a = dual_mul (T ("B1"), radians (F ("flip", 0))), t1 = T ("T1"), t2 = T ("T2"), m0 = T ("M0");
  LamDual ratio = dual_div (t1, t2), ca = dual_cos (a), half = dual_scale (0.5, a), sh = dual_sin (half),
          ch = dual_cos (half);
  LamDual ss =
      dual_div (dual_mul (m0, dual_sin (a)), dual_sub (dual_add (ratio, one), dual_mul (ca, dual_sub (ratio, one))));
  LamDual s0 = dual_mul (T ("inv_efficiency"), dual_mul (m0, sh));
  LamDual rate = dual_add (dual_div (dual_mul (ch, ch), t1), dual_div (dual_mul (sh, sh), t2));
  for (int i = 0; i < lam_closed_count (c, "TI"); i++)
    lam_closed_put (
        c, i, dual_sub (ss, dual_mul (dual_add (ss, s0), dual_exp (dual_neg (dual_mul (rate, F ("TI", i)))))), none);
}

static const LamField look_locker_fields[] = {
    NUMBER ("flip", "deg", "Flip angle", 6, 0, 89),
    NUMBER ("TR", "ms", "Time between pulses", 4, 1e-6, TIME),
    LIST ("TI", "ms", "Times after the inversion", 400, 0, TIME),
    CHOICE ("short_TR", "TR much shorter than T1*", 0, yes_no),
    CHOICE ("from_steady_state", "Inversion out of the steady state", 0, yes_no),
    {NULL},
};
static const LamField molli_fields[] = {
    NUMBER ("flip", "deg", "Flip angle", 6, 0, 89),
    NUMBER ("TR", "ms", "Time between readouts", 4, 1e-6, TIME),
    LIST ("readouts", "", "Readouts of each block", 5, 1, 100000),
    NUMBER ("recovery", "ms", "Recovery between blocks", 3000, 0, TIME),
    CHOICE ("short_TR", "TR much shorter than T1*", 0, yes_no),
    {NULL},
};
static const LamField ir_bssfp_fields[] = {
    NUMBER ("flip", "deg", "Flip angle", 45, -ANGLE, ANGLE),
    LIST ("TI", "ms", "Times after the inversion", 450, 0, TIME),
    {NULL},
};

/* ---- hybrid state (Assländer et al., 2019) ---- */

static void
hsfp (LamClosed *c)
{
  int n = lam_closed_count (c, "flip");
  LamDual tr = dual_scale (1e-3, F ("TR", 0)), r1 = dual_div (dual (1000), T ("T1")),
          r2 = dual_div (dual (1000), T ("T2"));
  LamDual theta = none, g = none, beta = F ("beta", 0);
  g_autofree LamDual *thetas = g_new (LamDual, n + 1), *gs = g_new (LamDual, n + 1);
  thetas[0] = gs[0] = none;
  for (int i = 0; i < n; i++) {
    LamDual a = dual_abs (radians (F ("flip", i))), s = dual_sin (a), k = dual_cos (a);
    theta = dual_add (theta, dual_mul (tr, dual_add (dual_mul (dual_mul (s, s), r2), dual_mul (dual_mul (k, k), r1))));
    g = dual_add (g, dual_mul (tr, dual_mul (k, dual_exp (theta))));
    thetas[i + 1] = theta;
    gs[i + 1] = g;
  }
  LamDual whole = dual_exp (dual_neg (theta));
  LamDual start = dual_div (dual_mul (dual_mul (beta, r1), dual_mul (whole, g)), complement (dual_mul (beta, whole)));
  for (int i = 0; i < n; i++)
    lam_closed_put (
        c, i, dual_mul (dual_mul (T ("M0"), dual_exp (dual_neg (thetas[i]))), dual_add (start, dual_mul (r1, gs[i]))),
        none);
}

static const LamField hsfp_fields[] = {
    LIST ("flip", "deg", "Polar angles of the train", 30, -ANGLE, ANGLE),
    NUMBER ("TR", "ms", "Repetition time", 4.5, 1e-6, TIME),
    NUMBER ("beta", "", "Link of end and start (−1: antiperiodic)", -1, -1, 1),
    {NULL},
};

/* ---- fat and water ---- */

/* Hamilton et al. 2011 and Middleton et al. 2009: shift from water (ppm), relative amplitude. */
static const double shifts_ppm[6] = {-3.80, -3.40, -2.60, -1.94, -.39, .60};
static const double hamilton[6] = {.086, .537, .165, .046, .052, .114},
                    middleton[6] = {.087, .693, .128, .004, .039, .048};
static const char *const spectra[] = {"Hamilton 2011", "Middleton 2009", "as given", NULL};

static void
fat_water (LamClosed *c, gboolean inverted)
{
  const int spectrum = (int) F ("fat_spectrum", 0).v, peaks = spectrum == 2 ? lam_closed_count (c, "fat_ppm") : 6;
  LamDual water = one, fat = one, f = T ("fat_fraction");
  if (inverted) {
    LamDual ti = F ("TI", 0), eff = T ("inv_efficiency");
    LamDual fat_t1 = HAS ("fat_T1") ? T ("fat_T1") : T ("T1"),
            fat_eff = HAS ("fat_inv_efficiency") ? T ("fat_inv_efficiency") : eff;
    water = complement (dual_mul (dual_add (one, eff), dual_decay (ti, T ("T1"))));
    fat = complement (dual_mul (dual_add (one, fat_eff), dual_decay (ti, fat_t1)));
  }
  for (int i = 0; i < lam_closed_count (c, "TE"); i++) {
    LamDual te = F ("TE", i), re = none, im = none;
    LamDual decay = HAS ("T2star") ? dual_decay (te, T ("T2star")) : one;
    LamDual fat_decay = HAS ("fat_T2star") ? dual_decay (te, T ("fat_T2star")) : decay;
    for (int p = 0; p < peaks; p++) {
      double ppm = spectrum == 2 ? F ("fat_ppm", p).v : shifts_ppm[p];
      double amplitude = spectrum == 2 ? F ("fat_amplitude", p).v : spectrum == 1 ? middleton[p] : hamilton[p];
      double hz = LAM_GAMMA_BAR * F ("field", 0).v * ppm * 1e-6;
      LamDual turn = dual_add (dual_scale (2e-3 * LAM_PI * hz, te), radians (inverted ? none : T ("fat_phase")));
      re = dual_add (re, dual_scale (amplitude, dual_cos (turn)));
      im = dual_add (im, dual_scale (amplitude, dual_sin (turn)));
    }
    LamDual w = dual_mul (dual_mul (complement (f), water), decay), g = dual_mul (dual_mul (f, fat), fat_decay);
    re = dual_mul (T ("M0"), dual_add (w, dual_mul (g, re)));
    im = dual_mul (T ("M0"), dual_mul (g, im));
    LamDual turn = dual_scale (-2e-3 * LAM_PI, dual_mul (T ("B0"), te)), k = dual_cos (turn), s = dual_sin (turn);
    lam_closed_put (c, i, dual_sub (dual_mul (re, k), dual_mul (im, s)), dual_add (dual_mul (re, s), dual_mul (im, k)));
  }
}

static void
multi_gradient_echo (LamClosed *c)
{
  fat_water (c, FALSE);
}

static void
ir_multi_gradient_echo (LamClosed *c)
{
  fat_water (c, TRUE);
}

static const LamField mge_fields[] = {
    LIST ("TE", "ms", "Echo times", 2, 0, TIME),
    {"field", "T", "Field strength", LAM_FIELD_NUMBER, 3, 0.01, 30, NULL, TRUE},
    CHOICE ("fat_spectrum", "Fat spectrum", 0, spectra),
    {"fat_ppm", "ppm", "Fat peaks (as given)", LAM_FIELD_LIST, 0, -100, 100, NULL, TRUE, shifts_ppm, 6},
    {"fat_amplitude", "", "Their amplitudes", LAM_FIELD_LIST, 0, -100, 100, NULL, TRUE, hamilton, 6},
    {NULL},
};
static const LamField ir_mge_fields[] = {
    NUMBER ("TI", "ms", "Inversion time", 220, 0, TIME),
    LIST ("TE", "ms", "Echo times", 2, 0, TIME),
    {"field", "T", "Field strength", LAM_FIELD_NUMBER, 3, 0.01, 30, NULL, TRUE},
    CHOICE ("fat_spectrum", "Fat spectrum", 0, spectra),
    {"fat_ppm", "ppm", "Fat peaks (as given)", LAM_FIELD_LIST, 0, -100, 100, NULL, TRUE, shifts_ppm, 6},
    {"fat_amplitude", "", "Their amplitudes", LAM_FIELD_LIST, 0, -100, 100, NULL, TRUE, hamilton, 6},
    {NULL},
};

/* ---- diffusion ---- */

static int
b_samples (const LamProtocol *p)
{
  static const char *const lists[] = {"b", "gx", "gy", "gz", NULL};
  return longest (p, lists);
}

static gboolean
b_check (const LamProtocol *p, GError **error)
{
  static const char *const lists[] = {"b", "gx", "gy", "gz", NULL};
  return same_length (p, lists, error);
}

static void
diffusion (LamClosed *c)
{
  static const char *const names[3][3] = {{"Dxx", "Dxy", "Dxz"}, {"Dxy", "Dyy", "Dyz"}, {"Dxz", "Dyz", "Dzz"}};
  static const char *const axes[] = {"gx", "gy", "gz"};
  gboolean tensor = HAS ("Dxx") || HAS ("Dyy") || HAS ("Dzz");
  int n = lam_closed_count (c, "b");
  for (int k = 0; k < 3; k++)
    n = MAX (n, lam_closed_count (c, axes[k]));
  for (int i = 0; i < n; i++) {
    LamDual d = T ("D");
    if (tensor) {
      d = none;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          d = dual_add (d, dual_mul (dual_mul (F (axes[k], i), F (axes[l], i)), T (names[k][l])));
    }
    lam_closed_put (c, i, dual_mul (T ("M0"), dual_exp (dual_scale (-1e-3, dual_mul (F ("b", i), d)))), none);
  }
}

static const LamField diffusion_fields[] = {
    LIST ("b", "s/mm²", "b values", 1000, 0, 1e7),
    LIST ("gx", "", "Direction x (of a tensor)", 1, -1, 1),
    LIST ("gy", "", "Direction y", 0, -1, 1),
    LIST ("gz", "", "Direction z", 0, -1, 1),
    {NULL},
};

/* ---- Z-spectrum of Lorentzians ---- */

static int
offset_samples (const LamProtocol *p)
{
  static const char *const lists[] = {"offsets", NULL};
  return longest (p, lists);
}

static void
lorentzian (LamClosed *c)
{
  for (int i = 0; i < lam_closed_count (c, "offsets"); i++) {
    LamDual s = one;
    for (int p = 1; p <= 4; p++) {
      g_autofree char *amplitude = g_strdup_printf ("pool%d_amplitude", p),
                      *width = g_strdup_printf ("pool%d_width", p), *shift = g_strdup_printf ("pool%d_shift", p);
      if (!HAS (amplitude))
        continue;
      LamDual h = dual_scale (0.5, T (width)), d = dual_sub (F ("offsets", i), T (shift)), q = dual_mul (h, h);
      s = dual_sub (s, dual_mul (T (amplitude), dual_div (q, dual_add (q, dual_mul (d, d)))));
    }
    lam_closed_put (c, i, dual_mul (T ("M0"), s), none);
  }
}

static const LamField lorentzian_fields[] = {LIST ("offsets", "ppm", "Offsets", 0, -1e6, 1e6), {NULL}};

/* ---- arterial spin labelling (Buxton et al., 1998) ---- */

static int
t_samples (const LamProtocol *p)
{
  static const char *const lists[] = {"t", NULL};
  return longest (p, lists);
}

static void
asl (LamClosed *c)
{
  gboolean pulsed = F ("labelling", 0).v > 0;
  LamDual efficiency = isnan (F ("efficiency", 0).v) ? dual (pulsed ? 0.98 : 0.85) : F ("efficiency", 0);
  LamDual f = dual_scale (1.0 / 6000, T ("CBF")), r1b = dual_div (dual (1000), T ("T1_blood")),
          att = dual_scale (1e-3, T ("ATT"));
  LamDual r = dual_add (dual_div (dual (1000), T ("T1")), dual_div (f, T ("partition"))),
          tau = dual_scale (1e-3, F ("tau", 0));
  LamDual a = dual_div (dual_scale (2, dual_mul (dual_mul (T ("M0"), f), efficiency)), T ("partition"));
  for (int i = 0; i < lam_closed_count (c, "t"); i++) {
    LamDual t = dual_scale (1e-3, F ("t", i)), s = none, end = dual_add (att, tau);
    if (!pulsed && t.v >= att.v) {
      LamDual in = dual_mul (dual_div (a, r), dual_exp (dual_neg (dual_mul (att, r1b))));
      if (t.v <= end.v)
        s = dual_mul (in, complement (dual_exp (dual_neg (dual_mul (dual_sub (t, att), r)))));
      else
        s = dual_mul (dual_mul (in, complement (dual_exp (dual_neg (dual_mul (tau, r))))),
                      dual_exp (dual_neg (dual_mul (dual_sub (t, end), r))));
    } else if (pulsed && t.v > att.v) {
      LamDual k = dual_sub (r1b, r), u = t.v < end.v ? t : end;
      LamDual span = dual_sub (dual_exp (dual_neg (dual_mul (k, att))), dual_exp (dual_neg (dual_mul (k, u))));
      s = fabs (k.v) < 1e-12 ? dual_sub (u, att) : dual_div (dual_mul (dual_exp (dual_mul (k, t)), span), k);
      s = dual_mul (dual_mul (a, dual_exp (dual_neg (dual_mul (r1b, t)))), s);
    }
    lam_closed_put (c, i, s, none);
  }
}

static const char *const labellings[] = {"continuous", "pulsed", NULL};
static const LamField asl_fields[] = {
    LIST ("t", "ms", "Times", 2000, 0, TIME),
    NUMBER ("tau", "ms", "Label duration", 1800, 0, TIME),
    CHOICE ("labelling", "Labelling", 0, labellings),
    NUMBER ("efficiency", "", "Labelling efficiency (empty: 0.85, pulsed 0.98)", NAN, 0, 1),
    {NULL},
};

/* ---- MP2RAGE (Marques et al., 2010) ---- */

static int
two (const LamProtocol *p)
{
  return 2;
}

static int
before_of (const LamProtocol *p, int *after)
{
  int before = (int) lam_protocol_value (p, "before");
  *after = (int) lam_protocol_value (p, "after");
  return before;
}

static gboolean
mp2rage_check (const LamProtocol *p, GError **error)
{
  int n, flips, after, before = before_of (p, &after);
  const double *ti = lam_protocol_get (p, "TI", &n);
  lam_protocol_get (p, "flip", &flips);
  if (n != 2 || flips > 2) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "MP2RAGE has two inversion times and one or two flip angles, not %d and %d", n, flips);
    return FALSE;
  }
  double tr = lam_protocol_value (p, "TRspgr"), shots = before + after;
  const double waits[] = {ti[0] - before * tr, ti[1] - ti[0] - shots * tr,
                          lam_protocol_value (p, "TRmp2rage") - ti[1] - after * tr};
  static const char *const where[] = {"before the first block", "between the blocks", "after the second block"};
  for (int i = 0; i < 3; i++)
    if (!(waits[i] >= 0)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%g ms are missing %s", -waits[i], where[i]);
      return FALSE;
    }
  return TRUE;
}

/* k pulses of factor q = c E: m q^k + (1 - E) (1 - q^k) / (1 - q) */
static LamDual
shots (LamDual m, LamDual k, LamDual e, int n)
{
  LamDual q = dual_mul (k, e), p = dual_power (q, n);
  return dual_add (dual_mul (m, p), dual_div (dual_mul (complement (e), complement (p)), complement (q)));
}

/* m after a wait of factor h */
static LamDual
wait (LamDual m, LamDual h)
{
  return dual_add (dual_mul (m, h), complement (h));
}

static void
mp2rage (LamClosed *c)
{
  int before = (int) F ("before", 0).v, after = (int) F ("after", 0).v, n = before + after;
  LamDual t1 = T ("T1"), tr = F ("TRspgr", 0), e = dual_decay (tr, t1), ti0 = F ("TI", 0), ti1 = F ("TI", 1);
  LamDual a0 = dual_mul (T ("B1"), radians (F ("flip", 0))), a1 = dual_mul (T ("B1"), radians (F ("flip", 1)));
  LamDual c0 = dual_cos (a0), c1 = dual_cos (a1), eff = T ("inv_efficiency");
  LamDual h0 = dual_decay (dual_sub (ti0, dual_scale (before, tr)), t1);
  LamDual h1 = dual_decay (dual_sub (dual_sub (ti1, ti0), dual_scale (n, tr)), t1);
  LamDual h2 = dual_decay (dual_sub (dual_sub (F ("TRmp2rage", 0), ti1), dual_scale (after, tr)), t1);
  LamDual m = wait (shots (wait (shots (complement (h0), c0, e, n), h1), c1, e, n), h2);
  LamDual loop =
      dual_mul (dual_mul (h0, dual_mul (h1, h2)), dual_power (dual_mul (dual_mul (c0, e), dual_mul (c1, e)), n));
  m = dual_div (m, dual_add (one, dual_mul (eff, loop)));
  LamDual x = shots (wait (dual_neg (dual_mul (eff, m)), h0), c0, e, before);
  lam_closed_put (c, 0, dual_mul (T ("M0"), dual_mul (dual_sin (a0), x)), none);
  x = shots (wait (shots (x, c0, e, after), h1), c1, e, before);
  lam_closed_put (c, 1, dual_mul (T ("M0"), dual_mul (dual_sin (a1), x)), none);
}

/* The same as events: inversion and two blocks of spoiled shots, of which the central ones are sampled. */
static LamSequence *
build_mp2rage (const LamProtocol *p, int train, GError **error)
{
  int after, before = before_of (p, &after), n = before + after;
  if (!mp2rage_check (p, error))
    return NULL;
  LamSequence *s = lam_sequence_new ();
  for (const LamField *f = lam_protocol_template (p)->fields; f->name; f++)
    if (!f->structural)
      lam_protocol_enter (p, s, f->name);
  LamNumber tr = lam_protocol_number (p, s, "TRspgr", 0), ti0 = lam_protocol_number (p, s, "TI", 0),
            ti1 = lam_protocol_number (p, s, "TI", 1);
  LamNumber waits[] = {lam_number_add_scaled (ti0, -before, tr),
                       lam_number_add_scaled (lam_number_sub (ti1, ti0), -n, tr)};
  lam_sequence_rf (s, LAM_RF_INVERSION, lam_number (LAM_PI), lam_number (0), 0);
  for (int b = 0; b < 2; b++) {
    lam_sequence_wait (s, waits[b]);
    for (int i = 0; i < n; i++) {
      lam_sequence_rf (s, LAM_RF_EXCITATION, lam_protocol_number (p, s, "flip", b), lam_number (0), 0);
      lam_sequence_adc (s, i == before ? LAM_ADC_SINGLE : LAM_ADC_NON_ACQUIRED, lam_number (0), LAM_SPOIL_AFTER);
      lam_sequence_wait (s, tr);
    }
  }
  lam_sequence_wait (
      s, lam_number_add_scaled (lam_number_sub (lam_protocol_number (p, s, "TRmp2rage", 0), ti1), -after, tr));
  lam_sequence_set_factor (s, 0, 1);
  lam_sequence_set_playings (s, 0);
  return s;
}

static const double mp2rage_ti[] = {800, 2700}, mp2rage_flip[] = {4, 5};

static const LamField mp2rage_fields[] = {
    {"TI", "ms", "Two inversion times, to the central shots", LAM_FIELD_LIST, 0, 0, TIME, NULL, FALSE, mp2rage_ti, 2},
    {"flip", "deg", "Flip angles of the two blocks", LAM_FIELD_LIST, 0, 0, 180, NULL, FALSE, mp2rage_flip, 2},
    NUMBER ("TRspgr", "ms", "Time between shots", 6.7, 0, TIME),
    NUMBER ("TRmp2rage", "ms", "Repetition time", 6000, 0, TIME),
    COUNT ("before", "Shots before the central one", 64, 0, 1000000),
    COUNT ("after", "Shots from the central one on", 64, 1, 1000000),
    {NULL},
};

/* ---- the list ---- */

#define NAMES(...)                                                                                                     \
  (const char *const[])                                                                                                \
  {                                                                                                                    \
    __VA_ARGS__, NULL                                                                                                  \
  }

static const LamTemplate forms[] = {
    {.name = "SPGR",
     .title = "Spoiled gradient echo (Ernst)",
     .summary = "Steady state of ideally spoiled repetitions",
     .fields = spgr_fields,
     .tissues = NAMES ("T1", "M0", "T2star", "B0", "chemshift"),
     .samples = echo_samples,
     .closed = spgr,
     .check = echo_check},
    {.name = "bSSFP",
     .title = "Balanced SSFP (steady state)",
     .summary = "Steady state of balanced repetitions, off resonance too",
     .fields = bssfp_fields,
     .tissues = NAMES ("T1", "T2", "M0", "B0", "chemshift"),
     .samples = echo_samples,
     .closed = bssfp,
     .check = echo_check},
    {.name = "InversionRecovery",
     .title = "Inversion recovery",
     .summary = "Recovery after an inversion, full or repeated",
     .fields = ir_fields,
     .tissues = NAMES ("T1", "M0", "inv_efficiency", "offset"),
     .real_signal = TRUE,
     .samples = ti_samples,
     .closed = inversion_recovery,
     .check = inversion_check},
    {.name = "MultiEcho",
     .title = "Multi-echo decay",
     .summary = "Exponential decay of spin echoes",
     .fields = multi_echo_fields,
     .tissues = NAMES ("T2", "M0", "offset"),
     .real_signal = TRUE,
     .samples = te_samples,
     .closed = multi_echo},
    {.name = "DoubleAngle",
     .title = "Double angle (B1)",
     .summary = "Signal against the flip angle, for B1 maps",
     .fields = double_angle_fields,
     .tissues = NAMES ("B1", "M0"),
     .real_signal = TRUE,
     .samples = flip_samples,
     .closed = double_angle},
    {.name = "SpinEcho",
     .title = "Spin echo",
     .summary = "Repeated spin echo, with an inversion if wanted",
     .fields = spin_echo_fields,
     .tissues = NAMES ("T1", "T2", "M0", "inv_efficiency"),
     .real_signal = TRUE,
     .samples = te_samples,
     .closed = spin_echo,
     .check = spin_echo_check},
    {.name = "LookLocker",
     .title = "Look–Locker",
     .summary = "Recovery under small flip angles after an inversion",
     .fields = look_locker_fields,
     .tissues = NAMES ("T1", "M0", "B1", "inv_efficiency"),
     .real_signal = TRUE,
     .samples = ti_samples,
     .closed = look_locker},
    {.name = "MOLLI",
     .title = "MOLLI",
     .summary = "Look–Locker blocks with recovery between them",
     .fields = molli_fields,
     .tissues = NAMES ("T1", "M0", "B1", "inv_efficiency"),
     .real_signal = TRUE,
     .samples = molli_samples,
     .closed = molli,
     .check = molli_check},
    {.name = "IRbSSFP",
     .title = "Inversion-recovery bSSFP",
     .summary = "Transient of balanced repetitions after an inversion",
     .fields = ir_bssfp_fields,
     .tissues = NAMES ("T1", "T2", "M0", "B1", "inv_efficiency"),
     .real_signal = TRUE,
     .samples = ti_samples,
     .closed = ir_bssfp},
    {.name = "HSFP",
     .title = "Hybrid-state free precession",
     .summary = "Hybrid state of a slowly varying train",
     .fields = hsfp_fields,
     .tissues = NAMES ("T1", "T2", "M0"),
     .real_signal = TRUE,
     .samples = flip_samples,
     .closed = hsfp},
    {.name = "MultiGradientEcho",
     .title = "Multi-echo gradient echo (fat–water)",
     .summary = "Water and six-peak fat over echo times",
     .fields = mge_fields,
     .tissues = NAMES ("M0", "T2star", "B0", "fat_fraction", "fat_phase", "fat_T2star"),
     .samples = te_samples,
     .closed = multi_gradient_echo},
    {.name = "IRMultiGradientEcho",
     .title = "Inversion-prepared fat–water",
     .summary = "The same after an inversion",
     .fields = ir_mge_fields,
     .tissues = NAMES ("T1", "M0", "T2star", "B0", "fat_fraction", "fat_T1", "fat_inv_efficiency", "inv_efficiency",
                       "fat_T2star"),
     .samples = te_samples,
     .closed = ir_multi_gradient_echo},
    {.name = "Diffusion",
     .title = "Diffusion weighting",
     .summary = "Mono-exponential or tensor",
     .fields = diffusion_fields,
     .tissues = NAMES ("M0", "D", "Dxx", "Dyy", "Dzz", "Dxy", "Dxz", "Dyz"),
     .real_signal = TRUE,
     .samples = b_samples,
     .closed = diffusion,
     .check = b_check},
    {.name = "Lorentzian",
     .title = "Lorentzian Z-spectrum",
     .summary = "Up to four Lorentzian lines",
     .fields = lorentzian_fields,
     .tissues =
         NAMES ("M0", "pool1_amplitude", "pool1_width", "pool1_shift", "pool2_amplitude", "pool2_width", "pool2_shift"),
     .real_signal = TRUE,
     .samples = offset_samples,
     .closed = lorentzian},
    {.name = "ASL",
     .title = "Arterial spin labelling",
     .summary = "General kinetic model, continuous or pulsed",
     .fields = asl_fields,
     .tissues = NAMES ("T1", "CBF", "ATT", "M0", "T1_blood", "partition"),
     .real_signal = TRUE,
     .samples = t_samples,
     .closed = asl},
    {.name = "MP2RAGE",
     .title = "MP2RAGE",
     .summary = "Two inversion-prepared blocks of spoiled shots, in the steady state",
     .fields = mp2rage_fields,
     .tissues = NAMES ("T1", "M0", "B1", "inv_efficiency"),
     .orders = 1,
     .t2_absent = 100,
     .real_signal = TRUE,
     .build = build_mp2rage,
     .samples = two,
     .closed = mp2rage,
     .check = mp2rage_check},
};

int
lam_closed_templates (const LamTemplate **to)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    to[i] = &forms[i];
  return G_N_ELEMENTS (forms);
}
