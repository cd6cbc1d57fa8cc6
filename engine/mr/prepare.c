#include "mr/prepare-private.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "mr/constants.h"
#include "mr/lineshape.h"
#include "mr/pools.h"

/* ---- which physics ---- */

static gboolean
is_always (const LamTissues *t, LamTissueQuantity quantity, double value)
{
  int64_t n;
  const double *x = lam_tissues_quantity (t, quantity, &n);
  if (!x)
    return lam_tissue_info (quantity)->absent == value;
  for (int64_t i = 0; i < n; i++)
    if (x[i] != value)
      return FALSE;
  return TRUE;
}

static gboolean
check_tissues (const LamTissues *t, GError **error)
{
  static const LamTissueQuantity needed[] = {LAM_T1, LAM_T2};
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (!lam_tissues_quantity (t, needed[i], NULL)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "the tissues have no %s", lam_tissue_info (needed[i])->name);
      return FALSE;
    }
  for (int64_t v = 0; v < lam_tissues_voxels (t); v++) {
    double sum = lam_tissues_at (t, LAM_BOUND_FRACTION, v);
    for (int p = 0; p < LAM_POOLS; p++)
      sum += lam_tissues_at (t, LAM_POOL_FRACTION + 5 * p, v);
    if (sum > 1) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "voxel %" G_GINT64_FORMAT
                   ": the fractions of the pools sum to %g; no free water is left (at most 1)",
                   v, sum);
      return FALSE;
    }
  }
  return TRUE;
}

static int
count_waters (const LamTissues *t, const LamNeeds *needs)
{
  for (int p = LAM_POOLS - 1; p >= 0; p--)
    if (needs->by[LAM_POOL_FRACTION + 5 * p] || !is_always (t, LAM_POOL_FRACTION + 5 * p, 0))
      return p + 2;
  return 1;
}

static gboolean
make_slice_table (LamProblem *q, int definition, GError **error)
{
  const LamRf *rf = lam_sequence_definition (lam_program_sequence (q->program), definition);
  LamSpinor *knot = g_new (LamSpinor, q->positions * LAM_SLICE_BINS);
  q->slice[definition].knot = knot;
  for (int j = 0; j < q->positions; j++) {
    double at = q->positions == 1 ? 0 : (j / (q->positions - 1.0) - 0.5) * q->extent;
    for (int i = 0; i < LAM_SLICE_BINS; i++)
      if (!lam_rf_spinor (rf, i * LAM_SLICE_MOST / (LAM_SLICE_BINS - 1), at, &knot[j * LAM_SLICE_BINS + i], error))
        return FALSE;
  }
  return TRUE;
}

