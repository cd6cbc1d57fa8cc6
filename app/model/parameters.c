#include "config.h"

#include "model/parameters.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "model/units.h"

struct _LamParameter {
  GObject parent_instance;
  LamParameterKind kind;
  char *id, *label, *unit, *help, *note, *edit_name, *fault;
  GVariant *value, *fallback; /* fallback: the default */
  double min, max, step;      /* of numbers and integers */
  int digits;
  double pixel;       /* one px in mm; 0 = unknown */
  const char *wanted; /* unit to show it in; static; NULL = its own */
  LamParameterChoice *choices;
  guint n_choices;
  double special; /* shown as special_text, when that is set */
  char *special_text;
  gboolean visible, sensitive;
  GWeakRef undo;
};

G_DEFINE_FINAL_TYPE (LamParameter, lam_parameter, G_TYPE_OBJECT)

enum {
  PROP_0,
  PROP_ID,
  PROP_LABEL,
  PROP_UNIT,
  PROP_HELP,
  PROP_NOTE,
  PROP_VALUE,
  PROP_CHANGED,
  PROP_VISIBLE,
  PROP_SENSITIVE,
  PROP_CHOICES,
  PROP_SHOWN_UNIT,
  N_PROPS
};
static GParamSpec *properties[N_PROPS];

static const GVariantType *
kind_type (LamParameterKind kind)
{
  switch (kind) {
  case LAM_PARAMETER_NUMBER:
    return G_VARIANT_TYPE_DOUBLE;
  case LAM_PARAMETER_INTEGER:
    return G_VARIANT_TYPE_INT64;
  case LAM_PARAMETER_SWITCH:
    return G_VARIANT_TYPE_BOOLEAN;
  case LAM_PARAMETER_CHOICE:
  case LAM_PARAMETER_TEXT:
  case LAM_PARAMETER_FILE:
    break;
  }
  return G_VARIANT_TYPE_STRING;
}

static void
set_string (LamParameter *self, char **field, const char *text, int property)
{
  if (g_strcmp0 (*field, text) == 0)
    return;
  g_free (*field);
  *field = g_strdup (text);
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

static void
set_flag (LamParameter *self, gboolean *field, gboolean value, int property)
{
  if (*field == !!value)
    return;
  *field = !!value;
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* The unchecked way in; also what undo uses, because what was once accepted may be put back. */
static void
store (GObject *target, GVariant *value)
{
  LamParameter *self = LAM_PARAMETER (target);
  if (self->value != NULL && g_variant_equal (self->value, value))
    return;
  gboolean changed = lam_parameter_get_changed (self);
  GVariant *old = self->value;
  self->value = g_variant_ref_sink (value);
  g_clear_pointer (&old, g_variant_unref);
  g_clear_pointer (&self->fault, g_free);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_VALUE]);
  if (changed != lam_parameter_get_changed (self))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CHANGED]);
}

static LamParameter *
new_parameter (LamParameterKind kind, const char *id, const char *label, const char *unit, GVariant *value)
{
  LamParameter *self = g_object_new (LAM_TYPE_PARAMETER, NULL);
  self->kind = kind;
  self->id = g_strdup (id);
  self->label = g_strdup (label);
  self->unit = g_strdup (unit != NULL ? unit : "");
  self->value = g_variant_ref_sink (value);
  self->fallback = g_variant_ref (self->value);
  return self;
}

LamParameter *
lam_parameter_new_number (const char *id, const char *label, const char *unit, double value, double min, double max,
                          int digits)
{
  LamParameter *self = new_parameter (LAM_PARAMETER_NUMBER, id, label, unit, g_variant_new_double (value));
  self->min = min;
  self->max = max;
  self->digits = digits;
  self->step = pow (10, -digits);
  return self;
}

LamParameter *
lam_parameter_new_integer (const char *id, const char *label, const char *unit, gint64 value, gint64 min, gint64 max)
{
  LamParameter *self = new_parameter (LAM_PARAMETER_INTEGER, id, label, unit, g_variant_new_int64 (value));
  self->min = min;
  self->max = max;
  self->step = 1;
  return self;
}

LamParameter *
lam_parameter_new_switch (const char *id, const char *label, gboolean value)
{
  return new_parameter (LAM_PARAMETER_SWITCH, id, label, NULL, g_variant_new_boolean (value));
}

