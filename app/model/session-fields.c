#include "model/session-file-private.h"

#include <string.h>

#include "core/memory.h"

/* -- structs -- */

#define FIELD(kind, member)                                                                                            \
  {                                                                                                                    \
#member, LAM_FIELD_##kind, G_STRUCT_OFFSET(T, member), sizeof(((T *) NULL)->member)                                \
  }
#define D(member) FIELD (DOUBLE, member)
#define L(member) FIELD (INT64, member)
#define N(member) FIELD (INT, member)
#define S(member) FIELD (TEXT, member)
#define C(member) FIELD (CHARS, member)
#define RANGE(member) L (member.begin), L (member.end)
#define END                                                                                                            \
  {                                                                                                                    \
    NULL                                                                                                               \
  }

/* T is the struct that the members below are of. */
#define T LamSessionFile
const LamFileField lam_scan_fields[] = {
    S (scan),
    N (bare),
    L (stamp.size),
    L (stamp.mtime_ns),
    N (options.geometry_set),
    N (options.geometry),
    D (options.source_detector),
    D (options.source_axis),
    D (options.channel_pitch),
    D (options.row_pitch),
    N (options.angles_set),
    D (options.angle_start),
    D (options.angle_stop),
    N (options.angle_unit),
    N (options.direction),
    N (options.kind_set),
    N (options.kind),
    RANGE (options.slices),
    END,
};

const LamFileField lam_session_fields[] = {
    S (title), L (shown), L (edits), S (log), S (home), S (run), S (maps_path), END,
};
#undef T

#define T LamSessionView
const LamFileField lam_view_fields[] = {
    N (plane),    L (index[0]),   L (index[1]), L (index[2]),  D (low), D (high), N (automatic),
    N (inverted), N (colour_map), D (zoom),     C (workspace), C (tab), C (map),  END,
};
#undef T

#define T LamSessionResult
const LamFileField lam_result_fields[] = {
    S (name),       D (tilt_degrees), N (where),          S (path), S (dataset),
    L (stamp.size), N (has_crc),      L (stamp.mtime_ns), N (crc),  END,
};
#undef T

#define T LamReconResult
const LamFileField lam_recon_fields[] = {
    D (sigma_y), D (sigma_x), N (stopped), D (seconds), L (plan_bytes), L (peak_bytes), L (copied), S (checksum), END,
};
#undef T

#define T LamReconParams
const LamFileField lam_params_fields[] = {
    N (method),
    S (devices),
    L (iterations),
    D (stop_percent),
    D (snr_db),
    D (sharpness),
    D (sigma_y),
    D (sigma_x),
    D (p),
    D (q),
    D (t),
    D (neighbours[0]),
    D (neighbours[1]),
    D (neighbours[2]),
    D (max_step),
    N (positivity),
    N (damping),
    N (init),
    S (init_path),
    L (seed),
    S (command),
    END,
};
#undef T

#define T LamGeometry
const LamFileField lam_geometry_fields[] = {
    N (kind),
    N (detector),
    C (length_unit),
    L (views),
    L (rows),
    L (channels),
    D (channel_pitch),
    D (row_pitch),
    D (channel_offset),
    D (row_offset),
    D (source_detector),
    D (source_axis),
    L (recon_rows),
    L (recon_columns),
    L (recon_slices),
    D (voxel_pitch),
    D (row_aspect),
    D (slice_aspect),
    D (slice_offset),
    D (pad_top),
    D (pad_bottom),
    N (mask),
    END,
};
#undef T

#define T LamProvenance
const LamFileField lam_made_fields[] = {
    S (scan),
    L (stamp.size),
    L (stamp.mtime_ns),
    L (stamp.inode),
    L (stamp.device),
    D (center_offset),
    S (center_from),
    D (center_width),
    D (center_confidence),
    D (tilt),
    RANGE (slices),
    L (slices_of),
    L (bin),
    L (first_channel),
    S (weights),
    S (defects),
    S (bad_pixels),
    L (counted.samples),
    L (counted.listed),
    L (counted.non_finite),
    L (counted.flat_dark),
    L (counted.below),
    L (counted.above),
    L (counted.filled),
    L (counted.left),
    L (counted.masked),
    END,
};
#undef T

