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

/* Evenly spaced anchors; straight lines between them. */
static const guint32 grey[] = {0x000000, 0xffffff};
static const guint32 viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                  0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
static const guint32 diverging[] = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xf7f7f7,
                                    0xf4a582, 0xd6604d, 0xb2182b, 0x67001f};
/* After Crameri's lipari, navia and romaO. */
static const guint32 lipari[] = {0x031326, 0x0c2f4e, 0x2a4b70, 0x515b7a, 0x6b5f76, 0x85606f, 0xa46267,
                                 0xc8675f, 0xe57b62, 0xe99a73, 0xe5b489, 0xecd3ac, 0xfdf5da};
static const guint32 navia[] = {0x031327, 0x062b50, 0x0b4679, 0x1a608f, 0x28728f, 0x347e88, 0x418a80,
                                0x509877, 0x65ab6c, 0x88c369, 0xbbda88, 0xe3eab5, 0xfcf4d9};
static const guint32 cyclic[] = {0x733957, 0x823c3d, 0x94502d, 0xaa742f, 0xc3a34b, 0xd5cf81, 0xcce1b2,
                                 0xa5d8cb, 0x74bbcd, 0x5494c0, 0x516ca5, 0x624a7e, 0x733957};

void
lam_colour_map_fill (LamColourMap map, guint8 rgba[256 * 4])
{
  static const struct {
    const guint32 *anchors;
    int n;
  } maps[LAM_COLOUR_MAPS] = {
      [LAM_COLOUR_MAP_GREY] = {grey, G_N_ELEMENTS (grey)},
      [LAM_COLOUR_MAP_VIRIDIS] = {viridis, G_N_ELEMENTS (viridis)},
      [LAM_COLOUR_MAP_DIVERGING] = {diverging, G_N_ELEMENTS (diverging)},
      [LAM_COLOUR_MAP_LIPARI] = {lipari, G_N_ELEMENTS (lipari)},
      [LAM_COLOUR_MAP_NAVIA] = {navia, G_N_ELEMENTS (navia)},
      [LAM_COLOUR_MAP_CYCLIC] = {cyclic, G_N_ELEMENTS (cyclic)},
  };
  const guint32 *anchors = maps[map].anchors;
  int n = maps[map].n;
  for (int i = 0; i < 256; i++) {
    double at = i / 255.0 * (n - 1);
    int k = MIN ((int) at, n - 2);
    double t = at - k;
    for (int c = 0; c < 3; c++) {
      int shift = 16 - 8 * c;
      double a = (anchors[k] >> shift) & 255, b = (anchors[k + 1] >> shift) & 255;
      rgba[4 * i + c] = (guint8) (a + (b - a) * t + 0.5);
    }
    rgba[4 * i + 3] = 255;
  }
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
