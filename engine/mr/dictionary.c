#include "mr/dictionary.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

/* ---- which tissues ---- */

static gboolean
check_axes (const LamAtomAxis *axes, int n, GError **error)
{
  if (n < 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "no tissue quantity is given a range: at least one is needed");
    return FALSE;
  }
  for (int i = 0; i < n; i++) {
    const char *wrong = !lam_tissue_find (axes[i].name) ? "is no tissue quantity such as T1, T2, B1, B0, D"
                        : g_ascii_strcasecmp (axes[i].name, "M0") == 0 ? "comes out of the match; leave it out"
                        : axes[i].n < 1                                ? "has no value"
                                                                       : NULL;
    for (int j = 0; !wrong && j < i; j++)
      if (g_str_equal (axes[i].name, axes[j].name))
        wrong = "is there twice";
    if (wrong) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" %s", axes[i].name, wrong);
      return FALSE;
    }
  }
  return TRUE;
}

static int64_t
count_atoms (LamAtomsKind kind, const LamAtomAxis *axes, int n, GError **error)
{
  int64_t count = 1;
  for (int i = 0; i < n; i++) {
    if (kind == LAM_ATOMS_GRID) {
      count = lam_mul_size (count, axes[i].n);
      continue;
    }
    if (count != 1 && axes[i].n != 1 && axes[i].n != count) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "%s has %" G_GINT64_FORMAT " values where another list has %" G_GINT64_FORMAT, axes[i].name,
                   axes[i].n, count);
      return -1;
    }
    count = MAX (count, axes[i].n);
  }
  if (count >= 0 && count < G_MAXINT32 - 64)
    return count;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "that are more than 2147483583 atoms; take coarser ranges");
  return -1;
}

static double
value_at (LamAtomsKind kind, const LamAtomAxis *axes, int n, int axis, int64_t atom)
{
  if (kind == LAM_ATOMS_LIST)
    return axes[axis].values[axes[axis].n == 1 ? 0 : atom];
  for (int i = n - 1; i > axis; i--)
    atom /= axes[i].n;
  return axes[axis].values[atom % axes[axis].n];
}

static int
axis_of (const LamAtomAxis *axes, int n, const char *name)
{
  for (int i = 0; i < n; i++)
    if (g_str_equal (axes[i].name, name))
      return i;
  return -1;
}

LamAtoms *
lam_atoms_new (LamAtomsKind kind, const LamAtomAxis *axes, int n, gboolean longer_t2, GError **error)
{
  int64_t all = check_axes (axes, n, error) ? count_atoms (kind, axes, n, error) : -1;
  if (all < 0)
    return NULL;
  int t1 = longer_t2 ? -1 : axis_of (axes, n, "T1"), t2 = axis_of (axes, n, "T2");
  g_autoptr (LamAtoms) a = g_new0 (LamAtoms, 1);
  a->columns = n;
  a->names = g_new0 (char *, n + 1);
  for (int i = 0; i < n; i++)
    a->names[i] = g_strdup (axes[i].name);
  for (int i = 0; i < n; i++) { /* of values that are impossible none is left out in silence */
    g_autoptr (LamTissues) range = lam_tissues_new (axes[i].n);
    if (!lam_tissues_set (range, axes[i].name, axes[i].values, axes[i].n, error))
      return NULL;
  }
  for (int64_t k = 0; t1 >= 0 && t2 >= 0 && k < all; k++)
    a->excluded += value_at (kind, axes, n, t2, k) > value_at (kind, axes, n, t1, k);
  a->n = all - a->excluded;
  if (a->n == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "all %" G_GINT64_FORMAT " atoms have T2 above T1 and are left out; check the ranges", all);
    return NULL;
  }
  a->values = lam_alloc_n (lam_mul_size (a->n, n), 8, "parameters of the dictionary", error);
  if (!a->values)
    return NULL;
  for (int64_t k = 0, to = 0; k < all; k++) {
    if (a->excluded && value_at (kind, axes, n, t2, k) > value_at (kind, axes, n, t1, k))
      continue;
    for (int i = 0; i < n; i++)
      a->values[i * a->n + to] = value_at (kind, axes, n, i, k);
    to++;
  }
  g_autoptr (LamTissues) check = lam_tissues_new (a->n);
  for (int i = 0; i < n; i++)
    if (!lam_tissues_set (check, a->names[i], a->values + i * a->n, a->n, error))
      return NULL;
  return g_steal_pointer (&a);
}

