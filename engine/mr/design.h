/* design.h: protocols that are best for something: an objective over tissues, minimised over values of the protocol within
 * bounds, with a limit on pulse energy and on total time, and smoothness. */
#pragma once

#include <glib.h>

#include "mr/model.h"
#include "mr/optimise.h"

G_BEGIN_DECLS

typedef enum {
  LAM_OBJECTIVE_BOUND,    /* mean over tissues and named quantities of sd / value (Cramér–Rao, estimated together) */
  LAM_OBJECTIVE_SIGNAL,   /* minus the mean magnitude of all samples */
  LAM_OBJECTIVE_CONTRAST, /* minus the mean of what the second tissue is brighter than the first */
} LamObjective;

typedef struct {
  const char *field; /* all values of it */
  double low, high;  /* public units */
} LamDesignVariable;

typedef struct {
  LamObjective objective;
  const char *const *quantities; /* bounds of these, estimated together, until NULL: "T1", "T2", "M0" */
  const char *const *counted;    /* ... of which these count; NULL: all */
  double noise;
  const LamDesignVariable *variables;
  int n_variables;
  double smoothness; /* weight of the mean squared step between neighbours, relative to the field's range */
  double energy;     /* most of sum flip^2, relative to the start; 0: no limit */
  double longest;    /* most of the total time, ms; 0: no limit */
  int most;          /* evaluations; 0: 300 */
} LamDesign;

typedef struct {
  double start, end; /* of the objective, smoothness included */
  double energy;     /* of the end, relative to the start */
  int evaluations;
} LamDesignReport;

/* What is wrong with the question itself: names, bounds, too few tissues; the rest shows when it is played. */
gboolean lam_design_check (const LamModel *model, const LamTissues *tissues, const LamDesign *design, GError **error);

/* @model's protocol is the start, and then the best that was found. @better (may be NULL) hears of each better one: it may read
 * the model. Stop and cancel keep the best. */
typedef void (*LamDesignBetter) (LamModel *model, double cost, int evaluations, void *data);
gboolean lam_design (LamModel *model, const LamTissues *tissues, const LamDesign *design, LamDevices *devices,
                     LamDesignBetter better, void *data, LamControl *control, LamDesignReport *report, GError **error);

/* The objective without smoothness at @model's protocol, and (may be NULL) its derivatives by every protocol value of the
 * sequence, each for one public unit. */
gboolean lam_design_objective (LamModel *model, const LamTissues *tissues, const LamDesign *design, LamDevices *devices,
                               double *cost, double *gradient, GError **error);

G_END_DECLS
