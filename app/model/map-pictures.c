#include "config.h"

#include "model/map-pictures.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/latest.h"
#include "run/newest.h"

/* How a map is looked at. */
typedef struct {
  double low, high;
  gboolean automatic, inverted;
  LamColourMap colours;
} Look;

struct _LamMapPictures {
  GObject parent_instance;
  LamMapsResult *result;
  const char *chosen; /* interned; stays while there are no maps */
  LamSliceModel *slices;
  GHashTable *looks; /* by name: of those that were changed by hand */
  Look given;        /* that the shown map began with */
  LamLatest cutter;
  LamNewest *fitter;
  LamVoxelFit *fit;
  _Atomic int64_t wanted; /* serial of the newest fit that is asked for */
  int64_t answered;
};

enum { MAPS, CHOSEN, FIT, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamMapPictures, lam_map_pictures, G_TYPE_OBJECT)

/* ---- cutting planes out of a map ---- */

typedef struct {
  LamMapsResult *result;
  const LamMapsMap *map;
  uint64_t generation;
  gboolean wanted[LAM_PLANES];
  int64_t index[LAM_PLANES];
  LamSnapshot *shots[LAM_PLANES];
} Cut;

static void
free_cut (gpointer data)
{
  Cut *cut = data;
  for (int p = 0; p < LAM_PLANES; p++)
    g_clear_pointer (&cut->shots[p], lam_snapshot_unref);
  lam_maps_result_unref (cut->result);
  g_free (cut);
}

static gpointer
make_cut (gpointer owner)
{
  LamMapPictures *self = owner;
  const LamMapsMap *map = lam_map_pictures_get_chosen (self);
  if (map == NULL)
    return NULL;
  Cut *cut = g_new0 (Cut, 1);
  cut->result = lam_maps_result_ref (self->result);
  cut->map = map;
  cut->generation = lam_slice_model_get_generation (self->slices);
  for (int p = 0; p < LAM_PLANES; p++) {
    cut->wanted[p] = lam_slice_model_is_wanted (self->slices, p);
    cut->index[p] = lam_slice_model_get_plane_index (self->slices, p);
  }
  return cut;
}

static LamSnapshot *
cut_plane (const Cut *cut, LamPlane plane)
{
  const LamMapsSeries *s = cut->result->series;
  int64_t shape[3], at[3];
  double pitch[3];
  lam_maps_series_shape (s, shape); /* rows, columns, slices */
  lam_maps_series_pitch (s, pitch);
  static const int across_of[LAM_PLANES] = {[LAM_PLANE_SLICE] = 1, [LAM_PLANE_ROW] = 1, [LAM_PLANE_COLUMN] = 0},
                   down_of[LAM_PLANES] = {[LAM_PLANE_SLICE] = 0, [LAM_PLANE_ROW] = 2, [LAM_PLANE_COLUMN] = 2},
                   index_of[LAM_PLANES] = {[LAM_PLANE_SLICE] = 2, [LAM_PLANE_ROW] = 0, [LAM_PLANE_COLUMN] = 1};
  int across = across_of[plane], down = down_of[plane];
  LamSnapshotInfo info = {.generation = cut->generation,
                          .iteration = -1,
                          .plane = plane,
                          .index = cut->index[plane],
                          .count = shape[index_of[plane]],
                          .width = shape[across],
                          .height = shape[down],
                          .pitch_x = pitch[across],
                          .pitch_y = pitch[down]};
  g_strlcpy (info.length_unit, s->s->nifti ? "mm" : "px", sizeof info.length_unit);
  g_strlcpy (info.value_unit, cut->map->unit, sizeof info.value_unit);
  float *pixels = lam_alloc_n (info.width * info.height, sizeof *pixels, "picture", NULL);
  if (pixels == NULL)
    return NULL;
  at[index_of[plane]] = info.index;
  for (int64_t r = 0; r < info.height; r++)
    for (int64_t c = 0; c < info.width; c++) {
      at[down] = r;
      at[across] = c;
      int64_t voxel = lam_maps_series_voxel (s, at[2], at[0], at[1]);
      int state = cut->result->match.state[voxel];
      float value = cut->map->values[voxel];
      pixels[r * info.width + c] = isnan (value) && state != LAM_VOXEL_MATCHED
                                       ? lam_absent (state, state == LAM_VOXEL_NOT_FINITE || state == LAM_VOXEL_NO_ATOM)
                                       : value;
    }
  return lam_snapshot_new_take (&info, pixels);
}

static void
do_cut (gpointer job)
{
  Cut *cut = job;
  for (int p = 0; p < LAM_PLANES; p++)
    if (cut->wanted[p])
      cut->shots[p] = cut_plane (cut, p);
}

static void
cut_done (gpointer owner, gpointer job)
{
  LamMapPictures *self = owner;
  Cut *cut = job;
  for (int p = 0; p < LAM_PLANES; p++)
    if (cut->shots[p] != NULL)
      lam_slice_model_take (self->slices, g_steal_pointer (&cut->shots[p]));
}

