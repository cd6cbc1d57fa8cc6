/* group.h: one titled group of the sidebar: a heading with at most one small command, over a list of rows. */
#pragma once

#include <gtk/gtk.h>

#include "model/parameter-list.h"

G_BEGIN_DECLS

#define LAM_TYPE_GROUP (lam_group_get_type ())
G_DECLARE_FINAL_TYPE (LamGroup, lam_group, LAM, GROUP, GtkBox)

/* Properties: title; command (label of the small button, NULL = none); action-name of that button. */
GtkWidget *lam_group_new (const char *title);
/* Rows for the parameters with these ids, ended by NULL, after what is there. */
void lam_group_add_parameters (LamGroup *self, LamParameterList *list, const char *const *ids);
/* A GtkListBoxRow of the caller's, after what is there. */
void lam_group_add_row (LamGroup *self, GtkWidget *row);
/* Long values of facts break into lines, where there is room to read them; before facts are bound. */
void lam_group_wrap_values (LamGroup *self);
/* Rows for the LamFacts of @facts, kept up to date, after what is there. */
void lam_group_bind_facts (LamGroup *self, GListModel *facts);

G_END_DECLS
