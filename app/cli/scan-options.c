#include "config.h"

#include "cli/scan-options.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "core/error.h"

#define DEGREE (G_PI / 180)

static char *geometry, *source_detector, *source_axis, *pitch, *channel_offset, *row_offset;
static char *angles, *angle_unit, *direction, *data;

const GOptionEntry lam_cli_geometry_entries[] = {
    {"geometry", 0, 0, G_OPTION_ARG_STRING, &geometry, N_ ("parallel or cone"), "KIND"},
    {"source-detector", 0, 0, G_OPTION_ARG_STRING, &source_detector, N_ ("Source to detector distance"), "D"},
    {"source-axis", 0, 0, G_OPTION_ARG_STRING, &source_axis, N_ ("Source to rotation axis distance"), "S"},
    {"pitch", 0, 0, G_OPTION_ARG_STRING, &pitch, N_ ("Detector pixel pitch, of channels and rows, in mm"), "P|PC:PR"},
    {"channel-offset", 0, 0, G_OPTION_ARG_STRING, &channel_offset,
     N_ ("Rotation axis relative to the detector's middle, a length"), "L"},
    {"row-offset", 0, 0, G_OPTION_ARG_STRING, &row_offset,
     N_ ("Cone beam: mid-plane relative to the detector's middle, a length"), "L"},
    {NULL},
};

const GOptionEntry lam_cli_scan_entries[] = {
    {"angles", 0, 0, G_OPTION_ARG_STRING, &angles, N_ ("Even angles in degrees, STOP not included"), "START:STOP"},
    {"angle-unit", 0, 0, G_OPTION_ARG_STRING, &angle_unit, N_ ("Unit of the file's angles: deg or rad"), "UNIT"},
    {"direction", 0, 0, G_OPTION_ARG_STRING, &direction, N_ ("Rotation: +1 as stored, -1 reversed"), "+1|-1"},
    {"data", 0, 0, G_OPTION_ARG_STRING, &data, N_ ("What the samples are: counts or sinogram (-log)"), "KIND"},
    {NULL},
};

static gboolean
read_pitch (LamScanOptions *o, GError **error)
{
  if (!pitch)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit_set (pitch, ":", -1);
  guint n = g_strv_length (parts);
  if (n < 1 || n > 2) {
    lam_cli_usage_error (error, _ ("--pitch %s: expected one length, or two as CHANNEL:ROW"), pitch);
    return FALSE;
  }
  return lam_cli_length ("--pitch", parts[0], FALSE, &o->channel_pitch, error)
         && (n == 1 || lam_cli_length ("--pitch", parts[1], FALSE, &o->row_pitch, error));
}

static gboolean
read_angles (LamScanOptions *o, GError **error)
{
  static const char *const units[] = {"deg", "rad", NULL}, *const kinds[] = {"counts", "sinogram", NULL};
  static const char *const directions[] = {"+1", "1", "-1", NULL};
  int unit = -1, kind = -1, way = -1;
  if (!lam_cli_pair ("--angles", "START:STOP", angles, &o->angle_start, &o->angle_stop, error)
      || !lam_cli_choice ("--angle-unit", angle_unit, units, &unit, error)
      || !lam_cli_choice ("--direction", direction, directions, &way, error)
      || !lam_cli_choice ("--data", data, kinds, &kind, error))
    return FALSE;
  o->angles_set = angles != NULL;
  if (o->angles_set && o->angle_start == o->angle_stop) {
    lam_cli_usage_error (error, _ ("--angles %s: START and STOP are the same"), angles);
    return FALSE;
  }
  if (o->angles_set && !(fabs (o->angle_start) <= LAM_MAX_DEGREES && fabs (o->angle_stop) <= LAM_MAX_DEGREES)) {
    lam_cli_usage_error (error, _ ("--angles %s: expected numbers of degrees from %s to %s"), angles,
                         lam_cli_number (-LAM_MAX_DEGREES), lam_cli_number (LAM_MAX_DEGREES));
    return FALSE;
  }
  o->angle_unit = unit < 0 ? LAM_ANGLE_UNIT_FROM_FILE : unit ? LAM_ANGLE_UNIT_RADIANS : LAM_ANGLE_UNIT_DEGREES;
  o->direction = way < 0 ? 0 : way == 2 ? -1 : 1;
  o->kind_set = kind >= 0;
  o->kind = kind == 1 ? LAM_SCAN_SINOGRAM : LAM_SCAN_COUNTS;
  return TRUE;
}

