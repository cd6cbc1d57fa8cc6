/* test-epg.c: what the EPG engine promises beside the golden numbers: derivatives that agree with each other and with differences, for
 * every template and every quantity; a sum of isochromats; the same bits however the work is cut; numbers that are
 * followed; the cases of cases.md, "Theory". */
#include <complex.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "mr/constants.h"
#include "mr/model.h"

static LamDevices *
devices (const char *spec)
{
  g_autoptr (GError) error = NULL;
  LamDevices *set = lam_devices_new (spec, &error);
  g_assert_no_error (error);
  return set;
}

/* Voxels with quantities spread over a range each; @extra: name, low, high, ... NULL. */
static LamTissues *
tissues (int64_t n, const char *const *names, const double (*range)[2])
{
  LamTissues *t = lam_tissues_new (n);
  g_autofree double *v = g_new (double, n);
  for (int i = 0; names[i]; i++) {
    g_autoptr (GError) error = NULL;
    for (int64_t k = 0; k < n; k++) {
      double u = fmod (0.37 + 0.6180339887 * (double) k * (i + 1), 1);
      v[k] = range[i][0] + (range[i][1] - range[i][0]) * u;
    }
    lam_tissues_set (t, names[i], v, n, &error);
    g_assert_no_error (error);
  }
  return t;
}

static void
set (LamModel *m, const char *name, double value)
{
  g_autoptr (GError) error = NULL;
  lam_model_set (m, name, &value, 1, &error);
  g_assert_no_error (error);
}

static void
set_list (LamModel *m, const char *name, int n, double from, double to)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *v = g_new (double, n);
  for (int i = 0; i < n; i++)
    v[i] = from + (to - from) * (0.5 + 0.5 * sin (1.7 * i));
  lam_model_set (m, name, v, n, &error);
  g_assert_no_error (error);
}

static void
simulate (LamModel *m, const LamTissues *t, const LamSimulateOptions *o, LamDevices *d, LamSignal *s)
{
  g_autoptr (GError) error = NULL;
  lam_model_simulate (m, t, o, d, NULL, s, &error);
  g_assert_no_error (error);
}

/* ---- derivatives ---- */

/* A small train of each template. */
static LamModel *
small (const char *name)
{
  LamModel *m = lam_model_new (lam_template_find (name));
  if (g_str_equal (name, "MRF")) {
    set_list (m, "flip", 9, 10, 60);
    set_list (m, "TR", 9, 9, 14);
    set_list (m, "TE", 9, 1, 4);
    set_list (m, "phases", 9, 0, 40);
    set (m, "TI", 20);
  } else if (g_str_equal (name, "FSE")) {
    set_list (m, "flip", 6, 60, 170);
    set_list (m, "phases", 6, -20, 30);
    set (m, "playings", 2);
    set (m, "TR", 300);
  } else if (g_str_equal (name, "Hyperecho")) {
    set_list (m, "flip", 3, 30, 80);
    set_list (m, "phases", 3, -20, 30);
    set (m, "playings", 2);
    set (m, "TR", 300);
  } else if (g_str_equal (name, "FLASH")) {
    set_list (m, "flip", 6, 10, 30);
    set (m, "spoiling", 1);
    set (m, "inversion", 1);
    set (m, "pulse_duration", 0.4);
    set (m, "dwell", 0.1);
  } else if (g_str_equal (name, "TrueFISP")) {
    set_list (m, "flip", 6, 20, 50);
    set (m, "TE", 2);
    set (m, "preparation", 3);
    set (m, "inversion", 2);
    set (m, "inversion_duration", 1);
    set (m, "dwell", 0.1);
  } else if (g_str_equal (name, "fmSSFP"))
    set (m, "nshots", 6);
  else if (g_str_equal (name, "StimulatedEcho"))
    set_list (m, "flip", 3, 50, 90);
  else if (g_str_equal (name, "MPRAGE") || g_str_equal (name, "MPnRAGE")) {
    set (m, "nshots", 8);
    set (m, "TI", 90);
  } else if (g_str_equal (name, "CEST")) {
    set_list (m, "offsets", 3, -3, 4);
    set (m, "pulse_duration", 2);
    set (m, "npulses", 2);
    set (m, "interpulse_delay", 1);
  }
  return m;
}

static const char *const physics[] = {"T1",
                                      "T2",
                                      "M0",
                                      "M0_im",
                                      "B1",
                                      "B1phase",
                                      "B0",
                                      "inv_efficiency",
                                      "bound_fraction",
                                      "bound_exchange",
                                      "bound_T1",
                                      "poolB_fraction",
                                      "poolB_exchange",
                                      "poolB_T1",
                                      "poolB_T2",
                                      "poolB_shift",
                                      NULL};
static const double ranges[][2] = {{600, 1400}, {40, 120},  {0.8, 1.2},  {-0.3, 0.3}, {0.8, 1.1},  {-0.4, 0.4},
                                   {-20, 20},   {0.8, 1},   {0.05, 0.1}, {10, 40},    {600, 1200}, {0.1, 0.2},
                                   {5, 20},     {300, 600}, {15, 40},    {-30, 30}};

/* max |a - b| / max |b| over one row. */
static double
row_distance (const double complex *a, const double complex *b, int64_t n, double floor)
{
  double worst = 0, most = floor;
  for (int64_t i = 0; i < n; i++) {
    worst = fmax (worst, cabs (a[i] - b[i]));
    most = fmax (most, cabs (b[i]));
  }
  return worst / most;
}

static double complex
sample (const float *re, const float *im, int64_t i)
{
  return (re ? re[i] : 0) + I * (im ? im[i] : 0);
}

