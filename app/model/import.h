/* import.h: what a scan file states, what had to be assumed, and what a person says instead: the import sheet.
 *
 * Edits wait until lam_session_import () opens the file again with them. Main thread. */
#pragma once

#include "io/scan.h"
#include "model/facts.h"
#include "model/parameter-list.h"

G_BEGIN_DECLS

#define LAM_TYPE_IMPORT (lam_import_get_type ())
G_DECLARE_FINAL_TYPE (LamImport, lam_import, LAM, IMPORT, GObject)

typedef enum {
  LAM_IMPORT_FOUND,
  LAM_IMPORT_ASSUMED, /* also what is odd */
  LAM_IMPORT_MISSING,
  LAM_IMPORT_LISTS
} LamImportList;

/* Property: path (of the file; NULL = what is open was not read from one). */
LamImport *lam_import_new (void);

/* @scan NULL: nothing that can be imported anew. @options: with which it was opened. */
void lam_import_take (LamImport *self, const LamScan *scan, const LamScanOptions *options);
/* Options as the parameters say now. */
void lam_import_get_options (LamImport *self, LamScanOptions *options);
const char *lam_import_get_path (LamImport *self);

/* Of LamFact; and the parameters, ids as lam_import_ids (). */
GListModel *lam_import_get_facts (LamImport *self, LamImportList list);
LamParameterList *lam_import_get_parameters (LamImport *self);
const char *const *lam_import_ids (void);

G_END_DECLS
