#include "config.h"

#include "geometry-drag.h"

#include <glib/gi18n.h>

/* The hand is faster than slices can be made. Each place asks for its slice at once, and of those that wait only the newest
 * is made; scene, numbers and slice move together when one has come. A slice that takes longer than LATE_MS is not waited
 * for. */
#define LATE_MS 60
#define KEPT 64 /* places whose slices may be on their way */

typedef struct {
  LamSession *session; /* weak */
  gboolean held;
  struct {
    uint64_t serial;
    LamPlace place;
  } asked[KEPT];
  uint64_t newest, applied; /* serials */
  guint late_source;
} Drag;

static void
drag_free (gpointer data)
{
  Drag *drag = data;
  g_clear_handle_id (&drag->late_source, g_source_remove);
  if (drag->session != NULL) {
    lam_session_hold_place (drag->session, FALSE);
    lam_session_look_here (drag->session);
  }
  g_clear_weak_pointer (&drag->session);
  g_free (drag);
}

static void
edit (Drag *drag, const LamPlace *place)
{
  /* The view keeps within the detector, which is the parameter's range. */
  g_autoptr (GError) error = NULL;
  if (!lam_session_edit_place (drag->session, place, &error))
    g_debug ("%s", error->message);
}

static void apply (Drag *drag, uint64_t serial);

static gboolean
late_cb (gpointer data)
{
  Drag *drag = data;
  drag->late_source = 0;
  apply (drag, drag->newest);
  return G_SOURCE_REMOVE;
}

/* To the place that asked for slice @serial. */
static void
apply (Drag *drag, uint64_t serial)
{
  if (serial <= drag->applied || drag->asked[serial % KEPT].serial != serial)
    return;
  g_clear_handle_id (&drag->late_source, g_source_remove);
  drag->applied = serial;
  if (drag->applied < drag->newest)
    drag->late_source = g_timeout_add (LATE_MS, late_cb, drag);
  edit (drag, &drag->asked[serial % KEPT].place);
}

static void
drag_begin_cb (LamGeometryView *view, int handle, Drag *drag)
{
  drag->held = TRUE;
  lam_session_hold_place (drag->session, TRUE);
  lam_slice_model_hold_level (lam_session_get_slices (drag->session), TRUE);
  lam_undo_begin (lam_session_get_undo (drag->session), handle == LAM_HANDLE_SOURCE     ? _ ("Move Source")
                                                        : handle == LAM_HANDLE_DETECTOR ? _ ("Move Detector")
                                                                                        : _ ("Move Axis"));
}

static void
dragged_cb (LamGeometryView *view, const LamPlace *place, Drag *drag)
{
  uint64_t serial = drag->held ? lam_session_look_ahead (drag->session, place) : 0;
  if (serial == 0) {
    edit (drag, place);
    return;
  }
  drag->asked[serial % KEPT].serial = drag->newest = serial;
  drag->asked[serial % KEPT].place = *place;
  if (drag->late_source == 0)
    drag->late_source = g_timeout_add (LATE_MS, late_cb, drag);
}

static void
drag_end_cb (LamGeometryView *view, Drag *drag)
{
  drag->held = FALSE;
  lam_slice_model_hold_level (lam_session_get_slices (drag->session), FALSE);
  apply (drag, drag->newest);
  lam_session_hold_place (drag->session, FALSE);
  lam_session_look_here (drag->session);
  lam_undo_end (lam_session_get_undo (drag->session));
}

static void
snapshot_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamGeometryView *view)
{
  Drag *drag = g_object_get_data (G_OBJECT (view), "lam-drag");
  if (drag->held)
    apply (drag, lam_session_get_live_shown (drag->session));
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
  g_set_weak_pointer (&drag->session, session);
  g_object_set_data_full (G_OBJECT (view), "lam-drag", drag, drag_free);
  g_signal_connect (view, "drag-begin", G_CALLBACK (drag_begin_cb), drag);
  g_signal_connect (view, "dragged", G_CALLBACK (dragged_cb), drag);
  g_signal_connect (view, "drag-end", G_CALLBACK (drag_end_cb), drag);
  g_signal_connect_object (lam_session_get_slices (session), "notify::snapshot", G_CALLBACK (snapshot_notify_cb), view,
                           0);
  g_signal_connect_object (session, "geometry-changed", G_CALLBACK (geometry_changed_cb), view, 0);
  geometry_changed_cb (session, view);
}
