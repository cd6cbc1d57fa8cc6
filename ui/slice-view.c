#include "config.h"

#include "slice-view-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "palette.h"
#include "slice-overlay.h"
#include "slice-shapes.h"

G_DEFINE_FINAL_TYPE (LamSliceView, lam_slice_view, GTK_TYPE_WIDGET)

enum { PROP_0, PROP_MODEL, PROP_CROSSHAIR, PROP_WINDOW_TOOL, PROP_TOOL, N_PROPS };
static GParamSpec *properties[N_PROPS];

static void start_raster (LamSliceView *self);

/* -- where the picture is -- */

LamSnapshot *
lam_slice_view_get_shot (LamSliceView *self)
{
  return self->model != NULL ? lam_slice_model_peek (self->model, lam_slice_view_get_plane (self)) : NULL;
}

static const LamSnapshotInfo *
shown_info (LamSliceView *self)
{
  LamSnapshot *shot = lam_slice_view_get_shot (self);
  return shot != NULL ? lam_snapshot_info (shot) : NULL;
}

/* Of a pixel, height by width, as it is shown. */
static double
aspect_of (LamSliceView *self, const LamSnapshotInfo *info)
{
  return lam_snapshot_aspect (info) * self->stretch;
}

/* How much larger its pixels are than those of a slice, along x. */
static double
relative_pitch (LamSliceView *self, const LamSnapshotInfo *info)
{
  LamSnapshot *slice = lam_slice_model_peek (self->model, LAM_PLANE_SLICE);
  double of_slice = slice != NULL ? lam_snapshot_info (slice)->pitch_x : 0;
  return of_slice > 0 && info->pitch_x > 0 ? info->pitch_x / of_slice : 1;
}

/* The scale at which the view shows its whole picture; of all that look through the same port the least one counts. */
static double
fit_scale (LamSliceView *self)
{
  const LamSnapshotInfo *info = shown_info (self);
  int width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self));
  if (info == NULL || width <= 0 || height <= 0)
    return INFINITY;
  double aspect = aspect_of (self, info);
  return fmin (width / (double) info->width, height / (info->height * aspect)) / relative_pitch (self, info);
}

static double
port_scale (LamSliceView *self)
{
  if (!lam_slice_port_get_fitted (self->port))
    return lam_slice_port_get_scale (self->port);
  const GPtrArray *views = lam_slice_port_get_views (self->port);
  double least = fit_scale (self);
  for (guint i = 0; i < views->len; i++)
    if (gtk_widget_get_mapped (g_ptr_array_index (views, i)))
      least = fmin (least, fit_scale (g_ptr_array_index (views, i)));
  return isfinite (least) ? least : 1;
}

gboolean
lam_slice_view_get_scale (LamSliceView *self, double *scale_x, double *scale_y)
{
  const LamSnapshotInfo *info = shown_info (self);
  *scale_x = *scale_y = 1;
  if (info == NULL)
    return FALSE;
  /* Pixels that are not square are shown as they lie in space. */
  *scale_x = fmax (port_scale (self) * relative_pitch (self, info), 1e-6);
  *scale_y = *scale_x * aspect_of (self, info);
  return TRUE;
}

/* The point of the picture in the middle of the widget. */
static void
get_centre (LamSliceView *self, const LamSnapshotInfo *info, double *column, double *row)
{
  lam_slice_port_get_centre (self->port, info->plane, column, row);
  if (!isfinite (*column) || lam_slice_port_get_fitted (self->port))
    *column = info->width / 2.0;
  if (!isfinite (*row) || lam_slice_port_get_fitted (self->port))
    *row = info->height / 2.0;
}

static void
get_origin (LamSliceView *self, double *x, double *y)
{
  double sx, sy, cx, cy;
  const LamSnapshotInfo *info = shown_info (self);
  *x = *y = 0;
  if (!lam_slice_view_get_scale (self, &sx, &sy))
    return;
  get_centre (self, info, &cx, &cy);
  *x = gtk_widget_get_width (GTK_WIDGET (self)) / 2.0 - cx * sx;
  *y = gtk_widget_get_height (GTK_WIDGET (self)) / 2.0 - cy * sy;
}

