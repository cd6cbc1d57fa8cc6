#include "config.h"

#include "draw/timeline.h"

#include <math.h>

#define MOST_TICKS 32
/* px of up and down for each column, from which on a trace is drawn by boxes */
#define DENSE 5
/* of what lies between a trace and zero */
#define AREA 0.16
/* px between lines of instants, on average */
#define LEAST_APART 16

const char *
lam_timeline_row_name (LamTimelineRow row)
{
  static const char *const names[LAM_ROWS] = {"", "RF", "RF phase", "Gx", "Gy", "Gz", "ADC"};
  return names[row];
}

void
lam_timeline_layout (double width, double height, LamTimelineLayout *l)
{
  static const double share[LAM_ROWS] = {0, 3, 1.6, 2, 2, 2, 0};
  const double rulers = 32, adc = 14, axis = 22, gap = 5;
  double rest = fmax (height - rulers - adc - axis - (LAM_ROWS - 1) * gap, 30), y = 0;
  l->left = LAM_TIMELINE_LEFT;
  l->right = fmax (width - LAM_TIMELINE_RIGHT, l->left + 10);
  for (int r = 0; r < LAM_ROWS; r++) {
    l->top[r] = floor (y);
    l->height[r] = floor (r == LAM_ROW_RULERS ? rulers : r == LAM_ROW_ADC ? adc : rest * share[r] / 10.6);
    y += l->height[r] + gap;
  }
  l->bottom = l->top[LAM_ROW_ADC] + adc;
}

/* ---- rows ---- */

typedef struct {
  cairo_t *cr;
  const LamCanvas *canvas;
  const LamTimelineLayout *l;
  const LamTimelinePicture *p;
} Draw;

/* y of @value in a row that reaches from @low to @high. */
static double
y_of (const Draw *d, LamTimelineRow row, double value, double low, double high)
{
  return d->l->top[row] + (1 - (value - low) / (high - low)) * d->l->height[row];
}

/* The columns of the window that are seen. */
typedef struct {
  double x0, per; /* x of the first column of all, and px of each */
  int64_t from, to;
} Columns;

static Columns
find_columns (const Draw *d)
{
  const LamPulseqWindow *w = d->p->window;
  Columns c = {.x0 = lam_timeline_x (d->l, d->p, w->t0)};
  c.per = (lam_timeline_x (d->l, d->p, w->t1) - c.x0) / (double) w->n;
  c.from = CLAMP ((int64_t) ((d->l->left - c.x0) / c.per) - 1, 0, w->n);
  c.to = CLAMP ((int64_t) ((d->l->right - c.x0) / c.per) + 2, c.from, w->n);
  return c;
}

/* Up and down so often that a curve would be a tangle: boxes show it as well, and are filled many times faster. */
static gboolean
is_dense (const Columns *c, const float *lows, const float *highs, double per_px)
{
  double way = 0;
  for (int64_t i = c->from + 1; i < c->to; i++)
    way += fabsf (highs[i] - highs[i - 1]) + fabsf (lows[i] - lows[i - 1]);
  return way * per_px > DENSE * (double) (c->to - c->from);
}

static void
draw_boxes (const Draw *d, const Columns *c, LamTimelineRow row, const float *lows, const float *highs, double low,
            double high, LamInk ink)
{
  double zero = floor (y_of (d, row, 0, low, high));
  for (int faint = 0; faint < 2; faint++) {
    for (int64_t i = c->from; i < c->to; i++) {
      double top = floor (y_of (d, row, highs[i], low, high)), bottom = floor (y_of (d, row, lows[i], low, high)) + 1;
      double x = floor (c->x0 + (double) i * c->per), wide = floor (c->x0 + (double) (i + 1) * c->per) - x;
      if (!faint)
        cairo_rectangle (d->cr, x, top, wide, bottom - top);
      else if (top > zero || bottom < zero)
        cairo_rectangle (d->cr, x, fmin (bottom, zero), wide, fmax (top - zero, zero - bottom));
    }
    lam_canvas_faint (d->canvas, d->cr, ink, faint ? AREA : 1);
    cairo_fill (d->cr);
  }
}

