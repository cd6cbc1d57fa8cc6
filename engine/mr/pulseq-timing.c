#include "mr/pulseq-timing.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* ---- events ---- */

static gboolean
rf_facts (LamPulseqTiming *t, GError **error)
{
  const LamPulseq *s = t->seq;
  /* Spoiled sequences hold thousands of events of one shape. */
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int64_t i = 0; i < s->rfs; i++) {
    const LamPulseqRf *rf = &s->rf[i];
    LamPulseqRfFacts *f = &t->rf[i];
    char key[64];
    g_snprintf (key, sizeof key, "%d %d %d", rf->magnitude, rf->phase, rf->time);
    gpointer row = g_hash_table_lookup (known, key);
    if (row)
      f->pulse = t->rf[GPOINTER_TO_SIZE (row) - 1].pulse;
    else {
      if (!lam_pulseq_pulse (s, rf, &f->pulse, error))
        return FALSE;
      g_hash_table_insert (known, g_strdup (key), GSIZE_TO_POINTER (i + 1));
    }
    double re = rf->amplitude * f->pulse.integral_re, im = rf->amplitude * f->pulse.integral_im;
    f->flip = 2 * G_PI * hypot (re, im);
    f->phase = atan2 (im, re);
    f->center = lam_pulseq_rf_center (rf, &f->pulse);
  }
  return TRUE;
}

static gboolean
gradient_facts (LamPulseqTiming *t, GError **error)
{
  const LamPulseq *s = t->seq;
  for (int64_t i = 0; i < s->gradients; i++) {
    LamPulseqGradientFacts *f = &t->gradient[i];
    LamPulseqLine l;
    *f = (LamPulseqGradientFacts){0};
    if (!lam_pulseq_line (s, &s->gradient[i], &l, error))
      return FALSE;
    if (l.points == 0)
      continue;
    int64_t at = lam_pulseq_line_time (&l, 0);
    double g = lam_pulseq_line_value (&l, 0);
    f->begin = at;
    f->first = g;
    f->low = LAM_MIN (g, 0);
    f->high = LAM_MAX (g, 0);
    for (int64_t p = 1; p < l.points; p++) {
      int64_t next = lam_pulseq_line_time (&l, p);
      double value = lam_pulseq_line_value (&l, p), dt = (double) (next - at) * 1e-12;
      f->m0 += dt * 0.5 * (g + value);
      f->m1 += dt * ((double) at * 1e-12 * 0.5 * (g + value) + dt * (g / 6 + value / 3));
      double slew = value == g ? 0 : fabs (value - g) / dt;
      if (slew > f->slew) {
        f->slew = slew;
        f->slew_at = at;
      }
      f->low = LAM_MIN (f->low, value);
      f->high = LAM_MAX (f->high, value);
      at = next;
      g = value;
    }
    f->end = at;
    f->last = g;
  }
  return TRUE;
}

void
lam_pulseq_moments (const LamPulseqTiming *t, int64_t block, int axis, double *m0, double *m1)
{
  double R[9];
  gboolean turned = lam_pulseq_rotation (t->seq, block, R);
  *m0 = *m1 = 0;
  for (int c = 0; c < 3; c++) {
    int32_t row = t->seq->event[LAM_PULSEQ_GX + c][block] - 1;
    if (row >= 0 && (turned || c == axis)) {
      *m0 += R[3 * axis + c] * t->gradient[row].m0;
      *m1 += R[3 * axis + c] * t->gradient[row].m1;
    }
  }
}

/* ---- walking ---- */

/* The three gradients of a block, turned, to be integrated along growing times. */
typedef struct {
  LamPulseqLine line[3];
  LamPulseqSweep sweep[3];
  gboolean there[3], turned;
  double R[9];
} Block;

static gboolean
block_begin (const LamPulseq *s, int64_t block, Block *b, GError **error)
{
  b->turned = lam_pulseq_rotation (s, block, b->R);
  for (int c = 0; c < 3; c++) {
    int32_t row = s->event[LAM_PULSEQ_GX + c][block] - 1;
    b->there[c] = row >= 0;
    if (row >= 0 && !lam_pulseq_line (s, &s->gradient[row], &b->line[c], error))
      return FALSE;
    b->sweep[c] = lam_pulseq_sweep (&b->line[c]);
  }
  return TRUE;
}

/* 1/m from the block's start to @ps. */
static void
block_to (Block *b, int64_t ps, double k[3])
{
  double raw[3];
  for (int c = 0; c < 3; c++)
    raw[c] = b->there[c] ? lam_pulseq_sweep_to (&b->sweep[c], ps) : 0;
  for (int a = 0; a < 3; a++)
    k[a] = b->turned ? b->R[3 * a] * raw[0] + b->R[3 * a + 1] * raw[1] + b->R[3 * a + 2] * raw[2] : raw[a];
}

