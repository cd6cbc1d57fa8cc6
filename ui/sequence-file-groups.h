/* sequence-file-groups.h: what the sidebar shows of a Pulseq file in the template's place. */
#pragma once

#include <gtk/gtk.h>

#include "model/sequence-session.h"

G_BEGIN_DECLS

/* Name, version, signature, counts, what was assumed and what is not simulated; [Close File]. */
GtkWidget *lam_sequence_file_facts_new (LamSequenceSession *session);
/* How Bloch's equations are played, and what the scanner can do. */
GtkWidget *lam_sequence_file_settings_new (LamSequenceSession *session);
/* A line that is seen while a file is opened: which, how far, [Cancel]. */
GtkWidget *lam_opening_line_new (LamPulseqModel *model);

G_END_DECLS
