/* dataset.h: a scan made ready: the -log sinogram in memory with its geometry and what was done to it.
 *
 * Counted and immutable once made, so that jobs, live slices and views share one copy. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "ct/autoreg.h"
#include "ct/center.h"
#include "ct/geometry.h"
#include "run/prepare.h"
#include "run/provenance.h"

G_BEGIN_DECLS

typedef struct {
  gatomicrefcount refs;
  char *name;            /* the file's base name, or the example's */
  char *path;            /* NULL for an example */
  LamGeometry *geometry; /* of the prepared data, with its automatic volume */
  float *sinogram;       /* [view][row][channel], -log; NULL once lam_dataset_drop_arrays () was called */
  float *weights;        /* as sinogram, or NULL: unweighted */
  double tilt;           /* radians the detector was turned by */
  LamProvenance made;    /* where they come from */
  gpointer parent;       /* whose arrays these are; NULL: own */
  GPtrArray *log;        /* char *: what was found and done, a line each */
} LamDataset;

/* Reads and prepares. Errors name file, dataset and index. */
LamDataset *lam_dataset_load (LamScan *scan, const LamPrepareParams *params, LamControl *control, GError **error);
/* The bundled example: a phantom's own scan, @channels wide (0: the default size), made in memory. */
LamDataset *lam_dataset_example (LamGeometryKind kind, int64_t channels, LamControl *control, GError **error);
/* Takes the arrays (lam_alloc ()) and @geometry. */
LamDataset *lam_dataset_new_take (const char *name, LamGeometry *geometry, float *sinogram, float *weights);
/* The same data seen with another geometry (an axis that was moved): the arrays are shared. @geometry is copied. */
LamDataset *lam_dataset_with_geometry (LamDataset *d, const LamGeometry *geometry);
/* Moves the axis to where a search on these data found it, and says so in the log, in channels of the file. */
void lam_dataset_use_center (LamDataset *d, const LamCenter *center);
/* The axis (a geometry's) in channels of the file, which crop and bin made those of the data. */
double lam_provenance_channel (const LamProvenance *made, double channel);
LamDataset *lam_dataset_ref (LamDataset *d);
void lam_dataset_unref (LamDataset *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamDataset, lam_dataset_unref)
/* Frees sinogram and weights; for a caller who is its only user and has put them on the devices. */
void lam_dataset_drop_arrays (LamDataset *d);

G_END_DECLS
