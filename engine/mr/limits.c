#include "mr/limits.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

static const struct {
  const char *name, *unit;
} rules[LAM_RULES] = {
    {"block duration off its raster", "s"},
    {"RF delay off its raster", "s"},
    {"gradient times off their raster", "s"},
    {"ADC dwell off its raster", "s"},
    {"ADC delay off the RF raster", "s"},
    {"event ends after its block", "s"},
    {"gradient amplitude", "Hz/m"},
    {"slew rate", "Hz/m/s"},
    {"gradient jumps", "Hz/m"},
    {"RF amplitude", "Hz"},
    {"RF dead time", "s"},
    {"RF ringdown time", "s"},
    {"ADC dead time", "s"},
};

const char *
lam_rule_name (LamRule rule)
{
  return rules[rule].name;
}

const char *
lam_rule_unit (LamRule rule)
{
  return rules[rule].unit;
}

LamLimits
lam_limits_default (void)
{
  return (LamLimits){.gradient = 40e-3 * LAM_GAMMA_1H,
                     .slew = 170 * LAM_GAMMA_1H,
                     .rf = NAN,
                     .rf_dead = 100e-6,
                     .rf_ringdown = 30e-6,
                     .adc_dead = 10e-6};
}

/* The gradient of a block and axis, as much as limits need. */
typedef struct {
  gboolean there;
  int64_t begin, end; /* ps from the block's start */
  double peak, slew;
  int64_t peak_at, slew_at;
  double first, last;
} Axis;

typedef struct {
  const LamPulseqTiming *t;
  const LamLimits *limits;
  LamLimitReport *report;
  GHashTable *turned; /* of the rotated blocks: gradients and rotation -> Axis[3] */
} Check;

static void
breach (Check *c, LamRule rule, int axis, int64_t block, int64_t at, double value, double limit)
{
  LamBreach b = {rule, axis, block, c->t->start[block] + at, value, limit};
  if (c->report->count[rule]++ < LAM_BREACHES_KEPT)
    g_array_append_val (c->report->breaches, b);
}

/* More than rounding over the limit. */
static gboolean
over (double value, double limit)
{
  return value > limit * (1 + 1e-6);
}

static gboolean
off_raster (int64_t ps, int64_t raster)
{
  return ps % raster != 0;
}

/* ---- gradients ---- */

static void
from_facts (const LamPulseqGradientFacts *f, Axis *a)
{
  a->there = f->end > f->begin;
  a->begin = f->begin;
  a->end = f->end;
  a->peak = LAM_MAX (f->high, -f->low);
  a->peak_at = f->begin;
  a->slew = f->slew;
  a->slew_at = f->slew_at;
  a->first = f->first;
  a->last = f->last;
}

static gboolean
from_waveform (Check *c, int64_t block, int axis, Axis *a, GError **error)
{
  int64_t room = lam_pulseq_waveform (c->t, block, axis, 0, NULL, NULL, error);
  *a = (Axis){.there = FALSE};
  if (room <= 0)
    return room == 0;
  int64_t *ps = lam_alloc_n (room, sizeof *ps, "waveform of a block", error);
  double *value = ps ? lam_alloc_n (room, sizeof *value, "waveform of a block", error) : NULL;
  int64_t n = value ? lam_pulseq_waveform (c->t, block, axis, room, ps, value, error) : -1;
  /* A turned waveform goes to 0 at its ends by a point of its own: what counts is the value inside. */
  int64_t from = n > 1 && ps[0] == ps[1] ? 1 : 0, to = n > 1 && ps[n - 1] == ps[n - 2] ? n - 1 : n;
  for (int64_t i = from; i < to; i++) {
    if (fabs (value[i]) > a->peak) {
      a->peak = fabs (value[i]);
      a->peak_at = ps[i];
    }
    double slew = i == from || value[i] == value[i - 1]
                      ? 0
                      : fabs (value[i] - value[i - 1]) / ((double) (ps[i] - ps[i - 1]) * 1e-12);
    if (slew > a->slew) {
      a->slew = slew;
      a->slew_at = ps[i - 1];
    }
  }
  if (n > 1) {
    a->there = TRUE;
    a->begin = ps[from];
    a->end = ps[to - 1];
    a->first = value[from];
    a->last = value[to - 1];
  }
  lam_free (ps);
  lam_free (value);
  return n >= 0;
}

