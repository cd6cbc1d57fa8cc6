/* pulseq-model.h: the Pulseq file of the Sequence workspace, and what is wrong with it. Files are opened and checked on other
 * threads; what there is stays until the new one is there. Main thread. */
#pragma once

#include "model/parameter-list.h"
#include "model/sequence-file.h"

G_BEGIN_DECLS

/* One line of the list of problems. */
#define LAM_TYPE_SEQUENCE_PROBLEM (lam_sequence_problem_get_type ())
G_DECLARE_FINAL_TYPE (LamSequenceProblem, lam_sequence_problem, LAM, SEQUENCE_PROBLEM, GObject)

const char *lam_sequence_problem_get_text (LamSequenceProblem *self);
const char *lam_sequence_problem_get_where (LamSequenceProblem *self); /* "2.31 s, block 924" or "line 12, column 3" */
/* ps from the start; -1: none, it is about the file's text. */
int64_t lam_sequence_problem_get_ps (LamSequenceProblem *self);
/* Only told: nothing is wrong, something was assumed. */
gboolean lam_sequence_problem_is_note (LamSequenceProblem *self);

#define LAM_TYPE_PULSEQ_MODEL (lam_pulseq_model_get_type ())
G_DECLARE_FINAL_TYPE (LamPulseqModel, lam_pulseq_model, LAM, PULSEQ_MODEL, GObject)

/* Signals: "file-changed": another file, or none; "progress": opening began, went on or ended; "failed" (text): what was
 * asked could not be opened, and nothing changed; "problems-changed". */
LamPulseqModel *lam_pulseq_model_new (LamUndo *undo);

/* An edit: a step of undo when it is open. A later call wins over one that goes on. */
void lam_pulseq_model_open (LamPulseqModel *self, const char *path);
void lam_pulseq_model_cancel (LamPulseqModel *self);
/* The same without undo, for a session that is read. */
void lam_pulseq_model_restore (LamPulseqModel *self, const char *path);
/* The name of what is being opened, or NULL; @fraction 0 … 1. */
const char *lam_pulseq_model_get_opening (LamPulseqModel *self, double *fraction);
/* NULL: none, there is a template. */
LamSequenceFile *lam_pulseq_model_get_file (LamPulseqModel *self);
/* An edit: back to the template. */
void lam_pulseq_model_close_file (LamPulseqModel *self);

/* Of LamFact. */
GListModel *lam_pulseq_model_get_facts (LamPulseqModel *self);
/* What a scanner can do: "gradient" mT/m, "slew" T/m/s, "rf" µT, "rf-dead", "rf-ringdown", "adc-dead" µs; 0: not checked. */
LamParameterList *lam_pulseq_model_get_limits (LamPulseqModel *self);
/* Of LamSequenceProblem: breaches of limits first, then what the reader found, then notes. */
GListModel *lam_pulseq_model_get_problems (LamPulseqModel *self);
/* How many there are, notes apart: also those that are not listed. */
int64_t lam_pulseq_model_count_problems (LamPulseqModel *self, int64_t *notes);
/* "1 problem: slew rate 190 T/m/s at 2.31 s (block 924)"; NULL: none. g_free (). */
char *lam_pulseq_model_dup_summary (LamPulseqModel *self);
/* Nothing is being opened or checked. */
gboolean lam_pulseq_model_is_settled (LamPulseqModel *self);

/* Ends what goes on; before the last reference goes. */
void lam_pulseq_model_close (LamPulseqModel *self);

/* Whether the file looks like Pulseq; reads its beginning. Any thread. */
gboolean lam_pulseq_model_knows (const char *path);

G_END_DECLS
