#include "config.h"

#include "model/sequence-session.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "model/sequence-approximations.h"
#include "mr/approximations.h"
#include "mr/number-list.h"
#include "run/newest.h"

/* What the least orders may cost, of the peak. */
#define LEAST_COST 1e-3

struct _LamSequenceSession {
  GObject parent_instance;
  LamUndo *undo;
  LamParameter *template;
  LamParameterChoice *choices; /* of the template */
  LamParameterList *model, *protocol_rows;
  LamProtocol *protocol; /* what is asked: rows and lists together */
  GListStore *tissues;
  LamPulseqModel *pulseq;
  LamPulseqSignal *pulseq_signal;
  LamPulseqEstimate *pulseq_estimate;
  LamNewest *newest;
  LamSequenceResult *result, *before;
  guint64 serial; /* of the newest request */
  int drag;
  guint ask_source;
  gboolean loading, well;
  GHashTable *kept, *unclaimed; /* LamParameterList by id; GVariant of a state, whose list is not there yet */
  GHashTable *parts;            /* Part by id */
  gboolean finding;             /* the least orders, with the next answer */
  /* The worker's own. */
  LamModel *engine, *finer, *other;
  LamDevices *devices;
};

enum { PROTOCOL_CHANGED, TRAIN_CHANGED, RESULT, FAILED, CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (LamSequenceSession, lam_sequence_session, G_TYPE_OBJECT)

/* ---- the worker ---- */

typedef struct {
  guint64 serial;
  LamProtocol *protocol;
  LamTissues *tissues;
  LamApproximations approximations;
  double noise;
  gboolean find_orders;
} Request;

static void
free_request (gpointer data)
{
  Request *r = data;
  lam_protocol_free (r->protocol);
  lam_tissues_unref (r->tissues);
  g_free (r);
}

static gpointer
work (gpointer owner, gpointer request, GError **error)
{
  LamSequenceSession *self = owner;
  Request *r = request;
  if (!self->devices && !(self->devices = lam_devices_new ("cpu", error)))
    return NULL;
  LamModel **const models[] = {&self->engine, &self->finer, &self->other};
  LamSimulateOptions options = {0};
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    if (!lam_model_follow (models[i], r->protocol, error))
      return NULL;
    lam_approximations_apply (&r->approximations, *models[i], &options);
  }
  int least = 0;
  if (r->find_orders) {
    least = lam_model_least_orders (self->other, self->finer, r->tissues, &options, LEAST_COST, self->devices, NULL,
                                    &least, NULL)
                ? least
                : -1;
    lam_approximations_apply (&r->approximations, self->other, &options);
  }
  LamSequenceResult *result =
      lam_sequence_result_make (self->engine, self->finer, r->tissues, &options, r->noise, self->devices, NULL, error);
  if (!result)
    return NULL;
  lam_approximations_measure (&r->approximations, self->engine, self->other, r->tissues, self->devices, result);
  result->least_orders = least;
  result->serial = r->serial;
  return result;
}

static void
take_orders (LamSequenceSession *self, const LamSequenceResult *r)
{
  if (!self->finding || r->least_orders == 0)
    return;
  self->finding = FALSE;
  if (r->least_orders > 0)
    lam_parameter_edit (lam_parameter_list_find (self->model, "orders"), g_variant_new_int64 (r->least_orders), NULL);
}

static void
answered (gpointer owner)
{
  LamSequenceSession *self = owner;
  LamSequenceResult *r = lam_newest_take (self->newest);
  if (!r)
    return;
  g_clear_pointer (&self->result, lam_sequence_result_unref);
  self->result = r;
  if (lam_pulseq_model_get_file (self->pulseq)) /* it came late */
    return;
  if (!self->well)
    g_signal_emit (self, signals[FAILED], 0, NULL);
  self->well = TRUE;
  lam_approximations_say (self->model, r, G_LIST_MODEL (self->tissues));
  take_orders (self, r);
  g_signal_emit (self, signals[RESULT], 0);
}

static void
failed (gpointer owner, const GError *error)
{
  LamSequenceSession *self = owner;
  self->well = FALSE;
  g_signal_emit (self, signals[FAILED], 0, error->message);
}

static void
free_result (gpointer r)
{
  lam_sequence_result_unref (r);
}

/* ---- asking ---- */

