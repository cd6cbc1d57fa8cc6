/* dual.h: a number with its derivative by one quantity. */
#pragma once

#include <math.h>

typedef struct {
  double v, d;
} LamDual;

static inline LamDual
dual (double v)
{
  return (LamDual){v, 0};
}
static inline LamDual
dual_add (LamDual a, LamDual b)
{
  return (LamDual){a.v + b.v, a.d + b.d};
}
static inline LamDual
dual_sub (LamDual a, LamDual b)
{
  return (LamDual){a.v - b.v, a.d - b.d};
}
static inline LamDual
dual_mul (LamDual a, LamDual b)
{
  return (LamDual){a.v * b.v, a.d * b.v + a.v * b.d};
}
static inline LamDual
dual_scale (double s, LamDual a)
{
  return (LamDual){s * a.v, s * a.d};
}
static inline LamDual
dual_div (LamDual a, LamDual b)
{
  return (LamDual){a.v / b.v, (a.d - a.v / b.v * b.d) / b.v};
}
static inline LamDual
dual_neg (LamDual a)
{
  return (LamDual){-a.v, -a.d};
}
static inline LamDual
dual_exp (LamDual a)
{
  double e = exp (a.v);
  return (LamDual){e, e * a.d};
}
static inline LamDual
dual_log (LamDual a)
{
  return (LamDual){log (a.v), a.d / a.v};
}
static inline LamDual
dual_sin (LamDual a)
{
  return (LamDual){sin (a.v), cos (a.v) * a.d};
}
static inline LamDual
dual_cos (LamDual a)
{
  return (LamDual){cos (a.v), -sin (a.v) * a.d};
}
static inline LamDual
dual_abs (LamDual a)
{
  return a.v < 0 ? dual_neg (a) : a;
}
/* exp (-t / T): 1 where T is infinite, and where both are 0. */
static inline LamDual
dual_decay (LamDual t, LamDual time)
{
  if (t.v == 0 && time.v == 0)
    return dual (1);
  if (isinf (time.v))
    return dual (1);
  return dual_exp (dual_neg (dual_div (t, time)));
}
/* a^n */
static inline LamDual
dual_power (LamDual a, int n)
{
  double p = pow (a.v, n - 1);
  return n == 0 ? dual (1) : (LamDual){p * a.v, n * p * a.d};
}
