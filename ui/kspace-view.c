#include "config.h"

#include "kspace-view.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/canvas.h"
#include "palette.h"

#define NOTCH 1.25
#define STEP 40 /* px of an arrow */
#define MARGIN 0.06
#define MOST_TICKS 12

struct _LamKspaceView {
  GtkWidget parent_instance;
  LamPulseqKspace *kspace;
  LamKspacePlane plane;
  double x, y, scale; /* 1/m at the middle; 1/m a pixel, 0: fit when it is known */
  double start_x, start_y;
  double pointer_x, pointer_y;
  GdkTexture *texture;
};

static guint describe_signal;

G_DEFINE_FINAL_TYPE (LamKspaceView, lam_kspace_view, GTK_TYPE_WIDGET)

static const char *const names[] = {"kx", "ky", "kz"};
static const int axes[LAM_KSPACE_PLANES][2] = {{0, 1}, {0, 2}, {1, 2}};

/* Those of the map that stand out from the paper: neither its palest on white nor its darkest on black. */
static void
fill_colours (guint8 rgba[256 * 4])
{
  guint8 all[256 * 4];
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  lam_colour_map_fill (LAM_COLOUR_MAP_VIRIDIS, all);
  for (int i = 0; i < 256; i++)
    memcpy (rgba + 4 * i, all + 4 * (dark ? 70 + i * 185 / 255 : i * 215 / 255), 4);
}

/* ---- what is looked at ---- */

static void
ask (LamKspaceView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  int factor = gtk_widget_get_scale_factor (widget);
  guint8 colours[256 * 4];
  fill_colours (colours);
  LamKspaceFrame frame = {self->plane,
                          self->x,
                          self->y,
                          self->scale / factor,
                          gtk_widget_get_width (widget) * factor,
                          gtk_widget_get_height (widget) * factor};
  lam_pulseq_kspace_set_view (self->kspace, &frame, colours);
  gtk_widget_queue_draw (widget);
}

void
lam_kspace_view_fit (LamKspaceView *self)
{
  double extent[3], width = gtk_widget_get_width (GTK_WIDGET (self)),
                    height = gtk_widget_get_height (GTK_WIDGET (self));
  self->x = self->y = self->scale = 0;
  if (!lam_pulseq_kspace_get_extent (self->kspace, extent) || width < 1 || height < 1)
    return;
  double across = 2 * extent[axes[self->plane][0]] / width, up = 2 * extent[axes[self->plane][1]] / height;
  self->scale = fmax (fmax (across, up) * (1 + 2 * MARGIN), 1e-9);
  if (fmax (across, up) == 0) /* all at one place */
    self->scale = 1;
  ask (self);
}

void
lam_kspace_view_set_plane (LamKspaceView *self, LamKspacePlane plane)
{
  g_return_if_fail (LAM_IS_KSPACE_VIEW (self));
  self->plane = plane;
  lam_kspace_view_fit (self);
}

LamKspacePlane
lam_kspace_view_get_plane (LamKspaceView *self)
{
  return self->plane;
}

double
lam_kspace_view_get_scale (LamKspaceView *self)
{
  return self->scale;
}

static void
to_k (LamKspaceView *self, double px, double py, double *x, double *y)
{
  *x = self->x + (px - gtk_widget_get_width (GTK_WIDGET (self)) / 2.0) * self->scale;
  *y = self->y - (py - gtk_widget_get_height (GTK_WIDGET (self)) / 2.0) * self->scale;
}

static void
zoom_at (LamKspaceView *self, double factor, double px, double py)
{
  double x, y;
  if (self->scale <= 0)
    return;
  to_k (self, px, py, &x, &y);
  double scale = CLAMP (self->scale / factor, 1e-6, 1e6);
  self->x = x + (self->x - x) * scale / self->scale;
  self->y = y + (self->y - y) * scale / self->scale;
  self->scale = scale;
  ask (self);
}

/* ---- drawing ---- */

static void
draw_text (LamKspaceView *self, GtkSnapshot *snapshot, const char *text, double x, double y, double align)
{
  lam_small_text (GTK_WIDGET (self), snapshot, text, 0.8, LAM_COLOUR_DIM, x, y, align);
}

