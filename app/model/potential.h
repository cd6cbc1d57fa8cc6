/* potential.h: the prior's potential as a curve that follows p, q and T (ct/prior.h). */
#pragma once

#include "model/parameter-list.h"
#include "model/series.h"

G_BEGIN_DECLS

/* x: difference of two neighbours over sigma_x; columns: rho, and the parabola d^p / p that it begins as, where it is not
 * above the picture. Follows @list as long as both live. */
LamSeries *lam_potential_new (LamParameterList *list);

G_END_DECLS
