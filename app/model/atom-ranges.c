#include "config.h"

#include "model/atom-ranges.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"

/* Up to three numbers with colons between them; how many, or 0. */
static int
read_word (const char *word, double v[3])
{
  g_auto (GStrv) parts = g_strsplit (word, ":", -1);
  int n = (int) g_strv_length (parts);
  if (n != 1 && n != 3)
    return 0;
  for (int i = 0; i < n; i++) {
    char *end;
    const char *part = g_strstrip (parts[i]);
    v[i] = g_ascii_strtod (part, &end);
    if (end == part || *end || !isfinite (v[i]))
      return 0;
  }
  return n;
}

double *
lam_atom_range_parse (const char *text, gboolean geometric, int64_t *n, GError **error)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (double));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (int i = 0; words[i]; i++) {
    double v[3] = {0};
    int parts = read_word (words[i], v);
    if (parts == 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("“%s” is no number, nor a range as 200:3000:60"), words[i]);
      return NULL;
    }
    double count = parts == 3 ? v[2] : 1;
    if (count != rint (count) || count < 1 || all->len + count > LAM_ATOM_RANGES_MOST_VALUES) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("1 to %d values are possible, not %g"),
                   LAM_ATOM_RANGES_MOST_VALUES, all->len + count);
      return NULL;
    }
    if (geometric && count > 1 && !(v[0] > 0 && v[1] > 0)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s", _ ("equal ratios need ends above 0: choose equal steps"));
      return NULL;
    }
    for (int64_t k = 0; k < (int64_t) count; k++) {
      double at = count > 1 ? (double) k / (count - 1) : 0;
      double x = k == 0                     ? v[0]
                 : k == (int64_t) count - 1 ? v[1]
                 : geometric                ? v[0] * pow (v[1] / v[0], at)
                                            : v[0] + (v[1] - v[0]) * at;
      g_array_append_val (all, x);
    }
  }
  if (all->len == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s", _ ("there is no value"));
    return NULL;
  }
  *n = all->len;
  return (double *) (void *) g_array_free (g_steal_pointer (&all), FALSE);
}

LamAtomRanges *
lam_atom_ranges_new (void)
{
  return g_new0 (LamAtomRanges, 1);
}

void
lam_atom_ranges_add (LamAtomRanges *r, const char *name, double *values, int64_t n)
{
  r->axes = g_renew (LamAtomAxis, r->axes, r->n + 1);
  r->axes[r->n++] = (LamAtomAxis){g_intern_string (name), values, n};
}

int64_t
lam_atom_ranges_count (const LamAtomRanges *r)
{
  int64_t all = 1;
  for (int i = 0; i < r->n; i++) {
    all *= r->axes[i].n;
    if (all > G_MAXINT32)
      return -1;
  }
  return all;
}

void
lam_atom_ranges_free (LamAtomRanges *r)
{
  for (int i = 0; i < r->n; i++)
    g_free ((double *) r->axes[i].values);
  g_free (r->axes);
  g_free (r);
}