static LamTissues *
collect_tissues (LamSequenceSession *self, GError **error)
{
  const char *const *quantities = lam_tissue_item_quantities ();
  const LamTemplate *template = lam_protocol_template (self->protocol);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->tissues));
  if (n == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_MISSING, "%s", _ ("There is no tissue: add one to see its signal."));
    return NULL;
  }
  LamTissues *t = lam_tissues_new (n);
  const LamApproximations a = lam_approximations_read (self->model);
  const gboolean file = lam_pulseq_model_get_file (self->pulseq) != NULL;
  g_autofree double *values = g_new (double, n);
  for (int q = 0; quantities[q]; q++) {
    gboolean any = q < 2;
    if (file ? !lam_bloch_model_knows (quantities[q]) : !lam_tissue_item_uses (template, quantities[q]))
      continue;
    for (guint i = 0; i < n; i++) {
      g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
      gboolean given;
      values[i] = lam_tissue_item_get (item, quantities[q], &given);
      any |= given;
    }
    if (any && (file || lam_approximations_take (&a, quantities[q]))
        && !lam_tissues_set (t, quantities[q], values, n, error)) {
      lam_tissues_unref (t);
      return NULL;
    }
  }
  /* Closed forms of gradient echoes know T2* instead. */
  if (template->closed)
    for (guint i = 0; i < n; i++) {
      g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
      values[i] = lam_tissue_item_get (item, "T2", NULL);
      if (i == n - 1)
        lam_tissues_set (t, "T2star", values, n, NULL);
    }
  return t;
}

static double
noise_of (LamSequenceSession *self)
{
  return lam_parameter_get_number (lam_parameter_list_find (self->model, "noise"));
}

static gboolean
ask_cb (gpointer data)
{
  LamSequenceSession *self = data;
  g_autoptr (GError) error = NULL;
  self->ask_source = 0;
  g_signal_emit (self, signals[CHANGED], 0);
  LamTissues *t = collect_tissues (self, &error);
  if (lam_pulseq_model_get_file (self->pulseq)) {
    self->well = TRUE;
    lam_pulseq_estimate_ask (self->pulseq_estimate, t ? lam_tissues_ref (t) : NULL, noise_of (self));
    lam_pulseq_signal_ask (self->pulseq_signal, t);
    return G_SOURCE_REMOVE;
  }
  if (!t) {
    failed (self, error);
    return G_SOURCE_REMOVE;
  }
  Request *r = g_new0 (Request, 1);
  r->serial = ++self->serial;
  r->protocol = lam_protocol_copy (self->protocol);
  r->tissues = t;
  r->approximations = lam_approximations_read (self->model);
  r->find_orders = self->finding;
  r->noise = noise_of (self);
  lam_newest_ask (self->newest, r);
  return G_SOURCE_REMOVE;
}

/* At once, but once for several changes of one turn. */
static void
ask (LamSequenceSession *self)
{
  if (self->ask_source == 0 && !self->loading)
    self->ask_source = g_idle_add_full (G_PRIORITY_HIGH, ask_cb, self, NULL);
}

/* ---- a file ---- */

