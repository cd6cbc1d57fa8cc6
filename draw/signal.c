#include "config.h"

#include "draw/signal.h"

#include <math.h>

#define MOST_TICKS 8

static void
find_range (const LamSignalCurve *curves, int n, double *low, double *high)
{
  *low = INFINITY;
  *high = -INFINITY;
  for (int c = 0; c < n; c++)
    for (int64_t i = 0; i < curves[c].n; i++)
      if (isfinite (curves[c].y[i])) {
        *low = fmin (*low, curves[c].y[i]);
        *high = fmax (*high, curves[c].y[i]);
      }
  if (!(*low <= *high))
    *low = *high = 0;
  *low = fmin (*low, 0);
  if (*high - *low < 1e-12)
    *high = *low + 1;
  *high += 0.05 * (*high - *low);
}

void
lam_signal_draw (cairo_t *cr, const LamCanvas *canvas, double left, double top, double right, double bottom, double t0,
                 double t1, const char *title, const LamSignalCurve *curves, int n)
{
  double low, high, ticks[MOST_TICKS + 1], step = 1;
  find_range (curves, n, &low, &high);
  int n_ticks = lam_canvas_ticks (low, high, CLAMP ((int) ((bottom - top) / 36), 1, MOST_TICKS), ticks, &step);
  for (int i = 0; i < n_ticks; i++) {
    double y = bottom - (ticks[i] - low) / (high - low) * (bottom - top);
    g_autofree char *text = g_strdup_printf ("%g", fabs (ticks[i]) < 1e-9 * step ? 0.0 : ticks[i]);
    lam_canvas_ink (canvas, cr, LAM_INK_GRID);
    lam_canvas_across (cr, left, right, y);
    cairo_fill (cr);
    lam_canvas_write (canvas, cr, text, left - 8, y, 1, LAM_INK_DIM);
  }
  lam_canvas_write (canvas, cr, title, 8, top - 12, 0, LAM_INK_TEXT);
  cairo_save (cr);
  cairo_rectangle (cr, left - 1, top - 2, right - left + 2, bottom - top + 4);
  cairo_clip (cr);
  cairo_set_line_width (cr, 1.5);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND); /* lines of no length are points */
  for (int c = 0; c < n; c++) {
    gboolean down = FALSE;
    cairo_set_source_rgb (cr, curves[c].ink[0], curves[c].ink[1], curves[c].ink[2]);
    for (int64_t i = 0; i < curves[c].n; i++) {
      double x = left + (curves[c].x[i] - t0) / (t1 - t0) * (right - left);
      double y = bottom - (curves[c].y[i] - low) / (high - low) * (bottom - top);
      if (!isfinite (y))
        down = FALSE;
      else if (down)
        cairo_line_to (cr, x, y);
      else {
        cairo_move_to (cr, x, y);
        down = TRUE;
      }
    }
    cairo_stroke (cr);
  }
  cairo_restore (cr);
  double x = right;
  for (int c = n - 1; c >= 0; c--) {
    double width = lam_canvas_width (canvas, cr, curves[c].name);
    lam_canvas_write (canvas, cr, curves[c].name, x, top - 12, 1, LAM_INK_DIM);
    cairo_set_source_rgb (cr, curves[c].ink[0], curves[c].ink[1], curves[c].ink[2]);
    cairo_rectangle (cr, x - width - 18, top - 14, 12, 3);
    cairo_fill (cr);
    x -= width + 32;
  }
}
