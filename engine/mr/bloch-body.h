/* bloch-body.h: the Bloch kernel, one body for every instruction set (bloch-kernels.h has the contract).
 *
 * Free evolution is exact: the phase is made in double and cut to less than half a turn before it is a float. The steps
 * of a pulse are in double: thousands of them each take a little of the relaxation, less than a float's last digit. A
 * step turns the magnetisation by Rodrigues' formula in powers of the squared angle, which is below 1: no root and no
 * division. The state between is float. */
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

/* What relaxation takes of the transverse part, and of the distance of z to @m0. */
typedef struct {
  vd z, xy;
} BODY (Decay);

static inline BODY (Decay) BODY (decay_of) (const LamBlochArgs *a, int64_t l, double dt)
{
  double z[VD], xy[VD];
  for (int i = 0; i < VD; i++) {
    z[i] = -expm1 (-dt * a->r1[l + i]);
    xy[i] = -expm1 (-dt * a->r2[l + i]);
  }
  return (BODY (Decay)){vdload (z), vdload (xy)};
}

static inline BODY (Vector) BODY (relax) (BODY (Vector) v, BODY (Decay) d, vd m0)
{
  v.x = vdfnma (d.xy, v.x, v.x);
  v.y = vdfnma (d.xy, v.y, v.y);
  v.z = vdfma (d.z, vdsub (m0, v.z), v.z);
  return v;
}

static inline int
BODY (cancelled) (const LamBlochArgs *a)
{
  return a->cancel && atomic_load_explicit ((atomic_int *) a->cancel, memory_order_relaxed);
}

/* VD lanes from @l on through all steps of the pulse; of @count vectors at once the last one relaxes to 1, the others, images
 * of unit vectors, to 0. */
static inline __attribute__ ((always_inline)) int
BODY (steps) (const LamBlochArgs *a, const LamBlochPulse *p, int64_t l, BODY (Vector) * v, const int count)
{
  vd b1 = vdfloats (a->b1 + l);
  BODY (Decay) whole = BODY (decay_of) (a, l, p->dt), half = BODY (decay_of) (a, l, 0.5 * p->dt);
  double dt = p->dt / p->turns;
  for (int i = 0; i < count; i++)
    v[i] = BODY (relax) (v[i], half, vdset (i == count - 1 ? 1.0 : 0.0));
  for (int64_t k = 0; k < p->n; k++) {
    vd wx = vdmul (b1, vdset (p->wx[k])), wy = vdmul (b1, vdset (p->wy[k])), s, c;
    vd wz = vdmul (vdset (6.283185307179586), BODY (turns) (a->b0 + l, a->x + l, a->y + l, a->z + l, dt, p->m + 3 * k));
    BODY (series) (vdfma (wz, wz, vdfma (wy, wy, vdmul (wx, wx))), &s, &c);
    for (int part = 0; part < p->turns; part++)
      for (int i = 0; i < count; i++)
        v[i] = BODY (rotate) (v[i], wx, wy, wz, s, c);
    /* The second half of this step and the first of the next are one. */
    for (int i = 0; i < count; i++)
      v[i] = BODY (relax) (v[i], k == p->n - 1 ? half : whole, vdset (i == count - 1 ? 1.0 : 0.0));
    if ((k & 4095) == 4095 && BODY (cancelled) (a))
      return 0;
  }
  return 1;
}

/* The map of a pulse: where the unit vectors go, and what becomes of nothing. */
static int
BODY (make_map) (const LamBlochArgs *a, const LamBlochPulse *p, float *map)
{
  for (int64_t l = 0; l < TILE; l += VD) {
    BODY (Vector) v[4];
    for (int i = 0; i < 4; i++) {
      v[i].x = vdset (i == 0 ? 1.0 : 0.0);
      v[i].y = vdset (i == 1 ? 1.0 : 0.0);
      v[i].z = vdset (i == 2 ? 1.0 : 0.0);
    }
    if (!BODY (steps) (a, p, l, v, 4))
      return 0;
    for (int i = 0; i < 4; i++) {
      vdtofloats (map + (3 * i) * TILE + l, v[i].x);
      vdtofloats (map + (3 * i + 1) * TILE + l, v[i].y);
      vdtofloats (map + (3 * i + 2) * TILE + l, v[i].z);
    }
  }
  return 1;
}

