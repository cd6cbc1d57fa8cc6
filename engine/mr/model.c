#include "mr/model.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

struct _LamModel {
  LamProtocol *protocol;
  LamSequence *sequence; /* without a template */
  LamBlochModel *bloch;  /* ... or this */
  GPtrArray *programs;   /* NULL: to be made */
  gboolean stale;        /* numbers changed since */
  int orders;
  gboolean ordered; /* the programs keep windings apart */
  gboolean stepwise;
  double slice, slice_factor; /* bandwidth times duration, 0: none; of the signal */
  int64_t packed, bound;
};

LamModel *
lam_model_new (const LamTemplate *t)
{
  return lam_model_new_for (lam_protocol_new (t));
}

LamModel *
lam_model_new_for (LamProtocol *protocol)
{
  LamModel *m = g_new0 (LamModel, 1);
  m->protocol = protocol;
  return m;
}

LamModel *
lam_model_new_of_sequence (LamSequence *sequence)
{
  LamModel *m = g_new0 (LamModel, 1);
  m->sequence = lam_sequence_ref (sequence);
  return m;
}

LamModel *
lam_model_new_of_pulseq (LamBlochModel *bloch)
{
  LamModel *m = g_new0 (LamModel, 1);
  m->bloch = bloch;
  return m;
}

void
lam_model_free (LamModel *m)
{
  g_clear_pointer (&m->bloch, lam_bloch_model_free);
  g_clear_pointer (&m->programs, g_ptr_array_unref);
  g_clear_pointer (&m->protocol, lam_protocol_free);
  g_clear_pointer (&m->sequence, lam_sequence_unref);
  g_free (m);
}

const LamProtocol *
lam_model_protocol (const LamModel *m)
{
  return m->protocol;
}

LamBlochModel *
lam_model_bloch (const LamModel *m)
{
  return m->bloch;
}

gboolean
lam_model_set (LamModel *m, const char *name, const double *values, int n, GError **error)
{
  if (!m->protocol) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "a sequence without a template has no \"%s\" to set", name);
    return FALSE;
  }
  const LamField *f = lam_template_field (lam_protocol_template (m->protocol), name);
  int before = 0;
  const double *old = f ? lam_protocol_get (m->protocol, name, &before) : NULL;
  gboolean was_automatic = old && isnan (old[0]);
  if (!lam_protocol_set (m->protocol, name, values, n, error))
    return FALSE;
  if (f->structural || n != before || was_automatic != isnan (values[0]))
    g_clear_pointer (&m->programs, g_ptr_array_unref);
  else
    m->stale = TRUE;
  return TRUE;
}

gboolean
lam_model_follow (LamModel **m, const LamProtocol *protocol, GError **error)
{
  const LamTemplate *t = lam_protocol_template (protocol);
  if (*m && (*m)->protocol && lam_protocol_template ((*m)->protocol) != t)
    g_clear_pointer (m, lam_model_free);
  if (!*m) {
    *m = lam_model_new_for (lam_protocol_copy (protocol));
    return TRUE;
  }
  for (const LamField *f = t->fields; f->name; f++) {
    int n, have;
    const double *values = lam_protocol_get (protocol, f->name, &n),
                 *now = lam_protocol_get ((*m)->protocol, f->name, &have);
    if ((n != have || memcmp (values, now, n * sizeof *values) != 0) && !lam_model_set (*m, f->name, values, n, error))
      return FALSE;
  }
  return TRUE;
}

void
lam_model_set_orders (LamModel *m, int orders)
{
  if (orders != m->orders)
    g_clear_pointer (&m->programs, g_ptr_array_unref);
  m->orders = orders;
}

void
lam_model_set_stepwise (LamModel *m, gboolean stepwise)
{
  if (stepwise != m->stepwise)
    g_clear_pointer (&m->programs, g_ptr_array_unref);
  m->stepwise = stepwise;
}

