#include "mr/derivative.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/placement.h"
#include "core/plan.h"
#include "mr/lineshape.h"
#include "mr/pools.h"
#include "mr/prepare-private.h"

#define WIDTH LAM_EPG_WIDTH

/* ---- names ---- */

gboolean
lam_by_parse (const LamSequence *s, const char *name, GArray *by, GError **error)
{
  int quantity = lam_tissue_quantity (name);
  if (quantity >= 0) {
    LamBy b = {quantity, -1};
    g_array_append_val (by, b);
    return TRUE;
  }
  const char *bracket = strchr (name, '[');
  g_autofree char *field = bracket ? g_strndup (name, bracket - name) : g_strdup (name);
  const LamProtocolEntry *e = lam_sequence_entry (s, field);
  if (!e) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is neither a tissue quantity nor a value of the protocol",
                 name);
    return FALSE;
  }
  int first = 0, last = e->n - 1;
  if (bracket) {
    char *end;
    gint64 i = g_ascii_strtoll (bracket + 1, &end, 10);
    if (end == bracket + 1 || strcmp (end, "]") != 0 || i < 0 || i >= e->n) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\": %s has the indices 0 to %d", name, field, e->n - 1);
      return FALSE;
    }
    first = last = (int) i;
  }
  for (int i = first; i <= last; i++) {
    LamBy b = {-1, e->first + i};
    g_array_append_val (by, b);
  }
  return TRUE;
}

char *
lam_by_name (const LamSequence *s, LamBy by)
{
  int n;
  if (by.tissue >= 0)
    return g_strdup (lam_tissue_info (by.tissue)->name);
  const LamProtocolEntry *e = lam_sequence_entries (s, &n);
  for (int i = 0; i < n; i++)
    if (by.value >= e[i].first && by.value < e[i].first + e[i].n)
      return e[i].n == 1 ? g_strdup (e[i].name) : g_strdup_printf ("%s[%d]", e[i].name, by.value - e[i].first);
  return g_strdup ("?");
}

/* ---- slopes ---- */

typedef double (*SlopeFunc) (const LamProgram *p, int64_t i, int index);

static float *
slopes (const LamProgram *p, int64_t n, int index, SlopeFunc slope)
{
  gboolean any = FALSE;
  float *x = g_new (float, MAX (n, 1));
  for (int64_t i = 0; i < n; i++) {
    x[i] = (float) slope (p, i, index);
    any |= x[i] != 0;
  }
  if (!any)
    g_clear_pointer (&x, g_free);
  return x;
}

static LamEpgBy
make_by (const LamProgram *p, LamBy by)
{
  const LamEpgProgram *b = lam_program_bound (p);
  LamEpgBy q = {.tissue = by.tissue};
  if (by.tissue >= 0)
    return q;
  q.pass = slopes (p, b->passes, by.value, lam_program_pass_slope);
  q.peek = slopes (p, b->records, by.value, lam_program_peek_slope);
  q.factor = slopes (p, b->records, by.value, lam_program_factor_slope);
  q.flip = slopes (p, b->pulses, by.value, lam_program_flip_slope);
  q.phase = slopes (p, b->pulses, by.value, lam_program_phase_slope);
  q.record = slopes (p, b->records, by.value, lam_program_record_phase_slope);
  return q;
}

static void
clear_by (LamEpgBy *q)
{
  g_free ((float *) q->pass);
  g_free ((float *) q->peek);
  g_free ((float *) q->factor);
  g_free ((float *) q->flip);
  g_free ((float *) q->phase);
  g_free ((float *) q->record);
}

/* Whether the real path's kernel can derive by it. */
static gboolean
stays_real (const LamEpgBy *q)
{
  switch (q->tissue) {
  case LAM_T1:
  case LAM_T2:
  case LAM_M0:
  case LAM_M0_IMAG:
  case LAM_B1:
  case LAM_INV_EFFICIENCY:
  case LAM_T2_PRIME:
  case LAM_B0: /* where it acts at the samples alone, else the path is not real */
    return TRUE;
  case -1:
    return !q->phase && !q->record;
  default:
    return FALSE;
  }
}

/* ---- one call for at most LAM_EPG_MOST_BY quantities ---- */

