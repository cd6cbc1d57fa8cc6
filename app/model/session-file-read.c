#include "config.h"

#include "model/session-file-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/volume.h"
#include "model/maps-file.h"

static gboolean
fill_rows (LamRange rows, const float *data, gpointer volume, GError **error)
{
  const LamReconResult *r = volume;
  int64_t line = lam_voxels_line (r->geometry);
  memcpy (r->volume + rows.begin * line, data, (size_t) (lam_range_size (rows) * line) * sizeof *data);
  return TRUE;
}

/* Where the voxels of a link are now: as it says, or of that name beside the session file. */
static void
find_voxels (LamSessionResult *r, LamH5File *h5, hid_t id)
{
  if (r->where == LAM_VOXELS_INSIDE && r->path == NULL)
    r->path = g_strdup (h5->path);
  else if (r->path != NULL && !g_file_test (r->path, G_FILE_TEST_EXISTS)) {
    g_autofree char *name = lam_h5_attribute_text (id, "file_name", h5->path, NULL);
    g_autofree char *folder = g_path_get_dirname (h5->path);
    g_autofree char *beside = name != NULL ? g_build_filename (folder, name, NULL) : NULL;
    if (beside != NULL && g_file_test (beside, G_FILE_TEST_EXISTS)) {
      g_free (r->path);
      r->path = g_steal_pointer (&beside);
    }
  }
}

/* The result without its voxels. */
static LamSessionResult *
get_result (LamH5File *h5, guint i, GError **error)
{
  g_autofree char *root = lam_result_path (i, NULL), *params = lam_result_path (i, "params"),
                  *made = lam_result_path (i, "made"), *geometry = lam_result_path (i, "geometry"),
                  *angles = lam_result_path (i, "geometry/angles"), *shifts = lam_result_path (i, "geometry/shifts"),
                  *regularization = lam_result_path (i, "regularization"),
                  *parameters = lam_result_path (i, "parameters"), *iterations = lam_result_path (i, "iterations"),
                  *prepared = lam_result_path (i, "prepared");
  g_autoptr (LamSessionResult) r = g_new0 (LamSessionResult, 1);
  LamReconResult *recon = r->recon = g_new0 (LamReconResult, 1);
  int64_t devices = 0, n = 0, m = 0;
  LamGeometry sizes = {0};
  g_atomic_ref_count_init (&recon->refs);
  recon->iterations = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  recon->log = g_string_new (NULL);
  lam_recon_params_init (&recon->params);
  lam_provenance_init (&recon->made, NULL);
  lam_prepare_params_init (&r->prepared);
  {
    g_auto (LamHid) id = lam_h5_object (h5, root, NULL, error);
    if (id < 0 || !lam_fields_get_at (id, lam_result_fields, r, h5->path, error)
        || !lam_fields_get_at (id, lam_recon_fields, recon, h5->path, error)
        || !lam_h5_attribute_int (id, "devices", &devices, h5->path, error))
      return NULL;
    g_autofree char *log = lam_h5_attribute_text (id, "log", h5->path, NULL);
    g_string_append (recon->log, log != NULL ? log : "");
    find_voxels (r, h5, id);
  }
  if (!lam_fields_get (h5, params, lam_params_fields, &recon->params, error)
      || !lam_fields_get (h5, made, lam_made_fields, &recon->made, error)
      || !lam_prepared_get (h5, prepared, &r->prepared, error)
      || !lam_fields_get (h5, regularization, lam_regularization_fields, &recon->regularization, error)
      || !lam_fields_get (h5, geometry, lam_geometry_fields, &sizes, error)
      || !lam_iterations_get (h5, iterations, recon->iterations, error)
      || (r->parameters = lam_dict_get (h5, parameters, FALSE, error)) == NULL)
    return NULL;
  recon->geometry = lam_geometry_try_new (sizes.kind, sizes.views, sizes.rows, sizes.channels, error);
  double *angle = recon->geometry != NULL ? lam_h5_read_doubles (h5, angles, &n, error) : NULL;
  double *shift = angle != NULL && lam_h5_exists (h5, shifts) ? lam_h5_read_doubles (h5, shifts, &m, error) : NULL;
  gboolean good = angle != NULL && n == sizes.views && (shift == NULL || m == n);
  if (good) {
    double *own = recon->geometry->angles;
    memcpy (own, angle, (size_t) n * sizeof *own);
    sizes.angles = own;
    sizes.shifts = NULL;
    *recon->geometry = sizes;
    good = shift == NULL || lam_geometry_set_shifts (recon->geometry, shift, error);
  } else if (error != NULL && *error == NULL)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: %s: the number of angles is not that of the views"),
                 h5->path, geometry);
  lam_free (angle);
  lam_free (shift);
  if (!good || !lam_geometry_check (recon->geometry, error))
    return NULL;
  recon->n_devices = (int) CLAMP (devices, 0, 1024);
  recon->devices = g_new0 (LamReconDevice, recon->n_devices + 1);
  for (int d = 0; d < recon->n_devices; d++) {
    g_autofree char *at = g_strdup_printf ("%s/device%d", root, d);
    if (!lam_fields_get (h5, at, lam_device_fields, &recon->devices[d], error))
      return NULL;
  }
  return g_steal_pointer (&r);
}

