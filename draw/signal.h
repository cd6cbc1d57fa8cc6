/* signal.h: curves of signals over time, drawn below a timeline: the same axis of time. */
#pragma once

#include "draw/canvas.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;
  double ink[3];
  const double *x, *y; /* [n] s; a y of NAN parts */
  int64_t n;
} LamSignalCurve;

/* In (@left, @top) to (@right, @bottom), with values at the left and names in the corner. */
void lam_signal_draw (cairo_t *cr, const LamCanvas *canvas, double left, double top, double right, double bottom,
                      double t0, double t1, const char *title, const LamSignalCurve *curves, int n);

G_END_DECLS
