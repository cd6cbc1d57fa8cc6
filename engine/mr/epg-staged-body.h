/* epg-staged-body.h: derivatives with any physics, forward and reverse. The same passes as epg-body.h's, but as stages in
 * place, in the frame of the laboratory: relax, wind, rotate, take samples, wind. Every stage is linear in the state, x' = A x, so
 *  - forward: t' = A t + (dA) x. For a rotation (dA) x is the turn vector of what changes, applied to x' ; for relaxation it is a
 *    matrix where pools exchange, and a factor of each order of x' for what all pools share (precession, diffusion, flow);
 *  - reverse: the cotangent goes back through A^T, and what it says of (dA) x is summed over the orders.
 * The inner product is the real one, Re (conj a b), over F+, F- and Z of every order (spec section 4). */
#pragma once

#include "mr/epg-body.h"

/* A state: planes of `orders` orders, one after the other. */
typedef struct {
  float *x;
  int orders;
} Flat;

typedef struct {
  Walk w; /* tables, lane; its own states are not used */
  const LamEpgDerivative *d;
  int pools, waters, planes, floats;
  float *turn; /* [durations][2][VW] */
} Stage;

#define PLANE(s, i, f) ((s).x + (int64_t) (PLANES * (i) + (f)) * (s).orders * VW)

INLINE void
multiply (vf *re, vf *im, vf br, vf bi)
{
  vf x = vfnma (*im, bi, vmul (*re, br));
  *im = vfma (*im, br, vmul (*re, bi));
  *re = x;
}

INLINE const float *
exchange_at (const Stage *s, const float *table, int64_t duration)
{
  return table + duration * s->floats * LAM_EPG_WIDTH + s->w.lane;
}

#define ENTRY(e, i) vload ((e) + (int64_t) (i) *LAM_EPG_WIDTH)

/* What all pools share in one duration, for order @k: factors of F+, F-, Z (re, im). */
INLINE void
shared_factors (const Stage *s, int duration, int k, vf f[PLANES])
{
  const Walk *w = &s->w;
  f[FPR] = f[FMR] = f[ZR] = vset (1.0f);
  f[FPI] = f[FMI] = f[ZI] = vzero ();
  if (w->p->precessing) {
    const float *t = s->turn + (int64_t) duration * 2 * VW;
    f[FPR] = f[FMR] = vload (t);
    f[FPI] = vload (t + VW);
    f[FMI] = vneg (f[FPI]);
  }
  if (w->p->ordered) {
    const int64_t plane = (int64_t) w->kept * VW;
    for (int i = 0; i < PLANES; i += 2)
      multiply (&f[i], &f[i + 1], vload (w->order + i * plane + k * VW), vload (w->order + (i + 1) * plane + k * VW));
  }
}

/* Written once for any pools and compiled for the common ones: @waters, @pools and @shared (whether shared_factors () does
 * anything) are constants there. */
INLINE void
relax_with (const Stage *s, const float *e, int duration, Flat src, Flat dst, int n, bool add, bool back,
            const int waters, const int pools, const bool shared)
{
  const float *l = e + LAM_EPG_TRANSVERSE (waters) * LAM_EPG_WIDTH;
  for (int k = 0; k < n; k++) {
    vf f[PLANES], y[LAM_EPG_WATERS + 1][PLANES];
    if (shared)
      shared_factors (s, duration, k, f);
    for (int i = 0; i < pools; i++)
      for (int q = 0; q < PLANES; q++)
        y[i][q] = vzero ();
    for (int j = 0; j < waters; j++) {
      vf pr = vload (AT (PLANE (src, j, FPR), k)), pi = vload (AT (PLANE (src, j, FPI), k));
      vf mr = vload (AT (PLANE (src, j, FMR), k)), mi = vload (AT (PLANE (src, j, FMI), k));
      for (int i = 0; i < waters; i++) {
        vf cr = ENTRY (e, 2 * (i * waters + j)), ci = ENTRY (e, 2 * (i * waters + j) + 1);
        y[i][FPR] = vfnma (pi, ci, vfma (pr, cr, y[i][FPR]));
        y[i][FPI] = vfma (pi, cr, vfma (pr, ci, y[i][FPI]));
        y[i][FMR] = vfma (mi, ci, vfma (mr, cr, y[i][FMR]));
        y[i][FMI] = vfnma (mr, ci, vfma (mi, cr, y[i][FMI]));
      }
    }
    for (int j = 0; j < pools; j++)
      for (int i = 0; i < pools; i++) {
        vf c = ENTRY (l, i * pools + j);
        y[i][ZR] = vfma (c, vload (AT (PLANE (src, j, ZR), k)), y[i][ZR]);
        y[i][ZI] = vfma (c, vload (AT (PLANE (src, j, ZI), k)), y[i][ZI]);
      }
    for (int i = 0; i < pools; i++) {
      for (int q = i < waters ? FPR : ZR; shared && q < PLANES; q += 2)
        multiply (&y[i][q], &y[i][q + 1], f[q], f[q + 1]);
      if (back && k == 0)
        y[i][ZR] = vadd (y[i][ZR], ENTRY (l, pools * pools + i));
      for (int q = i < waters ? FPR : ZR; q < PLANES; q++) {
        float *to = AT (PLANE (dst, i, q), k);
        vstore (to, add ? vadd (vload (to), y[i][q]) : y[i][q]);
      }
    }
  }
}

