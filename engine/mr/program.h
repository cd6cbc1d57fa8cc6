/* program.h: a sequence made playable. Its *structure* (which events, in which order, with which actions) is resolved once into passes;
 * its *numbers* are bound later, as often as wanted, without looking at the events again (spec section 5). */
#pragma once

#include <glib.h>

#include "mr/epg-kernels.h"
#include "mr/sequence.h"

G_BEGIN_DECLS

typedef struct _LamProgram LamProgram;

typedef struct {
  int orders;           /* kept; 0: as many as spec section 1.7 says */
  gboolean ordered;     /* relaxation will depend on the order: nothing may be taken together across a winding */
  gboolean all_samples; /* also those of role NON_ACQUIRED */
  gboolean stepwise; /* a pass of its own for each event and each winding, so that the state after each can be seen */
} LamProgramOptions;

/* Resolves the structure and binds the sequence's own values. Keeps a reference. */
LamProgram *lam_program_new (LamSequence *sequence, const LamProgramOptions *options, GError **error);
LamProgram *lam_program_ref (LamProgram *p);
void lam_program_unref (LamProgram *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamProgram, lam_program_unref)

/* Whether new values can be followed; FALSE: a number depends on them in another way, make the sequence anew. */
gboolean lam_program_can_bind (const LamProgram *p, GError **error);
/* Binds @n values (as many as the sequence has). Refused: a time that would be negative, by event; the old numbers stay. */
gboolean lam_program_bind (LamProgram *p, const double *values, int n, GError **error);

/* What kernels read; valid until the next bind. The fields of physics are the caller's to set in a copy. */
const LamEpgProgram *lam_program_bound (const LamProgram *p);
const LamSequence *lam_program_sequence (const LamProgram *p);
const double *lam_program_values (const LamProgram *p, int *n);
/* Made with relaxation by order in mind. */
gboolean lam_program_is_ordered (const LamProgram *p);
/* All pulses and samples have one phase, up to half turns (spec sections 2.13, 3). */
gboolean lam_program_in_phase (const LamProgram *p);
/* Winding is uniform: B0 and T2' may act at the samples alone (spec section 2.12). */
gboolean lam_program_uniform (const LamProgram *p);
/* The pulse definition of a pulse, and whether its channels have their own waveforms. */
int lam_program_pulse_definition (const LamProgram *p, int64_t pulse);
gboolean lam_program_pulse_is_dynamic (const LamProgram *p, int64_t pulse);
/* Records as the complex path needs them, where lam_program_bound () has those of the real one. */
void lam_program_complex_records (const LamProgram *p, LamEpgRecord *records);
/* Orders that can reach a sample at all: keeping more changes nothing. */
int lam_program_orders_exact (const LamProgram *p);
/* Time of each sample from the start of a playing, s; [samples]. And of one playing. */
const double *lam_program_sample_times (const LamProgram *p);
double lam_program_duration (const LamProgram *p);
double lam_program_duration_slope (const LamProgram *p, int index);
/* Pulses' times from the start of a playing, s; [pulses]. */
const double *lam_program_pulse_times (const LamProgram *p);

/* Derivatives by value @index of: each pass's duration, each peek's, each record's analytic time (s), each pulse's flip and
 * phase (rad), each record's own phase (rad). */
double lam_program_pass_slope (const LamProgram *p, int64_t pass, int index);
double lam_program_peek_slope (const LamProgram *p, int64_t record, int index);
double lam_program_factor_slope (const LamProgram *p, int64_t record, int index);
double lam_program_flip_slope (const LamProgram *p, int64_t pulse, int index);
double lam_program_phase_slope (const LamProgram *p, int64_t pulse, int index);
double lam_program_record_phase_slope (const LamProgram *p, int64_t record, int index);

/* Adds to @x what protocol values gain from sums by pass duration, peek duration, analytic time and phase of each record, flip
 * and phase of each pulse: x += slopes^T sums. */
void lam_program_scatter (const LamProgram *p, const double *pass, const double *peek, const double *factor,
                          const double *record, const double *flip, const double *phase, double *x);

/* How often structures were resolved in this process: a bind adds nothing. */
int64_t lam_program_resolved (void);

G_END_DECLS
