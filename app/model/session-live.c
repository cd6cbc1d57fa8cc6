#include "config.h"

#include "model/session-parameters.h"
#include "model/session-private.h"

/* Edits that follow each other within this many microseconds are a hand that moves; when it rests for REST_MS, the
 * exact slice comes. */
#define MOVING 250000
#define REST_MS 60

static void
take_live (LamSession *self, LamSnapshot *shot, uint64_t serial, gboolean exact)
{
  /* A coarse slice never comes over an exact one that is as new. */
  if (self->show != LAM_SHOW_LIVE || serial < self->live_shown || (!exact && serial <= self->live_exact)) {
    lam_snapshot_unref (shot);
    return;
  }
  self->live_shown = serial;
  if (exact)
    self->live_exact = serial;
  lam_slice_model_take (self->slices, shot);
}

static void
preview_cb (LamLivePreview *preview, LamSnapshot *shot, guint64 serial, LamSession *self)
{
  take_live (self, lam_snapshot_ref (shot), serial, FALSE);
}

static void
drop_preview (LamSession *self)
{
  if (self->preview != NULL)
    g_signal_handlers_disconnect_by_data (self->preview, self);
  g_clear_object (&self->preview);
}

/* For the newest request; NULL where the exact slice is fast. */
static LamLivePreview *
get_preview (LamSession *self)
{
  const LamLiveRequest *request = &self->live_request;
  if (self->preview != NULL && lam_live_preview_serves (self->preview, request))
    return self->preview;
  drop_preview (self);
  self->preview = lam_live_preview_new (self->dataset, request->geometry, request->slice);
  if (self->preview == NULL)
    return NULL;
  g_signal_connect (self->preview, "snapshot", G_CALLBACK (preview_cb), self);
  return lam_live_preview_serves (self->preview, request) ? self->preview : NULL;
}

static gboolean
exact_cb (gpointer data)
{
  LamSession *self = data;
  self->rest_source = 0;
  if (self->live != NULL && self->show == LAM_SHOW_LIVE && self->live_geometry != NULL)
    lam_live_request (self->live, &self->live_request);
  return G_SOURCE_REMOVE;
}

static gboolean
is_live (LamSession *self)
{
  return self->live != NULL && self->geometry != NULL && self->show == LAM_SHOW_LIVE
         && lam_slice_model_is_wanted (self->slices, LAM_PLANE_SLICE);
}

/* Takes the geometry. */
static void
ask (LamSession *self, LamGeometry *geometry)
{
  g_clear_handle_id (&self->rest_source, g_source_remove);
  g_clear_pointer (&self->live_geometry, lam_geometry_free);
  self->live_geometry = geometry;
  self->live_request = (LamLiveRequest){.slice = lam_slice_model_get_plane_index (self->slices, LAM_PLANE_SLICE),
                                        .geometry = geometry,
                                        .channel_offset = geometry->channel_offset,
                                        .tilt = lam_session_tilt (self),
                                        .generation = lam_slice_model_get_generation (self->slices),
                                        .serial = ++self->live_serial};
  /* Only a hand that moves, round one slice, is worth a coarse picture. */
  gint64 now = g_get_monotonic_time ();
  gboolean moving = now - self->live_time < MOVING && self->live_slice == self->live_request.slice;
  LamLivePreview *preview = moving ? get_preview (self) : NULL;
  self->live_time = now;
  self->live_slice = self->live_request.slice;
  if (preview == NULL) {
    lam_live_request (self->live, &self->live_request);
    return;
  }
  lam_live_preview_request (preview, &self->live_request);
  self->rest_source = g_timeout_add (REST_MS, exact_cb, self);
}

void
lam_session_request_live (LamSession *self)
{
  /* The hand has asked for what comes after this already. */
  if (self->looking_ahead)
    return;
  g_clear_handle_id (&self->rest_source, g_source_remove);
  if (is_live (self))
    ask (self, lam_geometry_copy (self->geometry));
}

uint64_t
lam_session_look_ahead (LamSession *self, const LamPlace *place)
{
  g_return_val_if_fail (LAM_IS_SESSION (self) && place != NULL, 0);
  LamGeometry *geometry = is_live (self) ? lam_session_geometry_at (self, place) : NULL;
  if (geometry == NULL)
    return 0;
  self->looking_ahead = TRUE;
  ask (self, geometry);
  return self->live_serial;
}

void
lam_session_look_here (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (!self->looking_ahead)
    return;
  self->looking_ahead = FALSE;
  const LamLiveRequest *last = &self->live_request;
  gboolean same =
      self->live_geometry != NULL && self->geometry != NULL && lam_geometry_equal (self->live_geometry, self->geometry)
      && last->slice == lam_slice_model_get_plane_index (self->slices, LAM_PLANE_SLICE)
      && last->tilt == lam_session_tilt (self) && last->generation == lam_slice_model_get_generation (self->slices);
  if (!same)
    lam_session_request_live (self);
}

static void
live_snapshot_cb (LamLive *live, LamSession *self)
{
  uint64_t serial;
  LamSnapshot *shot = lam_live_take (live, &serial);
  if (shot != NULL)
    take_live (self, shot, serial, TRUE);
}

static void
live_failed_cb (LamLive *live, GError *error, LamSession *self)
{
  lam_session_fail (self, error);
}

void
lam_session_start_live (LamSession *self, LamDataset *dataset)
{
  self->live = lam_live_new (dataset, NULL);
  g_signal_connect (self->live, "snapshot", G_CALLBACK (live_snapshot_cb), self);
  g_signal_connect (self->live, "failed", G_CALLBACK (live_failed_cb), self);
}

void
lam_session_drop_live (LamSession *self)
{
  if (self->live != NULL)
    g_signal_handlers_disconnect_by_data (self->live, self);
  g_clear_object (&self->live);
  drop_preview (self);
  g_clear_handle_id (&self->rest_source, g_source_remove);
  g_clear_pointer (&self->live_geometry, lam_geometry_free);
  self->looking_ahead = FALSE;
}

uint64_t
lam_session_get_live_exact (LamSession *self)
{
  return self->live_exact;
}

uint64_t
lam_session_get_live_asked (LamSession *self)
{
  return self->live_serial;
}

uint64_t
lam_session_get_live_shown (LamSession *self)
{
  return self->live_shown;
}

gpointer
lam_session_get_live_preview (LamSession *self)
{
  return self->preview;
}
