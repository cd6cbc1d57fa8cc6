/* prior-body.h: the qGGMRF prior and the small array kernels, one body for every instruction set (kernels.h).
 *
 * The influence coefficient of one neighbour (spec (6.1)), a = max (|delta| / (T sigma_x), eps), A = a^(q-p):
 *   g = (T^(p-2) / sigma_x^2) a^(q-2) (q/p + A) / (1 + A)^2,  gradient = sum b g delta,  Hessian = sum b g. */
#include "ct/kernels.h"
#include "core/vector.h"

/* a^r for a normal, positive a: exp2 (r log2 a), the integer part of the exponent kept apart so that it costs no digits. */
static inline vf
BODY (power) (vf a, float r)
{
  vf m, e = vfrexp (a, &m);
  vf s = vdiv (vsub (m, vset (1)), vadd (m, vset (1))), s2 = vmul (s, s);
  vf p = vfma (s2, vset (2.88539008f / 9), vset (2.88539008f / 7));
  p = vfma (s2, p, vset (2.88539008f / 5));
  p = vfma (s2, p, vset (2.88539008f / 3));
  p = vmul (s, vfma (s2, p, vset (2.88539008f)));
  vf vr = vset (r), t = vmul (e, vr), rest = vfma (e, vr, vsub (vzero (), t)), l = vmul (p, vr);
  vf n = vround (vadd (t, l)), f = vadd (vadd (vsub (t, n), rest), l);
  vf x = vfma (f, vset (1.52527338e-5f), vset (1.54035304e-4f));
  x = vfma (f, x, vset (1.33335581e-3f));
  x = vfma (f, x, vset (9.61812911e-3f));
  x = vfma (f, x, vset (5.55041087e-2f));
  x = vfma (f, x, vset (2.40226507e-1f));
  x = vfma (f, x, vset (6.93147181e-1f));
  x = vfma (f, x, vset (1));
  return vldexp (x, n);
}

typedef struct {
  float inv_t_sigma, scale, ratio, q_minus_p, q_minus_2;
  int p_is_2;
} BODY (Influence);

static inline vf
BODY (influence) (const BODY (Influence) * k, vf delta)
{
  vf a = vmax (vmul (vabs (delta), vset (k->inv_t_sigma)), vset (1.1920929e-7f));
  vf big = BODY (power) (a, k->q_minus_p);
  vf lead = k->p_is_2 ? big : BODY (power) (a, k->q_minus_2);
  vf r = vdiv (vset (1), vadd (vset (1), big));
  return vmul (vmul (vmul (vset (k->scale), lead), r), vmul (vadd (vset (k->ratio), big), r));
}

static inline void
BODY (prior_vector) (const BODY (Influence) * k, const float b[3], vf c, const vf near[6], vf *gradient, vf *hessian)
{
  vf gsum = vzero (), hsum = vzero ();
  for (int i = 0; i < 6; i++) {
    vf delta = vsub (c, near[i]), g = vmul (vset (b[i / 2]), BODY (influence) (k, delta));
    gsum = vfma (g, delta, gsum);
    hsum = vadd (hsum, g);
  }
  *gradient = gsum;
  *hessian = hsum;
}

static void
BODY (prior) (const LamPriorParams *params, int64_t n, const float *c, const float *up, const float *down,
              const float *left, const float *right, const float *before, const float *after, float *gradient,
              float *hessian)
{
  const float b[3] = {(float) params->b_row, (float) params->b_column, (float) params->b_slice};
  const BODY (Influence) k = {
      .inv_t_sigma = (float) (1 / (params->t * params->sigma_x)),
      .scale = (float) (pow (params->t, params->p - 2) / (params->sigma_x * params->sigma_x)),
      .ratio = (float) (params->q / params->p),
      .q_minus_p = (float) (params->q - params->p),
      .q_minus_2 = (float) (params->q - 2),
      .p_is_2 = params->p == 2,
  };
  const float *const near[6] = {up, down, left, right, before, after};
  vf v[6], g, h;
  int64_t i = 0;
  for (; i + VW <= n; i += VW) {
    for (int j = 0; j < 6; j++)
      v[j] = vload (near[j] + i);
    BODY (prior_vector) (&k, b, vload (c + i), v, &g, &h);
    vstore (gradient + i, g);
    vstore (hessian + i, h);
  }
  if (VW > 1 && i < n) {
    for (int j = 0; j < 6; j++)
      v[j] = vload_n (near[j] + i, n - i);
    BODY (prior_vector) (&k, b, vload_n (c + i, n - i), v, &g, &h);
    vstore_n (gradient + i, g, n - i);
    vstore_n (hessian + i, h, n - i);
  }
}

/* rho (delta) = |delta|^p / (p sigma^p) A / (1 + A), delta floored as above. */
static inline vf
BODY (potential) (const BODY (Influence) * k, vf delta, float t, float p)
{
  vf a = vmax (vmul (vabs (delta), vset (k->inv_t_sigma)), vset (1.1920929e-7f));
  vf big = BODY (power) (a, k->q_minus_p), u = vmul (a, vset (t));
  vf head = k->p_is_2 ? vmul (u, u) : BODY (power) (u, p);
  return vmul (vmul (head, vset (1 / p)), vdiv (big, vadd (vset (1), big)));
}

