/* prior.h: the qGGMRF prior over a placed volume (spec/ct.md section 6; Thibault et al., Med. Phys. 34(11), 2007).
 *
 *   rho(d) = |d|^p / (p sigma_x^p) * s / (1 + s),  s = |d / (T sigma_x)|^(q - p)
 *
 * with p = 2 > q by default: quadratic near 0, |d|^q far out. Six face neighbours; a missing one is the voxel itself. */
#pragma once

#include "ct/kernels.h"
#include "ct/projector.h"

G_BEGIN_DECLS

/* b of each axis from the relative weights of rows, columns and slices; all six neighbours sum to 1. */
LamPriorParams lam_prior_params (double p, double q, double t, double sigma_x, double row, double column, double slice);
gboolean lam_prior_check (const LamPriorParams *params, GError **error);
/* rho, in double. */
double lam_prior_potential (const LamPriorParams *params, double delta);

/* Neighbouring slices of a shard, one value for each pixel; NULL at the ends of the volume. */
typedef struct {
  float *before[LAM_MAX_DEVICES], *after[LAM_MAX_DEVICES];
} LamHalos;

/* Gradient and surrogate Hessian at the @n listed pixels of device @d, in packed form of own slices. A run of the list:
 * @at … @at + count; work on one thread. */
void lam_prior_list (const LamProjector *p, const LamPriorParams *params, int d, const LamShards *volume,
                     const LamHalos *halos, const int32_t *pixel, int64_t n, int64_t at, int64_t count, float *gradient,
                     float *hessian);

/* What a pass over the whole volume gathers. */
typedef struct {
  double prior_cost; /* sum of rho over unordered neighbour pairs */
  double sum_abs;    /* sum of |x| over all voxels */
} LamVolumeSums;

/* Needs the halos up to date and "row sums" of lam_volume_sums_plan (). */
gboolean lam_volume_sums (LamProjector *p, const LamPriorParams *params, const LamShards *volume, const LamHalos *halos,
                          LamVolumeSums *sums, GError **error);
void lam_volume_sums_plan (const LamProjector *p, LamPlan *plan, int first, int last);

/* Buffers "halo before", "halo after" of the plan, and taking them. */
void lam_halos_plan (const LamProjector *p, LamPlan *plan, int first, int last);
gboolean lam_halos_open (LamProjector *p, LamPlan *plan, LamHalos *halos, GError **error);
/* All halos anew from the volume; or only those of the listed pixels. @before (or NULL) is called on each device first. */
gboolean lam_halos_exchange (LamProjector *p, const LamShards *volume, LamHalos *halos, const int32_t *pixel, int64_t n,
                             LamDeviceFunc before, void *data, GError **error);

G_END_DECLS