static void
draw_grid (LamKspaceView *self, GtkSnapshot *snapshot, double width, double height)
{
  GdkRGBA grid = lam_palette (GTK_WIDGET (self), LAM_COLOUR_GRID),
          axis = lam_palette (GTK_WIDGET (self), LAM_COLOUR_DIM);
  double ticks[MOST_TICKS + 1], step, low, high, top, bottom;
  to_k (self, 0, height, &low, &bottom);
  to_k (self, width, 0, &high, &top);
  int n = lam_canvas_ticks (low, high, CLAMP ((int) (width / 110), 1, MOST_TICKS), ticks, &step);
  for (int i = 0; i < n; i++) {
    double x = floor (width / 2 + (ticks[i] - self->x) / self->scale);
    g_autofree char *text = g_strdup_printf ("%g", ticks[i]);
    gtk_snapshot_append_color (snapshot, ticks[i] == 0 ? &axis : &grid, &GRAPHENE_RECT_INIT (x, 0, 1, height));
    draw_text (self, snapshot, text, x + 4, height - 9, 0);
  }
  n = lam_canvas_ticks (bottom, top, CLAMP ((int) (height / 70), 1, MOST_TICKS), ticks, &step);
  for (int i = 0; i < n; i++) {
    double y = floor (height / 2 - (ticks[i] - self->y) / self->scale);
    g_autofree char *text = g_strdup_printf ("%g", ticks[i]);
    gtk_snapshot_append_color (snapshot, ticks[i] == 0 ? &axis : &grid, &GRAPHENE_RECT_INIT (0, y, width, 1));
    draw_text (self, snapshot, text, 4, y - 8, 0);
  }
  g_autofree char *across = g_strdup_printf ("%s, 1/m", names[axes[self->plane][0]]),
                  *up = g_strdup_printf ("%s, 1/m", names[axes[self->plane][1]]);
  draw_text (self, snapshot, across, width - 6, height - 24, 1);
  draw_text (self, snapshot, up, 6, 10, 0);
}

/* From the first sample to the last. */
static void
draw_legend (LamKspaceView *self, GtkSnapshot *snapshot, double width)
{
  guint8 colours[256 * 4];
  GskColorStop stops[9];
  fill_colours (colours);
  for (int i = 0; i < 9; i++) {
    const guint8 *c = colours + 4 * (i * 255 / 8);
    stops[i] = (GskColorStop){i / 8.0f, {c[0] / 255.0f, c[1] / 255.0f, c[2] / 255.0f, 1}};
  }
  double x = width - 170;
  gtk_snapshot_append_linear_gradient (snapshot, &GRAPHENE_RECT_INIT (x, 6, 100, 8), &GRAPHENE_POINT_INIT (x, 0),
                                       &GRAPHENE_POINT_INIT (x + 100, 0), stops, 9);
  draw_text (self, snapshot, _ ("first"), x - 6, 10, 1);
  draw_text (self, snapshot, _ ("last"), x + 106, 10, 0);
}

static void
lam_kspace_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamKspaceView *self = LAM_KSPACE_VIEW (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  LamKspaceFrame made;
  GBytes *picture = lam_pulseq_kspace_get_picture (self->kspace, &made);
  if (self->scale <= 0)
    return;
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  draw_grid (self, snapshot, width, height);
  if (picture != NULL && self->texture == NULL)
    self->texture = gdk_memory_texture_new (made.width, made.height, GDK_MEMORY_R8G8B8A8_PREMULTIPLIED, picture,
                                            (gsize) made.width * 4);
  if (picture != NULL && made.plane == self->plane) {
    /* One that was made for another frame is shown where it belongs. */
    double px = made.scale / self->scale, w = made.width * px, h = made.height * px;
    double x = width / 2 + (made.x - self->x) / self->scale - w / 2,
           y = height / 2 - (made.y - self->y) / self->scale - h / 2;
    gtk_snapshot_append_texture (snapshot, self->texture, &GRAPHENE_RECT_INIT (x, y, w, h));
  }
  draw_legend (self, snapshot, width);
  gtk_snapshot_pop (snapshot);
}

static void
lam_kspace_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                         int *minimum_baseline, int *natural_baseline)
{
  *minimum = 200;
  *natural = 600;
}

static void
lam_kspace_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamKspaceView *self = LAM_KSPACE_VIEW (widget);
  if (self->scale > 0)
    ask (self);
  else
    lam_kspace_view_fit (self);
}

static void
set_shown (GtkWidget *widget, gboolean shown)
{
  lam_pulseq_kspace_set_shown (LAM_KSPACE_VIEW (widget)->kspace, shown);
}

static void
lam_kspace_view_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_kspace_view_parent_class)->map (widget);
  set_shown (widget, TRUE);
}

static void
lam_kspace_view_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_kspace_view_parent_class)->unmap (widget);
  set_shown (widget, FALSE);
}

/* ---- the hand ---- */

static void
say (LamKspaceView *self)
{
  double x, y;
  g_autofree char *text = NULL;
  if (isfinite (self->pointer_x) && self->scale > 0) {
    to_k (self, self->pointer_x, self->pointer_y, &x, &y);
    text = g_strdup_printf ("%s %.4g · %s %.4g 1/m", names[axes[self->plane][0]], x, names[axes[self->plane][1]], y);
  }
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text != NULL ? text : "",
                                  -1);
  g_signal_emit (self, describe_signal, 0, text);
}

static void
motion_cb (GtkEventControllerMotion *controller, double x, double y, LamKspaceView *self)
{
  self->pointer_x = x;
  self->pointer_y = y;
  say (self);
}

static void
leave_cb (GtkEventControllerMotion *controller, LamKspaceView *self)
{
  self->pointer_x = NAN;
  say (self);
}

static gboolean
scroll_cb (GtkEventControllerScroll *controller, double dx, double dy, LamKspaceView *self)
{
  gboolean here = isfinite (self->pointer_x);
  zoom_at (self, pow (NOTCH, -dy), here ? self->pointer_x : gtk_widget_get_width (GTK_WIDGET (self)) / 2.0,
           here ? self->pointer_y : gtk_widget_get_height (GTK_WIDGET (self)) / 2.0);
  return TRUE;
}