void
lam_model_set_slice_profile (LamModel *m, double bandwidth_time, const LamSimulateOptions *across)
{
  double extent = across->extent > 0 ? across->extent : 2;
  /* From the mean over the positions to the integral over one thickness. */
  double factor = across->positions > 1 ? extent * across->positions / (across->positions - 1.0) : 1;
  if (bandwidth_time != m->slice || factor != m->slice_factor)
    g_clear_pointer (&m->programs, g_ptr_array_unref);
  m->slice = bandwidth_time;
  m->slice_factor = factor;
}

const char *
lam_model_slice_obstacle (const LamModel *m)
{
  if (lam_model_is_closed (m))
    return "a closed form has no pulses";
  const LamTemplate *t = m->protocol ? lam_protocol_template (m->protocol) : NULL;
  if (!t || strcmp (t->name, "CEST") == 0)
    return "its pulses saturate, they do not select a slice";
  return lam_template_field (t, "pulse_duration") && lam_protocol_value (m->protocol, "pulse_duration") > 0
             ? "its pulses are played sample by sample; set their length to 0 for a slice profile"
             : NULL;
}

/* ---- programs ---- */

static gboolean
make_selective (const LamModel *m, LamSequence *s, GError **error)
{
  enum { SAMPLES = 64 };
  const double dwell = 2e-3 / SAMPLES; /* the length of the pulse shows in nothing */
  double re[SAMPLES], x, y;
  if (!(m->slice > 0) || lam_model_slice_obstacle (m))
    return TRUE;
  lam_rf_sinc (SAMPLES, dwell, 1, m->slice, re);
  g_autoptr (LamRf) rf = lam_rf_from_waveform (SAMPLES, re, NULL, dwell, m->slice / (SAMPLES * dwell), error);
  if (!rf)
    return FALSE;
  lam_sequence_use_definition (s, rf);
  lam_sequence_factor (s, &x, &y);
  lam_sequence_set_factor (s, x * m->slice_factor, y * m->slice_factor);
  return TRUE;
}

static gboolean
pack (LamModel *m, GError **error)
{
  const LamTemplate *t = m->protocol ? lam_protocol_template (m->protocol) : NULL;
  int trains = t && t->trains ? t->trains (m->protocol) : 1;
  g_autoptr (GPtrArray) programs = g_ptr_array_new_with_free_func ((GDestroyNotify) lam_program_unref);
  LamProgramOptions options = {.orders = m->orders ? m->orders
                                         : t       ? t->orders
                                                   : 0,
                               .ordered = m->ordered,
                               .stepwise = m->stepwise};
  for (int i = 0; i < trains; i++) {
    g_autoptr (LamSequence) s = t ? t->build (m->protocol, i, error) : lam_sequence_ref (m->sequence);
    LamProgram *p = s && make_selective (m, s, error) ? lam_program_new (s, &options, error) : NULL;
    if (!p)
      return FALSE;
    g_ptr_array_add (programs, p);
  }
  g_clear_pointer (&m->programs, g_ptr_array_unref);
  m->programs = g_steal_pointer (&programs);
  m->stale = FALSE;
  m->packed++;
  return TRUE;
}

/* The protocol's numbers in the order in which the sequence took them. */
static void
gather (const LamProtocol *p, const LamSequence *s, double *x)
{
  int n;
  const LamProtocolEntry *e = lam_sequence_entries (s, &n);
  for (int i = 0; i < n; i++)
    memcpy (x + e[i].first, lam_protocol_get (p, e[i].name, NULL), e[i].n * sizeof *x);
}

static gboolean
follow (LamModel *m, GError **error)
{
  for (guint i = 0; i < m->programs->len; i++) {
    LamProgram *p = g_ptr_array_index (m->programs, i);
    int n;
    lam_program_values (p, &n);
    if (!lam_program_can_bind (p, NULL))
      return pack (m, error);
    g_autofree double *x = g_new (double, MAX (n, 1));
    gather (m->protocol, lam_program_sequence (p), x);
    if (!lam_program_bind (p, x, n, error))
      return FALSE;
  }
  m->stale = FALSE;
  m->bound++;
  return TRUE;
}

