#include "config.h"

#include "results-pane.h"

#include <glib/gi18n.h>

#include "result-row.h"

struct _LamResultsPane {
  GtkBox parent_instance;
  LamSession *session;
  GtkWidget *live, *list;
};

G_DEFINE_FINAL_TYPE (LamResultsPane, lam_results_pane, GTK_TYPE_BOX)

static GtkWidget *
new_row (gpointer result, gpointer data)
{
  return lam_result_row_new (result, LAM_RESULTS_PANE (data)->session);
}

static void
items_changed_cb (GListModel *results, guint position, guint removed, guint added, LamResultsPane *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self), g_list_model_get_n_items (results) > 0);
}

static void
session_notify_cb (LamSession *session, GParamSpec *pspec, LamResultsPane *self)
{
  gtk_widget_set_visible (self->live, lam_session_get_shown (session) != NULL);
}

static void
live_cb (GtkButton *button, LamResultsPane *self)
{
  lam_session_show_live (self->session);
}

void
lam_results_pane_set_session (LamResultsPane *self, LamSession *session)
{
  g_return_if_fail (LAM_IS_RESULTS_PANE (self) && LAM_IS_SESSION (session) && self->session == NULL);
  GListModel *results = G_LIST_MODEL (lam_session_get_results (session));
  self->session = g_object_ref (session);
  gtk_list_box_bind_model (GTK_LIST_BOX (self->list), results, new_row, self, NULL);
  g_signal_connect_object (results, "items-changed", G_CALLBACK (items_changed_cb), self, 0);
  g_signal_connect_object (session, "notify::shown", G_CALLBACK (session_notify_cb), self, 0);
  items_changed_cb (results, 0, 0, 0, self);
  session_notify_cb (session, NULL, self);
}

static void
lam_results_pane_dispose (GObject *object)
{
  LamResultsPane *self = LAM_RESULTS_PANE (object);
  if (self->list != NULL)
    gtk_list_box_bind_model (GTK_LIST_BOX (self->list), NULL, NULL, NULL, NULL);
  self->list = NULL;
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_results_pane_parent_class)->dispose (object);
}

static void
lam_results_pane_class_init (LamResultsPaneClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_results_pane_dispose;
}

static void
lam_results_pane_init (LamResultsPane *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *title = gtk_label_new (_ ("Results"));
  GtkWidget *scroller = gtk_scrolled_window_new ();
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 4);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "pane");
  gtk_widget_add_css_class (title, "pane-title");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  self->live = gtk_button_new_with_label (_ ("Live slice"));
  gtk_widget_add_css_class (self->live, "flat");
  gtk_widget_add_css_class (self->live, "small");
  gtk_widget_set_tooltip_text (self->live, _ ("Show the live slice again, which follows the geometry"));
  g_signal_connect (self->live, "clicked", G_CALLBACK (live_cb), self);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->live);
  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (self->list, "dense");
  gtk_widget_add_css_class (self->list, "results");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Results"), -1);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->list);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_widget_set_size_request (GTK_WIDGET (self), 190, -1);
  gtk_box_append (GTK_BOX (self), head);
  gtk_box_append (GTK_BOX (self), scroller);
}
