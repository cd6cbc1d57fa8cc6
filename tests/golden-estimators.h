/* golden-estimators.h: dictionaries, their bases and matching; the other estimators are reported as not built. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

void golden_estimators_add (hid_t file, GoldenTally *tally);

G_END_DECLS
