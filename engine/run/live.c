/* live.c: see live.h. The slice's own small projector is kept between requests; an answer is one back projection. */
#include "run/live.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "ct/direct.h"
#include "run/numbers.h"

struct _LamLive {
  GObject parent;
  LamDataset *dataset;
  char *devices;
  GMainContext *context;

  pthread_mutex_t lock; /* requests and answers */
  pthread_cond_t work;
  pthread_t thread;
  gboolean started, quit, has_request;
  LamLiveRequest request;
  LamSnapshot *answer;
  uint64_t answer_serial;
  GError *error;
  GSource *wake;

  /* The worker's. */
  LamDevices *set;
  LamProjector *projector;
  LamPlan *plan;
  LamShards sino, volume;
  float *rows;         /* [view][rows][channel]: what is filtered and put, host side */
  int64_t slice;       /* the filtered data belong to this slice ... */
  double tilt, offset; /* ... this tilt and, for cone beam, this offset */
};

G_DEFINE_FINAL_TYPE (LamLive, lam_live, G_TYPE_OBJECT)

enum { SNAPSHOT, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
close_engine (LamLive *self)
{
  g_clear_pointer (&self->projector, lam_projector_free);
  g_clear_pointer (&self->plan, lam_plan_unref);
  g_clear_pointer (&self->set, lam_devices_unref);
  g_clear_pointer (&self->rows, lam_free);
  self->slice = -1;
}

static void
lam_live_dispose (GObject *object)
{
  LamLive *self = LAM_LIVE (object);
  pthread_mutex_lock (&self->lock);
  self->quit = TRUE;
  pthread_cond_broadcast (&self->work);
  if (self->wake)
    g_source_destroy (self->wake);
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
  if (self->started)
    pthread_join (self->thread, NULL);
  self->started = FALSE;
  close_engine (self);
  G_OBJECT_CLASS (lam_live_parent_class)->dispose (object);
}

static void
lam_live_finalize (GObject *object)
{
  LamLive *self = LAM_LIVE (object);
  g_clear_pointer (&self->dataset, lam_dataset_unref);
  g_clear_pointer (&self->answer, lam_snapshot_unref);
  g_clear_error (&self->error);
  g_free (self->devices);
  g_main_context_unref (self->context);
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->work);
  G_OBJECT_CLASS (lam_live_parent_class)->finalize (object);
}

