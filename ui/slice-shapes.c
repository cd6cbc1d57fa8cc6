#include "config.h"

#include "slice-shapes.h"

#include <math.h>

#define HANDLE 7

/* A bright line in a dark one: seen on black, white and anything between. */
static const GdkRGBA dark = {0, 0, 0, 0.6}, region = {0.38, 0.78, 1, 1}, line = {1, 0.55, 0.75, 1};

static void
to_widget (const LamSliceOverlay *o, double column, double row, double *x, double *y)
{
  *x = o->origin_x + column * o->scale_x;
  *y = o->origin_y + row * o->scale_y;
}

/* The outline of a box with round corners, @width wide, its middle on the box's edge. */
static void
outline (GtkSnapshot *snapshot, double x0, double y0, double x1, double y1, gboolean round, double width,
         const GdkRGBA *colour)
{
  double w = x1 - x0 + width, h = y1 - y0 + width;
  GskRoundedRect rect;
  graphene_size_t corner = GRAPHENE_SIZE_INIT (round ? w / 2 : 0, round ? h / 2 : 0);
  gsk_rounded_rect_init (&rect, &GRAPHENE_RECT_INIT (x0 - width / 2, y0 - width / 2, w, h), &corner, &corner, &corner,
                         &corner);
  float widths[4] = {width, width, width, width};
  GdkRGBA colours[4] = {*colour, *colour, *colour, *colour};
  gtk_snapshot_append_border (snapshot, &rect, widths, colours);
}

static void
draw_line (GtkSnapshot *snapshot, const graphene_rect_t *within, double x0, double y0, double x1, double y1)
{
  graphene_rect_t box =
      GRAPHENE_RECT_INIT (fmin (x0, x1) - 3, fmin (y0, y1) - 3, fabs (x1 - x0) + 6, fabs (y1 - y0) + 6);
  if (!graphene_rect_intersection (&box, within, &box))
    return;
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &box);
  for (int pass = 0; pass < 2; pass++) {
    gdk_cairo_set_source_rgba (cr, pass == 0 ? &dark : &line);
    cairo_set_line_width (cr, pass == 0 ? 3.5 : 1.5);
    cairo_move_to (cr, x0, y0);
    cairo_line_to (cr, x1, y1);
    cairo_stroke (cr);
  }
  cairo_destroy (cr);
}

void
lam_slice_shape_snapshot (GtkWidget *widget, GtkSnapshot *snapshot, const LamShape *shape, const LamSliceOverlay *o,
                          gboolean handles)
{
  if (shape->kind == LAM_SHAPE_NONE)
    return;
  double x0, y0, x1, y1, aspect = o->scale_x > 0 ? o->scale_y / o->scale_x : 1;
  graphene_rect_t all = GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  const GdkRGBA *colour = shape->kind == LAM_SHAPE_LINE ? &line : &region;
  if (shape->kind == LAM_SHAPE_CIRCLE) {
    to_widget (o, shape->x0 - shape->x1, shape->y0 - shape->x1 / aspect, &x0, &y0);
    to_widget (o, shape->x0 + shape->x1, shape->y0 + shape->x1 / aspect, &x1, &y1);
  } else {
    to_widget (o, shape->x0, shape->y0, &x0, &y0);
    to_widget (o, shape->x1, shape->y1, &x1, &y1);
  }
  gtk_snapshot_push_clip (snapshot, &all);
  if (shape->kind == LAM_SHAPE_LINE)
    draw_line (snapshot, &all, x0, y0, x1, y1);
  else {
    outline (snapshot, x0, y0, x1, y1, shape->kind == LAM_SHAPE_CIRCLE, 3.5, &dark);
    outline (snapshot, x0, y0, x1, y1, shape->kind == LAM_SHAPE_CIRCLE, 1.5, colour);
  }
  for (int i = 0; handles && i < lam_shape_n_handles (shape); i++) {
    double column, row;
    lam_shape_handle (shape, aspect, i, &column, &row);
    to_widget (o, column, row, &x0, &y0);
    x0 = rint (x0 - HANDLE / 2.0);
    y0 = rint (y0 - HANDLE / 2.0);
    gtk_snapshot_append_color (snapshot, &dark, &GRAPHENE_RECT_INIT (x0 - 1, y0 - 1, HANDLE + 2, HANDLE + 2));
    gtk_snapshot_append_color (snapshot, colour, &GRAPHENE_RECT_INIT (x0, y0, HANDLE, HANDLE));
    /* Where a line ends: its far handle is hollow. */
    if (shape->kind == LAM_SHAPE_LINE && i == 1)
      gtk_snapshot_append_color (snapshot, &dark, &GRAPHENE_RECT_INIT (x0 + 2, y0 + 2, HANDLE - 4, HANDLE - 4));
  }
  gtk_snapshot_pop (snapshot);
}