/* Of one water alone, and of any pools. */
#define BY_POOLS(s, call)                                                                                              \
  do {                                                                                                                 \
    if ((s)->pools > 1)                                                                                                \
      call ((s)->waters, (s)->pools, true);                                                                            \
    else if ((s)->w.p->precessing || (s)->w.p->ordered)                                                                \
      call (1, 1, true);                                                                                               \
    else                                                                                                               \
      call (1, 1, false);                                                                                              \
  } while (0)

/* dst (+)= E src of the first @n orders, factors included; with @back recovery is added. @e in LAM_EPG_POOL_FLOATS order. */
static void
relax (const Stage *s, const float *e, int duration, Flat src, Flat dst, int n, bool add, bool back)
{
#define CALL(waters, pools, shared) relax_with (s, e, duration, src, dst, n, add, back, waters, pools, shared)
  BY_POOLS (s, CALL);
#undef CALL
}

/* Windings, in place. */
static void
wind (const Stage *s, Flat x, int n)
{
  const int64_t rest = x.orders - n;
  for (int i = 0; n > 0 && i < s->waters; i++)
    for (int q = 0; q < 2; q++) {
      float *p = PLANE (x, i, FPR + q), *m = PLANE (x, i, FMR + q);
      vf low[LAM_EPG_MARGIN];
      for (int j = 0; j < n; j++) { /* F+ at j is the conjugate of F- at n - j */
        vf v = n - j < x.orders ? vload (AT (m, n - j)) : vzero ();
        low[j] = q ? vneg (v) : v;
      }
      if (rest > 0) {
        memmove (AT (p, n), p, rest * VW * sizeof (float));
        memmove (m, AT (m, n), rest * VW * sizeof (float));
      }
      for (int j = 0; j < LAM_MIN (n, x.orders); j++) {
        vstore (AT (p, j), low[j]);
        vstore (AT (m, x.orders - 1 - j), vzero ());
      }
    }
}

/* Its transpose, one order at a time. */
static void
unwind (const Stage *s, Flat x, int n)
{
  for (; n > 0; n--)
    for (int i = 0; i < s->waters; i++)
      for (int q = 0; q < 2; q++) {
        float *p = PLANE (x, i, FPR + q), *m = PLANE (x, i, FMR + q);
        vf low = q ? vneg (vload (p)) : vload (p);
        const int64_t rest = x.orders - 1;
        memmove (p, AT (p, 1), rest * VW * sizeof (float));
        memmove (AT (m, 1), m, rest * VW * sizeof (float));
        vstore (AT (p, rest), vzero ());
        vstore (m, vzero ());
        if (rest > 0)
          vstore (AT (m, 1), vadd (vload (AT (m, 1)), low));
      }
}

typedef struct {
  vf c, s, in_re, in_im, out_re, out_im;
} Rotation;

static Rotation
rotation_of (const Stage *s, const LamEpgPass *pass)
{
  Rotation r;
  rotation (&s->w, pass, &r.c, &r.s, &r.in_re, &r.in_im, &r.out_re, &r.out_im);
  return r;
}

