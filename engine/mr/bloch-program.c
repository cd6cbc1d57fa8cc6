/* bloch-program.c: from blocks to a program. Stretches without pulse or readout become one free evolution each; pulses and
 * readouts that are the same but for their phase are made once. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "mr/bloch-private.h"

/* No more maps than these, which is 6 MB a thread. */
#define MAX_MAPS 4096

typedef struct {
  LamBlochBuilt *out;
  const LamPulseqTiming *t;
  const LamBlochReach *reach;
  double f0;
  int64_t capacity;
  GHashTable *pulses, *readouts; /* key -> index + 1 */
  GArray *uses;                  /* of pulses: int64_t */
  const int64_t *picks;          /* [n_picks] samples that are heard; NULL: all */
  int64_t n_picks, picked;       /* ... and how many of them so far */
  double dt, m[3];               /* free evolution that is still to be put */
} Build;

/* The gradients of a block, turned, along growing times. */
typedef struct {
  LamPulseqLine line[3];
  LamPulseqSweep sweep[3];
  gboolean there[3];
  double R[9];
} Fields;

static gboolean
fields_begin (const LamPulseq *s, int64_t block, Fields *f, GError **error)
{
  lam_pulseq_rotation (s, block, f->R);
  for (int c = 0; c < 3; c++) {
    int32_t row = s->event[LAM_PULSEQ_GX + c][block] - 1;
    f->there[c] = row >= 0;
    if (row >= 0 && !lam_pulseq_line (s, &s->gradient[row], &f->line[c], error))
      return FALSE;
    f->sweep[c] = lam_pulseq_sweep (&f->line[c]);
  }
  return TRUE;
}

static void
fields_to (Fields *f, int64_t ps, double m[3])
{
  double raw[3];
  for (int c = 0; c < 3; c++)
    raw[c] = f->there[c] ? lam_pulseq_sweep_to (&f->sweep[c], ps) : 0;
  for (int a = 0; a < 3; a++)
    m[a] = f->R[3 * a] * raw[0] + f->R[3 * a + 1] * raw[1] + f->R[3 * a + 2] * raw[2];
}

/* What the gradients of a block are: for keys. */
static char *
gradient_key (const LamPulseq *s, int64_t b)
{
  const int32_t ext = s->event[LAM_PULSEQ_EXT][b];
  const int32_t x = s->event[LAM_PULSEQ_GX][b], y = s->event[LAM_PULSEQ_GY][b], z = s->event[LAM_PULSEQ_GZ][b];
  if (!x && !y && !z)
    return g_strdup ("none");
  return g_strdup_printf ("%d %d %d %d", x, y, z, ext ? s->link[ext - 1].rotation : -1);
}

static gboolean
put_op (Build *b, LamBlochOp op, GError **error)
{
  LamBlochProgram *p = &b->out->program;
  if (p->ops == b->capacity) {
    int64_t more = LAM_MAX (1024, 2 * b->capacity);
    LamBlochOp *ops = lam_alloc_n (more, sizeof *ops, "program of the sequence", error);
    if (!ops)
      return FALSE;
    if (p->ops > 0)
      memcpy (ops, b->out->ops, p->ops * sizeof *ops);
    lam_free (b->out->ops);
    b->out->ops = ops;
    b->capacity = more;
  }
  b->out->ops[p->ops++] = op;
  return TRUE;
}

/* Puts the free evolution that has gathered. */
static gboolean
settle (Build *b, GError **error)
{
  LamBlochOp op = {.kind = LAM_BLOCH_FREE, .dt = b->dt, .m = {b->m[0], b->m[1], b->m[2]}};
  if (b->dt == 0)
    return TRUE;
  b->dt = b->m[0] = b->m[1] = b->m[2] = 0;
  return put_op (b, op, error);
}

static void
gather (Build *b, int64_t ps, const double from[3], const double to[3])
{
  b->dt += (double) ps * 1e-12;
  for (int c = 0; c < 3; c++)
    b->m[c] += to[c] - from[c];
}

/* ---- pulses ---- */

/* Steps of a pulse: where they are, and how long. */
typedef struct {
  int64_t n;
  double step;       /* ps */
  gboolean as_given; /* the samples are the steps */
} Steps;

