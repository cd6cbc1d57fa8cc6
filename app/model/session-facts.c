/* session-facts.c: what is told about the data and what a run will need. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "core/plan.h"
#include "model/run-job.h"
#include "model/session-private.h"

/* -- facts about the data -- */

static void
add_fact (GPtrArray *facts, LamFactKind kind, const char *label, const char *value, const char *note)
{
  g_ptr_array_add (facts, lam_fact_new (kind, label, value, note));
}

static const char *
field_name (const char *field)
{
  static const struct {
    const char *field, *name;
  } names[] = {{"angles", N_ ("angles")},     {"distances", N_ ("distances")}, {"pitch", N_ ("pitch")},
               {"geometry", N_ ("geometry")}, {"weights", N_ ("weights")},     {"direction", N_ ("direction")},
               {"offset", N_ ("axis")},       {"volume", N_ ("volume")}};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].field, field))
      return _ (names[i].name);
  return NULL;
}

static void
append_word (GString *text, const char *word)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", word);
}

/* "angles, 10 flats, 10 darks". */
static char *
found_text (const LamScan *scan)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    const char *name = f->kind == LAM_FINDING_FOUND ? field_name (f->field) : NULL;
    if (name != NULL && strstr (text->str, name) == NULL)
      append_word (text, name);
  }
  g_autofree char *flats = scan->flats > 0 ? g_strdup_printf (_ ("%ld flats"), (long) scan->flats) : NULL;
  g_autofree char *darks = scan->darks > 0 ? g_strdup_printf (_ ("%ld darks"), (long) scan->darks) : NULL;
  if (flats != NULL)
    append_word (text, flats);
  if (darks != NULL)
    append_word (text, darks);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* @scan is NULL for an example. */
void
lam_session_set_data_facts (LamSession *self, const char *title, const LamGeometry *g, const LamScan *scan)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *note = g_strdup_printf (_ ("%ld views over %.0f° · %ld × %ld"), (long) g->views,
                                           fabs (lam_geometry_span (g)), (long) g->rows, (long) g->channels);
  add_fact (facts, LAM_FACT_PLAIN, title, scan != NULL ? lam_scan_format_name (scan->format) : _ ("example"), note);
  if (scan != NULL) {
    g_autofree char *found = found_text (scan);
    add_fact (facts, LAM_FACT_PLAIN, _ ("Found"), found, NULL);
  }
  for (guint i = 0; scan != NULL && i < scan->findings->len; i++) {
    const LamFinding *f = g_ptr_array_index (scan->findings, i);
    /* The centre of rotation is looked for, and its row tells what was found. */
    if (f->kind == LAM_FINDING_FOUND || g_str_equal (f->field, "center"))
      continue;
    const char *label = f->kind == LAM_FINDING_ASSUMED   ? _ ("Assumed")
                        : f->kind == LAM_FINDING_MISSING ? _ ("Missing")
                                                         : _ ("Odd");
    const char *value = f->value != NULL ? f->value : field_name (f->field);
    add_fact (facts, f->kind == LAM_FINDING_MISSING ? LAM_FACT_MISSING : LAM_FACT_ASSUMED, label,
              value != NULL ? value : f->field, f->text);
  }
  lam_session_set_facts (self, LAM_FACTS_DATA, facts);
}

/* -- forecast -- */

typedef struct {
  GWeakRef session;
  LamGeometry *geometry;
  LamReconParams params;
  gboolean weighted;
  int64_t bytes;
  double seconds;
  int devices;
  char *problem; /* why it does not fit */
} Forecast;

static void
forecast_free (gpointer data)
{
  Forecast *f = data;
  g_weak_ref_clear (&f->session);
  lam_geometry_free (f->geometry);
  lam_recon_params_clear (&f->params);
  g_free (f->problem);
  g_free (f);
}

static void
forecast_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Forecast *f = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LamPlan) plan = lam_recon_plan (f->geometry, f->weighted, TRUE, &f->params, &error);
  if (plan != NULL) {
    f->bytes = lam_plan_total (plan);
    f->devices = lam_devices_count (lam_plan_devices (plan));
    f->seconds = lam_recon_forecast (f->geometry, &f->params);
    lam_plan_fits (plan, &error);
  }
  f->problem = error != NULL ? g_strdup (error->message) : NULL;
  g_task_return_boolean (task, TRUE);
}

static void
tell_need (LamSession *self, const char *need, const char *problem)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_object_unref);
  if (*need != '\0' || problem != NULL)
    add_fact (facts, problem != NULL ? LAM_FACT_MISSING : LAM_FACT_PLAIN, _ ("Will need"), need, problem);
  lam_session_set_facts (self, LAM_FACTS_RUN, facts);
}

static void
forecast_done_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Forecast *f = g_task_get_task_data (G_TASK (result));
  g_autoptr (LamSession) self = g_weak_ref_get (&f->session);
  if (self == NULL)
    return;
  self->forecasting = FALSE;
  if (f->devices > 0) {
    g_autofree char *devices = g_strdup_printf (_ ("%d × CPU · same result on any number"), f->devices);
    lam_parameter_set_note (lam_parameter_list_find (self->parameters, "devices"), devices);
    g_autofree char *bytes = g_format_size (f->bytes);
    g_autofree char *need = f->seconds < 90 ? g_strdup_printf (_ ("%s · about %.0f s"), bytes, fmax (f->seconds, 1))
                                            : g_strdup_printf (_ ("%s · about %.0f min"), bytes, f->seconds / 60);
    tell_need (self, need, f->problem);
  } else
    tell_need (self, "", f->problem);
  if (self->forecast_again)
    lam_session_update_forecast (self);
}

void
lam_session_update_forecast (LamSession *self)
{
  g_autoptr (GError) error = NULL;
  if (self->dataset == NULL || self->geometry == NULL)
    return;
  /* It measures this machine's speed once: not while the centre is looked for. */
  self->forecast_again = self->forecasting || self->finding;
  if (self->forecast_again)
    return;
  gboolean weighted;
  g_autoptr (LamGeometry) geometry = lam_session_next_geometry (self, &weighted, &error);
  if (geometry == NULL) {
    tell_need (self, "", error->message);
    return;
  }
  self->forecasting = TRUE;
  Forecast *f = g_new0 (Forecast, 1);
  g_weak_ref_init (&f->session, self);
  f->geometry = g_steal_pointer (&geometry);
  f->weighted = weighted;
  lam_session_recon_params (self, &f->params);
  /* A run of a file keeps its state against a crash, and holds one more volume for that. */
  if (f->params.method == LAM_METHOD_VCD)
    f->params.checkpoint = g_strdup (self->scan_path);
  lam_run_params_turn (&f->params, f->geometry, weighted, lam_session_tilt (self));
  g_autoptr (GTask) task = g_task_new (NULL, NULL, forecast_done_cb, NULL);
  g_task_set_name (task, "lam_session_forecast");
  g_task_set_task_data (task, f, forecast_free);
  g_task_run_in_thread (task, forecast_thread);
}
