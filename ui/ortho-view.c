#include "config.h"

#include "ortho-view.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define GAP 4

struct _LamOrthoView {
  GtkWidget parent_instance;
  LamSliceModel *model;
  LamSliceView *views[LAM_PLANES];
};

G_DEFINE_FINAL_TYPE (LamOrthoView, lam_ortho_view, GTK_TYPE_WIDGET)

/* Three ways to put them: slice at the left and the other two above each other, all in a row, all above each other. The one that
 * shows them largest is taken. */
typedef enum { SLICE_LEFT, ROW_OF_THREE, STACK } Arrangement;

/* Widths and heights of the three pictures in pixels of the slice. */
static void
picture_sizes (LamOrthoView *self, double w[LAM_PLANES], double h[LAM_PLANES])
{
  double extent[LAM_PLANES], pitch[LAM_PLANES] = {1, 1, 1};
  for (int p = 0; p < LAM_PLANES; p++) {
    LamSnapshot *shot = self->model != NULL ? lam_slice_model_peek (self->model, p) : NULL;
    LamPlane down, across;
    lam_plane_axes (p, &down, &across);
    if (shot != NULL && lam_snapshot_info (shot)->pitch_x > 0) {
      pitch[across] = lam_snapshot_info (shot)->pitch_x;
      pitch[down] = lam_snapshot_info (shot)->pitch_y;
    }
  }
  for (int p = 0; p < LAM_PLANES; p++)
    extent[p] = self->model != NULL ? MAX (lam_slice_model_get_plane_count (self->model, p), 1) * pitch[p] : 1;
  for (int p = 0; p < LAM_PLANES; p++) {
    LamPlane down, across;
    lam_plane_axes (p, &down, &across);
    w[p] = extent[across];
    h[p] = extent[down];
  }
}

static void
share (double total, int n, const double *parts, double *out)
{
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += parts[i];
  /* Never so thin that its words have no room. */
  for (int i = 0; i < n; i++)
    out[i] = fmax (floor (total * parts[i] / sum), fmin (72, total / n));
  double used = 0;
  int largest = 0;
  for (int i = 0; i < n; i++) {
    used += out[i];
    largest = out[i] > out[largest] ? i : largest;
  }
  out[largest] -= used - total;
}

/* The three places in an arrangement, and the scale at which all three pictures fit theirs. */
static double
arrange (Arrangement arrangement, double width, double height, const double w[LAM_PLANES], const double h[LAM_PLANES],
         graphene_rect_t places[LAM_PLANES])
{
  const LamPlane S = LAM_PLANE_SLICE, R = LAM_PLANE_ROW, C = LAM_PLANE_COLUMN;
  double a[3], b[2], scale = INFINITY;
  switch (arrangement) {
  case SLICE_LEFT:
    share (width - GAP, 2, (double[]){w[S], fmax (w[R], w[C])}, a);
    share (height - GAP, 2, (double[]){h[R], h[C]}, b);
    places[S] = GRAPHENE_RECT_INIT (0, 0, a[0], height);
    places[R] = GRAPHENE_RECT_INIT (a[0] + GAP, 0, a[1], b[0]);
    places[C] = GRAPHENE_RECT_INIT (a[0] + GAP, b[0] + GAP, a[1], b[1]);
    break;
  case ROW_OF_THREE:
    share (width - 2 * GAP, 3, (double[]){w[S], w[R], w[C]}, a);
    places[S] = GRAPHENE_RECT_INIT (0, 0, a[0], height);
    places[R] = GRAPHENE_RECT_INIT (a[0] + GAP, 0, a[1], height);
    places[C] = GRAPHENE_RECT_INIT (a[0] + a[1] + 2 * GAP, 0, a[2], height);
    break;
  case STACK:
    share (height - 2 * GAP, 3, (double[]){h[S], h[R], h[C]}, a);
    places[S] = GRAPHENE_RECT_INIT (0, 0, width, a[0]);
    places[R] = GRAPHENE_RECT_INIT (0, a[0] + GAP, width, a[1]);
    places[C] = GRAPHENE_RECT_INIT (0, a[0] + a[1] + 2 * GAP, width, a[2]);
    break;
  }
  for (int p = 0; p < LAM_PLANES; p++)
    scale = fmin (scale, fmin (places[p].size.width / w[p], places[p].size.height / h[p]));
  return scale;
}

