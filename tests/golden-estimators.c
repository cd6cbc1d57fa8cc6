#include "golden-estimators.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "mr-util.h"
#include "mr/match.h"

/* Dataset @name, or @name_re and @name_im, as planes of floats for lam_free (). */
static void
planes (hid_t group, const char *name, float **re, float **im, int64_t shape[GOLDEN_MAX_RANK])
{
  g_autofree char *name_re = g_strconcat (name, "_re", NULL), *name_im = g_strconcat (name, "_im", NULL);
  gboolean split = golden_has (group, name_re);
  for (int k = 0; k < (split ? 2 : 1); k++) {
    g_autofree double *x = golden_read_double (group, !split ? name : k ? name_im : name_re, shape);
    int64_t n = golden_count (shape);
    float *to = lam_alloc_n (n, 4, "planes", NULL);
    for (int64_t i = 0; i < n; i++)
      to[i] = (float) x[i];
    *(k ? im : re) = to;
  }
  if (!split)
    *im = NULL;
}

/* The signals of @group as a dictionary; parameters are its T1_ms and T2_ms, or the number of the atom. */
static LamDictionary *
dictionary_of (hid_t group)
{
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK];
  float *re, *im;
  planes (group, "dictionary", &re, &im, shape);
  int64_t n = shape[0];
  gboolean named = golden_has (group, "T1_ms") && golden_has (group, "T2_ms");
  g_autofree double *first = named ? golden_read_double (group, "T1_ms", NULL) : g_new (double, n);
  g_autofree double *second = named ? golden_read_double (group, "T2_ms", NULL) : NULL;
  for (int64_t i = 0; !named && i < n; i++)
    first[i] = (double) i;
  LamAtomAxis axes[] = {{named ? "T1" : "B0", first, n}, {"T2", second, n}};
  LamAtoms *atoms = lam_atoms_new (LAM_ATOMS_LIST, axes, named ? 2 : 1, TRUE, &error);
  g_assert_no_error (error);
  LamDictionary *d = lam_dictionary_new_take (atoms, shape[1], re, im, &error);
  g_assert_no_error (error);
  g_assert_cmpint (d->dropped, ==, 0);
  return d;
}

/* Matches the data of @data_group with a dictionary; what came out against @group. */
static void
check_match (hid_t group, hid_t data_group, const char *name, const LamDictionary *d, int rank, GoldenTally *tally)
{
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK], best_shape[GOLDEN_MAX_RANK];
  float *re, *im;
  double bound = golden_attr_double (group, "tolerance_rel_float32");
  planes (data_group, "data", &re, &im, shape);
  g_autofree int32_t *best = golden_read_int32 (group, "best_index", best_shape);
  g_autofree double *score = golden_read_double (group, "score", NULL);
  int64_t voxels = shape[0], top = golden_count (best_shape) / voxels, other = 0;
  LamMatchOptions o = {.top = (int) top, .rank = rank};
  LamMatch m = {0};
  lam_match (d, re, im, voxels, shape[1], &o, mr_devices (), NULL, &m, &error);
  g_assert_no_error (error);
  double worst = 0;
  for (int64_t i = 0; i < voxels * top; i++) {
    double off = fabs (m.score[i] - score[i]);
    worst = isnan (off) ? NAN : fmax (worst, off);
    other += m.atom[i] != best[i] && !(off < 1e-7); /* of equal scores either may stand first */
  }
  g_test_message ("%s: scores %.2g, %" G_GINT64_FORMAT " other atoms; %s", name, worst, other, m.route);
  golden_tally_add (tally, "matching, scores", name, worst, bound);
  golden_tally_add (tally, "matching, atoms", name, (double) other, 0);
  if (golden_has (group, "scale_re"))
    golden_tally_add (tally, "matching, scale", name, mr_distance_of (m.scale_re, m.scale_im, voxels, group, "scale"),
                      bound);
  if (golden_has (group, "M0")) {
    g_autofree float *m0 = g_new (float, voxels);
    g_assert_true (lam_match_map (&m, d, "M0", m0));
    golden_tally_add (tally, "matching, M0", name, mr_distance_of (m0, NULL, voxels, group, "M0"), bound);
  }
  lam_match_clear (&m);
  lam_free (re);
  lam_free (im);
}

