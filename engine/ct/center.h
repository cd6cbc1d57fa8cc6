/* center.h: where the rotation axis falls on the detector, found from the data.
 *
 * Half a turn of parallel beam: the energy of the mirrored and joined sinogram outside its double wedge (Vo et al.,
 * Opt. Express 22(16):19078, 2014), for all positions at once; for objects larger than the detector, the seam alone.
 * More than half a turn: opposite views. Cone beam: conjugate rays of the mid-plane. Less than half a turn: the
 * centre of mass. No view need lie exactly opposite another. */
#pragma once

#include <glib.h>

#include "ct/geometry.h"

G_BEGIN_DECLS

typedef struct {
  double channel;     /* index from 0, as lam_geometry_center () */
  double width;       /* standard error in channels, from leaving out parts of the data; 0 when nothing was found */
  double confidence;  /* 0: a guess, 1: a clear and single dip of the curve */
  const char *method; /* static text: what was compared */
  const char *note;   /* static text: why the confidence is low, or NULL */
  int64_t n;          /* the curve it was picked from: n positions (ascending) and their mismatch, 1 = unrelated */
  double *curve_channel, *curve_score; /* owned; lam_center_clear () */
} LamCenter;

/* @sinogram: -log transmission [view][row][channel] with the kind, angles, pitches and distances of @g; its offset is
 * not used. A few rows are looked at. Data that cannot tell (empty, constant, too few views) is no error: it gives
 * the detector's middle with confidence 0 and a note. */
gboolean lam_center_find (const LamGeometry *g, const float *sinogram, LamCenter *out, GError **error);
void lam_center_clear (LamCenter *center);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LamCenter, lam_center_clear)

G_END_DECLS