static gboolean
block_axes (Check *c, int64_t block, Axis axes[3], GError **error)
{
  const LamPulseq *s = c->t->seq;
  double R[9];
  if (!lam_pulseq_rotation (s, block, R)) {
    for (int i = 0; i < 3; i++) {
      int32_t row = s->event[LAM_PULSEQ_GX + i][block] - 1;
      axes[i] = (Axis){.there = FALSE};
      if (row >= 0)
        from_facts (&c->t->gradient[row], &axes[i]);
    }
    return TRUE;
  }
  g_autofree char *key =
      g_strdup_printf ("%d %d %d %d", s->event[LAM_PULSEQ_GX][block], s->event[LAM_PULSEQ_GY][block],
                       s->event[LAM_PULSEQ_GZ][block], s->link[s->event[LAM_PULSEQ_EXT][block] - 1].rotation);
  const Axis *known = g_hash_table_lookup (c->turned, key);
  if (known) {
    memcpy (axes, known, 3 * sizeof *axes);
    return TRUE;
  }
  for (int i = 0; i < 3; i++)
    if (!from_waveform (c, block, i, &axes[i], error))
      return FALSE;
  g_hash_table_insert (c->turned, g_steal_pointer (&key), g_memdup2 (axes, 3 * sizeof *axes));
  return TRUE;
}

/* What a step may be: what the slew rate allows in one raster step. */
static double
step_limit (const Check *c)
{
  return isnan (c->limits->slew) ? NAN : c->limits->slew * (double) c->t->seq->gradient_raster * 1e-12;
}

static gboolean
check_gradients (Check *c, int64_t block, double before[3], GError **error)
{
  const LamPulseq *s = c->t->seq;
  Axis axes[3];
  double step = step_limit (c);
  if (!block_axes (c, block, axes, error))
    return FALSE;
  for (int i = 0; i < 3; i++) {
    const Axis *a = &axes[i];
    double at_start = a->there && a->begin == 0 ? a->first : 0;
    c->report->gradient[i] = LAM_MAX (c->report->gradient[i], a->peak);
    c->report->slew[i] = LAM_MAX (c->report->slew[i], a->slew);
    if (over (a->peak, c->limits->gradient))
      breach (c, LAM_RULE_GRADIENT, i, block, a->peak_at, a->peak, c->limits->gradient);
    if (over (a->slew, c->limits->slew))
      breach (c, LAM_RULE_SLEW, i, block, a->slew_at, a->slew, c->limits->slew);
    if (over (fabs (at_start - before[i]), step))
      breach (c, LAM_RULE_GRADIENT_JUMP, i, block, 0, fabs (at_start - before[i]), step);
    if (a->there && a->begin > 0 && over (fabs (a->first), step))
      breach (c, LAM_RULE_GRADIENT_JUMP, i, block, a->begin, fabs (a->first), step);
    if (a->there && a->end < s->duration[block] && over (fabs (a->last), step))
      breach (c, LAM_RULE_GRADIENT_JUMP, i, block, a->end, fabs (a->last), step);
    before[i] = a->there && a->end >= s->duration[block] ? a->last : 0;
  }
  return TRUE;
}

static void
check_gradient_rasters (Check *c, int64_t block)
{
  const LamPulseq *s = c->t->seq;
  for (int i = 0; i < 3; i++) {
    int32_t row = s->event[LAM_PULSEQ_GX + i][block] - 1;
    const LamPulseqGradient *g = row >= 0 ? &s->gradient[row] : NULL;
    const int64_t times[] = {g ? g->delay : 0, g ? g->rise : 0, g ? g->flat : 0, g ? g->fall : 0};
    for (guint k = 0; k < G_N_ELEMENTS (times); k++)
      if (off_raster (times[k], s->gradient_raster)) {
        breach (c, LAM_RULE_GRADIENT_RASTER, i, block, 0, (double) times[k] * 1e-12,
                (double) s->gradient_raster * 1e-12);
        break;
      }
    if (g && c->t->gradient[row].end > s->duration[block])
      breach (c, LAM_RULE_BLOCK_END, i, block, s->duration[block], (double) c->t->gradient[row].end * 1e-12,
              (double) s->duration[block] * 1e-12);
  }
}

/* ---- pulses and readouts ---- */

/* A dead time is broken by more than a ps. */
static gboolean
too_short (int64_t ps, double limit)
{
  return !isnan (limit) && (double) ps < limit * 1e12 - 1;
}

