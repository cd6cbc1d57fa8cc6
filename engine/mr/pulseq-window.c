#include "mr/pulseq-window.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Readouts and samples that are looked through for echoes at most. */
#define MOST_SAMPLES 400000
/* Columns that a pulse must cover for its samples to be drawn, and samples of it at most. */
#define LEAST_COLUMNS 6
#define MOST_POINTS 2048

/* ---- phases ---- */

static float
to_degrees (double turns)
{
  return (float) (360 * (turns - floor (turns + 0.5)));
}

static void
add_phase (GArray *phases, int64_t ps, double turns, gboolean on)
{
  LamPulseqPhase p = {ps, to_degrees (turns), on};
  g_array_append_val (phases, p);
}

/* Turns at @ps after the start of the pulse: what its samples say is added by the caller. */
static double
offset_turns (const LamPulseqRf *rf, double ps)
{
  return rf->phase_rad / (2 * G_PI) + rf->freq * ps * 1e-12;
}

static void
add_samples (GArray *phases, const LamPulseqTiming *t, int64_t block, int32_t row)
{
  const LamPulseqRf *rf = &t->seq->rf[row];
  const LamPulseqPulse *p = &t->rf[row].pulse;
  int64_t start = t->start[block] + rf->delay, step = LAM_MAX (p->samples / MOST_POINTS, 1);
  for (int64_t i = 0; i < p->samples; i += step) {
    double at = lam_pulseq_pulse_time (p, t->seq->rf_raster, i);
    double turns = offset_turns (rf, at) + (p->phase ? p->phase[i] : 0);
    /* A sample below 0 is one of the other sign, half a turn away. */
    if (rf->amplitude * p->magnitude[i] < 0)
      turns += 0.5;
    gboolean wraps =
        i > 0 && fabsf (to_degrees (turns) - g_array_index (phases, LamPulseqPhase, phases->len - 1).degrees) > 180;
    add_phase (phases, start + (int64_t) at, turns, i > 0 && !wraps);
  }
}

static void
find_phases (LamPulseqWindow *w, const LamPulseqTiming *t)
{
  const LamPulseq *s = t->seq;
  GArray *phases = g_array_new (FALSE, FALSE, sizeof (LamPulseqPhase));
  double column = (double) (w->t1 - w->t0) / (double) w->n;
  int64_t b = LAM_MAX (lam_pulseq_block_at (t, w->t0), 0);
  while (b < s->blocks && t->start[b] < w->t1) {
    int32_t row = s->event[LAM_PULSEQ_RF][b] - 1;
    if (row < 0) {
      b++;
      continue;
    }
    const LamPulseqRfFacts *f = &t->rf[row];
    if ((double) f->pulse.duration >= LEAST_COLUMNS * column) {
      add_samples (phases, t, b++, row);
      continue;
    }
    int64_t at = t->start[b] + s->rf[row].delay + f->center;
    add_phase (phases, at, offset_turns (&s->rf[row], (double) f->center) + f->phase / (2 * G_PI), FALSE);
    /* On to the next column: it would be the same dot. */
    int64_t next = lam_pulseq_block_at (t, LAM_MAX (at, t->start[b]) + (int64_t) column);
    b = LAM_MAX (b + 1, next);
  }
  w->phases = phases->len;
  w->phase = (LamPulseqPhase *) (void *) g_array_free (phases, FALSE);
}

/* ---- the window ---- */

static void
find_edges (LamPulseqWindow *w, const LamPulseqTiming *t)
{
  int64_t from = LAM_MAX (lam_pulseq_block_at (t, w->t0), 0), to = lam_pulseq_block_at (t, w->t1);
  int64_t n = LAM_MIN (to, t->seq->blocks) - from + 1;
  if (n <= 0 || n > w->n / 6)
    return;
  w->edge = g_new (int64_t, n);
  for (int64_t i = 0; i < n; i++)
    if (t->start[from + i] >= w->t0)
      w->edge[w->edges++] = t->start[from + i];
}

/* The columns [@from, @to) that @like has too, from its column @shift + @from on. */
static void
find_shared (int64_t t0, int64_t width, int64_t n, const LamPulseqWindow *like, int64_t *from, int64_t *to,
             int64_t *shift)
{
  *from = *to = *shift = 0;
  if (!like || like->width != width || (t0 - like->t0) % width != 0)
    return;
  *shift = (t0 - like->t0) / width;
  *from = LAM_CLAMP (-*shift, 0, n);
  *to = LAM_CLAMP (like->n - *shift, *from, n);
}

int64_t
lam_pulseq_window_missing (int64_t t0, int64_t width, int64_t n, const LamPulseqWindow *like)
{
  int64_t from, to, shift;
  find_shared (t0, width, n, like, &from, &to, &shift);
  return n - (to - from);
}

