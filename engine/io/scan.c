/* scan.c: what all formats share: which format it is, the person's options, the import list. */
#include "io/scan.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scan-private.h"

#define DEGREE (G_PI / 180)

static void
facts_clear (ScanFacts *f)
{
  g_clear_pointer (&f->file, lam_h5_free);
  lam_free (f->angles);
  g_free (f->angles_from);
  g_free (f->pitch_from);
  g_clear_pointer (&f->unused, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScanFacts, facts_clear)

/* Says what a file is that is not one of ours to open; always FALSE. */
static gboolean
refuse_unknown (LamH5File *h5, GError **error)
{
  g_autoptr (GPtrArray) names = lam_h5_names (h5, "/", error);
  if (!names)
    return FALSE;
  g_autoptr (GString) all = g_string_new (NULL);
  int64_t volumes = 0;
  for (guint i = 0; i < names->len && i < 20; i++) {
    g_autofree char *path = g_strconcat ("/", names->pdata[i], NULL);
    g_autofree char *definition = g_strconcat (path, "/definition", NULL);
    g_autofree char *detector = g_strconcat (path, "/instrument/detector/image_key", NULL);
    g_autofree char *text = lam_h5_exists (h5, definition) ? lam_h5_read_text (h5, definition, NULL) : NULL;
    if ((text && strstr (text, "NXtomo")) || lam_h5_exists (h5, detector)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                   "%s: this is an NXtomo file (%s), which is not read yet; what works: DXchange (/exchange), Lamina's "
                   "scan file, MBIRJAX's preprocessing file",
                   h5->path, path);
      return FALSE;
    }
    g_string_append_printf (all, "%s%s", all->len ? ", " : "", path);
    volumes += strcmp (path, "/recon") == 0 || strcmp (path, "/volume") == 0 || strcmp (path, "/array") == 0;
  }
  if (strstr (all->str, "/session"))
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: this is a session of the window, not a scan; open it with lamina-gtk", h5->path);
  else if (volumes == 1 && names->len == 1)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: this is a volume (%s), not a scan; a scan was expected",
                 h5->path, all->str);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: no scan of a known kind: /exchange/data (DXchange), /scan (Lamina) or /sinogram (MBIRJAX "
                 "preprocessing) was expected; the file has: %s",
                 h5->path, all->len ? all->str : "nothing");
  return FALSE;
}

static gboolean
open_format (ScanFacts *f, GError **error)
{
  g_autoptr (GError) e = NULL;
  g_auto (LamHid) root = lam_h5_object (f->file, "/", NULL, error);
  if (root < 0)
    return FALSE;
  g_autofree char *format = lam_h5_attribute_text (root, "format", f->file->path, &e);
  if (g_error_matches (e, LAM_ERROR, LAM_ERROR_NO_MEMORY)) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  g_clear_error (&e); /* someone else's attribute of that name need not be a text */
  if (format && g_str_has_prefix (format, "lamina-scan"))
    return lam_scan_open_lamina (f, error);
  if (format && g_str_has_prefix (format, "mbirjax_preprocessing")) {
    if (strcmp (format, "mbirjax_preprocessing_v1") == 0)
      return lam_scan_open_mbirjax (f, error);
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "%s: format \"%s\" is not read; mbirjax_preprocessing_v1 was expected", f->file->path, format);
    return FALSE;
  }
  H5I_type_t exchange = lam_h5_kind (f->file, "/exchange/data", &e);
  if (e) { /* it is there, behind a link that leads nowhere */
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  return exchange != H5I_BADID ? lam_scan_open_dxchange (f, error) : refuse_unknown (f->file, error);
}

/* ---- options ---- */

static gboolean
check_length (const LamScan *s, const char *field, double value, gboolean infinite, GError **error)
{
  if (value > 0 && (isfinite (value) || (infinite && !isnan (value))))
    return TRUE;
  g_autofree char *text = lam_scan_number (value);
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: %s is %s; a length above 0 was expected", s->path, field,
               text);
  return FALSE;
}

