/* window.h: the one window: commands as actions, the workspaces, toasts, standing problems and the jobs. */
#pragma once

#include <adwaita.h>

#include "model/session.h"
#include "reconstruct-page.h"
#include "sequence-page.h"

G_BEGIN_DECLS

#define LAM_TYPE_WINDOW (lam_window_get_type ())
G_DECLARE_FINAL_TYPE (LamWindow, lam_window, LAM, WINDOW, AdwApplicationWindow)

/* Actions: open, open-recent (uri), open-example, save, save-result (index), save-session, save-session-as, close-sequence, import-sheet, run,
 * pause, run-or-pause, stop, stop-keep, discard, workspace (name), undo, redo, find-center, apply-preparation, sidebar, fullscreen,
 * level-auto, level-full, level-reset, fit, next-pane, previous-pane, jobs. */
GtkWidget *lam_window_new (AdwApplication *application, LamSession *session);
LamSession *lam_window_get_session (LamWindow *self);
LamReconstructPage *lam_window_get_reconstruct_page (LamWindow *self);
LamSequencePage *lam_window_get_sequence_page (LamWindow *self);
/* "reconstruct" or "sequence". */
gboolean lam_window_shows_sequence (LamWindow *self);
void lam_window_show_workspace (LamWindow *self, const char *name);
LamSequenceSession *lam_window_get_sequence_session (LamWindow *self);
void lam_window_open_file (LamWindow *self, GFile *file);
/* By its name: it will be opened in the Sequence workspace. */
gboolean lam_window_is_sequence (GFile *file);
void lam_window_toast (LamWindow *self, const char *text);

G_END_DECLS
