/* recon-private.h: between recon.c, recon-checkpoint.c and recon-result.c. */
#pragma once

#include "run/recon.h"

/* One running reconstruction. */
typedef struct {
  LamDataset *dataset;
  LamReconParams *params; /* the result's copy */
  LamControl *control;
  const LamReconHooks *hooks;
  LamDevices *set;
  LamProjector *projector;
  LamPlan *plan;
  LamVcd *vcd;            /* VCD only */
  LamShards volume, sino; /* direct methods */
  LamReconResult *result;
  gboolean weighted;
  int64_t last_picture_ns;
  /* checkpoints */
  char data_stamp[32];       /* of the samples and weights as they were prepared */
  double checkpoint_seconds; /* what the last one cost */
  int64_t iterations_since;
} LamRecon;

void lam_recon_log (LamRecon *r, const char *format, ...) G_GNUC_PRINTF (2, 3);
void lam_recon_add_iteration (LamRecon *r, const LamReconIteration *it);

/* Rows or views that one slab of the checkpoint or of an init file holds; planned as "slab". */
int64_t lam_recon_slab_bytes (const LamGeometry *g);
int64_t lam_recon_slab_rows (const LamGeometry *g);
int64_t lam_recon_slab_views (const LamGeometry *g);

/* Looks at the data, while the dataset still has them, so that a state is never resumed on others. */
gboolean lam_recon_stamp_data (LamRecon *r, GError **error);
/* A new run: whether its state may take the place of what lies there. */
gboolean lam_recon_may_replace (LamRecon *r, const LamVcdParams *params, GError **error);
/* Writes the state when it is due; @iteration_seconds < 0: now, unless it is there. A failed write is logged, not an error of the run. */
void lam_recon_checkpoint (LamRecon *r, double iteration_seconds);
/* Reads what a new solver must be made with (sigmas, iteration); then the arrays. */
gboolean lam_recon_resume_params (LamRecon *r, LamVcdParams *params, GError **error);
gboolean lam_recon_resume_arrays (LamRecon *r, GError **error);

/* Numbers of plan and devices into the result. */
void lam_recon_measure (LamRecon *r);
