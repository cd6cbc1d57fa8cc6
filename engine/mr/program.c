#include "mr/program.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/error.h"
#include "mr/constants.h"

static _Atomic int64_t resolved;

/* Structure of a sample. */
typedef struct {
  LamNumber since; /* since the pass */
  LamNumber phase;
  LamNumber pulse_time;    /* since the last pulse that turns */
  int shift, shifts_since; /* since the pass; since that pulse */
} Sample;

/* Between two pulses that turn, where transverse magnetisation survives. */
typedef struct {
  LamNumber length;
  int orders;
} Stretch;

struct _LamProgram {
  gatomicrefcount refs;
  LamSequence *sequence;
  LamEpgProgram bound;
  double *values;
  int n_values;
  gboolean bent, in_phase, uniform, ordered;
  double order_s; /* of one winding, where uniform */
  int exact;
  double duration;
  /* structure */
  GArray *pass;   /* LamEpgPass */
  GArray *since;  /* LamNumber of each pass */
  GArray *sample; /* Sample */
  GArray *record; /* LamEpgRecord */
  GArray *pulse;  /* LamEpgPulse */
  GArray *flip, *phase, *stretch;
  GArray *delay;                      /* LamNumber of each event, for times */
  GArray *sample_event, *pulse_event; /* int */
  /* bound numbers */
  GArray *durations, *factors;
  double *sample_time, *pulse_time;
  int32_t *slot; /* open addressing over durations */
  int slots;
};

/* ---- resolving ---- */

typedef struct {
  LamProgram *p;
  const LamProgramOptions *options;
  LamNumber since;      /* since the last pass */
  LamNumber pulse_time; /* since the last pulse that turns */
  int shift, shifts_since;
  gboolean spoiled; /* since the last pass */
  gboolean turned;  /* there was such a pulse, and nothing spoiled since */
  gboolean any;     /* there was such a pulse at all */
  LamNumber first;  /* time of the first of them */
  int first_shifts; /* windings before it */
} Resolve;

static gboolean
is_zero (const LamNumber *n)
{
  return n->terms == 0 && n->constant == 0;
}

static gboolean
add_pass (Resolve *r, int kind, int rf, GError **error)
{
  LamEpgPass pass = {.kind = (int16_t) kind,
                     .before = (int16_t) r->shift,
                     .spoil = r->spoiled,
                     .rf = rf,
                     .relax = is_zero (&r->since) ? -1 : 0,
                     .records = (int) r->p->record->len,
                     .peeks = (int) r->p->record->len};
  if (r->shift > LAM_EPG_MARGIN) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
                 "%d windings without a pulse or a sample between them; at most %d can be followed", r->shift,
                 LAM_EPG_MARGIN);
    return FALSE;
  }
  g_array_append_val (r->p->pass, pass);
  g_array_append_val (r->p->since, r->since);
  r->since = lam_number (0);
  r->shift = 0;
  r->spoiled = FALSE;
  return TRUE;
}

static void
add_sample (Resolve *r, const LamEvent *e, int event)
{
  LamProgram *p = r->p;
  LamEpgPass *pass = &g_array_index (p->pass, LamEpgPass, p->pass->len - 1);
  gboolean at_once = is_zero (&r->since) && r->shift == 0 && !r->spoiled && pass->n_peeks == 0 && pass->after == 0;
  Sample s = {r->since, e->phase, r->pulse_time, r->shift, r->shifts_since};
  LamEpgRecord record = {.relax = is_zero (&r->since) ? -1 : 0, .shift = r->shift, .out = (int) p->record->len};
  if (r->spoiled)
    record.shift = -1; /* nothing is left to see */
  if (at_once)
    pass->n_records++;
  else
    pass->n_peeks++;
  pass->peeks = pass->records + pass->n_records;
  g_array_append_val (p->sample, s);
  g_array_append_val (p->record, record);
  g_array_append_val (p->sample_event, event);
}

