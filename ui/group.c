#include "config.h"

#include "group.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "accessible-name.h"
#include "model/facts.h"
#include "parameter-row.h"
#include "tooltip.h"

struct _LamGroup {
  GtkBox parent_instance;
  GtkWidget *title, *button, *list;
  GListModel *facts;
  guint before;   /* rows before those of the facts */
  gboolean wraps; /* long values of facts */
};

G_DEFINE_FINAL_TYPE (LamGroup, lam_group, GTK_TYPE_BOX)

enum { PROP_0, PROP_TITLE, PROP_COMMAND, PROP_ACTION, N_PROPS };
static GParamSpec *properties[N_PROPS];

void
lam_group_add_parameters (LamGroup *self, LamParameterList *list, const char *const *ids)
{
  g_return_if_fail (LAM_IS_GROUP (self));
  for (; *ids != NULL; ids++) {
    LamParameter *parameter = lam_parameter_list_find (list, *ids);
    g_return_if_fail (parameter != NULL);
    gtk_list_box_append (GTK_LIST_BOX (self->list), lam_parameter_row_new (parameter));
  }
}

void
lam_group_add_row (LamGroup *self, GtkWidget *row)
{
  g_return_if_fail (LAM_IS_GROUP (self) && GTK_IS_LIST_BOX_ROW (row));
  gtk_list_box_append (GTK_LIST_BOX (self->list), row);
}

/* The words of @fact on a row made by new_fact_row (). */
static void
fill_fact_row (GtkWidget *row, LamFact *fact)
{
  const char *note = lam_fact_get_note (fact);
  g_autofree char *title = g_markup_escape_text (lam_fact_get_label (fact), -1);
  g_autofree char *subtitle = g_markup_escape_text (note != NULL ? note : "", -1);
  LamFactKind kind = lam_fact_get_kind (fact);
  GtkWidget *dot = g_object_get_data (G_OBJECT (row), "dot");
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  lam_set_tooltip (row, note);
  gtk_widget_set_visible (dot, kind != LAM_FACT_PLAIN);
  gtk_widget_set_css_classes (dot, (const char *[]){kind == LAM_FACT_MISSING ? "missing-dot" : "assumed-dot", NULL});
  gtk_label_set_text (GTK_LABEL (g_object_get_data (G_OBJECT (row), "value")), lam_fact_get_value (fact));
}

static GtkWidget *
new_fact_row (LamGroup *self, LamFact *fact)
{
  GtkWidget *row = adw_action_row_new (), *dot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *value = gtk_label_new (NULL), *unit = gtk_label_new (NULL);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 5);
  gtk_widget_set_valign (dot, GTK_ALIGN_CENTER);
  gtk_label_set_ellipsize (GTK_LABEL (value), PANGO_ELLIPSIZE_END);
  if (self->wraps) {
    gtk_label_set_wrap (GTK_LABEL (value), TRUE);
    gtk_label_set_lines (GTK_LABEL (value), 4);
    gtk_label_set_width_chars (GTK_LABEL (value), 14);
    gtk_label_set_justify (GTK_LABEL (value), GTK_JUSTIFY_RIGHT);
  }
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_widget_add_css_class (value, "value");
  /* Numbers stand in one column with those of the parameter rows, which have their unit here. */
  gtk_widget_add_css_class (unit, "unit");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), dot);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), value);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), unit);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  g_object_set_data (G_OBJECT (row), "dot", dot);
  g_object_set_data (G_OBJECT (row), "value", value);
  fill_fact_row (row, fact);
  return row;
}

/* Rows are slow to make: those that are there are used again. */
static void
facts_changed_cb (GListModel *facts, guint position, guint removed, guint added, LamGroup *self)
{
  GtkListBox *list = GTK_LIST_BOX (self->list);
  for (guint i = 0; i < MAX (removed, added); i++) {
    int at = self->before + position + MIN (i, added);
    g_autoptr (LamFact) fact = i < added ? g_list_model_get_item (facts, position + i) : NULL;
    if (i < removed && i < added)
      fill_fact_row (GTK_WIDGET (gtk_list_box_get_row_at_index (list, at)), fact);
    else if (i < added)
      gtk_list_box_insert (list, new_fact_row (self, fact), at);
    else
      gtk_list_box_remove (list, GTK_WIDGET (gtk_list_box_get_row_at_index (list, at)));
  }
}

