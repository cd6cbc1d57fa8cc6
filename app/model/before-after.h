/* before-after.h: one view and one sinogram of what is open: before preparation, after it, and the difference.
 *
 * Made by LamPreparePreview from the file as soon as a parameter of the preparation is edited, and only while someone
 * looks. Data that came from no file have an after only. Index, place, cursor and crosshair of the three pictures are one;
 * before and after share a level, the difference has one of its own about 0. Main thread. */
#pragma once

#include "model/session.h"
#include "run/prepare-preview.h"

G_BEGIN_DECLS

#define LAM_TYPE_BEFORE_AFTER (lam_before_after_get_type ())
G_DECLARE_FINAL_TYPE (LamBeforeAfter, lam_before_after, LAM, BEFORE_AFTER, GObject)

/* Signal "changed": any of what the getters below tell. */
LamBeforeAfter *lam_before_after_new (LamSession *session);
/* @plane: LAM_PLANE_VIEW or LAM_PLANE_SINOGRAM, here and below. */
LamSliceModel *lam_before_after_get_slices (LamBeforeAfter *self, LamPlane plane, LamPreviewKind kind);
/* Someone looks at pictures of @plane. */
void lam_before_after_set_active (LamBeforeAfter *self, LamPlane plane, gboolean active);

/* There is something open; it has a before; its pictures are out of date and on their way. */
gboolean lam_before_after_has_data (LamBeforeAfter *self);
gboolean lam_before_after_has_before (LamBeforeAfter *self);
gboolean lam_before_after_is_working (LamBeforeAfter *self);
/* Why there are none that are up to date; NULL = nothing is wrong. */
const char *lam_before_after_get_problem (LamBeforeAfter *self);
/* What is to be known about them ("the background is estimated ..."; NULL = nothing), and the difference in numbers. */
const char *lam_before_after_get_note (LamBeforeAfter *self, LamPlane plane);
char *lam_before_after_describe (LamBeforeAfter *self, LamPlane plane);

/* The sinogram's views by their angle, not as they were taken. */
void lam_before_after_set_by_angle (LamBeforeAfter *self, gboolean by_angle);
/* Where the axis falls on the newest picture of @plane, from its first line to its last; FALSE = not known. */
gboolean lam_before_after_get_axis (LamBeforeAfter *self, LamPlane plane, double *x0, double *y0, double *x1,
                                    double *y1);

G_END_DECLS
