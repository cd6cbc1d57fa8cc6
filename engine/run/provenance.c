#include "run/provenance.h"

#include <math.h>

void
lam_provenance_init (LamProvenance *p, const char *scan)
{
  *p = (LamProvenance){.scan = g_strdup (scan), .center_width = NAN, .center_confidence = NAN, .bin = 1};
}

void
lam_provenance_copy (const LamProvenance *from, LamProvenance *to)
{
  *to = *from;
  to->scan = g_strdup (from->scan);
  to->center_from = g_strdup (from->center_from);
  to->weights = g_strdup (from->weights);
  to->bad_pixels = g_strdup (from->bad_pixels);
  to->defects = g_strdup (from->defects);
}

void
lam_provenance_clear (LamProvenance *p)
{
  g_clear_pointer (&p->scan, g_free);
  g_clear_pointer (&p->center_from, g_free);
  g_clear_pointer (&p->weights, g_free);
  g_clear_pointer (&p->bad_pixels, g_free);
  g_clear_pointer (&p->defects, g_free);
}
