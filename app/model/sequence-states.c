#include "config.h"

#include "model/sequence-states.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "run/newest.h"

/* Columns that are kept: about two for each pixel of a wide screen. */
#define MOST_COLUMNS 8192
/* The logarithmic scale ends at a thousandth of the peak. */
#define FLOOR 1e-3

struct _LamSequenceStates {
  GObject parent_instance;
  LamSequenceSession *session;
  LamNewest *newest;
  LamStatesPicture *picture;
  gboolean active, longitudinal, logarithmic, targeted;
  int width, height, tissue, target_order;
  double target_time, from, to;
  guint8 colours[256 * 4];
  guint64 asked; /* the number of the newest request */
  guint ask_source;
  /* The worker's own. */
  LamModel *engine;
};

G_DEFINE_FINAL_TYPE (LamSequenceStates, lam_sequence_states, G_TYPE_OBJECT)

static guint changed_signal;

LamStatesPicture *
lam_states_picture_ref (LamStatesPicture *p)
{
  g_atomic_ref_count_inc (&p->refs);
  return p;
}

void
lam_states_picture_unref (LamStatesPicture *p)
{
  if (!g_atomic_ref_count_dec (&p->refs))
    return;
  lam_states_clear (&p->states);
  lam_pathway_clear (&p->path);
  g_free (p->why);
  g_free (p->edge);
  g_free (p->pixels);
  g_free (p);
}

static void
picture_unref (gpointer data)
{
  lam_states_picture_unref (data);
}

/* ---- the worker ---- */

typedef struct {
  guint64 number, serial;
  LamProtocol *protocol;
  LamTissues *tissues;
  int orders, tissue, width, height;
  gboolean longitudinal, logarithmic, targeted;
  double target_time, from, to;
  int target_order;
  guint8 colours[256 * 4];
} Request;

static void
free_request (gpointer data)
{
  Request *r = data;
  lam_protocol_free (r->protocol);
  lam_tissues_unref (r->tissues);
  g_free (r);
}

/* Columns of one time share what follows it in equal parts: nothing that was looked at is lost, and time stays in proportion. */
static void
make_edges (LamStatesPicture *p)
{
  const LamStates *s = &p->states;
  int64_t n = s->columns;
  p->edge = g_new0 (double, n + 1);
  /* What is left when all is over takes no room, unless there is nothing else. */
  gboolean ends = n > 1 && s->kind[n - 1] == 0 && s->time[n - 1] > s->time[n - 2];
  if (ends)
    n--;
  /* Of a long wait at the end the beginning is enough. */
  double last = s->time[n - 1], rest = s->duration > last * (1 + 1e-9) ? s->duration - last : 0.02 * last;
  double end = last > 0 ? last + fmin (rest, 0.06 * last) : fmax (rest, 1e-3);
  for (int64_t i = n; i <= s->columns; i++)
    p->edge[i] = end;
  for (int64_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && s->time[j] <= s->time[i] + 1e-12;)
      j++;
    double next = j < n ? s->time[j] : end;
    for (int64_t k = i; k < j; k++)
      p->edge[k] = s->time[i] + (next - s->time[i]) * (double) (k - i) / (double) (j - i);
  }
}

/* Of one time with column @i: the first, and past the last. */
static int64_t
group_begin (const LamStates *s, int64_t i)
{
  while (i > 0 && s->time[i - 1] >= s->time[i] - 1e-12)
    i--;
  return i;
}

static int64_t
group_end (const LamStates *s, int64_t i)
{
  for (i++; i < s->columns && s->time[i] <= s->time[i - 1] + 1e-12;)
    i++;
  return i;
}

static int64_t
count_groups (const LamStates *s)
{
  int64_t n = 0;
  for (int64_t i = 0; i < s->columns; i = group_end (s, i))
    n++;
  return n;
}

static const float *
plane_of (const LamStatesPicture *p, int order)
{
  return p->longitudinal ? p->states.z : order < 0 ? p->states.minus : p->states.plus;
}

