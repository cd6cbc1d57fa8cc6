/* vcd.c: the solver's steps in order. What is done to a subset's image side is in vcd-image.c. */
#include "ct/vcd.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/direct.h"
#include "ct/vcd-private.h"

void
lam_vcd_params_default (LamVcdParams *params)
{
  *params = (LamVcdParams){.iterations = 15, .stop_percent = 0.2, .sigma_y = 1, .max_step = 1.5, .damping = TRUE};
  params->prior = lam_prior_params (2, 1.2, 1, 1, 1, 1, 1);
}

/* ---- plan ---- */

static int64_t
longest_subset (const LamVcd *vcd)
{
  int64_t n = vcd->p->list_n, longest = 1;
  for (int64_t i = vcd->params.first_iteration; i < LAM_MAX (vcd->params.iterations, vcd->params.first_iteration + 1);
       i++) {
    int64_t s = LAM_MIN (lam_granularity[lam_partition_level (i)], n);
    longest = LAM_MAX (longest, (n + s - 1) / s);
    if (i > vcd->params.first_iteration + 4)
      break;
  }
  return longest;
}

/* Host memory of the partitions alive at once: the four finest levels, or one coarse one. */
static int64_t
list_bytes (const LamVcd *vcd)
{
  int64_t fine = LAM_CLAMP (vcd->params.iterations - 3, 1, 4);
  return fine * vcd->p->list_n * 4;
}

static void
write_plan (LamVcd *vcd, LamVcdStart start)
{
  LamProjector *p = vcd->p;
  LamPlan *plan = vcd->plan;
  int prepare = lam_plan_add_phase (plan, "prepare"), begin = lam_plan_add_phase (plan, "start");
  int iterate = lam_plan_add_phase (plan, "iterate");
  int64_t list = vcd->longest, n = vcd->params.iterations - vcd->params.first_iteration;
  for (int d = 0; d < p->slices.devices; d++) {
    int64_t volume = lam_projector_volume_floats (p, d) * 4, sino = lam_projector_sino_floats (p, d) * 4;
    int64_t packed = lam_projector_packed_floats (p, d, list) * 4;
    lam_plan_add_buffer (plan, d, "recon", volume, prepare, iterate);
    lam_plan_add_buffer (plan, d, "error", sino, prepare, iterate);
    if (vcd->weighted)
      lam_plan_add_buffer (plan, d, "weights", sino, prepare, iterate);
    lam_plan_add_buffer (plan, d, "step", sino, begin, iterate);
    lam_plan_add_buffer (plan, d, "hessian", volume, begin, iterate);
    lam_plan_add_buffer (plan, d, "subset back", packed, iterate, iterate);
    lam_plan_add_buffer (plan, d, "subset gradient", packed, iterate, iterate);
    lam_plan_add_buffer (plan, d, "subset curvature", packed, iterate, iterate);
    lam_plan_add_buffer (plan, d, "subset step", packed, iterate, iterate);
    lam_plan_add_buffer (plan, d, "subset sums", lam_vcd_sums_bytes (vcd, d), iterate, iterate);
  }
  lam_projector_plan (p, plan, LAM_MIN (LAM_MAX (list, 4096), p->pixels), begin, iterate);
  lam_direct_plan (p, plan, begin, begin);
  lam_halos_plan (p, plan, begin, iterate);
  lam_volume_sums_plan (p, plan, iterate, iterate);
  lam_plan_add_buffer (plan, LAM_HOST, "subset lists", list_bytes (vcd), iterate, iterate);
  lam_projector_plan_copies (p, plan, "start", p->list_n, start == LAM_START_ZERO || start == LAM_START_RESUME ? 0 : 1,
                             start == LAM_START_DIRECT ? 2 : 1, begin);
  /* Iterations with as many subsets move as much. */
  int64_t counts[16] = {0};
  for (int64_t i = vcd->params.first_iteration; i < vcd->params.iterations; i++)
    counts[LAM_MIN (lam_partition_level (i), 7)]++;
  for (int level = 0; level < 8; level++)
    if (counts[level] > 0) {
      int64_t subsets = LAM_MIN (lam_granularity[level], p->list_n);
      lam_projector_plan_copies (p, plan, "iterations", (p->list_n + subsets - 1) / subsets,
                                 (double) counts[level] * (vcd->params.positivity ? 2 : 1), (double) counts[level],
                                 iterate);
    }
  for (int d = 0; d + 1 < p->slices.devices; d++)
    if (lam_placement_count (&p->slices, d + 1) > 0) {
      lam_plan_add_copy (plan, "halos", d, d + 1, (n * p->list_n + p->pixels) * 4, iterate);
      lam_plan_add_copy (plan, "halos", d + 1, d, (n * p->list_n + p->pixels) * 4, iterate);
    }
}