static void
clear_choices (LamParameter *self)
{
  for (guint i = 0; i < self->n_choices; i++)
    g_free ((char *) self->choices[i].label);
  g_clear_pointer (&self->choices, g_free);
  self->n_choices = 0;
}

static void
take_choices (LamParameter *self, const LamParameterChoice *choices)
{
  clear_choices (self);
  while (choices[self->n_choices].id != NULL)
    self->n_choices++;
  self->choices = g_new (LamParameterChoice, self->n_choices + 1);
  for (guint i = 0; i < self->n_choices; i++)
    self->choices[i] = (LamParameterChoice){g_intern_string (choices[i].id), g_strdup (choices[i].label)};
}

LamParameter *
lam_parameter_new_choice (const char *id, const char *label, const LamParameterChoice *choices, const char *value)
{
  LamParameter *self = new_parameter (LAM_PARAMETER_CHOICE, id, label, NULL, g_variant_new_string (value));
  take_choices (self, choices);
  g_assert (lam_parameter_get_selected (self) >= 0);
  return self;
}

void
lam_parameter_set_choices (LamParameter *self, const LamParameterChoice *choices, const char *value)
{
  g_return_if_fail (LAM_IS_PARAMETER (self) && self->kind == LAM_PARAMETER_CHOICE);
  g_autoptr (GVariant) instead = g_variant_ref_sink (g_variant_new_string (value));
  take_choices (self, choices);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CHOICES]);
  if (!lam_parameter_check (self, self->fallback, NULL))
    lam_parameter_set_default (self, instead, NULL);
  if (!lam_parameter_check (self, self->value, NULL))
    store (G_OBJECT (self), instead);
}

LamParameter *
lam_parameter_new_file (const char *id, const char *label)
{
  return new_parameter (LAM_PARAMETER_FILE, id, label, NULL, g_variant_new_string (""));
}

LamParameter *
lam_parameter_new_text (const char *id, const char *label, const char *value)
{
  return new_parameter (LAM_PARAMETER_TEXT, id, label, NULL, g_variant_new_string (value));
}

/* -- the unit that it is shown in -- */

/* "mm" for "px" and the other way round; NULL where there is none. */
static const char *
counterpart (const char *unit)
{
  return g_str_equal (unit, "px") ? "mm" : g_str_equal (unit, "mm") ? "px" : NULL;
}

static gboolean
is_exchanged (LamParameter *self)
{
  return self->wanted != NULL && self->pixel > 0 && g_strcmp0 (self->wanted, counterpart (self->unit)) == 0;
}

const char *
lam_parameter_get_wanted_unit (LamParameter *self)
{
  return self->wanted;
}

const char *
lam_parameter_get_shown_unit (LamParameter *self)
{
  return is_exchanged (self) ? self->wanted : self->unit;
}

const char *
lam_parameter_get_other_unit (LamParameter *self)
{
  if (self->kind != LAM_PARAMETER_NUMBER || !(self->pixel > 0))
    return NULL;
  return counterpart (lam_parameter_get_shown_unit (self));
}

double
lam_parameter_get_shown_factor (LamParameter *self)
{
  if (!is_exchanged (self))
    return 1;
  return g_str_equal (self->unit, "px") ? self->pixel : 1 / self->pixel;
}

int
lam_parameter_get_shown_digits (LamParameter *self)
{
  return CLAMP (self->digits - (int) floor (log10 (lam_parameter_get_shown_factor (self))), 0, 6);
}

void
lam_parameter_set_shown_unit (LamParameter *self, const char *unit)
{
  g_return_if_fail (LAM_IS_PARAMETER (self));
  const char *wanted = g_strcmp0 (unit, "mm") == 0 ? "mm" : g_strcmp0 (unit, "px") == 0 ? "px" : NULL;
  if (self->wanted == wanted)
    return;
  self->wanted = wanted;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOWN_UNIT]);
}

