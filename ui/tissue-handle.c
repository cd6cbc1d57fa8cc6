#include "config.h"

#include "tissue-handle.h"

#include <glib/gi18n.h>

#include "palette.h"

struct _LamTissueHandle {
  GtkWidget parent_instance;
  LamTissueItem *item;
};

G_DEFINE_FINAL_TYPE (LamTissueHandle, lam_tissue_handle, GTK_TYPE_WIDGET)

static guint moved_signal;

static void
lam_tissue_handle_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LamTissueHandle *self = LAM_TISSUE_HANDLE (widget);
  GdkRGBA colour = lam_palette_series (widget, lam_tissue_item_get_colour (self->item)),
          paper = lam_palette (widget, LAM_COLOUR_PAPER);
  double middle = LAM_TISSUE_HANDLE_SIZE / 2.0;
  paper.alpha = 1;
  cairo_t *cr =
      gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, LAM_TISSUE_HANDLE_SIZE, LAM_TISSUE_HANDLE_SIZE));
  cairo_arc (cr, middle, middle, 6.5, 0, 2 * G_PI);
  gdk_cairo_set_source_rgba (cr, &colour);
  cairo_fill_preserve (cr);
  gdk_cairo_set_source_rgba (cr, &paper);
  cairo_set_line_width (cr, 1.5);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static gboolean
move_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  double t1, t2;
  g_variant_get (args, "(dd)", &t1, &t2);
  g_signal_emit (widget, moved_signal, 0, t1, t2);
  return TRUE;
}

static void
summary_cb (LamTissueItem *item, GParamSpec *pspec, LamTissueHandle *self)
{
  /* TRANSLATORS: "White matter: T1 1084 ms, T2 69 ms" */
  g_autofree char *label =
      g_strdup_printf (_ ("%s: T1 %.4g ms, T2 %.4g ms"), lam_tissue_item_get_name (item),
                       lam_tissue_item_get (item, "T1", NULL), lam_tissue_item_get (item, "T2", NULL));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

LamTissueItem *
lam_tissue_handle_get_item (LamTissueHandle *self)
{
  return self->item;
}

static void
lam_tissue_handle_dispose (GObject *object)
{
  g_clear_object (&LAM_TISSUE_HANDLE (object)->item);
  G_OBJECT_CLASS (lam_tissue_handle_parent_class)->dispose (object);
}

static void
lam_tissue_handle_class_init (LamTissueHandleClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  static const struct {
    guint key;
    double t1, t2;
  } keys[] = {
      {GDK_KEY_Left, 1 / 1.01, 1}, {GDK_KEY_Right, 1.01, 1}, {GDK_KEY_Up, 1, 1.01}, {GDK_KEY_Down, 1, 1 / 1.01}};
  G_OBJECT_CLASS (klass)->dispose = lam_tissue_handle_dispose;
  widget_class->snapshot = lam_tissue_handle_snapshot;
  moved_signal = g_signal_new ("moved", LAM_TYPE_TISSUE_HANDLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                               G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  gtk_widget_class_set_css_name (widget_class, "tissuehandle");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    gtk_widget_class_add_binding (widget_class, keys[i].key, 0, move_key, "(dd)", keys[i].t1, keys[i].t2);
    gtk_widget_class_add_binding (widget_class, keys[i].key, GDK_SHIFT_MASK, move_key, "(dd)",
                                  keys[i].t1 == 1  ? 1
                                  : keys[i].t1 > 1 ? 1.1
                                                   : 1 / 1.1,
                                  keys[i].t2 == 1  ? 1
                                  : keys[i].t2 > 1 ? 1.1
                                                   : 1 / 1.1);
  }
}

static void
lam_tissue_handle_init (LamTissueHandle *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "move");
}

GtkWidget *
lam_tissue_handle_new (LamTissueItem *item)
{
  LamTissueHandle *self = g_object_new (LAM_TYPE_TISSUE_HANDLE, NULL);
  self->item = g_object_ref (item);
  g_signal_connect_object (item, "notify::summary", G_CALLBACK (summary_cb), self, 0);
  summary_cb (item, NULL, self);
  return GTK_WIDGET (self);
}
