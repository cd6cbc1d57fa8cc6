/* The matching kernel built for avx512 (meson gives this file its flags). */
#define LAM_BODY_AVX512
#include "mr/match-body.h"

const LamMatchKernels lam_match_kernels_avx512 = {.isa = "avx512", .match = match, .square = square};
