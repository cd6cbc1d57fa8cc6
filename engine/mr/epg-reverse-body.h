/* epg-reverse-body.h: reverse mode. The passes are played forward once and the state is kept at every LAM_EPG_SEGMENT-th;
 * then segment by segment, from the end, each is played again with all its states kept, and the cotangent goes back. */
#pragma once

#include "mr/epg-staged-body.h"

typedef struct {
  Stage s;
  Flat lambda, x, relaxed, turned, scratch;
  Flat small, small_before, small_relaxed, small_lambda, small_scratch;
  vf *tissue; /* [n] sums */
} Reverse;

INLINE void
accumulate (const Stage *s, float *table, int64_t at, vf v)
{
  float *to = table + at * LAM_EPG_WIDTH + s->w.lane;
  vstore (to, vadd (vload (to), v));
}

static vf
inner (const Stage *s, Flat a, Flat b, int n)
{
  vf sum = vzero ();
  for (int i = 0; i < s->pools; i++)
    for (int q = i < s->waters ? FPR : ZR; q < PLANES; q++)
      for (int k = 0; k < n; k++)
        sum = vfma (vload (AT (PLANE (a, i, q), k)), vload (AT (PLANE (b, i, q), k)), sum);
  return sum;
}

static void
copy_flat (const Stage *s, Flat from, Flat to)
{
  memcpy (to.x, from.x, flat_floats (s, from.orders) * sizeof (float));
}

INLINE void
relax_transposed_with (const Stage *s, const float *e, int duration, Flat lambda, int n, const int waters,
                       const int pools, const bool shared)
{
  const float *l = e + LAM_EPG_TRANSVERSE (waters) * LAM_EPG_WIDTH;
  for (int k = 0; k < n; k++) {
    vf f[PLANES], v[LAM_EPG_WATERS + 1][PLANES];
    if (shared)
      shared_factors (s, duration, k, f);
    for (int i = 0; i < pools; i++)
      for (int q = i < waters ? FPR : ZR; q < PLANES; q += 2) {
        v[i][q] = vload (AT (PLANE (lambda, i, q), k));
        v[i][q + 1] = vload (AT (PLANE (lambda, i, q + 1), k));
        if (shared)
          multiply (&v[i][q], &v[i][q + 1], f[q], vneg (f[q + 1]));
      }
    for (int j = 0; j < waters; j++) {
      vf pr = vzero (), pi = vzero (), mr = vzero (), mi = vzero ();
      for (int i = 0; i < waters; i++) {
        vf cr = ENTRY (e, 2 * (i * waters + j)), ci = ENTRY (e, 2 * (i * waters + j) + 1);
        pr = vfma (v[i][FPI], ci, vfma (v[i][FPR], cr, pr));
        pi = vfnma (v[i][FPR], ci, vfma (v[i][FPI], cr, pi));
        mr = vfnma (v[i][FMI], ci, vfma (v[i][FMR], cr, mr));
        mi = vfma (v[i][FMR], ci, vfma (v[i][FMI], cr, mi));
      }
      vstore (AT (PLANE (lambda, j, FPR), k), pr);
      vstore (AT (PLANE (lambda, j, FPI), k), pi);
      vstore (AT (PLANE (lambda, j, FMR), k), mr);
      vstore (AT (PLANE (lambda, j, FMI), k), mi);
    }
    for (int j = 0; j < pools; j++) {
      vf zr = vzero (), zi = vzero ();
      for (int i = 0; i < pools; i++) {
        vf c = ENTRY (l, i * pools + j);
        zr = vfma (c, v[i][ZR], zr);
        zi = vfma (c, v[i][ZI], zi);
      }
      vstore (AT (PLANE (lambda, j, ZR), k), zr);
      vstore (AT (PLANE (lambda, j, ZI), k), zi);
    }
  }
}

/* lambda = E^T lambda for the first @n orders. */
static void
relax_transposed (const Stage *s, const float *e, int duration, Flat lambda, int n)
{
#define CALL(waters, pools, shared) relax_transposed_with (s, e, duration, lambda, n, waters, pools, shared)
  BY_POOLS (s, CALL);
#undef CALL
}