typedef struct {
  LamProblem q;
  LamEpgBy by[LAM_EPG_MOST_BY];
  int place[LAM_EPG_MOST_BY]; /* where each belongs in the caller's list */
  int n, tissues;             /* tissue quantities come first */
  gboolean reverse, values;   /* values: gradients by protocol values are wanted */
  int64_t scratch, extra;     /* floats of the kernel; of the derivative tables */
} Batch;

static int64_t
part (int64_t floats)
{
  return lam_round_up (floats, LAM_ALIGN / 4);
}

static int64_t
table_floats (const Batch *b)
{
  const LamEpgProgram *p = &b->q.p;
  int64_t exchange = p->durations * LAM_EPG_POOL_FLOATS (p->waters, p->semisolid) * WIDTH;
  if (!b->q.staged)
    return part (b->n * p->samples * WIDTH) * 2;
  int64_t tables = part (b->tissues * exchange) + part (exchange) + part (b->q.saturates ? 2 * p->pulses * WIDTH : 0)
                   + part (b->q.tables * 3 * WIDTH);
  if (!b->reverse)
    return tables + 2 * part (b->n * p->samples * WIDTH);
  return tables + 2 * part (p->samples * WIDTH) + part (b->n * WIDTH)
         + part ((p->passes + 3 * p->records + 2 * p->pulses) * WIDTH);
}

static gboolean
begin_batch (Batch *b, LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
             const LamBy *by, const int *order, int n, gboolean reverse, gboolean values, GError **error)
{
  LamNeeds needs = {.staged = reverse};
  memset (b, 0, sizeof *b);
  b->n = n;
  b->reverse = reverse;
  b->values = values;
  for (int i = 0; i < n; i++) {
    b->place[i] = order[i];
    b->by[i] = make_by (program, by[order[i]]);
    b->tissues += b->by[i].tissue >= 0;
    if (b->by[i].tissue >= 0)
      needs.by[b->by[i].tissue] = TRUE;
    needs.staged |= !stays_real (&b->by[i]);
  }
  if (!lam_problem_init (&b->q, program, tissues, options, &needs, error))
    return FALSE;
  if (!needs.staged && (!b->q.p.real || b->q.p.semisolid)) {
    lam_problem_clear (&b->q);
    needs.staged = TRUE;
    if (!lam_problem_init (&b->q, program, tissues, options, &needs, error))
      return FALSE;
  }
  LamEpgProgram *p = &b->q.p;
  if (p->playings == 0) { /* as often as the slowest of all voxels needs, whichever of them come together */
    double slowest = 1, whole = MAX (lam_program_duration (program), 1e-6);
    for (int64_t v = 0; v < lam_tissues_voxels (tissues); v++) {
      double t1 = lam_tissues_at (tissues, LAM_T1, v);
      slowest = isfinite (t1) ? MAX (slowest, t1) : slowest;
    }
    p->playings = (int) CLAMP (ceil (16e-3 * slowest / whole), 2, b->q.options.most_playings);
  }
  b->scratch = !b->q.staged ? lam_epg_scratch_real (p, n)
               : reverse    ? lam_epg_scratch_reverse (p)
                            : lam_epg_scratch_forward (p, n);
  b->extra = table_floats (b);
  return TRUE;
}

static void
end_batch (Batch *b)
{
  for (int i = 0; i < b->n; i++)
    clear_by (&b->by[i]);
  lam_problem_clear (&b->q);
}

/* ---- tables of a group ---- */

static void
fill_exchange (const Batch *b, const LamGroup *g, float *d_exchange, float *dt_exchange)
{
  const LamEpgProgram *p = &b->q.p;
  const int floats = LAM_EPG_POOL_FLOATS (p->waters, p->semisolid);
  double out[LAM_EPG_POOL_FLOATS (LAM_EPG_WATERS, 1)], tissue[LAM_TISSUE_QUANTITIES];
  for (int l = 0; l < WIDTH; l++) {
    for (int i = 0; i < LAM_TISSUE_QUANTITIES; i++)
      tissue[i] = g->tissue[i * WIDTH + l];
    for (int64_t d = 0; d < p->durations; d++) {
      for (int j = 0; j < b->tissues; j++) {
        lam_pools_relax_by (tissue, p->waters, p->semisolid, b->by[j].tissue, p->duration[d], p->voxel, out);
        for (int i = 0; i < floats; i++)
          d_exchange[((j * p->durations + d) * floats + i) * WIDTH + l] = (float) out[i];
      }
      if (b->n == b->tissues && !b->values)
        continue;
      lam_pools_relax_by_time (tissue, p->waters, p->semisolid, p->duration[d], p->voxel, out);
      for (int i = 0; i < floats; i++)
        dt_exchange[(d * floats + i) * WIDTH + l] = (float) out[i];
    }
  }
}

