/* simulate.h: signals of a sequence for many voxels, over the devices. Work is cut by voxels: a device owns a range of them
 * and takes it in chunks; in a chunk the pool's threads take groups of LAM_EPG_WIDTH. Voxels never meet, so no cut
 * shows in a result. A voxel's copies across the slice stay together. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "core/device.h"
#include "core/plan.h"
#include "mr/program.h"
#include "mr/route.h"
#include "mr/tissue.h"

G_BEGIN_DECLS

typedef struct {
  int positions;     /* across the slice, evenly over +-extent/2 slice thicknesses; 0, 1: its centre alone */
  double extent;     /* slice thicknesses; 0: 2 */
  double settle;     /* trains played until settled: the residual asked for; 0: 1e-6 */
  int most_playings; /* ... and how long at most; 0: 20000 */
  LamRoute route;    /* LAM_ROUTE_AUTO unless asked for */
  int64_t chunk;     /* voxels at a time on a device; 0: from the memory at hand */
  int64_t budget;    /* bytes for chunks, over all devices; 0: what is free less a reserve of 512 MiB */
  gboolean parity_diffusion;
} LamSimulateOptions;

/* Samples of all voxels, [voxels][samples]; re or im is NULL where the train makes it 0 for every voxel. */
typedef struct {
  int64_t voxels, samples;
  float *re, *im;   /* lam_free () */
  int64_t capacity; /* floats that re and im hold */
  gboolean real_path;
  int played;      /* playings of the longest voxel */
  double residual; /* trains played until settled: estimated distance from it, relative to the peak */
  int orders;
  char *route; /* "here", or "4 devices, chunks of 1024 voxels" */
} LamSignal;

/* What the kernels will do; decided by the whole problem alone. */
typedef struct {
  LamEpgProgram program;
  int64_t voxels; /* lanes in all: voxels x positions */
  int positions;
  gboolean have_re, have_im;
} LamSimulation;

/* @signal: all zero, or what an earlier call filled: its memory is used again where it fits. */
gboolean lam_simulate (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                       LamDevices *devices, LamControl *control, LamSignal *signal, GError **error);
void lam_signal_clear (LamSignal *signal);
/* What lam_simulate () will take, from sizes alone: a device's chunk and states, and the signal on the host. NULL with an error. */
LamPlan *lam_simulate_plan (LamProgram *program, const LamTissues *tissues, const LamSimulateOptions *options,
                            LamDevices *devices, GError **error);

G_END_DECLS
