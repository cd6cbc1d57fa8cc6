/* test-states.c: what is looked at on the way is what is heard at the end: states of a train against its samples, and trains whose
 * states are known. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "mr/approximations.h"
#include "mr/constants.h"
#include "mr/isochromats.h"
#include "mr/pathway.h"
#include "mr/states.h"

static void
set (LamModel *m, const char *name, int n, const double *values)
{
  g_autoptr (GError) error = NULL;
  lam_model_set (m, name, values, n, &error);
  g_assert_no_error (error);
}

static void
set_value (LamModel *m, const char *name, double value)
{
  set (m, name, 1, &value);
}

/* A train of each kind: @name, pulses, and what else it needs. */
static LamModel *
make (const char *name)
{
  LamModel *m = lam_model_new (lam_template_find (name));
  double flip[24];
  for (int i = 0; i < 24; i++)
    flip[i] = 30 + 20 * sin (1.1 * i);
  if (g_str_equal (name, "MRF")) {
    set (m, "flip", 24, flip);
    set_value (m, "TE", 3);
    set_value (m, "TI", 20);
  } else if (g_str_equal (name, "FSE") || g_str_equal (name, "Hyperecho")) {
    set (m, "flip", 6, flip);
    set_value (m, "TR", 300);
    set_value (m, "playings", g_str_equal (name, "FSE") ? 0 : 2);
  } else if (g_str_equal (name, "FLASH")) {
    set (m, "flip", 24, flip);
    set_value (m, "spoiling", 1);
    set_value (m, "inversion", 1);
    set_value (m, "pulse_duration", 0.4);
    set_value (m, "dwell", 0.1);
  } else if (g_str_equal (name, "TrueFISP")) {
    set (m, "flip", 24, flip);
    set_value (m, "TE", 2);
  } else if (g_str_equal (name, "fmSSFP"))
    set_value (m, "nshots", 12);
  else if (g_str_equal (name, "MPnRAGE"))
    set_value (m, "nshots", 16);
  return m;
}

static LamTissues *
tissue (double t1, double t2)
{
  LamTissues *t = lam_tissues_new (2);
  lam_tissues_set (t, "T1", (double[]){700, t1}, 2, NULL);
  lam_tissues_set (t, "T2", (double[]){40, t2}, 2, NULL);
  lam_tissues_set (t, "M0", (double[]){1, 0.8}, 2, NULL);
  return t;
}

/* 90, crushers about 180. */
static LamSequence *
spin_echo (void)
{
  LamSequence *sequence = lam_sequence_new ();
  lam_sequence_rf (sequence, LAM_RF_EXCITATION, lam_number (LAM_PI / 2), lam_number (LAM_PI / 2), 0);
  lam_sequence_wait (sequence, lam_number (0.02));
  lam_sequence_rf (sequence, LAM_RF_REFOCUSING, lam_number (LAM_PI), lam_number (0),
                   LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER);
  lam_sequence_wait (sequence, lam_number (0.02));
  lam_sequence_adc (sequence, LAM_ADC_ECHO_CENTER, lam_number (0), 0);
  lam_sequence_wait (sequence, lam_number (0.06));
  return sequence;
}

