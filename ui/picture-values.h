/* picture-values.h: numbers of the picture that is shown: ends, percentiles, pixels, and those that are not finite. */
#pragma once

#include <gtk/gtk.h>

#include "model/slice-model.h"

G_BEGIN_DECLS

#define LAM_TYPE_PICTURE_VALUES (lam_picture_values_get_type ())
G_DECLARE_FINAL_TYPE (LamPictureValues, lam_picture_values, LAM, PICTURE_VALUES, GtkGrid)

/* Signal "next": to the next value that is not finite. */
void lam_picture_values_set_model (LamPictureValues *self, LamSliceModel *model);

G_END_DECLS
