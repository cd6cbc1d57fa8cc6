/* vcd-image.c: what VCD does to a subset on the slice owners: prior, direction, sums, update.
 *
 * Work is cut into chunks of LAM_CHUNK pixels of the list. A chunk leaves four doubles for each own slice, summed over its pixels
 * in order; the host adds chunks in order, then slices by index (core/order.h). */
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/vcd-private.h"

enum { SUMS = 4 };

typedef struct {
  LamVcd *vcd;
  const int32_t *pixel;
  int64_t n;
  float lambda, factor;
  int pass;
  const float *shift;
} Call;

enum { DIRECTION, WEIGH, DAMPED, CLIP };

static int64_t
chunks_of (int64_t n)
{
  return (n + LAM_CHUNK - 1) / LAM_CHUNK;
}

int64_t
lam_vcd_sums_bytes (const LamVcd *vcd, int d)
{
  return chunks_of (vcd->longest) * SUMS * LAM_MAX (lam_placement_count (&vcd->p->slices, d), 1) * 8;
}

gboolean
lam_vcd_take_sums (LamVcd *vcd, GError **error)
{
  for (int d = 0; d < vcd->p->slices.devices; d++)
    if (!lam_plan_take (vcd->plan, d, "subset sums", error))
      return FALSE;
  return TRUE;
}

/* One stretch of n elements that lie together: a pixel's slices, or a slice's pixels. */
static void
stretch (const LamVcd *vcd, int pass, int64_t n, float lambda, float factor, const float *shift, const float *a,
         float *g, float *hp, const float *h, const float *x, float *d, double *acc, int64_t stride)
{
  const LamKernels *k = vcd->p->kernels;
  switch (pass) {
  case DIRECTION:
    k->direction (n, lambda, a, g, hp, h, d, acc, stride);
    break;
  case WEIGH:
    k->weigh (n, lambda, a, g, hp, h, acc, stride);
    break;
  case DAMPED:
    k->damped (n, lambda, g, shift, hp, h, d, acc, stride);
    break;
  default:
    for (int64_t i = 0; i < n; i++) {
      float least = x[i] * factor;
      d[i] = least > d[i] ? least : d[i];
      acc[2 * stride + i] += d[i] < 0 ? -d[i] : d[i];
      acc[3 * stride + i] += (double) d[i] * d[i];
    }
  }
}

typedef struct {
  const Call *c;
  int d;
  double *sums;
} Task;

static void
chunk_task (int64_t chunk, int worker, void *data)
{
  const Task *t = data;
  const Call *c = t->c;
  LamVcd *vcd = c->vcd;
  LamProjector *p = vcd->p;
  int d = t->d;
  int64_t own = lam_placement_count (&p->slices, d), at = chunk * LAM_CHUNK, count = LAM_MIN (LAM_CHUNK, c->n - at);
  int64_t packed = lam_projector_packed_stride (p, d, c->n), stride = lam_projector_packed_stride (p, d, p->pixels);
  double *sums = t->sums + chunk * SUMS * own;
  const float *shift = c->shift ? c->shift + p->slices.range[d].begin : NULL;
  memset (sums, 0, SUMS * own * sizeof *sums);
  if (c->pass == DIRECTION || c->pass == WEIGH)
    lam_prior_list (p, &vcd->params.prior, d, &vcd->volume, &vcd->halos, c->pixel, c->n, at, count, vcd->g.at[d],
                    vcd->hp.at[d]);
  if (p->layout == LAM_LAYOUT_SLICES) {
    for (int64_t i = at; i < at + count; i++) {
      int64_t o = i * packed, q = c->pixel[i] * stride;
      stretch (vcd, c->pass, own, c->lambda, c->factor, shift, vcd->at_e.at[d] + o, vcd->g.at[d] + o, vcd->hp.at[d] + o,
               vcd->hessian.at[d] + q, vcd->volume.at[d] + q, vcd->d.at[d] + o, sums, own);
    }
    return;
  }
  for (int64_t k = 0; k < own; k++) {
    float h[LAM_CHUNK], x[LAM_CHUNK];
    double acc[SUMS * LAM_CHUNK] = {0};
    int64_t o = k * packed + at;
    for (int64_t i = 0; i < count; i++) {
      h[i] = vcd->hessian.at[d][k * stride + c->pixel[at + i]];
      x[i] = vcd->volume.at[d][k * stride + c->pixel[at + i]];
    }
    stretch (vcd, c->pass, count, c->lambda, c->factor, shift, vcd->at_e.at[d] + o, vcd->g.at[d] + o, vcd->hp.at[d] + o,
             h, x, vcd->d.at[d] + o, acc, LAM_CHUNK);
    for (int s = 0; s < SUMS; s++)
      for (int64_t i = 0; i < count; i++)
        sums[s * own + k] += acc[s * LAM_CHUNK + i];
  }
}

