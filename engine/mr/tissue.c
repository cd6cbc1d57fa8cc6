#include "mr/tissue.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

#define POOL(letter)                                                                                                   \
  {"pool" letter "_fraction", "", "Pool " letter ": fraction", 0, 0, 1},                                               \
      {"pool" letter "_exchange", "Hz", "Pool " letter ": exchange rate", 0, 0, 1e9},                                  \
      {"pool" letter "_T1", "ms", "Pool " letter ": T1", 1000, 0, INFINITY},                                           \
      {"pool" letter "_T2", "ms", "Pool " letter ": T2", 100, 0, INFINITY},                                            \
  {                                                                                                                    \
    "pool" letter "_shift", "Hz", "Pool " letter ": shift from water", 0, -1e6, 1e6                                    \
  }

static const LamTissueInfo known[] = {
    {"T1", "ms", "Longitudinal relaxation", NAN, 0, INFINITY},
    {"T2", "ms", "Transverse relaxation", NAN, 0, INFINITY},
    {"M0", "", "Proton density", 1, -1e30, 1e30},
    {"M0_im", "", "Proton density, imaginary part", 0, -1e30, 1e30},
    {"B1", "", "Transmit field, relative", 1, 0, 100},
    {"B1phase", "rad", "Transmit phase", 0, -1e6, 1e6},
    {"B0", "Hz", "Off-resonance", 0, -1e7, 1e7},
    {"inv_efficiency", "", "Inversion efficiency", 1, -1, 1},
    {"D", "um²/ms", "Diffusion coefficient", 0, 0, 1e6},
    {"v", "m/s", "Velocity", 0, -1e3, 1e3},
    {"bound_fraction", "", "Semisolid pool: fraction", 0, 0, 1},
    {"bound_exchange", "Hz", "Semisolid pool: exchange rate", 0, 0, 1e9},
    {"bound_T1", "ms", "Semisolid pool: T1", 1000, 0, INFINITY},
    POOL ("B"),
    POOL ("C"),
    POOL ("D"),
    POOL ("E"),
    {"T2prime", "ms", "Reversible dephasing T2′", INFINITY, 0, INFINITY},
    /* Quantities that only closed forms know. */
    {"T2star", "ms", "Transverse relaxation with dephasing", NAN, 0, INFINITY},
    {"chemshift", "Hz", "Chemical shift", 0, -1e7, 1e7},
    {"offset", "", "Constant offset", 0, -1e30, 1e30},
    {"fat_fraction", "", "Fat fraction", 0, 0, 1},
    {"fat_phase", "deg", "Fat phase", 0, -1e6, 1e6},
    {"fat_T2star", "ms", "Fat: T2*", NAN, 0, INFINITY},
    {"fat_T1", "ms", "Fat: T1", NAN, 0, INFINITY},
    {"fat_inv_efficiency", "", "Fat: inversion efficiency", NAN, -1, 1},
    {"Dxx", "um²/ms", "Diffusion tensor xx", 0, -1e6, 1e6},
    {"Dyy", "um²/ms", "Diffusion tensor yy", 0, -1e6, 1e6},
    {"Dzz", "um²/ms", "Diffusion tensor zz", 0, -1e6, 1e6},
    {"Dxy", "um²/ms", "Diffusion tensor xy", 0, -1e6, 1e6},
    {"Dxz", "um²/ms", "Diffusion tensor xz", 0, -1e6, 1e6},
    {"Dyz", "um²/ms", "Diffusion tensor yz", 0, -1e6, 1e6},
    {"CBF", "ml/100g/min", "Cerebral blood flow", NAN, 0, 1e6},
    {"ATT", "ms", "Arterial transit time", NAN, 0, 1e9},
    {"T1_blood", "ms", "T1 of blood", 1650, 0, INFINITY},
    {"partition", "ml/g", "Blood–brain partition coefficient", 0.9, 0, 100},
    {"pool1_amplitude", "", "Lorentzian 1: amplitude", 0, -100, 100},
    {"pool1_width", "ppm", "Lorentzian 1: width", 1, 0, 1e6},
    {"pool1_shift", "ppm", "Lorentzian 1: shift", 0, -1e6, 1e6},
    {"pool2_amplitude", "", "Lorentzian 2: amplitude", 0, -100, 100},
    {"pool2_width", "ppm", "Lorentzian 2: width", 1, 0, 1e6},
    {"pool2_shift", "ppm", "Lorentzian 2: shift", 0, -1e6, 1e6},
    {"pool3_amplitude", "", "Lorentzian 3: amplitude", 0, -100, 100},
    {"pool3_width", "ppm", "Lorentzian 3: width", 1, 0, 1e6},
    {"pool3_shift", "ppm", "Lorentzian 3: shift", 0, -1e6, 1e6},
    {"pool4_amplitude", "", "Lorentzian 4: amplitude", 0, -100, 100},
    {"pool4_width", "ppm", "Lorentzian 4: width", 1, 0, 1e6},
    {"pool4_shift", "ppm", "Lorentzian 4: shift", 0, -1e6, 1e6},
};

