/* recon-checkpoint.c: the solver's state on disk.
 *
 * Image and error sinogram lie there in file order, so a run goes on with any number of devices; with seed, iteration
 * and sigmas they are the whole state (the Hessian is made again, subsets are keyed by seed and iteration), so the
 * resumed run has the same bits as one that was never interrupted. */
#include <string.h>

#include "config.h"
#include "core/cpu-features.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threadpool.h"
#include "io/checkpoint.h"
#include "io/file.h"
#include "run/recon-private.h"

enum { SLAB = 4 << 20, FORMAT = 3 };

int64_t
lam_recon_slab_rows (const LamGeometry *g)
{
  return LAM_CLAMP (SLAB / LAM_MAX (g->recon_columns * g->recon_slices * 4, 1), 1, g->recon_rows);
}

int64_t
lam_recon_slab_views (const LamGeometry *g)
{
  return LAM_CLAMP (SLAB / LAM_MAX (g->rows * g->channels * 4, 1), 1, g->views);
}

int64_t
lam_recon_slab_bytes (const LamGeometry *g)
{
  int64_t rows = lam_recon_slab_rows (g) * g->recon_columns * g->recon_slices,
          views = lam_recon_slab_views (g) * g->rows * g->channels;
  return LAM_MAX (rows, views) * 4;
}

