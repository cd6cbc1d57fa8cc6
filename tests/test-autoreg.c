/* Automatic regularisation: weight 0 means absent, degenerate data, the golden cases. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "ct/autoreg.h"
#include "golden-tools.h"

/* Discs with noise on every view. */
static LamGeometry *
scan (int64_t views, float **sinogram)
{
  LamGeometry *g = lam_geometry_new (LAM_GEOMETRY_PARALLEL, views, 3, 41);
  LamRandom random;
  lam_geometry_set_angles (g, 0, G_PI);
  g_assert_true (lam_geometry_auto_volume (g, NULL));
  *sinogram = g_new (float, views * 3 * 41);
  for (int64_t i = 0; i < views * 3 * 41; i++) {
    lam_random_init (&random, 5, (uint64_t) i);
    double u = (double) (i % 41) - 20;
    (*sinogram)[i] = (float) (2 * sqrt (fmax (0, 100 - u * u)) / 10 + 0.02 * lam_random_normal (&random));
  }
  return g;
}

/* Case N1: a view of weight 0 changes nothing, whatever it holds. */
static void
test_weight_zero (void)
{
  static const float junk[] = {1e6f, -1e30f, NAN, INFINITY, 0};
  g_autofree float *y = NULL;
  g_autoptr (LamGeometry) g = scan (6, &y);
  const int64_t size = 3 * 41;
  LamRegularization five, six;

  g_autofree float *unused = NULL;
  g_autoptr (LamGeometry) less = scan (5, &unused);
  g_autofree float *without = g_new (float, 5 * size), *weights = g_new (float, 6 * size);
  memcpy (without, y, sizeof (float) * (size_t) (2 * size));
  memcpy (without + 2 * size, y + 3 * size, sizeof (float) * (size_t) (3 * size));
  g_assert_true (lam_auto_regularization (less, without, NULL, 30, 1, &five, NULL));
  for (int64_t i = 0; i < 6 * size; i++)
    weights[i] = i / size != 2;
  for (gsize k = 0; k < G_N_ELEMENTS (junk); k++) {
    for (int64_t i = 2 * size; i < 3 * size; i++)
      y[i] = junk[k];
    g_assert_true (lam_auto_regularization (g, y, weights, 30, 1, &six, NULL));
    g_assert_cmpfloat (six.sigma_y, ==, five.sigma_y);
    g_assert_cmpfloat (six.sigma_x, ==, five.sigma_x);
    g_assert_cmpint (six.support_count, ==, five.support_count);
    g_assert_cmpfloat (six.edge_fraction * 6, ==, five.edge_fraction * 5);
  }
}

/* Weights of 1 equal none, and the strengths follow their knobs. */
static void
test_knobs (void)
{
  g_autofree float *y = NULL;
  g_autoptr (LamGeometry) g = scan (45, &y);
  g_autofree float *ones = g_new (float, 45 * 3 * 41);
  for (int i = 0; i < 45 * 3 * 41; i++)
    ones[i] = 1;
  LamRegularization a, b;
  g_assert_true (lam_auto_regularization (g, y, NULL, 30, 1, &a, NULL));
  g_assert_true (lam_auto_regularization (g, y, ones, 30, 1, &b, NULL));
  g_assert_true (memcmp (&a, &b, sizeof a) == 0);
  g_assert_cmpint (a.views_sampled, ==, 23); /* step 45 / 20 = 2 */
  g_assert_false (a.whole_support);
  g_assert_null (lam_regularization_warnings (&a));
  g_assert_true (lam_auto_regularization (g, y, NULL, 50, 3, &b, NULL));
  g_assert_cmpfloat_with_epsilon (a.sigma_y / b.sigma_y, 10, 1e-5);
  g_assert_cmpfloat_with_epsilon (b.sigma_x / a.sigma_x, 4, 1e-5);
}

static void
test_edge_warning (void)
{
  g_autofree float *y = NULL;
  g_autoptr (LamGeometry) g = scan (40, &y);
  for (int64_t p = 0; p < 40 * 3; p += 20)
    y[p * 41] = 2; /* 5 % of the pairs */
  LamRegularization r;
  g_assert_true (lam_auto_regularization (g, y, NULL, 30, 1, &r, NULL));
  g_autofree char *text = lam_regularization_warnings (&r);
  g_assert_nonnull (text);
  g_assert_nonnull (strstr (text, "edge of the detector"));
  /* Up to 2 % of the pairs is no news: 1 of 60 that are looked at, but not 2. */
  for (int reached = 1; reached <= 2; reached++) {
    g_autofree float *z = NULL;
    g_autoptr (LamGeometry) h = scan (40, &z);
    for (int64_t p = 0; p < 6 * reached; p += 6)
      z[p * 41] = 2;
    g_assert_true (lam_auto_regularization (h, z, NULL, 30, 1, &r, NULL));
    g_assert_cmpfloat_with_epsilon (r.edge_fraction, reached / 60.0, 1e-9);
    g_autofree char *said = lam_regularization_warnings (&r);
    g_assert_cmpint (said != NULL, ==, reached == 2);
  }
}

static void
test_degenerate (void)
{
  g_autofree float *y = NULL;
  g_autoptr (LamGeometry) g = scan (6, &y);
  const int64_t n = 6 * 3 * 41;
  g_autofree float *w = g_new0 (float, n);
  LamRegularization r;
  g_autoptr (GError) error = NULL;
  g_assert_false (lam_auto_regularization (g, y, w, 30, 1, &r, &error));
  g_assert_nonnull (strstr (error->message, "weight 0"));
  g_clear_error (&error);

  g_assert_false (lam_auto_regularization (g, y, NULL, NAN, 1, &r, &error));
  g_assert_nonnull (strstr (error->message, "snr_db"));
  g_clear_error (&error);

  y[200] = NAN;
  g_assert_false (lam_auto_regularization (g, y, NULL, 30, 1, &r, &error));
  g_assert_nonnull (strstr (error->message, "view 1"));
  g_clear_error (&error);

  for (int64_t i = 0; i < n; i++)
    y[i] = 0;
  g_assert_false (lam_auto_regularization (g, y, NULL, 30, 1, &r, &error));
  g_assert_nonnull (strstr (error->message, "empty"));
  g_clear_error (&error);

  for (int64_t i = 0; i < n; i++)
    y[i] = 0.5; /* constant: the range widens, no division by 0 */
  g_assert_true (lam_auto_regularization (g, y, NULL, 30, 1, &r, &error));
  g_assert_true (isfinite (r.sigma_y) && r.sigma_y > 0);

  g->recon_slices = 99; /* an unusable geometry */
  g_assert_false (lam_auto_regularization (g, y, NULL, 30, 1, &r, &error));
  g_assert_nonnull (strstr (error->message, "recon_slices"));
}

static void
check_golden (hid_t file, gpointer tally)
{
  golden_auto_regularization (file, tally);
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
  g_test_add_func ("/autoreg/weight-zero", test_weight_zero);
  g_test_add_func ("/autoreg/knobs", test_knobs);
  g_test_add_func ("/autoreg/edge-warning", test_edge_warning);
  g_test_add_func ("/autoreg/degenerate", test_degenerate);
  g_test_add_func ("/autoreg/golden", test_golden);
  return g_test_run ();
}
