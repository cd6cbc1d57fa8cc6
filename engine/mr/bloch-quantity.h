/* bloch-quantity.h: what a Bloch simulation can be derived by. Plain C, for kernels too. */
#pragma once

/* Voxel quantities, each by one unit: ms, ms, 1, Hz, 1, m, m, m. */
typedef enum {
  LAM_BLOCH_T1,
  LAM_BLOCH_T2,
  LAM_BLOCH_M0,
  LAM_BLOCH_B0,
  LAM_BLOCH_B1,
  LAM_BLOCH_X,
  LAM_BLOCH_Y,
  LAM_BLOCH_Z,
  LAM_BLOCH_QUANTITIES,
} LamBlochQuantity;
