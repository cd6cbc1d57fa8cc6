#include "config.h"

#include "slice-overlay.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

#define MARGIN 8
#define TEXT_SCALE 0.92

/* White on a dark, half transparent plate: to be read on black, white and anything between, in either style. */
static const GdkRGBA plate = {0, 0, 0, 0.55}, white = {1, 1, 1, 1};

typedef enum { LEFT = 0, RIGHT = 1 } Side;

static int
text_width (GtkWidget *widget, const char *text)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, TEXT_SCALE);
  int w;
  pango_layout_get_pixel_size (layout, &w, NULL);
  return w;
}

/* Puts @text in a corner; returns the height it took. @y is the upper edge, or the lower one when negative. */
static double
corner_text (GtkWidget *widget, GtkSnapshot *snapshot, const char *text, Side side, double y)
{
  if (text == NULL || *text == '\0')
    return 0;
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, TEXT_SCALE);
  int w, h, width = gtk_widget_get_width (widget);
  pango_layout_get_pixel_size (layout, &w, &h);
  if (w > width - 2 * MARGIN) {
    pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_width (layout, MAX (width - 2 * MARGIN, 20) * PANGO_SCALE);
    pango_layout_get_pixel_size (layout, &w, &h);
  }
  double x = side == LEFT ? MARGIN : width - MARGIN - w;
  double top = y >= 0 ? y : gtk_widget_get_height (widget) + y - h;
  GskRoundedRect rect;
  gsk_rounded_rect_init_from_rect (&rect, &GRAPHENE_RECT_INIT (x - 4, top - 1, w + 8, h + 2), 4);
  gtk_snapshot_push_rounded_clip (snapshot, &rect);
  gtk_snapshot_append_color (snapshot, &plate, &rect.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, top));
  gtk_snapshot_append_layout (snapshot, layout, &white);
  gtk_snapshot_restore (snapshot);
  return h + 5;
}

static char *
describe_slice (LamSliceModel *model, const LamSnapshotInfo *info)
{
  static const char *const names[LAM_ALL_PLANES] = {N_ ("slice %ld"), N_ ("row %ld"), N_ ("column %ld"),
                                                    N_ ("view %ld"), N_ ("detector row %ld")};
  g_autoptr (GString) text = g_string_new (NULL);
  /* Counted from 0, as rows, columns, channels and the command line are; the range says so. */
  g_string_printf (text, _ (names[info->plane]), (long) info->index);
  if (info->count > 1)
    g_string_append_printf (text, _ (" of 0–%ld"), (long) info->count - 1);
  if (info->iteration == LAM_ITERATION_LIVE)
    g_string_append (text, _ (" · preview"));
  else if (info->iteration == 0)
    g_string_append (text, _ (" · start"));
  else if (info->iteration > 0)
    g_string_append_printf (text, _ (" · iteration %ld"), (long) info->iteration);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_level (LamSliceModel *model)
{
  double low, high;
  lam_slice_model_get_level (model, &low, &high);
  g_autofree char *w = lam_slice_model_format_value (high - low, high - low);
  g_autofree char *l = lam_slice_model_format_value ((low + high) / 2, high - low);
  return g_strdup_printf (_ ("W %s  L %s"), w, l);
}

double
lam_scale_bar_length (double scale, double widest)
{
  double most = widest / scale, power = pow (10, floor (log10 (most)));
  return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
}

static void
scale_bar (GtkWidget *widget, GtkSnapshot *snapshot, const LamSnapshotInfo *info, double scale)
{
  if (!(scale > 0) || !(info->pitch_x > 0))
    return;
  double length = lam_scale_bar_length (scale / info->pitch_x, 120);
  double pixels = length * scale / info->pitch_x;
  double bottom = gtk_widget_get_height (widget) - MARGIN;
  g_autofree char *text = g_strdup_printf ("%g %s", length, *info->length_unit != '\0' ? info->length_unit : "px");
  corner_text (widget, snapshot, text, LEFT, -(MARGIN + 6));
  gtk_snapshot_append_color (snapshot, &plate, &GRAPHENE_RECT_INIT (MARGIN - 1, bottom - 4, pixels + 2, 5));
  gtk_snapshot_append_color (snapshot, &white, &GRAPHENE_RECT_INIT (MARGIN, bottom - 3, pixels, 3));
}

static void
crosshair (GtkWidget *widget, GtkSnapshot *snapshot, LamSliceModel *model, const LamSliceOverlay *o)
{
  static const GdkRGBA down = {0.96, 0.76, 0.07, 0.9}, across = {0.18, 0.76, 0.49, 0.9};
  int64_t row, column;
  if (!lam_slice_model_get_mark_in (model, o->plane, &row, &column))
    return;
  double x = floor (o->origin_x + (column + 0.5) * o->scale_x), y = floor (o->origin_y + (row + 0.5) * o->scale_y);
  gtk_snapshot_append_color (snapshot, &down, &GRAPHENE_RECT_INIT (x, 0, 1, gtk_widget_get_height (widget)));
  gtk_snapshot_append_color (snapshot, &across, &GRAPHENE_RECT_INIT (0, y, gtk_widget_get_width (widget), 1));
}

/* Of the axis, in its colour in the scene, on a dark edge. */
static void
axis_line (GtkWidget *widget, GtkSnapshot *snapshot, const LamSliceOverlay *o)
{
  static const GdkRGBA red = {0.93, 0.2, 0.23, 1}, edge = {0, 0, 0, 0.6};
  double x0 = o->origin_x + o->line.x0 * o->scale_x, y0 = o->origin_y + o->line.y0 * o->scale_y;
  double dx = (o->line.x1 - o->line.x0) * o->scale_x, dy = (o->line.y1 - o->line.y0) * o->scale_y;
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x0, y0));
  gtk_snapshot_rotate (snapshot, -atan2 (dx, dy) * 180 / G_PI);
  gtk_snapshot_append_color (snapshot, &edge, &GRAPHENE_RECT_INIT (-1.5, 0, 3, hypot (dx, dy)));
  gtk_snapshot_append_color (snapshot, &red, &GRAPHENE_RECT_INIT (-0.5, 0, 1, hypot (dx, dy)));
  gtk_snapshot_restore (snapshot);
}

