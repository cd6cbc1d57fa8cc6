#include "config.h"

#include "projections-tab.h"

#include <glib/gi18n.h>
#include <math.h>

#include "tooltip.h"
#include "wrap-layout.h"

/* Pictures wider than this stand below each other. */
#define WIDE 2.2
/* And those that would be lower than this part of their width are drawn higher. */
#define LOWEST 0.2

struct _LamProjectionsTab {
  AdwBin parent_instance;
  LamBeforeAfter *pictures;
  LamPlane plane;
  GtkWidget *bar, *index_label, *index_spin, *count_label, *index_scale, *orders, *order_file, *order_angle;
  GtkAdjustment *index_adjustment;
  GtkWidget *stack, *empty, *pictures_box, *box_before, *box_difference, *view_before, *view_after, *view_difference;
  GtkWidget *words;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LamProjectionsTab, lam_projections_tab, ADW_TYPE_BIN)

static LamSliceModel *
lead (LamProjectionsTab *self)
{
  return lam_before_after_get_slices (self->pictures, self->plane, LAM_PREVIEW_AFTER);
}

LamSliceView *
lam_projections_tab_get_view (LamProjectionsTab *self, LamPreviewKind kind)
{
  GtkWidget *views[LAM_PREVIEW_KINDS] = {self->view_before, self->view_after, self->view_difference};
  return LAM_SLICE_VIEW (views[kind]);
}

static void
update_words (LamProjectionsTab *self, double stretch)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *numbers = lam_before_after_describe (self->pictures, self->plane);
  const char *problem = lam_before_after_get_problem (self->pictures);
  const char *note = lam_before_after_get_note (self->pictures, self->plane);
  if (problem != NULL)
    g_string_append (text, problem);
  else if (numbers != NULL)
    g_string_append (text, numbers);
  if (note != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", note);
  if (stretch > 1)
    g_string_append_printf (text, _ ("%srows drawn %.0f × as high"), text->len > 0 ? " · " : "", stretch);
  if (g_strcmp0 (gtk_inscription_get_text (GTK_INSCRIPTION (self->words)), text->str) == 0)
    return;
  gtk_inscription_set_text (GTK_INSCRIPTION (self->words), text->str);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->words), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text->str, -1);
}

static void
update_layout (LamProjectionsTab *self, double *stretch)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (lead (self));
  LamSliceLine line = {.x0 = NAN};
  double shape = 1;
  *stretch = 1;
  if (shot != NULL) {
    const LamSnapshotInfo *info = lam_snapshot_info (shot);
    double pitch = info->pitch_x > 0 && info->pitch_y > 0 ? info->pitch_y / info->pitch_x : 1;
    shape = (double) info->width / ((double) info->height * pitch);
    *stretch = fmax (ceil (shape * LOWEST), 1);
    lam_before_after_get_axis (self->pictures, self->plane, &line.x0, &line.y0, &line.x1, &line.y1);
  }
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->pictures_box),
                                  shape > WIDE ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    lam_slice_view_set_stretch (lam_projections_tab_get_view (self, k), *stretch);
    lam_slice_view_set_line (lam_projections_tab_get_view (self, k), &line);
  }
}

static void
changed_cb (LamBeforeAfter *pictures, LamProjectionsTab *self)
{
  gboolean data = lam_before_after_has_data (pictures), before = lam_before_after_has_before (pictures);
  gboolean any = lam_slice_model_get_snapshot (lead (self)) != NULL;
  const char *problem = lam_before_after_get_problem (pictures);
  double stretch;
  adw_status_page_set_title (ADW_STATUS_PAGE (self->empty), data && problem != NULL ? _ ("No Picture")
                                                            : data                  ? _ ("On Its Way")
                                                                                    : _ ("Nothing Is Open"));
  adw_status_page_set_description (ADW_STATUS_PAGE (self->empty),
                                   data && problem != NULL ? problem
                                   : data                  ? _ ("The scan is being read.")
                                                           : _ ("Open a scan to see its views and sinograms."));
  gtk_widget_set_visible (self->box_before, before);
  gtk_widget_set_visible (self->box_difference, before);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), any ? "pictures" : "empty");
  update_layout (self, &stretch);
  update_words (self, stretch);
}

static void
slices_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamProjectionsTab *self)
{
  const char *name = pspec != NULL ? pspec->name : "index";
  if (!g_str_equal (name, "index") && !g_str_equal (name, "count"))
    return;
  int64_t count = lam_slice_model_get_count (model);
  g_autofree char *of = g_strdup_printf (_ ("of 0–%ld"), (long) count - 1);
  self->updating = TRUE;
  gtk_adjustment_set_upper (self->index_adjustment, (double) MAX (count - 1, 0));
  gtk_adjustment_set_value (self->index_adjustment, (double) lam_slice_model_get_index (model));
  gtk_label_set_text (GTK_LABEL (self->count_label), count > 0 ? of : "");
  self->updating = FALSE;
}

