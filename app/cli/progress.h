/* progress.h: how far a command is, and Ctrl+C.
 *
 * On a terminal a bar on stderr, redrawn ten times a second at most; else a plain line a phase, and none with --json.
 * The first Ctrl+C (SIGINT, SIGTERM, SIGHUP) cancels; while lam_cli_keep () is on it stops and keeps, and the second
 * cancels. The one after that ends the program at once. Before the command has asked for its control, and in a command
 * that never does, the first one ends the program with the exit status of a cancelled one. */
#pragma once

#include "core/control.h"
#include "io/control.h"

G_BEGIN_DECLS

/* First thing in main (). SIGHUP stays ignored where it is (nohup). */
void lam_cli_catch_signals (void);
/* The control of this process; from the first call on signals go to it. */
LamControl *lam_cli_control (void);
/* The same for reading and writing files. */
const LamIoControl *lam_cli_io (void);
void lam_cli_keep (gboolean keep);
/* FALSE with LAM_ERROR_CANCELLED when it did and cancels; for between two steps of a command. */
gboolean lam_cli_go_on (GError **error);

/* Takes the bar away, so that a line can be printed; it comes back with the next progress. */
void lam_cli_progress_clear (void);

G_END_DECLS