void
lam_slice_view_to_picture (LamSliceView *self, double x, double y, double *column, double *row)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  double sx, sy, ox, oy;
  lam_slice_view_get_scale (self, &sx, &sy);
  get_origin (self, &ox, &oy);
  *column = (x - ox) / sx;
  *row = (y - oy) / sy;
}

void
lam_slice_view_to_widget (LamSliceView *self, double column, double row, double *x, double *y)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  double sx, sy, ox, oy;
  lam_slice_view_get_scale (self, &sx, &sy);
  get_origin (self, &ox, &oy);
  *x = ox + column * sx;
  *y = oy + row * sy;
}

double
lam_slice_view_get_zoom (LamSliceView *self)
{
  double sx, sy;
  lam_slice_view_get_scale (self, &sx, &sy);
  return sx;
}

void
lam_slice_view_set_zoom (LamSliceView *self, double zoom, double centre_x, double centre_y)
{
  const LamSnapshotInfo *info = shown_info (self);
  if (info == NULL)
    return;
  lam_slice_port_set (self->port, CLAMP (zoom, 1.0 / 64, 256) / relative_pitch (self, info), info->plane,
                      CLAMP (centre_x, 0, info->width), CLAMP (centre_y, 0, info->height));
}

void
lam_slice_view_fit (LamSliceView *self)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  lam_slice_port_fit (self->port);
}

void
lam_slice_view_zoom_at (LamSliceView *self, double factor, double x, double y)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  double sx, sy, column, row;
  if (!lam_slice_view_get_scale (self, &sx, &sy))
    return;
  lam_slice_view_to_picture (self, x, y, &column, &row);
  double zoom = CLAMP (sx * factor, 1.0 / 64, 256), aspect = sy / sx;
  lam_slice_view_set_zoom (self, zoom, column - (x - gtk_widget_get_width (GTK_WIDGET (self)) / 2.0) / zoom,
                           row - (y - gtk_widget_get_height (GTK_WIDGET (self)) / 2.0) / (zoom * aspect));
}

/* -- drawing -- */

/* The look at the picture in device pixels. */
void
lam_slice_view_get_look (LamSliceView *self, LamSliceLook *look)
{
  double sx, sy, ox, oy, low = 0, high = 1;
  int factor = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  lam_slice_view_get_scale (self, &sx, &sy);
  get_origin (self, &ox, &oy);
  if (self->model != NULL)
    lam_slice_model_get_level (self->model, &low, &high);
  /* Whole device pixels, so that a picture at 100 % is not resampled. */
  *look = (LamSliceLook){.origin_x = rint (ox * factor),
                         .origin_y = rint (oy * factor),
                         .scale_x = sx * factor,
                         .scale_y = sy * factor,
                         .low = low,
                         .high = high,
                         .inverted = self->model != NULL && lam_slice_model_get_inverted (self->model)};
  if (!(look->high > look->low))
    look->high = nextafterf (look->low, INFINITY);
}

