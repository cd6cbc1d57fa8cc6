/* preview-part.c: a view and a sinogram of a scan that is too large to be prepared as a whole for each change.
 *
 * A piece is some views of some detector rows, taken through transmission, crop and bin; wider by what the later steps reach
 * over (interpolation 3 pixels, the turn of a row its slope), so that what is shown of it has the bits that a run gives. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/preview-private.h"

#define REACH 3      /* pixels that an interpolation reaches over */
#define EDGE_ROWS 16 /* rows that the background of each view is estimated from */

/* Samples of the file as they are, [view][row][channel]. */
typedef struct {
  float *data;
  LamRange views, rows;
  int64_t step; /* between views */
} Raw;

struct _LamPreviewPart {
  LamScan *scan;
  float *flat, *dark; /* means of all rows, or NULL */
  gboolean has_means;
  Raw view, band, some; /* one view; all views of some rows; some views */
  float *edges;         /* [row][view][channel]: EDGE_ROWS at most */
  LamRange edges_of;    /* rows of the file that they were taken from */

  LamPrepareParams bad_for; /* the list belongs to these */
  gboolean has_bad;
  LamBadPixels *bad;
  char *bad_text;

  LamPrepareParams stats_for; /* what follows belongs to these */
  gboolean has_level, has_limit, has_offsets;
  double level, limit; /* global background; zinger limit for a ratio of 1 */
  double *offsets;     /* each view's background, estimated */
};

LamPreviewPart *
lam_preview_part_new (LamScan *scan)
{
  LamPreviewPart *p = g_new0 (LamPreviewPart, 1);
  p->scan = scan;
  lam_prepare_params_init (&p->bad_for);
  lam_prepare_params_init (&p->stats_for);
  return p;
}

void
lam_preview_part_free (LamPreviewPart *p)
{
  if (!p)
    return;
  float *all[] = {p->flat, p->dark, p->view.data, p->band.data, p->some.data, p->edges};
  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    lam_free (all[i]);
  lam_prepare_params_clear (&p->bad_for);
  lam_prepare_params_clear (&p->stats_for);
  g_clear_pointer (&p->bad, g_bytes_unref);
  g_free (p->bad_text);
  lam_free (p->offsets);
  g_free (p);
}

void
lam_preview_samples_clear (LamPreviewSamples *s)
{
  for (int i = 0; i < 2; i++) {
    g_clear_pointer (&s->view[i], lam_free);
    g_clear_pointer (&s->sinogram[i], lam_free);
  }
}

/* ---- reading, once ---- */

static gboolean
cancelled_cb (gpointer data)
{
  return lam_control_cancelled (data);
}

static gboolean
same (LamRange a, LamRange b)
{
  return a.begin == b.begin && a.end == b.end;
}

static gboolean
read_raw (LamPreviewPart *p, Raw *raw, LamRange views, int64_t step, LamRange rows, LamControl *control, GError **error)
{
  LamIoControl io = {cancelled_cb, NULL, control};
  int64_t line = p->scan->geometry->channels, size = lam_range_size (rows) * line;
  int64_t n = (lam_range_size (views) + step - 1) / step;
  if (raw->data && same (raw->views, views) && same (raw->rows, rows) && raw->step == step)
    return TRUE;
  g_clear_pointer (&raw->data, lam_free);
  float *data = lam_alloc_n (lam_mul_size (n, size), sizeof *data, "preview: samples of the file", error);
  gboolean ok = data != NULL;
  if (ok && step == 1)
    ok = lam_scan_read_views (p->scan, views, rows, data, &io, error);
  for (int64_t i = 0; ok && step > 1 && i < n; i++) {
    int64_t v = views.begin + i * step;
    ok = lam_scan_read_views (p->scan, (LamRange){v, v + 1}, rows, data + i * size, &io, error);
  }
  if (!ok) {
    lam_free (data);
    return FALSE;
  }
  *raw = (Raw){data, views, rows, step};
  return TRUE;
}