static void
setting_changed_cb (LamParameterList *list, LamParameter *p, LamSequenceSession *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
file_changed_cb (LamPulseqModel *model, LamSequenceSession *self)
{
  g_signal_emit (self, signals[FAILED], 0, NULL);
  ask (self);
}

LamPulseqModel *
lam_sequence_session_get_pulseq (LamSequenceSession *self)
{
  return self->pulseq;
}

LamPulseqSignal *
lam_sequence_session_get_pulseq_signal (LamSequenceSession *self)
{
  return self->pulseq_signal;
}

LamPulseqEstimate *
lam_sequence_session_get_pulseq_estimate (LamSequenceSession *self)
{
  return self->pulseq_estimate;
}

/* ---- protocol ---- */

/* A row for each field but lists of several values, which are drawn. */
static LamParameter *
new_row (const LamField *f)
{
  LamParameter *p;
  if (f->kind == LAM_FIELD_CHOICE) {
    guint n = g_strv_length ((char **) f->choices);
    LamParameterChoice *choices = g_new0 (LamParameterChoice, n + 1);
    for (guint i = 0; i < n; i++)
      choices[i] = (LamParameterChoice){f->choices[i], f->choices[i]};
    p = lam_parameter_new_choice (f->name, f->title, choices, f->choices[(int) f->value]);
    g_object_set_data_full (G_OBJECT (p), "choices", choices, g_free); /* the row does not copy them */
    return p;
  }
  if (f->kind == LAM_FIELD_COUNT)
    p = lam_parameter_new_integer (f->name, f->title, f->unit, (gint64) f->value, (gint64) f->least, (gint64) f->most);
  else {
    double value = isnan (f->value) ? -1 : f->value;
    p = lam_parameter_new_number (f->name, f->title, f->unit, value, isnan (f->value) ? -1 : f->least, f->most,
                                  strcmp (f->unit, "deg") == 0 ? 1 : 2);
    if (isnan (f->value))
      lam_parameter_set_special (p, -1, _ ("automatic"));
    lam_parameter_set_step (p, *f->unit && strcmp (f->unit, "deg") == 0 ? 1 : 0.1);
  }
  return p;
}

static double
row_value (LamParameter *p, const LamField *f)
{
  switch (lam_parameter_get_kind (p)) {
  case LAM_PARAMETER_CHOICE:
    return lam_parameter_get_selected (p);
  case LAM_PARAMETER_INTEGER:
    return (double) lam_parameter_get_integer (p);
  default: {
    double v = lam_parameter_get_number (p);
    return isnan (f->value) && v < 0 ? NAN : v;
  }
  }
}

static void
row_changed_cb (LamParameterList *list, LamParameter *p, LamSequenceSession *self)
{
  const LamField *f = lam_template_field (lam_protocol_template (self->protocol), lam_parameter_get_id (p));
  g_autoptr (GError) error = NULL;
  if (!f)
    return;
  if (!lam_protocol_set_value (self->protocol, f->name, row_value (p, f), &error)) {
    failed (self, error);
    return;
  }
  ask (self);
}

static void
build_rows (LamSequenceSession *self)
{
  const LamTemplate *t = lam_template_find (lam_parameter_get_text (self->template));
  g_clear_pointer (&self->protocol, lam_protocol_free);
  self->protocol = lam_protocol_new (t);
  g_set_object (&self->protocol_rows, NULL);
  self->protocol_rows = lam_parameter_list_new (self->undo);
  for (const LamField *f = t->fields; f->name; f++)
    if (f->kind != LAM_FIELD_LIST || (!f->list && strcmp (f->name, "flip") != 0))
      lam_parameter_list_add (self->protocol_rows, new_row (f));
  g_signal_connect_object (self->protocol_rows, "changed", G_CALLBACK (row_changed_cb), self, 0);
}

/* A train that shows something, where one value for all would not. */
static void
default_train (LamSequenceSession *self)
{
  const char *name = lam_protocol_template (self->protocol)->name;
  g_autofree double *v = NULL;
  int n = 0;
  if (strcmp (name, "MRF") == 0) {
    n = 500;
    v = g_new (double, n);
    for (int i = 0; i < n; i++)
      v[i] = 5 + 55 * fabs (sin (2 * G_PI * (i + 1) / n));
    lam_protocol_set_value (self->protocol, "TI", 20, NULL);
  } else if (strcmp (name, "FSE") == 0 || strcmp (name, "HSFP") == 0) {
    n = name[0] == 'F' ? 32 : 200;
    v = g_new (double, n);
    for (int i = 0; i < n; i++)
      v[i] = name[0] == 'F' ? 120 + 40 * exp (-i / 4.0) : 60 * pow (sin (G_PI * i / (n - 1)), 2);
  }
  if (n)
    lam_protocol_set (self->protocol, "flip", v, n, NULL);
  static const struct {
    const char *name, *field;
    double from, to;
    int n;
  } sweeps[] = {{"SPGR", "flip", 1, 40, 40},
                {"bSSFP", "flip", 1, 80, 80},
                {"InversionRecovery", "TI", 20, 4000, 100},
                {"MultiEcho", "TE", 5, 300, 60},
                {"DoubleAngle", "flip", 5, 175, 35},
                {"SpinEcho", "TE", 10, 200, 40},
                {"LookLocker", "TI", 0, 4000, 100},
                {"IRbSSFP", "TI", 0, 4000, 100},
                {"MultiGradientEcho", "TE", 0.5, 30, 60},
                {"IRMultiGradientEcho", "TE", 0.5, 30, 60},
                {"Diffusion", "b", 0, 3000, 31},
                {"Lorentzian", "offsets", -6, 6, 121},
                {"CEST", "offsets", -5, 5, 41},
                {"ASL", "t", 0, 4500, 90},
                {"MOLLI", "readouts", 5, 3, 2}};
  for (guint k = 0; k < G_N_ELEMENTS (sweeps); k++)
    if (strcmp (sweeps[k].name, name) == 0) {
      g_autofree double *x = g_new (double, sweeps[k].n);
      for (int i = 0; i < sweeps[k].n; i++)
        x[i] = sweeps[k].from + (sweeps[k].to - sweeps[k].from) * i / (sweeps[k].n - 1.0);
      lam_protocol_set (self->protocol, sweeps[k].field, x, sweeps[k].n, NULL);
    }
  /* Rows say what the protocol has. */
  LamParameter *ti = lam_parameter_list_find (self->protocol_rows, "TI");
  if (ti && strcmp (name, "MRF") == 0)
    lam_parameter_set_value (ti, g_variant_new_double (20), NULL);
}

/* A count that only matters where one value stands for all is in the way of a list. */
static void
hide_counts (LamSequenceSession *self)
{
  static const char *const counts[] = {"pulses", "echoes", "nshots"};
  const LamField *flip = lam_template_field (lam_protocol_template (self->protocol), "flip");
  int n = 1;
  if (flip && flip->kind == LAM_FIELD_LIST)
    lam_protocol_get (self->protocol, "flip", &n);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    LamParameter *p = lam_parameter_list_find (self->protocol_rows, counts[i]);
    if (p)
      lam_parameter_set_visible (p, n <= 1);
  }
}

static void
template_changed_cb (LamParameter *template, GParamSpec *pspec, LamSequenceSession *self)
{
  if (self->protocol && strcmp (lam_protocol_template (self->protocol)->name, lam_parameter_get_text (template)) == 0)
    return;
  g_clear_pointer (&self->before, lam_sequence_result_unref);
  build_rows (self);
  default_train (self);
  hide_counts (self);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tissues)); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
    lam_tissue_item_show_for (item, lam_protocol_template (self->protocol));
  }
  g_signal_emit (self, signals[PROTOCOL_CHANGED], 0);
  g_signal_emit (self, signals[TRAIN_CHANGED], 0);
  ask (self);
}