/* d signal / d tissue or protocol value by a central difference. */
static void
difference (LamModel *m, const LamTissues *t, const char *label, double (*step) (double), LamDevices *d,
            double complex *out)
{
  LamSignal s[2] = {{0}, {0}};
  const char *bracket = strchr (label, '[');
  g_autofree char *field = bracket ? g_strndup (label, bracket - label) : g_strdup (label);
  int index = bracket ? atoi (bracket + 1) : 0;
  double h = 0;
  g_autoptr (GError) error = NULL;
  if (lam_tissue_find (field)) {
    int64_t n;
    const double *v = lam_tissues_get (t, field, &n);
    g_autofree double *kept = g_memdup2 (v, n * sizeof *v), *moved = g_new (double, n);
    h = step (kept[0]);
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < n; i++)
        moved[i] = kept[i] + (k ? h : -h);
      lam_tissues_set ((LamTissues *) t, field, moved, n, &error);
      g_assert_no_error (error);
      simulate (m, t, NULL, d, &s[k]);
    }
    lam_tissues_set ((LamTissues *) t, field, kept, n, &error);
  } else {
    int n;
    const double *v = lam_protocol_get (lam_model_protocol (m), field, &n);
    g_autofree double *kept = g_memdup2 (v, n * sizeof *v), *moved = g_memdup2 (v, n * sizeof *v);
    h = step (kept[index]);
    for (int k = 0; k < 2; k++) {
      moved[index] = kept[index] + (k ? h : -h);
      lam_model_set (m, field, moved, n, &error);
      g_assert_no_error (error);
      simulate (m, t, NULL, d, &s[k]);
    }
    lam_model_set (m, field, kept, n, &error);
  }
  g_assert_no_error (error);
  for (int64_t i = 0; i < s[0].voxels * s[0].samples; i++)
    out[i] = (sample (s[1].re, s[1].im, i) - sample (s[0].re, s[0].im, i)) / (2 * h);
  lam_signal_clear (&s[0]);
  lam_signal_clear (&s[1]);
}

static double
step_of (double value)
{
  return fmax (fabs (value) * 0.02, 0.02);
}

/* A time turns phases too, so less of it. */
static double
step_of_time (double value)
{
  return fmax (fabs (value) * 0.003, 0.02);
}

static double
small_step (double value)
{
  return 0.01;
}

/* Reverse against forward: sum of Re (conj g J) for each voxel and quantity, and over all voxels for protocol values. */
static void
assert_reverse (LamModel *m, const LamTissues *t, const LamJacobian *j, LamDevices *d)
{
  int n;
  g_autoptr (GError) error = NULL;
  LamProgram *const *p = lam_model_programs (m, &n, &error);
  if (n != 1)
    return; /* several trains: each is one of these */
  int64_t count = j->signal.voxels * j->signal.samples;
  g_autofree float *gr = g_new (float, count), *gi = g_new (float, count);
  for (int64_t i = 0; i < count; i++) {
    gr[i] = (float) sin (1.3 * i + 0.2);
    gi[i] = (float) cos (2.1 * i);
  }
  g_autoptr (GArray) by = g_array_new (FALSE, FALSE, sizeof (LamBy));
  const LamSequence *s = lam_program_sequence (p[0]);
  for (int i = 0; physics[i]; i++)
    lam_by_parse (s, physics[i], by, NULL);
  int values;
  lam_program_values (p[0], &values);
  g_autofree float *tissue = g_new (float, j->signal.voxels * by->len);
  g_autofree double *x = g_new (double, MAX (values, 1)), *truth = g_new0 (double, j->n),
                    *scale = g_new0 (double, j->n);
  lam_gradient (p[0], t, NULL, (const LamBy *) (void *) by->data, (int) by->len, gr, gi, d, NULL, tissue, x, &error);
  g_assert_no_error (error);
  for (int k = 0; k < j->n; k++)
    for (int64_t v = 0; v < j->signal.voxels; v++) {
      double sum = 0, most = 0;
      for (int64_t i = 0; i < j->signal.samples; i++) {
        int64_t at = (v * j->n + k) * j->signal.samples + i, own = v * j->signal.samples + i;
        sum += gr[own] * j->re[at] + gi[own] * j->im[at];
        most += fabs (gr[own] * j->re[at]) + fabs (gi[own] * j->im[at]);
      }
      if (k < (int) by->len)
        g_assert_cmpfloat (fabs (tissue[v * by->len + k] - sum), <=, 2e-5 * most + 1e-7);
      truth[k] += sum;
      scale[k] += most;
    }
  for (int k = (int) by->len; k < j->n; k++)
    g_assert_cmpfloat (fabs (x[k - by->len] - truth[k]), <=, 2e-5 * scale[k] + 1e-7);
}

