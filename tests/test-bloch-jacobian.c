/* test-bloch-jacobian.c: derivatives of the Bloch integrator against difference quotients and extended phase graphs, and against
 * themselves on other devices and instruction sets. */
#include <math.h>
#include <string.h>

#include "bloch-util.h"
#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "golden-seq.h"
#include "io/pulseq-read.h"
#include "mr-util.h"
#include "mr/bloch-kernels.h"

static const LamBlochQuantity all[] = {LAM_BLOCH_M0, LAM_BLOCH_T2, LAM_BLOCH_B1, LAM_BLOCH_T1,
                                       LAM_BLOCH_Y,  LAM_BLOCH_B0, LAM_BLOCH_Z,  LAM_BLOCH_X};
enum { ALL = G_N_ELEMENTS (all) };

static const char *const names_of[] = {"T1", "T2", "M0", "B0", "B1", "x", "y", "z"};

typedef struct {
  int64_t samples;
  float *re, *im, *d_re, *d_im; /* g_free () */
} Jacobian;

static void
jacobian_clear (Jacobian *j)
{
  g_free (j->re);
  g_free (j->im);
  g_free (j->d_re);
  g_free (j->d_im);
}

static Jacobian
derive (const LamPulseqTiming *t, const LamBlochParams *p, const char *devices)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new (devices, &error);
  g_autoptr (LamBloch) b = lam_bloch_new (t, p, set, &error);
  g_assert_no_error (error);
  Jacobian j = {.samples = lam_bloch_samples (b)};
  int64_t n = p->voxels * j.samples;
  j.re = g_new (float, n);
  j.im = g_new (float, n);
  j.d_re = g_new (float, n *LAM_MAX (p->n_by, 1));
  j.d_im = g_new (float, n *LAM_MAX (p->n_by, 1));
  g_assert_true (lam_bloch_jacobian (b, j.re, j.im, j.d_re, j.d_im, NULL, &error));
  g_assert_no_error (error);
  return j;
}

/* ---- difference quotients ---- */

static const double **
field_of (LamBlochParams *p, LamBlochQuantity q)
{
  const double **fields[] = {&p->t1_ms, &p->t2_ms, &p->m0, &p->b0_hz, &p->b1, &p->x, &p->y, &p->z};
  return fields[q];
}

/* The derivative by one quantity to sixth order; the steps are wide, so that the signal's rounding is small in it. */
static void
quotient (const LamPulseqTiming *t, const LamBlochParams *params, LamBlochQuantity q, double step, gboolean relative,
          double *re, double *im, int64_t n)
{
  static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  LamBlochParams p = *params;
  const double *here = *field_of (&p, q);
  g_autofree double *moved = g_new (double, p.voxels);
  p.n_by = 0;
  *field_of (&p, q) = moved;
  memset (re, 0, n * sizeof *re);
  memset (im, 0, n * sizeof *im);
  for (int k = 0; k < 6; k++) {
    double by = (k / 2 + 1) * (k % 2 ? -1 : 1);
    for (int64_t v = 0; v < p.voxels; v++)
      moved[v] = here[v] + by * step * (relative ? here[v] : 1);
    Jacobian j = derive (t, &p, "cpu");
    for (int64_t i = 0; i < n; i++) {
      double h = step * (relative ? here[i / j.samples] : 1), w = weight[k / 2] * (k % 2 ? -1 : 1) / h;
      re[i] += w * j.re[i];
      im[i] += w * j.im[i];
    }
    jacobian_clear (&j);
  }
}

/* Of a sample, relative to the peak. */
#define ROUNDING 6e-7

/* Every derivative to @near of its largest value in the voxel, and what rounded samples leave of it. @steps: T1, T2, M0, B0, B1, x,
 * y, z; 0: not asked. */
