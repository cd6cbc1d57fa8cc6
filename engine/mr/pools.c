#include "mr/pools.h"

#include <complex.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "mr/constants.h"
#include "mr/tissue.h"

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

/* Two complex pools: the same with a complex root. */
static void
expm_two_complex (const double *m, double *out)
{
  double complex a = CMPLX (m[0], m[1]), b = CMPLX (m[2], m[3]), c = CMPLX (m[4], m[5]), d = CMPLX (m[6], m[7]);
  double complex h = (a + d) / 2, p = (a - d) / 2, q = p * p + b * c, root = csqrt (q), ch, sh;
  if (cabs (q) < 1e-6) {
    double complex e = cexp (h);
    ch = e * (1 + q / 2 + q * q / 24);
    sh = e * (1 + q / 6 + q * q / 120);
  } else {
    double complex up = cexp (h + root), down = cexp (h - root);
    ch = (up + down) / 2;
    sh = (up - down) / (2 * root);
  }
  double complex y[4] = {ch + sh * (a - h), sh * b, sh * c, ch + sh * (d - h)};
  for (int i = 0; i < 4; i++) {
    out[2 * i] = creal (y[i]);
    out[2 * i + 1] = cimag (y[i]);
  }
}

void
lam_expm_complex (int n, const double *a, double *out)
{
  double complex x[N * N] = {0}, y[N * N];
  if (n == 1) {
    double e = exp (a[0]);
    out[0] = e * cos (a[1]);
    out[1] = e * sin (a[1]);
    return;
  }
  if (n == 2) {
    expm_two_complex (a, out);
    return;
  }
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
  if (n == 1) {
    out[0] = exp (a[0]);
    return;
  }
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

/* ---- derivatives ---- */

/* d generators / d @by: they are at most quadratic in fractions, rates and shifts, so a central difference is exact; T1 and T2
 * enter as rates. */
static void
generators_by (const double *tissue, int waters, int semisolid, int by, double *da, double *dc)
{
  double t[LAM_TISSUE_QUANTITIES], up[36], down[36], cu[50], cd[50], factor = 1, h = 0.5;
  LamPools p;
  int n = waters + semisolid;
  memcpy (t, tissue, sizeof t);
  gboolean time = by == LAM_T1 || by == LAM_T2 || by == LAM_BOUND_T1;
  for (int i = 0; i < LAM_POOLS; i++)
    time |= by == LAM_POOL_T1 + 5 * i || by == LAM_POOL_T2 + 5 * i;
  if (time) { /* by the rate 1000 / T, one 1/s either way */
    double value = fmax (tissue[by], 1e-6), rate = 1000 / value;
    factor = -1000 / (value * value);
    t[by] = 1000 / (rate + h);
    lam_pools_of (t, waters, semisolid, &p);
    lam_pools_generators (&p, up, cu);
    /* The rate only adds to the diagonal: the other side is as far away. */
    t[by] = value;
    lam_pools_of (t, waters, semisolid, &p);
    lam_pools_generators (&p, down, cd);
    h /= 2;
  } else {
    t[by] = tissue[by] + h;
    lam_pools_of (t, waters, semisolid, &p);
    lam_pools_generators (&p, up, cu);
    t[by] = tissue[by] - h;
    lam_pools_of (t, waters, semisolid, &p);
    lam_pools_generators (&p, down, cd);
  }
  for (int i = 0; i < n * n; i++)
    da[i] = factor * (up[i] - down[i]) / (2 * h);
  for (int i = 0; i < 2 * waters * waters; i++)
    dc[i] = factor * (cu[i] - cd[i]) / (2 * h);
}

/* Upper right block of exp ([[a, d], [0, a]]): the derivative of exp (a) along d (complex, re and im beside each other). */
static void
expm_along (int n, const double *a, const double *d, double *out)
{
  double block[2 * N * N] = {0}, e[2 * N * N];
  int m = 2 * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int c = 0; c < 2; c++) {
        block[2 * (i * m + j) + c] = block[2 * ((n + i) * m + n + j) + c] = a[2 * (i * n + j) + c];
        block[2 * (i * m + n + j) + c] = d[2 * (i * n + j) + c];
      }
  lam_expm_complex (m, block, e);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int c = 0; c < 2; c++)
        out[2 * (i * n + j) + c] = e[2 * (i * m + n + j) + c];
}

static double
washed (const double *tissue, double dt, double voxel, double *by_v, double *by_t)
{
  double v = tissue[LAM_VELOCITY], gone = voxel > 0 ? fabs (v) / voxel * dt : 0;
  gboolean open = voxel > 0 && gone < 1;
  *by_v = open && v != 0 ? -(v > 0 ? 1 : -1) / voxel * dt : 0;
  *by_t = open ? -fabs (v) / voxel : 0;
  return 1 - fmin (gone, 1);
}

