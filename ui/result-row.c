#include "config.h"

#include "result-row.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include "model/facts.h"
#include "tooltip.h"

struct _LamResultRow {
  AdwActionRow parent_instance;
  LamResult *result;
  LamSession *session;
  GtkWidget *shown, *dot, *menu, *popover, *name, *facts, *use, *save;
};

G_DEFINE_FINAL_TYPE (LamResultRow, lam_result_row, ADW_TYPE_ACTION_ROW)

static void
result_notify_cb (LamResult *result, GParamSpec *pspec, LamResultRow *self)
{
  g_autofree char *name = g_markup_escape_text (lam_result_get_name (result), -1);
  g_autofree char *plain = lam_result_dup_detail (result), *detail = g_markup_escape_text (plain, -1);
  gboolean shown = lam_result_get_shown (result);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), name);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), detail);
  gtk_widget_set_opacity (self->shown, shown ? 1 : 0);
  gtk_widget_set_visible (self->dot, !lam_result_get_safe (result));
  gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_SELECTED, shown, -1);
  lam_set_tooltip (GTK_WIDGET (self), lam_result_get_problem (result) != NULL ? lam_result_get_problem (result)
                                      : shown                                 ? _ ("In view")
                                              : _ ("Show this result with its curve and log (Enter)"));
}

/* Nothing is shown again while a run goes. */
static void
session_state_cb (LamSession *session, GParamSpec *pspec, LamResultRow *self)
{
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (self), lam_session_can_show (session, self->result));
}

static void
activated_cb (AdwActionRow *row, gpointer data)
{
  LamResultRow *self = LAM_RESULT_ROW (row);
  lam_session_show_result (self->session, self->result);
}

/* -- menu -- */

static void
rename_now (LamResultRow *self)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->name));
  if (!lam_result_rename (self->result, text))
    gtk_editable_set_text (GTK_EDITABLE (self->name), lam_result_get_name (self->result));
}

static void
name_activate_cb (GtkEntry *entry, LamResultRow *self)
{
  rename_now (self);
  gtk_popover_popdown (GTK_POPOVER (self->popover));
}

static void
closed_cb (GtkPopover *popover, LamResultRow *self)
{
  rename_now (self);
}

static void
use_cb (GtkButton *button, LamResultRow *self)
{
  gtk_popover_popdown (GTK_POPOVER (self->popover));
  lam_session_use_parameters (self->session, self->result);
}

static void
save_cb (GtkButton *button, LamResultRow *self)
{
  gtk_popover_popdown (GTK_POPOVER (self->popover));
  int at = lam_results_index (lam_session_get_results (self->session), self->result);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.save-result", "i", at);
}

static void
remove_cb (GtkButton *button, LamResultRow *self)
{
  g_autoptr (LamResult) result = g_object_ref (self->result);
  g_autoptr (LamSession) session = g_object_ref (self->session);
  gtk_popover_popdown (GTK_POPOVER (self->popover));
  lam_session_remove_result (session, result);
}

/* Its numbers as text: they are labels, which a pointer can select and keys cannot. */
static void
copy_cb (GtkButton *button, LamResultRow *self)
{
  g_autoptr (GListModel) facts = lam_result_list_parameters (self->result);
  g_autoptr (GString) text = g_string_new (lam_result_get_name (self->result));
  g_string_append_c (text, '\n');
  for (guint i = 0; i < g_list_model_get_n_items (facts); i++) {
    g_autoptr (LamFact) fact = g_list_model_get_item (facts, i);
    const char *note = lam_fact_get_note (fact);
    g_string_append_printf (text, note != NULL ? "%s: %s (%s)\n" : "%s: %s\n", lam_fact_get_label (fact),
                            lam_fact_get_value (fact), note);
  }
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text->str);
  gtk_popover_popdown (GTK_POPOVER (self->popover));
}

static void
fill_facts (LamResultRow *self)
{
  GtkGrid *grid = GTK_GRID (self->facts);
  g_autoptr (GListModel) facts = lam_result_list_parameters (self->result);
  while (gtk_widget_get_first_child (self->facts) != NULL)
    gtk_grid_remove (grid, gtk_widget_get_first_child (self->facts));
  for (guint i = 0; i < g_list_model_get_n_items (facts); i++) {
    g_autoptr (LamFact) fact = g_list_model_get_item (facts, i);
    GtkWidget *label = gtk_label_new (lam_fact_get_label (fact)), *value = gtk_label_new (lam_fact_get_value (fact));
    gtk_label_set_xalign (GTK_LABEL (label), 0);
    gtk_label_set_xalign (GTK_LABEL (value), 1);
    gtk_widget_set_hexpand (value, TRUE);
    gtk_label_set_ellipsize (GTK_LABEL (value), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_selectable (GTK_LABEL (value), TRUE);
    gtk_widget_set_can_focus (value, FALSE);
    gtk_widget_add_css_class (label, "dim-label");
    gtk_widget_add_css_class (value, "numeric");
    lam_set_tooltip (value, lam_fact_get_note (fact));
    gtk_grid_attach (grid, label, 0, (int) i, 1, 1);
    gtk_grid_attach (grid, value, 1, (int) i, 1, 1);
  }
}

static void
show_cb (GtkPopover *popover, LamResultRow *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->name), lam_result_get_name (self->result));
  gtk_widget_set_sensitive (self->save, lam_result_get_recon (self->result)->volume != NULL);
  gtk_widget_set_sensitive (self->use, lam_result_get_parameters (self->result) != NULL);
  fill_facts (self);
}

