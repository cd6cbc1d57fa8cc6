#include "config.h"

#include "cli/spins.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/mr-options.h"
#include "core/error.h"

#define MOST_SPINS 100000
#define MOST_MM 10000

static char *spins_text, *size_text, **positions, *field_text;

const GOptionEntry lam_cli_spins_entries[] = {
    {"spins", 0, 0, G_OPTION_ARG_STRING, &spins_text,
     N_ ("Sequence: spins in each voxel, spread through it so that gradients dephase them (1)"), "N"},
    {"voxel-size", 0, 0, G_OPTION_ARG_STRING, &size_text, N_ ("Sequence: what they fill along x, y, z, mm (1,1,1)"),
     "X,Y,Z"},
    {"position", 0, 0, G_OPTION_ARG_STRING_ARRAY, &positions,
     N_ ("Sequence: the voxel's middle along x, y, z, mm (0,0,0); again for more voxels of each tissue"), "X,Y,Z"},
    {"field", 0, 0, G_OPTION_ARG_STRING, &field_text,
     N_ ("Sequence: field of the scanner, T, where the file has offsets in ppm"), "T"},
    {NULL},
};

const char *
lam_cli_spins_given (void)
{
  return spins_text ? "--spins" : size_text ? "--voxel-size" : positions ? "--position" : field_text ? "--field" : NULL;
}

/* Three numbers; with @one a single one may stand for all. */
static gboolean
read_three (const char *option, const char *text, gboolean one, double low, double out[3], GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  guint n = g_strv_length (words);
  if (n != 3 && !(one && n == 1)) {
    lam_cli_usage_error (error, _ ("%s %s: expected three lengths in mm along x, y and z, such as 1,1,5"), option,
                         text);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!lam_cli_double (option, words[i], low, MOST_MM, &out[i], error))
      return FALSE;
  for (guint i = n; i < 3; i++)
    out[i] = out[0];
  return TRUE;
}

void
lam_cli_spins_clear (LamCliSpins *s)
{
  g_strfreev (s->labels);
  g_free (s->room);
  *s = (LamCliSpins){0};
}

/* A quantity of each tissue, the same at all of its places; NULL: not given. */
static const double *
per_voxel (const LamTissues *t, const char *name, int64_t places, double *room)
{
  if (!lam_tissues_get (t, name, NULL))
    return NULL;
  for (int64_t v = 0; v < lam_tissues_voxels (t) * places; v++)
    room[v] = lam_tissues_named_at (t, name, v / places);
  return room;
}

/* What Bloch's equations have no place for is said, not taken in silence. */
static void
warn_unknown (const LamTissues *t)
{
  static const char *const known[] = {"T1", "T2", "M0", "B0", "B1", NULL};
  const char *const *names = lam_tissues_names (t);
  for (int i = 0; names[i]; i++)
    if (!g_strv_contains (known, names[i]))
      lam_cli_warn (_ ("no sample of a Pulseq file depends on %s, which is left out"), names[i]);
}

static gboolean
place (LamCliSpins *s, int64_t tissues, int64_t places, GStrv labels, double *x, GError **error)
{
  int64_t n = tissues * places;
  s->labels = g_new0 (char *, n + 1);
  for (int64_t v = 0; v < n; v++) {
    double at[3] = {0};
    if (positions && !read_three ("--position", positions[v % places], FALSE, -MOST_MM, at, error))
      return FALSE;
    for (int i = 0; i < 3; i++)
      x[i * n + v] = 1e-3 * at[i];
    s->labels[v] = positions ? g_strdup_printf (_ ("%s at %s mm"), labels[v / places], positions[v % places])
                             : g_strdup (labels[v / places]);
  }
  return TRUE;
}

