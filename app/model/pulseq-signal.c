#include "config.h"

#include "model/pulseq-signal.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/control.h"
#include "core/error.h"
#include "core/memory.h"
#include "model/latest.h"
#include "mr/bloch.h"
#include "run/newest.h"

/* Steps (blocks, samples and pulse samples, for each 32 spins) from which on nobody is made to wait without being asked: about
 * two seconds. */
#define LARGE 4e6
/* How often progress is told, ms. */
#define TELL_MS 100
#define MOST_SPINS 10000

/* What a simulation gave; counted, immutable. */
typedef struct {
  gatomicrefcount refs;
  guint64 serial;
  int64_t tissues, samples;
  int64_t *ps;
  float *re, *im;
  double seconds;
} Answer;

struct _LamPulseqSignal {
  GObject parent_instance;
  LamPulseqModel *model;
  LamParameterList *parameters;
  LamTissues *tissues;
  LamNewest *newest;
  LamLatest curving;
  LamPulseqSignalState state;
  char *text;
  Answer *answer;
  guint64 serial; /* of the newest request */
  gboolean by_hand;
  guint tell_source;
  _Atomic int permille;
  struct _Request *running; /* main thread's view: the newest request; it lives until its thread drops it */
  /* Curves. */
  int64_t t0, t1;
  int columns;
  LamSignalPart part;
  double *x, *y;
  int64_t points, stride;
  int curves;
  gboolean closed;
};

enum { CHANGED, CURVES, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamPulseqSignal, lam_pulseq_signal, G_TYPE_OBJECT)

static Answer *
answer_ref (Answer *a)
{
  g_atomic_ref_count_inc (&a->refs);
  return a;
}

static void
answer_unref (gpointer answer)
{
  Answer *a = answer;
  if (!a || !g_atomic_ref_count_dec (&a->refs))
    return;
  lam_free (a->ps);
  lam_free (a->re);
  lam_free (a->im);
  g_free (a);
}

/* ---- on its thread ---- */

typedef struct _Request {
  gatomicrefcount refs;
  guint64 serial;
  LamSequenceFile *file;
  LamTissues *tissues;
  int64_t spins;
  double side, f0;
  LamControl control;
} Request;

static void
request_unref (gpointer request)
{
  Request *r = request;
  if (!g_atomic_ref_count_dec (&r->refs))
    return;
  lam_sequence_file_unref (r->file);
  lam_tissues_unref (r->tissues);
  g_free (r);
}

static const double *
per_voxel (const LamTissues *t, const char *name, double *room)
{
  if (!lam_tissues_get (t, name, NULL))
    return NULL;
  for (int64_t v = 0; v < lam_tissues_voxels (t); v++)
    room[v] = lam_tissues_named_at (t, name, v);
  return room;
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  LamPulseqSignal *self = owner;
  Request *r = request;
  int64_t voxels = lam_tissues_voxels (r->tissues), n, start = lam_clock_ns ();
  g_autofree double *room = g_new (double, 5 * voxels), *at = g_new (double, 3 * r->spins);
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", error);
  LamBlochParams params;
  self->permille = 0;
  lam_bloch_params_init (&params);
  params.voxels = voxels;
  params.t1_ms = per_voxel (r->tissues, "T1", room);
  params.t2_ms = per_voxel (r->tissues, "T2", room + voxels);
  params.m0 = per_voxel (r->tissues, "M0", room + 2 * voxels);
  params.b0_hz = per_voxel (r->tissues, "B0", room + 3 * voxels);
  params.b1 = per_voxel (r->tissues, "B1", room + 4 * voxels);
  params.f0_hz = r->f0;
  params.permille = &self->permille;
  if (r->spins > 1) {
    const double size[3] = {r->side, r->side, r->side};
    lam_bloch_spread_box (size, r->spins, at, at + r->spins, at + 2 * r->spins);
    params.spins = r->spins;
    params.spin_x = at;
    params.spin_y = at + r->spins;
    params.spin_z = at + 2 * r->spins;
  }
  g_autoptr (LamBloch) b = set ? lam_bloch_new (r->file->timing, &params, set, error) : NULL;
  if (!b || !lam_control_go_on (&r->control, error))
    return NULL;
  Answer *a = g_new0 (Answer, 1);
  g_atomic_ref_count_init (&a->refs);
  a->serial = r->serial;
  a->tissues = voxels;
  a->samples = lam_bloch_samples (b);
  n = lam_mul_size (voxels, a->samples);
  if (!(a->re = lam_alloc_n (n, sizeof *a->re, "signal", error))
      || !(a->im = lam_alloc_n (n, sizeof *a->im, "signal", error))
      || !(a->ps = lam_alloc_n (a->samples, sizeof *a->ps, "times of the samples", error))
      || !lam_pulseq_kspace (r->file->timing, 0, a->samples, NULL, a->ps, error)
      || !lam_bloch_run (b, a->re, a->im, &r->control, error)) {
    answer_unref (a);
    return NULL;
  }
  a->seconds = (double) (lam_clock_ns () - start) * 1e-9;
  return a;
}