static const LamLatestFuncs cutter_funcs = {"lam_map_cut", make_cut, do_cut, cut_done, free_cut};

static void
wanted_cb (LamSliceModel *slices, int plane, gint64 index, LamMapPictures *self)
{
  lam_latest_ask (&self->cutter, 0);
}

/* ---- the fit of the marked voxel ---- */

typedef struct {
  LamMapsResult *result;
  int64_t serial, slice, row, column;
} Request;

static void
free_request (gpointer data)
{
  lam_maps_result_unref (((Request *) data)->result);
  g_free (data);
}

static void
free_fit (gpointer fit)
{
  lam_voxel_fit_free (fit);
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  LamMapPictures *self = owner;
  Request *r = request;
  return lam_voxel_fit_new (r->result, r->slice, r->row, r->column, &self->wanted, r->serial, error);
}

static void
answered (gpointer owner)
{
  LamMapPictures *self = owner;
  g_autoptr (LamVoxelFit) fit = lam_newest_take (self->fitter);
  if (fit == NULL || fit->result != self->result)
    return;
  g_clear_pointer (&self->fit, lam_voxel_fit_free);
  self->fit = g_steal_pointer (&fit);
  self->answered = self->fit->serial;
  g_signal_emit (self, signals[FIT], 0);
}

static void
failed (gpointer owner, const GError *error)
{
}

static void
drop_fit (LamMapPictures *self)
{
  self->answered = atomic_fetch_add (&self->wanted, 1) + 1;
  g_clear_pointer (&self->fit, lam_voxel_fit_free);
  g_signal_emit (self, signals[FIT], 0);
}

/* The voxel under the crosshair. */
static void
ask_fit (LamMapPictures *self)
{
  int64_t row, column, at[LAM_PLANES];
  LamPlane plane = lam_slice_model_get_plane (self->slices), down, across;
  if (self->result == NULL || !lam_slice_model_get_mark (self->slices, &row, &column)) {
    if (self->fit != NULL)
      drop_fit (self);
    return;
  }
  lam_plane_axes (plane, &down, &across);
  at[plane] = lam_slice_model_get_plane_index (self->slices, plane);
  at[down] = row;
  at[across] = column;
  Request *r = g_new0 (Request, 1);
  *r = (Request){lam_maps_result_ref (self->result), atomic_fetch_add (&self->wanted, 1) + 1, at[LAM_PLANE_SLICE],
                 at[LAM_PLANE_ROW], at[LAM_PLANE_COLUMN]};
  lam_newest_ask (self->fitter, r);
}

static void
mark_notify_cb (LamSliceModel *slices, GParamSpec *pspec, LamMapPictures *self)
{
  ask_fit (self);
}

/* ---- looks ---- */

static Look
look_now (LamMapPictures *self)
{
  Look look = {.automatic = lam_slice_model_get_auto_level (self->slices),
               .inverted = lam_slice_model_get_inverted (self->slices),
               .colours = lam_slice_model_get_colour_map (self->slices)};
  lam_slice_model_get_level (self->slices, &look.low, &look.high);
  return look;
}

/* What suits a map: the same window for all of its slices. */
static Look
look_for (const LamMapsMap *map)
{
  Look look = {.low = map->low, .high = map->high, .colours = lam_colour_map_for (map->name)};
  if (look.colours == LAM_COLOUR_MAP_CYCLIC) {
    look.low = -G_PI;
    look.high = G_PI;
    return look;
  }
  if (look.colours == LAM_COLOUR_MAP_DIVERGING) {
    look.high = fmax (fabs (map->low), fabs (map->high));
    look.low = -look.high;
  }
  if (look.low > 0 && !g_str_equal (map->name, "score"))
    look.low = 0;
  if (!(look.high > look.low))
    look.high = look.low + 1;
  return look;
}

static void
keep_look (LamMapPictures *self)
{
  Look now = look_now (self), *given = &self->given;
  if (self->chosen == NULL || lam_slice_model_get_snapshot (self->slices) == NULL)
    return;
  if (now.low == given->low && now.high == given->high && now.automatic == given->automatic
      && now.inverted == given->inverted && now.colours == given->colours)
    g_hash_table_remove (self->looks, self->chosen);
  else
    g_hash_table_insert (self->looks, (gpointer) self->chosen, g_memdup2 (&now, sizeof now));
}

static void
apply_look (LamMapPictures *self, const LamMapsMap *map)
{
  const Look *kept = g_hash_table_lookup (self->looks, map->name);
  Look home = look_for (map), look = kept != NULL ? *kept : home;
  lam_slice_model_set_home_colours (self->slices, home.colours);
  lam_slice_model_set_colour_map (self->slices, look.colours);
  lam_slice_model_set_inverted (self->slices, look.inverted);
  lam_slice_model_set_level (self->slices, look.low, look.high);
  self->given = home;
  if (kept != NULL && look.automatic)
    lam_slice_model_level_auto (self->slices);
}