void
lam_slice_view_redraw (LamSliceView *self)
{
  if (self->use_gl)
    gtk_gl_area_queue_render (GTK_GL_AREA (self->area));
  else
    start_raster (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_drawn (LamSliceView *self, LamSnapshot *shot)
{
  if (self->drawn == shot)
    return;
  g_clear_pointer (&self->drawn, lam_snapshot_unref);
  self->drawn = shot != NULL ? lam_snapshot_ref (shot) : NULL;
}

LamSnapshot *
lam_slice_view_get_drawn (LamSliceView *self)
{
  return self->drawn;
}

static gboolean
render_cb (GtkGLArea *area, GdkGLContext *context, LamSliceView *self)
{
  LamSliceLook look;
  if (self->gl == NULL)
    return TRUE;
  lam_slice_view_get_look (self, &look);
  if (self->map_stale) {
    guint8 map[256 * 4];
    lam_colour_map_fill (lam_slice_model_get_colour_map (self->model), map);
    lam_slice_gl_set_map (self->gl, map);
    self->map_stale = FALSE;
  }
  if (!lam_slice_gl_set_snapshot (self->gl, lam_slice_view_get_shot (self))) {
    g_message ("The picture is larger than this GL's textures; drawing it on the CPU");
    lam_slice_view_set_use_gl (self, FALSE);
    return TRUE;
  }
  int factor = gtk_widget_get_scale_factor (GTK_WIDGET (area));
  lam_slice_gl_draw (self->gl, &look, gtk_widget_get_height (GTK_WIDGET (area)) * factor);
  set_drawn (self, lam_slice_view_get_shot (self));
  return TRUE;
}

static void
area_realize_cb (GtkGLArea *area, LamSliceView *self)
{
  g_autoptr (GError) error = NULL;
  gtk_gl_area_make_current (area);
  const GError *failed = gtk_gl_area_get_error (area);
  if (failed == NULL) {
    self->gl = lam_slice_gl_new (gdk_gl_context_get_use_es (gtk_gl_area_get_context (area)), &error);
    failed = error;
    self->map_stale = TRUE;
  }
  if (failed == NULL)
    return;
  g_message ("No GL for pictures (%s); drawing them on the CPU", failed->message);
  lam_slice_view_set_use_gl (self, FALSE);
}

static void
area_unrealize_cb (GtkGLArea *area, LamSliceView *self)
{
  if (self->gl == NULL)
    return;
  gtk_gl_area_make_current (area);
  g_clear_pointer (&self->gl, lam_slice_gl_free);
}

/* The same picture by the CPU, on another thread: 4K of pixels cost more than a frame may. */
typedef struct {
  GWeakRef view;
  LamSnapshot *shot;
  LamSliceLook look;
  guint8 map[256 * 4];
  int width, height;
} Raster;

static void
raster_free (gpointer data)
{
  Raster *raster = data;
  g_weak_ref_clear (&raster->view);
  g_clear_pointer (&raster->shot, lam_snapshot_unref);
  g_free (raster);
}

static void
raster_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Raster *raster = data;
  /* Not a texture: GTK 4.8 takes every one through floating point when the CPU draws. */
  cairo_surface_t *picture = cairo_image_surface_create (CAIRO_FORMAT_RGB24, raster->width, raster->height);
  if (cairo_surface_status (picture) != CAIRO_STATUS_SUCCESS) { /* no memory: nothing is drawn */
    cairo_surface_destroy (picture);
    g_task_return_pointer (task, NULL, NULL);
    return;
  }
  cairo_surface_flush (picture);
  lam_slice_raster (raster->shot, &raster->look, raster->map, raster->width, raster->height,
                    (guint32 *) (void *) cairo_image_surface_get_data (picture));
  cairo_surface_mark_dirty (picture);
  g_task_return_pointer (task, picture, (GDestroyNotify) cairo_surface_destroy);
}

static void
raster_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Raster *raster = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSliceView) self = g_weak_ref_get (&raster->view);
  cairo_surface_t *picture = g_task_propagate_pointer (G_TASK (result), NULL);
  if (self == NULL) {
    cairo_surface_destroy (picture);
    return;
  }
  gboolean again = self->again;
  self->working = self->again = FALSE;
  set_drawn (self, raster->shot);
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  self->picture = picture;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (again)
    start_raster (self);
}

static void
start_raster (LamSliceView *self)
{
  int factor = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self)) * factor;
  int height = gtk_widget_get_height (GTK_WIDGET (self)) * factor;
  /* What nobody sees is not painted; it is when it comes into sight. */
  if (self->model == NULL || width <= 0 || height <= 0 || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->again = self->working;
  if (self->working)
    return;
  self->working = TRUE;
  Raster *raster = g_new0 (Raster, 1);
  g_weak_ref_init (&raster->view, self);
  LamSnapshot *shot = lam_slice_view_get_shot (self);
  raster->shot = shot != NULL ? lam_snapshot_ref (shot) : NULL;
  lam_slice_view_get_look (self, &raster->look);
  lam_colour_map_fill (lam_slice_model_get_colour_map (self->model), raster->map);
  raster->width = width;
  raster->height = height;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, raster_done_cb, NULL);
  g_task_set_name (task, "lam_slice_raster");
  g_task_set_task_data (task, raster, raster_free);
  g_task_run_in_thread (task, raster_thread);
}