/* How many orders hold anything, and how much at most. */
static void
measure (LamStatesPicture *p)
{
  const LamStates *s = &p->states;
  g_autofree float *most = g_new0 (float, s->orders);
  for (int64_t c = 0; c < s->columns; c++)
    for (int k = 0; k < s->orders; k++) {
      int64_t at = c * s->orders + k;
      most[k] = fmaxf (most[k], p->longitudinal ? s->z[at] : fmaxf (s->plus[at], s->minus[at]));
    }
  p->peak = 0;
  for (int k = 0; k < s->orders; k++)
    p->peak = fmax (p->peak, most[k]);
  p->orders = 1;
  for (int k = 0; k < s->orders; k++)
    if (most[k] > FLOOR * p->peak)
      p->orders = k + 1;
  p->floor = p->logarithmic ? FLOOR * p->peak : 0;
}

static int
level (const LamStatesPicture *p, double value)
{
  if (!(p->peak > 0) || !(value > 0))
    return 0;
  double at = p->logarithmic ? 1 - log (value / p->peak) / log (FLOOR) : value / p->peak;
  return CLAMP ((int) (255 * at + 0.5), 0, 255);
}

static void
paint (LamStatesPicture *p, const Request *r)
{
  const LamStates *s = &p->states;
  const int rows = p->longitudinal ? p->orders : 2 * p->orders - 1;
  guint32 colour[256];
  for (int i = 0; i < 256; i++) {
    const guint8 *c = r->colours + 4 * i;
    colour[i] = 0xff000000u | (guint32) c[0] << 16 | (guint32) c[1] << 8 | c[2];
  }
  p->width = r->width;
  p->height = r->height;
  p->pixels = g_new (guint32, (gsize) p->width * p->height);
  g_autofree guint32 *lines = g_new (guint32, (gsize) rows * p->width);
  const double span = p->end - p->begin;
  /* Where the parts of one time are finer than pixels they are taken together, or they would beat with these. */
  const gboolean fine = (double) count_groups (s) * (r->to - r->from) * 4 > p->width;
  int64_t from = 0;
  for (int x = 0; x < p->width; x++) {
    double low = p->begin + span * x / p->width, high = p->begin + span * (x + 1) / p->width;
    while (from + 1 < s->columns && p->edge[from + 1] <= low)
      from++;
    int64_t to = from + 1; /* every column that any of this pixel belongs to */
    while (to < s->columns && p->edge[to] < high)
      to++;
    int64_t first = fine ? group_begin (s, from) : from, past = fine ? group_end (s, to - 1) : to;
    for (int row = 0; row < rows; row++) {
      int order = p->orders - 1 - row, k = ABS (order);
      const float *plane = plane_of (p, order);
      float most = 0;
      for (int64_t c = first; c < past; c++)
        most = fmaxf (most, plane[c * s->orders + k]);
      lines[(gsize) row * p->width + x] = colour[level (p, most)];
    }
  }
  for (int y = 0; y < p->height; y++)
    memcpy (p->pixels + (gsize) y * p->width, lines + (gsize) ((int64_t) y * rows / p->height) * p->width,
            p->width * sizeof (guint32));
}

