/* match-kernels.h: what the matching kernels are given. Plain C that any compiler reads; no GLib, no allocation.
 *
 * A kernel takes rows (voxels) through blocks of atoms: all products <row, atom>, and at once the best of them, so that no
 * score is ever stored. A sum over the contrasts runs from the first to the last, one fused step after the other, for each
 * row and atom by itself: how rows and atoms are cut shows in no bit. */
#pragma once

#include "core/types.h"

/* Atoms of a block: [length][LAM_MATCH_ATOMS]. */
#define LAM_MATCH_ATOMS 32
/* Rows of a block: [length][LAM_MATCH_ROWS]. A complex voxel takes two rows, beside each other. */
#define LAM_MATCH_ROWS 12
/* Most atoms kept for a voxel. */
#define LAM_MATCH_MOST 32

typedef struct {
  int64_t length; /* products that a score sums */
  const float *atoms;
  int64_t first, blocks; /* block 0 of @atoms holds atoms from @first; how many blocks */
  const float *rows;
  int64_t row_blocks;
  int pair; /* two rows a voxel: the score is the sum of both squares; else the square of one */
  /* [voxels][keep]: squared scores and their atoms, begun by the caller with 0 and -1. @keep is LAM_MATCH_ATOMS: the best of
   * each lane (the atoms with one remainder); less: the best of all, best first. */
  int keep;
  float *best;
  int32_t *atom;
} LamMatchArgs;

/* Rows of either side of a square of sums. */
#define LAM_MATCH_SQUARE 4

typedef struct {
  const char *isa;
  void (*match) (const LamMatchArgs *a);
  /* @out [LAM_MATCH_SQUARE][LAM_MATCH_SQUARE]: sums in double over the @n floats, a multiple of LAM_LANES, of rows of @a times rows of
   * @b, which begin @stride floats apart. */
  void (*square) (const float *a, const float *b, int64_t n, int64_t stride, double *out);
} LamMatchKernels;

extern const LamMatchKernels lam_match_kernels_scalar, lam_match_kernels_avx2, lam_match_kernels_avx512;
/* The table of lam_isa (). */
const LamMatchKernels *lam_match_kernels (void);
