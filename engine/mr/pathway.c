/* pathway.c: dynamic programming over the passes of a stepwise program. In magnitude a pulse of angle a about any transverse
 * axis takes F_n to F_n by cos^2 a/2, F_-n by sin^2 a/2, to Z_n and Z_-n by sin a / 2, and Z_n to F_n by sin a, to Z_n by
 * cos a (spec section 2.5); a winding takes F_n to F_n+1; what recovers begins a path of its own. */
#include "mr/pathway.h"

#include <math.h>
#include <string.h>

/* Bytes of the table of where paths come from. */
#define MOST_BYTES ((int64_t) 64 << 20)

/* Where the best path to a state comes from, before the pass. */
enum { FROM_NONE, FROM_SAME, FROM_OTHER_SIGN, FROM_Z, FROM_RECOVERY };

typedef struct {
  int orders;
  double *f, *z; /* [2 orders - 1]: amplitude of the best path by signed order, from -(orders - 1) */
  double *nf, *nz;
  guint8 *from; /* of this pass: F, then Z */
} Row;

#define AT(row, n) ((n) + (row)->orders - 1)

const char *
lam_pathway_obstacle (LamModel *m, const LamTissues *tissues, int train)
{
  int n;
  if (lam_model_is_closed (m))
    return "a closed form has no states";
  lam_model_set_stepwise (m, TRUE);
  LamProgram *const *p = lam_model_programs_for (m, tissues, &n, NULL);
  if (!p || train >= n)
    return "the sequence cannot be played";
  const LamEpgProgram *b = lam_program_bound (p[train]);
  for (int q = LAM_BOUND_FRACTION; q < LAM_T2_PRIME; q++)
    if ((q == LAM_BOUND_FRACTION || (q >= LAM_POOL_FRACTION && (q - LAM_POOL_FRACTION) % 5 == 0)))
      for (int64_t v = 0; v < lam_tissues_voxels (tissues); v++)
        if (lam_tissues_at (tissues, q, v) > 0)
          return "paths through several pools are not told apart";
  if (lam_program_is_ordered (p[train]) || lam_tissues_channels (tissues) > 0)
    return "paths are told without diffusion, flow and transmit channels";
  for (int64_t i = 0; i < b->pulses; i++)
    if (b->pulse[i].table >= 0)
      return "paths are told for instant pulses only";
  return b->passes * (4 * (int64_t) b->orders) > MOST_BYTES ? "there are too many events to keep all paths" : NULL;
}

static void
better (double candidate, int from, double *best, guint8 *how)
{
  if (candidate > *best) {
    *best = candidate;
    *how = (guint8) from;
  }
}

/* One pass: relaxation and winding in place (they leave no choice but recovery's), then the rotation. */
static void
step (Row *r, const LamEpgProgram *p, const LamEpgPass *pass, double r1, double r2, double b1, double efficiency)
{
  const int k = r->orders, all = 2 * k - 1, zero = AT (r, 0);
  gboolean recovered = FALSE;
  if (pass->spoil)
    memset (r->f, 0, all * sizeof *r->f);
  if (pass->relax >= 0) {
    double dt = p->duration[pass->relax], e1 = exp (-dt * r1), e2 = exp (-dt * r2);
    for (int i = 0; i < all; i++) {
      r->f[i] *= e2;
      r->z[i] *= e1;
    }
    recovered = 1 - e1 > r->z[zero];
    r->z[zero] = fmax (r->z[zero], 1 - e1);
  }
  for (int i = 0; i < pass->before; i++) {
    memmove (r->f + 1, r->f, (all - 1) * sizeof *r->f);
    r->f[0] = 0;
  }
  double a = 0, gain = 1;
  if (pass->kind == LAM_PASS_ROTATE)
    a = fabs (p->pulse[pass->rf].flip) * (p->pulse[pass->rf].shim == LAM_SHIM_PERFECT ? 1 : b1);
  if (pass->kind == LAM_PASS_INVERT)
    gain = fabs (efficiency);
  double same = pow (cos (a / 2), 2), other = pow (sin (a / 2), 2), across = fabs (sin (a)),
         along = fabs (cos (a)) * gain;
  for (int i = 0; i < all; i++) {
    const int o = all - 1 - i; /* the other sign */
    guint8 *to_f = r->from + i, *to_z = r->from + all + i;
    r->nf[i] = r->nz[i] = 0;
    *to_f = *to_z = FROM_NONE;
    better (same * r->f[i], FROM_SAME, &r->nf[i], to_f);
    better (other * r->f[o], FROM_OTHER_SIGN, &r->nf[i], to_f);
    better (across * r->z[i], FROM_Z, &r->nf[i], to_f);
    better (along * r->z[i], FROM_Z, &r->nz[i], to_z);
    better (across / 2 * r->f[i], FROM_SAME, &r->nz[i], to_z);
    better (across / 2 * r->f[o], FROM_OTHER_SIGN, &r->nz[i], to_z);
    if (i == zero && recovered) {
      *to_f = *to_f == FROM_Z ? FROM_RECOVERY : *to_f;
      *to_z = *to_z == FROM_Z ? FROM_RECOVERY : *to_z;
    }
  }
  double *t = r->f;
  r->f = r->nf;
  r->nf = t;
  t = r->z;
  r->z = r->nz;
  r->nz = t;
}

