/* sequence-optimise-bar.c: the search for a better train: its settings, how it goes, and how to end it. */
#include "config.h"

#include <glib/gi18n.h>

#include "parameter-row.h"
#include "sequence-page-private.h"

static void
optimise_changed_cb (LamSequenceOptimise *optimise, LamSequencePage *self)
{
  gboolean running = lam_sequence_optimise_get_running (optimise);
  const char *text = lam_sequence_optimise_get_text (optimise);
  gtk_label_set_text (GTK_LABEL (self->optimise_label), text != NULL ? text : "");
  gtk_widget_set_visible (self->optimise_button, !running);
  gtk_widget_set_visible (self->stop_button, running);
  gtk_widget_set_visible (self->back_button, running);
}

static void
start_cb (GtkButton *button, LamSequencePage *self)
{
  g_autoptr (GError) error = NULL;
  GtkWidget *popover = gtk_widget_get_ancestor (GTK_WIDGET (button), GTK_TYPE_POPOVER);
  if (popover != NULL)
    gtk_popover_popdown (GTK_POPOVER (popover));
  if (!lam_sequence_optimise_start (self->optimise, &error))
    lam_sequence_page_failed (self->session, error->message, self);
}

static void
stop_cb (GtkButton *button, LamSequencePage *self)
{
  lam_sequence_optimise_stop (self->optimise, GTK_WIDGET (button) == self->stop_button);
}

static GtkWidget *
new_optimise_popover (LamSequencePage *self)
{
  LamParameterList *list = lam_sequence_optimise_get_parameters (self->optimise);
  GtkWidget *popover = gtk_popover_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8),
            *group = lam_group_new (_ ("Optimise the flip angles")),
            *start = gtk_button_new_with_mnemonic (_ ("_Start"));
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (list), i);
    lam_group_add_row (LAM_GROUP (group), lam_parameter_row_new (p));
  }
  gtk_widget_set_size_request (group, 340, -1);
  gtk_widget_add_css_class (start, "suggested-action");
  gtk_widget_set_halign (start, GTK_ALIGN_END);
  g_signal_connect_object (start, "clicked", G_CALLBACK (start_cb), self, 0);
  gtk_box_append (GTK_BOX (box), group);
  gtk_box_append (GTK_BOX (box), start);
  gtk_popover_set_child (GTK_POPOVER (popover), box);
  return popover;
}

/* Below the bounds: the button, what it says, and how to end it. */
GtkWidget *
lam_sequence_page_new_optimise_bar (LamSequencePage *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->optimise = lam_sequence_optimise_new (self->session);
  self->optimise_button = gtk_menu_button_new ();
  gtk_menu_button_set_label (GTK_MENU_BUTTON (self->optimise_button), _ ("_Optimise…"));
  gtk_menu_button_set_use_underline (GTK_MENU_BUTTON (self->optimise_button), TRUE);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (self->optimise_button), new_optimise_popover (self));
  gtk_widget_add_css_class (self->optimise_button, "compact");
  self->stop_button = gtk_button_new_with_label (_ ("Stop and Keep"));
  self->back_button = gtk_button_new_with_label (_ ("Back"));
  gtk_widget_set_tooltip_text (self->back_button, _ ("End it and take the train of before"));
  self->optimise_label = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->optimise_label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->optimise_label), 0);
  gtk_widget_set_hexpand (self->optimise_label, TRUE);
  gtk_widget_add_css_class (self->optimise_label, "pane-hint");
  gtk_widget_add_css_class (self->optimise_label, "numeric");
  GtkWidget *const buttons[] = {self->stop_button, self->back_button};
  gtk_box_append (GTK_BOX (bar), self->optimise_button);
  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++) {
    gtk_widget_add_css_class (buttons[i], "small");
    g_signal_connect (buttons[i], "clicked", G_CALLBACK (stop_cb), self);
    gtk_box_append (GTK_BOX (bar), buttons[i]);
  }
  gtk_box_append (GTK_BOX (bar), self->optimise_label);
  g_signal_connect_object (self->optimise, "changed", G_CALLBACK (optimise_changed_cb), self, 0);
  optimise_changed_cb (self->optimise, self);
  return bar;
}
