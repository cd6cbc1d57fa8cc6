/* pulseq-event.h: what one event of a Pulseq sequence does in time, counted from its block's start.
 *
 * A gradient is straight between points: a trapezoid's corners; the samples at the centres (and edges) of raster steps
 * with the first and last values at the ends; or the samples at given times. Beyond its points it is 0. */
#pragma once

#include <glib.h>

#include "mr/pulseq.h"

G_BEGIN_DECLS

typedef struct {
  int64_t points;
  int64_t delay, raster; /* ps */
  double amplitude, first, last;
  const double *values, *times; /* shapes; times in raster steps, or NULL */
  gboolean half;                /* samples half a raster step apart */
  int64_t corner[4];            /* trapezoid (values NULL) */
  double level[4];
} LamPulseqLine;

/* FALSE only without memory. A gradient that lost its shape has no points. */
gboolean lam_pulseq_line (const LamPulseq *seq, const LamPulseqGradient *g, LamPulseqLine *line, GError **error);

/* ps of point @i. */
static inline int64_t
lam_pulseq_line_time (const LamPulseqLine *l, int64_t i)
{
  if (!l->values)
    return l->corner[i];
  if (l->times)
    return l->delay + (int64_t) (l->times[i] * (double) l->raster + 0.5);
  if (l->half)
    return l->delay + i * l->raster / 2;
  return l->delay + (i == 0 ? 0 : i == l->points - 1 ? (i - 1) * l->raster : (2 * i - 1) * l->raster / 2);
}

/* Hz/m at point @i. */
static inline double
lam_pulseq_line_value (const LamPulseqLine *l, int64_t i)
{
  if (!l->values)
    return l->level[i];
  if (l->times)
    return l->amplitude * l->values[i];
  return i == 0 ? l->first : i == l->points - 1 ? l->last : l->amplitude * l->values[i - 1];
}

/* The last point at or before @t; -1: none. */
int64_t lam_pulseq_line_find (const LamPulseqLine *l, int64_t t);
/* Hz/m at @t; at a step the value after it; 0 from the last point on. */
double lam_pulseq_line_at (const LamPulseqLine *l, int64_t t);
/* Least and greatest value in [@t0, @t1], widening *@low and *@high. */
void lam_pulseq_line_range (const LamPulseqLine *l, int64_t t0, int64_t t1, double *low, double *high);

/* The integral from the start to times that never go back. */
typedef struct {
  const LamPulseqLine *line;
  int64_t i;  /* points passed */
  double sum; /* 1/m up to the last of them */
} LamPulseqSweep;

static inline LamPulseqSweep
lam_pulseq_sweep (const LamPulseqLine *line)
{
  return (LamPulseqSweep){line, 0, 0};
}
double lam_pulseq_sweep_to (LamPulseqSweep *s, int64_t t);

/* A pulse's shape, apart from its amplitude and offsets. */
typedef struct {
  int64_t samples;
  int64_t duration;                        /* ps */
  int64_t center;                          /* ps, where the magnitude peaks: the middle of the plateau */
  int64_t middle;                          /* ps, halfway between the first and the last sample */
  double peak;                             /* of the magnitude */
  double integral_re, integral_im;         /* s, by trapezoids */
  double energy;                           /* s, of the squared magnitude */
  const double *magnitude, *phase, *times; /* phase in turns or NULL; times in raster steps or NULL */
} LamPulseqPulse;

gboolean lam_pulseq_pulse (const LamPulseq *seq, const LamPulseqRf *rf, LamPulseqPulse *pulse, GError **error);
/* ps of sample @i from the start of the pulse. */
static inline double
lam_pulseq_pulse_time (const LamPulseqPulse *p, int64_t raster, int64_t i)
{
  return p->times ? p->times[i] * (double) raster : ((double) i + 0.5) * (double) raster;
}
/* ps after the start of the shape at which the pulse turns the spins: as the file says, or computed. */
int64_t lam_pulseq_rf_center (const LamPulseqRf *rf, const LamPulseqPulse *pulse);
/* Without decompressing amplitudes. ps of the pulse, and of a gradient with its delay. */
gboolean lam_pulseq_rf_duration (const LamPulseq *seq, const LamPulseqRf *rf, int64_t *ps, GError **error);
gboolean lam_pulseq_gradient_end (const LamPulseq *seq, const LamPulseqGradient *g, int64_t *ps, GError **error);

/* ps of sample @n after the block's start: the middle of its dwell. */
static inline int64_t
lam_pulseq_adc_time (const LamPulseqAdc *a, int64_t n)
{
  return a->delay + n * a->dwell + a->dwell / 2;
}
static inline int64_t
lam_pulseq_adc_end (const LamPulseqAdc *a)
{
  return a->delay + a->samples * a->dwell;
}

G_END_DECLS
