/* vcd-private.h: between vcd.c and vcd-image.c. */
#pragma once

#include "ct/vcd.h"

typedef struct {
  double gd, hdd, abs;  /* -<g, d>, <hp, d d>, sum |d| */
  const double *square; /* [slices] sum d^2; of the LamVcd's host memory */
} LamVcdSums;

/* "subset sums": per chunk of pixels and own slice, four doubles; and what the host reads. */
int64_t lam_vcd_sums_bytes (const LamVcd *vcd, int d);
gboolean lam_vcd_take_sums (LamVcd *vcd, GError **error);

/* vcd->at_e = A^T e with the pending step taken, and from it vcd->d, vcd->g, vcd->hp at the listed pixels. */
gboolean lam_vcd_direction (LamVcd *vcd, const int32_t *pixel, int64_t n, float lambda, LamVcdSums *sums,
                            GError **error);
/* d = max (x * factor, d), and the sums of |d| and d^2 anew. */
gboolean lam_vcd_clip (LamVcd *vcd, const int32_t *pixel, int64_t n, float factor, LamVcdSums *sums, GError **error);
/* x += alpha d, and the halos of it; @repeats: a pixel may be listed twice. */
gboolean lam_vcd_update (LamVcd *vcd, const int32_t *pixel, int64_t n, float alpha, gboolean repeats, GError **error);