static void
fill_saturation (const Batch *b, const LamGroup *g, float *to)
{
  const LamEpgProgram *p = &b->q.p;
  for (int64_t i = 0; i < p->pulses; i++)
    for (int l = 0; l < WIDTH; l++) {
      double alpha = p->pulse[i].flip * g->field[p->pulse[i].shim * 2 * WIDTH + l], slope;
      double line = lam_lineshape (p->pulse[i].frequency_hz - g->tissue[LAM_B0 * WIDTH + l], &slope);
      to[2 * i * WIDTH + l] = (float) (2 * p->pulse[i].saturation * alpha * line);
      to[(2 * i + 1) * WIDTH + l] = (float) (-p->pulse[i].saturation * alpha * alpha * slope);
    }
}

/* The turn vector of dU U^H, U = ((a, -b*), (b, a*)), in the laboratory: b beta = db a - da b, zeta = da a* + db b*. */
static gboolean
fill_axis (const Batch *b, const LamGroup *g, int64_t first, int lanes, float *to, GError **error)
{
  const LamEpgProgram *p = &b->q.p;
  for (int64_t i = 0; i < p->pulses; i++) {
    const LamEpgPulse *pulse = &p->pulse[i];
    if (pulse->table < 0)
      continue;
    gboolean own = lam_program_pulse_is_dynamic (b->q.program, i) && lam_tissues_channels (b->q.tissues) > 0;
    for (int l = 0; l < WIDTH; l++) {
      const float *field = g->field + pulse->shim * 2 * WIDTH + l;
      LamSpinor s;
      if (!lam_problem_spinor (&b->q, i, first + MIN (l, lanes - 1), field[0], &s, error))
        return FALSE;
      double complex a = s.a_re + I * s.a_im, c = s.b_re + I * s.b_im, da = s.da_re + I * s.da_im,
                     dc = s.db_re + I * s.db_im;
      double norm = creal (a * conj (a)) + creal (c * conj (c));
      double complex beta = (dc * a - da * c) / norm, zeta = (da * conj (a) + dc * conj (c)) / norm;
      double complex across = conj (2 * I * beta) * cexp (I * (pulse->phase + (own ? 0 : field[WIDTH])));
      float *at = to + (int64_t) pulse->table * 3 * WIDTH + l;
      at[0] = (float) creal (across);
      at[WIDTH] = (float) cimag (across);
      at[2 * WIDTH] = (float) (-2 * cimag (zeta));
    }
  }
  return TRUE;
}

static gboolean
fill_batch (const Batch *b, const LamGroup *g, int64_t first, int lanes, float *memory, LamEpgDerivative *d,
            GError **error)
{
  const LamEpgProgram *p = &b->q.p;
  const int64_t samples = p->samples * WIDTH,
                exchange = p->durations * LAM_EPG_POOL_FLOATS (p->waters, p->semisolid) * WIDTH;
  memset (d, 0, sizeof *d);
  lam_group_args (&b->q, g, lanes, &d->a);
  d->n = b->n;
  d->by = b->by;
  if (b->q.staged) {
    d->a.re = g->re;
    d->a.im = g->im;
    d->d_exchange = memory;
    memory += part (b->tissues * exchange);
    d->dt_exchange = memory;
    memory += part (exchange);
    fill_exchange (b, g, (float *) d->d_exchange, (float *) d->dt_exchange);
    d->d_saturation = b->q.saturates ? memory : NULL;
    memory += part (b->q.saturates ? 2 * p->pulses * WIDTH : 0);
    if (d->d_saturation)
      fill_saturation (b, g, (float *) d->d_saturation);
    d->axis = b->q.tables ? memory : NULL;
    memory += part (b->q.tables * 3 * WIDTH);
    if (d->axis && !fill_axis (b, g, first, lanes, (float *) d->axis, error))
      return FALSE;
  }
  if (!b->reverse) {
    d->d_re = b->q.staged || b->q.have_re ? memory : NULL;
    d->d_im = b->q.staged || b->q.have_im ? memory + part (b->n * samples) : NULL;
    return TRUE;
  }
  d->cot_re = memory;
  memory += part (samples);
  d->cot_im = memory;
  memory += part (samples);
  d->g_tissue = memory;
  memory += part (b->n * WIDTH);
  if (b->values) {
    memset (memory, 0, (p->passes + 3 * p->records + 2 * p->pulses) * WIDTH * sizeof *memory);
    d->g_pass = memory;
    d->g_peek = d->g_pass + p->passes * WIDTH;
    d->g_factor = d->g_peek + p->records * WIDTH;
    d->g_record = d->g_factor + p->records * WIDTH;
    d->g_flip = d->g_record + p->records * WIDTH;
    d->g_phase = d->g_flip + p->pulses * WIDTH;
  }
  return TRUE;
}

