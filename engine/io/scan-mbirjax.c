/* scan-mbirjax.c: MBIRJAX's two-stage file, "mbirjax_preprocessing_v1" (spec/ct.md section 12): root datasets sinogram and
 * weights, array parameters as datasets cone_beam_params__NAME and optional_params__NAME, the rest as JSON text. */
#include <json-glib/json-glib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scan-private.h"

static const char *const groups[] = {"cone_beam_params", "optional_params"};

typedef struct {
  ScanFacts *facts;
  JsonObject *json; /* the params attribute */
  GHashTable *used; /* names that were asked for */
} Parameters;

/* Brackets inside each other that are taken: the parser calls itself for each. */
#define MAX_NESTING 64

/* Python writes Infinity and NaN, which are not JSON: they become texts. NULL when it is nested too deep. */
static char *
plain_json (const char *text)
{
  GString *s = g_string_new (NULL);
  gboolean quoted = FALSE;
  int depth = 0, deepest = 0;
  for (const char *p = text; *p; p++) {
    gboolean word = !quoted && (g_str_has_prefix (p, "Infinity") || g_str_has_prefix (p, "NaN"));
    if (word) {
      const char *name = *p == 'I' ? "Infinity" : "NaN";
      gboolean minus = s->len > 0 && s->str[s->len - 1] == '-';
      if (minus)
        g_string_truncate (s, s->len - 1);
      g_string_append_printf (s, "\"%s%s\"", minus ? "-" : "", name);
      p += strlen (name) - 1;
      continue;
    }
    if (*p == '"')
      quoted = !quoted;
    else if (*p == '\\' && quoted && p[1])
      g_string_append_c (s, *p++);
    depth += quoted ? 0 : (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
    deepest = LAM_MAX (deepest, depth);
    g_string_append_c (s, *p);
  }
  return g_string_free (s, deepest > MAX_NESTING);
}

static JsonNode *
find_json (Parameters *p, const char *name)
{
  g_hash_table_add (p->used, g_strdup (name));
  for (size_t i = 0; i < G_N_ELEMENTS (groups); i++) {
    JsonNode *group = json_object_get_member (p->json, groups[i]);
    if (group && JSON_NODE_HOLDS_OBJECT (group)) {
      JsonNode *node = json_object_get_member (json_node_get_object (group), name);
      if (node && !JSON_NODE_HOLDS_NULL (node))
        return node;
    }
  }
  return NULL;
}

static gboolean
json_number (JsonNode *node, double *value)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  if (type == G_TYPE_DOUBLE || type == G_TYPE_INT64) {
    *value = json_node_get_double (node);
    return TRUE;
  }
  if (type != G_TYPE_STRING)
    return FALSE;
  const char *text = json_node_get_string (node);
  char *end;
  *value = g_ascii_strtod (text, &end);
  return end != text && *end == 0;
}

/* Where the array parameter @name is stored, or NULL. */
static char *
array_path (Parameters *p, const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (groups); i++) {
    g_autofree char *path = g_strdup_printf ("/%s__%s", groups[i], name);
    if (lam_h5_exists (p->facts->file, path)) {
      g_hash_table_add (p->used, g_strdup (name));
      return g_steal_pointer (&path);
    }
  }
  return NULL;
}

/* Numbers of parameter @name: a dataset, a JSON number or a list of them; lam_free. *@n = 0 and TRUE when it is absent. */
static gboolean
take_numbers (Parameters *p, const char *name, double **values, int64_t *n, GError **error)
{
  *values = NULL;
  *n = 0;
  g_autofree char *path = array_path (p, name);
  if (path) {
    *values = lam_h5_read_doubles (p->facts->file, path, n, error);
    return *values != NULL;
  }
  JsonNode *node = find_json (p, name);
  if (!node)
    return TRUE;
  JsonArray *list = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  *n = list ? json_array_get_length (list) : 1;
  *values = lam_alloc_n (LAM_MAX (*n, 1), sizeof **values, name, error);
  if (!*values)
    return FALSE;
  gboolean ok = *n > 0;
  for (int64_t i = 0; ok && i < *n; i++)
    ok = json_number (list ? json_array_get_element (list, (guint) i) : node, &(*values)[i]);
  if (ok)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: parameter %s: numbers were expected", p->facts->scan->path,
               name);
  g_clear_pointer (values, lam_free);
  return FALSE;
}

