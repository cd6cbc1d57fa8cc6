#include "config.h"

#include "model/pulseq-look.h"

#include <math.h>
#include <time.h>

#include "model/latest.h"

/* What finding the extremes may take on the main thread, us; more is left to another. */
#define MOST_US 3000.0
/* Of so many nothing is tried here before it is known what it takes. */
#define MANY_BLOCKS 20000
#define LEAST_WIDTH 10000 /* ps */
/* Pulses and readouts that are marked at most. */
#define MOST_INSTANTS 128
/* Round a place that is gone to. */
#define CLOSE_UP (40 * (LAM_PS_PER_S / 1000))

struct _LamPulseqLook {
  GObject parent_instance;
  LamPulseqModel *model;
  LamSequenceFile *file; /* what is looked at */
  int64_t t0, t1;
  int columns;
  double column_us; /* what a column took lately; 0: not known */
  LamPulseqWindow *window;
  GArray *instants;
  guint64 generation, drawn, marked; /* of the range, and of what is there */
  LamLatest latest;
  gboolean closed;
};

enum { RANGE_CHANGED, CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamPulseqLook, lam_pulseq_look, G_TYPE_OBJECT)

/* ---- on the other thread ---- */

/* us of this thread's own work, whatever else the machine does. */
static gint64
own_time (void)
{
  struct timespec t;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

typedef struct {
  LamSequenceFile *file;
  int64_t t0, t1;
  int64_t from, width, columns; /* of the window */
  guint64 generation;
  gboolean draw; /* the window too */
  LamPulseqWindow *window;
  GArray *instants;
  double column_us;
} Job;

/* Columns of whole ps, on one grid wherever one looks: what was found for one range is good for the next. */
static void
get_window (LamPulseqLook *self, int64_t *from, int64_t *width, int64_t *n)
{
  *width = LAM_MAX ((self->t1 - self->t0) / self->columns, 1);
  *from = self->t0 - self->t0 % *width;
  *n = (self->t1 - *from + *width - 1) / *width + 1;
}

static gpointer
make_job (gpointer owner)
{
  LamPulseqLook *self = owner;
  if (!self->file || self->closed || (self->marked == self->generation && self->drawn == self->generation))
    return NULL;
  Job *j = g_new0 (Job, 1);
  j->file = lam_sequence_file_ref (self->file);
  j->t0 = self->t0;
  j->t1 = self->t1;
  get_window (self, &j->from, &j->width, &j->columns);
  j->generation = self->generation;
  j->draw = self->drawn != self->generation;
  return j;
}

static void
work (gpointer job)
{
  Job *j = job;
  gint64 began = own_time ();
  if (j->draw)
    j->window = lam_pulseq_window_new (j->file->timing, j->from, j->width, j->columns, NULL, NULL);
  j->column_us = (double) (own_time () - began) / (double) LAM_MAX (j->columns, 1);
  j->instants = lam_pulseq_instants (j->file->timing, j->t0, j->t1, MOST_INSTANTS, NULL);
}

static void
done (gpointer owner, gpointer job)
{
  LamPulseqLook *self = owner;
  Job *j = job;
  if (j->file != self->file || self->closed)
    return;
  if (j->window && j->generation > self->drawn) {
    lam_pulseq_window_free (self->window);
    self->window = g_steal_pointer (&j->window);
    self->drawn = j->generation;
    self->column_us = j->column_us;
  }
  if (j->generation == self->generation) {
    g_clear_pointer (&self->instants, g_array_unref);
    self->instants = g_steal_pointer (&j->instants);
    self->marked = j->generation;
    self->drawn = j->generation; /* also where there was no memory for it */
  }
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
free_job (gpointer job)
{
  Job *j = job;
  lam_sequence_file_unref (j->file);
  lam_pulseq_window_free (j->window);
  g_clear_pointer (&j->instants, g_array_unref);
  g_free (j);
}

/* ---- the range ---- */

/* Unless it would take too long here. */
static void
draw_now (LamPulseqLook *self)
{
  int64_t from, width, n;
  get_window (self, &from, &width, &n);
  double missing = (double) lam_pulseq_window_missing (from, width, n, self->window);
  gboolean unknown = self->column_us == 0 && lam_sequence_file_seq (self->file)->blocks > MANY_BLOCKS;
  if (self->file->long_events || unknown || missing * self->column_us > MOST_US)
    return;
  gint64 began = own_time ();
  LamPulseqWindow *w = lam_pulseq_window_new (self->file->timing, from, width, n, self->window, NULL);
  if (!w)
    return;
  if (w->fresh > n / 2)
    self->column_us = (double) (own_time () - began) / (double) w->fresh;
  lam_pulseq_window_free (self->window);
  self->window = w;
  self->drawn = self->generation;
}

static void
changed (LamPulseqLook *self)
{
  self->generation++;
  if (!self->file || self->columns <= 0)
    return;
  draw_now (self);
  lam_latest_ask (&self->latest, 0);
  g_signal_emit (self, signals[CHANGED], 0);
}

static int64_t
duration (LamPulseqLook *self)
{
  return self->file ? LAM_MAX (lam_pulseq_timing_duration (self->file->timing), LEAST_WIDTH) : LEAST_WIDTH;
}

void
lam_pulseq_look_set_range (LamPulseqLook *self, int64_t t0, int64_t t1)
{
  g_return_if_fail (LAM_IS_PULSEQ_LOOK (self));
  int64_t all = duration (self), width = CLAMP (t1 - t0, LEAST_WIDTH, all);
  t0 = CLAMP (t0, 0, all - width);
  if (t0 == self->t0 && t0 + width == self->t1)
    return;
  self->t0 = t0;
  self->t1 = t0 + width;
  changed (self);
  g_signal_emit (self, signals[RANGE_CHANGED], 0);
}

void
lam_pulseq_look_get_range (LamPulseqLook *self, int64_t *t0, int64_t *t1)
{
  *t0 = self->t0;
  *t1 = self->t1;
}

void
lam_pulseq_look_zoom (LamPulseqLook *self, double factor, int64_t ps)
{
  double width = (double) (self->t1 - self->t0) / factor;
  width = CLAMP (width, LEAST_WIDTH, (double) duration (self));
  double part = (double) (ps - self->t0) / (double) (self->t1 - self->t0);
  int64_t t0 = ps - (int64_t) rint (part * width);
  lam_pulseq_look_set_range (self, t0, t0 + (int64_t) rint (width));
}

void
lam_pulseq_look_pan (LamPulseqLook *self, double part)
{
  double all = (double) duration (self);
  int64_t by = (int64_t) rint (CLAMP (part * (double) (self->t1 - self->t0), -all, all));
  lam_pulseq_look_set_range (self, self->t0 + by, self->t1 + by);
}

void
lam_pulseq_look_whole (LamPulseqLook *self)
{
  lam_pulseq_look_set_range (self, 0, duration (self));
}

void
lam_pulseq_look_go_to (LamPulseqLook *self, int64_t ps)
{
  int64_t width = LAM_MIN (self->t1 - self->t0, CLOSE_UP);
  lam_pulseq_look_set_range (self, ps - width / 2, ps - width / 2 + width);
}

void
lam_pulseq_look_set_columns (LamPulseqLook *self, int columns)
{
  if (columns == self->columns || columns <= 0)
    return;
  self->columns = columns;
  changed (self);
}

/* ---- what there is ---- */

LamPulseqModel *
lam_pulseq_look_get_model (LamPulseqLook *self)
{
  return self->model;
}

const LamPulseqWindow *
lam_pulseq_look_get_window (LamPulseqLook *self)
{
  return self->window;
}

const GArray *
lam_pulseq_look_get_instants (LamPulseqLook *self)
{
  return self->marked == self->generation ? self->instants : NULL;
}

char *
lam_pulseq_look_describe (LamPulseqLook *self, int64_t ps)
{
  if (!self->file)
    return NULL;
  return lam_sequence_file_describe (self->file, ps, (self->t1 - self->t0) / LAM_MAX (self->columns, 1));
}

static void
nearer (int64_t ps, int64_t to, int64_t *best, int64_t *distance)
{
  if (ABS (to - ps) < *distance) {
    *distance = ABS (to - ps);
    *best = to;
  }
}

int64_t
lam_pulseq_look_snap (LamPulseqLook *self, int64_t ps, int64_t reach)
{
  const GArray *instants = lam_pulseq_look_get_instants (self);
  int64_t best = ps, distance = reach;
  for (guint i = 0; instants && i < instants->len; i++)
    nearer (ps, g_array_index (instants, LamPulseqInstant, i).ps, &best, &distance);
  if (best != ps) /* edges lie close to them, and are less wanted */
    return best;
  for (int64_t i = 0; self->window && i < self->window->edges; i++)
    nearer (ps, self->window->edge[i], &best, &distance);
  return best;
}

gboolean
lam_pulseq_look_is_settled (LamPulseqLook *self)
{
  return self->columns <= 0 || !self->file
         || (self->drawn == self->generation && self->marked == self->generation && lam_latest_is_idle (&self->latest));
}

/* ---- object ---- */

static void
file_changed_cb (LamPulseqModel *model, LamPulseqLook *self)
{
  LamSequenceFile *file = lam_pulseq_model_get_file (model);
  g_clear_pointer (&self->file, lam_sequence_file_unref);
  self->file = file ? lam_sequence_file_ref (file) : NULL;
  self->column_us = 0;
  g_clear_pointer (&self->window, lam_pulseq_window_free);
  g_clear_pointer (&self->instants, g_array_unref);
  self->t0 = 0;
  self->t1 = duration (self);
  changed (self);
  g_signal_emit (self, signals[RANGE_CHANGED], 0);
}

LamPulseqLook *
lam_pulseq_look_new (LamPulseqModel *model)
{
  LamPulseqLook *self = g_object_new (LAM_TYPE_PULSEQ_LOOK, NULL);
  self->model = g_object_ref (model);
  g_signal_connect_object (model, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  file_changed_cb (model, self);
  return self;
}

void
lam_pulseq_look_close (LamPulseqLook *self)
{
  self->closed = TRUE;
  lam_latest_clear (&self->latest);
}

static void
lam_pulseq_look_dispose (GObject *object)
{
  LamPulseqLook *self = LAM_PULSEQ_LOOK (object);
  lam_pulseq_look_close (self);
  g_clear_object (&self->model);
  G_OBJECT_CLASS (lam_pulseq_look_parent_class)->dispose (object);
}

static void
lam_pulseq_look_finalize (GObject *object)
{
  LamPulseqLook *self = LAM_PULSEQ_LOOK (object);
  g_clear_pointer (&self->file, lam_sequence_file_unref);
  g_clear_pointer (&self->window, lam_pulseq_window_free);
  g_clear_pointer (&self->instants, g_array_unref);
  G_OBJECT_CLASS (lam_pulseq_look_parent_class)->finalize (object);
}

static void
lam_pulseq_look_class_init (LamPulseqLookClass *klass)
{
  static const char *const names[N_SIGNALS] = {"range-changed", "changed"};
  G_OBJECT_CLASS (klass)->dispose = lam_pulseq_look_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_pulseq_look_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], LAM_TYPE_PULSEQ_LOOK, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_pulseq_look_init (LamPulseqLook *self)
{
  static const LamLatestFuncs funcs = {"look at sequence", make_job, work, done, free_job};
  lam_latest_init (&self->latest, self, &funcs);
}
