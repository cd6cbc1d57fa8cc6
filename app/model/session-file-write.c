#include "config.h"

#include "model/session-file-private.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "model/maps-file.h"

/* Room for the library's own structures: for the file, and for each result. */
#define OVERHEAD (INT64_C (256) << 10)
#define PER_RESULT (INT64_C (48) << 10)

static gboolean
put_geometry (LamH5File *h5, const char *path, const LamGeometry *g, GError **error)
{
  g_autofree char *angles = g_strconcat (path, "/angles", NULL), *shifts = g_strconcat (path, "/shifts", NULL);
  return lam_fields_put (h5, path, lam_geometry_fields, g, error)
         && lam_h5_write_doubles (h5, angles, g->angles, g->views, "rad", "angle of each view", error)
         && (g->shifts == NULL
             || lam_h5_write_doubles (h5, shifts, g->shifts, g->views, g->length_unit, "axial shift of each view",
                                      error));
}

static gboolean
put_devices (LamH5File *h5, const char *path, const LamReconResult *r, GError **error)
{
  for (int d = 0; d < r->n_devices; d++) {
    g_autofree char *at = g_strdup_printf ("%s/device%d", path, d);
    if (!lam_fields_put (h5, at, lam_device_fields, &r->devices[d], error))
      return FALSE;
  }
  return TRUE;
}

/* @inside gets the place of its voxels in the file, -1 when they lie elsewhere. */
static gboolean
put_result (LamH5File *h5, guint i, const LamSessionResult *r, gboolean embed, int64_t *inside, GError **error)
{
  const LamReconResult *recon = r->recon;
  const LamGeometry *g = recon->geometry;
  g_autofree char *root = lam_result_path (i, NULL), *params = lam_result_path (i, "params"),
                  *made = lam_result_path (i, "made"), *geometry = lam_result_path (i, "geometry"),
                  *regularization = lam_result_path (i, "regularization"),
                  *parameters = lam_result_path (i, "parameters"), *iterations = lam_result_path (i, "iterations"),
                  *prepared = lam_result_path (i, "prepared"), *volume = lam_result_path (i, "volume");
  *inside = -1;
  {
    g_auto (LamHid) id = lam_h5_make_group (h5, root, error);
    LamSessionResult as = *r;
    if (embed) {
      as.where = LAM_VOXELS_INSIDE;
      as.path = NULL;
      as.dataset = volume;
    }
    g_autofree char *beside = as.path != NULL ? g_path_get_basename (as.path) : NULL;
    if (id < 0 || !lam_fields_put_at (id, lam_result_fields, &as, h5->path, error)
        || !lam_fields_put_at (id, lam_recon_fields, recon, h5->path, error)
        || (beside != NULL && !lam_h5_put_text (id, "file_name", beside, h5->path, error))
        || !lam_h5_put_text (id, "log", recon->log->str, h5->path, error)
        || !lam_h5_put_int (id, "devices", recon->n_devices, h5->path, error))
      return FALSE;
  }
  if (!lam_fields_put (h5, params, lam_params_fields, &recon->params, error)
      || !lam_fields_put (h5, made, lam_made_fields, &recon->made, error)
      || !lam_prepared_put (h5, prepared, &r->prepared, error)
      || !lam_fields_put (h5, regularization, lam_regularization_fields, &recon->regularization, error)
      || !put_geometry (h5, geometry, g, error) || !lam_dict_put (h5, parameters, r->parameters, error)
      || !put_devices (h5, root, recon, error) || !lam_iterations_put (h5, iterations, recon->iterations, error))
    return FALSE;
  if (!embed)
    return TRUE;
  const int64_t dims[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
  g_autofree char *units = g_strdup_printf ("1/%s", g->length_unit);
  const double size[3] = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect};
  g_auto (LamHid) id = lam_h5_make_float (h5, volume, 3, dims, error);
  if (id < 0 || !lam_h5_put_text (id, "units", units, h5->path, error)
      || !lam_h5_put_text (id, "long_name", r->name, h5->path, error)
      || !lam_h5_put_text (id, "axes", "row,column,slice", h5->path, error)
      || !lam_h5_put_doubles (id, "voxel_size", size, 3, h5->path, error))
    return FALSE;
  *inside = lam_h5_offset (id);
  if (*inside < 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, _ ("%s: HDF5 gave the volume no place"), h5->path);
  return *inside >= 0;
}

