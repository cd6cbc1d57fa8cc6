#include "mr/bloch-model.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "mr/bloch.h"

struct _LamBlochModel {
  LamPulseqTiming *t;
  LamBlochModelOptions options;
  int64_t samples, single, whole;
  int64_t *numbers; /* [samples] */
  double *times;    /* [samples] s */
  double *spin;     /* [3][spins] x, y, z; NULL: one spin */
  double resolving;
  char *file, *checksum;
};

static const char *const sampling_names[LAM_BLOCH_SAMPLINGS] = {"centre", "all"};

/* What is asked by tissue names, in no order of LamBlochQuantity. */
static const char *const quantities[] = {"T1", "T2", "M0", "B0", "B1", NULL};
static const LamBlochQuantity quantity_of[] = {LAM_BLOCH_T1, LAM_BLOCH_T2, LAM_BLOCH_M0, LAM_BLOCH_B0, LAM_BLOCH_B1};
enum { KNOWN = G_N_ELEMENTS (quantity_of) };

const char *
lam_bloch_sampling_name (LamBlochSampling s)
{
  return sampling_names[s];
}

gboolean
lam_bloch_sampling_from_name (const char *name, LamBlochSampling *s)
{
  for (int i = 0; i < LAM_BLOCH_SAMPLINGS; i++)
    if (g_str_equal (name, sampling_names[i])) {
      *s = i;
      return TRUE;
    }
  return FALSE;
}

gboolean
lam_bloch_model_options_equal (const LamBlochModelOptions *a, const LamBlochModelOptions *b)
{
  int64_t m = MAX (a->spins, 1), n = MAX (b->spins, 1);
  return a->sampling == b->sampling && m == n && (n == 1 || memcmp (a->size_mm, b->size_mm, sizeof a->size_mm) == 0)
         && memcmp (a->at_mm, b->at_mm, sizeof a->at_mm) == 0
         && (a->f0_hz == b->f0_hz || (isnan (a->f0_hz) && isnan (b->f0_hz)))
         && g_strcmp0 (a->checksum, b->checksum) == 0;
}

const char *const *
lam_bloch_model_quantities (void)
{
  return quantities;
}

static int
find_quantity (const char *name)
{
  for (int i = 0; i < KNOWN; i++)
    if (g_ascii_strcasecmp (name, quantities[i]) == 0)
      return i;
  return -1;
}

gboolean
lam_bloch_model_knows (const char *quantity)
{
  return find_quantity (quantity) >= 0;
}

/* ---- which samples ---- */

/* The one of @n positions [3][n] that is nearest the centre, the first of equals; -1: they are all one. */
static int64_t
nearest (const double *k, int64_t n)
{
  int64_t best = 0;
  double least = INFINITY, moved = 0, farthest = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = 0;
    for (int c = 0; c < 3; c++) {
      d += k[c * n + i] * k[c * n + i];
      moved = fmax (moved, fabs (k[c * n + i] - k[c * n]));
    }
    farthest = fmax (farthest, d);
    if (d < least * (1 - 1e-9)) {
      least = d;
      best = i;
    }
  }
  return moved <= 1e-9 * (1 + sqrt (farthest)) ? -1 : best;
}

static gboolean
choose_samples (LamBlochModel *m, GError **error)
{
  const LamPulseqTiming *t = m->t;
  const LamPulseq *s = t->seq;
  LamPulseqWalk walk;
  int64_t longest = 1;
  for (int64_t i = 0; i < s->adcs; i++)
    longest = MAX (longest, s->adc[i].samples);
  double *k = lam_alloc_n (3 * longest, sizeof *k, "positions of a readout", error);
  gboolean ok = k && (m->numbers = lam_alloc_n (MAX (t->samples, 1), sizeof *m->numbers, "chosen samples", error))
                && (m->times = lam_alloc_n (MAX (t->samples, 1), sizeof *m->times, "times of samples", error));
  lam_pulseq_walk_init (&walk, t, 0);
  for (int64_t b = 0; ok && b < s->blocks; b++) {
    int32_t row = s->event[LAM_PULSEQ_ADC][b] - 1;
    int64_t n = row >= 0 ? s->adc[row].samples : 0, first = walk.sample, from = 0, to = n;
    ok = lam_pulseq_walk_next (&walk, 0, n, n > 0 ? k : NULL, error);
    if (!ok || n == 0)
      continue;
    int64_t one = m->options.sampling == LAM_BLOCH_SAMPLES_ALL ? -1 : nearest (k, n);
    if (one >= 0) {
      from = one;
      to = one + 1;
    }
    *(one >= 0 ? &m->single : &m->whole) += 1;
    for (int64_t i = from; i < to; i++) {
      m->numbers[m->samples] = first + i;
      m->times[m->samples++] = 1e-12 * (double) (t->start[b] + lam_pulseq_adc_time (&s->adc[row], i));
    }
  }
  lam_free (k);
  if (ok && m->samples == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "the sequence has no readout, and so no signal");
    return FALSE;
  }
  return ok;
}