static GtkWidget *
add_button (LamResultRow *self, GtkWidget *box, const char *label, const char *tooltip, GCallback callback)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  gtk_widget_set_tooltip_text (button, tooltip);
  g_signal_connect (button, "clicked", callback, self);
  gtk_box_append (GTK_BOX (box), button);
  return button;
}

static void
build_popover (LamResultRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10), *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->popover = gtk_popover_new ();
  self->name = gtk_entry_new ();
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->name), _ ("Name"));
  gtk_widget_set_tooltip_text (self->name, _ ("The name of this result"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->name), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Name"), -1);
  self->facts = gtk_grid_new ();
  gtk_grid_set_row_spacing (GTK_GRID (self->facts), 3);
  gtk_grid_set_column_spacing (GTK_GRID (self->facts), 24);
  gtk_box_set_homogeneous (GTK_BOX (buttons), TRUE);
  self->use = add_button (self, buttons, _ ("_Use Parameters"), _ ("The next run has the parameters of this one"),
                          G_CALLBACK (use_cb));
  self->save = add_button (self, buttons, _ ("_Save…"), _ ("Save this result as a file"), G_CALLBACK (save_cb));
  add_button (self, buttons, _ ("_Copy"), _ ("Copy these numbers as text"), G_CALLBACK (copy_cb));
  add_button (self, buttons, _ ("_Remove"), _ ("Takes it off the list; can be undone"), G_CALLBACK (remove_cb));
  gtk_box_append (GTK_BOX (box), self->name);
  gtk_box_append (GTK_BOX (box), self->facts);
  gtk_box_append (GTK_BOX (box), buttons);
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 6);
  gtk_popover_set_child (GTK_POPOVER (self->popover), box);
  lam_accessible_mend (box);
  g_signal_connect (self->name, "activate", G_CALLBACK (name_activate_cb), self);
  g_signal_connect (self->popover, "show", G_CALLBACK (show_cb), self);
  g_signal_connect (self->popover, "closed", G_CALLBACK (closed_cb), self);
}

/* When it is first asked for: a run that ends makes a row, and most menus are never opened. */
static void
create_popover (GtkMenuButton *menu, gpointer row)
{
  LamResultRow *self = row;
  if (self->popover != NULL)
    return;
  build_popover (self);
  gtk_menu_button_set_popover (menu, self->popover);
}

void
lam_result_row_rename (LamResultRow *self)
{
  g_return_if_fail (LAM_IS_RESULT_ROW (self));
  gtk_menu_button_popup (GTK_MENU_BUTTON (self->menu));
  gtk_widget_grab_focus (self->name);
}

static gboolean
key_cb (GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, LamResultRow *self)
{
  if (key == GDK_KEY_F2)
    lam_result_row_rename (self);
  else if (key == GDK_KEY_Delete)
    remove_cb (NULL, self);
  else if (key == GDK_KEY_Menu)
    gtk_menu_button_popup (GTK_MENU_BUTTON (self->menu));
  else
    return FALSE;
  return TRUE;
}

LamResult *
lam_result_row_get_result (LamResultRow *self)
{
  return self->result;
}

static void
lam_result_row_dispose (GObject *object)
{
  LamResultRow *self = LAM_RESULT_ROW (object);
  g_clear_object (&self->session);
  g_clear_object (&self->result);
  G_OBJECT_CLASS (lam_result_row_parent_class)->dispose (object);
}

static void
lam_result_row_class_init (LamResultRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_result_row_dispose;
}

static void
lam_result_row_init (LamResultRow *self)
{
  self->shown = gtk_image_new_from_icon_name ("object-select-symbolic");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->shown), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("In view"), -1);
  adw_action_row_add_prefix (ADW_ACTION_ROW (self), self->shown);
  self->dot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_set_valign (self->dot, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->dot, "unsaved-dot");
  gtk_widget_set_tooltip_text (self->dot, _ ("Not saved in a file yet"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->dot);
  self->menu = gtk_menu_button_new ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (self->menu), "view-more-symbolic");
  gtk_menu_button_set_create_popup_func (GTK_MENU_BUTTON (self->menu), create_popover, self, NULL);
  gtk_widget_set_valign (self->menu, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->menu, "flat");
  gtk_widget_set_tooltip_text (self->menu, _ ("What it was made with; rename, save, remove (F2)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->menu), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Details"), -1);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->menu);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (self), 1);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (self), 2);
  GtkEventController *keys = gtk_event_controller_key_new ();
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect (self, "activated", G_CALLBACK (activated_cb), NULL);
}

GtkWidget *
lam_result_row_new (LamResult *result, LamSession *session)
{
  g_return_val_if_fail (LAM_IS_RESULT (result) && LAM_IS_SESSION (session), NULL);
  LamResultRow *self = g_object_new (LAM_TYPE_RESULT_ROW, NULL);
  self->result = g_object_ref (result);
  self->session = g_object_ref (session);
  g_signal_connect_object (result, "notify", G_CALLBACK (result_notify_cb), self, 0);
  g_signal_connect_object (session, "notify::state", G_CALLBACK (session_state_cb), self, 0);
  result_notify_cb (result, NULL, self);
  session_state_cb (session, NULL, self);
  return GTK_WIDGET (self);
}