/* The way from @path's folder to @target, both absolute. */
static char *
relative_to (const char *path, const char *target)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_auto (GStrv) from = g_strsplit (folder, "/", -1), to = g_strsplit (target, "/", -1);
  guint same = 0;
  while (from[same] != NULL && to[same] != NULL && g_str_equal (from[same], to[same]))
    same++;
  GString *way = g_string_new (NULL);
  for (guint i = same; from[i] != NULL; i++)
    g_string_append (way, "../");
  for (guint i = same; to[i] != NULL; i++)
    g_string_append_printf (way, "%s%s", to[i], to[i + 1] != NULL ? "/" : "");
  return g_string_free (way, FALSE);
}

/* As text, in which numbers are exact and a person can read. */
static gboolean
put_sequence (LamH5File *h5, GVariant *sequence, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (h5, "/session", NULL, error);
  g_autofree char *text = g_variant_print (sequence, FALSE);
  return id >= 0 && lam_h5_put_text (id, "sequence", text, h5->path, error);
}

static gboolean
put_session (LamH5File *h5, const LamSessionFile *f, const char *path, GError **error)
{
  {
    g_auto (LamHid) root = lam_h5_object (h5, "/", NULL, error);
    if (root < 0 || !lam_h5_put_int (root, LAM_SESSION_MARK, LAM_SESSION_LAYOUT, h5->path, error)
        || !lam_h5_put_text (root, "program", "Lamina", h5->path, error)
        || !lam_h5_put_text (root, "version", LAMINA_VERSION, h5->path, error))
      return FALSE;
  }
  if (!lam_fields_put (h5, "/session", lam_session_fields, f, error)
      || !lam_fields_put (h5, "/session/scan", lam_scan_fields, f, error)
      || !lam_prepared_put (h5, "/session/prepared", &f->prepared, error)
      || !lam_fields_put (h5, "/session/view", lam_view_fields, &f->view, error)
      || !lam_dict_put (h5, "/session/parameters", f->parameters, error)
      || !lam_dict_put (h5, "/session/defaults", f->defaults, error)
      || !lam_dict_put (h5, "/session/notes", f->notes, error)
      || !lam_iterations_put (h5, "/session/curve", f->curve, error)
      || (f->sequence != NULL && !put_sequence (h5, f->sequence, error)))
    return FALSE;
  g_autofree char *relative = f->scan != NULL ? relative_to (path, f->scan) : NULL;
  if (relative != NULL) {
    g_auto (LamHid) id = lam_h5_object (h5, "/session/scan", NULL, error);
    if (id < 0 || !lam_h5_put_text (id, "relative", relative, h5->path, error))
      return FALSE;
  }
  g_auto (LamHid) results = lam_h5_make_group (h5, "/results", error);
  return results >= 0;
}

static gboolean
embeds (const LamSessionResult *r, gboolean embed)
{
  if (!embed || lam_voxels_are_safe (r))
    return FALSE;
  /* A link whose file is gone stays a link: what else there is can be saved. */
  return r->recon->volume != NULL || (r->where != LAM_VOXELS_MEMORY && access (r->path, R_OK) == 0);
}

/* Everything but the voxels; the places of these in the file, and of the maps. */
static gboolean
lay_out (LamAtomicFile *file, const LamSessionFile *f, gboolean embed, int64_t *places, int64_t *maps, GError **error)
{
  g_autoptr (LamH5File) h5 = lam_h5_create (file->temporary, error);
  if (h5 == NULL)
    return FALSE;
  g_free (h5->path);
  h5->path = g_strdup (file->path);
  if (!put_session (h5, f, file->path, error) || (maps != NULL && !lam_maps_file_lay_out (h5, f->maps, maps, error)))
    return FALSE;
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (!put_result (h5, i, r, embeds (r, embed), &places[i], error))
      return FALSE;
  }
  return lam_h5_close (g_steal_pointer (&h5), error);
}

static int64_t
list_bytes (const LamPrepareParams *prepared)
{
  int64_t n;
  lam_bad_pixels_data (prepared->bad_pixels, &n);
  return 2 * n * (int64_t) sizeof (double);
}

