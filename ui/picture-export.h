/* picture-export.h: what a slice view shows, as an image to paste or a file. Made on another thread. */
#pragma once

#include "model/picture-file.h"
#include "slice-view.h"

G_BEGIN_DECLS

/* Image and value in words to the clipboard. */
void lam_picture_export_copy (LamSliceView *view, gboolean scale_bar);
/* @title: of what is shown; @thickness: of its plane, for files of values; for PNG the part in sight, at least one pixel for each of the picture's. */
void lam_picture_export_save (LamSliceView *view, LamPictureKind kind, gboolean scale_bar, const char *title,
                              double thickness, const char *path, GAsyncReadyCallback done, gpointer data);
gboolean lam_picture_export_save_finish (LamSliceView *view, GAsyncResult *result, GError **error);

G_END_DECLS