void
lam_group_wrap_values (LamGroup *self)
{
  g_return_if_fail (LAM_IS_GROUP (self) && self->facts == NULL);
  self->wraps = TRUE;
}

void
lam_group_bind_facts (LamGroup *self, GListModel *facts)
{
  g_return_if_fail (LAM_IS_GROUP (self) && self->facts == NULL);
  self->facts = g_object_ref (facts);
  while (gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), self->before) != NULL)
    self->before++;
  g_signal_connect_object (facts, "items-changed", G_CALLBACK (facts_changed_cb), self, 0);
  facts_changed_cb (facts, 0, 0, g_list_model_get_n_items (facts), self);
}

static void
lam_group_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamGroup *self = LAM_GROUP (object);
  switch (id) {
  case PROP_TITLE:
    g_value_set_string (value, gtk_label_get_text (GTK_LABEL (self->title)));
    break;
  case PROP_COMMAND:
    g_value_set_string (value, gtk_button_get_label (GTK_BUTTON (self->button)));
    break;
  case PROP_ACTION:
    g_value_set_string (value, gtk_actionable_get_action_name (GTK_ACTIONABLE (self->button)));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

/* "apply" alone would not say what of. */
static void
name_button (LamGroup *self)
{
  const char *title = gtk_label_get_text (GTK_LABEL (self->title)),
             *label = gtk_button_get_label (GTK_BUTTON (self->button));
  g_autofree char *name = label != NULL ? g_strdup_printf ("%s: %s", title, label) : NULL;
  if (name != NULL)
    lam_accessible_name (self->button, name);
}

static void
lam_group_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  LamGroup *self = LAM_GROUP (object);
  const char *text = g_value_get_string (value);
  switch (id) {
  case PROP_TITLE:
    gtk_label_set_text (GTK_LABEL (self->title), text);
    gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    text != NULL ? text : "", -1);
    name_button (self);
    break;
  case PROP_COMMAND:
    gtk_button_set_label (GTK_BUTTON (self->button), text != NULL ? text : "");
    gtk_widget_set_visible (self->button, text != NULL);
    name_button (self);
    break;
  case PROP_ACTION:
    gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button), text);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_group_dispose (GObject *object)
{
  g_clear_object (&LAM_GROUP (object)->facts);
  G_OBJECT_CLASS (lam_group_parent_class)->dispose (object);
}

static void
lam_group_class_init (LamGroupClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_group_get_property;
  object_class->set_property = lam_group_set_property;
  object_class->dispose = lam_group_dispose;
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  properties[PROP_COMMAND] = g_param_spec_string ("command", NULL, NULL, NULL, flags);
  properties[PROP_ACTION] = g_param_spec_string ("action-name", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_group_init (LamGroup *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 4);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->title = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->title), 0);
  gtk_widget_set_hexpand (self->title, TRUE);
  gtk_widget_add_css_class (self->title, "group-title");
  self->button = gtk_button_new ();
  gtk_widget_add_css_class (self->button, "flat");
  gtk_widget_add_css_class (self->button, "link-small");
  gtk_widget_set_visible (self->button, FALSE);
  gtk_box_append (GTK_BOX (head), self->title);
  gtk_box_append (GTK_BOX (head), self->button);
  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (self->list, "boxed-list");
  gtk_widget_add_css_class (self->list, "dense");
  gtk_box_append (GTK_BOX (self), head);
  gtk_box_append (GTK_BOX (self), self->list);
}

GtkWidget *
lam_group_new (const char *title)
{
  return g_object_new (LAM_TYPE_GROUP, "title", title, NULL);
}
