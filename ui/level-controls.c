#include "config.h"

#include "level-controls.h"

#include <glib/gi18n.h>
#include <string.h>

#include "accessible-name.h"
#include "model/units.h"
#include "palette.h"
#include "tooltip.h"

struct _LamLevelControls {
  GtkBox parent_instance;
  LamSliceModel *model;
  GtkWidget *entries[2], *unit, *colours, *invert;
  gboolean updating, edited; /* edited: what stands in an entry is the person's */
};

G_DEFINE_FINAL_TYPE (LamLevelControls, lam_level_controls, GTK_TYPE_BOX)

static const char *
entry_tip (int which)
{
  return which == 0 ? _ ("Lower end of the window: shown black; type a value, with a unit if you like")
                    : _ ("Upper end of the window: shown white; type a value, with a unit if you like");
}

static void
set_refused (LamLevelControls *self, int which, const char *why)
{
  GtkWidget *entry = self->entries[which];
  if (why != NULL)
    gtk_widget_add_css_class (entry, "error");
  else
    gtk_widget_remove_css_class (entry, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_STATE_INVALID,
                               why != NULL ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
  lam_set_tooltip (entry, why != NULL ? why : entry_tip (which));
}

static void
update_level (LamLevelControls *self)
{
  double level[2];
  lam_slice_model_get_level (self->model, &level[0], &level[1]);
  self->updating = TRUE;
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = lam_slice_model_format_value (level[i], level[1] - level[0]);
    if (g_strcmp0 (text, gtk_editable_get_text (GTK_EDITABLE (self->entries[i]))) != 0)
      gtk_editable_set_text (GTK_EDITABLE (self->entries[i]), text);
    set_refused (self, i, NULL);
  }
  self->updating = self->edited = FALSE;
}

static void
notify_cb (LamSliceModel *model, GParamSpec *pspec, LamLevelControls *self)
{
  const char *name = pspec != NULL ? pspec->name : "";
  gboolean all = pspec == NULL;
  self->updating = TRUE;
  if (all || g_str_equal (name, "colour-map"))
    gtk_drop_down_set_selected (GTK_DROP_DOWN (self->colours), lam_slice_model_get_colour_map (model));
  if (all || g_str_equal (name, "inverted"))
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->invert), lam_slice_model_get_inverted (model));
  if (all || g_str_equal (name, "snapshot")) {
    LamSnapshot *shot = lam_slice_model_get_snapshot (model);
    const char *unit = shot != NULL ? lam_snapshot_info (shot)->value_unit : "";
    if (g_strcmp0 (gtk_label_get_text (GTK_LABEL (self->unit)), unit) != 0)
      gtk_label_set_text (GTK_LABEL (self->unit), unit);
  }
  self->updating = FALSE;
  /* An automatic level that follows a run does not take a half typed value away. */
  if (all || ((g_str_equal (name, "low") || g_str_equal (name, "high")) && !self->edited))
    update_level (self);
}

/* Takes over what was typed; what cannot be stays there, with the reason. */
static gboolean
apply (LamLevelControls *self, int which)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (self->model);
  const LamSnapshotInfo *info = shot != NULL ? lam_snapshot_info (shot) : NULL;
  double level[2], value, pixel = info != NULL && g_str_equal (info->length_unit, "mm") ? info->pitch_x : 0;
  g_autoptr (GError) error = NULL;
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->entries[which]));
  lam_slice_model_get_level (self->model, &level[0], &level[1]);
  g_autofree char *shown = lam_slice_model_format_value (level[which], level[1] - level[0]);
  /* More digits than are shown survive being looked at. */
  if (!self->edited || g_str_equal (shown, text)) {
    update_level (self);
    return TRUE;
  }
  if (!lam_units_parse (text, info != NULL ? info->value_unit : NULL, pixel, &value, &error)) {
    set_refused (self, which, error->message);
    return FALSE;
  }
  level[which] = value;
  if (!(level[0] < level[1]) || value - value != 0) {
    set_refused (self, which, _ ("The lower end must be below the upper one, and both finite"));
    return FALSE;
  }
  self->edited = FALSE;
  lam_slice_model_set_level (self->model, level[0], level[1]);
  update_level (self);
  return TRUE;
}

static int
which_entry (LamLevelControls *self, gpointer entry)
{
  return entry == (gpointer) self->entries[1];
}

static void
activate_cb (GtkEntry *entry, LamLevelControls *self)
{
  if (!apply (self, which_entry (self, entry)))
    gtk_widget_error_bell (GTK_WIDGET (entry));
}

static void
changed_cb (GtkEditable *entry, LamLevelControls *self)
{
  if (self->updating)
    return;
  self->edited = TRUE;
  set_refused (self, which_entry (self, entry), NULL);
}

static void
leave_cb (GtkEventControllerFocus *controller, LamLevelControls *self)
{
  int which = which_entry (self, gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller)));
  if (self->model == NULL || apply (self, which))
    return;
  /* Left unusable: back to what is. */
  update_level (self);
}

