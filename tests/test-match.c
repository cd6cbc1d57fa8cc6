/* test-match.c: dictionaries and matching beside the golden numbers: a phantom's tissues come back, also through files; the same
 * bits however the work is cut; what cannot be matched is left out and counted; memory as forecast; faults. */
#include <math.h>
#include <string.h>

#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "io-util.h"
#include "io/dictionary-file.h"
#include "mr/match.h"

static LamDevices *
devices (const char *spec)
{
  g_autoptr (GError) error = NULL;
  LamDevices *set = lam_devices_new (spec, &error);
  g_assert_no_error (error);
  return set;
}

static LamModel *
fingerprint (int pulses)
{
  g_autoptr (GError) error = NULL;
  LamModel *m = lam_model_new (lam_template_find ("MRF"));
  g_autofree double *flip = g_new (double, pulses);
  double tr = 10;
  for (int i = 0; i < pulses; i++)
    flip[i] = 5 + 50 * fabs (sin (0.043 * i));
  lam_model_set (m, "flip", flip, pulses, &error);
  g_assert_no_error (error);
  lam_model_set (m, "TR", &tr, 1, &error);
  g_assert_no_error (error);
  return m;
}

#define T1_STEPS 36
#define T2_STEPS 28
#define T1_AT(i) (250 * pow (10, (i) / (T1_STEPS - 1.0)))
#define T2_AT(i) (20 * pow (10, (i) / (T2_STEPS - 1.0)))

static LamAtoms *
grid (void)
{
  g_autoptr (GError) error = NULL;
  double t1[T1_STEPS], t2[T2_STEPS];
  for (int i = 0; i < T1_STEPS; i++)
    t1[i] = T1_AT (i);
  for (int i = 0; i < T2_STEPS; i++)
    t2[i] = T2_AT (i);
  LamAtomAxis axes[] = {{"T1", t1, T1_STEPS}, {"T2", t2, T2_STEPS}};
  LamAtoms *a = lam_atoms_new (LAM_ATOMS_GRID, axes, 2, FALSE, &error);
  g_assert_no_error (error);
  return a;
}

static LamDictionary *
make (LamModel *m, LamDevices *set)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamAtoms) a = grid ();
  LamDictionary *d = lam_dictionary_new (m, a, NULL, set, NULL, &error);
  g_assert_no_error (error);
  return d;
}

/* ---- a phantom: ellipses of tissues ---- */

#define SIDE 40

typedef struct {
  double t1, t2, m0, phase;
} Tissue;

static const Tissue tissues[] = {
    {0}, {1410, 61, 0.8, 0.3}, {850, 45, 0.7, -1.2}, {2400, 190, 1.3, 2.9}, {390, 33, 2.5, -2.2}};

static int
tissue_at (int64_t v)
{
  static const double ellipses[][4] = {{0, 0, .9, .8}, {-.1, .1, .6, .5}, {.2, -.2, .25, .2}, {-.4, -.4, .15, .2}};
  double x = 2.0 * (double) (v % SIDE) / (SIDE - 1) - 1, y = 2.0 * (double) (v / SIDE) / (SIDE - 1) - 1;
  int which = 0;
  for (int e = 0; e < 4; e++) {
    double p = (x - ellipses[e][0]) / ellipses[e][2], q = (y - ellipses[e][1]) / ellipses[e][3];
    which = p * p + q * q < 1 ? e + 1 : which;
  }
  return which;
}

/* Samples of the phantom, each tissue with its M0 and phase: [SIDE x SIDE][samples]. */
static void
make_phantom (LamModel *m, LamDevices *set, float **re, float **im)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamTissues) t = lam_tissues_new (4);
  LamSignal s = {0};
  double t1[4], t2[4];
  for (int i = 0; i < 4; i++) {
    t1[i] = tissues[i + 1].t1;
    t2[i] = tissues[i + 1].t2;
  }
  lam_tissues_set (t, "T1", t1, 4, &error);
  lam_tissues_set (t, "T2", t2, 4, &error);
  lam_model_simulate (m, t, NULL, set, NULL, &s, &error);
  g_assert_no_error (error);
  *re = lam_alloc_n (SIDE * SIDE * s.samples, 4, "phantom", NULL);
  *im = lam_alloc_n (SIDE * SIDE * s.samples, 4, "phantom", NULL);
  for (int64_t v = 0; v < SIDE * SIDE; v++) {
    int which = tissue_at (v);
    double c = tissues[which].m0 * cos (tissues[which].phase), e = tissues[which].m0 * sin (tissues[which].phase);
    for (int64_t k = 0; k < s.samples; k++) {
      int64_t at = (which - 1) * s.samples + k;
      double x = which && s.re ? s.re[at] : 0, y = which && s.im ? s.im[at] : 0;
      (*re)[v * s.samples + k] = (float) (x * c - y * e);
      (*im)[v * s.samples + k] = (float) (x * e + y * c);
    }
  }
  lam_signal_clear (&s);
}

