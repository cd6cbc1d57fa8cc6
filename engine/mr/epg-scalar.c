/* The EPG kernel bodies built for scalar (meson gives this file its flags). */
#include "mr/epg-body.h"

const LamEpgKernels lam_epg_kernels_scalar = {
    .isa = "scalar",
    .values = values,
    .turn_round = turn_round,
};