/* What must agree before a state may be used: sizes, geometry and the solver's parameters, as text. */
static char *
identity (const LamRecon *r, const LamVcdParams *p)
{
  const LamGeometry *g = r->projector->geometry;
  GString *s = g_string_new (NULL);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  const double values[] = {
      (double) g->kind,
      (double) g->detector,
      (double) g->views,
      (double) g->rows,
      (double) g->channels,
      g->channel_pitch,
      g->row_pitch,
      g->channel_offset,
      g->row_offset,
      g->source_detector,
      g->source_axis,
      (double) g->recon_rows,
      (double) g->recon_columns,
      (double) g->recon_slices,
      g->voxel_pitch,
      g->row_aspect,
      g->slice_aspect,
      g->slice_offset,
      (double) g->mask,
      p->prior.p,
      p->prior.q,
      p->prior.t,
      p->prior.b_row,
      p->prior.b_column,
      p->prior.b_slice,
      p->max_step,
      (double) p->positivity,
      (double) p->damping,
      (double) r->weighted,
      /* What was asked: what came of it is kept apart, and goes on. */
      r->params->snr_db,
      r->params->sharpness,
      r->params->sigma_y,
      r->params->sigma_x,
      (double) r->params->seed,
      (double) r->params->init,
  };
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    g_string_append_printf (s, "%s ", g_ascii_dtostr (number, sizeof number, values[i]));
  LamFileStamp start = {0};
  if (r->params->init == LAM_INIT_FILE && r->params->init_path && lam_file_stamp (r->params->init_path, &start, NULL))
    g_string_append_printf (s, "start %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " ", start.size, start.mtime_ns);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (sum, (const guchar *) g->angles, g->views * sizeof *g->angles);
  if (g->shifts)
    g_checksum_update (sum, (const guchar *) g->shifts, g->views * sizeof *g->shifts);
  g_string_append (s, g_checksum_get_string (sum));
  return g_string_free (s, FALSE);
}

typedef struct {
  const float *sinogram, *weights; /* weights may be NULL */
  int64_t view_bytes;
  uint32_t (*crc)[2]; /* [views] */
} Stamp;

static void
stamp_view (int64_t view, int worker, void *data)
{
  const Stamp *s = data;
  int64_t at = view * s->view_bytes / (int64_t) sizeof (float);
  s->crc[view][0] = lam_crc32c (0, s->sinogram + at, (size_t) s->view_bytes);
  s->crc[view][1] = s->weights ? lam_crc32c (0, s->weights + at, (size_t) s->view_bytes) : 0;
}

gboolean
lam_recon_stamp_data (LamRecon *r, GError **error)
{
  const LamGeometry *g = r->projector->geometry;
  Stamp s = {.sinogram = r->dataset->sinogram,
             .weights = r->weighted ? r->dataset->weights : NULL,
             .view_bytes = g->rows * g->channels * (int64_t) sizeof (float),
             .crc = lam_alloc_n (g->views, sizeof *s.crc, "checksum of the data", error)};
  if (!s.crc)
    return FALSE;
  lam_pool_for (lam_pool_shared (), g->views, stamp_view, &s, NULL);
  uint32_t all = lam_crc32c (0, s.crc, (size_t) g->views * sizeof *s.crc);
  g_snprintf (r->data_stamp, sizeof r->data_stamp, "crc32c %08x", all);
  lam_free (s.crc);
  return lam_control_go_on (r->control, error);
}

static const char *
scan_name (const LamRecon *r)
{
  return r->dataset->path ? r->dataset->path : r->dataset->name;
}

static const char *
command_name (const LamRecon *r)
{
  return r->params->command ? r->params->command : "window";
}

static gboolean
write_state (LamRecon *r, GError **error)
{
  LamProjector *p = r->projector;
  const LamGeometry *g = p->geometry;
  g_autoptr (LamCheckpointWriter) w = lam_checkpoint_writer_new (r->params->checkpoint, error);
  float *slab = w ? lam_plan_take (r->plan, LAM_HOST, "slab", error) : NULL;
  g_autofree char *id = identity (r, &r->vcd->params);
  if (!slab || !lam_checkpoint_put_int (w, "format", FORMAT, error)
      || !lam_checkpoint_put_text (w, "program", "lamina " LAMINA_VERSION, error)
      || !lam_checkpoint_put_text (w, "instruction_set", lam_isa_name (lam_isa ()), error)
      || !lam_checkpoint_put_text (w, "identity", id, error)
      || !lam_checkpoint_put_text (w, "data", r->data_stamp, error)
      || !lam_checkpoint_put_text (w, "scan", scan_name (r), error)
      || !lam_checkpoint_put_text (w, "command", command_name (r), error)
      || !lam_checkpoint_put_double (w, "tilt", r->dataset->tilt, error)
      || !lam_checkpoint_put_int (w, "iteration", r->vcd->iteration, error)
      || !lam_checkpoint_put_int (w, "seed", (int64_t) r->vcd->params.seed, error)
      || !lam_checkpoint_put_double (w, "sigma_y", r->vcd->params.sigma_y, error)
      || !lam_checkpoint_put_double (w, "sigma_x", r->vcd->params.prior.sigma_x, error))
    return FALSE;
  const LamReconIteration *its = (const LamReconIteration *) r->result->iterations->data;
  int64_t n = r->result->iterations->len, shape[3] = {n, 8};
  g_autofree double *history = g_new0 (double, n * 8 + 1);
  for (int64_t i = 0; i < n; i++) {
    const double row[8] = {(double) its[i].iteration, (double) its[i].subsets, its[i].change_percent, its[i].cost,
                           its[i].data_cost,          its[i].prior_cost,       its[i].mean_step,      its[i].seconds};
    memcpy (history + i * 8, row, sizeof row);
  }
  if (n > 0 && !lam_checkpoint_put (w, "history", LAM_CHECKPOINT_DOUBLE, 2, shape, history, error))
    return FALSE;
  int64_t rows[3] = {g->recon_rows, g->recon_columns, g->recon_slices}, step = lam_recon_slab_rows (g);
  if (!lam_checkpoint_writer_begin (w, "image", LAM_CHECKPOINT_FLOAT, 3, rows, error))
    return FALSE;
  for (int64_t i = 0; i < g->recon_rows; i += step) {
    LamRange range = {i, LAM_MIN (i + step, g->recon_rows)};
    int64_t bytes = lam_range_size (range) * rows[1] * rows[2] * 4;
    if (!lam_projector_get_rows (p, &r->vcd->volume, range, slab, error)
        || !lam_checkpoint_writer_append (w, slab, bytes, error) || !lam_control_go_on (r->control, error))
      return FALSE;
  }
  if (!lam_checkpoint_writer_end (w, error))
    return FALSE;
  int64_t views[3] = {g->views, g->rows, g->channels};
  step = lam_recon_slab_views (g);
  if (!lam_checkpoint_writer_begin (w, "error", LAM_CHECKPOINT_FLOAT, 3, views, error))
    return FALSE;
  for (int64_t i = 0; i < g->views; i += step) {
    LamRange range = {i, LAM_MIN (i + step, g->views)};
    int64_t bytes = lam_range_size (range) * views[1] * views[2] * 4;
    if (!lam_projector_get_views (p, range, &r->vcd->error, slab, error)
        || !lam_checkpoint_writer_append (w, slab, bytes, error))
      return FALSE;
  }
  return lam_checkpoint_writer_end (w, error) && lam_checkpoint_writer_finish (w, error);
}

void
lam_recon_checkpoint (LamRecon *r, double iteration_seconds)
{
  g_autoptr (GError) error = NULL;
  if (!r->params->checkpoint)
    return;
  /* Every iteration while that costs under 5 % of the time, else every n; at a stop, the last one. */
  if (iteration_seconds >= 0)
    r->iterations_since++;
  if (iteration_seconds < 0 ? r->iterations_since == 0
                            : r->checkpoint_seconds > 0.05 * iteration_seconds * (double) r->iterations_since)
    return;
  int64_t start = lam_clock_ns ();
  if (!write_state (r, &error) && !g_error_matches (error, LAM_ERROR, LAM_ERROR_CANCELLED))
    lam_recon_log (r, "the checkpoint could not be written, the run goes on: %s", error->message);
  r->checkpoint_seconds = (double) (lam_clock_ns () - start) / 1e9;
  r->iterations_since = 0;
}

/* "lamina reconstruct tooth.h5", of tooth.h5, after iteration 12; as far as the state says. */
static char *
describe_state (LamCheckpoint *c)
{
  int64_t iteration = 0;
  g_autofree char *scan = lam_checkpoint_find (c, "scan") ? lam_checkpoint_get_text (c, "scan", NULL) : NULL;
  g_autofree char *command = lam_checkpoint_find (c, "command") ? lam_checkpoint_get_text (c, "command", NULL) : NULL;
  lam_checkpoint_get_int (c, "iteration", &iteration, NULL);
  return g_strdup_printf ("\"%s\", of %s, after iteration %" G_GINT64_FORMAT, command ? command : "not named",
                          scan ? scan : "an unnamed scan", iteration);
}

/* One that is damaged is no use to anybody. */
gboolean
lam_recon_may_replace (LamRecon *r, const LamVcdParams *params, GError **error)
{
  double tilt;
  g_autoptr (LamCheckpoint) c =
      r->params->other_state != LAM_STATE_REPLACE && g_file_test (r->params->checkpoint, G_FILE_TEST_EXISTS)
          ? lam_checkpoint_open (r->params->checkpoint, NULL)
          : NULL;
  g_autofree char *stored = c ? lam_checkpoint_get_text (c, "identity", NULL) : NULL;
  g_autofree char *data = c ? lam_checkpoint_get_text (c, "data", NULL) : NULL, *mine = identity (r, params);
  if (!c)
    return TRUE;
  g_autofree char *other = describe_state (c);
  gboolean same = g_strcmp0 (stored, mine) == 0 && g_strcmp0 (data, r->data_stamp) == 0
                  && lam_checkpoint_get_double (c, "tilt", &tilt, NULL) && tilt == r->dataset->tilt;
  if (same || r->params->other_state == LAM_STATE_TELL) {
    lam_recon_log (r, "%s: the state of %s is replaced: %s", r->params->checkpoint,
                   same ? "this same run" : "another run", other);
    return TRUE;
  }
  g_set_error (
      error, LAM_ERROR, LAM_ERROR_INVALID,
      "%s holds the state of another run: %s. This one is \"%s\", of %s. Go on with that one (--resume, with its "
      "scan and options), name another file, or remove this one",
      r->params->checkpoint, other, command_name (r), scan_name (r));
  return FALSE;
}

/* A state is used only on the data that it was made of: the same shape does not make them the same. */
static gboolean
same_data (LamRecon *r, LamCheckpoint *c, GError **error)
{
  double tilt;
  g_autofree char *data = lam_checkpoint_get_text (c, "data", error);
  if (!data || !lam_checkpoint_get_double (c, "tilt", &tilt, error))
    return FALSE;
  if (tilt != r->dataset->tilt) {
    char its[G_ASCII_DTOSTR_BUF_SIZE], mine[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (its, sizeof its, "%.6g", tilt * 180 / G_PI);
    g_ascii_formatd (mine, sizeof mine, "%.6g", r->dataset->tilt * 180 / G_PI);
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s belongs to another run: its detector was turned by %s degrees, this one's by %s; give the same "
                 "tilt (--tilt), or leave out --resume",
                 r->params->checkpoint, its, mine);
    return FALSE;
  }
  if (g_str_equal (data, r->data_stamp))
    return TRUE;
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               "%s belongs to other data of the same shape: its samples and weights have the checksum \"%s\", those of "
               "%s, as they were prepared now, \"%s\"; give the scan and the options of preparation that it was made "
               "with, or leave out --resume",
               r->params->checkpoint, data, r->dataset->path ? r->dataset->path : r->dataset->name, r->data_stamp);
  return FALSE;
}

