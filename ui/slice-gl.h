/* slice-gl.h: the GL names of one slice view. Everything here needs the view's context to be current. */
#pragma once

#include "slice-raster.h"

G_BEGIN_DECLS

typedef struct _LamSliceGl LamSliceGl;

/* NULL with a reason when this GL cannot do it: then the CPU draws. */
LamSliceGl *lam_slice_gl_new (gboolean es, GError **error);
void lam_slice_gl_free (LamSliceGl *self);

/* Uploads, unless @shot is the one that is there already. FALSE = larger than the GL's textures. */
gboolean lam_slice_gl_set_snapshot (LamSliceGl *self, LamSnapshot *shot);
void lam_slice_gl_set_map (LamSliceGl *self, const guint8 *map); /* 256 RGBA colours */
/* Draws all of a @height pixels high framebuffer. */
void lam_slice_gl_draw (LamSliceGl *self, const LamSliceLook *look, int height);

G_END_DECLS
