#include "config.h"

#include "parameter-row.h"

#include "accessible-name.h"
#include "tooltip.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "model/units.h"

struct _LamParameterRow {
  AdwActionRow parent_instance;
  LamParameter *parameter;
  GtkWidget *control, *dot, *unit;
  GtkWidget *exchange; /* in place of the unit, where there are two: a button */
  GtkFileChooserNative *chooser;
  char *refusal;     /* why the last entry was refused; shown in place of the note */
  gboolean updating; /* the control is being set from the parameter */
};

G_DEFINE_FINAL_TYPE (LamParameterRow, lam_parameter_row, ADW_TYPE_ACTION_ROW)

/* Anything typed beyond this is refused by the parameter itself; spin buttons need finite ends. */
#define FAR 1e12

static void
update_subtitle (LamParameterRow *self)
{
  g_autofree char *problem = lam_parameter_get_problem (self->parameter);
  const char *wrong = self->refusal != NULL ? self->refusal : problem;
  const char *note = wrong != NULL ? wrong : lam_parameter_get_note (self->parameter);
  g_autofree char *escaped = note != NULL ? g_markup_escape_text (note, -1) : NULL;
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), escaped != NULL ? escaped : "");
  if (wrong != NULL)
    gtk_widget_add_css_class (GTK_WIDGET (self), "refused");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "refused");
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->control), GTK_ACCESSIBLE_STATE_INVALID,
                               wrong != NULL ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

static void
refuse (LamParameterRow *self, const char *reason)
{
  g_free (self->refusal);
  self->refusal = g_strdup (reason);
  if (reason != NULL)
    gtk_widget_error_bell (GTK_WIDGET (self));
  update_subtitle (self);
}

static void
edit (LamParameterRow *self, GVariant *value)
{
  g_autoptr (GError) error = NULL;
  lam_parameter_edit (self->parameter, value, &error);
  refuse (self, error != NULL ? error->message : NULL);
}

/* -- numbers -- */

static int
input_cb (GtkSpinButton *spin, double *value, LamParameterRow *self)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (spin));
  g_autofree char *shown = lam_parameter_format (self->parameter);
  g_autoptr (GError) error = NULL;
  /* What is shown is rounded: left as it was, it is still the exact value. */
  if (g_str_equal (text, shown)) {
    *value = lam_parameter_get_number (self->parameter);
    return TRUE;
  }
  g_autoptr (GVariant) parsed = lam_parameter_parse (self->parameter, text, &error);
  if (parsed == NULL) {
    refuse (self, error->message);
    return GTK_INPUT_ERROR;
  }
  refuse (self, NULL);
  *value = g_variant_is_of_type (parsed, G_VARIANT_TYPE_INT64) ? g_variant_get_int64 (parsed)
                                                               : g_variant_get_double (parsed);
  /* An infinite distance has no place in the adjustment. */
  if (isinf (*value)) {
    edit (self, parsed);
    *value = *value > 0 ? FAR : -FAR;
  }
  return TRUE;
}

static gboolean
output_cb (GtkSpinButton *spin, LamParameterRow *self)
{
  double value = gtk_spin_button_get_value (spin);
  gboolean integer = lam_parameter_get_kind (self->parameter) == LAM_PARAMETER_INTEGER;
  const char *special = lam_parameter_get_special_text (self->parameter, value);
  g_autofree char *text = NULL;
  if (special != NULL)
    text = g_strdup (special);
  else if (fabs (value) >= FAR)
    text = g_strdup (value > 0 ? "∞" : "−∞");
  else
    text = lam_units_format (value * lam_parameter_get_shown_factor (self->parameter),
                             integer ? 0 : lam_parameter_get_shown_digits (self->parameter));
  if (!g_str_equal (text, gtk_editable_get_text (GTK_EDITABLE (spin))))
    gtk_editable_set_text (GTK_EDITABLE (spin), text);
  return TRUE;
}

static void
spin_value_cb (GtkSpinButton *spin, LamParameterRow *self)
{
  double value = gtk_spin_button_get_value (spin);
  /* A refused entry comes here too, with the value as it was: its reason stays. */
  if (self->updating || fabs (value) >= FAR || value == lam_parameter_get_number (self->parameter))
    return;
  if (lam_parameter_get_kind (self->parameter) == LAM_PARAMETER_INTEGER)
    edit (self, g_variant_new_int64 ((gint64) rint (value)));
  else
    edit (self, g_variant_new_double (value));
}

