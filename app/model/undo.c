#include "config.h"

#include "model/undo.h"

/* Steps kept; the oldest is dropped beyond it. */
#define LIMIT 2000

typedef struct {
  GObject *target;
  LamUndoApply apply;
  GVariant *before, *after;
} Edit;

typedef struct {
  char *name;
  GPtrArray *edits; /* in the order they were made */
  gint64 time;      /* when the last edit was made, for merging; 0 = closed to merging */
} Step;

struct _LamUndo {
  GObject parent_instance;
  GPtrArray *past;   /* steps that can be undone, newest last */
  GPtrArray *future; /* steps that can be redone, next last */
  Step *open;        /* between begin and end */
  int depth;
  gboolean applying;
  gint64 merge_window; /* microseconds */
  char *told[2];       /* names last notified: undo, redo */
};

G_DEFINE_FINAL_TYPE (LamUndo, lam_undo, G_TYPE_OBJECT)

enum { PROP_0, PROP_CAN_UNDO, PROP_CAN_REDO, PROP_UNDO_NAME, PROP_REDO_NAME, N_PROPS };
static GParamSpec *properties[N_PROPS];

static void
edit_free (gpointer data)
{
  Edit *edit = data;
  g_object_unref (edit->target);
  g_variant_unref (edit->before);
  g_variant_unref (edit->after);
  g_free (edit);
}

static Step *
step_new (const char *name)
{
  Step *step = g_new0 (Step, 1);
  step->name = g_strdup (name);
  step->edits = g_ptr_array_new_with_free_func (edit_free);
  return step;
}

static void
step_free (gpointer data)
{
  Step *step = data;
  g_ptr_array_unref (step->edits);
  g_free (step->name);
  g_free (step);
}

static Step *
newest (GPtrArray *steps)
{
  return steps->len > 0 ? g_ptr_array_index (steps, steps->len - 1) : NULL;
}

/* Names are compared too: two steps of one kind in a row change nothing that is shown. */
static void
notify_changes (LamUndo *self)
{
  const char *names[2] = {lam_undo_get_undo_name (self), lam_undo_get_redo_name (self)};
  for (int i = 0; i < 2; i++) {
    if (g_strcmp0 (self->told[i], names[i]) == 0)
      continue;
    gboolean could = self->told[i] != NULL;
    g_free (self->told[i]);
    self->told[i] = g_strdup (names[i]);
    if (could != (names[i] != NULL))
      g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CAN_UNDO + i]);
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_UNDO_NAME + i]);
  }
}

/* The edit of @step that @target and @apply continue, if any. */
static Edit *
find_edit (Step *step, GObject *target, LamUndoApply apply)
{
  for (guint i = 0; i < step->edits->len; i++) {
    Edit *edit = g_ptr_array_index (step->edits, i);
    if (edit->target == target && edit->apply == apply)
      return edit;
  }
  return NULL;
}

/* A drag that came back to where it started is no step. */
static void
drop_empty_edits (Step *step)
{
  for (guint i = step->edits->len; i-- > 0;) {
    Edit *edit = g_ptr_array_index (step->edits, i);
    if (g_variant_equal (edit->before, edit->after))
      g_ptr_array_remove_index (step->edits, i);
  }
}

static void
add_step (LamUndo *self, Step *step)
{
  g_ptr_array_add (self->past, step);
  if (self->past->len > LIMIT)
    g_ptr_array_remove_index (self->past, 0);
}

void
lam_undo_push (LamUndo *self, const char *name, GObject *target, LamUndoApply apply, GVariant *before, GVariant *after)
{
  g_return_if_fail (LAM_IS_UNDO (self) && G_IS_OBJECT (target) && apply != NULL);

  g_autoptr (GVariant) from = g_variant_ref_sink (before);
  g_autoptr (GVariant) to = g_variant_ref_sink (after);
  if (self->applying || g_variant_equal (from, to))
    return;

  gint64 now = g_get_monotonic_time ();
  Step *step = self->open;
  Step *last = newest (self->past);
  if (step == NULL && last != NULL && last->time != 0 && now - last->time < self->merge_window
      && g_strcmp0 (last->name, name) == 0 && find_edit (last, target, apply) != NULL)
    step = last;

  g_ptr_array_set_size (self->future, 0);
  Edit *edit = step != NULL ? find_edit (step, target, apply) : NULL;
  if (edit != NULL) {
    g_variant_unref (edit->after);
    edit->after = g_steal_pointer (&to);
  } else {
    edit = g_new (Edit, 1);
    *edit = (Edit){g_object_ref (target), apply, g_steal_pointer (&from), g_steal_pointer (&to)};
    if (step == NULL) {
      step = step_new (name);
      add_step (self, step);
    }
    g_ptr_array_add (step->edits, edit);
  }
  step->time = now;
  /* One up, one down, and it is as before: no step. */
  if (step != self->open) {
    drop_empty_edits (step);
    if (step->edits->len == 0)
      g_ptr_array_remove (self->past, step);
  }
  notify_changes (self);
}

void
lam_undo_begin (LamUndo *self, const char *name)
{
  g_return_if_fail (LAM_IS_UNDO (self));
  if (self->depth++ == 0)
    self->open = step_new (name);
  notify_changes (self);
}

void
lam_undo_end (LamUndo *self)
{
  g_return_if_fail (LAM_IS_UNDO (self) && self->depth > 0);
  if (--self->depth > 0)
    return;
  Step *step = g_steal_pointer (&self->open);
  drop_empty_edits (step);
  step->time = 0;
  if (step->edits->len > 0)
    add_step (self, step);
  else
    step_free (step);
  notify_changes (self);
}