/* In place; @transposed: with the angle and the frames turned back. */
static void
rotate (const Stage *s, const Rotation *r, Flat x, int n, bool transposed)
{
  const vf half = vset (0.5f), sine = transposed ? vneg (r->s) : r->s, ch = vmul (r->c, half), sh = vmul (sine, half);
  const vf ir = transposed ? r->out_re : r->in_re, ii = transposed ? r->out_im : r->in_im;
  const vf outr = transposed ? r->in_re : r->out_re, outi = transposed ? r->in_im : r->out_im;
  for (int i = 0; i < s->waters; i++)
    for (int k = 0; k < n; k++) {
      float *at[PLANES];
      vf v[PLANES];
      for (int q = 0; q < PLANES; q++) {
        at[q] = AT (PLANE (x, i, q), k);
        v[q] = vload (at[q]);
      }
      multiply (&v[FPR], &v[FPI], ir, vneg (ii));
      multiply (&v[FMR], &v[FMI], ir, ii);
      vf ur = vmul (half, vadd (v[FPR], v[FMR])), ui = vmul (half, vadd (v[FPI], v[FMI]));
      vf dr = vsub (v[FPR], v[FMR]), di = vsub (v[FPI], v[FMI]);
      /* The transposed of f = c d/2 - i s Z, Z' = c Z - i s d/2 has Z's part twice and d's part half as large. */
      vf zs = transposed ? sh : sine, ds = transposed ? sine : sh;
      vf hr = vfma (zs, v[ZI], vmul (ch, dr)), hi = vfnma (zs, v[ZR], vmul (ch, di));
      vf pr = vadd (ur, hr), pi = vadd (ui, hi), mr = vsub (ur, hr), mi = vsub (ui, hi);
      multiply (&pr, &pi, outr, outi);
      multiply (&mr, &mi, outr, vneg (outi));
      vstore (at[FPR], pr);
      vstore (at[FPI], pi);
      vstore (at[FMR], mr);
      vstore (at[FMI], mi);
      vstore (at[ZR], vfma (r->c, v[ZR], vmul (ds, di)));
      vstore (at[ZI], vfnma (ds, dr, vmul (r->c, v[ZI])));
    }
}

/* t += turn vector (x, y, z) applied to the turned state. */
static void
add_turn (const Stage *s, const vf g[3], Flat from, Flat t, int n)
{
  const vf half = vset (0.5f);
  for (int i = 0; i < s->waters; i++)
    for (int k = 0; k < n; k++) {
      vf v[PLANES];
      float *at[PLANES];
      for (int q = 0; q < PLANES; q++) {
        v[q] = vload (AT (PLANE (from, i, q), k));
        at[q] = AT (PLANE (t, i, q), k);
      }
      /* -i (gx + i gy) Z + i gz F+ and its like */
      vf ar = vfma (g[0], v[ZI], vmul (g[1], v[ZR])), ai = vfnma (g[0], v[ZR], vmul (g[1], v[ZI]));
      vf br = vfnma (g[0], v[ZI], vmul (g[1], v[ZR])), bi = vfma (g[0], v[ZR], vmul (g[1], v[ZI]));
      ar = vfnma (g[2], v[FPI], ar);
      ai = vfma (g[2], v[FPR], ai);
      br = vfma (g[2], v[FMI], br);
      bi = vfnma (g[2], v[FMR], bi);
      vf dr = vsub (v[FPR], v[FMR]), di = vsub (v[FPI], v[FMI]), ur = vadd (v[FPR], v[FMR]), ui = vadd (v[FPI], v[FMI]);
      vf zr = vmul (half, vfnma (g[1], ur, vmul (g[0], di))), zi = vmul (half, vneg (vfma (g[1], ui, vmul (g[0], dr))));
      vstore (at[FPR], vadd (vload (at[FPR]), ar));
      vstore (at[FPI], vadd (vload (at[FPI]), ai));
      vstore (at[FMR], vadd (vload (at[FMR]), br));
      vstore (at[FMI], vadd (vload (at[FMI]), bi));
      vstore (at[ZR], vadd (vload (at[ZR]), zr));
      vstore (at[ZI], vadd (vload (at[ZI]), zi));
    }
}