/* The wheel belongs to the list: turning it there must not change numbers under the pointer. */
static void
ignore_wheel (GtkWidget *widget)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);
    if (GTK_IS_EVENT_CONTROLLER_SCROLL (controller))
      gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_NONE);
  }
}

static GtkWidget *
new_spin (LamParameterRow *self)
{
  double step = lam_parameter_get_step (self->parameter);
  GtkAdjustment *adjustment = gtk_adjustment_new (0, -FAR, FAR, step, step * 10, 0);
  GtkWidget *spin = gtk_spin_button_new (adjustment, 0, 0);
  gtk_spin_button_set_update_policy (GTK_SPIN_BUTTON (spin), GTK_UPDATE_IF_VALID);
  gtk_editable_set_alignment (GTK_EDITABLE (spin), 1);
  ignore_wheel (spin);
  g_signal_connect (spin, "input", G_CALLBACK (input_cb), self);
  g_signal_connect (spin, "output", G_CALLBACK (output_cb), self);
  g_signal_connect (spin, "value-changed", G_CALLBACK (spin_value_cb), self);
  return spin;
}

static void
update_spin (LamParameterRow *self)
{
  GtkAdjustment *adjustment = gtk_spin_button_get_adjustment (GTK_SPIN_BUTTON (self->control));
  double min = lam_parameter_get_min (self->parameter), max = lam_parameter_get_max (self->parameter);
  double value = CLAMP (lam_parameter_get_number (self->parameter), -FAR, FAR);
  /* The ends never clamp a value that is already there. */
  gtk_adjustment_set_lower (adjustment, fmax (fmin (min, value), -FAR));
  gtk_adjustment_set_upper (adjustment, fmin (fmax (max, value), FAR));
  gtk_adjustment_set_value (adjustment, value);
  g_autofree char *text = lam_parameter_format (self->parameter);
  /* Words are read to their end, as "not checked"; of a long number the end counts less. */
  int most = lam_parameter_get_special_text (self->parameter, value) != NULL ? 12 : 9;
  gtk_editable_set_width_chars (GTK_EDITABLE (self->control), CLAMP ((int) g_utf8_strlen (text, -1), 4, most));
  output_cb (GTK_SPIN_BUTTON (self->control), self);
}

/* -- other kinds -- */

static void
switch_cb (GtkSwitch *widget, GParamSpec *pspec, LamParameterRow *self)
{
  if (!self->updating)
    edit (self, g_variant_new_boolean (gtk_switch_get_active (widget)));
}

static void
selected_cb (GtkDropDown *widget, GParamSpec *pspec, LamParameterRow *self)
{
  guint i = gtk_drop_down_get_selected (widget);
  if (!self->updating && i != GTK_INVALID_LIST_POSITION)
    edit (self, g_variant_new_string (lam_parameter_get_choice (self->parameter, i)->id));
}

static void
entry_cb (GtkWidget *widget, LamParameterRow *self)
{
  if (!self->updating)
    edit (self, g_variant_new_string (gtk_editable_get_text (GTK_EDITABLE (widget))));
}

static void
entry_leave_cb (GtkEventControllerFocus *controller, LamParameterRow *self)
{
  entry_cb (self->control, self);
}

/* -- files -- */

static void
chosen_cb (GtkNativeDialog *dialog, int response, LamParameterRow *self)
{
  g_autoptr (GFile) file =
      response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;
  if (path != NULL)
    edit (self, g_variant_new_string (path));
}

static void
choose_action (GtkWidget *widget, const char *name, GVariant *target)
{
  LamParameterRow *self = LAM_PARAMETER_ROW (widget);
  GtkRoot *root = gtk_widget_get_root (widget);
  if (lam_parameter_get_kind (self->parameter) != LAM_PARAMETER_FILE)
    return;
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (lam_parameter_get_label (self->parameter),
                                               GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL,
                                               GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), NULL);
  const char *now = lam_parameter_get_text (self->parameter);
  g_autoptr (GFile) file = *now != '\0' ? g_file_new_for_path (now) : NULL;
  if (file != NULL)
    gtk_file_chooser_set_file (GTK_FILE_CHOOSER (self->chooser), file, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_signal_connect_object (self->chooser, "response", G_CALLBACK (chosen_cb), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

static GtkWidget *
new_file_button (void)
{
  GtkWidget *button = gtk_button_new (), *label = gtk_label_new (NULL);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 14);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_widget_add_css_class (button, "file");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "row.choose-file");
  return button;
}

