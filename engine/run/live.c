/* live.c: see live.h. The slice's own small projector is kept between requests; an answer is one back projection. */
#include "run/live.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/direct.h"
#include "run/newest.h"

struct _LamLive {
  GObject parent;
  LamDataset *dataset;
  char *devices;
  LamNewest *newest; /* the thread, its requests and answers */

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
  lam_newest_stop (self->newest);
  close_engine (self);
  G_OBJECT_CLASS (lam_live_parent_class)->dispose (object);
}

static void
lam_live_finalize (GObject *object)
{
  LamLive *self = LAM_LIVE (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->dataset, lam_dataset_unref);
  g_free (self->devices);
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

LamLive *
lam_live_new (LamDataset *dataset, const char *devices)
{
  LamLive *self = g_object_new (LAM_TYPE_LIVE, NULL);
  self->dataset = lam_dataset_ref (dataset);
  self->devices = g_strdup (devices);
  return self;
}

/* ---- the engine ---- */

/* The one-slice problem of @g's slice @k, and its detector rows in @band. */
static LamGeometry *
slice_geometry (const LamGeometry *g, int64_t k, LamRange *band, GError **error)
{
  g_autoptr (LamGeometry) one = lam_geometry_try_copy (g, error);
  if (!one)
    return NULL;
  double dz = g->voxel_pitch * g->slice_aspect;
  *band = lam_geometry_rows_of_slice (g, k);
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

typedef struct {
  LamSnapshot *snapshot;
  uint64_t serial;
} Answer;

static void
answer_free (gpointer data)
{
  Answer *answer = data;
  g_clear_pointer (&answer->snapshot, lam_snapshot_unref);
  g_free (answer);
}

static gpointer
live_work (gpointer owner, gpointer data, GError **error)
{
  const LamLiveRequest *request = data;
  LamSnapshot *made = lam_live_compute (owner, request, error);
  if (!made)
    return NULL;
  Answer *answer = g_new (Answer, 1);
  *answer = (Answer){made, request->serial};
  return answer;
}

static void
live_answered (gpointer owner)
{
  g_signal_emit (owner, signals[SNAPSHOT], 0);
}

static void
live_failed (gpointer owner, const GError *error)
{
  g_signal_emit (owner, signals[FAILED], 0, error);
}

static void
request_free (gpointer data)
{
  LamLiveRequest *request = data;
  lam_geometry_free ((LamGeometry *) request->geometry); /* a copy of its own */
  g_free (request);
}

static const LamNewestFuncs live_funcs = {"[lamina] live slice", live_work,    live_answered,
                                          live_failed,           request_free, answer_free};

static void
lam_live_init (LamLive *self)
{
  self->newest = lam_newest_new (self, &live_funcs);
  self->slice = -1;
}

void
lam_live_request (LamLive *self, const LamLiveRequest *request)
{
  LamLiveRequest *own = g_new (LamLiveRequest, 1);
  *own = *request;
  own->geometry = request->geometry ? lam_geometry_copy (request->geometry) : NULL;
  lam_newest_ask (self->newest, own);
}

LamSnapshot *
lam_live_take (LamLive *self, uint64_t *serial)
{
  Answer *answer = lam_newest_take (self->newest);
  if (!answer)
    return NULL;
  LamSnapshot *snapshot = g_steal_pointer (&answer->snapshot);
  if (serial)
    *serial = answer->serial;
  answer_free (answer);
  return snapshot;
}
