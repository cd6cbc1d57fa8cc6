#include "core/cpu-features.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const char *const names[] = {"scalar", "avx2", "avx512"};
static _Atomic int chosen = -1;

const char *
lam_isa_name (LamIsa isa)
{
  return names[isa];
}

gboolean
lam_isa_available (LamIsa isa)
{
#if defined(__x86_64__)
  __builtin_cpu_init ();
  switch (isa) {
  case LAM_ISA_AVX512:
    return __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq")
           && __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("avx512bw")
           && __builtin_cpu_supports ("fma");
  case LAM_ISA_AVX2:
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
  case LAM_ISA_SCALAR:
    return TRUE;
  }
#endif
  return isa == LAM_ISA_SCALAR;
}

static LamIsa
choose (void)
{
  const char *wanted = g_getenv ("LAMINA_ISA");
  if (wanted && *wanted) {
    for (int i = 0; i < (int) G_N_ELEMENTS (names); i++)
      if (g_str_equal (wanted, names[i])) {
        if (lam_isa_available (i))
          return i;
        g_message ("LAMINA_ISA=%s: this processor does not have it; the best one that it has is used", wanted);
        wanted = NULL;
        break;
      }
    if (wanted)
      g_message ("LAMINA_ISA=%s: expected scalar, avx2 or avx512; the best one is used", wanted);
  }
  for (int i = LAM_ISA_AVX512; i > LAM_ISA_SCALAR; i--)
    if (lam_isa_available (i))
      return i;
  return LAM_ISA_SCALAR;
}

LamIsa
lam_isa (void)
{
  int isa = atomic_load (&chosen);
  if (isa < 0) {
    isa = choose ();
    atomic_store (&chosen, isa);
  }
  return isa;
}

gboolean
lam_isa_force (LamIsa isa)
{
  if (!lam_isa_available (isa))
    return FALSE;
  atomic_store (&chosen, isa);
  return TRUE;
}

void
lam_fp_setup (void)
{
#if defined(__x86_64__)
  _mm_setcsr (_mm_getcsr () | 0x8040); /* flush to zero, denormals are zero */
#endif
}
