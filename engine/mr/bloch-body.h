/* bloch-body.h: the Bloch kernel, one body for every instruction set (bloch-kernels.h has the contract).
 *
 * Free evolution is exact: the phase is made in double and cut to less than half a turn before it is a float. The steps
 * of a pulse are in double: thousands of them each take a little of the relaxation, less than a float's last digit. A
 * step turns the magnetisation by Rodrigues' formula in powers of the squared angle, which is below 1: no root and no
 * division. The state between is float.
 *
 * Derivatives are forward mode: each step is derived by hand beside the step itself, and a tangent goes through all of them
 * with the state. What the state does is the same with and without tangents, to the bit. */
#include "mr/bloch-kernels.h"
#include "mr/bloch-vec.h"

#define TILE LAM_BLOCH_TILE
#define PIECE LAM_BLOCH_PIECE

typedef struct {
  vd x, y, z;
} BODY (Vector);

/* v turned about w by |w| <= 1; s = sin |w| / |w|, c = (1 - cos |w|) / |w|^2. */
static inline BODY (Vector) BODY (rotate) (BODY (Vector) v, vd wx, vd wy, vd wz, vd s, vd c)
{
  vd ux = vdfnma (wz, v.y, vdmul (wy, v.z)), uy = vdfnma (wx, v.z, vdmul (wz, v.x)),
     uz = vdfnma (wy, v.x, vdmul (wx, v.y));
  vd tx = vdfnma (wz, uy, vdmul (wy, uz)), ty = vdfnma (wx, uz, vdmul (wz, ux)), tz = vdfnma (wy, ux, vdmul (wx, uy));
  v.x = vdadd (v.x, vdfma (s, ux, vdmul (c, tx)));
  v.y = vdadd (v.y, vdfma (s, uy, vdmul (c, ty)));
  v.z = vdadd (v.z, vdfma (s, uz, vdmul (c, tz)));
  return v;
}

/* s and c of rotate () from the squared angle. */
static inline void
BODY (series) (vd q, vd *s, vd *c)
{
  *s = vdfma (q, vdset (-1 / 39916800.0), vdset (1 / 362880.0));
  *s = vdfma (q, *s, vdset (-1 / 5040.0));
  *s = vdfma (q, *s, vdset (1 / 120.0));
  *s = vdfma (q, *s, vdset (-1 / 6.0));
  *s = vdfma (q, *s, vdset (1.0));
  *c = vdfma (q, vdset (-1 / 479001600.0), vdset (1 / 3628800.0));
  *c = vdfma (q, *c, vdset (-1 / 40320.0));
  *c = vdfma (q, *c, vdset (1 / 720.0));
  *c = vdfma (q, *c, vdset (-1 / 24.0));
  *c = vdfma (q, *c, vdset (0.5));
}

#define CROSS(a, b)                                                                                                    \
  {                                                                                                                    \
    vdfnma (a.z, b.y, vdmul (a.y, b.z)), vdfnma (a.x, b.z, vdmul (a.z, b.x)), vdfnma (a.y, b.x, vdmul (a.x, b.y))      \
  }

/* A turn by w + dw is a turn by w and then one by what comes back (dw being small): by dw + c w x dw + k w x (w x dw), where
 * k = (1 - sin |w| / |w|) / |w|^2. @q: the squared angle. */
static inline BODY (Vector) BODY (turn_after) (BODY (Vector) w, BODY (Vector) dw, vd c, vd q)
{
  vd k = vdfma (q, vdset (1 / 39916800.0), vdset (-1 / 362880.0));
  k = vdfma (q, k, vdset (1 / 5040.0));
  k = vdfma (q, k, vdset (-1 / 120.0));
  k = vdfma (q, k, vdset (1 / 6.0));
  BODY (Vector) u = CROSS (w, dw), t = CROSS (w, u);
  return (BODY (Vector)){vdfma (c, u.x, vdfma (k, t.x, dw.x)), vdfma (c, u.y, vdfma (k, t.y, dw.y)),
                         vdfma (c, u.z, vdfma (k, t.z, dw.z))};
}