/* What the library itself writes, at most. */
static int64_t
size_of (const LamSessionFile *f)
{
  int64_t bytes = list_bytes (&f->prepared) + OVERHEAD + 2 * (f->log != NULL ? (int64_t) strlen (f->log) : 0)
                  + 64 * (int64_t) f->curve->len
                  + (f->sequence != NULL ? 4 * (int64_t) g_variant_get_size (f->sequence) : 0)
                  + (f->maps != NULL ? lam_maps_file_overhead (f->maps) : 0);
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    bytes += list_bytes (&r->prepared) + PER_RESULT + 16 * r->recon->geometry->views
             + 64 * (int64_t) r->recon->iterations->len + 2 * (int64_t) r->recon->log->len;
  }
  return bytes;
}

/* The library must not meet a full disk: it would not get over it. Where space cannot be claimed ahead, zeros show whether
 * it is there. */
static gboolean
is_room (LamAtomicFile *file, const LamSessionFile *f, gboolean embed, GError **error)
{
  int64_t own = size_of (f), all = own + (embed && f->maps != NULL ? lam_maps_file_bytes (f->maps) : 0);
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    all += embeds (r, embed) ? lam_voxels_bytes (r->recon) : 0;
  }
  g_autofree char *zeros = g_malloc0 ((gsize) own);
  return lam_atomic_reserve (file, all, error) && lam_atomic_pwrite (file, zeros, own, 0, error);
}

typedef struct {
  LamAtomicFile *file;
  int64_t offset, line;
} Place;

static gboolean
write_rows (LamRange rows, const float *data, gpointer to, GError **error)
{
  const Place *p = to;
  return lam_atomic_pwrite (p->file, data, lam_range_size (rows) * p->line * (int64_t) sizeof (float),
                            p->offset + rows.begin * p->line * (int64_t) sizeof (float), error);
}

static int
by_begin (const void *a, const void *b)
{
  int64_t x = ((const LamVoxelRange *) a)->begin, y = ((const LamVoxelRange *) b)->begin;
  return (x > y) - (x < y);
}

gboolean
lam_session_file_write (LamSessionFile *f, const char *path, gboolean embed, LamControl *control, GError **error)
{
  /* The sums first: then the library is done with the file before the first voxel. */
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (!r->has_crc && embeds (r, embed) && !lam_voxels_walk (r, _ ("summing up"), NULL, NULL, control, error))
      return FALSE;
  }
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  g_autofree int64_t *places = g_new0 (int64_t, f->results->len + 1);
  g_autofree int64_t *maps = embed && f->maps != NULL ? g_new0 (int64_t, f->maps->n + 1) : NULL;
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (file == NULL || !is_room (file, f, embed, error) || !lay_out (file, f, embed, places, maps, error))
    return FALSE;
  /* The library made the file anew: what was claimed is claimed again. */
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (places[i] >= 0 && !lam_atomic_reserve (file, places[i] + lam_voxels_bytes (r->recon), error))
      return FALSE;
  }
  for (int i = 0; maps != NULL && i <= f->maps->n; i++)
    if (!lam_atomic_reserve (file, maps[i] + f->maps->match.voxels * (int64_t) sizeof (float), error))
      return FALSE;
  if (maps != NULL && !lam_maps_file_fill (file, f->maps, maps, error))
    return FALSE;
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    Place place = {file, places[i], lam_voxels_line (r->recon->geometry)};
    if (places[i] >= 0 && !lam_voxels_walk (r, _ ("saving the session"), write_rows, &place, control, error))
      return FALSE;
  }
  g_autofree LamVoxelRange *ranges = g_new0 (LamVoxelRange, f->results->len + 1);
  int64_t n = 0;
  for (guint i = 0; i < f->results->len; i++)
    if (places[i] >= 0)
      ranges[n++] = (LamVoxelRange){places[i],
                                    lam_voxels_bytes (((LamSessionResult *) g_ptr_array_index (f->results, i))->recon)};
  qsort (ranges, (size_t) n, sizeof *ranges, by_begin);
  if (!lam_control_go_on (control, error) || !lam_seal_put (file, ranges, n, error) || !lam_atomic_commit (file, error))
    return FALSE;
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (places[i] < 0)
      continue;
    r->where = LAM_VOXELS_INSIDE;
    g_free (r->path);
    g_free (r->dataset);
    r->path = g_strdup (path);
    r->dataset = lam_result_path (i, "volume");
    lam_file_stamp (path, &r->stamp, NULL);
  }
  return TRUE;
}
