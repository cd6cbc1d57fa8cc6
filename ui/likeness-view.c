#include "config.h"

#include "likeness-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"

#define LEFT 44
#define BOTTOM 34
#define TOP 18
#define RIGHT 10

struct _LamLikenessView {
  GtkWidget parent_instance;
  int nx, ny, best_x, best_y, cell_x, cell_y; /* cell -1: none is chosen */
  double *x, *y;
  float *likeness;
  char *x_name, *y_name, *x_unit, *y_unit;
  cairo_surface_t *picture; /* a pixel a cell; NULL: to be made */
};

static guint describe_signal;

G_DEFINE_FINAL_TYPE (LamLikenessView, lam_likeness_view, GTK_TYPE_WIDGET)

static void
clear (LamLikenessView *self)
{
  g_clear_pointer (&self->x, g_free);
  g_clear_pointer (&self->y, g_free);
  g_clear_pointer (&self->likeness, g_free);
  g_clear_pointer (&self->x_name, g_free);
  g_clear_pointer (&self->y_name, g_free);
  g_clear_pointer (&self->x_unit, g_free);
  g_clear_pointer (&self->y_unit, g_free);
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  self->nx = self->ny = 0;
  self->cell_x = self->cell_y = -1;
}

/* ---- drawing ---- */

/* What an atom leaves over of the voxel, in decades: scores themselves all lie near 1. */
static double
decades (double score)
{
  return -0.5 * log10 (fmax (1 - score * score, 1e-8));
}

static void
make_picture (LamLikenessView *self)
{
  double low = INFINITY, high = -INFINITY;
  guint8 map[256 * 4];
  for (int i = 0; i < self->nx * self->ny; i++)
    if (isfinite (self->likeness[i])) {
      low = fmin (low, decades (self->likeness[i]));
      high = fmax (high, decades (self->likeness[i]));
    }
  lam_colour_map_fill (LAM_COLOUR_MAP_VIRIDIS, map);
  self->picture = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, self->nx, self->ny);
  if (cairo_surface_status (self->picture) != CAIRO_STATUS_SUCCESS)
    return;
  cairo_surface_flush (self->picture);
  guint8 *bytes = cairo_image_surface_get_data (self->picture);
  int stride = cairo_image_surface_get_stride (self->picture);
  for (int j = 0; j < self->ny; j++) {
    guint32 *line = (guint32 *) (void *) (bytes + (self->ny - 1 - j) * stride);
    for (int i = 0; i < self->nx; i++) {
      float v = self->likeness[j * self->nx + i];
      int k = high > low ? (int) (255 * (decades (v) - low) / (high - low)) : 255;
      line[i] =
          !isfinite (v) ? 0 : 0xff000000u | (guint32) map[4 * k] << 16 | (guint32) map[4 * k + 1] << 8 | map[4 * k + 2];
    }
  }
  cairo_surface_mark_dirty (self->picture);
}

static void
get_plot (LamLikenessView *self, graphene_rect_t *plot)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self));
  *plot = GRAPHENE_RECT_INIT (LEFT, TOP, MAX (width - LEFT - RIGHT, 1), MAX (height - TOP - BOTTOM, 1));
}

static void
draw_text (LamLikenessView *self, GtkSnapshot *snapshot, const char *text, double x, double y, double xalign)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (GTK_WIDGET (self), text, 0.82);
  GdkRGBA colour = lam_palette (GTK_WIDGET (self), LAM_COLOUR_DIM);
  int width, height;
  pango_layout_get_pixel_size (layout, &width, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x - xalign * width, y));
  gtk_snapshot_append_layout (snapshot, layout, &colour);
  gtk_snapshot_restore (snapshot);
}

