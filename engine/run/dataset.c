#include "run/dataset.h"

#include <math.h>
#include <string.h>

#include "core/device.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/plan.h"
#include "core/threadpool.h"
#include "ct/phantom.h"
#include "ct/projector.h"
#include "run/prepare-private.h"

LamDataset *
lam_dataset_new_take (const char *name, LamGeometry *geometry, float *sinogram, float *weights)
{
  LamDataset *d = g_new0 (LamDataset, 1);
  g_atomic_ref_count_init (&d->refs);
  d->name = g_strdup (name);
  d->geometry = geometry;
  d->sinogram = sinogram;
  d->weights = weights;
  d->log = g_ptr_array_new_with_free_func (g_free);
  lam_provenance_init (&d->made, name);
  return d;
}

LamDataset *
lam_dataset_with_geometry (LamDataset *d, const LamGeometry *geometry)
{
  LamDataset *v = lam_dataset_new_take (d->name, lam_geometry_copy (geometry), d->sinogram, d->weights);
  v->path = g_strdup (d->path);
  v->tilt = d->tilt;
  lam_provenance_clear (&v->made);
  lam_provenance_copy (&d->made, &v->made);
  v->parent = lam_dataset_ref (d);
  for (guint i = 0; i < d->log->len; i++)
    g_ptr_array_add (v->log, g_strdup (g_ptr_array_index (d->log, i)));
  return v;
}

LamDataset *
lam_dataset_ref (LamDataset *d)
{
  g_atomic_ref_count_inc (&d->refs);
  return d;
}

void
lam_dataset_drop_arrays (LamDataset *d)
{
  if (!d->parent) {
    lam_free (d->sinogram);
    lam_free (d->weights);
  }
  d->sinogram = d->weights = NULL;
}

void
lam_dataset_unref (LamDataset *d)
{
  if (!d || !g_atomic_ref_count_dec (&d->refs))
    return;
  lam_dataset_drop_arrays (d);
  lam_dataset_unref (d->parent);
  g_free (d->name);
  g_free (d->path);
  lam_provenance_clear (&d->made);
  lam_geometry_free (d->geometry);
  g_ptr_array_unref (d->log);
  g_free (d);
}