static gboolean
read_means (LamPreviewPart *p, LamControl *control, GError **error)
{
  LamScan *s = p->scan;
  LamIoControl io = {cancelled_cb, NULL, control};
  int64_t channels = s->geometry->channels, view = lam_mul_size (s->file_rows, channels);
  LamRange all = {0, s->file_rows};
  float *flats = NULL, *darks = NULL;
  if (p->has_means || s->kind != LAM_SCAN_COUNTS)
    return TRUE;
  if (s->flats == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "%s holds counts but no flat frames, so transmission cannot be made; give a file with flats, or "
                 "-log data",
                 s->path);
    return FALSE;
  }
  gboolean ok = (p->flat || (p->flat = lam_alloc_n (view, 4, "mean flat", error)))
                && (s->darks == 0 || p->dark || (p->dark = lam_alloc_n (view, 4, "mean dark", error)))
                && (flats = lam_alloc_n (lam_mul_size (s->flats, view), 4, "flats", error))
                && (s->darks == 0 || (darks = lam_alloc_n (lam_mul_size (s->darks, view), 4, "darks", error)))
                && lam_scan_read (s, all, NULL, flats, darks, NULL, &io, error)
                && lam_mean_frames (flats, s->flats, s->file_rows, channels, p->flat, error)
                && (!darks || lam_mean_frames (darks, s->darks, s->file_rows, channels, p->dark, error));
  lam_free (flats);
  lam_free (darks);
  p->has_means = ok;
  return ok;
}

static gboolean
find_bad (LamPreviewPart *p, const LamPrepareParams *params, GPtrArray *log, GError **error)
{
  LamRange rows = lam_prepare_rows (params, p->scan);
  LamPrepareParams key;
  GError *reason = NULL;
  lam_prepare_params_init (&key);
  key.rows = rows;
  key.find_bad_pixels = params->find_bad_pixels;
  key.bad_pixel_sigmas = params->find_bad_pixels ? params->bad_pixel_sigmas : key.bad_pixel_sigmas;
  key.bad_pixels = params->bad_pixels;
  key.bad_pixels_from = params->bad_pixels_from;
  if (!p->has_bad || !lam_prepare_params_equal (&key, &p->bad_for)) {
    int64_t at = rows.begin * p->scan->geometry->channels;
    g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
    p->has_bad = FALSE;
    g_clear_pointer (&p->bad, g_bytes_unref);
    p->bad = lam_prepare_bad_pixels (params, p->scan, p->flat ? p->flat + at : NULL, p->dark ? p->dark + at : NULL,
                                     lines, &reason);
    if (reason) {
      g_propagate_error (error, reason);
      return FALSE;
    }
    g_free (p->bad_text);
    p->bad_text = lines->len ? g_strdup (lines->pdata[0]) : NULL;
    lam_prepare_params_clear (&p->bad_for);
    lam_prepare_params_copy (&key, &p->bad_for);
    p->has_bad = TRUE;
  }
  if (p->bad_text)
    g_ptr_array_add (log, g_strdup (p->bad_text));
  return TRUE;
}

/* ---- a piece: transmission, crop, bin ---- */

typedef struct {
  float *data; /* [views][rows][channels] */
  int64_t views, channels;
  LamRange rows; /* of the prepared data, before the turn */
} Piece;

typedef struct {
  float *data;
  const float *flat, *dark;
  int64_t views, each, rows, channels;
  const LamTransmissionOptions *options;
  LamControl *control;
  GError **errors;
} Log;

static void
log_piece (int64_t index, int worker, void *data)
{
  const Log *l = data;
  int64_t first = index * l->each, n = LAM_MIN (l->each, l->views - first);
  LamTransmissionReport report = {0};
  lam_transmission (l->data + first * l->rows * l->channels, n, l->rows, l->channels, l->flat, l->dark, l->options,
                    NULL, &report, l->control, &l->errors[index]);
}

static gboolean
to_log (float *data, int64_t views, int64_t rows, int64_t channels, const float *flat, const float *dark,
        const LamTransmissionOptions *options, LamControl *control, GError **error)
{
  int64_t pieces = LAM_MIN (views, 4 * (int64_t) lam_pool_threads (lam_pool_shared ()));
  int64_t each = (views + pieces - 1) / pieces;
  gboolean ok = TRUE;
  pieces = (views + each - 1) / each;
  g_autofree GError **errors = g_new0 (GError *, pieces);
  Log l = {data, flat, dark, views, each, rows, channels, options, control, errors};
  lam_pool_for (lam_pool_shared (), pieces, log_piece, &l, NULL);
  for (int64_t i = 0; i < pieces; i++)
    if (errors[i] && ok) {
      ok = FALSE;
      g_propagate_error (error, errors[i]);
    } else
      g_clear_error (&errors[i]);
  return ok;
}