static gboolean
prepare_pulses (LamProblem *q, GError **error)
{
  const LamSequence *s = lam_program_sequence (q->program);
  int64_t n, pulse = 0;
  const LamEvent *events = lam_sequence_events (s, &n);
  q->pulse = g_memdup2 (q->p.pulse, q->p.pulses * sizeof *q->pulse);
  q->slice = g_new0 (LamSliceTable, lam_sequence_definitions (s));
  q->p.pulse = q->pulse;
  for (int64_t i = 0; i < n; i++) {
    const LamEvent *e = &events[i];
    if (e->kind != LAM_EVENT_RF)
      continue;
    LamEpgPulse *to = &q->pulse[pulse++];
    to->by_field = e->shim != LAM_SHIM_PERFECT && lam_tissues_channels (q->tissues) == 0;
    to->shim = e->shim == LAM_SHIM_PERFECT ? q->shims : MAX (e->shim, 0);
    const LamRf *rf = lam_sequence_definition (s, e->definition);
    if (e->shim >= 0) {
      int channels;
      lam_sequence_shim (s, e->shim, &channels);
      if (channels != lam_tissues_channels (q->tissues)) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "shim %d has %d channels, the tissues' transmit field has %d",
                     e->shim, channels, lam_tissues_channels (q->tissues));
        return FALSE;
      }
      if (rf->mode == LAM_RF_DYNAMIC) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                     "a pulse whose channels have their own waveforms cannot be given a shim as well");
        return FALSE;
      }
    }
    if (e->use == LAM_RF_INVERSION || rf->mode == LAM_RF_INSTANT) {
      to->table = -1;
      continue;
    }
    to->table = q->tables++;
    q->p.real = 0;
    if (rf->mode == LAM_RF_DYNAMIC && rf->channels != MAX (lam_tissues_channels (q->tissues), 1)
        && lam_tissues_channels (q->tissues) > 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a pulse has %d channels, the tissues' transmit field has %d",
                   rf->channels, lam_tissues_channels (q->tissues));
      return FALSE;
    }
    if (rf->mode != LAM_RF_PROFILED)
      continue;
    if (fabs (to->flip) > LAM_SLICE_MOST) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "a selective pulse of %g degrees is past the %g that its slice profile is made for",
                   to->flip / LAM_DEGREE, LAM_SLICE_MOST / LAM_DEGREE);
      return FALSE;
    }
    if (!q->slice[e->definition].knot && !make_slice_table (q, e->definition, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lam_problem_init (LamProblem *q, LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                  const LamNeeds *needs, GError **error)
{
  static const LamSimulateOptions none = {0};
  static const LamNeeds nothing = {0};
  needs = needs ? needs : &nothing;
  memset (q, 0, sizeof *q);
  q->program = program;
  q->tissues = tissues;
  q->options = options ? *options : none;
  q->positions = MAX (q->options.positions, 1);
  q->extent = q->options.extent > 0 ? q->options.extent : 2;
  if (q->options.settle <= 0)
    q->options.settle = 1e-6;
  if (q->options.most_playings <= 0)
    q->options.most_playings = 20000;
  q->voxels = lam_mul_size (lam_tissues_voxels (tissues), q->positions);
  q->p = *lam_program_bound (program);
  if (!check_tissues (tissues, error))
    return FALSE;
  LamEpgProgram *p = &q->p;
  gboolean b0 = needs->by[LAM_B0] || !is_always (tissues, LAM_B0, 0),
           spread = needs->by[LAM_T2_PRIME] || !is_always (tissues, LAM_T2_PRIME, INFINITY);
  gboolean moving = p->voxel > 0 && (needs->by[LAM_VELOCITY] || !is_always (tissues, LAM_VELOCITY, 0));
  gboolean diffusing = p->winding != 0 && (needs->by[LAM_DIFFUSION] || !is_always (tissues, LAM_DIFFUSION, 0));
  p->waters = count_waters (tissues, needs);
  p->semisolid = needs->by[LAM_BOUND_FRACTION] || !is_always (tissues, LAM_BOUND_FRACTION, 0);
  p->parity_diffusion = q->options.parity_diffusion;
  p->ordered = p->winding != 0 && (moving || diffusing);
  p->analytic = lam_program_uniform (program) && (b0 || spread);
  p->precessing = b0 && !p->analytic;
  if (spread && !p->analytic) {
    g_set_error (
        error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
        "T2prime needs winding that is the same in every interval; this sequence has intervals of other lengths (use "
        "a spread of off-resonances instead)");
    return FALSE;
  }
  if (p->ordered && !lam_program_is_ordered (program)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "diffusion and flow act between windings: the program must be made with its windings kept apart");
    return FALSE;
  }
  q->staged = needs->staged;
  q->shims = lam_tissues_channels (tissues) > 0 ? MAX (lam_sequence_shims (lam_program_sequence (program)), 1) : 1;
  p->real = p->real && !needs->staged && p->waters == 1 && !p->precessing && !p->ordered && q->shims == 1
            && lam_tissues_channels (tissues) == 0 && is_always (tissues, LAM_B1_PHASE, 0);
  int was_real = lam_program_bound (program)->real;
  if (!prepare_pulses (q, error))
    return FALSE;
  if (was_real && !p->real) { /* the records were made for the real path: i and a sign in place of the phase */
    LamEpgRecord *r = g_memdup2 (p->record, p->records * sizeof *r);
    lam_program_complex_records (program, r);
    q->record = r;
    p->record = r;
  }
  if (p->semisolid)
    for (int64_t i = 0; i < p->pulses; i++)
      q->saturates |= q->pulse[i].saturation != 0;
  q->have_re = q->have_im = !p->real || p->analytic || !is_always (tissues, LAM_M0_IMAG, 0);
  for (int64_t i = 0; i < p->records && p->real; i++) {
    q->have_re |= p->record[i].re != 0;
    q->have_im |= p->record[i].im != 0;
  }
  return TRUE;
}

void
lam_problem_clear (LamProblem *q)
{
  for (int i = 0; q->slice && i < lam_sequence_definitions (lam_program_sequence (q->program)); i++)
    g_free (q->slice[i].knot);
  g_clear_pointer (&q->slice, g_free);
  g_clear_pointer (&q->pulse, g_free);
  g_clear_pointer (&q->record, g_free);
}

/* ---- the tables of a group ---- */

static int64_t
part (int64_t floats)
{
  return lam_round_up (floats, LAM_ALIGN / 4);
}

static int64_t
exchange_floats (const LamProblem *q)
{
  gboolean pools = q->p.waters > 1 || q->p.semisolid || q->staged;
  return pools ? q->p.durations * LAM_EPG_POOL_FLOATS (q->p.waters, q->p.semisolid) * LAM_EPG_WIDTH : 0;
}

int64_t
lam_group_floats (const LamProblem *q, int64_t scratch)
{
  const int64_t w = LAM_EPG_WIDTH;
  return part (2 * LAM_TISSUE_QUANTITIES * w) + part ((q->shims + 1) * 2 * w) + part (exchange_floats (q))
         + part (q->saturates ? q->p.pulses * w : 0) + part (q->tables * 6 * w) + 2 * part (q->p.samples * w)
         + part (scratch);
}

void
lam_group_place (const LamProblem *q, float *memory, LamGroup *g)
{
  const int64_t w = LAM_EPG_WIDTH;
  g->tissue = (double *) (void *) memory;
  memory += part (2 * LAM_TISSUE_QUANTITIES * w);
  g->field = memory;
  memory += part ((q->shims + 1) * 2 * w);
  g->exchange = exchange_floats (q) ? memory : NULL;
  memory += part (exchange_floats (q));
  g->saturation = q->saturates ? memory : NULL;
  memory += part (q->saturates ? q->p.pulses * w : 0);
  g->rotation = q->tables ? memory : NULL;
  memory += part (q->tables * 6 * w);
  g->re = memory;
  memory += part (q->p.samples * w);
  g->im = memory;
  memory += part (q->p.samples * w);
  g->scratch = memory;
}

static void
fill_tissue (const LamProblem *q, LamGroup *g, int64_t first, int lanes)
{
  for (int i = 0; i < LAM_TISSUE_QUANTITIES; i++) {
    double *to = g->tissue + i * LAM_EPG_WIDTH;
    int64_t n;
    const double *from = lam_tissues_quantity (q->tissues, i, &n);
    for (int l = 0; l < LAM_EPG_WIDTH; l++) {
      int64_t lane = first + MIN (l, lanes - 1); /* lanes that do not count play the last one's part */
      to[l] = !from ? lam_tissue_info (i)->absent : from[n == 1 ? 0 : lane / q->positions];
    }
  }
}

/* |B1| and phase that each shim makes in each lane. */
static void
fill_field (const LamProblem *q, LamGroup *g, int64_t first, int lanes)
{
  const LamSequence *s = lam_program_sequence (q->program);
  int channels = lam_tissues_channels (q->tissues);
  for (int r = 0; r < q->shims; r++)
    for (int l = 0; l < LAM_EPG_WIDTH; l++) {
      int64_t voxel = (first + MIN (l, lanes - 1)) / q->positions;
      double b1 = g->tissue[LAM_B1 * LAM_EPG_WIDTH + l], phase = g->tissue[LAM_B1_PHASE * LAM_EPG_WIDTH + l];
      if (channels > 0) {
        double complex sum = 0;
        int n = 0;
        const double *w = r < lam_sequence_shims (s) ? lam_sequence_shim (s, r, &n) : NULL;
        for (int c = 0; c < channels; c++)
          sum += lam_tissues_channel_b1 (q->tissues, c)[voxel]
                 * cexp (I * lam_tissues_channel_phase (q->tissues, c)[voxel]) * (w ? w[c] * cexp (I * w[n + c]) : 1);
        b1 = cabs (sum);
        phase = sum != 0 ? carg (sum) : 0;
      }
      g->field[r * 2 * LAM_EPG_WIDTH + l] = (float) b1;
      g->field[(r * 2 + 1) * LAM_EPG_WIDTH + l] = (float) phase;
    }
  for (int l = 0; l < LAM_EPG_WIDTH; l++) { /* LAM_SHIM_PERFECT */
    g->field[q->shims * 2 * LAM_EPG_WIDTH + l] = 1;
    g->field[(q->shims * 2 + 1) * LAM_EPG_WIDTH + l] = 0;
  }
}

static void
fill_exchange (const LamProblem *q, LamGroup *g)
{
  const int floats = LAM_EPG_POOL_FLOATS (q->p.waters, q->p.semisolid);
  for (int l = 0; l < LAM_EPG_WIDTH; l++) {
    double tissue[LAM_TISSUE_QUANTITIES], out[LAM_EPG_POOL_FLOATS (LAM_EPG_WATERS, 1)];
    LamPools pools;
    for (int i = 0; i < LAM_TISSUE_QUANTITIES; i++)
      tissue[i] = g->tissue[i * LAM_EPG_WIDTH + l];
    lam_pools_of (tissue, q->p.waters, q->p.semisolid, &pools);
    for (int64_t d = 0; d < q->p.durations; d++) {
      double dt = q->p.duration[d];
      double wash = q->p.voxel > 0 ? 1 - fmin (fabs (tissue[LAM_VELOCITY]) / q->p.voxel * dt, 1) : 1;
      lam_pools_relax (&pools, dt, wash, out);
      for (int i = 0; i < floats; i++)
        g->exchange[(d * floats + i) * LAM_EPG_WIDTH + l] = (float) out[i];
    }
  }
}

static void
fill_saturation (const LamProblem *q, LamGroup *g)
{
  for (int64_t i = 0; i < q->p.pulses; i++)
    for (int l = 0; l < LAM_EPG_WIDTH; l++) {
      const LamEpgPulse *pulse = &q->p.pulse[i];
      double alpha = pulse->flip * g->field[pulse->shim * 2 * LAM_EPG_WIDTH + l];
      double line = lam_lineshape (pulse->frequency_hz - g->tissue[LAM_B0 * LAM_EPG_WIDTH + l], NULL);
      g->saturation[i * LAM_EPG_WIDTH + l] = (float) exp (pulse->saturation * alpha * alpha * line);
    }
}

/* Knots by cubic Hermite; beyond the ends the ends. */
static LamSpinor
read_knots (const LamSpinor *knot, double flip)
{
  const double step = LAM_SLICE_MOST / (LAM_SLICE_BINS - 1);
  double u = CLAMP (flip / step, 0, LAM_SLICE_BINS - 1);
  int i = (int) fmin (u, LAM_SLICE_BINS - 2);
  double t = u - i, h00 = (1 + 2 * t) * (1 - t) * (1 - t), h10 = t * (1 - t) * (1 - t) * step,
         h01 = t * t * (3 - 2 * t), h11 = t * t * (t - 1) * step;
  double g00 = 6 * t * (t - 1) / step, g10 = 3 * t * t - 4 * t + 1, g11 = 3 * t * t - 2 * t;
  const LamSpinor *a = &knot[i], *b = &knot[i + 1];
#define VALUE(f, d) (h00 * a->f + h10 * a->d + h01 * b->f + h11 * b->d)
#define SLOPE(f, d) (g00 * (a->f - b->f) + g10 * a->d + g11 * b->d)
  return (LamSpinor){VALUE (a_re, da_re), VALUE (a_im, da_im), VALUE (b_re, db_re), VALUE (b_im, db_im),
                     SLOPE (a_re, da_re), SLOPE (a_im, da_im), SLOPE (b_re, db_re), SLOPE (b_im, db_im)};
}

gboolean
lam_problem_spinor (const LamProblem *q, int64_t pulse, int64_t lane, double b1, LamSpinor *pair, GError **error)
{
  const LamEpgPulse *p = &q->p.pulse[pulse];
  int definition = lam_program_pulse_definition (q->program, pulse);
  const LamRf *rf = lam_sequence_definition (lam_program_sequence (q->program), definition);
  int position = (int) (lane % q->positions);
  if (rf->mode == LAM_RF_PROFILED) {
    double flip = fabs (p->flip) * b1;
    *pair = read_knots (q->slice[definition].knot + position * LAM_SLICE_BINS, flip);
    if (p->flip < 0) { /* half a turn more of phase */
      pair->b_re = -pair->b_re;
      pair->b_im = -pair->b_im;
      pair->da_re = -pair->da_re;
      pair->da_im = -pair->da_im;
    }
    return TRUE;
  }
  double at = q->positions == 1 ? 0 : (position / (q->positions - 1.0) - 0.5) * q->extent;
  double re[1024], im[1024];
  int channels = lam_tissues_channels (q->tissues);
  int64_t voxel = lane / q->positions;
  for (int c = 0; c < rf->channels; c++) {
    double s = channels ? lam_tissues_channel_b1 (q->tissues, c)[voxel] : b1;
    double phase = channels ? lam_tissues_channel_phase (q->tissues, c)[voxel] : 0;
    re[c] = s * cos (phase);
    im[c] = s * sin (phase);
  }
  return lam_rf_spinor_channels (rf, p->flip, at, re, im, pair, error);
}

/* The pair as a turn into a frame, a rotation about x, and a turn out of a frame (epg-body.h). */
static void
fill_rotation (const LamSpinor *s, double phase, float *to)
{
  double complex a = s->a_re + I * s->a_im, b = s->b_re + I * s->b_im;
  double na = cabs (a), nb = cabs (b);
  double complex ua = na > 0 ? a / na : 1, ub = nb > 0 ? b / nb : 1, turn = cexp (I * phase);
  double complex out = -I * conj (ua * ub) * turn, in = -I * ua * conj (ub) * turn;
  double norm = na * na + nb * nb;
  to[0] = (float) ((na * na - nb * nb) / norm);
  to[LAM_EPG_WIDTH] = (float) (2 * na * nb / norm);
  to[2 * LAM_EPG_WIDTH] = (float) creal (in);
  to[3 * LAM_EPG_WIDTH] = (float) cimag (in);
  to[4 * LAM_EPG_WIDTH] = (float) creal (out);
  to[5 * LAM_EPG_WIDTH] = (float) cimag (out);
}

static gboolean
fill_rotations (const LamProblem *q, LamGroup *g, int64_t first, int lanes, GError **error)
{
  for (int64_t i = 0; i < q->p.pulses; i++) {
    const LamEpgPulse *pulse = &q->p.pulse[i];
    if (pulse->table < 0)
      continue;
    float *to = g->rotation + (int64_t) pulse->table * 6 * LAM_EPG_WIDTH;
    gboolean dynamic = lam_program_pulse_is_dynamic (q->program, i);
    for (int l = 0; l < LAM_EPG_WIDTH; l++) {
      const float *field = g->field + pulse->shim * 2 * LAM_EPG_WIDTH + l;
      LamSpinor pair;
      if (!lam_problem_spinor (q, i, first + MIN (l, lanes - 1), field[0], &pair, error))
        return FALSE;
      gboolean own = dynamic && lam_tissues_channels (q->tissues) > 0; /* the channels' phases are in the pair */
      fill_rotation (&pair, pulse->phase + (own ? 0 : field[LAM_EPG_WIDTH]), to + l);
    }
  }
  return TRUE;
}

gboolean
lam_group_fill (const LamProblem *q, LamGroup *g, int64_t first, int lanes, GError **error)
{
  fill_tissue (q, g, first, lanes);
  fill_field (q, g, first, lanes);
  if (g->exchange)
    fill_exchange (q, g);
  if (g->saturation)
    fill_saturation (q, g);
  return !g->rotation || fill_rotations (q, g, first, lanes, error);
}

void
lam_group_args (const LamProblem *q, const LamGroup *g, int lanes, LamEpgArgs *a)
{
  memset (a, 0, sizeof *a);
  a->program = &q->p;
  a->lanes = lanes;
  for (int i = 0; i < LAM_TISSUE_QUANTITIES; i++)
    a->tissue[i] = g->tissue + i * LAM_EPG_WIDTH;
  a->field = g->field;
  a->fields = q->shims + 1;
  a->exchange = g->exchange;
  a->saturation = g->saturation;
  a->rotation = g->rotation;
  a->re = q->have_re ? g->re : NULL;
  a->im = q->have_im ? g->im : NULL;
  a->scratch = g->scratch;
  a->settle = q->options.settle;
  a->most_playings = q->options.most_playings;
}
