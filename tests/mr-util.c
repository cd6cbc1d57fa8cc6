#include "mr-util.h"

#include <math.h>
#include <string.h>

static herr_t
collect (hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  g_ptr_array_add (data, g_strdup (name));
  return 0;
}

static char *
quantity_of (const char *dataset)
{
  static const char *const suffixes[] = {"_um2_per_ms", "_ms", "_hz", "_rad", "_in", "_deg"};
  char *name = g_strdup (dataset);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (name, suffixes[i]))
      name[strlen (name) - strlen (suffixes[i])] = 0;
  if (strcmp (name, "M0_re") == 0)
    name[2] = 0;
  return name;
}

/* The number of voxels: of T1, or of the first quantity that is known. */
LamTissues *
mr_tissues (hid_t group)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  LamTissues *t = NULL;
  H5Literate (group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, collect, names);
  for (guint i = 0; i < names->len; i++) {
    const char *dataset = g_ptr_array_index (names, i);
    g_autofree char *name = quantity_of (dataset);
    if (!lam_tissue_find (name) || g_str_has_prefix (dataset, "true_") || g_str_has_prefix (dataset, "peer"))
      continue;
    int64_t shape[GOLDEN_MAX_RANK];
    g_autofree double *values = golden_read_double (group, dataset, shape);
    int64_t n = golden_count (shape);
    if (!t)
      t = lam_tissues_new (n);
    g_assert_cmpint (n, ==, lam_tissues_voxels (t));
    lam_tissues_set (t, name, values, n, &error);
    g_assert_no_error (error);
  }
  g_assert_nonnull (t);
  return t;
}

void
mr_set (LamProtocol *p, const char *name, hid_t group, const char *from)
{
  g_autoptr (GError) error = NULL;
  if (golden_has (group, from)) {
    int64_t shape[GOLDEN_MAX_RANK];
    g_autofree double *v = golden_read_double (group, from, shape);
    lam_protocol_set (p, name, v, (int) golden_count (shape), &error);
  } else if (golden_has_attr (group, from)) {
    double v[64];
    int64_t n = golden_attr_doubles (group, from, v, 64);
    lam_protocol_set (p, name, v, (int) n, &error);
  }
  g_assert_no_error (error);
}

LamDevices *
mr_devices (void)
{
  static LamDevices *set;
  g_autoptr (GError) error = NULL;
  if (!set)
    set = lam_devices_new (g_getenv ("LAMINA_DEVICES"), &error);
  g_assert_no_error (error);
  return set;
}

double
mr_distance_of (const float *re, const float *im, int64_t n, hid_t group, const char *name)
{
  g_autofree char *name_re = g_strconcat (name, "_re", NULL), *name_im = g_strconcat (name, "_im", NULL);
  int64_t shape[GOLDEN_MAX_RANK];
  gboolean split = golden_has (group, name_re);
  g_autofree double *tr = golden_read_double (group, split ? name_re : name, shape);
  g_autofree double *ti = split ? golden_read_double (group, name_im, shape) : NULL;
  double worst = 0, most = 0;
  g_assert_cmpint (golden_count (shape), ==, n);
  for (int64_t i = 0; i < n; i++) {
    double dr = (re ? re[i] : 0) - tr[i], di = (im ? im[i] : 0) - (ti ? ti[i] : 0);
    double d = hypot (dr, di);
    if (isnan (d))
      return NAN;
    worst = fmax (worst, d);
    most = fmax (most, hypot (tr[i], ti ? ti[i] : 0));
  }
  return worst / most;
}

double
mr_distance (const LamSignal *signal, hid_t group, const char *name)
{
  return mr_distance_of (signal->re, signal->im, signal->voxels * signal->samples, group, name);
}

/* The Jacobian's rows, where the group names them and has one of the usual convention. */
static void
mr_check_jacobian (GoldenTally *tally, const char *kind, const char *name, hid_t group, LamModel *model,
                   LamTissues *tissues, const LamSimulateOptions *options)
{
  g_autoptr (GError) error = NULL;
  if (!golden_has_attr (group, "jacobian_rows")
      || !(golden_has (group, "jacobian") || golden_has (group, "jacobian_re")))
    return;
  g_autofree char *rows = golden_attr_string (group, "jacobian_rows"), *label = g_strconcat (kind, ", Jacobian", NULL);
  g_auto (GStrv) names = g_strsplit (rows, " ", -1);
  LamJacobian j = {0};
  lam_model_jacobian (model, tissues, options, (const char *const *) names, mr_devices (), NULL, &j, NULL, &error);
  g_assert_no_error (error);
  double d = mr_distance_of (j.re, j.im, j.signal.voxels * j.n * j.signal.samples, group, "jacobian");
  g_test_message ("%s, by %s: %.2g", name, rows, d);
  golden_tally_add (tally, label, name, d, golden_attr_double (group, "tolerance_rel_float32"));
  lam_jacobian_clear (&j);
}

void
mr_check (GoldenTally *tally, const char *kind, const char *name, hid_t group, LamModel *model, LamTissues *tissues,
          const LamSimulateOptions *options)
{
  g_autoptr (GError) error = NULL;
  LamSignal s = {0};
  lam_model_simulate (model, tissues, options, mr_devices (), NULL, &s, &error);
  g_assert_no_error (error);
  double d = mr_distance (&s, group, "signal");
  g_test_message ("%s: %.2g (%s path, %d orders)", name, d, s.real_path ? "real" : "complex", s.orders);
  golden_tally_add (tally, kind, name, d, golden_attr_double (group, "tolerance_rel_float32"));
  lam_signal_clear (&s);
  mr_check_jacobian (tally, kind, name, group, model, tissues, options);
}
