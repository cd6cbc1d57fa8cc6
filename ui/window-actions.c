#include "config.h"

#include "window-private.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include "import-sheet.h"
#include "tooltip.h"

/* -- runs -- */

static gboolean
is_busy (LamWindow *self)
{
  LamSessionState state = lam_session_get_state (self->session);
  return state == LAM_SESSION_RUNNING || state == LAM_SESSION_PAUSED;
}

static void
stop_response_cb (AdwMessageDialog *dialog, const char *response, LamWindow *self)
{
  if (g_str_equal (response, "keep"))
    lam_session_stop_keep (self->session);
  else if (g_str_equal (response, "discard"))
    lam_session_discard (self->session);
}

static GtkWidget *
new_question (LamWindow *self, const char *heading, const char *body)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), heading, body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("Keep _Running"), "discard",
                                    _ ("_Discard"), "keep", _ ("_Stop and Keep"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "keep", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "keep");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  lam_accessible_mend (dialog);
  return dialog;
}

static void
stop_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  if (!is_busy (self))
    return;
  GtkWidget *dialog =
      new_question (self, _ ("Stop the Run?"), _ ("Kept, the current picture is the result and can be saved."));
  g_signal_connect (dialog, "response", G_CALLBACK (stop_response_cb), self);
  gtk_window_present (GTK_WINDOW (dialog));
}

void
lam_window_close_for (LamWindow *self, GtkWindow *dialog)
{
  /* The dialog goes after the window: without this it would look back to it. */
  gtk_window_set_transient_for (dialog, NULL);
  self->closing = TRUE;
  gtk_window_close (GTK_WINDOW (self));
}

static void
close_response_cb (AdwMessageDialog *dialog, const char *response, LamWindow *self)
{
  if (g_str_equal (response, "cancel"))
    return;
  /* What is kept is a result that lies in no file: the window closes once it is there, and asks about it. */
  self->close_after_run = TRUE;
  stop_response_cb (dialog, response, self);
}

static gboolean
close_cb (gpointer window)
{
  LAM_WINDOW (window)->close_source = 0;
  gtk_window_close (window);
  return G_SOURCE_REMOVE;
}

void
lam_window_close_if_asked (LamWindow *self)
{
  if (!(self->close_after_run && !is_busy (self)) && !(self->close_after_maps && !lam_window_maps_busy (self)))
    return;
  self->close_after_run = self->close_after_maps = FALSE;
  if (self->close_source == 0)
    self->close_source = g_idle_add (close_cb, self);
}

gboolean
lam_window_ask_before_close (LamWindow *self)
{
  if (self->closing)
    return FALSE;
  if (!is_busy (self))
    return lam_window_ask_maps_before_close (self) || lam_window_ask_to_save (self);
  GtkWidget *dialog =
      new_question (self, _ ("Close While a Run Goes On?"), _ ("The window stays if the run is to go on."));
  g_signal_connect (dialog, "response", G_CALLBACK (close_response_cb), self);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

static void
run_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  LamSessionState state = lam_session_get_state (self->session);
  if (lam_window_shows_sequence (self)) /* there the signal follows by itself */
    return;
  if (state == LAM_SESSION_RUNNING || state == LAM_SESSION_PAUSED) {
    if (g_str_equal (name, "win.run-or-pause"))
      lam_session_pause (self->session, state == LAM_SESSION_RUNNING);
    return;
  }
  gtk_info_bar_set_revealed (self->info_bar, FALSE);
  lam_session_run (self->session);
}

static void
import_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  gtk_window_present (GTK_WINDOW (lam_import_sheet_new (GTK_WINDOW (self), self->session)));
}

static void
tab_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  int tab = g_variant_get_int32 (parameter);
  if (tab >= 0 && tab < LAM_RECONSTRUCT_TABS)
    lam_reconstruct_page_show_tab (LAM_WINDOW (widget)->reconstruct, tab);
}