gboolean
lam_cli_scan_options (LamCliScan *out, GError **error)
{
  static const char *const kinds[] = {"parallel", "cone", NULL};
  *out = (LamCliScan){.scan = LAM_SCAN_OPTIONS_INIT, .channel_offset = NAN, .row_offset = NAN};
  LamScanOptions *o = &out->scan;
  int kind = 0;
  if (!lam_cli_choice ("--geometry", geometry, kinds, &kind, error)
      || !lam_cli_length ("--source-detector", source_detector, TRUE, &o->source_detector, error)
      || !lam_cli_length ("--source-axis", source_axis, TRUE, &o->source_axis, error) || !read_pitch (o, error)
      || !lam_cli_double ("--channel-offset", channel_offset, -1e9, 1e9, &out->channel_offset, error)
      || !lam_cli_double ("--row-offset", row_offset, -1e9, 1e9, &out->row_offset, error) || !read_angles (o, error))
    return FALSE;
  o->geometry_set = geometry != NULL;
  o->geometry = kind ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL;
  if (isfinite (o->source_detector) && isfinite (o->source_axis) && o->source_detector <= o->source_axis) {
    lam_cli_usage_error (error,
                         _ ("--source-detector %s: must be larger than --source-axis %s, since the axis lies between "
                            "source and detector; were the two exchanged?"),
                         source_detector, source_axis);
    return FALSE;
  }
  return TRUE;
}

LamScan *
lam_cli_open_scan (const char *path, const LamCliScan *options, GError **error)
{
  LamScan *scan = lam_scan_open (path, &options->scan, error);
  if (!scan)
    return NULL;
  if (!isnan (options->channel_offset)) {
    scan->geometry->channel_offset = options->channel_offset;
    lam_scan_center_given (scan, "--channel-offset");
  }
  if (!isnan (options->row_offset))
    scan->geometry->row_offset = options->row_offset;
  return scan;
}

/* ---- the import list ---- */

static const char *
kind_name (LamFindingKind kind)
{
  static const char *const names[] = {N_ ("found"), N_ ("assumed"), N_ ("warning"), N_ ("MISSING")};
  return _ (names[kind]);
}

void
lam_cli_print_findings (const LamScan *scan)
{
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *f = scan->findings->pdata[i];
    gboolean change = f->option && f->kind != LAM_FINDING_FOUND;
    lam_cli_print ("  %-8s %s%s%s%s%s%s", kind_name (f->kind), f->text, f->value ? ": " : "", f->value ? f->value : "",
                   change ? " [" : "", change ? f->option : "", change ? "]" : "");
  }
}

void
lam_json_findings (JsonBuilder *b, const char *name, const LamScan *scan)
{
  static const char *const kinds[] = {"found", "assumed", "warning", "missing"};
  lam_json_open_array (b, name);
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *f = scan->findings->pdata[i];
    lam_json_open (b, NULL);
    lam_json_text (b, "kind", kinds[f->kind]);
    lam_json_text (b, "field", f->field);
    lam_json_text (b, "text", f->text);
    lam_json_text (b, "value", f->value);
    lam_json_text (b, "option", f->option);
    lam_json_close (b);
  }
  lam_json_close_array (b);
}

/* ---- geometry ---- */

static void
angle_range (const LamGeometry *g, double *low, double *high)
{
  *low = *high = NAN;
  for (int64_t v = 0; g->angles && v < g->views; v++) {
    *low = fmin (*low, g->angles[v]);
    *high = fmax (*high, g->angles[v]);
  }
  *low /= DEGREE;
  *high /= DEGREE;
}

