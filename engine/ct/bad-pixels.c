#include "ct/bad-pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/select.h"
#include "core/threadpool.h"

#define REACH 3           /* of the neighbourhood, each way */
#define MOST 0.2          /* of the pixels that may be bad */
#define LEAST_SPREAD 5e-3 /* of flat - dark, relative: frames without noise have no spread of their own */
#define LEAST_DARK 1e-3   /* of the dark, relative to flat - dark */

/* ---- lists ---- */

static int
compare_pixels (gconstpointer a, gconstpointer b)
{
  const int32_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] != y[1] ? (x[1] < y[1] ? -1 : 1) : 0;
}

/* Takes @pairs (lam_alloc ()), sorts it and drops what comes twice. */
static LamBadPixels *
list_take (int32_t *pairs, int64_t n)
{
  int64_t kept = 0;
  qsort (pairs, (size_t) n, 2 * sizeof *pairs, compare_pixels);
  for (int64_t i = 0; i < n; i++)
    if (kept == 0 || compare_pixels (pairs + 2 * i, pairs + 2 * (kept - 1)) != 0) {
      memmove (pairs + 2 * kept, pairs + 2 * i, 2 * sizeof *pairs);
      kept++;
    }
  return g_bytes_new_with_free_func (pairs, (gsize) kept * 2 * sizeof *pairs, lam_free, pairs);
}

static int32_t *
list_alloc (int64_t n, GError **error)
{
  return lam_alloc_n (LAM_MAX (n, 1), 2 * sizeof (int32_t), "list of bad pixels", error);
}

const int32_t *
lam_bad_pixels_data (LamBadPixels *list, int64_t *n)
{
  gsize size = 0;
  const int32_t *pairs = list ? g_bytes_get_data (list, &size) : NULL;
  *n = (int64_t) (size / (2 * sizeof (int32_t)));
  return pairs;
}

LamBadPixels *
lam_bad_pixels_union (LamBadPixels *a, LamBadPixels *b, GError **error)
{
  int64_t na, nb;
  const int32_t *x = lam_bad_pixels_data (a, &na), *y = lam_bad_pixels_data (b, &nb);
  int32_t *pairs = list_alloc (na + nb, error);
  if (!pairs)
    return NULL;
  if (na)
    memcpy (pairs, x, (size_t) na * 2 * sizeof *pairs);
  if (nb)
    memcpy (pairs + 2 * na, y, (size_t) nb * 2 * sizeof *pairs);
  return list_take (pairs, na + nb);
}

LamBadPixels *
lam_bad_pixels_crop (LamBadPixels *list, LamRange rows, LamRange channels, GError **error)
{
  int64_t n, kept = 0;
  const int32_t *from = lam_bad_pixels_data (list, &n);
  int32_t *pairs = list_alloc (n, error);
  if (!pairs)
    return NULL;
  for (int64_t i = 0; i < n; i++) {
    int64_t row = from[2 * i], channel = from[2 * i + 1];
    if (row < rows.begin || row >= rows.end || channel < channels.begin || channel >= channels.end)
      continue;
    pairs[2 * kept] = (int32_t) (row - rows.begin);
    pairs[2 * kept++ + 1] = (int32_t) (channel - channels.begin);
  }
  return list_take (pairs, kept);
}

gboolean
lam_bad_pixels_check (LamBadPixels *list, int64_t rows, int64_t channels, GError **error)
{
  int64_t n;
  const int32_t *p = lam_bad_pixels_data (list, &n);
  for (int64_t i = 0; i < n; i++)
    if (p[2 * i] < 0 || p[2 * i] >= rows || p[2 * i + 1] < 0 || p[2 * i + 1] >= channels) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "bad pixel at row %d, channel %d: outside a detector of %" G_GINT64_FORMAT
                   " rows and %" G_GINT64_FORMAT " channels",
                   p[2 * i], p[2 * i + 1], rows, channels);
      return FALSE;
    }
  return TRUE;
}

static gboolean
parse_line (char *line, int32_t pair[2])
{
  char *at = line, *end;
  for (int i = 0; i < 2; i++) {
    gint64 x = g_ascii_strtoll (at, &end, 10);
    if (end == at || x < 0 || x > INT32_MAX || (i == 0 && !g_ascii_isspace (*end) && *end != ','))
      return FALSE;
    pair[i] = (int32_t) x;
    at = *end == ',' ? end + 1 : end;
  }
  return *g_strchug (at) == '\0';
}

LamBadPixels *
lam_bad_pixels_parse (const char *text, const char *name, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  int64_t n = 0;
  int32_t *pairs = list_alloc (g_strv_length (lines), error);
  if (!pairs)
    return NULL;
  for (int i = 0; lines[i]; i++) {
    g_autofree char *whole = g_strdup (lines[i]);
    char *comment = strchr (lines[i], '#');
    if (comment)
      *comment = '\0';
    g_strstrip (lines[i]);
    if (*lines[i] == '\0')
      continue;
    if (!parse_line (lines[i], pairs + 2 * n)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                   "%s, line %d: \"%.60s\": expected a detector row and a channel, two numbers from 0", name, i + 1,
                   g_strstrip (whole));
      lam_free (pairs);
      return NULL;
    }
    n++;
  }
  return list_take (pairs, n);
}

