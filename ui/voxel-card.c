#include "config.h"

#include "voxel-card.h"

#include <glib/gi18n.h>
#include <math.h>

#include "chart.h"
#include "curves-layer.h"
#include "likeness-view.h"
#include "palette.h"

/* Series colours: told apart also by how the lines are drawn. */
enum { COLOUR_DATA = 0, COLOUR_FIT = 1, COLOUR_RIVAL = 6 };

struct _LamVoxelCard {
  GtkBox parent_instance;
  LamMapPictures *pictures;
  GtkWidget *words, *legend, *stack, *chart, *right, *likeness, *cell, *empty;
  LamCurvesLayer *curves;
};

G_DEFINE_FINAL_TYPE (LamVoxelCard, lam_voxel_card, GTK_TYPE_BOX)

static void
draw (LamVoxelCard *self, const LamVoxelFit *f)
{
  g_autofree double *x = g_new (double, f->samples);
  for (int64_t k = 0; k < f->samples; k++)
    x[k] = k;
  lam_curves_layer_begin (self->curves, x, (int) f->samples);
  for (int i = f->atoms - 1; i > 0; i--) {
    g_autofree char *label = g_strdup_printf (_ ("next %d"), i);
    lam_curves_layer_add (self->curves, f->fit[i], COLOUR_RIVAL, LAM_CURVE_DOTTED, i == 1 ? label : NULL);
  }
  if (f->rest != NULL)
    lam_curves_layer_add (self->curves, f->rest, COLOUR_RIVAL, LAM_CURVE_SOLID, _ ("rest"));
  lam_curves_layer_add (self->curves, f->data, COLOUR_DATA, LAM_CURVE_SOLID, _ ("data"));
  if (f->atoms > 0)
    lam_curves_layer_add (self->curves, f->fit[0], COLOUR_FIT, LAM_CURVE_DASHED, _ ("fit"));
  lam_curves_layer_end (self->curves);
}

static void
add_legend (LamVoxelCard *self, GString *markup, int colour, const char *line, const char *name)
{
  GdkRGBA c = lam_palette_series (GTK_WIDGET (self), colour);
  g_string_append_printf (markup, "%s<span foreground=\"#%02x%02x%02x\">%s</span> %s", markup->len ? "   " : "",
                          (int) (c.red * 255), (int) (c.green * 255), (int) (c.blue * 255), line, name);
}

static void
update_legend (LamVoxelCard *self)
{
  const LamVoxelFit *f = lam_map_pictures_get_fit (self->pictures);
  g_autoptr (GString) markup = g_string_new (NULL);
  if (f != NULL && f->samples > 0) {
    add_legend (self, markup, COLOUR_DATA, "―", f->magnitude ? _ ("data, magnitude") : _ ("data, its phase taken off"));
    if (f->atoms > 0)
      add_legend (self, markup, COLOUR_FIT, "╌", _ ("best atom"));
    if (f->atoms > 1)
      add_legend (self, markup, COLOUR_RIVAL, "┄", _ ("next best"));
    if (f->rest != NULL)
      add_legend (self, markup, COLOUR_RIVAL, "―", _ ("across the phase"));
  }
  gtk_label_set_markup (GTK_LABEL (self->legend), markup->str);
}

static void
fit_cb (LamMapPictures *pictures, LamVoxelCard *self)
{
  const LamVoxelFit *f = lam_map_pictures_get_fit (pictures);
  g_autofree char *words = f != NULL ? lam_voxel_fit_describe (f) : NULL;
  gtk_label_set_text (GTK_LABEL (self->words), words != NULL ? words : _ ("No voxel is marked."));
  gtk_widget_set_visible (self->words, words != NULL);
  gboolean drawn = f != NULL && f->samples > 0;
  gtk_label_set_text (GTK_LABEL (self->empty),
                      f != NULL && !drawn ? _ ("The maps are those of the session; signal and fit are drawn once the "
                                               "series and the dictionary are here again, and matched.")
                                          : _ ("Click a voxel of the map, or move the crosshair with Shift and the "
                                               "arrows, to see its signal, the best atom and the values found."));
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), drawn ? "voxel" : "empty");
  lam_likeness_view_set_fit (LAM_LIKENESS_VIEW (self->likeness), f);
  gtk_widget_set_visible (self->right, f != NULL && f->nx > 0);
  update_legend (self);
  if (drawn)
    draw (self, f);
}