/* A winding after the event: of the pass itself where nothing happened since. */
static gboolean
wind (Resolve *r, GError **error)
{
  LamProgram *p = r->p;
  r->shifts_since++;
  if (r->spoiled)
    return TRUE;
  if (r->options->stepwise) {
    r->shift++;
    return add_pass (r, LAM_PASS_NONE, -1, error);
  }
  if (p->pass->len > 0 && is_zero (&r->since) && r->shift == 0) {
    LamEpgPass *pass = &g_array_index (p->pass, LamEpgPass, p->pass->len - 1);
    if (pass->n_peeks == 0 && pass->after < LAM_EPG_MARGIN) {
      pass->after++;
      return TRUE;
    }
  }
  r->shift++;
  return r->shift <= LAM_EPG_MARGIN || add_pass (r, LAM_PASS_NONE, -1, error);
}

static void
close_stretch (Resolve *r)
{
  if (r->turned) {
    Stretch s = {r->pulse_time, r->shifts_since};
    g_array_append_val (r->p->stretch, s);
  }
  if (!r->any) {
    r->first = r->pulse_time;
    r->first_shifts = r->shifts_since;
    r->any = TRUE;
  }
  r->pulse_time = lam_number (0);
  r->shifts_since = 0;
  r->turned = TRUE;
}

static gboolean
add_pulse (Resolve *r, const LamEvent *e, int event, GError **error)
{
  LamProgram *p = r->p;
  const LamRf *rf = lam_sequence_definition (p->sequence, e->definition);
  LamEpgPulse pulse = {.saturation = rf->saturation,
                       .frequency_hz = e->frequency_hz,
                       .shim = e->shim,
                       .table = rf->mode == LAM_RF_INSTANT ? -1 : 0};
  LamNumber phase = lam_number_add (e->phase, lam_number (lam_rf_phase (rf)));
  gboolean inversion = e->use == LAM_RF_INVERSION;
  if (!inversion)
    close_stretch (r);
  if (!add_pass (r, inversion ? LAM_PASS_INVERT : LAM_PASS_ROTATE, (int) p->pulse->len, error))
    return FALSE;
  g_array_append_val (p->pulse, pulse);
  g_array_append_val (p->flip, e->flip);
  g_array_append_val (p->phase, phase);
  g_array_append_val (p->pulse_event, event);
  return TRUE;
}

static gboolean
resolve_event (Resolve *r, const LamEvent *e, int event, GError **error)
{
  LamProgram *p = r->p;
  p->bent |= e->delay.bent || e->flip.bent || e->phase.bent;
  g_array_append_val (p->delay, e->delay);
  /* With relaxation by order a winding that is still open must have happened before time goes on. */
  if (r->options->ordered && r->shift > 0 && !is_zero (&e->delay) && !add_pass (r, LAM_PASS_NONE, -1, error))
    return FALSE;
  r->since = lam_number_add (r->since, e->delay);
  r->pulse_time = lam_number_add (r->pulse_time, e->delay);
  if (e->action & LAM_CRUSH_BEFORE) {
    r->shifts_since++;
    r->shift += !r->spoiled;
  }
  if (e->kind == LAM_EVENT_RF && !add_pulse (r, e, event, error))
    return FALSE;
  if (e->kind == LAM_EVENT_ADC && (e->role != LAM_ADC_NON_ACQUIRED || r->options->all_samples)) {
    gboolean apart = r->options->stepwise && (!is_zero (&r->since) || r->shift > 0 || r->spoiled);
    if ((p->pass->len == 0 || apart) && !add_pass (r, LAM_PASS_NONE, -1, error))
      return FALSE;
    add_sample (r, e, event);
  }
  if ((e->action & LAM_CRUSH_AFTER) && !wind (r, error))
    return FALSE;
  if (e->action & LAM_SPOIL_AFTER) {
    r->spoiled = TRUE;
    r->shift = 0;
    r->turned = FALSE;
    return !r->options->stepwise || add_pass (r, LAM_PASS_NONE, -1, error);
  } else if ((e->action & LAM_SHIFT_AFTER) && !wind (r, error))
    return FALSE;
  return TRUE;
}

