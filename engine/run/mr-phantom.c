#include "run/mr-phantom.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"

#define SEED 20260

typedef struct {
  double x, y, radius; /* of half the side */
  double t1, t2, m0, phase;
} Disc;

/* Seven round an eighth: measured tissues at 3 T, and what lies about as far from them as tissues do from each other. */
static const Disc discs[LAM_MR_PHANTOM_DISCS] = {
    {0, 0, 0.26, 1084, 69, 0.8, 0},           {0, -0.66, 0.19, 1820, 99, 0.9, 0.5},
    {0.52, -0.41, 0.19, 1932, 275, 1, 1},     {0.64, 0.15, 0.19, 1412, 50, 0.85, 1.5},
    {0.29, 0.6, 0.19, 812, 42, 0.75, 2},      {-0.29, 0.6, 0.19, 1194, 56, 0.9, -2},
    {-0.64, 0.15, 0.19, 380, 130, 0.6, -1.5}, {-0.52, -0.41, 0.19, 2600, 200, 1, -1},
};

/* Slices differ, so that it shows which one is looked at. */
static const double t1_of_slice[LAM_MR_PHANTOM_SLICES] = {0.8, 1, 1.1},
                    t2_of_slice[LAM_MR_PHANTOM_SLICES] = {1, 1, 0.7};

/* -1: in none. */
static int
disc_at (int64_t row, int64_t column)
{
  double x = (column + 0.5) / (LAM_MR_PHANTOM_SIDE / 2.0) - 1, y = (row + 0.5) / (LAM_MR_PHANTOM_SIDE / 2.0) - 1;
  for (int i = 0; i < LAM_MR_PHANTOM_DISCS; i++)
    if (hypot (x - discs[i].x, y - discs[i].y) < discs[i].radius)
      return i;
  return -1;
}

LamMrPhantomTruth
lam_mr_phantom_truth (int64_t slice, int64_t row, int64_t column)
{
  int i = disc_at (row, column);
  if (i < 0)
    return (LamMrPhantomTruth){NAN, NAN, 0, 0};
  return (LamMrPhantomTruth){discs[i].t1 * t1_of_slice[slice], discs[i].t2 * t2_of_slice[slice], discs[i].m0,
                             discs[i].phase};
}

/* A tissue for each disc of each slice, with the quantities that the sequence tells apart. */
static LamTissues *
tissues_of (LamModel *model, GError **error)
{
  enum { N = LAM_MR_PHANTOM_SLICES * LAM_MR_PHANTOM_DISCS };
  const char *const *names = lam_model_bloch (model) ? lam_bloch_model_quantities ()
                                                     : lam_protocol_template (lam_model_protocol (model))->tissues;
  g_autoptr (LamTissues) t = lam_tissues_new (N);
  double t1[N], t2[N];
  for (int i = 0; i < N; i++) {
    t1[i] = discs[i % LAM_MR_PHANTOM_DISCS].t1 * t1_of_slice[i / LAM_MR_PHANTOM_DISCS];
    t2[i] = discs[i % LAM_MR_PHANTOM_DISCS].t2 * t2_of_slice[i / LAM_MR_PHANTOM_DISCS];
  }
  for (const char *const *name = names; *name; name++) {
    gboolean ok = TRUE;
    if (g_str_equal (*name, "T1"))
      ok = lam_tissues_set (t, *name, t1, N, error);
    else if (g_str_equal (*name, "T2") || g_str_equal (*name, "T2star"))
      ok = lam_tissues_set (t, *name, t2, N, error);
    if (!ok)
      return NULL;
  }
  return g_steal_pointer (&t);
}

static void
fill (LamMrSeries *s, const LamSignal *signal, double noise)
{
  int64_t n = signal->samples, side = LAM_MR_PHANTOM_SIDE;
  memset (s->re, 0, s->voxels * n * sizeof *s->re);
  memset (s->im, 0, s->voxels * n * sizeof *s->im);
  for (int64_t v = 0; v < s->voxels; v++) {
    int i = disc_at (v / side % side, v % side);
    if (i < 0)
      continue;
    int64_t from = (v / (side * side) * LAM_MR_PHANTOM_DISCS + i) * n;
    double c = discs[i].m0 * cos (discs[i].phase), d = discs[i].m0 * sin (discs[i].phase);
    LamRandom random;
    lam_random_init (&random, SEED, v);
    for (int64_t k = 0; k < n; k++) {
      double re = signal->re ? signal->re[from + k] : 0, im = signal->im ? signal->im[from + k] : 0;
      s->re[v * n + k] = (float) (c * re - d * im + noise * lam_random_normal (&random));
      s->im[v * n + k] = (float) (c * im + d * re + noise * lam_random_normal (&random));
    }
  }
}

LamMrSeries *
lam_mr_phantom_new (LamModel *model, double noise, LamDevices *devices, LamControl *control, GError **error)
{
  static const int64_t dims[3] = {LAM_MR_PHANTOM_SIDE, LAM_MR_PHANTOM_SIDE, LAM_MR_PHANTOM_SLICES};
  static const double size[3] = {3, 3, 6};
  LamSimulateOptions options = {0};
  LamSignal signal = {0};
  g_autoptr (LamTissues) t = tissues_of (model, error);
  if (!t || !lam_model_simulate (model, t, &options, devices, control, &signal, error))
    return NULL;
  g_autoptr (LamMrSeries) s = g_new0 (LamMrSeries, 1);
  const LamBlochModel *file = lam_model_bloch (model);
  s->path = g_strdup_printf ("phantom of %s", file ? lam_bloch_model_options (file)->file
                                                   : lam_protocol_template (lam_model_protocol (model))->name);
  s->notes = g_ptr_array_new_with_free_func (g_free);
  s->nifti = lam_nifti_new (dims, size, signal.samples);
  s->rank = 3;
  memcpy (s->dims, dims, sizeof dims);
  s->voxels = dims[0] * dims[1] * dims[2];
  s->contrasts = signal.samples;
  int64_t n = lam_mul_size (s->voxels, s->contrasts);
  s->re = lam_alloc_n (n, 4, "series", error);
  s->im = s->re ? lam_alloc_n (n, 4, "series", error) : NULL;
  if (s->im)
    fill (s, &signal, noise);
  lam_signal_clear (&signal);
  return s->im ? g_steal_pointer (&s) : NULL;
}
