/* stripes.h: ring artefacts, taken off where they arise (spec/ct.md section 10): a channel that reads wrong in every view
 * is a stripe along the views of its sinogram and a ring in the slice.
 *
 * Sorting: Vo, Atwood, Drakopoulos, Opt. Express 26(22):28396, 2018. Each channel's samples are sorted by value; across
 * channels, equal ranks are alike where channels are good, so a median across channels mends a bad one, and unsorting
 * gives its samples back their places. Wavelet: Münch et al., Opt. Express 17(10):8567, 2009. The vertical details of a
 * wavelet transform hold the stripes in their lowest frequencies along the views, which are damped.
 *
 * The first finds stripes and leaves other channels nearly alone; the second touches all and also takes faint, wide
 * structure that lies along the views. Both look at all views of a row, and at nothing else: rows are independent. */
#pragma once

#include <glib.h>

#include "core/control.h"

G_BEGIN_DECLS

typedef enum { LAM_STRIPES_NONE, LAM_STRIPES_SORTING, LAM_STRIPES_WAVELET, LAM_STRIPES_COUNT } LamStripeKind;

/* "none", "sorting", "wavelet". */
const char *lam_stripe_kind_name (LamStripeKind kind);
gboolean lam_stripe_kind_from_name (const char *name, LamStripeKind *kind, GError **error);

typedef struct {
  LamStripeKind kind;
  double snr;           /* sorting: how far a channel must stand out of the noise to be a stripe (3) */
  int64_t large, small; /* sorting: medians across so many channels, for large stripes (61) and for small ones (21) */
  double sigma;         /* wavelet: width of the damping, in frequencies along the views (2) */
  int64_t levels;       /* wavelet: 0: lam_stripe_levels () of the data */
} LamStripeOptions;

/* None, with the numbers above. */
void lam_stripe_options_init (LamStripeOptions *options);
/* Refuses numbers that are out of range, and data too small to tell stripes from the object. */
gboolean lam_stripe_options_check (const LamStripeOptions *options, int64_t views, int64_t channels, GError **error);

/* ceil (log2 (largest of the three)), as the reference; for a part of the data take it of the whole. */
int64_t lam_stripe_levels (int64_t views, int64_t rows, int64_t channels);

typedef struct {
  int64_t dead;  /* sorting: channels, over all rows, that were made anew from their neighbours: dead or fluctuating */
  int64_t large; /* sorting: ... that got the sorted median of their neighbours */
  double change; /* rms of what was taken away or added */
} LamStripeReport;

/* Changes @data [view][row][channel] in place; finite in, finite out. @report may be NULL. */
gboolean lam_remove_stripes (float *data, int64_t views, int64_t rows, int64_t channels,
                             const LamStripeOptions *options, LamStripeReport *report, LamControl *control,
                             GError **error);
/* Bytes that it takes while it works, on @threads threads. */
int64_t lam_stripe_bytes (const LamStripeOptions *options, int64_t views, int64_t rows, int64_t channels, int threads);

G_END_DECLS
