#include "run/colour-map.h"

#include <string.h>

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

LamColourMap
lam_colour_map_for (const char *quantity)
{
  static const struct {
    const char *name;
    LamColourMap map;
  } known[] = {{"T1", LAM_COLOUR_MAP_LIPARI},
               {"T2", LAM_COLOUR_MAP_NAVIA},
               {"T2star", LAM_COLOUR_MAP_NAVIA},
               {"phase", LAM_COLOUR_MAP_CYCLIC},
               {"B0", LAM_COLOUR_MAP_DIVERGING}};
  const char *end = strrchr (quantity, '_');
  size_t length = end && g_ascii_isdigit (end[1]) ? (size_t) (end - quantity) : strlen (quantity);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strlen (known[i].name) == length && strncmp (known[i].name, quantity, length) == 0)
      return known[i].map;
  return LAM_COLOUR_MAP_VIRIDIS;
}
