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

/* Whether the gap before sample @i is another than those within a readout, or within a train of single samples. */
static gboolean
stand_apart (const int64_t *ps, int64_t n, int64_t i)
{
  int64_t before = i >= 2 ? ps[i - 1] - ps[i - 2] : INT64_MAX, after = i + 1 < n ? ps[i + 1] - ps[i] : INT64_MAX;
  return (ps[i] - ps[i - 1]) / 3 >= LAM_MIN (before, after);
}

/* The extremes of [@from, @to) of one voxel, in the order in which they come. */
static void
extremes (const float *re, const float *im, int64_t from, int64_t to, LamSignalPart part, double *first, double *second)
{
  double low = NAN, high = NAN;
  int64_t least = from, most = from;
  for (int64_t i = from; i < to; i++) {
    double v = lam_signal_part (part, re[i], im[i]);
    if (v < low || (isnan (low) && !isnan (v))) {
      low = v;
      least = i;
    }
    if (v > high || (isnan (high) && !isnan (v))) {
      high = v;
      most = i;
    }
  }
  *first = least <= most ? low : high;
  *second = least <= most ? high : low;
}

int64_t
lam_signal_window (const int64_t *ps, const float *re, const float *im, int64_t voxels, int64_t n, LamSignalPart part,
                   int64_t t0, int64_t t1, int64_t columns, double *x, double *y)
{
  int64_t out = 0, room = lam_signal_window_room (columns), from = first_at (ps, n, t0), to = first_at (ps, n, t1 + 1);
  /* A gap as wide as some columns, and wider than those about it, parts what lies on its sides. */
  int64_t width = LAM_MAX ((t1 - t0) / LAM_MAX (columns, 1), 1), gap = 4 * width, last = -1;
  for (int64_t i = from, k; i < to; i = k) {
    gboolean apart = last >= 0 && ps[i] - last > gap && stand_apart (ps, n, i);
    int64_t end = ps[i] - (ps[i] - t0) % width + width; /* of the column */
    for (k = i + 1; k < to && ps[k] < end;)
      k++;
    /* A sample that stands alone is drawn as a line of no length. */
    int64_t points = apart + (k - i > 1 || apart || last < 0 ? 2 : 1);
    if (out + points > room)
      break;
    for (int64_t v = 0; v < voxels; v++) {
      double first, second, *to_y = y + v * room + out;
      extremes (re + v * n, im + v * n, i, k, part, &first, &second);
      if (apart)
        *to_y++ = NAN;
      *to_y++ = first;
      if (points - apart == 2)
        *to_y = second;
    }
    if (apart)
      x[out++] = (double) last * 1e-12;
    x[out++] = (double) ps[i] * 1e-12;
    if (points - apart == 2)
      x[out++] = (double) ps[k - 1] * 1e-12;
    last = ps[k - 1];
  }
  return out;
}