/* F0 where samples are taken is the signal, for each kind of train and of physics. */
static void
test_samples (void)
{
  static const char *const names[] = {"MRF",    "FSE",     "Hyperecho", "FLASH", "TrueFISP",
                                      "fmSSFP", "MPnRAGE", "MPRAGE",    "CEST",  "StimulatedEcho"};
  static const char *const physics[] = {NULL, "B0", "B1phase", "bound_fraction", "poolB_fraction"};
  static const double values[] = {0, 7, 0.3, 0.1, 0.15};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) d = lam_devices_new ("cpu", &error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint k = 0; k < G_N_ELEMENTS (physics); k++) {
      g_autoptr (LamModel) m = make (names[i]), looked = make (names[i]);
      g_autoptr (LamTissues) t = tissue (900, 80);
      LamStates s = {0};
      LamSignal signal = {0};
      if (physics[k])
        lam_tissues_set_value (t, physics[k], values[k], NULL);
      lam_model_simulate (m, t, NULL, d, NULL, &signal, &error);
      g_assert_no_error (error);
      lam_states_record (looked, t, 1, 0, NULL, 0, &s, &error);
      g_assert_no_error (error);
      double worst = 0, peak = 0;
      int64_t at = 0, own = g_str_equal (names[i], "CEST") ? 1 : signal.samples;
      for (int64_t c = 0; c < s.columns; c++) {
        if (c > 0)
          g_assert_cmpfloat (s.time[c], >=, s.time[c - 1]);
        if (!(s.kind[c] & LAM_LOOK_SAMPLE))
          continue;
        g_assert_cmpint (at, <, own);
        int64_t j = signal.samples + at++;
        double truth = hypot (signal.re ? signal.re[j] : 0, signal.im ? signal.im[j] : 0);
        worst = fmax (worst, fabs (s.plus[c * s.orders] - truth));
        peak = fmax (peak, truth);
      }
      g_test_message ("%s, %s: %d columns of %d orders, %.2g", names[i], physics[k] ? physics[k] : "plain",
                      (int) s.columns, s.orders, worst / peak);
      g_assert_cmpint (at, ==, own);
      g_assert_cmpfloat (worst, <=, 4e-6 * peak);
      g_assert_cmpfloat (s.time[s.columns - 1], <=, s.duration * (1 + 1e-12));
      lam_signal_clear (&signal);
      lam_states_clear (&s);
    }
}

/* ---- pathways ---- */

/* The echo of two pulses came by order 1 and was turned over. */
static void
test_echo_path (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamSequence) sequence = spin_echo ();
  g_autoptr (LamModel) m = lam_model_new_of_sequence (sequence);
  g_autoptr (LamTissues) t = tissue (1000, 50);
  LamStates s;
  LamPathway path;
  lam_states_record (m, t, 1, 0, NULL, 0, &s, &error);
  g_assert_no_error (error);
  g_assert_true (lam_pathway_find (m, t, 1, 0, &s, 3, 0, TRUE, &path));
  static const int order[] = {0, -1, 0, 0};
  g_assert_cmpint (path.first, ==, 0);
  g_assert_cmpint (path.n, ==, 4);
  g_assert_cmpmem (path.order, sizeof order, order, sizeof order);
  for (int i = 0; i < 4; i++)
    g_assert_true (path.transverse[i]);
  g_assert_cmpfloat_with_epsilon (path.amplitude, 0.8 * exp (-0.8), 1e-6);
  g_assert_false (path.from_before);
  lam_pathway_clear (&path);
  g_assert_false (lam_pathway_find (m, t, 1, 0, &s, 3, 1, TRUE, &path)); /* nothing is there */
  lam_states_clear (&s);
}

typedef struct {
  const double *flip; /* rad */
  int pulses;
  double e1, e2, best;
  int order, transverse; /* wanted after the last pulse */
} Paths;

/* Every path of a train of pulses with one winding between them, from order @n of kind @t after pulse @i on. */
static void
walk (Paths *w, int i, int n, int t, double amplitude)
{
  if (i == w->pulses) {
    if (n == w->order && t == w->transverse)
      w->best = fmax (w->best, amplitude);
    return;
  }
  if (i > 0) {
    n += t;
    amplitude *= t ? w->e2 : w->e1;
    if (i < w->pulses && t == 0 && n == 0)
      amplitude = fmax (amplitude, 1 - w->e1); /* recovered meanwhile: a path of its own */
  }
  double a = w->flip[i], same = pow (cos (a / 2), 2), other = pow (sin (a / 2), 2);
  if (t) {
    walk (w, i + 1, n, 1, amplitude * same);
    walk (w, i + 1, -n, 1, amplitude * other);
    walk (w, i + 1, n, 0, amplitude * sin (a) / 2);
    walk (w, i + 1, -n, 0, amplitude * sin (a) / 2);
  } else {
    walk (w, i + 1, n, 1, amplitude * sin (a));
    walk (w, i + 1, n, 0, amplitude * cos (a));
  }
}

