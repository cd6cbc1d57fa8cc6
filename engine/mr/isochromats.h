/* isochromats.h: the signal of a template's train as a sum of spins: each turned, wound and relaxed by itself, with Bloch's equations
 * and no orders. Beside EPG it says what orders that are left out cost; it agrees with them as the number of spins grows.
 * In double, spins in turn: the same bits everywhere. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "mr/model.h"

G_BEGIN_DECLS

typedef struct {
  int spins;         /* spread evenly over one winding; 1 where nothing winds; 0: 256 */
  double settle;     /* trains played until settled: largest change of a sample, relative to the peak; 0: 1e-6 */
  int most_playings; /* ... and how long at most; 0: 20000 */
} LamIsochromatOptions;

/* NULL: @m with these tissues can be played so. Else why not, in words; g_free (). Not there: closed forms, second and semisolid
 * pools, selective and multi-channel pulses, diffusion, flow and T2'. */
char *lam_isochromats_obstacle (LamModel *m, const LamTissues *tissues);

/* Any thread. @signal: as lam_model_simulate () gives it, re and im both. */
gboolean lam_isochromats_simulate (LamModel *m, const LamTissues *tissues, const LamIsochromatOptions *options,
                                   LamControl *control, LamSignal *signal, GError **error);

G_END_DECLS
