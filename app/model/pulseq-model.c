#include "config.h"

#include "model/pulseq-model.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "io/pulseq-read.h"
#include "model/facts.h"
#include "model/latest.h"
#include "model/pulseq-problems.h"

/* How often the progress of opening is told, ms. */
#define TELL_MS 100

struct _LamPulseqModel {
  GObject parent_instance;
  LamUndo *undo;
  LamParameterList *limits;
  GListStore *facts, *problems;
  LamSequenceFile *file, *last; /* what is open, and what was before it: undo goes back to that at once */
  LamLimitReport *report;
  LamLatest opening, checking;
  char *wanted; /* path of what is to be opened; NULL: nothing */
  gboolean record;
  struct _Opening *job; /* that goes on */
  guint tell_source;
  gboolean closed;
};

enum { FILE_CHANGED, PROGRESS, FAILED, PROBLEMS_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamPulseqModel, lam_pulseq_model, G_TYPE_OBJECT)

gboolean
lam_pulseq_model_knows (const char *path)
{
  return lam_pulseq_file_is (path);
}

/* ---- limits ---- */

static double
limit (LamPulseqModel *self, const char *id, double unit)
{
  double v = lam_parameter_get_number (lam_parameter_list_find (self->limits, id));
  return v > 0 ? v * unit : NAN;
}

typedef struct {
  LamSequenceFile *file;
  LamLimits limits;
  LamLimitReport *report;
} Checking;

static gpointer
make_checking (gpointer owner)
{
  LamPulseqModel *self = owner;
  if (!self->file || self->closed)
    return NULL;
  Checking *c = g_new0 (Checking, 1);
  c->file = lam_sequence_file_ref (self->file);
  c->limits = (LamLimits){.gradient = limit (self, "gradient", 1e-3 * LAM_GAMMA_1H),
                          .slew = limit (self, "slew", LAM_GAMMA_1H),
                          .rf = limit (self, "rf", 1e-6 * LAM_GAMMA_1H),
                          .rf_dead = limit (self, "rf-dead", 1e-6),
                          .rf_ringdown = limit (self, "rf-ringdown", 1e-6),
                          .adc_dead = limit (self, "adc-dead", 1e-6)};
  return c;
}

static void
work_checking (gpointer job)
{
  Checking *c = job;
  c->report = lam_limits_check (c->file->timing, &c->limits, NULL);
}

static void
checked (gpointer owner, gpointer job)
{
  LamPulseqModel *self = owner;
  Checking *c = job;
  if (c->file != self->file || self->closed)
    return;
  lam_limit_report_free (self->report);
  self->report = g_steal_pointer (&c->report);
  lam_pulseq_problems_fill (self->problems, self->file, self->report);
  g_signal_emit (self, signals[PROBLEMS_CHANGED], 0);
}

static void
free_checking (gpointer job)
{
  Checking *c = job;
  lam_sequence_file_unref (c->file);
  lam_limit_report_free (c->report);
  g_free (c);
}

static void
limit_changed_cb (LamParameterList *list, LamParameter *p, LamPulseqModel *self)
{
  lam_latest_ask (&self->checking, 0);
}

static void
add_limit (LamPulseqModel *self, const char *id, const char *label, const char *unit, double value, double most,
           const char *help)
{
  LamParameter *p =
      lam_parameter_list_add (self->limits, lam_parameter_new_number (id, label, unit, value, 0, most, 1));
  lam_parameter_set_special (p, 0, _ ("not checked"));
  lam_parameter_set_help (p, help);
  lam_parameter_set_step (p, 1);
}

