/* fft.h: real transforms of one row, for the ramp filter and the searches that use spectra.
 *
 * One ESTIMATE plan of one row is made on aligned memory, under the planner's lock; it then runs on any number of
 * threads at once, each with its own buffers. So every row gets the same bits whoever transforms it. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef struct _LamFft LamFft;

/* Plans for rows of @n floats (n >= 1). */
LamFft *lam_fft_new (int64_t n, GError **error);
void lam_fft_free (LamFft *fft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamFft, lam_fft_free)

int64_t lam_fft_size (const LamFft *fft);
/* Complex numbers in a spectrum: n / 2 + 1. */
int64_t lam_fft_bins (const LamFft *fft);

/* @in: n floats, kept. @out: bins pairs (re, im). Both aligned to LAM_ALIGN and apart. Unscaled. */
void lam_fft_forward (const LamFft *fft, const float *in, float *out);
/* @in: bins pairs, destroyed. @out: n floats. Unscaled: forward then inverse multiplies by n. */
void lam_fft_inverse (const LamFft *fft, float *in, float *out);

/* The smallest even 2^a 3^b 5^c 7^d that is >= @n (1 for n <= 1); -1 when there is none in range. */
int64_t lam_fft_good_size (int64_t n);

G_END_DECLS