/* Orders that are filled (from the start) and that can still reach order 0 (to the end). */
static void
count_orders (LamProgram *p, const LamProgramOptions *options)
{
  int64_t n = p->pass->len;
  g_autofree int *filled = g_new (int, MAX (n, 1));
  int now = 1, winds = 0, playings = lam_sequence_playings (p->sequence);
  LamEpgPass *pass = (LamEpgPass *) (void *) p->pass->data;
  for (int64_t i = 0; i < n; i++) {
    now += pass[i].before;
    filled[i] = now;
    now += pass[i].after;
    winds += pass[i].before + pass[i].after;
  }
  int most = 1, need = 1, asked = options->orders;
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int j = 0; j < pass[i].n_peeks; j++)
      need = MAX (need, 1 + MAX (g_array_index (p->record, LamEpgRecord, pass[i].peeks + j).shift, 0));
    need += pass[i].after;
    /* Played again, the end of one playing is the start of the next: no order can be left out. */
    int orders = playings != 1 ? G_MAXINT : options->stepwise ? filled[i] : MIN (filled[i], need);
    most = MAX (most, orders);
    pass[i].orders = orders;
    need += pass[i].before;
  }
  p->exact = playings == 1 ? most : playings == 0 ? G_MAXINT : MIN ((int64_t) playings * winds, 100000) + 1;
  int orders = asked > 0 ? asked : CLAMP (1 + (playings == 0 ? 13 : playings) * winds, 8, 64);
  p->bound.orders = MAX (1, MIN (orders, p->exact));
  for (int64_t i = 0; i < n; i++)
    pass[i].orders = MIN (pass[i].orders, p->bound.orders);
}

static void
allocate_bound (LamProgram *p)
{
  int64_t numbers = p->since->len + p->sample->len;
  p->slots = 16;
  while (p->slots < 2 * numbers + 2)
    p->slots *= 2;
  p->slot = g_new (int32_t, p->slots);
  p->durations = g_array_new (FALSE, FALSE, sizeof (double));
  p->factors = g_array_new (FALSE, FALSE, sizeof (double));
  p->sample_time = g_new0 (double, MAX (p->sample->len, 1));
  p->pulse_time = g_new0 (double, MAX (p->pulse->len, 1));
}

LamProgram *
lam_program_new (LamSequence *sequence, const LamProgramOptions *options, GError **error)
{
  static const LamProgramOptions none = {0};
  g_autoptr (LamProgram) p = g_new0 (LamProgram, 1);
  int64_t n;
  const LamEvent *events = lam_sequence_events (sequence, &n);
  Resolve r = {.p = p, .options = options ? options : &none};
  g_atomic_ref_count_init (&p->refs);
  atomic_fetch_add (&resolved, 1);
  p->sequence = lam_sequence_ref (sequence);
  p->ordered = r.options->ordered;
  p->pass = g_array_new (FALSE, FALSE, sizeof (LamEpgPass));
  p->since = g_array_new (FALSE, FALSE, sizeof (LamNumber));
  p->sample = g_array_new (FALSE, FALSE, sizeof (Sample));
  p->record = g_array_new (FALSE, FALSE, sizeof (LamEpgRecord));
  p->pulse = g_array_new (FALSE, FALSE, sizeof (LamEpgPulse));
  p->flip = g_array_new (FALSE, FALSE, sizeof (LamNumber));
  p->phase = g_array_new (FALSE, FALSE, sizeof (LamNumber));
  p->stretch = g_array_new (FALSE, FALSE, sizeof (Stretch));
  p->delay = g_array_new (FALSE, FALSE, sizeof (LamNumber));
  p->sample_event = g_array_new (FALSE, FALSE, sizeof (int));
  p->pulse_event = g_array_new (FALSE, FALSE, sizeof (int));
  r.since = r.pulse_time = lam_number (0);
  for (int64_t i = 0; i < n; i++)
    if (!resolve_event (&r, &events[i], (int) i, error))
      return NULL;
  const LamNumber *tail = lam_sequence_tail (sequence);
  p->bent |= tail->bent;
  g_array_append_val (p->delay, *tail);
  if (lam_sequence_playings (sequence) != 1 || r.options->stepwise) {
    r.since = lam_number_add (r.since, *tail);
    if (r.turned && lam_sequence_playings (sequence) != 1) { /* from the last pulse to the first of the next playing */
      r.pulse_time = lam_number_add (lam_number_add (r.pulse_time, *tail), r.first);
      r.shifts_since += r.first_shifts;
      close_stretch (&r);
    }
    if (!add_pass (&r, LAM_PASS_NONE, -1, error))
      return NULL;
  }
  count_orders (p, r.options);
  allocate_bound (p);
  int n_values;
  const double *values = lam_sequence_values (sequence, &n_values);
  p->n_values = n_values;
  p->values = g_new0 (double, MAX (n_values, 1));
  p->bound.playings = lam_sequence_playings (sequence);
  p->bound.waters = 1;
  double voxel, crusher = lam_sequence_crusher (sequence, &voxel);
  if (crusher != 0 && !(voxel > 0)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                 "the sequence declares a crusher of %g rad but no voxel size that it belongs to", crusher);
    return NULL;
  }
  p->bound.voxel = voxel;
  p->bound.winding = voxel > 0 ? crusher / voxel : 0;
  gboolean bent = p->bent;
  p->bent = FALSE;
  gboolean ok = lam_program_bind (p, values, n_values, error);
  p->bent = bent;
  return ok ? g_steal_pointer (&p) : NULL;
}