/* A range in words: "between 0 and 639 px", "at least 1". */
static char *
describe_range (LamParameter *self)
{
  int digits = lam_parameter_get_shown_digits (self);
  double factor = lam_parameter_get_shown_factor (self);
  const char *unit = lam_parameter_get_shown_unit (self);
  g_autofree char *min = lam_units_format (self->min * factor, digits),
                  *max = lam_units_format (self->max * factor, digits);
  const char *space = *unit != '\0' && !g_str_equal (unit, "°") ? " " : "";
  if (isinf (self->min) && isinf (self->max))
    return g_strdup (_ ("finite"));
  if (isinf (self->max) || self->max >= G_MAXINT32)
    return g_strdup_printf (_ ("at least %s%s%s"), min, space, unit);
  if (isinf (self->min))
    return g_strdup_printf (_ ("at most %s%s%s"), max, space, unit);
  return g_strdup_printf (_ ("between %s and %s%s%s"), min, max, space, unit);
}

static gboolean
check_number (LamParameter *self, double v, GError **error)
{
  if (v >= self->min && v <= self->max)
    return TRUE;
  g_autofree char *range = describe_range (self);
  g_autofree char *given = self->kind == LAM_PARAMETER_INTEGER
                               ? g_strdup_printf ("%.0f", v)
                               : g_strdup_printf ("%g", v * lam_parameter_get_shown_factor (self));
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s must be %s, not %s"), self->label, range, given);
  return FALSE;
}

gboolean
lam_parameter_check (LamParameter *self, GVariant *value, GError **error)
{
  g_return_val_if_fail (LAM_IS_PARAMETER (self) && value != NULL, FALSE);
  if (!g_variant_is_of_type (value, kind_type (self->kind))) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s: a value of the wrong kind (“%s”)"), self->label,
                 g_variant_get_type_string (value));
    return FALSE;
  }
  switch (self->kind) {
  case LAM_PARAMETER_NUMBER:
    return check_number (self, g_variant_get_double (value), error);
  case LAM_PARAMETER_INTEGER:
    return check_number (self, g_variant_get_int64 (value), error);
  case LAM_PARAMETER_CHOICE:
    for (guint i = 0; i < self->n_choices; i++)
      if (g_str_equal (self->choices[i].id, g_variant_get_string (value, NULL)))
        return TRUE;
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s has no choice “%s”"), self->label,
                 g_variant_get_string (value, NULL));
    return FALSE;
  case LAM_PARAMETER_SWITCH:
  case LAM_PARAMETER_TEXT:
  case LAM_PARAMETER_FILE:
    break;
  }
  return TRUE;
}

gboolean
lam_parameter_set_value (LamParameter *self, GVariant *value, GError **error)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (value);
  if (!lam_parameter_check (self, held, error))
    return FALSE;
  store (G_OBJECT (self), held);
  return TRUE;
}

/* Past the checks: sets and records. */
static void
edit_unchecked (LamParameter *self, const char *name, GVariant *value)
{
  g_autoptr (LamUndo) undo = g_weak_ref_get (&self->undo);
  g_autoptr (GVariant) before = g_variant_ref (self->value);
  store (G_OBJECT (self), value);
  if (undo != NULL)
    lam_undo_push (undo, name, G_OBJECT (self), store, before, value);
}

gboolean
lam_parameter_edit (LamParameter *self, GVariant *value, GError **error)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (value);
  if (!lam_parameter_check (self, held, error))
    return FALSE;
  edit_unchecked (self, lam_parameter_get_edit_name (self), held);
  return TRUE;
}

void
lam_parameter_reset (LamParameter *self)
{
  g_return_if_fail (LAM_IS_PARAMETER (self));
  g_autofree char *name = g_strdup_printf (_ ("Reset %s"), self->label);
  edit_unchecked (self, name, self->fallback);
}

gboolean
lam_parameter_set_default (LamParameter *self, GVariant *value, GError **error)
{
  g_autoptr (GVariant) held = g_variant_ref_sink (value);
  if (!lam_parameter_check (self, held, error))
    return FALSE;
  gboolean changed = lam_parameter_get_changed (self);
  g_variant_unref (self->fallback);
  self->fallback = g_variant_ref (held);
  if (!changed)
    store (G_OBJECT (self), held);
  if (changed != lam_parameter_get_changed (self))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_CHANGED]);
  return TRUE;
}

