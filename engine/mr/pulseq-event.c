#include "mr/pulseq-event.h"

#include <math.h>

/* ---- gradients ---- */

gboolean
lam_pulseq_line (const LamPulseq *seq, const LamPulseqGradient *g, LamPulseqLine *line, GError **error)
{
  *line = (LamPulseqLine){.delay = g->delay, .raster = seq->gradient_raster, .amplitude = g->amplitude};
  if (g->trapezoid) {
    line->points = 4;
    line->corner[0] = g->delay;
    line->corner[1] = line->corner[0] + g->rise;
    line->corner[2] = line->corner[1] + g->flat;
    line->corner[3] = line->corner[2] + g->fall;
    line->level[1] = line->level[2] = g->amplitude;
    return TRUE;
  }
  if (g->shape < 0)
    return TRUE;
  if (!(line->values = lam_pulseq_shape_values (seq, g->shape, error)))
    return FALSE;
  line->points = seq->shape[g->shape].samples;
  if (g->time >= 0)
    return (line->times = lam_pulseq_shape_values (seq, g->time, error)) != NULL;
  line->half = g->time == LAM_PULSEQ_HALF_RASTER;
  line->first = g->first;
  line->last = g->last;
  line->points += 2;
  return TRUE;
}

int64_t
lam_pulseq_line_find (const LamPulseqLine *l, int64_t t)
{
  int64_t low = -1, high = l->points; /* time (low) <= t < time (high) */
  if (l->points > 4 && !l->times) {   /* near where the raster says */
    int64_t step = l->half ? LAM_MAX (l->raster / 2, 1) : l->raster;
    int64_t guess = t <= l->delay ? 0 : (t - l->delay) / step;
    low = LAM_CLAMP (guess - 2, -1, l->points - 1);
    high = LAM_CLAMP (guess + 3, 0, l->points);
    if (low >= 0 && lam_pulseq_line_time (l, low) > t)
      low = -1;
    if (high < l->points && lam_pulseq_line_time (l, high) <= t)
      high = l->points;
  }
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (lam_pulseq_line_time (l, middle) <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Between point @i and the next. */
static double
between (const LamPulseqLine *l, int64_t i, int64_t t)
{
  int64_t a = lam_pulseq_line_time (l, i), b = lam_pulseq_line_time (l, i + 1);
  double from = lam_pulseq_line_value (l, i), to = lam_pulseq_line_value (l, i + 1);
  return b > a ? from + (to - from) * ((double) (t - a) / (double) (b - a)) : to;
}

double
lam_pulseq_line_at (const LamPulseqLine *l, int64_t t)
{
  int64_t i = lam_pulseq_line_find (l, t);
  return i < 0 || i >= l->points - 1 ? 0 : between (l, i, t);
}

void
lam_pulseq_line_range (const LamPulseqLine *l, int64_t t0, int64_t t1, double *low, double *high)
{
  int64_t i = lam_pulseq_line_find (l, t0), end = lam_pulseq_line_find (l, t1);
  if (l->points == 0)
    return;
  if (i < 0 || end >= l->points - 1) { /* it is 0 outside */
    *low = LAM_MIN (*low, 0);
    *high = LAM_MAX (*high, 0);
  }
  if (i >= 0 && i < l->points - 1) {
    double v = between (l, i, t0);
    *low = LAM_MIN (*low, v);
    *high = LAM_MAX (*high, v);
  }
  if (end >= 0 && end < l->points - 1) {
    double v = between (l, end, t1);
    *low = LAM_MIN (*low, v);
    *high = LAM_MAX (*high, v);
  }
  for (i = LAM_MAX (i, 0); i <= end; i++)
    if (lam_pulseq_line_time (l, i) >= t0) {
      double v = lam_pulseq_line_value (l, i);
      *low = LAM_MIN (*low, v);
      *high = LAM_MAX (*high, v);
    }
}

double
lam_pulseq_sweep_to (LamPulseqSweep *s, int64_t t)
{
  const LamPulseqLine *l = s->line;
  if (l->points == 0 || t <= lam_pulseq_line_time (l, 0))
    return 0;
  while (s->i + 1 < l->points && lam_pulseq_line_time (l, s->i + 1) <= t) {
    double dt = (double) (lam_pulseq_line_time (l, s->i + 1) - lam_pulseq_line_time (l, s->i)) * 1e-12;
    s->sum += dt * 0.5 * (lam_pulseq_line_value (l, s->i) + lam_pulseq_line_value (l, s->i + 1));
    s->i++;
  }
  if (s->i + 1 >= l->points)
    return s->sum;
  double dt = (double) (t - lam_pulseq_line_time (l, s->i)) * 1e-12;
  return s->sum + dt * 0.5 * (lam_pulseq_line_value (l, s->i) + between (l, s->i, t));
}

gboolean
lam_pulseq_gradient_end (const LamPulseq *seq, const LamPulseqGradient *g, int64_t *ps, GError **error)
{
  *ps = g->delay;
  if (g->trapezoid)
    *ps += g->rise + g->flat + g->fall;
  else if (g->shape >= 0) {
    int64_t n = seq->shape[g->shape].samples;
    if (g->time >= 0) {
      const double *times = lam_pulseq_shape_values (seq, g->time, error);
      if (!times)
        return FALSE;
      *ps += (int64_t) (times[n - 1] * (double) seq->gradient_raster + 0.5);
    } else
      *ps += g->time == LAM_PULSEQ_HALF_RASTER ? (n + 1) * seq->gradient_raster / 2 : n * seq->gradient_raster;
  }
  return TRUE;
}

/* ---- pulses ---- */

gboolean
lam_pulseq_rf_duration (const LamPulseq *seq, const LamPulseqRf *rf, int64_t *ps, GError **error)
{
  *ps = 0;
  if (rf->magnitude < 0)
    return TRUE;
  int64_t n = seq->shape[rf->magnitude].samples;
  *ps = n * seq->rf_raster;
  if (rf->time >= 0) { /* whole raster steps */
    const double *times = lam_pulseq_shape_values (seq, rf->time, error);
    if (!times)
      return FALSE;
    *ps = (int64_t) ceil (times[n - 1] - 1e-9) * seq->rf_raster;
  }
  return TRUE;
}

gboolean
lam_pulseq_pulse (const LamPulseq *seq, const LamPulseqRf *rf, LamPulseqPulse *p, GError **error)
{
  *p = (LamPulseqPulse){0};
  if (rf->magnitude < 0)
    return TRUE;
  if (!(p->magnitude = lam_pulseq_shape_values (seq, rf->magnitude, error))
      || (rf->phase >= 0 && !(p->phase = lam_pulseq_shape_values (seq, rf->phase, error)))
      || (rf->time >= 0 && !(p->times = lam_pulseq_shape_values (seq, rf->time, error)))
      || !lam_pulseq_rf_duration (seq, rf, &p->duration, error))
    return FALSE;
  p->samples = seq->shape[rf->magnitude].samples;

  double before_re = 0, before_im = 0, before_t = 0;
  for (int64_t i = 0; i < p->samples; i++) {
    double m = p->magnitude[i], turn = p->phase ? 2 * G_PI * p->phase[i] : 0;
    double re = m * cos (turn), im = m * sin (turn), t = lam_pulseq_pulse_time (p, seq->rf_raster, i) * 1e-12;
    if (i > 0) {
      p->integral_re += 0.5 * (t - before_t) * (before_re + re);
      p->integral_im += 0.5 * (t - before_t) * (before_im + im);
      p->energy += 0.5 * (t - before_t) * (before_re * before_re + before_im * before_im + re * re + im * im);
    }
    p->peak = LAM_MAX (p->peak, fabs (m));
    before_re = re;
    before_im = im;
    before_t = t;
  }
  int64_t first = -1, last = -1;
  for (int64_t i = 0; i < p->samples; i++)
    if (fabs (p->magnitude[i]) >= 0.99999 * p->peak) {
      first = first < 0 ? i : first;
      last = i;
    }
  p->center = (int64_t) floor (
      0.5 * (lam_pulseq_pulse_time (p, seq->rf_raster, first) + lam_pulseq_pulse_time (p, seq->rf_raster, last)) + 0.5);
  p->middle = (int64_t) floor (
      0.5 * (lam_pulseq_pulse_time (p, seq->rf_raster, 0) + lam_pulseq_pulse_time (p, seq->rf_raster, p->samples - 1))
      + 0.5);
  return TRUE;
}

int64_t
lam_pulseq_rf_center (const LamPulseqRf *rf, const LamPulseqPulse *pulse)
{
  return rf->has_center ? rf->center : rf->amplitude == 0 ? pulse->middle : pulse->center;
}
