/* sweep.c: the slices of a sweep. Only the detector rows that the slice sees are taken along. */
#include "run/sweep.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "run/live.h"
#include "run/sweep-private.h"

#define MAX_COUNT 99
#define MAX_ROUNDS 6    /* that halve the step */
#define FINEST 0.5      /* of a unit: no finer steps are made */
#define HALF_TURN 190.0 /* degrees: above it energy can tell */

static const char *const names[] = {"center", "tilt", "source-axis", "source-detector"};

const char *
lam_sweep_parameter_name (LamSweepParameter parameter)
{
  return (unsigned) parameter < LAM_SWEEP_COUNT ? names[parameter] : NULL;
}

gboolean
lam_sweep_parameter_from_name (const char *name, LamSweepParameter *parameter, GError **error)
{
  for (int i = 0; i < LAM_SWEEP_COUNT; i++)
    if (g_strcmp0 (name, names[i]) == 0) {
      *parameter = i;
      return TRUE;
    }
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "sweep of \"%s\": unknown; use center, tilt, source-axis or source-detector", name ? name : "");
  return FALSE;
}

void
lam_sweep_params_init (LamSweepParams *params, LamSweepParameter parameter)
{
  *params = (LamSweepParams){.parameter = parameter, .count = 9, .slice = -1};
}

int64_t
lam_sweep_slice (const LamGeometry *g, LamSweepParameter parameter)
{
  return parameter == LAM_SWEEP_TILT ? g->recon_slices / 4 : g->recon_slices / 2;
}

void
lam_sweep_result_unref (LamSweepResult *r)
{
  if (!r || !g_atomic_ref_count_dec (&r->refs))
    return;
  for (int i = 0; i < r->params.count; i++)
    g_clear_pointer (&r->steps[i].slice, lam_snapshot_unref);
  g_free (r->steps);
  g_free (r);
}

/* ---- what can be swept ---- */

static gboolean
is_cone (const LamGeometry *g)
{
  return g->kind == LAM_GEOMETRY_CONE;
}

static gboolean
is_distance (LamSweepParameter p)
{
  return p == LAM_SWEEP_SOURCE_AXIS || p == LAM_SWEEP_SOURCE_DETECTOR;
}

/* The geometry of a value: that of @g but for the parameter. */
static LamGeometry *
geometry_of (const LamGeometry *g, LamSweepParameter parameter, double value)
{
  LamGeometry *out = lam_geometry_copy (g);
  if (parameter == LAM_SWEEP_CENTER)
    lam_geometry_set_center (out, value);
  else if (is_distance (parameter)) {
    *(parameter == LAM_SWEEP_SOURCE_AXIS ? &out->source_axis : &out->source_detector) = value;
    double ratio = lam_geometry_magnification (g) / lam_geometry_magnification (out);
    out->voxel_pitch *= ratio;
    out->slice_offset *= ratio;
  }
  return out;
}

gboolean
lam_sweep_check (const LamDataset *d, const LamSweepParams *k, GError **error)
{
  const LamGeometry *g = d->geometry;
  if (!(k->from < k->to) || !isfinite (k->from) || !isfinite (k->to)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "sweep from %g to %g: the second must be the larger", k->from,
                 k->to);
    return FALSE;
  }
  if (k->count < 3 || k->count > MAX_COUNT) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "sweep of %d slices: expected 3 to %d", k->count, MAX_COUNT);
    return FALSE;
  }
  if (k->slice < -1 || k->slice >= g->recon_slices) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "sweep of slice %" G_GINT64_FORMAT ": the volume has slices 0 to %" G_GINT64_FORMAT, k->slice,
                 g->recon_slices - 1);
    return FALSE;
  }
  if (is_distance (k->parameter) && (!is_cone (g) || !isfinite (g->source_detector))) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "sweep of %s: this scan is %s and has no such distance",
                 lam_sweep_parameter_name (k->parameter),
                 is_cone (g) ? "cone beam with its source far away" : "parallel beam");
    return FALSE;
  }
  if (k->parameter == LAM_SWEEP_CENTER && (k->from < 0 || k->to > (double) (g->channels - 1))) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "sweep of center from %g to %g: the detector has channels 0 to %" G_GINT64_FORMAT, k->from, k->to,
                 g->channels - 1);
    return FALSE;
  }
  if (k->parameter == LAM_SWEEP_TILT && (k->from < -G_PI / 4 || k->to > G_PI / 4)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "sweep of tilt from %g to %g degrees: expected -45 to 45",
                 k->from * 180 / G_PI, k->to * 180 / G_PI);
    return FALSE;
  }
  for (int end = 0; end < 2; end++) {
    g_autoptr (LamGeometry) one = geometry_of (g, k->parameter, end ? k->to : k->from);
    if (!lam_geometry_check (one, error)) {
      g_prefix_error (error, "sweep of %s, value %g: ", lam_sweep_parameter_name (k->parameter), end ? k->to : k->from);
      return FALSE;
    }
  }
  return TRUE;
}

