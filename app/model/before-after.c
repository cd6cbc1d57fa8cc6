#include "config.h"

#include "model/before-after.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/latest.h"
#include "model/preparation.h"
#include "model/session-private.h"

/* The two planes that are shown, as indices of arrays. */
enum { VIEW, SINOGRAM, PLANES };

struct _LamBeforeAfter {
  GObject parent_instance;
  LamSession *session; /* not owned: the session's window owns both */
  LamSliceModel *slices[PLANES][LAM_PREVIEW_KINDS];
  gboolean active[PLANES], linking, by_angle, opening, stale;
  uint64_t generation, data; /* data: counts what is open */
  LamPreparePreview *preview;
  LamPreparePictures *pictures; /* newest, sinogram as in the file */
  LamPrepareParams made_with;   /* the newest that was asked for */
  uint64_t asked, shown;
  LamLatest own, sorting;
  char *problem;
  double rms[PLANES], largest[PLANES];
};

G_DEFINE_FINAL_TYPE (LamBeforeAfter, lam_before_after, G_TYPE_OBJECT)

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
changed (LamBeforeAfter *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
set_problem (LamBeforeAfter *self, const char *problem)
{
  if (g_strcmp0 (self->problem, problem) == 0)
    return;
  g_free (self->problem);
  self->problem = g_strdup (problem);
  changed (self);
}

static gboolean
is_active (LamBeforeAfter *self)
{
  return self->active[VIEW] || self->active[SINOGRAM];
}

/* -- pictures -- */

static void
take (LamBeforeAfter *self, int plane, int kind, LamSnapshot *shot)
{
  if (shot == NULL)
    return;
  LamSliceModel *model = self->slices[plane][kind];
  self->linking = TRUE; /* a first picture sets the index */
  lam_slice_model_take (model, lam_snapshot_ref (shot));
  self->linking = FALSE;
}

typedef struct {
  LamSnapshot *shots[LAM_PREVIEW_KINDS]; /* of the sinogram; NULL = none */
  LamSnapshot *view[LAM_PREVIEW_KINDS];
  double *angles; /* NULL = in the order of the file */
  int64_t *order, views;
  double rms[PLANES], largest[PLANES];
  uint64_t data, serial;
} Sorting;

static void
sorting_free (gpointer data)
{
  Sorting *s = data;
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    g_clear_pointer (&s->shots[k], lam_snapshot_unref);
    g_clear_pointer (&s->view[k], lam_snapshot_unref);
  }
  g_free (s->angles);
  g_free (s->order);
  g_free (s);
}

static gpointer
sorting_make (gpointer owner)
{
  LamBeforeAfter *self = owner;
  const LamPreparePictures *p = self->pictures;
  const LamGeometry *g = self->session->geometry;
  if (p == NULL)
    return NULL;
  Sorting *s = g_new0 (Sorting, 1);
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    s->shots[k] = p->sinogram[k] != NULL ? lam_snapshot_ref (p->sinogram[k]) : NULL;
    s->view[k] = p->view[k] != NULL ? lam_snapshot_ref (p->view[k]) : NULL;
  }
  s->data = self->data;
  s->serial = p->serial;
  s->views = s->shots[LAM_PREVIEW_AFTER] != NULL ? lam_snapshot_info (s->shots[LAM_PREVIEW_AFTER])->height : 0;
  if (self->by_angle && g != NULL && g->views == s->views)
    s->angles = g_memdup2 (g->angles, (gsize) g->views * sizeof *g->angles);
  return s;
}

static int
by_angle (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *angles = data;
  int64_t i = *(const int64_t *) a, j = *(const int64_t *) b;
  return angles[i] < angles[j] ? -1 : angles[i] > angles[j] ? 1 : i < j ? -1 : i > j;
}

