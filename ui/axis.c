#include "config.h"

#include "axis.h"

#include <math.h>

struct _LamAxis {
  GObject parent_instance;
  char *label;
  gboolean logarithmic, integer;
  double min, max;
};

G_DEFINE_FINAL_TYPE (LamAxis, lam_axis, G_TYPE_OBJECT)

const char *
lam_axis_get_label (LamAxis *self)
{
  return self->label;
}

gboolean
lam_axis_get_logarithmic (LamAxis *self)
{
  return self->logarithmic;
}

void
lam_axis_set_integer (LamAxis *self, gboolean integer)
{
  self->integer = integer;
}

void
lam_axis_reset (LamAxis *self)
{
  self->min = INFINITY;
  self->max = -INFINITY;
}

void
lam_axis_include (LamAxis *self, double value)
{
  if (!isfinite (value) || (self->logarithmic && value <= 0))
    return;
  self->min = fmin (self->min, value);
  self->max = fmax (self->max, value);
}

void
lam_axis_finish (LamAxis *self)
{
  if (self->min > self->max) {
    self->min = self->logarithmic ? 0.1 : 0;
    self->max = self->logarithmic ? 10 : 1;
  }
  if (self->logarithmic) {
    double pad = fmax (log10 (self->max / self->min) * 0.08, 0.1);
    self->min *= pow (10, -pad);
    self->max *= pow (10, pad);
  } else if (self->max == self->min) {
    double pad = fmax (fabs (self->min) * 0.1, 0.5);
    self->min -= self->integer ? 0 : pad;
    self->max += self->integer ? 1 : pad;
  } else if (!self->integer) {
    double pad = (self->max - self->min) * 0.08;
    self->min -= pad;
    self->max += pad;
  }
}

void
lam_axis_get_range (LamAxis *self, double *min, double *max)
{
  *min = self->min;
  *max = self->max;
}

double
lam_axis_normalise (LamAxis *self, double value)
{
  if (!self->logarithmic)
    return (value - self->min) / (self->max - self->min);
  return value > 0 ? log (value / self->min) / log (self->max / self->min) : NAN;
}

double
lam_axis_value (LamAxis *self, double position)
{
  if (!self->logarithmic)
    return self->min + position * (self->max - self->min);
  return self->min * pow (self->max / self->min, position);
}

static int
log_ticks (LamAxis *self, double *ticks, int max)
{
  int n = 0, first = (int) ceil (log10 (self->min)), last = (int) floor (log10 (self->max));
  int stride = MAX (1, (last - first + max) / max);
  for (int e = first; e <= last && n < max; e += stride)
    ticks[n++] = pow (10, e);
  /* Less than two decades: 2 and 5 as well. */
  if (n >= 2)
    return n;
  n = 0;
  for (int e = first - 1; e <= last; e++)
    for (int k = 0; k < 3; k++) {
      double tick = pow (10, e) * (int[]){1, 2, 5}[k];
      if (tick >= self->min && tick <= self->max && n < max)
        ticks[n++] = tick;
    }
  return n;
}

int
lam_axis_ticks (LamAxis *self, double *ticks, int max)
{
  g_return_val_if_fail (LAM_IS_AXIS (self) && max > 0, 0);
  if (self->logarithmic)
    return log_ticks (self, ticks, max);
  double step = (self->max - self->min) / max, power = pow (10, floor (log10 (step)));
  step = power * (step <= power ? 1 : step <= 2 * power ? 2 : step <= 5 * power ? 5 : 10);
  if (self->integer)
    step = fmax (step, 1);
  /* One tick alone is no scale. */
  double first = ceil (self->min / step - 1e-9), last = floor (self->max / step + 1e-9);
  if (last - first < 1 && !self->integer) {
    step /= 2;
    first = ceil (self->min / step - 1e-9);
    last = floor (self->max / step + 1e-9);
  }
  int n = 0;
  for (double k = first; k <= last && n < max; k++)
    ticks[n++] = k * step;
  return n;
}

char *
lam_axis_format_tick (LamAxis *self, double tick)
{
  double size = fabs (tick);
  if (size == 0)
    return g_strdup ("0");
  g_autofree char *text = size >= 1e6 || size < 1e-4 ? g_strdup_printf ("%.1e", size) : g_strdup_printf ("%.6g", size);
  return tick < 0 ? g_strconcat ("−", text, NULL) : g_steal_pointer (&text);
}

static void
lam_axis_finalize (GObject *object)
{
  g_free (LAM_AXIS (object)->label);
  G_OBJECT_CLASS (lam_axis_parent_class)->finalize (object);
}

static void
lam_axis_class_init (LamAxisClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_axis_finalize;
}

static void
lam_axis_init (LamAxis *self)
{
  self->max = 1;
}

LamAxis *
lam_axis_new (const char *label, gboolean logarithmic)
{
  LamAxis *self = g_object_new (LAM_TYPE_AXIS, NULL);
  self->label = g_strdup (label);
  self->logarithmic = logarithmic;
  if (logarithmic) {
    self->min = 0.1;
    self->max = 10;
  }
  return self;
}