/* Re (conj lambda, turn about each axis applied to the turned state): three sums over the orders. */
static void
read_turn (const Stage *s, Flat from, Flat lambda, int n, vf g[3])
{
  const vf half = vset (0.5f);
  g[0] = g[1] = g[2] = vzero ();
  for (int i = 0; i < s->waters; i++)
    for (int k = 0; k < n; k++) {
      vf v[PLANES], l[PLANES];
      for (int q = 0; q < PLANES; q++) {
        v[q] = vload (AT (PLANE (from, i, q), k));
        l[q] = vload (AT (PLANE (lambda, i, q), k));
      }
      vf dr = vsub (v[FPR], v[FMR]), di = vsub (v[FPI], v[FMI]), ur = vadd (v[FPR], v[FMR]), ui = vadd (v[FPI], v[FMI]);
      vf lr = vsub (l[FPR], l[FMR]), li = vsub (l[FPI], l[FMI]), kr = vadd (l[FPR], l[FMR]), ki = vadd (l[FPI], l[FMI]);
      vf x = vfnma (v[ZR], li, vmul (v[ZI], lr)), y = vfma (v[ZI], ki, vmul (v[ZR], kr));
      x = vfma (half, vfnma (l[ZI], dr, vmul (l[ZR], di)), x);
      y = vfnma (half, vfma (l[ZI], ui, vmul (l[ZR], ur)), y);
      vf z = vfnma (v[FPI], l[FPR], vmul (v[FPR], l[FPI]));
      z = vadd (z, vfnma (v[FMR], l[FMI], vmul (v[FMI], l[FMR])));
      g[0] = vadd (g[0], x);
      g[1] = vadd (g[1], y);
      g[2] = vadd (g[2], z);
    }
}

/* The turn vector of one rad more of flip (of the field), and of phase: z - R z. */
static void
turn_vectors (const Stage *s, const LamEpgPass *pass, const Rotation *r, vf flip[3], vf phase[3])
{
  const LamEpgPulse *pulse = &s->w.p->pulse[pass->rf];
  if (pulse->table >= 0) {
    const float *axis = s->d->axis + (int64_t) pulse->table * 3 * LAM_EPG_WIDTH + s->w.lane;
    for (int i = 0; i < 3; i++)
      flip[i] = vload (axis + i * LAM_EPG_WIDTH);
  } else {
    flip[0] = r->out_re;
    flip[1] = r->out_im;
    flip[2] = vzero ();
  }
  phase[0] = vneg (vmul (r->s, r->out_im));
  phase[1] = vmul (r->s, r->out_re);
  phase[2] = vsub (vset (1.0f), r->c);
}

static void
scale_z (Flat x, int pool, int n, vf by)
{
  for (int q = ZR; q <= ZI; q++)
    for (int k = 0; k < n; k++) {
      float *at = AT (PLANE (x, pool, q), k);
      vstore (at, vmul (by, vload (at)));
    }
}

/* ---- logarithmic derivatives by order: precession, diffusion, flow ---- */

/* d ln F+_k = a + b (k^2 + k + 1/3) + i (c + e (k + 1/2)); F- the like of epg-body.h; Z_k: b k^2 + i e k. */
typedef struct {
  vf precession, diffusion, flow;
  bool any;
} Logs;

/* Of one duration, by quantity @j (by a protocol value: for @slope s). */
static Logs
logs_of (const Stage *s, int j, int duration, float slope)
{
  const Walk *w = &s->w;
  const int tissue_of = s->d->by[j].tissue;
  const float dt = (float) w->p->duration[duration], wind = (float) w->p->winding;
  Logs l = {vzero (), vzero (), vzero (), false};
  if (tissue_of == LAM_B0 && w->p->precessing) {
    l.precession = vset (-6.2831853f * dt);
    l.any = true;
  } else if (tissue_of == LAM_DIFFUSION && w->p->ordered) {
    l.diffusion = vset (-1e-9f * wind * wind * dt);
    l.any = true;
  } else if (tissue_of == LAM_VELOCITY && w->p->ordered) {
    l.flow = vset (-wind * dt);
    l.any = true;
  } else if (tissue_of < 0 && slope != 0 && (w->p->precessing || w->p->ordered)) {
    l.precession = w->p->precessing ? vmul (tissue (w, LAM_B0), vset (-6.2831853f * slope)) : vzero ();
    if (w->p->ordered) {
      l.diffusion = vmul (tissue (w, LAM_DIFFUSION), vset (-1e-9f * wind * wind * slope));
      l.flow = vmul (tissue (w, LAM_VELOCITY), vset (-wind * slope));
    }
    l.any = true;
  }
  return l;
}

INLINE void
log_factors (const Stage *s, const Logs *l, int k, vf f[PLANES])
{
  const float up = k * (k + 1.0f) + 1.0f / 3, down = s->w.p->parity_diffusion ? up : k * (k - 1.0f) + 1.0f / 3;
  f[FPR] = vmul (l->diffusion, vset (up));
  f[FPI] = vfma (l->flow, vset (k + 0.5f), l->precession);
  f[FMR] = vmul (l->diffusion, vset (down));
  f[FMI] = vneg (f[FPI]);
  f[ZR] = vmul (l->diffusion, vset ((float) k * k));
  f[ZI] = vmul (l->flow, vset ((float) k));
}

