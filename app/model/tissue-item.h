/* tissue-item.h: one tissue of the list: a name, a colour, and its quantities as parameters, which a person may edit. */
#pragma once

#include "model/parameter-list.h"
#include "mr/template.h"

G_BEGIN_DECLS

#define LAM_TYPE_TISSUE_ITEM (lam_tissue_item_get_type ())
G_DECLARE_FINAL_TYPE (LamTissueItem, lam_tissue_item, LAM, TISSUE_ITEM, GObject)

/* Properties: name, summary ("1084 / 69 ms"), warning (NULL: nothing is odd). Signal "changed": a quantity did. */
LamTissueItem *lam_tissue_item_new (LamUndo *undo, const char *name, int colour, double t1, double t2);
const char *lam_tissue_item_get_name (LamTissueItem *self);
int lam_tissue_item_get_colour (LamTissueItem *self);
const char *lam_tissue_item_get_source (LamTissueItem *self); /* where the values are from; NULL: typed */
void lam_tissue_item_set_source (LamTissueItem *self, const char *source);
/* What no tissue is, in words; it is computed all the same. */
const char *lam_tissue_item_get_warning (LamTissueItem *self);
/* Ids are the quantities: T1, T2, M0, ... */
LamParameterList *lam_tissue_item_get_parameters (LamTissueItem *self);
const char *const *lam_tissue_item_quantities (void);
/* Whether a template's signal depends on the quantity; the rows of a tissue that are seen are those. */
gboolean lam_tissue_item_uses (const LamTemplate *t, const char *quantity);
void lam_tissue_item_show_for (LamTissueItem *self, const LamTemplate *t);
/* @given (may be NULL): whether it is other than what absence means. */
double lam_tissue_item_get (LamTissueItem *self, const char *quantity, gboolean *given);

/* Everything, "a{sv}", and back. */
GVariant *lam_tissue_item_save (LamTissueItem *self);
LamTissueItem *lam_tissue_item_load (LamUndo *undo, GVariant *state);

G_END_DECLS
