#include "mr/simulate.h"

#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/placement.h"
#include "core/plan.h"
#include "mr/prepare-private.h"

/* Least and most bytes of a chunk's samples: it should stay near the processor. */
#define CHUNK_BYTES (2 << 20)
#define RESERVE ((int64_t) 512 << 20)

typedef struct {
  const LamProblem *q;
  LamSignal *signal;
  LamControl *control;
  LamPlan *plan;
  LamPlacement owner; /* voxels */
  int64_t chunk;      /* voxels */
  int64_t group;      /* floats */
  _Atomic int64_t done;
  GMutex lock;
  GError *error; /* the first of any group */
} Run;

static void
fail (Run *r, GError *error)
{
  g_mutex_lock (&r->lock);
  if (!r->error)
    r->error = error;
  else
    g_error_free (error);
  g_mutex_unlock (&r->lock);
}

static void
note (Run *r, const LamEpgArgs *a)
{
  g_mutex_lock (&r->lock);
  r->signal->played = MAX (r->signal->played, a->played);
  r->signal->residual = MAX (r->signal->residual, a->residual);
  g_mutex_unlock (&r->lock);
}

/* Voxels [first, first + n) into @re, @im ([n][samples]), with the memory of one group. */
static gboolean
play (Run *r, float *memory, int64_t first, int n, float *re, float *im, GError **error)
{
  const LamProblem *q = r->q;
  LamGroup g;
  LamEpgArgs a;
  lam_group_place (q, memory, &g);
  if (q->positions == 1) {
    if (!lam_group_fill (q, &g, first, n, error))
      return FALSE;
    lam_group_args (q, &g, n, &a);
    lam_epg_kernels ()->values (&a);
    note (r, &a);
    if (re)
      lam_epg_kernels ()->turn_round (g.re, q->p.samples, n, re, q->p.samples);
    if (im)
      lam_epg_kernels ()->turn_round (g.im, q->p.samples, n, im, q->p.samples);
    return TRUE;
  }
  /* A voxel's positions in turn, added in their order. */
  for (int v = 0; v < n; v++) {
    float *to[2] = {re ? re + v * q->p.samples : NULL, im ? im + v * q->p.samples : NULL};
    for (int k = 0; k < 2; k++)
      if (to[k])
        memset (to[k], 0, q->p.samples * sizeof (float));
    for (int j = 0; j < q->positions; j += LAM_EPG_WIDTH) {
      int lanes = MIN (LAM_EPG_WIDTH, q->positions - j);
      if (!lam_group_fill (q, &g, (first + v) * q->positions + j, lanes, error))
        return FALSE;
      lam_group_args (q, &g, lanes, &a);
      lam_epg_kernels ()->values (&a);
      note (r, &a);
      const float *from[2] = {g.re, g.im};
      for (int k = 0; k < 2; k++)
        for (int64_t s = 0; to[k] && s < q->p.samples; s++)
          for (int l = 0; l < lanes; l++)
            to[k][s] += from[k][s * LAM_EPG_WIDTH + l];
    }
    for (int k = 0; k < 2; k++)
      for (int64_t s = 0; to[k] && s < q->p.samples; s++)
        to[k][s] /= q->positions;
  }
  return TRUE;
}

/* ---- on the devices ---- */

typedef struct {
  Run *run;
  int64_t first, n; /* voxels of the chunk */
  float *re, *im, *groups;
  int device;
} Chunk;

static void
play_group (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  Run *r = c->run;
  GError *error = NULL;
  if (lam_control_cancelled (r->control) || r->error)
    return;
  int64_t at = index * LAM_EPG_WIDTH;
  int n = (int) MIN (LAM_EPG_WIDTH, c->n - at);
  lam_fp_setup ();
  if (!play (r, c->groups + worker * r->group, c->first + at, n, c->re ? c->re + at * r->q->p.samples : NULL,
             c->im ? c->im + at * r->q->p.samples : NULL, &error))
    fail (r, error);
}

