/* session-prepare.c: the preparation as it is edited, and as the data were read with; [Apply] makes them one. */
#include "config.h"

#include <glib/gi18n.h>

#include "core/error.h"
#include "model/preparation.h"
#include "model/session-private.h"

const LamProvenance *
lam_session_made (LamSession *self)
{
  return self->dataset != NULL ? &self->dataset->made : NULL;
}

double
lam_session_file_channel (LamSession *self, double channel)
{
  return self->dataset != NULL ? lam_provenance_channel (&self->dataset->made, channel) : channel;
}

static void
add_fact (GPtrArray *facts, LamFactKind kind, const char *label, const char *value, const char *note)
{
  g_ptr_array_add (facts, lam_fact_new (kind, label, value, note));
}

/* "28 374 above 1", below it "12 % of samples · 3 filled". */
static void
add_counts (GPtrArray *facts, const LamTransmissionReport *r)
{
  g_autofree char *above = g_strdup_printf (_ ("%'ld above 1"), (long) r->above);
  g_autofree char *note = g_strdup_printf (_ ("%.2g %% of samples · %'ld filled · %'ld masked"),
                                           100.0 * (double) r->above / (double) MAX (r->samples, 1), (long) r->filled,
                                           (long) (r->masked + r->left));
  add_fact (facts, r->filled + r->masked + r->left > 0 ? LAM_FACT_ASSUMED : LAM_FACT_PLAIN, _ ("Samples"), above, note);
}

static void
update_facts (LamSession *self)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  if (self->unapplied)
    add_fact (facts, LAM_FACT_ASSUMED, _ ("Not applied yet"), "",
              _ ("Apply reads the scan again with these; Run does it first."));
  if (self->dataset != NULL && self->dataset->made.defects != NULL)
    add_counts (facts, &self->dataset->made.counted);
  if (self->dataset != NULL && self->scan_path == NULL)
    add_fact (facts, LAM_FACT_PLAIN, _ ("Nothing to prepare"), "", _ ("This example was made in memory."));
  lam_session_set_facts (self, LAM_FACTS_PREPARATION, facts);
}

LamGeometry *
lam_session_next_geometry (LamSession *self, gboolean *weighted, GError **error)
{
  *weighted = self->dataset != NULL && self->dataset->weights != NULL;
  if (!self->unapplied || self->scan == NULL)
    return self->geometry != NULL ? lam_geometry_copy (self->geometry) : NULL;
  g_auto (LamPrepareParams) params = {0};
  lam_preparation_params (self->parameters, &params);
  LamProvenance made = {.bin = params.bin, .first_channel = params.crop_channels.begin};
  LamPlaceValues place = lam_session_place_values (self->parameters);
  *weighted = lam_prepare_weighted (&params, self->scan);
  g_autoptr (LamGeometry) base = lam_prepare_geometry (&params, self->scan, error);
  LamGeometry *g = base != NULL ? lam_session_geometry_from (self->parameters, &place, base, &made, error) : NULL;
  if (g != NULL && !lam_geometry_check (g, error))
    g_clear_pointer (&g, lam_geometry_free);
  return g;
}

gboolean
lam_session_get_unapplied (LamSession *self)
{
  return self->unapplied;
}

gboolean
lam_session_can_apply (LamSession *self)
{
  return self->unapplied && self->state == LAM_SESSION_READY && self->run == NULL;
}

const char *
lam_session_get_scan (LamSession *self, LamScanOptions *options)
{
  *options = self->options;
  return self->scan_path;
}

/* -- the list of bad pixels: a file, looked at as soon as it is named -- */

/* From the file as it is now; where that is gone, as it was when the data were last read. */
static gboolean
read_list (LamPrepareParams *params, const LamPrepareParams *before, GError **error)
{
  g_autoptr (GError) e = NULL;
  if (lam_prepare_params_resolve (params, &e))
    return TRUE;
  if (g_error_matches (e, LAM_ERROR, LAM_ERROR_IO) && before->bad_pixels != NULL
      && g_strcmp0 (params->bad_pixels_from, before->bad_pixels_from) == 0) {
    params->bad_pixels = g_bytes_ref (before->bad_pixels);
    return TRUE;
  }
  g_propagate_error (error, g_steal_pointer (&e));
  return FALSE;
}

typedef struct {
  GWeakRef session;
  LamPrepareParams params, before; /* only their lists */
  int64_t rows, channels;          /* of the detector */
} Listing;

static void
listing_free (gpointer data)
{
  Listing *l = data;
  g_weak_ref_clear (&l->session);
  lam_prepare_params_clear (&l->params);
  lam_prepare_params_clear (&l->before);
  g_free (l);
}

static void
list_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Listing *l = data;
  GError *error = NULL;
  if (read_list (&l->params, &l->before, &error)
      && !lam_bad_pixels_check (l->params.bad_pixels, l->rows, l->channels, &error))
    g_prefix_error (&error, "%s: ", l->params.bad_pixels_from);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

