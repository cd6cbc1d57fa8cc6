/* scan-tools.c: small parts of reading a scan: sizes, frames, angles, units, findings. */
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scan-private.h"

static void
finding_free (LamFinding *finding)
{
  g_free (finding->field);
  g_free (finding->text);
  g_free (finding->value);
  g_free (finding->option);
  g_free (finding);
}

void
lam_scan_free (LamScan *s)
{
  if (!s)
    return;
  for (guint i = 0; s->findings && i < s->findings->len; i++)
    finding_free (s->findings->pdata[i]);
  g_clear_pointer (&s->findings, g_ptr_array_unref);
  g_clear_pointer (&s->geometry, lam_geometry_free);
  g_free (s->path);
  g_free (s->data_path);
  g_free (s->flats_path);
  g_free (s->darks_path);
  g_free (s->weights_path);
  g_free (s);
}

LamScan *
lam_scan_copy (const LamScan *from)
{
  LamScan *s = g_new (LamScan, 1);
  *s = *from;
  s->geometry = lam_geometry_copy (from->geometry);
  s->path = g_strdup (from->path);
  s->data_path = g_strdup (from->data_path);
  s->flats_path = g_strdup (from->flats_path);
  s->darks_path = g_strdup (from->darks_path);
  s->weights_path = g_strdup (from->weights_path);
  s->findings = g_ptr_array_new ();
  for (guint i = 0; i < from->findings->len; i++) {
    const LamFinding *f = from->findings->pdata[i];
    LamFinding *own = g_new (LamFinding, 1);
    *own = (LamFinding){f->kind, g_strdup (f->field), g_strdup (f->text), g_strdup (f->value), g_strdup (f->option)};
    g_ptr_array_add (s->findings, own);
  }
  return s;
}

void
lam_scan_found (LamScan *scan, LamFindingKind kind, const char *field, const char *option, char *value_take,
                const char *format, ...)
{
  LamFinding *finding = g_new0 (LamFinding, 1);
  va_list args;
  va_start (args, format);
  finding->text = g_strdup_vprintf (format, args);
  va_end (args);
  finding->kind = kind;
  finding->field = g_strdup (field);
  finding->option = g_strdup (option);
  finding->value = value_take;
  g_ptr_array_add (scan->findings, finding);
  scan->missing = scan->missing || kind == LAM_FINDING_MISSING;
}

gboolean
lam_scan_complete (const LamScan *scan, GError **error)
{
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *finding = scan->findings->pdata[i];
    if (finding->kind != LAM_FINDING_MISSING)
      continue;
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s: %s; give %s", scan->path, finding->text,
                 finding->option ? finding->option : "another file");
    return FALSE;
  }
  return TRUE;
}

const char *
lam_scan_format_name (LamScanFormat format)
{
  return format == LAM_SCAN_DXCHANGE ? "DXchange" : format == LAM_SCAN_LAMINA ? "Lamina scan" : "MBIRJAX preprocessing";
}

gboolean
lam_scan_unchanged (const LamScan *scan, GError **error)
{
  LamFileStamp now;
  if (!lam_file_stamp (scan->path, &now, error))
    return FALSE;
  if (!lam_file_stamp_equal (&now, &scan->stamp)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_CHANGED, "%s: the file changed since it was opened; open it again",
                 scan->path);
    return FALSE;
  }
  return TRUE;
}

char *
lam_scan_number (double x)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.7g", x));
}

double
lam_scan_unit_mm (const char *unit)
{
  static const struct {
    const char *name;
    double mm;
  } units[] = {
      {"mm", 1},           {"millimeter", 1},    {"millimeters", 1}, {"millimetre", 1},     {"millimetres", 1},
      {"cm", 10},          {"m", 1000},          {"meter", 1000},    {"metre", 1000},       {"meters", 1000},
      {"metres", 1000},    {"um", 1e-3},         {"µm", 1e-3},       {"μm", 1e-3},          {"micron", 1e-3},
      {"microns", 1e-3},   {"micrometer", 1e-3}, {"nm", 1e-6},       {"inch", 25.4},        {"in", 25.4},
      {"px", 0},           {"pixel", 0},         {"pixels", 0},      {"micrometre", 1e-3},  {"dm", 100},
      {"nanometer", 1e-6}, {"centimeter", 10},   {"centimetre", 10}, {"micrometers", 1e-3},
  };
  g_autofree char *plain = g_strstrip (g_strdup (unit));
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_ascii_strcasecmp (plain, units[i].name) == 0)
      return units[i].mm;
  return NAN;
}

gboolean
lam_scan_angle_unit (const char *text, LamAngleUnit *unit)
{
  static const char *const degrees[] = {"deg", "degree", "degrees", "[deg]", "°", NULL};
  static const char *const radians[] = {"rad", "radian", "radians", "[rad]", NULL};
  g_autofree char *plain = g_ascii_strdown (text, -1);
  g_strstrip (plain);
  *unit = g_strv_contains (degrees, plain)   ? LAM_ANGLE_UNIT_DEGREES
          : g_strv_contains (radians, plain) ? LAM_ANGLE_UNIT_RADIANS
                                             : LAM_ANGLE_UNIT_FROM_FILE;
  return *unit != LAM_ANGLE_UNIT_FROM_FILE;
}

