/* potential-row.h: a row of the sidebar with the prior's potential drawn, which moves with p, q and T. */
#pragma once

#include <gtk/gtk.h>

#include "model/parameter-list.h"

G_BEGIN_DECLS

/* Shown while the method has a prior. */
GtkWidget *lam_potential_row_new (LamParameterList *list);

G_END_DECLS
