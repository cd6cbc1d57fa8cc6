#include "mr/match-kernels.h"

#include "core/cpu-features.h"

const LamMatchKernels *
lam_match_kernels (void)
{
#if defined(__x86_64__)
  switch (lam_isa ()) {
  case LAM_ISA_AVX512:
    return &lam_match_kernels_avx512;
  case LAM_ISA_AVX2:
    return &lam_match_kernels_avx2;
  case LAM_ISA_SCALAR:
    break;
  }
#endif
  return &lam_match_kernels_scalar;
}
