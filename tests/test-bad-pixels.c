/* Bad pixels: those that are put into frames are found, no others; lists by hand. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "ct/bad-pixels.h"

enum { R = 60, C = 80, N = R * C };

/* An uneven beam with noise of one part in a hundred, a dark with a slope. */
static void
frames (float *flat, float *dark, double noise)
{
  LamRandom random;
  lam_random_init (&random, 3, 0);
  for (int i = 0; i < N; i++) {
    double x = i % C / (double) C - 0.5, y = i / C / (double) R - 0.5;
    dark[i] = (float) (100 + 20 * x + 2 * noise * lam_random_normal (&random));
    flat[i] =
        (float) (dark[i] + 10000 * (1 - 0.2 * x * x - 0.4 * y * y) * (1 + 0.01 * noise * lam_random_normal (&random)));
  }
}

static gboolean
has (LamBadPixels *list, int row, int channel)
{
  int64_t n;
  const int32_t *p = lam_bad_pixels_data (list, &n);
  for (int64_t i = 0; i < n; i++)
    if (p[2 * i] == row && p[2 * i + 1] == channel)
      return TRUE;
  return FALSE;
}

static void
test_find (void)
{
  float flat[N], dark[N];
  for (int noise = 0; noise < 2; noise++) {
    LamBadPixelCounts counts;
    g_autoptr (GError) error = NULL;
    int64_t n;
    frames (flat, dark, noise);
    g_autoptr (GBytes) none = lam_bad_pixels_find (flat, dark, R, C, LAM_BAD_PIXEL_SIGMAS, NULL, &error);
    lam_bad_pixels_data (none, &n);
    g_assert_cmpint (n, ==, 0);
    for (int m = 10; m < 50; m++)
      flat[m * C + 33] = dark[m * C + 33]; /* a dead line */
    flat[0] = dark[0] + 8000 * 0.4f;       /* a weak corner */
    flat[20 * C + 20] = NAN;
    dark[30 * C + 60] += 400; /* hot: the flat moves with it */
    flat[30 * C + 60] += 400;
    flat[40 * C + 79] *= 1.5f; /* sensitive is not bad */
    g_autoptr (GBytes) list = lam_bad_pixels_find (flat, dark, R, C, LAM_BAD_PIXEL_SIGMAS, &counts, &error);
    g_assert_no_error (error);
    lam_bad_pixels_data (list, &n);
    g_assert_cmpint (n, ==, 43);
    g_assert_cmpint (counts.dead, ==, 42);
    g_assert_cmpint (counts.hot, ==, 1);
    g_assert_true (has (list, 0, 0) && has (list, 20, 20) && has (list, 30, 60) && has (list, 10, 33));
    g_assert_false (has (list, 9, 33) || has (list, 40, 79));
    g_autoptr (GBytes) blind = lam_bad_pixels_find (flat, NULL, R, C, LAM_BAD_PIXEL_SIGMAS, &counts, &error);
    g_assert_nonnull (blind);
    g_assert_cmpint (counts.hot, ==, 0);
  }
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_bad_pixels_find (dark, flat, R, C, LAM_BAD_PIXEL_SIGMAS, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (lam_bad_pixels_find (flat, dark, R, C, NAN, NULL, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_INVALID);
}

/* A list parsed from @text, or the error's message. */
static void
assert_refused (const char *text, const char *says)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lam_bad_pixels_parse (text, "bad.txt", &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_FORMAT);
  if (!strstr (error->message, says))
    g_error ("\"%s\" does not say \"%s\"", error->message, says);
}

static void
test_lists (void)
{
  g_autoptr (GError) error = NULL;
  int64_t n;
  g_autoptr (GBytes) list = lam_bad_pixels_parse ("# row channel\n5 7\n\n 2\t3 # dead\n5 7\r\n2,1\n", "x", &error);
  g_assert_no_error (error);
  const int32_t wanted[] = {2, 1, 2, 3, 5, 7}, *p = lam_bad_pixels_data (list, &n);
  g_assert_cmpint (n, ==, 3);
  g_assert_true (memcmp (p, wanted, sizeof wanted) == 0);
  g_autoptr (GBytes) more = lam_bad_pixels_parse ("9 9\n2 3", "x", &error);
  g_autoptr (GBytes) both = lam_bad_pixels_union (list, more, &error);
  lam_bad_pixels_data (both, &n);
  g_assert_cmpint (n, ==, 4);
  g_autoptr (GBytes) part = lam_bad_pixels_crop (both, (LamRange){2, 6}, (LamRange){2, 8}, &error);
  p = lam_bad_pixels_data (part, &n);
  g_assert_cmpint (n, ==, 2);
  g_assert_true (p[0] == 0 && p[1] == 1 && p[2] == 3 && p[3] == 5);
  g_assert_true (lam_bad_pixels_check (both, 10, 10, NULL));
  g_assert_false (lam_bad_pixels_check (both, 10, 9, &error));
  g_assert_nonnull (strstr (error->message, "row 9, channel 9"));
  g_autoptr (GBytes) empty = lam_bad_pixels_union (NULL, NULL, NULL);
  lam_bad_pixels_data (empty, &n);
  g_assert_cmpint (n, ==, 0);

  assert_refused ("1 2\nx y\n", "bad.txt, line 2: \"x y\"");
  assert_refused ("1\n", "line 1");
  assert_refused ("1 2\n3 -4", "line 2");
  assert_refused ("\n#\n1 2 3", "line 3: \"1 2 3\"");
  assert_refused ("1.5 2", "line 1");
  assert_refused ("99999999999 2", "line 1");
}

static void
test_memory (void)
{
  float flat[N], dark[N];
  frames (flat, dark, 1);
  for (int64_t k = 1; k <= 2; k++) {
    g_autoptr (GError) error = NULL;
    int64_t before = lam_memory_bytes ();
    lam_memory_fail_at (k);
    g_assert_null (lam_bad_pixels_find (flat, dark, R, C, 6, NULL, &error));
    lam_memory_fail_at (0);
    g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_assert_cmpint (lam_memory_bytes (), ==, before);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bad-pixels/find", test_find);
  g_test_add_func ("/bad-pixels/lists", test_lists);
  g_test_add_func ("/bad-pixels/memory", test_memory);
  return g_test_run ();
}
