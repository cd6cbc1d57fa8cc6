/* result-row.h: one result in the list: its name, how it went, whether it is in view and saved; a menu with what it was made
 * with and what can be done with it. */
#pragma once

#include <adwaita.h>

#include "model/session.h"

G_BEGIN_DECLS

#define LAM_TYPE_RESULT_ROW (lam_result_row_get_type ())
G_DECLARE_FINAL_TYPE (LamResultRow, lam_result_row, LAM, RESULT_ROW, AdwActionRow)

GtkWidget *lam_result_row_new (LamResult *result, LamSession *session);
LamResult *lam_result_row_get_result (LamResultRow *self);
/* The popover, with its name ready to be typed over. */
void lam_result_row_rename (LamResultRow *self);

G_END_DECLS