static void G_GNUC_PRINTF (2, 3) say (LamDataset *d, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (d->log, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
say_lines (LamDataset *d, const char *lines)
{
  g_auto (GStrv) each = lines ? g_strsplit (lines, "\n", -1) : NULL;
  for (char **line = each; line && *line; line++)
    if (**line)
      say (d, "%s", *line);
}

double
lam_provenance_channel (const LamProvenance *made, double channel)
{
  double bin = (double) LAM_MAX (made->bin, 1);
  return (double) made->first_channel + channel * bin + 0.5 * (bin - 1);
}

void
lam_dataset_use_center (LamDataset *d, const LamCenter *c)
{
  LamProvenance *made = &d->made;
  char channel[32], width[32], confidence[32];
  lam_geometry_set_center (d->geometry, c->channel);
  g_free (made->center_from);
  made->center_from = g_strdup_printf ("search: %s", c->method ? c->method : "-");
  made->center_offset = d->geometry->channel_offset;
  made->center_width = c->width * (double) made->bin;
  made->center_confidence = c->confidence;
  say (d, "centre of rotation (COR): channel %s \302\261 %s, confidence %s, found by %s%s%s%s",
       g_ascii_formatd (channel, sizeof channel, "%.2f", lam_provenance_channel (made, c->channel)),
       g_ascii_formatd (width, sizeof width, "%.2f", made->center_width),
       g_ascii_formatd (confidence, sizeof confidence, "%.2f", c->confidence), c->method ? c->method : "-",
       c->note ? " (" : "", c->note ? c->note : "", c->note ? ")" : "");
}

/* ---- the steps, cut by views over the pool ---- */

typedef struct {
  float *data, *weights;
  const float *flat, *dark;
  int64_t views, rows, channels, each;
  const LamTransmissionOptions *options;
  LamControl *control;
  LamTransmissionReport *reports; /* [pieces] */
  GError **errors;                /* [pieces] */
} Step;

static void
transmission_piece (int64_t index, int worker, void *data)
{
  const Step *s = data;
  int64_t first = index * s->each, n = LAM_MIN (s->each, s->views - first), at = first * s->rows * s->channels;
  lam_transmission (s->data + at, n, s->rows, s->channels, s->flat, s->dark, s->options,
                    s->weights ? s->weights + at : NULL, &s->reports[index], s->control, &s->errors[index]);
}

static gboolean
run_step (Step *s, LamPoolFunc func, LamTransmissionReport *sum, GError **error)
{
  int64_t pieces = LAM_MIN (s->views, 4 * (int64_t) lam_pool_threads (lam_pool_shared ()));
  gboolean ok = TRUE;
  s->each = (s->views + pieces - 1) / pieces;
  pieces = (s->views + s->each - 1) / s->each;
  s->reports = g_new0 (LamTransmissionReport, pieces);
  s->errors = g_new0 (GError *, pieces);
  lam_pool_for (lam_pool_shared (), pieces, func, s, NULL);
  for (int64_t i = 0; i < pieces; i++) {
    if (sum)
      lam_transmission_report_add (sum, &s->reports[i]);
    if (s->errors[i] && ok) {
      ok = FALSE;
      g_propagate_error (error, s->errors[i]);
    } else
      g_clear_error (&s->errors[i]);
  }
  g_free (s->reports);
  g_free (s->errors);
  return ok && lam_control_go_on (s->control, error);
}

typedef struct {
  LamControl *control;
} Io;

static gboolean
io_cancelled (gpointer data)
{
  return lam_control_cancelled (((Io *) data)->control);
}

static void
io_progress (double fraction, const char *what, gpointer data)
{
  lam_control_progress (((Io *) data)->control, what, fraction, 1);
}

/* Reads what the scan has into @d; the rows of @rows. */
static gboolean
read_arrays (LamDataset *d, LamScan *scan, const LamPrepareParams *params, LamRange rows, float **flat, float **dark,
             LamControl *control, GError **error)
{
  Io io = {control};
  LamIoControl ioc = {io_cancelled, io_progress, &io};
  int64_t n = lam_range_size (rows), channels = scan->geometry->channels, view = lam_mul_size (n, channels);
  gboolean weighted = lam_prepare_weighted (params, scan);
  float *flats = NULL, *darks = NULL;
  gboolean ok = FALSE;
  d->sinogram = lam_alloc_n (lam_mul_size (scan->geometry->views, view), 4, "projections", error);
  if (d->sinogram && weighted)
    d->weights = lam_alloc_n (lam_mul_size (scan->geometry->views, view), 4, "weights", error);
  if (!d->sinogram || (weighted && !d->weights))
    return FALSE;
  if (scan->kind == LAM_SCAN_COUNTS) {
    if (scan->flats > 0
        && (!(flats = lam_alloc_n (lam_mul_size (scan->flats, view), 4, "flats", error))
            || !(*flat = lam_alloc_n (view, 4, "mean flat", error))))
      goto out;
    if (scan->darks > 0
        && (!(darks = lam_alloc_n (lam_mul_size (scan->darks, view), 4, "darks", error))
            || !(*dark = lam_alloc_n (view, 4, "mean dark", error))))
      goto out;
  }
  if (!lam_scan_read (scan, rows, d->sinogram, flats, darks, scan->has_weights ? d->weights : NULL, &ioc, error))
    goto out;
  if (flats && !lam_mean_frames (flats, scan->flats, n, channels, *flat, error))
    goto out;
  if (darks && !lam_mean_frames (darks, scan->darks, n, channels, *dark, error))
    goto out;
  if (d->weights && !scan->has_weights)
    for (int64_t i = 0; i < scan->geometry->views * view; i++)
      d->weights[i] = 1;
  ok = TRUE;
out:
  lam_free (flats);
  lam_free (darks);
  return ok;
}

/* ---- counts that give no transmission: told where they are met, by dataset ---- */

static const char *
becomes (const LamPrepareParams *params)
{
  return params->transmission.policy == LAM_DEFECT_MASK ? "given weight 0" : "filled from their neighbours";
}

/* The mean flat against the mean dark. Pixels without light make defects of their samples; nothing but such is an error. */
static gboolean
judge_flats (LamDataset *d, const LamScan *scan, const LamPrepareParams *params, LamRange rows, const float *flat,
             const float *dark, GError **error)
{
  int64_t channels = d->geometry->channels, n = lam_range_size (rows) * channels, first = -1;
  int64_t strange = 0, zero = 0, equal = 0, below = 0;
  for (int64_t i = 0; i < n; i++) {
    double f = flat[i], z = dark ? dark[i] : 0;
    gboolean odd = !isfinite (f) || !isfinite (z), bad = odd || f == 0 || f == z;
    strange += odd;
    zero += !odd && f == 0;
    equal += !odd && f != 0 && f == z;
    below += !bad && f < z;
    first = bad && first < 0 ? i : first;
  }
  int64_t bad = strange + zero + equal;
  g_autofree char *place = g_strdup_printf ("%s: dataset %s", scan->path, scan->flats_path);
  g_autofree char *why = g_strdup_printf ("%" G_GINT64_FORMAT " are 0, %" G_GINT64_FORMAT
                                          " equal the darks%s%s, %" G_GINT64_FORMAT " are not finite",
                                          zero, equal, dark ? " of " : "", dark ? scan->darks_path : "", strange);
  if (bad == n) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: none of the %" G_GINT64_FORMAT
                 " pixels of the mean flat is usable (%s), so counts cannot be made "
                 "transmission; give a file whose flats were taken with the beam on, or --data sinogram if the samples "
                 "are -log transmission already",
                 place, n, why);
    return FALSE;
  }
  if (bad > 0)
    say (d,
         "%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pixels of the mean flat are unusable (%s), the first at row "
         "%" G_GINT64_FORMAT ", channel %" G_GINT64_FORMAT ": their samples are %s",
         place, bad, n, why, rows.begin + first / channels, first % channels, becomes (params));
  if (below > n / 2)
    say (d,
         "%s: the mean flat is below the mean dark (%s) in %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
         " pixels: were the two exchanged?",
         place, dark ? scan->darks_path : "0", below, n);
  return TRUE;
}

