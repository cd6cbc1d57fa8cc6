/* export.h: a volume file in MBIRJAX's export order. */
#pragma once

#include "io/volume.h"

G_BEGIN_DECLS

/* Writes @v to @path as (slice, column, row), no flip, with a layout mark and all of @v's texts; atomically, some slices
 * at a time. */
gboolean lam_cli_export_scr (LamVolume *v, const char *path, const LamIoControl *control, GError **error);

G_END_DECLS