/* ---- the rows that the slice sees ---- */

typedef struct {
  const LamDataset *d;
  LamRange rows;
  double tilt;
  float *out;
} Extract;

static inline void
spline (double t, double w[4])
{
  double u = 1 - t;
  w[0] = u * u * u / 6;
  w[1] = (4 - 6 * t * t + 3 * t * t * t) / 6;
  w[2] = (4 - 6 * u * u + 3 * u * u * u) / 6;
  w[3] = t * t * t / 6;
}

/* Rows of a view as lam_rotate_detector () turns it, with a smooth kernel; outside counts as the edge. */
static void
turn_rows (const float *view, const LamGeometry *g, double tilt, LamRange rows, float *out)
{
  double c = cos (tilt), s = sin (tilt), cm = 0.5 * (double) (g->rows - 1), cn = 0.5 * (double) (g->channels - 1);
  for (int64_t m = rows.begin; m < rows.end; m++)
    for (int64_t n = 0; n < g->channels; n++) {
      double y = c * ((double) m - cm) + s * ((double) n - cn) + cm;
      double x = -s * ((double) m - cm) + c * ((double) n - cn) + cn;
      double y0 = floor (y), x0 = floor (x), wy[4], wx[4], sum = 0;
      spline (y - y0, wy);
      spline (x - x0, wx);
      for (int a = 0; a < 4; a++) {
        const float *line = view + LAM_CLAMP ((int64_t) y0 + a - 1, 0, g->rows - 1) * g->channels;
        for (int b = 0; b < 4; b++)
          sum += wy[a] * wx[b] * line[LAM_CLAMP ((int64_t) x0 + b - 1, 0, g->channels - 1)];
      }
      *out++ = (float) sum;
    }
}

static void
extract_view (int64_t view, int worker, void *data)
{
  const Extract *e = data;
  const LamGeometry *g = e->d->geometry;
  const float *from = e->d->sinogram + view * g->rows * g->channels;
  float *to = e->out + view * lam_range_size (e->rows) * g->channels;
  if (isnan (e->tilt))
    memcpy (to, from + e->rows.begin * g->channels, (size_t) (lam_range_size (e->rows) * g->channels) * sizeof *to);
  else
    turn_rows (from, g, e->tilt, e->rows, to);
}

/* The rows @rows as a dataset of their own; @tilt NAN: as they are. In parallel beam its volume is the slice. */
static LamDataset *
extract (LamDataset *d, LamRange rows, double tilt, GError **error)
{
  g_autoptr (LamGeometry) g = lam_geometry_try_copy (d->geometry, error);
  int64_t n = g ? g->views * lam_range_size (rows) * g->channels : 0;
  if (!g || !lam_geometry_crop (g, rows, (LamRange){0, g->channels}, error))
    return NULL;
  if (!is_cone (g))
    g->recon_slices = 1;
  float *out = lam_alloc_n (n, sizeof *out, "sweep: the rows of the slice", error);
  if (!out)
    return NULL;
  Extract e = {d, rows, tilt, out};
  lam_pool_for (lam_pool_shared (), g->views, extract_view, &e, NULL);
  return lam_dataset_new_take (d->name, g_steal_pointer (&g), out, NULL);
}

/* ---- the sweep ---- */

typedef struct {
  LamDataset *dataset;
  const LamSweepParams *k;
  LamRange rows;
  LamDataset *part; /* the rows that the slice sees; of a tilt: none */
  LamLive *live;    /* of part */
  SweepScore score;
  SweepPoint *points; /* [count + 2 MAX_ROUNDS] */
  int n, expected;
  LamControl *control;
} Sweep;

/* What one is of the parameter: an error that shows as one channel at the edge of the picture, roughly. */
static double
unit_of (const LamGeometry *g, LamSweepParameter parameter)
{
  double reach = 0.5 * (double) LAM_MAX (g->channels, 2), half_fan = lam_geometry_fan (g) * G_PI / 360;
  if (parameter == LAM_SWEEP_CENTER)
    return 1;
  if (parameter == LAM_SWEEP_TILT)
    return 1 / (0.5 * reach);
  double distance = parameter == LAM_SWEEP_SOURCE_AXIS ? g->source_axis : g->source_detector;
  return distance / (reach * fmax (half_fan * half_fan, 1e-6));
}

