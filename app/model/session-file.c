#include "config.h"

#include "model/session-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/checkpoint.h"
#include "io/hdf5.h"
#include "io/volume.h"

#define FORMAT 1
#define MARK "lamina_session"
/* Room for the library's own structures: for the file, and for each result. */
#define OVERHEAD (INT64_C (256) << 10)
#define PER_RESULT (INT64_C (48) << 10)
#define PIECE (INT64_C (4) << 20)

/* -- memory -- */

LamSessionResult *
lam_session_result_new (const char *name, LamReconResult *recon)
{
  LamSessionResult *r = g_new0 (LamSessionResult, 1);
  r->name = g_strdup (name);
  r->recon = lam_recon_result_ref (recon);
  return r;
}

void
lam_session_result_free (LamSessionResult *r)
{
  g_free (r->name);
  g_free (r->problem);
  g_free (r->path);
  g_free (r->dataset);
  g_clear_pointer (&r->parameters, g_variant_unref);
  g_clear_pointer (&r->recon, lam_recon_result_unref);
  g_free (r);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamSessionResult, lam_session_result_free)

LamSessionFile *
lam_session_file_new (void)
{
  const LamScanOptions none = LAM_SCAN_OPTIONS_INIT;
  LamSessionFile *f = g_new0 (LamSessionFile, 1);
  f->options = none;
  lam_prepare_params_init (&f->prepared);
  f->results = g_ptr_array_new_with_free_func ((GDestroyNotify) lam_session_result_free);
  f->curve = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  f->shown = -1;
  return f;
}

void
lam_session_file_free (LamSessionFile *f)
{
  g_free (f->title);
  g_free (f->scan);
  g_free (f->relative);
  g_free (f->log);
  g_free (f->home);
  g_free (f->run);
  g_clear_pointer (&f->parameters, g_variant_unref);
  g_clear_pointer (&f->defaults, g_variant_unref);
  g_clear_pointer (&f->notes, g_variant_unref);
  g_ptr_array_unref (f->results);
  g_array_unref (f->curve);
  g_free (f);
}

/* -- structs as attributes -- */

typedef enum { D, L, N, S, C } FieldKind; /* double, int64, int or enum, text, fixed text */

typedef struct {
  const char *name;
  FieldKind kind;
  gsize offset, size;
} Field;

#define FIELD(T, kind, member)                                                                                         \
  {                                                                                                                    \
#member, kind, G_STRUCT_OFFSET(T, member), sizeof(((T *) NULL)->member)                                            \
  }

