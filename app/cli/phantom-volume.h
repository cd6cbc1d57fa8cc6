/* phantom-volume.h: a phantom in memory, for `phantom`, `project` and `bench`. */
#pragma once

#include "ct/phantom.h"

G_BEGIN_DECLS

/* [row][column][slice], lam_free (). @attenuation > 0: the largest line integral, at this @voxel size; else as it is. */
float *lam_cli_phantom_volume (LamPhantomKind kind, const int64_t shape[3], double attenuation, double voxel,
                               GError **error);

G_END_DECLS