static void
lam_live_class_init (LamLiveClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lam_live_dispose;
  G_OBJECT_CLASS (class)->finalize = lam_live_finalize;
  signals[SNAPSHOT] = g_signal_new ("snapshot", LAM_TYPE_LIVE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] =
      g_signal_new ("failed", LAM_TYPE_LIVE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
lam_live_init (LamLive *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->work, NULL);
  self->context = g_main_context_ref_thread_default ();
  self->slice = -1;
}

LamLive *
lam_live_new (LamDataset *dataset, const char *devices)
{
  LamLive *self = g_object_new (LAM_TYPE_LIVE, NULL);
  self->dataset = lam_dataset_ref (dataset);
  self->devices = g_strdup (devices);
  return self;
}

/* ---- the engine ---- */

static gboolean
is_cone (const LamLive *self)
{
  return self->dataset->geometry->kind == LAM_GEOMETRY_CONE;
}

/* The one-slice problem of @request. */
static LamGeometry *
slice_geometry (const LamLive *self, const LamLiveRequest *request)
{
  LamGeometry *g = lam_geometry_copy (self->dataset->geometry);
  double dz = g->voxel_pitch * g->slice_aspect;
  g->channel_offset = request->channel_offset;
  if (is_cone (self))
    g->slice_offset += dz * ((double) request->slice - (double) (g->recon_slices - 1) / 2);
  else
    g->rows = 1;
  g->recon_slices = 1;
  return g;
}

static gboolean
open_engine (LamLive *self, const LamLiveRequest *request, GError **error)
{
  g_autoptr (LamGeometry) g = slice_geometry (self, request);
  self->set = lam_devices_new (self->devices, error);
  self->projector = self->set ? lam_projector_new (g, self->set, error) : NULL;
  if (!self->projector)
    return FALSE;
  LamProjector *p = self->projector;
  self->plan = lam_plan_new (self->set);
  lam_plan_add_phase (self->plan, "live");
  for (int d = 0; d < lam_devices_count (self->set); d++) {
    lam_plan_add_buffer (self->plan, d, "sinogram", lam_projector_sino_floats (p, d) * 4, 0, 0);
    lam_plan_add_buffer (self->plan, d, "recon", lam_projector_volume_floats (p, d) * 4, 0, 0);
  }
  lam_direct_plan (p, self->plan, 0, 0);
  lam_projector_plan (p, self->plan, p->pixels, 0, 0);
  if (!lam_projector_open (p, self->plan, error))
    return FALSE;
  for (int d = 0; d < lam_devices_count (self->set); d++)
    if (!(self->sino.at[d] = lam_plan_take (self->plan, d, "sinogram", error))
        || !(self->volume.at[d] = lam_plan_take (self->plan, d, "recon", error)))
      return FALSE;
  return TRUE;
}

/* One detector row of all views, turned by the tilt as lam_rotate_detector () does. */
static void
tilted_row (const LamDataset *d, int64_t row, double tilt, float *out)
{
  const LamGeometry *g = d->geometry;
  double c = cos (tilt), s = sin (tilt), cm = (double) (g->rows - 1) / 2, cn = (double) (g->channels - 1) / 2;
  for (int64_t v = 0; v < g->views; v++)
    for (int64_t n = 0; n < g->channels; n++) {
      const float *view = d->sinogram + v * g->rows * g->channels;
      if (tilt == 0) {
        out[v * g->channels + n] = view[row * g->channels + n];
        continue;
      }
      double y = c * ((double) row - cm) + s * ((double) n - cn) + cm,
             x = -s * ((double) row - cm) + c * ((double) n - cn) + cn;
      double y0 = floor (y), x0 = floor (x), fy = y - y0, fx = x - x0, sum = 0;
      for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
          int64_t i = (int64_t) y0 + a, j = (int64_t) x0 + b;
          if (i >= 0 && i < g->rows && j >= 0 && j < g->channels)
            sum += (a ? fy : 1 - fy) * (b ? fx : 1 - fx) * view[i * g->channels + j];
        }
      out[v * g->channels + n] = (float) sum;
    }
}

static gboolean
filter_slice (LamLive *self, const LamLiveRequest *request, GError **error)
{
  const LamDataset *d = self->dataset;
  LamProjector *p = self->projector;
  const float *from = d->sinogram;
  if (!is_cone (self) || request->tilt != 0) {
    int64_t rows = is_cone (self) ? d->geometry->rows : 1, n = d->geometry->views * rows * d->geometry->channels;
    if (!self->rows && !(self->rows = lam_alloc_n (n, 4, "live slice", error)))
      return FALSE;
    if (is_cone (self)) {
      memcpy (self->rows, d->sinogram, n * 4);
      if (!lam_rotate_detector (self->rows, d->geometry->views, rows, d->geometry->channels, request->tilt, NULL,
                                error))
        return FALSE;
    } else
      tilted_row (d, request->slice, request->tilt, self->rows);
    from = self->rows;
  }
  if (!lam_projector_put_sino (p, from, &self->sino, error) || !lam_direct_filter (p, &self->sino, &self->sino, error))
    return FALSE;
  self->slice = request->slice;
  self->tilt = request->tilt;
  self->offset = request->channel_offset;
  return TRUE;
}

