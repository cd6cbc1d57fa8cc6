/* placement.h: who owns what along a cut axis. The only record of layout: nothing else computes an owner. */
#pragma once

#include <glib.h>

#include "core/device.h"
#include "core/types.h"

G_BEGIN_DECLS

typedef struct {
  int64_t size;    /* real length of the axis */
  int64_t unit;    /* ranges begin and end at multiples of it (or at the end) */
  int64_t largest; /* length of the longest shard */
  int64_t halo;    /* neighbouring indices kept beside each shard */
  int devices;
  LamRange range[LAM_MAX_DEVICES]; /* may be empty: more devices than units is legal */
} LamPlacement;

/* As even as @unit allows, earlier devices first. */
LamPlacement lam_placement_split (int64_t size, int64_t unit, int64_t halo, int devices);
/* Which device owns @index. */
int lam_placement_owner (const LamPlacement *p, int64_t index);
static inline int64_t
lam_placement_count (const LamPlacement *p, int device)
{
  return lam_range_size (p->range[device]);
}

G_END_DECLS