/* A volume that cannot be had is no end: its parameters, curve and log are there. A cancel is. */
static gboolean
read_voxels (LamSessionResult *r, LamControl *control, GError **error)
{
  g_autoptr (GError) e = NULL;
  const LamGeometry *g = r->recon->geometry;
  if (r->where == LAM_VOXELS_MEMORY || r->path == NULL) {
    r->problem = g_strdup (_ ("its voxels were not saved"));
    return TRUE;
  }
  g_autoptr (LamVolume) v = lam_volume_open (r->path, r->dataset, LAM_LAYOUT_ROW_COLUMN_SLICE, &e);
  if (v != NULL && (v->rows != g->recon_rows || v->columns != g->recon_columns || v->slices != g->recon_slices))
    g_set_error (&e, LAM_ERROR, LAM_ERROR_CHANGED, _ ("%s holds another volume now"), r->path);
  float *volume =
      e == NULL ? lam_alloc_n (g->recon_rows, lam_voxels_line (g) * (int64_t) sizeof *volume, r->name, &e) : NULL;
  if (volume != NULL) {
    LamReconResult into = {.geometry = r->recon->geometry, .volume = volume};
    /* Read as if it lay on the disk alone. */
    if (lam_voxels_walk (r, _ ("reading the session"), fill_rows, &into, control, &e))
      r->recon->volume = g_steal_pointer (&volume);
  }
  lam_free (volume);
  if (g_error_matches (e, LAM_ERROR, LAM_ERROR_CANCELLED)) {
    g_propagate_error (error, g_steal_pointer (&e));
    return FALSE;
  }
  if (e != NULL)
    r->problem = g_strdup (e->message);
  return TRUE;
}

static gboolean
check_mark (LamH5File *h5, GError **error)
{
  int64_t format = 0;
  g_auto (LamHid) root = lam_h5_object (h5, "/", NULL, error);
  if (root < 0 || !lam_h5_attribute_int (root, LAM_SESSION_MARK, &format, h5->path, error))
    return FALSE;
  if (format == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s is no session of Lamina"), h5->path);
  else if (format != LAM_SESSION_LAYOUT)
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 _ ("%s: a session of layout %ld; this version reads %d. A newer Lamina made it."), h5->path,
                 (long) format, LAM_SESSION_LAYOUT);
  return format == LAM_SESSION_LAYOUT;
}
/* Files of before it was kept have none. */
static gboolean
get_sequence (LamH5File *h5, GVariant **sequence, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (h5, "/session", NULL, error);
  g_autofree char *text = id < 0 ? NULL : lam_h5_attribute_text (id, "sequence", h5->path, NULL);
  g_autoptr (GError) e = NULL;
  if (text == NULL)
    return id >= 0;
  *sequence = g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, &e);
  if (*sequence == NULL)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s: /session: sequence cannot be read: %s"), h5->path,
                 e->message);
  return *sequence != NULL;
}

/* Maps that cannot be had are no end: what they were made of is told, and they can be made again. */
static void
get_maps (LamH5File *h5, LamSessionFile *f)
{
  g_autoptr (GError) e = NULL;
  g_autoptr (LamH5File) alone = f->maps_path != NULL ? lam_h5_open (f->maps_path, &e) : NULL;
  if (e == NULL && (alone != NULL || lam_h5_exists (h5, "/maps")))
    f->maps = lam_maps_file_read (alone != NULL ? alone : h5, &e);
  if (e != NULL)
    g_debug ("maps: %s", e->message);
}

static LamSessionFile *
read_file (const char *path, gboolean all, LamControl *control, GError **error)
{
  g_autoptr (LamSessionFile) f = lam_session_file_new ();
  g_autoptr (LamH5File) h5 = lam_seal_check (path, error) ? lam_h5_open (path, error) : NULL;
  if (h5 == NULL || !check_mark (h5, error) || !lam_fields_get (h5, "/session", lam_session_fields, f, error)
      || !lam_fields_get (h5, "/session/scan", lam_scan_fields, f, error))
    return NULL;
  {
    g_auto (LamHid) id = lam_h5_object (h5, "/session/scan", NULL, error);
    f->relative = id < 0 ? NULL : lam_h5_attribute_text (id, "relative", h5->path, NULL);
  }
  g_autoptr (GPtrArray) names = lam_h5_names (h5, "/results", error);
  if (names == NULL)
    return NULL;
  f->has_results = names->len > 0 || f->maps_path != NULL || lam_h5_exists (h5, "/maps");
  if (!all)
    return g_steal_pointer (&f);
  if (!lam_fields_get (h5, "/session/view", lam_view_fields, &f->view, error)
      || !lam_prepared_get (h5, "/session/prepared", &f->prepared, error)
      || (f->parameters = lam_dict_get (h5, "/session/parameters", FALSE, error)) == NULL
      || (f->defaults = lam_dict_get (h5, "/session/defaults", FALSE, error)) == NULL
      || (f->notes = lam_dict_get (h5, "/session/notes", TRUE, error)) == NULL
      || !lam_iterations_get (h5, "/session/curve", f->curve, error) || !get_sequence (h5, &f->sequence, error))
    return NULL;
  for (guint i = 0; i < names->len; i++) {
    LamSessionResult *r = get_result (h5, i, error);
    if (r == NULL)
      return NULL;
    g_ptr_array_add (f->results, r);
  }
  get_maps (h5, f);
  g_clear_pointer (&h5, lam_h5_free);
  for (guint i = 0; i < f->results->len; i++)
    if (!read_voxels (g_ptr_array_index (f->results, i), control, error))
      return NULL;
  if (f->shown >= (int64_t) f->results->len)
    f->shown = -1;
  return g_steal_pointer (&f);
}

LamSessionFile *
lam_session_file_read (const char *path, LamControl *control, GError **error)
{
  return read_file (path, TRUE, control, error);
}

LamSessionFile *
lam_session_file_peek (const char *path, GError **error)
{
  return read_file (path, FALSE, NULL, error);
}