/* Chunks are added in order, on the device; the first chunk's place gets the total. */
static gboolean
chunk_device (LamDevice *device, void *data, GError **error)
{
  const Call *c = data;
  LamProjector *p = c->vcd->p;
  int64_t own = lam_placement_count (&p->slices, device->index), chunks = chunks_of (c->n);
  Task t = {c, device->index, lam_plan_get (c->vcd->plan, device->index, "subset sums")};
  if (own == 0)
    return TRUE;
  lam_device_for (device, chunks, chunk_task, &t);
  for (int64_t i = 1; i < chunks; i++)
    for (int64_t k = 0; k < SUMS * own; k++)
      t.sums[k] += t.sums[i * SUMS * own + k];
  return lam_control_go_on (p->control, error);
}

/* After a pass: @host gets [SUMS][slices]. */
static void
read_sums (LamVcd *vcd, double *host)
{
  LamProjector *p = vcd->p;
  int64_t all = p->g.slices;
  for (int d = 0; d < p->slices.devices; d++) {
    LamRange own = p->slices.range[d];
    int64_t bytes = lam_range_size (own) * 8;
    lam_copy (p->set, LAM_HOST, host + own.begin, all * 8, d, lam_plan_get (vcd->plan, d, "subset sums"), bytes, bytes,
              SUMS);
  }
}

static gboolean
run (LamVcd *vcd, Call *c, double *host, GError **error)
{
  if (!lam_devices_run (vcd->p->set, chunk_device, c, error))
    return FALSE;
  read_sums (vcd, host);
  return TRUE;
}

static double
total (const double *host, int64_t n)
{
  double sum = 0;
  for (int64_t k = 0; k < n; k++)
    sum += host[k];
  return sum;
}

gboolean
lam_vcd_direction (LamVcd *vcd, const int32_t *pixel, int64_t n, float lambda, LamVcdSums *sums, GError **error)
{
  int64_t all = vcd->p->g.slices;
  double *host = vcd->host_sums;
  Call c = {vcd, pixel, n, lambda, 0, vcd->damping ? WEIGH : DIRECTION, NULL};
  if (!lam_projector_back_list (vcd->p, pixel, n, &vcd->error, vcd->weighted ? &vcd->weights : NULL,
                                vcd->has_pending ? &vcd->pending : NULL, &vcd->at_e, chunk_device, &c, error))
    return FALSE;
  vcd->has_pending = FALSE;
  read_sums (vcd, host);
  if (vcd->damping) {
    for (int64_t k = 0; k < all; k++)
      vcd->shift[k] = (float) (vcd->damping[k] * host[k] / host[all + k]);
    c.pass = DAMPED;
    c.shift = vcd->shift;
    if (!run (vcd, &c, host, error))
      return FALSE;
  }
  *sums = (LamVcdSums){total (host, all), total (host + all, all), total (host + 2 * all, all), host + 3 * all};
  return TRUE;
}

gboolean
lam_vcd_clip (LamVcd *vcd, const int32_t *pixel, int64_t n, float factor, LamVcdSums *sums, GError **error)
{
  int64_t all = vcd->p->g.slices;
  double *host = vcd->host_sums;
  Call c = {vcd, pixel, n, 0, factor, CLIP, NULL};
  if (!run (vcd, &c, host, error))
    return FALSE;
  sums->abs = total (host + 2 * all, all);
  sums->square = host + 3 * all;
  return TRUE;
}

/* ---- update ---- */

typedef struct {
  LamVcd *vcd;
  const int32_t *pixel;
  int64_t n, piece;
  float alpha;
  gboolean repeats;
  int d;
} Update;

static void
update_task (int64_t index, int worker, void *data)
{
  const Update *u = data;
  LamProjector *p = u->vcd->p;
  int d = u->d;
  int64_t own = lam_placement_count (&p->slices, d), at = index * u->piece, end = LAM_MIN (at + u->piece, u->n);
  int64_t packed = lam_projector_packed_stride (p, d, u->n), stride = lam_projector_packed_stride (p, d, p->pixels);
  float *x = u->vcd->volume.at[d];
  const float *step = u->vcd->d.at[d];
  if (p->layout == LAM_LAYOUT_SLICES)
    for (int64_t i = at; i < end; i++)
      p->kernels->axpy (own, u->alpha, step + i * packed, x + u->pixel[i] * stride);
  else
    for (int64_t k = 0; k < own; k++)
      for (int64_t i = at; i < end; i++)
        x[k * stride + u->pixel[i]] += u->alpha * step[k * packed + i];
}

static gboolean
update_device (LamDevice *device, void *data, GError **error)
{
  Update u = *(const Update *) data;
  u.d = device->index;
  /* Where a pixel may be listed twice, one thread goes through the list. */
  u.piece = u.repeats ? u.n : 1024;
  lam_device_for (device, (u.n + u.piece - 1) / u.piece, update_task, &u);
  return TRUE;
}

gboolean
lam_vcd_update (LamVcd *vcd, const int32_t *pixel, int64_t n, float alpha, gboolean repeats, GError **error)
{
  Update u = {vcd, pixel, n, 0, alpha, repeats, 0};
  return lam_halos_exchange (vcd->p, &vcd->volume, &vcd->halos, pixel, n, update_device, &u, error);
}
