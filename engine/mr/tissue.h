/* tissue.h: what the voxels are made of: named quantities, each one value for all or one for each voxel. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "mr/tissue-quantity.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;  /* as in files and on the command line: "T1", "poolB_fraction" */
  const char *unit;  /* "ms", "Hz", "" */
  const char *title; /* "Longitudinal relaxation" */
  double absent;     /* the value where none is given; NAN: must be given */
  double least, most;
} LamTissueInfo;

typedef struct _LamTissues LamTissues;

const LamTissueInfo *lam_tissue_info (LamTissueQuantity q);
/* Also finds the names of the closed forms' own quantities ("T2star", "CBF"); NULL: unknown. */
const LamTissueInfo *lam_tissue_find (const char *name);
/* -1 for a name that is none of LamTissueQuantity. */
int lam_tissue_quantity (const char *name);

LamTissues *lam_tissues_new (int64_t voxels);
LamTissues *lam_tissues_ref (LamTissues *t);
void lam_tissues_unref (LamTissues *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamTissues, lam_tissues_unref)

int64_t lam_tissues_voxels (const LamTissues *t);
/* @n is 1 or the number of voxels; copied. Refused: an unknown name, a value out of its range or not finite (T1, T2 and
 * T2prime may be infinite), with the voxel. */
gboolean lam_tissues_set (LamTissues *t, const char *name, const double *values, int64_t n, GError **error);
gboolean lam_tissues_set_value (LamTissues *t, const char *name, double value, GError **error);
/* NULL where nothing was given. @n: 1 or the number of voxels. */
const double *lam_tissues_get (const LamTissues *t, const char *name, int64_t *n);
const double *lam_tissues_quantity (const LamTissues *t, LamTissueQuantity q, int64_t *n);
/* The value at @voxel, or what absence means. */
double lam_tissues_at (const LamTissues *t, LamTissueQuantity q, int64_t voxel);
double lam_tissues_named_at (const LamTissues *t, const char *name, int64_t voxel);
/* What was given, sorted by nothing: names until NULL, for lists. */
const char *const *lam_tissues_names (const LamTissues *t);

/* Transmit channels: B1_c exp (i B1phase_c) for each channel and voxel, @b1 and @phase are [channels][voxels]. */
gboolean lam_tissues_set_channels (LamTissues *t, int channels, const double *b1, const double *phase_rad,
                                   GError **error);
int lam_tissues_channels (const LamTissues *t);
const double *lam_tissues_channel_b1 (const LamTissues *t, int channel);
const double *lam_tissues_channel_phase (const LamTissues *t, int channel);

G_END_DECLS