LamVcd *
lam_vcd_new (LamProjector *p, const LamVcdParams *params, gboolean weighted, LamVcdStart start, LamPlan *plan,
             GError **error)
{
  if (!lam_prior_check (&params->prior, error))
    return NULL;
  if (!(params->sigma_y > 0) || !isfinite (params->sigma_y) || !(params->max_step > 0)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "VCD: sigma_y %g and largest step %g must be positive",
                 params->sigma_y, params->max_step);
    return NULL;
  }
  LamVcd *vcd = g_new0 (LamVcd, 1);
  vcd->p = p;
  vcd->plan = lam_plan_ref (plan);
  vcd->params = *params;
  vcd->weighted = weighted;
  vcd->initial_scale = 1;
  vcd->iteration = params->first_iteration;
  vcd->longest = longest_subset (vcd);
  write_plan (vcd, start);
  return vcd;
}

void
lam_vcd_drop_lists (LamVcd *vcd)
{
  for (guint i = 0; i < G_N_ELEMENTS (vcd->levels); i++)
    g_clear_pointer (&vcd->levels[i], lam_partition_free);
}

void
lam_vcd_free (LamVcd *vcd)
{
  if (!vcd)
    return;
  lam_vcd_drop_lists (vcd);
  lam_plan_unref (vcd->plan);
  lam_free (vcd->damping);
  lam_free (vcd->shift);
  lam_free (vcd->norms);
  lam_free (vcd->host_sums);
  g_free (vcd);
}

/* What is kept for each slice. */
static gboolean
open_slices (LamVcd *vcd, GError **error)
{
  int64_t n = vcd->p->g.slices;
  if (!(vcd->norms = lam_alloc_n (n, sizeof *vcd->norms, "slice norms", error))
      || !(vcd->host_sums = lam_alloc_n (4 * n, sizeof *vcd->host_sums, "slice sums", error))
      || !(vcd->shift = lam_alloc_n (n, sizeof *vcd->shift, "slice means", error)))
    return FALSE;
  if (!vcd->params.damping || !vcd->p->g.cone)
    return TRUE;
  if (!(vcd->damping = lam_alloc_n (n, sizeof *vcd->damping, "slice damping", error)))
    return FALSE;
  lam_vcd_damping (vcd->p->geometry, vcd->host_sums);
  for (int64_t k = 0; k < n; k++)
    vcd->damping[k] = (float) (1 - vcd->host_sums[k]);
  return TRUE;
}

static gboolean
take (LamVcd *vcd, const char *name, LamShards *shards, GError **error)
{
  for (int d = 0; d < vcd->p->slices.devices; d++)
    if (!(shards->at[d] = lam_plan_take (vcd->plan, d, name, error)))
      return FALSE;
  return TRUE;
}

gboolean
lam_vcd_open (LamVcd *vcd, GError **error)
{
  return open_slices (vcd, error) && take (vcd, "recon", &vcd->volume, error) && take (vcd, "error", &vcd->error, error)
         && (!vcd->weighted || take (vcd, "weights", &vcd->weights, error));
}

/* ---- start ---- */

typedef struct {
  LamVcd *vcd;
  LamDevice *device;
  int what;
  double scale;
} Start;

enum { DOT_PP, DOT_PY, SUM_W, ONES, MAKE_ERROR, SCALE_VOLUME };