/* @raw [view][row][channel] of rows @rows of the file is kept. @bad: leave out the bad pixels. */
static gboolean
make_piece (LamPreviewPart *p, const LamPrepareParams *params, const float *raw, int64_t views, LamRange rows,
            gboolean bad, Piece *out, LamControl *control, GError **error)
{
  const LamScan *s = p->scan;
  LamRange all = lam_prepare_rows (params, s), keep = params->crop_channels;
  int64_t channels = s->geometry->channels, n = lam_range_size (rows), size = views * n * channels, filled;
  LamTransmissionOptions options = params->transmission;
  gboolean ok = TRUE;
  if (keep.end <= keep.begin)
    keep = (LamRange){0, channels};
  *out = (Piece){lam_alloc_n (size, sizeof *out->data, "preview: a part of the scan", error), views};
  if (!out->data)
    return FALSE;
  memcpy (out->data, raw, (size_t) size * sizeof *raw);
  g_autoptr (GBytes) list = NULL;
  if (bad && p->bad) {
    list = lam_bad_pixels_crop (p->bad, (LamRange){rows.begin - all.begin, rows.end - all.begin},
                                (LamRange){0, channels}, error);
    ok = list != NULL;
  }
  options.policy = LAM_DEFECT_INTERPOLATE;
  options.passes = params->transmission.policy == LAM_DEFECT_MASK ? 0 : options.passes; /* masked samples are 0 */
  options.defects = lam_bad_pixels_data (list, &options.n_defects);
  if (ok && s->kind == LAM_SCAN_COUNTS)
    ok = to_log (out->data, views, n, channels, p->flat + rows.begin * channels,
                 p->dark ? p->dark + rows.begin * channels : NULL, &options, control, error);
  else if (ok && list)
    ok = lam_prepare_fill_listed (out->data, views, n, channels, list, params->transmission.passes, &filled, error);
  ok = ok && lam_prepare_cut (&out->data, views, &n, &channels, keep, params->bin, error);
  out->channels = channels;
  out->rows.begin = (rows.begin - all.begin) / params->bin;
  out->rows.end = out->rows.begin + n;
  for (int64_t i = 0; ok && i < views * n * channels; i++)
    if (!isfinite (out->data[i]))
      out->data[i] = 0;
  return ok && lam_control_go_on (control, error);
}

/* Rows of the file that rows @rows of the prepared data (before the turn) need. */
static LamRange
file_rows (const LamPreviewPart *p, const LamPrepareParams *params, LamRange rows)
{
  LamRange all = lam_prepare_rows (params, p->scan);
  int64_t bin = params->bin, begin = LAM_MAX (rows.begin * bin - REACH, 0) / bin * bin;
  return (LamRange){all.begin + begin, LAM_MIN (all.begin + rows.end * bin + REACH, all.end)};
}

typedef struct {
  const Piece *from;
  float *to;
  int64_t rows;
  double tilt;
  LamRange out;
} Turning;

static void
turn_view (int64_t view, int worker, void *data)
{
  const Turning *t = data;
  const Piece *f = t->from;
  lam_rotate_rows (f->data + view * lam_range_size (f->rows) * f->channels, f->rows, t->rows, f->channels, t->tilt,
                   LAM_PREPARE_MARGIN, t->out, t->to + view * lam_range_size (t->out) * f->channels);
}

/* Rows @out of all views of @piece, turned or only cut out; @piece is used up. */
static gboolean
turn_piece (Piece *piece, const LamPrepareParams *params, const LamGeometry *g, LamRange out, GError **error)
{
  int64_t n = lam_range_size (out), here = lam_range_size (piece->rows);
  if (params->tilt == 0 && same (out, piece->rows))
    return TRUE;
  float *to = lam_alloc_n (piece->views * n * piece->channels, sizeof *to, "preview: turned rows", error);
  if (!to)
    return FALSE;
  if (params->tilt != 0) {
    Turning t = {piece, to, g->rows, params->tilt, out};
    lam_pool_for (lam_pool_shared (), piece->views, turn_view, &t, NULL);
  } else
    for (int64_t v = 0; v < piece->views; v++)
      memcpy (to + v * n * piece->channels, piece->data + (v * here + out.begin - piece->rows.begin) * piece->channels,
              (size_t) (n * piece->channels) * sizeof *to);
  lam_free (piece->data);
  piece->data = to;
  piece->rows = out;
  return TRUE;
}