/* Counts that are no numbers. */
static gboolean
judge_counts (LamDataset *d, const LamScan *scan, const LamPrepareParams *params, LamRange rows, GError **error)
{
  int64_t channels = d->geometry->channels, view = lam_range_size (rows) * channels, n = d->geometry->views * view;
  int64_t bad = 0, first = -1;
  for (int64_t i = 0; i < n; i++)
    if (!isfinite (d->sinogram[i])) {
      first = first < 0 ? i : first;
      bad++;
    }
  if (bad == 0)
    return TRUE;
  if (bad == n) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: dataset %s: none of the %" G_GINT64_FORMAT
                 " counts is finite; finite numbers were expected: give another file",
                 scan->path, scan->data_path, n);
    return FALSE;
  }
  say (d,
       "%s: dataset %s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " counts are not finite, the first (%g) at view "
       "%" G_GINT64_FORMAT ", row %" G_GINT64_FORMAT ", channel %" G_GINT64_FORMAT ": %s",
       scan->path, scan->data_path, bad, n, d->sinogram[first], first / view, rows.begin + first % view / channels,
       first % channels, becomes (params));
  return TRUE;
}

/* All of it defects: what would be reconstructed is nothing but fillings. */
static gboolean
judge_transmission (const LamDataset *d, const LamScan *scan, const char *report, GError **error)
{
  const LamTransmissionReport *r = &d->made.counted;
  if (r->listed + r->non_finite + r->flat_dark + r->below < r->samples)
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s: dataset %s: none of the %" G_GINT64_FORMAT
               " counts gives a transmission above 0 (%s); check that they, the flats (%s) and the darks (%s) belong "
               "together, or give --data sinogram if the samples are -log transmission already",
               scan->path, scan->data_path, r->samples, report, scan->flats_path,
               scan->darks > 0 ? scan->darks_path : "none");
  return FALSE;
}

