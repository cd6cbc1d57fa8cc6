/* test-bloch.c: the Bloch integrator against formulas, against itself on other devices and instruction sets, and its faults. */
#include <math.h>
#include <string.h>

#include "bloch-util.h"
#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "golden-seq.h"
#include "io/pulseq-read.h"
#include "mr/bloch-kernels.h"
#include "mr/bloch.h"

typedef struct {
  float *re, *im;
  int64_t samples;
} Signal;

static Signal
simulate (LamPulseq *s, const LamBlochParams *p, const char *devices)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = lam_devices_new (devices, &error);
  Signal out;
  lam_bloch_simulate (s, p, set, NULL, &out.re, &out.im, &out.samples, &error);
  g_assert_no_error (error);
  return out;
}

static void
signal_clear (Signal *s)
{
  lam_free (s->re);
  lam_free (s->im);
}

#define NEAR(a, b) g_assert_cmpfloat_with_epsilon (a, b, 2e-6)

/* ---- formulas ---- */

/* 90 degrees at phase 0, then samples: -i exp (-t / T2 + 2 pi i B0 t), and the demodulation of the receiver. */
static void
test_fid (void)
{
  g_autoptr (LamPulseq) s =
      bloch_parse (BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 100 0 0 0 0 1 0\n3 10 0 0 0 0 2 0\n"
                              "[RF]\n1 25000 1 2 3 5 0 0 0 0 0 e\n"
                              "[ADC]\n1 10 100000 0 0 0 0 0 0\n2 4 10000 5 0 0 3000 0.7 4\n" BLOCH_SHAPES
                              "shape_id 4\nnum_samples 4\n0\n0.1\n-0.4\n2\n");
  const double t1[] = {1000, INFINITY, 300}, t2[] = {1, INFINITY, 20}, b0[] = {0, 130, -75}, m0[] = {1, 2, 0.5};
  LamBlochParams p = bloch_params (3);
  p.t1_ms = t1;
  p.t2_ms = t2;
  p.b0_hz = b0;
  p.m0 = m0;
  Signal out = simulate (s, &p, "cpu");
  static const double shape[] = {0, 0.1, -0.4, 2};
  g_assert_cmpint (out.samples, ==, 14);
  for (int v = 0; v < 3; v++)
    for (int k = 0; k < 14; k++) {
      double t = k < 10 ? (k + 0.5) * 1e-4 : 1e-3 + 5e-6 + (k - 9.5) * 1e-5; /* after the pulse */
      /* A short pulse of 90 degrees leaves the phase of 2/pi of its time, and takes the relaxation of about as much. */
      double turn = 2 * G_PI * b0[v] * (t + 1e-5 * 2 / G_PI), size = m0[v] * exp (-(t + 6e-6) * 1000 / t2[v]);
      double receiver = k < 10 ? 0 : 0.7 + 2 * G_PI * 3000 * (k - 9.5) * 1e-5 + shape[k - 10];
      double re = size * sin (turn), im = -size * cos (turn);
      double x = re * cos (receiver) + im * sin (receiver), y = im * cos (receiver) - re * sin (receiver);
      double near = v == 1 ? 1e-4 : 2e-3;
      g_assert_cmpfloat_with_epsilon (out.re[v * 14 + k], x, near);
      g_assert_cmpfloat_with_epsilon (out.im[v * 14 + k], y, near);
    }
  /* From sample to sample it is exact. */
  for (int v = 0; v < 3; v++)
    for (int k = 1; k < 10; k++) {
      double a = hypot (out.re[v * 14 + k], out.im[v * 14 + k]),
             b = hypot (out.re[v * 14 + k - 1], out.im[v * 14 + k - 1]);
      g_assert_cmpfloat_with_epsilon (a / b, exp (-0.1 / t2[v]), 1e-6);
      double turn =
          atan2 (out.im[v * 14 + k], out.re[v * 14 + k]) - atan2 (out.im[v * 14 + k - 1], out.re[v * 14 + k - 1]);
      g_assert_cmpfloat_with_epsilon (remainder (turn - 2 * G_PI * b0[v] * 1e-4, 2 * G_PI), 0, 3e-6);
    }
  signal_clear (&out);
}

