/* Stripe removal: rings go, the object stays; golden numbers; rows, threads, faults. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/threadpool.h"
#include "ct/stripes.h"
#include "golden-tools.h"

enum { V = 120, R = 3, C = 320, N = V * R * C };

/* A wide object, soft blobs in it that turn, and noise. */
static float *
object (void)
{
  float *y = g_new (float, N);
  LamRandom random;
  lam_random_init (&random, 5, 0);
  for (int v = 0; v < V; v++)
    for (int m = 0; m < R; m++)
      for (int n = 0; n < C; n++) {
        double a = G_PI * v / V, x = (n - (C - 1) / 2.) / (0.6 * C);
        double sum = 2 * sqrt (1 - x * x) + 0.02 * lam_random_normal (&random);
        for (int d = 0; d < 6; d++) {
          double u = (n - (C - 1) / 2. - 30 * d * cos (a + m + 2.4 * d)) / (30 - 2 * d);
          sum += 0.3 * exp (-0.5 * u * u);
        }
        y[(v * R + m) * C + n] = (float) sum;
      }
  return y;
}

/* What stripes are of each kind: a channel that reads high by a factor, one that is stuck, one that reads a little
 * more in proportion. */
static void
add_stripes (float *y)
{
  for (int v = 0; v < V; v++)
    for (int m = 0; m < R; m++) {
      float *line = y + (v * R + m) * C;
      line[30] += 0.15f;
      line[31] += 0.15f;
      line[80] = 0.4f + 0.3f * sinf (7.3f * (float) (v * v));
      line[101] *= 1.06f;
    }
}

static double
rms (const float *a, const float *b)
{
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
  return sqrt (sum / N);
}

/* How rough the mean over the views is across channels: what rings are made of. */
static double
roughness (const float *y)
{
  double sum = 0;
  for (int m = 0; m < R; m++) {
    double mean[C] = {0};
    for (int v = 0; v < V; v++)
      for (int n = 0; n < C; n++)
        mean[n] += y[(v * R + m) * C + n] / (double) V;
    for (int n = 1; n < C - 1; n++)
      sum += pow (mean[n - 1] - 2 * mean[n] + mean[n + 1], 2);
  }
  return sqrt (sum / (R * (C - 2)));
}

static LamStripeOptions
options_of (LamStripeKind kind)
{
  LamStripeOptions o;
  lam_stripe_options_init (&o);
  o.kind = kind;
  o.large = 21; /* the detector is narrow */
  o.small = 9;
  return o;
}

static void
test_removed (void)
{
  g_autofree float *clean = object (), *striped = object ();
  add_stripes (striped);
  double before = rms (striped, clean);
  for (int kind = LAM_STRIPES_SORTING; kind < LAM_STRIPES_COUNT; kind++) {
    LamStripeOptions o = options_of (kind);
    LamStripeReport report;
    g_autofree float *y = g_memdup2 (striped, sizeof (float) * N), *z = g_memdup2 (clean, sizeof (float) * N);
    g_assert_true (lam_remove_stripes (y, V, R, C, &o, &report, NULL, NULL));
    g_assert_cmpfloat_with_epsilon (report.change, rms (y, striped), 1e-9);
    g_test_message ("%s: error %.4f becomes %.4f, roughness %.4f becomes %.4f; %d dead and %d large channels",
                    lam_stripe_kind_name (kind), before, rms (y, clean), roughness (striped), roughness (y),
                    (int) report.dead, (int) report.large);
    g_assert_cmpfloat (roughness (y), <, (kind == LAM_STRIPES_SORTING ? 0.05 : 0.2) * roughness (striped));
    /* The wavelets take what turns about the axis without a change, too. */
    g_assert_cmpfloat (rms (y, clean), <, kind == LAM_STRIPES_SORTING ? 0.2 * before : 0.2);
    if (kind == LAM_STRIPES_SORTING) {
      g_assert_cmpint (report.dead, >=, R);
      g_assert_cmpint (report.large, >=, 2 * R);
      for (int v = 0; v < V; v++) /* the stuck channel is its neighbours' */
        g_assert_cmpfloat (fabsf (y[v * R * C + 80] - clean[v * R * C + 80]), <, 0.1f); /* the noise is 0.02 */
    }
    /* Where there are none, little is changed: less than the noise by the first. */
    g_assert_true (lam_remove_stripes (z, V, R, C, &o, &report, NULL, NULL));
    g_test_message ("%s: without stripes the change is %.4f", lam_stripe_kind_name (kind), rms (z, clean));
    g_assert_cmpfloat (rms (z, clean), <, kind == LAM_STRIPES_SORTING ? 0.02 : 0.2);
  }
  LamStripeOptions none = options_of (LAM_STRIPES_NONE);
  g_autofree float *y = g_memdup2 (striped, sizeof (float) * N);
  g_assert_true (lam_remove_stripes (y, V, R, C, &none, NULL, NULL, NULL));
  g_assert_true (memcmp (y, striped, sizeof (float) * N) == 0);
}