/* Back through a relaxation from @before to @after: sums for tissue quantities, for the duration, then lambda. */
static vf
relax_back (Reverse *r, int duration, Flat before, Flat after, Flat lambda, Flat scratch, int n)
{
  Stage *s = &r->s;
  const LamEpgDerivative *d = s->d;
  if (s->w.p->ordered)
    make_orders (&s->w, duration);
  for (int j = 0; j < d->n; j++) {
    if (d->by[j].tissue < 0)
      continue;
    relax (s, exchange_at (s, d->d_exchange + (int64_t) j * s->w.p->durations * s->floats * LAM_EPG_WIDTH, duration),
           duration, before, scratch, n, false, true);
    r->tissue[j] = vadd (r->tissue[j], inner (s, lambda, scratch, n));
    Logs l = logs_of (s, j, duration, 0);
    if (l.any)
      r->tissue[j] = vadd (r->tissue[j], read_logs (s, &l, after, lambda, n));
  }
  vf time = vzero ();
  if (d->g_pass) {
    const Walk *w = &s->w;
    const float wind = (float) w->p->winding;
    relax (s, exchange_at (s, d->dt_exchange, duration), duration, before, scratch, n, false, true);
    time = inner (s, lambda, scratch, n);
    Logs l = {vzero (), vzero (), vzero (), w->p->precessing || w->p->ordered};
    if (w->p->precessing)
      l.precession = vmul (tissue (w, LAM_B0), vset (-6.2831853f));
    if (w->p->ordered) {
      l.diffusion = vmul (tissue (w, LAM_DIFFUSION), vset (-1e-9f * wind * wind));
      l.flow = vmul (tissue (w, LAM_VELOCITY), vset (-wind));
    }
    if (l.any)
      time = vadd (time, read_logs (s, &l, after, lambda, n));
  }
  relax_transposed (s, exchange_at (s, d->a.exchange, duration), duration, lambda, n);
  return time;
}

/* A sample's cotangent into order 0 of @lambda, and what hangs on the sample alone. */
static void
put_back (Reverse *r, const LamEpgRecord *record, Flat x, Flat lambda, bool seen)
{
  Stage *s = &r->s;
  Walk *w = &s->w;
  const LamEpgDerivative *d = s->d;
  const int64_t at = (int64_t) record->out * LAM_EPG_WIDTH + w->lane;
  vf gr = vload (d->cot_re + at), gi = vload (d->cot_im + at), xr = vzero (), xi = vzero ();
  const bool factor = w->p->analytic && record->factor >= 0;
  const double tau = factor ? w->p->factor[record->factor] : 0;
  if (!seen)
    return;
  for (int i = 0; i < s->waters; i++) {
    xr = vadd (xr, vload (PLANE (x, i, FPR)));
    xi = vadd (xi, vload (PLANE (x, i, FPI)));
  }
  vf fr = vset ((float) record->re), fi = vset ((float) record->im);
  if (factor)
    multiply (&fr, &fi, vload (w->factor + record->factor * 2 * VW), vload (w->factor + record->factor * 2 * VW + VW));
  vf sr = xr, si = xi; /* the sample without M0 */
  multiply (&sr, &si, fr, fi);
  vf or = sr, oi = si; /* the sample */
  multiply (& or, &oi, w->m0_re, w->m0_im);
  vf along = vfma (or, gr, vmul (oi, gi)), across = vfnma (oi, gr, vmul (or, gi)); /* Re, Im of conj (sample) g */
  for (int j = 0; j < d->n; j++) {
    vf v = vzero ();
    switch (d->by[j].tissue) {
    case LAM_M0:
      v = vfma (sr, gr, vmul (si, gi));
      break;
    case LAM_M0_IMAG:
      v = vfnma (si, gr, vmul (sr, gi));
      break;
    case LAM_B0:
      v = factor ? vmul (across, vset ((float) (-6.283185307179586 * tau))) : v;
      break;
    case LAM_T2_PRIME:
      if (factor) {
        vf time = vmax (tissue (w, LAM_T2_PRIME), vset (1e-6f));
        v = vmul (along, vdiv (vdiv (vset ((float) (1000 * fabs (tau))), time), time));
      }
      break;
    default:
      break;
    }
    r->tissue[j] = vadd (r->tissue[j], v);
  }
  if (d->g_factor && factor) {
    vf decay = vdiv (vset (tau < 0 ? 1000.0f : -1000.0f), vmax (tissue (w, LAM_T2_PRIME), vset (1e-6f)));
    vf turn_rate = vmul (vset (-6.2831853f), tissue (w, LAM_B0));
    accumulate (s, d->g_factor, record->out, vfma (along, decay, vmul (across, turn_rate)));
  }
  if (d->g_record)
    accumulate (s, d->g_record, record->out, vneg (across));
  multiply (&fr, &fi, w->m0_re, w->m0_im);
  multiply (&gr, &gi, fr, vneg (fi));
  for (int i = 0; i < s->waters; i++) {
    float *re = PLANE (lambda, i, FPR), *im = PLANE (lambda, i, FPI);
    vstore (re, vadd (vload (re), gr));
    vstore (im, vadd (vload (im), gi));
  }
}

