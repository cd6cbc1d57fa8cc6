#include "ct/direct.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/fft.h"
#include "core/memory.h"

struct _LamFilter {
  int64_t channels;
  LamFft *fft;
  float *response; /* [bins]: spectrum of the taps / length */
};

void
lam_ramp_taps (int64_t channels, double *taps)
{
  for (int64_t n = 0; n < channels; n++)
    taps[n] = n == 0 ? 0.25 : n & 1 ? -1 / (M_PI * M_PI * (double) n * (double) n) : 0;
}

LamFilter *
lam_filter_new (int64_t channels, GError **error)
{
  g_autoptr (LamFilter) f = g_new0 (LamFilter, 1);
  int64_t length = lam_fft_good_size (2 * channels - 1);
  f->channels = channels;
  f->fft = lam_fft_new (length, error);
  f->response = f->fft ? lam_alloc_n (lam_fft_bins (f->fft), sizeof (float), "ramp filter", error) : NULL;
  double *table = f->response ? lam_alloc_n (length + channels, sizeof (double), "ramp filter", error) : NULL;
  if (!table)
    return NULL;
  /* The spectrum in double: in float the low frequencies, which carry the level of the picture, would lose digits. */
  double *taps = table + length;
  lam_ramp_taps (channels, taps);
  for (int64_t i = 0; i < length; i++)
    table[i] = cos (2 * M_PI * (double) i / (double) length);
  for (int64_t k = 0; k < lam_fft_bins (f->fft); k++) {
    double sum = taps[0];
    int64_t at = k % length, step = 2 * k % length;
    for (int64_t n = 1; n < channels; n += 2) {
      sum += 2 * taps[n] * table[at];
      at += step;
      at -= at >= length ? length : 0;
    }
    f->response[k] = (float) (sum / (double) length);
  }
  lam_free (table);
  return g_steal_pointer (&f);
}

void
lam_filter_free (LamFilter *f)
{
  if (!f)
    return;
  lam_fft_free (f->fft);
  lam_free (f->response);
  g_free (f);
}

static int64_t
row_floats (const LamFilter *f)
{
  return lam_round_up (lam_fft_size (f->fft), LAM_LANES);
}

int64_t
lam_filter_scratch (const LamFilter *f)
{
  return row_floats (f) + lam_round_up (2 * lam_fft_bins (f->fft), LAM_LANES);
}

void
lam_filter_row (const LamFilter *f, const float *in, const double *weight, double scale, float *out, float *scratch)
{
  float *row = scratch, *spectrum = scratch + row_floats (f);
  int64_t length = lam_fft_size (f->fft);
  for (int64_t n = 0; n < f->channels; n++)
    row[n] = weight ? (float) (in[n] * weight[n]) : in[n];
  memset (row + f->channels, 0, (length - f->channels) * sizeof *row);
  lam_fft_forward (f->fft, row, spectrum);
  for (int64_t k = 0; k < lam_fft_bins (f->fft); k++) {
    spectrum[2 * k] *= f->response[k];
    spectrum[2 * k + 1] *= f->response[k];
  }
  lam_fft_inverse (f->fft, spectrum, row);
  float s = (float) scale;
  for (int64_t n = 0; n < f->channels; n++)
    out[n] = row[n] * s;
}

double
lam_direct_scale (const LamGeometry *g)
{
  double dx = g->voxel_pitch, dy = dx * g->row_aspect, dz = dx * g->slice_aspect;
  double s = M_PI / (double) g->views / (dx * dy);
  return g->kind == LAM_GEOMETRY_PARALLEL ? s : s * g->row_pitch / (dz * lam_geometry_magnification (g));
}

void
lam_direct_row_weights (const LamGeometry *g, int64_t row, double *weight)
{
  double v = ((double) row - (double) (g->rows - 1) / 2) * g->row_pitch - g->row_offset, d = g->source_detector;
  for (int64_t n = 0; n < g->channels; n++) {
    double u = ((double) n - (double) (g->channels - 1) / 2) * g->channel_pitch - g->channel_offset;
    weight[n] = isfinite (d) ? d / sqrt (d * d + u * u + v * v) : 1;
  }
}

/* ---- over devices ---- */

enum { ROWS = 16 }; /* rows turned at a time */

typedef struct {
  LamProjector *p;
  LamFilter *filter;
  const LamShards *from;
  LamShards *to;
  double scale;
} Call;

typedef struct {
  const Call *c;
  int d;
  float *scratch;
  int64_t each;
} Task;

static int64_t
scratch_floats (const LamProjector *p, const LamFilter *f)
{
  int64_t channels = p->geometry->channels;
  return lam_filter_scratch (f) + ROWS * lam_round_up (channels, LAM_LANES) + 2 * channels;
}

void
lam_direct_plan (const LamProjector *p, LamPlan *plan, int first, int last)
{
  int64_t channels = p->geometry->channels, length = lam_fft_good_size (2 * channels - 1);
  int64_t floats = lam_round_up (length, LAM_LANES) + lam_round_up (2 * (length / 2 + 1), LAM_LANES)
                   + ROWS * lam_round_up (channels, LAM_LANES) + 2 * channels;
  for (int d = 0; d < p->slices.devices; d++)
    lam_plan_add_buffer (plan, d, "filter rows",
                         lam_pool_threads (lam_devices_pool (p->set)) * lam_round_up (floats, LAM_LANES) * 4, first,
                         last);
}

