/* epg-body.h: the EPG kernels, built once for each instruction set.
 *
 * One pass reads a state of orders from one buffer and writes it into the other, so that windings are offsets of where
 * it reads and writes: F+ moves up, F- down, and what leaves F- at order 0 enters F+ as its conjugate. The buffers have
 * LAM_EPG_MARGIN orders of room on either side for that.
 *
 * A rotation about the axis at phase phi is one about x in the frame turned by phi. States are kept in the frame that
 * the last pulse left them in (f+ = F+ exp (-i theta), f- = F- exp (i theta)); going to the next pulse's frame is one
 * factor more of the relaxation. In that frame, with d = f+ - f-, u = f+ + f- and the angle's c and s:
 *   f+' , f-' = u/2 +- (c d/2 - i s Z),  Z' = c Z - i s d/2      (spec section 2.5)
 * and u/2 +- c d/2 = f+- +- (c - 1) d/2, which is an operation less
 * which for states that are i p, i m, z is the real path of section 3. */
#pragma once

#include <stdbool.h>

#include "core/types.h"
#include "core/vector.h"
#include "mr/epg-kernels.h"
#include "mr/tissue-quantity.h"
#include "mr/vector-math.h"

#define INLINE static inline __attribute__ ((always_inline))
#define MOST_PLANES (6 * LAM_EPG_WATERS + 2)

/* Planes of a pool: F+ re, im; F- re, im; Z re, im. The semisolid pool's Z re, im follow the last water. The real path
 * uses p = F+ im, m = F- im, z = Z re. */
enum { FPR, FPI, FMR, FMI, ZR, ZI, PLANES };

typedef struct {
  float *x[MOST_PLANES]; /* order 0 of each plane */
} State;

/* Everything about VW voxels on their way through a program. */
typedef struct {
  const LamEpgArgs *a;
  const LamEpgProgram *p;
  int lane;          /* first of LAM_EPG_WIDTH */
  State *now, *next; /* swapped after a pass that wrote into `next` */
  State *out;        /* what the pass writes: one of them */
  State state[2];
  float *relax;  /* [durations][4][VW]: E1 - 1, E2, turn re, im */
  float *factor; /* [factors][2][VW] */
  float *angle;  /* [pulses][2][VW]: cos and sin of the flip angles */
  float *order;  /* [6][orders + margins][VW]: factors by order of F+, F-, Z (re, im), of the duration order_of */
  float *plane;  /* [samples][LAM_EPG_WIDTH] from this lane on, where samples are one plane alone; else NULL */
  float *sample; /* [samples][2][VW]: the playing under way, where playings are compared */
  int order_of;
  int kept; /* orders + 2 margins */
  vf frame_re, frame_im;
  vf m0_re, m0_im;
} Walk;

INLINE void
swap_states (State **a, State **b)
{
  State *s = *a;
  *a = *b;
  *b = s;
}

#define LANES(q) (w->a->tissue[q] + w->lane)
#define AT(plane, k) ((plane) + (k) *VW)

INLINE vf
tissue (const Walk *w, int quantity)
{
  float x[VW];
  const double *t = LANES (quantity);
  for (int l = 0; l < VW; l++)
    x[l] = (float) t[l];
  return vload (x);
}

/* cos and sin of @turns[lane] full turns, reduced in double. */
INLINE void
turn (const double *turns, vf *re, vf *im)
{
  float x[VW];
  for (int l = 0; l < VW; l++)
    x[l] = (float) ((turns[l] - rint (turns[l])) * 6.283185307179586);
  vsincos (vload (x), im, re);
}

/* ---- tables ---- */

/* 1 - min (|v| / voxel * dt, 1) */
INLINE vf
washout (const Walk *w, double dt)
{
  if (!(w->p->voxel > 0))
    return vset (1.0f);
  vf gone = vmul (vabs (tissue (w, LAM_VELOCITY)), vset ((float) (dt / w->p->voxel)));
  return vsub (vset (1.0f), vmin (gone, vset (1.0f)));
}

static void
make_relaxation (Walk *w)
{
  const vf t1 = tissue (w, LAM_T1), t2 = tissue (w, LAM_T2), least = vset (1e-6f);
  const vf r1 = vdiv (vset (-1000.0f), vmax (t1, least)), r2 = vdiv (vset (-1000.0f), vmax (t2, least));
  for (int64_t i = 0; i < w->p->durations; i++) {
    float *to = w->relax + i * 4 * VW;
    vf dt = vset ((float) w->p->duration[i]), wash = washout (w, w->p->duration[i]), re = vset (1.0f), im = vzero ();
    /* E1 - 1: what recovers would be lost in E1's last digits. */
    vstore (to, vfma (vexpm1 (vmul (r1, dt)), wash, vsub (wash, vset (1.0f))));
    vstore (to + VW, vmul (vexp (vmul (r2, dt)), wash));
    if (w->p->precessing) {
      double turns[VW];
      for (int l = 0; l < VW; l++)
        turns[l] = -LANES (LAM_B0)[l] * w->p->duration[i];
      turn (turns, &re, &im);
    }
    vstore (to + 2 * VW, re);
    vstore (to + 3 * VW, im);
  }
}

static void
make_factors (Walk *w)
{
  for (int64_t i = 0; i < w->p->factors; i++) {
    float *to = w->factor + i * 2 * VW;
    double turns[VW];
    vf re, im;
    for (int l = 0; l < VW; l++)
      turns[l] = -LANES (LAM_B0)[l] * w->p->factor[i];
    turn (turns, &re, &im);
    vf decay =
        vexp (vdiv (vset ((float) (-1000 * fabs (w->p->factor[i]))), vmax (tissue (w, LAM_T2_PRIME), vset (1e-6f))));
    vstore (to, vmul (re, decay));
    vstore (to + VW, vmul (im, decay));
  }
}

/* Spec section 2.3, with the textbook weight of F-: the factors of each order for one duration. */
static void
make_orders (Walk *w, int duration)
{
  if (w->order_of == duration)
    return;
  w->order_of = duration;
  const double dt = w->p->duration[duration], wind = w->p->winding;
  const vf b = vmul (tissue (w, LAM_DIFFUSION), vset ((float) (1e-9 * wind * wind * dt)));
  const vf f = vmul (tissue (w, LAM_VELOCITY), vset ((float) (wind * dt)));
  const int64_t plane = (int64_t) w->kept * VW;
  for (int k = 0; k < w->kept; k++) {
    float *to = w->order + k * VW;
    float up = k * (k + 1.0f) + 1.0f / 3, down = w->p->parity_diffusion ? up : k * (k - 1.0f) + 1.0f / 3;
    vf re, im, g = vexp (vmul (b, vset (-up)));
    vsincos (vmul (f, vset (-(k + 0.5f))), &im, &re);
    vstore (to, vmul (g, re));
    vstore (to + plane, vmul (g, im));
    g = vexp (vmul (b, vset (-down)));
    vsincos (vmul (f, vset (k + 0.5f)), &im, &re);
    vstore (to + 2 * plane, vmul (g, re));
    vstore (to + 3 * plane, vmul (g, im));
    g = vexp (vmul (b, vset (-(float) k * k)));
    vsincos (vmul (f, vset (-(float) k)), &im, &re);
    vstore (to + 4 * plane, vmul (g, re));
    vstore (to + 5 * plane, vmul (g, im));
  }
}