/* ---- over the devices ---- */

typedef struct {
  Batch *b;
  int64_t voxels, group; /* floats of one group, tables and all */
  LamControl *control;
  LamPlan *plan;
  GMutex lock;
  GError *error;
  _Atomic int64_t done;
  /* forward */
  LamJacobian *jacobian;
  LamSignal *signal; /* its samples come along; NULL: not */
  /* reverse */
  const float *cot_re, *cot_im;
  float *tissue;
  int all;      /* quantities in the caller's list */
  double *sums; /* [groups][n_values] */
  int n_values;
} Run;

static void
keep_error (Run *r, GError *error)
{
  g_mutex_lock (&r->lock);
  if (!r->error)
    r->error = error;
  else
    g_error_free (error);
  g_mutex_unlock (&r->lock);
}

static gboolean
forward_group (Run *r, float *memory, int64_t first, int n, GError **error)
{
  Batch *b = r->b;
  const LamProblem *q = &b->q;
  const int64_t samples = q->p.samples;
  LamGroup g;
  LamEpgDerivative d;
  float *tables = memory + lam_group_floats (q, b->scratch);
  lam_group_place (q, memory, &g);
  for (int v = 0; v < (q->positions == 1 ? 1 : n); v++)
    for (int j = 0; j < q->positions; j += WIDTH) {
      /* One position: @n voxels at once. Several: one voxel's, added in their order. */
      int lanes = q->positions == 1 ? n : MIN (WIDTH, q->positions - j);
      int64_t lane = q->positions == 1 ? first : (first + v) * q->positions + j;
      if (!lam_group_fill (q, &g, lane, lanes, error) || !fill_batch (b, &g, lane, lanes, tables, &d, error))
        return FALSE;
      if (q->staged)
        lam_epg_kernels ()->jacobian (&d);
      else
        lam_epg_kernels ()->jacobian_real (&d);
      if (r->signal && r->signal->re)
        lam_epg_kernels ()->turn_round (g.re, samples, lanes, r->signal->re + first * samples, samples);
      const float *from[2] = {d.d_re, d.d_im};
      float *to[2] = {r->jacobian->re, r->jacobian->im};
      for (int c = 0; c < 2; c++)
        for (int i = 0; i < b->n && to[c]; i++) {
          const int64_t row_at = (first * r->all + b->place[i]) * samples;
          if (q->positions == 1 && from[c]) {
            lam_epg_kernels ()->turn_round (from[c] + i * samples * WIDTH, samples, lanes, to[c] + row_at,
                                            r->all * samples);
            continue;
          }
          for (int l = 0; l < lanes; l++) {
            int64_t voxel = q->positions == 1 ? first + l : first + v;
            float *row = to[c] + (voxel * r->all + b->place[i]) * samples;
            for (int64_t s = 0; s < samples; s++) {
              float x = from[c] ? from[c][(i * samples + s) * WIDTH + l] : 0;
              if (q->positions == 1)
                row[s] = x;
              else
                row[s] = (j + l == 0 ? 0 : row[s]) + x / q->positions;
            }
          }
        }
    }
  return TRUE;
}

/* Lanes added in their order. */
static double *
sums_of (const float *g, int64_t n, int lanes)
{
  double *x = g_new0 (double, MAX (n, 1));
  for (int64_t i = 0; i < n; i++)
    for (int l = 0; l < lanes; l++)
      x[i] += g[i * WIDTH + l];
  return x;
}