static const Field scan_fields[] = {
    FIELD (LamSessionFile, S, scan),
    FIELD (LamSessionFile, L, stamp.size),
    FIELD (LamSessionFile, L, stamp.mtime_ns),
    FIELD (LamSessionFile, N, options.geometry_set),
    FIELD (LamSessionFile, N, options.geometry),
    FIELD (LamSessionFile, D, options.source_detector),
    FIELD (LamSessionFile, D, options.source_axis),
    FIELD (LamSessionFile, D, options.channel_pitch),
    FIELD (LamSessionFile, D, options.row_pitch),
    FIELD (LamSessionFile, N, options.angles_set),
    FIELD (LamSessionFile, D, options.angle_start),
    FIELD (LamSessionFile, D, options.angle_stop),
    FIELD (LamSessionFile, N, options.angle_unit),
    FIELD (LamSessionFile, N, options.direction),
    FIELD (LamSessionFile, N, options.kind_set),
    FIELD (LamSessionFile, N, options.kind),
    FIELD (LamSessionFile, L, options.slices.begin),
    FIELD (LamSessionFile, L, options.slices.end),
};
static const Field session_fields[] = {
    FIELD (LamSessionFile, S, title), FIELD (LamSessionFile, L, shown), FIELD (LamSessionFile, L, edits),
    FIELD (LamSessionFile, S, log),   FIELD (LamSessionFile, S, home),  FIELD (LamSessionFile, S, run),
};
static const Field view_fields[] = {
    FIELD (LamSessionView, N, plane),     FIELD (LamSessionView, L, index[0]), FIELD (LamSessionView, L, index[1]),
    FIELD (LamSessionView, L, index[2]),  FIELD (LamSessionView, D, low),      FIELD (LamSessionView, D, high),
    FIELD (LamSessionView, N, automatic), FIELD (LamSessionView, N, inverted), FIELD (LamSessionView, N, colour_map),
    FIELD (LamSessionView, D, zoom),
};
static const Field result_fields[] = {
    FIELD (LamSessionResult, S, name),    FIELD (LamSessionResult, D, tilt_degrees),
    FIELD (LamSessionResult, N, where),   FIELD (LamSessionResult, S, path),
    FIELD (LamSessionResult, S, dataset), FIELD (LamSessionResult, L, stamp.size),
    FIELD (LamSessionResult, N, has_crc), FIELD (LamSessionResult, L, stamp.mtime_ns),
    FIELD (LamSessionResult, N, crc),
};
static const Field recon_fields[] = {
    FIELD (LamReconResult, D, sigma_y), FIELD (LamReconResult, D, sigma_x),    FIELD (LamReconResult, N, stopped),
    FIELD (LamReconResult, D, seconds), FIELD (LamReconResult, L, plan_bytes), FIELD (LamReconResult, L, peak_bytes),
    FIELD (LamReconResult, L, copied),  FIELD (LamReconResult, S, checksum),
};
static const Field params_fields[] = {
    FIELD (LamReconParams, N, method),
    FIELD (LamReconParams, S, devices),
    FIELD (LamReconParams, L, iterations),
    FIELD (LamReconParams, D, stop_percent),
    FIELD (LamReconParams, D, snr_db),
    FIELD (LamReconParams, D, sharpness),
    FIELD (LamReconParams, D, sigma_y),
    FIELD (LamReconParams, D, sigma_x),
    FIELD (LamReconParams, D, p),
    FIELD (LamReconParams, D, q),
    FIELD (LamReconParams, D, t),
    FIELD (LamReconParams, D, neighbours[0]),
    FIELD (LamReconParams, D, neighbours[1]),
    FIELD (LamReconParams, D, neighbours[2]),
    FIELD (LamReconParams, D, max_step),
    FIELD (LamReconParams, N, positivity),
    FIELD (LamReconParams, N, damping),
    FIELD (LamReconParams, N, init),
    FIELD (LamReconParams, S, init_path),
    FIELD (LamReconParams, L, seed),
    FIELD (LamReconParams, S, command),
};
static const Field geometry_fields[] = {
    FIELD (LamGeometry, N, kind),
    FIELD (LamGeometry, N, detector),
    FIELD (LamGeometry, C, length_unit),
    FIELD (LamGeometry, L, views),
    FIELD (LamGeometry, L, rows),
    FIELD (LamGeometry, L, channels),
    FIELD (LamGeometry, D, channel_pitch),
    FIELD (LamGeometry, D, row_pitch),
    FIELD (LamGeometry, D, channel_offset),
    FIELD (LamGeometry, D, row_offset),
    FIELD (LamGeometry, D, source_detector),
    FIELD (LamGeometry, D, source_axis),
    FIELD (LamGeometry, L, recon_rows),
    FIELD (LamGeometry, L, recon_columns),
    FIELD (LamGeometry, L, recon_slices),
    FIELD (LamGeometry, D, voxel_pitch),
    FIELD (LamGeometry, D, row_aspect),
    FIELD (LamGeometry, D, slice_aspect),
    FIELD (LamGeometry, D, slice_offset),
    FIELD (LamGeometry, D, pad_top),
    FIELD (LamGeometry, D, pad_bottom),
    FIELD (LamGeometry, N, mask),
};
static const Field made_fields[] = {
    FIELD (LamProvenance, S, scan),
    FIELD (LamProvenance, L, stamp.size),
    FIELD (LamProvenance, L, stamp.mtime_ns),
    FIELD (LamProvenance, L, stamp.inode),
    FIELD (LamProvenance, L, stamp.device),
    FIELD (LamProvenance, D, center_offset),
    FIELD (LamProvenance, S, center_from),
    FIELD (LamProvenance, D, center_width),
    FIELD (LamProvenance, D, center_confidence),
    FIELD (LamProvenance, D, tilt),
    FIELD (LamProvenance, L, slices.begin),
    FIELD (LamProvenance, L, slices.end),
    FIELD (LamProvenance, L, slices_of),
    FIELD (LamProvenance, L, bin),
    FIELD (LamProvenance, L, first_channel),
    FIELD (LamProvenance, S, weights),
    FIELD (LamProvenance, S, defects),
    FIELD (LamProvenance, L, counted.samples),
    FIELD (LamProvenance, L, counted.listed),
    FIELD (LamProvenance, L, counted.non_finite),
    FIELD (LamProvenance, L, counted.flat_dark),
    FIELD (LamProvenance, L, counted.below),
    FIELD (LamProvenance, L, counted.above),
    FIELD (LamProvenance, L, counted.filled),
    FIELD (LamProvenance, L, counted.left),
    FIELD (LamProvenance, L, counted.masked),
};
static const Field regularization_fields[] = {
    FIELD (LamRegularization, D, sigma_y),         FIELD (LamRegularization, D, sigma_x),
    FIELD (LamRegularization, D, sigma_prox),      FIELD (LamRegularization, L, views_sampled),
    FIELD (LamRegularization, D, background_left), FIELD (LamRegularization, D, background_right),
    FIELD (LamRegularization, N, whole_support),   FIELD (LamRegularization, D, support_threshold),
    FIELD (LamRegularization, L, support_count),   FIELD (LamRegularization, D, support_rms),
    FIELD (LamRegularization, D, typical_value),   FIELD (LamRegularization, D, path_length),
    FIELD (LamRegularization, D, edge_fraction),
};
static const Field device_fields[] = {
    FIELD (LamReconDevice, C, name),          FIELD (LamReconDevice, L, bytes),
    FIELD (LamReconDevice, L, planned_bytes), FIELD (LamReconDevice, D, busy_seconds),
    FIELD (LamReconDevice, L, copied_in),     FIELD (LamReconDevice, L, copied_out),
};