static LamSnapshot *
make_slice (Sweep *s, double value, GError **error)
{
  const LamSweepParams *k = s->k;
  LamDataset *part = s->part;
  gboolean distance = is_distance (k->parameter), tilt = k->parameter == LAM_SWEEP_TILT;
  g_autoptr (LamDataset) own = NULL;
  g_autoptr (LamLive) live = NULL;
  if (tilt && !(part = own = extract (s->dataset, s->rows, value, error)))
    return NULL;
  if (distance) {
    g_autoptr (LamGeometry) g = geometry_of (s->part->geometry, k->parameter, value);
    part = own = lam_dataset_with_geometry (s->part, g);
  }
  if (own)
    live = lam_live_new (own, k->devices);
  else if (!s->live)
    s->live = lam_live_new (s->part, k->devices);
  g_autoptr (LamGeometry) g = geometry_of (part->geometry, k->parameter, value);
  LamLiveRequest request = {.slice = is_cone (part->geometry) ? k->slice : 0, .channel_offset = g->channel_offset};
  LamSnapshot *made = lam_live_compute (live ? live : s->live, &request, error);
  if (!made || is_cone (part->geometry))
    return made;
  /* It is the only slice of its part, and one of many of the volume. */
  LamSnapshotInfo info = *lam_snapshot_info (made);
  float *pixels = lam_alloc_n (info.width * info.height, sizeof *pixels, "picture", error);
  if (pixels) {
    memcpy (pixels, lam_snapshot_pixels (made), (size_t) (info.width * info.height) * sizeof *pixels);
    info.index = k->slice;
    info.count = s->dataset->geometry->recon_slices;
  }
  lam_snapshot_unref (made);
  return pixels ? lam_snapshot_new_take (&info, pixels) : NULL;
}

/* One more point; the slice is the caller's. */
static LamSnapshot *
evaluate (Sweep *s, double value, GError **error)
{
  if (!lam_control_go_on (s->control, error))
    return NULL;
  lam_control_progress (s->control, "sweep", s->n, s->expected);
  g_autoptr (LamSnapshot) slice = make_slice (s, value, error);
  SweepPoint *p = &s->points[s->n];
  /* Attenuation per voxel is without a length. */
  if (!slice || !sweep_score_add (&s->score, slice, lam_snapshot_info (slice)->pitch_x, p, error))
    return NULL;
  p->value = value;
  s->n++;
  return g_steal_pointer (&slice);
}

/* Looks between the slices: @half from the sharpest, on both sides. */
static gboolean
look_between (Sweep *s, double half, GError **error)
{
  int best = 0;
  for (int i = 1; i < s->n; i++)
    if (sweep_score (&s->score, &s->points[i], -1) > sweep_score (&s->score, &s->points[best], -1))
      best = i;
  double middle = s->points[best].value;
  for (int side = -1; side <= 1; side += 2) {
    double value = middle + side * half;
    if (value < s->k->from || value > s->k->to)
      continue;
    g_autoptr (LamSnapshot) slice = evaluate (s, value, error);
    if (!slice)
      return FALSE;
  }
  return TRUE;
}

static gboolean
run (Sweep *s, LamSweepResult *r, LamSweepFunc func, gpointer data, GError **error)
{
  const LamSweepParams *k = s->k;
  const LamGeometry *g = s->dataset->geometry;
  double step = (k->to - k->from) / (k->count - 1), unit = unit_of (g, k->parameter), half = step;
  int rounds = 2;
  while (rounds < MAX_ROUNDS && step / (1 << rounds) > FINEST * unit)
    rounds++;
  s->expected = k->count + 2 * rounds;
  for (int i = 0; i < k->count; i++) {
    double value = i == k->count - 1 ? k->to : k->from + i * step;
    if (!(r->steps[i].slice = evaluate (s, value, error)))
      return FALSE;
    r->steps[i].value = value;
    r->steps[i].score = sweep_score (&s->score, &s->points[i], -1);
    if (func)
      func (&r->steps[i], i, data);
  }
  for (int i = 0; i < rounds; i++)
    if (!look_between (s, half /= 2, error))
      return FALSE;
  sweep_judge (&s->score, s->points, s->n, 2 * half, unit, r);
  if (k->parameter == LAM_SWEEP_SOURCE_AXIS) {
    r->best = g->source_axis;
    r->width = r->confidence = 0;
    r->note = "this distance only scales the picture: no sharpness can tell it";
  }
  lam_control_progress (s->control, "sweep", 1, 1);
  return TRUE;
}