LamUndo *
lam_sequence_session_get_undo (LamSequenceSession *self)
{
  return self->undo;
}

LamParameter *
lam_sequence_session_get_template (LamSequenceSession *self)
{
  return self->template;
}

LamParameterList *
lam_sequence_session_get_model (LamSequenceSession *self)
{
  return self->model;
}

LamParameterList *
lam_sequence_session_get_protocol (LamSequenceSession *self)
{
  return self->protocol_rows;
}

const char *
lam_sequence_session_get_summary (LamSequenceSession *self)
{
  return lam_protocol_template (self->protocol)->summary;
}

/* ---- lists ---- */

const char *
lam_sequence_session_get_train (LamSequenceSession *self)
{
  const LamTemplate *t = lam_protocol_template (self->protocol);
  for (const LamField *f = t->fields; f->name; f++) {
    int n;
    lam_protocol_get (self->protocol, f->name, &n);
    if (f->kind == LAM_FIELD_LIST && (n > 1 || strcmp (f->name, "flip") == 0))
      return f->name;
  }
  return NULL;
}

const double *
lam_sequence_session_get_list (LamSequenceSession *self, const char *field, int *n)
{
  return lam_protocol_get (self->protocol, field, n);
}

static GVariant *
list_state (LamSequenceSession *self, const char *field)
{
  int n;
  const double *v = lam_protocol_get (self->protocol, field, &n);
  return g_variant_new ("(s@ad)", field, g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, v, n, sizeof *v));
}

static void
apply_list (GObject *target, GVariant *state)
{
  LamSequenceSession *self = LAM_SEQUENCE_SESSION (target);
  const char *field;
  g_autoptr (GVariant) values = NULL;
  gsize n;
  g_variant_get (state, "(&s@ad)", &field, &values);
  const double *v = g_variant_get_fixed_array (values, &n, sizeof *v);
  if (lam_template_field (lam_protocol_template (self->protocol), field)
      && lam_protocol_set (self->protocol, field, v, (int) n, NULL)) {
    hide_counts (self);
    g_signal_emit (self, signals[TRAIN_CHANGED], 0);
    ask (self);
  }
}

gboolean
lam_sequence_session_edit_list (LamSequenceSession *self, const char *field, const double *values, int n,
                                const char *name, GError **error)
{
  g_autoptr (GVariant) before = g_variant_ref_sink (list_state (self, field));
  if (!lam_protocol_set (self->protocol, field, values, n, error))
    return FALSE;
  lam_undo_push (self->undo, name, G_OBJECT (self), apply_list, before, list_state (self, field));
  hide_counts (self);
  g_signal_emit (self, signals[TRAIN_CHANGED], 0);
  ask (self);
  return TRUE;
}

gboolean
lam_sequence_session_edit_formula (LamSequenceSession *self, const char *field, const char *text, int count,
                                   GError **error)
{
  int n;
  g_autofree double *v = lam_number_list_parse (text, count, &n, error);
  return v && lam_sequence_session_edit_list (self, field, v, n, _ ("Set Train"), error);
}

void
lam_sequence_session_begin_drag (LamSequenceSession *self, const char *name)
{
  if (self->drag++ > 0)
    return;
  lam_undo_begin (self->undo, name);
  g_clear_pointer (&self->before, lam_sequence_result_unref);
  self->before = self->result ? lam_sequence_result_ref (self->result) : NULL;
}

void
lam_sequence_session_end_drag (LamSequenceSession *self)
{
  if (self->drag > 0 && --self->drag == 0)
    lam_undo_end (self->undo);
}

/* ---- tissues ---- */

static void
tissue_changed_cb (LamTissueItem *item, LamSequenceSession *self)
{
  ask (self);
}

static void
insert_tissue (LamSequenceSession *self, guint at, LamTissueItem *item)
{
  g_signal_connect_object (item, "changed", G_CALLBACK (tissue_changed_cb), self, 0);
  lam_tissue_item_show_for (item, lam_protocol_template (self->protocol));
  g_list_store_insert (self->tissues, MIN (at, g_list_model_get_n_items (G_LIST_MODEL (self->tissues))), item);
}

/* State: whether it is there, and where. The item itself is the target, so that edits of it before still find it; its
 * session is not owned, and outlives the undo that holds the item. */
static void
apply_tissue (GObject *target, GVariant *state)
{
  LamTissueItem *item = LAM_TISSUE_ITEM (target);
  LamSequenceSession *self = g_object_get_data (target, "lam-session");
  gboolean there;
  guint place, at;
  g_variant_get (state, "(bu)", &there, &place);
  if (there)
    insert_tissue (self, place, item);
  else if (g_list_store_find (self->tissues, item, &at)) {
    g_signal_handlers_disconnect_by_func (item, tissue_changed_cb, self);
    g_list_store_remove (self->tissues, at);
  }
  ask (self);
}

