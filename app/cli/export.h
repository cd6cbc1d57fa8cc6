/* export.h: a volume file in MBIRJAX's export order; image stacks. */
#pragma once

#include "io/volume.h"

G_BEGIN_DECLS

/* Writes @v to @path as (slice, column, row), no flip, with a layout mark and all of @v's texts; atomically, some slices
 * at a time. */
gboolean lam_cli_export_scr (LamVolume *v, const char *path, const LamIoControl *control, GError **error);

/* Warns when the @folder that @slices were just written to holds others too: whoever reads it would take all of them. */
void lam_cli_check_stack (const char *folder, int64_t slices);

G_END_DECLS