void
lam_scan_scale_lengths (LamGeometry *g, double factor)
{
  double *lengths[] = {&g->channel_pitch,   &g->row_pitch,   &g->channel_offset, &g->row_offset,
                       &g->source_detector, &g->source_axis, &g->voxel_pitch,    &g->slice_offset};
  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++)
    *lengths[i] *= factor;
  for (int64_t v = 0; g->shifts && v < g->views; v++)
    g->shifts[v] *= factor;
}

gboolean
lam_scan_take_data (ScanFacts *f, LamGeometryKind kind, GError **error)
{
  LamScan *s = f->scan;
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f->file, s->data_path, error);
  if (!d)
    return FALSE;
  if (d->rank == 3 && d->dims[0] == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: dataset %s: 0 projections (%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " pixels); at least 1 was expected",
                 d->file, d->path, d->dims[1], d->dims[2]);
    return FALSE;
  }
  if (!lam_h5_dataset_require (d, 3, error))
    return FALSE;
  if (d->dims[0] > LAM_SCAN_MAX_VIEWS || lam_mul_size (d->count, sizeof (float)) < 0) {
    g_autofree char *shape = lam_h5_dataset_shape (d);
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: dataset %s: %s samples are too many; the file is damaged",
                 d->file, d->path, shape);
    return FALSE;
  }
  if (d->never_written) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: dataset %s was made but never written", d->file, d->path);
    return FALSE;
  }
  s->geometry = lam_geometry_try_new (kind, d->dims[0], d->dims[1], d->dims[2], error);
  if (!s->geometry) {
    g_prefix_error (error, "%s: dataset %s: ", d->file, d->path);
    return FALSE;
  }
  s->file_rows = d->dims[1];
  if (d->part_missing)
    lam_scan_found (s, LAM_FINDING_WARNING, "data", NULL, NULL,
                    "part of %s was never written: it reads as the fill value (an interrupted measurement?)", d->path);
  return TRUE;
}

gboolean
lam_scan_take_frames (ScanFacts *f, const char *path, const char *what, int64_t *frames, GError **error)
{
  const LamGeometry *g = f->scan->geometry;
  g_autoptr (GError) e = NULL;
  *frames = 0;
  H5I_type_t kind = lam_h5_kind (f->file, path, &e);
  if (e) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  if (kind == H5I_BADID)
    return TRUE;
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f->file, path, error);
  if (!d)
    return FALSE;
  if (d->rank == 3 && d->dims[0] == 0) /* an empty list of frames is no frames */
    return TRUE;
  if (!lam_h5_dataset_require (d, d->rank == 2 ? 2 : 3, error))
    return FALSE;
  int64_t rows = d->dims[d->rank - 2], channels = d->dims[d->rank - 1];
  if (rows != f->scan->file_rows || channels != g->channels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: dataset %s: %s are %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " pixels, the projections %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
                 d->file, path, what, rows, channels, f->scan->file_rows, g->channels);
    return FALSE;
  }
  *frames = d->rank == 2 ? 1 : d->dims[0];
  if (d->part_missing)
    lam_scan_found (f->scan, LAM_FINDING_WARNING, what, NULL, NULL,
                    "part of %s was never written: it reads as the fill value", path);
  return TRUE;
}

gboolean
lam_scan_take_angles (ScanFacts *f, const char *path, GError **error)
{
  g_autoptr (GError) e = NULL;
  H5I_type_t kind = lam_h5_kind (f->file, path, &e);
  if (e) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  if (kind == H5I_BADID)
    return TRUE;
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f->file, path, error);
  if (!d)
    return FALSE;
  if (d->count == 0) /* an empty list of angles is no angles */
    return TRUE;
  if (!lam_h5_dataset_require (d, -1, error))
    return FALSE;
  g_autofree char *place = g_strdup_printf ("%s: dataset %s", d->file, path);
  g_autofree char *unit = lam_h5_attribute_text (d->id, "units", place, &e);
  if (e) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  if (unit && *unit && !lam_scan_angle_unit (unit, &f->angle_unit) && f->options->angle_unit == LAM_ANGLE_UNIT_FROM_FILE
      && !f->options->angles_set) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: its unit is \"%s\"; degrees or radians were expected: say which with --angle-unit deg|rad", place,
                 unit);
    return FALSE;
  }
  f->angles = lam_h5_read_doubles (f->file, path, &f->n_angles, error);
  f->angles_from = g_strdup (path);
  return f->angles != NULL;
}

void
lam_scan_unused (ScanFacts *f, const char *folder, const char *const *known)
{
  g_autoptr (GPtrArray) names = lam_h5_names (f->file, folder, NULL);
  for (guint i = 0; names && i < names->len; i++)
    if (!g_strv_contains (known, names->pdata[i]))
      g_ptr_array_add (f->unused, g_strdup_printf ("%s%s%s", folder, g_str_has_suffix (folder, "/") ? "" : "/",
                                                   (char *) names->pdata[i]));
}