static void
scatter (const Run *r, const LamEpgDerivative *d, int lanes, double *x)
{
  const LamEpgProgram *p = &r->b->q.p;
  g_autofree double *pass = sums_of (d->g_pass, p->passes, lanes), *peek = sums_of (d->g_peek, p->records, lanes),
                    *factor = sums_of (d->g_factor, p->records, lanes),
                    *record = sums_of (d->g_record, p->records, lanes), *flip = sums_of (d->g_flip, p->pulses, lanes),
                    *phase = sums_of (d->g_phase, p->pulses, lanes);
  lam_program_scatter (r->b->q.program, pass, peek, factor, record, flip, phase, x);
}

static gboolean
reverse_group (Run *r, float *memory, int64_t first, int n, double *sums, GError **error)
{
  Batch *b = r->b;
  const LamProblem *q = &b->q;
  const int64_t samples = q->p.samples;
  LamGroup g;
  LamEpgDerivative d;
  float *tables = memory + lam_group_floats (q, b->scratch);
  lam_group_place (q, memory, &g);
  for (int v = 0; v < (q->positions == 1 ? 1 : n); v++)
    for (int j = 0; j < q->positions; j += WIDTH) {
      int lanes = q->positions == 1 ? n : MIN (WIDTH, q->positions - j);
      int64_t lane = q->positions == 1 ? first : (first + v) * q->positions + j;
      if (!lam_group_fill (q, &g, lane, lanes, error) || !fill_batch (b, &g, lane, lanes, tables, &d, error))
        return FALSE;
      for (int c = 0; c < 2; c++) {
        const float *from = c ? r->cot_im : r->cot_re;
        float *to = (float *) (c ? d.cot_im : d.cot_re);
        for (int64_t s = 0; s < samples; s++)
          for (int l = 0; l < WIDTH; l++)
            to[s * WIDTH + l] = l < lanes && from ? from[(lane + l) / q->positions * samples + s] / q->positions : 0;
      }
      lam_epg_kernels ()->gradient (&d);
      for (int l = 0; l < lanes && r->tissue; l++)
        for (int i = 0; i < b->n; i++) {
          float *to = &r->tissue[(lane + l) / q->positions * r->all + b->place[i]];
          *to = ((lane + l) % q->positions == 0 ? 0 : *to) + (b->by[i].tissue >= 0 ? d.g_tissue[i * WIDTH + l] : 0);
        }
      if (b->values)
        scatter (r, &d, lanes, sums);
    }
  return TRUE;
}

typedef struct {
  Run *run;
  int64_t first_group;
  float *memory;
} Chunk;

static void
run_group (int64_t index, int worker, void *data)
{
  Chunk *c = data;
  Run *r = c->run;
  int64_t group = c->first_group + index, first = group * WIDTH;
  int n = (int) MIN (WIDTH, r->voxels - first);
  float *memory = c->memory + worker * r->group;
  GError *error = NULL;
  if (lam_control_cancelled (r->control) || r->error)
    return;
  lam_fp_setup ();
  if (r->b->reverse ? !reverse_group (r, memory, first, n, r->sums ? r->sums + group * r->n_values : NULL, &error)
                    : !forward_group (r, memory, first, n, &error))
    keep_error (r, error);
  lam_control_progress (r->control, r->b->reverse ? "gradient" : "derivatives",
                        (double) (atomic_fetch_add (&r->done, n) + n), (double) r->voxels);
}

/* Groups are the same whoever owns them, so their sums are too. */
static gboolean
run_device (LamDevice *device, void *data, GError **error)
{
  Run *r = data;
  int64_t groups = (r->voxels + WIDTH - 1) / WIDTH;
  LamPlacement owner = lam_placement_split (groups, 1, 0, lam_devices_count (device->set));
  LamRange own = owner.range[device->index];
  if (own.end <= own.begin)
    return TRUE;
  Chunk c = {r, own.begin, lam_plan_take (r->plan, device->index, "states", error)};
  if (!c.memory)
    return FALSE;
  lam_device_for (device, own.end - own.begin, run_group, &c);
  return lam_control_go_on (r->control, error);
}