static const Field prepare_fields[] = {
    FIELD (LamPrepareParams, L, rows.begin),
    FIELD (LamPrepareParams, L, rows.end),
    FIELD (LamPrepareParams, L, crop_rows.begin),
    FIELD (LamPrepareParams, L, crop_rows.end),
    FIELD (LamPrepareParams, L, crop_channels.begin),
    FIELD (LamPrepareParams, L, crop_channels.end),
    FIELD (LamPrepareParams, L, bin),
    FIELD (LamPrepareParams, N, transmission.policy),
    FIELD (LamPrepareParams, N, transmission.passes),
    FIELD (LamPrepareParams, N, transmission.clamp_above),
    FIELD (LamPrepareParams, N, transmission.magnitude),
    FIELD (LamPrepareParams, N, find_bad_pixels),
    FIELD (LamPrepareParams, D, bad_pixel_sigmas),
    FIELD (LamPrepareParams, D, tilt),
    FIELD (LamPrepareParams, N, background),
    FIELD (LamPrepareParams, L, edge_width),
    FIELD (LamPrepareParams, D, zingers),
    FIELD (LamPrepareParams, N, stripes.kind),
    FIELD (LamPrepareParams, D, stripes.snr),
    FIELD (LamPrepareParams, L, stripes.large),
    FIELD (LamPrepareParams, L, stripes.small),
    FIELD (LamPrepareParams, D, stripes.sigma),
    FIELD (LamPrepareParams, L, stripes.levels),
    FIELD (LamPrepareParams, N, weights),
};

static gboolean
put_fields (hid_t id, const Field *field, gsize n, gconstpointer from, const char *place, GError **error)
{
  gboolean ok = TRUE;
  for (const Field *end = field + n; ok && field < end; field++) {
    const void *at = (const char *) from + field->offset;
    int number;
    char *const *text = at;
    switch (field->kind) {
    case D:
      ok = lam_h5_put_double (id, field->name, *(const double *) at, place, error);
      break;
    case L:
      ok = lam_h5_put_int (id, field->name, *(const int64_t *) at, place, error);
      break;
    case N:
      memcpy (&number, at, sizeof number);
      ok = lam_h5_put_int (id, field->name, number, place, error);
      break;
    case S:
      ok = *text == NULL || lam_h5_put_text (id, field->name, *text, place, error);
      break;
    case C:
      ok = lam_h5_put_text (id, field->name, at, place, error);
      break;
    }
  }
  return ok;
}

