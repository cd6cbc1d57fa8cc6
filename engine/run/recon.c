#include "run/recon.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "ct/direct.h"
#include "io/volume.h"
#include "run/recon-private.h"

void
lam_recon_log (LamRecon *r, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *line = g_strdup_vprintf (format, args);
  va_end (args);
  g_string_append_printf (r->result->log, "%s\n", line);
  if (r->hooks && r->hooks->log)
    r->hooks->log (line, r->hooks->data);
}

void
lam_recon_add_iteration (LamRecon *r, const LamReconIteration *it)
{
  g_array_append_val (r->result->iterations, *it);
  if (r->hooks && r->hooks->iteration)
    r->hooks->iteration (it, r->hooks->data);
}

/* ---- plan ---- */

/* Up to so many pixels of a slice a forecast counts those of the region; it estimates them in larger ones. */
#define COUNTED_PIXELS (INT64_C (1) << 26)

/* Angles, filters, sums of slices: what lives outside the large arrays, at most. */
static int64_t
table_bytes (const LamGeometry *g)
{
  return 4096 + 32 * g->views + 96 * g->channels + 80 * g->recon_slices;
}

/* Phases of the host's own arrays go around those that the solver writes: it adds "prepare", "start", "iterate". */
static void
plan_host (LamPlan *plan, const LamGeometry *g, gboolean weighted, gboolean host_data, const LamReconParams *params,
           int last)
{
  int64_t sino = lam_mul_size (lam_mul_size (g->views, g->rows), lam_mul_size (g->channels, 4));
  int64_t volume = lam_mul_size (lam_mul_size (g->recon_rows, g->recon_columns), lam_mul_size (g->recon_slices, 4));
  int keep = params->consume ? 0 : last;
  if (host_data) {
    lam_plan_add_buffer (plan, LAM_HOST, "sinogram", sino, 0, keep);
    if (weighted)
      lam_plan_add_buffer (plan, LAM_HOST, "weights", sino, 0, keep);
  }
  lam_plan_add_buffer (plan, LAM_HOST, "tables", table_bytes (g), 0, last);
  if (params->held > 0)
    lam_plan_add_buffer (plan, LAM_HOST, "held beside", params->held, 0, last);
  gboolean from_file = params->method == LAM_METHOD_VCD && (params->init == LAM_INIT_FILE || params->resume);
  if (params->checkpoint || from_file) /* read before the first iteration, written after each */
    lam_plan_add_buffer (plan, LAM_HOST, "slab", lam_recon_slab_bytes (g), from_file ? 0 : last - 1, last - 1);
  lam_plan_add_buffer (plan, LAM_HOST, "region", lam_mul_size (lam_mul_size (g->recon_rows, g->recon_columns), 4), 0,
                       last);
  lam_plan_add_buffer (plan, LAM_HOST, "result", volume, last, last);
}

static LamVcdParams
vcd_params (const LamReconParams *k, double sigma_y, double sigma_x)
{
  LamVcdParams v;
  lam_vcd_params_default (&v);
  v.iterations = k->iterations;
  v.stop_percent = k->stop_percent;
  v.sigma_y = sigma_y;
  v.prior = lam_prior_params (k->p, k->q, k->t, sigma_x, k->neighbours[0], k->neighbours[1], k->neighbours[2]);
  v.max_step = k->max_step;
  v.positivity = k->positivity;
  v.damping = k->damping;
  v.seed = k->seed;
  return v;
}

static LamVcdStart
vcd_start (const LamReconParams *k)
{
  if (k->resume)
    return LAM_START_RESUME;
  return k->init == LAM_INIT_DIRECT ? LAM_START_DIRECT : k->init == LAM_INIT_ZERO ? LAM_START_ZERO : LAM_START_VOLUME;
}

