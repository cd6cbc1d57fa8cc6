/* scan-formats.c: DXchange and Lamina's own scan file. MBIRJAX's is in scan-mbirjax.c. */
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scan-private.h"

/* A length dataset in mm; *@mm is untouched when it is absent. DXchange's unit is the metre where none is stated. */
static gboolean
take_length (ScanFacts *f, const char *path, double *mm, GError **error)
{
  if (!lam_h5_exists (f->file, path))
    return TRUE;
  g_autoptr (LamH5Dataset) d = lam_h5_dataset (f->file, path, error);
  if (!d || !lam_h5_dataset_require (d, -1, error))
    return FALSE;
  g_autofree char *place = g_strdup_printf ("%s: dataset %s", d->file, path);
  g_autofree char *unit = lam_h5_attribute_text (d->id, "units", place, NULL);
  int64_t n = 0;
  double *value = lam_h5_read_doubles (f->file, path, &n, error), first = value ? value[0] : NAN;
  lam_free (value);
  if (n == 0)
    return FALSE;
  double scale = unit && *unit ? lam_scan_unit_mm (unit) : 1000;
  if (!(scale > 0) || !(first > 0) || !isfinite (first)) {
    g_autofree char *text = lam_scan_number (first);
    lam_scan_found (f->scan, LAM_FINDING_WARNING, "pitch", "--pitch PC:PR", NULL,
                    "%s is %s %s, which is no usable length: not used", path, text, unit ? unit : "");
    return TRUE;
  }
  *mm = first * scale;
  if (!unit || !*unit)
    lam_scan_found (f->scan, LAM_FINDING_ASSUMED, "pitch", "--pitch PC:PR", NULL,
                    "%s has no unit: metres assumed, as DXchange says", path);
  return TRUE;
}

gboolean
lam_scan_open_dxchange (ScanFacts *f, GError **error)
{
  static const char *const known[] = {"data", "data_white", "data_dark", "theta", "title", NULL};
  static const char *const root[] = {"exchange", "implements", NULL};
  static const char detector[] = "/measurement/instrument/detector";
  LamScan *s = f->scan;
  s->format = LAM_SCAN_DXCHANGE;
  s->kind = LAM_SCAN_COUNTS;
  s->data_path = g_strdup ("/exchange/data");
  s->flats_path = g_strdup ("/exchange/data_white");
  s->darks_path = g_strdup ("/exchange/data_dark");
  if (!lam_scan_take_data (f, LAM_GEOMETRY_PARALLEL, error)
      || !lam_scan_take_frames (f, s->flats_path, "flats", &s->flats, error)
      || !lam_scan_take_frames (f, s->darks_path, "darks", &s->darks, error)
      || !lam_scan_take_angles (f, "/exchange/theta", error))
    return FALSE;

  g_auto (LamHid) data = lam_h5_object (f->file, s->data_path, NULL, error);
  g_autofree char *axes = data < 0 ? NULL : lam_h5_attribute_text (data, "axes", s->path, NULL);
  if (axes && strstr (axes, "theta") && !g_str_has_prefix (axes, "theta")) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "%s: dataset %s: its axes are \"%s\"; only theta:y:x is read", s->path, s->data_path, axes);
    return FALSE;
  }
  H5Eclear2 (H5E_DEFAULT);

  g_autofree char *px = g_strconcat (detector, "/pixel_size_x", NULL),
                  *py = g_strconcat (detector, "/pixel_size_y", NULL);
  double x = NAN, y = NAN;
  if (!take_length (f, px, &x, error) || !take_length (f, py, &y, error))
    return FALSE;
  if (!isnan (x) || !isnan (y)) {
    s->geometry->channel_pitch = isnan (x) ? y : x;
    s->geometry->row_pitch = isnan (y) ? x : y;
    g_strlcpy (s->geometry->length_unit, "mm", sizeof s->geometry->length_unit);
    f->pitch_stated = TRUE;
    f->pitch_from = g_strdup_printf ("from %s (at the detector: a magnification is not applied)", isnan (x) ? py : px);
  }
  lam_scan_unused (f, "/exchange", known);
  lam_scan_unused (f, "/", root);
  return TRUE;
}