void
lam_pulseq_walk_init (LamPulseqWalk *w, const LamPulseqTiming *t, int64_t block)
{
  const LamPulseqMark *m = &t->mark[block / LAM_PULSEQ_STRIDE];
  *w = (LamPulseqWalk){.t = t, .block = block / LAM_PULSEQ_STRIDE * LAM_PULSEQ_STRIDE, .sample = m->samples};
  memcpy (w->k, m->k, sizeof w->k);
  while (w->block < block) /* shapes are decompressed by now: no memory is needed */
    lam_pulseq_walk_next (w, 0, 0, NULL, NULL);
}

gboolean
lam_pulseq_walk_next (LamPulseqWalk *w, int64_t from, int64_t to, double *k, GError **error)
{
  const LamPulseq *s = w->t->seq;
  int64_t b = w->block, n = 0, done = 0, center = 0;
  int32_t rf = s->event[LAM_PULSEQ_RF][b] - 1, adc = s->event[LAM_PULSEQ_ADC][b] - 1;
  const LamPulseqAdc *a = adc >= 0 ? &s->adc[adc] : NULL;
  LamPulseqUse use = rf >= 0 ? s->rf[rf].use : LAM_PULSEQ_USE_OTHER;
  gboolean excites = use == LAM_PULSEQ_USE_EXCITATION || use == LAM_PULSEQ_USE_UNDEFINED;
  gboolean turns = excites || use == LAM_PULSEQ_USE_REFOCUSING;
  double base[3] = {w->k[0], w->k[1], w->k[2]}, at[3];
  if (rf >= 0)
    center = s->rf[rf].delay + w->t->rf[rf].center;
  if (a && k)
    n = to - from;
  if (n > 0 || turns) {
    Block block;
    if (!block_begin (s, b, &block, error))
      return FALSE;
    for (; done < n && !(turns && lam_pulseq_adc_time (a, from + done) >= center); done++) {
      block_to (&block, lam_pulseq_adc_time (a, from + done), at);
      for (int c = 0; c < 3; c++)
        k[c * n + done] = base[c] + at[c];
    }
    if (turns) {
      block_to (&block, center, at);
      for (int c = 0; c < 3; c++)
        base[c] = excites ? -at[c] : -base[c] - 2 * at[c]; /* so that base + at is the new k there */
    }
    for (; done < n; done++) {
      block_to (&block, lam_pulseq_adc_time (a, from + done), at);
      for (int c = 0; c < 3; c++)
        k[c * n + done] = base[c] + at[c];
    }
  }
  for (int c = 0; c < 3; c++) {
    double m0, m1;
    lam_pulseq_moments (w->t, b, c, &m0, &m1);
    w->k[c] = base[c] + m0;
  }
  w->sample += a ? a->samples : 0;
  w->block++;
  return TRUE;
}

gboolean
lam_pulseq_kspace (const LamPulseqTiming *t, int64_t first, int64_t n, double *k, int64_t *ps, GError **error)
{
  const LamPulseq *s = t->seq;
  int64_t low = 0, high = s->blocks / LAM_PULSEQ_STRIDE + 1, done = 0, room = 0;
  double *part = NULL;
  while (high - low > 1) { /* the last mark at or before the sample */
    int64_t middle = (low + high) / 2;
    if (t->mark[middle].samples <= first)
      low = middle;
    else
      high = middle;
  }
  LamPulseqWalk w;
  gboolean ok = TRUE;
  lam_pulseq_walk_init (&w, t, low * LAM_PULSEQ_STRIDE);
  while (ok && done < n && w.block < s->blocks) {
    int64_t b = w.block;
    int32_t adc = s->event[LAM_PULSEQ_ADC][b] - 1;
    int64_t here = adc >= 0 ? s->adc[adc].samples : 0, from = LAM_CLAMP (first - w.sample, 0, here);
    int64_t some = LAM_MIN (here - from, n - done);
    if (k && some > room) {
      lam_free (part);
      room = some;
      ok = (part = lam_alloc_n (3 * room, sizeof *part, "k-space of a readout", error)) != NULL;
    }
    ok = ok && lam_pulseq_walk_next (&w, from, from + some, some > 0 && k ? part : NULL, error);
    for (int64_t i = 0; ok && i < some; i++, done++) {
      for (int c = 0; k && c < 3; c++)
        k[c * n + done] = part[c * some + i];
      if (ps)
        ps[done] = t->start[b] + lam_pulseq_adc_time (&s->adc[adc], from + i);
    }
  }
  lam_free (part);
  return ok;
}

/* ---- waveforms ---- */

static int
compare_times (const void *a, const void *b)
{
  int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
  return (x > y) - (x < y);
}

