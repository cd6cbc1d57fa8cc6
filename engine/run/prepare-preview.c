/* prepare-preview.c: see prepare-preview.h. */
#include "run/prepare-preview.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/dataset.h"
#include "run/newest.h"
#include "run/preview-private.h"

#define WHOLE (INT64_C (1) << 20)

typedef struct {
  LamPreviewRequest request;
  LamPrepareParams params; /* request.params points here */
} Wanted;

struct _LamPreparePreview {
  GObject parent;
  LamNewest *newest; /* the thread, its requests (Wanted) and answers */
  LamControl control;

  /* The worker's. */
  LamScan *scan;
  int64_t whole;
  LamPreviewPart *part;
  LamDataset *before; /* of a small scan */
  LamPrepareParams before_for;
};

G_DEFINE_FINAL_TYPE (LamPreparePreview, lam_prepare_preview, G_TYPE_OBJECT)

enum { PICTURES, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

void
lam_prepare_pictures_unref (LamPreparePictures *p)
{
  if (!p || !g_atomic_ref_count_dec (&p->refs))
    return;
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    g_clear_pointer (&p->view[k], lam_snapshot_unref);
    g_clear_pointer (&p->sinogram[k], lam_snapshot_unref);
  }
  g_ptr_array_unref (p->log);
  g_free (p);
}

static void
wanted_free (gpointer data)
{
  Wanted *w = data;
  lam_prepare_params_clear (&w->params);
  g_free (w);
}

void
lam_prepare_preview_quit (LamPreparePreview *self)
{
  atomic_store (&self->control.cancel, 1);
  lam_newest_quit (self->newest);
}

static void
lam_prepare_preview_dispose (GObject *object)
{
  LamPreparePreview *self = LAM_PREPARE_PREVIEW (object);
  lam_prepare_preview_quit (self);
  lam_newest_stop (self->newest);
  G_OBJECT_CLASS (lam_prepare_preview_parent_class)->dispose (object);
}