gboolean
lam_slice_view_is_settled (LamSliceView *self)
{
  return !self->working && !self->again;
}

static void
lam_slice_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  static const GdkRGBA black = {10 / 255.0, 10 / 255.0, 12 / 255.0, 1};
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, 0, width, height);
  if (self->use_gl)
    gtk_widget_snapshot_child (widget, self->area, snapshot);
  else {
    gtk_snapshot_append_color (snapshot, &black, &bounds);
    if (self->picture != NULL && width > 0 && height > 0) {
      cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &bounds);
      cairo_scale (cr, (double) width / cairo_image_surface_get_width (self->picture),
                   (double) height / cairo_image_surface_get_height (self->picture));
      cairo_set_source_surface (cr, self->picture, 0, 0);
      cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
      cairo_paint (cr);
      cairo_destroy (cr);
    }
  }
  LamSliceOverlay overlay = {.plane = lam_slice_view_get_plane (self),
                             .brief = self->plane == LAM_PLANE_ROW || self->plane == LAM_PLANE_COLUMN,
                             .line = self->line,
                             .crosshair = self->crosshair,
                             .hint = self->drag == LAM_DRAG_LEVEL ? _ ("sideways: width · up: brighter · Ctrl: fine")
                                     : self->window_tool          ? _ ("drag or arrows: window and level")
                                                                  : lam_slice_tools_hint (self)};
  /* Where it would stand on the picture's own words. */
  if (height < 110 || width < 260 || (overlay.brief && self->drag == LAM_DRAG_NONE))
    overlay.hint = NULL;
  lam_slice_view_get_scale (self, &overlay.scale_x, &overlay.scale_y);
  get_origin (self, &overlay.origin_x, &overlay.origin_y);
  if (lam_slice_view_get_shot (self) == NULL) {
    if (self->placeholder != NULL)
      lam_slice_overlay_words (widget, snapshot, self->placeholder);
    return;
  }
  LamMeasureSlot chosen = LAM_MEASURE_REGION;
  LamPlane plane = lam_slice_view_get_plane (self);
  if (self->measure != NULL && lam_measure_get_chosen (self->measure, plane, &chosen))
    for (int i = LAM_MEASURE_SLOTS - 1; i >= 0; i--)
      lam_slice_shape_snapshot (widget, snapshot,
                                lam_measure_get_shape (self->measure, plane, (chosen + i) % LAM_MEASURE_SLOTS),
                                &overlay, TRUE);
  lam_slice_overlay_snapshot (widget, snapshot, self->model, &overlay);
}

static void
lam_slice_view_realize (GtkWidget *widget)
{
  /* Where windows are drawn by the CPU, a GL picture would be made by the CPU too, and then copied. */
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  GskRenderer *renderer = gtk_native_get_renderer (gtk_widget_get_native (widget));
  if (!self->gl_decided && g_str_equal (G_OBJECT_TYPE_NAME (renderer), "GskCairoRenderer"))
    lam_slice_view_set_use_gl (self, FALSE);
  GTK_WIDGET_CLASS (lam_slice_view_parent_class)->realize (widget);
}

static void
lam_slice_view_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_slice_view_parent_class)->map (widget);
  lam_slice_view_redraw (LAM_SLICE_VIEW (widget));
}

