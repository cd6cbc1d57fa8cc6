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
  LamGeometry *request_geometry; /* its own copy, or NULL */
  LamSnapshot *answer;
  uint64_t answer_serial;
  GError *error;
  GSource *wake;

  /* The worker's. */
  LamDevices *set;
  LamProjector *projector;
  LamPlan *plan;
  LamShards sino, volume;
  LamGeometry *geometry; /* of scan and volume, as the engine was opened for; the axis where the data were filtered */
  LamRange band;         /* detector rows that the slice meets */
  float *rows;           /* [view][rows of the band][channel]: what is filtered and put, host side */
  int64_t slice;         /* that the engine is open for; parallel beam: that was filtered last */
  double tilt;           /* of the filtered data */
  gboolean filtered;
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
  g_clear_pointer (&self->geometry, lam_geometry_free);
  self->slice = -1;
  self->filtered = FALSE;
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
  g_clear_pointer (&self->request_geometry, lam_geometry_free);
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

/* Detector rows that slice @k can meet, with a margin for footprints. */
static LamRange
rows_of_slice (const LamGeometry *g, int64_t k)
{
  if (g->kind != LAM_GEOMETRY_CONE)
    return (LamRange){k, k + 1};
  double dz = g->voxel_pitch * g->slice_aspect;
  double z = g->slice_offset + dz * ((double) k - (double) (g->recon_slices - 1) / 2);
  double reach = hypot ((double) g->recon_columns, (double) g->recon_rows * g->row_aspect) * g->voxel_pitch / 2;
  double low = INFINITY, high = -INFINITY;
  if (g->detector != LAM_DETECTOR_FLAT || !(isfinite (g->source_detector)) || g->source_axis <= reach)
    return (LamRange){0, g->rows};
  for (int64_t v = 0; v < (g->shifts ? g->views : 1); v++)
    for (int side = -1; side <= 1; side += 2)
      for (int end = -1; end <= 1; end += 2) {
        double m = g->source_detector / (g->source_axis + side * reach);
        double row = (m * (z + end * dz / 2 - (g->shifts ? g->shifts[v] : 0)) + g->row_offset) / g->row_pitch
                     + (double) (g->rows - 1) / 2;
        low = fmin (low, row);
        high = fmax (high, row);
      }
  int64_t last = g->rows - 1;
  int64_t begin = (int64_t) fmin (fmax (floor (low) - 3, 0), (double) last),
          end = (int64_t) fmin (fmax (ceil (high) + 4, 1), (double) g->rows);
  return (LamRange){begin, LAM_MAX (end, begin + 1)};
}

/* The one-slice problem of @g's slice @k, and its detector rows in @band. */
static LamGeometry *
slice_geometry (const LamGeometry *g, int64_t k, LamRange *band, GError **error)
{
  g_autoptr (LamGeometry) one = lam_geometry_try_copy (g, error);
  if (!one)
    return NULL;
  double dz = g->voxel_pitch * g->slice_aspect;
  *band = rows_of_slice (g, k);
  if (g->kind == LAM_GEOMETRY_CONE) {
    one->slice_offset += dz * ((double) k - (double) (g->recon_slices - 1) / 2);
    if (!lam_geometry_crop (one, *band, (LamRange){0, g->channels}, error))
      return NULL;
  } else
    one->rows = 1;
  one->recon_slices = 1;
  return g_steal_pointer (&one);
}

static gboolean
open_engine (LamLive *self, const LamGeometry *g, int64_t k, GError **error)
{
  g_autoptr (LamGeometry) one = slice_geometry (g, k, &self->band, error);
  self->geometry = one ? lam_geometry_try_copy (g, error) : NULL;
  self->set = self->geometry ? lam_devices_new (self->devices, error) : NULL;
  self->projector = self->set ? lam_projector_new (one, self->set, error) : NULL;
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
  self->rows = lam_alloc_n (g->views * lam_range_size (self->band) * g->channels, 4, "live slice", error);
  self->slice = k;
  return self->rows != NULL;
}

