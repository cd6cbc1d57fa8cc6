/* tooltip.h: setting a tooltip only where it changes. GTK asks the display where the pointer is at every setting, dozens of
 * round trips that a hand which drags would feel. */
#pragma once

#include <gtk/gtk.h>

static inline void
lam_set_tooltip (GtkWidget *widget, const char *text)
{
  if (g_strcmp0 (gtk_widget_get_tooltip_text (widget), text) != 0)
    gtk_widget_set_tooltip_text (widget, text);
}