static Steps
find_steps (const LamPulseqPulse *p, int64_t raster)
{
  Steps s = {p->samples, (double) raster, TRUE};
  if (!p->times || p->samples == 0)
    return s;
  if (p->samples > 1) { /* even times at the middles of their steps */
    double step = p->times[1] - p->times[0];
    gboolean even = step > 0 && fabs (p->times[0] - 0.5 * step) < 1e-6;
    for (int64_t i = 1; even && i < p->samples; i++)
      even = fabs (p->times[i] - p->times[i - 1] - step) < 1e-6;
    s.step = step * (double) raster;
    if (even)
      return s;
  }
  s = (Steps){p->duration / raster, (double) raster, FALSE};
  return s;
}

static void
sample_at (const LamPulseqPulse *p, int64_t i, double *re, double *im)
{
  double turn = p->phase ? 2 * G_PI * p->phase[i] : 0;
  *re = p->magnitude[i] * cos (turn);
  *im = p->magnitude[i] * sin (turn);
}

/* Between samples in a straight line; before the first and after the last as these are. @i is where the last call ended. */
static void
sample_between (const LamPulseqPulse *p, double raster_steps, int64_t *i, double *re, double *im)
{
  while (*i + 1 < p->samples && p->times[*i + 1] <= raster_steps)
    ++*i;
  sample_at (p, *i, re, im);
  if (*i + 1 >= p->samples || raster_steps <= p->times[*i])
    return;
  double re1, im1, u = (raster_steps - p->times[*i]) / (p->times[*i + 1] - p->times[*i]);
  sample_at (p, *i + 1, &re1, &im1);
  *re += u * (re1 - *re);
  *im += u * (im1 - *im);
}

static gboolean
make_pulse (Build *b, int64_t block, const LamPulseqRf *rf, const LamPulseqPulse *shape, LamBlochPulse *out,
            GError **error)
{
  const LamPulseq *s = b->t->seq;
  Steps steps = find_steps (shape, s->rf_raster);
  double *wx = lam_alloc_n (steps.n, sizeof *wx, "steps of a pulse", error);
  double *wy = wx ? lam_alloc_n (steps.n, sizeof *wy, "steps of a pulse", error) : NULL;
  double *m = wy ? lam_alloc_n (3 * steps.n, sizeof *m, "steps of a pulse", error) : NULL;
  Fields fields;
  gboolean ok = m && fields_begin (s, block, &fields, error);
  double dt = steps.step * 1e-12, freq = lam_pulseq_freq (rf->freq, rf->freq_ppm, b->f0), before[3], after[3],
         widest = 0;
  int64_t at = 0;
  if (ok)
    fields_to (&fields, rf->delay, before);
  for (int64_t k = 0; ok && k < steps.n; k++) {
    double middle = ((double) k + 0.5) * steps.step, re, im, turn = 2 * G_PI * freq * middle * 1e-12, bound = 0;
    if (steps.as_given)
      sample_at (shape, k, &re, &im);
    else
      sample_between (shape, (double) k + 0.5, &at, &re, &im);
    fields_to (&fields, rf->delay + (int64_t) floor ((double) (k + 1) * steps.step + 0.5), after);
    wx[k] = 2 * G_PI * dt * rf->amplitude * (re * cos (turn) - im * sin (turn));
    wy[k] = 2 * G_PI * dt * rf->amplitude * (re * sin (turn) + im * cos (turn));
    for (int c = 0; c < 3; c++) {
      m[3 * k + c] = after[c] - before[c];
      before[c] = after[c];
    }
    bound = 2 * G_PI
            * (b->reach->b0 * dt + b->reach->x * fabs (m[3 * k]) + b->reach->y * fabs (m[3 * k + 1])
               + b->reach->z * fabs (m[3 * k + 2]));
    widest = fmax (widest, hypot (bound, b->reach->b1 * hypot (wx[k], wy[k])));
  }
  ok = ok && widest < 1e6;
  if (!ok && error && !*error)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "a pulse turns by %.3g rad in one of its samples; is a unit wrong?", widest);
  *out = (LamBlochPulse){
      .n = steps.n, .turns = ok ? (int) fmax (1, ceil (widest)) : 1, .map = -1, .dt = dt, .wx = wx, .wy = wy, .m = m};
  for (int64_t k = 0; ok && k < steps.n; k++) {
    wx[k] /= out->turns;
    wy[k] /= out->turns;
    for (int c = 0; c < 3; c++)
      m[3 * k + c] /= out->turns;
  }
  if (!ok) {
    lam_free (wx);
    lam_free (wy);
    lam_free (m);
  }
  return ok;
}