/* ---- curves, on another ---- */

typedef struct {
  Answer *answer;
  int64_t t0, t1;
  int columns;
  LamSignalPart part;
  double *x, *y;
  int64_t points, stride;
} Curving;

static gpointer
make_curving (gpointer owner)
{
  LamPulseqSignal *self = owner;
  if (!self->answer || self->columns <= 0 || self->closed)
    return NULL;
  Curving *c = g_new0 (Curving, 1);
  c->answer = answer_ref (self->answer);
  c->t0 = self->t0;
  c->t1 = self->t1;
  c->columns = self->columns;
  c->part = self->part;
  return c;
}

static void
work_curving (gpointer job)
{
  Curving *c = job;
  const Answer *a = c->answer;
  c->stride = lam_signal_window_room (c->columns);
  c->x = g_new (double, c->stride);
  c->y = g_new (double, a->tissues * c->stride);
  c->points =
      lam_signal_window (a->ps, a->re, a->im, a->tissues, a->samples, c->part, c->t0, c->t1, c->columns, c->x, c->y);
}

static void
curved (gpointer owner, gpointer job)
{
  LamPulseqSignal *self = owner;
  Curving *c = job;
  if (c->answer != self->answer || self->closed)
    return;
  g_free (self->x);
  g_free (self->y);
  self->x = g_steal_pointer (&c->x);
  self->y = g_steal_pointer (&c->y);
  self->points = c->points;
  self->stride = c->stride;
  self->curves = (int) c->answer->tissues;
  g_signal_emit (self, signals[CURVES], 0);
}

static void
free_curving (gpointer job)
{
  Curving *c = job;
  answer_unref (c->answer);
  g_free (c->x);
  g_free (c->y);
  g_free (c);
}

/* ---- state ---- */

/* Takes @text. */
static void
set_state (LamPulseqSignal *self, LamPulseqSignalState state, char *text)
{
  g_free (self->text);
  self->text = text;
  self->state = state;
  if (state != LAM_PULSEQ_SIGNAL_RUNNING)
    g_clear_handle_id (&self->tell_source, g_source_remove);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
drop_answer (LamPulseqSignal *self)
{
  gboolean any = self->answer != NULL;
  g_clear_pointer (&self->answer, answer_unref);
  self->curves = 0;
  if (any)
    g_signal_emit (self, signals[CURVES], 0);
}

static void
cancel_running (LamPulseqSignal *self)
{
  if (self->running)
    atomic_store (&self->running->control.cancel, 1);
  g_clear_pointer (&self->running, request_unref);
}

static void
answered (gpointer owner)
{
  LamPulseqSignal *self = owner;
  Answer *a = lam_newest_take (self->newest);
  if (!a)
    return;
  if (a->serial != self->serial || self->state != LAM_PULSEQ_SIGNAL_RUNNING) {
    answer_unref (a);
    return;
  }
  g_clear_pointer (&self->running, request_unref);
  g_clear_pointer (&self->answer, answer_unref);
  self->answer = a;
  set_state (self, LAM_PULSEQ_SIGNAL_READY,
             g_strdup_printf (_ ("Bloch · %" G_GINT64_FORMAT " samples in %.2g s"), a->samples, a->seconds));
  lam_latest_ask (&self->curving, 0);
}

static void
failed (gpointer owner, const GError *error)
{
  LamPulseqSignal *self = owner;
  if (g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED) || self->state != LAM_PULSEQ_SIGNAL_RUNNING)
    return;
  g_clear_pointer (&self->running, request_unref);
  drop_answer (self);
  set_state (self, LAM_PULSEQ_SIGNAL_FAILED, g_strdup (error->message));
}

static gboolean
tell_cb (gpointer self)
{
  g_signal_emit (self, signals[CHANGED], 0);
  return G_SOURCE_CONTINUE;
}

static double
number (LamPulseqSignal *self, const char *id)
{
  return lam_parameter_get_number (lam_parameter_list_find (self->parameters, id));
}

static int64_t
spins (LamPulseqSignal *self)
{
  return lam_parameter_get_integer (lam_parameter_list_find (self->parameters, "spins"));
}

