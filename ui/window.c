#include "config.h"

#include "window-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "accessible-name.h"
#include "job-row.h"
#include "tooltip.h"

G_DEFINE_FINAL_TYPE (LamWindow, lam_window, ADW_TYPE_APPLICATION_WINDOW)

static void
mend_toasts (GtkWidget *toasts)
{
  GtkWidget *beneath = adw_toast_overlay_get_child (ADW_TOAST_OVERLAY (toasts));
  for (GtkWidget *w = gtk_widget_get_first_child (toasts); w != NULL; w = gtk_widget_get_next_sibling (w))
    if (w != beneath)
      lam_accessible_mend (w);
}

static gboolean
mend_cb (GtkWidget *toasts, GdkFrameClock *clock, gpointer data)
{
  mend_toasts (toasts);
  return G_SOURCE_REMOVE;
}

/* Another toast may come up, whose buttons are made then. */
static void
gone_cb (AdwToast *toast, GtkWidget *toasts)
{
  gtk_widget_add_tick_callback (toasts, mend_cb, NULL, NULL);
}

/* Takes @toast. */
static void
add_toast (LamWindow *self, AdwToast *toast)
{
  /* Over the pictures, where there are any. */
  AdwToastOverlay *toasts = lam_session_get_title (self->session) != NULL
                                ? lam_reconstruct_page_get_toasts (self->reconstruct)
                                : self->toasts;
  g_signal_connect_object (toast, "dismissed", G_CALLBACK (gone_cb), toasts, 0);
  adw_toast_overlay_add_toast (toasts, toast);
  mend_toasts (GTK_WIDGET (toasts));
}

void
lam_window_toast (LamWindow *self, const char *text)
{
  g_return_if_fail (LAM_IS_WINDOW (self));
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  add_toast (self, adw_toast_new (escaped));
}

/* -- following the session -- */

/* What the numbers of the picture mean, in words. */
static void
update_meaning (LamWindow *self)
{
  const LamGeometry *g = lam_session_get_geometry (self->session);
  if (lam_window_shows_sequence (self))
    return;
  if (g == NULL)
    gtk_label_set_text (self->status_meaning, "");
  else if (g_str_equal (g->length_unit, "px"))
    gtk_label_set_text (self->status_meaning, _ ("attenuation in 1/px: the file states no pixel pitch"));
  else
    gtk_label_set_text (self->status_meaning, _ ("attenuation in 1/mm"));
}

static void
slices_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamWindow *self)
{
  if (lam_window_shows_sequence (self))
    return;
  g_autofree char *text = lam_slice_model_describe_cursor (slices);
  gtk_label_set_text (self->status_cursor, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->status_cursor), text != NULL);
}

void
lam_window_update_jobs (LamWindow *self)
{
  LamSessionState state = lam_session_get_state (self->session);
  LamJob *other = lam_window_get_maps_job (self);
  gboolean run = state == LAM_SESSION_RUNNING || state == LAM_SESSION_PAUSED, busy = run || other != NULL;
  double fraction = run ? lam_session_get_fraction (self->session) : other != NULL ? lam_job_get_fraction (other) : -1;
  g_autofree char *percent =
      busy && fraction >= 0 ? g_strdup_printf ("%.0f %%", 100 * fraction) : g_strdup (busy ? "…" : _ ("Jobs"));
  gtk_label_set_text (GTK_LABEL (self->jobs_label), percent);
}

static GtkWidget *
new_job_row (gpointer job, gpointer data)
{
  return lam_job_row_new (job, LAM_WINDOW (data)->session);
}

/* Rows are slow to make, and there are jobs that nobody looks at: they are made while the list is open. */
static void
jobs_shown_cb (GtkWidget *popover, LamWindow *self)
{
  gtk_list_box_bind_model (self->jobs_list, G_LIST_MODEL (lam_session_get_queue (self->session)), new_job_row, self,
                           NULL);
}

static void
jobs_closed_cb (GtkPopover *popover, LamWindow *self)
{
  gtk_list_box_bind_model (self->jobs_list, NULL, NULL, NULL, NULL);
}

static void
message_cb (LamSession *session, const char *text, gboolean result, LamWindow *self)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (escaped);
  if (result) {
    adw_toast_set_button_label (toast, _ ("_Save…"));
    adw_toast_set_action_name (toast, "win.save");
  }
  add_toast (self, toast);
}