static void
list_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Listing *l = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSession) self = g_weak_ref_get (&l->session);
  g_autoptr (GError) error = NULL;
  gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);
  if (self == NULL || g_strcmp0 (l->params.bad_pixels_from, self->listed) != 0)
    return;
  LamParameter *p = lam_parameter_list_find (self->parameters, "bad_pixel_list");
  int64_t n = 0;
  if (ok)
    lam_bad_pixels_data (l->params.bad_pixels, &n);
  g_autofree char *note = ok ? g_strdup_printf (ngettext ("%ld pixel", "%ld pixels", (gulong) n), (long) n) : NULL;
  lam_parameter_set_note (p, note);
  lam_parameter_set_fault (p, ok ? NULL : error->message);
  if (!ok) /* it cannot run so */
    lam_session_update_geometry (self);
}

static void
look_at_list (LamSession *self, const LamPrepareParams *params)
{
  LamParameter *p = lam_parameter_list_find (self->parameters, "bad_pixel_list");
  if (self->scan == NULL || g_strcmp0 (self->listed, params->bad_pixels_from) == 0)
    return;
  g_free (self->listed);
  self->listed = g_strdup (params->bad_pixels_from);
  lam_parameter_set_note (p, NULL);
  lam_session_update_geometry (self); /* the fault of the one before is gone */
  if (self->listed == NULL)
    return;
  Listing *l = g_new0 (Listing, 1);
  g_weak_ref_init (&l->session, self);
  l->params.bad_pixels_from = g_strdup (self->listed);
  lam_prepare_params_copy (&self->prepared, &l->before);
  l->rows = self->scan->file_rows;
  l->channels = self->scan->geometry->channels;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, list_done_cb, NULL);
  g_task_set_name (task, "lam_session_bad_pixels");
  g_task_set_task_data (task, l, listing_free);
  g_task_run_in_thread (task, list_thread);
}

void
lam_session_update_preparation (LamSession *self)
{
  g_auto (LamPrepareParams) params = {0};
  lam_preparation_params (self->parameters, &params);
  gboolean unapplied = self->scan_path != NULL && !lam_prepare_params_equal (&params, &self->prepared);
  gboolean changed = unapplied != self->unapplied;
  self->unapplied = unapplied;
  look_at_list (self, &params);
  update_facts (self);
  lam_session_update_volume (self);
  lam_session_update_forecast (self);
  if (changed)
    g_object_notify (G_OBJECT (self), "unapplied");
}

/* -- applying -- */

typedef struct {
  char *path;
  LamScanOptions options;
  LamFileStamp stamp;
  LamPrepareParams params, before; /* before: what they are prepared with now */
  uint64_t data;
} Applying;

static void
applying_free (gpointer data)
{
  Applying *a = data;
  g_free (a->path);
  lam_prepare_params_clear (&a->params);
  lam_prepare_params_clear (&a->before);
  g_free (a);
}

static void
apply_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Applying *a = data;
  GError *error = NULL;
  g_autoptr (LamScan) scan =
      read_list (&a->params, &a->before, &error) ? lam_scan_open (a->path, &a->options, &error) : NULL;
  if (scan != NULL && (scan->stamp.size != a->stamp.size || scan->stamp.mtime_ns != a->stamp.mtime_ns))
    g_set_error (&error, LAM_ERROR, LAM_ERROR_CHANGED, _ ("%s has changed since it was opened: open it again"),
                 a->path);
  else if (scan != NULL)
    lam_prepare_params_check (&a->params, scan, &error);
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, g_steal_pointer (&scan), (GDestroyNotify) lam_scan_free);
}

static void
apply_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  LamSession *self = LAM_SESSION (source);
  const Applying *a = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (LamScan) scan = g_task_propagate_pointer (G_TASK (result), &error);
  if (a->data != self->data_serial || !self->applying)
    return;
  if (scan == NULL) {
    self->applying = self->run_after = FALSE;
    lam_session_drop_resuming (self);
    lam_session_set_state (self, LAM_SESSION_READY);
    lam_session_fail (self, error);
    return;
  }
  lam_prepare_params_set (&self->being_applied, &a->params); /* with the list that was read */
  lam_session_start_load (self, lam_job_new_load (g_steal_pointer (&scan), &a->params));
}

void
lam_session_apply_preparation (LamSession *self)
{
  g_return_if_fail (LAM_IS_SESSION (self));
  if (!lam_session_can_apply (self))
    return;
  Applying *a = g_new0 (Applying, 1);
  a->path = g_strdup (self->scan_path);
  a->options = self->options;
  a->stamp = self->stamp;
  a->data = self->data_serial;
  lam_preparation_params (self->parameters, &a->params);
  lam_prepare_params_copy (&self->prepared, &a->before);
  lam_prepare_params_set (&self->being_applied, &a->params);
  self->applying = TRUE;
  lam_session_set_state (self, LAM_SESSION_OPENING);
  g_autoptr (GTask) task = g_task_new (self, NULL, apply_done_cb, NULL);
  g_task_set_name (task, "lam_session_apply");
  g_task_set_task_data (task, a, applying_free);
  g_task_run_in_thread (task, apply_thread);
}