/* One number; *@value is untouched when it is absent. */
static gboolean
take_number (Parameters *p, const char *name, double *value, gboolean *there, GError **error)
{
  int64_t n;
  double *values;
  if (!take_numbers (p, name, &values, &n, error))
    return FALSE;
  gboolean ok = n <= 1;
  if (there)
    *there = n == 1;
  if (n == 1)
    *value = values[0];
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: parameter %s: one number was expected, not %" G_GINT64_FORMAT,
                 p->facts->scan->path, name, n);
  lam_free (values);
  return ok;
}

static gboolean
take_flag (Parameters *p, const char *name, gboolean otherwise)
{
  JsonNode *node = find_json (p, name);
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN
             ? json_node_get_boolean (node)
             : otherwise;
}

static const char *
take_text (Parameters *p, const char *name)
{
  JsonNode *node = find_json (p, name);
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

/* A list of three sizes, each a whole number from 1; zeros when it is absent. */
static gboolean
take_shape (Parameters *p, const char *name, int64_t shape[3], GError **error)
{
  const char *file = p->facts->scan->path;
  int64_t n;
  double *values;
  memset (shape, 0, 3 * sizeof *shape);
  if (!take_numbers (p, name, &values, &n, error))
    return FALSE;
  gboolean ok = n == 0 || n == 3;
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: parameter %s: three sizes were expected, not %" G_GINT64_FORMAT, file, name, n);
  for (int64_t i = 0; ok && i < n; i++) {
    ok = values[i] >= 1 && values[i] < 1e9 && values[i] == floor (values[i]);
    if (ok)
      shape[i] = (int64_t) values[i];
    else {
      g_autofree char *text = lam_scan_number (values[i]);
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s: parameter %s: size %" G_GINT64_FORMAT " of three is %s; a whole number from 1 to 999999999 was "
                   "expected: correct it or leave the parameter out",
                   file, name, i, text);
    }
  }
  lam_free (values);
  return ok;
}

static gboolean
take_kind (Parameters *p, LamGeometryKind *kind, GError **error)
{
  const char *type = take_text (p, "geometry_type");
  *kind = type && strstr (type, "ParallelBeam") ? LAM_GEOMETRY_PARALLEL : LAM_GEOMETRY_CONE;
  if (!type || strstr (type, "ConeBeam") || strstr (type, "ParallelBeam"))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
               "%s: geometry %s is not built yet; cone and parallel beam are", p->facts->scan->path, type);
  return FALSE;
}

static gboolean
take_view_numbers (Parameters *p, GError **error)
{
  LamScan *s = p->facts->scan;
  LamGeometry *g = s->geometry;
  if (!take_numbers (p, "angles", &p->facts->angles, &p->facts->n_angles, error))
    return FALSE;
  p->facts->angles_from = g_strdup ("parameter angles");
  p->facts->angle_unit = LAM_ANGLE_UNIT_RADIANS;

  int64_t n;
  double *shifts;
  if (!take_numbers (p, "helical_z_shifts", &shifts, &n, error))
    return FALSE;
  gboolean ok = n == 0 || n == g->views, any = FALSE;
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " projections, %" G_GINT64_FORMAT " helical_z_shifts", s->path, g->views, n);
  for (int64_t v = 0; ok && v < n; v++) {
    any = any || shifts[v] != 0;
    if (!isfinite (shifts[v])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s: helical_z_shifts: shift %" G_GINT64_FORMAT " is not finite", s->path, v);
      ok = FALSE;
    }
  }
  ok = ok && (!any || lam_geometry_set_shifts (g, shifts, error));
  lam_free (shifts);
  return ok;
}

