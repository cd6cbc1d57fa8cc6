/* projector.h: forward and back projection over placed arrays.
 *
 * The volume is cut by slices, the sinogram by views in whole blocks (core/order.h). Forward: every view owner collects the
 * slices of a batch of pixels and projects them into its views. Back: every view owner sums its blocks to tree nodes for
 * a batch of pixels; the slice owner collects the nodes of all owners and folds them. With one device both steps work in
 * place and nothing is copied. Batches and bands bound the transient memory and never show in a result.
 *
 * Array shapes on a device that owns S slices and W views (n16 = rounded up to 16 floats):
 *   layout SLICES: volume [pixels][S n16], sinogram [W][channels][rows n16], packed list of n pixels [n][S n16]
 *   layout PLANAR: volume [S][pixels n16], sinogram [W][rows][channels n16], packed list [S][n n16]
 * PLANAR is for parallel beam with at most LAM_FEW_SLICES slices in the whole problem, and cone beam with one. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "core/order.h"
#include "core/placement.h"
#include "core/plan.h"
#include "ct/geometry.h"
#include "ct/kernels.h"

G_BEGIN_DECLS

#define LAM_FEW_SLICES 8

/* One pointer for each device. */
typedef struct {
  float *at[LAM_MAX_DEVICES];
} LamShards;

typedef struct {
  LamGeometry *geometry; /* owned copy */
  LamDevices *set;
  LamProjectorGeometry g;
  const LamKernels *kernels;
  LamLayout layout;
  LamBlocks blocks;
  LamPlacement slices, views;
  int64_t pixels; /* rows * columns of the volume */
  int32_t *list;  /* the region of reconstruction, by tiles of 16 x 16: the canonical order of whole projections */
  int64_t list_n;
  int64_t
      band; /* slices at a time in whole projections; 0 = all (cone forward always takes all, cone back multiples of 16) */
  int64_t batch;       /* pixels at a time; 0 = from the memory limits */
  int64_t fuse_bytes;  /* a packed list up to this size goes through a block in one piece */
  int64_t node_bytes;  /* limit of a device's node buffer, where a list is cut into batches */
  int64_t longest;     /* longest list the planned workspace serves */
  LamControl *control; /* not owned; may be NULL */
  LamPlan *plan;       /* not owned: where the workspace was taken from, or NULL */
  double *cosines, *sines;
  LamPlanarView *planar; /* or NULL */
  struct {
    char *scratch;    /* threads x lam_kernel_scratch () */
    float *tree;      /* threads x tree_floats: partial sums inside a node */
    float *nodes;     /* [node][packed list] */
    float *received;  /* threads x [node][tile] of own slices, from all devices (more than one device) */
    float *cylinders; /* packed list, all slices (more than one device) */
    float *view;      /* threads x one view */
    double *sums;     /* one for each view */
    int64_t tree_floats, node_floats; /* planned: of one thread's tree, of nodes */
    int received_nodes;               /* planned: nodes of all devices */
  } work[LAM_MAX_DEVICES];
} LamProjector;

/* @g is checked and copied. LAMINA_BAND sets the band, LAMINA_BATCH the batch (tests). */
LamProjector *lam_projector_new (const LamGeometry *g, LamDevices *set, GError **error);
/* Sizes only, for a plan of any size: no tables, no list of pixels. Cannot project. */
LamProjector *lam_projector_new_sizes (const LamGeometry *g, LamDevices *set, GError **error);
void lam_projector_free (LamProjector *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamProjector, lam_projector_free)

/* Moves the axis: nothing else changes. Not while a pass runs. */
void lam_projector_set_offset (LamProjector *p, double channel_offset);

/* Floats in a shard of device @d, and the strides inside. */
int64_t lam_projector_volume_floats (const LamProjector *p, int d);
int64_t lam_projector_sino_floats (const LamProjector *p, int d);
int64_t lam_projector_packed_floats (const LamProjector *p, int d, int64_t n); /* d = -1: all slices */
int64_t lam_projector_packed_stride (const LamProjector *p, int d, int64_t n);
int64_t lam_projector_view_floats (const LamProjector *p);
int64_t lam_projector_line_stride (const LamProjector *p);

/* Adds the workspace for lists of up to @longest pixels to @plan, and takes it.  */
void lam_projector_plan (LamProjector *p, LamPlan *plan, int64_t longest, int first, int last);
void lam_projector_plan_copies (LamProjector *p, LamPlan *plan, const char *name, int64_t length, double forward,
                                double back, int phase);