/* t += L x', without what recovered at order 0 (which no order's factor acts on: at order 0 Z's is 0). */
static void
add_logs (const Stage *s, const Logs *l, Flat from, Flat t, int n)
{
  for (int k = 0; k < n; k++) {
    vf f[PLANES];
    log_factors (s, l, k, f);
    for (int i = 0; i < s->pools; i++)
      for (int q = i < s->waters ? FPR : ZR; q < PLANES; q += 2) {
        vf re = vload (AT (PLANE (from, i, q), k)), im = vload (AT (PLANE (from, i, q + 1), k));
        float *r = AT (PLANE (t, i, q), k), *m = AT (PLANE (t, i, q + 1), k);
        multiply (&re, &im, f[q], f[q + 1]);
        vstore (r, vadd (vload (r), re));
        vstore (m, vadd (vload (m), im));
      }
  }
}

static vf
read_logs (const Stage *s, const Logs *l, Flat from, Flat lambda, int n)
{
  vf sum = vzero ();
  for (int k = 0; k < n; k++) {
    vf f[PLANES];
    log_factors (s, l, k, f);
    for (int i = 0; i < s->pools; i++)
      for (int q = i < s->waters ? FPR : ZR; q < PLANES; q += 2) {
        vf re = vload (AT (PLANE (from, i, q), k)), im = vload (AT (PLANE (from, i, q + 1), k));
        multiply (&re, &im, f[q], f[q + 1]);
        sum = vfma (re, vload (AT (PLANE (lambda, i, q), k)), sum);
        sum = vfma (im, vload (AT (PLANE (lambda, i, q + 1), k)), sum);
      }
  }
  return sum;
}

/* ---- set-up ---- */

static float *
begin_stage (Stage *s, const LamEpgDerivative *d, float *scratch)
{
  Walk *w = &s->w;
  const LamEpgProgram *p = d->a.program;
  w->a = &d->a;
  w->p = p;
  w->kept = p->orders + 2 * LAM_EPG_MARGIN;
  w->order_of = -1;
  s->d = d;
  s->waters = p->waters;
  s->pools = p->waters + p->semisolid;
  s->planes = PLANES * s->pools;
  s->floats = LAM_EPG_POOL_FLOATS (p->waters, p->semisolid);
  s->turn = scratch;
  scratch += p->durations * 2 * VW;
  w->factor = scratch;
  scratch += p->factors * 2 * VW;
  w->angle = scratch;
  scratch += p->pulses * 2 * VW;
  w->order = scratch;
  scratch += 6 * (int64_t) w->kept * VW;
  w->m0_re = tissue (w, LAM_M0);
  w->m0_im = tissue (w, LAM_M0_IMAG);
  for (int64_t i = 0; i < p->durations && p->precessing; i++) {
    double turns[VW];
    vf re, im;
    for (int l = 0; l < VW; l++)
      turns[l] = -LANES (LAM_B0)[l] * p->duration[i];
    turn (turns, &re, &im);
    vstore (s->turn + i * 2 * VW, re);
    vstore (s->turn + (i * 2 + 1) * VW, im);
  }
  make_angles (w);
  if (p->analytic)
    make_factors (w);
  return scratch;
}

static int64_t
flat_floats (const Stage *s, int orders)
{
  return (int64_t) s->planes * orders * VW;
}

static Flat
place (const Stage *s, float **scratch, int orders)
{
  Flat f = {*scratch, orders};
  *scratch += flat_floats (s, orders);
  return f;
}

static void
equilibrium (const Stage *s, Flat x)
{
  const Walk *w = &s->w;
  memset (x.x, 0, flat_floats (s, x.orders) * sizeof (float));
  vf free = vset (1.0f);
  for (int i = 1; i < s->pools; i++) {
    vf f = tissue (w, i < s->waters ? LAM_POOL_FRACTION + 5 * (i - 1) : LAM_BOUND_FRACTION);
    vstore (PLANE (x, i, ZR), f);
    free = vsub (free, f);
  }
  vstore (PLANE (x, 0, ZR), free);
}