LamProgram *
lam_program_ref (LamProgram *p)
{
  g_atomic_ref_count_inc (&p->refs);
  return p;
}

void
lam_program_unref (LamProgram *p)
{
  if (!g_atomic_ref_count_dec (&p->refs))
    return;
  GArray *arrays[] = {p->pass,    p->since, p->sample,       p->record,      p->pulse,     p->flip,   p->phase,
                      p->stretch, p->delay, p->sample_event, p->pulse_event, p->durations, p->factors};
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    if (arrays[i])
      g_array_unref (arrays[i]);
  g_clear_pointer (&p->sequence, lam_sequence_unref);
  g_free (p->values);
  g_free (p->slot);
  g_free (p->sample_time);
  g_free (p->pulse_time);
  g_free (p);
}

/* ---- binding ---- */

/* The index of @v among distinct durations. */
static int32_t
distinct (LamProgram *p, double v)
{
  uint64_t bits;
  memcpy (&bits, &v, sizeof bits);
  int at = (int) ((bits * 0x9e3779b97f4a7c15u) >> 33) & (p->slots - 1);
  for (;; at = (at + 1) & (p->slots - 1)) {
    int32_t i = p->slot[at];
    if (i < 0) {
      p->slot[at] = (int32_t) p->durations->len;
      g_array_append_val (p->durations, v);
      return p->slot[at];
    }
    if (g_array_index (p->durations, double, i) == v)
      return i;
  }
}

static int32_t
distinct_factor (LamProgram *p, double v)
{
  for (guint i = MAX (p->factors->len, 8) - 8; i < p->factors->len; i++) /* near ones repeat */
    if (g_array_index (p->factors, double, i) == v)
      return (int32_t) i;
  g_array_append_val (p->factors, v);
  return (int32_t) p->factors->len - 1;
}

/* Times of samples and pulses; FALSE when one runs backwards. */
static gboolean
bind_times (LamProgram *p, const double *x, GError **error)
{
  double now = 0;
  guint sample = 0, pulse = 0;
  for (guint i = 0; i < p->delay->len; i++) {
    const LamNumber *delay = &g_array_index (p->delay, LamNumber, i);
    double d = lam_number_at (delay, x);
    if (!(d >= -1e-12) || !isfinite (d)) {
      g_set_error (
          error, LAM_ERROR, LAM_ERROR_INVALID,
          "event %u would begin %g ms before the one before it ends: the times of the protocol do not fit in each "
          "other",
          i, -d * 1e3);
      return FALSE;
    }
    now += d;
    for (; sample < p->sample->len && g_array_index (p->sample_event, int, sample) == (int) i; sample++)
      p->sample_time[sample] = now;
    for (; pulse < p->pulse->len && g_array_index (p->pulse_event, int, pulse) == (int) i; pulse++)
      p->pulse_time[pulse] = now;
  }
  p->duration = now;
  return TRUE;
}

