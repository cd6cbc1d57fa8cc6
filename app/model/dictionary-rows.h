/* dictionary-rows.h: the rows that say which dictionary is wanted: a range for each quantity, their spacing, and how many modes
 * are kept. Main thread. */
#pragma once

#include "model/maps-jobs.h"
#include "model/parameter-list.h"

G_BEGIN_DECLS

LamParameterList *lam_dictionary_rows_new (LamUndo *undo);
/* Only quantities that @source tells apart have a row in sight. */
void lam_dictionary_rows_show (LamParameterList *rows, const LamMapsSource *source);
/* What the rows ask for, with @source (taken, also with an error); one that cannot be used says why in its place. */
LamDictionaryRecipe *lam_dictionary_rows_recipe (LamParameterList *rows, LamMapsSource *source, GError **error);

G_END_DECLS
