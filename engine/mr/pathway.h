/* pathway.h: coherence pathways: how magnetisation gets to a state. A path is in one state after each event: transverse at an
 * order of either sign, or longitudinal; its amplitude is the product of what each pulse passes on and each wait leaves. A
 * state is the sum of all paths to it, with their phases; here the one of largest amplitude is found. */
#pragma once

#include "mr/states.h"

G_BEGIN_DECLS

typedef struct {
  int64_t first, n;     /* looks (LamStates.column) that it goes through: first, first + 1, ... */
  int *order;           /* [n], signed */
  gboolean *transverse; /* [n] */
  double amplitude;     /* with M0 */
  gboolean from_before; /* it begins in what the playing before left; else in equilibrium or in what recovered */
} LamPathway;

/* NULL: paths can be told; else why not, in words (more than one water, selective pulses, diffusion, too many events). */
const char *lam_pathway_obstacle (LamModel *m, const LamTissues *tissues, int train);
/* The strongest path to order @order (signed) of F, or of Z, after look @look of @states, which @m gave with the same numbers. FALSE:
 * none leads there. */
gboolean lam_pathway_find (LamModel *m, const LamTissues *tissues, int64_t voxel, int train, const LamStates *states,
                           int64_t look, int order, gboolean transverse, LamPathway *pathway);
void lam_pathway_clear (LamPathway *pathway);

G_END_DECLS
