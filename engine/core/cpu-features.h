/* cpu-features.h: which instruction set the kernels use: the best one that this processor has, or what LAMINA_ISA
 * asks for (scalar, avx2, avx512). Decided once, at the first question. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  LAM_ISA_SCALAR,
  LAM_ISA_AVX2,
  LAM_ISA_AVX512,
} LamIsa;

LamIsa lam_isa (void);
const char *lam_isa_name (LamIsa isa);
/* Whether this processor can run @isa. */
gboolean lam_isa_available (LamIsa isa);
/* For tests: use @isa from now on; FALSE when the processor cannot. */
gboolean lam_isa_force (LamIsa isa);
/* Denormals count as zero on this thread, as on every thread that computes (engine/core/order.h). */
void lam_fp_setup (void);

G_END_DECLS
