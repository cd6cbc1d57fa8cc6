/* parameter-row.h: one LamParameter in a list: label, note, a control that suits its kind, unit, and a dot that shows
 * that it was changed and puts the default back. */
#pragma once

#include <adwaita.h>

#include "model/parameters.h"

G_BEGIN_DECLS

#define LAM_TYPE_PARAMETER_ROW (lam_parameter_row_get_type ())
G_DECLARE_FINAL_TYPE (LamParameterRow, lam_parameter_row, LAM, PARAMETER_ROW, AdwActionRow)

GtkWidget *lam_parameter_row_new (LamParameter *parameter);
LamParameter *lam_parameter_row_get_parameter (LamParameterRow *self);
/* The spin button, switch, drop-down or entry; and the dot. */
GtkWidget *lam_parameter_row_get_control (LamParameterRow *self);
GtkWidget *lam_parameter_row_get_dot (LamParameterRow *self);

G_END_DECLS