LamProgram *const *
lam_model_programs (LamModel *m, int *n, GError **error)
{
  *n = 0;
  if (m->bloch) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "a Pulseq sequence is played as it is: it has no orders");
    return NULL;
  }
  if (lam_model_is_closed (m))
    return NULL;
  if (!m->programs ? !pack (m, error) : m->stale && !follow (m, error))
    return NULL;
  *n = (int) m->programs->len;
  return (LamProgram *const *) m->programs->pdata;
}

gboolean
lam_model_is_closed (const LamModel *m)
{
  return m->protocol && !lam_protocol_template (m->protocol)->build;
}

gboolean
lam_model_has_theory (const LamModel *m)
{
  return m->protocol && lam_protocol_template (m->protocol)->closed;
}

static gboolean
check (const LamModel *m, GError **error)
{
  const LamTemplate *t = lam_protocol_template (m->protocol);
  return !t->check || t->check (m->protocol, error);
}

int64_t
lam_model_samples (LamModel *m, GError **error)
{
  int n;
  int64_t samples = 0;
  if (m->bloch)
    return lam_bloch_model_samples (m->bloch);
  if (lam_model_is_closed (m))
    return check (m, error) ? lam_template_closed_samples (m->protocol) : -1;
  LamProgram *const *p = lam_model_programs (m, &n, error);
  for (int i = 0; i < n; i++)
    samples += lam_program_bound (p[i])->samples;
  return p ? samples : -1;
}

double *
lam_model_sample_times (LamModel *m, GError **error)
{
  int n;
  if (m->bloch)
    return g_memdup2 (lam_bloch_model_times (m->bloch), (gsize) lam_bloch_model_samples (m->bloch) * sizeof (double));
  LamProgram *const *p = lam_model_programs (m, &n, error);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  for (int i = 0; i < n; i++)
    g_array_append_vals (times, lam_program_sample_times (p[i]), (guint) lam_program_bound (p[i])->samples);
  return p ? (double *) (void *) g_array_free (g_steal_pointer (&times), FALSE) : NULL;
}

/* ---- signals ---- */

LamTissues *
lam_model_complete_tissues (const LamModel *m, const LamTissues *t)
{
  double t2 = m->protocol ? lam_protocol_template (m->protocol)->t2_absent : 0;
  LamTissues *same = lam_tissues_ref ((LamTissues *) t);
  if (t2 > 0 && !lam_tissues_get (t, "T2", NULL))
    lam_tissues_set_value (same, "T2", t2, NULL);
  return same;
}