static void
start_view (int64_t v, int worker, void *data)
{
  const Start *s = data;
  LamVcd *vcd = s->vcd;
  LamProjector *p = vcd->p;
  int d = s->device->index;
  gboolean slices = p->layout == LAM_LAYOUT_SLICES;
  int64_t floats = lam_projector_view_floats (p), stride = lam_projector_line_stride (p);
  int64_t lines = slices ? p->g.channels : p->g.rows, n = slices ? p->g.rows : p->g.channels;
  float *made = vcd->made.at[d] + v * floats, *e = vcd->error.at[d] + v * floats;
  const float *w = vcd->weighted ? vcd->weights.at[d] + v * floats : NULL;
  double *sum = &p->work[d].sums[v], scale = s->scale;
  switch (s->what) {
  case DOT_PP:
    *sum = p->kernels->dot (lines, n, stride, made, made, w);
    break;
  case DOT_PY:
    *sum = p->kernels->dot (lines, n, stride, made, e, w);
    break;
  case SUM_W:
    *sum = 0;
    for (int64_t j = 0; j < lines; j++)
      for (int64_t i = 0; i < n; i++)
        *sum += w ? w[j * stride + i] : 1;
    break;
  case ONES:
    for (int64_t i = 0; i < floats; i++)
      made[i] = 1;
    break;
  case MAKE_ERROR: /* e = y - scale p, times w where there are weights */
    for (int64_t j = 0; j < lines; j++)
      for (int64_t i = j * stride; i < j * stride + n; i++) {
        float r = (float) (e[i] - scale * made[i]);
        e[i] = !w ? r : w[i] > 0 ? w[i] * r : 0;
      }
    break;
  default:
    g_assert_not_reached ();
  }
}

static gboolean
start_device (LamDevice *device, void *data, GError **error)
{
  Start s = *(const Start *) data;
  LamProjector *p = s.vcd->p;
  s.device = device;
  if (s.what == SCALE_VOLUME) {
    int64_t n = lam_projector_volume_floats (p, device->index);
    float *x = s.vcd->volume.at[device->index];
    for (int64_t i = 0; i < n; i++)
      x[i] = (float) (x[i] * s.scale);
    return TRUE;
  }
  lam_device_for (device, lam_placement_count (&p->views, device->index), start_view, &s);
  return lam_control_go_on (p->control, error);
}

/* Runs one of the small passes; @sum gets the views' doubles added by index. */
static gboolean
pass (LamVcd *vcd, int what, double scale, double *sum, GError **error)
{
  Start s = {vcd, NULL, what, scale};
  LamProjector *p = vcd->p;
  if (!lam_devices_run (p->set, start_device, &s, error))
    return FALSE;
  if (!sum)
    return TRUE;
  *sum = 0;
  for (int d = 0; d < p->slices.devices; d++) {
    int64_t n = lam_placement_count (&p->views, d);
    g_autofree double *host = g_new (double, n + 1);
    lam_copy (p->set, LAM_HOST, host, n * 8, d, p->work[d].sums, n * 8, n * 8, 1);
    for (int64_t v = 0; v < n; v++)
      *sum += host[v];
  }
  return TRUE;
}

gboolean
lam_vcd_start (LamVcd *vcd, LamVcdStart start, GError **error)
{
  LamProjector *p = vcd->p;
  double pp = 0, py = 0;
  if (!lam_projector_open (p, vcd->plan, error) || !take (vcd, "step", &vcd->made, error)
      || !take (vcd, "hessian", &vcd->hessian, error) || !lam_halos_open (p, vcd->plan, &vcd->halos, error)
      || !pass (vcd, SUM_W, 0, &vcd->sum_w, error))
    return FALSE;
  lam_control_progress (p->control, "start image", 0, 4);
  if (start == LAM_START_DIRECT
      && (!lam_direct_filter (p, &vcd->error, &vcd->made, error)
          || !lam_direct_back (p, &vcd->made, &vcd->volume, error)))
    return FALSE;
  if (start == LAM_START_ZERO && !lam_projector_zero (p, &vcd->volume, TRUE, error))
    return FALSE;
  lam_control_progress (p->control, "start image", 2, 4);
  if (start == LAM_START_ZERO) {
    if (!lam_projector_zero (p, &vcd->made, FALSE, error) || !pass (vcd, MAKE_ERROR, 0, NULL, error))
      return FALSE;
  } else if (start != LAM_START_RESUME) {
    if (!lam_projector_forward (p, &vcd->volume, &vcd->made, error))
      return FALSE;
    if (start == LAM_START_DIRECT || start == LAM_START_SCALED) {
      if (!pass (vcd, DOT_PP, 0, &pp, error) || !pass (vcd, DOT_PY, 0, &py, error))
        return FALSE;
      vcd->initial_scale = pp > 0 ? py / pp : 1;
      if (!pass (vcd, SCALE_VOLUME, vcd->initial_scale, NULL, error))
        return FALSE;
    }
    if (!pass (vcd, MAKE_ERROR, vcd->initial_scale, NULL, error))
      return FALSE;
  }
  lam_control_progress (p->control, "Hessian", 3, 4);
  if (!vcd->weighted && !pass (vcd, ONES, 0, NULL, error))
    return FALSE;
  if (!lam_projector_back (p, vcd->weighted ? &vcd->weights : &vcd->made, &vcd->hessian, FALSE, TRUE, error)
      || !lam_halos_exchange (p, &vcd->volume, &vcd->halos, NULL, 0, NULL, NULL, error))
    return FALSE;
  return take (vcd, "subset back", &vcd->at_e, error) && take (vcd, "subset gradient", &vcd->g, error)
         && take (vcd, "subset curvature", &vcd->hp, error) && take (vcd, "subset step", &vcd->d, error)
         && lam_vcd_take_sums (vcd, error);
}