gboolean
lam_undo_undo (LamUndo *self)
{
  g_return_val_if_fail (LAM_IS_UNDO (self), FALSE);
  if (!lam_undo_can_undo (self))
    return FALSE;
  Step *step = g_ptr_array_steal_index (self->past, self->past->len - 1);
  self->applying = TRUE;
  for (guint i = step->edits->len; i-- > 0;) {
    Edit *edit = g_ptr_array_index (step->edits, i);
    edit->apply (edit->target, edit->before);
  }
  self->applying = FALSE;
  step->time = 0;
  g_ptr_array_add (self->future, step);
  notify_changes (self);
  return TRUE;
}

gboolean
lam_undo_redo (LamUndo *self)
{
  g_return_val_if_fail (LAM_IS_UNDO (self), FALSE);
  if (!lam_undo_can_redo (self))
    return FALSE;
  Step *step = g_ptr_array_steal_index (self->future, self->future->len - 1);
  self->applying = TRUE;
  for (guint i = 0; i < step->edits->len; i++) {
    Edit *edit = g_ptr_array_index (step->edits, i);
    edit->apply (edit->target, edit->after);
  }
  self->applying = FALSE;
  g_ptr_array_add (self->past, step);
  notify_changes (self);
  return TRUE;
}

void
lam_undo_clear (LamUndo *self)
{
  g_return_if_fail (LAM_IS_UNDO (self));
  g_ptr_array_set_size (self->past, 0);
  g_ptr_array_set_size (self->future, 0);
  notify_changes (self);
}

guint
lam_undo_get_n_steps (LamUndo *self)
{
  g_return_val_if_fail (LAM_IS_UNDO (self), 0);
  return self->past->len;
}

/* Not in the middle of a drag: its step is not closed yet. */
gboolean
lam_undo_can_undo (LamUndo *self)
{
  return self->open == NULL && self->past->len > 0;
}

gboolean
lam_undo_can_redo (LamUndo *self)
{
  return self->open == NULL && self->future->len > 0;
}

const char *
lam_undo_get_undo_name (LamUndo *self)
{
  return lam_undo_can_undo (self) ? newest (self->past)->name : NULL;
}

const char *
lam_undo_get_redo_name (LamUndo *self)
{
  return lam_undo_can_redo (self) ? newest (self->future)->name : NULL;
}

void
lam_undo_set_merge_window (LamUndo *self, guint ms)
{
  g_return_if_fail (LAM_IS_UNDO (self));
  self->merge_window = (gint64) ms * 1000;
}

static void
undo_activate_cb (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  lam_undo_undo (self);
}

static void
redo_activate_cb (GSimpleAction *action, GVariant *parameter, gpointer self)
{
  lam_undo_redo (self);
}

void
lam_undo_add_actions (LamUndo *self, GActionMap *map)
{
  g_return_if_fail (LAM_IS_UNDO (self) && G_IS_ACTION_MAP (map));
  g_autoptr (GSimpleAction) undo = g_simple_action_new ("undo", NULL);
  g_autoptr (GSimpleAction) redo = g_simple_action_new ("redo", NULL);
  g_signal_connect_object (undo, "activate", G_CALLBACK (undo_activate_cb), self, 0);
  g_signal_connect_object (redo, "activate", G_CALLBACK (redo_activate_cb), self, 0);
  g_object_bind_property (self, "can-undo", undo, "enabled", G_BINDING_SYNC_CREATE);
  g_object_bind_property (self, "can-redo", redo, "enabled", G_BINDING_SYNC_CREATE);
  g_action_map_add_action (map, G_ACTION (undo));
  g_action_map_add_action (map, G_ACTION (redo));
}

static void
lam_undo_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamUndo *self = LAM_UNDO (object);
  switch (id) {
  case PROP_CAN_UNDO:
    g_value_set_boolean (value, lam_undo_can_undo (self));
    break;
  case PROP_CAN_REDO:
    g_value_set_boolean (value, lam_undo_can_redo (self));
    break;
  case PROP_UNDO_NAME:
    g_value_set_string (value, lam_undo_get_undo_name (self));
    break;
  case PROP_REDO_NAME:
    g_value_set_string (value, lam_undo_get_redo_name (self));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_undo_finalize (GObject *object)
{
  LamUndo *self = LAM_UNDO (object);
  g_ptr_array_unref (self->past);
  g_ptr_array_unref (self->future);
  g_clear_pointer (&self->open, step_free);
  g_free (self->told[0]);
  g_free (self->told[1]);
  G_OBJECT_CLASS (lam_undo_parent_class)->finalize (object);
}

static void
lam_undo_class_init (LamUndoClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_undo_get_property;
  object_class->finalize = lam_undo_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_CAN_UNDO] = g_param_spec_boolean ("can-undo", NULL, NULL, FALSE, flags);
  properties[PROP_CAN_REDO] = g_param_spec_boolean ("can-redo", NULL, NULL, FALSE, flags);
  properties[PROP_UNDO_NAME] = g_param_spec_string ("undo-name", NULL, NULL, NULL, flags);
  properties[PROP_REDO_NAME] = g_param_spec_string ("redo-name", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_undo_init (LamUndo *self)
{
  self->past = g_ptr_array_new_with_free_func (step_free);
  self->future = g_ptr_array_new_with_free_func (step_free);
  self->merge_window = 800 * 1000;
}

LamUndo *
lam_undo_new (void)
{
  return g_object_new (LAM_TYPE_UNDO, NULL);
}
