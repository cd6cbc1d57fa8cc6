#include "mr/rf.h"

#include <complex.h>
#include <math.h>

#include "core/error.h"
#include "mr/constants.h"

static double complex
trapezoid (const LamRf *rf)
{
  double complex sum = 0, before = 0;
  for (int64_t n = 0; n < rf->samples; n++) {
    double complex e = 0;
    for (int c = 0; c < rf->channels; c++)
      e += rf->re[c * rf->samples + n] + I * rf->im[c * rf->samples + n];
    if (n > 0)
      sum += (e + before) / 2 * (rf->time[n] - rf->time[n - 1]);
    before = e;
  }
  return sum;
}

/* trapezoid of |sum of channels|^2 */
static double
power (const LamRf *rf)
{
  double sum = 0, before = 0;
  for (int64_t n = 0; n < rf->samples; n++) {
    double re = 0, im = 0;
    for (int c = 0; c < rf->channels; c++) {
      re += rf->re[c * rf->samples + n];
      im += rf->im[c * rf->samples + n];
    }
    double e = re * re + im * im;
    if (n > 0)
      sum += (e + before) / 2 * (rf->time[n] - rf->time[n - 1]);
    before = e;
  }
  return sum;
}

static gboolean
is_constant (const LamRf *rf)
{
  for (int64_t n = 1; n < rf->samples; n++)
    if (rf->re[n] != rf->re[0] || rf->im[n] != rf->im[0])
      return FALSE;
  return TRUE;
}

static LamRf *
allocate (int channels, int64_t samples)
{
  LamRf *rf = g_new0 (LamRf, 1);
  g_atomic_ref_count_init (&rf->refs);
  rf->channels = channels;
  rf->samples = samples;
  rf->re = g_new0 (double, channels *samples);
  rf->im = g_new0 (double, channels *samples);
  rf->time = g_new0 (double, samples);
  rf->duration = g_new0 (double, samples);
  return rf;
}

static void
derive (LamRf *rf)
{
  double complex area = trapezoid (rf);
  rf->integral_re = creal (area);
  rf->integral_im = cimag (area);
  double square = creal (area) * creal (area) + cimag (area) * cimag (area);
  rf->saturation = square > 0 && rf->samples > 1 ? -LAM_PI * power (rf) / square : 0;
  rf->mode = rf->channels > 1                                              ? LAM_RF_DYNAMIC
             : rf->bandwidth == 0 && (rf->samples < 2 || is_constant (rf)) ? LAM_RF_INSTANT
                                                                           : LAM_RF_PROFILED;
}

static gboolean
set_times (LamRf *rf, const double *time, double dwell, double first, GError **error)
{
  int64_t n = rf->samples;
  for (int64_t i = 0; i < n; i++) {
    rf->time[i] = time ? time[i] : (i + first) * dwell;
    if (!isfinite (rf->time[i]) || (i > 0 && rf->time[i] <= rf->time[i - 1])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "RF pulse: times must increase; sample %" G_GINT64_FORMAT " is at %g s", i, rf->time[i]);
      return FALSE;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    if (!time || n == 1)
      rf->duration[i] = dwell;
    else if (i == 0 || i == n - 1)
      rf->duration[i] = i == 0 ? rf->time[1] - rf->time[0] : rf->time[n - 1] - rf->time[n - 2];
    else
      rf->duration[i] = (rf->time[i + 1] - rf->time[i - 1]) / 2;
  }
  return TRUE;
}

static gboolean
check (int channels, int64_t samples, double dwell, const double *time, double bandwidth, GError **error)
{
  if (channels < 1 || channels > 1024 || samples < 1 || samples > 100000000 || (!time && !(dwell > 0))
      || !(bandwidth >= 0) || !isfinite (bandwidth)) {
    g_set_error (
        error, LAM_ERROR, LAM_ERROR_INVALID,
        "RF pulse: %d channels, %" G_GINT64_FORMAT
        " samples, dwell %g s, bandwidth %g Hz; at least one sample, a dwell above 0 and a bandwidth from 0 are "
        "needed",
        channels, samples, dwell, bandwidth);
    return FALSE;
  }
  return TRUE;
}

