/* pulseq-read.h: opening a Pulseq file: text 1.2, 1.3, 1.4 and 1.5, binary 1.5.
 *
 * What cannot be read is an error with line and column; what can, and is odd, is a problem in the sequence's list, with
 * what was assumed. Numbers are read in the C locale. */
#pragma once

#include <glib.h>

#include "io/control.h"
#include "mr/pulseq.h"

G_BEGIN_DECLS

/* LAM_ERROR_IO: no such file; LAM_ERROR_FORMAT: not a Pulseq file, of a version that is not known, or broken;
 * LAM_ERROR_CANCELLED. @control may be NULL. */
LamPulseq *lam_pulseq_open (const char *path, const LamIoControl *control, GError **error);
/* The same from memory; @name stands for the path in messages. @text needs no end mark. */
LamPulseq *lam_pulseq_parse (const char *name, const char *text, gsize size, const LamIoControl *control,
                             GError **error);
/* Whether the file's first bytes look like Pulseq, text or binary. Never an error. */
gboolean lam_pulseq_file_is (const char *path);

G_END_DECLS
