/* pulseq-signal.h: the signal of the opened Pulseq file for the chosen tissues, by Bloch's equations, on a thread of its own.
 * The newest wish wins; what takes long is begun by hand only. Main thread. */
#pragma once

#include "model/pulseq-model.h"
#include "mr/signal-window.h"
#include "mr/tissue.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PULSEQ_SIGNAL_NONE,    /* no file, or nothing to hear in it */
  LAM_PULSEQ_SIGNAL_LARGE,   /* waits to be begun by hand */
  LAM_PULSEQ_SIGNAL_RUNNING, /* a former one may still be there */
  LAM_PULSEQ_SIGNAL_STOPPED, /* by hand */
  LAM_PULSEQ_SIGNAL_FAILED,
  LAM_PULSEQ_SIGNAL_READY,
} LamPulseqSignalState;

#define LAM_TYPE_PULSEQ_SIGNAL (lam_pulseq_signal_get_type ())
G_DECLARE_FINAL_TYPE (LamPulseqSignal, lam_pulseq_signal, LAM, PULSEQ_SIGNAL, GObject)

/* Signals: "changed": state, progress or words; "curves": there are others to draw. */
LamPulseqSignal *lam_pulseq_signal_new (LamPulseqModel *model, LamUndo *undo);
/* "spins" of the voxel and its "side" in mm; "field" in T, for offsets in ppm. */
LamParameterList *lam_pulseq_signal_get_parameters (LamPulseqSignal *self);
/* For these tissues; taken, NULL: none. */
void lam_pulseq_signal_ask (LamPulseqSignal *self, LamTissues *tissues);
void lam_pulseq_signal_start (LamPulseqSignal *self);
void lam_pulseq_signal_stop (LamPulseqSignal *self);

LamPulseqSignalState lam_pulseq_signal_get_state (LamPulseqSignal *self);
/* 0 … 1 while it runs. */
double lam_pulseq_signal_get_fraction (LamPulseqSignal *self);
/* What it does, needs, or why there is none. */
const char *lam_pulseq_signal_get_text (LamPulseqSignal *self);

/* What to make curves of; a wish, answered by "curves". */
void lam_pulseq_signal_set_window (LamPulseqSignal *self, int64_t t0, int64_t t1, int columns, LamSignalPart part);
typedef struct {
  int tissues;
  int64_t n, stride;   /* points, and where the next tissue begins */
  const double *x, *y; /* [n] s; [tissues][stride] */
} LamPulseqCurves;
/* FALSE: there are none. Good until the next signal. */
gboolean lam_pulseq_signal_get_curves (LamPulseqSignal *self, LamPulseqCurves *curves);
/* Samples of each tissue, and seconds that they took. */
int64_t lam_pulseq_signal_get_samples (LamPulseqSignal *self, double *seconds);
/* Nothing goes on, and what is there is what was asked for. */
gboolean lam_pulseq_signal_is_settled (LamPulseqSignal *self);

void lam_pulseq_signal_close (LamPulseqSignal *self);

G_END_DECLS
