/* pulseq-estimate.h: what the opened Pulseq file tells of the chosen tissues: derivatives of its samples and Cramér–Rao bounds, by
 * Bloch's equations, on a thread of its own. The newest wish wins; what takes long is begun by hand only. Main thread. */
#pragma once

#include "model/pulseq-signal.h"
#include "model/sensitivity-curves.h"

G_BEGIN_DECLS

#define LAM_TYPE_PULSEQ_ESTIMATE (lam_pulseq_estimate_get_type ())
G_DECLARE_FINAL_TYPE (LamPulseqEstimate, lam_pulseq_estimate, LAM, PULSEQ_ESTIMATE, GObject)

/* Signals: "changed": state, progress or words; "result": another one, or none any more; "options-changed": the file is played
 * or heard in another way. */
LamPulseqEstimate *lam_pulseq_estimate_new (LamPulseqModel *model, LamPulseqSignal *signal, LamUndo *undo);
/* "samples": which of them; spins and field are the signal's. */
LamParameterList *lam_pulseq_estimate_get_parameters (LamPulseqEstimate *self);
/* How the open file is played and heard. Its texts belong to the file. FALSE: there is none. */
gboolean lam_pulseq_estimate_get_options (LamPulseqEstimate *self, LamBlochModelOptions *options);
/* For these tissues (taken; NULL: none) and noise in each real channel. */
void lam_pulseq_estimate_ask (LamPulseqEstimate *self, LamTissues *tissues, double noise);
void lam_pulseq_estimate_set_noise (LamPulseqEstimate *self, double noise);
void lam_pulseq_estimate_start (LamPulseqEstimate *self);
void lam_pulseq_estimate_stop (LamPulseqEstimate *self);

/* As those of the signal. */
LamPulseqSignalState lam_pulseq_estimate_get_state (LamPulseqEstimate *self);
/* What it does, needs, or why there is none; with a result which samples these are. */
const char *lam_pulseq_estimate_get_text (LamPulseqEstimate *self);
double lam_pulseq_estimate_get_fraction (LamPulseqEstimate *self); /* 0 … 1 while it runs */
/* NULL: none; a reference of this object's. Times are those of the samples in the file. */
LamSequenceResult *lam_pulseq_estimate_get_result (LamPulseqEstimate *self);
/* Its sensitivities over time, to draw; NULL with no result. */
const LamSensitivityCurves *lam_pulseq_estimate_get_curves (LamPulseqEstimate *self);
/* Nothing goes on, and what is there is what was asked for. */
gboolean lam_pulseq_estimate_is_settled (LamPulseqEstimate *self);

void lam_pulseq_estimate_close (LamPulseqEstimate *self);

G_END_DECLS