static void
update_file (LamParameterRow *self)
{
  const char *path = lam_parameter_get_text (self->parameter);
  g_autofree char *base = *path != '\0' ? g_path_get_basename (path) : NULL;
  g_autofree char *name = base != NULL ? g_filename_display_name (base) : g_strdup (_ ("Choose…"));
  gtk_label_set_text (GTK_LABEL (gtk_button_get_child (GTK_BUTTON (self->control))), name);
  lam_set_tooltip (self->control, base != NULL ? path : NULL);
}

/* -- choices -- */

/* Words of this length leave room for the row's own name; the list shows them whole. */
#define SHORT_CHARS 17

static void
setup_choice_cb (GtkListItemFactory *factory, GtkListItem *item, gpointer is_short)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  if (is_short != NULL) {
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars (GTK_LABEL (label), SHORT_CHARS);
  }
  gtk_list_item_set_child (item, label);
}

static void
bind_choice_cb (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkStringObject *text = GTK_STRING_OBJECT (gtk_list_item_get_item (item));
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)), gtk_string_object_get_string (text));
}

static GtkListItemFactory *
new_choice_factory (gboolean is_short)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (setup_choice_cb), GINT_TO_POINTER (is_short));
  g_signal_connect (factory, "bind", G_CALLBACK (bind_choice_cb), NULL);
  return factory;
}

static void
shorten_choices (LamParameterRow *self)
{
  gboolean any = FALSE;
  for (guint i = 0; i < lam_parameter_get_n_choices (self->parameter); i++)
    any |= g_utf8_strlen (lam_parameter_get_choice (self->parameter, i)->label, -1) > SHORT_CHARS;
  if (!any)
    return;
  g_autoptr (GtkListItemFactory) narrow = new_choice_factory (TRUE), whole = new_choice_factory (FALSE);
  gtk_drop_down_set_factory (GTK_DROP_DOWN (self->control), narrow);
  gtk_drop_down_set_list_factory (GTK_DROP_DOWN (self->control), whole);
}

static void
fill_choices (LamParameterRow *self)
{
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);
  for (guint i = 0; i < lam_parameter_get_n_choices (self->parameter); i++)
    gtk_string_list_append (labels, lam_parameter_get_choice (self->parameter, i)->label);
  self->updating = TRUE; /* it selects the first */
  gtk_drop_down_set_model (GTK_DROP_DOWN (self->control), G_LIST_MODEL (labels));
  self->updating = FALSE;
  shorten_choices (self);
}

static GtkWidget *
new_control (LamParameterRow *self)
{
  GtkWidget *widget = NULL;
  switch (lam_parameter_get_kind (self->parameter)) {
  case LAM_PARAMETER_NUMBER:
  case LAM_PARAMETER_INTEGER:
    return new_spin (self);
  case LAM_PARAMETER_SWITCH:
    widget = gtk_switch_new ();
    g_signal_connect (widget, "notify::active", G_CALLBACK (switch_cb), self);
    break;
  case LAM_PARAMETER_CHOICE:
    widget = gtk_drop_down_new (NULL, NULL);
    gtk_widget_add_css_class (widget, "flat");
    ignore_wheel (widget);
    g_signal_connect (widget, "notify::selected", G_CALLBACK (selected_cb), self);
    break;
  case LAM_PARAMETER_FILE:
    return new_file_button ();
  case LAM_PARAMETER_TEXT: {
    widget = gtk_entry_new ();
    gtk_editable_set_width_chars (GTK_EDITABLE (widget), 12);
    g_signal_connect (widget, "activate", G_CALLBACK (entry_cb), self);
    GtkEventController *focus = gtk_event_controller_focus_new ();
    g_signal_connect (focus, "leave", G_CALLBACK (entry_leave_cb), self);
    gtk_widget_add_controller (widget, focus);
    break;
  }
  }
  return widget;
}

/* -- following the parameter -- */

