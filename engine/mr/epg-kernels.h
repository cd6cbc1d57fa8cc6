/* epg-kernels.h: what the EPG kernels are given. Plain C that any compiler reads; no GLib, no allocation.
 *
 * A program is a row of *passes* over the orders: relax for a duration, wind by `before` orders, rotate (or invert), note samples, wind
 * by `after` orders. Samples at other times are *peeks*: relaxation from the end of a pass, of one order alone. A kernel
 * takes LAM_EPG_WIDTH voxels through the whole program; voxels never meet, so how they are grouped shows in no bit.
 *
 * States (spec section 2.1): F+_k, F-_k = conj (F at -k), Z_k, k = 0 … orders - 1, of each pool. Where all phases are one
 * (section 3) F+ = i p exp (i phi), F- = i m exp (-i phi), Z = z with p, m, z real: the real path. */
#pragma once

#include "core/types.h"
#include "mr/tissue-quantity.h"

/* Voxels that a kernel takes at once; arrays of them are [...][LAM_EPG_WIDTH]. */
#define LAM_EPG_WIDTH 16
/* Most orders that one pass winds on either side. */
#define LAM_EPG_MARGIN 8
/* Water and four exchanging pools; then the semisolid one. */
#define LAM_EPG_WATERS 5

enum { LAM_PASS_NONE, LAM_PASS_ROTATE, LAM_PASS_INVERT };

typedef struct {
  int16_t kind, before, after;
  int16_t spoil;              /* transverse states are gone before the pass */
  int32_t orders;             /* orders that can differ from 0 and still matter, after `before` */
  int32_t relax;              /* distinct duration, or -1 */
  int32_t rf;                 /* number of the pulse, or -1 */
  int32_t records, n_records; /* samples right after the rotation */
  int32_t peeks, n_peeks;     /* samples after the pass, before the next */
} LamEpgPass;

typedef struct {
  int32_t relax;  /* distinct duration since the pass; -1: none */
  int32_t shift;  /* orders wound since then, still open */
  int32_t out;    /* sample */
  int32_t factor; /* distinct time for off-resonance and T2' taken analytically (section 2.12); -1: none */
  double re, im;  /* what the sample is multiplied with */
} LamEpgRecord;

/* A pulse's numbers. */
typedef struct {
  double flip, phase; /* rad */
  double signed_flip; /* real path */
  int32_t sign;       /* ... and what it was multiplied with */
  int32_t by_field;   /* 0: the transmit field does not act on it, or is given by channels */
  double saturation;  /* of the semisolid pool, 1/s per rad^2 */
  double frequency_hz;
  int32_t shim;  /* row of the transmit field (LamEpgArgs.field) */
  int32_t table; /* -1: instant; else a row of rotations for each lane (LamEpgArgs.rotation) */
} LamEpgPulse;

typedef struct {
  int64_t passes, records, durations, factors, pulses, samples;
  const LamEpgPass *pass;
  const LamEpgRecord *record;
  const double *duration; /* s */
  const double *factor;   /* s */
  const LamEpgPulse *pulse;
  int32_t orders; /* kept */
  int32_t playings;
  /* Which physics: */
  int real;             /* the real path */
  int waters;           /* 1 + exchanging pools */
  int semisolid;        /* 0 or 1 */
  int ordered;          /* diffusion or flow: relaxation depends on the order */
  int precessing;       /* B0 acts on the states */
  int analytic;         /* B0 and T2' act at the samples */
  int parity_diffusion; /* the peer's weight k^2 + k + 1/3 for F- */
  double winding;       /* crusher over voxel, rad/m; 0: none */
  double voxel;         /* m; 0: none */
} LamEpgProgram;

/* Relaxation with exchange for one duration, of one group of voxels: x' = E x, then `back` is added at order 0.
 * transverse [waters][waters] (re, im), longitudinal [n][n], back [n], n = waters + semisolid; each [..][LAM_EPG_WIDTH]. */
#define LAM_EPG_TRANSVERSE(w) (2 * (w) * (w))
#define LAM_EPG_POOL_FLOATS(w, s) (LAM_EPG_TRANSVERSE (w) + ((w) + (s)) * ((w) + (s)) + (w) + (s))

typedef struct {
  const LamEpgProgram *program;
  int lanes;                                   /* voxels that count, 1 … LAM_EPG_WIDTH */
  const double *tissue[LAM_TISSUE_QUANTITIES]; /* [LAM_EPG_WIDTH], by LamTissueQuantity */
  const float *field;      /* [rows][2][LAM_EPG_WIDTH]: |B1| and phase that each shim makes, then 1 and 0 */
  int fields;              /* its rows */
  const float *exchange;   /* [durations][LAM_EPG_POOL_FLOATS][LAM_EPG_WIDTH]; NULL: one pool */
  const float *saturation; /* [pulses][LAM_EPG_WIDTH]: factor of the semisolid pool; NULL: none */
  const float *rotation;   /* [tables][6][LAM_EPG_WIDTH]: cos, sin, frame in (re, im), frame out (re, im); NULL: none */
  float *re, *im;          /* [samples][LAM_EPG_WIDTH]; either may be NULL where it is known to be 0 */
  float *scratch;          /* lam_epg_scratch () floats, LAM_ALIGN-aligned */
  double settle;           /* playings 0: the residual at which the train counts as settled */
  int most_playings;
  double residual; /* out: the largest change of the last playing, relative to the largest sample */
  int played;      /* out */
} LamEpgArgs;

