/* spins.h: where the isochromats of a Pulseq file's voxels are: --spins, --voxel-size, --position, --field. */
#pragma once

#include "mr/bloch-model.h"
#include "mr/bloch.h"
#include "mr/tissue.h"

G_BEGIN_DECLS

extern const GOptionEntry lam_cli_spins_entries[];
/* One of them was given: its name; else NULL. */
const char *lam_cli_spins_given (void);

/* Tissues at positions: what lam_bloch_new () is given, and keeps. */
typedef struct {
  LamBlochParams params;
  GStrv labels;
  double *room;      /* of the arrays of params */
  double size_mm[3]; /* what the spins of a voxel fill */
} LamCliSpins;

/* The same for a model, whose voxels are all at one position. */
gboolean lam_cli_spins_options (LamBlochModelOptions *o, GError **error);
/* Every tissue of @t at every position; @labels are those of @t. */
gboolean lam_cli_spins_read (LamCliSpins *s, const LamTissues *t, GStrv labels, GError **error);
void lam_cli_spins_clear (LamCliSpins *s);
/* "32 spins through 1 x 1 x 5 mm in each voxel" */
void lam_cli_spins_say (const LamCliSpins *s);

G_END_DECLS
