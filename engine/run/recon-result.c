/* recon-result.c: what a run leaves: its numbers, pictures of it, and the file. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/mbirjax.h"
#include "io/tiff.h"
#include "io/volume.h"
#include "run/recon-private.h"

LamReconResult *
lam_recon_result_ref (LamReconResult *r)
{
  g_atomic_ref_count_inc (&r->refs);
  return r;
}

/* To give gigabytes back takes the kernel a fifth of a second: not the thread that happens to hold the last reference, which
 * may be the window's. */
#define FREE_ELSEWHERE ((int64_t) 64 << 20) /* bytes */

static gpointer
free_thread (gpointer volume)
{
  lam_free (volume);
  return NULL;
}

static void
free_volume (LamReconResult *r)
{
  const LamGeometry *g = r->geometry;
  int64_t bytes = r->volume != NULL ? g->recon_rows * g->recon_columns * g->recon_slices * (int64_t) sizeof (float) : 0;
  GThread *thread = bytes > FREE_ELSEWHERE ? g_thread_try_new ("lamina-free", free_thread, r->volume, NULL) : NULL;
  if (thread != NULL)
    g_thread_unref (thread);
  else
    lam_free (r->volume);
}

void
lam_recon_result_unref (LamReconResult *r)
{
  if (!r || !g_atomic_ref_count_dec (&r->refs))
    return;
  free_volume (r);
  lam_geometry_free (r->geometry);
  lam_recon_params_clear (&r->params);
  lam_provenance_clear (&r->made);
  g_array_unref (r->iterations);
  g_free (r->devices);
  g_string_free (r->log, TRUE);
  g_free (r->checksum);
  g_free (r);
}

void
lam_recon_measure (LamRecon *r)
{
  LamReconResult *result = r->result;
  result->n_devices = lam_devices_count (r->set);
  result->devices = g_new0 (LamReconDevice, result->n_devices);
  result->peak_bytes = lam_memory_peak ();
  result->copied = lam_devices_copied (r->set);
  for (int d = 0; d < result->n_devices; d++) {
    LamDevice *device = lam_devices_get (r->set, d);
    LamReconDevice *out = &result->devices[d];
    g_strlcpy (out->name, device->name, sizeof out->name);
    out->bytes = atomic_load (&device->peak);
    out->planned_bytes = lam_plan_peak (r->plan, d);
    out->busy_seconds = (double) atomic_load (&device->busy_ns) / 1e9;
    out->copied_in = atomic_load (&device->copied_in);
    out->copied_out = atomic_load (&device->copied_out);
    result->peak_bytes += out->bytes;
  }
}

LamSnapshot *
lam_recon_result_plane (LamReconResult *r, LamPlane plane, int64_t index, uint64_t generation, GError **error)
{
  const LamGeometry *g = r->geometry;
  LamSnapshotInfo info = {.generation = generation,
                          .plane = plane,
                          .index = index,
                          .iteration =
                              r->iterations->len > 0
                                  ? g_array_index (r->iterations, LamReconIteration, r->iterations->len - 1).iteration
                                  : -1};
  lam_snapshot_describe (&info, g);
  if (index < 0 || index >= info.count) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "plane %" G_GINT64_FORMAT ": there are %" G_GINT64_FORMAT, index,
                 info.count);
    return NULL;
  }
  float *pixels = lam_alloc_n (info.width * info.height, 4, "picture", error);
  if (!pixels)
    return NULL;
  int64_t columns = g->recon_columns, slices = g->recon_slices;
  for (int64_t j = 0; j < info.height; j++)
    for (int64_t i = 0; i < info.width; i++) {
      int64_t row = plane == LAM_PLANE_SLICE ? j : plane == LAM_PLANE_ROW ? index : i;
      int64_t column = plane == LAM_PLANE_COLUMN ? index : i, slice = plane == LAM_PLANE_SLICE ? index : j;
      pixels[j * info.width + i] = r->volume[(row * columns + column) * slices + slice];
    }
  return lam_snapshot_new_take (&info, pixels);
}

