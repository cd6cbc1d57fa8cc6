#include "config.h"

#include "model/tissue-presets.h"

#include <glib/gi18n.h>

#include "mr/presets.h"

int
lam_tissue_preset_count (void)
{
  int n = 0;
  while (lam_tissue_presets[n].name)
    n++;
  return n;
}

char *
lam_tissue_preset_describe (int i, double *t1, double *t2, const char **source)
{
  const LamTissuePreset *p = &lam_tissue_presets[i];
  *t1 = p->t1;
  *t2 = p->t2;
  *source = p->source;
  g_autofree char *name = g_strdup (_ (p->name));
  name[0] = g_ascii_toupper (name[0]);
  return g_strdup_printf (_ ("%s, %.2g T"), name, p->field);
}
