/* window-private.h: shared by window.c (what is shown) and window-actions.c (the commands). */
#pragma once

#include "window.h"

G_BEGIN_DECLS

struct _LamWindow {
  AdwApplicationWindow parent_instance;
  LamSession *session;
  AdwToastOverlay *toasts;
  GtkStack *stack; /* start page, or the workspaces */
  AdwViewStack *views;
  AdwWindowTitle *title;
  guint focus_source;
  GtkImage *pause_image;
  LamReconstructPage *reconstruct;
  GtkInfoBar *info_bar;
  GtkLabel *info_label;
  GtkInfoBar *question_bar;
  GtkLabel *question_label;
  GtkButton *question_yes, *question_no;
  GtkWidget *run_button, *pause_button, *stop_button, *undo_button, *redo_button;
  GtkMenuButton *jobs_button, *menu_button;
  GtkListBox *jobs_list;
  GtkWidget *jobs_label;
  GtkLabel *status_cursor, *status_meaning, *status_right;
  GtkFileChooserNative *chooser; /* while it is open */
  gboolean closing;              /* the question about a running job is answered */
};

/* From window-actions.c. */
void lam_window_actions_class_init (GtkWidgetClass *klass);
void lam_window_actions_init (LamWindow *self);
void lam_window_update_actions (LamWindow *self);
/* Asks what to do with the running job; TRUE = it asked, and the window stays. */
gboolean lam_window_ask_before_close (LamWindow *self);

G_END_DECLS