static void
check (const char *name, const LamPulseqTiming *t, LamBlochParams *p, const double *steps, double near)
{
  p->by = all;
  p->n_by = ALL;
  Jacobian j = derive (t, p, "cpu");
  int64_t n = p->voxels * j.samples;
  g_autofree double *re = g_new (double, n), *im = g_new (double, n);
  for (int k = 0; k < ALL; k++) {
    double worst = 0;
    if (steps[all[k]] == 0)
      continue;
    quotient (t, p, all[k], steps[all[k]], all[k] <= LAM_BLOCH_M0, re, im, n);
    for (int64_t v = 0; v < p->voxels; v++) {
      double largest = 0, off = 0, peak = 0,
             h = steps[all[k]] * (all[k] <= LAM_BLOCH_M0 ? (*field_of (p, all[k]))[v] : 1);
      for (int64_t s = 0; s < j.samples; s++) {
        int64_t own = v * j.samples + s, at = (v * ALL + k) * j.samples + s;
        peak = fmax (peak, hypot (j.re[own], j.im[own]));
        largest = fmax (largest, hypot (re[own], im[own]));
        off = fmax (off, hypot (j.d_re[at] - re[own], j.d_im[at] - im[own]));
      }
      g_assert_cmpfloat (largest, >, 0);
      worst = fmax (worst, (off - ROUNDING * peak / h) / largest);
    }
    g_test_message ("%s by %s: off by %.1e of the largest", name, names_of[all[k]], worst);
    g_assert_cmpfloat (worst, <, near);
  }
  jacobian_clear (&j);
}

/* All there is: turned gradients, offsets in ppm, bundles with weights, pulses that play once. */
static void
test_mixed (void)
{
  static const double steps[] = {0.08, 0.08, 0.1, 10, 0.03, 2e-4, 2e-4, 2e-4};
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  check ("mixed", t, &m.p, steps, 2e-4);
  lam_pulseq_unref (m.s);
}

static void
check_file (const char *name, int64_t count, const double *steps, double near)
{
  enum { N = 6 };
  static const double t1[N] = {900, 1400, 300, 2000, 700, 1100}, t2[N] = {70, 100, 40, 300, 55, 80},
                      m0[N] = {1, 0.5, 2, 1, 0.8, 1.2}, b0[N] = {0, 3, -4, 1, 6, -2},
                      b1[N] = {0.93, 0.9, 1.1, 0.8, 0.95, 1.05}, x[N] = {0, 1e-3, -2e-3, 5e-4, 1e-4, -1e-3},
                      y[N] = {0, 3e-4, 1e-3, -1e-3, 2e-4, 1e-3}, z[N] = {0, 2e-4, -3e-4, 4e-4, -1e-4, 1e-3};
  double offset[3][40];
  g_autofree char *path = golden_seq_path (name);
  g_autoptr (GError) error = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_autofree char *why = g_strdup_printf ("no mr/%s among the data (set LAMINA_SEQ_DIR)", name);
    g_test_skip (why);
    return;
  }
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, &error);
  LamBlochParams p = bloch_params (N);
  lam_bloch_spread_box ((const double[]){1e-3, 1e-3, 1e-3}, 40, offset[0], offset[1], offset[2]);
  p.t1_ms = t1;
  p.t2_ms = t2;
  p.m0 = m0;
  p.b0_hz = b0;
  p.b1 = b1;
  p.x = x;
  p.y = y;
  p.z = z;
  p.spins = 40;
  p.spin_x = offset[0];
  p.spin_y = offset[1];
  p.spin_z = offset[2];
  p.f0_hz = 123.2e6;
  p.count = LAM_MIN (count, t->samples);
  check (name, t, &p, steps, near);
}

static void
test_files (void)
{
  static const double fid[] = {0, 0.08, 0.1, 0.2, 0.05, 0, 0, 0},
                      gre[] = {0.08, 0.08, 0.1, 0.5, 0.03, 5e-6, 2e-5, 3e-6},
                      tse[] = {0.08, 0.08, 0.1, 0.02, 0.007, 2e-6, 5e-6, 1e-6},
                      mprage[] = {0.08, 0.08, 0.1, 0.02, 0.01, 2e-6, 5e-6, 2e-6};
  check_file ("fid.seq", 200, fid, 3e-4);
  check_file ("write_gre.seq", 1024, gre, 3e-4);
  check_file ("write_tse.seq", 1024, tse, 1e-3);
  check_file ("simple_mprage141.seq", 600, mprage, 1e-3);
}

/* ---- extended phase graphs ---- */

