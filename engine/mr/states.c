#include "mr/states.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "mr/prepare-private.h"

/* Floats of one plane at most. */
#define MOST_FLOATS (8 << 20)
#define MOST_COLUMNS 16384

typedef struct {
  const LamEpgProgram *p;
  LamStates *to;
  int64_t together; /* passes of one column */
  int64_t room;     /* columns */
  double now, m0;
  float *row; /* [3][orders] */
} Recorder;

static int
kind_of (const LamEpgPass *pass)
{
  int kind = pass->n_records > 0 ? LAM_LOOK_SAMPLE : 0;
  if (pass->kind != LAM_PASS_NONE)
    return kind | LAM_LOOK_PULSE;
  return pass->before > 0 ? kind | LAM_LOOK_WINDING : kind;
}

/* The same state at the same time is one column: a sample right after its pulse. */
static gboolean
repeats (const Recorder *r)
{
  const LamStates *s = r->to;
  const int64_t n = s->orders, at = (s->columns - 1) * n;
  return s->columns > 0 && s->time[s->columns - 1] == r->now && memcmp (s->plus + at, r->row, n * sizeof (float)) == 0
         && memcmp (s->minus + at, r->row + n, n * sizeof (float)) == 0
         && memcmp (s->z + at, r->row + 2 * n, n * sizeof (float)) == 0;
}

static void
look (void *data, int64_t pass, const float *state)
{
  Recorder *r = data;
  LamStates *s = r->to;
  const int64_t n = s->orders;
  for (int f = 0; f < 3; f++)
    for (int64_t k = 0; k < n; k++) {
      double re = state[2 * f * n + k], im = state[(2 * f + 1) * n + k];
      r->row[f * n + k] = (float) (r->m0 * sqrt (re * re + im * im));
    }
  if (pass < 0) {
    memcpy (s->start, r->row, 3 * n * sizeof (float));
    return;
  }
  const LamEpgPass *now = &r->p->pass[pass];
  if (now->relax >= 0)
    r->now += r->p->duration[now->relax];
  float *planes[3] = {s->plus, s->minus, s->z};
  gboolean joins = r->together > 1 ? pass % r->together != 0 : repeats (r);
  if (!joins) {
    s->time[s->columns] = r->now;
    s->kind[s->columns] = 0;
    for (int f = 0; f < 3; f++)
      memset (planes[f] + s->columns * n, 0, n * sizeof (float));
    s->columns++;
  }
  s->column[s->looks++] = (int32_t) (s->columns - 1);
  s->kind[s->columns - 1] |= kind_of (now);
  for (int f = 0; f < 3; f++) {
    float *to = planes[f] + (s->columns - 1) * n;
    for (int64_t k = 0; k < n; k++)
      to[k] = fmaxf (to[k], r->row[f * n + k]);
  }
}

static gboolean
play (const LamProblem *q, int64_t voxel, Recorder *r, GError **error)
{
  int64_t floats = lam_group_floats (q, lam_epg_scratch (&q->p)), n = q->p.orders;
  float *memory = lam_alloc_n (floats, 4, "states", error);
  g_autofree float *state = g_new (float, LAM_EPG_STATE *n), *row = g_new (float, 3 * n);
  LamGroup g;
  LamEpgArgs a;
  if (!memory)
    return FALSE;
  lam_group_place (q, memory, &g);
  lam_fp_setup ();
  gboolean ok = lam_group_fill (q, &g, voxel, 1, error);
  if (ok) {
    lam_group_args (q, &g, 1, &a);
    r->row = row;
    lam_epg_kernels ()->states (&a, state, look, r);
  }
  lam_free (memory);
  return ok;
}

gboolean
lam_states_record (LamModel *m, const LamTissues *tissues, int64_t voxel, int train, const LamSimulateOptions *options,
                   int64_t columns, LamStates *states, GError **error)
{
  int n;
  LamSimulateOptions o = options ? *options : (LamSimulateOptions){0};
  memset (states, 0, sizeof *states);
  if (lam_model_is_closed (m)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "%s is a closed form: it has a signal, but no states on the way to it",
                 lam_protocol_template (lam_model_protocol (m))->title);
    return FALSE;
  }
  lam_model_set_stepwise (m, TRUE);
  LamProgram *const *programs = lam_model_programs_for (m, tissues, &n, error);
  if (!programs)
    return FALSE;
  g_assert (train >= 0 && train < n && voxel >= 0 && voxel < lam_tissues_voxels (tissues));
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  LamProblem q;
  o.positions = 1;
  gboolean ok = lam_problem_init (&q, programs[train], whole, &o, NULL, error);
  if (ok) {
    int64_t most = MIN (MOST_COLUMNS, MAX (MOST_FLOATS / q.p.orders, 1));
    most = columns > 0 ? MIN (columns, most) : most;
    Recorder r = {.p = &q.p,
                  .to = states,
                  .together = MAX ((q.p.passes + most - 1) / most, 1),
                  .m0 = hypot (lam_tissues_at (whole, LAM_M0, voxel), lam_tissues_at (whole, LAM_M0_IMAG, voxel))};
    r.room = MAX ((q.p.passes + r.together - 1) / r.together, 1);
    states->orders = q.p.orders;
    states->duration = lam_program_duration (programs[train]);
    states->time = g_new (double, r.room);
    states->column = g_new (int32_t, MAX (q.p.passes, 1));
    states->start = g_new0 (float, 3 * q.p.orders);
    states->kind = g_new (guint8, r.room);
    states->plus = g_new (float, r.room *q.p.orders);
    states->minus = g_new (float, r.room *q.p.orders);
    states->z = g_new (float, r.room *q.p.orders);
    ok = play (&q, voxel, &r, error);
  }
  lam_problem_clear (&q);
  if (!ok)
    lam_states_clear (states);
  return ok;
}

void
lam_states_clear (LamStates *states)
{
  g_free (states->time);
  g_free (states->kind);
  g_free (states->column);
  g_free (states->start);
  g_free (states->plus);
  g_free (states->minus);
  g_free (states->z);
  memset (states, 0, sizeof *states);
}
