/* The Bloch kernel built for avx2 (meson gives this file its flags). */
#define LAM_BODY_AVX2
#include "mr/bloch-body.h"

const LamBlochKernels lam_bloch_kernels_avx2 = {
    .isa = "avx2",
    .run = run_avx2,
    .sincos = test_sincos_avx2,
    .decay = test_decay_avx2,
};
