/* The EPG kernel bodies built for avx2 (meson gives this file its flags). */
#define LAM_BODY_AVX2
#include "mr/epg-reverse-body.h"
#include "mr/epg-tangent-body.h"

const LamEpgKernels lam_epg_kernels_avx2 = {
    .isa = "avx2",
    .values = values,
    .states = states,
    .jacobian_real = jacobian_real,
    .jacobian = jacobian,
    .gradient = gradient,
    .turn_round = turn_round,
};