static void
test_derivatives (gconstpointer name)
{
  g_autoptr (LamModel) m = small (name);
  g_autoptr (LamTissues) t = tissues (5, physics, ranges);
  g_autoptr (LamDevices) d = devices ("cpu");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_auto (GStrv) labels = NULL;
  LamJacobian j = {0};
  for (int i = 0; physics[i]; i++)
    g_ptr_array_add (names, (char *) physics[i]);
  for (const LamField *f = lam_protocol_template (lam_model_protocol (m))->fields; f->name; f++)
    if (!f->structural && !isnan (lam_protocol_value (lam_model_protocol (m), f->name)))
      g_ptr_array_add (names, (char *) f->name);
  g_ptr_array_add (names, NULL);
  lam_model_jacobian (m, t, NULL, (const char *const *) names->pdata, d, NULL, &j, &labels, &error);
  g_assert_no_error (error);
  int64_t count = j.signal.samples * j.signal.voxels;
  g_autofree double complex *quotient = g_new (double complex, count), *row = g_new (double complex, count);
  double worst = 0;
  for (int k = 0; labels[k]; k++) {
    gboolean fine = strstr ("M0 M0_im B1 B1phase inv_efficiency bound_fraction poolB_fraction", labels[k]) != NULL;
    gboolean time = strchr (labels[k], '[') || !lam_tissue_find (labels[k]);
    difference (m, t, labels[k], fine ? small_step : time ? step_of_time : step_of, d, quotient);
    double most = 0;
    for (int64_t v = 0; v < j.signal.voxels; v++)
      for (int64_t i = 0; i < j.signal.samples; i++) {
        row[v * j.signal.samples + i] = sample (j.re, j.im, (v * j.n + k) * j.signal.samples + i);
        most = fmax (most, cabs (row[v * j.signal.samples + i]));
      }
    double h = fine ? 0.01 : 0.02, distance = row_distance (row, quotient, count, 3e-5 / h);
    worst = fmax (worst, distance);
    if (distance > 1e-2)
      g_error ("%s by %s: off by %g of the largest (%g)", (const char *) name, labels[k], distance, most);
  }
  g_test_message ("%s: %d quantities, worst %.2g", (const char *) name, j.n, worst);
  if (lam_protocol_template (lam_model_protocol (m))->trains == NULL)
    assert_reverse (m, t, &j, d);
  lam_jacobian_clear (&j);
}

/* Diffusion and flow, in a train with a crusher. */
static LamSequence *
crushed (int n)
{
  LamSequence *s = lam_sequence_new ();
  double tr = 13;
  int at = lam_sequence_add_values (s, "TR", "ms", &tr, 1);
  lam_sequence_rf (s, LAM_RF_INVERSION, lam_number (LAM_PI), lam_number (0), 0);
  lam_sequence_wait (s, lam_number (0.02));
  for (int i = 0; i < n; i++) {
    lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number ((10 + 5 * i) * LAM_DEGREE), lam_number (0), 0);
    lam_sequence_wait (s, lam_number (0.003));
    lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0), LAM_SHIFT_AFTER);
    lam_sequence_wait (s, lam_number_sub (lam_sequence_number (s, at), lam_number (0.003)));
  }
  lam_sequence_set_crusher (s, 4 * LAM_PI, 1e-3);
  return s;
}

static void
test_motion (void)
{
  static const char *const names[] = {"T1", "T2", "D", "v", NULL}, *const with[] = {"T1", "T2", "D", "v", "TR", NULL};
  static const double range[][2] = {{600, 1400}, {40, 120}, {0.5, 2}, {5e-4, 2e-3}};
  g_autoptr (LamSequence) s = crushed (10);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = tissues (4, names, range);
  g_autoptr (LamDevices) d = devices ("cpu");
  g_autoptr (GError) error = NULL;
  LamJacobian j = {0};
  lam_model_jacobian (m, t, NULL, with, d, NULL, &j, NULL, &error);
  g_assert_no_error (error);
  int64_t count = j.signal.voxels * j.signal.samples;
  for (int k = 0; k < 4; k++) {
    LamSignal a[2] = {{0}, {0}};
    int64_t n;
    const double *v = lam_tissues_get (t, names[k], &n);
    g_autofree double *kept = g_memdup2 (v, n * sizeof *v), *moved = g_new (double, n);
    double h = kept[0] * 0.02;
    for (int side = 0; side < 2; side++) {
      for (int64_t i = 0; i < n; i++)
        moved[i] = kept[i] + (side ? h : -h);
      lam_tissues_set (t, names[k], moved, n, NULL);
      simulate (m, t, NULL, d, &a[side]);
    }
    lam_tissues_set (t, names[k], kept, n, NULL);
    double worst = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
      double complex q = (sample (a[1].re, a[1].im, i) - sample (a[0].re, a[0].im, i)) / (2 * h);
      int64_t voxel = i / j.signal.samples, own = i % j.signal.samples;
      worst = fmax (worst, cabs (q - sample (j.re, j.im, (voxel * j.n + k) * j.signal.samples + own)));
      most = fmax (most, cabs (q));
    }
    g_test_message ("by %s: %.2g", names[k], worst / most);
    g_assert_cmpfloat (worst, <=, 5e-3 * most);
    lam_signal_clear (&a[0]);
    lam_signal_clear (&a[1]);
  }
  lam_jacobian_clear (&j);
}

/* ---- against a sum of isochromats, in double ---- */

/* The train of crushed (), with no crusher's own physics: each winding turns spin m of @spins by 2 pi m / spins. */
static void
isochromats (int pulses, int spins, double t1, double t2, double b1, double b0, double complex *out)
{
  for (int i = 0; i < pulses; i++)
    out[i] = 0;
  for (int m = 0; m < spins; m++) {
    double complex xy = 0;
    double z = -1, e1 = exp (-20 / t1), wind = 2 * LAM_PI * (m + 0.5) / spins;
    z = 1 - (1 - z) * e1;
    for (int i = 0; i < pulses; i++) {
      double alpha = (10 + 5 * i) * LAM_DEGREE * b1, c = cos (alpha), s = sin (alpha);
      double y = cimag (xy), ny = c * y - s * z, nz = s * y + c * z; /* right-handed about x */
      xy = creal (xy) + I * ny;
      z = nz;
      for (int half = 0; half < 2; half++) {
        double dt = half ? 10 : 3;
        xy *= exp (-dt / t2) * cexp (-2 * LAM_PI * I * b0 * dt * 1e-3);
        z = 1 - (1 - z) * exp (-dt / t1);
        if (half == 0) {
          out[i] += xy / spins;
          xy *= cexp (I * wind);
        }
      }
    }
  }
}

