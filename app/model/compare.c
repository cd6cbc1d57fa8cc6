#include "config.h"

#include "model/compare.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/latest.h"
#include "run/recon.h"

/* -- sources -- */

struct _LamCompareSource {
  GObject parent_instance;
  char *name;
  LamResult *of;          /* NULL = the live slice */
  LamReconResult *result; /* of it */
};

G_DEFINE_FINAL_TYPE (LamCompareSource, lam_compare_source, G_TYPE_OBJECT)

enum { SOURCE_PROP_0, SOURCE_PROP_NAME, N_SOURCE_PROPS };
static GParamSpec *source_properties[N_SOURCE_PROPS];

const char *
lam_compare_source_get_name (LamCompareSource *self)
{
  return self->name;
}

static void
lam_compare_source_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_string (value, LAM_COMPARE_SOURCE (object)->name);
}

static void
lam_compare_source_finalize (GObject *object)
{
  LamCompareSource *self = LAM_COMPARE_SOURCE (object);
  g_free (self->name);
  g_clear_object (&self->of);
  g_clear_pointer (&self->result, lam_recon_result_unref);
  G_OBJECT_CLASS (lam_compare_source_parent_class)->finalize (object);
}

static void
lam_compare_source_class_init (LamCompareSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_compare_source_get_property;
  object_class->finalize = lam_compare_source_finalize;
  source_properties[SOURCE_PROP_NAME] =
      g_param_spec_string ("name", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_SOURCE_PROPS, source_properties);
}

static void
lam_compare_source_init (LamCompareSource *self)
{
}

/* Its name, and what tells results of one scan apart. */
static char *
name_result (LamResult *of)
{
  const LamReconResult *result = lam_result_get_recon (of);
  g_autoptr (GString) text = g_string_new (lam_result_get_name (of));
  const char *unit = result->geometry->length_unit;
  if (result->params.method == LAM_METHOD_VCD)
    g_string_append_printf (text,
                            g_dngettext (GETTEXT_PACKAGE, ", %u iteration", ", %u iterations", result->iterations->len),
                            result->iterations->len);
  g_string_append_printf (text, _ (", COR %.2f"),
                          lam_provenance_channel (&result->made, lam_geometry_center (result->geometry)));
  if (g_strcmp0 (unit, "px") != 0)
    g_string_append_printf (text, ", %g %s", result->geometry->voxel_pitch, unit);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* -- comparison -- */

struct _LamCompare {
  GObject parent_instance;
  LamSession *session;
  LamSliceModel *slices[LAM_COMPARE_PARTS];
  GListStore *sources;
  LamCompareSource *chosen[2];
  gboolean by_hand; /* the person chose */
  LamLatest latest;
  uint64_t generation;
  gboolean active, linking, has_stats;
  LamCompareStats stats;
  char *problem;
};

G_DEFINE_FINAL_TYPE (LamCompare, lam_compare, G_TYPE_OBJECT)

enum { PROP_0, PROP_PROBLEM, PROP_STATS, PROP_SOURCE_A, PROP_SOURCE_B, N_PROPS };
static GParamSpec *properties[N_PROPS];

static void
set_problem (LamCompare *self, const char *problem)
{
  if (g_strcmp0 (self->problem, problem) == 0)
    return;
  g_free (self->problem);
  self->problem = g_strdup (problem);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROBLEM]);
}

/* -- pictures, on a worker -- */

typedef struct {
  LamReconResult *results[2]; /* either this ... */
  LamSnapshot *shots[3];      /* ... or the live slice; in the end all three pictures */
  LamPlane plane;
  int64_t index;
  uint64_t generation;
  LamCompareStats stats;
  GError *error;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;
  for (int i = 0; i < 2; i++)
    g_clear_pointer (&work->results[i], lam_recon_result_unref);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    g_clear_pointer (&work->shots[i], lam_snapshot_unref);
  g_clear_error (&work->error);
  g_free (work);
}

