#include "config.h"

#include "model/sequence-result.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "mr/crlb.h"

static const char *const names[LAM_BY_KINDS] = {"T1", "T2", "M0", "B1"};

LamSequenceResult *
lam_sequence_result_ref (LamSequenceResult *r)
{
  g_atomic_ref_count_inc (&r->refs);
  return r;
}

void
lam_sequence_result_unref (LamSequenceResult *r)
{
  if (!g_atomic_ref_count_dec (&r->refs))
    return;
  g_free (r->time);
  lam_free (r->re);
  lam_free (r->im);
  lam_free (r->d_re);
  lam_free (r->d_im);
  g_free (r->theory_re);
  g_free (r->theory_im);
  g_free (r->compare_obstacle);
  for (int v = 0; v < LAM_SEQUENCE_MOST_TISSUES; v++)
    g_free (r->why[v]);
  g_free (r);
}

/* Which of the four the template tells apart. */
static int
choose_kinds (LamModel *model, const char **wanted, int *kind)
{
  const LamProtocol *p = lam_model_protocol (model);
  int n = 0;
  for (int k = 0; k < LAM_BY_KINDS; k++) {
    gboolean has = p == NULL;
    for (int i = 0; p && lam_protocol_template (p)->tissues[i]; i++)
      has |= g_str_equal (lam_protocol_template (p)->tissues[i], names[k]);
    if (has) {
      kind[n] = k;
      wanted[n++] = names[k];
    }
  }
  wanted[n] = NULL;
  return n;
}

/* T1, T2 and M0 estimated together; B1 taken as known. */
static void
make_bounds (LamSequenceResult *r, double noise)
{
  int n = 0, rows[LAM_BY_KINDS];
  const char *asked[LAM_BY_KINDS];
  for (int k = 0; k < r->kinds; k++)
    if (r->kind[k] != LAM_BY_B1) {
      asked[n] = names[r->kind[k]];
      rows[n++] = k;
    }
  g_autofree float *re = g_new0 (float, MAX (n * r->samples, 1)), *im = g_new0 (float, MAX (n * r->samples, 1));
  for (int v = 0; v < r->tissues; v++) {
    double variance[LAM_BY_KINDS];
    for (int i = 0; i < n; i++) {
      gsize at = (gsize) (v * r->kinds + rows[i]) * r->samples;
      if (r->d_re)
        memcpy (re + i * r->samples, r->d_re + at, r->samples * sizeof *re);
      if (r->d_im)
        memcpy (im + i * r->samples, r->d_im + at, r->samples * sizeof *im);
    }
    g_autoptr (GError) singular = NULL;
    gboolean ok = lam_crlb (n, r->samples, re, im, noise * noise, asked, variance, &singular);
    r->why[v] = ok ? NULL : g_strdup (singular->message);
    for (int k = 0; k < LAM_BY_KINDS; k++)
      r->bound[v][k] = NAN;
    for (int i = 0; ok && i < n; i++)
      r->bound[v][r->kind[rows[i]]] = sqrt (variance[i]);
  }
}

static void
make_theory (LamSequenceResult *r, LamModel *model, const LamTissues *tissues)
{
  const LamProtocol *p = lam_model_protocol (model);
  if (!lam_model_has_theory (model) || lam_model_is_closed (model) || lam_template_closed_samples (p) != r->samples)
    return;
  g_autofree double *re = g_new (double, r->samples), *im = g_new (double, r->samples);
  r->theory_re = g_new (float, r->tissues * r->samples);
  r->theory_im = g_new (float, r->tissues * r->samples);
  for (int v = 0; v < r->tissues; v++) {
    lam_template_closed (p, tissues, v, NULL, NULL, 0, re, im, NULL, NULL);
    for (int i = 0; i < r->samples; i++) {
      r->theory_re[v * r->samples + i] = (float) re[i];
      r->theory_im[v * r->samples + i] = (float) im[i];
    }
  }
}

LamSequenceResult *
lam_sequence_result_make (LamModel *model, LamModel *finer, const LamTissues *tissues,
                          const LamSimulateOptions *options, double noise, LamDevices *devices, LamControl *control,
                          GError **error)
{
  const char *wanted[LAM_BY_KINDS + 1];
  int kind[LAM_BY_KINDS], kinds = choose_kinds (model, wanted, kind), n;
  LamJacobian j = {0};
  int64_t start = lam_clock_ns ();
  if (!lam_model_jacobian (model, tissues, options, wanted, devices, control, &j, NULL, error))
    return NULL;
  LamSequenceResult *r = g_new0 (LamSequenceResult, 1);
  g_atomic_ref_count_init (&r->refs);
  r->tissues = (int) j.signal.voxels;
  r->samples = (int) j.signal.samples;
  r->kinds = kinds;
  memcpy (r->kind, kind, sizeof kind);
  lam_model_truncation (model, finer, tissues, options, devices, &j.signal, r->cut);
  r->re = g_steal_pointer (&j.signal.re);
  r->im = g_steal_pointer (&j.signal.im);
  r->d_re = g_steal_pointer (&j.re);
  r->d_im = g_steal_pointer (&j.im);
  r->orders = j.signal.orders;
  r->played = j.signal.played;
  r->residual = j.signal.residual;
  lam_jacobian_clear (&j);
  const LamProtocol *p = lam_model_protocol (model);
  r->real_signal = p && lam_protocol_template (p)->real_signal;
  if (!lam_model_is_closed (model)) {
    r->time = lam_model_sample_times (model, NULL);
    LamProgram *const *programs = lam_model_programs (model, &n, NULL);
    r->duration = programs ? lam_program_duration (programs[0]) : 0;
  }
  for (int v = 0; v < r->tissues; v++)
    for (int k = 0; k < LAM_BY_KINDS; k++)
      r->value[v][k] = lam_tissues_named_at (tissues, names[k], v);
  make_bounds (r, noise);
  make_theory (r, model, tissues);
  r->seconds = (double) (lam_clock_ns () - start) / 1e9;
  return r;
}