LamBlochModel *
lam_bloch_model_new (LamPulseqTiming *t, const LamBlochModelOptions *options, GError **error)
{
  g_autoptr (LamBlochModel) m = g_new0 (LamBlochModel, 1);
  m->t = lam_pulseq_timing_ref (t);
  m->options = *options;
  m->options.spins = MAX (options->spins, 1);
  m->options.file = m->file = g_strdup (options->file);
  m->options.checksum = m->checksum = g_strdup (options->checksum);
  if (!lam_pulseq_needs_f0 (t->seq))
    m->options.f0_hz = NAN;
  else if (isnan (options->f0_hz)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "the sequence has offsets in ppm, so the scanner's frequency must be known: give the field");
    return NULL;
  }
  if (m->options.spins > 1) {
    int64_t n = m->options.spins;
    if (!(m->spin = lam_alloc_n (3 * n, sizeof *m->spin, "spins of a voxel", error)))
      return NULL;
    const double size[3] = {1e-3 * options->size_mm[0], 1e-3 * options->size_mm[1], 1e-3 * options->size_mm[2]};
    lam_bloch_spread_box (size, n, m->spin, m->spin + n, m->spin + 2 * n);
  }
  return choose_samples (m, error) ? g_steal_pointer (&m) : NULL;
}

void
lam_bloch_model_free (LamBlochModel *m)
{
  g_clear_pointer (&m->t, lam_pulseq_timing_unref);
  lam_free (m->numbers);
  lam_free (m->times);
  lam_free (m->spin);
  g_free (m->file);
  g_free (m->checksum);
  g_free (m);
}

const LamBlochModelOptions *
lam_bloch_model_options (const LamBlochModel *m)
{
  return &m->options;
}

int64_t
lam_bloch_model_samples (const LamBlochModel *m)
{
  return m->samples;
}

const int64_t *
lam_bloch_model_numbers (const LamBlochModel *m)
{
  return m->numbers;
}

const double *
lam_bloch_model_times (const LamBlochModel *m)
{
  return m->times;
}

void
lam_bloch_model_readouts (const LamBlochModel *m, int64_t *single, int64_t *whole)
{
  *single = m->single;
  *whole = m->whole;
}

double
lam_bloch_model_resolving (const LamBlochModel *m)
{
  return m->resolving;
}

double
lam_bloch_model_steps (const LamBlochModel *m)
{
  double shapes = 0;
  for (int64_t i = 0; i < m->t->seq->rfs; i++) /* each is turned into a map once */
    shapes += (double) m->t->rf[i].pulse.samples;
  return (double) m->options.spins * ((double) m->t->seq->blocks + (double) m->samples + shapes);
}

/* ---- asking ---- */

/* Tissues as the integrator takes them, and what is resolved for them. */
typedef struct {
  LamBlochParams params;
  LamBlochQuantity by[KNOWN];
  double *fields; /* [KNOWN + 3][voxels]: quantities, x, y, z */
  LamBloch *bloch;
} Question;

gboolean
lam_bloch_has_relaxation (const LamTissues *tissues, GError **error)
{
  for (int i = 0; i < 2; i++)
    if (!lam_tissues_get (tissues, quantities[i], NULL)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "the tissues have no %s", quantities[i]);
      return FALSE;
    }
  return TRUE;
}

static void
set_by (Question *q, const char *const *names)
{
  for (int i = 0; names && names[i]; i++) {
    int which = find_quantity (names[i]);
    q->by[q->params.n_by++] = quantity_of[which];
  }
  q->params.by = q->by;
}

