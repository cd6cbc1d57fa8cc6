/* bloch-vec.h: the vector operations of the Bloch kernels, for each instruction set. */
#pragma once

#include <math.h>
#include <string.h>

#if defined(LAM_BODY_AVX512)
#include <immintrin.h>
#define VW 16
#define BODY(name) name##_avx512
typedef __m512 vf;
#define vset(x) _mm512_set1_ps (x)
#define vload(p) _mm512_loadu_ps (p)
#define vstore(p, v) _mm512_storeu_ps (p, v)
#define vadd(a, b) _mm512_add_ps (a, b)
#define vsub(a, b) _mm512_sub_ps (a, b)
#define vmul(a, b) _mm512_mul_ps (a, b)
#define vfma(a, b, c) _mm512_fmadd_ps (a, b, c)
#define vfnma(a, b, c) _mm512_fnmadd_ps (a, b, c) /* c - a b */
#define vmin(a, b) _mm512_min_ps (a, b)
#define vabs(a) _mm512_abs_ps (a)
#define vround(a) _mm512_roundscale_ps (a, 0)
/* 2^a for whole a from -126 to 0 */
#define vexp2(a) _mm512_scalef_ps (vset (1), a)
typedef __m512d vd;
#define VD 8
#define vdset(x) _mm512_set1_pd (x)
#define vdload(p) _mm512_loadu_pd (p)
#define vdmul(a, b) _mm512_mul_pd (a, b)
#define vdfma(a, b, c) _mm512_fmadd_pd (a, b, c)
#define vdfnma(a, b, c) _mm512_fnmadd_pd (a, b, c)
#define vdadd(a, b) _mm512_add_pd (a, b)
#define vdsub(a, b) _mm512_sub_pd (a, b)
#define vdfloats(p) _mm512_cvtps_pd (_mm256_loadu_ps (p))
#define vdtofloats(p, v) _mm256_storeu_ps (p, _mm512_cvtpd_ps (v))
#define vdfraction(a) _mm512_sub_pd (a, _mm512_roundscale_pd (a, 0))
static inline vf
vjoin (vd a, vd b)
{
  return _mm512_insertf32x8 (_mm512_castps256_ps512 (_mm512_cvtpd_ps (a)), _mm512_cvtpd_ps (b), 1);
}

#elif defined(LAM_BODY_AVX2)
#include <immintrin.h>
#define VW 8
#define BODY(name) name##_avx2
typedef __m256 vf;
#define vset(x) _mm256_set1_ps (x)
#define vload(p) _mm256_loadu_ps (p)
#define vstore(p, v) _mm256_storeu_ps (p, v)
#define vadd(a, b) _mm256_add_ps (a, b)
#define vsub(a, b) _mm256_sub_ps (a, b)
#define vmul(a, b) _mm256_mul_ps (a, b)
#define vfma(a, b, c) _mm256_fmadd_ps (a, b, c)
#define vfnma(a, b, c) _mm256_fnmadd_ps (a, b, c)
#define vmin(a, b) _mm256_min_ps (a, b)
#define vabs(a) _mm256_andnot_ps (_mm256_set1_ps (-0.0f), a)
#define vround(a) _mm256_round_ps (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
static inline vf
vexp2 (vf a)
{
  return _mm256_castsi256_ps (
      _mm256_slli_epi32 (_mm256_add_epi32 (_mm256_cvtps_epi32 (a), _mm256_set1_epi32 (127)), 23));
}
typedef __m256d vd;
#define VD 4
#define vdset(x) _mm256_set1_pd (x)
#define vdload(p) _mm256_loadu_pd (p)
#define vdmul(a, b) _mm256_mul_pd (a, b)
#define vdfma(a, b, c) _mm256_fmadd_pd (a, b, c)
#define vdfnma(a, b, c) _mm256_fnmadd_pd (a, b, c)
#define vdadd(a, b) _mm256_add_pd (a, b)
#define vdsub(a, b) _mm256_sub_pd (a, b)
#define vdfloats(p) _mm256_cvtps_pd (_mm_loadu_ps (p))
#define vdtofloats(p, v) _mm_storeu_ps (p, _mm256_cvtpd_ps (v))
#define vdfraction(a) _mm256_sub_pd (a, _mm256_round_pd (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
static inline vf
vjoin (vd a, vd b)
{
  return _mm256_insertf128_ps (_mm256_castps128_ps256 (_mm256_cvtpd_ps (a)), _mm256_cvtpd_ps (b), 1);
}