/* Direct methods: "prepare" (host and device data), "filter", "back", "result". */
static void
plan_direct (LamProjector *p, LamPlan *plan)
{
  int prepare = lam_plan_add_phase (plan, "prepare"), filter = lam_plan_add_phase (plan, "filter"),
      back = lam_plan_add_phase (plan, "back");
  int result = lam_plan_add_phase (plan, "result");
  for (int d = 0; d < p->slices.devices; d++) {
    lam_plan_add_buffer (plan, d, "error", lam_projector_sino_floats (p, d) * 4, prepare, back);
    lam_plan_add_buffer (plan, d, "recon", lam_projector_volume_floats (p, d) * 4, back, result);
  }
  lam_direct_plan (p, plan, filter, filter);
  lam_projector_plan (p, plan, LAM_MIN (4096, p->pixels), back, back);
  lam_projector_plan_copies (p, plan, "back projection", p->list_n, 0, 1, back);
}

/* Writes the whole plan; @vcd gets the solver for method VCD. */
static gboolean
make_plan (LamProjector *p, LamPlan *plan, gboolean weighted, gboolean host_data, const LamReconParams *params,
           const LamVcdParams *v, LamVcd **vcd, GError **error)
{
  if (params->method == LAM_METHOD_VCD) {
    *vcd = lam_vcd_new (p, v, weighted, vcd_start (params), plan, error);
    if (!*vcd)
      return FALSE;
    int result = lam_plan_add_phase (plan, "result");
    lam_plan_extend (plan, "recon", result);
  } else
    plan_direct (p, plan);
  plan_host (plan, p->geometry, weighted, host_data, params, lam_plan_phases (plan) - 1);
  lam_plan_set_limits (plan, p->geometry->recon_slices, LAM_MIN (p->geometry->rows, p->geometry->channels));
  return TRUE;
}

LamPlan *
lam_recon_plan (const LamGeometry *geometry, gboolean weighted, gboolean host_data, const LamReconParams *params,
                GError **error)
{
  g_autoptr (LamDevices) set = lam_devices_new (params->devices, error);
  g_autoptr (LamVcd) vcd = NULL;
  g_autoptr (LamProjector) p = set ? lam_projector_new_sizes (geometry, set, error) : NULL;
  if (!p)
    return NULL;
  if (geometry->mask != LAM_MASK_NONE && p->pixels <= COUNTED_PIXELS) { /* as a run counts them */
    int32_t *pixels = lam_geometry_mask_pixels (geometry, &p->list_n, error);
    if (!pixels)
      return NULL;
    lam_free (pixels);
  }
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  LamVcdParams v = vcd_params (params, 1, 1);
  return make_plan (p, plan, weighted, host_data, params, &v, &vcd, error) ? g_steal_pointer (&plan) : NULL;
}

/* ---- pictures ---- */

static void
picture (LamRecon *r, const LamShards *volume, int64_t iteration, gboolean now)
{
  LamSnapshotInfo info = {.iteration = iteration};
  const LamGeometry *g = r->projector->geometry;
  if (!r->hooks || !r->hooks->wanted || !r->hooks->snapshot)
    return;
  /* The producer limits the rate: ten pictures a second. */
  int64_t time = lam_clock_ns ();
  if (!now && time - r->last_picture_ns < 100 * 1000000)
    return;
  if (!r->hooks->wanted (&info.plane, &info.index, &info.generation, r->hooks->data))
    return;
  lam_snapshot_describe (&info, g);
  if (info.index < 0 || info.index >= info.count)
    return;
  float *pixels = lam_alloc_n (info.width * info.height, 4, "picture", NULL);
  if (!pixels)
    return; /* a picture less; the run goes on */
  if (!lam_projector_get_plane (r->projector, volume, (int) info.plane, info.index, pixels, NULL)) {
    lam_free (pixels);
    return;
  }
  r->last_picture_ns = lam_clock_ns ();
  r->hooks->snapshot (lam_snapshot_new_take (&info, pixels), r->hooks->data);
}

static void
between_subsets (LamVcd *vcd, int64_t subset, int64_t subsets, void *data)
{
  LamRecon *r = data;
  picture (r, &vcd->volume, vcd->iteration, FALSE);
}

/* ---- the run ---- */