static gboolean
run_all (Run *r, LamDevices *set, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  lam_plan_set_parts (plan, "derivatives", "fewer quantities and values at once", r->b->n);
  int phase = lam_plan_add_phase (plan, r->b->reverse ? "gradient" : "derivatives"),
      workers = lam_pool_threads (lam_devices_pool (set));
  r->group = lam_group_floats (&r->b->q, r->b->scratch) + r->b->extra;
  r->plan = plan;
  atomic_store (&r->done, 0);
  for (int d = 0; d < lam_devices_count (set); d++)
    lam_plan_add_buffer (plan, d, "states", workers * r->group * 4, phase, phase);
  g_mutex_init (&r->lock);
  gboolean ok = lam_plan_fits (plan, &local) && lam_devices_run (set, run_device, r, &local);
  lam_plan_release_all (plan);
  g_mutex_clear (&r->lock);
  if (r->error) {
    g_propagate_error (error, g_steal_pointer (&r->error));
    return FALSE;
  }
  if (!ok)
    g_propagate_error (error, g_steal_pointer (&local));
  return ok;
}

static gboolean
run_here (Run *r, GError **error)
{
  int64_t groups = (r->voxels + WIDTH - 1) / WIDTH;
  r->group = lam_group_floats (&r->b->q, r->b->scratch) + r->b->extra;
  Chunk c = {r, 0, lam_alloc_n (r->group, 4, "states", error)};
  gboolean ok = c.memory != NULL;
  atomic_store (&r->done, 0);
  g_mutex_init (&r->lock);
  for (int64_t g = 0; ok && g < groups; g++) {
    run_group (g, 0, &c);
    ok = !r->error && lam_control_go_on (r->control, error);
  }
  g_mutex_clear (&r->lock);
  lam_free (c.memory);
  if (r->error)
    g_propagate_error (error, g_steal_pointer (&r->error));
  return ok;
}

static gboolean
run_somewhere (Run *r, const LamSimulateOptions *options, LamDevices *set, GError **error)
{
  const LamProblem *q = &r->b->q;
  double work = (double) r->voxels * q->positions * q->p.passes;
  gboolean here = lam_route_is_here (set, r->b->reverse ? LAM_CALL_GRADIENT : LAM_CALL_JACOBIAN,
                                     options ? options->route : LAM_ROUTE_AUTO, work);
  if (r->signal) {
    int n = (int) MIN (lam_devices_count (set), (r->voxels + WIDTH - 1) / WIDTH);
    r->signal->route = here ? g_strdup ("here") : g_strdup_printf ("%d device%s", n, n == 1 ? "" : "s");
  }
  return here ? run_here (r, error) : run_all (r, set, error);
}

/* Tissue quantities first. */
static int *
sort_by (const LamBy *by, int n)
{
  int *order = g_new (int, MAX (n, 1)), at = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < n; i++)
      if ((by[i].tissue >= 0) == (pass == 0))
        order[at++] = i;
  return order;
}

/* ---- the calls ---- */

/* The real path's kernel plays the same passes as lam_simulate () on its way: with one batch that has no imaginary part, its
 * samples are the signal, to the bit. Not so for trains played until they have settled, which a Jacobian plays longer. */
static gboolean
brings_signal (const Batch *b, const LamProgram *program, int n)
{
  return n > 0 && n == b->n && !b->q.staged && b->q.positions == 1 && b->q.have_re && !b->q.have_im
         && lam_program_bound (program)->playings > 0;
}

/* As lam_simulate () begins: memory of an earlier call is used again. */
static gboolean
begin_signal (const Batch *b, LamSignal *signal, GError **error)
{
  LamSignal fresh = {.re = signal->re, .im = signal->im, .capacity = signal->capacity};
  g_free (signal->route);
  *signal = fresh;
  signal->played = b->q.p.playings;
  return lam_problem_signal (&b->q, signal, error);
}

