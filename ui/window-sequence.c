/* window-sequence.c: the Sequence workspace in the window: made when it is first looked at, and part of the session that is
 * saved, kept against a crash, and opened. */
#include "config.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include "window-private.h"

#define REST_MS 500 /* a hand that drags is not told of each time */

gboolean
lam_window_shows_sequence (LamWindow *self)
{
  return g_strcmp0 (adw_view_stack_get_visible_child_name (self->views), "sequence") == 0;
}

static void
status_cb (LamSequencePage *page, const char *text, LamWindow *self)
{
  if (!lam_window_shows_sequence (self))
    return;
  gtk_label_set_text (self->status_cursor, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->status_cursor), text != NULL);
}

static void
meaning_cb (LamSequencePage *page, LamWindow *self)
{
  if (lam_window_shows_sequence (self))
    lam_window_sequence_meaning (self);
}

void
lam_window_sequence_meaning (LamWindow *self)
{
  g_autofree char *meaning = lam_sequence_page_dup_meaning (self->sequence);
  gtk_label_set_markup (self->status_meaning, meaning);
  gtk_widget_remove_css_class (GTK_WIDGET (self->status_meaning), "dim-label"); /* a problem is not dim */
}

static void
failed_cb (LamPulseqModel *model, const char *text, LamWindow *self)
{
  gtk_label_set_text (self->info_label, text);
  gtk_info_bar_set_revealed (self->info_bar, TRUE);
}

static LamMapsModel *
maps_of (LamWindow *self)
{
  LamMapsTab *maps = lam_sequence_page_get_maps (self->sequence);
  return maps != NULL ? lam_maps_tab_get_model (maps) : NULL;
}

/* -- part of the session -- */

static void
tell_session (LamWindow *self)
{
  g_autoptr (GVariant) state = lam_sequence_session_save (self->sequence_session);
  lam_session_set_sequence (self->session, state,
                            lam_undo_get_n_steps (lam_sequence_session_get_undo (self->sequence_session)));
}

static gboolean
rested_cb (gpointer window)
{
  LamWindow *self = window;
  self->sequence_source = 0;
  tell_session (self);
  return G_SOURCE_REMOVE;
}

static void
changed_cb (LamSequenceSession *session, LamWindow *self)
{
  if (self->sequence_source == 0)
    self->sequence_source = g_timeout_add (REST_MS, rested_cb, self);
}

static void
load (LamWindow *self, GVariant *state)
{
  g_autoptr (GError) error = NULL;
  LamMapsResult *maps = lam_session_get_maps (self->session);
  g_autoptr (LamMapsResult) held = maps != NULL ? lam_maps_result_ref (maps) : NULL;
  const char *home = lam_session_get_home (self->session);
  g_autofree char *folder = home != NULL ? g_path_get_dirname (home) : NULL;
  gboolean ok = lam_sequence_session_load (self->sequence_session, state, &error);
  lam_maps_model_show_kept (maps_of (self), held, folder);
  if (ok)
    return;
  g_autofree char *text = g_strdup_printf (_ ("The session's sequence is not shown: %s"), error->message);
  gtk_label_set_text (self->info_label, text);
  gtk_info_bar_set_revealed (self->info_bar, TRUE);
}

static void
show_sequence_cb (LamSession *session, GVariant *state, LamWindow *self)
{
  if (self->sequence_session != NULL) {
    load (self, state);
    return;
  }
  g_clear_pointer (&self->sequence_state, g_variant_unref);
  self->sequence_state = g_variant_ref (state);
}

void
lam_window_sequence_save_view (LamWindow *self, LamSessionView *view)
{
  const char *workspace = adw_view_stack_get_visible_child_name (self->views);
  g_strlcpy (view->workspace, workspace != NULL ? workspace : "", sizeof view->workspace);
  if (self->sequence_session != NULL)
    g_strlcpy (view->tab, lam_sequence_page_get_tab (self->sequence), sizeof view->tab);
  const LamMapsMap *map = self->sequence_session != NULL
                              ? lam_map_pictures_get_chosen (lam_maps_model_get_pictures (maps_of (self)))
                              : NULL;
  g_strlcpy (view->map, map != NULL ? map->name : "", sizeof view->map);
}