#else /* the reference: one lane */
#define VW 1
#define BODY(name) name##_scalar
typedef float vf;
#define vset(x) ((float) (x))
#define vload(p) (*(p))
#define vstore(p, v) (*(p) = (v))
#define vadd(a, b) ((a) + (b))
#define vsub(a, b) ((a) - (b))
#define vmul(a, b) ((a) * (b))
#define vfma(a, b, c) ((a) * (b) + (c))
#define vfnma(a, b, c) ((c) - (a) * (b))
#define vmin(a, b) ((a) < (b) ? (a) : (b))
#define vabs(a) fabsf (a)
#define vround(a) rintf (a)
static inline vf
vexp2 (vf a)
{
  int32_t bits = ((int32_t) a + 127) << 23;
  memcpy (&a, &bits, sizeof a);
  return a;
}
typedef double vd;
#define VD 1
#define vdset(x) (x)
#define vdload(p) (*(p))
#define vdmul(a, b) ((a) * (b))
#define vdfma(a, b, c) ((a) * (b) + (c))
#define vdfnma(a, b, c) ((c) - (a) * (b))
#define vdadd(a, b) ((a) + (b))
#define vdsub(a, b) ((a) - (b))
#define vdfloats(p) ((double) *(p))
#define vdtofloats(p, v) (*(p) = (float) (v))
#define vdfraction(a) ((a) -rint (a))
#endif

/* b0 dt + x m0 + y m1 + z m2 of VD lanes, turns. */
static inline vd
BODY (turns) (const double *b0, const double *x, const double *y, const double *z, double dt, const double *m)
{
  vd t = vdmul (vdload (b0), vdset (dt));
  return vdfma (vdload (z), vdset (m[2]), vdfma (vdload (y), vdset (m[1]), vdfma (vdload (x), vdset (m[0]), t)));
}

/* The same of VW lanes, less whole turns, as floats. */
static inline vf
BODY (fraction) (const double *b0, const double *x, const double *y, const double *z, double dt, const double *m)
{
  vd a = vdfraction (BODY (turns) (b0, x, y, z, dt, m));
#if VW > 1
  return vjoin (a, vdfraction (BODY (turns) (b0 + VD, x + VD, y + VD, z + VD, dt, m)));
#else
  return (float) a;
#endif
}

/* Sine and cosine of 2 pi t, |t| <= 1/2: by quarter turns, then Taylor's series within an eighth of a turn. The error is
 * below 1.5e-7, on every instruction set. */
static inline void
BODY (sincos) (vf t, vf *sine, vf *cosine)
{
  vf q = vround (vmul (t, vset (4))), y = vmul (vfnma (q, vset (0.25f), t), vset (6.283185307179586f)), s = vmul (y, y);
  vf a = vfma (s, vset (1 / 362880.0f), vset (-1 / 5040.0f));
  a = vfma (s, a, vset (1 / 120.0f));
  a = vfma (s, a, vset (-1 / 6.0f));
  a = vfma (vmul (s, y), a, y);
  vf b = vfma (s, vset (-1 / 3628800.0f), vset (1 / 40320.0f));
  b = vfma (s, b, vset (-1 / 720.0f));
  b = vfma (s, b, vset (1 / 24.0f));
  b = vfma (s, b, vset (-0.5f));
  b = vfma (s, b, vset (1));
  vf c4 = vsub (vset (1), vabs (q)), s4 = vmul (q, vsub (vset (2), vabs (q))); /* of whole quarters: 0, 1, -1 */
  *sine = vfma (a, c4, vmul (b, s4));
  *cosine = vfnma (a, s4, vmul (b, c4));
}

/* 1 - exp (-x), x >= 0, to a few parts in 10^7 of itself however small x is. */
static inline vf
BODY (decay) (vf x)
{
  x = vmin (x, vset (87));
  vf n = vround (vmul (x, vset (-1.4426950408889634f)));
  vf r = vfnma (n, vset (0.693359375f), vsub (vset (0), x));
  r = vfnma (n, vset (-2.12194440e-4f), r);
  vf p = vfma (r, vset (1 / 5040.0f), vset (1 / 720.0f));
  p = vfma (r, p, vset (1 / 120.0f));
  p = vfma (r, p, vset (1 / 24.0f));
  p = vfma (r, p, vset (1 / 6.0f));
  p = vfma (r, p, vset (0.5f));
  p = vfma (vmul (r, r), p, r); /* exp (r) - 1 */
  vf scale = vexp2 (n);
  return vsub (vsub (vset (1), scale), vmul (scale, p));
}