void
lam_json_geometry (JsonBuilder *b, const char *name, const LamGeometry *g)
{
  double low, high;
  angle_range (g, &low, &high);
  lam_json_open (b, name);
  lam_json_text (b, "kind", g->kind == LAM_GEOMETRY_CONE ? "cone" : "parallel");
  if (g->kind == LAM_GEOMETRY_CONE) {
    lam_json_text (b, "detector", g->detector == LAM_DETECTOR_CURVED ? "curved" : "flat");
    lam_json_number (b, "source_detector", g->source_detector);
    lam_json_number (b, "source_axis", g->source_axis);
    lam_json_number (b, "magnification", lam_geometry_magnification (g));
    lam_json_number (b, "row_offset", g->row_offset);
  }
  lam_json_text (b, "length_unit", g->length_unit);
  lam_json_int (b, "views", g->views);
  lam_json_int (b, "rows", g->rows);
  lam_json_int (b, "channels", g->channels);
  lam_json_number (b, "channel_pitch", g->channel_pitch);
  lam_json_number (b, "row_pitch", g->row_pitch);
  lam_json_number (b, "channel_offset", g->channel_offset);
  lam_json_number (b, "center_channel", lam_geometry_center (g));
  lam_json_number (b, "angle_low_degrees", low);
  lam_json_number (b, "angle_high_degrees", high);
  lam_json_number (b, "span_degrees", lam_geometry_span (g));
  lam_json_number (b, "span_needed_degrees", lam_geometry_span_needed (g));
  if (g->recon_rows > 0) {
    const int64_t shape[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
    const double size[3] = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect};
    lam_json_ints (b, "volume_shape", shape, 3);
    lam_json_numbers (b, "voxel_size", size, 3);
    lam_json_text (b, "mask", g->mask == LAM_MASK_NONE ? "none" : "ellipse");
  }
  lam_json_close (b);
}

void
lam_cli_print_geometry (const LamGeometry *g, gboolean center_assumed)
{
  double low, high;
  angle_range (g, &low, &high);
  lam_cli_print (_ ("shape: %" G_GINT64_FORMAT " views, %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT " channels"),
                 g->views, g->rows, g->channels);
  if (g->kind == LAM_GEOMETRY_CONE)
    lam_cli_print (_ ("geometry: cone beam, %s detector; source to detector %s, source to axis %s %s, "
                      "magnification %s"),
                   g->detector == LAM_DETECTOR_CURVED ? _ ("curved") : _ ("flat"), lam_cli_number (g->source_detector),
                   lam_cli_number (g->source_axis), g->length_unit, lam_cli_number (lam_geometry_magnification (g)));
  else
    lam_cli_print (_ ("geometry: parallel beam"));
  lam_cli_print (_ ("pixel pitch: %s x %s %s; centre of rotation (COR): channel %s%s"),
                 lam_cli_number (g->channel_pitch), lam_cli_number (g->row_pitch), g->length_unit,
                 lam_cli_number (lam_geometry_center (g)), center_assumed ? _ (", assumed") : "");
  if (!isnan (low))
    lam_cli_print (_ ("angles: %s to %s degrees, span %s; needed %s"), lam_cli_number (low), lam_cli_number (high),
                   lam_cli_number (lam_geometry_span (g)), lam_cli_number (lam_geometry_span_needed (g)));
  if (g->recon_rows > 0)
    lam_cli_print (_ ("volume: %" G_GINT64_FORMAT " rows x %" G_GINT64_FORMAT " columns x %" G_GINT64_FORMAT
                      " slices, voxel %s x %s x %s %s"),
                   g->recon_rows, g->recon_columns, g->recon_slices, lam_cli_number (g->voxel_pitch * g->row_aspect),
                   lam_cli_number (g->voxel_pitch), lam_cli_number (g->voxel_pitch * g->slice_aspect), g->length_unit);
}

void
lam_cli_print_warnings (const char *lines)
{
  g_auto (GStrv) each = lines ? g_strsplit (lines, "\n", -1) : NULL;
  for (char **line = each; line && *line; line++)
    if (**line)
      lam_cli_print (_ ("warning: %s"), *line);
}
