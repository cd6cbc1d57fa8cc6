#include "config.h"

#include "model/pulseq-kspace.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "model/latest.h"

/* Samples that are kept; of longer sequences every n-th readout is. */
#define MOST_SAMPLES 1000000
/* px from one sample to the next that are joined, at least and at most */
#define LEAST_JOIN 3
#define MOST_JOIN 400

/* The samples of a file; counted, immutable. */
typedef struct {
  gatomicrefcount refs;
  LamSequenceFile *file;
  int64_t n, readouts, step; /* every @step-th readout */
  float *k[3];               /* [n] 1/m */
  guint8 *colour;            /* [n] when: of 256 */
  guint8 *first;             /* [n] begins a readout */
  double extent[3];
} Points;

struct _LamPulseqKspace {
  GObject parent_instance;
  LamPulseqModel *model;
  LamLatest latest;
  Points *points;
  LamKspaceFrame view, made; /* wanted; of the picture */
  guint8 colours[256 * 4];
  guint64 generation, drawn;
  GBytes *picture;
  int64_t inside;
  gboolean shown, closed;
};

enum { READY, CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamPulseqKspace, lam_pulseq_kspace, G_TYPE_OBJECT)

static void
points_unref (Points *p)
{
  if (!p || !g_atomic_ref_count_dec (&p->refs))
    return;
  for (int c = 0; c < 3; c++)
    lam_free (p->k[c]);
  lam_free (p->colour);
  lam_free (p->first);
  lam_sequence_file_unref (p->file);
  g_free (p);
}

/* ---- on the other thread ---- */

static gboolean
fill_points (Points *p, double *k)
{
  const LamPulseqTiming *t = p->file->timing;
  const LamPulseq *s = t->seq;
  double duration = fmax ((double) lam_pulseq_timing_duration (t), 1);
  LamPulseqWalk walk;
  int64_t readout = 0;
  lam_pulseq_walk_init (&walk, t, 0);
  while (walk.block < s->blocks) {
    int64_t b = walk.block;
    int32_t row = s->event[LAM_PULSEQ_ADC][b] - 1;
    const LamPulseqAdc *a = row >= 0 ? &s->adc[row] : NULL;
    gboolean wanted = a && readout++ % p->step == 0 && p->n + a->samples <= MOST_SAMPLES;
    if (!lam_pulseq_walk_next (&walk, 0, wanted ? a->samples : 0, wanted ? k : NULL, NULL))
      return FALSE;
    for (int64_t i = 0; wanted && i < a->samples; i++, p->n++) {
      double when = (double) (t->start[b] + lam_pulseq_adc_time (a, i)) / duration;
      for (int c = 0; c < 3; c++) {
        p->k[c][p->n] = (float) k[c * a->samples + i];
        p->extent[c] = fmax (p->extent[c], fabs (k[c * a->samples + i]));
      }
      p->colour[p->n] = (guint8) CLAMP (when * 255, 0, 255);
      p->first[p->n] = i == 0;
    }
    p->readouts += wanted;
  }
  return TRUE;
}

/* NULL: no memory. */
static Points *
make_points (LamSequenceFile *file)
{
  const LamPulseqTiming *t = file->timing;
  int64_t largest = 1, n = LAM_MIN (t->samples, MOST_SAMPLES);
  Points *p = g_new0 (Points, 1);
  g_atomic_ref_count_init (&p->refs);
  p->file = lam_sequence_file_ref (file);
  p->step = LAM_MAX ((t->samples + MOST_SAMPLES - 1) / MOST_SAMPLES, 1);
  for (int64_t i = 0; i < t->seq->adcs; i++)
    largest = LAM_MAX (largest, LAM_MIN (t->seq->adc[i].samples, MOST_SAMPLES));
  double *k = lam_alloc_n (3 * largest, sizeof *k, "k-space of a readout", NULL);
  gboolean ok = k && (p->colour = lam_alloc_n (LAM_MAX (n, 1), 1, "k-space", NULL))
                && (p->first = lam_alloc_n (LAM_MAX (n, 1), 1, "k-space", NULL));
  for (int c = 0; ok && c < 3; c++)
    ok = (p->k[c] = lam_alloc_n (LAM_MAX (n, 1), sizeof (float), "k-space", NULL)) != NULL;
  ok = ok && fill_points (p, k);
  lam_free (k);
  if (!ok)
    g_clear_pointer (&p, points_unref);
  return p;
}