LamSweepResult *
lam_sweep (LamDataset *dataset, const LamSweepParams *params, LamControl *control, LamSweepFunc func, gpointer data,
           GError **error)
{
  const LamGeometry *g = dataset->geometry;
  LamSweepParams k = *params;
  Sweep s = {.dataset = dataset, .k = &k, .control = control};
  if (!lam_sweep_check (dataset, params, error))
    return NULL;
  k.slice = k.slice < 0 ? lam_sweep_slice (g, k.parameter) : k.slice;
  s.score.relative = is_distance (k.parameter);
  s.score.entropy = k.parameter == LAM_SWEEP_TILT || (!is_cone (g) && lam_geometry_span (g) < HALF_TURN);
  for (int end = 0; end < 2; end++) {
    g_autoptr (LamGeometry) one = geometry_of (g, k.parameter, end ? k.to : k.from);
    LamRange seen = lam_geometry_rows_of_slice (one, k.slice);
    s.rows.begin = end ? LAM_MIN (s.rows.begin, seen.begin) : seen.begin;
    s.rows.end = end ? LAM_MAX (s.rows.end, seen.end) : seen.end;
  }
  g_autoptr (LamSweepResult) r = g_new0 (LamSweepResult, 1);
  g_atomic_ref_count_init (&r->refs);
  r->params = k;
  r->params.devices = NULL;
  r->steps = g_new0 (LamSweepStep, k.count);
  s.points = g_new0 (SweepPoint, k.count + 2 * MAX_ROUNDS);
  gboolean ok = (k.parameter == LAM_SWEEP_TILT || (s.part = extract (dataset, s.rows, NAN, error)))
                && run (&s, r, func, data, error);
  g_clear_object (&s.live);
  lam_dataset_unref (s.part);
  g_free (s.points);
  return ok ? g_steal_pointer (&r) : NULL;
}

/* ---- as a job ---- */

typedef struct {
  LamDataset *dataset;
  LamSweepParams params;
  char *devices;
  pthread_mutex_t lock;
  GArray *steps; /* of LamSweepStep */
} SweepJob;

static void
step_clear (gpointer data)
{
  g_clear_pointer (&((LamSweepStep *) data)->slice, lam_snapshot_unref);
}

static void
sweep_job_free (gpointer data)
{
  SweepJob *j = data;
  lam_dataset_unref (j->dataset);
  g_array_unref (j->steps);
  pthread_mutex_destroy (&j->lock);
  g_free (j->devices);
  g_free (j);
}

static GArray *
new_steps (void)
{
  GArray *a = g_array_new (FALSE, FALSE, sizeof (LamSweepStep));
  g_array_set_clear_func (a, step_clear);
  return a;
}

typedef struct {
  LamJob *job;
  SweepJob *data;
} Telling;

static void
tell_step (const LamSweepStep *step, int index, gpointer data)
{
  Telling *t = data;
  LamSweepStep copy = *step;
  int64_t small = t->data->params.small;
  copy.slice = small > 0 ? lam_snapshot_shrink (step->slice, small) : lam_snapshot_ref (step->slice);
  pthread_mutex_lock (&t->data->lock);
  g_array_append_val (t->data->steps, copy);
  pthread_mutex_unlock (&t->data->lock);
  g_autofree char *line = g_strdup_printf ("slice %d: value %.6g, score %.6g", index, step->value, step->score);
  lam_job_log (t->job, line);
}

static gboolean
sweep_run (LamJob *job, gpointer data, GError **error)
{
  SweepJob *j = data;
  Telling t = {job, j};
  LamSweepResult *r = lam_sweep (j->dataset, &j->params, lam_job_get_control (job), tell_step, &t, error);
  if (!r)
    return FALSE;
  lam_job_set_result (job, r, (GDestroyNotify) lam_sweep_result_unref);
  return TRUE;
}

static const char key[] = "lam-sweep";

LamJob *
lam_job_new_sweep (LamDataset *dataset, const LamSweepParams *params)
{
  SweepJob *j = g_new0 (SweepJob, 1);
  j->dataset = lam_dataset_ref (dataset);
  j->devices = g_strdup (params->devices);
  j->params = *params;
  j->params.devices = j->devices;
  j->steps = new_steps ();
  pthread_mutex_init (&j->lock, NULL);
  LamJob *job = lam_job_new (dataset->name, sweep_run, j, sweep_job_free);
  g_object_set_data (G_OBJECT (job), key, j);
  return job;
}

GArray *
lam_job_sweep_dup_steps (LamJob *job, guint from)
{
  SweepJob *j = g_object_get_data (G_OBJECT (job), key);
  if (!j)
    return NULL;
  GArray *steps = new_steps ();
  pthread_mutex_lock (&j->lock);
  for (guint i = from; i < j->steps->len; i++) {
    LamSweepStep copy = g_array_index (j->steps, LamSweepStep, i);
    lam_snapshot_ref (copy.slice);
    g_array_append_val (steps, copy);
  }
  pthread_mutex_unlock (&j->lock);
  return steps;
}