static void
run (LamPulseqSignal *self)
{
  Request *r = g_new0 (Request, 1);
  cancel_running (self);
  g_atomic_ref_count_init (&r->refs);
  r->serial = ++self->serial;
  r->file = lam_sequence_file_ref (lam_pulseq_model_get_file (self->model));
  r->tissues = lam_tissues_ref (self->tissues);
  r->spins = spins (self);
  r->side = number (self, "side") * 1e-3;
  r->f0 = number (self, "field") * LAM_GAMMA_1H;
  g_atomic_ref_count_inc (&r->refs);
  self->running = r;
  lam_newest_ask (self->newest, r);
  if (!self->tell_source)
    self->tell_source = g_timeout_add (TELL_MS, tell_cb, self);
  set_state (self, LAM_PULSEQ_SIGNAL_RUNNING, g_strdup (_ ("Bloch · simulating…")));
}

/* Steps of a simulation, and bytes that its answer takes. */
static double
weigh (LamPulseqSignal *self, double *bytes)
{
  const LamPulseqTiming *t = lam_pulseq_model_get_file (self->model)->timing;
  double tiles = ceil ((double) lam_tissues_voxels (self->tissues) * (double) spins (self) / 32), shapes = 0;
  /* Each pulse of the library is turned into a map once. */
  for (int64_t i = 0; i < t->seq->rfs; i++)
    shapes += (double) t->rf[i].pulse.samples;
  *bytes = (double) t->samples * ((double) lam_tissues_voxels (self->tissues) * 16 + 8);
  return tiles * ((double) t->seq->blocks + (double) t->samples + shapes);
}

static void
consider (LamPulseqSignal *self)
{
  LamSequenceFile *file = lam_pulseq_model_get_file (self->model);
  double bytes, steps;
  cancel_running (self);
  self->serial++;
  if (!file || self->closed) {
    drop_answer (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE, NULL);
  } else if (!self->tissues) {
    drop_answer (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE, g_strdup (_ ("There is no tissue: add one to see its signal.")));
  } else if (file->timing->samples == 0) {
    drop_answer (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE, g_strdup (_ ("This sequence has no readout, and so no signal.")));
  } else if ((steps = weigh (self, &bytes)) > LARGE && !self->by_hand) {
    drop_answer (self);
    /* As many steps a second as a slow core makes. */
    set_state (self, LAM_PULSEQ_SIGNAL_LARGE,
               g_strdup_printf (_ ("%" G_GINT64_FORMAT " samples for each tissue: about %.2g s and %.3g MB."),
                                file->timing->samples, steps / 2e6, bytes * 1e-6));
  } else
    run (self);
}

void
lam_pulseq_signal_ask (LamPulseqSignal *self, LamTissues *tissues)
{
  g_return_if_fail (LAM_IS_PULSEQ_SIGNAL (self));
  g_clear_pointer (&self->tissues, lam_tissues_unref);
  self->tissues = tissues;
  consider (self);
}

void
lam_pulseq_signal_start (LamPulseqSignal *self)
{
  g_return_if_fail (LAM_IS_PULSEQ_SIGNAL (self));
  self->by_hand = TRUE;
  consider (self);
}

void
lam_pulseq_signal_stop (LamPulseqSignal *self)
{
  g_return_if_fail (LAM_IS_PULSEQ_SIGNAL (self));
  if (self->state != LAM_PULSEQ_SIGNAL_RUNNING)
    return;
  cancel_running (self);
  self->serial++;
  self->by_hand = FALSE;
  drop_answer (self);
  set_state (self, LAM_PULSEQ_SIGNAL_STOPPED, g_strdup (_ ("Stopped.")));
}

/* ---- what there is ---- */

LamParameterList *
lam_pulseq_signal_get_parameters (LamPulseqSignal *self)
{
  return self->parameters;
}

LamPulseqSignalState
lam_pulseq_signal_get_state (LamPulseqSignal *self)
{
  return self->state;
}

double
lam_pulseq_signal_get_fraction (LamPulseqSignal *self)
{
  return self->permille / 1000.0;
}

const char *
lam_pulseq_signal_get_text (LamPulseqSignal *self)
{
  return self->text;
}

void
lam_pulseq_signal_set_window (LamPulseqSignal *self, int64_t t0, int64_t t1, int columns, LamSignalPart part)
{
  if (t0 == self->t0 && t1 == self->t1 && columns == self->columns && part == self->part)
    return;
  self->t0 = t0;
  self->t1 = t1;
  self->columns = columns;
  self->part = part;
  lam_latest_ask (&self->curving, 0);
}