static void
toast_dismissed_cb (AdwToast *toast, LamWindow *self)
{
  if (self->undo_toast == toast)
    self->undo_toast = NULL;
}

static void
undoable_cb (LamSession *session, const char *text, LamWindow *self)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (escaped);
  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "win.undo");
  self->undo_toast = toast;
  g_signal_connect_object (toast, "dismissed", G_CALLBACK (toast_dismissed_cb), self, 0);
  add_toast (self, toast);
}

/* What a run says ten times a second. */
static void
update_progress (LamWindow *self)
{
  const char *left = lam_session_get_left (self->session);
  LamSessionState state = lam_session_get_state (self->session);
  gtk_label_set_text (self->status_right, state == LAM_SESSION_OPENING  ? _ ("opening…")
                                          : state == LAM_SESSION_PAUSED ? _ ("paused")
                                          : left != NULL                ? left
                                                                        : "");
  lam_window_update_jobs (self);
}

void
lam_window_update_title (LamWindow *self)
{
  const char *scan = lam_session_get_title (self->session), *title = scan;
  LamSequenceFile *file = lam_window_shows_sequence (self) && self->sequence_session != NULL
                              ? lam_pulseq_model_get_file (lam_sequence_session_get_pulseq (self->sequence_session))
                              : NULL;
  if (file != NULL) {
    g_autofree char *marked = g_strconcat (lam_window_has_edits (self) ? "• " : "", file->name, NULL);
    g_autofree char *full = g_strdup_printf (_ ("%s — Lamina"), marked);
    gtk_window_set_title (GTK_WINDOW (self), full);
    gtk_stack_set_visible_child_name (self->stack, scan != NULL ? "views" : "start");
    return;
  }
  const char *home = lam_session_get_home (self->session);
  /* A sequence alone is called as its session is. */
  g_autofree char *name = home != NULL ? g_path_get_basename (home) : g_strdup (_ ("Untitled"));
  if (title == NULL && (home != NULL || lam_window_has_edits (self)))
    title = name;
  /* A dot: something here is in no file. */
  const char *dot = lam_session_get_modified (self->session) ? "• " : "";
  g_autofree char *marked = title != NULL ? g_strconcat (dot, title, NULL) : g_strdup (_ ("Lamina"));
  g_autofree char *full = title != NULL ? g_strdup_printf (_ ("%s — Lamina"), marked) : g_strdup (_ ("Lamina"));
  gtk_window_set_title (GTK_WINDOW (self), full);
  gtk_stack_set_visible_child_name (self->stack, scan != NULL ? "views" : "start");
}

/* Each property for itself: actions and their buttons take a quarter of a millisecond, and a scan that is opened or a run that
 * ends tells many things at once. */
static void
session_notify_cb (LamSession *session, GParamSpec *pspec, LamWindow *self)
{
  static const char *const progress[] = {"fraction", "doing", "left", NULL};
  static const char *const titles[] = {"title", "home", "modified", NULL};
  const char *name = pspec != NULL ? pspec->name : "";
  gboolean all = pspec == NULL;
  LamSessionState state = lam_session_get_state (session);
  if (all || g_strv_contains (titles, name))
    lam_window_update_title (self);
  if (all || g_str_equal (name, "state")) {
    gtk_image_set_from_icon_name (self->pause_image, state == LAM_SESSION_PAUSED ? "media-playback-start-symbolic"
                                                                                 : "media-playback-pause-symbolic");
    lam_set_tooltip (self->pause_button,
                     state == LAM_SESSION_PAUSED ? _ ("Go on (Space)") : _ ("Pause between two subsets (Space)"));
  }
  if (g_str_equal (name, "state"))
    lam_window_close_if_asked (self);
  if (all || g_str_equal (name, "state") || g_strv_contains (progress, name))
    update_progress (self);
  if (g_strv_contains (progress, name) || g_str_equal (name, "modified"))
    return;
  lam_window_update_actions (self);
  lam_window_note_recent (self);
}

static void
save_view_cb (LamSession *session, gpointer view, LamWindow *self)
{
  LamSliceView *slice = lam_reconstruct_page_get_slice_view (self->reconstruct);
  ((LamSessionView *) view)->zoom =
      lam_slice_port_get_fitted (lam_slice_view_get_port (slice)) ? 0 : lam_slice_view_get_zoom (slice);
  lam_window_sequence_save_view (self, view);
}

