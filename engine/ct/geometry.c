#include "ct/geometry.h"

#include <math.h>

LamGeometry *
lam_geometry_new (LamGeometryKind kind, int64_t views, int64_t rows, int64_t channels)
{
  LamGeometry *g = g_new0 (LamGeometry, 1);
  g->kind = kind;
  g_strlcpy (g->length_unit, "px", sizeof g->length_unit);
  g->views = views;
  g->rows = rows;
  g->channels = channels;
  g->channel_pitch = g->row_pitch = 1;
  g->source_detector = g->source_axis = INFINITY;
  g->angles = g_new0 (double, LAM_MAX (views, 0));
  g->row_aspect = g->slice_aspect = 1;
  g->mask = LAM_MASK_ELLIPSE;
  return g;
}