static void
check_phantom (const LamMatch *m, const LamDictionary *d)
{
  static const char *const names[] = {"T1", "T2", "M0", "phase"};
  float *map[4];
  for (int i = 0; i < 4; i++) {
    map[i] = g_new (float, m->voxels);
    g_assert_true (lam_match_map (m, d, names[i], map[i]));
  }
  for (int64_t v = 0; v < m->voxels; v++) {
    const Tissue *t = &tissues[tissue_at (v)];
    if (t->t1 == 0) {
      g_assert_cmpint (m->state[v], ==, LAM_VOXEL_ZERO);
      g_assert_true (isnan (map[0][v]) && isnan (map[2][v]));
      continue;
    }
    /* A step of the grid, and what one is worth in M0 and phase. */
    g_assert_cmpfloat (fabs (log (map[0][v] / t->t1)), <=, 1.01 * log (T1_AT (1) / T1_AT (0)));
    g_assert_cmpfloat (fabs (log (map[1][v] / t->t2)), <=, 1.01 * log (T2_AT (1) / T2_AT (0)));
    g_assert_cmpfloat (fabs (map[2][v] / t->m0 - 1), <, 0.04);
    g_assert_cmpfloat (fabs (map[3][v] - t->phase), <, 1e-4);
    g_assert_cmpfloat (m->score[v * m->top], >, 0.998);
  }
  for (int i = 0; i < 4; i++)
    g_free (map[i]);
}