/* Flips of T8 (450, 90, -90, 360 degrees), by amplitude and by B1; phases; an amplitude of 0 does nothing. */
static void
test_flips (void)
{
  g_autoptr (LamPulseq) s =
      bloch_parse (BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 1 0 0 0 0 1 0\n[RF]\n1 25000 1 2 3 5 0 0 0 0 0 e\n"
                              "[ADC]\n1 1 100 0 0 0 0 0 0\n" BLOCH_SHAPES);
  const double b1[] = {5, 1, -1, 4, 0, 1.0 / 3};
  LamBlochParams p = bloch_params (6);
  p.b1 = b1;
  for (int i = 0; i < 8; i++) {
    s->rf[0].phase_rad = i * G_PI / 4;
    Signal out = simulate (s, &p, "cpu");
    for (int v = 0; v < 6; v++) {
      double size = sin (b1[v] * G_PI / 2);
      NEAR (out.re[v], size * sin (s->rf[0].phase_rad));
      NEAR (out.im[v], -size * cos (s->rf[0].phase_rad));
    }
    signal_clear (&out);
  }
  s->rf[0].amplitude = 0;
  Signal out = simulate (s, &p, "cpu");
  for (int v = 0; v < 6; v++)
    g_assert_cmpfloat (hypot (out.re[v], out.im[v]), ==, 0);
  signal_clear (&out);
}

/* A pulse off resonance, in closed form: rotation about a tilted axis. Large offsets need many parts of a step. */
static void
test_tilted (void)
{
  g_autoptr (LamPulseq) s =
      bloch_parse (BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 1 0 0 0 0 1 0\n[RF]\n1 25000 1 2 3 5 0 0 0 0 0 e\n"
                              "[ADC]\n1 1 100 0 0 0 0 0 0\n" BLOCH_SHAPES);
  const double b0[] = {0, 1000, -20000, 300000, 2e6};
  LamBlochParams p = bloch_params (5);
  p.b0_hz = b0;
  Signal out = simulate (s, &p, "cpu");
  for (int v = 0; v < 5; v++) {
    double wx = 2 * G_PI * 25000 * 1e-5, wz = 2 * G_PI * b0[v] * 1e-5, w = hypot (wx, wz), nx = wx / w, nz = wz / w;
    double re = nx * nz * (1 - cos (w)), im = -nx * sin (w), turn = 2 * G_PI * b0[v] * 50e-9; /* half a dwell */
    g_assert_cmpfloat_with_epsilon (out.re[v], re * cos (turn) - im * sin (turn), 5e-6);
    g_assert_cmpfloat_with_epsilon (out.im[v], re * sin (turn) + im * cos (turn), 5e-6);
  }
  signal_clear (&out);
}

#define ECHO                                                                                                           \
  BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 100 0 1 0 0 0 0\n3 1 2 0 0 0 0 0\n4 200 0 2 0 0 1 0\n"                      \
             "[RF]\n1 25000 1 2 3 5 0 0 0 0 1.5707963267948966 e\n2 50000 1 2 3 5 0 0 0 0 0 r\n"                       \
             "[TRAP]\n1 100000 0 1000 0 0\n2 100000 0 2000 0 0\n[ADC]\n1 1 10 999.995 0 0 0 0 0\n" BLOCH_SHAPES

/* A spin echo at 2 ms: gradients and B0 are refocused, T2 is not. */
static void
test_spin_echo (void)
{
  enum { N = 50 };
  g_autoptr (LamPulseq) s = bloch_parse (ECHO);
  double b0[N], x[N], t2[N];
  LamBlochParams p = bloch_params (N);
  for (int i = 0; i < N; i++) {
    b0[i] = 3 * (i - 25);
    x[i] = 0.002 * (i - 17);
    t2[i] = 5 + i;
  }
  p.b0_hz = b0;
  p.x = x;
  p.t2_ms = t2;
  Signal out = simulate (s, &p, "cpu");
  for (int i = 0; i < N; i++) { /* 90 at y makes x of z; 180 at x keeps it */
    g_assert_cmpfloat_with_epsilon (out.re[i], exp (-2.01 / t2[i]), 2e-3);
    g_assert_cmpfloat_with_epsilon (out.im[i], 0, 2e-2);
  }
  signal_clear (&out);
}

