/* direct.h: filtered back projection (parallel) and FDK (cone), spec/ct.md section 5.
 *
 * x = A^T (s (h * (w y))): h is the ramp filter on the detector's channels, w FDK's cosine weight, s the scale that makes
 * the adjoint an inverse; the distance weight of FDK comes from the adjoint itself. Each device filters its own views. */
#pragma once

#include "ct/projector.h"

G_BEGIN_DECLS

typedef struct _LamFilter LamFilter;

/* The ramp's taps h[0 … channels - 1] (it is even): 1/4, then -1/(pi n)^2 for odd n, 0 for even. */
void lam_ramp_taps (int64_t channels, double *taps);

/* Tables for filtering rows of @channels samples. */
LamFilter *lam_filter_new (int64_t channels, GError **error);
void lam_filter_free (LamFilter *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamFilter, lam_filter_free)
/* Floats of scratch that filtering a row needs, and one row in place; @weight[n] (or NULL) first, then the ramp, then @scale. */
int64_t lam_filter_scratch (const LamFilter *f);
void lam_filter_row (const LamFilter *f, const float *in, const double *weight, double scale, float *out,
                     float *scratch);

/* s of above; with it comes "weights included" of the golden data. */
double lam_direct_scale (const LamGeometry *g);
/* FDK's cosine weights of one detector row. */
void lam_direct_row_weights (const LamGeometry *g, int64_t row, double *weight);

/* Buffers that lam_direct_filter () takes from the plan. */
void lam_direct_plan (const LamProjector *p, LamPlan *plan, int first, int last);
/* @filtered = s (h * (w @sino)); the two may be the same shards. */
gboolean lam_direct_filter (LamProjector *p, const LamShards *sino, LamShards *filtered, GError **error);
/* @volume from filtered data, zero outside the region; helical coverage corrected. */
gboolean lam_direct_back (LamProjector *p, const LamShards *filtered, LamShards *volume, GError **error);

G_END_DECLS
