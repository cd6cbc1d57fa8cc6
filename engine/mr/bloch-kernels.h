/* bloch-kernels.h: what the Bloch integrator's kernels are given. Plain C that any compiler reads; no GLib, no allocation.
 *
 * A program is the sequence without tissue: free evolution (a time and three gradient moments), pulses, readouts. A tile of
 * isochromats goes through all of it; lanes are isochromats and never meet but where a voxel's spins are summed, in order. */
#pragma once

#include <stdatomic.h>

#include "core/types.h"
#include "mr/bloch-quantity.h"

/* Isochromats that go through a program together. */
#define LAM_BLOCH_TILE 32
/* Samples of a readout that are kept before they are summed and stored. */
#define LAM_BLOCH_PIECE 64
/* A pulse that plays more than once is kept as an affine map: 9 floats of the matrix, 3 of what it adds. */
#define LAM_BLOCH_MAP 12

/* A pulse with the gradients that play during it: @n steps of @dt, each a rotation between two half relaxations. */
typedef struct {
  int64_t n;
  int turns;             /* each rotation is done in so many equal parts, so that none is above 1 rad */
  int map;               /* where the map is kept; -1: it plays once, step by step */
  double dt;             /* s */
  const double *wx, *wy; /* [n] rad of a part, for a B1 of 1 and a phase offset of 0 */
  const double *m;       /* [n][3] gradient moments of each part, 1/m */
} LamBlochPulse;

/* Sample times and gradient moments from the last change of the state. */
typedef struct {
  int64_t n;
  const double *dt;                 /* [n] s */
  const double *m;                  /* [n][3] 1/m */
  const float *demod_re, *demod_im; /* [n]; NULL: 1 */
} LamBlochReadout;

typedef enum {
  LAM_BLOCH_FREE,
  LAM_BLOCH_PULSE,
  LAM_BLOCH_READ,
} LamBlochKind;

typedef struct {
  LamBlochKind kind;
  int32_t index;   /* of the pulse or readout */
  float re, im;    /* cosine and sine of the pulse's or receiver's phase */
  double dt, m[3]; /* LAM_BLOCH_FREE */
  int64_t sample;  /* LAM_BLOCH_READ: number of its first sample */
} LamBlochOp;

typedef struct {
  int64_t ops, pulses, readouts, maps;
  const LamBlochOp *op;
  const LamBlochPulse *pulse;
  const LamBlochReadout *readout;
} LamBlochProgram;

typedef struct {
  const LamBlochProgram *program;
  /* [LAM_BLOCH_TILE] each; lanes beyond @lanes hold any finite numbers */
  const double *b0, *x, *y, *z; /* Hz, m */
  const float *b1, *r1, *r2;    /* r: 1/T in 1/s */
  const float *weight;          /* of the lane in its voxel's sum */
  float *mx, *my, *mz;          /* state, in and out */
  int64_t lanes, spins;         /* lane l belongs to voxel l / spins; a tile holds whole voxels, or part of one */
  int64_t first, count;         /* samples wanted */
  float *re, *im;               /* [voxel][stride] from sample @first on */
  int64_t stride;
  int add;                  /* to what is there: a voxel's further spins */
  float *maps;              /* [program->maps][1 + tangents][LAM_BLOCH_MAP][LAM_BLOCH_TILE] scratch */
  uint8_t *made;            /* [program->maps] 0 at first */
  float *piece;             /* [1 + tangents][2][LAM_BLOCH_PIECE][LAM_BLOCH_TILE] scratch */
  const atomic_int *cancel; /* may be NULL */
  atomic_int *permille;     /* of the program that is done; may be NULL */
  /* Tangents: derivatives of the state, which go the same steps; none by M0, which is a factor of the weight. */
  int tangents;
  LamBlochQuantity by[LAM_BLOCH_QUANTITIES]; /* [tangents], all but M0 */
  int row[LAM_BLOCH_QUANTITIES];             /* [tangents] where it goes in what comes out */
  int rows, m0_row;                          /* rows that come out for each voxel; M0's, -1: none */
  const float *dr1, *dr2, *unit_weight;      /* dr: of the rate by its time, 1/s for one ms; the weight of an M0 of 1 */
  float *tx, *ty, *tz;                       /* [tangents][LAM_BLOCH_TILE] derivatives of the state, 0 at first */
  float *dre, *dim;                          /* [voxel][rows][stride], as re and im */
} LamBlochArgs;

typedef struct {
  const char *isa;
  LamStatus (*run) (const LamBlochArgs *args);
  /* Sine and cosine of 2 pi times @n turns, and 1 - exp (-x); for tests. @n is a multiple of LAM_BLOCH_TILE. */
  void (*sincos) (const double *turns, float *sine, float *cosine, int64_t n);
  void (*decay) (const float *x, float *out, int64_t n);
} LamBlochKernels;

extern const LamBlochKernels lam_bloch_kernels_scalar, lam_bloch_kernels_avx2, lam_bloch_kernels_avx512;
/* The table that this processor, or LAMINA_ISA, asks for. */
const LamBlochKernels *lam_bloch_kernels (void);
