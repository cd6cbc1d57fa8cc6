/* stripes-wavelet.c: Daubechies' wavelet with 5 vanishing moments, ends mirrored; the band that is smooth along the views and detailed
 * across channels loses its lowest frequencies along the views. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "ct/stripes-private.h"

enum { TAPS = 10, EXTRA = TAPS - 1 };

/* Low pass of the decomposition; high pass and the two of the reconstruction follow from it. */
static const float low[TAPS] = {0.0033357252854737712f, -0.012580751999081999f, -0.0062414902127982744f,
                                0.07757149384004572f,   -0.032244869584638375f, -0.24229488706638203f,
                                0.13842814590132074f,   0.7243085284377729f,    0.6038292697971896f,
                                0.16010239797419293f};

static inline float
high (int j)
{
  return j % 2 ? low[TAPS - 1 - j] : -low[TAPS - 1 - j];
}

static inline int64_t
half (int64_t n)
{
  return (n + EXTRA) / 2;
}

/* ---- sizes ---- */

/* Floats of one thread: the image and the two halves of a pass, a line and its parts, a column and its spectrum; three bands a level. */
int64_t
stripes_wavelet_floats (int64_t views, int64_t channels, int64_t levels)
{
  int64_t r = views + views / 8, c = channels, sum = 0;
  int64_t image = lam_mul_size (r + 2 * EXTRA, c + 2 * EXTRA);
  if (image < 0)
    return -1;
  sum = 3 * lam_round_up (image, LAM_LANES) + 6 * lam_round_up (c + r + 4 * TAPS, LAM_LANES);
  for (int64_t l = 0; l < levels; l++) {
    r = half (r);
    c = half (c);
    sum += 3 * lam_round_up (r * c, LAM_LANES);
  }
  return sum;
}

void
stripes_wavelet_clear (StripesWavelet *w)
{
  for (int l = 0; l < w->levels; l++) {
    lam_fft_free (w->level[l].fft);
    lam_free (w->level[l].damping);
  }
  w->levels = 0;
}

/* The damping's frequencies are ..., -1.5, -0.5, 0.5, 1.5, ... for an even number of rows and whole numbers for an odd
 * one; of the result the real part counts, so a frequency gets the mean of its own and its opposite's. */
static void
make_damping (int64_t rows, double sigma, float *damping)
{
  double off = rows % 2 ? 0 : 0.5;
  for (int64_t k = 0; k <= rows / 2; k++) {
    gboolean last = rows % 2 == 0 && k == rows / 2;
    double a = last ? off - (double) k : off + (double) k, b = off - (double) k;
    double d = -0.5 * (expm1 (-a * a / (2 * sigma * sigma)) + expm1 (-b * b / (2 * sigma * sigma)));
    damping[k] = (float) (d / (double) rows);
  }
}

gboolean
stripes_wavelet_init (StripesWavelet *w, int64_t views, int64_t channels, int64_t levels, double sigma, GError **error)
{
  *w = (StripesWavelet){.views = views, .channels = channels, .padded = views + views / 8};
  w->shift = (w->padded - views) / 2;
  int64_t r = w->padded, c = channels;
  for (int64_t l = 0; l < LAM_MIN (levels, STRIPES_MAX_LEVELS); l++) {
    r = half (r);
    c = half (c);
    w->level[l].rows = r;
    w->level[l].columns = c;
    w->levels = (int) l + 1;
    if (!(w->level[l].fft = lam_fft_new (r, error))
        || !(w->level[l].damping =
                 lam_alloc_n (lam_fft_bins (w->level[l].fft), sizeof (float), "stripe removal: damping", error)))
      return FALSE;
    make_damping (r, sigma, w->level[l].damping);
  }
  return TRUE;
}

/* ---- one pass down and up ---- */

/* Rows of @in [n][width] along the first axis into two of [half (n)][width]. */
static void
down_rows (const float *in, int64_t n, int64_t width, float *lower, float *upper)
{
  for (int64_t k = 0; k < half (n); k++) {
    float *restrict a = lower + k * width, *restrict d = upper + k * width;
    memset (a, 0, sizeof *a * (size_t) width);
    memset (d, 0, sizeof *d * (size_t) width);
    for (int j = 0; j < TAPS; j++) {
      const float *x = in + stripes_mirror (2 * k + 1 - j, n) * width;
      float g = low[j], h = high (j);
      for (int64_t i = 0; i < width; i++) {
        a[i] += g * x[i];
        d[i] += h * x[i];
      }
    }
  }
}

/* The same along a line of @n; @even and @odd hold half (n) + TAPS / 2 floats each. */
static void
down_line (const float *in, int64_t n, float *even, float *odd, float *restrict lower, float *restrict upper)
{
  int64_t m = half (n), reach = m + TAPS / 2;
  for (int64_t i = 0; i < reach; i++) {
    even[i] = in[stripes_mirror (2 * i - EXTRA, n)];
    odd[i] = in[stripes_mirror (2 * i + 1 - EXTRA, n)];
  }
  memset (lower, 0, sizeof *lower * (size_t) m);
  memset (upper, 0, sizeof *upper * (size_t) m);
  for (int j = 0; j < TAPS; j++) {
    const float *x = j % 2 ? odd + (EXTRA - j) / 2 : even + (TAPS - j) / 2;
    float g = low[j], h = high (j);
    for (int64_t k = 0; k < m; k++) {
      lower[k] += g * x[k];
      upper[k] += h * x[k];
    }
  }
}