/* A point of the turned gradient wherever one of the three has one; at a step both sides. */
static int64_t
turned_waveform (const Block *b, int axis, int64_t max, int64_t *ps, double *value, GError **error)
{
  int64_t all = 0, n = 0, out = 0;
  for (int c = 0; c < 3; c++)
    all += b->there[c] ? b->line[c].points : 0;
  if (max == 0)
    return 2 * all;
  int64_t *times = lam_alloc_n (LAM_MAX (all, 1), sizeof *times, "waveform of a block", error);
  if (!times)
    return -1;
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; b->there[c] && i < b->line[c].points; i++)
      times[n++] = lam_pulseq_line_time (&b->line[c], i);
  qsort (times, n, sizeof *times, compare_times);
  for (int64_t i = 0; i < n; i++) {
    double before = 0, after = 0;
    if (i > 0 && times[i] == times[i - 1])
      continue;
    for (int c = 0; c < 3; c++) {
      const LamPulseqLine *l = &b->line[c];
      if (!b->there[c] || l->points == 0)
        continue;
      int64_t p = lam_pulseq_line_find (l, times[i]), q = lam_pulseq_line_find (l, times[i] - 1);
      gboolean on = p >= 0 && lam_pulseq_line_time (l, p) == times[i];
      double right = p == l->points - 1 ? 0 : on ? lam_pulseq_line_value (l, p) : lam_pulseq_line_at (l, times[i]);
      double left = q < 0 ? 0 : on ? lam_pulseq_line_value (l, q + 1) : right;
      before += b->R[3 * axis + c] * left;
      after += b->R[3 * axis + c] * right;
    }
    for (int side = 0; side < 2 && out < max; side++)
      if (side == 0 || after != before) {
        ps[out] = times[i];
        value[out++] = side ? after : before;
      }
  }
  lam_free (times);
  return out;
}

int64_t
lam_pulseq_waveform (const LamPulseqTiming *t, int64_t block, int axis, int64_t max, int64_t *ps, double *value,
                     GError **error)
{
  Block b;
  if (!block_begin (t->seq, block, &b, error))
    return -1;
  if (b.turned)
    return turned_waveform (&b, axis, max, ps, value, error);
  if (!b.there[axis])
    return 0;
  for (int64_t i = 0; i < LAM_MIN (max, b.line[axis].points); i++) {
    ps[i] = lam_pulseq_line_time (&b.line[axis], i);
    value[i] = lam_pulseq_line_value (&b.line[axis], i);
  }
  return b.line[axis].points;
}

/* ---- all of it ---- */

int64_t
lam_pulseq_block_at (const LamPulseqTiming *t, int64_t ps)
{
  int64_t low = -1, high = t->seq->blocks + 1; /* start (low) <= ps < start (high) */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (t->start[middle] <= ps)
      low = middle;
    else
      high = middle;
  }
  return low;
}

LamPulseqTiming *
lam_pulseq_timing_new (LamPulseq *seq, GError **error)
{
  LamPulseqTiming *t = g_new0 (LamPulseqTiming, 1);
  int64_t n = seq->blocks;
  g_atomic_ref_count_init (&t->refs);
  t->seq = lam_pulseq_ref (seq);
  if (!(t->start = lam_alloc_n (n + 1, sizeof *t->start, "times of the blocks", error))
      || !(t->rf = lam_alloc_n (seq->rfs, sizeof *t->rf, "RF events", error))
      || !(t->gradient = lam_alloc_n (seq->gradients, sizeof *t->gradient, "gradients", error))
      || !(t->mark = lam_alloc_n (n / LAM_PULSEQ_STRIDE + 2, sizeof *t->mark, "marks of k-space", error))
      || !rf_facts (t, error) || !gradient_facts (t, error)) {
    lam_pulseq_timing_unref (t);
    return NULL;
  }
  t->start[0] = 0;
  for (int64_t b = 0; b < n; b++)
    t->start[b + 1] = t->start[b] + seq->duration[b];

  LamPulseqWalk w = {.t = t};
  gboolean ok = TRUE;
  for (int64_t b = 0; ok && b < n; b++) {
    if (b % LAM_PULSEQ_STRIDE == 0) {
      t->mark[b / LAM_PULSEQ_STRIDE].samples = w.sample;
      memcpy (t->mark[b / LAM_PULSEQ_STRIDE].k, w.k, sizeof w.k);
    }
    t->readouts += seq->event[LAM_PULSEQ_ADC][b] > 0;
    t->pulses += seq->event[LAM_PULSEQ_RF][b] > 0;
    ok = lam_pulseq_walk_next (&w, 0, 0, NULL, error);
  }
  /* The mark behind the last block ends searches; where a stride is full it is that of the end. */
  for (int64_t m = (n + LAM_PULSEQ_STRIDE - 1) / LAM_PULSEQ_STRIDE; m < n / LAM_PULSEQ_STRIDE + 2; m++) {
    t->mark[m].samples = w.sample;
    memcpy (t->mark[m].k, w.k, sizeof w.k);
  }
  t->samples = w.sample;
  if (!ok || !lam_pulseq_tree_new (t, error))
    g_clear_pointer (&t, lam_pulseq_timing_unref);
  return t;
}

LamPulseqTiming *
lam_pulseq_timing_ref (LamPulseqTiming *t)
{
  g_atomic_ref_count_inc (&t->refs);
  return t;
}

void
lam_pulseq_timing_unref (LamPulseqTiming *t)
{
  if (!t || !g_atomic_ref_count_dec (&t->refs))
    return;
  lam_pulseq_tree_free (t->tree);
  lam_free (t->start);
  lam_free (t->rf);
  lam_free (t->gradient);
  lam_free (t->mark);
  lam_pulseq_unref (t->seq);
  g_free (t);
}
