#include "config.h"

#include "palette.h"

#include <math.h>

#include <adwaita.h>
#include <glib/gi18n.h>

static const char *const light[LAM_COLOURS] = {
    [LAM_COLOUR_TEXT] = "#1e1e1e",  [LAM_COLOUR_DIM] = "#5e5c64",    [LAM_COLOUR_GRID] = "#d5d3cf",
    [LAM_COLOUR_BLUE] = "#1c71d8",  [LAM_COLOUR_ORANGE] = "#c64600", [LAM_COLOUR_RED] = "#c01c28",
    [LAM_COLOUR_GREEN] = "#1b8553", [LAM_COLOUR_YELLOW] = "#9a6700", [LAM_COLOUR_PAPER] = "#ffffff",
};

static const char *const dark[LAM_COLOURS] = {
    [LAM_COLOUR_TEXT] = "#ffffff",  [LAM_COLOUR_DIM] = "#b9b7bd",    [LAM_COLOUR_GRID] = "#4a484e",
    [LAM_COLOUR_BLUE] = "#78aeed",  [LAM_COLOUR_ORANGE] = "#ffa348", [LAM_COLOUR_RED] = "#ff7b63",
    [LAM_COLOUR_GREEN] = "#57d69a", [LAM_COLOUR_YELLOW] = "#f5c211", [LAM_COLOUR_PAPER] = "#303030",
};

GdkRGBA
lam_palette (GtkWidget *widget, LamColour colour)
{
  gboolean is_dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GdkRGBA rgba;
  gdk_rgba_parse (&rgba, (is_dark ? dark : light)[colour]);
  return rgba;
}

GdkRGBA
lam_palette_alpha (GtkWidget *widget, LamColour colour, double alpha)
{
  GdkRGBA rgba = lam_palette (widget, colour);
  rgba.alpha = alpha;
  return rgba;
}

/* After Okabe and Ito, darker or lighter where the paper asks for it. */
GdkRGBA
lam_palette_series (GtkWidget *widget, int index)
{
  static const char *const light_series[] = {"#1c71d8", "#d9570d", "#12845f", "#a3478f",
                                             "#8a6d00", "#2b8fc9", "#6b6b6b", "#b3261e"};
  static const char *const dark_series[] = {"#62a0ea", "#ff8f4a", "#3fc79a", "#d88bc6",
                                            "#e3c33a", "#6cc4f0", "#b0b0b0", "#ff7a70"};
  gboolean is_dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GdkRGBA rgba;
  gdk_rgba_parse (&rgba, (is_dark ? dark_series : light_series)[index & 7]);
  return rgba;
}

const char *
lam_colour_map_name (LamColourMap map)
{
  static const char *const names[LAM_COLOUR_MAPS] = {N_ ("Grey"),   N_ ("Viridis"), N_ ("Blue to red"),
                                                     N_ ("Lipari"), N_ ("Navia"),   N_ ("Cyclic")};
  return _ (names[map]);
}

PangoLayout *
lam_small_layout (GtkWidget *widget, const char *text, double scale)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (widget, text);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  pango_attr_list_insert (attributes, pango_attr_scale_new (scale));
  /* Figures of one width, so that a changing number does not shake. */
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
  pango_layout_set_attributes (layout, attributes);
  return layout;
}

void
lam_small_text (GtkWidget *widget, GtkSnapshot *snapshot, const char *text, double scale, LamColour role, double x,
                double y, double align)
{
  g_autoptr (PangoLayout) layout = lam_small_layout (widget, text, scale);
  GdkRGBA colour = lam_palette (widget, role);
  int w, h;
  pango_layout_get_pixel_size (layout, &w, &h);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (floor (x - w * align), floor (y - h / 2.0)));
  gtk_snapshot_append_layout (snapshot, layout, &colour);
  gtk_snapshot_restore (snapshot);
}