static void
build_limits (LamPulseqModel *self)
{
  LamLimits usual = lam_limits_default ();
  self->limits = lam_parameter_list_new (self->undo);
  add_limit (self, "gradient", _ ("Gradient"), "mT/m", usual.gradient / LAM_GAMMA_1H * 1e3, 10000,
             _ ("Largest gradient of each axis."));
  add_limit (self, "slew", _ ("Slew rate"), "T/m/s", usual.slew / LAM_GAMMA_1H, 100000,
             _ ("Fastest change of each axis; jumps at block edges are judged by it too."));
  add_limit (self, "rf", _ ("RF amplitude"), "µT", 0, 10000, _ ("Largest B1 of a pulse."));
  add_limit (self, "rf-dead", _ ("Before a pulse"), "µs", usual.rf_dead * 1e6, 1e6,
             _ ("Dead time of the transmitter: from the block's start to the pulse."));
  add_limit (self, "rf-ringdown", _ ("After a pulse"), "µs", usual.rf_ringdown * 1e6, 1e6,
             _ ("Ring-down time: from the pulse to the block's end."));
  add_limit (self, "adc-dead", _ ("Round a readout"), "µs", usual.adc_dead * 1e6, 1e6,
             _ ("Dead time of the receiver, before and after a readout."));
  g_signal_connect_object (self->limits, "changed", G_CALLBACK (limit_changed_cb), self, 0);
}

/* ---- which file ---- */

static const char *
path_of (LamSequenceFile *file)
{
  return file ? file->path : "";
}

/* Takes @file; NULL: none. */
static void
set_file (LamPulseqModel *self, LamSequenceFile *file)
{
  g_autoptr (GPtrArray) facts = file ? lam_sequence_file_facts (file) : g_ptr_array_new_with_free_func (g_object_unref);
  if (self->file) {
    g_clear_pointer (&self->last, lam_sequence_file_unref);
    self->last = self->file;
  }
  self->file = file;
  g_clear_pointer (&self->report, lam_limit_report_free);
  g_list_store_splice (self->facts, 0, g_list_model_get_n_items (G_LIST_MODEL (self->facts)), facts->pdata, facts->len);
  lam_pulseq_problems_fill (self->problems, file, NULL);
  lam_latest_ask (&self->checking, 0);
  g_signal_emit (self, signals[FILE_CHANGED], 0);
  g_signal_emit (self, signals[PROBLEMS_CHANGED], 0);
}

static void begin (LamPulseqModel *self, const char *path, gboolean record);

static void
apply_file (GObject *target, GVariant *state)
{
  LamPulseqModel *self = LAM_PULSEQ_MODEL (target);
  const char *path = g_variant_get_string (state, NULL);
  lam_pulseq_model_cancel (self);
  if (!*path)
    set_file (self, NULL);
  else if (self->last && g_str_equal (self->last->path, path))
    set_file (self, lam_sequence_file_ref (self->last));
  else
    begin (self, path, FALSE);
}

static void
change_file (LamPulseqModel *self, LamSequenceFile *file, const char *name)
{
  g_autoptr (GVariant) before = g_variant_ref_sink (g_variant_new_string (path_of (self->file)));
  set_file (self, file);
  lam_undo_push (self->undo, name, G_OBJECT (self), apply_file, before, g_variant_new_string (path_of (file)));
}

/* ---- opening ---- */

typedef struct _Opening {
  gatomicrefcount refs; /* the model's, and the thread's */
  char *path;
  gboolean record;
  _Atomic int cancel, permille;
  LamSequenceFile *file;
  GError *error;
} Opening;

static void
opening_unref (gpointer job)
{
  Opening *o = job;
  if (!g_atomic_ref_count_dec (&o->refs))
    return;
  lam_sequence_file_unref (o->file);
  g_clear_error (&o->error);
  g_free (o->path);
  g_free (o);
}

static gboolean
is_cancelled (gpointer job)
{
  return ((Opening *) job)->cancel != 0;
}

static void
progressed (double fraction, const char *what, gpointer job)
{
  ((Opening *) job)->permille = (int) (1000 * fraction);
}

static gpointer
make_opening (gpointer owner)
{
  LamPulseqModel *self = owner;
  if (!self->wanted || self->closed)
    return NULL;
  Opening *o = g_new0 (Opening, 1);
  g_atomic_ref_count_init (&o->refs);
  o->path = g_steal_pointer (&self->wanted);
  o->record = self->record;
  g_atomic_ref_count_inc (&o->refs);
  self->job = o;
  return o;
}

