/* render-sequence.h: a Pulseq file as a picture: its events over time, and below them the signal of some tissues. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* --size, --from, --to, --part, --no-signal. */
extern const GOptionEntry lam_cli_render_sequence_entries[];
/* One of them was given. */
gboolean lam_cli_render_sequence_given (void);
/* The exit status. */
int lam_cli_render_sequence (const char *path, const char *output);

G_END_DECLS