void
lam_atoms_free (LamAtoms *a)
{
  g_strfreev (a->names);
  lam_free (a->values);
  g_free (a);
}

const double *
lam_atoms_column (const LamAtoms *a, const char *name)
{
  for (int i = 0; i < a->columns; i++)
    if (g_str_equal (a->names[i], name))
      return a->values + i * a->n;
  return NULL;
}

static LamAtoms *
copy_atoms (const LamAtoms *a, GError **error)
{
  double *values = lam_alloc_n (lam_mul_size (a->n, a->columns), 8, "parameters of the dictionary", error);
  if (!values)
    return NULL;
  memcpy (values, a->values, a->n * a->columns * sizeof *values);
  LamAtoms *copy = g_new (LamAtoms, 1);
  *copy = *a;
  copy->names = g_strdupv (a->names);
  copy->values = values;
  return copy;
}

/* Every @step-th of them. */
static LamTissues *
tissues_of (const LamAtoms *a, int64_t step, GError **error)
{
  int64_t n = (a->n + step - 1) / step;
  g_autoptr (LamTissues) t = lam_tissues_new (n);
  g_autofree double *some = step > 1 ? g_new (double, n) : NULL;
  for (int i = 0; i < a->columns; i++) {
    for (int64_t k = 0; some && k < n; k++)
      some[k] = a->values[i * a->n + k * step];
    if (!lam_tissues_set (t, a->names[i], some ? some : a->values + i * a->n, n, error))
      return NULL;
  }
  return g_steal_pointer (&t);
}

/* ---- the dictionary ---- */

LamPlan *
lam_dictionary_plan (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options, LamDevices *devices,
                     GError **error)
{
  g_autoptr (LamTissues) t = tissues_of (atoms, 1, error);
  LamPlan *plan = t ? lam_model_simulate_plan (model, t, options, devices, error) : NULL;
  if (plan)
    lam_plan_set_parts (plan, "atoms", "shorter ranges, or fewer values in them", atoms->n);
  return plan;
}

gboolean
lam_dictionary_seconds (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options, LamDevices *devices,
                        LamControl *control, double *seconds, GError **error)
{
  int64_t few = 64 * lam_pool_threads (lam_devices_pool (devices)), step = (atoms->n + few - 1) / few;
  g_autoptr (LamTissues) t = tissues_of (atoms, step, error);
  LamControl none = {0}, *quiet = control ? control : &none;
  void (*progress) (const char *, double, double, void *) = quiet->progress;
  LamSignal s = {0};
  if (!t || !lam_control_go_on (control, error))
    return FALSE;
  /* The first call also resolves the sequence, which is not done again. */
  if (lam_model_samples (model, error) < 0)
    return FALSE;
  int64_t start = lam_clock_ns ();
  quiet->progress = NULL; /* what it does is no part of the work */
  gboolean ok = lam_model_simulate (model, t, options, devices, quiet, &s, error);
  quiet->progress = progress;
  double took = (double) (lam_clock_ns () - start) / 1e9;
  double once = lam_model_bloch (model) ? MIN (lam_bloch_model_resolving (lam_model_bloch (model)), took) : 0;
  *seconds = once + (took - once) * (double) atoms->n / (double) MAX (lam_tissues_voxels (t), 1);
  lam_signal_clear (&s);
  return ok && lam_control_go_on (control, error);
}

/* The norm of each signal; atoms without one that can be used are closed up. */
static gboolean
take_norms (LamDictionary *d, GError **error)
{
  LamAtoms *a = d->atoms;
  int64_t to = 0, n = a->n;
  if (!(d->norm = lam_alloc_n (n, 8, "norms", error)))
    return FALSE;
  for (int64_t i = 0; i < n; i++) {
    const float *re = d->re ? d->re + i * d->samples : NULL, *im = d->im ? d->im + i * d->samples : NULL;
    double sum = (re ? lam_dot (re, re, d->samples) : 0) + (im ? lam_dot (im, im, d->samples) : 0);
    if (!isfinite (sum) || sum <= 0)
      continue;
    if (to < i) {
      for (int p = 0; p < 2; p++) {
        float *plane = p ? d->im : d->re;
        if (plane)
          memmove (plane + to * d->samples, plane + i * d->samples, d->samples * sizeof *plane);
      }
      for (int c = 0; c < a->columns; c++)
        a->values[c * n + to] = a->values[c * n + i];
    }
    d->norm[to++] = sqrt (sum);
  }
  d->dropped = n - to;
  for (int c = 1; d->dropped && c < a->columns; c++)
    memmove (a->values + c * to, a->values + c * n, to * sizeof *a->values);
  a->n = to;
  if (to == 0)
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "none of the %" G_GINT64_FORMAT " atoms has a signal: all are zero or not finite; check the protocol",
                 n);
  return to > 0;
}