enum { PULSES = 40 };

static double
flip_of (int i)
{
  return 10 + 50 * fabs (sin (G_PI * (i + 1) / PULSES));
}

/* What the MRF template plays, written as a Pulseq file: instant pulses, samples after 2 of 10 ms, then one winding. */
static LamPulseq *
write_fisp (double *width)
{
  g_autoptr (GString) text = g_string_new (BLOCH_HEAD "[BLOCKS]\n");
  char number[32];
  for (int i = 0; i < PULSES; i++)
    g_string_append_printf (text, "%d 1 %d 0 0 0 0 0\n%d 199 0 0 0 0 1 0\n%d 800 0 1 0 0 0 0\n", 3 * i + 1, i + 1,
                            3 * i + 2, 3 * i + 3);
  g_string_append (text, "[RF]\n");
  for (int i = 0; i < PULSES; i++)
    g_string_append_printf (text, "%d %s 1 2 3 5 0 0 0 0 0 e\n", i + 1,
                            g_ascii_formatd (number, sizeof number, "%.9g", flip_of (i) / 360 / 1e-5));
  g_string_append (text, "[TRAP]\n1 100000 10 7980 10 0\n[ADC]\n1 1 100 1980 0 0 0 0 0\n" BLOCH_SHAPES);
  *width = 1 / (100000 * 7990e-6);
  return bloch_parse (text->str);
}

/* Change of the magnitude for one unit. */
static double
magnitude_change (double re, double im, double dr, double di)
{
  return (re * dr + im * di) / hypot (re, im);
}

/* Beside the template's Jacobian, more nearly the more spins there are. */
static void
test_graphs (void)
{
  static const char *const names[] = {"T1", "T2", "M0", "B1", NULL};
  static const LamBlochQuantity by[] = {LAM_BLOCH_T1, LAM_BLOCH_T2, LAM_BLOCH_M0, LAM_BLOCH_B1};
  static const int counts[] = {4, 12, 120};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamModel) model = lam_model_new (lam_template_find ("MRF"));
  g_autoptr (LamTissues) tissues = lam_tissues_new (1);
  double flip[PULSES], width, offset[120], last = INFINITY;
  const double t1 = 900, t2 = 60, b1 = 0.95;
  LamSimulateOptions options = {0};
  LamJacobian want = {0};
  for (int i = 0; i < PULSES; i++)
    flip[i] = flip_of (i);
  lam_model_set (model, "flip", flip, PULSES, &error);
  lam_model_set (model, "TE", (double[]){2}, 1, &error);
  lam_model_set (model, "TR", (double[]){10}, 1, &error);
  lam_model_set (model, "pulses", (double[]){PULSES}, 1, &error);
  lam_model_set (model, "inversion", (double[]){0}, 1, &error);
  lam_tissues_set_value (tissues, "T1", t1, &error);
  lam_tissues_set_value (tissues, "T2", t2, &error);
  lam_tissues_set_value (tissues, "B1", b1, &error);
  g_assert_no_error (error);
  lam_model_jacobian (model, tissues, &options, names, mr_devices (), NULL, &want, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (want.signal.samples, ==, PULSES);
  g_autoptr (LamPulseq) s = write_fisp (&width);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, &error);
  for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
    LamBlochParams p = bloch_params (1);
    lam_bloch_spread_even (width, counts[c], offset);
    p.t1_ms = &t1;
    p.t2_ms = &t2;
    p.b1 = &b1;
    p.spins = counts[c];
    p.spin_x = offset;
    p.by = by;
    p.n_by = G_N_ELEMENTS (by);
    Jacobian j = derive (t, &p, "cpu");
    double worst = 0;
    for (guint k = 0; k < G_N_ELEMENTS (by); k++) {
      double off = 0, largest = 0;
      for (int i = 0; i < PULSES; i++) {
        int at = (int) k * PULSES + i;
        double a = magnitude_change (j.re[i], j.im[i], j.d_re[at], j.d_im[at]);
        double b = magnitude_change (want.signal.re ? want.signal.re[i] : 0, want.signal.im ? want.signal.im[i] : 0,
                                     want.re ? want.re[at] : 0, want.im ? want.im[at] : 0);
        off = fmax (off, fabs (a - b));
        largest = fmax (largest, fabs (b));
      }
      worst = fmax (worst, off / largest);
    }
    g_test_message ("%d spins: off by %.1e of the largest derivative", counts[c], worst);
    g_assert_cmpfloat (worst, <, last);
    last = worst;
    jacobian_clear (&j);
  }
  g_assert_cmpfloat (last, <, 2e-3); /* pulses of 10 us are not instant */
  lam_jacobian_clear (&want);
}