static void
show_view_cb (LamSession *session, gpointer view, LamWindow *self)
{
  LamSliceView *slice = lam_reconstruct_page_get_slice_view (self->reconstruct);
  double zoom = ((LamSessionView *) view)->zoom, now = lam_slice_view_get_zoom (slice);
  if (zoom > 0 && now > 0)
    lam_slice_view_zoom_at (slice, zoom / now, gtk_widget_get_width (GTK_WIDGET (slice)) / 2.0,
                            gtk_widget_get_height (GTK_WIDGET (slice)) / 2.0);
  else
    lam_slice_view_fit (slice);
  lam_window_sequence_show_view (self, view);
}

static void
geometry_changed_cb (LamSession *session, LamWindow *self)
{
  update_meaning (self);
}

static void
failed_cb (LamSession *session, GError *error, LamWindow *self)
{
  gtk_label_set_text (self->info_label, error->message);
  gtk_info_bar_set_revealed (self->info_bar, TRUE);
}

static void
info_response_cb (GtkInfoBar *bar, int response, LamWindow *self)
{
  gtk_info_bar_set_revealed (bar, FALSE);
}

static void
question_notify_cb (LamSession *session, GParamSpec *pspec, LamWindow *self)
{
  LamQuestion kind;
  const char *text = lam_session_get_question (session, &kind);
  if (text != NULL) {
    static const char *const answers[][2] = {
        [LAM_QUESTION_ANGLES] = {N_ ("Not _Now"), N_ ("Use These _Angles")},
        [LAM_QUESTION_RESUME] = {N_ ("_Discard"), N_ ("Re_sume")},
        [LAM_QUESTION_RESTORE] = {N_ ("_Discard"), N_ ("Re_store")},
        [LAM_QUESTION_LOCATE] = {N_ ("_Cancel"), N_ ("_Locate…")},
        [LAM_QUESTION_CHANGED] = {N_ ("_Cancel"), N_ ("_Use It as It Is")},
    };
    const char *offer = lam_session_get_question_offer (session);
    gtk_label_set_text (self->question_label, text);
    gtk_button_set_label (self->question_yes,
                          kind == LAM_QUESTION_RESTORE && offer != NULL ? offer : _ (answers[kind][1]));
    gtk_button_set_label (self->question_no, _ (answers[kind][0]));
    gtk_widget_set_visible (self->question_other, kind == LAM_QUESTION_CHANGED);
    lam_accessible_mend (GTK_WIDGET (self->question_bar));
  }
  gtk_info_bar_set_revealed (self->question_bar, text != NULL);
}

static void
question_response_cb (GtkInfoBar *bar, int response, LamWindow *self)
{
  LamQuestion kind;
  lam_session_get_question (self->session, &kind);
  if (response == GTK_RESPONSE_APPLY || (kind == LAM_QUESTION_LOCATE && response == GTK_RESPONSE_YES))
    lam_window_locate_scan (self);
  else
    lam_session_answer (self->session, response == GTK_RESPONSE_YES);
}

static void
undo_notify_cb (LamUndo *undo, GParamSpec *pspec, LamWindow *self)
{
  if (undo != lam_window_get_undo (self))
    return;
  const char *back = lam_undo_get_undo_name (undo), *again = lam_undo_get_redo_name (undo);
  /* "Undo" would mean another thing by now. */
  if (self->undo_toast != NULL)
    adw_toast_dismiss (self->undo_toast);
  g_autofree char *undo_text =
      back != NULL ? g_strdup_printf (_ ("Undo %s (Ctrl+Z)"), back) : g_strdup (_ ("Undo (Ctrl+Z)"));
  g_autofree char *redo_text =
      again != NULL ? g_strdup_printf (_ ("Redo %s (Ctrl+Shift+Z)"), again) : g_strdup (_ ("Redo (Ctrl+Shift+Z)"));
  lam_set_tooltip (self->undo_button, undo_text);
  lam_set_tooltip (self->redo_button, redo_text);
}

/* -- workspaces -- */

LamUndo *
lam_window_get_undo (LamWindow *self)
{
  return lam_window_shows_sequence (self) && self->sequence_session != NULL
             ? lam_sequence_session_get_undo (self->sequence_session)
             : lam_session_get_undo (self->session);
}

