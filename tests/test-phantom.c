/* Phantoms, random numbers and noise. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "ct/phantom.h"
#include "golden-tools.h"

/* The vectors published with Philox4x32-10. */
static void
test_philox (void)
{
  static const struct {
    uint64_t key, stream, index;
    uint32_t out[4];
  } known[] = {
      {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {~UINT64_C (0), ~UINT64_C (0), ~UINT64_C (0), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++) {
    uint32_t out[4];
    lam_random_block (known[i].key, known[i].stream, known[i].index, out);
    for (int w = 0; w < 4; w++)
      g_assert_cmphex (out[w], ==, known[i].out[w]);
  }
}

static void
test_uniform (void)
{
  LamRandom random;
  int64_t counts[7] = {0};
  lam_random_init (&random, 1, 2);
  double sum = 0, squares = 0;
  const int n = 70000;
  for (int i = 0; i < n; i++)
    counts[lam_random_below (&random, 7)]++;
  for (int i = 0; i < 7; i++)
    g_assert_cmpfloat (fabs ((double) counts[i] - n / 7), <, 5 * sqrt (n / 7));
  for (int i = 0; i < n; i++) {
    double x = lam_random_double (&random);
    g_assert_true (x >= 0 && x < 1);
    sum += x;
  }
  g_assert_cmpfloat (fabs (sum / n - 0.5), <, 0.006);
  sum = 0;
  for (int i = 0; i < n; i++) {
    double x = lam_random_normal (&random);
    sum += x;
    squares += x * x;
  }
  g_assert_cmpfloat (fabs (sum / n), <, 0.02);
  g_assert_cmpfloat (fabs (squares / n - 1), <, 0.03);
  g_assert_cmpint (lam_random_below (&random, 1), ==, 0);
}

static void
test_poisson (void)
{
  static const double means[] = {0.5, 5, 29.9, 30.1, 1000, 1e6};
  for (gsize m = 0; m < G_N_ELEMENTS (means); m++) {
    double sum = 0, squares = 0;
    const int n = 20000;
    for (int i = 0; i < n; i++) {
      LamRandom random;
      lam_random_init (&random, 7, (uint64_t) i);
      double x = (double) lam_random_poisson (&random, means[m]) - means[m];
      sum += x;
      squares += x * x;
    }
    g_assert_cmpfloat (fabs (sum / n), <, 5 * sqrt (means[m] / n));
    g_assert_cmpfloat (fabs (squares / n / means[m] - 1), <, 0.06);
  }
  LamRandom random;
  lam_random_init (&random, 7, 0);
  g_assert_cmpint (lam_random_poisson (&random, 0), ==, 0);
  g_assert_cmpint (lam_random_poisson (&random, NAN), ==, 0);
}

static void
test_permutation (void)
{
  int32_t values[100], seen[100] = {0};
  LamRandom random;
  int moved = 0;
  for (int i = 0; i < 100; i++)
    values[i] = i;
  lam_random_init (&random, 3, 0);
  lam_random_permute (&random, values, 100);
  for (int i = 0; i < 100; i++) {
    seen[values[i]]++;
    moved += values[i] != i;
  }
  for (int i = 0; i < 100; i++)
    g_assert_cmpint (seen[i], ==, 1);
  g_assert_cmpint (moved, >, 80);
  lam_random_permute (&random, values, 1);
  lam_random_permute (&random, values, 0);
}

/* The same noise whatever the chunks it is made in. */
static void
test_noise_chunks (void)
{
  float whole[300], parts[300];
  for (int i = 0; i < 300; i++)
    whole[i] = parts[i] = (float) i / 60;
  lam_noise_transmission (whole, 0, 300, 1e4, 3, 11);
  lam_noise_transmission (parts + 170, 170, 130, 1e4, 3, 11);
  lam_noise_transmission (parts, 0, 170, 1e4, 3, 11);
  g_assert_true (memcmp (whole, parts, sizeof whole) == 0);
  double worst = 0, mean = 0;
  for (int i = 0; i < 300; i++) {
    double sigma = sqrt (1e4 * exp (-i / 60.) + 9) / (1e4 * exp (-i / 60.)), z = (whole[i] - i / 60.) / sigma;
    worst = fmax (worst, fabs (z));
    mean += z * z / 300;
  }
  g_assert_cmpfloat (worst, <, 5);
  g_assert_cmpfloat (mean, >, 0.75);
  g_assert_cmpfloat (mean, <, 1.3);
  lam_noise_gaussian (whole, 0, 300, 0.1, 12);
  lam_noise_gaussian (parts, 0, 100, 0.1, 12);
  lam_noise_gaussian (parts + 100, 100, 200, 0.1, 12);
  g_assert_true (memcmp (whole, parts, sizeof whole) == 0);
  float dark = 1000;
  lam_noise_transmission (&dark, 0, 1, 100, 0, 1);
  g_assert_cmpfloat_with_epsilon (dark, -logf (0.5f / 100), 1e-4);
}

static double
total (LamPhantomKind kind, int64_t rows, int64_t columns, int64_t slices)
{
  g_autofree float *volume = g_new (float, rows *columns *slices);
  g_assert_true (lam_phantom_fill (kind, rows, columns, slices, (LamRange){0, slices}, volume, NULL));
  double sum = 0;
  for (int64_t i = 0; i < rows * columns * slices; i++)
    sum += volume[i];
  return sum;
}

/* The sums of spec/ct.md section 11. */
static void
test_sums (void)
{
  g_assert_cmpfloat_with_epsilon (total (LAM_PHANTOM_SHEPP_LOGAN, 128, 128, 40), 53264.4, 0.1);
  g_assert_cmpfloat_with_epsilon (total (LAM_PHANTOM_SHEPP_LOGAN, 64, 64, 64), 21250.0, 0.1);
  g_assert_cmpfloat_with_epsilon (total (LAM_PHANTOM_SHEPP_LOGAN, 13, 13, 6), 64.2, 1e-3);
}

/* Any range of slices equals the same slices of the whole; one slice is not empty; every size is safe. */
static void
test_slices (void)
{
  for (int kind = 0; kind < LAM_PHANTOM_COUNT; kind++) {
    const int64_t r = 33, c = 28, k = 12;
    g_autofree float *whole = g_new (float, r *c *k), *part = g_new (float, r *c * 3);
    g_assert_true (lam_phantom_fill (kind, r, c, k, (LamRange){0, k}, whole, NULL));
    g_assert_true (lam_phantom_fill (kind, r, c, k, (LamRange){5, 8}, part, NULL));
    for (int64_t p = 0; p < r * c; p++)
      g_assert_true (memcmp (part + 3 * p, whole + k * p + 5, 3 * sizeof (float)) == 0);
    g_assert_cmpfloat (total (kind, 64, 64, 1), >, 0);
    static const int64_t sizes[][3] = {{1, 1, 1}, {2, 2, 2}, {1, 9, 5}, {9, 1, 5}, {3, 5, 1}, {4, 4, 40}};
    for (gsize s = 0; s < G_N_ELEMENTS (sizes); s++)
      g_assert_true (isfinite (total (kind, sizes[s][0], sizes[s][1], sizes[s][2])));
  }
}

/* The largest line integral of a scaled phantom is near what was asked for. */
static void
test_scale (void)
{
  for (int kind = 0; kind < LAM_PHANTOM_COUNT; kind++) {
    const int64_t n = 64;
    g_autofree float *volume = g_new (float, n *n *n);
    g_assert_true (lam_phantom_fill (kind, n, n, n, (LamRange){0, n}, volume, NULL));
    double most = 0;
    for (int64_t k = 0; k < n; k++)
      for (int64_t i = 0; i < n; i++) {
        double along_columns = 0, along_rows = 0;
        for (int64_t j = 0; j < n; j++) {
          along_columns += volume[(i * n + j) * n + k];
          along_rows += volume[(j * n + i) * n + k];
        }
        most = fmax (most, fmax (along_columns, along_rows));
      }
    most *= lam_phantom_scale (kind, n, n, n, 4);
    g_test_message ("%s: %.2f where 4 was asked for", lam_phantom_name (kind), most);
    g_assert_cmpfloat (most, >, 2.5);
    g_assert_cmpfloat (most, <, 5.5);
  }
}

/* The tooth has its four materials, and the crack is seen. */
static void
test_tooth (void)
{
  const int64_t n = 128;
  g_autofree float *slice = g_new (float, n *n);
  int air = 0, pulp = 0, dentine = 0, enamel = 0;
  g_assert_true (lam_phantom_fill (LAM_PHANTOM_TOOTH, n, n, n, (LamRange){55, 56}, slice, NULL));
  for (int64_t i = 0; i < n * n; i++) {
    air += slice[i] == 0;
    pulp += fabsf (slice[i] - 0.12f) < 0.01f;
    dentine += fabsf (slice[i] - 0.55f) < 0.04f;
    enamel += slice[i] > 0.95f;
  }
  g_assert_cmpint (air, >, n * n / 4);
  g_assert_cmpint (pulp, >, 300);
  g_assert_cmpint (dentine, >, 2000);
  g_assert_cmpint (enamel, >, 300);
}

static void
test_refused (void)
{
  float voxel;
  LamPhantomKind kind;
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_phantom_fill (LAM_PHANTOM_CUBE, 0, 3, 3, (LamRange){0, 1}, &voxel, &error));
  g_assert_nonnull (strstr (error->message, "0 x 3 x 3"));
  g_clear_error (&error);
  g_assert_false (lam_phantom_fill (LAM_PHANTOM_CUBE, 1, 1, 3, (LamRange){2, 4}, &voxel, &error));
  g_assert_nonnull (strstr (error->message, "2:4"));
  g_clear_error (&error);
  g_assert_false (lam_phantom_from_name ("potato", &kind, &error));
  g_assert_nonnull (strstr (error->message, "potato"));
  for (int k = 0; k < LAM_PHANTOM_COUNT; k++) {
    g_assert_true (lam_phantom_from_name (lam_phantom_name (k), &kind, NULL));
    g_assert_cmpint (kind, ==, k);
  }
}

static void
check_golden (hid_t file, gpointer tally)
{
  golden_phantom (file, tally);
}

static void
test_golden (void)
{
  g_autoptr (GoldenTally) tally = golden_tally_new ();
  if (golden_each_file ("ct", check_golden, tally))
    golden_tally_print (tally);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random/philox", test_philox);
  g_test_add_func ("/random/uniform", test_uniform);
  g_test_add_func ("/random/poisson", test_poisson);
  g_test_add_func ("/random/permutation", test_permutation);
  g_test_add_func ("/noise/chunks", test_noise_chunks);
  g_test_add_func ("/phantom/sums", test_sums);
  g_test_add_func ("/phantom/slices", test_slices);
  g_test_add_func ("/phantom/scale", test_scale);
  g_test_add_func ("/phantom/tooth", test_tooth);
  g_test_add_func ("/phantom/refused", test_refused);
  g_test_add_func ("/phantom/golden", test_golden);
  return g_test_run ();
}
