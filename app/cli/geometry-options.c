#include "config.h"

#include "cli/geometry-options.h"

#include <glib/gi18n.h>
#include <math.h>

#include "cli/common.h"
#include "core/error.h"

/* Above this the angles alone would be gigabytes. */
#define MAX_VIEWS (INT64_C (1) << 26)

static char *views, *rows, *channels;

const GOptionEntry lam_cli_detector_entries[] = {
    {"views", 0, 0, G_OPTION_ARG_STRING, &views, N_ ("Views (default: as many as columns)"), "N"},
    {"rows", 0, 0, G_OPTION_ARG_STRING, &rows, N_ ("Detector rows (default: as many as slices)"), "N"},
    {"channels", 0, 0, G_OPTION_ARG_STRING, &channels, N_ ("Detector channels (default: as many as columns)"), "N"},
    {NULL},
};

gboolean
lam_cli_detector_given (void)
{
  return views || rows || channels;
}

/* Distances, pitches and offsets; @voxel as below. */
static gboolean
set_lengths (LamGeometry *g, const LamScanOptions *o, const double *voxel, const char *unit, GError **error)
{
  if (g->kind == LAM_GEOMETRY_CONE) {
    if (isnan (o->source_detector) || isnan (o->source_axis)) {
      lam_cli_usage_error (error, _ ("cone beam needs its distances: --source-detector D --source-axis S"));
      return FALSE;
    }
    g->source_detector = o->source_detector;
    g->source_axis = o->source_axis;
  }
  double magnification = lam_geometry_magnification (g);
  g_strlcpy (g->length_unit, !isnan (o->channel_pitch) ? "mm" : voxel ? unit : "px", sizeof g->length_unit);
  g->channel_pitch = !isnan (o->channel_pitch) ? o->channel_pitch : (voxel ? voxel[1] : 1) * magnification;
  g->row_pitch = !isnan (o->row_pitch)       ? o->row_pitch
                 : !isnan (o->channel_pitch) ? o->channel_pitch
                                             : (voxel ? voxel[2] : 1) * magnification;
  return TRUE;
}

/* The voxels as they are in the file, or what the detector's pitch makes of them. */
static gboolean
set_volume (LamGeometry *g, const int64_t shape[3], const double *voxel, GError **error)
{
  g->recon_rows = shape[0];
  g->recon_columns = shape[1];
  g->recon_slices = shape[2];
  g->voxel_pitch = voxel ? voxel[1] : g->channel_pitch / lam_geometry_magnification (g);
  g->row_aspect = voxel ? voxel[0] / voxel[1] : 1;
  g->slice_aspect = g->kind == LAM_GEOMETRY_CONE && voxel ? voxel[2] / voxel[1] : 1;
  g->mask = LAM_MASK_NONE;
  return lam_geometry_check (g, error);
}

LamGeometry *
lam_cli_make_geometry (const LamCliScan *options, const int64_t shape[3], const double *voxel, const char *unit,
                       GError **error)
{
  const LamScanOptions *o = &options->scan;
  gboolean cone =
      o->geometry_set ? o->geometry == LAM_GEOMETRY_CONE : !isnan (o->source_detector) || !isnan (o->source_axis);
  int64_t v = shape[1], m = shape[2], n = shape[1];
  if (!lam_cli_int ("--views", views, 1, MAX_VIEWS, &v, error) || !lam_cli_int ("--rows", rows, 1, INT32_MAX, &m, error)
      || !lam_cli_int ("--channels", channels, 1, INT32_MAX, &n, error))
    return NULL;
  if (!views)
    v = LAM_MIN (v, MAX_VIEWS);
  if (!cone && m != shape[2]) {
    lam_cli_usage_error (
        error, _ ("--rows %s: parallel beam has one detector row a slice, and there are %" G_GINT64_FORMAT " slices"),
        rows, shape[2]);
    return NULL;
  }
  g_autoptr (LamGeometry) g = lam_geometry_try_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, v, m, n, error);
  if (!g)
    return NULL;
  double start = o->angles_set ? o->angle_start : 0, stop = o->angles_set ? o->angle_stop : cone ? 360 : 180;
  lam_geometry_set_angles (g, start * G_PI / 180, stop * G_PI / 180);
  for (int64_t i = 0; o->direction < 0 && i < v; i++)
    g->angles[i] = -g->angles[i];
  if (!set_lengths (g, o, voxel, unit, error))
    return NULL;
  g->channel_offset = isnan (options->channel_offset) ? 0 : options->channel_offset;
  g->row_offset = isnan (options->row_offset) ? 0 : options->row_offset;
  return set_volume (g, shape, voxel, error) ? g_steal_pointer (&g) : NULL;
}