static void
bind_durations (LamProgram *p, const double *x)
{
  memset (p->slot, 0xff, p->slots * sizeof *p->slot);
  g_array_set_size (p->durations, 0);
  for (guint i = 0; i < p->pass->len; i++) {
    LamEpgPass *pass = &g_array_index (p->pass, LamEpgPass, i);
    if (pass->relax >= 0)
      pass->relax = distinct (p, fmax (lam_number_at (&g_array_index (p->since, LamNumber, i), x), 0));
  }
  for (guint i = 0; i < p->sample->len; i++) {
    LamEpgRecord *record = &g_array_index (p->record, LamEpgRecord, i);
    if (record->relax >= 0)
      record->relax = distinct (p, fmax (lam_number_at (&g_array_index (p->sample, Sample, i).since, x), 0));
  }
}

/* Spec section 2.12: every stretch winds as long as it lasts. */
static void
bind_winding (LamProgram *p, const double *x)
{
  double most = 0, first = 0;
  gboolean any = FALSE, whole = TRUE;
  p->order_s = 0;
  for (guint i = 0; i < p->stretch->len; i++) {
    const Stretch *s = &g_array_index (p->stretch, Stretch, i);
    double length = lam_number_at (&s->length, x);
    any |= length > 0;
    whole &= s->orders >= 1;
    most = fmax (most, length);
    if (i == 0 && s->orders >= 1) {
      first = length;
      p->order_s = length / s->orders;
    }
  }
  p->uniform = !any || whole;
  for (guint i = 0; any && p->uniform && i < p->stretch->len; i++) {
    const Stretch *s = &g_array_index (p->stretch, Stretch, i);
    p->uniform = fabs (lam_number_at (&s->length, x) - s->orders * p->order_s) <= 1e-9 * fmax (most, first);
  }
  if (!any)
    p->order_s = 0;
}

static void
bind_phases (LamProgram *p, const double *x)
{
  double anchor = 0, factor_re, factor_im;
  gboolean have = p->sample->len > 0;
  lam_sequence_factor (p->sequence, &factor_re, &factor_im);
  p->in_phase = TRUE;
  if (have)
    anchor = lam_number_at (&g_array_index (p->sample, Sample, 0).phase, x);
  for (guint i = 0; i < p->pulse->len; i++) {
    LamEpgPulse *pulse = &g_array_index (p->pulse, LamEpgPulse, i);
    pulse->flip = lam_number_at (&g_array_index (p->flip, LamNumber, i), x);
    pulse->phase = lam_number_at (&g_array_index (p->phase, LamNumber, i), x);
  }
  gboolean anchored = have;
  for (guint i = 0; i < p->pass->len; i++) {
    const LamEpgPass *pass = &g_array_index (p->pass, LamEpgPass, i);
    if (pass->kind != LAM_PASS_ROTATE)
      continue;
    LamEpgPulse *pulse = &g_array_index (p->pulse, LamEpgPulse, pass->rf);
    if (!anchored) {
      anchor = pulse->phase;
      anchored = TRUE;
    }
    double turns = rint ((pulse->phase - anchor) / LAM_PI);
    p->in_phase &= fabs (pulse->phase - anchor - turns * LAM_PI) <= 1e-5;
    pulse->sign = fmod (turns, 2) == 0 ? 1 : -1;
    pulse->signed_flip = pulse->sign * pulse->flip;
  }
  for (guint i = 0; i < p->sample->len; i++) {
    double phase = lam_number_at (&g_array_index (p->sample, Sample, i).phase, x);
    double turns = rint ((phase - anchor) / LAM_PI);
    p->in_phase &= fabs (phase - anchor - turns * LAM_PI) <= 1e-5;
  }
  p->bound.real = p->in_phase;
  if (!p->in_phase) {
    lam_program_complex_records (p, (LamEpgRecord *) (void *) p->record->data);
    return;
  }
  for (guint i = 0; i < p->sample->len; i++) { /* i times plus or minus one */
    LamEpgRecord *record = &g_array_index (p->record, LamEpgRecord, i);
    double phase = lam_number_at (&g_array_index (p->sample, Sample, i).phase, x);
    double sign = fmod (rint ((phase - anchor) / LAM_PI), 2) == 0 ? 1 : -1;
    record->re = -factor_im * sign;
    record->im = factor_re * sign;
  }
}

