/* parameters.h: one described, validated number, switch, choice or text of a session.
 *
 * A value outside its range is refused with the reason, never clamped. Two ways in: lam_parameter_set_value () for the
 * program (a file was opened) and lam_parameter_edit () for the person, which is recorded for undo. */
#pragma once

#include <gio/gio.h>

#include "model/undo.h"

G_BEGIN_DECLS

typedef enum {
  LAM_PARAMETER_NUMBER,  /* variant "d" */
  LAM_PARAMETER_INTEGER, /* "x" */
  LAM_PARAMETER_SWITCH,  /* "b" */
  LAM_PARAMETER_CHOICE,  /* "s": the id of the choice */
  LAM_PARAMETER_TEXT,    /* "s" */
  LAM_PARAMETER_FILE,    /* "s": its path; "" = none */
} LamParameterKind;

typedef struct {
  const char *id;
  const char *label; /* translated */
} LamParameterChoice;

#define LAM_TYPE_PARAMETER (lam_parameter_get_type ())
G_DECLARE_FINAL_TYPE (LamParameter, lam_parameter, LAM, PARAMETER, GObject)

/* Properties: id, label, unit, help, note (all strings), value (a variant), changed (differs from its default),
 * visible, sensitive, choices (how many), shown-unit. @id and @unit are not translated, @label is. */
LamParameter *lam_parameter_new_number (const char *id, const char *label, const char *unit, double value, double min,
                                        double max, int digits);
LamParameter *lam_parameter_new_integer (const char *id, const char *label, const char *unit, gint64 value, gint64 min,
                                         gint64 max);
LamParameter *lam_parameter_new_switch (const char *id, const char *label, gboolean value);
/* @choices ends with a NULL id; @value is one of the ids. */
LamParameter *lam_parameter_new_choice (const char *id, const char *label, const LamParameterChoice *choices,
                                        const char *value);
LamParameter *lam_parameter_new_text (const char *id, const char *label, const char *value);

LamParameter *lam_parameter_new_file (const char *id, const char *label); /* none */

LamParameterKind lam_parameter_get_kind (LamParameter *self);
const char *lam_parameter_get_id (LamParameter *self);
const char *lam_parameter_get_label (LamParameter *self);
const char *lam_parameter_get_unit (LamParameter *self);
int lam_parameter_get_digits (LamParameter *self);
double lam_parameter_get_min (LamParameter *self);
double lam_parameter_get_max (LamParameter *self);
double lam_parameter_get_step (LamParameter *self);
guint lam_parameter_get_n_choices (LamParameter *self);
const LamParameterChoice *lam_parameter_get_choice (LamParameter *self, guint i);
int lam_parameter_get_selected (LamParameter *self); /* index of the choice */
/* Other choices, ended as above; a value or default that is not among them becomes @value. */
void lam_parameter_set_choices (LamParameter *self, const LamParameterChoice *choices, const char *value);

/* How it is described. The help is one line; the note is what was found out about this value ("found: 295.6 ± 0.3");
 * the edit name is what undo calls it ("Set Centre of Rotation"). */
void lam_parameter_set_help (LamParameter *self, const char *help);
const char *lam_parameter_get_help (LamParameter *self);
void lam_parameter_set_note (LamParameter *self, const char *note);
const char *lam_parameter_get_note (LamParameter *self);
void lam_parameter_set_edit_name (LamParameter *self, const char *name);
void lam_parameter_set_step (LamParameter *self, double step);
void lam_parameter_set_unit (LamParameter *self, const char *unit);
void lam_parameter_set_visible (LamParameter *self, gboolean visible);
gboolean lam_parameter_get_visible (LamParameter *self);
void lam_parameter_set_sensitive (LamParameter *self, gboolean sensitive);
gboolean lam_parameter_get_sensitive (LamParameter *self);
/* One px in mm, so that typed units convert; 0 = unknown. */
void lam_parameter_set_pixel (LamParameter *self, double mm);

/* A length can be shown and typed in mm as well as in px, whichever the value itself counts in, once a px is known. The
 * value stays what it is, to the last bit. @unit: "mm", "px" or NULL, the value's own. */
void lam_parameter_set_shown_unit (LamParameter *self, const char *unit);
const char *lam_parameter_get_wanted_unit (LamParameter *self); /* as it was set */
const char *lam_parameter_get_shown_unit (LamParameter *self);  /* as it is shown */
const char *lam_parameter_get_other_unit (LamParameter *self);  /* that it could be shown in; NULL = none */
double lam_parameter_get_shown_factor (LamParameter *self);     /* shown = value times this */
int lam_parameter_get_shown_digits (LamParameter *self);

/* One value that is shown and typed as a word: 0 = "unknown". */
void lam_parameter_set_special (LamParameter *self, double value, const char *text);
const char *lam_parameter_get_special_text (LamParameter *self, double value); /* NULL = an ordinary value */

/* A new range keeps the value, even one outside: lam_parameter_get_problem () then says so, or returns NULL. */
void lam_parameter_set_range (LamParameter *self, double min, double max);
char *lam_parameter_get_problem (LamParameter *self);
/* What was found wrong with this value by looking further than at its range; a new value has none. NULL = nothing. */
void lam_parameter_set_fault (LamParameter *self, const char *fault);
/* A new default; an unchanged value follows it. */
gboolean lam_parameter_set_default (LamParameter *self, GVariant *value, GError **error);

GVariant *lam_parameter_get_default (LamParameter *self); /* a reference of the caller's */
GVariant *lam_parameter_get_value (LamParameter *self);   /* a reference of the caller's */
double lam_parameter_get_number (LamParameter *self);
gint64 lam_parameter_get_integer (LamParameter *self);
gboolean lam_parameter_get_boolean (LamParameter *self);
const char *lam_parameter_get_text (LamParameter *self); /* of a choice: its id */
gboolean lam_parameter_get_changed (LamParameter *self);

/* Floating values are taken. FALSE = refused, with the reason, and nothing changed. */
gboolean lam_parameter_check (LamParameter *self, GVariant *value, GError **error);
gboolean lam_parameter_set_value (LamParameter *self, GVariant *value, GError **error);
gboolean lam_parameter_edit (LamParameter *self, GVariant *value, GError **error);
void lam_parameter_reset (LamParameter *self); /* to the default, as an edit */

/* What a person typed, as a value of this parameter, with or without a unit; NULL = refused. */
GVariant *lam_parameter_parse (LamParameter *self, const char *text, GError **error);
/* The value as shown, without its unit; and "295.60 px". */
char *lam_parameter_format (LamParameter *self);
char *lam_parameter_format_full (LamParameter *self);

/* Where edits are recorded; not owned. */
void lam_parameter_set_undo (LamParameter *self, LamUndo *undo);
LamUndo *lam_parameter_get_undo (LamParameter *self);
const char *lam_parameter_get_edit_name (LamParameter *self);

G_END_DECLS