static gboolean
have_needed (const LamModel *m, const LamTissues *tissues, GError **error)
{
  const LamTemplate *t = lam_protocol_template (m->protocol);
  for (int i = 0; t->tissues[i]; i++)
    if (isnan (lam_tissue_find (t->tissues[i])->absent) && !lam_tissues_get (tissues, t->tissues[i], NULL)
        && !g_str_has_prefix (t->tissues[i], "fat_") && strcmp (t->tissues[i], "T2star") != 0) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s needs %s of each tissue", t->name, t->tissues[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
evaluate_closed (LamModel *m, const LamTissues *tissues, LamControl *control, LamSignal *signal, GError **error)
{
  if (!check (m, error) || !have_needed (m, tissues, error))
    return FALSE;
  const gboolean real = lam_protocol_template (m->protocol)->real_signal;
  int64_t n = signal->voxels = lam_tissues_voxels (tissues),
          s = signal->samples = lam_template_closed_samples (m->protocol);
  g_autofree double *re = g_new (double, MAX (s, 1)), *im = g_new (double, MAX (s, 1));
  signal->re = lam_alloc_n (lam_mul_size (n, MAX (s, 1)), 4, "signal", error);
  signal->im = real || !signal->re ? NULL : lam_alloc_n (lam_mul_size (n, MAX (s, 1)), 4, "signal", error);
  if (!signal->re || (!real && !signal->im))
    return FALSE;
  for (int64_t v = 0; v < n; v++) {
    if (v % 4096 == 0 && !lam_control_go_on (control, error))
      return FALSE;
    lam_template_closed (m->protocol, tissues, v, NULL, NULL, 0, re, im, NULL, NULL);
    for (int64_t i = 0; i < s; i++) {
      signal->re[v * s + i] = (float) re[i];
      if (signal->im)
        signal->im[v * s + i] = (float) im[i];
    }
  }
  signal->route = g_strdup ("closed form");
  signal->real_path = real;
  return TRUE;
}

/* Samples of train after train, each voxel's beside each other. */
static gboolean
join (const LamSignal *parts, int n, gboolean real, LamSignal *signal, GError **error)
{
  gboolean re = FALSE, im = FALSE;
  lam_signal_clear (signal);
  *signal = (LamSignal){.voxels = parts[0].voxels,
                        .real_path = parts[0].real_path,
                        .orders = parts[0].orders,
                        .route = g_strdup (parts[0].route)};
  for (int i = 0; i < n; i++) {
    signal->samples += parts[i].samples;
    signal->played = MAX (signal->played, parts[i].played);
    signal->residual = MAX (signal->residual, parts[i].residual);
    re |= parts[i].re != NULL;
    im |= parts[i].im != NULL && !real;
  }
  int64_t floats = lam_mul_size (signal->voxels, MAX (signal->samples, 1));
  if ((re && !(signal->re = lam_alloc_n (floats, 4, "signal", error)))
      || (im && !(signal->im = lam_alloc_n (floats, 4, "signal", error))))
    return FALSE;
  for (int64_t v = 0; v < signal->voxels; v++) {
    int64_t at = v * signal->samples;
    for (int i = 0; i < n; i++) {
      for (int64_t s = 0; s < parts[i].samples; s++, at++) {
        if (signal->re)
          signal->re[at] = parts[i].re ? parts[i].re[v * parts[i].samples + s] : 0;
        if (signal->im)
          signal->im[at] = parts[i].im ? parts[i].im[v * parts[i].samples + s] : 0;
      }
    }
  }
  return TRUE;
}

/* Diffusion and flow act by order: windings must then be kept apart in time. */
static void
choose_order (LamModel *m, const LamTissues *t, const char *const *names)
{
  gboolean ordered = lam_tissues_get (t, "D", NULL) || lam_tissues_get (t, "v", NULL);
  for (int i = 0; names && names[i]; i++)
    ordered |= strcmp (names[i], "D") == 0 || strcmp (names[i], "v") == 0;
  if (ordered != m->ordered)
    g_clear_pointer (&m->programs, g_ptr_array_unref);
  m->ordered = ordered;
}

LamProgram *const *
lam_model_programs_for (LamModel *m, const LamTissues *tissues, int *n, GError **error)
{
  choose_order (m, tissues, NULL);
  return lam_model_programs (m, n, error);
}

gboolean
lam_model_simulate (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options, LamDevices *devices,
                    LamControl *control, LamSignal *signal, GError **error)
{
  int n;
  if (m->bloch)
    return lam_bloch_model_simulate (m->bloch, tissues, options, devices, control, signal, error);
  if (lam_model_is_closed (m)) {
    lam_signal_clear (signal);
    if (evaluate_closed (m, tissues, control, signal, error))
      return TRUE;
    lam_signal_clear (signal);
    return FALSE;
  }
  choose_order (m, tissues, NULL);
  LamProgram *const *p = lam_model_programs (m, &n, error);
  if (!p)
    return FALSE;
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  const gboolean real = m->protocol && lam_protocol_template (m->protocol)->real_signal;
  if (n == 1 && !real)
    return lam_simulate (p[0], whole, options, devices, control, signal, error);
  g_autofree LamSignal *parts = g_new0 (LamSignal, n);
  gboolean ok = TRUE;
  for (int i = 0; ok && i < n; i++)
    ok = lam_simulate (p[i], whole, options, devices, control, &parts[i], error);
  ok = ok && join (parts, n, real, signal, error);
  for (int i = 0; i < n; i++)
    lam_signal_clear (&parts[i]);
  if (!ok)
    lam_signal_clear (signal);
  return ok;
}

/* One train's buffers, in a phase of their own; on the host its samples stay until all are joined. */
static int64_t
plan_train (LamPlan *plan, const LamPlan *part, int train, int last)
{
  int n;
  int64_t host = 0;
  const LamPlanBuffer *b = lam_plan_buffers (part, &n);
  int phase = lam_plan_add_phase (plan, "simulate");
  for (int i = 0; i < n; i++) {
    g_autofree char *name = train ? g_strdup_printf ("%s, train %d", b[i].name, train + 1) : g_strdup (b[i].name);
    lam_plan_add_buffer (plan, b[i].device, name, b[i].bytes, phase, b[i].device == LAM_HOST ? last : phase);
    host += b[i].device == LAM_HOST ? b[i].bytes : 0;
  }
  return host;
}

LamPlan *
lam_model_simulate_plan (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options, LamDevices *devices,
                         GError **error)
{
  const gboolean real = m->protocol && lam_protocol_template (m->protocol)->real_signal;
  int n = 0;
  if (m->bloch)
    return lam_bloch_model_plan (m->bloch, tissues, options, NULL, devices, error);
  g_autoptr (LamPlan) plan = lam_plan_new (devices);
  if (lam_model_is_closed (m)) {
    if (!check (m, error) || !have_needed (m, tissues, error))
      return NULL;
    int phase = lam_plan_add_phase (plan, "evaluate");
    int64_t samples = MAX (lam_template_closed_samples (m->protocol), 1);
    lam_plan_add_buffer (plan, LAM_HOST, "signal",
                         lam_mul_size (lam_mul_size (lam_tissues_voxels (tissues), samples), real ? 4 : 8), phase,
                         phase);
    lam_plan_set_parts (plan, "tissues", "give some, and the others in another run", lam_tissues_voxels (tissues));
    return g_steal_pointer (&plan);
  }
  choose_order (m, tissues, NULL);
  LamProgram *const *p = lam_model_programs (m, &n, error);
  if (!p)
    return NULL;
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  if (n == 1 && !real)
    return lam_simulate_plan (p[0], whole, options, devices, error);
  int64_t joined = 0;
  for (int i = 0; i < n; i++) {
    g_autoptr (LamPlan) part = lam_simulate_plan (p[i], whole, options, devices, error);
    if (!part)
      return NULL;
    joined += plan_train (plan, part, i, n);
  }
  int phase = lam_plan_add_phase (plan, "join");
  lam_plan_add_buffer (plan, LAM_HOST, "joined signal", joined, phase, phase);
  return g_steal_pointer (&plan);
}

/* ---- derivatives ---- */

/* A name and its index as lam_by_parse () takes them, for a closed form: appended to @labels. */
static gboolean
expand_closed (const LamProtocol *p, const char *name, GPtrArray *labels, GError **error)
{
  const char *bracket = strchr (name, '[');
  g_autofree char *field = bracket ? g_strndup (name, bracket - name) : g_strdup (name);
  int n;
  if (!lam_template_field (lam_protocol_template (p), field)) {
    if (!lam_tissue_find (name)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   "\"%s\" is neither a tissue quantity nor a value of the protocol", name);
      return FALSE;
    }
    g_ptr_array_add (labels, g_strdup (name));
    return TRUE;
  }
  lam_protocol_get (p, field, &n);
  for (int i = 0; i < n; i++)
    if (!bracket || g_ascii_strtoll (bracket + 1, NULL, 10) == i)
      g_ptr_array_add (labels, n == 1 ? g_strdup (field) : g_strdup_printf ("%s[%d]", field, i));
  return TRUE;
}