/* The volume that the file states. What it leaves out is settled when the distances are known (scan.c). */
static gboolean
take_volume (Parameters *p, GError **error)
{
  ScanFacts *f = p->facts;
  LamGeometry *g = f->scan->geometry;
  int64_t shape[3];
  if (!take_number (p, "delta_voxel", &g->voxel_pitch, &f->voxel_stated, error)
      || !take_number (p, "recon_slice_offset", &g->slice_offset, NULL, error)
      || !take_shape (p, "recon_shape", shape, error))
    return FALSE;
  double ratio = f->voxel_stated && g->channel_pitch > 0 ? g->voxel_pitch / g->channel_pitch : 1;
  if (f->voxel_stated && (!isfinite (g->voxel_pitch) || !(ratio >= 1e-6 && ratio <= 1e6))) {
    g_autofree char *text = lam_scan_number (g->voxel_pitch), *pitch = lam_scan_number (g->channel_pitch);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: parameter delta_voxel is %s; a length above 0 and of the order of delta_det_channel (%s) was "
                 "expected: correct it or leave it out",
                 f->scan->path, text, pitch);
    return FALSE;
  }
  if (!isfinite (g->slice_offset)) {
    g_autofree char *text = lam_scan_number (g->slice_offset);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: parameter recon_slice_offset is %s; a finite length was expected: correct it or leave it out",
                 f->scan->path, text);
    return FALSE;
  }
  g->recon_rows = shape[0];
  g->recon_columns = shape[1];
  g->recon_slices = shape[2];
  return TRUE;
}

static gboolean
take_geometry (Parameters *p, GError **error)
{
  ScanFacts *f = p->facts;
  LamGeometry *g = f->scan->geometry;
  gboolean has_d = FALSE, has_s = FALSE;
  double alu = 1, pad[2] = {0, 0};
  if (!take_number (p, "delta_det_channel", &g->channel_pitch, NULL, error)
      || !take_number (p, "delta_det_row", &g->row_pitch, NULL, error)
      || !take_number (p, "det_channel_offset", &g->channel_offset, NULL, error)
      || !take_number (p, "det_row_offset", &g->row_offset, NULL, error)
      || !take_number (p, "source_detector_dist", &g->source_detector, &has_d, error)
      || !take_number (p, "source_iso_dist", &g->source_axis, &has_s, error)
      || !take_number (p, "voxel_row_aspect", &g->row_aspect, NULL, error)
      || !take_number (p, "voxel_slice_aspect", &g->slice_aspect, NULL, error)
      || !take_number (p, "alu_value", &alu, NULL, error) || !take_volume (p, error))
    return FALSE;
  if (!isfinite (alu) || alu <= 0) {
    g_autofree char *text = lam_scan_number (alu);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: parameter alu_value is %s; a number above 0 was expected",
                 f->scan->path, text);
    return FALSE;
  }
  g->detector = take_flag (p, "use_curved_detector", FALSE) ? LAM_DETECTOR_CURVED : LAM_DETECTOR_FLAT;
  g->mask = take_flag (p, "use_ror_mask", TRUE) ? LAM_MASK_ELLIPSE : LAM_MASK_NONE;
  int64_t n;
  double *values;
  if (!take_numbers (p, "axial_pad_fraction", &values, &n, error))
    return FALSE;
  for (int64_t i = 0; i < 2 && n > 0; i++)
    pad[i] = values[n > 1 ? i : 0];
  lam_free (values);
  g->pad_top = pad[0];
  g->pad_bottom = pad[1];
  f->kind_stated = TRUE;
  f->distances_stated = has_d && has_s;

  const char *unit = take_text (p, "alu_unit");
  double mm = unit && *unit ? lam_scan_unit_mm (unit) * alu : 0;
  if (isnan (mm) || mm < 0) {
    lam_scan_found (f->scan, LAM_FINDING_WARNING, "pitch", "--pitch PC:PR", NULL,
                    "the length unit \"%s\" is unknown: lengths are taken in px", unit);
    mm = 0;
  }
  if (mm > 0) {
    lam_scan_scale_lengths (g, mm);
    g_strlcpy (g->length_unit, "mm", sizeof g->length_unit);
    f->pitch_stated = TRUE;
    f->pitch_from = g_strdup_printf ("from alu_unit %s", unit);
  } else if (g->channel_pitch > 0 && isfinite (g->channel_pitch) && g->channel_pitch != 1) {
    g_autofree char *text = lam_scan_number (g->channel_pitch);
    lam_scan_scale_lengths (g, 1 / g->channel_pitch);
    lam_scan_found (f->scan, LAM_FINDING_ASSUMED, "unit", "--pitch PC:PR", g_strdup_printf ("1 px = %s ALU", text),
                    "lengths are ALU without a unit: converted to px; MBIRJAX's own result is in 1/ALU");
  }
  return TRUE;
}

