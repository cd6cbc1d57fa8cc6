/* pools.h: relaxation with exchange between the free water, up to four other waters and a semisolid pool, for one
 * duration (spec sections 2.9, 2.10), in double. */
#pragma once

#include "mr/epg-kernels.h"

/* One voxel's pools. */
typedef struct {
  int waters, semisolid;
  double r1[LAM_EPG_WATERS + 1], r2[LAM_EPG_WATERS], shift[LAM_EPG_WATERS]; /* 1/s, 1/s, Hz */
  double fraction[LAM_EPG_WATERS + 1], exchange[LAM_EPG_WATERS + 1];        /* 0: the free water's; then of each pool */
} LamPools;

/* From tissue values by LamTissueQuantity. */
void lam_pools_of (const double *tissue, int waters, int semisolid, LamPools *pools);

/* Generators: longitudinal [n][n], transverse [waters][waters] (re, im). */
void lam_pools_generators (const LamPools *pools, double *longitudinal, double *transverse);

/* exp of the generators times @dt, with what recovers at order 0: see LAM_EPG_POOL_FLOATS. @wash: what is left of the voxel
 * (1: all). @out is [LAM_EPG_POOL_FLOATS] doubles. */
void lam_pools_relax (const LamPools *pools, double dt, double wash, double *out);

/* exp (a) of a real [n][n] or complex [n][n] (re, im) matrix: scaling and squaring with a Taylor sum; n <= 12. */
void lam_expm_real (int n, const double *a, double *out);
void lam_expm_complex (int n, const double *a, double *out);

/* d lam_pools_relax () / d tissue quantity @by of @tissue (by LamTissueQuantity), and by @dt; @voxel in m, 0: no washout. */
void lam_pools_relax_by (const double *tissue, int waters, int semisolid, int by, double dt, double voxel, double *out);
void lam_pools_relax_by_time (const double *tissue, int waters, int semisolid, double dt, double voxel, double *out);