static void
peek_back (Reverse *r, const LamEpgRecord *record, Flat end)
{
  Stage *s = &r->s;
  const int n = LAM_MAX (record->shift, 0) + 1;
  copy_low (s, end, r->small, n);
  copy_flat (s, r->small, r->small_before);
  if (record->relax >= 0) {
    if (s->w.p->ordered)
      make_orders (&s->w, record->relax);
    relax (s, exchange_at (s, s->d->a.exchange, record->relax), record->relax, r->small_before, r->small, n, false,
           true);
  }
  copy_flat (s, r->small, r->small_relaxed);
  wind (s, r->small, LAM_MAX (record->shift, 0));
  memset (r->small_lambda.x, 0, flat_floats (s, r->small_lambda.orders) * sizeof (float));
  put_back (r, record, r->small, r->small_lambda, record->shift >= 0);
  unwind (s, r->small_lambda, LAM_MAX (record->shift, 0));
  if (record->relax >= 0) {
    vf time = relax_back (r, record->relax, r->small_before, r->small_relaxed, r->small_lambda, r->small_scratch, n);
    if (s->d->g_peek)
      accumulate (s, s->d->g_peek, record->out, time);
  }
  for (int i = 0; i < s->planes; i++)
    for (int k = 0; k < LAM_MIN (n, r->lambda.orders); k++) {
      float *to = r->lambda.x + ((int64_t) i * r->lambda.orders + k) * VW;
      vstore (to, vadd (vload (to), vload (r->small_lambda.x + ((int64_t) i * r->small_lambda.orders + k) * VW)));
    }
}

/* From a pass's relaxation to its pulse: @before (which may be @to) into @to. @relaxed, if given, gets what lies between. */
static void
play_to_pulse (Reverse *r, const LamEpgPass *pass, Flat before, Flat to, const Flat *relaxed)
{
  Stage *s = &r->s;
  const LamEpgDerivative *d = s->d;
  const int n = s->w.p->orders;
  if (pass->relax >= 0) {
    if (s->w.p->ordered)
      make_orders (&s->w, pass->relax);
    relax (s, exchange_at (s, d->a.exchange, pass->relax), pass->relax, before, to, n, false, true);
  } else if (before.x != to.x)
    copy_flat (s, before, to);
  if (relaxed)
    copy_flat (s, to, *relaxed);
  wind (s, to, pass->before);
  if (pass->kind == LAM_PASS_ROTATE) {
    Rotation q = rotation_of (s, pass);
    rotate (s, &q, to, n, false);
    if (d->a.saturation)
      scale_z (to, s->waters, n, vload (d->a.saturation + (int64_t) pass->rf * LAM_EPG_WIDTH + s->w.lane));
  }
}

