/* desk.h: the real program on a screen, with a person's means only: pointer, keys, and what can be seen. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A part of the screen; the program's window lies at 0, 0. */
typedef struct {
  int x, y, width, height;
} DeskRect;

typedef struct _Desk Desk;

/* FALSE with a reason when there is no display or no xdotool. */
gboolean desk_can (const char **why);
/* Starts `lamina-gtk` (LAMINA_GTK_BIN) with @arguments and what it says kept; waits for its window. */
Desk *desk_start (const char *arguments);
/* SIGKILL, as a crash; then desk_free (). */
void desk_kill (Desk *desk);
/* Waits for the program to end by itself, without a word of GLib's warnings. */
void desk_wait_end (Desk *desk);
void desk_free (Desk *desk);

/* xdotool with these words. */
void desk_do (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* Types @text and Enter into the dialog that @key opens. */
void desk_dialog (Desk *desk, const char *key, const char *text);
/* Presses @answer in the question that @key brings. */
void desk_answer (Desk *desk, const char *key, const char *answer);
void desk_focus (Desk *desk);

/* Waits until the program has said @text since the last such wait; the line from there on. g_free (). */
char *desk_wait_said (Desk *desk, const char *text);
gboolean desk_said (Desk *desk, const char *text); /* ever */

/* The middle of the first square of @size pixels that has this colour; waits for it. */
void desk_wait_colour (DeskRect in, guint32 rgb, int size, int *x, int *y);
gboolean desk_find_colour (DeskRect in, guint32 rgb, int size, int *x, int *y);
/* A number of what is seen there; another picture, another number. */
guint64 desk_look (DeskRect at);
int desk_colours (DeskRect at); /* how many different ones */
void desk_wait_change (DeskRect at, guint64 from);
void desk_wait_calm (DeskRect at); /* the same for half a second */
/* The screen as NAME.png in the build folder. */
void desk_picture (const char *name);

G_END_DECLS
