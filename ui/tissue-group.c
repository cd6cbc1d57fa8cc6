#include "config.h"

#include "tissue-group.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "model/tissue-presets.h"
#include "palette.h"
#include "parameter-row.h"

struct _LamTissueGroup {
  GtkBox parent_instance;
  LamSequenceSession *session;
  GtkWidget *chart, *button; /* of the popover */
};

G_DEFINE_FINAL_TYPE (LamTissueGroup, lam_tissue_group, GTK_TYPE_BOX)

enum { DESCRIBE, REFUSED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* ---- rows ---- */

static void
draw_swatch (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer item)
{
  GdkRGBA colour = lam_palette_series (GTK_WIDGET (area), lam_tissue_item_get_colour (item));
  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_rectangle (cr, 0, (height - 11) / 2.0, 11, 11);
  cairo_fill (cr);
}

static void
remove_cb (GtkButton *button, LamTissueGroup *self)
{
  lam_sequence_session_remove_tissue (self->session, g_object_get_data (G_OBJECT (button), "item"));
}

/* Its rows are made when they are first looked at: they are many. */
static void
expanded_cb (AdwExpanderRow *row, GParamSpec *pspec, LamTissueItem *item)
{
  LamParameterList *list = lam_tissue_item_get_parameters (item);
  if (g_object_get_data (G_OBJECT (row), "filled") != NULL)
    return;
  g_object_set_data (G_OBJECT (row), "filled", row);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++) {
    g_autoptr (LamParameter) p = g_list_model_get_item (G_LIST_MODEL (list), i);
    adw_expander_row_add_row (row, lam_parameter_row_new (p));
  }
}

static void
warning_cb (LamTissueItem *item, GParamSpec *pspec, GtkWidget *row)
{
  const char *text = lam_tissue_item_get_warning (item);
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (row), text != NULL ? text : "");
  gtk_widget_set_tooltip_text (row, text != NULL ? _ ("No tissue is so; it is computed as given.")
                                                 : lam_tissue_item_get_source (item));
  if (text != NULL)
    gtk_widget_add_css_class (row, "warned");
  else
    gtk_widget_remove_css_class (row, "warned");
}

static GtkWidget *
new_tissue_row (gpointer object, gpointer data)
{
  LamTissueItem *item = object;
  GtkWidget *row = adw_expander_row_new (), *swatch = gtk_drawing_area_new (), *summary = gtk_label_new (NULL),
            *button = gtk_button_new_from_icon_name ("list-remove-symbolic");
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (swatch), 11);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (swatch), 20);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), draw_swatch, g_object_ref (item), g_object_unref);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), lam_tissue_item_get_name (item));
  adw_expander_row_add_prefix (ADW_EXPANDER_ROW (row), swatch);
  gtk_widget_add_css_class (summary, "value");
  g_object_bind_property (item, "summary", summary, "label", G_BINDING_SYNC_CREATE);
  adw_expander_row_add_action (ADW_EXPANDER_ROW (row), summary);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _ ("Remove this tissue"));
  g_autofree char *label = g_strdup_printf (_ ("Remove %s"), lam_tissue_item_get_name (item));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data_full (G_OBJECT (button), "item", g_object_ref (item), g_object_unref);
  g_signal_connect_object (button, "clicked", G_CALLBACK (remove_cb), data, 0);
  adw_expander_row_add_action (ADW_EXPANDER_ROW (row), button);
  g_signal_connect_object (item, "notify::warning", G_CALLBACK (warning_cb), row, 0);
  warning_cb (item, NULL, row);
  g_signal_connect (row, "notify::expanded", G_CALLBACK (expanded_cb), item);
  return row;
}

/* ---- adding ---- */

static void
preset_cb (GtkButton *button, LamTissueGroup *self)
{
  int i = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "preset"));
  g_autoptr (GError) error = NULL;
  double t1, t2;
  const char *source;
  g_autofree char *name = lam_tissue_preset_describe (i, &t1, &t2, &source);
  if (lam_sequence_session_add_tissue (self->session, name, t1, t2, source, &error) == NULL)
    g_signal_emit (self, signals[REFUSED], 0, error->message);
  GtkWidget *popover = gtk_widget_get_ancestor (GTK_WIDGET (button), GTK_TYPE_POPOVER);
  if (popover != NULL)
    gtk_popover_popdown (GTK_POPOVER (popover));
}