static void
bind_factors (LamProgram *p, const double *x)
{
  g_array_set_size (p->factors, 0);
  for (guint i = 0; i < p->sample->len; i++) {
    const Sample *s = &g_array_index (p->sample, Sample, i);
    double tau = lam_number_at (&s->pulse_time, x) - s->shifts_since * p->order_s;
    g_array_index (p->record, LamEpgRecord, i).factor =
        p->uniform && fabs (tau) > 1e-12 ? distinct_factor (p, tau) : -1;
  }
}

gboolean
lam_program_can_bind (const LamProgram *p, GError **error)
{
  if (p->bent)
    g_set_error (
        error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED,
        "a time, flip or phase of this sequence is not a sum of protocol values: it is made anew for each change");
  return !p->bent;
}

gboolean
lam_program_bind (LamProgram *p, const double *values, int n, GError **error)
{
  if (n != p->n_values) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%d protocol values for a sequence that has %d", n, p->n_values);
    return FALSE;
  }
  if (!lam_program_can_bind (p, error) || !bind_times (p, values, error)) {
    g_autoptr (GError) ignored = NULL;
    bind_times (p, p->values, &ignored);
    return FALSE;
  }
  if (n > 0)
    memmove (p->values, values, n * sizeof *values);
  values = p->values;
  bind_durations (p, values);
  bind_winding (p, values);
  bind_phases (p, values);
  bind_factors (p, values);
  LamEpgProgram *b = &p->bound;
  b->passes = p->pass->len;
  b->records = b->samples = p->record->len;
  b->durations = p->durations->len;
  b->factors = p->factors->len;
  b->pulses = p->pulse->len;
  b->pass = (const LamEpgPass *) (void *) p->pass->data;
  b->record = (const LamEpgRecord *) (void *) p->record->data;
  b->duration = (const double *) (void *) p->durations->data;
  b->factor = (const double *) (void *) p->factors->data;
  b->pulse = (const LamEpgPulse *) (void *) p->pulse->data;
  return TRUE;
}

/* ---- reading ---- */

const LamEpgProgram *
lam_program_bound (const LamProgram *p)
{
  return &p->bound;
}

const LamSequence *
lam_program_sequence (const LamProgram *p)
{
  return p->sequence;
}

const double *
lam_program_values (const LamProgram *p, int *n)
{
  if (n)
    *n = p->n_values;
  return p->values;
}

gboolean
lam_program_is_ordered (const LamProgram *p)
{
  return p->ordered;
}

gboolean
lam_program_in_phase (const LamProgram *p)
{
  return p->in_phase;
}

gboolean
lam_program_uniform (const LamProgram *p)
{
  return p->uniform;
}

int
lam_program_orders_exact (const LamProgram *p)
{
  return p->exact;
}

const double *
lam_program_sample_times (const LamProgram *p)
{
  return p->sample_time;
}

const double *
lam_program_pulse_times (const LamProgram *p)
{
  return p->pulse_time;
}

double
lam_program_duration (const LamProgram *p)
{
  return p->duration;
}

