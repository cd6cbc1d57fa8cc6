#include "config.h"

#include "draw/canvas.h"

#include <math.h>

LamCanvas
lam_canvas_paper (void)
{
  return (LamCanvas){.ink = {[LAM_INK_PAPER] = {1, 1, 1, 1},
                             [LAM_INK_TEXT] = {0.12, 0.12, 0.12, 1},
                             [LAM_INK_DIM] = {0.37, 0.36, 0.39, 1},
                             [LAM_INK_GRID] = {0.84, 0.83, 0.81, 1},
                             [LAM_INK_RF] = {0.11, 0.44, 0.85, 1},
                             [LAM_INK_GRADIENT] = {0.78, 0.27, 0, 1},
                             [LAM_INK_ADC] = {0.11, 0.52, 0.33, 1},
                             [LAM_INK_RULER] = {0.75, 0.11, 0.16, 1}},
                     .font = 11};
}

void
lam_canvas_faint (const LamCanvas *canvas, cairo_t *cr, LamInk ink, double alpha)
{
  const double *c = canvas->ink[ink];
  cairo_set_source_rgba (cr, c[0], c[1], c[2], c[3] * alpha);
}

void
lam_canvas_ink (const LamCanvas *canvas, cairo_t *cr, LamInk ink)
{
  lam_canvas_faint (canvas, cr, ink, 1);
}

static void
choose_font (const LamCanvas *canvas, cairo_t *cr)
{
  cairo_select_font_face (cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, canvas->font);
}

double
lam_canvas_width (const LamCanvas *canvas, cairo_t *cr, const char *text)
{
  cairo_text_extents_t e;
  if (canvas->write)
    return 0.56 * canvas->font * (double) g_utf8_strlen (text, -1);
  choose_font (canvas, cr);
  cairo_text_extents (cr, text, &e);
  return e.x_advance;
}

void
lam_canvas_write (const LamCanvas *canvas, cairo_t *cr, const char *text, double x, double y, double align, LamInk ink)
{
  cairo_text_extents_t e;
  cairo_font_extents_t f;
  if (canvas->write) {
    canvas->write (canvas, cr, text, x, y, align, ink);
    return;
  }
  choose_font (canvas, cr);
  cairo_text_extents (cr, text, &e);
  cairo_font_extents (cr, &f);
  lam_canvas_ink (canvas, cr, ink);
  cairo_move_to (cr, floor (x - align * e.x_advance), floor (y + (f.ascent - f.descent) / 2));
  cairo_show_text (cr, text);
  cairo_new_path (cr);
}

/* Boxes on whole pixels are filled many times faster than lines are stroked. */
void
lam_canvas_across (cairo_t *cr, double x0, double x1, double y)
{
  cairo_rectangle (cr, floor (x0), floor (y), floor (x1) - floor (x0), 1);
}

void
lam_canvas_down (cairo_t *cr, double x, double y0, double y1, double on, double off)
{
  if (off <= 0)
    cairo_rectangle (cr, floor (x), floor (y0), 1, floor (y1) - floor (y0));
  else
    for (double y = floor (y0); y < y1; y += on + off)
      cairo_rectangle (cr, floor (x), y, 1, fmin (on, y1 - y));
}

int
lam_canvas_ticks (double low, double high, int most, double *ticks, double *step)
{
  double rough = (high - low) / most, unit = pow (10, floor (log10 (rough)));
  int n = 0;
  if (!(high > low) || !isfinite (rough) || rough <= 0 || most < 1)
    return 0;
  *step = rough <= unit ? unit : rough <= 2 * unit ? 2 * unit : rough <= 5 * unit ? 5 * unit : 10 * unit;
  for (double i = ceil (low / *step - 1e-9); i * *step <= high + 1e-9 * *step && n < most + 1; i++)
    ticks[n++] = i == 0 ? 0 : i * *step; /* not -0 */
  return n;
}

char *
lam_canvas_time (double seconds, double span, double resolution)
{
  static const struct {
    const char *name;
    double unit;
  } units[] = {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}};
  int u = span >= 0.5 ? 0 : span >= 0.5e-3 ? 1 : 2;
  int digits = (int) ceil (-log10 (fmax (resolution, 1e-12) / units[u].unit) - 1e-9);
  return g_strdup_printf ("%.*f %s", CLAMP (digits, 0, 9), seconds / units[u].unit, units[u].name);
}