static gboolean
apply_pitch (ScanFacts *f, GError **error)
{
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  const LamScanOptions *o = f->options;
  gboolean given = !isnan (o->channel_pitch);
  if ((given && !check_length (s, "the pitch given", o->channel_pitch, FALSE, error))
      || (!isnan (o->row_pitch) && !check_length (s, "the row pitch given", o->row_pitch, FALSE, error))
      || !check_length (s, "the channel pitch in the file", g->channel_pitch, FALSE, error)
      || !check_length (s, "the row pitch in the file", g->row_pitch, FALSE, error))
    return FALSE;
  if (given && !f->pitch_stated) { /* the file's lengths are px: one px is now this long */
    lam_scan_scale_lengths (g, o->channel_pitch / g->channel_pitch);
    g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
  }
  if (given) {
    double aspect = g->row_pitch / g->channel_pitch;
    g->channel_pitch = o->channel_pitch;
    g->row_pitch = f->pitch_stated ? o->channel_pitch : o->channel_pitch * aspect;
  }
  if (!isnan (o->row_pitch))
    g->row_pitch = o->row_pitch;
  g_autofree char *c = lam_scan_number (g->channel_pitch), *r = lam_scan_number (g->row_pitch);
  if (given || f->pitch_stated)
    lam_scan_found (s, LAM_FINDING_FOUND, "pitch", "--pitch PC:PR",
                    g_strdup_printf ("%s x %s %s", c, r, g->length_unit), "pixel pitch %s",
                    given           ? "as given"
                    : f->pitch_from ? f->pitch_from
                                    : "from the file");
  else if (g->channel_pitch == 1 && g->row_pitch == 1)
    lam_scan_found (s, LAM_FINDING_ASSUMED, "pitch", "--pitch PC:PR", g_strdup_printf ("%s x %s px", c, r),
                    "no pixel pitch: lengths are px and results are 1/px");
  else
    lam_scan_found (
        s, LAM_FINDING_ASSUMED, "pitch", "--pitch PC:PR", g_strdup_printf ("%s x %s px", c, r),
        "no pixel pitch in mm: px is the unit of the file's own lengths, results are 1/px, and a detector pixel "
        "is");
  return TRUE;
}

static gboolean
apply_geometry (ScanFacts *f, GError **error)
{
  static const char option[] = "--geometry cone --source-detector D --source-axis S";
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  const LamScanOptions *o = f->options;
  gboolean has_d = !isnan (o->source_detector), has_s = !isnan (o->source_axis);
  LamGeometryKind stated = g->kind;
  if ((has_d && !check_length (s, "the source to detector distance given", o->source_detector, TRUE, error))
      || (has_s && !check_length (s, "the source to axis distance given", o->source_axis, TRUE, error)))
    return FALSE;
  if (o->geometry_set)
    g->kind = o->geometry;
  else if (!f->kind_stated && (has_d || has_s))
    g->kind = LAM_GEOMETRY_CONE;
  if (g->kind != stated && g->recon_rows > 0) { /* it was meant for the other kind */
    lam_scan_found (s, LAM_FINDING_ASSUMED, "volume", NULL, NULL,
                    "the file's volume is for another beam than the one given: the automatic volume is used");
    g->recon_rows = g->recon_columns = g->recon_slices = 0;
    f->voxel_stated = FALSE;
  }

  if (g->kind == LAM_GEOMETRY_PARALLEL) {
    g->detector = LAM_DETECTOR_FLAT;
    g->source_detector = g->source_axis = INFINITY;
    lam_scan_found (s, f->kind_stated || o->geometry_set ? LAM_FINDING_FOUND : LAM_FINDING_ASSUMED, "geometry", option,
                    g_strdup ("parallel beam"), "%s",
                    o->geometry_set  ? "parallel beam, as given"
                    : f->kind_stated ? "parallel beam, as the file says"
                                     : "no distances in the file: parallel beam assumed");
    if (has_d || has_s)
      lam_scan_found (s, LAM_FINDING_WARNING, "distances", option, NULL,
                      "distances were given, but the beam is parallel: they are not used");
    return TRUE;
  }
  if (has_d)
    g->source_detector = o->source_detector;
  if (has_s)
    g->source_axis = o->source_axis;
  lam_scan_found (
      s, LAM_FINDING_FOUND, "geometry", "--geometry parallel",
      g_strdup (g->detector == LAM_DETECTOR_CURVED ? "cone beam, curved detector" : "cone beam, flat detector"),
      "cone beam, %s", o->geometry_set || !f->kind_stated ? "as given" : "as the file says");
  if (!f->distances_stated && !(has_d && has_s)) {
    lam_scan_found (s, LAM_FINDING_MISSING, "distances", "--source-detector D --source-axis S", NULL,
                    "cone beam without %s",
                    has_d   ? "the source to axis distance"
                    : has_s ? "the source to detector distance"
                            : "its distances (source to detector, source to axis)");
    return TRUE;
  }
  if (!check_length (s, "the source to detector distance", g->source_detector, TRUE, error)
      || !check_length (s, "the source to axis distance", g->source_axis, TRUE, error))
    return FALSE;
  g_autofree char *d = lam_scan_number (g->source_detector), *a = lam_scan_number (g->source_axis);
  lam_scan_found (s, LAM_FINDING_FOUND, "distances", "--source-detector D --source-axis S",
                  g_strdup_printf ("%s and %s %s", d, a, g->length_unit), "source to detector and source to axis, %s",
                  has_d || has_s ? "as given" : "from the file");
  return TRUE;
}

