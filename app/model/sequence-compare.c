#include "config.h"

#include "model/sequence-compare.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/sequence-approximations.h"
#include "mr/approximations.h"
#include "mr/isochromats.h"
#include "run/newest.h"

/* A sum that takes longer than this is given up when there is something newer to sum. */
#define PATIENCE_US 400000

struct _LamSequenceCompare {
  GObject parent_instance;
  LamSequenceSession *session;
  LamNewest *newest;
  LamSpinSum *sum;
  LamControl control;
  gint64 asked_at;
  guint64 asked; /* serial of the result that was asked for last; 0: none */
  char *why;     /* it could not be summed */
  /* The worker's own. */
  LamModel *engine;
};

G_DEFINE_FINAL_TYPE (LamSequenceCompare, lam_sequence_compare, G_TYPE_OBJECT)

static guint changed_signal;

static void
free_sum (gpointer data)
{
  LamSpinSum *s = data;
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  lam_free (s->re);
  lam_free (s->im);
  g_free (s);
}

/* ---- the worker ---- */

typedef struct {
  LamProtocol *protocol;
  LamTissues *tissues;
  LamSequenceResult *beside;
  int spins;
} Request;

static void
free_request (gpointer data)
{
  Request *r = data;
  lam_protocol_free (r->protocol);
  lam_tissues_unref (r->tissues);
  lam_sequence_result_unref (r->beside);
  g_free (r);
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  LamSequenceCompare *self = owner;
  Request *r = request;
  LamSignal signal = {0};
  LamIsochromatOptions options = {.spins = r->spins};
  int64_t start = lam_clock_ns ();
  atomic_store (&self->control.cancel, 0);
  if (!lam_model_follow (&self->engine, r->protocol, error)
      || !lam_isochromats_simulate (self->engine, r->tissues, &options, &self->control, &signal, error))
    return NULL;
  LamSpinSum *s = g_new0 (LamSpinSum, 1);
  g_atomic_ref_count_init (&s->refs);
  s->serial = r->beside->serial;
  s->spins = r->spins;
  s->tissues = (int) signal.voxels;
  s->samples = (int) signal.samples;
  if (s->tissues == r->beside->tissues && s->samples == r->beside->samples) {
    const LamSignal epg = {
        .voxels = signal.voxels, .samples = signal.samples, .re = r->beside->re, .im = r->beside->im};
    if (r->beside->real_signal)
      g_clear_pointer (&signal.im, lam_free);
    lam_signal_changes (&epg, &signal, s->difference);
  }
  s->re = g_steal_pointer (&signal.re);
  s->im = g_steal_pointer (&signal.im);
  lam_signal_clear (&signal);
  s->seconds = (double) (lam_clock_ns () - start) / 1e9;
  return s;
}

static void
say (LamSequenceCompare *self)
{
  LamParameter *row = lam_parameter_list_find (lam_sequence_session_get_model (self->session), "compare");
  double worst = 0;
  int of = 0;
  if (self->why != NULL) {
    lam_parameter_set_note (row, self->why);
    return;
  }
  if (self->sum == NULL) {
    lam_parameter_set_note (row, self->asked != 0 ? _ ("adding up spins…") : NULL);
    return;
  }
  for (int v = 0; v < self->sum->tissues && v < LAM_SEQUENCE_MOST_TISSUES; v++)
    if (self->sum->difference[v] > worst) {
      worst = self->sum->difference[v];
      of = v;
    }
  g_autoptr (LamTissueItem) item = g_list_model_get_item (lam_sequence_session_get_tissues (self->session), of);
  /* TRANSLATORS: "differs by at most 0.012 % of the peak (Grey matter)" */
  g_autofree char *note = g_strdup_printf (_ ("differs by at most %.2g %% of the peak (%s)"), 100 * worst,
                                           item != NULL ? lam_tissue_item_get_name (item) : "");
  lam_parameter_set_note (row, note);
}