static void
test_recover (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices ("3xcpu");
  g_autoptr (LamModel) m = fingerprint (120);
  g_autoptr (LamDictionary) made = make (m, set);
  float *re, *im;
  LamMatch match = {0};
  make_phantom (m, set, &re, &im);
  lam_dictionary_compress (made, 8, 0, set, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (made->subspace->retained, >, 0.9999);
  /* Saved and read back, with the protocol it was made by. */
  g_autofree char *path = test_path ("phantom-dictionary.h5");
  lam_dictionary_save (made, path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lam_dictionary_is_file (path));
  g_autoptr (LamDictionary) d = lam_dictionary_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (d->atoms->values, d->atoms->n * 16, made->atoms->values, made->atoms->n * 16);
  g_assert_true ((d->re == NULL) == (made->re == NULL) && (d->im == NULL) == (made->im == NULL));
  int64_t bytes = d->atoms->n * d->samples * 4;
  g_assert_cmpmem (d->re ? d->re : d->im, bytes, made->re ? made->re : made->im, bytes);
  g_assert_cmpint (d->subspace->rank, ==, 8);
  g_assert_cmpmem (d->subspace->re, 8 * d->samples * 4, made->subspace->re, 8 * d->samples * 4);
  int n, k;
  const double *flip = lam_protocol_get (d->protocol, "flip", &n), *was = lam_protocol_get (made->protocol, "flip", &k);
  g_assert_cmpmem (flip, n * sizeof *flip, was, k * sizeof *was);
  g_assert_cmpstr (d->template, ==, "MRF");
  for (int rank = 0; rank <= 8; rank += 8) {
    LamMatchOptions o = {.rank = rank};
    lam_match (d, re, im, SIDE * SIDE, d->samples, &o, set, NULL, &match, &error);
    g_assert_no_error (error);
    check_phantom (&match, d);
  }
  lam_match_clear (&match);
  lam_free (re);
  lam_free (im);
}

/* Case N5. */
static void
test_empty_voxels (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices ("1xcpu");
  const double t2[] = {40, 80, 160};
  LamAtomAxis axis = {"T2", t2, 3};
  LamAtoms *atoms = lam_atoms_new (LAM_ATOMS_LIST, &axis, 1, FALSE, &error);
  float *atom = lam_alloc_n (24, 4, "atoms", NULL), re[4 * 8], im[4 * 8];
  for (int i = 0; i < 24; i++)
    atom[i] = (float) exp (-(double) (10 * (i % 8 + 1)) / t2[i / 8]);
  for (int k = 0; k < 8; k++) {
    re[k] = (float) (5 * cos (0.7)) * atom[8 + k];
    im[k] = (float) (5 * sin (0.7)) * atom[8 + k];
    re[8 + k] = im[8 + k] = 0;
    re[16 + k] = k == 3 ? NAN : re[k];
    im[16 + k] = im[k];
    re[24 + k] = re[k];
    im[24 + k] = k == 7 ? INFINITY : im[k];
  }
  g_autoptr (LamDictionary) d = lam_dictionary_new_take (atoms, 8, atom, NULL, &error);
  g_assert_no_error (error);
  LamMatchOptions o = {.top = 3};
  LamMatch m = {0};
  lam_match (d, re, im, 4, 8, &o, set, NULL, &m, &error);
  g_assert_no_error (error);
  g_assert_cmpint (m.atom[0], ==, 1);
  g_assert_cmpfloat_with_epsilon (m.score[0], 1, 1e-6);
  g_assert_cmpfloat_with_epsilon (m.score[1], 0.99087, 1e-5);
  g_assert_cmpfloat_with_epsilon (m.score[2], 0.97301, 1e-5);
  float map[4];
  g_assert_true (lam_match_map (&m, d, "T2", map));
  g_assert_cmpfloat (map[0], ==, 80);
  g_assert_true (isnan (map[1]) && isnan (map[2]) && isnan (map[3]));
  g_assert_true (lam_match_map (&m, d, "M0", map));
  g_assert_cmpfloat_with_epsilon (map[0], 5, 1e-5);
  g_assert_true (lam_match_map (&m, d, "phase", map));
  g_assert_cmpfloat_with_epsilon (map[0], 0.7, 1e-5);
  g_assert_true (lam_match_map (&m, d, "residual", map));
  g_assert_cmpfloat (map[0], <, 1e-6);
  g_assert_false (lam_match_map (&m, d, "T1", map));
  g_assert_cmpint (m.state[1], ==, LAM_VOXEL_ZERO);
  g_assert_cmpint (m.state[2], ==, LAM_VOXEL_NOT_FINITE);
  g_assert_cmpint (m.state[3], ==, LAM_VOXEL_NOT_FINITE);
  g_assert_cmpint (m.count[LAM_VOXEL_MATCHED], ==, 1);
  g_assert_cmpint (m.count[LAM_VOXEL_NOT_FINITE], ==, 2);
  /* A mask leaves out what could be matched. */
  const uint8_t mask[4] = {0, 1, 1, 1};
  o.mask = mask;
  lam_match (d, re, im, 4, 8, &o, set, NULL, &m, &error);
  g_assert_no_error (error);
  g_assert_cmpint (m.state[0], ==, LAM_VOXEL_OUTSIDE);
  g_assert_cmpint (m.atom[0], ==, -1);
  lam_match_clear (&m);
}

/* ---- random problems ---- */

typedef struct {
  int64_t atoms, voxels, samples;
  gboolean complex_atoms, imaginary, complex_data;
} Kind;

static float *
noise (int64_t n, uint64_t stream)
{
  float *x = lam_alloc_n (n, 4, "noise", NULL);
  LamRandom random;
  lam_random_init (&random, 7, stream);
  for (int64_t i = 0; i < n; i++)
    x[i] = (float) lam_random_normal (&random);
  return x;
}

static LamDictionary *
random_dictionary (const Kind *k)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *number = g_new (double, k->atoms);
  for (int64_t i = 0; i < k->atoms; i++)
    number[i] = (double) i;
  LamAtomAxis axis = {"B0", number, k->atoms};
  LamAtoms *a = lam_atoms_new (LAM_ATOMS_LIST, &axis, 1, FALSE, &error);
  float *x = noise (k->atoms * k->samples, 1), *y = k->complex_atoms ? noise (k->atoms * k->samples, 2) : NULL;
  LamDictionary *d = lam_dictionary_new_take (a, k->samples, k->imaginary ? NULL : x, k->imaginary ? x : y, &error);
  g_assert_no_error (error);
  return d;
}

static gboolean
equal (const LamMatch *a, const LamMatch *b)
{
  int64_t n = a->voxels * a->top * 4;
  return a->voxels == b->voxels && a->top == b->top && memcmp (a->atom, b->atom, n) == 0
         && memcmp (a->score, b->score, n) == 0 && memcmp (a->scale_re, b->scale_re, a->voxels * 4) == 0
         && memcmp (a->scale_im, b->scale_im, a->voxels * 4) == 0
         && memcmp (a->residual, b->residual, a->voxels * 4) == 0 && memcmp (a->state, b->state, a->voxels) == 0;
}

