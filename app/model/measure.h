/* measure.h: what was drawn on the pictures of a slice model to be measured: for each plane one region (circle or rectangle)
 * and one line; and their numbers in the newest picture, worked out on another thread. */
#pragma once

#include "model/shape.h"
#include "model/slice-model.h"

G_BEGIN_DECLS

typedef enum {
  LAM_MEASURE_REGION,
  LAM_MEASURE_LINE,
} LamMeasureSlot;
#define LAM_MEASURE_SLOTS 2

typedef struct {
  LamPlane plane;
  LamShape line;
  double length; /* in unit */
  char unit[8], value_unit[16];
  int n;
  float *values;
} LamProfile;

#define LAM_TYPE_MEASURE (lam_measure_get_type ())
G_DECLARE_FINAL_TYPE (LamMeasure, lam_measure, LAM, MEASURE, GObject)

/* Signals: "shape-changed" (int plane, int slot): draw again; "stats-changed" and "profile-changed": new numbers of the shown
 * plane, or none any more. */
LamMeasure *lam_measure_new (LamSliceModel *model);
LamSliceModel *lam_measure_get_model (LamMeasure *self);

/* NULL or one of kind NONE removes. */
void lam_measure_set_shape (LamMeasure *self, LamPlane plane, LamMeasureSlot slot, const LamShape *shape);
/* Of kind NONE where there is none. */
const LamShape *lam_measure_get_shape (LamMeasure *self, LamPlane plane, LamMeasureSlot slot);
/* The one that was drawn or moved last, for keys; FALSE = there is none in @plane. */
gboolean lam_measure_get_chosen (LamMeasure *self, LamPlane plane, LamMeasureSlot *slot);

/* Of the shown plane; NULL = no region or line there, or not worked out yet. Valid until the next signal. */
const LamShapeStats *lam_measure_get_stats (LamMeasure *self);
const LamProfile *lam_measure_get_profile (LamMeasure *self);

/* "Circle", "Rectangle"; its size: "r 24 px", "0.40 × 0.30 mm"; a number of it with sensible digits. */
const char *lam_measure_region_name (LamMeasure *self);
char *lam_measure_region_size (LamMeasure *self);
char *lam_measure_format (LamMeasure *self, double value);
/* "Circle, r 24 px: mean 0.00721 1/px, ..." NULL = none. */
char *lam_measure_describe (LamMeasure *self);

gboolean lam_measure_is_settled (LamMeasure *self);

G_END_DECLS