typedef struct {
  LamSequenceFile *file;
  Points *points;
  LamKspaceFrame view;
  guint8 colours[256 * 4];
  guint64 generation;
  guint8 *pixels; /* NULL: none were asked for */
  int64_t inside;
} Job;

static void
put (guint8 *pixels, const LamKspaceFrame *v, int x, int y, const guint8 *colour, int alpha)
{
  if (x < 0 || y < 0 || x >= v->width || y >= v->height)
    return;
  guint8 *to = pixels + 4 * ((size_t) y * v->width + x);
  if (to[3] > alpha)
    return;
  for (int c = 0; c < 3; c++)
    to[c] = (guint8) (colour[c] * alpha / 255);
  to[3] = (guint8) alpha;
}

static void
join (guint8 *pixels, const LamKspaceFrame *v, double x0, double y0, double x1, double y1, const guint8 *colour)
{
  int n = (int) fmax (fabs (x1 - x0), fabs (y1 - y0));
  for (int i = 1; i < n; i++)
    put (pixels, v, (int) floor (x0 + (x1 - x0) * i / n), (int) floor (y0 + (y1 - y0) * i / n), colour, 96);
}

static void
draw (Job *j)
{
  static const int axes[LAM_KSPACE_PLANES][2] = {{0, 1}, {0, 2}, {1, 2}};
  const LamKspaceFrame *v = &j->view;
  const Points *p = j->points;
  const float *kx = p->k[axes[v->plane][0]], *ky = p->k[axes[v->plane][1]];
  double last_x = 0, last_y = 0;
  j->pixels = g_try_malloc0 ((size_t) v->width * v->height * 4);
  for (int64_t i = 0; j->pixels && i < p->n; i++) {
    double x = v->width / 2.0 + (kx[i] - v->x) / v->scale, y = v->height / 2.0 - (ky[i] - v->y) / v->scale;
    double apart = fmax (fabs (x - last_x), fabs (y - last_y));
    const guint8 *colour = j->colours + 4 * p->colour[i];
    gboolean seen = x >= 0 && y >= 0 && x < v->width && y < v->height;
    if (!p->first[i] && apart >= LEAST_JOIN && apart <= MOST_JOIN && (seen || (last_x >= 0 && last_x < v->width)))
      join (j->pixels, v, last_x, last_y, x, y, colour);
    for (int dy = 0; seen && dy < 2; dy++)
      for (int dx = 0; dx < 2; dx++)
        put (j->pixels, v, (int) x + dx, (int) y + dy, colour, 255);
    j->inside += seen;
    last_x = x;
    last_y = y;
  }
}

static gpointer
make_job (gpointer owner)
{
  LamPulseqKspace *self = owner;
  LamSequenceFile *file = lam_pulseq_model_get_file (self->model);
  gboolean known = self->points && self->points->file == file;
  if (!file || self->closed || !self->shown || (known && self->drawn == self->generation))
    return NULL;
  Job *j = g_new0 (Job, 1);
  j->file = lam_sequence_file_ref (file);
  if (known) {
    g_atomic_ref_count_inc (&self->points->refs);
    j->points = self->points;
  }
  j->view = self->view;
  memcpy (j->colours, self->colours, sizeof j->colours);
  j->generation = self->generation;
  return j;
}

static void
work (gpointer job)
{
  Job *j = job;
  gboolean first = !j->points;
  if (first)
    j->points = make_points (j->file);
  /* What to look at is chosen when it is known where the samples are. */
  if (j->points && !first && j->view.width > 0 && j->view.height > 0 && j->view.scale > 0)
    draw (j);
}