LamDictionary *
lam_dictionary_new_take (LamAtoms *atoms, int64_t samples, float *re, float *im, GError **error)
{
  g_autoptr (LamDictionary) d = g_new0 (LamDictionary, 1);
  d->atoms = atoms;
  d->samples = samples;
  d->re = re;
  d->im = im;
  if (samples < 1 || (!re && !im)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a dictionary needs signals with at least one contrast");
    return NULL;
  }
  return take_norms (d, error) ? g_steal_pointer (&d) : NULL;
}

LamDictionary *
lam_dictionary_new (LamModel *model, const LamAtoms *atoms, const LamSimulateOptions *options, LamDevices *devices,
                    LamControl *control, GError **error)
{
  LamSignal s = {0};
  g_autoptr (LamPlan) plan = lam_dictionary_plan (model, atoms, options, devices, error);
  if (!plan || !lam_plan_fits (plan, error))
    return NULL;
  LamAtoms *mine = copy_atoms (atoms, error);
  g_autoptr (LamTissues) t = mine ? tissues_of (mine, 1, error) : NULL;
  if (!t || !lam_model_simulate (model, t, options, devices, control, &s, error)) {
    g_clear_pointer (&mine, lam_atoms_free);
    return NULL;
  }
  LamDictionary *d = lam_dictionary_new_take (mine, s.samples, g_steal_pointer (&s.re), g_steal_pointer (&s.im), error);
  if (d) {
    const LamProtocol *p = lam_model_protocol (model);
    LamBlochModel *b = lam_model_bloch (model);
    d->template = g_strdup (p ? lam_protocol_template (p)->name : b ? LAM_DICTIONARY_PULSEQ : "sequence");
    if (b)
      d->pulseq = lam_dictionary_pulseq_new (lam_bloch_model_options (b), s.samples, lam_bloch_model_numbers (b),
                                             lam_bloch_model_times (b));
    d->protocol = p ? lam_protocol_copy (p) : NULL;
    d->orders = s.orders;
    d->played = s.played;
    d->residual = s.residual;
  }
  lam_signal_clear (&s);
  return d;
}

LamDictionaryPulseq *
lam_dictionary_pulseq_new (const LamBlochModelOptions *options, int64_t samples, const int64_t *number,
                           const double *time)
{
  LamDictionaryPulseq *p = g_new (LamDictionaryPulseq, 1);
  *p = (LamDictionaryPulseq){*options, samples, g_memdup2 (number, (gsize) samples * sizeof *number),
                             g_memdup2 (time, (gsize) samples * sizeof *time)};
  p->options.permille = NULL;
  p->options.file = g_strdup (options->file);
  p->options.checksum = g_strdup (options->checksum);
  return p;
}

void
lam_dictionary_pulseq_free (LamDictionaryPulseq *p)
{
  g_free ((char *) p->options.file);
  g_free ((char *) p->options.checksum);
  g_free (p->number);
  g_free (p->time);
  g_free (p);
}

const char *
lam_dictionary_origin (const LamDictionary *d)
{
  const char *file = d->pulseq ? d->pulseq->options.file : NULL;
  return file ? file : d->template;
}

void
lam_dictionary_free (LamDictionary *d)
{
  g_clear_pointer (&d->pulseq, lam_dictionary_pulseq_free);
  g_clear_pointer (&d->atoms, lam_atoms_free);
  g_clear_pointer (&d->protocol, lam_protocol_free);
  g_clear_pointer (&d->subspace, lam_subspace_free);
  g_free (d->template);
  lam_free (d->re);
  lam_free (d->im);
  lam_free (d->norm);
  g_free (d);
}

gboolean
lam_dictionary_compress (LamDictionary *d, int rank, double energy, LamDevices *devices, LamControl *control,
                         GError **error)
{
  /* One plane: the basis is real, whichever it is. */
  LamSubspace *s = lam_subspace_new (d->re ? d->re : d->im, d->re ? d->im : NULL, d->atoms->n, d->samples, rank, energy,
                                     devices, control, error);
  if (!s)
    return FALSE;
  g_clear_pointer (&d->subspace, lam_subspace_free);
  d->subspace = s;
  return TRUE;
}
