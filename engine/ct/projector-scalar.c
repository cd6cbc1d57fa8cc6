/* The kernel bodies built for scalar (meson gives this file its flags). */
#define LAM_BODY_SCALAR
#include "ct/projector-body.h"
#include "ct/prior-body.h"

int64_t
lam_kernel_scratch (const LamProjectorGeometry *g)
{
  return lam_round_up ((int64_t) sizeof (Scratch) + 2 * column_floats_scalar (g) * (int64_t) sizeof (float), LAM_ALIGN);
}

const LamKernels lam_kernels_scalar = {
    .isa = "scalar",
    .back = back_scalar,
    .forward = forward_scalar,
    .prior = prior_scalar,
    .dot = dot_scalar,
    .volume_sums = volume_sums_scalar,
    .direction = direction_scalar,
    .weigh = weigh_scalar,
    .damped = damped_scalar,
    .axpy = axpy_scalar,
    .multiply = multiply_scalar,
};
