/* match-body.h: products and their maximum, built once for each instruction set. */
#include "core/vector.h"
#include "mr/match-kernels.h"

/* Rows whose sums are held in registers at once, and vectors of atoms beside each other. */
#if VW == 16
#define ROWS 12
#elif VW == 8
#define ROWS 6
#else
#define ROWS 4
#endif
#define WIDE 2
#define TILE (WIDE * VW)

/* Bits of the lanes in which @m is above @best. */
#if VW == 16
#define vabove(m, best) _mm512_cmp_ps_mask (m, best, _CMP_GT_OQ)
static inline void
keep_lanes (float *best, int32_t *atom, vf m, vi number)
{
  __mmask16 above = _mm512_cmp_ps_mask (m, _mm512_loadu_ps (best), _CMP_GT_OQ);
  _mm512_mask_storeu_ps (best, above, m);
  _mm512_mask_storeu_epi32 (atom, above, number);
}
#elif VW == 8
#define vabove(m, best) _mm256_movemask_ps (_mm256_cmp_ps (m, best, _CMP_GT_OQ))
static inline void
keep_lanes (float *best, int32_t *atom, vf m, vi number)
{
  vf old = _mm256_loadu_ps (best), above = _mm256_cmp_ps (m, old, _CMP_GT_OQ);
  _mm256_storeu_ps (best, _mm256_blendv_ps (old, m, above));
  __m256 was = _mm256_castsi256_ps (_mm256_loadu_si256 ((const __m256i *) (const void *) atom));
  vf now = _mm256_blendv_ps (was, _mm256_castsi256_ps (number), above);
  _mm256_storeu_si256 ((__m256i *) (void *) atom, _mm256_castps_si256 (now));
}
#else
#define vabove(m, best) ((m) > (best))
static inline void
keep_lanes (float *best, int32_t *atom, vf m, vi number)
{
  if (m > *best) {
    *best = m;
    *atom = number;
  }
}
#endif

/* The scores @m of atoms from @number on, into the sorted list. Of equal ones the earlier stays first. */
static void
keep_sorted (const LamMatchArgs *a, int64_t voxel, vf m, int32_t number)
{
  float *best = a->best + voxel * a->keep, score[VW];
  int32_t *atom = a->atom + voxel * a->keep;
  if (!vabove (m, vset (best[a->keep - 1])))
    return;
  vstore (score, m);
  for (int l = 0; l < VW; l++) {
    int at = a->keep - 1;
    if (!(score[l] > best[at]))
      continue;
    for (; at > 0 && score[l] > best[at - 1]; at--) {
      best[at] = best[at - 1];
      atom[at] = atom[at - 1];
    }
    best[at] = score[l];
    atom[at] = number + l;
  }
}

/* Sums of one tile, then the best of its voxels. @row is the first of ROWS rows, in their block's order. */
static inline void
tile (const LamMatchArgs *a, const float *rows, const float *atoms, int64_t row, int64_t number, int lane)
{
  vf sum[ROWS][WIDE];
  for (int r = 0; r < ROWS; r++)
    for (int w = 0; w < WIDE; w++)
      sum[r][w] = vzero ();
  for (int64_t k = 0; k < a->length; k++) {
    vf x[WIDE];
    for (int w = 0; w < WIDE; w++)
      x[w] = vload (atoms + k * LAM_MATCH_ATOMS + w * VW);
    for (int r = 0; r < ROWS; r++) {
      vf y = vset (rows[k * LAM_MATCH_ROWS + r]);
      for (int w = 0; w < WIDE; w++)
        sum[r][w] = vfma (x[w], y, sum[r][w]);
    }
  }
  const int step = a->pair ? 2 : 1;
#pragma GCC unroll 16
  for (int r = 0; r < ROWS; r++) {
    if (r % step != 0)
      continue;
    int64_t voxel = (row + r) / step;
    for (int w = 0; w < WIDE; w++) {
      vf m = vmul (sum[r][w], sum[r][w]);
      if (a->pair && r + 1 < ROWS)
        m = vfma (sum[r + 1][w], sum[r + 1][w], m);
      int32_t first = (int32_t) (number + w * VW);
      if (a->keep == LAM_MATCH_ATOMS)
        keep_lanes (a->best + voxel * LAM_MATCH_ATOMS + lane + w * VW,
                    a->atom + voxel * LAM_MATCH_ATOMS + lane + w * VW, m, viadd (viset (first), vtoint (viota ())));
      else
        keep_sorted (a, voxel, m, first);
    }
  }
}

static void
match (const LamMatchArgs *a)
{
  /* A block of atoms stays near the processor while all rows pass. */
  for (int64_t b = 0; b < a->blocks; b++)
    for (int64_t r = 0; r < a->row_blocks; r++)
      for (int row = 0; row < LAM_MATCH_ROWS; row += ROWS)
        for (int lane = 0; lane < LAM_MATCH_ATOMS; lane += TILE)
          tile (a, a->rows + r * a->length * LAM_MATCH_ROWS + row, a->atoms + b * a->length * LAM_MATCH_ATOMS + lane,
                r * LAM_MATCH_ROWS + row, a->first + b * LAM_MATCH_ATOMS + lane, lane);
}

static void
square (const float *a, const float *b, int64_t n, int64_t stride, double *out)
{
  vd sum[LAM_MATCH_SQUARE][LAM_MATCH_SQUARE];
  for (int i = 0; i < LAM_MATCH_SQUARE; i++)
    for (int j = 0; j < LAM_MATCH_SQUARE; j++)
      sum[i][j] = vdzero ();
  for (int64_t k = 0; k < n; k += VDW) {
    vd y[LAM_MATCH_SQUARE];
    for (int j = 0; j < LAM_MATCH_SQUARE; j++)
      y[j] = vdload (b + j * stride + k);
    for (int i = 0; i < LAM_MATCH_SQUARE; i++) {
      vd x = vdload (a + i * stride + k);
      for (int j = 0; j < LAM_MATCH_SQUARE; j++)
        sum[i][j] = vdfma (x, y[j], sum[i][j]);
    }
  }
  for (int i = 0; i < LAM_MATCH_SQUARE; i++)
    for (int j = 0; j < LAM_MATCH_SQUARE; j++) {
      double lane[VDW], all = 0;
      vdstore (lane, sum[i][j]);
      for (int l = 0; l < VDW; l++)
        all += lane[l];
      out[i * LAM_MATCH_SQUARE + j] = all;
    }
}
