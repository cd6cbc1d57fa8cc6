/* center-private.h: what the parts of the search share. */
#pragma once

#include "core/fft.h"
#include "ct/center.h"

/* Parts of the data that are left out in turn to see how firm the result is. */
#define CENTER_GROUPS 8

/* A few rows at evenly spaced angles. */
typedef struct {
  int64_t rows, views, channels;
  double start, step; /* radians */
  gboolean full_turn; /* view @views would be view 0 again */
  float *data;        /* [row][view][channel], background taken off */
} CenterViews;

static inline const float *
center_view (const CenterViews *d, int64_t row, int64_t view)
{
  return d->data + (row * d->views + view) * d->channels;
}

/* Mismatch over positions first + i * step, as a quotient of sums so that groups can be left out. */
typedef struct {
  int64_t n;
  double first, step;
  double *top, *bottom; /* [CENTER_GROUPS][n] */
} CenterCurve;

/* @n zero doubles through lam_alloc (). */
double *center_alloc0 (int64_t n, GError **error);

gboolean center_curve_init (CenterCurve *curve, double first, double step, int64_t n, GError **error);
void center_curve_clear (CenterCurve *curve);

/* Each fills @curve (which it makes, on half channels) from @d. */
gboolean center_wedge (const CenterViews *d, CenterCurve *curve, GError **error); /* half a turn exactly */
gboolean center_seam (const CenterViews *d, CenterCurve *curve, GError **error);  /* the same, any truncation */
gboolean center_pairs (const CenterViews *d, CenterCurve *curve, GError **error); /* more than half a turn */
/* Conjugate rays on positions of @curve (made by the caller), each channel of @d standing for @bin of the detector's. */
void center_conjugate (const CenterViews *d, const LamGeometry *g, int64_t bin, CenterCurve *curve);
