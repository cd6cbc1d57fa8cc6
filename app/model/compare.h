/* compare.h: two results of a session, or one and the live slice, beside each other, and their difference A − B.
 *
 * Plane, index, level, colours and crosshair of A and B are one; the difference has a level of its own, about 0. Pictures are
 * made on another thread, and only while someone looks. Main thread. */
#pragma once

#include "model/session.h"

G_BEGIN_DECLS

typedef enum {
  LAM_COMPARE_A,
  LAM_COMPARE_B,
  LAM_COMPARE_DIFFERENCE,
} LamComparePart;
#define LAM_COMPARE_PARTS 3

/* Of the shown plane, over pixels that are finite in both. */
typedef struct {
  int64_t n;
  double mean, rms;
  double largest; /* the difference that is farthest from 0, with its sign */
  int64_t row, column;
} LamCompareStats;

/* Something to compare. Property: name ("2: VCD, 15 iterations, COR 124.10"). */
#define LAM_TYPE_COMPARE_SOURCE (lam_compare_source_get_type ())
G_DECLARE_FINAL_TYPE (LamCompareSource, lam_compare_source, LAM, COMPARE_SOURCE, GObject)
const char *lam_compare_source_get_name (LamCompareSource *self);

#define LAM_TYPE_COMPARE (lam_compare_get_type ())
G_DECLARE_FINAL_TYPE (LamCompare, lam_compare, LAM, COMPARE, GObject)

/* Properties: problem (why there is nothing to see, NULL = there is), stats (pointer), source-a, source-b. */
LamCompare *lam_compare_new (LamSession *session);
LamSliceModel *lam_compare_get_slices (LamCompare *self, LamComparePart part);
/* Of LamCompareSource: the live slice first, then the results, oldest first. */
GListModel *lam_compare_get_sources (LamCompare *self);
/* @part: A or B. Until one is chosen, A and B are the two newest. */
void lam_compare_set_source (LamCompare *self, LamComparePart part, LamCompareSource *source);
LamCompareSource *lam_compare_get_source (LamCompare *self, LamComparePart part);
void lam_compare_swap (LamCompare *self);
void lam_compare_set_active (LamCompare *self, gboolean active); /* someone looks */

const char *lam_compare_get_problem (LamCompare *self);
const LamCompareStats *lam_compare_get_stats (LamCompare *self); /* NULL = none yet */
/* "rms 0.00012 1/px · largest −0.0034 1/px at row 12 col 33 · mean ..."; NULL = none. */
char *lam_compare_describe (LamCompare *self);
gboolean lam_compare_is_settled (LamCompare *self);

G_END_DECLS