static gboolean
put_pulse (Build *b, int64_t block, int64_t *end, GError **error)
{
  const LamPulseq *s = b->t->seq;
  const LamPulseqRf *rf = &s->rf[s->event[LAM_PULSEQ_RF][block] - 1];
  const LamPulseqPulse *shape = &b->t->rf[s->event[LAM_PULSEQ_RF][block] - 1].pulse;
  double phase = lam_pulseq_freq (rf->phase_rad, rf->phase_ppm, b->f0);
  g_autofree char *fields = gradient_key (s, block);
  char amplitude[32], freq[32];
  g_ascii_formatd (amplitude, sizeof amplitude, "%.17g", rf->amplitude);
  g_ascii_formatd (freq, sizeof freq, "%.17g", lam_pulseq_freq (rf->freq, rf->freq_ppm, b->f0));
  g_autofree char *key = g_strdup_printf ("%d %d %d %s %s %s %" G_GINT64_FORMAT, rf->magnitude, rf->phase, rf->time,
                                          amplitude, freq, fields, g_str_equal (fields, "none") ? 0 : rf->delay);
  int64_t row = GPOINTER_TO_SIZE (g_hash_table_lookup (b->pulses, key));
  if (row == 0) {
    LamBlochPulse p;
    int64_t none = 0;
    if (!make_pulse (b, block, rf, shape, &p, error))
      return FALSE;
    g_array_append_val (b->out->pulses, p);
    g_array_append_val (b->uses, none);
    row = b->out->pulses->len;
    g_hash_table_insert (b->pulses, g_steal_pointer (&key), GSIZE_TO_POINTER (row));
  }
  g_array_index (b->uses, int64_t, row - 1)++;
  const LamBlochPulse *p = &g_array_index (b->out->pulses, LamBlochPulse, row - 1);
  *end = rf->delay + (int64_t) floor ((double) p->n * p->dt * 1e12 + 0.5);
  LamBlochOp op = {
      .kind = LAM_BLOCH_PULSE, .index = (int32_t) row - 1, .re = (float) cos (phase), .im = (float) sin (phase)};
  return settle (b, error) && put_op (b, op, error);
}

/* ---- readouts ---- */

/* The samples @index [@n] of a block's readout, from the state at @now (gradient moments @zero there). */
static gboolean
make_readout (Build *b, int64_t block, const LamPulseqAdc *a, const int64_t *index, int64_t n, int64_t now,
              const double zero[3], LamBlochReadout *out, GError **error)
{
  const LamPulseq *s = b->t->seq;
  double freq = lam_pulseq_freq (a->freq, a->freq_ppm, b->f0);
  gboolean plain = freq == 0 && a->phase_shape < 0, ok = FALSE;
  const double *shape = a->phase_shape >= 0 ? lam_pulseq_shape_values (s, a->phase_shape, error) : NULL;
  double *dt = lam_alloc_n (n, sizeof *dt, "samples of a readout", error);
  double *m = dt ? lam_alloc_n (3 * n, sizeof *m, "samples of a readout", error) : NULL;
  float *re = m && !plain ? lam_alloc_n (n, sizeof *re, "samples of a readout", error) : NULL;
  float *im = re ? lam_alloc_n (n, sizeof *im, "samples of a readout", error) : NULL;
  Fields fields;
  ok = m && (plain || im) && (a->phase_shape < 0 || shape) && fields_begin (s, block, &fields, error);
  for (int64_t k = 0; ok && k < n; k++) {
    int64_t at = lam_pulseq_adc_time (a, index[k]);
    double turn = 2 * G_PI * freq * (double) (at - a->delay) * 1e-12 + (shape ? shape[index[k]] : 0);
    fields_to (&fields, at, m + 3 * k);
    for (int c = 0; c < 3; c++)
      m[3 * k + c] -= zero[c];
    dt[k] = (double) (at - now) * 1e-12;
    if (!plain) {
      re[k] = (float) cos (turn);
      im[k] = (float) sin (turn);
    }
  }
  *out = (LamBlochReadout){n, dt, m, re, im};
  if (!ok) {
    lam_free (dt);
    lam_free (m);
    lam_free (re);
    lam_free (im);
  }
  return ok;
}