/* ---- finding them ---- */

typedef struct {
  const float *frame; /* flat or dark */
  const float *under; /* taken off, or NULL */
  int64_t rows, channels;
  gboolean relative;
  float *out; /* how far a pixel is from its neighbours; NAN where it is no number */
} Compare;

static inline float
pixel (const Compare *c, int64_t p)
{
  return c->frame[p] - (c->under ? c->under[p] : 0);
}

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return x < y ? -1 : x > y;
}

static void
compare_row (int64_t m, int worker, void *data)
{
  const Compare *c = data;
  float near[(2 * REACH + 1) * (2 * REACH + 1)];
  for (int64_t n = 0; n < c->channels; n++) {
    int64_t count = 0;
    for (int64_t i = LAM_MAX (m - REACH, 0); i <= LAM_MIN (m + REACH, c->rows - 1); i++)
      for (int64_t j = LAM_MAX (n - REACH, 0); j <= LAM_MIN (n + REACH, c->channels - 1); j++) {
        float x = pixel (c, i * c->channels + j);
        if (isfinite (x))
          near[count++] = x;
      }
    float x = pixel (c, m * c->channels + n), about = count ? lam_select (near, count, count / 2) : NAN;
    c->out[m * c->channels + n] = !c->relative ? x - about : about > 0 ? x / about - 1 : 0;
    if (!isfinite (x))
      c->out[m * c->channels + n] = NAN;
  }
}

/* 1.4826 times the median magnitude of the finite ones of @x; @scratch as long. */
static double
spread (const float *x, int64_t n, float *scratch)
{
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite (x[i]))
      scratch[count++] = fabsf (x[i]);
  if (count == 0)
    return 0;
  qsort (scratch, (size_t) count, sizeof *scratch, compare_floats);
  return 1.4826 * scratch[count / 2];
}

LamBadPixels *
lam_bad_pixels_find (const float *flat, const float *dark, int64_t rows, int64_t channels, double sigmas,
                     LamBadPixelCounts *counts, GError **error)
{
  g_return_val_if_fail (flat != NULL && rows > 0 && channels > 0, NULL);
  int64_t size = lam_mul_size (rows, channels), n = 0;
  LamBadPixelCounts found = {0};
  if (!(sigmas >= 1 && sigmas <= 1000)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "bad pixels: %g sigmas: expected 1 to 1000", sigmas);
    return NULL;
  }
  float *work = lam_alloc_n (lam_mul_size (3, size), sizeof *work, "bad pixels", error);
  if (!work)
    return NULL;
  float *signal = work, *hot = work + size, *scratch = work + 2 * size;
  Compare c = {flat, dark, rows, channels, TRUE, signal};
  lam_pool_for (lam_pool_shared (), rows, compare_row, &c, NULL);
  c = (Compare){dark, NULL, rows, channels, FALSE, hot};
  if (dark)
    lam_pool_for (lam_pool_shared (), rows, compare_row, &c, NULL);

  double low = -sigmas * fmax (spread (signal, size, scratch), LEAST_SPREAD), high = INFINITY;
  if (dark) {
    double level = 0;
    for (int64_t i = 0; i < size; i++)
      scratch[i] = isfinite (flat[i] - dark[i]) ? flat[i] - dark[i] : 0;
    level = fmax (lam_select (scratch, size, size / 2), 0);
    high = sigmas * fmax (spread (hot, size, scratch), LEAST_DARK * level);
  }
  int32_t *pairs = NULL;
  for (int pass = 0; pass < 2; pass++) {
    n = 0;
    for (int64_t p = 0; p < size; p++) {
      double s = (double) flat[p] - (dark ? dark[p] : 0);
      gboolean dead = !(s > 0) || !(signal[p] >= low), is_hot = dark && hot[p] > high;
      if (!dead && !is_hot)
        continue;
      if (pass == 1) {
        pairs[2 * n] = (int32_t) (p / channels);
        pairs[2 * n + 1] = (int32_t) (p % channels);
        found.dead += dead;
        found.hot += !dead;
      }
      n++;
    }
    if (pass == 0 && (double) n > MOST * (double) size) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "bad pixels: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                   " pixels would be bad; are flats and darks what they should be? Else leave the search out",
                   n, size);
      break;
    }
    if (pass == 0 && !(pairs = list_alloc (n, error)))
      break;
  }
  lam_free (work);
  if (!pairs)
    return NULL;
  if (counts)
    *counts = found;
  return list_take (pairs, n);
}