static void
done (gpointer owner, gpointer job)
{
  LamPulseqKspace *self = owner;
  Job *j = job;
  if (self->closed || j->file != lam_pulseq_model_get_file (self->model))
    return;
  if (self->points != j->points) {
    points_unref (self->points);
    self->points = g_steal_pointer (&j->points);
    g_signal_emit (self, signals[READY], 0);
    lam_latest_ask (&self->latest, 0);
    return;
  }
  if (j->pixels) {
    g_clear_pointer (&self->picture, g_bytes_unref);
    self->picture = g_bytes_new_take (g_steal_pointer (&j->pixels), (gsize) j->view.width * j->view.height * 4);
    self->made = j->view;
    self->inside = j->inside;
  }
  self->drawn = j->generation;
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
free_job (gpointer job)
{
  Job *j = job;
  points_unref (j->points);
  lam_sequence_file_unref (j->file);
  g_free (j->pixels);
  g_free (j);
}

/* ---- asking ---- */

void
lam_pulseq_kspace_set_shown (LamPulseqKspace *self, gboolean shown)
{
  g_return_if_fail (LAM_IS_PULSEQ_KSPACE (self));
  self->shown = shown;
  if (shown)
    lam_latest_ask (&self->latest, 0);
}

void
lam_pulseq_kspace_set_view (LamPulseqKspace *self, const LamKspaceFrame *view, const guint8 *colours)
{
  g_return_if_fail (LAM_IS_PULSEQ_KSPACE (self));
  self->view = *view;
  memcpy (self->colours, colours, sizeof self->colours);
  self->generation++;
  lam_latest_ask (&self->latest, 0);
}

/* ---- what there is ---- */

static const Points *
points (LamPulseqKspace *self)
{
  return self->points && self->points->file == lam_pulseq_model_get_file (self->model) ? self->points : NULL;
}

GBytes *
lam_pulseq_kspace_get_picture (LamPulseqKspace *self, LamKspaceFrame *view)
{
  *view = self->made;
  return self->picture;
}

gboolean
lam_pulseq_kspace_get_extent (LamPulseqKspace *self, double extent[3])
{
  const Points *p = points (self);
  if (!p || p->n == 0)
    return FALSE;
  memcpy (extent, p->extent, sizeof p->extent);
  return TRUE;
}

char *
lam_pulseq_kspace_dup_text (LamPulseqKspace *self)
{
  const Points *p = points (self);
  if (!p)
    return NULL;
  g_autofree char *all =
      g_strdup_printf (_ ("%" G_GINT64_FORMAT " samples of %" G_GINT64_FORMAT " readouts"), p->n, p->readouts);
  if (p->step == 1 && p->n == p->file->timing->samples)
    return g_steal_pointer (&all);
  return g_strdup_printf (_ ("%s: one readout in %" G_GINT64_FORMAT), all, p->step);
}

int64_t
lam_pulseq_kspace_get_drawn (LamPulseqKspace *self)
{
  return self->inside;
}

gboolean
lam_pulseq_kspace_is_settled (LamPulseqKspace *self)
{
  return lam_latest_is_idle (&self->latest) && (!self->shown || !points (self) || self->drawn == self->generation);
}

/* ---- object ---- */

static void
file_changed_cb (LamPulseqModel *model, LamPulseqKspace *self)
{
  g_clear_pointer (&self->points, points_unref);
  g_clear_pointer (&self->picture, g_bytes_unref);
  self->inside = 0;
  self->generation++;
  g_signal_emit (self, signals[READY], 0);
  lam_latest_ask (&self->latest, 0);
}

LamPulseqKspace *
lam_pulseq_kspace_new (LamPulseqModel *model)
{
  LamPulseqKspace *self = g_object_new (LAM_TYPE_PULSEQ_KSPACE, NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  return self;
}

void
lam_pulseq_kspace_close (LamPulseqKspace *self)
{
  self->closed = TRUE;
  lam_latest_clear (&self->latest);
}

static void
lam_pulseq_kspace_dispose (GObject *object)
{
  LamPulseqKspace *self = LAM_PULSEQ_KSPACE (object);
  lam_pulseq_kspace_close (self);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_pulseq_kspace_parent_class)->dispose (object);
}

static void
lam_pulseq_kspace_finalize (GObject *object)
{
  LamPulseqKspace *self = LAM_PULSEQ_KSPACE (object);
  g_clear_pointer (&self->points, points_unref);
  g_clear_pointer (&self->picture, g_bytes_unref);
  G_OBJECT_CLASS (lam_pulseq_kspace_parent_class)->finalize (object);
}

static void
lam_pulseq_kspace_class_init (LamPulseqKspaceClass *klass)
{
  static const char *const names[N_SIGNALS] = {"ready", "changed"};
  G_OBJECT_CLASS (klass)->dispose = lam_pulseq_kspace_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_pulseq_kspace_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] =
        g_signal_new (names[i], LAM_TYPE_PULSEQ_KSPACE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_pulseq_kspace_init (LamPulseqKspace *self)
{
  static const LamLatestFuncs funcs = {"k-space", make_job, work, done, free_job};
  lam_latest_init (&self->latest, self, &funcs);
}