LamRf *
lam_rf_new (int channels, int64_t samples, const double *magnitude, const double *phase_turns, const double *time,
            double dwell, double bandwidth, const double *gradient, GError **error)
{
  if (!check (channels, samples, dwell, time, bandwidth, error))
    return NULL;
  g_autoptr (LamRf) rf = allocate (channels, samples);
  for (int64_t i = 0; i < channels * samples; i++) {
    double p = phase_turns ? 2 * LAM_PI * phase_turns[i] : 0;
    rf->re[i] = magnitude[i] * cos (p);
    rf->im[i] = magnitude[i] * sin (p);
    if (!isfinite (rf->re[i]) || !isfinite (rf->im[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "RF pulse: sample %" G_GINT64_FORMAT " is not finite",
                   i % samples);
      return NULL;
    }
  }
  if (!set_times (rf, time, dwell, 0.5, error))
    return NULL;
  rf->bandwidth = bandwidth;
  if (gradient)
    rf->gradient = g_memdup2 (gradient, (gsize) samples * sizeof *gradient);
  derive (rf);
  return g_steal_pointer (&rf);
}

LamRf *
lam_rf_from_waveform (int64_t samples, const double *re, const double *im, double dwell, double bandwidth,
                      GError **error)
{
  if (!check (1, samples, dwell, NULL, bandwidth, error))
    return NULL;
  g_autoptr (LamRf) rf = allocate (1, samples);
  double largest = 0;
  for (int64_t i = 0; i < samples; i++) {
    rf->re[i] = re[i];
    rf->im[i] = im ? im[i] : 0;
    largest = fmax (largest, hypot (rf->re[i], rf->im[i]));
  }
  if (!(largest > 0) || !isfinite (largest)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "RF pulse: all samples are 0, or one is not finite");
    return NULL;
  }
  if (!set_times (rf, NULL, dwell, 0, error))
    return NULL;
  rf->bandwidth = bandwidth;
  derive (rf);
  return g_steal_pointer (&rf);
}

LamRf *
lam_rf_ideal (void)
{
  LamRf *rf = allocate (1, 2);
  rf->re[0] = rf->re[1] = 1;
  rf->time[1] = 1 / (2 * LAM_PI);
  rf->duration[0] = rf->duration[1] = rf->time[1];
  derive (rf);
  rf->saturation = 0; /* a pulse that takes no time deposits nothing; the formula would say -2 pi^2 (section 2.9) */
  return rf;
}

LamRf *
lam_rf_ref (LamRf *rf)
{
  g_atomic_ref_count_inc (&rf->refs);
  return rf;
}

void
lam_rf_unref (LamRf *rf)
{
  if (!g_atomic_ref_count_dec (&rf->refs))
    return;
  g_free (rf->re);
  g_free (rf->im);
  g_free (rf->time);
  g_free (rf->duration);
  g_free (rf->gradient);
  g_free (rf);
}

double
lam_rf_phase (const LamRf *rf)
{
  return rf->integral_re != 0 || rf->integral_im != 0 ? atan2 (rf->integral_im, rf->integral_re) : 0;
}

/* ---- rotations ---- */

typedef struct {
  double complex a, b, da, db;
} Pair;

/* One sample of drive @w and turn @z, and its derivative by a factor of the drive, after what was played before. */
static void
compose (Pair *p, double complex w, double z)
{
  double q = creal (w) * creal (w) + cimag (w) * cimag (w) + z * z, th = sqrt (q), half, ratio, dratio;
  if (q <= 1e-18) { /* cos (th/2), sin (th/2) / th and its derivative by q */
    half = 1 - q / 8 + q * q / 384;
    ratio = 0.5 - q / 48 + q * q / 3840;
    dratio = -1.0 / 48 + q / 1920;
  } else {
    half = cos (th / 2);
    ratio = sin (th / 2) / th;
    dratio = (half / 2 - ratio) / (2 * q);
  }
  double dq = 2 * (creal (w) * creal (w) + cimag (w) * cimag (w)); /* d q / d factor */
  double dhalf = -ratio / 4 * dq, dr = dratio * dq;
  double complex as = half - I * z * ratio, bs = -I * conj (w) * ratio;
  double complex das = dhalf - I * z * dr, dbs = -I * conj (w) * (ratio + dr);
  Pair n = {
      .a = as * p->a - bs * conj (p->b),
      .b = bs * conj (p->a) + as * p->b,
      .da = das * p->a + as * p->da - dbs * conj (p->b) - bs * conj (p->db),
      .db = dbs * conj (p->a) + bs * conj (p->da) + das * p->b + as * p->db,
  };
  *p = n;
}