/* d equilibrium / d quantity @j. */
static void
equilibrium_tangent (const Stage *s, int j, Flat t)
{
  memset (t.x, 0, flat_floats (s, t.orders) * sizeof (float));
  for (int i = 1; i < s->pools; i++)
    if (s->d->by[j].tissue == (i < s->waters ? LAM_POOL_FRACTION + 5 * (i - 1) : LAM_BOUND_FRACTION)) {
      vstore (PLANE (t, i, ZR), vset (1.0f));
      vstore (PLANE (t, 0, ZR), vset (-1.0f));
    }
}

/* ---- forward ---- */

typedef struct {
  Stage s;
  Flat x, t[LAM_EPG_MOST_BY], before; /* before: the state before relaxation */
  Flat small_x, small_t[LAM_EPG_MOST_BY], small_before;
} Forward;

static void
relax_all (Forward *f, Flat x, Flat *t, Flat before, int duration, int n, const float *slopes)
{
  Stage *s = &f->s;
  const LamEpgDerivative *d = s->d;
  const float *e = exchange_at (s, d->a.exchange, duration);
  if (s->w.p->ordered)
    make_orders (&s->w, duration);
  for (int i = 0; i < s->planes; i++)
    memcpy (before.x + (int64_t) i * before.orders * VW, x.x + (int64_t) i * x.orders * VW,
            (size_t) n * VW * sizeof (float));
  relax (s, e, duration, before, x, n, false, true);
  for (int j = 0; j < d->n; j++) {
    const bool by_value = d->by[j].tissue < 0;
    const float slope = by_value && slopes ? slopes[j] : 0;
    relax (s, e, duration, t[j], t[j], n, false, false);
    if (!by_value)
      relax (s, exchange_at (s, d->d_exchange + (int64_t) j * s->w.p->durations * s->floats * LAM_EPG_WIDTH, duration),
             duration, before, t[j], n, true, true);
    else if (slope != 0) {
      float scaled[LAM_EPG_POOL_FLOATS (LAM_EPG_WATERS, 1) * LAM_EPG_WIDTH];
      const float *dt = exchange_at (s, d->dt_exchange, duration);
      for (int i = 0; i < s->floats; i++)
        vstore (scaled + i * LAM_EPG_WIDTH, vmul (vset (slope), ENTRY (dt, i)));
      relax (s, scaled, duration, before, t[j], n, true, true);
    }
    Logs l = logs_of (s, j, duration, slope);
    if (l.any)
      add_logs (s, &l, x, t[j], n);
  }
}

/* A sample from order 0 of @x and @t, which are at its time. */
static void
put_forward (Forward *f, const LamEpgRecord *r, Flat x, const Flat *t, bool seen)
{
  Stage *s = &f->s;
  Walk *w = &s->w;
  const LamEpgDerivative *d = s->d;
  const vf rr = vset ((float) r->re), ri = vset ((float) r->im);
  vf xr = vzero (), xi = vzero (), fr = vset (1.0f), fi = vzero ();
  const bool factor = w->p->analytic && r->factor >= 0;
  const double tau = factor ? w->p->factor[r->factor] : 0;
  for (int i = 0; seen && i < s->waters; i++) {
    xr = vadd (xr, vload (PLANE (x, i, FPR)));
    xi = vadd (xi, vload (PLANE (x, i, FPI)));
  }
  if (factor) {
    fr = vload (w->factor + r->factor * 2 * VW);
    fi = vload (w->factor + r->factor * 2 * VW + VW);
  }
  multiply (&fr, &fi, rr, ri); /* all but M0 */
  vf sr = xr, si = xi;
  multiply (&sr, &si, fr, fi);
  const int64_t at = (int64_t) r->out * LAM_EPG_WIDTH + w->lane;
  vf vr = sr, vi = si;
  multiply (&vr, &vi, w->m0_re, w->m0_im);
  if (d->a.re)
    vstore (d->a.re + at, vr);
  if (d->a.im)
    vstore (d->a.im + at, vi);
  for (int j = 0; j < d->n; j++) {
    const LamEpgBy *by = &d->by[j];
    vf tr = vzero (), ti = vzero ();
    if (by->tissue == LAM_M0) {
      tr = sr;
      ti = si;
    } else if (by->tissue == LAM_M0_IMAG) {
      tr = vneg (si);
      ti = sr;
    } else {
      for (int i = 0; seen && i < s->waters; i++) {
        tr = vadd (tr, vload (PLANE (t[j], i, FPR)));
        ti = vadd (ti, vload (PLANE (t[j], i, FPI)));
      }
      vf lr = vzero (), li = vzero (); /* d ln of what the sample is multiplied with */
      if (factor && by->tissue == LAM_B0)
        li = vset ((float) (-6.283185307179586 * tau));
      else if (factor && by->tissue == LAM_T2_PRIME) {
        vf time = vmax (tissue (w, LAM_T2_PRIME), vset (1e-6f));
        lr = vdiv (vdiv (vset ((float) (1000 * fabs (tau))), time), time);
      } else if (by->tissue < 0) {
        if (factor && by->factor && by->factor[r->out] != 0) {
          float slope = by->factor[r->out];
          lr = vdiv (vset (-1000 * (tau < 0 ? -slope : slope)), vmax (tissue (w, LAM_T2_PRIME), vset (1e-6f)));
          li = vmul (vset (-6.2831853f * slope), tissue (w, LAM_B0));
        }
        if (by->record && by->record[r->out] != 0)
          li = vsub (li, vset (by->record[r->out]));
      }
      vf ar = xr, ai = xi;
      multiply (&ar, &ai, lr, li);
      tr = vadd (tr, ar);
      ti = vadd (ti, ai);
      multiply (&tr, &ti, fr, fi);
      multiply (&tr, &ti, w->m0_re, w->m0_im);
    }
    const int64_t to = (int64_t) j * w->p->samples * LAM_EPG_WIDTH + at;
    vstore (d->d_re + to, tr);
    vstore (d->d_im + to, ti);
  }
}