/* Seen from the pulse's phase. */
static void
BODY (turn_state) (const LamBlochArgs *a, float re, float im)
{
  for (int64_t l = 0; l < TILE; l += VW) {
    vf x = vload (a->mx + l), y = vload (a->my + l);
    vstore (a->mx + l, vfma (vset (re), x, vmul (vset (im), y)));
    vstore (a->my + l, vfnma (vset (im), x, vmul (vset (re), y)));
  }
}

static int
BODY (play) (const LamBlochArgs *a, const LamBlochOp *op)
{
  const LamBlochPulse *p = &a->program->pulse[op->index];
  BODY (turn_state) (a, op->re, op->im);
  if (p->map < 0) {
    for (int64_t l = 0; l < TILE; l += VD) {
      BODY (Vector) v = {vdfloats (a->mx + l), vdfloats (a->my + l), vdfloats (a->mz + l)};
      if (!BODY (steps) (a, p, l, &v, 1))
        return 0;
      vdtofloats (a->mx + l, v.x);
      vdtofloats (a->my + l, v.y);
      vdtofloats (a->mz + l, v.z);
    }
  } else {
    float *map = a->maps + (int64_t) p->map * LAM_BLOCH_MAP * TILE;
    if (!a->made[p->map] && !BODY (make_map) (a, p, map))
      return 0;
    a->made[p->map] = 1;
    for (int64_t l = 0; l < TILE; l += VW) {
      vf x = vload (a->mx + l), y = vload (a->my + l), z = vload (a->mz + l);
#define ROW(i)                                                                                                         \
  vfma (x, vload (map + (i) *TILE + l),                                                                                \
        vfma (y, vload (map + (3 + (i)) * TILE + l),                                                                   \
              vfma (z, vload (map + (6 + (i)) * TILE + l), vload (map + (9 + (i)) * TILE + l))))
      vstore (a->mx + l, ROW (0));
      vstore (a->my + l, ROW (1));
      vstore (a->mz + l, ROW (2));
#undef ROW
    }
  }
  BODY (turn_state) (a, op->re, -op->im);
  return 1;
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
    vstore (a->mx + l, vfnma (d2, u, u));
    vstore (a->my + l, vfnma (d2, v, v));
    vstore (a->mz + l, vfma (d1, vsub (vset (1), z), z));
  }
}

/* Sums the lanes of each voxel in their order. */
static void
BODY (store) (const LamBlochArgs *a, const float *re, const float *im, int64_t sample, int64_t n)
{
  for (int64_t l0 = 0, voxel = 0; l0 < a->lanes; l0 += a->spins, voxel++) {
    int64_t l1 = LAM_MIN (l0 + a->spins, a->lanes);
    float *to_re = a->re + voxel * a->stride + sample, *to_im = a->im + voxel * a->stride + sample;
    for (int64_t k = 0; k < n; k++) {
      float x = a->add ? to_re[k] : 0, y = a->add ? to_im[k] : 0;
      for (int64_t l = l0; l < l1; l++) {
        x += a->weight[l] * re[k * TILE + l];
        y += a->weight[l] * im[k * TILE + l];
      }
      to_re[k] = x;
      to_im[k] = y;
    }
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
      for (int64_t l = 0; l < TILE; l += VW) {
        vf s, c, x = vload (a->mx + l), y = vload (a->my + l);
        BODY (sincos) (BODY (fraction) (a->b0 + l, a->x + l, a->y + l, a->z + l, dt, r->m + 3 * (k0 + k)), &s, &c);
        vf d2 = BODY (decay) (vmul (vload (a->r2 + l), vset ((float) dt)));
        vf u = vfnma (s, y, vmul (c, x)), v = vfma (s, x, vmul (c, y));
        u = vfnma (d2, u, u);
        v = vfnma (d2, v, v);
        vstore (re + k * TILE + l, vfnma (gi, v, vmul (gr, u)));
        vstore (im + k * TILE + l, vfma (gi, u, vmul (gr, v)));
      }
    }
    BODY (store) (a, re, im, op->sample + k0 - a->first, n);
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