double
lam_program_duration_slope (const LamProgram *p, int index)
{
  double slope = 0;
  for (guint i = 0; i < p->delay->len; i++)
    slope += lam_number_slope (&g_array_index (p->delay, LamNumber, i), index);
  return slope;
}

double
lam_program_pass_slope (const LamProgram *p, int64_t pass, int index)
{
  return lam_number_slope (&g_array_index (p->since, LamNumber, pass), index);
}

double
lam_program_peek_slope (const LamProgram *p, int64_t record, int index)
{
  return lam_number_slope (&g_array_index (p->sample, Sample, record).since, index);
}

double
lam_program_factor_slope (const LamProgram *p, int64_t record, int index)
{
  const Sample *s = &g_array_index (p->sample, Sample, record);
  double slope = lam_number_slope (&s->pulse_time, index);
  if (p->order_s != 0) {
    const Stretch *first = &g_array_index (p->stretch, Stretch, 0);
    slope -= s->shifts_since * lam_number_slope (&first->length, index) / first->orders;
  }
  return slope;
}

double
lam_program_flip_slope (const LamProgram *p, int64_t pulse, int index)
{
  return lam_number_slope (&g_array_index (p->flip, LamNumber, pulse), index);
}

double
lam_program_phase_slope (const LamProgram *p, int64_t pulse, int index)
{
  return lam_number_slope (&g_array_index (p->phase, LamNumber, pulse), index);
}

double
lam_program_record_phase_slope (const LamProgram *p, int64_t record, int index)
{
  return lam_number_slope (&g_array_index (p->sample, Sample, record).phase, index);
}

static const LamEvent *
event_of (const LamProgram *p, int64_t pulse)
{
  int64_t n;
  return &lam_sequence_events (p->sequence, &n)[g_array_index (p->pulse_event, int, pulse)];
}

int
lam_program_pulse_definition (const LamProgram *p, int64_t pulse)
{
  return event_of (p, pulse)->definition;
}

gboolean
lam_program_pulse_is_dynamic (const LamProgram *p, int64_t pulse)
{
  return lam_sequence_definition (p->sequence, event_of (p, pulse)->definition)->mode == LAM_RF_DYNAMIC;
}

void
lam_program_complex_records (const LamProgram *p, LamEpgRecord *records)
{
  double factor_re, factor_im;
  lam_sequence_factor (p->sequence, &factor_re, &factor_im);
  for (guint i = 0; i < p->sample->len; i++) {
    double phase = lam_number_at (&g_array_index (p->sample, Sample, i).phase, p->values);
    double re = cos (phase), im = -sin (phase);
    records[i].re = factor_re * re - factor_im * im;
    records[i].im = factor_re * im + factor_im * re;
  }
}

static void
scatter (const LamNumber *a, double sum, double *x)
{
  for (int i = 0; i < a->terms; i++)
    x[a->index[i]] += a->scale[i] * sum;
}

void
lam_program_scatter (const LamProgram *p, const double *pass, const double *peek, const double *factor,
                     const double *record, const double *flip, const double *phase, double *x)
{
  for (guint i = 0; i < p->since->len; i++)
    scatter (&g_array_index (p->since, LamNumber, i), pass[i], x);
  for (guint i = 0; i < p->pulse->len; i++) {
    scatter (&g_array_index (p->flip, LamNumber, i), flip[i], x);
    scatter (&g_array_index (p->phase, LamNumber, i), phase[i], x);
  }
  for (guint i = 0; i < p->sample->len; i++) {
    const Sample *s = &g_array_index (p->sample, Sample, i);
    scatter (&s->since, peek[i], x);
    scatter (&s->phase, record[i], x);
    if (factor[i] == 0)
      continue;
    scatter (&s->pulse_time, factor[i], x);
    if (p->order_s != 0) {
      const Stretch *first = &g_array_index (p->stretch, Stretch, 0);
      scatter (&first->length, -factor[i] * s->shifts_since / first->orders, x);
    }
  }
}

int64_t
lam_program_resolved (void)
{
  return atomic_load (&resolved);
}