/* The live slice in this comparison's generation. */
static LamSnapshot *
copy_shot (const LamSnapshot *shot, uint64_t generation, GError **error)
{
  LamSnapshotInfo info = *lam_snapshot_info (shot);
  int64_t n = info.width * info.height;
  float *pixels = lam_alloc_n (n, sizeof *pixels, "picture", error);
  if (pixels == NULL)
    return NULL;
  memcpy (pixels, lam_snapshot_pixels (shot), n * sizeof *pixels);
  info.generation = generation;
  return lam_snapshot_new_take (&info, pixels);
}

static LamSnapshot *
subtract (const LamSnapshot *a, const LamSnapshot *b, LamCompareStats *stats, GError **error)
{
  LamSnapshotInfo info = *lam_snapshot_info (a);
  const float *p = lam_snapshot_pixels (a), *q = lam_snapshot_pixels (b);
  int64_t n = info.width * info.height;
  double sum = 0, squares = 0;
  float *pixels = lam_alloc_n (n, sizeof *pixels, "picture", error);
  if (pixels == NULL)
    return NULL;
  *stats = (LamCompareStats){.mean = NAN, .rms = NAN};
  for (int64_t i = 0; i < n; i++) {
    double d = (double) p[i] - q[i];
    pixels[i] = (float) d;
    if (!isfinite (d))
      continue;
    stats->n++;
    sum += d;
    squares += d * d;
    if (fabs (d) > fabs (stats->largest)) {
      stats->largest = d;
      stats->row = i / info.width;
      stats->column = i % info.width;
    }
  }
  if (stats->n > 0) {
    stats->mean = sum / (double) stats->n;
    stats->rms = sqrt (squares / (double) stats->n);
  }
  info.iteration = -1;
  return lam_snapshot_new_take (&info, pixels);
}

static void
work_run (gpointer data)
{
  Work *work = data;
  for (int i = 0; i < 2 && work->error == NULL; i++) {
    LamSnapshot *live = work->shots[i];
    if (live == NULL)
      work->shots[i] =
          lam_recon_result_plane (work->results[i], work->plane, work->index, work->generation, &work->error);
    else {
      work->shots[i] = copy_shot (live, work->generation, &work->error);
      lam_snapshot_unref (live);
    }
  }
  if (work->error == NULL)
    work->shots[LAM_COMPARE_DIFFERENCE] =
        subtract (work->shots[LAM_COMPARE_A], work->shots[LAM_COMPARE_B], &work->stats, &work->error);
}

/* -- what to work on -- */

typedef struct {
  int64_t slices, rows, columns;
  double pitch;
  const char *unit;
} Extent;

static LamSnapshot *
live_shot (LamCompare *self)
{
  LamSnapshot *shot = lam_slice_model_peek (lam_session_get_slices (self->session), LAM_PLANE_SLICE);
  return shot != NULL && lam_snapshot_info (shot)->iteration == LAM_ITERATION_LIVE ? shot : NULL;
}

static gboolean
get_extent (LamCompare *self, LamCompareSource *source, Extent *extent)
{
  if (source->result != NULL) {
    const LamGeometry *g = source->result->geometry;
    *extent = (Extent){g->recon_slices, g->recon_rows, g->recon_columns, g->voxel_pitch, g->length_unit};
    return TRUE;
  }
  LamSnapshot *shot = live_shot (self);
  if (shot == NULL)
    return FALSE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  *extent = (Extent){info->count, info->height, info->width, info->pitch_x, info->length_unit};
  return TRUE;
}