/* What is not in the file stays as it was. */
static gboolean
get_fields (hid_t id, const Field *field, gsize n, gpointer to, const char *place, GError **error)
{
  for (const Field *end = field + n; field < end; field++) {
    void *at = (char *) to + field->offset;
    g_autoptr (GError) e = NULL;
    g_autofree char *text = NULL;
    int64_t whole = 0;
    int number;
    gboolean ok = TRUE;
    if (!lam_h5_has_attribute (id, field->name))
      continue;
    switch (field->kind) {
    case D:
      ok = lam_h5_attribute_double (id, field->name, at, place, &e);
      break;
    case L:
      ok = lam_h5_attribute_int (id, field->name, at, place, &e);
      break;
    case N:
      ok = lam_h5_attribute_int (id, field->name, &whole, place, &e);
      number = (int) whole;
      if (ok)
        memcpy (at, &number, sizeof number);
      break;
    case S:
    case C:
      text = lam_h5_attribute_text (id, field->name, place, &e);
      ok = text != NULL;
      if (ok && field->kind == C)
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

static gboolean
put_struct (LamH5File *h5, const char *path, const Field *fields, gsize n, gconstpointer from, GError **error)
{
  g_auto (LamHid) id = lam_h5_make_group (h5, path, error);
  return id >= 0 && put_fields (id, fields, n, from, h5->path, error);
}

static gboolean
get_struct (LamH5File *h5, const char *path, const Field *fields, gsize n, gpointer to, GError **error)
{
  g_auto (LamHid) id = lam_h5_object (h5, path, NULL, error);
  return id >= 0 && get_fields (id, fields, n, to, h5->path, error);
}

#define PUT(path, fields, from) put_struct (h5, path, fields, G_N_ELEMENTS (fields), from, error)
#define GET(path, fields, to) get_struct (h5, path, fields, G_N_ELEMENTS (fields), to, error)

/* -- dictionaries: numbers as numbers, so that other programs read them -- */

static gboolean
put_dict (LamH5File *h5, const char *path, GVariant *dict, GError **error)
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

static GVariant *
get_dict (LamH5File *h5, const char *path, gboolean texts, GError **error)
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

static gboolean
put_iterations (LamH5File *h5, const char *path, const GArray *iterations, GError **error)
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

static gboolean
get_iterations (LamH5File *h5, const char *path, GArray *iterations, GError **error)
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

/* -- volumes -- */

static int64_t
line_of (const LamGeometry *g)
{
  return g->recon_columns * g->recon_slices;
}

static int64_t
bytes_of (const LamReconResult *r)
{
  return r->geometry->recon_rows * line_of (r->geometry) * (int64_t) sizeof (float);
}

/* So many rows at a time. */
static int64_t
step_of (const LamGeometry *g)
{
  return CLAMP (PIECE / MAX (line_of (g) * (int64_t) sizeof (float), 1), 1, g->recon_rows);
}

/* Its voxels lie in a file of their own, which is as it was. */
static gboolean
is_safe (const LamSessionResult *r)
{
  LamFileStamp now;
  return r->where == LAM_VOXELS_SAVED && r->path != NULL && lam_file_stamp (r->path, &now, NULL)
         && now.size == r->stamp.size && now.mtime_ns == r->stamp.mtime_ns;
}

typedef gboolean (*TakeRows) (LamRange rows, const float *data, gpointer to, GError **error);

/* All rows of @r, from memory or from where they lie, to @take; its CRC is made on the way. */
static gboolean
walk_rows (LamSessionResult *r, const char *doing, TakeRows take, gpointer to, LamControl *control, GError **error)
{
  const LamGeometry *g = r->recon->geometry;
  int64_t line = line_of (g), step = step_of (g);
  g_autoptr (LamVolume) v = NULL;
  float *slab = NULL;
  if (r->recon->volume == NULL) {
    v = lam_volume_open (r->path, r->dataset, LAM_LAYOUT_ROW_COLUMN_SLICE, error);
    slab = v != NULL ? lam_alloc_n (step * line, sizeof *slab, "slab", error) : NULL;
    if (slab == NULL)
      return FALSE;
  }
  gboolean ok = TRUE;
  uint32_t crc = 0;
  for (int64_t i = 0; ok && i < g->recon_rows; i += step) {
    LamRange rows = {i, MIN (i + step, g->recon_rows)};
    ok = lam_control_go_on (control, error) && (v == NULL || lam_volume_read_rows (v, rows, slab, NULL, error));
    if (!ok)
      break;
    const float *data = v != NULL ? slab : r->recon->volume + i * line;
    crc = lam_crc32c (crc, data, (size_t) (lam_range_size (rows) * line) * sizeof *data);
    ok = take == NULL || take (rows, data, to, error);
    lam_control_progress (control, doing, (double) rows.end, (double) g->recon_rows);
  }
  lam_free (slab);
  if (ok && r->has_crc && r->crc != crc) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("the voxels of \"%s\" are not those that were saved"), r->name);
    ok = FALSE;
  }
  if (ok) {
    r->has_crc = TRUE;
    r->crc = crc;
  }
  return ok;
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

/* -- seal -- */

/* The library does not survive every damaged file, so none reaches it: the end of a session holds the CRC of all but the
 * voxels, which have their own. Little-endian: [n] ranges of voxels (begin, bytes); then this. */
typedef struct {
  int64_t n, body; /* ranges; bytes before them */
  uint32_t crc, zero;
  char magic[8];
} Seal;

#define MAGIC "LamSeal1"
#define MAX_RANGES 4096

typedef struct {
  int64_t begin, bytes;
} Voxels;

G_STATIC_ASSERT (sizeof (Seal) == 32 && sizeof (Voxels) == 16 && G_BYTE_ORDER == G_LITTLE_ENDIAN);

/* The CRC of [0, @body) without @ranges, which ascend. */
static gboolean
sum_outside (int fd, int64_t body, const Voxels *ranges, int64_t n, uint32_t *crc)
{
  g_autofree char *buffer = g_malloc (1 << 16);
  int64_t at = 0, next = 0;
  for (*crc = 0; at < body;) {
    if (next < n && at == ranges[next].begin) {
      at += ranges[next++].bytes;
      continue;
    }
    int64_t end = next < n ? ranges[next].begin : body;
    ssize_t got = pread (fd, buffer, (size_t) MIN (end - at, 1 << 16), at);
    if (got <= 0)
      return FALSE;
    *crc = lam_crc32c (*crc, buffer, (size_t) got);
    at += got;
  }
  return at == body;
}

static gboolean
put_seal (LamAtomicFile *file, const Voxels *ranges, int64_t n, GError **error)
{
  Seal seal = {.n = n, .body = lseek (file->fd, 0, SEEK_END)};
  memcpy (seal.magic, MAGIC, sizeof seal.magic);
  if (seal.body < 0 || !sum_outside (file->fd, seal.body, ranges, n, &seal.crc)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, _ ("%s: could not be read back"), file->path);
    return FALSE;
  }
  seal.crc = lam_crc32c (seal.crc, ranges, (size_t) n * sizeof *ranges);
  return lam_atomic_pwrite (file, ranges, n * (int64_t) sizeof *ranges, seal.body, error)
         && lam_atomic_pwrite (file, &seal, sizeof seal, seal.body + n * (int64_t) sizeof *ranges, error);
}

static gboolean
is_sealed (int fd)
{
  Seal seal;
  uint32_t crc;
  int64_t size = lseek (fd, 0, SEEK_END), before = 0;
  if (size < (int64_t) sizeof seal || pread (fd, &seal, sizeof seal, size - (int64_t) sizeof seal) != sizeof seal
      || memcmp (seal.magic, MAGIC, sizeof seal.magic) != 0 || seal.zero != 0 || seal.n < 0 || seal.n > MAX_RANGES
      || seal.body != size - (int64_t) sizeof seal - seal.n * (int64_t) sizeof (Voxels))
    return FALSE;
  ssize_t bytes = (ssize_t) (seal.n * (int64_t) sizeof (Voxels));
  g_autofree Voxels *ranges = g_new0 (Voxels, seal.n + 1);
  if (pread (fd, ranges, (size_t) bytes, seal.body) != bytes)
    return FALSE;
  for (int64_t i = 0; i < seal.n; i++) {
    if (ranges[i].begin < before || ranges[i].bytes < 1 || ranges[i].bytes > seal.body - ranges[i].begin)
      return FALSE;
    before = ranges[i].begin + ranges[i].bytes;
  }
  return sum_outside (fd, seal.body, ranges, seal.n, &crc) && lam_crc32c (crc, ranges, (size_t) bytes) == seal.crc;
}

/* It is as it was written. */
static gboolean
check_seal (const char *path, GError **error)
{
  struct stat s;
  int fd = stat (path, &s) == 0 && S_ISREG (s.st_mode) ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) {
    int code = errno;
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, _ ("%s: cannot be opened: %s"), path,
                 code != 0 ? g_strerror (code) : _ ("it is not a plain file"));
    return FALSE;
  }
  gboolean good = is_sealed (fd);
  close (fd);
  if (!good)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 _ ("%s: the session is damaged or cut off, or another program has written to it; copy it again"),
                 path);
  return good;
}

