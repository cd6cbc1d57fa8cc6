#include "config.h"

#include "slice-port.h"

#include <math.h>

struct _LamSlicePort {
  GObject parent_instance;
  gboolean fitted;
  double scale;
  double centre[LAM_AXES]; /* along the axis of each plane's index */
  GPtrArray *views;
};

G_DEFINE_FINAL_TYPE (LamSlicePort, lam_slice_port, G_TYPE_OBJECT)

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

gboolean
lam_slice_port_get_fitted (LamSlicePort *self)
{
  return self->fitted;
}

void
lam_slice_port_fit (LamSlicePort *self)
{
  self->fitted = TRUE;
  for (int p = 0; p < LAM_AXES; p++)
    self->centre[p] = NAN;
  g_signal_emit (self, signals[CHANGED], 0);
}

double
lam_slice_port_get_scale (LamSlicePort *self)
{
  return self->scale;
}

void
lam_slice_port_get_centre (LamSlicePort *self, LamPlane plane, double *column, double *row)
{
  LamPlane down, across;
  lam_plane_axes (plane, &down, &across);
  *column = self->centre[across];
  *row = self->centre[down];
}

void
lam_slice_port_set (LamSlicePort *self, double scale, LamPlane plane, double column, double row)
{
  LamPlane down, across;
  lam_plane_axes (plane, &down, &across);
  self->fitted = FALSE;
  self->scale = scale;
  self->centre[across] = column;
  self->centre[down] = row;
  g_signal_emit (self, signals[CHANGED], 0);
}

void
lam_slice_port_add_view (LamSlicePort *self, gpointer view)
{
  g_ptr_array_add (self->views, view);
}

void
lam_slice_port_remove_view (LamSlicePort *self, gpointer view)
{
  g_ptr_array_remove (self->views, view);
}

const GPtrArray *
lam_slice_port_get_views (LamSlicePort *self)
{
  return self->views;
}

static void
lam_slice_port_finalize (GObject *object)
{
  g_ptr_array_unref (LAM_SLICE_PORT (object)->views);
  G_OBJECT_CLASS (lam_slice_port_parent_class)->finalize (object);
}

static void
lam_slice_port_class_init (LamSlicePortClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_slice_port_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", LAM_TYPE_SLICE_PORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_slice_port_init (LamSlicePort *self)
{
  self->views = g_ptr_array_new ();
  self->fitted = TRUE;
  self->scale = 1;
  for (int p = 0; p < LAM_AXES; p++)
    self->centre[p] = NAN;
}

LamSlicePort *
lam_slice_port_new (void)
{
  return g_object_new (LAM_TYPE_SLICE_PORT, NULL);
}
