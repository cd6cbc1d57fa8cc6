#include "config.h"

#include "geometry-drag.h"

#include <glib/gi18n.h>

/* A slice that takes longer than this is not waited for. */
#define LATE_MS 60

typedef struct {
  LamSession *session;
  LamGeometryMove to; /* where the hand is, when the picture is not yet there */
  gboolean waiting;
  guint late_source;
} Drag;

static void
drag_free (gpointer data)
{
  Drag *drag = data;
  g_clear_handle_id (&drag->late_source, g_source_remove);
  g_object_unref (drag->session);
  g_free (drag);
}

static void
apply (Drag *drag)
{
  g_clear_handle_id (&drag->late_source, g_source_remove);
  drag->waiting = FALSE;
  /* The view keeps within the detector, which is the parameter's range. */
  g_autoptr (GError) error = NULL;
  const LamGeometryMove *to = &drag->to;
  if (!lam_session_edit_place (drag->session, to->channel_offset, to->source_detector, to->source_axis, &error))
    g_debug ("%s", error->message);
}

static gboolean
late_cb (gpointer data)
{
  Drag *drag = data;
  drag->late_source = 0;
  apply (drag);
  return G_SOURCE_REMOVE;
}

static gboolean
slice_has_come (Drag *drag)
{
  return lam_session_get_live_shown (drag->session) >= lam_session_get_live_asked (drag->session);
}

static void
drag_begin_cb (LamGeometryView *view, int handle, Drag *drag)
{
  lam_undo_begin (lam_session_get_undo (drag->session), handle == LAM_HANDLE_SOURCE     ? _ ("Move Source")
                                                        : handle == LAM_HANDLE_DETECTOR ? _ ("Move Detector")
                                                                                        : _ ("Move Axis"));
}

/* The hand is faster than slices can be made: scene, number and slice move together, each time the last slice has come. */
static void
dragged_cb (LamGeometryView *view, const LamGeometryMove *move, Drag *drag)
{
  drag->to = *move;
  drag->waiting = TRUE;
  if (slice_has_come (drag))
    apply (drag);
  else if (drag->late_source == 0)
    drag->late_source = g_timeout_add (LATE_MS, late_cb, drag);
}

static void
drag_end_cb (LamGeometryView *view, Drag *drag)
{
  if (drag->waiting)
    apply (drag);
  lam_undo_end (lam_session_get_undo (drag->session));
}

static void
snapshot_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamGeometryView *view)
{
  Drag *drag = g_object_get_data (G_OBJECT (view), "lam-drag");
  if (drag->waiting && slice_has_come (drag))
    apply (drag);
}

static void
geometry_changed_cb (LamSession *session, LamGeometryView *view)
{
  lam_geometry_view_set_geometry (view, lam_session_get_geometry (session));
}

void
lam_geometry_drag_connect (LamGeometryView *view, LamSession *session)
{
  g_return_if_fail (LAM_IS_GEOMETRY_VIEW (view) && LAM_IS_SESSION (session));
  Drag *drag = g_new0 (Drag, 1);
  drag->session = g_object_ref (session);
  g_object_set_data_full (G_OBJECT (view), "lam-drag", drag, drag_free);
  g_signal_connect (view, "drag-begin", G_CALLBACK (drag_begin_cb), drag);
  g_signal_connect (view, "dragged", G_CALLBACK (dragged_cb), drag);
  g_signal_connect (view, "drag-end", G_CALLBACK (drag_end_cb), drag);
  g_signal_connect_object (lam_session_get_slices (session), "notify::snapshot", G_CALLBACK (snapshot_notify_cb), view,
                           0);
  g_signal_connect_object (session, "geometry-changed", G_CALLBACK (geometry_changed_cb), view, 0);
  geometry_changed_cb (session, view);
}
