/* bloch-private.h: the program of a sequence (bloch-program.c), for bloch.c. */
#pragma once

#include "mr/bloch-kernels.h"
#include "mr/bloch.h"

G_BEGIN_DECLS

typedef struct {
  LamBlochProgram program;
  LamBlochOp *ops;
  GArray *pulses, *readouts; /* LamBlochPulse, LamBlochReadout; they own their arrays */
} LamBlochBuilt;

/* The largest that any isochromat has, so that no step of a pulse turns by more than 1 rad. */
typedef struct {
  double b0, b1, x, y, z;
} LamBlochReach;

/* The program up to the last sample that @params wants; of picks alone, numbered by their order, or of all. */
gboolean lam_bloch_build (LamBlochBuilt *out, const LamPulseqTiming *t, const LamBlochReach *reach,
                          const LamBlochParams *params, GError **error);
void lam_bloch_built_clear (LamBlochBuilt *b);

G_END_DECLS