/* One detector row of all views, turned by the tilt as lam_rotate_detector () does; views lie @stride floats apart in @out. */
static void
tilted_row (const LamDataset *d, int64_t row, double tilt, float *out, int64_t stride)
{
  const LamGeometry *g = d->geometry;
  double c = cos (tilt), s = sin (tilt), cm = (double) (g->rows - 1) / 2, cn = (double) (g->channels - 1) / 2;
  for (int64_t v = 0; v < g->views; v++) {
    const float *view = d->sinogram + v * g->rows * g->channels;
    float *to = out + v * stride;
    if (tilt == 0) {
      memcpy (to, view + row * g->channels, g->channels * sizeof *to);
      continue;
    }
    for (int64_t n = 0; n < g->channels; n++) {
      double y = c * ((double) row - cm) + s * ((double) n - cn) + cm,
             x = -s * ((double) row - cm) + c * ((double) n - cn) + cn;
      double y0 = floor (y), x0 = floor (x), fy = y - y0, fx = x - x0, sum = 0;
      for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
          int64_t i = (int64_t) y0 + a, j = (int64_t) x0 + b;
          if (i >= 0 && i < g->rows && j >= 0 && j < g->channels)
            sum += (a ? fy : 1 - fy) * (b ? fx : 1 - fx) * view[i * g->channels + j];
        }
      to[n] = (float) sum;
    }
  }
}

static gboolean
filter_slice (LamLive *self, const LamLiveRequest *request, GError **error)
{
  const LamDataset *d = self->dataset;
  int64_t channels = d->geometry->channels, n = lam_range_size (self->band);
  self->filtered = FALSE;
  for (int64_t r = 0; r < n; r++)
    tilted_row (d, self->band.begin + r, request->tilt, self->rows + r * channels, n * channels);
  if (!lam_projector_put_sino (self->projector, self->rows, &self->sino, error)
      || !lam_direct_filter (self->projector, &self->sino, &self->sino, error))
    return FALSE;
  self->slice = request->slice;
  self->tilt = request->tilt;
  self->filtered = TRUE;
  return TRUE;
}

/* Whether the open engine serves @g: nothing but the axis is elsewhere. */
static gboolean
serves (const LamLive *self, const LamGeometry *g)
{
  LamGeometry moved = *g;
  if (!self->geometry)
    return FALSE;
  moved.channel_offset = self->geometry->channel_offset;
  return lam_geometry_equal (self->geometry, &moved);
}

LamSnapshot *
lam_live_compute (LamLive *self, const LamLiveRequest *request, GError **error)
{
  const LamGeometry *scan = self->dataset->geometry;
  g_autoptr (LamGeometry) g = lam_geometry_try_copy (request->geometry ? request->geometry : scan, error);
  if (!g)
    return NULL;
  if (!request->geometry)
    g->channel_offset = request->channel_offset;
  if (request->slice < 0 || request->slice >= g->recon_slices || !isfinite (g->channel_offset)
      || !isfinite (request->tilt) || g->views != scan->views || g->rows != scan->rows
      || g->channels != scan->channels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "live slice %" G_GINT64_FORMAT ": the volume has %" G_GINT64_FORMAT " slices", request->slice,
                 g->recon_slices);
    return NULL;
  }
  gboolean cone = g->kind == LAM_GEOMETRY_CONE, other_slice = self->slice != request->slice;
  if (self->projector && (!serves (self, g) || (cone && other_slice)))
    close_engine (self); /* another height: another small volume */
  if (!self->projector && !open_engine (self, g, request->slice, error)) {
    close_engine (self);
    return NULL;
  }
  if (!cone)
    self->band = (LamRange){request->slice, request->slice + 1};
  lam_projector_set_offset (self->projector, g->channel_offset);
  /* FDK's cosine weights move with the axis; the parallel filter does not. */
  if (!self->filtered || other_slice || self->tilt != request->tilt
      || (cone && self->geometry->channel_offset != g->channel_offset)) {
    self->geometry->channel_offset = g->channel_offset;
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
    g_autoptr (LamGeometry) geometry = g_steal_pointer (&self->request_geometry);
    request.geometry = geometry;
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
  LamGeometry *geometry = request->geometry ? lam_geometry_copy (request->geometry) : NULL;
  pthread_mutex_lock (&self->lock);
  g_clear_pointer (&self->request_geometry, lam_geometry_free);
  self->request_geometry = geometry;
  self->request = *request;
  self->request.geometry = NULL;
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