static void
lam_ortho_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LamOrthoView *self = LAM_ORTHO_VIEW (widget);
  double w[LAM_PLANES], h[LAM_PLANES], best = 0;
  graphene_rect_t places[LAM_PLANES], tried[LAM_PLANES];
  picture_sizes (self, w, h);
  for (int i = 0; i < 3; i++) {
    double scale = arrange (i, width, height, w, h, tried);
    if (i == 0 || scale > best * 1.001) {
      best = scale;
      memcpy (places, tried, sizeof places);
    }
  }
  for (int p = 0; p < LAM_PLANES; p++) {
    const graphene_rect_t *r = &places[p];
    gtk_widget_size_allocate (GTK_WIDGET (self->views[p]),
                              &(GtkAllocation){(int) r->origin.x, (int) r->origin.y, MAX ((int) r->size.width, 1),
                                               MAX ((int) r->size.height, 1)},
                              -1);
  }
}

static void
lam_ortho_view_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                        int *minimum_baseline, int *natural_baseline)
{
  for (int p = 0; p < LAM_PLANES; p++)
    gtk_widget_measure (GTK_WIDGET (LAM_ORTHO_VIEW (widget)->views[p]), orientation, -1, minimum, natural, NULL, NULL);
  *minimum = 160;
  *natural = 480;
}

/* Sizes of the pictures decide about the places. */
static void
model_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamOrthoView *self)
{
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

void
lam_ortho_view_set_model (LamOrthoView *self, LamSliceModel *model, LamMeasure *measure)
{
  g_return_if_fail (LAM_IS_ORTHO_VIEW (self) && self->model == NULL);
  self->model = g_object_ref (model);
  for (int p = 0; p < LAM_PLANES; p++) {
    lam_slice_view_set_model (self->views[p], model);
    lam_slice_view_set_measure (self->views[p], measure);
  }
  g_signal_connect_object (model, "notify::count", G_CALLBACK (model_notify_cb), self, 0);
}

LamSliceView *
lam_ortho_view_get_view (LamOrthoView *self, LamPlane plane)
{
  g_return_val_if_fail (LAM_IS_ORTHO_VIEW (self) && plane < LAM_PLANES, NULL);
  return self->views[plane];
}

static gboolean
lam_ortho_view_focus (GtkWidget *widget, GtkDirectionType direction)
{
  /* From outside to the view that was chosen last. */
  LamOrthoView *self = LAM_ORTHO_VIEW (widget);
  if (gtk_widget_get_focus_child (widget) == NULL && self->model != NULL)
    return gtk_widget_grab_focus (GTK_WIDGET (self->views[lam_slice_model_get_plane (self->model)]));
  return GTK_WIDGET_CLASS (lam_ortho_view_parent_class)->focus (widget, direction);
}

static void
lam_ortho_view_dispose (GObject *object)
{
  LamOrthoView *self = LAM_ORTHO_VIEW (object);
  for (int p = 0; p < LAM_PLANES; p++)
    if (self->views[p] != NULL) {
      gtk_widget_unparent (GTK_WIDGET (self->views[p]));
      self->views[p] = NULL;
    }
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_ortho_view_parent_class)->dispose (object);
}

static void
lam_ortho_view_class_init (LamOrthoViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_ortho_view_dispose;
  widget_class->size_allocate = lam_ortho_view_size_allocate;
  widget_class->measure = lam_ortho_view_measure;
  widget_class->focus = lam_ortho_view_focus;
  gtk_widget_class_set_css_name (widget_class, "orthoview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lam_ortho_view_init (LamOrthoView *self)
{
  static const char *const empty[LAM_PLANES] = {N_ ("no picture yet"), N_ ("run to see this plane"),
                                                N_ ("run to see this plane")};
  g_autoptr (LamSlicePort) port = lam_slice_port_new ();
  for (int p = 0; p < LAM_PLANES; p++) {
    self->views[p] = LAM_SLICE_VIEW (lam_slice_view_new (NULL));
    lam_slice_view_set_plane (self->views[p], p, _ (empty[p]));
    lam_slice_view_set_port (self->views[p], port);
    gtk_widget_set_parent (GTK_WIDGET (self->views[p]), GTK_WIDGET (self));
  }
  /* One tool in the hand, whichever picture it is over. */
  for (int p = 1; p < LAM_PLANES; p++) {
    GBindingFlags both = G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE;
    g_object_bind_property (self->views[0], "tool", self->views[p], "tool", both);
    g_object_bind_property (self->views[0], "window-tool", self->views[p], "window-tool", both);
  }
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Three planes"), -1);
}