static GtkWidget *
new_preset_popover (LamTissueGroup *self)
{
  GtkWidget *popover = gtk_popover_new (), *scroller = gtk_scrolled_window_new (),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_width (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), 420);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  for (int i = 0; i < lam_tissue_preset_count (); i++) {
    double t1, t2;
    const char *source;
    g_autofree char *name = lam_tissue_preset_describe (i, &t1, &t2, &source);
    g_autofree char *text = g_strdup_printf ("%s   %.4g / %.4g ms", name, t1, t2);
    GtkWidget *button = gtk_button_new_with_label (text);
    gtk_widget_set_halign (gtk_button_get_child (GTK_BUTTON (button)), GTK_ALIGN_START);
    gtk_widget_add_css_class (button, "flat");
    gtk_widget_set_tooltip_text (button, source);
    g_object_set_data (G_OBJECT (button), "preset", GINT_TO_POINTER (i));
    g_signal_connect_object (button, "clicked", G_CALLBACK (preset_cb), self, 0);
    gtk_box_append (GTK_BOX (box), button);
  }
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), box);
  gtk_popover_set_child (GTK_POPOVER (popover), scroller);
  return popover;
}

static void
describe_cb (LamTissueChart *chart, const char *text, LamTissueGroup *self)
{
  g_signal_emit (self, signals[DESCRIBE], 0, text);
}

static void
refused_cb (LamTissueChart *chart, const char *text, LamTissueGroup *self)
{
  g_signal_emit (self, signals[REFUSED], 0, text);
}

/* Below the list: a button whose popover is the T1-T2 chart. */
static GtkWidget *
new_chart_button (LamTissueGroup *self)
{
  GtkWidget *button = gtk_menu_button_new (), *popover = gtk_popover_new (),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4),
            *hint =
                gtk_label_new (_ ("Drag a tissue · click a dot to add a measured one · double click adds one there"));
  self->chart = lam_tissue_chart_new (self->session);
  gtk_widget_add_css_class (hint, "dim-label");
  gtk_widget_add_css_class (hint, "pane-hint");
  gtk_label_set_wrap (GTK_LABEL (hint), TRUE);
  gtk_widget_set_size_request (self->chart, 480, 380);
  gtk_box_append (GTK_BOX (box), self->chart);
  gtk_box_append (GTK_BOX (box), hint);
  gtk_popover_set_child (GTK_POPOVER (popover), box);
  gtk_popover_set_position (GTK_POPOVER (popover), GTK_POS_RIGHT);
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), _ ("Add on the T1–T2 chart"));
  gtk_menu_button_set_direction (GTK_MENU_BUTTON (button), GTK_ARROW_RIGHT);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (button), popover);
  gtk_widget_add_css_class (button, "compact");
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  g_signal_connect_object (self->chart, "describe", G_CALLBACK (describe_cb), self, 0);
  g_signal_connect_object (self->chart, "refused", G_CALLBACK (refused_cb), self, 0);
  self->button = button;
  return button;
}

static GtkWidget *
new_head (LamTissueGroup *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *title = gtk_label_new (_ ("Tissues")),
            *button = gtk_menu_button_new ();
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_widget_add_css_class (title, "group-title");
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), _ ("Add"));
  gtk_widget_add_css_class (button, "compact");
  gtk_widget_add_css_class (button, "flat");
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (button), new_preset_popover (self));
  gtk_widget_set_tooltip_text (button,
                               _ ("Add a tissue from the list of measured ones; its values can be changed after"));
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), button);
  return head;
}

LamTissueChart *
lam_tissue_group_get_chart (LamTissueGroup *self)
{
  return LAM_TISSUE_CHART (self->chart);
}

void
lam_tissue_group_open_chart (LamTissueGroup *self)
{
  gtk_menu_button_popup (GTK_MENU_BUTTON (self->button));
}

static void
lam_tissue_group_dispose (GObject *object)
{
  g_clear_object (&LAM_TISSUE_GROUP (object)->session);
  G_OBJECT_CLASS (lam_tissue_group_parent_class)->dispose (object);
}

static void
lam_tissue_group_class_init (LamTissueGroupClass *klass)
{
  static const char *const names[N_SIGNALS] = {"describe", "refused"};
  G_OBJECT_CLASS (klass)->dispose = lam_tissue_group_dispose;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], LAM_TYPE_TISSUE_GROUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                               G_TYPE_STRING);
}

static void
lam_tissue_group_init (LamTissueGroup *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 4);
}

GtkWidget *
lam_tissue_group_new (LamSequenceSession *session)
{
  LamTissueGroup *self = g_object_new (LAM_TYPE_TISSUE_GROUP, NULL);
  GtkWidget *list = gtk_list_box_new ();
  self->session = g_object_ref (session);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_widget_add_css_class (list, "dense");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Tissues"), -1);
  gtk_list_box_bind_model (GTK_LIST_BOX (list), lam_sequence_session_get_tissues (session), new_tissue_row, self, NULL);
  gtk_box_append (GTK_BOX (self), new_head (self));
  gtk_box_append (GTK_BOX (self), list);
  gtk_box_append (GTK_BOX (self), new_chart_button (self));
  return GTK_WIDGET (self);
}