static gboolean
ask (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options, const char *const *names,
     LamDevices *devices, Question *q, GError **error)
{
  int64_t voxels = lam_tissues_voxels (tissues), start = lam_clock_ns ();
  *q = (Question){.bloch = NULL};
  LamBlochParams *p = &q->params;
  const double **to[KNOWN] = {&p->t1_ms, &p->t2_ms, &p->m0, &p->b0_hz, &p->b1};
  lam_bloch_params_init (p);
  p->voxels = voxels;
  p->f0_hz = m->options.f0_hz;
  p->chunk = options ? options->chunk : 0;
  p->picks = m->numbers;
  p->n_picks = m->samples;
  p->permille = m->options.permille;
  if (m->spin) {
    p->spins = m->options.spins;
    p->spin_x = m->spin;
    p->spin_y = m->spin + p->spins;
    p->spin_z = m->spin + 2 * p->spins;
  }
  if ((names && !lam_bloch_model_check_by (names, error)) || !lam_bloch_has_relaxation (tissues, error))
    return FALSE;
  set_by (q, names);
  if (!(q->fields = lam_alloc_n (lam_mul_size (KNOWN + 3, voxels), sizeof *q->fields, "tissues", error)))
    return FALSE;
  for (int i = 0; i < KNOWN; i++) {
    int64_t n;
    const double *values = lam_tissues_get (tissues, quantities[i], &n);
    double *room = q->fields + i * voxels;
    for (int64_t v = 0; values && v < voxels; v++)
      room[v] = values[n == 1 ? 0 : v];
    *to[i] = values ? room : NULL;
  }
  const double **place[3] = {&p->x, &p->y, &p->z};
  for (int c = 0; c < 3; c++) {
    double *room = q->fields + (KNOWN + c) * voxels;
    for (int64_t v = 0; v < voxels; v++)
      room[v] = 1e-3 * m->options.at_mm[c];
    *place[c] = m->options.at_mm[c] != 0 ? room : NULL;
  }
  q->bloch = lam_bloch_new (m->t, p, devices, error);
  m->resolving = (double) (lam_clock_ns () - start) * 1e-9;
  return q->bloch != NULL;
}

static void
question_clear (Question *q)
{
  g_clear_pointer (&q->bloch, lam_bloch_free);
  g_clear_pointer (&q->fields, lam_free);
}

static gboolean
answer (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options, const char *const *names,
        LamDevices *devices, LamControl *control, LamJacobian *j, GError **error)
{
  Question q;
  gboolean ok = ask (m, tissues, options, names, devices, &q, error);
  int64_t voxels = lam_tissues_voxels (tissues), n = lam_mul_size (voxels, m->samples),
          all = lam_mul_size (n, q.params.n_by);
  LamSignal *s = &j->signal;
  j->n = q.params.n_by;
  *s = (LamSignal){.voxels = voxels, .samples = m->samples, .capacity = n};
  ok = ok && (s->re = lam_alloc_n (n, sizeof *s->re, "signal", error))
       && (s->im = lam_alloc_n (n, sizeof *s->im, "signal", error));
  if (ok && names)
    ok = (j->re = lam_alloc_n (MAX (all, 1), sizeof *j->re, "Jacobian", error))
         && (j->im = lam_alloc_n (MAX (all, 1), sizeof *j->im, "Jacobian", error));
  ok = ok && lam_bloch_jacobian (q.bloch, s->re, s->im, j->re, j->im, control, error);
  if (ok) {
    int count = lam_devices_count (devices);
    s->route = g_strdup_printf ("bloch, %d device%s", count, count == 1 ? "" : "s");
  } else
    lam_jacobian_clear (j);
  question_clear (&q);
  return ok;
}

gboolean
lam_bloch_model_simulate (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                          LamDevices *devices, LamControl *control, LamSignal *signal, GError **error)
{
  LamJacobian j = {.n = 0};
  lam_signal_clear (signal);
  if (!answer (m, tissues, options, NULL, devices, control, &j, error))
    return FALSE;
  *signal = j.signal;
  return TRUE;
}

gboolean
lam_bloch_model_check_by (const char *const *names, GError **error)
{
  for (int i = 0; names[i]; i++) {
    if (find_quantity (names[i]) < 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "\"%s\" is nothing that a Pulseq file can be derived by; it is played as it is, and knows "
                   "T1, T2, M0, B0 and B1 of a tissue",
                   names[i]);
      return FALSE;
    }
    for (int j = 0; j < i; j++)
      if (g_ascii_strcasecmp (names[i], names[j]) == 0) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is there twice", names[i]);
        return FALSE;
      }
  }
  return TRUE;
}

gboolean
lam_bloch_model_jacobian (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                          const char *const *names, LamDevices *devices, LamControl *control, LamJacobian *jacobian,
                          GError **error)
{
  lam_jacobian_clear (jacobian);
  return answer (m, tissues, options, names, devices, control, jacobian, error);
}

LamPlan *
lam_bloch_model_plan (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                      const char *const *names, LamDevices *devices, GError **error)
{
  Question q;
  LamPlan *plan = NULL;
  if (ask (m, tissues, options, names, devices, &q, error)) {
    int64_t n = lam_mul_size (lam_mul_size (lam_tissues_voxels (tissues), m->samples), 2 * sizeof (float));
    plan = lam_plan_ref (lam_bloch_plan (q.bloch));
    lam_plan_add_buffer (plan, LAM_HOST, "tissues",
                         lam_mul_size (lam_tissues_voxels (tissues), (KNOWN + 3) * sizeof (double)), 0, 0);
    lam_plan_add_buffer (plan, LAM_HOST, "signal", n, 0, 0);
    if (names)
      lam_plan_add_buffer (plan, LAM_HOST, "Jacobian", lam_mul_size (n, q.params.n_by), 0, 0);
  }
  question_clear (&q);
  return plan;
}