/* A row alone gives the bits that it has among others, if told the levels. */
static void
test_rows (void)
{
  g_autofree float *striped = object ();
  add_stripes (striped);
  for (int kind = LAM_STRIPES_SORTING; kind < LAM_STRIPES_COUNT; kind++) {
    LamStripeOptions o = options_of (kind);
    g_autofree float *all = g_memdup2 (striped, sizeof (float) * N), *one = g_new (float, V *C);
    g_assert_true (lam_remove_stripes (all, V, R, C, &o, NULL, NULL, NULL));
    o.levels = lam_stripe_levels (V, R, C);
    for (int m = 0; m < R; m++) {
      for (int v = 0; v < V; v++)
        memcpy (one + v * C, striped + (v * R + m) * C, sizeof (float) * C);
      g_assert_true (lam_remove_stripes (one, V, 1, C, &o, NULL, NULL, NULL));
      for (int v = 0; v < V; v++)
        g_assert_true (memcmp (one + v * C, all + (v * R + m) * C, sizeof (float) * C) == 0);
    }
  }
  g_assert_cmpint (lam_stripe_levels (24, 9, 37), ==, 6);
  g_assert_cmpint (lam_stripe_levels (64, 9, 37), ==, 6);
  g_assert_cmpint (lam_stripe_levels (24, 65, 37), ==, 7);
}

static void
test_refused (void)
{
  static const struct {
    LamStripeOptions o;
    int views, channels;
    const char *says;
  } cases[] = {
      {{LAM_STRIPES_SORTING, 0, 61, 21, 2, 0}, V, C, "signal to noise ratio 0"},
      {{LAM_STRIPES_SORTING, NAN, 61, 21, 2, 0}, V, C, "signal to noise ratio nan"},
      {{LAM_STRIPES_SORTING, 3, 0, 21, 2, 0}, V, C, "window 0"},
      {{LAM_STRIPES_SORTING, 3, 61, -5, 2, 0}, V, C, "window -5"},
      {{LAM_STRIPES_WAVELET, 3, 61, 21, 0, 0}, V, C, "sigma 0"},
      {{LAM_STRIPES_WAVELET, 3, 61, 21, 2, 49}, V, C, "levels 49"},
      {{LAM_STRIPES_WAVELET, 3, 61, 21, 2, 0}, 3, C, "3 views"},
      {{LAM_STRIPES_SORTING, 3, 61, 21, 2, 0}, V, 7, "7 channels"},
  };
  g_autofree float *y = object (), *z = object ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (lam_remove_stripes (y, cases[i].views, 1, cases[i].channels, &cases[i].o, NULL, NULL, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
    if (!strstr (error->message, cases[i].says))
      g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].says);
  }
  LamStripeKind kind;
  g_assert_false (lam_stripe_kind_from_name ("rings", &kind, NULL));
  for (int k = 0; k < LAM_STRIPES_COUNT; k++) {
    g_assert_true (lam_stripe_kind_from_name (lam_stripe_kind_name (k), &kind, NULL));
    g_assert_cmpint (kind, ==, k);
  }
  g_assert_true (memcmp (y, z, sizeof (float) * N) == 0);
}

