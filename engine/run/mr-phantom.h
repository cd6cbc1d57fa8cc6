/* mr-phantom.h: a series of images of discs of known tissue under a protocol, to try matching with. */
#pragma once

#include "core/control.h"
#include "core/device.h"
#include "io/mr-series.h"
#include "mr/model.h"

G_BEGIN_DECLS

#define LAM_MR_PHANTOM_SIDE 64
#define LAM_MR_PHANTOM_SLICES 3
#define LAM_MR_PHANTOM_DISCS 8

/* What a voxel is made of; T1 is NAN outside of the discs. */
typedef struct {
  double t1, t2, m0, phase; /* ms, ms, of 1, rad */
} LamMrPhantomTruth;

LamMrPhantomTruth lam_mr_phantom_truth (int64_t slice, int64_t row, int64_t column);
/* Placed as a NIfTI image of 3 x 3 x 6 mm voxels; outside of the discs all samples are 0. @noise: standard deviation of each
 * real channel, where M0 is 1. The same numbers for any devices. */
LamMrSeries *lam_mr_phantom_new (LamModel *model, double noise, LamDevices *devices, LamControl *control,
                                 GError **error);

G_END_DECLS
