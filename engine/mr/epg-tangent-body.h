/* epg-tangent-body.h: the real path's Jacobian. A tangent goes through the same pass as the state; what the quantity changes in
 * the pass itself is added on the way: for d ln E1 = r1 and d ln E2 = r2 before, t += r s; for the angle after, since
 * d (f, Z) / d alpha of the turned state is (-Z, f) with f = (p - m) / 2. */
#pragma once

#include "mr/epg-body.h"

typedef struct {
  State *now, *next; /* FPI, FMI, ZR only */
  State state[2];
} Tangent;

typedef struct {
  Walk w;
  const LamEpgDerivative *d;
  Tangent *t;
  Tangent *swept[3]; /* by T1, T2 and B1, where these (M0 aside) are all there is; by B1 may be NULL */
  bool sweeps;
  bool *alive;         /* a tangent is all 0 until its quantity first acts */
  vf by_t1, by_t2;     /* d ln E1, d ln E2 by T1 and T2 for a second, 1/ms */
  vf rate_t1, rate_t2; /* ... by the duration, 1/s */
} TangentWalk;

INLINE void
tangent_pass (const Walk *w, Tangent *t, const bool by_t1, const bool by_t2, const bool by_angle,
              const LamEpgPass *pass, const RealCoefficients *q, vf r1, vf r2, vf angle)
{
  const int n = pass->orders, nb = pass->before, na = pass->after;
  const float *p = AT (w->now->x[FPI], -nb), *m = AT (w->now->x[FMI], nb), *z = w->now->x[ZR];
  const float *sp = AT (w->next->x[FPI], na), *sm = AT (w->next->x[FMI], -na), *sz = w->next->x[ZR];
  const float *tp = AT (t->now->x[FPI], -nb), *tm = AT (t->now->x[FMI], nb), *tz = t->now->x[ZR];
  float *up = AT (t->next->x[FPI], na), *um = AT (t->next->x[FMI], -na), *uz = t->next->x[ZR];
  const vf e2 = q->e2, e2h = vmul (e2, vset (0.5f)), less = vfms (q->c, e2h, e2h), se2h = vmul (q->s, e2h);
  const vf c1 = vfma (q->c, q->e1m, q->c), s1 = vfma (q->s, q->e1m, q->s), ah = vmul (angle, vset (0.5f));
#pragma GCC unroll 2
  for (int k = 0; k < n; k++) {
    vf fp = vload (AT (tp, k)), fm = vload (AT (tm, k)), fz = vload (AT (tz, k));
    if (by_t1)
      fz = vfma (r1, vload (AT (z, k)), fz);
    if (by_t2) {
      fp = vfma (r2, vload (AT (p, k)), fp);
      fm = vfma (r2, vload (AT (m, k)), fm);
    }
    vf d = vsub (fp, fm), more = vfnma (s1, fz, vmul (less, d)), nz = vfma (c1, fz, vmul (se2h, d));
    if (by_angle) {
      more = vfnma (angle, vload (AT (sz, k)), more);
      nz = vfma (ah, vsub (vload (AT (sp, k)), vload (AT (sm, k))), nz);
    }
    vstore (AT (up, k), vfma (e2, fp, more));
    vstore (AT (um, k), vfms (e2, fm, more));
    vstore (AT (uz, k), nz);
  }
  if (by_t1) { /* what recovers changes too, by -r1 E1 */
    vf back = vneg (vfma (r1, q->e1m, r1));
    vstore (uz, vfma (q->c, back, vload (uz)));
    vstore (up, vfnma (q->s, back, vload (up)));
    vstore (um, vfma (q->s, back, vload (um)));
  }
}

/* The state and its tangents by T1, T2 and, if @three, by the angle in one sweep and in place: what most calls ask for. Planes
 * that are read and written at two places would not stay in the first cache together. Winds one order before the pulse. */