/* -- writing -- */

static char *
result_path (guint i, const char *name)
{
  return g_strdup_printf ("/results/%03u%s%s", i, name != NULL ? "/" : "", name != NULL ? name : "");
}

static gboolean
put_geometry (LamH5File *h5, const char *path, const LamGeometry *g, GError **error)
{
  g_autofree char *angles = g_strconcat (path, "/angles", NULL), *shifts = g_strconcat (path, "/shifts", NULL);
  return PUT (path, geometry_fields, g)
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
    if (!PUT (at, device_fields, &r->devices[d]))
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
  g_autofree char *root = result_path (i, NULL), *params = result_path (i, "params"), *made = result_path (i, "made"),
                  *geometry = result_path (i, "geometry"), *regularization = result_path (i, "regularization"),
                  *parameters = result_path (i, "parameters"), *iterations = result_path (i, "iterations"),
                  *prepared = result_path (i, "prepared"), *volume = result_path (i, "volume");
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
    if (id < 0 || !put_fields (id, result_fields, G_N_ELEMENTS (result_fields), &as, h5->path, error)
        || !put_fields (id, recon_fields, G_N_ELEMENTS (recon_fields), recon, h5->path, error)
        || (beside != NULL && !lam_h5_put_text (id, "file_name", beside, h5->path, error))
        || !lam_h5_put_text (id, "log", recon->log->str, h5->path, error)
        || !lam_h5_put_int (id, "devices", recon->n_devices, h5->path, error))
      return FALSE;
  }
  if (!PUT (params, params_fields, &recon->params) || !PUT (made, made_fields, &recon->made)
      || !PUT (prepared, prepare_fields, &r->prepared)
      || !PUT (regularization, regularization_fields, &recon->regularization) || !put_geometry (h5, geometry, g, error)
      || !put_dict (h5, parameters, r->parameters, error) || !put_devices (h5, root, recon, error)
      || !put_iterations (h5, iterations, recon->iterations, error))
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