#define T LamRegularization
const LamFileField lam_regularization_fields[] = {
    D (sigma_y),         D (sigma_x),
    D (sigma_prox),      L (views_sampled),
    D (background_left), D (background_right),
    N (whole_support),   D (support_threshold),
    L (support_count),   D (support_rms),
    D (typical_value),   D (path_length),
    D (edge_fraction),   END,
};
#undef T

#define T LamReconDevice
const LamFileField lam_device_fields[] = {
    C (name), L (bytes), L (planned_bytes), D (busy_seconds), L (copied_in), L (copied_out), END,
};
#undef T

#define T LamPrepareParams
const LamFileField lam_prepare_fields[] = {
    RANGE (rows),
    RANGE (crop_rows),
    RANGE (crop_channels),
    L (bin),
    N (transmission.policy),
    N (transmission.passes),
    N (transmission.clamp_above),
    N (transmission.magnitude),
    N (find_bad_pixels),
    D (bad_pixel_sigmas),
    D (tilt),
    N (background),
    L (edge_width),
    D (zingers),
    N (stripes.kind),
    D (stripes.snr),
    L (stripes.large),
    L (stripes.small),
    D (stripes.sigma),
    L (stripes.levels),
    N (weights),
    N (made_weights),
    S (bad_pixels_from),
    END,
};
#undef T

gboolean
lam_fields_put_at (hid_t id, const LamFileField *field, gconstpointer from, const char *place, GError **error)
{
  gboolean ok = TRUE;
  for (; ok && field->name != NULL; field++) {
    const void *at = (const char *) from + field->offset;
    int number;
    char *const *text = at;
    switch (field->kind) {
    case LAM_FIELD_DOUBLE:
      ok = lam_h5_put_double (id, field->name, *(const double *) at, place, error);
      break;
    case LAM_FIELD_INT64:
      ok = lam_h5_put_int (id, field->name, *(const int64_t *) at, place, error);
      break;
    case LAM_FIELD_INT:
      memcpy (&number, at, sizeof number);
      ok = lam_h5_put_int (id, field->name, number, place, error);
      break;
    case LAM_FIELD_TEXT:
      ok = *text == NULL || lam_h5_put_text (id, field->name, *text, place, error);
      break;
    case LAM_FIELD_CHARS:
      ok = lam_h5_put_text (id, field->name, at, place, error);
      break;
    }
  }
  return ok;
}

