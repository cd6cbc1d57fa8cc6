/* parameter-list.h: the parameters of one recipe, as a GListModel, found by id. */
#pragma once

#include "model/parameters.h"

G_BEGIN_DECLS

#define LAM_TYPE_PARAMETER_LIST (lam_parameter_list_get_type ())
G_DECLARE_FINAL_TYPE (LamParameterList, lam_parameter_list, LAM, PARAMETER_LIST, GObject)

/* Signal "changed" (LamParameter *): its value changed, by anyone. */
LamParameterList *lam_parameter_list_new (LamUndo *undo);

/* Takes @parameter; returns it, owned by the list. Ids are unique. */
LamParameter *lam_parameter_list_add (LamParameterList *self, LamParameter *parameter);
/* The parameter @id, owned by the list, or NULL. */
LamParameter *lam_parameter_list_find (LamParameterList *self, const char *id);

/* All back to their defaults, as one step. */
void lam_parameter_list_reset (LamParameterList *self);
/* The first value outside its range, in words, or NULL when all are usable. */
char *lam_parameter_list_get_problem (LamParameterList *self);

/* Values by id, "a{sv}"; for session files. Applying skips ids that are not known and refuses the whole dictionary
 * when one value is out of range. */
GVariant *lam_parameter_list_save (LamParameterList *self);
gboolean lam_parameter_list_load (LamParameterList *self, GVariant *values, GError **error);

/* The units that lengths were set to be shown in, "center=mm;source_axis=px"; for settings. Ids that are not known are
 * skipped; those that are not named are shown in their own. */
char *lam_parameter_list_dup_units (LamParameterList *self);
void lam_parameter_list_use_units (LamParameterList *self, const char *text);

G_END_DECLS