/* Angles of the file into the geometry, in radians. */
static gboolean
use_file_angles (ScanFacts *f, GError **error)
{
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  gboolean given = f->options->angle_unit != LAM_ANGLE_UNIT_FROM_FILE;
  LamAngleUnit unit = given ? f->options->angle_unit : f->angle_unit;
  double low = INFINITY, high = -INFINITY;
  if (f->n_angles != g->views) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " projections, %" G_GINT64_FORMAT
                 " angles (%s); give the right ones with --angles START:STOP",
                 s->path, g->views, f->n_angles, f->angles_from);
    return FALSE;
  }
  for (int64_t v = 0; v < g->views; v++) {
    if (!isfinite (f->angles[v])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s: %s: angle %" G_GINT64_FORMAT " is %s; give the angles with --angles START:STOP", s->path,
                   f->angles_from, v, isnan (f->angles[v]) ? "NaN" : "infinite");
      return FALSE;
    }
    low = LAM_MIN (low, f->angles[v]);
    high = LAM_MAX (high, f->angles[v]);
  }
  double scale = unit == LAM_ANGLE_UNIT_RADIANS ? 1 : DEGREE;
  for (int64_t v = 0; v < g->views; v++) {
    g->angles[v] = f->angles[v] * scale;
    if (fabs (g->angles[v]) > LAM_MAX_DEGREES * DEGREE) {
      g_autofree char *text = lam_scan_number (g->angles[v] / DEGREE);
      g_set_error (
          error, LAM_ERROR, LAM_ERROR_INVALID,
          "%s: %s: angle %" G_GINT64_FORMAT
          " is %s degrees; at most 1000000 either way was expected: say the unit with --angle-unit deg|rad, or "
          "give the angles with --angles START:STOP",
          s->path, f->angles_from, v, text);
      return FALSE;
    }
  }
  g_autofree char *first = lam_scan_number (f->angles[0] * scale / DEGREE);
  g_autofree char *last = lam_scan_number (f->angles[g->views - 1] * scale / DEGREE);
  char *value = g_strdup_printf ("%s to %s degrees, %" G_GINT64_FORMAT " views", first, last, g->views);
  gboolean stated = given || f->angle_unit != LAM_ANGLE_UNIT_FROM_FILE;
  if (stated)
    lam_scan_found (s, LAM_FINDING_FOUND, "angles", "--angles START:STOP", value, "angles in %s (%s)",
                    unit == LAM_ANGLE_UNIT_RADIANS ? "radians" : "degrees",
                    given                           ? "as given"
                    : s->format == LAM_SCAN_MBIRJAX ? "MBIRJAX's unit"
                                                    : "units attribute");
  else
    lam_scan_found (s, LAM_FINDING_ASSUMED, "angles", "--angle-unit deg|rad", value,
                    "the angles have no unit: degrees assumed%s",
                    g->views > 3 && high - low > 0 && LAM_MAX (fabs (low), fabs (high)) < 2.02 * G_PI
                        ? ", but the values look like radians"
                        : "");
  return TRUE;
}