/* ---- what depends on more than the pictures ---- */

/* The parameters that background and zinger limit depend on. */
static LamPrepareParams
stats_key (const LamPrepareParams *params)
{
  LamPrepareParams key = *params;
  lam_stripe_options_init (&key.stripes);
  key.zingers = 0;
  key.weights = LAM_PREPARE_WEIGHTS_AUTO;
  key.made_weights = LAM_WEIGHTS_UNWEIGHTED;
  return key;
}

/* About 20 views, whole and turned, and the background of each. */
static gboolean
some_views (LamPreviewPart *p, const LamPrepareParams *params, const LamGeometry *g, Piece *piece, double **offsets,
            LamControl *control, GError **error)
{
  int64_t views = p->scan->geometry->views, step = views / LAM_MIN (20, views), size = g->rows * g->channels;
  LamRange rows = lam_prepare_rows (params, p->scan);
  if (!read_raw (p, &p->some, (LamRange){0, views}, step, rows, control, error)
      || !make_piece (p, params, p->some.data, (views + step - 1) / step, rows, TRUE, piece, control, error)
      || !turn_piece (piece, params, g, (LamRange){0, g->rows}, error)
      || !(*offsets = lam_alloc_n (2 * piece->views, sizeof **offsets, "background", error)))
    return FALSE;
  double *scratch = lam_alloc_n (size, sizeof *scratch, "background: one view", error);
  for (int64_t v = 0; scratch && v < piece->views; v++)
    (*offsets)[v] = (*offsets)[piece->views + v] =
        lam_view_background (piece->data + v * size, g->rows, g->channels, params->edge_width, scratch);
  lam_free (scratch);
  return scratch != NULL;
}

static gboolean
make_stats (LamPreviewPart *p, const LamPrepareParams *params, const LamGeometry *g, LamControl *control,
            GError **error)
{
  LamPrepareParams key = stats_key (params);
  gboolean global = params->background == LAM_PREPARE_BACKGROUND_GLOBAL, zingers = params->zingers > 0;
  if (!lam_prepare_params_equal (&key, &p->stats_for)) {
    p->has_level = p->has_limit = p->has_offsets = FALSE;
    lam_prepare_params_clear (&p->stats_for);
    lam_prepare_params_copy (&key, &p->stats_for);
  }
  if ((!global || p->has_level) && (!zingers || p->has_limit))
    return TRUE;
  Piece piece = {0};
  double *offsets = NULL;
  gboolean ok = some_views (p, params, g, &piece, &offsets, control, error);
  if (ok) {
    p->level = lam_background_level (offsets + piece.views, piece.views);
    p->has_level = TRUE;
  }
  if (ok && zingers) {
    g_autoptr (LamGeometry) few = lam_geometry_new (g->kind, piece.views, g->rows, g->channels);
    int64_t size = g->rows * g->channels;
    for (int64_t v = 0; params->background != LAM_PREPARE_BACKGROUND_NONE && v < piece.views; v++)
      for (int64_t i = v * size; i < (v + 1) * size; i++)
        piece.data[i] = (float) (piece.data[i] - (global ? p->level : offsets[v]));
    ok = p->has_limit = lam_zinger_limit (piece.data, few, 1, &p->limit, error);
  }
  lam_free (piece.data);
  lam_free (offsets);
  return ok;
}

static int64_t
edge_row (LamRange rows, int64_t i, int64_t n)
{
  return rows.begin + i * lam_range_size (rows) / n;
}