LamSnapshot *
lam_live_compute (LamLive *self, const LamLiveRequest *request, GError **error)
{
  const LamGeometry *g = self->dataset->geometry;
  if (request->slice < 0 || request->slice >= g->recon_slices || !isfinite (request->channel_offset)
      || !isfinite (request->tilt)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "live slice %" G_GINT64_FORMAT ": the volume has %" G_GINT64_FORMAT " slices", request->slice,
                 g->recon_slices);
    return NULL;
  }
  gboolean other_slice = self->slice != request->slice;
  if (is_cone (self) && self->projector && other_slice)
    close_engine (self); /* another height: another small volume */
  if (!self->projector && !open_engine (self, request, error)) {
    close_engine (self);
    return NULL;
  }
  lam_projector_set_offset (self->projector, request->channel_offset);
  /* FDK's cosine weights move with the axis; the parallel filter does not. */
  if (other_slice || self->slice < 0 || self->tilt != request->tilt
      || (is_cone (self) && self->offset != request->channel_offset)) {
    self->slice = -1;
    if (!filter_slice (self, request, error))
      return NULL;
  }
  if (!lam_direct_back (self->projector, &self->sino, &self->volume, error))
    return NULL;
  LamSnapshotInfo info = {.generation = request->generation,
                          .iteration = LAM_ITERATION_LIVE,
                          .plane = LAM_PLANE_SLICE,
                          .index = request->slice};
  lam_snapshot_describe (&info, g);
  float *pixels = lam_alloc_n (info.width * info.height, 4, "picture", error);
  if (!pixels)
    return NULL;
  if (!lam_projector_get_plane (self->projector, &self->volume, 0, 0, pixels, error)) {
    lam_free (pixels);
    return NULL;
  }
  return lam_snapshot_new_take (&info, pixels);
}

/* ---- the thread ---- */

static gboolean
wake_cb (gpointer data)
{
  LamLive *self = data;
  pthread_mutex_lock (&self->lock);
  g_autoptr (GError) error = g_steal_pointer (&self->error);
  gboolean answer = self->answer != NULL;
  self->wake = NULL;
  pthread_mutex_unlock (&self->lock);
  if (answer)
    g_signal_emit (self, signals[SNAPSHOT], 0);
  if (error)
    g_signal_emit (self, signals[FAILED], 0, error);
  return G_SOURCE_REMOVE;
}

static void *
thread_main (void *data)
{
  LamLive *self = data;
  lam_fp_setup ();
  lam_thread_give_way ();
  lam_thread_c_numbers ();
  pthread_mutex_lock (&self->lock);
  while (!self->quit) {
    if (!self->has_request) {
      pthread_cond_wait (&self->work, &self->lock);
      continue;
    }
    LamLiveRequest request = self->request;
    self->has_request = FALSE;
    pthread_mutex_unlock (&self->lock);
    GError *error = NULL;
    LamSnapshot *made = lam_live_compute (self, &request, &error);
    pthread_mutex_lock (&self->lock);
    if (made) {
      g_clear_pointer (&self->answer, lam_snapshot_unref);
      self->answer = made;
      self->answer_serial = request.serial;
    }
    g_clear_error (&self->error);
    self->error = error;
    if (!self->wake && !self->quit) {
      /* The object outlives its thread (dispose joins it) and destroys this source: no reference, or it would be kept. */
      self->wake = g_idle_source_new ();
      g_source_set_static_name (self->wake, "[lamina] live slice");
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
lam_live_request (LamLive *self, const LamLiveRequest *request)
{
  pthread_mutex_lock (&self->lock);
  self->request = *request;
  self->has_request = TRUE;
  if (!self->started)
    self->started = pthread_create (&self->thread, NULL, thread_main, self) == 0;
  pthread_cond_signal (&self->work);
  pthread_mutex_unlock (&self->lock);
}

LamSnapshot *
lam_live_take (LamLive *self, uint64_t *serial)
{
  pthread_mutex_lock (&self->lock);
  LamSnapshot *s = g_steal_pointer (&self->answer);
  if (s && serial)
    *serial = self->answer_serial;
  pthread_mutex_unlock (&self->lock);
  return s;
}
