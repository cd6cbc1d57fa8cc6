#include "config.h"

#include "model/pulseq-estimate.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/control.h"
#include "core/error.h"
#include "core/memory.h"
#include "run/newest.h"

/* Steps (blocks, samples and pulse samples, for each 32 spins, and again for each tangent) from which on nobody is made to wait
 * without being asked: about two seconds. */
#define LARGE 4e6
/* T1, T2 and B1 have a tangent, M0 has none; each costs about as much as the signal. */
#define WITH_TANGENTS 4
#define TELL_MS 100
/* Points of a curve, more than a screen has columns. */
#define MOST_POINTS 4000

struct _LamPulseqEstimate {
  GObject parent_instance;
  LamPulseqModel *model;
  LamParameterList *bloch, *parameters; /* the signal's; its own */
  LamTissues *tissues;
  double noise;
  LamNewest *newest;
  LamPulseqSignalState state;
  char *text;
  LamSequenceResult *result;
  LamSensitivityCurves *curves;
  guint64 serial; /* of the newest request */
  gboolean by_hand, closed;
  guint tell_source;
  _Atomic int permille;
  struct _Request *running; /* main thread's view: the newest request; it lives until its thread drops it */
};

enum { CHANGED, RESULT, OPTIONS_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamPulseqEstimate, lam_pulseq_estimate, G_TYPE_OBJECT)

/* ---- on its thread ---- */

typedef struct _Request {
  gatomicrefcount refs;
  guint64 serial;
  LamSequenceFile *file;
  LamTissues *tissues;
  LamBlochModelOptions options;
  double noise;
  LamControl control;
} Request;

typedef struct {
  LamSequenceResult *result;
  LamSensitivityCurves *curves;
  int64_t single, whole; /* readouts that are heard in one sample, and in all */
  double seconds;
} Answer;

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

static void
free_answer (gpointer answer)
{
  Answer *a = answer;
  g_clear_pointer (&a->result, lam_sequence_result_unref);
  g_clear_pointer (&a->curves, lam_sensitivity_curves_free);
  g_free (a);
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  Request *r = request;
  LamSimulateOptions options = {0};
  int64_t start = lam_clock_ns (), single, whole;
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", error);
  LamBlochModel *bloch = set ? lam_bloch_model_new (r->file->timing, &r->options, error) : NULL;
  g_autoptr (LamModel) model = bloch ? lam_model_new_of_pulseq (bloch) : NULL;
  LamSequenceResult *result =
      model ? lam_sequence_result_make (model, NULL, r->tissues, &options, r->noise, set, &r->control, error) : NULL;
  if (!result)
    return NULL;
  result->serial = r->serial;
  lam_bloch_model_readouts (bloch, &single, &whole);
  LamSensitivityCurves *curves = lam_sensitivity_curves_new (result, MOST_POINTS);
  Answer answer = {result, curves, single, whole, (double) (lam_clock_ns () - start) * 1e-9};
  return g_memdup2 (&answer, sizeof answer);
}

/* ---- state ---- */