static char *
model_params (const LamReconResult *r, GError **error)
{
  g_autoptr (LamYaml) y = lam_yaml_new (TRUE);
  lam_yaml_add_geometry (y, r->geometry);
  if (r->params.method != LAM_METHOD_VCD) /* the rest had no part */
    return lam_yaml_text (y, error);
  lam_yaml_add_double (y, "sigma_y", r->sigma_y, FALSE);
  lam_yaml_add_double (y, "sigma_x", r->sigma_x, FALSE);
  lam_yaml_add_double (y, "p", r->params.p, FALSE);
  lam_yaml_add_double (y, "q", r->params.q, FALSE);
  lam_yaml_add_double (y, "T", r->params.t, FALSE);
  lam_yaml_add_double (y, "snr_db", r->params.snr_db, FALSE);
  lam_yaml_add_double (y, "sharpness", r->params.sharpness, FALSE);
  lam_yaml_add_bool (y, "positivity_flag", r->params.positivity, FALSE);
  return lam_yaml_text (y, error);
}

static char *
recon_params (const LamReconResult *r, GError **error)
{
  g_autoptr (LamYaml) y = lam_yaml_new (FALSE);
  guint n = r->iterations->len;
  g_autofree double *column = g_new0 (double, n + 1);
  static const char *const sigmas[] = {"sigma_y", "sigma_x"};
  const double values[] = {r->sigma_y, r->sigma_x};
  lam_yaml_add_int (y, "num_iterations", n, FALSE);
  for (int c = 0; c < 4; c++) {
    static const char *const names[] = {"fm_rmse", "prior_loss", "stop_threshold_change_pct", "alpha_values"};
    for (guint i = 0; i < n; i++) {
      const LamReconIteration *it = &g_array_index (r->iterations, LamReconIteration, i);
      column[i] = c == 0 ? it->data_cost : c == 1 ? it->prior_cost : c == 2 ? it->change_percent : it->mean_step;
    }
    lam_yaml_add_doubles (y, names[c], column, n, FALSE);
  }
  if (r->params.method == LAM_METHOD_VCD)
    lam_yaml_add_map (y, "regularization_params", sigmas, values, 2);
  return lam_yaml_text (y, error);
}

/* ---- where it came from ---- */

static void
put_text (JsonBuilder *b, const char *name, const char *text)
{
  json_builder_set_member_name (b, name);
  if (text)
    json_builder_add_string_value (b, text);
  else
    json_builder_add_null_value (b);
}

static void
put_number (JsonBuilder *b, const char *name, double value)
{
  json_builder_set_member_name (b, name);
  if (isfinite (value))
    json_builder_add_double_value (b, value);
  else
    json_builder_add_null_value (b);
}

static void
put_int (JsonBuilder *b, const char *name, int64_t value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, value);
}

static void
put_center (JsonBuilder *b, const LamReconResult *r)
{
  const LamProvenance *made = &r->made;
  gboolean told = made->center_from && r->geometry->channel_offset == made->center_offset;
  put_number (b, "center_channel", lam_provenance_channel (made, lam_geometry_center (r->geometry)));
  put_text (b, "center_from", told ? made->center_from : "set by hand");
  put_number (b, "center_confidence", told ? made->center_confidence : NAN);
  put_number (b, "center_width", told ? made->center_width : NAN);
}

static void
put_counts (JsonBuilder *b, const LamProvenance *made)
{
  const LamTransmissionReport *c = &made->counted;
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {
      {"samples", c->samples},        {"listed", c->listed},       {"not_finite", c->non_finite},
      {"flat_is_dark", c->flat_dark}, {"at_or_below_0", c->below}, {"above_1", c->above},
      {"filled", c->filled},          {"became_0", c->left},       {"masked", c->masked},
  };
  json_builder_set_member_name (b, "transmission");
  if (!made->defects) {
    json_builder_add_null_value (b);
    return;
  }
  json_builder_begin_object (b);
  put_text (b, "defects", made->defects);
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    put_int (b, counts[i].name, counts[i].value);
  json_builder_end_object (b);
}