gboolean
lam_pulseq_signal_get_curves (LamPulseqSignal *self, LamPulseqCurves *c)
{
  *c = (LamPulseqCurves){self->curves, self->points, self->stride, self->x, self->y};
  return self->curves > 0;
}

int64_t
lam_pulseq_signal_get_samples (LamPulseqSignal *self, double *seconds)
{
  if (seconds)
    *seconds = self->answer ? self->answer->seconds : 0;
  return self->answer ? self->answer->samples : 0;
}

gboolean
lam_pulseq_signal_is_settled (LamPulseqSignal *self)
{
  return self->state != LAM_PULSEQ_SIGNAL_RUNNING && lam_latest_is_idle (&self->curving);
}

/* ---- object ---- */

static void
file_changed_cb (LamPulseqModel *model, LamPulseqSignal *self)
{
  self->by_hand = FALSE;
  drop_answer (self);
  consider (self);
}

/* What one spin leaves out, under its row. */
static void
note_spins (LamPulseqSignal *self)
{
  lam_parameter_set_note (lam_parameter_list_find (self->parameters, "spins"),
                          spins (self) == 1 ? _ ("one, in the middle: gradients dephase nothing") : NULL);
}

static void
parameter_changed_cb (LamParameterList *list, LamParameter *p, LamPulseqSignal *self)
{
  note_spins (self);
  consider (self);
}

static void
build_parameters (LamPulseqSignal *self, LamUndo *undo)
{
  self->parameters = lam_parameter_list_new (undo);
  LamParameter *p = lam_parameter_list_add (
      self->parameters, lam_parameter_new_integer ("spins", _ ("Spins in a voxel"), "", 1, 1, MOST_SPINS));
  lam_parameter_set_help (
      p, _ ("Spread through the voxel, so that gradients dephase them; time grows with their number."));
  p = lam_parameter_list_add (self->parameters,
                              lam_parameter_new_number ("side", _ ("Side of the voxel"), "mm", 1, 0.001, 1000, 2));
  lam_parameter_set_help (p, _ ("The cube that the spins fill, at the centre of the gradients."));
  p = lam_parameter_list_add (self->parameters, lam_parameter_new_number ("field", _ ("Field"), "T", 3, 0.001, 100, 3));
  lam_parameter_set_help (p, _ ("For pulses and readouts whose offset is given in ppm."));
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (parameter_changed_cb), self, 0);
  note_spins (self);
}

LamPulseqSignal *
lam_pulseq_signal_new (LamPulseqModel *model, LamUndo *undo)
{
  static const LamNewestFuncs funcs = {"bloch", work, answered, failed, request_unref, answer_unref};
  LamPulseqSignal *self = g_object_new (LAM_TYPE_PULSEQ_SIGNAL, NULL);
  self->model = g_object_ref (model);
  self->newest = lam_newest_new (self, &funcs);
  build_parameters (self, undo);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  return self;
}

void
lam_pulseq_signal_close (LamPulseqSignal *self)
{
  self->closed = TRUE;
  cancel_running (self);
  g_clear_handle_id (&self->tell_source, g_source_remove);
  lam_latest_clear (&self->curving);
  if (self->newest)
    lam_newest_stop (self->newest);
}

static void
lam_pulseq_signal_dispose (GObject *object)
{
  LamPulseqSignal *self = LAM_PULSEQ_SIGNAL (object);
  lam_pulseq_signal_close (self);
  g_clear_object (&self->parameters);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_pulseq_signal_parent_class)->dispose (object);
}

static void
lam_pulseq_signal_finalize (GObject *object)
{
  LamPulseqSignal *self = LAM_PULSEQ_SIGNAL (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->tissues, lam_tissues_unref);
  g_clear_pointer (&self->answer, answer_unref);
  g_free (self->text);
  g_free (self->x);
  g_free (self->y);
  G_OBJECT_CLASS (lam_pulseq_signal_parent_class)->finalize (object);
}

static void
lam_pulseq_signal_class_init (LamPulseqSignalClass *klass)
{
  static const char *const names[N_SIGNALS] = {"changed", "curves"};
  G_OBJECT_CLASS (klass)->dispose = lam_pulseq_signal_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_pulseq_signal_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] =
        g_signal_new (names[i], LAM_TYPE_PULSEQ_SIGNAL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_pulseq_signal_init (LamPulseqSignal *self)
{
  static const LamLatestFuncs funcs = {"signal curves", make_curving, work_curving, curved, free_curving};
  lam_latest_init (&self->curving, self, &funcs);
}