static void
test_isochromats (void)
{
  enum { PULSES = 24 };
  static const int spins[] = {8, 16, 32, 64, 128};
  g_autoptr (LamSequence) s = crushed (PULSES);
  lam_sequence_set_crusher (s, 0, 0);
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = lam_tissues_new (1);
  g_autoptr (LamDevices) d = devices ("cpu");
  lam_tissues_set_value (t, "T1", 900, NULL);
  lam_tissues_set_value (t, "T2", 80, NULL);
  lam_tissues_set_value (t, "B1", 0.93, NULL);
  lam_tissues_set_value (t, "B0", 17, NULL);
  lam_model_set_orders (m, 64);
  LamSignal signal = {0};
  simulate (m, t, NULL, d, &signal);
  double before = INFINITY;
  for (guint k = 0; k < G_N_ELEMENTS (spins); k++) {
    double complex sum[PULSES];
    double worst = 0;
    isochromats (PULSES, spins[k], 900, 80, 0.93, 17, sum);
    for (int i = 0; i < PULSES; i++)
      worst = fmax (worst, cabs (sum[i] - sample (signal.re, signal.im, i)));
    g_test_message ("%d spins: %.2g", spins[k], worst);
    g_assert_cmpfloat (worst, <=, fmax (before, 2e-6)); /* more spins come nearer, until rounding */
    before = worst;
  }
  g_assert_cmpfloat (before, <=, 2e-6);
  lam_signal_clear (&signal);
}

/* ---- the same bits ---- */

static void
assert_same (const float *a, const float *b, int64_t n, const char *what)
{
  g_assert_true ((a == NULL) == (b == NULL));
  if (a && memcmp (a, b, (size_t) n * sizeof *a) != 0)
    g_error ("%s: other bits", what);
}

static LamModel *
fingerprint (int pulses)
{
  LamModel *m = lam_model_new (lam_template_find ("MRF"));
  set_list (m, "flip", pulses, 5, 60);
  lam_model_set_orders (m, 12);
  return m;
}

static void
test_same_bits (gconstpointer kind)
{
  static const char *const real[] = {"T1", "T2", "B1", NULL};
  static const double real_range[][2] = {{200, 3000}, {10, 300}, {0.8, 1.1}};
  gboolean plain = g_str_equal (kind, "real");
  g_autoptr (LamModel) m = fingerprint (40);
  const int64_t n = plain ? 203 : 61;
  g_autoptr (LamTissues) t = plain ? tissues (n, real, real_range) : tissues (n, physics, ranges);
  static const char *const specs[] = {"1xcpu", "2xcpu", "3xcpu", "5xcpu", "8xcpu"};
  static const char *const by[] = {"T1", "T2", "B1", "flip[3]", NULL};
  const int64_t chunks[] = {0, 1, 7, n - 1, n, n + 1};
  LamSignal first = {0};
  LamJacobian first_j = {0};
  g_autofree float *g = g_new (float, n * 40), *first_tissue = NULL;
  g_autofree double *first_values = NULL;
  for (int64_t i = 0; i < n * 40; i++)
    g[i] = (float) cos (0.7 * i);
  for (guint k = 0; k < G_N_ELEMENTS (specs); k++) {
    g_autoptr (LamDevices) d = devices (specs[k]);
    g_autoptr (GError) error = NULL;
    for (guint c = 0; c < G_N_ELEMENTS (chunks); c++) {
      LamSimulateOptions o = {.chunk = chunks[c]};
      LamSignal s = {0};
      simulate (m, t, &o, d, &s);
      if (!first.route)
        first = s;
      else {
        assert_same (s.re, first.re, n * s.samples, specs[k]);
        assert_same (s.im, first.im, n * s.samples, specs[k]);
        lam_signal_clear (&s);
      }
    }
    LamJacobian j = {0};
    lam_model_jacobian (m, t, NULL, by, d, NULL, &j, NULL, &error);
    g_assert_no_error (error);
    assert_same (j.signal.re, first.re, n * 40, "the signal beside a Jacobian");
    int programs, values;
    LamProgram *const *p = lam_model_programs (m, &programs, &error);
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (LamBy));
    for (int i = 0; i < 3; i++)
      lam_by_parse (lam_program_sequence (p[0]), by[i], list, NULL);
    lam_program_values (p[0], &values);
    float *tissue = g_new (float, n * 3);
    double *x = g_new (double, values);
    lam_gradient (p[0], t, NULL, (const LamBy *) (void *) list->data, 3, g, g, d, NULL, tissue, x, &error);
    g_assert_no_error (error);
    if (k == 0) {
      first_j = j;
      first_tissue = tissue;
      first_values = x;
      continue;
    }
    assert_same (j.re, first_j.re, n * j.n * 40, "Jacobian");
    assert_same (j.im, first_j.im, n * j.n * 40, "Jacobian");
    assert_same (tissue, first_tissue, n * 3, "gradient by tissue");
    g_assert_cmpmem (x, values * sizeof *x, first_values, values * sizeof *x);
    lam_jacobian_clear (&j);
    g_free (tissue);
    g_free (x);
  }
  lam_signal_clear (&first);
  lam_jacobian_clear (&first_j);
}

