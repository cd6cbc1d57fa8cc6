#include "ct/prior.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

LamPriorParams
lam_prior_params (double p, double q, double t, double sigma_x, double row, double column, double slice)
{
  double sum = 2 * (row + column + slice);
  return (LamPriorParams){p, q, t, sigma_x, row / sum, column / sum, slice / sum};
}

gboolean
lam_prior_check (const LamPriorParams *k, GError **error)
{
  struct {
    const char *name;
    double value;
    gboolean good;
  } checks[] = {
      {"p", k->p, k->p >= 1 && k->p <= 2},
      {"q", k->q, k->q >= 1 && k->q <= k->p},
      {"T", k->t, k->t > 0 && isfinite (k->t)},
      {"sigma_x", k->sigma_x, k->sigma_x > 0 && isfinite (k->sigma_x)},
      {"neighbour weights", k->b_row + k->b_column + k->b_slice,
       k->b_row >= 0 && k->b_column >= 0 && k->b_slice >= 0 && isfinite (k->b_row + k->b_column + k->b_slice)},
  };
  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    if (!checks[i].good) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "prior: %s is %g; expected 1 <= q <= p <= 2, T > 0, sigma_x > 0 and weights >= 0", checks[i].name,
                   checks[i].value);
      return FALSE;
    }
  return TRUE;
}

double
lam_prior_potential (const LamPriorParams *k, double delta)
{
  double d = fmax (fabs (delta), k->t * k->sigma_x * 1.1920929e-7), s = pow (d / (k->t * k->sigma_x), k->q - k->p);
  return pow (d / k->sigma_x, k->p) / k->p * s / (1 + s);
}

/* ---- neighbours ---- */

/* The halo value of pixel i below or above a shard, or the voxel itself. */
static inline float
beyond (const float *halo, int64_t pixel, float self)
{
  return halo ? halo[pixel] : self;
}

static void
list_slices (const LamProjector *p, const LamPriorParams *params, int d, const float *x, const float *before,
             const float *after, const int32_t *pixel, int64_t at, int64_t count, float *gradient, float *hessian)
{
  int64_t columns = p->geometry->recon_columns, rows = p->geometry->recon_rows, n = lam_placement_count (&p->slices, d);
  int64_t stride = lam_projector_packed_stride (p, d, p->pixels);
  enum { PIECE = 256 };
  float line[PIECE + 2];
  for (int64_t i = at; i < at + count; i++) {
    int64_t q = pixel[i], row = q / columns, column = q % columns;
    const float *c = x + q * stride;
    const float *up = row > 0 ? c - columns * stride : c, *down = row < rows - 1 ? c + columns * stride : c;
    const float *left = column > 0 ? c - stride : c, *right = column < columns - 1 ? c + stride : c;
    for (int64_t k = 0; k < n; k += PIECE) {
      int64_t m = LAM_MIN (PIECE, n - k);
      memcpy (line + 1, c + k, m * sizeof *line);
      line[0] = k > 0 ? c[k - 1] : beyond (before, q, c[0]);
      line[m + 1] = k + m < n ? c[k + m] : beyond (after, q, c[n - 1]);
      p->kernels->prior (params, m, c + k, up + k, down + k, left + k, right + k, line, line + 2,
                         gradient + i * stride + k, hessian + i * stride + k);
    }
  }
}

static void
list_planar (const LamProjector *p, const LamPriorParams *params, int d, const float *x, const float *before,
             const float *after, const int32_t *pixel, int64_t n, int64_t at, int64_t count, float *gradient,
             float *hessian)
{
  int64_t columns = p->geometry->recon_columns, rows = p->geometry->recon_rows,
          slices = lam_placement_count (&p->slices, d);
  int64_t stride = lam_projector_packed_stride (p, d, p->pixels), packed = lam_projector_packed_stride (p, d, n);
  float v[7][LAM_CHUNK];
  for (int64_t a = at; a < at + count; a += LAM_CHUNK) {
    int64_t m = LAM_MIN (LAM_CHUNK, at + count - a);
    for (int64_t k = 0; k < slices; k++) {
      const float *c = x + k * stride;
      const float *b = k > 0 ? c - stride : before, *f = k < slices - 1 ? c + stride : after;
      for (int64_t i = 0; i < m; i++) {
        int64_t q = pixel[a + i], row = q / columns, column = q % columns;
        v[0][i] = c[q];
        v[1][i] = row > 0 ? c[q - columns] : c[q];
        v[2][i] = row < rows - 1 ? c[q + columns] : c[q];
        v[3][i] = column > 0 ? c[q - 1] : c[q];
        v[4][i] = column < columns - 1 ? c[q + 1] : c[q];
        v[5][i] = beyond (b, q, c[q]);
        v[6][i] = beyond (f, q, c[q]);
      }
      p->kernels->prior (params, m, v[0], v[1], v[2], v[3], v[4], v[5], v[6], gradient + k * packed + a,
                         hessian + k * packed + a);
    }
  }
}