GListModel *
lam_sequence_session_get_tissues (LamSequenceSession *self)
{
  return G_LIST_MODEL (self->tissues);
}

static int
free_colour (LamSequenceSession *self)
{
  gboolean used[LAM_SEQUENCE_MOST_TISSUES] = {FALSE};
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tissues)); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
    used[lam_tissue_item_get_colour (item) % LAM_SEQUENCE_MOST_TISSUES] = TRUE;
  }
  for (int c = 0; c < LAM_SEQUENCE_MOST_TISSUES; c++)
    if (!used[c])
      return c;
  return 0;
}

LamTissueItem *
lam_sequence_session_add_tissue (LamSequenceSession *self, const char *name, double t1, double t2, const char *source,
                                 GError **error)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->tissues));
  if (n >= LAM_SEQUENCE_MOST_TISSUES) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("At most %d tissues are shown together; remove one first."),
                 LAM_SEQUENCE_MOST_TISSUES);
    return NULL;
  }
  g_autoptr (LamTissueItem) item = lam_tissue_item_new (self->undo, name, free_colour (self), t1, t2);
  lam_tissue_item_set_source (item, source);
  g_object_set_data (G_OBJECT (item), "lam-session", self);
  insert_tissue (self, n, item);
  g_autofree char *edit = g_strdup_printf (_ ("Add %s"), name);
  lam_undo_push (self->undo, edit, G_OBJECT (item), apply_tissue, g_variant_new ("(bu)", FALSE, n),
                 g_variant_new ("(bu)", TRUE, n));
  ask (self);
  return item; /* the list holds it */
}

void
lam_sequence_session_remove_tissue (LamSequenceSession *self, LamTissueItem *item)
{
  guint at;
  if (!g_list_store_find (self->tissues, item, &at))
    return;
  g_autoptr (LamTissueItem) kept = g_object_ref (item);
  g_autofree char *edit = g_strdup_printf (_ ("Remove %s"), lam_tissue_item_get_name (item));
  g_signal_handlers_disconnect_by_func (item, tissue_changed_cb, self);
  g_list_store_remove (self->tissues, at);
  lam_undo_push (self->undo, edit, G_OBJECT (kept), apply_tissue, g_variant_new ("(bu)", TRUE, at),
                 g_variant_new ("(bu)", FALSE, at));
  ask (self);
}

void
lam_sequence_session_find_orders (LamSequenceSession *self)
{
  self->finding = TRUE;
  ask (self);
}

LamProtocol *
lam_sequence_session_copy_protocol (LamSequenceSession *self)
{
  return lam_protocol_copy (self->protocol);
}

LamTissues *
lam_sequence_session_copy_tissues (LamSequenceSession *self, GError **error)
{
  return collect_tissues (self, error);
}

/* ---- results ---- */

LamSequenceResult *
lam_sequence_session_get_result (LamSequenceSession *self)
{
  return self->result;
}

LamSequenceResult *
lam_sequence_session_get_before (LamSequenceSession *self)
{
  return self->before;
}

gboolean
lam_sequence_session_is_settled (LamSequenceSession *self)
{
  if (lam_pulseq_model_get_file (self->pulseq))
    return self->ask_source == 0 && lam_pulseq_signal_is_settled (self->pulseq_signal)
           && lam_pulseq_estimate_is_settled (self->pulseq_estimate);
  return self->ask_source == 0 && (!self->well || (self->result && self->result->serial == self->serial));
}

/* ---- saving ---- */

static void
kept_changed_cb (LamParameterList *list, LamParameter *p, LamSequenceSession *self)
{
  if (!self->loading)
    g_signal_emit (self, signals[CHANGED], 0);
}

void
lam_sequence_session_keep (LamSequenceSession *self, const char *id, LamParameterList *list)
{
  GVariant *values = g_hash_table_lookup (self->unclaimed, id);
  if (values)
    lam_parameter_list_load (list, values, NULL);
  g_hash_table_remove (self->unclaimed, id);
  g_hash_table_insert (self->kept, (gpointer) g_intern_string (id), g_object_ref (list));
  g_signal_connect_object (list, "changed", G_CALLBACK (kept_changed_cb), self, 0);
}

typedef struct {
  GWeakRef owner;
  LamSequencePartSave save;
  LamSequencePartLoad load;
} Part;

static void
free_part (gpointer data)
{
  g_weak_ref_clear (&((Part *) data)->owner);
  g_free (data);
}

void
lam_sequence_session_touch (LamSequenceSession *self)
{
  if (!self->loading)
    g_signal_emit (self, signals[CHANGED], 0);
}