/* -log data have no transmission step that a bad pixel could be left out of. */
static gboolean
fill_listed (LamDataset *d, const LamScan *scan, const LamPrepareParams *params, GError **error)
{
  const LamGeometry *g = d->geometry;
  int64_t filled;
  g_autoptr (GBytes) bad = lam_prepare_bad_pixels (params, scan, NULL, NULL, d->log, error);
  return bad
         && lam_prepare_fill_listed (d->sinogram, g->views, g->rows, g->channels, bad, params->transmission.passes,
                                     &filled, error);
}

/* In place of what is there; a sample that had none gets none. */
static gboolean
make_weights (LamDataset *d, const LamScan *scan, const LamPrepareParams *params, GError **error)
{
  int64_t samples = d->geometry->views * d->geometry->rows * d->geometry->channels, out = 0;
  const char *name = lam_weights_name (params->made_weights);
  if (params->weights != LAM_PREPARE_WEIGHTS_MADE
      || (params->made_weights == LAM_WEIGHTS_UNWEIGHTED && !scan->has_weights))
    return TRUE;
  float *made = lam_alloc_n (samples, 4, "weights", error);
  if (!made)
    return FALSE;
  lam_make_weights (params->made_weights, d->sinogram, samples, made);
  for (int64_t i = 0; i < samples; i++) {
    out += !(d->weights[i] > 0);
    d->weights[i] = d->weights[i] > 0 ? made[i] : 0;
  }
  lam_free (made);
  if (scan->has_weights)
    say (d,
         "weights: %s, in place of those of the file (dataset %s); %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
         " samples have weight 0 there and stay left out",
         name, scan->weights_path, out, samples);
  else
    say (d, "weights: %s", name);
  return TRUE;
}

