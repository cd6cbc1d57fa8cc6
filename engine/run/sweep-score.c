/* sweep-score.c: how sharp a slice is, and what a curve of it says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "run/sweep-private.h"

#define KEEP 0.96 /* of the ellipse's axes: its border is sharp by itself */
enum { TAPS = 4 };

/* Half of a Gaussian of one pixel. */
static const float blur[TAPS] = {0.39905028f, 0.24203622f, 0.05400558f, 0.00443305f};

static void
blur_lines (const float *in, int64_t n, int64_t stride, int64_t lines, int64_t line_stride, float *out)
{
  for (int64_t l = 0; l < lines; l++)
    for (int64_t i = 0; i < n; i++) {
      const float *x = in + l * line_stride;
      float sum = blur[0] * x[i * stride];
      for (int64_t t = 1; t < TAPS; t++)
        sum += blur[t] * (x[LAM_MAX (i - t, 0) * stride] + x[LAM_MIN (i + t, n - 1) * stride]);
      out[l * line_stride + i * stride] = sum;
    }
}

static inline gboolean
is_inside (int64_t row, int64_t column, int64_t height, int64_t width)
{
  double y = (2 * (double) row - (double) (height - 1)) / ((double) height * KEEP);
  double x = (2 * (double) column - (double) (width - 1)) / ((double) width * KEEP);
  return x * x + y * y < 1;
}

/* Parts are spread over the picture in tiles, so that each sees some of everything. */
static inline int
part_of (int64_t row, int64_t column, int64_t tile)
{
  return (int) ((row / tile * 3 + column / tile) % SWEEP_PARTS);
}

static void
find_range (SweepScore *score, const float *x, int64_t height, int64_t width)
{
  score->low = INFINITY;
  score->high = -INFINITY;
  for (int64_t i = 0; i < height; i++)
    for (int64_t j = 0; j < width; j++)
      if (is_inside (i, j, height, width) && isfinite (x[i * width + j])) {
        score->low = fminf (score->low, x[i * width + j]);
        score->high = fmaxf (score->high, x[i * width + j]);
      }
  score->has_range = TRUE;
}

static void
add_pixel (const SweepScore *score, double x, double sum[SWEEP_BINS])
{
  if (!score->entropy) {
    sum[0] += x * x;
    return;
  }
  /* Shared between two bins: the histogram moves smoothly with the values. */
  double span = (double) score->high - score->low, at = span > 0 ? (x - score->low) / span * (SWEEP_BINS - 1) : 0;
  at = LAM_CLAMP (at, 0, SWEEP_BINS - 1);
  int bin = LAM_MIN ((int) at, SWEEP_BINS - 2);
  sum[bin] += 1 - (at - bin);
  sum[bin + 1] += at - bin;
}

gboolean
sweep_score_add (SweepScore *score, const LamSnapshot *slice, double scale, SweepPoint *point, GError **error)
{
  const LamSnapshotInfo *info = lam_snapshot_info (slice);
  int64_t width = info->width, height = info->height, size = width * height;
  int64_t tile = LAM_CLAMP (LAM_MIN (width, height) / 32, 1, 16);
  float *x = lam_alloc_n (2 * size, sizeof *x, "sharpness of a slice", error), *y = x + size;
  if (!x)
    return FALSE;
  const float *pixels = lam_snapshot_pixels (slice);
  for (int64_t i = 0; i < size; i++)
    x[i] = isfinite (pixels[i]) ? (float) (pixels[i] * scale) : 0;
  blur_lines (x, width, 1, height, width, y);
  blur_lines (y, height, width, width, 1, x);
  if (!score->has_range)
    find_range (score, x, height, width);
  memset (point->count, 0, sizeof point->count);
  memset (point->sum, 0, sizeof point->sum);
  for (int64_t i = 0; i < height; i++)
    for (int64_t j = 0; j < width; j++)
      if (is_inside (i, j, height, width)) {
        int part = part_of (i, j, tile);
        point->count[part]++;
        add_pixel (score, x[i * width + j], point->sum[part]);
        if (score->relative) {
          int64_t down = i < height - 1 ? width : 0, right = j < width - 1;
          double dy = (double) x[i * width + j + down] - x[i * width + j],
                 dx = (double) x[i * width + j + right] - x[i * width + j];
          point->sum[part][1] += dx * dx + dy * dy;
        }
      }
  lam_free (x);
  return TRUE;
}

