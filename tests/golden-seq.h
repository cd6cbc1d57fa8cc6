/* golden-seq.h: golden checks of the group "seq": what .seq files say, and the signal of their isochromats. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

/* Every group of @file/seq; its .seq file is looked for in $LAMINA_SEQ_DIR, or ../shared/data/mr. */
void golden_seq_add (hid_t file, GoldenTally *tally);
/* The path of a .seq file there; g_free (). */
char *golden_seq_path (const char *name);

G_END_DECLS