void
lam_vcd_damping (const LamGeometry *g, double *s)
{
  const double a = 0.25, b = 100, p = 0.7, c = 0.5;
  double dz = g->voxel_pitch * g->slice_aspect;
  gboolean moving = FALSE;
  for (int64_t v = 1; g->shifts && v < g->views; v++)
    moving |= g->shifts[v] != g->shifts[0];
  for (int64_t k = 0; k < g->recon_slices; k++) {
    double z = dz * ((double) k - (double) (g->recon_slices - 1) / 2) + g->slice_offset, sum = 0;
    int64_t views = moving ? g->views : 1;
    for (int64_t v = 0; v < views; v++) {
      double h = g->shifts ? g->shifts[v] : 0,
             t = (double) g->recon_rows * g->voxel_pitch * fabs (z - h) / (g->source_axis * dz);
      sum += (c * pow (t, p) + a * pow (b, p)) / (pow (t, p) + pow (b, p));
    }
    s[k] = sum / (double) views;
  }
}

/* ---- iterations ---- */

/* Whether A d is kept between making it and taking the step, or made again: by the problem's sizes alone. */
static gboolean
keep_made (const LamVcd *vcd, int64_t n)
{
  const LamProjectorGeometry *g = &vcd->p->g;
  if (g->layout == LAM_LAYOUT_PLANAR)
    return TRUE;
  return g->cone ? n * 2 > g->channels : n > g->channels * 8;
}

gboolean
lam_vcd_settle (LamVcd *vcd, GError **error)
{
  if (!vcd->has_pending)
    return TRUE;
  if (!lam_projector_apply_step (vcd->p, &vcd->error, vcd->weighted ? &vcd->weights : NULL, &vcd->pending, NULL, error))
    return FALSE;
  vcd->has_pending = FALSE;
  return TRUE;
}

static gboolean
visit (LamVcd *vcd, const int32_t *pixel, int64_t n, gboolean repeats, double *l1, double *step_sum, double *norms,
       GError **error)
{
  LamProjector *p = vcd->p;
  const double eps = 1.1920929e-7, lambda = 1 / (vcd->params.sigma_y * vcd->params.sigma_y);
  const LamShards *weights = vcd->weighted ? &vcd->weights : NULL;
  LamShards full;
  LamVcdSums sums;
  double ss = 0;
  gboolean kept = keep_made (vcd, n);
  if (!lam_vcd_direction (vcd, pixel, n, (float) lambda, &sums, error)
      || !lam_projector_forward_list (p, pixel, n, &vcd->d, &full, weights, kept ? &vcd->made : NULL, &ss, error))
    return FALSE;
  double alpha = sums.gd / (lambda * ss + sums.hdd + eps);
  alpha = LAM_CLAMP (alpha, eps, vcd->params.max_step);
  if (vcd->params.positivity) {
    double unused;
    if (!lam_vcd_clip (vcd, pixel, n, (float) (-1 / (alpha + eps)), &sums, error)
        || (kept ? !lam_projector_forward_list (p, pixel, n, &vcd->d, &full, weights, &vcd->made, &unused, error)
                 : !lam_projector_collect (p, &vcd->d, n, &full, error)))
      return FALSE;
  }
  if (!lam_vcd_update (vcd, pixel, n, (float) alpha, repeats, error))
    return FALSE;
  vcd->pending = (LamStep){pixel, n, full, (float) alpha, kept ? &vcd->made : NULL};
  vcd->has_pending = TRUE;
  *l1 += alpha * sums.abs;
  *step_sum += alpha;
  for (int64_t k = 0; k < p->g.slices; k++)
    norms[k] += alpha * alpha * sums.square[k];
  return TRUE;
}