static void
work_opening (gpointer job)
{
  Opening *o = job;
  LamIoControl control = {is_cancelled, progressed, o};
  o->file = lam_sequence_file_open (o->path, &control, &o->error);
}

static void
opened (gpointer owner, gpointer job)
{
  LamPulseqModel *self = owner;
  Opening *o = job;
  if (self->job == o)
    g_clear_pointer (&self->job, opening_unref);
  if (self->closed)
    return;
  if (!self->wanted) /* else another is asked for by now */
    g_clear_handle_id (&self->tell_source, g_source_remove);
  g_signal_emit (self, signals[PROGRESS], 0);
  if (o->cancel || self->wanted)
    return;
  if (o->error) {
    g_signal_emit (self, signals[FAILED], 0, o->error->message);
    return;
  }
  g_autofree char *name = g_strdup_printf (_ ("Open %s"), o->file->name);
  if (o->record)
    change_file (self, g_steal_pointer (&o->file), name);
  else
    set_file (self, g_steal_pointer (&o->file));
}

static gboolean
tell_cb (gpointer model)
{
  g_signal_emit (model, signals[PROGRESS], 0);
  return G_SOURCE_CONTINUE;
}

static void
begin (LamPulseqModel *self, const char *path, gboolean record)
{
  lam_pulseq_model_cancel (self);
  self->wanted = g_strdup (path);
  self->record = record;
  if (!self->tell_source)
    self->tell_source = g_timeout_add (TELL_MS, tell_cb, self);
  lam_latest_ask (&self->opening, 0);
  g_signal_emit (self, signals[PROGRESS], 0);
}

void
lam_pulseq_model_open (LamPulseqModel *self, const char *path)
{
  g_return_if_fail (LAM_IS_PULSEQ_MODEL (self) && path != NULL);
  begin (self, path, TRUE);
}

void
lam_pulseq_model_restore (LamPulseqModel *self, const char *path)
{
  g_return_if_fail (LAM_IS_PULSEQ_MODEL (self) && path != NULL);
  begin (self, path, FALSE);
}

void
lam_pulseq_model_cancel (LamPulseqModel *self)
{
  gboolean any = self->job || self->wanted;
  g_clear_pointer (&self->wanted, g_free);
  if (self->job)
    self->job->cancel = 1;
  g_clear_pointer (&self->job, opening_unref);
  g_clear_handle_id (&self->tell_source, g_source_remove);
  if (any && !self->closed)
    g_signal_emit (self, signals[PROGRESS], 0);
}

const char *
lam_pulseq_model_get_opening (LamPulseqModel *self, double *fraction)
{
  const char *path = self->wanted ? self->wanted : self->job ? self->job->path : NULL;
  if (fraction)
    *fraction = self->job ? self->job->permille / 1000.0 : 0;
  if (!path)
    return NULL;
  const char *slash = strrchr (path, G_DIR_SEPARATOR);
  return slash ? slash + 1 : path;
}

void
lam_pulseq_model_close_file (LamPulseqModel *self)
{
  lam_pulseq_model_cancel (self);
  if (!self->file)
    return;
  g_autofree char *name = g_strdup_printf (_ ("Close %s"), self->file->name);
  change_file (self, NULL, name);
}

LamSequenceFile *
lam_pulseq_model_get_file (LamPulseqModel *self)
{
  return self->file;
}

/* ---- what there is ---- */

GListModel *
lam_pulseq_model_get_facts (LamPulseqModel *self)
{
  return G_LIST_MODEL (self->facts);
}

LamParameterList *
lam_pulseq_model_get_limits (LamPulseqModel *self)
{
  return self->limits;
}

GListModel *
lam_pulseq_model_get_problems (LamPulseqModel *self)
{
  return G_LIST_MODEL (self->problems);
}

