/* tissue-quantity.h: the quantities that the EPG engine knows. Plain C, for kernels too. */
#pragma once

/* The quantities that the EPG engine knows, in the order of spec section 2.11. Pool p = 0 … 3 is B … E. */
typedef enum {
  LAM_T1,
  LAM_T2,
  LAM_M0,
  LAM_M0_IMAG,
  LAM_B1,
  LAM_B1_PHASE,
  LAM_B0,
  LAM_INV_EFFICIENCY,
  LAM_DIFFUSION,
  LAM_VELOCITY,
  LAM_BOUND_FRACTION,
  LAM_BOUND_EXCHANGE,
  LAM_BOUND_T1,
  LAM_POOL_FRACTION, /* + 5 p, and so the four that follow */
  LAM_POOL_EXCHANGE,
  LAM_POOL_T1,
  LAM_POOL_T2,
  LAM_POOL_SHIFT,
  LAM_T2_PRIME = LAM_POOL_FRACTION + 20,
  LAM_TISSUE_QUANTITIES,
} LamTissueQuantity;

#define LAM_POOLS 4