/* ---- one answer ---- */

static void
test_one_answer (void)
{
  static const char *const devices[] = {"cpu", "2xcpu", "3xcpu", "8xcpu"};
  static const int64_t chunks[] = {0, 1, 7, 76, 1024};
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  Jacobian plain = derive (t, &m.p, "cpu");
  m.p.by = all;
  m.p.n_by = ALL;
  Jacobian want = derive (t, &m.p, "cpu");
  gsize bytes = 77 * want.samples * sizeof (float);
  /* Samples are what they are without derivatives. */
  g_assert_cmpmem (want.re, bytes, plain.re, bytes);
  g_assert_cmpmem (want.im, bytes, plain.im, bytes);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++)
    for (guint c = 0; c < G_N_ELEMENTS (chunks); c++) {
      m.p.chunk = chunks[c];
      Jacobian got = derive (t, &m.p, devices[d]);
      g_assert_cmpmem (want.re, bytes, got.re, bytes);
      g_assert_cmpmem (want.d_re, ALL * bytes, got.d_re, ALL * bytes);
      g_assert_cmpmem (want.d_im, ALL * bytes, got.d_im, ALL * bytes);
      jacobian_clear (&got);
    }
  /* One quantity is the same alone and among others. */
  for (int k = 0; k < ALL; k++) {
    m.p.by = &all[k];
    m.p.n_by = 1;
    Jacobian got = derive (t, &m.p, "2xcpu");
    for (int64_t v = 0; v < 77; v++)
      g_assert_cmpmem (got.d_re + v * want.samples, want.samples * sizeof (float),
                       want.d_re + (v * ALL + k) * want.samples, want.samples * sizeof (float));
    jacobian_clear (&got);
  }
  jacobian_clear (&plain);
  jacobian_clear (&want);
  lam_pulseq_unref (m.s);
}

static void
test_instruction_sets (void)
{
  LamIsa before = lam_isa ();
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  m.p.by = all;
  m.p.n_by = ALL;
  g_assert_true (lam_isa_force (LAM_ISA_SCALAR));
  Jacobian want = derive (t, &m.p, "cpu");
  for (int isa = LAM_ISA_AVX2; isa <= LAM_ISA_AVX512; isa++) {
    if (!lam_isa_force (isa)) {
      g_test_message ("%s is not there", lam_isa_name (isa));
      continue;
    }
    Jacobian got = derive (t, &m.p, "cpu");
    for (int k = 0; k < ALL; k++) {
      double worst = 0, scale = 0;
      for (int64_t v = 0; v < 77; v++)
        for (int64_t i = (v * ALL + k) * want.samples; i < (v * ALL + k + 1) * want.samples; i++) {
          worst = fmax (worst, hypot (got.d_re[i] - want.d_re[i], got.d_im[i] - want.d_im[i]));
          scale = fmax (scale, hypot (want.d_re[i], want.d_im[i]));
        }
      g_test_message ("%s and scalar, by %s: %.2e of the peak", lam_isa_name (isa), names_of[all[k]], worst / scale);
      g_assert_cmpfloat (worst, <, 3e-6 * scale);
    }
    jacobian_clear (&got);
  }
  jacobian_clear (&want);
  lam_isa_force (before);
  lam_pulseq_unref (m.s);
}

