/* vcd.h: vectorised coordinate descent with the qGGMRF prior (spec/ct.md section 7). Theory of operation.
 *
 * Minimised is 1/2 sigma_y^-2 sum w (y - A x)^2 + prior (x) over the region's pixels. An iteration visits S subsets of
 * pixels, all slices at once. For a subset U, with e = y - A x and lambda = sigma_y^-2:
 *
 *   g  = gp - lambda A_U^T (w e)         gp, hp: gradient and surrogate Hessian of the prior at U
 *   d  = - g / (lambda H + hp)           H: diagonal of A^T W A; cone beam damps the slice means (7.6)
 *   a  = -<g, d> / (lambda <A d, w A d> + <hp, d d> + eps), clipped to [eps, max_step]
 *   x += a d,  e -= a A d                with positivity d is first raised to -x / (a + eps)
 *
 * The numerator needs no projection: lambda <w e, A d> = <lambda A^T w e, d>. What is kept is w e itself (e without
 * weights), so that a sample of weight 0 is absent: it holds 0 for ever.
 *
 * Passes over the sinogram dominate when subsets are small, so the step of one subset is taken inside the back projection of
 * the next: per view, A d is made again (cheap for a short list, and bit-equal) or read where it was kept (long lists),
 * e is updated, and the next list gathers from the view while it is in cache. A step not yet taken is "pending";
 * lam_vcd_settle () takes it. */
#pragma once

#include "core/plan.h"
#include "ct/partition.h"
#include "ct/prior.h"
#include "ct/projector.h"

G_BEGIN_DECLS

typedef enum {
  LAM_START_DIRECT, /* filtered back projection, scaled to the data */
  LAM_START_ZERO,
  LAM_START_VOLUME, /* what the volume shards hold */
  LAM_START_SCALED, /* the same, scaled to the data */
  LAM_START_RESUME, /* volume and error shards both hold a checkpoint's */
} LamVcdStart;

typedef struct {
  int64_t iterations; /* in all, first_iteration included */
  int64_t first_iteration;
  double stop_percent; /* stop when the change falls below; 0 = never */
  double sigma_y;
  LamPriorParams prior;
  double max_step; /* 1.5 */
  gboolean positivity;
  gboolean damping; /* of slice means, cone beam only */
  uint64_t seed;
} LamVcdParams;

void lam_vcd_params_default (LamVcdParams *params);

/* Numbers of one iteration (7.4). */
typedef struct {
  int64_t iteration; /* finished so far, this one included */
  int64_t subsets;
  double change;     /* sum |update| / sum |x| */
  double cost;       /* what is minimised, over the sum of weights: (sum e^2 w / (2 sigma_y^2) + sum rho) / sum w */
  double data_cost;  /* sqrt (sum e^2 w / sum w) / sigma_y */
  double prior_cost; /* sum rho per voxel */
  double mean_step;
  double seconds;
  const double *update_norms; /* [slices], of the LamVcd */
} LamVcdStats;

typedef struct _LamVcd LamVcd;

/* Called between subsets, on the solver's thread: pictures may be taken with lam_projector_get_plane (). */
typedef void (*LamVcdBetween) (LamVcd *vcd, int64_t subset, int64_t subsets, void *data);

struct _LamVcd {
  LamProjector *p;
  LamPlan *plan;
  LamVcdParams params;
  gboolean weighted;
  LamShards volume, error, weights, hessian, made; /* made: A d where it is kept; scratch of a sinogram otherwise */
  LamShards at_e, g, hp, d;                        /* packed lists of own slices */
  LamHalos halos;
  LamPartition *levels[16]; /* by granularity level; drawn when first used */
  int64_t longest;          /* pixels of the largest subset */
  double sum_w, initial_scale;
  float *damping;    /* [slices]: 1 - s_k, or NULL */
  float *shift;      /* [slices]: (1 - s_k) times the mean gradient, of the running subset */
  double *norms;     /* [slices] */
  double *host_sums; /* [4][slices] */
  LamStep pending;
  gboolean has_pending;
  int64_t iteration; /* finished so far */
  LamVcdBetween between;
  void *between_data;
};

/* @p stays the caller's. Writes the run's buffers and copies into @plan, phases "prepare", "start", "iterate". */
LamVcd *lam_vcd_new (LamProjector *p, const LamVcdParams *params, gboolean weighted, LamVcdStart start, LamPlan *plan,
                     GError **error);
void lam_vcd_free (LamVcd *vcd);
/* Frees the pixel subsets; no iteration may follow. */
void lam_vcd_drop_lists (LamVcd *vcd);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamVcd, lam_vcd_free)

/* Takes the buffers "recon", "error" (and "weights"): the caller fills error with y (0 where the weight is 0). */
gboolean lam_vcd_open (LamVcd *vcd, GError **error);
/* Start image, error sinogram, Hessian. */
gboolean lam_vcd_start (LamVcd *vcd, LamVcdStart start, GError **error);
/* One iteration over the planned subsets. On a cancel the state is that between two subsets or worse: drop it, but for
 * stop-and-keep, which ends whole iterations. */
gboolean lam_vcd_iterate (LamVcd *vcd, LamVcdStats *stats, GError **error);
/* The same over given subsets in order, @begin[n + 1] into @pixel; indices may repeat. For golden runs. */
gboolean lam_vcd_iterate_given (LamVcd *vcd, const int32_t *pixel, const int64_t *begin, int64_t n, LamVcdStats *stats,
                                GError **error);
/* Takes the pending step, so that error and volume agree. */
gboolean lam_vcd_settle (LamVcd *vcd, GError **error);
/* s_k of the cone update (7.6). */
void lam_vcd_damping (const LamGeometry *g, double *s);

G_END_DECLS