/* Every atom for every voxel, in double. */
static void
check_by_hand (const Kind *k, const LamDictionary *d, const float *re, const float *im, const LamMatch *m)
{
  int64_t n = k->samples;
  for (int64_t v = 0; v < k->voxels; v++) {
    double best = -1, scale_re = 0, scale_im = 0, whole = 0, left = 0;
    int32_t which = -1;
    for (int64_t i = 0; i < n; i++)
      whole += (double) re[v * n + i] * re[v * n + i] + (im ? (double) im[v * n + i] * im[v * n + i] : 0);
    for (int64_t a = 0; a < k->atoms; a++) {
      double p = 0, q = 0, size = 0;
      for (int64_t i = 0; i < n; i++) {
        double x = d->re ? d->re[a * n + i] : 0, y = d->im ? d->im[a * n + i] : 0, s = re[v * n + i],
               t = im ? im[v * n + i] : 0;
        p += x * s + y * t;
        q += x * t - y * s;
        size += x * x + y * y;
      }
      double score = hypot (p, q) / sqrt (size * whole);
      if (score > best) {
        best = score;
        which = (int32_t) a;
        scale_re = p / size;
        scale_im = q / size;
        left = sqrt (MAX (whole - (p * p + q * q) / size, 0) / whole);
      }
    }
    g_assert_cmpint (m->atom[v * m->top], ==, which);
    g_assert_cmpfloat_with_epsilon (m->score[v * m->top], best, 1e-6);
    g_assert_cmpfloat_with_epsilon (m->scale_re[v], scale_re, 1e-6 * (1 + fabs (scale_re)));
    g_assert_cmpfloat_with_epsilon (m->scale_im[v], scale_im, 1e-6 * (1 + fabs (scale_im)));
    g_assert_cmpfloat_with_epsilon (m->residual[v], left, 1e-6);
  }
}

static const Kind kinds[] = {
    {301, 83, 37, FALSE, FALSE, TRUE},  {301, 83, 37, FALSE, TRUE, TRUE},  {301, 83, 37, TRUE, FALSE, TRUE},
    {301, 83, 37, FALSE, FALSE, FALSE}, {301, 83, 37, TRUE, FALSE, FALSE}, {64, 12, 5, FALSE, FALSE, TRUE},
    {33, 1, 3, FALSE, TRUE, FALSE},     {5, 7, 2, FALSE, FALSE, TRUE},
};

static void
test_every_kind (void)
{
  g_autoptr (LamDevices) set = devices ("2xcpu");
  static const LamIsa isas[] = {LAM_ISA_SCALAR, LAM_ISA_AVX2, LAM_ISA_AVX512};
  LamIsa own = lam_isa ();
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const Kind *k = &kinds[i];
    g_autoptr (GError) error = NULL;
    g_autoptr (LamDictionary) d = random_dictionary (k);
    float *re = noise (k->voxels * k->samples, 3), *im = k->complex_data ? noise (k->voxels * k->samples, 4) : NULL;
    LamMatch one = {0}, some = {0};
    LamMatchOptions o = {.top = 4};
    for (guint isa = 0; isa < G_N_ELEMENTS (isas); isa++) {
      if (!lam_isa_force (isas[isa]))
        continue;
      lam_match (d, re, im, k->voxels, k->samples, NULL, set, NULL, &one, &error);
      g_assert_no_error (error);
      check_by_hand (k, d, re, im, &one);
      lam_match (d, re, im, k->voxels, k->samples, &o, set, NULL, &some, &error);
      g_assert_no_error (error);
      for (int64_t v = 0; v < k->voxels; v++) {
        g_assert_cmpint (some.atom[v * 4], ==, one.atom[v]);
        for (int j = 1; j < 4; j++) {
          g_assert_cmpfloat (some.score[v * 4 + j], <=, some.score[v * 4 + j - 1]);
          g_assert_cmpint (some.atom[v * 4 + j], !=, some.atom[v * 4 + j - 1]);
        }
      }
    }
    lam_isa_force (own);
    lam_match_clear (&one);
    lam_match_clear (&some);
    lam_free (re);
    lam_free (im);
  }
}