static void
update_tooltip (LamParameterRow *self)
{
  LamParameter *p = self->parameter;
  g_autoptr (GString) text = g_string_new (lam_parameter_get_help (p));
  LamParameterKind kind = lam_parameter_get_kind (p);
  if (kind == LAM_PARAMETER_NUMBER || kind == LAM_PARAMETER_INTEGER) {
    int digits = lam_parameter_get_shown_digits (p);
    double factor = lam_parameter_get_shown_factor (p);
    double min = lam_parameter_get_min (p) * factor, max = lam_parameter_get_max (p) * factor;
    g_autofree char *low = lam_units_format (min, digits), *high = lam_units_format (max, digits);
    if (text->len > 0)
      g_string_append_c (text, '\n');
    if (min > -1e9 && max < 1e9)
      g_string_append_printf (text, _ ("%s to %s %s"), low, high, lam_parameter_get_shown_unit (p));
    else if (min > -1e9)
      g_string_append_printf (text, _ ("from %s %s"), low, lam_parameter_get_shown_unit (p));
    else
      g_string_append (text, lam_parameter_get_shown_unit (p));
  }
  lam_set_tooltip (GTK_WIDGET (self), text->len > 0 ? text->str : NULL);
}

static void
value_notify_cb (LamParameter *parameter, GParamSpec *pspec, LamParameterRow *self)
{
  self->updating = TRUE;
  switch (lam_parameter_get_kind (parameter)) {
  case LAM_PARAMETER_NUMBER:
  case LAM_PARAMETER_INTEGER:
    update_spin (self);
    break;
  case LAM_PARAMETER_SWITCH:
    gtk_switch_set_active (GTK_SWITCH (self->control), lam_parameter_get_boolean (parameter));
    break;
  case LAM_PARAMETER_CHOICE:
    gtk_drop_down_set_selected (GTK_DROP_DOWN (self->control), lam_parameter_get_selected (parameter));
    break;
  case LAM_PARAMETER_FILE:
    update_file (self);
    break;
  case LAM_PARAMETER_TEXT:
    gtk_editable_set_text (GTK_EDITABLE (self->control), lam_parameter_get_text (parameter));
    break;
  }
  self->updating = FALSE;
  gtk_widget_set_visible (self->dot, lam_parameter_get_changed (parameter));
  g_clear_pointer (&self->refusal, g_free);
  update_subtitle (self);
  update_tooltip (self);
}

static void
update_unit (LamParameterRow *self)
{
  LamParameter *p = self->parameter;
  const char *unit = lam_parameter_get_shown_unit (p), *other = lam_parameter_get_other_unit (p);
  /* An empty unit keeps its room: all numbers stand in one column. */
  gtk_label_set_text (GTK_LABEL (self->unit), unit);
  gtk_widget_set_visible (self->unit, other == NULL);
  gtk_widget_set_visible (self->exchange, other != NULL);
  if (other == NULL)
    return;
  g_autofree char *hint = g_strdup_printf (_ ("Show in %s"), other);
  g_autofree char *name = g_strdup_printf (_ ("%s: unit %s, change to %s"), lam_parameter_get_label (p), unit, other);
  gtk_label_set_text (GTK_LABEL (gtk_button_get_child (GTK_BUTTON (self->exchange))), unit);
  lam_set_tooltip (self->exchange, hint);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->exchange), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
unit_notify_cb (LamParameter *parameter, GParamSpec *pspec, LamParameterRow *self)
{
  value_notify_cb (parameter, NULL, self);
}

static void
exchange_action (GtkWidget *widget, const char *name, GVariant *target)
{
  LamParameter *p = LAM_PARAMETER_ROW (widget)->parameter;
  lam_parameter_set_shown_unit (p, lam_parameter_get_other_unit (p));
}

static void
notify_cb (LamParameter *parameter, GParamSpec *pspec, LamParameterRow *self)
{
  const char *name = pspec != NULL ? pspec->name : "";
  gtk_widget_set_visible (GTK_WIDGET (self), lam_parameter_get_visible (parameter));
  gtk_widget_set_sensitive (GTK_WIDGET (self), lam_parameter_get_sensitive (parameter));
  /* Opening a scan tells forty rows several things each: "value" is value_notify_cb ()'s. */
  if (g_str_equal (name, "value") || g_str_equal (name, "visible") || g_str_equal (name, "sensitive"))
    return;
  gtk_widget_set_visible (self->dot, lam_parameter_get_changed (parameter));
  update_unit (self);
  update_subtitle (self);
  update_tooltip (self);
}

