/* kernels-cpu.c: the one place where a kernel table is chosen. */
#include "core/cpu-features.h"
#include "ct/kernels.h"

const LamKernels *
lam_kernels (void)
{
#if defined(__x86_64__)
  switch (lam_isa ()) {
  case LAM_ISA_AVX512:
    return &lam_kernels_avx512;
  case LAM_ISA_AVX2:
    return &lam_kernels_avx2;
  case LAM_ISA_SCALAR:
    break;
  }
#endif
  return &lam_kernels_scalar;
}
