#include "mr/sequence.h"

#include <math.h>
#include <string.h>

#include "mr/constants.h"

typedef struct {
  int channels;
  double *weights; /* magnitudes, then phases */
} Shim;

struct _LamSequence {
  gatomicrefcount refs;
  GArray *entries, *values, *events, *shims;
  GPtrArray *definitions;
  LamNumber pending;
  double crusher, voxel, factor[2];
  int playings;
};

static void
clear_entry (void *data)
{
  LamProtocolEntry *e = data;
  g_free (e->name);
  g_free (e->unit);
}

static void
clear_shim (void *data)
{
  g_free (((Shim *) data)->weights);
}

LamSequence *
lam_sequence_new (void)
{
  LamSequence *s = g_new0 (LamSequence, 1);
  g_atomic_ref_count_init (&s->refs);
  s->entries = g_array_new (FALSE, TRUE, sizeof (LamProtocolEntry));
  g_array_set_clear_func (s->entries, clear_entry);
  s->values = g_array_new (FALSE, TRUE, sizeof (double));
  s->events = g_array_new (FALSE, TRUE, sizeof (LamEvent));
  s->shims = g_array_new (FALSE, TRUE, sizeof (Shim));
  g_array_set_clear_func (s->shims, clear_shim);
  s->definitions = g_ptr_array_new_with_free_func ((GDestroyNotify) lam_rf_unref);
  g_ptr_array_add (s->definitions, lam_rf_ideal ());
  s->pending = lam_number (0);
  s->factor[0] = 1;
  s->playings = 1;
  return s;
}

LamSequence *
lam_sequence_ref (LamSequence *s)
{
  g_atomic_ref_count_inc (&s->refs);
  return s;
}

void
lam_sequence_unref (LamSequence *s)
{
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  g_array_unref (s->entries);
  g_array_unref (s->values);
  g_array_unref (s->events);
  g_array_unref (s->shims);
  g_ptr_array_unref (s->definitions);
  g_free (s);
}

/* ---- protocol ---- */

int
lam_sequence_add_values (LamSequence *s, const char *name, const char *unit, const double *values, int n)
{
  LamProtocolEntry e = {
      .name = g_strdup (name),
      .unit = g_strdup (unit),
      .to_si = strcmp (unit, "ms") == 0    ? 1e-3
               : strcmp (unit, "deg") == 0 ? LAM_DEGREE
                                           : 1,
      .first = (int) s->values->len,
      .n = n,
  };
  g_array_append_val (s->entries, e);
  g_array_append_vals (s->values, values, n);
  return e.first;
}

const LamProtocolEntry *
lam_sequence_entries (const LamSequence *s, int *n)
{
  *n = (int) s->entries->len;
  return (const LamProtocolEntry *) (void *) s->entries->data;
}

const LamProtocolEntry *
lam_sequence_entry (const LamSequence *s, const char *name)
{
  for (guint i = 0; i < s->entries->len; i++) {
    const LamProtocolEntry *e = &g_array_index (s->entries, LamProtocolEntry, i);
    if (strcmp (e->name, name) == 0)
      return e;
  }
  return NULL;
}

const double *
lam_sequence_values (const LamSequence *s, int *n)
{
  if (n)
    *n = (int) s->values->len;
  return (const double *) (void *) s->values->data;
}

LamNumber
lam_sequence_number (const LamSequence *s, int index)
{
  double scale = 1;
  for (guint i = 0; i < s->entries->len; i++) {
    const LamProtocolEntry *e = &g_array_index (s->entries, LamProtocolEntry, i);
    if (index >= e->first && index < e->first + e->n)
      scale = e->to_si;
  }
  return lam_number_of (index, scale, g_array_index (s->values, double, index));
}

LamNumber
lam_sequence_number_at (const LamSequence *s, int first, int n, int i)
{
  return lam_sequence_number (s, n == 1 ? first : first + i);
}

/* ---- events ---- */

void
lam_sequence_wait (LamSequence *s, LamNumber seconds)
{
  s->pending = lam_number_add (s->pending, seconds);
}

static LamEvent *
add (LamSequence *s, LamEventKind kind, unsigned action)
{
  LamEvent e = {.kind = kind, .action = action, .delay = s->pending, .shim = LAM_SHIM_NONE};
  e.flip = e.phase = lam_number (0);
  s->pending = lam_number (0);
  g_array_append_val (s->events, e);
  return &g_array_index (s->events, LamEvent, s->events->len - 1);
}

