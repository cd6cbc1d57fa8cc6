#include "mr/lineshape.h"

#include <math.h>

#include "mr/constants.h"

#define T2_BOUND 12e-6
#define TERMS 20000
#define STEP (33000.0 / 127)
#define KNOTS (127 * 32 + 1) /* 1.06 MHz */
#define CUTOFF 4             /* knot from which on the average itself counts */

/* The orientation average and its slope. */
static double
average (double df, double *slope)
{
  double sum = 0, dsum = 0;
  for (int j = 0; j < TERMS; j++) {
    double u = (double) j / (TERMS - 1), q = 3 * u * u - 1;
    if (fabs (q) <= 1e-12)
      continue;
    double x = 2 * LAM_PI * df * T2_BOUND / q;
    double g = sqrt (2 / LAM_PI) * T2_BOUND / fabs (q) * exp (-2 * x * x);
    sum += g;
    if (df != 0)
      dsum += g * -4 * x * x / df;
  }
  *slope = dsum / (TERMS - 1);
  return sum / (TERMS - 1);
}

typedef struct {
  double value, slope; /* slope by knot step */
} Knot;

static Knot knots[KNOTS];
static gsize made[KNOTS];
static double inside[4]; /* a + b x^2 + c (x-5)... of the spline, x in steps */

/* A spline through knots 4 … 7 and their mirror images, third derivative continuous: on |x| <= 4 it is a + b x^2. */
static void
make_inside (void)
{
  static gsize once;
  if (!g_once_init_enter (&once))
    return;
  double m[4][5] = {{1, 16, 0, 0, 0}, {1, 25, 1, 0, 0}, {1, 36, 8, 1, 0}, {1, 49, 27, 8, 0}}, ignored;
  for (int i = 0; i < 4; i++)
    m[i][4] = average ((CUTOFF + i) * STEP, &ignored);
  for (int i = 0; i < 4; i++)
    for (int r = 0; r < 4; r++) {
      double f = m[r][i] / m[i][i];
      for (int c = 0; r != i && c < 5; c++)
        m[r][c] -= f * m[i][c];
    }
  for (int i = 0; i < 4; i++)
    inside[i] = m[i][4] / m[i][i];
  g_once_init_leave (&once, 1);
}

static const Knot *
knot (int i)
{
  if (g_once_init_enter (&made[i])) {
    if (i < CUTOFF) {
      make_inside ();
      knots[i] = (Knot){inside[0] + inside[1] * i * i, 2 * inside[1] * i};
    } else {
      knots[i].value = average (i * STEP, &knots[i].slope);
      knots[i].slope *= STEP;
    }
    g_once_init_leave (&made[i], 1);
  }
  return &knots[i];
}

double
lam_lineshape (double offset_hz, double *slope)
{
  double u = fmin (fabs (offset_hz) / STEP, KNOTS - 1), sign = offset_hz < 0 ? -1 : 1;
  int i = (int) fmin (u, KNOTS - 2);
  double t = u - i;
  const Knot *a = knot (i), *b = knot (i + 1);
  double h00 = (1 + 2 * t) * (1 - t) * (1 - t), h10 = t * (1 - t) * (1 - t), h01 = t * t * (3 - 2 * t),
         h11 = t * t * (t - 1);
  if (slope) {
    double d =
        6 * t * (t - 1) * (a->value - b->value) + (3 * t * t - 4 * t + 1) * a->slope + (3 * t * t - 2 * t) * b->slope;
    *slope = u >= KNOTS - 1 ? 0 : sign * d / STEP;
  }
  return h00 * a->value + h10 * a->slope + h01 * b->value + h11 * b->slope;
}