static void
draw_curve (const Draw *d, const Columns *c, LamTimelineRow row, const float *lows, const float *highs, double low,
            double high, LamInk ink)
{
  double zero = y_of (d, row, 0, low, high);
  /* The band between the extremes, as thick as a line at least. */
  for (int64_t i = c->from; i < c->to; i++)
    cairo_line_to (d->cr, c->x0 + ((double) i + 0.5) * c->per, y_of (d, row, highs[i], low, high) - 0.6);
  for (int64_t i = c->to - 1; i >= c->from; i--)
    cairo_line_to (d->cr, c->x0 + ((double) i + 0.5) * c->per, y_of (d, row, lows[i], low, high) + 0.6);
  cairo_close_path (d->cr);
  lam_canvas_ink (d->canvas, d->cr, ink);
  cairo_fill (d->cr);
  /* Faintly down to zero: pulses and lobes are seen as areas. */
  cairo_move_to (d->cr, c->x0 + ((double) c->from + 0.5) * c->per, zero);
  for (int64_t i = c->from; i < c->to; i++) {
    double far = highs[i] > -lows[i] ? highs[i] : lows[i];
    cairo_line_to (d->cr, c->x0 + ((double) i + 0.5) * c->per, y_of (d, row, far, low, high));
  }
  cairo_line_to (d->cr, c->x0 + ((double) c->to - 0.5) * c->per, zero);
  cairo_close_path (d->cr);
  lam_canvas_faint (d->canvas, d->cr, ink, AREA);
  cairo_fill (d->cr);
}

static void
draw_trace (const Draw *d, LamTimelineRow row, const float *lows, const float *highs, double low, double high,
            LamInk ink)
{
  Columns c = find_columns (d);
  double zero = y_of (d, row, 0, low, high);
  lam_canvas_ink (d->canvas, d->cr, LAM_INK_GRID);
  lam_canvas_across (d->cr, d->l->left, d->l->right, zero);
  cairo_fill (d->cr);
  if (c.from == c.to)
    return;
  if (is_dense (&c, lows, highs, d->l->height[row] / (high - low)))
    draw_boxes (d, &c, row, lows, highs, low, high, ink);
  else
    draw_curve (d, &c, row, lows, highs, low, high, ink);
}

static void
draw_phase (const Draw *d)
{
  const LamPulseqWindow *w = d->p->window;
  gboolean line = FALSE;
  lam_canvas_ink (d->canvas, d->cr, LAM_INK_GRID);
  for (int turn = -1; turn <= 1; turn++) {
    double y = y_of (d, LAM_ROW_PHASE, 180 * turn, -180, 180);
    lam_canvas_across (d->cr, d->l->left, d->l->right, y);
  }
  cairo_fill (d->cr);
  lam_canvas_ink (d->canvas, d->cr, LAM_INK_RF);
  for (int64_t i = 0; i < w->phases; i++) {
    double x = lam_timeline_x (d->l, d->p, w->phase[i].ps), y = y_of (d, LAM_ROW_PHASE, w->phase[i].degrees, -180, 180);
    if (x < d->l->left - 4 || x > d->l->right + 4)
      continue;
    gboolean alone = !w->phase[i].on && (i + 1 == w->phases || !w->phase[i + 1].on);
    if (alone)
      cairo_rectangle (d->cr, floor (x) - 1, floor (y) - 1, 3, 3);
    line |= !alone;
  }
  cairo_fill (d->cr);
  for (int64_t i = 0; line && i < w->phases; i++) {
    double x = lam_timeline_x (d->l, d->p, w->phase[i].ps), y = y_of (d, LAM_ROW_PHASE, w->phase[i].degrees, -180, 180);
    if (w->phase[i].on)
      cairo_line_to (d->cr, x, y);
    else
      cairo_move_to (d->cr, x, y);
  }
  cairo_set_line_width (d->cr, 1.3);
  cairo_stroke (d->cr);
}

