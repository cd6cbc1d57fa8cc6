/* window-util.h: the program's window on the test's own display, with a made-up run or the bundled example in it. */
#pragma once

#include "window.h"

/* Before any test: GTK and the application, one a process; FALSE (and a TAP skip line) when there is no display. */
gboolean window_init (int *argc, char ***argv);
/* Runs the tests and ends the application: what main () returns. */
int window_test_run (void);

GtkWidget *window_new (void);
/* Nobody else has it or its session. */
void window_close (GtkWidget *window);
/* What a run would have put there: a tooth of WINDOW_SIDE squared. */
void window_fill (GtkWidget *window);
#define WINDOW_SIDE 320
/* A window with the bundled example, set to so many iterations. */
GtkWidget *window_new_example (int iterations);
void window_run_once (GtkWidget *window);

/* A file with the example's scan of 128 views, one channel of which reads too much: a ring. g_free (). */
char *window_write_scan (void);
void window_remove_scan (const char *path);

/* Actions of the class are seen through the widget only. */
void window_activate (GtkWidget *window, const char *action);
/* A PNG of it in the build folder. */
void window_save_picture (GtkWidget *window, const char *name);
/* The first of this type below @widget. */
GtkWidget *window_find (GtkWidget *widget, GType type);

/* For test_wait (), of a LamSession. */
gboolean window_is_ready (gpointer session);
gboolean window_has_picture (gpointer session);
gboolean window_has_iteration (gpointer session);
gboolean window_is_current (gpointer session); /* the picture is */

const LamSnapshotInfo *window_picture (LamSession *session);