static void
test_bits (void)
{
  static const int counts[] = {1, 2, 3, 5, 8};
  static const int64_t pieces[] = {0, 1, 32, 65, 10000};
  for (guint i = 0; i < 5; i++) {
    const Kind *k = &kinds[i];
    g_autoptr (GError) error = NULL;
    g_autoptr (LamDevices) one = devices ("1xcpu");
    g_autoptr (LamDictionary) d = random_dictionary (k);
    float *re = noise (k->voxels * k->samples, 3), *im = k->complex_data ? noise (k->voxels * k->samples, 4) : NULL;
    const int64_t chunks[] = {0, 1, 7, k->voxels - 1, k->voxels, k->voxels + 1};
    re[11 * k->samples + 2] = NAN;
    lam_dictionary_compress (d, 6, 0, one, NULL, &error);
    g_assert_no_error (error);
    for (int top = 1; top <= 5; top += 4)
      for (int rank = 0; rank <= 6; rank += 6) {
        LamMatch reference = {0}, m = {0};
        LamMatchOptions o = {.top = top, .rank = rank};
        lam_match (d, re, im, k->voxels, k->samples, &o, one, NULL, &reference, &error);
        g_assert_no_error (error);
        for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
          g_autofree char *spec = g_strdup_printf ("%dxcpu", counts[c]);
          g_autoptr (LamDevices) set = devices (spec);
          for (guint j = 0; j < G_N_ELEMENTS (chunks); j++) {
            o.chunk = chunks[j];
            o.piece = pieces[(j + c) % G_N_ELEMENTS (pieces)];
            lam_match (d, re, im, k->voxels, k->samples, &o, set, NULL, &m, &error);
            g_assert_no_error (error);
            if (!equal (&reference, &m))
              g_error ("other bits: kind %u, top %d, rank %d, %s", i, top, rank, m.route);
          }
        }
        lam_match_clear (&reference);
        lam_match_clear (&m);
      }
    lam_free (re);
    lam_free (im);
  }
  /* The dictionary too. */
  g_autoptr (LamModel) m = fingerprint (60);
  g_autoptr (LamDevices) one = devices ("1xcpu");
  g_autoptr (LamDictionary) first = make (m, one);
  for (guint c = 1; c < G_N_ELEMENTS (counts); c++) {
    g_autofree char *spec = g_strdup_printf ("%dxcpu", counts[c]);
    g_autoptr (LamDevices) set = devices (spec);
    g_autoptr (LamDictionary) d = make (m, set);
    int64_t bytes = d->atoms->n * d->samples * 4;
    g_assert_cmpmem (first->re ? first->re : first->im, bytes, d->re ? d->re : d->im, bytes);
  }
  /* ... and the basis, again and again: threads must not meet in it. */
  LamSubspace *u = NULL;
  for (int i = 0; i < 60; i++) {
    g_autoptr (GError) error = NULL;
    LamSubspace *s = lam_subspace_new (first->re ? first->re : first->im, NULL, first->atoms->n, first->samples, 5, 0,
                                       one, NULL, &error);
    g_assert_no_error (error);
    if (u) {
      g_assert_cmpmem (u->re, 5 * s->length * 4, s->re, 5 * s->length * 4);
      g_assert_cmpmem (u->singular, s->values * 8, s->singular, s->values * 8);
      lam_subspace_free (u);
    }
    u = s;
  }
  lam_subspace_free (u);
}

/* ---- memory ---- */

