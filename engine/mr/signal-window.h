/* signal-window.h: a long signal between two times, as few points as show it. */
#pragma once

#include <glib.h>

#include "core/types.h"

G_BEGIN_DECLS

typedef enum { LAM_PART_MAGNITUDE, LAM_PART_PHASE, LAM_PART_REAL, LAM_PART_IMAGINARY } LamSignalPart;

/* Degrees for the phase; NAN where there is no signal to have one. */
double lam_signal_part (LamSignalPart part, double re, double im);

/* The samples of all voxels in [@t0, @t1]: each of them, or the extremes of each of @columns. @ps [@n] ascends, @re and @im
 * are [voxels][@n]. @x (s) and @y [voxels] have room for lam_signal_window_room () each. A y of NAN parts what is not to be
 * joined: readouts that stand apart. Returns how many points there are, the same for all. */
int64_t lam_signal_window (const int64_t *ps, const float *re, const float *im, int64_t voxels, int64_t n,
                           LamSignalPart part, int64_t t0, int64_t t1, int64_t columns, double *x, double *y);
static inline int64_t
lam_signal_window_room (int64_t columns)
{
  return 3 * columns + 16;
}

G_END_DECLS
