/* sweep-private.h: the sharpness of a slice, kept in parts so that some can be left out. */
#pragma once

#include "run/sweep.h"

G_BEGIN_DECLS

enum { SWEEP_PARTS = 8, SWEEP_BINS = 64 };

typedef struct {
  gboolean entropy;
  gboolean relative; /* energy of the gradient by that of the values */
  float low, high;   /* of the histogram: the first slice's */
  gboolean has_range;
} SweepScore;

typedef struct {
  double value;
  double count[SWEEP_PARTS];           /* pixels */
  double sum[SWEEP_PARTS][SWEEP_BINS]; /* histogram, or energy of values and gradient in the first two */
} SweepPoint;

/* @scale: what the pixels are multiplied by to be without a length. */
gboolean sweep_score_add (SweepScore *score, const LamSnapshot *slice, double scale, SweepPoint *point, GError **error);
/* Of all parts but @without (-1: all). */
double sweep_score (const SweepScore *score, const SweepPoint *point, int without);

/* Fills best, width, confidence, note and sharpest of @result from @points, n of them in any order; the first count are the
 * result's steps, @reach apart. @unit: what is one of the parameter, for the confidence (a channel). */
void sweep_judge (const SweepScore *score, const SweepPoint *points, int n, double reach, double unit,
                  LamSweepResult *result);

G_END_DECLS