static void
simple_cb (GtkWidget *widget, const char *name, GVariant *parameter)
{
  LamWindow *self = LAM_WINDOW (widget);
  LamSliceModel *slices = lam_session_get_slices (self->session);
  if (g_str_equal (name, "win.stop-keep"))
    lam_session_stop_keep (self->session);
  else if (g_str_equal (name, "win.discard"))
    lam_session_discard (self->session);
  else if (g_str_equal (name, "win.find-center"))
    lam_session_find_center (self->session);
  else if (g_str_equal (name, "win.apply-preparation"))
    lam_session_apply_preparation (self->session);
  else if (g_str_equal (name, "win.reset-parameters"))
    lam_parameter_list_reset (lam_session_get_parameters (self->session));
  else if (g_str_equal (name, "win.level-auto"))
    lam_slice_model_level_auto (slices);
  else if (g_str_equal (name, "win.level-full"))
    lam_slice_model_level_full (slices);
  else if (g_str_equal (name, "win.level-reset"))
    lam_slice_model_level_reset (slices);
  else if (g_str_equal (name, "win.fit"))
    lam_slice_view_fit (lam_reconstruct_page_get_slice_view (self->reconstruct));
  else if (g_str_equal (name, "win.next-pane") || g_str_equal (name, "win.previous-pane")) {
    int step = g_str_equal (name, "win.next-pane") ? 1 : -1;
    if (lam_window_shows_sequence (self))
      lam_sequence_page_next_pane (self->sequence, step);
    else
      lam_reconstruct_page_next_pane (self->reconstruct, step);
  } else if (g_str_equal (name, "win.next-border"))
    lam_reconstruct_page_next_border (self->reconstruct, 1);
  else if (g_str_equal (name, "win.previous-border"))
    lam_reconstruct_page_next_border (self->reconstruct, -1);
  else if (g_str_equal (name, "win.jobs"))
    gtk_menu_button_popup (self->jobs_button);
}

/* -- actions with a state -- */

static void
pause_change_cb (GSimpleAction *action, GVariant *value, gpointer window)
{
  lam_session_pause (LAM_WINDOW (window)->session, g_variant_get_boolean (value));
}

static void
sidebar_change_cb (GSimpleAction *action, GVariant *value, gpointer window)
{
  g_simple_action_set_state (action, value);
  lam_reconstruct_page_set_show_sidebar (LAM_WINDOW (window)->reconstruct, g_variant_get_boolean (value));
  lam_sequence_page_set_show_sidebar (LAM_WINDOW (window)->sequence, g_variant_get_boolean (value));
}

static void
fullscreen_change_cb (GSimpleAction *action, GVariant *value, gpointer window)
{
  g_simple_action_set_state (action, value);
  if (g_variant_get_boolean (value))
    gtk_window_fullscreen (window);
  else
    gtk_window_unfullscreen (window);
}

static void
colour_map_change_cb (GSimpleAction *action, GVariant *value, gpointer window)
{
  int map = g_variant_get_int32 (value);
  if (map < 0 || map >= LAM_COLOUR_MAPS)
    return;
  g_simple_action_set_state (action, value);
  lam_slice_model_set_colour_map (lam_session_get_slices (LAM_WINDOW (window)->session), map);
}

static void
colour_map_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamWindow *self)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "colour-map");
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_int32 (lam_slice_model_get_colour_map (slices)));
}

void
lam_window_update_actions (LamWindow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  LamSessionState state = lam_session_get_state (self->session);
  gboolean busy = is_busy (self), ready = state == LAM_SESSION_READY && lam_session_has_data (self->session);
  gboolean can_run = ready && lam_session_get_problem (self->session) == NULL;
  gtk_widget_action_set_enabled (widget, "win.open", !busy);
  gtk_widget_action_set_enabled (widget, "win.open-example", !busy);
  gtk_widget_action_set_enabled (widget, "win.import-sheet",
                                 lam_import_get_path (lam_session_get_import (self->session)) != NULL);
  gtk_widget_action_set_enabled (widget, "win.open-recent", !busy);
  gtk_widget_action_set_enabled (widget, "win.run", can_run);
  gtk_widget_action_set_enabled (widget, "win.run-or-pause", can_run || busy);
  gtk_widget_action_set_enabled (widget, "win.stop", busy);
  gtk_widget_action_set_enabled (widget, "win.stop-keep", busy);
  gtk_widget_action_set_enabled (widget, "win.discard", busy);
  gtk_widget_action_set_enabled (widget, "win.find-center", ready);
  gtk_widget_action_set_enabled (widget, "win.apply-preparation", lam_session_can_apply (self->session));
  gboolean open =
      state != LAM_SESSION_OPENING && (lam_session_has_data (self->session) || lam_session_is_bare (self->session));
  gtk_widget_action_set_enabled (widget, "win.save",
                                 g_list_model_get_n_items (G_LIST_MODEL (lam_session_get_results (self->session))) > 0);
  gtk_widget_action_set_enabled (widget, "win.save-session", open);
  gtk_widget_action_set_enabled (widget, "win.save-session-as", open);
  lam_set_tooltip (self->run_button, can_run || busy ? _ ("Reconstruct with these parameters (Space)")
                                                     : lam_session_get_problem (self->session));
  GAction *pause = g_action_map_lookup_action (G_ACTION_MAP (self), "pause");
  g_simple_action_set_enabled (G_SIMPLE_ACTION (pause), busy);
  g_simple_action_set_state (G_SIMPLE_ACTION (pause), g_variant_new_boolean (state == LAM_SESSION_PAUSED));
}

