/* The Bloch kernel built for avx512 (meson gives this file its flags). */
#define LAM_BODY_AVX512
#include "mr/bloch-body.h"

const LamBlochKernels lam_bloch_kernels_avx512 = {
    .isa = "avx512",
    .run = run_avx512,
    .sincos = test_sincos_avx512,
    .decay = test_decay_avx512,
};