void
lam_window_sequence_show_view (LamWindow *self, const LamSessionView *view)
{
  if (*view->workspace != '\0' && adw_view_stack_get_child_by_name (self->views, view->workspace) != NULL)
    lam_window_show_workspace (self, view->workspace);
  if (self->sequence_session != NULL && *view->tab != '\0')
    lam_sequence_page_show_tab (self->sequence, view->tab);
  if (self->sequence_session != NULL && *view->map != '\0')
    lam_map_pictures_choose (lam_maps_model_get_pictures (maps_of (self)), view->map);
}

void
lam_window_sequence_flush (LamWindow *self)
{
  g_clear_handle_id (&self->sequence_source, g_source_remove);
  if (self->sequence_session != NULL) /* an edit of this very turn is not announced yet */
    tell_session (self);
}

/* -- jobs of the Maps tab -- */

LamJob *
lam_window_get_maps_job (LamWindow *self)
{
  LamMapsModel *maps = maps_of (self);
  for (int kind = 0; maps != NULL && kind < LAM_MAPS_KINDS; kind++) {
    LamJob *job = lam_maps_model_get_job (maps, kind);
    if (job != NULL && lam_job_get_state (job) == LAM_JOB_RUNNING)
      return job;
  }
  return NULL;
}

gboolean
lam_window_maps_busy (LamWindow *self)
{
  LamMapsModel *maps = maps_of (self);
  return maps != NULL && lam_maps_model_is_busy (maps);
}

static void
maps_changed_cb (LamMapsModel *maps, LamWindow *self)
{
  lam_session_set_maps (self->session, lam_map_pictures_get_result (lam_maps_model_get_pictures (maps)));
  lam_window_update_jobs (self);
  lam_window_close_if_asked (self);
}

static void
maps_progress_cb (LamMapsModel *maps, int kind, LamWindow *self)
{
  lam_window_update_jobs (self);
}

static void
maps_response_cb (AdwMessageDialog *dialog, const char *response, LamWindow *self)
{
  if (!g_str_equal (response, "discard"))
    return;
  self->close_after_maps = TRUE;
  lam_maps_model_cancel_all (maps_of (self));
  lam_window_close_if_asked (self); /* they may have ended meanwhile */
}

gboolean
lam_window_ask_maps_before_close (LamWindow *self)
{
  if (!lam_window_maps_busy (self))
    return FALSE;
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Close While a Job Goes On?"),
                                              _ ("A dictionary or maps are being made, and would be dropped."));
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("Keep _Running"), "discard",
                                    _ ("_Discard"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  lam_accessible_mend (dialog);
  g_signal_connect (dialog, "response", G_CALLBACK (maps_response_cb), self);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

/* -- the workspace -- */

void
lam_window_make_sequence (LamWindow *self)
{
  self->sequence_session = lam_sequence_session_new ();
  lam_sequence_page_set_session (self->sequence, self->sequence_session);
  lam_sequence_page_add_maps (self->sequence, lam_session_get_queue (self->session));
  g_signal_connect_object (self->sequence, "status", G_CALLBACK (status_cb), self, 0);
  g_signal_connect_object (maps_of (self), "changed", G_CALLBACK (maps_changed_cb), self, 0);
  g_signal_connect_object (maps_of (self), "progress", G_CALLBACK (maps_progress_cb), self, 0);
  g_signal_connect_object (self->sequence, "meaning", G_CALLBACK (meaning_cb), self, 0);
  g_signal_connect_object (lam_sequence_session_get_pulseq (self->sequence_session), "failed", G_CALLBACK (failed_cb),
                           self, 0);
  lam_window_follow_sequence (self);
  if (self->sequence_state != NULL) {
    g_autoptr (GVariant) state = g_steal_pointer (&self->sequence_state);
    load (self, state);
  } else
    tell_session (self); /* as it is before any edit */
  g_signal_connect_object (self->sequence_session, "changed", G_CALLBACK (changed_cb), self, 0);
}

void
lam_window_sequence_init (LamWindow *self)
{
  g_signal_connect_object (self->session, "show-sequence", G_CALLBACK (show_sequence_cb), self, 0);
}

void
lam_window_sequence_dispose (LamWindow *self)
{
  g_clear_handle_id (&self->sequence_source, g_source_remove);
  g_clear_pointer (&self->sequence_state, g_variant_unref);
  if (self->sequence_session != NULL)
    lam_sequence_session_close (self->sequence_session);
  g_clear_object (&self->sequence_session);
}