void
lam_sequence_session_keep_part (LamSequenceSession *self, const char *id, GObject *owner, LamSequencePartSave save,
                                LamSequencePartLoad load)
{
  Part *part = g_new0 (Part, 1);
  g_weak_ref_init (&part->owner, owner);
  part->save = save;
  part->load = load;
  GVariant *state = g_hash_table_lookup (self->unclaimed, id);
  if (state)
    load (owner, state);
  g_hash_table_remove (self->unclaimed, id);
  g_hash_table_insert (self->parts, (gpointer) g_intern_string (id), part);
}

static void
save_parts (LamSequenceSession *self, GVariantDict *dict)
{
  GHashTableIter iter;
  gpointer id, value;
  g_hash_table_iter_init (&iter, self->parts);
  while (g_hash_table_iter_next (&iter, &id, &value)) {
    Part *part = value;
    g_autoptr (GObject) owner = g_weak_ref_get (&part->owner);
    GVariant *state = owner ? part->save (owner) : NULL;
    if (state) {
      g_autoptr (GVariant) held = g_variant_take_ref (state);
      g_variant_dict_insert_value (dict, id, held);
    }
  }
}

static void
load_parts (LamSequenceSession *self, GVariant *state)
{
  GHashTableIter iter;
  gpointer id, value;
  g_hash_table_iter_init (&iter, self->parts);
  while (g_hash_table_iter_next (&iter, &id, &value)) {
    Part *part = value;
    g_autoptr (GObject) owner = g_weak_ref_get (&part->owner);
    g_autoptr (GVariant) own = g_variant_lookup_value (state, id, G_VARIANT_TYPE_VARDICT);
    if (owner)
      part->load (owner, own);
  }
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  g_autoptr (GVariant) x = g_variant_get_child_value (*(GVariant *const *) a, 0),
                       y = g_variant_get_child_value (*(GVariant *const *) b, 0);
  return strcmp (g_variant_get_string (x, NULL), g_variant_get_string (y, NULL));
}

/* By key: states are compared, and a dictionary's own order tells of how it came about. Takes @dict. */
static GVariant *
sort_entries (GVariant *dict)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (dict);
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  for (gsize i = 0; i < g_variant_n_children (held); i++)
    g_ptr_array_add (entries, g_variant_get_child_value (held, i));
  g_ptr_array_sort (entries, compare_entries);
  return g_variant_ref_sink (
      g_variant_new_array (G_VARIANT_TYPE ("{sv}"), (GVariant *const *) entries->pdata, entries->len));
}

GVariant *
lam_sequence_session_save (LamSequenceSession *self)
{
  GVariantDict dict;
  GVariantBuilder lists, tissues;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "template", "s", lam_parameter_get_text (self->template));
  g_autoptr (GVariant) model = lam_parameter_list_save (self->model),
                       rows = lam_parameter_list_save (self->protocol_rows);
  g_variant_dict_insert_value (&dict, "model", model);
  g_variant_dict_insert_value (&dict, "protocol", rows);
  GHashTableIter iter;
  gpointer id, list;
  g_hash_table_iter_init (&iter, self->kept);
  while (g_hash_table_iter_next (&iter, &id, &list)) {
    g_autoptr (GVariant) values = lam_parameter_list_save (list);
    g_variant_dict_insert_value (&dict, id, values);
  }
  g_hash_table_iter_init (&iter, self->unclaimed);
  while (g_hash_table_iter_next (&iter, &id, &list))
    g_variant_dict_insert_value (&dict, id, list);
  save_parts (self, &dict);
  g_variant_builder_init (&lists, G_VARIANT_TYPE ("a(sad)"));
  for (const LamField *f = lam_protocol_template (self->protocol)->fields; f->name; f++)
    if (f->kind == LAM_FIELD_LIST)
      g_variant_builder_add_value (&lists, list_state (self, f->name));
  g_variant_dict_insert_value (&dict, "lists", g_variant_builder_end (&lists));
  LamSequenceFile *file = lam_pulseq_model_get_file (self->pulseq);
  g_autoptr (GVariant) limits = lam_parameter_list_save (lam_pulseq_model_get_limits (self->pulseq)),
                       bloch = lam_parameter_list_save (lam_pulseq_signal_get_parameters (self->pulseq_signal));
  if (file)
    g_variant_dict_insert (&dict, "file", "^ay", file->path);
  g_variant_dict_insert_value (&dict, "limits", limits);
  g_variant_dict_insert_value (&dict, "bloch", bloch);
  g_variant_builder_init (&tissues, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tissues)); i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
    g_autoptr (GVariant) state = lam_tissue_item_save (item);
    g_variant_builder_add_value (&tissues, state);
  }
  g_variant_dict_insert_value (&dict, "tissues", g_variant_builder_end (&tissues));
  return sort_entries (g_variant_dict_end (&dict));
}

