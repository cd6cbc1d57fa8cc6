/* stripes.c: options, and the rows over the pool. */
#include "ct/stripes.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "ct/stripes-private.h"

/* Fewer than these hold no stripe that could be told from the object. */
#define MIN_VIEWS 4
#define MIN_CHANNELS 8
#define MAX_WINDOW 100001

static const char *const names[] = {"none", "sorting", "wavelet"};

const char *
lam_stripe_kind_name (LamStripeKind kind)
{
  return (unsigned) kind < LAM_STRIPES_COUNT ? names[kind] : NULL;
}

gboolean
lam_stripe_kind_from_name (const char *name, LamStripeKind *kind, GError **error)
{
  for (int i = 0; i < LAM_STRIPES_COUNT; i++)
    if (g_strcmp0 (name, names[i]) == 0) {
      *kind = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "stripe removal \"%s\": unknown; use none, sorting or wavelet",
               name ? name : "");
  return FALSE;
}

void
lam_stripe_options_init (LamStripeOptions *options)
{
  *options = (LamStripeOptions){.snr = 3, .large = 61, .small = 21, .sigma = 2};
}

gboolean
lam_stripe_options_check (const LamStripeOptions *o, int64_t views, int64_t channels, GError **error)
{
  const char *what = NULL;
  double value = 0, low = 0, high = 0;
  if (o->kind == LAM_STRIPES_NONE)
    return TRUE;
  if (o->kind == LAM_STRIPES_SORTING) {
    if (!(o->snr >= 0.1 && o->snr <= 1000)) {
      what = "signal to noise ratio";
      value = o->snr;
      low = 0.1;
      high = 1000;
    } else if (o->large < 1 || o->large > MAX_WINDOW || o->small < 1 || o->small > MAX_WINDOW) {
      what = "window";
      value = (double) (o->large < 1 || o->large > MAX_WINDOW ? o->large : o->small);
      low = 1;
      high = MAX_WINDOW;
    }
  } else if (!(o->sigma >= 1e-3 && o->sigma <= 1e6)) {
    what = "sigma";
    value = o->sigma;
    low = 1e-3;
    high = 1e6;
  } else if (o->levels < 0 || o->levels > STRIPES_MAX_LEVELS) {
    what = "levels";
    value = (double) o->levels;
    high = STRIPES_MAX_LEVELS;
  }
  if (what) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "stripe removal (%s): %s %g: expected %g to %g",
                 lam_stripe_kind_name (o->kind), what, value, low, high);
    return FALSE;
  }
  if (views >= MIN_VIEWS && channels >= MIN_CHANNELS)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "stripe removal: %" G_GINT64_FORMAT " views of %" G_GINT64_FORMAT
               " channels are too few to tell stripes from the object; at least %d views and %d channels are needed",
               views, channels, MIN_VIEWS, MIN_CHANNELS);
  return FALSE;
}

int64_t
lam_stripe_levels (int64_t views, int64_t rows, int64_t channels)
{
  int64_t n = LAM_MAX (LAM_MAX (views, rows), channels), levels = 0;
  while (levels < STRIPES_MAX_LEVELS && (INT64_C (1) << levels) < n)
    levels++;
  return LAM_MAX (levels, 1);
}

/* Floats of one thread: the sinogram, as it was, and the method's own. */
static int64_t
thread_floats (const LamStripeOptions *o, int64_t views, int64_t channels, int64_t levels)
{
  int64_t own = o->kind == LAM_STRIPES_SORTING ? stripes_sorting_floats (o, views, channels)
                                               : stripes_wavelet_floats (views, channels, levels);
  int64_t sinogram = lam_mul_size (views, channels);
  return own < 0 || sinogram < 0 ? -1 : lam_round_up (sinogram, LAM_LANES) + lam_round_up (own, LAM_LANES);
}

int64_t
lam_stripe_bytes (const LamStripeOptions *o, int64_t views, int64_t rows, int64_t channels, int threads)
{
  if (o->kind == LAM_STRIPES_NONE)
    return 0;
  int64_t levels = o->levels ? o->levels : lam_stripe_levels (views, rows, channels);
  return lam_mul_size (lam_mul_size (thread_floats (o, views, channels, levels), 4), threads);
}

