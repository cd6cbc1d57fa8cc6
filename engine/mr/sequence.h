/* sequence.h: a sequence as data (spec section 1): events with what happens in them, and how each of their numbers
 * depends on the protocol. Templates and readers write it; program.h makes it playable. */
#pragma once

#include <glib.h>

#include "mr/number.h"
#include "mr/rf.h"

G_BEGIN_DECLS

typedef enum {
  LAM_EVENT_WAIT,
  LAM_EVENT_RF,
  LAM_EVENT_ADC,
} LamEventKind;

/* Action bits, numbers as on the wire. */
enum {
  LAM_CRUSH_BEFORE = 1, /* one order of winding before the event acts */
  LAM_CRUSH_AFTER = 2,
  LAM_SPOIL_AFTER = 8,  /* all transverse magnetisation is gone */
  LAM_SHIFT_AFTER = 16, /* one order; nothing where it is spoiled */
};

typedef enum {
  LAM_RF_UNKNOWN,
  LAM_RF_EXCITATION,
  LAM_RF_REFOCUSING,
  LAM_RF_INVERSION, /* ideal: Z becomes -efficiency Z, whatever the flip */
  LAM_RF_SATURATION,
  LAM_RF_PREPARATION,
  LAM_RF_OTHER,
} LamRfUse;

typedef enum {
  LAM_ADC_NON_ACQUIRED,
  LAM_ADC_SINGLE,
  LAM_ADC_ECHO_CENTER,
  LAM_ADC_NON_CENTER,
} LamAdcRole;

#define LAM_SHIM_NONE (-1)
#define LAM_SHIM_PERFECT (-2) /* a pulse that the transmit field does not change */

typedef struct {
  LamEventKind kind;
  unsigned action;
  LamNumber delay; /* s, since the event before */
  LamNumber flip;  /* RF: rad */
  LamNumber phase; /* RF and ADC: rad */
  LamRfUse use;
  int definition;      /* RF: index of lam_sequence_definition () */
  int shim;            /* RF: index of lam_sequence_shims (), or LAM_SHIM_... */
  double frequency_hz; /* RF: offset of the carrier; counts for the semisolid pool only */
  LamAdcRole role;
  bool echo;
} LamEvent;

/* One protocol quantity: @n values from @first on in the vector of values. */
typedef struct {
  char *name;   /* "flip" */
  char *unit;   /* "deg" */
  double to_si; /* radians or seconds for one unit */
  int first, n;
} LamProtocolEntry;

typedef struct _LamSequence LamSequence;

LamSequence *lam_sequence_new (void);
LamSequence *lam_sequence_ref (LamSequence *s);
void lam_sequence_unref (LamSequence *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSequence, lam_sequence_unref)

/* The protocol: values in public units (ms, deg). Returns the index of the first. */
int lam_sequence_add_values (LamSequence *s, const char *name, const char *unit, const double *values, int n);
const LamProtocolEntry *lam_sequence_entries (const LamSequence *s, int *n);
const LamProtocolEntry *lam_sequence_entry (const LamSequence *s, const char *name);
const double *lam_sequence_values (const LamSequence *s, int *n);
/* Value number @index as a number in radians or seconds. */
LamNumber lam_sequence_number (const LamSequence *s, int index);
/* Entry @i of a quantity that has one value for all or one for each. */
LamNumber lam_sequence_number_at (const LamSequence *s, int first, int n, int i);

/* Writing events, one after the other. A wait is added to the delay of the next event. */
void lam_sequence_wait (LamSequence *s, LamNumber seconds);
LamEvent *lam_sequence_rf (LamSequence *s, LamRfUse use, LamNumber flip, LamNumber phase, unsigned action);
LamEvent *lam_sequence_adc (LamSequence *s, LamAdcRole role, LamNumber phase, unsigned action);
LamEvent *lam_sequence_action (LamSequence *s, unsigned action);
/* One event for each sample of a pulse, @re and @im in rad/s, at the middles of its dwells, phase @phase, carrier off by
 * @offset_hz (section 1.5); the pulse takes samples * dwell in all. @im NULL: signed flips, no phase of their own. */
void lam_sequence_sampled_pulse (LamSequence *s, int64_t samples, const double *re, const double *im, double dwell,
                                 LamNumber phase, double offset_hz);

const LamEvent *lam_sequence_events (const LamSequence *s, int64_t *n);
/* What is waited after the last event. */
const LamNumber *lam_sequence_tail (const LamSequence *s);

/* Pulse definitions; number 0 is the ideal one. */
int lam_sequence_add_definition (LamSequence *s, LamRf *rf);
const LamRf *lam_sequence_definition (const LamSequence *s, int index);
int lam_sequence_definitions (const LamSequence *s);
/* Every ideal pulse but inversions, and those that the transmit field does not change, plays @rf from now on. */
void lam_sequence_use_definition (LamSequence *s, LamRf *rf);
/* Shims: weights magnitude exp (i phase) for each channel. */
int lam_sequence_add_shim (LamSequence *s, int channels, const double *magnitude, const double *phase_rad);
int lam_sequence_shims (const LamSequence *s);
const double *lam_sequence_shim (const LamSequence *s, int index, int *channels); /* magnitudes, then phases */

/* One crusher moment for the whole sequence (rad across a voxel of @voxel_m, m); 0: none declared. */
void lam_sequence_set_crusher (LamSequence *s, double dephasing_rad, double voxel_m);
double lam_sequence_crusher (const LamSequence *s, double *voxel_m);
/* A constant factor of every sample; i for trains whose signal is called real. */
void lam_sequence_set_factor (LamSequence *s, double re, double im);
void lam_sequence_factor (const LamSequence *s, double *re, double *im);
/* The sequence is played @n times and the last is recorded; 0: until it has settled. */
void lam_sequence_set_playings (LamSequence *s, int n);
int lam_sequence_playings (const LamSequence *s);

G_END_DECLS