static gboolean
regularize (LamRecon *r, double *sigma_y, double *sigma_x, GError **error)
{
  const LamReconParams *k = r->params;
  LamRegularization *reg = &r->result->regularization;
  *sigma_y = k->sigma_y;
  *sigma_x = k->sigma_x;
  if (*sigma_y > 0 && *sigma_x > 0)
    return TRUE;
  if (!lam_auto_regularization (r->projector->geometry, r->dataset->sinogram, r->dataset->weights, k->snr_db,
                                k->sharpness, reg, error))
    return FALSE;
  if (!(*sigma_y > 0))
    *sigma_y = reg->sigma_y;
  if (!(*sigma_x > 0))
    *sigma_x = reg->sigma_x;
  g_autofree char *warnings = lam_regularization_warnings (reg);
  if (warnings)
    lam_recon_log (r, "%s", g_strchomp (warnings));
  lam_recon_log (r, "sigma_y %.4g, sigma_x %.4g (automatic: SNR %g dB, sharpness %g)", *sigma_y, *sigma_x, k->snr_db,
                 k->sharpness);
  return TRUE;
}

static gboolean
put_data (LamRecon *r, LamShards *sino, LamShards *weights, GError **error)
{
  if (!lam_projector_put_sino (r->projector, r->dataset->sinogram, sino, error)
      || (r->weighted && !lam_projector_put_sino (r->projector, r->dataset->weights, weights, error)))
    return FALSE;
  if (r->params->consume)
    lam_dataset_drop_arrays (r->dataset);
  return TRUE;
}

static gboolean
run_direct (LamRecon *r, GError **error)
{
  LamProjector *p = r->projector;
  for (int d = 0; d < p->slices.devices; d++)
    if (!(r->sino.at[d] = lam_plan_take (r->plan, d, "error", error)))
      return FALSE;
  g_autofree char *warning = lam_geometry_direct_warning (p->geometry);
  if (warning)
    lam_recon_log (r, "%s", warning);
  lam_control_progress (r->control, "filter", 0, 2);
  p->plan = r->plan;
  if (!put_data (r, &r->sino, NULL, error) || !lam_direct_filter (p, &r->sino, &r->sino, error))
    return FALSE;
  lam_control_progress (r->control, "back projection", 1, 2);
  for (int d = 0; d < p->slices.devices; d++)
    if (!(r->volume.at[d] = lam_plan_take (r->plan, d, "recon", error)))
      return FALSE;
  if (!lam_projector_open (p, r->plan, error) || !lam_direct_back (p, &r->sino, &r->volume, error))
    return FALSE;
  lam_control_progress (r->control, "done", 2, 2);
  picture (r, &r->volume, -1, TRUE);
  return TRUE;
}

