/* pulseq-problems.h: what is wrong with a sequence in words: what its reader found, and limits that it breaks. */
#pragma once

#include <gio/gio.h>

#include "model/sequence-file.h"
#include "mr/limits.h"

G_BEGIN_DECLS

/* Fills @list with LamSequenceProblem. @report may be NULL. */
void lam_pulseq_problems_fill (GListStore *list, const LamSequenceFile *file, const LamLimitReport *report);
/* "slew rate Gx: 190 T/m/s, limit 170 T/m/s". g_free (). */
char *lam_pulseq_breach_text (const LamBreach *breach);
/* "slew rate 190 T/m/s at 2.31 s (block 924)". g_free (). */
char *lam_pulseq_breach_line (const LamSequenceFile *file, const LamBreach *breach);

G_END_DECLS
