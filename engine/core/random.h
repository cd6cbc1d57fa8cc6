/* random.h: counter-based random numbers, Philox4x32-10 (Salmon et al., SC 2011).
 *
 * A number is a function of (key, stream, index) alone, so the same noise, subsets and orders come out for any
 * number of threads, devices and chunks. LamRandom is a cursor over one stream; copy it, or make one per row. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef struct {
  uint64_t key, stream, index; /* index: blocks of four words taken so far */
  uint32_t words[4];
  int left; /* words not handed out yet */
} LamRandom;

/* The block of four words at @index of @stream under @key. */
void lam_random_block (uint64_t key, uint64_t stream, uint64_t index, uint32_t out[4]);

void lam_random_init (LamRandom *random, uint64_t key, uint64_t stream);
uint32_t lam_random_u32 (LamRandom *random);
uint64_t lam_random_u64 (LamRandom *random);
/* Uniform in [0, @bound), by rejection, so without bias; @bound > 0. */
uint64_t lam_random_below (LamRandom *random, uint64_t bound);
/* Uniform in [0, 1), 53 bits. */
double lam_random_double (LamRandom *random);
/* Standard normal (Box-Muller; two uniforms each, so that the count of words is fixed). */
double lam_random_normal (LamRandom *random);
/* Poisson with mean @mean >= 0: multiplication up to 30, transformed rejection (Hormann 1993, PTRS) above. */
int64_t lam_random_poisson (LamRandom *random, double mean);

/* Fisher-Yates over @values[0..n). */
void lam_random_permute (LamRandom *random, int32_t *values, int64_t n);

G_END_DECLS
