/* The Bloch kernel built for scalar (meson gives this file its flags). */
#define LAM_BODY_SCALAR
#include "mr/bloch-body.h"

const LamBlochKernels lam_bloch_kernels_scalar = {
    .isa = "scalar",
    .run = run_scalar,
    .sincos = test_sincos_scalar,
    .decay = test_decay_scalar,
};
