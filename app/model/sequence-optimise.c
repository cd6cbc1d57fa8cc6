#include "config.h"

#include "model/sequence-optimise.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/control.h"
#include "core/error.h"
#include "mr/design.h"

/* Everything that the thread needs, its own. */
typedef struct {
  gatomicrefcount refs;
  LamSequenceOptimise *owner; /* main thread; NULL when it is not to be told */
  LamProtocol *protocol;
  LamTissues *tissues;
  char *field;
  int objective, most, orders;
  double low, high, noise, smoothness, energy;
  LamControl control;
  GMutex lock; /* over the rest */
  double *best;
  int n, evaluations;
  double start, cost;
  gboolean told, done;
  GError *error;
} Search;

struct _LamSequenceOptimise {
  GObject parent_instance;
  LamSequenceSession *session;
  LamParameterList *parameters;
  Search *search; /* while it runs */
  GThread *thread;
  char *text;
  LamProtocol *told; /* that the last search left, and the text tells of; NULL: none */
  gboolean back;
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE (LamSequenceOptimise, lam_sequence_optimise, G_TYPE_OBJECT)

static void
search_unref (Search *s)
{
  if (!g_atomic_ref_count_dec (&s->refs))
    return;
  lam_protocol_free (s->protocol);
  lam_tissues_unref (s->tissues);
  g_free (s->field);
  g_free (s->best);
  g_clear_error (&s->error);
  g_mutex_clear (&s->lock);
  g_free (s);
}

static void
say (LamSequenceOptimise *self, char *text)
{
  g_free (self->text);
  self->text = text;
  g_signal_emit (self, changed_signal, 0);
}

/* ---- back on the main thread ---- */

static void
finish (LamSequenceOptimise *self, Search *s)
{
  g_clear_pointer (&self->thread, g_thread_join);
  self->search = NULL;
  lam_sequence_session_end_drag (self->session);
  if (self->back)
    lam_undo_undo (lam_sequence_session_get_undo (self->session));
  if (s->error)
    say (self, g_strdup (s->error->message));
  else if (self->back)
    say (self, g_strdup (_ ("The train of before is back.")));
  else
    say (self, s->objective == LAM_OBJECTIVE_BOUND
                   ? g_strdup_printf (_ ("mean bound %.3g %% → %.3g %% after %d evaluations"), 100 * s->start,
                                      100 * s->cost, s->evaluations)
                   : g_strdup_printf (_ ("mean signal %.3g → %.3g after %d evaluations"), -s->start, -s->cost,
                                      s->evaluations));
  g_clear_pointer (&self->told, lam_protocol_free);
  self->told = lam_sequence_session_copy_protocol (self->session);
  search_unref (s);
}

/* Undone or edited since, it is another train: what was said of it is not true of this one. */
static void
session_changed_cb (LamSequenceSession *session, LamSequenceOptimise *self)
{
  if (self->told == NULL || self->search != NULL)
    return;
  g_autoptr (LamProtocol) now = lam_sequence_session_copy_protocol (session);
  if (lam_protocol_equal (self->told, now))
    return;
  g_clear_pointer (&self->told, lam_protocol_free);
  say (self, NULL);
}

static gboolean
tell_cb (gpointer data)
{
  Search *s = data;
  LamSequenceOptimise *self = s->owner;
  g_mutex_lock (&s->lock);
  g_autofree double *best = g_steal_pointer (&s->best);
  int n = s->n, evaluations = s->evaluations;
  double cost = s->cost;
  gboolean done = s->done;
  s->told = FALSE;
  g_mutex_unlock (&s->lock);
  if (self != NULL) {
    if (best != NULL)
      lam_sequence_session_edit_list (self->session, s->field, best, n, _ ("Optimise Train"), NULL);
    if (done)
      finish (self, s);
    else
      say (self,
           s->objective == LAM_OBJECTIVE_BOUND
               ? g_strdup_printf (_ ("mean bound %.3g %% · evaluation %d of %d"), 100 * cost, evaluations, s->most)
               : g_strdup_printf (_ ("mean signal %.3g · evaluation %d of %d"), -cost, evaluations, s->most));
  }
  search_unref (s);
  return G_SOURCE_REMOVE;
}

/* With the lock held. */
static void
wake (Search *s)
{
  if (s->told)
    return;
  s->told = TRUE;
  g_atomic_ref_count_inc (&s->refs);
  g_idle_add (tell_cb, s);
}

/* ---- on the thread ---- */

static void
better (LamModel *model, double cost, int evaluations, void *data)
{
  Search *s = data;
  int n;
  const double *x = lam_protocol_get (lam_model_protocol (model), s->field, &n);
  g_mutex_lock (&s->lock);
  g_free (s->best);
  s->best = g_memdup2 (x, n * sizeof *x);
  s->n = n;
  s->evaluations = evaluations;
  s->cost = cost;
  wake (s);
  g_mutex_unlock (&s->lock);
}

static gpointer
run (gpointer data)
{
  static const char *const bounds[] = {"T1", "T2", "M0", NULL}, *const without_t2[] = {"T1", "M0", NULL},
                           *const counted[] = {"T1", "T2", NULL};
  Search *s = data;
  g_autoptr (LamModel) m = lam_model_new_for (lam_protocol_copy (s->protocol));
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", NULL);
  gboolean t2 = FALSE;
  for (const char *const *name = lam_protocol_template (s->protocol)->tissues; *name; name++)
    t2 |= strcmp (*name, "T2") == 0;
  LamDesignVariable variable = {s->field, s->low, s->high};
  LamDesign d = {.objective = s->objective,
                 .quantities = t2 ? bounds : without_t2,
                 .counted = counted,
                 .noise = s->noise,
                 .variables = &variable,
                 .n_variables = 1,
                 .smoothness = s->smoothness,
                 .energy = s->energy,
                 .most = s->most};
  LamDesignReport report = {0};
  GError *error = NULL;
  lam_model_set_orders (m, s->orders);
  gboolean ok = lam_design (m, s->tissues, &d, set, better, s, &s->control, &report, &error);
  if (ok)
    better (m, report.end, report.evaluations, s);
  g_mutex_lock (&s->lock);
  s->start = report.start;
  s->error = error;
  s->done = TRUE;
  wake (s);
  g_mutex_unlock (&s->lock);
  return NULL;
}

/* ---- asking ---- */

static LamParameter *
find (LamSequenceOptimise *self, const char *id)
{
  return lam_parameter_list_find (self->parameters, id);
}

gboolean
lam_sequence_optimise_start (LamSequenceOptimise *self, GError **error)
{
  const char *field = lam_sequence_session_get_train (self->session);
  if (self->search != NULL)
    return TRUE;
  if (g_strcmp0 (field, "flip") != 0
      || !lam_template_find (lam_parameter_get_text (lam_sequence_session_get_template (self->session)))->build) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_NOT_SUPPORTED, "%s",
                 _ ("Trains of flip angles can be optimised; this template has none."));
    return FALSE;
  }
  LamTissues *t = lam_sequence_session_copy_tissues (self->session, error);
  if (!t)
    return FALSE;
  Search *s = g_new0 (Search, 1);
  g_atomic_ref_count_init (&s->refs);
  g_mutex_init (&s->lock);
  s->owner = self;
  s->protocol = lam_sequence_session_copy_protocol (self->session);
  s->tissues = t;
  s->field = g_strdup (field);
  s->objective = lam_parameter_get_selected (find (self, "objective"));
  s->low = lam_parameter_get_number (find (self, "low"));
  s->high = lam_parameter_get_number (find (self, "high"));
  s->smoothness = lam_parameter_get_number (find (self, "smoothness"));
  s->energy = lam_parameter_get_number (find (self, "energy"));
  s->most = (int) lam_parameter_get_integer (find (self, "evaluations"));
  s->noise =
      lam_parameter_get_number (lam_parameter_list_find (lam_sequence_session_get_model (self->session), "noise"));
  s->orders = (int) lam_parameter_get_integer (
      lam_parameter_list_find (lam_sequence_session_get_model (self->session), "orders"));
  self->search = s;
  self->back = FALSE;
  lam_sequence_session_begin_drag (self->session, _ ("Optimise Train"));
  self->thread = g_thread_new ("optimise", run, s);
  say (self, g_strdup (_ ("optimising…")));
  return TRUE;
}

