/* stripes-sorting.c: dead and fluctuating channels, large stripes, small stripes, in this order. */
#include <math.h>
#include <string.h>

#include "ct/stripes-private.h"

#define ALONG 10      /* views of the moving average */
#define DROP 0.05     /* of the sorted samples, at each end, left out of a channel's mean */
#define FIT_DROP 0.25 /* of the sorted list, at each end, left out of the straight line */
#define TINY 1e-6

/* Scratch of one row. Arrays by channel are [channel][view]: sorting is along the views. */
typedef struct {
  float *by_channel, *sorted, *smooth;
  uint64_t *keys, *other; /* [views] */
  double *a, *b, *c;      /* [channels] */
  float *line, *window;
  char *mask, *wide;
} Work;

int64_t
stripes_sorting_floats (const LamStripeOptions *o, int64_t views, int64_t channels)
{
  int64_t all = lam_mul_size (views, channels), longest = LAM_MAX (o->large, o->small);
  if (all < 0)
    return -1;
  return 3 * lam_round_up (all, LAM_LANES) + 2 * lam_round_up (2 * views, LAM_LANES)
         + 3 * lam_round_up (2 * channels, LAM_LANES) + lam_round_up (channels, LAM_LANES)
         + lam_round_up (longest, LAM_LANES) + 2 * lam_round_up (channels, LAM_LANES);
}

static void *
cut (float **scratch, int64_t floats)
{
  float *part = *scratch;
  *scratch += lam_round_up (floats, LAM_LANES);
  return part;
}

static Work
layout (float *scratch, int64_t views, int64_t channels, int64_t longest)
{
  Work w;
  w.by_channel = cut (&scratch, views * channels);
  w.sorted = cut (&scratch, views * channels);
  w.smooth = cut (&scratch, views * channels);
  w.keys = cut (&scratch, 2 * views);
  w.other = cut (&scratch, 2 * views);
  w.a = cut (&scratch, 2 * channels);
  w.b = cut (&scratch, 2 * channels);
  w.c = cut (&scratch, 2 * channels);
  w.line = cut (&scratch, channels);
  w.window = cut (&scratch, longest);
  w.mask = cut (&scratch, channels);
  w.wide = cut (&scratch, channels);
  return w;
}

/* ---- sorting: value and place in one number, by bytes; stable ---- */

static inline uint64_t
key_of (float x, int64_t place)
{
  uint32_t bits;
  memcpy (&bits, &x, sizeof bits);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (uint64_t) bits << 32 | (uint64_t) place;
}

static inline float
value_of (uint64_t key)
{
  uint32_t bits = (uint32_t) (key >> 32);
  bits = bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
  float x;
  memcpy (&x, &bits, sizeof x);
  return x;
}

