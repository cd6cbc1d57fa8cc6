#include "config.h"

#include "compare-tab.h"

#include <glib/gi18n.h>

#include "accessible-name.h"
#include <math.h>

#include "wrap-layout.h"

struct _LamCompareTab {
  AdwBin parent_instance;
  LamCompare *compare;
  GtkWidget *source_a, *source_b, *swap;
  GtkWidget *plane_slice, *plane_row, *plane_column, *index_scale, *difference_button;
  GtkAdjustment *index_adjustment;
  GtkWidget *stack, *problem, *box_a, *box_b, *view_a, *view_b, *view_difference, *words;
  gboolean updating, only_difference;
};

G_DEFINE_FINAL_TYPE (LamCompareTab, lam_compare_tab, ADW_TYPE_BIN)

enum { PROP_0, PROP_ONLY_DIFFERENCE, N_PROPS };
static GParamSpec *properties[N_PROPS];

static LamSliceModel *
lead (LamCompareTab *self)
{
  return lam_compare_get_slices (self->compare, LAM_COMPARE_A);
}

/* -- following the comparison -- */

static void
update_words (LamCompareTab *self)
{
  g_autofree char *text = lam_compare_describe (self->compare);
  const char *words = text != NULL ? text : "";
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (self->words)), words) == 0)
    return;
  gtk_inscription_set_text (GTK_INSCRIPTION (self->words), words);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->words), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, words, -1);
}

static void
stats_cb (LamCompare *compare, GParamSpec *pspec, LamCompareTab *self)
{
  update_words (self);
}

static void
problem_cb (LamCompare *compare, GParamSpec *pspec, LamCompareTab *self)
{
  const char *problem = lam_compare_get_problem (compare);
  if (problem != NULL)
    adw_status_page_set_description (ADW_STATUS_PAGE (self->problem), problem);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), problem != NULL ? "problem" : "pictures");
  GtkWidget *of_pictures[] = {self->swap, self->plane_slice, self->plane_row, self->plane_column,
                              self->difference_button};
  for (size_t i = 0; i < G_N_ELEMENTS (of_pictures); i++)
    gtk_widget_set_sensitive (of_pictures[i], problem == NULL);
}

static void
update_choosers (LamCompareTab *self)
{
  GListModel *sources = lam_compare_get_sources (self->compare);
  GtkWidget *choosers[] = {self->source_a, self->source_b};
  self->updating = TRUE;
  for (int c = 0; c < 2; c++) {
    guint selected = GTK_INVALID_LIST_POSITION;
    for (guint i = 0; i < g_list_model_get_n_items (sources); i++) {
      g_autoptr (LamCompareSource) source = g_list_model_get_item (sources, i);
      if (source == lam_compare_get_source (self->compare, c))
        selected = i;
    }
    gtk_drop_down_set_selected (GTK_DROP_DOWN (choosers[c]), selected);
  }
  self->updating = FALSE;
}

static void
source_cb (LamCompare *compare, GParamSpec *pspec, LamCompareTab *self)
{
  update_choosers (self);
}

/* The drop-downs pick items of their own when the list changes; what is chosen is the comparison's. */
static void
sources_begin_cb (GListModel *sources, guint position, guint removed, guint added, LamCompareTab *self)
{
  self->updating = TRUE;
}

static void
sources_cb (GListModel *sources, guint position, guint removed, guint added, LamCompareTab *self)
{
  update_choosers (self);
}

static void
selected_cb (GtkDropDown *chooser, GParamSpec *pspec, LamCompareTab *self)
{
  LamCompareSource *source = gtk_drop_down_get_selected_item (chooser);
  if (!self->updating && self->compare != NULL && source != NULL)
    lam_compare_set_source (self->compare, GTK_WIDGET (chooser) == self->source_b ? LAM_COMPARE_B : LAM_COMPARE_A,
                            source);
}

static void
swap_cb (GtkButton *button, LamCompareTab *self)
{
  if (self->compare != NULL)
    lam_compare_swap (self->compare);
}

/* -- plane and index -- */