/* What relaxation takes of the transverse part, and of the distance of z to @m0; and by how much more for one ms of T1, T2. */
typedef struct {
  vd z, xy, dz, dxy;
} BODY (Decay);

static inline BODY (Decay) BODY (decay_of) (const LamBlochArgs *a, int64_t l, double dt)
{
  double z[VD], xy[VD], dz[VD], dxy[VD];
  for (int i = 0; i < VD; i++) {
    z[i] = -expm1 (-dt * a->r1[l + i]);
    xy[i] = -expm1 (-dt * a->r2[l + i]);
    dz[i] = a->tangents ? dt * a->dr1[l + i] * (1 - z[i]) : 0;
    dxy[i] = a->tangents ? dt * a->dr2[l + i] * (1 - xy[i]) : 0;
  }
  return (BODY (Decay)){vdload (z), vdload (xy), vdload (dz), vdload (dxy)};
}

static inline BODY (Vector) BODY (relax) (BODY (Vector) v, BODY (Decay) d, vd m0)
{
  v.x = vdfnma (d.xy, v.x, v.x);
  v.y = vdfnma (d.xy, v.y, v.y);
  v.z = vdfma (d.z, vdsub (m0, v.z), v.z);
  return v;
}

/* The tangent @d of @v, before either is relaxed. */
static inline BODY (Vector)
    BODY (relax_change) (BODY (Vector) d, BODY (Vector) v, BODY (Decay) by, vd m0, LamBlochQuantity q)
{
  d = BODY (relax) (d, by, vdset (0));
  if (q == LAM_BLOCH_T1)
    d.z = vdfma (by.dz, vdsub (m0, v.z), d.z);
  if (q == LAM_BLOCH_T2) {
    d.x = vdfnma (by.dxy, v.x, d.x);
    d.y = vdfnma (by.dxy, v.y, d.y);
  }
  return d;
}

static inline int
BODY (cancelled) (const LamBlochArgs *a)
{
  return a->cancel && atomic_load_explicit ((atomic_int *) a->cancel, memory_order_relaxed);
}

/* How the turn of a step of @dt, with the moments @m, changes for one unit of @q. FALSE: not at all. */
static inline int
BODY (turn_changes) (LamBlochQuantity q, double wx, double wy, double dt, const double *m, BODY (Vector) * dw)
{
  const double turn = 6.283185307179586;
  if (q == LAM_BLOCH_T1 || q == LAM_BLOCH_T2)
    return 0;
  *dw = q == LAM_BLOCH_B1
            ? (BODY (Vector)){vdset (wx), vdset (wy), vdset (0)}
            : (BODY (Vector)){vdset (0), vdset (0), vdset (turn * (q == LAM_BLOCH_B0 ? dt : m[q - LAM_BLOCH_X]))};
  return 1;
}

/* The tangents of @count vectors, which are @v after one turn by w in step @k; s and c of rotate (), whose squared angle is q. */
static inline __attribute__ ((always_inline)) void
BODY (turn_tangents) (const LamBlochArgs *a, const LamBlochPulse *p, int64_t k, BODY (Vector) w, vd s, vd c, vd q,
                      const BODY (Vector) * v, BODY (Vector) * d, const int count, const int tangents)
{
  for (int j = 0; j < tangents; j++, d += count) {
    BODY (Vector) dw;
    for (int i = 0; i < count; i++)
      d[i] = BODY (rotate) (d[i], w.x, w.y, w.z, s, c);
    if (!BODY (turn_changes) (a->by[j], p->wx[k], p->wy[k], p->dt / p->turns, p->m + 3 * k, &dw))
      continue;
    dw = BODY (turn_after) (w, dw, c, q);
    for (int i = 0; i < count; i++) {
      BODY (Vector) more = CROSS (dw, v[i]);
      d[i].x = vdadd (d[i].x, more.x);
      d[i].y = vdadd (d[i].y, more.y);
      d[i].z = vdadd (d[i].z, more.z);
    }
  }
}

/* VD lanes from @l on through all steps of the pulse; of @count vectors at once the last one relaxes to 1, the others, images
 * of unit vectors, to 0. @d: tangents of each vector, [tangents][count]. */