/* A quantity that derivatives are taken by. Slopes: d (duration of each pass, of each peek, analytic time of each record) in s,
 * d (flip, phase of each pulse; phase of each record) in rad, for one unit of it; NULL: all 0. */
typedef struct {
  int tissue; /* LamTissueQuantity, or -1: a protocol value */
  const float *pass, *peek, *factor, *flip, *phase, *record;
} LamEpgBy;

/* Quantities that one call of a derivative kernel takes. */
#define LAM_EPG_MOST_BY 16

typedef struct {
  LamEpgArgs a; /* values too are written where a.re, a.im are given (staged kernels: always both) */
  int n;
  const LamEpgBy *by; /* [n], tissue quantities first */
  float *d_re, *d_im; /* forward: [n][samples][LAM_EPG_WIDTH]; either may be NULL on the real path */
  /* Tables of the staged kernels. The exchange table (a.exchange) is always there. */
  const float *d_exchange;   /* [tissue quantities of by][durations][LAM_EPG_POOL_FLOATS][LAM_EPG_WIDTH] */
  const float *dt_exchange;  /* [durations][LAM_EPG_POOL_FLOATS][LAM_EPG_WIDTH]: by the duration */
  const float *d_saturation; /* [pulses][2][LAM_EPG_WIDTH]: d ln by the flip (of the field), by B0; NULL: none */
  const float *axis; /* [tables][3][LAM_EPG_WIDTH]: turn vector (x, y, z) for one rad more of flip; NULL: none */
  /* Reverse: cotangents of the samples, [samples][LAM_EPG_WIDTH], and what comes out. */
  const float *cot_re, *cot_im;
  float *g_tissue; /* [n][LAM_EPG_WIDTH]: for by[] that are tissue quantities */
  float *g_pass, *g_peek, *g_factor, *g_flip, *g_phase, *g_record; /* [passes], [records], ... [][LAM_EPG_WIDTH] */
} LamEpgDerivative;

/* Called with -1 before the first and then after each pass, with the state of one voxel, waters summed: [LAM_EPG_STATE][orders], F+ (re, im), F-, Z (with M0 1; on the
 * real path up to the one phase that all have). */
#define LAM_EPG_STATE 6
typedef void (*LamEpgLook) (void *data, int64_t pass, const float *state);

typedef struct {
  const char *isa;
  void (*values) (LamEpgArgs *a);
  /* Plays the first voxel and looks at the last playing; where it plays until settled, at one more. Samples are written too
   * but for those trains. @state: room of LAM_EPG_STATE * orders floats. */
  void (*states) (LamEpgArgs *a, float *state, LamEpgLook look, void *data);
  /* Forward mode on the real path: by T1, T2, M0, B1, inversion efficiency, T2prime, analytic B0, and protocol values that
   * change no phase. */
  void (*jacobian_real) (LamEpgDerivative *d);
  /* Forward mode by anything, with any physics, and reverse mode. */
  void (*jacobian) (LamEpgDerivative *d);
  void (*gradient) (LamEpgDerivative *d);
  /* [samples][LAM_EPG_WIDTH] to [lanes][samples], rows @stride floats apart. */
  void (*turn_round) (const float *from, int64_t samples, int lanes, float *to, int64_t stride);
} LamEpgKernels;

/* Floats from one plane of states to the next: whole pages and two lines, and the state that is written lies half a page from
 * the one that is read. A store and a load that agree in the last twelve bits of their address would wait for each other. */
int64_t lam_epg_plane (const LamEpgProgram *p);
#define LAM_EPG_HALF_PAGE (2048 / 4)
/* Floats of scratch that `values` needs. */
int64_t lam_epg_scratch (const LamEpgProgram *p);

/* ... and the others: the real path's Jacobian, then the staged Jacobian and gradient. */
int64_t lam_epg_scratch_real (const LamEpgProgram *p, int n);
int64_t lam_epg_scratch_forward (const LamEpgProgram *p, int n);
int64_t lam_epg_scratch_reverse (const LamEpgProgram *p);
/* Passes between two kept states of the reverse kernel. */
#define LAM_EPG_SEGMENT 32

extern const LamEpgKernels lam_epg_kernels_scalar, lam_epg_kernels_avx2, lam_epg_kernels_avx512;
/* The table of lam_isa (). */
const LamEpgKernels *lam_epg_kernels (void);
