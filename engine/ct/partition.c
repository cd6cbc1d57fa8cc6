#include "ct/partition.h"

#include <string.h>

#include "core/memory.h"
#include "core/random.h"

const int64_t lam_granularity[] = {1, 2, 4, 8, 16, 32, 64, 128, 128, 128, 128};
const int lam_granularity_n = (int) G_N_ELEMENTS (lam_granularity);

/* Streams of the seed's generator: partitions by level, orders by iteration. */
enum { STREAM_ORDER = 1000 };

int
lam_partition_level (int64_t iteration)
{
  static const int start[] = {2, 4, 6};
  if (iteration < (int64_t) G_N_ELEMENTS (start))
    return start[iteration];
  int64_t later = iteration - (int64_t) G_N_ELEMENTS (start);
  return later < 100 ? 7 + (int) (later % 4) : 10;
}

static int
compare_pixels (const void *a, const void *b)
{
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  return (x > y) - (x < y);
}

LamPartition *
lam_partition_new (const int32_t *pixels, int64_t n, int64_t subsets, uint64_t seed, uint64_t stream, GError **error)
{
  g_autoptr (LamPartition) p = g_new0 (LamPartition, 1);
  LamRandom random;
  p->n = LAM_CLAMP (subsets, 1, LAM_MAX (n, 1));
  p->begin = g_new (int64_t, p->n + 1);
  p->pixel = lam_alloc_n (n, sizeof *p->pixel, "pixel subsets", error);
  if (!p->pixel)
    return NULL;
  memcpy (p->pixel, pixels, n * sizeof *p->pixel);
  lam_random_init (&random, seed, stream);
  if (p->n > 1)
    lam_random_permute (&random, p->pixel, n);
  for (int64_t s = 0; s <= p->n; s++)
    p->begin[s] = n / p->n * s + LAM_MIN (s, n % p->n);
  for (int64_t s = 0; s < p->n; s++)
    qsort (p->pixel + p->begin[s], p->begin[s + 1] - p->begin[s], sizeof *p->pixel, compare_pixels);
  return g_steal_pointer (&p);
}

void
lam_partition_free (LamPartition *p)
{
  if (!p)
    return;
  g_free (p->begin);
  lam_free (p->pixel);
  g_free (p);
}

void
lam_partition_order (uint64_t seed, int64_t iteration, int64_t n, int64_t *order)
{
  LamRandom random;
  g_autofree int32_t *index = g_new (int32_t, n);
  for (int64_t i = 0; i < n; i++)
    index[i] = (int32_t) i;
  lam_random_init (&random, seed, STREAM_ORDER + (uint64_t) iteration);
  lam_random_permute (&random, index, n);
  for (int64_t i = 0; i < n; i++)
    order[i] = index[i];
}
