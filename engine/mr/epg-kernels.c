/* epg-kernels.c: the one place where an EPG kernel table is chosen. */
#include "mr/epg-kernels.h"

#include "core/cpu-features.h"

const LamEpgKernels *
lam_epg_kernels (void)
{
#if defined(__x86_64__)
  switch (lam_isa ()) {
  case LAM_ISA_AVX512:
    return &lam_epg_kernels_avx512;
  case LAM_ISA_AVX2:
    return &lam_epg_kernels_avx2;
  case LAM_ISA_SCALAR:
    break;
  }
#endif
  return &lam_epg_kernels_scalar;
}

int64_t
lam_epg_plane (const LamEpgProgram *p)
{
  int64_t kept = p->orders + 2 * LAM_EPG_MARGIN;
  return lam_round_up (kept * LAM_EPG_WIDTH, 4096 / 4) + 2 * LAM_ALIGN / 4;
}

int64_t
lam_epg_scratch (const LamEpgProgram *p)
{
  int64_t planes = 6 * (p->waters + p->semisolid), kept = p->orders + 2 * LAM_EPG_MARGIN;
  int64_t vectors = 4 * p->durations + 2 * p->factors + 2 * p->pulses + (p->ordered ? 6 * kept : 0)
                    + (p->playings == 0 ? 2 * p->samples + planes * p->orders : 0);
  return 2 * planes * lam_epg_plane (p) + LAM_EPG_HALF_PAGE + vectors * LAM_EPG_WIDTH;
}

int64_t
lam_epg_scratch_real (const LamEpgProgram *p, int n)
{
  return lam_epg_scratch (p) + (int64_t) n * 3 * 2 * (lam_epg_plane (p) + LAM_EPG_HALF_PAGE);
}

/* A state of the staged kernels: all planes, all orders. */
static int64_t
state (const LamEpgProgram *p, int64_t orders)
{
  return 6 * (p->waters + p->semisolid) * orders * LAM_EPG_WIDTH;
}

static int64_t
tables (const LamEpgProgram *p)
{
  return (2 * p->durations + 2 * p->factors + 2 * p->pulses + 6 * (p->orders + 2 * LAM_EPG_MARGIN)) * LAM_EPG_WIDTH;
}

int64_t
lam_epg_scratch_forward (const LamEpgProgram *p, int n)
{
  return tables (p) + (n + 2) * (state (p, p->orders) + state (p, LAM_EPG_MARGIN + 1));
}

int64_t
lam_epg_scratch_reverse (const LamEpgProgram *p)
{
  int64_t passes = p->passes * p->playings, segments = (passes + LAM_EPG_SEGMENT - 1) / LAM_EPG_SEGMENT;
  return tables (p) + (segments + LAM_EPG_SEGMENT + 6) * state (p, p->orders) + 6 * state (p, LAM_EPG_MARGIN + 1);
}