static LamSnapshot *
in_order (LamSnapshot *shot, const int64_t *order)
{
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  const float *pixels = lam_snapshot_pixels (shot);
  float *sorted = lam_alloc_n (info->width * info->height, sizeof *sorted, "picture", NULL);
  if (sorted == NULL)
    return shot;
  for (int64_t i = 0; i < info->height; i++)
    memcpy (sorted + i * info->width, pixels + order[i] * info->width, (size_t) info->width * sizeof *sorted);
  LamSnapshot *out = lam_snapshot_new_take (info, sorted);
  lam_snapshot_unref (shot);
  return out;
}

static void
measure (LamSnapshot *difference, double *rms, double *largest)
{
  const LamSnapshotInfo *info = lam_snapshot_info (difference);
  const float *pixels = lam_snapshot_pixels (difference);
  double sum = 0;
  for (int64_t i = 0; i < info->width * info->height; i++) {
    sum += (double) pixels[i] * pixels[i];
    *largest = fabs (pixels[i]) > fabs (*largest) ? pixels[i] : *largest;
  }
  *rms = sqrt (sum / (double) MAX (info->width * info->height, 1));
}

static void
sorting_work (gpointer job)
{
  Sorting *s = job;
  if (s->view[LAM_PREVIEW_DIFFERENCE] != NULL)
    measure (s->view[LAM_PREVIEW_DIFFERENCE], &s->rms[VIEW], &s->largest[VIEW]);
  if (s->shots[LAM_PREVIEW_DIFFERENCE] != NULL)
    measure (s->shots[LAM_PREVIEW_DIFFERENCE], &s->rms[SINOGRAM], &s->largest[SINOGRAM]);
  if (s->angles == NULL)
    return;
  s->order = g_new (int64_t, s->views);
  for (int64_t i = 0; i < s->views; i++)
    s->order[i] = i;
  g_qsort_with_data (s->order, (int) s->views, sizeof *s->order, by_angle, s->angles);
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
    if (s->shots[k] != NULL)
      s->shots[k] = in_order (s->shots[k], s->order);
}

static void
sorting_done (gpointer owner, gpointer job)
{
  LamBeforeAfter *self = owner;
  Sorting *s = job;
  if (s->data != self->data)
    return;
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
    take (self, VIEW, k, s->view[k]);
    take (self, SINOGRAM, k, s->shots[k]);
    lam_slice_model_set_order (self->slices[SINOGRAM][k], s->order, s->views);
  }
  for (int p = 0; p < PLANES; p++) {
    self->rms[p] = s->rms[p];
    self->largest[p] = s->largest[p];
  }
  self->shown = MAX (self->shown, s->serial);
  changed (self);
}

static const LamLatestFuncs sorting_funcs = {"lam_before_after_sort", sorting_make, sorting_work, sorting_done,
                                             sorting_free};

static void
show (LamBeforeAfter *self, LamPreparePictures *pictures)
{
  g_clear_pointer (&self->pictures, lam_prepare_pictures_unref);
  self->pictures = pictures;
  lam_latest_ask (&self->sorting, 0);
}

/* -- data that came from no file: cut out of memory -- */

typedef struct {
  LamDataset *dataset;
  int64_t view, row;
  uint64_t generation, data, serial;
  LamSnapshot *shots[PLANES];
} Own;

static void
own_free (gpointer data)
{
  Own *own = data;
  lam_dataset_unref (own->dataset);
  for (int p = 0; p < PLANES; p++)
    g_clear_pointer (&own->shots[p], lam_snapshot_unref);
  g_free (own);
}