void
lam_sequence_optimise_stop (LamSequenceOptimise *self, gboolean keep)
{
  if (self->search == NULL)
    return;
  self->back = !keep;
  atomic_store (&self->search->control.stop_keep, 1);
}

gboolean
lam_sequence_optimise_get_running (LamSequenceOptimise *self)
{
  return self->search != NULL;
}

const char *
lam_sequence_optimise_get_text (LamSequenceOptimise *self)
{
  return self->text;
}

LamParameterList *
lam_sequence_optimise_get_parameters (LamSequenceOptimise *self)
{
  return self->parameters;
}

void
lam_sequence_optimise_close (LamSequenceOptimise *self)
{
  if (self->search != NULL) {
    self->search->owner = NULL;
    atomic_store (&self->search->control.stop_keep, 1);
    g_clear_pointer (&self->thread, g_thread_join);
    g_clear_pointer (&self->search, search_unref);
  }
  g_clear_object (&self->session);
}

LamSequenceOptimise *
lam_sequence_optimise_new (LamSequenceSession *session)
{
  static const LamParameterChoice objectives[] = {{"bound", N_ ("Precision of T1 and T2")},
                                                  {"signal", N_ ("Signal")},
                                                  {"contrast", N_ ("Second tissue over the first")},
                                                  {NULL}};
  LamSequenceOptimise *self = g_object_new (LAM_TYPE_SEQUENCE_OPTIMISE, NULL);
  self->session = g_object_ref (session);
  self->parameters = lam_parameter_list_new (lam_sequence_session_get_undo (session));
  g_signal_connect_object (session, "changed", G_CALLBACK (session_changed_cb), self, 0);
  lam_parameter_list_add (self->parameters,
                          lam_parameter_new_choice ("objective", _ ("Best for"), objectives, "bound"));
  lam_parameter_list_add (self->parameters, lam_parameter_new_number ("low", _ ("Smallest flip"), "°", 2, 0, 360, 1));
  lam_parameter_list_add (self->parameters, lam_parameter_new_number ("high", _ ("Largest flip"), "°", 70, 1, 360, 1));
  LamParameter *p = lam_parameter_list_add (
      self->parameters, lam_parameter_new_number ("smoothness", _ ("Smoothness"), "", 0.05, 0, 1000, 3));
  lam_parameter_set_help (p, _ ("Weight of steps between neighbouring pulses."));
  p = lam_parameter_list_add (self->parameters,
                              lam_parameter_new_number ("energy", _ ("Energy, at most"), "×", 1, 0, 100, 2));
  lam_parameter_set_special (p, 0, _ ("no limit"));
  lam_parameter_set_help (p,
                          _ ("Sum of squared flip angles relative to the train of before, as a measure of heating."));
  lam_parameter_list_add (self->parameters,
                          lam_parameter_new_integer ("evaluations", _ ("Evaluations"), "", 100, 1, 100000));
  return self;
}

static void
lam_sequence_optimise_dispose (GObject *object)
{
  lam_sequence_optimise_close (LAM_SEQUENCE_OPTIMISE (object));
  G_OBJECT_CLASS (lam_sequence_optimise_parent_class)->dispose (object);
}

static void
lam_sequence_optimise_finalize (GObject *object)
{
  LamSequenceOptimise *self = LAM_SEQUENCE_OPTIMISE (object);
  g_clear_object (&self->parameters);
  g_clear_pointer (&self->told, lam_protocol_free);
  g_free (self->text);
  G_OBJECT_CLASS (lam_sequence_optimise_parent_class)->finalize (object);
}

static void
lam_sequence_optimise_class_init (LamSequenceOptimiseClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_sequence_optimise_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_sequence_optimise_finalize;
  changed_signal =
      g_signal_new ("changed", LAM_TYPE_SEQUENCE_OPTIMISE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_sequence_optimise_init (LamSequenceOptimise *self)
{
}
