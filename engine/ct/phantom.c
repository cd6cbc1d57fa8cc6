#include "ct/phantom.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "ct/phantom-tooth.h"

static const char *const names[LAM_PHANTOM_COUNT] = {"shepp-logan", "shepp-logan-reference", "cube", "discs", "tooth"};

const char *
lam_phantom_name (LamPhantomKind kind)
{
  return (unsigned) kind < LAM_PHANTOM_COUNT ? names[kind] : NULL;
}

gboolean
lam_phantom_from_name (const char *name, LamPhantomKind *kind, GError **error)
{
  for (int i = 0; i < LAM_PHANTOM_COUNT; i++)
    if (g_strcmp0 (name, names[i]) == 0) {
      *kind = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "phantom \"%s\": unknown; use shepp-logan, shepp-logan-reference, cube, discs or tooth",
               name ? name : "");
  return FALSE;
}

/* --- Ellipsoids --- */

typedef struct {
  double x, y, z, a, b, c, degrees, value;
} Ellipsoid;

/* x over rows, y over columns (spec section 11). */
static const Ellipsoid shepp_logan[] = {
    {0, 0, 0, .69, .92, .9, 0, 1},         {0, .0184, 0, .6624, .874, .88, 0, -.8},
    {.22, 0, 0, .41, .16, .21, 108, -.2},  {-.22, 0, 0, .31, .11, .22, 72, -.2},
    {0, .35, 0, .21, .25, .5, 0, .1},      {0, .1, 0, .046, .046, .046, 0, .1},
    {0, -.1, 0, .046, .046, .046, 0, .1},  {-.08, -.605, 0, .046, .023, .02, 0, .1},
    {0, -.605, 0, .023, .023, .02, 0, .1},
};

/* x over columns, y over rows, upwards. */
static const Ellipsoid reference[] = {
    {0, 0, 0, .69, .92, .9, 0, 2},
    {0, 0, 0, .6624, .874, .88, 0, -.98},
    {-.22, 0, -.25, .41, .16, .21, 108, -.02},
    {.22, 0, -.25, .31, .11, .22, 72, -.02},
    {0, .35, -.25, .21, .25, .5, 0, .02},
    {0, .1, -.25, .046, .046, .046, 0, .02},
    {-.08, -.65, -.25, .046, .023, .02, 0, .01},
    {.06, -.65, -.25, .046, .023, .02, 90, .01},
    {.06, -.105, .625, .056, .04, .1, 90, .02},
    {0, .1, .625, .056, .056, .1, 0, -.02},
};

/* Sample @i of @n between @from and @to; the middle for a single one. */
static inline double
position (int64_t i, int64_t n, double from, double to)
{
  if (n == 1)
    return 0.5 * (from + to);
  return i == n - 1 ? to : from + (double) i * ((to - from) / (double) (n - 1));
}

typedef struct {
  int64_t rows, columns, slices;
  LamRange wanted;
  float *volume;
} Target;

static inline float *
cylinder (const Target *t, int64_t i, int64_t j)
{
  return t->volume + (i * t->columns + j) * lam_range_size (t->wanted);
}

#define MAX_ELLIPSOIDS 16

static void
fill_ellipsoids (const Target *t, const Ellipsoid *list, int n, gboolean x_over_rows)
{
  double cosines[MAX_ELLIPSOIDS], sines[MAX_ELLIPSOIDS], plane[MAX_ELLIPSOIDS];
  g_assert (n <= MAX_ELLIPSOIDS);
  for (int e = 0; e < n; e++) {
    cosines[e] = cos (list[e].degrees * (G_PI / 180));
    sines[e] = sin (list[e].degrees * (G_PI / 180));
  }
  for (int64_t i = 0; i < t->rows; i++)
    for (int64_t j = 0; j < t->columns; j++) {
      double x = x_over_rows ? position (i, t->rows, -1, 1) : position (j, t->columns, -1, 1);
      double y = x_over_rows ? position (j, t->columns, -1, 1) : position (i, t->rows, 1, -1);
      float *out = cylinder (t, i, j);
      for (int e = 0; e < n; e++) {
        double dx = x - list[e].x, dy = y - list[e].y;
        double u = (cosines[e] * dx + sines[e] * dy) / list[e].a, v = (-sines[e] * dx + cosines[e] * dy) / list[e].b;
        plane[e] = u * u + v * v;
      }
      for (int64_t k = t->wanted.begin; k < t->wanted.end; k++) {
        double z = position (k, t->slices, -1, 1), sum = 0;
        for (int e = 0; e < n; e++) {
          double w = (z - list[e].z) / list[e].c;
          if (plane[e] + w * w <= 1)
            sum += list[e].value;
        }
        *out++ = (float) sum;
      }
    }
}

/* --- Cube --- */

static void
fill_cube (const Target *t)
{
  int64_t high = LAM_MAX (t->rows / 4, 1), wide = LAM_MAX (t->columns / 4, 1);
  float value = (float) (1.0 / (double) LAM_MAX (high, wide));
  memset (t->volume, 0, (size_t) (t->rows * t->columns * lam_range_size (t->wanted)) * sizeof (float));
  for (int64_t k = t->wanted.begin; k < t->wanted.end; k++) {
    int64_t left = (t->columns - wide) / 2 + k * wide / t->slices;
    for (int64_t i = (t->rows - high) / 2; i < (t->rows + high) / 2; i++)
      for (int64_t j = left; j < LAM_MIN ((t->columns + wide) / 2 + k * wide / t->slices, t->columns); j++)
        cylinder (t, i, j)[k - t->wanted.begin] = value;
  }
}