/* The strongest of all paths, found by trying every one. */
static void
test_strongest (void)
{
  static const double flip[] = {50, 35, 70, 20, 65, 40};
  double rad[6];
  g_autoptr (GError) error = NULL;
  g_autoptr (LamModel) m = lam_model_new (lam_template_find ("MRF"));
  g_autoptr (LamTissues) t = tissue (200, 50);
  LamStates s;
  set (m, "flip", 6, flip);
  set_value (m, "inversion", 0);
  set_value (m, "TR", 12);
  for (int i = 0; i < 6; i++)
    rad[i] = flip[i] * LAM_DEGREE;
  lam_states_record (m, t, 1, 0, NULL, 0, &s, &error);
  g_assert_no_error (error);
  int64_t look = -1;
  for (int64_t i = 0; i < s.looks; i++)
    if (s.kind[s.column[i]] & LAM_LOOK_PULSE)
      look = i; /* right after the last pulse, or its sample, before the winding */
  int found = 0;
  for (int order = -5; order <= 5; order++)
    for (int transverse = 0; transverse < 2; transverse++) {
      Paths w = {rad, 6, exp (-12.0 / 200), exp (-12.0 / 50), 0, order, transverse};
      LamPathway path;
      walk (&w, 0, 0, 0, 1);
      gboolean any = lam_pathway_find (m, t, 1, 0, &s, look, order, transverse, &path);
      g_assert_true (any == (w.best > 0));
      if (!any)
        continue;
      found++;
      g_assert_cmpfloat_with_epsilon (path.amplitude, 0.8 * w.best, 1e-7);
      g_assert_cmpint (path.order[path.n - 1], ==, order);
      g_assert_cmpint (path.transverse[path.n - 1], ==, transverse);
      g_assert_cmpint (path.order[0], ==, 0);
      for (int64_t i = 1; i < path.n; i++)
        g_assert_true (ABS (path.order[i]) == ABS (path.order[i - 1]) || path.order[i] == path.order[i - 1] + 1);
      lam_pathway_clear (&path);
    }
  g_assert_cmpint (found, >, 15);
  lam_states_clear (&s);
  lam_tissues_set_value (t, "poolB_fraction", 0.1, NULL);
  g_assert_nonnull (lam_pathway_obstacle (m, t, 0));
}

/* ---- a sum of spins ---- */

static double
distance (const LamSignal *a, const LamSignal *b)
{
  double worst = 0, peak = 0;
  g_assert_cmpint (a->samples, ==, b->samples);
  for (int64_t i = 0; i < a->voxels * a->samples; i++) {
    double re = b->re ? b->re[i] : 0, im = b->im ? b->im[i] : 0;
    worst = fmax (worst, hypot ((a->re ? a->re[i] : 0) - re, (a->im ? a->im[i] : 0) - im));
    peak = fmax (peak, hypot (re, im));
  }
  return worst / peak;
}

/* With all orders and enough spins both models say the same; with few spins they do not, and more come nearer. */
static void
test_spins (void)
{
  static const char *const names[] = {"MRF",    "FSE",     "Hyperecho", "FLASH", "TrueFISP",
                                      "fmSSFP", "MPnRAGE", "MPRAGE",    "CEST",  "StimulatedEcho"};
  static const int spins[] = {4, 16, 64, 256, 0};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) d = lam_devices_new ("cpu", &error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LamModel) m = make (names[i]);
    g_autoptr (LamTissues) t = tissue (900, 80);
    LamSignal orders = {0};
    double before = INFINITY;
    lam_tissues_set_value (t, "B1", 0.93, NULL);
    lam_tissues_set_value (t, "B1phase", 0.2, NULL);
    lam_tissues_set_value (t, "inv_efficiency", 0.9, NULL);
    lam_tissues_set_value (t, "B0", 5, NULL);
    double rounding = g_str_equal (names[i], "CEST") ? 3e-5 : 4e-6; /* a thousand turns in single precision */
    if (g_str_equal (names[i], "FSE"))
      set_value (m, "playings", 3);
    lam_model_set_orders (m, 200);
    lam_model_simulate (m, t, NULL, d, NULL, &orders, &error);
    g_assert_no_error (error);
    for (guint k = 0; k < G_N_ELEMENTS (spins); k++) {
      LamSignal sum = {0};
      LamIsochromatOptions o = {.spins = spins[k]};
      lam_isochromats_simulate (m, t, &o, NULL, &sum, &error);
      g_assert_no_error (error);
      double now = distance (&sum, &orders);
      g_test_message ("%s, %s: %.2g", names[i], sum.route, now);
      if (k == 0 && (g_str_equal (names[i], "MRF") || g_str_equal (names[i], "FSE")))
        g_assert_cmpfloat (now, >, 0.01);
      g_assert_cmpfloat (now, <=, fmax (before, rounding));
      before = now;
      lam_signal_clear (&sum);
    }
    g_assert_cmpfloat (before, <=, rounding);
    lam_signal_clear (&orders);
  }
}

