/* optimise.h: a bounded, constrained minimum by NLopt, with the best point kept whatever happens. */
#pragma once

#include <glib.h>

#include "core/control.h"

G_BEGIN_DECLS

/* The value at @x; @gradient (NULL: not wanted) gets the derivatives. NAN ends the search with what is best so far. */
typedef double (*LamCost) (const double *x, double *gradient, void *data);
/* After each point that is better than all before. */
typedef void (*LamBetter) (const double *x, double cost, int evaluations, void *data);

typedef struct {
  int n;
  const double *low, *high; /* [n] */
  LamCost cost;
  LamCost limit;    /* must end at most 0; NULL: none */
  LamBetter better; /* may be NULL */
  void *data;
  int most;         /* evaluations; 0: 300 */
  double tolerance; /* relative change of the cost; 0: 1e-7 */
} LamOptimisation;

/* @x: the start, then the best point; @cost and @evaluations may be NULL. A cancelled search keeps its best point in @x and
 * returns TRUE when it found one, as does one that is stopped. FALSE with what went wrong at the start. */
gboolean lam_optimise (const LamOptimisation *o, double *x, double *cost, int *evaluations, LamControl *control,
                       GError **error);

G_END_DECLS