static void
lam_slice_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamSliceView *self = LAM_SLICE_VIEW (widget);
  const GPtrArray *views = lam_slice_port_get_views (self->port);
  gtk_widget_size_allocate (self->area, &(GtkAllocation){0, 0, width, height}, baseline);
  if (!self->use_gl)
    start_raster (self);
  /* Where it has less room the linked ones are fitted smaller too. */
  for (guint i = 0; i < views->len && views->len > 1 && lam_slice_port_get_fitted (self->port); i++)
    if (g_ptr_array_index (views, i) != self)
      lam_slice_view_redraw (g_ptr_array_index (views, i));
}

static void
lam_slice_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                        int *minimum_baseline, int *natural_baseline)
{
  gboolean linked = LAM_SLICE_VIEW (widget)->plane >= 0;
  *minimum = linked ? 48 : 160;
  *natural = linked ? 160 : 480;
}

/* -- model -- */

static void
update_accessible (LamSliceView *self)
{
  const LamSnapshotInfo *info = shown_info (self);
  if (info == NULL)
    return;
  static const char *const planes[LAM_ALL_PLANES] = {N_ ("Slice %ld of 0 to %ld"), N_ ("Row %ld of 0 to %ld"),
                                                     N_ ("Column %ld of 0 to %ld"), N_ ("View %ld of 0 to %ld"),
                                                     N_ ("Sinogram of detector row %ld of 0 to %ld")};
  double low, high;
  lam_slice_model_get_level (self->model, &low, &high);
  g_autofree char *place = g_strdup_printf (_ (planes[info->plane]), (long) info->index, (long) info->count - 1);
  g_autofree char *name = self->title != NULL ? g_strdup_printf ("%s: %s", self->title, place) : g_strdup (place);
  g_autofree char *cursor = lam_slice_model_describe_cursor (self->model);
  g_autofree char *from = lam_slice_model_format_value (low, high - low);
  g_autofree char *to = lam_slice_model_format_value (high, high - low);
  g_autofree char *region = self->measure != NULL ? lam_measure_describe (self->measure) : NULL;
  g_autofree char *text =
      g_strdup_printf (_ ("%s; shown from %s to %s %s%s%s"), cursor != NULL ? cursor : _ ("no pixel chosen"), from, to,
                       info->value_unit, region != NULL ? "; " : "", region != NULL ? region : "");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void
model_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamSliceView *self)
{
  const char *name = pspec->name;
  if (g_str_equal (name, "stats") || g_str_equal (name, "auto-level") || g_str_equal (name, "generation"))
    return;
  update_accessible (self);
  /* The cursor moves with every motion event and changes only the overlay. */
  if (g_str_equal (name, "cursor") || g_str_equal (name, "mark") || g_str_equal (name, "index")
      || (g_str_equal (name, "plane") && self->plane >= 0)) {
    gtk_widget_queue_draw (GTK_WIDGET (self));
    return;
  }
  /* Of several planes one has a new picture. */
  if (g_str_equal (name, "snapshot") && self->plane >= 0 && self->drawn == lam_slice_view_get_shot (self))
    return;
  if (g_str_equal (name, "colour-map"))
    self->map_stale = TRUE;
  if (g_str_equal (name, "plane"))
    lam_slice_port_fit (self->port);
  lam_slice_view_redraw (self);
}

void
lam_slice_view_set_model (LamSliceView *self, LamSliceModel *model)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  if (self->model == model)
    return;
  if (self->model != NULL)
    g_signal_handlers_disconnect_by_func (self->model, model_notify_cb, self);
  g_set_object (&self->model, model);
  if (model != NULL)
    g_signal_connect_object (model, "notify", G_CALLBACK (model_notify_cb), self, 0);
  self->map_stale = TRUE;
  lam_slice_port_fit (self->port);
  update_accessible (self);
  lam_slice_view_redraw (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODEL]);
}

LamSliceModel *
lam_slice_view_get_model (LamSliceView *self)
{
  return self->model;
}

LamPlane
lam_slice_view_get_plane (LamSliceView *self)
{
  return self->plane >= 0      ? (LamPlane) self->plane
         : self->model != NULL ? lam_slice_model_get_plane (self->model)
                               : LAM_PLANE_SLICE;
}