/* A small budget really splits, says so, and is kept to. */
/* Quantities that are swept along together are what each is alone. */
static void
test_swept (void)
{
  static const char *const names[] = {"T1", "T2", "B1", NULL}, *const sets[][5] = {{"T1", "T2", NULL},
                                                                                   {"M0", "B1", "T2", "T1", NULL}};
  static const double range[][2] = {{200, 3000}, {10, 300}, {0.8, 1.1}};
  g_autoptr (LamModel) m = fingerprint (40);
  g_autoptr (LamTissues) t = tissues (35, names, range);
  g_autoptr (LamDevices) d = devices ("cpu");
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    g_autoptr (GError) error = NULL;
    LamJacobian all = {0};
    lam_model_jacobian (m, t, NULL, sets[i], d, NULL, &all, NULL, &error);
    g_assert_no_error (error);
    for (int k = 0; k < all.n; k++) {
      const char *const by[] = {sets[i][k], NULL};
      LamJacobian one = {0};
      lam_model_jacobian (m, t, NULL, by, d, NULL, &one, NULL, &error);
      g_assert_no_error (error);
      int64_t samples = one.signal.samples;
      double worst = 0, most = 0;
      for (int64_t v = 0; v < one.signal.voxels; v++)
        for (int64_t at = 0; at < samples; at++) {
          double x = one.re[v * samples + at];
          worst = fmax (worst, fabs (x - all.re[(v * all.n + k) * samples + at]));
          most = fmax (most, fabs (x));
        }
      g_test_message ("%s of %d: %.2g of %.2g", by[0], all.n, worst, most);
      g_assert_cmpfloat (most, >, 0);
      g_assert_cmpfloat (worst, <=, 2e-6 * most);
      assert_same (one.signal.re, all.signal.re, one.signal.voxels * samples, "the signal beside it");
      lam_jacobian_clear (&one);
    }
    lam_jacobian_clear (&all);
  }
}

static void
test_budget (void)
{
  static const char *const names[] = {"T1", "T2", NULL};
  static const double range[][2] = {{200, 3000}, {10, 300}};
  g_autoptr (LamModel) m = fingerprint (40);
  g_autoptr (LamTissues) t = tissues (2000, names, range);
  g_autoptr (LamDevices) d = devices ("2xcpu");
  g_autoptr (GError) error = NULL;
  LamSignal whole = {0}, split = {0};
  int n;
  simulate (m, t, NULL, d, &whole);
  LamProgram *const *p = lam_model_programs (m, &n, &error);
  LamSimulateOptions one = {.chunk = 1};
  g_autoptr (LamPlan) least = lam_simulate_plan (p[0], t, &one, d, &error);
  g_assert_no_error (error);
  /* Room for the states and some 50 voxels on each device. */
  LamSimulateOptions o = {.budget = 2 * (lam_plan_peak (least, 0) + 50 * 40 * 4)};
  lam_devices_reset_counters (d);
  simulate (m, t, &o, d, &split);
  g_test_message ("%s; with %" G_GINT64_FORMAT " bytes: %s", whole.route, o.budget, split.route);
  g_assert_cmpstr (whole.route, !=, split.route);
  for (int i = 0; i < 2; i++)
    g_assert_cmpint (atomic_load (&lam_devices_get (d, i)->peak), <=, o.budget / 2);
  assert_same (split.re, whole.re, 2000 * 40, "split");
  lam_signal_clear (&whole);
  lam_signal_clear (&split);
}

static void
set_crossover (const char *value)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "lamina", "crossover.ini", NULL);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  gsize n;
  g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &error);
  g_assert_no_error (error);
  g_auto (GStrv) groups = g_key_file_get_groups (file, &n);
  static const char *const calls[] = {"values", "jacobian", "gradient"};
  for (gsize i = 0; i < n; i++)
    for (int c = 0; c < 3; c++)
      g_key_file_set_string (file, groups[i], calls[c], value);
  g_key_file_save_to_file (file, path, &error);
  g_assert_no_error (error);
  lam_route_forget ();
}

static gboolean
plays_here (LamModel *m, LamTissues *t, LamDevices *d, LamRoute route)
{
  LamSimulateOptions o = {.route = route};
  LamSignal s = {0};
  simulate (m, t, &o, d, &s);
  gboolean here = g_str_equal (s.route, "here");
  lam_signal_clear (&s);
  return here;
}

/* Where a call is computed: by what was measured and kept, by order; and with the same bits. */
static void
test_route (void)
{
  static const char *const names[] = {"T1", "T2", NULL};
  static const double range[][2] = {{200, 3000}, {10, 300}};
  g_autoptr (LamModel) m = fingerprint (40);
  g_autoptr (LamTissues) t = tissues (100, names, range);
  g_autoptr (LamDevices) automatic = devices ("auto"), named = devices ("3xcpu");
  g_autoptr (GError) error = NULL;
  int n;
  for (int c = 0; c < LAM_CALLS; c++) {
    double work = lam_route_crossover (automatic, c);
    g_test_message ("crossover %d: %g", c, work);
    g_assert_cmpfloat (work, >=, 0);
  }
  g_assert_false (plays_here (m, t, named, LAM_ROUTE_AUTO));
  g_assert_true (plays_here (m, t, named, LAM_ROUTE_HERE));
  g_assert_false (plays_here (m, t, automatic, LAM_ROUTE_DEVICES));
  set_crossover ("1e9");
  g_assert_true (plays_here (m, t, automatic, LAM_ROUTE_AUTO));
  set_crossover ("1");
  g_assert_false (plays_here (m, t, automatic, LAM_ROUTE_AUTO));
  set_crossover ("nonsense");
  g_assert_cmpfloat (lam_route_crossover (automatic, LAM_CALL_VALUES), >=, 0); /* measured again */

  LamProgram *const *p = lam_model_programs (m, &n, &error);
  static const LamBy by[] = {{LAM_T1, -1}, {LAM_T2, -1}, {-1, 3}};
  LamSimulateOptions here = {.route = LAM_ROUTE_HERE}, there = {.route = LAM_ROUTE_DEVICES};
  LamJacobian a = {0}, b = {0};
  lam_jacobian (p[0], t, &here, by, 3, named, NULL, &a, &error);
  lam_jacobian (p[0], t, &there, by, 3, named, NULL, &b, &error);
  g_assert_no_error (error);
  gsize samples = (gsize) a.signal.samples * 100;
  g_assert_cmpmem (a.signal.re, samples * 4, b.signal.re, samples * 4);
  g_assert_cmpmem (a.re, 3 * samples * 4, b.re, 3 * samples * 4);
  g_assert_null (a.im); /* real states have none */
  g_assert_null (b.im);
  float tissue[2][300];
  int values;
  lam_program_values (p[0], &values);
  double *sums[2] = {g_new0 (double, values), g_new0 (double, values)};
  lam_gradient (p[0], t, &here, by, 3, a.signal.re, NULL, named, NULL, tissue[0], sums[0], &error);
  lam_gradient (p[0], t, &there, by, 3, a.signal.re, NULL, named, NULL, tissue[1], sums[1], &error);
  g_assert_no_error (error);
  g_assert_cmpmem (tissue[0], sizeof tissue[0], tissue[1], sizeof tissue[1]);
  g_assert_cmpmem (sums[0], values * sizeof (double), sums[1], values * sizeof (double));
  g_free (sums[0]);
  g_free (sums[1]);
  lam_jacobian_clear (&a);
  lam_jacobian_clear (&b);
}

