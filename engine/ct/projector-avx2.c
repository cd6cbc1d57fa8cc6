/* The kernel bodies built for avx2 (meson gives this file its flags). */
#define LAM_BODY_AVX2
#include "ct/projector-body.h"
#include "ct/prior-body.h"

const LamKernels lam_kernels_avx2 = {
    .isa = "avx2",
    .back = back_avx2,
    .forward = forward_avx2,
    .prior = prior_avx2,
    .dot = dot_avx2,
    .volume_sums = volume_sums_avx2,
    .direction = direction_avx2,
    .weigh = weigh_avx2,
    .damped = damped_avx2,
    .axpy = axpy_avx2,
    .multiply = multiply_avx2,
};