static gboolean
play_device (LamDevice *device, void *data, GError **error)
{
  Run *r = data;
  const LamProblem *q = r->q;
  LamDevices *set = device->set;
  LamRange own = r->owner.range[device->index];
  int64_t samples = q->p.samples;
  if (own.end <= own.begin)
    return TRUE;
  Chunk c = {.run = r, .device = device->index};
  if (q->have_re && !(c.re = lam_plan_take (r->plan, device->index, "samples, real", error)))
    return FALSE;
  if (q->have_im && !(c.im = lam_plan_take (r->plan, device->index, "samples, imaginary", error)))
    return FALSE;
  if (!(c.groups = lam_plan_take (r->plan, device->index, "states", error)))
    return FALSE;
  for (int64_t v = own.begin; v < own.end; v += r->chunk) {
    c.first = v;
    c.n = MIN (r->chunk, own.end - v);
    lam_device_for (device, (c.n + LAM_EPG_WIDTH - 1) / LAM_EPG_WIDTH, play_group, &c);
    if (!lam_control_go_on (r->control, error))
      return FALSE;
    if (r->error)
      break;
    if (c.re)
      lam_copy (set, LAM_HOST, r->signal->re + v * samples, samples * 4, device->index, c.re, samples * 4, samples * 4,
                c.n);
    if (c.im)
      lam_copy (set, LAM_HOST, r->signal->im + v * samples, samples * 4, device->index, c.im, samples * 4, samples * 4,
                c.n);
    int64_t done = atomic_fetch_add (&r->done, c.n) + c.n;
    lam_control_progress (r->control, "simulating", (double) done, (double) r->signal->voxels);
  }
  return TRUE;
}

static LamPlan *
make_plan (const LamProblem *q, LamDevices *set, const LamPlacement *owner, int64_t chunk, int64_t group)
{
  LamPlan *plan = lam_plan_new (set);
  lam_plan_set_parts (plan, "voxels at a time", "--chunk on the command line", chunk);
  int phase = lam_plan_add_phase (plan, "simulate"), workers = lam_pool_threads (lam_devices_pool (set));
  for (int d = 0; d < lam_devices_count (set); d++) {
    int64_t n = MIN (chunk, lam_placement_count (owner, d)), bytes = lam_mul_size (n, q->p.samples * 4);
    if (n == 0)
      continue;
    if (q->have_re)
      lam_plan_add_buffer (plan, d, "samples, real", bytes, phase, phase);
    if (q->have_im)
      lam_plan_add_buffer (plan, d, "samples, imaginary", bytes, phase, phase);
    lam_plan_add_buffer (plan, d, "states", workers * group * 4, phase, phase);
  }
  return plan;
}

/* Voxels at a time on one device. */
static int64_t
choose_chunk (const LamProblem *q, LamDevices *set, int64_t share, int64_t group)
{
  if (q->options.chunk > 0)
    return MIN (q->options.chunk, MAX (share, 1));
  int devices = lam_devices_count (set), workers = lam_pool_threads (lam_devices_pool (set));
  int64_t budget = q->options.budget > 0 ? q->options.budget / devices : G_MAXINT64;
  for (int d = 0; d < devices && q->options.budget <= 0; d++)
    budget = MIN (budget, lam_devices_get (set, d)->budget - RESERVE);
  int64_t each = q->p.samples * 4 * (q->have_re + q->have_im);
  int64_t fits = (budget - workers * group * 4) / MAX (each, 1);
  int64_t near = MAX (CHUNK_BYTES / MAX (each, 1), workers * LAM_EPG_WIDTH);
  near = lam_round_up (near, workers * LAM_EPG_WIDTH);
  return CLAMP (MIN (fits, near), 1, MAX (share, 1));
}

static gboolean
play_all (Run *r, LamDevices *set, GError **error)
{
  const LamProblem *q = r->q;
  r->owner = lam_placement_split (r->signal->voxels, 1, 0, lam_devices_count (set));
  r->chunk = choose_chunk (q, set, r->owner.largest, r->group);
  for (;;) {
    g_autoptr (GError) local = NULL;
    g_autoptr (LamPlan) plan = r->plan = make_plan (q, set, &r->owner, r->chunk, r->group);
    gboolean ok = lam_plan_fits (plan, &local) && lam_devices_run (set, play_device, r, &local);
    lam_plan_release_all (plan);
    if (ok && !r->error) {
      r->signal->route = g_strdup_printf ("%d device%s, %" G_GINT64_FORMAT " voxels at a time", r->owner.devices,
                                          r->owner.devices == 1 ? "" : "s", r->chunk);
      return TRUE;
    }
    if (r->error) {
      g_propagate_error (error, g_steal_pointer (&r->error));
      return FALSE;
    }
    /* Memory that was there when the chunk was chosen is gone: half of it may do. */
    if (!g_error_matches (local, LAM_ERROR, LAM_ERROR_NO_MEMORY) || r->chunk <= 1) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
    r->chunk = (r->chunk + 1) / 2;
    atomic_store (&r->done, 0);
  }
}

/* ---- in this thread ---- */

