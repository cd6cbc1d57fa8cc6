/* stripes-private.h: one sinogram at a time. */
#pragma once

#include "core/fft.h"
#include "ct/stripes.h"

G_BEGIN_DECLS

/* Index of @i in a row of @n that is continued by its mirror image, ends repeated: ... 1 0 | 0 1 ... n-1 | n-1 ... */
static inline int64_t
stripes_mirror (int64_t i, int64_t n)
{
  i %= 2 * n;
  i += i < 0 ? 2 * n : 0;
  return i < n ? i : 2 * n - 1 - i;
}

/* Floats of scratch; @sinogram [view][channel] is changed in place. Counts of channels are added to @report. */
int64_t stripes_sorting_floats (const LamStripeOptions *o, int64_t views, int64_t channels);
void stripes_sorting (float *sinogram, int64_t views, int64_t channels, const LamStripeOptions *o, float *scratch,
                      LamStripeReport *report);

enum { STRIPES_MAX_LEVELS = 48 };

/* What all rows share: sizes of the levels, and transforms of their columns with the damping. */
typedef struct {
  int64_t views, channels, padded, shift;
  int levels;
  struct {
    int64_t rows, columns; /* of each band */
    LamFft *fft;
    float *damping; /* [bins], scale included */
  } level[STRIPES_MAX_LEVELS];
} StripesWavelet;

gboolean stripes_wavelet_init (StripesWavelet *w, int64_t views, int64_t channels, int64_t levels, double sigma,
                               GError **error);
void stripes_wavelet_clear (StripesWavelet *w);
int64_t stripes_wavelet_floats (int64_t views, int64_t channels, int64_t levels);
void stripes_wavelet (const StripesWavelet *w, float *sinogram, float *scratch);

G_END_DECLS
