#include "config.h"

#include "accessible-name.h"

#include <glib/gi18n.h>

void
lam_accessible_name (GtkWidget *widget, const char *name)
{
  g_return_if_fail (GTK_IS_WIDGET (widget));
  gtk_accessible_reset_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

/* -- choosers -- */

static char *
dup_chosen (GtkDropDown *chooser)
{
  GObject *item = gtk_drop_down_get_selected_item (chooser);
  GtkExpression *expression = gtk_drop_down_get_expression (chooser);
  g_auto (GValue) value = G_VALUE_INIT;
  if (item == NULL)
    return g_strdup (_ ("none"));
  if (expression != NULL && gtk_expression_evaluate (expression, item, &value) && G_VALUE_HOLDS_STRING (&value))
    return g_value_dup_string (&value);
  return g_strdup (GTK_IS_STRING_OBJECT (item) ? gtk_string_object_get_string (GTK_STRING_OBJECT (item)) : "");
}

static void
selected_cb (GtkDropDown *chooser, GParamSpec *pspec, gpointer data)
{
  GtkWidget *button = gtk_widget_get_first_child (GTK_WIDGET (chooser));
  const char *name = g_object_get_data (G_OBJECT (chooser), "lam-name");
  g_autofree char *chosen = dup_chosen (chooser), *text = g_strdup_printf ("%s: %s", name, chosen);
  lam_accessible_name (button, text);
}

void
lam_accessible_name_chooser (GtkDropDown *chooser, const char *name)
{
  g_return_if_fail (GTK_IS_DROP_DOWN (chooser) && name != NULL);
  gboolean first = g_object_get_data (G_OBJECT (chooser), "lam-name") == NULL;
  g_object_set_data_full (G_OBJECT (chooser), "lam-name", g_strdup (name), g_free);
  if (first)
    g_signal_connect (chooser, "notify::selected-item", G_CALLBACK (selected_cb), NULL);
  selected_cb (chooser, NULL, NULL);
}

/* -- buttons -- */

static gboolean
closes (GtkButton *button)
{
  GtkWidget *child = gtk_button_get_child (button);
  const char *icon = GTK_IS_IMAGE (child) ? gtk_image_get_icon_name (GTK_IMAGE (child)) : NULL;
  return g_strcmp0 (icon, "window-close-symbolic") == 0;
}

void
lam_accessible_mend (GtkWidget *root)
{
  g_return_if_fail (GTK_IS_WIDGET (root));
  if (GTK_IS_BUTTON (root)) {
    GtkButton *button = GTK_BUTTON (root);
    /* GTK says the label twice, once with the underscore of its access key; the label itself is a relation. */
    if (gtk_button_get_use_underline (button) && gtk_button_get_label (button) != NULL)
      gtk_accessible_reset_property (GTK_ACCESSIBLE (root), GTK_ACCESSIBLE_PROPERTY_LABEL);
    else if (closes (button))
      lam_accessible_name (root, _ ("Close"));
  }
  for (GtkWidget *w = gtk_widget_get_first_child (root); w != NULL; w = gtk_widget_get_next_sibling (w))
    lam_accessible_mend (w);
}
