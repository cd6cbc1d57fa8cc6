/* sequence-result.h: what one protocol gives for all tissues: signals, sensitivities, bounds and errors. Immutable once
 * published; counted. */
#pragma once

#include <glib.h>

#include "core/device.h"
#include "mr/model.h"

G_BEGIN_DECLS

#define LAM_SEQUENCE_MOST_TISSUES 8
/* Quantities that sensitivities and bounds are of. */
enum { LAM_BY_T1, LAM_BY_T2, LAM_BY_M0, LAM_BY_B1, LAM_BY_KINDS };

/* What the model takes in beyond one water, instant pulses and resonance. */
enum { LAM_EFFECT_SLICE, LAM_EFFECT_POOLS, LAM_EFFECT_OFF_RESONANCE, LAM_EFFECTS };

typedef struct {
  gatomicrefcount refs;
  guint64 serial;
  int tissues, samples, kinds;
  gboolean real_signal;                                  /* no imaginary part by definition */
  double *time;                                          /* [samples] s; NULL: samples have no time (a closed form) */
  double duration;                                       /* s of one playing */
  float *re, *im;                                        /* [tissues][samples] */
  int kind[LAM_BY_KINDS];                                /* LAM_BY_... of each row */
  float *d_re, *d_im;                                    /* [tissues][kinds][samples], for one public unit */
  double bound[LAM_SEQUENCE_MOST_TISSUES][LAM_BY_KINDS]; /* sd by kind; NAN: cannot be told */
  char *why[LAM_SEQUENCE_MOST_TISSUES];                  /* there is no bound, in words; NULL: there is */
  double value[LAM_SEQUENCE_MOST_TISSUES][LAM_BY_KINDS]; /* of the tissue */
  double cut[LAM_SEQUENCE_MOST_TISSUES]; /* error that the kept orders cost, relative to the peak; NAN: none are cut */
  float *theory_re, *theory_im;          /* closed form, [tissues][samples]; NULL: there is none */
  int orders, played;
  double residual;
  double seconds; /* that it took */
  gboolean closed;
  double effect[LAM_EFFECTS]; /* largest change that it makes, relative to the peak; NAN: not in use */
  const char *slice_obstacle; /* why there can be no slice profile, in words; NULL */
  char *compare_obstacle;     /* why it cannot be compared with a sum of spins; NULL */
  int least_orders;           /* that cost at most 0.1 %; 0: not asked, -1: cannot be said */
} LamSequenceResult;

LamSequenceResult *lam_sequence_result_ref (LamSequenceResult *r);
void lam_sequence_result_unref (LamSequenceResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSequenceResult, lam_sequence_result_unref)

/* Any thread. @model's protocol and numbers as they are; @finer the same with twice as many orders, for the error of those
 * kept (NULL: not asked); @noise: of each real channel. */
LamSequenceResult *lam_sequence_result_make (LamModel *model, LamModel *finer, const LamTissues *tissues,
                                             const LamSimulateOptions *options, double noise, LamDevices *devices,
                                             LamControl *control, GError **error);

G_END_DECLS