/* Whether the voxels see one transmit field. */
static bool
is_uniform (const Walk *w, int shim)
{
  const float *b1 = w->a->field + (int64_t) shim * 2 * LAM_EPG_WIDTH + w->lane;
  for (int l = 1; l < VW; l++)
    if (b1[l] != b1[0])
      return false;
  return true;
}

/* The angles of VW pulses from @first on, each the same for all voxels. */
static void
make_uniform_angles (Walk *w, int64_t first)
{
  float turn[VW], cosine[VW], sine[VW];
  vf s, c;
  for (int i = 0; i < VW; i++) {
    const LamEpgPulse *pulse = &w->p->pulse[first + i];
    turn[i] = (float) (w->p->real ? pulse->signed_flip : pulse->flip)
              * w->a->field[(int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + w->lane];
  }
  vsincos (vload (turn), &s, &c);
  vstore (cosine, c);
  vstore (sine, s);
  for (int i = 0; i < VW; i++) {
    vstore (w->angle + (first + i) * 2 * VW, vset (cosine[i]));
    vstore (w->angle + ((first + i) * 2 + 1) * VW, vset (sine[i]));
  }
}

/* Flip angles of instant pulses, all at once: one after the other they would wait for each other's last digit. */
static void
make_angles (Walk *w)
{
  int64_t i = 0;
  bool uniform = true;
  for (int shim = 0; shim < w->a->fields && uniform; shim++)
    uniform = is_uniform (w, shim);
  for (; uniform && i + VW <= w->p->pulses; i += VW)
    make_uniform_angles (w, i);
  for (; i < w->p->pulses; i++) {
    const LamEpgPulse *pulse = &w->p->pulse[i];
    vf b1 = vload (w->a->field + (int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + w->lane), s, c;
    vsincos (vmul (vset ((float) (w->p->real ? pulse->signed_flip : pulse->flip)), b1), &s, &c);
    vstore (w->angle + i * 2 * VW, c);
    vstore (w->angle + (i * 2 + 1) * VW, s);
  }
}

/* ---- samples ---- */

INLINE vf
vneg (vf x)
{
  return vsub (vzero (), x);
}

/* Where samples are one plane alone. */
INLINE void
put_plane (const Walk *w, const LamEpgRecord *r, vf x)
{
  const float by = (float) (w->a->re ? r->re : r->im);
  vstore (w->plane + (int64_t) r->out * LAM_EPG_WIDTH, vmul (vmul (x, vset (by)), w->m0_re));
}

INLINE void
put (Walk *w, const LamEpgRecord *r, vf re, vf im)
{
  const LamEpgArgs *a = w->a;
  if (w->plane) {
    put_plane (w, r, re);
    return;
  }
  if (r->factor >= 0 && w->p->analytic) {
    vf fr = vload (w->factor + r->factor * 2 * VW), fi = vload (w->factor + r->factor * 2 * VW + VW);
    vf x = vfnma (im, fi, vmul (re, fr));
    im = vfma (im, fr, vmul (re, fi));
    re = x;
  }
  vf m0 = w->m0_re, m1 = w->m0_im, cr = vset ((float) r->re), ci = vset ((float) r->im);
  vf x = vfnma (im, m1, vmul (re, m0));
  im = vfma (im, m0, vmul (re, m1));
  re = vfnma (im, ci, vmul (x, cr));
  im = vfma (im, cr, vmul (x, ci));
  if (w->sample) {
    vstore (w->sample + r->out * 2 * VW, re);
    vstore (w->sample + r->out * 2 * VW + VW, im);
    return;
  }
  if (a->re)
    vstore (a->re + (int64_t) r->out * LAM_EPG_WIDTH + w->lane, re);
  if (a->im)
    vstore (a->im + (int64_t) r->out * LAM_EPG_WIDTH + w->lane, im);
}

/* The sum over waters of F+ at order @shift from below (order 0 of F+, or what will wind into it). */
INLINE void
transverse_at (const Walk *w, const State *s, int shift, int water, vf *re, vf *im)
{
  float *const *x = s->x + PLANES * water;
  if (shift == 0) {
    *re = w->p->real ? vzero () : vload (x[FPR]);
    *im = vload (x[FPI]);
    return;
  }
  *re = w->p->real ? vzero () : vload (AT (x[FMR], shift));
  *im = vsub (vzero (), vload (AT (x[FMI], shift)));
}

/* A sample after a pass: relaxation of one order. The real path's. */
INLINE vf
peek_real (const Walk *w, const LamEpgRecord *r)
{
  vf x = r->shift == 0 ? vload (w->now->x[FPI]) : vneg (vload (AT (w->now->x[FMI], r->shift)));
  return r->relax < 0 ? x : vmul (x, vload (w->relax + (int64_t) r->relax * 4 * VW + VW));
}

/* ... and any other's. */
static void
peek_any (Walk *w, const LamEpgRecord *r)
{
  const int waters = w->p->waters;
  vf re = vzero (), im = vzero ();
  if (r->shift < 0) {
    put (w, r, re, im);
    return;
  }
  const float *e = r->relax < 0 ? NULL : w->relax + (int64_t) r->relax * 4 * VW;
  const float *c = r->relax < 0 || !w->a->exchange
                       ? NULL
                       : w->a->exchange
                             + (int64_t) r->relax * LAM_EPG_POOL_FLOATS (waters, w->p->semisolid) * LAM_EPG_WIDTH
                             + w->lane;
  for (int j = 0; j < waters; j++) {
    vf fr, fi;
    transverse_at (w, w->now, r->shift, j, &fr, &fi);
    if (c) { /* the sum over pools of what pool j becomes */
      for (int i = 0; i < waters; i++) {
        vf cr = vload (c + (2 * (i * waters + j)) * LAM_EPG_WIDTH),
           ci = vload (c + (2 * (i * waters + j) + 1) * LAM_EPG_WIDTH);
        re = vadd (re, vfnma (fi, ci, vmul (fr, cr)));
        im = vadd (im, vfma (fi, cr, vmul (fr, ci)));
      }
    } else if (e) {
      vf e2 = vload (e + VW);
      re = vfma (fr, e2, re);
      im = vfma (fi, e2, im);
    } else {
      re = vadd (re, fr);
      im = vadd (im, fi);
    }
  }
  if (e && w->p->precessing) {
    vf tr = vload (e + 2 * VW), ti = vload (e + 3 * VW), x = vfnma (im, ti, vmul (re, tr));
    im = vfma (im, tr, vmul (re, ti));
    re = x;
  }
  if (e && w->p->ordered) { /* F+ at 0, or the conjugate of F- at `shift` */
    make_orders (w, r->relax);
    const int64_t plane = (int64_t) w->kept * VW, at = r->shift == 0 ? 0 : 2 * plane + (int64_t) r->shift * VW;
    vf tr = vload (w->order + at), ti = vload (w->order + at + plane);
    if (r->shift)
      ti = vsub (vzero (), ti);
    vf x = vfnma (im, ti, vmul (re, tr));
    im = vfma (im, tr, vmul (re, ti));
    re = x;
  }
  if (!w->p->real) {
    vf x = vfnma (im, w->frame_im, vmul (re, w->frame_re));
    im = vfma (im, w->frame_re, vmul (re, w->frame_im));
    re = x;
  } else {
    re = im; /* i p: the i is in the record */
    im = vzero ();
  }
  put (w, r, re, im);
}

INLINE void
peek (Walk *w, const LamEpgRecord *r)
{
  if (!w->p->real || w->p->semisolid || r->shift < 0)
    peek_any (w, r);
  else if (w->plane)
    put_plane (w, r, peek_real (w, r));
  else
    put (w, r, peek_real (w, r), vzero ());
}

/* Samples right after the rotation, before the winding `after`. */
static void
take_records (Walk *w, const LamEpgPass *pass)
{
  for (int j = 0; j < pass->n_records; j++) {
    const LamEpgRecord *r = &w->p->record[pass->records + j];
    vf re = vzero (), im = vzero ();
    for (int i = 0; i < w->p->waters; i++) {
      im = vadd (im, vload (AT (w->out->x[PLANES * i + FPI], pass->after)));
      if (!w->p->real)
        re = vadd (re, vload (AT (w->out->x[PLANES * i + FPR], pass->after)));
    }
    if (w->p->real) {
      re = im;
      im = vzero ();
    } else {
      vf x = vfnma (im, w->frame_im, vmul (re, w->frame_re));
      im = vfma (im, w->frame_re, vmul (re, w->frame_im));
      re = x;
    }
    put (w, r, re, im);
  }
}

/* ---- winding ---- */

/* Before a pass reads F+ below order 0: it is the conjugate of F-. */
INLINE void
fold_before (const Walk *w, int before)
{
  for (int i = 0; i < w->p->waters; i++) {
    float *const *x = w->now->x + PLANES * i;
    for (int j = 1; j <= before; j++) {
      vstore (AT (x[FPI], -j), vneg (vload (AT (x[FMI], j))));
      if (!w->p->real)
        vstore (AT (x[FPR], -j), vload (AT (x[FMR], j)));
    }
  }
}

/* After a pass of @n orders wrote F- below order 0 and left the top of F- as it was. */
INLINE void
fold_after (const Walk *w, int n, int after)
{
  for (int i = 0; i < w->p->waters; i++) {
    float *const *x = w->out->x + PLANES * i;
    for (int j = 0; j < after; j++) {
      vstore (AT (x[FPI], j), vneg (vload (AT (x[FMI], -j))));
      vstore (AT (x[FMI], n - after + j), vzero ());
      if (!w->p->real) {
        vstore (AT (x[FPR], j), vload (AT (x[FMR], -j)));
        vstore (AT (x[FMR], n - after + j), vzero ());
      }
    }
  }
}

/* ---- the passes ---- */

typedef struct {
  vf c, s;             /* of the angle */
  vf e1m, e2;          /* one pool: E1 - 1 and E2 */
  vf back, back_bound; /* added at order 0 */
  vf l[4];             /* one pool and the semisolid one: longitudinal matrix, saturation included */
} RealCoefficients;

/* What recovers appears at order 0, and is turned with it. */
INLINE void
recover (float *const *t, int na, vf c, vf s, vf back)
{
  vstore (t[ZR], vfma (c, back, vload (t[ZR])));
  vstore (AT (t[FPI], na), vfnma (s, back, vload (AT (t[FPI], na))));
  vstore (AT (t[FMI], -na), vfma (s, back, vload (AT (t[FMI], -na))));
}

/* The real path, one pool, with or without the semisolid one. */
INLINE void
real_pass (Walk *w, const bool semisolid, const LamEpgPass *pass, const RealCoefficients *q)
{
  const int n = pass->orders, nb = pass->before, na = pass->after;
  const float *p = AT (w->now->x[FPI], -nb), *m = AT (w->now->x[FMI], nb), *z = w->now->x[ZR],
              *b = w->now->x[PLANES + ZR];
  float *tp = AT (w->next->x[FPI], na), *tm = AT (w->next->x[FMI], -na), *tz = w->next->x[ZR],
        *tb = w->next->x[PLANES + ZR];
  const vf e2 = q->e2, e2h = vmul (e2, vset (0.5f)), less = vfms (q->c, e2h, e2h), se2h = vmul (q->s, e2h);
  const vf c1 = semisolid ? q->c : vfma (q->c, q->e1m, q->c), s1 = semisolid ? q->s : vfma (q->s, q->e1m, q->s);
  const vf l00 = q->l[0], l01 = q->l[1], l10 = q->l[2], l11 = q->l[3];
#pragma GCC unroll 4
  for (int k = 0; k < n; k++) {
    vf fp = vload (AT (p, k)), fm = vload (AT (m, k)), fz = vload (AT (z, k));
    if (semisolid) {
      vf fb = vload (AT (b, k));
      vstore (AT (tb, k), vfma (l10, fz, vmul (l11, fb)));
      fz = vfma (l00, fz, vmul (l01, fb));
    }
    vf d = vsub (fp, fm), more = vfnma (s1, fz, vmul (less, d));
    vstore (AT (tp, k), vfma (e2, fp, more));
    vstore (AT (tm, k), vfms (e2, fm, more));
    vstore (AT (tz, k), vfma (c1, fz, vmul (se2h, d)));
  }
  recover (w->next->x, na, q->c, q->s, q->back);
  if (semisolid)
    vstore (tb, vadd (vload (tb), q->back_bound));
}

typedef struct {
  vf c, s;
  vf turn_re, turn_im;   /* into the pulse's frame */
  const float *exchange; /* LAM_EPG_POOL_FLOATS; NULL: one pool */
  vf wr, wi, e1m, back;  /* one pool: transverse factor, frame included; E1 - 1 */
  vf saturation;
  bool relax; /* FALSE: no time passes, only the frame turns */
} ComplexCoefficients;

/* Turns what has relaxed: (p, m, z), each re and im. */
INLINE void
rotate_store (float *const *t, int k, int na, vf c, vf s, vf pr, vf pi, vf mr, vf mi, vf zr, vf zi)
{
  const vf half = vset (0.5f), less = vfms (c, half, half), sh = vmul (s, half);
  vf dr = vsub (pr, mr), di = vsub (pi, mi);
  vf hr = vfma (s, zi, vmul (less, dr)), hi = vfnma (s, zr, vmul (less, di));
  vstore (AT (t[FPR], k + na), vadd (pr, hr));
  vstore (AT (t[FPI], k + na), vadd (pi, hi));
  vstore (AT (t[FMR], k - na), vsub (mr, hr));
  vstore (AT (t[FMI], k - na), vsub (mi, hi));
  vstore (AT (t[ZR], k), vfma (c, zr, vmul (sh, di)));
  vstore (AT (t[ZI], k), vfnma (sh, dr, vmul (c, zi)));
}

/* One pool; @turning: the transverse factor is complex; @in_place: one winding before, none after, and F+ of the order below is
 * carried along. */
INLINE void
single_pass (Walk *w, const bool turning, const bool in_place, const LamEpgPass *pass, const ComplexCoefficients *q)
{
  const int n = pass->orders, nb = in_place ? 1 : pass->before, na = in_place ? 0 : pass->after;
  float *const *x = w->now->x, *const *t = w->out->x;
  vf below_r = vload (AT (x[FPR], -nb)), below_i = vload (AT (x[FPI], -nb));
  const vf half = vset (0.5f), c1 = vfma (q->c, q->e1m, q->c), s1 = vfma (q->s, q->e1m, q->s);
  const vf e2 = q->wr, e2h = turning ? half : vmul (e2, half), less = vfms (q->c, e2h, e2h), sh = vmul (q->s, e2h);
#pragma GCC unroll 2
  for (int k = 0; k < n; k++) {
    vf pr = in_place ? below_r : vload (AT (x[FPR], k - nb)), pi = in_place ? below_i : vload (AT (x[FPI], k - nb)),
       mr = vload (AT (x[FMR], k + nb)), mi = vload (AT (x[FMI], k + nb)), zr = vload (AT (x[ZR], k)),
       zi = vload (AT (x[ZI], k));
    if (in_place) {
      below_r = vload (AT (x[FPR], k));
      below_i = vload (AT (x[FPI], k));
    }
    if (turning) {
      vf a = vfnma (pi, q->wi, vmul (pr, q->wr)), b = vfma (mi, q->wi, vmul (mr, q->wr));
      pi = vfma (pi, q->wr, vmul (pr, q->wi));
      mi = vfnma (mr, q->wi, vmul (mi, q->wr));
      pr = a;
      mr = b;
    }
    vf dr = vsub (pr, mr), di = vsub (pi, mi);
    vf hr = vfma (s1, zi, vmul (less, dr)), hi = vfnma (s1, zr, vmul (less, di));
    vstore (AT (t[FPR], k + na), turning ? vadd (pr, hr) : vfma (e2, pr, hr));
    vstore (AT (t[FPI], k + na), turning ? vadd (pi, hi) : vfma (e2, pi, hi));
    vstore (AT (t[FMR], k - na), turning ? vsub (mr, hr) : vfms (e2, mr, hr));
    vstore (AT (t[FMI], k - na), turning ? vsub (mi, hi) : vfms (e2, mi, hi));
    vstore (AT (t[ZR], k), vfma (c1, zr, vmul (sh, di)));
    vstore (AT (t[ZI], k), vfnma (sh, dr, vmul (c1, zi)));
  }
  recover (t, na, q->c, q->s, q->back);
}

/* Pools: @waters and @semisolid are known where this is expanded. */
INLINE void
pools_pass (Walk *w, const int waters, const int semisolid, const bool in_place, const LamEpgPass *pass,
            const ComplexCoefficients *q)
{
  const int n = pass->orders, nb = in_place ? 1 : pass->before, na = in_place ? 0 : pass->after,
            all = waters + semisolid;
  float *const *x = w->now->x, *const *t = w->out->x;
  vf below_r[LAM_EPG_WATERS], below_i[LAM_EPG_WATERS];
  for (int j = 0; in_place && j < waters; j++) {
    below_r[j] = vload (AT (x[PLANES * j + FPR], -1));
    below_i[j] = vload (AT (x[PLANES * j + FPI], -1));
  }
  vf cr[LAM_EPG_WATERS][LAM_EPG_WATERS], ci[LAM_EPG_WATERS][LAM_EPG_WATERS], l[LAM_EPG_WATERS + 1][LAM_EPG_WATERS + 1],
      back[LAM_EPG_WATERS + 1];
  for (int i = 0; i < waters; i++)
    for (int j = 0; j < waters; j++) {
      vf r = vset (i == j), m = vzero ();
      if (q->relax) {
        r = vload (q->exchange + (2 * (i * waters + j)) * LAM_EPG_WIDTH);
        m = vload (q->exchange + (2 * (i * waters + j) + 1) * LAM_EPG_WIDTH);
      }
      cr[i][j] = vfnma (m, q->turn_im, vmul (r, q->turn_re));
      ci[i][j] = vfma (m, q->turn_re, vmul (r, q->turn_im));
    }
  const float *longitudinal = q->exchange + LAM_EPG_TRANSVERSE (waters) * LAM_EPG_WIDTH;
  for (int i = 0; i < all; i++) {
    const vf by = i == waters ? q->saturation : vset (1.0f);
    for (int j = 0; j < all; j++)
      l[i][j] = vmul (q->relax ? vload (longitudinal + (i * all + j) * LAM_EPG_WIDTH) : vset (i == j), by);
    back[i] = q->relax ? vmul (vload (longitudinal + (all * all + i) * LAM_EPG_WIDTH), by) : vzero ();
  }
  for (int k = 0; k < n; k++) {
    vf ar[LAM_EPG_WATERS], ai[LAM_EPG_WATERS], br[LAM_EPG_WATERS], bi[LAM_EPG_WATERS], zr[LAM_EPG_WATERS + 1],
        zi[LAM_EPG_WATERS + 1];
    for (int j = 0; j < waters; j++) {
      vf pr = in_place ? below_r[j] : vload (AT (x[PLANES * j + FPR], k - nb)),
         pi = in_place ? below_i[j] : vload (AT (x[PLANES * j + FPI], k - nb));
      if (in_place) {
        below_r[j] = vload (AT (x[PLANES * j + FPR], k));
        below_i[j] = vload (AT (x[PLANES * j + FPI], k));
      }
      vf mr = vload (AT (x[PLANES * j + FMR], k + nb)), mi = vload (AT (x[PLANES * j + FMI], k + nb));
      for (int i = 0; i < waters; i++) {
        ar[i] = vfnma (pi, ci[i][j], j == 0 ? vmul (pr, cr[i][j]) : vfma (pr, cr[i][j], ar[i]));
        ai[i] = vfma (pi, cr[i][j], j == 0 ? vmul (pr, ci[i][j]) : vfma (pr, ci[i][j], ai[i]));
        br[i] = vfma (mi, ci[i][j], j == 0 ? vmul (mr, cr[i][j]) : vfma (mr, cr[i][j], br[i]));
        bi[i] = vfnma (mr, ci[i][j], j == 0 ? vmul (mi, cr[i][j]) : vfma (mi, cr[i][j], bi[i]));
      }
    }
    for (int j = 0; j < all; j++) {
      const int plane = PLANES * j;
      vf r = vload (AT (x[plane + ZR], k)), m = vload (AT (x[plane + ZI], k));
      for (int i = 0; i < all; i++) {
        zr[i] = j == 0 ? vmul (l[i][j], r) : vfma (l[i][j], r, zr[i]);
        zi[i] = j == 0 ? vmul (l[i][j], m) : vfma (l[i][j], m, zi[i]);
      }
    }
    for (int i = 0; i < waters; i++)
      rotate_store (t + PLANES * i, k, na, q->c, q->s, ar[i], ai[i], br[i], bi[i], zr[i], zi[i]);
    if (semisolid) {
      vstore (AT (t[PLANES * waters + ZR], k), zr[waters]);
      vstore (AT (t[PLANES * waters + ZI], k), zi[waters]);
    }
  }
  for (int i = 0; i < waters; i++)
    recover (t + PLANES * i, na, q->c, q->s, back[i]);
  if (semisolid)
    vstore (t[PLANES * waters + ZR], vadd (vload (t[PLANES * waters + ZR]), back[waters]));
}

/* Relaxation by order, in place, before a pass that then lets no time pass: the factors of diffusion and flow. */
static void
relax_orders (Walk *w, const LamEpgPass *pass)
{
  const int64_t plane = (int64_t) w->kept * VW;
  const int n = LAM_MIN (pass->orders + pass->before, w->p->orders);
  make_orders (w, pass->relax);
  for (int i = 0; i < w->p->waters + w->p->semisolid; i++)
    for (int pair = i < w->p->waters ? FPR : ZR; pair < PLANES; pair += 2) {
      float *re = w->now->x[PLANES * i + pair], *im = w->now->x[PLANES * i + pair + 1];
      const float *f = w->order + pair * plane;
      for (int k = 0; k < n; k++) {
        vf r = vload (AT (re, k)), m = vload (AT (im, k)), fr = vload (AT (f, k)), fi = vload (AT (f + plane, k));
        vstore (AT (re, k), vfnma (m, fi, vmul (r, fr)));
        vstore (AT (im, k), vfma (m, fr, vmul (r, fi)));
      }
    }
}

/* ---- one pass ---- */

/* cos, sin and the two frames of the pass's pulse. */
INLINE void
rotation (const Walk *w, const LamEpgPass *pass, vf *c, vf *s, vf *in_re, vf *in_im, vf *out_re, vf *out_im)
{
  *c = *in_re = *out_re = vset (1.0f);
  *s = *in_im = *out_im = vzero ();
  if (pass->kind != LAM_PASS_ROTATE)
    return;
  const LamEpgPulse *pulse = &w->p->pulse[pass->rf];
  if (pulse->table >= 0) {
    const float *r = w->a->rotation + (int64_t) pulse->table * 6 * LAM_EPG_WIDTH + w->lane;
    *c = vload (r);
    *s = vload (r + LAM_EPG_WIDTH);
    *in_re = vload (r + 2 * LAM_EPG_WIDTH);
    *in_im = vload (r + 3 * LAM_EPG_WIDTH);
    *out_re = vload (r + 4 * LAM_EPG_WIDTH);
    *out_im = vload (r + 5 * LAM_EPG_WIDTH);
    return;
  }
  *c = vload (w->angle + (int64_t) pass->rf * 2 * VW);
  *s = vload (w->angle + ((int64_t) pass->rf * 2 + 1) * VW);
  if (w->p->real)
    return;
  const float *field = w->a->field + (int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + w->lane;
  double turns = pulse->phase / 6.283185307179586;
  vsincos (vadd (vset ((float) ((turns - rint (turns)) * 6.283185307179586)), vload (field + LAM_EPG_WIDTH)), in_im,
           in_re);
  *out_re = *in_re;
  *out_im = *in_im;
}

INLINE const float *
exchange_of (const Walk *w, int duration)
{
  return w->a->exchange + (int64_t) duration * LAM_EPG_POOL_FLOATS (w->p->waters, w->p->semisolid) * LAM_EPG_WIDTH
         + w->lane;
}

INLINE RealCoefficients
real_coefficients (const Walk *w, const LamEpgPass *pass)
{
  RealCoefficients q;
  vf ignored[4];
  rotation (w, pass, &q.c, &q.s, &ignored[0], &ignored[1], &ignored[2], &ignored[3]);
  q.e2 = vset (1.0f);
  q.e1m = q.back = q.back_bound = vzero ();
  if (pass->relax >= 0) {
    const float *e = w->relax + (int64_t) pass->relax * 4 * VW;
    q.e1m = vload (e);
    q.e2 = vload (e + VW);
    q.back = vneg (q.e1m);
  }
  return q;
}

static void
do_real_pass (Walk *w, const LamEpgPass *pass)
{
  RealCoefficients q = real_coefficients (w, pass);
  const bool semisolid = w->p->semisolid;
  if (!semisolid) {
    real_pass (w, false, pass, &q);
    return;
  }
  q.l[0] = q.l[3] = vset (1.0f);
  q.l[1] = q.l[2] = vzero ();
  if (pass->relax >= 0) {
    const float *m = exchange_of (w, pass->relax);
    q.e2 = vload (m);
    m += LAM_EPG_TRANSVERSE (1) * LAM_EPG_WIDTH;
    for (int i = 0; i < 4; i++)
      q.l[i] = vload (m + i * LAM_EPG_WIDTH);
    q.back = vload (m + 4 * LAM_EPG_WIDTH);
    q.back_bound = vload (m + 5 * LAM_EPG_WIDTH);
  }
  if (pass->kind == LAM_PASS_ROTATE && w->a->saturation) {
    vf by = vload (w->a->saturation + (int64_t) pass->rf * LAM_EPG_WIDTH + w->lane);
    q.l[2] = vmul (q.l[2], by);
    q.l[3] = vmul (q.l[3], by);
    q.back_bound = vmul (q.back_bound, by);
  }
  real_pass (w, true, pass, &q);
}

INLINE bool
differ (vf a, vf b)
{
  return vlargest (vabs (vsub (a, b))) > 0;
}

static void
do_complex_pass (Walk *w, const bool in_place, const LamEpgPass *pass)
{
  const int waters = w->p->waters, semisolid = w->p->semisolid;
  ComplexCoefficients q = {.relax = pass->relax >= 0};
  vf in_re, in_im, out_re, out_im;
  rotation (w, pass, &q.c, &q.s, &in_re, &in_im, &out_re, &out_im);
  bool turns = false;
  q.turn_re = vset (1.0f);
  q.turn_im = vzero ();
  if (pass->kind == LAM_PASS_ROTATE) { /* exp (i (theta - phi in)) */
    turns = differ (w->frame_re, in_re) || differ (w->frame_im, in_im);
    if (turns) {
      q.turn_re = vfma (w->frame_im, in_im, vmul (w->frame_re, in_re));
      q.turn_im = vfnma (w->frame_re, in_im, vmul (w->frame_im, in_re));
    }
    w->frame_re = out_re;
    w->frame_im = out_im;
  }
  q.saturation = pass->kind == LAM_PASS_ROTATE && w->a->saturation
                     ? vload (w->a->saturation + (int64_t) pass->rf * LAM_EPG_WIDTH + w->lane)
                     : vset (1.0f);
  q.e1m = q.back = vzero ();
  vf e2 = vset (1.0f);
  if (q.relax) {
    const float *e = w->relax + (int64_t) pass->relax * 4 * VW;
    q.e1m = vload (e);
    e2 = vload (e + VW);
    q.back = vneg (q.e1m);
    if (w->p->precessing) {
      vf tr = vload (e + 2 * VW), ti = vload (e + 3 * VW), x = vfnma (q.turn_im, ti, vmul (q.turn_re, tr));
      q.turn_im = vfma (q.turn_im, tr, vmul (q.turn_re, ti));
      q.turn_re = x;
      turns = true;
    }
    if (w->p->ordered)
      relax_orders (w, pass);
    if (w->a->exchange)
      q.exchange = exchange_of (w, pass->relax);
  }
  fold_before (w, pass->before);
  if (waters == 1 && !semisolid) {
    q.wr = vmul (e2, q.turn_re);
    q.wi = vmul (e2, q.turn_im);
    if (in_place)
      turns ? single_pass (w, true, true, pass, &q) : single_pass (w, false, true, pass, &q);
    else
      turns ? single_pass (w, true, false, pass, &q) : single_pass (w, false, false, pass, &q);
    return;
  }
#define POOLS(waters, semisolid)                                                                                       \
  case 2 * (waters) + (semisolid):                                                                                     \
    in_place ? pools_pass (w, waters, semisolid, true, pass, &q) : pools_pass (w, waters, semisolid, false, pass, &q); \
    break
  switch (2 * waters + semisolid) {
    POOLS (1, 1);
    POOLS (2, 0);
    POOLS (2, 1);
    POOLS (3, 0);
    POOLS (3, 1);
    POOLS (4, 0);
    POOLS (4, 1);
    POOLS (5, 0);
    POOLS (5, 1);
  }
#undef POOLS
}

static void
clear_transverse (Walk *w)
{
  for (int i = 0; i < w->p->waters; i++)
    for (int f = FPR; f <= FMI; f++) {
      memset (AT (w->now->x[PLANES * i + f], -LAM_EPG_MARGIN), 0, (size_t) w->kept * VW * sizeof (float));
      memset (AT (w->next->x[PLANES * i + f], -LAM_EPG_MARGIN), 0, (size_t) w->kept * VW * sizeof (float));
    }
}

static void
invert (Walk *w, int n)
{
  const vf by = vneg (tissue (w, LAM_INV_EFFICIENCY));
  for (int i = 0; i < w->p->waters; i++)
    for (int f = ZR; f <= (w->p->real ? ZR : ZI); f++)
      for (int k = 0; k < n; k++)
        vstore (AT (w->out->x[PLANES * i + f], k), vmul (by, vload (AT (w->out->x[PLANES * i + f], k))));
}

static void
do_pass (Walk *w, const LamEpgPass *pass, bool record)
{
  const bool in_place = !w->p->real && pass->before == 1 && pass->after == 0;
  w->out = in_place ? w->now : w->next;
  if (pass->spoil)
    clear_transverse (w);
  if (w->p->real) {
    fold_before (w, pass->before);
    do_real_pass (w, pass);
  } else
    do_complex_pass (w, in_place, pass);
  if (pass->kind == LAM_PASS_INVERT)
    invert (w, pass->orders);
  if (record)
    take_records (w, pass);
  fold_after (w, pass->orders, pass->after);
  if (!in_place)
    swap_states (&w->now, &w->next);
  if (record)
    for (int j = 0; j < pass->n_peeks; j++)
      peek (w, &w->p->record[pass->peeks + j]);
}

/* ---- two passes in one sweep ---- */

/* One order of the real path and what turns it: the arithmetic of real_pass () on registers. */
typedef struct {
  vf p, m, z;
} Order;

typedef struct {
  vf e2, less, se2h, c1, s1;
} Turn;

INLINE Turn
turn_of (const RealCoefficients *q)
{
  const vf e2h = vmul (q->e2, vset (0.5f));
  return (Turn){q->e2, vfms (q->c, e2h, e2h), vmul (q->s, e2h), vfma (q->c, q->e1m, q->c), vfma (q->s, q->e1m, q->s)};
}

INLINE Order
turned (const Turn *t, vf p, vf m, vf z)
{
  vf d = vsub (p, m), more = vfnma (t->s1, z, vmul (t->less, d));
  return (Order){vfma (t->e2, p, more), vfms (t->e2, m, more), vfma (t->c1, z, vmul (t->se2h, d))};
}

INLINE Order
recovered (const RealCoefficients *q, Order o)
{
  return (Order){vfnma (q->s, q->back, o.p), vfma (q->s, q->back, o.m), vfma (q->c, q->back, o.z)};
}

INLINE void
store_order (const State *s, int k, Order o)
{
  vstore (AT (s->x[FPI], k), o.p);
  vstore (AT (s->x[FMI], k), o.m);
  vstore (AT (s->x[ZR], k), o.z);
}

/* Whether @a and the pass after it are pulses of a train with one winding before each: most of every fingerprinting train. */
INLINE bool
is_pair (const Walk *w, const LamEpgPass *a)
{
  const LamEpgPass *b = a + 1;
  if (a->kind != LAM_PASS_ROTATE || b->kind != LAM_PASS_ROTATE || a->spoil || b->spoil || a->before != 1
      || b->before != 1 || a->after != 0 || b->after != 0 || a->n_records > 0 || a->orders < 2 || b->orders < a->orders
      || b->orders > a->orders + 1)
    return false;
  for (int i = 0; i < a->n_peeks; i++)
    if (w->p->record[a->peeks + i].shift > 0)
      return false;
  return true;
}

/* The second pass follows the first one order behind, so that what lies between them is never stored. */
static void
do_pair (Walk *w, const LamEpgPass *a, bool record)
{
  const LamEpgPass *b = a + 1;
  const RealCoefficients qa = real_coefficients (w, a), qb = real_coefficients (w, b);
  const Turn ta = turn_of (&qa), tb = turn_of (&qb);
  const int n = a->orders;
  const float *p = AT (w->now->x[FPI], -1), *m = AT (w->now->x[FMI], 1), *z = w->now->x[ZR];
  vf first = vload (m); /* F- at order 1 winds into F+ at 0, as its conjugate */
  Order at = recovered (&qa, turned (&ta, vneg (first), first, vload (z)));
  Order up = turned (&ta, vload (AT (p, 1)), vload (AT (m, 1)), vload (AT (z, 1)));
  const vf echo = at.p;
  vf below = at.p;
  store_order (w->next, 0, recovered (&qb, turned (&tb, vneg (up.m), up.m, at.z)));
  at = up;
#pragma GCC unroll 4
  for (int k = 1; k + 1 < n; k++) {
    up = turned (&ta, vload (AT (p, k + 1)), vload (AT (m, k + 1)), vload (AT (z, k + 1)));
    store_order (w->next, k, turned (&tb, below, up.m, at.z));
    below = at.p;
    at = up;
  }
  for (int k = n - 1; k < b->orders; k++) { /* above lies nothing */
    store_order (w->next, k, turned (&tb, below, vzero (), k < n ? at.z : vzero ()));
    below = at.p;
  }
  if (record) {
    vstore (w->now->x[FPI], echo);
    for (int j = 0; j < a->n_peeks; j++)
      peek (w, &w->p->record[a->peeks + j]);
    w->out = w->next;
    take_records (w, b);
  }
  swap_states (&w->now, &w->next);
  if (record)
    for (int j = 0; j < b->n_peeks; j++)
      peek (w, &w->p->record[b->peeks + j]);
}

/* The whole train once. */
static void
do_passes (Walk *w, bool record)
{
  const LamEpgProgram *p = w->p;
  const bool pairs = p->real && !p->semisolid && p->waters == 1;
  for (int64_t i = 0; i < p->passes; i++)
    if (pairs && i + 1 < p->passes && is_pair (w, &p->pass[i]))
      do_pair (w, &p->pass[i++], record);
    else
      do_pass (w, &p->pass[i], record);
}

/* ---- the whole ---- */

static void
begin (Walk *w, float *scratch)
{
  const LamEpgProgram *p = w->p;
  const int pools = p->waters + p->semisolid;
  const int64_t plane = (int64_t) w->kept * VW, stride = lam_epg_plane (p), pair = pools * PLANES * stride;
  w->now = &w->state[0];
  w->next = &w->state[1];
  for (int i = 0; i < pools * PLANES; i++) {
    const bool used = !p->real || i % PLANES == FPI || i % PLANES == FMI || i % PLANES == ZR;
    w->now->x[i] = scratch + i * stride;
    w->next->x[i] = w->now->x[i] + pair + LAM_EPG_HALF_PAGE;
    if (used) {
      memset (w->now->x[i], 0, plane * sizeof (float));
      memset (w->next->x[i], 0, plane * sizeof (float));
    }
    w->now->x[i] += LAM_EPG_MARGIN * VW;
    w->next->x[i] += LAM_EPG_MARGIN * VW;
  }
  scratch += 2 * pair + LAM_EPG_HALF_PAGE;
  w->relax = scratch;
  scratch += p->durations * 4 * VW;
  w->factor = scratch;
  scratch += p->factors * 2 * VW;
  w->angle = scratch;
  scratch += p->pulses * 2 * VW;
  w->order = scratch;
  scratch += p->ordered ? 6 * plane : 0;
  w->sample = p->playings == 0 ? scratch : NULL;
  w->plane = NULL;
  if (p->real && !p->analytic && !w->sample && !w->a->re != !w->a->im)
    w->plane = (w->a->re ? w->a->re : w->a->im) + w->lane;
  w->order_of = -1;
  w->frame_re = vset (1.0f);
  w->frame_im = vzero ();
  w->m0_re = tissue (w, LAM_M0);
  w->m0_im = tissue (w, LAM_M0_IMAG);
  make_relaxation (w);
  make_angles (w);
  if (p->analytic)
    make_factors (w);
  /* Equilibrium: the pools' fractions. */
  vf free = vset (1.0f);
  for (int i = 1; i < p->waters; i++) {
    vf f = tissue (w, LAM_POOL_FRACTION + 5 * (i - 1));
    vstore (w->now->x[PLANES * i + ZR], f);
    free = vsub (free, f);
  }
  if (p->semisolid) {
    vf f = tissue (w, LAM_BOUND_FRACTION);
    vstore (w->now->x[PLANES * p->waters + ZR], f);
    free = vsub (free, f);
  }
  vstore (w->now->x[ZR], free);
}

/* ---- trains played until they have settled ---- */

/* How far the state is from the one kept of the playing before, squared: sum over all orders, negative ones too, of
 * |F|^2 and of |Z|^2. Pulses, windings and inversions cannot make it grow. Keeps the new state. */
static void
state_change (Walk *w, float *kept, double *square)
{
  const LamEpgProgram *p = w->p;
  vf sum = vzero ();
  for (int i = 0; i < PLANES * (p->waters + p->semisolid); i++) {
    const int f = i % PLANES;
    if (p->real && f != FPI && f != FMI && f != ZR)
      continue; /* not played, nor cleared */
    for (int k = 0; k < p->orders; k++) {
      float *at = kept + ((int64_t) i * p->orders + k) * VW;
      vf now = vload (AT (w->now->x[i], k)), d = vsub (now, vload (at)), q = vmul (d, d);
      if (k > 0 || (f != FMR && f != FMI))
        sum = vadd (sum, k > 0 && f >= ZR ? vadd (q, q) : q);
      vstore (at, now);
    }
  }
  float x[VW];
  vstore (x, sum);
  for (int l = 0; l < VW; l++)
    square[l] = x[l];
}

/* By how much a playing shrinks the distance between two states, at least: the slowest T1 alone would. */
static void
contraction (const Walk *w, double *ratio)
{
  const LamEpgProgram *p = w->p;
  double whole = 0;
  for (int64_t i = 0; i < p->passes; i++)
    whole += p->pass[i].relax >= 0 ? p->duration[p->pass[i].relax] : 0;
  for (int l = 0; l < VW; l++) {
    double slowest = LANES (LAM_T1)[l];
    for (int i = 1; i < p->waters; i++)
      slowest = fmax (slowest, LANES (LAM_POOL_T1 + 5 * (i - 1))[l]);
    if (p->semisolid)
      slowest = fmax (slowest, LANES (LAM_BOUND_T1)[l]);
    ratio[l] = exp (-1000 * whole / slowest);
  }
}

/* Takes over the playing's samples for the lanes that go on. A lane ends by its own numbers, whatever its neighbours do:
 * when what is still to come is below the residual asked for, or when rounding no longer lets the state come nearer. */
static int
judge (Walk *w, LamEpgArgs *a, const double *ratio, const double *square, double *mark, int *next, bool *done,
       int lanes)
{
  int open = 0;
  for (int l = 0; l < lanes; l++) {
    double most = 0, change = sqrt (square[l]), left = change * ratio[l] / (1 - ratio[l]);
    if (done[l])
      continue;
    for (int64_t i = 0; i < w->p->samples; i++) {
      float re = w->sample[i * 2 * VW + l], im = w->sample[(i * 2 + 1) * VW + l];
      int64_t at = i * LAM_EPG_WIDTH + w->lane + l;
      most = fmax (most, sqrt ((double) re * re + (double) im * im));
      if (a->re)
        a->re[at] = re;
      if (a->im)
        a->im[at] = im;
    }
    left = most > 0 ? left / most : left;
    /* In so many playings the change must have shrunk to 0.37 of what it was: if not, it is made of rounding. */
    bool rounding = false;
    if (a->played >= next[l]) {
      rounding = next[l] > 0 && change > 0.7 * mark[l];
      mark[l] = change;
      next[l] = a->played + (int) LAM_MIN (ceil (1 / (1 - ratio[l])), 1e6);
    }
    done[l] = a->played > 1 && (left < a->settle || rounding || change == 0);
    open += !done[l];
    if (done[l] || a->played == a->most_playings)
      a->residual = fmax (a->residual, left);
  }
  return open;
}

static int
settle (Walk *w, LamEpgArgs *a, int lanes)
{
  const LamEpgProgram *p = w->p;
  double ratio[VW], square[VW], mark[VW] = {0};
  int next[VW] = {0};
  bool done[VW] = {false};
  float *kept = w->sample + p->samples * 2 * VW;
  memset (kept, 0, (size_t) (PLANES * (p->waters + p->semisolid) * p->orders) * VW * sizeof *kept);
  contraction (w, ratio);
  for (a->played = 1; a->played <= a->most_playings; a->played++) {
    do_passes (w, true);
    state_change (w, kept, square);
    if (judge (w, a, ratio, square, mark, next, done, lanes) == 0)
      break;
  }
  return LAM_MIN (a->played, a->most_playings);
}

static void
values (LamEpgArgs *a)
{
  const LamEpgProgram *p = a->program;
  Walk walk = {.a = a, .p = p, .kept = p->orders + 2 * LAM_EPG_MARGIN}, *w = &walk;
  int most = p->playings;
  a->residual = 0;
  for (w->lane = 0; w->lane < a->lanes; w->lane += VW) {
    begin (w, a->scratch);
    for (int r = 0; r < p->playings; r++)
      do_passes (w, r == p->playings - 1);
    if (p->playings == 0)
      most = LAM_MAX (most, settle (w, a, LAM_MIN (VW, a->lanes - w->lane)));
  }
  a->played = most;
}

/* ---- looking at the states ---- */

/* The first lane, in the frame of the receiver. */
static void
copy_state (const Walk *w, float *to)
{
  const int64_t n = w->p->orders;
  float re[VW], im[VW];
  vstore (re, w->frame_re);
  vstore (im, w->frame_im);
  memset (to, 0, (size_t) (LAM_EPG_STATE * n) * sizeof *to);
  for (int i = 0; i < w->p->waters; i++) {
    float *const *x = w->now->x + PLANES * i;
    for (int64_t k = 0; k < n; k++) {
      float pi = *AT (x[FPI], k), mi = *AT (x[FMI], k), pr = w->p->real ? 0 : *AT (x[FPR], k),
            mr = w->p->real ? 0 : *AT (x[FMR], k);
      to[FPR * n + k] += pr * re[0] - pi * im[0];
      to[FPI * n + k] += pr * im[0] + pi * re[0];
      to[FMR * n + k] += mr * re[0] + mi * im[0];
      to[FMI * n + k] += mi * re[0] - mr * im[0];
      to[ZR * n + k] += *AT (x[ZR], k);
      to[ZI * n + k] += w->p->real ? 0 : *AT (x[ZI], k);
    }
  }
}

static void
states (LamEpgArgs *a, float *state, LamEpgLook look, void *data)
{
  const LamEpgProgram *p = a->program;
  Walk walk = {.a = a, .p = p, .kept = p->orders + 2 * LAM_EPG_MARGIN}, *w = &walk;
  a->residual = 0;
  begin (w, a->scratch);
  if (p->playings == 0)
    settle (w, a, 1);
  for (int r = 1; r < p->playings; r++)
    do_passes (w, false);
  copy_state (w, state);
  look (data, -1, state);
  for (int64_t i = 0; i < p->passes; i++) {
    do_pass (w, &p->pass[i], true);
    copy_state (w, state);
    look (data, i, state);
  }
}

/* A square of VW vectors, turned about its diagonal: each zip sends the top bit of a place to its bottom. */
INLINE void
transpose (vf *x)
{
  vf y[VW];
#pragma GCC unroll 4
  for (int step = 1; step < VW; step *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < VW / 2; i++) {
      y[2 * i] = vzip_low (x[i], x[i + VW / 2]);
      y[2 * i + 1] = vzip_high (x[i], x[i + VW / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < VW; i++)
      x[i] = y[i];
  }
}

static void
turn_round (const float *from, int64_t samples, int lanes, float *to, int64_t stride)
{
  int64_t s = 0;
  for (; s + VW <= samples; s += VW)
    for (int at = 0; at < lanes; at += VW) {
      vf x[VW];
#pragma GCC unroll 16
      for (int i = 0; i < VW; i++)
        x[i] = vload (from + (s + i) * LAM_EPG_WIDTH + at);
      transpose (x);
      for (int l = 0; l < VW && at + l < lanes; l++)
        vstore (to + (at + l) * stride + s, x[l]);
    }
  for (; s < samples; s++)
    for (int l = 0; l < lanes; l++)
      to[l * stride + s] = from[s * LAM_EPG_WIDTH + l];
}
