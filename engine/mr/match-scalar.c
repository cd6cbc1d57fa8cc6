/* The matching kernel built for scalar (meson gives this file its flags). */
#include "mr/match-body.h"

const LamMatchKernels lam_match_kernels_scalar = {.isa = "scalar", .match = match, .square = square};
