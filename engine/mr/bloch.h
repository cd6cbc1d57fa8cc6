/* bloch.h: the signal of a Pulseq sequence, by Bloch's equations and nothing else: no orders, no steady state.
 *
 * Every sample of a pulse is one rotation, about the axis of RF, off-resonance and gradients together, between two half
 * relaxations; a pulse whose times are not on a raster is first read off at the raster's centres. Elsewhere evolution is
 * exact, whatever the gradients' shape. Conventions: M0 along z, precession exp (+2 pi i (B0 + G.r) t), a pulse of phase p
 * turns right-handed about (cos p, sin p, 0), the receiver's phase is taken off.
 *
 * A voxel is a bundle of isochromats, one by default, whose signals are added: positions across it, or a spread of
 * off-resonance. Voxels are split over the devices and go through in chunks; the result does not depend on either, nor
 * on threads. A readout that overlaps a pulse of its own block hears what was there before the pulse. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "core/device.h"
#include "core/plan.h"
#include "mr/bloch-quantity.h"
#include "mr/pulseq-timing.h"

G_BEGIN_DECLS

typedef struct {
  int64_t voxels;
  /* [voxels] each; NULL: the value in brackets */
  const double *t1_ms, *t2_ms; /* above 0, INFINITY allowed [INFINITY] */
  const double *m0;            /* [1] */
  const double *b0_hz;         /* [0] */
  const double *b1;            /* factor on the pulses [1] */
  const double *x, *y, *z;     /* m [0] */
  /* The bundle, the same in every voxel: [spins] each; NULL: 0, and equal weights that add up to 1. */
  int64_t spins;                          /* 0: 1 */
  const double *spin_x, *spin_y, *spin_z; /* m, added */
  const double *spin_b0;                  /* Hz, added */
  const double *spin_weight;
  double f0_hz;         /* for offsets in ppm; NAN: not known */
  int64_t first, count; /* samples wanted; count 0: all from @first on */
  const int64_t *picks; /* [n_picks] numbers of the samples wanted instead, growing; NULL: as @first and @count say */
  int64_t n_picks;
  const LamBlochQuantity *by; /* [n_by] what to derive by, each once; lam_bloch_jacobian () alone */
  int n_by;
  int64_t chunk; /* voxels at a time on a device; 0: chosen from its memory */
  /* How far through the sequence the first voxels of a chunk are, in thousandths, for any thread to read; NULL: nobody asks. */
  _Atomic int *permille;
} LamBlochParams;

void lam_bloch_params_init (LamBlochParams *p);

/* Spins of a bundle. @offset gets [n]: evenly across @width, at the middles of equal parts. */
void lam_bloch_spread_even (double width, int64_t n, double *offset);
/* Evenly through a box about the middle, sides @size along x, y and z, in m: a lattice of numbers that no small sum of makes
 * whole, so that spins seldom share a coordinate; along the longest side they are evenly apart. */
void lam_bloch_spread_box (const double size[3], int64_t n, double *x, double *y, double *z);
/* Equally likely offsets of a Lorentzian whose signal falls as exp (-t / T2'), in Hz. */
void lam_bloch_spread_lorentzian (double t2_prime_ms, int64_t n, double *offset);

typedef struct _LamBloch LamBloch;

/* Resolves the sequence: what all voxels share. LAM_ERROR_INVALID names the field that cannot be; LAM_ERROR_MISSING: f0
 * is needed. @params and its arrays must stay until the end. */
LamBloch *lam_bloch_new (const LamPulseqTiming *t, const LamBlochParams *params, LamDevices *set, GError **error);
void lam_bloch_free (LamBloch *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamBloch, lam_bloch_free)
/* What lam_bloch_run (), or with something to derive by lam_bloch_jacobian (), takes on the devices, phase "simulate". */
LamPlan *lam_bloch_plan (LamBloch *b);
/* Samples that come out for each voxel, and pulses that are kept as maps. */
int64_t lam_bloch_samples (const LamBloch *b);
int64_t lam_bloch_maps (const LamBloch *b);
/* @re and @im get [voxels][samples]. */
gboolean lam_bloch_run (LamBloch *b, float *re, float *im, LamControl *control, GError **error);
/* The same samples, bit for bit, and in @d_re and @d_im [voxels][n_by][samples] their derivatives, exact: forward mode through the
 * same steps. */
gboolean lam_bloch_jacobian (LamBloch *b, float *re, float *im, float *d_re, float *d_im, LamControl *control,
                             GError **error);

/* All of it, from a sequence: the timing is made here. @re and @im are made with lam_alloc (), [voxels][*@samples]. */
gboolean lam_bloch_simulate (LamPulseq *seq, const LamBlochParams *params, LamDevices *set, LamControl *control,
                             float **re, float **im, int64_t *samples, GError **error);

G_END_DECLS