static inline __attribute__ ((always_inline)) int
BODY (steps) (const LamBlochArgs *a, const LamBlochPulse *p, int64_t l, BODY (Vector) * v, BODY (Vector) * d,
              const int count, const int tangents)
{
  vd b1 = vdfloats (a->b1 + l);
  BODY (Decay) whole = BODY (decay_of) (a, l, p->dt), half = BODY (decay_of) (a, l, 0.5 * p->dt);
  double dt = p->dt / p->turns;
  for (int64_t k = -1; k < p->n; k++) {
    if (k >= 0) {
      vd wx = vdmul (b1, vdset (p->wx[k])), wy = vdmul (b1, vdset (p->wy[k])), s, c;
      vd wz =
          vdmul (vdset (6.283185307179586), BODY (turns) (a->b0 + l, a->x + l, a->y + l, a->z + l, dt, p->m + 3 * k));
      vd q = vdfma (wz, wz, vdfma (wy, wy, vdmul (wx, wx)));
      BODY (series) (q, &s, &c);
      for (int part = 0; part < p->turns; part++) {
        for (int i = 0; i < count; i++)
          v[i] = BODY (rotate) (v[i], wx, wy, wz, s, c);
        BODY (turn_tangents) (a, p, k, (BODY (Vector)){wx, wy, wz}, s, c, q, v, d, count, tangents);
      }
    }
    /* The second half of this step and the first of the next are one. */
    BODY (Decay) decay = k < 0 || k == p->n - 1 ? half : whole;
    for (int j = 0; j < tangents; j++)
      for (int i = 0; i < count; i++)
        d[j * count + i] =
            BODY (relax_change) (d[j * count + i], v[i], decay, vdset (i == count - 1 ? 1.0 : 0.0), a->by[j]);
    for (int i = 0; i < count; i++)
      v[i] = BODY (relax) (v[i], decay, vdset (i == count - 1 ? 1.0 : 0.0));
    if ((k & 4095) == 4095 && BODY (cancelled) (a))
      return 0;
  }
  return 1;
}

/* The map of a pulse: where the unit vectors go, and what becomes of nothing; then how each tangent's quantity changes it. */
static int
BODY (make_map) (const LamBlochArgs *a, const LamBlochPulse *p, float *map)
{
  for (int64_t l = 0; l < TILE; l += VD) {
    BODY (Vector) v[4 * (1 + LAM_BLOCH_QUANTITIES)];
    for (int i = 0; i < 4 * (1 + a->tangents); i++) {
      v[i].x = vdset (i == 0 ? 1.0 : 0.0);
      v[i].y = vdset (i == 1 ? 1.0 : 0.0);
      v[i].z = vdset (i == 2 ? 1.0 : 0.0);
    }
    if (!(a->tangents ? BODY (steps) (a, p, l, v, v + 4, 4, a->tangents) : BODY (steps) (a, p, l, v, v + 4, 4, 0)))
      return 0;
    for (int i = 0; i < 4 * (1 + a->tangents); i++) {
      vdtofloats (map + (3 * i) * TILE + l, v[i].x);
      vdtofloats (map + (3 * i + 1) * TILE + l, v[i].y);
      vdtofloats (map + (3 * i + 2) * TILE + l, v[i].z);
    }
  }
  return 1;
}

/* Seen from the pulse's phase. */
static void
BODY (turn) (float *px, float *py, float re, float im)
{
  for (int64_t l = 0; l < TILE; l += VW) {
    vf x = vload (px + l), y = vload (py + l);
    vstore (px + l, vfma (vset (re), x, vmul (vset (im), y)));
    vstore (py + l, vfnma (vset (im), x, vmul (vset (re), y)));
  }
}

static void
BODY (turn_state) (const LamBlochArgs *a, float re, float im)
{
  BODY (turn) (a->mx, a->my, re, im);
  for (int j = 0; j < a->tangents; j++)
    BODY (turn) (a->tx + j * TILE, a->ty + j * TILE, re, im);
}

