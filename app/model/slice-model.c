#include "config.h"

#include "model/slice-model.h"

#include <glib/gi18n.h>
#include <math.h>

#include "model/latest.h"

#define STATS_US 150000 /* between two workings out of quantiles and histogram */

typedef struct {
  gboolean valid;
  LamPlane plane;
  int64_t row, column;
} Position;

struct _LamSliceModel {
  GObject parent_instance;
  uint64_t generation;
  LamSnapshot *shots[LAM_ALL_PLANES];
  LamPlane plane;
  int64_t wanted[LAM_AXES];
  int64_t counts[LAM_AXES];
  int64_t *order, ordered; /* views of a sinogram's lines */
  double low, high;
  gboolean auto_level, level_held, level_known, inverted, all_planes, symmetric;
  LamColourMap colour_map, home_map;
  Position cursor, mark;
  const char *const *absent; /* [n_absent] */
  int n_absent;
  LamSliceStats *stats;
  uint64_t serial;
  LamLatest numbers;
};

G_DEFINE_FINAL_TYPE (LamSliceModel, lam_slice_model, G_TYPE_OBJECT)

enum {
  PROP_0,
  PROP_SNAPSHOT,
  PROP_STATS,
  PROP_PLANE,
  PROP_INDEX,
  PROP_COUNT,
  PROP_LOW,
  PROP_HIGH,
  PROP_AUTO_LEVEL,
  PROP_INVERTED,
  PROP_COLOUR_MAP,
  PROP_CURSOR,
  PROP_MARK,
  PROP_GENERATION,
  PROP_ALL_PLANES,
  N_PROPS
};
static GParamSpec *properties[N_PROPS];
enum { WANTED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
notify (LamSliceModel *self, int property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* -- levels -- */

static void
apply_level (LamSliceModel *self, double low, double high)
{
  self->level_known = TRUE;
  if (self->symmetric) {
    /* An end that is moved takes the other one along. */
    double half = self->auto_level                         ? fmax (fabs (low), fabs (high))
                  : low != self->low && high == self->high ? -low
                  : high != self->high && low == self->low ? high
                                                           : (high - low) / 2;
    high = fmax (half, 1e-30);
    low = -high;
  }
  if (self->low == low && self->high == high)
    return;
  self->low = low;
  self->high = high;
  g_object_freeze_notify (G_OBJECT (self));
  notify (self, PROP_LOW);
  notify (self, PROP_HIGH);
  g_object_thaw_notify (G_OBJECT (self));
}

static void
set_auto (LamSliceModel *self, gboolean value)
{
  if (self->auto_level == value)
    return;
  self->auto_level = value;
  notify (self, PROP_AUTO_LEVEL);
}

void
lam_slice_model_set_level (LamSliceModel *self, double low, double high)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  /* The narrowest window that floats can still tell apart. */
  double least = fmax (fmax (fabs (low), fabs (high)) * 1e-6, 1e-30);
  if (!isfinite (low) || !isfinite (high))
    return;
  if (high - low < least)
    high = low + least;
  set_auto (self, FALSE);
  apply_level (self, low, high);
}

void
lam_slice_model_get_level (LamSliceModel *self, double *low, double *high)
{
  *low = self->low;
  *high = self->high;
}

gboolean
lam_slice_model_get_auto_level (LamSliceModel *self)
{
  return self->auto_level;
}

void
lam_slice_model_level_auto (LamSliceModel *self)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  set_auto (self, TRUE);
  if (self->stats != NULL)
    apply_level (self, self->stats->auto_low, self->stats->auto_high);
}

void
lam_slice_model_hold_level (LamSliceModel *self, gboolean hold)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  self->level_held = hold;
  if (!hold && self->auto_level && self->stats != NULL)
    apply_level (self, self->stats->auto_low, self->stats->auto_high);
}

void
lam_slice_model_level_full (LamSliceModel *self)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  LamSnapshot *shot = lam_slice_model_get_snapshot (self);
  if (shot == NULL || lam_snapshot_info (shot)->low > lam_snapshot_info (shot)->high)
    return;
  lam_slice_model_set_level (self, lam_snapshot_info (shot)->low, lam_snapshot_info (shot)->high);
}

void
lam_slice_model_level_reset (LamSliceModel *self)
{
  lam_slice_model_level_auto (self);
  lam_slice_model_set_inverted (self, FALSE);
  lam_slice_model_set_colour_map (self, self->symmetric ? LAM_COLOUR_MAP_DIVERGING : self->home_map);
}