/* --- Discs --- */

/* A body of 1 with twelve inserts of growing contrast and size on the outer ring, pairs of pins further in, and a void
 * off the centre, which also tells left from right. */
static void
fill_discs (const Target *t)
{
  for (int64_t i = 0; i < t->rows; i++)
    for (int64_t j = 0; j < t->columns; j++) {
      double x = position (j, t->columns, -1, 1), y = position (i, t->rows, -1, 1);
      double value = x * x + y * y <= .9 * .9 ? 1 : 0;
      for (int d = 0; d < 12; d++) {
        double angle = d * G_PI / 6, radius = .03 + .007 * d;
        if (hypot (x - .66 * cos (angle), y - .66 * sin (angle)) <= radius)
          value += (d % 2 ? -1 : 1) * .05 * (d + 1);
        double pin = .008 + .002 * d;
        if (hypot (x - (.4 + 2 * pin) * cos (angle), y - (.4 + 2 * pin) * sin (angle)) <= pin
            || hypot (x - (.4 - 2 * pin) * cos (angle), y - (.4 - 2 * pin) * sin (angle)) <= pin)
          value += 1;
      }
      if (hypot (x - .08, y + .05) <= .15)
        value = 0;
      float *out = cylinder (t, i, j);
      for (int64_t k = t->wanted.begin; k < t->wanted.end; k++)
        *out++ = (float) value;
    }
}

static void
fill_tooth (const Target *t)
{
  double edge = 1.0 / (double) LAM_MAX (LAM_MAX (t->rows, t->columns), 2);
  for (int64_t i = 0; i < t->rows; i++)
    for (int64_t j = 0; j < t->columns; j++) {
      double x = position (j, t->columns, -1, 1), y = position (i, t->rows, -1, 1);
      float *out = cylinder (t, i, j);
      for (int64_t k = t->wanted.begin; k < t->wanted.end; k++)
        *out++ = (float) lam_phantom_tooth (x, y, t->slices == 1 ? -.3 : position (k, t->slices, -1, 1), edge);
    }
}

gboolean
lam_phantom_fill (LamPhantomKind kind, int64_t rows, int64_t columns, int64_t slices, LamRange wanted, float *volume,
                  GError **error)
{
  g_return_val_if_fail (volume != NULL, FALSE);
  if (rows < 1 || columns < 1 || slices < 1 || lam_mul_size (lam_mul_size (rows, columns), slices) < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "phantom of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " voxels (rows, columns, slices): every size must be at least 1 and the product must fit",
                 rows, columns, slices);
    return FALSE;
  }
  if (wanted.begin < 0 || wanted.end > slices || wanted.begin > wanted.end) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "phantom slices %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT ": outside 0:%" G_GINT64_FORMAT, wanted.begin,
                 wanted.end, slices);
    return FALSE;
  }
  Target t = {rows, columns, slices, wanted, volume};
  switch (kind) {
  case LAM_PHANTOM_SHEPP_LOGAN:
    fill_ellipsoids (&t, shepp_logan, G_N_ELEMENTS (shepp_logan), TRUE);
    return TRUE;
  case LAM_PHANTOM_SHEPP_LOGAN_REFERENCE:
    fill_ellipsoids (&t, reference, G_N_ELEMENTS (reference), FALSE);
    return TRUE;
  case LAM_PHANTOM_CUBE:
    fill_cube (&t);
    return TRUE;
  case LAM_PHANTOM_DISCS:
    fill_discs (&t);
    return TRUE;
  case LAM_PHANTOM_TOOTH:
    fill_tooth (&t);
    return TRUE;
  case LAM_PHANTOM_COUNT:
    break;
  }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "phantom kind %d: unknown", (int) kind);
  return FALSE;
}

double
lam_phantom_scale (LamPhantomKind kind, int64_t rows, int64_t columns, int64_t slices, double attenuation)
{
  double r = (double) rows, c = (double) columns, k = (double) slices;
  switch (kind) {
  case LAM_PHANTOM_SHEPP_LOGAN:
    return attenuation / (0.28 * fmax (fmax (.69 * r, .92 * c), .9 * k));
  case LAM_PHANTOM_SHEPP_LOGAN_REFERENCE:
    return attenuation / (1.06 * fmax (fmax (.92 * r, .69 * c), .9 * k));
  case LAM_PHANTOM_CUBE:
    return attenuation;
  case LAM_PHANTOM_DISCS:
    return attenuation / (.95 * fmax (r, c));
  case LAM_PHANTOM_TOOTH:
  case LAM_PHANTOM_COUNT:
    break;
  }
  return attenuation / (.67 * fmax (r, c));
}

/* --- Noise --- */

void
lam_noise_transmission (float *sinogram, int64_t first, int64_t n, double photons, double electronic, uint64_t seed)
{
  for (int64_t i = 0; i < n; i++) {
    LamRandom random;
    lam_random_init (&random, seed, (uint64_t) (first + i));
    double counts = (double) lam_random_poisson (&random, photons * exp (-sinogram[i]));
    if (electronic > 0)
      counts += electronic * lam_random_normal (&random);
    sinogram[i] = (float) -log (fmax (counts, 0.5) / photons);
  }
}

void
lam_noise_gaussian (float *samples, int64_t first, int64_t n, double sigma, uint64_t seed)
{
  for (int64_t i = 0; i < n; i++) {
    LamRandom random;
    lam_random_init (&random, seed, (uint64_t) (first + i));
    samples[i] += (float) (sigma * lam_random_normal (&random));
  }
}