static void
lam_prepare_preview_finalize (GObject *object)
{
  LamPreparePreview *self = LAM_PREPARE_PREVIEW (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  lam_preview_part_free (self->part);
  lam_dataset_unref (self->before);
  lam_prepare_params_clear (&self->before_for);
  lam_scan_free (self->scan);
  G_OBJECT_CLASS (lam_prepare_preview_parent_class)->finalize (object);
}

static void
lam_prepare_preview_class_init (LamPreparePreviewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lam_prepare_preview_dispose;
  G_OBJECT_CLASS (class)->finalize = lam_prepare_preview_finalize;
  signals[PICTURES] =
      g_signal_new ("pictures", LAM_TYPE_PREPARE_PREVIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", LAM_TYPE_PREPARE_PREVIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
}

LamPreparePreview *
lam_prepare_preview_new_take (LamScan *scan)
{
  LamPreparePreview *self = g_object_new (LAM_TYPE_PREPARE_PREVIEW, NULL);
  self->scan = scan;
  return self;
}

void
lam_prepare_preview_set_whole (LamPreparePreview *self, int64_t samples)
{
  self->whole = samples;
}

/* ---- the pictures ---- */

/* Of before only what makes it comparable with after. */
static void
before_params (const LamPrepareParams *params, LamPrepareParams *out)
{
  lam_prepare_params_init (out);
  out->rows = params->rows;
  out->crop_rows = params->crop_rows;
  out->crop_channels = params->crop_channels;
  out->bin = params->bin;
  out->transmission = params->transmission;
}

static gboolean
cut_pictures (const LamDataset *d, int64_t view, int64_t row, float **v, float **s, GError **error)
{
  const LamGeometry *g = d->geometry;
  int64_t size = g->rows * g->channels;
  *v = lam_alloc_n (size, sizeof **v, "picture", error);
  *s = *v ? lam_alloc_n (g->views * g->channels, sizeof **s, "picture", error) : NULL;
  if (!*s)
    return FALSE;
  memcpy (*v, d->sinogram + view * size, (size_t) size * sizeof **v);
  for (int64_t i = 0; i < g->views; i++)
    memcpy (*s + i * g->channels, d->sinogram + i * size + row * g->channels, (size_t) g->channels * sizeof **s);
  return TRUE;
}

static gboolean
prepare_whole (LamPreparePreview *self, const LamPreviewRequest *request, LamPreviewSamples *out, GPtrArray *log,
               LamControl *control, GError **error)
{
  LamPrepareParams plain;
  before_params (request->params, &plain);
  if (!self->before || !lam_prepare_params_equal (&plain, &self->before_for)) {
    g_clear_pointer (&self->before, lam_dataset_unref);
    if (!(self->before = lam_dataset_load (self->scan, &plain, control, error)))
      return FALSE;
    self->before_for = plain; /* no list in it */
  }
  g_autoptr (LamDataset) after = lam_dataset_load (self->scan, request->params, control, error);
  if (!after)
    return FALSE;
  for (guint i = 0; i < after->log->len; i++)
    g_ptr_array_add (log, g_strdup (after->log->pdata[i]));
  if (cut_pictures (self->before, request->view, request->row, &out->view[0], &out->sinogram[0], error)
      && cut_pictures (after, request->view, request->row, &out->view[1], &out->sinogram[1], error))
    return TRUE;
  lam_preview_samples_clear (out);
  return FALSE;
}

/* Takes the two; their difference is the third. */
static gboolean
make_snapshots (LamSnapshot *to[], float *samples[2], const LamSnapshotInfo *info, GError **error)
{
  int64_t n = info->width * info->height;
  float *difference = lam_alloc_n (n, sizeof *difference, "picture", error);
  if (!difference)
    return FALSE;
  for (int64_t i = 0; i < n; i++)
    difference[i] = samples[1][i] - samples[0][i];
  to[LAM_PREVIEW_BEFORE] = lam_snapshot_new_take (info, g_steal_pointer (&samples[0]));
  to[LAM_PREVIEW_AFTER] = lam_snapshot_new_take (info, g_steal_pointer (&samples[1]));
  to[LAM_PREVIEW_DIFFERENCE] = lam_snapshot_new_take (info, difference);
  return TRUE;
}

static gboolean
check_place (const LamGeometry *g, const LamPreviewRequest *request, GError **error)
{
  if (request->view >= 0 && request->view < g->views && request->row >= 0 && request->row < g->rows)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "preview of view %" G_GINT64_FORMAT ", row %" G_GINT64_FORMAT ": there are %" G_GINT64_FORMAT
               " views and, as prepared, %" G_GINT64_FORMAT " rows",
               request->view, request->row, g->views, g->rows);
  return FALSE;
}

static LamPreparePictures *
compute (LamPreparePreview *self, const LamPreviewRequest *request, LamControl *control, GError **error)
{
  int64_t start = lam_clock_ns ();
  const LamPrepareParams *params = request->params;
  LamPreviewSamples samples = {0};
  if (!lam_scan_complete (self->scan, error))
    return NULL;
  g_autoptr (LamGeometry) g = lam_prepare_geometry (params, self->scan, error);
  if (!g || !check_place (g, request, error))
    return NULL;
  const LamGeometry *file = self->scan->geometry;
  int64_t read =
      lam_mul_size (lam_mul_size (file->views, lam_range_size (lam_prepare_rows (params, self->scan))), file->channels);
  gboolean whole = read >= 0 && read <= self->whole;
  g_autoptr (LamPreparePictures) p = g_new0 (LamPreparePictures, 1);
  g_atomic_ref_count_init (&p->refs);
  p->serial = request->serial;
  p->log = g_ptr_array_new_with_free_func (g_free);
  if (!whole && !self->part)
    self->part = lam_preview_part_new (self->scan);
  if (!(whole ? prepare_whole (self, request, &samples, p->log, control, error)
              : lam_preview_part_make (self->part, params, g, request->view, request->row, &samples, p->log, control,
                                       error)))
    return NULL;
  p->estimated = samples.estimated;
  p->view_without_stripes = !whole && params->stripes.kind != LAM_STRIPES_NONE;
  LamSnapshotInfo view = {.generation = request->generation, .iteration = -1, .plane = LAM_PLANE_VIEW},
                  sinogram = {.generation = request->generation, .iteration = -1, .plane = LAM_PLANE_SINOGRAM};
  view.index = request->view;
  sinogram.index = request->row;
  lam_snapshot_describe (&view, g);
  lam_snapshot_describe (&sinogram, g);
  gboolean ok = make_snapshots (p->view, samples.view, &view, error)
                && make_snapshots (p->sinogram, samples.sinogram, &sinogram, error);
  lam_preview_samples_clear (&samples);
  p->seconds = (double) (lam_clock_ns () - start) / 1e9;
  return ok ? g_steal_pointer (&p) : NULL;
}

LamPreparePictures *
lam_prepare_preview_compute (LamPreparePreview *self, const LamPreviewRequest *request, GError **error)
{
  return compute (self, request, NULL, error);
}

/* ---- the thread ---- */

static gpointer
preview_work (gpointer owner, gpointer data, GError **error)
{
  LamPreparePreview *self = owner;
  Wanted *w = data;
  return lam_prepare_params_resolve (&w->params, error) ? compute (self, &w->request, &self->control, error) : NULL;
}

static void
preview_answered (gpointer owner)
{
  g_signal_emit (owner, signals[PICTURES], 0);
}

static void
preview_failed (gpointer owner, const GError *error)
{
  g_signal_emit (owner, signals[FAILED], 0, error);
}

static const LamNewestFuncs preview_funcs = {
    "[lamina] preparation preview",
    preview_work,
    preview_answered,
    preview_failed,
    wanted_free,
    (GDestroyNotify) lam_prepare_pictures_unref,
};

static void
lam_prepare_preview_init (LamPreparePreview *self)
{
  self->newest = lam_newest_new (self, &preview_funcs);
  self->whole = WHOLE;
  lam_prepare_params_init (&self->before_for);
}

void
lam_prepare_preview_request (LamPreparePreview *self, const LamPreviewRequest *request)
{
  Wanted *w = g_new0 (Wanted, 1);
  w->request = *request;
  lam_prepare_params_copy (request->params, &w->params);
  w->request.params = &w->params;
  lam_newest_ask (self->newest, w);
}

LamPreparePictures *
lam_prepare_preview_take (LamPreparePreview *self)
{
  return lam_newest_take (self->newest);
}