static gpointer
own_make (gpointer owner)
{
  LamBeforeAfter *self = owner;
  LamDataset *d = self->session->dataset;
  if (d == NULL || d->sinogram == NULL || self->session->scan_path != NULL)
    return NULL;
  Own *own = g_new0 (Own, 1);
  const LamGeometry *g = d->geometry;
  own->dataset = lam_dataset_ref (d);
  own->view = CLAMP (lam_slice_model_get_index (self->slices[VIEW][LAM_PREVIEW_AFTER]), 0, g->views - 1);
  gboolean fresh = lam_slice_model_get_count (self->slices[SINOGRAM][LAM_PREVIEW_AFTER]) == 0;
  own->row = fresh ? (g->rows - 1) / 2
                   : CLAMP (lam_slice_model_get_index (self->slices[SINOGRAM][LAM_PREVIEW_AFTER]), 0, g->rows - 1);
  own->generation = self->generation;
  own->data = self->data;
  own->serial = self->asked;
  return own;
}

static LamSnapshot *
cut (const LamDataset *d, LamPlane plane, int64_t index, uint64_t generation)
{
  const LamGeometry *g = d->geometry;
  LamSnapshotInfo info = {.generation = generation, .iteration = -1, .plane = plane, .index = index};
  lam_snapshot_describe (&info, g);
  float *pixels = lam_alloc_n (info.width * info.height, sizeof *pixels, "picture", NULL);
  if (pixels == NULL)
    return NULL;
  for (int64_t line = 0; line < info.height; line++) {
    int64_t v = plane == LAM_PLANE_VIEW ? index : line, r = plane == LAM_PLANE_VIEW ? line : index;
    memcpy (pixels + line * info.width, d->sinogram + (v * g->rows + r) * g->channels,
            (size_t) info.width * sizeof *pixels);
  }
  return lam_snapshot_new_take (&info, pixels);
}

static void
own_work (gpointer job)
{
  Own *own = job;
  own->shots[VIEW] = cut (own->dataset, LAM_PLANE_VIEW, own->view, own->generation);
  own->shots[SINOGRAM] = cut (own->dataset, LAM_PLANE_SINOGRAM, own->row, own->generation);
}

static void
own_done (gpointer owner, gpointer job)
{
  LamBeforeAfter *self = owner;
  Own *own = job;
  if (own->data != self->data)
    return;
  LamPreparePictures *p = g_new0 (LamPreparePictures, 1);
  g_atomic_ref_count_init (&p->refs);
  p->view[LAM_PREVIEW_AFTER] = g_steal_pointer (&own->shots[VIEW]);
  p->sinogram[LAM_PREVIEW_AFTER] = g_steal_pointer (&own->shots[SINOGRAM]);
  p->log = g_ptr_array_new_with_free_func (g_free);
  p->serial = own->serial;
  show (self, p);
}

static const LamLatestFuncs own_funcs = {"lam_before_after_cut", own_make, own_work, own_done, own_free};

/* -- data of a file -- */

static void
pictures_cb (LamPreparePreview *preview, LamBeforeAfter *self)
{
  LamPreparePictures *pictures = lam_prepare_preview_take (preview);
  if (pictures == NULL)
    return;
  set_problem (self, NULL);
  show (self, pictures);
}

static void
failed_cb (LamPreparePreview *preview, GError *error, LamBeforeAfter *self)
{
  self->shown = self->asked;
  set_problem (self, error->message);
  changed (self);
}

static gpointer
end_preview (gpointer preview)
{
  g_object_unref (preview);
  return NULL;
}

static void
drop_preview (LamBeforeAfter *self)
{
  if (self->preview == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->preview, self);
  lam_prepare_preview_quit (self->preview);
  /* Its thread ends what it does first: not waited for here. Nobody else has it, and it sends nothing any more. */
  g_thread_unref (g_thread_new ("lam-preview-end", end_preview, g_steal_pointer (&self->preview)));
}

static void ask (LamBeforeAfter *self);

typedef struct {
  char *path;
  LamScanOptions options;
  uint64_t data;
} Opening;

static void
opening_free (gpointer data)
{
  g_free (((Opening *) data)->path);
  g_free (data);
}