/* A number without a unit is in the one that is shown. */
static gboolean
parse_number (LamParameter *self, const char *text, double *number, GError **error)
{
  g_autofree char *plain = g_strstrip (g_strdup (text));
  gsize n = strlen (plain);
  gboolean bare = n > 0 && (g_ascii_isdigit (plain[n - 1]) || plain[n - 1] == '.' || plain[n - 1] == ',');
  g_autofree char *full = bare && is_exchanged (self) ? g_strconcat (plain, " ", self->wanted, NULL) : NULL;
  return lam_units_parse (full != NULL ? full : plain, self->unit, self->pixel, number, error);
}

GVariant *
lam_parameter_parse (LamParameter *self, const char *text, GError **error)
{
  g_return_val_if_fail (LAM_IS_PARAMETER (self) && text != NULL, NULL);
  double number = 0;
  g_autoptr (GVariant) value = NULL;
  if (self->kind == LAM_PARAMETER_NUMBER || self->kind == LAM_PARAMETER_INTEGER) {
    if (self->special_text != NULL && g_str_equal (text, self->special_text))
      number = self->special;
    else if (!parse_number (self, text, &number, error)) {
      g_prefix_error (error, "%s: ", self->label);
      return NULL;
    }
    if (self->kind == LAM_PARAMETER_INTEGER && (number != rint (number) || fabs (number) > 9e15)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s must be a whole number, not %g"), self->label, number);
      return NULL;
    }
    value = self->kind == LAM_PARAMETER_NUMBER ? g_variant_new_double (number) : g_variant_new_int64 ((gint64) number);
  } else if (self->kind == LAM_PARAMETER_SWITCH) {
    gboolean on = g_ascii_strcasecmp (text, "true") == 0 || g_str_equal (text, "1");
    if (!on && g_ascii_strcasecmp (text, "false") != 0 && !g_str_equal (text, "0")) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s must be true or false, not “%s”"), self->label, text);
      return NULL;
    }
    value = g_variant_new_boolean (on);
  } else
    value = g_variant_new_string (text);
  g_variant_ref_sink (value);
  return lam_parameter_check (self, value, error) ? g_steal_pointer (&value) : NULL;
}

char *
lam_parameter_format (LamParameter *self)
{
  if (self->kind == LAM_PARAMETER_NUMBER || self->kind == LAM_PARAMETER_INTEGER) {
    const char *special = lam_parameter_get_special_text (self, lam_parameter_get_number (self));
    if (special != NULL)
      return g_strdup (special);
  }
  switch (self->kind) {
  case LAM_PARAMETER_NUMBER:
    return lam_units_format (lam_parameter_get_number (self) * lam_parameter_get_shown_factor (self),
                             lam_parameter_get_shown_digits (self));
  case LAM_PARAMETER_INTEGER:
    return lam_units_format (lam_parameter_get_number (self), 0);
  case LAM_PARAMETER_SWITCH:
    return g_strdup (lam_parameter_get_boolean (self) ? _ ("on") : _ ("off"));
  case LAM_PARAMETER_CHOICE:
    return g_strdup (self->choices[lam_parameter_get_selected (self)].label);
  case LAM_PARAMETER_TEXT:
  case LAM_PARAMETER_FILE:
    break;
  }
  return g_strdup (lam_parameter_get_text (self));
}

char *
lam_parameter_format_full (LamParameter *self)
{
  g_autofree char *text = lam_parameter_format (self);
  const char *unit = lam_parameter_get_shown_unit (self);
  if (*unit == '\0')
    return g_steal_pointer (&text);
  return g_strconcat (text, g_str_equal (unit, "°") ? "" : "\u00a0", unit, NULL);
}

char *
lam_parameter_get_problem (LamParameter *self)
{
  g_autoptr (GError) error = NULL;
  return lam_parameter_check (self, self->value, &error) ? g_strdup (self->fault) : g_strdup (error->message);
}

void
lam_parameter_set_fault (LamParameter *self, const char *fault)
{
  g_return_if_fail (LAM_IS_PARAMETER (self));
  set_string (self, &self->fault, fault, PROP_NOTE);
}

GVariant *
lam_parameter_get_default (LamParameter *self)
{
  g_return_val_if_fail (LAM_IS_PARAMETER (self), NULL);
  return g_variant_ref (self->fallback);
}