static void
test_memory (void)
{
  const Kind k = {4000, 3000, 200, FALSE, FALSE, TRUE};
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDictionary) d = random_dictionary (&k);
  float *re = noise (k.voxels * k.samples, 3), *im = noise (k.voxels * k.samples, 4);
  LamMatch whole = {0};
  for (int i = 0; i < 4; i++) {
    g_autoptr (LamDevices) set = devices (i % 2 ? "3xcpu" : "1xcpu");
    LamMatchOptions o = {.budget = i < 2 ? 0 : 4 << 20};
    LamMatch m = {0};
    g_autoptr (LamPlan) plan = lam_match_plan (d, TRUE, k.voxels, &o, set, &error);
    g_assert_no_error (error);
    lam_devices_reset_counters (set);
    lam_memory_reset_peak ();
    int64_t before = lam_memory_bytes (), held = 0;
    lam_match (d, re, im, k.voxels, k.samples, &o, set, NULL, &m, &error);
    g_assert_no_error (error);
    for (int j = 0; j < lam_devices_count (set); j++)
      held += lam_devices_get (set, j)->peak;
    held += lam_memory_peak () - before;
    double ratio = (double) held / (double) lam_plan_total (plan);
    g_test_message ("%s: %" G_GINT64_FORMAT " bytes held, %.4f of the forecast", m.route, held, ratio);
    g_assert_cmpfloat_with_epsilon (ratio, 1, 0.02);
    if (i == 0)
      whole = m;
    else {
      g_assert_true (equal (&whole, &m));
      if (i >= 2) { /* a small budget really splits */
        g_assert_cmpstr (m.route, !=, whole.route);
        g_assert_cmpint (held, <, 5 << 20);
      }
      lam_match_clear (&m);
    }
  }
  lam_match_clear (&whole);
  /* The dictionary: what is made and what stays. */
  g_autoptr (LamModel) m = fingerprint (100);
  g_autoptr (LamAtoms) a = grid ();
  g_autoptr (LamDevices) set = devices ("2xcpu");
  g_autoptr (LamPlan) plan = lam_dictionary_plan (m, a, NULL, set, &error);
  g_assert_no_error (error);
  lam_devices_reset_counters (set);
  lam_memory_reset_peak ();
  int64_t before = lam_memory_bytes ();
  g_autoptr (LamDictionary) made = lam_dictionary_new (m, a, NULL, set, NULL, &error);
  g_assert_no_error (error);
  int64_t held = lam_memory_peak () - before - a->n * 3 * 8; /* parameters and norms */
  for (int j = 0; j < 2; j++)
    held += lam_devices_get (set, j)->peak;
  g_test_message ("dictionary: %.4f of the forecast", (double) held / (double) lam_plan_total (plan));
  g_assert_cmpfloat_with_epsilon ((double) held / (double) lam_plan_total (plan), 1, 0.02);
  lam_free (re);
  lam_free (im);
}

static void
test_allocations (void)
{
  g_autoptr (LamDevices) set = devices ("2xcpu");
  g_autoptr (LamModel) model = fingerprint (40);
  g_autoptr (LamAtoms) a = grid ();
  g_autofree char *path = test_path ("allocations.h5");
  float *re = noise (50 * 40, 3), *im = noise (50 * 40, 4);
  LamMatch reference = {0}, m = {0};
  int failures = 0;
  for (int64_t at = 0;; at++) {
    g_autoptr (GError) error = NULL;
    lam_match_clear (&m);
    lam_memory_fail_at (at);
    g_autoptr (LamDictionary) d = lam_dictionary_new (model, a, NULL, set, NULL, &error);
    gboolean ok =
        d && lam_dictionary_compress (d, 4, 0, set, NULL, &error) && lam_dictionary_save (d, path, NULL, &error);
    g_autoptr (LamDictionary) back = ok ? lam_dictionary_load (path, NULL, &error) : NULL;
    LamMatchOptions o = {.rank = at % 2 ? 4 : 0};
    ok = back && lam_match (back, re, im, 50, 40, &o, set, NULL, at == 0 ? &reference : &m, &error);
    int64_t counted = lam_memory_fail_at (0);
    if (!ok) {
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
      g_assert_null (m.atom);
      failures++;
    } else if (at > 0 && o.rank == 0)
      g_assert_true (equal (&reference, &m)); /* half of it did */
    if (at > 0 && ok && counted < at)
      break;
    g_assert_cmpint (at, <, 400);
  }
  g_assert_cmpint (failures, >, 10);
  lam_match_clear (&reference);
  lam_match_clear (&m);
  lam_free (re);
  lam_free (im);
}

/* ---- what is refused, left out, stopped ---- */