static void
open_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Opening *o = data;
  GError *error = NULL;
  g_autoptr (LamScan) scan = lam_scan_open (o->path, &o->options, &error);
  if (scan != NULL && lam_scan_complete (scan, &error))
    g_task_return_pointer (task, g_steal_pointer (&scan), (GDestroyNotify) lam_scan_free);
  else
    g_task_return_error (task, error);
}

static void
open_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LamBeforeAfter *self = LAM_BEFORE_AFTER (source);
  const Opening *o = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) scan = g_task_propagate_pointer (G_TASK (result), &error);
  if (o->data != self->data || self->session == NULL)
    return;
  self->opening = FALSE;
  if (scan == NULL) {
    set_problem (self, error->message);
    return;
  }
  self->preview = lam_prepare_preview_new_take (g_steal_pointer (&scan));
  g_signal_connect (self->preview, "pictures", G_CALLBACK (pictures_cb), self);
  g_signal_connect (self->preview, "failed", G_CALLBACK (failed_cb), self);
  ask (self);
}

static void
open_scan (LamBeforeAfter *self)
{
  self->opening = TRUE;
  Opening *o = g_new0 (Opening, 1);
  o->path = g_strdup (lam_session_get_scan (self->session, &o->options));
  o->data = self->data;
  g_autoptr (GTask) task = g_task_new (self, NULL, open_done_cb, NULL);
  g_task_set_name (task, "lam_before_after_open");
  g_task_set_task_data (task, o, opening_free);
  g_task_run_in_thread (task, open_thread);
}

/* Rows that are left of the detector. */
static int64_t
prepared_rows (LamBeforeAfter *self, const LamPrepareParams *p)
{
  LamParameter *last = lam_parameter_list_find (self->session->parameters, "crop_row_last");
  int64_t rows =
      p->crop_rows.end > 0 ? p->crop_rows.end - p->crop_rows.begin : (int64_t) lam_parameter_get_max (last) + 1;
  return MAX (rows / MAX (p->bin, 1), 1);
}

static void
ask (LamBeforeAfter *self)
{
  self->stale = TRUE;
  if (self->session == NULL || !is_active (self) || !lam_before_after_has_data (self))
    return;
  if (self->session->scan_path == NULL) {
    self->stale = FALSE;
    self->asked++;
    lam_latest_ask (&self->own, 0);
    changed (self);
    return;
  }
  if (self->preview == NULL) {
    if (!self->opening)
      open_scan (self);
    return;
  }
  LamSliceModel *view = self->slices[VIEW][LAM_PREVIEW_AFTER], *sinogram = self->slices[SINOGRAM][LAM_PREVIEW_AFTER];
  g_auto (LamPrepareParams) params = {0};
  lam_preparation_params (self->session->parameters, &params);
  int64_t rows = prepared_rows (self, &params);
  int64_t row = lam_slice_model_get_count (sinogram) == 0 ? (rows - 1) / 2 : lam_slice_model_get_index (sinogram);
  LamPreviewRequest request = {.params = &params,
                               .view = lam_slice_model_get_index (view),
                               .row = CLAMP (row, 0, rows - 1),
                               .generation = self->generation,
                               .serial = ++self->asked};
  self->stale = FALSE;
  lam_prepare_params_set (&self->made_with, &params);
  lam_prepare_preview_request (self->preview, &request);
  changed (self);
}

static void
data_changed_cb (LamSession *session, LamBeforeAfter *self)
{
  /* Read again for other preparation, the file is still the same. */
  gboolean same = session->data_serial == self->data && session->scan_path != NULL;
  if (same)
    return;
  self->data = session->data_serial;
  self->opening = FALSE;
  drop_preview (self);
  g_clear_pointer (&self->pictures, lam_prepare_pictures_unref);
  self->generation++;
  self->asked = self->shown = 0;
  self->linking = TRUE;
  for (int p = 0; p < PLANES; p++)
    for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
      lam_slice_model_clear (self->slices[p][k]);
      lam_slice_model_set_generation (self->slices[p][k], self->generation);
    }
  self->linking = FALSE;
  set_problem (self, NULL);
  ask (self);
  changed (self);
}