/* ---- Lamina's own ---- */

static gboolean
is_size (double x)
{
  return x >= 1 && x < 1e9 && x == floor (x);
}

/* The volume, where there is one: three sizes, and a pitch and a place that go with them. */
static gboolean
take_volume (ScanFacts *f, hid_t id, const char *place, GError **error)
{
  LamGeometry *g = f->scan->geometry;
  double shape[3];
  int64_t n;
  if (!lam_h5_attribute_doubles (id, "recon_shape", shape, 3, &n, place, error))
    return FALSE;
  if (n == 0)
    return TRUE;
  if (n != 3) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: attribute recon_shape: three sizes were expected, not %" G_GINT64_FORMAT, place, n);
    return FALSE;
  }
  const struct {
    const char *name;
    double value;
    gboolean ok;
    const char *expected;
  } values[] = {
      {"recon_shape[0]", shape[0], is_size (shape[0]), "a whole number from 1 to 999999999"},
      {"recon_shape[1]", shape[1], is_size (shape[1]), "a whole number from 1 to 999999999"},
      {"recon_shape[2]", shape[2], is_size (shape[2]), "a whole number from 1 to 999999999"},
      {"voxel_pitch", g->voxel_pitch, isfinite (g->voxel_pitch) && g->voxel_pitch > 0, "a finite length above 0"},
      {"slice_offset", g->slice_offset, isfinite (g->slice_offset), "a finite length"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++)
    if (!values[i].ok) {
      g_autofree char *text = lam_scan_number (values[i].value);
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s: attribute %s is %s; %s was expected: correct it, or leave recon_shape out for the "
                   "automatic volume",
                   place, values[i].name, text, values[i].expected);
      return FALSE;
    }
  g->recon_rows = (int64_t) shape[0];
  g->recon_columns = (int64_t) shape[1];
  g->recon_slices = (int64_t) shape[2];
  f->voxel_stated = TRUE;
  return TRUE;
}

static gboolean
take_geometry (ScanFacts *f, hid_t id, const char *place, GError **error)
{
  LamGeometry *g = f->scan->geometry;
  const struct {
    const char *name;
    double *value;
  } numbers[] = {
      {"channel_pitch", &g->channel_pitch},
      {"row_pitch", &g->row_pitch},
      {"channel_offset", &g->channel_offset},
      {"row_offset", &g->row_offset},
      {"source_detector", &g->source_detector},
      {"source_axis", &g->source_axis},
      {"voxel_pitch", &g->voxel_pitch},
      {"row_aspect", &g->row_aspect},
      {"slice_aspect", &g->slice_aspect},
      {"slice_offset", &g->slice_offset},
      {"pad_top", &g->pad_top},
      {"pad_bottom", &g->pad_bottom},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (!lam_h5_has_attribute (id, numbers[i].name)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: attribute %s is absent; a number was expected", place,
                   numbers[i].name);
      return FALSE;
    }
    if (!lam_h5_attribute_double (id, numbers[i].name, numbers[i].value, place, error))
      return FALSE;
  }
  return take_volume (f, id, place, error);
}

/* One word out of two; *@second tells which. */
static gboolean
take_word (hid_t id, const char *name, const char *first, const char *other, gboolean *second, const char *place,
           GError **error)
{
  g_autoptr (GError) e = NULL;
  g_autofree char *text = lam_h5_attribute_text (id, name, place, &e);
  if (e) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  *second = text && strcmp (text, other) == 0;
  if (text && (*second || strcmp (text, first) == 0))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: attribute %s is \"%s\"; %s or %s was expected", place, name,
               text ? text : "(absent)", first, other);
  return FALSE;
}

