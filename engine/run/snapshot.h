/* snapshot.h: an immutable picture of one plane of a volume, made by a solver and read by anyone.
 *
 * Counted; nobody writes after lam_snapshot_new_take () returned. The generation says which run, data and parameters
 * it belongs to: a reader compares generations, never pointers. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "ct/geometry.h"

G_BEGIN_DECLS

/* A live slice: back projection of one slice, no result. */
#define LAM_ITERATION_LIVE (-2)

typedef enum {
  LAM_PLANE_SLICE,  /* rows x columns at one slice */
  LAM_PLANE_ROW,    /* slices x columns at one row */
  LAM_PLANE_COLUMN, /* slices x rows at one column */
  /* Not of the volume but of the scan: */
  LAM_PLANE_VIEW,     /* detector rows x channels of one view */
  LAM_PLANE_SINOGRAM, /* views x channels of one detector row */
} LamPlane;

/* Of the volume: those that a job publishes. */
#define LAM_PLANES 3

typedef struct {
  uint64_t generation;
  int64_t
      iteration; /* iterations finished when it was taken; 0 = start image; -1 = not iterative; LAM_ITERATION_LIVE */
  LamPlane plane;
  int64_t index;         /* which slice, row or column */
  int64_t count;         /* how many there are of them */
  int64_t width, height; /* pixels; columns run with width */
  double pitch_x, pitch_y;
  char length_unit[8]; /* of the pitches: "mm" or "px" */
  char value_unit[16]; /* of the pixels: "1/mm", "1/px" */
  float low, high;     /* smallest and largest finite value; low > high when there is none */
  int64_t bad;         /* non-finite pixels */
} LamSnapshotInfo;

typedef struct _LamSnapshot LamSnapshot;

/* A pixel that has no value, and why is known: a NaN that carries @why, 1 to 127. @bad: something is wrong there; else nothing is
 * missed, as outside of a mask. */
float lam_absent (int why, gboolean bad);
/* 0: a number, or a NaN that says nothing. */
int lam_absent_why (float value);
/* Absent, and nothing is wrong. */
gboolean lam_is_quiet (float value);
#define LAM_ABSENT_BAD 0x80u /* in a NaN's bits, beside why */

/* Fills count, width, height, pitches and units for info->plane of the volume, or the scan, of @g. A sinogram's views are as
 * far apart as its channels. */
void lam_snapshot_describe (LamSnapshotInfo *info, const LamGeometry *g);

/* Takes @pixels (from lam_alloc (), height x width, row-major) and fills in low, high and bad. */
LamSnapshot *lam_snapshot_new_take (const LamSnapshotInfo *info, float *pixels);
LamSnapshot *lam_snapshot_ref (LamSnapshot *s);
void lam_snapshot_unref (LamSnapshot *s);
const LamSnapshotInfo *lam_snapshot_info (const LamSnapshot *s);
const float *lam_snapshot_pixels (const LamSnapshot *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSnapshot, lam_snapshot_unref)

/* Means of squares of pixels, so that no side is much longer than @size; @s itself where it is small, or memory is short. A
 * picture made small by leaving pixels out shows edges that are not there. A new reference. */
LamSnapshot *lam_snapshot_shrink (LamSnapshot *s, int64_t size);
/* The @fraction quantile (0..1) pair of the finite pixels, for automatic levels; a constant picture gives a window of
 * non-zero width about its value. FALSE when no pixel is finite. */
gboolean lam_snapshot_quantiles (const LamSnapshot *s, double lower, double upper, float *low, float *high);
/* Counts of finite pixels in @bins equal bins of [low, high]. */
void lam_snapshot_histogram (const LamSnapshot *s, float low, float high, int bins, int64_t *counts);

G_END_DECLS