static void
slices_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamCompareTab *self)
{
  GtkWidget *buttons[LAM_PLANES] = {self->plane_slice, self->plane_row, self->plane_column};
  int64_t count = lam_slice_model_get_count (model);
  const char *name = pspec != NULL ? pspec->name : "index";
  if (!g_str_equal (name, "index") && !g_str_equal (name, "plane") && !g_str_equal (name, "count"))
    return;
  self->updating = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (buttons[lam_slice_model_get_plane (model)]), TRUE);
  gtk_adjustment_set_upper (self->index_adjustment, MAX (count - 1, 0));
  gtk_adjustment_set_value (self->index_adjustment, lam_slice_model_get_index (model));
  gtk_widget_set_sensitive (self->index_scale, count > 1);
  self->updating = FALSE;
}

static void
plane_toggled_cb (GtkToggleButton *button, LamCompareTab *self)
{
  GtkWidget *buttons[LAM_PLANES] = {self->plane_slice, self->plane_row, self->plane_column};
  for (int p = 0; p < LAM_PLANES && !self->updating && self->compare != NULL; p++)
    if (GTK_WIDGET (button) == buttons[p] && gtk_toggle_button_get_active (button))
      lam_slice_model_set_plane (lead (self), p);
}

static void
index_changed_cb (GtkAdjustment *adjustment, LamCompareTab *self)
{
  if (!self->updating && self->compare != NULL)
    lam_slice_model_set_index (lead (self), (int64_t) rint (gtk_adjustment_get_value (adjustment)));
}

/* -- only the difference -- */

static void
set_only_difference (LamCompareTab *self, gboolean only)
{
  gboolean focused =
      gtk_widget_get_focus_child (self->box_a) != NULL || gtk_widget_get_focus_child (self->box_b) != NULL;
  self->only_difference = only;
  gtk_widget_set_visible (self->box_a, !only);
  gtk_widget_set_visible (self->box_b, !only);
  if (only && focused)
    gtk_widget_grab_focus (self->view_difference);
}

static gboolean
difference_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  g_object_set (widget, "only-difference", !LAM_COMPARE_TAB (widget)->only_difference, NULL);
  return TRUE;
}

/* -- tab -- */

void
lam_compare_tab_set_session (LamCompareTab *self, LamSession *session)
{
  g_return_if_fail (LAM_IS_COMPARE_TAB (self) && self->compare == NULL);
  GtkWidget *views[LAM_COMPARE_PARTS] = {self->view_a, self->view_b, self->view_difference};
  self->compare = lam_compare_new (session);
  g_autoptr (LamSlicePort) port = lam_slice_port_new ();
  for (int i = 0; i < LAM_COMPARE_PARTS; i++) {
    lam_slice_view_set_model (LAM_SLICE_VIEW (views[i]), lam_compare_get_slices (self->compare, i));
    lam_slice_view_set_port (LAM_SLICE_VIEW (views[i]), port);
    lam_slice_view_set_title (LAM_SLICE_VIEW (views[i]), i == 0 ? "A" : i == 1 ? "B" : "A − B");
  }
  GListModel *sources = lam_compare_get_sources (self->compare);
  GtkWidget *choosers[] = {self->source_a, self->source_b};
  self->updating = TRUE;
  /* Before the drop-downs see that the list has changed, and after. */
  g_signal_connect_object (sources, "items-changed", G_CALLBACK (sources_begin_cb), self, 0);
  for (int i = 0; i < 2; i++) {
    g_autoptr (GtkExpression) name = gtk_property_expression_new (LAM_TYPE_COMPARE_SOURCE, NULL, "name");
    gtk_drop_down_set_expression (GTK_DROP_DOWN (choosers[i]), name);
    gtk_drop_down_set_model (GTK_DROP_DOWN (choosers[i]), sources);
    lam_accessible_name_chooser (GTK_DROP_DOWN (choosers[i]), i == 0 ? _ ("What A is") : _ ("What B is"));
    g_signal_connect (choosers[i], "notify::selected", G_CALLBACK (selected_cb), self);
  }
  self->updating = FALSE;
  g_signal_connect_object (sources, "items-changed", G_CALLBACK (sources_cb), self, G_CONNECT_AFTER);
  g_signal_connect_object (self->compare, "notify::source-a", G_CALLBACK (source_cb), self, 0);
  g_signal_connect_object (self->compare, "notify::source-b", G_CALLBACK (source_cb), self, 0);
  g_signal_connect_object (self->compare, "notify::problem", G_CALLBACK (problem_cb), self, 0);
  problem_cb (self->compare, NULL, self);
  g_signal_connect_object (self->compare, "notify::stats", G_CALLBACK (stats_cb), self, 0);
  g_signal_connect_object (lead (self), "notify", G_CALLBACK (slices_notify_cb), self, 0);
  update_choosers (self);
  slices_notify_cb (lead (self), NULL, self);
}

