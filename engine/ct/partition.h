/* partition.h: which pixels VCD visits together, and in which order (spec/ct.md section 7.1).
 *
 * Each level of granularity S has one partition of the region's pixels into S subsets, drawn once; an iteration visits
 * the subsets of its level in a fresh random order. Subsets are unpadded (they differ by one pixel at most), and every
 * draw is keyed by (seed, level or iteration): the same on any number of devices and after a resume. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef struct {
  int64_t n;      /* subsets */
  int64_t *begin; /* [n + 1] into pixel; owned */
  int32_t *pixel; /* owned, lam_alloc () */
} LamPartition;

/* @pixels[n] cut at random into min (@subsets, n) subsets, keyed by (@seed, @stream); ascending inside each. */
LamPartition *lam_partition_new (const int32_t *pixels, int64_t n, int64_t subsets, uint64_t seed, uint64_t stream,
                                 GError **error);
void lam_partition_free (LamPartition *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPartition, lam_partition_free)

/* The order in which iteration @iteration visits @n subsets; @order[n]. */
void lam_partition_order (uint64_t seed, int64_t iteration, int64_t n, int64_t *order);

/* The default sequence (0.7): levels of granularity, and which of them iteration i uses (the last repeats). */
extern const int64_t lam_granularity[];
extern const int lam_granularity_n;
int lam_partition_level (int64_t iteration);

G_END_DECLS
