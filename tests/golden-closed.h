/* golden-closed.h: golden checks of the closed forms. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

void golden_closed_add (hid_t file, GoldenTally *tally);
void golden_mp2rage_add (hid_t file, GoldenTally *tally);

G_END_DECLS