void
lam_prior_list (const LamProjector *p, const LamPriorParams *params, int d, const LamShards *volume,
                const LamHalos *halos, const int32_t *pixel, int64_t n, int64_t at, int64_t count, float *gradient,
                float *hessian)
{
  if (lam_placement_count (&p->slices, d) == 0)
    return;
  if (p->layout == LAM_LAYOUT_SLICES)
    list_slices (p, params, d, volume->at[d], halos->before[d], halos->after[d], pixel, at, count, gradient, hessian);
  else
    list_planar (p, params, d, volume->at[d], halos->before[d], halos->after[d], pixel, n, at, count, gradient,
                 hessian);
}

/* ---- halos ---- */

void
lam_halos_plan (const LamProjector *p, LamPlan *plan, int first, int last)
{
  for (int d = 0; d < p->slices.devices; d++) {
    LamRange own = p->slices.range[d];
    if (lam_range_size (own) == 0 || p->slices.devices == 1)
      continue;
    lam_plan_add_buffer (plan, d, "halo landing", p->pixels * 4, first, last);
    if (own.begin > 0) {
      lam_plan_add_buffer (plan, d, "halo before", p->pixels * 4, first, last);
      lam_plan_add_buffer (plan, d, "edge before", p->pixels * 4, first, last);
    }
    if (own.end < p->slices.size) {
      lam_plan_add_buffer (plan, d, "halo after", p->pixels * 4, first, last);
      lam_plan_add_buffer (plan, d, "edge after", p->pixels * 4, first, last);
    }
  }
}

gboolean
lam_halos_open (LamProjector *p, LamPlan *plan, LamHalos *halos, GError **error)
{
  memset (halos, 0, sizeof *halos);
  for (int d = 0; d < p->slices.devices; d++) {
    LamRange own = p->slices.range[d];
    if (lam_range_size (own) == 0 || p->slices.devices == 1)
      continue;
    if (!lam_plan_take (plan, d, "halo landing", error))
      return FALSE;
    if (own.begin > 0
        && (!(halos->before[d] = lam_plan_take (plan, d, "halo before", error))
            || !lam_plan_take (plan, d, "edge before", error)))
      return FALSE;
    if (own.end < p->slices.size
        && (!(halos->after[d] = lam_plan_take (plan, d, "halo after", error))
            || !lam_plan_take (plan, d, "edge after", error)))
      return FALSE;
  }
  return TRUE;
}

typedef struct {
  LamProjector *p;
  const LamShards *volume;
  LamHalos *halos;
  const int32_t *pixel; /* NULL: all */
  int64_t n;
  LamDeviceFunc before;
  void *data;
} Exchange;

/* Own end slices, packed by the list, into the edges that neighbours fetch. */
static gboolean
pack_edges (LamDevice *device, void *data, GError **error)
{
  const Exchange *e = data;
  if (e->before && !e->before (device, e->data, error))
    return FALSE;
  LamProjector *p = e->p;
  int d = device->index;
  int64_t n = lam_placement_count (&p->slices, d), stride = lam_projector_packed_stride (p, d, p->pixels);
  int64_t ps = p->layout == LAM_LAYOUT_SLICES ? stride : 1, ks = p->layout == LAM_LAYOUT_SLICES ? 1 : stride;
  float *first = lam_plan_get (p->plan, d, "edge before"), *last = lam_plan_get (p->plan, d, "edge after");
  const float *x = e->volume->at[d];
  for (int64_t i = 0; n > 0 && i < e->n; i++) {
    int64_t q = e->pixel ? e->pixel[i] : i;
    if (first)
      first[i] = x[q * ps];
    if (last)
      last[i] = x[q * ps + (n - 1) * ks];
  }
  return TRUE;
}

static void
fetch (const Exchange *e, int to, int from, const char *edge, float *halo, float *landing)
{
  LamProjector *p = e->p;
  lam_copy (p->set, to, landing, e->n * 4, from, lam_plan_get (p->plan, from, edge), e->n * 4, e->n * 4, 1);
  for (int64_t i = 0; e->pixel && i < e->n; i++)
    halo[e->pixel[i]] = landing[i];
}

/* The neighbour's edge lands beside the halo it updates. */
static gboolean
fetch_halos (LamDevice *device, void *data, GError **error)
{
  const Exchange *e = data;
  LamProjector *p = e->p;
  int d = device->index;
  LamRange own = p->slices.range[d];
  if (lam_range_size (own) == 0)
    return TRUE;
  float *before = e->halos->before[d], *after = e->halos->after[d];
  float *landing = e->pixel ? lam_plan_get (p->plan, d, "halo landing") : NULL;
  if (before)
    fetch (e, d, lam_placement_owner (&p->slices, own.begin - 1), "edge after", before, landing ? landing : before);
  if (after)
    fetch (e, d, lam_placement_owner (&p->slices, own.end), "edge before", after, landing ? landing : after);
  return TRUE;
}

gboolean
lam_halos_exchange (LamProjector *p, const LamShards *volume, LamHalos *halos, const int32_t *pixel, int64_t n,
                    LamDeviceFunc before, void *data, GError **error)
{
  if (p->slices.devices == 1)
    return !before || lam_devices_run (p->set, before, data, error);
  Exchange e = {p, volume, halos, pixel, pixel ? n : p->pixels, before, data};
  return lam_devices_run (p->set, pack_edges, &e, error) && lam_devices_run (p->set, fetch_halos, &e, error);
}