gboolean lam_projector_open (LamProjector *p, LamPlan *plan, GError **error);

/* Between host arrays and shards. Sinogram [view][row][channel], volume [row][column][slice]. */
gboolean lam_projector_put_sino (LamProjector *p, const float *host, LamShards *sino, GError **error);
gboolean lam_projector_get_sino (LamProjector *p, const LamShards *sino, float *host, GError **error);
gboolean lam_projector_put_volume (LamProjector *p, const float *host, LamShards *volume, GError **error);
gboolean lam_projector_get_volume (LamProjector *p, const LamShards *volume, float *host, GError **error);
/* Rows [rows) of the volume only, [row][column][slice]: for writing slab by slab. */
gboolean lam_projector_get_rows (LamProjector *p, const LamShards *volume, LamRange rows, float *host, GError **error);
/* Parts of them, for slab by slab: whole views, or rows [row][column][slice]; @host is at the first of the range. */
gboolean lam_projector_put_views (LamProjector *p, LamRange views, const float *host, LamShards *sino, GError **error);
gboolean lam_projector_get_views (LamProjector *p, LamRange views, const LamShards *sino, float *host, GError **error);
gboolean lam_projector_put_rows (LamProjector *p, LamRange rows, const float *host, LamShards *volume, GError **error);
/* One plane for a picture. @axis 0: slice [rows][columns]; 1: row [slices][columns]; 2: column [slices][rows]. Only the
 * owners of wanted voxels copy. */
gboolean lam_projector_get_plane (LamProjector *p, const LamShards *volume, int axis, int64_t index, float *host,
                                  GError **error);
gboolean lam_projector_zero (LamProjector *p, LamShards *shards, gboolean volume, GError **error);

/* sino = A volume over the region of reconstruction; pixels outside are ignored whatever they hold. */
gboolean lam_projector_forward (LamProjector *p, const LamShards *volume, LamShards *sino, GError **error);
/* volume = A^T sino in the region (or, @everywhere, for all pixels); @square: coefficients squared (Hessian diagonal).
 * Pixels outside the region are set to zero unless @everywhere. */
gboolean lam_projector_back (LamProjector *p, const LamShards *sino, LamShards *volume, gboolean everywhere,
                             gboolean square, GError **error);

/* ---- for the solver: lists of pixels ---- */

/* A step not yet taken from the error sinogram: error -= alpha * (weights *) A d over the list. */
typedef struct {
  const int32_t *pixel;
  int64_t n;
  LamShards full; /* d of all slices, on every device */
  float alpha;
  const LamShards *stored; /* A d, where it was kept; else it is made again */
} LamStep;

/* packed = A^T error over @pixel[n]. @step (or NULL) is taken first, in the same pass over the error where the list is short.
 * @then (or NULL) is called on each device when its own slices are there, without waiting for the others. */
gboolean lam_projector_back_list (LamProjector *p, const int32_t *pixel, int64_t n, LamShards *error_sino,
                                  const LamShards *weights, const LamStep *step, LamShards *packed, LamDeviceFunc then,
                                  void *data, GError **error);
/* All slices of a packed list on every device: with one device @packed itself, else the workspace's cylinders. */
gboolean lam_projector_collect (LamProjector *p, const LamShards *packed, int64_t n, LamShards *full, GError **error);
/* Collects @packed into @full, as above, and gives sum over views of <s, w s> with s = A full; keeps s in @store when not
 * NULL. */
gboolean lam_projector_forward_list (LamProjector *p, const int32_t *pixel, int64_t n, const LamShards *packed,
                                     LamShards *full, const LamShards *weights, LamShards *store, double *ss,
                                     GError **error);
/* Takes @step and returns sum over views of e^2 w / w... see vcd.c: @ee gets sum of a[i]^2 / w[i] (w > 0) or a[i]^2. */
gboolean lam_projector_apply_step (LamProjector *p, LamShards *error_sino, const LamShards *weights,
                                   const LamStep *step, double *ee, GError **error);
/* The pixels of the list in order of tiles of 16 x 16, which keeps neighbours together. */
void lam_projector_sort_tiles (const LamProjector *p, int32_t *pixel, int64_t n);

G_END_DECLS