static void
test_refusals (void)
{
  g_autoptr (LamDevices) set = devices ("1xcpu");
  const double ok[] = {100, 200}, longer[] = {500}, wrong[] = {-5};
  static const struct {
    const char *name, *says;
  } names[] = {{"M0", "comes out of the match"}, {"T3", "no tissue quantity"}};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GError *error = NULL;
    LamAtomAxis axis = {names[i].name, ok, 2};
    g_assert_null (lam_atoms_new (LAM_ATOMS_GRID, &axis, 1, FALSE, &error));
    test_error (error, LAM_ERROR_INVALID, names[i].says, NULL);
  }
  GError *error = NULL;
  LamAtomAxis t2[] = {{"T1", ok, 2}, {"T2", longer, 1}}, bad[] = {{"T1", wrong, 1}},
              twice[] = {{"T1", ok, 2}, {"T1", ok, 2}},
              uneven[] = {{"T1", (const double[]){500, 600, 700}, 3}, {"T2", ok, 2}};
  g_assert_null (lam_atoms_new (LAM_ATOMS_GRID, t2, 2, FALSE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "all 2", "T2 above T1", NULL);
  g_autoptr (LamAtoms) kept = lam_atoms_new (LAM_ATOMS_GRID, t2, 2, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (kept->n, ==, 2);
  g_assert_null (lam_atoms_new (LAM_ATOMS_GRID, bad, 1, FALSE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "T1", NULL);
  g_assert_null (lam_atoms_new (LAM_ATOMS_GRID, twice, 2, FALSE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "twice", NULL);
  g_assert_null (lam_atoms_new (LAM_ATOMS_LIST, uneven, 2, FALSE, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "2", "3", NULL);

  const Kind k = {40, 3, 20, FALSE, FALSE, FALSE};
  g_autoptr (LamDictionary) d = random_dictionary (&k);
  float *re = noise (3 * 20, 3);
  LamMatch m = {0};
  LamMatchOptions o = {.rank = 3}, many = {.top = 29};
  g_assert_false (lam_match (d, re, NULL, 3, 19, NULL, set, NULL, &m, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "19", "20", NULL);
  g_assert_false (lam_match (d, re, NULL, 3, 20, &o, set, NULL, &m, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "no basis", NULL);
  g_assert_false (lam_match (d, re, NULL, 3, 20, &many, set, NULL, &m, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "29", "28", NULL);
  g_assert_false (lam_dictionary_compress (d, 21, 0, set, NULL, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, "21", "20", NULL);
  lam_free (re);
}

/* Atoms without a signal are never found, and are counted. */
static void
test_zero_atoms (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices ("1xcpu");
  const double b0[] = {0, 1, 2, 3, 4};
  LamAtomAxis axis = {"B0", b0, 5};
  LamAtoms *a = lam_atoms_new (LAM_ATOMS_LIST, &axis, 1, FALSE, &error);
  float *x = noise (5 * 8, 1);
  for (int i = 0; i < 8; i++)
    x[i] = x[24 + i] = 0;
  x[17] = NAN;
  g_autoptr (LamDictionary) d = lam_dictionary_new_take (a, 8, x, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (d->dropped, ==, 3);
  g_assert_cmpint (d->atoms->n, ==, 2);
  g_assert_cmpfloat (d->atoms->values[0], ==, 1);
  g_assert_cmpfloat (d->atoms->values[1], ==, 4);
  LamMatch m = {0};
  float map[2], data[16];
  memcpy (data, d->re, sizeof data);
  lam_match (d, data, NULL, 2, 8, NULL, set, NULL, &m, &error);
  g_assert_no_error (error);
  g_assert_true (lam_match_map (&m, d, "B0", map));
  g_assert_cmpfloat (map[0], ==, 1);
  g_assert_cmpfloat (map[1], ==, 4);
  lam_match_clear (&m);
  /* Nothing left is an error. */
  GError *none = NULL;
  a = lam_atoms_new (LAM_ATOMS_LIST, &axis, 1, FALSE, &error);
  x = lam_alloc_n (40, 4, "zeros", NULL);
  memset (x, 0, 160);
  g_assert_null (lam_dictionary_new_take (a, 8, x, NULL, &none));
  test_error (none, LAM_ERROR_INVALID, "none of the 5", NULL);
}

static void
stop_half_way (const char *what, double done, double total, void *data)
{
  LamControl *c = data;
  if (done >= total / 2)
    atomic_store (&c->cancel, 1);
}

static void
test_cancel (void)
{
  const Kind k = {2000, 4000, 50, FALSE, FALSE, TRUE};
  g_autoptr (LamDevices) set = devices ("2xcpu");
  g_autoptr (LamDictionary) d = random_dictionary (&k);
  float *re = noise (k.voxels * k.samples, 3), *im = noise (k.voxels * k.samples, 4);
  for (int half = 0; half < 2; half++) {
    g_autoptr (GError) error = NULL;
    LamControl c = {.progress = half ? stop_half_way : NULL};
    LamMatch m = {0};
    LamMatchOptions o = {.chunk = 100};
    c.data = &c;
    atomic_store (&c.cancel, !half);
    g_assert_false (lam_match (d, re, im, k.voxels, k.samples, &o, set, &c, &m, &error));
    g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
    g_assert_null (m.atom);
  }
  g_autoptr (GError) error = NULL;
  LamControl c = {0};
  atomic_store (&c.cancel, 1);
  g_assert_false (lam_dictionary_compress (d, 3, 0, set, &c, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  lam_free (re);
  lam_free (im);
}

/* ---- the file ---- */

static char *
saved (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDevices) set = devices ("1xcpu");
  g_autoptr (LamModel) m = fingerprint (12);
  const double t1[] = {300, 800, 1500}, t2[] = {40, 90};
  LamAtomAxis axes[] = {{"T1", t1, 3}, {"T2", t2, 2}};
  g_autoptr (LamAtoms) a = lam_atoms_new (LAM_ATOMS_GRID, axes, 2, FALSE, &error);
  g_autoptr (LamDictionary) d = lam_dictionary_new (m, a, NULL, set, NULL, &error);
  g_assert_no_error (error);
  char *path = test_path (name);
  g_assert_true (lam_dictionary_compress (d, 3, 0, set, NULL, &error));
  lam_dictionary_save (d, path, NULL, &error);
  g_assert_no_error (error);
  return path;
}

static void
load_any (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDictionary) d = lam_dictionary_load (path, NULL, &error);
  g_assert_true (d || error);
}

static void
test_damaged_file (void)
{
  g_autofree char *path = saved ("small.h5"), *copy = test_path ("changed.h5");
  gsize size;
  g_autofree char *bytes = test_read_file (path, &size);
  g_autoptr (GError) fine = NULL;
  g_autoptr (LamDictionary) whole = lam_dictionary_load (path, NULL, &fine);
  g_assert_no_error (fine);
  /* One bit of a signal, and one of a parameter. */
  const struct {
    const void *data;
    gsize size;
  } parts[] = {{whole->re ? whole->re : whole->im, 24}, {whole->atoms->values, 24}};
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *other = g_memdup2 (bytes, size);
    char *at = memmem (other, size, parts[i].data, parts[i].size);
    GError *error = NULL;
    g_assert_nonnull (at);
    at[1] ^= 4;
    test_write_file (copy, other, size);
    g_assert_null (lam_dictionary_load (copy, NULL, &error));
    test_error (error, LAM_ERROR_FORMAT, "damaged", NULL);
  }
  test_damage (path, 150, 5, load_any);
  test_cut (path, 40, load_any);
  GError *error = NULL;
  g_autofree char *foreign = test_path ("foreign.h5");
  hid_t f = H5Fcreate (foreign, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (f);
  g_assert_false (lam_dictionary_is_file (foreign));
  g_assert_null (lam_dictionary_load (foreign, NULL, &error));
  test_error (error, LAM_ERROR_FORMAT, "no dictionary", "lamina dictionary", NULL);
}

/* A save that is stopped leaves the old file and nothing else. */
static void
test_stopped_save (void)
{
  g_autofree char *path = saved ("kept.h5");
  gsize size, now;
  g_autofree char *before = test_read_file (path, &size);
  g_autoptr (GError) error = NULL;
  g_autoptr (LamDictionary) d = lam_dictionary_load (path, NULL, &error);
  TestControl c;
  test_control (&c, 1);
  g_assert_false (lam_dictionary_save (d, path, &c.control, &error));
  g_assert_error (error, LAM_ERROR, LAM_ERROR_CANCELLED);
  g_autofree char *after = test_read_file (path, &now);
  g_assert_cmpmem (before, size, after, now);
  g_assert_cmpint (test_leftovers (path), ==, 0);
}

static void
test_locale (void)
{
  if (!test_german ())
    return;
  test_recover ();
  test_plain_locale ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/match/recover", test_recover);
  g_test_add_func ("/match/empty-voxels", test_empty_voxels);
  g_test_add_func ("/match/every-kind", test_every_kind);
  g_test_add_func ("/match/bits", test_bits);
  g_test_add_func ("/match/memory", test_memory);
  g_test_add_func ("/match/allocations", test_allocations);
  g_test_add_func ("/match/refusals", test_refusals);
  g_test_add_func ("/match/zero-atoms", test_zero_atoms);
  g_test_add_func ("/match/cancel", test_cancel);
  g_test_add_func ("/match/damaged-file", test_damaged_file);
  g_test_add_func ("/match/stopped-save", test_stopped_save);
  g_test_add_func ("/match/locale", test_locale);
  int status = g_test_run ();
  test_clean ();
  return status;
}