static void
draw_axes (LamLikenessView *self, GtkSnapshot *snapshot, const graphene_rect_t *plot)
{
  double x0 = plot->origin.x, x1 = x0 + plot->size.width, y0 = plot->origin.y, y1 = y0 + plot->size.height;
  /* Ends and middle: cells are as far apart as their numbers. */
  for (int k = 0; k < 3; k++) {
    g_autofree char *x = g_strdup_printf ("%.4g", self->x[(self->nx - 1) * k / 2]),
                    *y = g_strdup_printf ("%.4g", self->y[(self->ny - 1) * k / 2]);
    if (k != 1 || (self->nx > 2 && x1 - x0 > 120))
      draw_text (self, snapshot, x, x0 + (x1 - x0) * k / 2, y1 + 2, k / 2.0);
    if (self->ny > 2 || k != 1)
      draw_text (self, snapshot, y, x0 - 5, y1 - (y1 - y0) * k / 2 - (k == 0 ? 14 : k == 1 ? 8 : 2), 1);
  }
  g_autofree char *name = g_strdup_printf (*self->x_unit ? "%s, %s" : "%s", self->x_name, self->x_unit),
                  *other = g_strdup_printf (*self->y_unit ? "%s, %s" : "%s", self->y_name, self->y_unit);
  draw_text (self, snapshot, name, (x0 + x1) / 2, y1 + 17, 0.5);
  draw_text (self, snapshot, other, x0 - 5, 0, 0.2);
}

static void
draw_cell (cairo_t *cr, double w, double h, int ny, int i, int j, double size)
{
  double x = (i + 0.5) * w, y = (ny - 1 - j + 0.5) * h;
  for (int pass = 0; pass < 2; pass++) { /* white on black: seen on every colour */
    cairo_set_source_rgb (cr, pass, pass, pass);
    cairo_set_line_width (cr, pass ? 1.5 : 3.5);
    cairo_arc (cr, x, y, size, 0, 2 * G_PI);
    cairo_stroke (cr);
  }
}

static void
lam_likeness_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamLikenessView *self = LAM_LIKENESS_VIEW (widget);
  graphene_rect_t plot;
  if (self->nx == 0)
    return;
  if (self->picture == NULL)
    make_picture (self);
  get_plot (self, &plot);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &plot);
  double w = plot.size.width / self->nx, h = plot.size.height / self->ny;
  cairo_translate (cr, plot.origin.x, plot.origin.y);
  cairo_save (cr);
  cairo_scale (cr, w, h);
  cairo_set_source_surface (cr, self->picture, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  cairo_restore (cr);
  draw_cell (cr, w, h, self->ny, self->best_x, self->best_y, 5);
  if (self->cell_x >= 0)
    draw_cell (cr, w, h, self->ny, self->cell_x, self->cell_y, 2.5);
  cairo_destroy (cr);
  draw_axes (self, snapshot, &plot);
  if (gtk_widget_has_visible_focus (widget)) {
    GdkRGBA colour = lam_palette (widget, LAM_COLOUR_BLUE);
    gtk_snapshot_append_border (snapshot,
                                &(GskRoundedRect){.bounds = GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget),
                                                                                gtk_widget_get_height (widget))},
                                (float[]){2, 2, 2, 2}, (GdkRGBA[]){colour, colour, colour, colour});
  }
}

/* ---- what is said ---- */

char *
lam_likeness_view_describe (LamLikenessView *self)
{
  int i = self->cell_x >= 0 ? self->cell_x : self->best_x, j = self->cell_x >= 0 ? self->cell_y : self->best_y;
  if (self->nx == 0)
    return NULL;
  double score = self->likeness[j * self->nx + i];
  g_autofree char *place = g_strdup_printf ("%s %.4g %s, %s %.4g %s", self->x_name, self->x[i], self->x_unit,
                                            self->y_name, self->y[j], self->y_unit);
  return isfinite (score) ? g_strdup_printf (_ ("%s: score %.5f"), place, score)
                          : g_strdup_printf (_ ("%s: no atom"), place);
}