/* Back along the table from (@order, @transverse) after @look. */
static void
trace (const guint8 *table, int orders, const LamEpgPass *pass, int64_t look, int order, gboolean transverse,
       LamPathway *to)
{
  const int all = 2 * orders - 1;
  int64_t i = look;
  to->order = g_new (int, look + 1);
  to->transverse = g_new (gboolean, look + 1);
  to->from_before = TRUE;
  for (;; i--) {
    const guint8 *row = table + i * 2 * all;
    int how = row[(transverse ? 0 : all) + order + orders - 1];
    to->order[i] = order;
    to->transverse[i] = transverse;
    if (how == FROM_RECOVERY)
      to->from_before = FALSE;
    if (how == FROM_RECOVERY || i == 0)
      break;
    if (how == FROM_OTHER_SIGN)
      order = -order;
    transverse = how != FROM_Z;
    if (transverse)
      order -= pass[i].before;
  }
  to->first = i;
  to->n = look - i + 1;
  memmove (to->order, to->order + i, to->n * sizeof *to->order);
  memmove (to->transverse, to->transverse + i, to->n * sizeof *to->transverse);
}

gboolean
lam_pathway_find (LamModel *m, const LamTissues *tissues, int64_t voxel, int train, const LamStates *states,
                  int64_t look, int order, gboolean transverse, LamPathway *pathway)
{
  int n;
  memset (pathway, 0, sizeof *pathway);
  if (lam_pathway_obstacle (m, tissues, train))
    return FALSE;
  LamProgram *const *programs = lam_model_programs_for (m, tissues, &n, NULL);
  const LamEpgProgram *p = lam_program_bound (programs[train]);
  const int k = states->orders, all = 2 * k - 1;
  if (look < 0 || look >= p->passes || k != p->orders || ABS (order) >= k)
    return FALSE;
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  double m0 = hypot (lam_tissues_at (whole, LAM_M0, voxel), lam_tissues_at (whole, LAM_M0_IMAG, voxel));
  double r1 = 1000 / fmax (lam_tissues_at (whole, LAM_T1, voxel), 1e-6),
         r2 = 1000 / fmax (lam_tissues_at (whole, LAM_T2, voxel), 1e-6);
  g_autofree double *memory = g_new0 (double, 4 * all);
  g_autofree guint8 *table = g_new (guint8, (look + 1) * 2 * all);
  Row r = {k, memory, memory + all, memory + 2 * all, memory + 3 * all, NULL};
  for (int i = 0; i < k && m0 > 0; i++) {
    r.f[AT (&r, i)] = states->start[i] / m0;
    r.f[AT (&r, -i)] = states->start[i ? k + i : 0] / m0;
    r.z[AT (&r, i)] = r.z[AT (&r, -i)] = states->start[2 * k + i] / m0;
  }
  for (int64_t i = 0; i <= look; i++) {
    r.from = table + i * 2 * all;
    step (&r, p, &p->pass[i], r1, r2, lam_tissues_at (whole, LAM_B1, voxel),
          lam_tissues_at (whole, LAM_INV_EFFICIENCY, voxel));
  }
  pathway->amplitude = m0 * (transverse ? r.f : r.z)[AT (&r, order)];
  if (!(pathway->amplitude > 1e-12)) /* what cos (pi / 2) leaves is nothing */
    return FALSE;
  trace (table, k, p->pass, look, order, transverse, pathway);
  pathway->from_before &= lam_sequence_playings (lam_program_sequence (programs[train])) != 1;
  return TRUE;
}

void
lam_pathway_clear (LamPathway *pathway)
{
  g_free (pathway->order);
  g_free (pathway->transverse);
  memset (pathway, 0, sizeof *pathway);
}