int64_t
lam_pulseq_model_count_problems (LamPulseqModel *self, int64_t *notes)
{
  const LamPulseq *s = self->file ? lam_sequence_file_seq (self->file) : NULL;
  int64_t n = s ? lam_pulseq_problems (s, LAM_PULSEQ_WARNING) + lam_pulseq_problems (s, LAM_PULSEQ_ERROR) : 0;
  for (int r = 0; self->report && r < LAM_RULES; r++)
    n += self->report->count[r];
  if (notes)
    *notes = s ? lam_pulseq_problems (s, LAM_PULSEQ_NOTE) : 0;
  return n;
}

char *
lam_pulseq_model_dup_summary (LamPulseqModel *self)
{
  int64_t n = lam_pulseq_model_count_problems (self, NULL);
  if (n == 0)
    return NULL;
  g_autofree char *count = g_strdup_printf (
      g_dngettext (NULL, "%" G_GINT64_FORMAT " problem", "%" G_GINT64_FORMAT " problems", (gulong) n), n);
  g_autofree char *first = NULL;
  if (self->report && self->report->breaches->len > 0)
    first = lam_pulseq_breach_line (self->file, &g_array_index (self->report->breaches, LamBreach, 0));
  else {
    g_autoptr (LamSequenceProblem) p = g_list_model_get_item (G_LIST_MODEL (self->problems), 0);
    first =
        p ? g_strdup_printf ("%s (%s)", lam_sequence_problem_get_text (p), lam_sequence_problem_get_where (p)) : NULL;
  }
  return g_strdup_printf ("%s: %s", count, first ? first : "");
}

gboolean
lam_pulseq_model_is_settled (LamPulseqModel *self)
{
  return !self->wanted && !self->job && lam_latest_is_idle (&self->opening) && lam_latest_is_idle (&self->checking);
}

/* ---- object ---- */

LamPulseqModel *
lam_pulseq_model_new (LamUndo *undo)
{
  LamPulseqModel *self = g_object_new (LAM_TYPE_PULSEQ_MODEL, NULL);
  self->undo = g_object_ref (undo);
  build_limits (self);
  return self;
}

void
lam_pulseq_model_close (LamPulseqModel *self)
{
  self->closed = TRUE;
  lam_pulseq_model_cancel (self);
  lam_latest_clear (&self->opening);
  lam_latest_clear (&self->checking);
}

static void
lam_pulseq_model_dispose (GObject *object)
{
  LamPulseqModel *self = LAM_PULSEQ_MODEL (object);
  lam_pulseq_model_close (self);
  g_clear_object (&self->limits);
  g_clear_object (&self->facts);
  g_clear_object (&self->problems);
  g_clear_object (&self->undo);
  G_OBJECT_CLASS (lam_pulseq_model_parent_class)->dispose (object);
}

static void
lam_pulseq_model_finalize (GObject *object)
{
  LamPulseqModel *self = LAM_PULSEQ_MODEL (object);
  lam_sequence_file_unref (self->file);
  lam_sequence_file_unref (self->last);
  lam_limit_report_free (self->report);
  G_OBJECT_CLASS (lam_pulseq_model_parent_class)->finalize (object);
}

static void
lam_pulseq_model_class_init (LamPulseqModelClass *klass)
{
  static const char *const names[N_SIGNALS] = {"file-changed", "progress", "failed", "problems-changed"};
  G_OBJECT_CLASS (klass)->dispose = lam_pulseq_model_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_pulseq_model_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = i == FAILED ? g_signal_new (names[i], LAM_TYPE_PULSEQ_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                             G_TYPE_NONE, 1, G_TYPE_STRING)
                             : g_signal_new (names[i], LAM_TYPE_PULSEQ_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                             G_TYPE_NONE, 0);
}

static void
lam_pulseq_model_init (LamPulseqModel *self)
{
  static const LamLatestFuncs opening = {"open sequence", make_opening, work_opening, opened, opening_unref},
                              checking = {"check limits", make_checking, work_checking, checked, free_checking};
  lam_latest_init (&self->opening, self, &opening);
  lam_latest_init (&self->checking, self, &checking);
  self->facts = g_list_store_new (LAM_TYPE_FACT);
  self->problems = g_list_store_new (LAM_TYPE_SEQUENCE_PROBLEM);
}