/* Looks the columns [@from, @to) up. */
static gboolean
look_up (LamPulseqWindow *w, const LamPulseqTiming *t, int64_t from, int64_t to, GError **error)
{
  LamPulseqTrace part = {.adc = w->trace.adc + from};
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    part.low[i] = w->trace.low[i] + from;
    part.high[i] = w->trace.high[i] + from;
  }
  w->fresh += to - from;
  return from >= to || lam_pulseq_trace (t, w->t0 + from * w->width, w->t0 + to * w->width, to - from, &part, error);
}

LamPulseqWindow *
lam_pulseq_window_new (const LamPulseqTiming *t, int64_t t0, int64_t width, int64_t n, const LamPulseqWindow *like,
                       GError **error)
{
  LamPulseqWindow *w = g_new0 (LamPulseqWindow, 1);
  int64_t from, to, shift;
  gboolean ok = TRUE;
  w->t0 = t0;
  w->width = LAM_MAX (width, 1);
  w->n = LAM_MAX (n, 1);
  w->t1 = t0 + w->n * w->width;
  for (int i = 0; ok && i < LAM_PULSEQ_TRACES; i++)
    ok = (w->trace.low[i] = lam_alloc_n (w->n, sizeof (float), "drawing of the sequence", error))
         && (w->trace.high[i] = lam_alloc_n (w->n, sizeof (float), "drawing of the sequence", error));
  ok = ok && (w->trace.adc = lam_alloc_n (w->n, 1, "drawing of the sequence", error));
  find_shared (t0, w->width, w->n, like, &from, &to, &shift);
  for (int i = 0; ok && to > from && i < LAM_PULSEQ_TRACES; i++) {
    memcpy (w->trace.low[i] + from, like->trace.low[i] + shift + from, (to - from) * sizeof (float));
    memcpy (w->trace.high[i] + from, like->trace.high[i] + shift + from, (to - from) * sizeof (float));
  }
  if (ok && to > from)
    memcpy (w->trace.adc + from, like->trace.adc + shift + from, to - from);
  if (!ok || !look_up (w, t, 0, from, error) || !look_up (w, t, to, w->n, error)) {
    lam_pulseq_window_free (w);
    return NULL;
  }
  find_phases (w, t);
  find_edges (w, t);
  return w;
}

void
lam_pulseq_window_free (LamPulseqWindow *w)
{
  if (!w)
    return;
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    lam_free (w->trace.low[i]);
    lam_free (w->trace.high[i]);
  }
  lam_free (w->trace.adc);
  g_free (w->phase);
  g_free (w->edge);
  g_free (w);
}

void
lam_pulseq_largest (const LamPulseqTiming *t, double *rf, double *gradient)
{
  float low[LAM_PULSEQ_TRACES] = {0}, high[LAM_PULSEQ_TRACES] = {0};
  LamPulseqTrace all = {.adc = NULL};
  for (int i = 0; i < LAM_PULSEQ_TRACES; i++) {
    all.low[i] = &low[i];
    all.high[i] = &high[i];
  }
  *rf = *gradient = 0;
  /* All of every block: the nodes of the tree are enough, and need no memory. */
  if (!lam_pulseq_trace (t, 0, lam_pulseq_timing_duration (t), 1, &all, NULL))
    return;
  *rf = high[LAM_PULSEQ_TRACE_RF];
  for (int i = LAM_PULSEQ_TRACE_GX; i <= LAM_PULSEQ_TRACE_GZ; i++)
    *gradient = fmax (*gradient, fmax (high[i], -low[i]));
}

/* ---- instants ---- */

static gboolean
excites (const LamPulseq *s, int64_t block)
{
  int32_t row = s->event[LAM_PULSEQ_RF][block] - 1;
  return row >= 0 && (s->rf[row].use == LAM_PULSEQ_USE_EXCITATION || s->rf[row].use == LAM_PULSEQ_USE_UNDEFINED);
}

/* How far between two positions of [3][n] the path from @i to the next is nearest the centre, 0 … 1, and how near, squared. */
static double
nearest_between (const double *k, int64_t n, int64_t i, double *square)
{
  double along = 0, length = 0, least = 0;
  for (int c = 0; c < 3; c++) {
    double d = k[c * n + i + 1] - k[c * n + i];
    along -= k[c * n + i] * d;
    length += d * d;
  }
  double part = length > 0 ? LAM_CLAMP (along / length, 0, 1) : 0;
  for (int c = 0; c < 3; c++) {
    double x = k[c * n + i] + part * (k[c * n + i + 1] - k[c * n + i]);
    least += x * x;
  }
  *square = least;
  return part;
}

/* When the readout that @walk has before it is nearest the centre of k-space; mostly that is between two samples. Of equals the
 * first. */