static gboolean
jacobian_closed (LamModel *m, const LamTissues *tissues, const char *const *names, LamControl *control,
                 LamJacobian *jacobian, char ***labels, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  for (int i = 0; names[i]; i++)
    if (!expand_closed (m->protocol, names[i], all, error))
      return FALSE;
  lam_jacobian_clear (jacobian);
  if (!evaluate_closed (m, tissues, control, &jacobian->signal, error))
    return FALSE;
  int64_t voxels = jacobian->signal.voxels, samples = MAX (jacobian->signal.samples, 1),
          n = jacobian->n = (int) all->len;
  g_autofree double *x = g_new (double, 4 * samples);
  int64_t floats = lam_mul_size (lam_mul_size (voxels, MAX (n, 1)), samples);
  if (!(jacobian->re = lam_alloc_n (floats, 4, "Jacobian", error))
      || !(jacobian->im = lam_alloc_n (floats, 4, "Jacobian", error)))
    return FALSE;
  for (int64_t v = 0; v < voxels; v++)
    for (int64_t j = 0; j < n; j++) {
      const char *label = g_ptr_array_index (all, j), *bracket = strchr (label, '[');
      g_autofree char *field = bracket ? g_strndup (label, bracket - label) : g_strdup (label);
      gboolean by_field = lam_template_field (lam_protocol_template (m->protocol), field) != NULL;
      lam_template_closed (m->protocol, tissues, v, by_field ? NULL : field, by_field ? field : NULL,
                           bracket ? (int) g_ascii_strtoll (bracket + 1, NULL, 10) : 0, x, x + samples, x + 2 * samples,
                           x + 3 * samples);
      for (int64_t s = 0; s < jacobian->signal.samples; s++) {
        jacobian->re[(v * n + j) * samples + s] = (float) x[2 * samples + s];
        jacobian->im[(v * n + j) * samples + s] = (float) x[3 * samples + s];
      }
    }
  if (labels) {
    g_ptr_array_add (all, NULL);
    *labels = (char **) g_ptr_array_free (g_steal_pointer (&all), FALSE);
  }
  return TRUE;
}