INLINE void
sweep (Walk *w, Tangent *const *t, const bool three, const LamEpgPass *pass, const RealCoefficients *q, vf r1, vf r2,
       vf angle)
{
  const int n = pass->orders, states = three ? 4 : 3;
  const vf e2 = q->e2, e2h = vmul (e2, vset (0.5f)), less = vfms (q->c, e2h, e2h), se2h = vmul (q->s, e2h);
  const vf c1 = vfma (q->c, q->e1m, q->c), s1 = vfma (q->s, q->e1m, q->s), ah = vmul (angle, vset (0.5f));
  float *p[4], *m[4], *z[4];
  vf below[4];
#pragma GCC unroll 4
  for (int i = 0; i < states; i++) {
    const State *s = i == 0 ? w->now : t[i - 1]->now;
    p[i] = s->x[FPI];
    m[i] = s->x[FMI];
    z[i] = s->x[ZR];
    below[i] = vneg (vload (AT (m[i], 1)));
  }
  for (int k = 0; k < n; k++) {
    const vf sp = below[0], sm = vload (AT (m[0], k + 1)), sz = vload (AT (z[0], k));
    vf turned_p = vzero (), turned_m = vzero (), turned_z = vzero ();
#pragma GCC unroll 4
    for (int i = 0; i < states; i++) {
      vf fp = below[i], fm = i > 0 ? vload (AT (m[i], k + 1)) : sm, fz = i > 0 ? vload (AT (z[i], k)) : sz;
      below[i] = vload (AT (p[i], k));
      if (i == 1)
        fz = vfma (r1, sz, fz);
      if (i == 2) {
        fp = vfma (r2, sp, fp);
        fm = vfma (r2, sm, fm);
      }
      vf d = vsub (fp, fm), more = vfnma (s1, fz, vmul (less, d)), nz = vfma (c1, fz, vmul (se2h, d));
      if (i == 3) {
        more = vfnma (angle, turned_z, more);
        nz = vfma (ah, vsub (turned_p, turned_m), nz);
      }
      vf np = vfma (e2, fp, more), nm = vfms (e2, fm, more);
      if (three && i == 0) {
        if (k == 0) {
          np = vfnma (q->s, q->back, np);
          nm = vfma (q->s, q->back, nm);
          nz = vfma (q->c, q->back, nz);
        }
        turned_p = np;
        turned_m = nm;
        turned_z = nz;
      }
      vstore (AT (p[i], k), np);
      vstore (AT (m[i], k), nm);
      vstore (AT (z[i], k), nz);
    }
  }
  const vf back[] = {q->back, vneg (vfma (r1, q->e1m, r1))}; /* what recovers changes too, by -r1 E1 */
  for (int i = three ? 1 : 0; i < 2; i++) {
    vstore (z[i], vfma (q->c, back[i], vload (z[i])));
    vstore (p[i], vfnma (q->s, back[i], vload (p[i])));
    vstore (m[i], vfma (q->s, back[i], vload (m[i])));
  }
}

static void
fold_tangent_before (const Tangent *t, int before)
{
  for (int j = 1; j <= before; j++)
    vstore (AT (t->now->x[FPI], -j), vneg (vload (AT (t->now->x[FMI], j))));
}

static void
fold_tangent_after (const Tangent *t, int n, int after)
{
  for (int j = 0; j < after; j++) {
    vstore (AT (t->next->x[FPI], j), vneg (vload (AT (t->next->x[FMI], -j))));
    vstore (AT (t->next->x[FMI], n - after + j), vzero ());
  }
}

/* 1000 / T^2 in 1/(s ms), and -1000 / T in 1/s. */
INLINE vf
rate (const Walk *w, int quantity, bool by_value)
{
  vf t = vmax (tissue (w, quantity), vset (1e-6f)), r = vdiv (vset (1000.0f), t);
  return by_value ? vneg (r) : vdiv (r, t);
}