/* The smallest that is taken, windows wider than the detector, and numbers that are none: finite comes out. */
static void
test_odd (void)
{
  for (int kind = LAM_STRIPES_SORTING; kind < LAM_STRIPES_COUNT; kind++)
    for (int c = 8; c < 12; c++)
      for (int v = 4; v < 7; v++)
        for (int odd = 0; odd < 3; odd++) {
          LamStripeOptions o = options_of (kind);
          g_autofree float *y = g_new0 (float, v *c);
          for (int i = 0; i < v * c && odd > 0; i++)
            y[i] = (float) (i * 37 % 11);
          if (odd == 2)
            y[7] = y[c] = NAN;
          g_assert_true (lam_remove_stripes (y, v, 1, c, &o, NULL, NULL, NULL));
          for (int i = 0; i < v * c; i++)
            g_assert_true (isfinite (y[i]));
        }
}

static void
progress (const char *what, double done, double total, void *data)
{
  g_assert_cmpstr (what, ==, "removing stripes");
  (*(int *) data)++;
}

static void
test_control (void)
{
  int told = 0;
  LamControl control = {.progress = progress, .data = &told};
  LamStripeOptions o = options_of (LAM_STRIPES_SORTING);
  g_autofree float *y = object ();
  g_autoptr (GError) error = NULL;
  g_assert_true (lam_remove_stripes (y, V, R, C, &o, NULL, &control, NULL));
  g_assert_cmpint (told, >=, 1);
  control.cancel = 1;
  g_assert_false (lam_remove_stripes (y, V, R, C, &o, NULL, &control, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
}

/* Each allocation failing in turn is an error, and what is held is what was said. */
static void
test_memory (void)
{
  int threads = lam_pool_threads (lam_pool_shared ());
  for (int kind = LAM_STRIPES_SORTING; kind < LAM_STRIPES_COUNT; kind++) {
    LamStripeOptions o = options_of (kind);
    g_autofree float *y = object ();
    int64_t before = lam_memory_bytes ();
    int failed = 0;
    for (int64_t n = 1;; n++) {
      g_autoptr (GError) error = NULL;
      lam_memory_fail_at (n);
      gboolean ok = lam_remove_stripes (y, V, R, C, &o, NULL, NULL, &error);
      lam_memory_fail_at (0);
      g_assert_cmpint (lam_memory_bytes (), ==, before);
      if (ok)
        break;
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      failed++;
    }
    g_assert_cmpint (failed, >=, 3);
    lam_memory_reset_peak ();
    g_assert_true (lam_remove_stripes (y, V, R, C, &o, NULL, NULL, NULL));
    int64_t said = lam_stripe_bytes (&o, V, R, C, threads), held = lam_memory_peak () - before;
    g_test_message ("%s: %d allocations; %d bytes said, %d held", lam_stripe_kind_name (kind), failed, (int) said,
                    (int) held);
    g_assert_cmpint (held, >=, said);
    g_assert_cmpint (held, <=, said + 16384);
  }
}

static void
check_golden (hid_t file, gpointer tally)
{
  golden_tools (file, tally);
}

static void
test_golden (void)
{
  g_autoptr (GoldenTally) tally = golden_tally_new ();
  if (!golden_each_file ("ct", check_golden, tally))
    return;
  golden_tally_print (tally);
  g_assert_cmpint (golden_tally_cases (tally, "tools/stripes"), >=, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stripes/removed", test_removed);
  g_test_add_func ("/stripes/rows", test_rows);
  g_test_add_func ("/stripes/refused", test_refused);
  g_test_add_func ("/stripes/odd", test_odd);
  g_test_add_func ("/stripes/control", test_control);
  g_test_add_func ("/stripes/memory", test_memory);
  g_test_add_func ("/stripes/golden", test_golden);
  return g_test_run ();
}
