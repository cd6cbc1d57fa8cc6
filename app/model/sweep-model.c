#include "config.h"

#include "model/sweep-model.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "model/session-private.h"

struct _LamSweepModel {
  GObject parent_instance;
  LamSession *session; /* not owned: the session's window owns both */
  LamSweepParameter parameter;
  char *unit;
  double scale, zero; /* of a step's value in the row's units, as they were at the start */
  LamJob *job;        /* that makes or made the slices */
  gboolean running;
  GArray *steps; /* of LamSweepStep, each with a reference */
  LamSeries *series;
};

G_DEFINE_FINAL_TYPE (LamSweepModel, lam_sweep_model, G_TYPE_OBJECT)

enum { CHANGED, FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* The row that a parameter of the sweep belongs to, and one of its units in those of the row; the axis counts channels of the
 * data, the row those of the file, from @zero. */
static LamParameter *
row (LamSweepModel *self, LamSweepParameter parameter, double *unit, double *zero)
{
  static const char *const ids[] = {"center", "tilt", "source_axis", "source_detector"};
  *unit = parameter == LAM_SWEEP_TILT ? 180 / G_PI
                                      : 1 / lam_session_distance_scale (lam_session_get_parameters (self->session));
  *zero = 0;
  if (parameter == LAM_SWEEP_CENTER) {
    *zero = lam_session_file_channel (self->session, 0);
    *unit = lam_session_file_channel (self->session, 1) - *zero;
  }
  return lam_parameter_list_find (lam_session_get_parameters (self->session), ids[parameter]);
}

static void
drop (LamSweepModel *self)
{
  if (self->job != NULL) {
    g_signal_handlers_disconnect_by_data (self->job, self);
    lam_job_cancel (self->job);
    lam_queue_remove (self->session->queue, self->job);
  }
  g_clear_object (&self->job);
  for (guint i = 0; i < self->steps->len; i++)
    g_clear_pointer (&g_array_index (self->steps, LamSweepStep, i).slice, lam_snapshot_unref);
  g_array_set_size (self->steps, 0);
  lam_series_clear (self->series);
  self->running = FALSE;
}

/* Other data: the values and slices of the old ones mean nothing here, and the job holds on to those. */
static void
data_changed_cb (LamSession *session, LamSweepModel *self)
{
  drop (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
changed_cb (LamJob *job, LamSweepModel *self)
{
  g_autoptr (GArray) fresh = lam_job_sweep_dup_steps (job, self->steps->len);
  double unit = self->scale, zero = self->zero;
  for (guint i = 0; fresh != NULL && i < fresh->len; i++) {
    LamSweepStep step = g_array_index (fresh, LamSweepStep, i);
    step.slice = lam_snapshot_ref (step.slice);
    g_array_append_val (self->steps, step);
    lam_series_append (self->series, zero + step.value * unit, &step.score);
  }
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
finished_cb (LamJob *job, LamSweepModel *self)
{
  g_autoptr (GError) error = lam_job_dup_error (job);
  changed_cb (job, self);
  self->running = FALSE;
  lam_queue_remove (self->session->queue, job);
  if (error != NULL && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
    g_signal_emit (self, signals[FAILED], 0, error);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lam_sweep_model_can (LamSweepModel *self, LamSweepParameter parameter)
{
  const LamGeometry *g = self->session->geometry;
  gboolean distance = parameter == LAM_SWEEP_SOURCE_AXIS || parameter == LAM_SWEEP_SOURCE_DETECTOR;
  return self->session->dataset != NULL && self->session->dataset->sinogram != NULL && g != NULL
         && (!distance || (g->kind == LAM_GEOMETRY_CONE && isfinite (g->source_detector)));
}

void
lam_sweep_model_suggest (LamSweepModel *self, LamSweepParameter parameter, double *from, double *to)
{
  const LamGeometry *g = self->session->geometry;
  double unit, zero, now = lam_parameter_get_number (row (self, parameter, &unit, &zero)), reach = 2;
  if (parameter == LAM_SWEEP_CENTER)
    reach = g != NULL ? fmax (rint ((double) g->channels * unit / 64), 4) : 4;
  else if (parameter != LAM_SWEEP_TILT)
    reach = isfinite (now) ? now * 0.05 : 1;
  *from = now - reach;
  *to = now + reach;
}

gboolean
lam_sweep_model_start (LamSweepModel *self, LamSweepParameter parameter, double from, double to, int count,
                       GError **error)
{
  g_return_val_if_fail (LAM_IS_SWEEP_MODEL (self) && parameter < LAM_SWEEP_COUNT, FALSE);
  LamSession *session = self->session;
  if (!lam_sweep_model_can (self, parameter)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("There are no data that this can be swept over."));
    return FALSE;
  }
  double unit, zero;
  LamParameter *p = row (self, parameter, &unit, &zero);
  g_autoptr (LamDataset) now = lam_dataset_with_geometry (session->dataset, session->geometry);
  LamSweepParams params;
  lam_sweep_params_init (&params, parameter);
  params.from = (from - zero) / unit;
  params.to = (to - zero) / unit;
  params.count = count;
  params.small = LAM_SWEEP_SMALL;
  if (parameter != LAM_SWEEP_TILT)
    params.slice = lam_slice_model_get_plane_index (session->slices, LAM_PLANE_SLICE);
  if (!lam_sweep_check (now, &params, error))
    return FALSE;
  drop (self);
  self->parameter = parameter;
  self->scale = unit;
  self->zero = zero;
  g_free (self->unit);
  self->unit = g_strdup (lam_parameter_get_unit (p));
  self->job = lam_job_new_sweep (now, &params);
  self->running = TRUE;
  g_signal_connect (self->job, "changed", G_CALLBACK (changed_cb), self);
  g_signal_connect (self->job, "finished", G_CALLBACK (finished_cb), self);
  lam_queue_add (session->queue, self->job);
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

void
lam_sweep_model_cancel (LamSweepModel *self)
{
  g_return_if_fail (LAM_IS_SWEEP_MODEL (self));
  if (self->running)
    lam_job_cancel (self->job);
}

gboolean
lam_sweep_model_get_running (LamSweepModel *self)
{
  return self->running;
}

const char *
lam_sweep_model_get_unit_of (LamSweepModel *self, LamSweepParameter parameter)
{
  double unit, zero;
  return lam_parameter_get_unit (row (self, parameter, &unit, &zero));
}

const char *
lam_sweep_model_get_unit (LamSweepModel *self)
{
  return self->unit != NULL ? self->unit : "";
}

guint
lam_sweep_model_get_n_steps (LamSweepModel *self)
{
  return self->steps->len;
}

void
lam_sweep_model_get_step (LamSweepModel *self, guint i, double *value, double *score, LamSnapshot **slice)
{
  g_return_if_fail (LAM_IS_SWEEP_MODEL (self) && i < self->steps->len);
  const LamSweepStep *step = &g_array_index (self->steps, LamSweepStep, i);
  *value = self->zero + step->value * self->scale;
  *score = step->score;
  *slice = step->slice;
}

LamSeries *
lam_sweep_model_get_series (LamSweepModel *self)
{
  return self->series;
}

gboolean
lam_sweep_model_get_best (LamSweepModel *self, double *value, double *width, double *confidence, const char **note)
{
  const LamSweepResult *result = self->job != NULL && !self->running ? lam_job_get_result (self->job) : NULL;
  if (result == NULL)
    return FALSE;
  *value = self->zero + result->best * self->scale;
  *width = result->width * self->scale;
  *confidence = result->confidence;
  *note = result->note;
  return TRUE;
}

void
lam_sweep_model_take (LamSweepModel *self, double value)
{
  g_return_if_fail (LAM_IS_SWEEP_MODEL (self));
  double unit, zero;
  LamParameter *p = row (self, self->parameter, &unit, &zero);
  g_autoptr (GError) error = NULL;
  double digits = pow (10, lam_parameter_get_digits (p));
  if (!lam_parameter_edit (p, g_variant_new_double (rint (value * digits) / digits), &error))
    g_signal_emit (self, signals[FAILED], 0, error);
}

static void
lam_sweep_model_dispose (GObject *object)
{
  LamSweepModel *self = LAM_SWEEP_MODEL (object);
  if (self->session != NULL) {
    drop (self);
    g_object_remove_weak_pointer (G_OBJECT (self->session), (gpointer *) &self->session);
  }
  self->session = NULL;
  g_clear_object (&self->series);
  G_OBJECT_CLASS (lam_sweep_model_parent_class)->dispose (object);
}

static void
lam_sweep_model_finalize (GObject *object)
{
  LamSweepModel *self = LAM_SWEEP_MODEL (object);
  g_array_unref (self->steps);
  g_free (self->unit);
  G_OBJECT_CLASS (lam_sweep_model_parent_class)->finalize (object);
}

static void
lam_sweep_model_class_init (LamSweepModelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_sweep_model_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_sweep_model_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", LAM_TYPE_SWEEP_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", LAM_TYPE_SWEEP_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  1, G_TYPE_ERROR);
}

static void
lam_sweep_model_init (LamSweepModel *self)
{
  self->steps = g_array_new (FALSE, FALSE, sizeof (LamSweepStep));
  self->series = lam_series_new (_ ("value"));
  lam_series_add_column (self->series, "sharpness", _ ("sharpness"), NULL);
}

LamSweepModel *
lam_sweep_model_new (LamSession *session)
{
  LamSweepModel *self = g_object_new (LAM_TYPE_SWEEP_MODEL, NULL);
  self->session = session;
  g_object_add_weak_pointer (G_OBJECT (session), (gpointer *) &self->session);
  g_signal_connect_object (session, "data-changed", G_CALLBACK (data_changed_cb), self, 0);
  return self;
}
