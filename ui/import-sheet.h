/* import-sheet.h: a window beside the main one with what was found in the file, what was assumed and what is missing, and rows to
 * say otherwise. Nothing changes until Import Again. */
#pragma once

#include <adwaita.h>

#include "model/session.h"

G_BEGIN_DECLS

#define LAM_TYPE_IMPORT_SHEET (lam_import_sheet_get_type ())
G_DECLARE_FINAL_TYPE (LamImportSheet, lam_import_sheet, LAM, IMPORT_SHEET, AdwWindow)

GtkWidget *lam_import_sheet_new (GtkWindow *parent, LamSession *session);

G_END_DECLS
