/* pulseq-timing.h: when things happen in a Pulseq sequence, where k-space is, and what to draw of it.
 *
 * Made in a few passes over events and blocks. Nothing is kept per sample: k-space is carried along a walk over blocks
 * (LamPulseqWalk), which may begin anywhere, from marks kept every 256 blocks; a drawing of any window takes its extremes
 * from a tree over blocks, so that it costs as much as it has buckets, however many blocks there are.
 *
 * Times are ps from the start of the sequence. k is in 1/m: 0 at the centre of each excitation, negated at the centre
 * of each refocusing. A pulse whose use the file does not say counts as an excitation, as in Pulseq's own tools. */
#pragma once

#include <glib.h>

#include "mr/pulseq-event.h"

G_BEGIN_DECLS

/* One RF event of the library. */
typedef struct {
  LamPulseqPulse pulse;
  double flip, phase; /* rad: 2 pi |amplitude x integral|; argument of that integral, without the offset */
  int64_t center;     /* ps after the start of the shape */
} LamPulseqRfFacts;

/* One gradient of the library, before any rotation. */
typedef struct {
  int64_t begin, end; /* ps from the block's start: its first and last point */
  double m0, m1;      /* integral of G in 1/m, of G t in s/m, t from the block's start */
  double low, high;   /* Hz/m, with 0 */
  double first, last; /* Hz/m at begin and end */
  double slew;        /* largest |dG/dt| between its points, Hz/m/s; infinite at a step */
  int64_t slew_at;    /* ps from the block's start */
} LamPulseqGradientFacts;

typedef struct {
  double k[3];     /* at the block's start */
  int64_t samples; /* before the block */
} LamPulseqMark;

typedef struct _LamPulseqTiming {
  gatomicrefcount refs;
  LamPulseq *seq;
  int64_t *start;                    /* [blocks + 1] ps */
  int64_t samples, readouts, pulses; /* in all */
  LamPulseqRfFacts *rf;              /* [rfs] */
  LamPulseqGradientFacts *gradient;  /* [gradients] */
  LamPulseqMark *mark;               /* every LAM_PULSEQ_STRIDE blocks */
  struct _LamPulseqTree *tree;       /* for drawing */
} LamPulseqTiming;

#define LAM_PULSEQ_STRIDE 256

/* The sequence must not change while this is there. */
LamPulseqTiming *lam_pulseq_timing_new (LamPulseq *seq, GError **error);
LamPulseqTiming *lam_pulseq_timing_ref (LamPulseqTiming *t);
void lam_pulseq_timing_unref (LamPulseqTiming *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPulseqTiming, lam_pulseq_timing_unref)

static inline int64_t
lam_pulseq_timing_duration (const LamPulseqTiming *t)
{
  return t->start[t->seq->blocks];
}
/* The block that plays at @ps (the later one at an edge); -1 before the first, blocks from the end on. */
int64_t lam_pulseq_block_at (const LamPulseqTiming *t, int64_t ps);
/* Moments of one block and axis (0 x, 1 y, 2 z), rotation applied. */
void lam_pulseq_moments (const LamPulseqTiming *t, int64_t block, int axis, double *m0, double *m1);

/* A walk over blocks that carries k-space. */
typedef struct {
  const LamPulseqTiming *t;
  int64_t block;
  double k[3];    /* at its start */
  int64_t sample; /* number of its first sample */
} LamPulseqWalk;

/* At the start of @block. */
void lam_pulseq_walk_init (LamPulseqWalk *w, const LamPulseqTiming *t, int64_t block);
/* Over one block; @k, when not NULL, gets the positions [3][@to - @from] of the samples [@from, @to) of its readout. FALSE
 * only without memory. */
gboolean lam_pulseq_walk_next (LamPulseqWalk *w, int64_t from, int64_t to, double *k, GError **error);
/* Positions [3][@n] and times (either may be NULL) of the samples from @first on. */
gboolean lam_pulseq_kspace (const LamPulseqTiming *t, int64_t first, int64_t n, double *k, int64_t *ps, GError **error);

/* The gradient of one block and axis as straight lines, rotation applied: at most @max points from the block's start;
 * returns how many there are (call with @max 0 to ask). -1: no memory. Without a gradient: 0. */
int64_t lam_pulseq_waveform (const LamPulseqTiming *t, int64_t block, int axis, int64_t max, int64_t *ps, double *value,
                             GError **error);

/* What to draw. */
enum { LAM_PULSEQ_TRACE_RF, LAM_PULSEQ_TRACE_GX, LAM_PULSEQ_TRACE_GY, LAM_PULSEQ_TRACE_GZ, LAM_PULSEQ_TRACES };

typedef struct {
  float *low[LAM_PULSEQ_TRACES]; /* [n] each: RF magnitude in Hz, gradients in Hz/m */
  float *high[LAM_PULSEQ_TRACES];
  guint8 *adc; /* [n] whether a readout is open in the bucket */
} LamPulseqTrace;

/* Extremes over @n equal buckets of [@t0, @t1). A bucket holds what plays in it, at both its edges too; members of @out that
 * are NULL are left out. Of rotated blocks seen from afar only a bound is given (that of a cube about the gradients). */
gboolean lam_pulseq_trace (const LamPulseqTiming *t, int64_t t0, int64_t t1, int64_t n, LamPulseqTrace *out,
                           GError **error);

/* Private to pulseq-trace.c and pulseq-timing.c. */
gboolean lam_pulseq_tree_new (LamPulseqTiming *t, GError **error);
void lam_pulseq_tree_free (struct _LamPulseqTree *tree);

G_END_DECLS