/* Each allocation of a call fails once: an error or the same bits, never a fault. */
static void
test_allocations (void)
{
  static const char *const names[] = {"T1", "T2", NULL};
  static const double range[][2] = {{200, 3000}, {10, 300}};
  g_autoptr (LamModel) m = fingerprint (20);
  g_autoptr (LamTissues) t = tissues (100, names, range);
  g_autoptr (LamDevices) d = devices ("2xcpu");
  LamSignal truth = {0};
  simulate (m, t, NULL, d, &truth);
  int errors = 0, survived = 0;
  for (int64_t at = 1; at < 100; at++) {
    LamSignal s = {0};
    g_autoptr (GError) error = NULL;
    lam_memory_fail_at (at);
    gboolean ok = lam_model_simulate (m, t, NULL, d, NULL, &s, &error);
    gboolean reached = lam_memory_fail_at (0) >= at;
    if (ok) {
      assert_same (s.re, truth.re, 100 * 20, "after a failed allocation");
      survived += reached;
      lam_signal_clear (&s);
    } else {
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      errors++;
    }
    if (!reached)
      break;
  }
  g_test_message ("%d errors, %d survived with smaller chunks", errors, survived);
  g_assert_cmpint (errors, >, 0);
  g_assert_cmpint (survived, >, 0);
  lam_signal_clear (&truth);
}

/* ---- following numbers ---- */