void
lam_slice_model_set_home_colours (LamSliceModel *self, LamColourMap map)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self) && map < LAM_COLOUR_MAPS);
  self->home_map = map;
}

void
lam_slice_model_set_symmetric (LamSliceModel *self, gboolean symmetric)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  self->symmetric = !!symmetric;
  lam_slice_model_set_colour_map (self, self->symmetric ? LAM_COLOUR_MAP_DIVERGING : LAM_COLOUR_MAP_GREY);
  apply_level (self, self->low, self->high);
}

void
lam_slice_model_set_inverted (LamSliceModel *self, gboolean inverted)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  if (self->inverted == !!inverted)
    return;
  self->inverted = !!inverted;
  notify (self, PROP_INVERTED);
}

gboolean
lam_slice_model_get_inverted (LamSliceModel *self)
{
  return self->inverted;
}

void
lam_slice_model_set_colour_map (LamSliceModel *self, LamColourMap map)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self) && map < LAM_COLOUR_MAPS);
  if (self->colour_map == map)
    return;
  self->colour_map = map;
  notify (self, PROP_COLOUR_MAP);
}

LamColourMap
lam_slice_model_get_colour_map (LamSliceModel *self)
{
  return self->colour_map;
}

/* -- statistics, on a worker -- */

typedef struct {
  LamSnapshot *shot;
  LamPlane plane;
  LamSliceStats *stats; /* NULL: it has no numbers */
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  lam_snapshot_unref (work->shot);
  g_free (work->stats);
  g_free (work);
}

static gpointer
make_work (gpointer owner)
{
  LamSliceModel *self = owner;
  LamSnapshot *shot = self->shots[self->plane];
  if (shot == NULL)
    return NULL;
  Work *work = g_new0 (Work, 1);
  *work = (Work){lam_snapshot_ref (shot), self->plane, NULL};
  return work;
}

static void
do_work (gpointer job)
{
  Work *work = job;
  const LamSnapshotInfo *info = lam_snapshot_info (work->shot);
  float low, high;
  if (!lam_snapshot_quantiles (work->shot, 0.005, 0.995, &low, &high))
    return;
  LamSliceStats *stats = work->stats = g_new0 (LamSliceStats, 1);
  stats->low = info->low;
  stats->high = info->high;
  stats->auto_low = low;
  stats->auto_high = high;
  lam_snapshot_quantiles (work->shot, 0.001, 0.999, &low, &high);
  stats->robust_low = low - (high - low) * 0.08;
  stats->robust_high = high + (high - low) * 0.08;
  lam_snapshot_histogram (work->shot, info->low, info->high, LAM_HISTOGRAM_BINS, stats->full);
  lam_snapshot_histogram (work->shot, stats->robust_low, stats->robust_high, LAM_HISTOGRAM_BINS, stats->robust);
}

static void
work_done (gpointer owner, gpointer job)
{
  LamSliceModel *self = owner;
  Work *work = job;
  /* Numbers of a plane that is no longer shown are not wanted. They are of an older snapshot when one came meanwhile:
   * still the best there is until the worker, started again, is through. */
  if (work->plane != self->plane || self->shots[self->plane] == NULL)
    return;
  g_free (self->stats);
  self->stats = g_steal_pointer (&work->stats);
  if (self->stats != NULL) {
    self->stats->serial = ++self->serial;
    if (self->auto_level && !self->level_held)
      apply_level (self, self->stats->auto_low, self->stats->auto_high);
  }
  notify (self, PROP_STATS);
}

static const LamLatestFuncs numbers_funcs = {"lam_slice_stats", make_work, do_work, work_done, work_free};

static void
start_work (LamSliceModel *self)
{
  /* Pictures that follow a hand come faster than numbers need to: the processors are the pictures' then. */
  lam_latest_ask (&self->numbers, self->stats != NULL ? STATS_US : 0);
}

gboolean
lam_slice_model_is_settled (LamSliceModel *self)
{
  return lam_latest_is_idle (&self->numbers);
}

const LamSliceStats *
lam_slice_model_get_stats (LamSliceModel *self)
{
  return self->stats;
}

/* -- snapshots -- */

void
lam_slice_model_set_generation (LamSliceModel *self, uint64_t generation)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  if (self->generation == generation)
    return;
  self->generation = generation;
  notify (self, PROP_GENERATION);
}

uint64_t
lam_slice_model_get_generation (LamSliceModel *self)
{
  return self->generation;
}