double
sweep_score (const SweepScore *score, const SweepPoint *p, int without)
{
  double count = 0, sum[SWEEP_BINS] = {0}, s = 0;
  for (int part = 0; part < SWEEP_PARTS; part++)
    if (part != without) {
      count += p->count[part];
      for (int b = 0; b < (score->entropy ? SWEEP_BINS : 2); b++)
        sum[b] += p->sum[part][b];
    }
  if (count == 0)
    return 0;
  if (!score->entropy)
    return !score->relative ? sum[0] / count : sum[0] > 0 ? sum[1] / sum[0] : 0;
  for (int b = 0; b < SWEEP_BINS; b++)
    s += sum[b] > 0 ? sum[b] / count * log (sum[b] / count) : 0;
  return s;
}

/* ---- the curve ---- */

static int
best_of (const SweepScore *score, const SweepPoint *points, int n, int without)
{
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < n; i++) {
    double s = sweep_score (score, &points[i], without);
    if (s > most) {
      most = s;
      best = i;
    }
  }
  return best;
}

/* Top of the parabola that fits the points within @reach of point @at best, in least squares. */
static double
top_near (const SweepScore *score, const SweepPoint *points, int n, int without, int at, double reach)
{
  double m[3][4] = {{0}}, middle = points[at].value, level = sweep_score (score, &points[at], without);
  for (int i = 0; i < n; i++) {
    double x = (points[i].value - middle) / reach;
    if (fabs (x) > 1 + 1e-9)
      continue;
    double row[4] = {1, x, x * x, sweep_score (score, &points[i], without) - level};
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 4; b++)
        m[a][b] += row[a] * row[b];
  }
  for (int a = 0; a < 3; a++) { /* symmetric and positive where there are three points */
    if (!(m[a][a] > 1e-12))
      return middle;
    for (int b = a + 1; b < 3; b++) {
      double f = m[b][a] / m[a][a];
      for (int k = a; k < 4; k++)
        m[b][k] -= f * m[a][k];
    }
  }
  double bend = m[2][3] / m[2][2], slope = (m[1][3] - m[1][2] * bend) / m[1][1];
  return bend < 0 ? middle + reach * LAM_CLAMP (-0.5 * slope / bend, -1, 1) : middle;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

/* The highest score that lies across a fall from the top. */
static double
second_top (const LamSweepResult *r, double typical)
{
  int n = r->params.count;
  double highest = typical, top = r->steps[r->sharpest].score, fall = top - 0.25 * (top - typical);
  for (int side = -1; side <= 1; side += 2) {
    double lowest = top;
    for (int i = r->sharpest; i >= 0 && i < n; i += side) {
      lowest = fmin (lowest, r->steps[i].score);
      if (lowest < fall)
        highest = fmax (highest, r->steps[i].score);
    }
  }
  return highest;
}

void
sweep_judge (const SweepScore *score, const SweepPoint *points, int n, double reach, double unit, LamSweepResult *r)
{
  int count = r->params.count;
  double sorted[99], sum = 0, squares = 0;
  for (int i = 0; i < count; i++)
    sorted[i] = r->steps[i].score;
  qsort (sorted, (size_t) count, sizeof *sorted, compare_doubles);
  r->sharpest = best_of (score, points, count, -1);
  double top = sorted[count - 1], typical = sorted[count / 2], step = (r->params.to - r->params.from) / (count - 1);
  int at = best_of (score, points, n, -1);
  r->method = score->entropy ? "entropy of the grey values" : score->relative ? "energy of the gradient" : "energy";
  if (!(top - sorted[0] > 1e-7 * fabs (top))) {
    r->best = 0.5 * (r->params.from + r->params.to);
    r->note = "the slice does not depend on it: is it empty?";
    return;
  }
  r->best = top_near (score, points, n, -1, at, reach);
  for (int part = 0; part < SWEEP_PARTS; part++) {
    double x = top_near (score, points, n, part, best_of (score, points, n, part), reach);
    sum += x;
    squares += x * x;
  }
  r->width = sqrt (fmax (0, squares - sum * sum / SWEEP_PARTS) * (SWEEP_PARTS - 1) / SWEEP_PARTS);
  double rival = (second_top (r, typical) - typical) / fmax (top - typical, 1e-300), w = r->width / unit;
  gboolean end = r->best < r->params.from + 0.5 * step || r->best > r->params.to - 0.5 * step;
  r->confidence = (1 - LAM_CLAMP (rival * rival, 0, 1)) / (1 + 4 * w * w);
  if (end) {
    r->confidence = fmin (r->confidence, 0.1);
    r->note = "the sharpest is at the end of the range: move the range";
  } else if (rival > 0.8)
    r->note = "a second value is almost as sharp";
  else if (w > 0.5)
    r->note = "parts of the picture disagree about the value";
}