static void
say (LamLikenessView *self)
{
  g_autofree char *text = lam_likeness_view_describe (self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text ? text : "", -1);
  g_signal_emit (self, describe_signal, 0, self->cell_x >= 0 ? text : NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lam_likeness_view_set_fit (LamLikenessView *self, const LamVoxelFit *fit)
{
  clear (self);
  if (fit != NULL && fit->nx > 0) {
    self->nx = fit->nx;
    self->ny = fit->ny;
    self->best_x = fit->best_x;
    self->best_y = fit->best_y;
    self->x = g_memdup2 (fit->x, fit->nx * sizeof *fit->x);
    self->y = g_memdup2 (fit->y, fit->ny * sizeof *fit->y);
    self->likeness = g_memdup2 (fit->likeness, (gsize) fit->nx * fit->ny * sizeof *fit->likeness);
    self->x_name = g_strdup (fit->x_name);
    self->y_name = g_strdup (fit->y_name);
    self->x_unit = g_strdup (fit->x_unit);
    self->y_unit = g_strdup (fit->y_unit);
  }
  say (self);
}

/* ---- pointer and keys ---- */

static void
choose (LamLikenessView *self, int i, int j)
{
  if (self->nx == 0 || (i == self->cell_x && j == self->cell_y))
    return;
  self->cell_x = i;
  self->cell_y = j;
  say (self);
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamLikenessView *self)
{
  graphene_rect_t plot;
  get_plot (self, &plot);
  double i = floor ((x - plot.origin.x) / plot.size.width * self->nx),
         j = floor ((1 - (y - plot.origin.y) / plot.size.height) * self->ny);
  if (i >= 0 && j >= 0 && i < self->nx && j < self->ny)
    choose (self, (int) i, (int) j);
}

static void
leave_cb (GtkEventControllerMotion *controller, LamLikenessView *self)
{
  choose (self, -1, -1);
}

static gboolean
move_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamLikenessView *self = LAM_LIKENESS_VIEW (widget);
  int dx, dy;
  g_variant_get (args, "(ii)", &dx, &dy);
  if (self->nx == 0)
    return FALSE;
  int i = self->cell_x >= 0 ? self->cell_x + dx : self->best_x,
      j = self->cell_x >= 0 ? self->cell_y + dy : self->best_y;
  choose (self, CLAMP (i, 0, self->nx - 1), CLAMP (j, 0, self->ny - 1));
  return TRUE;
}

static void
lam_likeness_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                           int *minimum_baseline, int *natural_baseline)
{
  *minimum = 120;
  *natural = 220;
}

static void
lam_likeness_view_finalize (GObject *object)
{
  clear (LAM_LIKENESS_VIEW (object));
  G_OBJECT_CLASS (lam_likeness_view_parent_class)->finalize (object);
}

static void
lam_likeness_view_class_init (LamLikenessViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    int dx, dy;
  } moves[] = {{GDK_KEY_Up, 0, 1}, {GDK_KEY_Down, 0, -1}, {GDK_KEY_Left, -1, 0}, {GDK_KEY_Right, 1, 0}};
  G_OBJECT_CLASS (klass)->finalize = lam_likeness_view_finalize;
  widget_class->snapshot = lam_likeness_view_snapshot;
  widget_class->measure = lam_likeness_view_measure;
  gtk_widget_class_set_css_name (widget_class, "likenessview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  for (gsize i = 0; i < G_N_ELEMENTS (moves); i++)
    gtk_widget_class_add_binding (widget_class, moves[i].key, 0, move_key, "(ii)", moves[i].dx, moves[i].dy);
  describe_signal = g_signal_new ("describe", LAM_TYPE_LIKENESS_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
lam_likeness_view_init (LamLikenessView *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  self->cell_x = self->cell_y = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Likeness of the voxel to each atom"), -1);
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
}

GtkWidget *
lam_likeness_view_new (void)
{
  return g_object_new (LAM_TYPE_LIKENESS_VIEW, NULL);
}