/* ---- what is left out ---- */

/* The least orders cost less than a thousandth against all that matter, one less more. */
static void
test_least_orders (void)
{
  static const char *const names[] = {"MRF", "FSE", "Hyperecho", "TrueFISP"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) d = lam_devices_new ("cpu", &error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LamModel) m = make (names[i]), finer = make (names[i]);
    g_autoptr (LamTissues) t = tissue (3000, 2000);
    LamSignal all = {0}, some = {0};
    double change[2], less[2];
    int orders;
    if (g_str_equal (names[i], "MRF")) {
      double flip[200];
      for (int k = 0; k < 200; k++)
        flip[k] = 30 + 20 * sin (0.11 * k);
      set (m, "flip", 200, flip);
      set (finer, "flip", 200, flip);
    }
    lam_model_least_orders (m, finer, t, NULL, 1e-3, d, NULL, &orders, &error);
    g_assert_no_error (error);
    lam_model_set_orders (m, 1000);
    lam_model_simulate (m, t, NULL, d, NULL, &all, &error);
    for (int k = 0; k < 2 && orders - k > 0; k++) {
      lam_model_set_orders (m, orders - k);
      lam_model_simulate (m, t, NULL, d, NULL, &some, &error);
      g_assert_no_error (error);
      lam_signal_changes (&some, &all, k ? less : change);
    }
    g_test_message ("%s: %d orders cost %.2g and %.2g, one less %.2g", names[i], orders, change[0], change[1],
                    orders > 1 ? fmax (less[0], less[1]) : 0);
    g_assert_cmpfloat (fmax (change[0], change[1]), <=, 1.05e-3);
    if (orders > 1)
      g_assert_cmpfloat (fmax (less[0], less[1]), >, 0.95e-3);
    else
      g_assert_cmpstr (names[i], ==, "TrueFISP");
    lam_signal_clear (&all);
    lam_signal_clear (&some);
  }
}

/* The sharper the slice, the nearer it is to one thickness of what ideal pulses give. */
static void
test_slice_profile (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) d = lam_devices_new ("cpu", &error);
  static const double bandwidth[] = {2, 6, 16};
  const LamSimulateOptions across = {.positions = 201, .extent = 4};
  double before = INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (bandwidth); i++) {
    g_autoptr (LamModel) ideal = make ("MPnRAGE"), selective = make ("MPnRAGE");
    g_autoptr (LamTissues) t = tissue (900, 80);
    LamSignal a = {0}, b = {0};
    double change[2];
    set_value (ideal, "flip", 20);
    set_value (selective, "flip", 20);
    lam_model_set_slice_profile (selective, bandwidth[i], &across);
    lam_model_simulate (ideal, t, NULL, d, NULL, &a, &error);
    lam_model_simulate (selective, t, &across, d, NULL, &b, &error);
    g_assert_no_error (error);
    lam_signal_changes (&b, &a, change);
    g_test_message ("bandwidth times duration %g: %.2g", bandwidth[i], change[1]);
    g_assert_cmpfloat (change[1], <, before);
    before = change[1];
    lam_signal_clear (&a);
    lam_signal_clear (&b);
  }
  g_assert_cmpfloat (before, <, 0.04);
  g_autoptr (LamModel) sampled = make ("FLASH"), closed = lam_model_new (lam_template_find ("SPGR"));
  g_assert_nonnull (lam_model_slice_obstacle (sampled));
  g_assert_nonnull (lam_model_slice_obstacle (closed));
}

