/* golden-tools.h: golden checks of geometry, automatic regularisation, phantoms and the small tools. */
#pragma once

#include "golden.h"

G_BEGIN_DECLS

void golden_auto_geometry (hid_t file, GoldenTally *tally);
void golden_auto_regularization (hid_t file, GoldenTally *tally);
void golden_phantom (hid_t file, GoldenTally *tally);
/* transmission, weights and the parts of corrections that are built, stripes among them. */
void golden_tools (hid_t file, GoldenTally *tally);

G_END_DECLS