/* A bundle across a voxel under a gradient is a sinc; a Lorentzian one decays with T2'. */
static void
test_bundles (void)
{
  g_autoptr (LamPulseq) s =
      bloch_parse (BLOCH_HEAD "[BLOCKS]\n1 1 1 0 0 0 0 0\n2 100 0 1 0 0 1 0\n[RF]\n1 25000 1 2 3 5 0 0 0 0 0 e\n"
                              "[TRAP]\n1 100000 0 1000 0 0\n[ADC]\n1 10 100000 0 0 0 0 0 0\n" BLOCH_SHAPES);
  enum { N = 501 };
  double offset[N], weight[N];
  LamBlochParams p = bloch_params (2);
  const double x[] = {0, 0.013};
  lam_bloch_spread_even (0.02, N, offset);
  p.x = x;
  p.spins = N;
  p.spin_x = offset;
  Signal out = simulate (s, &p, "cpu");
  for (int k = 0; k < 10; k++) {
    double kx = 100000 * (k + 0.5) * 1e-4, sinc = sin (G_PI * kx * 0.02) / (N * sin (G_PI * kx * 0.02 / N));
    g_assert_cmpfloat_with_epsilon (out.im[k], -sinc, 1e-5);
    g_assert_cmpfloat_with_epsilon (out.re[k], 0, 1e-5);
    double turn = 2 * G_PI * kx * x[1];
    g_assert_cmpfloat_with_epsilon (out.im[10 + k], -sinc * cos (turn), 1e-5);
    g_assert_cmpfloat_with_epsilon (out.re[10 + k], sinc * sin (turn), 1e-5);
  }
  signal_clear (&out);

  p = bloch_params (1);
  lam_bloch_spread_lorentzian (0.5, N, offset);
  p.spins = N;
  p.spin_b0 = offset;
  out = simulate (s, &p, "cpu");
  for (int k = 1; k < 10; k++)
    g_assert_cmpfloat_with_epsilon (hypot (out.re[k], out.im[k]), exp (-(k + 0.5) * 0.1 / 0.5), 0.03);
  signal_clear (&out);

  /* Given weights, and as many spins as a tile holds lanes, and one more. */
  for (int n = 30; n <= 66; n++) {
    double sum = 0;
    for (int i = 0; i < n; i++)
      sum += weight[i] = i + 1;
    lam_bloch_spread_even (10, n, offset);
    p.spins = n;
    p.spin_weight = weight;
    out = simulate (s, &p, "cpu");
    g_assert_cmpfloat_with_epsilon (hypot (out.re[0], out.im[0]) / sum, 1, 1e-3);
    signal_clear (&out);
  }
}

/* A pulse that plays twice is kept as a map: the first echo of one and of two playings. */
static void
test_maps (void)
{
  g_autofree char *path = golden_seq_path ("write_gre.seq");
  g_autoptr (GError) error = NULL;
  if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_test_skip ("no mr/write_gre.seq among the data (set LAMINA_SEQ_DIR)");
    return;
  }
  g_autoptr (LamPulseq) s = lam_pulseq_open (path, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  enum { N = 40 };
  double z[N], t1[N], t2[N], b1[N];
  float one[2][N * 64], two[2][N * 128];
  LamBlochParams p = bloch_params (N);
  for (int i = 0; i < N; i++) {
    z[i] = 0.0001 * (i - 20);
    t1[i] = 500 + 20 * i;
    t2[i] = 30 + i;
    b1[i] = 0.8 + 0.01 * i;
  }
  p.z = z;
  p.t1_ms = t1;
  p.t2_ms = t2;
  p.b1 = b1;
  p.count = 64;
  g_autoptr (LamBloch) first = lam_bloch_new (t, &p, set, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lam_bloch_maps (first), ==, 0);
  g_assert_true (lam_bloch_run (first, one[0], one[1], NULL, &error));
  p.count = 128;
  g_autoptr (LamBloch) both = lam_bloch_new (t, &p, set, &error);
  g_assert_cmpint (lam_bloch_maps (both), ==, 1);
  g_assert_true (lam_bloch_run (both, two[0], two[1], NULL, &error));
  for (int part = 0; part < 2; part++)
    for (int v = 0; v < N; v++)
      for (int k = 0; k < 64; k++)
        g_assert_cmpfloat_with_epsilon (one[part][v * 64 + k], two[part][v * 128 + k], 1e-6);

  /* A part of the samples is that part of all. */
  float some[2][N * 50];
  p.first = 70;
  p.count = 50;
  g_autoptr (LamBloch) part = lam_bloch_new (t, &p, set, &error);
  g_assert_true (lam_bloch_run (part, some[0], some[1], NULL, &error));
  for (int v = 0; v < N; v++)
    for (int k = 0; k < 50; k++)
      g_assert_cmpfloat (some[0][v * 50 + k], ==, two[0][v * 128 + 70 + k]);
}