/* Step by step: it plays once. */
static int
BODY (play_steps) (const LamBlochArgs *a, const LamBlochPulse *p)
{
  for (int64_t l = 0; l < TILE; l += VD) {
    BODY (Vector) v = {vdfloats (a->mx + l), vdfloats (a->my + l), vdfloats (a->mz + l)}, d[LAM_BLOCH_QUANTITIES];
    for (int j = 0; j < a->tangents; j++)
      d[j] = (BODY (Vector)){vdfloats (a->tx + j * TILE + l), vdfloats (a->ty + j * TILE + l),
                             vdfloats (a->tz + j * TILE + l)};
    if (!(a->tangents ? BODY (steps) (a, p, l, &v, d, 1, a->tangents) : BODY (steps) (a, p, l, &v, d, 1, 0)))
      return 0;
    vdtofloats (a->mx + l, v.x);
    vdtofloats (a->my + l, v.y);
    vdtofloats (a->mz + l, v.z);
    for (int j = 0; j < a->tangents; j++) {
      vdtofloats (a->tx + j * TILE + l, d[j].x);
      vdtofloats (a->ty + j * TILE + l, d[j].y);
      vdtofloats (a->tz + j * TILE + l, d[j].z);
    }
  }
  return 1;
}

static void
BODY (play_map) (const LamBlochArgs *a, const float *map)
{
  for (int64_t l = 0; l < TILE; l += VW) {
    vf x = vload (a->mx + l), y = vload (a->my + l), z = vload (a->mz + l);
#define ROW(i, x, y, z, more)                                                                                          \
  vfma (x, vload (map + (i) *TILE + l),                                                                                \
        vfma (y, vload (map + (3 + (i)) * TILE + l), vfma (z, vload (map + (6 + (i)) * TILE + l), more)))
    for (int j = 0; j < a->tangents; j++) {
      const float *change = map + (1 + j) * LAM_BLOCH_MAP * TILE;
      vf p = vload (a->tx + j * TILE + l), q = vload (a->ty + j * TILE + l), r = vload (a->tz + j * TILE + l);
#define MORE(i)                                                                                                        \
  vfma (x, vload (change + (i) *TILE + l),                                                                             \
        vfma (y, vload (change + (3 + (i)) * TILE + l),                                                                \
              vfma (z, vload (change + (6 + (i)) * TILE + l), vload (change + (9 + (i)) * TILE + l))))
      vstore (a->tx + j * TILE + l, ROW (0, p, q, r, MORE (0)));
      vstore (a->ty + j * TILE + l, ROW (1, p, q, r, MORE (1)));
      vstore (a->tz + j * TILE + l, ROW (2, p, q, r, MORE (2)));
#undef MORE
    }
    vstore (a->mx + l, ROW (0, x, y, z, vload (map + 9 * TILE + l)));
    vstore (a->my + l, ROW (1, x, y, z, vload (map + 10 * TILE + l)));
    vstore (a->mz + l, ROW (2, x, y, z, vload (map + 11 * TILE + l)));
#undef ROW
  }
}

static int
BODY (play) (const LamBlochArgs *a, const LamBlochOp *op)
{
  const LamBlochPulse *p = &a->program->pulse[op->index];
  BODY (turn_state) (a, op->re, op->im);
  if (p->map < 0) {
    if (!BODY (play_steps) (a, p))
      return 0;
  } else {
    float *map = a->maps + (int64_t) p->map * (1 + a->tangents) * LAM_BLOCH_MAP * TILE;
    if (!a->made[p->map] && !BODY (make_map) (a, p, map))
      return 0;
    a->made[p->map] = 1;
    BODY (play_map) (a, map);
  }
  BODY (turn_state) (a, op->re, -op->im);
  return 1;
}

/* The tangent @j of the transverse part that turned to u, v and relaxed to x, y, in the same time. @taken is what relaxation took
 * for each of u and v. */