static gboolean
iterate (LamVcd *vcd, const int32_t *pixel, const int64_t *begin, const int64_t *order, int64_t n, gboolean repeats,
         LamVcdStats *stats, GError **error)
{
  LamProjector *p = vcd->p;
  const LamShards *weights = vcd->weighted ? &vcd->weights : NULL;
  int64_t start = lam_clock_ns ();
  double l1 = 0, steps = 0, ee = 0;
  g_autofree char *what = g_strdup_printf ("iteration %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, vcd->iteration + 1,
                                           vcd->params.iterations);
  LamVolumeSums volume;
  memset (vcd->norms, 0, p->g.slices * sizeof *vcd->norms);
  for (int64_t s = 0; s < n; s++) {
    int64_t at = order ? order[s] : s, count = begin[at + 1] - begin[at];
    if (!lam_control_go_on (p->control, error))
      return FALSE;
    if (count > 0 && !visit (vcd, pixel + begin[at], count, repeats, &l1, &steps, vcd->norms, error))
      return FALSE;
    lam_control_progress (p->control, what, (double) (s + 1), (double) n);
    if (vcd->between)
      vcd->between (vcd, s + 1, n, vcd->between_data);
  }
  if (!lam_projector_apply_step (p, &vcd->error, weights, vcd->has_pending ? &vcd->pending : NULL, &ee, error))
    return FALSE;
  vcd->has_pending = FALSE;
  if (!lam_volume_sums (p, &vcd->params.prior, &vcd->volume, &vcd->halos, &volume, error))
    return FALSE;
  for (int64_t k = 0; k < p->g.slices; k++)
    vcd->norms[k] = sqrt (vcd->norms[k]);
  vcd->iteration++;
  *stats = (LamVcdStats){
      .iteration = vcd->iteration,
      .subsets = n,
      .change = volume.sum_abs > 0 ? l1 / volume.sum_abs
                : l1 > 0           ? 1
                                   : 0,
      .cost = (ee / (2 * vcd->params.sigma_y * vcd->params.sigma_y) + volume.prior_cost) / vcd->sum_w,
      .data_cost = sqrt (ee / vcd->sum_w) / vcd->params.sigma_y,
      .prior_cost = volume.prior_cost / (double) (p->pixels * p->g.slices),
      .mean_step = steps / (double) n,
      .seconds = (double) (lam_clock_ns () - start) / 1e9,
      .update_norms = vcd->norms,
  };
  return TRUE;
}

gboolean
lam_vcd_iterate (LamVcd *vcd, LamVcdStats *stats, GError **error)
{
  int level = lam_partition_level (vcd->iteration);
  LamPartition *part = vcd->levels[level];
  if (!part) {
    part = lam_partition_new (vcd->p->list, vcd->p->list_n, lam_granularity[level], vcd->params.seed, (uint64_t) level,
                              error);
    if (!part)
      return FALSE;
    for (int64_t s = 0; s < part->n; s++)
      lam_projector_sort_tiles (vcd->p, part->pixel + part->begin[s], part->begin[s + 1] - part->begin[s]);
    vcd->levels[level] = part;
    for (int l = 0; l < level && l < 7; l++) /* coarse levels are visited once */
      g_clear_pointer (&vcd->levels[l], lam_partition_free);
  }
  g_autofree int64_t *order = g_new (int64_t, part->n);
  lam_partition_order (vcd->params.seed, vcd->iteration, part->n, order);
  return iterate (vcd, part->pixel, part->begin, order, part->n, FALSE, stats, error);
}

gboolean
lam_vcd_iterate_given (LamVcd *vcd, const int32_t *pixel, const int64_t *begin, int64_t n, LamVcdStats *stats,
                       GError **error)
{
  return iterate (vcd, pixel, begin, NULL, n, TRUE, stats, error);
}