/* Why the two cannot be compared; NULL = they can. */
static char *
find_problem (LamCompare *self, Extent *extent)
{
  Extent e[2];
  if (g_list_model_get_n_items (G_LIST_MODEL (self->sources)) < 2)
    return g_strdup (_ ("Run once or more: results can be compared with each other, or one with the live preview."));
  for (int i = 0; i < 2; i++) {
    if (self->chosen[i] == NULL)
      return g_strdup_printf (_ ("Choose what %s is."), i == 0 ? "A" : "B");
    if (!get_extent (self, self->chosen[i], &e[i]))
      return g_strdup (_ ("There is no live preview now: it comes when the geometry is changed."));
    if (self->chosen[i]->result == NULL && lam_slice_model_get_plane (self->slices[LAM_COMPARE_A]) != LAM_PLANE_SLICE)
      return g_strdup (_ ("The live preview has slices only: results have rows and columns too."));
  }
  *extent = e[0];
  if (e[0].rows == e[1].rows && e[0].columns == e[1].columns && e[0].slices == e[1].slices
      && fabs (e[0].pitch - e[1].pitch) <= 1e-6 * fabs (e[0].pitch) && g_strcmp0 (e[0].unit, e[1].unit) == 0)
    return NULL;
  return g_strdup_printf (
      _ ("A is %ld × %ld × %ld voxels of %g %s and B %ld × %ld × %ld of %g %s: only volumes that agree "
         "can be subtracted voxel by voxel."),
      (long) e[0].rows, (long) e[0].columns, (long) e[0].slices, e[0].pitch, e[0].unit, (long) e[1].rows,
      (long) e[1].columns, (long) e[1].slices, e[1].pitch, e[1].unit);
}

static gpointer
work_make (gpointer owner)
{
  LamCompare *self = owner;
  LamSliceModel *a = self->slices[LAM_COMPARE_A];
  Extent extent = {0};
  if (!self->active)
    return NULL;
  g_autofree char *problem = find_problem (self, &extent);
  set_problem (self, problem);
  if (problem != NULL)
    return NULL;
  self->linking = TRUE;
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    lam_slice_model_set_extent (self->slices[i], extent.slices, extent.rows, extent.columns);
  self->linking = FALSE;
  Work *work = g_new0 (Work, 1);
  work->plane = lam_slice_model_get_plane (a);
  work->index = lam_slice_model_get_index (a);
  work->generation = self->generation;
  for (int i = 0; i < 2; i++) {
    if (self->chosen[i]->result != NULL)
      work->results[i] = lam_recon_result_ref (self->chosen[i]->result);
    else if (lam_snapshot_info (live_shot (self))->index == work->index)
      work->shots[i] = lam_snapshot_ref (live_shot (self));
    else {
      /* That slice is on its way. */
      work_free (work);
      return NULL;
    }
  }
  return work;
}

static void
work_done (gpointer owner, gpointer job)
{
  LamCompare *self = owner;
  Work *work = job;
  if (work->error != NULL) {
    lam_session_fail (self->session, work->error);
    return;
  }
  if (work->generation != self->generation)
    return;
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    lam_slice_model_take (self->slices[i], g_steal_pointer (&work->shots[i]));
  self->stats = work->stats;
  self->has_stats = TRUE;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATS]);
}

static const LamLatestFuncs work_funcs = {"lam_compare", work_make, work_run, work_done, work_free};

static void
ask (LamCompare *self)
{
  lam_latest_ask (&self->latest, 0);
}

/* Other volumes: what is shown of the old ones goes. */
static void
start_anew (LamCompare *self)
{
  self->generation++;
  self->has_stats = FALSE;
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    lam_slice_model_set_generation (self->slices[i], self->generation);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATS]);
  ask (self);
}

/* -- choosing -- */

static gboolean
uses_live (LamCompare *self)
{
  for (int i = 0; i < 2; i++)
    if (self->chosen[i] != NULL && self->chosen[i]->result == NULL)
      return TRUE;
  return FALSE;
}

/* The live slice is that of the slices tab: the two go together. */
static void
follow_live (LamCompare *self)
{
  LamSliceModel *live = lam_session_get_slices (self->session), *a = self->slices[LAM_COMPARE_A];
  if (self->active && uses_live (self) && lam_slice_model_get_plane (a) == LAM_PLANE_SLICE)
    lam_slice_model_set_plane_index (live, LAM_PLANE_SLICE, lam_slice_model_get_index (a));
}

static void
take_source (LamCompare *self, LamComparePart part, LamCompareSource *source)
{
  if (!g_set_object (&self->chosen[part], source))
    return;
  g_object_notify_by_pspec (G_OBJECT (self), properties[part == LAM_COMPARE_A ? PROP_SOURCE_A : PROP_SOURCE_B]);
  follow_live (self);
  start_anew (self);
}