void
lam_slice_view_set_plane (LamSliceView *self, int plane, const char *placeholder)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self) && plane < LAM_ALL_PLANES);
  self->plane = plane;
  g_free (self->placeholder);
  self->placeholder = g_strdup (placeholder);
  gtk_widget_queue_resize (GTK_WIDGET (self));
  lam_slice_view_redraw (self);
}

void
lam_slice_view_set_line (LamSliceView *self, const LamSliceLine *line)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  self->line = line != NULL ? *line : (LamSliceLine){.x0 = NAN};
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lam_slice_view_set_stretch (LamSliceView *self, double stretch)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self) && stretch > 0);
  if (self->stretch == stretch)
    return;
  self->stretch = stretch;
  lam_slice_view_redraw (self);
}

void
lam_slice_view_set_title (LamSliceView *self, const char *title)
{
  g_free (self->title);
  self->title = g_strdup (title);
}

void
lam_slice_view_set_offers_planes (LamSliceView *self, gboolean offers)
{
  self->offers_planes = offers;
}

void
lam_slice_view_set_bar_in_copies (LamSliceView *self, gboolean bar)
{
  self->bar_in_copies = bar;
}

static void
port_changed_cb (LamSlicePort *port, LamSliceView *self)
{
  lam_slice_view_redraw (self);
}

static void
drop_port (LamSliceView *self)
{
  if (self->port == NULL)
    return;
  g_signal_handlers_disconnect_by_func (self->port, port_changed_cb, self);
  lam_slice_port_remove_view (self->port, self);
  g_clear_object (&self->port);
}

void
lam_slice_view_set_port (LamSliceView *self, LamSlicePort *port)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self) && LAM_IS_SLICE_PORT (port));
  g_object_ref (port);
  drop_port (self);
  self->port = port;
  lam_slice_port_add_view (port, self);
  g_signal_connect (port, "changed", G_CALLBACK (port_changed_cb), self);
  lam_slice_view_redraw (self);
}

LamSlicePort *
lam_slice_view_get_port (LamSliceView *self)
{
  return self->port;
}

static void
shape_changed_cb (LamMeasure *measure, int plane, int slot, LamSliceView *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
stats_changed_cb (LamMeasure *measure, LamSliceView *self)
{
  update_accessible (self);
}

void
lam_slice_view_set_measure (LamSliceView *self, LamMeasure *measure)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self) && self->measure == NULL);
  self->measure = g_object_ref (measure);
  g_signal_connect_object (measure, "shape-changed", G_CALLBACK (shape_changed_cb), self, 0);
  g_signal_connect_object (measure, "stats-changed", G_CALLBACK (stats_changed_cb), self, 0);
}

void
lam_slice_view_set_tool (LamSliceView *self, LamSliceTool tool)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self) && tool < LAM_SLICE_TOOLS);
  if (tool != LAM_SLICE_TOOL_POINTER && self->window_tool)
    g_object_set (self, "window-tool", FALSE, NULL);
  if (self->tool == tool)
    return;
  self->tool = tool;
  self->cursor_name = NULL;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TOOL]);
}

LamSliceTool
lam_slice_view_get_tool (LamSliceView *self)
{
  return self->tool;
}

void
lam_slice_view_set_use_gl (LamSliceView *self, gboolean use_gl)
{
  g_return_if_fail (LAM_IS_SLICE_VIEW (self));
  self->gl_decided = TRUE;
  if (self->use_gl == !!use_gl)
    return;
  self->use_gl = !!use_gl;
  gtk_widget_set_child_visible (self->area, self->use_gl);
  lam_slice_view_redraw (self);
}

gboolean
lam_slice_view_get_use_gl (LamSliceView *self)
{
  return self->use_gl;
}

/* -- GObject -- */