static void
check_pulse (Check *c, int64_t block, int32_t row)
{
  const LamPulseq *s = c->t->seq;
  const LamPulseqRf *rf = &s->rf[row];
  const LamPulseqPulse *p = &c->t->rf[row].pulse;
  int64_t end = rf->delay + p->duration;
  double peak = fabs (rf->amplitude) * p->peak;
  if (off_raster (rf->delay, s->rf_raster))
    breach (c, LAM_RULE_RF_RASTER, -1, block, rf->delay, (double) rf->delay * 1e-12, (double) s->rf_raster * 1e-12);
  if (end > s->duration[block])
    breach (c, LAM_RULE_BLOCK_END, -1, block, s->duration[block], (double) end * 1e-12,
            (double) s->duration[block] * 1e-12);
  if (over (peak, c->limits->rf))
    breach (c, LAM_RULE_RF, -1, block, rf->delay + p->center, peak, c->limits->rf);
  if (too_short (rf->delay, c->limits->rf_dead))
    breach (c, LAM_RULE_RF_DEAD, -1, block, rf->delay, (double) rf->delay * 1e-12, c->limits->rf_dead);
  if (end <= s->duration[block] && too_short (s->duration[block] - end, c->limits->rf_ringdown))
    breach (c, LAM_RULE_RF_RINGDOWN, -1, block, end, (double) (s->duration[block] - end) * 1e-12,
            c->limits->rf_ringdown);
}

static void
check_readout (Check *c, int64_t block, const LamPulseqAdc *a)
{
  const LamPulseq *s = c->t->seq;
  int64_t end = lam_pulseq_adc_end (a);
  if (off_raster (a->dwell, s->adc_raster))
    breach (c, LAM_RULE_ADC_RASTER, -1, block, a->delay, (double) a->dwell * 1e-12, (double) s->adc_raster * 1e-12);
  if (off_raster (a->delay, s->rf_raster))
    breach (c, LAM_RULE_ADC_DELAY, -1, block, a->delay, (double) a->delay * 1e-12, (double) s->rf_raster * 1e-12);
  if (end > s->duration[block])
    breach (c, LAM_RULE_BLOCK_END, -1, block, s->duration[block], (double) end * 1e-12,
            (double) s->duration[block] * 1e-12);
  else if (too_short (s->duration[block] - end, c->limits->adc_dead))
    breach (c, LAM_RULE_ADC_DEAD, -1, block, end, (double) (s->duration[block] - end) * 1e-12, c->limits->adc_dead);
  if (too_short (a->delay, c->limits->adc_dead))
    breach (c, LAM_RULE_ADC_DEAD, -1, block, a->delay, (double) a->delay * 1e-12, c->limits->adc_dead);
}

LamLimitReport *
lam_limits_check (const LamPulseqTiming *t, const LamLimits *limits, GError **error)
{
  const LamPulseq *s = t->seq;
  LamLimitReport *report = g_new0 (LamLimitReport, 1);
  Check c = {t, limits, report, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free)};
  double before[3] = {0, 0, 0}, step = step_limit (&c);
  gboolean ok = TRUE;
  report->breaches = g_array_new (FALSE, FALSE, sizeof (LamBreach));
  for (int64_t b = 0; ok && b < s->blocks; b++) {
    int32_t rf = s->event[LAM_PULSEQ_RF][b] - 1, adc = s->event[LAM_PULSEQ_ADC][b] - 1;
    if (off_raster (s->duration[b], s->block_raster))
      breach (&c, LAM_RULE_BLOCK_RASTER, -1, b, 0, (double) s->duration[b] * 1e-12, (double) s->block_raster * 1e-12);
    ok = check_gradients (&c, b, before, error);
    check_gradient_rasters (&c, b);
    if (rf >= 0)
      check_pulse (&c, b, rf);
    if (adc >= 0)
      check_readout (&c, b, &s->adc[adc]);
  }
  for (int i = 0; ok && i < 3; i++) /* the sequence ends at rest */
    if (s->blocks > 0 && over (fabs (before[i]), step))
      breach (&c, LAM_RULE_GRADIENT_JUMP, i, s->blocks - 1, s->duration[s->blocks - 1], fabs (before[i]), step);
  g_hash_table_unref (c.turned);
  if (!ok)
    g_clear_pointer (&report, lam_limit_report_free);
  return report;
}

void
lam_limit_report_free (LamLimitReport *report)
{
  if (!report)
    return;
  g_array_unref (report->breaches);
  g_free (report);
}