static void
opened_cb (LamSession *session, GParamSpec *pspec, LamBeforeAfter *self)
{
  /* Title and state change when a scan has been opened: by now its path is there. */
  if (self->stale)
    ask (self);
  changed (self);
}

static void
parameter_cb (LamParameterList *list, LamParameter *parameter, LamBeforeAfter *self)
{
  g_auto (LamPrepareParams) params = {0};
  if (!lam_preparation_is_id (lam_parameter_get_id (parameter)) || self->session->scan_path == NULL)
    return;
  lam_preparation_params (list, &params);
  if (self->asked > 0 && !self->stale && lam_prepare_params_equal (&params, &self->made_with))
    return;
  ask (self);
}

static void
geometry_cb (LamSession *session, LamBeforeAfter *self)
{
  if (self->by_angle)
    lam_latest_ask (&self->sorting, 0);
  changed (self);
}

/* -- three pictures, one place -- */

static gboolean
place_of (LamBeforeAfter *self, LamSliceModel *model, int *plane, int *kind)
{
  for (*plane = 0; *plane < PLANES; ++*plane)
    for (*kind = 0; *kind < LAM_PREVIEW_KINDS; ++*kind)
      if (self->slices[*plane][*kind] == model)
        return TRUE;
  return FALSE;
}

static void
follow_level (LamSliceModel *from, LamSliceModel *to)
{
  double low, high;
  lam_slice_model_get_level (from, &low, &high);
  lam_slice_model_set_level (to, low, high);
}

static void
slices_notify_cb (LamSliceModel *model, GParamSpec *pspec, LamBeforeAfter *self)
{
  int plane, kind;
  int64_t row, column;
  const char *name = pspec->name;
  if (self->linking || !place_of (self, model, &plane, &kind))
    return;
  self->linking = TRUE;
  LamSliceModel **all = self->slices[plane];
  LamSliceModel *twin = kind == LAM_PREVIEW_BEFORE  ? all[LAM_PREVIEW_AFTER]
                        : kind == LAM_PREVIEW_AFTER ? all[LAM_PREVIEW_BEFORE]
                                                    : NULL;
  gboolean leads = kind == LAM_PREVIEW_AFTER; /* automatic levels are those of after */
  if (twin != NULL && (g_str_equal (name, "low") || g_str_equal (name, "high"))) {
    if (leads || !lam_slice_model_get_auto_level (model))
      follow_level (model, twin);
    else if (lam_slice_model_get_snapshot (twin) != NULL)
      follow_level (twin, model);
  } else if (twin != NULL && !leads && g_str_equal (name, "auto-level") && lam_slice_model_get_auto_level (model))
    lam_slice_model_level_auto (twin);
  else if (twin != NULL && g_str_equal (name, "inverted"))
    lam_slice_model_set_inverted (twin, lam_slice_model_get_inverted (model));
  else if (twin != NULL && g_str_equal (name, "colour-map"))
    lam_slice_model_set_colour_map (twin, lam_slice_model_get_colour_map (model));
  else if (g_str_equal (name, "cursor") || g_str_equal (name, "mark")) {
    gboolean cursor = g_str_equal (name, "cursor");
    gboolean is =
        cursor ? lam_slice_model_get_cursor (model, &row, &column) : lam_slice_model_get_mark (model, &row, &column);
    for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
      if (k != kind && is)
        (cursor ? lam_slice_model_set_cursor : lam_slice_model_set_mark) (all[k], row, column);
      else if (k != kind)
        (cursor ? lam_slice_model_unset_cursor : lam_slice_model_unset_mark) (all[k]);
  }
  self->linking = FALSE;
}