static void
set_count (LamSliceModel *self, LamPlane plane, int64_t count)
{
  if (self->counts[plane] == count)
    return;
  gboolean fresh = self->counts[plane] == 0;
  self->counts[plane] = count;
  self->wanted[plane] = fresh ? (count > 0 ? (count - 1) / 2 : 0) : CLAMP (self->wanted[plane], 0, MAX (count - 1, 0));
  if (lam_slice_model_is_wanted (self, plane)) {
    notify (self, PROP_COUNT);
    notify (self, PROP_INDEX);
  }
}

/* Pictures of a volume that is no longer the one of the live slice would be taken for it. */
static void
drop_others (LamSliceModel *self, const LamSnapshotInfo *live)
{
  for (int p = 0; p < LAM_PLANES; p++)
    if (p != (int) live->plane && self->shots[p] != NULL
        && lam_snapshot_info (self->shots[p])->generation != live->generation)
      g_clear_pointer (&self->shots[p], lam_snapshot_unref);
}

gboolean
lam_slice_model_take (LamSliceModel *self, LamSnapshot *snapshot)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (self) && snapshot != NULL, FALSE);
  const LamSnapshotInfo *info = lam_snapshot_info (snapshot);
  LamPlane plane = info->plane;
  LamSnapshot *held = self->shots[plane];
  gboolean stale = info->generation != self->generation;
  if (!stale && held != NULL) {
    const LamSnapshotInfo *old = lam_snapshot_info (held);
    stale = old->generation == info->generation && old->index == info->index && info->iteration < old->iteration;
  }
  if (stale) {
    lam_snapshot_unref (snapshot);
    return FALSE;
  }
  self->shots[plane] = snapshot;
  g_clear_pointer (&held, lam_snapshot_unref);
  if (self->counts[plane] == 0) {
    set_count (self, plane, info->count);
    self->wanted[plane] = info->index;
    if (lam_slice_model_is_wanted (self, plane))
      notify (self, PROP_INDEX);
  } else
    set_count (self, plane, info->count);
  if (info->iteration == LAM_ITERATION_LIVE)
    drop_others (self, info);
  if (self->all_planes && plane != self->plane)
    notify (self, PROP_SNAPSHOT);
  if (plane == self->plane) {
    /* Something to look at until the percentiles are there. */
    if (self->auto_level && !self->level_known && info->low <= info->high)
      apply_level (self, info->low, info->high > info->low ? info->high : info->low + 1e-6);
    notify (self, PROP_SNAPSHOT);
    start_work (self);
  }
  return TRUE;
}

void
lam_slice_model_clear (LamSliceModel *self)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  for (int p = 0; p < LAM_ALL_PLANES; p++) {
    g_clear_pointer (&self->shots[p], lam_snapshot_unref);
    self->counts[p] = self->wanted[p] = 0;
  }
  g_clear_pointer (&self->stats, g_free);
  self->level_known = FALSE;
  lam_latest_clear (&self->numbers);
  self->cursor.valid = self->mark.valid = FALSE;
  set_auto (self, TRUE);
  for (int i = PROP_SNAPSHOT; i < N_PROPS; i++)
    notify (self, i);
}

void
lam_slice_model_set_order (LamSliceModel *self, const int64_t *order, int64_t n)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  g_free (self->order);
  self->order = order != NULL ? g_memdup2 (order, (gsize) n * sizeof *order) : NULL;
  self->ordered = order != NULL ? n : 0;
  notify (self, PROP_CURSOR);
}

int64_t
lam_slice_model_get_ordered (LamSliceModel *self, int64_t line)
{
  return line >= 0 && line < self->ordered ? self->order[line] : line;
}

LamSnapshot *
lam_slice_model_peek (LamSliceModel *self, LamPlane plane)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (self) && plane < LAM_ALL_PLANES, NULL);
  return self->shots[plane];
}

LamSnapshot *
lam_slice_model_get_snapshot (LamSliceModel *self)
{
  return self->shots[self->plane];
}

/* -- wanted plane and index -- */

static void
ask (LamSliceModel *self, LamPlane plane)
{
  g_signal_emit (self, signals[WANTED], 0, (int) plane, (gint64) self->wanted[plane]);
}

