#include "config.h"

#include "import-sheet.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include "group.h"

struct _LamImportSheet {
  AdwWindow parent_instance;
  LamSession *session;
  AdwWindowTitle *title;
  GtkWidget *again;
  LamGroup *missing, *assumed, *found, *said;
};

G_DEFINE_FINAL_TYPE (LamImportSheet, lam_import_sheet, ADW_TYPE_WINDOW)

static void
update (LamImportSheet *self)
{
  LamImport *import = lam_session_get_import (self->session);
  LamSessionState state = lam_session_get_state (self->session);
  const char *path = lam_import_get_path (import);
  g_autofree char *name = path != NULL ? g_path_get_basename (path) : NULL;
  LamGroup *groups[] = {self->found, self->assumed, self->missing};
  for (int i = 0; i < LAM_IMPORT_LISTS; i++)
    gtk_widget_set_visible (GTK_WIDGET (groups[i]), g_list_model_get_n_items (lam_import_get_facts (import, i)) > 0);
  adw_window_title_set_subtitle (self->title, name != NULL ? name : "");
  gtk_widget_set_sensitive (self->again, path != NULL && state != LAM_SESSION_RUNNING && state != LAM_SESSION_PAUSED);
}

static void
notify_cb (GObject *object, GParamSpec *pspec, LamImportSheet *self)
{
  update (self);
}

static void
again_cb (GtkButton *button, LamImportSheet *self)
{
  lam_session_import (self->session);
}

static void
lam_import_sheet_dispose (GObject *object)
{
  g_clear_object (&LAM_IMPORT_SHEET (object)->session);
  G_OBJECT_CLASS (lam_import_sheet_parent_class)->dispose (object);
}

static void
lam_import_sheet_class_init (LamImportSheetClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_import_sheet_dispose;
  g_type_ensure (LAM_TYPE_GROUP);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/import-sheet.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamImportSheet, name)
  BIND (title);
  BIND (again);
  BIND (missing);
  BIND (assumed);
  BIND (found);
  BIND (said);
#undef BIND
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
lam_import_sheet_init (LamImportSheet *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lam_accessible_mend (GTK_WIDGET (self));
  g_signal_connect (self->again, "clicked", G_CALLBACK (again_cb), self);
}

GtkWidget *
lam_import_sheet_new (GtkWindow *parent, LamSession *session)
{
  LamImportSheet *self =
      g_object_new (LAM_TYPE_IMPORT_SHEET, "transient-for", parent, "destroy-with-parent", TRUE, NULL);
  LamImport *import = lam_session_get_import (session);
  self->session = g_object_ref (session);
  lam_group_wrap_values (self->found);
  lam_group_wrap_values (self->assumed);
  lam_group_wrap_values (self->missing);
  lam_group_bind_facts (self->found, lam_import_get_facts (import, LAM_IMPORT_FOUND));
  lam_group_bind_facts (self->assumed, lam_import_get_facts (import, LAM_IMPORT_ASSUMED));
  lam_group_bind_facts (self->missing, lam_import_get_facts (import, LAM_IMPORT_MISSING));
  lam_group_add_parameters (self->said, lam_import_get_parameters (import), lam_import_ids ());
  g_signal_connect_object (import, "notify::path", G_CALLBACK (notify_cb), self, 0);
  g_signal_connect_object (session, "notify::state", G_CALLBACK (notify_cb), self, 0);
  update (self);
  return GTK_WIDGET (self);
}