static gboolean
take_shifts (ScanFacts *f, GError **error)
{
  LamGeometry *g = f->scan->geometry;
  if (!lam_h5_exists (f->file, "/scan/shifts"))
    return TRUE;
  int64_t n = 0;
  double *shifts = lam_h5_read_doubles (f->file, "/scan/shifts", &n, error);
  if (!shifts)
    return FALSE;
  gboolean ok = n == g->views;
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " projections, %" G_GINT64_FORMAT " shifts", f->scan->path, g->views, n);
  for (int64_t v = 0; ok && v < n; v++)
    if (!isfinite (shifts[v])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: /scan/shifts: shift %" G_GINT64_FORMAT " is not finite",
                   f->scan->path, v);
      ok = FALSE;
    }
  ok = ok && lam_geometry_set_shifts (g, shifts, error);
  lam_free (shifts);
  return ok;
}

gboolean
lam_scan_open_lamina (ScanFacts *f, GError **error)
{
  static const char *const known[] = {"projections", "flats", "darks", "weights", "angles", "shifts", NULL};
  static const char *const root[] = {"scan", NULL};
  LamScan *s = f->scan;
  s->format = LAM_SCAN_LAMINA;
  s->data_path = g_strdup ("/scan/projections");
  s->flats_path = g_strdup ("/scan/flats");
  s->darks_path = g_strdup ("/scan/darks");
  s->weights_path = g_strdup ("/scan/weights");
  g_autofree char *place = g_strdup_printf ("%s: group /scan", s->path);
  g_auto (LamHid) id = lam_h5_object (f->file, "/scan", NULL, error);
  gboolean cone, curved, counts, mm, open_mask;
  double version = 0;
  if (id < 0 || !lam_h5_attribute_double (id, "format_version", &version, place, error))
    return FALSE;
  if (version != 1) {
    g_autofree char *text = lam_scan_number (version);
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s: format version %s; 1 was expected: use a newer Lamina",
                 place, text);
    return FALSE;
  }
  if (!take_word (id, "geometry", "parallel", "cone", &cone, place, error)
      || !take_word (id, "detector", "flat", "curved", &curved, place, error)
      || !take_word (id, "data", "sinogram", "counts", &counts, place, error)
      || !take_word (id, "length_unit", "px", "mm", &mm, place, error)
      || !take_word (id, "mask", "ellipse", "none", &open_mask, place, error))
    return FALSE;
  s->kind = counts ? LAM_SCAN_COUNTS : LAM_SCAN_SINOGRAM;
  int64_t weights = 0;
  if (!lam_scan_take_data (f, cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, error)
      || !lam_scan_take_frames (f, s->flats_path, "flats", &s->flats, error)
      || !lam_scan_take_frames (f, s->darks_path, "darks", &s->darks, error)
      || !lam_scan_take_frames (f, s->weights_path, "weights", &weights, error)
      || !lam_scan_take_angles (f, "/scan/angles", error) || !take_geometry (f, id, place, error)
      || !take_shifts (f, error))
    return FALSE;
  if (weights != 0 && weights != s->geometry->views) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " projections, weights for %" G_GINT64_FORMAT, s->path, s->geometry->views,
                 weights);
    return FALSE;
  }
  s->has_weights = weights > 0;
  s->geometry->detector = curved ? LAM_DETECTOR_CURVED : LAM_DETECTOR_FLAT;
  s->geometry->mask = open_mask ? LAM_MASK_NONE : LAM_MASK_ELLIPSE;
  g_strlcpy (s->geometry->length_unit, mm ? "mm" : "px", sizeof s->geometry->length_unit);
  f->kind_stated = TRUE;
  f->distances_stated = cone;
  f->pitch_stated = mm;
  lam_scan_unused (f, "/scan", known);
  lam_scan_unused (f, "/", root);
  return TRUE;
}
