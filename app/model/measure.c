#include "config.h"

#include "model/measure.h"

#include <glib/gi18n.h>
#include <math.h>

#include "model/latest.h"
#include "model/units.h"

/* Between two workings out when pictures follow each other; a shape that is moved is followed at once. */
#define PICTURES_US 100000

struct _LamMeasure {
  GObject parent_instance;
  LamSliceModel *model;
  LamShape shapes[LAM_PLANES][LAM_MEASURE_SLOTS];
  LamMeasureSlot last[LAM_PLANES];
  LamLatest latest;
  LamShapeStats stats;
  LamProfile profile;
  gboolean has_stats, has_profile;
};

G_DEFINE_FINAL_TYPE (LamMeasure, lam_measure, G_TYPE_OBJECT)

enum { SHAPE_CHANGED, STATS_CHANGED, PROFILE_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* -- numbers, on a worker -- */

typedef struct {
  LamSnapshot *shot;
  LamPlane plane;
  LamShape shapes[LAM_MEASURE_SLOTS];
  LamShapeStats stats;
  LamProfile profile;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  lam_snapshot_unref (work->shot);
  g_free (work->profile.values);
  g_free (work);
}

static void
work_run (gpointer data)
{
  Work *work = data;
  const LamSnapshotInfo *info = lam_snapshot_info (work->shot);
  const LamShape *line = &work->shapes[LAM_MEASURE_LINE];
  LamProfile *p = &work->profile;
  if (work->shapes[LAM_MEASURE_REGION].kind != LAM_SHAPE_NONE)
    lam_shape_stats (&work->shapes[LAM_MEASURE_REGION], work->shot, &work->stats);
  if (line->kind == LAM_SHAPE_NONE)
    return;
  p->plane = work->plane;
  p->line = *line;
  p->length = lam_shape_length (line, info);
  g_strlcpy (p->unit, *info->length_unit != '\0' ? info->length_unit : "px", sizeof p->unit);
  g_strlcpy (p->value_unit, info->value_unit, sizeof p->value_unit);
  p->n = lam_shape_n_samples (line, info);
  p->values = g_new (float, p->n);
  lam_shape_sample (line, work->shot, p->n, p->values);
}

static gpointer
work_make (gpointer owner)
{
  LamMeasure *self = owner;
  LamPlane plane = lam_slice_model_get_plane (self->model);
  LamSnapshot *shot = lam_slice_model_get_snapshot (self->model);
  const LamShape *shapes = self->shapes[plane];
  if (shot == NULL
      || (shapes[LAM_MEASURE_REGION].kind == LAM_SHAPE_NONE && shapes[LAM_MEASURE_LINE].kind == LAM_SHAPE_NONE))
    return NULL;
  Work *work = g_new0 (Work, 1);
  work->shot = lam_snapshot_ref (shot);
  work->plane = plane;
  for (int i = 0; i < LAM_MEASURE_SLOTS; i++)
    work->shapes[i] = shapes[i];
  return work;
}

static void
work_done (gpointer owner, gpointer job)
{
  LamMeasure *self = owner;
  Work *work = job;
  /* A shape that has moved on meanwhile has had its work asked for again; its last numbers are better than none. */
  if (work->plane != lam_slice_model_get_plane (self->model))
    return;
  const LamShape *shapes = self->shapes[work->plane];
  if (work->shapes[LAM_MEASURE_REGION].kind != LAM_SHAPE_NONE
      && shapes[LAM_MEASURE_REGION].kind == work->shapes[LAM_MEASURE_REGION].kind) {
    self->stats = work->stats;
    self->has_stats = TRUE;
    g_signal_emit (self, signals[STATS_CHANGED], 0);
  }
  if (work->profile.values != NULL && shapes[LAM_MEASURE_LINE].kind != LAM_SHAPE_NONE) {
    g_free (self->profile.values);
    self->profile = work->profile;
    work->profile.values = NULL;
    self->has_profile = TRUE;
    g_signal_emit (self, signals[PROFILE_CHANGED], 0);
  }
}

static const LamLatestFuncs work_funcs = {"lam_measure", work_make, work_run, work_done, work_free};

gboolean
lam_measure_is_settled (LamMeasure *self)
{
  return lam_latest_is_idle (&self->latest);
}

/* -- shapes -- */

/* Numbers of what is no longer there go. */
static void
drop_numbers (LamMeasure *self, LamMeasureSlot slot)
{
  if (slot == LAM_MEASURE_REGION && self->has_stats) {
    self->has_stats = FALSE;
    g_signal_emit (self, signals[STATS_CHANGED], 0);
  } else if (slot == LAM_MEASURE_LINE && self->has_profile) {
    self->has_profile = FALSE;
    g_signal_emit (self, signals[PROFILE_CHANGED], 0);
  }
}

void
lam_measure_set_shape (LamMeasure *self, LamPlane plane, LamMeasureSlot slot, const LamShape *shape)
{
  g_return_if_fail (LAM_IS_MEASURE (self) && plane < LAM_PLANES && slot < LAM_MEASURE_SLOTS);
  LamShape none = {LAM_SHAPE_NONE, 0, 0, 0, 0}, *held = &self->shapes[plane][slot];
  if (shape == NULL || shape->kind == LAM_SHAPE_NONE)
    shape = &none;
  self->last[plane] = slot;
  if (lam_shape_equal (held, shape))
    return;
  gboolean other = held->kind != shape->kind;
  *held = *shape;
  if (plane == lam_slice_model_get_plane (self->model)) {
    if (other)
      drop_numbers (self, slot);
    lam_latest_ask (&self->latest, 0);
  }
  g_signal_emit (self, signals[SHAPE_CHANGED], 0, (int) plane, (int) slot);
}

const LamShape *
lam_measure_get_shape (LamMeasure *self, LamPlane plane, LamMeasureSlot slot)
{
  return &self->shapes[plane][slot];
}

gboolean
lam_measure_get_chosen (LamMeasure *self, LamPlane plane, LamMeasureSlot *slot)
{
  *slot = self->last[plane];
  if (self->shapes[plane][*slot].kind == LAM_SHAPE_NONE)
    *slot = *slot == LAM_MEASURE_REGION ? LAM_MEASURE_LINE : LAM_MEASURE_REGION;
  return self->shapes[plane][*slot].kind != LAM_SHAPE_NONE;
}

const LamShapeStats *
lam_measure_get_stats (LamMeasure *self)
{
  return self->has_stats ? &self->stats : NULL;
}

const LamProfile *
lam_measure_get_profile (LamMeasure *self)
{
  return self->has_profile ? &self->profile : NULL;
}

LamSliceModel *
lam_measure_get_model (LamMeasure *self)
{
  return self->model;
}

static void
snapshot_cb (LamSliceModel *model, GParamSpec *pspec, LamMeasure *self)
{
  if (lam_slice_model_get_snapshot (model) != NULL) {
    lam_latest_ask (&self->latest, PICTURES_US);
    return;
  }
  drop_numbers (self, LAM_MEASURE_REGION);
  drop_numbers (self, LAM_MEASURE_LINE);
}

static void
plane_cb (LamSliceModel *model, GParamSpec *pspec, LamMeasure *self)
{
  drop_numbers (self, LAM_MEASURE_REGION);
  drop_numbers (self, LAM_MEASURE_LINE);
  lam_latest_ask (&self->latest, 0);
}

/* -- in words -- */

static const LamShape *
shown_region (LamMeasure *self)
{
  return &self->shapes[lam_slice_model_get_plane (self->model)][LAM_MEASURE_REGION];
}

const char *
lam_measure_region_name (LamMeasure *self)
{
  const LamShape *s = shown_region (self);
  return s->kind == LAM_SHAPE_CIRCLE ? _ ("Circle") : s->kind == LAM_SHAPE_RECTANGLE ? _ ("Rectangle") : NULL;
}

/* As many digits as a tenth of a pixel is worth. */
static char *
format_length (double length, double pitch)
{
  int digits = pitch > 0 ? CLAMP ((int) ceil (-log10 (pitch)) + 1, 0, 9) : 0;
  return lam_units_format (length, digits);
}

char *
lam_measure_region_size (LamMeasure *self)
{
  const LamShape *s = shown_region (self);
  LamSnapshot *shot = lam_slice_model_get_snapshot (self->model);
  if (s->kind == LAM_SHAPE_NONE || shot == NULL)
    return NULL;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  gboolean mm = info->pitch_x > 0 && g_strcmp0 (info->length_unit, "px") != 0 && *info->length_unit != '\0';
  const char *unit = mm ? info->length_unit : "px";
  double px = mm ? info->pitch_x : 1, py = mm ? info->pitch_y : 1;
  if (s->kind == LAM_SHAPE_CIRCLE) {
    g_autofree char *r = mm ? format_length (s->x1 * px, px) : lam_units_format (s->x1, s->x1 == rint (s->x1) ? 0 : 1);
    return g_strdup_printf (_ ("r %s %s"), r, unit);
  }
  g_autofree char *w = mm ? format_length ((s->x1 - s->x0) * px, px) : lam_units_format (s->x1 - s->x0, 0);
  g_autofree char *h = mm ? format_length ((s->y1 - s->y0) * py, py) : lam_units_format (s->y1 - s->y0, 0);
  return g_strdup_printf (_ ("%s × %s %s"), w, h, unit);
}

/* Two digits of the spread; where there is none, as the window has it. */
char *
lam_measure_format (LamMeasure *self, double value)
{
  double low, high;
  lam_slice_model_get_level (self->model, &low, &high);
  double window = self->has_stats && self->stats.sd > 0 ? 10 * self->stats.sd : high - low;
  return isnan (value) ? g_strdup ("–") : lam_slice_model_format_value (value, window);
}

char *
lam_measure_describe (LamMeasure *self)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (self->model);
  g_autofree char *size = lam_measure_region_size (self);
  if (!self->has_stats || shot == NULL || size == NULL)
    return NULL;
  const LamShapeStats *s = &self->stats;
  g_autofree char *mean = lam_measure_format (self, s->mean), *sd = lam_measure_format (self, s->sd);
  g_autofree char *min = lam_measure_format (self, s->min), *max = lam_measure_format (self, s->max);
  return g_strdup_printf (_ ("%s, %s: mean %s, standard deviation %s, from %s to %s %s; %ld pixels, %ld not finite"),
                          lam_measure_region_name (self), size, mean, sd, min, max,
                          lam_snapshot_info (shot)->value_unit, (long) s->n, (long) (s->nans + s->infinities));
}

