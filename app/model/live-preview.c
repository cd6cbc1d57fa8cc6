#include "config.h"

#include "model/live-preview.h"

#include <math.h>

#include "core/memory.h"
#include "ct/preprocess.h"

/* Pixels times views: the exact slice follows the hand up to EXACT (some 15 ms on two cores); of a coarse one WORK. A pixel
 * of a cone beam costs as much as CONE of a parallel one. */
#define EXACT 60e6
#define WORK 24e6
#define CONE 8
#define COARSEST 8

struct _LamLivePreview {
  GObject parent_instance;
  LamLive *live;
  LamDataset *dataset;
  LamSnapshotInfo full; /* of the exact slice */
  int64_t slice, factor;
  gboolean cone;
  double offset; /* parallel beam: between the middles of the two detectors */
};

G_DEFINE_FINAL_TYPE (LamLivePreview, lam_live_preview, G_TYPE_OBJECT)

enum { SNAPSHOT, N_SIGNALS };
static guint signals[N_SIGNALS];

/* -- to the size of the exact slice, on a worker -- */

typedef struct {
  LamSnapshot *coarse;
  LamSnapshotInfo info;
  uint64_t serial;
} Stretch;

static void
stretch_free (gpointer data)
{
  lam_snapshot_unref (((Stretch *) data)->coarse);
  g_free (data);
}

/* Where the pixels of a line of @n lie on one of @from: the left neighbour and the part of the right one. */
static void
positions (int64_t n, double pitch, int64_t from, double from_pitch, int64_t *at, float *part)
{
  for (int64_t i = 0; i < n; i++) {
    double x = ((double) i - (double) (n - 1) / 2) * pitch / from_pitch + (double) (from - 1) / 2;
    x = fmin (fmax (x, 0), (double) (from - 1));
    at[i] = MIN ((int64_t) x, MAX (from - 2, 0));
    part[i] = (float) (x - (double) at[i]);
  }
}

static void
stretch_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Stretch *s = data;
  const LamSnapshotInfo *from = lam_snapshot_info (s->coarse);
  const float *in = lam_snapshot_pixels (s->coarse);
  int64_t w = s->info.width, h = s->info.height;
  float *out = lam_alloc_n (w * h, sizeof *out, "picture", NULL);
  if (out == NULL) {
    g_task_return_pointer (task, NULL, NULL);
    return;
  }
  g_autofree int64_t *column = g_new (int64_t, w), *row = g_new (int64_t, h);
  g_autofree float *right = g_new (float, w), *below = g_new (float, h);
  positions (w, s->info.pitch_x, from->width, from->pitch_x, column, right);
  positions (h, s->info.pitch_y, from->height, from->pitch_y, row, below);
  int64_t next = from->width > 1, down = from->height > 1 ? from->width : 0;
  for (int64_t r = 0; r < h; r++) {
    const float *a = in + row[r] * from->width, *b = a + down;
    for (int64_t c = 0; c < w; c++) {
      int64_t k = column[c];
      float upper = a[k] + right[c] * (a[k + next] - a[k]), lower = b[k] + right[c] * (b[k + next] - b[k]);
      out[r * w + c] = upper + below[r] * (lower - upper);
    }
  }
  g_task_return_pointer (task, lam_snapshot_new_take (&s->info, out), (GDestroyNotify) lam_snapshot_unref);
}

static void
stretched_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Stretch *s = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSnapshot) shot = g_task_propagate_pointer (G_TASK (result), NULL);
  if (shot != NULL)
    g_signal_emit (source, signals[SNAPSHOT], 0, shot, (guint64) s->serial);
}

static void
snapshot_cb (LamLive *live, LamLivePreview *self)
{
  uint64_t serial;
  LamSnapshot *coarse = lam_live_take (live, &serial);
  if (coarse == NULL)
    return;
  Stretch *s = g_new0 (Stretch, 1);
  s->coarse = coarse;
  s->info = self->full;
  s->info.generation = lam_snapshot_info (coarse)->generation;
  s->serial = serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, stretched_cb, NULL);
  g_task_set_name (task, "lam_live_preview");
  g_task_set_task_data (task, s, stretch_free);
  g_task_run_in_thread (task, stretch_thread);
}

gboolean
lam_live_preview_serves (LamLivePreview *self, const LamLiveRequest *request)
{
  const LamGeometry *g = request->geometry;
  if (request->slice != self->slice || (g->kind == LAM_GEOMETRY_CONE) != self->cone)
    return FALSE;
  LamGeometry moved = *g;
  moved.channel_offset = self->dataset->geometry->channel_offset;
  return self->cone || (request->tilt == 0 && lam_geometry_equal (&moved, self->dataset->geometry));
}