struct _LamTissues {
  gatomicrefcount refs;
  int64_t voxels;
  double *values[G_N_ELEMENTS (known)]; /* by place in known[] */
  int64_t n[G_N_ELEMENTS (known)];
  const char *names[G_N_ELEMENTS (known) + 1];
  int channels;
  double *b1, *b1_phase; /* [channels][voxels] */
};

G_STATIC_ASSERT (G_N_ELEMENTS (known) > LAM_TISSUE_QUANTITIES);

const LamTissueInfo *
lam_tissue_info (LamTissueQuantity q)
{
  return &known[q];
}

static int
place (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i].name, name) == 0)
      return (int) i;
  return -1;
}

const LamTissueInfo *
lam_tissue_find (const char *name)
{
  int i = place (name);
  return i < 0 ? NULL : &known[i];
}

int
lam_tissue_quantity (const char *name)
{
  int i = place (name);
  return i < LAM_TISSUE_QUANTITIES ? i : -1;
}

LamTissues *
lam_tissues_new (int64_t voxels)
{
  LamTissues *t = g_new0 (LamTissues, 1);
  g_atomic_ref_count_init (&t->refs);
  t->voxels = voxels;
  return t;
}

LamTissues *
lam_tissues_ref (LamTissues *t)
{
  g_atomic_ref_count_inc (&t->refs);
  return t;
}

void
lam_tissues_unref (LamTissues *t)
{
  if (!g_atomic_ref_count_dec (&t->refs))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    g_free (t->values[i]);
  g_free (t->b1);
  g_free (t->b1_phase);
  g_free (t);
}

int64_t
lam_tissues_voxels (const LamTissues *t)
{
  return t->voxels;
}

static gboolean
fits (const LamTissueInfo *info, double v)
{
  return v >= info->least && v <= info->most && !(info->least == 0 && info->most == INFINITY && v == 0);
}

gboolean
lam_tissues_set (LamTissues *t, const char *name, const double *values, int64_t n, GError **error)
{
  int at = place (name);
  if (at < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "no tissue quantity is called \"%s\"", name);
    return FALSE;
  }
  const LamTissueInfo *info = &known[at];
  if (n != 1 && n != t->voxels) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT
                 " voxels; one, or one for each voxel is needed",
                 name, n, t->voxels);
    return FALSE;
  }
  for (int64_t i = 0; i < n; i++)
    if (!fits (info, values[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s = %g%s%s at voxel %" G_GINT64_FORMAT ": %s", name,
                   values[i], *info->unit ? " " : "", info->unit, i,
                   info->most == INFINITY ? "it must be above 0 (infinite is allowed)" : "out of range");
      return FALSE;
    }
  double *copy = g_try_new (double, n);
  if (!copy) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "no memory for %" G_GINT64_FORMAT " values of %s", n, name);
    return FALSE;
  }
  memcpy (copy, values, (size_t) n * sizeof *copy);
  if (!t->values[at]) {
    int end = 0;
    while (t->names[end])
      end++;
    t->names[end] = info->name;
  }
  g_free (t->values[at]);
  t->values[at] = copy;
  t->n[at] = n;
  return TRUE;
}

gboolean
lam_tissues_set_value (LamTissues *t, const char *name, double value, GError **error)
{
  return lam_tissues_set (t, name, &value, 1, error);
}

const double *
lam_tissues_quantity (const LamTissues *t, LamTissueQuantity q, int64_t *n)
{
  if (n)
    *n = t->n[q];
  return t->values[q];
}

const double *
lam_tissues_get (const LamTissues *t, const char *name, int64_t *n)
{
  int at = place (name);
  return at < 0 ? NULL : lam_tissues_quantity (t, at, n);
}

double
lam_tissues_at (const LamTissues *t, LamTissueQuantity q, int64_t voxel)
{
  return !t->values[q] ? known[q].absent : t->values[q][t->n[q] == 1 ? 0 : voxel];
}

double
lam_tissues_named_at (const LamTissues *t, const char *name, int64_t voxel)
{
  int at = place (name);
  return at < 0 ? NAN : lam_tissues_at (t, at, voxel);
}

const char *const *
lam_tissues_names (const LamTissues *t)
{
  return t->names;
}

gboolean
lam_tissues_set_channels (LamTissues *t, int channels, const double *b1, const double *phase_rad, GError **error)
{
  int64_t n = lam_mul_size (channels, t->voxels);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite (b1[i]) || !isfinite (phase_rad[i])) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "transmit channel %" G_GINT64_FORMAT ", voxel %" G_GINT64_FORMAT ": not finite", i / t->voxels,
                   i % t->voxels);
      return FALSE;
    }
  g_free (t->b1);
  g_free (t->b1_phase);
  t->b1 = g_memdup2 (b1, (gsize) n * sizeof *b1);
  t->b1_phase = g_memdup2 (phase_rad, (gsize) n * sizeof *phase_rad);
  t->channels = channels;
  return TRUE;
}

int
lam_tissues_channels (const LamTissues *t)
{
  return t->channels;
}

const double *
lam_tissues_channel_b1 (const LamTissues *t, int channel)
{
  return t->b1 + channel * t->voxels;
}

const double *
lam_tissues_channel_phase (const LamTissues *t, int channel)
{
  return t->b1_phase + channel * t->voxels;
}