/* And from there to the pass's end, in place. */
static void
play_to_end (Reverse *r, const LamEpgPass *pass, Flat x)
{
  Stage *s = &r->s;
  if (pass->kind == LAM_PASS_INVERT)
    for (int i = 0; i < s->waters; i++)
      scale_z (x, i, s->w.p->orders, vneg (tissue (&s->w, LAM_INV_EFFICIENCY)));
  wind (s, x, pass->after);
}

/* A whole pass of @r->x. */
static void
replay (Reverse *r, const LamEpgPass *pass)
{
  if (pass->spoil)
    spoil (&r->s, r->x);
  play_to_pulse (r, pass, r->x, r->x, NULL);
  play_to_end (r, pass, r->x);
}

static void
rotate_back (Reverse *r, const LamEpgPass *pass, int n)
{
  Stage *s = &r->s;
  const LamEpgDerivative *d = s->d;
  const LamEpgPulse *pulse = &s->w.p->pulse[pass->rf];
  const vf b1 = vload (d->a.field + (int64_t) pulse->shim * 2 * LAM_EPG_WIDTH + s->w.lane);
  Rotation q = rotation_of (s, pass);
  vf flip[3], phase[3], g[3], by_flip = vzero (), by_phase = vzero (), by_b0 = vzero ();
  turn_vectors (s, pass, &q, flip, phase);
  read_turn (s, r->turned, r->lambda, n, g);
  for (int i = 0; i < 3; i++) {
    by_flip = vfma (flip[i], g[i], by_flip);
    by_phase = vfma (phase[i], g[i], by_phase);
  }
  if (d->a.saturation) {
    vf sum = vzero ();
    for (int z = ZR; z <= ZI; z++)
      for (int k = 0; k < n; k++)
        sum = vfma (vload (AT (PLANE (r->turned, s->waters, z), k)), vload (AT (PLANE (r->lambda, s->waters, z), k)),
                    sum);
    const float *sat = d->d_saturation + (int64_t) pass->rf * 2 * LAM_EPG_WIDTH + s->w.lane;
    by_flip = vfma (sum, vload (sat), by_flip);
    by_b0 = vmul (sum, vload (sat + LAM_EPG_WIDTH));
    scale_z (r->lambda, s->waters, n, vload (d->a.saturation + (int64_t) pass->rf * LAM_EPG_WIDTH + s->w.lane));
  }
  for (int j = 0; j < d->n; j++) {
    vf v = vzero ();
    if (d->by[j].tissue == LAM_B1 && pulse->by_field)
      v = vmul (by_flip, vset ((float) pulse->flip));
    else if (d->by[j].tissue == LAM_B1_PHASE && pulse->by_field)
      v = by_phase;
    else if (d->by[j].tissue == LAM_B0)
      v = by_b0;
    r->tissue[j] = vadd (r->tissue[j], v);
  }
  if (d->g_flip)
    accumulate (s, d->g_flip, pass->rf, vmul (b1, by_flip));
  if (d->g_phase)
    accumulate (s, d->g_phase, pass->rf, by_phase);
  rotate (s, &q, r->lambda, n, true);
}

static void
invert_back (Reverse *r, int n)
{
  Stage *s = &r->s;
  const vf by = vneg (tissue (&s->w, LAM_INV_EFFICIENCY));
  for (int j = 0; j < s->d->n; j++)
    if (s->d->by[j].tissue == LAM_INV_EFFICIENCY)
      for (int i = 0; i < s->waters; i++)
        for (int z = ZR; z <= ZI; z++)
          for (int k = 0; k < n; k++)
            r->tissue[j] =
                vfnma (vload (AT (PLANE (r->turned, i, z), k)), vload (AT (PLANE (r->lambda, i, z), k)), r->tissue[j]);
  for (int i = 0; i < s->waters; i++)
    scale_z (r->lambda, i, n, by);
}