/* Which of the samples [@from, @to) of a readout, whose first has the number @sample, are heard; @first gets what the first of
 * them is called in what comes out. "3:7,9:9" for keys. */
static int64_t *
choose_samples (Build *b, int64_t sample, int64_t from, int64_t to, int64_t *n, int64_t *first, char **key,
                GError **error)
{
  int64_t *index = NULL, count = 0;
  if (b->picks) {
    *first = b->picked;
    while (b->picked + count < b->n_picks && b->picks[b->picked + count] < sample + to)
      count++;
  } else {
    *first = sample + from;
    count = to - from;
  }
  *n = count;
  if (!(index = lam_alloc_n (LAM_MAX (count, 1), sizeof *index, "samples of a readout", error)))
    return NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  for (int64_t i = 0; i < count; i++) {
    index[i] = b->picks ? b->picks[b->picked + i] - sample : from + i;
    if (i == 0 || index[i] != index[i - 1] + 1)
      g_string_append_printf (text, "%" G_GINT64_FORMAT ":", index[i]);
    if (i == count - 1 || (b->picks && b->picks[b->picked + i + 1] - sample != index[i] + 1))
      g_string_append_printf (text, "%" G_GINT64_FORMAT ",", index[i]);
  }
  if (b->picks)
    b->picked += count;
  *key = g_string_free (g_steal_pointer (&text), FALSE);
  return index;
}

static gboolean
put_readout (Build *b, int64_t block, int64_t sample, int64_t from, int64_t to, int64_t now, const double zero[3],
             GError **error)
{
  const LamPulseq *s = b->t->seq;
  int32_t adc = s->event[LAM_PULSEQ_ADC][block] - 1;
  const LamPulseqAdc *a = &s->adc[adc];
  double phase = lam_pulseq_freq (a->phase_rad, a->phase_ppm, b->f0);
  int64_t n, first;
  g_autofree char *which = NULL;
  if (to <= from)
    return TRUE;
  int64_t *index = choose_samples (b, sample, from, to, &n, &first, &which, error);
  if (!index || n == 0) {
    lam_free (index);
    return index != NULL;
  }
  /* Events that differ in their phase only hear the same. */
  g_autofree char *fields = gradient_key (s, block);
  char freq[32];
  g_ascii_formatd (freq, sizeof freq, "%.17g", lam_pulseq_freq (a->freq, a->freq_ppm, b->f0));
  g_autofree char *key = g_strdup_printf ("%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %d %s %s",
                                          which, a->dwell, a->delay, now, a->phase_shape, freq, fields);
  int64_t row = GPOINTER_TO_SIZE (g_hash_table_lookup (b->readouts, key));
  gboolean ok = TRUE;
  if (row == 0) {
    LamBlochReadout r;
    ok = make_readout (b, block, a, index, n, now, zero, &r, error);
    if (ok) {
      g_array_append_val (b->out->readouts, r);
      row = b->out->readouts->len;
      g_hash_table_insert (b->readouts, g_steal_pointer (&key), GSIZE_TO_POINTER (row));
    }
  }
  lam_free (index);
  LamBlochOp op = {.kind = LAM_BLOCH_READ,
                   .index = (int32_t) row - 1,
                   .re = (float) cos (phase),
                   .im = (float) sin (phase),
                   .sample = first};
  return ok && settle (b, error) && put_op (b, op, error);
}

/* ---- blocks ---- */