static void
index_changed_cb (GtkAdjustment *adjustment, LamProjectionsTab *self)
{
  if (!self->updating && self->pictures != NULL)
    lam_slice_model_set_index (lead (self), (int64_t) rint (gtk_adjustment_get_value (adjustment)));
}

static void
order_toggled_cb (GtkToggleButton *button, LamProjectionsTab *self)
{
  if (self->pictures != NULL)
    lam_before_after_set_by_angle (self->pictures, gtk_toggle_button_get_active (button));
}

void
lam_projections_tab_set_pictures (LamProjectionsTab *self, LamBeforeAfter *pictures, LamPlane plane)
{
  g_return_if_fail (LAM_IS_PROJECTIONS_TAB (self) && LAM_IS_BEFORE_AFTER (pictures) && self->pictures == NULL);
  static const char *const titles[LAM_PREVIEW_KINDS] = {N_ ("Before"), N_ ("After"), N_ ("Difference")};
  gboolean sinogram = plane == LAM_PLANE_SINOGRAM;
  const char *what = sinogram ? _ ("Which detector row") : _ ("Which view");
  self->pictures = g_object_ref (pictures);
  self->plane = plane;
  gtk_label_set_label (GTK_LABEL (self->index_label), sinogram ? _ ("Detector r_ow") : _ ("_View"));
  gtk_widget_set_visible (self->orders, sinogram);
  lam_set_tooltip (self->index_spin, what);
  lam_set_tooltip (self->index_scale, what);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->index_scale), GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
  g_autoptr (LamSlicePort) port = lam_slice_port_new ();
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    LamSliceView *view = lam_projections_tab_get_view (self, k);
    lam_slice_view_set_plane (view, plane, NULL);
    lam_slice_view_set_title (view, _ (titles[k]));
    lam_slice_view_set_model (view, lam_before_after_get_slices (pictures, plane, k));
    lam_slice_view_set_port (view, port);
  }
  g_signal_connect_object (pictures, "changed", G_CALLBACK (changed_cb), self, 0);
  g_signal_connect_object (lead (self), "notify", G_CALLBACK (slices_notify_cb), self, 0);
  slices_notify_cb (lead (self), NULL, self);
  changed_cb (pictures, self);
}

int
lam_projections_tab_get_panes (LamProjectionsTab *self, GtkWidget **panes)
{
  panes[0] = self->bar;
  panes[1] = self->stack;
  return 2;
}

static void
lam_projections_tab_map (GtkWidget *widget)
{
  LamProjectionsTab *self = LAM_PROJECTIONS_TAB (widget);
  GTK_WIDGET_CLASS (lam_projections_tab_parent_class)->map (widget);
  if (self->pictures != NULL)
    lam_before_after_set_active (self->pictures, self->plane, TRUE);
}

static void
lam_projections_tab_unmap (GtkWidget *widget)
{
  LamProjectionsTab *self = LAM_PROJECTIONS_TAB (widget);
  if (self->pictures != NULL)
    lam_before_after_set_active (self->pictures, self->plane, FALSE);
  GTK_WIDGET_CLASS (lam_projections_tab_parent_class)->unmap (widget);
}

static void
lam_projections_tab_dispose (GObject *object)
{
  g_clear_object (&LAM_PROJECTIONS_TAB (object)->pictures);
  G_OBJECT_CLASS (lam_projections_tab_parent_class)->dispose (object);
}

static void
lam_projections_tab_class_init (LamProjectionsTabClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  G_OBJECT_CLASS (klass)->dispose = lam_projections_tab_dispose;
  widget_class->map = lam_projections_tab_map;
  widget_class->unmap = lam_projections_tab_unmap;
  g_type_ensure (LAM_TYPE_SLICE_VIEW);
  g_type_ensure (LAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/lamina/Lamina/projections-tab.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LamProjectionsTab, name)
  BIND (bar);
  BIND (index_label);
  BIND (index_spin);
  BIND (count_label);
  BIND (index_scale);
  BIND (index_adjustment);
  BIND (orders);
  BIND (order_file);
  BIND (order_angle);
  BIND (stack);
  BIND (empty);
  BIND (pictures_box);
  BIND (box_before);
  BIND (box_difference);
  BIND (view_before);
  BIND (view_after);
  BIND (view_difference);
  BIND (words);
#undef BIND
}

static void
lam_projections_tab_init (LamProjectionsTab *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (self->index_adjustment, "value-changed", G_CALLBACK (index_changed_cb), self);
  g_signal_connect (self->order_angle, "toggled", G_CALLBACK (order_toggled_cb), self);
}