/* Spoiled gradient echo: the mean over a voxel that is wound by whole turns is Ernst's. */
static void
test_steady_state (void)
{
  g_autoptr (GString) text = g_string_new (BLOCH_HEAD "[BLOCKS]\n");
  const int pulses = 400, spins = 200;
  for (int i = 0; i < pulses; i++)
    g_string_append_printf (text, "%d 1 %d 0 0 0 0 0\n%d 1 0 0 0 0 %d 0\n%d 998 0 1 0 0 0 0\n", 3 * i + 1, i + 1,
                            3 * i + 2, i + 1, 3 * i + 3);
  g_string_append (text, "[RF]\n");
  for (int i = 0; i < pulses; i++)
    g_string_append_printf (text, "%d 4166.66667 1 2 3 5 0 0 0 0 %d.%06d e\n", i + 1, 0, 0);
  g_string_append (text, "[TRAP]\n1 100000 0 9980 0 0\n[ADC]\n");
  for (int i = 0; i < pulses; i++)
    g_string_append_printf (text, "%d 1 100 0 0 0 0 0 0\n", i + 1);
  g_string_append (text, BLOCH_SHAPES);
  g_autoptr (LamPulseq) s = bloch_parse (text->str);
  for (int i = 0; i < pulses; i++)
    s->rf[i].phase_rad = s->adc[i].phase_rad = fmod (117 * 0.5 * i * (i + 1.0), 360) * G_PI / 180;
  double offset[200];
  const double t1 = 1000, t2 = 20;
  lam_bloch_spread_even (1 / (100000 * 9980e-6), spins, offset); /* one turn across */
  LamBlochParams p = bloch_params (1);
  p.t1_ms = &t1;
  p.t2_ms = &t2;
  p.spins = spins;
  p.spin_x = offset;
  Signal out = simulate (s, &p, "cpu");
  double flip = 15 * G_PI / 180, e1 = exp (-10.0 / t1);
  double ernst = sin (flip) * (1 - e1) / (1 - e1 * cos (flip)); /* T6 */
  g_assert_cmpfloat_with_epsilon (ernst, 0.0589510, 1e-6);
  g_assert_cmpfloat_with_epsilon (-out.im[pulses - 1] / ernst, 1, 0.03);
  signal_clear (&out);
}

/* ---- one answer ---- */

static void
test_one_answer (void)
{
  static const char *const devices[] = {"cpu", "2xcpu", "3xcpu", "5xcpu", "8xcpu"};
  static const int64_t chunks[] = {0, 1, 6, 7, 76, 77, 1024};
  BlochMixed m;
  bloch_mixed_init (&m);
  Signal want = simulate (m.s, &m.p, "cpu");
  int64_t bytes = 77 * want.samples * (int64_t) sizeof (float);
  for (int64_t i = 0; i < 77 * want.samples; i++)
    g_assert_true (isfinite (want.re[i]) && isfinite (want.im[i]));
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++)
    for (guint c = 0; c < G_N_ELEMENTS (chunks); c++) {
      m.p.chunk = chunks[c];
      Signal got = simulate (m.s, &m.p, devices[d]);
      g_assert_cmpmem (want.re, bytes, got.re, bytes);
      g_assert_cmpmem (want.im, bytes, got.im, bytes);
      signal_clear (&got);
    }
  /* One voxel alone is that voxel among others. */
  LamBlochParams p = m.p;
  p.voxels = 1;
  p.t1_ms += 50;
  p.t2_ms += 50;
  p.m0 += 50;
  p.b0_hz += 50;
  p.b1 += 50;
  p.x += 50;
  p.y += 50;
  p.z += 50;
  Signal one = simulate (m.s, &p, "8xcpu");
  for (int64_t k = 0; k < want.samples; k++)
    g_assert_cmpfloat_with_epsilon (one.re[k], want.re[50 * want.samples + k], 3e-6);
  signal_clear (&one);
  signal_clear (&want);
  lam_pulseq_unref (m.s);
}