LamEvent *
lam_sequence_rf (LamSequence *s, LamRfUse use, LamNumber flip, LamNumber phase, unsigned action)
{
  LamEvent *e = add (s, LAM_EVENT_RF, action);
  e->use = use;
  e->flip = flip;
  e->phase = phase;
  return e;
}

LamEvent *
lam_sequence_adc (LamSequence *s, LamAdcRole role, LamNumber phase, unsigned action)
{
  LamEvent *e = add (s, LAM_EVENT_ADC, action);
  e->role = role;
  e->phase = phase;
  e->echo = true;
  return e;
}

LamEvent *
lam_sequence_action (LamSequence *s, unsigned action)
{
  return add (s, LAM_EVENT_WAIT, action);
}

void
lam_sequence_sampled_pulse (LamSequence *s, int64_t samples, const double *re, const double *im, double dwell,
                            LamNumber phase, double offset_hz)
{
  for (int64_t n = 0; n < samples; n++) {
    double middle = (n + 0.5) * dwell;
    double flip = im ? hypot (re[n], im[n]) * dwell : re[n] * dwell;
    double own = (im ? atan2 (im[n], re[n]) : 0) - 2 * LAM_PI * offset_hz * middle;
    lam_sequence_wait (s, lam_number (n == 0 ? dwell / 2 : dwell));
    LamEvent *e =
        lam_sequence_rf (s, LAM_RF_EXCITATION, lam_number (flip), lam_number_add (phase, lam_number (own)), 0);
    e->frequency_hz = offset_hz;
  }
  lam_sequence_wait (s, lam_number (dwell / 2));
}

const LamEvent *
lam_sequence_events (const LamSequence *s, int64_t *n)
{
  *n = s->events->len;
  return (const LamEvent *) (void *) s->events->data;
}

const LamNumber *
lam_sequence_tail (const LamSequence *s)
{
  return &s->pending;
}

/* ---- pulses, shims, the rest ---- */

int
lam_sequence_add_definition (LamSequence *s, LamRf *rf)
{
  g_ptr_array_add (s->definitions, lam_rf_ref (rf));
  return (int) s->definitions->len - 1;
}

const LamRf *
lam_sequence_definition (const LamSequence *s, int index)
{
  return g_ptr_array_index (s->definitions, index);
}

int
lam_sequence_definitions (const LamSequence *s)
{
  return (int) s->definitions->len;
}

void
lam_sequence_use_definition (LamSequence *s, LamRf *rf)
{
  int definition = lam_sequence_add_definition (s, rf);
  for (guint i = 0; i < s->events->len; i++) {
    LamEvent *e = &g_array_index (s->events, LamEvent, i);
    if (e->kind == LAM_EVENT_RF && e->use != LAM_RF_INVERSION && e->shim != LAM_SHIM_PERFECT && e->definition == 0)
      e->definition = definition;
  }
}

int
lam_sequence_add_shim (LamSequence *s, int channels, const double *magnitude, const double *phase_rad)
{
  Shim shim = {channels, g_new (double, 2 * channels)};
  memcpy (shim.weights, magnitude, channels * sizeof (double));
  memcpy (shim.weights + channels, phase_rad, channels * sizeof (double));
  g_array_append_val (s->shims, shim);
  return (int) s->shims->len - 1;
}

int
lam_sequence_shims (const LamSequence *s)
{
  return (int) s->shims->len;
}

const double *
lam_sequence_shim (const LamSequence *s, int index, int *channels)
{
  const Shim *shim = &g_array_index (s->shims, Shim, index);
  *channels = shim->channels;
  return shim->weights;
}

void
lam_sequence_set_crusher (LamSequence *s, double dephasing_rad, double voxel_m)
{
  s->crusher = dephasing_rad;
  s->voxel = voxel_m;
}

double
lam_sequence_crusher (const LamSequence *s, double *voxel_m)
{
  *voxel_m = s->voxel;
  return s->crusher;
}

void
lam_sequence_set_factor (LamSequence *s, double re, double im)
{
  s->factor[0] = re;
  s->factor[1] = im;
}

void
lam_sequence_factor (const LamSequence *s, double *re, double *im)
{
  *re = s->factor[0];
  *im = s->factor[1];
}

void
lam_sequence_set_playings (LamSequence *s, int n)
{
  s->playings = n;
}

int
lam_sequence_playings (const LamSequence *s)
{
  return s->playings;
}