GVariant *
lam_parameter_get_value (LamParameter *self)
{
  return g_variant_ref (self->value);
}

double
lam_parameter_get_number (LamParameter *self)
{
  if (self->kind == LAM_PARAMETER_INTEGER)
    return g_variant_get_int64 (self->value);
  g_return_val_if_fail (self->kind == LAM_PARAMETER_NUMBER, 0);
  return g_variant_get_double (self->value);
}

gint64
lam_parameter_get_integer (LamParameter *self)
{
  g_return_val_if_fail (self->kind == LAM_PARAMETER_INTEGER, 0);
  return g_variant_get_int64 (self->value);
}

gboolean
lam_parameter_get_boolean (LamParameter *self)
{
  g_return_val_if_fail (self->kind == LAM_PARAMETER_SWITCH, FALSE);
  return g_variant_get_boolean (self->value);
}

const char *
lam_parameter_get_text (LamParameter *self)
{
  g_return_val_if_fail (
      self->kind == LAM_PARAMETER_CHOICE || self->kind == LAM_PARAMETER_TEXT || self->kind == LAM_PARAMETER_FILE, "");
  return g_variant_get_string (self->value, NULL);
}

int
lam_parameter_get_selected (LamParameter *self)
{
  g_return_val_if_fail (self->kind == LAM_PARAMETER_CHOICE, -1);
  for (guint i = 0; i < self->n_choices; i++)
    if (g_str_equal (self->choices[i].id, lam_parameter_get_text (self)))
      return (int) i;
  return -1;
}

gboolean
lam_parameter_get_changed (LamParameter *self)
{
  return !g_variant_equal (self->value, self->fallback);
}

LamParameterKind
lam_parameter_get_kind (LamParameter *self)
{
  return self->kind;
}

const char *
lam_parameter_get_id (LamParameter *self)
{
  return self->id;
}

const char *
lam_parameter_get_label (LamParameter *self)
{
  return self->label;
}

const char *
lam_parameter_get_unit (LamParameter *self)
{
  return self->unit;
}

int
lam_parameter_get_digits (LamParameter *self)
{
  return self->digits;
}

double
lam_parameter_get_min (LamParameter *self)
{
  return self->min;
}

double
lam_parameter_get_max (LamParameter *self)
{
  return self->max;
}

double
lam_parameter_get_step (LamParameter *self)
{
  return self->step;
}

guint
lam_parameter_get_n_choices (LamParameter *self)
{
  return self->n_choices;
}

const LamParameterChoice *
lam_parameter_get_choice (LamParameter *self, guint i)
{
  g_return_val_if_fail (i < self->n_choices, NULL);
  return &self->choices[i];
}

void
lam_parameter_set_help (LamParameter *self, const char *help)
{
  set_string (self, &self->help, help, PROP_HELP);
}

const char *
lam_parameter_get_help (LamParameter *self)
{
  return self->help;
}

void
lam_parameter_set_note (LamParameter *self, const char *note)
{
  set_string (self, &self->note, note, PROP_NOTE);
}

const char *
lam_parameter_get_note (LamParameter *self)
{
  return self->note;
}

void
lam_parameter_set_edit_name (LamParameter *self, const char *name)
{
  g_free (self->edit_name);
  self->edit_name = g_strdup (name);
}

const char *
lam_parameter_get_edit_name (LamParameter *self)
{
  if (self->edit_name == NULL)
    self->edit_name = g_strdup_printf (_ ("Set %s"), self->label);
  return self->edit_name;
}

void
lam_parameter_set_step (LamParameter *self, double step)
{
  self->step = step;
}

void
lam_parameter_set_unit (LamParameter *self, const char *unit)
{
  set_string (self, &self->unit, unit != NULL ? unit : "", PROP_UNIT);
}

void
lam_parameter_set_visible (LamParameter *self, gboolean visible)
{
  set_flag (self, &self->visible, visible, PROP_VISIBLE);
}

gboolean
lam_parameter_get_visible (LamParameter *self)
{
  return self->visible;
}

void
lam_parameter_set_sensitive (LamParameter *self, gboolean sensitive)
{
  set_flag (self, &self->sensitive, sensitive, PROP_SENSITIVE);
}

gboolean
lam_parameter_get_sensitive (LamParameter *self)
{
  return self->sensitive;
}

