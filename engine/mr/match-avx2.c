/* The matching kernel built for avx2 (meson gives this file its flags). */
#define LAM_BODY_AVX2
#include "mr/match-body.h"

const LamMatchKernels lam_match_kernels_avx2 = {.isa = "avx2", .match = match, .square = square};