/* Samples of train after train for each voxel and quantity. */
static gboolean
join_jacobians (const LamJacobian *parts, int trains, gboolean real, LamJacobian *jacobian, GError **error)
{
  g_autofree LamSignal *signals = g_new0 (LamSignal, trains), *rows = g_new0 (LamSignal, trains);
  LamSignal joined = {0};
  lam_jacobian_clear (jacobian);
  jacobian->n = parts[0].n;
  for (int i = 0; i < trains; i++) {
    signals[i] = parts[i].signal;
    rows[i] = (LamSignal){.voxels = parts[i].signal.voxels * parts[i].n,
                          .samples = parts[i].signal.samples,
                          .re = parts[i].re,
                          .im = parts[i].im};
  }
  if (!join (signals, trains, real, &jacobian->signal, error) || !join (rows, trains, real, &joined, error))
    return FALSE;
  jacobian->re = joined.re;
  jacobian->im = joined.im;
  g_free (joined.route);
  return TRUE;
}

gboolean
lam_model_jacobian (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options, const char *const *names,
                    LamDevices *devices, LamControl *control, LamJacobian *jacobian, char ***labels, GError **error)
{
  int n;
  if (m->bloch) {
    gboolean ok = lam_bloch_model_jacobian (m->bloch, tissues, options, names, devices, control, jacobian, error);
    if (ok && labels)
      *labels = g_strdupv ((char **) names);
    return ok;
  }
  if (lam_model_is_closed (m)) {
    gboolean ok = jacobian_closed (m, tissues, names, control, jacobian, labels, error);
    if (!ok)
      lam_jacobian_clear (jacobian);
    return ok;
  }
  choose_order (m, tissues, names);
  LamProgram *const *p = lam_model_programs (m, &n, error);
  g_autoptr (GArray) by = g_array_new (FALSE, FALSE, sizeof (LamBy));
  if (!p)
    return FALSE;
  const LamSequence *s = lam_program_sequence (p[0]);
  for (int i = 0; names[i]; i++)
    if (!lam_by_parse (s, names[i], by, error))
      return FALSE;
  g_autoptr (LamTissues) whole = lam_model_complete_tissues (m, tissues);
  const LamBy *list = (const LamBy *) (void *) by->data;
  const gboolean real = m->protocol && lam_protocol_template (m->protocol)->real_signal;
  gboolean ok;
  if (n == 1 && !real)
    ok = lam_jacobian (p[0], whole, options, list, (int) by->len, devices, control, jacobian, error);
  else {
    g_autofree LamJacobian *parts = g_new0 (LamJacobian, n);
    ok = TRUE;
    for (int i = 0; ok && i < n; i++)
      ok = lam_jacobian (p[i], whole, options, list, (int) by->len, devices, control, &parts[i], error);
    ok = ok && join_jacobians (parts, n, real, jacobian, error);
    for (int i = 0; i < n; i++)
      lam_jacobian_clear (&parts[i]);
  }
  if (!ok)
    lam_jacobian_clear (jacobian);
  else if (labels) {
    *labels = g_new0 (char *, by->len + 1);
    for (guint i = 0; i < by->len; i++)
      (*labels)[i] = lam_by_name (s, list[i]);
  }
  return ok;
}