static void
find_path (LamStatesPicture *p, const Request *r, LamModel *m)
{
  p->path_obstacle = lam_pathway_obstacle (m, r->tissues, 0);
  int64_t column = lam_states_picture_column (p, r->target_time), look = -1;
  if (p->path_obstacle || column < 0 || ABS (r->target_order) >= p->states.orders)
    return;
  for (int64_t i = 0; i < p->states.looks && p->states.column[i] <= column; i++)
    look = i;
  p->path_state = lam_states_picture_value (p, column, r->target_order);
  if (look >= 0)
    lam_pathway_find (m, r->tissues, r->tissue, 0, &p->states, look, r->target_order, !r->longitudinal, &p->path);
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  LamSequenceStates *self = owner;
  Request *r = request;
  g_autoptr (GError) local = NULL;
  int64_t start = lam_clock_ns ();
  LamStatesPicture *p = g_new0 (LamStatesPicture, 1);
  g_atomic_ref_count_init (&p->refs);
  p->number = r->number;
  p->serial = r->serial;
  p->tissue = r->tissue;
  p->longitudinal = r->longitudinal;
  p->logarithmic = r->logarithmic;
  if (!lam_model_follow (&self->engine, r->protocol, &local)) {
    p->why = g_strdup (local->message);
    return p;
  }
  lam_model_set_orders (self->engine, r->orders);
  if (!lam_states_record (self->engine, r->tissues, r->tissue, 0, NULL, MOST_COLUMNS, &p->states, &local)) {
    p->why = g_strdup (local->message);
    return p;
  }
  lam_model_programs (self->engine, &p->trains, NULL);
  make_edges (p);
  p->begin = r->from * p->edge[p->states.columns];
  p->end = r->to * p->edge[p->states.columns];
  measure (p);
  if (r->width > 0 && r->height > 0)
    paint (p, r);
  if (r->targeted)
    find_path (p, r, self->engine);
  p->seconds = (double) (lam_clock_ns () - start) / 1e9;
  return p;
}

static void
answered (gpointer owner)
{
  LamSequenceStates *self = owner;
  LamStatesPicture *p = lam_newest_take (self->newest);
  if (!p)
    return;
  g_clear_pointer (&self->picture, picture_unref);
  self->picture = p;
  g_signal_emit (self, changed_signal, 0);
}

static void
failed (gpointer owner, const GError *error)
{
}

/* ---- asking ---- */

static gboolean
ask_cb (gpointer data)
{
  LamSequenceStates *self = data;
  LamSequenceResult *result = lam_sequence_session_get_result (self->session);
  g_autoptr (GError) error = NULL;
  self->ask_source = 0;
  LamTissues *t = lam_sequence_session_copy_tissues (self->session, &error);
  if (!t)
    return G_SOURCE_REMOVE;
  Request *r = g_new0 (Request, 1);
  r->number = ++self->asked;
  r->serial = result ? result->serial : 0;
  r->protocol = lam_sequence_session_copy_protocol (self->session);
  r->tissues = t;
  r->tissue = CLAMP (self->tissue, 0, (int) lam_tissues_voxels (t) - 1);
  r->orders = (int) lam_parameter_get_integer (
      lam_parameter_list_find (lam_sequence_session_get_model (self->session), "orders"));
  r->width = self->width;
  r->height = self->height;
  r->longitudinal = self->longitudinal;
  r->logarithmic = self->logarithmic;
  r->targeted = self->targeted;
  r->target_time = self->target_time;
  r->from = self->from;
  r->to = self->to;
  r->target_order = self->target_order;
  memcpy (r->colours, self->colours, sizeof r->colours);
  lam_newest_ask (self->newest, r);
  return G_SOURCE_REMOVE;
}

static void
ask (LamSequenceStates *self)
{
  if (self->ask_source == 0 && self->active && self->newest)
    self->ask_source = g_idle_add_full (G_PRIORITY_HIGH, ask_cb, self, NULL);
}

/* ---- what is shown ---- */

void
lam_sequence_states_set_active (LamSequenceStates *self, gboolean active)
{
  gboolean was = self->active;
  self->active = active;
  if (active && !was)
    ask (self);
}

void
lam_sequence_states_set_size (LamSequenceStates *self, int width, int height)
{
  if (width == self->width && height == self->height)
    return;
  self->width = width;
  self->height = height;
  ask (self);
}

void
lam_sequence_states_set_colours (LamSequenceStates *self, const guint8 rgba[256 * 4])
{
  memcpy (self->colours, rgba, sizeof self->colours);
  ask (self);
}

void
lam_sequence_states_set_tissue (LamSequenceStates *self, int tissue)
{
  self->tissue = MAX (tissue, 0);
  ask (self);
}

int
lam_sequence_states_get_tissue (LamSequenceStates *self)
{
  return self->tissue;
}

void
lam_sequence_states_set_longitudinal (LamSequenceStates *self, gboolean longitudinal)
{
  self->longitudinal = longitudinal;
  ask (self);
}