static gboolean
prepare (LamDataset *d, LamScan *scan, const LamPrepareParams *params, LamRange rows, const float *flat,
         const float *dark, LamControl *control, GError **error)
{
  LamGeometry *g = d->geometry;
  int64_t n = lam_range_size (rows);
  LamTransmissionOptions options = params->transmission;
  Step step = {.data = d->sinogram,
               .weights = d->weights,
               .flat = flat,
               .dark = dark,
               .views = g->views,
               .rows = n,
               .channels = g->channels,
               .options = &options,
               .control = control};
  double air;
  lam_control_progress (control, "preparing", 0, 1);
  if (scan->kind == LAM_SCAN_COUNTS) {
    if (!flat) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING,
                   "%s holds counts but no flat frames, so transmission cannot be made; give a file with "
                   "/exchange/data_white, or "
                   "-log data",
                   scan->path);
      return FALSE;
    }
    if (!judge_flats (d, scan, params, rows, flat, dark, error) || !judge_counts (d, scan, params, rows, error))
      return FALSE;
    GError *reason = NULL;
    g_autoptr (GBytes) bad = lam_prepare_bad_pixels (params, scan, flat, dark, d->log, &reason);
    if (reason) {
      g_propagate_error (error, reason);
      return FALSE;
    }
    options.defects = lam_bad_pixels_data (bad, &options.n_defects);
    if (!run_step (&step, transmission_piece, &d->made.counted, error))
      return FALSE;
    g_autofree char *text = lam_transmission_report_text (&d->made.counted, &params->transmission);
    if (!judge_transmission (d, scan, text, error))
      return FALSE;
    d->made.defects = g_strdup (lam_defect_policy_name (params->transmission.policy));
    say (d, "transmission of %" G_GINT64_FORMAT " samples: %s", d->made.counted.samples, text);
  }
  if (scan->kind != LAM_SCAN_COUNTS && params->bad_pixels && !fill_listed (d, scan, params, error))
    return FALSE;
  if (!lam_prepare_apply (&d->sinogram, &d->weights, g, params, scan, d->log, control, error))
    return FALSE;
  int64_t samples = g->views * g->rows * g->channels;
  if (!make_weights (d, scan, params, error))
    return FALSE;
  if (!lam_check_sinogram (d->sinogram, d->weights, NULL, g->views, g->rows, g->channels, error)) {
    g_prefix_error (error, "%s: ", scan->path);
    return FALSE;
  }
  if (d->weights)
    lam_clear_masked (d->sinogram, d->weights, samples);
  if (lam_air_level (d->sinogram, g->views, g->rows, g->channels, &air, NULL)) {
    g_autofree char *warning = lam_air_warning (air);
    say_lines (d, warning);
  }
  g_autofree char *warnings = lam_geometry_warnings (g);
  say_lines (d, warnings);
  if ((g->recon_rows > 0 || lam_geometry_auto_volume (g, error)) && lam_geometry_check (g, error))
    return TRUE;
  g_prefix_error (error, "%s: ", scan->path);
  return FALSE;
}

/* What is known before the samples are read. */
static void
tell_origin (LamDataset *d, const LamScan *scan, const LamPrepareParams *params, LamRange rows)
{
  LamProvenance *made = &d->made;
  made->stamp = scan->stamp;
  made->center_from = g_strdup (scan->center_from);
  made->slices = rows;
  made->slices_of = scan->file_rows;
  made->bin = params->bin;
  made->first_channel = params->crop_channels.begin;
  made->bad_pixels = params->bad_pixels_from ? g_path_get_basename (params->bad_pixels_from) : NULL;
  gboolean given = scan->has_weights && params->weights != LAM_PREPARE_WEIGHTS_MADE;
  made->weights = g_strdup (given ? "of the file" : lam_weights_name (params->made_weights));
}

LamDataset *
lam_dataset_load (LamScan *scan, const LamPrepareParams *params, LamControl *control, GError **error)
{
  if (!lam_scan_complete (scan, error))
    return NULL;
  if (!lam_prepare_params_check (params, scan, error))
    return NULL;
  LamRange rows = lam_prepare_rows (params, scan);
  g_autofree char *name = g_path_get_basename (scan->path);
  LamGeometry *geometry = lam_geometry_try_copy (scan->geometry, error);
  if (!geometry)
    return NULL;
  g_autoptr (LamDataset) d = lam_dataset_new_take (name, geometry, NULL, NULL);
  float *flat = NULL, *dark = NULL;
  d->path = g_strdup (scan->path);
  d->tilt = params->tilt;
  tell_origin (d, scan, params, rows);
  if (lam_range_size (rows) != d->geometry->rows) {
    LamRange channels = {0, d->geometry->channels};
    LamRange relative = {rows.begin - scan->rows.begin, rows.end - scan->rows.begin};
    if (!lam_geometry_crop (d->geometry, relative, channels, error))
      return NULL;
  }
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    gboolean center = g_str_equal (f->field, "center"); /* what is used is said once it is known */
    if ((f->kind == LAM_FINDING_ASSUMED && !center) || f->kind == LAM_FINDING_WARNING)
      say (d, "%s", f->text);
  }
  gboolean ok = read_arrays (d, scan, params, rows, &flat, &dark, control, error)
                && prepare (d, scan, params, rows, flat, dark, control, error);
  lam_free (flat);
  lam_free (dark);
  d->made.center_offset = d->geometry->channel_offset;
  return ok ? g_steal_pointer (&d) : NULL;
}