/* Out of two of [m][width], 2 m - 8 rows: row i takes taps j = i + 8 - 2 k of both. */
static void
up_rows (const float *lower, const float *upper, int64_t m, int64_t width, float *out)
{
  for (int64_t i = 0; i < 2 * m - TAPS + 2; i++) {
    float *restrict y = out + i * width;
    memset (y, 0, sizeof *y * (size_t) width);
    for (int64_t k = (i + TAPS - 2) / 2, j = i + TAPS - 2 - 2 * k; j < TAPS; k--, j += 2) {
      const float *a = lower + k * width, *d = upper + k * width;
      float g = low[TAPS - 1 - j], h = high ((int) (TAPS - 1 - j));
      for (int64_t n = 0; n < width; n++)
        y[n] += g * a[n] + h * d[n];
    }
  }
}

static void
up_line (const float *lower, const float *upper, int64_t m, float *out)
{
  for (int parity = 0; parity < 2; parity++)
    for (int64_t i = parity; i < 2 * m - TAPS + 2; i += 2) {
      int64_t k0 = (i + TAPS - 2) / 2;
      float sum = 0;
      for (int t = 0; t < TAPS / 2; t++)
        sum += low[TAPS - 1 - parity - 2 * t] * lower[k0 - t] + high (TAPS - 1 - parity - 2 * t) * upper[k0 - t];
      out[i] = sum;
    }
}

/* ---- the sinogram ---- */

static float *
cut (float **scratch, int64_t floats)
{
  float *part = *scratch;
  *scratch += lam_round_up (floats, LAM_LANES);
  return part;
}

static void
damp (const LamFft *fft, const float *damping, float *band, int64_t rows, int64_t columns, float *column,
      float *spectrum)
{
  for (int64_t c = 0; c < columns; c++) {
    for (int64_t r = 0; r < rows; r++)
      column[r] = band[r * columns + c];
    lam_fft_forward (fft, column, spectrum);
    for (int64_t k = 0; k < lam_fft_bins (fft); k++) {
      spectrum[2 * k] *= damping[k];
      spectrum[2 * k + 1] *= damping[k];
    }
    lam_fft_inverse (fft, spectrum, column);
    for (int64_t r = 0; r < rows; r++)
      band[r * columns + c] = column[r];
  }
}

void
stripes_wavelet (const StripesWavelet *w, float *sinogram, float *scratch)
{
  int64_t views = w->padded, channels = w->channels, line = views + channels + 4 * TAPS;
  int64_t whole = (views + 2 * EXTRA) * (channels + 2 * EXTRA);
  float *image = cut (&scratch, whole), *lower = cut (&scratch, whole), *upper = cut (&scratch, whole);
  float *even = cut (&scratch, line), *odd = cut (&scratch, line), *column = cut (&scratch, line);
  float *spectrum = cut (&scratch, 2 * line);
  float *bands[STRIPES_MAX_LEVELS][3]; /* details along views, across channels (the stripes'), both */

  memset (image, 0, sizeof *image * (size_t) (views * channels));
  memcpy (image + w->shift * channels, sinogram, sizeof *image * (size_t) (w->views * channels));
  int64_t r = views, c = channels;
  for (int l = 0; l < w->levels; l++) {
    int64_t m = w->level[l].rows, n = w->level[l].columns;
    for (int b = 0; b < 3; b++)
      bands[l][b] = cut (&scratch, m * n);
    down_rows (image, r, c, lower, upper);
    for (int64_t i = 0; i < m; i++) {
      down_line (lower + i * c, c, even, odd, image + i * n, bands[l][1] + i * n);
      down_line (upper + i * c, c, even, odd, bands[l][0] + i * n, bands[l][2] + i * n);
    }
    damp (w->level[l].fft, w->level[l].damping, bands[l][1], m, n, column, spectrum);
    r = m;
    c = n;
  }
  for (int l = w->levels - 1; l >= 0; l--) {
    /* The image has the size of these bands, or a row or column more, which is dropped. */
    int64_t m = w->level[l].rows, n = w->level[l].columns, width = 2 * n - TAPS + 2;
    for (int64_t i = 0; i < m; i++) {
      up_line (image + i * c, bands[l][1] + i * n, n, lower + i * width);
      up_line (bands[l][0] + i * n, bands[l][2] + i * n, n, upper + i * width);
    }
    up_rows (lower, upper, m, width, image);
    c = width;
  }
  for (int64_t v = 0; v < w->views; v++)
    memcpy (sinogram + v * channels, image + (w->shift + v) * c, sizeof *image * (size_t) channels);
}