static void
test_instruction_sets (void)
{
  LamIsa before = lam_isa ();
  BlochMixed m;
  bloch_mixed_init (&m);
  g_assert_true (lam_isa_force (LAM_ISA_SCALAR));
  Signal want = simulate (m.s, &m.p, "cpu");
  for (int isa = LAM_ISA_AVX2; isa <= LAM_ISA_AVX512; isa++) {
    double worst = 0, scale = 0;
    if (!lam_isa_force (isa)) {
      g_test_message ("%s is not there", lam_isa_name (isa));
      continue;
    }
    Signal got = simulate (m.s, &m.p, "cpu");
    for (int64_t i = 0; i < 77 * want.samples; i++) {
      worst = fmax (worst, hypot (got.re[i] - want.re[i], got.im[i] - want.im[i]));
      scale = fmax (scale, hypot (want.re[i], want.im[i]));
    }
    g_test_message ("%s and scalar differ by %.2e of the peak", lam_isa_name (isa), worst / scale);
    g_assert_cmpfloat (worst, <, 2e-6 * scale);
    signal_clear (&got);
  }
  signal_clear (&want);
  lam_isa_force (before);
  lam_pulseq_unref (m.s);
}

static void
test_functions (void)
{
  enum { N = 32 * 4000 };
  g_autofree double *turns = g_new (double, N);
  g_autofree float *s = g_new (float, N), *c = g_new (float, N), *x = g_new (float, N), *d = g_new (float, N);
  LamIsa before = lam_isa ();
  for (int i = 0; i < N; i++) {
    turns[i] = (i - N / 2) * 1.0000123e-4 + (i % 7 == 0 ? 1e5 : 0);
    x[i] = (float) pow (10, -9 + 11.5 * i / N);
  }
  for (int isa = LAM_ISA_SCALAR; isa <= LAM_ISA_AVX512; isa++) {
    double worst = 0, relative = 0;
    if (!lam_isa_force (isa))
      continue;
    lam_bloch_kernels ()->sincos (turns, s, c, N);
    lam_bloch_kernels ()->decay (x, d, N);
    for (int i = 0; i < N; i++) {
      double t = 2 * G_PI * remainder (turns[i], 1), want = -expm1 (-(double) x[i]);
      worst = fmax (worst, fmax (fabs (s[i] - sin (t)), fabs (c[i] - cos (t))));
      relative = fmax (relative, fabs (d[i] / want - 1));
    }
    g_test_message ("%s: sine and cosine to %.2e, decay to %.2e of itself", lam_isa_name (isa), worst, relative);
    g_assert_cmpfloat (worst, <, 1.5e-7);
    g_assert_cmpfloat (relative, <, 4e-7);
  }
  lam_isa_force (before);
}

/* ---- faults ---- */

static void
test_refused (void)
{
  g_autoptr (LamPulseq) s = bloch_parse (ECHO);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", &error);
  const double zero[2] = {1, 0}, nan_[2] = {1, NAN}, inf[2] = {INFINITY, 1};
  LamBlochParams p = bloch_params (2);
#define REFUSED(field, value, word)                                                                                    \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    LamBlochParams q = p;                                                                                              \
    q.field = value;                                                                                                   \
    g_assert_null (lam_bloch_new (t, &q, set, &error));                                                                \
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);                                                              \
    g_assert_nonnull (strstr (error->message, word));                                                                  \
    g_clear_error (&error);                                                                                            \
  }                                                                                                                    \
  G_STMT_END
  REFUSED (t1_ms, zero, "T1 of voxel 1");
  REFUSED (t2_ms, nan_, "T2 of voxel 1");
  REFUSED (b0_hz, inf, "B0 of voxel 0");
  REFUSED (voxels, 0, "0 voxels");
  REFUSED (spins, -1, "-1 spins");
  REFUSED (first, 2, "samples from 2");
  REFUSED (count, 2, "2 of them");
  s->rf[0].freq_ppm = 3.5;
  g_assert_null (lam_bloch_new (t, &p, set, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_MISSING);
  g_clear_error (&error);
  p.f0_hz = 123e6;
  g_autoptr (LamBloch) b = lam_bloch_new (t, &p, set, &error);
  g_assert_no_error (error);
}