static void
describe (LamLivePreview *self, const LamGeometry *g)
{
  self->full = (LamSnapshotInfo){.iteration = LAM_ITERATION_LIVE, .plane = LAM_PLANE_SLICE, .index = self->slice};
  lam_snapshot_describe (&self->full, g);
}

/* The same slice, as thick, of voxels that are larger in its plane. */
static LamGeometry *
coarse_volume (const LamGeometry *g, int64_t factor)
{
  LamGeometry *coarse = lam_geometry_copy (g);
  coarse->voxel_pitch *= (double) factor;
  coarse->slice_aspect /= (double) factor;
  coarse->recon_rows = MAX (g->recon_rows / factor, 1);
  coarse->recon_columns = MAX (g->recon_columns / factor, 1);
  return coarse;
}

void
lam_live_preview_request (LamLivePreview *self, const LamLiveRequest *request)
{
  LamLiveRequest coarse = *request;
  if (self->cone) {
    g_autoptr (LamGeometry) g = coarse_volume (request->geometry, self->factor);
    coarse.geometry = g;
    describe (self, request->geometry);
    lam_live_request (self->live, &coarse);
    return;
  }
  coarse.slice = 0;
  coarse.channel_offset += self->offset;
  coarse.tilt = 0;
  coarse.geometry = NULL;
  lam_live_request (self->live, &coarse);
}

/* -- making one -- */

static LamDataset *
coarse_dataset (LamDataset *d, int64_t slice, int64_t factor)
{
  const LamGeometry *g = d->geometry;
  g_autoptr (LamGeometry) one = lam_geometry_copy (g);
  if (!lam_geometry_crop (one, (LamRange){slice, slice + 1}, (LamRange){0, g->channels}, NULL)
      || !lam_geometry_bin (one, 1, factor, NULL) || !lam_geometry_auto_volume (one, NULL) || one->recon_slices != 1)
    return NULL;
  float *sinogram = lam_alloc_n (g->views * one->channels, sizeof *sinogram, "live slice", NULL);
  gboolean ok = sinogram != NULL;
  for (int64_t v = 0; v < g->views && ok; v++)
    ok = lam_bin (d->sinogram + (v * g->rows + slice) * g->channels, 1, 1, g->channels, 1, factor,
                  sinogram + v * one->channels, NULL);
  if (!ok) {
    lam_free (sinogram);
    return NULL;
  }
  return lam_dataset_new_take (d->name, g_steal_pointer (&one), sinogram, NULL);
}

LamLivePreview *
lam_live_preview_new (LamDataset *d, const LamGeometry *g, int64_t slice)
{
  gboolean cone = g->kind == LAM_GEOMETRY_CONE;
  double work = (double) g->recon_rows * (double) g->recon_columns * (double) g->views * (cone ? CONE : 1);
  int64_t factor = MIN ((int64_t) ceil (sqrt (work / WORK)), COARSEST);
  if (work <= EXACT || slice < 0 || slice >= g->recon_slices || (!cone && g->rows != g->recon_slices))
    return NULL;
  g_autoptr (LamDataset) coarse = cone ? lam_dataset_ref (d) : coarse_dataset (d, slice, factor);
  if (coarse == NULL)
    return NULL;
  LamLivePreview *self = g_object_new (LAM_TYPE_LIVE_PREVIEW, NULL);
  self->dataset = lam_dataset_ref (d);
  self->slice = slice;
  self->cone = cone;
  self->factor = factor;
  self->offset = coarse->geometry->channel_offset - d->geometry->channel_offset;
  describe (self, g);
  self->live = lam_live_new (coarse, NULL);
  g_signal_connect (self->live, "snapshot", G_CALLBACK (snapshot_cb), self);
  return self;
}

static void
lam_live_preview_dispose (GObject *object)
{
  LamLivePreview *self = LAM_LIVE_PREVIEW (object);
  if (self->live != NULL)
    g_signal_handlers_disconnect_by_data (self->live, self);
  g_clear_object (&self->live);
  g_clear_pointer (&self->dataset, lam_dataset_unref);
  G_OBJECT_CLASS (lam_live_preview_parent_class)->dispose (object);
}

static void
lam_live_preview_class_init (LamLivePreviewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_live_preview_dispose;
  signals[SNAPSHOT] = g_signal_new ("snapshot", LAM_TYPE_LIVE_PREVIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 2, G_TYPE_POINTER, G_TYPE_UINT64);
}

static void
lam_live_preview_init (LamLivePreview *self)
{
}
