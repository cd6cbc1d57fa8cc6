#include "mr/presets.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define STANISZ "Stanisz et al., Magn Reson Med 54:507 (2005), table 1"

const LamTissuePreset lam_tissue_presets[] = {
    {"white matter", 1.5, 884, 72, STANISZ},
    {"white matter", 3, 1084, 69, STANISZ},
    {"white matter", 7, 1220, 46,
     "T1: Rooney et al., Magn Reson Med 57:308 (2007); T2: Yacoub et al., Magn Reson Med 49:655 (2003)"},
    {"grey matter", 1.5, 1124, 95, STANISZ},
    {"grey matter", 3, 1820, 99, STANISZ},
    {"grey matter", 7, 2132, 55,
     "T1: Rooney et al., Magn Reson Med 57:308 (2007); T2: Yacoub et al., Magn Reson Med 49:655 (2003)"},
    {"blood", 1.5, 1441, 290, STANISZ},
    {"blood", 3, 1932, 275, STANISZ},
    {"muscle", 1.5, 1008, 44, STANISZ},
    {"muscle", 3, 1412, 50, STANISZ},
    {"heart", 1.5, 1030, 40, STANISZ},
    {"heart", 3, 1471, 47, STANISZ},
    {"liver", 1.5, 576, 46, STANISZ},
    {"liver", 3, 812, 42, STANISZ},
    {"kidney", 1.5, 690, 55, STANISZ},
    {"kidney", 3, 1194, 56, STANISZ},
    {"cartilage", 1.5, 1024, 30, STANISZ},
    {"cartilage", 3, 1168, 27, STANISZ},
    {"spinal cord", 1.5, 745, 74, STANISZ},
    {"spinal cord", 3, 993, 78, STANISZ},
    {NULL},
};

const LamTissuePreset *
lam_tissue_preset (const char *name)
{
  const char *at = strchr (name, '@');
  g_autofree char *tissue = at ? g_strndup (name, at - name) : g_strdup (name);
  double field = at ? g_ascii_strtod (at + 1, NULL) : 3;
  for (const LamTissuePreset *p = lam_tissue_presets; p->name; p++)
    if (g_ascii_strcasecmp (p->name, tissue) == 0 && fabs (p->field - field) < 1e-6)
      return p;
  return NULL;
}