static char *
provenance (const LamReconResult *r, const char *date)
{
  const LamProvenance *made = &r->made;
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (GDateTime) changed =
      made->stamp.size > 0 ? g_date_time_new_from_unix_utc (made->stamp.mtime_ns / 1000000000) : NULL;
  g_autofree char *modified = changed ? g_date_time_format_iso8601 (changed) : NULL;
  gboolean cone = r->geometry->kind == LAM_GEOMETRY_CONE;
  json_builder_begin_object (b);
  put_text (b, "scan", made->scan);
  if (made->stamp.size > 0) {
    put_int (b, "scan_bytes", made->stamp.size);
    put_text (b, "scan_modified", modified);
    put_int (b, "scan_modified_ns", made->stamp.mtime_ns);
  }
  put_center (b, r);
  put_number (b, "tilt_degrees", made->tilt * 180 / G_PI);
  if (lam_range_size (made->slices) > 0) {
    json_builder_set_member_name (b, "slices");
    json_builder_begin_array (b);
    json_builder_add_int_value (b, made->slices.begin);
    json_builder_add_int_value (b, made->slices.end);
    json_builder_end_array (b);
    put_int (b, "slices_of", made->slices_of);
  }
  put_int (b, "bin", made->bin);
  put_text (b, "weights", r->params.method == LAM_METHOD_VCD ? made->weights : NULL);
  put_text (b, "bad_pixels", made->bad_pixels);
  put_counts (b, made);
  put_text (b, "method", r->params.method == LAM_METHOD_VCD ? "vcd" : cone ? "fdk" : "fbp");
  put_text (b, "mask", r->geometry->mask == LAM_MASK_NONE ? "none" : "ellipse");
  json_builder_set_member_name (b, "stopped");
  json_builder_add_boolean_value (b, r->stopped);
  put_text (b, "program", "Lamina " LAMINA_VERSION);
  put_text (b, "date", date);
  put_text (b, "command", r->params.command ? r->params.command : "window");
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  json_generator_set_root (generator, root);
  g_autofree char *text = json_generator_to_data (generator, NULL);
  return lam_json_fix_numbers (text);
}

typedef struct {
  LamControl *control;
} Io;

static gboolean
io_cancelled (gpointer data)
{
  return lam_control_cancelled (((Io *) data)->control);
}

static void
io_progress (double fraction, const char *what, gpointer data)
{
  lam_control_progress (((Io *) data)->control, "saving", fraction, 1);
}

/* All of it as one set of texts. */
typedef struct {
  char *units, *parameters, *recon, *model, *notes, *provenance;
  LamVolumeInfo info; /* of them */
} Texts;

static void
texts_clear (Texts *t)
{
  char *all[] = {t->units, t->parameters, t->recon, t->model, t->notes, t->provenance};
  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    g_free (all[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

static gboolean
write_texts (const LamReconResult *r, Texts *t, GError **error)
{
  const LamGeometry *g = r->geometry;
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *date = g_date_time_format_iso8601 (now);
  t->model = model_params (r, error);
  t->recon = t->model ? recon_params (r, error) : NULL;
  t->parameters = lam_recon_params_json (&r->params);
  t->units = g_strdup_printf ("1/%s", g->length_unit);
  t->notes = g_strdup_printf ("Reconstruction completed: %s", date);
  t->provenance = provenance (r, date);
  t->info = (LamVolumeInfo){
      .units = t->units,
      .length_unit = g->length_unit,
      .parameters = t->parameters,
      .recon_params = t->recon,
      .model_params = t->model,
      .recon_log = r->log->str,
      .notes = t->notes,
      .provenance = t->provenance,
      .voxel_size = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect},
  };
  return t->recon != NULL;
}

gboolean
lam_recon_result_save (LamReconResult *r, const char *path, LamControl *control, GError **error)
{
  const LamGeometry *g = r->geometry;
  Io io = {control};
  LamIoControl ioc = {io_cancelled, io_progress, &io};
  g_auto (Texts) texts = {0};
  g_autofree char *checksum = NULL;
  if (!write_texts (r, &texts, error)
      || !lam_volume_write (path, r->volume, g->recon_rows, g->recon_columns, g->recon_slices, &texts.info, &ioc,
                            &checksum, error))
    return FALSE;
  if (!r->checksum) /* the same at every saving; whoever reads it meanwhile keeps it */
    r->checksum = g_steal_pointer (&checksum);
  return TRUE;
}

gboolean
lam_recon_result_save_tiff (LamReconResult *r, const char *folder, LamControl *control, GError **error)
{
  const LamGeometry *g = r->geometry;
  Io io = {control};
  LamIoControl ioc = {io_cancelled, io_progress, &io};
  g_auto (Texts) texts = {0};
  return write_texts (r, &texts, error)
         && lam_tiff_write_stack (folder, "slice", r->volume, g->recon_rows, g->recon_columns, g->recon_slices,
                                  &texts.info, &ioc, error);
}