static gboolean
put_block (Build *b, int64_t block, int64_t sample, GError **error)
{
  const LamPulseq *s = b->t->seq;
  int32_t rf = s->event[LAM_PULSEQ_RF][block] - 1, adc = s->event[LAM_PULSEQ_ADC][block] - 1;
  int64_t now = 0, heard = 0, all = adc >= 0 ? s->adc[adc].samples : 0, end = 0;
  double zero[3] = {0, 0, 0}, start[3], stop[3];
  Fields fields;
  if (all > 0 && lam_pulseq_adc_time (&s->adc[adc], all - 1) > s->duration[block]) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "the readout of block %" G_GINT64_FORMAT " goes on %.6g us after its block: its samples would be of "
                 "another time; expected a block at least as long as its readout",
                 block + 1, 1e-6 * (double) (lam_pulseq_adc_time (&s->adc[adc], all - 1) - s->duration[block]));
    return FALSE;
  }
  if (rf < 0 && adc < 0) { /* nothing but gradients */
    for (int c = 0; c < 3; c++) {
      double m1;
      lam_pulseq_moments (b->t, block, c, &stop[c], &m1);
    }
    gather (b, s->duration[block], zero, stop);
    return TRUE;
  }
  if (!fields_begin (s, block, &fields, error))
    return FALSE;
  if (rf >= 0 && b->t->rf[rf].pulse.samples > 0) {
    int64_t begin = s->rf[rf].delay;
    Steps steps = find_steps (&b->t->rf[rf].pulse, s->rf_raster);
    end = begin + (int64_t) floor ((double) steps.n * steps.step + 0.5);
    while (heard < all && lam_pulseq_adc_time (&s->adc[adc], heard) < end)
      heard++;
    if (!put_readout (b, block, sample, 0, heard, 0, zero, error))
      return FALSE;
    fields_to (&fields, begin, start);
    gather (b, begin, zero, start);
    if (!put_pulse (b, block, &now, error))
      return FALSE;
    fields_to (&fields, now, zero);
  }
  if (adc >= 0 && !put_readout (b, block, sample, heard, all, now, zero, error))
    return FALSE;
  /* A pulse that ends after its block leaves no time; the next block begins where this one ends. */
  fields_to (&fields, LAM_MAX (s->duration[block], now), stop);
  gather (b, LAM_MAX (s->duration[block] - now, 0), zero, stop);
  return TRUE;
}

gboolean
lam_bloch_build (LamBlochBuilt *out, const LamPulseqTiming *t, const LamBlochReach *reach, const LamBlochParams *p,
                 GError **error)
{
  const LamPulseq *s = t->seq;
  Build b = {.out = out, .t = t, .reach = reach, .f0 = p->f0_hz, .picks = p->picks, .n_picks = p->n_picks};
  int64_t end = !p->picks    ? (p->count ? p->first + p->count : t->samples)
                : p->n_picks ? p->picks[p->n_picks - 1] + 1
                             : 0;
  gboolean ok = TRUE;
  *out = (LamBlochBuilt){.ops = NULL};
  out->pulses = g_array_new (FALSE, FALSE, sizeof (LamBlochPulse));
  out->readouts = g_array_new (FALSE, FALSE, sizeof (LamBlochReadout));
  b.pulses = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  b.readouts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  b.uses = g_array_new (FALSE, FALSE, sizeof (int64_t));
  int64_t sample = 0;
  for (int64_t block = 0; ok && block < s->blocks && sample < end; block++) {
    int32_t adc = s->event[LAM_PULSEQ_ADC][block] - 1;
    ok = put_block (&b, block, sample, error);
    sample += adc >= 0 ? s->adc[adc].samples : 0;
  }
  for (guint i = 0; i < b.uses->len && out->program.maps < MAX_MAPS; i++)
    if (g_array_index (b.uses, int64_t, i) > 1)
      g_array_index (out->pulses, LamBlochPulse, i).map = (int) out->program.maps++;
  g_hash_table_unref (b.pulses);
  g_hash_table_unref (b.readouts);
  g_array_unref (b.uses);
  out->program.op = out->ops;
  out->program.pulses = out->pulses->len;
  out->program.pulse = (const LamBlochPulse *) out->pulses->data;
  out->program.readouts = out->readouts->len;
  out->program.readout = (const LamBlochReadout *) out->readouts->data;
  if (!ok)
    lam_bloch_built_clear (out);
  return ok;
}

void
lam_bloch_built_clear (LamBlochBuilt *b)
{
  for (guint i = 0; b->pulses && i < b->pulses->len; i++) {
    LamBlochPulse *p = &g_array_index (b->pulses, LamBlochPulse, i);
    lam_free ((void *) p->wx);
    lam_free ((void *) p->wy);
    lam_free ((void *) p->m);
  }
  for (guint i = 0; b->readouts && i < b->readouts->len; i++) {
    LamBlochReadout *r = &g_array_index (b->readouts, LamBlochReadout, i);
    lam_free ((void *) r->dt);
    lam_free ((void *) r->m);
    lam_free ((void *) r->demod_re);
    lam_free ((void *) r->demod_im);
  }
  g_clear_pointer (&b->pulses, g_array_unref);
  g_clear_pointer (&b->readouts, g_array_unref);
  lam_free (b->ops);
  b->ops = NULL;
}