void
lam_sequence_states_set_logarithmic (LamSequenceStates *self, gboolean logarithmic)
{
  self->logarithmic = logarithmic;
  ask (self);
}

void
lam_sequence_states_set_range (LamSequenceStates *self, double from, double to)
{
  double span = CLAMP (to - from, 1e-4, 1);
  from = CLAMP (from, 0, 1 - span);
  if (from == self->from && from + span == self->to)
    return;
  self->from = from;
  self->to = from + span;
  ask (self);
}

void
lam_sequence_states_get_range (LamSequenceStates *self, double *from, double *to)
{
  *from = self->from;
  *to = self->to;
}

void
lam_sequence_states_set_target (LamSequenceStates *self, double time, int order)
{
  self->targeted = TRUE;
  self->target_time = time;
  self->target_order = order;
  ask (self);
}

void
lam_sequence_states_clear_target (LamSequenceStates *self)
{
  if (!self->targeted)
    return;
  self->targeted = FALSE;
  ask (self);
}

gboolean
lam_sequence_states_get_target (LamSequenceStates *self, double *time, int *order)
{
  *time = self->target_time;
  *order = self->target_order;
  return self->targeted;
}

LamStatesPicture *
lam_sequence_states_get_picture (LamSequenceStates *self)
{
  return self->picture;
}

gboolean
lam_sequence_states_is_settled (LamSequenceStates *self)
{
  LamSequenceResult *result = lam_sequence_session_get_result (self->session);
  return self->ask_source == 0 && self->picture && self->picture->number == self->asked && result
         && self->picture->serial == result->serial;
}

int64_t
lam_states_picture_column (const LamStatesPicture *p, double time)
{
  int64_t low = 0, high = p->states.columns;
  if (high == 0 || !(time >= 0) || time > p->edge[high])
    return -1;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (p->edge[middle] <= time)
      low = middle;
    else
      high = middle;
  }
  return low;
}

double
lam_states_picture_value (const LamStatesPicture *p, int64_t column, int order)
{
  if (column < 0 || column >= p->states.columns || ABS (order) >= p->states.orders || (p->longitudinal && order < 0))
    return NAN;
  return plane_of (p, order)[column * p->states.orders + ABS (order)];
}

/* ---- object ---- */

void
lam_sequence_states_close (LamSequenceStates *self)
{
  g_clear_handle_id (&self->ask_source, g_source_remove);
  if (self->newest)
    lam_newest_stop (self->newest);
}

static void
lam_sequence_states_dispose (GObject *object)
{
  LamSequenceStates *self = LAM_SEQUENCE_STATES (object);
  lam_sequence_states_close (self);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_sequence_states_parent_class)->dispose (object);
}

static void
lam_sequence_states_finalize (GObject *object)
{
  LamSequenceStates *self = LAM_SEQUENCE_STATES (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->engine, lam_model_free);
  g_clear_pointer (&self->picture, picture_unref);
  G_OBJECT_CLASS (lam_sequence_states_parent_class)->finalize (object);
}

static void
lam_sequence_states_class_init (LamSequenceStatesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_sequence_states_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_sequence_states_finalize;
  changed_signal =
      g_signal_new ("changed", LAM_TYPE_SEQUENCE_STATES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_sequence_states_init (LamSequenceStates *self)
{
  self->logarithmic = TRUE;
  self->to = 1;
}

static void
result_cb (LamSequenceSession *session, LamSequenceStates *self)
{
  ask (self);
}

LamSequenceStates *
lam_sequence_states_new (LamSequenceSession *session)
{
  static const LamNewestFuncs funcs = {"states", work, answered, failed, free_request, picture_unref};
  LamSequenceStates *self = g_object_new (LAM_TYPE_SEQUENCE_STATES, NULL);
  self->session = g_object_ref (session);
  self->newest = lam_newest_new (self, &funcs);
  g_signal_connect_object (session, "result", G_CALLBACK (result_cb), self, 0);
  return self;
}