static void
check_subspace (hid_t group, const char *name, const LamDictionary *d, GoldenTally *tally)
{
  g_autoptr (GError) error = NULL;
  int64_t shape[GOLDEN_MAX_RANK];
  double bound = golden_attr_double (group, "tolerance_rel_float32");
  int rank = (int) golden_attr_int (group, "rank");
  int64_t n = d->samples;
  g_autoptr (LamSubspace) s = lam_subspace_new (d->re, d->im, d->atoms->n, n, rank, 0, mr_devices (), NULL, &error);
  g_assert_no_error (error);
  /* U^T conj (U), in which no sign of a mode shows. */
  g_autofree float *pr = g_new0 (float, n *n), *pi = g_new0 (float, n *n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < n; k++)
      for (int r = 0; r < rank; r++) {
        double a = s->re[r * n + i], b = s->im ? s->im[r * n + i] : 0, c = s->re[r * n + k],
               e = s->im ? -s->im[r * n + k] : 0;
        pr[i * n + k] += (float) (a * c - b * e);
        pi[i * n + k] += (float) (a * e + b * c);
      }
  golden_tally_add (tally, "basis, projector", name, mr_distance_of (pr, s->im ? pi : NULL, n * n, group, "projector"),
                    bound);
  g_autofree double *sv = golden_read_double (group, "singular_values", shape);
  int64_t values = MIN (golden_count (shape), s->values);
  g_autofree float *mine = g_new (float, golden_count (shape));
  for (int64_t i = 0; i < golden_count (shape); i++)
    mine[i] = i < values ? (float) s->singular[i] : NAN;
  golden_tally_add (tally, "basis, singular values", name,
                    mr_distance_of (mine, NULL, golden_count (shape), group, "singular_values"), bound);
  golden_tally_add (tally, "basis, energy", name, fabs (s->retained - golden_attr_double (group, "retained_energy")),
                    bound);
  float *re, *im;
  double c_re[64], c_im[64];
  g_assert_cmpint (rank, <=, 64);
  planes (group, "data", &re, &im, shape);
  for (int64_t v = 0; v < shape[0]; v++) {
    lam_subspace_project (s, rank, re + v * n, im ? im + v * n : NULL, c_re, c_im);
    lam_subspace_expand (s, rank, c_re, c_im, re + v * n, im ? im + v * n : NULL);
  }
  golden_tally_add (tally, "basis, there and back", name,
                    mr_distance_of (re, im, shape[0] * n, group, "projected_back"), bound);
  lam_free (re);
  lam_free (im);
}

/* The group beside @name whose dictionary it is about. */
static hid_t
sibling (hid_t group, const char *name)
{
  char full[512];
  g_assert_cmpint (H5Iget_name (group, full, sizeof full), >, 0);
  g_autofree char *folder = g_path_get_dirname (full), *to = g_build_filename (folder, name, NULL);
  return golden_open_group (group, to);
}

static void
check_group (hid_t group, const char *name, gpointer tally)
{
  g_autoptr (GError) error = NULL;
  if (golden_has (group, "dictionary") || golden_has (group, "dictionary_re")) {
    g_autoptr (LamDictionary) d = dictionary_of (group);
    check_match (group, group, name, d, 0, tally);
    return;
  }
  gboolean basis = g_str_has_prefix (name, "subspace"), ranked = g_str_has_prefix (name, "dictionary");
  if (!basis && !ranked) {
    g_test_message ("%s: not built", name);
    return;
  }
  hid_t of = sibling (group, strstr (name, "complex") ? "dictionary_complex" : "dictionary_real");
  g_autoptr (LamDictionary) d = dictionary_of (of);
  if (basis)
    check_subspace (group, name, d, tally);
  else { /* the rank is that of the basis beside it */
    hid_t beside = golden_has_attr (group, "rank") ? group : sibling (group, "subspace_real");
    int rank = (int) golden_attr_int (beside, "rank");
    lam_dictionary_compress (d, rank, 0, mr_devices (), NULL, &error);
    g_assert_no_error (error);
    check_match (group, of, name, d, rank, tally);
    if (beside != group)
      H5Gclose (beside);
  }
  H5Gclose (of);
}

void
golden_estimators_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "estimators", check_group, tally);
}