static gboolean
load_kept (LamSequenceSession *self, GVariant *state, GError **error)
{
  static const char *const own[] = {"template", "model",  "protocol", "lists", "tissues",
                                    "file",     "limits", "bloch",    NULL};
  GVariantIter iter;
  const char *id;
  GVariant *values;
  g_hash_table_remove_all (self->unclaimed);
  g_variant_iter_init (&iter, state);
  while (g_variant_iter_next (&iter, "{&sv}", &id, &values)) {
    g_autoptr (GVariant) held = values;
    LamParameterList *list = g_hash_table_lookup (self->kept, id);
    if (g_strv_contains (own, id) || g_hash_table_contains (self->parts, id)
        || !g_variant_is_of_type (values, G_VARIANT_TYPE_VARDICT))
      continue;
    if (!list)
      g_hash_table_insert (self->unclaimed, g_strdup (id), g_steal_pointer (&held));
    else if (!lam_parameter_list_load (list, values, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lam_sequence_session_load (LamSequenceSession *self, GVariant *state, GError **error)
{
  const char *template = NULL;
  if (!g_variant_lookup (state, "template", "&s", &template) || !lam_template_find (template)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 _ ("the sequence's state names no template that this version knows (%s)"), template ? template : "-");
    return FALSE;
  }
  self->loading = TRUE;
  lam_parameter_set_value (self->template, g_variant_new_string (template), NULL);
  g_autoptr (GVariant) model = g_variant_lookup_value (state, "model", G_VARIANT_TYPE_VARDICT),
                       rows = g_variant_lookup_value (state, "protocol", G_VARIANT_TYPE_VARDICT),
                       lists = g_variant_lookup_value (state, "lists", G_VARIANT_TYPE ("a(sad)")),
                       tissues = g_variant_lookup_value (state, "tissues", G_VARIANT_TYPE ("aa{sv}")),
                       limits = g_variant_lookup_value (state, "limits", G_VARIANT_TYPE_VARDICT),
                       bloch = g_variant_lookup_value (state, "bloch", G_VARIANT_TYPE_VARDICT);
  const char *file = NULL;
  gboolean ok =
      (!model || lam_parameter_list_load (self->model, model, error))
      && (!rows || lam_parameter_list_load (self->protocol_rows, rows, error))
      && (!limits || lam_parameter_list_load (lam_pulseq_model_get_limits (self->pulseq), limits, error))
      && (!bloch || lam_parameter_list_load (lam_pulseq_signal_get_parameters (self->pulseq_signal), bloch, error));
  ok = ok && load_kept (self, state, error);
  for (gsize i = 0; ok && lists && i < g_variant_n_children (lists); i++) {
    g_autoptr (GVariant) list = g_variant_get_child_value (lists, i);
    apply_list (G_OBJECT (self), list);
  }
  if (ok && tissues) {
    g_list_store_remove_all (self->tissues);
    for (gsize i = 0; i < MIN (g_variant_n_children (tissues), LAM_SEQUENCE_MOST_TISSUES); i++) {
      g_autoptr (GVariant) one = g_variant_get_child_value (tissues, i);
      g_autoptr (LamTissueItem) item = lam_tissue_item_load (self->undo, one);
      g_object_set_data (G_OBJECT (item), "lam-session", self);
      insert_tissue (self, G_MAXUINT, item);
    }
  }
  if (ok)
    load_parts (self, state);
  self->loading = FALSE;
  if (ok && g_variant_lookup (state, "file", "^&ay", &file))
    lam_pulseq_model_restore (self->pulseq, file);
  else if (ok)
    lam_pulseq_model_close_file (self->pulseq);
  lam_undo_clear (self->undo);
  g_signal_emit (self, signals[TRAIN_CHANGED], 0);
  ask (self);
  return ok;
}

/* ---- object ---- */

static void
model_changed_cb (LamParameterList *list, LamParameter *p, LamSequenceSession *self)
{
  if (lam_pulseq_model_get_file (self->pulseq) && g_str_equal (lam_parameter_get_id (p), "noise")) {
    lam_pulseq_estimate_set_noise (self->pulseq_estimate, noise_of (self)); /* no signal has noise in it */
    setting_changed_cb (list, p, self);
  } else
    ask (self);
}

static void
build_model (LamSequenceSession *self)
{
  self->model = lam_parameter_list_new (self->undo);
  lam_approximations_add (self->model);
  LamParameter *noise =
      lam_parameter_list_add (self->model, lam_parameter_new_number ("noise", _ ("Noise"), "", 0.002, 1e-9, 10, 4));
  lam_parameter_set_help (noise,
                          _ ("Standard deviation in each real channel, where M0 is 1: what the precision is for."));
  lam_parameter_set_step (noise, 0.001);
  g_signal_connect_object (self->model, "changed", G_CALLBACK (model_changed_cb), self, 0);
}

static void
build_template (LamSequenceSession *self)
{
  int n;
  const LamTemplate *const *all = lam_templates (&n);
  self->choices = g_new0 (LamParameterChoice, n + 1);
  for (int i = 0; i < n; i++)
    self->choices[i] = (LamParameterChoice){all[i]->name, all[i]->title};
  self->template = lam_parameter_new_choice ("template", _ ("Template"), self->choices, "MRF");
  lam_parameter_set_undo (self->template, self->undo);
  g_signal_connect_object (self->template, "notify::value", G_CALLBACK (template_changed_cb), self, 0);
}

LamSequenceSession *
lam_sequence_session_new (void)
{
  static const LamNewestFuncs funcs = {"sequence", work, answered, failed, free_request, free_result};
  LamSequenceSession *self = g_object_new (LAM_TYPE_SEQUENCE_SESSION, NULL);
  self->newest = lam_newest_new (self, &funcs);
  self->pulseq = lam_pulseq_model_new (self->undo);
  self->pulseq_signal = lam_pulseq_signal_new (self->pulseq, self->undo);
  self->pulseq_estimate = lam_pulseq_estimate_new (self->pulseq, self->pulseq_signal, self->undo);
  lam_sequence_session_keep (self, "estimate", lam_pulseq_estimate_get_parameters (self->pulseq_estimate));
  g_signal_connect_object (self->pulseq, "file-changed", G_CALLBACK (file_changed_cb), self, 0);
  g_signal_connect_object (lam_pulseq_model_get_limits (self->pulseq), "changed", G_CALLBACK (setting_changed_cb), self,
                           0);
  g_signal_connect_object (lam_pulseq_signal_get_parameters (self->pulseq_signal), "changed",
                           G_CALLBACK (setting_changed_cb), self, 0);
  build_template (self);
  build_model (self);
  build_rows (self);
  default_train (self);
  hide_counts (self);
  lam_sequence_session_add_tissue (self, _ ("White matter"), 1084, 69, NULL, NULL);
  lam_sequence_session_add_tissue (self, _ ("Grey matter"), 1820, 99, NULL, NULL);
  lam_sequence_session_add_tissue (self, _ ("Blood"), 1932, 275, NULL, NULL);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (LamTissueItem) item = g_list_model_get_item (G_LIST_MODEL (self->tissues), i);
    lam_tissue_item_set_source (item, "Stanisz et al., Magn Reson Med 54:507 (2005), 3 T");
  }
  lam_undo_clear (self->undo);
  return self;
}

void
lam_sequence_session_close (LamSequenceSession *self)
{
  g_clear_handle_id (&self->ask_source, g_source_remove);
  if (self->newest)
    lam_newest_stop (self->newest);
  lam_pulseq_signal_close (self->pulseq_signal);
  lam_pulseq_estimate_close (self->pulseq_estimate);
  lam_pulseq_model_close (self->pulseq);
  if (self->undo) /* its steps hold the session */
    lam_undo_clear (self->undo);
}

static void
lam_sequence_session_dispose (GObject *object)
{
  LamSequenceSession *self = LAM_SEQUENCE_SESSION (object);
  if (self->undo)
    lam_sequence_session_close (self);
  g_clear_object (&self->pulseq_estimate);
  g_clear_object (&self->pulseq_signal);
  g_clear_object (&self->pulseq);
  g_clear_object (&self->tissues);
  g_clear_object (&self->protocol_rows);
  g_clear_pointer (&self->kept, g_hash_table_unref);
  g_clear_pointer (&self->unclaimed, g_hash_table_unref);
  g_clear_pointer (&self->parts, g_hash_table_unref);
  g_clear_object (&self->model);
  g_clear_object (&self->template);
  g_clear_object (&self->undo);
  G_OBJECT_CLASS (lam_sequence_session_parent_class)->dispose (object);
}

static void
lam_sequence_session_finalize (GObject *object)
{
  LamSequenceSession *self = LAM_SEQUENCE_SESSION (object);
  g_clear_pointer (&self->newest, lam_newest_free);
  g_clear_pointer (&self->engine, lam_model_free);
  g_clear_pointer (&self->finer, lam_model_free);
  g_clear_pointer (&self->other, lam_model_free);
  g_clear_pointer (&self->devices, lam_devices_unref);
  g_clear_pointer (&self->protocol, lam_protocol_free);
  g_clear_pointer (&self->result, lam_sequence_result_unref);
  g_clear_pointer (&self->before, lam_sequence_result_unref);
  g_free (self->choices);
  G_OBJECT_CLASS (lam_sequence_session_parent_class)->finalize (object);
}

static void
lam_sequence_session_class_init (LamSequenceSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  static const char *const names[N_SIGNALS] = {"protocol-changed", "train-changed", "result", "failed", "changed"};
  object_class->dispose = lam_sequence_session_dispose;
  object_class->finalize = lam_sequence_session_finalize;
  for (int i = 0; i < N_SIGNALS; i++)
    signals[i] = i == FAILED ? g_signal_new (names[i], LAM_TYPE_SEQUENCE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                             NULL, G_TYPE_NONE, 1, G_TYPE_STRING)
                             : g_signal_new (names[i], LAM_TYPE_SEQUENCE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                             NULL, G_TYPE_NONE, 0);
}

static void
lam_sequence_session_init (LamSequenceSession *self)
{
  self->undo = lam_undo_new ();
  self->kept = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  self->unclaimed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
  self->parts = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_part);
  self->tissues = g_list_store_new (LAM_TYPE_TISSUE_ITEM);
  self->well = TRUE;
}