typedef struct {
  float *data;
  int64_t views, rows, channels, first; /* first row of this batch */
  const LamStripeOptions *o;
  const StripesWavelet *wavelet;
  float *scratch;
  int64_t each;
  LamStripeReport *reports; /* [worker] */
  double *squares;          /* [row] */
  LamControl *control;
} Rows;

static void
one_row (int64_t index, int worker, void *data)
{
  const Rows *r = data;
  int64_t row = r->first + index, line = r->channels;
  float *sinogram = r->scratch + worker * r->each, *scratch = sinogram + lam_round_up (r->views * line, LAM_LANES);
  double squares = 0;
  if (lam_control_cancelled (r->control))
    return;
  for (int64_t v = 0; v < r->views; v++)
    memcpy (sinogram + v * line, r->data + (v * r->rows + row) * line, sizeof (float) * (size_t) line);
  if (r->wavelet)
    stripes_wavelet (r->wavelet, sinogram, scratch);
  else
    stripes_sorting (sinogram, r->views, line, r->o, scratch, &r->reports[worker]);
  for (int64_t v = 0; v < r->views; v++) {
    float *to = r->data + (v * r->rows + row) * line;
    for (int64_t n = 0; n < line; n++) {
      float x = isfinite (sinogram[v * line + n]) ? sinogram[v * line + n] : 0;
      double d = (double) x - to[n];
      squares += d * d;
      to[n] = x;
    }
  }
  r->squares[row] = squares;
}

static gboolean
run_rows (Rows *r, LamStripeReport *report, GError **error)
{
  LamPool *pool = lam_pool_shared ();
  int threads = lam_pool_threads (pool);
  int64_t batch = 4 * (int64_t) threads;
  LamStripeReport sum = {0};
  double squares = 0;
  for (r->first = 0; r->first < r->rows; r->first += batch) {
    lam_control_progress (r->control, "removing stripes", (double) r->first, (double) r->rows);
    lam_pool_for (pool, LAM_MIN (batch, r->rows - r->first), one_row, r, NULL);
    if (!lam_control_go_on (r->control, error))
      return FALSE;
  }
  for (int w = 0; w < threads; w++) {
    sum.dead += r->reports[w].dead;
    sum.large += r->reports[w].large;
  }
  for (int64_t m = 0; m < r->rows; m++)
    squares += r->squares[m];
  sum.change = sqrt (squares / (double) (r->views * r->rows * r->channels));
  if (report)
    *report = sum;
  return TRUE;
}

gboolean
lam_remove_stripes (float *data, int64_t views, int64_t rows, int64_t channels, const LamStripeOptions *o,
                    LamStripeReport *report, LamControl *control, GError **error)
{
  g_return_val_if_fail (data != NULL && o != NULL && rows > 0, FALSE);
  StripesWavelet wavelet = {0};
  Rows r = {data, views, rows, channels, 0, o, NULL, NULL, 0, NULL, NULL, control};
  int threads = lam_pool_threads (lam_pool_shared ());
  int64_t levels = o->levels ? o->levels : lam_stripe_levels (views, rows, channels);
  gboolean ok = FALSE;
  if (report)
    *report = (LamStripeReport){0};
  if (o->kind == LAM_STRIPES_NONE)
    return TRUE;
  if (!lam_stripe_options_check (o, views, channels, error))
    return FALSE;
  if (o->kind == LAM_STRIPES_WAVELET) {
    r.wavelet = &wavelet;
    if (!stripes_wavelet_init (&wavelet, views, channels, levels, o->sigma, error))
      goto out;
  }
  r.each = thread_floats (o, views, channels, levels);
  if (!(r.scratch = lam_alloc_n (lam_mul_size (threads, r.each), sizeof (float), "stripe removal: sinograms", error))
      || !(r.squares = lam_alloc_n (rows, sizeof *r.squares, "stripe removal: the rows", error))
      || !(r.reports = lam_alloc_n (threads, sizeof *r.reports, "stripe removal: the counts", error)))
    goto out;
  memset (r.reports, 0, sizeof *r.reports * (size_t) threads);
  ok = run_rows (&r, report, error);
out:
  lam_free (r.scratch);
  lam_free (r.squares);
  lam_free (r.reports);
  stripes_wavelet_clear (&wavelet);
  return ok;
}