static gboolean
find_echo (LamPulseqWalk *walk, int64_t *ps, GError **error)
{
  const LamPulseqTiming *t = walk->t;
  int64_t block = walk->block;
  const LamPulseqAdc *a = &t->seq->adc[t->seq->event[LAM_PULSEQ_ADC][block] - 1];
  double *k = lam_alloc_n (3 * a->samples, sizeof *k, "k-space of a readout", error), least = INFINITY;
  if (!k || !lam_pulseq_walk_next (walk, 0, a->samples, k, error)) {
    lam_free (k);
    return FALSE;
  }
  *ps = t->start[block] + lam_pulseq_adc_time (a, 0);
  for (int64_t i = 0; i + 1 < a->samples; i++) {
    double square, part = nearest_between (k, a->samples, i, &square);
    if (square < least * (1 - 1e-9) - 1e-12) {
      int64_t at = lam_pulseq_adc_time (a, i);
      least = square;
      *ps = t->start[block] + at + (int64_t) rint (part * (double) (lam_pulseq_adc_time (a, i + 1) - at));
    }
  }
  lam_free (k);
  return TRUE;
}

GArray *
lam_pulseq_instants (const LamPulseqTiming *t, int64_t t0, int64_t t1, int64_t most, GError **error)
{
  const LamPulseq *s = t->seq;
  g_autoptr (GArray) out = g_array_new (FALSE, FALSE, sizeof (LamPulseqInstant));
  int64_t from = LAM_CLAMP (lam_pulseq_block_at (t, t0), 0, LAM_MAX (s->blocks - 1, 0));
  int64_t to = LAM_CLAMP (lam_pulseq_block_at (t, t1), -1, s->blocks - 1), n = 0, samples = 0;
  for (int64_t b = from; b <= to && n <= most; b++) {
    int32_t adc = s->event[LAM_PULSEQ_ADC][b] - 1;
    n += (s->event[LAM_PULSEQ_RF][b] > 0) + (adc >= 0);
    samples += adc >= 0 ? s->adc[adc].samples : 0;
  }
  if (n > most || s->blocks == 0)
    return g_steal_pointer (&out);
  /* Out to the excitations that enclose it, unless they are far. */
  for (int64_t b = from, looked = 0; b >= 0 && looked < 4096; b--, looked++)
    if (excites (s, b)) {
      from = b;
      break;
    }
  for (int64_t b = to + 1, looked = 0; b < s->blocks && looked < 4096; b++, looked++)
    if (excites (s, b)) {
      to = b;
      break;
    }
  LamPulseqWalk walk;
  lam_pulseq_walk_init (&walk, t, from);
  for (int64_t b = from; b <= to; b++) {
    int32_t rf = s->event[LAM_PULSEQ_RF][b] - 1, adc = s->event[LAM_PULSEQ_ADC][b] - 1;
    LamPulseqInstant pulse = {LAM_PULSEQ_INSTANT_PULSE, 0, b}, echo = {LAM_PULSEQ_INSTANT_ECHO, 0, b};
    gboolean heard = adc >= 0 && s->adc[adc].samples > 0 && samples <= MOST_SAMPLES && out->len < 4 * most;
    if (rf >= 0) {
      pulse.ps = t->start[b] + s->rf[rf].delay + t->rf[rf].center;
      if (excites (s, b))
        pulse.kind = LAM_PULSEQ_INSTANT_EXCITATION;
      else if (s->rf[rf].use == LAM_PULSEQ_USE_REFOCUSING)
        pulse.kind = LAM_PULSEQ_INSTANT_REFOCUSING;
    }
    if (heard ? !find_echo (&walk, &echo.ps, error) : !lam_pulseq_walk_next (&walk, 0, 0, NULL, error))
      return NULL;
    if (rf >= 0 && heard && echo.ps < pulse.ps) {
      g_array_append_val (out, echo);
      g_array_append_val (out, pulse);
      continue;
    }
    if (rf >= 0)
      g_array_append_val (out, pulse);
    if (heard)
      g_array_append_val (out, echo);
  }
  return g_steal_pointer (&out);
}

/* ---- rulers ---- */

GArray *
lam_pulseq_rulers (const GArray *instants)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (LamPulseqRuler));
  int64_t excitation = -1, echo = -1;
  for (guint i = 0; i < instants->len; i++) {
    const LamPulseqInstant *x = &g_array_index (instants, LamPulseqInstant, i);
    LamPulseqRuler r = {LAM_PULSEQ_TR, excitation, x->ps};
    if (x->kind == LAM_PULSEQ_INSTANT_EXCITATION) {
      if (excitation >= 0)
        g_array_append_val (out, r);
      excitation = x->ps;
      echo = -1;
    } else if (x->kind == LAM_PULSEQ_INSTANT_ECHO && excitation >= 0) {
      r.kind = echo < 0 ? LAM_PULSEQ_TE : LAM_PULSEQ_ESP;
      r.from = echo < 0 ? excitation : echo;
      g_array_append_val (out, r);
      echo = x->ps;
    }
  }
  return out;
}

const char *
lam_pulseq_ruler_name (LamPulseqRulerKind kind)
{
  static const char *const names[] = {"TR", "TE", "ESP"};
  return names[kind];
}