/* What it has no physics for is refused in words. */
static void
test_spins_refuse (void)
{
  g_autoptr (LamModel) m = make ("MRF"), closed = lam_model_new (lam_template_find ("MultiEcho"));
  g_autoptr (LamTissues) t = tissue (900, 80);
  LamControl control = {0};
  LamSignal s = {0};
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_isochromats_obstacle (m, t));
  g_autofree char *form = lam_isochromats_obstacle (closed, t);
  g_assert_nonnull (form);
  atomic_store (&control.cancel, 1);
  g_assert_false (lam_isochromats_simulate (m, t, NULL, &control, &s, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_clear_error (&error);
  lam_tissues_set_value (t, "poolB_fraction", 0.1, NULL);
  g_assert_false (lam_isochromats_simulate (m, t, NULL, NULL, &s, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED);
  g_test_message ("%s", error->message);
}

/* What is transverse waits at order 1 and comes back at the echo. */
static void
test_spin_echo (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamSequence) sequence = spin_echo ();
  g_autoptr (LamModel) m = lam_model_new_of_sequence (sequence);
  g_autoptr (LamTissues) t = tissue (1000, 50);
  LamStates s;
  lam_states_record (m, t, 1, 0, NULL, 0, &s, &error);
  g_assert_no_error (error);
  const struct {
    double time;
    int kind;
    double plus[2], minus[2], z;
  } truth[] = {
      {0, LAM_LOOK_PULSE, {1, 0}, {1, 0}, 0},
      {0.02, LAM_LOOK_PULSE, {0, 0}, {0, exp (-0.4)}, 1 - exp (-0.02)}, /* turned over, still wound */
      {0.02, LAM_LOOK_WINDING, {exp (-0.4), 0}, {exp (-0.4), 0}, 1 - exp (-0.02)},
      {0.04, LAM_LOOK_SAMPLE, {exp (-0.8), 0}, {exp (-0.8), 0}, 1 - (2 - exp (-0.02)) * exp (-0.02)},
      {0.1, 0, {exp (-2), 0}, {exp (-2), 0}, 1 - (2 - exp (-0.02)) * exp (-0.08)},
  };
  g_assert_cmpint (s.columns, ==, G_N_ELEMENTS (truth));
  for (guint c = 0; c < G_N_ELEMENTS (truth); c++) {
    g_assert_cmpfloat_with_epsilon (s.time[c], truth[c].time, 1e-12);
    g_assert_cmpint (s.kind[c], ==, truth[c].kind);
    for (int k = 0; k < 2; k++) {
      g_assert_cmpfloat_with_epsilon (s.plus[c * s.orders + k], 0.8 * truth[c].plus[k], 2e-7);
      g_assert_cmpfloat_with_epsilon (s.minus[c * s.orders + k], 0.8 * truth[c].minus[k], 2e-7);
    }
    g_assert_cmpfloat_with_epsilon (s.z[c * s.orders], 0.8 * fabs (truth[c].z), 2e-7);
  }
  lam_states_clear (&s);
}

/* Fewer columns hold the largest of what was looked at; a closed form has none. */
static void
test_columns (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamModel) m = make ("MRF"), closed = lam_model_new (lam_template_find ("MultiEcho"));
  g_autoptr (LamTissues) t = tissue (900, 80);
  LamStates all, few;
  lam_states_record (m, t, 0, 0, NULL, 0, &all, &error);
  g_assert_no_error (error);
  lam_states_record (m, t, 0, 0, NULL, 10, &few, &error);
  g_assert_no_error (error);
  g_assert_cmpint (few.columns, <=, 10);
  g_assert_cmpint (few.looks, ==, all.looks);
  for (int k = 0; k < all.orders; k++) {
    float most = 0, kept = 0;
    for (int64_t c = 0; c < all.columns; c++)
      most = fmaxf (most, all.minus[c * all.orders + k]);
    for (int64_t c = 0; c < few.columns; c++)
      kept = fmaxf (kept, few.minus[c * few.orders + k]);
    g_assert_cmpfloat (most, ==, kept);
  }
  lam_states_clear (&all);
  lam_states_clear (&few);
  g_assert_false (lam_states_record (closed, t, 0, 0, NULL, 0, &all, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/states/samples", test_samples);
  g_test_add_func ("/states/spin-echo", test_spin_echo);
  g_test_add_func ("/states/columns", test_columns);
  g_test_add_func ("/states/echo-path", test_echo_path);
  g_test_add_func ("/states/strongest-path", test_strongest);
  g_test_add_func ("/states/spins", test_spins);
  g_test_add_func ("/states/spins-refuse", test_spins_refuse);
  g_test_add_func ("/states/least-orders", test_least_orders);
  g_test_add_func ("/states/slice-profile", test_slice_profile);
  return g_test_run ();
}