/* The start image of the person's own. */
static gboolean
put_start (LamRecon *r, GError **error)
{
  const LamGeometry *g = r->projector->geometry;
  const LamReconParams *k = r->params;
  if (k->init == LAM_INIT_CURRENT)
    return lam_projector_put_volume (r->projector, k->init_volume, &r->vcd->volume, error);
  g_autoptr (LamVolume) v = lam_volume_open (k->init_path, NULL, LAM_LAYOUT_FROM_FILE, error);
  float *slab = v ? lam_plan_take (r->plan, LAM_HOST, "slab", error) : NULL;
  if (!slab)
    return FALSE;
  if (v->rows != g->recon_rows || v->columns != g->recon_columns || v->slices != g->recon_slices) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 ", the volume to start is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " (rows x columns x slices)",
                 k->init_path, v->rows, v->columns, v->slices, g->recon_rows, g->recon_columns, g->recon_slices);
    return FALSE;
  }
  for (int64_t i = 0, step = lam_recon_slab_rows (g); i < g->recon_rows; i += step) {
    LamRange range = {i, LAM_MIN (i + step, g->recon_rows)};
    int64_t n = lam_range_size (range) * g->recon_columns * g->recon_slices;
    if (!lam_volume_read_rows (v, range, slab, NULL, error))
      return FALSE;
    for (int64_t j = 0; j < n; j++)
      if (!isfinite (slab[j])) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                     "%s: voxel (%" G_GINT64_FORMAT ", ...) is not finite; a start image must be", k->init_path,
                     i + j / (g->recon_columns * g->recon_slices));
        return FALSE;
      }
    if (!lam_projector_put_rows (r->projector, range, slab, &r->vcd->volume, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
run_vcd (LamRecon *r, GError **error)
{
  LamVcd *vcd = r->vcd;
  LamReconParams *k = r->params;
  LamVcdStart start = vcd_start (k);
  if (!lam_vcd_open (vcd, error) || !put_data (r, &vcd->error, &vcd->weights, error)
      || (start == LAM_START_VOLUME && !put_start (r, error))
      || (start == LAM_START_RESUME && !lam_recon_resume_arrays (r, error)) || !lam_vcd_start (vcd, start, error))
    return FALSE;
  if (start == LAM_START_DIRECT)
    lam_recon_log (r, "start image: %s, scaled by %.4f",
                   k->method == LAM_METHOD_VCD && r->projector->g.cone ? "FDK" : "FBP", vcd->initial_scale);
  picture (r, &vcd->volume, vcd->iteration, TRUE);
  vcd->between = between_subsets;
  vcd->between_data = r;
  while (vcd->iteration < k->iterations) {
    LamVcdStats s;
    if (r->control && atomic_load (&r->control->stop_keep)) {
      r->result->stopped = TRUE;
      lam_recon_checkpoint (r, -1);
      break;
    }
    if (!lam_vcd_iterate (vcd, &s, error))
      return FALSE;
    LamReconIteration it = {s.iteration, s.subsets,    100 * s.change, s.cost,
                            s.data_cost, s.prior_cost, s.mean_step,    s.seconds};
    lam_recon_log (
        r, "iteration %" G_GINT64_FORMAT ": change %.3f %%, cost %.6g (data %.5g, prior %.5g), step %.2f, %.2f s",
        s.iteration, it.change_percent, s.cost, s.data_cost, s.prior_cost, s.mean_step, s.seconds);
    lam_recon_add_iteration (r, &it);
    picture (r, &vcd->volume, vcd->iteration, TRUE);
    lam_recon_checkpoint (r, s.seconds);
    if (it.change_percent < k->stop_percent) {
      lam_recon_log (r, "stopped: change %.3f %% is below %g %%", it.change_percent, k->stop_percent);
      break;
    }
  }
  r->volume = vcd->volume;
  return TRUE;
}

/* A volume that is not finite is no result: parameters of absurd size lead there. */
static gboolean
all_finite (const LamReconResult *r, GError **error)
{
  const LamGeometry *g = r->geometry;
  int64_t n = g->recon_rows * g->recon_columns * g->recon_slices, bad = 0, first = -1;
  for (int64_t i = 0; i < n; i++)
    if (!isfinite (r->volume[i])) {
      first = first < 0 ? i : first;
      bad++;
    }
  if (bad == 0)
    return TRUE;
  int64_t line = g->recon_columns * g->recon_slices;
  g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED,
               "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " voxels are not finite, the first at row %" G_GINT64_FORMAT
               ", column %" G_GINT64_FORMAT ", slice %" G_GINT64_FORMAT
               ": sigma_y (%g), sigma_x (%g) or the pixel pitch (%g %s) is out of proportion to the data",
               bad, n, first / line, first % line / g->recon_slices, first % g->recon_slices, r->sigma_y, r->sigma_x,
               g->channel_pitch, g->length_unit);
  return FALSE;
}

static gboolean
finish (LamRecon *r, GError **error)
{
  LamReconResult *result = r->result;
  const LamGeometry *g = r->projector->geometry;
  lam_plan_release_others (r->plan, "recon");
  if (r->vcd)
    lam_vcd_drop_lists (r->vcd);
  result->volume = lam_alloc_n (g->recon_rows * g->recon_columns * g->recon_slices, 4, "result", error);
  LamControl *control = r->projector->control;
  r->projector->control = NULL; /* what was kept is kept, whatever was pressed since */
  gboolean ok = result->volume && lam_projector_get_volume (r->projector, &r->volume, result->volume, error);
  r->projector->control = control;
  lam_recon_measure (r);
  return ok && all_finite (result, error);
}

static gboolean
run (LamRecon *r, GError **error)
{
  LamReconParams *k = r->params;
  double sigma_y = 1, sigma_x = 1;
  LamVcdParams v;
  r->set = lam_devices_new (k->devices, error);
  r->projector = r->set ? lam_projector_new (r->dataset->geometry, r->set, error) : NULL;
  if (!r->projector)
    return FALSE;
  r->projector->control = r->control;
  r->plan = lam_plan_new (r->set);
  v = vcd_params (k, 1, 1);
  if (k->method == LAM_METHOD_VCD && k->checkpoint && !lam_recon_stamp_data (r, error))
    return FALSE;
  if (k->method == LAM_METHOD_VCD && k->checkpoint && !k->resume && !lam_recon_may_replace (r, &v, error))
    return FALSE;
  if (k->method == LAM_METHOD_VCD && k->resume && !lam_recon_resume_params (r, &v, error))
    return FALSE;
  if (k->method == LAM_METHOD_VCD && !k->resume) {
    if (!regularize (r, &sigma_y, &sigma_x, error))
      return FALSE;
    v.sigma_y = sigma_y;
    v.prior.sigma_x = sigma_x;
  }
  r->result->sigma_y = v.sigma_y;
  r->result->sigma_x = v.prior.sigma_x;
  if (!make_plan (r->projector, r->plan, r->weighted, TRUE, k, &v, &r->vcd, error) || !lam_plan_fits (r->plan, error))
    return FALSE;
  r->result->plan_bytes = lam_plan_total (r->plan);
  lam_recon_log (r, "devices: %s (%s); plan %.1f MB", lam_devices_spec (r->set), lam_devices_reason (r->set),
                 (double) r->result->plan_bytes / 1e6);
  lam_devices_reset_counters (r->set);
  return (k->method == LAM_METHOD_VCD ? run_vcd (r, error) : run_direct (r, error)) && finish (r, error);
}

LamReconResult *
lam_reconstruct (LamDataset *dataset, const LamReconParams *params, LamControl *control, const LamReconHooks *hooks,
                 GError **error)
{
  if (!lam_recon_params_check (params, error))
    return NULL;
  g_return_val_if_fail (dataset->sinogram != NULL, NULL);
  LamGeometry *geometry = lam_geometry_try_copy (dataset->geometry, error);
  if (!geometry)
    return NULL;
  g_autoptr (LamReconResult) result = g_new0 (LamReconResult, 1);
  int64_t start = lam_clock_ns ();
  g_atomic_ref_count_init (&result->refs);
  result->geometry = geometry;
  result->iterations = g_array_new (FALSE, FALSE, sizeof (LamReconIteration));
  result->log = g_string_new (NULL);
  lam_recon_params_copy (params, &result->params);
  lam_provenance_copy (&dataset->made, &result->made);
  result->made.tilt = dataset->tilt;
  lam_memory_reset_peak ();
  LamRecon r = {.dataset = lam_dataset_ref (dataset),
                .params = &result->params,
                .control = control,
                .hooks = hooks,
                .result = result,
                .weighted = dataset->weights != NULL && params->method == LAM_METHOD_VCD};
  for (guint i = 0; i < dataset->log->len; i++)
    g_string_append_printf (result->log, "%s\n", (const char *) g_ptr_array_index (dataset->log, i));
  gboolean ok = run (&r, error);
  lam_vcd_free (r.vcd);
  lam_projector_free (r.projector);
  lam_plan_unref (r.plan);
  lam_devices_unref (r.set);
  lam_dataset_unref (r.dataset);
  result->params.init_volume = NULL;
  result->seconds = (double) (lam_clock_ns () - start) / 1e9;
  return ok ? g_steal_pointer (&result) : NULL;
}