static inline void
BODY (evolve_change) (const LamBlochArgs *a, int j, int64_t l, vf s, vf c, vf taken, vf u, vf v, vf x, vf y, double dt,
                      const double *m, vf *p, vf *q)
{
  vf p0 = vload (a->tx + j * TILE + l), q0 = vload (a->ty + j * TILE + l);
  vf pu = vfnma (s, q0, vmul (c, p0)), qv = vfma (s, p0, vmul (c, q0));
  pu = vfnma (taken, pu, pu);
  qv = vfnma (taken, qv, qv);
  if (a->by[j] == LAM_BLOCH_T2) {
    vf more = vmul (vmul (vload (a->dr2 + l), vset ((float) dt)), vsub (vset (1), taken));
    pu = vfnma (more, u, pu);
    qv = vfnma (more, v, qv);
  } else if (a->by[j] != LAM_BLOCH_T1 && a->by[j] != LAM_BLOCH_B1) {
    vf turn = vset ((float) (6.283185307179586 * (a->by[j] == LAM_BLOCH_B0 ? dt : m[a->by[j] - LAM_BLOCH_X])));
    pu = vfnma (turn, y, pu);
    qv = vfma (turn, x, qv);
  }
  *p = pu;
  *q = qv;
}

static void
BODY (evolve) (const LamBlochArgs *a, const LamBlochOp *op)
{
  vf dt = vset ((float) op->dt);
  for (int64_t l = 0; l < TILE; l += VW) {
    vf s, c, x = vload (a->mx + l), y = vload (a->my + l), z = vload (a->mz + l);
    BODY (sincos) (BODY (fraction) (a->b0 + l, a->x + l, a->y + l, a->z + l, op->dt, op->m), &s, &c);
    vf d1 = BODY (decay) (vmul (vload (a->r1 + l), dt)), d2 = BODY (decay) (vmul (vload (a->r2 + l), dt));
    vf u = vfnma (s, y, vmul (c, x)), v = vfma (s, x, vmul (c, y));
    x = vfnma (d2, u, u);
    y = vfnma (d2, v, v);
    vstore (a->mx + l, x);
    vstore (a->my + l, y);
    vstore (a->mz + l, vfma (d1, vsub (vset (1), z), z));
    for (int j = 0; j < a->tangents; j++) {
      vf p, q, r = vload (a->tz + j * TILE + l);
      BODY (evolve_change) (a, j, l, s, c, d2, u, v, x, y, op->dt, op->m, &p, &q);
      r = vfnma (d1, r, r);
      if (a->by[j] == LAM_BLOCH_T1)
        r = vfma (vmul (vmul (vload (a->dr1 + l), dt), vsub (vset (1), d1)), vsub (vset (1), z), r);
      vstore (a->tx + j * TILE + l, p);
      vstore (a->ty + j * TILE + l, q);
      vstore (a->tz + j * TILE + l, r);
    }
  }
}

/* Sums the lanes of each voxel, with @weight, in their order: to @to_re, @to_im and @pitch further for each voxel. */
static void
BODY (store) (const LamBlochArgs *a, const float *piece, const float *weight, float *to_re, float *to_im, int64_t pitch,
              int64_t n)
{
  const float *re = piece, *im = piece + PIECE * TILE;
  for (int64_t l0 = 0; l0 < a->lanes; l0 += a->spins, to_re += pitch, to_im += pitch) {
    int64_t l1 = LAM_MIN (l0 + a->spins, a->lanes);
    for (int64_t k = 0; k < n; k++) {
      float x = a->add ? to_re[k] : 0, y = a->add ? to_im[k] : 0;
      for (int64_t l = l0; l < l1; l++) {
        x += weight[l] * re[k * TILE + l];
        y += weight[l] * im[k * TILE + l];
      }
      to_re[k] = x;
      to_im[k] = y;
    }
  }
}

/* A piece of @n samples, and of their derivatives, from @sample on. */
static void
BODY (store_all) (const LamBlochArgs *a, int64_t sample, int64_t n)
{
  int64_t pitch = a->rows * a->stride;
  BODY (store) (a, a->piece, a->weight, a->re + sample, a->im + sample, a->stride, n);
  for (int j = 0; j < a->tangents; j++) {
    int64_t at = a->row[j] * a->stride + sample;
    BODY (store) (a, a->piece + (1 + j) * 2 * PIECE * TILE, a->weight, a->dre + at, a->dim + at, pitch, n);
  }
  if (a->rows > 0 && a->m0_row >= 0) {
    int64_t at = a->m0_row * a->stride + sample;
    BODY (store) (a, a->piece, a->unit_weight, a->dre + at, a->dim + at, pitch, n);
  }
}

