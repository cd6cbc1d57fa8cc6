#include "mr/pools.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "mr/constants.h"
#include "mr/tissue-quantity.h"

#define N (2 * (LAM_EPG_WATERS + 1))

void
lam_pools_of (const double *tissue, int waters, int semisolid, LamPools *p)
{
  p->waters = waters;
  p->semisolid = semisolid;
  p->r1[0] = 1000 / fmax (tissue[LAM_T1], 1e-6);
  p->r2[0] = 1000 / fmax (tissue[LAM_T2], 1e-6);
  p->shift[0] = 0;
  p->exchange[0] = 0;
  double free = 1;
  for (int i = 1; i < waters; i++) {
    const double *t = tissue + LAM_POOL_FRACTION + 5 * (i - 1);
    p->fraction[i] = t[0];
    p->exchange[i] = t[1];
    p->r1[i] = 1000 / fmax (t[2], 1e-6);
    p->r2[i] = 1000 / fmax (t[3], 1e-6);
    p->shift[i] = t[4];
    free -= t[0];
  }
  if (semisolid) {
    p->fraction[waters] = tissue[LAM_BOUND_FRACTION];
    p->exchange[waters] = tissue[LAM_BOUND_EXCHANGE];
    p->r1[waters] = 1000 / fmax (tissue[LAM_BOUND_T1], 1e-6);
    free -= tissue[LAM_BOUND_FRACTION];
  }
  p->fraction[0] = free;
}

void
lam_pools_generators (const LamPools *p, double *a, double *c)
{
  int w = p->waters, n = w + p->semisolid;
  memset (a, 0, n * n * sizeof *a);
  memset (c, 0, 2 * w * w * sizeof *c);
  a[0] = -p->r1[0];
  c[0] = -p->r2[0];
  for (int i = 1; i < n; i++) {
    double out = p->exchange[i] * p->fraction[i], in = p->exchange[i] * p->fraction[0];
    a[0] -= out;
    a[i] = in;
    a[i * n] = out;
    a[i * n + i] = -in - p->r1[i];
    if (i >= w)
      continue;
    c[0] -= out;
    c[2 * i] = in;
    c[2 * i * w] = out;
    c[2 * (i * w + i)] = -in - p->r2[i];
    c[2 * (i * w + i) + 1] = -2 * LAM_PI * p->shift[i];
  }
}

/* ---- matrix exponentials ---- */

static void
multiply (int n, const double complex *a, const double complex *b, double complex *out)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double complex s = 0;
      for (int k = 0; k < n; k++) /* written out: the library's product checks for infinities */
        s += CMPLX (creal (a[i * n + k]) * creal (b[k * n + j]) - cimag (a[i * n + k]) * cimag (b[k * n + j]),
                    creal (a[i * n + k]) * cimag (b[k * n + j]) + cimag (a[i * n + k]) * creal (b[k * n + j]));
      out[i * n + j] = s;
    }
}

static void
expm (int n, const double complex *a, double complex *out)
{
  double complex x[N * N] = {0}, term[N * N], next[N * N];
  double norm = 0;
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < n; j++)
      row += fabs (creal (a[i * n + j])) + fabs (cimag (a[i * n + j]));
    norm = fmax (norm, row);
  }
  int halvings = norm > 0.5 ? (int) fmin (ceil (log2 (norm)) + 1, 1000) : 0;
  double scale = ldexp (1, -halvings);
  for (int i = 0; i < n * n; i++) {
    x[i] = a[i] * scale;
    out[i] = term[i] = i % (n + 1) == 0;
  }
  for (int k = 1; k <= 14; k++) {
    multiply (n, term, x, next);
    for (int i = 0; i < n * n; i++) {
      term[i] = next[i] / k;
      out[i] += term[i];
    }
  }
  for (int k = 0; k < halvings; k++) {
    multiply (n, out, out, next);
    memcpy (out, next, n * n * sizeof *out);
  }
}

void
lam_expm_complex (int n, const double *a, double *out)
{
  double complex x[N * N] = {0}, y[N * N];
  for (int i = 0; i < n * n; i++)
    x[i] = CMPLX (a[2 * i], a[2 * i + 1]);
  expm (n, x, y);
  for (int i = 0; i < n * n; i++) {
    out[2 * i] = creal (y[i]);
    out[2 * i + 1] = cimag (y[i]);
  }
}

/* Two pools, in closed form (spec section 2.9). */
static void
expm_two (const double *a, double *out)
{
  double h = (a[0] + a[3]) / 2, p = (a[0] - a[3]) / 2, q = p * p + a[1] * a[2];
  double d = sqrt (fmax (q, 0)), ch, sh; /* cosh d, sinh d / d, both times exp h */
  if (q < 1e-8) {
    double e = exp (h);
    ch = e * (1 + q / 2 + q * q / 24);
    sh = e * (1 + q / 6 + q * q / 120);
  } else {
    double up = exp (h + d), down = exp (h - d);
    ch = (up + down) / 2;
    sh = d < 0.5 ? exp (h) * sinh (d) / d : (up - down) / (2 * d);
  }
  out[0] = ch + sh * (a[0] - h);
  out[1] = sh * a[1];
  out[2] = sh * a[2];
  out[3] = ch + sh * (a[3] - h);
}

void
lam_expm_real (int n, const double *a, double *out)
{
  if (n == 2 && a[1] * a[2] >= 0) {
    expm_two (a, out);
    return;
  }
  double complex x[N * N] = {0}, y[N * N];
  for (int i = 0; i < n * n; i++)
    x[i] = a[i];
  expm (n, x, y);
  for (int i = 0; i < n * n; i++)
    out[i] = creal (y[i]);
}

void
lam_pools_relax (const LamPools *p, double dt, double wash, double *out)
{
  int w = p->waters, n = w + p->semisolid;
  double a[36], c[2 * LAM_EPG_WATERS * LAM_EPG_WATERS], *e = out + LAM_EPG_TRANSVERSE (w);
  lam_pools_generators (p, a, c);
  for (int i = 0; i < n * n; i++)
    a[i] *= dt;
  for (int i = 0; i < 2 * w * w; i++)
    c[i] *= dt;
  lam_expm_complex (w, c, out);
  lam_expm_real (n, a, e);
  for (int i = 0; i < LAM_EPG_TRANSVERSE (w); i++)
    out[i] *= wash;
  for (int i = 0; i < n * n; i++)
    e[i] *= wash;
  for (int i = 0; i < n; i++) {
    double s = p->fraction[i];
    for (int j = 0; j < n; j++)
      s -= e[i * n + j] * p->fraction[j];
    e[n * n + i] = s;
  }
}