static void
filter_view (int64_t v, int worker, void *data)
{
  const Task *t = data;
  const Call *c = t->c;
  LamProjector *p = c->p;
  const LamGeometry *g = p->geometry;
  int64_t line = lam_projector_line_stride (p), floats = lam_projector_view_floats (p);
  float *work = t->scratch + worker * t->each, *rows = work + lam_filter_scratch (c->filter);
  int64_t row_stride = lam_round_up (g->channels, LAM_LANES);
  double *weight = (double *) (rows + ROWS * row_stride);
  const float *from = c->from->at[t->d] + v * floats;
  float *to = c->to->at[t->d] + v * floats;
  if (lam_control_cancelled (p->control))
    return;
  for (int64_t m0 = 0; m0 < g->rows; m0 += ROWS) {
    int64_t count = LAM_MIN (ROWS, g->rows - m0);
    if (p->layout == LAM_LAYOUT_SLICES)
      for (int64_t n = 0; n < g->channels; n++)
        for (int64_t m = 0; m < count; m++)
          rows[m * row_stride + n] = from[n * line + m0 + m];
    for (int64_t m = 0; m < count; m++) {
      gboolean turned = p->layout == LAM_LAYOUT_SLICES;
      if (g->kind == LAM_GEOMETRY_CONE)
        lam_direct_row_weights (g, m0 + m, weight);
      lam_filter_row (c->filter, turned ? rows + m * row_stride : from + (m0 + m) * line,
                      g->kind == LAM_GEOMETRY_CONE ? weight : NULL, c->scale,
                      turned ? rows + m * row_stride : to + (m0 + m) * line, work);
    }
    if (p->layout == LAM_LAYOUT_SLICES)
      for (int64_t n = 0; n < g->channels; n++)
        for (int64_t m = 0; m < count; m++)
          to[n * line + m0 + m] = rows[m * row_stride + n];
  }
}

static gboolean
filter_device (LamDevice *device, void *data, GError **error)
{
  const Call *c = data;
  Task t = {c, device->index, lam_plan_get (c->p->plan, device->index, "filter rows"),
            lam_round_up (scratch_floats (c->p, c->filter), LAM_LANES)};
  lam_device_for (device, lam_placement_count (&c->p->views, device->index), filter_view, &t);
  return lam_control_go_on (c->p->control, error);
}

gboolean
lam_direct_filter (LamProjector *p, const LamShards *sino, LamShards *filtered, GError **error)
{
  g_autoptr (LamFilter) filter = lam_filter_new (p->geometry->channels, error);
  if (!filter)
    return FALSE;
  for (int d = 0; d < p->slices.devices; d++)
    if (!lam_plan_take (p->plan, d, "filter rows", error))
      return FALSE;
  Call c = {p, filter, sino, filtered, lam_direct_scale (p->geometry)};
  gboolean ok = lam_devices_run (p->set, filter_device, &c, error);
  for (int d = 0; d < p->slices.devices; d++)
    lam_plan_release (p->plan, d, "filter rows");
  return ok;
}

/* V / (views that see slice k): helical scans only. */
static double
coverage (const LamGeometry *g, int64_t k)
{
  double dz = g->voxel_pitch * g->slice_aspect,
         z = dz * ((double) k - (double) (g->recon_slices - 1) / 2) + g->slice_offset;
  double half = (double) g->rows * g->row_pitch / lam_geometry_magnification (g) / 2;
  int64_t seen = 0;
  for (int64_t v = 0; v < g->views; v++)
    seen += fabs (z - g->shifts[v]) <= half;
  return seen ? (double) g->views / (double) seen : 0;
}

typedef struct {
  LamProjector *p;
  LamShards *volume;
  const float *factor;
} Cover;

static gboolean
cover_device (LamDevice *device, void *data, GError **error)
{
  const Cover *c = data;
  LamRange own = c->p->slices.range[device->index];
  int64_t stride = lam_projector_packed_stride (c->p, device->index, c->p->pixels), n = lam_range_size (own);
  int64_t ps = c->p->layout == LAM_LAYOUT_SLICES ? stride : 1, ks = c->p->layout == LAM_LAYOUT_SLICES ? 1 : stride;
  for (int64_t i = 0; i < c->p->pixels; i++)
    for (int64_t k = 0; k < n; k++)
      c->volume->at[device->index][i * ps + k * ks] *= c->factor[own.begin + k];
  return TRUE;
}

gboolean
lam_direct_back (LamProjector *p, const LamShards *filtered, LamShards *volume, GError **error)
{
  const LamGeometry *g = p->geometry;
  if (!lam_projector_back (p, filtered, volume, FALSE, FALSE, error))
    return FALSE;
  double low = INFINITY, high = -INFINITY;
  for (int64_t v = 0; g->shifts && v < g->views; v++) {
    low = fmin (low, g->shifts[v]);
    high = fmax (high, g->shifts[v]);
  }
  if (!(high > low))
    return TRUE;
  float *factor = lam_alloc_n (g->recon_slices, sizeof *factor, "coverage of the slices", error);
  if (!factor)
    return FALSE;
  for (int64_t k = 0; k < g->recon_slices; k++)
    factor[k] = (float) coverage (g, k);
  Cover c = {p, volume, factor};
  gboolean ok = lam_devices_run (p->set, cover_device, &c, error);
  lam_free (factor);
  return ok;
}
