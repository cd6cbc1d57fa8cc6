/* accessible-name.h: names for screen readers where GTK 4.8 says none, the name of a type, or one twice. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* @name alone, whatever label lies within. */
void lam_accessible_name (GtkWidget *widget, const char *name);
/* "NAME: what is chosen" for the part of @chooser that takes the focus; follows what is chosen. */
void lam_accessible_name_chooser (GtkDropDown *chooser, const char *name);
/* Buttons below @root: those with an access key are called by their label alone, those that close things "Close". To be
 * called again when a label was set. */
void lam_accessible_mend (GtkWidget *root);

G_END_DECLS
