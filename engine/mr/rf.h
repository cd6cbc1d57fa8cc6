/* rf.h: RF pulse definitions: an envelope of one or more channels, and what is derived from it (spec section 1.4). */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef enum {
  LAM_RF_INSTANT,  /* one rotation */
  LAM_RF_PROFILED, /* one rotation for each position across the slice */
  LAM_RF_DYNAMIC,  /* channels with their own waveforms: one rotation for each voxel */
} LamRfMode;

typedef struct {
  gatomicrefcount refs;
  LamRfMode mode;
  int channels;
  int64_t samples;
  double *re, *im;                 /* [channels][samples], the envelope */
  double *time;                    /* [samples] s, of each sample */
  double *duration;                /* [samples] s, for which each sample plays */
  double *gradient;                /* [samples] relative to the one that bandwidth is quoted at; NULL: 1 */
  double bandwidth;                /* Hz over one slice thickness; 0: not selective */
  double integral_re, integral_im; /* trapezoid of the channels' sum, s */
  double saturation;               /* of a semisolid pool, 1/s for each rad^2 (section 1.4); 0 for the ideal pulse */
} LamRf;

/* @magnitude [channels][samples]; @phase_turns the same or NULL; @time [samples] in s or NULL: (n + 1/2) @dwell. */
LamRf *lam_rf_new (int channels, int64_t samples, const double *magnitude, const double *phase_turns,
                   const double *time, double dwell, double bandwidth, const double *gradient, GError **error);
/* One channel, sampled at n @dwell. */
LamRf *lam_rf_from_waveform (int64_t samples, const double *re, const double *im, double dwell, double bandwidth,
                             GError **error);
/* Two samples of one height: a rotation that takes no time and saturates nothing. */
LamRf *lam_rf_ideal (void);
LamRf *lam_rf_ref (LamRf *rf);
void lam_rf_unref (LamRf *rf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamRf, lam_rf_unref)

/* arg of the integral: what an event's phase gains. */
double lam_rf_phase (const LamRf *rf);

/* A Cayley-Klein pair (a, b), and its derivative by the flip angle. */
typedef struct {
  double a_re, a_im, b_re, b_im;
  double da_re, da_im, db_re, db_im;
} LamSpinor;

/* Samples played one after the other: sample n turns by @drive[n] about the transverse axes (x = Re, y = Im) and by
 * @turn[n] about z, radians (section 2.6). The derivative is by a common factor of the drive, at 1. */
LamSpinor lam_spinor_of_samples (int64_t samples, const double *drive_re, const double *drive_im, const double *turn);

/* The pulse at flip @flip (rad) and @position (slice thicknesses), referred to mid-pulse (section 2.7); one channel.
 * Derivatives by the flip. */
gboolean lam_rf_spinor (const LamRf *rf, double flip, double position, LamSpinor *pair, GError **error);
/* The same with channels weighted by @weight (re, im for each channel): the voxel's sensitivities times the shim. */
gboolean lam_rf_spinor_channels (const LamRf *rf, double flip, double position, const double *weight_re,
                                 const double *weight_im, LamSpinor *pair, GError **error);

/* Pulse shapes, rad/s at sample middles. sum * dwell = @flip. */
void lam_rf_sinc (int64_t samples, double dwell, double flip, double bandwidth_time, double *re);
/* Hyperbolic secant, 14 uT, beta 800/s, mu 4.9 (section 7.2). */
void lam_rf_sech (int64_t samples, double dwell, double *re, double *im);

G_END_DECLS