/* ---- the example ---- */

static float *
example_sinogram (const LamGeometry *g, const float *volume, LamControl *control, GError **error)
{
  g_autoptr (LamDevices) set = lam_devices_new ("cpu", error);
  g_autoptr (LamProjector) p = set ? lam_projector_new (g, set, error) : NULL;
  if (!p)
    return NULL;
  g_autoptr (LamPlan) plan = lam_plan_new (set);
  LamShards x, y;
  lam_plan_add_phase (plan, "project");
  lam_plan_add_buffer (plan, 0, "recon", lam_projector_volume_floats (p, 0) * 4, 0, 0);
  lam_plan_add_buffer (plan, 0, "sinogram", lam_projector_sino_floats (p, 0) * 4, 0, 0);
  lam_projector_plan (p, plan, LAM_MIN (4096, p->pixels), 0, 0);
  p->control = control;
  if (!lam_projector_open (p, plan, error) || !(x.at[0] = lam_plan_take (plan, 0, "recon", error))
      || !(y.at[0] = lam_plan_take (plan, 0, "sinogram", error)))
    return NULL;
  float *host = lam_alloc_n (g->views * g->rows * g->channels, 4, "sinogram", error);
  if (host
      && (!lam_projector_put_volume (p, volume, &x, error) || !lam_projector_forward (p, &x, &y, error)
          || !lam_projector_get_sino (p, &y, host, error))) {
    lam_free (host);
    host = NULL;
  }
  return host;
}

LamDataset *
lam_dataset_example (LamGeometryKind kind, int64_t channels, LamControl *control, GError **error)
{
  gboolean cone = kind == LAM_GEOMETRY_CONE;
  int64_t n = channels > 0 ? channels : cone ? 128 : 256, rows = cone ? 64 : 24, views = cone ? 180 : 200;
  g_autoptr (LamGeometry) g = lam_geometry_new (kind, views, rows, n);
  lam_geometry_set_angles (g, 0, cone ? 2 * G_PI : G_PI);
  g->channel_offset = -3.4 * (double) n / 256; /* so that there is a centre to find */
  if (cone) {
    g->source_detector = 4.0 * (double) n;
    g->source_axis = 2.0 * (double) n;
  }
  if (!lam_geometry_auto_volume (g, error))
    return NULL;
  int64_t voxels = g->recon_rows * g->recon_columns * g->recon_slices;
  float *volume = lam_alloc_n (voxels, 4, "phantom", error);
  if (!volume)
    return NULL;
  float *sinogram = NULL;
  if (lam_phantom_fill (LAM_PHANTOM_TOOTH, g->recon_rows, g->recon_columns, g->recon_slices,
                        (LamRange){0, g->recon_slices}, volume, error)) {
    double scale =
        lam_phantom_scale (LAM_PHANTOM_TOOTH, g->recon_rows, g->recon_columns, g->recon_slices, 2.5) / g->voxel_pitch;
    for (int64_t i = 0; i < voxels; i++)
      volume[i] = (float) (volume[i] * scale);
    sinogram = example_sinogram (g, volume, control, error);
  }
  lam_free (volume);
  if (!sinogram)
    return NULL;
  lam_noise_transmission (sinogram, 0, views * rows * n, 20000, 0, 1);
  LamDataset *d = lam_dataset_new_take (cone ? "example (cone beam)" : "example", g_steal_pointer (&g), sinogram, NULL);
  say (d,
       "bundled example: a phantom's scan, made here: %" G_GINT64_FORMAT " views, %" G_GINT64_FORMAT
       " rows, %" G_GINT64_FORMAT " channels, noise of 20000 photons",
       views, rows, n);
  return d;
}