/* The lowest orders of @from, to relax a sample's own way. */
static void
copy_low (const Stage *s, Flat from, Flat to, int n)
{
  for (int i = 0; i < s->planes; i++) {
    float *dst = to.x + (int64_t) i * to.orders * VW;
    const int have = LAM_MIN (n, from.orders);
    memcpy (dst, from.x + (int64_t) i * from.orders * VW, (size_t) have * VW * sizeof (float));
    memset (dst + have * VW, 0, (size_t) (to.orders - have) * VW * sizeof (float));
  }
}

static void
peek_forward (Forward *f, const LamEpgRecord *r)
{
  Stage *s = &f->s;
  const LamEpgDerivative *d = s->d;
  const int n = LAM_MAX (r->shift, 0) + 1;
  float slopes[LAM_EPG_MOST_BY];
  copy_low (s, f->x, f->small_x, n);
  for (int j = 0; j < d->n; j++) {
    copy_low (s, f->t[j], f->small_t[j], n);
    slopes[j] = d->by[j].peek ? d->by[j].peek[r->out] : 0;
  }
  if (r->relax >= 0)
    relax_all (f, f->small_x, f->small_t, f->small_before, r->relax, n, slopes);
  if (r->shift > 0) {
    wind (s, f->small_x, r->shift);
    for (int j = 0; j < d->n; j++)
      wind (s, f->small_t[j], r->shift);
  }
  put_forward (f, r, f->small_x, f->small_t, r->shift >= 0);
}

static void
spoil (const Stage *s, Flat x)
{
  for (int i = 0; i < s->waters; i++)
    memset (PLANE (x, i, FPR), 0, (size_t) 4 * x.orders * VW * sizeof (float));
}

