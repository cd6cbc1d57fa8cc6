/* window-private.h: shared by window.c (what is shown), window-actions.c (the commands), window-files.c (files) and
 * window-sequence.c. */
#pragma once

#include "window.h"

G_BEGIN_DECLS

struct _LamWindow {
  AdwApplicationWindow parent_instance;
  LamSession *session;
  AdwToastOverlay *toasts;
  GtkStack *stack; /* Reconstruct's start page, or its workspace */
  AdwViewStack *views;
  AdwSqueezer *switcher; /* of the workspaces, where the header has room */
  GtkWidget *low_switcher;
  guint focus_source, switcher_source;
  GtkImage *pause_image;
  LamReconstructPage *reconstruct;
  LamSequencePage *sequence;
  LamSequenceSession *sequence_session; /* NULL until the workspace is first looked at */
  GVariant *sequence_state;             /* of a session that was opened before */
  guint sequence_source;                /* its edits are about to be told to the session */
  GtkInfoBar *info_bar;
  GtkLabel *info_label;
  GtkInfoBar *question_bar;
  GtkLabel *question_label;
  GtkButton *question_yes, *question_no;
  GtkWidget *question_other;
  GtkWidget *run_button, *pause_button, *stop_button, *undo_button, *redo_button;
  GtkMenuButton *jobs_button, *menu_button;
  GtkListBox *jobs_list;
  GtkWidget *jobs_popover;
  GtkWidget *jobs_label;
  GtkLabel *status_cursor, *status_meaning, *status_right;
  GtkFileChooserNative *chooser; /* while it is open */
  AdwSplitButton *open_button;
  GMenu *recent_scans, *recent_sessions, *recent_sequences;
  char *recent_path; /* the last one noted */
  gboolean use_recent;
  AdwToast *undo_toast;      /* of the last thing that can be undone; while it is there */
  gboolean closing;          /* the question about what would be lost is answered */
  gboolean close_after_run;  /* asked for while a run went */
  gboolean close_after_maps; /* ... while the Maps tab had a job, which was then dropped */
  guint close_source;
  LamSession *last; /* the session, until everything that shows it is gone */
};

/* The name of what is open where one looks. */
void lam_window_update_title (LamWindow *self);
/* From window-sequence.c: the other workspace. */
void lam_window_sequence_init (LamWindow *self);
void lam_window_sequence_dispose (LamWindow *self);
void lam_window_make_sequence (LamWindow *self);
/* Which workspace and tab is looked at. */
void lam_window_sequence_save_view (LamWindow *self, LamSessionView *view);
void lam_window_sequence_show_view (LamWindow *self, const LamSessionView *view);
/* Says in the status bar what the sequence's numbers mean. */
void lam_window_sequence_meaning (LamWindow *self);
/* The session is told of what was edited just now. */
void lam_window_sequence_flush (LamWindow *self);
/* Of the workspace that is looked at. */
LamUndo *lam_window_get_undo (LamWindow *self);

/* From window.c. What the button of the jobs says. */
void lam_window_update_jobs (LamWindow *self);

/* From window-actions.c. */
void lam_window_actions_class_init (GtkWidgetClass *klass);
void lam_window_actions_init (LamWindow *self);
void lam_window_update_actions (LamWindow *self);
/* Closes the window without asking again, as @dialog was answered. */
void lam_window_close_for (LamWindow *self, GtkWindow *dialog);
/* Asks what to do with the running job; TRUE = it asked, and the window stays. */
gboolean lam_window_ask_before_close (LamWindow *self);
/* What the window was to close after may have ended. */
void lam_window_close_if_asked (LamWindow *self);

/* From window-files.c. */
void lam_window_files_class_init (GtkWidgetClass *klass);
void lam_window_files_init (LamWindow *self);
void lam_window_files_dispose (LamWindow *self);
/* Asks before what no file has is lost with the window; TRUE = it asked. */
gboolean lam_window_ask_to_save (LamWindow *self);
void lam_window_locate_scan (LamWindow *self);
/* Something of the session's file, or of a sequence, is in no file. */
gboolean lam_window_has_edits (LamWindow *self);
/* The sequence's workspace is there: its files count too. */
void lam_window_follow_sequence (LamWindow *self);
/* What is open now is a recent file. */
void lam_window_note_recent (LamWindow *self);

/* The job of the Maps tab that runs now; NULL: none. */
LamJob *lam_window_get_maps_job (LamWindow *self);
/* Jobs of the Maps tab go on. */
gboolean lam_window_maps_busy (LamWindow *self);
/* Asks whether they are to be dropped with the window; TRUE = it asked. */
gboolean lam_window_ask_maps_before_close (LamWindow *self);

G_END_DECLS