static void
test_follow (void)
{
  g_autoptr (LamModel) m = fingerprint (60), fresh = NULL;
  g_autoptr (LamTissues) t = lam_tissues_new (1);
  g_autoptr (LamDevices) d = devices ("cpu");
  g_autoptr (GError) error = NULL;
  LamSignal s = {0}, again = {0};
  int64_t packed, bound;
  lam_tissues_set_value (t, "T1", 900, NULL);
  lam_tissues_set_value (t, "T2", 80, NULL);
  simulate (m, t, NULL, d, &s);
  int64_t resolved = lam_program_resolved ();
  set (m, "TR", 12.5);
  set (m, "TI", 15);
  set_list (m, "flip", 60, 3, 70);
  set_list (m, "phases", 1, 20, 20);
  simulate (m, t, NULL, d, &s);
  g_assert_cmpint (lam_program_resolved (), ==, resolved); /* nothing was packed */
  lam_model_counts (m, &packed, &bound);
  g_assert_cmpint (packed, ==, 1);
  g_assert_cmpint (bound, ==, 1);
  /* A model that is made with those numbers says the same to the last bit. */
  fresh = lam_model_new_for (lam_protocol_copy (lam_model_protocol (m)));
  lam_model_set_orders (fresh, 12);
  simulate (fresh, t, NULL, d, &again);
  assert_same (s.re, again.re, 60, "followed");
  assert_same (s.im, again.im, 60, "followed");
  /* A time that does not fit is refused by name, and the model goes on with what it had. */
  double te = 20;
  lam_model_set (m, "TE", &te, 1, &error);
  g_assert_no_error (error);
  g_assert_false (lam_model_simulate (m, t, NULL, d, NULL, &s, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_test_message ("%s", error->message);
  g_clear_error (&error);
  te = 0;
  lam_model_set (m, "TE", &te, 1, &error);
  simulate (m, t, NULL, d, &s);
  assert_same (s.re, again.re, 60, "after a refusal");
  lam_signal_clear (&s);
  lam_signal_clear (&again);
}

/* An echo time is part of its repetition time: what it grows by, every sample moves by once. */
static void
test_echo_times (void)
{
  static const char *const names[] = {"MRF", "FLASH", "TrueFISP", "fmSSFP"};
  for (int k = 0; k < 4; k++) {
    g_autoptr (LamModel) m = lam_model_new (lam_template_find (names[k]));
    g_autoptr (GError) error = NULL;
    const int n = 6;
    if (k == 3)
      set (m, "nshots", n);
    else
      set_list (m, "flip", n, 10, 30);
    set (m, "TR", 12);
    set (m, "TE", 4);
    g_autofree double *before = lam_model_sample_times (m, &error);
    g_assert_no_error (error);
    int64_t samples = lam_model_samples (m, &error);
    set (m, "TE", 5.5);
    g_autofree double *after = lam_model_sample_times (m, &error);
    g_assert_no_error (error);
    g_assert_cmpint (samples, >=, n);
    for (int64_t i = 0; i < samples; i++)
      g_assert_cmpfloat_with_epsilon (after[i] - before[i], 1.5e-3, 1e-9);
    g_assert_cmpfloat_with_epsilon (before[samples / n] - before[0], 12e-3, 1e-9);
  }
}

/* A number that is no sum of protocol values cannot be followed. */
static void
test_bent (void)
{
  g_autoptr (LamSequence) s = lam_sequence_new ();
  double a = 3;
  g_autoptr (GError) error = NULL;
  lam_sequence_add_values (s, "a", "ms", &a, 1);
  lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number_bent (a * a), lam_number (0), 0);
  lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0), 0);
  g_autoptr (LamProgram) p = lam_program_new (s, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (lam_program_bind (p, &a, 1, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED);
}

/* ---- cases.md, theory ---- */

static double complex
play_one (LamSequence *s, double t1, double t2, double b0, int orders, LamSignal *signal)
{
  g_autoptr (LamModel) m = lam_model_new_of_sequence (s);
  g_autoptr (LamTissues) t = lam_tissues_new (1);
  g_autoptr (LamDevices) d = devices ("cpu");
  lam_tissues_set_value (t, "T1", t1, NULL);
  lam_tissues_set_value (t, "T2", t2, NULL);
  if (b0 != 0)
    lam_tissues_set_value (t, "B0", b0, NULL);
  lam_model_set_orders (m, orders);
  simulate (m, t, NULL, d, signal);
  return sample (signal->re, signal->im, 0);
}

/* T1, T2, T4: CPMG. */
static void
test_cpmg (void)
{
  static const struct {
    double flip, spacing, t1, t2, tolerance;
    int at[5];
    double truth[5];
  } cases[] = {
      {170, 50, 1300, 180, 1e-5, {1, 2, 3, 10, 20}, {0.751711, 0.576059, 0.430902, 0.064579, 0.004990}},
      {180, 50, 1300, 180, 1e-6, {1, 2, 3, 10, 20}, {0.757465, 0.573753, 0.434598, 0.062177, 0.003866}},
      {180, 10, INFINITY, 100, 1e-6, {1, 2, 3, 0, 0}, {0.904837, 0.818731, 0.740818, 0, 0}},
  };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (LamSequence) s = lam_sequence_new ();
    LamNumber half = lam_number (cases[c].spacing * 0.5e-3);
    lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (LAM_PI / 2), lam_number (LAM_PI / 2), 0);
    for (int i = 0; i < 20; i++) {
      lam_sequence_wait (s, half);
      lam_sequence_rf (s, LAM_RF_REFOCUSING, lam_number (cases[c].flip * LAM_DEGREE), lam_number (0),
                       LAM_CRUSH_BEFORE | LAM_CRUSH_AFTER);
      lam_sequence_wait (s, half);
      lam_sequence_adc (s, LAM_ADC_ECHO_CENTER, lam_number (0), 0);
    }
    LamSignal signal = {0};
    play_one (s, cases[c].t1, cases[c].t2, 0, 64, &signal);
    for (int k = 0; k < 5 && cases[c].at[k]; k++) {
      double complex v = sample (signal.re, signal.im, cases[c].at[k] - 1);
      g_assert_cmpfloat (fabs (cabs (v) - cases[c].truth[k]), <=, cases[c].tolerance);
      if (cases[c].flip == 180)
        g_assert_cmpfloat (fabs (cimag (v)), <=, 1e-6);
    }
    lam_signal_clear (&signal);
  }
}

/* T3: a stimulated echo does not see off-resonance. */
static void
test_stimulated (void)
{
  for (int k = 0; k < 2; k++) {
    g_autoptr (LamSequence) s = lam_sequence_new ();
    LamNumber right = lam_number (LAM_PI / 2), zero = lam_number (0);
    lam_sequence_rf (s, LAM_RF_EXCITATION, right, zero, 0);
    lam_sequence_wait (s, lam_number (0.02));
    lam_sequence_action (s, LAM_CRUSH_AFTER);
    lam_sequence_rf (s, LAM_RF_EXCITATION, right, zero, 0);
    lam_sequence_action (s, LAM_SPOIL_AFTER);
    lam_sequence_wait (s, lam_number (0.1));
    lam_sequence_rf (s, LAM_RF_EXCITATION, right, zero, 0);
    lam_sequence_wait (s, lam_number (0.02));
    lam_sequence_action (s, LAM_CRUSH_AFTER);
    lam_sequence_adc (s, LAM_ADC_SINGLE, zero, 0);
    LamSignal signal = {0};
    double complex v = play_one (s, 1000, 80, k ? 40 : 0, 4, &signal);
    g_assert_cmpfloat (cabs (v - 0.274406 * I), <=, 1e-6);
    lam_signal_clear (&signal);
  }
}

/* T8: flips beyond a turn, and negative ones. */
static void
test_turns (void)
{
  static const double flips[] = {450, 90, -90, 360};
  static const double truth[] = {-1, -1, 1, 0};
  for (int k = 0; k < 4; k++) {
    g_autoptr (LamSequence) s = lam_sequence_new ();
    lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (flips[k] * LAM_DEGREE), lam_number (0), 0);
    lam_sequence_adc (s, LAM_ADC_SINGLE, lam_number (0), 0);
    LamSignal signal = {0};
    double complex v = play_one (s, 1000, 100, 0, 1, &signal);
    g_assert_cmpfloat (cabs (v - I * truth[k]), <=, 1e-6);
    lam_signal_clear (&signal);
  }
}