/* A header that is too narrow for it has the switcher below. */
static gboolean
place_switcher_cb (gpointer window)
{
  LamWindow *self = window;
  self->switcher_source = 0;
  gtk_widget_set_visible (self->low_switcher, adw_squeezer_get_visible_child (self->switcher) == NULL);
  return G_SOURCE_REMOVE;
}

static void
switcher_notify_cb (AdwSqueezer *switcher, GParamSpec *pspec, LamWindow *self)
{
  if (self->switcher_source == 0) /* it is being measured now */
    self->switcher_source = g_idle_add (place_switcher_cb, self);
}

static void
workspace_notify_cb (AdwViewStack *views, GParamSpec *pspec, LamWindow *self)
{
  gboolean sequence = lam_window_shows_sequence (self);
  if (self->session == NULL)
    return;
  if (sequence && self->sequence_session == NULL) {
    lam_window_make_sequence (self);
    g_signal_connect_object (lam_window_get_undo (self), "notify", G_CALLBACK (undo_notify_cb), self, 0);
  }
  lam_undo_add_actions (lam_window_get_undo (self), G_ACTION_MAP (self));
  undo_notify_cb (lam_window_get_undo (self), NULL, self);
  lam_window_update_title (self);
  GtkWidget *of_runs[] = {self->run_button, self->pause_button, self->stop_button};
  for (guint i = 0; i < G_N_ELEMENTS (of_runs); i++)
    gtk_widget_set_visible (of_runs[i], !sequence);
  if (sequence) {
    gtk_label_set_text (self->status_cursor, "");
    lam_window_sequence_meaning (self);
  } else {
    gtk_widget_add_css_class (GTK_WIDGET (self->status_meaning), "dim-label");
    update_meaning (self);
    slices_notify_cb (lam_session_get_slices (self->session), NULL, self);
  }
}

LamSequencePage *
lam_window_get_sequence_page (LamWindow *self)
{
  return self->sequence;
}

LamSequenceSession *
lam_window_get_sequence_session (LamWindow *self)
{
  return self->sequence_session;
}

void
lam_window_show_workspace (LamWindow *self, const char *name)
{
  adw_view_stack_set_visible_child_name (self->views, name);
}

/* -- focus -- */

/* A button that the keyboard was on has gone insensitive: without a focus no key would be heard any more. */
static gboolean
refocus_cb (gpointer window)
{
  LamWindow *self = window;
  self->focus_source = 0;
  if (lam_window_shows_sequence (self))
    return G_SOURCE_REMOVE;
  GtkWidget *view = GTK_WIDGET (lam_reconstruct_page_get_slice_view (self->reconstruct));
  if (gtk_window_get_focus (GTK_WINDOW (self)) == NULL && gtk_widget_get_mapped (view))
    gtk_widget_grab_focus (view);
  return G_SOURCE_REMOVE;
}

static void
focus_notify_cb (GObject *window, GParamSpec *pspec, gpointer data)
{
  LamWindow *self = LAM_WINDOW (window);
  if (gtk_window_get_focus (GTK_WINDOW (self)) == NULL && self->focus_source == 0)
    self->focus_source = g_idle_add (refocus_cb, self);
}

/* -- window -- */

static gboolean
lam_window_close_request (GtkWindow *window)
{
  if (lam_window_ask_before_close (LAM_WINDOW (window)))
    return TRUE;
  return GTK_WINDOW_CLASS (lam_window_parent_class)->close_request (window);
}

static void
set_session (LamWindow *self, LamSession *session)
{
  self->session = g_object_ref (session);
  lam_reconstruct_page_set_session (self->reconstruct, session);
  LamUndo *undo = lam_session_get_undo (session);
  lam_window_actions_init (self);
  lam_window_sequence_init (self);
  g_signal_connect_object (session, "notify", G_CALLBACK (session_notify_cb), self, 0);
  g_signal_connect_object (session, "geometry-changed", G_CALLBACK (geometry_changed_cb), self, 0);
  g_signal_connect_object (session, "message", G_CALLBACK (message_cb), self, 0);
  g_signal_connect_object (session, "undoable", G_CALLBACK (undoable_cb), self, 0);
  g_signal_connect_object (session, "save-view", G_CALLBACK (save_view_cb), self, 0);
  g_signal_connect_object (session, "show-view", G_CALLBACK (show_view_cb), self, 0);
  g_signal_connect_object (session, "notify::question", G_CALLBACK (question_notify_cb), self, 0);
  g_signal_connect_object (session, "failed", G_CALLBACK (failed_cb), self, 0);
  g_signal_connect_object (undo, "notify", G_CALLBACK (undo_notify_cb), self, 0);
  g_signal_connect_object (lam_session_get_slices (session), "notify", G_CALLBACK (slices_notify_cb), self, 0);
  session_notify_cb (session, NULL, self);
  undo_notify_cb (undo, NULL, self);
  update_meaning (self);
}