static void
choices_notify_cb (LamParameter *parameter, GParamSpec *pspec, LamParameterRow *self)
{
  fill_choices (self);
  value_notify_cb (parameter, NULL, self);
}

static void
dot_clicked_cb (GtkButton *button, LamParameterRow *self)
{
  /* The button goes; the focus must not go with it. */
  gtk_widget_grab_focus (self->control);
  lam_parameter_reset (self->parameter);
}

LamParameter *
lam_parameter_row_get_parameter (LamParameterRow *self)
{
  return self->parameter;
}

GtkWidget *
lam_parameter_row_get_control (LamParameterRow *self)
{
  return self->control;
}

GtkWidget *
lam_parameter_row_get_dot (LamParameterRow *self)
{
  return self->dot;
}

static void
lam_parameter_row_dispose (GObject *object)
{
  LamParameterRow *self = LAM_PARAMETER_ROW (object);
  g_clear_object (&self->chooser);
  g_clear_object (&self->parameter);
  g_clear_pointer (&self->refusal, g_free);
  G_OBJECT_CLASS (lam_parameter_row_parent_class)->dispose (object);
}

static void
lam_parameter_row_class_init (LamParameterRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_parameter_row_dispose;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (klass), "row.exchange-unit", NULL, exchange_action);
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (klass), "row.choose-file", NULL, choose_action);
}

static void
lam_parameter_row_init (LamParameterRow *self)
{
}

static GtkWidget *
new_dot (void)
{
  GtkWidget *mark = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (mark, "dot");
  gtk_widget_set_halign (mark, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (mark, GTK_ALIGN_CENTER);
  GtkWidget *button = gtk_button_new ();
  gtk_button_set_child (GTK_BUTTON (button), mark);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "changed-dot");
  return button;
}

GtkWidget *
lam_parameter_row_new (LamParameter *parameter)
{
  g_return_val_if_fail (LAM_IS_PARAMETER (parameter), NULL);
  LamParameterRow *self = g_object_new (LAM_TYPE_PARAMETER_ROW, NULL);
  const char *label = lam_parameter_get_label (parameter);
  self->parameter = g_object_ref (parameter);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), label);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (self), 3);

  self->dot = new_dot ();
  g_autofree char *reset = g_strdup_printf (_ ("Reset %s"), label);
  gtk_widget_set_tooltip_text (self->dot, _ ("Changed · click for the default"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->dot), GTK_ACCESSIBLE_PROPERTY_LABEL, reset, -1);
  g_signal_connect (self->dot, "clicked", G_CALLBACK (dot_clicked_cb), self);

  self->control = new_control (self);
  gtk_widget_set_valign (self->control, GTK_ALIGN_CENTER);
  if (GTK_IS_DROP_DOWN (self->control))
    lam_accessible_name_chooser (GTK_DROP_DOWN (self->control), label);

  self->unit = gtk_label_new (NULL);
  gtk_widget_add_css_class (self->unit, "unit");
  gtk_label_set_xalign (GTK_LABEL (self->unit), 0);
  self->exchange = gtk_button_new_with_label ("");
  gtk_label_set_xalign (GTK_LABEL (gtk_button_get_child (GTK_BUTTON (self->exchange))), 0);
  gtk_widget_add_css_class (self->exchange, "flat");
  gtk_widget_add_css_class (self->exchange, "unit");
  gtk_widget_set_valign (self->exchange, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->exchange), "row.exchange-unit");

  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->dot);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->control);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->unit);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->exchange);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (self), self->control);

  if (lam_parameter_get_kind (parameter) == LAM_PARAMETER_CHOICE)
    fill_choices (self);
  g_signal_connect_object (parameter, "notify::choices", G_CALLBACK (choices_notify_cb), self, 0);
  g_signal_connect_object (parameter, "notify::shown-unit", G_CALLBACK (unit_notify_cb), self, 0);
  g_signal_connect_object (parameter, "notify::value", G_CALLBACK (value_notify_cb), self, 0);
  g_signal_connect_object (parameter, "notify", G_CALLBACK (notify_cb), self, 0);
  notify_cb (parameter, NULL, self);
  value_notify_cb (parameter, NULL, self);
  return GTK_WIDGET (self);
}