/* -- GObject -- */

static void
lam_measure_dispose (GObject *object)
{
  LamMeasure *self = LAM_MEASURE (object);
  lam_latest_clear (&self->latest);
  G_OBJECT_CLASS (lam_measure_parent_class)->dispose (object);
}

static void
lam_measure_finalize (GObject *object)
{
  LamMeasure *self = LAM_MEASURE (object);
  g_clear_object (&self->model);
  g_free (self->profile.values);
  G_OBJECT_CLASS (lam_measure_parent_class)->finalize (object);
}

static void
lam_measure_class_init (LamMeasureClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->dispose = lam_measure_dispose;
  object_class->finalize = lam_measure_finalize;
  signals[SHAPE_CHANGED] = g_signal_new ("shape-changed", LAM_TYPE_MEASURE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                         G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_INT);
  signals[STATS_CHANGED] =
      g_signal_new ("stats-changed", LAM_TYPE_MEASURE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PROFILE_CHANGED] =
      g_signal_new ("profile-changed", LAM_TYPE_MEASURE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_measure_init (LamMeasure *self)
{
  lam_latest_init (&self->latest, self, &work_funcs);
}

LamMeasure *
lam_measure_new (LamSliceModel *model)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (model), NULL);
  LamMeasure *self = g_object_new (LAM_TYPE_MEASURE, NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "notify::snapshot", G_CALLBACK (snapshot_cb), self, 0);
  g_signal_connect_object (model, "notify::plane", G_CALLBACK (plane_cb), self, 0);
  return self;
}