void
lam_parameter_set_pixel (LamParameter *self, double mm)
{
  if (self->pixel == mm)
    return;
  self->pixel = mm;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOWN_UNIT]);
}

void
lam_parameter_set_special (LamParameter *self, double value, const char *text)
{
  self->special = value;
  g_free (self->special_text);
  self->special_text = g_strdup (text);
}

const char *
lam_parameter_get_special_text (LamParameter *self, double value)
{
  return self->special_text != NULL && value == self->special ? self->special_text : NULL;
}

void
lam_parameter_set_range (LamParameter *self, double min, double max)
{
  if (self->min == min && self->max == max)
    return;
  self->min = min;
  self->max = max;
  /* Rows read the range again when the value is notified. */
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_VALUE]);
}

void
lam_parameter_set_undo (LamParameter *self, LamUndo *undo)
{
  g_weak_ref_set (&self->undo, undo);
}

LamUndo *
lam_parameter_get_undo (LamParameter *self)
{
  return g_weak_ref_get (&self->undo);
}

static void
lam_parameter_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  LamParameter *self = LAM_PARAMETER (object);
  switch (id) {
  case PROP_ID:
    g_value_set_string (value, self->id);
    break;
  case PROP_LABEL:
    g_value_set_string (value, self->label);
    break;
  case PROP_UNIT:
    g_value_set_string (value, self->unit);
    break;
  case PROP_HELP:
    g_value_set_string (value, self->help);
    break;
  case PROP_NOTE:
    g_value_set_string (value, self->note);
    break;
  case PROP_VALUE:
    g_value_set_variant (value, self->value);
    break;
  case PROP_CHANGED:
    g_value_set_boolean (value, lam_parameter_get_changed (self));
    break;
  case PROP_VISIBLE:
    g_value_set_boolean (value, self->visible);
    break;
  case PROP_SENSITIVE:
    g_value_set_boolean (value, self->sensitive);
    break;
  case PROP_CHOICES:
    g_value_set_uint (value, self->n_choices);
    break;
  case PROP_SHOWN_UNIT:
    g_value_set_string (value, lam_parameter_get_shown_unit (self));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

static void
lam_parameter_finalize (GObject *object)
{
  LamParameter *self = LAM_PARAMETER (object);
  clear_choices (self);
  g_variant_unref (self->value);
  g_variant_unref (self->fallback);
  g_free (self->id);
  g_free (self->label);
  g_free (self->unit);
  g_free (self->help);
  g_free (self->note);
  g_free (self->edit_name);
  g_free (self->fault);
  g_free (self->special_text);
  g_weak_ref_clear (&self->undo);
  G_OBJECT_CLASS (lam_parameter_parent_class)->finalize (object);
}

static void
lam_parameter_class_init (LamParameterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->get_property = lam_parameter_get_property;
  object_class->finalize = lam_parameter_finalize;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  properties[PROP_ID] = g_param_spec_string ("id", NULL, NULL, NULL, flags);
  properties[PROP_LABEL] = g_param_spec_string ("label", NULL, NULL, NULL, flags);
  properties[PROP_UNIT] = g_param_spec_string ("unit", NULL, NULL, NULL, flags);
  properties[PROP_HELP] = g_param_spec_string ("help", NULL, NULL, NULL, flags);
  properties[PROP_NOTE] = g_param_spec_string ("note", NULL, NULL, NULL, flags);
  properties[PROP_VALUE] = g_param_spec_variant ("value", NULL, NULL, G_VARIANT_TYPE_ANY, NULL, flags);
  properties[PROP_CHANGED] = g_param_spec_boolean ("changed", NULL, NULL, FALSE, flags);
  properties[PROP_VISIBLE] = g_param_spec_boolean ("visible", NULL, NULL, TRUE, flags);
  properties[PROP_SENSITIVE] = g_param_spec_boolean ("sensitive", NULL, NULL, TRUE, flags);
  properties[PROP_CHOICES] = g_param_spec_uint ("choices", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_SHOWN_UNIT] = g_param_spec_string ("shown-unit", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
lam_parameter_init (LamParameter *self)
{
  self->visible = self->sensitive = TRUE;
  g_weak_ref_init (&self->undo, NULL);
}
