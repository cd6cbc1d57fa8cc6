/* prepare.h: what is done to a scan's samples before a reconstruction, in this order:
 *
 *   bad pixels    found from flats and darks, listed, or both: no sample of theirs is used
 *   transmission  counts to -log; samples without one are interpolated or given weight 0
 *   crop          rows beyond are not read at all, channels beyond are dropped here
 *   bin           N x N detector pixels become their mean
 *   tilt          each view is turned about the middle of what is left of it; the axis in the geometry follows, so that it
 *                 stays the same line of the detector; what comes from outside is 0, but within half a pixel the edge
 *   background    what is read beside the object is taken off
 *   zingers       samples far below 0 are interpolated
 *   stripes       ring artefacts (ct/stripes.h)
 *   weights       the file's, or made of the samples; a sample of weight 0 in the file has none in either
 *
 * Rows and channels count in the file's detector. */
#pragma once

#include <glib.h>

#include "core/control.h"
#include "ct/bad-pixels.h"
#include "ct/preprocess.h"
#include "ct/stripes.h"
#include "ct/weights.h"
#include "io/scan.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PREPARE_BACKGROUND_NONE,
  LAM_PREPARE_BACKGROUND_GLOBAL,   /* one number for all views */
  LAM_PREPARE_BACKGROUND_PER_VIEW, /* each view's own */
  LAM_PREPARE_BACKGROUND_COUNT
} LamPrepareBackground;

/* "none", "global", "per-view". */
const char *lam_prepare_background_name (LamPrepareBackground background);
gboolean lam_prepare_background_from_name (const char *name, LamPrepareBackground *background, GError **error);

typedef enum {
  LAM_PREPARE_WEIGHTS_AUTO,  /* the file's where it has some, else none */
  LAM_PREPARE_WEIGHTS_GIVEN, /* the file's, which must have some */
  LAM_PREPARE_WEIGHTS_MADE,  /* made_weights, whatever the file has */
} LamPrepareWeights;

typedef struct {
  LamRange rows;                     /* {0, 0} = those of the scan (its option "slices") */
  LamRange crop_rows, crop_channels; /* {0, 0} = all */
  int64_t bin;                       /* 1 = as it is */
  LamTransmissionOptions transmission;
  gboolean find_bad_pixels;
  double bad_pixel_sigmas;
  LamBadPixels *bad_pixels; /* by hand, or NULL */
  char *bad_pixels_from;    /* the file, or files, that bad_pixels are from; NULL: none */
  double tilt;              /* radians the detector is turned by */
  LamPrepareBackground background;
  int64_t edge_width; /* of the strips that are background, in pixels that are left */
  double zingers;     /* 0: off; else how far below 0, relative to the object's rms */
  LamStripeOptions stripes;
  LamPrepareWeights weights;
  LamWeightKind made_weights;
} LamPrepareParams;

/* "auto", "given", or a kind (ct/weights.h). */
gboolean lam_prepare_weights_from_name (const char *name, LamPrepareParams *params, GError **error);

/* The list in file @path ("row channel" on each line, from 0). Any thread; errors name file and line. */
LamBadPixels *lam_prepare_read_bad_pixels (const char *path, GError **error);
/* Reads the list that params->bad_pixels_from names, where it is not there yet. Any thread. */
gboolean lam_prepare_params_resolve (LamPrepareParams *params, GError **error);

/* Nothing but transmission; nothing to be freed then. */
void lam_prepare_params_init (LamPrepareParams *params);
void lam_prepare_params_copy (const LamPrepareParams *from, LamPrepareParams *to);
void lam_prepare_params_clear (LamPrepareParams *params);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LamPrepareParams, lam_prepare_params_clear)
/* @to, which holds some, becomes a copy of @from. */
void lam_prepare_params_set (LamPrepareParams *to, const LamPrepareParams *from);
/* Lists from a file of the same name are taken for the same. */
gboolean lam_prepare_params_equal (const LamPrepareParams *a, const LamPrepareParams *b);

/* FALSE naming what cannot be done with this scan. No sample is read. */
gboolean lam_prepare_params_check (const LamPrepareParams *params, const LamScan *scan, GError **error);
/* The rows that are read. */
LamRange lam_prepare_rows (const LamPrepareParams *params, const LamScan *scan);
/* The geometry of the prepared data; the volume is that of the file where nothing was cropped or binned, else it is not
 * set (lam_geometry_auto_volume ()). */
LamGeometry *lam_prepare_geometry (const LamPrepareParams *params, const LamScan *scan, GError **error);
/* Whether the prepared data have weights. */
gboolean lam_prepare_weighted (const LamPrepareParams *params, const LamScan *scan);
/* Channel of the file where @channel of the prepared data lies (tilt aside). */
double lam_prepare_file_channel (const LamPrepareParams *params, double channel);
/* Bytes held at most beside the samples and weights themselves, on @threads threads. */
int64_t lam_prepare_bytes (const LamPrepareParams *params, const LamScan *scan, int threads);

G_END_DECLS