static void
wanted_cb (LamSliceModel *model, int wanted, gint64 index, LamBeforeAfter *self)
{
  int plane, kind;
  if (self->linking || !place_of (self, model, &plane, &kind))
    return;
  self->linking = TRUE;
  for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
    lam_slice_model_set_index (self->slices[plane][k], index);
  self->linking = FALSE;
  ask (self);
}

/* -- what is told -- */

LamSliceModel *
lam_before_after_get_slices (LamBeforeAfter *self, LamPlane plane, LamPreviewKind kind)
{
  g_return_val_if_fail (LAM_IS_BEFORE_AFTER (self) && kind < LAM_PREVIEW_KINDS, NULL);
  return self->slices[plane == LAM_PLANE_SINOGRAM][kind];
}

void
lam_before_after_set_active (LamBeforeAfter *self, LamPlane plane, gboolean active)
{
  g_return_if_fail (LAM_IS_BEFORE_AFTER (self));
  self->active[plane == LAM_PLANE_SINOGRAM] = active;
  if (active && self->stale)
    ask (self);
}

gboolean
lam_before_after_has_data (LamBeforeAfter *self)
{
  return self->session != NULL && (self->session->scan_path != NULL || self->session->dataset != NULL);
}

gboolean
lam_before_after_has_before (LamBeforeAfter *self)
{
  return self->session != NULL && self->session->scan_path != NULL;
}

gboolean
lam_before_after_is_working (LamBeforeAfter *self)
{
  return self->opening || self->shown < self->asked;
}

const char *
lam_before_after_get_problem (LamBeforeAfter *self)
{
  return self->problem;
}

const char *
lam_before_after_get_note (LamBeforeAfter *self, LamPlane plane)
{
  const LamPreparePictures *p = self->pictures;
  if (p == NULL)
    return NULL;
  if (!lam_before_after_has_before (self))
    return _ ("made in memory, without counts");
  if (plane == LAM_PLANE_VIEW && p->view_without_stripes)
    return _ ("stripe removal shows in the sinogram only");
  return p->estimated ? _ ("the background is estimated; a run takes it from all samples") : NULL;
}

char *
lam_before_after_describe (LamBeforeAfter *self, LamPlane plane)
{
  int p = plane == LAM_PLANE_SINOGRAM;
  if (self->pictures == NULL || self->pictures->view[LAM_PREVIEW_DIFFERENCE] == NULL)
    return NULL;
  if (self->largest[p] == 0)
    return g_strdup (_ ("No difference"));
  g_autofree char *rms = lam_slice_model_format_value (self->rms[p], self->rms[p]);
  g_autofree char *largest = lam_slice_model_format_value (self->largest[p], fabs (self->largest[p]));
  return g_strdup_printf (_ ("Difference: rms %s · largest %s"), rms, largest);
}

void
lam_before_after_set_by_angle (LamBeforeAfter *self, gboolean by_angle)
{
  g_return_if_fail (LAM_IS_BEFORE_AFTER (self));
  if (self->by_angle == !!by_angle)
    return;
  self->by_angle = !!by_angle;
  lam_latest_ask (&self->sorting, 0);
  changed (self);
}

gboolean
lam_before_after_get_axis (LamBeforeAfter *self, LamPlane plane, double *x0, double *y0, double *x1, double *y1)
{
  LamSnapshot *shot = lam_slice_model_get_snapshot (lam_before_after_get_slices (self, plane, LAM_PREVIEW_AFTER));
  if (shot == NULL || self->session == NULL || self->session->geometry == NULL)
    return FALSE;
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  double center = lam_parameter_get_number (lam_parameter_list_find (self->session->parameters, "center"));
  /* The picture may be cropped otherwise than the data are. */
  if (self->session->scan_path != NULL) {
    double first = lam_prepare_file_channel (&self->made_with, 0);
    center = (center - first) / (lam_prepare_file_channel (&self->made_with, 1) - first);
  }
  *x0 = *x1 = center + 0.5;
  *y0 = 0;
  *y1 = (double) info->height;
  if (plane != LAM_PLANE_VIEW)
    return TRUE;
  /* Where the turned detector's channel lies in the one that is not: lam_rotate_detector (). */
  double tilt = lam_session_tilt (self->session), middle = 0.5 * (double) (info->height - 1);
  double c = cos (tilt), s = sin (tilt), from_middle = center - 0.5 * (double) (info->width - 1);
  for (int end = 0; end < 2; end++) {
    double m = (end == 0 ? -0.5 : (double) info->height - 0.5) - middle;
    *(end == 0 ? x0 : x1) = -s * m + c * from_middle + 0.5 * (double) info->width;
    *(end == 0 ? y0 : y1) = c * m + s * from_middle + middle + 0.5;
  }
  return TRUE;
}