void
lam_plane_axes (LamPlane plane, LamPlane *down, LamPlane *across)
{
  if (plane >= LAM_PLANES) {
    *down = plane == LAM_PLANE_VIEW ? LAM_PLANE_SINOGRAM : LAM_PLANE_VIEW;
    *across = (LamPlane) LAM_ALL_PLANES;
    return;
  }
  *down = plane == LAM_PLANE_SLICE ? LAM_PLANE_ROW : LAM_PLANE_SLICE;
  *across = plane == LAM_PLANE_COLUMN ? LAM_PLANE_ROW : LAM_PLANE_COLUMN;
}

void
lam_slice_model_set_extent (LamSliceModel *self, int64_t slices, int64_t rows, int64_t columns)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  const int64_t counts[LAM_PLANES] = {[LAM_PLANE_SLICE] = slices, [LAM_PLANE_ROW] = rows, [LAM_PLANE_COLUMN] = columns};
  gboolean changed[LAM_PLANES];
  for (int p = 0; p < LAM_PLANES; p++) {
    int64_t count = self->counts[p], index = self->wanted[p];
    set_count (self, p, counts[p]);
    changed[p] = count != self->counts[p] || index != self->wanted[p];
  }
  for (int p = 0; p < LAM_PLANES; p++)
    if (changed[p] && lam_slice_model_is_wanted (self, p))
      ask (self, p);
}

void
lam_slice_model_set_plane (LamSliceModel *self, LamPlane plane)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self) && plane < LAM_ALL_PLANES);
  if (self->plane == plane)
    return;
  self->plane = plane;
  self->numbers.began = 0; /* another plane's numbers are wanted at once */
  if (!self->all_planes)
    self->cursor.valid = self->mark.valid = FALSE;
  static const int touched[] = {PROP_PLANE, PROP_INDEX, PROP_COUNT, PROP_SNAPSHOT, PROP_CURSOR, PROP_MARK};
  for (size_t i = 0; i < G_N_ELEMENTS (touched); i++)
    notify (self, touched[i]);
  start_work (self);
  if (!self->all_planes)
    ask (self, plane);
}

LamPlane
lam_slice_model_get_plane (LamSliceModel *self)
{
  return self->plane;
}

void
lam_slice_model_set_plane_index (LamSliceModel *self, LamPlane plane, int64_t index)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self) && plane < LAM_ALL_PLANES);
  index = CLAMP (index, 0, MAX (self->counts[plane] - 1, 0));
  if (self->wanted[plane] == index)
    return;
  self->wanted[plane] = index;
  if (!lam_slice_model_is_wanted (self, plane))
    return;
  notify (self, PROP_INDEX);
  if (self->all_planes)
    notify (self, PROP_MARK);
  ask (self, plane);
}

void
lam_slice_model_set_index (LamSliceModel *self, int64_t index)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  lam_slice_model_set_plane_index (self, self->plane, index);
}

int64_t
lam_slice_model_get_plane_index (LamSliceModel *self, LamPlane plane)
{
  return self->wanted[plane];
}

int64_t
lam_slice_model_get_index (LamSliceModel *self)
{
  return self->wanted[self->plane];
}

int64_t
lam_slice_model_get_plane_count (LamSliceModel *self, LamPlane plane)
{
  return self->counts[plane];
}

int64_t
lam_slice_model_get_count (LamSliceModel *self)
{
  return self->counts[self->plane];
}

gboolean
lam_slice_model_get_all_planes (LamSliceModel *self)
{
  return self->all_planes;
}

gboolean
lam_slice_model_is_wanted (LamSliceModel *self, LamPlane plane)
{
  return self->all_planes || plane == self->plane;
}

void
lam_slice_model_set_all_planes (LamSliceModel *self, gboolean all)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  if (self->all_planes == !!all)
    return;
  int64_t row, column;
  gboolean marked = lam_slice_model_get_mark (self, &row, &column);
  self->all_planes = !!all;
  /* The crosshair stays where it is, whichever way it is kept. */
  if (marked)
    lam_slice_model_set_mark (self, row, column);
  static const int touched[] = {PROP_ALL_PLANES, PROP_INDEX, PROP_SNAPSHOT, PROP_MARK};
  for (size_t i = 0; i < G_N_ELEMENTS (touched); i++)
    notify (self, touched[i]);
  for (int p = 0; p < LAM_PLANES; p++)
    if (self->all_planes || p == (int) self->plane)
      ask (self, p);
}

/* -- cursor and mark -- */

static void
set_position (LamSliceModel *self, Position *position, Position value, int property)
{
  if (position->valid == value.valid
      && (!value.valid
          || (position->plane == value.plane && position->row == value.row && position->column == value.column)))
    return;
  *position = value;
  notify (self, property);
}

