/* prepare-private.h: what values, Jacobians and gradients share: which physics a problem has, and the tables of a group. */
#pragma once

#include "mr/simulate.h"

/* What derivatives ask for: physics whose derivative is wanted is on, even where it changes nothing now. */
typedef struct {
  gboolean by[LAM_TISSUE_QUANTITIES];
  gboolean staged; /* the staged kernels: complex, with an exchange table */
} LamNeeds;

/* Rotations of one pulse across the slice: knots over the flip, for each position (spec section 2.7). */
typedef struct {
  LamSpinor *knot; /* [positions][bins]; NULL: not needed */
} LamSliceTable;

#define LAM_SLICE_BINS 64
#define LAM_SLICE_MOST (2 * LAM_PI)

typedef struct {
  LamProgram *program;
  const LamTissues *tissues;
  LamEpgProgram p;      /* with the physics decided */
  LamEpgPulse *pulse;   /* copies, tables numbered */
  LamEpgRecord *record; /* of its own where the complex path replaces the real one */
  int64_t voxels;
  int positions, shims, tables;
  double extent;
  gboolean have_re, have_im;
  gboolean saturates, staged;
  LamSliceTable *slice; /* [definitions] */
  LamSimulateOptions options;
} LamProblem;

/* Room that a group needs beside the kernel's scratch. */
typedef struct {
  double *tissue; /* [LAM_TISSUE_QUANTITIES][LAM_EPG_WIDTH] */
  float *field, *exchange, *saturation, *rotation;
  float *re, *im; /* [samples][LAM_EPG_WIDTH] */
  float *scratch;
} LamGroup;

/* @needs may be NULL. */
gboolean lam_problem_init (LamProblem *q, LamProgram *program, const LamTissues *tissues,
                           const LamSimulateOptions *options, const LamNeeds *needs, GError **error);
void lam_problem_clear (LamProblem *q);
/* Floats of one LamGroup, @scratch floats of the kernel's included. */
int64_t lam_group_floats (const LamProblem *q, int64_t scratch);
void lam_group_place (const LamProblem *q, float *memory, LamGroup *g);
/* Fills the tables for lanes [first, first + lanes); lanes count voxels x positions, positions fastest. */
gboolean lam_group_fill (const LamProblem *q, LamGroup *g, int64_t first, int lanes, GError **error);
void lam_group_args (const LamProblem *q, const LamGroup *g, int lanes, LamEpgArgs *a);
/* Room for the samples of all voxels in @signal, where it has not got it from before; what is known of them without playing. */
gboolean lam_problem_signal (const LamProblem *q, LamSignal *signal, GError **error);
/* The pulse of @pass at a lane's @field: a pair with its derivative by the flip that the field makes. */
gboolean lam_problem_spinor (const LamProblem *q, int64_t pulse, int64_t lane, double b1, LamSpinor *pair,
                             GError **error);