static gboolean
read_edges (LamPreviewPart *p, LamRange rows, int64_t n, LamControl *control, GError **error)
{
  LamIoControl io = {cancelled_cb, NULL, control};
  int64_t size = p->scan->geometry->views * p->scan->geometry->channels;
  if (p->edges && same (p->edges_of, rows))
    return TRUE;
  g_clear_pointer (&p->edges, lam_free);
  float *edges = lam_alloc_n (lam_mul_size (n, size), sizeof *edges, "preview: edges", error);
  gboolean ok = edges != NULL;
  for (int64_t i = 0; ok && i < n; i++) {
    int64_t row = edge_row (rows, i, n);
    ok = lam_scan_read_views (p->scan, (LamRange){0, p->scan->geometry->views}, (LamRange){row, row + 1},
                              edges + i * size, &io, error);
  }
  if (!ok) {
    lam_free (edges);
    return FALSE;
  }
  p->edges = edges;
  p->edges_of = rows;
  return TRUE;
}

/* The background of every view, estimated from some rows that are neither binned nor turned; the first of them stands for
 * the upper edge. */
static gboolean
edge_offsets (LamPreviewPart *p, const LamPrepareParams *params, LamControl *control, GError **error)
{
  int64_t views = p->scan->geometry->views, channels = p->scan->geometry->channels, kept = channels;
  LamRange rows = lam_prepare_rows (params, p->scan);
  int64_t n = LAM_MIN (lam_range_size (rows), EDGE_ROWS);
  LamPrepareParams flat = *params;
  flat.bin = 1;
  if (p->has_offsets)
    return TRUE;
  if (!read_edges (p, rows, n, control, error)
      || (!p->offsets && !(p->offsets = lam_alloc_n (views, sizeof *p->offsets, "background", error))))
    return FALSE;
  float *work = lam_alloc_n (views * n * channels, sizeof *work, "preview: edges", error);
  double *scratch = work ? lam_alloc_n (n * channels, sizeof *scratch, "background", error) : NULL;
  gboolean ok = scratch != NULL;
  for (int64_t i = 0; ok && i < n; i++) {
    Piece piece = {0};
    int64_t row = edge_row (rows, i, n);
    ok = make_piece (p, &flat, p->edges + i * views * channels, views, (LamRange){row, row + 1}, TRUE, &piece, control,
                     error);
    kept = ok ? piece.channels : kept;
    for (int64_t v = 0; ok && v < views; v++)
      memcpy (work + (v * n + i) * kept, piece.data + v * kept, (size_t) kept * sizeof *work);
    lam_free (piece.data);
  }
  for (int64_t v = 0; ok && v < views; v++)
    p->offsets[v] = lam_view_background (work + v * n * kept, n, kept, params->edge_width * params->bin, scratch);
  lam_free (work);
  lam_free (scratch);
  p->has_offsets = ok;
  return ok;
}

/* ---- the pictures ---- */

static gboolean
make_view (LamPreviewPart *p, const LamPrepareParams *params, const LamGeometry *g, int64_t view, float *out[2],
           LamControl *control, GError **error)
{
  LamRange rows = lam_prepare_rows (params, p->scan);
  int64_t size = g->rows * g->channels;
  Piece before = {0}, after = {0};
  gboolean ok = read_raw (p, &p->view, (LamRange){view, view + 1}, 1, rows, control, error)
                && make_piece (p, params, p->view.data, 1, rows, FALSE, &before, control, error)
                && make_piece (p, params, p->view.data, 1, rows, TRUE, &after, control, error)
                && turn_piece (&after, params, g, (LamRange){0, g->rows}, error);
  void *scratch = ok ? lam_alloc_n (size, sizeof (double), "preview: one view", error) : NULL;
  if (scratch) {
    double offset = params->background == LAM_PREPARE_BACKGROUND_NONE ? 0
                    : params->background == LAM_PREPARE_BACKGROUND_GLOBAL
                        ? p->level
                        : lam_view_background (after.data, g->rows, g->channels, params->edge_width, scratch);
    for (int64_t i = 0; params->background != LAM_PREPARE_BACKGROUND_NONE && i < size; i++)
      after.data[i] = (float) (after.data[i] - offset);
    if (params->zingers > 0)
      lam_fill_zingers (after.data, g->rows, g->channels, params->zingers * p->limit, REACH, scratch);
    out[0] = g_steal_pointer (&before.data);
    out[1] = g_steal_pointer (&after.data);
  }
  lam_free (scratch);
  lam_free (before.data);
  lam_free (after.data);
  return out[1] != NULL;
}

