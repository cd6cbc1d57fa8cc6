/* match.h: which atom of a dictionary each voxel resembles most, and how much of it there is.
 *
 * <a, s> = sum conj (a) s; score |<a, s>| / (|a| |s|); scale <a, s> / |a|^2, a complex number: M0 = |scale| and the phase of
 * the receiver. Work is cut by voxels, and the dictionary goes through in pieces; what is kept of the scores is their
 * best alone. Close ones are settled in double, so that no cut, thread or device shows in a result. */
#pragma once

#include <glib.h>

#include "mr/dictionary.h"

G_BEGIN_DECLS

#define LAM_MATCH_MOST_TOP 28

typedef struct {
  int top;             /* atoms kept for each voxel, best first; 0: 1 */
  int rank;            /* > 0: both are projected on so many modes of the dictionary's basis first */
  const uint8_t *mask; /* [voxels], 0: left out; NULL: none is */
  int64_t chunk;       /* voxels at a time on a device; 0: from the memory at hand */
  int64_t piece;       /* atoms at a time on a device, in whole blocks of 32; 0: from the memory at hand */
  int64_t budget;      /* bytes for both, over all devices; 0: what is free less a reserve of 512 MiB */
} LamMatchOptions;

typedef enum {
  LAM_VOXEL_MATCHED,
  LAM_VOXEL_OUTSIDE,    /* of the mask */
  LAM_VOXEL_ZERO,       /* all its samples are 0 */
  LAM_VOXEL_NOT_FINITE, /* one of its samples is */
  LAM_VOXEL_NO_ATOM,    /* no atom has any likeness */
  LAM_VOXEL_STATES,
} LamVoxelState;

typedef struct {
  int64_t voxels;
  int top;
  int32_t *atom; /* [voxels][top]; -1: none */
  float *score;  /* [voxels][top] */
  /* Of the best, [voxels]; NAN where there is none. */
  float *scale_re, *scale_im;
  float *residual; /* |s - scale a| / |s| */
  uint8_t *state;  /* LamVoxelState */
  int64_t count[LAM_VOXEL_STATES];
  char *route;
} LamMatch;

/* @re, @im [voxels][contrasts]; @im NULL: real data. @match: all zero, or of an earlier call. LAM_ERROR_INVALID when
 * @contrasts is not the dictionary's, with both numbers; on an error @match is cleared. */
gboolean lam_match (const LamDictionary *d, const float *re, const float *im, int64_t voxels, int64_t contrasts,
                    const LamMatchOptions *options, LamDevices *devices, LamControl *control, LamMatch *match,
                    GError **error);
void lam_match_clear (LamMatch *match);
/* What lam_match () will take, from sizes alone; the dictionary and the data, which are there, are not in it. */
LamPlan *lam_match_plan (const LamDictionary *d, gboolean is_complex, int64_t voxels, const LamMatchOptions *options,
                         LamDevices *devices, GError **error);

/* A map of @match, [voxels]: a column of the dictionary ("T1"), "M0", "phase" (rad), "score", "residual"; NAN where
 * there is no match. FALSE: there is no such map. */
gboolean lam_match_map (const LamMatch *match, const LamDictionary *d, const char *name, float *map);

G_END_DECLS
