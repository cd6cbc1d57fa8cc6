/* golden-design.h: golden checks of bounds and of optimised protocols. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

void golden_design_add (hid_t file, GoldenTally *tally);

G_END_DECLS