/* What recovers is fraction - E fraction. */
static void
back_by (const LamPools *p, const double *e, const double *de, const double *dfraction, double *back)
{
  int n = p->waters + p->semisolid;
  for (int i = 0; i < n; i++) {
    back[i] = dfraction[i];
    for (int j = 0; j < n; j++)
      back[i] -= de[i * n + j] * p->fraction[j] + e[i * n + j] * dfraction[j];
  }
}

void
lam_pools_relax_by (const double *tissue, int waters, int semisolid, int by, double dt, double voxel, double *out)
{
  int n = waters + semisolid, floats = LAM_EPG_POOL_FLOATS (waters, semisolid);
  double e[LAM_EPG_POOL_FLOATS (LAM_EPG_WATERS, 1)], by_v, by_t, wash = washed (tissue, dt, voxel, &by_v, &by_t);
  double dfraction[LAM_EPG_WATERS + 1] = {0}, *el = e + LAM_EPG_TRANSVERSE (waters),
                                    *dl = out + LAM_EPG_TRANSVERSE (waters);
  LamPools p;
  memset (out, 0, floats * sizeof *out);
  lam_pools_of (tissue, waters, semisolid, &p);
  if (by == LAM_VELOCITY) {
    lam_pools_relax (&p, dt, 1, e);
    for (int i = 0; i < floats; i++)
      out[i] = by_v * e[i];
    back_by (&p, el, dl, dfraction, dl + n * n);
    return;
  }
  if (waters == 1 && !semisolid) {
    if (by == LAM_T1) {
      double t = fmax (tissue[LAM_T1], 1e-6);
      dl[0] = isinf (t) ? 0 : exp (-1000 * dt / t) * 1000 * dt / (t * t) * wash;
      dl[1] = -dl[0];
    } else if (by == LAM_T2) {
      double t = fmax (tissue[LAM_T2], 1e-6);
      out[0] = isinf (t) ? 0 : exp (-1000 * dt / t) * 1000 * dt / (t * t) * wash;
    }
    return;
  }
  if (by != LAM_T1 && by != LAM_T2 && (by < LAM_BOUND_FRACTION || by >= LAM_T2_PRIME))
    return;
  double a[36], c[50], da[36], dc[50], ca[72] = {0}, cda[72] = {0}, cout[72];
  lam_pools_generators (&p, a, c);
  generators_by (tissue, waters, semisolid, by, da, dc);
  for (int i = 0; i < n * n; i++) {
    ca[2 * i] = a[i] * dt;
    cda[2 * i] = da[i] * dt;
  }
  for (int i = 0; i < 2 * waters * waters; i++) {
    c[i] *= dt;
    dc[i] *= dt;
  }
  lam_pools_relax (&p, dt, wash, e);
  expm_along (waters, c, dc, out);
  expm_along (n, ca, cda, cout);
  for (int i = 0; i < LAM_EPG_TRANSVERSE (waters); i++)
    out[i] *= wash;
  for (int i = 0; i < n * n; i++)
    dl[i] = cout[2 * i] * wash;
  for (int i = 1; i < n; i++)
    if (by == (i < waters ? LAM_POOL_FRACTION + 5 * (i - 1) : LAM_BOUND_FRACTION)) {
      dfraction[i] = 1;
      dfraction[0] = -1;
    }
  back_by (&p, el, dl, dfraction, dl + n * n);
}

void
lam_pools_relax_by_time (const double *tissue, int waters, int semisolid, double dt, double voxel, double *out)
{
  int n = waters + semisolid;
  double e[LAM_EPG_POOL_FLOATS (LAM_EPG_WATERS, 1)], a[36], c[50], by_v, by_t,
      wash = washed (tissue, dt, voxel, &by_v, &by_t);
  double dfraction[LAM_EPG_WATERS + 1] = {0}, *el = e + LAM_EPG_TRANSVERSE (waters),
                                    *dl = out + LAM_EPG_TRANSVERSE (waters);
  LamPools p;
  lam_pools_of (tissue, waters, semisolid, &p);
  lam_pools_generators (&p, a, c);
  lam_pools_relax (&p, dt, 1, e);
  for (int i = 0; i < waters; i++)
    for (int j = 0; j < waters; j++) {
      double re = 0, im = 0;
      for (int k = 0; k < waters; k++) {
        const double *x = c + 2 * (i * waters + k), *y = e + 2 * (k * waters + j);
        re += x[0] * y[0] - x[1] * y[1];
        im += x[0] * y[1] + x[1] * y[0];
      }
      out[2 * (i * waters + j)] = wash * re + by_t * e[2 * (i * waters + j)];
      out[2 * (i * waters + j) + 1] = wash * im + by_t * e[2 * (i * waters + j) + 1];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * el[k * n + j];
      dl[i * n + j] = wash * s + by_t * el[i * n + j];
    }
  back_by (&p, el, dl, dfraction, dl + n * n);
}