/* What is beside the object is taken off, zingers are filled, in the rows that are here. */
static gboolean
correct_band (LamPreviewPart *p, const LamPrepareParams *params, Piece *band, LamControl *control, GError **error)
{
  int64_t n = lam_range_size (band->rows), size = n * band->channels;
  if (params->background != LAM_PREPARE_BACKGROUND_NONE) {
    gboolean each = params->background == LAM_PREPARE_BACKGROUND_PER_VIEW;
    if (each && !edge_offsets (p, params, control, error))
      return FALSE;
    for (int64_t v = 0; v < band->views; v++)
      for (int64_t i = v * size; i < (v + 1) * size; i++)
        band->data[i] = (float) (band->data[i] - (each ? p->offsets[v] : p->level));
  }
  if (params->zingers > 0) {
    float *scratch = lam_alloc_n (size, sizeof *scratch, "zingers: one view", error);
    if (!scratch)
      return FALSE;
    for (int64_t v = 0; v < band->views; v++)
      lam_fill_zingers (band->data + v * size, n, band->channels, params->zingers * p->limit, REACH, scratch);
    lam_free (scratch);
  }
  return lam_control_go_on (control, error);
}

static gboolean
make_sinogram (LamPreviewPart *p, const LamPrepareParams *params, const LamGeometry *g, int64_t row, float *out[2],
               LamControl *control, GError **error)
{
  int64_t reach = params->zingers > 0 ? REACH : 0;
  LamRange one = {row, row + 1}, wide = {LAM_MAX (row - reach, 0), LAM_MIN (row + 1 + reach, g->rows)}, need = wide;
  if (params->tilt != 0) {
    need = lam_rotate_needs (g->rows, g->channels, params->tilt, wide);
    need.begin = LAM_MIN (need.begin, row);
    need.end = LAM_MAX (need.end, row + 1);
  }
  LamRange file = file_rows (p, params, need), upright = file_rows (p, params, one);
  LamPrepareParams plain = *params;
  LamStripeOptions stripes = params->stripes;
  Piece before = {0}, after = {0};
  plain.tilt = 0;
  gboolean ok = read_raw (p, &p->band, (LamRange){0, g->views}, 1, file, control, error)
                && make_piece (p, params, p->band.data, g->views, file, TRUE, &after, control, error)
                && turn_piece (&after, params, g, wide, error) && correct_band (p, params, &after, control, error);
  if (ok) { /* cut one row out, and the same without corrections */
    ok = turn_piece (&after, &plain, g, one, error);
    if (ok && stripes.kind != LAM_STRIPES_NONE) {
      stripes.levels = stripes.levels ? stripes.levels : lam_stripe_levels (g->views, g->rows, g->channels);
      ok = lam_remove_stripes (after.data, g->views, 1, g->channels, &stripes, NULL, control, error);
    }
  }
  if (ok) {
    int64_t line = p->scan->geometry->channels, n = lam_range_size (upright), all = lam_range_size (file);
    float *raw = lam_alloc_n (g->views * n * line, sizeof *raw, "preview: a part of the scan", error);
    ok = raw != NULL;
    for (int64_t v = 0; ok && v < g->views; v++)
      memcpy (raw + v * n * line, p->band.data + (v * all + upright.begin - file.begin) * line,
              (size_t) (n * line) * sizeof *raw);
    ok = ok && make_piece (p, params, raw, g->views, upright, FALSE, &before, control, error)
         && turn_piece (&before, &plain, g, one, error);
    lam_free (raw);
  }
  if (ok) {
    out[0] = g_steal_pointer (&before.data);
    out[1] = g_steal_pointer (&after.data);
  }
  lam_free (before.data);
  lam_free (after.data);
  return ok;
}

gboolean
lam_preview_part_make (LamPreviewPart *p, const LamPrepareParams *params, const LamGeometry *g, int64_t view,
                       int64_t row, LamPreviewSamples *out, GPtrArray *log, LamControl *control, GError **error)
{
  *out = (LamPreviewSamples){.estimated = params->background != LAM_PREPARE_BACKGROUND_NONE};
  if (read_means (p, control, error) && find_bad (p, params, log, error) && make_stats (p, params, g, control, error)
      && make_view (p, params, g, view, out->view, control, error)
      && make_sinogram (p, params, g, row, out->sinogram, control, error))
    return TRUE;
  lam_preview_samples_clear (out);
  return FALSE;
}
