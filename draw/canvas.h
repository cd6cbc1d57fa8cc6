/* canvas.h: what a picture is drawn with: inks for light or dark paper, and a way to write. The window brings its own; a
 * picture file takes cairo's. */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  LAM_INK_PAPER,
  LAM_INK_TEXT,
  LAM_INK_DIM,  /* secondary text */
  LAM_INK_GRID, /* lines behind data */
  LAM_INK_RF,
  LAM_INK_GRADIENT,
  LAM_INK_ADC,
  LAM_INK_RULER,
  LAM_INKS,
} LamInk;

typedef struct _LamCanvas {
  double ink[LAM_INKS][4]; /* red, green, blue, alpha */
  double font;             /* px of small text */
  /* Writes @text with its middle at height @y; @align 0: it begins at @x, 1: it ends there. NULL: cairo's own text. */
  void (*write) (const struct _LamCanvas *canvas, cairo_t *cr, const char *text, double x, double y, double align,
                 LamInk ink);
  gpointer data;
} LamCanvas;

/* Dark ink on white paper. */
LamCanvas lam_canvas_paper (void);
void lam_canvas_ink (const LamCanvas *canvas, cairo_t *cr, LamInk ink);
/* Its alpha times @alpha. */
void lam_canvas_faint (const LamCanvas *canvas, cairo_t *cr, LamInk ink, double alpha);
void lam_canvas_write (const LamCanvas *canvas, cairo_t *cr, const char *text, double x, double y, double align,
                       LamInk ink);
/* px that @text takes: about, where another writes. */
double lam_canvas_width (const LamCanvas *canvas, cairo_t *cr, const char *text);
/* Lines 1 px wide on whole pixels, put into the path to be filled together; @off above 0: dashes of @on px. */
void lam_canvas_across (cairo_t *cr, double x0, double x1, double y);
void lam_canvas_down (cairo_t *cr, double x, double y0, double y1, double on, double off);

/* Round numbers in [@low, @high], at most @most; @step gets their distance. Returns how many. */
int lam_canvas_ticks (double low, double high, int most, double *ticks, double *step);

/* A time in the unit that suits @span, with the digits that tell @resolution: "2.3105 s", "12.41 ms", "3 µs". g_free (). */
char *lam_canvas_time (double seconds, double span, double resolution);

G_END_DECLS