/* How many spins, what they fill in mm, and the field in T. */
static gboolean
read_voxel (int64_t *spins, double size_mm[3], double *field, GError **error)
{
  *spins = 1;
  size_mm[0] = size_mm[1] = size_mm[2] = 1;
  *field = NAN;
  if (!lam_cli_int ("--spins", spins_text, 1, MOST_SPINS, spins, error)
      || (size_text && !read_three ("--voxel-size", size_text, TRUE, 0, size_mm, error))
      || !lam_cli_double ("--field", field_text, 1e-3, 100, field, error))
    return FALSE;
  if (*spins > 1 && !(size_mm[0] > 0 || size_mm[1] > 0 || size_mm[2] > 0)) {
    lam_cli_usage_error (error,
                         _ ("--voxel-size %s: %" G_GINT64_FORMAT " spins in one place are one spin; give a size "
                            "above 0"),
                         size_text, *spins);
    return FALSE;
  }
  if (size_text && *spins == 1) {
    lam_cli_usage_error (error, _ ("--voxel-size %s: a single spin fills nothing; give --spins too, such as 100"),
                         size_text);
    return FALSE;
  }
  return TRUE;
}

gboolean
lam_cli_spins_options (LamBlochModelOptions *o, GError **error)
{
  double field;
  if (!read_voxel (&o->spins, o->size_mm, &field, error)
      || (positions && !read_three ("--position", positions[0], FALSE, -MOST_MM, o->at_mm, error)))
    return FALSE;
  if (positions && positions[1]) {
    lam_cli_usage_error (error, _ ("--position %s: derivatives, bounds and dictionaries are of voxels at one position"),
                         positions[1]);
    return FALSE;
  }
  o->f0_hz = field * LAM_GAMMA_1H;
  return TRUE;
}

gboolean
lam_cli_spins_read (LamCliSpins *s, const LamTissues *t, GStrv labels, GError **error)
{
  int64_t spins = 1, places = positions ? (int64_t) g_strv_length (positions) : 1;
  int64_t n = lam_mul_size (lam_tissues_voxels (t), places);
  double field = NAN, *room;
  LamBlochParams *p = &s->params;
  lam_bloch_params_init (p);
  if (!read_voxel (&spins, s->size_mm, &field, error))
    return FALSE;
  if (!lam_bloch_has_relaxation (t, error))
    return lam_mr_missing (error);
  warn_unknown (t);
  s->room = room = g_new (double, 8 * n + 3 * spins);
  p->voxels = n;
  p->t1_ms = per_voxel (t, "T1", places, room);
  p->t2_ms = per_voxel (t, "T2", places, room + n);
  p->m0 = per_voxel (t, "M0", places, room + 2 * n);
  p->b0_hz = per_voxel (t, "B0", places, room + 3 * n);
  p->b1 = per_voxel (t, "B1", places, room + 4 * n);
  if (!place (s, lam_tissues_voxels (t), places, labels, room + 5 * n, error))
    return FALSE;
  if (positions) {
    p->x = room + 5 * n;
    p->y = room + 6 * n;
    p->z = room + 7 * n;
  }
  if (spins > 1) {
    const double size[3] = {1e-3 * s->size_mm[0], 1e-3 * s->size_mm[1], 1e-3 * s->size_mm[2]};
    p->spins = spins;
    p->spin_x = room + 8 * n;
    p->spin_y = room + 8 * n + spins;
    p->spin_z = room + 8 * n + 2 * spins;
    lam_bloch_spread_box (size, spins, room + 8 * n, room + 8 * n + spins, room + 8 * n + 2 * spins);
  }
  p->f0_hz = field * LAM_GAMMA_1H;
  return TRUE;
}

void
lam_cli_spins_say (const LamCliSpins *s)
{
  if (s->params.spins > 1)
    lam_cli_print (_ ("each voxel: %" G_GINT64_FORMAT " spins through %s x %s x %s mm"), s->params.spins,
                   lam_cli_number (s->size_mm[0]), lam_cli_number (s->size_mm[1]), lam_cli_number (s->size_mm[2]));
  else
    lam_cli_print (_ ("each voxel: one spin in its middle, which gradients do not dephase; --spins N spreads more"));
}
