#include "config.h"

#include "draw/map-picture.h"

#include <math.h>

#define EDGE 12
#define TOP 34 /* the title stands in it */
#define GAP 16
#define BAR 14
#define NUMBERS 70    /* beside the bar */
#define LEAST_WIDE 96 /* of the plane, so that the title has room */
#define LEAST_HIGH 120
#define MOST_TICKS 9

static void
plane_size (const LamMapPicture *p, double *width, double *height)
{
  *width = rint ((double) p->width * p->across);
  *height = rint ((double) p->height * p->down);
}

void
lam_map_picture_size (const LamMapPicture *p, int64_t *width, int64_t *height)
{
  double w, h;
  plane_size (p, &w, &h);
  *width = (int64_t) fmax (w, LEAST_WIDE) + 2 * EDGE + GAP + BAR + NUMBERS;
  *height = (int64_t) fmax (h, LEAST_HIGH) + TOP + EDGE + 6;
}

static void
ink_at (cairo_t *cr, const LamMapPicture *p, double t)
{
  const guint8 *c = p->colours + 4 * (int) lrint (255 * CLAMP (t, 0, 1));
  cairo_set_source_rgb (cr, c[0] / 255.0, c[1] / 255.0, c[2] / 255.0);
}

/* Light, so that what lies outside the mask stays in the background. */
static void
hatch (cairo_t *cr, double x, double y, double w, double h)
{
  cairo_save (cr);
  cairo_rectangle (cr, x, y, w, h);
  cairo_clip_preserve (cr);
  cairo_set_source_rgb (cr, 0.96, 0.96, 0.95);
  cairo_fill (cr);
  cairo_set_source_rgb (cr, 0.84, 0.83, 0.81);
  cairo_set_line_width (cr, 1);
  for (double d = 0; d < w + h; d += 6) {
    cairo_move_to (cr, x + d, y);
    cairo_line_to (cr, x + d - h, y + h);
  }
  cairo_stroke (cr);
  cairo_restore (cr);
}

static void
draw_plane (cairo_t *cr, const LamMapPicture *p, double left, double top)
{
  double w, h;
  plane_size (p, &w, &h);
  hatch (cr, left, top, w, h);
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  for (int64_t r = 0; r < p->height; r++)
    for (int64_t c = 0; c < p->width; c++) {
      double v = (double) p->values[r * p->width + c];
      if (!isfinite (v))
        continue;
      double x0 = rint ((double) c * p->across), x1 = rint ((double) (c + 1) * p->across),
             y0 = rint ((double) r * p->down), y1 = rint ((double) (r + 1) * p->down);
      ink_at (cr, p, (v - p->low) / (p->high - p->low));
      cairo_rectangle (cr, left + x0, top + y0, x1 - x0, y1 - y0);
      cairo_fill (cr);
    }
  cairo_set_antialias (cr, CAIRO_ANTIALIAS_DEFAULT);
}

static void
draw_bar (cairo_t *cr, const LamCanvas *canvas, const LamMapPicture *p, double x, double top, double bottom)
{
  double ticks[MOST_TICKS + 1], step = 1;
  int most = CLAMP ((int) ((bottom - top) / 40), 2, MOST_TICKS);
  int n = lam_canvas_ticks (p->low, p->high, most, ticks, &step);
  for (double y = top; y < bottom; y++) {
    ink_at (cr, p, (bottom - y - 0.5) / (bottom - top));
    cairo_rectangle (cr, x, y, BAR, 1);
    cairo_fill (cr);
  }
  lam_canvas_ink (canvas, cr, LAM_INK_DIM); /* an end of it may be as white as the paper */
  cairo_set_line_width (cr, 1);
  cairo_rectangle (cr, x - 0.5, top - 0.5, BAR + 1, bottom - top + 1);
  cairo_stroke (cr);
  for (int i = 0; i < n; i++) {
    double y = floor (bottom - (ticks[i] - p->low) / (p->high - p->low) * (bottom - top));
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (text, sizeof text, "%.6g", fabs (ticks[i]) < 1e-9 * step ? 0.0 : ticks[i]);
    lam_canvas_ink (canvas, cr, LAM_INK_DIM);
    lam_canvas_across (cr, x + BAR, x + BAR + 4, fmin (y, bottom - 1));
    cairo_fill (cr);
    lam_canvas_write (canvas, cr, text, x + BAR + 8, y, 0, LAM_INK_DIM);
  }
}

void
lam_map_picture_draw (cairo_t *cr, const LamCanvas *canvas, const LamMapPicture *p)
{
  double w, h;
  plane_size (p, &w, &h);
  double bar = EDGE + fmax (w, LEAST_WIDE) + GAP, bottom = TOP + fmax (h, LEAST_HIGH);
  lam_canvas_write (canvas, cr, p->title, EDGE, TOP / 2.0, 0, LAM_INK_TEXT);
  if (p->unit)
    lam_canvas_write (canvas, cr, p->unit, bar, TOP / 2.0, 0, LAM_INK_TEXT);
  draw_plane (cr, p, EDGE, TOP);
  draw_bar (cr, canvas, p, bar, TOP, bottom);
}