void
lam_compare_set_source (LamCompare *self, LamComparePart part, LamCompareSource *source)
{
  g_return_if_fail (LAM_IS_COMPARE (self) && part <= LAM_COMPARE_B);
  if (self->chosen[part] == source)
    return;
  self->by_hand = TRUE;
  take_source (self, part, source);
}

LamCompareSource *
lam_compare_get_source (LamCompare *self, LamComparePart part)
{
  g_return_val_if_fail (LAM_IS_COMPARE (self) && part <= LAM_COMPARE_B, NULL);
  return self->chosen[part];
}

void
lam_compare_swap (LamCompare *self)
{
  g_return_if_fail (LAM_IS_COMPARE (self));
  g_autoptr (LamCompareSource) a = self->chosen[0] != NULL ? g_object_ref (self->chosen[0]) : NULL;
  g_autoptr (LamCompareSource) b = self->chosen[1] != NULL ? g_object_ref (self->chosen[1]) : NULL;
  self->by_hand = TRUE;
  take_source (self, LAM_COMPARE_A, b);
  take_source (self, LAM_COMPARE_B, a);
}

static LamCompareSource *
find_source (LamCompare *self, LamResult *of)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->sources)); i++) {
    g_autoptr (LamCompareSource) source = g_list_model_get_item (G_LIST_MODEL (self->sources), i);
    if (source->of == of)
      return source;
  }
  return NULL;
}

/* The two newest, the older one as A. */
static void
choose (LamCompare *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->sources));
  for (int i = 0; i < 2; i++)
    if (self->chosen[i] != NULL && self->chosen[i]->of != NULL && find_source (self, self->chosen[i]->of) == NULL) {
      take_source (self, i, NULL);
      self->by_hand = FALSE;
    }
  if (self->by_hand || n < 2)
    return;
  g_autoptr (LamCompareSource) older = g_list_model_get_item (G_LIST_MODEL (self->sources), n - 2);
  g_autoptr (LamCompareSource) newer = g_list_model_get_item (G_LIST_MODEL (self->sources), n - 1);
  take_source (self, LAM_COMPARE_A, older);
  take_source (self, LAM_COMPARE_B, newer);
}

/* Results that have voxels; what they are called may have changed. */
static void
update_sources (LamCompare *self)
{
  LamResults *results = lam_session_get_results (self->session);
  for (guint i = g_list_model_get_n_items (G_LIST_MODEL (self->sources)); i-- > 1;) {
    g_autoptr (LamCompareSource) source = g_list_model_get_item (G_LIST_MODEL (self->sources), i);
    if (lam_results_index (results, source->of) < 0)
      g_list_store_remove (self->sources, i);
  }
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (results)); i++) {
    LamResult *of = lam_results_get (results, i);
    LamCompareSource *there = find_source (self, of);
    g_autofree char *name = name_result (of);
    if (there != NULL && g_strcmp0 (there->name, name) != 0) {
      g_free (there->name);
      there->name = g_steal_pointer (&name);
      g_object_notify_by_pspec (G_OBJECT (there), source_properties[SOURCE_PROP_NAME]);
    }
    if (there != NULL || lam_result_get_recon (of)->volume == NULL)
      continue;
    g_autoptr (LamCompareSource) source = g_object_new (LAM_TYPE_COMPARE_SOURCE, NULL);
    source->of = g_object_ref (of);
    source->result = lam_recon_result_ref (lam_result_get_recon (of));
    source->name = g_steal_pointer (&name);
    g_list_store_append (self->sources, source);
  }
  choose (self);
  ask (self);
}

static void
results_cb (LamResults *results, LamCompare *self)
{
  update_sources (self);
}

static void
live_cb (LamSliceModel *slices, GParamSpec *pspec, LamCompare *self)
{
  if (self->active && uses_live (self))
    ask (self);
}

/* -- links -- */