/* Takes @text. */
static void
set_state (LamPulseqEstimate *self, LamPulseqSignalState state, char *text)
{
  g_free (self->text);
  self->text = text;
  self->state = state;
  if (state != LAM_PULSEQ_SIGNAL_RUNNING)
    g_clear_handle_id (&self->tell_source, g_source_remove);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
drop_result (LamPulseqEstimate *self)
{
  gboolean any = self->result != NULL;
  g_clear_pointer (&self->result, lam_sequence_result_unref);
  g_clear_pointer (&self->curves, lam_sensitivity_curves_free);
  if (any)
    g_signal_emit (self, signals[RESULT], 0);
}

static void
cancel_running (LamPulseqEstimate *self)
{
  if (self->running)
    atomic_store (&self->running->control.cancel, 1);
  g_clear_pointer (&self->running, request_unref);
}

/* Which samples these are, in words. */
static char *
describe (const Answer *a)
{
  int n = a->result->samples;
  g_autofree char *which =
      a->whole == 0 ? g_strdup_printf (_ ("%d samples: of each readout the one nearest the centre of k-space"), n)
      : a->single == 0
          ? g_strdup_printf (_ ("%d samples: all that the file reads"), n)
          : g_strdup_printf (_ ("%d samples: of %ld readouts the one nearest the centre of k-space, of %ld "
                                "all"),
                             n, (long) a->single, (long) a->whole);
  if (a->curves->thinned) {
    char *drawn =
        g_strdup_printf (_ ("%s · drawn as the extremes of %d stretches of time"), which, a->curves->points / 2);
    g_free (which);
    which = drawn;
  }
  return a->seconds < 1 ? g_strdup_printf (_ ("%s · in %.3g ms"), which, 1e3 * a->seconds)
                        : g_strdup_printf (_ ("%s · in %.3g s"), which, a->seconds);
}

static void
answered (gpointer owner)
{
  LamPulseqEstimate *self = owner;
  Answer *a = lam_newest_take (self->newest);
  if (!a)
    return;
  if (a->result->serial == self->serial && self->state == LAM_PULSEQ_SIGNAL_RUNNING) {
    g_clear_pointer (&self->running, request_unref);
    g_clear_pointer (&self->result, lam_sequence_result_unref);
    g_clear_pointer (&self->curves, lam_sensitivity_curves_free);
    char *text = describe (a);
    self->result = g_steal_pointer (&a->result);
    self->curves = g_steal_pointer (&a->curves);
    set_state (self, LAM_PULSEQ_SIGNAL_READY, text);
    g_signal_emit (self, signals[RESULT], 0);
  }
  free_answer (a);
}

static void
failed (gpointer owner, const GError *error)
{
  LamPulseqEstimate *self = owner;
  if (g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED) || self->state != LAM_PULSEQ_SIGNAL_RUNNING)
    return;
  g_clear_pointer (&self->running, request_unref);
  drop_result (self);
  set_state (self, LAM_PULSEQ_SIGNAL_FAILED, g_strdup (error->message));
}

static gboolean
tell_cb (gpointer self)
{
  g_signal_emit (self, signals[CHANGED], 0);
  return G_SOURCE_CONTINUE;
}

gboolean
lam_pulseq_estimate_get_options (LamPulseqEstimate *self, LamBlochModelOptions *o)
{
  LamSequenceFile *file = lam_pulseq_model_get_file (self->model);
  if (!file)
    return FALSE;
  double field = lam_parameter_get_number (lam_parameter_list_find (self->bloch, "field")),
         side = lam_parameter_get_number (lam_parameter_list_find (self->bloch, "side"));
  *o = (LamBlochModelOptions){
      .sampling = lam_parameter_get_selected (lam_parameter_list_find (self->parameters, "samples")),
      .spins = lam_parameter_get_integer (lam_parameter_list_find (self->bloch, "spins")),
      .size_mm = {side, side, side},
      .f0_hz = lam_pulseq_needs_f0 (lam_sequence_file_seq (file)) ? field * LAM_GAMMA_1H : NAN, /* as a model says */
      .file = file->name,
      .checksum = file->checksum};
  return TRUE;
}

static void
run (LamPulseqEstimate *self, const LamBlochModelOptions *options)
{
  Request *r = g_new0 (Request, 1);
  g_atomic_ref_count_init (&r->refs);
  r->serial = self->serial;
  r->file = lam_sequence_file_ref (lam_pulseq_model_get_file (self->model));
  r->tissues = lam_tissues_ref (self->tissues);
  r->options = *options; /* its texts live as long as the file */
  r->noise = self->noise;
  g_atomic_ref_count_inc (&r->refs);
  self->running = r;
  self->permille = 0;
  r->options.permille = &self->permille;
  lam_newest_ask (self->newest, r);
  if (!self->tell_source)
    self->tell_source = g_timeout_add (TELL_MS, tell_cb, self);
  set_state (self, LAM_PULSEQ_SIGNAL_RUNNING, g_strdup (_ ("Bloch · derivatives…")));
}

