/* geometry-options.h: a geometry from options alone, for `project` and `plan`. */
#pragma once

#include "cli/scan-options.h"

G_BEGIN_DECLS

extern const GOptionEntry lam_cli_detector_entries[]; /* --views --rows --channels */

/* Any of --views, --rows, --channels was given. */
gboolean lam_cli_detector_given (void);
/* The scan that @options and the detector's sizes describe, for a volume of @shape with voxels of @voxel (rows, columns,
 * slices) in @unit, or NULL: px of size 1. What is not given follows from the volume: as many channels as columns, as many
 * rows as slices, as many views as columns, the pitch that makes the automatic voxel this voxel. The volume is set. */
LamGeometry *lam_cli_make_geometry (const LamCliScan *options, const int64_t shape[3], const double *voxel,
                                    const char *unit, GError **error);

G_END_DECLS
