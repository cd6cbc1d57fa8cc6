/* bloch-util.h: sequences and voxels for tests of the Bloch integrator. */
#pragma once

#include "mr/bloch.h"

G_BEGIN_DECLS

#define BLOCH_HEAD                                                                                                     \
  "[VERSION]\nmajor 1\nminor 5\nrevision 1\n[DEFINITIONS]\nAdcRasterTime 1e-07\nBlockDurationRaster 1e-05\n"           \
  "GradientRasterTime 1e-05\nRadiofrequencyRasterTime 1e-06\n"
/* Block pulses of 10 us: magnitude, phase, times. A quarter turn is 25 kHz. */
#define BLOCH_SHAPES                                                                                                   \
  "[SHAPES]\nshape_id 1\nnum_samples 2\n1\n1\nshape_id 2\nnum_samples 2\n0\n0\nshape_id 3\nnum_samples 2\n0\n10\n"

/* Must be without errors. */
LamPulseq *bloch_parse (const char *text);
LamBlochParams bloch_params (int64_t voxels);

/* A file with all there is, in many odd voxels. */
typedef struct {
  LamPulseq *s;
  double field[8][77], spin[5][5];
  LamBlochParams p;
} BlochMixed;

void bloch_mixed_init (BlochMixed *m);

/* The text of a train: a free decay of 4 samples without a gradient, then pulses of varying flip, each with a readout of 9 samples
 * under a gradient (its middle one at k = 0) and half a winding of spoiling. @ppm: an offset needs the field. g_free (). */
char *bloch_train (int pulses, gboolean ppm);

G_END_DECLS
