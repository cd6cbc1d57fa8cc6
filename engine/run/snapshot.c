#include "run/snapshot.h"

#include <math.h>

#include "core/memory.h"
#include "core/select.h"

struct _LamSnapshot {
  gatomicrefcount refs;
  LamSnapshotInfo info;
  float *pixels;
};

float
lam_absent (int why, gboolean bad)
{
  union {
    uint32_t bits;
    float value;
  } v = {.bits = 0x7fc00000u | (bad ? LAM_ABSENT_BAD : 0) | (uint32_t) why};
  return v.value;
}

static uint32_t
low_bits (float value)
{
  union {
    float value;
    uint32_t bits;
  } v = {.value = value};
  return isnan (value) ? v.bits & 0xffu : 0;
}

int
lam_absent_why (float value)
{
  return (int) (low_bits (value) & ~LAM_ABSENT_BAD);
}

gboolean
lam_is_quiet (float value)
{
  uint32_t bits = low_bits (value);
  return bits != 0 && (bits & LAM_ABSENT_BAD) == 0;
}

void
lam_snapshot_describe (LamSnapshotInfo *info, const LamGeometry *g)
{
  g_strlcpy (info->length_unit, g->length_unit, sizeof info->length_unit);
  if (info->plane == LAM_PLANE_VIEW || info->plane == LAM_PLANE_SINOGRAM) {
    gboolean view = info->plane == LAM_PLANE_VIEW;
    info->count = view ? g->views : g->rows;
    info->width = g->channels;
    info->height = view ? g->rows : g->views;
    info->pitch_x = g->channel_pitch;
    info->pitch_y = view ? g->row_pitch : g->channel_pitch;
    info->value_unit[0] = '\0'; /* -log transmission has none */
    return;
  }
  double dx = g->voxel_pitch, dy = dx * g->row_aspect, dz = dx * g->slice_aspect;
  gboolean slice = info->plane == LAM_PLANE_SLICE, row = info->plane == LAM_PLANE_ROW;
  info->count = slice ? g->recon_slices : row ? g->recon_rows : g->recon_columns;
  info->width = slice || row ? g->recon_columns : g->recon_rows;
  info->height = slice ? g->recon_rows : g->recon_slices;
  info->pitch_x = slice || row ? dx : dy;
  info->pitch_y = slice ? dy : dz;
  g_snprintf (info->value_unit, sizeof info->value_unit, "1/%s", g->length_unit);
}

LamSnapshot *
lam_snapshot_new_take (const LamSnapshotInfo *info, float *pixels)
{
  LamSnapshot *s = g_new0 (LamSnapshot, 1);
  g_atomic_ref_count_init (&s->refs);
  s->info = *info;
  s->pixels = pixels;
  /* In eight lanes, so that the compiler makes vectors of them: the next live slice waits for this. */
  enum { LANES = 8 };
  float low[LANES], high[LANES];
  int32_t bad[LANES] = {0};
  int64_t n = info->width * info->height, whole = n / LANES * LANES;
  for (int l = 0; l < LANES; l++) {
    low[l] = INFINITY;
    high[l] = -INFINITY;
  }
  s->info.bad = 0;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int l = 0; l < LANES; l++) {
      float v = pixels[i + l], size = fabsf (v);
      int finite = size < INFINITY;
      low[l] = finite && v < low[l] ? v : low[l];
      high[l] = finite && v > high[l] ? v : high[l];
      bad[l] += !finite;
    }
  for (int64_t i = whole; i < n; i++) {
    float v = pixels[i];
    low[0] = isfinite (v) && v < low[0] ? v : low[0];
    high[0] = isfinite (v) && v > high[0] ? v : high[0];
    bad[0] += !isfinite (v);
  }
  s->info.low = INFINITY;
  s->info.high = -INFINITY;
  for (int l = 0; l < LANES; l++) {
    s->info.low = low[l] < s->info.low ? low[l] : s->info.low;
    s->info.high = high[l] > s->info.high ? high[l] : s->info.high;
    s->info.bad += bad[l];
  }
  return s;
}

LamSnapshot *
lam_snapshot_ref (LamSnapshot *s)
{
  g_atomic_ref_count_inc (&s->refs);
  return s;
}

void
lam_snapshot_unref (LamSnapshot *s)
{
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  lam_free (s->pixels);
  g_free (s);
}

const LamSnapshotInfo *
lam_snapshot_info (const LamSnapshot *s)
{
  return &s->info;
}

const float *
lam_snapshot_pixels (const LamSnapshot *s)
{
  return s->pixels;
}

LamSnapshot *
lam_snapshot_shrink (LamSnapshot *s, int64_t size)
{
  LamSnapshotInfo info = *lam_snapshot_info (s);
  int64_t by = LAM_MAX (LAM_MAX (info.width, info.height) / size, 1), width = info.width;
  const float *from = lam_snapshot_pixels (s);
  info.width /= by;
  info.height /= by;
  int64_t n = info.width * info.height;
  float *to = by > 1 && n > 0 ? lam_alloc_n (n, sizeof *to, "small picture", NULL) : NULL;
  if (!to)
    return lam_snapshot_ref (s);
  float part = 1 / (float) (by * by);
  for (int64_t r = 0; r < info.height; r++) {
    float *out = to + r * info.width;
    for (int64_t i = 0; i < by; i++) {
      const float *in = from + (r * by + i) * width;
      for (int64_t c = 0; c < info.width; c++) {
        float sum = i > 0 ? out[c] : 0;
        for (int64_t j = 0; j < by; j++)
          sum += in[c * by + j];
        out[c] = sum;
      }
    }
    for (int64_t c = 0; c < info.width; c++)
      out[c] *= part;
  }
  return lam_snapshot_new_take (&info, to);
}

/* Between two of few pixels it lies in proportion. Reorders @x. */
static float
quantile (float *x, int64_t n, double part)
{
  double at = part * (double) (n - 1);
  int64_t k = (int64_t) at;
  float low = lam_select (x, n, k), high = lam_select (x, n, LAM_MIN (k + 1, n - 1));
  return low + (float) (at - (double) k) * (high - low);
}

gboolean
lam_snapshot_quantiles (const LamSnapshot *s, double lower, double upper, float *low, float *high)
{
  /* Of at most 65536 pixels, evenly spaced: enough for a level, and quick. */
  int64_t n = s->info.width * s->info.height, step = LAM_MAX (1, n / 65536), count = 0;
  g_autofree float *sample = g_new (float, n / step + 1);
  for (int64_t i = 0; i < n; i += step)
    if (isfinite (s->pixels[i]))
      sample[count++] = s->pixels[i];
  if (count == 0 && s->info.low > s->info.high)
    return FALSE;
  if (count == 0) {
    *low = s->info.low;
    *high = s->info.high;
  } else {
    *low = quantile (sample, count, lower);
    *high = quantile (sample, count, upper);
  }
  if (!(*high > *low)) {
    float width = fmaxf (fabsf (*low) * 0.05f, 1e-6f);
    *low -= width;
    *high += width;
  }
  return TRUE;
}

void
lam_snapshot_histogram (const LamSnapshot *s, float low, float high, int bins, int64_t *counts)
{
  for (int b = 0; b < bins; b++)
    counts[b] = 0;
  if (!(high > low))
    return;
  float scale = bins / (high - low);
  for (int64_t i = 0; i < s->info.width * s->info.height; i++) {
    float v = (s->pixels[i] - low) * scale;
    if (v >= 0 && v <= bins)
      counts[LAM_MIN ((int) v, bins - 1)]++;
  }
}