static gboolean
put_session (LamH5File *h5, const LamSessionFile *f, const char *path, GError **error)
{
  {
    g_auto (LamHid) root = lam_h5_object (h5, "/", NULL, error);
    if (root < 0 || !lam_h5_put_int (root, MARK, FORMAT, h5->path, error)
        || !lam_h5_put_text (root, "program", "Lamina", h5->path, error)
        || !lam_h5_put_text (root, "version", LAMINA_VERSION, h5->path, error))
      return FALSE;
  }
  if (!PUT ("/session", session_fields, f) || !PUT ("/session/scan", scan_fields, f)
      || !PUT ("/session/prepared", prepare_fields, &f->prepared) || !PUT ("/session/view", view_fields, &f->view)
      || !put_dict (h5, "/session/parameters", f->parameters, error)
      || !put_dict (h5, "/session/defaults", f->defaults, error) || !put_dict (h5, "/session/notes", f->notes, error)
      || !put_iterations (h5, "/session/curve", f->curve, error))
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
  return embed && !is_safe (r) && (r->recon->volume != NULL || r->where != LAM_VOXELS_MEMORY);
}

/* Everything but the voxels; the places of these in the file. */
static gboolean
lay_out (LamAtomicFile *file, const LamSessionFile *f, gboolean embed, int64_t *places, GError **error)
{
  g_autoptr (LamH5File) h5 = lam_h5_create (file->temporary, error);
  if (h5 == NULL)
    return FALSE;
  g_free (h5->path);
  h5->path = g_strdup (file->path);
  if (!put_session (h5, f, file->path, error))
    return FALSE;
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (!put_result (h5, i, r, embeds (r, embed), &places[i], error))
      return FALSE;
  }
  return lam_h5_close (g_steal_pointer (&h5), error);
}

/* What the library itself writes, at most. */
static int64_t
size_of (const LamSessionFile *f)
{
  int64_t bytes = OVERHEAD + 2 * (f->log != NULL ? (int64_t) strlen (f->log) : 0) + 64 * (int64_t) f->curve->len;
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    bytes += PER_RESULT + 16 * r->recon->geometry->views + 64 * (int64_t) r->recon->iterations->len
             + 2 * (int64_t) r->recon->log->len;
  }
  return bytes;
}

/* The library must not meet a full disk: it would not get over it. Where space cannot be claimed ahead, zeros show whether
 * it is there. */
static gboolean
is_room (LamAtomicFile *file, const LamSessionFile *f, gboolean embed, GError **error)
{
  int64_t own = size_of (f), all = own;
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    all += embeds (r, embed) ? bytes_of (r->recon) : 0;
  }
  g_autofree char *zeros = g_malloc0 ((gsize) own);
  return lam_atomic_reserve (file, all, error) && lam_atomic_pwrite (file, zeros, own, 0, error);
}

static int
by_begin (const void *a, const void *b)
{
  int64_t x = ((const Voxels *) a)->begin, y = ((const Voxels *) b)->begin;
  return (x > y) - (x < y);
}

