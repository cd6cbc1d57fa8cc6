/* session-util.h: a session on a scan of the folder of cli-util.h, driven as the window drives it. */
#pragma once

#include "model/session.h"

G_BEGIN_DECLS

/* "NAME" in the folder: a tooth of 64 x 64 x 8, 80 views. */
void session_make_scan (const char *name);
/* A session that opens it; an error ends the test. */
LamSession *session_open_scan (const char *name);
void session_failed_cb (LamSession *session, GError *error, gpointer data);

/* Runs the main loop until @done says so; fails after twenty seconds. */
void session_wait_for (gboolean (*done) (LamSession *), LamSession *session);
gboolean session_has_data (LamSession *session);
gboolean session_asks (LamSession *session);
gboolean session_is_ready (LamSession *session);
gboolean session_is_saved (LamSession *session);
/* Lets what is on its way arrive. */
void session_let_settle (void);

LamParameter *session_parameter (LamSession *session, const char *id);
void session_set (LamSession *session, const char *id, GVariant *value);

/* Runs and saves; the file's checksum. */
char *session_run_and_save (LamSession *session, const char *name);
/* That of "lamina reconstruct" with @options. */
char *session_line_checksum (const char *options);

/* Nobody else has it, once a look into the state folder that is still under way has come back. */
void session_assert_ends (LamSession *session);

G_END_DECLS