static gboolean
check_sinogram_shape (Parameters *p, GError **error)
{
  LamScan *s = p->facts->scan;
  const LamGeometry *g = s->geometry;
  int64_t shape[3];
  if (!take_shape (p, "sinogram_shape", shape, error))
    return FALSE;
  if (shape[0] == 0 || (shape[0] == g->views && shape[1] == g->rows && shape[2] == g->channels))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
               "%s: dataset /sinogram is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
               ", its sinogram_shape %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
               s->path, g->views, g->rows, g->channels, shape[0], shape[1], shape[2]);
  return FALSE;
}

static void
list_rest (Parameters *p)
{
  GPtrArray *unused = p->facts->unused;
  for (size_t i = 0; i < G_N_ELEMENTS (groups); i++) {
    JsonNode *group = json_object_get_member (p->json, groups[i]);
    if (!group || !JSON_NODE_HOLDS_OBJECT (group))
      continue;
    g_autoptr (GList) names = json_object_get_members (json_node_get_object (group));
    for (GList *l = names; l; l = l->next)
      if (!g_hash_table_contains (p->used, l->data))
        g_ptr_array_add (unused, g_strdup (l->data));
  }
  g_autoptr (GPtrArray) sets = lam_h5_names (p->facts->file, "/", NULL);
  for (guint i = 0; sets && i < sets->len; i++) {
    const char *name = sets->pdata[i], *tail = strstr (name, "__");
    if (strcmp (name, "sinogram") != 0 && strcmp (name, "weights") != 0
        && !(tail && g_hash_table_contains (p->used, tail + 2)))
      g_ptr_array_add (unused, g_strconcat ("/", name, NULL));
  }
}

static gboolean
take_all (Parameters *p, GError **error)
{
  LamScan *s = p->facts->scan;
  LamGeometryKind kind;
  int64_t weights;
  if (!take_kind (p, &kind, error) || !lam_scan_take_data (p->facts, kind, error) || !check_sinogram_shape (p, error)
      || !take_view_numbers (p, error) || !take_geometry (p, error)
      || !lam_scan_take_frames (p->facts, "/weights", "weights", &weights, error))
    return FALSE;
  if (weights != 0 && weights != s->geometry->views) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " projections, weights for %" G_GINT64_FORMAT, s->path, s->geometry->views,
                 weights);
    return FALSE;
  }
  s->has_weights = weights > 0;
  list_rest (p);
  return TRUE;
}

gboolean
lam_scan_open_mbirjax (ScanFacts *f, GError **error)
{
  LamScan *s = f->scan;
  s->format = LAM_SCAN_MBIRJAX;
  s->kind = LAM_SCAN_SINOGRAM;
  s->data_path = g_strdup ("/sinogram");
  s->weights_path = g_strdup ("/weights");
  g_auto (LamHid) root = lam_h5_object (f->file, "/", NULL, error);
  g_autoptr (GError) e = NULL;
  g_autofree char *text = root < 0 ? NULL : lam_h5_attribute_text (root, "params", s->path, &e);
  if (!text) {
    if (e)
      g_propagate_error (error, g_steal_pointer (&e));
    else if (root >= 0)
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: the root attribute params (JSON) is absent", s->path);
    return FALSE;
  }
  g_autofree char *plain = plain_json (text);
  g_autoptr (JsonParser) parser = json_parser_new ();
  if (!plain || !json_parser_load_from_data (parser, plain, -1, &e) || !json_parser_get_root (parser)
      || !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser))) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: the root attribute params is not a JSON object: %s", s->path,
                 e ? e->message : "an object was expected");
    return FALSE;
  }
  Parameters p = {.facts = f, .json = json_node_get_object (json_parser_get_root (parser))};
  p.used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean ok = take_all (&p, error);
  g_hash_table_unref (p.used);
  return ok;
}
