/* prepare-preview.c: see prepare-preview.h; the thread is live.c's. */
#include "run/prepare-preview.h"

#include <pthread.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/dataset.h"
#include "run/numbers.h"
#include "run/preview-private.h"

#define WHOLE (INT64_C (1) << 20)

typedef struct {
  LamPreviewRequest request;
  LamPrepareParams params; /* request.params points here */
} Wanted;

struct _LamPreparePreview {
  GObject parent;
  GMainContext *context;

  pthread_mutex_t lock; /* requests and answers */
  pthread_cond_t work;
  pthread_t thread;
  gboolean started, quit;
  Wanted *wanted;
  LamPreparePictures *answer;
  GError *error;
  GSource *wake;
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

LamPreparePictures *
lam_prepare_pictures_ref (LamPreparePictures *p)
{
  g_atomic_ref_count_inc (&p->refs);
  return p;
}

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
wanted_free (Wanted *w)
{
  if (!w)
    return;
  lam_prepare_params_clear (&w->params);
  g_free (w);
}

static void
lam_prepare_preview_dispose (GObject *object)
{
  LamPreparePreview *self = LAM_PREPARE_PREVIEW (object);
  pthread_mutex_lock (&self->lock);
  self->quit = TRUE;
  atomic_store (&self->control.cancel, 1);
  pthread_cond_broadcast (&self->work);
  if (self->wake)
    g_source_destroy (self->wake);
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
  if (self->started)
    pthread_join (self->thread, NULL);
  self->started = FALSE;
  G_OBJECT_CLASS (lam_prepare_preview_parent_class)->dispose (object);
}

static void
lam_prepare_preview_finalize (GObject *object)
{
  LamPreparePreview *self = LAM_PREPARE_PREVIEW (object);
  lam_preview_part_free (self->part);
  lam_dataset_unref (self->before);
  lam_prepare_params_clear (&self->before_for);
  lam_scan_free (self->scan);
  wanted_free (self->wanted);
  lam_prepare_pictures_unref (self->answer);
  g_clear_error (&self->error);
  g_main_context_unref (self->context);
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->work);
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

static void
lam_prepare_preview_init (LamPreparePreview *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->work, NULL);
  self->context = g_main_context_ref_thread_default ();
  self->whole = WHOLE;
  lam_prepare_params_init (&self->before_for);
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

static gboolean
wake_cb (gpointer data)
{
  LamPreparePreview *self = data;
  pthread_mutex_lock (&self->lock);
  g_autoptr (GError) error = g_steal_pointer (&self->error);
  gboolean answer = self->answer != NULL;
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
  g_object_ref (self);
  if (answer)
    g_signal_emit (self, signals[PICTURES], 0);
  if (error)
    g_signal_emit (self, signals[FAILED], 0, error);
  g_object_unref (self);
  return G_SOURCE_REMOVE;
}

static void *
thread_main (void *data)
{
  LamPreparePreview *self = data;
  lam_fp_setup ();
  lam_thread_give_way ();
  lam_thread_c_numbers ();
  pthread_mutex_lock (&self->lock);
  while (!self->quit) {
    if (!self->wanted) {
      pthread_cond_wait (&self->work, &self->lock);
      continue;
    }
    Wanted *wanted = g_steal_pointer (&self->wanted);
    pthread_mutex_unlock (&self->lock);
    GError *error = NULL;
    LamPreparePictures *made = compute (self, &wanted->request, &self->control, &error);
    wanted_free (wanted);
    pthread_mutex_lock (&self->lock);
    if (made) {
      lam_prepare_pictures_unref (self->answer);
      self->answer = made;
    }
    g_clear_error (&self->error);
    self->error = error;
    if (!self->wake && !self->quit) {
      /* The object outlives its thread (dispose joins it) and destroys this source: no reference, or it would be kept. */
      self->wake = g_idle_source_new ();
      g_source_set_static_name (self->wake, "[lamina] preparation preview");
      g_source_set_priority (self->wake, G_PRIORITY_DEFAULT);
      g_source_set_callback (self->wake, wake_cb, self, NULL);
      g_source_attach (self->wake, self->context);
      g_source_unref (self->wake);
    }
  }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

void
lam_prepare_preview_request (LamPreparePreview *self, const LamPreviewRequest *request)
{
  Wanted *w = g_new0 (Wanted, 1);
  w->request = *request;
  lam_prepare_params_copy (request->params, &w->params);
  w->request.params = &w->params;
  pthread_mutex_lock (&self->lock);
  wanted_free (self->wanted);
  self->wanted = w;
  if (!self->started)
    self->started = pthread_create (&self->thread, NULL, thread_main, self) == 0;
  pthread_cond_signal (&self->work);
  pthread_mutex_unlock (&self->lock);
}

LamPreparePictures *
lam_prepare_preview_take (LamPreparePreview *self)
{
  pthread_mutex_lock (&self->lock);
  LamPreparePictures *p = g_steal_pointer (&self->answer);
  pthread_mutex_unlock (&self->lock);
  return p;
}
