/* The EPG kernel bodies built for scalar (meson gives this file its flags). */
#include "mr/epg-reverse-body.h"
#include "mr/epg-tangent-body.h"

const LamEpgKernels lam_epg_kernels_scalar = {
    .isa = "scalar",
    .values = values,
    .states = states,
    .jacobian_real = jacobian_real,
    .jacobian = jacobian,
    .gradient = gradient,
    .turn_round = turn_round,
};
