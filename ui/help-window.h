/* help-window.h: the pages of data/help, in a window with their list and a search. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define LAM_TYPE_HELP_WINDOW (lam_help_window_get_type ())
G_DECLARE_FINAL_TYPE (LamHelpWindow, lam_help_window, LAM, HELP_WINDOW, AdwWindow)

GtkWidget *lam_help_window_new (void);
/* The page of this name ("centre"); FALSE = there is none. */
gboolean lam_help_window_show_page (LamHelpWindow *self, const char *name);
const char *lam_help_window_get_page (LamHelpWindow *self);
/* Lists the pages that have @text in them, and marks it. */
void lam_help_window_search (LamHelpWindow *self, const char *text);
guint lam_help_window_get_n_listed (LamHelpWindow *self);

G_END_DECLS