static gboolean
play_here (Run *r, GError **error)
{
  const LamProblem *q = r->q;
  int64_t voxels = r->signal->voxels, samples = q->p.samples;
  float *memory = lam_alloc_n (r->group, 4, "states", error);
  gboolean ok = memory != NULL;
  for (int64_t v = 0; ok && v < voxels; v += LAM_EPG_WIDTH) {
    int n = (int) MIN (LAM_EPG_WIDTH, voxels - v);
    ok = play (r, memory, v, n, q->have_re ? r->signal->re + v * samples : NULL,
               q->have_im ? r->signal->im + v * samples : NULL, error)
         && lam_control_go_on (r->control, error);
    lam_control_progress (r->control, "simulating", (double) (v + n), (double) voxels);
  }
  lam_free (memory);
  r->signal->route = g_strdup ("here");
  return ok;
}

/* Chunks and budgets are for the devices. */
static gboolean
is_here (const LamProblem *q, LamDevices *devices, int64_t voxels)
{
  return q->options.chunk == 0 && q->options.budget == 0
         && lam_route_is_here (devices, LAM_CALL_VALUES, q->options.route,
                               (double) voxels * q->positions * q->p.passes);
}

/* ---- the call ---- */

gboolean
lam_problem_signal (const LamProblem *q, LamSignal *signal, GError **error)
{
  signal->voxels = lam_tissues_voxels (q->tissues);
  signal->samples = q->p.samples;
  signal->real_path = q->p.real;
  signal->orders = q->p.orders;
  int64_t n = lam_mul_size (signal->voxels, MAX (signal->samples, 1));
  float **planes[2] = {&signal->re, &signal->im};
  gboolean have[2] = {q->have_re, q->have_im};
  for (int i = 0; i < 2; i++) {
    if (!have[i] || n != signal->capacity)
      g_clear_pointer (planes[i], lam_free);
    if (have[i] && !*planes[i] && !(*planes[i] = lam_alloc_n (n, 4, "signal", error)))
      return FALSE;
  }
  signal->capacity = n;
  return TRUE;
}

gboolean
lam_simulate (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options, LamDevices *devices,
              LamControl *control, LamSignal *signal, GError **error)
{
  LamProblem q;
  gboolean ok = FALSE;
  LamSignal fresh = {.re = signal->re, .im = signal->im, .capacity = signal->capacity};
  g_free (signal->route);
  *signal = fresh;
  if (lam_problem_init (&q, program, tissues, options, NULL, error) && lam_problem_signal (&q, signal, error)) {
    Run r = {.q = &q, .signal = signal, .control = control};
    g_mutex_init (&r.lock);
    r.group = lam_group_floats (&q, lam_epg_scratch (&q.p));
    lam_fp_setup ();
    ok = is_here (&q, devices, signal->voxels) ? play_here (&r, error) : play_all (&r, devices, error);
    g_mutex_clear (&r.lock);
  }
  lam_problem_clear (&q);
  if (!ok)
    lam_signal_clear (signal);
  return ok;
}

LamPlan *
lam_simulate_plan (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                   LamDevices *devices, GError **error)
{
  LamProblem q;
  LamPlan *plan = NULL;
  if (lam_problem_init (&q, program, tissues, options, NULL, error)) {
    int64_t voxels = lam_tissues_voxels (tissues), group = lam_group_floats (&q, lam_epg_scratch (&q.p));
    LamPlacement owner = lam_placement_split (voxels, 1, 0, lam_devices_count (devices));
    if (is_here (&q, devices, voxels)) {
      plan = lam_plan_new (devices);
      int phase = lam_plan_add_phase (plan, "simulate");
      lam_plan_add_buffer (plan, LAM_HOST, "states", group * 4, phase, phase);
    } else
      plan = make_plan (&q, devices, &owner, choose_chunk (&q, devices, owner.largest, group), group);
    int64_t bytes = lam_mul_size (lam_mul_size (voxels, MAX (q.p.samples, 1)), 4 * (q.have_re + q.have_im));
    lam_plan_add_buffer (plan, LAM_HOST, "signal", bytes, 0, 0);
    lam_plan_set_parts (plan, "tissues", "give some, and the others in another run", voxels);
  }
  lam_problem_clear (&q);
  return plan;
}

void
lam_signal_clear (LamSignal *signal)
{
  g_clear_pointer (&signal->re, lam_free);
  g_clear_pointer (&signal->im, lam_free);
  g_clear_pointer (&signal->route, g_free);
  memset (signal, 0, sizeof *signal);
}