gboolean
lam_fields_get_at (hid_t id, const LamFileField *field, gpointer to, const char *place, GError **error)
{
  for (; field->name != NULL; field++) {
    void *at = (char *) to + field->offset;
    g_autoptr (GError) e = NULL;
    g_autofree char *text = NULL;
    int64_t whole = 0;
    int number;
    gboolean ok = TRUE;
    if (!lam_h5_has_attribute (id, field->name))
      continue;
    switch (field->kind) {
    case LAM_FIELD_DOUBLE:
      ok = lam_h5_attribute_double (id, field->name, at, place, &e);
      break;
    case LAM_FIELD_INT64:
      ok = lam_h5_attribute_int (id, field->name, at, place, &e);
      break;
    case LAM_FIELD_INT:
      ok = lam_h5_attribute_int (id, field->name, &whole, place, &e);
      number = (int) whole;
      if (ok)
        memcpy (at, &number, sizeof number);
      break;
    case LAM_FIELD_TEXT:
    case LAM_FIELD_CHARS:
      text = lam_h5_attribute_text (id, field->name, place, &e);
      ok = text != NULL;
      if (ok && field->kind == LAM_FIELD_CHARS)
        g_strlcpy (at, text, field->size);
      else if (ok) {
        g_free (*(char **) at);
        *(char **) at = g_steal_pointer (&text);
      }
      break;
    }
    if (!ok) {
      g_propagate_error (error, g_steal_pointer (&e));
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
lam_fields_put (LamH5File *h5, const char *path, const LamFileField *fields, gconstpointer from, GError **error)
{
  g_auto (LamHid) id = lam_h5_make_group (h5, path, error);
  return id >= 0 && lam_fields_put_at (id, fields, from, h5->path, error);
}

gboolean
lam_fields_get (LamH5File *h5, const char *path, const LamFileField *fields, gpointer to, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (h5, path, NULL, error);
  return id >= 0 && lam_fields_get_at (id, fields, to, h5->path, error);
}

/* -- preparation: its fields, and the list of bad pixels beside them, so that the file it is from need not be there -- */

gboolean
lam_prepared_put (LamH5File *h5, const char *path, const LamPrepareParams *prepared, GError **error)
{
  int64_t n;
  const int32_t *pairs = lam_bad_pixels_data (prepared->bad_pixels, &n);
  g_autofree char *list = g_strconcat (path, "/bad_pixels", NULL);
  g_autofree double *numbers = g_new (double, 2 * n + 1);
  for (int64_t i = 0; i < 2 * n; i++)
    numbers[i] = pairs[i];
  return lam_fields_put (h5, path, lam_prepare_fields, prepared, error)
         && (n == 0 || lam_h5_write_doubles (h5, list, numbers, 2 * n, "1", "rows of two: row, channel", error));
}

gboolean
lam_prepared_get (LamH5File *h5, const char *path, LamPrepareParams *prepared, GError **error)
{
  int64_t n = 0;
  g_autofree char *list = g_strconcat (path, "/bad_pixels", NULL);
  if (!lam_fields_get (h5, path, lam_prepare_fields, prepared, error))
    return FALSE;
  if (prepared->bad_pixels_from == NULL)
    return TRUE;
  double *numbers = lam_h5_exists (h5, list) ? lam_h5_read_doubles (h5, list, &n, error) : NULL;
  if (numbers == NULL && lam_h5_exists (h5, list))
    return FALSE;
  g_autoptr (GString) text = g_string_new (NULL);
  for (int64_t i = 0; i + 1 < n; i += 2)
    g_string_append_printf (text, "%.0f %.0f\n", numbers[i], numbers[i + 1]);
  lam_free (numbers);
  prepared->bad_pixels = lam_bad_pixels_parse (text->str, h5->path, error);
  return prepared->bad_pixels != NULL;
}

/* -- dictionaries: numbers as numbers, so that other programs read them -- */

gboolean
lam_dict_put (LamH5File *h5, const char *path, GVariant *dict, GError **error)
{
  g_auto (LamHid) id = lam_h5_make_group (h5, path, error);
  if (id < 0 || dict == NULL)
    return id >= 0;
  gboolean ok = TRUE;
  gsize n = g_variant_n_children (dict);
  for (gsize i = 0; ok && i < n; i++) {
    g_autoptr (GVariant) entry = g_variant_get_child_value (dict, i);
    g_autoptr (GVariant) key = g_variant_get_child_value (entry, 0);
    g_autoptr (GVariant) boxed = g_variant_get_child_value (entry, 1);
    g_autoptr (GVariant) value =
        g_variant_is_of_type (boxed, G_VARIANT_TYPE_VARIANT) ? g_variant_get_variant (boxed) : g_variant_ref (boxed);
    const char *name = g_variant_get_string (key, NULL);
    if (g_variant_is_of_type (value, G_VARIANT_TYPE_DOUBLE))
      ok = lam_h5_put_double (id, name, g_variant_get_double (value), h5->path, error);
    else if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
      ok = lam_h5_put_int (id, name, g_variant_get_int64 (value), h5->path, error);
    else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
      ok = lam_h5_put_text (id, name, g_variant_get_boolean (value) ? "true" : "false", h5->path, error);
    else
      ok = lam_h5_put_text (id, name, g_variant_get_string (value, NULL), h5->path, error);
  }
  return ok;
}

static GVariant *
get_value (hid_t id, const char *name, const char *place, GError **error)
{
  g_auto (LamHid) a = H5Aopen (id, name, H5P_DEFAULT);
  g_auto (LamHid) type = a < 0 ? -1 : H5Aget_type (a);
  H5T_class_t klass = type < 0 ? H5T_NO_CLASS : H5Tget_class (type);
  double number = 0;
  int64_t whole = 0;
  if (klass == H5T_FLOAT)
    return lam_h5_attribute_double (id, name, &number, place, error) ? g_variant_new_double (number) : NULL;
  if (klass == H5T_INTEGER)
    return lam_h5_attribute_int (id, name, &whole, place, error) ? g_variant_new_int64 (whole) : NULL;
  g_autofree char *text = lam_h5_attribute_text (id, name, place, error);
  return text == NULL                  ? NULL
         : g_str_equal (text, "true")  ? g_variant_new_boolean (TRUE)
         : g_str_equal (text, "false") ? g_variant_new_boolean (FALSE)
                                       : g_variant_new_string (text);
}

GVariant *
lam_dict_get (LamH5File *h5, const char *path, gboolean texts, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (h5, path, NULL, error);
  g_autoptr (GPtrArray) names = id < 0 ? NULL : lam_h5_attribute_names (id, h5->path, error);
  if (names == NULL)
    return NULL;
  g_auto (GVariantBuilder) b = G_VARIANT_BUILDER_INIT (texts ? G_VARIANT_TYPE ("a{ss}") : G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; i < names->len; i++) {
    const char *name = g_ptr_array_index (names, i);
    GVariant *value = get_value (id, name, h5->path, error);
    if (value == NULL)
      return NULL;
    g_autoptr (GVariant) held = g_variant_ref_sink (value);
    if (!texts)
      g_variant_builder_add (&b, "{sv}", name, held);
    else if (g_variant_is_of_type (held, G_VARIANT_TYPE_STRING))
      g_variant_builder_add (&b, "{ss}", name, g_variant_get_string (held, NULL));
  }
  return g_variant_ref_sink (g_variant_builder_end (&b));
}

/* -- iterations: eight numbers each -- */

gboolean
lam_iterations_put (LamH5File *h5, const char *path, const GArray *iterations, GError **error)
{
  if (iterations->len == 0)
    return TRUE;
  g_autofree double *rows = g_new (double, 8 * (gsize) iterations->len);
  for (guint i = 0; i < iterations->len; i++) {
    const LamReconIteration *it = &g_array_index (iterations, LamReconIteration, i);
    const double row[8] = {(double) it->iteration, (double) it->subsets, it->change_percent, it->cost,
                           it->data_cost,          it->prior_cost,       it->mean_step,      it->seconds};
    memcpy (rows + 8 * (gsize) i, row, sizeof row);
  }
  return lam_h5_write_doubles (h5, path, rows, 8 * (int64_t) iterations->len, "1",
                               "rows of eight: iteration, subsets, change in percent, cost, of the data, of the prior, "
                               "mean step, seconds",
                               error);
}

gboolean
lam_iterations_get (LamH5File *h5, const char *path, GArray *iterations, GError **error)
{
  int64_t n = 0;
  if (!lam_h5_exists (h5, path))
    return TRUE;
  double *q = lam_h5_read_doubles (h5, path, &n, error);
  for (int64_t i = 0; q != NULL && i + 8 <= n; i += 8) {
    LamReconIteration it = {(int64_t) q[i], (int64_t) q[i + 1], q[i + 2], q[i + 3],
                            q[i + 4],       q[i + 5],           q[i + 6], q[i + 7]};
    g_array_append_val (iterations, it);
  }
  lam_free (q);
  return q != NULL;
}