static void
describe_cb (LamLikenessView *view, const char *text, LamVoxelCard *self)
{
  gtk_label_set_text (GTK_LABEL (self->cell), text != NULL ? text : _ ("likeness to each atom"));
}

static void
dark_notify_cb (AdwStyleManager *manager, GParamSpec *pspec, LamVoxelCard *self)
{
  update_legend (self);
}

const char *
lam_voxel_card_get_text (LamVoxelCard *self)
{
  return gtk_label_get_text (GTK_LABEL (self->words));
}

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, class);
  return label;
}

static void
lam_voxel_card_dispose (GObject *object)
{
  g_clear_object (&LAM_VOXEL_CARD (object)->pictures);
  G_OBJECT_CLASS (lam_voxel_card_parent_class)->dispose (object);
}

static void
lam_voxel_card_class_init (LamVoxelCardClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_voxel_card_dispose;
}

static void
lam_voxel_card_init (LamVoxelCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *body = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *title = new_label (_ ("Voxel"), "pane-title");
  g_autoptr (LamAxis) x = lam_axis_new (_ ("contrast"), FALSE), y = lam_axis_new (_ ("signal"), FALSE);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 4);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "pane");
  lam_axis_set_integer (x, TRUE);
  self->chart = lam_chart_new (x, y, NULL);
  self->curves = LAM_CURVES_LAYER (lam_curves_layer_new (y));
  lam_chart_add_layer (LAM_CHART (self->chart), LAM_CHART_LAYER (self->curves));
  lam_chart_set_label (LAM_CHART (self->chart), _ ("Data and fit of the voxel by contrast"));
  gtk_widget_set_hexpand (self->chart, TRUE);
  self->words = new_label ("", "numeric");
  gtk_label_set_ellipsize (GTK_LABEL (self->words), PANGO_ELLIPSIZE_NONE);
  gtk_label_set_wrap (GTK_LABEL (self->words), TRUE);
  gtk_label_set_selectable (GTK_LABEL (self->words), TRUE);
  gtk_widget_add_css_class (self->words, "pane-hint");
  self->legend = new_label (NULL, "pane-hint");
  self->likeness = lam_likeness_view_new ();
  gtk_widget_set_vexpand (self->likeness, TRUE);
  self->cell = new_label (_ ("likeness to each atom"), "dim-label");
  gtk_widget_add_css_class (self->cell, "pane-hint");
  g_signal_connect (self->likeness, "describe", G_CALLBACK (describe_cb), self);
  self->empty = new_label (NULL, "dim-label");
  gtk_label_set_ellipsize (GTK_LABEL (self->empty), PANGO_ELLIPSIZE_NONE);
  gtk_label_set_wrap (GTK_LABEL (self->empty), TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->empty), 0.5);
  gtk_label_set_justify (GTK_LABEL (self->empty), GTK_JUSTIFY_CENTER);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), self->legend);
  self->right = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  gtk_box_append (GTK_BOX (self->right), self->likeness);
  gtk_box_append (GTK_BOX (self->right), self->cell);
  gtk_box_append (GTK_BOX (body), self->chart);
  gtk_box_append (GTK_BOX (body), self->right);
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), self->empty, "empty");
  gtk_stack_add_named (GTK_STACK (self->stack), body, "voxel");
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_box_append (GTK_BOX (self), head);
  gtk_box_append (GTK_BOX (self), self->stack);
  gtk_box_append (GTK_BOX (self), self->words);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (dark_notify_cb), self, 0);
}

GtkWidget *
lam_voxel_card_new (LamMapPictures *pictures)
{
  LamVoxelCard *self = g_object_new (LAM_TYPE_VOXEL_CARD, NULL);
  self->pictures = g_object_ref (pictures);
  g_signal_connect_object (pictures, "fit", G_CALLBACK (fit_cb), self, 0);
  fit_cb (pictures, self);
  return GTK_WIDGET (self);
}