static gboolean
apply_angles (ScanFacts *f, GError **error)
{
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  const LamScanOptions *o = f->options;
  if (o->angles_set) {
    if (!(fabs (o->angle_start) <= LAM_MAX_DEGREES) || !(fabs (o->angle_stop) <= LAM_MAX_DEGREES)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "--angles: START and STOP must be numbers of degrees, from -1000000 to 1000000");
      return FALSE;
    }
    lam_geometry_set_angles (g, o->angle_start * DEGREE, o->angle_stop * DEGREE);
    g_autofree char *a = lam_scan_number (o->angle_start), *b = lam_scan_number (o->angle_stop);
    lam_scan_found (s, LAM_FINDING_FOUND, "angles", "--angles START:STOP",
                    g_strdup_printf ("%s to %s degrees, %" G_GINT64_FORMAT " views", a, b, g->views),
                    "angles as given, evenly, the last one step before %s%s", b,
                    f->angles ? "; those of the file are not used" : "");
  } else if (f->angles) {
    if (!use_file_angles (f, error))
      return FALSE;
  } else {
    s->missing_angles = TRUE;
    lam_scan_found (s, LAM_FINDING_MISSING, "angles", "--angles START:STOP", NULL, "the file has no angles");
  }
  if (o->direction < 0)
    for (int64_t v = 0; v < g->views; v++)
      g->angles[v] = -g->angles[v];
  if (!s->missing_angles)
    lam_scan_found (s, o->direction ? LAM_FINDING_FOUND : LAM_FINDING_ASSUMED, "direction", "--direction +1|-1",
                    g_strdup (o->direction < 0 ? "reversed" : "as stored"), "%s",
                    o->direction < 0 ? "rotation reversed, as given: every angle is negated"
                    : o->direction > 0
                        ? "rotation as stored, as given"
                        : "a growing angle turns the object clockwise, seen with row 0 at the top and the "
                          "source below");
  return TRUE;
}

static gboolean
apply_rows (ScanFacts *f, GError **error)
{
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  LamRange rows = f->options->slices;
  s->rows = (LamRange){0, s->file_rows};
  if (g->kind != LAM_GEOMETRY_PARALLEL || (rows.begin == 0 && rows.end == 0))
    return TRUE;
  if (rows.begin < 0 || rows.end <= rows.begin || rows.end > s->file_rows) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "slices %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                 " asked for, but the scan has rows 0:%" G_GINT64_FORMAT,
                 rows.begin, rows.end, s->file_rows);
    return FALSE;
  }
  s->rows = rows;
  g->rows = lam_range_size (rows);
  if (g->recon_rows > 0)
    g->recon_slices = g->rows;
  lam_scan_found (s, LAM_FINDING_FOUND, "slices", "--slices A:B",
                  g_strdup_printf ("%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, rows.begin, rows.end),
                  "detector rows as given, of %" G_GINT64_FORMAT, s->file_rows);
  return TRUE;
}

/* A volume that the file states in part: what becomes of it is said. */
static void
apply_volume (ScanFacts *f)
{
  LamScan *s = f->scan;
  LamGeometry *g = s->geometry;
  if (f->voxel_stated && g->recon_rows == 0) {
    g_autofree char *text = lam_scan_number (g->voxel_pitch);
    lam_scan_found (s, LAM_FINDING_ASSUMED, "volume", NULL, g_strdup ("automatic volume"),
                    "the file states a voxel pitch (%s %s) and no shape of the volume: the pitch is not used", text,
                    g->length_unit);
  }
  double pitch = g->channel_pitch / lam_geometry_magnification (g);
  if (!f->voxel_stated && g->recon_rows > 0 && isfinite (pitch) && pitch > 0) {
    g_autofree char *text = lam_scan_number (pitch);
    g->voxel_pitch = pitch;
    lam_scan_found (s, LAM_FINDING_ASSUMED, "volume", NULL, g_strdup_printf ("%s %s", text, g->length_unit),
                    "the file states the shape of the volume and no voxel pitch: that of the channels at the axis");
  }
}

static char *
center_value (const LamScan *s)
{
  g_autofree char *text = lam_scan_number (lam_geometry_center (s->geometry));
  return g_strdup_printf ("channel %s", text);
}

/* An offset of 0 beside counts is what a file has where nobody looked. */
static void
list_center (ScanFacts *f)
{
  LamScan *s = f->scan;
  const LamGeometry *g = s->geometry;
  gboolean counts = s->kind == LAM_SCAN_COUNTS;
  s->center_assumed = g->channel_offset == 0 && (counts || s->format == LAM_SCAN_DXCHANGE);
  s->center_from = s->center_assumed ? "the middle of the detector, assumed" : "the file";
  if (!s->center_assumed)
    lam_scan_found (s, LAM_FINDING_FOUND, "center", "--center CHANNEL", center_value (s),
                    "centre of rotation (COR), from the file");
  else
    lam_scan_found (s, LAM_FINDING_ASSUMED, "center", "--center CHANNEL", center_value (s),
                    "centre of rotation (COR): middle of the detector; reconstruct %s",
                    counts && g->kind == LAM_GEOMETRY_PARALLEL ? "searches for it unless --center CHANNEL is given"
                                                               : "searches for it with --center auto");
}