static void
link_cb (LamSliceModel *from, GParamSpec *pspec, LamCompare *self)
{
  if (self->linking)
    return;
  const char *name = pspec->name;
  gboolean pictured = from != self->slices[LAM_COMPARE_DIFFERENCE];
  self->linking = TRUE;
  for (int i = 0; i < LAM_COMPARE_PARTS; i++) {
    LamSliceModel *to = self->slices[i];
    int64_t row, column;
    if (to == from)
      continue;
    if (g_str_equal (name, "plane"))
      lam_slice_model_set_plane (to, lam_slice_model_get_plane (from));
    else if (g_str_equal (name, "index"))
      lam_slice_model_set_index (to, lam_slice_model_get_index (from));
    else if (g_str_equal (name, "cursor")) {
      if (lam_slice_model_get_cursor (from, &row, &column))
        lam_slice_model_set_cursor (to, row, column);
      else
        lam_slice_model_unset_cursor (to);
    } else if (g_str_equal (name, "mark")) {
      if (lam_slice_model_get_mark (from, &row, &column))
        lam_slice_model_set_mark (to, row, column);
      else
        lam_slice_model_unset_mark (to);
    } else if (!pictured || i == LAM_COMPARE_DIFFERENCE)
      continue;
    else if (g_str_equal (name, "low") || g_str_equal (name, "high")) {
      double low, high;
      lam_slice_model_get_level (from, &low, &high);
      lam_slice_model_set_level (to, low, high);
    } else if (g_str_equal (name, "colour-map"))
      lam_slice_model_set_colour_map (to, lam_slice_model_get_colour_map (from));
    else if (g_str_equal (name, "inverted"))
      lam_slice_model_set_inverted (to, lam_slice_model_get_inverted (from));
  }
  self->linking = FALSE;
  if (g_str_equal (name, "plane") || g_str_equal (name, "index")) {
    follow_live (self);
    ask (self);
  }
}

/* -- in words -- */

const char *
lam_compare_get_problem (LamCompare *self)
{
  return self->problem;
}

const LamCompareStats *
lam_compare_get_stats (LamCompare *self)
{
  return self->has_stats ? &self->stats : NULL;
}

char *
lam_compare_describe (LamCompare *self)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (self->slices[LAM_COMPARE_DIFFERENCE]);
  if (!self->has_stats || shot == NULL)
    return NULL;
  static const char *const places[LAM_PLANES] = {N_ ("row %ld col %ld"), N_ ("slice %ld col %ld"),
                                                 N_ ("slice %ld row %ld")};
  const LamCompareStats *s = &self->stats;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  if (s->n == 0)
    return g_strdup (_ ("no pixel is finite in both"));
  if (s->largest == 0)
    return g_strdup_printf (_ ("the same in all %ld pixels"), (long) s->n);
  double digits = 10 * s->rms;
  g_autofree char *rms = lam_slice_model_format_value (s->rms, digits);
  g_autofree char *largest = lam_slice_model_format_value (s->largest, digits);
  g_autofree char *mean = lam_slice_model_format_value (s->mean, digits);
  g_autofree char *place = g_strdup_printf (_ (places[info->plane]), (long) s->row, (long) s->column);
  return g_strdup_printf (_ ("A − B: rms %s %s · largest %s at %s · mean %s · %ld pixels"), rms, info->value_unit,
                          largest, place, mean, (long) s->n);
}

LamSliceModel *
lam_compare_get_slices (LamCompare *self, LamComparePart part)
{
  g_return_val_if_fail (LAM_IS_COMPARE (self) && part < LAM_COMPARE_PARTS, NULL);
  return self->slices[part];
}

GListModel *
lam_compare_get_sources (LamCompare *self)
{
  return G_LIST_MODEL (self->sources);
}