static gboolean
escape_cb (GtkWidget *entry, GVariant *args, gpointer data)
{
  LamLevelControls *self = data;
  if (!self->edited)
    return FALSE;
  update_level (self);
  return TRUE;
}

static void
colours_cb (GtkDropDown *colours, GParamSpec *pspec, LamLevelControls *self)
{
  guint selected = gtk_drop_down_get_selected (colours);
  if (!self->updating && self->model != NULL && selected < LAM_COLOUR_MAPS)
    lam_slice_model_set_colour_map (self->model, selected);
}

static void
invert_cb (GtkToggleButton *button, LamLevelControls *self)
{
  if (!self->updating && self->model != NULL)
    lam_slice_model_set_inverted (self->model, gtk_toggle_button_get_active (button));
}

void
lam_level_controls_set_model (LamLevelControls *self, LamSliceModel *model)
{
  g_return_if_fail (LAM_IS_LEVEL_CONTROLS (self) && self->model == NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "notify", G_CALLBACK (notify_cb), self, 0);
  notify_cb (model, NULL, self);
}

GtkWidget *
lam_level_controls_get_entry (LamLevelControls *self, int which)
{
  g_return_val_if_fail (LAM_IS_LEVEL_CONTROLS (self) && which >= 0 && which < 2, NULL);
  return self->entries[which];
}

static void
lam_level_controls_dispose (GObject *object)
{
  g_clear_object (&LAM_LEVEL_CONTROLS (object)->model);
  G_OBJECT_CLASS (lam_level_controls_parent_class)->dispose (object);
}

static void
lam_level_controls_class_init (LamLevelControlsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_level_controls_dispose;
}

static void
lam_level_controls_init (LamLevelControls *self)
{
  const char *const labels[] = {_ ("Lower end of the window"), _ ("Upper end of the window")};
  GtkWidget *ends = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *look = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_widget_add_css_class (GTK_WIDGET (self), "levels");
  for (int i = 0; i < 2; i++) {
    GtkWidget *entry = self->entries[i] = gtk_entry_new ();
    gtk_editable_set_width_chars (GTK_EDITABLE (entry), 8);
    gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), 8);
    gtk_entry_set_input_purpose (GTK_ENTRY (entry), GTK_INPUT_PURPOSE_NUMBER);
    gtk_widget_set_hexpand (entry, TRUE);
    gtk_widget_set_tooltip_text (entry, entry_tip (i));
    gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, labels[i], -1);
    g_signal_connect (entry, "activate", G_CALLBACK (activate_cb), self);
    g_signal_connect (entry, "changed", G_CALLBACK (changed_cb), self);
    GtkEventController *focus = gtk_event_controller_focus_new ();
    g_signal_connect (focus, "leave", G_CALLBACK (leave_cb), self);
    gtk_widget_add_controller (entry, focus);
    GtkEventController *keys = gtk_shortcut_controller_new ();
    gtk_shortcut_controller_add_shortcut (
        GTK_SHORTCUT_CONTROLLER (keys),
        gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Escape, 0), gtk_callback_action_new (escape_cb, self, NULL)));
    gtk_widget_add_controller (entry, keys);
    if (i == 1) {
      GtkWidget *to = gtk_label_new ("–");
      gtk_widget_add_css_class (to, "dim-label");
      gtk_box_append (GTK_BOX (ends), to);
    }
    gtk_box_append (GTK_BOX (ends), entry);
  }
  self->unit = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (self->unit), 0);
  gtk_label_set_width_chars (GTK_LABEL (self->unit), 5);
  gtk_widget_add_css_class (self->unit, "pane-hint");
  gtk_widget_add_css_class (self->unit, "dim-label");
  gtk_box_append (GTK_BOX (ends), self->unit);

  const char *names[LAM_COLOUR_MAPS + 1] = {NULL};
  for (int i = 0; i < LAM_COLOUR_MAPS; i++)
    names[i] = lam_colour_map_name (i);
  self->colours = gtk_drop_down_new_from_strings (names);
  gtk_widget_set_hexpand (self->colours, TRUE);
  gtk_widget_set_tooltip_text (self->colours, _ ("Colours of the values"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->colours), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Colours"), -1);
  lam_accessible_name_chooser (GTK_DROP_DOWN (self->colours), _ ("Colours"));
  g_signal_connect (self->colours, "notify::selected", G_CALLBACK (colours_cb), self);
  self->invert = gtk_toggle_button_new ();
  gtk_button_set_icon_name (GTK_BUTTON (self->invert), "lamina-invert-symbolic");
  gtk_widget_set_tooltip_text (self->invert, _ ("Invert: small values bright (I)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->invert), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Invert"), -1);
  g_signal_connect (self->invert, "toggled", G_CALLBACK (invert_cb), self);
  gtk_box_append (GTK_BOX (look), self->colours);
  gtk_box_append (GTK_BOX (look), self->invert);
  gtk_box_append (GTK_BOX (self), ends);
  gtk_box_append (GTK_BOX (self), look);
}