static LamSpinor
spinor (const Pair *p)
{
  return (LamSpinor){creal (p->a),  cimag (p->a),  creal (p->b),  cimag (p->b),
                     creal (p->da), cimag (p->da), creal (p->db), cimag (p->db)};
}

LamSpinor
lam_spinor_of_samples (int64_t samples, const double *drive_re, const double *drive_im, const double *turn)
{
  Pair p = {.a = 1};
  for (int64_t n = 0; n < samples; n++)
    compose (&p, drive_re[n] + I * drive_im[n], turn[n]);
  return spinor (&p);
}

gboolean
lam_rf_spinor_channels (const LamRf *rf, double flip, double position, const double *weight_re, const double *weight_im,
                        LamSpinor *pair, GError **error)
{
  double complex sum = 0;
  double most = 0, phase = 0;
  for (int c = 0; c < rf->channels; c++)
    for (int64_t n = 0; n < rf->samples; n++) {
      double complex e = (rf->re[c * rf->samples + n] + I * rf->im[c * rf->samples + n]) * rf->duration[n];
      sum += e;
      most += cabs (e);
    }
  if (!(cabs (sum) > 1e-6 * most)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "RF pulse: its samples sum to nothing, so no flip angle can be given to it");
    return FALSE;
  }
  Pair p = {.a = 1};
  for (int64_t n = 0; n < rf->samples; n++) {
    double complex drive = 0;
    double turn = 2 * LAM_PI * rf->bandwidth * position * rf->duration[n] * (rf->gradient ? rf->gradient[n] : 1);
    for (int c = 0; c < rf->channels; c++)
      drive += (rf->re[c * rf->samples + n] + I * rf->im[c * rf->samples + n]) * rf->duration[n] / sum
               * (weight_re ? weight_re[c] + I * weight_im[c] : 1);
    compose (&p, flip * drive, turn);
    phase += turn;
  }
  /* Mid-pulse is where the magnetisation seems to start from. */
  double complex back = cexp (I * phase / 2);
  p.a *= back;
  p.da *= back;
  *pair = spinor (&p);
  if (flip != 0) {
    pair->da_re /= flip;
    pair->da_im /= flip;
    pair->db_re /= flip;
    pair->db_im /= flip;
    return TRUE;
  }
  /* At 0 a factor of the drive moves nothing: the slope is that of a small flip. */
  const double small = 1e-6;
  LamSpinor up;
  if (!lam_rf_spinor_channels (rf, small, position, weight_re, weight_im, &up, error))
    return FALSE;
  pair->da_re = up.da_re;
  pair->da_im = up.da_im;
  pair->db_re = up.db_re;
  pair->db_im = up.db_im;
  return TRUE;
}

gboolean
lam_rf_spinor (const LamRf *rf, double flip, double position, LamSpinor *pair, GError **error)
{
  return lam_rf_spinor_channels (rf, flip, position, NULL, NULL, pair, error);
}

/* ---- shapes ---- */

void
lam_rf_sinc (int64_t samples, double dwell, double flip, double bandwidth_time, double *re)
{
  double whole = samples * dwell, sum = 0;
  for (int64_t n = 0; n < samples; n++) {
    double x = ((n + 0.5) * dwell - whole / 2) * bandwidth_time / whole;
    re[n] = (0.54 + 0.46 * cos (LAM_PI * x / (bandwidth_time / 2))) * (x == 0 ? 1 : sin (LAM_PI * x) / (LAM_PI * x));
    sum += re[n];
  }
  for (int64_t n = 0; n < samples; n++)
    re[n] *= flip / (sum * dwell);
}

void
lam_rf_sech (int64_t samples, double dwell, double *re, double *im)
{
  for (int64_t n = 0; n < samples; n++) {
    double t = (n + 0.5) * dwell - samples * dwell / 2, sech = 1 / cosh (800 * t);
    double w = 2 * LAM_PI * LAM_GAMMA_BAR * 14e-6 * sech, p = 4.9 * log (sech);
    re[n] = w * cos (p);
    im[n] = w * sin (p);
  }
}
