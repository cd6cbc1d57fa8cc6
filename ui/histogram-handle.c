#include "config.h"

#include "histogram-handle.h"

#include "palette.h"

struct _LamHistogramHandle {
  GtkWidget parent_instance;
};

G_DEFINE_FINAL_TYPE (LamHistogramHandle, lam_histogram_handle, GTK_TYPE_WIDGET)

enum { MOVED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
lam_histogram_handle_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  GdkRGBA blue = lam_palette (widget, LAM_COLOUR_BLUE);
  gtk_snapshot_append_color (snapshot, &blue, &GRAPHENE_RECT_INIT (width / 2 - 1, 0, 2, height));
  /* A grip, so that it looks like something to take hold of. */
  GskRoundedRect grip;
  gsk_rounded_rect_init_from_rect (&grip, &GRAPHENE_RECT_INIT (width / 2 - 3, height / 2 - 8, 6, 16), 3);
  gtk_snapshot_push_rounded_clip (snapshot, &grip);
  gtk_snapshot_append_color (snapshot, &blue, &grip.bounds);
  gtk_snapshot_pop (snapshot);
}

static gboolean
move_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  g_signal_emit (widget, signals[MOVED], 0, g_variant_get_double (args));
  return TRUE;
}

static void
lam_histogram_handle_class_init (LamHistogramHandleClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  widget_class->snapshot = lam_histogram_handle_snapshot;
  signals[MOVED] = g_signal_new ("moved", LAM_TYPE_HISTOGRAM_HANDLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  gtk_widget_class_set_css_name (widget_class, "levelhandle");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
  static const struct {
    guint key;
    GdkModifierType state;
    double steps;
  } keys[] = {{GDK_KEY_Left, 0, -1},
              {GDK_KEY_Down, 0, -1},
              {GDK_KEY_Right, 0, 1},
              {GDK_KEY_Up, 0, 1},
              {GDK_KEY_Left, GDK_SHIFT_MASK, -10},
              {GDK_KEY_Right, GDK_SHIFT_MASK, 10},
              {GDK_KEY_Left, GDK_CONTROL_MASK, -0.1},
              {GDK_KEY_Right, GDK_CONTROL_MASK, 0.1},
              {GDK_KEY_Page_Down, 0, -10},
              {GDK_KEY_Page_Up, 0, 10}};
  for (size_t i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_widget_class_add_binding (widget_class, keys[i].key, keys[i].state, move_key, "d", keys[i].steps);
}

static void
lam_histogram_handle_init (LamHistogramHandle *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "ew-resize");
}

GtkWidget *
lam_histogram_handle_new (const char *label)
{
  GtkWidget *self = g_object_new (LAM_TYPE_HISTOGRAM_HANDLE, "tooltip-text", label, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return self;
}

void
lam_histogram_handle_set_value (LamHistogramHandle *self, double value, double min, double max, const char *text)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, value,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, min, GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, max,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}