static void
draw_adc (const Draw *d)
{
  const LamPulseqWindow *w = d->p->window;
  double x0 = lam_timeline_x (d->l, d->p, w->t0), per = (lam_timeline_x (d->l, d->p, w->t1) - x0) / (double) w->n;
  double y = d->l->top[LAM_ROW_ADC], h = d->l->height[LAM_ROW_ADC];
  lam_canvas_ink (d->canvas, d->cr, LAM_INK_GRID);
  lam_canvas_across (d->cr, d->l->left, d->l->right, y + h);
  cairo_fill (d->cr);
  for (int64_t i = 0; i < w->n; i++) {
    int64_t end = i;
    while (end < w->n && w->trace.adc[end])
      end++;
    if (end > i)
      cairo_rectangle (d->cr, x0 + (double) i * per, y, (double) (end - i) * per, h);
    i = end;
  }
  lam_canvas_faint (d->canvas, d->cr, LAM_INK_ADC, 0.75);
  cairo_fill (d->cr);
}

static void
draw_edges (const Draw *d)
{
  const LamPulseqWindow *w = d->p->window;
  lam_canvas_faint (d->canvas, d->cr, LAM_INK_GRID, 0.8);
  for (int64_t i = 0; i < w->edges; i++)
    lam_canvas_down (d->cr, lam_timeline_x (d->l, d->p, w->edge[i]), d->l->top[LAM_ROW_RF], d->l->bottom, 0, 0);
  cairo_fill (d->cr);
}

static void
draw_names (const Draw *d)
{
  for (LamTimelineRow r = LAM_ROW_RF; r < LAM_ROWS; r++) {
    double middle = d->l->top[r] + d->l->height[r] / 2, font = d->canvas->font;
    g_autofree char *scale = r == LAM_ROW_RF      ? g_strdup_printf ("%.3g µT", d->p->rf / LAM_GAMMA_1H * 1e6)
                             : r == LAM_ROW_PHASE ? g_strdup ("±180°")
                             : r < LAM_ROW_ADC    ? g_strdup_printf ("±%.3g mT/m", d->p->gradient / LAM_GAMMA_1H * 1e3)
                                                  : NULL;
    gboolean two = scale && d->l->height[r] >= 2.4 * font;
    lam_canvas_write (d->canvas, d->cr, lam_timeline_row_name (r), d->l->left - 8, two ? middle - 0.65 * font : middle,
                      1, LAM_INK_TEXT);
    if (two)
      lam_canvas_write (d->canvas, d->cr, scale, d->l->left - 8, middle + 0.65 * font, 1, LAM_INK_DIM);
  }
}

static void
draw_axis (const Draw *d)
{
  double ticks[MOST_TICKS + 1], step = 1, low = (double) d->p->t0 * 1e-12, high = (double) d->p->t1 * 1e-12;
  int most = CLAMP ((int) ((d->l->right - d->l->left) / (9 * d->canvas->font)), 1, MOST_TICKS);
  int n = lam_canvas_ticks (low, high, most, ticks, &step);
  for (int i = 0; i < n; i++) {
    double x = d->l->left + (ticks[i] - low) / (high - low) * (d->l->right - d->l->left);
    g_autofree char *text = lam_canvas_time (ticks[i], high - low, step);
    lam_canvas_ink (d->canvas, d->cr, LAM_INK_DIM);
    lam_canvas_down (d->cr, x, d->l->bottom, d->l->bottom + 4, 0, 0);
    cairo_fill (d->cr);
    /* Inside the picture at its right end. */
    double half = lam_canvas_width (d->canvas, d->cr, text) / 2;
    lam_canvas_write (d->canvas, d->cr, text, fmin (x, d->l->right + LAM_TIMELINE_RIGHT - half - 2), d->l->bottom + 13,
                      0.5, LAM_INK_DIM);
  }
}

/* ---- rulers ---- */

/* So many that their lines would hide what they mark. */
static gboolean
crowded (const Draw *d)
{
  double n = 0;
  for (guint i = 0; i < d->p->instants->len; i++) {
    int64_t ps = g_array_index (d->p->instants, LamPulseqInstant, i).ps;
    n += ps >= d->p->t0 && ps <= d->p->t1;
  }
  return n * LEAST_APART > d->l->right - d->l->left;
}

