/* plan.h: every buffer and every copy of a run, listed from sizes alone before anything is allocated.
 *
 * A run first writes its plan: phases in order, buffers (device, name, bytes, from which phase to which), copies
 * (from, to, bytes, phase). The forecast is read from that list; the engine then takes its memory through the same
 * list by name, so that forecast and use cannot part. Asking for a buffer that was not planned is an error. */
#pragma once

#include <glib.h>

#include "core/device.h"

G_BEGIN_DECLS

typedef struct _LamPlan LamPlan;

typedef struct {
  char *name;
  int device; /* LAM_HOST or an index */
  int64_t bytes;
  int first, last; /* phases, both included */
} LamPlanBuffer;

typedef struct {
  char *name;
  int from, to;
  int64_t bytes; /* in all, over the phase */
  int phase;
} LamPlanCopy;

LamPlan *lam_plan_new (LamDevices *set);
LamPlan *lam_plan_ref (LamPlan *plan);
void lam_plan_unref (LamPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamPlan, lam_plan_unref)

/* Writing it. Sizes that overflow (bytes < 0) make the plan "too large". */
int lam_plan_add_phase (LamPlan *plan, const char *name);
void lam_plan_add_buffer (LamPlan *plan, int device, const char *name, int64_t bytes, int first, int last);
/* The buffers of this name live on to phase @last. */
void lam_plan_extend (LamPlan *plan, const char *name, int last);
void lam_plan_add_copy (LamPlan *plan, const char *name, int from, int to, int64_t bytes, int phase);

/* What there is to leave out, so that nothing impossible is advised: slices, and the most that can be binned. */
void lam_plan_set_limits (LamPlan *plan, int64_t slices, int64_t bin);
/* For what has no slices and is not binned: the things whose number the bytes grow with ("atoms"), and how there are fewer of
 * them. Both static; @n of them. */
void lam_plan_set_parts (LamPlan *plan, const char *parts, const char *how, int64_t n);

/* Reading it. */
int lam_plan_phases (const LamPlan *plan);
const char *lam_plan_phase_name (const LamPlan *plan, int phase);
const LamPlanBuffer *lam_plan_buffers (const LamPlan *plan, int *n);
const LamPlanCopy *lam_plan_copies (const LamPlan *plan, int *n);
LamDevices *lam_plan_devices (const LamPlan *plan);
/* Most bytes that @device (or LAM_HOST) holds at once; -1 when a size overflowed. */
int64_t lam_plan_peak (const LamPlan *plan, int device);
int64_t lam_plan_phase_bytes (const LamPlan *plan, int device, int phase);
/* Sum of the peaks of all devices and the host. */
int64_t lam_plan_total (const LamPlan *plan);
/* Copies between devices, in all. */
int64_t lam_plan_copied (const LamPlan *plan);
/* FALSE with what is missing and the smallest change that would fit. */
gboolean lam_plan_fits (const LamPlan *plan, GError **error);

/* Using it: memory for a planned buffer, at most one at a time of each; NULL with an error. Released all at the end. */
void *lam_plan_take (LamPlan *plan, int device, const char *name, GError **error);
void lam_plan_release (LamPlan *plan, int device, const char *name);
/* The pointer taken before, or NULL. */
void *lam_plan_get (LamPlan *plan, int device, const char *name);
void lam_plan_release_all (LamPlan *plan);
/* All but the buffers of this name. */
void lam_plan_release_others (LamPlan *plan, const char *name);
/* Most bytes really held through this plan on @device (or LAM_HOST). */
int64_t lam_plan_measured (const LamPlan *plan, int device);

G_END_DECLS
