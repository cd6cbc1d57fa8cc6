#include "core/fft.h"

#include <fftw3.h>
#include <limits.h>
#include <pthread.h>

#include "core/error.h"
#include "core/memory.h"

struct _LamFft {
  int64_t n;
  fftwf_plan forward, inverse;
};

/* FFTW's planner is not thread-safe; only executing is. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

LamFft *
lam_fft_new (int64_t n, GError **error)
{
  if (n < 1 || n > INT_MAX / 4) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "Fourier transform: a row of %" G_GINT64_FORMAT " samples is out of range", n);
    return NULL;
  }
  /* ESTIMATE plans touch no data, but the alignment they see is the one they may rely on. */
  float *real = lam_alloc_n (n, sizeof (float), "Fourier transform: the row to plan on", error);
  float *complex =
      real ? lam_alloc_n (n + 2, sizeof (float), "Fourier transform: the spectrum to plan on", error) : NULL;
  if (!complex) {
    lam_free (real);
    return NULL;
  }
  LamFft *fft = g_new0 (LamFft, 1);
  fft->n = n;
  pthread_mutex_lock (&planner);
  fft->forward = fftwf_plan_dft_r2c_1d ((int) n, real, (fftwf_complex *) complex, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  fft->inverse = fftwf_plan_dft_c2r_1d ((int) n, (fftwf_complex *) complex, real, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
  pthread_mutex_unlock (&planner);
  lam_free (real);
  lam_free (complex);
  if (fft->forward && fft->inverse)
    return fft;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "Fourier transform: no plan for %" G_GINT64_FORMAT " samples", n);
  lam_fft_free (fft);
  return NULL;
}

void
lam_fft_free (LamFft *fft)
{
  if (!fft)
    return;
  pthread_mutex_lock (&planner);
  if (fft->forward)
    fftwf_destroy_plan (fft->forward);
  if (fft->inverse)
    fftwf_destroy_plan (fft->inverse);
  pthread_mutex_unlock (&planner);
  g_free (fft);
}

int64_t
lam_fft_size (const LamFft *fft)
{
  return fft->n;
}

int64_t
lam_fft_bins (const LamFft *fft)
{
  return fft->n / 2 + 1;
}

void
lam_fft_forward (const LamFft *fft, const float *in, float *out)
{
  g_assert (((uintptr_t) in | (uintptr_t) out) % LAM_ALIGN == 0);
  fftwf_execute_dft_r2c (fft->forward, (float *) in, (fftwf_complex *) out);
}

void
lam_fft_inverse (const LamFft *fft, float *in, float *out)
{
  g_assert (((uintptr_t) in | (uintptr_t) out) % LAM_ALIGN == 0);
  fftwf_execute_dft_c2r (fft->inverse, (fftwf_complex *) in, out);
}

int64_t
lam_fft_good_size (int64_t n)
{
  static const int primes[] = {2, 3, 5, 7};
  if (n <= 1)
    return 1;
  for (int64_t size = n + n % 2; size <= INT_MAX / 4; size += 2) {
    int64_t rest = size;
    for (int p = 0; p < 4; p++)
      while (rest % primes[p] == 0)
        rest /= primes[p];
    if (rest == 1)
      return size;
  }
  return -1;
}