void
lam_window_actions_class_init (GtkWidgetClass *klass)
{
  lam_window_files_class_init (klass);
  gtk_widget_class_install_action (klass, "win.import-sheet", NULL, import_cb);
  gtk_widget_class_install_action (klass, "win.stop", NULL, stop_cb);
  gtk_widget_class_install_action (klass, "win.run", NULL, run_cb);
  gtk_widget_class_install_action (klass, "win.run-or-pause", NULL, run_cb);
  gtk_widget_class_install_action (klass, "win.tab", "i", tab_cb);
  static const char *const simple[] = {"win.stop-keep",         "win.discard",          "win.find-center",
                                       "win.apply-preparation", "win.reset-parameters", "win.level-auto",
                                       "win.level-full",        "win.level-reset",      "win.fit",
                                       "win.next-pane",         "win.previous-pane",    "win.jobs",
                                       "win.next-border",       "win.previous-border"};
  for (size_t i = 0; i < G_N_ELEMENTS (simple); i++)
    gtk_widget_class_install_action (klass, simple[i], NULL, simple_cb);
}

/* Keys that the focused widget does not want: a button or an entry uses Space itself. On the content, because the window
 * class has a use of its own for Space. */
static void
add_key (GtkEventController *controller, guint key, GdkModifierType state, const char *action)
{
  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (controller),
      gtk_shortcut_new (gtk_keyval_trigger_new (key, state), gtk_named_action_new (action)));
}

void
lam_window_actions_init (LamWindow *self)
{
  lam_window_files_init (self);
  GtkEventController *keys = gtk_shortcut_controller_new ();
  add_key (keys, GDK_KEY_space, 0, "win.run-or-pause");
  add_key (keys, GDK_KEY_Escape, 0, "win.stop");
  /* Before the panes, which have a use of their own for these and know only each other. */
  GtkEventController *first = gtk_shortcut_controller_new ();
  gtk_event_controller_set_propagation_phase (first, GTK_PHASE_CAPTURE);
  add_key (first, GDK_KEY_F6, 0, "win.next-pane");
  add_key (first, GDK_KEY_F6, GDK_SHIFT_MASK, "win.previous-pane");
  add_key (first, GDK_KEY_F8, 0, "win.next-border");
  add_key (first, GDK_KEY_F8, GDK_SHIFT_MASK, "win.previous-border");
  gtk_widget_add_controller (GTK_WIDGET (self), first);
  gtk_widget_add_controller (adw_application_window_get_content (ADW_APPLICATION_WINDOW (self)), keys);
  static const GActionEntry entries[] = {
      {.name = "pause", .state = "false", .change_state = pause_change_cb},
      {.name = "sidebar", .state = "true", .change_state = sidebar_change_cb},
      {.name = "fullscreen", .state = "false", .change_state = fullscreen_change_cb},
      {.name = "colour-map", .parameter_type = "i", .state = "0", .change_state = colour_map_change_cb},
  };
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  g_autoptr (GPropertyAction) workspace = g_property_action_new ("workspace", self->views, "visible-child-name");
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (workspace));
  lam_undo_add_actions (lam_session_get_undo (self->session), G_ACTION_MAP (self));
  g_signal_connect_object (lam_session_get_slices (self->session), "notify::colour-map",
                           G_CALLBACK (colour_map_notify_cb), self, 0);
}