gboolean
lam_session_file_write (LamSessionFile *f, const char *path, gboolean embed, LamControl *control, GError **error)
{
  /* The sums first: then the library is done with the file before the first voxel. */
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (!r->has_crc && embeds (r, embed) && !walk_rows (r, _ ("summing up"), NULL, NULL, control, error))
      return FALSE;
  }
  lam_atomic_sweep (path);
  g_autofree int64_t *places = g_new0 (int64_t, f->results->len + 1);
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (file == NULL || !is_room (file, f, embed, error) || !lay_out (file, f, embed, places, error))
    return FALSE;
  /* The library made the file anew: what was claimed is claimed again. */
  for (guint i = 0; i < f->results->len; i++) {
    const LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (places[i] >= 0 && !lam_atomic_reserve (file, places[i] + bytes_of (r->recon), error))
      return FALSE;
  }
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    Place place = {file, places[i], line_of (r->recon->geometry)};
    if (places[i] >= 0 && !walk_rows (r, _ ("saving the session"), write_rows, &place, control, error))
      return FALSE;
  }
  g_autofree Voxels *ranges = g_new0 (Voxels, f->results->len + 1);
  int64_t n = 0;
  for (guint i = 0; i < f->results->len; i++)
    if (places[i] >= 0)
      ranges[n++] = (Voxels){places[i], bytes_of (((LamSessionResult *) g_ptr_array_index (f->results, i))->recon)};
  qsort (ranges, (size_t) n, sizeof *ranges, by_begin);
  if (!lam_control_go_on (control, error) || !put_seal (file, ranges, n, error) || !lam_atomic_commit (file, error))
    return FALSE;
  for (guint i = 0; i < f->results->len; i++) {
    LamSessionResult *r = g_ptr_array_index (f->results, i);
    if (places[i] < 0)
      continue;
    r->where = LAM_VOXELS_INSIDE;
    g_free (r->path);
    g_free (r->dataset);
    r->path = g_strdup (path);
    r->dataset = result_path (i, "volume");
    lam_file_stamp (path, &r->stamp, NULL);
  }
  return TRUE;
}

/* -- a volume of its own -- */

static gboolean
put_rows (LamRange rows, const float *data, gpointer writer, GError **error)
{
  return lam_volume_writer_put_rows (writer, rows, data, error);
}

gboolean
lam_session_result_keep (LamSessionResult *r, const char *path, LamControl *control, GError **error)
{
  const LamGeometry *g = r->recon->geometry;
  const LamVolumeInfo info = {
      .length_unit = g->length_unit,
      .voxel_size = {g->voxel_pitch * g->row_aspect, g->voxel_pitch, g->voxel_pitch * g->slice_aspect}};
  g_autoptr (LamVolumeWriter) w =
      lam_volume_writer_new (path, g->recon_rows, g->recon_columns, g->recon_slices, &info, error);
  if (w == NULL || !walk_rows (r, _ ("keeping the result"), put_rows, w, control, error)
      || !lam_volume_writer_finish (w, NULL, NULL, error) || !lam_file_stamp (path, &r->stamp, error))
    return FALSE;
  g_free (r->path);
  g_free (r->dataset);
  r->where = LAM_VOXELS_KEPT;
  r->path = g_strdup (path);
  r->dataset = g_strdup ("/recon");
  return TRUE;
}

/* -- reading -- */

static gboolean
fill_rows (LamRange rows, const float *data, gpointer volume, GError **error)
{
  const LamReconResult *r = volume;
  int64_t line = line_of (r->geometry);
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
  g_autofree char *root = result_path (i, NULL), *params = result_path (i, "params"), *made = result_path (i, "made"),
                  *geometry = result_path (i, "geometry"), *angles = result_path (i, "geometry/angles"),
                  *shifts = result_path (i, "geometry/shifts"), *regularization = result_path (i, "regularization"),
                  *parameters = result_path (i, "parameters"), *iterations = result_path (i, "iterations"),
                  *prepared = result_path (i, "prepared");
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
    if (id < 0 || !get_fields (id, result_fields, G_N_ELEMENTS (result_fields), r, h5->path, error)
        || !get_fields (id, recon_fields, G_N_ELEMENTS (recon_fields), recon, h5->path, error)
        || !lam_h5_attribute_int (id, "devices", &devices, h5->path, error))
      return NULL;
    g_autofree char *log = lam_h5_attribute_text (id, "log", h5->path, NULL);
    g_string_append (recon->log, log != NULL ? log : "");
    find_voxels (r, h5, id);
  }
  if (!GET (params, params_fields, &recon->params) || !GET (made, made_fields, &recon->made)
      || !GET (prepared, prepare_fields, &r->prepared)
      || !GET (regularization, regularization_fields, &recon->regularization)
      || !GET (geometry, geometry_fields, &sizes) || !get_iterations (h5, iterations, recon->iterations, error)
      || (r->parameters = get_dict (h5, parameters, FALSE, error)) == NULL)
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
    if (!GET (at, device_fields, &recon->devices[d]))
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
  float *volume = e == NULL ? lam_alloc_n (g->recon_rows, line_of (g) * (int64_t) sizeof *volume, r->name, &e) : NULL;
  if (volume != NULL) {
    LamReconResult into = {.geometry = r->recon->geometry, .volume = volume};
    /* Read as if it lay on the disk alone. */
    if (walk_rows (r, _ ("reading the session"), fill_rows, &into, control, &e))
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
  if (root < 0 || !lam_h5_attribute_int (root, MARK, &format, h5->path, error))
    return FALSE;
  if (format == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, _ ("%s is no session of Lamina"), h5->path);
  else if (format != FORMAT)
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 _ ("%s: a session of layout %ld; this version reads %d. A newer Lamina made it."), h5->path,
                 (long) format, FORMAT);
  return format == FORMAT;
}

