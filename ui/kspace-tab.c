#include "config.h"

#include "kspace-tab.h"

#include <glib/gi18n.h>

#include "kspace-view.h"

struct _LamKspaceTab {
  AdwBin parent_instance;
  LamPulseqModel *model;
  LamPulseqKspace *kspace;
  GtkWidget *stack, *view, *text, *planes[LAM_KSPACE_PLANES];
};

G_DEFINE_FINAL_TYPE (LamKspaceTab, lam_kspace_tab, ADW_TYPE_BIN)

static void
update (LamKspaceTab *self)
{
  g_autofree char *text = lam_pulseq_kspace_dup_text (self->kspace);
  LamSequenceFile *file = lam_pulseq_model_get_file (self->model);
  gtk_label_set_text (GTK_LABEL (self->text), text != NULL ? text : "");
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), file == NULL                 ? "template"
                                                             : file->timing->samples == 0 ? "silent"
                                                                                          : "file");
}

static void
ready_cb (LamPulseqKspace *kspace, LamKspaceTab *self)
{
  double extent[3];
  /* The plane in which there is something to see. */
  if (lam_pulseq_kspace_get_extent (kspace, extent)) {
    LamKspacePlane plane = extent[1] > 0 || extent[2] == 0 ? LAM_KSPACE_XY
                           : extent[0] > 0                 ? LAM_KSPACE_XZ
                                                           : LAM_KSPACE_YZ;
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->planes[plane]), TRUE);
  }
  update (self);
}

static void
file_changed_cb (LamPulseqModel *model, LamKspaceTab *self)
{
  update (self);
}

static void
toggled_cb (GtkToggleButton *button, LamKspaceTab *self)
{
  for (int i = 0; i < LAM_KSPACE_PLANES; i++)
    if (GTK_WIDGET (button) == self->planes[i] && gtk_toggle_button_get_active (button))
      lam_kspace_view_set_plane (LAM_KSPACE_VIEW (self->view), i);
}

static GtkWidget *
new_head (LamKspaceTab *self)
{
  static const char *const names[LAM_KSPACE_PLANES] = {"kx–ky", "kx–kz", "ky–kz"};
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (_ ("Samples in k-space")),
            *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (title, "pane-title");
  gtk_widget_add_css_class (box, "linked");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  self->text = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->text), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (self->text, "dim-label");
  gtk_widget_add_css_class (self->text, "pane-hint");
  for (int i = 0; i < LAM_KSPACE_PLANES; i++) {
    self->planes[i] = gtk_toggle_button_new_with_label (names[i]);
    gtk_widget_add_css_class (self->planes[i], "small");
    if (i > 0)
      gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (self->planes[i]), GTK_TOGGLE_BUTTON (self->planes[0]));
    gtk_box_append (GTK_BOX (box), self->planes[i]);
  }
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->planes[0]), TRUE);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->text);
  gtk_box_append (GTK_BOX (head), box);
  return head;
}

static GtkWidget *
new_page (const char *title, const char *text, gboolean open)
{
  GtkWidget *page = adw_status_page_new ();
  adw_status_page_set_icon_name (ADW_STATUS_PAGE (page), "view-grid-symbolic");
  adw_status_page_set_title (ADW_STATUS_PAGE (page), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (page), text);
  if (open) {
    GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Open…"));
    gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open");
    gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class (button, "pill");
    adw_status_page_set_child (ADW_STATUS_PAGE (page), button);
  }
  return page;
}

GtkWidget *
lam_kspace_tab_get_view (LamKspaceTab *self)
{
  return self->view;
}

LamPulseqKspace *
lam_kspace_tab_get_kspace (LamKspaceTab *self)
{
  return self->kspace;
}

static void
lam_kspace_tab_dispose (GObject *object)
{
  LamKspaceTab *self = LAM_KSPACE_TAB (object);
  if (self->kspace != NULL)
    lam_pulseq_kspace_close (self->kspace);
  g_clear_object (&self->kspace);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_kspace_tab_parent_class)->dispose (object);
}

static void
lam_kspace_tab_class_init (LamKspaceTabClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_kspace_tab_dispose;
}

static void
lam_kspace_tab_init (LamKspaceTab *self)
{
}

GtkWidget *
lam_kspace_tab_new (LamPulseqModel *model)
{
  LamKspaceTab *self = g_object_new (LAM_TYPE_KSPACE_TAB, NULL);
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);
  self->model = g_object_ref (model);
  self->kspace = lam_pulseq_kspace_new (model);
  self->view = lam_kspace_view_new (self->kspace);
  self->stack = gtk_stack_new ();
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "pane");
  gtk_widget_set_vexpand (self->view, TRUE);
  gtk_box_append (GTK_BOX (card), new_head (self));
  gtk_box_append (GTK_BOX (card), self->view);
  gtk_widget_set_margin_start (card, 10);
  gtk_widget_set_margin_end (card, 10);
  gtk_widget_set_margin_bottom (card, 10);
  gtk_stack_add_named (
      GTK_STACK (self->stack),
      new_page (_ ("No k-space in a Template"),
                _ ("A template counts pulses and dephasing, but draws no gradients. Open a Pulseq file "
                   "to see where its samples lie."),
                TRUE),
      "template");
  gtk_stack_add_named (GTK_STACK (self->stack), new_page (_ ("No Samples"), _ ("This sequence has no readout."), FALSE),
                       "silent");
  gtk_stack_add_named (GTK_STACK (self->stack), card, "file");
  adw_bin_set_child (ADW_BIN (self), self->stack);
  for (int i = 0; i < LAM_KSPACE_PLANES; i++)
    g_signal_connect (self->planes[i], "toggled", G_CALLBACK (toggled_cb), self);
  g_signal_connect_object (self->kspace, "ready", G_CALLBACK (ready_cb), self, 0);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  update (self);
  return GTK_WIDGET (self);
}