static void
lam_slice_view_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamSliceView *self = LAM_SLICE_VIEW (object);
  switch (id) {
  case PROP_MODEL:
    g_value_set_object (value, self->model);
    break;
  case PROP_CROSSHAIR:
    g_value_set_boolean (value, self->crosshair);
    break;
  case PROP_WINDOW_TOOL:
    g_value_set_boolean (value, self->window_tool);
    break;
  case PROP_TOOL:
    g_value_set_int (value, self->tool);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_slice_view_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  LamSliceView *self = LAM_SLICE_VIEW (object);
  switch (id) {
  case PROP_MODEL:
    lam_slice_view_set_model (self, g_value_get_object (value));
    break;
  case PROP_CROSSHAIR:
    self->crosshair = g_value_get_boolean (value);
    gtk_widget_queue_draw (GTK_WIDGET (self));
    break;
  case PROP_WINDOW_TOOL:
    self->window_tool = g_value_get_boolean (value);
    if (self->window_tool)
      lam_slice_view_set_tool (self, LAM_SLICE_TOOL_POINTER);
    gtk_widget_queue_draw (GTK_WIDGET (self));
    break;
  case PROP_TOOL:
    lam_slice_view_set_tool (self, g_value_get_int (value));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_slice_view_dispose (GObject *object)
{
  LamSliceView *self = LAM_SLICE_VIEW (object);
  if (self->model != NULL)
    g_signal_handlers_disconnect_by_func (self->model, model_notify_cb, self);
  drop_port (self);
  g_clear_pointer (&self->area, gtk_widget_unparent);
  g_clear_pointer (&self->placeholder, g_free);
  g_clear_pointer (&self->title, g_free);
  g_clear_object (&self->measure);
  g_clear_object (&self->model);
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  g_clear_pointer (&self->drawn, lam_snapshot_unref);
  G_OBJECT_CLASS (lam_slice_view_parent_class)->dispose (object);
}

static void
lam_slice_view_class_init (LamSliceViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->get_property = lam_slice_view_get_property;
  object_class->set_property = lam_slice_view_set_property;
  object_class->dispose = lam_slice_view_dispose;
  widget_class->snapshot = lam_slice_view_snapshot;
  widget_class->realize = lam_slice_view_realize;
  widget_class->map = lam_slice_view_map;
  widget_class->size_allocate = lam_slice_view_size_allocate;
  widget_class->measure = lam_slice_view_measure;
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  properties[PROP_MODEL] = g_param_spec_object ("model", NULL, NULL, LAM_TYPE_SLICE_MODEL, flags);
  properties[PROP_CROSSHAIR] = g_param_spec_boolean ("crosshair", NULL, NULL, TRUE, flags);
  properties[PROP_WINDOW_TOOL] = g_param_spec_boolean ("window-tool", NULL, NULL, FALSE, flags);
  properties[PROP_TOOL] =
      g_param_spec_int ("tool", NULL, NULL, 0, LAM_SLICE_TOOLS - 1, 0, flags | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_css_name (widget_class, "sliceview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  lam_slice_input_class_init (widget_class);
  lam_slice_tools_class_init (widget_class);
}

static void
lam_slice_view_init (LamSliceView *self)
{
  self->use_gl = self->crosshair = TRUE;
  self->stretch = 1;
  self->line.x0 = NAN;
  self->plane = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Slice"), -1);
  self->area = gtk_gl_area_new ();
  gtk_gl_area_set_auto_render (GTK_GL_AREA (self->area), FALSE);
  gtk_gl_area_set_required_version (GTK_GL_AREA (self->area), 3, 0);
  gtk_widget_set_can_target (self->area, FALSE);
  g_signal_connect (self->area, "realize", G_CALLBACK (area_realize_cb), self);
  g_signal_connect (self->area, "unrealize", G_CALLBACK (area_unrealize_cb), self);
  g_signal_connect (self->area, "render", G_CALLBACK (render_cb), self);
  gtk_widget_set_parent (self->area, GTK_WIDGET (self));
  lam_slice_input_init (self);
  g_autoptr (LamSlicePort) port = lam_slice_port_new ();
  lam_slice_view_set_port (self, port);
}

GtkWidget *
lam_slice_view_new (LamSliceModel *model)
{
  return g_object_new (LAM_TYPE_SLICE_VIEW, "model", model, NULL);
}