void
lam_slice_model_set_cursor_in (LamSliceModel *self, LamPlane plane, int64_t row, int64_t column)
{
  set_position (self, &self->cursor, (Position){TRUE, plane, row, column}, PROP_CURSOR);
}

void
lam_slice_model_set_cursor (LamSliceModel *self, int64_t row, int64_t column)
{
  lam_slice_model_set_cursor_in (self, self->plane, row, column);
}

void
lam_slice_model_unset_cursor (LamSliceModel *self)
{
  set_position (self, &self->cursor, (Position){FALSE}, PROP_CURSOR);
}

gboolean
lam_slice_model_get_cursor (LamSliceModel *self, int64_t *row, int64_t *column)
{
  *row = self->cursor.row;
  *column = self->cursor.column;
  return self->cursor.valid;
}

LamPlane
lam_slice_model_get_cursor_plane (LamSliceModel *self)
{
  return self->cursor.valid ? self->cursor.plane : self->plane;
}

void
lam_slice_model_set_mark_in (LamSliceModel *self, LamPlane plane, int64_t row, int64_t column)
{
  if (self->all_planes) {
    LamPlane down, across;
    lam_plane_axes (plane, &down, &across);
    lam_slice_model_set_plane_index (self, down, row);
    lam_slice_model_set_plane_index (self, across, column);
  } else if (plane == self->plane)
    set_position (self, &self->mark, (Position){TRUE, plane, row, column}, PROP_MARK);
}

void
lam_slice_model_set_mark (LamSliceModel *self, int64_t row, int64_t column)
{
  lam_slice_model_set_mark_in (self, self->plane, row, column);
}

void
lam_slice_model_unset_mark (LamSliceModel *self)
{
  set_position (self, &self->mark, (Position){FALSE}, PROP_MARK);
}

gboolean
lam_slice_model_get_mark_in (LamSliceModel *self, LamPlane plane, int64_t *row, int64_t *column)
{
  LamPlane down, across;
  lam_plane_axes (plane, &down, &across);
  *row = self->all_planes ? self->wanted[down] : self->mark.row;
  *column = self->all_planes ? self->wanted[across] : self->mark.column;
  return self->all_planes ? self->counts[down] > 0 && self->counts[across] > 0
                          : self->mark.valid && plane == self->plane;
}

gboolean
lam_slice_model_get_mark (LamSliceModel *self, int64_t *row, int64_t *column)
{
  return lam_slice_model_get_mark_in (self, self->plane, row, column);
}

gboolean
lam_slice_model_get_value (LamSliceModel *self, int64_t row, int64_t column, float *value)
{
  LamSnapshot *shot = self->shots[lam_slice_model_get_cursor_plane (self)];
  if (shot == NULL)
    return FALSE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  if (row < 0 || column < 0 || row >= info->height || column >= info->width)
    return FALSE;
  *value = lam_snapshot_pixels (shot)[row * info->width + column];
  return TRUE;
}

void
lam_slice_model_set_absent_words (LamSliceModel *self, const char *const *words, int n)
{
  g_return_if_fail (LAM_IS_SLICE_MODEL (self));
  self->absent = words;
  self->n_absent = n;
}

const char *
lam_slice_model_get_absent (LamSliceModel *self, float value)
{
  int why = lam_absent_why (value);
  return why > 0 && why < self->n_absent && self->absent[why] != NULL ? _ (self->absent[why]) : NULL;
}

gboolean
lam_slice_model_has_absent_words (LamSliceModel *self)
{
  return self->n_absent > 0;
}

gboolean
lam_slice_model_mark_next_bad (LamSliceModel *self)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (self), FALSE);
  LamSnapshot *shot = lam_slice_model_get_snapshot (self);
  if (shot == NULL || lam_snapshot_info (shot)->bad == 0)
    return FALSE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  const float *pixels = lam_snapshot_pixels (shot);
  int64_t n = info->width * info->height;
  int64_t row, column;
  int64_t start = lam_slice_model_get_mark (self, &row, &column) ? row * info->width + column : n - 1;
  for (int64_t k = 1; k <= n; k++) {
    int64_t i = (start + k) % n;
    if (!isfinite (pixels[i]) && !lam_is_quiet (pixels[i])) {
      lam_slice_model_set_mark (self, i / info->width, i % info->width);
      return TRUE;
    }
  }
  return FALSE;
}