static LamSessionFile *
read_file (const char *path, gboolean all, LamControl *control, GError **error)
{
  g_autoptr (LamSessionFile) f = lam_session_file_new ();
  g_autoptr (LamH5File) h5 = check_seal (path, error) ? lam_h5_open (path, error) : NULL;
  if (h5 == NULL || !check_mark (h5, error) || !GET ("/session", session_fields, f)
      || !GET ("/session/scan", scan_fields, f))
    return NULL;
  {
    g_auto (LamHid) id = lam_h5_object (h5, "/session/scan", NULL, error);
    f->relative = id < 0 ? NULL : lam_h5_attribute_text (id, "relative", h5->path, NULL);
  }
  g_autoptr (GPtrArray) names = lam_h5_names (h5, "/results", error);
  if (names == NULL)
    return NULL;
  f->has_results = names->len > 0;
  if (!all)
    return g_steal_pointer (&f);
  if (!GET ("/session/view", view_fields, &f->view) || !GET ("/session/prepared", prepare_fields, &f->prepared)
      || (f->parameters = get_dict (h5, "/session/parameters", FALSE, error)) == NULL
      || (f->defaults = get_dict (h5, "/session/defaults", FALSE, error)) == NULL
      || (f->notes = get_dict (h5, "/session/notes", TRUE, error)) == NULL
      || !get_iterations (h5, "/session/curve", f->curve, error))
    return NULL;
  for (guint i = 0; i < names->len; i++) {
    LamSessionResult *r = get_result (h5, i, error);
    if (r == NULL)
      return NULL;
    g_ptr_array_add (f->results, r);
  }
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

/* By its end, whole or not: the library is not asked about what may be anything. */
gboolean
lam_session_file_is_one (const char *path)
{
  struct stat s;
  Seal seal;
  int fd = stat (path, &s) == 0 && S_ISREG (s.st_mode) ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  gboolean is = fd >= 0 && s.st_size >= (off_t) sizeof seal
                && pread (fd, &seal, sizeof seal, s.st_size - (off_t) sizeof seal) == sizeof seal
                && memcmp (seal.magic, MAGIC, sizeof seal.magic) == 0;
  if (fd >= 0)
    close (fd);
  return is || g_str_has_suffix (path, LAM_SESSION_SUFFIX);
}

static gboolean
is_as_it_was (const LamSessionFile *f, const char *path)
{
  LamFileStamp now;
  return lam_file_stamp (path, &now, NULL) && now.size == f->stamp.size && now.mtime_ns == f->stamp.mtime_ns;
}

char *
lam_session_file_find_scan (const LamSessionFile *f, const char *path, gboolean *changed)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (f->scan);
  g_autofree char *beside = f->relative != NULL ? g_build_filename (folder, f->relative, NULL) : NULL;
  g_autofree char *same_folder = g_build_filename (folder, base, NULL);
  const char *places[] = {f->scan, beside, same_folder};
  for (int pass = 0; pass < 2; pass++)
    for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
      if (places[i] != NULL
          && (pass == 0 ? is_as_it_was (f, places[i]) : g_file_test (places[i], G_FILE_TEST_EXISTS))) {
        *changed = pass == 1;
        return g_strdup (places[i]);
      }
  *changed = FALSE;
  return NULL;
}