void
lam_slice_overlay_words (GtkWidget *widget, GtkSnapshot *snapshot, const char *text)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, TEXT_SCALE);
  static const GdkRGBA grey = {0.75, 0.75, 0.75, 1};
  int w, h, width = gtk_widget_get_width (widget);
  pango_layout_set_width (layout, MAX (width - 2 * MARGIN, 20) * PANGO_SCALE);
  pango_layout_set_alignment (layout, PANGO_ALIGN_CENTER);
  pango_layout_get_pixel_size (layout, &w, &h);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (MARGIN, (gtk_widget_get_height (widget) - h) / 2.0));
  gtk_snapshot_append_layout (snapshot, layout, &grey);
  gtk_snapshot_restore (snapshot);
}

void
lam_slice_overlay_snapshot (GtkWidget *widget, GtkSnapshot *snapshot, LamSliceModel *model,
                            const LamSliceOverlay *overlay)
{
  LamSnapshot *shot = lam_slice_model_peek (model, overlay->plane);
  if (shot == NULL)
    return;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  if (isfinite (overlay->line.x0))
    axis_line (widget, snapshot, overlay);
  if (overlay->crosshair)
    crosshair (widget, snapshot, model, overlay);

  g_autofree char *where = describe_slice (model, info);
  g_autofree char *level = overlay->brief ? g_strdup ("") : describe_level (model);
  g_autofree char *cursor =
      lam_slice_model_get_cursor_plane (model) == overlay->plane ? lam_slice_model_describe_cursor (model) : NULL;
  double y = MARGIN + corner_text (widget, snapshot, where, LEFT, MARGIN), right = MARGIN;
  /* In a narrow view they stand below each other. */
  if (text_width (widget, where) + text_width (widget, level) + 4 * MARGIN > gtk_widget_get_width (widget))
    right = y;
  g_autofree char *bad = lam_slice_model_describe_bad (model, shot);
  corner_text (widget, snapshot, bad, LEFT, y);
  y = right + corner_text (widget, snapshot, level, RIGHT, right);
  corner_text (widget, snapshot, overlay->hint, RIGHT, y);
  if (!overlay->brief)
    scale_bar (widget, snapshot, info, overlay->scale_x);
  /* Above the scale bar where they would meet. */
  gboolean meet = !overlay->brief && cursor != NULL
                  && text_width (widget, cursor) + 120 + 4 * MARGIN > gtk_widget_get_width (widget);
  corner_text (widget, snapshot, cursor, RIGHT, meet ? -(MARGIN + 26) : -MARGIN);
}
