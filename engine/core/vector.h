/* vector.h: the few vector operations the kernel bodies use, for each instruction set. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(LAM_BODY_AVX512)
#include <immintrin.h>
#define VW 16
#define BODY(name) name##_avx512
typedef __m512 vf;
typedef __m512i vi;
#define vset(x) _mm512_set1_ps (x)
#define vzero() _mm512_setzero_ps ()
#define vload(p) _mm512_loadu_ps (p)
#define vstore(p, v) _mm512_storeu_ps (p, v)
#define vadd(a, b) _mm512_add_ps (a, b)
#define vsub(a, b) _mm512_sub_ps (a, b)
#define vmul(a, b) _mm512_mul_ps (a, b)
#define vdiv(a, b) _mm512_div_ps (a, b)
#define vfma(a, b, c) _mm512_fmadd_ps (a, b, c)
#define vfnma(a, b, c) _mm512_fnmadd_ps (a, b, c) /* c - a b */
#define vfms(a, b, c) _mm512_fmsub_ps (a, b, c)   /* a b - c */
#define vsqrt(a) _mm512_sqrt_ps (a)
#define vmin(a, b) _mm512_min_ps (a, b)
#define vmax(a, b) _mm512_max_ps (a, b)
#define vabs(a) _mm512_abs_ps (a)
#define vround(a) _mm512_roundscale_ps (a, 0)
#define vceil(a) _mm512_roundscale_ps (a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define vtoint(a) _mm512_cvtps_epi32 (a)
#define viadd(a, b) _mm512_add_epi32 (a, b)
#define viset(x) _mm512_set1_epi32 (x)
/* The first m lanes only (m < VW); the others read as 0. */
static inline vf
vload_n (const float *p, int64_t m)
{
  return _mm512_maskz_loadu_ps ((__mmask16) ((1u << m) - 1), p);
}
static inline void
vstore_n (float *p, vf v, int64_t m)
{
  _mm512_mask_storeu_ps (p, (__mmask16) ((1u << m) - 1), v);
}
/* 32 floats from p, of which lane l takes number idx[l] in 0 … 31. */
static inline vf
vlookup (const float *p, vi idx)
{
  return _mm512_permutex2var_ps (_mm512_loadu_ps (p), idx, _mm512_loadu_ps (p + 16));
}
#define VLOOKUP_SPAN 32
#define visub(a, b) _mm512_sub_epi32 (a, b)
#define vimin(a, b) _mm512_min_epi32 (a, b)
#define vimax(a, b) _mm512_max_epi32 (a, b)
#define vtofloat(a) _mm512_cvtepi32_ps (a)
#define vfmad1(a, b, c) __builtin_fma (a, b, c)
/* x c + (y d + e) of VW doubles, cut into the high and the low half of their bits. */
static inline void
vhalves (const double *x, const double *y, double c, double d, double e, vi *high, vi *low)
{
  __m512d cc = _mm512_set1_pd (c), dd = _mm512_set1_pd (d), ee = _mm512_set1_pd (e);
  __m512i a =
      _mm512_castpd_si512 (_mm512_fmadd_pd (_mm512_loadu_pd (x), cc, _mm512_fmadd_pd (_mm512_loadu_pd (y), dd, ee)));
  __m512i b = _mm512_castpd_si512 (
      _mm512_fmadd_pd (_mm512_loadu_pd (x + 8), cc, _mm512_fmadd_pd (_mm512_loadu_pd (y + 8), dd, ee)));
  const vi even = _mm512_set_epi32 (30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  *low = _mm512_permutex2var_epi32 (a, even, b);
  *high = _mm512_permutex2var_epi32 (a, _mm512_add_epi32 (even, _mm512_set1_epi32 (1)), b);
}
/* The least and the largest of VW doubles. */
static inline void
vspan (const double *p, double *least, double *most)
{
  __m512d a = _mm512_loadu_pd (p), b = _mm512_loadu_pd (p + 8);
  *least = _mm512_reduce_min_pd (_mm512_min_pd (a, b));
  *most = _mm512_reduce_max_pd (_mm512_max_pd (a, b));
}
static inline void
vispan (vi a, int32_t *least, int32_t *most)
{
  *least = _mm512_reduce_min_epi32 (a);
  *most = _mm512_reduce_max_epi32 (a);
}
#define vlargest(a) _mm512_reduce_max_ps (a)
/* The top 24 bits of unsigned words, as floats. */
#define vtop24(a) _mm512_cvtepi32_ps (_mm512_srli_epi32 (a, 8))
#define viload(p) _mm512_loadu_si512 (p)
#define vistore(p, v) _mm512_storeu_si512 (p, v)
static inline vf
vgather (const float *p, vi idx)
{
  return _mm512_i32gather_ps (idx, p, 4);
}
/* a0 b0 a1 b1 …: the lower halves of two, interleaved, and the upper ones. */
static inline vf
vzip_low (vf a, vf b)
{
  return _mm512_permutex2var_ps (a, _mm512_set_epi32 (23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0), b);
}
static inline vf
vzip_high (vf a, vf b)
{
  return _mm512_permutex2var_ps (a, _mm512_set_epi32 (31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), b);
}
static inline vf
viota (void)
{
  return _mm512_set_ps (15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}
/* log2 split: exponent as float and mantissa in [sqrt(1/2), sqrt(2)). a > 0, normal. */
static inline vf
vfrexp (vf a, vf *mantissa)
{
  __m512i bits = _mm512_castps_si512 (a), shifted = _mm512_sub_epi32 (bits, _mm512_set1_epi32 (0x3f3504f3));
  __m512i e = _mm512_srai_epi32 (shifted, 23);
  *mantissa = _mm512_castsi512_ps (_mm512_sub_epi32 (bits, _mm512_slli_epi32 (e, 23)));
  return _mm512_cvtepi32_ps (e);
}
static inline vf
vldexp (vf a, vf e)
{
  return _mm512_scalef_ps (a, e);
}

/* doubles made of floats */
#define VDW 8
typedef __m512d vd;
#define vdzero() _mm512_setzero_pd ()
#define vdload(p) _mm512_cvtps_pd (_mm256_loadu_ps (p))
#define vdmul(a, b) _mm512_mul_pd (a, b)
#define vdfma(a, b, c) _mm512_fmadd_pd (a, b, c)
#define vdstore(p, v) _mm512_storeu_pd (p, v)

#elif defined(LAM_BODY_AVX2)
#include <immintrin.h>
#define VW 8
#define BODY(name) name##_avx2
typedef __m256 vf;
typedef __m256i vi;
#define vset(x) _mm256_set1_ps (x)
#define vzero() _mm256_setzero_ps ()
#define vload(p) _mm256_loadu_ps (p)
#define vstore(p, v) _mm256_storeu_ps (p, v)
#define vadd(a, b) _mm256_add_ps (a, b)
#define vsub(a, b) _mm256_sub_ps (a, b)
#define vmul(a, b) _mm256_mul_ps (a, b)
#define vdiv(a, b) _mm256_div_ps (a, b)
#define vfma(a, b, c) _mm256_fmadd_ps (a, b, c)
#define vfnma(a, b, c) _mm256_fnmadd_ps (a, b, c)
#define vfms(a, b, c) _mm256_fmsub_ps (a, b, c)
#define vsqrt(a) _mm256_sqrt_ps (a)
#define vmin(a, b) _mm256_min_ps (a, b)
#define vmax(a, b) _mm256_max_ps (a, b)
#define vabs(a) _mm256_andnot_ps (_mm256_set1_ps (-0.0f), a)
#define vround(a) _mm256_round_ps (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define vceil(a) _mm256_ceil_ps (a)
#define vtoint(a) _mm256_cvtps_epi32 (a)
#define viadd(a, b) _mm256_add_epi32 (a, b)
#define viset(x) _mm256_set1_epi32 (x)
static inline __m256i
mask_n (int64_t m)
{
  return _mm256_cmpgt_epi32 (_mm256_set1_epi32 ((int) m), _mm256_set_epi32 (7, 6, 5, 4, 3, 2, 1, 0));
}
static inline vf
vload_n (const float *p, int64_t m)
{
  return _mm256_maskload_ps (p, mask_n (m));
}
static inline void
vstore_n (float *p, vf v, int64_t m)
{
  _mm256_maskstore_ps (p, mask_n (m), v);
}
static inline vf
vlookup (const float *p, vi idx)
{
  vf lo = _mm256_permutevar8x32_ps (_mm256_loadu_ps (p), idx);
  vf hi = _mm256_permutevar8x32_ps (_mm256_loadu_ps (p + 8), idx);
  return _mm256_blendv_ps (lo, hi, _mm256_castsi256_ps (_mm256_slli_epi32 (idx, 28)));
}
#define VLOOKUP_SPAN 16
#define visub(a, b) _mm256_sub_epi32 (a, b)
#define vimin(a, b) _mm256_min_epi32 (a, b)
#define vimax(a, b) _mm256_max_epi32 (a, b)
#define vtofloat(a) _mm256_cvtepi32_ps (a)
#define vfmad1(a, b, c) __builtin_fma (a, b, c)
static inline void
vhalves (const double *x, const double *y, double c, double d, double e, vi *high, vi *low)
{
  __m256d cc = _mm256_set1_pd (c), dd = _mm256_set1_pd (d), ee = _mm256_set1_pd (e);
  __m256 a =
      _mm256_castpd_ps (_mm256_fmadd_pd (_mm256_loadu_pd (x), cc, _mm256_fmadd_pd (_mm256_loadu_pd (y), dd, ee)));
  __m256 b = _mm256_castpd_ps (
      _mm256_fmadd_pd (_mm256_loadu_pd (x + 4), cc, _mm256_fmadd_pd (_mm256_loadu_pd (y + 4), dd, ee)));
  *low = _mm256_permute4x64_epi64 (_mm256_castps_si256 (_mm256_shuffle_ps (a, b, 0x88)), 0xd8);
  *high = _mm256_permute4x64_epi64 (_mm256_castps_si256 (_mm256_shuffle_ps (a, b, 0xdd)), 0xd8);
}
static inline void
vspan (const double *p, double *least, double *most)
{
  __m256d a = _mm256_loadu_pd (p), b = _mm256_loadu_pd (p + 4), lo = _mm256_min_pd (a, b), hi = _mm256_max_pd (a, b);
  __m128d l = _mm_min_pd (_mm256_castpd256_pd128 (lo), _mm256_extractf128_pd (lo, 1));
  __m128d h = _mm_max_pd (_mm256_castpd256_pd128 (hi), _mm256_extractf128_pd (hi, 1));
  *least = _mm_cvtsd_f64 (_mm_min_sd (l, _mm_unpackhi_pd (l, l)));
  *most = _mm_cvtsd_f64 (_mm_max_sd (h, _mm_unpackhi_pd (h, h)));
}
static inline void
vispan (vi a, int32_t *least, int32_t *most)
{
  __m128i l = _mm_min_epi32 (_mm256_castsi256_si128 (a), _mm256_extracti128_si256 (a, 1));
  __m128i h = _mm_max_epi32 (_mm256_castsi256_si128 (a), _mm256_extracti128_si256 (a, 1));
  l = _mm_min_epi32 (l, _mm_shuffle_epi32 (l, 0x4e));
  h = _mm_max_epi32 (h, _mm_shuffle_epi32 (h, 0x4e));
  *least = _mm_cvtsi128_si32 (_mm_min_epi32 (l, _mm_shuffle_epi32 (l, 0xb1)));
  *most = _mm_cvtsi128_si32 (_mm_max_epi32 (h, _mm_shuffle_epi32 (h, 0xb1)));
}
static inline float
vlargest (vf a)
{
  __m128 h = _mm_max_ps (_mm256_castps256_ps128 (a), _mm256_extractf128_ps (a, 1));
  h = _mm_max_ps (h, _mm_movehl_ps (h, h));
  return _mm_cvtss_f32 (_mm_max_ss (h, _mm_shuffle_ps (h, h, 1)));
}
#define vtop24(a) _mm256_cvtepi32_ps (_mm256_srli_epi32 (a, 8))
#define viload(p) _mm256_loadu_si256 ((const __m256i *) (p))
#define vistore(p, v) _mm256_storeu_si256 ((__m256i *) (p), v)
static inline vf
vgather (const float *p, vi idx)
{
  return _mm256_i32gather_ps (p, idx, 4);
}
static inline vf
vzip_low (vf a, vf b)
{
  return _mm256_permute2f128_ps (_mm256_unpacklo_ps (a, b), _mm256_unpackhi_ps (a, b), 0x20);
}
static inline vf
vzip_high (vf a, vf b)
{
  return _mm256_permute2f128_ps (_mm256_unpacklo_ps (a, b), _mm256_unpackhi_ps (a, b), 0x31);
}
static inline vf
viota (void)
{
  return _mm256_set_ps (7, 6, 5, 4, 3, 2, 1, 0);
}
static inline vf
vfrexp (vf a, vf *mantissa)
{
  __m256i bits = _mm256_castps_si256 (a), shifted = _mm256_sub_epi32 (bits, _mm256_set1_epi32 (0x3f3504f3));
  __m256i e = _mm256_srai_epi32 (shifted, 23);
  *mantissa = _mm256_castsi256_ps (_mm256_sub_epi32 (bits, _mm256_slli_epi32 (e, 23)));
  return _mm256_cvtepi32_ps (e);
}
static inline vf
vldexp (vf a, vf e)
{
  e = _mm256_max_ps (_mm256_min_ps (e, vset (127)), vset (-126));
  return vmul (a, _mm256_castsi256_ps (_mm256_slli_epi32 (viadd (vtoint (e), viset (127)), 23)));
}

#define VDW 4
typedef __m256d vd;
#define vdzero() _mm256_setzero_pd ()
#define vdload(p) _mm256_cvtps_pd (_mm_loadu_ps (p))
#define vdmul(a, b) _mm256_mul_pd (a, b)
#define vdfma(a, b, c) _mm256_fmadd_pd (a, b, c)
#define vdstore(p, v) _mm256_storeu_pd (p, v)

#else /* the reference: one lane */
#define VDW 1
typedef double vd;
#define vdzero() 0.0
#define vdload(p) ((double) *(p))
#define vdmul(a, b) ((a) * (b))
#define vdfma(a, b, c) ((a) * (b) + (c))
#define vdstore(p, v) (*(p) = (v))

#define VW 1
#define BODY(name) name##_scalar
typedef float vf;
typedef int32_t vi;
#define vset(x) ((float) (x))
#define vzero() 0.0f
#define vload(p) (*(p))
#define vstore(p, v) (*(p) = (v))
#define vadd(a, b) ((a) + (b))
#define vsub(a, b) ((a) - (b))
#define vmul(a, b) ((a) * (b))
#define vdiv(a, b) ((a) / (b))
#define vfma(a, b, c) ((a) * (b) + (c))
#define vfnma(a, b, c) ((c) - (a) * (b))
#define vfms(a, b, c) ((a) * (b) - (c))
#define vsqrt(a) sqrtf (a)
#define vmin(a, b) ((a) < (b) ? (a) : (b))
#define vmax(a, b) ((a) > (b) ? (a) : (b))
#define vabs(a) fabsf (a)
#define vround(a) rintf (a)
#define vzip_low(a, b) (a) /* a vector of one has no halves: never called */
#define vzip_high(a, b) (b)
#define vceil(a) ceilf (a)
#define vtoint(a) ((int32_t) (a))
#define viadd(a, b) ((a) + (b))
#define viset(x) ((int32_t) (x))
#define vistore(p, v) (*(p) = (v))
#define vload_n(p, m) ((m) > 0 ? *(p) : 0.0f)
#define vstore_n(p, v, m) ((void) ((m) > 0 ? (*(p) = (v)) : 0))
#define vlookup(p, idx) ((p)[idx])
#define VLOOKUP_SPAN 64
#define visub(a, b) ((a) - (b))
#define vimin(a, b) ((a) < (b) ? (a) : (b))
#define vimax(a, b) ((a) > (b) ? (a) : (b))
#define vtofloat(a) ((float) (a))
#define vfmad1(a, b, c) ((a) * (b) + (c))
static inline void
vhalves (const double *x, const double *y, double c, double d, double e, vi *high, vi *low)
{
  double t = *x * c + (*y * d + e);
  uint64_t bits;
  memcpy (&bits, &t, sizeof bits);
  *high = (int32_t) (bits >> 32);
  *low = (int32_t) (uint32_t) bits;
}
#define vspan(p, least, most) (*(least) = *(most) = *(p))
#define vispan(a, least, most) (*(least) = *(most) = (a))
#define vlargest(a) (a)
#define viload(p) (*(p))
#define vtop24(a) ((float) ((uint32_t) (a) >> 8))
#define vgather(p, idx) ((p)[idx])
#define viota() 0.0f
static inline vf
vfrexp (vf a, vf *mantissa)
{
  int32_t bits, e;
  memcpy (&bits, &a, 4);
  e = (bits - 0x3f3504f3) >> 23;
  bits -= e * (1 << 23);
  memcpy (mantissa, &bits, 4);
  return (float) e;
}
#define vldexp(a, e) ldexpf (a, (int) (e))
#endif

/* One fused multiply-add, as the vectors do it. */
#if VW > 1
#define vfma1(a, b, c) __builtin_fmaf (a, b, c)
#else
#define vfma1(a, b, c) ((a) * (b) + (c))
#endif

/* p[0] += a x, p[1] += b x */
static inline void
vpair_add (float *p, float a, float b, float x)
{
#if VW > 1
  __m128 w = _mm_unpacklo_ps (_mm_set_ss (a), _mm_set_ss (b));
  double pair; /* any alignment */
  memcpy (&pair, p, sizeof pair);
  __m128 y = _mm_castpd_ps (_mm_set_sd (pair));
  pair = _mm_cvtsd_f64 (_mm_castps_pd (_mm_fmadd_ps (w, _mm_set1_ps (x), y)));
  memcpy (p, &pair, sizeof pair);
#else
  p[0] += a * x;
  p[1] += b * x;
#endif
}
