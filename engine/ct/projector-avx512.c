/* The kernel bodies built for avx512 (meson gives this file its flags). */
#define LAM_BODY_AVX512
#include "ct/projector-body.h"
#include "ct/prior-body.h"

const LamKernels lam_kernels_avx512 = {
    .isa = "avx512",
    .back = back_avx512,
    .forward = forward_avx512,
    .prior = prior_avx512,
    .dot = dot_avx512,
    .volume_sums = volume_sums_avx512,
    .direction = direction_avx512,
    .weigh = weigh_avx512,
    .damped = damped_avx512,
    .axpy = axpy_avx512,
    .multiply = multiply_avx512,
};
