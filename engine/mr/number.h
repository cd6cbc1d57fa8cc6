/* number.h: a number of a sequence that remembers how it depends on the protocol: value = constant + sum of scale[i] x[index[i]].
 *
 * A template computes its times, flips and phases with these, so that a changed protocol value can be followed
 * by evaluating the sums again (program.h), and so that derivatives by protocol values are the scales themselves. What is not
 * such a sum (a product of two values, say) is marked; a layout with one is packed anew instead of being followed. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

#define LAM_NUMBER_TERMS 6

typedef struct {
  double value; /* now: radians, or seconds, or without a unit */
  double constant;
  int32_t index[LAM_NUMBER_TERMS];
  double scale[LAM_NUMBER_TERMS];
  int16_t terms;
  bool bent; /* depends on the protocol in a way that the sum does not say */
} LamNumber;

static inline LamNumber
lam_number (double constant)
{
  return (LamNumber){.value = constant, .constant = constant};
}

/* scale * x[index], of which x is @value now. */
static inline LamNumber
lam_number_of (int index, double scale, double value)
{
  return (LamNumber){.value = scale * value, .index = {index}, .scale = {scale}, .terms = 1};
}

/* a + s b */
LamNumber lam_number_add_scaled (LamNumber a, double s, LamNumber b);

static inline LamNumber
lam_number_add (LamNumber a, LamNumber b)
{
  return lam_number_add_scaled (a, 1, b);
}

static inline LamNumber
lam_number_sub (LamNumber a, LamNumber b)
{
  return lam_number_add_scaled (a, -1, b);
}

static inline LamNumber
lam_number_scale (double s, LamNumber a)
{
  return lam_number_add_scaled (lam_number (0), s, a);
}

/* A number computed from protocol values in some other way: kept as it is, and marked. */
static inline LamNumber
lam_number_bent (double value)
{
  return (LamNumber){.value = value, .constant = value, .bent = true};
}

/* The sum at @x. */
static inline double
lam_number_at (const LamNumber *a, const double *x)
{
  double v = a->constant;
  for (int i = 0; i < a->terms; i++)
    v += a->scale[i] * x[a->index[i]];
  return v;
}

/* d value / d x[index] */
static inline double
lam_number_slope (const LamNumber *a, int index)
{
  for (int i = 0; i < a->terms; i++)
    if (a->index[i] == index)
      return a->scale[i];
  return 0;
}

G_END_DECLS