static void
answered (gpointer owner)
{
  LamSequenceCompare *self = owner;
  LamSpinSum *s = lam_newest_take (self->newest);
  if (s == NULL)
    return;
  if (self->asked == 0) { /* switched off meanwhile */
    free_sum (s);
    return;
  }
  g_clear_pointer (&self->sum, free_sum);
  g_clear_pointer (&self->why, g_free);
  self->sum = s;
  say (self);
  g_signal_emit (self, changed_signal, 0);
}

static void
failed (gpointer owner, const GError *error)
{
  LamSequenceCompare *self = owner;
  if (g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
    return;
  g_clear_pointer (&self->sum, free_sum);
  g_free (self->why);
  self->why = g_strdup (error->message);
  say (self);
  g_signal_emit (self, changed_signal, 0);
}

/* ---- asking ---- */

static void
drop (LamSequenceCompare *self)
{
  gboolean was = self->asked != 0;
  self->asked = 0;
  g_clear_pointer (&self->sum, free_sum);
  g_clear_pointer (&self->why, g_free);
  if (!was)
    return;
  atomic_store (&self->control.cancel, 1);
  g_signal_emit (self, changed_signal, 0);
}

static void
result_cb (LamSequenceSession *session, LamSequenceCompare *self)
{
  LamSequenceResult *result = lam_sequence_session_get_result (session);
  LamApproximations a = lam_approximations_read (lam_sequence_session_get_model (session));
  g_autoptr (GError) error = NULL;
  gint64 now = g_get_monotonic_time ();
  LamTissues *t = a.compare && result != NULL && result->compare_obstacle == NULL
                      ? lam_sequence_session_copy_tissues (session, &error)
                      : NULL;
  if (t == NULL) {
    drop (self);
    return;
  }
  if (self->asked != 0 && !lam_sequence_compare_is_settled (self) && now - self->asked_at > PATIENCE_US)
    atomic_store (&self->control.cancel, 1);
  Request *r = g_new0 (Request, 1);
  r->protocol = lam_sequence_session_copy_protocol (session);
  r->tissues = t;
  r->beside = lam_sequence_result_ref (result);
  r->spins = a.spins;
  if (self->asked == 0 || lam_sequence_compare_is_settled (self))
    self->asked_at = now;
  self->asked = result->serial;
  say (self);
  lam_newest_ask (self->newest, r);
}

const LamSpinSum *
lam_sequence_compare_get_sum (LamSequenceCompare *self)
{
  return self->sum;
}

gboolean
lam_sequence_compare_is_settled (LamSequenceCompare *self)
{
  return self->asked == 0 || self->why != NULL || (self->sum != NULL && self->sum->serial == self->asked);
}

/* ---- object ---- */

void
lam_sequence_compare_close (LamSequenceCompare *self)
{
  atomic_store (&self->control.cancel, 1);
  if (self->newest)
    lam_newest_stop (self->newest);
}

static void
lam_sequence_compare_dispose (GObject *object)
{
  LamSequenceCompare *self = LAM_SEQUENCE_COMPARE (object);
  lam_sequence_compare_close (self);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_sequence_compare_parent_class)->dispose (object);
}

static void
lam_sequence_compare_finalize (GObject *object)
{
  LamSequenceCompare *self = LAM_SEQUENCE_COMPARE (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->engine, lam_model_free);
  g_clear_pointer (&self->sum, free_sum);
  g_free (self->why);
  G_OBJECT_CLASS (lam_sequence_compare_parent_class)->finalize (object);
}

static void
lam_sequence_compare_class_init (LamSequenceCompareClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_sequence_compare_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_sequence_compare_finalize;
  changed_signal =
      g_signal_new ("changed", LAM_TYPE_SEQUENCE_COMPARE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_sequence_compare_init (LamSequenceCompare *self)
{
}

LamSequenceCompare *
lam_sequence_compare_new (LamSequenceSession *session)
{
  static const LamNewestFuncs funcs = {"compare", work, answered, failed, free_request, free_sum};
  LamSequenceCompare *self = g_object_new (LAM_TYPE_SEQUENCE_COMPARE, NULL);
  self->session = g_object_ref (session);
  self->newest = lam_newest_new (self, &funcs);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  return self;
}