static void
draw_instants (const Draw *d)
{
  static const struct {
    LamInk ink;
    double alpha, on, off;
  } styles[] = {{LAM_INK_RF, 0.8, 3, 3}, {LAM_INK_RF, 0.8, 3, 3}, {LAM_INK_RF, 0.4, 3, 3}, {LAM_INK_ADC, 0.9, 1, 3}};
  for (guint kind = 0; kind < G_N_ELEMENTS (styles); kind++) {
    for (guint i = 0; i < d->p->instants->len; i++) {
      const LamPulseqInstant *m = &g_array_index (d->p->instants, LamPulseqInstant, i);
      double x = floor (lam_timeline_x (d->l, d->p, m->ps));
      if (m->kind == kind && x >= d->l->left && x <= d->l->right)
        lam_canvas_down (d->cr, x, d->l->top[LAM_ROW_RULERS] + 4, d->l->bottom, styles[kind].on, styles[kind].off);
    }
    lam_canvas_faint (d->canvas, d->cr, styles[kind].ink, styles[kind].alpha);
    cairo_fill (d->cr);
  }
}

static void
draw_ruler (const Draw *d, const LamPulseqRuler *r)
{
  double a = lam_timeline_x (d->l, d->p, r->from), b = lam_timeline_x (d->l, d->p, r->to);
  double seconds = (double) (r->to - r->from) * 1e-12;
  double y = d->l->top[LAM_ROW_RULERS] + (r->kind == LAM_PULSEQ_TR ? 8 : 23);
  g_autofree char *length = lam_canvas_time (seconds, seconds, seconds * 1e-3);
  g_autofree char *text = g_strdup_printf ("%s %s", lam_pulseq_ruler_name (r->kind), length);
  double width = lam_canvas_width (d->canvas, d->cr, text) + 8;
  double from = fmax (a, d->l->left), to = fmin (b, d->l->right), middle = (from + to) / 2;
  if (to - from < width + 8)
    return;
  lam_canvas_faint (d->canvas, d->cr, LAM_INK_RULER, 0.9);
  lam_canvas_across (d->cr, from, middle - width / 2, y);
  lam_canvas_across (d->cr, middle + width / 2, to, y);
  if (a >= d->l->left)
    lam_canvas_down (d->cr, a, y - 4, y + 5, 0, 0);
  if (b <= d->l->right)
    lam_canvas_down (d->cr, b, y - 4, y + 5, 0, 0);
  cairo_fill (d->cr);
  lam_canvas_write (d->canvas, d->cr, text, middle, y, 0.5, LAM_INK_RULER);
}

void
lam_timeline_draw (cairo_t *cr, const LamCanvas *canvas, const LamTimelineLayout *layout, const LamTimelinePicture *p)
{
  Draw d = {cr, canvas, layout, p};
  double rf = p->rf > 0 ? p->rf : 1, g = p->gradient > 0 ? p->gradient : 1;
  cairo_save (cr);
  if (p->window) {
    cairo_rectangle (cr, layout->left - 1, 0, layout->right - layout->left + 2, layout->bottom + 1);
    cairo_clip (cr);
    draw_edges (&d);
    draw_trace (&d, LAM_ROW_RF, p->window->trace.low[LAM_PULSEQ_TRACE_RF], p->window->trace.high[LAM_PULSEQ_TRACE_RF],
                0, 1.04 * rf, LAM_INK_RF);
    draw_phase (&d);
    for (int i = 0; i < 3; i++)
      draw_trace (&d, LAM_ROW_GX + i, p->window->trace.low[LAM_PULSEQ_TRACE_GX + i],
                  p->window->trace.high[LAM_PULSEQ_TRACE_GX + i], -1.04 * g, 1.04 * g, LAM_INK_GRADIENT);
    draw_adc (&d);
  }
  if (p->window && p->instants && !crowded (&d)) {
    g_autoptr (GArray) rulers = lam_pulseq_rulers (p->instants);
    draw_instants (&d);
    for (guint i = 0; i < rulers->len; i++)
      draw_ruler (&d, &g_array_index (rulers, LamPulseqRuler, i));
  }
  cairo_restore (cr);
  draw_names (&d);
  draw_axis (&d);
}
