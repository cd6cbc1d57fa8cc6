#include "golden-closed.h"

#include <math.h>
#include <string.h>

#include "mr-util.h"

/* Group, template, and what its numbers are called there: field or tissue quantity, then attribute or dataset. */
typedef struct {
  const char *group, *template;
  const char *names[24];
} Form;

static const Form forms[] = {
    {"spgr", "SPGR", {"flip", "flip_deg", "TR", "TR_ms", "TE", "TE_ms"}},
    {"bssfp", "bSSFP", {"flip", "flip_deg", "TR", "TR_ms", "TE", "TE_ms", "phase_inc", "phase_increment_deg"}},
    {"inversion_recovery_TR", "InversionRecovery", {"TI", "TI_ms", "TR", "TR_ms"}},
    {"inversion_recovery_full", "InversionRecovery", {"TI", "TI_ms", "TR", "TR_ms"}},
    {"multi_echo", "MultiEcho", {"TE", "TE_ms"}},
    {"double_angle", "DoubleAngle", {"flip", "flip_deg"}},
    {"spin_echo", "SpinEcho", {"TE", "TE_ms", "TR", "TR_ms", "TI", "TI_ms"}},
    {"look_locker", "LookLocker", {"flip", "flip_deg", "TR", "TR_ms", "TI", "TI_ms", "short_TR", "short_TR"}},
    {"look_locker_short", "LookLocker", {"flip", "flip_deg", "TR", "TR_ms", "TI", "TI_ms", "short_TR", "short_TR"}},
    {"molli", "MOLLI", {"flip", "flip_deg", "TR", "TR_ms", "readouts", "readouts", "recovery", "recovery_ms"}},
    {"ir_bssfp", "IRbSSFP", {"flip", "flip_deg", "TI", "TI_ms"}},
    {"hsfp", "HSFP", {"flip", "flip_deg", "TR", "TR_ms", "beta", "beta"}},
    {"multi_gradient_echo",
     "MultiGradientEcho",
     {"TE", "TE_ms", "field", "field_T", "fat_ppm", "fat_ppm", "fat_amplitude", "fat_amplitude"}},
    {"ir_multi_gradient_echo", "IRMultiGradientEcho", {"TE", "TE_ms", "TI", "TI_ms", "field", "field_T"}},
    {"diffusion_isotropic", "Diffusion", {"b", "b_s_per_mm2"}},
    {"diffusion_tensor", "Diffusion", {"b", "b_s_per_mm2"}},
    {"lorentzian", "Lorentzian", {"offsets", "offsets"}},
    {"asl_continuous", "ASL", {"t", "t_ms", "tau", "tau_ms", "efficiency", "efficiency"}},
    {"asl_pulsed", "ASL", {"t", "t_ms", "tau", "tau_ms", "efficiency", "efficiency"}},
};

/* Columns of an array [rows][n], each under its own name. */
static void
put_columns (LamProtocol *p, hid_t group, const char *dataset, const char *const *names, int columns)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *v = golden_read_double (group, dataset, shape);
  g_autofree double *column = g_new (double, shape[0]);
  g_autoptr (GError) error = NULL;
  for (int c = 0; c < columns; c++) {
    for (int64_t i = 0; i < shape[0]; i++)
      column[i] = v[i * shape[1] + c];
    lam_protocol_set (p, names[c], column, (int) shape[0], &error);
    g_assert_no_error (error);
  }
}

static void
put_rows (LamTissues *t, hid_t group, const char *dataset)
{
  int64_t shape[GOLDEN_MAX_RANK];
  g_autofree double *v = golden_read_double (group, dataset, shape);
  g_autoptr (GError) error = NULL;
  for (int64_t r = 0; r < shape[0]; r++) {
    g_autofree char *name = g_strdup_printf ("pool%d_%s", (int) r + 1, dataset);
    lam_tissues_set (t, name, v + r * shape[1], shape[1], &error);
    g_assert_no_error (error);
  }
}

static void
check_form (hid_t group, const char *name, gpointer tally)
{
  static const char *const axes[] = {"gx", "gy", "gz"};
  for (guint k = 0; k < G_N_ELEMENTS (forms); k++) {
    const Form *f = &forms[k];
    if (strcmp (f->group, name) != 0)
      continue;
    LamProtocol *p = lam_protocol_new (lam_template_find (f->template));
    g_autoptr (LamModel) m = lam_model_new_for (p);
    g_autoptr (LamTissues) t = mr_tissues (group);
    g_autoptr (GError) error = NULL;
    for (int i = 0; f->names[i]; i += 2)
      mr_set (p, f->names[i], group, f->names[i + 1]);
    if (golden_has (group, "fat_ppm"))
      lam_protocol_set_value (p, "fat_spectrum", 2, &error);
    if (golden_has (group, "directions"))
      put_columns (p, group, "directions", axes, 3);
    if (golden_has (group, "amplitude")) {
      put_rows (t, group, "amplitude");
      put_rows (t, group, "width");
      put_rows (t, group, "shift");
    }
    if (strcmp (name, "asl_pulsed") == 0)
      lam_protocol_set_value (p, "labelling", 1, &error);
    if (golden_has_attr (group, "T1_blood_ms"))
      lam_tissues_set_value (t, "T1_blood", golden_attr_double (group, "T1_blood_ms"), &error);
    if (golden_has_attr (group, "partition"))
      lam_tissues_set_value (t, "partition", golden_attr_double (group, "partition"), &error);
    g_assert_no_error (error);
    mr_check (tally, "closed", name, group, m, t, NULL);
    return;
  }
  g_error ("closed/%s: no template has this form", name);
}

void
golden_closed_add (hid_t file, GoldenTally *tally)
{
  golden_each_group (file, "closed", check_form, tally);
}

/* The closed form, and the events played until they have settled. */
void
golden_mp2rage_add (hid_t file, GoldenTally *tally)
{
  if (!golden_has (file, "mp2rage"))
    return;
  hid_t group = golden_open_group (file, "mp2rage");
  LamProtocol *p = lam_protocol_new (lam_template_find ("MP2RAGE"));
  g_autoptr (LamModel) m = lam_model_new_for (p);
  g_autoptr (LamTissues) t = mr_tissues (group);
  static const char *const names[] = {"TI",        "TI_ms",        "flip",   "flip_deg", "TRspgr", "TRspgr_ms",
                                      "TRmp2rage", "TRmp2rage_ms", "before", "before",   "after",  "after"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i += 2)
    mr_set (p, names[i], group, names[i + 1]);
  mr_check (tally, "mp2rage", "mp2rage", group, m, t, NULL);
  int64_t shape[GOLDEN_MAX_RANK], n = lam_tissues_voxels (t);
  g_autofree double *ratio = golden_read_double (group, "ratio", shape);
  g_autofree float *re = g_new (float, 2 * n);
  double worst = 0, bound = golden_attr_double (group, "tolerance_rel_float32");
  for (int64_t v = 0; v < n; v++) {
    double x[2], y[2];
    lam_template_closed (p, t, v, NULL, NULL, 0, x, y, NULL, NULL);
    re[2 * v] = (float) x[0];
    re[2 * v + 1] = (float) x[1];
    worst = fmax (worst, fabs (x[0] * x[1] / (x[0] * x[0] + x[1] * x[1]) - ratio[v]));
  }
  golden_tally_add (tally, "mp2rage, closed form", "mp2rage", mr_distance_of (re, NULL, 2 * n, group, "signal"), bound);
  golden_tally_add (tally, "mp2rage, ratio", "mp2rage", worst, bound);
  H5Gclose (group);
}
