/* voxel-fit.h: one voxel of a match: its samples, the best atom scaled to them, and what lies near in the dictionary. */
#pragma once

#include "core/control.h"
#include "model/maps-data.h"

G_BEGIN_DECLS

#define LAM_VOXEL_FIT_MOST 4  /* atoms that are drawn: the best and its nearest rivals */
#define LAM_VOXEL_FIT_SIDE 96 /* cells of the picture of the likeness along an axis, at most */

typedef struct {
  LamMapsResult *result;
  int64_t serial; /* of who asked */
  int64_t voxel, slice, row, column;
  LamVoxelState state;
  int64_t samples; /* 0: of maps that a session kept, without their series */
  /* Magnitudes where atoms have two parts; else the voxel with its phase taken off, along the atom. [samples]. */
  gboolean magnitude;
  double *data, *rest; /* rest: what lies across the atom's phase; NULL with magnitudes */
  int atoms;           /* by score, best first */
  int32_t atom[LAM_VOXEL_FIT_MOST];
  double score[LAM_VOXEL_FIT_MOST];
  double *fit[LAM_VOXEL_FIT_MOST]; /* scaled to the voxel, as data is */
  double m0, phase, residual;      /* of the best */
  /* The best score of all atoms at each T1 (or what the dictionary's first column is) and T2 (second); NAN where there is
   * none. [ny][nx], x the first. 0 x 0: the dictionary has one column. */
  int nx, ny;
  const char *x_name, *y_name, *x_unit, *y_unit;
  double *x, *y; /* of the cells, ascending */
  float *likeness;
  int best_x, best_y;
} LamVoxelFit;

/* Why a voxel has no match, as N_ () texts by its state. */
extern const char *const lam_voxel_why[LAM_VOXEL_STATES];

/* Any thread. NULL with LAM_ERROR_CANCELLED when *@newest is no longer @serial. */
LamVoxelFit *lam_voxel_fit_new (LamMapsResult *result, int64_t slice, int64_t row, int64_t column,
                                const _Atomic int64_t *newest, int64_t serial, GError **error);
void lam_voxel_fit_free (LamVoxelFit *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamVoxelFit, lam_voxel_fit_free)

/* "voxel 12, 30, 1" and all that was found there, in words; g_free (). */
char *lam_voxel_fit_describe (const LamVoxelFit *f);

G_END_DECLS
