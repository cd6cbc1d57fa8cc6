/* limits.h: whether a scanner may play a Pulseq sequence: rasters, gradient amplitude and slew, RF amplitude, dead times,
 * gradients that fit at block edges. Each breach says which rule, its limit, the value, and where. */
#pragma once

#include <glib.h>

#include "mr/pulseq-timing.h"

G_BEGIN_DECLS

/* NAN: not checked. */
typedef struct {
  double gradient;    /* Hz/m, each axis */
  double slew;        /* Hz/m/s, each axis */
  double rf;          /* Hz */
  double rf_dead;     /* s before a pulse */
  double rf_ringdown; /* s after it */
  double adc_dead;    /* s before and after a readout */
} LamLimits;

typedef enum {
  LAM_RULE_BLOCK_RASTER,
  LAM_RULE_RF_RASTER,       /* delay of a pulse */
  LAM_RULE_GRADIENT_RASTER, /* delay, ramps and plateau of a gradient */
  LAM_RULE_ADC_RASTER,      /* dwell */
  LAM_RULE_ADC_DELAY,       /* delay of a readout, on the raster of RF */
  LAM_RULE_BLOCK_END,       /* an event ends after its block */
  LAM_RULE_GRADIENT,
  LAM_RULE_SLEW,
  LAM_RULE_GRADIENT_JUMP, /* between blocks, or where a gradient begins or ends inside one */
  LAM_RULE_RF,
  LAM_RULE_RF_DEAD,
  LAM_RULE_RF_RINGDOWN,
  LAM_RULE_ADC_DEAD,
  LAM_RULES,
} LamRule;

typedef struct {
  LamRule rule;
  int axis;            /* 0 x, 1 y, 2 z; -1: none */
  int64_t block;       /* from 0 */
  int64_t ps;          /* from the start of the sequence */
  double value, limit; /* in the rule's unit: s, Hz/m, Hz/m/s, Hz */
} LamBreach;

typedef struct {
  GArray *breaches;            /* LamBreach, by block; of each rule the first LAM_BREACHES_KEPT */
  int64_t count[LAM_RULES];    /* all of them */
  double gradient[3], slew[3]; /* the largest met, Hz/m and Hz/m/s */
} LamLimitReport;

#define LAM_BREACHES_KEPT 200

/* A clinical scanner: 40 mT/m, 170 T/m/s, dead times 100, 30 and 10 us; of 1H. */
LamLimits lam_limits_default (void);
LamLimitReport *lam_limits_check (const LamPulseqTiming *t, const LamLimits *limits, GError **error);
void lam_limit_report_free (LamLimitReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamLimitReport, lam_limit_report_free)
/* "slew rate", ... */
const char *lam_rule_name (LamRule rule);
/* "s", "Hz/m", ... */
const char *lam_rule_unit (LamRule rule);

G_END_DECLS