gboolean
lam_recon_resume_params (LamRecon *r, LamVcdParams *params, GError **error)
{
  int64_t format, iteration, seed;
  double sigma_x;
  g_autoptr (LamCheckpoint) c = lam_checkpoint_open (r->params->checkpoint, error);
  if (!c || !lam_checkpoint_get_int (c, "format", &format, error))
    return FALSE;
  if (format != FORMAT) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: state format %" G_GINT64_FORMAT ", this version reads %d; leave out --resume, which starts anew",
                 r->params->checkpoint, format, FORMAT);
    return FALSE;
  }
  g_autofree char *stored = lam_checkpoint_get_text (c, "identity", error), *mine = identity (r, params);
  if (!stored)
    return FALSE;
  if (!g_str_equal (stored, mine)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s belongs to another run: sizes, geometry, prior, noise level, seed or start differ; give the same "
                 "input and options, or leave out --resume",
                 r->params->checkpoint);
    return FALSE;
  }
  if (!same_data (r, c, error))
    return FALSE;
  g_autofree char *isa = lam_checkpoint_get_text (c, "instruction_set", error);
  g_autofree char *program = isa ? lam_checkpoint_get_text (c, "program", error) : NULL;
  if (!program || !lam_checkpoint_get_int (c, "iteration", &iteration, error)
      || !lam_checkpoint_get_int (c, "seed", &seed, error)
      || !lam_checkpoint_get_double (c, "sigma_y", &params->sigma_y, error)
      || !lam_checkpoint_get_double (c, "sigma_x", &sigma_x, error))
    return FALSE;
  params->prior.sigma_x = sigma_x;
  params->seed = (uint64_t) seed;
  params->first_iteration = iteration;
  if (!g_str_equal (isa, lam_isa_name (lam_isa ())) || !g_str_equal (program, "lamina " LAMINA_VERSION))
    lam_recon_log (r, "the checkpoint was made by %s with %s, this is lamina %s with %s: the last digits may differ",
                   program, isa, LAMINA_VERSION, lam_isa_name (lam_isa ()));
  const LamCheckpointSection *h = lam_checkpoint_find (c, "history");
  if (h && h->rank == 2 && h->shape[1] == 8) {
    double *rows = lam_alloc_n (h->count, sizeof *rows, "history of the checkpoint", error);
    if (!rows || !lam_checkpoint_read (c, "history", LAM_CHECKPOINT_DOUBLE, 0, h->count, rows, error)) {
      lam_free (rows);
      return FALSE;
    }
    for (int64_t i = 0; i < h->shape[0]; i++) {
      const double *q = rows + i * 8;
      LamReconIteration it = {(int64_t) q[0], (int64_t) q[1], q[2], q[3], q[4], q[5], q[6], q[7]};
      g_array_append_val (r->result->iterations, it);
      if (r->hooks && r->hooks->iteration)
        r->hooks->iteration (&it, r->hooks->data);
    }
    lam_free (rows);
  }
  lam_recon_log (r, "resumed after iteration %" G_GINT64_FORMAT, iteration);
  return TRUE;
}

