#include "config.h"

#include "problems-view.h"

#include <glib/gi18n.h>

struct _LamProblemsView {
  GtkBox parent_instance;
  LamPulseqModel *model;
  GtkWidget *stack, *list, *none;
};

static guint go_to_signal;

G_DEFINE_FINAL_TYPE (LamProblemsView, lam_problems_view, GTK_TYPE_BOX)

static GtkWidget *
new_text (const char *class, gboolean expand)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (label, expand);
  gtk_widget_add_css_class (label, "pane-number");
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
setup_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *sign = gtk_image_new ();
  gtk_image_set_pixel_size (GTK_IMAGE (sign), 12);
  gtk_box_append (GTK_BOX (row), sign);
  gtk_box_append (GTK_BOX (row), new_text (NULL, TRUE));
  gtk_box_append (GTK_BOX (row), new_text ("dim-label", FALSE));
  gtk_list_item_set_child (item, row);
}

static void
bind_cb (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  LamSequenceProblem *p = gtk_list_item_get_item (item);
  GtkWidget *row = gtk_list_item_get_child (item), *sign = gtk_widget_get_first_child (row),
            *text = gtk_widget_get_next_sibling (sign), *where = gtk_widget_get_next_sibling (text);
  gboolean note = lam_sequence_problem_is_note (p);
  gtk_image_set_from_icon_name (GTK_IMAGE (sign), note ? "dialog-information-symbolic" : "dialog-warning-symbolic");
  gtk_label_set_text (GTK_LABEL (text), lam_sequence_problem_get_text (p));
  gtk_widget_set_tooltip_text (text, lam_sequence_problem_get_text (p));
  gtk_label_set_text (GTK_LABEL (where), lam_sequence_problem_get_where (p));
}

static void
activate_cb (GtkListView *list, guint position, LamProblemsView *self)
{
  g_autoptr (LamSequenceProblem) p = g_list_model_get_item (lam_pulseq_model_get_problems (self->model), position);
  if (p != NULL && lam_sequence_problem_get_ps (p) >= 0)
    g_signal_emit (self, go_to_signal, 0, p);
}

static void
changed_cb (LamPulseqModel *model, LamProblemsView *self)
{
  gtk_stack_set_visible_child (GTK_STACK (self->stack),
                               g_list_model_get_n_items (lam_pulseq_model_get_problems (model)) > 0
                                   ? gtk_widget_get_parent (self->list)
                                   : self->none);
}

char *
lam_problems_view_dup_title (LamProblemsView *self)
{
  int64_t notes, n = lam_pulseq_model_count_problems (self->model, &notes);
  int64_t listed = g_list_model_get_n_items (lam_pulseq_model_get_problems (self->model));
  g_autoptr (GString) title = g_string_new (NULL);
  g_string_append_printf (title, _ ("Problems (%" G_GINT64_FORMAT ")"), n);
  if (notes > 0)
    g_string_append_printf (title, _ (" · %" G_GINT64_FORMAT " assumed"), notes);
  if (listed < n + notes) /* of each rule the first ones */
    g_string_append_printf (title, _ (" · %" G_GINT64_FORMAT " listed"), listed);
  return g_string_free (g_steal_pointer (&title), FALSE);
}

GtkWidget *
lam_problems_view_get_list (LamProblemsView *self)
{
  return self->list;
}

static void
lam_problems_view_dispose (GObject *object)
{
  LamProblemsView *self = LAM_PROBLEMS_VIEW (object);
  if (self->list != NULL)
    gtk_list_view_set_model (GTK_LIST_VIEW (self->list), NULL);
  self->list = NULL;
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_problems_view_parent_class)->dispose (object);
}

static void
lam_problems_view_class_init (LamProblemsViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_problems_view_dispose;
  go_to_signal = g_signal_new ("go-to", LAM_TYPE_PROBLEMS_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                               LAM_TYPE_SEQUENCE_PROBLEM);
}

static void
lam_problems_view_init (LamProblemsView *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (setup_cb), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cb), NULL);
  self->list = gtk_list_view_new (NULL, factory);
  gtk_list_view_set_single_click_activate (GTK_LIST_VIEW (self->list), TRUE);
  gtk_widget_add_css_class (self->list, "problems");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Problems: Enter goes to where it is"), -1);
  g_signal_connect (self->list, "activate", G_CALLBACK (activate_cb), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  self->none = gtk_label_new (_ ("None: rasters, gradients, slew rates, pulses and dead times are within the limits."));
  gtk_label_set_wrap (GTK_LABEL (self->none), TRUE);
  gtk_widget_add_css_class (self->none, "dim-label");
  gtk_widget_add_css_class (self->none, "pane-hint");
  self->stack = gtk_stack_new ();
  gtk_stack_add_child (GTK_STACK (self->stack), self->none);
  gtk_stack_add_child (GTK_STACK (self->stack), scroller);
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_widget_set_hexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (self), self->stack);
}

GtkWidget *
lam_problems_view_new (LamPulseqModel *model)
{
  LamProblemsView *self = g_object_new (LAM_TYPE_PROBLEMS_VIEW, NULL);
  g_autoptr (GtkSelectionModel) selection =
      GTK_SELECTION_MODEL (gtk_single_selection_new (g_object_ref (lam_pulseq_model_get_problems (model))));
  self->model = g_object_ref (model);
  gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (selection), FALSE);
  gtk_list_view_set_model (GTK_LIST_VIEW (self->list), selection);
  g_signal_connect_object (model, "problems-changed", G_CALLBACK (changed_cb), self, 0);
  changed_cb (model, self);
  return GTK_WIDGET (self);
}