/* Steps, and bytes that the answer takes. Where k stands still though gradients play there are more samples than this says. */
static double
weigh (LamPulseqEstimate *self, const LamBlochModelOptions *o, double *bytes)
{
  const LamPulseqTiming *t = lam_pulseq_model_get_file (self->model)->timing;
  double voxels = (double) lam_tissues_voxels (self->tissues), tiles = ceil (voxels * (double) o->spins / 32),
         shapes = 0;
  gboolean all = o->sampling == LAM_BLOCH_SAMPLES_ALL || t->seq->gradients == 0;
  double samples = (double) (all ? t->samples : t->readouts);
  /* Each pulse of the library is turned into a map once: of four vectors. */
  for (int64_t i = 0; i < t->seq->rfs; i++)
    shapes += (double) t->rf[i].pulse.samples;
  *bytes = samples * (voxels * 8 * (1 + LAM_BY_KINDS) + 8);
  return WITH_TANGENTS * tiles * ((double) t->seq->blocks + samples + shapes);
}

static void
consider (LamPulseqEstimate *self)
{
  LamBlochModelOptions o;
  double bytes, steps;
  gboolean file = !self->closed && lam_pulseq_estimate_get_options (self, &o);
  cancel_running (self);
  self->serial++;
  if (!file) {
    drop_result (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE, NULL);
  } else if (!self->tissues) {
    drop_result (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE, g_strdup (_ ("There is no tissue: add one to see what tells of it.")));
  } else if (lam_pulseq_model_get_file (self->model)->timing->samples == 0) {
    drop_result (self);
    set_state (self, LAM_PULSEQ_SIGNAL_NONE,
               g_strdup (_ ("This sequence has no readout, so nothing tells of a tissue.")));
  } else if ((steps = weigh (self, &o, &bytes)) > LARGE && !self->by_hand) {
    drop_result (self);
    set_state (self, LAM_PULSEQ_SIGNAL_LARGE,
               g_strdup_printf (_ ("Derivatives take about %.2g s and %.3g MB."), steps / 2e6, bytes * 1e-6));
  } else
    run (self, &o);
}

void
lam_pulseq_estimate_ask (LamPulseqEstimate *self, LamTissues *tissues, double noise)
{
  g_return_if_fail (LAM_IS_PULSEQ_ESTIMATE (self));
  g_clear_pointer (&self->tissues, lam_tissues_unref);
  self->tissues = tissues;
  self->noise = noise;
  consider (self);
}

void
lam_pulseq_estimate_set_noise (LamPulseqEstimate *self, double noise)
{
  self->noise = noise;
  consider (self);
}

void
lam_pulseq_estimate_start (LamPulseqEstimate *self)
{
  self->by_hand = TRUE;
  consider (self);
}

void
lam_pulseq_estimate_stop (LamPulseqEstimate *self)
{
  if (self->state != LAM_PULSEQ_SIGNAL_RUNNING)
    return;
  cancel_running (self);
  self->serial++;
  self->by_hand = FALSE;
  drop_result (self);
  set_state (self, LAM_PULSEQ_SIGNAL_STOPPED, g_strdup (_ ("Stopped.")));
}

/* ---- what there is ---- */

LamParameterList *
lam_pulseq_estimate_get_parameters (LamPulseqEstimate *self)
{
  return self->parameters;
}

LamPulseqSignalState
lam_pulseq_estimate_get_state (LamPulseqEstimate *self)
{
  return self->state;
}

const char *
lam_pulseq_estimate_get_text (LamPulseqEstimate *self)
{
  return self->text;
}

double
lam_pulseq_estimate_get_fraction (LamPulseqEstimate *self)
{
  return self->permille / 1000.0;
}

LamSequenceResult *
lam_pulseq_estimate_get_result (LamPulseqEstimate *self)
{
  return self->result;
}

