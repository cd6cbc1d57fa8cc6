/* model.h: a template with its protocol, ready to be asked again and again. Numbers that change are followed without making
 * the events anew where that is possible (spec section 5); what changes the structure is packed in full. */
#pragma once

#include <glib.h>

#include "mr/bloch-model.h"
#include "mr/derivative.h"
#include "mr/template.h"

G_BEGIN_DECLS

typedef struct _LamModel LamModel;

LamModel *lam_model_new (const LamTemplate *t);
/* Takes the protocol over. */
LamModel *lam_model_new_for (LamProtocol *protocol);
/* A sequence of no template, read or built by hand. */
LamModel *lam_model_new_of_sequence (LamSequence *sequence);
/* Takes it over: a Pulseq sequence, by Bloch's equations. It has no programs (LAM_ERROR_NOT_SUPPORTED), orders or values to set. */
LamModel *lam_model_new_of_pulseq (LamBlochModel *bloch);
void lam_model_free (LamModel *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamModel, lam_model_free)

const LamProtocol *lam_model_protocol (const LamModel *m); /* NULL without a template */
LamBlochModel *lam_model_bloch (const LamModel *m);        /* NULL: not of a Pulseq sequence */
/* As lam_protocol_set (); the model follows at the next question. */
gboolean lam_model_set (LamModel *m, const char *name, const double *values, int n, GError **error);
/* Makes *@m (NULL: none yet) a model of @protocol's template with its numbers, value by value: what is unchanged packs nothing. */
gboolean lam_model_follow (LamModel **m, const LamProtocol *protocol, GError **error);
/* Orders kept; 0: the template's own. */
void lam_model_set_orders (LamModel *m, int orders);

/* Pulses select a slice: a sinc of this bandwidth times duration, in all but inversions, with the signal of one slice thickness as
 * @across adds it up (its positions and extent must be those of every question). 0: none. */
void lam_model_set_slice_profile (LamModel *m, double bandwidth_time, const LamSimulateOptions *across);
/* NULL, or why the pulses of this protocol have no slice profile, in words. */
const char *lam_model_slice_obstacle (const LamModel *m);
/* Programs with a pass for each event and each winding (states.h): another layout, the same signal to rounding. */
void lam_model_set_stepwise (LamModel *m, gboolean stepwise);
/* Tissues as the template takes them: with a T2 where it does not matter; a reference of the caller's. */
LamTissues *lam_model_complete_tissues (const LamModel *m, const LamTissues *tissues);

/* Programs of the trains, up to date. NULL with an error; *n 0 for a closed form. */
LamProgram *const *lam_model_programs (LamModel *m, int *n, GError **error);
/* ... and with windings kept apart where @tissues need it (diffusion, flow). */
LamProgram *const *lam_model_programs_for (LamModel *m, const LamTissues *tissues, int *n, GError **error);
/* The closed form is what lam_model_simulate () evaluates: the template has no events. */
gboolean lam_model_is_closed (const LamModel *m);
/* Samples of one voxel. -1 with an error. */
int64_t lam_model_samples (LamModel *m, GError **error);
/* Times of the samples, s, from the start of their train; g_free (). NULL for closed forms and with an error. */
double *lam_model_sample_times (LamModel *m, GError **error);

gboolean lam_model_simulate (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                             LamDevices *devices, LamControl *control, LamSignal *signal, GError **error);
/* What lam_model_simulate () will take, from sizes alone. NULL with an error. */
LamPlan *lam_model_simulate_plan (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                                  LamDevices *devices, GError **error);
/* ... and lam_model_jacobian () of a Pulseq sequence; for others NULL without an error: it is not known beforehand. */
LamPlan *lam_model_jacobian_plan (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                                  const char *const *names, LamDevices *devices, GError **error);
/* Whether each of @names can be derived by, and is there once. */
gboolean lam_model_check_by (LamModel *m, const char *const *names, GError **error);
/* Derivatives by @names ("T1", "flip" for all its values, "flip[3]"), one for each public unit. What a list expands to stands in
 * @labels (may be NULL; g_strfreev ()). */
gboolean lam_model_jacobian (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                             const char *const *names, LamDevices *devices, LamControl *control, LamJacobian *jacobian,
                             char ***labels, GError **error);
/* What it costs to keep few orders: for each voxel of @signal, which @m gave, the largest change that twice as many orders
 * bring, as a part of the peak. NAN where all that matter are kept, and where it cannot be said. @finer is a model of the same
 * protocol, simulated once more. */
void lam_model_truncation (LamModel *m, LamModel *finer, const LamTissues *tissues, const LamSimulateOptions *options,
                           LamDevices *devices, const LamSignal *signal, double *cut);
/* The closed form beside the simulation, where the template has one: doubles, [voxels][samples]; NULL: it has none. */
gboolean lam_model_has_theory (const LamModel *m);

/* How often this model made its events and passes anew, and how often it only followed numbers. */
void lam_model_counts (const LamModel *m, int64_t *packed, int64_t *bound);

G_END_DECLS