static void
BODY (volume_sums) (const LamPriorParams *params, int64_t n, const float *c, const float *down, const float *right,
                    const float *after, double *cost, double *acc)
{
  const float b[3] = {(float) params->b_row, (float) params->b_column, (float) params->b_slice};
  const float *const near[3] = {down, right, after};
  const BODY (Influence) k = {
      .inv_t_sigma = (float) (1 / (params->t * params->sigma_x)),
      .q_minus_p = (float) (params->q - params->p),
      .p_is_2 = params->p == 2,
  };
  for (int64_t i = 0; i < n; i += VW) {
    float lanes[VW];
    int64_t m = LAM_MIN (n - i, VW);
    vf sum = vzero (), x = m == VW ? vload (c + i) : vload_n (c + i, m);
    for (int j = 0; j < 3; j++)
      if (near[j]) {
        vf y = m == VW ? vload (near[j] + i) : vload_n (near[j] + i, m);
        sum = vfma (vset (b[j]), BODY (potential) (&k, vsub (x, y), (float) params->t, (float) params->p), sum);
      }
    vstore (lanes, sum);
    for (int64_t l = 0; l < m; l++) {
      cost[i + l] += lanes[l];
      acc[i + l] += fabsf (c[i + l]);
    }
  }
}

static void
BODY (direction) (int64_t n, float lambda, const float *restrict a, float *restrict g, const float *restrict hp,
                  const float *restrict h, float *restrict d, double *restrict acc, int64_t stride)
{
  double *restrict s0 = acc, *restrict s1 = acc + stride, *restrict s2 = acc + 2 * stride,
                   *restrict s3 = acc + 3 * stride;
  for (int64_t i = 0; i < n; i++) {
    float gi = g[i] - lambda * a[i], di = -gi / (lambda * h[i] + hp[i]);
    g[i] = gi;
    d[i] = di;
    s0[i] -= (double) gi * di;
    s1[i] += (double) hp[i] * ((double) di * di);
    s2[i] += fabsf (di);
    s3[i] += (double) di * di;
  }
}

static void
BODY (weigh) (int64_t n, float lambda, const float *restrict a, float *restrict g, const float *restrict hp,
              const float *restrict h, double *restrict acc, int64_t stride)
{
  double *restrict s0 = acc, *restrict s1 = acc + stride;
  for (int64_t i = 0; i < n; i++) {
    float gi = g[i] - lambda * a[i], inverse = 1 / (lambda * h[i] + hp[i]);
    g[i] = gi;
    s0[i] += (double) gi * inverse;
    s1[i] += inverse;
  }
}

static void
BODY (damped) (int64_t n, float lambda, const float *restrict g, const float *restrict shift, const float *restrict hp,
               const float *restrict h, float *restrict d, double *restrict acc, int64_t stride)
{
  double *restrict s0 = acc, *restrict s1 = acc + stride, *restrict s2 = acc + 2 * stride,
                   *restrict s3 = acc + 3 * stride;
  for (int64_t i = 0; i < n; i++) {
    float di = -(g[i] - shift[i]) / (lambda * h[i] + hp[i]);
    d[i] = di;
    s0[i] -= (double) g[i] * di;
    s1[i] += (double) hp[i] * ((double) di * di);
    s2[i] += fabsf (di);
    s3[i] += (double) di * di;
  }
}

/* Lane l takes the elements l, l + 32, l + 64 … of every line; the lanes are added in order at the end. */
static double
BODY (dot) (int64_t lines, int64_t n, int64_t stride, const float *a, const float *b, const float *w)
{
  enum { DOT_LANES = 32 };
  vd acc[DOT_LANES / VDW];
  double lane[DOT_LANES], tail[DOT_LANES] = {0}, sum = 0;
  for (int l = 0; l < DOT_LANES / VDW; l++)
    acc[l] = vdzero ();
  for (int64_t j = 0; j < lines; j++) {
    const float *p = a + j * stride, *q = b + j * stride, *r = w ? w + j * stride : NULL;
    int64_t i = 0;
    if (a == b && !r)
      for (; i + DOT_LANES <= n; i += DOT_LANES)
        for (int l = 0; l < DOT_LANES / VDW; l++) {
          vd x = vdload (p + i + VDW * l);
          acc[l] = vdfma (x, x, acc[l]);
        }
    else
      for (; i + DOT_LANES <= n; i += DOT_LANES)
        for (int l = 0; l < DOT_LANES / VDW; l++) {
          vd x = vdload (p + i + VDW * l), y = vdload (q + i + VDW * l);
          if (r)
            y = vdmul (y, vdload (r + i + VDW * l));
          acc[l] = vdfma (x, y, acc[l]);
        }
    for (int l = 0; i < n; i++, l++)
      tail[l] += (r ? (double) r[i] : 1.0) * ((double) p[i] * (double) q[i]);
  }
  for (int l = 0; l < DOT_LANES / VDW; l++)
    vdstore (lane + VDW * l, acc[l]);
  for (int l = 0; l < DOT_LANES; l++)
    sum += lane[l] + tail[l];
  return sum;
}

static void
BODY (axpy) (int64_t n, float s, const float *x, float *y)
{
  vf v = vset (s);
  int64_t i = 0;
  for (; i + VW <= n; i += VW)
    vstore (y + i, vfma (v, vload (x + i), vload (y + i)));
  if (VW > 1 && i < n)
    vstore_n (y + i, vfma (v, vload_n (x + i, n - i), vload_n (y + i, n - i)), n - i);
}

static void
BODY (multiply) (int64_t n, const float *w, const float *x, float *y)
{
  int64_t i = 0;
  for (; i + VW <= n; i += VW)
    vstore (y + i, vmul (vload (w + i), vload (x + i)));
  if (VW > 1 && i < n)
    vstore_n (y + i, vmul (vload_n (w + i, n - i), vload_n (x + i, n - i)), n - i);
}
