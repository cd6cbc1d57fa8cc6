/* atom-ranges.h: which tissues a dictionary is of, as a person writes them: "200:3000:60" or "10,20,40:100:4" for each
 * quantity. */
#pragma once

#include "mr/dictionary.h"

G_BEGIN_DECLS

#define LAM_ATOM_RANGES_MOST_VALUES 10000

/* Numbers and FROM:TO:COUNT, split by commas; @geometric: in equal ratios between the ends, which are then above 0. NULL with
 * the reason; else *n values, g_free (). */
double *lam_atom_range_parse (const char *text, gboolean geometric, int64_t *n, GError **error);

/* Values of several quantities, owned. */
typedef struct {
  int n;
  LamAtomAxis *axes;
} LamAtomRanges;

LamAtomRanges *lam_atom_ranges_new (void);
/* Takes @values. */
void lam_atom_ranges_add (LamAtomRanges *r, const char *name, double *values, int64_t n);
/* Every value with every other, T2 above T1 not yet left out; -1: too many to count. */
int64_t lam_atom_ranges_count (const LamAtomRanges *r);
void lam_atom_ranges_free (LamAtomRanges *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamAtomRanges, lam_atom_ranges_free)

G_END_DECLS
