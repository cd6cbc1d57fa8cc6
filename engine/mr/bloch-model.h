/* bloch-model.h: a Pulseq sequence as something to estimate with: what tissues give at chosen samples of it, and derivatives by
 * what they are made of, by Bloch's equations. LamModel (model.h) holds one where it has no template. */
#pragma once

#include <glib.h>

#include "mr/derivative.h"
#include "mr/pulseq-timing.h"

G_BEGIN_DECLS

/* Which samples of the sequence are asked for. */
typedef enum {
  LAM_BLOCH_SAMPLES_CENTRE, /* of each readout the one nearest the centre of k-space; all where k does not move in it */
  LAM_BLOCH_SAMPLES_ALL,
  LAM_BLOCH_SAMPLINGS,
} LamBlochSampling;

typedef struct {
  LamBlochSampling sampling;
  int64_t spins;     /* of a voxel; 0: 1, in its middle */
  double size_mm[3]; /* what they fill along x, y and z */
  double at_mm[3];   /* its middle */
  double f0_hz;      /* for offsets in ppm; NAN: not known; a model without any forgets it */
  /* Which file it is, for those who keep what comes of it: its name without the folder, and "sha256:..." of its bytes; NULL: not
   * said. */
  const char *file, *checksum;
  _Atomic int *permille; /* how far a simulation is, for any thread to read; NULL: nobody asks */
} LamBlochModelOptions;

typedef struct _LamBlochModel LamBlochModel;

/* Holds @t; texts are copied. LAM_ERROR_INVALID where there is nothing to hear; LAM_ERROR_MISSING: f0 is needed. */
LamBlochModel *lam_bloch_model_new (LamPulseqTiming *t, const LamBlochModelOptions *options, GError **error);
void lam_bloch_model_free (LamBlochModel *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamBlochModel, lam_bloch_model_free)

const LamBlochModelOptions *lam_bloch_model_options (const LamBlochModel *m);
int64_t lam_bloch_model_samples (const LamBlochModel *m);
/* [samples] numbers in the sequence, and s from its start. */
const int64_t *lam_bloch_model_numbers (const LamBlochModel *m);
const double *lam_bloch_model_times (const LamBlochModel *m);
/* Readouts that are heard in one sample each, and in all of theirs. */
void lam_bloch_model_readouts (const LamBlochModel *m, int64_t *single, int64_t *whole);
/* Both are of the same samples of the same file, in the same voxel. */
gboolean lam_bloch_model_options_equal (const LamBlochModelOptions *a, const LamBlochModelOptions *b);
/* "centre", "all". */
const char *lam_bloch_sampling_name (LamBlochSampling s);
/* FALSE when there is none of that name. */
gboolean lam_bloch_sampling_from_name (const char *name, LamBlochSampling *s);
/* Tissue quantities that samples can depend on, until NULL: T1, T2, M0, B0, B1. */
const char *const *lam_bloch_model_quantities (void);
gboolean lam_bloch_model_knows (const char *quantity);

/* As those of LamModel. */
gboolean lam_bloch_model_simulate (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                                   LamDevices *devices, LamControl *control, LamSignal *signal, GError **error);
gboolean lam_bloch_model_check_by (const char *const *names, GError **error);
gboolean lam_bloch_model_jacobian (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                                   const char *const *names, LamDevices *devices, LamControl *control,
                                   LamJacobian *jacobian, GError **error);
/* What either takes, @names NULL for the signal alone, on the devices and the host. */
LamPlan *lam_bloch_model_plan (LamBlochModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                               const char *const *names, LamDevices *devices, GError **error);
/* Seconds that the last of these took for what does not grow with the voxels. */
double lam_bloch_model_resolving (const LamBlochModel *m);
/* Roughly how much work a voxel is: steps of all its spins through blocks, pulses and samples, derivatives apart. */
double lam_bloch_model_steps (const LamBlochModel *m);

/* LAM_ERROR_MISSING unless @tissues have T1 and T2, infinite where nothing relaxes: nobody means that by saying nothing. */
gboolean lam_bloch_has_relaxation (const LamTissues *tissues, GError **error);

G_END_DECLS