gboolean
lam_jacobian (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options, const LamBy *by, int n,
              LamDevices *devices, LamControl *control, LamJacobian *jacobian, GError **error)
{
  g_autofree int *order = sort_by (by, n);
  int64_t voxels = lam_tissues_voxels (tissues), samples = lam_program_bound (program)->samples;
  int64_t floats = lam_mul_size (lam_mul_size (voxels, MAX (n, 1)), MAX (samples, 1));
  if (floats != (int64_t) jacobian->n * jacobian->signal.voxels * MAX (samples, 1)) {
    g_clear_pointer (&jacobian->re, lam_free);
    g_clear_pointer (&jacobian->im, lam_free);
  }
  jacobian->n = n;
  gboolean ok = jacobian->re || (jacobian->re = lam_alloc_n (floats, 4, "Jacobian", error)), have_im = FALSE;
  for (int i = 0; ok && (i < n || i == 0); i += LAM_EPG_MOST_BY) {
    Batch b;
    ok = begin_batch (&b, program, tissues, options, by, order + i, MIN (LAM_EPG_MOST_BY, n - i), FALSE, FALSE, error);
    gboolean brings = ok && brings_signal (&b, program, n), im = ok && (b.q.staged || b.q.have_im);
    if (ok && i == 0)
      ok = brings ? begin_signal (&b, &jacobian->signal, error)
                  : lam_simulate (program, tissues, options, devices, control, &jacobian->signal, error);
    if (ok && im && !jacobian->im)
      ok = (jacobian->im = lam_alloc_n (floats, 4, "Jacobian", error)) != NULL;
    if (ok && im && !have_im && i > 0) /* the parts before had none */
      memset (jacobian->im, 0, (size_t) floats * 4);
    have_im |= im;
    if (!have_im)
      g_clear_pointer (&jacobian->im, lam_free);
    if (ok && n > 0) {
      Run r = {.b = &b,
               .voxels = voxels,
               .control = control,
               .jacobian = jacobian,
               .signal = brings ? &jacobian->signal : NULL,
               .all = n};
      ok = run_somewhere (&r, options, devices, error);
    }
    end_batch (&b);
  }
  if (!ok)
    lam_jacobian_clear (jacobian);
  return ok;
}

void
lam_jacobian_clear (LamJacobian *j)
{
  lam_signal_clear (&j->signal);
  g_clear_pointer (&j->re, lam_free);
  g_clear_pointer (&j->im, lam_free);
  j->n = 0;
}

/* Groups [begin, end) into the first of them: halves first, so that the tree is one whatever the cuts. */
static void
fold (double *sums, int64_t begin, int64_t end, int n)
{
  if (end - begin < 2)
    return;
  int64_t half = 1;
  while (half * 2 < end - begin)
    half *= 2;
  fold (sums, begin, begin + half, n);
  fold (sums, begin + half, end, n);
  for (int i = 0; i < n; i++)
    sums[begin * n + i] += sums[(begin + half) * n + i];
}

gboolean
lam_gradient (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options, const LamBy *by, int n,
              const float *cot_re, const float *cot_im, LamDevices *devices, LamControl *control, float *tissue,
              double *values, GError **error)
{
  g_autofree int *order = sort_by (by, n);
  int64_t voxels = lam_tissues_voxels (tissues), groups = (voxels + WIDTH - 1) / WIDTH;
  int n_values;
  lam_program_values (program, &n_values);
  double *sums = NULL;
  gboolean ok = TRUE;
  if (values) {
    int64_t count = lam_mul_size (groups, MAX (n_values, 1));
    sums = lam_alloc_n (count, sizeof *sums, "gradient sums", error);
    if (!sums)
      return FALSE;
    memset (sums, 0, (size_t) count * sizeof *sums);
  }
  for (int i = 0; ok && (i < n || i == 0); i += LAM_EPG_MOST_BY) {
    Batch b;
    gboolean by_values = values && i == 0;
    ok = begin_batch (&b, program, tissues, options, by, order + i, CLAMP (n - i, 0, LAM_EPG_MOST_BY), TRUE, by_values,
                      error);
    if (ok) {
      Run r = {.b = &b,
               .voxels = voxels,
               .control = control,
               .cot_re = cot_re,
               .cot_im = cot_im,
               .tissue = tissue,
               .all = n,
               .sums = by_values ? sums : NULL,
               .n_values = n_values};
      ok = run_somewhere (&r, options, devices, error);
    }
    end_batch (&b);
  }
  if (ok && values) {
    fold (sums, 0, groups, n_values);
    memcpy (values, sums, n_values * sizeof *values);
  }
  lam_free (sums);
  return ok;
}
