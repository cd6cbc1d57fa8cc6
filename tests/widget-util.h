/* widget-util.h: a window on the test's own display, its pixels, and real events through xdotool. */
#pragma once

#include <gtk/gtk.h>

/* Initialises GTK and libadwaita; FALSE (and a TAP skip line) when there is no display. */
gboolean test_ui_init (int *argc, char ***argv);

/* A window of this size showing @child, drawn at least once. */
GtkWidget *test_present (GtkWidget *child, int width, int height);
void test_close (GtkWidget *window);
/* Runs the main loop until @done says so; fails after ten seconds. */
void test_wait (gboolean (*done) (gpointer), gpointer data);
void test_wait_frames (GtkWidget *widget, int frames);

/* The colour drawn at (x, y) of @widget, as 0xrrggbb. */
guint32 test_pixel (GtkWidget *widget, double x, double y);

gboolean test_have_xdotool (void);
/* Runs xdotool with the words of @format, the main loop going on meanwhile. */
void test_xdotool (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* (x, y) of @widget on the screen. */
void test_screen_point (GtkWidget *widget, double x, double y, int *screen_x, int *screen_y);
void test_focus_window (GtkWidget *window);
