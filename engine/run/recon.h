/* recon.h: the recipe "reconstruct": parameters in, volume and its history out. What `lamina reconstruct` and the window
 * both run. Plain functions with a control and callbacks; job.h puts one on a thread of its own. */
#pragma once

#include <glib.h>

#include "core/plan.h"
#include "ct/vcd.h"
#include "run/dataset.h"
#include "run/snapshot.h"

G_BEGIN_DECLS

typedef enum {
  LAM_METHOD_DIRECT, /* FBP for parallel beam, FDK for cone beam */
  LAM_METHOD_VCD,
} LamMethod;

typedef enum {
  LAM_INIT_DIRECT,
  LAM_INIT_ZERO,
  LAM_INIT_FILE,    /* init_path: a result file of the same shape */
  LAM_INIT_CURRENT, /* init_volume */
} LamInit;

/* What becomes of a state of another run that lies where this one's is to be kept, when it is not gone on with. */
typedef enum {
  LAM_STATE_REPLACE, /* the caller looks after its states */
  LAM_STATE_TELL,    /* it is replaced, and the log says so */
  LAM_STATE_REFUSE,  /* it stays: the run does not start */
} LamOtherState;

typedef struct {
  LamMethod method;
  char *devices; /* "auto", "cpu", "4xcpu" */
  int64_t iterations;
  double stop_percent;      /* stop below this change; 0 = never */
  double snr_db, sharpness; /* automatic regularisation */
  double sigma_y, sigma_x;  /* > 0: given, and not automatic */
  double p, q, t;
  double neighbours[3]; /* weights of rows, columns, slices */
  double max_step;
  gboolean positivity, damping;
  LamInit init;
  char *init_path;
  const float *init_volume; /* [row][column][slice]; not owned, must outlive the run */
  uint64_t seed;
  char *command;    /* who asked: a command line; NULL: the window */
  char *checkpoint; /* file to keep the state in, or NULL: none */
  gboolean resume;  /* go on from it */
  LamOtherState other_state;
  gboolean consume; /* drop the dataset's arrays once they are on the devices */
  int64_t held;     /* bytes of host arrays that the caller keeps throughout, beside the dataset's */
} LamReconParams;

void lam_recon_params_init (LamReconParams *params);
void lam_recon_params_clear (LamReconParams *params);
void lam_recon_params_copy (const LamReconParams *from, LamReconParams *to);
/* Refuses values out of range, naming the option and the range. */
gboolean lam_recon_params_check (const LamReconParams *params, GError **error);
/* Those that have a part in @params->method, as one JSON object. g_free (). */
char *lam_recon_params_json (const LamReconParams *params);

/* json-glib writes 1e-10 as "1e-10.0", which is no JSON: a copy of @text with such numbers put right. g_free (). */
char *lam_json_fix_numbers (const char *text);

/* Numbers of one device after a run. */
typedef struct {
  char name[32];
  int64_t bytes, planned_bytes; /* most held, and forecast */
  double busy_seconds;
  int64_t copied_in, copied_out;
} LamReconDevice;

typedef struct {
  int64_t iteration, subsets;
  double change_percent, cost, data_cost, prior_cost, mean_step, seconds; /* as LamVcdStats */
} LamReconIteration;

typedef struct {
  gatomicrefcount refs;
  LamGeometry *geometry;
  float *volume; /* [row][column][slice], lam_alloc () */
  LamReconParams params;
  LamProvenance made; /* of the data */
  LamRegularization regularization;
  double sigma_y, sigma_x;
  GArray *iterations; /* of LamReconIteration; empty for direct methods */
  gboolean stopped;   /* by the person, before the end; the volume is that of the last whole iteration */
  double seconds;
  int64_t plan_bytes, peak_bytes; /* forecast and measured, all devices and the host */
  int64_t copied;                 /* bytes between devices */
  int n_devices;
  LamReconDevice *devices;
  GString *log;   /* lines */
  char *checksum; /* SHA-256 of the voxels */
} LamReconResult;

LamReconResult *lam_recon_result_ref (LamReconResult *r);
void lam_recon_result_unref (LamReconResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamReconResult, lam_recon_result_unref)
/* Writes the result file (volume.h), with everything needed to know how it was made. */
gboolean lam_recon_result_save (LamReconResult *r, const char *path, LamControl *control, GError **error);
/* The slices as FOLDER/slice_0000.tif ... (tiff.h), with voxel size, unit and provenance. */
gboolean lam_recon_result_save_tiff (LamReconResult *r, const char *folder, LamControl *control, GError **error);
/* One plane of the finished volume. */
LamSnapshot *lam_recon_result_plane (LamReconResult *r, LamPlane plane, int64_t index, uint64_t generation,
                                     GError **error);

/* Callbacks, on the caller's thread of lam_reconstruct (); any may be NULL. */
typedef struct {
  void (*log) (const char *line, void *data);
  void (*iteration) (const LamReconIteration *it, void *data);
  /* Between subsets and after each iteration: whether a picture is wanted now, and which. */
  gboolean (*wanted) (LamPlane *plane, int64_t *index, uint64_t *generation, void *data);
  void (*snapshot) (LamSnapshot *snapshot, void *data); /* takes the reference */
  void *data;
} LamReconHooks;

/* The plan of a run from sizes alone. @dataset may be NULL: then no host copy of the data is counted. */
LamPlan *lam_recon_plan (const LamGeometry *geometry, gboolean weighted, gboolean host_data,
                         const LamReconParams *params, GError **error);
/* Forecast of the whole run in seconds, from a measured speed of this machine; rough. */
double lam_recon_forecast (const LamGeometry *geometry, const LamReconParams *params);

/* Runs. With control->stop_keep the last whole iteration's volume comes back with stopped set; with control->cancel an
 * error LAM_ERROR_CANCELLED. The checkpoint stays until the caller removes it (after a save). */
LamReconResult *lam_reconstruct (LamDataset *dataset, const LamReconParams *params, LamControl *control,
                                 const LamReconHooks *hooks, GError **error);

G_END_DECLS
