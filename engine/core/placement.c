#include "core/placement.h"

LamPlacement
lam_placement_split (int64_t size, int64_t unit, int64_t halo, int devices)
{
  LamPlacement p = {.size = size, .unit = unit, .halo = halo, .devices = devices};
  int64_t units = (size + unit - 1) / unit, at = 0;
  for (int d = 0; d < devices; d++) {
    int64_t share = units / devices + (d < units % devices);
    p.range[d] = (LamRange){LAM_MIN (at * unit, size), LAM_MIN ((at + share) * unit, size)};
    p.largest = LAM_MAX (p.largest, lam_range_size (p.range[d]));
    at += share;
  }
  return p;
}

int
lam_placement_owner (const LamPlacement *p, int64_t index)
{
  for (int d = 0; d < p->devices; d++)
    if (index >= p->range[d].begin && index < p->range[d].end)
      return d;
  return -1;
}