gboolean
lam_recon_resume_arrays (LamRecon *r, GError **error)
{
  const LamGeometry *g = r->projector->geometry;
  g_autoptr (LamCheckpoint) c = lam_checkpoint_open (r->params->checkpoint, error);
  float *slab = c ? lam_plan_take (r->plan, LAM_HOST, "slab", error) : NULL;
  if (!slab)
    return FALSE;
  int64_t line = g->recon_columns * g->recon_slices, view = g->rows * g->channels;
  for (int64_t i = 0, step = lam_recon_slab_rows (g); i < g->recon_rows; i += step) {
    LamRange range = {i, LAM_MIN (i + step, g->recon_rows)};
    if (!lam_checkpoint_read (c, "image", LAM_CHECKPOINT_FLOAT, i * line, lam_range_size (range) * line, slab, error)
        || !lam_projector_put_rows (r->projector, range, slab, &r->vcd->volume, error))
      return FALSE;
  }
  for (int64_t i = 0, step = lam_recon_slab_views (g); i < g->views; i += step) {
    LamRange range = {i, LAM_MIN (i + step, g->views)};
    if (!lam_checkpoint_read (c, "error", LAM_CHECKPOINT_FLOAT, i * view, lam_range_size (range) * view, slab, error)
        || !lam_projector_put_views (r->projector, range, slab, &r->vcd->error, error))
      return FALSE;
  }
  return TRUE;
}