/* -- GObject -- */

static void
lam_before_after_dispose (GObject *object)
{
  LamBeforeAfter *self = LAM_BEFORE_AFTER (object);
  drop_preview (self);
  lam_latest_clear (&self->own);
  lam_latest_clear (&self->sorting);
  if (self->session != NULL)
    g_object_remove_weak_pointer (G_OBJECT (self->session), (gpointer *) &self->session);
  self->session = NULL;
  G_OBJECT_CLASS (lam_before_after_parent_class)->dispose (object);
}

static void
lam_before_after_finalize (GObject *object)
{
  LamBeforeAfter *self = LAM_BEFORE_AFTER (object);
  for (int p = 0; p < PLANES; p++)
    for (int k = 0; k < LAM_PREVIEW_KINDS; k++)
      g_object_unref (self->slices[p][k]);
  g_clear_pointer (&self->pictures, lam_prepare_pictures_unref);
  g_free (self->problem);
  lam_prepare_params_clear (&self->made_with);
  G_OBJECT_CLASS (lam_before_after_parent_class)->finalize (object);
}

static void
lam_before_after_class_init (LamBeforeAfterClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = lam_before_after_dispose;
  G_OBJECT_CLASS (klass)->finalize = lam_before_after_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", LAM_TYPE_BEFORE_AFTER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lam_before_after_init (LamBeforeAfter *self)
{
  self->stale = TRUE;
  lam_latest_init (&self->own, self, &own_funcs);
  lam_latest_init (&self->sorting, self, &sorting_funcs);
  for (int p = 0; p < PLANES; p++)
    for (int k = 0; k < LAM_PREVIEW_KINDS; k++) {
      LamSliceModel *model = self->slices[p][k] = lam_slice_model_new ();
      lam_slice_model_set_plane (model, p == VIEW ? LAM_PLANE_VIEW : LAM_PLANE_SINOGRAM);
      if (k == LAM_PREVIEW_DIFFERENCE)
        lam_slice_model_set_symmetric (model, TRUE);
      g_signal_connect_object (model, "notify", G_CALLBACK (slices_notify_cb), self, 0);
      g_signal_connect_object (model, "wanted", G_CALLBACK (wanted_cb), self, 0);
    }
}

LamBeforeAfter *
lam_before_after_new (LamSession *session)
{
  LamBeforeAfter *self = g_object_new (LAM_TYPE_BEFORE_AFTER, NULL);
  self->session = session;
  g_object_add_weak_pointer (G_OBJECT (session), (gpointer *) &self->session);
  g_signal_connect_object (session, "data-changed", G_CALLBACK (data_changed_cb), self, 0);
  g_signal_connect_object (session, "notify::title", G_CALLBACK (opened_cb), self, 0);
  g_signal_connect_object (session, "notify::state", G_CALLBACK (opened_cb), self, 0);
  g_signal_connect_object (session, "geometry-changed", G_CALLBACK (geometry_cb), self, 0);
  g_signal_connect_object (lam_session_get_parameters (session), "changed", G_CALLBACK (parameter_cb), self, 0);
  data_changed_cb (session, self);
  return self;
}