void
lam_scan_center_given (LamScan *s, const char *from)
{
  s->center_assumed = FALSE;
  s->center_from = from;
  for (guint i = 0; i < s->findings->len; i++) {
    LamFinding *f = s->findings->pdata[i];
    if (strcmp (f->field, "center") != 0)
      continue;
    g_free (f->text);
    g_free (f->value);
    f->kind = LAM_FINDING_FOUND;
    f->text = g_strdup_printf ("centre of rotation (COR), as given (%s)", from);
    f->value = center_value (s);
  }
}

static void
list_samples (ScanFacts *f)
{
  LamScan *s = f->scan;
  if (f->options->kind_set) {
    s->kind = f->options->kind;
    if (s->kind == LAM_SCAN_SINOGRAM)
      s->flats = s->darks = 0;
  }
  lam_scan_found (s, LAM_FINDING_FOUND, "data", "--data counts|sinogram",
                  g_strdup_printf ("%" G_GINT64_FORMAT " views, %" G_GINT64_FORMAT " rows, %" G_GINT64_FORMAT
                                   " channels",
                                   s->geometry->views, s->file_rows, s->geometry->channels),
                  "%s (%s)", s->kind == LAM_SCAN_COUNTS ? "detector counts" : "-log transmission",
                  lam_scan_format_name (s->format));
  if (s->kind != LAM_SCAN_COUNTS)
    return;
  if (s->flats > 0)
    lam_scan_found (s, LAM_FINDING_FOUND, "flats", NULL, g_strdup_printf ("%" G_GINT64_FORMAT " frames", s->flats),
                    "flat fields (%s)", s->flats_path);
  else
    lam_scan_found (
        s, LAM_FINDING_MISSING, "flats", "--data sinogram", NULL,
        "no flat fields: counts cannot be made transmission (or the samples are -log transmission already)");
  if (s->darks > 0)
    lam_scan_found (s, LAM_FINDING_FOUND, "darks", NULL, g_strdup_printf ("%" G_GINT64_FORMAT " frames", s->darks),
                    "dark fields (%s)", s->darks_path);
  else
    lam_scan_found (s, LAM_FINDING_ASSUMED, "darks", NULL, g_strdup ("0"), "no dark fields: a dark level of 0 assumed");
}

static void
list_unused (ScanFacts *f)
{
  if (!f->unused || f->unused->len == 0)
    return;
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < f->unused->len && i < 12; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", (char *) f->unused->pdata[i]);
  if (f->unused->len > 12)
    g_string_append_printf (names, " and %u more", f->unused->len - 12);
  lam_scan_found (f->scan, LAM_FINDING_FOUND, "unused", NULL, g_strdup (names->str), "also in the file, not used");
}

LamScan *
lam_scan_open (const char *path, const LamScanOptions *options, GError **error)
{
  static const LamScanOptions nothing = LAM_SCAN_OPTIONS_INIT;
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "%s: this is a folder; a folder of TIFF images is not read as a scan yet; what works: one HDF5 file, "
                 "DXchange (/exchange), Lamina's scan file or MBIRJAX's preprocessing file",
                 path);
    return NULL;
  }
  g_autoptr (LamScan) s = g_new0 (LamScan, 1);
  s->path = g_strdup (path);
  s->findings = g_ptr_array_new ();
  g_auto (ScanFacts) f = {.scan = s, .options = options ? options : &nothing};
  f.unused = g_ptr_array_new_with_free_func (g_free);
  if (!lam_file_stamp (path, &s->stamp, error))
    return NULL;
  f.file = lam_h5_open (path, error);
  if (!f.file || !open_format (&f, error))
    return NULL;
  list_samples (&f);
  if (!apply_pitch (&f, error) || !apply_geometry (&f, error) || !apply_angles (&f, error) || !apply_rows (&f, error))
    return NULL;
  apply_volume (&f);
  list_center (&f);
  list_unused (&f);
  return g_steal_pointer (&s);
}