LamPlan *
lam_model_jacobian_plan (LamModel *m, const LamTissues *tissues, const LamSimulateOptions *options,
                         const char *const *names, LamDevices *devices, GError **error)
{
  return m->bloch ? lam_bloch_model_plan (m->bloch, tissues, options, names, devices, error) : NULL;
}

gboolean
lam_model_check_by (LamModel *m, const char *const *names, GError **error)
{
  if (m->bloch)
    return lam_bloch_model_check_by (names, error);
  g_autoptr (GPtrArray) closed = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) by = g_array_new (FALSE, FALSE, sizeof (LamBy));
  int n;
  LamProgram *const *p = lam_model_is_closed (m) ? NULL : lam_model_programs (m, &n, error);
  if (!p && !lam_model_is_closed (m))
    return FALSE;
  for (int i = 0; names[i]; i++) {
    for (int j = 0; j < i; j++)
      if (strcmp (names[i], names[j]) == 0) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "\"%s\" is there twice", names[i]);
        return FALSE;
      }
    if (p ? !lam_by_parse (lam_program_sequence (p[0]), names[i], by, error)
          : !expand_closed (m->protocol, names[i], closed, error))
      return FALSE;
  }
  return TRUE;
}

/* Of one voxel: the largest change from @x to @y, as a part of @y's peak. Planes may be NULL. */
static double
largest_change (const float *x_re, const float *x_im, const float *y_re, const float *y_im, int64_t samples)
{
  double worst = 0, peak = 0;
  for (int64_t i = 0; i < samples; i++) {
    double re = y_re ? y_re[i] : 0, im = y_im ? y_im[i] : 0;
    worst = fmax (worst, hypot (re - (x_re ? x_re[i] : 0), im - (x_im ? x_im[i] : 0)));
    peak = fmax (peak, hypot (re, im));
  }
  return peak > 0 ? worst / peak : 0;
}

void
lam_model_truncation (LamModel *m, LamModel *finer, const LamTissues *tissues, const LamSimulateOptions *options,
                      LamDevices *devices, const LamSignal *signal, double *cut)
{
  int n;
  LamSignal more = {0};
  LamProgram *const *p = lam_model_programs (m, &n, NULL);
  for (int64_t v = 0; v < signal->voxels; v++)
    cut[v] = NAN;
  if (!p || n != 1 || lam_program_orders_exact (p[0]) <= signal->orders)
    return;
  lam_model_set_orders (finer, 2 * signal->orders);
  if (lam_model_simulate (finer, tissues, options, devices, NULL, &more, NULL) && more.samples == signal->samples)
    for (int64_t v = 0, at = 0; v < signal->voxels; v++, at += more.samples)
      cut[v] = largest_change (signal->re ? signal->re + at : NULL, signal->im ? signal->im + at : NULL,
                               more.re ? more.re + at : NULL, more.im ? more.im + at : NULL, more.samples);
  lam_signal_clear (&more);
}

void
lam_model_counts (const LamModel *m, int64_t *packed, int64_t *bound)
{
  *packed = m->packed;
  *bound = m->bound;
}
