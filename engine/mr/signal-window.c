#include "mr/signal-window.h"

#include <math.h>

double
lam_signal_part (LamSignalPart part, double re, double im)
{
  switch (part) {
  case LAM_PART_MAGNITUDE:
    return hypot (re, im);
  case LAM_PART_PHASE:
    return hypot (re, im) > 1e-9 ? atan2 (im, re) * 180 / G_PI : NAN;
  case LAM_PART_REAL:
    return re;
  default:
    return im;
  }
}

/* The first sample at or after @t. */
static int64_t
first_at (const int64_t *ps, int64_t n, int64_t t)
{
  int64_t low = -1, high = n;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (ps[middle] >= t)
      high = middle;
    else
      low = middle;
  }
  return high;
}

int64_t
lam_signal_window (const int64_t *ps, const float *re, const float *im, int64_t n, LamSignalPart part, int64_t t0,
                   int64_t t1, int64_t columns, double *x, double *y)
{
  int64_t out = 0, from = first_at (ps, n, t0), to = first_at (ps, n, t1 + 1);
  /* A gap as wide as some columns parts what lies on its sides. */
  int64_t width = LAM_MAX ((t1 - t0) / LAM_MAX (columns, 1), 1), gap = 4 * width;
#define PUT(time, value) (x[out] = (double) (time) *1e-12, y[out++] = (value))
  for (int64_t i = from, last = -1; i < to;) {
    if (last >= 0 && ps[i] - last > gap)
      PUT (last, NAN);
    /* One column, or one sample where they are wider apart. */
    int64_t end = ps[i] - (ps[i] - t0) % width + width, least = i, most = i, k = i;
    double low = lam_signal_part (part, re[i], im[i]), high = low;
    for (k = i + 1; k < to && ps[k] < end; k++) {
      double v = lam_signal_part (part, re[k], im[k]);
      if (v < low || isnan (low)) {
        low = v;
        least = k;
      }
      if (v > high || isnan (high)) {
        high = v;
        most = k;
      }
    }
    PUT (ps[LAM_MIN (least, most)], least <= most ? low : high);
    /* Also a sample that stands alone is a line: one of no length. */
    if (least != most || last < 0 || ps[i] - last > gap)
      PUT (ps[LAM_MAX (least, most)], least <= most ? high : low);
    last = ps[k - 1];
    i = k;
  }
#undef PUT
  return out;
}
