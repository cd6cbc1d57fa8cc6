/* pulseq.h: what `info' and `convert' do with Pulseq files. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether @path is a Pulseq file, or is named as one: then its reader says what is wrong with it. */
gboolean lam_cli_pulseq_is (const char *path);
/* Says what is in the file; the exit status. */
int lam_cli_show_pulseq (const char *path);
/* Writes @in as version 1.@minor to @out; @minor 0: that of @in, or the nearest that is written. */
gboolean lam_cli_convert_pulseq (const char *in, const char *out, int minor, GError **error);

G_END_DECLS