void
lam_compare_set_active (LamCompare *self, gboolean active)
{
  g_return_if_fail (LAM_IS_COMPARE (self));
  if (self->active == active)
    return;
  self->active = active;
  if (!active)
    return;
  /* Where the slices tab is. */
  LamSliceModel *slices = lam_session_get_slices (self->session), *a = self->slices[LAM_COMPARE_A];
  LamPlane plane = lam_slice_model_get_plane (slices);
  if (lam_slice_model_get_plane_count (slices, plane) == lam_slice_model_get_plane_count (a, plane)) {
    lam_slice_model_set_plane (a, plane);
    lam_slice_model_set_index (a, lam_slice_model_get_index (slices));
  }
  follow_live (self);
  ask (self);
}

gboolean
lam_compare_is_settled (LamCompare *self)
{
  gboolean settled = lam_latest_is_idle (&self->latest);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    settled &= lam_slice_model_is_settled (self->slices[i]);
  return settled;
}

/* -- GObject -- */

static void
lam_compare_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamCompare *self = LAM_COMPARE (object);
  switch (id) {
  case PROP_PROBLEM:
    g_value_set_string (value, self->problem);
    break;
  case PROP_STATS:
    g_value_set_pointer (value, self->has_stats ? &self->stats : NULL);
    break;
  case PROP_SOURCE_A:
  case PROP_SOURCE_B:
    g_value_set_object (value, self->chosen[id - PROP_SOURCE_A]);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_compare_dispose (GObject *object)
{
  LamCompare *self = LAM_COMPARE (object);
  lam_latest_clear (&self->latest);
  self->active = FALSE;
  for (int i = 0; i < 2; i++)
    g_clear_object (&self->chosen[i]);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++)
    g_clear_object (&self->slices[i]);
  g_clear_object (&self->sources);
  if (self->session != NULL) /* it may be the last that holds it, and what that says at its end is for others */
    g_signal_handlers_disconnect_by_data (lam_session_get_results (self->session), self);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (lam_compare_parent_class)->dispose (object);
}

static void
lam_compare_finalize (GObject *object)
{
  g_free (LAM_COMPARE (object)->problem);
  G_OBJECT_CLASS (lam_compare_parent_class)->finalize (object);
}

static void
lam_compare_class_init (LamCompareClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_compare_get_property;
  object_class->dispose = lam_compare_dispose;
  object_class->finalize = lam_compare_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_PROBLEM] = g_param_spec_string ("problem", NULL, NULL, NULL, flags);
  properties[PROP_STATS] = g_param_spec_pointer ("stats", NULL, NULL, flags);
  properties[PROP_SOURCE_A] = g_param_spec_object ("source-a", NULL, NULL, LAM_TYPE_COMPARE_SOURCE, flags);
  properties[PROP_SOURCE_B] = g_param_spec_object ("source-b", NULL, NULL, LAM_TYPE_COMPARE_SOURCE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_compare_init (LamCompare *self)
{
  lam_latest_init (&self->latest, self, &work_funcs);
  self->sources = g_list_store_new (LAM_TYPE_COMPARE_SOURCE);
  g_autoptr (LamCompareSource) live = g_object_new (LAM_TYPE_COMPARE_SOURCE, NULL);
  live->name = g_strdup (_ ("Live preview"));
  g_list_store_append (self->sources, live);
  for (int i = 0; i < LAM_COMPARE_PARTS; i++) {
    self->slices[i] = lam_slice_model_new ();
    g_signal_connect_object (self->slices[i], "notify", G_CALLBACK (link_cb), self, 0);
  }
  lam_slice_model_set_symmetric (self->slices[LAM_COMPARE_DIFFERENCE], TRUE);
  /* A leads: its automatic level is both's. */
  lam_slice_model_set_level (self->slices[LAM_COMPARE_B], 0, 1);
  lam_slice_model_level_auto (self->slices[LAM_COMPARE_A]);
}

LamCompare *
lam_compare_new (LamSession *session)
{
  g_return_val_if_fail (LAM_IS_SESSION (session), NULL);
  LamCompare *self = g_object_new (LAM_TYPE_COMPARE, NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (lam_session_get_results (session), "changed", G_CALLBACK (results_cb), self, 0);
  g_signal_connect_object (lam_session_get_slices (session), "notify::snapshot", G_CALLBACK (live_cb), self, 0);
  update_sources (self);
  return self;
}
