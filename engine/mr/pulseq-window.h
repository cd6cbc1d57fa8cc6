/* pulseq-window.h: what there is to draw of a Pulseq sequence between two times: extremes for each column of pixels, phases of
 * pulses, edges of blocks; and the instants between which people measure: centres of pulses, and echoes. */
#pragma once

#include <glib.h>

#include "mr/pulseq-timing.h"

G_BEGIN_DECLS

typedef struct {
  int64_t ps;    /* from the start of the sequence */
  float degrees; /* -180 … 180 */
  gboolean on;   /* goes on from the one before: a line between them */
} LamPulseqPhase;

typedef struct {
  int64_t t0, t1, n;    /* [t0, t1) ps in n columns of @width */
  int64_t width, fresh; /* ps; columns that were looked up, the others being those of a former window */
  LamPulseqTrace trace; /* [n] each */
  int64_t phases, edges;
  LamPulseqPhase
      *phase;    /* each sample of pulses that are wide enough to see; else one point a pulse, one pulse a column */
  int64_t *edge; /* ps where blocks begin; none when there are more than n / 6 of them */
} LamPulseqWindow;

/* @n columns of @width ps from @t0 on, which may lie outside the sequence. @like (may be NULL) is another window of the same
 * sequence: its columns are taken over where they are the same. */
LamPulseqWindow *lam_pulseq_window_new (const LamPulseqTiming *t, int64_t t0, int64_t width, int64_t n,
                                        const LamPulseqWindow *like, GError **error);
/* How many of the columns @like does not have. */
int64_t lam_pulseq_window_missing (int64_t t0, int64_t width, int64_t n, const LamPulseqWindow *like);
void lam_pulseq_window_free (LamPulseqWindow *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPulseqWindow, lam_pulseq_window_free)

/* The largest RF (Hz) and gradient (Hz/m, any axis) of the whole sequence: the scale of its drawing. */
void lam_pulseq_largest (const LamPulseqTiming *t, double *rf, double *gradient);

typedef enum {
  LAM_PULSEQ_INSTANT_EXCITATION,
  LAM_PULSEQ_INSTANT_REFOCUSING,
  LAM_PULSEQ_INSTANT_PULSE, /* of another use */
  LAM_PULSEQ_INSTANT_ECHO,  /* the sample of a readout that is nearest to the centre of k-space */
} LamPulseqInstantKind;

typedef struct {
  LamPulseqInstantKind kind;
  int64_t ps, block;
} LamPulseqInstant;

/* All in [@t0, @t1], and from the excitation before to the one after, in order of time. Without any when there would be
 * more than @most. NULL: no memory. */
GArray *lam_pulseq_instants (const LamPulseqTiming *t, int64_t t0, int64_t t1, int64_t most, GError **error);

typedef enum {
  LAM_PULSEQ_TR,  /* from one excitation to the next */
  LAM_PULSEQ_TE,  /* from an excitation to the first echo */
  LAM_PULSEQ_ESP, /* from one echo to the next, of the same excitation */
} LamPulseqRulerKind;

typedef struct {
  LamPulseqRulerKind kind;
  int64_t from, to; /* ps */
} LamPulseqRuler;

/* What the instants span, in order of time. */
GArray *lam_pulseq_rulers (const GArray *instants);
/* "TR", ... */
const char *lam_pulseq_ruler_name (LamPulseqRulerKind kind);

G_END_DECLS