/* @start: the state at the pass's beginning; it may be spoiled here. */
static void
back_pass (Reverse *r, int64_t index, Flat start, bool record)
{
  Stage *s = &r->s;
  const LamEpgPass *pass = &s->w.p->pass[index];
  const int n = s->w.p->orders;
  if (pass->spoil)
    spoil (s, start);
  play_to_pulse (r, pass, start, r->turned, s->w.p->precessing || s->w.p->ordered ? &r->relaxed : NULL);
  if (record && pass->n_peeks > 0) {
    copy_flat (s, r->turned, r->x);
    play_to_end (r, pass, r->x);
    for (int i = pass->n_peeks - 1; i >= 0; i--)
      peek_back (r, &s->w.p->record[pass->peeks + i], r->x);
  }
  unwind (s, r->lambda, pass->after);
  for (int i = pass->n_records - 1; record && i >= 0; i--)
    put_back (r, &s->w.p->record[pass->records + i], r->turned, r->lambda, true);
  if (pass->kind == LAM_PASS_ROTATE)
    rotate_back (r, pass, n);
  else if (pass->kind == LAM_PASS_INVERT)
    invert_back (r, n);
  unwind (s, r->lambda, pass->before);
  if (pass->relax >= 0) {
    vf time = relax_back (r, pass->relax, start, r->relaxed, r->lambda, r->scratch, n);
    if (s->d->g_pass)
      accumulate (s, s->d->g_pass, index, time);
  }
  if (pass->spoil)
    spoil (s, r->lambda);
}

static void
gradient (LamEpgDerivative *d)
{
  const LamEpgProgram *p = d->a.program;
  const int64_t passes = p->passes * p->playings, segments = (passes + LAM_EPG_SEGMENT - 1) / LAM_EPG_SEGMENT;
  Reverse reverse, *r = &reverse;
  Stage *s = &r->s;
  vf sums[LAM_EPG_MOST_BY];
  r->tissue = sums;
  for (int lane = 0; lane < d->a.lanes; lane += VW) {
    s->w.lane = lane;
    float *scratch = begin_stage (s, d, d->a.scratch);
    Flat *full[] = {&r->lambda, &r->x, &r->relaxed, &r->turned, &r->scratch};
    Flat *small[] = {&r->small, &r->small_before, &r->small_relaxed, &r->small_lambda, &r->small_scratch};
    for (int i = 0; i < 5; i++)
      *full[i] = place (s, &scratch, p->orders);
    for (int i = 0; i < 5; i++)
      *small[i] = place (s, &scratch, LAM_EPG_MARGIN + 1);
    float *kept = scratch, *segment = scratch + segments * flat_floats (s, p->orders);
    for (int j = 0; j < d->n; j++)
      sums[j] = vzero ();
    equilibrium (s, r->x);
    for (int64_t i = 0; i < passes; i++) {
      if (i % LAM_EPG_SEGMENT == 0)
        copy_flat (s, r->x, (Flat){kept + i / LAM_EPG_SEGMENT * flat_floats (s, p->orders), p->orders});
      replay (r, &p->pass[i % p->passes]);
    }
    memset (r->lambda.x, 0, flat_floats (s, p->orders) * sizeof (float));
    for (int64_t g = segments - 1; g >= 0; g--) {
      const int64_t first = g * LAM_EPG_SEGMENT, last = LAM_MIN (passes, first + LAM_EPG_SEGMENT);
      copy_flat (s, (Flat){kept + g * flat_floats (s, p->orders), p->orders}, r->x);
      for (int64_t i = first; i < last; i++) {
        copy_flat (s, r->x, (Flat){segment + (i - first) * flat_floats (s, p->orders), p->orders});
        replay (r, &p->pass[i % p->passes]);
      }
      for (int64_t i = last - 1; i >= first; i--)
        back_pass (r, i % p->passes, (Flat){segment + (i - first) * flat_floats (s, p->orders), p->orders},
                   i >= passes - p->passes);
    }
    for (int j = 0; j < d->n; j++) { /* equilibrium holds the pools' fractions */
      equilibrium_tangent (s, j, r->scratch);
      sums[j] = vadd (sums[j], inner (s, r->lambda, r->scratch, p->orders));
      if (d->g_tissue)
        vstore (d->g_tissue + (int64_t) j * LAM_EPG_WIDTH + lane, sums[j]);
    }
  }
}