/* -- GObject -- */

static void
lam_slice_model_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamSliceModel *self = LAM_SLICE_MODEL (object);
  switch (id) {
  case PROP_SNAPSHOT:
    g_value_set_pointer (value, lam_slice_model_get_snapshot (self));
    break;
  case PROP_STATS:
    g_value_set_pointer (value, self->stats);
    break;
  case PROP_PLANE:
    g_value_set_int (value, self->plane);
    break;
  case PROP_INDEX:
    g_value_set_int64 (value, self->wanted[self->plane]);
    break;
  case PROP_COUNT:
    g_value_set_int64 (value, self->counts[self->plane]);
    break;
  case PROP_LOW:
    g_value_set_double (value, self->low);
    break;
  case PROP_HIGH:
    g_value_set_double (value, self->high);
    break;
  case PROP_AUTO_LEVEL:
    g_value_set_boolean (value, self->auto_level);
    break;
  case PROP_INVERTED:
    g_value_set_boolean (value, self->inverted);
    break;
  case PROP_COLOUR_MAP:
    g_value_set_int (value, self->colour_map);
    break;
  case PROP_CURSOR:
    g_value_set_boolean (value, self->cursor.valid);
    break;
  case PROP_MARK:
    g_value_set_boolean (value, self->all_planes || self->mark.valid);
    break;
  case PROP_ALL_PLANES:
    g_value_set_boolean (value, self->all_planes);
    break;
  case PROP_GENERATION:
    g_value_set_uint64 (value, self->generation);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_slice_model_finalize (GObject *object)
{
  LamSliceModel *self = LAM_SLICE_MODEL (object);
  for (int p = 0; p < LAM_ALL_PLANES; p++)
    g_clear_pointer (&self->shots[p], lam_snapshot_unref);
  g_free (self->order);
  lam_latest_clear (&self->numbers);
  g_free (self->stats);
  G_OBJECT_CLASS (lam_slice_model_parent_class)->finalize (object);
}

static void
lam_slice_model_class_init (LamSliceModelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_slice_model_get_property;
  object_class->finalize = lam_slice_model_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  double big = G_MAXDOUBLE;
  properties[PROP_SNAPSHOT] = g_param_spec_pointer ("snapshot", NULL, NULL, flags);
  properties[PROP_STATS] = g_param_spec_pointer ("stats", NULL, NULL, flags);
  properties[PROP_PLANE] = g_param_spec_int ("plane", NULL, NULL, 0, LAM_ALL_PLANES - 1, 0, flags);
  properties[PROP_INDEX] = g_param_spec_int64 ("index", NULL, NULL, 0, G_MAXINT64, 0, flags);
  properties[PROP_COUNT] = g_param_spec_int64 ("count", NULL, NULL, 0, G_MAXINT64, 0, flags);
  properties[PROP_LOW] = g_param_spec_double ("low", NULL, NULL, -big, big, 0, flags);
  properties[PROP_HIGH] = g_param_spec_double ("high", NULL, NULL, -big, big, 1, flags);
  properties[PROP_AUTO_LEVEL] = g_param_spec_boolean ("auto-level", NULL, NULL, TRUE, flags);
  properties[PROP_INVERTED] = g_param_spec_boolean ("inverted", NULL, NULL, FALSE, flags);
  properties[PROP_COLOUR_MAP] = g_param_spec_int ("colour-map", NULL, NULL, 0, LAM_COLOUR_MAPS - 1, 0, flags);
  properties[PROP_CURSOR] = g_param_spec_boolean ("cursor", NULL, NULL, FALSE, flags);
  properties[PROP_MARK] = g_param_spec_boolean ("mark", NULL, NULL, FALSE, flags);
  properties[PROP_ALL_PLANES] = g_param_spec_boolean ("all-planes", NULL, NULL, FALSE, flags);
  properties[PROP_GENERATION] = g_param_spec_uint64 ("generation", NULL, NULL, 0, G_MAXUINT64, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[WANTED] = g_signal_new ("wanted", LAM_TYPE_SLICE_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                  2, G_TYPE_INT, G_TYPE_INT64);
}

static void
lam_slice_model_init (LamSliceModel *self)
{
  lam_latest_init (&self->numbers, self, &numbers_funcs);
  self->high = 1;
  self->auto_level = TRUE;
}

LamSliceModel *
lam_slice_model_new (void)
{
  return g_object_new (LAM_TYPE_SLICE_MODEL, NULL);
}