static int
BODY (read) (const LamBlochArgs *a, const LamBlochOp *op)
{
  const LamBlochReadout *r = &a->program->readout[op->index];
  float *re = a->piece, *im = a->piece + PIECE * TILE;
  int64_t from = LAM_MAX (a->first - op->sample, 0), to = LAM_MIN (a->first + a->count - op->sample, r->n);
  for (int64_t k0 = from; k0 < to; k0 += PIECE) {
    int64_t n = LAM_MIN (to - k0, PIECE);
    if (BODY (cancelled) (a))
      return 0;
    for (int64_t k = 0; k < n; k++) {
      /* The receiver's phase: exp (-i (phase + modulation)). */
      float dr = r->demod_re ? r->demod_re[k0 + k] : 1, di = r->demod_re ? r->demod_im[k0 + k] : 0;
      vf gr = vset (op->re * dr - op->im * di), gi = vset (-(op->im * dr + op->re * di));
      double dt = r->dt[k0 + k];
      const double *m = r->m + 3 * (k0 + k);
      for (int64_t l = 0; l < TILE; l += VW) {
        vf s, c, x = vload (a->mx + l), y = vload (a->my + l);
        BODY (sincos) (BODY (fraction) (a->b0 + l, a->x + l, a->y + l, a->z + l, dt, m), &s, &c);
        vf d2 = BODY (decay) (vmul (vload (a->r2 + l), vset ((float) dt)));
        vf u = vfnma (s, y, vmul (c, x)), v = vfma (s, x, vmul (c, y));
        x = vfnma (d2, u, u);
        y = vfnma (d2, v, v);
        vstore (re + k * TILE + l, vfnma (gi, y, vmul (gr, x)));
        vstore (im + k * TILE + l, vfma (gi, x, vmul (gr, y)));
        for (int j = 0; j < a->tangents; j++) {
          vf p, q;
          int64_t at = ((1 + j) * 2 * PIECE + k) * TILE + l;
          BODY (evolve_change) (a, j, l, s, c, d2, u, v, x, y, dt, m, &p, &q);
          vstore (a->piece + at, vfnma (gi, q, vmul (gr, p)));
          vstore (a->piece + at + PIECE * TILE, vfma (gi, p, vmul (gr, q)));
        }
      }
    }
    BODY (store_all) (a, op->sample + k0 - a->first, n);
  }
  return 1;
}

static LamStatus
BODY (run) (const LamBlochArgs *a)
{
  for (int64_t i = 0; i < a->program->ops; i++) {
    const LamBlochOp *op = &a->program->op[i];
    int ok = 1;
    if (op->kind == LAM_BLOCH_FREE)
      BODY (evolve) (a, op);
    else if (op->kind == LAM_BLOCH_PULSE)
      ok = BODY (play) (a, op);
    else
      ok = BODY (read) (a, op);
    if (!ok || ((i & 1023) == 1023 && BODY (cancelled) (a)))
      return LAM_STATUS_CANCELLED;
    if (a->permille && (i & 255) == 255)
      atomic_store_explicit (a->permille, (int) (1000 * i / a->program->ops), memory_order_relaxed);
  }
  return LAM_OK;
}

static void
BODY (test_sincos) (const double *turns, float *sine, float *cosine, int64_t n)
{
  double zero[16] = {0}, m[3] = {0, 0, 0};
  for (int64_t i = 0; i < n; i += VW) {
    vf s, c;
    BODY (sincos) (BODY (fraction) (turns + i, zero, zero, zero, 1, m), &s, &c);
    vstore (sine + i, s);
    vstore (cosine + i, c);
  }
}

static void
BODY (test_decay) (const float *x, float *out, int64_t n)
{
  for (int64_t i = 0; i < n; i += VW)
    vstore (out + i, BODY (decay) (vload (x + i)));
}