static void
test_plan (void)
{
  BlochMixed m;
  g_autoptr (GError) error = NULL;
  bloch_mixed_init (&m);
  g_autoptr (LamPulseqTiming) t = lam_pulseq_timing_new (m.s, &error);
  g_autoptr (LamDevices) set = lam_devices_new ("3xcpu", &error);
  g_autoptr (LamBloch) b = lam_bloch_new (t, &m.p, set, &error);
  g_assert_no_error (error);
  int64_t n = 77 * lam_bloch_samples (b);
  g_autofree float *re = g_new (float, n), *im = g_new (float, n);
  lam_devices_reset_counters (set);
  g_assert_true (lam_bloch_run (b, re, im, NULL, &error));
  for (int d = 0; d < 3; d++)
    g_assert_cmpint (lam_plan_measured (lam_bloch_plan (b), d), ==, lam_plan_peak (lam_bloch_plan (b), d));
  int copies;
  int64_t planned = 0, copied = 0;
  const LamPlanCopy *c = lam_plan_copies (lam_bloch_plan (b), &copies);
  for (int i = 0; i < copies; i++)
    planned += c[i].bytes;
  for (int d = 0; d < 3; d++)
    copied += lam_devices_get (set, d)->copied_in + lam_devices_get (set, d)->copied_out;
  g_assert_cmpint (copied, ==, planned);
  g_assert_cmpint (lam_devices_copied (set), ==, 0); /* nothing between devices */

  /* Every allocation that fails is an error and nothing else. */
  for (int i = 1;; i++) {
    float *x, *y;
    int64_t samples;
    lam_memory_fail_at (i);
    gboolean ok = lam_bloch_simulate (m.s, &m.p, set, NULL, &x, &y, &samples, &error);
    lam_memory_fail_at (0);
    if (ok) {
      g_assert_cmpint (i, >, 10);
      lam_free (x);
      lam_free (y);
      break;
    }
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_clear_error (&error);
  }
  lam_pulseq_unref (m.s);
}

static void
cancel_now (const char *what, double done, double total, void *data)
{
  LamControl *c = data;
  if (done >= 2)
    atomic_store (&c->cancel, 1);
}

static void
test_cancel (void)
{
  BlochMixed m;
  g_autoptr (GError) error = NULL;
  bloch_mixed_init (&m);
  m.p.chunk = 6;
  g_autoptr (LamDevices) set = lam_devices_new ("2xcpu", &error);
  LamControl c = {.progress = cancel_now};
  float *re, *im;
  int64_t samples;
  c.data = &c;
  g_assert_false (lam_bloch_simulate (m.s, &m.p, set, &c, &re, &im, &samples, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_assert_null (re);
  lam_pulseq_unref (m.s);
}

/* P10: a readout and nothing else hears nothing. */
static void
test_nothing (void)
{
  g_autoptr (LamPulseq) s = bloch_parse (BLOCH_HEAD "[BLOCKS]\n1 1000 0 0 0 0 1 0\n[ADC]\n1 100 100000 0 0 0 0 0 0\n");
  g_autoptr (LamPulseq) empty = bloch_parse (BLOCH_HEAD "[BLOCKS]\n");
  LamBlochParams p = bloch_params (1);
  Signal out = simulate (s, &p, "cpu");
  g_assert_cmpint (out.samples, ==, 100);
  for (int k = 0; k < 100; k++)
    g_assert_cmpfloat (hypot (out.re[k], out.im[k]), ==, 0);
  signal_clear (&out);
  out = simulate (empty, &p, "2xcpu");
  g_assert_cmpint (out.samples, ==, 0);
  signal_clear (&out);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *path;
    GTestFunc test;
  } tests[] = {
      {"/bloch/fid", test_fid},
      {"/bloch/flips", test_flips},
      {"/bloch/tilted", test_tilted},
      {"/bloch/spin-echo", test_spin_echo},
      {"/bloch/bundles", test_bundles},
      {"/bloch/maps", test_maps},
      {"/bloch/steady-state", test_steady_state},
      {"/bloch/one-answer", test_one_answer},
      {"/bloch/instruction-sets", test_instruction_sets},
      {"/bloch/functions", test_functions},
      {"/bloch/refused", test_refused},
      {"/bloch/plan", test_plan},
      {"/bloch/cancel", test_cancel},
      {"/bloch/nothing", test_nothing},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].test);
  return g_test_run ();
}