/* What a kept number of orders leaves out (T7's figures; the estimate itself belongs to the model). */
static void
test_truncation (void)
{
  static const double times[][3] = {{3000, 300, 2.29e-3}, {4000, 2000, 3.22e-2}, {1000, 80, 2.1e-6}};
  g_autoptr (LamDevices) d = devices ("cpu");
  double flip[500];
  for (int i = 0; i < 188; i++) {
    flip[i] = 5 + 55.0 * i / 187;
    flip[188 + i] = 60 - 58.0 * i / 187;
  }
  for (int i = 376; i < 500; i++)
    flip[i] = 2;
  for (int k = 0; k < 3; k++) {
    LamSignal s[2] = {{0}, {0}};
    double cut = NAN;
    for (int all = 0; all < 2; all++) {
      g_autoptr (LamModel) m = lam_model_new (lam_template_find ("MRF"));
      g_autoptr (LamModel) finer = lam_model_new (lam_template_find ("MRF"));
      g_autoptr (LamTissues) t = lam_tissues_new (1);
      lam_tissues_set_value (t, "T1", times[k][0], NULL);
      lam_tissues_set_value (t, "T2", times[k][1], NULL);
      lam_model_set (m, "flip", flip, 500, NULL);
      lam_model_set (finer, "flip", flip, 500, NULL);
      lam_model_set_orders (m, all ? 501 : 32);
      simulate (m, t, NULL, d, &s[all]);
      double c;
      lam_model_truncation (m, finer, t, NULL, d, &s[all], &c);
      if (all)
        g_assert_true (isnan (c)); /* nothing is left out */
      else
        cut = c;
    }
    double difference = 0, norm = 0;
    for (int i = 0; i < 500; i++) {
      difference += pow (s[0].re[i] - s[1].re[i], 2);
      norm += pow (s[1].re[i], 2);
    }
    double relative = sqrt (difference / norm);
    g_test_message ("T1 %g, T2 %g: %.3g, estimated %.3g", times[k][0], times[k][1], relative, cut);
    if (times[k][2] > 1e-4) {
      g_assert_cmpfloat (fabs (relative / times[k][2] - 1), <=, 0.05);
      g_assert_cmpfloat (cut, >, relative / 3);
      g_assert_cmpfloat (cut, <, relative * 3);
    } else {
      g_assert_cmpfloat (relative, <=, 1e-5);
      g_assert_cmpfloat (cut, <=, 1e-5);
    }
    lam_signal_clear (&s[0]);
    lam_signal_clear (&s[1]);
  }
}

/* ---- bad input ---- */

static void
test_bad_tissues (void)
{
  g_autoptr (LamTissues) t = lam_tissues_new (3);
  const double bad[] = {100, NAN, 100}, zero[] = {100, 100, 0}, three[] = {1, 1, 1};
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_tissues_set (t, "T1", bad, 3, &error));
  g_assert_nonnull (strstr (error->message, "voxel 1"));
  g_clear_error (&error);
  g_assert_false (lam_tissues_set (t, "T2", zero, 3, &error));
  g_assert_nonnull (strstr (error->message, "voxel 2"));
  g_clear_error (&error);
  g_assert_false (lam_tissues_set (t, "T1", three, 2, &error));
  g_clear_error (&error);
  g_assert_false (lam_tissues_set (t, "T9", three, 3, &error));
  g_clear_error (&error);
  g_autoptr (LamModel) m = fingerprint (5);
  g_autoptr (LamDevices) d = devices ("cpu");
  LamSignal s = {0};
  lam_tissues_set_value (t, "T1", 1000, NULL);
  g_assert_false (lam_model_simulate (m, t, NULL, d, NULL, &s, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_MISSING);
  g_assert_nonnull (strstr (error->message, "T2"));
  g_clear_error (&error);
  lam_tissues_set_value (t, "T2", 100, NULL);
  lam_tissues_set_value (t, "poolB_fraction", 0.7, NULL);
  lam_tissues_set_value (t, "bound_fraction", 0.6, NULL);
  g_assert_false (lam_model_simulate (m, t, NULL, d, NULL, &s, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_test_message ("%s", error->message);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {"MRF",    "FSE",     "Hyperecho", "FLASH", "TrueFISP", "fmSSFP", "StimulatedEcho",
                                      "MPRAGE", "MPnRAGE", "CEST"};
  /* What it writes about this machine is no other test's. */
  g_autofree char *cache = g_dir_make_tmp ("lamina-epg-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_strconcat ("/epg/derivatives/", names[i], NULL);
    g_test_add_data_func (path, names[i], test_derivatives);
  }
  g_test_add_func ("/epg/motion", test_motion);
  g_test_add_func ("/epg/isochromats", test_isochromats);
  g_test_add_data_func ("/epg/same-bits/real", "real", test_same_bits);
  g_test_add_data_func ("/epg/same-bits/physics", "physics", test_same_bits);
  g_test_add_func ("/epg/swept", test_swept);
  g_test_add_func ("/epg/budget", test_budget);
  g_test_add_func ("/epg/route", test_route);
  g_test_add_func ("/epg/allocations", test_allocations);
  g_test_add_func ("/epg/follow", test_follow);
  g_test_add_func ("/epg/echo-times", test_echo_times);
  g_test_add_func ("/epg/bent", test_bent);
  g_test_add_func ("/epg/cases/T1-T2-T4-cpmg", test_cpmg);
  g_test_add_func ("/epg/cases/T3-stimulated-echo", test_stimulated);
  g_test_add_func ("/epg/cases/T7-truncation", test_truncation);
  g_test_add_func ("/epg/cases/T8-turns", test_turns);
  g_test_add_func ("/epg/bad-tissues", test_bad_tissues);
  int status = g_test_run ();
  g_autofree char *folder = g_build_filename (cache, "lamina", NULL),
                  *kept = g_build_filename (folder, "crossover.ini", NULL);
  g_unlink (kept);
  g_rmdir (folder);
  g_rmdir (cache);
  return status;
}