LamCompare *
lam_compare_tab_get_compare (LamCompareTab *self)
{
  return self->compare;
}

LamSliceView *
lam_compare_tab_get_view (LamCompareTab *self, LamComparePart part)
{
  GtkWidget *views[LAM_COMPARE_PARTS] = {self->view_a, self->view_b, self->view_difference};
  return LAM_SLICE_VIEW (views[part]);
}

static void
lam_compare_tab_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lam_compare_tab_parent_class)->map (widget);
  if (LAM_COMPARE_TAB (widget)->compare != NULL)
    lam_compare_set_active (LAM_COMPARE_TAB (widget)->compare, TRUE);
}

static void
lam_compare_tab_unmap (GtkWidget *widget)
{
  if (LAM_COMPARE_TAB (widget)->compare != NULL)
    lam_compare_set_active (LAM_COMPARE_TAB (widget)->compare, FALSE);
  GTK_WIDGET_CLASS (lam_compare_tab_parent_class)->unmap (widget);
}

static void
lam_compare_tab_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_boolean (value, LAM_COMPARE_TAB (object)->only_difference);
}

static void
lam_compare_tab_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  set_only_difference (LAM_COMPARE_TAB (object), g_value_get_boolean (value));
}

static void
lam_compare_tab_dispose (GObject *object)
{
  g_clear_object (&LAM_COMPARE_TAB (object)->compare);
  G_OBJECT_CLASS (lam_compare_tab_parent_class)->dispose (object);
}

static void
lam_compare_tab_class_init (LamCompareTabClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  object_class->dispose = lam_compare_tab_dispose;
  object_class->get_property = lam_compare_tab_get_property;
  object_class->set_property = lam_compare_tab_set_property;
  widget_class->map = lam_compare_tab_map;
  widget_class->unmap = lam_compare_tab_unmap;
  properties[PROP_ONLY_DIFFERENCE] =
      g_param_spec_boolean ("only-difference", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_d, 0, difference_key, NULL);
  g_type_ensure (LAM_TYPE_SLICE_VIEW);
  g_type_ensure (LAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/compare-tab.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamCompareTab, name)
  BIND (source_a);
  BIND (source_b);
  BIND (swap);
  BIND (plane_slice);
  BIND (plane_row);
  BIND (plane_column);
  BIND (index_scale);
  BIND (index_adjustment);
  BIND (difference_button);
  BIND (stack);
  BIND (problem);
  BIND (box_a);
  BIND (box_b);
  BIND (view_a);
  BIND (view_b);
  BIND (view_difference);
  BIND (words);
#undef BIND
}

static void
lam_compare_tab_init (LamCompareTab *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  GtkWidget *buttons[LAM_PLANES] = {self->plane_slice, self->plane_row, self->plane_column};
  for (int p = 0; p < LAM_PLANES; p++)
    g_signal_connect (buttons[p], "toggled", G_CALLBACK (plane_toggled_cb), self);
  g_signal_connect (self->index_adjustment, "value-changed", G_CALLBACK (index_changed_cb), self);
  g_signal_connect (self->swap, "clicked", G_CALLBACK (swap_cb), self);
  g_object_bind_property (self, "only-difference", self->difference_button, "active", G_BINDING_BIDIRECTIONAL);
}
