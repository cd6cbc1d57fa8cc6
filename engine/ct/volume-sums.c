/* volume-sums.c: one pass over the volume for the numbers of an iteration: prior cost and sum of |x|.
 *
 * One double for each row and slice, over the row's pixels in order; rows are added by index, then slices by index. */
#include <string.h>

#include "core/memory.h"
#include "ct/prior.h"

typedef struct {
  LamProjector *p;
  const LamPriorParams *params;
  const LamShards *volume;
  const LamHalos *halos;
  int d;
} Sums;

void
lam_volume_sums_plan (const LamProjector *p, LamPlan *plan, int first, int last)
{
  int64_t rows = p->geometry->recon_rows;
  lam_plan_add_buffer (plan, LAM_HOST, "row sums", rows * 2 * p->slices.largest * 8, first, last); /* read there */
  for (int d = 0; d < p->slices.devices; d++)
    lam_plan_add_buffer (plan, d, "row sums", rows * 2 * LAM_MAX (lam_placement_count (&p->slices, d), 1) * 8, first,
                         last);
}

static void
row_slices (const Sums *s, int64_t row, double *cost, double *acc)
{
  LamProjector *p = s->p;
  int64_t columns = p->geometry->recon_columns, n = lam_placement_count (&p->slices, s->d);
  int64_t stride = lam_projector_packed_stride (p, s->d, p->pixels);
  const float *x = s->volume->at[s->d], *after = s->halos->after[s->d];
  enum { PIECE = 256 };
  float line[PIECE];
  for (int64_t j = 0; j < columns; j++) {
    const float *c = x + (row * columns + j) * stride;
    const float *down = row + 1 < p->geometry->recon_rows ? c + columns * stride : NULL,
                *right = j + 1 < columns ? c + stride : NULL;
    for (int64_t k = 0; k < n; k += PIECE) {
      int64_t m = LAM_MIN (PIECE, n - k);
      gboolean end = k + m == n;
      memcpy (line, c + k + 1, (m - 1) * sizeof *line);
      line[m - 1] = !end ? c[k + m] : after ? after[row * columns + j] : c[n - 1]; /* no pair: a difference of 0 */
      p->kernels->volume_sums (s->params, m, c + k, down ? down + k : NULL, right ? right + k : NULL, line, cost + k,
                               acc + k);
    }
  }
}

static void
row_planar (const Sums *s, int64_t row, double *cost, double *acc)
{
  LamProjector *p = s->p;
  int64_t columns = p->geometry->recon_columns, n = lam_placement_count (&p->slices, s->d);
  int64_t stride = lam_projector_packed_stride (p, s->d, p->pixels);
  for (int64_t k = 0; k < n; k++) {
    const float *c = s->volume->at[s->d] + k * stride + row * columns;
    const float *down = row + 1 < p->geometry->recon_rows ? c + columns : NULL;
    const float *after = k + 1 < n ? c + stride : s->halos->after[s->d] ? s->halos->after[s->d] + row * columns : NULL;
    for (int64_t j = 0; j < columns; j += LAM_CHUNK) {
      int64_t m = LAM_MIN (LAM_CHUNK, columns - j);
      double sums[2][LAM_CHUNK] = {{0}};
      float right[LAM_CHUNK];
      for (int64_t i = 0; i < m; i++)
        right[i] = c[LAM_MIN (j + i + 1, columns - 1)]; /* the last has no pair: a difference of 0 */
      p->kernels->volume_sums (s->params, m, c + j, down ? down + j : NULL, right, after ? after + j : NULL, sums[0],
                               sums[1]);
      for (int64_t i = 0; i < m; i++) {
        cost[k] += sums[0][i];
        acc[k] += sums[1][i];
      }
    }
  }
}

static void
row_task (int64_t row, int worker, void *data)
{
  const Sums *s = data;
  int64_t n = lam_placement_count (&s->p->slices, s->d);
  double *cost = (double *) lam_plan_get (s->p->plan, s->d, "row sums") + row * 2 * n;
  memset (cost, 0, 2 * n * sizeof *cost);
  if (s->p->layout == LAM_LAYOUT_SLICES)
    row_slices (s, row, cost, cost + n);
  else
    row_planar (s, row, cost, cost + n);
}

static gboolean
sums_device (LamDevice *device, void *data, GError **error)
{
  Sums s = *(const Sums *) data;
  s.d = device->index;
  if (lam_placement_count (&s.p->slices, s.d) > 0)
    lam_device_for (device, s.p->geometry->recon_rows, row_task, &s);
  return TRUE;
}

gboolean
lam_volume_sums (LamProjector *p, const LamPriorParams *params, const LamShards *volume, const LamHalos *halos,
                 LamVolumeSums *sums, GError **error)
{
  Sums s = {p, params, volume, halos, 0};
  int64_t rows = p->geometry->recon_rows;
  *sums = (LamVolumeSums){0};
  for (int d = 0; d < p->slices.devices; d++)
    if (!lam_plan_take (p->plan, d, "row sums", error))
      return FALSE;
  if (!lam_devices_run (p->set, sums_device, &s, error))
    return FALSE;
  for (int d = 0; d < p->slices.devices; d++) {
    int64_t n = lam_placement_count (&p->slices, d);
    int64_t bytes = rows * 2 * n * 8;
    double *host = lam_alloc (bytes, "row sums", error);
    if (!host)
      return FALSE;
    lam_copy (p->set, LAM_HOST, host, bytes, d, lam_plan_get (p->plan, d, "row sums"), bytes, bytes, 1);
    for (int64_t k = 0; k < n; k++) {
      double cost = 0, acc = 0;
      for (int64_t i = 0; i < rows; i++) {
        cost += host[i * 2 * n + k];
        acc += host[i * 2 * n + n + k];
      }
      sums->prior_cost += cost;
      sums->sum_abs += acc;
    }
    lam_free (host);
  }
  return TRUE;
}
