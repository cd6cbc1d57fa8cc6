/* kernels.h: the compute kernels and their argument structs. Plain C that any compiler reads; no GLib, no allocation.
 *
 * Shapes. A *pixel list* holds in-slice pixels (row, column); "x" arrays are one row of slices for each listed pixel. A view
 * of the sinogram is channels x rows, rows contiguous (the vector direction is the slice, which every ray shares in
 * parallel beam). With few slices (LamLayout PLANAR) both are turned: x is slices x pixels, a view is rows x channels.
 *
 * The footprint: a voxel's shadow has width W (in detector pitches) about the fractional index q; element l gets
 * clip ((W+1)/2 - |q-l|, 0, min (1, W)) (spec (2.1)), over its full support. A = H(pixel, channel) * G(slice, row). */
#pragma once

#include "core/types.h"

typedef enum {
  LAM_LAYOUT_SLICES, /* slices and detector rows contiguous */
  LAM_LAYOUT_PLANAR, /* pixels and channels contiguous: few slices */
} LamLayout;

/* Parallel beam, few slices: one view's fractional channel q = x c + (y d + c0) in fixed point (parallel-body.h), and its
 * footprint: a weight is clip (half - slope |q - channel|, 0, most), distances in 2^-24 channels. */
typedef struct {
  double c, d;
  int32_t left, near; /* which end of a range, in x and in y, lies at the lowest channel */
  float most, half, slope;
} LamPlanarView;

/* Everything the kernels know about a scan; lengths in the scan's unit, made once in double. */
typedef struct {
  int cone;   /* 0 parallel, 1 cone */
  int curved; /* cone with a curved detector */
  LamLayout layout;
  int64_t views, rows, channels, slices;
  int64_t columns;    /* of the recon: pixel index = row * columns + column */
  double dx, dy, dz;  /* voxel pitch along columns, rows, slices */
  double cx, cy;      /* centre column and row index */
  double z0;          /* z of slice 0 */
  double dc, dr;      /* detector pitches */
  double c0, r0;      /* channel and row index on which the axis (u = 0, v = 0) falls */
  double inv_m0;      /* 1 / magnification at the axis */
  double inv_sd;      /* 1 / source-detector distance; 0 for infinite */
  double source_axis; /* S; INFINITY allowed */
  int path_degree;    /* cone: 1/cos(phi) = sum_i path[i] ((M z / D)^2)^i; < 0: by a square root */
  float path[12];
  const double *cosines, *sines, *shifts; /* [views]; shifts NULL when all are zero */
  const LamPlanarView *planar; /* [views]; NULL: the layout is SLICES, or a footprint can meet three channels */
} LamProjectorGeometry;

/* A list of pixels with their positions relative to the axis. */
typedef struct {
  int64_t n;
  const int32_t *pixel; /* [n] row * columns + column */
} LamPixelList;

/* Back projection of the views [v0, v1) from zero: out[i][k] = sum over views, in view order. With @block (only where
 * geometry->planar is set) blocks of that many views are each summed from zero and folded as core/order.h says. */
typedef struct {
  const LamProjectorGeometry *geometry;
  int64_t v0, v1, block;
  const int32_t *pixel; /* [n] */
  int64_t n;
  const float *sino;   /* at view v0 */
  int64_t view_stride; /* floats */
  int64_t line_stride; /* floats between channels (SLICES) or rows (PLANAR) */
  float *out;          /* SLICES: out[i * out_stride + k - k0]; PLANAR: out[(k - k0) * out_stride + i] */
  int64_t out_stride;
  int64_t k0, k1; /* slices wanted */
  int square;     /* Hessian: coefficients squared */
  void *scratch;  /* lam_kernel_scratch () bytes, one for each worker */
} LamBackArgs;

/* Forward projection of a pixel list into the views [v0, v1), in list order. */
typedef struct {
  const LamProjectorGeometry *geometry;
  int64_t v0, v1;
  const int32_t *pixel; /* [n] */
  int64_t n;
  const float *x; /* SLICES: x[i * x_stride + k - k0]; PLANAR: x[(k - k0) * x_stride + i] */
  int64_t x_stride;
  int indexed;      /* x is a whole volume: row or column pixel[i] of it instead of i */
  int64_t k0, k1;   /* slices present in x; cone needs all */
  float scale;      /* y += scale * A x */
  float *view_data; /* view v0; accumulates */
  int64_t view_stride;
  int64_t line_stride;
  void *scratch;
} LamForwardArgs;

/* The prior on n voxels of which all six neighbours are given (spec section 6). */
typedef struct {
  double p, q, t, sigma_x;
  double b_row, b_column, b_slice; /* for each of the two directions of an axis */
} LamPriorParams;

typedef struct {
  const char *isa;
  LamStatus (*back) (const LamBackArgs *a);
  LamStatus (*forward) (const LamForwardArgs *a);
  /* gradient and surrogate Hessian at c[n]; neighbours along rows (up, down), columns (left, right), slices (before, after). */
  void (*prior) (const LamPriorParams *params, int64_t n, const float *c, const float *up, const float *down,
                 const float *left, const float *right, const float *before, const float *after, float *gradient,
                 float *hessian);
  /* sum of w a b over @lines lines of @n, @stride apart, over 32 fixed lanes, in double; w may be NULL. */
  double (*dot) (int64_t lines, int64_t n, int64_t stride, const float *a, const float *b, const float *w);
  /* acc[i] += |c[i]| and cost[i] += sum over the given neighbours (NULL: none) of b rho (c[i] - neighbour[i]). */
  void (*volume_sums) (const LamPriorParams *params, int64_t n, const float *c, const float *down, const float *right,
                       const float *after, double *cost, double *acc);
  /* The update direction d = -g / (lambda h + hp) with g = gp - lambda a (a = A^T w e, gp on entry in @g), and per element
   * the sums acc[0] += -g d, acc[1] += hp d^2, acc[2] += |d|, acc[3] += d^2; acc is [4][acc_stride]. */
  void (*direction) (int64_t n, float lambda, const float *a, float *g, const float *hp, const float *h, float *d,
                     double *acc, int64_t acc_stride);
  /* Damped, first pass: g = gp - lambda a, acc[0] += g / D, acc[1] += 1 / D. */
  void (*weigh) (int64_t n, float lambda, const float *a, float *g, const float *hp, const float *h, double *acc,
                 int64_t acc_stride);
  /* Damped, second pass: d = -(g - shift) / D with shift[i] = (1 - s) g_mean; sums as direction. */
  void (*damped) (int64_t n, float lambda, const float *g, const float *shift, const float *hp, const float *h,
                  float *d, double *acc, int64_t acc_stride);
  /* y[i] += s * x[i] */
  void (*axpy) (int64_t n, float s, const float *x, float *y);
  /* y[i] = w[i] * x[i] */
  void (*multiply) (int64_t n, const float *w, const float *x, float *y);
} LamKernels;

/* Bytes of scratch that forward and back need for each worker. */
int64_t lam_kernel_scratch (const LamProjectorGeometry *g);
/* Most pixels that one call of forward or back handles at once inside; callers may pass any number. */
#define LAM_KERNEL_PIXELS 256

extern const LamKernels lam_kernels_scalar, lam_kernels_avx2, lam_kernels_avx512;
/* The table of lam_isa (). */
const LamKernels *lam_kernels (void);