LamSession *
lam_window_get_session (LamWindow *self)
{
  return self->session;
}

LamReconstructPage *
lam_window_get_reconstruct_page (LamWindow *self)
{
  return self->reconstruct;
}

static void
lam_window_dispose (GObject *object)
{
  LamWindow *self = LAM_WINDOW (object);
  g_clear_handle_id (&self->focus_source, g_source_remove);
  g_clear_handle_id (&self->switcher_source, g_source_remove);
  g_clear_handle_id (&self->close_source, g_source_remove);
  lam_window_files_dispose (self);
  g_action_map_remove_action (G_ACTION_MAP (self), "workspace"); /* it holds the pages */
  lam_window_sequence_dispose (self);
  if (self->session != NULL)
    self->last = g_steal_pointer (&self->session);
  G_OBJECT_CLASS (lam_window_parent_class)->dispose (object);
}

/* Parts of the window hold the session too, and are told of its end by signals: they go first. */
static void
lam_window_finalize (GObject *object)
{
  g_autoptr (LamSession) last = g_steal_pointer (&LAM_WINDOW (object)->last);
  G_OBJECT_CLASS (lam_window_parent_class)->finalize (object);
}

static void
lam_window_class_init (LamWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_window_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_window_finalize;
  GTK_WINDOW_CLASS (klass)->close_request = lam_window_close_request;
  g_type_ensure (LAM_TYPE_RECONSTRUCT_PAGE);
  g_type_ensure (LAM_TYPE_SEQUENCE_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamWindow, name)
  BIND (toasts);
  BIND (stack);
  BIND (views);
  BIND (switcher);
  BIND (low_switcher);
  BIND (reconstruct);
  BIND (sequence);
  BIND (info_bar);
  BIND (info_label);
  BIND (question_bar);
  BIND (question_label);
  BIND (question_yes);
  BIND (question_no);
  BIND (question_other);
  BIND (open_button);
  BIND (run_button);
  BIND (pause_button);
  BIND (pause_image);
  BIND (stop_button);
  BIND (undo_button);
  BIND (redo_button);
  BIND (jobs_button);
  BIND (menu_button);
  BIND (jobs_list);
  BIND (jobs_popover);
  BIND (jobs_label);
  BIND (status_cursor);
  BIND (status_meaning);
  BIND (status_right);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, info_response_cb);
  lam_window_actions_class_init (widget_class);
}

static void
lam_window_init (LamWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lam_accessible_mend (GTK_WIDGET (self));
  GtkWidget *recent = gtk_widget_get_last_child (GTK_WIDGET (self->open_button));
  lam_accessible_name (recent, _ ("Recent scans and sessions"));
  lam_accessible_name (gtk_widget_get_first_child (recent), _ ("Recent scans and sessions"));
  g_signal_connect (self->jobs_popover, "show", G_CALLBACK (jobs_shown_cb), self);
  g_signal_connect (self->jobs_popover, "closed", G_CALLBACK (jobs_closed_cb), self);
  g_signal_connect (self->info_bar, "response", G_CALLBACK (info_response_cb), self);
  g_signal_connect (self->question_bar, "response", G_CALLBACK (question_response_cb), self);
  g_signal_connect (self->switcher, "notify::visible-child", G_CALLBACK (switcher_notify_cb), self);
  g_signal_connect (self->views, "notify::visible-child", G_CALLBACK (workspace_notify_cb), self);
  g_signal_connect (self, "notify::focus-widget", G_CALLBACK (focus_notify_cb), NULL);
}

GtkWidget *
lam_window_new (AdwApplication *application, LamSession *session)
{
  g_return_val_if_fail (LAM_IS_SESSION (session), NULL);
  LamWindow *self = g_object_new (LAM_TYPE_WINDOW, "application", application, NULL);
  set_session (self, session);
  return GTK_WIDGET (self);
}