/* ---- what is shown ---- */

LamSliceModel *
lam_map_pictures_get_slices (LamMapPictures *self)
{
  return self->slices;
}

LamMapsResult *
lam_map_pictures_get_result (LamMapPictures *self)
{
  return self->result;
}

const LamMapsMap *
lam_map_pictures_get_chosen (LamMapPictures *self)
{
  for (int i = 0; self->result != NULL && i < self->result->n; i++)
    if (self->result->maps[i].name == self->chosen)
      return &self->result->maps[i];
  return NULL;
}

const LamVoxelFit *
lam_map_pictures_get_fit (LamMapPictures *self)
{
  return self->fit;
}

static void
show (LamMapPictures *self)
{
  const LamMapsMap *map = lam_map_pictures_get_chosen (self);
  if (map == NULL)
    return;
  lam_slice_model_set_generation (self->slices, lam_slice_model_get_generation (self->slices) + 1);
  apply_look (self, map);
  lam_latest_ask (&self->cutter, 0);
}

void
lam_map_pictures_choose (LamMapPictures *self, const char *name)
{
  const char *interned = g_intern_string (name);
  if (self->chosen == interned)
    return;
  keep_look (self);
  self->chosen = interned;
  show (self);
  g_signal_emit (self, signals[CHOSEN], 0);
}

void
lam_map_pictures_set_result (LamMapPictures *self, LamMapsResult *result)
{
  int64_t before[3] = {0}, shape[3] = {0};
  if (self->result != NULL)
    lam_maps_series_shape (self->result->series, before);
  if (result != NULL)
    lam_maps_series_shape (result->series, shape);
  keep_look (self);
  drop_fit (self);
  if (result != NULL)
    lam_maps_result_ref (result);
  g_clear_pointer (&self->result, lam_maps_result_unref);
  self->result = result;
  /* The same place stays marked where there is one. */
  if (memcmp (before, shape, sizeof shape) != 0)
    lam_slice_model_clear (self->slices);
  if (result != NULL) {
    if (lam_map_pictures_get_chosen (self) == NULL)
      self->chosen = result->maps[0].name;
    lam_slice_model_set_extent (self->slices, shape[2], shape[0], shape[1]);
    show (self);
    ask_fit (self);
  }
  g_signal_emit (self, signals[MAPS], 0);
  g_signal_emit (self, signals[CHOSEN], 0);
}

gboolean
lam_map_pictures_is_settled (LamMapPictures *self)
{
  return lam_latest_is_idle (&self->cutter) && lam_slice_model_is_settled (self->slices)
         && self->answered == atomic_load (&self->wanted);
}

/* ---- object ---- */

LamMapPictures *
lam_map_pictures_new (void)
{
  return g_object_new (LAM_TYPE_MAP_PICTURES, NULL);
}

void
lam_map_pictures_close (LamMapPictures *self)
{
  atomic_fetch_add (&self->wanted, 1);
  if (self->fitter != NULL)
    lam_newest_stop (self->fitter);
  lam_latest_clear (&self->cutter);
}

static void
lam_map_pictures_dispose (GObject *object)
{
  LamMapPictures *self = LAM_MAP_PICTURES (object);
  lam_map_pictures_close (self);
  g_clear_object (&self->slices);
  G_OBJECT_CLASS (lam_map_pictures_parent_class)->dispose (object);
}

static void
lam_map_pictures_finalize (GObject *object)
{
  LamMapPictures *self = LAM_MAP_PICTURES (object);
  g_clear_pointer (&self->fitter, lam_newest_free);
  g_clear_pointer (&self->fit, lam_voxel_fit_free);
  g_clear_pointer (&self->result, lam_maps_result_unref);
  g_hash_table_unref (self->looks);
  G_OBJECT_CLASS (lam_map_pictures_parent_class)->finalize (object);
}

static void
lam_map_pictures_class_init (LamMapPicturesClass *klass)
{
  static const char *const names[N_SIGNALS] = {"maps", "chosen", "fit"};
  G_OBJECT_CLASS (klass)->dispose = lam_map_pictures_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_map_pictures_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], LAM_TYPE_MAP_PICTURES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_map_pictures_init (LamMapPictures *self)
{
  static const LamNewestFuncs funcs = {"voxel", work, answered, failed, free_request, free_fit};
  self->looks = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->slices = lam_slice_model_new ();
  lam_slice_model_set_absent_words (self->slices, lam_voxel_why, LAM_VOXEL_STATES);
  self->fitter = lam_newest_new (self, &funcs);
  lam_latest_init (&self->cutter, self, &cutter_funcs);
  g_signal_connect_object (self->slices, "wanted", G_CALLBACK (wanted_cb), self, 0);
  g_signal_connect_object (self->slices, "notify::mark", G_CALLBACK (mark_notify_cb), self, 0);
  g_signal_connect_object (self->slices, "notify::index", G_CALLBACK (mark_notify_cb), self, 0);
}