static void
drag_begin_cb (GtkGestureDrag *gesture, double x, double y, LamKspaceView *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->start_x = self->x;
  self->start_y = self->y;
}

static void
drag_update_cb (GtkGestureDrag *gesture, double dx, double dy, LamKspaceView *self)
{
  if (dx == 0 && dy == 0)
    return;
  self->x = self->start_x - dx * self->scale;
  self->y = self->start_y + dy * self->scale;
  ask (self);
}

static void
pressed_cb (GtkGestureClick *gesture, int n, double x, double y, LamKspaceView *self)
{
  if (n == 2)
    lam_kspace_view_fit (self);
}

static gboolean
pan_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamKspaceView *self = LAM_KSPACE_VIEW (widget);
  int dx, dy;
  g_variant_get (args, "(ii)", &dx, &dy);
  self->x += dx * STEP * self->scale;
  self->y += dy * STEP * self->scale;
  ask (self);
  return TRUE;
}

static gboolean
zoom_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  LamKspaceView *self = LAM_KSPACE_VIEW (widget);
  double factor = g_variant_get_double (args);
  if (factor == 0)
    lam_kspace_view_fit (self);
  else
    zoom_at (self, factor, gtk_widget_get_width (widget) / 2.0, gtk_widget_get_height (widget) / 2.0);
  return TRUE;
}

/* ---- the rest ---- */

static void
ready_cb (LamPulseqKspace *kspace, LamKspaceView *self)
{
  g_clear_object (&self->texture);
  lam_kspace_view_fit (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
changed_cb (LamPulseqKspace *kspace, LamKspaceView *self)
{
  g_clear_object (&self->texture);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
dark_notify_cb (AdwStyleManager *manager, GParamSpec *pspec, LamKspaceView *self)
{
  if (self->scale > 0)
    ask (self);
}

static void
lam_kspace_view_dispose (GObject *object)
{
  LamKspaceView *self = LAM_KSPACE_VIEW (object);
  g_clear_object (&self->texture);
  g_clear_object (&self->kspace);
  G_OBJECT_CLASS (lam_kspace_view_parent_class)->dispose (object);
}

static void
lam_kspace_view_class_init (LamKspaceViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    int dx, dy;
  } pans[] = {{GDK_KEY_Left, -1, 0}, {GDK_KEY_Right, 1, 0}, {GDK_KEY_Up, 0, 1}, {GDK_KEY_Down, 0, -1}};
  static const struct {
    guint key;
    double factor;
  } zooms[] = {{GDK_KEY_plus, NOTCH},
               {GDK_KEY_equal, NOTCH},
               {GDK_KEY_KP_Add, NOTCH},
               {GDK_KEY_minus, 1 / NOTCH},
               {GDK_KEY_KP_Subtract, 1 / NOTCH},
               {GDK_KEY_0, 0},
               {GDK_KEY_f, 0},
               {GDK_KEY_Home, 0}};
  G_OBJECT_CLASS (klass)->dispose = lam_kspace_view_dispose;
  widget_class->snapshot = lam_kspace_view_snapshot;
  widget_class->measure = lam_kspace_view_measure;
  widget_class->size_allocate = lam_kspace_view_size_allocate;
  widget_class->map = lam_kspace_view_map;
  widget_class->unmap = lam_kspace_view_unmap;
  gtk_widget_class_set_css_name (widget_class, "kspaceview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  for (guint i = 0; i < G_N_ELEMENTS (pans); i++)
    gtk_widget_class_add_binding (widget_class, pans[i].key, 0, pan_key, "(ii)", pans[i].dx, pans[i].dy);
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    gtk_widget_class_add_binding (widget_class, zooms[i].key, 0, zoom_key, "d", zooms[i].factor);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_plus, GDK_SHIFT_MASK, zoom_key, "d", NOTCH);
  describe_signal = g_signal_new ("describe", LAM_TYPE_KSPACE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_STRING);
}

static void
lam_kspace_view_init (LamKspaceView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  self->pointer_x = NAN;
  gtk_widget_set_focusable (widget, TRUE);
  GtkGesture *drag = gtk_gesture_drag_new (), *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new (),
                     *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin_cb), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update_cb), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed_cb), self);
  g_signal_connect (motion, "motion", G_CALLBACK (motion_cb), self);
  g_signal_connect (motion, "leave", G_CALLBACK (leave_cb), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scroll_cb), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, scroll);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (dark_notify_cb), self, 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Samples in k-space: arrows move, plus and minus zoom, 0 shows all"), -1);
}

GtkWidget *
lam_kspace_view_new (LamPulseqKspace *kspace)
{
  LamKspaceView *self = g_object_new (LAM_TYPE_KSPACE_VIEW, NULL);
  self->kspace = g_object_ref (kspace);
  g_signal_connect_object (kspace, "ready", G_CALLBACK (ready_cb), self, 0);
  g_signal_connect_object (kspace, "changed", G_CALLBACK (changed_cb), self, 0);
  return GTK_WIDGET (self);
}
