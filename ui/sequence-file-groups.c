#include "config.h"

#include "sequence-file-groups.h"

#include <glib/gi18n.h>

#include "group.h"
#include "parameter-row.h"

GtkWidget *
lam_sequence_file_facts_new (LamSequenceSession *session)
{
  GtkWidget *group = lam_group_new (_ ("Sequence"));
  g_object_set (group, "command", _ ("Close File"), "action-name", "win.close-sequence", NULL);
  lam_group_wrap_values (LAM_GROUP (group));
  lam_group_bind_facts (LAM_GROUP (group), lam_pulseq_model_get_facts (lam_sequence_session_get_pulseq (session)));
  return group;
}

static void
add_rows (LamGroup *group, LamParameterList *list)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (list), i);
    lam_group_add_row (group, lam_parameter_row_new (p));
  }
}

static GtkWidget *
new_group (const char *title, LamParameterList *list)
{
  GtkWidget *group = lam_group_new (title);
  add_rows (LAM_GROUP (group), list);
  return group;
}

GtkWidget *
lam_sequence_file_settings_new (LamSequenceSession *session)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *bloch = new_group (_ ("Model: Bloch"),
                                lam_pulseq_signal_get_parameters (lam_sequence_session_get_pulseq_signal (session)));
  add_rows (LAM_GROUP (bloch), lam_pulseq_estimate_get_parameters (lam_sequence_session_get_pulseq_estimate (session)));
  lam_group_add_row (LAM_GROUP (bloch), lam_parameter_row_new (lam_parameter_list_find (
                                            lam_sequence_session_get_model (session), "noise")));
  gtk_box_append (GTK_BOX (box), bloch);
  gtk_box_append (GTK_BOX (box),
                  new_group (_ ("Limits"), lam_pulseq_model_get_limits (lam_sequence_session_get_pulseq (session))));
  return box;
}

/* ---- opening ---- */

static void
progress_cb (LamPulseqModel *model, GtkWidget *line)
{
  GtkWidget *label = gtk_widget_get_first_child (line), *bar = gtk_widget_get_next_sibling (label);
  double fraction;
  const char *name = lam_pulseq_model_get_opening (model, &fraction);
  gtk_widget_set_visible (line, name != NULL);
  if (name == NULL)
    return;
  g_autofree char *text = g_strdup_printf (_ ("Opening %s"), name);
  gtk_label_set_text (GTK_LABEL (label), text);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (bar), fraction);
}

static void
cancel_cb (GtkButton *button, LamPulseqModel *model)
{
  lam_pulseq_model_cancel (model);
}

GtkWidget *
lam_opening_line_new (LamPulseqModel *model)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10), *label = gtk_label_new (""),
            *bar = gtk_progress_bar_new (), *button = gtk_button_new_with_label (_ ("Cancel"));
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class (label, "pane-hint");
  gtk_widget_set_hexpand (bar, TRUE);
  gtk_widget_set_valign (bar, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Opening"), -1);
  gtk_widget_add_css_class (button, "compact");
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), bar);
  gtk_box_append (GTK_BOX (line), button);
  gtk_widget_set_margin_start (line, 12);
  gtk_widget_set_margin_end (line, 12);
  gtk_widget_set_visible (line, FALSE);
  g_signal_connect_object (button, "clicked", G_CALLBACK (cancel_cb), model, 0);
  g_signal_connect_object (model, "progress", G_CALLBACK (progress_cb), line, 0);
  return line;
}
