/* axis.h: one scale of a chart: a range, linear or logarithmic, and its ticks. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#define LAM_TYPE_AXIS (lam_axis_get_type ())
G_DECLARE_FINAL_TYPE (LamAxis, lam_axis, LAM, AXIS, GObject)

LamAxis *lam_axis_new (const char *label, gboolean logarithmic);
const char *lam_axis_get_label (LamAxis *self);
gboolean lam_axis_get_logarithmic (LamAxis *self);
/* The axis shows whole numbers (iterations): no ticks between them. */
void lam_axis_set_integer (LamAxis *self, gboolean integer);

/* The range is fitted to what layers ask for: reset, include each, then finish (pads it and avoids empty ranges). */
void lam_axis_reset (LamAxis *self);
void lam_axis_include (LamAxis *self, double value); /* not finite, or not positive on a log axis: ignored */
void lam_axis_finish (LamAxis *self);
void lam_axis_get_range (LamAxis *self, double *min, double *max);

/* 0 at the lower end, 1 at the upper; NaN where the axis has no place for it. */
double lam_axis_normalise (LamAxis *self, double value);
double lam_axis_value (LamAxis *self, double position);

/* At most @max ticks, ascending; returns how many. */
int lam_axis_ticks (LamAxis *self, double *ticks, int max);
char *lam_axis_format_tick (LamAxis *self, double tick);

G_END_DECLS