/* Samples that are picked are those of all, whichever they are. */
static void
test_picks (void)
{
  static const int64_t picks[] = {0, 3, 4, 5, 69, 70, 71, 139, 141, 209};
  enum { N = G_N_ELEMENTS (picks) };
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  m.p.by = all;
  m.p.n_by = ALL;
  g_assert_cmpint (t->samples, ==, 210);
  Jacobian whole = derive (t, &m.p, "cpu");
  m.p.picks = picks;
  m.p.n_picks = N;
  Jacobian some = derive (t, &m.p, "2xcpu");
  g_assert_cmpint (some.samples, ==, N);
  for (int64_t v = 0; v < 77; v++)
    for (int i = 0; i < N; i++) {
      g_assert_cmpfloat (some.re[v * N + i], ==, whole.re[v * 210 + picks[i]]);
      for (int k = 0; k < ALL; k++)
        g_assert_cmpfloat (some.d_im[(v * ALL + k) * N + i], ==, whole.d_im[(v * ALL + k) * 210 + picks[i]]);
    }
  jacobian_clear (&whole);
  jacobian_clear (&some);
  lam_pulseq_unref (m.s);
}

static void
test_plan (void)
{
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  m.p.by = all;
  m.p.n_by = ALL;
  m.p.chunk = 12;
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("3xcpu", &error);
  for (int i = 1;; i++) { /* every allocation that fails is an error and nothing else */
    int64_t n = 77 * t->samples;
    g_autofree float *out = g_new (float, 2 * n * (1 + ALL));
    lam_memory_fail_at (i);
    g_autoptr (LamBloch) b = lam_bloch_new (t, &m.p, set, &error);
    if (b)
      lam_devices_reset_counters (set);
    gboolean ok = b && lam_bloch_jacobian (b, out, out + n, out + 2 * n, out + (2 + ALL) * n, NULL, &error);
    lam_memory_fail_at (0);
    if (!ok) {
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      g_clear_error (&error);
      continue;
    }
    g_assert_cmpint (i, >, 10);
    int copies;
    int64_t planned = 0, copied = 0;
    const LamPlanCopy *c = lam_plan_copies (lam_bloch_plan (b), &copies);
    for (int k = 0; k < copies; k++)
      planned += c[k].bytes;
    for (int d = 0; d < 3; d++) {
      g_assert_cmpint (lam_plan_measured (lam_bloch_plan (b), d), ==, lam_plan_peak (lam_bloch_plan (b), d));
      copied += lam_devices_get (set, d)->copied_in + lam_devices_get (set, d)->copied_out;
    }
    g_test_message ("copied %" G_GINT64_FORMAT ", planned %" G_GINT64_FORMAT, copied, planned);
    g_assert_cmpint (copied, ==, planned);
    break;
  }
  lam_pulseq_unref (m.s);
}

static void
test_refused (void)
{
  static const LamBlochQuantity twice[] = {LAM_BLOCH_T1, LAM_BLOCH_T1}, none[] = {LAM_BLOCH_QUANTITIES};
  static const int64_t falling[] = {3, 3}, far[] = {1000};
  g_autoptr (GError) error = NULL;
  BlochMixed m;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
#define REFUSED(field, count, value, n, word)                                                                          \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    LamBlochParams q = m.p;                                                                                            \
    q.field = value;                                                                                                   \
    q.count = n;                                                                                                       \
    g_assert_null (lam_bloch_new (t, &q, set, &error));                                                                \
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);                                                              \
    g_assert_nonnull (strstr (error->message, word));                                                                  \
    g_clear_error (&error);                                                                                            \
  }                                                                                                                    \
  G_STMT_END
  REFUSED (by, n_by, twice, 2, "T1 to derive by is there twice");
  REFUSED (by, n_by, none, 1, "none of a voxel");
  REFUSED (picks, n_picks, falling, 2, "sample 3 is wanted after 3");
  REFUSED (picks, n_picks, far, 1, "sample 1000");
#undef REFUSED
  lam_pulseq_unref (m.s);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc test;
  } tests[] = {
      {"/bloch-jacobian/mixed", test_mixed},
      {"/bloch-jacobian/files", test_files},
      {"/bloch-jacobian/graphs", test_graphs},
      {"/bloch-jacobian/one-answer", test_one_answer},
      {"/bloch-jacobian/instruction-sets", test_instruction_sets},
      {"/bloch-jacobian/picks", test_picks},
      {"/bloch-jacobian/plan", test_plan},
      {"/bloch-jacobian/refused", test_refused},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);
  return g_test_run ();
}