static void
do_tangent (TangentWalk *tw, int j, const LamEpgPass *pass, int64_t index, const RealCoefficients *q)
{
  Walk *w = &tw->w;
  Tangent *t = &tw->t[j];
  const LamEpgBy *by = &tw->d->by[j];
  const float dt = pass->relax < 0 ? 0 : (float) w->p->duration[pass->relax];
  bool by_t1 = false, by_t2 = false, by_angle = false;
  vf r1 = vzero (), r2 = vzero (), angle = vzero ();
  if (by->tissue == LAM_T1 && dt > 0) {
    by_t1 = true;
    r1 = vmul (tw->by_t1, vset (dt));
  } else if (by->tissue == LAM_T2 && dt > 0) {
    by_t2 = true;
    r2 = vmul (tw->by_t2, vset (dt));
  } else if (by->tissue < 0 && by->pass && by->pass[index] != 0) {
    by_t1 = by_t2 = true;
    r1 = vmul (tw->rate_t1, vset (by->pass[index]));
    r2 = vmul (tw->rate_t2, vset (by->pass[index]));
  }
  if (pass->kind == LAM_PASS_ROTATE) {
    const LamEpgPulse *pulse = &w->p->pulse[pass->rf];
    const vf b1 = vload (w->a->field + (int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + w->lane);
    if (by->tissue == LAM_B1 && pulse->signed_flip != 0 && pulse->by_field) {
      by_angle = true;
      angle = vset ((float) pulse->signed_flip);
    } else if (by->tissue < 0 && by->flip && by->flip[pass->rf] != 0) {
      by_angle = true;
      angle = vmul (b1, vset (pulse->sign * by->flip[pass->rf]));
    }
  }
  bool acts = by_t1 || by_t2 || by_angle || (by->tissue == LAM_INV_EFFICIENCY && pass->kind == LAM_PASS_INVERT);
  if (!tw->alive[j] && !acts)
    return;
  tw->alive[j] = true;
  fold_tangent_before (t, pass->before);
  switch (by_t1 + 2 * by_t2 + 4 * by_angle) {
  case 0:
    tangent_pass (w, t, false, false, false, pass, q, r1, r2, angle);
    break;
  case 1:
    tangent_pass (w, t, true, false, false, pass, q, r1, r2, angle);
    break;
  case 2:
    tangent_pass (w, t, false, true, false, pass, q, r1, r2, angle);
    break;
  case 3:
    tangent_pass (w, t, true, true, false, pass, q, r1, r2, angle);
    break;
  case 4:
    tangent_pass (w, t, false, false, true, pass, q, r1, r2, angle);
    break;
  default:
    tangent_pass (w, t, true, true, true, pass, q, r1, r2, angle);
    break;
  }
  if (pass->kind == LAM_PASS_INVERT) { /* the state is not inverted yet */
    const vf efficiency = vneg (tissue (w, LAM_INV_EFFICIENCY));
    for (int k = 0; k < pass->orders; k++) {
      vf x = vmul (efficiency, vload (AT (t->next->x[ZR], k)));
      if (by->tissue == LAM_INV_EFFICIENCY)
        x = vsub (x, vload (AT (w->next->x[ZR], k)));
      vstore (AT (t->next->x[ZR], k), x);
    }
  }
}

/* Sample @r of the tangent whose value there is @t, with the state's own @x; both of the real path. */
static void
put_tangent (TangentWalk *tw, int j, const LamEpgRecord *r, vf t, vf x)
{
  Walk *w = &tw->w;
  const LamEpgDerivative *d = tw->d;
  const LamEpgBy *by = &d->by[j];
  vf re = t, im = vzero ();
  if (w->p->analytic && r->factor >= 0) {
    const float *f = w->factor + r->factor * 2 * VW;
    vf fr = vload (f), fi = vload (f + VW), lr = vzero (), li = vzero (); /* d ln of the factor */
    const double tau = w->p->factor[r->factor];
    if (by->tissue == LAM_B0)
      li = vset ((float) (-6.283185307179586 * tau));
    else if (by->tissue == LAM_T2_PRIME)
      lr = vmul (vset ((float) fabs (tau)), rate (w, LAM_T2_PRIME, false));
    else if (by->tissue < 0 && by->factor && by->factor[r->out] != 0) {
      lr = vmul (vset (tau < 0 ? -by->factor[r->out] : by->factor[r->out]), rate (w, LAM_T2_PRIME, true));
      li = vmul (vset ((float) (-6.283185307179586 * by->factor[r->out])), tissue (w, LAM_B0));
    }
    re = vfma (lr, x, t);
    im = vmul (li, x);
    vf y = vfnma (im, fi, vmul (re, fr));
    im = vfma (im, fr, vmul (re, fi));
    re = y;
  }
  vf m0 = w->m0_re, m1 = w->m0_im;
  vf y = vfnma (im, m1, vmul (re, m0));
  im = vfma (im, m0, vmul (re, m1));
  re = y;
  vf cr = vset ((float) r->re), ci = vset ((float) r->im);
  const int64_t at = ((int64_t) j * w->p->samples + r->out) * LAM_EPG_WIDTH + w->lane;
  if (d->d_re)
    vstore (d->d_re + at, vfnma (im, ci, vmul (re, cr)));
  if (d->d_im)
    vstore (d->d_im + at, vfma (im, cr, vmul (re, ci)));
}

/* By M0 the derivative is the sample at M0 = 1, or i. */
static void
put_density (TangentWalk *tw, int j, const LamEpgRecord *r, vf x)
{
  Walk *w = &tw->w;
  float *d_re = tw->d->d_re, *d_im = tw->d->d_im;
  const int64_t at = ((int64_t) j * w->p->samples + r->out) * LAM_EPG_WIDTH + w->lane;
  vf re = x, im = vzero ();
  if (w->p->analytic && r->factor >= 0) {
    const float *f = w->factor + r->factor * 2 * VW;
    im = vmul (x, vload (f + VW));
    re = vmul (x, vload (f));
  }
  if (tw->d->by[j].tissue == LAM_M0_IMAG) {
    vf y = vneg (im);
    im = re;
    re = y;
  }
  vf cr = vset ((float) r->re), ci = vset ((float) r->im);
  if (d_re)
    vstore (d_re + at, vfnma (im, ci, vmul (re, cr)));
  if (d_im)
    vstore (d_im + at, vfma (im, cr, vmul (re, ci)));
}

static void
put_all (TangentWalk *tw, const LamEpgRecord *r, bool peeked, int after)
{
  Walk *w = &tw->w;
  const State *s = peeked ? w->now : w->next;
  const float *e = !peeked || r->relax < 0 ? NULL : w->relax + (int64_t) r->relax * 4 * VW;
  vf e2 = e ? vload (e + VW) : vset (1.0f), x = vzero ();
  if (r->shift >= 0)
    x = r->shift == 0 ? vload (AT (s->x[FPI], after)) : vneg (vload (AT (s->x[FMI], r->shift)));
  x = vmul (x, e2);
  for (int j = 0; j < tw->d->n; j++) {
    const LamEpgBy *by = &tw->d->by[j];
    if (by->tissue == LAM_M0 || by->tissue == LAM_M0_IMAG) {
      put_density (tw, j, r, x);
      continue;
    }
    const State *ts = peeked ? tw->t[j].now : tw->t[j].next;
    vf t = vzero ();
    if (r->shift >= 0 && tw->alive[j])
      t = r->shift == 0 ? vload (AT (ts->x[FPI], after)) : vneg (vload (AT (ts->x[FMI], r->shift)));
    t = vmul (t, e2);
    if (e && by->tissue == LAM_T2)
      t = vfma (vmul (tw->by_t2, vset ((float) w->p->duration[r->relax])), x, t);
    if (e && by->tissue < 0 && by->peek && by->peek[r->out] != 0)
      t = vfma (vmul (tw->rate_t2, vset (by->peek[r->out])), x, t);
    put_tangent (tw, j, r, t, x);
  }
}

static void
clear_tangent (const TangentWalk *tw, Tangent *t)
{
  const int64_t plane = (int64_t) tw->w.kept * VW;
  for (int f = FPI; f <= FMI; f += FMI - FPI) {
    memset (AT (t->now->x[f], -LAM_EPG_MARGIN), 0, plane * sizeof (float));
    memset (AT (t->next->x[f], -LAM_EPG_MARGIN), 0, plane * sizeof (float));
  }
}

/* Which passes `sweep` plays. */
INLINE bool
is_swept (const TangentWalk *tw, const LamEpgPass *pass)
{
  if (!tw->sweeps || pass->kind != LAM_PASS_ROTATE || pass->before != 1 || pass->after != 0 || pass->relax < 0
      || pass->n_records > 0)
    return false;
  const LamEpgPulse *pulse = &tw->w.p->pulse[pass->rf];
  return !tw->swept[2] || (pulse->signed_flip != 0 && pulse->by_field);
}

static void
do_sweep (TangentWalk *tw, const LamEpgPass *pass, const RealCoefficients *q)
{
  const vf dt = vset ((float) tw->w.p->duration[pass->relax]), r1 = vmul (tw->by_t1, dt), r2 = vmul (tw->by_t2, dt);
  if (tw->swept[2])
    sweep (&tw->w, tw->swept, true, pass, q, r1, r2, vset ((float) tw->w.p->pulse[pass->rf].signed_flip));
  else
    sweep (&tw->w, tw->swept, false, pass, q, r1, r2, vzero ());
  for (int j = 0; j < tw->d->n; j++)
    tw->alive[j] = true;
}

static void
do_tangents (TangentWalk *tw, int64_t index, bool record)
{
  Walk *w = &tw->w;
  const LamEpgPass *pass = &w->p->pass[index];
  if (pass->spoil) {
    clear_transverse (w);
    for (int j = 0; j < tw->d->n; j++)
      clear_tangent (tw, &tw->t[j]);
  }
  RealCoefficients q = real_coefficients (w, pass);
  if (is_swept (tw, pass))
    do_sweep (tw, pass, &q);
  else {
    w->out = w->next;
    fold_before (w, pass->before);
    real_pass (w, false, pass, &q);
    for (int j = 0; j < tw->d->n; j++)
      do_tangent (tw, j, pass, index, &q);
    if (pass->kind == LAM_PASS_INVERT)
      invert (w, pass->orders);
    if (record)
      for (int i = 0; i < pass->n_records; i++)
        put_all (tw, &w->p->record[pass->records + i], false, pass->after);
    if (record && (w->a->re || w->a->im))
      take_records (w, pass);
    fold_after (w, pass->orders, pass->after);
    swap_states (&w->now, &w->next);
    for (int j = 0; j < tw->d->n; j++) {
      Tangent *t = &tw->t[j];
      if (!tw->alive[j])
        continue;
      fold_tangent_after (t, pass->orders, pass->after);
      swap_states (&t->now, &t->next);
    }
  }
  for (int i = 0; record && i < pass->n_peeks; i++) {
    put_all (tw, &w->p->record[pass->peeks + i], true, 0);
    if (w->a->re || w->a->im)
      peek (w, &w->p->record[pass->peeks + i]);
  }
}

static void
find_swept (TangentWalk *tw)
{
  bool others = false;
  for (int j = 0; j < tw->d->n; j++)
    switch (tw->d->by[j].tissue) {
    case LAM_T1:
      tw->swept[0] = &tw->t[j];
      break;
    case LAM_T2:
      tw->swept[1] = &tw->t[j];
      break;
    case LAM_B1:
      tw->swept[2] = &tw->t[j];
      break;
    case LAM_M0:
    case LAM_M0_IMAG:
      break;
    default:
      others = true;
    }
  tw->sweeps = tw->swept[0] && tw->swept[1] && !others;
}

static void
jacobian_real (LamEpgDerivative *d)
{
  const LamEpgProgram *p = d->a.program;
  Tangent tangents[LAM_EPG_MOST_BY];
  bool alive[LAM_EPG_MOST_BY];
  const int64_t plane = (int64_t) (p->orders + 2 * LAM_EPG_MARGIN) * VW, stride = lam_epg_plane (p);
  static const int planes[] = {FPI, FMI, ZR};
  TangentWalk walk = {
      .w = {.a = &d->a, .p = p, .kept = p->orders + 2 * LAM_EPG_MARGIN}, .d = d, .t = tangents, .alive = alive};
  find_swept (&walk);
  for (walk.w.lane = 0; walk.w.lane < d->a.lanes; walk.w.lane += VW) {
    float *scratch = d->a.scratch + lam_epg_scratch (p);
    begin (&walk.w, d->a.scratch);
    walk.by_t1 = rate (&walk.w, LAM_T1, false);
    walk.by_t2 = rate (&walk.w, LAM_T2, false);
    walk.rate_t1 = rate (&walk.w, LAM_T1, true);
    walk.rate_t2 = rate (&walk.w, LAM_T2, true);
    for (int j = 0; j < d->n; j++) {
      alive[j] = false;
      tangents[j].now = &tangents[j].state[0];
      tangents[j].next = &tangents[j].state[1];
      for (int f = 0; f < 3; f++, scratch += 2 * (stride + LAM_EPG_HALF_PAGE)) {
        float *now = scratch, *next = scratch + stride + LAM_EPG_HALF_PAGE;
        memset (now, 0, plane * sizeof *now);
        memset (next, 0, plane * sizeof *next);
        tangents[j].state[0].x[planes[f]] = now + LAM_EPG_MARGIN * VW;
        tangents[j].state[1].x[planes[f]] = next + LAM_EPG_MARGIN * VW;
      }
    }
    for (int r = 0; r < p->playings; r++)
      for (int64_t i = 0; i < p->passes; i++)
        do_tangents (&walk, i, r == p->playings - 1);
  }
}
