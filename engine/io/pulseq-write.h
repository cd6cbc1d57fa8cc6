/* pulseq-write.h: a sequence back into a text file of Pulseq 1.4 or 1.5.
 *
 * All that was read is written: events with their ids, definitions, extensions and sections that are not known, numbers
 * so that they read back the same. The file replaces another one whole or not at all. What a version cannot hold is an
 * error where it would change what is played, and told where it would not. */
#pragma once

#include <glib.h>

#include "io/control.h"
#include "mr/pulseq.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PULSEQ_SIGN,      /* with the digest of what is written */
  LAM_PULSEQ_SIGN_KEEP, /* with the signature that the sequence has, letter for letter */
  LAM_PULSEQ_SIGN_NOT,
} LamPulseqSign;

/* Writes version 1.@minor (4 or 5). @told, when not NULL, gets what was changed or left out, texts in an array for
 * g_ptr_array_unref (). @hash, when not NULL, gets the digest that was written (g_free); lam_pulseq_signed () then tells
 * the sequence. LAM_ERROR_INVALID: this version cannot hold it; LAM_ERROR_IO; LAM_ERROR_CANCELLED. */
gboolean lam_pulseq_write (const LamPulseq *seq, const char *path, int minor, LamPulseqSign sign,
                           const LamIoControl *control, GPtrArray **told, char **hash, GError **error);

G_END_DECLS