const LamSensitivityCurves *
lam_pulseq_estimate_get_curves (LamPulseqEstimate *self)
{
  return self->curves;
}

gboolean
lam_pulseq_estimate_is_settled (LamPulseqEstimate *self)
{
  return self->state != LAM_PULSEQ_SIGNAL_RUNNING;
}

/* ---- object ---- */

static void
file_changed_cb (LamPulseqModel *model, LamPulseqEstimate *self)
{
  self->by_hand = FALSE;
  drop_result (self);
  consider (self);
  g_signal_emit (self, signals[OPTIONS_CHANGED], 0);
}

static void
parameter_changed_cb (LamParameterList *list, LamParameter *p, LamPulseqEstimate *self)
{
  consider (self);
  g_signal_emit (self, signals[OPTIONS_CHANGED], 0);
}

static void
build_parameters (LamPulseqEstimate *self, LamUndo *undo)
{
  static LamParameterChoice choices[] = {{"centre", NULL}, {"all", NULL}, {NULL, NULL}};
  choices[0].label = _ ("k-space centre");
  choices[1].label = _ ("All");
  self->parameters = lam_parameter_list_new (undo);
  LamParameter *p =
      lam_parameter_list_add (self->parameters, lam_parameter_new_choice ("samples", _ ("Samples"), choices, "centre"));
  lam_parameter_set_help (p, _ ("What precision and dictionaries are made of: of each readout the sample nearest the "
                                "centre of k-space (all where k stands still), or all samples."));
  g_signal_connect_object (self->parameters, "changed", G_CALLBACK (parameter_changed_cb), self, 0);
}

LamPulseqEstimate *
lam_pulseq_estimate_new (LamPulseqModel *model, LamPulseqSignal *signal, LamUndo *undo)
{
  static const LamNewestFuncs funcs = {"bloch derivatives", work, answered, failed, request_unref, free_answer};
  LamPulseqEstimate *self = g_object_new (LAM_TYPE_PULSEQ_ESTIMATE, NULL);
  self->model = g_object_ref (model);
  self->bloch = g_object_ref (lam_pulseq_signal_get_parameters (signal));
  self->newest = lam_newest_new (self, &funcs);
  build_parameters (self, undo);
  g_signal_connect_object (self->bloch, "changed", G_CALLBACK (parameter_changed_cb), self, 0);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  return self;
}

void
lam_pulseq_estimate_close (LamPulseqEstimate *self)
{
  self->closed = TRUE;
  cancel_running (self);
  g_clear_handle_id (&self->tell_source, g_source_remove);
  if (self->newest)
    lam_newest_stop (self->newest);
}

static void
lam_pulseq_estimate_dispose (GObject *object)
{
  LamPulseqEstimate *self = LAM_PULSEQ_ESTIMATE (object);
  lam_pulseq_estimate_close (self);
  g_clear_object (&self->parameters);
  g_clear_object (&self->bloch);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_pulseq_estimate_parent_class)->dispose (object);
}

static void
lam_pulseq_estimate_finalize (GObject *object)
{
  LamPulseqEstimate *self = LAM_PULSEQ_ESTIMATE (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->tissues, lam_tissues_unref);
  g_clear_pointer (&self->result, lam_sequence_result_unref);
  g_clear_pointer (&self->curves, lam_sensitivity_curves_free);
  g_free (self->text);
  G_OBJECT_CLASS (lam_pulseq_estimate_parent_class)->finalize (object);
}

static void
lam_pulseq_estimate_class_init (LamPulseqEstimateClass *klass)
{
  static const char *const names[N_SIGNALS] = {"changed", "result", "options-changed"};
  G_OBJECT_CLASS (klass)->dispose = lam_pulseq_estimate_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_pulseq_estimate_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] =
        g_signal_new (names[i], LAM_TYPE_PULSEQ_ESTIMATE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_pulseq_estimate_init (LamPulseqEstimate *self)
{
}