/* The keys of @n samples in ascending order; they lie in w->keys. */
static void
sort_channel (const Work *w, const float *x, int64_t n)
{
  uint64_t *from = w->keys, *to = w->other;
  uint32_t count[4][256] = {{0}};
  for (int64_t i = 0; i < n; i++) {
    from[i] = key_of (x[i], i);
    for (int byte = 0; byte < 4; byte++)
      count[byte][from[i] >> (32 + 8 * byte) & 255]++;
  }
  for (int byte = 0; byte < 4; byte++) {
    uint32_t at = 0;
    for (int b = 0; b < 256; b++) {
      uint32_t here = count[byte][b];
      count[byte][b] = at;
      at += here;
    }
    for (int64_t i = 0; i < n; i++)
      to[count[byte][from[i] >> (32 + 8 * byte) & 255]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
}

/* ---- a median that slides along a line whose ends are mirrored ---- */

static int64_t
place_in (const float *window, int64_t n, float x)
{
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    int64_t mid = (lo + hi) / 2;
    if (window[mid] < x)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static inline float
at (const float *line, int64_t i, int64_t n)
{
  return line[i >= 0 && i < n ? i : stripes_mirror (i, n)];
}

/* @out [i * stride] = median of line [i - size / 2 … i + (size - 1) / 2]. */
static void
slide (const float *line, int64_t n, int64_t size, float *window, float *out, int64_t stride)
{
  int64_t before = size / 2, after = size - 1 - before, count = 0;
  for (int64_t i = -before; i <= after; i++) {
    float x = at (line, i, n);
    int64_t k = place_in (window, count, x);
    memmove (window + k + 1, window + k, sizeof *window * (size_t) (count - k));
    window[k] = x;
    count++;
  }
  for (int64_t i = 0; i < n; i++) {
    out[i * stride] = window[size / 2];
    if (i == n - 1)
      break;
    float old = at (line, i - before, n), new = at (line, i + 1 + after, n);
    int64_t from = LAM_MIN (place_in (window, size, old), size - 1), to = place_in (window, size, new);
    if (to > from) {
      memmove (window + from, window + from + 1, sizeof *window * (size_t) (to - 1 - from));
      window[to - 1] = new;
    } else {
      memmove (window + to + 1, window + to, sizeof *window * (size_t) (from - to));
      window[to] = new;
    }
  }
}

/* w->smooth = the median across channels of every rank of w->sorted. */
static void
smooth_ranks (const Work *w, int64_t views, int64_t channels, int64_t size)
{
  for (int64_t v = 0; v < views; v++) {
    for (int64_t n = 0; n < channels; n++)
      w->line[n] = w->sorted[n * views + v];
    slide (w->line, channels, size, w->window, w->smooth + v, views);
  }
}

/* ---- which entries of a list stand out ---- */

static void
sort_list (const double *list, int64_t n, double *down)
{
  memcpy (down, list, sizeof *down * (size_t) n);
  for (int64_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) /* Shell's: in place, and the lists are short */
    for (int64_t i = gap; i < n; i++) {
      double x = down[i];
      int64_t j = i;
      for (; j >= gap && down[j - gap] < x; j -= gap)
        down[j] = down[j - gap];
      down[j] = x;
    }
}

/* A straight line through the middle of the list sorted downwards; its fall from end to end is the noise. */
static void
detect (const double *list, int64_t n, double snr, double *down, char *mask)
{
  int64_t drop = (int64_t) (FIT_DROP * (double) n), last = n - drop - 1; /* one more is left out at the low end */
  double sx = 0, sy = 0, sxx = 0, sxy = 0, count = (double) (last - drop), middle = 0.5 * (double) (drop + last - 1);
  sort_list (list, n, down);
  for (int64_t i = drop; i < last; i++) {
    double x = (double) i - middle;
    sx += x;
    sy += down[i];
    sxx += x * x;
    sxy += x * down[i];
  }
  double slope = (count * sxy - sx * sy) / (count * sxx - sx * sx), mean = (sy - slope * sx) / count;
  double start = mean - slope * middle, end = mean + slope * ((double) (n - 1) - middle);
  double noise = fmax (fabs (end - start), TINY);
  gboolean high = fabs (down[0] - start) / noise >= snr, low = fabs (down[n - 1] - end) / noise >= snr;
  for (int64_t i = 0; i < n; i++)
    mask[i] = (high && list[i] > start + 0.5 * snr * noise) || (low && list[i] <= end - 0.5 * snr * noise);
}

/* Neighbours of what stands out belong to it. */
static void
widen (const char *mask, int64_t n, char *wide)
{
  for (int64_t i = 0; i < n; i++)
    wide[i] = mask[i] || (i > 0 && mask[i - 1]) || (i < n - 1 && mask[i + 1]);
}

/* ---- the three steps ---- */

/* What a channel departs from its own moving average, summed over the views. */
static double
restlessness (const float *x, int64_t views)
{
  double sum = 0, window = 0;
  for (int64_t i = -ALONG / 2; i < ALONG / 2; i++)
    window += at (x, i, views);
  for (int64_t v = 0; v < views; v++) {
    sum += fabs ((double) x[v] - (double) (float) (window / ALONG));
    window += (double) at (x, v + ALONG / 2, views) - (double) at (x, v - ALONG / 2, views);
  }
  return sum;
}

static int64_t
mend_dead (const Work *w, int64_t views, int64_t channels, const LamStripeOptions *o)
{
  int64_t count = 0, good = 0;
  for (int64_t n = 0; n < channels; n++) {
    w->a[n] = restlessness (w->by_channel + n * views, views);
    w->line[n] = (float) w->a[n];
  }
  slide (w->line, channels, o->large, w->window, w->sorted, 1);
  for (int64_t n = 0; n < channels; n++)
    w->a[n] = w->sorted[n] != 0 ? w->a[n] / w->sorted[n] : 1;
  detect (w->a, channels, o->snr, w->b, w->mask);
  widen (w->mask, channels, w->wide);
  w->wide[0] = w->wide[1] = w->wide[channels - 2] = w->wide[channels - 1] = 0;
  for (int64_t n = 0; n < channels; n++) {
    if (!w->wide[n]) {
      good = n;
      continue;
    }
    int64_t next = n;
    while (w->wide[next])
      next++;
    float t = (float) (n - good) / (float) (next - good);
    const float *left = w->by_channel + good * views, *right = w->by_channel + next * views;
    for (int64_t v = 0; v < views; v++)
      w->by_channel[n * views + v] = left[v] + t * (right[v] - left[v]);
    count++;
  }
  return count;
}

static double
trimmed_mean (const float *x, int64_t views)
{
  int64_t drop = (int64_t) (DROP * (double) views);
  double sum = 0;
  for (int64_t v = drop; v < views - drop; v++)
    sum += x[v];
  return sum / (double) (views - 2 * drop);
}

static int64_t
mend_large (const Work *w, int64_t views, int64_t channels, const LamStripeOptions *o)
{
  int64_t count = 0;
  for (int64_t n = 0; n < channels; n++) {
    sort_channel (w, w->by_channel + n * views, views);
    for (int64_t v = 0; v < views; v++)
      w->sorted[n * views + v] = value_of (w->keys[v]);
  }
  smooth_ranks (w, views, channels, o->large);
  for (int64_t n = 0; n < channels; n++) {
    double mean = trimmed_mean (w->sorted + n * views, views), wanted = trimmed_mean (w->smooth + n * views, views);
    w->a[n] = wanted != 0 ? mean / wanted : 1;
  }
  detect (w->a, channels, o->snr, w->b, w->mask);
  widen (w->mask, channels, w->wide);
  for (int64_t n = 0; n < channels; n++) {
    float *x = w->by_channel + n * views;
    if (w->a[n] != 0 && isfinite (w->a[n]))
      for (int64_t v = 0; v < views; v++)
        x[v] = (float) (x[v] / w->a[n]);
    if (!w->wide[n])
      continue;
    sort_channel (w, x, views);
    for (int64_t v = 0; v < views; v++)
      x[(uint32_t) w->keys[v]] = w->smooth[n * views + v];
    count++;
  }
  return count;
}

static void
mend_small (const Work *w, int64_t views, int64_t channels, const LamStripeOptions *o)
{
  uint32_t *place = (uint32_t *) w->by_channel; /* where the samples were, over them */
  for (int64_t n = 0; n < channels; n++) {
    sort_channel (w, w->by_channel + n * views, views);
    for (int64_t v = 0; v < views; v++) {
      w->sorted[n * views + v] = value_of (w->keys[v]);
      place[n * views + v] = (uint32_t) w->keys[v];
    }
  }
  smooth_ranks (w, views, channels, o->small);
  for (int64_t n = 0; n < channels; n++)
    for (int64_t v = 0; v < views; v++)
      w->sorted[n * views + place[n * views + v]] = w->smooth[n * views + v];
}

static void
transpose (const float *in, int64_t rows, int64_t columns, float *out)
{
  enum { TILE = 16 };
  for (int64_t i = 0; i < rows; i += TILE)
    for (int64_t j = 0; j < columns; j += TILE)
      for (int64_t a = i; a < LAM_MIN (i + TILE, rows); a++)
        for (int64_t b = j; b < LAM_MIN (j + TILE, columns); b++)
          out[b * rows + a] = in[a * columns + b];
}

void
stripes_sorting (float *sinogram, int64_t views, int64_t channels, const LamStripeOptions *o, float *scratch,
                 LamStripeReport *report)
{
  Work w = layout (scratch, views, channels, LAM_MAX (o->large, o->small));
  transpose (sinogram, views, channels, w.by_channel);
  report->dead += mend_dead (&w, views, channels, o);
  report->large += mend_large (&w, views, channels, o);
  mend_small (&w, views, channels, o);
  transpose (w.sorted, channels, views, sinogram);
}