static void
rotate_forward (Forward *f, const LamEpgPass *pass, int n)
{
  Stage *s = &f->s;
  const LamEpgDerivative *d = s->d;
  const LamEpgPulse *pulse = &s->w.p->pulse[pass->rf];
  const vf b1 = vload (d->a.field + (int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + s->w.lane);
  Rotation r = rotation_of (s, pass);
  vf flip[3], phase[3], g[3];
  turn_vectors (s, pass, &r, flip, phase);
  rotate (s, &r, f->x, n, false);
  const bool saturates = d->d_saturation != NULL;
  const float *sat = saturates ? d->d_saturation + (int64_t) pass->rf * 2 * LAM_EPG_WIDTH + s->w.lane : NULL;
  const vf by = saturates ? vload (d->a.saturation + (int64_t) pass->rf * LAM_EPG_WIDTH + s->w.lane) : vset (1.0f);
  if (saturates)
    scale_z (f->x, s->waters, n, by);
  for (int j = 0; j < d->n; j++) {
    const LamEpgBy *q = &d->by[j];
    vf df = vzero (), dp = vzero ();
    rotate (s, &r, f->t[j], n, false);
    if (q->tissue == LAM_B1 && pulse->by_field)
      df = vset ((float) pulse->flip);
    else if (q->tissue == LAM_B1_PHASE && pulse->by_field)
      dp = vset (1.0f);
    else if (q->tissue < 0) {
      df = q->flip ? vmul (b1, vset (q->flip[pass->rf])) : df;
      dp = q->phase ? vset (q->phase[pass->rf]) : dp;
    }
    for (int i = 0; i < 3; i++)
      g[i] = vfma (flip[i], df, vmul (phase[i], dp));
    add_turn (s, g, f->x, f->t[j], n);
    if (saturates) {
      vf l = vmul (df, vload (sat));
      if (q->tissue == LAM_B0)
        l = vadd (l, vload (sat + LAM_EPG_WIDTH));
      scale_z (f->t[j], s->waters, n, by);
      for (int z = ZR; z <= ZI; z++)
        for (int k = 0; k < n; k++) {
          float *at = AT (PLANE (f->t[j], s->waters, z), k);
          vstore (at, vfma (l, vload (AT (PLANE (f->x, s->waters, z), k)), vload (at)));
        }
    }
  }
}

static void
invert_forward (Forward *f, int n)
{
  Stage *s = &f->s;
  const vf by = vneg (tissue (&s->w, LAM_INV_EFFICIENCY));
  for (int i = 0; i < s->waters; i++) {
    for (int j = 0; j < s->d->n; j++) {
      scale_z (f->t[j], i, n, by);
      if (s->d->by[j].tissue == LAM_INV_EFFICIENCY)
        for (int q = ZR; q <= ZI; q++)
          for (int k = 0; k < n; k++) {
            float *at = AT (PLANE (f->t[j], i, q), k);
            vstore (at, vsub (vload (at), vload (AT (PLANE (f->x, i, q), k))));
          }
    }
    scale_z (f->x, i, n, by);
  }
}

static void
forward_pass (Forward *f, int64_t index, bool record)
{
  Stage *s = &f->s;
  const LamEpgDerivative *d = s->d;
  const LamEpgPass *pass = &s->w.p->pass[index];
  const int n = s->w.p->orders;
  float slopes[LAM_EPG_MOST_BY];
  for (int j = 0; pass->spoil && j <= d->n; j++)
    spoil (s, j == d->n ? f->x : f->t[j]);
  for (int j = 0; j < d->n; j++)
    slopes[j] = d->by[j].pass ? d->by[j].pass[index] : 0;
  if (pass->relax >= 0)
    relax_all (f, f->x, f->t, f->before, pass->relax, n, slopes);
  for (int j = 0; j <= d->n; j++)
    wind (s, j == d->n ? f->x : f->t[j], pass->before);
  if (pass->kind == LAM_PASS_ROTATE)
    rotate_forward (f, pass, n);
  else if (pass->kind == LAM_PASS_INVERT)
    invert_forward (f, n);
  for (int i = 0; record && i < pass->n_records; i++)
    put_forward (f, &s->w.p->record[pass->records + i], f->x, f->t, true);
  for (int j = 0; j <= d->n; j++)
    wind (s, j == d->n ? f->x : f->t[j], pass->after);
  for (int i = 0; record && i < pass->n_peeks; i++)
    peek_forward (f, &s->w.p->record[pass->peeks + i]);
}

static void
jacobian (LamEpgDerivative *d)
{
  const LamEpgProgram *p = d->a.program;
  Forward forward, *f = &forward;
  for (int lane = 0; lane < d->a.lanes; lane += VW) {
    f->s.w.lane = lane;
    float *scratch = begin_stage (&f->s, d, d->a.scratch);
    f->x = place (&f->s, &scratch, p->orders);
    f->before = place (&f->s, &scratch, p->orders);
    f->small_x = place (&f->s, &scratch, LAM_EPG_MARGIN + 1);
    f->small_before = place (&f->s, &scratch, LAM_EPG_MARGIN + 1);
    equilibrium (&f->s, f->x);
    for (int j = 0; j < d->n; j++) {
      f->t[j] = place (&f->s, &scratch, p->orders);
      f->small_t[j] = place (&f->s, &scratch, LAM_EPG_MARGIN + 1);
      equilibrium_tangent (&f->s, j, f->t[j]);
    }
    for (int r = 0; r < p->playings; r++)
      for (int64_t i = 0; i < p->passes; i++)
        forward_pass (f, i, r == p->playings - 1);
  }
}
